//! Engines other than plain reads and writes: their effect on files, and equal counts to fio.

mod common;

use common::{MIB, facts, go, go_on, on_file, only, scenario, write_seq};
use hakaru_model::caveat::Caveat;
use hakaru_model::job::{
    Access, BlockSize, BufferContent, EngineOptions, IoEngine, Job, Op, PerOp, SizeSpec, StatCall,
    Target,
};
use hakaru_model::plan::Plan;
use hakaru_model::record::{StopReason, WorkerRecord};
use hakaru_model::units::Bytes;
use std::path::Path;

/// Engines that transfer data and are not tested elsewhere.
const MOVERS: [IoEngine; 4] = [
    IoEngine::Vsync,
    IoEngine::Posixaio,
    IoEngine::Mmap,
    IoEngine::Splice,
];

fn run(job: Job) -> WorkerRecord {
    only(&go(&scenario(vec![job]))).clone()
}

/// A job on its own files in a directory.
fn in_folder(folder: &Path, ioengine: IoEngine, nrfiles: u32, filesize: u64) -> Job {
    let format = "$jobname.$jobnum.$filenum".to_owned();
    let target = Target::Formatted {
        directories: vec![folder.to_owned()],
        format,
        nrfiles,
    };
    let mut job = Job::new("j", target, Access::only(Op::Read, false));
    job.ioengine = ioengine;
    job.extent.filesize = Some(Bytes(filesize));
    job
}

#[test]
fn every_block_is_moved_once() {
    let dir = tempfile::tempdir().unwrap();
    for engine in MOVERS {
        for (batch, random) in [(0, true), (1, true), (4, false)] {
            let path = dir.path().join(engine.name());
            for op in [Op::Write, Op::Read] {
                let mut job = on_file(&path, engine, Access::only(op, random), 4096, 2 * MIB);
                job.queue.iodepth = 8;
                job.queue.batch_submit = batch;
                job.buffers.fill = BufferContent::Pattern(b"hakaru".to_vec());
                job.buffers.scramble = false;
                job.durability.end_fsync = true;
                let worker = run(job);
                assert_eq!(
                    (worker.ops[op].ios, worker.ops[op].bytes),
                    (512, 2 * MIB),
                    "{engine:?} {op:?}"
                );
                assert_eq!(
                    (worker.ops[op].clat.stat.count, worker.ops[op].short),
                    (512, 0)
                );
                assert_eq!(
                    worker.sync.stat.count, 0,
                    "{engine:?}: the last flush stands between no I/Os"
                );
                let deep = !engine.is_synchronous();
                assert_eq!(
                    worker.depth.level[3] > 0,
                    deep,
                    "{engine:?}: {:?}",
                    worker.depth
                );
            }
            let content = std::fs::read(&path).unwrap();
            let whole = content
                .chunks(4096)
                .all(|block| block.starts_with(b"hakaruhakaru") || block.contains(&b'h'));
            assert!(content.len() == 2 << 20 && whole, "{engine:?} left a hole");
            std::fs::remove_file(&path).unwrap();
        }
    }
}

#[test]
fn flushes_after_writes_reach_every_engine() {
    let dir = tempfile::tempdir().unwrap();
    for engine in MOVERS.into_iter().chain([IoEngine::Falloc]) {
        let mut job = on_file(
            &dir.path().join(engine.name()),
            engine,
            write_seq(),
            4096,
            64 << 10,
        );
        job.durability.fdatasync_every = 4;
        let worker = run(job);
        assert!(
            (3..=4).contains(&worker.sync.stat.count),
            "{engine:?}: {}",
            worker.sync.stat.count
        );
    }
}

#[test]
fn a_mapping_never_goes_past_the_page_cache() {
    let dir = tempfile::tempdir().unwrap();
    let mut job = on_file(
        &dir.path().join("f"),
        IoEngine::Mmap,
        write_seq(),
        4096,
        64 << 10,
    );
    job.files.direct = true;
    let report = go(&scenario(vec![job]));
    assert!(
        report
            .caveats
            .iter()
            .any(|c| matches!(c, Caveat::NotDirect { .. })),
        "{:?}",
        report.caveats
    );
    assert_eq!(only(&report).ops.write.ios, 16);
}

