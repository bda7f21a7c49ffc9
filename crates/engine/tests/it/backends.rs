//! Engines other than plain reads and writes: their effect on files, and equal counts to fio.

use crate::common::{
    MIB, assert_no_holes, engine_replaced, facts, go_on, on_file, only, read_rand, read_seq,
    run_job, run_worker, scenario, scratch, write_rand, write_seq,
};
use hakaru_model::caveat::Caveat;
use hakaru_model::job::{
    Access, BlockSize, BufferContent, EngineOptions, IoEngine, Job, Op, PerOp, SizeSpec, StatCall,
    Target,
};
use hakaru_model::plan::Plan;
use hakaru_model::record::{ErrorRecord, StopReason, WorkerRecord};
use hakaru_model::units::Bytes;
use std::path::Path;

/// Engines that transfer data and are not tested elsewhere.
const MOVERS: [IoEngine; 4] = [
    IoEngine::Vsync,
    IoEngine::Posixaio,
    IoEngine::Mmap,
    IoEngine::Splice,
];

/// A job on its own files in a directory.
fn in_directory(directory: &Path, ioengine: IoEngine, nrfiles: u32, filesize: u64) -> Job {
    let format = "$jobname.$jobnum.$filenum".to_owned();
    let target = Target::Formatted {
        directories: vec![directory.to_owned()],
        format,
        nrfiles,
    };
    let mut job = Job::new("j", target, read_seq());
    job.ioengine = ioengine;
    job.extent.filesize = Some(Bytes(filesize));
    job
}

/// Transfers 512 blocks at queue depth 8, and checks the counters.
fn move_all_blocks(path: &Path, engine: IoEngine, access: Access, op: Op, batch: u32) {
    let mut job = on_file(path, engine, access, 4096, 2 * MIB);
    (job.queue.iodepth, job.queue.batch_submit) = (8, batch);
    job.buffers.fill = BufferContent::Pattern(b"hakaru".to_vec());
    job.buffers.scramble = false;
    job.durability.end_fsync = true;
    let worker = run_worker(job);
    let (moved, depth) = (&worker.ops[op], &worker.depth);
    let counts = (moved.ios, moved.bytes, moved.clat.stat.count, moved.short);
    assert_eq!(counts, (512, 2 * MIB, 512, 0), "{engine:?} {op:?}");
    // The last flush is between no I/Os.
    assert_eq!(worker.sync.stat.count, 0, "{engine:?}");
    let deep = !engine.is_synchronous();
    assert_eq!(depth.level[3] > 0, deep, "{engine:?}: {depth:?}");
}

