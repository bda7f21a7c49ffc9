//! Tests of what findings, warnings and annotations say about results.

use hakaru_model::annotation::{AnnotationKind, Annotations};
use hakaru_model::caveat::{CacheOf, Caveat, FirstFailure};
use hakaru_model::finding::{
    Cliff, Comparison, Estimate, Finding, HeadlineRate, PhaseDetail, PhaseSummary, Sustained,
    Verdict, WorkloadShape,
};
use hakaru_model::job::Op;
use hakaru_model::lint::{LintWarning, Severity};
use hakaru_model::record::{FailureKind, IoError};
use hakaru_model::severity::Impact;
use hakaru_model::units::{Bytes, BytesPerSec, Nanos};
use std::sync::Arc;

fn estimate(mean: f64) -> Estimate {
    Estimate {
        mean,
        ..Estimate::default()
    }
}

fn comparison(p_equivalence: Option<f64>) -> Comparison {
    Comparison {
        quantity: Arc::from("bandwidth"),
        unit: Arc::from("B/s"),
        a: Arc::new(estimate(3.0)),
        b: Arc::new(estimate(7.0)),
        ratio: 7.0 / 3.0,
        ratio_ci95: None,
        p_value: None,
        p_value_ranks: None,
        p_adjusted: None,
        p_equivalence,
        family: 1,
        primary: false,
        interval_caveats: Vec::new(),
        effect: None,
        effect_ci95: None,
        delta: None,
        verdict: Verdict::Undecided { needed: None },
    }
}

fn phase() -> PhaseSummary {
    PhaseSummary {
        phase: "seq-read".to_owned(),
        op: Op::Read,
        workload: "sequential read".to_owned(),
        bandwidth: estimate(3.0),
        iops: estimate(7.0),
        latency: None,
        sync: None,
        timelines: Vec::new(),
        sustained: None,
        amplification: None,
        errors: 0,
        detail: PhaseDetail::default(),
    }
}

fn sustained(interval: Option<Nanos>) -> Sustained {
    Sustained {
        min: BytesPerSec(1.0),
        max: BytesPerSec(3.0),
        mean: BytesPerSec(2.0),
        deviation: BytesPerSec(0.5),
        interval,
        cliff: None,
        falls: Vec::new(),
        swing: None,
    }
}

#[test]
fn sides_are_equivalent_up_to_a_probability_of_five_percent() {
    for (p, is_little) in [
        (None, false),
        (Some(0.0), true),
        (Some(0.049), true),
        (Some(0.05), true),
        (Some(0.051), false),
        (Some(1.0), false),
    ] {
        assert_eq!(comparison(p).is_little(), is_little, "{p:?}");
    }
}

#[test]
fn a_stored_comparison_is_primary_unless_it_says_otherwise() {
    let mut tree = serde_json::to_value(comparison(None)).unwrap();
    let read: Comparison = serde_json::from_value(tree.clone()).unwrap();
    assert!(!read.primary);
    tree.as_object_mut().unwrap().remove("primary");
    let read: Comparison = serde_json::from_value(tree).unwrap();
    assert!(read.primary);
}

#[test]
fn a_stored_cliff_is_proven_unless_it_says_otherwise() {
    let stored = r#"{"at":7,"after_time":11,"before":3.0,"after":1.0}"#;
    let cliff: Cliff = serde_json::from_str(stored).unwrap();
    assert!(cliff.proven);
    let stored = r#"{"at":7,"after_time":11,"before":3.0,"after":1.0,"proven":false}"#;
    let cliff: Cliff = serde_json::from_str(stored).unwrap();
    assert!(!cliff.proven);
}

#[test]
fn the_headline_rate_is_bandwidth_or_iops() {
    let phase = phase();
    assert_eq!(HeadlineRate::Bandwidth.of(&phase).mean, 3.0);
    assert_eq!(HeadlineRate::Iops.of(&phase).mean, 7.0);
}

#[test]
fn counts_of_zero_are_not_written() {
    let counted = PhaseDetail {
        other_errors: 3,
        limits_missed: 7,
        ..PhaseDetail::default()
    };
    let tree = serde_json::to_value(&counted).unwrap();
    assert_eq!(
        (&tree["other_errors"], &tree["limits_missed"]),
        (&3.into(), &7.into())
    );
    let tree = serde_json::to_value(PhaseDetail::default()).unwrap();
    assert_eq!(
        (tree.get("other_errors"), tree.get("limits_missed")),
        (None, None)
    );
    let rounded = Estimate {
        rounding: 0.5,
        ..estimate(3.0)
    };
    assert_eq!(serde_json::to_value(rounded).unwrap()["rounding"], 0.5);
    let exact = serde_json::to_value(estimate(3.0)).unwrap();
    assert_eq!(exact.get("rounding"), None);
}

#[test]
fn a_workload_is_mixed_between_0_and_100_percent_reads() {
    for (read_percent, mixed) in [(0, false), (1, true), (50, true), (99, true), (100, false)] {
        let shape = WorkloadShape {
            read_percent,
            ..WorkloadShape::default()
        };
        assert_eq!(shape.is_mixed(), mixed, "{read_percent}");
    }
    assert_eq!(WorkloadShape::LARGE_BLOCK, Bytes(262_144));
}

