//! Whole preparations on loop devices, and recovering from crashes at every point.

use super::*;
use crate::guard::{Confirmation, check, what_would_be_lost};
use crate::testloop::LoopDevice;
use std::ops::ControlFlow;

fn go_on(_: crate::blockdev::ScanProgress) -> ControlFlow<()> {
    ControlFlow::Continue(())
}

fn take(device: &LoopDevice) -> Erasable {
    check(
        &device.node,
        &Confirmation::Serial(device.id()),
        &Roots::live(),
    )
    .unwrap()
}

/// Simulates a killed program: nothing is undone, and the journal stays.
fn crash(mut preparation: Preparation) -> PathBuf {
    let journal = preparation.journal.take().unwrap();
    preparation.undos.clear();
    journal.path().to_owned()
}

/// A loop device with ext4, or `None` if not possible here.
fn ext4(test: &str) -> Option<(tempfile::TempDir, Preparation, LoopDevice)> {
    let device = LoopDevice::new(test, 32, &[])?;
    if !LoopDevice::has_tool(test, "mkfs.ext4") {
        return None;
    }
    let state = tempfile::tempdir().unwrap();
    let preparation = Preparation::begin(&state.path().join("state"), Roots::live()).unwrap();
    Some((state, preparation, device))
}

fn mount_request(state: &tempfile::TempDir) -> MountRequest {
    MountRequest {
        fs_type: "ext4".into(),
        options: "noatime,nodiscard".into(),
        at: state.path().join("mnt"),
    }
}

