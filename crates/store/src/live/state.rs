//! What a running process publishes.

use super::owner::LiveOwner;
use serde::{Deserialize, Serialize};

/// Maximum number of notes in a state.
const MAX_NOTES: usize = 20;

/// State of a running process.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LiveState {
    /// Format of the state, 1.
    pub format: u32,
    /// ID of the process, `PID-START`.
    pub id: String,
    /// Number of this version of the state, from 1.
    pub revision: u64,
    /// What the process does.
    pub verb: LiveVerb,
    /// Name of what is measured.
    pub target: String,
    /// Device node that is measured, if it is one and the same all the time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub device: Option<String>,
    /// Start of the process's work, in milliseconds since 1970 UTC.
    pub started_unix_ms: i64,
    /// Time of this version, in milliseconds since 1970 UTC.
    pub updated_unix_ms: i64,
    /// Sequence number of the latest sample; 0 before the first.
    #[serde(default)]
    pub samples: u64,
    /// Current round from 1, and number of rounds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub round: Option<(u32, u32)>,
    /// Phases of the current run.
    #[serde(default)]
    pub phases: Vec<LivePhase>,
    /// Work outside a phase, such as laying out a file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub activity: Option<LiveActivity>,
    /// Estimated remaining time of the current phase or activity, in seconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub remaining_s: Option<f64>,
    /// Points of a campaign.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub campaign: Option<LiveCampaign>,
    /// The question that waits for an answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prompt: Option<LivePrompt>,
    /// Series or verification that was stored last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stored: Option<String>,
    /// Latest notes for the user.
    #[serde(default)]
    pub notes: Vec<String>,
    /// Whether the process was asked to stop.
    #[serde(default)]
    pub stopping: bool,
    /// How the process ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub end: Option<LiveEnd>,
}

impl LiveState {
    /// Returns the state of a process that has just begun.
    pub(super) fn new(owner: LiveOwner, verb: LiveVerb, target: &str, now: i64) -> LiveState {
        LiveState {
            format: 1,
            id: owner.to_string(),
            revision: 0,
            verb,
            target: target.to_owned(),
            device: None,
            started_unix_ms: now,
            updated_unix_ms: now,
            samples: 0,
            round: None,
            phases: Vec::new(),
            activity: None,
            remaining_s: None,
            campaign: None,
            prompt: None,
            stored: None,
            notes: Vec::new(),
            stopping: false,
            end: None,
        }
    }

    /// Adds a note; only the latest are kept.
    pub fn note(&mut self, text: &str) {
        self.notes.push(text.to_owned());
        let old = self.notes.len().saturating_sub(MAX_NOTES);
        self.notes.drain(..old);
    }
}

/// What a process does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LiveVerb {
    /// `hakaru bench`.
    Bench,
    /// `hakaru verify`.
    Verify,
    /// `hakaru anatomy`.
    Anatomy,
    /// `hakaru prepare`.
    Prepare,
    /// `hakaru campaign run`.
    Campaign,
    /// `hakaru fio`.
    Fio,
    /// `hakaru iozone`.
    Iozone,
}

/// A phase of the current run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LivePhase {
    /// Its name.
    pub name: String,
    /// Its state.
    pub state: LivePhaseState,
    /// Completed share in thousandths, if known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub permille: Option<u32>,
}

/// State of a phase.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LivePhaseState {
    /// Not begun.
    Waiting,
    /// In its ramp time: not measured.
    Ramp,
    /// Measured now.
    Running,
    /// Measured.
    Done,
}

/// Work outside a phase.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LiveActivity {
    /// Identifier of the work, such as `writing` or `laying_out`.
    pub doing: String,
    /// Bytes done.
    pub done: u64,
    /// Bytes to do; 0 if unknown.
    pub total: u64,
}

