//! Quantities with units, and the parser for sizes as typed by users.
//!
//! Counts and sizes are integers; rates are derived floats. The meaning of a suffix depends on the rules of the caller.

use serde::{Deserialize, Serialize};
use std::fmt;

/// Number of bytes.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct Bytes(pub u64);

/// Time span in nanoseconds, or a moment relative to a stated start.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct Nanos(pub u64);

/// Completed I/Os per second.
#[derive(Clone, Copy, Debug, Default, PartialEq, PartialOrd, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Iops(pub f64);

/// Bytes per second.
#[derive(Clone, Copy, Debug, Default, PartialEq, PartialOrd, Serialize, Deserialize)]
#[serde(transparent)]
pub struct BytesPerSec(pub f64);

/// Quantile as a fraction in `[0, 1]`; only output uses percentiles.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd, Serialize, Deserialize)]
#[serde(try_from = "f64", into = "f64")]
pub struct Quantile(f64);

/// Error for a fraction outside `[0, 1]`.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[error("quantile {0} is out of range: expected 0 to 1")]
pub struct NotAQuantile(pub f64);

impl Quantile {
    /// The median.
    pub const MEDIAN: Quantile = Quantile(0.5);
    /// The 95th percentile.
    pub const P95: Quantile = Quantile(0.95);
    /// The 99th percentile.
    pub const P99: Quantile = Quantile(0.99);
    /// The 99.9th percentile.
    pub const P999: Quantile = Quantile(0.999);

    /// Creates a quantile from a fraction, rounded to nine digits, so that 0.999 and 99.9 / 100 are equal.
    ///
    /// # Errors
    /// [`NotAQuantile`] outside `[0, 1]`, and for NaN.
    pub fn new(share: f64) -> Result<Quantile, NotAQuantile> {
        if (0.0..=1.0).contains(&share) {
            Ok(Quantile((share * 1e9).round() / 1e9))
        } else {
            Err(NotAQuantile(share))
        }
    }

    /// Whether a distribution-free 95% interval fits into so many samples, 368 for P99 (David and Nagaraja 2003, 7.1).
    pub fn has_enough(self, samples: u64) -> bool {
        let outer = self.0.max(1.0 - self.0);
        outer >= 1.0 || samples as f64 * outer.ln() <= 0.025_f64.ln()
    }

    /// Returns the fraction, in `[0, 1]`.
    pub fn share(self) -> f64 {
        self.0
    }

    /// Returns the percentile, in `[0, 100]`, for output.
    pub fn percent(self) -> f64 {
        self.0 * 100.0
    }
}

impl TryFrom<f64> for Quantile {
    type Error = NotAQuantile;
    fn try_from(share: f64) -> Result<Self, NotAQuantile> {
        Quantile::new(share)
    }
}

impl From<Quantile> for f64 {
    fn from(q: Quantile) -> f64 {
        q.0
    }
}

impl Nanos {
    /// One second.
    pub const SECOND: Nanos = Nanos(1_000_000_000);

    /// Converts from milliseconds, saturating at `u64::MAX` ns (584 years).
    pub const fn from_millis(ms: u64) -> Nanos {
        Nanos(ms.saturating_mul(1_000_000))
    }

    /// Converts from seconds, saturating at `u64::MAX` ns (584 years).
    pub const fn from_secs(s: u64) -> Nanos {
        Nanos(s.saturating_mul(1_000_000_000))
    }

    /// Returns the time in seconds.
    pub fn as_secs_f64(self) -> f64 {
        self.0 as f64 / 1e9
    }

    /// Returns the time in whole milliseconds, rounded down.
    pub const fn as_millis(self) -> u64 {
        self.0 / 1_000_000
    }
}

impl Bytes {
    /// Whether it is 0, which records omit.
    pub(crate) const fn is_zero(&self) -> bool {
        self.0 == 0
    }

    /// Returns the size rounded down to whole MiB; sizes below 1 MiB are unchanged.
    pub const fn whole_mib(self) -> Bytes {
        if self.0 < 1 << 20 {
            self
        } else {
            Bytes(self.0 >> 20 << 20)
        }
    }

    /// Formats a size to type: rounded down to whole MiB, in MiB and in bytes, such as `1535 MiB
    /// (1609564160 bytes)`.
    pub fn to_type_in(self) -> String {
        let whole = self.whole_mib();
        match whole.0 >> 20 {
            0 => format!("{} bytes", whole.0),
            mib => format!("{mib} MiB ({} bytes)", whole.0),
        }
    }

    /// Returns bytes per time; `None` if no time has passed.
    pub fn per(self, time: Nanos) -> Option<BytesPerSec> {
        (time.0 > 0).then(|| BytesPerSec(self.0 as f64 * 1e9 / time.0 as f64))
    }
}

