//! Budget of time and wear, announced before the first request.

use hakaru_model::anatomy::{Experiment, Spent};
use hakaru_model::units::{Bytes, Nanos};

/// Time of the experiments that only read, from the start of the anatomy, with rests and reference measurements.
const READ_TIME: Nanos = Nanos(300_000_000_000);

/// Returns what an anatomy spends at most: it never issues a request that may exceed it, as far as its collections
/// show what the card copies.
///
/// The experiments that only read end after 5 minutes, all experiments typically after 10 and at most after 30. At most
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

/// Returns the time from the start of the anatomy after which an experiment ends.
pub(crate) fn deadline(experiment: Experiment, limit: &Spent) -> Nanos {
    match experiment.writes() {
        true => limit.time,
        false => limit.time.min(READ_TIME),
    }
}

/// Returns a time in seconds.
pub fn seconds_of(time: Nanos) -> f64 {
    time.0 as f64 / 1e9
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reading_never_writes_and_writing_is_limited() {
        assert_eq!(budget(Bytes(32 << 30), true).written, Bytes(0));
        assert_eq!(budget(Bytes(128 << 30), false).written.0, 7_000_000_000);
        assert_eq!(budget(Bytes(10_000), false).written.0, 2000);
    }

    #[test]
    fn experiments_that_read_end_after_5_minutes_in_every_anatomy() {
        for read_only in [true, false] {
            let limit = budget(Bytes(32 << 30), read_only);
            assert_eq!(deadline(Experiment::Heat, &limit), READ_TIME);
            assert_eq!(deadline(Experiment::LongWrite, &limit), limit.time);
        }
    }
}
