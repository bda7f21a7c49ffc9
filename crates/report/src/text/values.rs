//! Values that several languages make sentences of.

use crate::findings::ConclusionRow;
use hakaru_model::conclusion::ConcludedRate;
use hakaru_model::io_path::{DeviceSplit, DifferencePart, IoClass};
use hakaru_model::job::Op;
use hakaru_model::units::Bytes;

/// What is known about the change of a rate over several series.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TrendVerdict {
    /// Proven.
    Slower,
    /// Proven.
    Faster,
    /// The same within the margin, proven.
    Same,
    /// Nothing is proven.
    Open,
    /// Too few series for a verdict.
    Few { have: usize, needed: usize },
}

/// The change of the rate of a workload.
pub(crate) struct SpeedChange {
    pub(crate) workload: String,
    /// First and newest rate; of a proven change, or none, the means of the earlier and the later half of the series.
    pub(crate) first: String,
    pub(crate) last: String,
    /// First and newest day.
    pub(crate) since: String,
    pub(crate) until: String,
    /// The later half of the series divided by the earlier one, with its interval.
    pub(crate) ratio: Option<String>,
    pub(crate) verdict: TrendVerdict,
}

/// What a chart of rates over dates shows.
pub(crate) enum TrendFinding {
    /// A proven change.
    Changed {
        workload: String,
        /// The later half of the series as percent of the earlier one.
        percent: String,
        slower: bool,
    },
    /// No change, proven.
    Same {
        /// The only workload.
        workload: Option<String>,
    },
    /// The range of the newest rates as percent of the first ones.
    Open {
        /// The only workload.
        workload: Option<String>,
        low: String,
        high: String,
        /// Day of the first series, if all workloads have the same.
        since: Option<String>,
    },
}

/// What each I/O of an operation became at the device.
pub(crate) struct BecameText<'a> {
    pub(crate) layer: Option<&'a str>,
    pub(crate) op: Op,
    /// Size of each I/O, if all have the same.
    pub(crate) size: Option<Bytes>,
    /// Requests per I/O.
    pub(crate) requests: f64,
    /// Bytes per I/O.
    pub(crate) bytes: f64,
    /// Requests per I/O of each class.
    pub(crate) classes: Vec<(IoClass, f64)>,
}

/// Traffic per I/O of a side, for a comparison.
pub(crate) struct SideTraffic<'a> {
    pub(crate) name: &'a str,
    /// Bytes at the device per byte of the application.
    pub(crate) bytes: f64,
    /// Requests per I/O.
    pub(crate) requests: f64,
}

/// Why one side takes longer, as a sum of times.
pub(crate) struct LongerText<'a> {
    pub(crate) operation: &'a str,
    /// The slower and the faster side.
    pub(crate) names: (&'a str, &'a str),
    /// The difference in nanoseconds; positive.
    pub(crate) difference: f64,
    /// Its 95% interval, if each side has several traced runs.
    pub(crate) ends: Option<(f64, f64)>,
    /// Its parts.
    pub(crate) parts: &'a [(DifferencePart, f64)],
    /// Whether shares of the difference may be printed.
    pub(crate) shares: bool,
    /// Whether a side has a journal.
    pub(crate) journal: bool,
}

/// A difference of device time by price, for the side that is slower on the device.
pub(crate) struct DeviceSplitText<'a> {
    pub(crate) op: Op,
    /// The slower and the faster side.
    pub(crate) names: (&'a str, &'a str),
    /// The split, with a sum of at least 0.
    pub(crate) split: DeviceSplit,
    /// Whether shares may be printed.
    pub(crate) shares: bool,
}

/// The verdict of a comparison of two figures.
pub(crate) enum ComparisonText {
    /// A significant difference; `little` if it is less than 5%.
    Different {
        direction: RatioDirection,
        little: bool,
        p: Option<String>,
    },
    /// The same within 5%.
    Equivalent { p: Option<String> },
    /// No verdict with this number of runs (0 if unknown); `needed` runs would probably decide.
    Undecided { runs: usize, needed: Option<u32> },
}

/// The slowest interval of a series over time.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct SlowestInterval {
    /// Name of the series.
    pub(crate) series: String,
    /// Its bandwidth, in bytes per second.
    pub(crate) speed: f64,
    /// Its share of the bandwidth of the whole run.
    pub(crate) share: f64,
}

/// Whether the second figure of a comparison is higher or lower.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RatioDirection {
    Higher,
    Lower,
    /// The ratio is not a number.
    Unknown,
}

/// Errors that a phase counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ErrorCount {
    FailedIos,
    /// Errors that belong to no I/O.
    Others,
}

