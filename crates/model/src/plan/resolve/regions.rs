//! Regions of the files that a worker uses.

use super::room;
use crate::facts::{TargetFacts, TargetKind};
use crate::job::rules::Zones;
use crate::job::{BlockSize, Distribution, Extent, Job, Op, SizeSpec, Target};
use crate::obstacle::ValueRule;
use crate::plan::distribution_zones::within;
use crate::plan::files::{
    PlannedFiles, add_file, alignment_of_offsets, measurable, smallest_block,
};
use crate::plan::resolver::Resolver;
use crate::plan::sizes::FileSizes;
use crate::plan::{LayOut, PlanError, clone_paths};
use crate::stream::Region;
use crate::units::Bytes;
use std::path::Path;

/// Maximum file size of the kernel (`loff_t`), in bytes.
const LARGEST_FILE: u64 = i64::MAX as u64;

impl Resolver {
    /// Returns the regions of the files that one clone uses, and their bytes before rounding to whole blocks. Adds the
    /// files it needs.
    pub(super) fn regions(
        &self,
        job: &Job,
        clone: u32,
        seed: u64,
        files: &mut PlannedFiles,
    ) -> Result<(Vec<Region>, u64), PlanError> {
        if let Some(trace) = job.replay.trace_of(clone) {
            let regions = self.replayed_regions(job, trace, files)?;
            let room = regions.iter().map(|region| region.len).sum();
            return Ok((regions, room));
        }
        match &job.target {
            Target::Nothing => return self.unopened_regions(job, clone, seed),
            Target::Sim(model) => {
                let (size, path) = (model.announced().0, Path::new(&model.name));
                let offset = resolve_offset(job, clone, size);
                let region = cut(job, 0, path, (size, offset), size, 1)?;
                room::check(job, path, &region, 1)?;
                return Ok(only(share(job, region, 1)));
            }
            Target::Paths(_) | Target::Formatted { .. } => {}
        }
        let paths = clone_paths(job, clone);
        let count = paths.len().max(1) as u64;
        let (mut regions, mut room) = (Vec::new(), 0);
        let mut sizes = FileSizes::of(job, clone, seed);
        for path in paths {
            let Some(drawn) = sizes.draw() else { break };
            let facts = self.facts.get(&path).ok_or_else(|| PlanError::NoFacts {
                job: job.name.clone(),
                path: path.clone(),
            })?;
            measurable(job, facts)?;
            let device = matches!(facts.kind, TargetKind::BlockDevice | TargetKind::CharDevice);
            // A device of size 0 is a stream such as /dev/zero; the job determines its size.
            let fixed = if device { facts.size.0 } else { 0 };
            // As in fio, an offset in percent refers to the size of the file before the job: for a new file it is 0,
            // unless an earlier job of the phase creates the file.
            let made = files
                .find(&path)
                .filter(|file| file.lay_out != LayOut::Ready);
            let base = if device {
                fixed
            } else {
                made.map_or(facts.size.0, |file| file.size.0.max(facts.size.0))
            };
            let offset = resolve_offset(job, clone, base);
            let full = full_size(job, (&path, facts), (drawn, fixed), offset, count)?;
            let offset = if job.files.append && !device {
                facts.size.0
            } else {
                offset
            };
            // As in fio, a file that is used only in part is created no larger than that part, in whole blocks.
            let needed = match job.extent.size {
                Some(SizeSpec::Percent(percent @ ..100)) if fixed == 0 && facts.size.0 < full => {
                    let part = percent_of(full, percent);
                    let whole = part - part % smallest_block(job);
                    offset.saturating_add(whole).min(full)
                }
                _ => full,
            };
            if !job.files.allow_create && facts.kind == TargetKind::File && facts.size.0 < needed {
                let job = job.name.clone();
                return Err(PlanError::MayNotCreate { job, path });
            }
            let earlier = made.map_or(0, |file| file.size.0);
            let index = add_file(job, facts, needed, files);
            let part = (full, needed, offset, fixed);
            let mut part = part_of_file(job, (index, &path, facts), part, count)?;
            part.file_len = part.file_len.max(earlier);
            if !self.skips {
                room::check(job, &path, &part, count)?;
            }
            let (region, exact) = checked_part(job, (&path, facts), part, (fixed, count))?;
            regions.push(region);
            room = exact.saturating_add(room);
        }
        Ok((regions, room))
    }
}

