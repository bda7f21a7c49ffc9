//! What lies where in a file system, read from its medium, and where the files under test are.
//!
//! Structures are those of the kernel's documentation of ext4 and F2FS, of Microsoft's specifications of FAT and exFAT,
//! and of the on-disk formats of XFS and Btrfs. Content of a medium is not trusted: whatever it says, reading ends, uses
//! bounded memory, and leaves a [`LayoutGap`] where it does not know.

mod allocation;
mod btrfs;
mod chain;
mod exfat;
mod ext4;
mod f2fs;
mod fat;
mod files;
mod inode;
mod medium;
mod snapshot;
mod xfs;

pub use allocation::Allocation;
pub use files::{FilePlaces, TestFile};
pub use medium::{Medium, open_medium};
pub use snapshot::{LayoutSnapshot, Volume, address_map, raw_address_map};

use hakaru_model::io_path::{IoClass, LayoutGap, LayoutPart, LayoutRange};
use medium::{Flaw, Reader};

/// Bytes of a sector in all addresses.
const SECTOR: u64 = 512;
/// Ranges of a layout, at most.
const MAX_RANGES: usize = 1 << 20;

/// Sectors of a disk that a file system, or a raw test, may use.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DiskArea {
    /// First sector on the whole disk: the start of the partition.
    pub start: u64,
    /// Sectors.
    pub sectors: u64,
}

impl DiskArea {
    /// Returns the sector behind the last one.
    pub fn end(self) -> u64 {
        self.start.saturating_add(self.sectors)
    }

    /// Returns bytes of this area as sectors of the whole disk, without what lies outside.
    fn range(self, offset: u64, len: u64, class: IoClass) -> Option<LayoutRange> {
        let end = offset
            .saturating_add(len)
            .div_ceil(SECTOR)
            .min(self.sectors);
        let start = offset / SECTOR;
        (len > 0 && start < end).then(|| LayoutRange {
            sector: self.start.saturating_add(start),
            sectors: end - start,
            class,
        })
    }
}

/// File system of a layout.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FileSystem {
    /// ext2, ext3, ext4
    Ext,
    /// FAT with entries of 12 bits.
    Fat12,
    /// FAT with entries of 16 bits.
    Fat16,
    /// FAT with entries of 32 bits.
    Fat32,
    /// exFAT
    Exfat,
    /// F2FS
    F2fs,
    /// XFS
    Xfs,
    /// Btrfs
    Btrfs,
    /// None of these.
    #[default]
    Unknown,
}

impl FileSystem {
    /// Returns whether the kernel mounts it under this name.
    fn has_name(self, name: &str) -> bool {
        match self {
            FileSystem::Ext => matches!(name, "ext2" | "ext3" | "ext4"),
            FileSystem::Fat12 | FileSystem::Fat16 | FileSystem::Fat32 => {
                matches!(name, "vfat" | "msdos" | "fuseblk")
            }
            FileSystem::Exfat => matches!(name, "exfat" | "fuseblk"),
            FileSystem::F2fs => name == "f2fs",
            FileSystem::Xfs => name == "xfs",
            FileSystem::Btrfs => name == "btrfs",
            FileSystem::Unknown => false,
        }
    }
}

/// What lies where in a file system.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Layout {
    /// The file system.
    pub file_system: FileSystem,
    /// Where it is on the disk.
    pub area: DiskArea,
    /// Ranges with a class, in order of precedence, in sectors of the whole disk.
    pub ranges: Vec<LayoutRange>,
    /// What is not known.
    pub gaps: Vec<LayoutGap>,
    /// Space in use, if it can be told.
    pub allocation: Option<Allocation>,
    /// Parameters with which files are found.
    parameters: Parameters,
}

/// Parameters of a file system with which files are found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
enum Parameters {
    #[default]
    None,
    Ext(ext4::Ext),
    Fat(fat::Fat),
    Exfat(exfat::Exfat),
}

/// Reads the layout of a file system. `medium` starts where the file system starts; `name` is the kernel's name of the
/// mounted file system, without which it is recognized by its content.
pub fn read(medium: &dyn Medium, area: DiskArea, name: Option<&str>) -> Layout {
    let mut builder = Builder::new(area);
    match Reader::new(medium, area.sectors.saturating_mul(SECTOR)) {
        Ok(mut reader) => detect(&mut reader, &mut builder, name),
        Err(flaw) => builder.gap(flaw.of(LayoutPart::Superblock)),
    }
    builder.layout
}

/// The file system found; `None` if the medium has another one.
type Detected = Result<Option<FileSystem>, Flaw>;

/// Reader of one kind of file system.
type Detector = fn(&mut Reader<'_>, &mut Builder) -> Detected;

/// File systems with the magic number farthest inside first: formatting may leave the one of an earlier file system in
/// the first sector.
const DETECTORS: [Detector; 6] = [
    btrfs::read,
    f2fs::read,
    ext4::read,
    xfs::read,
    exfat::read,
    fat::read,
];

fn detect(reader: &mut Reader<'_>, builder: &mut Builder, name: Option<&str>) {
    let empty = builder.layout.clone();
    let mut failed = None;
    for detector in DETECTORS {
        builder.layout = empty.clone();
        match detector(reader, builder) {
            Ok(Some(found)) if name.is_none_or(|name| found.has_name(name)) => {
                builder.layout.file_system = found;
                return;
            }
            Ok(_) => {}
            Err(flaw) => failed = failed.or(Some(flaw.of(LayoutPart::Superblock))),
        }
    }
    builder.layout = empty;
    builder.gap(failed.unwrap_or(LayoutGap::UnknownFileSystem));
}

/// Layout in the making.
struct Builder {
    layout: Layout,
}

impl Builder {
    fn new(area: DiskArea) -> Builder {
        let layout = Layout {
            area,
            ..Layout::default()
        };
        Builder { layout }
    }

    /// Adds bytes of the file system; what lies outside of it is left out.
    fn add(&mut self, offset: u64, len: u64, class: IoClass) {
        if let Some(range) = self.layout.area.range(offset, len, class) {
            push_joined(&mut self.layout.ranges, range);
            if self.layout.ranges.len() > MAX_RANGES {
                self.layout.ranges.truncate(MAX_RANGES);
                self.gap(Flaw::TooLarge.of(LayoutPart::Ranges));
            }
        }
    }

    /// Adds what is not known, once.
    fn gap(&mut self, gap: LayoutGap) {
        if !self.layout.gaps.contains(&gap) {
            self.layout.gaps.push(gap);
        }
    }

    /// Adds a part that contradicts itself or lies outside of the medium.
    fn damaged(&mut self, part: LayoutPart) {
        self.gap(Flaw::Damaged.of(part));
    }

    /// Returns a value, or adds a gap.
    fn known<T>(&mut self, part: LayoutPart, result: Result<T, Flaw>) -> Option<T> {
        match result {
            Ok(value) => Some(value),
            Err(flaw) => {
                self.gap(flaw.of(part));
                None
            }
        }
    }
}

/// Appends a range; one that continues the last range becomes a part of it.
fn push_joined(ranges: &mut Vec<LayoutRange>, range: LayoutRange) {
    match ranges.last_mut() {
        Some(last) if last.sector + last.sectors == range.sector && last.class == range.class => {
            last.sectors += range.sectors;
        }
        _ => ranges.push(range),
    }
}

#[cfg(test)]
mod tests;
