//! How a scenario becomes a plan: each job meets the facts of its paths.

use super::checks::check;
use super::sizes::FileSizes;
use super::stretches::within;
use super::writers::Writer;
use super::{Facts, FilePlan, LayOut, LeftOut, PhasePlan, PlanError, VerifyPlan, WorkerPlan, clone_paths};
use crate::caveat::Caveat;
use crate::facts::{TargetFacts, TargetKind};
use crate::job::rules::{Course, Zones};
use crate::job::{Extent, Fill, IoEngine, Job, Measure, Op, PerOp, Phase, Queue, SizeSpec, Target};
use crate::rng::Rng;
use crate::stream::{PassEnd, Region, StreamPlan};
use crate::units::{Bytes, Nanos};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// State while a scenario is walked: facts change as earlier phases make files.
pub(super) struct Resolver {
    pub(super) facts: Facts,
    pub(super) caveats: Vec<Caveat>,
    pub(super) seeds: Rng,
    /// Workers planned so far, over all phases.
    pub(super) workers: u32,
    /// Those of them whose writes can be checked.
    pub(super) writers: Vec<Writer>,
    /// Whether jobs that cannot run are left out rather than ending it all.
    pub(super) leaves_out: bool,
    pub(super) left_out: Vec<LeftOut>,
}

impl Resolver {
    pub(super) fn phase(&mut self, phase_index: usize, phase: &Phase) -> Result<PhasePlan, PlanError> {
        let mut files: Vec<FilePlan> = Vec::new();
        let mut workers = Vec::new();
        for (index, job) in phase.jobs.iter().enumerate() {
            check(job)?;
            let seed = self.seeds.next_u64();
            let before = if self.leaves_out { files.clone() } else { Vec::new() };
            let first = self.workers;
            match self.clones(job, index as u32, seed, &mut files) {
                Ok(clones) => {
                    self.note_weaknesses(job);
                    workers.extend(clones);
                }
                Err(error) if self.leaves_out && error.is_of_one_job() => {
                    files = before;
                    self.workers = first + job.numjobs;
                    self.left_out.push(LeftOut { phase: phase_index, job: index as u32, error });
                }
                Err(error) => return Err(error),
            }
        }
        let sharers = workers.iter().filter(|w: &&WorkerPlan| w.buffers.repeats.shared).count() as u32;
        workers.iter_mut().for_each(|w| w.buffers.repeats.sharers = if w.buffers.repeats.shared { sharers } else { 0 });
        self.settle_files(&files)?;
        self.forget_removed(phase);
        Ok(PhasePlan { name: phase.name.clone(), files, workers })
    }

    /// The workers of one job.
    fn clones(
        &mut self,
        job: &Job,
        index: u32,
        seed: u64,
        files: &mut Vec<FilePlan>,
    ) -> Result<Vec<WorkerPlan>, PlanError> {
        let one = |clone| {
            let seed = job.seed.map_or(seed, |own| Rng::fork(own, 7).next_u64());
            let worker = self.worker(job, index, clone, seed, files)?;
            self.workers += 1;
            Ok(worker)
        };
        (0..job.numjobs).map(one).collect()
    }

