//! Resolves the jobs of a scenario with the facts about their paths.

mod later_starts;
mod regions;
mod room;
mod settings;
mod unopened;

use later_starts::later_starts;
use regions::percent_of;

use super::checks::check;
use super::files::{PlannedFiles, alignment_of_offsets, smallest_block};
use super::resolver::Resolver;
use super::writers::match_writer;
use super::{
    FilePlan, LayOut, PhasePlan, PlanError, SkippedJob, VerifyPlan, WorkerPlan, clone_paths,
};
use crate::caveat::Caveat;
use crate::facts::TargetKind;
use crate::job::rules::{Placement, TraversalOrder, Zones};
use crate::job::{
    Access, Extent, IoEngine, Job, Measure, Op, PerOp, Phase, Queue, SizeSpec, Target,
};
use crate::rng::Rng;
use crate::stream::{PassEnd, Region, StreamPlan};
use crate::units::{Bytes, Nanos};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

impl Resolver {
    pub(super) fn phase(
        &mut self,
        phase_index: usize,
        phase: &Phase,
    ) -> Result<PhasePlan, PlanError> {
        let mut files = PlannedFiles::default();
        let mut workers = Vec::new();
        self.empty_files(phase);
        for (index, job) in phase.jobs.iter().enumerate() {
            check(job)?;
            let seed = self.seeds.next_u64();
            let clones = self.clones(job, (phase_index, index as u32), seed, &mut files)?;
            if !clones.is_empty() {
                self.note_weaknesses(job);
                workers.extend(clones);
            }
        }
        let sharers = workers
            .iter()
            .filter(|w: &&WorkerPlan| w.buffers.repeats.shared)
            .count() as u32;
        workers.iter_mut().for_each(|w| {
            w.buffers.repeats.sharers = if w.buffers.repeats.shared { sharers } else { 0 }
        });
        self.settle_files(&files)?;
        self.forget_removed(phase);
        Ok(PhasePlan {
            name: phase.name.clone(),
            pause: longest_pause(phase),
            files: files.into_vec(),
            workers,
        })
    }

    /// Plans the workers of one job, without skipped clones.
    fn clones(
        &mut self,
        job: &Job,
        (phase, index): (usize, u32),
        seed: u64,
        files: &mut PlannedFiles,
    ) -> Result<Vec<WorkerPlan>, PlanError> {
        let seed = job.seed.map_or(seed, |own| Rng::fork(own, 7).next_u64());
        let mut workers = Vec::new();
        for clone in 0..job.numjobs {
            let before = files.len();
            match self.worker(job, index, clone, seed, files) {
                Ok(worker) => workers.push(worker),
                Err(error) if self.skips && error.is_of_one_job() => {
                    if !error.comes_after_layout() {
                        files.truncate(before);
                    }
                    self.skipped.push(SkippedJob {
                        phase,
                        job: index,
                        clone,
                        error,
                    });
                }
                Err(error) => return Err(error),
            }
            self.workers += 1;
        }
        Ok(workers)
    }

    fn note_weaknesses(&mut self, job: &Job) {
        if job.queue.iodepth > job.effective_depth() {
            let ioengine = job.ioengine.name().to_owned();
            self.note(Caveat::DepthCapped {
                ioengine,
                asked: job.queue.iodepth,
            });
        }
        match job.target {
            Target::Sim(_) => self.note(Caveat::Simulated),
            Target::Paths(_) | Target::Formatted { .. } if !job.files.direct => {
                self.note(Caveat::Buffered)
            }
            _ => {}
        }
    }

    fn note(&mut self, caveat: Caveat) {
        if !self.caveats.contains(&caveat) {
            self.caveats.push(caveat);
        }
    }

