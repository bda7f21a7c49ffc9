//! Charts of bandwidth over time.

use super::time_axis::{TimeAxis, over_bytes, ramp_megabytes};
use super::{Chart, ChartTitle, Plot, Section, slug};
use crate::naming::PhaseName;
use crate::number;
use crate::svg::{LineWeight, SpeedLevel, Timeline, TimelineLine, TimelineMark};
use crate::table::{self, DataTable};
use crate::text::{self, RunOrder};
use hakaru_model::finding::{Cliff, PhaseSummary};
use hakaru_model::units::BytesPerSec;
use std::ops::Range;

/// Minimum number of points of a line.
const FEWEST_POINTS: usize = 4;
/// Maximum number of lines in a chart.
const MOST_LINES: usize = 24;
/// Fewest and most table rows; a longer table shows every nth row.
const FEWEST_ROWS: usize = 20;
const MOST_ROWS: usize = 120;
/// Number of cells above which a table shows every nth row.
const MOST_CELLS: usize = 240;

/// Bandwidth over time of one phase; `None` if it has too few points.
pub(crate) fn over_time(
    phase: &PhaseName,
    names: &[String],
    cells: &[Option<&PhaseSummary>],
) -> Option<Chart> {
    let (runs, mut lines): (Vec<(usize, usize)>, Vec<TimePoints>) =
        chosen_runs(cells).into_iter().unzip();
    let shortened = lines.iter_mut().filter_map(without_short_end).count() > 0;
    let measured = || cells.iter().flatten();
    // What the ramp time wrote was not measured, but filled the cache of a device.
    let begins: Vec<f64> = runs.iter().map(|run| ramp_megabytes(cells, *run)).collect();
    let axis = match measured().any(|cell| cell.sustained.is_some()) {
        true => TimeAxis::of_bytes(&lines, &begins),
        false => TimeAxis::Seconds,
    };
    if let TimeAxis::Bytes { unit, .. } = axis {
        let lines = lines.iter_mut().zip(&begins);
        lines.for_each(|(line, begin)| over_bytes(line, *begin, unit));
    }
    let single = names.len() == 1;
    let labels = runs.iter().map(|run| label(names, cells, *run));
    let labels: Vec<String> = labels.collect();
    let mut table = time_table(&time_columns(names, cells, &runs), &lines)?;
    table.head[0] = axis.name();
    let median = (single && lines.len() >= FEWEST_FOR_MEDIAN).then(|| median_line(&lines));
    let all = cells
        .iter()
        .flatten()
        .map(|cell| cell.timelines.len())
        .sum();
    let note = text::over_time_note(
        runs.len(),
        all,
        single,
        median.is_some(),
        axis != TimeAxis::Seconds,
        shortened,
    );
    // With one series, each run has its own style if there are few enough runs.
    let by_run = single && lines.len() < FEWEST_FOR_MEDIAN;
    let mut lines = TimelineLine::each(lines);
    for (line, (series, _)) in lines.iter_mut().zip(&runs).filter(|_| !by_run) {
        line.series = *series;
    }
    // Only what has a line has a place in the legend; its style stays that of its series.
    let mut series = if by_run { labels } else { names.to_vec() };
    let drawn = lines
        .iter()
        .map(|line: &TimelineLine| line.series + 1)
        .max();
    series.truncate(drawn.unwrap_or_default());
    if let Some(points) = median {
        for line in &mut lines {
            (line.series, line.weight) = (PALE, LineWeight::Pale);
        }
        lines.push(TimelineLine {
            series: 0,
            points,
            weight: LineWeight::Usual,
        });
        series = vec![text::median_of_runs().to_owned()];
    }
    let marks = measured()
        .filter(|_| single)
        .filter_map(|cell| mark(cell, axis));
    let only = measured().next().filter(|_| single);
    let end = lines
        .iter()
        .filter_map(|line| line.points.last())
        .map(|p| p.0);
    let end = end.fold(0.0, f64::max);
    let begin = match axis {
        TimeAxis::Bytes { unit, .. } => begins.iter().copied().fold(f64::MAX, f64::min) / unit,
        TimeAxis::Seconds => 0.0,
    };
    let timeline = Timeline {
        unit: "MB/s".to_owned(),
        axis: axis.name(),
        series,
        lines,
        marks: marks.collect(),
        levels: only
            .map(|cell| levels(cell, axis, (begin, end)))
            .unwrap_or_default(),
        ..Timeline::default()
    };
    let section = match measured().any(|cell| cell.sustained.is_some()) {
        true => Section::Sustained,
        false => Section::OverTime,
    };
    Some(Chart {
        name: over_time_name(&phase.id),
        section,
        title: text::chart_title(&time_title(&phase.label, names, cells)),
        note,
        plot: Plot::Timeline(timeline),
        table,
    })
}

