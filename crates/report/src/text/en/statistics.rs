//! Words of statistics.

use super::counted;
use crate::number;
use crate::text::SlowestInterval;
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
    worst: &SlowestInterval,
    best: Option<&SlowestInterval>,
) -> String {
    let part = |of: &SlowestInterval| {
        let speed = number::significant(of.speed / 1e6);
        format!("{speed} MB/s, {}% of its mean", number::percent(of.share))
    };
    match best {
        None => format!("{work}: slowest interval {}", part(worst)),
        Some(best) => format!(
            "{work}: slowest interval of {} {}; of {} {}",
            worst.series,
            part(worst),
            best.series,
            part(best)
        ),
    }
}

pub(in crate::text) fn range_note(lengths: &[String]) -> String {
    let of = match lengths {
        [] => String::new(),
        lengths => format!(", each about {}", lengths.join(" or ")),
    };
    format!(
        "Bandwidth over time, MB/s. Bar: bytes divided by time; thick line: ± 1 standard deviation of the \
         intervals{of}; thin line with ends: the slowest and the fastest interval. The result does not list single intervals."
    )
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
