//! Checks kernel tables for users of a device.

use super::refusal::Refusal;
use super::storage::{self, Backing, Stacks, StorageRange};
use crate::chain::{self, DeviceNode, FileId, Loops};
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
        None => not_shared_with_the_system(path, node, &system, roots),
    }
}

/// Checks that no device of the running system has bytes of this device under another name.
fn not_shared_with_the_system(
    path: &Path,
    node: &DeviceNode,
    system: &[DeviceNode],
    roots: &Roots,
) -> Result<(), Refusal> {
    let stacks = Stacks::read(roots);
    let own = stacks.ranges(node, true);
    let shared = system
        .iter()
        .find(|node| storage::share(&own, &stacks.ranges(node, true)));
    match shared {
        Some(shared) => {
            let (role, path) = (shared.role(), path.to_owned());
            let system = format!("{role}, which shares storage with {}", path.display());
            Err(Refusal::SystemDisk { path, system })
        }
        None => Ok(()),
    }
}

/// Checks that no loop device over the file is in use.
pub(super) fn file_not_in_use(path: &Path, roots: &Roots, mounts: &[Mount]) -> Result<(), Refusal> {
    let Some(file) = FileId::of(path) else {
        return Ok(());
    };
    let (stacks, own) = (Stacks::read(roots), [StorageRange::of_file(file)]);
    not_used(path, &own, &stacks.sharing(&own), &stacks, mounts)
}

/// Checks that neither the device nor another device that shares its storage is in use.
pub(super) fn not_in_use(
    path: &Path,
    node: &DeviceNode,
    roots: &Roots,
    mounts: &[Mount],
) -> Result<(), Refusal> {
    let stacks = Stacks::read(roots);
    let own = stacks.ranges(node, true);
    let mut sharing = stacks.sharing(&own);
    sharing.push(node.clone());
    not_used(path, &own, &sharing, &stacks, mounts)
}

fn not_used(
    path: &Path,
    own: &[StorageRange],
    sharing: &[DeviceNode],
    stacks: &Stacks<'_>,
    mounts: &[Mount],
) -> Result<(), Refusal> {
    not_mounted(sharing, stacks.roots(), mounts)?;
    not_swap(path, own, sharing, stacks.roots())?;
    let is_below = |node: &DeviceNode| {
        let backing = Backing::Device(node.number);
        own.iter()
            .any(|storage_range| storage_range.backing == backing)
    };
    let mut above = sharing.iter().filter(|node| !is_below(node));
    match above.find(|node| stacks.uses_devices(node)) {
        Some(holder) => Err(Refusal::Held {
            path: path.to_owned(),
            holder: holder.role(),
            undo: how_to_undo(holder),
        }),
        None => Ok(()),
    }
}

/// Returns the kernel name of the first of these nodes that is among `ours`.
fn first_of(nodes: &[DeviceNode], ours: &[DeviceNode]) -> Option<String> {
    let is_ours = |node: &&DeviceNode| ours.iter().any(|own| own.number == node.number);
    nodes.iter().find(is_ours).map(|node| node.kname.clone())
}

/// Checks that none of these devices is mounted, in this or another mount namespace.
fn not_mounted(ours: &[DeviceNode], roots: &Roots, mounts: &[Mount]) -> Result<(), Refusal> {
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

/// Checks that no swap is on these devices, nor in a file behind the device.
fn not_swap(
    path: &Path,
    own: &[StorageRange],
    ours: &[DeviceNode],
    roots: &Roots,
) -> Result<(), Refusal> {
    let swaps = mounts::swaps(roots);
    let is_behind = |swap: &&PathBuf| {
        let backing = FileId::of(swap).map(Backing::File);
        own.iter()
            .any(|storage_range| Some(&storage_range.backing) == backing.as_ref())
    };
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
