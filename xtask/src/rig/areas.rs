//! What lies where on a card, read by other programs than the one under test: the tools of ext4 and F2FS, and the reader
//! of FAT32 in [`fat`](super::fat).
//!
//! Source: dumpe2fs(8), debugfs(8), dump.f2fs(8).

use super::fat::FatVolume;
use super::traced::TracedMachine;
use anyhow::{Context, Result, bail, ensure};
use hakaru_model::io_path::IoClass;
use std::ops::Range;

/// Areas of a file system.
pub(super) enum CardAreas {
    Fat(FatVolume),
    Listed(ListedAreas),
}

/// Areas that a tool lists, in bytes. What is in none of them is data.
#[derive(Debug, Default, PartialEq)]
pub(super) struct ListedAreas(Vec<(Range<u64>, IoClass)>);

/// Prints the layout of ext4, and where the journal (inode 8) and the root directory (inode 2) are.
const EXT4: &str = "dumpe2fs /dev/mmcblk0 2>/dev/null || exit 1
for inode in 8 2; do debugfs -R \"stat <$inode>\" /dev/mmcblk0 2>/dev/null || exit 1; done";

/// Prints the layout of F2FS and the type of each segment after a checkpoint.
const F2FS: &str = "sync; echo 1 >/proc/sys/vm/drop_caches
cd /tmp && dump.f2fs -d 1 -s 0~-1 /dev/mmcblk0 && grep ^segno: dump_sit";

impl CardAreas {
    /// Reads the areas of a layer that is mounted in a machine; `None` for a raw card.
    ///
    /// # Errors
    /// If they cannot be read.
    pub(super) fn read(machine: &mut TracedMachine<'_>, layer: &str) -> Result<Option<CardAreas>> {
        Ok(Some(match layer {
            "raw" => return Ok(None),
            "vfat" => CardAreas::Fat(FatVolume::read(machine.card)?),
            "ext4" => CardAreas::Listed(ListedAreas::ext4(&machine.prepare(EXT4)?)?),
            "f2fs" => CardAreas::Listed(ListedAreas::f2fs(&machine.prepare(F2FS)?)?),
            other => bail!("no areas of {other} are known"),
        }))
    }

    /// Returns what lies at an address in bytes.
    pub(super) fn class_at(&self, offset: u64) -> IoClass {
        match self {
            CardAreas::Fat(volume) => volume.class_at(offset),
            CardAreas::Listed(areas) => areas.class_at(offset),
        }
    }
}

impl ListedAreas {
    fn class_at(&self, offset: u64) -> IoClass {
        let mut areas = self.0.iter();
        let found = areas.find(|(area, _)| area.contains(&offset));
        found.map_or(IoClass::Data, |(_, class)| *class)
    }

    /// Reads the output of `dumpe2fs` and `debugfs`.
    fn ext4(text: &str) -> Result<ListedAreas> {
        let size = text
            .lines()
            .find_map(|line| line.strip_prefix("Block size:")?.trim().parse().ok());
        let size: u64 = size.context("dumpe2fs names no block size")?;
        let mut areas = Vec::new();
        // The inode whose blocks are listed.
        let (mut inode, mut is_list) = (None, false);
        for line in text.lines() {
            if let Some(rest) = line.strip_prefix("Inode: ") {
                inode = match rest.split_whitespace().next() {
                    Some("8") => Some(IoClass::Journal),
                    Some("2") => Some(IoClass::Directory),
                    _ => None,
                };
                is_list = false;
                continue;
            }
            for part in line.split(", ") {
                let listed = inode.filter(|_| is_list);
                let found = match listed {
                    // `(0-8191):114689-122880`
                    Some(class) => part.split_once("):").map(|(_, at)| (at, class)),
                    None => ext4_area(part),
                };
                let blocks = found.and_then(|(at, class)| Some((blocks(at)?, class)));
                areas.extend(blocks.map(|(it, class)| (it.start * size..it.end * size, class)));
            }
            is_list |= line == "EXTENTS:";
        }
        let has = |wanted: IoClass| areas.iter().any(|(_, class)| *class == wanted);
        ensure!(
            has(IoClass::InodeTable) && has(IoClass::Journal) && has(IoClass::Directory),
            "dumpe2fs and debugfs list too little: {text:.2000}"
        );
        Ok(ListedAreas(areas))
    }

    /// Reads the output of `dump.f2fs` and its list of segments.
    fn f2fs(text: &str) -> Result<ListedAreas> {
        let field = |name: &str| -> Result<u64> {
            let mut lines = text.lines().filter(|line| line.starts_with(name));
            let value = lines.find_map(|line| {
                let (_, value) = line.rsplit_once(": ")?;
                value.trim_end_matches(']').trim().parse().ok()
            });
            value.with_context(|| format!("dump.f2fs names no {name}: {text:.2000}"))
        };
        let block = 1 << field("log_blocksize")?;
        let starts = [
            ("cp_blkaddr", IoClass::Checkpoint),
            ("sit_blkaddr", IoClass::SegmentTable),
            ("nat_blkaddr", IoClass::NodeAddressTable),
            ("ssa_blkaddr", IoClass::SegmentSummary),
            ("main_blkaddr", IoClass::Data),
        ];
        let mut areas = Vec::new();
        let (mut from, mut class) = (0, IoClass::Superblock);
        for (name, next) in starts {
            let at = field(name)? * block;
            areas.push((from..at, class));
            (from, class) = (at, next);
        }
        let segment = block << field("log_blocks_per_seg")?;
        let segments = text.lines().filter_map(f2fs_segment);
        areas.extend(segments.map(|(number, class)| {
            let at = from + number * segment;
            (at..at + segment, class)
        }));
        let has_nodes = areas.iter().any(|(_, class)| *class == IoClass::Node);
        ensure!(has_nodes, "dump.f2fs lists no node segments: {text:.2000}");
        Ok(ListedAreas(areas))
    }
}

