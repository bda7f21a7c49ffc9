//! Suitability of storage for typical uses: the rules and their verdicts.
//!
//! Rules are data, so that users can replace them. The `analysis` crate computes and judges the figures.

use crate::finding::{BusLimit, ClaimCheck, Figure, MeasuredFigure};
use crate::references::ReferenceStanding;
use serde::{Deserialize, Serialize};

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

    /// The verdict with its certainty.
    pub fn verdict(&self) -> AdviceVerdict {
        match self.fitness {
            Some(fitness) if self.is_firm() => AdviceVerdict::Firm(fitness),
            Some(_) if self.is_crossed() => AdviceVerdict::Inconclusive,
            Some(fitness) => AdviceVerdict::Probable(fitness),
            None if self.decided_by.is_empty() => AdviceVerdict::NotMeasured,
            None => AdviceVerdict::Inconclusive,
        }
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
    /// Whether the confidence interval crosses a limit; `false` without an interval.
    pub fn is_crossed(&self) -> bool {
        !self.firm && self.measured.ci95.is_some()
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
