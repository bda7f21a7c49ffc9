//! Result of parsing a fio command line: a scenario, its report settings, and the options as typed.
//!
//! Contains only the types; the sibling modules do the parsing.

use hakaru_model::job::{BlockSize, Job, Scenario};
use hakaru_model::units::Nanos;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

/// Host facts and callbacks that the parser needs. They are all passed in, so that parsing is pure and testable.
#[derive(Clone, Copy)]
pub struct ParseContext<'a> {
    /// An environment variable, for `${NAME}` in job files.
    pub env: &'a dyn Fn(&str) -> Option<String>,
    /// Reads a whole job file or included file; the path `-` is standard input.
    pub read_file: &'a dyn Fn(&Path) -> io::Result<Vec<u8>>,
    /// Whether a path exists.
    pub path_exists: &'a dyn Fn(&Path) -> bool,
    /// Number of online processors, for `$ncpus`.
    pub cpu_count: u32,
    /// Page size in bytes, for `$pagesize`.
    pub page_size: u64,
    /// Memory in MiB, for `$mb_memory`.
    pub memory_mb: u64,
}

impl fmt::Debug for ParseContext<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ParseContext {
            cpu_count,
            page_size,
            memory_mb,
            ..
        } = self;
        write!(
            f,
            "ParseContext {{ cpu_count: {cpu_count}, page_size: {page_size}, memory_mb: {memory_mb}, .. }}"
        )
    }
}

/// A parsed fio invocation.
#[derive(Clone, Debug, PartialEq)]
pub struct Invocation {
    /// The action for the caller.
    pub action: FioAction,
    /// The workload to measure. `stonewall` separates its phases. Empty unless the action needs jobs.
    ///
    /// Jobs with `randrepeat=1` (fio's default) have their own seeds. Only jobs with `randrepeat=0` use the seed of the
    /// scenario, which is 0 here: the caller sets a new one.
    pub scenario: Scenario,
    /// Job settings that are not in the scenario: `extras[phase][job]` belongs to
    /// `scenario.phases[phase].jobs[job]`.
    pub extras: Vec<Vec<JobExtras>>,
    /// Global options as typed, in order: the "global options" of the JSON output.
    pub global_options: Vec<(String, String)>,
    /// Report settings and limits of the run.
    pub settings: Settings,
    /// Warnings for standard error, one line each.
    pub warnings: Vec<String>,
}

/// The action for the caller.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FioAction {
    /// Run the scenario.
    Run,
    /// Exit: the jobs were parsed without error (`--parse-only`).
    ParseOnly,
    /// Print this to standard output and exit with this code (`--version`, `--help`, `--cmdhelp`, `--enghelp`,
    /// `--showcmd`).
    Print {
        /// Text to print; ends with a newline.
        text: String,
        /// Exit code.
        exit_code: u8,
    },
    /// Measure the throughput of these checksums (comma-separated), or of all (`--crctest`).
    TestChecksums(Option<String>),
    /// Test whether the clocks of all CPUs agree (`--cpuclock-test`).
    TestClock,
}

/// Output format of the result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum OutputFormat {
    /// Human-readable text.
    Normal,
    /// JSON.
    Json,
    /// JSON with histogram bins.
    JsonPlus,
    /// One line of fields separated by semicolons.
    Terse,
}

/// When to show progress.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum EtaMode {
    /// Only on a terminal.
    #[default]
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

/// Condition that ends all jobs early (`--trigger-file` and related options).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Trigger {
    /// Fires when this file exists.
    pub file: Option<PathBuf>,
    /// Fires this long after the start of the run.
    pub timeout: Option<Nanos>,
    /// Command to run after the trigger fires and the jobs have saved their progress.
    pub command: Option<String>,
}

impl Trigger {
    /// Whether any condition is set.
    pub(crate) fn may_fire(&self) -> bool {
        self.file.is_some() || self.timeout.is_some()
    }
}

/// CPU idleness report (`--idle-prof`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IdleProf {
    /// One figure for all CPUs together.
    System,
    /// One figure per CPU.
    PerCpu,
    /// Calibrate the unit of work only, without running jobs.
    Calibrate,
}

/// Command-line options that apply to the whole run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// Destination of the result; `None`: standard output.
    pub output: Option<PathBuf>,
    /// Output formats, at least one, without duplicates, in the order fio prints them.
    pub formats: Vec<OutputFormat>,
    /// Version of the terse form: 2 to 5.
    pub terse_version: u8,
    /// When to show progress.
    pub eta: EtaMode,
    /// Interval in ms after which the progress line starts on a new line.
    pub eta_newline_ms: Option<u64>,
    /// Interval between progress updates, in ms.
    pub eta_interval_ms: u64,
    /// Interval between intermediate results, in ms.
    pub status_interval_ms: Option<u64>,
    /// Rejects jobs that write.
    pub read_only: bool,
    /// Writes logs of the aggregate bandwidth of all jobs.
    pub bandwidth_log: bool,
    /// Condition that ends the run early.
    pub trigger: Trigger,
    /// Reports CPU idleness in the result.
    pub idle_prof: Option<IdleProf>,
    /// Directory of verify state files [default: the current directory].
    pub aux_path: Option<PathBuf>,
}

