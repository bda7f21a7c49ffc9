//! Checks of a job that do not depend on its target.

use super::PlanError;
use crate::job::rules::{FileLock, Zones};
use crate::job::{Job, Op};

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
        return bad(
            "numjobs",
            job.numjobs.to_string(),
            "between 1 and 4096 clones can run",
        );
    }
    if job.queue.iodepth == 0 || job.queue.iodepth > 32_768 {
        return bad(
            "iodepth",
            job.queue.iodepth.to_string(),
            "between 1 and 32768 I/Os can be in flight",
        );
    }
    if job.access.mix.read + job.access.mix.write + job.access.mix.trim != 100 {
        return bad(
            "rwmixread",
            format!("{:?}", job.access.mix),
            "the shares have to add up to 100",
        );
    }
    if job.queue.offload && !job.ioengine.traits().can_offload {
        let why =
            "threads submit for psync and its kin, mmap, libaio and io_uring only; leave it out";
        return bad("io_submit_mode", "offload".to_owned(), why);
    }
    if job.queue.offload && job.queue.iodepth > 1024 {
        return bad(
            "iodepth",
            job.queue.iodepth.to_string(),
            "io_submit_mode=offload has a thread for each, 1024 at most",
        );
    }
    if job.files.lock != FileLock::None && !can_lock(job) {
        let why = "files are locked for psync and its kin, mmap and splice only, and without io_submit_mode=offload or \
                   unlink_each_loop; use such an engine, or leave it out";
        return bad(
            "lockfile",
            format!("{:?}", job.files.lock).to_lowercase(),
            why,
        );
    }
    if job.files.append && job.ioengine.traits().cannot_extend {
        let why = "a mapped file cannot grow; leave it out, or use another engine";
        return bad("file_append", "1".to_owned(), why);
    }
    // A job that only reads ends with the first file that is gone.
    let renews = job.files.unlink_each_loop && job.access.destroys();
    if renews && !job.ioengine.traits().can_renew_files
        || job.files.unlink_each_loop && job.queue.offload
    {
        let why = "files are renewed for psync and its kin, libaio, io_uring and posixaio, and without \
                   io_submit_mode=offload";
        return bad("unlink_each_loop", "1".to_owned(), why);
    }
    if job.access.run_length == 0 {
        return bad(
            "rw",
            "…:0".to_owned(),
            "at least one I/O has to come from an offset",
        );
    }
    if job.extent.loops == 0 {
        return bad("loops", "0".to_owned(), "at least one loop is needed");
    }
    if job.timing.time_based && job.timing.runtime.is_none() {
        return Err(PlanError::Endless {
            job: job.name.clone(),
        });
    }
    if matches!(job.access.zones, Zones::Device { .. })
        && (job.verify.is_some() || job.replay.any())
    {
        let why =
            "zones are emptied and written elsewhere than asked; leave out verify and read_iolog";
        return bad("zonemode", "zbd".to_owned(), why);
    }
    if let Some(verify) = &job.verify {
        super::verify::check(job, verify)?;
    }
    if job.measure.tick.0 == 0 {
        return bad("tick", "0".to_owned(), "an interval takes time");
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
