//! Errors of resolving a scenario.

use crate::obstacle::ValueRule;
use crate::units::Bytes;
use std::path::PathBuf;

/// Reason why a scenario cannot run on its target.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[allow(missing_docs)] // Each field is named in its message.
pub enum PlanError {
    /// The scenario has no jobs.
    #[error("the scenario `{scenario}` has no jobs")]
    NoJobs { scenario: String },
    /// There are no facts about a path.
    #[error("job `{job}`: nothing is known of {path}")]
    NoFacts { job: String, path: PathBuf },
    /// The path is of a type that cannot be measured.
    #[error(
        "job `{job}`: {path} is a {what}, which cannot be measured: name a file, a directory or a block device"
    )]
    NotMeasurable {
        job: String,
        path: PathBuf,
        what: &'static str,
    },
    /// The file does not exist, and the job may not create it.
    #[error("job `{job}`: {path} does not exist, and the job may not create it")]
    Missing { job: String, path: PathBuf },
    /// The file is missing or too short, and the job may not create or extend it.
    #[error(
        "job `{job}`: {path} is missing or too short, and the job may not create or extend it: write it first, or leave \
         allow_file_create=0 out"
    )]
    MayNotCreate { job: String, path: PathBuf },
    /// The job has no file.
    #[error("job `{job}`: nrfiles=0 leaves it no file, and it does nothing")]
    NoFiles { job: String },
    /// The block size is not a multiple of what the engine needs.
    #[error(
        "job `{job}`: a block of {block} bytes cannot be used: mmap with direct, fsync or fdatasync needs multiples of \
         the page size, {unit} bytes"
    )]
    OddBlock { job: String, block: u64, unit: u64 },
    /// The path is read-only, and the job writes.
    #[error("job `{job}`: {path} is read-only, and the job writes")]
    ReadOnly { job: String, path: PathBuf },
    /// No size is given or known.
    #[error("job `{job}`: no size is known for {path}: give size=, filesize= or an existing file")]
    NoSize { job: String, path: PathBuf },
    /// Less than one block fits in the range.
    #[error("job `{job}`: {room} from offset {offset} on {path} is less than one block of {block}")]
    TooSmall {
        job: String,
        path: PathBuf,
        room: Bytes,
        offset: Bytes,
        block: Bytes,
    },
    /// The smallest block is larger than all parts of the files that the job uses together.
    #[error(
        "job `{job}`: a block of {block} is larger than the {room} that the job uses of {path}: use a smaller bs, or a \
         larger size or filesize"
    )]
    BlockTooLarge {
        job: String,
        path: PathBuf,
        room: Bytes,
        block: Bytes,
    },
    /// Zones of absolute size are larger than the job's part of the file.
    #[error(
        "job `{job}`: the zones of random_distribution=zoned_abs have {zones} together, and the job uses {room} of {path}: \
         use smaller zones, or a larger size"
    )]
    ZonesTooLarge {
        job: String,
        path: PathBuf,
        zones: Bytes,
        room: Bytes,
    },
    /// The start offset is at or past the end of the file or device.
    #[error(
        "job `{job}`: offset {offset} is not below the size of {path}, {size}: use a smaller offset"
    )]
    OffsetPastEnd {
        job: String,
        path: PathBuf,
        offset: Bytes,
        size: Bytes,
    },
    /// The range extends past the end of a device.
    #[error(
        "job `{job}`: {path} has {size}, and offset {offset} + size {wanted} goes past its end"
    )]
    PastEnd {
        job: String,
        path: PathBuf,
        size: Bytes,
        offset: Bytes,
        wanted: Bytes,
    },
    /// The file system has too little free space.
    #[error(
        "job `{job}`: {path} needs {needed} more, and its file system has {free} free: use a smaller size"
    )]
    NoSpace {
        job: String,
        path: PathBuf,
        needed: Bytes,
        free: Bytes,
    },
    /// Direct I/O is not aligned to the logical blocks.
    #[error(
        "job `{job}`: {path} cannot be accessed with a block of {block} bytes (offset {offset}) and direct=1: direct I/O needs multiples of the logical block size, {logical} bytes; use bs={better}, or direct=0 to go through the page cache"
    )]
    Misaligned {
        job: String,
        path: PathBuf,
        block: u64,
        offset: u64,
        logical: u32,
        better: u64,
    },
    /// The block size is 0 or too large.
    #[error(
        "job `{job}`: a block of {block} cannot be used: it has to be between 1 byte and 1 GiB"
    )]
    BadBlock { job: String, block: Bytes },
    /// The value of an option is out of range.
    #[error("job `{job}`: {option}={value} cannot be used: {why}")]
    BadValue {
        job: String,
        option: &'static str,
        value: String,
        why: ValueRule,
    },
    /// Trim on something other than a block device.
    #[error("job `{job}`: trim works on block devices only, and {path} is none")]
    TrimOnFile { job: String, path: PathBuf },
    /// A `time_based` job without a runtime would never end.
    #[error("job `{job}`: time_based needs a runtime")]
    Endless { job: String },
}

impl PlanError {
    /// Whether other jobs can still run, because only the target of this job is wrong.
    pub fn is_of_one_job(&self) -> bool {
        use PlanError::{
            BlockTooLarge, MayNotCreate, Misaligned, Missing, NoFiles, NoSize, NotMeasurable,
            OddBlock, OffsetPastEnd, ReadOnly, TrimOnFile,
        };
        let of_target = matches!(
            self,
            NoSize { .. }
                | NotMeasurable { .. }
                | Missing { .. }
                | MayNotCreate { .. }
                | NoFiles { .. }
                | BlockTooLarge { .. }
                | ReadOnly { .. }
        );
        of_target
            || matches!(
                self,
                Misaligned { .. } | OffsetPastEnd { .. } | TrimOnFile { .. } | OddBlock { .. }
            )
    }

    /// Whether fio reports it only after the files of the job are laid out.
    pub(crate) fn comes_after_layout(&self) -> bool {
        matches!(self, PlanError::OddBlock { .. })
    }
}
