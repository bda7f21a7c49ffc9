//! Every text, once: its signature, and the choice of the language.
//!
//! To add a text, add its line here, and a function of the same name to a file of `en` and to one of `ja`. A text that
//! one of them lacks does not compile.

use super::{BecameText, LayerEffect, Ranked, SideTraffic, en, ja};
use super::{Language, language};
use crate::facts::{FactGroup, FactKey};
use crate::findings::ConclusionKind;
use hakaru_model::advice::{AdviceVerdict, Decision};
use hakaru_model::campaign::{FillContent, PlanNote, StepKind, Weakness};
use hakaru_model::facts::{DeviceIdentity, LinkRole};
use hakaru_model::finding::{
    Bottleneck, BusLimit, Claim, ClaimPart, ClaimVerdict, Condition, Figure, FindingKind,
};
use hakaru_model::io_path::{
    ClassGroup, DifferencePart, IoClass, IssuerKind, LayoutGap, PathRefusal, TimePart,
};
use hakaru_model::job::Op;
use hakaru_model::lint::LintWarning;
use hakaru_model::record::IoError;
use hakaru_model::references::ReferenceStanding;
use hakaru_model::units::{Bytes, Nanos};

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
    // scopes
    /// Text in place of the names if a finding concerns every phase.
    pub(crate) fn all_phases() -> &'static str;
    /// A range of figures: `1.2 s to 3.4 s`; a single figure if both are equal.
    pub(crate) fn span(low: &str, high: &str) -> String;

    // findings
    /// A finding as a sentence, without its scope.
    pub(crate) fn kind(kind: &FindingKind) -> String;

    // campaign
    /// A weakness of the design as a sentence.
    pub fn weakness(weakness: &Weakness) -> String;
    /// Text in place of the names of many cards and layers.
    pub(crate) fn some_of(n: usize, of: usize) -> String;
    /// A requirement or weakness of a planned campaign.
    pub fn plan_note(note: &PlanNote) -> String;

    // claims
    /// A claim as printed on a card: `C10`, `U3`, `V30`, `A1`, `read up to 100 MB/s`.
    pub(crate) fn claim(claim: Claim) -> String;
    /// The test condition that was not met.
    pub fn condition(condition: &Condition) -> String;
    /// Name of a figure used by criteria and claims.
    pub fn figure(figure: Figure) -> &'static str;

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

    // failures
    /// A failure as a sentence: `max_latency=10ms: read took 12.0 ms`, or
    /// `read of 4 KiB at byte 0 of f: Input/output error …`.
    pub fn failure(error: &IoError) -> String;

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
    /// Share of the time in which the device had work.
    pub(crate) fn device_busy(share: f64) -> String;
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
    /// More than one traced run.
    pub(crate) fn first_of_traced(runs: usize) -> String;
    /// Events were lost.
    pub(crate) fn events_lost(share: f64, lost: u64, counted_events: u64) -> String;
    /// All events were recorded.
    pub(crate) fn events_complete(lost: u64, events: u64) -> String;
    /// Cost of tracing with its interval.
    pub(crate) fn trace_cost(mean: f64, margin: f64, pairs: u32) -> String;
    /// The cost of tracing is unknown.
    pub(crate) fn trace_cost_unknown() -> &'static str;
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
    /// Why one side takes longer, as a sum of times; `shares` is whether shares of it may be printed, and `journal` whether a
    /// side has a journal.
    pub(crate) fn takes_longer(operation: &str, sides: (&str, &str), difference: f64, parts: &[(DifferencePart, f64)], options: (bool, bool)) -> String;
    /// How the traffic of the slower side differs from that of the faster one.
    pub(crate) fn traffic_differs(slow: &SideTraffic<'_>, fast: &SideTraffic<'_>) -> Option<String>;
    /// Both sides take the same time within a percent.
    pub(crate) fn takes_the_same(operation: &str, a: &str, b: &str, time: Nanos) -> String;
    /// Why the times of two sides are not compared.
    pub(crate) fn path_refusal(refusal: PathRefusal) -> &'static str;
    /// No traced run.
    pub(crate) fn not_traced() -> (&'static str, &'static str);

    // steps
    /// A completed step: `filled with 0xff`, `mkfs.vfat -F 32 /dev/sdX`.
    pub fn step(step: &StepKind) -> String;
    /// Data that fills a device.
    pub fn content(with: FillContent) -> &'static str;

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
    /// The deciding figure and its limits.
    pub(crate) fn decision(decision: &Decision) -> String;
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
