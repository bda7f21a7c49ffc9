//! Texts of tables, comparisons and workloads.

use crate::png::PngError;
use crate::text::values::*;
use crate::text::{Language, en, ja, language};
use hakaru_model::finding::PhaseSummary;
use hakaru_model::units::Bytes;

texts! {
    // tables
    /// Sentences of one paragraph.
    pub(crate) fn paragraph(sentences: &[impl AsRef<str>]) -> String;
    /// Two sentences of which the first has no full stop.
    pub(crate) fn two_sentences(first: &str, second: &str) -> String;
    /// A quantity with its unit, as a heading: `random writes, IOPS`.
    pub(crate) fn with_unit(quantity: &str, unit: &str) -> String;
    /// Title of a report on several series.
    pub(crate) fn series_compared(n: usize) -> String;
    /// What the figures of one series are.
    pub(crate) fn figures_legend(single: bool, open_loop: bool) -> String;
    /// The place of a drop of speed.
    pub(crate) fn drop_at(at: Bytes) -> String;
    /// Errors of a phase.
    pub(crate) fn errors_counted(what: ErrorCount, n: u64) -> String;
    /// The rest of a list.
    pub(crate) fn and_more(n: u64) -> String;
    /// The rest of a list that the record has as a whole.
    pub(crate) fn more_in_record(n: u64) -> String;
    /// A count with its noun: `6 cards`.
    pub(crate) fn things_counted(what: CountedThing, n: u64) -> String;
    /// Number of runs of a campaign.
    pub(crate) fn runs_of(runs: u64, planned: u64) -> String;
    /// Number of runs of a campaign that may end early.
    pub(crate) fn runs_of_most(runs: u64, planned: u64) -> String;
    /// Numbers of some runs: `run 7`, `runs 3, 7`.
    pub(crate) fn these_runs(numbers: &[String]) -> String;
    /// The ID of a stored campaign.
    pub(crate) fn stored_as(id: &str) -> String;
    /// What the figures of a campaign are; `ranked` if they have letters.
    pub(crate) fn campaign_legend(ranked: bool) -> String;
    /// Title of the speed through a layer, relative to another.
    pub(crate) fn layer_leaves(layer: &str, reference: &str) -> String;
    /// Explanation of these ratios.
    pub(crate) fn layer_leaves_note() -> &'static str;
    /// Runs that do not count because they failed.
    pub(crate) fn failed_not_counted(n: u64, point: &str, because: &str) -> String;
    /// Stored runs that do not count because their settings differ.
    pub(crate) fn others_not_counted(n: u64) -> String;
    /// Runs of points with other settings.
    pub(crate) fn others_of_points(n: u64) -> String;
    /// Reason why a run failed, and the run.
    pub(crate) fn because_of_run(because: &str, run: &str) -> String;
    /// Number of caveats that only the report has.
    pub(crate) fn caveats_in_report(n: u64) -> String;
    /// Title of a part about one layer.
    pub(crate) fn about_layer(part: LayerPart, layer: &str) -> String;
    /// Explanation of the variation between runs.
    pub(crate) fn spread_note() -> &'static str;
    /// A window in which the runs were steady: first and last run, level in MB/s, range and slope in percent.
    pub(crate) fn steady_window(runs: (u32, u32), level: &str, range: &str, slope: &str) -> String;
    /// Title of the comparisons of all pairs.
    pub(crate) fn every_pair(workload: &str) -> String;
    /// Heads of a comparison with one card: place, ratio, cards without a difference.
    pub(crate) fn difference_heads(reference: &str) -> [String; 3];
    /// Subtitle of the speed along a device.
    pub(crate) fn map_note() -> &'static str;

    // comparisons
    /// The verdict on a figure.
    pub(crate) fn comparison_verdict(verdict: &ComparisonText) -> String;
    /// A compared figure of a phase: `rand-write bandwidth`.
    pub(crate) fn compared_quantity(quantity: &str) -> String;
    /// A compared figure of a workload: `Random writes, bandwidth`.
    pub(crate) fn compared_figure_of(workload: &str, figure: &str) -> String;
    /// Which side of a comparison a ratio is about.
    pub(crate) fn ratio_direction(names: (&str, &str)) -> String;
    /// Title of the caveats that hold for both sides of a comparison.
    pub(crate) fn caveats_of_comparison() -> &'static str;
    /// Units of the report beside those of fio.
    pub(crate) fn units_of_fio() -> &'static str;
    /// Explanation of the statistical tests.
    pub(crate) fn tests_note() -> &'static str;
    /// Title of the caveats of one side.
    pub(crate) fn caveats_of(name: &str) -> String;
    /// A statistic of a figure: `latency, P99`.
    pub(crate) fn figure_of(figure: &str, statistic: &str) -> String;

    // speed along a device
    /// The slowest and the fastest segment of a device, in MB/s.
    pub(crate) fn speed_range(what: &str, slowest: &str, fastest: &str) -> String;
    /// The slowest and the fastest segment.
    pub(crate) fn speeds_along(slowest: &str, fastest: &str) -> String;
    /// The real capacity.
    pub(crate) fn holds(real: Bytes) -> String;
    /// Bytes that were verified.
    pub(crate) fn of_checked(checked: Bytes) -> String;
    /// A bad range.
    pub(crate) fn bad_range(offset: Bytes, len: Bytes, what: &str) -> String;
    /// Offset 0.
    pub(crate) fn beginning() -> &'static str;
    /// Axis of addresses in a unit.
    pub(crate) fn from_beginning(unit: &str) -> String;
    /// Axis of addresses of a disk in a unit.
    pub(crate) fn from_start_of_disk(unit: &str) -> String;
    /// Subtitle of a speed map; `strip` if bad ranges are marked.
    pub(crate) fn segments_note(strip: bool) -> &'static str;

    // pictures
    /// Why a chart cannot be rendered as PNG.
    pub(crate) fn png_error(error: PngError) -> String;

    // workloads
    /// The jobs of a phase: `sequential write, 1 MiB, queue depth 1`.
    pub(crate) fn described(phase: &PhaseSummary) -> String;
}
