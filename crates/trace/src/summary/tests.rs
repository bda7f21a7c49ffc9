//! Sums, edges and limits of a phase.

use super::*;
use crate::event::EventKind;
use crate::testing::{EventStream, flags, operation, range};
use hakaru_model::io_path::{ClassTraffic, EventCount, IssuerKind, LayoutRange};
use hakaru_model::rng::Rng;

const WORKER: (u32, &str) = (7, "hakaru");
const JOURNAL: (u32, &str) = (90, "jbd2/loop0-8");

/// Sectors 0 to 999 hold the file, 1,000 to 1,999 the journal.
fn map() -> AddressMap {
    let ranges = [(0, IoClass::Data), (1000, IoClass::Journal)];
    AddressMap::from_ranges(ranges.map(|(sector, class)| LayoutRange {
        sector,
        sectors: 1000,
        class,
    }))
}

/// Finishes a phase; the window is in microseconds.
fn finish(summary: &mut PathSummary, window: (u64, u64)) -> IoPath {
    finish_with(summary, window, TracerReport::default())
}

fn finish_with(summary: &mut PathSummary, window: (u64, u64), tracer: TracerReport) -> IoPath {
    summary.finish(&PhaseTrace {
        disk: TracedDisk::default(),
        window: (window.0 * 1000, window.1 * 1000),
        threads: OwnThreads {
            workers: &[WORKER.0],
            others: &[],
        },
        map: &map(),
        layout_gaps: Vec::new(),
        files: &[],
        tracer,
        counters: None,
        cost: None,
    })
}

fn pushed(stream: &EventStream, options: PathSummaryOptions) -> PathSummary {
    let mut summary = PathSummary::new(options);
    for event in stream.events() {
        summary.push(&event);
    }
    summary
}

fn summarized(stream: &EventStream, window: (u64, u64)) -> IoPath {
    finish(&mut pushed(stream, PathSummaryOptions::default()), window)
}

fn class(path: &IoPath, class: IoClass) -> &ClassTraffic {
    let found = path.classes.iter().find(|it| it.class == class);
    found.expect("the class occurs")
}

#[test]
fn divides_a_request_over_classes_by_bytes() {
    let mut stream = EventStream::default();
    stream.served(WORKER, (0.0, 10.0, 90.0), (992, 32), "W");
    let path = summarized(&stream, (0, 100));
    let (data, journal) = (class(&path, IoClass::Data), class(&path, IoClass::Journal));
    assert_eq!((data.requests, data.bytes.0), (1, 4096));
    assert_eq!((journal.requests, journal.bytes.0), (0, 12_288));
    // The count goes to the class of the first sector, the time to each by its bytes.
    assert_eq!((data.device.stat.count, data.device.stat.sum), (1, 20_000));
    assert_eq!(
        (journal.device.stat.count, journal.device.stat.sum),
        (0, 60_000)
    );
    assert_eq!(path.bytes(Op::Write).0, 16_384);
}

#[test]
fn counts_merges_splits_runs_and_issuers() {
    let mut stream = EventStream::default();
    stream
        .bio(0.0, WORKER, (0, 8), "W")
        .bio(1.0, WORKER, (8, 8), "W")
        .request((2.0, 3.0), (0, 16), "W")
        .served(WORKER, (4.0, 5.0, 6.0), (16, 8), "W")
        .bio(7.0, (8, "other-7"), (500, 64), "W")
        .request((8.0, 9.0), (500, 32), "W")
        .request((10.0, 11.0), (532, 32), "W")
        .served(JOURNAL, (12.0, 13.0, 14.0), (1000, 8), "WSM");
    let path = summarized(&stream, (0, 100));
    let data = class(&path, IoClass::Data);
    assert_eq!((data.requests, data.bios, data.merges), (4, 5, 1));
    assert_eq!((data.runs, data.splits), (2, 2));
    let sizes: Vec<_> = data.sizes.iter().map(|it| (it.size.0, it.count)).collect();
    assert_eq!(sizes, [(4096, 1), (8192, 1), (16_384, 2)]);
    let issuers: Vec<_> = data
        .issuers
        .iter()
        .map(|it| (it.kind, it.name.as_str(), it.bytes.0))
        .collect();
    assert_eq!(
        issuers,
        [
            (IssuerKind::OtherProcess, "other-7", 32_768),
            (IssuerKind::Worker, "hakaru", 12_288),
        ]
    );
    let journal = &class(&path, IoClass::Journal).issuers;
    assert_eq!(
        (journal[0].kind, journal[0].name.as_str()),
        (IssuerKind::Journal, "jbd2/loop0")
    );
}

