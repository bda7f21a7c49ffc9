//! The picture of what lies where, with a limited number of ranges.

use crate::address_map::AddressMap;
use hakaru_model::io_path::{IoClass, LayoutRange};

/// Most ranges that are stored.
pub(crate) const MAX_RANGES: usize = 2000;

/// Parts of the extent of all ranges that are too small to be seen.
const RESOLUTION: u64 = 4096;

/// Joins ranges of one class with invisible gaps between them until there are at most [`MAX_RANGES`]. If ranges of
/// several classes alternate, neighbors become one range of the class with the most sectors.
pub(crate) fn reduced(map: &AddressMap) -> Vec<LayoutRange> {
    let mut ranges = joined(map.ranges(), 0);
    let end = ranges
        .last()
        .map_or(0, |it| it.sector.saturating_add(it.sectors));
    let mut gap = 1_u64;
    while ranges.len() > MAX_RANGES && gap <= end / RESOLUTION {
        ranges = joined(&ranges, gap);
        gap *= 2;
    }
    if ranges.len() <= MAX_RANGES {
        return ranges;
    }
    let neighbors = ranges.len().div_ceil(MAX_RANGES);
    let majority: Vec<_> = ranges.chunks(neighbors).filter_map(majority).collect();
    joined(&majority, 0)
}

fn majority(ranges: &[LayoutRange]) -> Option<LayoutRange> {
    let (first, last) = (ranges.first()?, ranges.last()?);
    let sectors_of = |class: IoClass| -> u64 {
        let of_class = ranges.iter().filter(|range| range.class == class);
        of_class.map(|range| range.sectors).sum()
    };
    let class = IoClass::ALL
        .into_iter()
        .max_by_key(|&class| sectors_of(class))?;
    Some(LayoutRange {
        sector: first.sector,
        sectors: last.sector.saturating_add(last.sectors) - first.sector,
        class,
    })
}

/// Joins neighbors of one class with at most `gap` sectors between them.
fn joined(ranges: &[LayoutRange], gap: u64) -> Vec<LayoutRange> {
    let mut joined: Vec<LayoutRange> = Vec::new();
    for range in ranges {
        match joined.last_mut() {
            Some(last)
                if last.class == range.class
                    && range.sector.saturating_sub(last.sector + last.sectors) <= gap =>
            {
                last.sectors = range.sector.saturating_add(range.sectors) - last.sector;
            }
            _ => joined.push(*range),
        }
    }
    joined
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fragmented(classes: &[IoClass], count: u64) -> AddressMap {
        AddressMap::from_ranges((0..count).map(|number| LayoutRange {
            sector: number * 16,
            sectors: 8 + number % 5,
            class: classes[number as usize % classes.len()],
        }))
    }

    #[test]
    fn limits_the_number_of_ranges() {
        let few = fragmented(&[IoClass::Data, IoClass::Journal], 100);
        assert_eq!(reduced(&few), few.ranges());
        let data = reduced(&fragmented(&[IoClass::Data], 100_000));
        assert_eq!(data.len(), 1);
        let alternating = reduced(&fragmented(&[IoClass::Data, IoClass::Journal], 100_000));
        assert!(!alternating.is_empty() && alternating.len() <= MAX_RANGES);
        let apart = |pair: &[LayoutRange]| pair[0].sector + pair[0].sectors <= pair[1].sector;
        assert!(alternating.windows(2).all(apart));
    }
}
