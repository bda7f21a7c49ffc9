//! Reads at more and more queue depths: how many the card executes at a time.

use crate::lab::{Findings, Lab, Measured};
use hakaru_analysis::stats::median;
use hakaru_model::anatomy::{CardFinding, CardProperty, UnknownReason};

/// Numbers of parallel reads that are told apart.
const WAYS: [u32; 9] = [1, 2, 3, 4, 6, 8, 12, 16, 32];

/// Largest deviation from one of them.
const TOLERANCE: f64 = 0.12;

/// Reads at each depth.
const READS: u64 = 800;

pub(super) fn perform(lab: &mut Lab<'_>) -> Measured<Findings> {
    let mut found = Findings::default();
    let (home, block) = (lab.home(), lab.block());
    let places = 16;
    let offsets: Vec<u64> = (0..READS).map(|n| home + n % places * (64 << 10)).collect();
    let mut latencies = Vec::new();
    for depth in [1, 4, 8, 16, 32] {
        let measured = lab.read_at_depth(&offsets, block, depth)?;
        let middle = median(&measured[depth..]).unwrap_or(0.0);
        latencies.push(middle);
        found.points.push((depth as f64, middle));
    }
    let ways = 32.0 * latencies[0] / latencies[4].max(1.0);
    let near = WAYS
        .into_iter()
        .find(|known| (ways / f64::from(*known) - 1.0).abs() <= TOLERANCE);
    let finding = match near {
        Some(32) => CardFinding::Absent { up_to: 32.0 },
        Some(known) => CardFinding::exact(u64::from(known)),
        None => CardFinding::Unknown(UnknownReason::Ambiguous),
    };
    found.set(CardProperty::ParallelReads, finding);
    Ok(found)
}
