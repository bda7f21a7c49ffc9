//! Sentences about claims.

use super::*;
use hakaru_model::finding::Condition;

fn number_of_condition(condition: &Condition) -> usize {
    match condition {
        Condition::Raw { .. } => 0,
        Condition::Erased => 1,
        Condition::Bus { .. } => 2,
        Condition::BusUnknown => 3,
        Condition::Time { .. } => 4,
        Condition::Direct => 5,
        Condition::Extent { .. } => 6,
        Condition::SpeedClassControl => 7,
        Condition::Span { .. } => 8,
        Condition::Depth { .. } => 9,
        Condition::Repeats { .. } => 10,
        Condition::CommandQueue { .. } => 11,
        Condition::Timeline => 12,
        Condition::Alone => 13,
    }
}

fn some_conditions() -> Vec<(Condition, &'static str)> {
    vec![
        (
            Condition::Raw {
                filesystem: "ext4".to_owned(),
            },
            "the class applies to the raw card, but the test ran on ext4",
        ),
        (
            Condition::Erased,
            "the class applies to erased allocation units; no erase is recorded",
        ),
        (
            Condition::Bus {
                needed: BytesPerSec(30e6),
                ceiling: BytesPerSec(25e6),
            },
            "the bus is too slow: 25 MB/s, and 30 MB/s is needed",
        ),
        (Condition::BusUnknown, "the bus speed is unknown"),
        (
            Condition::Time {
                wanted: Nanos(60 * SEC),
                measured: Nanos(10 * SEC),
            },
            "measured for 10 s, and 60 s is needed",
        ),
        (
            Condition::Direct,
            "needs direct I/O; the page cache was in use",
        ),
        (
            Condition::Extent {
                wanted: GIB,
                written: Bytes(1 << 20),
            },
            "wrote 1 MiB, and 1 GiB is needed",
        ),
    ]
}

fn more_conditions() -> Vec<(Condition, &'static str)> {
    vec![
        (
            Condition::SpeedClassControl,
            "needs the Speed Class command (CMD20), which Linux does not send",
        ),
        (
            Condition::Span {
                wanted: Bytes(256 << 20),
                used: GIB,
            },
            "random I/O is tested within 256 MiB; these runs used 1 GiB",
        ),
        (
            Condition::Depth {
                wanted: 32,
                used: 1,
            },
            "the class is tested at queue depth 32; these runs used 1",
        ),
        (
            Condition::Repeats { runs: 1 },
            "1 run has no interval; use --repeat=5",
        ),
        (
            Condition::Repeats { runs: 4 },
            "the variation between the 4 runs is unknown",
        ),
        (
            Condition::CommandQueue { iodepth: 1 },
            "A2 is tested with command queue and card cache on; queue depth was 1",
        ),
        (
            Condition::Timeline,
            "needs the slowest interval; only the mean was recorded",
        ),
        (
            Condition::Alone,
            "needs an idle card; the operating system runs from it",
        ),
    ]
}

#[test]
fn every_condition_of_a_claim_has_its_sentence() {
    let all = [some_conditions(), more_conditions()].concat();
    let numbers: BTreeSet<usize> = all
        .iter()
        .map(|(one, _)| number_of_condition(one))
        .collect();
    assert_eq!(numbers, (0..14).collect());
    for (condition, wanted) in all {
        assert_eq!(in_both(&[], || text::condition(&condition)), wanted);
        check(wanted);
    }
}