#[test]
fn a_mapping_without_its_file_is_an_error_of_that_io() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("f");
    std::fs::write(&path, vec![1; MIB as usize]).unwrap();
    let s = scenario(vec![on_file(
        &path,
        IoEngine::Mmap,
        Access::only(Op::Read, false),
        4096,
        2 * MIB,
    )]);
    let mut known = facts(&s);
    for f in known.values_mut() {
        f.size = Bytes(2 * MIB);
    }
    let report = go_on(&Plan::resolve(&s, &known).unwrap());
    let worker = &report.phases[0].workers[0];
    assert_eq!((worker.ops.read.ios, worker.stop), (256, StopReason::Error));
    assert_eq!(
        (worker.errors.first[0].errno, worker.errors.first[0].offset),
        (5, Bytes(MIB))
    );
}

#[test]
fn falloc_reserves_grows_and_punches() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("f");
    let falloc = |op, size| on_file(&path, IoEngine::Falloc, Access::only(op, false), 4096, size);
    assert_eq!(run(falloc(Op::Write, 64 << 10)).ops.write.ios, 16);
    assert_eq!(std::fs::metadata(&path).unwrap().len(), 64 << 10);
    std::fs::write(&path, vec![1; 64 << 10]).unwrap();
    assert_eq!(run(falloc(Op::Read, 64 << 10)).ops.read.ios, 16);
    assert!(
        std::fs::read(&path).unwrap().iter().all(|&b| b == 1),
        "what is there stays"
    );
    let trimmed = run(falloc(Op::Trim, 32 << 10));
    assert_eq!(
        (trimmed.ops.trim.ios, trimmed.ops.trim.bytes),
        (8, 32 << 10)
    );
    let content = std::fs::read(&path).unwrap();
    assert_eq!(content.len(), 64 << 10, "a hole does not shorten the file");
    assert!(
        content[..32 << 10].iter().all(|&b| b == 0) && content[32 << 10..].iter().all(|&b| b == 1)
    );
}

#[test]
fn ftruncate_sets_the_size_to_the_offset_and_knows_no_reads() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("f");
    let worker = run(on_file(
        &path,
        IoEngine::Ftruncate,
        write_seq(),
        4096,
        64 << 10,
    ));
    assert_eq!(
        (
            worker.ops.write.ios,
            std::fs::metadata(&path).unwrap().len()
        ),
        (16, 60 << 10)
    );
    let report = go(&scenario(vec![on_file(
        &path,
        IoEngine::Ftruncate,
        Access::only(Op::Read, false),
        4096,
        64 << 10,
    )]));
    let worker = &report.phases[0].workers[0];
    assert_eq!(
        (
            worker.ops.read.ios,
            worker.ops.read.issued,
            worker.errors.first[0].errno
        ),
        (0, 1, 22)
    );
}

#[test]
fn files_are_made_asked_for_and_removed_one_an_io() {
    let dir = tempfile::tempdir().unwrap();
    let count = || std::fs::read_dir(dir.path()).unwrap().count();
    let job = |engine| in_folder(dir.path(), engine, 20, 4096);
    let made = run(job(IoEngine::Filecreate));
    assert_eq!(
        (
            made.ops.read.ios,
            made.ops.read.bytes,
            made.ops.read.clat.stat.count
        ),
        (20, 80 << 10, 20)
    );
    assert!((0..20).all(|i| {
        std::fs::metadata(dir.path().join(format!("j.0.{i}")))
            .unwrap()
            .len()
            == 0
    }));
    for stat in [StatCall::Stat, StatCall::Lstat, StatCall::Statx] {
        let asked = run(Job {
            engine: EngineOptions {
                stat,
                ..EngineOptions::default()
            },
            ..job(IoEngine::Filestat)
        });
        assert_eq!(asked.ops.read.ios, 20);
    }
    assert_eq!(
        std::fs::metadata(dir.path().join("j.0.0")).unwrap().len(),
        4096,
        "stat has its files laid out"
    );
    assert_eq!(
        (run(job(IoEngine::Filedelete)).ops.read.ios, count()),
        (20, 0)
    );
    // Missing files are laid out in order to be removed.
    assert_eq!(
        (run(job(IoEngine::Filedelete)).ops.read.ios, count()),
        (20, 0)
    );
}