#[test]
fn every_block_is_moved_once() {
    let dir = tempfile::tempdir().unwrap();
    for engine in MOVERS {
        for (batch, random) in [(0, true), (1, true), (4, false)] {
            let path = dir.path().join(engine.name());
            for op in [Op::Write, Op::Read] {
                move_all_blocks(&path, engine, Access::only(op, random), op, batch);
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
        let worker = run_worker(job);
        assert!(
            (3..=4).contains(&worker.sync.stat.count),
            "{engine:?}: {}",
            worker.sync.stat.count
        );
    }
}

#[test]
fn a_mapping_never_goes_past_the_page_cache() {
    let (_dir, path) = scratch();
    let mut job = on_file(&path, IoEngine::Mmap, write_seq(), 4096, 64 << 10);
    job.files.direct = true;
    let report = run_job(job);
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
    let (_dir, path) = scratch();
    std::fs::write(&path, vec![1; MIB as usize]).unwrap();
    let s = scenario(vec![on_file(
        &path,
        IoEngine::Mmap,
        read_seq(),
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
    let (_dir, path) = scratch();
    let falloc = |op, size| on_file(&path, IoEngine::Falloc, Access::only(op, false), 4096, size);
    assert_eq!(run_worker(falloc(Op::Write, 64 << 10)).ops.write.ios, 16);
    assert_eq!(std::fs::metadata(&path).unwrap().len(), 64 << 10);
    std::fs::write(&path, vec![1; 64 << 10]).unwrap();
    assert_eq!(run_worker(falloc(Op::Read, 64 << 10)).ops.read.ios, 16);
    assert!(
        std::fs::read(&path).unwrap().iter().all(|&b| b == 1),
        "what is there stays"
    );
    let trimmed = run_worker(falloc(Op::Trim, 32 << 10));
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
    let (_dir, path) = scratch();
    let job = |access| on_file(&path, IoEngine::Ftruncate, access, 4096, 64 << 10);
    assert_eq!(run_worker(job(write_seq())).ops.write.ios, 16);
    assert_eq!(std::fs::metadata(&path).unwrap().len(), 60 << 10);
    let worker = run_worker(job(read_seq()));
    let read = &worker.ops.read;
    let errno = worker.errors.first[0].errno;
    assert_eq!((read.ios, read.issued, errno), (0, 1, 22));
}

#[test]
fn files_are_made_asked_for_and_removed_one_an_io() {
    let dir = tempfile::tempdir().unwrap();
    let count = || std::fs::read_dir(dir.path()).unwrap().count();
    let len = |i| {
        std::fs::metadata(dir.path().join(format!("j.0.{i}")))
            .unwrap()
            .len()
    };
    let job = |engine| in_directory(dir.path(), engine, 20, 4096);
    let made = run_worker(job(IoEngine::Filecreate)).ops.read;
    let counts = (made.ios, made.bytes, made.clat.stat.count);
    assert_eq!(counts, (20, 80 << 10, 20));
    assert!((0..20).all(|i| len(i) == 0));
    for stat in [StatCall::Stat, StatCall::Lstat, StatCall::Statx] {
        let mut stats = job(IoEngine::Filestat);
        stats.engine.stat = stat;
        assert_eq!(run_worker(stats).ops.read.ios, 20);
    }
    assert_eq!(len(0), 4096, "stat has its files laid out");
    // The second time, the missing files are laid out in order to be removed.
    for _ in 0..2 {
        let removed = run_worker(job(IoEngine::Filedelete)).ops.read.ios;
        assert_eq!((removed, count()), (20, 0));
    }
}

#[test]
fn directories_are_made_asked_for_and_removed_one_an_io() {
    let dir = tempfile::tempdir().unwrap();
    let count = || std::fs::read_dir(dir.path()).unwrap().count();
    let job = |engine| in_directory(dir.path(), engine, 20, 4096);
    assert_eq!(
        (run_worker(job(IoEngine::Dirdelete)).ops.read.ios, count()),
        (20, 0)
    );
    assert_eq!(
        (run_worker(job(IoEngine::Dircreate)).ops.read.ios, count()),
        (20, 20)
    );
    assert_eq!(
        (run_worker(job(IoEngine::Dirstat)).ops.read.ios, count()),
        (20, 20)
    );
    let again = run_job(job(IoEngine::Dircreate));
    assert_eq!(
        again.phases[0].workers[0].errors.first[0].errno, 17,
        "what is there cannot be made"
    );
}

#[test]
fn what_was_removed_cannot_be_removed_again() {
    let dir = tempfile::tempdir().unwrap();
    let mut job = in_directory(dir.path(), IoEngine::Filedelete, 4, 4096);
    job.extent.loops = 2;
    let worker = run_worker(job);
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

/// Reads 16 blocks with `nowait`, and returns the errors.
fn read_without_waiting(path: &Path, engine: IoEngine) -> ErrorRecord {
    let mut job = on_file(path, engine, read_rand(), 4096, 64 << 10);
    (job.engine.nowait, job.files.invalidate) = (true, false);
    job.errors.ignored.read = vec![rustix::io::Errno::AGAIN.raw_os_error()];
    let worker = run_worker(job);
    let (read, errors) = (&worker.ops.read, worker.errors);
    let counts = (read.issued, read.ios + errors.total);
    assert_eq!(counts, (16, 16), "{engine:?}");
    errors
}

#[test]
fn what_would_wait_is_an_error_where_that_is_asked_for() {
    let (_dir, path) = scratch();
    for engine in [IoEngine::Pvsync2, IoEngine::Libaio, IoEngine::IoUring] {
        // Data that was just written cannot be dropped from the page cache before it is on the disk.
        std::fs::write(&path, vec![1; 64 << 10]).unwrap();
        let errors = read_without_waiting(&path, engine);
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
            let errors = read_without_waiting(&path, engine);
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
    let (_dir, path) = scratch();
    let switches: [fn(&mut EngineOptions); 7] = [
        |engine| engine.fixedbufs = true,
        |engine| engine.registerfiles = true,
        |engine| engine.sqthread_poll = true,
        |engine| {
            (engine.sqthread_poll, engine.registerfiles, engine.fixedbufs) = (true, true, true);
        },
        |engine| (engine.sqthread_poll, engine.sqthread_poll_cpu) = (true, Some(0)),
        |engine| engine.force_async = 3,
        |engine| engine.vectored = true,
    ];
    for switch in switches {
        for (op, batch) in [(Op::Write, 0), (Op::Write, 1), (Op::Read, 0), (Op::Read, 1)] {
            let mut job = on_file(&path, IoEngine::IoUring, Access::only(op, true), 4096, MIB);
            (job.queue.iodepth, job.queue.batch_submit) = (8, batch);
            switch(&mut job.engine);
            let engine = job.engine.clone();
            let report = run_job(job);
            engine_replaced(&report);
            assert_eq!(only(&report).ops[op].ios, 256, "{engine:?} {op:?}");
        }
        assert_no_holes(&path, "io_uring");
        std::fs::remove_file(&path).unwrap();
    }
}

#[test]
fn polling_works_or_says_that_the_device_cannot() {
    let (_dir, path) = scratch();
    std::fs::write(&path, vec![1; 64 << 10]).unwrap();
    for engine in [IoEngine::IoUring, IoEngine::Pvsync2] {
        let mut job = on_file(&path, engine, read_rand(), 4096, 64 << 10);
        (job.engine.hipri, job.files.direct) = (true, true);
        job.queue.iodepth = 4;
        let worker = run_worker(job);
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
    let ours = run_worker(job);
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
    // The depth of a queue that other threads drain meanwhile is random.
    if !arguments.contains("posixaio") {
        depths_agree(arguments, &ours, theirs);
    }
}

/// Compares the percentages of I/Os at each queue depth.
fn depths_agree(arguments: &str, ours: &WorkerRecord, theirs: &serde_json::Value) {
    let issued: u64 = Op::ALL.into_iter().map(|op| ours.ops[op].issued).sum();
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
    let (_dir, path) = scratch();
    for engine in MOVERS {
        for (rw, access) in [
            ("write", write_seq()),
            ("read", read_seq()),
            ("randwrite", write_rand()),
            ("randread", read_rand()),
        ] {
            for (depth, deep) in [(1, ""), (4, " --iodepth=4")] {
                if depth > 1 && engine.is_synchronous() {
                    continue;
                }
                let mut job = on_file(&path, engine, access.clone(), 4096, 64 << 10);
                (job.queue.iodepth, job.queue.batch_submit) = (depth, 1);
                job.queue.batch_complete_max = 1;
                let name = engine.name();
                let arguments = format!("--ioengine={name} --rw={rw} --size=64k{deep}");
                counts_agree(&arguments, job);
            }
        }
    }
}

#[test]
fn space_is_counted_as_fio_counts_it() {
    let (_dir, path) = scratch();
    let ops = [("read", Op::Read), ("write", Op::Write), ("trim", Op::Trim)];
    for engine in [IoEngine::Falloc, IoEngine::Ftruncate] {
        for (rw, op) in ops {
            if (engine, op) == (IoEngine::Ftruncate, Op::Trim) {
                continue; // A plan with trims of a file is rejected before it runs.
            }
            let job = on_file(&path, engine, Access::only(op, false), 4096, 64 << 10);
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
        for (loops, rw, access) in [(1, "read", read_seq()), (2, "write", write_seq())] {
            if (engine, loops) == (IoEngine::Filedelete, 2) {
                continue; // Both end with ENOENT, and fio assigns the errors of the second loop to no I/O.
            }
            let dir = tempfile::tempdir().unwrap();
            let mut job = in_directory(dir.path(), engine, 8, 4096);
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
    let (_dir, path) = scratch();
    std::fs::write(&path, vec![1; 64 << 10]).unwrap();
    type Switch = fn(&mut EngineOptions);
    use IoEngine::{IoUring, Libaio, Pvsync2};
    let switches: [(IoEngine, &str, Switch); 8] = [
        (Pvsync2, "hipri", |e| e.hipri = true),
        (IoUring, "registerfiles", |e| e.registerfiles = true),
        (IoUring, "fixedbufs", |e| e.fixedbufs = true),
        (IoUring, "sqthread_poll", |e| e.sqthread_poll = true),
        (IoUring, "nonvectored", |_| {}),
        (Pvsync2, "nowait", |e| e.nowait = true),
        (IoUring, "nowait", |e| e.nowait = true),
        (Libaio, "nowait", |e| e.nowait = true),
    ];
    for (engine, name, switch) in switches {
        let mut job = on_file(&path, engine, read_rand(), 4096, 64 << 10);
        job.queue.batch_submit = 1;
        switch(&mut job.engine);
        // The cache content determines how much of an uncached file is read before a read would wait. Without
        // invalidation, both programs read data they have just written or read.
        job.files.invalidate = false;
        std::fs::write(&path, vec![1; 64 << 10]).unwrap();
        let options = "--rw=randread --size=64k --pre_read=1";
        counts_agree(
            &format!("--ioengine={} {options} --{name}=1", engine.name()),
            job,
        );
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
        let worker = run_worker(job);
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
