//! Writes partition tables with `sfdisk`.
//!
//! Partitions start at multiples of an alignment (the allocation unit of a card, or 4 MiB): an
//! unaligned file system causes additional erases on a card.

use super::mkfs::FsType;
use super::tool::{self, ToolError};
use crate::chain::DeviceNode;
use crate::roots::{self, Roots};
use hakaru_model::units::Bytes;
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

/// A partition table to write.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PartitionLayout {
    /// The type of table.
    pub table: LayoutTable,
    /// Alignment of partition starts in bytes; 4 MiB suits most cards.
    pub align: Bytes,
    /// The partitions, in order. Only the last one may have no size.
    pub partitions: Vec<LayoutPartition>,
}

/// Supported partition tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LayoutTable {
    /// MBR, which cameras and the Pi support.
    Mbr,
    /// The GUID partition table of UEFI.
    Gpt,
}

/// One partition.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LayoutPartition {
    /// Its size; `None` for the remaining space.
    pub size: Option<Bytes>,
    /// Its type.
    pub kind: LayoutKind,
}

/// Partition type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LayoutKind {
    /// FAT.
    Fat,
    /// exFAT.
    Exfat,
    /// A Linux file system.
    Linux,
}

/// Invalid layouts.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LayoutError {
    /// No partition, or more than an MBR supports.
    #[error("cannot create {count} partitions: 1 to 4 are supported")]
    Count {
        /// Number of partitions.
        count: usize,
    },
    /// A partition before the last one has no size.
    #[error("partition {number} has no size: only the last partition may omit it")]
    Open {
        /// Number of the partition.
        number: usize,
    },
    /// The partitions do not fit.
    #[error("the partitions need {needed}, but the device has {size}")]
    TooLarge {
        /// Required bytes, with alignment.
        needed: Bytes,
        /// Available bytes.
        size: Bytes,
    },
    /// The alignment is not a multiple of the block size.
    #[error("alignment {align} is not a multiple of the {block}-byte logical block")]
    Align {
        /// The alignment in bytes.
        align: Bytes,
        /// The block size in bytes.
        block: u32,
    },
}

impl PartitionLayout {
    /// A single partition on the whole device.
    pub fn single(table: LayoutTable, kind: LayoutKind) -> PartitionLayout {
        PartitionLayout {
            table,
            align: Bytes(4 << 20),
            partitions: vec![LayoutPartition { size: None, kind }],
        }
    }

    /// Returns the path of `sfdisk`.
    ///
    /// # Errors
    /// If it is not installed.
    pub fn tool() -> Result<PathBuf, ToolError> {
        tool::find("sfdisk", "fdisk")
    }

    /// Returns the start offsets of the partitions in bytes.
    pub fn starts(&self) -> Vec<u64> {
        let mut at = self.align.0;
        let mut start = |partition: &LayoutPartition| {
            let begin = at;
            at = at.saturating_add(self.len(partition));
            begin
        };
        self.partitions.iter().map(&mut start).collect()
    }

    /// Returns the `sfdisk` script for a device of this size and logical block size.
    ///
    /// # Errors
    /// A [`LayoutError`] if the layout does not fit.
    pub fn script(&self, size: Bytes, block: u32) -> Result<String, LayoutError> {
        self.check(block)?;
        let unit = u64::from(block.max(512));
        let label = match self.table {
            LayoutTable::Mbr => "dos",
            LayoutTable::Gpt => "gpt",
        };
        let mut script = format!("label: {label}\nunit: sectors\n\n");
        let mut end = self.align.0;
        for (partition, at) in self.partitions.iter().zip(self.starts()) {
            let len = self.len(partition);
            end = at.saturating_add(len);
            let size = match partition.size {
                Some(_) => format!(" size={},", len / unit),
                None => String::new(),
            };
            let code = partition.kind.code(self.table);
            script += &format!("start={},{size} type={code}\n", at / unit);
        }
        // A GPT has a backup at the end: 16 KiB of entries and a header.
        let tail = match self.table {
            LayoutTable::Mbr => 0,
            LayoutTable::Gpt => 16384 + unit,
        };
        let needed = Bytes(end.saturating_add(tail));
        if needed > size {
            Err(LayoutError::TooLarge { needed, size })
        } else {
            Ok(script)
        }
    }

    /// Checks what does not depend on the size of the device.
    fn check(&self, block: u32) -> Result<(), LayoutError> {
        let (align, count) = (self.align, self.partitions.len());
        if !(1..=4).contains(&count) {
            return Err(LayoutError::Count { count });
        }
        if align.0 == 0 || align.0 % u64::from(block.max(512)) != 0 {
            return Err(LayoutError::Align { align, block });
        }
        let sized = &self.partitions[..count - 1];
        match sized.iter().position(|partition| partition.size.is_none()) {
            Some(index) => Err(LayoutError::Open { number: index + 1 }),
            None => Ok(()),
        }
    }

