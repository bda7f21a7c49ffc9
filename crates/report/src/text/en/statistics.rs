//! Words of statistics.

use super::counted;
use hakaru_model::finding::IntervalCaveat;

pub(in crate::text) fn interval_caveat(caveat: IntervalCaveat) -> &'static str {
    match caveat {
        IntervalCaveat::FewRuns => "few runs",
        IntervalCaveat::Dependent => "dependent",
        IntervalCaveat::Skewed => "skewed",
        IntervalCaveat::TwoModes => "two modes",
    }
}

pub(in crate::text) fn after_interval(caveats: &str) -> String {
    format!(" ({caveats})")
}

pub(in crate::text) fn intervals() -> &'static str {
    "Behind an interval: few runs (under 20: whether they are independent and evenly spread cannot be checked), dependent \
     (each run resembles the one before), skewed, two modes. Such an interval may be too narrow."
}

pub(in crate::text) fn spread_title(
    work: &str,
    low: &(String, String),
    high: Option<&(String, String)>,
) -> String {
    let (least, steadiest) = low;
    match high {
        None => format!("{work}: the speed varies by {least}% of its mean over time"),
        Some((most, other)) => format!(
            "{work}: the speed varies by {least}% of its mean over time ({steadiest}) to {most}% ({other})"
        ),
    }
}

pub(in crate::text) fn range_note() -> &'static str {
    "Bandwidth over time, MB/s. Bar: mean; thick line: ± 1 standard deviation of the intervals; thin line with ends: the \
     slowest and the fastest interval. The result has no single intervals."
}

pub(in crate::text) fn no_rated_speed() -> &'static str {
    "no rated speed"
}

pub(in crate::text) fn calls(n: u64) -> String {
    counted(n, "call")
}

pub(in crate::text) fn nth_series(n: usize) -> String {
    format!("series {n}")
}
