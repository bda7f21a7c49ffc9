//! Request stream of one worker: a pure iterator, with the same requests for the same plan and seed.
//!
//! The state is a few numbers: random jobs access each block once per pass by a computed permutation, without stored
//! lists.

mod general;
mod injected;
mod permutation;
mod pieces;
mod random_map;
mod skew;
mod strided;
mod turns;

pub use self::permutation::Permutation;
pub use crate::request::IoRequest;

use self::general::GeneralStream;
use self::injected::InjectedRequests;
use crate::job::rules::{BlockSizeRules, FileOrder, FileTurns, TraversalOrder, Zones};
use crate::job::{Access, BlockSize, Distribution, Op, PerOp};
use crate::rng::Rng;
use serde::{Deserialize, Serialize};

/// Region: the part of one file that a worker uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Region {
    /// Index into the files of the phase.
    pub file: u32,
    /// First byte.
    pub offset: u64,
    /// Bytes.
    pub len: u64,
    /// Size of the whole file once the job has created it; 0 if unknown. A job with gaps that jumps past the end starts
    /// again.
    #[serde(default)]
    pub file_len: u64,
}

/// Behavior after the last pass through all regions if fewer bytes than [`StreamPlan::limit_bytes`] were transferred.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PassEnd {
    /// Starts another pass.
    #[default]
    Repeat,
    /// Stops.
    Stop,
    /// Starts another pass while at least the largest block is missing to this number of bytes.
    MoveBytes(u64),
}

/// Plan of a worker's requests.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StreamPlan {
    /// Regions; at least one, and each at least one block long.
    pub regions: Vec<Region>,
    /// Access pattern: sequential or random, and which operations.
    pub access: Access,
    /// Block sizes per operation.
    pub block: PerOp<BlockSize>,
    /// Alignment of offsets in bytes.
    pub align: u64,
    /// Bytes to transfer; `None`: no limit.
    pub limit_bytes: Option<u64>,
    /// I/Os to issue; `None`: no limit.
    pub limit_ios: Option<u64>,
    /// Seed of offsets, sizes and mix.
    pub seed: u64,
    /// Bytes of each of several passes: the queue drains before the next pass. `None` for a single pass.
    #[serde(default)]
    pub pass_bytes: Option<u64>,
    /// Minimum number of passes through all regions, unless bytes or I/Os end the stream first.
    #[serde(default = "one")]
    pub loops: u32,
    /// Behavior after these passes.
    #[serde(default)]
    pub pass_end: PassEnd,
    /// Selection of the next file, if there are several.
    #[serde(default)]
    pub turns: FileTurns,
    /// Selection of I/O sizes.
    #[serde(default)]
    pub sizes: BlockSizeRules,
    /// Start offsets of the passes after the first, for each region; empty if all passes start at the same offset. As
    /// in fio, an offset in percent then refers to the file that the job created.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub later_starts: Vec<u64>,
    /// Bytes after which a pass ends even if its regions go on, and the next one repeats it from the start. As in fio,
    /// engines with a queue do so at the end of `size`, while others continue to the end of the files.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub restart_bytes: Option<u64>,
    /// Whether these passes draw their own offsets instead of repeating those of the first.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub draws_anew: bool,
}

fn one() -> u32 {
    1
}

/// Iterator over the requests of a worker; see [`StreamPlan::requests`].
#[derive(Clone, Debug)]
pub struct RequestStream(StreamKind);

/// Implementations of a stream. Most jobs have one operation, one size and one region. They have a fast path, because
/// the engine gets a request for each I/O.
#[derive(Clone, Debug)]
enum StreamKind {
    Plain(PlainStream),
    General(Box<GeneralStream>),
    Front(Box<InjectedRequests>),
}

