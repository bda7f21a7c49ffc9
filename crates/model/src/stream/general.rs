//! General request stream, for jobs that mix operations, sizes, files or offsets.

mod sizes;
mod walk;

pub(super) use sizes::range_size;
pub(super) use walk::{next_behind, next_in_reverse};

use super::turns::Turns;
use super::{IoRequest, PassEnd, Region, StreamPlan};
use crate::job::{Access, BlockSize, Distribution, Op, PerOp};
use crate::rng::Rng;
use sizes::DrawnSizes;
use walk::RegionOrder;

/// Region with its state.
#[derive(Clone, Debug)]
struct RegionCursor {
    region: Region,
    /// Number of blocks of `align` bytes where an I/O of the smallest size still fits.
    slots: u64,
    walk: RegionOrder,
    /// End of the last I/O of each operation.
    behind: PerOp<u64>,
    /// Maximum end of an I/O that does not follow another. The last I/O of a skewed job may extend past the end of the
    /// region if the file is longer.
    end: u64,
}

#[derive(Clone, Debug)]
pub(super) struct GeneralStream {
    places: Vec<RegionCursor>,
    turns: Option<Turns>,
    access: Access,
    sizes: DrawnSizes,
    align: u64,
    /// Alignment of the offsets of each operation, where blocks come again.
    units: PerOp<u64>,
    /// Operations of the job.
    used: Vec<Op>,
    percent_random: Option<PerOp<u32>>,
    /// Whether an operation restarts at the end of a region independently of the others. As in fio, this applies to
    /// jobs limited by time; in other jobs a pass ends when the first operation reaches the end.
    wraps: bool,
    rng: Rng,
    bytes_left: u64,
    ios_left: u64,
    passes: Passes,
    /// Start offsets of the regions from the second pass on, if different.
    later_starts: Vec<u64>,
    /// Start of each pass that ends by its bytes.
    restart: Option<Box<Restart>>,
    /// Bytes transferred since the start of the last zone, if the job uses zones.
    zone_bytes: u64,
    /// Whether no requests are left, although fewer bytes than requested were transferred.
    through: bool,
    run: RunAfterSeek,
    /// Pending write after a trim of the same range.
    pending: Option<IoRequest>,
    /// Offsets of the last trim and the last write, if the two differ in size.
    unpaired: Option<PerOp<u64>>,
}

/// State at the start of a pass, from which the next one starts again.
#[derive(Clone, Debug)]
struct Restart {
    /// Bytes of a pass.
    bytes: u64,
    /// Whether the next pass repeats its offsets, sizes and operations.
    repeats: bool,
    places: Vec<RegionCursor>,
    rng: Rng,
}

/// Passes through all regions.
#[derive(Clone, Debug)]
struct Passes {
    /// Passes that follow this one in any case.
    more: u32,
    /// Behavior after these passes.
    end: PassEnd,
    /// Bytes of a pass, if the job counts passes.
    bytes: u64,
    /// Bytes of all passes.
    limit: u64,
    /// Size of the largest block of any operation.
    largest: u64,
    /// Whether anything was drawn in this pass.
    drew: bool,
    /// Bytes transferred in this pass.
    moved: u64,
    /// Whether this pass continued at the end of the previous one.
    continued: bool,
    /// Number of consecutive passes without a request.
    empty: u32,
}

impl Passes {
    /// Starts the next pass of a zoned job after enough bytes were transferred in this one; it continues at the current
    /// position.
    fn count_by_bytes(&mut self) {
        if self.bytes > 0 && self.moved >= self.bytes && self.more > 0 {
            self.more -= 1;
            self.moved = 0;
            (self.drew, self.continued) = (false, true);
        }
    }

    /// Returns the number of consecutive passes without a request, with the one that ends.
    fn count_empty(&mut self) -> u32 {
        let drew = std::mem::take(&mut self.drew);
        self.empty = if drew { 0 } else { self.empty + 1 };
        self.empty
    }
}

impl RegionCursor {
    /// Starts again at the start of the region.
    fn begin_pass(&mut self) {
        self.behind = PerOp::all(self.region.offset);
        self.walk.begin_pass(self.region);
    }
}

