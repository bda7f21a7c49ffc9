//! Refusals on simulated hosts, and the whole guard on loop devices if the test may create them.

mod checks;
mod claims;
mod shared;

use super::*;
use crate::chain;
use crate::testloop::LoopDevice;
use crate::testtree::{SysfsTree, tree};
use rustix::mount::{MountFlags, UnmountFlags, mount, unmount};
use std::process::Command;

fn refused(tree: &SysfsTree, path: &str) -> String {
    let folder = tree.path("/").display().to_string();
    match passive(&tree.path(path), &tree.roots) {
        Ok(candidate) => format!("free: {}", candidate.ids().join(", ")),
        Err(refusal) => {
            format!("{refusal}: {}", refusal.cure()).replace(folder.trim_end_matches('/'), "")
        }
    }
}

/// Adds a block device, as the kernel shows it, to a simulated host.
fn add(tree: &SysfsTree, folder: &str, number: &str, files: &[(&str, &str)]) {
    for (file, text) in files.iter().chain(&[("dev", number)]) {
        tree.write(&format!("{folder}/{file}"), &format!("{text}\n"));
    }
    let name = folder.rsplit('/').next().unwrap();
    link(tree, &format!("/sys/dev/block/{number}"), folder);
    link(tree, &format!("/sys/class/block/{name}"), folder);
    tree.write(&format!("/dev/{name}"), "");
}

/// Makes a link in a simulated host, in place of the file that is there.
fn link(tree: &SysfsTree, path: &str, target: &str) {
    let (path, target) = (tree.path(path), tree.path(target));
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    let _ = std::fs::remove_file(&path);
    std::os::unix::fs::symlink(target, path).unwrap();
}

#[test]
fn the_system_disk_and_what_it_stands_on_are_refused() {
    insta::assert_snapshot!(refused(&tree("pi4-sd"), "/dev/mmcblk0"), @"the system runs from \
        /dev/mmcblk0: name another disk; to erase this one, boot from a different disk");
    insta::assert_snapshot!(refused(&tree("pi4-sd"), "/dev/mmcblk0p1"), @"the system runs from \
        /dev/mmcblk0p1: name another disk; to erase this one, boot from a different disk");
    insta::assert_snapshot!(refused(&tree("nvme-luks"), "/dev/nvme0n1"), @"the system runs from \
        /dev/nvme0n1: name another disk; to erase this one, boot from a different disk");
    insta::assert_snapshot!(refused(&tree("nvme-luks"), "/dev/nvme0n1p4"), @"the system runs from \
        nvme0n1 (disk), which /dev/nvme0n1p4 is on: name another disk; to erase this one, boot from a different disk");
    insta::assert_snapshot!(refused(&tree("nvme-luks"), "/dev/mapper/vg-root"), @"the system runs \
        from /dev/mapper/vg-root: name another disk; to erase this one, boot from a different disk");
    insta::assert_snapshot!(refused(&tree("server"), "/dev/vdc"), @"the system runs from \
        /dev/vdc: name another disk; to erase this one, boot from a different disk");
    insta::assert_snapshot!(refused(&tree("usb-reader"), "/dev/sda"), @"the system runs from \
        /dev/sda: name another disk; to erase this one, boot from a different disk");
}

#[test]
fn what_is_in_use_is_refused_with_the_way_out() {
    let server = tree("server");
    insta::assert_snapshot!(refused(&server, "/dev/sda1"), @"md0 is mounted at /srv: unmount it first: umount /srv");
    insta::assert_snapshot!(refused(&server, "/dev/sdb"), @"md0 is mounted at /srv: unmount it first: umount /srv");
    insta::assert_snapshot!(refused(&server, "/dev/md0"), @"md0 is mounted at /srv: unmount it first: umount /srv");
    insta::assert_snapshot!(refused(&server, "/dev/loop0"), @"loop0 is mounted at /mnt/image: unmount it first: umount /mnt/image");
    insta::assert_snapshot!(refused(&server, "/dev/sdc"), @"/dev/sdc is in use by loop1 (loop over /dev/sdc): release it first: losetup -d /dev/loop1");
    insta::assert_snapshot!(refused(&server, "/dev/mmcblk0"), @"/dev/mmcblk0 is write-protected: release the lock switch of the card or adapter, or run `blockdev --setrw` on the device");
    insta::assert_snapshot!(refused(&tree("usb-reader"), "/dev/sdb"), @"sdb1 is mounted at /media/me/my card: unmount it first: umount '/media/me/my card'");
    insta::assert_snapshot!(refused(&tree("usb-reader"), "/dev/sdb1"), @"sdb1 is mounted at /media/me/my card: unmount it first: umount '/media/me/my card'");
}

