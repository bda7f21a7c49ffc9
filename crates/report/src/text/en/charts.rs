//! Titles, subtitles and source lines of charts.
//!
//! A title says what the data shows; if no difference is shown, it says so.

use super::answers::{thing, things};
use super::heat::{noun, of_syncs, slow_when};
use super::{counted, listed};
use crate::chart::{BarMarks, ChartTitle, SweepAxis};
use crate::number;
use crate::text::RunOrder;

pub(in crate::text) fn chart_title(title: &ChartTitle) -> String {
    match title {
        ChartTitle::HostBound { work, cards, value } => {
            format!(
                "{work}: all {cards} {} stop at the host’s {value}",
                things()
            )
        }
        ChartTitle::Plateau {
            work,
            cards,
            of,
            low,
            high,
        } => {
            let cards = match cards == of {
                true => format!("all {of} {}", things()),
                false => format!("{cards} of {of} {}", things()),
            };
            let speed = super::span(low, high);
            format!(
                "{work}: {cards} reach {speed} MB/s, though they differ elsewhere: perhaps the host’s limit"
            )
        }
        ChartTitle::Rated {
            met,
            missed,
            untested,
            of,
            low,
            high,
        } => {
            let share = super::span(low, high);
            match (*met, *missed, *of) {
                (_, 1, 1) => format!("The rated speed is not reached: {share}% of it"),
                (_, missed, of) if missed == of => {
                    format!("No rated speed is reached: {share}% of it")
                }
                (met, _, of) if met == of => {
                    format!("Every rated speed is reached: {share}% of it")
                }
                (0, missed, of) if missed + untested == of => {
                    format!(
                        "No rated speed is reached: {share}% of it; test conditions not met or unknown"
                    )
                }
                (0, ..) => format!("Measured: {share}% of the rated speed; nothing is proven"),
                (met, _, of) => {
                    format!("Measured: {share}% of the rated speed; {met} of {of} proven")
                }
            }
        }
        ChartTitle::LayerCosts {
            work,
            layer,
            low,
            high,
        } => {
            let lost = super::span(low, high);
            format!("{work}: {layer} costs every {} {lost}%", thing())
        }
        ChartTitle::LayerMixed {
            work,
            layer,
            gains,
            losing,
            of,
            low,
            high,
        } => {
            let gains: Vec<String> = gains
                .iter()
                .map(|(card, gain)| format!("{card} gains {gain}%"))
                .collect();
            format!(
                "{work}: through {layer}, {losing} of {of} {} lose {}%, but {}",
                things(),
                super::span(low, high),
                listed(&gains)
            )
        }
        ChartTitle::LayerFree { work, layer, cards } => format!(
            "{work}: {layer} costs nothing (same within 5% on all {cards} {})",
            things()
        ),
        ChartTitle::LayerRatios { work, layer } => {
            format!("{work}: what {layer} leaves of the speed")
        }
        ChartTitle::Fastest {
            work,
            card,
            next,
            lead,
        } => {
            format!("{work}: {card} is the fastest, {} {next}", ahead(*lead))
        }
        ChartTitle::FastestTie { work, cards } => {
            format!(
                "{work}: {} lead; no difference between them is shown",
                some(cards)
            )
        }
        ChartTitle::NoDifference { work, cards } => {
            format!(
                "{work}: no difference between the {cards} {} is shown",
                things()
            )
        }
        ChartTitle::OnlyCard { work, value } => format!("{work}: {value}"),
        ChartTitle::LayerLeaves {
            work,
            layer,
            reference,
            share,
        } => {
            format!(
                "{work}: {layer} reaches {}% of {reference}",
                number::percent(*share)
            )
        }
        ChartTitle::Amplification { work, low, high } if low == high => {
            format!("{work}: the device wrote {low}× the bytes of the application")
        }
        ChartTitle::Amplification { work, low, high } => {
            format!("{work}: the device wrote {low}× to {high}× the bytes of the application")
        }
        ChartTitle::Phases {
            fastest,
            fast,
            slowest,
            slow,
            unit,
        } => {
            format!("From {slow} {unit} ({slowest}) to {fast} {unit} ({fastest})")
        }
        ChartTitle::OnlyPhase { phase, value } => format!("{phase}: {value}"),
        ChartTitle::HighestMeans {
            series,
            most,
            phases,
            quantity,
        } => {
            format!(
                "{quantity}: {series} has the highest mean in {most} of {}",
                counted(*phases as u64, "workload")
            )
        }
        ChartTitle::Compared {
            a,
            b,
            faster,
            slower,
            open,
            ratio,
        } => compared(a, b, [*faster, *slower, *open], ratio.as_deref()),
        ChartTitle::ComparedOnce { a, b, low, high } => format!(
            "{b} at {}× the speed of {a}; measured once, so nothing is proven",
            super::span(low, high)
        ),
        ChartTitle::Latency { name, p99 } => format!("{name}: 99% of the I/Os take at most {p99}"),
        ChartTitle::Latencies {
            work,
            percentile,
            low,
            high,
            crossing,
        } => {
            if low.1 == high.1 {
                return format!("{work}: {percentile} is {} for all", low.1);
            }
            let median = match crossing {
                true => ", the median the other way round",
                false => "",
            };
            format!(
                "{work}: {percentile} from {} ({}) to {} ({}){median}",
                low.1, low.0, high.1, high.0
            )
        }
        ChartTitle::LatenciesOnly { work } => format!("{work}: latency"),
        ChartTitle::SlowIos {
            work,
            sync,
            count,
            from,
            when,
        } => {
            let times = counted(*count, noun(*sync));
            format!(
                "{}: {times} took {from} or longer{}",
                of_syncs(work, *sync),
                slow_when(*when, *count)
            )
        }
        ChartTitle::NoSlowIos { work, sync, limit } => {
            let work = of_syncs(work, *sync);
            match limit {
                Some(limit) => format!("{work}: no {} took {limit} or longer", noun(*sync)),
                None => format!("{work}: no {} took 10 times the median", noun(*sync)),
            }
        }
        ChartTitle::Falls {
            phase,
            before,
            after,
            at,
        } => {
            format!("{phase}: falls from {before} to {after} MB/s after {at}")
        }
        ChartTitle::SomeFall { phase, falling, of } if falling.len() == *of => {
            format!("{phase}: all {of} fall permanently")
        }
        ChartTitle::SomeFall { phase, falling, of } => {
            format!(
                "{phase}: {} of {of} fall permanently ({})",
                falling.len(),
                some(falling)
            )
        }
        ChartTitle::Swings {
            phase,
            low,
            high,
            recoveries,
        } => {
            let times = super::times(*recoveries);
            format!("{phase}: swings between {low} and {high} MB/s, recovers {times}")
        }
        ChartTitle::Range { phase, low, high } => {
            format!("{phase}: {low} to {high} MB/s over time")
        }
        ChartTitle::OverTime { phase } => format!("{phase}: speed over time"),
        ChartTitle::Peak {
            quantity,
            line,
            value,
            at,
        } => {
            format!("{quantity}: highest at {at}, {value}{}", of_line(line))
        }
        ChartTitle::SweepRange {
            quantity,
            line,
            from,
            to,
            first,
            last,
        } => {
            format!(
                "{quantity}: from {from} at {first} to {to} at {last}{}",
                of_line(line)
            )
        }
    }
}