#[test]
fn a_card_is_filled_formatted_mounted_filled_up_and_given_back() {
    let Some((state, mut preparation, device)) = ext4("a_card_is_filled") else {
        return;
    };
    let erasable = take(&device);
    let map = preparation
        .fill(&erasable, FillPattern::Ones, &mut go_on)
        .unwrap();
    assert_eq!(map.whole().len, Bytes(32 << 20));
    assert!(
        std::fs::read(device.file())
            .unwrap()
            .iter()
            .all(|byte| *byte == 0xff)
    );
    let request = MkfsRequest {
        label: Some("bench".into()),
        ..MkfsRequest::new(FsType::Ext4)
    };
    let (erasable, outcome) = preparation.mkfs(erasable, &request).unwrap();
    assert!(outcome.version.contains("mke2fs"), "{outcome:?}");
    assert!(
        what_would_be_lost(&device.node)[0]
            .to_string()
            .starts_with("whole device: ext4 `bench`")
    );

    let mounted = preparation.mount(erasable, &mount_request(&state)).unwrap();
    let identity = crate::identify(mounted.folder(), &Roots::live());
    assert!(
        identity
            .filesystem
            .as_ref()
            .unwrap()
            .options
            .contains("noatime"),
        "{identity:?}"
    );
    let written = preparation
        .fill_level(mounted.folder(), 50, 1, &mut go_on)
        .unwrap();
    assert!(written.0 > 4 << 20, "{written}");
    let free = crate::inspect(mounted.folder()).unwrap().free.unwrap();
    assert!(free.0 < 20 << 20, "{free}");
    preparation.drop_caches().unwrap();

    let at = mounted.folder().to_owned();
    let erasable = preparation.unmount(mounted).unwrap();
    assert!(std::fs::read_dir(&at).unwrap().next().is_none());
    drop(erasable);
    let steps = preparation.steps().iter();
    let steps = steps.map(|done| serde_json::to_value(&done.step).unwrap());
    let names: Vec<_> = steps
        .map(|step| step["step"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(
        names,
        [
            "fill",
            "mkfs",
            "make_folder",
            "mount",
            "fill_level",
            "drop_caches"
        ]
    );
    preparation.undo_all().unwrap();
    assert!(!at.exists());
    assert!(pending(&state.path().join("state")).is_empty());
}

#[test]
fn dropping_undoes_everything() {
    let Some((state, mut preparation, device)) = ext4("dropping_undoes_everything") else {
        return;
    };
    let (erasable, _) = preparation
        .mkfs(take(&device), &MkfsRequest::new(FsType::Ext4))
        .unwrap();
    let mounted = preparation.mount(erasable, &mount_request(&state)).unwrap();
    preparation
        .fill_level(mounted.folder(), 40, 1, &mut go_on)
        .unwrap();
    drop(preparation);
    drop(mounted);
    assert!(!state.path().join("mnt").exists());
    assert!(pending(&state.path().join("state")).is_empty());
    drop(take(&device));
}

#[test]
fn what_is_left_as_it_is_can_be_taken_back_later() {
    let Some((state, mut preparation, device)) = ext4("what_is_left_as_it_is") else {
        return;
    };
    let (erasable, _) = preparation
        .mkfs(take(&device), &MkfsRequest::new(FsType::Ext4))
        .unwrap();
    let mounted = preparation.mount(erasable, &mount_request(&state)).unwrap();
    let at = mounted.folder().to_owned();
    let journal = preparation.leave().unwrap().unwrap();
    drop(mounted);
    assert!(at.join("lost+found").is_dir());
    assert!(is_left(&journal), "so that nobody takes it back unasked");
    assert!(recover(&journal, &Roots::live()).unwrap().is_complete() && !at.exists());

    let mut preparation = Preparation::begin(&state.path().join("state"), Roots::live()).unwrap();
    let verdict = preparation
        .verify(&take(&device), VerifyExtent::Samples, 3, &mut go_on)
        .unwrap();
    assert!(verdict.is_good(), "{verdict:?}");
    assert_eq!(preparation.leave().unwrap(), None);
    assert!(pending(&state.path().join("state")).is_empty());
}

#[test]
fn after_a_crash_a_mount_is_undone_and_its_directory_removed() {
    let Some((state, mut preparation, device)) = ext4("after_a_crash_a_mount_is_undone") else {
        return;
    };
    let (erasable, _) = preparation
        .mkfs(take(&device), &MkfsRequest::new(FsType::Ext4))
        .unwrap();
    let mounted = preparation.mount(erasable, &mount_request(&state)).unwrap();
    preparation
        .fill_level(mounted.folder(), 40, 1, &mut go_on)
        .unwrap();
    let journal = crash(preparation);
    drop(mounted);
    let recovery = recover(&journal, &Roots::live()).unwrap();
    let text: Vec<_> = recovery.items.iter().map(Recovered::to_string).collect();
    let text = text
        .join("\n")
        .replace(&state.path().display().to_string(), "STATE");
    insta::assert_snapshot!(text, @"
    files in STATE/mnt/.hakaru-fill: removed
    mount at STATE/mnt: removed
    directory STATE/mnt: removed
    ");
    assert!(!recovery.restarted && recovery.is_complete() && !journal.exists());
    drop(take(&device));
}

#[test]
fn somebody_elses_mount_is_left_alone() {
    let Some((state, mut preparation, device)) = ext4("somebody_elses_mount_is_left_alone") else {
        return;
    };
    let (erasable, _) = preparation
        .mkfs(take(&device), &MkfsRequest::new(FsType::Ext4))
        .unwrap();
    let mounted = preparation.mount(erasable, &mount_request(&state)).unwrap();
    let at = mounted.folder().to_owned();
    let journal = crash(preparation);
    mounting::unmount(&at).unwrap();
    let Some(other) = LoopDevice::new("somebody_elses_mount", 32, &[]) else {
        return;
    };
    let mut second = Preparation::begin(&state.path().join("second"), Roots::live()).unwrap();
    let (erasable, _) = second
        .mkfs(take(&other), &MkfsRequest::new(FsType::Ext4))
        .unwrap();
    let theirs = second.mount(erasable, &mount_request(&state)).unwrap();
    let recovery = recover(&journal, &Roots::live()).unwrap();
    assert_eq!(recovery.items[0].outcome, RecoveredAs::Gone);
    // The directory is busy, so removing it fails, and the journal is kept for another attempt.
    assert!(matches!(recovery.items[1].outcome, RecoveredAs::Failed { .. }) && journal.exists());
    assert!(
        crate::identify(theirs.folder(), &Roots::live())
            .device
            .known()
            .unwrap()
            .node
            == other.node
    );
    second.unmount(theirs).map(drop).unwrap();
    second.undo_all().unwrap();
    assert!(recover(&journal, &Roots::live()).unwrap().is_complete());
    assert!(!journal.exists() && !at.exists());
}

/// Regression: after a restart the user mounted the same card at the same path, and recovery
/// unmounted it.
#[test]
fn a_mount_after_a_restart_is_somebody_elses() {
    let Some((state, mut preparation, device)) = ext4("a_mount_after_a_restart") else {
        return;
    };
    let (erasable, _) = preparation
        .mkfs(take(&device), &MkfsRequest::new(FsType::Ext4))
        .unwrap();
    let mounted = preparation.mount(erasable, &mount_request(&state)).unwrap();
    let at = mounted.folder().to_owned();
    let journal = crash(preparation);
    let text = std::fs::read_to_string(&journal).unwrap();
    std::fs::write(
        &journal,
        text.replace(&boot_id(&Roots::live()), "an earlier boot"),
    )
    .unwrap();
    let told = outlook(&journal, &Roots::live()).unwrap();
    assert!(
        told.restarted && told.items[0].ends_with("already gone"),
        "{told:?}"
    );
    let recovery = recover(&journal, &Roots::live()).unwrap();
    assert_eq!(recovery.items[0].outcome, RecoveredAs::Gone);
    assert!(at.join("lost+found").is_dir(), "it is still mounted");
    drop(mounted);
    mounting::unmount(&at).unwrap();
    assert!(recover(&journal, &Roots::live()).unwrap().is_complete() && !at.exists());
}

#[test]
fn an_image_is_written_to_a_device_and_a_partial_one_has_no_table() {
    let Some((state, mut preparation, device)) = ext4("an_image_is_written_to_a_device") else {
        return;
    };
    let path = state.path().join("card.img");
    std::fs::write(&path, vec![0xa7; 9 << 20]).unwrap();
    let image = ImageFile::open(&path).unwrap();
    let erasable = take(&device);
    let map = preparation.write_image(&erasable, &image, &mut go_on);
    assert_eq!(map.unwrap().whole().len, Bytes(9 << 20));
    let on_device = || std::fs::read(device.file()).unwrap();
    assert!(on_device()[..9 << 20].iter().all(|byte| *byte == 0xa7));

    let stop: &mut OnProgress<'_> = &mut |_| ControlFlow::Break(());
    let stopped = preparation.write_image(&erasable, &image, stop);
    assert!(
        matches!(
            stopped,
            Err(PrepareError::Image(ImageError::Interrupted { .. }))
        ),
        "{stopped:?}"
    );
    assert!(on_device()[..1 << 20].iter().all(|byte| *byte == 0));
    let journal = preparation.journal.as_ref().unwrap().path().to_owned();
    let said = std::fs::read_to_string(&journal).unwrap();
    assert!(said.contains("writing the image was stopped"), "{said}");

    // A power loss: the step begins and never ends.
    let step = PrepareStep::WriteImage {
        device: tag(&erasable),
        image: path,
        size: image.size(),
    };
    let begun = preparation.journal.as_mut().unwrap();
    begun.begin(step, Undo::Nothing).unwrap();
    let recovery = recover(&crash(preparation), &Roots::live()).unwrap();
    let text = recovery.items[0].to_string();
    assert!(
        text.contains("is incomplete") && text.ends_with("write the image again"),
        "{text}"
    );
}

#[test]
fn only_a_directory_of_ours_is_removed_with_its_content() {
    let state = tempfile::tempdir().unwrap();
    let begin = || Preparation::begin(&state.path().join("state"), Roots::live()).unwrap();
    let (ours, theirs) = (state.path().join(".hakaru-x"), state.path().join("photos"));
    for folder in [&ours, &theirs] {
        std::fs::create_dir(folder).unwrap();
        std::fs::write(folder.join("old"), "content").unwrap();
    }
    let mut preparation = begin();
    assert!(preparation.own_folder(&theirs).is_err() && theirs.join("old").exists());
    preparation.own_folder(&ours).unwrap();
    assert!(
        ours.is_dir() && !ours.join("old").exists(),
        "what was left behind is replaced"
    );
    std::fs::write(ours.join("data"), "content").unwrap();
    let journal = crash(preparation);
    assert!(recover(&journal, &Roots::live()).unwrap().is_complete() && !ours.exists());
    let mut preparation = begin();
    preparation.own_folder(&ours).unwrap();
    std::fs::write(ours.join("data"), "content").unwrap();
    preparation.undo_all().unwrap();
    assert!(!ours.exists() && theirs.join("old").exists());
}

/// Regression: when the number of partitions was unchanged, the old partitions in the kernel were taken for the new
/// ones.
#[test]
fn partitions_are_distinguished_by_their_start() {
    let tree = crate::testtree::tree("usb-reader");
    let disk = tree.path("/dev/sdb");
    let starts = |tree: &crate::testtree::SysfsTree| partition::shown(&disk, &tree.roots);
    assert_eq!(starts(&tree).len(), 1);
    tree.write("/sys/block/sdb/sdb1/start", "2048\n");
    assert_eq!(starts(&tree), [1 << 20]);
    tree.write("/sys/block/sdb/sdb1/start", "8192\n");
    assert_eq!(
        starts(&tree),
        PartitionLayout::single(LayoutTable::Mbr, LayoutKind::Fat).starts()
    );
    assert_eq!(
        partition::shown(&tree.path("/dev/sdz"), &tree.roots),
        [0; 0]
    );
}

#[test]
fn steps_that_were_cut_short_are_named() {
    let state = tempfile::tempdir().unwrap();
    let device = DeviceTag {
        node: "/dev/mmcblk0".into(),
        id: Some("0x4a5b6c7d".into()),
        name: "SanDisk SE32G (0x4a5b6c7d)".into(),
    };
    let mut journal = PrepareJournal::create(state.path(), "another boot").unwrap();
    let seq = journal
        .begin(
            PrepareStep::Fill {
                device: device.clone(),
                pattern: FillPattern::Ones,
            },
            Undo::Nothing,
        )
        .unwrap();
    journal.write(&JournalLine::Done { seq }).unwrap();
    let partition = PrepareStep::Partition {
        device: device.clone(),
        script: "label: dos\n".into(),
    };
    let steps = [
        PrepareStep::Fill {
            device: device.clone(),
            pattern: FillPattern::Zeroes,
        },
        PrepareStep::Discard {
            device: device.clone(),
            kind: DiscardKind::Plain,
        },
        PrepareStep::Verify {
            device: device.clone(),
            restores: false,
        },
        PrepareStep::Verify {
            device: device.clone(),
            restores: true,
        },
        partition,
        PrepareStep::Mkfs {
            device: device.clone(),
            fs: FsType::F2fs,
            command: vec![],
        },
    ];
    for step in steps {
        journal.begin(step, Undo::Nothing).unwrap();
    }
    let folder = PathBuf::from("/nonexistent/mnt").join(level::FOLDER);
    let undo = Undo::RemoveFiles {
        folder: folder.clone(),
    };
    journal
        .begin(
            PrepareStep::FillLevel {
                folder: folder.clone(),
                size: Bytes(1 << 30),
            },
            undo,
        )
        .unwrap();
    let path = journal.path().to_owned();
    drop(journal);
    let before = outlook(&path, &Roots::live()).unwrap();
    assert!(before.restarted && path.exists());
    assert_eq!(
        before.items[0],
        format!(
            "files in {}: to be removed if it still exists",
            folder.display()
        )
    );
    let recovery = recover(&path, &Roots::live()).unwrap();
    assert!(recovery.restarted && !path.exists());
    assert_eq!(
        before.items[1..],
        recovery
            .items
            .iter()
            .skip(1)
            .map(Recovered::to_string)
            .collect::<Vec<_>>()
    );
    let text: Vec<_> = recovery.items.iter().map(Recovered::to_string).collect();
    insta::assert_snapshot!(text.join("\n"), @r"
    up to 1 GiB of filler files may remain on the card that was mounted there: mount it again and remove its directory .hakaru-fill
    f2fs on SanDisk SE32G (0x4a5b6c7d) (then /dev/mmcblk0) is incomplete: create the file system again before mounting it
    the partition table of SanDisk SE32G (0x4a5b6c7d) (then /dev/mmcblk0) may be incomplete: write the partition table again
    verification overwrote samples of SanDisk SE32G (0x4a5b6c7d) (then /dev/mmcblk0) and did not restore them: check its file system with fsck, and restore damaged files from a backup
    verification overwrote part of SanDisk SE32G (0x4a5b6c7d) (then /dev/mmcblk0); its previous content is lost: verify it again or create a file system
    SanDisk SE32G (0x4a5b6c7d) (then /dev/mmcblk0) was partly discarded; its previous content is lost: discard it again or create a file system
    SanDisk SE32G (0x4a5b6c7d) (then /dev/mmcblk0) was partly overwritten; its previous content is lost: fill it again or create a file system
    ");
}

#[test]
fn a_failed_step_is_taken_back_at_once() {
    let state = tempfile::tempdir().unwrap();
    let mut preparation = Preparation::begin(&state.path().join("state"), Roots::live()).unwrap();
    let folder = state.path().join("made");
    let step = PrepareStep::MakeFolder {
        path: folder.clone(),
    };
    let failed: Result<(), _> = preparation.step(
        step,
        Undo::RemoveFolder {
            path: folder.clone(),
        },
        |_| {
            std::fs::create_dir(&folder).unwrap();
            Err(io_error(&folder, "made", io::Error::other("a reason")))
        },
    );
    assert!(failed.unwrap_err().to_string().ends_with("a reason"));
    assert!(!folder.exists() && preparation.undos.is_empty() && preparation.steps().is_empty());
    preparation.undo_all().unwrap();
}

#[test]
fn every_file_system_whose_tool_is_there_can_be_made() {
    for fs in FsType::ALL {
        // XFS needs 300 MiB, btrfs and F2FS more than 100 MiB.
        let Some(device) = LoopDevice::new("every_file_system", 320, &[]) else {
            return;
        };
        let state = tempfile::tempdir().unwrap();
        let mut preparation = Preparation::begin(state.path(), Roots::live()).unwrap();
        for discard in [false, true] {
            let request = MkfsRequest {
                label: Some("CARD".into()),
                discard,
                ..MkfsRequest::new(fs)
            };
            match preparation.mkfs(take(&device), &request) {
                Ok((erasable, outcome)) => {
                    assert!(!outcome.version.is_empty(), "{outcome:?}");
                    drop(erasable);
                    let found = what_would_be_lost(&device.node);
                    assert!(
                        found[0]
                            .to_string()
                            .starts_with(&format!("whole device: {fs} `CARD`")),
                        "{found:?}"
                    );
                }
                Err(PrepareError::Tool(ToolError::Missing { tool, package })) => {
                    assert_eq!(package, fs.package());
                    eprintln!("SKIPPED {fs}: {tool} is not installed");
                }
                Err(error) => panic!("{fs}: {error}"),
            }
        }
    }
}

fn lists_partitions(disk: &Path) -> bool {
    let partx = |what: &str| {
        std::process::Command::new("partx")
            .arg(what)
            .arg(disk)
            .output()
    };
    let _ = partx("--delete");
    partx("--add").is_ok_and(|output| output.status.success())
}

/// Regression: the missing partitions of such a loop device were noticed only after the table was
/// written.
#[test]
fn a_loop_device_without_partitions_is_known_beforehand() {
    let name = "a_loop_device_without_partitions_is_known_beforehand";
    for (options, without) in [(&[][..], true), (&["--partscan"], false)] {
        let Some(device) = LoopDevice::new(name, 8, options) else {
            return;
        };
        let kname = device.node.file_name().unwrap().to_str().unwrap();
        assert_eq!(
            shows_no_partitions(kname, &Roots::live()),
            without,
            "{options:?}"
        );
    }
}

#[test]
fn a_partition_table_is_written_and_a_partition_taken() {
    let name = "a_partition_table_is_written_and_a_partition_taken";
    let Some(device) = LoopDevice::new(name, 64, &["--partscan"]) else {
        return;
    };
    if !LoopDevice::has_tool(name, "sfdisk") {
        return;
    }
    let state = tempfile::tempdir().unwrap();
    let mut preparation = Preparation::begin(state.path(), Roots::live()).unwrap();
    let boot = LayoutPartition {
        size: Some(Bytes(16 << 20)),
        kind: LayoutKind::Fat,
    };
    let root = LayoutPartition {
        size: None,
        kind: LayoutKind::Linux,
    };
    for table in [LayoutTable::Mbr, LayoutTable::Gpt] {
        let layout = PartitionLayout {
            table,
            align: Bytes(4 << 20),
            partitions: vec![boot, root],
        };
        let whole = match preparation.partition(take(&device), &layout) {
            Ok(whole) => whole,
            // Minimal kernels read no partition tables; partitions can be added individually.
            Err(PrepareError::Io {
                doing: "partitioned",
                ..
            }) if lists_partitions(&device.node) => take(&device),
            Err(error) => panic!("{error}"),
        };
        let part = whole.into_partition(2, &Roots::live()).unwrap();
        assert!(
            part.size().0 > 30 << 20 && part.node().display().to_string().ends_with("p2"),
            "{part:?}"
        );
        let (part, _) = preparation
            .mkfs(part, &MkfsRequest::new(FsType::Ext4))
            .unwrap();
        let lost: Vec<_> = what_would_be_lost(&device.node)
            .iter()
            .map(ToString::to_string)
            .collect();
        assert!(
            lost[0].ends_with("2 partitions") && lost[1].starts_with("partition 2: ext4"),
            "{lost:?}"
        );
        // While one partition is claimed, the whole disk cannot be claimed.
        let whole = check(
            &device.node,
            &Confirmation::Serial(device.id()),
            &Roots::live(),
        );
        assert!(matches!(whole, Err(Refusal::Busy { .. })), "{whole:?}");
        drop(part);
    }
}

#[test]
fn a_discard_frees_the_blocks_below() {
    use std::os::unix::fs::MetadataExt;
    let Some(device) = LoopDevice::new("a_discard_frees_the_blocks_below", 16, &[]) else {
        return;
    };
    let state = tempfile::tempdir().unwrap();
    let mut preparation = Preparation::begin(state.path(), Roots::live()).unwrap();
    let erasable = take(&device);
    preparation
        .fill(&erasable, FillPattern::Random { seed: 3 }, &mut go_on)
        .unwrap();
    let full = std::fs::metadata(device.file()).unwrap().blocks();
    preparation
        .discard(&erasable, DiscardKind::Plain, &mut go_on)
        .unwrap();
    assert!(std::fs::metadata(device.file()).unwrap().blocks() < full / 10);
    let secure = preparation
        .discard(&erasable, DiscardKind::Secure, &mut go_on)
        .unwrap_err()
        .to_string();
    assert!(
        secure.contains("does not support secure discard"),
        "{secure}"
    );
}

#[test]
fn a_real_device_is_verified_and_only_in_its_range() {
    let Some(device) = LoopDevice::new("a_real_device_is_verified", 16, &[]) else {
        return;
    };
    let mut open = crate::OpenDevice::open(&take(&device)).unwrap();
    let verdict = crate::verify::verify(&mut open, 5, &mut go_on).unwrap();
    assert!(verdict.is_good(), "{verdict:?}");
    assert!(
        verdict
            .write_speed
            .whole()
            .rate()
            .is_some_and(|rate| rate.0 > 0.0)
    );
    let before = std::fs::read(device.file()).unwrap();
    crate::verify::verify_range(&mut open, 4 << 20..8 << 20, 6, &mut go_on).unwrap();
    let after = std::fs::read(device.file()).unwrap();
    assert!(before[..4 << 20] == after[..4 << 20] && before[8 << 20..] == after[8 << 20..]);
    assert!(before[4 << 20..8 << 20] != after[4 << 20..8 << 20]);
}

#[test]
fn a_card_that_was_pulled_is_mounted_until_it_is_unmounted() {
    let tree = crate::testtree::tree("empty");
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path().canonicalize().unwrap();
    let line = format!(
        "36 35 179:0 / {} rw,relatime - vfat /dev/mmcblk0 rw\n",
        at.display()
    );
    tree.write("/proc/self/mountinfo", &line);
    // No node with that number exists anymore.
    use undo::is_mounted;
    assert!(is_mounted(&at, "179:0", &tree.roots));
    assert!(
        !is_mounted(&at, "179:8", &tree.roots),
        "what else is mounted there is left alone"
    );
    assert!(!is_mounted(&at.join("below"), "179:0", &tree.roots));
}
