//! Jobs that read until the end of their files: the size is known only after layout.

use hakaru_model::plan::{FilePlan, LayOut, PhasePlan, WorkerPlan};
use hakaru_model::units::Bytes;

/// Returns the phase with the final sizes of files that fill their file system; `None` if there are none.
///
/// If several files share a file system, the first takes all the space and the others stay empty. As in fio, empty
/// files are skipped; a worker with no other file has nothing to do.
pub(super) fn fitted(phase: &PhasePlan) -> Option<PhasePlan> {
    if phase.files.iter().all(|file| file.lay_out != LayOut::Fill) {
        return None;
    }
    let mut phase = phase.clone();
    for file in phase
        .files
        .iter_mut()
        .filter(|file| file.lay_out == LayOut::Fill)
    {
        file.size = Bytes(rustix::fs::stat(&file.path).map_or(0, |stat| stat.st_size as u64));
    }
    for worker in &mut phase.workers {
        fit(worker, &phase.files);
    }
    Some(phase)
}

/// Reduces the regions and the transfer size of a worker to the existing size.
fn fit(worker: &mut WorkerPlan, files: &[FilePlan]) {
    let stream = &mut worker.stream;
    let room = |regions: &[hakaru_model::stream::Region]| {
        regions.iter().map(|region| region.len).sum::<u64>()
    };
    let before = room(&stream.regions).max(1);
    let block = u64::from(worker.max_block.max(1));
    for region in &mut stream.regions {
        let Some(file) = files
            .get(region.file as usize)
            .filter(|file| file.lay_out == LayOut::Fill)
        else {
            continue;
        };
        let there = file.size.0.saturating_sub(region.offset);
        region.len = region.len.min(there - there % block);
    }
    let after = room(&stream.regions);
    if after == 0 {
        stream.limit_bytes = Some(0);
        return;
    }
    stream.regions.retain(|region| region.len > 0);
    // Sizes given as a number of passes scale with the file; other limits are unchanged.
    let scaled = |bytes: u64| {
        if bytes.is_multiple_of(before) {
            bytes / before * after
        } else {
            bytes
        }
    };
    stream.limit_bytes = stream.limit_bytes.map(scaled);
    stream.pass_bytes = stream.pass_bytes.map(scaled);
}
