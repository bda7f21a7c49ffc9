//! Critical paths of operations whose events are known.

use crate::address_map::{AddressMap, FileRange};
use crate::classify::OwnThreads;
use crate::event::EventKind::{JournalCommitEnd, JournalCommitStart, SyncEnter, SyncExit};
use crate::summary::{PathSummary, PathSummaryOptions, PhaseTrace};
use crate::testing::{EventStream, operation};
use hakaru_model::io_path::{
    IoClass, IoPath, LayoutRange, OperationPath, TimePart, TracedDisk, TracedOperation,
    TracerReport,
};
use hakaru_model::job::Op;
use hakaru_model::rng::Rng;
use proptest::prelude::*;

const WORKER: (u32, &str) = (7, "hakaru");
const JOURNAL: (u32, &str) = (90, "jbd2/loop0-8");
const KWORKER: (u32, &str) = (91, "kworker/u8:1");

/// Sectors 0 to 9,999 hold the file, 10,000 to 19,999 the journal, 20,000 to 29,999 inode tables.
fn map() -> AddressMap {
    let classes = [IoClass::Data, IoClass::Journal, IoClass::InodeTable];
    let ranges = classes.into_iter().zip([0, 10_000, 20_000]);
    AddressMap::from_ranges(ranges.map(|(class, sector)| LayoutRange {
        sector,
        sectors: 10_000,
        class,
    }))
}

fn path(stream: &EventStream, operations: &[TracedOperation], files: &[FileRange]) -> IoPath {
    let mut summary = PathSummary::new(PathSummaryOptions::default());
    for event in stream.events() {
        summary.push(&event);
    }
    for operation in operations {
        summary.push_operation(operation);
    }
    let workers: Vec<u32> = operations.iter().map(|it| it.tid).collect();
    summary.finish(&PhaseTrace {
        disk: TracedDisk::default(),
        window: (0, 1_000_000_000_000),
        threads: OwnThreads {
            workers: &workers,
            others: &[],
        },
        map: &map(),
        layout_gaps: Vec::new(),
        files,
        tracer: TracerReport::default(),
        counters: None,
        cost: None,
    })
}

fn operation_path(path: &IoPath, op: Option<Op>, with_sync: bool) -> &OperationPath {
    let mut paths = path.operations.iter();
    paths
        .find(|it| it.op == op && it.with_sync == with_sync)
        .expect("the operation occurs")
}

/// Nanoseconds in each part that is not 0.
fn parts(path: &OperationPath) -> Vec<(TimePart, f64)> {
    let parts = TimePart::ALL.map(|part| (part, path.mean.of(part)));
    parts.into_iter().filter(|part| part.1 > 0.0).collect()
}

/// One synced append of 4 KiB on ext4, on a loop device with a volatile cache and without FUA, as recorded.
fn synced_append() -> (EventStream, Vec<TracedOperation>) {
    let mut stream = EventStream::default();
    let (data, journal, commit) = ((96, 8), (10_000, 32), (10_032, 8));
    stream
        .event(25.0, WORKER.0, SyncEnter)
        .served(WORKER, (55.4, 62.2, 268.2), data, "WS")
        .event(992.6, JOURNAL.0, JournalCommitStart);
    for block in 0..4 {
        stream.bio(1023.7, JOURNAL, (10_000 + 8 * block, 8), "WSM");
    }
    stream
        .request((1039.7, 1161.5), journal, "WSM")
        .bio(1342.9, JOURNAL, commit, "FWFSM")
        .request((1359.5, 1533.8), (0, 0), "FF")
        .request((1547.1, 1703.4), commit, "WSM")
        .request((1711.4, 1718.9), (0, 0), "FF")
        .event(1860.6, JOURNAL.0, JournalCommitEnd)
        .event(1870.1, WORKER.0, SyncExit);
    let operations = vec![
        operation(Some(Op::Write), WORKER.0, (0, 4096), (0.0, 22.5)),
        operation(None, WORKER.0, (0, 0), (22.5, 1875.0)),
    ];
    (stream, operations)
}

