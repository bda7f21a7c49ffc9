//! Texts of the paths of I/Os.

use crate::path::cards::CostColumn;
use crate::text::values::*;
use crate::text::{Language, en, ja, language};
use hakaru_model::io_path::{
    BusUse, ClassGroup, DifferencePart, IoClass, IssuerKind, NoTraceCost, OperationDifference,
    PathFigure, PathLimit, PathRefusal, PriceRefusal, TimeDifference, TimePart, TraceCost,
};
use hakaru_model::job::Op;
use hakaru_model::units::Bytes;

texts! {
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
    /// No request reached the device.
    pub(crate) fn no_requests() -> &'static str;
    /// Sentences one after another, each with its full stop.
    pub(crate) fn as_sentences(said: &[String]) -> String;
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
    pub(crate) fn events_complete(lost: u64, events: u64, uncounted: bool) -> String;
    /// Cost of tracing with its interval.
    pub(crate) fn trace_cost(cost: &TraceCost) -> String;
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
    /// The device is a thread of this host.
    pub(crate) fn device_on_host(disk: &str) -> String;
    /// There are only bios.
    pub(crate) fn bio_device(disk: &str) -> String;
    /// How the traffic of the slower side differs from that of the faster one.
    pub(crate) fn traffic_differs(slow: &SideTraffic<'_>, fast: &SideTraffic<'_>) -> Option<String>;
    /// Why the times of two sides are not compared.
    pub(crate) fn path_refusal(refusal: PathRefusal) -> String;
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
    /// Requests of a size at the device, and I/Os of the application with it.
    pub(crate) fn reached_and_asked(reached: u64, asked: u64) -> String;
    /// Sizes up to this one.
    pub(crate) fn up_to(size: Bytes) -> String;

    // differences of paths
    /// What limits the speed, with the share of the time in which the device had work; `runs` is the number of traced runs.
    pub(crate) fn path_limit(limit: PathLimit, share: f64, runs: usize, bus_is_limit: bool) -> String;
    /// How much of the bus the requests use, with the share.
    pub(crate) fn bus_use(of: &BusUse, share: f64) -> String;
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
    /// The path of an I/O to the card by the design of Linux, and what each step can add.
    pub(crate) fn io_steps(on_vfat: bool) -> IoSteps;
}
