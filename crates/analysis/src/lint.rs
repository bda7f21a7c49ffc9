//! Checks benchmarks for mistakes before they run. Campaigns, command lines and job files use the same rules.

use crate::summarize::{SHORT, SMALL_FILE};
use hakaru_model::job::{
    BlockSize, BufferContent, Distribution, IoEngine, Job, Op, Phase, Scenario, SizeSpec, Target,
};
use hakaru_model::lint::{Diagnostic, LintWarning};
use hakaru_model::record::RunRecord;
use hakaru_model::units::{Bytes, Nanos};
use std::collections::BTreeSet;
use std::path::PathBuf;

/// Returns all warnings, by job and without duplicates within a job. `memory` is the host's memory, if known.
pub fn lint(scenario: &Scenario, memory: Option<Bytes>) -> Vec<Diagnostic> {
    let mut found: Vec<Diagnostic> = Vec::new();
    let mut written: Vec<&Job> = Vec::new();
    for job in scenario.phases.iter().flat_map(|Phase { jobs, .. }| jobs) {
        let mut warnings = of_job(job, memory);
        warnings.extend(reads_back(job, &written));
        for warning in warnings {
            let diagnostic = Diagnostic {
                job: job.name.clone(),
                slip: warning,
            };
            if !found.contains(&diagnostic) {
                found.push(diagnostic);
            }
        }
        if job.access.does(Op::Write) {
            written.push(job);
        }
    }
    found
}

/// Whether a job of a result ended because all of its size was transferred, long before the end of its runtime.
///
/// Some results do not state whether a job was `time_based` (fio 3.33 omits a bare `time_based` from its list of
/// options). The transferred bytes show it: a job that continued after its size was `time_based`.
pub fn ended_early(record: &RunRecord, job: &str, runtime: Nanos, size: Bytes) -> bool {
    let mut workers = record
        .phases
        .iter()
        .flat_map(|phase| &phase.workers)
        .filter(|worker| worker.name == job);
    workers.any(|worker| {
        let moved = Op::ALL
            .iter()
            .fold(0u64, |sum, &op| sum.saturating_add(worker.ops[op].bytes));
        // Text output rounds sizes to three digits, and runtimes are precise to a few milliseconds.
        worker.runtime.0 > 0
            && worker.runtime.0 < runtime.0 / 100 * 99
            && moved >= size.0 / 100 * 99
    })
}

/// Whether the job accesses storage.
fn on_storage(job: &Job) -> bool {
    matches!(job.target, Target::Paths(_) | Target::Formatted { .. })
        && job.ioengine != IoEngine::Null
        && !job.ioengine.works_on_names()
}

fn of_job(job: &Job, memory: Option<Bytes>) -> Vec<LintWarning> {
    let mut warnings = Vec::new();
    depth(job, &mut warnings);
    if !on_storage(job) {
        return warnings;
    }
    cache(job, memory, &mut warnings);
    time(job, &mut warnings);
    let writes = job.access.does(Op::Write);
    if let Some(size) = working_set(job).filter(|&size| writes && size < SMALL_FILE) {
        warnings.push(LintWarning::SmallFile { size });
    }
    let compressible = matches!(
        job.buffers.fill,
        BufferContent::Zero | BufferContent::Compressible(90..)
    );
    if writes && compressible && !job.buffers.refill {
        warnings.push(LintWarning::Compressible);
    }
    if accesses_same_blocks(job) {
        warnings.push(LintWarning::SameBlocks {
            clones: job.numjobs,
        });
    }
    warnings
}

/// Whether all clones of a job access the same blocks in the same order.
fn accesses_same_blocks(job: &Job) -> bool {
    let one_file = matches!(&job.target, Target::Paths(paths) if paths.len() == 1);
    let no_offset = matches!(job.extent.offset_increment, SizeSpec::Bytes(Bytes(0)));
    one_file && no_offset && job.numjobs > 1 && !job.access.random
}

fn depth(job: &Job, warnings: &mut Vec<LintWarning>) {
    let asked = job.queue.iodepth;
    if asked > job.effective_depth() {
        warnings.push(LintWarning::DepthIgnored {
            ioengine: job.ioengine.name().to_owned(),
            asked,
        });
    }
    if asked > 1 && job.ioengine == IoEngine::Libaio && !job.files.direct && on_storage(job) {
        warnings.push(LintWarning::DepthBuffered { asked });
    }
}

