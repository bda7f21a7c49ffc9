//! Start offsets of later passes: an offset in percent refers to the file as it is when a pass starts.

use super::regions::resolve_offset;
use crate::facts::TargetKind;
use crate::job::rules::Zones;
use crate::job::{Distribution, Extent, Job, SizeSpec, Target};
use crate::plan::FilePlan;
use crate::plan::files::smallest_block;
use crate::stream::{Region, StreamPlan};

/// Returns the start offsets of the passes after the first, if they differ. As in fio, an offset in percent is
/// computed again for each pass, from the size of the file after its layout for the first pass.
pub(super) fn later_starts(
    job: &Job,
    clone: u32,
    stream: &StreamPlan,
    files: &[FilePlan],
) -> Vec<u64> {
    let (regions, restarts) = (&stream.regions, stream.restart_bytes.is_some());
    let Extent {
        offset,
        offset_increment,
        io_size,
        loops,
        ..
    } = &job.extent;
    let in_percent = |spec: &SizeSpec| matches!(spec, SizeSpec::Percent(percent) if *percent > 0);
    let moves = in_percent(offset) || in_percent(offset_increment);
    let again = *loops > 1 || io_size.is_some();
    if !moves || !again || !has_passes(job, restarts) {
        return Vec::new();
    }
    let start = |region: &Region| {
        let made = match job.target {
            // Such files have no size on the file system.
            Target::Nothing => true,
            _ => {
                let kind = files.get(region.file as usize)?.kind;
                matches!(kind, TargetKind::File | TargetKind::Absent)
            }
        };
        let start = resolve_offset(job, clone, region.file_len);
        let fits = start.saturating_add(smallest_block(job)) <= region.offset + region.len;
        Some(if made && fits { start } else { region.offset })
    };
    let starts: Option<Vec<u64>> = regions.iter().map(start).collect();
    let differ = |starts: &Vec<u64>| {
        let begun = regions.iter().map(|region| region.offset);
        !starts.iter().copied().eq(begun)
    };
    starts.filter(differ).unwrap_or_default()
}

/// Whether a job starts each pass at its offset. As in fio, a random job that accesses blocks again instead continues
/// without an end of its passes, unless these `restart`.
fn has_passes(job: &Job, restart: bool) -> bool {
    let access = &job.access;
    let uniform = access.distribution == Distribution::Uniform && access.run_length == 1;
    let all_random = access.percentage_random.is_none();
    let each_once = access.every_block_once && job.block_align.is_none() || restart;
    let random = uniform && all_random && each_once;
    access.zones == Zones::None && (!access.random || random)
}
