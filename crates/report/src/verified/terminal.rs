//! The verdict, the speed and a small map, for a terminal.

use super::{Grade, VerdictText, begins_at, duration, headline, place, state, told};
use crate::escape::plain;
use crate::terminal::{NARROWEST, TerminalStyle, hanging};
use crate::{facts, number, time};
use hakaru_model::integrity::{SpeedMap, Verification};
use hakaru_model::units::BytesPerSec;

/// Wider maps show nothing more.
const WIDEST_MAP: usize = 72;
/// Bad stretches that are listed; the report page has more.
const MOST_STRETCHES: usize = 8;
/// Room for the names of lines.
const NAMES: usize = 13;

/// Renders a verification for a terminal of `width` columns; `color` allows ANSI styles.
pub fn verification_terminal(verification: &Verification, width: usize, color: bool) -> String {
    let (width, ink) = (width.max(NARROWEST), TerminalStyle { color });
    let VerdictText {
        grade,
        verdict,
        advice,
        limits,
    } = told(verification);
    let sign = match grade {
        Grade::Good => "✓",
        Grade::Bad => "✗",
        Grade::Open => "–",
    };
    let under = [
        format!("hakaru {}", plain(&verification.version)),
        time::utc(verification.started_unix_ms),
        duration(verification.elapsed),
    ];
    let mut out = format!(
        "{}\n{}\n\n",
        ink.bold(&headline(verification)),
        ink.dim(&under.join(" · "))
    );
    out += &(ink.bold(&hanging(&format!("{sign} "), &verdict, width)) + "\n");
    if !advice.is_empty() {
        out += &(hanging("  ", &advice, width) + "\n");
    }
    out += &speeds(verification, width);
    out += &map(verification, width);
    out += &stretches(verification, width);
    out.push('\n');
    for limit in limits {
        out += &(ink.dim(&hanging("! ", limit, width)) + "\n");
    }
    out.push('\n');
    for (name, values) in facts::brief_of(&facts::surroundings(
        &verification.target,
        &verification.environment,
    )) {
        out += &(ink.dim(&hanging(&format!("{name:<NAMES$}"), &values, width)) + "\n");
    }
    out + &(ink.dim(&format!("{:<NAMES$}{}", "Id", plain(&verification.id))) + "\n")
}

/// Mean speed of both ways, and how even it was.
fn speeds(verification: &Verification, width: usize) -> String {
    let verdict = &verification.verdict;
    let line = |name: &str, map: &SpeedMap| {
        let (Some(mean), Some((slowest, fastest))) = (map.whole().rate(), map.extremes()) else {
            return String::new();
        };
        let text = format!(
            "{mean}, {} to {} along it",
            megabytes(slowest),
            megabytes(fastest)
        );
        hanging(&format!("{name:<NAMES$}"), &text, width) + "\n"
    };
    let lines = line("Written at", &verdict.write_speed) + &line("Read at", &verdict.read_speed);
    if lines.is_empty() {
        lines
    } else {
        format!("\n{lines}")
    }
}

fn megabytes(rate: BytesPerSec) -> String {
    format!("{} MB/s", number::significant(rate.0 / 1e6))
}

/// Eighths of a character, from nothing up.
const HEIGHTS: [char; 9] = [' ', '▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

/// What was found and how fast it was, from the beginning to the end: a column a part of it, heights from zero.
fn map(verification: &Verification, width: usize) -> String {
    let verdict = &verification.verdict;
    let columns = (width - NAMES).min(WIDEST_MAP);
    let (begin, claimed) = (begins_at(verification), verdict.claimed);
    if claimed.0 == 0 {
        return String::new();
    }
    let edge =
        |column: usize| begin.0 + (u128::from(claimed.0) * column as u128 / columns as u128) as u64;
    let rates = |map: &SpeedMap| -> Vec<Option<f64>> {
        (0..columns)
            .map(|column| rate_between(map, edge(column), edge(column + 1)))
            .collect()
    };
    let (write, read) = (rates(&verdict.write_speed), rates(&verdict.read_speed));
    let tallest = write
        .iter()
        .chain(&read)
        .flatten()
        .copied()
        .fold(0.0, f64::max);
    let bars = |rates: &[Option<f64>]| -> String {
        rates.iter().map(|rate| bar(*rate, tallest)).collect()
    };
    let found: String = (0..columns)
        .map(|column| found(verification, edge(column), edge(column + 1)))
        .collect();
    let mut out = format!("\n{:<NAMES$}{}\n", "Found", found.trim_end());
    for (name, bars) in [("Writing", bars(&write)), ("Reading", bars(&read))] {
        out += &format!("{name:<NAMES$}{}\n", bars.trim_end());
    }
    let (from, to) = (
        place(begin),
        hakaru_model::units::Bytes(begin.0 + claimed.0).to_string(),
    );
    out + &format!(
        "{:NAMES$}{from}{to:>room$}\n",
        "",
        room = columns.saturating_sub(from.len())
    )
}

/// Mean rate of the stretches that lie between two offsets, as far as they do.
fn rate_between(map: &SpeedMap, from: u64, to: u64) -> Option<f64> {
    let (mut bytes, mut nanos) = (0.0, 0.0);
    for point in map
        .points
        .iter()
        .filter(|p| p.offset.0 < to && p.offset.0 + p.len.0 > from && p.len.0 > 0)
    {
        let within = (point.offset.0 + point.len.0).min(to) - point.offset.0.max(from);
        let share = within as f64 / point.len.0 as f64;
        bytes += within as f64;
        nanos += point.elapsed.0 as f64 * share;
    }
    (nanos > 0.0).then(|| bytes / nanos * 1e9)
}

fn bar(rate: Option<f64>, tallest: f64) -> char {
    match rate {
        Some(rate) if tallest > 0.0 => {
            HEIGHTS[((rate / tallest * 8.0).round() as usize).clamp(1, 8)]
        }
        _ => ' ',
    }
}

/// One column of the map of what was found.
fn found(verification: &Verification, from: u64, to: u64) -> char {
    let verdict = &verification.verdict;
    let touches = |offset: u64, len: u64| offset < to && offset + len > from;
    let real = verdict.capacity.real().map(|real| real.0);
    // Memory that wraps keeps what was written last, so it is not the bad blocks that lie beyond its end.
    if real.is_some_and(|real| to > real)
        || real.is_none() && verdict.bad.iter().any(|s| touches(s.offset.0, s.len.0))
    {
        return '✗';
    }
    let looked_until = if verification.completed {
        u64::MAX
    } else {
        begins_at(verification).0 + verdict.checked().0
    };
    if from < looked_until { '━' } else { ' ' }
}

/// The first of the bad stretches.
fn stretches(verification: &Verification, width: usize) -> String {
    let bad = &verification.verdict.bad;
    if bad.is_empty() {
        return String::new();
    }
    let mut out = String::from("\nBad places\n");
    for span in bad.iter().take(MOST_STRETCHES) {
        let lead = format!(
            "  at {:<9} {:>9}  ",
            place(span.offset),
            span.len.to_string()
        );
        out += &(hanging(&lead, &state(span.state), width) + "\n");
    }
    if bad.len() > MOST_STRETCHES {
        out += &format!(
            "  and {} more\n",
            number::count((bad.len() - MOST_STRETCHES) as u64)
        );
    }
    out
}
