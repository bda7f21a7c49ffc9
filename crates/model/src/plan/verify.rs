//! How a worker checks data: what follows from the rules of its job, and whether these can be kept to.

use super::PlanError;
use crate::job::rules::{Verify, VerifyMethod};
use crate::job::{BlockSize, IoEngine, Job, Op};
use crate::rng::Rng;
use serde::{Deserialize, Serialize};

/// How a worker checks data.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct VerifyPlan {
    /// By which rules; the interval is given wherever blocks differ in size.
    pub rules: Verify,
    /// Seed that headers carry: the same for all clones of a job, because they may share a file.
    pub seed: u64,
    /// How often all is written, and checked each time.
    pub loops: u32,
}

impl VerifyPlan {
    pub(super) fn of(job: &Job, seed: u64) -> Option<Box<VerifyPlan>> {
        let mut rules = job.verify.clone()?;
        if job.ioengine == IoEngine::Null {
            // Nothing is kept that could be compared.
            rules.method = VerifyMethod::Null;
        }
        let written = if job.access.does(Op::Write) {
            &job.block.write
        } else {
            &job.block.read
        };
        // A block that may be cut, or read back in other pieces than it was written in, needs headers in each.
        rules.interval = rules
            .interval
            .or((written.min() != written.max()).then_some(written.min()));
        rules.interval = rules.interval.map(|interval| interval.min(written.min()));
        let seed = Rng::fork(seed, 0x5eed).next_u64();
        Some(Box::new(VerifyPlan {
            rules,
            seed,
            loops: job.extent.loops,
        }))
    }

    /// Bytes of the smallest piece that carries a header, in blocks of this size.
    pub fn piece(&self, block: u64) -> u64 {
        self.rules
            .interval
            .map_or(block, |interval| interval.0.clamp(1, block.max(1)))
    }
}

/// What the sizes of a block and this step are all multiples of.
fn common_step(step: u64, block: &BlockSize) -> u64 {
    let common = |mut a: u64, mut b: u64| {
        while b > 0 {
            (a, b) = (b, a % b);
        }
        a
    };
    match block {
        BlockSize::Fixed(bytes) => common(step, bytes.0),
        BlockSize::Range { min, .. } => common(step, min.0),
        BlockSize::Split(parts) => parts
            .iter()
            .fold(step, |step, (bytes, _)| common(step, bytes.0)),
    }
}

/// A header has to fit into each piece it stands in.
pub(super) fn check(job: &Job, verify: &Verify) -> Result<(), PlanError> {
    let bad = |option, value: String, why| {
        Err(PlanError::BadValue {
            job: job.name.clone(),
            option,
            value,
            why,
        })
    };
    let smallest = [Op::Read, Op::Write]
        .into_iter()
        .filter(|&op| job.access.does(op))
        .map(|op| job.block[op].min().0);
    let block = smallest.min().unwrap_or(0);
    let piece = verify
        .interval
        .map_or(block, |interval| interval.0.min(block));
    let header = verify.method.header_bytes() as u64;
    // Blocks that differ in size end with whatever is left, down to what sizes are multiples of.
    let align = job.block_align.map_or(block, |align| align.0).max(1);
    let tail = if job.block_rules.unaligned {
        1
    } else {
        job.blocks_used().fold(align, common_step)
    };
    let varies = [Op::Read, Op::Write]
        .into_iter()
        .any(|op| job.block[op].min() != job.block[op].max());
    if varies && header > 0 && tail < header + u64::from(verify.offset) {
        let why = "the last block may be too short for the header of its check: leave out bs_unaligned, give a larger \
                   blockalign, or use verify=pattern";
        return bad("blockalign", tail.to_string(), why);
    }
    if piece < header + u64::from(verify.offset) {
        return match (verify.offset, verify.interval) {
            (0, None) => bad(
                "bs",
                block.to_string(),
                "the header of each block does not fit: use a larger bs",
            ),
            (0, Some(_)) => bad(
                "verify_interval",
                piece.to_string(),
                "the header does not fit: use a larger one",
            ),
            (offset, _) => bad(
                "verify_offset",
                offset.to_string(),
                "the header goes past the end of its block: use a smaller one",
            ),
        };
    }
    if job.ioengine.works_on_names()
        || matches!(job.ioengine, IoEngine::Falloc | IoEngine::Ftruncate)
    {
        let method = verify.method.name().to_owned();
        return bad(
            "verify",
            method,
            "this ioengine moves no data that could be checked",
        );
    }
    Ok(())
}
