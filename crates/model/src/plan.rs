//! Plans: scenarios resolved for their targets, with nothing left to decide.
//!
//! [`Plan::resolve`] is a pure function of the scenario and the facts about its paths. A dry run prints the plan.

mod checks;
mod distribution_zones;
mod error;
mod files;
mod fit;
mod replay;
mod resolve;
mod resolver;
mod sizes;
mod verify;
mod writers;

pub use self::error::PlanError;
pub use self::verify::VerifyPlan;

use crate::caveat::Caveat;
use crate::device_model::DeviceModel;
use crate::facts::{TargetFacts, TargetKind};
use crate::job::rules::{Placement, ShellCommands, Termination};
use crate::job::{
    Buffers, Durability, EngineOptions, ErrorPolicy, Fallocate, FilePolicy, IoEngine, Job, Measure,
    Queue, RateLimits, Scenario, Target,
};
use crate::replay::Trace;
use crate::stream::StreamPlan;
use crate::units::{Bytes, Nanos};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

/// Resolved scenario: phases in order, with every size in bytes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Plan {
    /// Name of the scenario.
    pub name: String,
    /// Phases, in order.
    pub phases: Vec<PhasePlan>,
    /// Weaknesses that are known before the run.
    pub caveats: Vec<Caveat>,
    /// Clones that cannot run and are skipped ([`Plan::resolve_what_fits`]).
    #[serde(skip)]
    pub skipped: Vec<SkippedJob>,
}

/// Workers that run at the same time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PhasePlan {
    /// Name of the phase.
    pub name: String,
    /// Pause without I/O before the phase, unless it is the first.
    #[serde(default)]
    pub pause: Nanos,
    /// Files of the workers, without duplicates.
    pub files: Vec<FilePlan>,
    /// Workers, one for each clone of each job.
    pub workers: Vec<WorkerPlan>,
}

/// One file, and its preparation before a worker uses it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FilePlan {
    /// Path.
    pub path: PathBuf,
    /// Type of the existing file.
    pub kind: TargetKind,
    /// Required size in bytes.
    pub size: Bytes,
    /// Layout of the file.
    pub lay_out: LayOut,
    /// Whether layout writes zeros, because the job writes zeros.
    #[serde(default)]
    pub zeros: bool,
    /// Whether space that is only reserved is flushed before the phase.
    #[serde(default)]
    pub flush_reserved: bool,
    /// Whether an existing file is truncated to zero length before the phase.
    #[serde(default)]
    pub empty_first: bool,
    /// Whether the file is removed after the phase.
    pub unlink: bool,
    /// Name of the first job that uses the file, for messages.
    pub job: String,
}

/// Layout that a file needs before it can be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LayOut {
    /// No layout.
    Ready,
    /// Reserves the size, because the job writes the data anyway.
    Reserve(Fallocate),
    /// Writes the whole file, because the job reads it.
    Write(Fallocate),
    /// Writes until the file system is full, because the job reads all data. The size is known only then.
    Fill,
}

/// Plan of one worker, which issues one stream of requests.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct WorkerPlan {
    /// Name of its job.
    pub name: String,
    /// Index of its job within the phase.
    pub job: u32,
    /// Number of the clone, from 0.
    pub clone: u32,
    /// Number of the worker in the whole run, from 0.
    #[serde(default)]
    pub number: u32,
    /// Number of its reporting group.
    #[serde(default)]
    pub group: u32,
    /// I/O engine.
    pub ioengine: IoEngine,
    /// Options of the engine.
    pub engine: EngineOptions,
    /// Simulated card, for the `sim` engine.
    pub sim: Option<Box<DeviceModel>>,
    /// Whether files are opened for writing.
    pub writes: bool,
    /// How files are created and opened.
    pub files: FilePolicy,
    /// Requests that it issues.
    pub stream: StreamPlan,
    /// Size of the largest I/O in bytes.
    pub max_block: u32,
    /// Queue depth and submission.
    pub queue: Queue,
    /// Delay after the start of the phase.
    pub startdelay: Nanos,
    /// Ramp time, not measured.
    pub ramp_time: Nanos,
    /// Longest measured time.
    pub runtime: Option<Nanos>,
    /// Flushes and sync flags.
    pub durability: Durability,
    /// Content of write buffers.
    pub buffers: Buffers,
    /// Rate limits.
    pub rate: RateLimits,
    /// Reaction to I/O errors.
    pub errors: ErrorPolicy,
    /// Trace to replay instead of the stream. A printed plan names its log only.
    #[serde(skip)]
    pub replay: Option<Arc<Trace>>,
    /// Log to write its requests to.
    #[serde(default)]
    pub record: Option<PathBuf>,
    /// Verification of data that it writes or reads.
    #[serde(default)]
    pub verify: Option<Box<VerifyPlan>>,
    /// Rules that end the worker early, and their effect on other jobs.
    #[serde(default)]
    pub termination: Termination,
    /// Latencies, intervals and logs to record.
    pub measure: Measure,
    /// CPUs, memory and priority.
    #[serde(default)]
    pub placement: Placement,
    /// Shell commands to run before and after it.
    #[serde(default)]
    pub commands: ShellCommands,
    /// Name of the job whose workers have to finish before it starts.
    #[serde(default)]
    pub wait_for: Option<String>,
    /// Seed of all random choices except those of the stream.
    pub seed: u64,
}

