//! The requests of one worker, as a pure iterator: same plan, same seed, same requests.
//!
//! Nothing is remembered but a few numbers: random jobs visit each block once a pass by a permutation that is computed,
//! not stored.

use crate::job::{Access, BlockSize, Distribution, Op, PerOp};
use crate::rng::Rng;
use serde::{Deserialize, Serialize};

/// One I/O to issue.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Request {
    /// What to do.
    pub op: Op,
    /// Index into the worker's regions.
    pub region: u32,
    /// Byte offset within the file.
    pub offset: u64,
    /// Bytes.
    pub len: u32,
}

/// The part of one file that a worker uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Region {
    /// Index into the files of the phase.
    pub file: u32,
    /// First byte.
    pub offset: u64,
    /// Bytes.
    pub len: u64,
}

/// All that decides the requests of a worker.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StreamPlan {
    /// Where; not empty, and each at least one block long.
    pub regions: Vec<Region>,
    /// Sequential or random, which operations.
    pub access: Access,
    /// How large.
    pub block: PerOp<BlockSize>,
    /// What offsets are multiples of.
    pub align: u64,
    /// Bytes to transfer; `None` never ends.
    pub limit_bytes: Option<u64>,
    /// I/Os to issue; `None` never ends.
    pub limit_ios: Option<u64>,
    /// Seed of offsets, sizes and mix.
    pub seed: u64,
}

/// A random order of `0..n` in constant memory: each number once, then a new order.
///
/// A counter goes through three rounds of an invertible multiply-and-shift on just enough bits for `n`; what falls
/// outside is skipped, under one in two. A bijection of the counter, so nothing repeats (as format-preserving
/// encryption does by "cycle walking", Black and Rogaway 2002).
#[derive(Clone, Debug)]
pub struct Permutation {
    n: u64,
    mask: u64,
    shift: u32,
    counter: u64,
    left: u64,
    keys: [u64; 4],
    rng: Rng,
}

impl Permutation {
    /// A random order of `0..n`; `n` is at least 1.
    pub fn new(n: u64, rng: Rng) -> Permutation {
        let n = n.max(1);
        let bits = (64 - (n - 1).leading_zeros()).max(2);
        let mask = if bits == 64 { u64::MAX } else { (1 << bits) - 1 };
        let mut permutation = Permutation { n, mask, shift: bits.div_ceil(2), counter: 0, left: 0, keys: [0; 4], rng };
        permutation.begin_pass();
        permutation
    }

    fn begin_pass(&mut self) {
        for key in &mut self.keys {
            *key = self.rng.next_u64() | 1;
        }
        self.counter = 0;
        self.left = self.n;
    }

    /// The next number; begins a new order when all have been given.
    #[inline]
    pub fn draw(&mut self) -> u64 {
        if self.left == 0 {
            self.begin_pass();
        }
        self.left -= 1;
        loop {
            let mut x = self.counter.wrapping_add(self.keys[3]) & self.mask;
            self.counter = self.counter.wrapping_add(1);
            for key in &self.keys[..3] {
                x = x.wrapping_mul(*key) & self.mask;
                x ^= x >> self.shift;
            }
            if x < self.n {
                return x;
            }
        }
    }
}

/// Where the next I/O of a region goes.
#[derive(Clone, Debug)]
enum Walk {
    Sequential { next: PerOp<u64> },
    EachOnce(Permutation),
    Independent(Skew),
}

/// A distribution, prepared for drawing.
#[derive(Clone, Debug)]
enum Skew {
    Uniform,
    Zipf(Zipf),
    Pareto { power: f64 },
    Normal { deviation: f64 },
    Zoned(Vec<(f64, f64, f64)>),
}

/// Zipf by the approximation of Gray et al. (1994), "Quickly generating billion-record synthetic databases".
#[derive(Clone, Debug)]
struct Zipf {
    theta: f64,
    zeta_n: f64,
    zeta_2: f64,
    alpha: f64,
    eta: f64,
}

/// How many terms of the zeta sum are added one by one; the rest is its integral.
const ZETA_TERMS: u64 = 100_000;

impl Zipf {
    fn new(n: u64, theta: f64) -> Zipf {
        // The sum has a pole at 1 that the approximation cannot cross.
        let theta = if (theta - 1.0).abs() < 1e-6 { 1.0 + 1e-6 } else { theta };
        let direct = n.min(ZETA_TERMS);
        let mut zeta_n: f64 = (1..=direct).map(|i| (i as f64).powf(-theta)).sum();
        if n > direct {
            zeta_n += ((n as f64).powf(1.0 - theta) - (direct as f64).powf(1.0 - theta)) / (1.0 - theta);
        }
        let zeta_2 = 1.0 + 0.5f64.powf(theta);
        let eta = (1.0 - (2.0 / n as f64).powf(1.0 - theta)) / (1.0 - zeta_2 / zeta_n);
        Zipf { theta, zeta_n, zeta_2, alpha: 1.0 / (1.0 - theta), eta }
    }