    fn worker(
        &mut self,
        job: &Job,
        index: u32,
        clone: u32,
        seed: u64,
        files: &mut PlannedFiles,
    ) -> Result<WorkerPlan, PlanError> {
        let (regions, room) = self.regions(job, clone, seed, files)?;
        let (regions, fits) = room::fitting(job, (regions, room), files, self.skips)?;
        super::checks::whole_units(job)?;
        let bytes = bytes_of(&regions);
        let in_passes = super::verify::in_passes(job, &regions, |job| total(job, room, bytes));
        let repeats_until = super::verify::repeats_until(job, total(job, room, bytes));
        let asked = job;
        let job = in_passes.as_ref().unwrap_or(job);
        let total = total(job, room, bytes);
        let restart_bytes = restart_bytes(job, total_of_size(job, room, bytes));
        // Data that is verified by reading is verified only once.
        let most = if checks_once(job) { bytes } else { u64::MAX };
        let max_block = largest_buffer(job);
        let mut plan = WorkerPlan {
            name: job.name.clone(),
            job: index,
            clone,
            number: self.workers,
            group: job.group,
            ioengine: job.ioengine,
            engine: job.engine.clone(),
            sim: match &job.target {
                Target::Sim(model) => Some(model.clone()),
                _ => None,
            },
            writes: job.access.destroys() || job.ioengine.traits().always_changes,
            files: job.files.clone(),
            stream: stream(job, clone, seed, (regions, total, most)),
            max_block,
            queue: queue(job),
            startdelay: startdelay(job, Rng::fork(seed, 0x2000 + u64::from(clone))),
            ramp_time: job.timing.ramp_time,
            runtime: job.timing.runtime,
            durability: job.durability.clone(),
            buffers: job.buffers.clone(),
            rate: job.rate.clone(),
            errors: job.errors.clone(),
            replay: job.replay.trace_of(clone).cloned(),
            record: job.replay.write.clone(),
            verify: VerifyPlan::of(job, seed),
            termination: job.termination.clone(),
            measure: measure(job),
            placement: placement(&job.placement, self.workers),
            commands: job.commands.clone(),
            wait_for: job.timing.wait_for.clone(),
            seed: Rng::fork(seed, 0x1000 + u64::from(clone)).next_u64(),
        };
        plan.stream.restart_bytes = restart_bytes;
        plan.stream.later_starts = later_starts(job, clone, &plan.stream, files);
        if let Some(verify) = &mut plan.verify {
            verify.flushes_last_write =
                in_passes.is_some() && !super::verify::is_one_pass(asked, total);
            verify.repeats_until = repeats_until;
        }
        match_writer(&mut self.writers, &mut plan, files);
        if job.files.create_only || !fits {
            (plan.stream.limit_bytes, plan.stream.limit_ios) = (Some(0), Some(0));
            plan.ramp_time = Nanos(0);
        }
        Ok(plan)
    }

    /// Sets the size to 0 of files that are truncated before a phase starts.
    fn empty_files(&mut self, phase: &Phase) {
        for job in phase.jobs.iter().filter(|job| job.files.empty_first) {
            for path in (0..job.numjobs).flat_map(|clone| clone_paths(job, clone)) {
                if let Some(facts) = self.facts.get_mut(&path)
                    && facts.kind == TargetKind::File
                {
                    let freed = std::mem::take(&mut facts.size).0;
                    facts.free = facts.free.map(|free| Bytes(free.0.saturating_add(freed)));
                }
            }
        }
    }

    /// Updates the facts for later phases after the jobs of this phase remove files.
    fn forget_removed(&mut self, phase: &Phase) {
        for job in phase
            .jobs
            .iter()
            .filter(|job| job.ioengine.traits().removes)
        {
            for path in (0..job.numjobs).flat_map(|clone| clone_paths(job, clone)) {
                if let Some(facts) = self.facts.get_mut(&path) {
                    (facts.kind, facts.size) = (TargetKind::Absent, Bytes(0));
                }
            }
        }
    }

    /// Checks that new files fit in the free space, and updates the facts for later phases.
    fn settle_files(&mut self, files: &[FilePlan]) -> Result<(), PlanError> {
        let mut needed_so_far: BTreeMap<PathBuf, u64> = BTreeMap::new();
        for file in files {
            let Some(facts) = self.facts.get_mut(&file.path) else {
                continue;
            };
            let grows = file.size.0.saturating_sub(facts.size.0);
            // The size of a file that fills its file system is not known yet.
            let sized = !matches!(file.lay_out, LayOut::Ready | LayOut::Fill);
            if let (Some(free), true) = (facts.free, sized && grows > 0) {
                let folder = file.path.parent().unwrap_or(Path::new("")).to_owned();
                let needed = needed_so_far.entry(folder).or_default();
                *needed += grows;
                // fio starts anyway and reports its progress.
                if *needed > free.0 && !self.skips {
                    let (job, path) = (file.job.clone(), file.path.clone());
                    return Err(PlanError::NoSpace {
                        job,
                        path,
                        needed: Bytes(*needed),
                        free,
                    });
                }
            }
            // A file that neither existed nor was laid out has no content after the phase either.
            let stays =
                !file.unlink && (file.kind, file.lay_out) != (TargetKind::Absent, LayOut::Ready);
            if stays && matches!(facts.kind, TargetKind::Absent | TargetKind::File) {
                facts.kind = TargetKind::File;
                // A file that is not laid out keeps its size, even if a job that fills the device may extend it.
                if sized {
                    facts.free = facts.free.map(|free| Bytes(free.0.saturating_sub(grows)));
                    facts.size = facts.size.max(file.size);
                }
            }
        }
        Ok(())
    }
}

