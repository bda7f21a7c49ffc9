//! A job as typed. Options that act alone are already applied; options that interact are kept aside until all are
//! known.
//!
//! State only: options write it through their setters, and `lower` reads it.

use super::invocation::JobExtras;
use hakaru_model::job::rules::{ExitScope, Verify, VerifyMethod};
use hakaru_model::job::{Access, Job, Op, PerOp, Target};
use hakaru_model::units::{Bytes, Nanos};
use std::path::PathBuf;

/// One job or the global section, partially converted.
#[derive(Clone, Debug)]
pub(crate) struct JobSpec {
    /// The model job with the options that act alone. The job name is already set; target and access are derived later.
    pub job: Job,
    /// Name of its section in a job file.
    pub section: Option<String>,
    /// Settings that the model does not represent.
    pub extras: JobExtras,
    /// Value of `rw` and its optional number.
    pub rw: (&'static str, Option<i64>),
    /// `rw_sequencer=identical`.
    pub identical: bool,
    /// `random_generator=lfsr`, which uses each block once even with `norandommap`.
    pub lfsr: bool,
    /// Percentage of reads in a mixed workload (`rwmixread`).
    pub read_percent: u32,
    /// `bs`.
    pub bs: PerOp<Option<u64>>,
    /// `bsrange`.
    pub bs_range: PerOp<Option<(u64, u64)>>,
    /// `bssplit`.
    pub bs_split: PerOp<Option<Vec<(u64, u32)>>>,
    /// `blockalign`.
    pub align: PerOp<Option<u64>>,
    /// `bs_is_seq_rand`.
    pub bs_by_order: bool,
    /// `filename`.
    pub filenames: Vec<PathBuf>,
    /// `directory`.
    pub directories: Vec<PathBuf>,
    /// `filename_format`.
    pub format: String,
    /// `nrfiles`.
    pub nrfiles: u32,
    /// Whether random choices repeat in each run (`randrepeat`); `None` if not given.
    pub repeatable: Option<bool>,
    /// `iodepth_batch_complete_max`.
    pub complete_max: Option<u32>,
    /// `dedupe_percentage` and `dedupe_working_set_percentage`.
    pub dedupe: (u32, u32),
    /// `dedupe_mode=working_set`.
    pub dedupe_in_set: bool,
    /// `dedupe_global`.
    pub dedupe_global: bool,
    /// `gtod_reduce`.
    pub gtod_reduce: bool,
    /// Waits for all previous jobs, and starts a new group (`stonewall`).
    pub stonewall: bool,
    /// Starts a new group (`new_group`).
    pub new_group: bool,
    /// `exitall`.
    pub exitall: bool,
    /// Which jobs `exitall` ends (`exit_what`).
    pub exit_what: ExitScope,
    /// `flow` and related options.
    pub flow: FlowSpec,
    /// `latency_target` and related options.
    pub latency: LatencySpec,
    /// `steadystate` and related options.
    pub steady: SteadySpec,
    /// `zonemode` and related options.
    pub zones: ZoneSpec,
    /// Sizes given as a number of zones.
    pub counts: ZoneCounts,
    /// `verify` and related options.
    pub verify: VerifySpec,
    /// Given options that work with specific engines only: name and engines.
    pub engine_options: Vec<(&'static str, &'static [&'static str])>,
}

/// Options of flow control.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct FlowSpec {
    /// 0 for none.
    pub weight: u32,
    pub id: u32,
    pub sleep: Nanos,
}

/// Options of the latency target.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LatencySpec {
    pub target: Option<Nanos>,
    pub window: Nanos,
    pub percentile: f64,
    pub keep_running: bool,
}

/// Options of steady-state detection.
#[derive(Clone, Debug)]
pub(crate) struct SteadySpec {
    /// Criterion and limit.
    pub criterion: Option<(&'static str, hakaru_model::job::rules::SteadyLimit)>,
    pub duration: Nanos,
    pub ramp: Nanos,
    pub interval: Nanos,
}

/// Options of zones.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ZoneSpec {
    /// `None` if not given.
    pub mode: Option<&'static str>,
    pub range: Bytes,
    pub size: Bytes,
    pub capacity: Bytes,
    pub skip: Bytes,
    pub max_open: u32,
    pub max_open_each: u32,
    pub read_beyond: bool,
    pub ignore_limits: bool,
    /// `zone_reset_threshold` and `zone_reset_frequency`.
    pub reset_threshold: f64,
    pub reset_frequency: f64,
}

/// Options with values in zones (`size=2z`).
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ZoneCounts {
    pub size: Option<u64>,
    pub io_size: Option<u64>,
    pub offset: Option<u64>,
    pub offset_increment: Option<u64>,
    pub skip: Option<u64>,
}

/// Options of verification; `rules.method` is not valid until `method` is set.
#[derive(Clone, Debug)]
pub(crate) struct VerifySpec {
    /// Value of `verify`; `None` if not given.
    pub method: Option<&'static str>,
    pub pattern: Vec<hakaru_model::job::rules::PatternPart>,
    pub rules: Verify,
}

impl Default for JobSpec {
    fn default() -> Self {
        let mut job = Job::new("", Target::Nothing, Access::only(Op::Read, false));
        // fio submits and reaps I/Os one by one by default.
        job.queue.batch_submit = 1;
        // fio continues after a stonewall even if earlier jobs failed.
        job.termination.exit.phases_after_error = true;
        JobSpec {
            job,
            section: None,
            extras: JobExtras::default(),
            rw: ("read", None),
            identical: false,
            lfsr: false,
            read_percent: 50,
            bs: PerOp::all(None),
            bs_range: PerOp::all(None),
            bs_split: PerOp::all(None),
            align: PerOp::all(None),
            bs_by_order: false,
            filenames: Vec::new(),
            directories: Vec::new(),
            format: "$jobname.$jobnum.$filenum".to_owned(),
            nrfiles: 1,
            repeatable: None,
            complete_max: None,
            dedupe: (0, 5),
            dedupe_in_set: false,
            dedupe_global: false,
            gtod_reduce: false,
            stonewall: false,
            new_group: false,
            exitall: false,
            exit_what: ExitScope::Group,
            flow: FlowSpec::default(),
            latency: LatencySpec {
                target: None,
                window: Nanos(0),
                percentile: 100.0,
                keep_running: false,
            },
            steady: SteadySpec {
                criterion: None,
                duration: Nanos(0),
                ramp: Nanos(0),
                interval: Nanos::SECOND,
            },
            zones: ZoneSpec::default(),
            counts: ZoneCounts::default(),
            verify: VerifySpec {
                method: None,
                pattern: Vec::new(),
                rules: Verify::by(VerifyMethod::Header),
            },
            engine_options: Vec::new(),
        }
    }
}
