//! Tests of each reason to refuse a device, on simulated hosts: with only this reason, and with none.

use super::*;

const ROOT: &str = "20 1 8:2 / / rw - ext4 /dev/sda2 rw\n";
const NO_SWAP: &str = "Filename Type Size Used Priority\n";

/// A PC with the system on `sda` and an unused card in a USB reader, `sdb` with the partition `sdb1`.
fn reader() -> SysfsTree {
    let reader = tree("usb-reader");
    reader.write("/proc/self/mountinfo", ROOT);
    reader.write("/proc/swaps", NO_SWAP);
    reader
}

/// A server on which nothing but the root file system is mounted.
fn server() -> SysfsTree {
    let server = tree("server");
    server.write(
        "/proc/self/mountinfo",
        "20 1 0:25 / / rw - btrfs /dev/vda1 rw\n",
    );
    server
}

/// A laptop whose encrypted volume group is unused.
fn laptop() -> SysfsTree {
    let laptop = tree("nvme-luks");
    laptop.write(
        "/proc/self/mountinfo",
        "20 1 0:25 / / rw - tmpfs tmpfs rw\n",
    );
    laptop.write("/proc/swaps", NO_SWAP);
    laptop
}

fn is_free(tree: &SysfsTree, path: &str) -> bool {
    refused(tree, path).starts_with("free:")
}

#[test]
fn each_reason_alone_refuses_a_free_disk() {
    let reader = reader();
    let mounted = |line: &str| format!("{ROOT}21 20 {line} rw\n");
    for (file, before, now, expected) in [
        (
            "/proc/self/mountinfo",
            ROOT,
            mounted("8:16 / /a rw - ext4 /dev/sdb"),
            "sdb is mounted at /a:",
        ),
        (
            "/proc/self/mountinfo",
            ROOT,
            mounted("8:17 / /b rw - ext4 /dev/sdb1"),
            "sdb1 is mounted at /b:",
        ),
        (
            "/proc/self/mountinfo",
            ROOT,
            "20 1 8:17 / / rw - ext4 /dev/sdb1 rw\n".to_owned(),
            "the system runs from",
        ),
        (
            "/proc/self/mountinfo",
            ROOT,
            String::new(),
            "cannot determine",
        ),
        (
            "/proc/swaps",
            NO_SWAP,
            format!("{NO_SWAP}/dev/sdb1 partition 1 0 -2\n"),
            "sdb1 is in use as swap:",
        ),
        (
            "/sys/block/sdb/size",
            "124735488\n",
            "0\n".to_owned(),
            "no medium in /dev/sdb:",
        ),
        (
            "/sys/block/sdb/ro",
            "0\n",
            "1\n".to_owned(),
            "/dev/sdb is write-protected:",
        ),
    ] {
        assert!(is_free(&reader, "/dev/sdb"), "before {expected}");
        reader.write(file, &now);
        let refused = refused(&reader, "/dev/sdb");
        assert!(refused.starts_with(expected), "{expected} {refused}");
        assert!(writable(&reader.path("/dev/sdb"), &reader.roots).is_err());
        reader.write(file, before);
    }
    assert!(is_free(&reader, "/dev/sdb"), "afterwards");
    writable(&reader.path("/dev/sdb"), &reader.roots).unwrap();
}

#[test]
fn a_partition_is_read_only_if_it_or_its_disk_is() {
    let reader = reader();
    for (disk, partition) in [(0, 0), (0, 1), (1, 0), (1, 1)] {
        reader.write("/sys/block/sdb/ro", &format!("{disk}\n"));
        reader.write("/sys/block/sdb/sdb1/ro", &format!("{partition}\n"));
        let shown = refused(&reader, "/dev/sdb1");
        let is_protected = shown.starts_with("/dev/sdb1 is write-protected:");
        assert_eq!(is_protected, disk + partition > 0, "{shown}");
        assert_eq!(is_free(&reader, "/dev/sdb1"), disk + partition == 0);
    }
}

