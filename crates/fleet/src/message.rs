//! The messages between operator and agents, as JSON.

use hakaru_model::campaign::ClockOffset;
use serde::{Deserialize, Serialize};

/// What one host measures of a campaign.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct HostJob {
    /// ID of the job.
    pub id: String,
    /// ID of the campaign.
    pub campaign: String,
    /// Version of hakaru that sent it.
    pub version: String,
    /// Whether an agent of another version may carry it out.
    #[serde(default)]
    pub any_version: bool,
    /// The campaign file and the files it names, as [`hakaru_store::Store::keep_campaign`] keeps them.
    pub asked: String,
    /// Labels of the cards that this host measures.
    pub cards: Vec<String>,
    /// Selected layers; empty for all.
    #[serde(default)]
    pub layers: Vec<String>,
    /// Selected workloads; empty for all.
    #[serde(default)]
    pub workloads: Vec<String>,
    /// Number of repeats, if it is not that of the file.
    #[serde(default)]
    pub repeats: Option<u32>,
    /// Cards that may be erased.
    #[serde(default)]
    pub permissions: Vec<ErasePermission>,
    /// Number of runs of this campaign and host that the operator has stored. A host that has more sends all again.
    #[serde(default)]
    pub stored: u64,
}

/// The operator's permission to erase a card, valid for the job that it is part of.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ErasePermission {
    /// Label of the card in the campaign.
    pub card: String,
    /// ID that the card itself must have.
    pub id: String,
    /// End of the permission, in milliseconds since 1970 UTC by the clock of the server.
    pub until_unix_ms: i64,
}

/// What a host sends to the operator.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "kind")]
pub enum HostReport {
    /// A run.
    Run {
        /// The record, as `hakaru export` writes it.
        record: String,
    },
    /// The end of a job.
    End(JobEnd),
}

/// How a job ended.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct JobEnd {
    /// ID of the job.
    pub job: String,
    /// The outcome.
    pub outcome: JobOutcome,
    /// Number of runs measured.
    pub measured: u64,
    /// Failed runs with the reasons.
    #[serde(default)]
    pub failures: Vec<(String, String)>,
    /// Skipped cards with the reasons.
    #[serde(default)]
    pub skipped: Vec<(String, String)>,
}

/// Outcomes of a job.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum JobOutcome {
    /// All is measured.
    Complete,
    /// Something could not be measured.
    #[default]
    Incomplete,
    /// It was stopped.
    Stopped,
    /// The agent refused it.
    Refused,
}

/// What an agent announces.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct HostHello {
    /// Name of the host in the fleet.
    pub name: String,
    /// Version of hakaru.
    pub version: String,
    /// Its own hostname.
    pub hostname: String,
    /// Board or computer model, if known.
    #[serde(default)]
    pub board: Option<String>,
    /// Kernel release.
    pub kernel: String,
    /// Its disks, without those of the running system.
    pub devices: Vec<AnnouncedDevice>,
    /// Number of results that the operator has not acknowledged.
    #[serde(default)]
    pub unacknowledged: u64,
    /// Campaigns that it measures now.
    #[serde(default)]
    pub measuring: Vec<String>,
    /// Difference of its clock.
    #[serde(default)]
    pub clock: Option<ClockOffset>,
    /// Time of the announcement, in milliseconds since 1970 UTC by the clock of the host.
    pub sent_unix_ms: i64,
}

/// A disk of a host.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct AnnouncedDevice {
    /// Device node.
    pub node: String,
    /// Display name.
    pub name: String,
    /// IDs of the device itself.
    #[serde(default)]
    pub ids: Vec<String>,
    /// Size in bytes.
    #[serde(default)]
    pub size: u64,
    /// Why it cannot be measured, if so.
    #[serde(default)]
    pub refused: Option<String>,
}

/// IDs of runs that the operator has stored.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Receipt {
    /// The IDs.
    pub runs: Vec<String>,
}

/// Request to stop jobs.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct StopRequest {
    /// IDs of the jobs.
    pub jobs: Vec<String>,
}

/// Progress of a job, for display.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct JobProgress {
    /// ID of the job.
    pub job: String,
    /// What is measured, or done.
    pub text: String,
    /// Names of the card, layer and workload that are measured, if any.
    #[serde(default)]
    pub point: Option<[String; 3]>,
    /// Bytes per second of the running phase, if any.
    #[serde(default)]
    pub bandwidth: Option<u64>,
}

/// Line of a log.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct AgentLogLine {
    /// Time in milliseconds since 1970 UTC, by the clock of the host.
    pub at_unix_ms: i64,
    /// The text.
    pub text: String,
}