#[test]
fn holders_and_swap_are_refused_even_when_nothing_is_mounted() {
    let server = tree("server");
    server.write(
        "/proc/self/mountinfo",
        "20 1 0:25 / / rw - btrfs /dev/vda1 rw\n",
    );
    insta::assert_snapshot!(refused(&server, "/dev/sdb1"), @"/dev/sdb1 is in use by md0 (raid1): release it first: mdadm --stop /dev/md0");
    insta::assert_snapshot!(refused(&server, "/dev/sda"), @"/dev/sda is in use by md0 (raid1): release it first: mdadm --stop /dev/md0");
    insta::assert_snapshot!(refused(&server, "/dev/md0"), @"free:");
    server.write(
        "/proc/swaps",
        "Filename Type Size Used Priority\n/dev/vdb partition 1 0 -2\n",
    );
    insta::assert_snapshot!(refused(&server, "/dev/vdb"), @"vdb is in use as swap: disable the \
        swap first: swapoff /dev/vdb");
    let laptop = tree("nvme-luks");
    laptop.write(
        "/proc/self/mountinfo",
        "20 1 0:25 / / rw - tmpfs tmpfs rw\n",
    );
    insta::assert_snapshot!(refused(&laptop, "/dev/nvme0n1"), @"dm-2 is in use as swap: disable \
        the swap first: swapoff /dev/dm-2");
    laptop.write("/proc/swaps", "Filename Type Size Used Priority\n");
    insta::assert_snapshot!(refused(&laptop, "/dev/nvme0n1"), @"/dev/nvme0n1 is in use by dm-0 (crypt nvme0n1p3_crypt): release it first: cryptsetup close nvme0n1p3_crypt");
}

/// Overwriting only the table of the extended partition, through its name, still loses the logical partitions in it.
#[test]
fn an_extended_partition_is_in_use_as_its_logical_ones_are() {
    let reader = tree("usb-reader");
    let add = |name: &str, partition: u32, minor: u32, sectors: u64| {
        let folder = format!("/sys/block/sdb/{name}");
        for (file, text) in [
            ("partition", partition.to_string()),
            ("dev", format!("8:{minor}")),
            ("size", sectors.to_string()),
        ] {
            reader.write(&format!("{folder}/{file}"), &format!("{text}\n"));
        }
        let real = reader.path(&folder).canonicalize().unwrap();
        for link in [
            format!("/sys/dev/block/8:{minor}"),
            format!("/sys/class/block/{name}"),
        ] {
            std::os::unix::fs::symlink(&real, reader.path(&link)).unwrap();
        }
        reader.write(&format!("/dev/{name}"), &format!("8:{minor}\n"));
    };
    add("sdb2", 2, 18, 2);
    add("sdb5", 5, 21, 4096);
    let mounts = "20 1 8:2 / / rw - ext4 /dev/sda2 rw\n";
    reader.write("/proc/self/mountinfo", mounts);
    assert!(
        refused(&reader, "/dev/sdb2").starts_with("free:"),
        "{}",
        refused(&reader, "/dev/sdb2")
    );
    reader.write(
        "/proc/self/mountinfo",
        &format!("{mounts}21 20 8:21 / /data rw - ext4 /dev/sdb5 rw\n"),
    );
    insta::assert_snapshot!(refused(&reader, "/dev/sdb2"), @"sdb5 is mounted at /data: unmount it first: umount /data");
    assert!(
        refused(&reader, "/dev/sdb1").starts_with("free:"),
        "a primary one beside it is another matter"
    );
}

