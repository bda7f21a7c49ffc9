//! Layout and files at one moment, and the address map between two moments.

use super::files::{self, FilePlaces, TestFile};
use super::medium::{Flaw, NoMedium};
use super::{DiskArea, FileSystem, Layout, Medium, open_medium};
use crate::address_map::AddressMap;
use hakaru_model::io_path::{IoClass, LayoutPart, LayoutRange};
use rustix::fs::{FileType, Mode, OFlags};
use std::path::Path;

/// A mounted file system.
#[derive(Clone, Copy, Debug)]
pub struct Volume<'a> {
    /// Device, or image of one, that starts where the file system starts: a partition, or the whole disk.
    pub device: &'a Path,
    /// Where it is on the whole disk.
    pub area: DiskArea,
    /// Where the root of the file system is mounted, and the kernel's name of the file system: `ext4`.
    pub mounted: Option<(&'a Path, &'a str)>,
}

/// What lies where on a file system at one moment.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LayoutSnapshot {
    /// The file system.
    pub layout: Layout,
    /// The files under test.
    pub files: FilePlaces,
}

impl LayoutSnapshot {
    /// Reads the layout of a volume and the places of files on it. A mounted file system is written back first.
    ///
    /// This takes time and sends requests to the device: keep it out of whatever is measured.
    pub fn take(volume: &Volume<'_>, files: &[TestFile<'_>]) -> LayoutSnapshot {
        if let Some((mount_point, _)) = volume.mounted {
            write_back(mount_point);
        }
        let name = volume.mounted.map(|(_, name)| name);
        let opened = open_medium(volume.device);
        let layout = match &opened {
            Ok(medium) => super::read(medium, volume.area, name),
            Err(error) => Layout {
                area: volume.area,
                gaps: vec![Flaw::of_error(error).of(LayoutPart::Superblock)],
                ..Layout::default()
            },
        };
        // The kernel locates files even where the device cannot be read.
        let medium: &dyn Medium = match &opened {
            Ok(medium) => medium,
            Err(_) => &NoMedium,
        };
        let files = match volume.mounted {
            // Btrfs reports addresses of its own.
            Some((mount_point, name)) if name != "btrfs" => {
                let device = block_device(volume.device);
                files::find(medium, &layout, mount_point, device, files)
            }
            _ => FilePlaces::default(),
        };
        LayoutSnapshot { layout, files }
    }
}

/// Returns the number of a block device.
fn block_device(path: &Path) -> Option<u64> {
    let stat = rustix::fs::stat(path).ok()?;
    let kind = FileType::from_raw_mode(stat.st_mode);
    (kind == FileType::BlockDevice).then_some(stat.st_rdev)
}

/// Writes back all of a file system. What fails shows in the addresses only.
fn write_back(mount_point: &Path) {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    if let Ok(directory) = rustix::fs::open(mount_point, flags, Mode::empty()) {
        let _ = rustix::fs::syncfs(&directory);
    }
}

/// Returns what lies where on a disk of `disk_sectors`, on which one file system was traced between two moments. Where
/// they differ, `after` counts first.
pub fn address_map(
    disk_sectors: u64,
    before: Option<&LayoutSnapshot>,
    after: &LayoutSnapshot,
) -> AddressMap {
    let both = || [Some(after), before].into_iter().flatten();
    let of_files = |data: bool| {
        both()
            .flat_map(|snapshot| &snapshot.files.ranges)
            .filter(move |range| (range.class == IoClass::Data) == data)
            .copied()
    };
    let fixed = both().flat_map(|snapshot| &snapshot.layout.ranges).copied();
    let earlier = before.and_then(|before| before.layout.allocation.as_ref());
    let later = after.layout.allocation.as_ref();
    let allocated = earlier
        .zip(later)
        .map(|(earlier, later)| later.since(earlier))
        .unwrap_or_default();
    // Everything that Btrfs does not flag as metadata is data.
    let by_flag = match after.layout.file_system {
        FileSystem::Btrfs => files::raw(after.layout.area),
        _ => None,
    };
    AddressMap::from_ranges(
        of_files(true)
            .chain(of_files(false))
            .chain(fixed)
            .chain(allocated)
            .chain(by_flag)
            .chain(outside(disk_sectors, after.layout.area)),
    )
}

/// Returns the map of a disk that is tested without a file system: `area` is data.
pub fn raw_address_map(disk_sectors: u64, area: DiskArea) -> AddressMap {
    let data = files::raw(area);
    AddressMap::from_ranges(data.into_iter().chain(outside(disk_sectors, area)))
}

/// Returns what is on the disk, but outside of an area.
fn outside(disk_sectors: u64, area: DiskArea) -> [LayoutRange; 2] {
    [(0, area.start), (area.end(), disk_sectors)].map(|(start, end)| LayoutRange {
        sector: start,
        sectors: end.saturating_sub(start),
        class: IoClass::OtherPartition,
    })
}
