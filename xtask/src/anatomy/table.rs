//! Totals of many trials as a table.

use super::score::Score;
use hakaru_analysis::stats::median;
use hakaru_anatomy::seconds_of;
use hakaru_model::anatomy::{Anatomy, CardFinding, CardProperty, DeclineReason, Spent};
use hakaru_model::units::Bytes;
use std::collections::BTreeMap;
use std::fmt::Write;

/// Counts of scores, in the order right, near, declined, wrong.
#[derive(Clone, Copy, Debug, Default)]
struct ScoreCounts([u32; 4]);

impl ScoreCounts {
    fn add(&mut self, score: Score) {
        match score {
            Score::Right => self.0[0] += 1,
            Score::Near => self.0[1] += 1,
            Score::Declined => self.0[2] += 1,
            Score::Wrong => self.0[3] += 1,
            Score::NotApplicable => {}
        }
    }

    fn plus(mut self, other: ScoreCounts) -> ScoreCounts {
        for (sum, count) in self.0.iter_mut().zip(other.0) {
            *sum += count;
        }
        self
    }

    fn percents(self) -> [f64; 4] {
        let total = self.0.iter().sum::<u32>().max(1);
        self.0.map(|n| 100.0 * f64::from(n) / f64::from(total))
    }
}

/// Predictions of one workload.
#[derive(Clone, Debug, Default)]
struct PredictionCounts {
    none: u32,
    given: u32,
    within: u32,
    covered: u32,
    errors: Vec<f64>,
}

/// Sums over all trials.
#[derive(Debug, Default)]
pub(crate) struct Totals {
    scores: BTreeMap<CardProperty, ScoreCounts>,
    predictions: BTreeMap<&'static str, PredictionCounts>,
    minutes: Vec<f64>,
    read_only_seconds: Vec<f64>,
    written: Vec<f64>,
    copied: Vec<f64>,
    really_copied: Vec<f64>,
    over_budget: u32,
    /// Anatomies, those that were declined because the device fits no model, and those that report any value.
    anatomies: u32,
    fits_none: u32,
    with_values: u32,
}

impl Totals {
    pub(crate) fn add(&mut self, property: CardProperty, score: Score) {
        self.scores.entry(property).or_default().add(score);
    }

    /// Adds what an anatomy spent, and what the card really copied. Returns whether it exceeded its budget of bytes.
    pub(crate) fn spent(&mut self, anatomy: &Anatomy, really_copied: Bytes, limit: &Spent) -> bool {
        let sum = |of: &dyn Fn(&Spent) -> f64, reads: bool| -> f64 {
            let records = anatomy.experiments.iter();
            records
                .filter(|record| !reads || !record.experiment.writes())
                .map(|record| of(&record.spent))
                .sum()
        };
        let seconds = |spent: &Spent| seconds_of(spent.time);
        self.minutes.push(sum(&seconds, false) / 60.0);
        self.read_only_seconds.push(sum(&seconds, true));
        let written = sum(&|spent| spent.written.0 as f64, false);
        let copied = sum(&|spent| spent.copied.0 as f64, false).max(really_copied.0 as f64);
        let is_over = written > limit.written.0 as f64 || copied > limit.copied.0 as f64;
        self.over_budget += u32::from(is_over);
        self.really_copied.push(really_copied.0 as f64 / 1e6);
        self.written.push(written / 1e6);
        self.copied
            .push(sum(&|spent| spent.copied.0 as f64, false) / 1e6);
        is_over
    }

    /// Counts whether the device fits a model, and whether a value is reported. Returns whether it was said to fit none.
    pub(crate) fn fits(&mut self, anatomy: &Anatomy) -> bool {
        let mut findings = anatomy.findings.values();
        let is_none = |finding: &CardFinding| {
            matches!(finding, CardFinding::Unknown(DeclineReason::NoModel { .. }))
        };
        self.anatomies += 1;
        let fits_none = findings.clone().any(is_none);
        self.fits_none += u32::from(fits_none);
        self.with_values += u32::from(findings.any(|finding| finding.known().is_some()));
        fits_none
    }

    /// Returns the longest time of the experiments that only read, in seconds.
    #[cfg(test)]
    pub(crate) fn longest_reads(&self) -> f64 {
        self.read_only_seconds.iter().copied().fold(0.0, f64::max)
    }

