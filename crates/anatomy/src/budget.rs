//! Budget of time and wear, announced before the first request.

use hakaru_model::anatomy::Spent;
use hakaru_model::units::{Bytes, Nanos};

/// Returns what an anatomy spends at most: it never issues a request that may exceed it, as far as its collections
/// show what the card copies.
///
/// Reads take at most 5 minutes, everything together typically 10 and at most 30. At most 20% of the capacity is
/// written, and 7 GB.
pub fn budget(capacity: Bytes, read_only: bool) -> Spent {
    let written = match read_only {
        true => 0,
        false => (capacity.0 / 5).min(7_000_000_000),
    };
    Spent {
        time: Nanos(match read_only {
            true => 300_000_000_000,
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
}