#[test]
fn folders_are_made_asked_for_and_removed_one_an_io() {
    let dir = tempfile::tempdir().unwrap();
    let count = || std::fs::read_dir(dir.path()).unwrap().count();
    let job = |engine| in_folder(dir.path(), engine, 20, 4096);
    assert_eq!(
        (run(job(IoEngine::Dirdelete)).ops.read.ios, count()),
        (20, 0)
    );
    assert_eq!(
        (run(job(IoEngine::Dircreate)).ops.read.ios, count()),
        (20, 20)
    );
    assert_eq!(
        (run(job(IoEngine::Dirstat)).ops.read.ios, count()),
        (20, 20)
    );
    let again = go(&scenario(vec![job(IoEngine::Dircreate)]));
    assert_eq!(
        again.phases[0].workers[0].errors.first[0].errno, 17,
        "what is there cannot be made"
    );
}

#[test]
fn what_was_removed_cannot_be_removed_again() {
    let dir = tempfile::tempdir().unwrap();
    let mut job = in_folder(dir.path(), IoEngine::Filedelete, 4, 4096);
    job.extent.loops = 2;
    let report = go(&scenario(vec![job]));
    let worker = &report.phases[0].workers[0];
    assert_eq!((worker.ops.read.ios, worker.stop), (4, StopReason::Error));
    let error = &worker.errors.first[0];
    assert!(
        error.errno == 2 && error.file.ends_with("j.0.0"),
        "{error:?}"
    );
}

/// Drops the page cache of a file, so that a read would have to wait.
fn cool(path: &Path) {
    let file = std::fs::File::open(path).unwrap();
    rustix::fs::fsync(&file).unwrap();
    rustix::fs::fadvise(&file, 0, None, rustix::fs::Advice::DontNeed).unwrap();
}

#[test]
fn what_would_wait_is_an_error_where_that_is_asked_for() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("f");
    for engine in [IoEngine::Pvsync2, IoEngine::Libaio, IoEngine::IoUring] {
        let mut job = on_file(&path, engine, Access::only(Op::Read, true), 4096, 64 << 10);
        job.engine.nowait = true;
        job.errors.ignored.read = vec![rustix::io::Errno::AGAIN.raw_os_error()];
        let counted = |job: &Job| {
            let worker = run(job.clone());
            let errors = worker.errors;
            assert_eq!(
                (worker.ops.read.issued, worker.ops.read.ios + errors.total),
                (16, 16),
                "{engine:?}"
            );
            errors
        };
        // Data that was just written cannot be dropped from the page cache before it is on the disk.
        std::fs::write(&path, vec![1; 64 << 10]).unwrap();
        job.files.invalidate = false;
        let errors = counted(&job);
        if errors.total == 16 && errors.first.iter().all(|e| e.errno == 95) {
            eprintln!("SKIPPED: {engine:?}: this file system does not offer nowait");
            continue;
        }
        assert_eq!(errors.total, 0, "{engine:?}: {errors:?}");
        // A file system in memory never waits. On another, uncached reads wait, unless the disk was faster than the
        // check.
        let mut waited = false;
        for _ in 0..8 {
            cool(&path);
            let errors = counted(&job);
            assert!(
                errors.first.iter().all(|e| e.errno == 11),
                "{engine:?}: {:?}",
                errors.first
            );
            waited |= errors.total > 0;
        }
        if !waited {
            eprintln!("SKIPPED: {engine:?}: nothing waits on this file system");
        }
    }
}

#[test]
fn switches_of_rings_change_how_and_not_what() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("f");
    let none = EngineOptions::default();
    let switches = [
        EngineOptions {
            fixedbufs: true,
            ..none.clone()
        },
        EngineOptions {
            registerfiles: true,
            ..none.clone()
        },
        EngineOptions {
            sqthread_poll: true,
            ..none.clone()
        },
        EngineOptions {
            sqthread_poll: true,
            registerfiles: true,
            fixedbufs: true,
            ..none.clone()
        },
        EngineOptions {
            sqthread_poll: true,
            sqthread_poll_cpu: Some(0),
            ..none.clone()
        },
        EngineOptions {
            force_async: 3,
            ..none.clone()
        },
        EngineOptions {
            vectored: true,
            ..none
        },
    ];
    for engine in switches {
        for op in [Op::Write, Op::Read] {
            for batch in [0, 1] {
                let mut job = on_file(&path, IoEngine::IoUring, Access::only(op, true), 4096, MIB);
                (job.queue.iodepth, job.queue.batch_submit) = (8, batch);
                job.engine = engine.clone();
                let report = go(&scenario(vec![job]));
                let replaced = report
                    .caveats
                    .iter()
                    .any(|c| matches!(c, Caveat::EngineReplaced { .. }));
                if replaced {
                    eprintln!("SKIPPED: {:?}", report.caveats);
                }
                assert_eq!(only(&report).ops[op].ios, 256, "{engine:?} {op:?}");
            }
        }
        let content = std::fs::read(&path).unwrap();
        assert!(
            content
                .chunks(4096)
                .all(|block| block.iter().any(|&b| b != 0)),
            "{engine:?} left a hole"
        );
        std::fs::remove_file(&path).unwrap();
    }
}

