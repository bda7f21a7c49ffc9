//! Campaigns and benchmarks on loop devices: cards that are replaced while in use, and the order of writes. They need
//! root; tests that cannot run here print that they were skipped.

use hakaru_campaign::bench::{self, BenchError, BenchRequest, Watcher};
use hakaru_campaign::campaign::operator::{
    CampaignStatus, CandidateDisk, Operator, OperatorReply, PreparingStep,
};
use hakaru_campaign::campaign::resolve::{ResolveContext, campaign};
use hakaru_campaign::campaign::runner::{CampaignOutcome, CampaignResult, CampaignRun, run};
use hakaru_campaign::campaign::spec::Card;
use hakaru_campaign::suite::{SuiteLength, SuiteWorkload};
use hakaru_device::Roots;
use hakaru_device::guard::{self, Candidate, Confirmation};
use hakaru_engine::Observer;
use hakaru_model::job::{Access, IoEngine, Job, Op, Phase, Scenario, Target};
use hakaru_model::record::{Outcome, RunRecord};
use hakaru_model::units::Bytes;
use hakaru_store::Store;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::AtomicBool;

/// A loop device over a sparse file, with a directory for other files.
struct Disk {
    home: tempfile::TempDir,
    node: PathBuf,
}

impl Disk {
    fn new(mebibytes: u64) -> Option<Disk> {
        let home = tempfile::tempdir().unwrap();
        File::create(home.path().join("disk.img"))
            .unwrap()
            .set_len(mebibytes << 20)
            .unwrap();
        let made = Command::new("losetup")
            .args(["--find", "--show"])
            .arg(home.path().join("disk.img"))
            .output();
        match made {
            Ok(out) if out.status.success() => Some(Disk {
                node: String::from_utf8(out.stdout).unwrap().trim().into(),
                home,
            }),
            other => {
                eprintln!("SKIPPED: loop devices cannot be made here ({other:?})");
                None
            }
        }
    }

    fn image(&self) -> PathBuf {
        self.home.path().join("disk.img")
    }

    fn id(&self) -> String {
        self.image().canonicalize().unwrap().display().to_string()
    }

    fn store(&self) -> Store {
        Store::open(self.home.path().join("db")).unwrap()
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        let _ = Command::new("losetup")
            .arg("--detach")
            .arg(&self.node)
            .status();
    }
}

/// Simulates another medium: the size of the device changes.
fn exchange(image: &Path, node: &Path) {
    let file = File::options().write(true).open(image).unwrap();
    file.set_len(file.metadata().unwrap().len() + (1 << 20))
        .unwrap();
    assert!(
        Command::new("losetup")
            .arg("--set-capacity")
            .arg(node)
            .status()
            .unwrap()
            .success()
    );
}

/// An operator that allows everything, and replaces the card at the start of runs.
struct Allowing {
    id: String,
    image: PathBuf,
    node: PathBuf,
    /// Number of next runs before which the card is replaced.
    exchanges: u32,
    notes: Vec<String>,
}

impl Observer for Allowing {}

impl Operator for Allowing {
    fn insert(&mut self, _wanted: &Card, _why: &str, _seen: &[CandidateDisk]) -> OperatorReply {
        OperatorReply::Skip
    }

    fn may_erase(&mut self, _card: &Card, _candidate: &Candidate) -> Option<Confirmation> {
        Some(Confirmation::Serial(self.id.clone()))
    }

    fn begins(&mut self, _progressed: &CampaignStatus) {
        if self.exchanges > 0 {
            self.exchanges -= 1;
            exchange(&self.image, &self.node);
        }
    }

    fn note(&mut self, text: &str) {
        self.notes.push(text.to_owned());
    }
}

/// Returns the entry of a card.
fn card(label: &str, disk: &Disk) -> String {
    let node = disk.node.display();
    format!("[[card]]\nlabel = \"{label}\"\ndevice = \"{node}\"\n")
}