/// Maximum number of consecutive passes without I/O, for jobs whose offsets may be past the end of the file.
const EMPTY_PASSES: u32 = 64;

/// Remaining I/Os of a drawn offset (`rw=randread:8`).
#[derive(Clone, Copy, Debug, Default)]
struct RunAfterSeek {
    left: u32,
    place: usize,
    offset: u64,
}

impl StreamPlan {
    /// Returns the number of ranks that a skewed job draws from. As in fio, it is one for each block of the smallest
    /// size, even if offsets have a larger alignment, so that some ranks lie past the end of the region.
    fn ranks(&self, region: Region) -> u64 {
        let smallest = Op::ALL.map(|op| self.block[op].min().0).into_iter().min();
        region.len.div_ceil(smallest.unwrap_or(1).max(1)).max(1)
    }

    /// Returns the size of the largest block of any operation, even of those that the job does not do: as in fio, that
    /// must be missing for another pass.
    pub(super) fn largest_block(&self) -> u64 {
        let sizes = Op::ALL.map(|op| self.block[op].max().0);
        sizes.into_iter().max().unwrap_or(1).max(1)
    }

    /// Whether trims and the writes after them differ in size. As in fio, each then continues at its own end.
    fn trims_by_another_size(&self) -> bool {
        let Access {
            trim_before_write,
            random,
            ..
        } = self.access;
        let fixed = |block: &BlockSize| matches!(block, BlockSize::Fixed(_));
        let differ = self.block.trim != self.block.write;
        differ
            && trim_before_write
            && !random
            && fixed(&self.block.trim)
            && fixed(&self.block.write)
    }

    /// Whether each block is accessed once per pass although I/O sizes differ.
    pub(super) fn comes_in_pieces(&self, used: &[Op]) -> bool {
        let first = used.first().map(|&op| &self.block[op]);
        let one_size = matches!(first, Some(BlockSize::Fixed(_)))
            && used.iter().all(|&op| Some(&self.block[op]) == first);
        !one_size && self.access.run_length == 1 && self.access.percentage_random.is_none()
    }
}

