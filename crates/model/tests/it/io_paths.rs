//! Figures of traced I/O paths: sums, shares, and which fields stored records omit.

use crate::{from_tree, to_tree};
use hakaru_model::io_path::{
    ClassGroup, ClassTraffic, DeviceSplit, EventCount, IoClass, IoPath, PathIdentity, TimePart,
    TimeParts, TraceCost, TracedDisk, TracerReport, shares_allowed,
};
use hakaru_model::job::Op;
use hakaru_model::record::Latency;
use hakaru_model::units::{Bytes, Nanos};

fn traffic(op: Option<Op>, bytes: u64, earlier: u64) -> ClassTraffic {
    ClassTraffic {
        class: IoClass::Data,
        op,
        requests: 11,
        bytes: Bytes(bytes),
        earlier_requests: earlier,
        earlier_bytes: Bytes(10 * earlier),
        runs: 2,
        bios: 3,
        merges: 0,
        splits: 0,
        requeues: 0,
        errors: 0,
        sizes: Vec::new(),
        queue: Latency::default(),
        device: Latency::default(),
        commands: None,
        issuers: Vec::new(),
    }
}

fn path(classes: Vec<ClassTraffic>) -> IoPath {
    IoPath {
        disk: TracedDisk::default(),
        tracer: TracerReport::default(),
        window: Nanos(100),
        busy: Nanos(50),
        flush_only: Nanos(0),
        mean_depth: 1.5,
        classes,
        asked: Vec::new(),
        operations: Vec::new(),
        operations_limit: None,
        depth: Vec::new(),
        sample: Default::default(),
        layout: Vec::new(),
        layout_gaps: Vec::new(),
        counters: None,
        edges: Default::default(),
        classified_early: 0,
        status_commands: 0,
        cost: None,
        cost_unknown: None,
    }
}

#[test]
fn bytes_of_an_operation_are_the_sum_of_its_classes() {
    let read = Some(Op::Read);
    let classes = [(read, 300), (Some(Op::Write), 70), (None, 1000), (read, 5)];
    let path = path(classes.map(|(op, bytes)| traffic(op, bytes, 0)).to_vec());
    let bytes = Op::ALL.map(|op| path.bytes(op).0);
    assert_eq!(bytes, [305, 70, 0]);
}

#[test]
fn own_traffic_excludes_what_was_queued_before() {
    for (earlier, own) in [(0, (11, 300)), (4, (7, 260)), (11, (0, 190)), (40, (0, 0))] {
        let class = traffic(None, 300, earlier);
        assert_eq!((class.own_requests(), class.own_bytes()), own, "{earlier}");
    }
}

#[test]
fn paths_store_zeros_and_false_by_omission() {
    let empty = path(vec![traffic(None, 300, 0)]);
    let mut full = path(vec![traffic(None, 300, 7)]);
    (full.flush_only, full.classified_early, full.status_commands) = (Nanos(3), 5, 7);
    (full.tracer.foreign_threads, full.tracer.uncounted) = (true, true);
    for (path, present) in [(empty, false), (full, true)] {
        let tree = to_tree(&path).unwrap();
        for pointer in [
            "/flush_only",
            "/classified_early",
            "/status_commands",
            "/tracer/foreign_threads",
            "/tracer/uncounted",
            "/classes/0/earlier_requests",
            "/classes/0/earlier_bytes",
        ] {
            assert_eq!(tree.pointer(pointer).is_some(), present, "{pointer}");
        }
        assert_eq!(from_tree::<IoPath>(tree).unwrap(), path);
    }
}

#[test]
fn lost_events_are_a_share_of_the_counted_ones() {
    let event = |counted, lost, missing| EventCount {
        counted,
        lost,
        missing,
        ..EventCount::default()
    };
    let share = |events: &[EventCount]| {
        TracerReport {
            events: events.to_vec(),
            ..TracerReport::default()
        }
        .lost_share()
    };
    assert_eq!(share(&[]), 0.0);
    assert_eq!(share(&[event(0, 0, 0)]), 0.0);
    assert_eq!(share(&[event(300, 0, 0)]), 0.0);
    // 3 + 4 + 0 + 13 of 300 + 100.
    assert_eq!(share(&[event(300, 3, 4), event(100, 0, 13)]), 0.05);
}

