//! Whether a block fits into the parts of the files that a job uses.

use super::regions::given;
use crate::job::{Job, Op};
use crate::plan::files::smallest_block;
use crate::plan::{FilePlan, PlanError};
use crate::stream::Region;
use crate::units::Bytes;
use std::path::Path;

/// Checks that a block fits into a region, of which the job uses its share of `size` among `count` files.
pub(super) fn check(job: &Job, path: &Path, region: &Region, count: u64) -> Result<(), PlanError> {
    let given = given(job.extent.size).filter(|_| job.extent.filesize.is_none());
    let room = given.map_or(region.len, |size| (size / count).min(region.len));
    let room = size_below_blocks(job).map_or(room, |size| size.min(room));
    if room < smallest_block(job) {
        return Err(too_small(
            job,
            path,
            room,
            region.offset,
            smallest_block(job),
        ));
    }
    Ok(())
}

/// Returns the regions into which a block fits; all of them if it fits into none, and then the job does no I/O.
///
/// As in fio, a job is refused only if its smallest block, even of operations that it does not do, is larger than all
/// its regions together, or than `size`. `together` is their bytes before rounding to whole blocks. Unless it runs
/// `as_in_fio`, [`check`] has refused such a job.
pub(super) fn fitting(
    job: &Job,
    (mut regions, together): (Vec<Region>, u64),
    files: &[FilePlan],
    as_in_fio: bool,
) -> Result<(Vec<Region>, bool), PlanError> {
    if regions.is_empty() {
        let job = job.name.clone();
        return Err(PlanError::NoFiles { job });
    }
    let block = smallest_block(job);
    let (least, size) = (least_of_any(job), size_below_blocks(job));
    let fits = together >= least && regions.iter().all(|region| region.len >= block);
    if !as_in_fio || job.replay.any() || fits && size.is_none() {
        return Ok((regions, true));
    }
    if size.is_some() || together < least {
        let first = regions.first().copied().unwrap_or(Region {
            file: 0,
            offset: 0,
            len: 0,
            file_len: 0,
        });
        let path = files
            .get(first.file as usize)
            .map(|file| file.path.as_path());
        let (path, room) = (path.unwrap_or(Path::new("null")), size.unwrap_or(together));
        return Err(match size {
            Some(_) => too_small(job, path, room, first.offset, least),
            None => PlanError::BlockTooLarge {
                job: job.name.clone(),
                path: path.to_owned(),
                room: Bytes(room),
                block: Bytes(least),
            },
        });
    }
    let fit = |region: &Region| region.len >= block;
    let any = regions.iter().any(fit);
    if any {
        regions.retain(fit);
    }
    Ok((regions, any))
}

/// Returns the smallest block size of any operation, even of those that the job does not do.
fn least_of_any(job: &Job) -> u64 {
    let sizes = Op::ALL.map(|op| job.block[op].min().0).into_iter();
    sizes.min().unwrap_or(1).min(smallest_block(job))
}

/// Returns `size` if it is smaller than any block. As in fio, that is an error even if the files are larger.
fn size_below_blocks(job: &Job) -> Option<u64> {
    given(job.extent.size).filter(|&size| size < least_of_any(job))
}

fn too_small(job: &Job, path: &Path, room: u64, offset: u64, block: u64) -> PlanError {
    PlanError::TooSmall {
        job: job.name.clone(),
        path: path.to_owned(),
        room: Bytes(room),
        offset: Bytes(offset),
        block: Bytes(block),
    }
}