/// udev can create and remove names in `/dev/disk/by-id` at any time, for example after mkfs.
#[test]
fn names_that_udev_gives_are_answered_to_and_are_no_identity() {
    let reader = tree("usb-reader");
    reader.write(
        "/proc/self/mountinfo",
        "20 1 8:2 / / rw - ext4 /dev/sda2 rw\n",
    );
    let look = || passive(&reader.path("/dev/sdb"), &reader.roots).unwrap();
    let before = look();
    let alias = reader.path("/dev/disk/by-id/lvm-pv-uuid-abcd");
    std::os::unix::fs::symlink(reader.path("/dev/sdb"), alias).unwrap();
    let after = look();
    assert!(before.ids() != after.ids() && before.own_ids() == after.own_ids());
    assert_eq!(after.own_ids(), ["000000001536"]);
    assert!(
        after
            .is_meant(&Confirmation::Serial("lvm-pv-uuid-abcd".to_owned()))
            .is_ok()
    );
}

/// Regression: a mapping on a card accepted the card's serial number, so a script meant for the card erased the
/// mapping.
#[test]
fn a_mapping_answers_to_its_own_names_and_not_to_those_of_the_disk_below() {
    let laptop = tree("nvme-luks");
    laptop.write(
        "/proc/self/mountinfo",
        "20 1 0:25 / / rw - tmpfs tmpfs rw\n",
    );
    laptop.write("/proc/swaps", "Filename Type Size Used Priority\n");
    let look = |path: &str| passive(&laptop.path(path), &laptop.roots).unwrap();
    let volume = look("/dev/mapper/vg-root");
    assert_eq!(
        (volume.own_ids(), volume.mapping().as_deref()),
        (&["LVM-aaaa".into(), "vg-root".into()][..], Some("vg-root"))
    );
    assert!(volume.tells_itself(), "it has a UUID");
    let serial = volume
        .identity()
        .device
        .known()
        .unwrap()
        .serial
        .known()
        .unwrap()
        .clone();
    let refusal = volume
        .is_meant(&Confirmation::Serial(serial.clone()))
        .unwrap_err();
    let told = format!("{refusal}: {}", refusal.cure())
        .replace(&laptop.path("/dev").display().to_string(), "/dev");
    insta::assert_snapshot!(told.replace(&serial, "SERIAL"), @"`SERIAL` is the ID of the disk \
        below the mapping /dev/mapper/vg-root: to erase the disk, remove the mapping and name the disk; to erase only the mapping, pass --erase=LVM-aaaa or vg-root");
    for typed in ["vg-root", "/dev/mapper/vg-root", "dm-1", "/dev/dm-1"] {
        assert!(
            volume
                .is_meant(&Confirmation::Typed(typed.to_owned()))
                .is_ok(),
            "{typed}"
        );
    }
    assert!(
        volume
            .is_meant(&Confirmation::Typed("mapper/vg-swap".to_owned()))
            .is_err()
    );
    // A partition has the identity of its disk.
    let part = look("/dev/nvme0n1p4");
    assert!(part.is_meant(&Confirmation::Serial(serial)).is_ok() && part.mapping().is_none());
}

#[test]
fn a_mount_that_only_process_one_sees_counts_too() {
    let server = tree("server");
    server.write(
        "/proc/1/mountinfo",
        "20 1 254:16 / /srv/data rw - ext4 /dev/vdb rw\n",
    );
    insta::assert_snapshot!(refused(&server, "/dev/vdb"), @"vdb is mounted at /srv/data: unmount it first: umount /srv/data");
}