/// Carries out a campaign whose store and state are beside the disk.
fn carry_out(disk: &Disk, text: &str, operator: &mut dyn Operator) -> CampaignResult {
    let around = ResolveContext {
        read_file: &|path| Err(format!("{} is not there", path.display())),
        fio: &|_, _| Ok(filler()),
    };
    let ended = run(CampaignRun {
        campaign: &campaign(text, &around).unwrap(),
        store: &mut disk.store(),
        state: &disk.home.path().join("state"),
        stop: &AtomicBool::new(false),
        operator,
        assignment: None,
    });
    ended.unwrap()
}

/// Carries out a campaign on the disk, with these additional tables.
fn measure(disk: &Disk, exchanges: u32, tables: &str) -> (CampaignResult, Vec<String>) {
    let mut operator = Allowing {
        id: disk.id(),
        image: disk.image(),
        node: disk.node.clone(),
        exchanges,
        notes: Vec::new(),
    };
    let text = format!("name = \"x\"\n{tables}\n{}", card("loop", disk));
    let ended = carry_out(disk, &text, &mut operator);
    (ended, operator.notes)
}

/// A scenario that a fio job file can request: reads a completely filled file system.
fn filler() -> Scenario {
    let access = Access::only(Op::Read, false);
    let mut job =
        Job::new("filler", Target::Paths(vec!["all".into()]), access).with_block(Bytes(1 << 20));
    job.files.fill_device = true;
    Scenario {
        name: "filler".into(),
        seed: 1,
        phases: vec![Phase {
            name: "filler".into(),
            jobs: vec![job],
        }],
    }
}

/// Returns the stored runs that completed.
fn completed(disk: &Disk) -> Vec<RunRecord> {
    let store = disk.store();
    let all = store
        .points("x")
        .unwrap()
        .into_iter()
        .map(|row| store.run(&row.run).unwrap());
    all.filter(|record| record.outcome == Outcome::Completed)
        .collect()
}

const WRITE: &str =
    "[[workload]]\nname = \"write\"\nrw = \"write\"\nbs = \"1 MiB\"\nsize = \"8 MiB\"\n";

fn kernel_has(fs: &str) -> bool {
    let listed = std::fs::read_to_string("/proc/filesystems").unwrap_or_default();
    let found = listed.split_whitespace().any(|word| word == fs);
    if !found {
        eprintln!("SKIPPED: the kernel of this host has no {fs}");
    }
    found
}

#[test]
fn another_card_in_its_place_is_not_written_to() {
    let Some(disk) = Disk::new(32) else { return };
    let before = std::fs::read(disk.image()).unwrap();
    // The card is replaced each time, until it is skipped.
    let (ended, notes) = measure(&disk, 99, &format!("repeats = 2\n{WRITE}"));
    assert_eq!(
        (ended.end, ended.stored),
        (CampaignOutcome::Incomplete, 0),
        "{notes:?}"
    );
    let given_up = "stopped: it was disconnected 3 times with no run stored in between";
    assert_eq!(ended.skipped, [("loop".to_owned(), given_up.to_owned())]);
    assert!(
        notes
            .iter()
            .any(|note| note.contains("size 33 MiB, was 32 MiB")),
        "{notes:?}"
    );
    let after = std::fs::read(disk.image()).unwrap();
    assert!(
        after[..before.len()] == before[..],
        "the card that took its place was written to"
    );
}

#[test]
fn a_card_that_comes_back_twice_is_measured() {
    let Some(disk) = Disk::new(32) else { return };
    let (ended, notes) = measure(&disk, 2, &format!("repeats = 2\n{WRITE}"));
    assert_eq!(
        (ended.end, ended.stored),
        (CampaignOutcome::Complete, 2),
        "{notes:?}"
    );
    assert_eq!(
        notes
            .iter()
            .filter(|note| note.contains("no longer present"))
            .count(),
        2,
        "{notes:?}"
    );
}

/// An operator that records the order of requests and runs.
struct Noting(Vec<String>);

impl Observer for Noting {}

impl Operator for Noting {
    fn insert(&mut self, _wanted: &Card, _why: &str, _seen: &[CandidateDisk]) -> OperatorReply {
        OperatorReply::Skip
    }

