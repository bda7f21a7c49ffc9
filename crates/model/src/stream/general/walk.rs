//! Offset of the next I/O in a region.

use crate::job::rules::{TraversalOrder, Zones};
use crate::job::{BlockSize, Distribution, Op, PerOp};
use crate::rng::Rng;
use crate::stream::permutation::Permutation;
use crate::stream::pieces::{PieceSizes, Pieces};
use crate::stream::random_map::RandomMap;
use crate::stream::skew::Skew;
use crate::stream::strided::Strided;
use crate::stream::{Region, StreamPlan};

/// Traversal order of a region, with its position.
#[derive(Clone, Debug)]
pub(super) enum RegionOrder {
    /// After the last I/O of each operation, or with a gap.
    Sequential {
        next: PerOp<u64>,
    },
    /// Before the last I/O of each operation.
    Reverse {
        behind: PerOp<u64>,
    },
    /// From the end of the next block backward.
    Backward {
        behind: u64,
    },
    Interleaved(Interleaved),
    EachOnce(Permutation),
    Mapped(Box<RandomMap>),
    Pieces(Box<Pieces>),
    Independent(Skew),
    Strided(Box<Strided>),
}

/// Interleaved blocks: one step apart, in several lanes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Interleaved {
    step: u64,
    /// Start of the current lane, relative to the region.
    lane: u64,
    next: u64,
}

impl Interleaved {
    pub(super) fn next(&mut self, region: Region, len: u64) -> u64 {
        if self.next >= region.len {
            self.lane += len;
            self.lane = if self.lane >= self.step.min(region.len) {
                0
            } else {
                self.lane
            };
            self.next = self.lane;
        }
        let at = self.next;
        self.next = at.saturating_add(self.step);
        region.offset + at
    }
}

impl RegionOrder {
    pub(super) fn new(
        plan: &StreamPlan,
        used: &[Op],
        region: Region,
        slots: u64,
        rng: Rng,
    ) -> RegionOrder {
        let StreamPlan {
            access,
            align,
            sizes,
            block,
            ..
        } = plan;
        let align = (*align).max(1);
        if let Zones::Strided { range, size, skip } = &access.zones {
            let zones = (range.0, size.0, skip.0);
            let among = (align, slots);
            let largest = used.iter().map(|&op| block[op].max().0).max().unwrap_or(0);
            let fixed = used
                .iter()
                .all(|&op| matches!(block[op], BlockSize::Fixed(_)));
            let blocks = fixed && largest == align && align <= range.0;
            let mapped = access.random && (plan.comes_in_pieces(used) || blocks);
            let map =
                mapped.then(|| RandomMap::new(range.0.saturating_add(largest), align, rng.clone()));
            let zones = Strided::new(zones, access, region, among, fixed, map.flatten(), rng);
            return RegionOrder::Strided(Box::new(zones));
        }
        match (access.random, access.every_block_once, &access.distribution) {
            (false, ..) => match access.order {
                TraversalOrder::Forward if access.stride < 0 => RegionOrder::Reverse {
                    behind: PerOp::all(region.offset),
                },
                TraversalOrder::Forward => RegionOrder::Sequential {
                    next: PerOp::all(region.offset),
                },
                TraversalOrder::Backward => RegionOrder::Backward {
                    behind: region.offset,
                },
                TraversalOrder::Interleaved { step } => RegionOrder::Interleaved(Interleaved {
                    step: step.0.max(1),
                    lane: 0,
                    next: 0,
                }),
            },
            (true, true, Distribution::Uniform) if plan.comes_in_pieces(used) => {
                // Sizes that are not whole blocks of the map would leave gaps.
                let whole = |block: &BlockSize| match block {
                    BlockSize::Split(parts) => parts.iter().all(|(size, _)| size.0 % align == 0),
                    _ => true,
                };
                let in_blocks = |&op: &Op| block[op].min().0 == align && whole(&block[op]);
                if used.iter().all(in_blocks)
                    && let Some(map) = RandomMap::new(region.len, align, rng.clone())
                {
                    return RegionOrder::Mapped(Box::new(map));
                }
                let smallest = used.iter().map(|&op| block[op].min().0).min();
                // If offsets have their own alignment, or not all sizes are aligned, each piece is aligned separately.
                let ragged = |block: &BlockSize| matches!(block, BlockSize::Range { max, .. } if max.0 % align != 0);
                let own = sizes.unaligned
                    || smallest != Some(align)
                    || used.iter().any(|&op| ragged(&block[op]));
                let align = if own { align } else { 1 };
                let sizes = PieceSizes {
                    block,
                    mix: &access.mix,
                    unaligned: sizes.unaligned,
                    align,
                };
                RegionOrder::Pieces(Box::new(Pieces::new(region.len, used, sizes, rng)))
            }
            (true, true, Distribution::Uniform) => {
                RegionOrder::EachOnce(Permutation::new(slots, rng))
            }
            (true, _, distribution) => {
                let mut rng = rng;
                RegionOrder::Independent(Skew::new(
                    distribution,
                    access.centre,
                    slots,
                    align,
                    &mut rng,
                ))
            }
        }
    }

    /// Starts again at the start of the region.
    pub(super) fn begin_pass(&mut self, region: Region) {
        match self {
            RegionOrder::Sequential { next } => *next = PerOp::all(region.offset),
            RegionOrder::EachOnce(permutation) => permutation.begin_pass(),
            RegionOrder::Mapped(map) => map.begin_pass(),
            RegionOrder::Pieces(pieces) => pieces.begin_pass(),
            RegionOrder::Strided(zones) => zones.begin_pass(),
            RegionOrder::Reverse { behind } => *behind = PerOp::all(region.offset),
            // These orders have no end.
            RegionOrder::Backward { .. }
            | RegionOrder::Interleaved(_)
            | RegionOrder::Independent(_) => {}
        }
    }
}

/// Returns the next offset of a sequential job that steps `back` bytes backward after each I/O; the last one ended at
/// `behind`. `None` if it would be outside the file, or not even `least` bytes fit.
///
/// As in fio, the first I/O of a whole file is at its start, and a step back past the start continues from the end.
#[inline]
pub(in crate::stream) fn next_in_reverse(
    behind: u64,
    region: Region,
    back: u64,
    least: u64,
) -> Option<u64> {
    let Region {
        offset: start, len, ..
    } = region;
    let at = match behind {
        0 => 0,
        _ if behind >= start + back => behind - back,
        // Before the first I/O, fio counts from the start of the file, not from the offset of the job.
        _ if behind == start => len.saturating_sub(back).max(start),
        _ => (start + len).checked_sub(back).filter(|&at| at >= start)?,
    };
    (at + least <= start + len).then_some(at)
}

/// Returns the next offset of a sequential job that skips `stride` bytes after each I/O. `None` if not even `least`
/// bytes fit.
///
/// As in fio, a job that jumps past the end of the whole file starts again, at twice its offset; only one that reaches
/// the end of its region is done.
#[inline]
pub(in crate::stream) fn next_behind(
    next: u64,
    region: Region,
    stride: i64,
    least: u64,
) -> Option<u64> {
    let Region {
        offset: start,
        len,
        file_len,
        ..
    } = region;
    let end = start + len;
    if next >= end {
        return None;
    }
    let mut at = next;
    if next > start && stride > 0 {
        at = next.saturating_add(stride.unsigned_abs());
        if file_len > 0 && at - start >= file_len {
            at = start.saturating_mul(2);
        }
    }
    (at.saturating_add(least) <= end).then_some(at)
}
