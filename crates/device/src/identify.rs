//! Identifies the disk and file system of a path.

use crate::chain::{self, DeviceNode, Loops};
use crate::disk;
use crate::health;
use crate::inspect;
use crate::mounts::{self, Mount};
use crate::roots::{self, Roots};
use hakaru_model::facts::{
    ChainLink, DeviceIdentity, Fact, Filesystem, Identity, TargetKind, UnknownReason,
};
use hakaru_model::units::Bytes;
use std::path::{Path, PathBuf};

/// Returns the file system of a path, the chain of devices below it, and the identity of the disk.
///
/// Opens only pseudo files and, for SMART data, the disk. Needs no privileges: inaccessible facts are "unknown (…)".
pub fn identify(path: &Path, roots: &Roots) -> Identity {
    let mut identity = recognise(path, roots);
    if let Fact::Known(device) = &mut identity.device
        && let Some(disk) = DeviceNode::by_name(&device.kname, roots)
    {
        device.health = health::of(&disk, &device.bus, roots);
    }
    identity
}

/// Like [`identify`] without SMART data, so that no disk is opened: for repeated checks.
pub fn recognise(path: &Path, roots: &Roots) -> Identity {
    let mounts = mounts::mounts(roots);
    let kind = kind_of(path, roots);
    let on_mount = || mounts::mount_at(&real_path(path, roots), roots, &mounts);
    let mount = (kind != TargetKind::BlockDevice).then(on_mount).flatten();
    let mount = mount.as_ref();
    let tops = match mount {
        Some(mount) => chain::nodes_of_mount(mount, roots, &mounts),
        None => DeviceNode::by_path(path, roots).into_iter().collect(),
    };
    Identity {
        path: path.to_owned(),
        kind,
        filesystem: mount.map(|mount| filesystem(path, mount, roots)),
        device: device(path, &tops, mount, roots, &mounts),
        system_disk: shares_system_disk(&tops, roots, &mounts),
        label: None,
    }
}

/// The minimum that distinguishes a disk from another disk in the same slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Presence {
    /// Its size in bytes, greater than 0.
    pub size: Bytes,
    /// Disk sequence number of the kernel, which changes each time a medium appears (Linux 5.15 and later).
    pub sequence: Option<u64>,
}

/// Checks for a disk with a medium at a node by reading two small sysfs files: suitable for
/// polling.
pub fn presence(node: &Path, roots: &Roots) -> Option<Presence> {
    let disk = DeviceNode::by_path(node, roots)?;
    let size = Bytes(roots::number::<u64>(&disk.folder.join("size"))?.saturating_mul(512));
    let sequence = disk::sequence(&disk.disk()).known().copied();
    (size.0 > 0).then_some(Presence { size, sequence })
}

/// Whether two paths lead to the same existing block device.
pub fn is_same_device(one: &Path, other: &Path, roots: &Roots) -> bool {
    roots
        .device_number(one)
        .is_some_and(|number| roots.device_number(other) == Some(number))
}

/// Returns the nodes of all disks with a medium, such as `/dev/mmcblk0`: no partitions, no empty
/// slots.
pub fn disks(roots: &Roots) -> Vec<PathBuf> {
    chain::disks(roots)
        .iter()
        .map(|node| roots.dev.join(&node.kname))
        .collect()
}

fn kind_of(path: &Path, roots: &Roots) -> TargetKind {
    if roots.device_number(path).is_some() {
        return TargetKind::BlockDevice;
    }
    path.metadata()
        .map_or(TargetKind::Absent, |metadata| inspect::kind_of(&metadata))
}

/// Resolves links as far as the path exists: a missing file belongs to its nearest existing
/// directory.
fn real_path(path: &Path, roots: &Roots) -> PathBuf {
    if !roots.is_live() {
        return path.to_owned();
    }
    let absolute = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let real = absolute.ancestors().find_map(|part| {
        let rest = absolute.strip_prefix(part).ok()?;
        Some(part.canonicalize().ok()?.join(rest))
    });
    real.unwrap_or(absolute)
}