/// A container with its own mount, and a second process in the mount namespace of the test.
#[test]
fn mounts_of_other_namespaces_count_too() {
    let server = tree("server");
    server.write(
        "/proc/815/mountinfo",
        "20 1 254:16 / /data rw - ext4 /dev/vdb rw\n",
    );
    insta::assert_snapshot!(refused(&server, "/dev/vdb"), @"vdb is mounted at /data in another mount namespace (process 815): stop the process, or unmount in its namespace: nsenter --target 815 --mount umount /data");
    for process in ["self", "815"] {
        server.write(&format!("/proc/{process}/ns/x"), "");
        std::os::unix::fs::symlink(
            "mnt:[4026531841]",
            server.path(&format!("/proc/{process}/ns/mnt")),
        )
        .unwrap();
    }
    assert!(
        refused(&server, "/dev/vdb").starts_with("free:"),
        "one and the same namespace is read once"
    );
}

/// Loop devices over one file on simulated hosts, recognized by range, and by path if the file cannot be queried.
#[test]
fn loop_devices_over_the_same_bytes_are_the_same_storage() {
    let server = tree("server");
    let twin = |name: &str, minor: u32, offset: u64| {
        let folder = format!("/sys/devices/virtual/block/{name}");
        let files = [("dev", format!("7:{minor}")), ("size", "2048".to_owned())];
        let files = files.into_iter().chain([
            ("loop/backing_file", "/srv/disk.img".to_owned()),
            ("loop/offset", offset.to_string()),
        ]);
        for (file, text) in files {
            server.write(&format!("{folder}/{file}"), &format!("{text}\n"));
        }
        let real = server.path(&folder).canonicalize().unwrap();
        for link in [
            format!("/sys/dev/block/7:{minor}"),
            format!("/sys/class/block/{name}"),
        ] {
            std::os::unix::fs::symlink(&real, server.path(&link)).unwrap();
        }
        server.write(&format!("/dev/{name}"), "");
    };
    twin("loop8", 8, 0);
    twin("loop9", 9, 1 << 60);
    insta::assert_snapshot!(refused(&server, "/dev/loop8"), @"loop0 is mounted at /mnt/image: unmount it first: umount /mnt/image");
    assert!(
        refused(&server, "/dev/loop9").starts_with("free:"),
        "{}",
        refused(&server, "/dev/loop9")
    );
}

#[test]
fn what_is_no_disk_is_refused() {
    let server = tree("server");
    insta::assert_snapshot!(refused(&server, "/proc/self/mountinfo"), @"/proc/self/mountinfo is a file, not a disk or partition: name a device such as /dev/sdX (lsblk lists them)");
    insta::assert_snapshot!(refused(&server, "/proc"), @"/proc is a directory, not a disk or partition: name a device such as /dev/sdX (lsblk lists them)");
    insta::assert_snapshot!(refused(&server, "/dev/sdz"), @"/dev/sdz does not exist: list the devices: lsblk");
    server.write("/sys/block/vdb/size", "0\n");
    insta::assert_snapshot!(refused(&server, "/dev/vdb"), @"no medium in /dev/vdb: its size is zero: insert the card or set up the loop device, then try again");
}

#[test]
fn without_a_mount_table_everything_is_refused() {
    let server = tree("server");
    server.write("/proc/self/mountinfo", "");
    insta::assert_snapshot!(refused(&server, "/dev/vdb"), @"cannot determine what uses /dev/vdb: \
        /proc/self/mountinfo is empty or unreadable: mount /proc and /sys, then try again");
}

#[test]
fn a_free_disk_answers_to_all_its_names() {
    insta::assert_snapshot!(refused(&tree("server"), "/dev/vdb"), @"free: scratch-42");
    insta::assert_snapshot!(refused(&tree("emmc-tv-box"), "/dev/mmcblk1"), @"free: 0x007f1c2a, 150100424a5444345206007f1c2a3b00");
    let reader = tree("usb-reader");
    reader.write(
        "/proc/self/mountinfo",
        "20 1 8:2 / / rw - ext4 /dev/sda2 rw\n",
    );
    insta::assert_snapshot!(refused(&reader, "/dev/sdb"), @"free: 000000001536, usb-Generic_STORAGE_DEVICE_000000001536-0:0");
}

