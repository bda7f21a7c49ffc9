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

    /// The worst and the best verdict that the intervals of the measured figures allow; `None` if none was measured.
    ///
    /// The figure with the worst rating decides, so the range is from the minimum of the worst ratings to the minimum of
    /// the best ones.
    fn possible(&self) -> Option<(Fitness, Fitness)> {
        let ranges = || self.decided_by.iter().map(Decision::possible);
        let worst = ranges().map(|(worst, _)| worst).min()?;
        Some((worst, ranges().map(|(_, best)| best).min()?))
    }

    /// Whether the confidence intervals of the measured figures allow several verdicts.
    pub fn is_crossed(&self) -> bool {
        self.possible().is_some_and(|(worst, best)| worst < best)
    }

    /// Returns the figures whose intervals leave the verdict open; empty if it is not.
    pub fn open_figures(&self) -> impl Iterator<Item = &Decision> {
        let best = self.possible().map(|(_, best)| best);
        self.decided_by
            .iter()
            .filter(move |decision| Some(decision.possible().0) < best)
    }

    /// Whether the verdict is certain. Without confidence intervals, a verdict is only probable.
    ///
    /// "Not suitable" needs one figure that is certainly too low; other verdicts need an interval of each figure.
    pub fn is_firm(&self) -> bool {
        let is_certain = |d: &Decision| d.fitness == Fitness::DoesNot && d.firm;
        match self.fitness {
            None => false,
            Some(_) if self.is_crossed() => false,
            Some(_) if self.decided_by.iter().any(is_certain) => true,
            Some(_) => self.decided_by.iter().all(|d| d.measured.ci95.is_some()),
        }
    }

    /// The rating that the measured figures leave possible; `None` if none was measured, or intervals allow several.
    pub fn best_possible(&self) -> Option<Fitness> {
        if self.impossible_on.is_some() {
            return Some(Fitness::DoesNot);
        }
        let (worst, best) = self.possible()?;
        (worst == best).then_some(best)
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
    /// A figure has no confidence interval (single runs).
    Probable(Fitness),
    /// The confidence intervals allow several verdicts, or a missing figure could change the verdict.
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
    /// The worst and the best rating that the bounds of a figure that is not determined, or the confidence interval,
    /// allow; without either, the rating of the value.
    fn possible(&self) -> (Fitness, Fitness) {
        let MeasuredFigure { ci95, bounds, .. } = &self.measured;
        let Some((low, high)) = bounds.or(*ci95) else {
            return (self.fitness, self.fitness);
        };
        let [a, b] = [low, high].map(|end| self.criterion.rate(end));
        (self.fitness.min(a).min(b), self.fitness.max(a).max(b))
    }

    /// Whether the confidence interval, or the bounds of a figure that is not determined, cross a limit; `false` without
    /// either.
    pub fn is_crossed(&self) -> bool {
        let (worst, best) = self.possible();
        worst < best
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
mod tests;
