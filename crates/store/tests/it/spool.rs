//! Partial results survive the death of the measuring process.

use crate::support;
use hakaru_model::caveat::Caveat;
use hakaru_model::job::Op;
use hakaru_model::record::{Interval, Outcome, RunRecord, StopReason};
use hakaru_model::units::Nanos;
use hakaru_store::{LeftError, OrphanedRun, Spool, Store, WorkerHeader, left};
use std::io::Write;
use std::path::PathBuf;

struct Place {
    _folder: tempfile::TempDir,
    database: PathBuf,
    store: Store,
}

fn place() -> Place {
    let folder = tempfile::tempdir().unwrap();
    let database = folder.path().join("h.db");
    let store = Store::open(&database).unwrap();
    Place {
        _folder: folder,
        database,
        store,
    }
}

/// A record before the first measurement.
fn begun() -> RunRecord {
    let whole = support::record(1);
    RunRecord {
        phases: Vec::new(),
        caveats: Vec::new(),
        outcome: Outcome::Interrupted,
        ..whole
    }
}

fn interval(second: u64) -> Interval {
    let mut interval = Interval {
        at: Nanos::from_secs(second),
        length: Nanos::from_secs(1),
        ..Interval::default()
    };
    let write = &mut interval.ops[Op::Write];
    (write.ios, write.bytes, write.clat_sum) = (100, 409_600, Nanos::from_millis(900));
    interval
}

/// Simulates a killed process: nobody removes the spool.
fn killed(spool: Spool) {
    spool.settle();
    drop(spool);
}

/// One complete phase and two seconds of the next.
fn one_and_a_half(store: &Store) -> Spool {
    let spool = store.spool(&begun()).unwrap();
    let seat = WorkerHeader {
        name: "randwrite".into(),
        job: 0,
        clone: 0,
    };
    spool.phase_begins("seq-write", 7, vec![seat.clone()]);
    spool.so_far(vec![(0, interval(1))]);
    spool.phase_ends(&support::record(1).phases[0]);
    spool.phase_begins("rand-write", 9, vec![seat]);
    spool.so_far(vec![(0, interval(1))]);
    // An unknown worker number does not invalidate the rest.
    spool.so_far(vec![(0, interval(2)), (5, interval(2))]);
    spool
}

#[test]
fn a_run_that_was_killed_is_kept_as_far_as_it_came() {
    let Place {
        _folder,
        database,
        mut store,
    } = place();
    killed(one_and_a_half(&store));
    let spools = left(&database);
    assert_eq!(spools.len(), 1);
    assert!(
        matches!(store.look_into(&spools[0]).unwrap(), OrphanedRun::Run(_)),
        "looking changes nothing"
    );
    let OrphanedRun::Run(record) = store.keep_cut_short(&spools[0]).unwrap() else {
        panic!("it measured something")
    };
    assert_eq!(store.run(&begun().id).unwrap(), *record);
    assert_eq!(
        (record.outcome.clone(), record.phases.len()),
        (Outcome::Interrupted, 2)
    );
    assert_eq!(record.phases[0], support::record(1).phases[0]);
    let cut = Caveat::CutShort {
        whole: 1,
        of: begun().scenario.phases.len() as u32,
    };
    assert!(record.caveats.contains(&cut), "{:?}", record.caveats);
    assert!(left(&database).is_empty());
}

#[test]
fn keeps_the_intervals_of_the_unfinished_phase() {
    let Place {
        _folder,
        database,
        mut store,
    } = place();
    killed(one_and_a_half(&store));
    let OrphanedRun::Run(record) = store.keep_cut_short(&left(&database)[0]).unwrap() else {
        panic!("it measured something")
    };
    let (half, worker) = (&record.phases[1], &record.phases[1].workers[0]);
    assert_eq!(
        (half.name.as_str(), half.started_unix_ms, half.elapsed),
        ("rand-write", 9, Nanos::from_secs(2))
    );
    assert_eq!(
        (worker.name.as_str(), worker.runtime, worker.stop),
        ("randwrite", half.elapsed, StopReason::Stopped)
    );
    let write = &worker.ops[Op::Write];
    assert_eq!(
        (write.ios, write.bytes, write.bw_samples.mean()),
        (200, 819_200, Some(409_600.0))
    );
    assert_eq!(
        (worker.intervals.len(), write.iops_samples.mean()),
        (2, Some(100_000.0))
    );
}

