//! Tests of caveats of several runs that become one, and of the state of the host.

use super::*;
use hakaru_model::caveat::FirstFailure;
use hakaru_model::measured::PauseKind;

/// Returns the caveats of two runs, without that of few runs.
fn of_both(first: &Caveat, second: &Caveat) -> Vec<Caveat> {
    let mut runs = records(&[40e6, 40e6]);
    runs[0].caveats = vec![first.clone()];
    runs[1].caveats = vec![second.clone()];
    let found = summarize(&runs).caveats.into_iter();
    found
        .filter(|caveat| !matches!(caveat, Caveat::FewRuns { .. }))
        .collect()
}

/// Returns a caveat of a phase that is not summarized, so that no run of it is left out.
type OfPhase = fn(String, u64) -> Caveat;

const SMALLER_IS_WORSE: [OfPhase; 2] = [
    |phase, value| Caveat::Short {
        phase,
        measured: Nanos(value),
        wanted: SHORT,
    },
    |phase, value| Caveat::Interrupted {
        phase,
        measured: Nanos(value),
    },
];

const LARGER_IS_WORSE: [OfPhase; 3] = [
    |phase, value| Caveat::Descheduled {
        phase,
        waited: Nanos(value),
        measured: Nanos(9),
    },
    |phase, value| Caveat::StolenTime {
        phase,
        stolen: Nanos(value),
        measured: Nanos(9),
    },
    |phase, value| Caveat::Overhead {
        phase,
        per_io: Nanos(1),
        share_permille: value as u32,
    },
];

#[test]
fn the_worse_of_two_caveats_of_a_phase_is_kept() {
    let smaller = SMALLER_IS_WORSE.map(|of| (of, 3));
    let larger = LARGER_IS_WORSE.map(|of| (of, 7));
    for (of, worse) in smaller.into_iter().chain(larger) {
        let of = |phase: &str, value: u64| of(phase.to_owned(), value);
        let expected = [of("a", worse)];
        assert_eq!(of_both(&of("a", 3), &of("a", 7)), expected);
        assert_eq!(of_both(&of("a", 7), &of("a", 3)), expected);
        assert_eq!(of_both(&of("a", worse), &of("a", worse)), expected);
        let (a, b) = (of("a", 3), of("b", 7));
        assert_eq!(of_both(&a, &b), [a.clone(), b.clone()]);
    }
}

#[test]
fn the_worse_of_two_caveats_of_the_series_is_kept() {
    let small = |size| Caveat::SmallFile { size: Bytes(size) };
    let busy = |load_percent| Caveat::HostBusy { load_percent };
    for (a, b, worse) in [
        (small(3), small(7), small(3)),
        (small(7), small(3), small(3)),
        (busy(60), busy(70), busy(70)),
        (busy(70), busy(60), busy(70)),
    ] {
        assert_eq!(of_both(&a, &b), [worse]);
    }
    let throttled = |flags| Caveat::HostThrottled { flags };
    assert_eq!(
        of_both(&throttled(0b0011), &throttled(0b0110)),
        [throttled(0b0111)]
    );
}

#[test]
fn pauses_of_one_kind_and_phase_add_up() {
    let paused = |phase: &str, kind, times, total, longest| Caveat::Paused {
        phase: phase.to_owned(),
        kind,
        times,
        total: Nanos(total),
        longest: Nanos(longest),
    };
    let (stopped, suspended) = (PauseKind::Stopped, PauseKind::Suspended);
    let first = paused("a", stopped, 2, 50, 40);
    for (times, total, longest, expected) in [
        (3, 90, 70, paused("a", stopped, 5, 140, 70)),
        (1, 30, 30, paused("a", stopped, 3, 80, 40)),
        (
            u32::MAX,
            u64::MAX,
            1,
            paused("a", stopped, u32::MAX, u64::MAX, 40),
        ),
    ] {
        let second = paused("a", stopped, times, total, longest);
        assert_eq!(of_both(&first, &second), std::slice::from_ref(&expected));
        assert_eq!(of_both(&second, &first), [expected]);
    }
    for other in [
        paused("a", suspended, 3, 90, 70),
        paused("b", stopped, 3, 90, 70),
    ] {
        assert_eq!(of_both(&first, &other), [first.clone(), other.clone()]);
    }
}