/// Fast path: one size in one region, with one operation (each block once, or consecutive blocks) or several operations
/// that share an order with each block once. See [`RequestStream::as_plain`].
#[derive(Clone, Debug)]
pub struct PlainStream {
    op: Op,
    mix: Option<Mix>,
    len: u32,
    region: Region,
    left: u64,
    endless: bool,
    /// Whether fewer bytes are transferred in all than the job requests.
    falls_short: bool,
    order: PlainOrder,
}

/// Draws the operation of each request by percentages.
#[derive(Clone, Debug)]
struct Mix {
    rng: Rng,
    /// Smallest drawn numbers of the second and of the third operation.
    bounds: [u64; 2],
    ops: [Op; 3],
}

impl Mix {
    /// Creates the mix of these percentages of reads, and of reads and writes.
    fn new(rng: Rng, percent: [u32; 2]) -> Mix {
        // The smallest `n` with `n * 100 / 2^64 >= percent`, which is what `Rng::below(100)` computes. 100% is beyond
        // the largest `n`, which therefore belongs to the operation before.
        let bound = |percent: u32| (u128::from(percent) << 64).div_ceil(100);
        let largest = |bound: u128| u64::try_from(bound).unwrap_or(u64::MAX);
        let [read, write, trim] = Op::ALL;
        let second = if percent[0] < 100 { write } else { read };
        Mix {
            rng,
            bounds: percent.map(|percent| largest(bound(percent))),
            ops: [read, second, if percent[1] < 100 { trim } else { second }],
        }
    }

    // A CPU cannot predict the pattern of a mix, so this avoids branches.
    #[inline(always)]
    fn draw(&mut self) -> Op {
        let drawn = self.rng.next_u64();
        self.ops[usize::from(drawn >= self.bounds[0]) + usize::from(drawn >= self.bounds[1])]
    }
}

#[derive(Clone, Debug)]
enum PlainOrder {
    Line {
        next: u64,
    },
    EachOnce {
        permutation: Permutation,
        align: u64,
    },
}

impl Iterator for PlainStream {
    type Item = IoRequest;

    // A function call would return the request in memory in parts, and the loop would wait to read it.
    #[inline(always)]
    fn next(&mut self) -> Option<IoRequest> {
        self.next_steered(|op| op)
    }
}

impl PlainStream {
    /// Size of each request in bytes.
    pub fn block(&self) -> u32 {
        self.len
    }

    #[inline(always)]
    fn next_steered(&mut self, steer: impl FnOnce(Op) -> Op) -> Option<IoRequest> {
        if self.left == 0 {
            return None;
        }
        self.left -= 1;
        let op = match &mut self.mix {
            None => self.op,
            Some(mix) => steer(mix.draw()),
        };
        let Region {
            offset: start,
            len: room,
            ..
        } = self.region;
        let offset = match &mut self.order {
            PlainOrder::EachOnce { permutation, align } => start + permutation.draw() * *align,
            PlainOrder::Line { next } => {
                let len = u64::from(self.len);
                let at = if *next + len > start + room {
                    start
                } else {
                    *next
                };
                *next = at + len;
                at
            }
        };
        Some(IoRequest {
            op,
            region: 0,
            offset,
            len: self.len,
        })
    }
}

impl StreamPlan {
    /// Returns the requests, from the first.
    pub fn requests(&self) -> RequestStream {
        let used: Vec<Op> = Op::ALL
            .into_iter()
            .filter(|&op| self.access.does(op))
            .collect();
        let single_op = (used.len() == 1).then(|| used[0]);
        let single_len = single_op.and_then(|op| match &self.block[op] {
            BlockSize::Fixed(bytes) => u32::try_from(bytes.0).ok(),
            _ => None,
        });
        let mix = self.mix(&used);
        if let Some(&first) = used.first()
            && let Some(len) =
                single_len.or_else(|| mix.as_ref().and_then(|_| self.common_len(&used)))
            && let Some(plain) = self.plain(first, mix, len, self.align.max(1))
        {
            return RequestStream(StreamKind::Plain(plain));
        }
        RequestStream(StreamKind::General(Box::new(GeneralStream::new(
            self, single_op, single_len,
        ))))
    }