    fn draw(&self, n: u64, rng: &mut Rng) -> u64 {
        let u = rng.unit();
        let uz = u * self.zeta_n;
        if uz < 1.0 {
            return 0;
        }
        if uz < self.zeta_2 && self.theta > 0.0 {
            return 1.min(n - 1);
        }
        let rank = n as f64 * (self.eta * u - self.eta + 1.0).powf(self.alpha);
        (rank as u64).min(n - 1)
    }
}

/// Spreads ranks over the file, so that the hot blocks are not all at its start.
fn scatter(rank: u64, n: u64) -> u64 {
    let mut r = Rng::new(rank);
    r.below(n)
}

impl Skew {
    fn new(distribution: &Distribution, n: u64) -> Skew {
        match distribution {
            Distribution::Uniform => Skew::Uniform,
            Distribution::Zipf(theta) => Skew::Zipf(Zipf::new(n, *theta)),
            Distribution::Pareto(power) => Skew::Pareto { power: power.clamp(1e-6, 1.0 - 1e-6) },
            Distribution::Normal(percent) => Skew::Normal { deviation: percent / 100.0 },
            Distribution::Zoned(zones) => {
                let (mut access, mut place) = (0.0, 0.0);
                let zones = zones.iter().map(|zone| {
                    access += zone.access_percent / 100.0;
                    let from = place;
                    place += zone.size_percent / 100.0;
                    (access, from, place)
                });
                Skew::Zoned(zones.collect())
            }
        }
    }

    fn draw(&self, n: u64, rng: &mut Rng) -> u64 {
        let block = match self {
            Skew::Uniform => rng.below(n),
            Skew::Zipf(zipf) => scatter(zipf.draw(n, rng), n),
            Skew::Pareto { power } => {
                // Inverse of the Pareto law with shape log(h)/log(1-h): a share h of the accesses falls on 1-h of the blocks.
                let exponent = power.ln() / (1.0 - power).ln();
                scatter((n as f64 * rng.unit().powf(1.0 / exponent.max(1e-9))) as u64, n)
            }
            Skew::Normal { deviation } => {
                // Box and Muller (1958).
                let radius = (-2.0 * (1.0 - rng.unit()).ln()).sqrt();
                let z = radius * (std::f64::consts::TAU * rng.unit()).cos();
                ((0.5 + z * deviation).clamp(0.0, 1.0) * n as f64) as u64
            }
            Skew::Zoned(zones) => {
                let u = rng.unit();
                let zone = zones.iter().find(|z| u < z.0).or(zones.last());
                zone.map_or(0, |&(_, from, to)| ((from + (to - from) * rng.unit()) * n as f64) as u64)
            }
        };
        block.min(n - 1)
    }
}

/// One region with its state.
#[derive(Clone, Debug)]
struct Place {
    region: Region,
    /// Blocks of `align` bytes at which an I/O of the smallest size still fits.
    slots: u64,
    walk: Walk,
}

/// The requests of a worker; see [`StreamPlan::requests`].
#[derive(Clone, Debug)]
pub struct RequestStream(Kind);

/// Most jobs need little: one operation, one size, one region. They are worth a short way of their own, because the
/// engine asks for a request at every I/O.
#[derive(Clone, Debug)]
enum Kind {
    Plain(PlainStream),
    General(Box<GeneralStream>),
}

/// One operation of one size in one region, each block once or one after another.
#[derive(Clone, Debug)]
struct PlainStream {
    op: Op,
    len: u32,
    region: Region,
    left: u64,
    endless: bool,
    order: PlainOrder,
}

#[derive(Clone, Debug)]
enum PlainOrder {
    Line { next: u64 },
    EachOnce { permutation: Permutation, align: u64 },
}

impl PlainStream {
    #[inline]
    fn next(&mut self) -> Option<Request> {
        if self.left == 0 {
            return None;
        }
        self.left -= 1;
        let Region { offset: start, len: room, .. } = self.region;
        let offset = match &mut self.order {
            PlainOrder::EachOnce { permutation, align } => start + permutation.draw() * *align,
            PlainOrder::Line { next } => {
                let len = u64::from(self.len);
                let at = if *next + len > start + room { start } else { *next };
                *next = at + len;
                at
            }
        };
        Some(Request { op: self.op, region: 0, offset, len: self.len })
    }
}