#[test]
fn intervals_are_comparable_up_to_a_factor_of_two() {
    let second = 1_000_000_000;
    for (a, b, comparable) in [
        (Some(second), Some(second), true),
        (Some(second), Some(2 * second), true),
        (Some(second), Some(2 * second + 1000), false),
        (Some(second), Some(7 * second), false),
        (Some(second), None, true),
        (None, None, true),
    ] {
        let [a, b] = [a, b].map(|interval| sustained(interval.map(Nanos)));
        assert_eq!(a.has_comparable_intervals(&b), comparable, "{a:?} {b:?}");
        assert_eq!(b.has_comparable_intervals(&a), comparable, "{a:?} {b:?}");
    }
}

#[test]
fn a_single_run_is_a_bias_and_few_runs_are_imprecise() {
    for (runs, impact) in [
        (0, Impact::Bias),
        (1, Impact::Bias),
        (2, Impact::Precision),
        (3, Impact::Precision),
    ] {
        let finding = Finding::from(&Caveat::FewRuns { runs });
        assert_eq!(finding.kind.impact(), impact, "{runs}");
    }
}

#[test]
fn the_first_failure_is_that_of_the_record() {
    let error = IoError {
        action: "write".to_owned(),
        op: Some(Op::Write),
        kind: FailureKind::default(),
        file: "f".to_owned(),
        offset: Bytes(7),
        len: Bytes(512),
        errno: 5,
        at: Nanos(3),
        mismatches: Vec::new(),
    };
    let first = FirstFailure::Io {
        action: "write".to_owned(),
        offset: Bytes(7),
        errno: 5,
    };
    assert_eq!(FirstFailure::from(&error), first);
}

#[test]
fn the_cache_of_the_host_is_stored_in_words() {
    let file = CacheOf::File("/mnt/file".to_owned());
    for (cache, stored) in [
        (file, r#""/mnt/file""#),
        (CacheOf::Host, r#""the whole host""#),
    ] {
        assert_eq!(serde_json::to_string(&cache).unwrap(), stored);
        assert_eq!(serde_json::from_str::<CacheOf>(stored).unwrap(), cache);
    }
}

#[test]
fn annotations_are_empty_without_any_text() {
    assert!(Annotations::default().is_empty());
    let text = || Some("text".to_owned());
    let none = Annotations::default;
    for annotations in [
        Annotations {
            label: text(),
            ..none()
        },
        Annotations {
            aliases: vec!["text".to_owned()],
            ..none()
        },
        Annotations {
            title: text(),
            ..none()
        },
        Annotations {
            note: text(),
            ..none()
        },
    ] {
        assert!(!annotations.is_empty(), "{annotations:?}");
        let history = annotations.to_history("series", 7);
        let [one] = &history[..] else {
            panic!("{history:?}");
        };
        assert_eq!((one.subject.as_str(), one.at_unix_ms), ("series", 7));
        assert_eq!(Annotations::at_end(&history), annotations);
    }
    let names = AnnotationKind::ALL.map(AnnotationKind::name);
    assert_eq!(names, ["label", "alias", "title", "note"]);
}

fn unit(option: &str, typed: &str) -> LintWarning {
    LintWarning::Unit {
        option: option.to_owned(),
        typed: typed.to_owned(),
        means: 4000,
    }
}

#[test]
fn a_warning_names_its_option_and_has_a_severity() {
    use LintWarning as L;
    use Severity::{Note, Weak, Wrong};
    let text = || "text".to_owned();
    let (size, memory, odd_block) = (Bytes(3), Bytes(7), None);
    let (runtime, wanted) = (Nanos(3), Nanos(7));
    let (ioengine, asked) = (text(), 8);
    let fits = L::FitsInMemory {
        size,
        memory,
        odd_block,
    };
    for (warning, option, severity) in [
        (L::DepthIgnored { ioengine, asked }, "iodepth", Wrong),
        (L::DepthBuffered { asked }, "iodepth", Weak),
        (L::Buffered { odd_block }, "direct", Weak),
        (L::ReadAhead, "direct", Note),
        (fits, "direct", Wrong),
        (L::NotFlushed, "rw", Weak),
        (L::SmallFile { size }, "size", Weak),
        (L::Short { runtime, wanted }, "runtime", Weak),
        (L::EndsEarly { runtime, size }, "runtime", Weak),
        (L::NoRamp, "runtime", Note),
        (L::OneRun, "", Note),
        (L::ReadsBack { writer: text() }, "invalidate", Wrong),
        (L::SameBlocks { clones: 7 }, "numjobs", Weak),
        (L::Compressible, "zero_buffers", Weak),
        (unit("bs", "4KiB"), "bs", Wrong),
        (unit("size", "4KIB"), "size", Wrong),
        (unit("size", "1GB"), "size", Note),
        (L::Misread { warning: text() }, "", Weak),
    ] {
        assert_eq!(warning.option(), option, "{warning:?}");
        assert_eq!(warning.weight(), severity, "{warning:?}");
    }
}