#[test]
fn divides_a_synced_append_on_ext4() {
    let (stream, operations) = synced_append();
    let path = path(&stream, &operations, &[]);
    let append = operation_path(&path, Some(Op::Write), true);
    assert_eq!(
        parts(append),
        [
            (TimePart::Flush, 181_800.0),
            (TimePart::Data, 206_000.0),
            (TimePart::Metadata, 278_100.0),
            (TimePart::BlockQueue, 52_700.0),
            // After each completion, and 9.5 µs from the end of the commit to the worker's next event.
            (TimePart::WakeUp, 1_055_500.0 + 9_500.0),
            (TimePart::JournalCommit, 31_100.0),
            (TimePart::FileSystem, 69_800.0 - 9_500.0),
        ]
    );
    assert_eq!(append.mean.total(), 1_875_000.0);
    assert_eq!(append.mean_latency.0, 1_875_000);
    let classes: Vec<_> = append
        .classes
        .iter()
        .map(|it| (it.class, it.nanos))
        .collect();
    assert_eq!(
        classes,
        [(IoClass::Data, 206_000.0), (IoClass::Journal, 278_100.0)]
    );
    // The calls apart: the write itself only fills the page cache.
    let write = operation_path(&path, Some(Op::Write), false);
    assert_eq!(parts(write), [(TimePart::FileSystem, 22_500.0)]);
    let sync = operation_path(&path, None, false);
    assert_eq!(sync.mean.total(), 1_852_500.0);
    assert_eq!((sync.median.as_ref(), sync.p99.as_ref()), (None, None));
}

#[test]
fn a_foreign_request_on_the_device_is_waited_behind() {
    let mut stream = EventStream::default();
    stream
        .served((5, "ext4lazyinit"), (0.0, 1.0, 900.0), (20_000, 1024), "WS")
        .served(WORKER, (110.0, 905.0, 1000.0), (0, 8), "WS");
    let operations = [operation(
        Some(Op::Write),
        WORKER.0,
        (0, 4096),
        (100.0, 1010.0),
    )];
    let path = path(&stream, &operations, &[]);
    assert_eq!(
        parts(operation_path(&path, Some(Op::Write), false)),
        [
            (TimePart::Data, 95_000.0),
            (TimePart::WaitingBehind, 790_000.0),
            (TimePart::BlockQueue, 5_000.0),
            (TimePart::WakeUp, 10_000.0),
            (TimePart::FileSystem, 10_000.0),
        ]
    );
    assert_eq!(behind(&path, Op::Write), [(IoClass::InodeTable, 790_000.0)]);
}

/// Nanoseconds behind requests of each class.
fn behind(path: &IoPath, op: Op) -> Vec<(IoClass, f64)> {
    let of = operation_path(path, Some(op), false);
    of.behind.iter().map(|it| (it.class, it.nanos)).collect()
}

/// Of two foreign requests on the device at once, the one issued first is being served.
#[test]
fn waits_behind_the_request_that_was_issued_first() {
    let mut stream = EventStream::default();
    stream
        .served((5, "ext4lazyinit"), (0.0, 1.0, 300.0), (20_000, 1024), "WS")
        .served((6, "dd"), (0.0, 2.0, 500.0), (10_000, 1024), "W")
        .served(WORKER, (100.0, 505.0, 600.0), (0, 8), "WS");
    let micros = (100.0, 610.0);
    let operations = [operation(Some(Op::Write), WORKER.0, (0, 4096), micros)];
    let path = path(&stream, &operations, &[]);
    let expected = [
        (IoClass::Journal, 200_000.0),
        (IoClass::InodeTable, 200_000.0),
    ];
    assert_eq!(behind(&path, Op::Write), expected);
}

