//! Number formatting of fio's text output: scaled to few digits, with as many decimals as fit.
//!
//! Rules based on the observed output of fio: `62.6k`, `1045MiB/s`, `9.77KiB`, `1532.3k`, and `1000kB` for 999500.

use crate::fio::JobExtras;

/// Unit of a scaled number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ScaledUnit {
    /// No unit.
    Count,
    /// Bytes: `KiB` or `kB`.
    Bytes,
    /// Bytes per second: `KiB/s` or `kB/s`.
    BytesPerSec,
    /// Input in bytes per second, shown in bits: `Kibit/s` or `kbit/s`.
    BitsPerSec,
}

/// Whether prefixes are powers of 1024 or of 1000.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Base {
    /// 1024: `Ki`, `Mi`, …
    Binary,
    /// 1000: `k`, `M`, …
    Decimal,
}

impl Base {
    fn number(self) -> u128 {
        match self {
            Base::Binary => 1024,
            Base::Decimal => 1000,
        }
    }

    fn prefixes(self) -> [&'static str; 6] {
        match self {
            Base::Binary => ["", "Ki", "Mi", "Gi", "Ti", "Pi"],
            Base::Decimal => ["", "k", "M", "G", "T", "P"],
        }
    }

    fn other(self) -> Base {
        match self {
            Base::Binary => Base::Decimal,
            Base::Decimal => Base::Binary,
        }
    }
}

fn digits(value: u128) -> usize {
    value.checked_ilog10().unwrap_or(0) as usize + 1
}

/// Formats a number with at most `room` digits before its prefix, and a decimal point if two of
/// them are free.
///
/// Each division drops the previous remainder, and only the last one is shown or rounded, as in
/// fio.
pub(super) fn scaled(value: u64, room: usize, base: Base, unit: ScaledUnit) -> String {
    let (mut whole, suffix) = match unit {
        ScaledUnit::Count => (u128::from(value), ""),
        ScaledUnit::Bytes => (u128::from(value), "B"),
        ScaledUnit::BytesPerSec => (u128::from(value), "B/s"),
        ScaledUnit::BitsPerSec => (u128::from(value) * 8, "bit/s"),
    };
    let prefixes = base.prefixes();
    let (mut rest, mut step) = (0, 0);
    while digits(whole) > room && step + 1 < prefixes.len() {
        (whole, rest) = (whole / base.number(), whole % base.number());
        step += 1;
    }
    let prefix = prefixes[step];
    let decimals = room.saturating_sub(digits(whole) + 1);
    if step == 0 || decimals == 0 {
        let rounded = whole + u128::from(rest * 2 >= base.number());
        return format!("{rounded}{prefix}{suffix}");
    }
    let value = whole as f64 + rest as f64 / base.number() as f64;
    format!("{value:.decimals$}{prefix}{suffix}")
}

/// Number format settings of one job.
#[derive(Clone, Copy, Debug)]
pub(super) struct Style {
    room: usize,
    base: Base,
    rate: ScaledUnit,
}

impl Style {
    pub(super) fn of(extras: &JobExtras) -> Style {
        Style {
            room: extras.significant_figures as usize,
            base: if extras.kb_base == 1000 {
                Base::Decimal
            } else {
                Base::Binary
            },
            rate: if extras.unit_base == 1 {
                ScaledUnit::BitsPerSec
            } else {
                ScaledUnit::BytesPerSec
            },
        }
    }

    /// Formats a count: `62.6k`.
    pub(super) fn count(self, value: u64) -> String {
        scaled(value, self.room, Base::Decimal, ScaledUnit::Count)
    }

    /// Formats a size with the job's prefixes: `19.5MiB`.
    pub(super) fn size(self, bytes: u64) -> String {
        scaled(bytes, self.room, self.base, ScaledUnit::Bytes)
    }

    /// Formats a size with the other prefixes: `20.4MB`.
    pub(super) fn other_size(self, bytes: u64) -> String {
        scaled(bytes, self.room, self.base.other(), ScaledUnit::Bytes)
    }

    /// Formats a rate with the job's prefixes: `664KiB/s`.
    pub(super) fn rate(self, bytes_per_s: u64) -> String {
        scaled(bytes_per_s, self.room, self.base, self.rate)
    }

    /// Formats a rate with the other prefixes: `680kB/s`.
    pub(super) fn other_rate(self, bytes_per_s: u64) -> String {
        scaled(bytes_per_s, self.room, self.base.other(), self.rate)
    }
}

/// Formats a latency in whole ns, µs or ms, with up to six digits: `22931`, `1532.3k`.
pub(super) fn latency(value: u64) -> String {
    scaled(value, 6, Base::Decimal, ScaledUnit::Count)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As printed by fio 3.33 in `io=… (…)` for these sizes.
    #[test]
    fn sizes_are_cut_and_rounded_as_fio_does() {
        let seen = [
            (1023, "1023B", "1023B"),
            (9999, "9999B", "9999B"),
            (10_000, "9.77KiB", "10.0kB"),
            (10_239, "10.00KiB", "10.2kB"),
            (10_240, "10.0KiB", "10.2kB"),
            (65_590, "64.1KiB", "65.6kB"),
            (99_999, "97.7KiB", "100.0kB"),
            (999_499, "976KiB", "999kB"),
            (999_500, "976KiB", "1000kB"),
            (1_048_575, "1024KiB", "1049kB"),
            (10_485_759, "10.00MiB", "10.5MB"),
            (10_239_999, "10000KiB", "10.2MB"),
            (104_857_599, "100.0MiB", "105MB"),
        ];
        for (bytes, binary, decimal) in seen {
            assert_eq!(scaled(bytes, 4, Base::Binary, ScaledUnit::Bytes), binary);
            assert_eq!(scaled(bytes, 4, Base::Decimal, ScaledUnit::Bytes), decimal);
        }
    }

    /// `--significant_figures=1..10` for 123456789 bytes.
    #[test]
    fn figures_decide_how_far_it_is_scaled() {
        let shown = [1, 3, 5, 7, 8, 9]
            .map(|room| scaled(123_456_789, room, Base::Binary, ScaledUnit::Bytes));
        assert_eq!(
            shown,
            [
                "0GiB",
                "118MiB",
                "117.7MiB",
                "120563KiB",
                "120563.3KiB",
                "123456789B"
            ]
        );
    }

    #[test]
    fn rates_and_latencies() {
        assert_eq!(
            scaled(85, 4, Base::Binary, ScaledUnit::BitsPerSec),
            "680bit/s"
        );
        assert_eq!(
            scaled(4_194_304_000, 4, Base::Binary, ScaledUnit::BitsPerSec),
            "31.2Gibit/s"
        );
        assert_eq!(latency(1_532_300), "1532.3k");
        assert_eq!(latency(422_480), "422480");
        assert_eq!(
            scaled(u64::MAX, 1, Base::Decimal, ScaledUnit::BitsPerSec),
            "147574Pbit/s"
        );
        assert_eq!(scaled(5, 0, Base::Decimal, ScaledUnit::Count), "0P");
    }
}
