//! Suitability of storage for typical uses: the rules and their verdicts.
//!
//! Rules are data, so that users can replace them. The `analysis` crate computes and judges the figures.

use crate::finding::{BusLimit, ClaimCheck, Figure, MeasuredFigure};
use crate::references::ReferenceStanding;
use serde::{Deserialize, Serialize};
use std::cmp::Ordering;

/// Use of storage, with the criteria that it is judged by.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct UseRule {
    /// ID of the rule, such as `database`; a rule with the same ID replaces it.
    pub id: String,
    /// Title for readers.
    pub title: String,
    /// Criteria; the worst one decides the verdict.
    pub criteria: Vec<Criterion>,
    /// Whether the use needs a file system with Unix owners, permissions and symbolic links.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub needs_permissions: bool,
}

/// Criterion of a use: a figure with two thresholds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Criterion {
    /// Figure to judge.
    pub figure: Figure,
    /// Threshold for "good", a minimum or maximum according to [`Figure::more_is_better`].
    pub fits: f64,
    /// Threshold for "suitable with care"; a worse figure is not suitable.
    pub care: f64,
    /// Reason for this figure and this threshold.
    pub why: String,
}

impl Criterion {
    /// Rates a value by the two thresholds.
    pub fn rate(&self, value: f64) -> Fitness {
        let reaches = |mark: f64| match self.figure.more_is_better() {
            true => value >= mark,
            false => value <= mark,
        };
        if reaches(self.fits) {
            Fitness::Fits
        } else if reaches(self.care) {
            Fitness::WithCare
        } else {
            Fitness::DoesNot
        }
    }
}

/// Suitability for a use, ordered from worst to best.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Fitness {
    /// Not suitable.
    DoesNot,
    /// Suitable with care.
    WithCare,
    /// Suitable.
    Fits,
}

/// Verdict for one use, with the criteria behind it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Advice {
    /// [`UseRule::id`].
    pub id: String,
    /// [`UseRule::title`].
    pub title: String,
    /// The verdict; `None` if figures are missing and no measured one excludes the use.
    pub fitness: Option<Fitness>,
    /// Measured criteria, worst first.
    pub decided_by: Vec<Decision>,
    /// Criteria that no phase measured; measuring them might change the verdict.
    pub not_measured: Vec<Criterion>,
    /// Type of the file system that cannot serve this use, whatever its speed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub impossible_on: Option<String>,
}

impl Advice {
    /// Returns the criteria that decided the verdict: all that share the worst rating.
    pub fn deciding(&self) -> impl Iterator<Item = &Decision> {
        let worst = self.decided_by.first().map(|decision| decision.fitness);
        self.decided_by
            .iter()
            .filter(move |decision| Some(decision.fitness) == worst)
    }

    /// Whether the verdict is open, because the confidence interval of a deciding figure crosses a limit.
    pub fn is_crossed(&self) -> bool {
        self.deciding().any(Decision::is_crossed)
    }

    /// Whether the verdict is certain. Without confidence intervals, a verdict is only probable.
    ///
    /// "Not suitable" needs one figure that is certainly too low; other verdicts need all figures to be certain.
    pub fn is_firm(&self) -> bool {
        match self.fitness {
            None => false,
            Some(Fitness::DoesNot) => self
                .decided_by
                .iter()
                .any(|d| d.fitness == Fitness::DoesNot && d.firm),
            Some(_) => self.decided_by.iter().all(|d| d.firm),
        }
    }

    /// The rating that the measured figures leave possible; `None` if none was measured, or an interval crosses a limit.
    pub fn best_possible(&self) -> Option<Fitness> {
        if self.impossible_on.is_some() {
            return Some(Fitness::DoesNot);
        }
        let worst = self.decided_by.first().map(|worst| worst.fitness);
        worst.filter(|_| !self.is_crossed())
    }

    /// The verdict with its certainty.
    pub fn verdict(&self) -> AdviceVerdict {
        match self.fitness {
            _ if self.impossible_on.is_some() => AdviceVerdict::NotPossible,
            Some(fitness) if self.is_firm() => AdviceVerdict::Firm(fitness),
            Some(_) if self.is_crossed() => AdviceVerdict::Inconclusive,
            Some(fitness) => AdviceVerdict::Probable(fitness),
            None if self.decided_by.is_empty() => AdviceVerdict::NotMeasured,
            None => AdviceVerdict::Inconclusive,
        }
    }
}