    #[cfg(test)]
    pub(crate) fn over_budget(&self) -> u32 {
        self.over_budget
    }

    #[cfg(test)]
    pub(crate) fn fits_none(&self) -> u32 {
        self.fits_none
    }

    #[cfg(test)]
    pub(crate) fn with_values(&self) -> u32 {
        self.with_values
    }

    pub(crate) fn no_prediction(&mut self, workload: &'static str) {
        self.predictions.entry(workload).or_default().none += 1;
    }

    pub(crate) fn prediction(&mut self, workload: &'static str, error: f64, covers: bool) {
        let counts = self.predictions.entry(workload).or_default();
        counts.given += 1;
        counts.within += u32::from(error.abs() <= 0.1);
        counts.covered += u32::from(covers);
        counts.errors.push(error.abs() * 100.0);
    }

    fn sum(&self, of: impl Fn(CardProperty) -> bool) -> ScoreCounts {
        let rows = self.scores.iter().filter(|(property, _)| of(**property));
        rows.fold(ScoreCounts::default(), |sum, (_, counts)| sum.plus(*counts))
    }

    /// Returns the share of wrong findings in percent.
    pub(crate) fn wrong_percent(&self) -> f64 {
        self.sum(|_| true).percents()[3]
    }

    #[cfg(test)]
    pub(crate) fn right_percent(&self) -> f64 {
        self.sum(|_| true).percents()[0]
    }

    /// Returns all tables as text.
    pub(crate) fn table(&self) -> String {
        let mut text = String::new();
        let mut row = |name: &str, counts: ScoreCounts| {
            let [right, near, declined, wrong] = counts.percents();
            let total = counts.0.iter().sum::<u32>();
            let _ = writeln!(
                text,
                "{name:<18} {total:>5} {right:>7.2} {near:>7.2} {declined:>9.2} {wrong:>7.2}"
            );
        };
        for (property, counts) in &self.scores {
            row(&format!("{property:?}"), *counts);
        }
        row("sizes and counts", self.sum(CardProperty::is_exact));
        row("rates and times", self.sum(|property| !property.is_exact()));
        row("all", self.sum(|_| true));
        let head = format!(
            "{:<18} {:>5} {:>7} {:>7} {:>9} {:>7}\n",
            "%", "n", "right", "<10%", "declined", "wrong"
        );
        head + &text + &self.predictions() + &self.costs()
    }

    fn predictions(&self) -> String {
        let mut text =
            String::from("\nprediction          given   none  <10%  covered  median error %\n");
        let mut all = PredictionCounts::default();
        for (name, counts) in &self.predictions {
            all.none += counts.none;
            all.given += counts.given;
            all.within += counts.within;
            all.covered += counts.covered;
            all.errors.extend(&counts.errors);
            let _ = write_prediction(&mut text, name, counts);
        }
        let _ = write_prediction(&mut text, "all", &all);
        text
    }

    fn costs(&self) -> String {
        let mut text = String::from("\ncost                median       max\n");
        for (name, values) in [
            ("minutes", &self.minutes),
            ("read-only seconds", &self.read_only_seconds),
            ("written MB", &self.written),
            ("copied MB", &self.copied),
            ("really copied MB", &self.really_copied),
        ] {
            let most = values.iter().copied().fold(0.0, f64::max);
            let middle = median(values).unwrap_or(0.0);
            let _ = writeln!(text, "{name:<18} {middle:>7.1} {most:>9.1}");
        }
        let _ = writeln!(
            text,
            "over the budget of written or copied bytes: {}",
            self.over_budget
        );
        let _ = writeln!(
            text,
            "fits no model: {} of {}; with values: {}",
            self.fits_none, self.anatomies, self.with_values
        );
        text
    }
}

fn write_prediction(text: &mut String, name: &str, counts: &PredictionCounts) -> std::fmt::Result {
    let share = |n: u32| 100.0 * f64::from(n) / f64::from(counts.given.max(1));
    let (given, none) = (counts.given, counts.none);
    let (within, covered) = (share(counts.within), share(counts.covered));
    let error = median(&counts.errors).unwrap_or(0.0);
    writeln!(
        text,
        "{name:<19} {given:>5} {none:>6} {within:>6.1} {covered:>7.1} {error:>7.2}"
    )
}
