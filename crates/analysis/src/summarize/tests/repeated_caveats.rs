//! Tests of caveats that several runs have, or a record and the figures of its phases.

use super::*;
use hakaru_model::caveat::FirstFailure;

/// Returns a run of the phases `a` and `b`, each of which had these errors.
fn with_errors(errors: &[IoError], total: u64) -> RunRecord {
    let fake = |name| Fake {
        name,
        op: Op::Write,
        random: false,
        block: 1 << 20,
        iops: 20.0,
        seconds: 10,
        sync_ms: None,
    };
    let mut run = run_of(0, &[fake("a"), fake("b")]);
    for phase in &mut run.phases {
        phase.workers[0].errors.first = errors.to_vec();
        phase.workers[0].errors.total = total;
    }
    run
}

/// Returns the caveats of errors and of limits, sorted by phase.
fn caveats_of_errors(run: &RunRecord) -> Vec<Caveat> {
    let found = summarize(std::slice::from_ref(run)).caveats.into_iter();
    let mut named: Vec<(String, Caveat)> = found
        .filter_map(|caveat| match &caveat {
            Caveat::DeviceErrors { phase, .. } | Caveat::RuleBroken { phase, .. } => {
                Some((phase.clone(), caveat))
            }
            _ => None,
        })
        .collect();
    named.sort_by(|(a, _), (b, _)| a.cmp(b));
    named.into_iter().map(|(_, caveat)| caveat).collect()
}

fn device_errors(phase: &str, count: u64, first: FirstFailure) -> Caveat {
    Caveat::DeviceErrors {
        phase: phase.into(),
        count,
        first,
    }
}

/// The engine adds the errors of a phase to the record, which other programs do not.
#[test]
fn errors_that_a_record_reports_do_not_count_twice() {
    let recorded = |phase: &str| device_errors(phase, 3, FirstFailure::Described("known".into()));
    let counted = |phase: &str| device_errors(phase, 3, FirstFailure::from(&failure()));
    let mut run = with_errors(&[failure()], 3);
    let phases: [&[&str]; 4] = [&[], &["a"], &["b"], &["a", "b"]];
    for known in phases {
        run.caveats = known.iter().map(|phase| recorded(phase)).collect();
        let expected = ["a", "b"].map(|phase| match known.contains(&phase) {
            true => recorded(phase),
            false => counted(phase),
        });
        assert_eq!(caveats_of_errors(&run), expected, "{known:?}");
    }
    // Without details, only the number is known.
    let described = |phase| device_errors(phase, 3, FirstFailure::Described("no details".into()));
    let expected = ["a", "b"].map(described);
    assert_eq!(caveats_of_errors(&with_errors(&[], 3)), expected);
    assert_eq!(caveats_of_errors(&with_errors(&[], 0)), []);
}

#[test]
fn a_limit_that_a_record_reports_is_no_device_error() {
    let (latency, max) = (Nanos(12), Nanos(10));
    let kind = FailureKind::TooSlow { latency, max };
    let slow = IoError { kind, ..failure() };
    let mut run = with_errors(&[slow], 1);
    let broken = |phase: &str| Caveat::RuleBroken {
        phase: phase.into(),
        op: Some(Op::Write),
        kind,
    };
    run.caveats = vec![broken("a"), broken("b")];
    assert_eq!(caveats_of_errors(&run), run.caveats);
}

/// A record that was recovered after a crash has the errors of its phases, but not their caveats.
#[test]
fn a_limit_that_no_caveat_reports_is_no_device_error() {
    let (latency, max) = (Nanos(12), Nanos(10));
    let kind = FailureKind::TooSlow { latency, max };
    let slow = IoError { kind, ..failure() };
    let broken = |phase: &str| Caveat::RuleBroken {
        phase: phase.into(),
        op: Some(Op::Write),
        kind,
    };
    let alone = with_errors(std::slice::from_ref(&slow), 1);
    assert_eq!(caveats_of_errors(&alone), ["a", "b"].map(broken));
    // The limit is no error of the device, and not the first one.
    let both = caveats_of_errors(&with_errors(&[slow, failure()], 4));
    let failed = |phase: &str| device_errors(phase, 3, FirstFailure::from(&failure()));
    let expected = ["a", "b"].map(|phase| [broken(phase), failed(phase)]);
    let sorted = |phase: usize| {
        let mut found = both[2 * phase..][..2].to_vec();
        found.sort_by_key(|caveat| matches!(caveat, Caveat::DeviceErrors { .. }));
        found
    };
    assert_eq!([sorted(0), sorted(1)], expected.map(Vec::from));
}

/// The values that decide are equal. By the others, the second caveat is no worse than the first.
#[test]
fn a_caveat_that_is_equally_bad_does_not_replace_the_first() {
    // No summarized phase has this name, so that no run of it is left out.
    let phase = || "other".to_owned();
    let short = |wanted: u64| Caveat::Short {
        phase: phase(),
        measured: Nanos(3),
        wanted: Nanos(wanted),
    };
    let waiting = |measured: u64| Caveat::Descheduled {
        phase: phase(),
        waited: Nanos(7),
        measured: Nanos(measured),
    };
    let stolen = |measured: u64| Caveat::StolenTime {
        phase: phase(),
        stolen: Nanos(7),
        measured: Nanos(measured),
    };
    let overhead = |per_io: u64| Caveat::Overhead {
        phase: phase(),
        per_io: Nanos(per_io),
        share_permille: 30,
    };
    for (first, second) in [
        (short(SHORT.0), short(4)),
        (waiting(9), waiting(90)),
        (stolen(9), stolen(90)),
        (overhead(5), overhead(4)),
    ] {
        let mut runs = records(&[40e6, 40e6]);
        runs[0].caveats = vec![first.clone()];
        runs[1].caveats = vec![second.clone()];
        let mut found = summarize(&runs).caveats;
        found.retain(|caveat| !matches!(caveat, Caveat::FewRuns { .. }));
        assert_eq!(found, [first], "{second:?}");
    }
}
