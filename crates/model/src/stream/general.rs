//! The requests of jobs that mix operations, sizes, files or places.

use super::permutation::Permutation;
use super::skew::Skew;
use super::strided::Strided;
use super::turns::Turns;
use super::{Region, Request, StreamPlan, next_in_line};
use crate::job::rules::{Course, SizeRules, Zones};
use crate::job::{Access, BlockSize, Distribution, Op, PerOp};
use crate::rng::Rng;

/// Where the next I/O of a region goes.
#[derive(Clone, Debug)]
enum Walk {
    Sequential {
        next: PerOp<u64>,
    },
    /// Behind the block that comes next.
    Backward {
        behind: u64,
    },
    Interleaved(Interleaved),
    EachOnce(Permutation),
    Independent(Skew),
    Strided(Box<Strided>),
}

/// One region with its state.
#[derive(Clone, Debug)]
struct Place {
    region: Region,
    /// Blocks of `align` bytes at which an I/O of the smallest size still fits.
    slots: u64,
    walk: Walk,
    /// Behind the last I/O of each operation.
    behind: PerOp<u64>,
}

#[derive(Clone, Debug)]
pub(super) struct GeneralStream {
    places: Vec<Place>,
    turns: Option<Turns>,
    access: Access,
    block: PerOp<BlockSize>,
    align: u64,
    /// The operation, when there is only one.
    single_op: Option<Op>,
    /// The size, when there is only one.
    single_len: Option<u32>,
    percent_random: Option<PerOp<u32>>,
    sizes: SizeRules,
    smallest: u64,
    rng: Rng,
    bytes_left: u64,
    ios_left: u64,
    /// Bytes of a loop, where one ends with the only region whatever is left of it (`zonemode=strided`).
    loop_bytes: Option<u64>,
    run: Run,
    /// The write that follows a trim of the same place.
    pending: Option<Request>,
}

/// I/Os still to come from an offset that was drawn (`rw=randread:8`).
#[derive(Clone, Copy, Debug, Default)]
struct Run {
    left: u32,
    place: usize,
    offset: u64,
}

/// Blocks a step apart, lane by lane.
#[derive(Clone, Copy, Debug)]
struct Interleaved {
    step: u64,
    /// Where this lane began, counted from the start of the region.
    lane: u64,
    next: u64,
}

impl Interleaved {
    fn next(&mut self, region: Region, len: u64) -> u64 {
        if self.next >= region.len {
            self.lane += len;
            self.lane = if self.lane >= self.step.min(region.len) { 0 } else { self.lane };
            self.next = self.lane;
        }
        let at = self.next;
        self.next = at.saturating_add(self.step);
        region.offset + at
    }
}

impl Walk {
    fn new(plan: &StreamPlan, region: Region, slots: u64, rng: Rng) -> Walk {
        let StreamPlan { access, zones, align, course, .. } = plan;
        if let Zones::Strided { range, size, skip } = zones {
            let zones = (range.0, size.0, skip.0);
            return Walk::Strided(Box::new(Strided::new(zones, access, region, (*align).max(1), rng)));
        }
        match (access.random, access.every_block_once, &access.distribution) {
            (false, ..) => match *course {
                Course::Forward => {
                    let start = if access.stride < 0 { region.offset + region.len } else { region.offset };
                    Walk::Sequential { next: PerOp::all(start) }
                }
                Course::Backward => Walk::Backward { behind: region.offset },
                Course::Interleaved { step } => {
                    Walk::Interleaved(Interleaved { step: step.0.max(1), lane: 0, next: 0 })
                }
            },
            (true, true, Distribution::Uniform) => Walk::EachOnce(Permutation::new(slots, rng)),
            (true, _, distribution) => {
                let mut rng = rng;
                Walk::Independent(Skew::new(distribution, access.centre, slots, (*align).max(1), &mut rng))
            }
        }
    }
}

impl GeneralStream {
    pub(super) fn new(plan: &StreamPlan, single_op: Option<Op>, single_len: Option<u32>) -> GeneralStream {
        let used = Op::ALL.into_iter().filter(|&op| plan.access.does(op));
        let in_line = plan.sizes.in_line.iter().map(|block| block.min().0);
        let smallest = used.map(|op| plan.block[op].min().0).chain(in_line).min().unwrap_or(1).max(1);
        let align = plan.align.max(1);
        let place = |(i, &region): (usize, &Region)| {
            let slots = region.len.checked_sub(smallest).map_or(1, |room| room / align + 1);
            let walk = Walk::new(plan, region, slots, Rng::fork(plan.seed, 1 + i as u64));
            Place { region, slots, walk, behind: PerOp::all(region.offset) }
        };
        let sizes = || plan.regions.iter().map(|region| region.len).collect();
        GeneralStream {
            places: plan.regions.iter().enumerate().map(place).collect(),
            turns: (plan.regions.len() > 1).then(|| Turns::new(&plan.turns, sizes())),
            access: plan.access.clone(),
            block: plan.block.clone(),
            align,
            single_op,
            single_len,
            percent_random: plan.percent_random.filter(|_| plan.access.random),
            sizes: plan.sizes.clone(),
            smallest,
            rng: Rng::fork(plan.seed, 0),
            bytes_left: plan.limit_bytes.unwrap_or(u64::MAX),
            ios_left: plan.limit_ios.unwrap_or(u64::MAX),
            loop_bytes: loop_bytes(plan),
            run: Run::default(),
            pending: None,
        }
    }

    pub(super) fn bytes_left(&self) -> u64 {
        self.bytes_left
    }

    pub(super) fn is_over(&self) -> bool {
        self.bytes_left == 0 || self.ios_left == 0
    }

