//! Formats numbers for readers: few digits, one unit for each column, a deviation next to each mean.

use crate::text;
use hakaru_model::finding::{Estimate, IntervalCaveat};
use hakaru_model::units::{Bytes, Nanos, Quantile};

/// A mean and its deviation as text, separate so that a column can align them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct MeanText {
    /// The mean.
    pub(crate) mean: String,
    /// The standard deviation; `None` with fewer than two runs.
    pub(crate) deviation: Option<String>,
    /// The 95% confidence interval of the mean, if known.
    pub(crate) ci95: Option<(String, String)>,
    /// Reasons why the interval may be too narrow: [`interval_caveats`].
    pub(crate) caveats: String,
}

/// Reasons why an interval may be too narrow: `few runs, skewed`; empty if there are none.
pub(crate) fn interval_caveats(caveats: &[IntervalCaveat]) -> String {
    let words: Vec<&str> = caveats
        .iter()
        .map(|caveat| text::interval_caveat(*caveat))
        .collect();
    text::enumerated(&words)
}

/// The reasons in parentheses for use after an interval: ` (few runs, skewed)`.
pub(crate) fn in_brackets(caveats: &[IntervalCaveat]) -> String {
    if caveats.is_empty() {
        String::new()
    } else {
        text::after_interval(&interval_caveats(caveats))
    }
}

impl std::fmt::Display for MeanText {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match &self.deviation {
            Some(deviation) => write!(f, "{} ± {deviation}", self.mean),
            None => f.write_str(&self.mean),
        }
    }
}

impl MeanText {
    /// Formats an estimate in units of `unit` (1e6 for MB/s from bytes per second).
    pub(crate) fn of(estimate: &Estimate, unit: f64) -> MeanText {
        MeanText::with_more_places(estimate, unit, 0)
    }

    /// Formats an estimate with this many more decimal places than usual, unless its source printed fewer.
    pub(crate) fn with_more_places(estimate: &Estimate, unit: f64, more: usize) -> MeanText {
        let mean = estimate.mean / unit;
        let printed = printed_places(estimate.rounding / unit);
        let Some(deviation) = estimate.deviation.map(|d| d / unit) else {
            return MeanText {
                mean: fixed(mean, printed.unwrap_or(decimals(mean) + more)),
                ..MeanText::default()
            };
        };
        let coarse = decimals(mean) + more;
        let vanishes = |places| fixed(deviation, places).parse() == Ok(0.0);
        // Uses one more digit if the deviation would otherwise be displayed as zero.
        let places = match printed {
            Some(printed) => printed,
            None => coarse + usize::from(vanishes(coarse)),
        };
        let ci95 = estimate
            .ci95
            .map(|(low, high)| (fixed(low / unit, places), fixed(high / unit, places)));
        let caveats = interval_caveats(&estimate.interval_caveats);
        MeanText {
            mean: fixed(mean, places),
            deviation: Some(match vanishes(places) {
                true => format!("<{}", least_shown(places, estimate.rounding / unit)),
                false => fixed(deviation, places),
            }),
            ci95,
            caveats,
        }
    }

    /// Formats a mean and a deviation without other statistics.
    pub(crate) fn of_parts(mean: f64, deviation: Option<f64>, unit: f64) -> MeanText {
        MeanText::of(
            &Estimate {
                mean,
                deviation,
                median: mean,
                min: mean,
                max: mean,
                ..Estimate::default()
            },
            unit,
        )
    }

    /// Formats bytes per second in MB/s.
    pub(crate) fn megabytes(estimate: &Estimate) -> MeanText {
        MeanText::of(estimate, 1e6)
    }
}

/// Number of decimal places of a figure that was rounded by at most this; `None` if it was not. More places than were
/// printed would claim a precision that nobody stated.
fn printed_places(rounding: f64) -> Option<usize> {
    let places = -(2.0 * rounding).log10();
    (rounding > 0.0 && places.is_finite()).then(|| places.round().clamp(0.0, 9.0) as usize)
}

