//! Tables of events and the requests expected from them.

mod lost;

use super::*;
use crate::event::EventKind::*;
use crate::request::MmcCommand;
use crate::testing::{flags, range};

fn bio(start: u64, sectors: u32, rwbs: &str) -> EventKind {
    BioQueue {
        range: range(start, sectors),
        flags: flags(rwbs),
        comm: ThreadName::default(),
    }
}

fn issue(start: u64, sectors: u32, rwbs: &str) -> EventKind {
    RequestIssue {
        range: range(start, sectors),
        flags: flags(rwbs),
        comm: ThreadName::default(),
    }
}

fn requeue(start: u64, sectors: u32, rwbs: &str) -> EventKind {
    RequestRequeue {
        range: range(start, sectors),
        flags: flags(rwbs),
    }
}

fn complete(start: u64, sectors: u32, rwbs: &str) -> EventKind {
    RequestComplete {
        range: range(start, sectors),
        flags: flags(rwbs),
        error: 0,
    }
}

/// Feeds events, one every 10 ns from 10 on, by threads 1, 2, …
fn matched(events: Vec<EventKind>) -> (RequestMatcher, Vec<TracedRequest>) {
    with_options(MatchOptions::default(), events)
}

fn with_options(
    options: MatchOptions,
    events: Vec<EventKind>,
) -> (RequestMatcher, Vec<TracedRequest>) {
    let mut matcher = RequestMatcher::new(options);
    for (event, time) in events.into_iter().zip((10..).step_by(10)) {
        matcher.push(&TraceEvent {
            time,
            cpu: 0,
            tid: time as u32,
            kind: event,
        });
    }
    let requests = matcher.take();
    (matcher, requests)
}

/// Start, sectors, (queued, issued, completed), and the start and sectors of the bios.
type Row = (u64, u32, (u64, u64, Option<u64>), Vec<(u64, u32)>);

fn rows(requests: &[TracedRequest]) -> Vec<Row> {
    let row = |it: &TracedRequest| {
        let bios = it
            .bios
            .iter()
            .map(|bio| (bio.range.start, bio.range.sectors));
        (
            it.range.start,
            it.range.sectors,
            (it.queued, it.issued, it.completed),
            bios.collect(),
        )
    };
    requests.iter().map(row).collect()
}

#[test]
fn matches_plug_back_and_front_merges() {
    let (matcher, requests) = matched(vec![
        bio(108, 8, "WS"),
        bio(116, 8, "WS"), // back merge
        bio(100, 8, "WS"), // front merge
        issue(100, 24, "WS"),
        complete(100, 24, "WS"),
    ]);
    let bios = vec![(100, 8), (108, 8), (116, 8)];
    assert_eq!(rows(&requests), [(100, 24, (10, 40, Some(50)), bios)]);
    assert!(requests[0].bios.iter().all(|bio| !bio.part));
    assert_eq!(matcher.counts(), MatchCounts::default());
    assert_eq!(matcher.pending().count(), 0);
}

#[test]
fn cuts_a_split_bio_at_the_requests_ends() {
    let split = Split {
        sector: 0,
        rest: 1024,
    };
    for events in [
        vec![
            bio(0, 2048, "W"),
            issue(0, 1024, "W"),
            issue(1024, 1024, "W"),
        ],
        // The second part first, with the event that explains it and without.
        vec![
            bio(0, 2048, "W"),
            split,
            issue(1024, 1024, "W"),
            issue(0, 1024, "W"),
        ],
        vec![
            bio(0, 2048, "W"),
            issue(1024, 1024, "W"),
            issue(0, 1024, "W"),
        ],
    ] {
        let mut events = events;
        events.extend([complete(0, 1024, "W"), complete(1024, 1024, "W")]);
        let (matcher, requests) = matched(events);
        assert_eq!(matcher.counts(), MatchCounts::default());
        let parts: Vec<_> = requests
            .iter()
            .map(|it| (it.bios.clone(), it.queued))
            .collect();
        for ((bios, queued), start) in parts.iter().zip([0, 1024]) {
            assert_eq!(bios.len(), 1);
            assert_eq!(bios[0].range, range(start, 1024));
            assert!(bios[0].part);
            assert_eq!(*queued, 10);
        }
    }
}

#[test]
fn reads_and_writes_at_one_address_stay_apart() {
    let (_, requests) = matched(vec![
        bio(0, 8, "W"),
        bio(0, 8, "R"),
        issue(0, 8, "R"),
        issue(0, 8, "W"),
        complete(0, 8, "W"),
        complete(0, 8, "R"),
    ]);
    assert_eq!(
        rows(&requests),
        [
            (0, 8, (10, 40, Some(50)), vec![(0, 8)]),
            (0, 8, (20, 30, Some(60)), vec![(0, 8)]),
        ]
    );
}