    fn draw_op(&mut self) -> Op {
        if let Some(op) = self.single_op {
            return op;
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

    /// Whether an I/O goes on where the one before ended, though the job is random.
    fn draw_in_line(&mut self, op: Op) -> bool {
        if self.run.left > 0 {
            return true;
        }
        match &self.percent_random {
            None => false,
            Some(percent) => self.rng.below(100) as u32 >= percent[op],
        }
    }

    fn draw_len(&mut self, op: Op, in_line: bool) -> u32 {
        let block = match &self.sizes.in_line {
            Some(block) if in_line => block,
            _ => match self.single_len {
                Some(len) => return len,
                None => &self.block[op],
            },
        };
        let step = if self.sizes.unaligned { 1 } else { self.align };
        let bytes = match block {
            BlockSize::Fixed(bytes) => return bytes.0 as u32,
            BlockSize::Range { min, max } => {
                let steps = (max.0 - min.0) / step + 1;
                min.0 + self.rng.below(steps) * step
            }
            BlockSize::Split(parts) => {
                let die = self.rng.below(100) as u32;
                let mut sum = 0;
                let drawn = parts.iter().find(|(_, percent)| {
                    sum += percent;
                    die < sum
                });
                drawn.or(parts.last()).map_or(1, |(bytes, _)| bytes.0)
            }
        };
        // The last of blocks that differ in size is cut so that the sum is right.
        let left = self.bytes_left.checked_next_multiple_of(step).unwrap_or(u64::MAX);
        bytes.min(left) as u32
    }

    fn draw_place(&mut self) -> usize {
        match &mut self.turns {
            None => 0,
            Some(turns) => turns.draw(&mut self.rng),
        }
    }

    fn next_offset(&mut self, place: usize, op: Op, len: u64, in_line: bool) -> u64 {
        if in_line {
            let Place { region, behind, .. } = &mut self.places[place];
            return next_in_line(&mut behind[op], *region, len, 0);
        }
        let (stride, align) = (self.access.stride, self.align);
        let Place { region, slots, walk, .. } = &mut self.places[place];
        match walk {
            Walk::Sequential { next } => next_in_line(&mut next[op], *region, len, stride),
            Walk::Backward { behind } => {
                let from = if *behind < region.offset + len { region.offset + region.len } else { *behind };
                *behind = from.saturating_sub(len).max(region.offset);
                *behind
            }
            Walk::Interleaved(lanes) => lanes.next(*region, len),
            Walk::EachOnce(permutation) => region.offset + permutation.draw() * align,
            Walk::Independent(skew) => region.offset + skew.draw(*slots, &mut self.rng) * align,
            Walk::Strided(zones) => zones.next(*region, op, len),
        }
    }

    /// Goes on from an offset drawn before, for `run_length` I/Os.
    fn next_of_run(&mut self, op: Op, len: u64, in_line: bool) -> (usize, u64) {
        if self.run.left == 0 {
            let place = self.draw_place();
            let offset = self.next_offset(place, op, len, in_line);
            self.run = Run { left: self.access.run_length, place, offset };
        }
        self.run.left -= 1;
        let Run { place, offset, .. } = self.run;
        let region = self.places[place].region;
        if !self.access.run_identical {
            self.run.offset = if offset + 2 * len > region.offset + region.len { region.offset } else { offset + len };
        }
        (place, offset)
    }

    #[inline]
    pub(super) fn next(&mut self) -> Option<Request> {
        self.next_steered(|op| op)
    }

    pub(super) fn next_steered(&mut self, steer: impl FnOnce(Op) -> Op) -> Option<Request> {
        if self.bytes_left == 0 || self.ios_left == 0 {
            return None;
        }
        if let Some(write) = self.pending.take() {
            self.ios_left -= 1;
            self.bytes_left = self.bytes_left.saturating_sub(u64::from(write.len));
            return Some(write);
        }
        let op = steer(self.draw_op());
        let in_line = self.draw_in_line(op);
        let len = self.draw_len(op, in_line);
        let (place, offset) = if self.access.random && self.access.run_length > 1 {
            self.next_of_run(op, u64::from(len), in_line)
        } else {
            let place = self.draw_place();
            (place, self.next_offset(place, op, u64::from(len), in_line))
        };
        let Place { region, behind, .. } = &mut self.places[place];
        // A large block drawn near the end is cut to what is left there.
        let len = u64::from(len).min(region.offset + region.len - offset);
        behind[op] = offset + len;
        if let Some(turns) = &mut self.turns {
            turns.spend(place, len, self.smallest);
        }
        let request = Request { op, region: place as u32, offset, len: len as u32 };
        if self.access.trim_before_write {
            self.pending = Some(request);
            return Some(Request { op: Op::Trim, ..request });
        }
        self.ios_left -= 1;
        self.bytes_left = self.bytes_left.saturating_sub(len);
        self.end_loop();
        Some(request)
    }

    /// Ends a loop through zones where its region ends.
    fn end_loop(&mut self) {
        let [Place { region, walk: Walk::Strided(zones), .. }] = &mut self.places[..] else { return };
        if !zones.is_through(*region, self.smallest) {
            return;
        }
        zones.begin_pass(*region);
        if let Some(bytes) = self.loop_bytes {
            self.bytes_left -= self.bytes_left % bytes;
        }
    }
}

/// Bytes of a loop that ends with its region: one that was asked for another number of bytes begins again there.
fn loop_bytes(plan: &StreamPlan) -> Option<u64> {
    let room: u64 = plan.regions.iter().map(|region| region.len).sum();
    plan.pass_bytes.or(plan.limit_bytes).filter(|bytes| *bytes == room && room > 0)
}
