//! A directory that another process measures is not measured at the same time.

use hakaru_campaign::bench::{self, BenchError, BenchRequest, Watcher};
use hakaru_campaign::campaign::operator::{CandidateDisk, Operator, OperatorReply};
use hakaru_campaign::campaign::resolve::{ResolveContext, campaign};
use hakaru_campaign::campaign::runner::{CampaignOutcome, CampaignRun, run};
use hakaru_campaign::campaign::spec::Card;
use hakaru_campaign::suite::{SuiteLength, SuiteWorkload};
use hakaru_device::guard::{Candidate, Confirmation};
use hakaru_device::{MeasurementLock, Roots, lock_name};
use hakaru_engine::Observer;
use hakaru_model::job::IoEngine;
use hakaru_model::units::Bytes;
use hakaru_store::Store;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

/// Frees the lock, or stops the campaign, when it is told that the directory is in use.
#[derive(Default)]
struct LockingOperator<'a> {
    held: Option<MeasurementLock>,
    stops: Option<&'a AtomicBool>,
    notes: Vec<String>,
}

impl Observer for LockingOperator<'_> {}

impl Watcher for LockingOperator<'_> {}

impl Operator for LockingOperator<'_> {
    fn insert(&mut self, _wanted: &Card, _why: &str, _seen: &[CandidateDisk]) -> OperatorReply {
        OperatorReply::Skip
    }

    fn may_erase(&mut self, _card: &Card, _candidate: &Candidate) -> Option<Confirmation> {
        None
    }

    fn note(&mut self, text: &str) {
        self.notes.push(text.to_owned());
        match self.stops {
            Some(stop) => stop.store(true, Relaxed),
            None => self.held = None,
        }
    }
}

fn held(folder: &Path) -> MeasurementLock {
    MeasurementLock::acquire(&lock_name(folder, &Roots::live()).unwrap()).unwrap()
}

/// Carries out a campaign in a directory that is locked; returns the outcome, the stored runs and the notes.
fn campaign_in(folder: &Path, stops: bool) -> (CampaignOutcome, u64, Vec<String>) {
    let home = tempfile::tempdir().unwrap();
    let text = format!(
        "name = \"one\"\nrepeats = 1\n[[card]]\nlabel = \"a\"\nfolder = \"{0}\"\n[[card]]\nlabel = \"b\"\nfolder = \"{0}\"\n\
         [[workload]]\nname = \"write\"\nrw = \"write\"\nsize = \"1 MiB\"\nbs = \"64 KiB\"\n",
        folder.display()
    );
    let around = ResolveContext {
        read_file: &|_| Err("no files here".to_owned()),
        fio: &|_, _| Err("no fio here".to_owned()),
    };
    let campaign = campaign(&text, &around).unwrap();
    let (mut store, stop) = (
        Store::open(home.path().join("db")).unwrap(),
        AtomicBool::new(false),
    );
    let mut operator = LockingOperator {
        held: Some(held(folder)),
        stops: stops.then_some(&stop),
        notes: Vec::new(),
    };
    let ended = run(CampaignRun {
        campaign: &campaign,
        store: &mut store,
        state: &home.path().join("state"),
        stop: &stop,
        operator: &mut operator,
        assignment: None,
    })
    .unwrap();
    (ended.end, ended.stored, operator.notes)
}

#[test]
fn a_campaign_waits_for_a_directory_that_another_process_measures() {
    let folder = tempfile::tempdir().unwrap();
    let (end, stored, notes) = campaign_in(folder.path(), false);
    assert_eq!((end, stored), (CampaignOutcome::Complete, 2), "{notes:?}");
    let own = format!("is being measured by process {}", std::process::id());
    assert_eq!(
        notes.iter().filter(|note| note.contains(&own)).count(),
        1,
        "{notes:?}"
    );
}

#[test]
fn a_stop_ends_the_wait_and_nothing_is_measured() {
    let folder = tempfile::tempdir().unwrap();
    let (end, stored, _) = campaign_in(folder.path(), true);
    assert_eq!((end, stored), (CampaignOutcome::Stopped, 0));
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
}

#[test]
fn bench_refuses_a_directory_that_another_process_measures() {
    let folder = tempfile::tempdir().unwrap();
    let request = BenchRequest {
        path: folder.path().to_owned(),
        pace: Some(SuiteLength::Quick),
        repeats: Some(1),
        size: Some(Bytes(16 << 20)),
        only: vec![SuiteWorkload::SeqWrite],
        deep: false,
        seed: 1,
        ioengine: IoEngine::Psync,
        erase: false,
        trace: false,
    };
    let (plan, stop) = (bench::decide(&request).unwrap(), AtomicBool::new(false));
    let lock = held(folder.path());
    let refused = bench::run(&plan, None, None, &stop, &mut LockingOperator::default());
    let Err(BenchError::InUse { holder, .. }) = refused else {
        panic!("{refused:?}");
    };
    assert_eq!(holder.pid, Some(std::process::id()));
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    drop(lock);
    bench::run(&plan, None, None, &stop, &mut LockingOperator::default()).unwrap();
}
