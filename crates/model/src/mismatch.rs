//! How data that was read back differs from what was written.
//!
//! Verification mismatches as data, without method and wording.

use crate::units::Bytes;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// One checked piece of a block that is not as it was written.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Mismatch {
    /// Offset of the piece in the file.
    pub offset: Bytes,
    /// How long it is.
    pub len: Bytes,
    /// How it differs.
    #[serde(flatten)]
    pub difference: BlockDifference,
    /// Where both contents were saved, if they were.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub saved: Option<Saved>,
}

/// Files with the content of a piece.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Saved {
    /// As it was read.
    pub received: PathBuf,
    /// As it should have been, where that is known.
    pub expected: Option<PathBuf>,
}

/// How a piece differs from what was written: the first thing that was found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "difference")]
pub enum BlockDifference {
    /// No header magic: nothing of the written data is present.
    Magic {
        /// What stands there.
        found: u32,
        /// What should.
        wanted: u32,
    },
    /// It was written by another method.
    Method {
        /// Name of the method that wrote it, or its number where that is not known.
        found: String,
        /// Name of the method it is checked by.
        wanted: String,
    },
    /// It was written as a piece of another length.
    Length {
        /// That length.
        found: u64,
        /// The length it is checked with.
        wanted: u64,
    },
    /// Its header is damaged.
    Header {
        /// Checksum of the header.
        found: u32,
        /// The one it should have.
        wanted: u32,
    },
    /// It was written to another place.
    Offset {
        /// That place.
        found: u64,
        /// The place it was found at.
        wanted: u64,
    },
    /// It was written by a job with another seed.
    Seed {
        /// That seed.
        found: u64,
        /// The seed of this job.
        wanted: u64,
    },
    /// Content of another write to the same offset: a later write was lost, or another program
    /// wrote.
    Sequence {
        /// Number of that write.
        found: u64,
        /// Number of the last write to that place.
        wanted: u64,
    },
    /// Its data is damaged.
    Checksum {
        /// Name of the method.
        method: String,
        /// Checksum as it was written, in hexadecimal.
        written: String,
        /// Checksum of what was read.
        computed: String,
    },
    /// Its data is not the pattern.
    Pattern {
        /// Name of the method.
        method: String,
        /// The first byte that differs, counted from the start of the piece.
        at: u64,
        /// That byte.
        found: u8,
        /// The expected value.
        wanted: u8,
    },
}

impl BlockDifference {
    /// Whether the header of the piece is to blame, so that nothing is known of the data behind it.
    pub fn is_of_header(&self) -> bool {
        !matches!(
            self,
            BlockDifference::Checksum { .. } | BlockDifference::Pattern { .. }
        )
    }
}
