//! Tests of finding cards, on directory trees that stand in for sysfs and udev.

use super::super::testing::parse;
use super::*;

/// Simulates a machine with plain files: two slots of one USB reader, which share its serial number.
fn reader(folder: &Path) -> Roots {
    let place = |path: &str| {
        let path = folder.join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        path
    };
    let write = |path: &str, text: &str| std::fs::write(place(path), text).unwrap();
    let link = |target: &str, path: &str| {
        std::os::unix::fs::symlink(folder.join(target), place(path)).unwrap();
    };
    write("proc/self/mountinfo", "20 1 0:20 / / rw - tmpfs tmpfs rw\n");
    let usb = "sys/devices/pci0000:00/0000:00:14.0/usb2/2-1";
    for (file, text) in [
        ("idVendor", "14cd"),
        ("speed", "480"),
        ("serial", "000000001536"),
        ("product", "reader"),
    ] {
        write(&format!("{usb}/{file}"), text);
    }
    for (slot, name) in ["sdb", "sdc"].into_iter().enumerate() {
        let block = format!("{usb}/2-1:1.0/host6/target6:0:0/6:0:0:{slot}/block/{name}");
        let number = format!("8:{}", 16 * (slot + 1));
        let alias = format!("dev/disk/by-id/usb-Reader_000000001536-0:{slot}");
        write(&format!("{block}/dev"), &number);
        write(&format!("{block}/size"), "62333952");
        write(&format!("{block}/diskseq"), "9");
        link(&block, &format!("sys/dev/block/{number}"));
        link(&block, &format!("sys/class/block/{name}"));
        write(&format!("dev/{name}"), "");
        link(&format!("dev/{name}"), &alias);
    }
    Roots::beneath(folder)
}

fn look(roots: &Roots, card: &str) -> Result<PathBuf, String> {
    let campaign = parse(&format!(
        "name = \"x\"\n[[card]]\n{card}\n[[workload]]\nsuite = [\"rand-read\"]\n"
    ))
    .unwrap();
    let journal = CampaignProgress::default();
    let bench = CardFinder {
        campaign: &campaign,
        journal: &journal,
        roots,
    };
    match bench.look(&campaign.cards[0]) {
        CardSearch::Found(found) => Ok(found.disk.unwrap().node),
        CardSearch::NotThere(why) => Err(why),
    }
}

/// Regression: if the device in the file was absent, the one given by `--erase` was used instead.
#[test]
fn a_named_device_binds() {
    let folder = tempfile::tempdir().unwrap();
    let roots = reader(folder.path());
    let (sdb, absent) = (folder.path().join("dev/sdb"), folder.path().join("dev/sdq"));
    for device in [&absent, &folder.path().join("dev/sdc")] {
        let (found, seen) = take(&roots, device, &sdb);
        let CardSearch::NotThere(why) = found else {
            panic!("another device was taken")
        };
        assert!(
            why.contains("names") && why.contains("is a different device"),
            "{why}"
        );
        assert!(seen.iter().all(|seen| seen.node == *device), "{seen:?}");
    }
    let alias = folder
        .path()
        .join("dev/disk/by-id/usb-Reader_000000001536-0:0");
    let (found, _) = take(&roots, &alias, &sdb);
    assert!(
        matches!(found, CardSearch::Found(_)),
        "another path to the same device"
    );
}

/// Takes a node for a card whose campaign names a device; also returns the disks that the user is offered.
fn take(roots: &Roots, named: &Path, node: &Path) -> (CardSearch, Vec<CandidateDisk>) {
    let campaign = super::super::testing::campaign(&format!(
        "[[card]]\nlabel = \"x\"\ndevice = \"{}\"",
        named.display()
    ));
    let (journal, card) = (CampaignProgress::default(), &campaign.cards[0]);
    let finder = CardFinder {
        campaign: &campaign,
        journal: &journal,
        roots,
    };
    (finder.take(card, node), finder.seen(card))
}

/// Regression: the first slot was used and erased.
#[test]
fn two_slots_with_one_serial_number_are_no_identity() {
    let folder = tempfile::tempdir().unwrap();
    let roots = reader(folder.path());
    let why = look(&roots, "id = \"000000001536\"").unwrap_err();
    let why = why.replace(&folder.path().display().to_string(), "");
    insta::assert_snapshot!(why, @"/dev/sdb and /dev/sdc have the same ID 000000001536; help: name the slot with device =, or use a /dev/disk/by-id name as id =");
    let (sdb, sdc) = (folder.path().join("dev/sdb"), folder.path().join("dev/sdc"));
    let named = format!("id = \"000000001536\"\ndevice = \"{}\"", sdc.display());
    assert_eq!(look(&roots, &named), Ok(sdc));
    assert_eq!(
        look(&roots, "id = \"usb-Reader_000000001536-0:0\""),
        Ok(sdb)
    );
}

/// Regression: after its label was changed in the file, a card was rejected as the card with the old label.
#[test]
fn a_label_that_is_in_the_file_no_more_is_nobodys() {
    let campaign = super::super::testing::campaign("[[card]]\nlabel = \"new\"");
    let folder = tempfile::tempdir().unwrap();
    let roots = reader(folder.path());
    let mut journal = CampaignProgress::default();
    journal.note_key("old", "0x1234");
    let bench = CardFinder {
        campaign: &campaign,
        journal: &journal,
        roots: &roots,
    };
    assert_eq!(bench.label_of("0x1234"), None);
    journal.note_key("new", "0x1234");
    let bench = CardFinder {
        campaign: &campaign,
        journal: &journal,
        roots: &roots,
    };
    assert_eq!(bench.label_of("0x1234"), Some("new"));
}

#[test]
fn another_card_in_the_same_slot_is_not_the_one_that_was_there() {
    let folder = tempfile::tempdir().unwrap();
    let roots = reader(folder.path());
    let node = folder.path().join("dev/sdb");
    let disk = PresentDisk::of(&node, &guard::passive(&node, &roots).unwrap());
    assert!(disk.is_there(&roots) && disk.candidate(&roots).is_ok());
    // udev creates one more link.
    std::os::unix::fs::symlink(&node, folder.path().join("dev/disk/by-id/lvm-pv-uuid-x")).unwrap();
    assert!(disk.is_there(&roots) && disk.candidate(&roots).is_ok());
    let real = folder
        .path()
        .join("sys/class/block/sdb")
        .canonicalize()
        .unwrap();
    std::fs::write(real.join("diskseq"), "10").unwrap();
    assert!(!disk.is_there(&roots));
    assert!(
        disk.candidate(&roots)
            .unwrap_err()
            .contains("a different disk than before")
    );
}
