//! Texts of tables, comparisons and workloads.

use super::counted;
use crate::number;
use crate::png::PngError;
use crate::text::compared::{ComparedThing, compared};
use crate::text::{ComparisonText, CountedThing, ErrorCount, LayerPart, RatioDirection, capital};
use hakaru_model::finding::PhaseSummary;
use hakaru_model::units::Bytes;

pub(in crate::text) fn paragraph(sentences: &[impl AsRef<str>]) -> String {
    let sentences: Vec<&str> = sentences.iter().map(AsRef::as_ref).collect();
    sentences.join(" ")
}

pub(in crate::text) fn two_sentences(first: &str, second: &str) -> String {
    format!("{first}. {second}")
}

pub(in crate::text) fn with_unit(quantity: &str, unit: &str) -> String {
    format!("{quantity}, {unit}")
}

pub(in crate::text) fn series_compared(n: usize) -> String {
    format!("{n} series side by side")
}

pub(in crate::text) fn figures_legend(single: bool, open_loop: bool) -> String {
    let spread = match single {
        true => "of the one run",
        false => "mean ± deviation over runs",
    };
    let from = match open_loop {
        true => " Latency of an open loop counts from the intended start of each I/O.",
        false => "",
    };
    format!("MB/s and IOPS: {spread}. Median to longest: latency, all runs together.{from}")
}

pub(in crate::text) fn drop_at(at: Bytes) -> String {
    format!("after {}", number::decimal_bytes(at))
}

pub(in crate::text) fn errors_counted(what: ErrorCount, n: u64) -> String {
    match what {
        ErrorCount::FailedIos => counted(n, "I/O") + " failed",
        ErrorCount::Others => counted(n, "more error"),
    }
}

pub(in crate::text) fn and_more(n: u64) -> String {
    format!("and {} more", number::grouped(n))
}

pub(in crate::text) fn more_in_record(n: u64) -> String {
    format!("and {} more; the record has them", number::grouped(n))
}

pub(in crate::text) fn things_counted(what: CountedThing, n: u64) -> String {
    let noun = match what {
        CountedThing::Cards => match compared() {
            ComparedThing::Cards | ComparedThing::CardHostPairs => "card",
            ComparedThing::Sets => "set",
        },
        CountedThing::Hosts => "host",
        CountedThing::Layers => "layer",
        CountedThing::Workloads => "workload",
        CountedThing::PublishedRuns => "published run",
    };
    counted(n, noun)
}

pub(in crate::text) fn runs_of(runs: u64, planned: u64) -> String {
    let (runs, planned) = (number::grouped(runs), number::grouped(planned));
    format!("{runs} of {planned} runs")
}

pub(in crate::text) fn runs_of_most(runs: u64, planned: u64) -> String {
    format!("{runs} of at most {planned} runs")
}

pub(in crate::text) fn these_runs(numbers: &[String]) -> String {
    match numbers {
        [one] => format!("run {one}"),
        several => format!("runs {}", several.join(", ")),
    }
}

pub(in crate::text) fn stored_as(id: &str) -> String {
    format!("stored as {id}")
}

pub(in crate::text) fn campaign_legend(ranked: bool) -> String {
    let figures = "MB/s of large blocks, IOPS of small ones: mean ± deviation over runs.";
    match ranked {
        true => format!(
            "{figures} {} that share a letter: no difference between them is shown (all comparisons as one family, 5% \
             false alarms).",
            capital(super::answers::things())
        ),
        false => figures.to_owned(),
    }
}

pub(in crate::text) fn layer_leaves(layer: &str, reference: &str) -> String {
    match reference {
        "raw" => format!("What {layer} leaves of the bare card"),
        reference => format!("What {layer} leaves of {reference}"),
    }
}

pub(in crate::text) fn layer_leaves_note() -> &'static str {
    "Ratio of the means with simultaneous 95% intervals; = same within 5%, ? undecided."
}

pub(in crate::text) fn failed_not_counted(n: u64, point: &str, because: &str) -> String {
    let runs = counted(n, "run");
    format!("Not counted: {runs} that did not complete; first: {point} ({because})")
}

pub(in crate::text) fn others_not_counted(n: u64) -> String {
    let runs = counted(n, "stored run");
    format!("Not counted: {runs} that were measured in another way")
}

pub(in crate::text) fn others_of_points(n: u64) -> String {
    let runs = counted(n, "run");
    format!("{runs} of these points were measured in another way")
}

pub(in crate::text) fn because_of_run(because: &str, run: &str) -> String {
    format!("{because} (run {run})")
}

pub(in crate::text) fn caveats_in_report(n: u64) -> String {
    let stand = if n == 1 { "stands" } else { "stand" };
    format!("{} {stand} in the report", counted(n, "more caveat"))
}

pub(in crate::text) fn about_layer(part: LayerPart, layer: &str) -> String {
    match part {
        LayerPart::Against => format!("Against {layer}"),
        LayerPart::Results => format!("Results, {layer}"),
        LayerPart::Spread => format!("How the runs differ, {layer}"),
        LayerPart::Uses => format!("What it is good for, {layer}"),
    }
}

