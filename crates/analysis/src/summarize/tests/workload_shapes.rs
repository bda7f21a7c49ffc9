//! Tests of workloads in numbers and in words: extent, direct I/O, syncs, batches.

use super::*;
use hakaru_model::device_model::DeviceModel;
use hakaru_model::facts::Filesystem;
use hakaru_model::finding::JobDescription;
use hakaru_model::job::{Access, IoEngine, Job, Target};
use hakaru_model::reported::{JobProperty, Reported, UnstatedJob};

/// Returns the phases of a run that reads and writes with a changed job.
fn mixed(change: impl FnOnce(&mut Job)) -> Vec<PhaseSummary> {
    let mut run = write_run(0, 30e6, 4);
    let worker = &mut run.phases[0].workers[0];
    worker.ops.read = worker.ops.write.clone();
    let job = &mut run.scenario.phases[0].jobs[0];
    job.access = Access::mixed(70, true);
    change(job);
    summarize(&[run]).phases
}

/// Returns the description of the operation in a run that reads and writes, and the phase.
fn described(op: Op, change: impl FnOnce(&mut Job)) -> (JobDescription, PhaseSummary) {
    let mut phases = mixed(change).into_iter();
    let phase = phases.find(|phase| phase.op == op).unwrap();
    let [job] = &phase.detail.jobs[..] else {
        panic!("one job: {:?}", phase.detail.jobs)
    };
    (job.clone(), phase)
}

#[test]
fn syncs_of_a_mixed_job_belong_to_its_writes() {
    // fsync and fdatasync after so many writes, and the more frequent of both.
    let every = [
        (0, 0, 0, None),
        (1, 0, 1, Some("fsync after each")),
        (4, 0, 4, Some("fsync after 4")),
        (0, 3, 3, Some("fsync after 3")),
        (4, 3, 3, Some("fsync after 3")),
        (3, 4, 3, Some("fsync after 3")),
    ];
    let opened = [(false, false), (true, false), (false, true), (true, true)];
    for (fsync, fdatasync, sync_every, words) in every {
        for (sync, dsync) in opened {
            let change = |job: &mut Job| {
                job.durability.fsync_every = fsync;
                job.durability.fdatasync_every = fdatasync;
                (job.durability.sync, job.durability.dsync) = (sync, dsync);
            };
            let sync_open = sync || dsync;
            let (job, phase) = described(Op::Write, change);
            let shape = phase.detail.shape.unwrap();
            assert_eq!((job.sync_every, job.sync_open), (sync_every, sync_open));
            assert_eq!((shape.sync_every, shape.sync_open), (sync_every, sync_open));
            let text = phase.workload;
            match words {
                Some(words) => assert!(text.contains(words), "{text}"),
                None => assert!(!text.contains("fsync"), "{text}"),
            }
            assert_eq!(text.contains("O_SYNC"), sync_open, "{text}");
            let (job, phase) = described(Op::Read, change);
            assert_eq!((job.sync_every, job.sync_open), (0, false));
            assert!(!phase.workload.to_lowercase().contains("sync"));
        }
    }
}

#[test]
fn a_batch_is_described_if_it_is_more_than_one_completion() {
    for (least, depth, engine, batch) in [
        (0, 8, IoEngine::Libaio, None),
        (1, 8, IoEngine::Libaio, None),
        (2, 8, IoEngine::Libaio, Some(2)),
        (8, 8, IoEngine::Libaio, Some(8)),
        // No more can be in flight.
        (16, 8, IoEngine::Libaio, Some(8)),
        (4, 1, IoEngine::Libaio, None),
        (4, 8, IoEngine::Psync, None),
    ] {
        let (job, phase) = described(Op::Write, |job| {
            job.ioengine = engine;
            (job.queue.iodepth, job.queue.batch_complete_min) = (depth, least);
        });
        assert_eq!(job.batch, batch, "{least} of {depth}");
        let text = phase.workload;
        match batch {
            Some(n) => assert!(text.contains(&format!("waits for {n} completions at once"))),
            None => assert!(!text.contains("waits for"), "{text}"),
        }
    }
}