#[test]
fn polling_works_or_says_that_the_device_cannot() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("f");
    std::fs::write(&path, vec![1; 64 << 10]).unwrap();
    for engine in [IoEngine::IoUring, IoEngine::Pvsync2] {
        let mut job = on_file(&path, engine, Access::only(Op::Read, true), 4096, 64 << 10);
        (job.engine.hipri, job.files.direct) = (true, true);
        job.queue.iodepth = 4;
        let report = go(&scenario(vec![job]));
        let worker = &report.phases[0].workers[0];
        match worker.errors.first.first() {
            None => assert_eq!(worker.ops.read.ios, 16, "{engine:?}"),
            Some(error) => assert!(
                error.errno == 95 && worker.stop == StopReason::Error,
                "{engine:?}: {error:?}"
            ),
        }
    }
}

/// Returns fio's counts for a job of the same kind in an empty directory. `None` if fio is not
/// installed.
fn fio(arguments: &str) -> Option<serde_json::Value> {
    let dir = tempfile::tempdir().unwrap();
    let mut fio = std::process::Command::new("fio");
    fio.args(["--name=j", "--output-format=json"])
        .args(arguments.split(' '))
        .current_dir(dir.path());
    let Ok(output) = fio.output() else {
        eprintln!("SKIPPED: there is no fio to compare with");
        return None;
    };
    let text = String::from_utf8_lossy(&output.stdout);
    let json = text
        .find('{')
        .and_then(|start| serde_json::from_str(&text[start..]).ok());
    Some(json.unwrap_or_else(|| panic!("fio {arguments}: {text}")))
}

/// Compares I/Os, bytes, latencies, and the I/Os in flight.
fn counts_agree(arguments: &str, job: Job) {
    let Some(theirs) = fio(arguments) else { return };
    let theirs = &theirs["jobs"][0];
    let report = go(&scenario(vec![job]));
    let ours = &report.phases[0].workers[0];
    let errno = ours.errors.first.first().map_or(0, |e| e.errno);
    assert_eq!(theirs["error"], errno, "{arguments}: error");
    for (op, name) in Op::ALL.into_iter().map(|op| (op, op.name())) {
        let (mine, fios) = (&ours.ops[op], &theirs[name]);
        // At the end of a job, fio drops the `vsync` I/Os that are still in its queue.
        let forgets = arguments.contains("vsync") && arguments.contains("iodepth");
        if !forgets {
            assert_eq!(
                fios["io_bytes"], mine.bytes,
                "{arguments}: bytes of {name}s"
            );
            assert_eq!(
                fios["clat_ns"]["N"].as_u64().unwrap_or(0),
                mine.clat.stat.count,
                "{arguments}: {name} clat"
            );
        }
        assert_eq!(fios["total_ios"], mine.issued, "{arguments}: {name}s");
        assert_eq!(fios["short_ios"], mine.short, "{arguments}: short {name}s");
    }
    let issued: u64 = Op::ALL.into_iter().map(|op| ours.ops[op].issued).sum();
    if arguments.contains("posixaio") {
        // The depth of a queue that other threads drain meanwhile is random.
        return;
    }
    for (step, depth) in [(0, "1"), (1, "2"), (2, "4"), (3, "8")] {
        let mine = ours.depth.level[step] as f64 * 100.0 / issued as f64;
        let fios = theirs["iodepth_level"][depth].as_f64().unwrap();
        assert!(
            (mine - fios).abs() < 0.01,
            "{arguments}: {mine} against {fios} % at depth {depth}"
        );
    }
}

#[test]
fn data_is_counted_as_fio_counts_it() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("f");
    for engine in MOVERS {
        for (rw, access) in [
            ("write", write_seq()),
            ("read", Access::only(Op::Read, false)),
            ("randwrite", Access::only(Op::Write, true)),
            ("randread", Access::only(Op::Read, true)),
        ] {
            let depths: &[u32] = if engine.is_synchronous() {
                &[1]
            } else {
                &[1, 4]
            };
            for &depth in depths {
                let mut job = on_file(&path, engine, access.clone(), 4096, 64 << 10);
                (
                    job.queue.iodepth,
                    job.queue.batch_submit,
                    job.queue.batch_complete_max,
                ) = (depth, 1, 1);
                let deep = if depth > 1 {
                    format!(" --iodepth={depth}")
                } else {
                    String::new()
                };
                counts_agree(
                    &format!("--ioengine={} --rw={rw} --size=64k{deep}", engine.name()),
                    job,
                );
            }
        }
    }
}

