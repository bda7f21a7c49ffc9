//! Classes of block requests.

use serde::{Deserialize, Serialize};

/// What a sector holds, or why a request was sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum IoClass {
    /// Content of the files under test, or any sector of a raw device under test.
    Data,
    /// Journal or log of the file system.
    Journal,
    /// First file allocation table.
    Fat1,
    /// Second file allocation table, the copy.
    Fat2,
    /// Directory entries of FAT and exFAT.
    Directory,
    /// FSInfo sector of FAT32.
    FsInfo,
    /// Superblock or boot sector.
    Superblock,
    /// Group descriptors of ext4.
    GroupDescriptors,
    /// Block and inode bitmaps of ext4; the allocation bitmap of exFAT.
    Bitmap,
    /// Inode tables of ext4.
    InodeTable,
    /// Checkpoint area of F2FS.
    Checkpoint,
    /// Segment information table of F2FS.
    SegmentTable,
    /// Node address table of F2FS.
    NodeAddressTable,
    /// Segment summary area of F2FS.
    SegmentSummary,
    /// Node blocks of F2FS.
    Node,
    /// File system metadata, by the flag of the request.
    Metadata,
    /// Allocated during the phase, but not by a file under test.
    AllocatedSince,
    /// Another partition of the disk.
    OtherPartition,
    /// Not attributed.
    Unknown,
    /// Cache flush, without bytes.
    Flush,
}

impl IoClass {
    /// All classes, in the order of reports.
    pub const ALL: [IoClass; 20] = [
        IoClass::Data,
        IoClass::Journal,
        IoClass::Fat1,
        IoClass::Fat2,
        IoClass::Directory,
        IoClass::FsInfo,
        IoClass::Superblock,
        IoClass::GroupDescriptors,
        IoClass::Bitmap,
        IoClass::InodeTable,
        IoClass::Checkpoint,
        IoClass::SegmentTable,
        IoClass::NodeAddressTable,
        IoClass::SegmentSummary,
        IoClass::Node,
        IoClass::Metadata,
        IoClass::AllocatedSince,
        IoClass::OtherPartition,
        IoClass::Unknown,
        IoClass::Flush,
    ];

    /// Returns the group of the class in pictures.
    pub const fn group(self) -> ClassGroup {
        match self {
            IoClass::Data => ClassGroup::Data,
            IoClass::Journal => ClassGroup::Journal,
            IoClass::Fat1 | IoClass::Fat2 | IoClass::FsInfo => ClassGroup::Fat,
            IoClass::Directory => ClassGroup::Directory,
            IoClass::Superblock
            | IoClass::GroupDescriptors
            | IoClass::Bitmap
            | IoClass::InodeTable
            | IoClass::Checkpoint
            | IoClass::SegmentTable
            | IoClass::NodeAddressTable
            | IoClass::SegmentSummary
            | IoClass::Node
            | IoClass::Metadata => ClassGroup::Metadata,
            IoClass::AllocatedSince | IoClass::OtherPartition | IoClass::Unknown => {
                ClassGroup::Unattributed
            }
            IoClass::Flush => ClassGroup::Flush,
        }
    }
}

/// Group of classes that share a color and a pattern in pictures.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ClassGroup {
    /// Content of files.
    Data,
    /// Journal or log.
    Journal,
    /// Other metadata.
    Metadata,
    /// File allocation tables, and FSInfo, which counts their free clusters.
    Fat,
    /// Directories.
    Directory,
    /// Not attributed.
    Unattributed,
    /// Cache flushes.
    Flush,
}

impl ClassGroup {
    /// All groups, in the order of pictures.
    pub const ALL: [ClassGroup; 7] = [
        ClassGroup::Data,
        ClassGroup::Journal,
        ClassGroup::Metadata,
        ClassGroup::Fat,
        ClassGroup::Directory,
        ClassGroup::Unattributed,
        ClassGroup::Flush,
    ];
}
