//! Devices that share storage under several names, on simulated hosts and on loop devices.

use super::*;

const ROOT: &str = "20 1 0:25 / / rw - btrfs /dev/vda1 rw\n";
const VIRTUAL: &str = "/sys/devices/virtual/block";

/// A server without other mounts than its root, with a disk `sdc` and `loop1` over it.
fn server() -> SysfsTree {
    let server = tree("server");
    server.write("/proc/self/mountinfo", ROOT);
    server
}

/// Mounts the device of this number instead of others.
fn mount_only(tree: &SysfsTree, number: &str) {
    let line = format!("21 20 {number} / /data rw - ext4 /dev/x rw\n");
    tree.write("/proc/self/mountinfo", &format!("{ROOT}{line}"));
}

fn add_loop(tree: &SysfsTree, index: u32, file: &str, offset: u64) {
    let files = [
        ("size", "2048"),
        ("loop/backing_file", file),
        ("loop/offset", &offset.to_string()),
    ];
    let folder = format!("{VIRTUAL}/loop{index}");
    add(tree, &folder, &format!("7:{index}"), &files);
}

/// Adds a partition, with first sector and number of sectors.
fn add_part(tree: &SysfsTree, disk: &str, index: u32, number: &str, sectors: [u32; 2]) {
    let disk = tree.path(disk).canonicalize().unwrap();
    let disk = disk.strip_prefix(tree.path("/")).unwrap();
    let name = disk.file_name().unwrap().to_str().unwrap();
    let part = if name.ends_with(char::is_numeric) {
        "p"
    } else {
        ""
    };
    let files = [
        ("partition", index.to_string()),
        ("start", sectors[0].to_string()),
        ("size", sectors[1].to_string()),
    ];
    let files = files.each_ref().map(|(file, text)| (*file, text.as_str()));
    let folder = format!("/{}/{name}{part}{index}", disk.display());
    add(tree, &folder, number, &files);
}

fn add_mapping(tree: &SysfsTree, index: u32, members: &[&str]) {
    let folder = format!("{VIRTUAL}/dm-{index}");
    let name = format!("map-{index}");
    let files = [("size", "1024"), ("dm/name", name.as_str())];
    add(tree, &folder, &format!("252:{index}"), &files);
    for member in members {
        let of_member = format!("/sys/class/block/{member}");
        link(tree, &format!("{folder}/slaves/{member}"), &of_member);
    }
}

#[track_caller]
fn assert_free(tree: &SysfsTree, names: &[&str]) {
    for name in names {
        let shown = refused(tree, &format!("/dev/{name}"));
        assert!(shown.starts_with("free:"), "{name}: {shown}");
    }
}

#[track_caller]
fn assert_mounted(tree: &SysfsTree, what: &str, names: &[&str]) {
    for name in names {
        let shown = refused(tree, &format!("/dev/{name}"));
        let expected = format!("{what} is mounted at /data:");
        assert!(shown.starts_with(&expected), "{name}: {shown}");
    }
}

#[test]
fn a_partition_of_a_loop_over_a_disk_shares_the_disk() {
    let server = server();
    add_part(&server, "/sys/block/loop1", 1, "259:1", [8, 100]);
    add_part(&server, "/sys/block/loop1", 2, "259:2", [108, 100]);
    add_part(&server, "/sys/block/sdc", 1, "8:33", [8, 100]);
    assert_free(&server, &["loop1", "loop1p1", "loop1p2"]);
    mount_only(&server, "8:32");
    assert_mounted(&server, "sdc", &["sdc", "loop1", "loop1p1", "loop1p2"]);
    mount_only(&server, "8:33");
    assert_mounted(&server, "sdc1", &["sdc", "sdc1", "loop1", "loop1p1"]);
    assert_free(&server, &["loop1p2"]);
    mount_only(&server, "259:1");
    assert_mounted(&server, "loop1p1", &["sdc", "sdc1", "loop1", "loop1p1"]);
    assert_free(&server, &["loop1p2"]);
}