#[test]
fn overlapping_bios_prefer_the_one_that_ends_with_the_request() {
    let (matcher, requests) = matched(vec![
        bio(0, 8, "R"),
        bio(0, 16, "R"),
        issue(0, 16, "R"),
        issue(0, 8, "R"),
        complete(0, 8, "R"),
        complete(0, 16, "R"),
    ]);
    assert_eq!(
        rows(&requests),
        [
            (0, 8, (10, 40, Some(50)), vec![(0, 8)]),
            (0, 16, (20, 30, Some(60)), vec![(0, 16)]),
        ]
    );
    // Two lengths at one address: which completion is whose follows from the lengths, and is counted.
    assert_eq!(matcher.counts().ambiguous, 1);
}

#[test]
fn a_requeued_request_keeps_its_first_queue_time() {
    let (_, requests) = matched(vec![
        bio(0, 8, "W"),
        issue(0, 8, "W"),
        requeue(0, 8, "W"),
        issue(0, 8, "W"),
        complete(0, 8, "W"),
    ]);
    assert_eq!(rows(&requests), [(0, 8, (10, 40, Some(50)), vec![(0, 8)])]);
    assert_eq!(requests[0].requeues, 1);
}

#[test]
fn a_requeued_request_can_be_merged_before_it_is_issued_again() {
    let (matcher, requests) = matched(vec![
        bio(8, 8, "W"),
        issue(8, 8, "W"),
        requeue(8, 8, "W"),
        bio(0, 8, "W"),
        bio(16, 8, "W"),
        issue(0, 24, "W"),
        complete(0, 24, "W"),
    ]);
    let bios = vec![(0, 8), (8, 8), (16, 8)];
    assert_eq!(rows(&requests), [(0, 24, (10, 60, Some(70)), bios)]);
    assert_eq!(requests[0].requeues, 1);
    assert_eq!(matcher.counts(), MatchCounts::default());
}

#[test]
fn a_partial_completion_moves_the_request() {
    let (matcher, requests) = matched(vec![
        bio(0, 32, "W"),
        issue(0, 32, "W"),
        complete(0, 8, "W"),
        complete(8, 16, "W"),
        complete(24, 8, "W"),
    ]);
    assert_eq!(
        rows(&requests),
        [(0, 32, (10, 20, Some(50)), vec![(0, 32)])]
    );
    assert_eq!(matcher.counts(), MatchCounts::default());
}

#[test]
fn a_partly_completed_request_can_be_requeued() {
    let (matcher, requests) = matched(vec![
        bio(0, 32, "W"),
        issue(0, 32, "W"),
        complete(0, 8, "W"),
        requeue(8, 24, "W"),
        issue(8, 24, "W"),
        complete(8, 24, "W"),
    ]);
    assert_eq!(
        rows(&requests),
        [(0, 32, (10, 50, Some(60)), vec![(0, 32)])]
    );
    assert_eq!(matcher.counts(), MatchCounts::default());
}

#[test]
fn a_journal_commit_without_fua_is_flush_write_flush() {
    // As seen on ext4, on a loop device with a cache and without FUA.
    let (matcher, requests) = matched(vec![
        bio(5000, 8, "FWFSM"),
        issue(0, 0, "FF"),
        complete(u64::MAX, 0, "FF"),
        issue(5000, 8, "WSM"),
        complete(5000, 8, "WSM"),
        issue(0, 0, "FF"),
        complete(u64::MAX, 0, "FF"),
        complete(5000, 0, "FWFSM"), // end of the sequence
    ]);
    assert_eq!(
        rows(&requests),
        [
            (u64::MAX, 0, (10, 20, Some(30)), vec![(u64::MAX, 0)]),
            (5000, 8, (10, 40, Some(50)), vec![(5000, 8)]),
            (u64::MAX, 0, (10, 60, Some(70)), vec![(u64::MAX, 0)]),
        ]
    );
    assert!(requests.iter().all(|it| it.bios[0].tid == 10));
    let expected = MatchCounts {
        flush_sequences: 1,
        ..MatchCounts::default()
    };
    assert_eq!(matcher.counts(), expected);
}

#[test]
fn a_journal_commit_with_fua_is_flush_and_write() {
    let (matcher, requests) = matched(vec![
        bio(5000, 8, "FWFSM"),
        issue(0, 0, "FF"),
        complete(u64::MAX, 0, "FF"),
        issue(5000, 8, "WFSM"),
        complete(5000, 8, "WFSM"),
        complete(5000, 0, "FWFSM"),
        issue(0, 0, "FF"), // somebody else's
        complete(u64::MAX, 0, "FF"),
    ]);
    assert_eq!(requests.len(), 3);
    assert!(requests[2].bios.is_empty());
    assert_eq!(matcher.counts().flush_sequences, 1);
}

#[test]
fn a_flush_alone_is_a_request_without_sectors() {
    let (matcher, requests) = matched(vec![
        bio(0, 0, "FWS"),
        issue(0, 0, "FF"),
        complete(u64::MAX, 0, "FF"),
        complete(0, 0, "FWS"),
    ]);
    assert_eq!(
        rows(&requests),
        [(u64::MAX, 0, (10, 20, Some(30)), vec![(u64::MAX, 0)])]
    );
    assert!(!requests[0].bios[0].part);
    assert_eq!(matcher.counts().unseen_issues, 0);
}

