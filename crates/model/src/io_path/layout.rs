//! What is not known about the layout of a file system.

use serde::{Deserialize, Serialize};

/// Why a part of a medium has no class by its address.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "kind")]
pub enum LayoutGap {
    /// The file system is not one of those whose layout is known.
    UnknownFileSystem,
    /// A part cannot be read.
    Unreadable {
        /// The part.
        part: LayoutPart,
        /// Error of the read.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        errno: Option<i32>,
    },
    /// A part contradicts itself or lies outside of the medium.
    Damaged {
        /// The part.
        part: LayoutPart,
    },
    /// A part is larger than is read.
    TooLarge {
        /// The part.
        part: LayoutPart,
    },
    /// Features that may move structures, as bits of the superblock.
    UnknownFeatures {
        /// The bits.
        bits: u64,
    },
    /// The journal is on another device.
    ExternalJournal,
    /// The file system extends over several devices.
    SeveralDevices,
    /// Metadata without a fixed place is recognized by the flags of requests only (XFS, Btrfs).
    MetadataByFlag,
    /// Data and nodes share an area, and are told apart by the events of the file system only (F2FS).
    NodesByEvent,
    /// The kernel or the medium does not say where a file is.
    FileNotLocated {
        /// Path, or number of the descriptor.
        file: String,
        /// Error of the request.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        errno: Option<i32>,
    },
    /// A file has bytes in its inode or in a tree, without an address of their own.
    InlineData {
        /// Path, or number of the descriptor.
        file: String,
    },
    /// A file lies on another file system than the one whose layout was read.
    OtherFileSystem {
        /// Path, or number of the descriptor.
        file: String,
    },
}

/// Part of a file system.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LayoutPart {
    /// Superblock or boot sector.
    Superblock,
    /// Group descriptors.
    GroupDescriptors,
    /// Journal.
    Journal,
    /// An inode and its tree of extents or blocks.
    Inode,
    /// File allocation table.
    AllocationTable,
    /// Bitmap of allocated blocks or clusters.
    Bitmap,
    /// Directories.
    Directories,
    /// Data of a file.
    File,
    /// Everything: the number of ranges.
    Ranges,
}