/// Clone of a job that is skipped because it cannot run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SkippedJob {
    /// Index of its phase.
    pub phase: usize,
    /// Index of its job within the phase.
    pub job: u32,
    /// Number of the clone, from 0.
    pub clone: u32,
    /// Reason.
    pub error: PlanError,
}

impl SkippedJob {
    /// Returns the job in the scenario of the plan.
    pub fn job_in<'a>(&self, scenario: &'a Scenario) -> Option<&'a Job> {
        scenario.phases.get(self.phase)?.jobs.get(self.job as usize)
    }
}

/// Facts about each path, with the path as given in the scenario as the key.
pub type Facts = BTreeMap<PathBuf, TargetFacts>;

/// Returns the paths of one clone of a job, in order of use.
pub fn clone_paths(job: &Job, clone: u32) -> Vec<PathBuf> {
    if let Some(trace) = job.replay.trace_of(clone) {
        return trace.files.clone();
    }
    match &job.target {
        Target::Paths(paths) => paths.clone(),
        Target::Formatted {
            directories,
            format,
            nrfiles,
        } => (0..*nrfiles)
            .map(|filenum| {
                let name = format
                    .replace("$jobname", &job.name)
                    .replace("$clientuid", "")
                    .replace("$jobnum", &clone.to_string())
                    .replace("$filenum", &filenum.to_string());
                match directories.len() {
                    0 => PathBuf::from(name),
                    // A name with `/` at its start does not replace the directory.
                    n => directories[clone as usize % n].join(name.trim_start_matches('/')),
                }
            })
            .collect(),
        Target::Nothing | Target::Sim(_) => Vec::new(),
    }
}

impl Scenario {
    /// Returns the paths that jobs with `ioengine=null` name but never open. As in fio, existing files there affect the
    /// sizes.
    pub fn unopened_paths(&self) -> Vec<PathBuf> {
        let jobs = self.phases.iter().flat_map(|phase| &phase.jobs);
        let names = jobs.flat_map(|job| &job.files.unopened).map(PathBuf::from);
        names.filter(|path| path.is_absolute()).collect()
    }

    /// Returns all paths of the scenario, sorted and without duplicates: those to inspect before [`Plan::resolve`].
    pub fn paths(&self) -> Vec<PathBuf> {
        let jobs = self.phases.iter().flat_map(|phase| &phase.jobs);
        let all =
            jobs.flat_map(|job| (0..job.numjobs).flat_map(move |clone| clone_paths(job, clone)));
        all.collect::<std::collections::BTreeSet<_>>()
            .into_iter()
            .collect()
    }
}

impl Plan {
    /// Whether the run overwrites or discards data on the target.
    pub fn destroys(&self) -> bool {
        self.phases
            .iter()
            .flat_map(|p| &p.workers)
            .any(|w| w.writes)
    }

    /// Returns the maximum duration with the pauses between phases; `None` if it is not limited by time.
    pub fn time_bound(&self) -> Option<Nanos> {
        let worker = |w: &WorkerPlan| {
            let before = w.ramp_time.0.saturating_add(w.startdelay.0);
            w.runtime.map(|runtime| runtime.0.saturating_add(before))
        };
        let phase = |p: &PhasePlan| {
            p.workers
                .iter()
                .map(worker)
                .try_fold(0, |max, t| t.map(|t| t.max(max)))
        };
        let pauses = self.phases.iter().skip(1).map(|p| Some(p.pause.0));
        self.phases
            .iter()
            .map(phase)
            .chain(pauses)
            .try_fold(0u64, |sum, t| t.map(|t| sum.saturating_add(t)))
            .map(Nanos)
    }
}

#[cfg(test)]
mod tests;