/// Returns the size of a file at the start of the job: as drawn, as requested, or as it was before.
fn full_size(
    job: &Job,
    (path, facts): (&Path, &TargetFacts),
    (drawn, fixed): (Option<Bytes>, u64),
    offset: u64,
    count: u64,
) -> Result<u64, PlanError> {
    Ok(
        match (fixed > 0, drawn.or(job.extent.filesize), job.extent.size) {
            (true, Some(wanted), _) if wanted.0 > fixed => {
                let (job, size, offset) = (job.name.clone(), facts.size, Bytes(0));
                return Err(PlanError::PastEnd {
                    job,
                    path: path.to_owned(),
                    size,
                    offset,
                    wanted,
                });
            }
            (false, ..) if job.files.fill_device => everything(facts),
            (_, Some(filesize), _) => filesize.0,
            (true, None, _) => fixed,
            (false, None, Some(SizeSpec::Bytes(size))) if job.files.append => {
                facts.size.0.saturating_add(size.0 / count)
            }
            (false, None, Some(SizeSpec::Bytes(size))) => {
                facts.size.0.max((size.0 / count).saturating_add(offset))
            }
            (false, None, _) if facts.size.0 > 0 => facts.size.0,
            _ => {
                return Err(PlanError::NoSize {
                    job: job.name.clone(),
                    path: path.to_owned(),
                });
            }
        },
    )
}

/// Returns the region of one file that a job may use, at most `full` bytes of the file from `offset` on.
fn part_of_file(
    job: &Job,
    (index, path, facts): (u32, &Path, &TargetFacts),
    (full, needed, offset, fixed): (u64, u64, u64, u64),
    count: u64,
) -> Result<Region, PlanError> {
    if job.files.append && fixed == 0 && full <= offset {
        // As in fio, a file at its maximum size has no space for more data.
        return Err(past_end(job, path, offset, full));
    }
    let mut region = match job.files.fill_device {
        true => Region {
            file: index,
            offset: 0,
            len: full,
            file_len: full,
        },
        false => cut(job, index, path, (full, offset), fixed, count)?,
    };
    // Size of the device, or future size of the file: a job with gaps starts again at its end.
    region.file_len = if fixed > 0 {
        fixed
    } else {
        needed.max(facts.size.0)
    };
    if needed < full {
        // A file that the job creates with the size of its share ends with the share.
        let rest = region.file_len.saturating_sub(region.offset);
        region.len = region.len.min(rest);
    }
    Ok(region)
}

/// Returns the region of one file that a job uses, and its bytes before rounding to whole blocks.
fn checked_part(
    job: &Job,
    (path, facts): (&Path, &TargetFacts),
    mut region: Region,
    (fixed, count): (u64, u64),
) -> Result<(Region, u64), PlanError> {
    check_alignment(job, facts, &region)?;
    let exact = region.len;
    let in_percent = matches!(job.extent.size, Some(SizeSpec::Percent(_)));
    if !job.access.random && job.extent.filesize.is_some() && !in_percent && !draws_sizes(job) {
        // As in fio, a sequential job continues to the end of its last block if the file is long enough.
        let whole = region.len.next_multiple_of(smallest_block(job));
        let there = if fixed > 0 { fixed } else { facts.size.0 };
        region.len = if region.offset + whole <= there {
            whole
        } else {
            region.len
        };
    }
    let (region, shared) = if job.files.fill_device {
        (region, exact)
    } else {
        share(job, region, count)
    };
    let exact = shared.min(exact);
    within(job, path, &region)?;
    Ok((region, exact))
}

