//! Texts of anatomies, their advice, and predictions.

use crate::text::{Language, en, ja, language};
use hakaru_model::anatomy::{CardProperty, DeclineReason, Experiment};
use hakaru_model::anatomy_record::CardAdvice;

/// What an anatomy says in one sentence. Sizes, rates and times are formatted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AnatomyFact<'a> {
    /// Number of units that can be open, and their size; empty if it is unknown.
    OpenUnits { units: u64, size: &'a str },
    /// How many times slower writes of 64 KiB are with one file more than units can be open.
    TooManyWriters { writers: u64, factor: &'a str },
    /// No limit of open units was seen.
    NoLimit { up_to: u64 },
    /// Number of open units that can be written out of order, of all.
    RandomUnits { units: u64, of: u64 },
    /// Size of the cache, rate into it, and rate after it.
    Cache {
        size: &'a str,
        fast: &'a str,
        slow: &'a str,
    },
    /// No cache was seen.
    NoCache { up_to: &'a str },
    /// Bytes that random reads may span without loading the mapping, and what they cost beyond.
    Reach { size: &'a str, load: &'a str },
    /// Busy time until the card throttles, and how many percent of the time requests take then.
    Throttles { after: &'a str, percent: &'a str },
    /// Read rate, and latency of a small read.
    Reads { rate: &'a str, latency: &'a str },
    /// Number of findings that are unknown.
    Unknown { count: u64, of: u64 },
}

/// Labels of an anatomy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AnatomyLabel {
    Property,
    Value,
    Interval,
    Evidence,
    Findings,
    Advice,
    Trials,
    Cost,
    Experiment,
    Time,
    Read,
    Written,
    Copied,
    Unit,
    Page,
    OpenUnits,
    Cache,
    Reach,
    Unlimited,
    NotKnown,
    Latency,
    Usual,
    Advised,
    Ratio,
    Workload,
    Bandwidth,
    Iops,
    Median,
    P99,
    Measured,
    Yes,
    No,
}

texts! {
    /// A label.
    pub(crate) fn anatomy_label(label: AnatomyLabel) -> &'static str;
    /// Headline: anatomy of a card.
    pub fn anatomy_of(name: &str) -> String;
    /// Name of a property.
    pub fn card_property(property: CardProperty) -> &'static str;
    /// Name of an experiment.
    pub fn anatomy_experiment(experiment: Experiment) -> &'static str;
    /// Label of the horizontal axis of the evidence of an experiment.
    pub(crate) fn anatomy_axis(experiment: Experiment) -> &'static str;
    /// Why a value is unknown; `rough` is a formatted estimate, if there is one.
    pub(crate) fn property_unknown(reason: &DeclineReason, rough: Option<&str>) -> String;
    /// Instead of a table of properties that are all unknown for one reason.
    pub(crate) fn all_properties_unknown(count: usize, because: &str) -> String;
    /// A part, limit or cost that was not seen up to a value.
    pub(crate) fn property_absent(property: CardProperty, up_to: &str) -> String;
    /// A sentence about the card.
    pub(crate) fn anatomy_fact(fact: &AnatomyFact<'_>) -> String;
    /// What the boxes of the open units mean, in their order: those of the FAT, for any order, and only in order.
    pub(crate) fn open_units_legend(fat: u64, random: u64, linear: u64) -> String;
    /// Nothing is known about the card.
    pub(crate) fn anatomy_empty() -> &'static str;
    /// The anatomy is incomplete.
    pub(crate) fn anatomy_incomplete(done: u64, of: u64) -> String;
    /// Advice in one sentence.
    pub fn card_advice(advice: &CardAdvice) -> String;
    /// Result of a measurement of the advice: ratio and its interval.
    pub(crate) fn advice_gain(ratio: f64, low: f64, high: f64) -> String;
    /// Note below the findings.
    pub(crate) fn anatomy_intervals() -> &'static str;
    /// Noise: spread of small reads in percent, drift in percent, latency.
    pub(crate) fn anatomy_noise(sigma: &str, drift: &str, latency: &str) -> String;
    /// A workload that cannot be predicted.
    pub(crate) fn not_predictable(property: CardProperty) -> String;
    /// What the intervals of predictions are.
    pub(crate) fn prediction_note() -> &'static str;
    /// Numbers of figures measured inside and outside of their intervals.
    pub(crate) fn prediction_score(inside: u64, of: u64) -> String;
    /// A figure that was measured outside of its interval.
    pub(crate) fn prediction_miss(phase: &str, label: AnatomyLabel, measured: &str, low: &str, high: &str) -> String;
}
