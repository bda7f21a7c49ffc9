//! The transfer over a bus in the times of I/Os.

use crate::number;
use hakaru_model::units::{Bytes, BytesPerSec};

/// The transfer over a bus, from the mean time of an I/O with two widths of it.
pub(crate) struct BusTransfer {
    /// Data lines of the narrow and of the wide bus.
    pub(crate) lines: (u32, u32),
    pub(crate) block: Bytes,
    /// Mean time of an I/O over the narrow and over the wide bus, in nanoseconds: in the device, or all of it.
    pub(crate) times: (f64, f64),
    /// The side that wrote a new file, if only one did.
    pub(crate) new_file: Option<String>,
    /// What the host adds to these times; `None` if they contain it.
    pub(crate) host: Option<(f64, f64)>,
    /// Transfer time over the narrow bus, in nanoseconds.
    pub(crate) transfer: f64,
    /// Whether the widths are from the names of the results.
    pub(crate) by_name: bool,
}

impl BusTransfer {
    /// The clock in MHz that the transfer over the narrow bus implies, one bit a line and cycle.
    pub(crate) fn clock(&self) -> String {
        let cycles = self.block.0 as f64 * 8.0 / f64::from(self.lines.0);
        number::significant_digits(cycles / self.transfer * 1e3, 2)
    }

    /// The times of an I/O over both buses, the transfer in each, and the rest, which both have in common.
    pub(crate) fn parts(&self) -> [String; 5] {
        let (long, short) = self.times;
        let over_wide = self.transfer * f64::from(self.lines.0) / f64::from(self.lines.1);
        let rounded = |ns: f64| number::rounded(ns, 2);
        // The printed parts add up to the printed time.
        let rest = long - rounded(self.transfer);
        let [long, short, rest] = [long, short, rest].map(number::nanos);
        let [transfer, over_wide] = [self.transfer, over_wide].map(|ns| number::nanos(rounded(ns)));
        [long, short, transfer, over_wide, rest]
    }

    /// The bandwidth that the wide bus carries at that clock, and the measured one.
    pub(crate) fn carried(&self) -> [String; 2] {
        let over_wide = self.transfer * f64::from(self.lines.0) / f64::from(self.lines.1);
        let all = self.times.1 + self.host.map_or(0.0, |(_, wide)| wide);
        [over_wide, all].map(|ns| BytesPerSec(self.block.0 as f64 * 1e9 / ns).to_string())
    }
}
