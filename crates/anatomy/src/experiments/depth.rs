//! Reads at more and more queue depths: how many the card executes at a time.

use crate::lab::{Findings, Lab, Measured};
use hakaru_analysis::stats::median;
use hakaru_model::anatomy::{CardFinding, CardProperty, DeclineReason};

/// Numbers of parallel reads that are told apart.
const WAYS: [u32; 9] = [1, 2, 3, 4, 6, 8, 12, 16, 32];

/// Largest deviation from one of them.
const TOLERANCE: f64 = 0.12;

/// Batches of reads at each depth, and reads of a batch. A stall of one read delays those behind it for the rest of its
/// batch, but not the next one.
const BATCHES: usize = 15;
const READS: u64 = 128;

/// Batches at least, and the time after which a slow card has done enough of them at one depth, in ns.
const LEAST: usize = 5;
const TIME: f64 = 2e9;

pub(super) fn perform(lab: &mut Lab<'_>) -> Measured<Findings> {
    let mut found = Findings::default();
    let (home, block) = (lab.home(), lab.block());
    let places = 16;
    let offsets: Vec<u64> = (0..READS).map(|n| home + n % places * (64 << 10)).collect();
    // Medians of the times of a batch. Latencies do not tell: a scheduler of the host may keep some reads back.
    let mut times = Vec::new();
    for depth in [1, 4, 8, 16, 32] {
        let (mut of_batches, mut batches) = (Vec::new(), Vec::new());
        let begun = lab.now();
        for batch in 0..BATCHES {
            if batch >= LEAST && lab.now() - begun > TIME {
                break;
            }
            let before = lab.now();
            let measured = lab.read_at_depth(&offsets, block, depth)?;
            batches.push(lab.now() - before);
            of_batches.extend(median(&measured[depth..]));
        }
        let middle = median(&of_batches).unwrap_or(0.0);
        times.push(median(&batches).unwrap_or(0.0));
        found.points.push((depth as f64, middle));
    }
    // The deepest two must agree: with so many ways that the queue of 16 does not fill them, only the deepest tells.
    let ways = times[0] / times[4].max(1.0);
    let control = times[0] / times[3].max(1.0);
    let agrees = ways > 12.0 || (control / ways - 1.0).abs() <= 2.0 * TOLERANCE;
    let near = WAYS
        .into_iter()
        .find(|known| agrees && (ways / f64::from(*known) - 1.0).abs() <= TOLERANCE);
    let finding = match near {
        Some(32) => CardFinding::Absent { up_to: 32.0 },
        Some(known) => CardFinding::exact(u64::from(known)),
        None => CardFinding::Unknown(DeclineReason::Ambiguous),
    };
    found.set(CardProperty::ParallelReads, finding);
    Ok(found)
}
