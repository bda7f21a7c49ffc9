//! Every text, once: its signature, and the choice of the language.
//!
//! To add a text, add its line here, and a function of the same name to a file of `en` and to one of `ja`. A text that
//! one of them lacks does not compile.

use super::values::*;
use super::{HealthCounter, Language, en, ja, language};
use crate::chart::{BarMarks, ChartTitle, SweepAxis};
use crate::facts::{FactGroup, FactKey};
use crate::findings::ConclusionKind;
use crate::number::MeanText;
use crate::path::cards::CostColumn;
use crate::workload::WorkloadKind;
use hakaru_model::advice::{AdviceVerdict, Decision};
use hakaru_model::campaign::{FillContent, PlanNote, StepKind, Weakness};
use hakaru_model::conclusion::PairConclusion;
use hakaru_model::facts::{Bus, DeviceIdentity, LinkRole};
use hakaru_model::finding::{
    Bottleneck, BusLimit, Claim, ClaimPart, ClaimVerdict, Condition, Figure, FindingKind,
    IntervalCaveat, Sustained,
};
use hakaru_model::history::{HistoryCaveat, MissingProof, Outlook, Trend, WearSign};
use hakaru_model::integrity::{BlockState, Scope, Verification};
use hakaru_model::io_path::{
    ClassGroup, DifferencePart, IoClass, IssuerKind, LayoutGap, NoTraceCost, OperationDifference,
    PathFigure, PathLimit, PathRefusal, PriceRefusal, TimeDifference, TimePart,
};
use hakaru_model::job::Op;
use hakaru_model::lint::LintWarning;
use hakaru_model::price::Price;
use hakaru_model::record::IoError;
use hakaru_model::references::ReferenceStanding;
use hakaru_model::units::{Bytes, BytesPerSec, Nanos};