fn filesystem(path: &Path, mount: &Mount, roots: &Roots) -> Filesystem {
    let place = if path.exists() {
        path
    } else {
        inspect::directory_of(path)
    };
    let stat = roots
        .is_live()
        .then(|| rustix::fs::statvfs(place).ok())
        .flatten();
    let bytes = |blocks: u64, of: u64| Bytes(blocks.saturating_mul(of));
    Filesystem {
        fs_type: mount.fs_type.clone(),
        mount_point: mount.mount_point.clone(),
        source: mount.source.clone(),
        options: mount.options.clone(),
        size: stat
            .as_ref()
            .map_or(Bytes(0), |stat| bytes(stat.f_blocks, stat.f_frsize)),
        free: stat
            .as_ref()
            .map_or(Bytes(0), |stat| bytes(stat.f_bavail, stat.f_frsize)),
    }
}

/// Returns the device at the bottom of the stack. If there are several, as in a mirror, returns the device that joins
/// them.
fn device(
    path: &Path,
    tops: &[DeviceNode],
    mount: Option<&Mount>,
    roots: &Roots,
    mounts: &[Mount],
) -> Fact<DeviceIdentity> {
    let Some(top) = tops.first() else {
        return Fact::Unknown(why_no_device(path, mount));
    };
    let below = chain::down_from(top, Loops::Stop, roots, mounts);
    let is_bottom = |node: &&DeviceNode| node.slaves().is_empty() && node.partition().is_none();
    let bottoms: Vec<&DeviceNode> = below.iter().filter(is_bottom).collect();
    let joins = |node: &&DeviceNode| node.slaves().len() > 1;
    let disk = match bottoms[..] {
        [bottom] => bottom,
        _ => below.iter().rev().find(joins).unwrap_or(top),
    };
    let all = chain::down_from(top, Loops::Follow, roots, mounts);
    let mut links: Vec<ChainLink> = all.iter().map(DeviceNode::link).collect();
    links.extend(tops.iter().skip(1).map(|other| ChainLink {
        beside: true,
        ..other.link()
    }));
    Fact::Known(disk::describe(disk, links, roots))
}

fn why_no_device(path: &Path, mount: Option<&Mount>) -> UnknownReason {
    match mount {
        Some(mount) if mount.number.major == 0 && !mount.source.starts_with("/dev") => {
            UnknownReason::NoVisibleDevice(mount.fs_type.clone())
        }
        Some(mount) => UnknownReason::Text(format!(
            "sysfs does not list the device of {} ({})",
            mount.source, mount.number
        )),
        None => UnknownReason::NotInSysfs(path.display().to_string()),
    }
}

