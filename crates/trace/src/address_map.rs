//! What lies where on a disk.

use hakaru_model::io_path::{IoClass, LayoutRange};

/// Classes of sectors of a disk. Where ranges overlap, the one that was added first counts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AddressMap {
    /// Disjoint ranges in ascending order.
    ranges: Vec<LayoutRange>,
}

impl AddressMap {
    /// Creates a map from ranges in order of precedence: the first that contains a sector counts.
    pub fn from_ranges(ranges: impl IntoIterator<Item = LayoutRange>) -> AddressMap {
        let mut map = AddressMap::default();
        for range in ranges {
            map.add(range);
        }
        map
    }

    /// Adds the sectors of a range that have no class yet.
    pub fn add(&mut self, range: LayoutRange) {
        let end = range.sector.saturating_add(range.sectors);
        let mut at = range.sector;
        let first = self.first_behind(at);
        let mut gaps = Vec::new();
        for known in self.ranges[first..]
            .iter()
            .take_while(|known| known.sector < end)
        {
            if known.sector > at {
                gaps.push((at, known.sector));
            }
            at = at.max(known.sector + known.sectors);
        }
        if at < end {
            gaps.push((at, end));
        }
        for (start, end) in gaps {
            let place = self.ranges.partition_point(|known| known.sector < start);
            let new = LayoutRange {
                sector: start,
                sectors: end - start,
                class: range.class,
            };
            self.ranges.insert(place, new);
        }
    }

    /// Returns the ranges in ascending order.
    pub fn ranges(&self) -> &[LayoutRange] {
        &self.ranges
    }

    /// Returns the class of a sector.
    pub fn class_of(&self, sector: u64) -> Option<IoClass> {
        let range = self.ranges.get(self.first_behind(sector))?;
        (range.sector <= sector).then_some(range.class)
    }

    /// Returns the index of the first range that ends behind `sector`.
    fn first_behind(&self, sector: u64) -> usize {
        self.ranges
            .partition_point(|range| range.sector + range.sectors <= sector)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn range(sector: u64, sectors: u64, class: IoClass) -> LayoutRange {
        LayoutRange {
            sector,
            sectors,
            class,
        }
    }

    #[test]
    fn the_range_added_first_counts() {
        let map = AddressMap::from_ranges([
            range(10, 10, IoClass::Data),
            range(30, 5, IoClass::Journal),
            range(0, 100, IoClass::Metadata),
        ]);
        let starts: Vec<_> = map.ranges().iter().map(|r| (r.sector, r.sectors)).collect();
        assert_eq!(starts, [(0, 10), (10, 10), (20, 10), (30, 5), (35, 65)]);
        assert_eq!(map.class_of(19), Some(IoClass::Data));
        assert_eq!(map.class_of(20), Some(IoClass::Metadata));
        assert_eq!(map.class_of(100), None);
    }
}
