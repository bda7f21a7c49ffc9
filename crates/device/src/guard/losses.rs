//! What erasing a device would destroy: partition table, file systems and their labels.
//!
//! For display before a decision. Finding nothing does not mean that the device is empty: encrypted
//! and raw data have no magic number.

use super::magic::{self, Image, ReadAt};
use super::tables::{self, FoundTable, PartitionEntry};
use hakaru_model::units::Bytes;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::path::Path;

/// Content that would be lost.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Loss {
    /// Start offset on the device.
    pub offset: Bytes,
    /// The content found there.
    #[serde(flatten)]
    pub what: LossKind,
}

/// Type of content.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "what")]
pub enum LossKind {
    /// A partition table with its entries.
    PartitionTable {
        /// Type of table.
        table: TableKind,
        /// Entries of the table.
        partitions: Vec<Partition>,
    },
    /// A file system, swap space, or member of a RAID or volume group.
    Content {
        /// Its type, such as `ext4` or `LUKS2`.
        kind: String,
        /// Its label.
        label: Option<String>,
        /// Its size, if known.
        size: Option<Bytes>,
        /// Number of the partition that contains it; `None` when it occupies the whole device.
        partition: Option<u32>,
    },
    /// The device could not be read.
    Unread {
        /// The cause.
        because: String,
    },
}

/// Types of partition tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TableKind {
    /// The MBR of PCs ("msdos", "dos").
    Mbr,
    /// The GUID partition table of UEFI.
    Gpt,
    /// A GPT with only the backup header at the end.
    GptCopy,
}

/// One entry of a partition table.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Partition {
    /// Its number.
    pub number: u32,
    /// Start offset.
    pub offset: Bytes,
    /// Length.
    pub size: Bytes,
    /// Its name, if the table has names.
    pub name: Option<String>,
}

impl fmt::Display for Loss {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.what {
            LossKind::PartitionTable { table, partitions } => {
                let table = ["MBR", "GPT", "GPT (backup header at the end)"][*table as usize];
                let plural = if partitions.len() == 1 { "" } else { "s" };
                write!(
                    f,
                    "partition table: {table}, {} partition{plural}",
                    partitions.len()
                )
            }
            LossKind::Content {
                kind,
                label,
                size,
                partition,
            } => {
                match partition {
                    Some(number) => write!(f, "partition {number}: {kind}")?,
                    None => write!(f, "whole device: {kind}")?,
                }
                if let Some(label) = label {
                    write!(f, " `{label}`")?;
                }
                size.map_or(Ok(()), |size| write!(f, ", {size}"))
            }
            LossKind::Unread { because } => write!(f, "unknown ({because})"),
        }
    }
}

/// Detects the content of a device or image file, read-only.
pub fn what_would_be_lost(path: &Path) -> Vec<Loss> {
    match open(path) {
        Ok((file, len, block)) => losses(&file, len, block),
        Err(error) => {
            let because = format!("cannot read {}: {error}", path.display());
            vec![Loss {
                offset: Bytes(0),
                what: LossKind::Unread { because },
            }]
        }
    }
}

fn open(path: &Path) -> std::io::Result<(std::fs::File, u64, u64)> {
    use std::io::{Error, ErrorKind, Seek, SeekFrom};
    let kind = path
        .metadata()
        .map(|metadata| crate::inspect::kind_of(&metadata))?;
    use hakaru_model::facts::TargetKind;
    if !matches!(kind, TargetKind::File | TargetKind::BlockDevice) {
        return Err(Error::new(
            ErrorKind::InvalidInput,
            "neither a file nor a block device",
        ));
    }
    let mut file = std::fs::File::open(path)?;
    let len = file.seek(SeekFrom::End(0))?;
    let block = rustix::fs::ioctl_blksszget(&file).unwrap_or(512);
    Ok((file, len, u64::from(block)))
}

/// Detects content in any readable source of `len` bytes.
fn losses(source: &dyn ReadAt, len: u64, block: u64) -> Vec<Loss> {
    let image = Image {
        source,
        start: 0,
        len,
    };
    let mut found = contents(&image, None);
    // Boot sectors of these file systems resemble an MBR, but not a GPT; other file systems leave room for a real MBR
    // before them.
    let has_boot_sector = found.iter().any(|loss| {
        matches!(&loss.what, LossKind::Content { kind, .. } if matches!(kind.as_str(), "vfat" | "exfat" | "ntfs"))
    });
    let block = block.max(512);
    let is_gpt = |table: &FoundTable| {
        tables::has_gpt_signature(&image, block) && !matches!(table, FoundTable::Mbr(_))
    };
    let table = tables::read(&image, block)
        .filter(|table| !has_boot_sector || is_gpt(table))
        .filter(|table| !entries(table).1.is_empty());
    if let Some(table) = table {
        let (kind, entries) = entries(&table);
        let what = LossKind::PartitionTable {
            table: kind,
            partitions: entries.iter().map(partition).collect(),
        };
        let offset = Bytes(0);
        found.insert(0, Loss { offset, what });
        for entry in entries {
            let part = image.part(entry.offset, entry.len);
            found.extend(contents(&part, Some(entry.number)));
        }
    }
    found
}

fn entries(table: &FoundTable) -> (TableKind, &[PartitionEntry]) {
    match table {
        FoundTable::Mbr(entries) => (TableKind::Mbr, entries),
        FoundTable::Gpt(entries) => (TableKind::Gpt, entries),
        FoundTable::GptCopy(entries) => (TableKind::GptCopy, entries),
    }
}

fn partition(entry: &PartitionEntry) -> Partition {
    let PartitionEntry {
        number,
        offset,
        len,
        name,
    } = entry.clone();
    Partition {
        number,
        offset: Bytes(offset),
        size: Bytes(len),
        name,
    }
}

fn contents(image: &Image<'_>, partition: Option<u32>) -> Vec<Loss> {
    let content = |found: magic::ImageSignature| {
        let magic::ImageSignature { kind, label, size } = found;
        let what = LossKind::Content {
            kind: kind.to_owned(),
            label,
            size,
            partition,
        };
        Loss {
            offset: Bytes(image.start),
            what,
        }
    };
    magic::probe(image).into_iter().map(content).collect()
}

#[cfg(test)]
mod tests;
