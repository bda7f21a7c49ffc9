//! What charts show, as values; `text` has their sentences.

use hakaru_model::finding::SlowWhen;

/// What a chart shows, decided from its data.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum ChartTitle {
    /// All cards reach the limit of the host.
    HostBound {
        work: String,
        cards: usize,
        value: String,
    },
    /// The fastest cards reach the same speed, although they differ otherwise.
    Plateau {
        work: String,
        cards: usize,
        of: usize,
        low: String,
        high: String,
    },
    /// Rated speeds that are proven to be reached and to be missed, those that are not reached in other conditions than
    /// the maker's, and the smallest and largest share of a rated speed in percent.
    Rated {
        met: usize,
        missed: usize,
        untested: usize,
        of: usize,
        low: String,
        high: String,
    },
    /// A layer costs every card a share of its speed: the smallest and the largest one, in percent.
    LayerCosts {
        work: String,
        layer: String,
        low: String,
        high: String,
    },
    /// Some cards are proven faster through a layer, others slower: the gains with their cards, and the smallest and
    /// largest loss, in percent.
    LayerMixed {
        work: String,
        layer: String,
        gains: Vec<(String, String)>,
        losing: usize,
        of: usize,
        low: String,
        high: String,
    },
    /// All cards are proven to have the same speed through a layer as without it, within 5%.
    LayerFree {
        work: String,
        layer: String,
        cards: usize,
    },
    /// Ratios of a layer to another, without a common loss.
    LayerRatios { work: String, layer: String },
    /// One card is faster than every other; `lead` compares it with the next card.
    Fastest {
        work: String,
        card: String,
        next: String,
        lead: f64,
    },
    /// No difference between these is shown, and they have the highest means.
    FastestTie { work: String, cards: Vec<String> },
    /// No difference between any two cards is shown.
    NoDifference { work: String, cards: usize },
    /// The only card, through its only layer.
    OnlyCard { work: String, value: String },
    /// The only card: what a layer leaves of the speed of another.
    LayerLeaves {
        work: String,
        layer: String,
        reference: String,
        share: f64,
    },
    /// Smallest and largest I/O amplification.
    Amplification {
        work: String,
        low: String,
        high: String,
    },
    /// Fastest and slowest phase of one series.
    Phases {
        fastest: String,
        fast: String,
        slowest: String,
        slow: String,
        unit: String,
    },
    /// The only phase of one series.
    OnlyPhase { phase: String, value: String },
    /// Of several series, the one with the highest mean in most phases; not tested.
    HighestMeans {
        series: String,
        most: usize,
        phases: usize,
        quantity: String,
    },
    /// The verdicts of a comparison of two series.
    Compared {
        a: String,
        b: String,
        faster: usize,
        slower: usize,
        open: usize,
        /// Ratio of the second to the first, if there is only one workload.
        ratio: Option<String>,
    },
    /// A comparison of single runs: the smallest and the largest ratio of the second to the first.
    ComparedOnce {
        a: String,
        b: String,
        low: String,
        high: String,
    },
    /// Latency of one distribution.
    Latency { name: String, p99: String },
    /// Latencies of several distributions at a percentile.
    Latencies {
        work: String,
        percentile: String,
        low: (String, String),
        high: (String, String),
        /// Whether the line with the higher percentile has the lower median.
        crossing: bool,
    },
    /// Latencies that are too few for a common percentile.
    LatenciesOnly { work: String },
    /// I/Os (or flushes) far slower than the median, and when they ended.
    SlowIos {
        work: String,
        sync: bool,
        count: u64,
        from: String,
        when: SlowWhen,
    },
    /// No I/O (or flush) takes ten times the median; the limit of all latencies.
    NoSlowIos {
        work: String,
        sync: bool,
        limit: Option<String>,
    },
    /// Speed drops permanently.
    Falls {
        phase: String,
        before: String,
        after: String,
        at: String,
    },
    /// Speed drops permanently in some of several series.
    SomeFall {
        phase: String,
        falling: Vec<String>,
        of: usize,
    },
    /// Speed drops and recovers.
    Swings {
        phase: String,
        low: String,
        high: String,
        recoveries: u32,
    },
    /// Range of the speed of one series.
    Range {
        phase: String,
        low: String,
        high: String,
    },
    /// Nothing is known but the quantity.
    OverTime { phase: String },
    /// Highest point of a sweep.
    Peak {
        quantity: String,
        line: String,
        value: String,
        at: String,
    },
    /// Change of a quantity over the values of a sweep.
    SweepRange {
        quantity: String,
        line: String,
        from: String,
        to: String,
        first: String,
        last: String,
    },
}

/// What the marks of a bar chart mean.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct BarMarks {
    /// Deviations are known.
    pub(crate) spread: bool,
    /// Single runs are dots.
    pub(crate) runs: bool,
    /// Some bars have too many runs for dots, and a box instead.
    pub(crate) boxes: bool,
    /// Bars have letters of significance.
    pub(crate) letters: bool,
    /// The letters hold within one of several series.
    pub(crate) letters_by_color: bool,
    /// Bars have a mark at their rated speed.
    pub(crate) rated: bool,
}

/// Setting that varies along the horizontal axis of a sweep.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SweepAxis {
    BlockSize,
    QueueDepth,
    Jobs,
    /// Used percentage of the file system.
    FillLevel,
    Date,
}

impl SweepAxis {
    /// Part of the name of the chart.
    pub(crate) fn name(self) -> &'static str {
        match self {
            SweepAxis::BlockSize => "block-size",
            SweepAxis::QueueDepth => "queue-depth",
            SweepAxis::Jobs => "jobs",
            SweepAxis::FillLevel => "fill-level",
            SweepAxis::Date => "date",
        }
    }
}