#[test]
fn a_confirmation_must_name_this_very_device() {
    let server = tree("server");
    let candidate = passive(&server.path("/dev/vdb"), &server.roots).unwrap();
    assert!(candidate.tells_itself());
    let says = |confirmation: Confirmation| {
        let refusal = candidate.is_meant(&confirmation).err();
        let text = refusal.map_or_else(
            || "meant".to_owned(),
            |refusal| format!("{refusal}: {}", refusal.cure()),
        );
        text.replace(&server.path("/dev").display().to_string(), "/dev")
    };
    let serial = |text: &str| says(Confirmation::Serial(text.to_owned()));
    let typed = |text: &str| says(Confirmation::Typed(text.to_owned()));
    assert_eq!(
        [
            serial("scratch-42"),
            serial(" SCRATCH-42\n"),
            typed("vdb"),
            typed("/dev/vdb"),
            typed("scratch-42\n")
        ],
        ["meant"; 5]
    );
    insta::assert_snapshot!(serial("scratch-43"), @"`scratch-43` is not the ID of /dev/vdb (`scratch-42`): check that this is the right device; if it is, pass --erase=scratch-42");
    insta::assert_snapshot!(serial("0x00000000"), @"`0x00000000` is a placeholder serial number, \
        not a unique ID: use its serial number, CID or /dev/disk/by-id name: \
        --erase=scratch-42");
    insta::assert_snapshot!(serial(""), @"`` is a placeholder serial number, not a unique ID: use its serial number, CID or /dev/disk/by-id name: --erase=scratch-42");
    insta::assert_snapshot!(typed("vda"), @"you typed `vda`, and the name is `vdb`: check that \
        this is the right device");
    insta::assert_snapshot!(typed("y"), @"you typed `y`, and the name is `vdb`: check that this \
        is the right device");
}

#[test]
fn a_zero_serial_is_no_identity() {
    assert!(
        ["", "0", "0x00000000", "00000000000000000000", "ab", "ffff"]
            .iter()
            .all(|id| is_placeholder(id))
    );
    assert!(
        ["0x4a5b6c7d", "scratch-42", "000000001536"]
            .iter()
            .all(|id| !is_placeholder(id))
    );
}

#[track_caller]
fn refusal(device: &LoopDevice, confirmation: &Confirmation) -> Refusal {
    check(&device.node, confirmation, &Roots::live()).expect_err("it must be refused")
}

#[test]
fn a_loop_device_is_taken_given_back_and_taken_again() {
    let Some(device) = LoopDevice::new("a_loop_device_is_taken", 8, &[]) else {
        return;
    };
    let roots = Roots::live();
    let confirmation = Confirmation::Serial(device.id());
    let erasable = check(&device.node, &confirmation, &roots).unwrap();
    assert_eq!(
        (erasable.size(), erasable.node()),
        (Bytes(8 << 20), device.node.clone())
    );
    assert_eq!(erasable.id(), Some(device.id().as_str()));
    // While it is claimed, it cannot be claimed again or mounted.
    assert!(matches!(
        refusal(&device, &confirmation),
        Refusal::Busy { .. }
    ));
    let (erasable, during) = erasable
        .while_released(
            |node| {
                check(node, &Confirmation::Serial(device.id()), &roots)
                    .map(drop)
                    .is_ok()
            },
            &roots,
        )
        .unwrap();
    assert!(during);
    assert!(matches!(
        refusal(&device, &confirmation),
        Refusal::Busy { .. }
    ));
    drop(erasable);
    check(
        &device.node,
        &Confirmation::Typed(device.node.display().to_string()),
        &roots,
    )
    .unwrap();
}

/// A claimed device may be removed or exchanged; here a loop device grows.
#[test]
fn a_device_that_was_exchanged_under_its_holder_is_noticed() {
    let Some(device) = LoopDevice::new("a_device_that_was_exchanged", 8, &[]) else {
        return;
    };
    let roots = Roots::live();
    let erasable = check(&device.node, &Confirmation::Serial(device.id()), &roots).unwrap();
    erasable.check_unchanged(&roots).unwrap();
    std::fs::File::options()
        .write(true)
        .open(device.file())
        .unwrap()
        .set_len(16 << 20)
        .unwrap();
    if !Command::new("losetup")
        .arg("--set-capacity")
        .arg(&device.node)
        .status()
        .unwrap()
        .success()
    {
        eprintln!("SKIPPED a_device_that_was_exchanged: losetup cannot set the capacity here");
        return;
    }
    let refusal = erasable.check_unchanged(&roots).unwrap_err();
    assert!(
        refusal.to_string().contains("size 16 MiB, was 8 MiB"),
        "{refusal}"
    );
}

