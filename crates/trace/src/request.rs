//! A request as restored from events.

use crate::event::{RequestFlags, SectorRange, ThreadName};

/// A block request from its first bio to its completion.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TracedRequest {
    /// Range of sectors.
    pub range: SectorRange,
    /// Operation and flags of the request.
    pub flags: RequestFlags,
    /// The bios that it carries, in order of address; empty if they were not recorded.
    pub bios: Vec<BioPiece>,
    /// First bio queued, in nanoseconds of `CLOCK_MONOTONIC_RAW`; the time of issue if bios were not recorded.
    pub queued: u64,
    /// Issued to the driver.
    pub issued: u64,
    /// Completed; `None` if the completion was not seen.
    pub completed: Option<u64>,
    /// Times that the driver returned it.
    pub requeues: u16,
    /// Negative errno, or 0.
    pub error: i32,
    /// The command on an MMC bus, if recorded.
    pub command: Option<MmcCommand>,
}

/// A bio, or the part of one, that a request carries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BioPiece {
    /// Range of sectors of the part.
    pub range: SectorRange,
    /// Flags of the bio.
    pub flags: RequestFlags,
    /// Thread that queued it.
    pub tid: u32,
    /// Name of that thread at that moment.
    pub comm: ThreadName,
    /// Time of queuing.
    pub queued: u64,
    /// Type by the file system itself (F2FS), if it says.
    pub page_type: Option<u32>,
    /// Whether the bio continues beyond this part or began before it.
    pub part: bool,
}

/// A data command on an MMC bus.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MmcCommand {
    /// CMD number.
    pub opcode: u32,
    /// Start, in nanoseconds of `CLOCK_MONOTONIC_RAW`.
    pub start: u64,
    /// End.
    pub done: u64,
    /// Retries.
    pub retries: u32,
    /// Whether it failed.
    pub failed: bool,
}
