//! Stacks of block devices: partitions on disks, mappings and RAIDs on their members, loop devices on files.
//!
//! The disk itself is described in `disk`.

use crate::mounts::{self, Mount};
use crate::roots::{self, DevNum, Roots};
use hakaru_model::facts::{ChainLink, LinkRole};
use hakaru_model::units::Bytes;
use hakaru_sys::block::LoopBacking;
use std::path::{Path, PathBuf};

/// Maximum depth of a device stack; a forged sysfs could otherwise cause an endless loop.
const DEEPEST: usize = 64;

/// A block device in sysfs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct DeviceNode {
    /// Kernel name, such as `mmcblk0p2`.
    pub(crate) kname: String,
    /// The device number.
    pub(crate) number: DevNum,
    /// Its sysfs directory, links resolved.
    pub(crate) folder: PathBuf,
}

impl DeviceNode {
    fn at(folder: PathBuf) -> Option<DeviceNode> {
        let number = DevNum::parse(&roots::text(&folder.join("dev"))?)?;
        // sysfs writes the slash in names such as `cciss/c0d0` as an exclamation mark.
        let kname = folder.file_name()?.to_str()?.replace('!', "/");
        Some(DeviceNode {
            kname,
            number,
            folder,
        })
    }

    /// Looks up a device by number.
    pub(crate) fn by_number(number: DevNum, roots: &Roots) -> Option<DeviceNode> {
        DeviceNode::at(roots.sysfs_of(number)?)
    }

    /// Looks up a device by kernel name.
    pub(crate) fn by_name(kname: &str, roots: &Roots) -> Option<DeviceNode> {
        DeviceNode::at(roots.sysfs_by_name(kname)?)
    }

    /// Looks up a device by its node or a link to it.
    pub(crate) fn by_path(path: &Path, roots: &Roots) -> Option<DeviceNode> {
        DeviceNode::by_number(roots.device_number(path)?, roots)
    }

    /// Returns the partition number, if it is a partition.
    pub(crate) fn partition(&self) -> Option<u32> {
        roots::number(&self.folder.join("partition"))
    }

    /// Returns the disk of a partition; otherwise the device itself.
    pub(crate) fn disk(&self) -> DeviceNode {
        let parent = self
            .partition()
            .and_then(|_| DeviceNode::at(self.folder.parent()?.to_owned()));
        parent.unwrap_or_else(|| self.clone())
    }

    /// Returns its partitions, sorted by number.
    pub(crate) fn partitions(&self) -> Vec<DeviceNode> {
        let below = roots::names(&self.folder)
            .into_iter()
            .filter_map(|name| DeviceNode::at(self.folder.join(name)));
        let mut found: Vec<_> = below
            .filter_map(|node| Some((node.partition()?, node)))
            .collect();
        found.sort_by_key(|(number, _)| *number);
        found.into_iter().map(|(_, node)| node).collect()
    }

    /// Returns the members of a mapping or RAID.
    pub(crate) fn slaves(&self) -> Vec<DeviceNode> {
        self.linked("slaves")
    }

    /// Returns the mappings and RAIDs that use it.
    pub(crate) fn holders(&self) -> Vec<DeviceNode> {
        self.linked("holders")
    }

    fn linked(&self, name: &str) -> Vec<DeviceNode> {
        let folder = self.folder.join(name);
        let targets = roots::names(&folder)
            .into_iter()
            .filter_map(|name| folder.join(name).canonicalize().ok());
        targets.filter_map(DeviceNode::at).collect()
    }

    /// Returns the backing file or device of a loop device.
    pub(crate) fn backing_file(&self) -> Option<PathBuf> {
        let text = roots::text(&self.folder.join("loop/backing_file"))?;
        Some(PathBuf::from(
            text.strip_suffix(" (deleted)").unwrap_or(&text),
        ))
    }

    /// Returns a sysfs attribute that counts 512-byte sectors, regardless of the logical block size, in bytes.
    fn sectors(&self, name: &str) -> u64 {
        roots::number::<u64>(&self.folder.join(name))
            .unwrap_or(0)
            .saturating_mul(512)
    }

    /// Size of the device.
    pub(crate) fn size(&self) -> Bytes {
        Bytes(self.sectors("size"))
    }

    /// Where a partition starts on its disk, in bytes.
    pub(crate) fn start(&self) -> u64 {
        self.sectors("start")
    }