/// Things that a page counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CountedThing {
    /// Cards, each once, or sets.
    Cards,
    Hosts,
    Layers,
    Workloads,
    PublishedRuns,
}

/// A part of the section of a card that concerns one layer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LayerPart {
    /// Figures relative to this layer.
    Against,
    Results,
    Spread,
    Uses,
}

/// One of several cards, with its figure.
pub(crate) struct Ranked<'a> {
    /// Name of the card.
    pub(crate) card: &'a str,
    /// Its figure with the unit.
    pub(crate) value: String,
}

/// Number of cards that a layer made slower or faster.
pub(crate) struct LayerEffect {
    /// Number of cards with a significantly lower figure.
    pub(crate) lower: usize,
    /// Number of cards with a significantly higher figure.
    pub(crate) higher: usize,
    /// Number of cards that are equivalent within 5%.
    pub(crate) same: usize,
    /// Number of cards with an inconclusive comparison.
    pub(crate) undecided: usize,
}

/// The best card for a use.
pub(crate) struct BestCard<'a> {
    /// Name of the card.
    pub(crate) card: &'a str,
    /// Its verdict and the reasons.
    pub(crate) reason: Option<ConclusionRow>,
    /// Whether it is suitable at all.
    pub(crate) suitable: bool,
    /// Names of cards that are not proven to be worse.
    pub(crate) level: &'a [String],
    /// Number of cards with a rank.
    pub(crate) ranked: usize,
    /// Names of cards without a rank, because figures are missing.
    pub(crate) unranked: &'a [String],
}

/// What a line of a message is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MessagePrefix {
    /// What failed.
    Error,
    /// Why it failed.
    Cause,
    /// What to do.
    Help,
    /// What makes a result less trustworthy.
    Warning,
    /// What is worth knowing.
    Note,
}

/// A card that is proven to be faster than all others.
pub(crate) struct FastestCard<'a> {
    pub(crate) card: &'a str,
    pub(crate) workload: &'a str,
    /// Its figure with the unit.
    pub(crate) value: String,
    /// Ratio to the slowest card; `None` if that one has no figure.
    pub(crate) times: Option<String>,
}

/// Suitable and unsuitable uses with the figures that decide them.
pub(crate) struct UseAnswer {
    /// The use.
    pub(crate) title: String,
    /// The deciding figure: `random read 3,790 IOPS`.
    pub(crate) figure: String,
    /// Whether intervals allow no other verdict.
    pub(crate) firm: bool,
}

/// The marks of the matrix of a comparison that occur in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ComparisonMarks {
    /// A side is proven better.
    pub(crate) framed: bool,
    /// A ratio has an interval.
    pub(crate) interval: bool,
    /// Sides are equivalent.
    pub(crate) equal: bool,
    /// A difference is not proven, or not tested.
    pub(crate) open: bool,
}

/// The kind of a compared figure, which rules the words for a difference.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FigureChange {
    /// More is better.
    Rate,
    /// Latency: less is better.
    Time,
}

/// The share of the rated speeds that an operation reaches.
pub(crate) struct RatedShare {
    pub(crate) op: Op,
    /// Smallest and largest share in percent.
    pub(crate) percent: (String, String),
    /// Cards with a rated speed, and all; `None` if all have one.
    pub(crate) cards: Option<(usize, usize)>,
    /// Whether the host perhaps limits the speed.
    pub(crate) limited: bool,
}

/// What two hosts do to the same cards.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum HostEffectKind {
    /// The host at this index is faster.
    Faster(usize),
    /// The hosts are proven to differ, by less than 5%.
    Minor,
    /// No difference of the hosts is proven, or only one that matters little.
    NotProven,
    /// Which host is faster depends on the card.
    ByCard,
}

/// Whether a ratio rests on too few runs to show how they vary.
pub(crate) fn is_thin(rate: &ConcludedRate) -> bool {
    /// Fewest runs that show how they vary.
    const TELLING_RUNS: u32 = 3;
    rate.runs.iter().any(|runs| *runs < TELLING_RUNS)
}

/// The difference between two series, from the side that is faster.
pub(crate) struct PairAnswer<'a> {
    pub(crate) faster: &'a str,
    pub(crate) slower: &'a str,
    pub(crate) workload: &'a str,
    pub(crate) ratio: String,
    pub(crate) interval: Option<(String, String)>,
}

/// A run among the runs of a series at one moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RunOrder {
    Median,
    Slowest,
    Fastest,
}

