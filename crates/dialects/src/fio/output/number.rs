//! Numbers as fio's text shows them: scaled until few digits are left, with as many decimals as there is room for.
//!
//! Rules found by observation: `62.6k`, `1045MiB/s`, `9.77MiB`, `1532.3k`.

/// The unit behind a scaled number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unit {
    /// None: a count, scaled by 1000.
    Count,
    /// Bytes: `KiB` or `kB`.
    Bytes,
    /// Bytes per second: `KiB/s` or `kB/s`.
    BytesPerSec,
    /// Bits per second: `Kibit/s` or `kbit/s`.
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