const IEC: [&str; 7] = ["B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
const SI: [&str; 7] = ["B", "kB", "MB", "GB", "TB", "PB", "EB"];

/// Formats three significant digits; 0 and whole numbers below 1000 have no decimals. An exponent appears only beyond
/// the largest unit.
fn three_digits(value: f64) -> String {
    if value >= 1e15 {
        return format!("{value:.2e}");
    }
    if value == 0.0 || value == value.trunc() && (1.0..1e3).contains(&value) {
        return format!("{value:.0}");
    }
    // The length after rounding decides: 9.999 is 10.0, not 10.00.
    let fits = |text: &String| text.len() <= "9.99".len();
    [2, 1]
        .map(|digits| format!("{value:.digits$}"))
        .into_iter()
        .find(fits)
        .unwrap_or_else(|| format!("{value:.0}"))
}

fn scaled(value: f64, base: f64, names: &[&'static str]) -> String {
    let (figure, unit) = scaled_parts(value, base, names);
    format!("{figure} {unit}")
}

fn scaled_parts(value: f64, base: f64, names: &[&'static str]) -> (String, &'static str) {
    let mut value = value;
    let mut step = 0;
    while value >= base * 0.9995 && step + 1 < names.len() {
        value /= base;
        step += 1;
    }
    (three_digits(value), names[step])
}

impl Bytes {
    /// Formats the size with decimal units, as on the label of a card: `31.9 GB`.
    pub fn decimal(self) -> String {
        scaled(self.0 as f64, 1000.0, &SI)
    }

    /// Returns the number and the unit that [`Display`](fmt::Display) prints: `256` and `MiB`.
    pub fn figure_and_unit(self) -> (String, &'static str) {
        scaled_parts(self.0 as f64, 1024.0, &IEC)
    }
}

/// Formats with binary units, such as `256 MiB`, because typed sizes are usually powers of two.
impl fmt::Display for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&scaled(self.0 as f64, 1024.0, &IEC))
    }
}

/// Formats with decimal units, such as `22.4 MB/s`, as on the label of a card.
impl fmt::Display for BytesPerSec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&format!("{}/s", scaled(self.0, 1000.0, &SI)))
    }
}

impl fmt::Display for Iops {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = match self.0 {
            v if v >= 999_500.0 => format!("{} M", three_digits(v / 1e6)),
            v if v >= 9_999.5 => format!("{} k", three_digits(v / 1e3)),
            v if v >= 100.0 => format!("{v:.0}"),
            v => three_digits(v),
        };
        f.pad(&text)
    }
}

/// Formats with a suitable unit, such as `1.87 ms` or `410 ns`.
impl fmt::Display for Nanos {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ns = self.0 as f64;
        // As in `scaled_parts`, a number that would be rounded to 1000 has the next unit.
        let text = match self.0 {
            0..1_000 => format!("{} ns", self.0),
            1_000..999_500 => format!("{} µs", three_digits(ns / 1e3)),
            999_500..999_500_000 => format!("{} ms", three_digits(ns / 1e6)),
            _ => format!("{} s", three_digits(ns / 1e9)),
        };
        f.pad(&text)
    }
}

/// Meaning of size suffixes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SizeSuffixes {
    /// Our own files: `KiB` is 1024 and `kB` is 1000; a bare `k` is an ambiguity error.
    Iec,
    /// The fio dialect with `kb_base=1024`: `k`, `kB` and `ki` are 1024, and `KiB` is 1000.
    Fio1024,
    /// The fio dialect with `kb_base=1000`: `k`, `kB` and `ki` are 1000, and `KiB` is 1024.
    Fio1000,
}

/// Error of parsing a size.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SizeError {
    /// The text does not start with a number.
    #[error("`{0}` is not a size: expected a number with a unit, such as 64MiB")]
    NoNumber(String),
    /// Unknown unit.
    #[error("unknown unit `{unit}` in `{text}`: use B, KiB, MiB, GiB, TiB, kB, MB, GB or TB")]
    UnknownUnit {
        /// The whole text.
        text: String,
        /// The unknown unit.
        unit: String,
    },
    /// The unit is ambiguous: a power of two or a power of ten.
    #[error(
        "`{text}` is ambiguous ({si} or {iec} bytes): write `{number}{unit_si}` or \
        `{number}{unit_iec}`"
    )]
    Ambiguous {
        /// The whole text.
        text: String,
        /// Its number part.
        number: String,
        /// Bytes with the decimal meaning.
        si: u64,
        /// Bytes with the binary meaning.
        iec: u64,
        /// Unit for the decimal meaning.
        unit_si: &'static str,
        /// Unit for the binary meaning.
        unit_iec: &'static str,
    },
    /// The size exceeds a 64-bit number of bytes.
    #[error("`{0}` is more than 16 EiB")]
    TooLarge(String),
}