pub(super) fn given(size: Option<SizeSpec>) -> Option<u64> {
    match size {
        Some(SizeSpec::Bytes(b)) => Some(b.0),
        _ => None,
    }
}

/// Wraps a single region and its bytes.
pub(super) fn only((region, exact): (Region, u64)) -> (Vec<Region>, u64) {
    (vec![region], exact)
}

/// Returns a size larger than the file system of a file: a job that fills it ends when no space is left.
pub(super) fn everything(facts: &TargetFacts) -> u64 {
    let free = facts.free.map_or(1 << 40, |free| free.0);
    let whole = facts
        .size
        .0
        .saturating_add(free)
        .min(LARGEST_FILE - (2 << 30));
    whole.next_multiple_of(1 << 30) + (1 << 30)
}

/// Whether the I/Os of one operation differ in size.
pub(super) fn draws_sizes(job: &Job) -> bool {
    job.blocks_used().any(|block| block.min() != block.max())
}

/// Whether some drawn sizes are not multiples of the smallest.
fn is_ragged(job: &Job) -> bool {
    let smallest = smallest_block(job);
    let odd = |block: &BlockSize| match block {
        BlockSize::Fixed(_) => false,
        BlockSize::Range { max, .. } => max.0 % smallest != 0,
        BlockSize::Split(parts) => parts.iter().any(|(size, _)| size.0 % smallest != 0),
    };
    draws_sizes(job) && (job.block_rules.unaligned || job.blocks_used().any(odd))
}

/// Returns the region of one file's share of `size` in whole blocks, and its bytes before rounding. As in fio, a
/// sequential job with one block size continues to the end of its last block if the file is long enough. A job with
/// several sizes ends where the smallest does not fit, and a random job keeps to the blocks that fit.
pub(super) fn share(job: &Job, mut region: Region, files: u64) -> (Region, u64) {
    let block = smallest_block(job);
    let mut exact = region.len;
    if let (Some(SizeSpec::Bytes(size)), None) = (job.extent.size, job.extent.filesize) {
        let share = (size.0 / files).max(1);
        exact = exact.min(share);
        let rounded = if job.access.random || draws_sizes(job) {
            share
        } else {
            share.next_multiple_of(block)
        };
        region.len = region.len.min(rounded);
    }
    let in_percent = matches!(job.extent.size, Some(SizeSpec::Percent(_)));
    // The exact end of the region determines where a job with gaps ends, and also a random job that continues
    // sequentially or prefers some blocks.
    let holes =
        !job.access.random && (job.access.stride > 0 || job.access.stride < 0 && !in_percent);
    let even = job.access.distribution == Distribution::Uniform;
    let follows = job.access.run_length > 1 || job.access.percentage_random.is_some();
    // As in fio, zones go on behind the last whole block, where nothing fits and the pass ends.
    let zoned = matches!(job.access.zones, Zones::Strided { .. }) && draws_sizes(job);
    let drawn = (zoned || !job.access.random && is_ragged(job)) && !in_percent;
    let to_the_byte = holes || drawn || job.access.random && (follows || !even);
    if region.len > block && !to_the_byte {
        region.len -= region.len % block;
    }
    // As in fio, a share in percent is rounded to whole blocks.
    if in_percent {
        exact -= if exact > block { exact % block } else { 0 };
    }
    (region, exact)
}

pub(super) fn percent_of(whole: u64, percent: u32) -> u64 {
    u64::try_from(u128::from(whole) * u128::from(percent) / 100).unwrap_or(u64::MAX)
}

