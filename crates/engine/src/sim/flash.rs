//! Costs of the flash behind the controller: pages, allocation units, collection, and the mapping cache.

use super::card::time_for;
use hakaru_model::device_model::{Flash, MappingCache};
use std::collections::VecDeque;

/// State of the flash of one card.
#[derive(Clone, Debug, Default)]
pub(super) struct FlashState {
    /// Units open for writing, the one written last at the end.
    open: VecDeque<OpenUnit>,
    /// Entries of the mapping cache, the one used last at the end.
    mapped: VecDeque<u64>,
    /// Bytes read since the last read that did not continue the one before.
    stream: u64,
    /// Bytes that collections copied.
    copied: u64,
    /// Whether requests that continue the last one are parts of the same command.
    joins_requests: bool,
}

/// A unit that is open for writing.
#[derive(Clone, Copy, Debug)]
struct OpenUnit {
    number: u64,
    /// Offset on the card at which the next write in order begins.
    next: u64,
    /// Bytes written since it was opened.
    written: u64,
    /// Whether it was written out of order.
    random: bool,
}

impl FlashState {
    /// Creates the state of a card whose host side splits commands into requests without a limit between them.
    pub(super) fn joining_requests() -> FlashState {
        FlashState {
            joins_requests: true,
            ..FlashState::default()
        }
    }

    /// Returns the time in ns that a read takes beyond its overhead and its transfer, at a rate in bytes per second.
    pub(super) fn read(
        &mut self,
        flash: &Flash,
        rate: u64,
        (offset, len): (u64, u64),
        continues: bool,
    ) -> u64 {
        if !continues {
            self.stream = 0;
        }
        let mut cost = if continues { 0 } else { flash.sense.0 };
        // A boundary at the start counts only if data before it was read, too.
        for boundary in boundaries(flash.page.0, offset, len, continues) {
            let overlapped = time_for(self.stream + (boundary - offset), rate);
            let extra = flash.sense.0.saturating_sub(overlapped);
            if extra == 0 {
                break;
            }
            cost += extra;
        }
        cost +=
            flash.unit_crossing.0 * boundaries(flash.unit.0, offset, len, continues).count() as u64;
        if let Some(mapping) = &flash.mapping {
            let chunks = offset / mapping.chunk.0..=(offset + len.max(1) - 1) / mapping.chunk.0;
            let loads = chunks.filter(|chunk| self.load(mapping, *chunk)).count();
            cost += mapping.load.0 * loads as u64;
        }
        self.stream += len;
        cost
    }

    /// Returns whether an entry of the mapping cache had to be loaded.
    fn load(&mut self, mapping: &MappingCache, chunk: u64) -> bool {
        let found = self.mapped.iter().position(|&mapped| mapped == chunk);
        if let Some(at) = found {
            self.mapped.remove(at);
        } else if self.mapped.len() >= mapping.slots as usize {
            self.mapped.pop_front();
        }
        self.mapped.push_back(chunk);
        found.is_none()
    }

    /// Returns the number of bytes that a write programs: whole pages, unless the card gathers consecutive writes.
    pub(super) fn programmed(
        &self,
        flash: &Flash,
        (offset, len): (u64, u64),
        continues: bool,
    ) -> u64 {
        let page = flash.page.0;
        let before = offset % page;
        if flash.gathers_writes {
            return len + if continues { 0 } else { before };
        }
        let whole = (before + len).next_multiple_of(page);
        let begun = continues && self.joins_requests && before > 0;
        whole - if begun { page } else { 0 }
    }

    /// Returns the time in ns that opening and collecting units takes for a write.
    pub(super) fn write(&mut self, flash: &Flash, offset: u64, len: u64) -> u64 {
        let end = offset + len;
        let (mut at, mut cost) = (offset, 0);
        while at < end {
            let number = at / flash.unit.0;
            let until = (number + 1).saturating_mul(flash.unit.0).min(end);
            if number >= u64::from(flash.fat_units) {
                cost += self.write_unit(flash, number, at, until - at);
            }
            at = until;
        }
        cost
    }

    fn write_unit(&mut self, flash: &Flash, number: u64, offset: u64, len: u64) -> u64 {
        let mut cost = 0;
        let found = self.open.iter().position(|unit| unit.number == number);
        let mut unit = match found.and_then(|at| self.open.remove(at)) {
            Some(unit) => unit,
            None => {
                if self.open.len() >= flash.open_units as usize
                    && let Some(oldest) = self.open.pop_front()
                {
                    cost += self.collect(flash, &oldest);
                }
                cost += flash.open.0;
                OpenUnit::new(number, offset)
            }
        };
        if offset != unit.next {
            if !unit.random && flash.random_units == 0 {
                cost += self.collect(flash, &unit) + flash.open.0;
                unit = OpenUnit::new(number, offset);
            } else {
                cost += self.write_out_of_order(flash, &mut unit);
            }
        }
        unit.next = offset + len;
        unit.written += len;
        // A full unit closes by itself. One that was written out of order may have been written twice in places.
        if unit.random || unit.written < flash.unit.0 {
            self.open.push_back(unit);
        }
        cost
    }