#[test]
fn a_stopped_worker_is_wake_up_and_a_slow_device_is_device() {
    let mut stream = EventStream::default();
    stream
        .served(WORKER, (2.0, 3.0, 53.0), (0, 8), "RS")
        .served(WORKER, (10_002.0, 10_003.0, 20_003.0), (8, 8), "RS");
    let operations = [
        operation(Some(Op::Read), WORKER.0, (0, 4096), (0.0, 10_000.0)),
        operation(Some(Op::Read), WORKER.0, (4096, 4096), (10_000.0, 20_005.0)),
    ];
    let path = path(&stream, &operations, &[]);
    let reads = operation_path(&path, Some(Op::Read), false);
    assert_eq!(
        parts(reads),
        [
            (TimePart::Data, (50_000.0 + 10_000_000.0) / 2.0),
            (TimePart::BlockQueue, 1_000.0),
            (TimePart::WakeUp, (9_947_000.0 + 2_000.0) / 2.0),
            (TimePart::FileSystem, 2_000.0),
        ]
    );
}

/// Two reads of one thread at once, submitted together; the second is served first.
fn two_reads_at_once() -> (EventStream, Vec<TracedOperation>) {
    let mut stream = EventStream::default();
    stream
        .bio(2.0, WORKER, (800, 8), "R")
        .bio(3.0, WORKER, (80, 8), "R")
        .request((4.0, 50.0), (80, 8), "R")
        .request((50.0, 90.0), (800, 8), "R");
    let operations = vec![
        operation(Some(Op::Read), WORKER.0, (800 * 512, 4096), (0.0, 100.0)),
        operation(Some(Op::Read), WORKER.0, (80 * 512, 4096), (1.0, 100.0)),
    ];
    (stream, operations)
}

#[test]
fn operations_in_flight_at_once_find_their_requests_by_address() {
    let (stream, mut operations) = two_reads_at_once();
    let file = FileRange {
        file: 0,
        offset: 0,
        sector: 0,
        sectors: 10_000,
    };
    let by_address = path(&stream, &operations, &[file]);
    let by_order = path(&stream, &operations, &[]);
    let data = |path: &IoPath| parts(operation_path(path, Some(Op::Read), false));
    let expected = [
        (TimePart::Data, (40_000.0 + 46_000.0) / 2.0),
        (TimePart::WaitingBehind, 46_000.0 / 2.0),
        (TimePart::BlockQueue, (2_000.0 + 1_000.0) / 2.0),
        (TimePart::WakeUp, (10_000.0 + 50_000.0) / 2.0),
        (TimePart::FileSystem, (2_000.0 + 2_000.0) / 2.0),
    ];
    assert_eq!(data(&by_address), expected);
    assert_eq!(data(&by_order), expected);
    // Stamps in the other order mislead the order, but not the address.
    operations.swap(0, 1);
    (operations[0].begin, operations[1].begin) = (0, 1_000);
    assert_eq!(data(&path(&stream, &operations, &[file]))[0], expected[0]);
}

#[test]
fn operations_submitted_one_after_another_find_their_requests_by_order() {
    let mut stream = EventStream::default();
    let mut operations = Vec::new();
    for number in 0..10_u32 {
        let at = f64::from(number) * 10.0;
        let sector = u64::from(number) * 800;
        stream.served(WORKER, (at + 1.0, at + 2.0, at + 35.0), (sector, 8), "W");
        let micros = (at, at + 36.0);
        operations.push(operation(Some(Op::Write), WORKER.0, (0, 4096), micros));
    }
    let path = path(&stream, &operations, &[]);
    assert_eq!(
        parts(operation_path(&path, Some(Op::Write), false)),
        [
            (TimePart::Data, 33_000.0),
            (TimePart::WaitingBehind, 900.0),
            (TimePart::BlockQueue, 100.0),
            (TimePart::WakeUp, 1_000.0),
            (TimePart::FileSystem, 1_000.0),
        ]
    );
}

