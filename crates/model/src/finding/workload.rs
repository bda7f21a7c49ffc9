//! Description of the jobs of a phase.

use crate::job::{BlockSize, Op};
use serde::{Deserialize, Serialize};

/// What a job does in one operation, for a reader. Properties that an imported result does not state are `None`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct JobDescription {
    /// The operation.
    pub op: Option<Op>,
    /// Random offsets; otherwise sequential.
    pub random: Option<bool>,
    /// Share of the operation in a mix, in percent; `None` if the job does nothing else.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mix_percent: Option<u32>,
    /// Sizes of the I/Os.
    pub block: Option<BlockSize>,
    /// Effective queue depth.
    pub iodepth: Option<u32>,
    /// Completions that the job waits for at once, if more than one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub batch: Option<u32>,
    /// Whether I/Os start on a schedule that does not wait for completions.
    #[serde(default)]
    pub open_loop: bool,
    /// Number of clones.
    pub numjobs: u32,
    /// Writes per `fsync` or `fdatasync`; 0 for none.
    #[serde(default)]
    pub sync_every: u32,
    /// Whether files are opened with O_SYNC or O_DSYNC.
    #[serde(default)]
    pub sync_open: bool,
    /// Whether I/O goes through the page cache.
    #[serde(default)]
    pub cached: bool,
}
