//! Tests of suitability.

use super::*;
use crate::finding::{Bottleneck, Claim, ClaimVerdict};
use crate::job::Op;
use crate::units::BytesPerSec;

/// A decision by a figure without an interval, or with one that crosses the nearest limit unless the decision is firm.
fn decision(fitness: Fitness, firm: bool, has_interval: bool) -> Decision {
    let (value, wide) = match fitness {
        Fitness::DoesNot => (300.0, (250.0, 550.0)),
        Fitness::WithCare => (1_000.0, (450.0, 1_100.0)),
        Fitness::Fits => (2_000.0, (1_450.0, 2_100.0)),
    };
    let interval = match firm {
        true => (value - 50.0, value + 50.0),
        false => wide,
    };
    Decision {
        criterion: Criterion {
            figure: Figure::RandomRead,
            fits: 1_500.0,
            care: 500.0,
            why: String::new(),
        },
        measured: MeasuredFigure {
            phase: "rand-read".to_owned(),
            value,
            ci95: has_interval.then_some(interval),
            bounds: None,
            stalls: None,
            runs: 3,
        },
        fitness,
        firm,
        better_from: None,
    }
}

fn advice(fitness: Option<Fitness>, decided_by: &[Decision]) -> Advice {
    Advice {
        id: "database".to_owned(),
        title: "Database".to_owned(),
        fitness,
        decided_by: decided_by.to_vec(),
        not_measured: Vec::new(),
        impossible_on: None,
    }
}

/// Regression: the limit that the verdict would miss was named, although the interval was far from it.
#[test]
fn the_limit_within_the_interval_is_named() {
    let mut open = decision(Fitness::WithCare, false, true);
    (open.criterion.fits, open.criterion.care) = (500.0, 100.0);
    open.measured.value = 134.0;
    for (interval, limit) in [
        ((89.0, 179.0), Some(100.0)),
        ((120.0, 600.0), Some(500.0)),
        ((50.0, 600.0), Some(100.0)),
        ((120.0, 179.0), None),
    ] {
        open.measured.ci95 = Some(interval);
        assert_eq!(open.crossed_limit(), limit);
    }
    open.measured.value = 480.0;
    open.measured.ci95 = Some((50.0, 600.0));
    assert_eq!(open.crossed_limit(), Some(500.0));
    open.measured.bounds = Some((90.0, 490.0));
    assert_eq!(open.crossed_limit(), Some(100.0));
    (open.measured.ci95, open.measured.bounds) = (None, None);
    assert_eq!(open.crossed_limit(), None);
}

#[test]
fn a_value_is_rated_by_both_thresholds() {
    use Fitness::{DoesNot, Fits, WithCare};
    let rate = |figure, fits, care, value| {
        let why = String::new();
        Criterion {
            figure,
            fits,
            care,
            why,
        }
        .rate(value)
    };
    for (iops, fitness) in [
        (0.0, DoesNot),
        (499.9, DoesNot),
        (500.0, WithCare),
        (1_499.9, WithCare),
        (1_500.0, Fits),
        (9_000.0, Fits),
    ] {
        let rated = rate(Figure::RandomRead, 1_500.0, 500.0, iops);
        assert_eq!(rated, fitness, "{iops}");
    }
    for (milliseconds, fitness) in [
        (0.0, Fits),
        (10.0, Fits),
        (10.1, WithCare),
        (50.0, WithCare),
        (50.1, DoesNot),
        (900.0, DoesNot),
    ] {
        let rated = rate(Figure::SyncP99, 10.0, 50.0, milliseconds);
        assert_eq!(rated, fitness, "{milliseconds}");
    }
}

#[test]
fn bounds_or_an_interval_cross_a_limit() {
    let mut one = decision(Fitness::WithCare, true, true);
    assert!(!one.is_crossed());
    for (bounds, crossed) in [
        ((900.0, 1_100.0), false),
        ((900.0, 1_600.0), true),
        ((400.0, 1_100.0), true),
        ((400.0, 1_600.0), true),
        ((500.0, 1_499.0), false),
    ] {
        one.measured.bounds = Some(bounds);
        for (firm, ci95) in [(true, None), (false, Some((900.0, 1_100.0)))] {
            (one.firm, one.measured.ci95) = (firm, ci95);
            assert_eq!(one.is_crossed(), crossed, "{one:?}");
        }
    }
    assert!(decision(Fitness::WithCare, false, true).is_crossed());
    assert!(!decision(Fitness::WithCare, false, false).is_crossed());
    assert!(!decision(Fitness::WithCare, true, false).is_crossed());
}

#[test]
fn the_better_rated_thing_is_chosen_unless_an_interval_is_open() {
    use Fitness::{DoesNot, Fits, WithCare};
    let of = |fitness, decisions: &[Decision]| advice(fitness, decisions);
    let single = |fitness| decision(fitness, false, false);
    let good = of(Some(Fits), &[single(Fits)]);
    let good_so_far = of(None, &[single(Fits)]);
    let care_at_best = of(None, &[single(WithCare)]);
    let unsuited = of(Some(DoesNot), &[single(DoesNot)]);
    let open = of(Some(WithCare), &[decision(WithCare, false, true)]);
    let unknown = of(None, &[]);
    let impossible = Advice {
        impossible_on: Some("vfat".to_owned()),
        ..of(None, &[single(Fits)])
    };
    for (a, b, chosen) in [
        (&good, &care_at_best, (Choice::First, false)),
        (&care_at_best, &good_so_far, (Choice::Second, true)),
        (&good, &good_so_far, (Choice::Both(Fits), true)),
        (&unsuited, &unsuited, (Choice::Both(DoesNot), false)),
        (&open, &good, (Choice::Open, false)),
        (&good, &unknown, (Choice::Open, false)),
        (&impossible, &care_at_best, (Choice::Second, true)),
    ] {
        assert_eq!(choose(a, b), chosen, "{a:?} {b:?}");
    }
    assert_eq!(impossible.verdict(), AdviceVerdict::NotPossible);
}

