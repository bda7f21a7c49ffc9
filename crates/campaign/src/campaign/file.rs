//! The campaign file format: TOML with known keys only; every error has its position.
//!
//! The meaning of a file (defaults, jobs of the suite, card classes) is determined in `resolve`. Keys are documented
//! here; `docs/CAMPAIGNS.md` shows examples.

mod repeats;

pub use repeats::{RepeatRule, Until};

pub use hakaru_model::method::{CardOrder, DiscardMode, FillEntry, PointOrder, PrepareScope};
use hakaru_report::both;

use super::quantity::{PrintedSpeed, Share, Size, Time};
use serde::{Deserialize, Deserializer, de};
use std::collections::BTreeMap;
use std::ops::Range;
use std::path::PathBuf;
use toml::Spanned;

/// An error in a campaign file, with its position.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct FileError {
    /// The error and its correction.
    pub message: String,
    /// Byte range of the text that the error concerns.
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
    /// Display name.
    pub name: Spanned<String>,
    /// ID under which its runs are stored; default: the name in lower case.
    pub id: Option<Spanned<String>>,
    /// Purpose of the campaign.
    #[serde(default)]
    pub about: String,
    /// Seed of all offsets and of the shuffled order; default 1.
    pub seed: Option<u64>,
    /// Repeats of each point: a number, or until the mean is known precisely enough.
    #[serde(default)]
    pub repeats: RepeatRule,
    /// Workloads that must be steady before the rounds end, with `until = "steady"`; default: each point ends alone.
    #[serde(default)]
    pub steady: Vec<Spanned<String>>,
    /// Order of the points.
    #[serde(default)]
    pub order: PointOrder,
    /// Order of the cards; default: sequential.
    pub card_order: Option<Spanned<CardOrder>>,
    /// Measures the first layer of the first card again at the end; default false.
    pub recheck: Option<Spanned<bool>>,
    /// Pause before each run.
    pub cool_down: Option<Time>,
    /// The hosts of a fleet that measure; without any, the host that runs the campaign does.
    #[serde(default)]
    pub host: Vec<HostEntry>,
    /// The cards.
    #[serde(default)]
    pub card: Vec<CardEntry>,
    /// The layers between the application and the card.
    #[serde(default)]
    pub layer: Vec<LayerEntry>,
    /// Preparation of the storage before the measurement.
    #[serde(default)]
    pub preparation: PreparationSpec,
    /// The workloads.
    #[serde(default)]
    pub workload: Vec<Spanned<WorkloadEntry>>,
    /// Traces one more run of each point; default: no tracing.
    pub trace: Option<TraceSpec>,
    /// Limits that end the campaign.
    #[serde(default)]
    pub limits: CampaignLimits,
}

/// Tracing of the path of I/Os.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TraceSpec {
    /// Traces all of each run; otherwise what remains after the cost of tracing was measured.
    #[serde(default)]
    pub whole: bool,
}

/// A host of a fleet.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct HostEntry {
    /// Its name in the fleet.
    pub name: Spanned<String>,
    /// Maximum number of cards that it measures at the same time; default 1.
    pub parallel: Option<Spanned<u32>>,
}

/// A device model.
#[derive(Clone, Debug, Deserialize)]
#[serde(untagged)]
pub enum SimulateEntry {
    /// A file with the model as JSON.
    File(PathBuf),
    /// The model itself.
    Model(toml::Table),
}

/// A card, disk or directory.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct CardEntry {
    /// Display name.
    pub label: Option<Spanned<String>>,
    /// Its serial number, CID or by-id name; `"ask"` to be asked for it.
    pub id: Option<Spanned<String>>,
    /// Device node, if it is always the same.
    pub device: Option<PathBuf>,
    /// A directory instead of a device, measured as it is.
    pub folder: Option<PathBuf>,
    /// A device model instead: a simulated card in virtual time.
    pub simulate: Option<Spanned<SimulateEntry>>,
    /// The host that measures it; default: the host that has the card with this `id`.
    pub host: Option<Spanned<String>>,
    /// Distinguishes two settings of one card, such as `"1-bit"` and `"4-bit"`. If hosts measure the same card, their
    /// names are the default.
    pub variant: Option<String>,
    /// Rated read speed in MB/s.
    pub read: Option<PrintedSpeed>,
    /// Rated write speed in MB/s.
    pub write: Option<PrintedSpeed>,
    /// Rated classes: `C10`, `U3`, `V30`, `A1`.
    #[serde(default)]
    pub classes: Vec<Spanned<String>>,
    /// Price, as free text.
    pub price: Option<String>,
    /// Other facts.
    #[serde(default)]
    pub facts: BTreeMap<String, String>,
}

/// A layer.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct LayerEntry {
    /// `raw`, `as-is` (a directory, or the mounted file system), or a file system: `vfat`, `exfat`, `ext4`, `f2fs`,
    /// `xfs`, `btrfs`.
    pub fs: Spanned<String>,
    /// Display name; default: the file system.
    pub name: Option<Spanned<String>>,
    /// Additional options of the mkfs tool, one word each.
    #[serde(default)]
    pub mkfs: Vec<String>,
    /// Mount options, such as `"noatime"`.
    #[serde(default)]
    pub mount: String,
    /// Allows mkfs to discard the card first.
    #[serde(default)]
    pub discard: bool,
    /// Creates a partition table with one partition first: `mbr` or `gpt`.
    pub partition: Option<PartitionTableEntry>,
    /// Maximum size of a file, such as the limit of FAT.
    pub size: Option<Size>,
}

/// Kinds of partition tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PartitionTableEntry {
    /// DOS partition table.
    Mbr,
    /// GUID partition table of UEFI.
    Gpt,
}

