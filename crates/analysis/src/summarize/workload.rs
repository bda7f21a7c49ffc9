//! Workload of a phase, in numbers and as a short text.

use super::phases::PhaseRun;
use hakaru_model::finding::{JobDescription, WorkloadShape};
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

/// Returns the bytes that all clones of a job access, limited to the size of the target; `None` if unknown.
fn extent(run: &PhaseRun<'_>, job: &Job) -> Option<u64> {
    let (whole, files) = match &job.target {
        Target::Nothing => return None,
        Target::Sim(model) => (Some(model.announced().0), 1),
        Target::Formatted { nrfiles, .. } => (None, u64::from(*nrfiles)),
        Target::Paths(paths) => {
            // A record has the size of one device only.
            let is_device = run.record.target.filesystem.is_none() && paths.len() == 1;
            let device = run.record.target.device.known();
            let size = device.filter(|_| is_device).map(|device| device.size.0);
            (size, paths.len() as u64)
        }
    };
    let is_sim = matches!(job.target, Target::Sim(_));
    let one = match (job.extent.size, job.extent.filesize) {
        (Some(SizeSpec::Bytes(size)), _) => Some(size.0),
        (Some(SizeSpec::Percent(percent)), _) => whole.map(|whole| percent_of(whole, percent)),
        (None, Some(filesize)) if !is_sim => filesize.0.checked_mul(files),
        // A simulated card has no files.
        (None, _) => whole,
    }?;
    let clones = u64::from(job.clones_apart());
    // Separate ranges may extend past the end, where the first ones are used again.
    Some(one.saturating_mul(clones).min(whole.unwrap_or(u64::MAX)))
}

fn percent_of(whole: u64, percent: u32) -> u64 {
    u64::try_from(u128::from(whole) * u128::from(percent) / 100).unwrap_or(u64::MAX)
}

/// Returns descriptions of the different jobs that do the operation; unknown properties are omitted.
pub(super) fn jobs(run: &PhaseRun<'_>, op: Op) -> Vec<JobDescription> {
    let mut all: Vec<JobDescription> = Vec::new();
    for (index, job) in run.jobs_doing(op) {
        let described = job_description(job, op, &|property| run.is_unstated(index, property));
        if !all.contains(&described) {
            all.push(described);
        }
    }
    all
}

/// Describes a job; `unstated` are properties that are unknown.
fn job_description(job: &Job, op: Op, unstated: &dyn Fn(JobProperty) -> bool) -> JobDescription {
    let depth = job.effective_depth();
    let stated = |property| !unstated(property);
    let on_files = matches!(job.target, Target::Paths(_) | Target::Formatted { .. });
    let batch = job.queue.batch_complete_min.min(depth);
    JobDescription {
        op: stated(JobProperty::Operation).then_some(op),
        random: stated(JobProperty::Order).then_some(job.access.random),
        mix_percent: Some(job.access.mix[op]).filter(|share| !matches!(share, 0 | 100)),
        block: stated(JobProperty::BlockSize).then(|| job.block[op].clone()),
        iodepth: stated(JobProperty::QueueDepth).then_some(depth),
        batch: Some(batch).filter(|&batch| batch > 1),
        open_loop: job.is_open_loop(op),
        numjobs: job.numjobs,
        sync_every: if op == Op::Write { sync_every(job) } else { 0 },
        sync_open: op == Op::Write && (job.durability.sync || job.durability.dsync),
        cached: on_files && !job.files.direct && stated(JobProperty::Direct),
    }
}

/// Describes the workload: `sequential write, 1 MiB, queue depth 1`. Several different jobs are joined by `+`.
pub(super) fn describe(jobs: &[JobDescription], op: Op) -> String {
    let texts: Vec<String> = jobs.iter().map(describe_job).collect();
    match texts.is_empty() {
        true => op.name().to_owned(),
        false => texts.join(" + "),
    }
}

fn describe_job(job: &JobDescription) -> String {
    let mut parts = vec![operation(job)];
    parts.extend(job.mix_percent.map(|share| format!("{share}% of a mix")));
    parts.extend(job.block.as_ref().map(block));
    parts.extend(job.iodepth.map(|depth| format!("queue depth {depth}")));
    if let Some(batch) = job.batch {
        parts.push(format!("waits for {batch} completions at once"));
    }
    if job.open_loop {
        parts.push("open loop".to_owned());
    }
    if job.numjobs > 1 {
        parts.push(format!("{} jobs", job.numjobs));
    }
    match job.sync_every {
        0 => {}
        1 => parts.push("fsync after each".to_owned()),
        n => parts.push(format!("fsync after {n}")),
    }
    if job.sync_open {
        parts.push("O_SYNC".to_owned());
    }
    if job.cached {
        parts.push("through the page cache".to_owned());
    }
    parts.join(", ")
}

/// Describes order and operation: `sequential write`.
fn operation(job: &JobDescription) -> String {
    let name = job.op.map_or("read or write", Op::name);
    match job.random {
        None => name.to_owned(),
        Some(true) => format!("random {name}"),
        Some(false) => format!("sequential {name}"),
    }
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
