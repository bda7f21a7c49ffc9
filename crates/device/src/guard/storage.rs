//! Finds block devices that share storage: a device and its partitions, the members of a mapping or RAID, and loop
//! devices over one file or device.

use crate::chain::{self, DeviceNode, FileId};
use crate::roots::{self, DevNum, Roots};
use std::ops::Range;

/// Maximum number of ranges of one device; a forged sysfs could otherwise cause an endless loop.
const MOST_RANGES: usize = 4096;

/// A block device or a file behind a loop device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Backing {
    Device(DevNum),
    File(FileId),
}

/// A byte range that holds data of a device, on the device itself or on something below it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct StorageRange {
    pub(super) backing: Backing,
    range: Range<u64>,
    /// The lowest device on the way down on which the position is unknown, as on the members of a mapping or RAID. The
    /// range is then an upper bound.
    unknown_on: Option<DevNum>,
}

impl StorageRange {
    /// All of a file.
    pub(super) fn of_file(file: FileId) -> StorageRange {
        StorageRange {
            backing: Backing::File(file),
            range: 0..u64::MAX,
            unknown_on: None,
        }
    }

    /// Whether the ranges have bytes in common. Two mappings on one member, such as two logical volumes, are assumed
    /// to be disjoint there.
    fn overlaps(&self, other: &StorageRange) -> bool {
        let are_siblings = self.unknown_on.is_some() && self.unknown_on == other.unknown_on;
        self.backing == other.backing
            && self.range.start < other.range.end
            && other.range.start < self.range.end
            && !are_siblings
    }
}

/// A range of a device whose ranges below are not yet found.
type PendingRange = (DeviceNode, Range<u64>, Option<DevNum>);

/// All block devices, and how they are stacked.
pub(super) struct Stacks<'a> {
    roots: &'a Roots,
    nodes: Vec<DeviceNode>,
    /// Mappings and RAIDs, each with one of its members.
    members: Vec<(DevNum, DeviceNode)>,
}

impl Stacks<'_> {
    pub(super) fn read(roots: &Roots) -> Stacks<'_> {
        let names = roots::names(&roots.sys.join("class/block"));
        let nodes: Vec<DeviceNode> = names
            .iter()
            .filter_map(|name| DeviceNode::by_name(name, roots))
            .collect();
        let mut members = Vec::new();
        for node in &nodes {
            let slaves = node.slaves().into_iter();
            members.extend(slaves.map(|slave| (node.number, slave)));
            let holders = node.holders().into_iter();
            members.extend(holders.map(|holder| (holder.number, node.clone())));
        }
        Stacks {
            roots,
            nodes,
            members,
        }
    }

    pub(super) fn roots(&self) -> &Roots {
        self.roots
    }

    /// Returns the ranges of a device, from top to bottom. Loop devices are asked for their files only `with_files`.
    pub(super) fn ranges(&self, node: &DeviceNode, with_files: bool) -> Vec<StorageRange> {
        let mut found: Vec<StorageRange> = Vec::new();
        let mut open: Vec<PendingRange> = vec![(node.clone(), 0..u64::MAX, None)];
        while let Some((node, range, unknown_on)) = open.pop() {
            let storage_range = StorageRange {
                backing: Backing::Device(node.number),
                range: range.clone(),
                unknown_on,
            };
            if range.is_empty() || found.contains(&storage_range) || found.len() >= MOST_RANGES {
                continue;
            }
            found.push(storage_range);
            if with_files && let Some((file, extent)) = self.file_behind(&node) {
                found.push(StorageRange {
                    backing: Backing::File(file),
                    range: within(&range, &extent),
                    unknown_on,
                });
            }
            open.extend(self.below(&node, &range, unknown_on));
        }
        found
    }

    /// Returns the ranges directly below a range of a device.
    fn below(
        &self,
        node: &DeviceNode,
        range: &Range<u64>,
        unknown_on: Option<DevNum>,
    ) -> Vec<PendingRange> {
        let mut below: Vec<PendingRange> = Vec::new();
        if node.partition().is_some() {
            let disk = node.disk();
            if roots::number::<u64>(&node.folder.join("start")).is_some() {
                below.push((disk, within(range, &extent(node.start(), node)), unknown_on));
            } else {
                let number = disk.number;
                below.push((disk, 0..u64::MAX, Some(number)));
            }
            let logical = logical_partitions(node).into_iter();
            below.extend(logical.map(|part| (part, 0..u64::MAX, unknown_on)));
        }
        if let Some(device) = self.device_behind(node) {
            let offset = roots::number(&node.folder.join("loop/offset")).unwrap_or(0);
            below.push((device, within(range, &extent(offset, node)), unknown_on));
        }
        let members = self
            .members
            .iter()
            .filter(|(upper, _)| *upper == node.number);
        below.extend(members.map(|(_, member)| (member.clone(), 0..u64::MAX, Some(member.number))));
        below
    }

    /// Returns the device behind a loop device.
    fn device_behind(&self, node: &DeviceNode) -> Option<DeviceNode> {
        DeviceNode::by_path(
            &chain::in_dev(&node.backing_file()?, self.roots),
            self.roots,
        )
    }

    /// Returns the file behind a loop device, and the range of it.
    fn file_behind(&self, node: &DeviceNode) -> Option<(FileId, Range<u64>)> {
        if node.partition().is_some() || self.device_behind(node).is_some() {
            return None;
        }
        let found = node.file_extent(self.roots)?;
        Some((found.file, extent(found.range.start, node)))
    }

    /// Returns all devices that share storage with these ranges, those with the fewest devices below first.
    pub(super) fn sharing(&self, own: &[StorageRange]) -> Vec<DeviceNode> {
        let with_files = own
            .iter()
            .any(|storage_range| matches!(storage_range.backing, Backing::File(_)));
        let mut found: Vec<(usize, &DeviceNode)> = Vec::new();
        for node in &self.nodes {
            let ranges = self.ranges(node, with_files);
            if share(own, &ranges) {
                found.push((ranges.len(), node));
            }
        }
        found.sort_by_key(|(depth, _)| *depth);
        found.into_iter().map(|(_, node)| node.clone()).collect()
    }

    /// Whether a device uses other devices: a mapping, a RAID, or a loop device over a device.
    pub(super) fn uses_devices(&self, node: &DeviceNode) -> bool {
        self.members.iter().any(|(upper, _)| *upper == node.number)
            || self.device_behind(node).is_some()
    }
}

