//! Titles, headings and explanations of pages.

use super::counted;
use crate::text::compared::{ComparedThing, compared};
use crate::text::{ComparisonMarks, PagePart, capital};
use crate::workload::WorkloadKind;
use hakaru_model::job::Op;
use hakaru_model::units::Nanos;

pub(in crate::text) fn page_part(part: PagePart) -> &'static str {
    match part {
        PagePart::Result => "Result",
        PagePart::Differences => match compared() {
            ComparedThing::Cards => "How the cards differ",
            ComparedThing::CardHostPairs => "How cards and hosts differ",
            ComparedThing::Sets => "How the sets differ",
        },
        PagePart::Limits => "Limits and method",
        PagePart::EachCard => match compared() {
            ComparedThing::Cards => "Each card",
            ComparedThing::CardHostPairs => "Each card and host",
            ComparedThing::Sets => "Each set",
        },
        PagePart::NotCounted => "Runs that do not count",
        PagePart::Proofs => "What the comparison shows",
        PagePart::BadPlaces => "Bad places",
    }
}

pub(in crate::text) fn comparison_of(names: &str) -> String {
    format!("{names} compared")
}

pub(in crate::text) fn contents() -> &'static str {
    "Contents"
}

pub(in crate::text) fn before_you_quote() -> &'static str {
    "Before you quote this"
}

pub(in crate::text) fn more_caveats(n: usize, of: &str) -> String {
    format!("{n} more under {of}")
}

pub(in crate::text) fn fastest_for(layer: Option<&str>) -> String {
    match layer {
        Some(layer) => format!("Fastest for … ({layer})"),
        None => "Fastest for …".to_owned(),
    }
}

pub(in crate::text) fn undecided() -> &'static str {
    "undecided"
}

pub(in crate::text) fn limited_by_host() -> &'static str {
    "limited by the host"
}

pub(in crate::text) fn perhaps_limited_by_host() -> &'static str {
    "perhaps limited by the host"
}

pub(in crate::text) fn matrix_key(letters: bool, by: Option<&str>) -> String {
    let letters = match letters {
        true => " · framed: fastest, or not proven slower · same letter: not proven different",
        false => "",
    };
    let rows = by.map_or(String::new(), |by| format!(" · rows by {by}"));
    format!(
        "Shade: share of the best in the column, in steps of 20, 40, 60, 80 and 95%{letters}{rows}"
    )
}

pub(in crate::text) fn uses_as_through(n: usize, layer: &str) -> String {
    format!("{} as on {layer}", counted(n as u64, "other use"))
}

pub(in crate::text) fn comparison_key(
    (first, second): (&str, &str),
    marks: ComparisonMarks,
) -> String {
    let mut parts = vec!["Shade: share of the better side of the row".to_owned()];
    parts.extend(marks.framed.then(|| "framed: better, proven".to_owned()));
    let interval = match marks.interval {
        true => ", with its 95% interval",
        false => "",
    };
    parts.push(format!("ratio: {second} to {first}{interval}"));
    parts.extend(marks.equal.then(|| "= same within 5%".to_owned()));
    parts.extend(marks.open.then(|| "? not proven or not tested".to_owned()));
    parts.join(" · ")
}

pub(in crate::text) fn not_slower() -> &'static str {
    "fastest, or not proven slower"
}

pub(in crate::text) fn group() -> &'static str {
    "group"
}

pub(in crate::text) fn matrix_about(runs: Option<u64>) -> String {
    match runs {
        Some(0 | 1) => "one run each".to_owned(),
        Some(n) => format!("mean ± SD of {}", counted(n, "run")),
        None => "mean ± SD of the runs".to_owned(),
    }
}

pub(in crate::text) fn show_more_cards(n: usize) -> String {
    match compared() {
        ComparedThing::Cards => format!("Show {}", counted(n as u64, "more card")),
        ComparedThing::CardHostPairs => format!("Show {}", counted(n as u64, "more pair")),
        ComparedThing::Sets => format!("Show {}", counted(n as u64, "more set")),
    }
}

pub(in crate::text) fn card_column() -> &'static str {
    match compared() {
        ComparedThing::Cards => "Card",
        ComparedThing::CardHostPairs => "Card and host",
        ComparedThing::Sets => "Set",
    }
}

pub(in crate::text) fn series_column() -> &'static str {
    "Series"
}

pub(in crate::text) fn layer(name: &str) -> String {
    match name {
        "raw" => "Raw device".to_owned(),
        "vfat" => "vfat (FAT32)".to_owned(),
        name => name.to_owned(),
    }
}

pub(in crate::text) fn layer_in_brief(name: &str) -> String {
    name.to_owned()
}

