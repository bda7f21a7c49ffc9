//! The requests of one worker, as a pure iterator: same plan, same seed, same requests.
//!
//! Nothing is remembered but a few numbers: random jobs visit each block once a pass by a permutation that is computed,
//! not stored.

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
use crate::job::rules::{BlockSizeRules, FileTurns, TraversalOrder, Zones};
use crate::job::{Access, BlockSize, Distribution, Op, PerOp};
use crate::rng::Rng;
use serde::{Deserialize, Serialize};

/// The part of one file that a worker uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Region {
    /// Index into the files of the phase.
    pub file: u32,
    /// First byte.
    pub offset: u64,
    /// Bytes.
    pub len: u64,
    /// Bytes of the whole file once the job has it; 0 where that is not known. A job with holes that jumps past them
    /// begins again.
    #[serde(default)]
    pub file_len: u64,
}

/// What follows the last pass through all regions, where fewer bytes were moved than [`StreamPlan::limit_bytes`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PassEnd {
    /// Another.
    #[default]
    Repeat,
    /// Nothing.
    Stop,
    /// Another while at least the largest block is missing to so many bytes.
    MoveBytes(u64),
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
    /// Bytes of one of several passes: a queue is emptied before the next begins. `None` where there is one pass.
    #[serde(default)]
    pub pass_bytes: Option<u64>,
    /// Passes through all regions at least, where bytes or I/Os do not end it before.
    #[serde(default = "one")]
    pub loops: u32,
    /// What follows them.
    #[serde(default)]
    pub pass_end: PassEnd,
    /// Which file comes next, where there are several.
    #[serde(default)]
    pub turns: FileTurns,
    /// How sizes are drawn.
    #[serde(default)]
    pub sizes: BlockSizeRules,
    /// Where the passes behind the first begin, for each region; empty where all begin alike. As in fio, an offset in
    /// percent is then one of the file that the job made.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub later_starts: Vec<u64>,
}

fn one() -> u32 {
    1
}

/// The requests of a worker; see [`StreamPlan::requests`].
#[derive(Clone, Debug)]
pub struct RequestStream(StreamKind);

/// Most jobs need little: one operation, one size, one region. They are worth a short way of their own, because the
/// engine asks for a request at every I/O.
#[derive(Clone, Debug)]
enum StreamKind {
    Plain(PlainStream),
    General(Box<GeneralStream>),
    Front(Box<InjectedRequests>),
}

/// One size in one region: one operation, each block once or one after another, or several operations that share an order
/// in which each block comes once. See [`RequestStream::as_plain`].
#[derive(Clone, Debug)]
pub struct PlainStream {
    op: Op,
    mix: Option<Mix>,
    len: u32,
    region: Region,
    left: u64,
    endless: bool,
    /// Whether fewer bytes are moved in all than the job asks for.
    falls_short: bool,
    order: PlainOrder,
}

/// Draws the operation of each request by shares in percent.
#[derive(Clone, Debug)]
struct Mix {
    rng: Rng,
    /// Share of reads, and of reads and writes.
    bounds: [u64; 2],
}

impl Mix {
    // A mix has no pattern that a processor could predict, so there is nothing to branch on.
    #[inline(always)]
    fn draw(&mut self) -> Op {
        let die = self.rng.below(100);
        Op::ALL[usize::from(die >= self.bounds[0]) + usize::from(die >= self.bounds[1])]
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

    // A call would hand the request over in memory, piece by piece, and the loop would have to wait to read it whole.
    #[inline(always)]
    fn next(&mut self) -> Option<IoRequest> {
        self.next_steered(|op| op)
    }
}

impl PlainStream {
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
    /// The requests, from the first.
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

