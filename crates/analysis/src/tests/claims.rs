//! Conditions of claims at their limits, and figures at the rated speed.

use crate::claims::{ClaimContext, check_claims};
use crate::testing::suite;
use hakaru_model::facts::{Bus, DeviceIdentity, Fact};
use hakaru_model::finding::{
    Claim, ClaimCheck, ClaimVerdict, Condition, Figure, PhaseSummary, Summary,
};
use hakaru_model::units::{Bytes, BytesPerSec, Nanos};

const GIB: Bytes = Bytes(1 << 30);

/// Range of the test procedure of application classes.
const SPAN: Bytes = Bytes(256 << 20);

fn check(summary: &Summary, claim: Claim) -> ClaimCheck {
    check_claims(summary, &[claim], ClaimContext { erased: true }).remove(0)
}

fn phase<'a>(summary: &'a mut Summary, name: &str) -> &'a mut PhaseSummary {
    let mut phases = summary.phases.iter_mut();
    phases.find(|phase| phase.phase == name).unwrap()
}

/// The slowest bus mode that the specification permits for a class; rated speeds reach 75% of a bus.
#[test]
fn each_claim_needs_a_bus_that_carries_it() {
    let mut summary = suite(2);
    for (claim, needed) in [
        (Claim::SpeedClass(2), 12_500_000),
        (Claim::SpeedClass(4), 12_500_000),
        (Claim::SpeedClass(6), 12_500_000),
        (Claim::SpeedClass(9), 12_500_000),
        (Claim::SpeedClass(10), 25_000_000),
        (Claim::VideoClass(6), 25_000_000),
        (Claim::VideoClass(10), 25_000_000),
        (Claim::VideoClass(30), 50_000_000),
        (Claim::VideoClass(60), 156_000_000),
        (Claim::VideoClass(90), 156_000_000),
        (Claim::UhsGrade(1), 50_000_000),
        (Claim::UhsGrade(3), 50_000_000),
        (Claim::AppClass(1), 25_000_000),
        (Claim::AppClass(2), 50_000_000),
        (Claim::ReadSpeed(90.0), 120_000_000),
        (Claim::WriteSpeed(30.0), 40_000_000),
    ] {
        for (speed, is_slow) in [(needed - 1, true), (needed, false), (needed + 1, false)] {
            let Fact::Known(device) = &mut summary.target.device else {
                panic!("the device of the suite is known");
            };
            let Bus::Mmc { ceiling, .. } = &mut device.bus else {
                panic!("the suite is measured on an SD bus");
            };
            *ceiling = Fact::Known(speed);
            let found = check(&summary, claim).unmet;
            let mut found = found
                .iter()
                .filter(|it| matches!(it, Condition::Bus { .. }));
            let slow = Condition::Bus {
                needed: BytesPerSec(needed as f64),
                ceiling: BytesPerSec(speed as f64),
            };
            assert_eq!(found.next(), is_slow.then_some(&slow), "{claim:?} {speed}");
        }
    }
}

/// One run determines no mean; two have an interval.
#[test]
fn two_runs_are_enough_for_a_mean() {
    for (runs, verdict) in [
        (1, ClaimVerdict::NotShown),
        (2, ClaimVerdict::Kept),
        (3, ClaimVerdict::Kept),
    ] {
        let summary = suite(runs);
        for claim in [
            Claim::AppClass(1),
            Claim::ReadSpeed(30.0),
            Claim::SpeedClass(10),
        ] {
            let found = check(&summary, claim);
            let is_single = found.unmet.contains(&Condition::Repeats { runs });
            let of_means = claim != Claim::SpeedClass(10);
            assert_eq!(is_single, runs == 1 && of_means, "{runs} {claim:?}");
            let verdict = if of_means {
                verdict
            } else {
                ClaimVerdict::Kept
            };
            assert_eq!(found.verdict, verdict, "{runs} {claim:?}");
        }
    }
}

/// A sequential write stands in for a long one, and for nothing else.
#[test]
fn a_sequential_write_stands_in_for_a_long_write_only() {
    let mut summary = suite(3);
    summary.phases.retain(|phase| phase.phase == "seq-write");
    summary.phases[0].sustained = None;
    let write = (Figure::SequentialWrite, true);
    let reads = [(Figure::RandomRead, false), (Figure::RandomWrite, false)];
    let (kept, unclear) = (ClaimVerdict::Kept, ClaimVerdict::Unclear);
    let not_measured = ClaimVerdict::NotMeasured;
    for (claim, figures, stands_in, verdict) in [
        (Claim::SpeedClass(10), vec![write], true, unclear),
        (
            Claim::AppClass(1),
            [&reads[..], &[write]].concat(),
            true,
            unclear,
        ),
        (Claim::WriteSpeed(20.0), vec![write], false, kept),
        (
            Claim::ReadSpeed(20.0),
            vec![(Figure::SequentialRead, false)],
            false,
            not_measured,
        ),
    ] {
        let found = check(&summary, claim);
        let parts = found.parts.iter();
        let parts = parts.map(|part| (part.figure, part.measured.is_some()));
        assert_eq!(parts.collect::<Vec<_>>(), figures, "{claim:?}");
        assert_eq!(found.unmet.contains(&Condition::Timeline), stands_in);
        assert_eq!(found.verdict, verdict, "{claim:?}");
    }
}