pub(in crate::text) fn of_simulated_cards(name: &str) -> String {
    format!("{name} (simulated cards)")
}

pub(in crate::text) fn layer_column() -> &'static str {
    "Layer"
}

pub(in crate::text) fn each_layer() -> &'static str {
    "each layer"
}

pub(in crate::text) fn layer_cost_once(reference: &str) -> String {
    format!("Speed as a share of {reference} on the same card. Measured once: no proof.")
}

pub(in crate::text) fn layer_in_text(name: &str) -> String {
    match name {
        "raw" => "the raw device".to_owned(),
        name => name.to_owned(),
    }
}

pub(in crate::text) fn of_layer(name: &str, layer: &str) -> String {
    match layer {
        "raw" => format!("{name}, raw device"),
        layer => format!("{name}, {layer}"),
    }
}

pub(in crate::text) fn row_kind(kind: WorkloadKind) -> &'static str {
    match kind {
        WorkloadKind::Sequential => "Sequential",
        WorkloadKind::Random => "Random",
        WorkloadKind::Mixed => "Mixed",
        WorkloadKind::Durable => "Durable",
        WorkloadKind::Sustained => "Sustained",
        WorkloadKind::Repeated => "Second pass",
    }
}

pub(in crate::text) fn workload(kind: WorkloadKind, op: Op) -> &'static str {
    use WorkloadKind::*;
    match (kind, op) {
        (Sequential, Op::Read) => "sequential reads",
        (Sequential, Op::Write) => "sequential writes",
        (Sequential, Op::Trim) => "sequential trims",
        (Random, Op::Read) => "random reads",
        (Random, Op::Write) => "random writes",
        (Random, Op::Trim) => "random trims",
        (Mixed, Op::Read) => "reads of a mix",
        (Mixed, Op::Write) => "writes of a mix",
        (Mixed, Op::Trim) => "trims of a mix",
        (Durable, Op::Read) => "synchronous reads",
        (Durable, Op::Write) => "durable writes",
        (Durable, Op::Trim) => "synchronous trims",
        (Sustained, Op::Read) => "sustained reads",
        (Sustained, Op::Write) => "sustained writes",
        (Sustained, Op::Trim) => "sustained trims",
        (Repeated, Op::Read) => "re-reads",
        (Repeated, Op::Write) => "rewrites",
        (Repeated, Op::Trim) => "repeated trims",
    }
}

pub(in crate::text) fn workload_of_size(noun: &str, block: &str) -> String {
    format!("{noun} of {block}")
}

/// First words of [`workload`] at the beginning of a sentence.
const FIRST_WORDS: [&str; 7] = [
    "Sequential",
    "Random",
    "Reads",
    "Writes",
    "Trims",
    "Durable",
    "Sustained",
];

pub(in crate::text) fn within_sentence(name: &str) -> String {
    let first = FIRST_WORDS.iter().find(|first| {
        name.strip_prefix(**first)
            .is_some_and(|rest| rest.starts_with(' '))
    });
    let second_pass = ["Rewrites", "Re-reads"].iter().find(|noun| **noun == name);
    first.or(second_pass).map_or_else(
        || name.to_owned(),
        |first| name.replacen(first, &first.to_lowercase(), 1),
    )
}

pub(in crate::text) fn workload_numbered(noun: &str, number: u32) -> String {
    format!("{noun} ({number})")
}

pub(in crate::text) fn workload_named(noun: &str, name: &str) -> String {
    format!("{noun} ({name})")
}

pub(in crate::text) fn durable_shape(block: &str) -> String {
    format!("{block} + fsync")
}

pub(in crate::text) fn sustained_shape(block: &str, time: Nanos) -> String {
    match time.0 / 1_000_000_000 {
        0 => block.to_owned(),
        seconds => format!("{block}, {seconds} s"),
    }
}

pub(in crate::text) fn p99(value: Nanos) -> String {
    format!("P99 {value}")
}

pub(in crate::text) fn fsync_p99(value: Nanos) -> String {
    format!("fsync P99 {value}")
}

pub(in crate::text) fn card_runs(runs: usize) -> String {
    match runs {
        0 | 1 => "one run".to_owned(),
        n => format!("{}, mean ± SD", counted(n as u64, "run")),
    }
}

pub(in crate::text) fn rate_card_head() -> [&'static str; 3] {
    ["Workload", "Read, MB/s", "Write, MB/s"]
}

pub(in crate::text) fn card_key() -> &'static str {
    "Bar: each row on its own scale from zero · MB/s = 10⁶ bytes per second"
}

pub(in crate::text) fn more_rows(n: usize) -> String {
    format!("Show {}", counted(n as u64, "more row"))
}

pub(in crate::text) fn not_measured_here() -> &'static str {
    "not measured"
}