#[test]
fn a_mapping_shares_the_file_behind_its_loop_device() {
    let server = server();
    add_loop(&server, 7, "/srv/a.img", 0);
    add_loop(&server, 8, "/srv/a.img", 0);
    add_loop(&server, 9, "/srv/a.img", 1 << 20);
    for (index, minor) in [(7, 7), (8, 8)] {
        let disk = format!("/sys/class/block/loop{index}");
        add_part(&server, &disk, 1, &format!("259:{minor}"), [8, 100]);
        add_part(&server, &disk, 2, &format!("259:1{minor}"), [108, 100]);
    }
    add_mapping(&server, 8, &["loop7p1"]);
    add_mapping(&server, 10, &["dm-8"]);
    assert_free(&server, &["dm-10", "loop9", "loop7p2"]);
    mount_only(&server, "7:8");
    assert_mounted(&server, "loop8", &["loop7", "dm-8", "dm-10", "loop7p2"]);
    assert_free(&server, &["loop9"]);
    mount_only(&server, "259:8");
    assert_mounted(&server, "loop8p1", &["loop7", "loop8", "dm-8", "dm-10"]);
    assert_free(&server, &["loop9", "loop7p2", "loop8p2"]);
    mount_only(&server, "259:18");
    assert_mounted(&server, "loop8p2", &["loop7", "loop8", "loop7p2"]);
    assert_free(&server, &["dm-10"]);
    mount_only(&server, "252:10");
    assert_mounted(&server, "dm-10", &["loop7", "loop8", "loop8p1", "dm-8"]);
    assert_free(&server, &["loop9", "loop8p2", "loop7p2"]);
}

#[test]
fn a_mapping_of_a_whole_loop_device_shares_its_file() {
    let server = server();
    add_loop(&server, 7, "/srv/a.img", 0);
    add_loop(&server, 8, "/srv/a.img", 0);
    add_mapping(&server, 9, &["loop7"]);
    add_mapping(&server, 10, &["loop7"]);
    assert_free(&server, &["dm-9", "dm-10"]);
    mount_only(&server, "7:8");
    assert_mounted(&server, "loop8", &["loop7", "dm-9", "dm-10"]);
    mount_only(&server, "252:10");
    assert_mounted(&server, "dm-10", &["loop7", "loop8", "dm-10"]);
    assert_free(&server, &["dm-9"]);
    // A mapping on the other loop device may have the same bytes.
    add_mapping(&server, 11, &["loop8"]);
    mount_only(&server, "252:11");
    assert_mounted(&server, "dm-11", &["loop7", "loop8", "dm-9", "dm-10"]);
    server.write("/proc/self/mountinfo", ROOT);
    let shown = refused(&server, "/dev/dm-9");
    assert!(
        shown.starts_with("/dev/dm-9 is in use by dm-11 (mapping map-11):"),
        "{shown}"
    );
}

#[test]
fn a_mapping_over_the_file_of_the_root_is_refused() {
    let server = server();
    add_loop(&server, 7, "/srv/a.img", 0);
    add_loop(&server, 8, "/srv/a.img", 0);
    add_mapping(&server, 9, &["loop7"]);
    server.write(
        "/proc/self/mountinfo",
        "20 1 7:8 / / rw - ext4 /dev/loop8 rw\n",
    );
    insta::assert_snapshot!(refused(&server, "/dev/dm-9"), @"the system runs from \
        loop8 (loop over /srv/a.img), which shares storage with /dev/dm-9: name another disk; to erase this one, boot from a different disk");
}

#[test]
fn volumes_on_one_member_and_sibling_partitions_are_separate() {
    let server = server();
    add_part(&server, "/sys/block/sdc", 1, "8:33", [8, 100]);
    add_part(&server, "/sys/block/sdc", 2, "8:34", [108, 100]);
    std::fs::remove_dir_all(server.path(VIRTUAL).join("loop1")).unwrap();
    std::fs::remove_file(server.path("/sys/class/block/loop1")).unwrap();
    add_mapping(&server, 1, &["sdc2", "vdb"]);
    add_mapping(&server, 2, &["sdc2"]);
    add_mapping(&server, 3, &["dm-2"]);
    add_part(&server, "/sys/block/md0", 1, "259:1", [8, 100]);
    add_part(&server, "/sys/block/md0", 2, "259:2", [108, 100]);
    assert_free(&server, &["sdc1", "dm-1", "dm-3", "md0p1"]);
    mount_only(&server, "252:3");
    assert_free(&server, &["sdc1", "dm-1"]);
    assert_mounted(&server, "dm-3", &["sdc2", "sdc", "dm-2", "dm-3"]);
    mount_only(&server, "8:33");
    assert_free(&server, &["dm-1", "dm-3"]);
    mount_only(&server, "259:1");
    assert_free(&server, &["md0p2"]);
    assert_mounted(&server, "md0p1", &["md0", "sda", "sda1"]);
}

/// Names of the devices that are claimed beside a device.
fn claimed_beside(tree: &SysfsTree, name: &str) -> Vec<String> {
    let path = tree.path(&format!("/dev/{name}"));
    let node = DeviceNode::by_path(&path, &tree.roots).expect("a device");
    let mut names: Vec<String> = storage::claimable(&node, &tree.roots)
        .into_iter()
        .map(|other| other.kname)
        .collect();
    names.sort();
    names
}