fn flushes(job: &Job) -> bool {
    let d = &job.durability;
    d.fsync_every > 0
        || d.fdatasync_every > 0
        || d.end_fsync
        || d.fsync_on_close
        || d.sync
        || d.dsync
}

/// Whether writes are flushed one at a time or in small groups, so that the cache delays nothing.
fn flushes_as_it_goes(job: &Job) -> bool {
    let d = &job.durability;
    d.fsync_every > 0 || d.fdatasync_every > 0 || d.sync || d.dsync
}

/// Whether the cache is dropped first and each block is then read once, so that all data comes from the device.
fn reads_once(job: &Job) -> bool {
    let Job {
        access,
        extent,
        files,
        timing,
        ..
    } = job;
    let evenly = matches!(access.distribution, Distribution::Uniform);
    let each_once = !access.random || access.every_block_once && evenly;
    let one_pass = !timing.time_based
        && extent.loops <= 1
        && extent.io_size.is_none_or(|size| Some(size) == extent.size);
    let shared = job.numjobs > 1 && job.clones_apart() == 1;
    files.invalidate && !files.pre_read && one_pass && each_once && !shared
}

/// Returns a block size that direct I/O does not support: the smallest sector has 512 bytes.
fn odd_block(job: &Job) -> Option<Bytes> {
    let odd = |size: &Bytes| !size.0.is_multiple_of(512);
    job.blocks_used().find_map(|block| match block {
        BlockSize::Fixed(size) => Some(*size).filter(odd),
        BlockSize::Range { min, .. } => Some(*min).filter(odd),
        BlockSize::Split(parts) => parts.iter().map(|(size, _)| *size).find(odd),
    })
}

fn cache(job: &Job, memory: Option<Bytes>, warnings: &mut Vec<LintWarning>) {
    if job.files.direct {
        return;
    }
    let (reads, odd_block) = (job.access.does(Op::Read), odd_block(job));
    let fits = memory.and_then(|memory| {
        working_set(job)
            .filter(|size| *size < memory)
            .map(|size| (size, memory))
    });
    match fits {
        Some(_) if reads && reads_once(job) => warnings.push(LintWarning::ReadAhead),
        Some((size, memory)) if reads => warnings.push(LintWarning::FitsInMemory {
            size,
            memory,
            odd_block,
        }),
        _ if !reads && flushes_as_it_goes(job) => {}
        _ => warnings.push(LintWarning::Buffered { odd_block }),
    }
    if job.access.does(Op::Write) && !flushes(job) {
        warnings.push(LintWarning::NotFlushed);
    }
}

fn time(job: &Job, warnings: &mut Vec<LintWarning>) {
    let Some(runtime) = job.timing.runtime else {
        return;
    };
    if runtime < SHORT {
        warnings.push(LintWarning::Short {
            runtime,
            wanted: SHORT,
        });
    }
    if !job.timing.time_based {
        warnings.extend(transferred(job).map(|size| LintWarning::EndsEarly { runtime, size }));
    } else if job.timing.ramp_time.0 == 0 {
        warnings.push(LintWarning::NoRamp);
    }
}

/// Returns the bytes that one clone transfers; `None` if they depend on the target.
fn transferred(job: &Job) -> Option<Bytes> {
    let a_loop = match job.extent.io_size {
        Some(SizeSpec::Bytes(size)) => Some(size),
        Some(SizeSpec::Percent(_)) => None,
        None => each_clone(job),
    };
    a_loop.map(|size| Bytes(size.0.saturating_mul(job.extent.loops.max(1).into())))
}

/// Returns the bytes that one clone accesses; `None` if they depend on the target.
fn each_clone(job: &Job) -> Option<Bytes> {
    match (job.extent.size, job.extent.filesize) {
        (Some(SizeSpec::Bytes(size)), _) => Some(size),
        (Some(SizeSpec::Percent(_)), _) => None,
        (None, filesize) => filesize,
    }
}

/// Returns the bytes that all clones access.
fn working_set(job: &Job) -> Option<Bytes> {
    each_clone(job).map(|size| Bytes(size.0.saturating_mul(job.clones_apart().into())))
}

