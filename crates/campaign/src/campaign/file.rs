//! The campaign file as it is written: TOML, every key known, every error with its place.
//!
//! What a file means (defaults, the suite's jobs, card classes) is worked out in `resolve`. Keys are documented here,
//! once; `docs/CAMPAIGNS.md` shows them in use.

use super::quantity::{PrintedSpeed, Share, Size, Time};
use serde::de::value::MapAccessDeserializer;
use serde::{Deserialize, Deserializer, de};
use std::collections::BTreeMap;
use std::fmt;
use std::ops::Range;
use std::path::PathBuf;
use toml::Spanned;

/// Why a text is not a campaign, and where.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct FileError {
    /// What is wrong, and what to write instead.
    pub message: String,
    /// Bytes of the text it is about.
    pub span: Option<Range<usize>>,
}

impl FileError {
    pub(super) fn at<T>(place: &Spanned<T>, message: impl Into<String>) -> FileError {
        FileError {
            message: message.into(),
            span: Some(place.span()),
        }
    }
}

/// A campaign file.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct CampaignFile {
    /// What to call it.
    pub name: Spanned<String>,
    /// Under which id its runs are stored; the name in lower case when left out.
    pub id: Option<Spanned<String>>,
    /// What it is for.
    #[serde(default)]
    pub about: String,
    /// Where all offsets and the shuffled order come from; 1 when left out.
    pub seed: Option<u64>,
    /// How often each point is measured: a number, or until its mean is known well enough.
    #[serde(default)]
    pub repeats: RepeatRule,
    /// In which order.
    #[serde(default)]
    pub order: PointOrder,
    /// In which order cards are measured; one after another when left out.
    pub card_order: Option<Spanned<CardOrder>>,
    /// Measures the first layer of the first card again at the end; false when left out.
    pub recheck: Option<Spanned<bool>>,
    /// Pause before each run.
    pub cool_down: Option<Time>,
    /// The cards.
    #[serde(default)]
    pub card: Vec<CardEntry>,
    /// What lies between application and card.
    #[serde(default)]
    pub layer: Vec<LayerEntry>,
    /// What is done to the storage before it is measured.
    #[serde(default)]
    pub preparation: PreparationSpec,
    /// What is measured.
    #[serde(default)]
    pub workload: Vec<Spanned<WorkloadEntry>>,
    /// When to stop.
    #[serde(default)]
    pub limits: CampaignLimits,
}

/// How often each point is measured.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum RepeatRule {
    /// So often.
    Times(u32),
    /// Until half the 95 % confidence interval of the mean is under a share of it.
    Until(Until),
}

/// When a mean is known well enough.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Until {
    /// Half the width of the interval, as a share of the mean.
    pub until: Share,
    /// At least so often; 3 when left out.
    #[serde(default = "three")]
    pub at_least: u32,
    /// At most so often.
    pub at_most: u32,
}

fn three() -> u32 {
    3
}

/// More repeats than these are a slip of the hand.
pub const MOST_REPEATS: u32 = 10_000;

/// Fewest runs after which a point may be known. Two happen to lie close together often: by simulation of normal runs that
/// differ by 1 to 5 %, `until = "2 %"`, 95 % intervals cover the truth in 88 to 94 % of campaigns, and with three in 90 to 95 %.
pub const FEWEST_UNTIL: u32 = 3;

impl Default for RepeatRule {
    fn default() -> Self {
        RepeatRule::Times(3)
    }
}

impl RepeatRule {
    /// The most there can be.
    pub fn most(self) -> u32 {
        match self {
            RepeatRule::Times(n) => n,
            RepeatRule::Until(until) => until.at_most,
        }
    }

    fn sound<E: de::Error>(self) -> Result<RepeatRule, E> {
        match self {
            RepeatRule::Times(n) if !(1..=MOST_REPEATS).contains(&n) => Err(E::custom(format!(
                "{n} repeats: expected 1 to {MOST_REPEATS}"
            ))),
            RepeatRule::Until(Until {
                at_least, at_most, ..
            }) if at_least < FEWEST_UNTIL || at_most < at_least || at_most > MOST_REPEATS => {
                let wanted = format!(
                    "expected {FEWEST_UNTIL} ≤ at-least ≤ at-most ≤ {MOST_REPEATS}, because two \
                    runs agree by chance too often"
                );
                Err(E::custom(format!(
                    "at-least = {at_least}, at-most = {at_most}: {wanted}"
                )))
            }
            sound => Ok(sound),
        }
    }
}

impl<'de> Deserialize<'de> for RepeatRule {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<RepeatRule, D::Error> {
        deserializer.deserialize_any(RepeatsVisitor)
    }
}

struct RepeatsVisitor;