#[test]
fn clones_are_described_if_there_are_several() {
    for (numjobs, words) in [(1, None), (2, Some(", 2 jobs")), (16, Some(", 16 jobs"))] {
        let (job, phase) = described(Op::Read, |job| job.numjobs = numjobs);
        assert_eq!(job.numjobs, numjobs);
        let text = phase.workload;
        match words {
            Some(words) => assert!(text.contains(words), "{text}"),
            None => assert!(!text.contains("jobs"), "{text}"),
        }
    }
}

fn one_path() -> Target {
    Target::Paths(vec!["/dev/mmcblk0".into()])
}

fn formatted(nrfiles: u32) -> Target {
    Target::Formatted {
        directories: Vec::new(),
        format: "$jobname.$jobnum.$filenum".into(),
        nrfiles,
    }
}

/// Returns a simulated card of 64 GB that claims 128 GB.
fn simulated() -> Target {
    let mut model = DeviceModel::plain("card", Bytes(64_000_000_000));
    model.claimed_capacity = Some(Bytes(128_000_000_000));
    Target::Sim(Box::new(model))
}

/// Only files and devices are cached by the kernel.
#[test]
fn io_is_direct_if_it_cannot_be_cached() {
    let unstated = |properties: Vec<JobProperty>| Origin::Imported {
        program: "fio-3.39".into(),
        source: "a.txt".into(),
        reported: Box::new(Reported {
            unstated: vec![UnstatedJob {
                phase: 0,
                job: 0,
                properties,
            }],
            ..Reported::default()
        }),
    };
    for (target, never_cached) in [
        (one_path(), false),
        (formatted(2), false),
        (simulated(), true),
        (Target::Nothing, true),
    ] {
        let found = |direct: bool, origin: Option<Origin>| {
            let mut run = write_run(0, 30e6, 4);
            let job = &mut run.scenario.phases[0].jobs[0];
            (job.target, job.files.direct) = (target.clone(), direct);
            run.origin = origin.unwrap_or(run.origin);
            summarize(&[run]).phases[0].detail.shape.unwrap().direct
        };
        assert!(found(true, None), "{target:?}");
        assert_eq!(found(false, None), never_cached, "{target:?}");
        let stated = unstated(vec![JobProperty::Engine]);
        assert_eq!(found(false, Some(stated)), never_cached, "{target:?}");
        let not_stated = unstated(vec![JobProperty::Direct]);
        assert!(!found(false, Some(not_stated)), "{target:?}");
    }
}

fn ext4() -> Filesystem {
    Filesystem {
        fs_type: "ext4".into(),
        mount_point: "/mnt".into(),
        source: "/dev/mmcblk0p1".into(),
        options: String::new(),
        size: Bytes(31 << 30),
        free: Bytes(30 << 30),
    }
}

/// Settings of an extent, and the expected bytes.
struct Case {
    target: Target,
    size: Option<SizeSpec>,
    filesize: Option<u64>,
    numjobs: u32,
    on_files: bool,
    extent: Option<u64>,
}

/// Returns the extent of a job on the card of 32 GB, or on its file system.
fn extent_of(case: &Case) -> Option<u64> {
    let mut run = write_run(0, 30e6, 4);
    run.target.filesystem = case.on_files.then(ext4);
    let job = &mut run.scenario.phases[0].jobs[0];
    job.target = case.target.clone();
    (job.extent.size, job.extent.filesize) = (case.size, case.filesize.map(Bytes));
    job.numjobs = case.numjobs;
    let shape = summarize(&[run]).phases[0].detail.shape.unwrap();
    shape.extent.map(|extent| extent.0)
}

/// A job on the raw device, without a size.
fn on_device() -> Case {
    Case {
        target: one_path(),
        size: None,
        filesize: None,
        numjobs: 1,
        on_files: false,
        extent: None,
    }
}

