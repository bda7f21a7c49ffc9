//! Charts of latency by percentile.

use super::{Chart, ChartTitle, Plot, Section, by_iops, slug};
use crate::naming::PhaseName;
use crate::svg::{LatencyChart, LatencyLine};
use crate::table::{self, DataTable};
use crate::text;
use crate::{naming, number};
use hakaru_model::finding::{LatencySummary, PhaseSummary, Summary};
use hakaru_model::units::{Nanos, Quantile};

/// Maximum number of lines in a chart.
const MOST_LINES: usize = 12;

/// Lines of several series that can be told apart; of more, only the fastest and the slowest are drawn.
const CLEAR_LINES: usize = 6;

/// Charts of one series: compares its phases, with separate charts for small I/Os, large I/Os, and `fsync`.
pub(super) fn latencies_of_one(
    summary: &Summary,
    is_swept: &dyn Fn(&PhaseSummary) -> bool,
) -> Vec<Chart> {
    // Of many workloads, those that are points of a sweep have their latency there.
    let is_crowded = summary.phases.len() > MOST_LINES;
    // The writes of a phase with syncs return early: only the chart of fsync says when they are durable.
    let name_of_writes = |phase: &PhaseSummary| match phase.sync {
        Some(_) => text::without_fsync(&naming::phase(summary, phase)),
        None => naming::phase(summary, phase),
    };
    let name_of_syncs = |phase: &PhaseSummary| naming::phase(summary, phase);
    let lines = |wanted: fn(&PhaseSummary) -> bool,
                 name: &dyn Fn(&PhaseSummary) -> String,
                 of: fn(&PhaseSummary) -> Option<&LatencySummary>| {
        let wanted = summary.phases.iter().filter(|phase| wanted(phase));
        let wanted = wanted.filter(|phase| !(is_crowded && is_swept(phase)));
        wanted
            .filter_map(|phase| line(name(phase), of(phase)?))
            .collect::<Vec<_>>()
    };
    [
        (
            "latency-small",
            text::small_latency().to_owned(),
            lines(by_iops, &name_of_writes, |p| p.latency.as_ref()),
        ),
        (
            "latency-large",
            text::large_latency().to_owned(),
            lines(|p| !by_iops(p), &name_of_writes, |p| p.latency.as_ref()),
        ),
        (
            "latency-fsync",
            text::fsync_latency(""),
            lines(|_| true, &name_of_syncs, |p| p.sync.as_ref()),
        ),
    ]
    .into_iter()
    .filter_map(|(name, title, lines)| latency_chart(name.to_owned(), title, lines))
    .collect()
}

/// Charts of several series: compares them in one phase, with a separate chart for `fsync`.
pub(crate) fn latencies(
    phase: &PhaseName,
    names: &[String],
    cells: &[Option<&PhaseSummary>],
) -> Vec<Chart> {
    let chart = |name: &str, title: String, of: fn(&PhaseSummary) -> Option<&LatencySummary>| {
        let cells = names.iter().zip(cells);
        let lines = cells.filter_map(|(name, cell)| line(name.clone(), of((*cell)?)?));
        let name = format!("{name}-{}", slug(&phase.id));
        latency_chart(name, title, lines.collect()).map(with_extremes)
    };
    let all = [
        chart("latency", text::phase_latency(&phase.label), |p| {
            p.latency.as_ref()
        })
        .or_else(|| latencies_by_run(phase, names, cells)),
        chart("fsync", text::fsync_latency(&phase.label), |p| {
            p.sync.as_ref()
        }),
    ];
    all.into_iter().flatten().collect()
}