    /// How operations are drawn, where there are several.
    fn mix(&self, used: &[Op]) -> Option<Mix> {
        let shares = self.access.mix;
        let bounds = [
            u64::from(shares.read),
            u64::from(shares.read) + u64::from(shares.write),
        ];
        let drawn = used.len() > 1 && !self.access.trim_before_write;
        drawn.then(|| Mix {
            rng: Rng::fork(self.seed, 0),
            bounds,
        })
    }

    /// The size of all I/Os, where these operations have one.
    fn common_len(&self, used: &[Op]) -> Option<u32> {
        let fixed = |op: &Op| match &self.block[*op] {
            BlockSize::Fixed(bytes) => u32::try_from(bytes.0).ok(),
            _ => None,
        };
        let len = fixed(used.first()?)?;
        used.iter().all(|op| fixed(op) == Some(len)).then_some(len)
    }

    /// The short way, for those jobs that can take it.
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
            // Each operation goes on where it was itself.
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
        // A block as large as its region, or one that goes past its end, is cut: that is for the long way.
        let fits = region.len >= u64::from(len) && len > 0;
        let per_pass = match &order {
            PlainOrder::Line { .. } => region.len / u64::from(len.max(1)),
            PlainOrder::EachOnce { permutation, .. } => permutation.left(),
        };
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

    /// I/Os of one size in all, where each pass has as many; `None` where passes do not end with a whole number of them.
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
            // A pass begins while at least one block is missing.
            PassEnd::MoveBytes(bytes) => {
                let begins_below = (bytes + 1).saturating_sub(len);
                loops.max(begins_below.div_ceil(per_pass.saturating_mul(len)))
            }
        };
        Some(by_bytes.min(per_pass.saturating_mul(passes.max(1))))
    }
}

impl RequestStream {
    /// Bytes still to come; `u64::MAX` when it never ends by bytes.
    pub fn bytes_left(&self) -> u64 {
        match &self.0 {
            StreamKind::Plain(plain) if plain.endless => u64::MAX,
            StreamKind::Plain(plain) => plain.left.saturating_mul(u64::from(plain.len)),
            StreamKind::General(general) => general.bytes_left(),
            StreamKind::Front(front) => front.bytes_left(),
        }
    }

    /// The short way itself, where the job takes it: a loop over many requests then need not look at each which way it
    /// goes, and has them in registers.
    #[inline]
    pub fn as_plain(&mut self) -> Option<&mut PlainStream> {
        match &mut self.0 {
            StreamKind::Plain(plain) => Some(plain),
            StreamKind::General(_) | StreamKind::Front(_) => None,
        }
    }

    /// Whether all that the job asks for has been drawn. A job whose regions end before that is not over: that nothing
    /// is left shows when the next request is asked for.
    pub fn is_over(&self) -> bool {
        match &self.0 {
            StreamKind::Plain(plain) => plain.left == 0 && !plain.falls_short,
            StreamKind::General(general) => general.is_over(),
            StreamKind::Front(front) => front.is_over(),
        }
    }

    /// The next request, of the operation that `steer` makes of the one that was drawn: a job whose reads and writes
    /// have rates of their own does what is due. Only jobs of several operations ask.
    pub fn next_steered(&mut self, steer: impl FnOnce(Op) -> Op) -> Option<IoRequest> {
        match &mut self.0 {
            StreamKind::Plain(plain) => plain.next_steered(steer),
            StreamKind::General(general) => general.next_steered(steer),
            StreamKind::Front(front) => front.next(),
        }
    }

    /// These requests and no others.
    pub fn listed(requests: Vec<IoRequest>) -> RequestStream {
        RequestStream(StreamKind::Front(Box::new(InjectedRequests::new(
            requests, None,
        ))))
    }

    /// Whether the last request was one of those that were put in front or listed.
    pub fn gave_listed(&self) -> bool {
        matches!(&self.0, StreamKind::Front(front) if front.gave_queued)
    }

    /// Puts requests in front of those still to come: what was written is read back between two writes.
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

    // The engine's loop is compiled in another crate, and this is most of what it does besides the I/O itself.
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
