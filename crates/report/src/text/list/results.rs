//! Texts of pages, charts, figures and verdicts.

use crate::chart::{BarMarks, ChartTitle, SweepAxis};
use crate::findings::ConclusionKind;
use crate::text::values::*;
use crate::text::{Language, en, ja, language};
use crate::workload::WorkloadKind;
use hakaru_model::advice::{AdviceVerdict, Decision, Fitness};
use hakaru_model::campaign::{PlanNote, Weakness};
use hakaru_model::conclusion::PairConclusion;
use hakaru_model::finding::{
    Bottleneck, BusLimit, Claim, ClaimPart, ClaimVerdict, Condition, Figure, FindingKind,
    IntervalCaveat, SummaryOrigin,
};
use hakaru_model::job::Op;
use hakaru_model::method::{
    CardOrder, LayerMethod, MethodTitle, PointOrder, PreparationMethod, RecheckMethod,
    RepeatsMethod,
};
use hakaru_model::obstacle::{
    EngineObstacle, Reason, ValueRule, VerifyStateObstacle, ZoneObstacle,
};
use hakaru_model::price::Price;
use hakaru_model::references::ReferenceStanding;
use hakaru_model::units::{Bytes, BytesPerSec, Nanos};

texts! {
    // findings
    /// A finding as a sentence, without its scope.
    pub(crate) fn kind(kind: &FindingKind) -> String;

    /// Why the zones of a target cannot be used.
    pub fn zone_obstacle(because: &ZoneObstacle) -> String;
    /// Why the verification state of an earlier run cannot be used.
    pub fn verify_state_obstacle(because: &VerifyStateObstacle) -> String;
    /// Why an I/O engine cannot be used.
    pub fn no_engine(because: &Reason<EngineObstacle>) -> String;
    /// What the value of an option has to fulfil.
    pub fn value_rule(rule: ValueRule) -> String;

    // statistics
    /// A reason why an interval may be too narrow.
    pub(crate) fn interval_caveat(caveat: IntervalCaveat) -> &'static str;
    /// Reasons in parentheses after an interval, with the blank before them.
    pub(crate) fn after_interval(caveats: &str) -> String;
    /// Explanation of the remarks after an interval.
    pub(crate) fn intervals() -> &'static str;
    /// A number of calls of `fsync`.
    pub(crate) fn calls(n: u64) -> String;
    /// Name of one of several series that differ in nothing.
    pub(crate) fn nth_series(n: usize) -> String;

    // campaign
    /// A weakness of the design as a sentence.
    pub fn weakness(weakness: &Weakness) -> String;
    /// Text in place of the names of many cards and layers.
    pub(crate) fn some_of(n: usize, of: usize) -> String;
    /// A requirement or weakness of a planned campaign.
    pub fn plan_note(note: &PlanNote) -> String;

    /// The title of a line about the method of a campaign.
    pub fn method_head(title: MethodTitle<'_>) -> String;
    /// The number of repeats: `10 times`.
    pub fn repeats(repeats: RepeatsMethod) -> String;
    /// The number of repeats of each point.
    pub fn each_point(repeats: RepeatsMethod) -> String;
    /// The order of the points of a card.
    pub fn point_order(order: PointOrder) -> &'static str;
    /// The order of the cards.
    pub fn card_order(order: CardOrder) -> &'static str;
    /// The preparation before the measurements.
    pub fn preparation_method(steps: &[PreparationMethod]) -> String;
    /// The properties of a layer.
    pub fn layer_method(parts: &[LayerMethod<'_>]) -> String;
    /// The recheck of the first card, with the ratios of its figures to those before.
    pub fn recheck_method(of: &RecheckMethod<'_>, ratios: &[String]) -> String;

    // charts
    /// What a chart shows, as its title.
    pub(crate) fn chart_title(title: &ChartTitle) -> String;
    /// Subtitle of a bar chart: the quantity, and what its marks mean.
    pub(crate) fn bars_note(quantity: &str, runs: &str, marks: BarMarks) -> String;
    /// Number of runs behind each bar: `10 runs`, `2 to 10 runs`; empty if unknown.
    pub(crate) fn runs_between(least: u64, most: u64) -> String;
    /// Where the figures of a series come from: program and version, or published file; empty if unknown.
    pub(crate) fn origin(origin: &SummaryOrigin) -> String;
    /// The disks that an imported result has counters of.
    pub(crate) fn disks_of_result(disks: &str) -> String;
    /// Source line of a chart: number of runs, conditions, origin, days.
    pub(crate) fn simulated_source() -> &'static str;
    /// Source line of a chart.
    pub(crate) fn chart_source_line(runs: &str, conditions: &[String], origin: &[String], days: &str) -> String;
    /// Subtitle of a latency chart.
    pub(crate) fn latency_note() -> &'static str;
    /// As [`latency_note`], with a line for each run.
    pub(crate) fn latency_by_run_note() -> &'static str;
    /// A run of a series: `ext4, run 2`.
    pub(crate) fn run_of_series(name: &str, run: usize) -> String;
    /// Subtitle of a heat map of latency over time; `slow` is the latency from which I/Os are slow.
    pub(crate) fn heat_note(runs: u64, slow: Option<&str>) -> String;
    /// Shares of the I/Os in the legend of a heat map, smallest first.
    pub(crate) fn heat_shares() -> [&'static str; 5];
    /// Latencies from this one on.
    pub(crate) fn latency_from(latency: &str) -> String;
    /// Heads of the table of a heat map: time, I/Os, median, longest.
    pub(crate) fn heat_heads() -> [&'static str; 4];
    /// The summary line of the collapsed heat maps.
    pub(crate) fn heat_maps() -> &'static str;
    /// Subtitle of a chart over time: how many runs are drawn, what the horizontal axis is, and whether a short last
    /// interval is left out.
    pub(crate) fn over_time_note(drawn: usize, of: usize, single: bool, median: bool, by_bytes: bool, shortened: bool) -> String;
    /// Label of the speed before or after a permanent drop.
    pub(crate) fn level(value: &str) -> String;
    /// Name of the median of several runs.
    pub(crate) fn median_of_runs() -> &'static str;
    /// Column of the median, lowest or highest value at each moment; `series` if there are several.
    pub(crate) fn run_order(series: Option<&str>, of: RunOrder) -> String;
    /// Label of the horizontal axis of a sweep.
    pub(crate) fn sweep_axis(axis: SweepAxis) -> &'static str;
    /// A value of a sweep: with its unit if it stands alone.
    pub(crate) fn sweep_value(axis: SweepAxis, value: f64, alone: bool) -> String;
    /// Subtitle of a sweep.
    pub(crate) fn sweep_note(quantity: &str, runs: &str, spread: bool) -> String;
    /// Quantity of a chart of rated speeds.
    pub(crate) fn rated_quantity() -> &'static str;
    /// Kind of a workload: `Random writes`, `Random reads of a 70/30 mix`.
    pub(crate) fn workload_kind(op: Op, random: bool, read_percent: u32, synced: bool) -> String;
    /// The P99 latency of a kind of workload.
    pub(crate) fn p99_of(kind: &str) -> String;
    /// Subtitle of a chart of what a layer leaves of the speed of another.
    pub(crate) fn layer_cost_note(layer: &str, reference: &str) -> String;
    /// Subtitle of a chart of the ratios of a comparison.
    pub(crate) fn ratio_note(a: &str, b: &str, tested: bool) -> String;
    /// Quantity of a chart of I/O amplification.
    pub(crate) fn amplification_quantity(workload: &str) -> String;
    /// Whether a difference is shown, in a table.
    /// Text in place of a bar without a value.
    pub(crate) fn no_bar() -> &'static str;
    /// Label of the axis of percentiles.
    pub(crate) fn axis_percentile() -> &'static str;
    /// Label of the axis of time.
    pub(crate) fn axis_seconds() -> &'static str;
    /// Label of the axis of bytes written, in this unit.
    pub(crate) fn axis_written(unit: &str) -> String;
    /// Name of the bandwidth in a subtitle.
    pub(crate) fn bandwidth_name() -> &'static str;
    /// Name of the completions per second in a subtitle.
    pub(crate) fn iops_name() -> &'static str;
    /// Subject of a latency chart of small I/Os.
    pub(crate) fn small_latency() -> &'static str;
    /// Subject of a latency chart of large I/Os.
    pub(crate) fn large_latency() -> &'static str;
    /// Subject of a latency chart of fsync; the phase may be empty.
    pub(crate) fn fsync_latency(phase: &str) -> String;
    /// Name of the writes of a phase whose syncs are shown apart.
    pub(crate) fn without_fsync(phase: &str) -> String;
    /// Subject of a latency chart of a phase.
    pub(crate) fn phase_latency(phase: &str) -> String;
    /// A permanent drop of speed at its place.
    pub(crate) fn drop_mark(before: &str, after: &str, at: &str) -> String;
    /// A sentence that only some of the cards are drawn; begins with a separator.
    pub(crate) fn cards_drawn(drawn: usize, of: usize) -> String;
    /// Part of the subtitle of a chart that draws the highest and the lowest bars only.
    pub(crate) fn extremes_drawn(drawn: usize, of: usize) -> String;
    /// Label in the place of the bars between the highest and the lowest ones.
    pub(crate) fn groups_between(n: usize) -> String;
    /// Name of a run of a series, from 1.
    pub(crate) fn run_number(run: usize) -> String;

    // claims
    /// A claim as printed on a card: `C10`, `U3`, `V30`, `A1`, `read up to 100 MB/s`.
    pub(crate) fn claim(claim: Claim) -> String;
    /// The test condition that was not met.
    pub fn condition(condition: &Condition) -> String;
    /// Name of a figure used by criteria and claims.
    pub fn figure(figure: Figure) -> &'static str;

    // conclusion
    /// Title of the conclusion of a comparison of two sides.
    pub(crate) fn conclusion_of_pair() -> &'static str;
    /// A side of a comparison whose runs come from several sessions.
    pub(crate) fn pools_sessions(name: &str, sessions: u32) -> String;
    /// The conclusion of a comparison; `names` are the names of both sides.
    pub(crate) fn pair_conclusion(conclusion: &PairConclusion, names: (&str, &str)) -> String;

    // ranks
    /// The best card for a use as a sentence.
    pub(crate) fn best_card(best: &BestCard<'_>) -> String;
    /// Text for a use for which no card has a rank.
    pub(crate) fn no_best_card() -> String;
    /// Heads of the table of one use.
    pub(crate) fn use_ranking_heads() -> [&'static str; 5];
    /// Head of the column of prices.
    pub(crate) fn price_head() -> &'static str;
    /// An amount of money: `1,480 JPY`.
    pub fn price(price: &Price) -> String;
    /// Head of a figure per unit of money: `sequential read, MB/s per 1,000 JPY`.
    pub(crate) fn per_money(of: Figure, per: &Price) -> String;
    /// Title of the tables of speed per unit of money.
    pub(crate) fn money_title() -> &'static str;
    /// Explanation of these tables.
    pub(crate) fn money_legend() -> String;
    /// Title of the best cards.
    pub(crate) fn best_title() -> String;
    /// Explanation of ranks for uses.
    pub(crate) fn use_ranks_legend() -> String;
    /// Cards that a limit of the price leaves out.
    pub fn left_out_by_price(cards: &[String], limit: &Price) -> String;
    /// Title of a ranking of cards.
    pub(crate) fn ranking_title(cards: usize) -> String;

    // answers
    /// The proven winners of a campaign, the largest difference first.
    pub(crate) fn fastest_cards(cards: usize, wins: &[FastestCard<'_>]) -> String;
    /// One card is proven to be the fastest in all workloads: of how many cards, in how many workloads.
    pub(crate) fn fastest_in_all(of: &FastestCard<'_>, counts: (usize, usize)) -> String;
    /// No card is proven to be the fastest.
    pub(crate) fn no_fastest_card(workload: &str, cards: &[&str], runs: u64) -> String;
    /// No two cards differ significantly in any workload.
    pub(crate) fn no_card_differs(cards: usize) -> String;
    /// The highest figure of cards that were measured once.
    pub(crate) fn highest_of_single_runs(first: &FastestCard<'_>, cards: usize) -> String;
    /// The highest mean of several series, which were not tested.
    pub(crate) fn highest_of_series(first: &FastestCard<'_>, series: usize) -> String;
    /// The figures of a page with several series were not tested for significance.
    pub(crate) fn series_not_tested() -> &'static str;
    /// A layer makes every card slower; `percent` is less than each loss.
    pub(crate) fn layer_costs_all(layer: &str, workload: &str, percent: (&str, &str)) -> String;
    /// The smallest and the largest share of the rated speeds, in percent.
    pub(crate) fn rated_reached(shares: &[RatedShare]) -> String;
    /// A layer makes the only card slower.
    pub(crate) fn layer_costs_card(card: &str, layer: &str, workload: &str, percent: &str) -> String;
    /// How many pairs of cards differ, and how that was tested.
    pub(crate) fn pairs_proven(different: usize, of: usize, family: u32) -> String;
    /// All cards reach the limit of the host.
    pub(crate) fn host_limits(workload: &str, value: &str, cards: usize) -> String;
    /// What a card is good for.
    pub(crate) fn suited(good: Option<&UseAnswer>, bad: Option<&UseAnswer>) -> Option<String>;
    /// Figures of a run without a verdict.
    pub(crate) fn reached(figures: &[(String, String)]) -> String;
    /// A lasting drop of speed.
    pub(crate) fn writes_fall(workload: &str, before: BytesPerSec, after: BytesPerSec, at: Bytes) -> String;
    /// A caveat that makes the figures unusable.
    pub(crate) fn do_not_quote(because: &str) -> String;
    /// Number of runs, and the largest standard deviation as a share of the mean.
    pub(crate) fn runs_agree(runs: u64, percent: &str) -> String;
    /// Number of runs without a deviation.
    pub(crate) fn runs_only(runs: u64) -> String;
    /// A single run.
    pub(crate) fn measured_once() -> &'static str;
    /// The position of a figure among reference results.
    pub(crate) fn among_references(workload: &str, standing: &str) -> String;
    /// The largest proven difference, and the largest one in the other direction.
    pub(crate) fn proven_difference(first: &PairAnswer<'_>, other: Option<&PairAnswer<'_>>) -> String;
    /// No difference is proven; `needed` runs each would prove the largest one.
    pub(crate) fn no_difference_proven(workload: &str, ratio: &str, interval: Option<&(String, String)>, needed: Option<u32>) -> String;
    /// All figures are equivalent.
    pub(crate) fn all_level(a: &str, b: &str) -> String;
    /// Both sides were measured once.
    pub(crate) fn compared_once(workload: &str, faster: &str, ratio: &str) -> String;
    /// Number of proven, level and open figures of a comparison.
    pub(crate) fn figures_proven(different: usize, level: usize, open: usize) -> String;

    // pages
    /// The heading of a part.
    pub(crate) fn page_part(part: PagePart) -> &'static str;
    /// The title of a comparison of several sets of results.
    pub(crate) fn comparison_of(names: &str) -> String;
    /// The name of the list of contents for screen readers.
    pub(crate) fn contents() -> &'static str;
    /// The heading of the worst caveats.
    pub(crate) fn before_you_quote() -> &'static str;
    /// A link to the caveats that a first screen omits.
    pub(crate) fn more_caveats(n: usize, of: &str) -> String;
    /// The heading of the fastest cards.
    pub(crate) fn fastest_for(layer: Option<&str>) -> String;
    /// In place of the fastest card.
    pub(crate) fn undecided() -> &'static str;
    /// In place of the fastest card, where the host limits all.
    pub(crate) fn limited_by_host() -> &'static str;
    /// Instead of a ranking: all cards reach about the same, perhaps because of the host.
    pub(crate) fn perhaps_limited_by_host() -> &'static str;
    /// The key of a matrix.
    pub(crate) fn matrix_key(letters: bool, by: Option<&str>) -> String;
    /// This many verdicts on uses are those of another layer.
    pub(crate) fn uses_as_through(n: usize, layer: &str) -> String;
    /// The key of the matrix of a comparison.
    pub(crate) fn comparison_key(names: (&str, &str), marks: ComparisonMarks) -> String;
    /// Hidden text of a framed figure.
    pub(crate) fn not_slower() -> &'static str;
    /// Hidden text before letters.
    pub(crate) fn group() -> &'static str;
    /// What the figures of a matrix are.
    pub(crate) fn matrix_about(runs: Option<u64>) -> String;
    /// The summary line of the rows or tables that a page collapses.
    pub(crate) fn show_more_cards(n: usize) -> String;
    /// Heading of the cards in a table.
    pub(crate) fn card_column() -> &'static str;
    /// Heading of the series in a table.
    pub(crate) fn series_column() -> &'static str;
    /// Column of the layers of a card.
    pub(crate) fn layer_column() -> &'static str;
    /// Any layer, as the subject of a note.
    pub(crate) fn each_layer() -> &'static str;
    /// Explanation of the cost of layers that were measured once.
    pub(crate) fn layer_cost_once(reference: &str) -> String;
    /// The layer with the highest figure on a card; `first` has the layer as its card.
    pub(crate) fn highest_of_layers(first: &FastestCard<'_>, layers: usize, card: &str) -> String;
    /// Layers are compared with the reference layer only.
    pub(crate) fn layers_not_tested() -> &'static str;
    /// A layer inside a sentence: `the raw device`.
    pub(crate) fn layer_in_text(name: &str) -> String;
    /// A name with the layer that it is about: `random writes, raw device`.
    pub(crate) fn of_layer(name: &str, layer: &str) -> String;
    /// A layer in a caption.
    pub(crate) fn layer(name: &str) -> String;
    /// A kind of workload as the name of a row.
    pub(crate) fn row_kind(kind: WorkloadKind) -> &'static str;
    /// A workload as a plural noun.
    pub(crate) fn workload(kind: WorkloadKind, op: Op) -> &'static str;
    /// A workload with its block size.
    pub(crate) fn workload_of_size(noun: &str, block: &str) -> String;
    /// The name of a workload of hakaru's own inside a sentence; other names stay.
    pub(crate) fn within_sentence(name: &str) -> String;
    /// One of several workloads of the same name.
    pub(crate) fn workload_numbered(noun: &str, number: u32) -> String;
    /// A workload with the name that the user gave to its job.
    pub(crate) fn workload_named(noun: &str, name: &str) -> String;
    /// The shape of a row of durable writes.
    pub(crate) fn durable_shape(block: &str) -> String;
    /// The shape of a row of sustained writes.
    pub(crate) fn sustained_shape(block: &str, time: Nanos) -> String;
    /// The 99th percentile of the latency.
    pub(crate) fn p99(value: Nanos) -> String;
    /// The 99th percentile of `fsync`.
    pub(crate) fn fsync_p99(value: Nanos) -> String;
    /// The number of runs of a rate card.
    pub(crate) fn card_runs(runs: usize) -> String;
    /// Head of a rate card: row, reads, writes.
    pub(crate) fn rate_card_head() -> [&'static str; 3];
    /// The key of a rate card.
    pub(crate) fn card_key() -> &'static str;
    /// The summary line of the rows of a rate card that a page collapses.
    pub(crate) fn more_rows(n: usize) -> String;
    /// In place of a figure that a workload does not have.
    pub(crate) fn not_measured_here() -> &'static str;
    /// The summary line of a table below its charts.
    pub(crate) fn every_figure() -> &'static str;
    /// The summary line of the figures of each workload on both sides: means, percentiles, totals, extremes.
    pub(crate) fn figures_of_workloads() -> &'static str;
    /// The summary line of the table of all runs.
    pub(crate) fn every_run() -> &'static str;
    /// The summary line of the figures of one series.
    pub(crate) fn every_figure_of(series: &str) -> String;
    /// The summary line of the environment.
    pub(crate) fn environment() -> &'static str;
    /// The summary line of the environment of one of several series.
    pub(crate) fn environment_of(name: &str) -> String;
    /// A reference to the chart of the first screen.
    pub(crate) fn shown_first(chart: &str) -> String;
    /// In place of an empty report.
    pub(crate) fn nothing_to_report() -> &'static str;
    /// In place of an empty campaign.
    pub(crate) fn nothing_counts() -> &'static str;
    /// The summary line of a chart's data.
    pub(crate) fn chart_data() -> &'static str;
    /// Sections without data.
    pub(crate) fn not_on_page(sections: &[&str]) -> String;
    /// Heading of the workloads of pairs.
    pub(crate) fn pairs_head() -> [&'static str; 3];
    /// Number of proven pairs.
    pub(crate) fn proven_of(n: usize, of: usize) -> String;
    /// In place of the pairs that are not proven.
    pub(crate) fn all_pairs_proven() -> &'static str;
    /// In place of the pairs, none of which is proven.
    pub(crate) fn no_pair_proven() -> &'static str;
    /// Number of pairs, in place of too many names.
    pub(crate) fn pairs_counted(n: usize) -> String;
    /// The summary line of the ratios of a workload.
    pub(crate) fn ratios_of(workload: &str) -> String;
    /// How to read the figures of a layer next to those of the reference layer.
    pub(crate) fn layer_cost_about(reference: &str) -> String;
    /// The name of a fact about a card in the file of a campaign; names of the user stay.
    pub(crate) fn card_fact(name: &str) -> String;
    /// A layer in the narrow heading of a column.
    pub(crate) fn layer_in_brief(name: &str) -> String;
    /// A card that is the fastest in some workloads and reaches a small share of the best in others.
    pub(crate) fn fast_and_slow(card: &str, won: &[&str], behind: &[(&str, String)]) -> String;
    /// That ratings of a raw device are bounds for programs that use files.
    pub(crate) fn rated_through(layer: &str, impossible: bool) -> String;
    /// Words for a framed cell of two compared sides.
    pub(crate) fn proven_better() -> &'static str;
    /// Title of a campaign on simulated cards.
    pub(crate) fn of_simulated_cards(name: &str) -> String;
    /// That runs differ much more through a layer than through the reference: both names and largest deviations in percent.
    pub(crate) fn spread_through_layer(work: &str, through: (&str, &str), reference: (&str, &str), cards: (u64, u64)) -> String;
    /// What would explain the cost of a layer.
    pub(crate) fn cost_unexplained(on_vfat: bool) -> String;
    /// A start time whose time zone was assumed.
    pub(crate) fn zone_assumed(time: &str) -> String;
    /// How much a layer changes each workload, over all cards: `vfat against the raw device: …`.
    pub(crate) fn layer_changes(caption: &str, changes: &[String]) -> String;
    /// Caption of the figures of a layer next to those of the reference layer.
    pub(crate) fn layer_cost_caption(layer: &str, reference: &str) -> String;
    /// The summary line of the charts over time of workloads that were not tested for steady speed.
    pub(crate) fn charts_of_even_phases() -> &'static str;
    /// The summary line of reasons.
    pub(crate) fn why() -> &'static str;
    /// The caption of the figures of several series.
    pub(crate) fn series_side_by_side() -> &'static str;
    /// The caption of the claimed classes.
    pub(crate) fn claimed_classes() -> &'static str;
    /// The summary line of the tables of further layers.
    pub(crate) fn other_layers() -> &'static str;
    /// The summary line of the method of a campaign.
    pub(crate) fn method_title() -> &'static str;
    /// The summary line of an explanation.
    pub(crate) fn how_to_read() -> &'static str;
    /// The summary line of the charts of a section that shows none.
    pub(crate) fn charts_counted(n: usize) -> String;
    /// The summary line of the charts that a section collapses below others.
    pub(crate) fn more_charts(n: usize) -> String;
    /// A line about the charts that a page leaves out.
    pub(crate) fn charts_left_out(n: usize) -> String;
    /// The summary line of the rated speeds and the measured ones.
    pub(crate) fn rated_speeds() -> &'static str;
    /// Explanation of the tables of a campaign; `reference` is the layer that others are compared with.
    pub(crate) fn results_about(reference: Option<&str>) -> String;
    /// Explanation of the comparisons of cards.
    pub(crate) fn differences_about(reference: &str) -> String;
    /// The summary line of statistical tests.
    pub(crate) fn tests() -> &'static str;

    // summary
    /// Explanation of the figures of a page.
    pub(crate) fn method() -> &'static str;
    /// A single card with its figure.
    pub(crate) fn only_card(card: &str, value: &str) -> String;
    /// Cards that all reach the limit of the host bus.
    pub(crate) fn host_bound(cards: usize, low: &str, high: &str, unit: &str) -> String;
    /// Cards without a significant difference.
    pub(crate) fn no_difference(low: &str, high: &str, unit: &str) -> String;
    /// The fastest and the slowest card, and the significance of the difference.
    pub(crate) fn fastest(first: &Ranked<'_>, last: &Ranked<'_>, times: Option<&str>, sure: &str) -> String;
    /// Number of significantly different pairs of cards. `same` contains the other pairs, unless there are too many.
    pub(crate) fn pairs(of: usize, different: usize, same: Option<&[(&str, &str)]>) -> String;
    /// Performance of a layer relative to the reference: ratio, workload, and number of cards for each workload.
    pub(crate) fn layer_cost(layer: &str, reference: &str, parts: &[(String, &str, LayerEffect)]) -> String;
    /// Number of met claims, and the share of the rated speeds that was reached.
    pub(crate) fn claims_in_short(of: usize, counts: &[(ClaimVerdict, usize)], shares: &[(Op, String)]) -> String;

    // verdicts
    /// A verdict on a use: "probably" if single runs have no interval, "inconclusive" if an interval crosses a limit.
    pub(crate) fn advice(verdict: AdviceVerdict) -> &'static str;
    /// A use of which some figures are missing, and none of the measured ones excludes it: the best possible verdict.
    /// The reason why a file system cannot serve a use.
    pub(crate) fn no_permissions(file_system: &str) -> String;
    pub(crate) fn incomplete_advice(at_best: Option<Fitness>, missing: usize) -> String;
    /// Title of a use; titles of the user's own rules are kept.
    pub(crate) fn use_title(id: &str, title: &str) -> String;
    /// Reasons for a verdict, one after another.
    pub(crate) fn reasons(parts: &[String]) -> String;
    /// The deciding figure and its limits.
    pub(crate) fn decision(decision: &Decision) -> String;
    /// The figure that decides a verdict, without its limits: `random read 3,790 IOPS`.
    pub(crate) fn deciding_figure(decision: &Decision) -> String;
    /// Figures that a verdict needs but no phase measured; `beside` is whether others were measured.
    pub(crate) fn not_measured(missing: &[Figure], beside: bool) -> String;
    /// A verdict on a claim.
    pub(crate) fn claim_verdict(verdict: ClaimVerdict) -> &'static str;
    /// A figure of a claim with its rated value.
    pub(crate) fn claim_part(part: &ClaimPart, verdict: ClaimVerdict) -> String;
    /// The bottleneck of the throughput.
    pub(crate) fn bottleneck(limit: Bottleneck) -> &'static str;
    /// The reason, and what would help.
    pub(crate) fn limit(found: &BusLimit) -> String;
    /// The direction of a bottleneck, and its cards unless it concerns all.
    pub(crate) fn sequential(op: Op, cards: &[&str]) -> String;
    /// How a figure compares with the references.
    pub(crate) fn standing_verdict(found: &ReferenceStanding) -> String;
    /// The figure, those of the references, and their source.
    pub(crate) fn standing(found: &ReferenceStanding) -> String;
    /// The title of a section of conclusions.
    pub(crate) fn conclusion_title(kind: ConclusionKind) -> &'static str;
    /// Heading of the first column of its table.
    pub(crate) fn conclusion_about(kind: ConclusionKind) -> &'static str;
    /// Legend of the symbols of [`advice`].
    pub(crate) fn fitness_legend(impossible: bool) -> String;
    /// Instead of verdicts on uses that are all open.
    pub(crate) fn no_use_judged(crossed: bool) -> &'static str;
    /// Legend of the symbols of [`claim_verdict`].
    pub(crate) fn claim_legend(not_measured: bool) -> String;
}
