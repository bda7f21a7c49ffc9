//! Opening and holding a device that changes meanwhile. A plain file has device number 0:0, so on a simulated host it
//! can be opened as the block device of this number.

use super::*;
use rustix::io::{FdFlags, fcntl_getfd, pread, pwrite};
use std::os::unix::fs::FileExt;

const CARD: &str = "/sys/devices/pci0000:00/0000:00:09.0/block/cardx";
const OTHER: &str = "/sys/devices/pci0000:00/0000:00:0a.0/block/cardx";
const ROOT: &str = "20 1 0:25 / / rw - btrfs /dev/vda1 rw\n";

/// A server with an unused card, `cardx`, of 1 MiB.
fn host() -> SysfsTree {
    let host = tree("server");
    host.write("/proc/self/mountinfo", ROOT);
    let files = [("size", "2048"), ("serial", "card-0001"), ("diskseq", "7")];
    add(&host, CARD, "0:0", &files);
    host.write("/dev/cardx", "0123456789");
    host
}

fn candidate(host: &SysfsTree) -> Candidate {
    passive(&host.path("/dev/cardx"), &host.roots).unwrap()
}

fn id() -> Confirmation {
    Confirmation::Serial("card-0001".to_owned())
}

fn taken(host: &SysfsTree) -> Erasable {
    candidate(host).confirm(&id(), &host.roots).unwrap()
}

/// The same device number, size and serial number at another port.
fn move_to_other_port(host: &SysfsTree) {
    let sequence = std::fs::read_to_string(host.path(CARD).join("diskseq")).unwrap();
    let files = [
        ("size", "2048"),
        ("serial", "card-0001"),
        ("diskseq", sequence.trim()),
    ];
    for (file, text) in files.iter().chain(&[("dev", "0:0")]) {
        host.write(&format!("{OTHER}/{file}"), text);
    }
    link(host, "/sys/dev/block/0:0", OTHER);
}

#[test]
fn a_confirmed_device_is_open_for_reading_and_writing() {
    let host = host();
    let path = host.path("/dev/cardx");
    let card = check(&path, &id(), &host.roots).unwrap();
    assert_eq!(
        (card.path(), card.node().as_path(), card.id(), card.size()),
        (
            &*path,
            Path::new("/dev/cardx"),
            Some("card-0001"),
            Bytes(1 << 20)
        )
    );
    let serial = &card.identity().device.known().unwrap().serial;
    assert_eq!(serial.known().map(String::as_str), Some("card-0001"));
    assert_eq!(pwrite(card.device(), b"abc", 3).unwrap(), 3);
    let mut bytes = [0; 5];
    assert_eq!(pread(card.device(), &mut bytes, 2).unwrap(), 5);
    assert_eq!(&bytes, b"2abc6");
    // A child process must not inherit any of the descriptors.
    let read = card.open_again(OFlags::RDONLY).unwrap();
    let write = card.open_again(OFlags::WRONLY).unwrap();
    let claimed = claim(&path).unwrap();
    for device in [card.device(), read.as_fd(), write.as_fd(), claimed.as_fd()] {
        assert_eq!(fcntl_getfd(device).unwrap(), FdFlags::CLOEXEC);
    }
    assert!(pwrite(&read, b"x", 0).is_err() && pread(&read, &mut bytes, 0).is_ok());
    assert!(pwrite(&write, b"x", 0).is_ok() && pread(&write, &mut bytes, 0).is_err());
    assert!(pwrite(&claimed, b"y", 0).is_err(), "for checks only");
    card.check_unchanged(&host.roots).unwrap();
}

#[test]
fn a_wrong_confirmation_opens_nothing() {
    let host = host();
    for confirmation in [
        Confirmation::Serial("card-0002".to_owned()),
        Confirmation::Serial("cardx".to_owned()),
        Confirmation::Typed("card".to_owned()),
    ] {
        let refusal = check(&host.path("/dev/cardx"), &confirmation, &host.roots).unwrap_err();
        assert!(
            matches!(refusal, Refusal::Mismatch { .. } | Refusal::Mistyped { .. }),
            "{refusal}"
        );
    }
    for confirmation in [id(), Confirmation::Typed("cardx".to_owned())] {
        check(&host.path("/dev/cardx"), &confirmation, &host.roots).unwrap();
    }
}

