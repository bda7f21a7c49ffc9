//! Tests of writing, locking and reading journals.

use super::*;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

#[test]
fn what_is_written_is_read_back_and_a_torn_line_is_dropped() {
    let folder = tempfile::tempdir().unwrap();
    let mut journal = PrepareJournal::create(folder.path(), "boot-1").unwrap();
    let path = journal.path().to_owned();
    let seq = journal
        .begin(PrepareStep::DropCaches, Undo::Nothing)
        .unwrap();
    journal.write(&JournalLine::Done { seq }).unwrap();
    assert!(matches!(read(&path), Err(JournalError::Locked { .. })));
    drop(journal);
    let text = std::fs::read_to_string(&path).unwrap();
    std::fs::write(&path, format!("{text}{{\"undone\":{{\"se")).unwrap();
    let (_file, lines) = read(&path).unwrap();
    assert_eq!(
        lines[1..],
        [
            JournalLine::Begin {
                seq,
                what: PrepareStep::DropCaches,
                undo: Undo::Nothing
            },
            JournalLine::Done { seq }
        ]
    );
    assert_eq!(pending(folder.path()), [path]);
}

/// A recovery treats a journal that is not locked yet as a leftover of a program that started no step.
#[test]
fn a_new_journal_that_a_recovery_removed_is_made_again() {
    let folder = tempfile::tempdir().unwrap();
    for round in 0..50 {
        let path = folder.path().join(format!("prepare-1-{round}.jsonl"));
        race_with_a_recovery(folder.path(), &path);
    }
}

fn race_with_a_recovery(folder: &Path, path: &Path) {
    let begun = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            // The recovery holds the lock while it removes the file.
            let found = loop {
                if let Ok(file) = File::open(path)
                    && rustix::fs::flock(&file, FlockOperation::NonBlockingLockExclusive).is_ok()
                {
                    break file;
                }
                if begun.load(Relaxed) {
                    return;
                }
            };
            std::fs::remove_file(path).unwrap();
            drop(found);
        });
        let locked = PrepareJournal::lock_new(folder, path).unwrap();
        begun.store(true, Relaxed);
        assert_eq!(locked.is_some(), path.exists());
    });
}

#[test]
fn an_empty_journal_began_nothing_and_a_foreign_one_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("prepare-1-1.jsonl");
    std::fs::write(&path, "").unwrap();
    assert_eq!(read(&path).unwrap().1, []);
    std::fs::write(
        &path,
        "{\"opened\":{\"format\":99,\"program\":\"hakaru 9\",\"pid\":1,\"boot\":\"b\"}}\n",
    )
    .unwrap();
    assert!(matches!(read(&path), Err(JournalError::Foreign { .. })));
    std::fs::write(&path, "dear diary\n").unwrap();
    assert!(matches!(read(&path), Err(JournalError::Foreign { .. })));
}

#[test]
fn lines_have_a_stable_form() {
    let device = DeviceTag {
        node: "/dev/mmcblk0".into(),
        id: Some("0x4a5b6c7d".into()),
        name: "SanDisk SE32G".into(),
    };
    let lines = [
        JournalLine::Begin {
            seq: 0,
            what: PrepareStep::Fill {
                device: device.clone(),
                pattern: FillPattern::Random { seed: 7 },
            },
            undo: Undo::Nothing,
        },
        JournalLine::Begin {
            seq: 1,
            what: PrepareStep::Mount {
                device,
                at: "/mnt/x".into(),
                fs_type: "ext4".into(),
                options: "noatime".into(),
            },
            undo: Undo::Unmount {
                at: "/mnt/x".into(),
                device: "179:0".into(),
            },
        },
        JournalLine::Undone { seq: 1 },
        JournalLine::Left,
    ];
    let text: Vec<_> = lines
        .iter()
        .map(|line| serde_json::to_string(line).unwrap())
        .collect();
    insta::assert_snapshot!(text.join("\n"), @r#"
    {"begin":{"seq":0,"what":{"step":"fill","device":{"node":"/dev/mmcblk0","id":"0x4a5b6c7d","name":"SanDisk SE32G"},"pattern":"random","seed":7},"undo":{"undo":"nothing"}}}
    {"begin":{"seq":1,"what":{"step":"mount","device":{"node":"/dev/mmcblk0","id":"0x4a5b6c7d","name":"SanDisk SE32G"},"at":"/mnt/x","fs_type":"ext4","options":"noatime"},"undo":{"undo":"unmount","at":"/mnt/x","device":"179:0"}}}
    {"undone":{"seq":1}}
    "left"
    "#);
    assert_eq!(parse(&text.join("\n")), lines);
}

/// Simulates a disk that was full for a moment.
#[test]
fn half_a_line_does_not_hide_those_after_it() {
    let folder = tempfile::tempdir().unwrap();
    let mut journal = PrepareJournal::create(folder.path(), "boot-1").unwrap();
    let path = journal.path().to_owned();
    let half = |mut file: &File| {
        file.write_all(b"{\"undone\":{\"se")
            .and(Err(io::ErrorKind::StorageFull.into()))
    };
    assert_eq!(
        append(&journal.file, half).unwrap_err().kind(),
        io::ErrorKind::StorageFull
    );
    journal.write(&JournalLine::Undone { seq: 8 }).unwrap();
    drop(journal);
    assert_eq!(
        read(&path).unwrap().1[1..],
        [JournalLine::Undone { seq: 8 }]
    );
}

#[test]
fn what_is_left_on_purpose_says_so() {
    let folder = tempfile::tempdir().unwrap();
    let mut journal = PrepareJournal::create(folder.path(), "boot-1").unwrap();
    let path = journal.path().to_owned();
    assert!(!is_left(&path) && !is_left(&folder.path().join("none")));
    journal.write(&JournalLine::Left).unwrap();
    assert!(is_left(&path));
}

proptest::proptest! {
    #[test]
    fn any_text_is_a_journal_or_an_error(text in "[ -~\\n]{0,200}") {
        let _ = parse(&text);
    }
}