    /// Length of a partition in bytes, rounded up to the alignment; that of an open one is one unit of alignment.
    fn len(&self, partition: &LayoutPartition) -> u64 {
        let units = |size: Bytes| size.0.div_ceil(self.align.0.max(1)).max(1);
        let units = partition.size.map_or(1, units);
        units.saturating_mul(self.align.0)
    }
}

impl LayoutKind {
    /// Returns the partition type for a file system.
    pub fn of(fs: FsType) -> LayoutKind {
        match fs {
            FsType::Vfat => LayoutKind::Fat,
            FsType::Exfat => LayoutKind::Exfat,
            FsType::Ext4 | FsType::F2fs | FsType::Xfs | FsType::Btrfs => LayoutKind::Linux,
        }
    }

    fn code(self, table: LayoutTable) -> &'static str {
        match (table, self) {
            (LayoutTable::Mbr, LayoutKind::Fat) => "c",
            (LayoutTable::Mbr, LayoutKind::Exfat) => "7",
            (LayoutTable::Mbr, LayoutKind::Linux) => "83",
            (LayoutTable::Gpt, LayoutKind::Fat | LayoutKind::Exfat) => {
                "EBD0A0A2-B9E5-4433-87C0-68B6B72699C7"
            }
            (LayoutTable::Gpt, LayoutKind::Linux) => "0FC63DAF-8483-4772-8E79-3D69D8477DE4",
        }
    }
}

/// Whether the kernel never lists partitions of the disk, as for a loop device set up without
/// partition scanning.
///
/// Source: Linux, Documentation/ABI/testing/sysfs-block, `loop/partscan` and `ext_range`.
pub fn shows_no_partitions(name: &str, roots: &Roots) -> bool {
    let node = DeviceNode::by_path(&Path::new("/dev").join(name), roots);
    let partscan = node.and_then(|node| roots::text(&node.folder.join("loop/partscan")));
    partscan.is_some_and(|text| text.trim() == "0")
}

/// Returns the start offsets of the partitions that the kernel lists, by number, in bytes.
pub(super) fn shown(disk: &Path, roots: &Roots) -> Vec<u64> {
    let shown = DeviceNode::by_path(disk, roots)
        .map(|node| node.partitions())
        .unwrap_or_default();
    shown.iter().map(DeviceNode::start).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pi(table: LayoutTable) -> PartitionLayout {
        let boot = LayoutPartition {
            size: Some(Bytes(250 << 20)),
            kind: LayoutKind::Fat,
        };
        let root = LayoutPartition {
            size: None,
            kind: LayoutKind::Linux,
        };
        PartitionLayout {
            table,
            align: Bytes(4 << 20),
            partitions: vec![boot, root],
        }
    }

    #[test]
    fn partitions_begin_at_multiples_of_the_alignment() {
        insta::assert_snapshot!(pi(LayoutTable::Mbr).script(Bytes(1 << 30), 512).unwrap(), @r"
        label: dos
        unit: sectors

        start=8192, size=516096, type=c
        start=524288, type=83
        ");
        insta::assert_snapshot!(pi(LayoutTable::Gpt).script(Bytes(1 << 30), 4096).unwrap(), @r"
        label: gpt
        unit: sectors

        start=1024, size=64512, type=EBD0A0A2-B9E5-4433-87C0-68B6B72699C7
        start=65536, type=0FC63DAF-8483-4772-8E79-3D69D8477DE4
        ");
        assert_eq!(pi(LayoutTable::Gpt).starts(), [4 << 20, 256 << 20]);
    }

    #[test]
    fn layouts_that_do_not_fit_are_refused() {
        let layout = pi(LayoutTable::Mbr);
        insta::assert_snapshot!(layout.script(Bytes(100 << 20), 512).unwrap_err(), @"the partitions need 260 MiB, but the device has 100 MiB");
        let mut open = layout.clone();
        open.partitions.reverse();
        insta::assert_snapshot!(open.script(Bytes(1 << 30), 512).unwrap_err(), @"partition 1 has no size: only the last partition may omit it");
        let odd = PartitionLayout {
            align: Bytes(1000),
            ..layout.clone()
        };
        insta::assert_snapshot!(odd.script(Bytes(1 << 30), 512).unwrap_err(), @"alignment 1000 B is not a multiple of the 512-byte logical block");
        let none = PartitionLayout {
            partitions: Vec::new(),
            ..layout
        };
        insta::assert_snapshot!(none.script(Bytes(1 << 30), 512).unwrap_err(), @"cannot create 0 partitions: 1 to 4 are supported");
    }

    proptest::proptest! {
        #[test]
        fn no_layout_panics(align: u64, size: u64, wanted: u64, block: u32) {
            let part = LayoutPartition { size: Some(Bytes(wanted)), kind: LayoutKind::Linux };
            let layout = PartitionLayout { table: LayoutTable::Gpt, align: Bytes(align), partitions: vec![part; 3] };
            let _ = layout.script(Bytes(size), block);
        }
    }
}