/// Half of the last digit of a number with this number of decimal places: the largest deviation that it does not
/// show. A source that rounded more coarsely does not show more.
fn least_shown(places: usize, rounding: f64) -> String {
    let half = 0.5 / 10f64.powi(places as i32);
    if rounding > half * 1.001 {
        let step = 10f64.powi(places as i32 + 1);
        return format!("{:.*}", places + 1, (rounding * step).ceil() / step);
    }
    format!("{half:.*}", places + 1)
}

/// Number of decimal places that shows three significant digits.
fn decimals(value: f64) -> usize {
    let size = value.abs();
    if !size.is_finite() || size >= 100.0 || size == 0.0 {
        return 0;
    }
    (2 - size.log10().floor() as i32).clamp(0, 9) as usize
}

/// Numbers from here on are formatted with an exponent. No storage reaches them, but a published table may contain
/// them, and their digits would fill a page.
const BEYOND: f64 = 1e15;

fn fixed(value: f64, places: usize) -> String {
    match value.abs() {
        size if !size.is_finite() => "–".to_owned(),
        size if size >= BEYOND => format!("{value:.2e}"),
        _ => format!("{value:.places$}"),
    }
}

/// Formats a number with three significant digits, or with all digits before the decimal point if it has more.
pub(crate) fn significant(value: f64) -> String {
    fixed(value, decimals(value))
}

/// Formats a ratio with this number of significant digits: `5.9`, `23`.
pub(crate) fn significant_digits(value: f64, digits: i32) -> String {
    let size = value.abs();
    if !size.is_finite() || size == 0.0 {
        return fixed(value, 0);
    }
    let places = (digits - 1 - size.log10().floor() as i32).clamp(0, 9);
    in_groups(&fixed(value, places as usize))
}

/// Formats a number for machines: no exponent below [`BEYOND`], at most `places` decimal places.
pub(crate) fn exact(value: f64, places: usize) -> String {
    if !value.is_finite() {
        return String::new();
    }
    if value.abs() >= BEYOND {
        return format!("{value:e}");
    }
    let text = format!("{value:.places$}");
    let short = match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.'),
        false => &text,
    };
    // A negative value that rounds to 0 has no sign.
    match short {
        "-0" => "0".to_owned(),
        short => short.to_owned(),
    }
}