#[derive(Clone, Debug)]
struct GeneralStream {
    places: Vec<Place>,
    turn: usize,
    access: Access,
    block: PerOp<BlockSize>,
    align: u64,
    /// The operation, when there is only one.
    single_op: Option<Op>,
    /// The size, when there is only one.
    single_len: Option<u32>,
    rng: Rng,
    bytes_left: u64,
    ios_left: u64,
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

impl StreamPlan {
    /// The requests, from the first.
    pub fn requests(&self) -> RequestStream {
        let StreamPlan { regions, access, block, align, limit_bytes, limit_ios, seed } = self;
        let used: Vec<Op> = Op::ALL.into_iter().filter(|&op| access.does(op)).collect();
        let smallest = used.iter().map(|&op| block[op].min().0).min().unwrap_or(1).max(1);
        let align = (*align).max(1);
        let single_op = (used.len() == 1).then(|| used[0]);
        let single_len = single_op.and_then(|op| match &block[op] {
            BlockSize::Fixed(bytes) => u32::try_from(bytes.0).ok(),
            _ => None,
        });
        if let (Some(op), Some(len)) = (single_op, single_len)
            && let Some(plain) = self.plain(op, len, align)
        {
            return RequestStream(Kind::Plain(plain));
        }
        let places = regions.iter().enumerate().map(|(i, &region)| {
            let slots = region.len.checked_sub(smallest).map_or(1, |room| room / align + 1);
            Place { region, slots, walk: Walk::new(access, region, slots, Rng::fork(*seed, 1 + i as u64)) }
        });
        RequestStream(Kind::General(Box::new(GeneralStream {
            places: places.collect(),
            turn: 0,
            access: access.clone(),
            block: block.clone(),
            align,
            single_op,
            single_len,
            rng: Rng::fork(*seed, 0),
            bytes_left: limit_bytes.unwrap_or(u64::MAX),
            ios_left: limit_ios.unwrap_or(u64::MAX),
            run: Run::default(),
            pending: None,
        })))
    }

    /// The short way, for those jobs that can take it.
    fn plain(&self, op: Op, len: u32, align: u64) -> Option<PlainStream> {
        let [region] = self.regions[..] else { return None };
        let Access { random, every_block_once, stride, run_length, ref distribution, .. } = self.access;
        let order = match (random, every_block_once, distribution) {
            (false, ..) if stride == 0 => PlainOrder::Line { next: region.offset },
            (true, true, Distribution::Uniform) if run_length == 1 => {
                let slots = region.len.checked_sub(len.into()).map_or(1, |room| room / align + 1);
                PlainOrder::EachOnce { permutation: Permutation::new(slots, Rng::fork(self.seed, 1)), align }
            }
            _ => return None,
        };
        // A block as large as its region, or one that goes past its end, is cut: that is for the long way.
        let fits = region.len >= u64::from(len) && len > 0;
        let by_bytes = self.limit_bytes.map_or(u64::MAX, |bytes| bytes.div_ceil(u64::from(len.max(1))));
        let left = by_bytes.min(self.limit_ios.unwrap_or(u64::MAX));
        fits.then_some(PlainStream { op, len, region, left, endless: self.limit_bytes.is_none(), order })
    }
}

impl Walk {
    fn new(access: &Access, region: Region, slots: u64, rng: Rng) -> Walk {
        match (access.random, access.every_block_once, &access.distribution) {
            (false, ..) => {
                let start = if access.stride < 0 { region.offset + region.len } else { region.offset };
                Walk::Sequential { next: PerOp::all(start) }
            }
            (true, true, Distribution::Uniform) => Walk::EachOnce(Permutation::new(slots, rng)),
            (true, _, distribution) => Walk::Independent(Skew::new(distribution, slots)),
        }
    }
}

impl RequestStream {
    /// Bytes still to come; `u64::MAX` when it never ends by bytes.
    pub fn bytes_left(&self) -> u64 {
        match &self.0 {
            Kind::Plain(plain) if plain.endless => u64::MAX,
            Kind::Plain(plain) => plain.left.saturating_mul(u64::from(plain.len)),
            Kind::General(general) => general.bytes_left,
        }
    }
}

impl Iterator for RequestStream {
    type Item = Request;

    // The engine's loop is compiled in another crate, and this is most of what it does besides the I/O itself.
    #[inline(always)]
    fn next(&mut self) -> Option<Request> {
        match &mut self.0 {
            Kind::Plain(plain) => plain.next(),
            Kind::General(general) => general.next(),
        }
    }
}

impl GeneralStream {
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