/// A run that writes its range once meets erased units all the time.
#[test]
fn one_whole_pass_meets_erased_units() {
    let mut summary = suite(3);
    for (moved, unmet) in [
        (Bytes(GIB.0 - 1), vec![]),
        (GIB, vec![]),
        (Bytes(GIB.0 + 1), vec![Condition::Erased]),
    ] {
        for phase in &mut summary.phases {
            phase.detail.moved = moved;
            phase.detail.shape.as_mut().unwrap().extent = Some(GIB);
        }
        for claim in [
            Claim::SpeedClass(10),
            Claim::UhsGrade(1),
            Claim::WriteSpeed(20.0),
        ] {
            let found = check(&summary, claim);
            assert_eq!((found.verdict, &found.unmet), (ClaimVerdict::Kept, &unmet));
        }
        // Neither reads nor application classes depend on erased units.
        for claim in [Claim::ReadSpeed(30.0), Claim::AppClass(1)] {
            assert!(!check(&summary, claim).unmet.contains(&Condition::Erased));
        }
    }
}

/// Less than ten seconds raise the figures, so that a missed speed is missed, and a reached one is open.
#[test]
fn ten_seconds_are_long_enough() {
    let mut summary = suite(3);
    let wanted = Nanos::from_secs(10);
    for (measured, is_short) in [
        (Nanos(1), true),
        (Nanos::from_millis(5_000), true),
        (Nanos(wanted.0 - 1), true),
        (wanted, false),
        (Nanos(wanted.0 + 1), false),
    ] {
        phase(&mut summary, "seq-read").detail.measured = measured;
        let short = Condition::Time { wanted, measured };
        let unmet = if is_short { vec![short] } else { Vec::new() };
        let reached = match is_short {
            true => ClaimVerdict::Unclear,
            false => ClaimVerdict::Kept,
        };
        for (rated, verdict) in [(30.0, reached), (45.0, ClaimVerdict::Missed)] {
            summary.target.device = fast_bus();
            let found = check(&summary, Claim::ReadSpeed(rated));
            assert_eq!((&found.unmet, found.verdict), (&unmet, verdict));
        }
        assert_eq!(check(&summary, Claim::WriteSpeed(20.0)).unmet, []);
    }
}

/// Returns the card of the suite on a bus of 100 MB/s.
fn fast_bus() -> Fact<DeviceIdentity> {
    let mut device = crate::testing::card().device;
    if let Fact::Known(device) = &mut device
        && let Bus::Mmc { ceiling, .. } = &mut device.bus
    {
        *ceiling = Fact::Known(100_000_000);
    }
    device
}

/// Small ranges raise figures because of caches in the card, except for sequential reads.
#[test]
fn writes_and_random_ios_need_a_range_beyond_the_cache() {
    let base = suite(3);
    let (small, mib) = (|of: Bytes| Bytes(of.0 - 1), Bytes(1 << 20));
    let (write, read, class) = (
        Claim::WriteSpeed(20.0),
        Claim::ReadSpeed(30.0),
        Claim::AppClass(1),
    );
    for (claim, name, written, wanted) in [
        (write, "seq-write", mib, Some(GIB)),
        (write, "seq-write", small(GIB), Some(GIB)),
        (write, "seq-write", GIB, None),
        (Claim::SpeedClass(10), "sustained", small(GIB), Some(GIB)),
        (Claim::SpeedClass(10), "sustained", GIB, None),
        (read, "seq-read", mib, None),
        (read, "seq-read", small(GIB), None),
        (class, "rand-read", small(SPAN), Some(SPAN)),
        (class, "rand-read", SPAN, None),
        (class, "rand-write", small(SPAN), Some(SPAN)),
        (class, "rand-write", SPAN, None),
        (class, "sustained", small(GIB), Some(GIB)),
    ] {
        let mut summary = base.clone();
        let shape = &mut phase(&mut summary, name).detail.shape;
        shape.as_mut().unwrap().extent = Some(written);
        let found = check(&summary, claim);
        let mut extents = found.unmet.iter();
        let extent = extents.find(|it| matches!(it, Condition::Extent { .. }));
        let expected = wanted.map(|wanted| Condition::Extent { wanted, written });
        assert_eq!(extent, expected.as_ref(), "{claim:?} {name} {written:?}");
        let verdict = match wanted {
            Some(_) => ClaimVerdict::Unclear,
            None => ClaimVerdict::Kept,
        };
        assert_eq!(found.verdict, verdict, "{claim:?} {name} {written:?}");
    }
}

/// A speed is reached if no value of the interval is below the rated one, and missed if all are.
#[test]
fn an_interval_that_ends_at_the_rated_speed_decides_nothing() {
    let mut summary = suite(3);
    for (low, high, verdict) in [
        (27.0, 29.9, ClaimVerdict::Missed),
        (27.0, 30.0, ClaimVerdict::Unclear),
        (29.9, 31.0, ClaimVerdict::Unclear),
        (30.0, 33.0, ClaimVerdict::Kept),
        (30.0, 30.0, ClaimVerdict::Kept),
        (30.1, 33.0, ClaimVerdict::Kept),
    ] {
        let read = phase(&mut summary, "seq-read");
        read.bandwidth.mean = f64::midpoint(low, high) * 1e6;
        read.bandwidth.ci95 = Some((low * 1e6, high * 1e6));
        let found = check(&summary, Claim::ReadSpeed(30.0));
        assert_eq!((found.verdict, found.unmet), (verdict, vec![]));
    }
}
