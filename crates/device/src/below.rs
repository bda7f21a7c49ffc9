//! Finds the block device whose requests a path causes, for tracing.

use crate::chain::{self, DeviceNode};
use crate::mounts::{self, Mount};
use crate::roots::{self, DevNum, Roots};
use hakaru_model::facts::Fact;
use hakaru_model::io_path::TracedDisk;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};

/// A block device whose requests can be traced.
#[derive(Clone, Debug, PartialEq)]
pub struct DiskBelow {
    /// Description for the record.
    pub disk: TracedDisk,
    /// Device number of the whole disk.
    pub number: DevNum,
    /// Device node of the whole disk.
    pub node: PathBuf,
    /// File with the counters of the whole disk.
    pub counters: PathBuf,
    /// Node of the partition that the path is on, or of the whole disk.
    pub volume: PathBuf,
    /// Where the file system of the path is mounted; `None` for a block device.
    pub mount_point: Option<PathBuf>,
    /// Device number of the file system of the path; `None` for a block device.
    pub filesystem: Option<DevNum>,
}

impl DiskBelow {
    /// Whether requests take so long that each may be recorded in detail: cards and rotating disks.
    pub fn is_slow(&self) -> bool {
        let rotational = self.counters.with_file_name("queue").join("rotational");
        self.disk.name.starts_with("mmcblk")
            || roots::text(&rotational).is_some_and(|text| text.trim() == "1")
    }

    /// Whether the path is on a block device without a file system.
    pub fn is_block_device(&self) -> bool {
        self.filesystem.is_none()
    }

    /// Whether an I/O scheduler can hold requests back, so that another thread issues them.
    pub fn has_scheduler(&self) -> bool {
        let scheduler = self.counters.with_file_name("queue").join("scheduler");
        crate::disk::scheduler(&scheduler) != Fact::Known("none".to_owned())
    }
}

/// Returns the block devices that the kernel sends the requests of a path to: the disk of a partition, but the mapping
/// itself for device mapper and RAID. Empty without a block device, as in memory and network file systems.
pub fn disks_below(path: &Path, roots: &Roots) -> Vec<DiskBelow> {
    let (nodes, mount) = nodes_of(path, roots);
    let disk = |node: DeviceNode| disk_of(&node, mount.as_ref(), roots);
    nodes.into_iter().map(disk).collect()
}

/// Returns the block devices of a path, and the mount of its file system.
fn nodes_of(path: &Path, roots: &Roots) -> (Vec<DeviceNode>, Option<Mount>) {
    let directory = crate::inspect::directory_of(path);
    let Some(metadata) = path.metadata().or_else(|_| directory.metadata()).ok() else {
        return (Vec::new(), None);
    };
    if metadata.file_type().is_block_device() {
        let node = DeviceNode::by_number(DevNum::from_raw(metadata.rdev()), roots);
        return (node.into_iter().collect(), None);
    }
    let mounts = mounts::mounts(roots);
    let number = DevNum::from_raw(metadata.dev());
    let Some(mount) = mount_of(path, number, roots, &mounts) else {
        let node = DeviceNode::by_number(number, roots);
        return (node.into_iter().collect(), None);
    };
    let nodes = chain::nodes_of_mount(&mount, roots, &mounts);
    let mount = Mount { number, ..mount };
    (nodes, Some(mount))
}

/// Returns the mount of a path. A removed file has no path, but its device number names the mount. A new file has
/// neither: its directory names the mount, also on Btrfs, whose files have numbers that no mount has.
fn mount_of(path: &Path, number: DevNum, roots: &Roots, mounts: &[Mount]) -> Option<Mount> {
    let same = mounts.iter().find(|mount| mount.number == number);
    same.cloned().or_else(|| {
        let real = path
            .canonicalize()
            .or_else(|_| path.read_link())
            .or_else(|_| crate::inspect::directory_of(path).canonicalize())
            .ok()?;
        mounts::mount_at(&real, roots, mounts)
    })
}

fn disk_of(node: &DeviceNode, mount: Option<&Mount>, roots: &Roots) -> DiskBelow {
    let disk = node.disk();
    let partition = node
        .partition()
        .map(|_| (node.start() / 512, node.size().0 / 512));
    let write_cache = roots::text(&disk.folder.join("queue/write_cache"));
    DiskBelow {
        number: disk.number,
        node: roots.dev.join(&disk.kname),
        counters: disk.folder.join("stat"),
        volume: roots.dev.join(&node.kname),
        mount_point: mount.map(|mount| mount.mount_point.clone()),
        filesystem: mount.map(|mount| mount.number),
        disk: TracedDisk {
            partition,
            filesystem: mount.map(|mount| mount.fs_type.clone()),
            flushes_sent: write_cache.is_some_and(|text| text.trim() == "write back"),
            bio_based: !disk.folder.join("mq").is_dir(),
            size: disk.size(),
            name: disk.kname,
        },
    }
}
