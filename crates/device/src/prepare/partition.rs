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
            let len = partition
                .size
                .map_or(1, |size| size.0.div_ceil(self.align.0.max(1)).max(1));
            at = at.saturating_add(len.saturating_mul(self.align.0));
            begin
        };
        self.partitions.iter().map(&mut start).collect()
    }

    /// Returns the `sfdisk` script for a device of this size and logical block size.
    ///
    /// # Errors
    /// A [`LayoutError`] if the layout does not fit.
    pub fn script(&self, size: Bytes, block: u32) -> Result<String, LayoutError> {
        let (
            PartitionLayout {
                table,
                align,
                partitions,
            },
            unit,
        ) = (self, u64::from(block.max(512)));
        if !(1..=4).contains(&partitions.len()) {
            return Err(LayoutError::Count {
                count: partitions.len(),
            });
        }
        if align.0 == 0 || align.0 % unit != 0 {
            return Err(LayoutError::Align {
                align: *align,
                block,
            });
        }
        let label = match table {
            LayoutTable::Mbr => "dos",
            LayoutTable::Gpt => "gpt",
        };
        let mut script = format!("label: {label}\nunit: sectors\n\n");
        let mut end = align.0;
        for ((index, partition), at) in partitions.iter().enumerate().zip(self.starts()) {
            let LayoutPartition { size: wanted, kind } = partition;
            let code = kind.code(*table);
            match wanted {
                Some(wanted) => {
                    let len = wanted.0.div_ceil(align.0).max(1).saturating_mul(align.0);
                    script += &format!("start={}, size={}, type={code}\n", at / unit, len / unit);
                    end = at.saturating_add(len);
                }
                None if index + 1 < partitions.len() => {
                    return Err(LayoutError::Open { number: index + 1 });
                }
                None => {
                    script += &format!("start={}, type={code}\n", at / unit);
                    end = at.saturating_add(align.0);
                }
            }
        }
        // A GPT has a backup at the end: 16 KiB of entries and a header.
        let tail = if *table == LayoutTable::Gpt {
            16384 + unit
        } else {
            0
        };
        let needed = Bytes(end.saturating_add(tail));
        if needed > size {
            Err(LayoutError::TooLarge { needed, size })
        } else {
            Ok(script)
        }
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
    let told = DeviceNode::by_path(&Path::new("/dev").join(name), roots)
        .and_then(|node| roots::text(&node.folder.join("loop/partscan")));
    told.is_some_and(|told| told.trim() == "0")
}

/// Returns the start offsets of the partitions that the kernel lists, by number, in bytes.
pub(super) fn shown(disk: &Path, roots: &Roots) -> Vec<u64> {
    let shown = DeviceNode::by_path(disk, roots)
        .map(|node| node.partitions())
        .unwrap_or_default();
    // sysfs counts 512-byte sectors, regardless of the logical block size.
    let start = |node: &DeviceNode| {
        roots::number::<u64>(&node.folder.join("start"))
            .unwrap_or(0)
            .saturating_mul(512)
    };
    shown.iter().map(start).collect()
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
