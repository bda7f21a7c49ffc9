//! Parses numbers and units as programs print them.
//!
//! Does not handle names: each parser decides which figure is a bandwidth.

use hakaru_model::reported::{Decimal, ReportedFigure};

/// Meaning of a bare `K` before a `B`. Programs disagree.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Kilo {
    /// 1000, as in the SI standard.
    #[default]
    Si,
    /// 1024, as in fio before 2.18, iozone and hdparm.
    Binary,
}

/// Parses a number and its unit: `22.7MiB/s`, `[ 1045]`, `0.39%`, and with a decimal comma `22,7 MB/s`.
///
/// `None` for anything but a plain decimal number: NaN, infinity, a minus sign, more than 19 digits.
pub(super) fn number(text: &str) -> Option<(Decimal, &str)> {
    let text = text
        .trim_start()
        .trim_start_matches(['[', '('])
        .trim_start();
    let end = text
        .find(|c: char| !(c.is_ascii_digit() || c == '.' || c == ','))
        .unwrap_or(text.len());
    // A trailing comma or period belongs to the sentence, not to the number.
    let digits = text[..end].trim_end_matches([',', '.']);
    let unit = text[digits.len()..].trim_matches([' ', ']', ')', ',', '.', '[']);
    let decimal = match digits.matches(',').count() {
        0 => digits.parse().ok(),
        1 if !digits.contains('.') => digits.replace(',', ".").parse().ok(),
        // `1,073,741,824`, or with a decimal point after the groups.
        _ if groups_of_three(digits) => digits.replace(',', "").parse().ok(),
        _ => None,
    };
    Some((decimal?, unit))
}

/// Whether the commas of a number are thousands separators.
fn groups_of_three(digits: &str) -> bool {
    let whole = digits.split('.').next().unwrap_or_default();
    let mut groups = whole.split(',');
    groups
        .next()
        .is_some_and(|first| (1..=3).contains(&first.len()))
        && groups.all(|group| group.len() == 3)
}

/// Whether a text uses a decimal comma.
pub(super) fn has_decimal_comma(text: &str) -> bool {
    let bytes = text.as_bytes();
    let digit = |i: usize| bytes.get(i).is_some_and(u8::is_ascii_digit);
    bytes
        .iter()
        .enumerate()
        .any(|(i, &b)| b == b',' && i > 0 && digit(i - 1) && digit(i + 1))
}

/// The factor of a unit to bytes (per second), nanoseconds or plain counts. `None` for an unknown unit.
///
/// Percentages stay percent. A `b` is a bit only if the unit says so: `Mbit/s`.
pub(super) fn factor(unit: &str, kilo: Kilo) -> Option<f64> {
    let unit = unit.trim();
    let bare = unit
        .strip_suffix("/s")
        .or_else(|| unit.strip_suffix("/sec"))
        .unwrap_or(unit);
    let bare = bare.trim_end();
    match bare {
        "" | "%" => return Some(1.0),
        "nsec" | "ns" | "nanoseconds" => return Some(1.0),
        "usec" | "us" | "µs" | "μs" | "microseconds" => return Some(1e3),
        "msec" | "ms" | "milliseconds" => return Some(1e6),
        "sec" | "secs" | "s" | "second" | "seconds" => return Some(1e9),
        "B" | "bytes" | "byte" | "Bytes" => return Some(1.0),
        _ => {}
    }
    let bits = bare
        .strip_suffix("bit")
        .or_else(|| bare.strip_suffix("bits"));
    let bytes = ["Bytes", "bytes", "B"];
    let bytes = bytes.iter().find_map(|name| bare.strip_suffix(name));
    let (prefix, divisor) = match bits {
        Some(prefix) => (prefix, 8.0),
        None => (bytes.unwrap_or(bare), 1.0),
    };
    prefix_factor(prefix, prefix != bare && kilo == Kilo::Binary).map(|factor| factor / divisor)
}

/// The factor of a prefix such as `k`, `Mi` or none. A bare letter is a power of 1024 if `binary`.
fn prefix_factor(prefix: &str, binary: bool) -> Option<f64> {
    let mut letters = prefix.chars();
    let exponent = match letters.next() {
        None => 0,
        Some('k' | 'K') => 1,
        Some('m' | 'M') => 2,
        Some('g' | 'G') => 3,
        Some('t' | 'T') => 4,
        Some('p' | 'P') => 5,
        Some(_) => return None,
    };
    let base: f64 = match letters.as_str() {
        "i" => 1024.0,
        "" if binary => 1024.0,
        "" => 1000.0,
        _ => return None,
    };
    Some(base.powi(exponent))
}

/// A quantity with the range of exact values that its printed digits allow.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Ranged {
    pub(super) value: f64,
    /// Half width of the range.
    pub(super) slack: f64,
}