/// An extended partition has a number up to 4, and the kernel shows one logical block of it, but at least two sectors,
/// or one if it is no longer.
#[test]
fn only_an_extended_partition_shares_its_logical_ones() {
    for (number, sectors, block, is_extended) in [
        (2, 1, 512, true),
        (2, 2, 512, true),
        (2, 3, 512, false),
        (3, 2, 512, true),
        (4, 2, 512, true),
        (4, 4096, 512, false),
        (5, 2, 512, false),
        (2, 8, 512, false),
        (2, 8, 4096, true),
        (2, 9, 4096, false),
        (5, 8, 4096, false),
    ] {
        let reader = reader();
        let text = format!("{block}\n");
        reader.write("/sys/block/sdb/queue/logical_block_size", &text);
        let part = |number: u32, sectors: u32| {
            add(
                &reader,
                &format!("/sys/block/sdb/sdb{number}"),
                &format!("8:{}", 16 + number),
                &[
                    ("partition", &number.to_string()),
                    ("size", &sectors.to_string()),
                ],
            );
        };
        part(number, sectors);
        part(6, 4096);
        let path = format!("/dev/sdb{number}");
        assert!(is_free(&reader, &path), "nothing is mounted");
        reader.write(
            "/proc/self/mountinfo",
            &format!("{ROOT}21 20 8:22 / /data rw - ext4 /dev/sdb6 rw\n"),
        );
        let shown = refused(&reader, &path);
        assert_eq!(
            shown.starts_with("sdb6 is mounted at /data:"),
            is_extended,
            "partition {number} of {sectors} sectors, blocks of {block}: {shown}"
        );
        assert_eq!(is_free(&reader, &path), !is_extended, "{shown}");
    }
}

#[test]
fn other_files_and_unlisted_devices_are_refused() {
    let server = server();
    let what = |path: &Path| {
        let refusal = passive(path, &server.roots).unwrap_err().to_string();
        refusal.replace(&server.path("/").display().to_string(), "/")
    };
    assert_eq!(
        what(Path::new("/dev/null")),
        "/dev/null is a character device, not a disk or partition"
    );
    let socket = server.path("/run.socket");
    let _listener = std::os::unix::net::UnixListener::bind(&socket).unwrap();
    assert_eq!(
        what(&socket),
        "/run.socket is something else, not a disk or partition"
    );
    std::fs::remove_file(server.path("/sys/dev/block/254:16")).unwrap();
    assert_eq!(
        what(&server.path("/dev/vdb")),
        "cannot determine what uses /dev/vdb: not listed in sysfs"
    );
}

#[test]
fn the_holder_decides_how_to_release_a_disk() {
    let laptop = laptop();
    let undo = |tree: &SysfsTree, path: &str| match passive(&tree.path(path), &tree.roots) {
        Err(Refusal::Held { undo, .. }) => undo,
        other => panic!("{other:?}"),
    };
    for (uuid, expected) in [
        ("LVM-aaaa", "lvchange -an /dev/mapper/vg-root"),
        ("CRYPT-PLAIN-vg-root", "cryptsetup close vg-root"),
        ("mpath-3600", "dmsetup remove vg-root"),
        ("", "dmsetup remove vg-root"),
    ] {
        laptop.write("/sys/block/dm-1/dm/uuid", uuid);
        assert_eq!(undo(&laptop, "/dev/dm-0"), expected);
    }
    let server = server();
    let cache = "/sys/devices/virtual/block/bcache0";
    add(&server, cache, "251:0", &[("size", "2048")]);
    assert!(is_free(&server, "/dev/vdb"));
    link(&server, "/sys/block/vdb/holders/bcache0", cache);
    assert_eq!(undo(&server, "/dev/vdb"), "stop what uses /dev/bcache0");
    server.write(&format!("{cache}/md/level"), "raid1");
    assert_eq!(undo(&server, "/dev/vdb"), "mdadm --stop /dev/bcache0");
}

#[test]
fn a_loop_device_shares_the_storage_of_the_device_below() {
    let server = server();
    assert_eq!(
        refused(&server, "/dev/loop1"),
        "free: /dev/sdc",
        "a loop device does not hold itself"
    );
    server.write(
        "/proc/self/mountinfo",
        "20 1 0:25 / / rw - btrfs /dev/vda1 rw\n21 20 8:32 / /c rw - ext4 /dev/sdc rw\n",
    );
    let shown = refused(&server, "/dev/loop1");
    assert!(shown.starts_with("sdc is mounted at /c:"), "{shown}");
}

/// A loop device over a real file, so that the file is known by its inode.
fn with_loop_over(server: &SysfsTree, file: &str) -> PathBuf {
    server.write(file, "content");
    let file = server.path(file).canonicalize().unwrap();
    let text = file.display().to_string();
    add(
        server,
        "/sys/devices/virtual/block/loop7",
        "7:7",
        &[("size", "2048"), ("loop/backing_file", &text)],
    );
    file
}