#[test]
fn workers_that_share_a_commit_are_each_charged_their_own_wait() {
    let mut stream = EventStream::default();
    stream
        .event(100.0, JOURNAL.0, JournalCommitStart)
        .served(JOURNAL, (110.0, 120.0, 220.0), (10_000, 8), "WSM")
        .event(230.0, JOURNAL.0, JournalCommitEnd);
    // The first waits for all of the commit, the last only from the middle of its write on.
    let operations: Vec<_> = (0..16)
        .map(|worker| {
            let begin = 20.0 + 10.0 * f64::from(worker);
            operation(None, 100 + worker, (0, 0), (begin, 240.0))
        })
        .collect();
    let path = path(&stream, &operations, &[]);
    let sync = operation_path(&path, None, false);
    let waits = (0..16).map(|worker| {
        let begin = 20.0 + 10.0 * f64::from(worker);
        220.0 - begin.max(120.0)
    });
    let mean = waits.sum::<f64>() * 1000.0 / 16.0;
    assert_eq!(sync.mean.of(TimePart::Metadata), mean);
    assert_eq!(path.classes.len(), 1);
    assert_eq!(path.classes[0].requests, 1);
    assert_eq!(path.busy.0, 100_000);
}

#[test]
fn the_next_commit_before_a_wake_up_counts_once() {
    let mut stream = EventStream::default();
    stream
        .event(10.0, JOURNAL.0, JournalCommitStart)
        .event(50.0, JOURNAL.0, JournalCommitEnd)
        .event(52.0, JOURNAL.0, JournalCommitStart)
        .served(WORKER, (100.0, 110.0, 120.0), (0, 8), "WS")
        .event(150.0, JOURNAL.0, JournalCommitEnd)
        .event(190.0, WORKER.0, SyncExit);
    let operations = [operation(None, WORKER.0, (0, 0), (0.0, 200.0))];
    let path = path(&stream, &operations, &[]);
    let sync = operation_path(&path, None, false);
    assert_eq!(
        parts(sync),
        [
            (TimePart::Data, 10_000.0),
            (TimePart::BlockQueue, 10_000.0),
            (TimePart::WakeUp, 2_000.0 + 30_000.0 + 40_000.0),
            (TimePart::JournalCommit, 40_000.0 + 48_000.0),
            (TimePart::FileSystem, 10_000.0 + 10_000.0),
        ]
    );
}

#[test]
fn an_fsync_waits_for_the_writeback_that_completes_in_it() {
    let mut stream = EventStream::default();
    stream
        .served(KWORKER, (5.0, 6.0, 60.0), (0, 64), "W")
        .served(KWORKER, (60.0, 61.0, 900.0), (640, 64), "W")
        .served(KWORKER, (62.0, 910.0, 950.0), (20_000, 8), "W");
    let operations = [operation(None, WORKER.0, (0, 0), (30.0, 905.0))];
    let path = path(&stream, &operations, &[]);
    assert_eq!(
        parts(operation_path(&path, None, false)),
        [
            (TimePart::Data, 30_000.0 + 839_000.0),
            (TimePart::BlockQueue, 1_000.0),
            (TimePart::WakeUp, 5_000.0),
        ]
    );
}

#[test]
fn the_time_of_a_command_on_the_bus_is_the_device() {
    use crate::event::EventKind::{MmcDone, MmcStart};
    let mut stream = EventStream::default();
    let start = MmcStart {
        opcode: 25,
        sector: 0,
        blocks: 8,
        block_size: 512,
        id: 1,
    };
    let done = MmcDone {
        opcode: 25,
        id: 1,
        bytes: 4096,
        retries: 0,
        error: 0,
    };
    stream
        .served(WORKER, (1.0, 2.0, 500.0), (0, 8), "WS")
        .event(100.0, 0, start)
        .event(300.0, 0, done);
    let operations = [operation(
        Some(Op::Write),
        WORKER.0,
        (0, 4096),
        (0.0, 510.0),
    )];
    let path = path(&stream, &operations, &[]);
    assert_eq!(
        parts(operation_path(&path, Some(Op::Write), false)),
        [
            (TimePart::Data, 200_000.0),
            (TimePart::BlockQueue, 99_000.0),
            (TimePart::WakeUp, 210_000.0),
            (TimePart::FileSystem, 1_000.0),
        ]
    );
    assert_eq!(path.busy.0, 200_000);
}