/// Parses a size such as `4k`, `1M`, `64KiB` or `0x1000` with the given rules.
///
/// Source of the fio rules: its manual, "Parameter types", and runs of fio 3.33.
/// A decimal point is accepted with all rules. fio ignores it and what follows, even the unit.
///
/// # Errors
/// A [`SizeError`] with the text and a suggestion.
pub fn parse_size(text: &str, rules: SizeSuffixes) -> Result<Bytes, SizeError> {
    let trimmed = text.trim();
    let no_number = || SizeError::NoNumber(text.to_owned());
    let (radix, body) = match trimmed
        .strip_prefix("0x")
        .or_else(|| trimmed.strip_prefix("0X"))
    {
        Some(hex) if rules != SizeSuffixes::Iec => (16, hex),
        _ => (10, trimmed),
    };
    let end = body
        .find(|c: char| !(c.is_digit(radix) || radix == 10 && c == '.'))
        .unwrap_or(body.len());
    let (number, unit) = (&body[..end], body[end..].trim());
    if number.is_empty() && rules == SizeSuffixes::Iec {
        return Err(no_number());
    }
    let factor = unit_factor(unit, rules, text, number)?;
    bytes_of(number, radix, factor, text).map(Bytes)
}

/// Returns a number of units in bytes, rounded down. The number consists of digits and, if the radix is 10, points.
fn bytes_of(number: &str, radix: u32, factor: u64, text: &str) -> Result<u64, SizeError> {
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    if whole.is_empty() && fraction.is_empty() || fraction.contains('.') {
        return Err(SizeError::NoNumber(text.to_owned()));
    }
    // Both parts consist of digits, so a number that does not parse is too large.
    let whole = match whole {
        "" => Some(0),
        digits => u64::from_str_radix(digits, radix).ok(),
    };
    whole
        .and_then(|whole| whole.checked_mul(factor))
        .and_then(|bytes| bytes.checked_add(fraction_bytes(fraction, factor)))
        .ok_or_else(|| SizeError::TooLarge(text.to_owned()))
}

/// Returns a fraction of a unit in bytes, rounded down, from its decimal places.
///
/// Exact for any number of places: rounding down at each place, from the last to the first, is the same as rounding
/// down once, because floor((n + x) / 10) = floor((n + floor(x)) / 10) for a whole number n.
fn fraction_bytes(places: &str, factor: u64) -> u64 {
    let digits = places.chars().filter_map(|place| place.to_digit(10));
    digits
        .rev()
        .fold(0, |rest, digit| (u64::from(digit) * factor + rest) / 10)
}

fn unit_factor(
    unit: &str,
    rules: SizeSuffixes,
    text: &str,
    number: &str,
) -> Result<u64, SizeError> {
    let unknown = || SizeError::UnknownUnit {
        text: text.to_owned(),
        unit: unit.to_owned(),
    };
    let lower = unit.to_ascii_lowercase();
    if lower.is_empty() || lower == "b" {
        return Ok(1);
    }
    let exponent = match lower.as_bytes()[0] {
        b'k' => 1,
        b'm' => 2,
        b'g' => 3,
        b't' => 4,
        b'p' => 5,
        _ => return Err(unknown()),
    };
    let (si, iec) = (1000u64.pow(exponent), 1024u64.pow(exponent));
    match (&lower[1..], rules) {
        ("ib", SizeSuffixes::Iec)
        | ("" | "b" | "i", SizeSuffixes::Fio1024)
        | ("ib", SizeSuffixes::Fio1000) => Ok(iec),
        ("b", SizeSuffixes::Iec)
        | ("ib", SizeSuffixes::Fio1024)
        | ("" | "b" | "i", SizeSuffixes::Fio1000) => Ok(si),
        ("" | "i", SizeSuffixes::Iec) => Err(ambiguous(number, exponent, text)),
        _ => Err(unknown()),
    }
}

/// Returns the error for a unit that may be a power of 1000 or of 1024, or the error of its number: malformed, or more
/// than 64 bits with either unit.
fn ambiguous(number: &str, exponent: u32, text: &str) -> SizeError {
    let bytes = |base: u64| bytes_of(number, 10, base.pow(exponent), text);
    match (bytes(1000), bytes(1024)) {
        (Ok(si), Ok(iec)) => SizeError::Ambiguous {
            text: text.to_owned(),
            number: number.to_owned(),
            si,
            iec,
            unit_si: SI[exponent as usize],
            unit_iec: IEC[exponent as usize],
        },
        (Err(error), _) | (_, Err(error)) => error,
    }
}

#[cfg(test)]
mod tests;