impl GeneralStream {
    pub(super) fn new(
        plan: &StreamPlan,
        single_op: Option<Op>,
        single_len: Option<u32>,
    ) -> GeneralStream {
        let paired = plan.access.writes_what_it_trims().then(|| {
            let mut plan = plan.clone();
            plan.block.write = plan.block.trim.clone();
            plan
        });
        let plan = paired.as_ref().unwrap_or(plan);
        let does = |op: &Op| plan.access.does(*op);
        let unpaired = plan.trims_by_another_size();
        let in_line = plan.sizes.in_line.iter().map(|block| block.min().0);
        let blocks = Op::ALL
            .into_iter()
            .filter(does)
            .map(|op| plan.block[op].min().0);
        let smallest = blocks.chain(in_line).min().unwrap_or(1).max(1);
        // The trim before each write is not drawn: it uses the range of the write, unless their sizes differ.
        let paired = plan.access.trim_before_write && !unpaired;
        let fixed = |op: Op| matches!(plan.block[op], BlockSize::Fixed(_));
        let drawn = |op: &Op| does(op) && (*op == Op::Write || !paired);
        let used: Vec<Op> = Op::ALL.into_iter().filter(drawn).collect();
        let align = plan.align.max(1);
        let fixed_sizes = used.iter().all(|&op| fixed(op));
        let place = |(i, &region): (usize, &Region)| {
            let slots = region
                .len
                .checked_sub(smallest)
                .map_or(1, |room| room / align + 1);
            let slots = match plan.access.distribution {
                Distribution::Zipf(_) | Distribution::Pareto(_) | Distribution::Normal(_) => {
                    plan.ranks(region)
                }
                // As in fio, where blocks come again, a part of the alignment at the end is left out.
                _ if !plan.access.every_block_once => slots.min((region.len / align).max(1)),
                _ => slots,
            };
            let walk = RegionOrder::new(
                plan,
                &used,
                region,
                slots,
                Rng::fork(plan.seed, 1 + i as u64),
            );
            // As in fio, zones continue to the end of the file, even if the job transfers less; I/Os of drawn sizes end
            // with the part of the file.
            let whole = region.file_len.saturating_sub(region.offset);
            let len = match walk {
                RegionOrder::Strided(_) if fixed_sizes => region.len.max(whole),
                _ => region.len,
            };
            let end = region.offset + len;
            let end = match &walk {
                RegionOrder::Independent(skew) if skew.ends_at_a_part() => end.max(region.file_len),
                _ if unpaired => end.max(region.file_len),
                _ => end,
            };
            RegionCursor {
                region: Region { len, ..region },
                slots,
                walk,
                behind: PerOp::all(region.offset),
                end,
            }
        };
        let places: Vec<RegionCursor> = plan.regions.iter().enumerate().map(place).collect();
        let rng = Rng::fork(plan.seed, 0);
        let restart = plan.restart_bytes.map(|bytes| {
            let (places, rng) = (places.clone(), rng.clone());
            Box::new(Restart {
                bytes,
                repeats: !plan.draws_anew,
                places,
                rng,
            })
        });
        let mut least = PerOp::all(smallest);
        used.iter()
            .for_each(|&op| least[op] = plan.block[op].min().0.max(1));
        GeneralStream {
            places,
            turns: (plan.regions.len() > 1)
                .then(|| Turns::new(&plan.turns, plan.regions.len(), plan.seed)),
            access: plan.access.clone(),
            sizes: DrawnSizes {
                single_op,
                single_len,
                block: plan.block.clone(),
                rules: plan.sizes.clone(),
                smallest,
                least,
                unaligned: plan.sizes.unaligned,
            },
            align,
            units: if align == smallest {
                least
            } else {
                PerOp::all(align)
            },
            wraps: used.len() > 1 && plan.pass_end == PassEnd::Repeat,
            used,
            percent_random: plan.access.percentage_random.filter(|_| plan.access.random),
            rng,
            restart,
            bytes_left: plan.limit_bytes.unwrap_or(u64::MAX),
            ios_left: plan.limit_ios.unwrap_or(u64::MAX),
            passes: Passes {
                more: plan.loops.max(1) - 1,
                end: plan.pass_end,
                bytes: plan.pass_bytes.unwrap_or(0),
                limit: plan.limit_bytes.unwrap_or(u64::MAX),
                largest: plan.largest_block(),
                drew: false,
                moved: 0,
                continued: false,
                empty: 0,
            },
            later_starts: plan.later_starts.clone(),
            zone_bytes: 0,
            through: false,
            run: RunAfterSeek::default(),
            pending: None,
            unpaired: unpaired.then(|| PerOp::all(u64::MAX)),
        }
    }

    pub(super) fn bytes_left(&self) -> u64 {
        self.bytes_left
    }

    pub(super) fn is_over(&self) -> bool {
        self.bytes_left == 0 || self.ios_left == 0
    }

    fn draw_op(&mut self) -> Op {
        if let Some(op) = self.sizes.single_op {
            return op;
        }
        // As in fio, a trim follows when the last write began where the last trim did.
        if self.unpaired.is_some_and(|last| last.trim == last.write) {
            return Op::Trim;
        }
        if self.access.trim_before_write {
            return Op::Write;
        }
        let die = self.rng.below(100) as u32;
        let mix = &self.access.mix;
        if die < mix.read {
            Op::Read
        } else if die < mix.read + mix.write {
            Op::Write
        } else {
            Op::Trim
        }
    }

    /// Whether an I/O of a random job continues at the end of the previous one.
    fn draw_in_line(&mut self, op: Op) -> bool {
        if self.run.left > 0 {
            return true;
        }
        match &self.percent_random {
            None => false,
            Some(percent) => self.rng.below(100) as u32 >= percent[op],
        }
    }

    fn draw_place(&mut self) -> usize {
        match &mut self.turns {
            None => 0,
            Some(turns) => turns.draw(&mut self.rng),
        }
    }