/// Name of the chart of a phase.
pub(crate) fn over_time_name(phase: &str) -> String {
    format!("over-time-{}", slug(phase))
}

/// Number of runs from which their median is drawn.
const FEWEST_FOR_MEDIAN: usize = 3;
/// Color of the single runs behind a median.
const PALE: usize = 5;

/// The median of the lines at each point of the longest, where at least half of them have a value.
fn median_line(lines: &[TimePoints]) -> TimePoints {
    let longest = lines.iter().max_by_key(|line| line.len());
    let grid = longest.into_iter().flatten().map(|point| point.0);
    let median = |at: f64| {
        let value = |line: &TimePoints| {
            Some(
                line.get(line.partition_point(|p| p.0 < at * (1.0 - 1e-9)))?
                    .1,
            )
        };
        let mut values: Vec<f64> = lines.iter().filter_map(value).collect();
        values.sort_by(f64::total_cmp);
        let most = values.len() * 2 >= lines.len();
        Some((at, RunOrder::Median.of(&values).filter(|_| most)?))
    };
    grid.filter_map(median).collect()
}

/// The levels before, between and after permanent drops.
fn levels(phase: &PhaseSummary, axis: TimeAxis, (begin, end): (f64, f64)) -> Vec<SpeedLevel> {
    let falls: Vec<&Cliff> = match &phase.sustained {
        Some(found) if found.falls.is_empty() => found.cliff.iter().collect(),
        Some(found) => found.falls.iter().filter(|fall| fall.proven).collect(),
        None => Vec::new(),
    };
    let mut levels = Vec::new();
    let mut from = begin;
    for (nth, fall) in falls.iter().enumerate() {
        let to = axis.place(fall).min(end);
        levels.push((from, to, fall.before));
        from = to;
        if nth + 1 == falls.len() {
            levels.push((from, end, fall.after));
        }
    }
    let level = |(from, to, BytesPerSec(value)): (f64, f64, BytesPerSec)| SpeedLevel {
        from,
        to,
        value: value / 1e6,
        text: text::level(&number::significant(value / 1e6)),
    };
    levels.into_iter().map(level).collect()
}

/// The finding about the speed over time: permanent drops, fluctuations, or its range.
fn time_title(phase: &str, names: &[String], cells: &[Option<&PhaseSummary>]) -> ChartTitle {
    let phase = phase.to_owned();
    if let ([_], [Some(only)]) = (names, cells) {
        let Some(found) = &only.sustained else {
            return ChartTitle::OverTime { phase };
        };
        return match (&found.cliff, &found.swing) {
            (Some(cliff), _) => ChartTitle::Falls {
                phase,
                before: speed(cliff.before),
                after: speed(cliff.after),
                at: number::decimal_bytes(cliff.at),
            },
            (None, Some(swing)) => ChartTitle::Swings {
                phase,
                low: speed(swing.low),
                high: speed(swing.high),
                recoveries: swing.recoveries,
            },
            (None, None) => ChartTitle::Range {
                phase,
                low: speed(found.min),
                high: speed(found.max),
            },
        };
    }
    let measured = names
        .iter()
        .zip(cells)
        .filter_map(|(name, cell)| Some((name, cell.as_ref()?)));
    let long: Vec<_> = measured
        .filter(|(_, cell)| cell.sustained.is_some())
        .collect();
    let falls = |cell: &PhaseSummary| cell.sustained.as_ref().is_some_and(|s| s.cliff.is_some());
    let falling = long.iter().filter(|(_, cell)| falls(cell));
    let falling: Vec<String> = falling.map(|(name, _)| (*name).clone()).collect();
    match falling.is_empty() {
        true => ChartTitle::OverTime { phase },
        false => ChartTitle::SomeFall {
            phase,
            falling,
            of: long.len(),
        },
    }
}