    /// Returns the file range behind a loop device or a partition of one; `None` for other devices
    /// and for loop devices over devices.
    pub(crate) fn file_extent(&self, roots: &Roots) -> Option<FileExtent> {
        let disk = self.disk();
        let path = disk.backing_file()?;
        let (file, offset) = match disk.loop_backing(roots) {
            Some(backing) if backing.raw_device != 0 => return None,
            Some(backing) => (
                FileId::Number {
                    device: backing.device,
                    inode: backing.inode,
                },
                backing.offset,
            ),
            None => (
                FileId::of(&path).unwrap_or(FileId::Path(path)),
                roots::number(&disk.folder.join("loop/offset")).unwrap_or(0),
            ),
        };
        let within = self.partition().map_or(0, |_| self.start());
        let start = offset.saturating_add(within);
        Some(FileExtent {
            file,
            range: start..start.saturating_add(self.size().0),
        })
    }

    /// Asks the kernel what is behind a loop device: it knows the file even if its path was removed or names another
    /// file in this mount namespace.
    fn loop_backing(&self, roots: &Roots) -> Option<LoopBacking> {
        if !roots.is_live() {
            return None;
        }
        let flags = rustix::fs::OFlags::RDONLY | rustix::fs::OFlags::CLOEXEC;
        let node = roots.dev.join(&self.kname);
        let device = rustix::fs::open(node, flags, rustix::fs::Mode::empty()).ok()?;
        hakaru_sys::block::loop_backing(&device).ok()
    }

    /// Whether the device is virtual, without hardware of its own.
    pub(crate) fn is_virtual(&self) -> bool {
        self.folder
            .components()
            .any(|part| part.as_os_str() == "virtual")
            && !self.kname.starts_with("nvme")
    }

    /// Describes the device as one link of the chain from the named node down to the disk.
    pub(crate) fn link(&self) -> ChainLink {
        let attribute =
            |path: &str| roots::text(&self.folder.join(path)).filter(|text| !text.is_empty());
        let role = if let Some(number) = self.partition() {
            LinkRole::Partition {
                number,
                of: self.disk().kname,
            }
        } else if let Some(file) = self.backing_file() {
            let file = file.display().to_string();
            LinkRole::Loop { file }
        } else if let Some(label) = attribute("dm/name") {
            let uuid = attribute("dm/uuid").unwrap_or_default();
            let kind = uuid.split_once('-').map(|(kind, _)| kind.to_lowercase());
            LinkRole::Mapping {
                kind: kind.unwrap_or_default(),
                label,
            }
        } else {
            match attribute("md/level") {
                Some(level) => LinkRole::Array { level },
                None => LinkRole::Disk,
            }
        };
        ChainLink {
            name: self.kname.clone(),
            role,
            beside: false,
        }
    }

    /// Describes the device in a few words, for messages.
    pub(crate) fn role(&self) -> String {
        let ChainLink { name, role, .. } = self.link();
        match role {
            LinkRole::Partition { number, of } => format!("{name} (partition {number} of {of})"),
            LinkRole::Loop { file } => format!("{name} (loop over {file})"),
            LinkRole::Mapping { kind, label } if kind.is_empty() => {
                format!("{name} (mapping {label})")
            }
            LinkRole::Mapping { kind, label } => format!("{name} ({kind} {label})"),
            LinkRole::Array { level } => format!("{name} ({level})"),
            LinkRole::Disk | LinkRole::Unknown => format!("{name} (disk)"),
        }
    }
}

/// Identity of a file, independent of its path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum FileId {
    Number {
        device: u64,
        inode: u64,
    },
    /// The path, if neither the kernel nor the file gives an identity.
    Path(PathBuf),
}

impl FileId {
    /// Returns the identity of a regular file.
    pub(crate) fn of(path: &Path) -> Option<FileId> {
        use std::os::unix::fs::MetadataExt;
        let metadata = path.metadata().ok().filter(std::fs::Metadata::is_file)?;
        Some(FileId::Number {
            device: metadata.dev(),
            inode: metadata.ino(),
        })
    }
}

/// A range of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct FileExtent {
    pub(crate) file: FileId,
    pub(crate) range: std::ops::Range<u64>,
}

/// How to handle loop devices when following a chain.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Loops {
    /// Stop at loop devices.
    Stop,
    /// Follow loop devices over block devices; stop at those over files.
    Devices,
    /// Follow loop devices to the device of their file.
    Follow,
}

/// Returns a device and everything below it, from top to bottom, without duplicates.
pub(crate) fn down_from(
    node: &DeviceNode,
    loops: Loops,
    roots: &Roots,
    mounts: &[Mount],
) -> Vec<DeviceNode> {
    let mut found = Vec::new();
    descend(node, loops, roots, mounts, &mut found);
    found
}