#[test]
fn a_discard_of_joined_ranges_takes_the_waiting_discards() {
    let (matcher, requests) = matched(vec![
        bio(1000, 8, "D"),
        bio(5000, 16, "D"),
        bio(200, 8, "D"),
        bio(9000, 64, "D"),
        issue(1000, 32, "D"),
        issue(9000, 64, "D"),
        complete(1000, 32, "D"),
        complete(9000, 64, "D"),
    ]);
    let joined = vec![(1000, 8), (5000, 16), (200, 8)];
    assert_eq!(
        rows(&requests),
        [
            (1000, 32, (10, 50, Some(70)), joined),
            (9000, 64, (40, 60, Some(80)), vec![(9000, 64)]),
        ]
    );
    assert_eq!(matcher.counts(), MatchCounts::default());
}

#[test]
fn works_without_bios() {
    let options = MatchOptions {
        bios_recorded: false,
        ..MatchOptions::default()
    };
    let (matcher, requests) = with_options(
        options,
        vec![
            issue(0, 8, "W"),
            requeue(0, 8, "W"),
            issue(0, 8, "W"),
            complete(0, 8, "W"),
        ],
    );
    // The issuing thread stands for the one that queued it, also when the request is issued again.
    assert_eq!(rows(&requests), [(0, 8, (10, 30, Some(40)), vec![(0, 8)])]);
    assert_eq!(matcher.counts(), MatchCounts::default());
}

#[test]
fn bios_are_the_requests_of_a_bio_device() {
    let options = MatchOptions {
        bio_based: true,
        ..MatchOptions::default()
    };
    let done = |start, sectors, rwbs| BioComplete {
        range: range(start, sectors),
        flags: flags(rwbs),
        error: 0,
    };
    let (matcher, requests) = with_options(
        options,
        vec![
            bio(0, 8, "R"),
            bio(8, 16, "W"),
            bio(64, 32, "W"),
            bio(0, 0, "FW"),
            done(24, 0, "W"),  // advanced to its end
            done(80, 16, "W"), // the second half of a split one
            done(64, 16, "W"),
            done(0, 8, "R"),
            done(0, 0, "FW"),
        ],
    );
    let times: Vec<_> = rows(&requests)
        .into_iter()
        .map(|row| (row.0, row.2))
        .collect();
    assert_eq!(
        times,
        [
            (8, (20, 20, Some(50))),
            (64, (30, 30, Some(70))),
            (0, (10, 10, Some(80))),
            (u64::MAX, (40, 40, Some(90))),
        ]
    );
    assert_eq!(matcher.counts(), MatchCounts::default());
}

#[test]
fn joins_commands_of_the_bus_and_counts_polls_apart() {
    let start = |opcode, sector, id| MmcStart {
        opcode,
        sector,
        blocks: 8,
        block_size: 512,
        id,
    };
    let done = |opcode, id, retries, error| MmcDone {
        opcode,
        id,
        bytes: 4096,
        retries,
        error,
    };
    let (matcher, requests) = matched(vec![
        bio(64, 8, "W"),
        issue(64, 8, "W"),
        start(25, 64, 1),
        done(25, 1, 1, 0),
        start(13, 0, 2),
        done(13, 2, 0, 0),
        complete(64, 8, "W"),
        bio(0, 8, "D"),
        issue(0, 8, "D"),
        start(32, 0, 3),
        done(32, 3, 0, 0),
        start(33, 0, 3),
        done(33, 3, 0, 0),
        start(38, 0, 3),
        done(38, 3, 0, 0),
        complete(0, 8, "D"),
        start(18, 999, 4),
    ]);
    let commands: Vec<_> = requests.iter().filter_map(|it| it.command).collect();
    let write = MmcCommand {
        opcode: 25,
        start: 30,
        done: 40,
        retries: 1,
        failed: false,
    };
    let erase = MmcCommand {
        opcode: 38,
        start: 100,
        done: 150,
        retries: 0,
        failed: false,
    };
    assert_eq!(commands, [write, erase]);
    assert_eq!(matcher.counts().status_commands, 1);
    assert_eq!(matcher.counts().stray_commands, 1);
}

#[test]
fn takes_the_type_of_a_bio_from_the_file_system() {
    let named = F2fsBio {
        sector: 24,
        size: 4096,
        page_type: 1,
    };
    let mut matcher = RequestMatcher::new(MatchOptions::default());
    // The partition begins at sector 2048; thread 7 names its bio, thread 8 queues another one in between.
    for (tid, kind) in [
        (7, named),
        (8, bio(2072, 8, "R")),
        (7, bio(2072, 8, "WS")),
        (7, bio(2080, 8, "WS")),
        (0, issue(2072, 16, "WS")),
        (0, complete(2072, 16, "WS")),
    ] {
        matcher.push(&TraceEvent {
            time: 1,
            cpu: 0,
            tid,
            kind,
        });
    }
    let types: Vec<_> = matcher.take()[0]
        .bios
        .iter()
        .map(|bio| bio.page_type)
        .collect();
    assert_eq!(types, [Some(1), None]);
}
