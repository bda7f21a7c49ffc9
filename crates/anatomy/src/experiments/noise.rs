//! Noise of small reads at one place, and whether the host or the device is too busy to measure.

use crate::lab::{Findings, Halt, Lab, Measured};
use hakaru_analysis::stats::{mad, median};
use hakaru_model::anatomy::DeclineReason;
use hakaru_model::units::Nanos;

/// Largest noise at which anything is measured.
const LOUDEST: f64 = 0.30;

/// Largest fraction of reads that may take more than three times the median.
const BUSIEST: f64 = 0.05;

pub(super) fn perform(lab: &mut Lab<'_>) -> Measured<Findings> {
    let (home, block) = (lab.home(), lab.block());
    let mut latencies = Vec::new();
    for _ in 0..600 {
        latencies.push(lab.read(home, block)?);
    }
    latencies.drain(..8);
    let logs: Vec<f64> = latencies.iter().map(|l| l.max(1.0).ln()).collect();
    let middle = median(&latencies).unwrap_or(0.0);
    let slow = latencies.iter().filter(|&&l| l > 3.0 * middle).count();
    lab.noise.sigma = (1.4826 * mad(&logs).unwrap_or(0.0)).max(0.002);
    lab.noise.slow = slow as f64 / latencies.len() as f64;
    if lab.noise.slow > BUSIEST {
        return Err(Halt::Declined(DeclineReason::Busy {
            slow: lab.noise.slow,
        }));
    }
    if lab.noise.sigma > LOUDEST {
        return Err(Halt::Declined(DeclineReason::Noisy {
            value: 0.0,
            relative_error: lab.noise.sigma,
        }));
    }
    lab.noise.latency = Nanos(lab.reference_measurement()? as u64);
    Ok(Findings::default())
}