#[test]
fn other_names_of_the_same_bytes_are_claimed() {
    let server = server();
    add_loop(&server, 7, "/srv/a.img", 0);
    add_loop(&server, 8, "/srv/a.img", 0);
    add_part(&server, "/sys/class/block/loop7", 1, "259:1", [8, 100]);
    add_part(&server, "/sys/class/block/loop7", 2, "259:2", [108, 100]);
    assert_eq!(claimed_beside(&server, "loop1"), ["sdc"]);
    assert_eq!(claimed_beside(&server, "sdc"), ["loop1"]);
    // A claim of a partition keeps others from the whole disk, and a claim of both would fail.
    assert_eq!(claimed_beside(&server, "loop8"), ["loop7p1", "loop7p2"]);
    assert_eq!(claimed_beside(&server, "loop7p1"), ["loop8"]);
    add_mapping(&server, 9, &["loop7p1"]);
    add_mapping(&server, 10, &["vdb"]);
    // The kernel claims the members of a mapping for it.
    assert_eq!(claimed_beside(&server, "dm-9"), ["loop8"]);
    assert!(claimed_beside(&server, "dm-10").is_empty());
}

#[test]
fn loop_devices_in_a_circle_end_the_search() {
    let server = server();
    add_loop(&server, 7, "/dev/loop8", 512);
    add_loop(&server, 8, "/dev/loop7", 512);
    mount_only(&server, "7:8");
    assert_mounted(&server, "loop8", &["loop7"]);
}

/// Makes a file system on a device and mounts it while `work` runs; `None` without a tool.
fn while_mounted<T>(test: &str, node: &Path, work: impl FnOnce() -> T) -> Option<T> {
    if !LoopDevice::has_tool(test, "mkfs.ext4") {
        return None;
    }
    let made = Command::new("mkfs.ext4")
        .args(["-q", "-F"])
        .arg(node)
        .status();
    assert!(made.unwrap().success());
    let folder = tempfile::tempdir().unwrap();
    mount(node, folder.path(), c"ext4", MountFlags::empty(), None).unwrap();
    let done = work();
    unmount(folder.path(), UnmountFlags::empty()).unwrap();
    Some(done)
}

fn checked(node: &Path) -> Result<Erasable, Refusal> {
    let typed = Confirmation::Typed(node.file_name().unwrap().display().to_string());
    check(node, &typed, &Roots::live())
}

#[track_caller]
fn assert_refused_for(node: &Path, refused: Result<Erasable, Refusal>) {
    assert!(
        matches!(&refused, Err(Refusal::Mounted { what, .. }) if node.ends_with(what)),
        "{refused:?}"
    );
}

#[test]
fn a_partition_of_a_loop_over_a_mounted_loop_is_refused() {
    let name = "a_partition_of_a_loop_over_a_mounted_loop";
    let Some(lower) = LoopDevice::new(name, 16, &[]) else {
        return;
    };
    let Some(upper) = LoopDevice::over(name, &lower.node, &[]) else {
        return;
    };
    let added = Command::new("addpart")
        .arg(&upper.node)
        .args(["1", "2048", "8192"])
        .status();
    let part = PathBuf::from(format!("{}p1", upper.node.display()));
    if !added.is_ok_and(|status| status.success()) || !part.exists() {
        eprintln!("SKIPPED {name}: no partition can be added");
        return;
    }
    let refused = while_mounted(name, &lower.node, || checked(&part));
    let held = checked(&part).unwrap();
    let busy = claim(&lower.node);
    drop(held);
    let free = claim(&lower.node);
    let deleted = Command::new("delpart").arg(&upper.node).arg("1").status();
    assert!(deleted.unwrap().success());
    if let Some(refused) = refused {
        assert_refused_for(&lower.node, refused);
    }
    assert!(matches!(busy, Err(Refusal::Busy { .. })), "{busy:?}");
    free.unwrap();
}

#[test]
fn a_mapping_over_a_file_that_is_mounted_is_refused() {
    let name = "a_mapping_over_a_file_that_is_mounted";
    let Some(first) = LoopDevice::new(name, 8, &[]) else {
        return;
    };
    let Some(second) = LoopDevice::over(name, first.file(), &[]) else {
        return;
    };
    let Some(mapping) = DmMapping::of(name, &first) else {
        return;
    };
    let node = Path::new("/dev/mapper").join(&mapping.0);
    if let Some(refused) = while_mounted(name, &second.node, || checked(&node)) {
        assert_refused_for(&second.node, refused);
    }
    // A claim covers the other loop device, and the mapping claims the loop device below it.
    let held = checked(&node).unwrap();
    let busy = claim(&second.node);
    assert!(matches!(busy, Err(Refusal::Busy { .. })), "{busy:?}");
    drop(held);
    claim(&second.node).unwrap();
}
