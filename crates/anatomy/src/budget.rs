//! Budget of time and wear, announced before the first request.

use hakaru_model::anatomy::{Anatomy, CardProperty, Experiment, Spent};
use hakaru_model::units::{Bytes, Nanos};

/// Time of the experiments that only read, from the start of the anatomy, with rests and reference measurements.
const READ_TIME: Nanos = Nanos(300_000_000_000);

/// Rate of reads below which a card is slow, in bytes per second.
const SLOW: f64 = 12e6;

/// Time of the search for throttling on a slow card, in an anatomy that writes: long writes heat such a card for minutes.
const HEAT_TIME: Nanos = Nanos(400_000_000_000);

/// Returns what an anatomy spends at most: it never issues a request that may exceed it, as far as its collections
/// show what the card copies.
///
/// The experiments that only read end after 5 minutes, or later on a card of less than 12 MB/s that is written; all experiments typically after 10 and at most after 30. At most
/// 20% of the capacity is written, and 7 GB.
pub fn budget(capacity: Bytes, read_only: bool) -> Spent {
    let written = match read_only {
        true => 0,
        false => (capacity.0 / 5).min(7_000_000_000),
    };
    Spent {
        time: Nanos(match read_only {
            true => READ_TIME.0,
            false => 1_800_000_000_000,
        }),
        read: Bytes(match read_only {
            true => 300 * 400_000_000,
            false => 600 * 400_000_000,
        }),
        written: Bytes(written),
        copied: Bytes(if read_only { 0 } else { 12_000_000_000 }),
        requests: 1_000_000,
    }
}

/// Returns the time from the start of the anatomy after which an experiment ends that begins at a time.
pub(crate) fn deadline(
    experiment: Experiment,
    limit: &Spent,
    begins: Nanos,
    anatomy: &Anatomy,
) -> Nanos {
    let has_longer = experiment == Experiment::Heat && is_slow(anatomy) && !anatomy.read_only;
    let reads = match has_longer {
        true => READ_TIME.max(Nanos(begins.0.saturating_add(HEAT_TIME.0))),
        false => READ_TIME,
    };
    match experiment.writes() {
        true => limit.time,
        false => limit.time.min(reads),
    }
}

/// Returns whether the card is known to be slow.
pub(crate) fn is_slow(anatomy: &Anatomy) -> bool {
    let rate = anatomy.finding(CardProperty::ReadRate).rough();
    rate.is_some_and(|rate| rate.value < SLOW)
}

/// Returns a time in seconds.
pub fn seconds_of(time: Nanos) -> f64 {
    time.0 as f64 / 1e9
}

#[cfg(test)]
mod tests {
    use super::*;
    use hakaru_model::anatomy::CardFinding;

    #[test]
    fn reading_never_writes_and_writing_is_limited() {
        assert_eq!(budget(Bytes(32 << 30), true).written, Bytes(0));
        assert_eq!(budget(Bytes(128 << 30), false).written.0, 7_000_000_000);
        assert_eq!(budget(Bytes(10_000), false).written.0, 2000);
    }

    fn reading(read_only: bool, rate: f64) -> Anatomy {
        let mut anatomy = Anatomy::new("card", Bytes(32 << 30), read_only);
        let rate = CardFinding::exact(rate as u64);
        anatomy.findings.insert(CardProperty::ReadRate, rate);
        anatomy
    }

    #[test]
    fn experiments_that_read_end_after_5_minutes() {
        let begins = Nanos(200_000_000_000);
        for (read_only, rate) in [(true, 20e6), (false, 20e6), (true, 5e6)] {
            let limit = budget(Bytes(32 << 30), read_only);
            let of = |experiment| deadline(experiment, &limit, begins, &reading(read_only, rate));
            assert_eq!(of(Experiment::Heat), READ_TIME);
            assert_eq!(of(Experiment::Depth), READ_TIME);
            assert_eq!(of(Experiment::LongWrite), limit.time);
        }
    }

    #[test]
    fn throttling_of_slow_cards_is_looked_for_longer_if_they_are_written() {
        let limit = budget(Bytes(32 << 30), false);
        let of =
            |experiment, begins| deadline(experiment, &limit, Nanos(begins), &reading(false, 5e6));
        let begins = 200_000_000_000;
        assert_eq!(of(Experiment::Heat, begins).0, begins + HEAT_TIME.0);
        assert_eq!(of(Experiment::Depth, begins), READ_TIME);
        assert_eq!(of(Experiment::Heat, limit.time.0), limit.time);
    }
}