impl<'de> de::Visitor<'de> for RepeatsVisitor {
    type Value = RepeatRule;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a number such as 10, or { until = \"2%\", at-least = 3, at-most = 20 }")
    }

    fn visit_i64<E: de::Error>(self, number: i64) -> Result<RepeatRule, E> {
        RepeatRule::Times(u32::try_from(number).unwrap_or(0)).sound()
    }

    fn visit_map<A: de::MapAccess<'de>>(self, map: A) -> Result<RepeatRule, A::Error> {
        RepeatRule::Until(Until::deserialize(MapAccessDeserializer::new(map))?).sound()
    }
}

/// In which order the points of a card are measured.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PointOrder {
    /// All repeats of a workload, then the next workload, then the next layer: the fewest preparations.
    #[default]
    Blocked,
    /// One repeat of each workload in turn, layer by layer: a drift of the card spreads over all workloads.
    Interleaved,
    /// All points of a card in an order drawn by the seed: a drift spreads over everything. Needs a new file system
    /// each time the layer changes.
    Shuffled,
}

/// In which order cards are measured. All but [`CardOrder::Sequential`] change the card after each run, which needs all
/// cards to be present together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CardOrder {
    /// One card after another: cards can be swapped by hand, but drift of the host is confounded with the cards.
    #[default]
    Sequential,
    /// One run of each card in turn, in the order of the file.
    Interleaved,
    /// One run of each card in turn; every second repeat in the reverse order, which cancels a linear drift.
    Abba,
    /// One run of each card in turn, in an order that the seed draws anew for each turn.
    Shuffled,
}

impl CardOrder {
    /// Whether the card changes after each run.
    pub fn takes_turns(self) -> bool {
        self != CardOrder::Sequential
    }

    /// Its name in the campaign file.
    pub fn name(self) -> &'static str {
        match self {
            CardOrder::Sequential => "sequential",
            CardOrder::Interleaved => "interleaved",
            CardOrder::Abba => "abba",
            CardOrder::Shuffled => "shuffled",
        }
    }
}

/// One card, disk or folder.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct CardEntry {
    /// What to call it.
    pub label: Option<Spanned<String>>,
    /// Its serial number, CID or by-id name; `"ask"` to be asked for it.
    pub id: Option<Spanned<String>>,
    /// The node it appears as, where that is always the same.
    pub device: Option<PathBuf>,
    /// A folder instead of a device: measured as it is.
    pub folder: Option<PathBuf>,
    /// A price list (JSON) instead: a simulated card in virtual time.
    pub simulate: Option<Spanned<PathBuf>>,
    /// Tells one card in two settings apart, such as `"1-bit"` and `"4-bit"`.
    pub variant: Option<String>,
    /// Printed read speed, MB/s.
    pub read: Option<PrintedSpeed>,
    /// Printed write speed, MB/s.
    pub write: Option<PrintedSpeed>,
    /// Printed classes: `C10`, `U3`, `V30`, `A1`.
    #[serde(default)]
    pub classes: Vec<Spanned<String>>,
    /// What it cost, in any words.
    pub price: Option<String>,
    /// Anything else worth knowing.
    #[serde(default)]
    pub facts: BTreeMap<String, String>,
}

/// One layer.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct LayerEntry {
    /// `raw`, `as-is` (a folder, or whatever is mounted), or a file system: `vfat`, `exfat`, `ext4`, `f2fs`, `xfs`, `btrfs`.
    pub fs: Spanned<String>,
    /// What to call it; the file system when left out.
    pub name: Option<Spanned<String>>,
    /// Further options of the mkfs tool, one word each.
    #[serde(default)]
    pub mkfs: Vec<String>,
    /// Mount options, such as `"noatime"`.
    #[serde(default)]
    pub mount: String,
    /// Lets mkfs discard the card first.
    #[serde(default)]
    pub discard: bool,
    /// Makes a partition table with one partition first: `mbr` or `gpt`.
    pub partition: Option<PartitionTableEntry>,
    /// At most so many bytes a file, as FAT has it.
    pub size: Option<Size>,
}

/// Kinds of partition tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PartitionTableEntry {
    /// The old one of PCs.
    Mbr,
    /// The one of UEFI.
    Gpt,
}

/// What is done to the storage before it is measured.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct PreparationSpec {
    /// Discards the whole card.
    pub discard: Option<DiscardMode>,
    /// Overwrites the whole card.
    pub fill: Option<FillEntry>,
    /// How often: once a card, before each layer, or before each run.
    #[serde(default)]
    pub each: PrepareScope,
    /// Uses up so much of a file system before it is measured: 99 % at most.
    #[serde(default, deserialize_with = "level")]
    pub fill_level: Option<Share>,
    /// Empties the caches of the host before each run.
    #[serde(default)]
    pub drop_caches: bool,
    /// Makes the file system anew before each run, rather than once for all runs through it.
    #[serde(default)]
    pub fresh: bool,
}