/// Name of a run: with its series if there are several, and its number if its series has several.
fn label(
    names: &[String],
    cells: &[Option<&PhaseSummary>],
    (series, run): (usize, usize),
) -> String {
    let runs = cells[series].map_or(0, |cell| cell.timelines.len());
    match (names.len(), runs) {
        (1, _) => text::run_number(run + 1),
        (_, 0 | 1) => names[series].clone(),
        _ => text::enumerated(&[names[series].clone(), text::run_number(run + 1)]),
    }
}

/// Seconds and MB/s.
pub(super) type TimePoints = Vec<(f64, f64)>;

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

/// Takes the last point off a line whose last interval is shorter than half of the median one: what a few I/Os take is
/// no speed. `None` if the line stays.
fn without_short_end(line: &mut TimePoints) -> Option<(f64, f64)> {
    let starts = std::iter::once(0.0).chain(line.iter().map(|point| point.0));
    let mut lengths: Vec<f64> = line
        .iter()
        .zip(starts)
        .map(|(p, from)| p.0 - from)
        .collect();
    let last = *lengths.last()?;
    lengths.sort_by(f64::total_cmp);
    let is_short = last < lengths[lengths.len() / 2] / 2.0;
    line.pop_if(|_| is_short)
}

/// A speed in MB/s.
fn speed(BytesPerSec(value): BytesPerSec) -> String {
    number::significant(value / 1e6)
}

fn mark(phase: &PhaseSummary, axis: TimeAxis) -> Option<TimelineMark> {
    let cliff = phase.sustained.as_ref()?.cliff.as_ref()?;
    let [before, after] = [cliff.before, cliff.after].map(speed);
    let text = text::drop_mark(&before, &after, &number::decimal_bytes(cliff.at));
    Some(TimelineMark {
        at: axis.place(cliff),
        text,
    })
}

/// One row for each interval of the longest line; if there are too many, every nth. Because intervals of different
/// runs may differ in length, each line shows its interval that contains the middle of that interval. Of a series with
/// enough runs, the table has the median, the lowest and the highest value of each interval.
fn time_table(columns: &[TimeColumn], lines: &[TimePoints]) -> Option<DataTable> {
    let longest = lines.iter().max_by_key(|line| line.len())?;
    let most = (MOST_CELLS / columns.len().max(1)).clamp(FEWEST_ROWS, MOST_ROWS);
    let step = longest.len().div_ceil(most).max(1);
    let head = columns
        .iter()
        .map(|column| format!("{}, MB/s", column.name));
    let rows = (step - 1..longest.len()).step_by(step).map(|i| {
        let before = i.checked_sub(1).map_or(0.0, |before| longest[before].0);
        let middle = (longest[i].0 + before) / 2.0;
        // The time of a point is the end of its interval.
        let value = |line: &TimePoints| {
            let point = line.get(line.partition_point(|point| point.0 < middle));
            point.map(|point| point.1)
        };
        let cell = |column: &TimeColumn| {
            let values = column.lines.clone().filter_map(|line| value(&lines[line]));
            let mut values: Vec<f64> = values.collect();
            values.sort_by(f64::total_cmp);
            // When most runs are over, the others are not typical.
            let most = values.len() * 2 >= column.lines.len();
            column
                .of
                .of(&values)
                .filter(|_| most)
                .map_or("–".to_owned(), number::significant)
        };
        table::row(number::exact(longest[i].0, 2), columns.iter().map(cell))
    });
    Some(DataTable::new(table::row(text::axis_seconds(), head), rows))
}