/// Whether these nodes share a disk with the running system, also through loop devices.
fn shares_system_disk(tops: &[DeviceNode], roots: &Roots, mounts: &[Mount]) -> bool {
    let system = chain::system_nodes(roots, mounts);
    let below = tops
        .iter()
        .flat_map(|top| chain::down_from(top, Loops::Follow, roots, mounts));
    below
        .into_iter()
        .any(|node| system.contains(&node) || system.contains(&node.disk()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testtree::{SysfsTree, tree};

    fn identity(tree: &SysfsTree, path: &str) -> Identity {
        let path = if path.starts_with("/dev") {
            tree.path(path)
        } else {
            PathBuf::from(path)
        };
        identify(&path, &tree.roots)
    }

    #[track_caller]
    fn check(name: &str, machine: &str, path: &str) {
        let tree = tree(machine);
        insta::with_settings!({ snapshot_suffix => name, prepend_module_to_snapshot => false }, {
            insta::assert_snapshot!("identity", tree.masked(&identity(&tree, path)));
        });
    }

    #[test]
    fn a_file_on_the_card_of_a_pi() {
        check("pi4-file", "pi4-sd", "/home/pi/data");
    }

    #[test]
    fn a_worn_emmc_whose_bus_is_hidden() {
        check("emmc", "emmc-tv-box", "/dev/mmcblk1");
    }

    #[test]
    fn the_card_that_qemu_emulates() {
        check("qemu-partition", "qemu-sd", "/dev/mmcblk0p1");
    }

    #[test]
    fn a_card_in_a_usb_reader() {
        check("usb-reader", "usb-reader", "/media/me/my card/photos");
    }

    #[test]
    fn a_sata_disk() {
        check("sata", "usb-reader", "/dev/sda");
    }

    #[test]
    fn an_encrypted_root_on_nvme() {
        check("nvme-root", "nvme-luks", "/");
    }

    #[test]
    fn a_loop_over_a_file_on_a_mirror() {
        check("loop", "server", "/mnt/image/x");
    }

    #[test]
    fn a_virtual_disk() {
        check("virtio", "server", "/dev/vdb");
    }

    #[test]
    fn the_system_disk_is_known_as_such() {
        let pi = tree("pi4-sd");
        assert!(identity(&pi, "/home/pi/data").system_disk);
        let server = tree("server");
        assert!(identity(&server, "/tmp").system_disk);
        assert!(!identity(&server, "/dev/vdb").system_disk);
        assert!(!identity(&server, "/dev/loop0").system_disk);
        // A partition on the system disk shares its throughput.
        assert!(identity(&tree("nvme-luks"), "/dev/nvme0n1p4").system_disk);
        assert!(!identity(&tree("usb-reader"), "/dev/sdb1").system_disk);
    }

    #[test]
    fn file_systems_on_arrays_and_pools_are_layers() {
        let server = tree("server");
        let on_array = identity(&server, "/srv/x");
        assert_eq!(on_array.layer(), Some("ext4"));
        let device = on_array.device.known().unwrap();
        assert_eq!(device.kname, "md0");
        let in_pool = identity(&server, "/tank/photos/x");
        assert_eq!(in_pool.layer(), Some("zfs"));
        let because = UnknownReason::NoVisibleDevice("zfs".to_owned());
        assert_eq!(in_pool.device, Fact::Unknown(because));
    }

    #[test]
    fn what_has_no_device_says_why() {
        let pi = tree("pi4-sd");
        let said = identity(&pi, "/run/user/1000").device.known().is_none();
        assert!(said);
        insta::assert_snapshot!(identity(&tree("emmc-tv-box"), "/tmp").device.known().is_none(), @"true");
        let Fact::Unknown(because) = identity(&pi, "/run/x").device else {
            panic!("a tmpfs has no device")
        };
        insta::assert_snapshot!(because, @"a tmpfs file system has no block device that is visible here");
    }

    #[test]
    fn a_presence_distinguishes_a_disk_from_an_empty_slot() {
        let server = tree("server");
        let look = || presence(&server.path("/dev/vdb"), &server.roots);
        let before = look().unwrap();
        server.write("/sys/block/vdb/diskseq", "77\n");
        assert_eq!(
            look(),
            Some(Presence {
                sequence: Some(77),
                ..before
            })
        );
        server.write("/sys/block/vdb/size", "0\n");
        assert_eq!(
            (look(), presence(&server.path("/dev/sdz"), &server.roots)),
            (None, None)
        );
    }

    #[test]
    fn this_very_place_is_identified() {
        let folder = tempfile::tempdir().unwrap();
        let here = identify(&folder.path().join("absent"), &Roots::live());
        assert_eq!(here.kind, TargetKind::Absent);
        let filesystem = here.filesystem.unwrap();
        let real = folder.path().canonicalize().unwrap();
        assert!(
            filesystem.size.0 > 0 && real.starts_with(&filesystem.mount_point),
            "{filesystem:?}"
        );
    }

    /// As after chroot(2), where no table lists the root mount.
    #[test]
    fn size_and_device_are_known_without_a_mount_table() {
        let folder = tempfile::tempdir().unwrap();
        let mut roots = Roots::live();
        let with_table = identify(folder.path(), &roots);
        roots.proc = folder.path().join("no-proc");
        let without = identify(folder.path(), &roots);
        let filesystem = without.filesystem.unwrap();
        assert!(filesystem.size.0 > 0, "{filesystem:?}");
        let kname =
            |device: Fact<DeviceIdentity>| device.known().map(|device| device.kname.clone());
        use std::os::unix::fs::MetadataExt;
        let number = crate::roots::DevNum::from_raw(folder.path().metadata().unwrap().dev());
        if number.major != 0 {
            assert_eq!(kname(without.device), kname(with_table.device));
        }
    }
}