impl RunOrder {
    pub(crate) const ALL: [RunOrder; 3] = [RunOrder::Median, RunOrder::Slowest, RunOrder::Fastest];
}

/// A part of a page with its own heading.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PagePart {
    /// The answer; only in the list of contents.
    Result,
    Differences,
    Limits,
    EachCard,
    NotCounted,
    Proofs,
    BadPlaces,
}

/// A device that would be erased.
#[derive(Clone, Copy, Debug)]
pub struct EraseTarget<'a> {
    /// Number of the partition, if it is one.
    pub partition: Option<u32>,
    /// Name of the mapping, if it is one.
    pub mapping: Option<&'a str>,
    /// Name of the device.
    pub name: &'a str,
    /// Its size.
    pub size: Bytes,
    /// Its path.
    pub path: &'a str,
}

/// Where a benchmark runs.
#[derive(Clone, Copy, Debug)]
pub enum BenchPlace<'a> {
    /// A file in the current directory.
    CurrentDirectory,
    /// A file in a directory.
    Directory(&'a str),
    /// A device.
    Device(&'a str),
    /// A simulated card.
    Simulated,
}

/// Usage errors of `verify`.
#[derive(Clone, Copy, Debug)]
pub enum VerifyUsage<'a> {
    /// Both outputs are standard output.
    TwoOutputs,
    /// The path is neither a device nor a directory.
    NotATarget(&'a str),
    /// The path does not exist.
    NotThere(&'a str),
    /// A parent directory does not permit access.
    Denied(&'a str),
    /// Another error at the path.
    Unreadable(&'a str, &'a str),
    /// Options of devices were given for a directory.
    OnlyForDevices,
}

/// What failed, as the context of an error; each path or name is a value.
#[derive(Clone, Copy, Debug)]
pub enum FailedAction<'a> {
    /// Reading a file.
    Read(&'a str),
    /// Reading a file as text.
    ReadAsText(&'a str),
    /// Reading a stored record: its kind and ID.
    ReadStored(&'a str, &'a str),
    /// Writing or removing a file or directory.
    Write(&'a str),
    /// Writing a report.
    WriteReport(&'a str),
    /// Creating the directory of reports.
    CreateReportDirectory(&'a str),
    /// Using the free space of a directory.
    UseFreeSpace(&'a str),
    /// Determining the free space of a directory.
    DetermineFreeSpace(&'a str),
    /// Storing a result.
    StoreResult,
}

/// What happened to a link to the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LinkChange {
    /// It was created.
    Created,
    /// It existed already.
    Kept,
    /// It was removed.
    Removed,
    /// There was nothing to remove.
    Absent,
    /// Something else is at its path, and was not changed.
    Left,
}

/// Which program a shell runs after links were created.
#[derive(Clone, Copy, Debug)]
pub enum LinkNote<'a> {
    /// Their directory is not in `PATH`.
    NotInPath {
        /// The directory of the links.
        directory: &'a str,
    },
    /// A link comes before another program of its name.
    Hides {
        /// Name of the link.
        name: &'a str,
        /// Path of the other program.
        other: &'a str,
        /// The directory of the links.
        directory: &'a str,
    },
    /// Another program comes before the link of its name.
    HiddenBy {
        /// Name of the link.
        name: &'a str,
        /// Path of the other program.
        other: &'a str,
        /// The directory of the links.
        directory: &'a str,
    },
}

/// A figure of rounds that end in steady state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RoundFigure {
    Iops,
    Throughput,
    MeanLatency,
    MaxLatency,
}

/// What a chart of rounds shows, decided from its data.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum RoundTitle {
    /// A workload was in steady state in its measurement window.
    Steady {
        work: String,
        /// First and last round of the window.
        rounds: (u32, u32),
        value: String,
    },
    /// It was not.
    Unsteady { work: String, rounds: u32 },
    /// There are fewer rounds than a window has.
    Few { work: String, rounds: u32 },
    /// All block sizes of a mix.
    All { work: String, rounds: u32 },
    /// A figure of all workloads: the smallest and the largest, with what they belong to.
    Table {
        figure: RoundFigure,
        steady: bool,
        low: (String, String),
        high: (String, String),
    },
    /// Random writes over the whole device: IOPS at the start and at the end.
    Saturation {
        work: String,
        first: String,
        last: String,
    },
}

/// The path of an I/O by the design of Linux, not measured.
pub(crate) struct IoSteps {
    /// Title.
    pub(crate) title: &'static str,
    /// Headings: the step, and what it can add.
    pub(crate) head: [&'static str; 2],
    /// The steps in order.
    pub(crate) steps: [[&'static str; 2]; 6],
}
