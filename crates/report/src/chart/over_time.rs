//! Charts of bandwidth over time.

use super::{Chart, Plot, Section, slug};
use crate::svg::{Timeline, TimelineLine, TimelineMark};
use crate::table::{self, DataTable};
use crate::{facts, number};
use hakaru_model::finding::PhaseSummary;
use hakaru_model::units::BytesPerSec;

/// Minimum number of points of a line.
const FEWEST_POINTS: usize = 4;
/// Maximum number of lines in a chart.
const MOST_LINES: usize = 24;
/// Maximum number of table rows; a longer table shows every nth row.
const MOST_ROWS: usize = 120;

/// Bandwidth over time of one phase; `None` if it has too few points.
pub(crate) fn over_time(
    phase: &str,
    names: &[String],
    cells: &[Option<&PhaseSummary>],
) -> Option<Chart> {
    let (runs, lines): (Vec<(usize, usize)>, Vec<TimePoints>) =
        chosen_runs(cells).into_iter().unzip();
    let single = names.len() == 1;
    let labels = runs.iter().map(|run| label(names, cells, *run));
    let labels: Vec<String> = labels.collect();
    let table = time_table(&labels, &lines)?;
    // With one series, each run has its own style if there are few enough runs.
    let by_run = single && lines.len() <= 6;
    let mut lines = TimelineLine::each(lines);
    for (line, (series, _)) in lines.iter_mut().zip(&runs).filter(|_| !by_run) {
        line.series = *series;
    }
    let measured = || cells.iter().flatten();
    let marks = measured().filter(|_| single).filter_map(|cell| mark(cell));
    let timeline = Timeline {
        unit: "MB/s".to_owned(),
        axis: "seconds".to_owned(),
        series: if by_run { labels } else { names.to_vec() },
        lines,
        marks: marks.collect(),
        ..Timeline::default()
    };
    let section = match measured().any(|cell| cell.sustained.is_some()) {
        true => Section::Sustained,
        false => Section::OverTime,
    };
    Some(Chart {
        name: format!("over-time-{}", slug(phase)),
        section,
        title: format!("Bandwidth over time, {phase}"),
        note: time_note(single, cells, runs.len()),
        plot: Plot::Timeline(timeline),
        table,
    })
}

/// Name of a run: with its series if there are several, and its number if its series has several.
fn label(
    names: &[String],
    cells: &[Option<&PhaseSummary>],
    (series, run): (usize, usize),
) -> String {
    let runs = cells[series].map_or(0, |cell| cell.timelines.len());
    match (names.len(), runs) {
        (1, _) => format!("run {}", run + 1),
        (_, 0 | 1) => names[series].clone(),
        _ => format!("{}, run {}", names[series], run + 1),
    }
}

/// Seconds and MB/s.
type TimePoints = Vec<(f64, f64)>;

/// The selected runs as `(series, run)` with their points: all runs, or an evenly spaced selection of each series
/// that keeps the chart readable.
fn chosen_runs(cells: &[Option<&PhaseSummary>]) -> Vec<((usize, usize), TimePoints)> {
    let room = (MOST_LINES / cells.len().max(1)).max(1);
    let mut chosen = Vec::new();
    for (series, cell) in cells.iter().enumerate() {
        let Some(cell) = cell else { continue };
        let long: Vec<usize> = (0..cell.timelines.len())
            .filter(|&i| cell.timelines[i].len() >= FEWEST_POINTS)
            .collect();
        let drawn = long.len().min(room);
        for nth in 0..drawn {
            let run = long[nth * (long.len() - 1) / (drawn - 1).max(1)];
            let points = cell.timelines[run]
                .iter()
                .map(|p| (p.at_s, p.bandwidth.0 / 1e6))
                .collect();
            chosen.push(((series, run), points));
        }
    }
    chosen
}

fn mark(phase: &PhaseSummary) -> Option<TimelineMark> {
    let cliff = phase.sustained.as_ref()?.cliff.as_ref()?;
    let BytesPerSec(before) = cliff.before;
    let text = format!(
        "from {} to {} MB/s after {}",
        number::significant(before / 1e6),
        number::significant(cliff.after.0 / 1e6),
        cliff.at
    );
    Some(TimelineMark {
        at_s: cliff.after_time.as_secs_f64(),
        text,
    })
}

fn time_note(single: bool, cells: &[Option<&PhaseSummary>], drawn: usize) -> String {
    let all: usize = cells
        .iter()
        .flatten()
        .map(|cell| cell.timelines.len())
        .sum();
    let mut note = if single {
        "One line a run.".to_owned()
    } else {
        "One line a run, in the style of its series.".to_owned()
    };
    if drawn < all {
        note.push_str(&format!(
            " {drawn} of {} runs are drawn.",
            number::count(all as u64)
        ));
    }
    let fact = cells
        .iter()
        .flatten()
        .find_map(|cell| facts::sustained(cell));
    if let Some(fact) = fact.filter(|_| single) {
        note.push_str(&format!(" Speed: {fact}."));
    }
    note
}

/// One row for each interval of the longest line; if there are too many, every nth. Because intervals of different
/// runs may differ in length, each line shows its interval that contains the middle of that interval.
fn time_table(labels: &[String], lines: &[TimePoints]) -> Option<DataTable> {
    let longest = lines.iter().max_by_key(|line| line.len())?;
    let step = longest.len().div_ceil(MOST_ROWS).max(1);
    let columns = labels.iter().map(|l| format!("{l}, MB/s"));
    let rows = (step - 1..longest.len()).step_by(step).map(|i| {
        let before = i.checked_sub(1).map_or(0.0, |before| longest[before].0);
        let middle = (longest[i].0 + before) / 2.0;
        let value = |line: &TimePoints| {
            // The time of a point is the end of its interval.
            let at = line.get(line.partition_point(|point| point.0 < middle));
            at.map_or("–".to_owned(), |point| number::significant(point.1))
        };
        table::row(number::exact(longest[i].0, 2), lines.iter().map(value))
    });
    Some(DataTable::new(table::row("Seconds", columns), rows))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Regression: rows were matched by index, so that half a minute of one run was next to half an hour of another.
    #[test]
    fn the_table_over_time_holds_the_speeds_of_the_same_seconds() {
        let line = |step: f64, speeds: &[f64]| -> TimePoints {
            (1..)
                .map(|i| f64::from(i) * step)
                .zip(speeds.iter().copied())
                .collect()
        };
        let lines = [
            line(0.5, &[10.0, 11.0, 12.0, 13.0, 14.0, 15.0]),
            line(1.0, &[20.0, 21.0]),
            line(0.501, &[30.0, 31.0]),
        ];
        let table = time_table(&["a", "b", "c"].map(str::to_owned), &lines).unwrap();
        let rows: Vec<String> = table.rows.iter().map(|row| row.join(" ")).collect();
        let wanted = [
            "0.5 10.0 20.0 30.0",
            "1 11.0 20.0 31.0",
            "1.5 12.0 21.0 –",
            "2 13.0 21.0 –",
            "2.5 14.0 – –",
            "3 15.0 – –",
        ];
        assert_eq!(rows, wanted);
    }
}
