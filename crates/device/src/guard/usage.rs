//! Checks kernel tables for users of a device.

use super::refusal::Refusal;
use crate::chain::{self, DeviceNode, FileExtent, FileId, Loops};
use crate::inspect;
use crate::mounts::{self, Elsewhere, Mount};
use crate::roots::{self, Roots};
use hakaru_model::facts::TargetKind;
use std::path::{Path, PathBuf};

pub(super) fn named_node(path: &Path, roots: &Roots) -> Result<DeviceNode, Refusal> {
    let path_owned = path.to_owned();
    if roots.device_number(path).is_none() {
        let kind = path
            .metadata()
            .map_or(TargetKind::Absent, |metadata| inspect::kind_of(&metadata));
        let what = match kind {
            TargetKind::Absent => return Err(Refusal::NotThere { path: path_owned }),
            TargetKind::File => "a file",
            TargetKind::Directory => "a directory",
            TargetKind::CharDevice => "a character device",
            TargetKind::BlockDevice | TargetKind::Other => "something else",
        };
        return Err(Refusal::NotABlockDevice {
            path: path_owned,
            what,
        });
    }
    let because = "not listed in sysfs".to_owned();
    DeviceNode::by_path(path, roots).ok_or(Refusal::Blind {
        path: path_owned,
        because,
    })
}

pub(super) fn not_of_the_system(
    path: &Path,
    node: &DeviceNode,
    roots: &Roots,
    mounts: &[Mount],
) -> Result<(), Refusal> {
    let system = chain::system_nodes(roots, mounts);
    let below = chain::down_from(node, Loops::Devices, roots, mounts);
    match below.iter().find(|node| system.contains(node)) {
        Some(shared) if shared == node => Err(Refusal::SystemDisk {
            path: path.to_owned(),
            system: path.display().to_string(),
        }),
        Some(shared) => {
            let system = format!("{}, which {} is on", shared.role(), path.display());
            Err(Refusal::SystemDisk {
                path: path.to_owned(),
                system,
            })
        }
        None => Ok(()),
    }
}

/// Returns the device and all names of the same storage: its partitions, the disk of a partition,
/// the device of a loop device, and other loop devices over the same bytes.
fn same_storage(node: &DeviceNode, roots: &Roots) -> Vec<DeviceNode> {
    let mut same = vec![node.clone()];
    same.extend(twins(node, roots));
    same.extend(node.partitions());
    if node.partition().is_some() {
        same.push(node.disk());
        same.extend(logical_ones(node));
    }
    let behind = node
        .backing_file()
        .and_then(|file| DeviceNode::by_path(&chain::in_dev(&file, roots), roots));
    if let Some(behind) = behind {
        same.extend(same_storage(&behind, roots));
    }
    same
}

/// Returns other loop devices and partitions over some of the same file bytes.
pub(super) fn twins(node: &DeviceNode, roots: &Roots) -> Vec<DeviceNode> {
    let Some(own) = node.file_extent(roots) else {
        return Vec::new();
    };
    showing(&own, roots)
        .into_iter()
        .filter(|other| other.disk() != node.disk())
        .collect()
}

/// Returns loop devices and partitions over a file range.
fn showing(extent: &FileExtent, roots: &Roots) -> Vec<DeviceNode> {
    let nodes = chain::loops(roots).into_iter().flat_map(|disk| {
        let partitions = disk.partitions();
        std::iter::once(disk).chain(partitions)
    });
    nodes
        .filter(|other| {
            other
                .file_extent(roots)
                .is_some_and(|other| other.overlaps(extent))
        })
        .collect()
}

/// Checks that no loop device over the file is in use.
pub(super) fn file_not_in_use(path: &Path, roots: &Roots, mounts: &[Mount]) -> Result<(), Refusal> {
    let Some(file) = FileId::of(path) else {
        return Ok(());
    };
    let all = FileExtent {
        file,
        range: 0..u64::MAX,
    };
    showing(&all, roots)
        .iter()
        .try_for_each(|node| not_in_use(path, node, roots, mounts))
}

/// Returns the logical partitions of an extended partition: the kernel shows two sectors for the
/// extended one, and the logical ones next to it, numbered from 5.
fn logical_ones(node: &DeviceNode) -> Vec<DeviceNode> {
    let is_extended = node.size().0 <= 1024 && node.partition().is_some_and(|number| number <= 4);
    let siblings = if is_extended {
        node.disk().partitions()
    } else {
        Vec::new()
    };
    siblings
        .into_iter()
        .filter(|sibling| sibling.partition().is_some_and(|number| number >= 5))
        .collect()
}

