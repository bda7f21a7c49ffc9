//! What the outputs are made from: borrowed records and jobs, and the facts of the invocation, as plain data.
//!
//! Leaves out how the numbers are merged and worded; the edge fills a view, the printers read it.

use crate::fio::{Invocation, JobExtras};
use hakaru_model::facts::DiskStats;
use hakaru_model::job::{IoEngine, Job, Scenario};
use hakaru_model::record::{PhaseRecord, WorkerRecord};
use hakaru_model::units::Nanos;

/// What is known before the run: enough for the lines that fio prints first.
#[derive(Clone, Debug)]
pub struct StartView<'a> {
    /// Name and version as `--version` prints them, such as `fio-3.39`.
    pub version: &'a str,
    /// The jobs in order, each with what the scenario does not hold.
    pub jobs: Vec<(&'a Job, &'a JobExtras)>,
    /// Options of all jobs, as typed.
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

/// A run, finished or in between, ready to be printed in any form.
#[derive(Clone, Debug)]
pub struct RunView<'a> {
    /// Name and version as `--version` prints them, such as `fio-3.39`.
    pub version: &'a str,
    /// Wall clock as the results are shown, milliseconds since 1970 UTC.
    pub shown_unix_ms: i64,
    /// Local time's distance from UTC, in seconds east.
    pub utc_offset_s: i32,
    /// Time since the start of the whole run.
    pub elapsed: Nanos,
    /// What the progress last thought was left, in seconds: 0 of a run that is over. fio writes 2147483647 for "unknown".
    pub eta_s: u64,
    /// Options of all jobs, as typed.
    pub global_options: &'a [(String, String)],
    /// Every worker of every phase, in order.
    pub workers: Vec<WorkerView<'a>>,
    /// Devices below the files, over the whole run.
    pub disks: Vec<DiskView>,
    /// CPU idle times, if requested.
    pub idleness: Option<CpuIdleness>,
}

/// A worker with its job.
#[derive(Clone, Copy, Debug)]
pub struct WorkerView<'a> {
    /// Its job.
    pub job: &'a Job,
    /// What the scenario does not hold of the job.
    pub extras: &'a JobExtras,
    /// Its measurements.
    pub record: &'a WorkerRecord,
    /// Wall clock as its phase began, milliseconds since 1970 UTC.
    pub started_unix_ms: i64,
}

/// A device with its members (of a mapping or array).
#[derive(Clone, Debug, PartialEq)]
pub struct DiskView {
    /// The device itself.
    pub stats: DiskStats,
    /// The devices below it.
    pub members: Vec<DiskStats>,
}

/// Idle time of the CPUs (`--idle-prof`).
#[derive(Clone, Debug, PartialEq)]
pub struct CpuIdleness {
    /// Of all together, in percent.
    pub system: f64,
    /// Per CPU number, in percent; empty unless requested.
    pub per_cpu: Vec<(u32, f64)>,
    /// Time of the unit of work that was used to find out, in microseconds.
    pub unit_mean_us: f64,
    /// Its deviation.
    pub unit_deviation_us: f64,
}

impl<'a> RunView<'a> {
    /// Gathers the workers of all phases with their jobs, and adds the disks up over the phases.
    ///
    /// Workers of a job that the scenario does not have are left out. The clock facts stay 0 and are the caller's.
    pub fn of(
        version: &'a str,
        scenario: &'a Scenario,
        extras: &'a [Vec<JobExtras>],
        phases: &'a [PhaseRecord],
    ) -> RunView<'a> {
        let mut workers = Vec::new();
        let mut shown = Vec::new();
        for ((phase, extras), record) in scenario.phases.iter().zip(extras).zip(phases) {
            // Of files that a trace names or that the job is to make, fio learns when it has chosen its disks already.
            let late =
                |job: &Job| !job.replay.read.is_empty() || job.ioengine == IoEngine::Filecreate;
            let watched = |(job, extras): (&Job, &JobExtras)| extras.disk_util && !late(job);
            if phase.jobs.iter().zip(extras).any(watched) {
                shown.push(record);
            }
            workers.extend(record.workers.iter().filter_map(|worker| {
                let index = worker.job as usize;
                let (job, extras) = (phase.jobs.get(index)?, extras.get(index)?);
                Some(WorkerView {
                    job,
                    extras,
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

/// The devices of all phases, each once, with its counters added up.
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