/// Returns the pause before a phase: the longest that one of its jobs requests.
fn longest_pause(phase: &Phase) -> Nanos {
    let pauses = phase.jobs.iter().map(|job| job.timing.pause_before);
    pauses.max().unwrap_or_default()
}

/// Returns the bytes that a clone transfers in one loop; `room` is the space in its files, `blocks` the space in whole
/// blocks.
fn total(job: &Job, room: u64, blocks: u64) -> u64 {
    match (job.extent.io_size, job.extent.size) {
        (Some(SizeSpec::Bytes(b)), _) => b.0,
        // A percentage of the files, but at most `size`, as in fio.
        (Some(SizeSpec::Percent(p)), Some(SizeSpec::Bytes(size))) => {
            percent_of(room, p).min(size.0)
        }
        (Some(SizeSpec::Percent(p)), _) => percent_of(room, p),
        (None, _) => total_of_size(job, room, blocks),
    }
}

/// Returns the bytes that `size` asks for, as [`total`] does without `io_size`.
fn total_of_size(job: &Job, room: u64, blocks: u64) -> u64 {
    match job.extent.size {
        _ if lies_apart(job) => blocks / alignment_of_offsets(job) * smallest_block(job),
        // These orders access each whole block, and nothing else.
        _ if job.access.order != TraversalOrder::Forward => blocks,
        // If files have their own size, `size` limits the transferred bytes.
        Some(SizeSpec::Bytes(size)) => size.0.min(room),
        _ => room,
    }
}

/// Returns the bytes after which a job of several passes starts again. As in fio, only those with a queue do; trims
/// are synchronous, except with `null`.
fn restart_bytes(job: &Job, size: u64) -> Option<u64> {
    let Extent { io_size, loops, .. } = &job.extent;
    let endless = job.timing.time_based && job.timing.runtime.is_some();
    let again = *loops > 1 || matches!(io_size, Some(SizeSpec::Bytes(_)));
    let queued = match job.ioengine {
        IoEngine::Null => job.effective_depth() > 1,
        engine => !engine.is_synchronous() && !job.access.does(Op::Trim),
    };
    let checked = job.verify.is_some() || !job.replay.read.is_empty();
    let zoned = matches!(job.access.zones, Zones::Device { .. });
    (again && queued && !endless && !checked && !zoned).then_some(size.max(1))
}

/// Whether blocks are smaller than the alignment of their offsets and each is accessed once, so that they do not cover
/// the whole file.
fn lies_apart(job: &Job) -> bool {
    let each_once = job.access.random && job.access.every_block_once && job.access.run_length == 1;
    each_once && job.block_align.is_some() && job.access.percentage_random.is_none()
}

/// Returns the size in bytes of the largest I/O that needs a buffer. Trims need no buffer, but small trims still get
/// one of their size.
fn largest_buffer(job: &Job) -> u32 {
    let used = Op::ALL.into_iter().filter(|&op| job.access.does(op));
    let trims_only = |op: Op| op == Op::Trim && !job.access.writes_what_it_trims();
    let of = |op: Op| {
        if trims_only(op) {
            job.block[op].max().0.min(1 << 20)
        } else {
            job.block[op].max().0
        }
    };
    let in_line = job.block_rules.in_line.iter().map(|block| block.max().0);
    used.map(of).chain(in_line).max().unwrap_or(0) as u32
}

/// Returns the start delay of a clone.
fn startdelay(job: &Job, mut rng: Rng) -> Nanos {
    let (least, most) = (job.timing.startdelay.0, job.timing.startdelay_max.0);
    if most <= least {
        Nanos(least)
    } else {
        Nanos(least + rng.below((most - least).saturating_add(1)))
    }
}

