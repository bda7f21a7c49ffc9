//! Texts of rounds that end in steady state, and of speeds over time.

use crate::text::values::*;
use crate::text::{Language, en, ja, language};
use hakaru_model::units::Bytes;

texts! {
    /// Title of a chart of rounds: what it shows.
    pub(crate) fn round_title(title: &RoundTitle) -> String;
    /// Whether rounds ended in steady state, with the watched workloads and their rates.
    pub(crate) fn rounds_answer(steady: bool, rounds: u32, at_most: u32, figures: &[(String, String)]) -> String;
    /// Which rounds the rates are the means of.
    pub(crate) fn rounds_proof(rounds: Option<(u32, u32)>) -> String;
    /// A workload of rounds, or a mix of all block sizes: `random writes of 4 KiB`.
    pub(crate) fn round_work(random: bool, read_percent: u32, block: Option<Bytes>) -> String;
    /// A mix of reads and writes as a line of a chart: `65% reads`.
    pub(crate) fn mix(read_percent: u32) -> String;
    /// Label of the axis of rounds.
    pub(crate) fn axis_round() -> &'static str;
    /// Label of the mean of the measurement window.
    pub(crate) fn window_mean() -> &'static str;
    /// Subtitle of the rounds of a workload with its measurement window: range and slope in percent of the mean.
    pub(crate) fn window_note(unit: &str, range: &str, slope: &str) -> String;
    /// Subtitle of rounds without a measurement window.
    pub(crate) fn rounds_note(unit: &str) -> String;
    /// Subtitle of a figure of the measurement window, which has these rounds if there is one.
    pub(crate) fn window_figure(figure: RoundFigure, rounds: Option<(u32, u32)>) -> String;
    /// Title of speeds over time: the smallest and the largest deviation in percent of the mean, with their series.
    pub(crate) fn spread_title(work: &str, worst: &SlowestInterval, best: Option<&SlowestInterval>) -> String;
    /// Subtitle of speeds over time without intervals.
    pub(crate) fn range_note(lengths: &[String]) -> String;
    /// In the place of a bar without a rated speed.
    pub(crate) fn no_rated_speed() -> &'static str;
    /// Subtitle of random writes that went over the whole device.
    pub(crate) fn saturation_note(times: &str, every: &str) -> String;
}