    /// Whether a pass of `bytes` reaches the end of all regions, or the next one repeats it from the start.
    pub fn closes_regions(&self, bytes: u64) -> bool {
        let Access {
            random,
            every_block_once,
            run_length,
            ref percentage_random,
            ref zones,
            ..
        } = self.access;
        let mapped = every_block_once && run_length == 1 && percentage_random.is_none();
        let skewed = !matches!(
            self.turns.order,
            FileOrder::RoundRobin | FileOrder::Sequential | FileOrder::Random
        );
        let ends = (mapped || !random) && *zones == Zones::None && !skewed;
        let whole = self.regions.iter().map(|region| region.len).sum();
        self.restart_bytes.is_some() || ends && bytes >= whole
    }

    /// Returns the selection of operations, if there are several.
    fn mix(&self, used: &[Op]) -> Option<Mix> {
        let shares = self.access.mix;
        let percent = [shares.read, shares.read + shares.write];
        let drawn = used.len() > 1 && !self.access.trim_before_write;
        drawn.then(|| Mix::new(Rng::fork(self.seed, 0), percent))
    }

    /// Returns the size of all I/Os, if these operations have a single size.
    fn common_len(&self, used: &[Op]) -> Option<u32> {
        let fixed = |op: &Op| match &self.block[*op] {
            BlockSize::Fixed(bytes) => u32::try_from(bytes.0).ok(),
            _ => None,
        };
        let len = fixed(used.first()?)?;
        used.iter().all(|op| fixed(op) == Some(len)).then_some(len)
    }

    /// Returns the fast path, for jobs that support it.
    fn plain(&self, op: Op, mix: Option<Mix>, len: u32, align: u64) -> Option<PlainStream> {
        let [region] = self.regions[..] else {
            return None;
        };
        if self.access.zones != Zones::None
            || !self.later_starts.is_empty()
            || self.access.percentage_random.is_some()
            || self.access.order != TraversalOrder::Forward
        {
            return None;
        }
        let Access {
            random,
            every_block_once,
            stride,
            run_length,
            ref distribution,
            ..
        } = self.access;
        let order = match (random, every_block_once, distribution) {
            // Each operation continues at its own last offset.
            (false, ..) if stride == 0 && mix.is_none() => PlainOrder::Line {
                next: region.offset,
            },
            (true, true, Distribution::Uniform) if run_length == 1 => {
                let slots = region
                    .len
                    .checked_sub(len.into())
                    .map_or(1, |room| room / align + 1);
                PlainOrder::EachOnce {
                    permutation: Permutation::new(slots, Rng::fork(self.seed, 1)),
                    align,
                }
            }
            _ => return None,
        };
        // A block that is larger than its region or extends past its end is cut, which the general path handles.
        let fits = region.len >= u64::from(len) && len > 0;
        let per_pass = match &order {
            PlainOrder::Line { .. } => region.len / u64::from(len.max(1)),
            PlainOrder::EachOnce { permutation, .. } => permutation.left(),
        };
        let pass = per_pass.saturating_mul(len.into());
        if self.restart_bytes.is_some_and(|bytes| bytes < pass) {
            return None;
        }
        let left = self
            .ios_of(len.into(), per_pass)?
            .min(self.limit_ios.unwrap_or(u64::MAX));
        let falls_short = self
            .limit_bytes
            .is_some_and(|bytes| left.saturating_mul(len.into()) < bytes);
        let endless = self.limit_bytes.is_none();
        fits.then_some(PlainStream {
            op,
            mix,
            len,
            region,
            left,
            endless,
            falls_short,
            order,
        })
    }