    /// Returns the next I/O of a region as offset and size; `None` if none is left for this operation.
    fn next_in(&mut self, place: usize, op: &mut Op, in_line: bool) -> Option<(u64, u64)> {
        let GeneralStream {
            places,
            access,
            sizes,
            align,
            units,
            wraps,
            rng,
            zone_bytes,
            unpaired,
            ..
        } = self;
        let RegionCursor {
            region,
            slots,
            walk,
            behind,
            end: last,
        } = &mut places[place];
        let end = region.offset + region.len;
        if let RegionOrder::Strided(zones) = walk {
            zones.enter(zone_bytes);
            let at = zones.next(*op, in_line, sizes.least[*op])?;
            let len = sizes.draw(*op, in_line, end - at, rng);
            return Some((at, zones.take(at, len, in_line)));
        }
        if in_line && (behind[*op] != end || region.file_len > end) {
            // As in fio, an I/O that would extend past the end of the file ends the pass, and so does one that has
            // passed the end of the region, or one of a drawn size that does not fit into it.
            let fixed = matches!(sizes.block[*op], BlockSize::Fixed(_));
            let (at, room) = match fixed {
                true => (behind[*op], end.max(region.file_len)),
                false => (behind[*op], end),
            };
            let fits = at < end && at + sizes.least[*op] <= room;
            return fits.then(|| (at, sizes.draw(*op, true, room - at, rng)));
        }
        match walk {
            RegionOrder::Sequential { next } if unpaired.is_some() => {
                // An I/O that begins in the region may extend past it.
                let (at, len) = (next[*op], sizes.least[*op]);
                next[*op] = at + len;
                (at < end && at + len <= *last).then_some((at, len))
            }
            RegionOrder::Sequential { next } => {
                let least = sizes.least[*op];
                let at = match (
                    next_behind(next[*op], *region, access.stride, least),
                    &wraps,
                ) {
                    (Some(at), _) => at,
                    (None, true) => region.offset,
                    (None, false) => return None,
                };
                let len = sizes.draw(*op, false, end - at, rng);
                next[*op] = at + len;
                Some((at, len))
            }
            RegionOrder::Mapped(map) => {
                // In a later pass that starts elsewhere, an I/O past the end ends the pass.
                let fits = |at: &u64| at + sizes.smallest <= region.len;
                let at = map.draw().filter(fits)?;
                let len = sizes.draw(*op, false, region.len - at, rng);
                Some((region.offset + at, map.take(at, len)))
            }
            RegionOrder::Pieces(pieces) => {
                let fits = |&(at, len): &(u64, u32)| at + u64::from(len) <= region.len;
                let (at, len) = pieces.draw(op).filter(fits)?;
                Some((region.offset + at, len.into()))
            }
            RegionOrder::EachOnce(permutation) => {
                let at = region.offset + permutation.draw() * *align;
                if at + sizes.smallest > end {
                    return None;
                }
                Some((at, sizes.draw(*op, false, end - at, rng)))
            }
            RegionOrder::Independent(skew) => {
                // As in fio, blocks of each operation have their own size, and the favourites of a larger one lie apart
                // by that, so that many are past the end.
                let (drawn, unit) = (skew.draw(*slots, rng), units[*op]);
                let at = if skew.ends_at_a_part() {
                    region.offset + drawn * unit
                } else {
                    region.offset + drawn * *align / unit * unit
                };
                if at >= end || skew.ends_at_a_part() && at + sizes.least[*op] > *last {
                    return None;
                }
                if skew.ends_at_a_part() {
                    return Some((at, sizes.draw(*op, false, *last - at, rng)));
                }
                // An operation with larger blocks restarts early enough to fit one.
                let over = (at + sizes.least[*op])
                    .saturating_sub(end)
                    .next_multiple_of(unit);
                let at = if at - region.offset >= over {
                    at - over
                } else {
                    at
                };
                Some((at, sizes.draw(*op, false, end - at, rng)))
            }
            // As in fio, an I/O that ends at the end of the region ends the pass.
            RegionOrder::Reverse { behind } if behind[*op] >= end => None,
            RegionOrder::Reverse { behind } => {
                let at = next_in_reverse(
                    behind[*op],
                    *region,
                    access.stride.unsigned_abs(),
                    sizes.least[*op],
                )?;
                let len = sizes.draw(*op, false, end - at, rng);
                behind[*op] = at + len;
                Some((at, len))
            }
            RegionOrder::Backward { behind } => {
                let len = sizes.draw(*op, false, region.len, rng);
                let from = if *behind < region.offset + len {
                    end
                } else {
                    *behind
                };
                *behind = from.saturating_sub(len).max(region.offset);
                Some((*behind, len))
            }
            RegionOrder::Interleaved(lanes) => {
                let len = sizes.draw(*op, false, region.len, rng);
                Some((lanes.next(*region, len), len))
            }
            // Already handled above.
            RegionOrder::Strided(_) => None,
        }
    }

