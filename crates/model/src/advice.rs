//! What storage is good for: rules by use, and what follows from them.
//!
//! Rules are data, so that a user can replace them; how a figure is found and judged is the business of analysis.

use crate::finding::{BusLimit, ClaimCheck, Figure, MeasuredFigure};
use crate::references::ReferenceStanding;
use serde::{Deserialize, Serialize};

/// A use of storage, with its criteria.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct UseRule {
    /// ID of the rule, such as `database`; a rule with the same ID replaces it.
    pub id: String,
    /// Title for readers.
    pub title: String,
    /// Its criteria; the worst one decides.
    pub criteria: Vec<Criterion>,
}

/// A criterion of a use.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Criterion {
    /// The figure.
    pub figure: Figure,
    /// Threshold for "good", a minimum or maximum according to [`Figure::more_is_better`].
    pub fits: f64,
    /// From here on it does with care; beyond, it does not fit.
    pub care: f64,
    /// Why this figure, and why this threshold.
    pub why: String,
}

/// Whether something fits a use. Ordered from worst to best.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Fitness {
    /// It does not.
    DoesNot,
    /// It does, with care.
    WithCare,
    /// It does.
    Fits,
}

/// What was found for one use.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Advice {
    /// [`UseRule::id`].
    pub id: String,
    /// [`UseRule::title`].
    pub title: String,
    /// The verdict; `None` if figures are missing and no measured one excludes the use.
    pub fitness: Option<Fitness>,
    /// Every criterion that was measured, the worst first: the first ones decided.
    pub decided_by: Vec<Decision>,
    /// Criteria that no phase measured: measuring them might change the verdict.
    pub not_measured: Vec<Criterion>,
}

impl Advice {
    /// The criteria that decided: all that were judged as badly as the worst.
    pub fn deciding(&self) -> impl Iterator<Item = &Decision> {
        let worst = self.decided_by.first().map(|decision| decision.fitness);
        self.decided_by
            .iter()
            .filter(move |decision| Some(decision.fitness) == worst)
    }

    /// Whether the interval of a figure that decided crosses a limit, so that the verdict is open.
    pub fn is_crossed(&self) -> bool {
        self.deciding().any(Decision::is_crossed)
    }

    /// Whether the intervals of the figures leave no other verdict: without it, a verdict is a probable one.
    ///
    /// Whether the verdict is certain. "Not suitable" needs one figure that is certainly too low;
    /// other verdicts need all figures to be certain.
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
    /// The intervals of all figures leave no other verdict.
    Firm(Fitness),
    /// Single runs have no interval.
    Probable(Fitness),
    /// The interval of a figure that decides crosses a limit, or a figure is missing that could change the verdict.
    Inconclusive,
    /// No figure was measured.
    NotMeasured,
}

/// One criterion, judged.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Decision {
    /// The requested value.
    pub criterion: Criterion,
    /// What was measured.
    pub measured: MeasuredFigure,
    /// What follows from this figure alone.
    pub fitness: Fitness,
    /// Whether both ends of the confidence interval say the same; `false` too when there is no interval.
    pub firm: bool,
    /// Value at which this figure would be rated one level better; `None` if good.
    pub better_from: Option<f64>,
}

impl Decision {
    /// Whether the confidence interval crosses a limit. False without an interval.
    pub fn is_crossed(&self) -> bool {
        !self.firm && self.measured.ci95.is_some()
    }
}

/// What was concluded from one summary, to be shown beside it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RunFindings {
    /// Suitability for each use.
    pub advice: Vec<Advice>,
    /// What was promised beside what was measured.
    pub claims: Vec<ClaimCheck>,
    /// Whether the bus or the card sets the pace, for reads and writes.
    pub limits: Vec<BusLimit>,
    /// Where it stands among published figures.
    #[serde(default)]
    pub standings: Vec<ReferenceStanding>,
}

impl RunFindings {
    /// Whether there is nothing to show.
    pub fn is_empty(&self) -> bool {
        let nothing_said =
            self.claims.is_empty() && self.limits.is_empty() && self.standings.is_empty();
        nothing_said && self.advice.iter().all(|a| a.fitness.is_none())
    }
}
