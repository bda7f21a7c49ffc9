//! Regions of files that a job with `ioengine=null` never opens.

use super::regions::{cut, draws_sizes, given, resolve_offset, share};
use super::room;
use crate::facts::TargetKind;
use crate::job::{Job, SizeSpec};
use crate::plan::PlanError;
use crate::plan::files::smallest_block;
use crate::plan::resolver::Resolver;
use crate::plan::sizes::FileSizes;
use crate::stream::Region;
use crate::units::Bytes;
use std::path::Path;

/// Size of a file that is never opened if the job gives none.
const UNKNOWN: u64 = 1 << 40;

impl Resolver {
    /// Returns the regions of the files, and their bytes before rounding to whole blocks.
    ///
    /// As in fio, all of `size` fits after the offset, except on a device. A given `filesize` does not limit the end of
    /// an I/O: one that starts within the region may extend past it.
    pub(super) fn unopened_regions(
        &self,
        job: &Job,
        clone: u32,
        seed: u64,
    ) -> Result<(Vec<Region>, u64), PlanError> {
        let names = &job.files.unopened;
        let count = names.len().max(1);
        let size = given(job.extent.size).map(|size| size / count as u64);
        let mut sizes = FileSizes::of(job, clone, seed);
        // As in fio, sizes are not drawn for files that are never opened.
        let ranged = job.extent.filesize_max.is_some() && size.is_some();
        let start = start(job, clone, size)?;
        let (mut regions, mut room) = (Vec::new(), 0);
        for number in 0..count {
            let known = names.get(number).and_then(|n| self.facts.get(Path::new(n)));
            let device = known.is_some_and(|facts| facts.kind == TargetKind::BlockDevice);
            let filesize = if ranged {
                None
            } else {
                let Some(drawn) = sizes.draw() else { break };
                drawn.or(job.extent.filesize).map(|bytes| bytes.0)
            };
            let base = match (filesize, size) {
                (Some(filesize), Some(size)) if device => filesize.min(size),
                _ => filesize.or(size).unwrap_or(UNKNOWN),
            };
            let full = match filesize {
                None if size.is_some() && !device => base.saturating_add(start),
                _ => base,
            };
            let name = Path::new("null");
            let mut region = cut(job, 0, name, (full, start), 0, count as u64)?;
            if !self.skips {
                room::check(job, name, &region, count as u64)?;
            }
            let exact = region.len;
            extend(job, &mut region, (filesize, size), device);
            let (region, shared) = share(job, region, count as u64);
            regions.push(region);
            room = shared.min(exact).saturating_add(room);
        }
        Ok((regions, room))
    }
}

/// Returns the start offset of a clone. As in fio, an offset in percent refers to a `size` in bytes, and is an error
/// without one.
fn start(job: &Job, clone: u32, size: Option<u64>) -> Result<u64, PlanError> {
    let in_percent = |spec: SizeSpec| matches!(spec, SizeSpec::Percent(percent) if percent > 0);
    let start = resolve_offset(job, clone, size.unwrap_or(UNKNOWN));
    if size.is_none() && (in_percent(job.extent.offset) || in_percent(job.extent.offset_increment))
    {
        let (job, path) = (job.name.clone(), "null".into());
        let (offset, size) = (Bytes(0), Bytes(0));
        return Err(PlanError::OffsetPastEnd {
            job,
            path,
            offset,
            size,
        });
    }
    Ok(start)
}

/// Extends or shortens a region to where its last I/O ends.
fn extend(
    job: &Job,
    region: &mut Region,
    (filesize, size): (Option<u64>, Option<u64>),
    device: bool,
) {
    let (exact, block) = (region.len, smallest_block(job));
    let in_percent = matches!(job.extent.size, Some(SizeSpec::Percent(_)));
    let ends_by_size = if device {
        size <= filesize
    } else {
        size == filesize
    };
    let gaps = !job.access.random && job.access.stride > 0;
    let sized = filesize.is_some() && !in_percent && !draws_sizes(job);
    if gaps && filesize.is_some() && !in_percent && !device && size > filesize {
        // As in fio, a job with gaps starts again only past `size`, which its I/Os may not reach.
        region.len = exact + if sized { block - 1 } else { 0 };
        region.file_len = size.unwrap_or(region.file_len);
    } else if sized && (size.is_none() || !ends_by_size) {
        let whole = exact.next_multiple_of(block);
        region.file_len = region.file_len.max(region.offset.saturating_add(whole));
        region.len = if job.access.random { exact } else { whole };
    }
    if in_percent {
        // A share in percent is rounded to whole blocks, and the file ends there; one with gaps ends with the share, not
        // with the file.
        region.len -= region.len % block;
        if job.access.stride == 0 {
            region.file_len = region.offset + region.len;
        }
    }
}