/// Preparation of the storage before the measurement.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct PreparationSpec {
    /// Discards the whole card.
    pub discard: Option<DiscardMode>,
    /// Overwrites the whole card.
    pub fill: Option<FillEntry>,
    /// Number of times that the card is overwritten; default 1.
    #[serde(default = "once", deserialize_with = "passes")]
    pub fill_passes: u32,
    /// Frequency of discard and fill: once a card, before each layer, or before each run.
    #[serde(default)]
    pub each: PrepareScope,
    /// Fills each file system to this share before the measurement; at most 99%.
    #[serde(default, deserialize_with = "level")]
    pub fill_level: Option<Share>,
    /// Drops the caches of the host before each run.
    #[serde(default)]
    pub drop_caches: bool,
    /// Creates a new file system before each run, instead of once for all runs through it.
    #[serde(default)]
    pub fresh: bool,
}

fn once() -> u32 {
    1
}

/// Maximum number of fill passes; more only wear the card out.
const MOST_PASSES: u32 = 10;

fn passes<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u32, D::Error> {
    let passes = u32::deserialize(deserializer)?;
    match (1..=MOST_PASSES).contains(&passes) {
        true => Ok(passes),
        false => Err(de::Error::custom(both!(
            "{passes} fill passes: expected 1 to {MOST_PASSES}",
            "fill-passes = {passes}: 1〜{MOST_PASSES}を指定してください"
        ))),
    }
}

impl Default for PreparationSpec {
    fn default() -> Self {
        PreparationSpec {
            discard: None,
            fill: None,
            fill_passes: once(),
            each: PrepareScope::default(),
            fill_level: None,
            drop_caches: false,
            fresh: false,
        }
    }
}

impl PreparationSpec {
    /// Whether each run has its own preparation.
    pub(super) fn each_run_anew(&self) -> bool {
        self.fresh || self.each == PrepareScope::Run
    }
}

/// Parses a fill level; at most 99%, so that space remains for the test file.
fn level<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Share>, D::Error> {
    let share = Share::deserialize(deserializer)?;
    if share.0 > 0.99 {
        let percent = share.0 * 100.0;
        return Err(de::Error::custom(both!(
            "{percent}% leaves no space for the test file: the maximum is 99%",
            "{percent}%ではテストファイルの空きがありません（最大99%）"
        )));
    }
    Ok(Some(share))
}

/// Limits of a campaign; a later run continues from there.
#[derive(Clone, Copy, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct CampaignLimits {
    /// Starts no run that would end after this time.
    pub time: Option<Time>,
    /// Stops using a card after the campaign has written this many bytes to it.
    pub written: Option<Size>,
    /// Stops using a card after this many consecutive failed runs; default 3.
    pub failures: Option<u32>,
}

/// A workload: phases of the standard suite, a custom job, or a fio job file.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct WorkloadEntry {
    /// Names of phases of the standard suite, or `["all"]`.
    #[serde(default)]
    pub suite: Vec<Spanned<String>>,
    /// Suite only: length of each phase, `quick` or `standard`.
    pub pace: Option<SuitePace>,
    /// A fio job file.
    pub fio: Option<Spanned<PathBuf>>,
    /// The text of a fio job file.
    pub fio_text: Option<Spanned<String>>,
    /// Display name; not for the suite.
    pub name: Option<Spanned<String>>,
    /// Size of the tested area.
    pub size: Option<Size>,
    /// Type of a custom job: `read`, `write`, `randread`, `randwrite`, `rw`, `randrw`.
    pub rw: Option<Spanned<String>>,
    /// Percentage of reads in a mixed workload; default 50.
    pub rwmixread: Option<u32>,
    /// Block size.
    pub bs: Option<Size>,
    /// Maximum measured time.
    pub runtime: Option<Time>,
    /// Unmeasured ramp time.
    pub ramp_time: Option<Time>,
    /// Continues until the runtime is over; default true if a runtime is given.
    pub time_based: Option<bool>,
    /// Number of I/Os in flight.
    pub iodepth: Option<u32>,
    /// Number of workers.
    pub numjobs: Option<u32>,
    /// Whether workers share one file or use one each: `shared` or `own`.
    pub files: Option<FileSharing>,
    /// File name; workloads with the same name use the same file. Default: a file of its own.
    pub file: Option<String>,
    /// Removes the file after each run, so that each run begins with a new file.
    pub unlink: Option<bool>,
    /// I/O engine; default `psync`.
    pub ioengine: Option<Spanned<String>>,
    /// Bypasses the page cache; default true.
    pub direct: Option<bool>,
    /// Issues an `fsync` every N writes.
    pub fsync: Option<u32>,
    /// Issues an `fdatasync` every N writes.
    pub fdatasync: Option<u32>,
    /// Issues an `fsync` at the end.
    pub end_fsync: Option<bool>,
    /// Issues an `fsync` when the file is closed.
    pub fsync_on_close: Option<bool>,
    /// Opens the file with `O_SYNC`.
    pub sync: Option<bool>,
    /// Writes the whole file before the measurement; otherwise its space is only reserved.
    pub overwrite: Option<bool>,
    /// Length of an interval of results over time.
    pub tick: Option<Time>,
}

/// Length of a workload of the suite.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SuitePace {
    /// A short test for a first impression.
    Quick,
    /// The length used in published comparisons.
    Standard,
}

/// Use of files by workers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FileSharing {
    /// One file for all workers.
    #[default]
    Shared,
    /// One file for each worker.
    Own,
}

impl CampaignFile {
    /// Parses a campaign file.
    ///
    /// # Errors
    /// [`FileError`] with the position of the invalid text.
    pub fn parse(text: &str) -> Result<CampaignFile, FileError> {
        toml::from_str(text).map_err(|error| FileError {
            message: error.message().to_owned(),
            span: error.span(),
        })
    }
}