    /// Returns the total number of I/Os of one size, with `per_pass` in each pass; `None` if passes do not end with a
    /// whole number of them.
    fn ios_of(&self, len: u64, per_pass: u64) -> Option<u64> {
        let (len, per_pass, loops) = (len.max(1), per_pass.max(1), u64::from(self.loops));
        if self
            .pass_bytes
            .is_some_and(|pass| pass != per_pass.saturating_mul(len))
        {
            return None;
        }
        let by_bytes = self
            .limit_bytes
            .map_or(u64::MAX, |bytes| bytes.div_ceil(len));
        let passes = match self.pass_end {
            PassEnd::Repeat => return Some(by_bytes),
            PassEnd::Stop => loops,
            // A pass starts while at least one block is missing.
            PassEnd::MoveBytes(bytes) => {
                let begins_below = (bytes + 1).saturating_sub(self.largest_block());
                loops.max(begins_below.div_ceil(per_pass.saturating_mul(len)))
            }
        };
        Some(by_bytes.min(per_pass.saturating_mul(passes.max(1))))
    }
}

impl RequestStream {
    /// Returns the remaining bytes; `u64::MAX` if bytes do not limit the stream.
    pub fn bytes_left(&self) -> u64 {
        match &self.0 {
            StreamKind::Plain(plain) if plain.endless => u64::MAX,
            StreamKind::Plain(plain) => plain.left.saturating_mul(u64::from(plain.len)),
            StreamKind::General(general) => general.bytes_left(),
            StreamKind::Front(front) => front.bytes_left(),
        }
    }

    /// Returns the fast path if the job uses it. A loop over many requests then does not check the path for each, and
    /// keeps the state in registers.
    #[inline]
    pub fn as_plain(&mut self) -> Option<&mut PlainStream> {
        match &mut self.0 {
            StreamKind::Plain(plain) => Some(plain),
            StreamKind::General(_) | StreamKind::Front(_) => None,
        }
    }

    /// Whether all requested data has been drawn. A job whose regions end earlier is not over: only the next request
    /// shows that nothing is left.
    pub fn is_over(&self) -> bool {
        match &self.0 {
            StreamKind::Plain(plain) => plain.left == 0 && !plain.falls_short,
            StreamKind::General(general) => general.is_over(),
            StreamKind::Front(front) => front.is_over(),
        }
    }

    /// Returns the next request, with the drawn operation replaced by `steer`: a job with separate rates for reads and
    /// writes issues the operation that is due. Only jobs with several operations call `steer`.
    pub fn next_steered(&mut self, steer: impl FnOnce(Op) -> Op) -> Option<IoRequest> {
        match &mut self.0 {
            StreamKind::Plain(plain) => plain.next_steered(steer),
            StreamKind::General(general) => general.next_steered(steer),
            StreamKind::Front(front) => front.next(),
        }
    }

    /// Creates a stream of only these requests.
    pub fn listed(requests: Vec<IoRequest>) -> RequestStream {
        RequestStream(StreamKind::Front(Box::new(InjectedRequests::new(
            requests, None,
        ))))
    }

    /// Whether the last request was injected or listed.
    pub fn gave_listed(&self) -> bool {
        matches!(&self.0, StreamKind::Front(front) if front.gave_queued)
    }

    /// Inserts requests before the remaining ones: written data is read back between two writes.
    pub fn put_in_front(&mut self, requests: Vec<IoRequest>) {
        if let StreamKind::Front(front) = &mut self.0 {
            return front.add(requests);
        }
        let rest = std::mem::replace(self, RequestStream::listed(Vec::new()));
        self.0 = StreamKind::Front(Box::new(InjectedRequests::new(requests, Some(rest))));
    }
}

impl Iterator for RequestStream {
    type Item = IoRequest;

    // Inlined into the engine's loop, which is in another crate and does little else besides the I/O itself.
    #[inline(always)]
    fn next(&mut self) -> Option<IoRequest> {
        match &mut self.0 {
            StreamKind::Plain(plain) => plain.next(),
            StreamKind::General(general) => general.next(),
            StreamKind::Front(front) => front.next(),
        }
    }
}

#[cfg(test)]
mod tests;