#[test]
fn a_mounted_loop_device_is_refused() {
    let name = "a_mounted_loop_device_is_refused";
    let Some(device) = LoopDevice::new(name, 16, &[]) else {
        return;
    };
    if !LoopDevice::has_tool(name, "mkfs.ext4") {
        return;
    }
    assert!(
        Command::new("mkfs.ext4")
            .args(["-q", "-F"])
            .arg(&device.node)
            .status()
            .unwrap()
            .success()
    );
    let folder = tempfile::tempdir().unwrap();
    mount(
        &device.node,
        folder.path(),
        c"ext4",
        MountFlags::empty(),
        None,
    )
    .unwrap();
    let by_id = refusal(&device, &Confirmation::Serial(device.id()));
    let by_name = refusal(
        &device,
        &Confirmation::Typed(device.node.display().to_string()),
    );
    // The exclusive open must also refuse it, for mounts that no table lists.
    let exclusive = open_exclusively(&device.node);
    // Identity of a file on it: the loop device, with its file in the chain.
    let identity = crate::identify(folder.path(), &Roots::live());
    unmount(folder.path(), UnmountFlags::empty()).unwrap();
    assert!(matches!(by_id, Refusal::Mounted { .. }), "{by_id}");
    assert!(matches!(by_name, Refusal::Mounted { .. }), "{by_name}");
    assert!(
        matches!(exclusive, Err(Refusal::Busy { .. })),
        "{exclusive:?}"
    );
    assert_eq!(identity.filesystem.unwrap().fs_type, "ext4");
    assert_eq!(identity.device.known().unwrap().node, device.node);
    check(
        &device.node,
        &Confirmation::Serial(device.id()),
        &Roots::live(),
    )
    .unwrap();
}

#[test]
fn a_loop_over_a_loop_holds_the_lower_one() {
    let name = "a_loop_over_a_loop_holds_the_lower_one";
    let Some(lower) = LoopDevice::new(name, 8, &[]) else {
        return;
    };
    let Some(upper) = LoopDevice::over(name, &lower.node, &[]) else {
        return;
    };
    let refusal = refusal(&lower, &Confirmation::Serial(lower.id()));
    let Refusal::Held { undo, .. } = &refusal else {
        panic!("{refusal}")
    };
    assert_eq!(*undo, format!("losetup -d {}", upper.node.display()));
}