/// The line of a sweep in parentheses; empty if there is only one.
fn of_line(line: &str) -> String {
    match line.is_empty() {
        true => String::new(),
        false => format!(" ({line})"),
    }
}

/// A ratio: `12% ahead of`, from 2 on `2.4 times`.
fn ahead(ratio: f64) -> String {
    match ratio {
        ratio if ratio >= 1.95 => format!("{} times", number::significant(ratio)),
        ratio => format!("{}% ahead of", number::percent(ratio - 1.0)),
    }
}

/// At most three names; of more, their number.
fn some(names: &[String]) -> String {
    match names.len() {
        n if n <= 3 => listed(names),
        n => format!("{n} of them"),
    }
}

fn compared(a: &str, b: &str, [faster, slower, open]: [usize; 3], ratio: Option<&str>) -> String {
    let of = counted((faster + slower + open) as u64, "workload");
    let times = ratio.map_or_else(String::new, |ratio| format!(": {ratio}×"));
    match (faster, slower) {
        (1, 0) if open == 0 => format!("{b} is faster than {a}{times}"),
        (0, 1) if open == 0 => format!("{b} is slower than {a}{times}"),
        (0, 0) => format!("No difference between {a} and {b} is shown in {of}"),
        (faster, 0) => format!("{b} is faster than {a} in {faster} of {of}"),
        (0, slower) => format!("{b} is slower than {a} in {slower} of {of}"),
        (faster, slower) => {
            format!("{b} is faster than {a} in {faster} of {of}, and slower in {slower}")
        }
    }
}