fn sized(size: SizeSpec, extent: Option<u64>, case: Case) -> Case {
    Case {
        size: Some(size),
        extent,
        ..case
    }
}

fn whole(extent: u64, case: Case) -> Case {
    Case {
        extent: Some(extent),
        ..case
    }
}

const fn bytes(bytes: u64) -> SizeSpec {
    SizeSpec::Bytes(Bytes(bytes))
}

fn check_extents(cases: &[Case]) {
    for (nth, case) in cases.iter().enumerate() {
        assert_eq!(extent_of(case), case.extent, "case {nth}");
    }
}

#[test]
fn the_extent_is_the_accessed_part_of_a_device() {
    let sim = |case: Case| Case {
        target: simulated(),
        ..case
    };
    let two_devices = |case: Case| Case {
        target: Target::Paths(vec!["/dev/mmcblk0".into(), "/dev/sda".into()]),
        ..case
    };
    let percent = SizeSpec::Percent;
    check_extents(&[
        whole(32_000_000_000, on_device()),
        sized(percent(100), Some(32_000_000_000), on_device()),
        sized(percent(50), Some(16_000_000_000), on_device()),
        sized(percent(1), Some(320_000_000), on_device()),
        sized(bytes(4 << 30), Some(4 << 30), on_device()),
        // What a simulated card claims to be counts.
        whole(128_000_000_000, sim(on_device())),
        sized(percent(10), Some(12_800_000_000), sim(on_device())),
        // It has no files, so the size of a file does not apply.
        whole(128_000_000_000, {
            let filesize = Some(1 << 30);
            sim(Case {
                filesize,
                ..on_device()
            })
        }),
        // Nothing lies past the end.
        sized(bytes(64_000_000_000), Some(32_000_000_000), on_device()),
        sized(
            bytes(256_000_000_000),
            Some(128_000_000_000),
            sim(on_device()),
        ),
        // A record has the size of one of several devices.
        two_devices(on_device()),
        sized(percent(50), None, two_devices(on_device())),
        sized(bytes(4 << 30), Some(4 << 30), two_devices(on_device())),
        sized(bytes(5_000), None, {
            let target = Target::Nothing;
            Case {
                target,
                ..on_device()
            }
        }),
    ]);
}

#[test]
fn the_extent_is_what_all_clones_access_in_files() {
    let files = || Case {
        on_files: true,
        ..on_device()
    };
    let of_files = |target: Target, numjobs: u32, extent: u64| Case {
        target,
        filesize: Some(1 << 30),
        numjobs,
        extent: Some(extent),
        ..files()
    };
    let two_paths = Target::Paths(vec!["/mnt/a".into(), "/mnt/b".into()]);
    check_extents(&[
        // The size of a file is unknown unless the job states it.
        files(),
        sized(SizeSpec::Percent(50), None, files()),
        sized(bytes(4 << 30), Some(4 << 30), files()),
        of_files(one_path(), 1, 1 << 30),
        of_files(two_paths, 1, 2 << 30),
        // Clones have their own files only if the file names differ.
        of_files(one_path(), 4, 1 << 30),
        of_files(formatted(3), 1, 3 << 30),
        of_files(formatted(3), 2, 6 << 30),
    ]);
}

/// 99% of a GiB would be a small file, which is faster than flash in many cards.
#[test]
fn a_share_of_a_device_is_exact() {
    for (size, percent, expected) in [
        (1 << 30, 100, 1 << 30),
        (1 << 30, 33, 354_334_801),
        (199, 50, 99),
        (u64::MAX, 100, u64::MAX),
    ] {
        let mut run = write_run(0, 30e6, 4);
        if let Fact::Known(device) = &mut run.target.device {
            device.size = Bytes(size);
        }
        let job = &mut run.scenario.phases[0].jobs[0];
        job.target = one_path();
        job.extent.size = Some(SizeSpec::Percent(percent));
        let shape = summarize(&[run]).phases[0].detail.shape.unwrap();
        assert_eq!(shape.extent, Some(Bytes(expected)), "{percent}% of {size}");
    }
}