/// Formats a block size without needless digits: `4 KiB`, `1 MiB`, `1536 B`.
pub(crate) fn block_size(block: Bytes) -> String {
    let units = [(1u64 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")];
    let whole = |unit: u64| block.0 >= unit && block.0.is_multiple_of(unit);
    match units.into_iter().find(|(unit, _)| whole(*unit)) {
        Some((unit, name)) => format!("{} {name}", block.0 / unit),
        None => format!("{} B", block.0),
    }
}

/// Formats an amount of data in decimal units, as on the axes of charts and on the labels of cards: `6.01 GB`.
pub(crate) fn decimal_bytes(bytes: Bytes) -> String {
    match bytes.0 as f64 / 1e6 {
        megabytes if megabytes >= 999.5 => format!("{} GB", significant(megabytes / 1e3)),
        megabytes => format!("{} MB", significant(megabytes)),
    }
}

/// Formats a latency: `1.87 ms`.
pub(crate) fn nanos(ns: f64) -> String {
    // A cast saturates, so every value is in range; NaN would become 0 and is handled here.
    if ns.is_finite() {
        Nanos(ns.round() as u64).to_string()
    } else {
        "–".to_owned()
    }
}

/// Formats a latency without needless digits: `1 s`, `1.78 ms`.
pub(crate) fn short_latency(ns: f64) -> String {
    let units = [(1e9, "s"), (1e6, "ms"), (1e3, "µs")];
    let unit = units.into_iter().find(|(unit, _)| ns >= *unit);
    let (unit, name) = unit.unwrap_or((1.0, "ns"));
    format!("{} {name}", exact(ns / unit, 2))
}

/// Formats the typical length of intervals with one significant digit, because it is approximate: `500 ms`, `1 s`.
pub(crate) fn interval_length(interval: Nanos) -> String {
    short_latency(rounded(interval.0 as f64, 1))
}

/// Name of a percentile: `median`, `P99`, `P99.9`.
pub(crate) fn percentile(q: Quantile) -> String {
    if q == Quantile::MEDIAN {
        text::Head::MedianColumn.into()
    } else {
        format!("P{}", exact(q.percent(), 5))
    }
}

/// Formats a share as percent with two digits: `4.2`, `86`.
pub(crate) fn percent(share: f64) -> String {
    let value = share * 100.0;
    // What is left of 100% is worth a digit: 99.94% is not all, and 99.995% is more than 99.9%.
    if (99.5..100.0).contains(&value) {
        let places = (-(100.0 - value).log10()).ceil().clamp(1.0, 4.0) as i32;
        let places = if value < 99.95 { 1 } else { places };
        let steps = 10f64.powi(places);
        return exact((value * steps).floor() / steps, places as usize);
    }
    match value.abs() {
        // One digit after the point would nearly double 0.055%.
        0.001..0.95 => significant_digits(value, 2),
        size if size < 10.0 => exact(value, 1),
        _ => exact(value, 0),
    }
}

/// Formats a change as percent with its sign: `−72%`, `+3.4%`.
pub(crate) fn change(share: f64) -> String {
    let size = percent(share.abs());
    let sign = match () {
        () if size.parse() == Ok(0.0) => "±",
        () if share < 0.0 => "−",
        () => "+",
    };
    format!("{sign}{size}%")
}

/// Rounds a positive value to significant digits, for figures that are computed from noisy ones.
pub(crate) fn rounded(value: f64, digits: i32) -> f64 {
    if value <= 0.0 || !value.is_finite() {
        return value;
    }
    let unit = 10f64.powi(value.log10().floor() as i32 + 1 - digits);
    (value / unit).round() * unit
}

/// Formats the size of the change that a ratio stands for: `24%` for 0.758.
pub(crate) fn percent_of_change(ratio: f64) -> String {
    format!("{}%", percent((ratio - 1.0).abs()))
}

/// Formats a share as percent like [`percent`], rounded up, so that the share is at most what is printed.
pub(crate) fn percent_at_most(share: f64) -> String {
    let value = share * 100.0;
    let steps = if value.abs() < 10.0 { 10.0 } else { 1.0 };
    // What a computation adds to an exact step is no reason to print the next one.
    exact((value * steps - 1e-9).ceil() / steps, 1)
}

/// Formats a count with separators: `12,345,678`.
pub(crate) fn grouped(n: u64) -> String {
    in_groups(&n.to_string())
}

/// Formats a number with three significant digits, for sentences: `7.21`, `8,436`.
pub(crate) fn quantity(value: f64) -> String {
    in_groups(&significant(value))
}

/// Formats a limit exactly, for sentences: `0.5`, `1,500`.
pub(crate) fn limit(value: f64) -> String {
    in_groups(&exact(value, 3))
}

/// Adds separators to the digits before the decimal point: `1489` → `1,489`.
pub(crate) fn in_groups(number: &str) -> String {
    let whole = number
        .find(|c: char| !c.is_ascii_digit())
        .unwrap_or(number.len());
    let (digits, rest) = number.split_at(whole);
    let mut out = String::new();
    for (i, c) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            out.push(',');
        }
        out.push(c);
    }
    out + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    fn estimate(mean: f64, deviation: Option<f64>) -> Estimate {
        let values = vec![mean];
        Estimate {
            values,
            mean,
            deviation,
            median: mean,
            min: mean,
            max: mean,
            ..Estimate::default()
        }
    }

    #[test]
    fn means_and_spreads_share_their_digits() {
        let show = |mean, deviation| MeanText::of(&estimate(mean, deviation), 1.0).to_string();
        assert_eq!(show(22.412, Some(0.13)), "22.4 ± 0.1");
        assert_eq!(show(22.412, Some(0.013)), "22.41 ± 0.01");
        assert_eq!(show(1489.2, Some(65.4)), "1489 ± 65");
        assert_eq!(show(0.0312, Some(0.004)), "0.0312 ± 0.0040");
        assert_eq!(show(40.0, Some(0.0)), "40.00 ± <0.005");
        assert_eq!(show(7012.0, None), "7012");
        assert_eq!(show(f64::NAN, Some(f64::INFINITY)), "– ± –");
        assert_eq!(show(10.4211, Some(0.003)), "10.42 ± <0.005");
        assert_eq!(show(2.1151, Some(0.0002)), "2.115 ± <0.0005");
        assert_eq!(show(0.0, Some(0.0)), "0.0 ± <0.05");
        assert_eq!(show(1e300, Some(1e-300)), "1.00e300 ± <0.05");
    }

    #[test]
    fn one_more_place_is_not_more_than_the_source_printed() {
        let finer = |of: &Estimate| MeanText::with_more_places(of, 1.0, 1).to_string();
        assert_eq!(finer(&estimate(105.4, Some(0.9))), "105.4 ± 0.9");
        assert_eq!(finer(&estimate(22.412, None)), "22.41");
        let rounded = Estimate {
            rounding: 0.05,
            ..estimate(22.4, Some(0.1))
        };
        assert_eq!(finer(&rounded), "22.4 ± 0.1");
    }

    /// Regression: `3.7 ± 0` of a published table became `3.70 ± <0.005`.
    #[test]
    fn published_figures_keep_the_digits_that_were_printed() {
        let show = |mean, deviation, rounding| {
            let estimate = Estimate {
                rounding,
                ..estimate(mean, deviation)
            };
            MeanText::of(&estimate, 1e6).to_string()
        };
        assert_eq!(show(3.7e6, Some(0.0), 0.05e6), "3.7 ± <0.05");
        assert_eq!(show(39e6, Some(0.0), 0.5e6), "39 ± <0.5");
        assert_eq!(show(10e6, Some(4e6), 0.5e6), "10 ± 4");
        assert_eq!(show(1300.0, Some(0.0), 50.0), "0.0013 ± <0.00005");
        assert_eq!(show(5e6, None, 0.5e6), "5");
        assert_eq!(show(5e6, None, 0.0), "5.00");
        assert_eq!(show(1200e6, Some(3e6), 50e6), "1200 ± 3");
    }

    /// Regression: a published table may contain any number, and a deviation was printed with two hundred digits.
    #[test]
    fn huge_numbers_have_an_exponent() {
        let show = |mean, deviation| MeanText::of(&estimate(mean, deviation), 1.0).to_string();
        assert_eq!(show(22.4, Some(1e200)), "22.4 ± 1.00e200");
        assert_eq!(show(-4.2e15, None), "-4.20e15");
        assert_eq!(show(999_999_999_999_999.0, None), "999999999999999");
        assert_eq!([exact(1e200, 6), exact(-2.5e15, 0)], ["1e200", "-2.5e15"]);
    }

    #[test]
    fn numbers_for_machines_have_no_noise() {
        assert_eq!(exact(22_412_000.0 / 1e6, 6), "22.412");
        assert_eq!(exact(100.0, 6), "100");
        assert_eq!(exact(0.1 + 0.2, 6), "0.3");
        assert_eq!(exact(f64::NAN, 6), "");
    }

    #[test]
    fn a_bound_in_percent_is_never_below_the_share() {
        for (share, expected) in [
            (0.0, "0"),
            (0.0001, "0.1"),
            (0.041, "4.1"),
            (0.0413, "4.2"),
            (0.1, "10"),
            (0.101, "11"),
        ] {
            assert_eq!(percent_at_most(share), expected, "{share}");
        }
    }

    /// Regression: a loss of 99.94% was "100%".
    #[test]
    fn a_little_less_than_all_is_not_all() {
        let shares = [0.0005, 0.042, 0.86, 0.994, 0.9994, 0.99995, 1.0, 1.08];
        let shown = ["0.050", "4.2", "86", "99", "99.9", "99.995", "100", "108"];
        assert_eq!(shares.map(percent), shown);
    }

    #[test]
    fn percentiles_and_counts_read_well() {
        let p = |share| percentile(Quantile::new(share).unwrap());
        assert_eq!(
            [p(0.5), p(0.99), p(0.999), p(0.9999)],
            ["median", "P99", "P99.9", "P99.99"]
        );
        assert_eq!(grouped(1234), "1,234");
        assert_eq!(grouped(12_345_678), "12,345,678");
        assert_eq!(nanos(1_866_030.4), "1.87 ms");
        let short = [178.0, 1e3, 1.778e6, 1e9, 1e12].map(short_latency);
        assert_eq!(short, ["178 ns", "1 µs", "1.78 ms", "1 s", "1000 s"]);
    }
}
