//! Counters of a disk at one moment.

use hakaru_engine::read_at_rest;
use hakaru_model::io_path::DiskTotals;
use hakaru_model::units::Bytes;
use std::path::PathBuf;

/// The file with the counters of a disk.
#[derive(Clone, Debug)]
pub(super) struct Counters {
    path: PathBuf,
}

/// Counters and the moment at which they had these values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Reading {
    /// Nanoseconds of `CLOCK_MONOTONIC_RAW`.
    pub(super) at: u64,
    /// `None` if they cannot be read.
    pub(super) totals: Option<DiskTotals>,
}

impl Counters {
    pub(super) fn new(path: PathBuf) -> Counters {
        Counters { path }
    }

    /// Reads the counters, and returns a moment at which they had these values.
    pub(super) fn reading(&self) -> Reading {
        let (at, totals) = read_at_rest(|| self.totals());
        Reading { at, totals }
    }

    fn totals(&self) -> Option<DiskTotals> {
        parse_totals(&std::fs::read_to_string(&self.path).ok()?)
    }
}

/// Parses the counters of a disk. Source: the kernel's `Documentation/block/stat.rst`.
fn parse_totals(text: &str) -> Option<DiskTotals> {
    let fields: Vec<u64> = text
        .split_whitespace()
        .map_while(|word| word.parse().ok())
        .collect();
    let sectors = |field: usize| fields.get(field).map(|count| Bytes(count * 512));
    Some(DiskTotals {
        read: sectors(2)?,
        written: sectors(6)?,
        discarded: sectors(13).unwrap_or_default(),
        flushes: fields.get(15).copied(),
    })
}

/// Returns what was moved between two readings; `None` if the disk was replaced in between.
pub(super) fn difference(before: DiskTotals, after: DiskTotals) -> Option<DiskTotals> {
    let bytes = |before: Bytes, after: Bytes| after.0.checked_sub(before.0).map(Bytes);
    Some(DiskTotals {
        read: bytes(before.read, after.read)?,
        written: bytes(before.written, after.written)?,
        discarded: bytes(before.discarded, after.discarded)?,
        flushes: before
            .flushes
            .zip(after.flushes)
            .and_then(|(before, after)| after.checked_sub(before)),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counters_of_old_kernels_have_no_flushes() {
        let old = parse_totals("1 2 3 4 5 6 7 8 9 10 11").unwrap();
        assert_eq!((old.read, old.written), (Bytes(1536), Bytes(3584)));
        assert_eq!((old.discarded, old.flushes), (Bytes(0), None));
        let new = parse_totals("1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17\n").unwrap();
        assert_eq!((new.discarded, new.flushes), (Bytes(14 * 512), Some(16)));
        assert_eq!(parse_totals("1 2"), None);
    }

    #[test]
    fn a_replaced_disk_has_no_difference() {
        let totals = |read| DiskTotals {
            read: Bytes(read),
            ..DiskTotals::default()
        };
        assert_eq!(difference(totals(5), totals(7)), Some(totals(2)));
        assert_eq!(difference(totals(5), totals(4)), None);
    }

    #[test]
    fn counters_of_a_removed_disk_are_unknown() {
        let nowhere = Counters::new("/nonexistent/stat".into());
        assert_eq!(nowhere.reading().totals, None);
    }
}
