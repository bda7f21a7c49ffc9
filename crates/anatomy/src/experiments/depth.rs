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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::{DeviceError, TimedDevice, TimedRequest};
    use hakaru_model::anatomy::Spent;
    use hakaru_model::units::{Bytes, Nanos};

    /// A card that serves one read at a time, behind a scheduler that keeps back every third one.
    struct BehindScheduler(Nanos);

    const READ: Nanos = Nanos(1_000_000);

    impl TimedDevice for BehindScheduler {
        fn capacity(&self) -> Bytes {
            Bytes(8 << 30)
        }

        fn block(&self) -> u64 {
            512
        }

        fn now(&self) -> Nanos {
            self.0
        }

        fn serve(&mut self, _: TimedRequest) -> Result<Nanos, DeviceError> {
            self.0.0 += READ.0;
            Ok(READ)
        }

        fn read_at_depth(
            &mut self,
            offsets: &[u64],
            _: u64,
            depth: usize,
        ) -> Result<Vec<Nanos>, DeviceError> {
            self.0.0 += READ.0 * offsets.len() as u64;
            let waits = |n: usize| match (depth as u64, n % 3) {
                (1, _) => 2,
                (depth, 0) => 4 * depth,
                (depth, _) => depth,
            };
            Ok((0..offsets.len())
                .map(|n| Nanos(READ.0 * waits(n) / 2))
                .collect())
        }

        fn idle(&mut self, time: Nanos) -> Result<(), DeviceError> {
            self.0.0 += time.0;
            Ok(())
        }

        fn can_discard(&self) -> bool {
            false
        }
    }

    #[test]
    fn a_scheduler_makes_no_reads_parallel() {
        let mut device = BehindScheduler(Nanos(0));
        let limit = Spent {
            time: Nanos(1_000_000_000_000),
            ..Spent::default()
        };
        let found = perform(&mut Lab::new(&mut device, limit, 1)).unwrap();
        let ways = found.findings[&CardProperty::ParallelReads];
        assert_eq!(ways, CardFinding::exact(1));
    }
}
