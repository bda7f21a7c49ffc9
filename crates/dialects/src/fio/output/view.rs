//! Input of the output formats: borrowed records and jobs, and facts about the invocation.
//!
//! Contains no merging or formatting: the caller fills a view, and the output functions read it.

use crate::fio::{Invocation, JobExtras};
use hakaru_model::facts::DiskStats;
use hakaru_model::job::{IoEngine, Job, Scenario};
use hakaru_model::record::{PhaseRecord, WorkerRecord};
use hakaru_model::units::Nanos;

/// Data known before the run, for the first lines that fio prints.
#[derive(Clone, Debug)]
pub struct StartView<'a> {
    /// Name and version as `--version` prints them, such as `fio-3.39`.
    pub version: &'a str,
    /// Jobs in order, each with its settings outside the scenario.
    pub jobs: Vec<(&'a Job, &'a JobExtras)>,
    /// Global options as typed.
    pub global_options: &'a [(String, String)],
}

impl<'a> StartView<'a> {
    /// The view of a parsed command line.
    pub fn of(invocation: &'a Invocation, version: &'a str) -> StartView<'a> {
        StartView {
            version,
            jobs: invocation.jobs().collect(),
            global_options: &invocation.global_options,
        }
    }
}

/// A finished run, or a snapshot of a running one, ready for any output format.
#[derive(Clone, Debug)]
pub struct RunView<'a> {
    /// Name and version as `--version` prints them, such as `fio-3.39`.
    pub version: &'a str,
    /// Wall-clock time of the output, in ms since 1970 UTC.
    pub shown_unix_ms: i64,
    /// UTC offset of local time, in seconds east.
    pub utc_offset_s: i32,
    /// Time since the start of the whole run.
    pub elapsed: Nanos,
    /// Last estimate of the time left in seconds; 0 for a finished run. fio writes 2147483647 for "unknown".
    pub eta_s: u64,
    /// Global options as typed.
    pub global_options: &'a [(String, String)],
    /// All workers of all phases, in order.
    pub workers: Vec<WorkerView<'a>>,
    /// Block devices under the files, over the whole run.
    pub disks: Vec<DiskView>,
    /// CPU idle times, if requested.
    pub idleness: Option<CpuIdleness>,
}

/// A worker with its job.
#[derive(Clone, Copy, Debug)]
pub struct WorkerView<'a> {
    /// Its job.
    pub job: &'a Job,
    /// Settings of the job outside the scenario.
    pub extras: &'a JobExtras,
    /// Its measurements.
    pub record: &'a WorkerRecord,
    /// Start of its phase, in ms since 1970 UTC.
    pub started_unix_ms: i64,
}

/// A block device with its members (of a mapping or array).
#[derive(Clone, Debug, PartialEq)]
pub struct DiskView {
    /// The device itself.
    pub stats: DiskStats,
    /// The underlying devices.
    pub members: Vec<DiskStats>,
}

/// Idle time of the CPUs (`--idle-prof`).
#[derive(Clone, Debug, PartialEq)]
pub struct CpuIdleness {
    /// Percentage for all CPUs together.
    pub system: f64,
    /// Per CPU number, in percent; empty unless requested.
    pub per_cpu: Vec<(u32, f64)>,
    /// Mean time of the calibrated unit of work, in µs.
    pub unit_mean_us: f64,
    /// Its standard deviation.
    pub unit_deviation_us: f64,
}

impl<'a> RunView<'a> {
    /// Collects the workers of all phases with their jobs, and sums the disk statistics over the phases.
    ///
    /// Workers without a job in the scenario are left out. The clock fields stay 0; the caller sets them.
    pub fn of(
        version: &'a str,
        scenario: &'a Scenario,
        extras: &'a [Vec<JobExtras>],
        phases: &'a [PhaseRecord],
    ) -> RunView<'a> {
        let mut workers = Vec::new();
        let mut shown = Vec::new();
        for ((phase, extras), record) in scenario.phases.iter().zip(extras).zip(phases) {
            if phase.jobs.iter().zip(extras).any(watches_disks) {
                shown.push(record);
            }
            workers.extend(record.workers.iter().filter_map(|worker| {
                let index = worker.job as usize;
                Some(WorkerView {
                    job: phase.jobs.get(index)?,
                    extras: extras.get(index)?,
                    record: worker,
                    started_unix_ms: record.started_unix_ms,
                })
            }));
        }
        RunView {
            version,
            shown_unix_ms: 0,
            utc_offset_s: 0,
            elapsed: Nanos(0),
            eta_s: 0,
            global_options: &[],
            workers,
            disks: add_up(&shown),
            idleness: None,
        }
    }
}

impl RunView<'_> {
    /// Whether this fio version prints disk sectors and job start times: 3.39 does, 3.33 does not.
    pub(super) fn shows_sectors(&self) -> bool {
        let minor = self
            .version
            .rsplit('.')
            .next()
            .and_then(|minor| minor.parse::<u32>().ok());
        minor.is_none_or(|minor| minor > 33)
    }
}

/// Whether fio shows the disks of a job. It selects them before it knows the files that a trace names or the job
/// creates.
fn watches_disks((job, extras): (&Job, &JobExtras)) -> bool {
    let late = !job.replay.read.is_empty() || job.ioengine == IoEngine::Filecreate;
    extras.disk_util && !late
}

/// The devices of all phases, each once, with summed counters.
fn add_up(phases: &[&PhaseRecord]) -> Vec<DiskView> {
    let mut disks: Vec<DiskView> = Vec::new();
    for next in phases.iter().flat_map(|phase| &phase.disks) {
        match disks.iter_mut().find(|disk| disk.stats.name == next.name) {
            Some(disk) => add_disk(&mut disk.stats, next),
            None => disks.push(DiskView {
                stats: next.clone(),
                members: Vec::new(),
            }),
        }
    }
    disks
}

fn add_disk(sum: &mut DiskStats, next: &DiskStats) {
    sum.read_ios += next.read_ios;
    sum.read_merges += next.read_merges;
    sum.read_sectors += next.read_sectors;
    sum.read_ticks.0 += next.read_ticks.0;
    sum.write_ios += next.write_ios;
    sum.write_merges += next.write_merges;
    sum.write_sectors += next.write_sectors;
    sum.write_ticks.0 += next.write_ticks.0;
    sum.discard_ios += next.discard_ios;
    sum.flush_ios += next.flush_ios;
    sum.busy.0 += next.busy.0;
    sum.queued.0 += next.queued.0;
    sum.elapsed.0 += next.elapsed.0;
}