/// Defines functions that call the function of the same name in the language of the thread.
macro_rules! texts {
    ($($(#[$meta:meta])* $vis:vis fn $name:ident($($arg:ident: $type:ty),* $(,)?) -> $out:ty;)*) => {
        $(
            $(#[$meta])*
            $vis fn $name($($arg: $type),*) -> $out {
                match language() {
                    Language::English => en::$name($($arg),*),
                    Language::Japanese => ja::$name($($arg),*),
                }
            }
        )*
    };
}

texts! {
    // commands
    /// A refusal.
    pub fn refused(what: &str) -> String;
    /// A refusal to erase a device without permission.
    pub fn would_erase_all(device: &str) -> String;
    /// Prompt for the name of a device.
    pub fn type_to_erase(name: &str) -> String;
    /// Advice to pass one of several options.
    pub fn pass_one_of(options: &[String]) -> String;
    /// Advice for a device without an ID.
    pub fn erase_without_id(name: &str) -> String;
    /// The content of a device, one line for each item.
    pub fn losses(path: &str, lines: &[String]) -> String;
    /// A device that would be erased.
    pub fn erase_target(of: &EraseTarget<'_>) -> String;
    /// End of a dry run.
    pub fn nothing_done() -> &'static str;
    /// Start of a dry run.
    pub fn would_run(workloads: &[&str]) -> String;
    /// Start of a benchmark.
    pub fn measuring(name: &str, place: BenchPlace<'_>, size: Bytes) -> String;
    /// Extent of a benchmark.
    pub fn bench_rounds(rounds: u64, traced: bool, workloads: u64, time: Nanos) -> String;
    /// Bytes that a benchmark writes at a given speed of writes.
    pub fn bench_writes(written: Bytes, speed: BytesPerSec) -> String;
    /// Where the report is.
    pub fn report_at(path: &str) -> String;
    /// Progress: a round.
    pub fn round_of(number: u32, of: u32) -> String;
    /// Progress: the traced round.
    pub fn traced_round() -> &'static str;
    /// Progress: the ramp time.
    pub fn in_ramp() -> &'static str;
    /// Progress: the remaining time.
    pub fn time_left(time: &str) -> String;
    /// Progress: laying out the test file.
    pub fn laying_out() -> &'static str;
    /// Progress: bytes of a total.
    pub fn done_of(done: Bytes, total: Bytes) -> String;
    /// A note about interrupted runs.
    pub fn runs_interrupted(count: u64) -> String;
    /// A list without entries; `empty` is whether the database has none.
    pub fn nothing_listed(empty: bool) -> &'static str;
    /// A failure whose partial results are kept.
    pub fn partial_results_kept(error: &str) -> String;
    /// Dry run of a verification of a device.
    pub fn would_verify(samples: Option<Bytes>, restores: bool) -> String;
    /// Dry run of a verification of free space.
    pub fn would_fill_free_space(taken: Bytes, free: Bytes) -> String;
    /// Free space that others used up during a verification.
    pub fn free_space_taken(room: Bytes, announced: Bytes) -> String;
    /// Usage errors of `verify`.
    pub fn verify_usage(error: &VerifyUsage<'_>) -> String;
    /// What failed, as the context of an error.
    pub fn cannot(what: &Attempt<'_>) -> String;

    // messages
    /// The prefix of a line of a message.
    pub fn prefix(prefix: MessagePrefix) -> &'static str;

    // scopes
    /// Text in place of the names if a finding concerns every phase.
    pub(crate) fn all_phases() -> &'static str;
    /// A range of figures: `1.2 s to 3.4 s`; a single figure if both are equal.
    pub(crate) fn span(low: &str, high: &str) -> String;

    // findings
    /// A finding as a sentence, without its scope.
    pub(crate) fn kind(kind: &FindingKind) -> String;

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

    // charts
    /// What a chart shows, as its title.
    pub(crate) fn chart_title(title: &ChartTitle) -> String;
    /// Subtitle of a bar chart: the quantity, and what its marks mean.
    pub(crate) fn bars_note(quantity: &str, runs: &str, marks: BarMarks) -> String;
    /// Number of runs behind each bar: `10 runs`, `2 to 10 runs`; empty if unknown.
    pub(crate) fn runs_between(least: u64, most: u64) -> String;
    /// Source line of a chart: number of runs, conditions, origin, days.
    pub(crate) fn chart_source_line(runs: &str, conditions: &[String], origin: &[String], days: &str) -> String;
    /// Subtitle of a latency chart.
    pub(crate) fn latency_note() -> &'static str;
    /// Subtitle of a chart over time: how many runs are drawn, and what the horizontal axis is.
    pub(crate) fn over_time_note(drawn: usize, of: usize, single: bool, median: bool, by_bytes: bool) -> String;
    /// Label of the speed before or after a permanent drop.
    pub(crate) fn level(value: &str) -> String;
    /// Name of the median of several runs.
    pub(crate) fn median_of_runs() -> &'static str;
    /// Label of the horizontal axis of a sweep.
    pub(crate) fn sweep_axis(axis: SweepAxis) -> &'static str;
    /// A value of a sweep: with its unit if it stands alone.
    pub(crate) fn sweep_value(axis: SweepAxis, value: f64, alone: bool) -> String;
    /// Subtitle of a sweep.
    pub(crate) fn sweep_note(quantity: &str, runs: &str, spread: bool) -> String;
    /// Kind of a workload: `Random writes`, `Random reads of a 70/30 mix`.
    pub(crate) fn workload_kind(op: Op, random: bool, read_percent: u32, synced: bool) -> String;
    /// The P99 latency of a kind of workload.
    pub(crate) fn p99_of(kind: &str) -> String;
    /// Subtitle of a chart of what a layer leaves of the speed of another.
    pub(crate) fn layer_cost_note(layer: &str, reference: &str) -> String;
    /// Subtitle of a chart of the ratios of a comparison.
    pub(crate) fn ratio_note(a: &str, b: &str) -> String;
    /// Quantity of a chart of I/O amplification.
    pub(crate) fn amplification_quantity(workload: &str) -> String;
    /// Whether a difference is shown, in a table.
    pub(crate) fn differs(differs: bool) -> &'static str;
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
    /// Subject of a latency chart of a phase.
    pub(crate) fn phase_latency(phase: &str) -> String;
    /// A permanent drop of speed at its place.
    pub(crate) fn drop_mark(before: &str, after: &str, at: &str) -> String;
    /// A sentence that only some of the cards are drawn; begins with a separator.
    pub(crate) fn cards_drawn(drawn: usize, of: usize) -> String;
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
    /// The conclusion of a comparison; `names` are the names of both sides.
    pub(crate) fn pair_conclusion(conclusion: &PairConclusion, names: (&str, &str)) -> String;

    // facts
    /// Label of a line.
    pub(crate) fn fact_name(key: FactKey) -> &'static str;
    /// Label of a line about the host, below the title of the host.
    pub(crate) fn fact_of_host(key: FactKey) -> &'static str;
    /// Label of a line of the short form.
    pub(crate) fn fact_group(group: FactGroup) -> &'static str;
    /// A value in the short form, with a prefix if the value alone would be unclear.
    pub(crate) fn fact_in_brief(key: FactKey, value: &str) -> String;
    /// Text for a class that a card does not claim.
    pub(crate) fn none_claimed() -> &'static str;
    /// Role of a device in a device chain.
    pub(crate) fn chain_role(role: &LinkRole) -> String;
    /// A device and all devices below it, down to the bus.
    pub(crate) fn chain(device: &DeviceIdentity) -> Vec<String>;
    /// Text for a value that is unknown for a reason.
    pub(crate) fn unknown(because: &str) -> String;
    /// Tool overhead per I/O, and as percent of the shortest median latency.
    pub(crate) fn overhead(per_io: &str, percent_of_median: Option<&str>) -> String;
    /// A mounted file system with its size.
    pub(crate) fn with_space(mounted: &str, size: Bytes, free: Bytes) -> String;
    /// Size and free space of a file system.
    pub(crate) fn space(size: Bytes, free: Bytes) -> String;
    /// Type, mount point and source of a file system; the latter two may be empty.
    pub(crate) fn mounted(fs_type: &str, at: &str, source: &str) -> String;
    /// Sizes of the logical and the physical block in bytes.
    pub(crate) fn block_sizes(logical: u64, physical: u64) -> String;
    /// Width of a bus.
    pub(crate) fn bus_width(bits: u32) -> String;
    /// Kind of a bus.
    pub(crate) fn bus_kind(bus: &Bus) -> String;
    /// A processor with its number of online cores.
    pub(crate) fn processors(cpu: &str, online: u32) -> String;
    /// Share of the time in which tasks waited for I/O.
    pub(crate) fn io_pressure(percent: &str) -> String;
    /// Reasons for throttling of a Raspberry Pi, as sets of four bits.
    pub(crate) fn throttled(now: u32, since_start: u32) -> String;
    /// Variation of a long write.
    pub(crate) fn sustained(found: &Sustained) -> String;
    /// I/O amplification of a phase.
    pub(crate) fn device_moved(op: Op, ratio: &MeanText) -> String;
    /// Bytes written to lay out files.
    pub(crate) fn laid_out(bytes: Bytes) -> String;
    /// A long time in minutes and hours: `2 min 56 s`.
    pub(crate) fn duration(time: Nanos) -> String;
    /// A number of runs.
    pub(crate) fn runs(n: u64) -> String;
    /// Headline of a series: `standard on SanDisk SD32G, ext4`.
    pub(crate) fn scenario_on(scenario: &str, target: &str) -> String;

    // devices
    /// Items of one line, separated by commas.
    pub(crate) fn enumerated(items: &[impl AsRef<str>]) -> String;
    /// A size in binary and decimal units and in bytes.
    pub(crate) fn size_in_bytes(size: Bytes, decimal: &str) -> String;
    /// A health counter in percent.
    pub(crate) fn health_share(percent: u64, of: HealthCounter) -> String;
    /// A health counter.
    pub(crate) fn health_count(value: &str, of: HealthCounter) -> String;
    /// Maximum number of queued requests.
    pub(crate) fn queue_length(requests: u32) -> String;
    /// Discard is supported in units of a size.
    pub(crate) fn discard_in_units(unit: Bytes) -> String;
    /// Negotiated speed of USB.
    pub(crate) fn negotiated(mbps: u64) -> String;
    /// The limit of a bus in MB/s.
    pub(crate) fn ceiling(megabytes: &str) -> String;
    /// Title of the registers of a card; some may be given by hand.
    pub(crate) fn card_registers(by_hand: &[String]) -> String;
    /// What a class of sequential writes demands.
    pub(crate) fn class_demands(class: &str, megabytes: u32) -> String;
    /// What an Application Performance Class demands.
    pub(crate) fn application_class_demands(class: u32, reads: u32, writes: u32) -> String;
    /// The state of the spare blocks of an eMMC device.
    pub(crate) fn spare_blocks_run_out(state: &str) -> String;
    /// The host is or was throttled.
    pub(crate) fn host_slowed_down(throttled: &str) -> String;
    /// A claim in MB/s that the bus cannot reach.
    pub(crate) fn claim_out_of_reach(claimed: u32, most: &str) -> String;

    // failures
    /// The system's message for an error number.
    pub fn os_error(errno: i32) -> String;
    /// A failure as a sentence: `max_latency=10ms: read took 12.0 ms`, or
    /// `read of 4 KiB at byte 0 of f: Input/output error …`.
    pub fn failure(error: &IoError) -> String;

    // history
    /// Title of the history of a card.
    pub(crate) fn history_title(name: &str) -> String;
    /// Numbers of runs, series and verifications.
    pub(crate) fn history_counts(runs: u32, series: u32, verifications: usize) -> String;
    /// The conclusion on a card.
    pub(crate) fn outlook(outlook: Outlook) -> &'static str;
    /// What to do; empty if nothing.
    pub(crate) fn outlook_advice(outlook: Outlook) -> &'static str;
    /// Title of the signs of wear.
    pub(crate) fn signs_title() -> &'static str;
    /// Title of what would prove more.
    pub(crate) fn proofs_title() -> &'static str;
    /// Title of the trends.
    pub(crate) fn trends_title() -> &'static str;
    /// Title of the points of all trends.
    pub(crate) fn points_title() -> &'static str;
    /// Title of the verifications.
    pub(crate) fn verifications_title() -> &'static str;
    /// Explanation of the trends; `fewest` is the number of series that one needs.
    pub(crate) fn trends_note(fewest: usize) -> String;
    /// Heads of the table of trends.
    pub(crate) fn trend_heads() -> [&'static str; 6];
    /// Heads of the points of a trend in this unit.
    pub(crate) fn point_heads(unit: &str) -> [String; 5];
    /// Heads of the table of verifications.
    pub(crate) fn verified_heads() -> [&'static str; 4];
    /// Verdict on a trend with too few series.
    pub(crate) fn too_few_series(have: usize, needed: usize) -> String;
    /// A sign of wear as a sentence.
    pub fn wear_sign(sign: &WearSign, trends: &[Trend]) -> String;
    /// What would prove more.
    pub fn missing_proof(proof: MissingProof) -> String;
    /// Why points of a history may not be comparable.
    pub fn history_caveat(caveat: &HistoryCaveat) -> String;

    // layout
    /// What is not known about the layout of a file system.
    pub(crate) fn layout_gap(gap: &LayoutGap) -> String;

    // lint
    /// Describes the problem.
    pub fn lint(warning: &LintWarning) -> String;
    /// Advice; empty if the warning includes it.
    pub fn lint_help(warning: &LintWarning) -> String;

    // path
    /// Name of a class at the start of a line.
    pub(crate) fn io_class_title(class: IoClass) -> String;
    /// Name of a group of classes in a picture.
    pub(crate) fn class_group(group: ClassGroup) -> &'static str;
    /// Name of a part of the time in a chart; `journal` is whether the file system has one.
    pub(crate) fn time_part(part: TimePart, journal: bool) -> &'static str;
    /// Name of a part of a difference in a chart.
    pub(crate) fn difference_part(part: DifferencePart, journal: bool) -> String;
    /// Name of an operation of the application: `write with its fsync`.
    pub(crate) fn traced_operation(op: Option<Op>, with_sync: bool) -> String;
    /// `On ext4, each 4 KiB write became 3.0 requests and 13.5 KiB at the device: the data, the journal twice`
    pub(crate) fn became(of: &BecameText<'_>) -> String;
    /// Shares of the time by part, largest first, with the time as a whole.
    pub(crate) fn time_went(operation: &str, percentile: &str, parts: &[(TimePart, f64)], journal: bool) -> String;
    /// No cache flush reaches the device.
    pub(crate) fn no_flushes(disk: &str) -> String;
    /// Bytes at the device per byte of the application: a lower bound for the flash.
    pub(crate) fn host_amplification(op: Op, ratio: f64) -> String;
    /// Bios that were merged or split.
    pub(crate) fn merged_bios(merges: u64, bios: u64) -> String;
    /// Requests that are parts of larger bios.
    pub(crate) fn split_bios(splits: u64) -> String;
    /// Who else used the disk.
    pub(crate) fn other_issuers(kind: IssuerKind, bytes: Bytes, names: &[&str]) -> Option<String>;
    /// What the path of the I/Os says about a traced run in general.
    pub(crate) fn traced_run() -> &'static str;
    /// Events were lost.
    pub(crate) fn events_lost(share: f64, lost: u64, counted_events: u64) -> String;
    /// All events were recorded.
    pub(crate) fn events_complete(lost: u64, events: u64) -> String;
    /// Cost of tracing with its interval.
    pub(crate) fn trace_cost(mean: f64, margin: f64, pairs: u32) -> String;
    /// The cost of tracing is unknown.
    pub(crate) fn trace_cost_unknown(because: Option<NoTraceCost>) -> String;
    /// The threads of the run cannot be recognized.
    pub(crate) fn foreign_threads() -> &'static str;
    /// Recorded by ftrace.
    pub(crate) fn recorded_by_ftrace() -> &'static str;
    /// Requests were classified before the final layout was known.
    pub(crate) fn classified_early(requests: u64) -> String;
    /// Critical paths of the first operations only.
    pub(crate) fn operations_limited(operations: u64) -> String;
    /// Completions that were never seen, and requests without bios.
    pub(crate) fn unmatched(completions: u64, requests: u64) -> String;
    /// The sums of the classes differ from the counters of the disk.
    pub(crate) fn counters_differ(op: Op, traced: Bytes, counted_bytes: Bytes) -> String;
    /// There are only bios.
    pub(crate) fn bio_device(disk: &str) -> String;
    /// How the traffic of the slower side differs from that of the faster one.
    pub(crate) fn traffic_differs(slow: &SideTraffic<'_>, fast: &SideTraffic<'_>) -> Option<String>;
    /// Why the times of two sides are not compared.
    pub(crate) fn path_refusal(refusal: PathRefusal) -> &'static str;
    /// No traced run.
    pub(crate) fn not_traced() -> (&'static str, &'static str);
    /// Title of what is known without a trace.
    pub(crate) fn from_counters() -> &'static str;

    // charts of paths
    /// Title of a report on the path only.
    pub(crate) fn path_title(target: &str) -> String;
    /// A class of requests in one direction.
    pub(crate) fn class_of_op(class: &str, op: Op) -> String;
    /// Title of the flow picture of a side.
    pub(crate) fn flow_title(side: &str, ratio: f64) -> String;
    /// Explanation of the flow picture.
    pub(crate) fn flow_note() -> &'static str;
    /// Bytes at the device, below the flow picture.
    pub(crate) fn flow_foot(moved: Bytes, ratio: f64) -> String;
    /// Requests without bytes: cache flushes.
    pub(crate) fn without_bytes(requests: u64) -> String;
    /// Bios that were merged or split, beside a band; empty if there were none.
    pub(crate) fn changed_bios(merges: u64, splits: u64) -> String;
    /// I/Os of the application, with their size if all have the same.
    pub(crate) fn asked_ios(op: Op, count: u64, size: Option<Bytes>) -> String;
    /// A number of bios.
    pub(crate) fn counted_bios(bios: u64) -> String;
    /// A number of requests.
    pub(crate) fn counted_requests(requests: u64) -> String;
    /// A number of commands on the bus.
    pub(crate) fn counted_commands(commands: u64) -> String;
    /// Title of the chart of times without a finding.
    pub(crate) fn shares_title() -> &'static str;
    /// Explanation of the chart of times; `full` is whether each bar has the full width.
    pub(crate) fn shares_note(full: bool) -> String;
    /// Title of the chart of addresses; `side` is empty or names the side.
    pub(crate) fn addresses_title(side: &str) -> String;
    /// Explanation of the chart of addresses, with the number of requests drawn.
    pub(crate) fn addresses_note(drawn: u64, of: u64) -> String;
    /// Title of the chart of sizes; `side` is empty or ends a noun.
    pub(crate) fn sizes_title(share: f64, side: &str, size: &str) -> String;
    /// Explanation of the chart of sizes.
    pub(crate) fn sizes_note() -> &'static str;
    /// Sizes up to this one.
    pub(crate) fn up_to(size: Bytes) -> String;

    // differences of paths
    /// What limits the speed, with the share of the time in which the device had work; `runs` is the number of traced runs.
    pub(crate) fn path_limit(limit: PathLimit, share: f64, runs: usize) -> String;
    /// Name of a limit in a table.
    pub(crate) fn path_limit_name(limit: PathLimit) -> &'static str;
    /// Time of a median operation behind requests of others, by class, largest first.
    pub(crate) fn waited_behind(operation: &str, total: f64, classes: &[(IoClass, f64)]) -> String;
    /// Which of several traced runs the pictures show; `shown` counts from 1.
    pub(crate) fn shown_of_traced(shown: usize, runs: usize) -> String;
    /// `A write takes 4.94 ms longer on vfat than on ext4: 96% is the first FAT on the device, 4.1% is the block queue`
    pub(crate) fn takes_longer(of: &LongerText<'_>) -> String;
    /// The interval of a difference contains 0; `runs` are the traced runs of both sides.
    pub(crate) fn no_difference_of_times(operation: &str, sides: (&str, &str), difference: &TimeDifference, runs: (u32, u32)) -> String;
    /// `Of the 4.38 ms that vfat spends more on the device than raw, 71% is writing more (…), 29% is seeking`
    pub(crate) fn device_split(of: &DeviceSplitText<'_>) -> String;
    /// Why a difference on the device is not divided.
    pub(crate) fn price_refusal(op: Op, refusal: PriceRefusal) -> String;
    /// The sum of the parts of a difference, and the ratio of both sides; `runs` are the traced runs of both.
    pub(crate) fn sum_of_parts(of: &OperationDifference, runs: (u32, u32)) -> String;
    /// Title of a chart of differences.
    pub(crate) fn difference_title(operation: &str, other: &str, base: &str) -> String;
    /// One side against another.
    pub(crate) fn against(other: &str, base: &str) -> String;
    /// Parts of a difference that are joined in a picture.
    pub(crate) fn smaller_parts(count: usize) -> String;
    /// The last row of a sum.
    pub(crate) fn sum() -> &'static str;
    /// Heads of the first and the last column of the parts of a difference.
    pub(crate) fn part_table_heads() -> [&'static str; 2];
    /// Figure of a traced phase, in a table.
    pub(crate) fn path_figure(figure: PathFigure, journal: bool) -> String;
    /// Names in a table of figures: the first column, the number of traced runs, the limit, and the only column.
    pub(crate) fn figure_table_names() -> [&'static str; 4];
    /// Title of the table of classes; `side` is empty if there is only one.
    pub(crate) fn class_table_title(phase: &str, side: &str) -> String;
    /// Title of the table of figures over the traced runs.
    pub(crate) fn figure_table_title(phase: &str) -> String;
    /// Title of the table of ratios.
    pub(crate) fn identity_table_title(phase: &str) -> String;
    /// Heads of the table of classes; `operation` is the one whose time is given.
    pub(crate) fn class_table_heads(operation: &str) -> [String; 12];
    /// Heads of the table of ratios.
    pub(crate) fn identity_table_heads() -> [&'static str; 7];
    /// Explanation of the table of ratios.
    pub(crate) fn identity_note() -> &'static str;
    /// Title of the chart of queue depth; `side` is empty or names the side.
    pub(crate) fn depth_title(side: &str, mean: f64) -> String;
    /// Explanation of the chart of queue depth.
    pub(crate) fn depth_note(steps: usize) -> String;
    /// Requests that the device has.
    pub(crate) fn on_the_device() -> &'static str;
    /// Requests that wait in the block layer.
    pub(crate) fn in_the_queue() -> &'static str;
    /// A range of time in seconds.
    pub(crate) fn seconds_range(begin: &str, end: &str) -> String;
    /// Heads of the table of queue depth.
    pub(crate) fn depth_table_heads() -> [&'static str; 3];
    /// The side of a chart at the end of its title.
    pub(crate) fn on_side(side: &str) -> String;
    /// The raw device as a layer.
    pub(crate) fn raw_device() -> &'static str;
    /// Title of the table of all cards.
    pub(crate) fn path_costs_title() -> &'static str;
    /// Explanation of the table of all cards.
    pub(crate) fn path_costs_note() -> &'static str;
    /// Head of a group of parts in the table of all cards.
    pub(crate) fn cost_column(column: CostColumn) -> &'static str;
    /// First heads of the table of all cards: layers, workload, difference, ratio.
    pub(crate) fn cost_heads() -> [&'static str; 4];
    /// Last heads of the table of all cards: share of the device, limit.
    pub(crate) fn cost_ends() -> [&'static str; 2];
    /// The card whose charts are shown.
    pub(crate) fn charts_of_card(card: &str) -> String;
    /// Heading of the sentences of one card.
    pub(crate) fn path_of_card(card: &str) -> String;
    /// Both sides take the same time within a percent.
    pub(crate) fn takes_the_same(operation: &str, sides: (&str, &str), nanos: f64) -> String;

    // ranks
    /// The best card for a use as a sentence.
    pub(crate) fn best_card(best: &BestCard<'_>) -> String;
    /// Text for a use for which no card has a rank.
    pub(crate) fn no_best_card() -> &'static str;
    /// Heads of the table of one use.
    pub(crate) fn use_ranking_heads() -> [&'static str; 5];
    /// Head of the column of cards.
    pub(crate) fn card_head() -> &'static str;
    /// Head of the column of prices.
    pub(crate) fn price_head() -> &'static str;
    /// An amount of money: `1,480 JPY`.
    pub fn price(price: &Price) -> String;
    /// Head of a figure per unit of money: `sequential read, MB/s per 1,000 JPY`.
    pub(crate) fn per_money(of: Figure, per: &Price) -> String;
    /// Title of the tables of speed per unit of money.
    pub(crate) fn money_title() -> &'static str;
    /// Explanation of these tables.
    pub(crate) fn money_legend() -> &'static str;
    /// Title of the best cards.
    pub(crate) fn best_title() -> &'static str;
    /// Explanation of ranks for uses.
    pub(crate) fn use_ranks_legend() -> &'static str;
    /// Cards that a limit of the price leaves out.
    pub fn left_out_by_price(cards: &[String], limit: &Price) -> String;
    /// Title of a ranking of cards.
    pub(crate) fn ranking_title(cards: usize) -> String;

    // steps
    /// A completed step: `filled with 0xff`, `mkfs.vfat -F 32 /dev/sdX`.
    pub fn step(step: &StepKind) -> String;
    /// Data that fills a device.
    pub fn content(with: FillContent) -> &'static str;

    // answers
    /// The proven winners of a campaign, the largest difference first.
    pub(crate) fn fastest_cards(cards: usize, wins: &[FastestCard<'_>]) -> String;
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
    pub(crate) fn layer_costs_all(layer: &str, workload: &str, percent: u32) -> String;
    /// A layer makes the only card slower.
    pub(crate) fn layer_costs_card(card: &str, layer: &str, workload: &str, percent: &str) -> String;
    /// How many pairs of cards differ, and how that was tested.
    pub(crate) fn pairs_proven(different: usize, of: usize, family: u32) -> String;
    /// All cards reach the limit of the host.
    pub(crate) fn host_limits(workload: &str, value: &str, cards: usize) -> String;
    /// What a card is good for.
    pub(crate) fn suited(good: Option<&UseAnswer<'_>>, bad: Option<&UseAnswer<'_>>) -> Option<String>;
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
    /// The key of a matrix.
    pub(crate) fn matrix_key(letters: bool, by: Option<&str>) -> String;
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
    /// A layer in a caption.
    pub(crate) fn layer(name: &str) -> String;
    /// A kind of workload as the name of a row.
    pub(crate) fn row_kind(kind: WorkloadKind) -> &'static str;
    /// A workload as a plural noun.
    pub(crate) fn workload(kind: WorkloadKind, op: Op) -> &'static str;
    /// A workload with its block size.
    pub(crate) fn workload_of_size(noun: &str, block: &str) -> String;
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
    /// Number of pairs, in place of too many names.
    pub(crate) fn pairs_counted(n: usize) -> String;
    /// The summary line of the ratios of a workload.
    pub(crate) fn ratios_of(workload: &str) -> String;
    /// How to read the figures of a layer next to those of the reference layer.
    pub(crate) fn layer_cost_about(reference: &str) -> String;
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

    // verifications
    /// The verdict of a verification without defects.
    pub(crate) fn verified_good(verification: &Verification) -> String;
    /// The verdict of a verification with defects.
    pub(crate) fn verified_bad(verification: &Verification) -> String;
    /// The verdict of a verification that ended early and found no defect.
    pub(crate) fn verified_in_part(verification: &Verification) -> String;
    /// Advice, or completed actions; empty if there are none.
    pub(crate) fn verified_advice(verification: &Verification) -> String;
    /// Defects that a verification of this scope cannot find.
    pub(crate) fn verified_limits(scope: &Scope) -> Vec<&'static str>;
    /// Description of a block state.
    pub(crate) fn block_state(state: BlockState) -> String;
    /// Headline of a verification.
    pub(crate) fn verification_of(target: &str) -> String;
    /// The free space of a directory as a target.
    pub(crate) fn free_space_at(directory: &str) -> String;

    // verdicts
    /// A verdict on a use: "probably" if single runs have no interval, "inconclusive" if an interval crosses a limit.
    pub(crate) fn advice(verdict: AdviceVerdict) -> &'static str;
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
    pub(crate) fn fitness_legend() -> &'static str;
    /// Legend of the symbols of [`claim_verdict`].
    pub(crate) fn claim_legend() -> &'static str;
}