    /// Whether a region has no I/O left for any operation.
    fn is_through(&self, place: usize) -> bool {
        let RegionCursor { region, walk, .. } = &self.places[place];
        match walk {
            RegionOrder::Sequential { next } => {
                let stride = self.access.stride;
                let none = |&op: &Op| {
                    next_behind(next[op], *region, stride, self.sizes.least[op]).is_none()
                };
                !self.wraps && self.unpaired.is_none() && self.used.iter().all(none)
            }
            RegionOrder::EachOnce(permutation) => {
                self.ends_with_blocks() && permutation.left() == 0
            }
            RegionOrder::Mapped(map) => map.is_through(),
            RegionOrder::Pieces(pieces) => pieces.is_through(),
            RegionOrder::Strided(_) => false,
            // Backward steps never end; a pass ends after its bytes.
            RegionOrder::Reverse { .. } => {
                self.passes.bytes > 0 && self.passes.moved >= self.passes.bytes
            }
            RegionOrder::Backward { .. }
            | RegionOrder::Interleaved(_)
            | RegionOrder::Independent(_) => false,
        }
    }

    /// Whether each I/O takes one block of a permutation, so that a pass ends after all blocks.
    fn ends_with_blocks(&self) -> bool {
        self.access.run_length == 1 && self.percent_random.is_none()
    }

    /// Returns the next I/O of a job that draws one offset per `run_length` I/Os. As in fio, the others follow the last
    /// I/O of their own operation in the current file, or all have the offset of the first (`rw_sequencer=identical`).
    fn next_of_run(&mut self, op: Op, in_line: bool) -> (usize, Option<(u64, u64)>) {
        let fresh = self.run.left == 0;
        self.run.left = if fresh {
            self.access.run_length
        } else {
            self.run.left
        } - 1;
        if self.access.run_identical && !fresh {
            let RunAfterSeek { place, offset, .. } = self.run;
            let Region {
                offset: start,
                len: room,
                ..
            } = self.places[place].region;
            let room = start + room - offset;
            let len = self.sizes.draw(op, in_line, room, &mut self.rng);
            return (place, Some((offset, len)));
        }
        let place = self.draw_place();
        let drawn = self.next_in(place, &mut { op }, in_line || !fresh);
        if let Some((offset, _)) = drawn {
            (self.run.place, self.run.offset) = (place, offset);
        }
        (place, drawn)
    }

    #[inline]
    pub(super) fn next(&mut self) -> Option<IoRequest> {
        self.next_steered(|op| op)
    }

    pub(super) fn next_steered(&mut self, steer: impl FnOnce(Op) -> Op) -> Option<IoRequest> {
        if self.bytes_left == 0 || self.ios_left == 0 || self.through {
            return None;
        }
        if let Some(write) = self.pending.take() {
            self.zone_bytes += u64::from(write.len);
            self.ios_left -= 1;
            self.spend(u64::from(write.len));
            self.look_for_end(write.region as usize);
            return Some(write);
        }
        let mut op = steer(self.draw_op());
        let in_line = self.draw_in_line(op);
        let runs = self.access.random && self.access.run_length > 1;
        let (place, offset, len) = loop {
            let (place, drawn) = if runs {
                self.next_of_run(op, in_line)
            } else {
                let place = self.draw_place();
                (place, self.next_in(place, &mut op, in_line))
            };
            match drawn {
                Some((offset, len)) => break (place, offset, len),
                None => self.close(place),
            }
            if self.through {
                return None;
            }
        };
        self.passes.drew = true;
        let RegionCursor {
            region,
            behind,
            walk,
            end,
            ..
        } = &mut self.places[place];
        // A large block near the end is cut to the remaining bytes.
        let end = if in_line {
            (region.offset + region.len).max(region.file_len)
        } else {
            *end
        };
        let len = len.min(end - offset);
        behind[op] = offset + len;
        if let RegionOrder::Strided(zones) = walk {
            zones.note(op, offset + len);
            self.zone_bytes += len;
        }
        let request = IoRequest {
            op,
            region: place as u32,
            offset,
            len: len as u32,
        };
        if let Some(last) = &mut self.unpaired {
            last[op] = offset;
            if op == Op::Trim {
                return Some(request);
            }
        } else if self.access.trim_before_write {
            self.pending = Some(request);
            return Some(IoRequest {
                op: Op::Trim,
                ..request
            });
        }
        self.ios_left -= 1;
        self.spend(len);
        self.look_for_end(place);
        Some(request)
    }