/// The blocks and the class of an item of `dumpe2fs`: `Block bitmap at 260 (+259)`.
fn ext4_area(part: &str) -> Option<(&str, IoClass)> {
    let (name, at) = part.trim().split_once(" at ")?;
    let class = match name {
        "Primary superblock" | "Backup superblock" => IoClass::Superblock,
        "Group descriptors" | "Reserved GDT blocks" => IoClass::GroupDescriptors,
        "Block bitmap" | "Inode bitmap" => IoClass::Bitmap,
        "Inode table" => IoClass::InodeTable,
        _ => return None,
    };
    Some((at, class))
}

/// A range of blocks: `292-803 (+291)`, or a single block.
fn blocks(text: &str) -> Option<Range<u64>> {
    let text = text.split_whitespace().next()?;
    let (first, last) = text.split_once('-').unwrap_or((text, text));
    Some(first.parse().ok()?..last.parse::<u64>().ok()? + 1)
}

/// The number and the class of a segment: `segno: 3 vblocks: 1 seg_type:0 sit_pack:1`, of types 0 to 2 for data and 3 to 5
/// for nodes.
fn f2fs_segment(line: &str) -> Option<(u64, IoClass)> {
    let number = line.strip_prefix("segno:")?.split_whitespace().next()?;
    let (_, kind) = line.split_once("seg_type:")?;
    let class = match kind.split_whitespace().next()? {
        "0" | "1" | "2" => IoClass::Data,
        "3" | "4" | "5" => IoClass::Node,
        _ => return None,
    };
    Some((number.parse().ok()?, class))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_the_layout_of_ext4() {
        let text = "First block:              1
Block size:               1024
Group 0: (Blocks 1-8192) csum 0xc908 [ITABLE_ZEROED]
  Primary superblock at 1, Group descriptors at 2-3
  Reserved GDT blocks at 4-259
  Block bitmap at 260 (+259), csum 0x1463f744
  Inode bitmap at 276 (+275), csum 0x1c689076
  Inode table at 292-803 (+291)
  Free blocks: 7986-8192
Inode: 8   Type: regular    Mode:  0600   Flags: 0x80000
EXTENTS:
(0-99):2000-2099, (100):3000
Inode: 2   Type: directory    Mode:  0755   Flags: 0x80000
EXTENTS:
(0):7972
";
        let areas = ListedAreas::ext4(text).unwrap();
        let at = |block: u64| areas.class_at(block * 1024 + 512);
        let blocks = [1, 2, 259, 260, 276, 803, 804, 2099, 2100, 3000, 7972];
        let classes = [
            IoClass::Superblock,
            IoClass::GroupDescriptors,
            IoClass::GroupDescriptors,
            IoClass::Bitmap,
            IoClass::Bitmap,
            IoClass::InodeTable,
            IoClass::Data,
            IoClass::Journal,
            IoClass::Data,
            IoClass::Journal,
            IoClass::Directory,
        ];
        assert_eq!(blocks.map(at), classes);
        assert!(ListedAreas::ext4("Block size: 1024\n").is_err());
    }

    #[test]
    fn reads_the_layout_of_f2fs() {
        let text = "log_blocksize                 \t\t[0x       c : 12]
log_blocks_per_seg            \t\t[0x       9 : 9]
segment0_blkaddr              \t\t[0x     200 : 512]
cp_blkaddr                    \t\t[0x     200 : 512]
sit_blkaddr                   \t\t[0x     600 : 1536]
nat_blkaddr                   \t\t[0x     a00 : 2560]
ssa_blkaddr                   \t\t[0x     e00 : 3584]
main_blkaddr                  \t\t[0x    1000 : 4096]
segno:       0\tvblocks:  1\tseg_type:3\tsit_pack:1
segno:       1\tvblocks:  0\tseg_type:1\tsit_pack:1
";
        let areas = ListedAreas::f2fs(text).unwrap();
        let at = |block: u64| areas.class_at(block * 4096);
        let blocks = [0, 511, 512, 1536, 2560, 3584, 4095, 4096, 4607, 4608];
        let classes = [
            IoClass::Superblock,
            IoClass::Superblock,
            IoClass::Checkpoint,
            IoClass::SegmentTable,
            IoClass::NodeAddressTable,
            IoClass::SegmentSummary,
            IoClass::SegmentSummary,
            IoClass::Node,
            IoClass::Node,
            IoClass::Data,
        ];
        assert_eq!(blocks.map(at), classes);
        assert!(ListedAreas::f2fs("log_blocksize [0x c : 12]\n").is_err());
    }
}
