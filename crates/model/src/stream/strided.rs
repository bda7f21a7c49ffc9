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
    order: Order,
}

#[derive(Clone, Debug)]
enum Order {
    InLine(PerOp<u64>),
    EachOnce(Permutation),
    Anew(Rng),
}

impl Strided {
    pub(super) fn new(zones: (u64, u64, u64), access: &Access, region: Region, align: u64, rng: Rng) -> Strided {
        let (range, size, skip) = zones;
        let zone = Region { len: range.clamp(align, region.len.max(align)), ..region };
        let slots = zone.len / align;
        let order = match (access.random, access.every_block_once, &access.distribution) {
            (false, ..) => Order::InLine(PerOp::all(zone.offset)),
            (true, true, Distribution::Uniform) => Order::EachOnce(Permutation::new(slots, rng)),
            _ => Order::Anew(rng),
        };
        let step = zone.len.saturating_add(skip);
        Strided { range: zone.len, size, step, stride: access.stride, align, zone, left: size, order }
    }

    /// The next offset of an I/O of `len` bytes.
    pub(super) fn next(&mut self, region: Region, op: Op, len: u64) -> u64 {
        if self.left == 0 {
            self.turn_to_next(region);
        }
        self.left = self.left.saturating_sub(len);
        match &mut self.order {
            Order::InLine(next) => next_in_line(&mut next[op], self.zone, len.min(self.range), self.stride),
            Order::EachOnce(permutation) => self.zone.offset + permutation.draw() * self.align,
            Order::Anew(rng) => self.zone.offset + rng.below(self.range / self.align) * self.align,
        }
    }

    fn turn_to_next(&mut self, region: Region) {
        let end = region.offset + region.len;
        let next = self.zone.offset.saturating_add(self.step);
        self.zone.offset = if next.saturating_add(self.range) > end { region.offset } else { next };
        self.left = self.size;
        match &mut self.order {
            Order::InLine(next) => *next = PerOp::all(self.zone.offset),
            Order::EachOnce(permutation) => permutation.begin_pass(),
            Order::Anew(_) => {}
        }
    }
}