pub(in crate::text) fn every_figure() -> &'static str {
    "Compared figures, with verdicts"
}

pub(in crate::text) fn figures_of_workloads() -> &'static str {
    "Every figure of each workload, with its ratio"
}

pub(in crate::text) fn every_run() -> &'static str {
    "Every run by itself"
}

pub(in crate::text) fn every_figure_of(series: &str) -> String {
    format!("Every figure of {series}")
}

pub(in crate::text) fn environment() -> &'static str {
    "Target, device and host"
}

pub(in crate::text) fn environment_of(name: &str) -> String {
    format!("Target, device and host: {name}")
}

pub(in crate::text) fn shown_first(chart: &str) -> String {
    format!("{chart}: on the first screen")
}

pub(in crate::text) fn nothing_to_report() -> &'static str {
    "There is nothing to report: no series was given."
}

pub(in crate::text) fn nothing_counts() -> &'static str {
    "There is nothing to report: no run of this campaign counts yet."
}

pub(in crate::text) fn chart_data() -> &'static str {
    "Chart data"
}

pub(in crate::text) fn not_on_page(sections: &[&str]) -> String {
    format!(
        "Not measured, so without a chart here: {}.",
        super::listed(sections)
    )
}

pub(in crate::text) fn pairs_head() -> [&'static str; 3] {
    ["Workload", "Proven", "Not proven"]
}

pub(in crate::text) fn proven_of(n: usize, of: usize) -> String {
    format!("{n} of {of}")
}

pub(in crate::text) fn all_pairs_proven() -> &'static str {
    "none: all proven"
}

pub(in crate::text) fn no_pair_proven() -> &'static str {
    "all pairs"
}

pub(in crate::text) fn pairs_counted(n: usize) -> String {
    counted(n as u64, "pair")
}

pub(in crate::text) fn ratios_of(workload: &str) -> String {
    format!("Ratios and intervals, {workload}")
}

pub(in crate::text) fn layer_cost_about(reference: &str) -> String {
    format!(
        "Speed as a share of {reference} on the same card, with simultaneous 95% intervals; = same within 5%, ? not proven."
    )
}

pub(in crate::text) fn zone_assumed(time: &str) -> String {
    format!("{time} (time zone assumed)")
}

pub(in crate::text) fn layer_changes(caption: &str, changes: &[String]) -> String {
    format!("{caption}: {}.", changes.join("; "))
}

pub(in crate::text) fn layer_cost_caption(layer: &str, reference: &str) -> String {
    format!("{layer} against {reference}")
}

pub(in crate::text) fn charts_of_even_phases() -> &'static str {
    "Speed over time of the other workloads"
}

pub(in crate::text) fn why() -> &'static str {
    "Why"
}

pub(in crate::text) fn series_side_by_side() -> &'static str {
    "All series"
}

pub(in crate::text) fn claimed_classes() -> &'static str {
    "Claimed classes, and the measured multiple of what each requires"
}

pub(in crate::text) fn other_layers() -> &'static str {
    "Through the other layers"
}

pub(in crate::text) fn method_title() -> &'static str {
    "Method"
}

pub(in crate::text) fn how_to_read() -> &'static str {
    "Ratios, intervals, and how to read letters"
}

pub(in crate::text) fn charts_counted(n: usize) -> String {
    counted(n as u64, "chart")
}

pub(in crate::text) fn more_charts(n: usize) -> String {
    counted(n as u64, "more chart")
}

pub(in crate::text) fn charts_left_out(n: usize) -> String {
    let charts = counted(n as u64, "chart");
    format!("Not on this page: {charts} of the same kinds; --charts=DIR writes all.")
}

pub(in crate::text) fn rated_speeds() -> &'static str {
    "Rated and measured speeds of each card"
}

pub(in crate::text) fn results_about(reference: Option<&str>) -> String {
    let mean = "Mean ± standard deviation over the runs.";
    match reference {
        Some(reference) => format!(
            "{mean} {} The ratio is what a layer leaves of {reference}, with its 95% interval; the verdict is about the layer.",
            super::intervals()
        ),
        None => mean.to_owned(),
    }
}

pub(in crate::text) fn differences_about(reference: &str) -> String {
    let things = super::answers::things();
    format!(
        "Ratios are to {reference}, with simultaneous 95% intervals: an interval excludes 1 exactly where a \
         difference is shown. {} share a letter exactly where no difference between them is shown; that is not yet \
         proof that they are the same. All comparisons of {things} on this page are judged as one family: if all \
         {things} were alike, a false difference would come up with a probability of 5% at most. {}",
        capital(things),
        super::intervals()
    )
}

pub(in crate::text) fn tests() -> &'static str {
    "The tests behind the verdicts"
}
