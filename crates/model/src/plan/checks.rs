//! Checks of a job that do not depend on its target.

use super::PlanError;
use crate::job::rules::{FileLock, Zones};
use crate::job::{Job, Op};
use crate::obstacle::ValueRule;

/// Maximum size in bytes of an I/O that transfers data.
const LARGEST: u64 = 1 << 30;

pub(super) fn check(job: &Job) -> Result<(), PlanError> {
    let bad = |option, value: String, why| {
        Err(PlanError::BadValue {
            job: job.name.clone(),
            option,
            value,
            why,
        })
    };
    let sizes = job.block_rules.in_line.iter().map(|block| (block, LARGEST));
    let by_op = Op::ALL.into_iter().filter(|&op| job.access.does(op));
    // A trim transfers no data.
    let most = |op| {
        if op == Op::Trim {
            u64::from(u32::MAX)
        } else {
            LARGEST
        }
    };
    for (block, most) in by_op.map(|op| (&job.block[op], most(op))).chain(sizes) {
        let (min, max) = (block.min(), block.max());
        if min.0 == 0 || max.0 > most || min > max {
            return Err(PlanError::BadBlock {
                job: job.name.clone(),
                block: max,
            });
        }
    }
    if job.numjobs == 0 || job.numjobs > 4096 {
        return bad("numjobs", job.numjobs.to_string(), ValueRule::Clones);
    }
    if job.queue.iodepth == 0 || job.queue.iodepth > 32_768 {
        return bad("iodepth", job.queue.iodepth.to_string(), ValueRule::Depth);
    }
    if job.access.mix.read + job.access.mix.write + job.access.mix.trim != 100 {
        return bad(
            "rwmixread",
            format!("{:?}", job.access.mix),
            ValueRule::Shares,
        );
    }
    if job.queue.offload && !job.ioengine.traits().can_offload {
        return bad(
            "io_submit_mode",
            "offload".to_owned(),
            ValueRule::OffloadEngine,
        );
    }
    if job.queue.offload && job.queue.iodepth > 1024 {
        return bad(
            "iodepth",
            job.queue.iodepth.to_string(),
            ValueRule::OffloadDepth,
        );
    }
    if job.files.lock != FileLock::None && !can_lock(job) {
        return bad(
            "lockfile",
            format!("{:?}", job.files.lock).to_lowercase(),
            ValueRule::LockedFiles,
        );
    }
    if job.files.append && job.ioengine.traits().cannot_extend {
        return bad("file_append", "1".to_owned(), ValueRule::MappedFile);
    }
    // A job that only reads ends with the first file that is gone.
    let renews = job.files.unlink_each_loop && job.access.destroys();
    if renews && !job.ioengine.traits().can_renew_files
        || job.files.unlink_each_loop && job.queue.offload
    {
        return bad("unlink_each_loop", "1".to_owned(), ValueRule::RenewedFiles);
    }
    if job.access.run_length == 0 {
        return bad("rw", "…:0".to_owned(), ValueRule::RunLength);
    }
    if job.extent.loops == 0 {
        return bad("loops", "0".to_owned(), ValueRule::Loops);
    }
    if job.timing.time_based && job.timing.runtime.is_none() {
        return Err(PlanError::Endless {
            job: job.name.clone(),
        });
    }
    if matches!(job.access.zones, Zones::Device { .. })
        && (job.verify.is_some() || job.replay.any())
    {
        return bad("zonemode", "zbd".to_owned(), ValueRule::DeviceZones);
    }
    if let Some(verify) = &job.verify {
        super::verify::check(job, verify)?;
    }
    if job.measure.tick.0 == 0 {
        return bad("tick", "0".to_owned(), ValueRule::Tick);
    }
    Ok(())
}

/// Checks that each block size is a multiple of what the engine needs, even for operations that the job does not do.
pub(super) fn whole_units(job: &Job) -> Result<(), PlanError> {
    let unit = job.engine.block_unit.max(1);
    let odd = Op::ALL
        .into_iter()
        .map(|op| job.block[op].min().0)
        .find(|block| block % unit != 0);
    match odd {
        Some(block) => Err(PlanError::OddBlock {
            job: job.name.clone(),
            block,
            unit,
        }),
        None => Ok(()),
    }
}

/// Whether the engine can hold a lock during an I/O: only those with one I/O at a time can.
fn can_lock(job: &Job) -> bool {
    let one_at_a_time = job.ioengine.is_synchronous() && job.ioengine.traits().can_offload;
    one_at_a_time && !job.queue.offload && !job.files.unlink_each_loop
}