    /// Copies what of a unit was not written, and returns the time in ns.
    fn collect(&mut self, flash: &Flash, unit: &OpenUnit) -> u64 {
        let rest = flash.unit.0.saturating_sub(unit.written);
        self.copied += rest;
        time_for(rest, flash.collection_rate)
    }

    /// Returns the bytes that all collections copied.
    pub(super) fn copied(&self) -> u64 {
        self.copied
    }

    /// Makes a unit one of those that can be written out of order, which may close another.
    fn write_out_of_order(&mut self, flash: &Flash, unit: &mut OpenUnit) -> u64 {
        let mut cost = flash.random_write.0;
        if !unit.random {
            let random = self.open.iter().filter(|other| other.random).count();
            if random >= flash.random_units as usize
                && let Some(at) = self.open.iter().position(|other| other.random)
                && let Some(oldest) = self.open.remove(at)
            {
                cost += self.collect(flash, &oldest);
            }
            unit.random = true;
        }
        cost
    }

    /// Closes the units that a discard covers, if the card does so, and returns its cost in ns.
    pub(super) fn discard(&mut self, flash: &Flash, offset: u64, len: u64) -> u64 {
        if flash.discard_frees {
            let end = offset.saturating_add(len);
            self.open.retain(|unit| {
                let first = unit.number * flash.unit.0;
                first < offset || end < first + flash.unit.0
            });
        }
        flash.discard.0
    }
}

impl OpenUnit {
    fn new(number: u64, offset: u64) -> OpenUnit {
        OpenUnit {
            number,
            next: offset,
            written: 0,
            random: false,
        }
    }
}

/// Returns the multiples of `size` within a request; one at its start only if `at_start`.
fn boundaries(size: u64, offset: u64, len: u64, at_start: bool) -> impl Iterator<Item = u64> {
    let first = offset.next_multiple_of(size);
    let first = if first == offset && !at_start {
        first + size
    } else {
        first
    };
    std::iter::successors(Some(first), move |at| at.checked_add(size))
        .take_while(move |&at| at < offset + len)
}

#[cfg(test)]
mod tests {
    use super::*;
    use hakaru_model::units::{Bytes, Nanos};

    const KIB: u64 = 1 << 10;
    const MIB: u64 = 1 << 20;
    /// Read rate: 16 KiB take 163,840 ns.
    const RATE: u64 = 100_000_000;

    fn flash() -> Flash {
        Flash {
            page: Bytes(16 * KIB),
            sense: Nanos(50_000),
            gathers_writes: false,
            unit: Bytes(4 * MIB),
            open: Nanos(700),
            unit_crossing: Nanos(30),
            open_units: 3,
            random_units: 2,
            random_write: Nanos(11),
            collection_rate: 1_000_000_000,
            fat_units: 1,
            mapping: None,
            discard: Nanos(5),
            discard_frees: true,
        }
    }

    #[test]
    fn a_read_across_a_page_senses_another_page() {
        let (flash, mut state) = (flash(), FlashState::default());
        let mut read = |offset, len, continues| state.read(&flash, RATE, (offset, len), continues);
        assert_eq!(read(64 * KIB, 512, false), 50_000);
        assert_eq!(read(64 * KIB + 512, 512, true), 0);
        // 512 bytes before the boundary take 5,120 ns, during which the next page is sensed.
        assert_eq!(read(64 * KIB - 512, 1024, false), 50_000 + 44_880);
        assert_eq!(read(4 * MIB - 512, 1024, false), 50_000 + 44_880 + 30);
        assert_eq!(
            read(32 * KIB, 512 * KIB, false),
            50_000,
            "pages are sensed ahead"
        );
    }

    #[test]
    fn the_mapping_cache_replaces_the_entry_used_the_longest_time_ago() {
        let mapping = MappingCache {
            chunk: Bytes(MIB),
            slots: 3,
            load: Nanos(100_000),
        };
        let flash = Flash {
            sense: Nanos(0),
            mapping: Some(mapping),
            ..flash()
        };
        let cycle = |places: u64| {
            let mut state = FlashState::default();
            let mut read = |place| state.read(&flash, RATE, (place * 16 * MIB, 512), false);
            (0..2 * places)
                .map(|n| read(n % places))
                .skip(places as usize)
                .sum::<u64>()
        };
        assert_eq!((cycle(3), cycle(4)), (0, 400_000));
    }