pub(in crate::text) fn spread_note() -> &'static str {
    "The bootstrap supposes no shape of the spread, and needs 8 runs. MAD: median absolute deviation, unscaled. Outliers lie outside \
     Tukey’s fences and stay in every figure. Drift: from the first run to the last by a straight line. Steady \
     state: all windows of five consecutive runs whose highest and lowest differ by at most 20% of their mean, without a \
     slope over 10% (SNIA PTS); each run counts as a round."
}

pub(in crate::text) fn steady_window(
    (first, last): (u32, u32),
    level: &str,
    range: &str,
    slope: &str,
) -> String {
    format!("runs {first} to {last} at {level} MB/s\nrange {range}%, slope {slope}%")
}

pub(in crate::text) fn every_pair(workload: &str) -> String {
    format!("Every pair, {workload}")
}

pub(in crate::text) fn difference_heads(reference: &str) -> [String; 3] {
    [
        "place".to_owned(),
        format!("ratio to {reference} [95%]"),
        "no difference shown from".to_owned(),
    ]
}

pub(in crate::text) fn map_note() -> &'static str {
    "Speed while the whole device was written before the runs, by place."
}

pub(in crate::text) fn comparison_verdict(verdict: &ComparisonText) -> String {
    let chance = |p: &Option<String>| p.as_ref().map_or_else(String::new, |p| format!(" (p {p})"));
    match verdict {
        ComparisonText::Different {
            direction,
            little,
            p,
        } => {
            let direction = match direction {
                RatioDirection::Higher => "higher",
                RatioDirection::Lower => "lower",
                RatioDirection::Unknown => "different",
            };
            let little = if *little { ", by less than 5%" } else { "" };
            format!("{direction}{little}{}", chance(p))
        }
        ComparisonText::Equivalent { p } => format!("same within 5%{}", chance(p)),
        ComparisonText::Undecided { runs: 1, .. } => "not tested (n = 1)".to_owned(),
        ComparisonText::Undecided { runs, needed } => {
            let at = match runs {
                0 => String::new(),
                n => format!(" at n = {n}"),
            };
            match needed {
                Some(needed) => format!("undecided{at}; n = {needed} would decide"),
                None => format!("undecided{at}"),
            }
        }
    }
}

pub(in crate::text) fn compared_quantity(quantity: &str) -> String {
    quantity.replace(" sync P", " fsync P")
}

pub(in crate::text) fn compared_figure_of(workload: &str, figure: &str) -> String {
    format!("{workload}, {}", figure.replace("sync P", "fsync P"))
}

pub(in crate::text) fn ratio_direction((first, second): (&str, &str)) -> String {
    format!("The ratio is {second} to {first}, and the verdict is about {second}.")
}

pub(in crate::text) fn units_of_fio() -> &'static str {
    "MB/s are 10^6 bytes per second; fio prints MiB/s first, whose numbers are 4.6% smaller (1 MiB/s = 1.049 MB/s). \
     IOPS are I/Os divided by time; fio cuts off their decimals."
}

pub(in crate::text) fn tests_note() -> &'static str {
    "Welch’s t; the same corrected for the number of comparisons (Bonferroni), as the intervals are; equivalence \
     within 5% (two one-sided tests), corrected likewise; Mann-Whitney by ranks; the difference in units of the spread (Hedges’ g), and how much more often the second exceeds the first than \
     the reverse (Cliff’s delta)."
}

pub(in crate::text) fn caveats_of_comparison() -> &'static str {
    "Caveats of the comparison"
}

pub(in crate::text) fn caveats_of(name: &str) -> String {
    format!("Caveats of {name}")
}

pub(in crate::text) fn figure_of(figure: &str, statistic: &str) -> String {
    format!("{figure}, {statistic}")
}

pub(in crate::text) fn speeds_along(slowest: &str, fastest: &str) -> String {
    format!("{slowest} to {fastest} by position")
}

pub(in crate::text) fn speed_range(what: &str, slowest: &str, fastest: &str) -> String {
    format!("{what}: {} MB/s", super::span(slowest, fastest))
}

pub(in crate::text) fn holds(real: Bytes) -> String {
    format!("holds {real}")
}

pub(in crate::text) fn of_checked(checked: Bytes) -> String {
    format!("of {checked} checked")
}

pub(in crate::text) fn bad_range(offset: Bytes, len: Bytes, what: &str) -> String {
    format!("{len} from {offset}: {what}")
}

pub(in crate::text) fn beginning() -> &'static str {
    "beginning"
}

pub(in crate::text) fn from_beginning(unit: &str) -> String {
    format!("{unit} from the beginning")
}

pub(in crate::text) fn from_start_of_disk(unit: &str) -> String {
    format!("{unit} from the start of the disk")
}

pub(in crate::text) fn segments_note(strip: bool) -> &'static str {
    match strip {
        true => {
            "Mean speed of each segment, from the beginning to the end. The strip below marks bad places."
        }
        false => "Mean speed of each segment, from the beginning to the end.",
    }
}

pub(in crate::text) fn png_error(error: PngError) -> String {
    match error {
        PngError::NoFont => "no font found".to_owned(),
        PngError::TooLarge { width, height } => format!("{width} × {height} pixels are too many"),
        PngError::Render => "the renderer refused the chart".to_owned(),
    }
}

pub(in crate::text) fn described(phase: &PhaseSummary) -> String {
    phase.workload.clone()
}