#[test]
fn one_figure_that_is_certainly_too_low_is_enough() {
    use Fitness::{DoesNot, Fits, WithCare};
    let low = decision(DoesNot, true, true);
    let (high, open) = (decision(Fits, true, true), decision(Fits, false, true));
    let single = decision(WithCare, false, false);
    for (fitness, decided_by, verdict) in [
        (None, vec![], AdviceVerdict::NotMeasured),
        (None, vec![high.clone()], AdviceVerdict::Inconclusive),
        (
            Some(DoesNot),
            vec![low.clone(), open.clone()],
            AdviceVerdict::Firm(DoesNot),
        ),
        (
            Some(DoesNot),
            vec![decision(DoesNot, false, true), high.clone()],
            AdviceVerdict::Inconclusive,
        ),
        (
            Some(DoesNot),
            vec![decision(DoesNot, false, false), high.clone()],
            AdviceVerdict::Probable(DoesNot),
        ),
        (
            Some(Fits),
            vec![high.clone(), high.clone()],
            AdviceVerdict::Firm(Fits),
        ),
        (
            Some(Fits),
            vec![high.clone(), open],
            AdviceVerdict::Inconclusive,
        ),
        (
            Some(WithCare),
            vec![single, high],
            AdviceVerdict::Probable(WithCare),
        ),
    ] {
        let advice = advice(fitness, &decided_by);
        assert_eq!(advice.verdict(), verdict, "{advice:?}");
    }
}

/// Regression: only the intervals of figures with the worst rating were considered.
#[test]
fn intervals_of_all_figures_are_considered() {
    use Fitness::{DoesNot, Fits, WithCare};
    let (low, fair, high) = (
        decision(DoesNot, true, true),
        decision(WithCare, true, true),
        decision(Fits, true, true),
    );
    let (low_or_fair, fair_or_high) = (decision(DoesNot, false, true), decision(Fits, false, true));
    let mut any = decision(Fits, false, true);
    any.measured.ci95 = Some((450.0, 9_000.0));
    for (decided_by, verdict, open) in [
        ([&low, &low_or_fair], AdviceVerdict::Firm(DoesNot), 0),
        ([&low_or_fair, &low_or_fair], AdviceVerdict::Inconclusive, 2),
        ([&low_or_fair, &any], AdviceVerdict::Inconclusive, 2),
        ([&fair, &fair_or_high], AdviceVerdict::Firm(WithCare), 0),
        ([&fair, &any], AdviceVerdict::Inconclusive, 1),
        ([&fair_or_high, &high], AdviceVerdict::Inconclusive, 1),
        ([&fair_or_high, &any], AdviceVerdict::Inconclusive, 2),
    ] {
        let advice = advice(Some(decided_by[0].fitness), &decided_by.map(Clone::clone));
        assert_eq!(advice.verdict(), verdict, "{advice:?}");
        assert_eq!(advice.open_figures().count(), open, "{advice:?}");
        assert_eq!(advice.is_crossed(), open > 0);
    }
    let good = advice(Some(Fits), &[high.clone(), high]);
    let unsuited = advice(Some(DoesNot), &[low, low_or_fair]);
    assert_eq!(choose(&good, &unsuited), (Choice::First, false));
}

#[test]
fn any_conclusion_is_shown() {
    let none = RunFindings::default();
    assert!(none.is_empty());
    let unknown = advice(None, &[decision(Fitness::Fits, true, true)]);
    let advised = |advice| RunFindings {
        advice: vec![advice],
        ..RunFindings::default()
    };
    assert!(advised(unknown).is_empty());
    assert!(!advised(advice(Some(Fitness::Fits), &[])).is_empty());
    let claims = vec![ClaimCheck {
        claim: Claim::AppClass(1),
        parts: Vec::new(),
        unmet: Vec::new(),
        verdict: ClaimVerdict::Kept,
    }];
    let limits = vec![BusLimit {
        host: None,
        op: Op::Read,
        members: Vec::new(),
        measured: BytesPerSec(2e7),
        ceiling: None,
        share: None,
        cards: 1,
        spread: None,
        limit: Bottleneck::Unclear,
    }];
    let claimed = RunFindings {
        claims,
        ..none.clone()
    };
    let limited = RunFindings { limits, ..none };
    assert!(!claimed.is_empty() && !limited.is_empty());
}

/// One figure that is certainly too low decides, whatever is known about the others.
#[test]
fn a_figure_that_is_certainly_too_low_makes_the_verdict_firm() {
    let too_low = decision(Fitness::DoesNot, true, true);
    for other in [Fitness::DoesNot, Fitness::WithCare, Fitness::Fits] {
        let unknown = decision(other, false, false);
        for (decided_by, firm) in [
            (vec![too_low.clone(), unknown.clone()], true),
            (vec![too_low.clone()], true),
            (
                vec![decision(Fitness::Fits, true, true), unknown.clone()],
                false,
            ),
            (vec![unknown.clone()], false),
        ] {
            let verdict = advice(decided_by.first().map(|d| d.fitness), &decided_by);
            assert_eq!(verdict.is_firm(), firm, "{decided_by:?}");
        }
    }
}