fn paths(job: &Job) -> BTreeSet<PathBuf> {
    (0..job.numjobs.min(64))
        .flat_map(|clone| hakaru_model::plan::clone_paths(job, clone))
        .collect()
}

/// Warns about buffered reads of data that an earlier job wrote through the cache: dropping a cache keeps data that is
/// not yet flushed.
fn reads_back(job: &Job, written: &[&Job]) -> Option<LintWarning> {
    if job.files.direct || !job.access.does(Op::Read) || !on_storage(job) {
        return None;
    }
    let mine = paths(job);
    let cached = |writer: &&&Job| {
        let gone = writer.files.direct || job.files.invalidate && flushes(writer);
        !gone && !mine.is_disjoint(&paths(writer))
    };
    written
        .iter()
        .rev()
        .find(cached)
        .map(|writer| LintWarning::ReadsBack {
            writer: writer.name.clone(),
        })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::sound;
    use hakaru_model::lint::Severity;

    fn warnings(jobs: Vec<Job>) -> Vec<LintWarning> {
        let phases = jobs
            .into_iter()
            .map(|job| Phase {
                name: job.name.clone(),
                jobs: vec![job],
            })
            .collect();
        let scenario = Scenario {
            name: "t".into(),
            seed: 0,
            phases,
        };
        lint(&scenario, Some(Bytes(8 << 30)))
            .into_iter()
            .map(|diagnostic| diagnostic.slip)
            .collect()
    }

    #[track_caller]
    fn finds(op: Op, change: impl Fn(&mut Job), expected: &[LintWarning]) {
        let mut job = sound(op);
        change(&mut job);
        assert_eq!(warnings(vec![job]), expected);
    }

    #[test]
    fn a_sound_job_is_left_alone() {
        finds(Op::Read, |_| {}, &[]);
        finds(Op::Write, |_| {}, &[]);
    }

    #[test]
    fn depths_that_have_no_effect_are_found() {
        let ignored = LintWarning::DepthIgnored {
            ioengine: "psync".into(),
            asked: 2,
        };
        finds(Op::Read, |j| j.queue.iodepth = 2, &[ignored]);
        let offloaded = |j: &mut Job| (j.queue.iodepth, j.queue.offload) = (2, true);
        finds(Op::Read, offloaded, &[]);
        let deep = |j: &mut Job| {
            (j.files.direct, j.ioengine, j.queue.iodepth) = (false, IoEngine::Libaio, 8)
        };
        let buffered = LintWarning::DepthBuffered { asked: 8 };
        finds(Op::Read, deep, &[buffered, fits()]);
    }

    #[test]
    fn sizes_that_end_a_job_early_are_found() {
        let size = Bytes(1 << 20);
        let small = |j: &mut Job| j.extent.size = Some(SizeSpec::Bytes(size));
        let small_file = || LintWarning::SmallFile { size };
        finds(Op::Write, small, &[small_file()]);
        let ends_early = |size: Bytes| LintWarning::EndsEarly {
            runtime: Nanos::from_secs(60),
            size,
        };
        let once = |j: &mut Job| {
            small(j);
            j.timing.time_based = false;
        };
        finds(Op::Write, once, &[ends_early(size), small_file()]);
        for (loops, io_size, moves) in [
            (1, 64 << 20, 64 << 20),
            (3, 0, 12 << 30),
            (2, 64 << 20, 128 << 20),
        ] {
            let change = |j: &mut Job| {
                (j.timing.time_based, j.extent.loops) = (false, loops);
                j.extent.io_size = Some(SizeSpec::Bytes(Bytes(io_size))).filter(|_| io_size > 0);
            };
            finds(Op::Read, change, &[ends_early(Bytes(moves))]);
        }
    }

    #[test]
    fn buffered_jobs_and_missing_flushes_are_found() {
        let buffered = || LintWarning::Buffered { odd_block: None };
        let not_flushed = LintWarning::NotFlushed;
        finds(
            Op::Write,
            |j| j.files.direct = false,
            &[buffered(), not_flushed],
        );
        let flushed = |j: &mut Job| (j.files.direct, j.durability.end_fsync) = (false, true);
        finds(Op::Write, flushed, &[buffered()]);
        finds(Op::Read, |j| j.files.direct = false, &[fits()]);
    }

    #[test]
    fn short_times_easy_data_and_shared_blocks_are_found() {
        let runtime = Nanos::from_secs(1);
        let wanted = SHORT;
        let short = LintWarning::Short { runtime, wanted };
        finds(Op::Read, |j| j.timing.runtime = Some(runtime), &[short]);
        let no_ramp = |j: &mut Job| j.timing.ramp_time = Nanos(0);
        finds(Op::Read, no_ramp, &[LintWarning::NoRamp]);
        let zeroes = |j: &mut Job| j.buffers.fill = BufferContent::Zero;
        finds(Op::Write, zeroes, &[LintWarning::Compressible]);
        let clones = |j: &mut Job| (j.numjobs, j.access.random) = (4, false);
        finds(Op::Read, clones, &[LintWarning::SameBlocks { clones: 4 }]);
    }

    /// The warning about buffered reads of the whole sound job.
    fn fits() -> LintWarning {
        LintWarning::FitsInMemory {
            size: Bytes(4 << 30),
            memory: Bytes(8 << 30),
            odd_block: None,
        }
    }

    /// Regression: 18930 device reads for 16384 were called too few, and individually synced writes were called memory
    /// speed.
    #[test]
    fn a_cache_that_holds_nothing_back_is_no_fault() {
        let once = |j: &mut Job| {
            (j.files.direct, j.timing.time_based, j.timing.runtime) = (false, false, None)
        };
        finds(Op::Read, once, &[LintWarning::ReadAhead]);
        for change in [
            (|j: &mut Job| j.files.invalidate = false) as fn(&mut Job),
            |j| j.extent.loops = 2,
            |j| j.access.every_block_once = false,
            |j| j.numjobs = 2,
            |j| j.extent.io_size = Some(SizeSpec::Bytes(Bytes(64 << 30))),
        ] {
            finds(Op::Read, |j| (once(j), change(j)).1, &[fits()]);
        }
        for sync in [
            (|j: &mut Job| j.durability.fdatasync_every = 1) as fn(&mut Job),
            |j| j.durability.fsync_every = 32,
            |j| j.durability.dsync = true,
        ] {
            finds(Op::Write, |j| (j.files.direct = false, sync(j)).1, &[]);
        }
    }

    #[test]
    fn blocks_that_direct_io_does_not_support_are_named() {
        let odd = |j: &mut Job| {
            j.files.direct = false;
            j.block = hakaru_model::job::PerOp::all(BlockSize::Fixed(Bytes(2300)));
        };
        let odd_block = Some(Bytes(2300));
        finds(
            Op::Write,
            odd,
            &[LintWarning::Buffered { odd_block }, LintWarning::NotFlushed],
        );
    }

    #[test]
    fn what_was_just_written_is_not_read_from_the_device() {
        let (mut writer, mut reader) = (sound(Op::Write), sound(Op::Read));
        (writer.name, writer.files.direct, reader.files.direct) = ("w".into(), false, false);
        let read_back = LintWarning::ReadsBack { writer: "w".into() };
        assert!(warnings(vec![writer.clone(), reader.clone()]).contains(&read_back));
        writer.durability.end_fsync = true;
        assert!(
            !warnings(vec![writer.clone(), reader.clone()]).contains(&read_back),
            "flushed, then dropped"
        );
        reader.files.invalidate = false;
        assert!(warnings(vec![writer.clone(), reader.clone()]).contains(&read_back));
        reader.target = Target::Paths(vec!["other".into()]);
        assert!(!warnings(vec![writer, reader]).contains(&read_back));
    }

    #[test]
    fn what_reaches_no_storage_has_no_cache() {
        finds(
            Op::Read,
            |j| (j.files.direct, j.target) = (false, Target::Nothing),
            &[],
        );
    }

    #[test]
    fn a_misleading_unit_weighs_by_how_it_misleads() {
        let unit = LintWarning::Unit {
            option: "bs".into(),
            typed: "4KiB".into(),
            means: 4000,
        };
        assert_eq!((unit.option(), unit.weight()), ("bs", Severity::Wrong));
        let label = LintWarning::Unit {
            option: "size".into(),
            typed: "1GB".into(),
            means: 1 << 30,
        };
        assert!(LintWarning::OneRun.weight() < Severity::Weak && label.weight() == Severity::Note);
    }
}