pub(in crate::text) fn bars_note(quantity: &str, runs: &str, marks: BarMarks) -> String {
    let mut parts = vec![match (marks.spread, runs.is_empty()) {
        (_, true) => "bar: mean".to_owned(),
        (false, _) if !marks.rated => format!("bar: {runs}"),
        _ => format!("bar: mean of {runs}"),
    }];
    if marks.spread {
        parts.push("line: ± 1 standard deviation".to_owned());
    }
    if marks.runs {
        parts.push("dot: one run".to_owned());
    }
    if marks.boxes {
        parts.push("box: quartiles of the runs".to_owned());
    }
    if marks.rated {
        parts.push("mark: rated speed".to_owned());
    }
    if marks.letters {
        let same = match marks.letters_by_color {
            true => "same letter in the same color",
            false => "same letter",
        };
        parts.push(format!("{same}: no difference shown"));
    }
    let marks = parts.join("; ");
    let mut chars = marks.chars();
    let first = chars.next().map(|c| c.to_uppercase().to_string());
    format!(
        "{quantity}. {}{}.",
        first.unwrap_or_default(),
        chars.as_str()
    )
}

pub(in crate::text) fn runs_between(least: u64, most: u64) -> String {
    match (least, most) {
        (0, 0) => String::new(),
        (least, most) if least == most => counted(least, "run"),
        (least, most) => format!("{} to {}", number::grouped(least), counted(most, "run")),
    }
}

pub(in crate::text) fn simulated_source() -> &'static str {
    "simulated, not measured"
}

pub(in crate::text) fn chart_source_line(
    runs: &str,
    conditions: &[String],
    origin: &[String],
    days: &str,
) -> String {
    let runs = match runs.is_empty() {
        true => String::new(),
        false => format!("n = {runs}"),
    };
    let origin = match origin.is_empty() {
        true => String::new(),
        false => format!("source: {}", listed(origin)),
    };
    let parts = [
        vec![runs],
        conditions.to_vec(),
        vec![origin, days.to_owned()],
    ]
    .concat();
    let known: Vec<String> = parts.into_iter().filter(|part| !part.is_empty()).collect();
    known.join(" · ")
}

pub(in crate::text) fn latency_by_run_note() -> &'static str {
    "Latency at each percentile; both axes are logarithmic. A line for each run, because percentiles of \
     several runs cannot be merged."
}

pub(in crate::text) fn run_of_series(name: &str, run: usize) -> String {
    format!("{name}, run {run}")
}

pub(in crate::text) fn latency_note() -> &'static str {
    "Latency at each percentile, all runs together; both axes are logarithmic. A line ends at the last \
     percentile with enough I/Os."
}

pub(in crate::text) fn over_time_note(
    drawn: usize,
    of: usize,
    single: bool,
    median: bool,
    by_bytes: bool,
    shortened: bool,
) -> String {
    let lines = match (median, single) {
        (true, _) => "Thin lines: one run each; thick line: their median",
        (false, true) => "One line a run",
        (false, false) => "One line a run, in the style of its series",
    };
    let mut note = format!("MB/s. {lines}.");
    if by_bytes {
        note.push_str(
            " Over bytes written, because a cache ends after bytes and not after seconds.",
        );
    }
    if drawn < of {
        note.push_str(&format!(
            " {drawn} of {} runs are drawn.",
            number::grouped(of as u64)
        ));
    }
    if shortened {
        note.push_str(" A last interval shorter than half of the usual one is left out.");
    }
    note
}

pub(in crate::text) fn level(value: &str) -> String {
    format!("{value} MB/s")
}

pub(in crate::text) fn run_order(series: Option<&str>, of: RunOrder) -> String {
    let of = match of {
        RunOrder::Median => median_of_runs(),
        RunOrder::Slowest => "lowest of the runs",
        RunOrder::Fastest => "highest of the runs",
    };
    series.map_or_else(|| of.to_owned(), |series| format!("{series}, {of}"))
}

pub(in crate::text) fn median_of_runs() -> &'static str {
    "median"
}

pub(in crate::text) fn sweep_axis(axis: SweepAxis) -> &'static str {
    match axis {
        SweepAxis::BlockSize => "Block size",
        SweepAxis::QueueDepth => "Queue depth",
        SweepAxis::Jobs => "Jobs",
        SweepAxis::FillLevel => "File system used, %",
        SweepAxis::Date => "Date",
    }
}

pub(in crate::text) fn sweep_value(axis: SweepAxis, value: f64, alone: bool) -> String {
    let number = number::exact(value, 3);
    match (axis, alone) {
        (_, false) => number,
        (SweepAxis::QueueDepth, true) => format!("QD {number}"),
        (SweepAxis::Jobs, true) => counted(value as u64, "job"),
        (SweepAxis::FillLevel, true) => format!("{number}% used"),
        (SweepAxis::BlockSize | SweepAxis::Date, true) => number,
    }
}

pub(in crate::text) fn sweep_note(quantity: &str, runs: &str, spread: bool) -> String {
    let runs = match runs.is_empty() {
        true => "point: mean".to_owned(),
        false => format!("point: mean of {runs}"),
    };
    let whisker = if spread {
        "; whisker: 95% interval"
    } else {
        ""
    };
    format!("{quantity}; {runs}{whisker}.")
}