    fn note_weaknesses(&mut self, job: &Job) {
        if job.queue.iodepth > job.effective_depth() {
            let ioengine = job.ioengine.name().to_owned();
            self.note(Caveat::DepthCapped { ioengine, asked: job.queue.iodepth });
        }
        match job.target {
            Target::Sim(_) => self.note(Caveat::Simulated),
            Target::Paths(_) | Target::Formatted { .. } if !job.files.direct => self.note(Caveat::Buffered),
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
        files: &mut Vec<FilePlan>,
    ) -> Result<WorkerPlan, PlanError> {
        let (regions, room) = self.regions(job, clone, seed, files)?;
        let bytes = regions.iter().map(|r| r.len).sum();
        let total = total(job, room, bytes);
        // What is checked by reading is checked once.
        let most = if checks_once(job) { bytes } else { u64::MAX };
        let logical = self.logical_block(job, &regions, files);
        let max_block = largest_buffer(job);
        let endless = job.timing.time_based && job.timing.runtime.is_some();
        let mut plan = WorkerPlan {
            name: job.name.clone(),
            job: index,
            clone,
            number: self.workers,
            group: job.group,
            ioengine: job.ioengine,
            engine: job.engine.clone(),
            sim: match &job.target {
                Target::Sim(prices) => Some(prices.clone()),
                _ => None,
            },
            direct: job.files.direct,
            writes: job.access.destroys() || job.ioengine.traits().always_changes,
            invalidate: job.files.invalidate,
            pre_read: job.files.pre_read,
            stream: StreamPlan {
                regions,
                access: job.access.clone(),
                block: job.block.clone(),
                align: alignment_of_offsets(job),
                limit_bytes: (!endless).then(|| total.saturating_mul(u64::from(job.extent.loops)).min(most)),
                limit_ios: job.extent.number_ios.map(|ios| ios.saturating_mul(u64::from(job.extent.loops))),
                pass_bytes: (!endless && job.extent.loops > 1).then_some(total),
                loops: job.extent.loops,
                pass_end: match (endless, job.extent.io_size) {
                    (true, _) => PassEnd::Repeat,
                    (false, Some(_)) => PassEnd::MoveBytes(total),
                    (false, None) => PassEnd::Stop,
                },
                seed: Rng::fork(seed, u64::from(clone)).next_u64(),
                percent_random: job.rules.percentage_random.filter(|percent| *percent != PerOp::all(100)),
                turns: job.rules.turns.clone(),
                zones: job.rules.zones.clone(),
                course: job.rules.course,
                sizes: job.rules.sizes.clone(),
            },
            max_block,
            alignment: logical.max(4096),
            queue: Queue { iodepth: job.effective_depth(), ..job.queue.clone() },
            startdelay: startdelay(job, Rng::fork(seed, 0x2000 + u64::from(clone))),
            ramp_time: job.timing.ramp_time,
            runtime: job.timing.runtime,
            durability: job.durability.clone(),
            buffers: job.buffers.clone(),
            rate: job.rate.clone(),
            errors: job.errors,
            ignore_errors: job.rules.ignore_errors.clone(),
            replay: job.rules.replay.trace_of(clone).cloned(),
            record: job.rules.replay.write.clone(),
            verify: VerifyPlan::of(job, seed),
            exit: job.rules.exit,
            time_close: job.rules.files.time_close,
            measure: measure(job),
            cpus_allowed: match job.cpus_allowed.len() {
                n if n > 0 && job.rules.split_cpus => vec![job.cpus_allowed[self.workers as usize % n]],
                _ => job.cpus_allowed.clone(),
            },
            seed: Rng::fork(seed, 0x1000 + u64::from(clone)).next_u64(),
            rules: job.rules.clone(),
        };
        self.match_writer(&mut plan, files);
        Ok(plan)
    }

    fn logical_block(&self, job: &Job, regions: &[Region], files: &[FilePlan]) -> u32 {
        if let Target::Sim(prices) = &job.target {
            return prices.block_size;
        }
        let known = regions.iter().filter_map(|r| files.get(r.file as usize)).filter_map(|f| self.facts.get(&f.path));
        known.map(|facts| facts.logical_block).max().unwrap_or(512)
    }

    /// The parts of its files that one clone uses, and the bytes they have before they are cut to whole blocks; adds the
    /// files it needs.
    fn regions(
        &self,
        job: &Job,
        clone: u32,
        seed: u64,
        files: &mut Vec<FilePlan>,
    ) -> Result<(Vec<Region>, u64), PlanError> {
        if let Some(trace) = job.rules.replay.trace_of(clone) {
            let regions = self.replayed_regions(job, trace, files)?;
            let room = regions.iter().map(|region| region.len).sum();
            return Ok((regions, room));
        }
        match &job.target {
            Target::Nothing => {
                let len = given(job.extent.size).or(job.extent.filesize.map(|b| b.0)).unwrap_or(1 << 40);
                let nowhere = Path::new("null");
                return Ok(only(share(job, cut(job, 0, nowhere, (len, len), 0, (clone, 1))?, 1)));
            }
            Target::Sim(prices) => {
                let size = prices.announced().0;
                return Ok(only(share(job, cut(job, 0, Path::new(&prices.name), (size, size), size, (clone, 1))?, 1)));
            }
            Target::Paths(_) | Target::Formatted { .. } => {}
        }
        let paths = clone_paths(job, clone);
        let count = paths.len().max(1) as u64;
        let (mut regions, mut room) = (Vec::new(), 0);
        let mut sizes = FileSizes::of(job, clone, seed);
        for path in paths {
            let Some(drawn) = sizes.draw() else { break };
            let facts = self
                .facts
                .get(&path)
                .ok_or_else(|| PlanError::NoFacts { job: job.name.clone(), path: path.clone() })?;
            measurable(job, facts)?;
            let device = matches!(facts.kind, TargetKind::BlockDevice | TargetKind::CharDevice);
            // A device whose size is 0 is a stream such as /dev/zero: it is as long as the job says.
            let fixed = if device { facts.size.0 } else { 0 };
            // An offset in percent is one of the file as it is before the job, as in fio: of a new file it is 0, unless
            // an earlier job of the phase makes it.
            let made = files.iter().find(|file| file.path == path && file.lay_out != LayOut::Ready);
            let base = if device { fixed } else { made.map_or(facts.size.0, |file| file.size.0.max(facts.size.0)) };
            let full = match (fixed > 0, drawn.or(job.extent.filesize), job.extent.size) {
                (true, Some(wanted), _) if wanted.0 > fixed => {
                    let (job, size, offset) = (job.name.clone(), facts.size, Bytes(0));
                    return Err(PlanError::PastEnd { job, path, size, offset, wanted });
                }
                (true, ..) if job.rules.files.fill_device => fixed,
                (false, ..) if job.rules.files.fill_device => everything(facts),
                (_, Some(filesize), _) => filesize.0,
                (true, None, _) => fixed,
                (false, None, Some(SizeSpec::Bytes(size))) if job.rules.files.append => facts.size.0 + size.0 / count,
                (false, None, Some(SizeSpec::Bytes(size))) => {
                    facts.size.0.max(size.0 / count + resolve_offset(job, clone, base))
                }
                (false, None, _) if facts.size.0 > 0 => facts.size.0,
                _ => return Err(PlanError::NoSize { job: job.name.clone(), path }),
            };
            // What a job uses only in part is made no larger than that, in whole blocks, as fio does.
            let needed = match job.extent.size {
                Some(SizeSpec::Percent(percent)) if fixed == 0 && facts.size.0 < full => {
                    let part = percent_of(full, percent);
                    let whole = part - part % smallest_block(job);
                    (resolve_offset(job, clone, base) + whole).min(full)
                }
                _ => full,
            };
            let index = add_file(job, facts, needed, files);
            let mut region = match job.rules.files.fill_device {
                true => Region { file: index, offset: 0, len: full, file_len: full },
                false => cut(job, index, &path, (full, base), fixed, (clone, count))?,
            };
            // What the file will really be: a job with holes begins again behind that.
            region.file_len = if fixed > 0 { full } else { needed.max(facts.size.0) };
            if job.rules.files.append && !device {
                (region.offset, region.len) = (facts.size.0, full - facts.size.0);
            }
            check_alignment(job, facts, &region)?;
            let exact = region.len;
            let in_percent = matches!(job.extent.size, Some(SizeSpec::Percent(_)));
            if !job.access.random && job.extent.filesize.is_some() && !in_percent {
                // As in fio, a job in line goes on to the end of its last block where the file is that long.
                let whole = region.len.next_multiple_of(smallest_block(job));
                let there = if fixed > 0 { fixed } else { facts.size.0 };
                region.len = if region.offset + whole <= there { whole } else { region.len };
            }
            let (region, shared) =
                if job.rules.files.fill_device { (region, exact) } else { share(job, region, count) };
            let exact = shared.min(exact);
            within(job, &path, &region)?;
            regions.push(region);
            room += exact;
        }
        Ok((regions, room))
    }

    /// Lets later phases know what the jobs of this one remove.
    fn forget_removed(&mut self, phase: &Phase) {
        for job in phase.jobs.iter().filter(|job| job.ioengine.traits().removes) {
            for path in (0..job.numjobs).flat_map(|clone| clone_paths(job, clone)) {
                if let Some(facts) = self.facts.get_mut(&path) {
                    (facts.kind, facts.size) = (TargetKind::Absent, Bytes(0));
                }
            }
        }
    }

    /// Checks that new files fit, and lets later phases see them.
    fn settle_files(&mut self, files: &[FilePlan]) -> Result<(), PlanError> {
        let mut needed_so_far: BTreeMap<PathBuf, u64> = BTreeMap::new();
        for file in files {
            let Some(facts) = self.facts.get_mut(&file.path) else { continue };
            let grows = file.size.0.saturating_sub(facts.size.0);
            // How large one will be that fills its file system is not known yet.
            let sized = !matches!(file.lay_out, LayOut::Ready | LayOut::Fill);
            if let (Some(free), true) = (facts.free, sized && grows > 0) {
                let folder = file.path.parent().unwrap_or(Path::new("")).to_owned();
                let needed = needed_so_far.entry(folder).or_default();
                *needed += grows;
                // fio begins all the same, and prints how far it came.
                if *needed > free.0 && !self.leaves_out {
                    let (job, path) = (file.job.clone(), file.path.clone());
                    return Err(PlanError::NoSpace { job, path, needed: Bytes(*needed), free });
                }
            }
            // What was neither there nor laid out has no content when the phase is over either.
            let stays = !file.unlink && (file.kind, file.lay_out) != (TargetKind::Absent, LayOut::Ready);
            if stays && matches!(facts.kind, TargetKind::Absent | TargetKind::File) {
                facts.kind = TargetKind::File;
                // What is not laid out is as long as it was, however long a job that fills the device may make it.
                if sized {
                    facts.free = facts.free.map(|free| Bytes(free.0.saturating_sub(grows)));
                    facts.size = facts.size.max(file.size);
                }
            }
        }
        Ok(())
    }
}

fn given(size: Option<SizeSpec>) -> Option<u64> {
    match size {
        Some(SizeSpec::Bytes(b)) => Some(b.0),
        _ => None,
    }
}

/// Bytes that a clone transfers in one loop, when its files have `room` bytes for it, and `blocks` in whole blocks.
fn total(job: &Job, room: u64, blocks: u64) -> u64 {
    match (job.extent.io_size, job.extent.size) {
        (Some(SizeSpec::Bytes(b)), _) => b.0,
        (Some(SizeSpec::Percent(p)), _) => percent_of(blocks, p),
        (None, _) if lies_apart(job) => blocks / alignment_of_offsets(job) * smallest_block(job),
        // These come to each whole block, and to nothing else.
        (None, _) if job.rules.course != Course::Forward => blocks,
        // Where files have a size of their own, `size` says how much of them is transferred at most.
        (None, Some(SizeSpec::Bytes(size))) => size.0.min(room),
        (None, _) => room,
    }
}

/// The only region of a worker, and its bytes.
fn only((region, exact): (Region, u64)) -> (Vec<Region>, u64) {
    (vec![region], exact)
}

/// Whether blocks are smaller than what their offsets are multiples of, and each comes once: then they are not the whole
/// of their files.
fn lies_apart(job: &Job) -> bool {
    let each_once = job.access.random && job.access.every_block_once && job.access.run_length == 1;
    each_once && job.block_align.is_some() && job.rules.percentage_random.is_none()
}

/// More than the file system under a file can take: a job that fills it ends when there is no space left.
fn everything(facts: &TargetFacts) -> u64 {
    let free = facts.free.map_or(1 << 40, |free| free.0);
    (facts.size.0 + free).next_multiple_of(1 << 30) + (1 << 30)
}

/// One file's share of `size`, in whole blocks, and its bytes before it is cut to them. A sequential job goes on to the end
/// of its last block where the file is long enough, as fio does; a random one keeps to the blocks that fit.
fn share(job: &Job, mut region: Region, files: u64) -> (Region, u64) {
    let block = smallest_block(job);
    let mut exact = region.len;
    if let (Some(SizeSpec::Bytes(size)), None) = (job.extent.size, job.extent.filesize) {
        let share = (size.0 / files).max(1);
        exact = exact.min(share);
        let rounded = if job.access.random { share } else { share.next_multiple_of(block) };
        region.len = region.len.min(rounded);
    }
    // Where a job with holes ends follows from the end of its part to the byte.
    let holes = !job.access.random && job.access.stride > 0;
    if region.len > block && !holes {
        region.len -= region.len % block;
    }
    // A share in percent is one of whole blocks, as in fio.
    if let Some(SizeSpec::Percent(_)) = job.extent.size {
        exact -= if exact > block { exact % block } else { 0 };
    }
    (region, exact)
}

/// Bytes of the largest I/O that needs a buffer. A trim needs none, but has had one of its size as long as that is small.
fn largest_buffer(job: &Job) -> u32 {
    let used = Op::ALL.into_iter().filter(|&op| job.access.does(op));
    let trims_only = |op: Op| op == Op::Trim && !job.access.writes_what_it_trims();
    let of = |op: Op| if trims_only(op) { job.block[op].max().0.min(1 << 20) } else { job.block[op].max().0 };
    let in_line = job.rules.sizes.in_line.iter().map(|block| block.max().0);
    used.map(of).chain(in_line).max().unwrap_or(0) as u32
}

/// How long a clone waits before it begins.
fn startdelay(job: &Job, mut rng: Rng) -> Nanos {
    let (least, most) = (job.timing.startdelay.0, job.timing.startdelay_max.0);
    if most <= least { Nanos(least) } else { Nanos(least + rng.below(most - least + 1)) }
}

pub(super) fn smallest_block(job: &Job) -> u64 {
    job.blocks_used().map(|b| b.min().0).min().unwrap_or(1).max(1)
}

fn percent_of(whole: u64, percent: u32) -> u64 {
    (u128::from(whole) * u128::from(percent) / 100) as u64
}

/// What offsets are multiples of: `blockalign`, else the smallest block.
fn alignment_of_offsets(job: &Job) -> u64 {
    job.block_align.map_or(smallest_block(job), |align| align.0).max(1)
}

/// Where a clone begins in a file of `base` bytes. What is given in percent is rounded up, to a block if nothing else is said, as fio does.
fn resolve_offset(job: &Job, clone: u32, base: u64) -> u64 {
    let resolve = |spec: SizeSpec| match spec {
        SizeSpec::Bytes(b) => b.0,
        SizeSpec::Percent(p) => percent_of(base, p),
    };
    let Extent { offset, offset_increment, .. } = &job.extent;
    let exact = resolve(*offset).saturating_add(resolve(*offset_increment).saturating_mul(u64::from(clone)));
    let relative = [offset, offset_increment].into_iter().any(|spec| matches!(spec, SizeSpec::Percent(_)));
    let unit = if job.extent.offset_align > 0 { job.extent.offset_align } else { smallest_block(job) };
    if relative { exact.checked_next_multiple_of(unit).unwrap_or(exact) } else { exact }
}

/// Cuts the part of a file of `full` bytes that a clone uses which shares its `size` out to so many files. Offsets in
/// percent are those of `base` bytes. `fixed` is the size of a device, which cannot grow.
fn cut(
    job: &Job,
    file: u32,
    path: &Path,
    (full, base): (u64, u64),
    fixed: u64,
    (clone, count): (u32, u64),
) -> Result<Region, PlanError> {
    let offset = resolve_offset(job, clone, base);
    if offset >= full && offset > 0 {
        let (job, path) = (job.name.clone(), path.to_owned());
        return Err(PlanError::OffsetPastEnd { job, path, offset: Bytes(offset), size: Bytes(full) });
    }
    let rest = full.saturating_sub(offset);
    let len = match job.extent.size {
        None => rest,
        Some(SizeSpec::Percent(p)) => percent_of(full, p).min(rest),
        Some(SizeSpec::Bytes(_)) if job.extent.filesize.is_some() => rest,
        Some(SizeSpec::Bytes(size)) if fixed > 0 && size.0 / count > rest => {
            let (job, path, wanted) = (job.name.clone(), path.to_owned(), Bytes(size.0 / count));
            return Err(PlanError::PastEnd { job, path, size: Bytes(full), offset: Bytes(offset), wanted });
        }
        Some(SizeSpec::Bytes(_)) => rest,
    };
    let block = Bytes(smallest_block(job));
    let given = given(job.extent.size).filter(|_| job.extent.filesize.is_none());
    let room = given.map_or(len, |size| (size / count).min(len));
    if room < block.0 {
        let (job, path) = (job.name.clone(), path.to_owned());
        return Err(PlanError::TooSmall { job, path, room: Bytes(room), offset: Bytes(offset), block });
    }
    Ok(Region { file, offset, len, file_len: full })
}

pub(super) fn measurable(job: &Job, facts: &TargetFacts) -> Result<(), PlanError> {
    let (name, path) = (job.name.clone(), facts.path.clone());
    let names = job.ioengine.works_on_names();
    match facts.kind {
        TargetKind::Directory | TargetKind::Absent if job.ioengine.works_on_directories() => Ok(()),
        TargetKind::BlockDevice | TargetKind::CharDevice if names && job.ioengine.traits().always_changes => {
            Err(PlanError::NotMeasurable { job: name, path, what: "device file" })
        }
        TargetKind::Directory => Err(PlanError::NotMeasurable { job: name, path, what: "directory" }),
        TargetKind::Other => Err(PlanError::NotMeasurable { job: name, path, what: "socket, pipe or the like" }),
        TargetKind::Absent if !job.files.allow_create => Err(PlanError::Missing { job: name, path }),
        _ if job.access.destroys() && !facts.writable => Err(PlanError::ReadOnly { job: name, path }),
        TargetKind::File | TargetKind::Absent if job.access.does(Op::Trim) && !trims_files(job) => {
            Err(PlanError::TrimOnFile { job: name, path })
        }
        _ => Ok(()),
    }
}

/// Whether what is done for a trim works on files. A zone is emptied where one is thought to be, too.
fn trims_files(job: &Job) -> bool {
    let zoned = matches!(job.rules.zones, Zones::Device { .. });
    zoned || job.ioengine == IoEngine::Falloc || job.ioengine.works_on_names()
}

/// Direct I/O reaches the device as it is, so every size and place has to be a multiple of its blocks.
fn check_alignment(job: &Job, facts: &TargetFacts, region: &Region) -> Result<(), PlanError> {
    let logical = u64::from(facts.logical_block.max(1));
    if !job.files.direct || job.ioengine.works_on_names() {
        return Ok(());
    }
    let blocks = job.blocks_used().flat_map(|b| [b.min().0, b.max().0]);
    let odd = blocks.chain([alignment_of_offsets(job)]).find(|b| b % logical != 0);
    if odd.is_none() && region.offset.is_multiple_of(logical) {
        return Ok(());
    }
    let block = odd.unwrap_or_else(|| alignment_of_offsets(job));
    let (name, path) = (job.name.clone(), facts.path.clone());
    let better = block.next_multiple_of(logical);
    Err(PlanError::Misaligned { job: name, path, block, offset: region.offset, logical: facts.logical_block, better })
}

/// Adds a file, or widens what an earlier worker asked of it. Returns its index.
pub(super) fn add_file(job: &Job, facts: &TargetFacts, size: u64, files: &mut Vec<FilePlan>) -> u32 {
    let reads = job.access.does(Op::Read) || job.files.overwrite || job.ioengine.traits().cannot_extend;
    let missing = matches!(facts.kind, TargetKind::Absent | TargetKind::File)
        && facts.size.0 < size
        && job.ioengine.traits().needs_files
        && !job.rules.files.create_on_open;
    let lay_out = match (missing, job.rules.files.fill_device, reads) {
        (true, true, _) if !job.access.does(Op::Write) => LayOut::Fill,
        (false, ..) | (_, true, _) => LayOut::Ready,
        (true, _, true) => LayOut::Write(job.files.fallocate),
        (true, _, false) => LayOut::Reserve(job.files.fallocate),
    };
    let file = FilePlan {
        path: facts.path.clone(),
        kind: facts.kind,
        size: Bytes(size),
        lay_out,
        zeros: job.buffers.fill == Fill::Zero,
        unlink: job.files.unlink,
        job: job.name.clone(),
    };
    if let Some(index) = files.iter().position(|f| f.path == file.path) {
        let known = &mut files[index];
        known.size = known.size.max(file.size);
        known.unlink |= file.unlink;
        if matches!((known.lay_out, file.lay_out), (LayOut::Ready, _) | (_, LayOut::Write(_))) {
            known.lay_out = file.lay_out;
        }
        return index as u32;
    }
    files.push(file);
    files.len() as u32 - 1
}

/// What a job records. Of an open loop total latency is the one that counts, so its percentiles are kept too.
fn measure(job: &Job) -> Measure {
    let open = Op::ALL.into_iter().any(|op| job.access.does(op) && job.is_open_loop(op));
    let keeps = job.measure.lat || job.measure.clat;
    Measure {
        lat: job.measure.lat || open && keeps,
        lat_histogram: job.measure.lat_histogram || open && keeps,
        ..job.measure.clone()
    }
}

/// Whether a job only reads and checks, and comes to each block once a pass.
fn checks_once(job: &Job) -> bool {
    let reads_only = job.access.does(Op::Read) && !job.access.does(Op::Write);
    job.rules.verify.is_some() && reads_only && (job.access.every_block_once || !job.access.random)
}