#[test]
fn percentiles_average_the_operations_around_them() {
    let mut stream = EventStream::default();
    let mut operations = Vec::new();
    for number in 0..200_u32 {
        let at = f64::from(number) * 10_000.0;
        let served = f64::from(number + 1);
        let sector = u64::from(number) * 8;
        stream.served(WORKER, (at, at, at + served), (sector, 8), "R");
        let micros = (at, at + served);
        operations.push(operation(Some(Op::Read), WORKER.0, (0, 4096), micros));
    }
    let path = path(&stream, &operations, &[]);
    let reads = operation_path(&path, Some(Op::Read), false);
    let data =
        |parts: Option<_>| Option::map_or(parts, 0.0, hakaru_model::io_path::TimeParts::total);
    // Ranks 90 to 109 are 91 to 110 µs; ranks 197 and 198 are 198 and 199 µs.
    assert_eq!(data(reads.median.as_ref()), 100_500.0);
    assert_eq!(data(reads.p99.as_ref()), 198_500.0);
    assert_eq!(reads.mean_latency.0, 100_500);
}

proptest! {
    #[test]
    fn the_parts_of_any_operations_add_up_to_their_latency(seed: u64, requests in 0_u32..200) {
        let mut rng = Rng::new(seed);
        let mut stream = EventStream::default();
        let threads = [WORKER, JOURNAL, KWORKER, (8, "hakaru"), (300, "iou-wrk-7"), (301, "dd")];
        for number in 0..requests {
            let by = threads[rng.below(6) as usize];
            let mut at = rng.below(100_000) as f64 / 10.0;
            let mut later = || { at += rng.below(3000) as f64 / 10.0; at };
            let micros = (later(), later(), later());
            let sector = u64::from(number) * 8 + [0, 10_000, 20_000][number as usize % 3];
            let rwbs = ["WS", "R", "FWFSM", "W"][number as usize % 4];
            stream.served(by, micros, (sector, 8), rwbs);
            if number % 8 == 0 {
                stream.request((micros.0, micros.2), (0, 0), "FF");
                stream.event(micros.0, JOURNAL.0, JournalCommitStart);
                stream.event(micros.2, JOURNAL.0, JournalCommitEnd);
                stream.event(micros.1, WORKER.0, SyncEnter);
            }
        }
        let mut operations = Vec::new();
        for number in 0..50_u64 {
            let begin = rng.below(100_000) as f64 / 10.0;
            let end = begin + rng.below(20_000) as f64 / 10.0;
            let op = [None, Some(Op::Read), Some(Op::Write)][rng.below(3) as usize];
            let tid = [7, 8][rng.below(2) as usize];
            operations.push(operation(op, tid, (number * 4096, 4096), (begin, end)));
        }
        let path = path(&stream, &operations, &[]);
        for kind in &path.operations {
            let of_kind = operations.iter().filter(|it| it.op == kind.op && !kind.with_sync);
            let total: u64 = of_kind.map(|it| it.end - it.begin).sum();
            let sum = kind.mean.total() * kind.count as f64;
            if !kind.with_sync {
                prop_assert!((sum - total as f64).abs() < 0.5, "{} {}", sum, total);
            }
            let device = kind.mean.of(TimePart::Data) + kind.mean.of(TimePart::Metadata);
            let classes: f64 = kind.classes.iter().map(|it| it.nanos).sum();
            prop_assert!((device - classes).abs() < 1e-6);
            let behind: f64 = kind.behind.iter().map(|it| it.nanos).sum();
            prop_assert!((kind.mean.of(TimePart::WaitingBehind) - behind).abs() < 1e-6);
        }
    }
}