#[test]
fn space_is_counted_as_fio_counts_it() {
    let dir = tempfile::tempdir().unwrap();
    let ops = [("read", Op::Read), ("write", Op::Write), ("trim", Op::Trim)];
    for engine in [IoEngine::Falloc, IoEngine::Ftruncate] {
        for (rw, op) in ops {
            if (engine, op) == (IoEngine::Ftruncate, Op::Trim) {
                continue; // A plan with trims of a file is rejected before it runs.
            }
            let job = on_file(
                &dir.path().join("f"),
                engine,
                Access::only(op, false),
                4096,
                64 << 10,
            );
            counts_agree(
                &format!("--ioengine={} --rw={rw} --size=64k", engine.name()),
                job,
            );
        }
    }
}

#[test]
fn names_are_counted_as_fio_counts_them() {
    for engine in [
        IoEngine::Filecreate,
        IoEngine::Filestat,
        IoEngine::Filedelete,
    ] {
        for (loops, rw, access) in [
            (1, "read", Access::only(Op::Read, false)),
            (2, "write", write_seq()),
        ] {
            if (engine, loops) == (IoEngine::Filedelete, 2) {
                continue; // Both end with ENOENT, and fio assigns the errors of the second loop to no I/O.
            }
            let dir = tempfile::tempdir().unwrap();
            let mut job = in_folder(dir.path(), engine, 8, 4096);
            (job.access, job.extent.loops) = (access, loops);
            let name = engine.name();
            counts_agree(
                &format!("--ioengine={name} --rw={rw} --nrfiles=8 --filesize=4k --loops={loops}"),
                job,
            );
        }
    }
}

#[test]
fn switches_are_counted_as_fio_counts_them() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("f");
    std::fs::write(&path, vec![1; 64 << 10]).unwrap();
    let base = |engine| {
        let mut job = on_file(&path, engine, Access::only(Op::Read, true), 4096, 64 << 10);
        job.queue.batch_submit = 1;
        job
    };
    for (engine, switch) in [
        (IoEngine::Pvsync2, "hipri"),
        (IoEngine::IoUring, "registerfiles"),
        (IoEngine::IoUring, "fixedbufs"),
        (IoEngine::IoUring, "sqthread_poll"),
        (IoEngine::IoUring, "nonvectored"),
        (IoEngine::Pvsync2, "nowait"),
        (IoEngine::IoUring, "nowait"),
        (IoEngine::Libaio, "nowait"),
    ] {
        let mut job = base(engine);
        match switch {
            "hipri" => job.engine.hipri = true,
            "registerfiles" => job.engine.registerfiles = true,
            "fixedbufs" => job.engine.fixedbufs = true,
            "sqthread_poll" => job.engine.sqthread_poll = true,
            "nowait" => job.engine.nowait = true,
            _ => {}
        }
        // The cache content determines how much of an uncached file is read before a read would wait. Without
        // invalidation, both programs read data they have just written or read.
        job.files.invalidate = false;
        std::fs::write(&path, vec![1; 64 << 10]).unwrap();
        let arguments = format!(
            "--ioengine={} --rw=randread --size=64k --pre_read=1 --{switch}=1",
            engine.name()
        );
        counts_agree(&arguments, job);
    }
}

#[test]
fn a_large_block_goes_through_a_pipe_and_a_mapping_whole() {
    let dir = tempfile::tempdir().unwrap();
    for engine in [IoEngine::Splice, IoEngine::Mmap, IoEngine::Vsync] {
        let mut job = on_file(
            &dir.path().join(engine.name()),
            engine,
            write_seq(),
            MIB,
            4 * MIB,
        );
        job.block = PerOp::all(BlockSize::Fixed(Bytes(MIB)));
        job.extent.size = Some(SizeSpec::Bytes(Bytes(4 * MIB)));
        let worker = run(job);
        assert_eq!(
            (
                worker.ops.write.ios,
                worker.ops.write.bytes,
                worker.ops.write.short
            ),
            (4, 4 * MIB, 0)
        );
    }
}