#[test]
fn a_request_belongs_to_the_phase_in_which_it_completed() {
    let mut stream = EventStream::default();
    stream
        .served(WORKER, (5.0, 6.0, 15.0), (0, 8), "W") // across the start
        .served(WORKER, (20.0, 21.0, 30.0), (8, 8), "W")
        .served(WORKER, (90.0, 95.0, 110.0), (16, 16), "W") // across the end
        .bio(99.0, WORKER, (64, 8), "W") // never issued
        .served(WORKER, (200.0, 201.0, 202.0), (128, 8), "W");
    let path = summarized(&stream, (10, 100));
    let data = class(&path, IoClass::Data);
    assert_eq!((data.requests, data.bytes.0), (2, 8192));
    assert_eq!((data.earlier_requests, data.earlier_bytes.0), (1, 4096));
    let edges = EdgeRequests {
        at_start: 1,
        at_start_bytes: Bytes(4096),
        at_end: 2,
        at_end_bytes: Bytes(8192 + 4096),
    };
    assert_eq!(path.edges, edges);
    assert_eq!(path.window.0, 90_000);
    // 10 to 15, 21 to 30 and 95 to 100.
    assert_eq!(path.busy.0, 19_000);
    let depth: f64 = (5.0 + 10.0 + 10.0) / 90.0;
    assert!((path.mean_depth - depth).abs() < 1e-9);
    assert!((path.depth.len() as u64) <= 90);
}

#[test]
fn requests_in_flight_when_recording_began_count_by_their_completion() {
    let mut stream = EventStream::default();
    stream
        .event(15.0, 0, completion((8, 8)))
        .served(WORKER, (20.0, 21.0, 30.0), (16, 16), "W");
    let path = summarized(&stream, (10, 100));
    let data = class(&path, IoClass::Data);
    assert_eq!((data.requests, data.bytes.0), (2, 4096 + 8192));
    let edges = (path.edges.at_start, path.edges.at_start_bytes.0);
    assert_eq!(edges, (1, 4096));
    // In flight from the start of the window: 10 to 15, and 21 to 30.
    assert_eq!(path.busy.0, 14_000);
}

#[test]
fn completions_without_an_issue_do_not_count_if_events_were_lost() {
    let mut stream = EventStream::default();
    stream.event(15.0, 0, completion((8, 8)));
    let mut summary = pushed(&stream, PathSummaryOptions::default());
    let tracer = TracerReport {
        events: vec![EventCount {
            counted: 100,
            lost: 1,
            ..EventCount::default()
        }],
        ..TracerReport::default()
    };
    let path = finish_with(&mut summary, (10, 100), tracer);
    assert!(path.classes.is_empty(), "{:?}", path.classes);
}

fn completion(at: (u64, u32)) -> EventKind {
    EventKind::RequestComplete {
        range: range(at.0, at.1),
        flags: flags("W"),
        error: 0,
    }
}

#[test]
fn requests_in_flight_belong_to_the_next_phase() {
    let mut summary = PathSummary::new(PathSummaryOptions::default());
    let mut stream = EventStream::default();
    stream
        .served(WORKER, (90.0, 95.0, 110.0), (16, 16), "W")
        .served(WORKER, (120.0, 121.0, 130.0), (0, 8), "W");
    let events = stream.events();
    let (first, second) = events.split_at(2);
    first.iter().for_each(|event| summary.push(event));
    let before = finish(&mut summary, (0, 100));
    second.iter().for_each(|event| summary.push(event));
    let after = finish(&mut summary, (105, 200));
    assert_eq!((before.classes.len(), before.edges.at_end), (0, 1));
    assert_eq!(
        (class(&after, IoClass::Data).requests, after.edges.at_start),
        (2, 1)
    );
}

#[test]
fn the_device_is_busy_with_flushes_alone_for_a_part_of_the_time() {
    let mut stream = EventStream::default();
    stream
        .bio(0.0, WORKER, (0, 0), "FWS")
        .request((1.0, 41.0), (0, 0), "FF")
        .served(WORKER, (30.0, 31.0, 51.0), (0, 8), "W");
    let path = summarized(&stream, (0, 100));
    assert_eq!((path.busy.0, path.flush_only.0), (50_000, 30_000));
    let flush = class(&path, IoClass::Flush);
    assert_eq!(
        (flush.op, flush.requests, flush.bytes.0, flush.bios),
        (None, 1, 0, 1)
    );
    assert_eq!(path.sample.requests.len(), 2);
}

