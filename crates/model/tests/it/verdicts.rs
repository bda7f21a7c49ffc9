//! Verdicts and maps of verification, pauses of the host, and names of orders and severities.

use hakaru_model::integrity::{Capacity, IntegrityVerdict, SpeedMap, SpeedPoint};
use hakaru_model::measured::{HostPauses, Pause, PauseKind};
use hakaru_model::method::CardOrder;
use hakaru_model::mismatch::BlockDifference;
use hakaru_model::replay::{Trace, TraceAction, TraceStep};
use hakaru_model::severity::Severity;
use hakaru_model::stream::IoRequest;
use hakaru_model::units::{Bytes, BytesPerSec, Nanos};
use hakaru_model::{job::Op, plan::PlanError};

fn point(offset: u64, len: u64, elapsed: u64) -> SpeedPoint {
    SpeedPoint {
        offset: Bytes(offset),
        len: Bytes(len),
        elapsed: Nanos(elapsed),
    }
}

#[test]
fn chunks_are_joined_up_to_a_part_of_the_whole() {
    // A pass over 512 times 100 bytes, and a rest: segments of up to 100 bytes.
    let total = Bytes(512 * 100 + 7);
    for (chunks, joined) in [
        (
            vec![point(1000, 60, 3), point(1060, 40, 5)],
            vec![point(1000, 100, 8)],
        ),
        (
            vec![point(1000, 60, 3), point(1060, 41, 5)],
            vec![point(1000, 60, 3), point(1060, 41, 5)],
        ),
        (
            vec![point(1000, 30, 3), point(1031, 30, 5)],
            vec![point(1000, 30, 3), point(1031, 30, 5)],
        ),
        (
            vec![
                point(0, 30, 3),
                point(30, 30, 5),
                point(60, 30, 7),
                point(90, 30, 11),
            ],
            vec![point(0, 90, 15), point(90, 30, 11)],
        ),
        (vec![point(500, 300, 3)], vec![point(500, 300, 3)]),
    ] {
        let mut map = SpeedMap::default();
        chunks.iter().for_each(|chunk| map.add(*chunk, total));
        assert_eq!(map.points, joined);
    }
}

#[test]
fn speed_maps_sum_their_segments() {
    let points = vec![
        point(100, 30, 3),
        point(130, 10, 5),
        point(140, 90, 2),
        point(230, 7, 0),
    ];
    let map = SpeedMap { points };
    assert_eq!(map.whole(), point(100, 137, 10));
    assert_eq!(map.extremes(), Some((BytesPerSec(2e9), BytesPerSec(45e9))));
    assert_eq!(
        (map.points[0].rate(), map.points[3].rate()),
        (Some(BytesPerSec(1e10)), None)
    );
    assert_eq!(SpeedMap::default().whole(), point(0, 0, 0));
    assert_eq!(
        SpeedMap {
            points: vec![point(0, 7, 0)]
        }
        .extremes(),
        None
    );
}

#[test]
fn verdicts_are_good_without_any_defect() {
    let (wraps, ends) = (
        Capacity::Wraps { real: Bytes(7) },
        Capacity::Ends { real: Bytes(11) },
    );
    let real = [Capacity::AsClaimed, wraps, ends].map(Capacity::real);
    assert_eq!(real, [None, Some(Bytes(7)), Some(Bytes(11))]);
    for (capacity, good, bad, is_good, has_defects) in [
        (Capacity::AsClaimed, 0, 0, false, false),
        (Capacity::AsClaimed, 1, 0, true, false),
        (Capacity::AsClaimed, 7, 1, false, true),
        (Capacity::AsClaimed, 0, 3, false, true),
        (wraps, 7, 0, false, true),
        (ends, 7, 3, false, true),
    ] {
        let verdict = IntegrityVerdict {
            claimed: Bytes(100),
            capacity,
            good: Bytes(good),
            bad: Vec::new(),
            bad_bytes: Bytes(bad),
            write_speed: SpeedMap::default(),
            read_speed: SpeedMap::default(),
        };
        assert_eq!(
            (verdict.is_good(), verdict.has_defects()),
            (is_good, has_defects),
            "{verdict:?}"
        );
        assert_eq!(verdict.checked(), Bytes(good + bad));
    }
}

#[test]
fn pauses_touch_ranges_that_contain_a_part_of_them() {
    let pause = |at, length, kind| Pause {
        at: Nanos(at),
        length: Nanos(length),
        kind,
    };
    let host = |pauses| HostPauses {
        pauses,
        stolen: Nanos(0),
        processors: 4,
    };
    let long = host(vec![pause(100, 50, PauseKind::Stopped)]);
    let short = host(vec![pause(100, 0, PauseKind::Stopped)]);
    for (from, to, touches_long, touches_short) in [
        (50, 100, false, false),
        (50, 101, true, true),
        (100, 101, true, true),
        (101, 120, true, false),
        (149, 200, true, false),
        (150, 200, false, false),
    ] {
        let found = [&long, &short].map(|host| host.touches(Nanos(from), Nanos(to)));
        assert_eq!(found, [touches_long, touches_short], "{from}..{to}");
    }
    assert!(!host(Vec::new()).touches(Nanos(0), Nanos(u64::MAX)));
    let (stopped, suspended) = (PauseKind::Stopped, PauseKind::Suspended);
    let mixed = host(vec![
        pause(0, 3, stopped),
        pause(10, 7, suspended),
        pause(20, 11, stopped),
    ]);
    assert_eq!(
        (mixed.total(stopped), mixed.total(suspended)),
        (Nanos(14), Nanos(7))
    );
}