/// A line for each run of several series: percentiles that another program printed cannot be merged.
fn latencies_by_run(
    phase: &PhaseName,
    names: &[String],
    cells: &[Option<&PhaseSummary>],
) -> Option<Chart> {
    let of_series = |(name, cell): (&String, &Option<&PhaseSummary>)| {
        let by_run = cell.map_or(&[][..], |phase| &phase.detail.latency_by_run);
        let runs = by_run.iter().map(|(_, estimate)| estimate.values.len());
        let runs = runs.min().unwrap_or(0);
        let of_run = |run: usize| LatencyLine {
            name: text::run_of_series(name, run + 1),
            count: 0,
            curve: Vec::new(),
            marked: by_run
                .iter()
                .map(|(q, estimate)| (*q, Nanos(estimate.values[run].round() as u64)))
                .collect(),
        };
        (0..runs).map(of_run).collect::<Vec<_>>()
    };
    let lines: Vec<LatencyLine> = names.iter().zip(cells).flat_map(of_series).collect();
    if lines.len() > MOST_LINES {
        return None;
    }
    let name = format!("latency-{}", slug(&phase.id));
    let chart = latency_chart(name, text::phase_latency(&phase.label), lines)?;
    Some(Chart {
        note: text::latency_by_run_note().to_owned(),
        ..chart
    })
}

/// The chart with at most [`CLEAR_LINES`] lines: those with the lowest and the highest latencies at a percentile that all
/// have. The table keeps the others.
fn with_extremes(mut chart: Chart) -> Chart {
    let Plot::Latency(plot) = &mut chart.plot else {
        return chart;
    };
    let of = plot.lines.len();
    let Some(q) = common_percentile(&plot.lines).filter(|_| of > CLEAR_LINES) else {
        return chart;
    };
    let mut ranked: Vec<usize> = (0..of).collect();
    ranked.sort_by_key(|&line| at(&plot.lines[line], q));
    let drawn = [&ranked[..CLEAR_LINES / 2], &ranked[of - CLEAR_LINES / 2..]].concat();
    let mut nth = 0..;
    plot.lines
        .retain(|_| nth.next().is_some_and(|line| drawn.contains(&line)));
    chart.note += &text::extremes_drawn(drawn.len(), of);
    chart
}

/// Latency of a line at a percentile.
fn at(line: &LatencyLine, q: Quantile) -> Option<Nanos> {
    let found = line.marked.iter().find(|mark| mark.0 == q);
    found.map(|mark| mark.1)
}

/// The percentile by which lines are ranked: P99, otherwise the median; `None` if some line has neither.
fn common_percentile(lines: &[LatencyLine]) -> Option<Quantile> {
    let is_common = |q: &Quantile| lines.iter().all(|line| at(line, *q).is_some());
    [Quantile::P99, Quantile::MEDIAN]
        .into_iter()
        .find(is_common)
}

fn line(name: String, latency: &LatencySummary) -> Option<LatencyLine> {
    let drawable = latency.count > 0 && (latency.curve.len() > 1 || !latency.quantiles.is_empty());
    drawable.then(|| LatencyLine {
        name,
        count: latency.count,
        curve: latency.curve.clone(),
        marked: latency.quantiles.clone(),
    })
}

fn latency_chart(name: String, title: String, lines: Vec<LatencyLine>) -> Option<Chart> {
    let marked = lines.iter().flat_map(|line| &line.marked);
    let mut quantiles: Vec<Quantile> = marked.map(|(q, _)| *q).collect();
    quantiles.sort_by(|a, b| a.share().total_cmp(&b.share()));
    quantiles.dedup();
    let percentiles = quantiles.iter().map(|&q| number::percentile(q));
    let head = ["", text::heat_heads()[1]].map(str::to_owned);
    let rows = lines.iter().map(|line| {
        let value = |q: &Quantile| {
            let found = line.marked.iter().find(|m| m.0 == *q);
            found.map_or("–".to_owned(), |m| m.1.to_string())
        };
        let count = match line.count {
            0 => "–".to_owned(),
            count => number::grouped(count),
        };
        let cells = std::iter::once(count).chain(quantiles.iter().map(value));
        table::row(&line.name, cells)
    });
    let table = DataTable::new(head.into_iter().chain(percentiles), rows);
    let drawable = !table.rows.is_empty();
    drawable.then_some(Chart {
        name,
        section: Section::Latency,
        title: text::chart_title(&latency_title(title, &lines)),
        note: text::latency_note().to_owned(),
        plot: Plot::Latency(LatencyChart { lines }),
        table,
    })
}