/// Points of a campaign.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct LiveCampaign {
    /// Its ID.
    pub id: String,
    /// Its name.
    pub name: String,
    /// Number of the current run from 1, including runs stored before.
    pub number: u64,
    /// Maximum number of runs.
    pub of: u64,
    /// Estimated remaining time in seconds.
    pub remaining_s: f64,
    /// Labels of its cards.
    pub cards: Vec<String>,
    /// Names of its layers.
    pub layers: Vec<String>,
    /// Names of its workloads.
    pub workloads: Vec<String>,
    /// Its points.
    pub cells: Vec<LiveCell>,
}

/// All repeats of one point of a campaign.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LiveCell {
    /// Index of the card.
    pub card: u32,
    /// Index of the layer.
    pub layer: u32,
    /// Index of the workload.
    pub workload: u32,
    /// Its state.
    pub state: LiveCellState,
    /// Number of stored repeats.
    pub done: u32,
    /// Maximum number of repeats.
    pub of: u32,
    /// Why it failed or was skipped.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub because: Option<String>,
}

/// State of a point of a campaign.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LiveCellState {
    /// Runs remain.
    Waiting,
    /// A run is in progress.
    Running,
    /// All repeats are stored.
    Done,
    /// The last run failed.
    Failed,
    /// Its card was skipped.
    Skipped,
}

/// A question of the process.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LivePrompt {
    /// Number of the question; an answer names it, so that it cannot answer another question.
    pub number: u64,
    /// The question.
    pub kind: LivePromptKind,
}

/// A question of the process. The process itself checks the answer, as on a terminal.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum LivePromptKind {
    /// A card must be inserted. Answers: a number from 1 or the node of a disk, `s` to skip the card, `q` to stop, and
    /// nothing to use the default disk or to look again.
    Insert {
        /// Label of the card.
        card: String,
        /// Number of the card from 1, and number of cards.
        position: (u32, u32),
        /// Why it is needed.
        why: String,
        /// The disks that are present.
        disks: Vec<LiveDisk>,
        /// Node of the disk that an empty answer chooses.
        default: Option<String>,
    },
    /// A device must be confirmed before it is erased. Answers: its name or ID, or nothing to skip it.
    Erase {
        /// Label of the card.
        card: String,
        /// Description of the device.
        device: String,
        /// The name to type.
        name: String,
        /// What would be lost, one line each.
        losses: Vec<String>,
        /// The wrong answer that was typed before.
        wrong: Option<String>,
    },
}

/// A disk that could be the requested card.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LiveDisk {
    /// Device node.
    pub node: String,
    /// Display name.
    pub name: String,
    /// ID, if any.
    pub id: Option<String>,
    /// Label as which it was measured before.
    pub label: Option<String>,
}

/// How a process ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LiveEnd {
    /// All work is done.
    Completed,
    /// Ended with an error, or with work that could not be done.
    Failed,
    /// Stopped by the user.
    Stopped,
    /// Killed, or lost in a crash.
    Killed,
}

/// Rates and latencies of a moment.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct LiveSample {
    /// Sequence number from 1.
    #[serde(default)]
    pub seq: u64,
    /// End of the sampled time, in milliseconds since 1970 UTC.
    pub at_unix_ms: i64,
    /// Phase or activity.
    pub phase: String,
    /// Whether it is measured, and not in its ramp time.
    pub measuring: bool,
    /// Reads.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub read: Option<LiveRate>,
    /// Writes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub write: Option<LiveRate>,
    /// Trims.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trim: Option<LiveRate>,
    /// CPU temperature in thousandths of a degree Celsius.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub temperature: Option<i64>,
    /// Throttling flags of the Raspberry Pi firmware.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub throttled: Option<u32>,
}

/// Rates and latencies of one operation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct LiveRate {
    /// Bandwidth in bytes per second.
    pub bytes_per_s: f64,
    /// I/Os per second.
    pub iops: f64,
    /// Median completion latency in nanoseconds, if measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub p50_ns: Option<u64>,
    /// 99th percentile of the completion latency in nanoseconds, if measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub p99_ns: Option<u64>,
}