#[test]
fn cost_of_tracing_is_known_if_narrow_or_not_zero() {
    for (mean, margin, known) in [
        (0.0, 0.03, true),
        (0.01, 0.031, false),
        (-0.01, 0.03, true),
        (0.05, 0.04, true),
        (0.05, 0.06, false),
        (-0.06, 0.05, true),
        (-0.06, 0.07, false),
    ] {
        let cost = TraceCost {
            mean,
            margin,
            pairs: 7,
        };
        assert_eq!(cost.is_known(), known, "{mean} {margin}");
    }
}

#[test]
fn parts_of_time_keep_their_own_place() {
    let mut parts = TimeParts::default();
    for (index, part) in TimePart::ALL.into_iter().enumerate() {
        parts.add(part, 3.0);
        parts.add(part, f64::from(1 << index));
    }
    for (index, part) in TimePart::ALL.into_iter().enumerate() {
        assert_eq!(parts.of(part), 3.0 + f64::from(1 << index), "{part:?}");
    }
    // 8 times 3, and 2^8 - 1.
    assert_eq!((parts.total(), TimeParts::default().total()), (279.0, 0.0));
}

#[test]
fn classes_belong_to_groups_of_pictures() {
    let of = |group| {
        IoClass::ALL
            .into_iter()
            .filter(move |class| class.group() == group)
            .count()
    };
    let found = ClassGroup::ALL.map(of);
    assert_eq!(found, [1, 1, 10, 3, 1, 3, 1]);
    assert_eq!(IoClass::FsInfo.group(), ClassGroup::Fat);
}

#[test]
fn the_identity_multiplies_four_ratios() {
    let identity = PathIdentity {
        time: 0.0,
        bytes: 2.0,
        time_per_byte: 3.0,
        flush: 5.0,
        waiting: 7.0,
    };
    assert_eq!(identity.product(), 210.0);
}

#[test]
fn shares_need_parts_that_do_not_cancel_out() {
    for (sum, parts, allowed) in [
        (100.0, [60.0, 40.0], true),
        (-100.0, [-60.0, -40.0], true),
        (100.0, [125.0, -25.0], true),
        (100.0, [126.0, -26.0], false),
        (-100.0, [-125.0, 25.0], true),
        (-100.0, [-126.0, 26.0], false),
        (7.0, [7.0, 0.0], true),
        (0.0, [0.0, 0.0], false),
        (0.0, [5.0, -5.0], false),
        // Parts of one sign never cancel out, even if they do not add up to the sum.
        (10.0, [20.0, 0.0], true),
        (-10.0, [-20.0, 0.0], true),
    ] {
        assert_eq!(shares_allowed(sum, parts), allowed, "{sum} {parts:?}");
    }
}

#[test]
fn device_splits_allow_shares_if_prices_explain_them() {
    let split = |[requests, bytes, jumps, remainder]: [f64; 4]| DeviceSplit {
        requests,
        bytes,
        jumps,
        remainder,
        runs: 5,
        misfit: 0.01,
    };
    for (parts, total, allowed) in [
        ([3.0, 5.0, 11.0, 1.0], 20.0, true),
        ([50.0, 30.0, 10.0, 10.0], 100.0, true),
        ([50.0, 30.0, 9.0, 11.0], 100.0, false),
        ([-50.0, -30.0, -10.0, -10.0], -100.0, true),
        ([60.0, 30.0, 21.0, -11.0], 100.0, false),
        ([200.0, -100.0, 0.0, 0.0], 100.0, false),
        ([0.0; 4], 0.0, false),
    ] {
        let split = split(parts);
        assert_eq!(
            (split.total(), split.shares_allowed()),
            (total, allowed),
            "{parts:?}"
        );
    }
}