#[test]
fn reports_unseen_completions_and_unmatched_requests() {
    let mut stream = EventStream::default();
    let lost = crate::event::EventKind::RequestIssue {
        range: crate::testing::range(0, 8),
        flags: crate::testing::flags("W"),
        comm: crate::testing::thread(WORKER.1),
    };
    stream
        .bio(1.0, WORKER, (0, 8), "W")
        .event(2.0, 0, lost)
        .served(WORKER, (20.0, 21.0, 30.0), (0, 8), "W")
        .request((40.0, 41.0), (500, 8), "W");
    let path = summarized(&stream, (0, 100));
    assert_eq!(
        (path.tracer.unseen_completions, path.tracer.unmatched),
        (1, 1)
    );
    // The request without a completion was on the disk, and has no time on the device.
    let data = class(&path, IoClass::Data);
    assert_eq!(
        (data.requests, data.device.stat.count, data.queue.stat.count),
        (3, 2, 3)
    );
}

/// A random stream of 3,000 requests in at most 16 lanes.
fn many() -> EventStream {
    let mut rng = Rng::new(1);
    let mut stream = EventStream::default();
    let mut lanes = [0.0; 16];
    for number in 0..3000_u64 {
        let lane = rng.below(16) as usize;
        let mut later = |most: u64| {
            lanes[lane] += 1.0 + rng.below(most) as f64;
            lanes[lane]
        };
        let micros = (later(20), later(20), later(90));
        let sector = lane as u64 * 100 + number * 8 % 96;
        stream.served((7 + lane as u32, "hakaru"), micros, (sector, 8), "W");
    }
    stream
}

#[test]
fn sums_are_exact_beyond_the_limit() {
    let stream = many();
    let whole = summarized(&stream, (0, 1_000_000));
    let limited = PathSummaryOptions {
        max_requests: 500,
        ..PathSummaryOptions::default()
    };
    let mut summary = pushed(&stream, limited);
    summary.layout_so_far(map(), None);
    let part = finish(&mut summary, (0, 1_000_000));
    assert_eq!((whole.classified_early, part.classified_early), (0, 2500));
    assert_eq!(part.busy, whole.busy);
    assert_eq!(part.mean_depth, whole.mean_depth);
    assert_eq!(part.sample.drawn_from, 3000);
    for (part, whole) in part.classes.iter().zip(&whole.classes) {
        assert_eq!((part.class, part.op), (whole.class, whole.op));
        assert_eq!(
            (part.requests, part.bytes, part.bios),
            (whole.requests, whole.bytes, whole.bios)
        );
        assert_eq!((&part.queue, &part.device), (&whole.queue, &whole.device));
        assert_eq!((&part.sizes, &part.issuers), (&whole.sizes, &whole.issuers));
    }
}

#[test]
fn keeps_a_limited_number_of_operations_and_the_sizes_of_all() {
    let options = PathSummaryOptions {
        max_operations: 10,
        ..PathSummaryOptions::default()
    };
    let mut summary = PathSummary::new(options);
    for number in 0..30 {
        let size = if number % 3 == 0 { 8192 } else { 4096 };
        let at = f64::from(number);
        summary.push_operation(&operation(
            Some(Op::Write),
            WORKER.0,
            (0, size),
            (at, at + 0.5),
        ));
    }
    let path = finish(&mut summary, (0, 100));
    assert_eq!(path.operations_limit, Some(10));
    assert_eq!(path.operations[0].count, 10);
    let asked: Vec<_> = path.asked.iter().map(|it| (it.size.0, it.count)).collect();
    assert_eq!(asked, [(4096, 20), (8192, 10)]);
    assert_eq!(finish(&mut summary, (100, 200)).asked, []);
}

#[test]
fn depth_adds_up_to_the_mean() {
    let path = summarized(&many(), (0, 20_000));
    let step = path.depth[1].at.0 as f64;
    let sum: f64 = path
        .depth
        .iter()
        .map(|it| f64::from(it.queued + it.issued) * step)
        .sum();
    let mean = sum / path.window.0 as f64;
    assert!(
        (mean / path.mean_depth - 1.0).abs() < 0.01,
        "{mean} {}",
        path.mean_depth
    );
}