/// Several loop devices over one file share its storage.
#[test]
fn a_file_behind_several_loop_devices_is_one_storage() {
    let name = "a_file_behind_several_loop_devices";
    let Some(device) = LoopDevice::new(name, 32, &[]) else {
        return;
    };
    if !LoopDevice::has_tool(name, "mkfs.ext4") {
        return;
    }
    let beside = tempfile::Builder::new()
        .tempdir_in(device.file().parent().unwrap())
        .unwrap();
    let link = beside.path().join("hard-link");
    std::fs::hard_link(device.file(), &link).unwrap();
    let (first, second) = (["--sizelimit", "16777216"], ["--offset", "16777216"]);
    let [Some(linked), Some(lower), Some(upper)] = [
        LoopDevice::over(name, &link, &[]),
        LoopDevice::over(name, device.file(), &first),
        LoopDevice::over(name, &link, &second),
    ] else {
        return;
    };
    let id = || Confirmation::Typed("x".to_owned());
    let typed = |device: &LoopDevice| Confirmation::Typed(device.node.display().to_string());
    let roots = Roots::live();
    assert!(
        Command::new("mkfs.ext4")
            .args(["-q", "-F"])
            .arg(&upper.node)
            .status()
            .unwrap()
            .success()
    );
    let folder = tempfile::tempdir().unwrap();
    mount(
        &upper.node,
        folder.path(),
        c"ext4",
        MountFlags::empty(),
        None,
    )
    .unwrap();
    let overlapping = [&device, &linked].map(|device| refusal(device, &id()));
    let written = [&device, &linked].map(|device| writable(&device.node, &roots));
    let file = writable_file(device.file(), &roots);
    // The other half of the file is different storage.
    let beside = check(&lower.node, &typed(&lower), &roots).map(drop);
    unmount(folder.path(), UnmountFlags::empty()).unwrap();
    for refusal in overlapping {
        assert!(
            matches!(&refusal, Refusal::Mounted { what, .. } if upper.node.ends_with(what)),
            "{refusal}"
        );
    }
    for written in written.into_iter().chain([file]) {
        assert!(
            matches!(written, Err(Refusal::Mounted { .. })),
            "{written:?}"
        );
    }
    beside.unwrap();
    writable_file(device.file(), &roots).unwrap();
    // A claim covers all names.
    let held = check(&upper.node, &typed(&upper), &roots).unwrap();
    assert!(matches!(
        refusal(&device, &typed(&device)),
        Refusal::Busy { .. }
    ));
    let (held, during) = held
        .while_released(
            |_| {
                check(&device.node, &typed(&device), &roots)
                    .map(drop)
                    .is_ok()
            },
            &roots,
        )
        .unwrap();
    assert!(during);
    assert!(matches!(
        refusal(&linked, &typed(&linked)),
        Refusal::Busy { .. }
    ));
    drop(held);
    check(&linked.node, &typed(&linked), &roots).unwrap();
}

/// Exclusive users that no table lists: an external journal, or a mount that was detached while a
/// file on it was open.
#[test]
fn what_no_table_shows_is_refused_for_writing_too() {
    let name = "what_no_table_shows_is_refused";
    let Some(device) = LoopDevice::new(name, 16, &[]) else {
        return;
    };
    if !LoopDevice::has_tool(name, "mkfs.ext4") {
        return;
    }
    assert!(
        Command::new("mkfs.ext4")
            .args(["-q", "-F"])
            .arg(&device.node)
            .status()
            .unwrap()
            .success()
    );
    let (folder, roots) = (tempfile::tempdir().unwrap(), Roots::live());
    mount(
        &device.node,
        folder.path(),
        c"ext4",
        MountFlags::empty(),
        None,
    )
    .unwrap();
    let open = std::fs::File::create(folder.path().join("open")).unwrap();
    unmount(folder.path(), UnmountFlags::DETACH).unwrap();
    let detached = (
        passive(&device.node, &roots).map(drop),
        writable(&device.node, &roots),
    );
    drop(open);
    assert!(
        matches!(detached, (Ok(()), Err(Refusal::Busy { .. }))),
        "{detached:?}"
    );
    let held = check(&device.node, &Confirmation::Serial(device.id()), &roots).unwrap();
    assert!(matches!(
        writable(&device.node, &roots),
        Err(Refusal::Busy { .. })
    ));
    drop(held);
    writable(&device.node, &roots).unwrap();
}

/// A mapping of device-mapper, removed when dropped.
struct DmMapping(String);

impl DmMapping {
    /// The second half of a device of 8 MiB.
    fn of(test: &str, lower: &LoopDevice) -> Option<DmMapping> {
        let name = format!("hakaru-{test}-{}", std::process::id());
        let table = format!("0 8192 linear {} 8192", lower.node.display());
        match Command::new("dmsetup")
            .args(["create", &name, "--table", &table])
            .output()
        {
            Ok(output) if output.status.success() => {
                // Without udev, the node does not exist.
                let _ = Command::new("dmsetup").args(["mknodes", &name]).status();
                Some(DmMapping(name))
            }
            output => {
                eprintln!("SKIPPED {test}: dmsetup does not work here ({output:?})");
                None
            }
        }
    }
}