#[test]
fn card_orders_have_the_names_of_the_campaign_file() {
    use CardOrder::{Abba, Interleaved, Sequential, Shuffled};
    for (order, name, takes_turns) in [
        (Sequential, "sequential", false),
        (Interleaved, "interleaved", true),
        (Abba, "abba", true),
        (Shuffled, "shuffled", true),
    ] {
        assert_eq!((order.name(), order.takes_turns()), (name, takes_turns));
        let parsed: CardOrder = serde_json::from_str(&format!("\"{name}\"")).unwrap();
        assert_eq!(parsed, order);
    }
    let names = [Severity::Note, Severity::Weak, Severity::Wrong].map(Severity::name);
    assert_eq!(names, ["note", "weak", "wrong"]);
}

#[test]
fn differences_of_the_header_leave_the_data_unchecked() {
    use BlockDifference::{
        Checksum, Header, Length, Magic, Method, Offset, Pattern, Seed, Sequence,
    };
    let text = || "crc32c".to_owned();
    for difference in [
        Magic {
            found: 7,
            wanted: 3,
        },
        Method {
            found: text(),
            wanted: text(),
        },
        Length {
            found: 7,
            wanted: 3,
        },
        Header {
            found: 7,
            wanted: 3,
        },
        Offset {
            found: 7,
            wanted: 3,
        },
        Seed {
            found: 7,
            wanted: 3,
        },
        Sequence {
            found: 7,
            wanted: 3,
        },
    ] {
        assert!(difference.is_of_header(), "{difference:?}");
    }
    let checksum = Checksum {
        method: text(),
        written: "07".to_owned(),
        computed: "03".to_owned(),
    };
    let pattern = Pattern {
        method: text(),
        at: 7,
        found: 3,
        wanted: 5,
    };
    assert!(!checksum.is_of_header() && !pattern.is_of_header());
}

#[test]
fn traces_summarize_their_requests() {
    let io = |op, region, offset, len| {
        TraceAction::Io(IoRequest {
            op,
            region,
            offset,
            len,
        })
    };
    let of = |actions: &[TraceAction]| Trace {
        files: vec!["a".into(), "b".into(), "c".into()],
        steps: actions
            .iter()
            .map(|&action| TraceStep {
                at: Nanos(0),
                action,
            })
            .collect(),
    };
    let reads = [
        io(Op::Read, 0, 4096, 512),
        io(Op::Read, 1, 0, 2048),
        io(Op::Read, 0, 1024, 1024),
    ];
    let trace = of(&reads);
    assert_eq!([0, 1, 2].map(|file| trace.end_of(file)), [4608, 2048, 0]);
    let sizes = trace.sizes();
    assert_eq!(
        (sizes.read, sizes.write, sizes.trim),
        (Some((512, 2048)), None, None)
    );
    assert_eq!(
        (trace.requests().count(), trace.syncs(), trace.destroys()),
        (3, false, false)
    );
    for sync in [TraceAction::Sync(0), TraceAction::DataSync(1)] {
        let trace = of(&[reads[0], sync]);
        assert_eq!(
            (trace.requests().count(), trace.syncs(), trace.destroys()),
            (1, true, false)
        );
    }
    for op in [Op::Write, Op::Trim] {
        let trace = of(&[reads[0], io(op, 2, 7, 512)]);
        assert_eq!(
            (trace.end_of(2), trace.sizes()[op]),
            (519, Some((512, 512)))
        );
        assert_eq!((trace.syncs(), trace.destroys()), (false, true));
    }
    assert_eq!(of(&[]).requests().count(), 0);
}

#[test]
fn errors_of_a_target_leave_other_jobs_alone() {
    let (job, path) = (|| "j".to_owned(), || "f".into());
    for error in [
        PlanError::Missing {
            job: job(),
            path: path(),
        },
        PlanError::MayNotCreate {
            job: job(),
            path: path(),
        },
        PlanError::NotMeasurable {
            job: job(),
            path: path(),
            what: "socket",
        },
        PlanError::ReadOnly {
            job: job(),
            path: path(),
        },
        PlanError::NoSize {
            job: job(),
            path: path(),
        },
        PlanError::NoFiles { job: job() },
        PlanError::BlockTooLarge {
            job: job(),
            path: path(),
            room: Bytes(3),
            block: Bytes(7),
        },
        PlanError::OddBlock {
            job: job(),
            block: 7,
            unit: 4096,
        },
        PlanError::TrimOnFile {
            job: job(),
            path: path(),
        },
    ] {
        assert!(error.is_of_one_job(), "{error}");
    }
    for error in [
        PlanError::NoJobs {
            scenario: "s".to_owned(),
        },
        PlanError::NoFacts {
            job: job(),
            path: path(),
        },
        PlanError::Endless { job: job() },
    ] {
        assert!(!error.is_of_one_job(), "{error}");
    }
}
