//! Workload of a phase, in numbers and as a short text.

use super::phases::PhaseRun;
use hakaru_model::finding::WorkloadShape;
use hakaru_model::job::{BlockSize, Job, Op, SizeSpec, Target};
use hakaru_model::reported::JobProperty;
use hakaru_model::units::Bytes;

/// Properties that are required to compare or judge a workload.
const ESSENTIAL: [JobProperty; 4] = [
    JobProperty::Operation,
    JobProperty::Order,
    JobProperty::BlockSize,
    JobProperty::QueueDepth,
];

/// Returns the workload of the first job that does the operation, with the workers of all such jobs; `None` if an
/// imported result lacks an essential property.
pub(super) fn shape(run: &PhaseRun<'_>, op: Op) -> Option<WorkloadShape> {
    let jobs = run.jobs_doing(op);
    let (index, job) = *jobs.first()?;
    let mut essential = ESSENTIAL.into_iter();
    if essential.any(|property| run.is_unstated(index, property)) {
        return None;
    }
    let direct = |(index, job): &(u32, &Job)| {
        let cached = matches!(job.target, Target::Paths(_) | Target::Formatted { .. });
        job.files.direct || !cached && !run.is_unstated(*index, JobProperty::Direct)
    };
    let extents: Option<Vec<u64>> = jobs.iter().map(|(_, job)| extent(run, job)).collect();
    let sum = |sizes: Vec<u64>| sizes.into_iter().fold(0, u64::saturating_add);
    let workers = run.workers(op).map(|worker| run.members(worker));
    Some(WorkloadShape {
        random: job.access.random,
        read_percent: job.access.mix.read,
        block: job.block[op].max(),
        iodepth: job.effective_depth(),
        workers: workers.fold(0, u32::saturating_add),
        sync_every: sync_every(job),
        sync_open: job.durability.sync || job.durability.dsync,
        direct: jobs.iter().all(direct),
        extent: extents.map(|sizes| Bytes(sum(sizes))),
    })
}

/// Returns the writes between two syncs of the more frequent kind; 0 for none.
fn sync_every(job: &Job) -> u32 {
    let both = [job.durability.fsync_every, job.durability.fdatasync_every];
    both.into_iter().filter(|&n| n > 0).min().unwrap_or(0)
}

/// Returns the bytes that all clones of a job access, limited to the size of the target.
fn extent(run: &PhaseRun<'_>, job: &Job) -> Option<u64> {
    let whole = match &job.target {
        Target::Sim(model) => Some(model.announced().0),
        Target::Nothing => return None,
        Target::Paths(_) if run.record.target.filesystem.is_none() => {
            run.record.target.device.known().map(|device| device.size.0)
        }
        Target::Paths(_) | Target::Formatted { .. } => None,
    };
    let files = match &job.target {
        Target::Paths(paths) => paths.len() as u64,
        Target::Formatted { nrfiles, .. } => u64::from(*nrfiles),
        Target::Sim(_) | Target::Nothing => 1,
    };
    let one = match (job.extent.size, job.extent.filesize) {
        (Some(SizeSpec::Bytes(size)), _) => Some(size.0),
        (Some(SizeSpec::Percent(percent)), _) => whole.map(|w| w / 100 * u64::from(percent)),
        (None, Some(filesize)) => filesize.0.checked_mul(files),
        (None, None) => whole,
    }?;
    let clones = u64::from(job.clones_apart());
    let all = one.saturating_mul(clones);
    // Separate ranges may extend past the end, where the first ones are used again.
    Some(
        whole
            .filter(|_| clones > 1)
            .map_or(all, |whole| all.min(whole.saturating_mul(files))),
    )
}

/// Describes the workload: `sequential write, 1 MiB, queue depth 1`. Several different jobs are joined by `+`; unknown
/// properties are omitted.
pub(super) fn describe(run: &PhaseRun<'_>, op: Op) -> String {
    let mut texts: Vec<String> = Vec::new();
    for (index, job) in run.jobs_doing(op) {
        let text = describe_job(job, op, &|property| run.is_unstated(index, property));
        if !texts.contains(&text) {
            texts.push(text);
        }
    }
    if texts.is_empty() {
        op.name().to_owned()
    } else {
        texts.join(" + ")
    }
}

fn describe_job(job: &Job, op: Op, unstated: &dyn Fn(JobProperty) -> bool) -> String {
    let depth = job.effective_depth();
    let mut parts = vec![operation(job, op, unstated)];
    if !unstated(JobProperty::BlockSize) {
        parts.push(block(&job.block[op]));
    }
    if !unstated(JobProperty::QueueDepth) {
        parts.push(format!("queue depth {depth}"));
    }
    if job.queue.batch_complete_min > 1 && depth > 1 {
        let batch = job.queue.batch_complete_min.min(depth);
        parts.push(format!("waits for {batch} completions at once"));
    }
    if job.is_open_loop(op) {
        parts.push("open loop".to_owned());
    }
    if job.numjobs > 1 {
        parts.push(format!("{} workers", job.numjobs));
    }
    if op == Op::Write {
        parts.extend(durability(job));
    }
    let on_files = matches!(job.target, Target::Paths(_) | Target::Formatted { .. });
    if on_files && !job.files.direct && !unstated(JobProperty::Direct) {
        parts.push("through the page cache".to_owned());
    }
    parts.join(", ")
}

/// Describes order and operation: `sequential write`, `random read, 70% of a mix`.
fn operation(job: &Job, op: Op, unstated: &dyn Fn(JobProperty) -> bool) -> String {
    let name = match unstated(JobProperty::Operation) {
        true => "read or write",
        false => op.name(),
    };
    let name = match (unstated(JobProperty::Order), job.access.random) {
        (true, _) => name.to_owned(),
        (false, true) => format!("random {name}"),
        (false, false) => format!("sequential {name}"),
    };
    match job.access.mix[op] {
        0 | 100 => name,
        share => format!("{name}, {share}% of a mix"),
    }
}

/// Describes the flushes of writes.
fn durability(job: &Job) -> Vec<String> {
    let flushes = match sync_every(job) {
        0 => None,
        1 => Some("fsync after each".to_owned()),
        n => Some(format!("fsync after {n}")),
    };
    let opened = job.durability.sync || job.durability.dsync;
    let opened = opened.then(|| "O_SYNC".to_owned());
    flushes.into_iter().chain(opened).collect()
}

fn block(block: &BlockSize) -> String {
    match block {
        BlockSize::Fixed(size) => size.to_string(),
        BlockSize::Range { min, max } => format!("{min} to {max}"),
        BlockSize::Split(parts) => parts
            .iter()
            .map(|(size, _)| size.to_string())
            .collect::<Vec<_>>()
            .join("/"),
    }
}