impl Ranged {
    /// The value of a figure. Programs truncate or round, so the last digit may be off by one in either direction.
    pub(super) fn of(figure: &ReportedFigure, kilo: Kilo) -> Option<Ranged> {
        let factor = factor(&figure.unit, kilo)?;
        Some(Ranged {
            value: figure.value.value() * factor,
            slack: figure.value.step() * factor,
        })
    }

    /// A count or another exact value, without slack.
    pub(super) fn exact(value: f64) -> Ranged {
        Ranged { value, slack: 0.0 }
    }

    pub(super) fn times(self, by: f64) -> Ranged {
        Ranged {
            value: self.value * by,
            slack: self.slack * by,
        }
    }

    /// The quotient; `None` if the divisor may be 0.
    pub(super) fn over(self, by: Ranged) -> Option<Ranged> {
        let least = by.value - by.slack;
        (least > 0.0).then(|| {
            let value = self.value / by.value;
            Ranged {
                value,
                slack: (self.value + self.slack) / least - value,
            }
        })
    }

    /// Whether the two may be the same value. Allows 1% for intermediate rounding in the program.
    pub(super) fn fits(self, other: Ranged) -> bool {
        let distance = (self.value - other.value).abs();
        distance <= self.slack + other.slack + 0.01 * self.value.abs().max(other.value.abs())
    }
}

/// The most likely cause of a contradiction by this ratio.
pub(super) fn slip(ratio: f64) -> Option<&'static str> {
    let near = |of: f64| (ratio / of - 1.0).abs() < 0.06 || (ratio * of - 1.0).abs() < 0.06;
    match ratio {
        _ if near(1e6) || near(1_048_576.0) => Some("the unit is wrong by a factor of a million"),
        _ if near(1e3) || near(1024.0) => {
            Some("the unit prefix is probably wrong, such as KB/s for MB/s")
        }
        _ if near(8.0) => Some("bits may have been taken for bytes"),
        r if [1.024, 1.048_576]
            .iter()
            .any(|of| (r * of - 1.0).abs() < 0.015) =>
        {
            Some("the unit is probably binary, such as MiB/s for MB/s")
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_come_with_their_units() {
        let read = |text| number(text).map(|(n, unit)| (n.to_string(), unit));
        let of = |n: &str, unit| Some((n.to_owned(), unit));
        assert_eq!(read("22.7MiB/s"), of("22.7", "MiB/s"));
        assert_eq!(read("[ 1045]"), of("1045", ""));
        assert_eq!(read(" 12345 , "), of("12345", ""));
        assert_eq!(read("0.39%"), of("0.39", "%"));
        assert_eq!(read("1,1 GB"), of("1.1", "GB"));
        assert_eq!(read("1,073,741,824 bytes"), of("1073741824", "bytes"));
        assert_eq!(read("84946msec)"), of("84946", "msec"));
        for text in [
            "nan",
            "-5",
            "inf",
            "",
            "99999999999999999999",
            "1,2,3",
            "..",
            "x",
        ] {
            assert_eq!(read(text), None, "{text}");
        }
    }

    #[test]
    fn units_are_what_their_letters_say() {
        let si = |unit| factor(unit, Kilo::Si);
        assert_eq!(si("KiB/s"), Some(1024.0));
        assert_eq!(si("kB/s"), Some(1000.0));
        assert_eq!(si("KB"), Some(1000.0));
        assert_eq!(factor("KB/s", Kilo::Binary), Some(1024.0));
        assert_eq!(factor("kBytes/sec", Kilo::Binary), Some(1024.0));
        assert_eq!(si("k"), Some(1000.0));
        assert_eq!(factor("k", Kilo::Binary), Some(1000.0));
        assert_eq!(si("Mbit/s"), Some(125_000.0));
        assert_eq!(si("msec"), Some(1e6));
        assert_eq!(si("bananas"), None);
        assert_eq!(si("Mx"), None);
    }

    #[test]
    fn rounded_figures_fit_what_they_may_be() {
        let figure = |text: &str, unit: &str| ReportedFigure {
            value: text.parse().unwrap(),
            unit: unit.into(),
            ..ReportedFigure::default()
        };
        let bandwidth = Ranged::of(&figure("664", "KiB/s"), Kilo::Si).unwrap();
        let iops = Ranged::of(&figure("166", ""), Kilo::Si).unwrap();
        assert!(bandwidth.fits(iops.times(4096.0)));
        // 7.7 KB/s for 1973 reads of 4 KiB.
        let wrong = Ranged::of(&figure("7.7", "KB/s"), Kilo::Si).unwrap();
        let follows = Ranged::exact(1973.0 * 4096.0);
        assert!(!wrong.fits(follows));
        assert!(
            slip(wrong.value / follows.value)
                .unwrap()
                .contains("prefix is probably wrong")
        );
        assert_eq!(slip(2.0), None);
    }
}