impl Drop for DmMapping {
    fn drop(&mut self) {
        let _ = Command::new("dmsetup")
            .args(["remove", "--retry", &self.0])
            .status();
    }
}

#[test]
fn a_mapping_is_erased_by_its_own_name_and_holds_the_disk_below() {
    let name = "a_mapping_is_erased_by_its_own_name";
    let Some(lower) = LoopDevice::new(name, 8, &[]) else {
        return;
    };
    let Some(mapping) = DmMapping::of(name, &lower) else {
        return;
    };
    let (path, roots) = (Path::new("/dev/mapper").join(&mapping.0), Roots::live());
    let refused = refusal(&lower, &Confirmation::Serial(lower.id()));
    let Refusal::Held { undo, .. } = &refused else {
        panic!("{refused}")
    };
    assert_eq!(*undo, format!("dmsetup remove {}", mapping.0));
    let below = check(&path, &Confirmation::Serial(lower.id()), &roots)
        .expect_err("the disk below was meant");
    assert!(matches!(below, Refusal::OnlyAbove { .. }), "{below}");
    // Mapping names are chosen by users, so they do not identify a card.
    assert!(!passive(&path, &roots).unwrap().tells_itself());
    let erasable = check(&path, &Confirmation::Serial(mapping.0.clone()), &roots).unwrap();
    assert_eq!(
        (erasable.size(), erasable.id()),
        (Bytes(4 << 20), Some(mapping.0.as_str()))
    );
    rustix::io::pwrite(erasable.device(), &[0xff; 512], 0).unwrap();
    rustix::fs::fsync(erasable.device()).unwrap();
    drop(erasable);
    let image = std::fs::read(lower.file()).unwrap();
    assert!(image[..4 << 20].iter().all(|byte| *byte == 0) && image[4 << 20] == 0xff);
}

#[test]
fn a_write_protected_loop_device_is_refused() {
    let Some(device) = LoopDevice::new("a_write_protected_loop_device", 8, &["--read-only"]) else {
        return;
    };
    assert!(matches!(
        refusal(&device, &Confirmation::Serial(device.id())),
        Refusal::ReadOnly { .. }
    ));
}

/// A card is exchanged between check and open: same name, same number.
#[test]
fn a_name_that_went_to_another_device_is_stale() {
    // The file outlives the device: a loop device whose file is gone is not detached.
    let other = tempfile::NamedTempFile::new().unwrap();
    other.as_file().set_len(8 << 20).unwrap();
    let Some(mut device) = LoopDevice::new("a_name_that_went_to_another_device", 8, &[]) else {
        return;
    };
    let candidate = passive(&device.node, &Roots::live()).unwrap();
    let again = |arguments: &[&std::ffi::OsStr]| {
        Command::new("losetup")
            .args(arguments)
            .status()
            .unwrap()
            .success()
    };
    assert!(again(&["--detach".as_ref(), device.node.as_ref()]));
    if !again(&[device.node.as_ref(), other.path().as_ref()]) {
        eprintln!(
            "SKIPPED a_name_that_went_to_another_device_is_stale: another test took the loop device meanwhile"
        );
        return;
    }
    device.backing = other.path().canonicalize().unwrap();
    let refusal = candidate
        .confirm(&Confirmation::Serial(device.id()), &Roots::live())
        .unwrap_err();
    assert!(matches!(refusal, Refusal::Stale { .. }), "{refusal}");
}

#[test]
fn the_disk_of_this_system_is_refused() {
    let system = chain::system_nodes(&Roots::live(), &mounts::mounts(&Roots::live()));
    for node in &system {
        let path = Path::new("/dev").join(&node.kname);
        // The passive checks open nothing, so this is safe even if they are wrong.
        let refusal = passive(&path, &Roots::live()).expect_err("the system runs from it");
        assert!(
            matches!(
                refusal,
                Refusal::SystemDisk { .. } | Refusal::NotABlockDevice { .. }
            ),
            "{refusal}"
        );
    }
    if system.is_empty() {
        eprintln!("SKIPPED the_disk_of_this_system_is_refused: sysfs shows no disk below /");
    }
}