#[test]
fn device_errors_of_a_phase_add_up_with_the_first_one() {
    let errors = |count, first: &str| Caveat::DeviceErrors {
        phase: "a".to_owned(),
        count,
        first: FirstFailure::Described(first.to_owned()),
    };
    for (a, b, sum) in [(2, 3, 5), (3, 2, 5), (u64::MAX, 1, u64::MAX)] {
        assert_eq!(
            of_both(&errors(a, "x"), &errors(b, "y")),
            [errors(sum, "x")]
        );
    }
}

#[test]
fn speed_drops_are_one_caveat_for_each_position() {
    let cliff = |at, after| Caveat::Cliff {
        phase: "a".to_owned(),
        at: Bytes(at),
        before: BytesPerSec(30.0),
        after: BytesPerSec(after),
    };
    assert_eq!(of_both(&cliff(5, 10.0), &cliff(5, 9.0)), [cliff(5, 10.0)]);
    let both = [cliff(5, 10.0), cliff(6, 10.0)];
    assert_eq!(of_both(&both[0], &both[1]), both);
    // Caveats without a subject are one only if they are equal.
    let pooled = |count| Caveat::Pooled {
        count,
        what: "hosts".to_owned(),
    };
    assert_eq!(of_both(&pooled(2), &pooled(2)), [pooled(2)]);
    assert_eq!(of_both(&pooled(2), &pooled(3)), [pooled(2), pooled(3)]);
}

#[test]
fn the_state_of_the_host_is_reported_beyond_its_limits() {
    let mut clean = write_run(0, 30e6, 20);
    clean.overhead = None;
    let found = |change: &dyn Fn(&mut RunRecord)| {
        let mut run = clean.clone();
        change(&mut run);
        let runs = vec![run; 5];
        summarize(&runs).caveats
    };
    assert_eq!(found(&|_| {}), []);
    for (load_percent, is_busy) in [(0, false), (50, false), (51, true), (400, true)] {
        let busy = is_busy.then_some(Caveat::HostBusy { load_percent });
        let expected: Vec<Caveat> = busy.into_iter().collect();
        let set = |run: &mut RunRecord| run.environment.load_percent = Fact::Known(load_percent);
        assert_eq!(found(&set), expected, "{load_percent}");
    }
    for flags in [0, 1, 2, 4, 8, 16, 0x1_0000, 0xf_0000, 0x1_0001] {
        let is_now = [1, 2, 4, 8, 0x1_0001].contains(&flags);
        let throttled = is_now.then_some(Caveat::HostThrottled { flags });
        let expected: Vec<Caveat> = throttled.into_iter().collect();
        let set = |run: &mut RunRecord| run.environment.throttled = Fact::Known(flags);
        assert_eq!(found(&set), expected, "{flags:#x}");
    }
    for (governor, is_slow) in [
        ("powersave", true),
        ("ondemand", true),
        ("conservative", true),
        ("schedutil", true),
        ("performance", false),
    ] {
        let governor = governor.to_owned();
        let saving = is_slow.then(|| Caveat::PowerSaving {
            governor: governor.clone(),
        });
        let expected: Vec<Caveat> = saving.into_iter().collect();
        let set = |run: &mut RunRecord| run.environment.governor = Fact::Known(governor.clone());
        assert_eq!(found(&set), expected, "{governor}");
    }
    // Virtual time does not depend on the host.
    let simulated = |run: &mut RunRecord| {
        run.caveats.push(Caveat::Simulated);
        run.environment.load_percent = Fact::Known(400);
        run.environment.throttled = Fact::Known(1);
        run.environment.governor = Fact::Known("powersave".into());
    };
    assert_eq!(found(&simulated), [Caveat::Simulated]);
}
