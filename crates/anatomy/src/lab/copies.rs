//! Copies inside of the card that no experiment has counted: a write that waits for a collection shows them.

use hakaru_analysis::stats::median;
use hakaru_model::anatomy::{Anatomy, CardProperty};
use std::collections::{BTreeMap, VecDeque};

/// Bytes per second that a card copies at most, while its rate is unknown.
const FASTEST: f64 = 100e6;

/// Minimum latency above the usual one that shows a collection: in ns, and as a fraction of the usual latency.
const LEAST: (f64, f64) = (5e6, 0.3);

/// Standard deviations of noise beyond that fraction.
const NOISE: f64 = 6.0;

/// Latest writes of a length, whose median is the usual latency, and the fewest of them.
const LATEST: usize = 17;
const FEWEST: usize = 5;

/// What the writes of an attempt at an experiment show about copies.
#[derive(Debug, Default)]
pub(crate) struct ShownCopies {
    /// Bytes that the experiment has counted for writes to come, and all that it has counted.
    counted: u64,
    all_counted: u64,
    /// Largest part of a unit that a collection copies.
    largest: u64,
    /// Bytes per second that it copies at most.
    rate: f64,
    /// Latest latencies of writes in ns, by their length.
    latest: BTreeMap<u64, VecDeque<f64>>,
}

impl ShownCopies {
    /// Begins an attempt at an experiment. `largest` is the largest unit while the unit is unknown.
    pub(crate) fn begins(&mut self, known: &Anatomy, largest: u64) {
        (self.counted, self.all_counted) = (0, 0);
        self.largest = known.size(CardProperty::Unit).unwrap_or(largest);
        let rate = known.finding(CardProperty::CollectionRate).known();
        self.rate = rate.map_or(FASTEST, |rate| rate.high);
    }

    /// Takes what the experiment counts.
    pub(super) fn counts(&mut self, bytes: u64) {
        self.counted += bytes;
        self.all_counted += bytes;
    }

    /// Takes back what was not copied.
    pub(super) fn takes_back(&mut self, bytes: u64) {
        self.counted = self.counted.saturating_sub(bytes);
        self.all_counted = self.all_counted.saturating_sub(bytes);
    }

    /// Bytes that the attempt has counted so far.
    pub(super) fn all_counted(&self) -> u64 {
        self.all_counted
    }

    /// Bytes of the largest collection.
    pub(super) fn largest(&self) -> u64 {
        self.largest
    }

    /// Returns the bytes that the card copied during a write, as far as its latency shows and the experiment has not
    /// counted them.
    pub(super) fn shown(&mut self, len: u64, latency: f64, sigma: f64) -> u64 {
        let latest = self.latest.entry(len).or_default();
        let usual = median(latest.make_contiguous()).filter(|_| latest.len() >= FEWEST);
        if latest.len() == LATEST {
            latest.pop_front();
        }
        latest.push_back(latency);
        let Some(usual) = usual else { return 0 };
        let extra = latency - usual;
        if extra < LEAST.0 || extra < (LEAST.1 + NOISE * sigma) * usual {
            return 0;
        }
        let copied = ((extra / 1e9 * self.rate) as u64).min(self.largest);
        let counted = copied.min(self.counted);
        self.counted -= counted;
        copied - counted
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hakaru_model::units::Bytes;

    const MIB: u64 = 1 << 20;

    fn shown() -> ShownCopies {
        let mut shown = ShownCopies::default();
        shown.begins(&Anatomy::new("card", Bytes(8 << 30), false), 64 * MIB);
        for _ in 0..20 {
            assert_eq!(shown.shown(16 << 10, 2e6, 0.02), 0);
        }
        shown
    }

    #[test]
    fn a_slow_write_shows_a_collection_that_was_not_counted() {
        let mut shown = shown();
        assert_eq!(shown.shown(16 << 10, 102e6, 0.02), 10_000_000);
        assert_eq!(shown.shown(16 << 10, 2002e6, 0.02), 64 * MIB);
        assert_eq!(shown.shown(16 << 10, 6e6, 0.02), 0, "noise");
        assert_eq!(
            shown.shown(32 << 10, 2002e6, 0.02),
            0,
            "nothing to compare with"
        );
    }

    #[test]
    fn what_the_experiment_counted_is_not_counted_again() {
        let mut shown = shown();
        shown.counts(96 * MIB);
        assert_eq!(shown.shown(16 << 10, 2002e6, 0.02), 0);
        assert_eq!(shown.shown(16 << 10, 2002e6, 0.02), 32 * MIB);
        shown.counts(64 * MIB);
        shown.takes_back(64 * MIB);
        assert_eq!(shown.shown(16 << 10, 2002e6, 0.02), 64 * MIB);
    }
}