fn descend(
    node: &DeviceNode,
    loops: Loops,
    roots: &Roots,
    mounts: &[Mount],
    found: &mut Vec<DeviceNode>,
) {
    if found.contains(node) || found.len() >= DEEPEST {
        return;
    }
    found.push(node.clone());
    let mut below = node.slaves();
    if node.partition().is_some() {
        below.push(node.disk());
    }
    match (loops, node.backing_file()) {
        (Loops::Follow, Some(file)) => below.extend(nodes_of_path(&file, roots, mounts)),
        (Loops::Devices, Some(file)) => {
            below.extend(DeviceNode::by_path(&in_dev(&file, roots), roots))
        }
        _ => {}
    }
    for next in &below {
        descend(next, loops, roots, mounts, found);
    }
}

/// Returns the devices of a file, or the device itself.
fn nodes_of_path(path: &Path, roots: &Roots, mounts: &[Mount]) -> Vec<DeviceNode> {
    if let Some(node) = DeviceNode::by_path(&in_dev(path, roots), roots) {
        return vec![node];
    }
    mounts::mount_at(path, roots, mounts)
        .map(|mount| nodes_of_mount(&mount, roots, mounts))
        .unwrap_or_default()
}

/// Returns the devices of a mounted file system; none for memory and network file systems.
pub(crate) fn nodes_of_mount(mount: &Mount, roots: &Roots, mounts: &[Mount]) -> Vec<DeviceNode> {
    nodes_of_mount_within(mount, roots, mounts, 8)
}

fn nodes_of_mount_within(
    mount: &Mount,
    roots: &Roots,
    mounts: &[Mount],
    depth: u32,
) -> Vec<DeviceNode> {
    if mount.number.major != 0 {
        let node = DeviceNode::by_number(mount.number, roots);
        return node.into_iter().collect();
    }
    if let Some(node) = DeviceNode::by_path(&in_dev(Path::new(&mount.source), roots), roots) {
        return with_btrfs_siblings(node, roots);
    }
    if mount.fs_type != "overlay" || depth == 0 {
        return Vec::new();
    }
    // An overlay uses the devices of its directories, if they are visible.
    let layers = ["upperdir", "lowerdir"]
        .iter()
        .filter_map(|name| mount.option(name))
        .flat_map(|list| list.split(':'));
    let mut found: Vec<DeviceNode> = Vec::new();
    for layer in layers.filter(|layer| layer.starts_with('/')) {
        let below = mounts::mount_of(Path::new(layer), mounts).filter(|below| *below != mount);
        let nodes = below
            .map(|below| nodes_of_mount_within(below, roots, mounts, depth - 1))
            .unwrap_or_default();
        let new = nodes.into_iter().filter(|node| !found.contains(node));
        let new: Vec<_> = new.collect();
        found.extend(new);
    }
    found
}

/// Adds the other devices of a multi-device btrfs: its mount names only one.
fn with_btrfs_siblings(node: DeviceNode, roots: &Roots) -> Vec<DeviceNode> {
    let folder = roots.sys.join("fs/btrfs");
    for filesystem in roots::names(&folder) {
        let devices = folder.join(filesystem).join("devices");
        let links = roots::names(&devices)
            .into_iter()
            .filter_map(|name| devices.join(name).canonicalize().ok());
        let nodes: Vec<_> = links.filter_map(DeviceNode::at).collect();
        if nodes.contains(&node) {
            return nodes;
        }
    }
    vec![node]
}

/// Returns all disks with a medium, sorted by name: no partitions, no unused loop devices or empty
/// slots.
pub(crate) fn disks(roots: &Roots) -> Vec<DeviceNode> {
    let names = roots::names(&roots.sys.join("class/block")).into_iter();
    let nodes = names.filter_map(|name| DeviceNode::at(roots.sysfs_by_name(&name)?));
    let holds = |node: &DeviceNode| {
        roots::number::<u64>(&node.folder.join("size")).is_some_and(|sectors| sectors > 0)
    };
    nodes
        .filter(|node| node.partition().is_none() && holds(node))
        .collect()
}

/// Maps a path such as `/dev/sda1` from kernel tables to the roots in use.
pub(crate) fn in_dev(path: &Path, roots: &Roots) -> PathBuf {
    path.strip_prefix("/dev")
        .map_or_else(|_| path.to_owned(), |name| roots.dev.join(name))
}

/// Mount points of the running system, except `/boot` and the directories below it.
const SYSTEM: [&str; 3] = ["/", "/usr", "/efi"];

fn is_system(mount_point: &Path) -> bool {
    let whole = SYSTEM.iter().any(|system| mount_point == Path::new(system));
    whole || mount_point.starts_with("/boot")
}

