//! Texts of commands, devices, verifications and histories.

use crate::facts::{FactGroup, FactKey};
use crate::number::MeanText;
use crate::text::values::*;
use crate::text::{HealthCounter, Language, en, ja, language};
use hakaru_model::campaign::{FillContent, StepKind};
use hakaru_model::facts::{Bus, DeviceIdentity, LinkRole, UnknownReason};
use hakaru_model::finding::Sustained;
use hakaru_model::history::{HistoryCaveat, MissingProof, Outlook, Trend, WearSign};
use hakaru_model::integrity::{BlockState, Capacity, Scope, Verification};
use hakaru_model::io_path::LayoutGap;
use hakaru_model::job::Op;
use hakaru_model::lint::LintWarning;
use hakaru_model::record::IoError;
use hakaru_model::severity::Severity;
use hakaru_model::units::{Bytes, BytesPerSec, Nanos};

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
    /// Progress: an operation.
    pub fn operation(op: Op) -> &'static str;
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
    pub fn cannot(what: &FailedAction<'_>) -> String;

    // links and manual pages
    /// What happened to a link.
    pub fn link_change(change: LinkChange, link: &str, program: &str) -> String;
    /// Which program a shell runs now.
    pub fn link_note(note: &LinkNote<'_>) -> String;
    /// Error: another file is at the path of a link.
    pub fn link_occupied(path: &str) -> String;
    /// Usage error: neither a directory for links nor a home directory is known.
    pub fn no_link_directory() -> &'static str;
    /// Usage error: no manual page describes these words.
    pub fn no_manual_page(command: &str) -> String;

    // messages
    /// The prefix of a line of a message.
    pub fn prefix(prefix: MessagePrefix) -> &'static str;

    /// The severity of a mistake in a job.
    pub fn severity(of: Severity) -> &'static str;

    // scopes
    /// Text in place of the names if a finding concerns every phase.
    pub(crate) fn all_phases() -> &'static str;
    /// A number of phases that are too many to be named.
    pub(crate) fn some_phases(n: usize, of: usize) -> String;
    /// A range of figures: `1.2 s to 3.4 s`; a single figure if both are equal.
    pub(crate) fn span(low: &str, high: &str) -> String;

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
    pub(crate) fn unknown(because: &UnknownReason) -> String;
    /// Tool overhead per I/O, and as percent of the shortest median latency.
    pub(crate) fn overhead(per_io: &str, percent_of_median: Option<&str>) -> String;
    /// Type of a file system that an imported result does not name.
    pub(crate) fn unnamed_filesystem() -> &'static str;
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
    /// Variation of a long write; without its intervals, a lasting fall is not excluded.
    pub(crate) fn sustained(found: &Sustained, has_intervals: bool) -> String;
    /// I/O amplification of a phase.
    pub(crate) fn device_moved(op: Op, ratio: &MeanText) -> String;
    /// Bytes written to lay out files.
    pub(crate) fn laid_out(bytes: Bytes) -> String;
    /// A long time in minutes and hours: `2 min 56 s`.
    pub(crate) fn duration(time: Nanos) -> String;
    /// A ratio: `2.24×`.
    pub(crate) fn times_of(ratio: f64) -> String;
    /// The name of a clock in a record.
    pub(crate) fn clock_name(clock: &str) -> String;
    /// A preparation step and the time that it took.
    pub(crate) fn step_took(step: &str, time: Nanos) -> String;
    /// A number of runs.
    pub(crate) fn runs(n: u64) -> String;
    /// Several runs, each of a different workload.
    pub(crate) fn one_run_each(n: u64) -> String;
    /// Headline of a series: `standard on SanDisk SD32G, ext4`.
    pub(crate) fn scenario_on(scenario: &str, target: &str) -> String;

    // devices
    /// A warning of a disk about its health.
    pub(crate) fn health_warning(text: &str) -> String;
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
    /// Numbers of runs, series, verifications and anatomies.
    pub(crate) fn history_counts(runs: u32, series: u32, verifications: usize, anatomies: usize) -> String;
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
    /// Title of the anatomies.
    pub(crate) fn anatomies_title() -> &'static str;
    /// Explanation of the trends; `fewest` is the number of series that one needs, `once` workloads have a single one.
    pub(crate) fn trends_note(fewest: usize, once: usize) -> String;
    /// What the figures of the trends are.
    pub(crate) fn trend_about() -> &'static str;
    /// Columns of the trends: workload, first and newest rate, change.
    pub(crate) fn trend_columns() -> [&'static str; 4];
    /// Whether a card became slower, as a sentence.
    pub(crate) fn speed_change(change: &SpeedChange) -> String;
    /// There is no earlier speed.
    pub(crate) fn measured_once_each() -> &'static str;
    /// Title of the chart of the trends.
    pub(crate) fn trend_title(finding: &TrendFinding) -> String;
    /// Subtitle of that chart: how many of the trends it draws.
    pub(crate) fn trend_chart_note(spread: bool, drawn: usize, of: usize) -> String;
    /// A phrase as a sentence.
    pub(crate) fn sentence(phrase: &str) -> String;
    /// Heads of the table of trends.
    pub(crate) fn trend_heads() -> [&'static str; 6];
    /// Heads of the points of a trend in this unit.
    pub(crate) fn point_heads(unit: &str) -> [String; 5];
    /// Heads of the table of verifications.
    pub(crate) fn verified_heads() -> [&'static str; 4];
    /// Heads of the table of anatomies.
    pub(crate) fn anatomy_heads() -> [&'static str; 6];
    /// Verdict on a trend.
    pub(crate) fn trend_verdict(verdict: TrendVerdict) -> String;
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

    // steps
    /// A completed step: `filled with 0xff`, `mkfs.vfat -F 32 /dev/sdX`.
    pub fn step(step: &StepKind) -> String;
    /// Data that fills a device.
    pub fn content(with: FillContent) -> &'static str;

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
    /// What the range beyond the real capacity is.
    pub(crate) fn missing_memory(capacity: Capacity) -> String;
    /// Title of the real capacity as a part of the claimed one.
    pub(crate) fn real_share(percent: &str) -> String;
    /// Note of the capacity bar: the addresses that it covers.
    pub(crate) fn claimed_addresses(claimed: Bytes) -> String;
    /// The part of the claimed capacity that exists.
    pub(crate) fn exists(real: Bytes) -> String;
    /// The part of the claimed capacity that does not exist.
    pub(crate) fn does_not_exist(missing: Bytes) -> String;
    /// Headline of a verification.
    pub(crate) fn verification_of(target: &str) -> String;
    /// The free space of a directory as a target.
    pub(crate) fn free_space_at(directory: &str) -> String;
}