    fn spend(&mut self, bytes: u64) {
        self.bytes_left = self.bytes_left.saturating_sub(bytes);
        self.passes.moved += bytes;
    }

    /// Closes a region that has no I/O left.
    #[inline]
    fn look_for_end(&mut self, place: usize) {
        let restart = self.restart.as_ref();
        if restart.is_some_and(|restart| self.passes.moved >= restart.bytes) {
            self.end_pass();
            self.repeat_pass();
        } else if matches!(self.places[place].walk, RegionOrder::Strided(_)) {
            self.passes.count_by_bytes();
        } else if self.is_through(place) {
            self.close(place);
        }
    }

    /// Continues with the other regions; the pass ends if none is left. As in fio, a region that a skewed job has
    /// completed starts again, and only bytes or I/Os end the job.
    #[cold]
    fn close(&mut self, place: usize) {
        if self.turns.as_ref().is_some_and(Turns::are_skewed) {
            self.places[place].begin_pass();
            self.through = self.passes.count_empty() >= EMPTY_PASSES;
        } else if self.turns.as_mut().is_none_or(|turns| turns.close(place)) {
            self.end_pass();
        }
    }

    /// Takes the offsets, sizes and operations of this pass from the first.
    fn repeat_pass(&mut self) {
        let Some(restart) = self.restart.as_ref().filter(|restart| restart.repeats) else {
            return;
        };
        for (place, first) in self.places.iter_mut().zip(&restart.places) {
            // Later passes may begin elsewhere.
            if place.region == first.region {
                place.clone_from(first);
            }
        }
        self.rng = restart.rng.clone();
    }

    /// Starts the next pass, if any.
    fn end_pass(&mut self) {
        let trims = self.access.trim_before_write;
        let empty = self.passes.count_empty();
        let Passes {
            more,
            end,
            bytes,
            limit,
            largest,
            moved,
            continued,
            ..
        } = &mut self.passes;
        let in_all = limit.saturating_sub(self.bytes_left);
        // As in fio, trimmed bytes count when deciding about another pass.
        let counted = if trims {
            in_all.saturating_mul(2)
        } else {
            in_all
        };
        let begins = match end {
            _ if *more > 0 => true,
            PassEnd::Stop => false,
            PassEnd::Repeat => true,
            PassEnd::MoveBytes(bytes) => counted.saturating_add(*largest) <= *bytes,
        };
        // A pass without I/O would be followed by another one, unless offsets are random. A pass that continued from
        // the previous one starts again at the end of the file.
        let goes_on = std::mem::take(continued);
        let may_draw = match self.places[0].walk {
            RegionOrder::Strided(_) if self.access.random => empty < EMPTY_PASSES,
            _ => empty == 0,
        };
        if goes_on {
            *more += 1;
        } else if !begins || !may_draw {
            self.through = true;
            return;
        }
        if *end == PassEnd::Stop && *bytes > 0 {
            // The remaining bytes of this pass are not added to the next.
            self.bytes_left = self.bytes_left.min(bytes.saturating_mul((*more).into()));
        }
        *more = more.saturating_sub(1);
        *moved = 0;
        self.zone_bytes = 0;
        self.run.left = 0;
        let starts = std::mem::take(&mut self.later_starts);
        for (place, start) in self.places.iter_mut().zip(starts) {
            let Region { offset, len, .. } = &mut place.region;
            (*len, *offset) = ((*offset + *len).saturating_sub(start), start);
        }
        self.places.iter_mut().for_each(RegionCursor::begin_pass);
        if let Some(turns) = &mut self.turns {
            turns.begin_pass();
        }
    }
}
