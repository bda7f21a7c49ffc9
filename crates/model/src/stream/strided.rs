//! One zone after another, with gaps between them (`zonemode=strided`).

use super::permutation::Permutation;
use super::{Region, next_in_line};
use crate::job::{Access, Distribution, Op, PerOp};
use crate::rng::Rng;

/// A walk that stays in one zone until enough is transferred there.
#[derive(Clone, Debug)]
pub(super) struct Strided {
    /// Bytes of a zone.
    range: u64,
    /// Bytes transferred in it.
    size: u64,
    /// Bytes from the start of one to the start of the next.
    step: u64,
    stride: i64,
    align: u64,
    zone: Region,
    left: u64,
    order: ZoneOrder,
}

#[derive(Clone, Debug)]
enum ZoneOrder {
    InLine(PerOp<u64>),
    EachOnce(Permutation),
    Anew(Rng),
}

impl Strided {
    pub(super) fn new(
        zones: (u64, u64, u64),
        access: &Access,
        region: Region,
        align: u64,
        rng: Rng,
    ) -> Strided {
        let (range, size, skip) = zones;
        let zone = Region {
            len: range.clamp(align, region.len.max(align)),
            ..region
        };
        let slots = zone.len / align;
        let order = match (access.random, access.every_block_once, &access.distribution) {
            (false, ..) => ZoneOrder::InLine(PerOp::all(zone.offset)),
            (true, true, Distribution::Uniform) => {
                ZoneOrder::EachOnce(Permutation::new(slots, rng))
            }
            _ => ZoneOrder::Anew(rng),
        };
        let step = zone.len.saturating_add(skip);
        Strided {
            range: zone.len,
            size,
            step,
            stride: access.stride,
            align,
            zone,
            left: size,
            order,
        }
    }

    /// The next offset of an I/O of `len` bytes.
    pub(super) fn next(&mut self, region: Region, op: Op, len: u64) -> u64 {
        if self.left == 0 {
            self.turn_to_next(region);
        }
        self.left = self.left.saturating_sub(len);
        match &mut self.order {
            ZoneOrder::InLine(next) => next_in_line(
                &mut next[op],
                self.zone,
                len.min(self.zone.len),
                self.stride,
            ),
            ZoneOrder::EachOnce(permutation) => self.zone.offset + permutation.draw() * self.align,
            ZoneOrder::Anew(rng) => {
                self.zone.offset + rng.below(self.range / self.align) * self.align
            }
        }
    }

    /// Whether the region ends before another I/O of `len` bytes: a job in line goes on to the end of the last zone,
    /// whole or not. A random one leaves a zone alone that is not whole, and begins again at the first. Found by looking
    /// at what fio does.
    pub(super) fn is_through(&self, region: Region, len: u64) -> bool {
        let end = region.offset + region.len;
        match &self.order {
            ZoneOrder::InLine(next) if self.stride == 0 => {
                let at = Op::ALL.into_iter().map(|op| next[op]).max().unwrap_or(0);
                self.left > 0 && self.zone.len < self.range && at + len > end
            }
            _ => false,
        }
    }

    /// Goes back to the first zone.
    pub(super) fn begin_pass(&mut self, region: Region) {
        self.begin_zone(region, region.offset);
    }

    fn next_zone(&self) -> u64 {
        self.zone.offset.saturating_add(self.step)
    }

    fn turn_to_next(&mut self, region: Region) {
        let (next, end) = (self.next_zone(), region.offset + region.len);
        // A job in line takes what is there of the last zone, if a block fits.
        let needs = if matches!(self.order, ZoneOrder::InLine(_)) {
            self.align
        } else {
            self.range
        };
        self.begin_zone(
            region,
            if next.saturating_add(needs) > end {
                region.offset
            } else {
                next
            },
        );
    }

    fn begin_zone(&mut self, region: Region, offset: u64) {
        self.zone = Region {
            offset,
            len: self.range.min(region.offset + region.len - offset),
            ..region
        };
        self.left = self.size;
        match &mut self.order {
            ZoneOrder::InLine(next) => *next = PerOp::all(offset),
            ZoneOrder::EachOnce(permutation) => permutation.begin_pass(),
            ZoneOrder::Anew(_) => {}
        }
    }
}
