//! Differences between written data and the data read back.
//!
//! This module contains data only, without verification methods and texts.

use crate::units::Bytes;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// Verification mismatch of one piece of a block.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Mismatch {
    /// Offset of the piece in the file.
    pub offset: Bytes,
    /// Length of the piece.
    pub len: Bytes,
    /// Type of mismatch.
    #[serde(flatten)]
    pub difference: BlockDifference,
    /// Files with both contents, if saved.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub saved: Option<Saved>,
}

/// Files with the received and expected content of a piece.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Saved {
    /// Received content.
    pub received: PathBuf,
    /// Expected content, if known.
    pub expected: Option<PathBuf>,
}

/// Type of a mismatch: the first difference found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "difference")]
pub enum BlockDifference {
    /// No header magic: nothing of the written data is present.
    Magic {
        /// Magic number that was found.
        found: u32,
        /// Expected magic number.
        wanted: u32,
    },
    /// Another verification method wrote the piece.
    Method {
        /// Name of that method, or its number if unknown.
        found: String,
        /// Name of the job's method.
        wanted: String,
    },
    /// The piece was written with another length.
    Length {
        /// Length in the header.
        found: u64,
        /// Expected length.
        wanted: u64,
    },
    /// The header is damaged.
    Header {
        /// Computed checksum of the header.
        found: u32,
        /// Checksum stored in the header.
        wanted: u32,
    },
    /// The data was written to another offset.
    Offset {
        /// Offset in the header.
        found: u64,
        /// Expected offset.
        wanted: u64,
    },
    /// A job with another seed wrote the data.
    Seed {
        /// Seed in the header.
        found: u64,
        /// Expected seed.
        wanted: u64,
    },
    /// The content of another write to the same offset: a later write was lost, or another program wrote.
    Sequence {
        /// Sequence number in the header.
        found: u64,
        /// Sequence number of the last write to this offset.
        wanted: u64,
    },
    /// The data is damaged.
    Checksum {
        /// Name of the method.
        method: String,
        /// Checksum in the header, in hexadecimal.
        written: String,
        /// Checksum of the data that was read.
        computed: String,
    },
    /// The data does not match the pattern.
    Pattern {
        /// Name of the method.
        method: String,
        /// First byte that differs, relative to the start of the piece.
        at: u64,
        /// Value that was read.
        found: u8,
        /// The expected value.
        wanted: u8,
    },
}

impl BlockDifference {
    /// Whether the header is wrong, so that the data after it was not checked.
    pub fn is_of_header(&self) -> bool {
        !matches!(
            self,
            BlockDifference::Checksum { .. } | BlockDifference::Pattern { .. }
        )
    }
}
