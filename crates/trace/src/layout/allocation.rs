//! Space in use, as far as a bitmap says.

use super::{DiskArea, push_joined};
use hakaru_model::io_path::{IoClass, LayoutRange};

/// Units that a file system has in use.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Allocation {
    area: DiskArea,
    /// First byte of the first unit in the file system.
    start: u64,
    /// Bytes of a unit.
    unit: u64,
    /// One bit each, the lowest first.
    bits: Vec<u8>,
}

impl Allocation {
    /// Bytes of bitmaps, at most.
    pub(super) const LIMIT: u64 = 16 << 20;

    pub(super) fn new(area: DiskArea, start: u64, unit: u64) -> Allocation {
        Allocation {
            area,
            start,
            unit,
            bits: Vec::new(),
        }
    }

    /// Appends bits of a bitmap.
    pub(super) fn append(&mut self, bits: &[u8]) {
        self.bits.extend_from_slice(bits);
    }

    /// Marks a unit as used.
    pub(super) fn set(&mut self, unit: usize) {
        if self.bits.len() <= unit / 8 {
            self.bits.resize(unit / 8 + 1, 0);
        }
        self.bits[unit / 8] |= 1 << (unit % 8);
    }

    /// Returns the same units with nothing in use.
    pub fn emptied(&self) -> Allocation {
        Allocation::new(self.area, self.start, self.unit)
    }

    /// Returns what is in use here, but was not in use before.
    pub fn since(&self, before: &Allocation) -> Vec<LayoutRange> {
        let mut ranges = Vec::new();
        if (self.area, self.start, self.unit) != (before.area, before.start, before.unit) {
            return ranges;
        }
        for (at, &now) in self.bits.iter().enumerate() {
            let new = now & !before.bits.get(at).copied().unwrap_or(0);
            if new == 0 {
                continue;
            }
            for bit in (0..8).filter(|bit| new & (1 << bit) != 0) {
                let unit = at as u64 * 8 + bit;
                let offset = self.start.saturating_add(unit.saturating_mul(self.unit));
                let range = self.area.range(offset, self.unit, IoClass::AllocatedSince);
                if let Some(range) = range {
                    push_joined(&mut ranges, range);
                }
            }
            if ranges.len() > super::MAX_RANGES {
                break;
            }
        }
        ranges
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn new_units_are_found() {
        let area = DiskArea {
            start: 2048,
            sectors: 1000,
        };
        let mut before = Allocation::new(area, 1024, 4096);
        before.append(&[0b0000_0001]);
        let mut after = before.clone();
        [1, 2, 9].iter().for_each(|&unit| after.set(unit));
        let ranges: Vec<_> = after
            .since(&before)
            .iter()
            .map(|range| (range.sector, range.sectors))
            .collect();
        assert_eq!(ranges, [(2058, 16), (2048 + 2 + 72, 8)]);
        assert!(before.since(&after).is_empty());
        assert!(after.since(&Allocation::new(area, 0, 4096)).is_empty());
    }
}