/// The path is computed at the end of a phase: a traced run that was killed has none for the unfinished one.
#[test]
fn a_traced_run_that_was_killed_says_that_its_path_is_lost() {
    let kept = |caveats: Vec<Caveat>| {
        let Place {
            _folder,
            database,
            mut store,
        } = place();
        let record = RunRecord { caveats, ..begun() };
        let spool = store.spool(&record).unwrap();
        let worker = WorkerHeader {
            name: "randwrite".into(),
            job: 0,
            clone: 0,
        };
        spool.phase_begins("seq-write", 7, vec![worker.clone()]);
        spool.phase_ends(&support::record(1).phases[0]);
        spool.phase_begins("rand-write", 9, vec![worker]);
        spool.so_far(vec![(0, interval(1))]);
        killed(spool);
        match store.keep_cut_short(&left(&database)[0]).unwrap() {
            OrphanedRun::Run(record) => record.caveats,
            other => panic!("{other:?}"),
        }
    };
    let lost = |phase: &str| Caveat::PathLost {
        phase: phase.to_owned(),
    };
    let traced = kept(vec![Caveat::Traced]);
    assert!(traced.contains(&lost("rand-write")), "{traced:?}");
    assert!(!traced.contains(&lost("seq-write")), "{traced:?}");
    assert!(!kept(Vec::new()).contains(&lost("rand-write")));
}

/// Regression: a database that was locked too long lost the run or stored it as stopped.
#[test]
fn a_run_that_came_to_its_end_and_was_not_stored_is_kept_as_it_was() {
    let Place {
        _folder,
        database,
        mut store,
    } = place();
    let spool = one_and_a_half(&store);
    assert!(spool.ended(&support::record(1)));
    drop(spool);
    let spools = left(&database);
    assert_eq!(
        store.keep_cut_short(&spools[0]).unwrap(),
        OrphanedRun::Run(Box::new(support::record(1)))
    );
    assert_eq!(store.run(&begun().id).unwrap(), support::record(1));
    // The record of another run must not be used.
    let spool = one_and_a_half(&store);
    assert!(spool.ended(&support::record(2)));
    drop(spool);
    assert_eq!(
        store.keep_cut_short(&left(&database)[0]).unwrap(),
        OrphanedRun::Stored { id: begun().id }
    );
    assert_eq!(store.count().unwrap(), 1);
}

#[test]
fn a_line_that_was_not_written_whole_ends_it() {
    let Place {
        _folder,
        database,
        mut store,
    } = place();
    killed(one_and_a_half(&store));
    let spool = left(&database).remove(0);
    let mut file = std::fs::File::options().append(true).open(&spool).unwrap();
    // As after a power loss: half a line and a block of zeros.
    file.write_all(b"{\"so_far\":[[0,{\"at\":3000").unwrap();
    file.write_all(&[0; 512]).unwrap();
    drop(file);
    let OrphanedRun::Run(record) = store.keep_cut_short(&spool).unwrap() else {
        panic!("it measured something")
    };
    assert_eq!(record.phases[1].elapsed, Nanos::from_secs(2));
}

#[test]
fn a_run_that_goes_on_is_left_alone() {
    let Place {
        _folder,
        database,
        mut store,
    } = place();
    let spool = one_and_a_half(&store);
    assert_eq!(
        store.keep_cut_short(&left(&database)[0]).unwrap(),
        OrphanedRun::Running
    );
    // A completed run leaves no spool.
    spool.remove();
    assert!(left(&database).is_empty() && store.count().unwrap() == 0);
}