type Change = (fn(&SysfsTree), &'static str);

fn new_sequence(host: &SysfsTree) {
    host.write(&format!("{CARD}/diskseq"), "8\n");
}

#[test]
fn a_device_that_changes_before_it_is_claimed_is_refused() {
    let changes: [Change; 6] = [
        (new_sequence, "disk sequence number 8, was 7"),
        (move_to_other_port, "it is connected to another port"),
        (
            |host| host.write(&format!("{CARD}/serial"), "card-0002\n"),
            "its ID changed",
        ),
        (
            // The name now leads to another device with the same serial number.
            |host| {
                host.write("/sys/block/vdb/serial", "card-0001\n");
                link(host, "/dev/cardx", "/dev/vdb");
            },
            "its ID changed",
        ),
        (
            |host| {
                let mount = "21 20 0:50 / /a rw - ext4 /dev/cardx rw\n";
                host.write("/proc/self/mountinfo", &format!("{ROOT}{mount}"));
            },
            "cardx is mounted at /a",
        ),
        (
            |host| host.write(&format!("{CARD}/ro"), "1\n"),
            "is write-protected",
        ),
    ];
    for (change, expected) in changes {
        let host = host();
        let before = candidate(&host);
        change(&host);
        let refusal = before.confirm(&id(), &host.roots).unwrap_err().to_string();
        assert!(refusal.contains(expected), "{refusal}, not {expected}");
    }
}

#[test]
fn a_node_of_another_device_number_is_refused() {
    let host = host();
    let disk = passive(&host.path("/dev/vdb"), &host.roots).unwrap();
    let typed = Confirmation::Typed("vdb".to_owned());
    let refusal = disk.confirm(&typed, &host.roots).unwrap_err().to_string();
    assert!(
        refusal.contains("(device number 0:0, was 254:16)"),
        "{refusal}"
    );
}

/// Kernels before Linux 5.15 have no disk sequence number.
#[test]
fn a_device_without_a_sequence_number_is_compared_by_its_port() {
    let host = host();
    std::fs::remove_file(host.path(CARD).join("diskseq")).unwrap();
    let card = taken(&host);
    card.check_unchanged(&host.roots).unwrap();
    host.write(&format!("{CARD}/diskseq"), "");
    card.check_unchanged(&host.roots).unwrap();
    move_to_other_port(&host);
    let refusal = card.check_unchanged(&host.roots).unwrap_err().to_string();
    assert!(
        refusal.contains("it is connected to another port"),
        "{refusal}"
    );
}

#[test]
fn a_held_or_released_device_that_changes_is_noticed() {
    let changes: [Change; 4] = [
        (new_sequence, "disk sequence number 8, was 7"),
        (move_to_other_port, "it is connected to another port"),
        (
            |host| host.write(&format!("{CARD}/size"), "6144\n"),
            "size 3 MiB, was 1 MiB",
        ),
        (
            |host| host.write(&format!("{CARD}/size"), "1024\n"),
            "size 512 KiB, was 1 MiB",
        ),
    ];
    for (change, expected) in changes {
        let host = host();
        let held = taken(&host);
        let released = taken(&host).release().unwrap();
        assert_eq!(released.node(), Path::new("/dev/cardx"));
        held.check_unchanged(&host.roots).unwrap();
        released.check_unchanged(&host.roots).unwrap();
        change(&host);
        for checked in [
            held.check_unchanged(&host.roots),
            released.check_unchanged(&host.roots),
        ] {
            let refusal = checked.unwrap_err().to_string();
            assert!(refusal.contains(expected), "{refusal}, not {expected}");
        }
    }
}

#[test]
fn a_tool_gets_the_node_and_the_device_is_claimed_again() {
    let host = host();
    let (card, node) = taken(&host)
        .while_released(Path::to_owned, &host.roots)
        .unwrap();
    assert_eq!(node, Path::new("/dev/cardx"));
    pwrite(card.device(), b"new", 0).unwrap();
    let exchanged = card.while_released(|_| new_sequence(&host), &host.roots);
    let refusal = exchanged.unwrap_err().to_string();
    assert!(
        refusal.contains("disk sequence number 8, was 7"),
        "{refusal}"
    );
    let mut bytes = [0; 4];
    let file = std::fs::File::open(host.path("/dev/cardx")).unwrap();
    file.read_exact_at(&mut bytes, 0).unwrap();
    assert_eq!(&bytes, b"new3");
}

const DISK: &str = "/sys/devices/pci0000:00/0000:00:0b.0/block/disk";

/// Takes a disk with partitions of 3 and 5 MiB, of which the second can be opened. Its kernel name, in which `!` is a
/// slash, leads from `/dev` to the simulated node.
fn partitioned(host: &SysfsTree) -> Erasable {
    std::fs::remove_file(host.path("/sys/dev/block/0:0")).unwrap();
    let files = [("size", "20480"), ("serial", "disk-0001"), ("diskseq", "9")];
    add(host, DISK, "240:0", &files);
    let part = |name: &str, number: &str, index: &str, sectors: &str| {
        let folder = format!("{DISK}/{name}");
        add(
            host,
            &folder,
            number,
            &[("partition", index), ("size", sectors)],
        );
        folder
    };
    part("disk1", "240:1", "1", "6144");
    host.write("/dev/disk2", "content");
    let node = host.path("/dev/disk2").canonicalize().unwrap();
    let name = format!("..{}", node.display()).replace('/', "!");
    let folder = part(&name, "0:0", "2", "10240");
    link(host, "/sys/class/block/disk2", &folder);
    Erasable {
        device: claim(&host.path("/dev/disk")).unwrap(),
        found: passive(&host.path("/dev/disk"), &host.roots).unwrap(),
        _twins: Vec::new(),
    }
}

#[test]
fn a_permission_for_a_disk_becomes_one_for_its_partition() {
    let host = host();
    let part = partitioned(&host).into_partition(2, &host.roots).unwrap();
    assert_eq!(
        (part.size(), part.id()),
        (Bytes(5 << 20), Some("disk-0001"))
    );
    let mut bytes = [0; 7];
    pread(part.device(), &mut bytes, 0).unwrap();
    assert_eq!(&bytes, b"content");
}

type PartitionChange = (u32, fn(&SysfsTree, &str), &'static str);

#[test]
fn a_missing_or_exchanged_partition_is_refused() {
    let elsewhere = "/sys/devices/pci0000:00/0000:00:0c.0/block/disk";
    let changes: [PartitionChange; 4] = [
        (0, |_, _| (), "sysfs lists no partition 0 on it"),
        (3, |_, _| (), "sysfs lists no partition 3 on it"),
        (
            2,
            |host, _| host.write(&format!("{DISK}/diskseq"), "10\n"),
            "its partition belongs to another disk",
        ),
        (
            // The partition of another disk has the number now.
            2,
            |host, other| {
                for (file, text) in [
                    ("dev", "240:0"),
                    ("diskseq", "9"),
                    ("part/dev", "0:0"),
                    ("part/partition", "2"),
                    ("part/size", "10240"),
                ] {
                    host.write(&format!("{other}/{file}"), text);
                }
                link(host, "/sys/dev/block/0:0", &format!("{other}/part"));
            },
            "its partition belongs to another disk",
        ),
    ];
    for (number, change, expected) in changes {
        let host = host();
        let disk = partitioned(&host);
        change(&host, elsewhere);
        let refusal = disk.into_partition(number, &host.roots).unwrap_err();
        assert!(refusal.to_string().contains(expected), "{refusal}");
    }
}

#[test]
fn errors_of_an_exclusive_open_become_refusals() {
    let kind = |error| match super::super::refused(error, PathBuf::from("/dev/x")) {
        Refusal::Busy { .. } => "busy",
        Refusal::Denied { .. } => "denied",
        Refusal::ReadOnly { .. } => "read-only",
        Refusal::NoMedium { .. } => "no medium",
        Refusal::Io { source, .. } if source.raw_os_error() == Some(5) => "I/O error 5",
        other => panic!("{other}"),
    };
    for (error, expected) in [
        (Errno::BUSY, "busy"),
        (Errno::ACCESS, "denied"),
        (Errno::PERM, "denied"),
        (Errno::ROFS, "read-only"),
        (Errno::NOMEDIUM, "no medium"),
        (Errno::NXIO, "no medium"),
        (Errno::IO, "I/O error 5"),
    ] {
        assert_eq!(kind(error), expected, "{error}");
    }
}
