//! Figures inside sentences that are formed alike in every language.

use super::span;
use crate::number;
use hakaru_model::finding::{Figure, MinMax};
use hakaru_model::units::{BytesPerSec, Nanos};
use std::fmt::Display;

/// A figure or its range: `1.2 s`, `1.2 s to 3.4 s`.
pub(super) fn range<T: Display>(of: MinMax<T>) -> String {
    span(&of.min.to_string(), &of.max.to_string())
}

/// The workloads of the standard suite that measure these figures: `durable,rand-write`.
pub(super) fn suite_workloads(figures: &[Figure]) -> String {
    let mut workloads: Vec<&str> = figures.iter().map(|figure| figure.workload()).collect();
    workloads.sort_unstable();
    workloads.dedup();
    workloads.join(",")
}

/// A count or its range, with thousands separators.
pub(super) fn count(of: MinMax<u64>) -> String {
    span(&number::grouped(of.min), &number::grouped(of.max))
}

/// Converts thousandths to percent: `1.2%`, `67%`, `70 to 86%`.
pub(super) fn percent<T: Into<i64>>(permille: MinMax<T>) -> String {
    let one = |permille: i64| {
        let value = permille as f64 / 10.0;
        let places = usize::from(permille % 10 != 0);
        signed(&format!("{value:.places$}"))
    };
    let MinMax { min, max } = permille;
    format!("{}%", span(&one(min.into()), &one(max.into())))
}

/// A load average from percent of one processor: `0.42`.
pub(super) fn load(percent: MinMax<u32>) -> String {
    let one = |percent: u32| format!("{:.2}", f64::from(percent) / 100.0);
    span(&one(percent.min), &one(percent.max))
}

/// A coefficient of correlation from thousandths: `0.62`.
pub(super) fn correlation(permille: MinMax<i32>) -> String {
    let one = |permille: i32| signed(&format!("{:.2}", f64::from(permille) / 1e3));
    span(&one(permille.min), &one(permille.max))
}

/// Replaces a hyphen by a minus sign.
fn signed(number: &str) -> String {
    number.replace('-', "\u{2212}")
}

/// Formats a time like an option value: exact, in the largest unit that divides it.
pub(super) fn option_time(time: Nanos) -> String {
    let units = [(1_000_000_000, "s"), (1_000_000, "ms"), (1_000, "us")];
    let unit = units
        .into_iter()
        .find(|(unit, _)| time.0 >= *unit && time.0.is_multiple_of(*unit));
    unit.map_or_else(
        || format!("{}ns", time.0),
        |(unit, name)| format!("{}{name}", time.0 / unit),
    )
}

/// A latency next to its limit: rounded, or exact if it is within 1% of the limit.
pub(super) fn exact_time(latency: Nanos, max: Nanos) -> String {
    let close = latency.0.abs_diff(max.0) <= max.0 / 100;
    if close {
        format!("{} ns", latency.0)
    } else {
        latency.to_string()
    }
}

/// A bandwidth in MB/s, without the unit.
pub(super) fn megabytes(bandwidth: &BytesPerSec) -> String {
    number::significant(bandwidth.0 / 1e6)
}

/// The words for the four reasons for throttling of a Raspberry Pi, in the order of their bits, that are set.
pub(super) fn throttling(bits: u32, words: [&'static str; 4]) -> Vec<&'static str> {
    let all = words.into_iter().enumerate();
    let set = all.filter(|(bit, _)| bits >> bit & 1 == 1);
    set.map(|(_, word)| word).collect()
}