#[test]
fn what_is_stored_already_or_measured_nothing_is_removed() {
    let Place {
        _folder,
        database,
        mut store,
    } = place();
    killed(one_and_a_half(&store));
    store.append(&support::record(1)).unwrap();
    let spool = left(&database).remove(0);
    assert_eq!(
        store.keep_cut_short(&spool).unwrap(),
        OrphanedRun::Stored { id: begun().id }
    );
    assert_eq!(store.run(&begun().id).unwrap(), support::record(1));
    killed(
        store
            .spool(&RunRecord {
                id: support::id(2),
                ..begun()
            })
            .unwrap(),
    );
    std::fs::write(store.spool_folder().join("half.new"), "{\"format\":").unwrap();
    for spool in left(&database) {
        assert!(matches!(
            store.keep_cut_short(&spool).unwrap(),
            OrphanedRun::Nothing { .. }
        ));
    }
    assert!(left(&database).is_empty() && store.count().unwrap() == 1);
}

/// Regression: the first line of a spool could be imported as a run without phases, and the spool with its results was
/// then removed as stored.
#[test]
fn results_that_are_not_stored_are_not_removed() {
    let Place {
        _folder,
        database,
        mut store,
    } = place();
    killed(one_and_a_half(&store));
    store.append(&begun()).unwrap();
    let spool = left(&database).remove(0);
    let refused = store.keep_cut_short(&spool).unwrap_err();
    assert!(matches!(refused, LeftError::StoredWithoutResults { .. }));
    assert!(refused.to_string().contains("hakaru recover --db NEW.db"));
    assert!(spool.exists());
}

#[test]
fn rubbish_is_named_and_stays() {
    let Place {
        _folder,
        database,
        mut store,
    } = place();
    std::fs::create_dir(store.spool_folder()).unwrap();
    std::fs::write(store.spool_folder().join("x.jsonl"), "no record\n").unwrap();
    let error = store
        .keep_cut_short(&left(&database)[0])
        .unwrap_err()
        .to_string();
    assert!(
        error.contains("x.jsonl contains no readable run"),
        "{error}"
    );
    assert_eq!(left(&database).len(), 1);
    assert!(left(&database.with_file_name("other.db")).is_empty());
}

/// Pipes, links and directories beside the database are not spools: a pipe would wait for ever, and a link leads to a
/// file of somebody else.
#[test]
fn only_regular_files_are_spools() {
    use rustix::fs::{CWD, FileType, Mode, mknodat};
    let (dir, mut store) = support::empty();
    let folder = store.spool_folder();
    std::fs::create_dir(&folder).unwrap();
    let (pipe, link, other) = (
        folder.join("a.jsonl"),
        folder.join("b.jsonl"),
        dir.path().join("notes"),
    );
    mknodat(CWD, &pipe, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
    std::fs::write(&other, "notes").unwrap();
    std::os::unix::fs::symlink(&other, &link).unwrap();
    std::fs::create_dir(folder.join("c.jsonl")).unwrap();
    assert!(left(store.path()).is_empty());
    for path in [&pipe, &link, &folder.join("c.jsonl")] {
        store.look_into(path).unwrap_err();
        store.keep_cut_short(path).unwrap_err();
    }

    // A new spool overwrites nothing through a link, and does not wait for a reader.
    let (one, two) = (support::record(1), support::record(2));
    let unborn = |of: &RunRecord| folder.join(format!("{}.new", of.id));
    std::os::unix::fs::symlink(&other, unborn(&one)).unwrap();
    mknodat(
        CWD,
        unborn(&two),
        FileType::Fifo,
        Mode::RUSR | Mode::WUSR,
        0,
    )
    .unwrap();
    assert!(store.spool(&one).is_err());
    assert!(store.spool(&two).is_err());
    assert_eq!(std::fs::read_to_string(&other).unwrap(), "notes");
}
