//! Removes from a record what its summary does not show.

use hakaru_model::job::Op;
use hakaru_model::record::{Latency, Origin, RunRecord};

/// Printed blocks that summaries read: counters of disks, and whether files were laid out.
const READ_BLOCKS: [&str; 3] = ["disk", "layout", "start"];

/// Removes from a record what [`summarize`](super::summarize) does not read, which is most of an imported record in
/// memory: a side of a comparison may consist of thousands of runs.
pub fn reduce(record: &mut RunRecord) {
    if let Origin::Imported { reported, .. } = &mut record.origin {
        let blocks = std::mem::take(&mut reported.blocks);
        let read = |name: &str| READ_BLOCKS.contains(&name);
        // A list of its own, because the old one keeps its size.
        let mut kept: Vec<_> = blocks.into_iter().filter(|of| read(&of.name)).collect();
        kept.iter_mut().for_each(|block| block.blocks = Vec::new());
        kept.shrink_to_fit();
        reported.blocks = kept;
    }
    let workers = record.phases.iter_mut().flat_map(|of| &mut of.workers);
    for worker in workers {
        for op in Op::ALL {
            remove_distribution(&mut worker.ops[op].slat);
        }
    }
}

fn remove_distribution(latency: &mut Latency) {
    latency.histogram = None;
    latency.over_time = Vec::new();
}