impl PreparationSpec {
    /// Whether no two runs share a preparation.
    pub fn each_run_anew(&self) -> bool {
        self.fresh || self.each == PrepareScope::Run
    }
}

/// A share that leaves room for what is measured.
fn level<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Share>, D::Error> {
    let share = Share::deserialize(deserializer)?;
    if share.0 > 0.99 {
        let percent = share.0 * 100.0;
        return Err(de::Error::custom(format!(
            "{percent}% leaves no space for the test file: the maximum is 99%"
        )));
    }
    Ok(Some(share))
}

/// How a card is discarded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum DiscardMode {
    /// Plainly; a card that takes none is an error.
    Plain,
    /// So that the data is gone.
    Secure,
    /// Plainly, where the card takes it.
    WhereOffered,
}

/// What a card is overwritten with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FillEntry {
    /// 0xff: what erased flash reads as.
    Ones,
    /// 0x00.
    Zeroes,
    /// Bytes that do not compress.
    Random,
}

/// How often the whole card is prepared.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PrepareScope {
    /// Once.
    #[default]
    Card,
    /// Each time another layer begins.
    Layer,
    /// Before each run, with a file system made anew each time: every run begins in one and the same state.
    Run,
}

/// When to stop; a later run goes on from there.
#[derive(Clone, Copy, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct CampaignLimits {
    /// Begins no run that would end after so much time.
    pub time: Option<Time>,
    /// Leaves a card alone once so much was written to it by this campaign.
    pub written: Option<Size>,
    /// Gives a card up after so many failed runs on end; 3 when left out.
    pub failures: Option<u32>,
}

/// What is measured: some of the standard suite, a job of one's own, or a fio job file.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct WorkloadEntry {
    /// Phases of the standard suite by name, or `["all"]`.
    #[serde(default)]
    pub suite: Vec<Spanned<String>>,
    /// Of the suite: how long each takes, `quick` or `standard`.
    pub pace: Option<SuitePace>,
    /// A fio job file.
    pub fio: Option<Spanned<PathBuf>>,
    /// The text of a fio job file.
    pub fio_text: Option<Spanned<String>>,
    /// What to call it: for everything but the suite.
    pub name: Option<Spanned<String>>,
    /// Bytes to work on.
    pub size: Option<Size>,
    /// A job of one's own begins with this: `read`, `write`, `randread`, `randwrite`, `rw`, `randrw`.
    pub rw: Option<Spanned<String>>,
    /// Hundredths of a mix that are reads; 50 when left out.
    pub rwmixread: Option<u32>,
    /// Bytes an I/O.
    pub bs: Option<Size>,
    /// Longest measured time.
    pub runtime: Option<Time>,
    /// Unmeasured lead-in.
    pub ramp_time: Option<Time>,
    /// Goes on until the time is over; true when left out and a runtime is given.
    pub time_based: Option<bool>,
    /// I/Os in flight.
    pub iodepth: Option<u32>,
    /// Workers.
    pub numjobs: Option<u32>,
    /// Whether workers share one file or each has its own: `shared` or `own`.
    pub files: Option<FileSharing>,
    /// Name of the file: workloads with one name work on one file. Its own name when left out.
    pub file: Option<String>,
    /// Removes the file after each run, so that each begins with a new one.
    pub unlink: Option<bool>,
    /// How I/O is issued; `psync` when left out.
    pub ioengine: Option<Spanned<String>>,
    /// Past the page cache; true when left out.
    pub direct: Option<bool>,
    /// `fsync` after so many writes.
    pub fsync: Option<u32>,
    /// `fdatasync` after so many writes.
    pub fdatasync: Option<u32>,
    /// `fsync` once all is written.
    pub end_fsync: Option<bool>,
    /// `fsync` when the file is closed.
    pub fsync_on_close: Option<bool>,
    /// Opens with O_SYNC.
    pub sync: Option<bool>,
    /// Writes the file in full before it is measured; otherwise its space is only reserved.
    pub overwrite: Option<bool>,
    /// Length of an interval over time.
    pub tick: Option<Time>,
}

/// How long a workload of the suite takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SuitePace {
    /// A first impression.
    Quick,
    /// As published comparisons do it.
    Standard,
}

/// Which files workers use.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FileSharing {
    /// One for all.
    #[default]
    Shared,
    /// Each its own.
    Own,
}

impl CampaignFile {
    /// Reads a campaign file.
    ///
    /// # Errors
    /// A [`FileError`] with the place of the word that was not understood.
    pub fn parse(text: &str) -> Result<CampaignFile, FileError> {
        toml::from_str(text).map_err(|error| FileError {
            message: error.message().to_owned(),
            span: error.span(),
        })
    }
}
