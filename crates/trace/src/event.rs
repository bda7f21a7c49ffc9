//! Events of the kernel, decoded.

/// An event at one moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TraceEvent {
    /// Nanoseconds of `CLOCK_MONOTONIC_RAW`.
    pub time: u64,
    /// CPU on which the event was recorded.
    pub cpu: u32,
    /// Thread that was running.
    pub tid: u32,
    /// What happened.
    pub kind: EventKind,
}

/// What happened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EventKind {
    /// `block_bio_queue`: a thread submitted a bio.
    BioQueue {
        /// Range of sectors.
        range: SectorRange,
        /// Operation and flags.
        flags: RequestFlags,
        /// Name of the thread.
        comm: ThreadName,
    },
    /// `block_bio_complete`: a bio of a device without requests is done.
    BioComplete {
        /// Range of sectors.
        range: SectorRange,
        /// Operation and flags.
        flags: RequestFlags,
        /// Negative errno, or 0.
        error: i32,
    },
    /// `block_bio_backmerge` or `block_bio_frontmerge`: a bio joined an existing request.
    BioMerge {
        /// Range of sectors of the bio.
        range: SectorRange,
        /// Whether the bio came before the request's first sector.
        front: bool,
    },
    /// `block_split`: a bio was split; the rest begins at `rest`.
    Split {
        /// First sector of the bio.
        sector: u64,
        /// First sector of the rest.
        rest: u64,
    },
    /// `block_rq_insert`: a request entered the scheduler.
    RequestInsert {
        /// Range of sectors.
        range: SectorRange,
        /// Operation and flags.
        flags: RequestFlags,
    },
    /// `block_rq_issue`: a request went to the driver.
    RequestIssue {
        /// Range of sectors.
        range: SectorRange,
        /// Operation and flags.
        flags: RequestFlags,
        /// Name of the thread that issued it: often one of the kernel, which works for others.
        comm: ThreadName,
    },
    /// `block_rq_requeue`: the driver returned a request.
    RequestRequeue {
        /// Range of sectors.
        range: SectorRange,
        /// Operation and flags.
        flags: RequestFlags,
    },
    /// `block_rq_complete`: a request, or its first part, is done.
    RequestComplete {
        /// Range of sectors of the part.
        range: SectorRange,
        /// Operation and flags.
        flags: RequestFlags,
        /// Negative errno, or 0.
        error: i32,
    },
    /// `mmc_request_start`
    MmcStart {
        /// CMD number.
        opcode: u32,
        /// First sector.
        sector: u32,
        /// Blocks of `block_size`.
        blocks: u32,
        /// Bytes of a block.
        block_size: u32,
        /// Identifies the command until it is done.
        id: u64,
    },
    /// `mmc_request_done`
    MmcDone {
        /// CMD number.
        opcode: u32,
        /// Identifies the command since its start.
        id: u64,
        /// Bytes transferred.
        bytes: u32,
        /// Retries of the command.
        retries: u32,
        /// First error of command, data or stop; 0 if none.
        error: i32,
    },
    /// `jbd2_start_commit`: the journal thread begins a commit.
    JournalCommitStart,
    /// `jbd2_end_commit`: the commit is on the device.
    JournalCommitEnd,
    /// `ext4_sync_file_enter`, `f2fs_sync_file_enter`
    SyncEnter,
    /// `ext4_sync_file_exit`, `f2fs_sync_file_exit`
    SyncExit,
    /// `f2fs_submit_write_bio` and `f2fs_submit_read_bio`: the file system names the type of a bio.
    F2fsBio {
        /// First sector.
        sector: u64,
        /// Bytes.
        size: u32,
        /// 0 data, 1 node, 2 meta and others, as the kernel numbers them.
        page_type: u32,
    },
    /// `block_plug` or `block_unplug` and other events that explain, but are not needed to restore requests.
    Other {
        /// Index of the event in the recorder's table of events.
        event: u16,
    },
}

/// Sectors of 512 bytes on the whole disk.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SectorRange {
    /// First sector; `u64::MAX` for a flush.
    pub start: u64,
    /// Sectors; 0 for a flush.
    pub sectors: u32,
}

impl SectorRange {
    /// Returns the sector behind the last one.
    pub fn end(self) -> u64 {
        self.start.saturating_add(u64::from(self.sectors))
    }
}

/// Operation of a block request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum BlockOp {
    /// `R`
    Read,
    /// `W`
    Write,
    /// `D`, `DE`
    Discard,
    /// `F` without another operation.
    Flush,
    /// `N` and others.
    Other,
}

/// Decoded `rwbs` of an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RequestFlags {
    /// The operation.
    pub op: BlockOp,
    /// `F` before the operation: flush the cache first.
    pub preflush: bool,
    /// `F` after the operation: reach the medium before completion.
    pub fua: bool,
    /// `S`
    pub sync: bool,
    /// `M`
    pub meta: bool,
    /// `A` after the operation: readahead.
    pub ahead: bool,
}

/// Name of a thread: at most 15 bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ThreadName(pub [u8; 16]);

impl std::fmt::Display for ThreadName {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let name = self.0.split(|&byte| byte == 0).next().unwrap_or_default();
        f.write_str(&String::from_utf8_lossy(name))
    }
}