/// The queue of a job, with the depth that its engine keeps.
///
/// As in fio, a trim is complete when its call returns: a job that only trims has one in flight. Where each write
/// follows a trim, nothing else is in flight, unless the engine submits I/Os one by one.
fn queue(job: &Job) -> Queue {
    let batches = job.queue.batch_submit > 1 || job.ioengine == IoEngine::Posixaio;
    let waits = trims_only(job) || job.access.trim_before_write && batches;
    Queue {
        iodepth: match waits {
            true => 1,
            false => job.effective_depth(),
        },
        // A trim that completes after the write to the same block would destroy its data.
        serialize_overlap: job.queue.serialize_overlap || job.access.trim_before_write,
        ..job.queue.clone()
    }
}

/// Whether a job does nothing but trims that an engine with a queue executes synchronously.
fn trims_only(job: &Job) -> bool {
    let queued = [IoEngine::Libaio, IoEngine::IoUring, IoEngine::Posixaio].contains(&job.ioengine);
    let others = [Op::Read, Op::Write]
        .into_iter()
        .any(|op| job.access.does(op));
    queued && job.access.does(Op::Trim) && !others
}

/// Bytes in all regions, saturating.
fn bytes_of(regions: &[Region]) -> u64 {
    let add = |sum: u64, region: &Region| sum.saturating_add(region.len);
    regions.iter().fold(0, add)
}

/// Returns what a job records. In an open loop, total latency is the relevant one, so its percentiles are recorded too.
fn measure(job: &Job) -> Measure {
    let open = Op::ALL
        .into_iter()
        .any(|op| job.access.does(op) && job.is_open_loop(op));
    let keeps = job.measure.lat || job.measure.clat;
    Measure {
        lat: job.measure.lat || open && keeps,
        lat_histogram: job.measure.lat_histogram || open && keeps,
        ..job.measure.clone()
    }
}

/// Whether a job only reads and verifies, and accesses each block once per pass. As in fio, jobs with gaps, runs, zones
/// or sequential I/O between random ones repeat their passes.
fn checks_once(job: &Job) -> bool {
    let access = &job.access;
    let reads_only = access.does(Op::Read) && !access.does(Op::Write);
    let each_once = match access.random {
        true => access.every_block_once && access.run_length == 1,
        false => access.stride == 0,
    };
    let plain = access.zones == Zones::None && access.percentage_random.is_none();
    job.verify.is_some() && reads_only && each_once && plain
}

/// Returns the requests of one clone: `total` bytes per pass, at most `most` bytes in all.
fn stream(
    job: &Job,
    clone: u32,
    seed: u64,
    (regions, total, most): (Vec<Region>, u64, u64),
) -> StreamPlan {
    let endless = job.timing.time_based && job.timing.runtime.is_some();
    // Data that is verified by reading is read in one pass, even if more passes are requested.
    let once = checks_once(job);
    let loops = if once { 1 } else { job.extent.loops };
    StreamPlan {
        regions,
        access: Access {
            percentage_random: job
                .access
                .percentage_random
                .filter(|percent| *percent != PerOp::all(100)),
            ..job.access.clone()
        },
        block: job.block.clone(),
        align: alignment_of_offsets(job),
        limit_bytes: (!endless)
            .then(|| total.saturating_mul(u64::from(job.extent.loops)).min(most)),
        limit_ios: job
            .extent
            .number_ios
            .map(|ios| ios.saturating_mul(u64::from(job.extent.loops))),
        pass_bytes: (!endless && loops > 1).then_some(total),
        loops,
        pass_end: match (endless, job.extent.io_size.filter(|_| !once)) {
            (true, _) => PassEnd::Repeat,
            (false, Some(SizeSpec::Bytes(_))) => PassEnd::MoveBytes(total),
            (false, Some(SizeSpec::Percent(_)) | None) => PassEnd::Stop,
        },
        seed: Rng::fork(seed, u64::from(clone)).next_u64(),
        turns: job.files.turns.clone(),
        sizes: job.block_rules.clone(),
        later_starts: Vec::new(),
        restart_bytes: None,
        draws_anew: job.extent.draws_anew,
    }
}

/// Returns the placement of one worker; with split CPUs, it gets one of the job's CPUs.
fn placement(asked: &Placement, worker: u32) -> Placement {
    let mut placement = asked.clone();
    let cpus = &asked.cpus_allowed;
    if placement.split_cpus && !cpus.is_empty() {
        placement.cpus_allowed = vec![cpus[worker as usize % cpus.len()]];
    }
    placement
}