/// Returns all devices of the running system: root, /usr and /boot, and everything below them.
pub(crate) fn system_nodes(roots: &Roots, mounts: &[Mount]) -> Vec<DeviceNode> {
    let mut found: Vec<DeviceNode> = Vec::new();
    let shown = mounts.iter().filter(|mount| is_system(&mount.mount_point));
    let tops = shown.flat_map(|mount| nodes_of_mount(mount, roots, mounts));
    for top in tops.chain(hidden_system_nodes(roots, mounts)) {
        for node in down_from(&top, Loops::Follow, roots, mounts) {
            if !found.contains(&node) {
                found.push(node);
            }
        }
    }
    found
}

/// Returns the devices of the system directories by querying the file systems: after chroot(2) no mount table lists
/// them.
fn hidden_system_nodes(roots: &Roots, mounts: &[Mount]) -> Vec<DeviceNode> {
    if !roots.is_live() {
        return Vec::new();
    }
    let places = SYSTEM
        .into_iter()
        .chain(["/boot", "/boot/efi"])
        .map(Path::new)
        .filter(|place| place.is_dir());
    let mounted =
        places.filter_map(|place| mounts::mount_at(&place.canonicalize().ok()?, roots, mounts));
    mounted
        .flat_map(|mount| nodes_of_mount(&mount, roots, mounts))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testtree::{SysfsTree, tree};

    fn roles(tree: &SysfsTree, name: &str, loops: Loops) -> Vec<String> {
        let mounts = mounts::mounts(&tree.roots);
        let node = DeviceNode::by_path(&tree.path("/dev").join(name), &tree.roots).unwrap();
        down_from(&node, loops, &tree.roots, &mounts)
            .iter()
            .map(DeviceNode::role)
            .collect()
    }

    fn system(tree: &SysfsTree) -> Vec<String> {
        system_nodes(&tree.roots, &mounts::mounts(&tree.roots))
            .into_iter()
            .map(|node| node.kname)
            .collect()
    }

    #[test]
    fn an_encrypted_volume_stands_on_its_partition_and_disk() {
        insta::assert_snapshot!(roles(&tree("nvme-luks"), "mapper/vg-root", Loops::Stop).join("\n"), @r"
        dm-1 (lvm vg-root)
        dm-0 (crypt nvme0n1p3_crypt)
        nvme0n1p3 (partition 3 of nvme0n1)
        nvme0n1 (disk)
        ");
    }

    #[test]
    fn a_loop_is_followed_to_all_members_of_the_mirror_below() {
        let server = tree("server");
        assert_eq!(
            roles(&server, "loop0", Loops::Stop),
            ["loop0 (loop over /srv/disk.img)"]
        );
        insta::assert_snapshot!(roles(&server, "loop0", Loops::Follow).join("\n"), @r"
        loop0 (loop over /srv/disk.img)
        md0 (raid1)
        sda1 (partition 1 of sda)
        sda (disk)
        sdb1 (partition 1 of sdb)
        sdb (disk)
        ");
        assert_eq!(
            roles(&server, "loop1", Loops::Follow).last().unwrap(),
            "sdc (disk)"
        );
    }

    #[test]
    fn the_system_stands_on_every_device_of_its_root() {
        assert_eq!(
            system(&tree("pi4-sd")),
            ["mmcblk0p2", "mmcblk0", "mmcblk0p1"]
        );
        assert_eq!(system(&tree("server")), ["vda1", "vda", "vdc"]);
        assert_eq!(
            system(&tree("nvme-luks")),
            [
                "dm-1",
                "dm-0",
                "nvme0n1p3",
                "nvme0n1",
                "nvme0n1p2",
                "nvme0n1p1"
            ]
        );
        assert_eq!(system(&tree("empty")), [""; 0]);
    }

    #[test]
    fn disks_are_listed_without_their_partitions() {
        let names: Vec<_> = disks(&tree("server").roots)
            .into_iter()
            .map(|node| node.kname)
            .collect();
        assert_eq!(
            names,
            [
                "loop0", "loop1", "md0", "mmcblk0", "sda", "sdb", "sdc", "vda", "vdb", "vdc"
            ]
        );
    }

    #[test]
    fn an_overlay_stands_on_its_layers() {
        let live = tree("usb-reader");
        live.write("/proc/self/mountinfo", "20 1 0:20 / / rw - overlay overlay rw,lowerdir=/run/live/a:/run/live/b,upperdir=/cow/up\n21 20 8:17 / /run/live rw - exfat /dev/sdb1 rw\n22 20 0:30 / /cow rw - tmpfs tmpfs rw\n");
        assert_eq!(system(&live), ["sdb1", "sdb"]);
    }
}
