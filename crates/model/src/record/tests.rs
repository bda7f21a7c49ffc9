//! Tests of `record`.

use super::*;
use crate::job::Op;
use proptest::prelude::*;

#[test]
fn errors_of_old_records_open_without_a_kind() {
    let old = r#"{"action":"read","file":"f","offset":0,"len":4096,"errno":5,"at":7}"#;
    let error: IoError = serde_json::from_str(old).unwrap();
    assert_eq!((error.op, error.kind), (None, FailureKind::Unknown));
    assert_eq!(error.operation(), Some(Op::Read));
    let of = |action: &str| {
        IoError {
            action: action.to_owned(),
            ..error.clone()
        }
        .operation()
    };
    assert_eq!(
        [of("write"), of("trim"), of("verify")],
        [Some(Op::Write), Some(Op::Trim), Some(Op::Read)]
    );
    assert_eq!((of("fsync"), of("exec_prerun")), (None, None));
    assert_eq!(serde_json::to_string(&error).unwrap(), old);
    let error = IoError {
        op: Some(Op::Read),
        kind: FailureKind::RateMissed { wanted: 2, got: 1 },
        ..error
    };
    let text = serde_json::to_string(&error).unwrap();
    assert!(
        text.contains(r#""op":"read","kind":{"rate_missed":{"wanted":2,"got":1}}"#),
        "{text}"
    );
    assert_eq!(serde_json::from_str::<IoError>(&text).unwrap(), error);
}

fn of(values: &[u64]) -> Samples {
    let mut s = Samples::default();
    values.iter().for_each(|&v| s.record(v));
    s
}

#[test]
fn mean_and_deviation_are_the_textbook_ones() {
    let s = of(&[2, 4, 4, 4, 5, 5, 7, 9]);
    assert_eq!(s.mean(), Some(5.0));
    assert!((s.deviation().unwrap() - (32.0f64 / 7.0).sqrt()).abs() < 1e-12);
    assert_eq!(Samples::default().mean(), None);
    assert_eq!(of(&[7]).deviation(), Some(0.0));
}

#[test]
fn latencies_lose_their_histogram_rather_than_invent_one() {
    let mut with = Latency::with_histogram();
    with.record(Nanos(5));
    let mut without = Latency::default();
    without.record(Nanos(9));
    let mut empty = Latency::default();
    empty.merge(&with);
    assert_eq!(empty.histogram.as_ref().map(Histogram::count), Some(1));
    empty.merge(&without);
    assert_eq!((empty.stat.count, empty.histogram.is_none()), (2, true));
}

proptest! {
    #[test]
    fn samples_merge_in_any_order(a in prop::collection::vec(any::<u32>(), 0..50), b in prop::collection::vec(any::<u32>(), 0..50)) {
        let wide = |v: &[u32]| v.iter().map(|&x| u64::from(x)).collect::<Vec<_>>();
        let (a, b) = (wide(&a), wide(&b));
        let (mut ab, mut ba) = (of(&a), of(&b));
        ab.merge(&of(&b));
        ba.merge(&of(&a));
        prop_assert_eq!(ab, ba);
        prop_assert_eq!(ab, of(&[a, b].concat()));
    }

    #[test]
    fn samples_survive_storage(values in prop::collection::vec(any::<u64>(), 0..20)) {
        let s = of(&values);
        let text = serde_json::to_string(&s).unwrap();
        prop_assert_eq!(serde_json::from_str::<Samples>(&text).unwrap(), s);
    }
}
