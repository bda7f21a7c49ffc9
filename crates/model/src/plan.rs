//! The plan: a scenario that has met its target. Nothing is left to decide.
//!
//! [`Plan::resolve`] is a pure function of the scenario and the facts of its paths. Printing a plan is the dry run.

mod checks;
mod error;
mod fit;
mod replay;
mod resolve;
mod sizes;
mod stretches;
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

/// What is to be done, in order, with every size in bytes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Plan {
    /// Name of the scenario.
    pub name: String,
    /// One after another.
    pub phases: Vec<PhasePlan>,
    /// Weaknesses that can be told before anything runs.
    pub caveats: Vec<Caveat>,
    /// Clones that cannot run, where the others are to run without them ([`Plan::resolve_what_fits`]).
    #[serde(skip)]
    pub skipped: Vec<SkippedJob>,
}

/// Workers that run at the same time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PhasePlan {
    /// Name of the phase.
    pub name: String,
    /// Time without I/O before it, unless it is the first.
    #[serde(default)]
    pub pause: Nanos,
    /// Files the workers use, each once.
    pub files: Vec<FilePlan>,
    /// One for each clone of each job.
    pub workers: Vec<WorkerPlan>,
}

/// One file, and what has to happen to it before a worker may use it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FilePlan {
    /// Where.
    pub path: PathBuf,
    /// What is there now.
    pub kind: TargetKind,
    /// Bytes that have to be there.
    pub size: Bytes,
    /// How they come to be there.
    pub lay_out: LayOut,
    /// Written with zeros where it is laid out, because that is what the job writes.
    #[serde(default)]
    pub zeros: bool,
    /// Flushed before the phase where its space is only reserved.
    #[serde(default)]
    pub flush_reserved: bool,
    /// Emptied before the phase, where it is there by then.
    #[serde(default)]
    pub empty_first: bool,
    /// Removed after the phase.
    pub unlink: bool,
    /// Name of the first job that uses it, for messages.
    pub job: String,
}

/// What a file needs before it can be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LayOut {
    /// Nothing.
    Ready,
    /// Its size reserved, because the job writes it anyway.
    Reserve(Fallocate),
    /// Written in full, because the job reads it.
    Write(Fallocate),
    /// Written until its file system is full, because the job reads all there is; its size is known then.
    Fill,
}

/// One worker: a thread that issues one stream of requests.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct WorkerPlan {
    /// Name of its job.
    pub name: String,
    /// Index of its job within the phase.
    pub job: u32,
    /// Number of the clone, from 0.
    pub clone: u32,
    /// Its number among all workers of the run, from 0.
    #[serde(default)]
    pub number: u32,
    /// Number of its reporting group.
    #[serde(default)]
    pub group: u32,
    /// How I/O is issued.
    pub ioengine: IoEngine,
    /// Switches of that engine.
    pub engine: EngineOptions,
    /// The simulated card, for `sim`.
    pub sim: Option<Box<DeviceModel>>,
    /// Opens for writing.
    pub writes: bool,
    /// How its files are made and opened.
    pub files: FilePolicy,
    /// What it issues.
    pub stream: StreamPlan,
    /// The largest I/O, in bytes.
    pub max_block: u32,
    /// How deep.
    pub queue: Queue,
    /// When it begins, after the phase does.
    pub startdelay: Nanos,
    /// Unmeasured lead-in.
    pub ramp_time: Nanos,
    /// Longest measured time.
    pub runtime: Option<Nanos>,
    /// How durable.
    pub durability: Durability,
    /// What is written.
    pub buffers: Buffers,
    /// How fast at most.
    pub rate: RateLimits,
    /// After an error.
    pub errors: ErrorPolicy,
    /// Replays these requests, and no others. What is printed of a plan names them by their log.
    #[serde(skip)]
    pub replay: Option<Arc<Trace>>,
    /// Log to write its requests to.
    #[serde(default)]
    pub record: Option<PathBuf>,
    /// Checks what it writes or reads.
    #[serde(default)]
    pub verify: Option<Box<VerifyPlan>>,
    /// When it ends early, and what that means for other jobs.
    #[serde(default)]
    pub termination: Termination,
    /// What is recorded.
    pub measure: Measure,
    /// Its processors, memory and priority.
    #[serde(default)]
    pub placement: Placement,
    /// Commands that a shell runs before and after it.
    #[serde(default)]
    pub commands: ShellCommands,
    /// Name of the job whose workers have to end before it begins.
    #[serde(default)]
    pub wait_for: Option<String>,
    /// Seed of everything random in it besides the stream.
    pub seed: u64,
}

/// A job that cannot run, beside others that can.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SkippedJob {
    /// Index of its phase.
    pub phase: usize,
    /// Its index within the phase.
    pub job: u32,
    /// Which of its clones, from 0.
    pub clone: u32,
    /// Why.
    pub error: PlanError,
}

impl SkippedJob {
    /// The job, in the scenario that was planned.
    pub fn job_in<'a>(&self, scenario: &'a Scenario) -> Option<&'a Job> {
        scenario.phases.get(self.phase)?.jobs.get(self.job as usize)
    }
}

/// Facts of each path, keyed by the path as the scenario names it.
pub type Facts = BTreeMap<PathBuf, TargetFacts>;

/// The paths of one clone of a job, in the order it uses them.
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
                    n => directories[clone as usize % n].join(name),
                }
            })
            .collect(),
        Target::Nothing | Target::Sim(_) => Vec::new(),
    }
}

impl Scenario {
    /// Paths that jobs of `ioengine=null` name and never open: what lies there says how fio sizes them.
    pub fn unopened_paths(&self) -> Vec<PathBuf> {
        let jobs = self.phases.iter().flat_map(|phase| &phase.jobs);
        let names = jobs.flat_map(|job| &job.files.unopened).map(PathBuf::from);
        names.filter(|path| path.is_absolute()).collect()
    }

    /// Every path it will touch, sorted, each once: what `inspect` has to look at before [`Plan::resolve`].
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
    /// Whether data on the target is lost by running it.
    pub fn destroys(&self) -> bool {
        self.phases
            .iter()
            .flat_map(|p| &p.workers)
            .any(|w| w.writes)
    }

    /// The longest it can take, where times bound it.
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
        self.phases
            .iter()
            .map(phase)
            .try_fold(0u64, |sum, t| t.map(|t| sum.saturating_add(t)))
            .map(Nanos)
    }
}

#[cfg(test)]
mod tests;
