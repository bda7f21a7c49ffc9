//! Strided zones (`zonemode=strided`): one zone after another, with gaps between them.
//!
//! The behavior at the ends of zones and files was determined by recording the requests of fio 3.33 with `write_iolog`:
//! bytes are counted per job, not per file, and the current file moves to its next zone.

use super::Region;
use super::general::{next_behind, next_in_reverse};
use super::permutation::Permutation;
use super::random_map::RandomMap;
use super::skew::Skew;
use crate::job::{Access, Distribution, Op, PerOp};
use crate::rng::Rng;

/// Traversal that stays in one zone until enough bytes are transferred.
#[derive(Clone, Debug)]
pub(super) struct Strided {
    /// Size of a zone in bytes.
    range: u64,
    /// Bytes transferred before the next zone.
    size: u64,
    /// Distance between the starts of consecutive zones, in bytes.
    step: u64,
    stride: i64,
    align: u64,
    region: Region,
    /// Where I/Os must end: the end of the file, or of the job's part of it if sizes are drawn.
    end: u64,
    /// End of the file, where the zones start again.
    file_end: u64,
    /// Start of the current zone.
    start: u64,
    /// End of the last I/O of each operation in this zone.
    behind: PerOp<u64>,
    order: ZoneOrder,
    /// Whether all I/Os have the same size.
    fixed_sizes: bool,
}

#[derive(Clone, Debug)]
enum ZoneOrder {
    InLine,
    EachOnce(Permutation),
    /// A map has the blocks of the zone that are left. An I/O of a drawn size may reach into the next zone. As in fio, a
    /// block that was accessed is replaced by the next one that is left, so that more I/Os are sequential than by chance.
    Mapped(RandomMap),
    Anew(Rng),
    /// Drawn with a distribution over this number of blocks.
    Drawn(Skew, u64, Rng),
}

impl Strided {
    pub(super) fn new(
        zones: (u64, u64, u64),
        access: &Access,
        region: Region,
        (align, slots): (u64, u64),
        fixed_sizes: bool,
        map: Option<RandomMap>,
        rng: Rng,
    ) -> Strided {
        let (range, size, skip) = zones;
        let by_size = match map {
            Some(map) => ZoneOrder::Mapped(map),
            None => ZoneOrder::EachOnce(Permutation::new(range / align, rng.clone())),
        };
        let order = match (access.random, access.every_block_once, &access.distribution) {
            (false, ..) => ZoneOrder::InLine,
            (true, true, Distribution::Uniform) => by_size,
            (true, _, Distribution::Uniform) => ZoneOrder::Anew(rng),
            (true, _, distribution) => {
                let mut rng = rng;
                let skew = Skew::new(distribution, access.centre, slots, align, &mut rng);
                ZoneOrder::Drawn(skew, slots, rng)
            }
        };
        let part_end = region.offset + region.len;
        let file_end = part_end.max(region.file_len);
        Strided {
            range,
            size,
            step: range.saturating_add(skip),
            stride: access.stride,
            align,
            region,
            end: if fixed_sizes { file_end } else { part_end },
            file_end,
            start: region.offset,
            behind: PerOp::all(region.offset),
            order,
            fixed_sizes,
        }
    }

    /// Moves to the next zone after the job has transferred enough bytes, counted in `done`. As in fio, a job that
    /// transfers more than the size of a zone starts the zone again each time that size is transferred.
    pub(super) fn enter(&mut self, done: &mut u64) {
        if *done >= self.size {
            *done = 0;
            let next = self.start.saturating_add(self.step);
            self.begin_zone(if next >= self.file_end {
                self.region.offset
            } else {
                next
            });
        } else if *done > 0 && done.is_multiple_of(self.range) {
            self.begin_zone(self.start);
        }
    }

    /// Returns the next offset; `None` if no I/O of `least` bytes fits before the end, which ends a pass.
    pub(super) fn next(&mut self, op: Op, in_line: bool, least: u64) -> Option<u64> {
        let at = match &mut self.order {
            _ if in_line => self.next_in_line(op, 0, least)?,
            ZoneOrder::InLine => self.next_in_line(op, self.stride, least)?,
            ZoneOrder::EachOnce(_) if self.range < self.align => return None,
            ZoneOrder::EachOnce(permutation) if permutation.left() == 0 => return None,
            ZoneOrder::EachOnce(permutation) => self.start + permutation.draw() * self.align,
            ZoneOrder::Mapped(map) => self.start + map.draw_within(self.range)?,
            ZoneOrder::Anew(rng) => {
                self.start + rng.below((self.range / self.align).max(1)) * self.align
            }
            ZoneOrder::Drawn(skew, slots, rng) => self.start + skew.draw(*slots, rng) * self.align,
        };
        (at.saturating_add(least) <= self.end).then_some(at)
    }

    /// Returns the size of an I/O of at most `len` bytes. Sequential ones of a fixed size leave the map alone.
    pub(super) fn take(&mut self, at: u64, len: u64, in_line: bool) -> u64 {
        match &mut self.order {
            ZoneOrder::Mapped(_) if in_line && self.fixed_sizes => len,
            ZoneOrder::Mapped(map) => map.take(at - self.start, len),
            _ => len,
        }
    }

    /// Returns the next sequential offset. An I/O that ends past its zone is followed by one at its start, even with a
    /// gap between I/Os.
    fn next_in_line(&self, op: Op, stride: i64, least: u64) -> Option<u64> {
        let mut behind = self.behind[op];
        if behind >= self.start.saturating_add(self.range) {
            behind = self.start;
        }
        let zone = Region {
            offset: self.start,
            ..self.region
        };
        if stride < 0 {
            let back = stride.unsigned_abs();
            let below = behind == self.start && behind > 0 && zone.len < back + behind;
            return (!below || self.start == self.region.offset)
                .then(|| next_in_reverse(behind, zone, back, least))?;
        }
        let rest = Region {
            len: self.end.saturating_sub(self.start),
            ..zone
        };
        next_behind(behind, rest, stride, least)
    }

    /// Stores the end of an I/O.
    pub(super) fn note(&mut self, op: Op, behind: u64) {
        self.behind[op] = behind;
    }

    /// Returns to the first zone.
    pub(super) fn begin_pass(&mut self) {
        self.begin_zone(self.region.offset);
    }

    fn begin_zone(&mut self, start: u64) {
        self.start = start;
        self.behind = PerOp::all(start);
        match &mut self.order {
            ZoneOrder::EachOnce(permutation) => permutation.begin_pass(),
            ZoneOrder::Mapped(map) => map.begin_pass(),
            ZoneOrder::InLine | ZoneOrder::Anew(_) | ZoneOrder::Drawn(..) => {}
        }
    }
}