#[test]
fn a_swap_file_behind_a_loop_device_is_refused() {
    let server = server();
    let file = with_loop_over(&server, "/srv/a.img");
    server.write("/srv/b.img", "content");
    let other = server.path("/srv/b.img");
    for (swap, is_refused) in [(&other, false), (&file, true)] {
        let line = format!("{NO_SWAP}{} file 1 0 -2\n", swap.display());
        server.write("/proc/swaps", &line);
        let shown = passive(&server.path("/dev/loop7"), &server.roots);
        let is_swap =
            matches!(&shown, Err(Refusal::SwapFile { file: found, .. }) if *found == file);
        assert_eq!((is_swap, shown.is_ok()), (is_refused, !is_refused));
    }
}

#[test]
fn a_file_behind_a_used_loop_device_is_not_written() {
    let server = server();
    let file = with_loop_over(&server, "/srv/a.img");
    server.write("/srv/b.img", "content");
    let check = |path: &Path| writable_file(path, &server.roots);
    check(&file).unwrap();
    server.write(
        "/proc/self/mountinfo",
        "20 1 0:25 / / rw - btrfs /dev/vda1 rw\n21 20 7:7 / /a rw - ext4 /dev/loop7 rw\n",
    );
    let refusal = check(&file).unwrap_err();
    assert!(
        matches!(&refusal, Refusal::Mounted { what, .. } if what == "loop7"),
        "{refusal}"
    );
    check(&server.path("/srv/b.img")).unwrap();
    check(&server.path("/srv/new.img")).unwrap();
}

#[test]
fn a_candidate_has_the_size_and_number_of_the_named_device() {
    let (laptop, server, reader) = (laptop(), server(), reader());
    for (tree, path, name, partition, sectors, sequence) in [
        (
            &laptop,
            "/dev/nvme0n1p4",
            "nvme0n1p4",
            Some(4),
            2048,
            Some(1),
        ),
        (&laptop, "/dev/dm-1", "dm-1", None, 1_948_000_000, None),
        (&server, "/dev/vdb", "vdb", None, 2_097_152, Some(7)),
        (&server, "/dev/md0", "md0", None, 2_094_080, None),
        (&reader, "/dev/sdb1", "sdb1", Some(1), 124_702_720, Some(14)),
    ] {
        let found = passive(&tree.path(path), &tree.roots).unwrap();
        assert_eq!((found.name(), found.partition()), (name, partition));
        let size = Bytes(sectors * 512);
        assert_eq!((found.size(), found.sequence()), (size, sequence), "{path}");
        assert!(found.identity().device.known().is_some(), "{path}");
    }
}

#[test]
fn the_own_ids_are_serial_numbers_or_names_of_virtual_devices() {
    let (laptop, server, reader) = (laptop(), server(), reader());
    server.write("/sys/block/md0/md/uuid", "aaaa:bbbb");
    let nvme = &["S4EWNX0R123456", "eui.0025385b91b01234"][..];
    for (tree, path, mapping, own) in [
        (&laptop, "/dev/nvme0n1p4", None, nvme),
        (
            &laptop,
            "/dev/mapper/vg-root",
            Some("vg-root"),
            &["LVM-aaaa", "vg-root"],
        ),
        (&server, "/dev/vdb", None, &["scratch-42"]),
        (&server, "/dev/md0", None, &["aaaa:bbbb"]),
        (&server, "/dev/loop0", None, &["/srv/disk.img"]),
        (&reader, "/dev/sdb1", None, &["000000001536"]),
    ] {
        let found = passive(&tree.path(path), &tree.roots).unwrap();
        assert_eq!(found.own_ids(), own, "{path}");
        assert_eq!(found.mapping().as_deref(), mapping, "{path}");
    }
}

#[test]
fn a_partition_has_its_own_names_and_those_of_its_disk() {
    let reader = reader();
    let found = passive(&reader.path("/dev/sdb1"), &reader.roots).unwrap();
    assert_eq!(
        found.ids(),
        [
            "000000001536",
            "usb-Generic_STORAGE_DEVICE_000000001536-0:0-part1",
            "usb-Generic_STORAGE_DEVICE_000000001536-0:0",
        ]
    );
}

#[test]
fn hidden_cards_and_named_mappings_do_not_identify_themselves() {
    let tells = |tree: &SysfsTree, path: &str| {
        passive(&tree.path(path), &tree.roots)
            .unwrap()
            .tells_itself()
    };
    let laptop = laptop();
    assert!(!tells(&reader(), "/dev/sdb"), "the reader hides the CID");
    assert!(tells(&tree("emmc-tv-box"), "/dev/mmcblk1"));
    assert!(tells(&laptop, "/dev/nvme0n1p4"));
    assert!(tells(&laptop, "/dev/dm-1"));
    laptop.write("/sys/block/dm-1/dm/uuid", "\n");
    assert!(!tells(&laptop, "/dev/dm-1"), "its UUID is empty");
    std::fs::remove_file(laptop.path("/sys/block/dm-1/dm/uuid")).unwrap();
    assert!(!tells(&laptop, "/dev/dm-1"), "it has no UUID");
}

