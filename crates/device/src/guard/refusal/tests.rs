//! Texts of refusals and their advice.

use super::*;

fn ids(ids: &[&str]) -> Vec<String> {
    ids.iter().map(|id| (*id).to_owned()).collect()
}

#[test]
fn refusals_of_unsuitable_devices_advise_what_to_do() {
    let path = || PathBuf::from("/dev/sdb");
    let table = [
        (
            Refusal::NotThere { path: path() },
            "list the devices: lsblk",
        ),
        (
            Refusal::NotABlockDevice {
                path: path(),
                what: "a file",
            },
            "name a device such as /dev/sdX",
        ),
        (
            Refusal::Blind {
                path: path(),
                because: String::new(),
            },
            "mount /proc and /sys",
        ),
        (Refusal::NoMedium { path: path() }, "insert the card"),
        (
            Refusal::SystemDisk {
                path: path(),
                system: String::new(),
            },
            "name another disk",
        ),
        (
            Refusal::ReadOnly { path: path() },
            "release the lock switch",
        ),
    ];
    for (refusal, advice) in table {
        let cure = refusal.cure();
        assert!(cure.starts_with(advice), "{refusal}: {cure}");
    }
}

#[test]
fn refusals_of_used_devices_advise_how_to_release_them() {
    let path = || PathBuf::from("/dev/sdb");
    let at = || PathBuf::from("/media/my card");
    let table = [
        (
            Refusal::Mounted {
                what: "sdb1".into(),
                at: at(),
            },
            "unmount it first: umount '/media/my card'",
        ),
        (
            Refusal::MountedElsewhere {
                what: "sdb1".into(),
                at: at(),
                process: 815,
            },
            "stop the process, or unmount in its namespace: nsenter --target 815 --mount umount '/media/my card'",
        ),
        (
            Refusal::SwapFile {
                path: path(),
                file: at(),
            },
            "disable the swap first: swapoff '/media/my card'",
        ),
        (
            Refusal::Swap {
                what: "sdb2".into(),
            },
            "disable the swap first: swapoff /dev/sdb2",
        ),
        (
            Refusal::Held {
                path: path(),
                holder: String::new(),
                undo: "mdadm --stop /dev/md0".into(),
            },
            "release it first: mdadm --stop /dev/md0",
        ),
    ];
    for (refusal, advice) in table {
        assert_eq!(refusal.cure(), advice, "{refusal}");
    }
}

#[test]
fn refusals_at_the_open_advise_what_to_do() {
    let path = || PathBuf::from("/dev/sdb");
    let table = [
        (
            Refusal::Busy { path: path() },
            "list the processes that use it: fuser -v /dev/sdb",
        ),
        (
            Refusal::Busy {
                path: "/dev/mapper/my card".into(),
            },
            "list the processes that use it: fuser -v '/dev/mapper/my card'",
        ),
        (Refusal::Denied { path: path() }, "run as root"),
        (
            Refusal::Mistyped {
                typed: "sda".into(),
                wanted: "sdb".into(),
            },
            "check that this is the right device",
        ),
        (
            Refusal::Stale {
                path: path(),
                changed: String::new(),
            },
            "check which device has this name now",
        ),
        (
            Refusal::Io {
                path: path(),
                source: std::io::ErrorKind::Other.into(),
            },
            "check the kernel log: dmesg",
        ),
    ];
    for (refusal, advice) in table {
        let cure = refusal.cure();
        assert!(cure.starts_with(advice), "{refusal}: {cure}");
    }
}

#[test]
fn a_refused_id_is_answered_with_the_ids_of_the_device() {
    let path = || PathBuf::from("/dev/dm-1");
    let given = || "x-1".to_owned();
    for (known, shown, options, mapping) in [
        (
            ids(&[]),
            "it has no unique ID",
            "omit the ID, and type the device name when asked on a terminal",
            "type its name when asked on a terminal",
        ),
        (
            ids(&["abc-1", "my card"]),
            "`abc-1`, `my card`",
            "--erase=abc-1 or --erase='my card'",
            "pass --erase=abc-1 or 'my card'",
        ),
    ] {
        let mismatch = Refusal::Mismatch {
            path: path(),
            given: given(),
            ids: known.clone(),
        };
        assert_eq!(
            mismatch.to_string(),
            format!("`x-1` is not the ID of /dev/dm-1 ({shown})")
        );
        assert!(mismatch.cure().ends_with(options), "{}", mismatch.cure());
        let anonymous = Refusal::Anonymous {
            given: given(),
            ids: known.clone(),
        };
        assert!(anonymous.cure().ends_with(options), "{}", anonymous.cure());
        assert_eq!(
            anonymous.cure().contains("has no serial number"),
            known.is_empty()
        );
        let above = Refusal::OnlyAbove {
            path: path(),
            given: given(),
            ids: known.clone(),
        };
        let expected = format!(
            "to erase the disk, remove the mapping and name the disk; to erase only the mapping, {mapping}"
        );
        assert_eq!(above.cure(), expected);
        assert!(!mismatch.cure().contains("mapping") && mismatch.cure() != anonymous.cure());
    }
}

#[test]
fn text_is_quoted_for_a_shell_only_if_needed() {
    for (text, expected) in [
        (
            "/dev/disk/by-id/usb-A_1.0+b:c@d",
            "/dev/disk/by-id/usb-A_1.0+b:c@d",
        ),
        ("my card", "'my card'"),
        ("$HOME", "'$HOME'"),
        ("", "''"),
        ("it's", r"'it'\''s'"),
        ("größe", "'größe'"),
    ] {
        assert_eq!(quoted(text), expected);
    }
}