/// Whether two devices have bytes in common.
pub(super) fn share(own: &[StorageRange], others: &[StorageRange]) -> bool {
    own.iter()
        .any(|storage_range| others.iter().any(|other| other.overlaps(storage_range)))
}

/// Returns other names of the storage of a device that can be claimed beside it. The members of a mapping or RAID
/// are claimed by it, and a partition shares the claim of its disk.
pub(super) fn claimable(node: &DeviceNode, roots: &Roots) -> Vec<DeviceNode> {
    let stacks = Stacks::read(roots);
    let own = stacks.ranges(node, true);
    let is_member = |other: &DeviceNode| {
        own.iter().any(|storage_range| {
            storage_range.backing == Backing::Device(other.number)
                && storage_range.unknown_on == Some(other.number)
        })
    };
    let claimed = stacks.nodes.iter().filter(|other| is_member(other));
    let disks: Vec<DeviceNode> = claimed.chain([node]).map(DeviceNode::disk).collect();
    // Other partitions of the same disk contain different bytes.
    let is_whole =
        |other: &DeviceNode| other.partition().is_some() || other.partitions().is_empty();
    let mut others = stacks.sharing(&own);
    others.retain(|other| is_whole(other) && !disks.contains(&other.disk()));
    others
}

/// Range of the device below, if the device starts at this offset. An unknown size counts as one byte.
fn extent(start: u64, node: &DeviceNode) -> Range<u64> {
    start..start.saturating_add(node.size().0.max(1))
}

/// Maps a range of a device to the device below.
fn within(range: &Range<u64>, extent: &Range<u64>) -> Range<u64> {
    let shifted = |offset: u64| extent.start.saturating_add(offset).min(extent.end);
    shifted(range.start)..shifted(range.end)
}

/// Returns the logical partitions of an extended partition, which are numbered from 5. The kernel shows one logical
/// block of an extended partition, but at least two sectors (`parse_extended` in `block/partitions/msdos.c`).
fn logical_partitions(node: &DeviceNode) -> Vec<DeviceNode> {
    let disk = node.disk();
    let block = roots::number::<u64>(&disk.folder.join("queue/logical_block_size")).unwrap_or(512);
    let is_extended =
        node.size().0 <= block.max(1024) && node.partition().is_some_and(|number| number <= 4);
    let siblings = if is_extended {
        disk.partitions()
    } else {
        Vec::new()
    };
    siblings
        .into_iter()
        .filter(|sibling| sibling.partition().is_some_and(|number| number >= 5))
        .collect()
}