/// Which of two things to use, from the verdicts on both.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Choice {
    /// The first: the second is rated lower.
    First,
    /// The second: the first is rated lower.
    Second,
    /// Both have this rating.
    Both(Fitness),
    /// The verdict on one of them is open.
    Open,
}

/// The choice between two things for a use, and whether figures are missing that could change it.
///
/// Missing figures can only lower a rating, so a thing is chosen although the other one lacks figures.
pub fn choose(first: &Advice, second: &Advice) -> (Choice, bool) {
    let (Some(a), Some(b)) = (first.best_possible(), second.best_possible()) else {
        return (Choice::Open, false);
    };
    let lacks = |advice: &Advice| advice.fitness.is_none();
    match a.cmp(&b) {
        Ordering::Greater => (Choice::First, lacks(first)),
        Ordering::Less => (Choice::Second, lacks(second)),
        Ordering::Equal => (Choice::Both(a), lacks(first) || lacks(second)),
    }
}

/// The verdict on a use, as every report prints it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum AdviceVerdict {
    /// The confidence intervals of all figures allow no other verdict.
    Firm(Fitness),
    /// The figures have no confidence interval (single runs).
    Probable(Fitness),
    /// The confidence interval of a deciding figure crosses a limit, or a missing figure could change the verdict.
    Inconclusive,
    /// No figure was measured.
    NotMeasured,
    /// The file system cannot serve the use.
    NotPossible,
}

/// Result of one criterion.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Decision {
    /// Criterion that was judged.
    pub criterion: Criterion,
    /// Measured figure.
    pub measured: MeasuredFigure,
    /// Suitability by this figure alone.
    pub fitness: Fitness,
    /// Whether both ends of the confidence interval give the same rating; `false` without an interval.
    pub firm: bool,
    /// Value at which this figure would be rated one level better; `None` if good.
    pub better_from: Option<f64>,
}

impl Decision {
    /// Whether the confidence interval, or the bounds of a figure that is not determined, cross a limit; `false` without
    /// either.
    pub fn is_crossed(&self) -> bool {
        let MeasuredFigure { ci95, bounds, .. } = &self.measured;
        let rates_differ =
            |&(low, high): &(f64, f64)| self.criterion.rate(low) != self.criterion.rate(high);
        match bounds {
            Some(bounds) => rates_differ(bounds),
            None => !self.firm && ci95.is_some(),
        }
    }

    /// The limit within the confidence interval or the bounds, the nearest to the value if both are; `None` without
    /// either.
    pub fn crossed_limit(&self) -> Option<f64> {
        let (low, high) = self.measured.bounds.or(self.measured.ci95)?;
        let distance = |limit: &f64| (limit - self.measured.value).abs();
        let limits = [self.criterion.fits, self.criterion.care].into_iter();
        let within = limits.filter(|limit| (low..=high).contains(limit));
        within.min_by(|a, b| distance(a).total_cmp(&distance(b)))
    }
}

/// Conclusions from one summary, shown next to it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RunFindings {
    /// Suitability for each use.
    pub advice: Vec<Advice>,
    /// Claims of the card, checked against the measured figures.
    pub claims: Vec<ClaimCheck>,
    /// Whether the bus or the card limits the speed of reads and writes.
    pub limits: Vec<BusLimit>,
    /// Comparison with reference results.
    #[serde(default)]
    pub standings: Vec<ReferenceStanding>,
}

impl RunFindings {
    /// Whether there are no conclusions to show.
    pub fn is_empty(&self) -> bool {
        let nothing_said =
            self.claims.is_empty() && self.limits.is_empty() && self.standings.is_empty();
        nothing_said && self.advice.iter().all(|a| a.fitness.is_none())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::finding::{Bottleneck, Claim, ClaimVerdict};
    use crate::job::Op;
    use crate::units::BytesPerSec;

    /// A decision by a figure with an interval, or without one.
    fn decision(fitness: Fitness, firm: bool, has_interval: bool) -> Decision {
        Decision {
            criterion: Criterion {
                figure: Figure::RandomRead,
                fits: 1_500.0,
                care: 500.0,
                why: String::new(),
            },
            measured: MeasuredFigure {
                phase: "rand-read".to_owned(),
                value: 1_000.0,
                ci95: has_interval.then_some((900.0, 1_100.0)),
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
            ((100.0, 400.0), false),
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
}
