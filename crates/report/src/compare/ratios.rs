//! Ratios and their intervals, with as many digits as the data has.

use crate::number;
use crate::text;
use hakaru_model::finding::Comparison;

/// Formats a ratio: `2.58× [2.51, 2.66] (few runs)`; `≈0.15×` of times that a source printed in whole units.
pub(crate) fn ratio(comparison: &Comparison) -> String {
    let caveats = number::in_brackets(&comparison.interval_caveats);
    if let Some(ends) = comparison.ratio_ci95 {
        return times_within(comparison.ratio, Some(ends)) + &caveats;
    }
    let sides = (comparison.a.mean, comparison.b.mean);
    let rounded = (&*comparison.unit == "ns").then(|| of_times(sides.0, sides.1));
    rounded
        .flatten()
        .unwrap_or_else(|| text::times_of(comparison.ratio))
}

/// Formats a ratio and its interval: `2.58× [2.51, 2.66]`.
pub(crate) fn times_within(ratio: f64, ends: Option<(f64, f64)>) -> String {
    let times = format!("{}×", inside(ratio, ends));
    match ends.filter(|(low, high)| low < high).map(ratio_ends) {
        Some((low, high)) => format!("{times} [{low}, {high}]"),
        None => times,
    }
}

/// Formats the ends of the interval of a ratio, with enough digits that rounding does not turn a value other than 1
/// into 1, nor a narrow interval into a single value.
pub(crate) fn ratio_ends((low, high): (f64, f64)) -> (String, String) {
    let end = |value: f64| {
        let short = number::significant(value);
        if value == 1.0 || short.parse() != Ok(1.0) {
            return short;
        }
        let places = (-(value - 1.0).abs().log10()).ceil().clamp(3.0, 9.0) as usize;
        format!("{value:.places$}")
    };
    let short = (end(low), end(high));
    if short.0 != short.1 || low == high {
        return short;
    }
    // The width of the interval has one digit at least.
    let places = (-((high - low) / 2.0).log10()).ceil();
    match places <= MOST_PLACES {
        true => {
            let places = places.max(1.0) as usize;
            (format!("{low:.places$}"), format!("{high:.places$}"))
        }
        false => short,
    }
}

/// Most decimal places of the end of an interval; what differs less is the same.
const MOST_PLACES: f64 = 6.0;

/// Formats the ratio of a comparison with as many digits as it takes to lie inside of its interval.
pub(crate) fn ratio_inside(comparison: &Comparison) -> String {
    inside(comparison.ratio, comparison.ratio_ci95)
}

fn inside(ratio: f64, ends: Option<(f64, f64)>) -> String {
    let short = number::quantity(ratio);
    let Some((low, high)) = ends else {
        return short;
    };
    let (low_end, high_end) = ratio_ends((low, high));
    let ends = (low_end.parse::<f64>(), high_end.parse::<f64>());
    let (Ok(low_end), Ok(high_end)) = ends else {
        return short;
    };
    let inside = |text: &String| {
        let shown = text.parse::<f64>();
        shown.is_ok_and(|shown| low_end <= shown && shown <= high_end)
    };
    if !(low <= ratio && ratio <= high) || inside(&short.replace(',', "")) {
        return short;
    }
    let more = (3..=9).map(|places| format!("{ratio:.places$}"));
    more.into_iter().find(inside).unwrap_or(short)
}

/// Formats the ratio of two times in nanoseconds of which one was printed as a whole number of milli- or microseconds,
/// so that the ratio has fewer digits: `≈0.15×` for 7 to 48 ms. `None` if rounding changes it by at most 1%.
pub(crate) fn of_times(a: f64, b: f64) -> Option<String> {
    let digits = match rounding(a) + rounding(b) {
        // A digit fewer would be wrong by more than the rounding: 4 to 31 ms is between 0.11 and 0.15.
        error if error > 0.5 => 1,
        error if error > 0.01 => 2,
        _ => return None,
    };
    let ratio = b / a;
    let is_known = ratio.is_finite() && ratio > 0.0;
    is_known.then(|| format!("≈{}×", number::significant_digits(ratio, digits)))
}

/// Largest relative error of a time in nanoseconds that looks rounded to a whole number of milli- or microseconds.
fn rounding(ns: f64) -> f64 {
    let is_whole = |unit: &f64| ns > 0.0 && ns % unit == 0.0 && ns / unit < 1000.0;
    let unit = [1e6, 1e3].into_iter().find(is_whole);
    unit.map_or(0.0, |unit| unit / 2.0 / ns)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn narrow_intervals_have_ends_that_differ() {
        let shown = |ratio, low, high| times_within(ratio, Some((low, high)));
        assert_eq!(shown(1.0089, 1.0085, 1.0093), "1.009× [1.0085, 1.0093]");
        assert_eq!(
            shown(0.97901, 0.97896, 0.97906),
            "0.979× [0.97896, 0.97906]"
        );
        assert_eq!(shown(2.58, 2.51, 2.66), "2.58× [2.51, 2.66]");
        assert_eq!(shown(1.0, 1.0, 1.0), "1.00×");
    }

    #[test]
    fn times_in_whole_milliseconds_have_an_approximate_ratio() {
        assert_eq!(of_times(48e6, 7e6).as_deref(), Some("≈0.15×"));
        // Regression: 31.1 ms to 4 ms was ≈0.1×, which no rounding of 4 ms gives.
        assert_eq!(of_times(31.1e6, 4e6).as_deref(), Some("≈0.13×"));
        assert_eq!(of_times(1e6, 5e6).as_deref(), Some("≈5×"));
        assert_eq!(of_times(379e3, 196e3), None);
        assert_eq!(of_times(4_293_001.0, 445_000.0), None);
    }
}
