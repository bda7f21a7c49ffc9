//! What a fio command line comes down to: a scenario, how it is to be reported, and what was typed.
//!
//! The nouns of the parser only; how text becomes one of them is in its siblings.

use hakaru_model::job::{BlockSize, Job, Scenario};
use hakaru_model::units::Nanos;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

/// What the parser has to ask of the world. Everything comes through here, so that parsing is pure and testable.
#[derive(Clone, Copy)]
pub struct ParseContext<'a> {
    /// An environment variable, for `${NAME}` in job files.
    pub env: &'a dyn Fn(&str) -> Option<String>,
    /// Reads a job file or an included one whole; the path `-` is standard input.
    pub read_file: &'a dyn Fn(&Path) -> io::Result<Vec<u8>>,
    /// Whether a path exists.
    pub path_exists: &'a dyn Fn(&Path) -> bool,
    /// Processors online, for `$ncpus`.
    pub cpu_count: u32,
    /// Bytes of a page of memory, for `$pagesize`.
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
    /// What the edge has to do.
    pub action: FioAction,
    /// What is to be measured. Its phases are what `stonewall` separates; empty unless the action needs jobs.
    ///
    /// Jobs with `randrepeat=1` (fio's default) have their own seeds. Only jobs with `randrepeat=0`
    /// use the seed of the scenario, which is 0 here: the caller sets a new one.
    pub scenario: Scenario,
    /// Job settings that are not in the scenario: `extras[phase][job]` belongs to
    /// `scenario.phases[phase].jobs[job]`.
    pub extras: Vec<Vec<JobExtras>>,
    /// Options of all jobs as they were typed, in order: the "global options" of the JSON output.
    pub global_options: Vec<(String, String)>,
    /// How the run is to be shown and bounded.
    pub settings: Settings,
    /// For standard error, one line each.
    pub warnings: Vec<String>,
}

/// What the edge has to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FioAction {
    /// Run the scenario.
    Run,
    /// Nothing more: the jobs were understood (`--parse-only`).
    ParseOnly,
    /// Print this to standard output and leave with this exit code (`--version`, `--help`, `--cmdhelp`, `--enghelp`,
    /// `--showcmd`).
    Print {
        /// What to print; ends with a newline.
        text: String,
        /// Exit code.
        exit_code: u8,
    },
    /// Measure how fast checksums are: these, separated by commas, or all (`--crctest`).
    TestChecksums(Option<String>),
    /// Test whether the clocks of all CPUs agree (`--cpuclock-test`).
    TestClock,
}

/// A form of the result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum OutputFormat {
    /// Text for people.
    Normal,
    /// JSON.
    Json,
    /// JSON with the bins of the histograms.
    JsonPlus,
    /// One line of fields separated by semicolons.
    Terse,
}

/// When progress is shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum EtaMode {
    /// On a terminal.
    #[default]
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

/// What ends all jobs before their time (`--trigger-file` and its kin).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Trigger {
    /// When this file exists.
    pub file: Option<PathBuf>,
    /// The time since the start of the run.
    pub timeout: Option<Nanos>,
    /// Command that runs then, when the jobs have saved how far they came.
    pub command: Option<String>,
}

impl Trigger {
    /// Whether anything can set it off.
    pub fn may_fire(&self) -> bool {
        self.file.is_some() || self.timeout.is_some()
    }
}

/// CPU idleness report (`--idle-prof`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IdleProf {
    /// Of all together.
    System,
    /// Of each.
    PerCpu,
    /// Only how long a unit of work takes, and no run.
    Calibrate,
}

/// Options of the command line that concern the whole run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// Destination of the result; `None`: standard output.
    pub output: Option<PathBuf>,
    /// Output formats, at least one, without duplicates, in the order fio prints them.
    pub formats: Vec<OutputFormat>,
    /// Version of the terse form: 2 to 5.
    pub terse_version: u8,
    /// When progress is shown.
    pub eta: EtaMode,
    /// Starts a new line of progress so often.
    pub eta_newline_ms: Option<u64>,
    /// Time between two lines of progress.
    pub eta_interval_ms: u64,
    /// Prints the result so far so often.
    pub status_interval_ms: Option<u64>,
    /// Refuses to write.
    pub read_only: bool,
    /// Writes logs of the bandwidth of all jobs together.
    pub bandwidth_log: bool,
    /// What ends the run before its time.
    pub trigger: Trigger,
    /// Processors' idle time in the result.
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

/// Whether reads, writes and trims are reported apart (`unified_rw_reporting`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum UnifiedReporting {
    /// Apart.
    #[default]
    None,
    /// Only their sum.
    Mixed,
    /// Both.
    Both,
}

/// What concerns the reporting of one job, and no engine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JobExtras {
    /// The value of `rw` as fio prints it; `None`: derived from the workload.
    pub rw: Option<&'static str>,
    /// Text about the job (`description`).
    pub description: Option<String>,
    /// Directories of its files (`directory`), which must exist in any case.
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
    /// Whether operations are reported apart.
    pub unified: UnifiedReporting,
    /// Whether there are statistics of this job at all (`stats`).
    pub stats: bool,
    /// Whether disk statistics are shown (`disk_util`).
    pub disk_util: bool,
    /// Percentiles of completion latency are shown.
    pub clat_percentiles: bool,
    /// Percentiles of total latency are shown.
    pub lat_percentiles: bool,
    /// Percentiles of submission latency are shown.
    pub slat_percentiles: bool,
    /// Whether the job draws the same offsets in each run only because fio does so by default, and says nothing of it
    /// (`randrepeat`, `randseed`).
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
    /// Writes a histogram so often, in milliseconds.
    pub hist_msec: u64,
    /// 0 to 6: how many neighbouring bins are joined, as a power of two.
    pub hist_coarseness: u32,
    /// The largest of a window rather than the mean.
    pub max_value: bool,
    /// Both of them.
    pub both_values: bool,
    /// Adds the offset of each I/O.
    pub offset: bool,
    /// Adds the priority of each I/O.
    pub prio: bool,
    /// Adds when each I/O was issued.
    pub issued: bool,
    /// The number of the job in the file's name.
    pub per_job: bool,
    /// Times count from 1970 rather than from the start.
    pub unix_epoch: bool,
    /// Window of the bandwidth samples, milliseconds.
    pub bwavgtime_ms: u64,
    /// Window of the IOPS samples, milliseconds.
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
    /// The jobs with what belongs to them, in the order fio numbers them.
    pub fn jobs(&self) -> impl Iterator<Item = (&Job, &JobExtras)> {
        let jobs = self.scenario.phases.iter().flat_map(|phase| &phase.jobs);
        jobs.zip(self.extras.iter().flatten())
    }
}