/// Smallest ratio of two medians whose order a title mentions.
const CLEARLY: f64 = 1.05;

/// Latency of the only line at P99, or the range of several at the highest percentile that all of them have.
fn latency_title(work: String, lines: &[LatencyLine]) -> ChartTitle {
    if let [only] = lines {
        return match at(only, Quantile::P99) {
            Some(p99) => ChartTitle::Latency {
                name: work,
                p99: p99.to_string(),
            },
            None => ChartTitle::LatenciesOnly { work },
        };
    }
    let Some(q) = common_percentile(lines) else {
        return ChartTitle::LatenciesOnly { work };
    };
    let values = || lines.iter().filter_map(|line| Some((line, at(line, q)?)));
    let (low, high) = (
        values().min_by_key(|found| found.1),
        values().max_by_key(|found| found.1),
    );
    let median = |found: Option<(&LatencyLine, Nanos)>| at(found?.0, Quantile::MEDIAN);
    let crossing = match (lines, median(low), median(high)) {
        ([_, _], Some(low), Some(high)) => high.0 as f64 * CLEARLY < low.0 as f64,
        _ => false,
    };
    let named = |found: Option<(&LatencyLine, Nanos)>| {
        let found = found.map(|(line, value)| {
            let name = text::within_sentence(&line.name);
            (name, value.to_string())
        });
        found.unwrap_or_default()
    };
    ChartTitle::Latencies {
        work,
        percentile: number::percentile(q),
        low: named(low),
        high: named(high),
        crossing,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of ten cards, only those of the title and their neighbors are drawn, and the table has all.
    #[test]
    fn of_many_lines_the_extremes_are_drawn() {
        let line = |card: u64| LatencyLine {
            name: format!("card {card}"),
            count: 10_000,
            curve: Vec::new(),
            marked: vec![(Quantile::P99, Nanos(1_000_000 * (card * 7 % 10 + 1)))],
        };
        let drawn = |cards: u64| {
            let lines = (0..cards).map(line).collect();
            let chart = latency_chart("latency".to_owned(), "x".to_owned(), lines).unwrap();
            let chart = with_extremes(chart);
            let Plot::Latency(plot) = chart.plot else {
                panic!("not a chart of latency");
            };
            let names: Vec<String> = plot.lines.into_iter().map(|line| line.name).collect();
            (names, chart.table.rows.len(), chart.note)
        };
        let (names, rows, note) = drawn(10);
        let extremes = ["card 0", "card 1", "card 3", "card 4", "card 6", "card 7"];
        assert_eq!(names, extremes, "1, 2 and 3 ms, and 8, 9 and 10 ms");
        assert_eq!(rows, 10);
        assert!(note.contains('6') && note.contains("10"), "{note}");
        assert_eq!(drawn(6).0.len(), 6);
    }

    /// Regression: the title said which is slower at P99, and a reader took it for slower throughout.
    #[test]
    fn a_title_says_that_the_order_differs_at_the_median() {
        let line = |name: &str, median: u64, p99: u64| LatencyLine {
            name: name.to_owned(),
            count: 10_000,
            curve: Vec::new(),
            marked: vec![
                (Quantile::MEDIAN, Nanos(median)),
                (Quantile::P99, Nanos(p99)),
            ],
        };
        let title =
            |lines: &[LatencyLine]| text::chart_title(&latency_title("fsync".to_owned(), lines));
        let (card, disk) = (
            line("card", 3_000_000, 8_000_000),
            line("disk", 5_000_000, 6_000_000),
        );
        let crossing = "fsync: P99 from 6 ms (disk) to 8 ms (card), the median the other way round";
        assert_eq!(title(&[card.clone(), disk.clone()]), crossing);
        let above = line("other", 5_100_000, 9_000_000);
        assert!(!title(&[disk, above]).contains("median"));
    }
}