/// A column of the table over time.
struct TimeColumn {
    name: String,
    of: RunOrder,
    /// The lines that it is about.
    lines: Range<usize>,
}

/// The columns of the lines: one for each line, or three for a series with enough runs.
fn time_columns(
    names: &[String],
    cells: &[Option<&PhaseSummary>],
    runs: &[(usize, usize)],
) -> Vec<TimeColumn> {
    let mut columns = Vec::new();
    let mut from = 0;
    for of_series in runs.chunk_by(|a, b| a.0 == b.0) {
        let lines = from..from + of_series.len();
        from = lines.end;
        if of_series.len() < FEWEST_FOR_MEDIAN {
            columns.extend(lines.map(|line| TimeColumn {
                name: label(names, cells, runs[line]),
                of: RunOrder::Median,
                lines: line..line + 1,
            }));
            continue;
        }
        let series = (names.len() > 1).then(|| names[of_series[0].0].as_str());
        columns.extend(RunOrder::ALL.map(|of| TimeColumn {
            name: text::run_order(series, of),
            of,
            lines: lines.clone(),
        }));
    }
    columns
}

impl RunOrder {
    /// The value of this run of ascending values; `None` without values.
    fn of(self, ascending: &[f64]) -> Option<f64> {
        let n = ascending.len();
        match self {
            RunOrder::Median => {
                Some((ascending.get(n.checked_sub(1)? / 2)? + ascending[n / 2]) / 2.0)
            }
            RunOrder::Slowest => ascending.first().copied(),
            RunOrder::Fastest => ascending.last().copied(),
        }
    }
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
        let columns = ["a", "b", "c"].iter().enumerate();
        let columns = columns.map(|(line, name)| TimeColumn {
            name: (*name).to_owned(),
            of: RunOrder::Median,
            lines: line..line + 1,
        });
        let table = time_table(&columns.collect::<Vec<_>>(), &lines).unwrap();
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

    #[test]
    fn a_short_last_interval_is_left_out() {
        let line =
            |last: f64| -> TimePoints { [0.5, 1.0, 1.5, 2.0, last].map(|at| (at, 10.0)).to_vec() };
        let mut short = line(2.1);
        assert_eq!(without_short_end(&mut short), Some((2.1, 10.0)));
        assert_eq!(short.len(), 4);
        assert_eq!(without_short_end(&mut line(2.4)), None);
        assert_eq!(without_short_end(&mut Vec::new()), None);
    }

    /// Many runs would make most of a page: of a series with at least three, the table has three columns.
    #[test]
    fn a_series_of_many_runs_has_its_median_and_extremes() {
        let names = ["a", "b"].map(str::to_owned);
        let runs: Vec<(usize, usize)> = (0..10).map(|run| (0, run)).chain([(1, 0)]).collect();
        let columns = time_columns(&names, &[None, None], &runs);
        let lines: Vec<TimePoints> = (0..11)
            .map(|run| {
                (1..=400)
                    .map(|at| (f64::from(at), f64::from(run)))
                    .collect()
            })
            .collect();
        let table = time_table(&columns, &lines).unwrap();
        let expected = [
            "a, median",
            "a, lowest of the runs",
            "a, highest of the runs",
            "b",
        ];
        let head: Vec<String> = expected.map(|name| format!("{name}, MB/s")).to_vec();
        assert_eq!(table.head[1..], head);
        assert_eq!(table.rows.len(), 57);
        assert_eq!(table.rows[0], ["7", "4.50", "0", "9.00", "10.0"]);
    }
}