/// Returns the start offset of a clone in a file of `base` bytes. As in fio, percentages are rounded up, to a block
/// unless another alignment is given.
pub(super) fn resolve_offset(job: &Job, clone: u32, base: u64) -> u64 {
    let resolve = |spec: SizeSpec| match spec {
        SizeSpec::Bytes(b) => b.0,
        SizeSpec::Percent(p) => percent_of(base, p),
    };
    let Extent {
        offset,
        offset_increment,
        ..
    } = &job.extent;
    // As in fio, the second clone has the largest offset.
    let steps = match clone {
        0 => 0,
        _ => u64::from(job.numjobs.saturating_sub(clone)),
    };
    let exact = resolve(*offset).saturating_add(resolve(*offset_increment).saturating_mul(steps));
    let relative = [offset, offset_increment]
        .into_iter()
        .any(|spec| matches!(spec, SizeSpec::Percent(_)));
    let unit = if job.extent.offset_align > 0 {
        job.extent.offset_align
    } else {
        // Of all operations: fio rounds by the size of those, too, that the job does not do.
        let sizes = Op::ALL.into_iter().map(|op| job.block[op].min().0);
        sizes.chain([smallest_block(job)]).min().unwrap_or(1).max(1)
    };
    if relative {
        exact.checked_next_multiple_of(unit).unwrap_or(exact)
    } else {
        exact
    }
}

/// Limits the region of a clone that divides its `size` among `count` files. The file has `full` bytes, and the clone
/// starts at `offset`. `fixed` is the size of a device, which cannot grow.
pub(super) fn cut(
    job: &Job,
    file: u32,
    path: &Path,
    (full, offset): (u64, u64),
    fixed: u64,
    count: u64,
) -> Result<Region, PlanError> {
    if offset >= full && offset > 0 {
        return Err(past_end(job, path, offset, full));
    }
    if full > LARGEST_FILE {
        return Err(PlanError::BadValue {
            job: job.name.clone(),
            option: "size",
            value: full.to_string(),
            why: ValueRule::FileEnd,
        });
    }
    let rest = full.saturating_sub(offset);
    let len = match job.extent.size {
        None => rest,
        Some(SizeSpec::Percent(p)) => percent_of(full, p).min(rest),
        Some(SizeSpec::Bytes(_)) if job.extent.filesize.is_some() => rest,
        Some(SizeSpec::Bytes(size)) if fixed > 0 && size.0 / count > rest => {
            let (job, path, wanted) = (job.name.clone(), path.to_owned(), Bytes(size.0 / count));
            return Err(PlanError::PastEnd {
                job,
                path,
                size: Bytes(full),
                offset: Bytes(offset),
                wanted,
            });
        }
        Some(SizeSpec::Bytes(_)) => rest,
    };
    Ok(Region {
        file,
        offset,
        len,
        file_len: full,
    })
}

fn past_end(job: &Job, path: &Path, offset: u64, size: u64) -> PlanError {
    PlanError::OffsetPastEnd {
        job: job.name.clone(),
        path: path.to_owned(),
        offset: Bytes(offset),
        size: Bytes(size),
    }
}

/// Checks alignment: direct I/O needs sizes and offsets that are multiples of the device's blocks.
pub(super) fn check_alignment(
    job: &Job,
    facts: &TargetFacts,
    region: &Region,
) -> Result<(), PlanError> {
    let logical = u64::from(facts.logical_block.max(1));
    if !job.files.direct || job.files.begin_refused || job.ioengine.works_on_names() {
        return Ok(());
    }
    let blocks = job.blocks_used().flat_map(|b| [b.min().0, b.max().0]);
    let odd = blocks
        .chain([alignment_of_offsets(job)])
        .find(|b| b % logical != 0);
    if odd.is_none() && region.offset.is_multiple_of(logical) {
        return Ok(());
    }
    let block = odd.unwrap_or_else(|| alignment_of_offsets(job));
    let (name, path) = (job.name.clone(), facts.path.clone());
    let better = block.next_multiple_of(logical);
    Err(PlanError::Misaligned {
        job: name,
        path,
        block,
        offset: region.offset,
        logical: facts.logical_block,
        better,
    })
}