/// Returns everything stacked on these devices: mappings, RAIDs, loop devices and their partitions.
fn made_of(same: &[DeviceNode], roots: &Roots) -> Vec<DeviceNode> {
    let loops = chain::loops(roots);
    let mut found: Vec<DeviceNode> = Vec::new();
    let mut open: Vec<DeviceNode> = same.to_vec();
    while let Some(node) = open.pop() {
        let over = |other: &&DeviceNode| {
            let behind = other
                .backing_file()
                .and_then(|file| roots.device_number(&chain::in_dev(&file, roots)));
            behind == Some(node.number)
        };
        let parts = if same.contains(&node) {
            Vec::new()
        } else {
            node.partitions()
        };
        let above = node
            .holders()
            .into_iter()
            .chain(loops.iter().filter(over).cloned())
            .chain(parts);
        let new: Vec<_> = above
            .filter(|above| !found.contains(above) && !same.contains(above))
            .collect();
        found.extend(new.iter().cloned());
        open.extend(new);
    }
    found
}

pub(super) fn not_in_use(
    path: &Path,
    node: &DeviceNode,
    roots: &Roots,
    mounts: &[Mount],
) -> Result<(), Refusal> {
    let same = same_storage(node, roots);
    let above = made_of(&same, roots);
    let all: Vec<&DeviceNode> = same.iter().chain(&above).collect();
    not_mounted(&all, roots, mounts)?;
    not_swap(path, &same, &all, roots)?;
    match above.first() {
        Some(holder) => Err(Refusal::Held {
            path: path.to_owned(),
            holder: holder.role(),
            undo: how_to_undo(holder),
        }),
        None => Ok(()),
    }
}

/// Returns the kernel name of the first of these nodes that is among `ours`.
fn first_of(nodes: &[DeviceNode], ours: &[&DeviceNode]) -> Option<String> {
    let is_ours = |node: &&DeviceNode| ours.iter().any(|own| own.number == node.number);
    nodes.iter().find(is_ours).map(|node| node.kname.clone())
}

/// Checks that none of these devices is mounted, in this or another mount namespace.
fn not_mounted(ours: &[&DeviceNode], roots: &Roots, mounts: &[Mount]) -> Result<(), Refusal> {
    let used = |mount: &Mount| first_of(&chain::nodes_of_mount(mount, roots, mounts), ours);
    for mount in mounts {
        if let Some(what) = used(mount) {
            let at = mount.mount_point.clone();
            return Err(Refusal::Mounted { what, at });
        }
    }
    for Elsewhere { mount, process } in mounts::mounts_elsewhere(roots, mounts) {
        if let Some(what) = used(&mount) {
            let at = mount.mount_point;
            return Err(Refusal::MountedElsewhere { what, at, process });
        }
    }
    Ok(())
}

/// Checks that no swap is on these devices, nor in a file behind one of the same storage.
fn not_swap(
    path: &Path,
    same: &[DeviceNode],
    ours: &[&DeviceNode],
    roots: &Roots,
) -> Result<(), Refusal> {
    let swaps = mounts::swaps(roots);
    let extents = same.iter().filter_map(|node| node.file_extent(roots));
    let files: Vec<FileId> = extents.map(|extent| extent.file).collect();
    let is_behind = |swap: &&PathBuf| FileId::of(swap).is_some_and(|swap| files.contains(&swap));
    if let Some(file) = swaps.iter().find(is_behind) {
        return Err(Refusal::SwapFile {
            path: path.to_owned(),
            file: file.clone(),
        });
    }
    let node = |swap: &PathBuf| DeviceNode::by_path(&chain::in_dev(swap, roots), roots);
    let nodes: Vec<DeviceNode> = swaps.iter().filter_map(node).collect();
    match first_of(&nodes, ours) {
        Some(what) => Err(Refusal::Swap { what }),
        None => Ok(()),
    }
}

fn how_to_undo(holder: &DeviceNode) -> String {
    let name = &holder.kname;
    if holder.backing_file().is_some() {
        return format!("losetup -d /dev/{name}");
    }
    let attribute = |path: &str| roots::text(&holder.folder.join(path)).unwrap_or_default();
    let (mapping, uuid) = (attribute("dm/name"), attribute("dm/uuid"));
    match uuid.split('-').next().unwrap_or_default() {
        "CRYPT" => format!("cryptsetup close {mapping}"),
        "LVM" => format!("lvchange -an /dev/mapper/{mapping}"),
        _ if !mapping.is_empty() => format!("dmsetup remove {mapping}"),
        _ if holder.folder.join("md").is_dir() => format!("mdadm --stop /dev/{name}"),
        _ => format!("stop what uses /dev/{name}"),
    }
}