#[test]
fn a_typed_name_must_be_complete_and_of_this_device() {
    let (laptop, server) = (laptop(), server());
    server.write("/dev/disk/by-id/virtio-scratch-42", "");
    link(&server, "/dev/disk/by-id/virtio-scratch-42", "/dev/vdb");
    let disk = passive(&server.path("/dev/vdb"), &server.roots).unwrap();
    let mapping = passive(&laptop.path("/dev/dm-1"), &laptop.roots).unwrap();
    let is_meant = |found: &Candidate, typed: &str| {
        found
            .is_meant(&Confirmation::Typed(typed.to_owned()))
            .is_ok()
    };
    for typed in [
        "vdb",
        "/dev/vdb",
        " vdb\n",
        "SCRATCH-42",
        "virtio-scratch-42",
    ] {
        assert!(is_meant(&disk, typed), "{typed}");
    }
    for typed in [
        "",
        "vd",
        "vdb1",
        "dev/vdb",
        "/vdb",
        "/dev/vda",
        "scratch-43",
        "0000",
    ] {
        assert!(!is_meant(&disk, typed), "{typed}");
    }
    for typed in ["dm-1", "/dev/dm-1", "vg-root", "mapper/vg-root", "lvm-AAAA"] {
        assert!(is_meant(&mapping, typed), "{typed}");
    }
    for typed in [
        "dm-2",
        "vg-swap",
        "/dev/mapper/vg-swap",
        "/dev/vg-root",
        "S4EWNX0R123456",
    ] {
        assert!(!is_meant(&mapping, typed), "{typed}");
    }
}

#[test]
fn the_ids_below_a_mapping_do_not_confirm_it() {
    let server = server();
    let folder = "/sys/devices/virtual/block/dm-9";
    add(
        &server,
        folder,
        "252:9",
        &[("size", "2048"), ("dm/name", "data-9")],
    );
    link(
        &server,
        &format!("{folder}/slaves/loop0"),
        "/sys/block/loop0",
    );
    link(&server, "/dev/disk/by-id/image-1", "/dev/loop0");
    let mapping = passive(&server.path("/dev/dm-9"), &server.roots).unwrap();
    assert_eq!(mapping.ids(), ["data-9"]);
    let given = |id: &str| mapping.is_meant(&Confirmation::Serial(id.to_owned()));
    given("data-9").unwrap();
    for below in ["/srv/disk.img", "image-1"] {
        let refusal = given(below).unwrap_err();
        assert!(matches!(refusal, Refusal::OnlyAbove { .. }), "{refusal}");
    }
    let refusal = given("data-8").unwrap_err();
    assert!(matches!(refusal, Refusal::Mismatch { .. }), "{refusal}");
    let image = passive(&server.path("/dev/vdb"), &server.roots).unwrap();
    let refusal = image.is_meant(&Confirmation::Serial("image-1".to_owned()));
    assert!(matches!(refusal, Err(Refusal::Mismatch { .. })));
}

#[test]
fn paths_and_mapping_names_are_compared_with_their_case() {
    let (laptop, server) = (laptop(), server());
    link(&laptop, "/dev/disk/by-id/dm-name-vg-root", "/dev/dm-1");
    let mapping = passive(&laptop.path("/dev/dm-1"), &laptop.roots).unwrap();
    let image = passive(&server.path("/dev/loop0"), &server.roots).unwrap();
    let disk = passive(&server.path("/dev/vdb"), &server.roots).unwrap();
    for (found, given, is_meant) in [
        (&image, "/srv/disk.img", true),
        (&image, "/srv/Disk.img", false),
        (&mapping, "vg-root", true),
        (&mapping, "VG-root", false),
        (&mapping, "dm-name-vg-root", true),
        (&mapping, "dm-name-VG-root", false),
        (&mapping, "lvm-AAAA", true),
        (&disk, "SCRATCH-42", true),
    ] {
        for confirmation in [
            Confirmation::Serial(given.to_owned()),
            Confirmation::Typed(given.to_owned()),
        ] {
            assert_eq!(found.is_meant(&confirmation).is_ok(), is_meant, "{given}");
        }
    }
}