    #[test]
    fn one_open_unit_too_many_is_collected() {
        let (flash, mut state) = (flash(), FlashState::default());
        let mut write = |unit: u64, block: u64| {
            state.write(&flash, (unit * 4 * MIB) + block * 64 * KIB, 64 * KIB)
        };
        let costs: Vec<u64> = (0..3)
            .flat_map(|block| [5, 9, 7].map(|unit| (unit, block)))
            .map(|(u, b)| write(u, b))
            .collect();
        assert_eq!(costs, [700, 700, 700, 0, 0, 0, 0, 0, 0]);
        let rest = time_for(4 * MIB - 3 * 64 * KIB, 1_000_000_000);
        assert_eq!(write(11, 0), 700 + rest);
        assert_eq!(write(0, 7), 0, "the units of the FAT are always open");
        assert_eq!(write(9, 3), 0, "the oldest was closed, and this is not it");
        assert_eq!(write(5, 3), 700 + rest, "unit 7 is the oldest now");
    }

    #[test]
    fn a_full_unit_closes_without_cost() {
        let (flash, mut state) = (flash(), FlashState::default());
        let costs: Vec<u64> = (1..9)
            .map(|unit| state.write(&flash, unit * 4 * MIB, 4 * MIB))
            .collect();
        assert_eq!(costs, [700; 8]);
        assert_eq!(state.write(&flash, 4 * MIB, 12 * MIB), 3 * 700);
    }

    #[test]
    fn only_some_units_can_be_written_out_of_order() {
        let (flash, mut state) = (flash(), FlashState::default());
        let mut write = |unit: u64, block: u64| {
            state.write(&flash, unit * 4 * MIB + block * 64 * KIB, 64 * KIB)
        };
        for unit in [1, 2, 3] {
            write(unit, 0);
        }
        assert_eq!([write(1, 2), write(2, 2), write(2, 9)], [11; 3]);
        let rest = time_for(4 * MIB - 2 * 64 * KIB, 1_000_000_000);
        assert_eq!(write(3, 2), 11 + rest, "unit 1 is collected");
        assert_eq!(
            write(1, 0),
            700,
            "and has to be opened again, in the place that became free"
        );
        let linear = Flash {
            random_units: 0,
            ..flash.clone()
        };
        let mut state = FlashState::default();
        state.write(&linear, 4 * MIB, 64 * KIB);
        let skipped = state.write(&linear, 5 * MIB, 64 * KIB);
        assert_eq!(skipped, time_for(4 * MIB - 64 * KIB, 1_000_000_000) + 700);
    }

    #[test]
    fn a_discarded_unit_needs_no_collection() {
        let costs = |frees: bool| {
            let flash = Flash {
                discard_frees: frees,
                ..flash()
            };
            let mut state = FlashState::default();
            for unit in 1..4 {
                state.write(&flash, unit * 4 * MIB, 64 * KIB);
            }
            let discard = state.discard(&flash, 4 * MIB, 4 * MIB);
            (discard, state.write(&flash, 40 * MIB, 64 * KIB))
        };
        let rest = time_for(4 * MIB - 64 * KIB, 1_000_000_000);
        assert_eq!((costs(true), costs(false)), ((5, 700), (5, 700 + rest)));
    }

    #[test]
    fn a_write_below_a_page_programs_a_page() {
        let (plain, state) = (flash(), FlashState::default());
        let gathers = Flash {
            gathers_writes: true,
            ..flash()
        };
        let bytes = |flash: &Flash, at: u64, continues| {
            state.programmed(flash, (at, 4 * KIB), continues) / KIB
        };
        assert_eq!(
            [bytes(&plain, 0, false), bytes(&plain, 4 * KIB, true)],
            [16, 16]
        );
        assert_eq!(bytes(&plain, 14 * KIB, false), 32, "it lies in two pages");
        assert_eq!(
            [bytes(&gathers, 0, false), bytes(&gathers, 4 * KIB, true)],
            [4, 4]
        );
        assert_eq!(
            bytes(&gathers, 8 * KIB, false),
            12,
            "the page before it is copied"
        );
        let pieces = FlashState::joining_requests();
        let piece = |at: u64| pieces.programmed(&plain, (at * 512, 512), at > 0);
        assert_eq!(
            (0..64).map(piece).sum::<u64>(),
            32 * KIB,
            "each page is programmed once"
        );
    }
}
