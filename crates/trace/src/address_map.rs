//! What lies where on a disk.

use hakaru_model::io_path::{IoClass, LayoutRange};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Classes of sectors of a disk. Where ranges overlap, the one that was added first counts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AddressMap {
    /// Disjoint ranges in ascending order.
    ranges: Vec<LayoutRange>,
}

impl AddressMap {
    /// Creates a map from ranges in order of precedence: the first that contains a sector counts. Adjacent ranges of
    /// one class are joined. Cost: n log n.
    pub fn from_ranges(ranges: impl IntoIterator<Item = LayoutRange>) -> AddressMap {
        let mut starts: Vec<(usize, LayoutRange)> = ranges.into_iter().enumerate().collect();
        starts.retain(|(_, range)| range.sectors > 0);
        starts.sort_by_key(|(_, range)| range.sector);
        let mut starts = starts.into_iter().peekable();
        // Ranges that began at or before `at`, the one with the highest precedence on top.
        let mut open = BinaryHeap::new();
        let (mut map, mut at) = (AddressMap::default(), 0);
        loop {
            while let Some((order, range)) = starts.next_if(|(_, range)| range.sector <= at) {
                let end = range.sector.saturating_add(range.sectors);
                open.push((Reverse(order), end, range.class));
            }
            while open.peek().is_some_and(|&(_, end, _)| end <= at) {
                open.pop();
            }
            let next = starts.peek().map(|(_, range)| range.sector);
            let Some(&(_, end, class)) = open.peek() else {
                match next {
                    Some(next) => at = next,
                    None => return map,
                }
                continue;
            };
            let until = next.map_or(end, |next| end.min(next));
            map.append(at, until, class);
            at = until;
        }
    }

    /// Appends a range behind all others.
    fn append(&mut self, start: u64, end: u64, class: IoClass) {
        if let Some(last) = self.ranges.last_mut()
            && last.sector + last.sectors == start
            && last.class == class
        {
            last.sectors += end - start;
            return;
        }
        self.ranges.push(LayoutRange {
            sector: start,
            sectors: end - start,
            class,
        });
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

/// Where consecutive bytes of a file under test are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FileRange {
    /// Index of the file in the list of files under test.
    pub file: u32,
    /// First byte in the file.
    pub offset: u64,
    /// First sector on the whole disk.
    pub sector: u64,
    /// Sectors.
    pub sectors: u64,
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

    #[test]
    fn adjacent_ranges_of_a_class_are_joined() {
        let map = AddressMap::from_ranges([
            range(20, 10, IoClass::Data),
            range(10, 12, IoClass::Data),
            range(u64::MAX - 1, 5, IoClass::Journal),
            range(3, 0, IoClass::Journal),
        ]);
        let last = range(u64::MAX - 1, 1, IoClass::Journal);
        assert_eq!(map.ranges(), [range(10, 20, IoClass::Data), last]);
    }

    proptest::proptest! {
        #[test]
        fn agrees_with_adding_ranges_one_by_one(
            ranges in proptest::collection::vec((0u64..60, 0u64..20, 0usize..3), 0..20)
        ) {
            let ranges = ranges.into_iter().map(|(at, n, class)| range(at, n, IoClass::ALL[class]));
            let mut one_by_one = AddressMap::default();
            ranges.clone().for_each(|range| one_by_one.add(range));
            let map = AddressMap::from_ranges(ranges);
            for sector in 0..90 {
                proptest::prop_assert_eq!(map.class_of(sector), one_by_one.class_of(sector));
            }
        }
    }
}