    fn may_erase(&mut self, card: &Card, candidate: &Candidate) -> Option<Confirmation> {
        self.0.push(format!("asked for {}", card.label));
        candidate
            .ids()
            .first()
            .map(|id| Confirmation::Serial(id.clone()))
    }

    fn begins(&mut self, progressed: &CampaignStatus) {
        self.0.push(format!("measured {}", progressed.names[0]));
    }
}

/// Regression: after the first card, permission to erase the second one was requested hours later.
#[test]
fn permission_to_erase_is_asked_for_before_the_first_run() {
    let (Some(one), Some(two)) = (Disk::new(16), Disk::new(16)) else {
        return;
    };
    let cards = card("one", &one) + &card("two", &two);
    let text = format!("name = \"x\"\nrepeats = 2\n{WRITE}{cards}");
    let mut operator = Noting(Vec::new());
    let ended = carry_out(&one, &text, &mut operator);
    assert_eq!(ended.end, CampaignOutcome::Complete);
    let expected = [
        "asked for one",
        "asked for two",
        "measured one",
        "measured one",
        "measured two",
        "measured two",
    ];
    assert_eq!(operator.0, expected);
    let left: Vec<_> = std::fs::read_dir(one.home.path().join("state"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name())
        .collect();
    assert!(left.is_empty(), "{left:?}");
}

/// Regression: the card was filled, which takes hours, before the check whether its file system can be created.
#[test]
fn nothing_is_lost_for_a_file_system_that_cannot_be_made() {
    let Some(disk) = Disk::new(32) else { return };
    let before = std::fs::read(disk.image()).unwrap();
    let layer = "[[layer]]\nfs = \"ext4\"\nmkfs = [\"-J\", \"device=LABEL=theirs\"]\n";
    let (ended, _) = measure(
        &disk,
        0,
        &format!("repeats = 1\n[preparation]\nfill = \"ones\"\n{layer}{WRITE}"),
    );
    assert!(
        ended.stored == 0 && ended.failures[0].1.contains("selects a device by LABEL"),
        "{ended:?}"
    );
    assert!(std::fs::read(disk.image()).unwrap() == before);
}

#[test]
fn the_speed_of_a_fill_is_kept_though_the_first_run_fails() {
    let Some(disk) = Disk::new(32) else { return };
    let odd = "[[workload]]\nname = \"odd\"\nrw = \"write\"\nbs = 100\nsize = \"1 MiB\"\n";
    let (ended, _) = measure(
        &disk,
        0,
        &format!("repeats = 2\n[preparation]\nfill = \"ones\"\n{odd}{WRITE}"),
    );
    assert_eq!((ended.stored, ended.failures.len()), (2, 2), "{ended:?}");
    let speeds: Vec<bool> = completed(&disk)
        .iter()
        .map(|run| !run.campaign.as_ref().unwrap().prepared[0].speed.is_empty())
        .collect();
    assert_eq!(
        speeds,
        [true, false],
        "once, with the first run that is stored"
    );
}

#[test]
fn a_fill_counts_as_written_and_is_not_begun_where_it_is_too_much() {
    let Some(disk) = Disk::new(32) else { return };
    let tables = |limit: u32| {
        format!(
            "repeats = 9\n[preparation]\nfill = \"ones\"\n[limits]\nwritten = \"{limit} MiB\"\n{WRITE}"
        )
    };
    let (ended, _) = measure(&disk, 0, &tables(31));
    assert!(
        ended.stored == 0 && ended.skipped[0].1.contains("filling it would exceed"),
        "{ended:?}"
    );
    assert!(
        std::fs::read(disk.image())
            .unwrap()
            .iter()
            .all(|byte| *byte == 0)
    );
    // 32 MiB of the fill, and 8 MiB for each run.
    let (ended, _) = measure(&disk, 0, &tables(48));
    assert!(
        ended.stored == 2 && ended.skipped[0].1.contains("the write limit is reached"),
        "{ended:?}"
    );
    let (again, _) = measure(&disk, 0, &tables(48));
    assert!(again.stored == 0 && again.done == 2, "{again:?}");
}

/// Regression: they were not counted, although they are most of the written bytes if only reads are measured.
#[test]
fn laid_out_files_and_a_level_count_as_written() {
    let Some(disk) = Disk::new(64) else { return };
    if !kernel_has("ext4") {
        return;
    }
    let read = "[[workload]]\nname = \"read\"\nrw = \"read\"\nbs = \"1 MiB\"\nsize = \"8 MiB\"\n";
    let tables = |level: &str, limit: u32| {
        let preparation = format!("[preparation]\nfresh = true\n{level}");
        format!(
            "repeats = 9\n{preparation}[limits]\nwritten = \"{limit} MiB\"\n[[layer]]\nfs = \"ext4\"\n{read}"
        )
    };
    let (ended, notes) = measure(&disk, 0, &tables("", 20));
    // 8 MiB for each run: after three runs, no fourth file is laid out.
    assert!(
        ended.stored == 3 && ended.skipped[0].1.contains("the write limit is reached"),
        "{ended:?} {notes:?}"
    );
    let laid_out: Vec<u64> = completed(&disk)
        .iter()
        .map(|run| run.campaign.as_ref().unwrap().laid_out.0)
        .collect();
    assert_eq!(laid_out, [8 << 20; 3]);
    let (again, _) = measure(&disk, 0, &tables("", 20));
    assert!(again.stored == 0 && again.done == 3, "{again:?}");
    a_level_counts_as_written(&disk, &tables("fill-level = \"50 %\"\n", 60));
}

/// Fills to at most half of 64 MiB, including existing files: one more run, and no second fill level.
fn a_level_counts_as_written(disk: &Disk, tables: &str) {
    let (ended, notes) = measure(disk, 0, tables);
    assert!(
        ended.stored == 1 && ended.skipped[0].1.contains("filling it would exceed"),
        "{ended:?} {notes:?}"
    );
    let level = completed(disk)
        .iter()
        .flat_map(|run| run.campaign.clone().unwrap().prepared)
        .map(|p| p.written.0)
        .sum::<u64>();
    assert!((16 << 20..=32 << 20).contains(&level), "{level}");
    let (again, _) = measure(disk, 0, tables);
    assert!(again.stored == 0, "{again:?}");
}

/// Regression: the plan does not know the size of its file, so it counted as zero.
#[test]
fn what_fills_a_file_system_to_read_it_counts_as_written() {
    let Some(disk) = Disk::new(64) else { return };
    if !kernel_has("ext4") {
        return;
    }
    let tables = |limit: u32| {
        let all = "[[workload]]\nname = \"all\"\nfio-text = \"[filler]\"\n";
        format!("repeats = 2\n[limits]\nwritten = \"{limit} MiB\"\n[[layer]]\nfs = \"ext4\"\n{all}")
    };
    let (ended, notes) = measure(&disk, 0, &tables(20));
    assert!(
        ended.stored == 0 && ended.skipped[0].1.contains("filling it would exceed"),
        "{ended:?} {notes:?}"
    );
    let (ended, notes) = measure(&disk, 0, &tables(70));
    assert_eq!(ended.stored, 2, "{ended:?} {notes:?}");
    let laid_out: Vec<u64> = completed(&disk)
        .iter()
        .map(|run| run.campaign.as_ref().unwrap().laid_out.0)
        .collect();
    assert!((32 << 20..=64 << 20).contains(&laid_out[0]), "{laid_out:?}");
    assert_eq!(laid_out[1], 0, "it is there already");
}

/// Regression: each workload leaves its own file, but the free space was measured only once.
#[test]
fn files_of_other_workloads_make_room() {
    let Some(disk) = Disk::new(32) else { return };
    if !kernel_has("ext4") {
        return;
    }
    let file = |name: &str| {
        format!(
            "[[workload]]\nname = \"{name}\"\nrw = \"write\"\nbs = \"1 MiB\"\nsize = \"1 GiB\"\n"
        )
    };
    let layer = "[[layer]]\nfs = \"ext4\"\n";
    let tables = format!(
        "repeats = 2\norder = \"interleaved\"\n{layer}{}{}",
        file("one"),
        file("other")
    );
    let (ended, notes) = measure(&disk, 0, &tables);
    assert_eq!(
        (ended.end, ended.stored),
        (CampaignOutcome::Complete, 4),
        "{notes:?} {ended:?}"
    );
    assert!(
        completed(&disk)
            .iter()
            .all(|run| run.phases[0].workers[0].ops.write.bytes > 16 << 20)
    );
}

/// Replaces the card after a round is stored.
struct Exchanging(PathBuf, PathBuf);

impl Observer for Exchanging {}

impl Watcher for Exchanging {
    fn stored(&mut self, _record: &RunRecord) {
        exchange(&self.0, &self.1);
    }
}

/// Regression: the error that prevented the second round was dropped, and `bench` reported success.
#[test]
fn a_bench_does_not_write_to_the_card_that_took_the_place_and_says_why() {
    let Some(disk) = Disk::new(32) else { return };
    let request = BenchRequest {
        deep: false,
        path: disk.node.clone(),
        pace: Some(SuiteLength::Quick),
        repeats: Some(3),
        size: Some(Bytes(16 << 20)),
        only: vec![SuiteWorkload::SeqWrite],
        seed: 1,
        ioengine: IoEngine::Psync,
        erase: true,
        trace: false,
    };
    let decided = bench::decide(&request).unwrap();
    let erasable =
        guard::check(&disk.node, &Confirmation::Serial(disk.id()), &Roots::live()).unwrap();
    let mut watcher = Exchanging(disk.image(), disk.node.clone());
    let stop = AtomicBool::new(false);
    let measured = bench::run(&decided, Some(&erasable), None, &stop, &mut watcher).unwrap();
    assert_eq!(measured.records.len(), 1);
    let Some(BenchError::Changed(refusal)) = measured.error else {
        panic!("{:?} is no reason for the missing rounds", measured.error)
    };
    assert!(refusal.to_string().contains("size 33 MiB"), "{refusal}");
}

/// Allows all requests, and counts the file systems that are created.
#[derive(Default)]
struct Counting {
    ids: Vec<String>,
    made: u32,
    cards: Vec<usize>,
    notes: Vec<String>,
}

impl Observer for Counting {}

impl Operator for Counting {
    fn insert(&mut self, _wanted: &Card, _why: &str, _seen: &[CandidateDisk]) -> OperatorReply {
        OperatorReply::Skip
    }

    fn may_erase(&mut self, _card: &Card, candidate: &Candidate) -> Option<Confirmation> {
        self.ids
            .iter()
            .find(|id| candidate.ids().contains(id))
            .cloned()
            .map(Confirmation::Serial)
    }

    fn preparing(&mut self, step: PreparingStep, _progress: Option<hakaru_device::ScanProgress>) {
        self.made += u32::from(step == PreparingStep::MakeFileSystem("ext4"));
    }

    fn begins(&mut self, progressed: &CampaignStatus) {
        self.cards.push(progressed.point.card);
    }

    fn note(&mut self, text: &str) {
        self.notes.push(text.to_owned());
    }
}

#[test]
fn two_disks_stay_mounted_while_they_take_turns() {
    let (Some(one), Some(other)) = (Disk::new(64), Disk::new(64)) else {
        return;
    };
    if !kernel_has("ext4") {
        return;
    }
    let cards = card("a", &one) + &card("b", &other);
    let text = format!(
        "name = \"x\"\nrepeats = 2\ncard-order = \"abba\"\n{cards}[[layer]]\nfs = \"raw\"\n[[layer]]\nfs = \"ext4\"\n{WRITE}"
    );
    let mut operator = Counting {
        ids: vec![one.id(), other.id()],
        ..Counting::default()
    };
    let ended = carry_out(&one, &text, &mut operator);
    assert_eq!(
        (ended.end, &operator.notes),
        (CampaignOutcome::Complete, &Vec::new())
    );
    assert_eq!(
        (operator.cards, operator.made),
        (vec![0, 1, 1, 0, 0, 1, 1, 0], 2)
    );
    let mounts = std::fs::read_to_string("/proc/self/mounts").unwrap();
    assert!(
        !mounts.contains(&one.home.path().display().to_string()),
        "{mounts}"
    );
    assert_eq!(one.store().points("x").unwrap().len(), 8);
}