impl Default for Settings {
    fn default() -> Self {
        Settings {
            output: None,
            formats: vec![OutputFormat::Normal],
            terse_version: 3,
            eta: EtaMode::Auto,
            eta_newline_ms: None,
            eta_interval_ms: 1000,
            status_interval_ms: None,
            read_only: false,
            bandwidth_log: false,
            trigger: Trigger::default(),
            idle_prof: None,
            aux_path: None,
        }
    }
}

/// Whether reads, writes and trims are reported separately (`unified_rw_reporting`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum UnifiedReporting {
    /// Separately.
    #[default]
    None,
    /// Only their sum.
    Mixed,
    /// Both.
    Both,
}

/// Report settings of one job that do not affect the engine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JobExtras {
    /// The value of `rw` as fio prints it; `None`: derived from the workload.
    pub rw: Option<&'static str>,
    /// Text about the job (`description`).
    pub description: Option<String>,
    /// Directories of its files (`directory`); they must exist even if unused.
    pub directories: Vec<PathBuf>,
    /// Block sizes of sequential and random I/O, instead of read and write sizes
    /// (`bs_is_seq_rand`).
    pub by_order: Option<(BlockSize, BlockSize)>,
    /// 1024 or 1000: prefixes of quantities in the text output.
    pub kb_base: u32,
    /// 0 (bytes), 8 (bytes) or 1 (bits): unit of the bandwidths in the text output.
    pub unit_base: u32,
    /// Significant figures in the text output.
    pub significant_figures: u32,
    /// Whether operations are reported separately.
    pub unified: UnifiedReporting,
    /// Whether statistics of this job are reported (`stats`).
    pub stats: bool,
    /// Whether disk statistics are shown (`disk_util`).
    pub disk_util: bool,
    /// Whether percentiles of completion latency are shown.
    pub clat_percentiles: bool,
    /// Percentiles of total latency are shown.
    pub lat_percentiles: bool,
    /// Percentiles of submission latency are shown.
    pub slat_percentiles: bool,
    /// Whether the job repeats its offsets in each run only because that is fio's default (neither `randrepeat` nor
    /// `randseed` was given).
    pub seed_by_default: bool,
    /// Whether `thread` was given; affects only the start line.
    pub thread: bool,
    /// Log files to write.
    pub logs: LogPlan,
}

impl Default for JobExtras {
    fn default() -> Self {
        JobExtras {
            rw: None,
            description: None,
            directories: Vec::new(),
            by_order: None,
            kb_base: 1024,
            unit_base: 0,
            significant_figures: 4,
            unified: UnifiedReporting::None,
            stats: true,
            disk_util: true,
            clat_percentiles: true,
            lat_percentiles: false,
            slat_percentiles: false,
            seed_by_default: false,
            thread: false,
            logs: LogPlan::default(),
        }
    }
}

/// Log files of one job. Prefixes are as typed; an empty one (given without a value) means the job
/// name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogPlan {
    /// Prefix of the bandwidth log.
    pub bw: Option<String>,
    /// Prefix of the IOPS log.
    pub iops: Option<String>,
    /// Prefix of the latency logs (`lat`, `slat`, `clat`).
    pub lat: Option<String>,
    /// Prefix of the log of completion latency histograms.
    pub hist: Option<String>,
    /// Averaging window in ms; 0 logs each I/O.
    pub avg_msec: u64,
    /// Interval between histogram entries, in milliseconds.
    pub hist_msec: u64,
    /// Joins 2^N neighboring bins, N from 0 to 6.
    pub hist_coarseness: u32,
    /// Logs the maximum of each window instead of the mean.
    pub max_value: bool,
    /// Logs both the mean and the maximum.
    pub both_values: bool,
    /// Adds the offset of each I/O.
    pub offset: bool,
    /// Adds the priority of each I/O.
    pub prio: bool,
    /// Adds the issue time of each I/O.
    pub issued: bool,
    /// Adds the job number to the file name.
    pub per_job: bool,
    /// Logs Unix time instead of time since the start.
    pub unix_epoch: bool,
    /// Window of the bandwidth samples, in ms.
    pub bwavgtime_ms: u64,
    /// Window of the IOPS samples, in ms.
    pub iopsavgtime_ms: u64,
}

impl Default for LogPlan {
    fn default() -> Self {
        LogPlan {
            bw: None,
            iops: None,
            lat: None,
            hist: None,
            avg_msec: 0,
            hist_msec: 0,
            hist_coarseness: 0,
            max_value: false,
            both_values: false,
            offset: false,
            prio: false,
            issued: false,
            per_job: true,
            unix_epoch: false,
            bwavgtime_ms: 500,
            iopsavgtime_ms: 500,
        }
    }
}

impl Invocation {
    /// Jobs with their extra settings, in the order fio numbers them.
    pub fn jobs(&self) -> impl Iterator<Item = (&Job, &JobExtras)> {
        let jobs = self.scenario.phases.iter().flat_map(|phase| &phase.jobs);
        jobs.zip(self.extras.iter().flatten())
    }
}