    fn draw_len(&mut self, op: Op) -> u32 {
        if let Some(len) = self.single_len {
            return len;
        }
        let bytes = match &self.block[op] {
            BlockSize::Fixed(bytes) => return bytes.0 as u32,
            BlockSize::Range { min, max } => {
                let steps = (max.0 - min.0) / self.align + 1;
                min.0 + self.rng.below(steps) * self.align
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
        let left = self.bytes_left.checked_next_multiple_of(self.align).unwrap_or(u64::MAX);
        bytes.min(left) as u32
    }

    fn draw_place(&mut self) -> usize {
        if self.places.len() == 1 {
            return 0;
        }
        let place = self.turn;
        self.turn = (self.turn + 1) % self.places.len();
        place
    }

    fn next_offset(&mut self, place: usize, op: Op, len: u64) -> u64 {
        let (stride, align) = (self.access.stride, self.align);
        let Place { region, slots, walk } = &mut self.places[place];
        match walk {
            Walk::Sequential { next } => next_in_line(&mut next[op], *region, len, stride),
            Walk::EachOnce(permutation) => region.offset + permutation.draw() * align,
            Walk::Independent(skew) => region.offset + skew.draw(*slots, &mut self.rng) * align,
        }
    }

    /// Goes on from an offset drawn before, for `run_length` I/Os.
    fn next_of_run(&mut self, op: Op, len: u64) -> (usize, u64) {
        if self.run.left == 0 {
            let place = self.draw_place();
            let offset = self.next_offset(place, op, len);
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
}

/// The next offset of a sequential job, which begins again where its region ends.
#[inline]
fn next_in_line(next: &mut u64, region: Region, len: u64, stride: i64) -> u64 {
    let end = region.offset + region.len;
    if stride < 0 {
        let step = len + stride.unsigned_abs();
        let at = if *next < region.offset + len { end - len } else { *next - len };
        *next = at.saturating_sub(step - len).max(region.offset);
        return at;
    }
    let at = if *next + len > end { region.offset } else { *next };
    *next = at + len + stride as u64;
    at
}

impl GeneralStream {
    fn next(&mut self) -> Option<Request> {
        if self.bytes_left == 0 || self.ios_left == 0 {
            return None;
        }
        if let Some(write) = self.pending.take() {
            self.ios_left -= 1;
            self.bytes_left = self.bytes_left.saturating_sub(u64::from(write.len));
            return Some(write);
        }
        let op = self.draw_op();
        let mut len = self.draw_len(op);
        let (place, offset) = if self.access.random && self.access.run_length > 1 {
            self.next_of_run(op, u64::from(len))
        } else {
            let place = self.draw_place();
            (place, self.next_offset(place, op, u64::from(len)))
        };
        let Region { offset: start, len: room, .. } = self.places[place].region;
        // A large block drawn near the end is cut to what is left there.
        len = u64::from(len).min(start + room - offset) as u32;
        let request = Request { op, region: place as u32, offset, len };
        if self.access.trim_before_write {
            self.pending = Some(request);
            return Some(Request { op: Op::Trim, ..request });
        }
        self.ios_left -= 1;
        self.bytes_left = self.bytes_left.saturating_sub(u64::from(len));
        Some(request)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::Bytes;
    use proptest::prelude::*;
    use std::collections::HashSet;

    fn plan(access: Access, block: u64, len: u64, limit: Option<u64>) -> StreamPlan {
        StreamPlan {
            regions: vec![Region { file: 0, offset: 4096, len }],
            access,
            block: PerOp::all(BlockSize::Fixed(Bytes(block))),
            align: block,
            limit_bytes: limit,
            limit_ios: None,
            seed: 42,
        }
    }

    #[test]
    fn sequential_goes_in_line_and_begins_again() {
        let stream = plan(Access::only(Op::Read, false), 1024, 3 * 1024 + 100, Some(5 * 1024)).requests();
        let offsets: Vec<u64> = stream.map(|r| r.offset).collect();
        assert_eq!(offsets, [4096, 5120, 6144, 4096, 5120]);
    }

    #[test]
    fn mixed_sequential_keeps_a_position_for_each_operation() {
        let requests: Vec<Request> = plan(Access::mixed(50, false), 1024, 1 << 20, Some(1 << 20)).requests().collect();
        for op in [Op::Read, Op::Write] {
            let offsets: Vec<u64> = requests.iter().filter(|r| r.op == op).map(|r| r.offset).collect();
            assert!((400..624).contains(&offsets.len()), "{} of {op:?}", offsets.len());
            assert!(offsets.iter().enumerate().all(|(i, &o)| o == 4096 + 1024 * i as u64));
        }
    }

    #[test]
    fn a_backward_job_reads_from_the_end() {
        let mut access = Access::only(Op::Read, false);
        access.stride = -1024;
        let offsets: Vec<u64> =
            plan(access, 1024, 8 * 1024, Some(4 * 1024)).requests().map(|r| r.offset - 4096).collect();
        assert_eq!(offsets, [7168, 5120, 3072, 1024]);
    }

    #[test]
    fn runs_follow_a_drawn_offset() {
        let mut access = Access::only(Op::Read, true);
        access.run_length = 4;
        let offsets: Vec<u64> = plan(access, 1024, 1 << 20, Some(64 * 1024)).requests().map(|r| r.offset).collect();
        let breaks = offsets.windows(2).filter(|w| w[1] != w[0] + 1024).count();
        assert!((14..=16).contains(&breaks), "{breaks} breaks in {offsets:?}");
    }

    #[test]
    fn trim_comes_before_its_write() {
        let mut access = Access::only(Op::Write, false);
        access.trim_before_write = true;
        let ops: Vec<(Op, u64)> =
            plan(access, 1024, 1 << 20, Some(2048)).requests().map(|r| (r.op, r.offset)).collect();
        assert_eq!(ops, [(Op::Trim, 4096), (Op::Write, 4096), (Op::Trim, 5120), (Op::Write, 5120)]);
    }

    #[test]
    fn skewed_jobs_prefer_few_blocks() {
        for (distribution, most) in
            [(Distribution::Zipf(1.2), 0.4), (Distribution::Pareto(0.2), 0.5), (Distribution::Uniform, 1.0)]
        {
            let mut access = Access::only(Op::Read, true);
            access.every_block_once = false;
            access.distribution = distribution.clone();
            let n = 20_000;
            let seen: HashSet<u64> =
                plan(access, 4096, 4096 * n, Some(4096 * n)).requests().map(|r| r.offset).collect();
            let share = seen.len() as f64 / n as f64;
            assert!(share < most, "{distribution:?} touched {share} of the blocks");
        }
    }

    proptest! {
        #[test]
        fn a_random_pass_covers_each_block_once(blocks in 1u64..3000, seed: u64) {
            let mut p = plan(Access::only(Op::Write, true), 512, 512 * blocks, Some(2 * 512 * blocks));
            p.seed = seed;
            let offsets: Vec<u64> = p.requests().map(|r| r.offset).collect();
            for pass in offsets.chunks(blocks as usize) {
                let seen: HashSet<u64> = pass.iter().copied().collect();
                prop_assert_eq!(seen.len() as u64, blocks);
                prop_assert!(seen.iter().all(|o| (4096..4096 + 512 * blocks).contains(o)));
            }
        }

        #[test]
        fn requests_stay_inside_their_region(
            len in 16_384u64..1 << 22, stride in -9000i64..9000, random: bool, once: bool, run in 1u32..5, seed: u64,
        ) {
            let mut access = Access::mixed(30, random);
            access.stride = if random { 0 } else { stride };
            access.every_block_once = once;
            access.run_length = run;
            let mut p = plan(access, 512, len, Some(1 << 20));
            p.block.write = BlockSize::Range { min: Bytes(512), max: Bytes(16_384) };
            p.align = 512;
            p.seed = seed;
            for r in p.requests() {
                prop_assert!(r.offset >= 4096 && r.offset + u64::from(r.len) <= 4096 + len && r.len > 0, "{:?}", r);
            }
        }

        #[test]
        fn one_seed_one_stream(seed: u64) {
            let mut p = plan(Access::mixed(50, true), 512, 1 << 16, Some(1 << 16));
            p.seed = seed;
            prop_assert_eq!(p.requests().collect::<Vec<_>>(), p.requests().collect::<Vec<_>>());
        }
    }

    #[test]
    fn a_permutation_looks_random() {
        // Neighbours in a shuffled order of n are n/3 apart on average.
        let n = 1u64 << 18;
        let mut p = Permutation::new(n, crate::rng::Rng::new(3));
        let order: Vec<u64> = (0..n).map(|_| p.draw()).collect();
        let mean = order.windows(2).map(|w| w[0].abs_diff(w[1]) as f64).sum::<f64>() / (n - 1) as f64;
        assert!((mean / (n as f64 / 3.0) - 1.0).abs() < 0.02, "mean distance {mean}");
        let first_half: u64 = order[..n as usize / 2].iter().filter(|&&x| x < n / 2).count() as u64;
        assert!(first_half.abs_diff(n / 4) < n / 100);
    }
}
