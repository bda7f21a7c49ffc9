//! Reference measurements: small and large reads at one warm place. The spread of the small ones is the drift, of which the
//! host may be a part; what the large ones take longer is the time of their bytes, which only the device can change.

use hakaru_analysis::stats::median;

/// Busy time less idle time, in ns, below which no card throttles.
pub(crate) const EARLIEST: f64 = 20e9;

/// Ratio of reference measurements that is no drift: one of ± 15% makes it 1.35.
const UNSTEADY: f64 = 1.45;

/// Half of the range of reference measurements that noise explains, as a fraction: of small reads, and of the time of the
/// bytes of large ones.
const BY_NOISE: (f64, f64) = (0.012, 0.025);

/// Reference measurements in the order in which they were made.
#[derive(Clone, Debug, Default)]
pub(crate) struct References {
    /// Medians, in ns.
    latencies: Vec<f64>,
    /// Times of the bytes of large reads, in ns; fewer if an older version began the anatomy.
    transfers: Vec<f64>,
    /// Warmth of the card at each of them, in ns.
    warmth: Vec<f64>,
}

impl References {
    /// Returns what an earlier part of an anatomy measured.
    pub(crate) fn resumed(latencies: Vec<f64>, transfers: Vec<f64>) -> References {
        let warmth = vec![0.0; latencies.len()];
        References {
            latencies,
            transfers,
            warmth,
        }
    }

    pub(crate) fn latencies(&self) -> &[f64] {
        &self.latencies
    }

    pub(crate) fn transfers(&self) -> &[f64] {
        &self.transfers
    }

    pub(crate) fn push(&mut self, latency: f64, transfer: f64, warmth: f64) {
        self.latencies.push(latency);
        self.transfers.push(transfer);
        self.warmth.push(warmth);
    }

    pub(crate) fn truncate(&mut self, len: usize) {
        self.latencies.truncate(len);
        self.transfers.truncate(len);
        self.warmth.truncate(len);
    }

    /// Forgets the slow ones after the first `first` if heat explains them: the card had worked for long, and was not
    /// fast again before it rested. A device whose speed switches is fast again while it works.
    pub(crate) fn forget_hot(&mut self, first: usize, is_hot: impl Fn(f64) -> bool) {
        let hot = |(_, latency): &(usize, &f64)| is_hot(**latency);
        let mut later = self.latencies.iter().enumerate().skip(first);
        let Some((begin, _)) = later.find(hot) else {
            return;
        };
        let is_by_heat = self.warmth[begin] >= EARLIEST && later.all(|one| hot(&one));
        if is_by_heat {
            self.truncate(begin);
        }
    }

    /// Returns half of the range, as a fraction of the median; 0 if noise explains it.
    pub(crate) fn drift(&self) -> f64 {
        spread(&self.latencies, BY_NOISE.0)
    }

    /// Returns half of the range of the transfer times, as a fraction of their median. A slow host does not change them.
    pub(crate) fn transfer_drift(&self) -> f64 {
        match self.transfers.len() == self.latencies.len() {
            true => spread(&self.transfers, BY_NOISE.1),
            false => self.drift(),
        }
    }
}

fn spread(values: &[f64], by_noise: f64) -> f64 {
    let Some(middle) = median(values).filter(|middle| *middle > 0.0) else {
        return 0.0;
    };
    let high = values.iter().copied().fold(f64::MIN, f64::max);
    let low = values.iter().copied().fold(f64::MAX, f64::min);
    ((high - low) / 2.0 / middle - by_noise).max(0.0)
}

/// Returns the fraction of the reference measurements of a cool device that differ from their median by more than a
/// drift, if there are two on either side: a device of two speeds.
pub(crate) fn two_speeds(cool: &[f64]) -> Option<f64> {
    let mut sorted = cool.to_vec();
    sorted.sort_by(f64::total_cmp);
    let (low, high) = (*sorted.get(1)?, *sorted.iter().nth_back(1)?);
    let middle = median(&sorted)?;
    let differs = |found: &&f64| (**found / middle).ln().abs() > UNSTEADY.ln() / 2.0;
    let share = sorted.iter().filter(differs).count() as f64 / sorted.len() as f64;
    (sorted.len() >= 4 && high > UNSTEADY * low).then_some(share)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the drift after an attempt with reference measurements every 10 s of work.
    fn drift_after(latencies: &[f64]) -> f64 {
        let mut references = References::resumed(vec![100.0; 3], vec![300.0; 3]);
        for (n, latency) in latencies.iter().enumerate() {
            references.push(*latency, 3.0 * latency, n as f64 * 10e9);
        }
        references.forget_hot(3, |latency| latency > 118.0);
        references.drift()
    }

    #[test]
    fn a_slow_host_is_no_drift_of_transfers() {
        let mut references = References::resumed(vec![100.0; 3], vec![300.0; 3]);
        references.push(130.0, 301.0, 0.0);
        assert!(references.drift() > 0.1 && references.transfer_drift() == 0.0);
        references.push(130.0, 390.0, 0.0);
        assert!(references.transfer_drift() > 0.1);
        let older = References::resumed(vec![100.0, 130.0], Vec::new());
        assert_eq!(older.transfer_drift(), older.drift());
    }

    #[test]
    fn heat_is_no_drift_and_a_speed_that_switches_is_one() {
        assert_eq!(drift_after(&[100.0, 100.0, 100.0, 250.0, 250.0]), 0.0);
        assert!(drift_after(&[100.0, 250.0, 250.0, 250.0]) > 0.5);
        assert!(drift_after(&[100.0, 100.0, 100.0, 250.0, 100.0]) > 0.5);
        assert_eq!(drift_after(&[100.0, 100.0]), 0.0);
    }
}
