//! The parts of the page around the charts.

use crate::escape::{markup, plain};
use crate::number::{self, MeanText};
use crate::table::DataTable;
use crate::{chart, facts, naming, results};
use hakaru_model::finding::{PhaseSummary, Summary};
use hakaru_model::units::BytesPerSec;

/// The figures of one series at a glance: what one would say aloud of each phase.
pub(super) fn tiles(summary: &Summary) -> String {
    let tiles = summary.phases.iter().map(|phase| {
        let (big, unit, small) = quoted(phase);
        let name = markup(&naming::phase(summary, phase));
        format!("<li>{name}<b>{big} <span>{unit}</span></b><small>{small}</small></li>\n")
    });
    format!("<ul class=\"tiles\">\n{}</ul>\n", tiles.collect::<String>())
}

/// The figure a phase is quoted by, with its unit, and the next one: small I/Os are told by their number, large ones
/// by their bytes, durable ones by how long `fsync` takes.
fn quoted(phase: &PhaseSummary) -> (String, &'static str, String) {
    let (bandwidth, iops) = (
        MeanText::megabytes(&phase.bandwidth),
        MeanText::of(&phase.iops, 1.0),
    );
    if let Some((levels, after)) = levels(phase) {
        return (levels, "MB/s", after);
    }
    if !chart::small_blocks(phase) {
        return (
            bandwidth.mean.clone(),
            "MB/s",
            spread_words(&bandwidth, phase),
        );
    }
    let p99 = |latency: &hakaru_model::finding::LatencySummary| {
        let found = latency
            .quantiles
            .iter()
            .find(|(q, _)| *q == hakaru_model::units::Quantile::P99);
        found.map(|(_, value)| *value)
    };
    let small = match (
        phase.sync.as_ref().and_then(p99),
        phase.latency.as_ref().and_then(p99),
    ) {
        (Some(sync), _) => format!("fsync P99 {sync}"),
        (None, Some(latency)) => format!("P99 {latency}"),
        (None, None) => format!("{bandwidth} MB/s"),
    };
    (iops.mean.clone(), "IOPS", small)
}

/// Speed before and after a lasting fall, and where it fell: the mean of two levels is neither.
fn levels(phase: &PhaseSummary) -> Option<(String, String)> {
    let cliff = phase.sustained.as_ref()?.cliff.as_ref()?;
    let level = |bw: BytesPerSec| number::significant(bw.0 / 1e6);
    Some((
        format!("{} → {}", level(cliff.before), level(cliff.after)),
        format!("after {}", cliff.at),
    ))
}

fn spread_words(spread: &MeanText, phase: &PhaseSummary) -> String {
    match &spread.deviation {
        Some(deviation) => format!("± {deviation}, {} runs", phase.bandwidth.values.len()),
        None => "1 run".to_owned(),
    }
}

/// All series beside each other, phase by phase.
pub(super) fn side_by_side(summaries: &[Summary], names: &[String]) -> String {
    let cell = |phase: &PhaseSummary| {
        let (bandwidth, iops) = (
            MeanText::megabytes(&phase.bandwidth),
            MeanText::of(&phase.iops, 1.0),
        );
        match (levels(phase), chart::small_blocks(phase)) {
            (Some((levels, after)), _) => format!("{levels} MB/s\n{after}"),
            (None, true) => format!("{iops} IOPS\n{bandwidth} MB/s"),
            (None, false) => format!("{bandwidth} MB/s\n{iops} IOPS"),
        }
    };
    let rows = naming::phases(summaries).into_iter().map(|(phase, cells)| {
        let cells = cells.into_iter().map(|c| c.map_or("–".to_owned(), cell));
        std::iter::once(phase).chain(cells).collect()
    });
    let head = std::iter::once("Phase".to_owned()).chain(names.iter().cloned());
    let table = DataTable {
        head: head.collect(),
        rows: rows.collect(),
    };
    table.scrolling("numbers cards wide", "All series side by side")
}

/// What long writes showed, in sentences.
pub(super) fn sustained(summaries: &[Summary], names: &[String]) -> String {
    let mut items = String::new();
    for (summary, name) in summaries.iter().zip(names) {
        for phase in &summary.phases {
            if let Some(words) = facts::sustained(phase) {
                let lead = if summaries.len() > 1 {
                    format!("{name}, ")
                } else {
                    String::new()
                };
                let phase = naming::phase(summary, phase);
                items.push_str(&format!(
                    "<li>{}</li>\n",
                    markup(&format!("{lead}{phase}: {words}"))
                ));
            }
        }
    }
    if items.is_empty() {
        items
    } else {
        format!("<ul class=\"facts\">\n{items}</ul>\n")
    }
}

/// What limits the worth of the figures: each caveat once, with the series it concerns where it is not all of them.
pub(super) fn caveats(summaries: &[Summary], names: &[String]) -> String {
    let mut all: Vec<(String, Vec<&str>)> = Vec::new();
    for (summary, name) in summaries.iter().zip(names) {
        for caveat in facts::caveats(summary) {
            match all.iter_mut().find(|(known, _)| *known == caveat) {
                Some((_, of)) => of.push(name),
                None => all.push((caveat, vec![name])),
            }
        }
    }
    let items = all
        .iter()
        .map(|(caveat, of)| match of.len() == summaries.len() {
            true => format!("<li>{}</li>\n", markup(caveat)),
            false => format!(
                "<li><b>{}</b>: {}</li>\n",
                markup(&of.join("; ")),
                markup(caveat)
            ),
        });
    let items: String = items.collect();
    if items.is_empty() {
        return items;
    }
    format!("<h2>What limits these figures</h2>\n<ul class=\"caveats\">\n{items}</ul>\n")
}

/// The table of results, with everything a phase has.
pub(super) fn results(summary: &Summary, name: &str) -> String {
    let table = results::table(summary, with_interval);
    format!(
        "<h2>Results, {}</h2>\n{}{}{}",
        markup(name),
        table.scrolling("numbers cards wide", &format!("Results, {name}")),
        failed(summary),
        every_run(summary, name)
    )
}

/// `33.6 ± 0.2`, and below it the interval in which the true mean lies.
pub(crate) fn with_interval(spread: &MeanText) -> String {
    match &spread.ci95 {
        Some((low, high)) if spread.caveats.is_empty() => {
            format!("{spread}\n95 %: {low} to {high}")
        }
        Some((low, high)) => format!("{spread}\n95 %: {low} to {high} ({})", spread.caveats),
        None => spread.to_string(),
    }
}

/// More runs than this are left to the CSV.
const MOST_RUNS: usize = 200;

/// The single measurements behind the means, a row a run.
fn every_run(summary: &Summary, name: &str) -> String {
    let runs = summary
        .phases
        .iter()
        .map(|phase| phase.bandwidth.values.len())
        .max()
        .unwrap_or(0);
    if !(2..=MOST_RUNS).contains(&runs) {
        return String::new();
    }
    let column = |phase: &PhaseSummary| -> (String, Vec<f64>) {
        let of = naming::phase(summary, phase);
        match chart::small_blocks(phase) {
            true => (format!("{of}, IOPS"), phase.iops.values.clone()),
            false => (
                format!("{of}, MB/s"),
                phase.bandwidth.values.iter().map(|b| b / 1e6).collect(),
            ),
        }
    };
    let columns: Vec<(String, Vec<f64>)> = summary.phases.iter().map(column).collect();
    let head = std::iter::once("Run".to_owned()).chain(columns.iter().map(|c| c.0.clone()));
    let rows = (0..runs).map(|run| {
        let values = columns.iter().map(|(_, values)| {
            values
                .get(run)
                .map_or("–".to_owned(), |v| number::significant(*v))
        });
        std::iter::once((run + 1).to_string())
            .chain(values)
            .collect()
    });
    let table = DataTable {
        head: head.collect(),
        rows: rows.collect(),
    };
    let table = table.scrolling("numbers", &format!("Every run, {name}"));
    format!("<details><summary>Every run by itself</summary>\n{table}</details>\n")
}

/// Errors of each operation, and of none.
fn failed(summary: &Summary) -> String {
    let mut items = String::new();
    for phase in &summary.phases {
        let name = naming::phase(summary, phase);
        if phase.errors > 0 {
            let words = format!("{name}: {} I/Os failed", number::count(phase.errors));
            items.push_str(&format!("<li>{}</li>\n", markup(&words)));
        }
        if phase.detail.other_errors > 0 {
            let words = format!(
                "{name}: {} more errors",
                number::count(phase.detail.other_errors)
            );
            items.push_str(&format!("<li>{}</li>\n", markup(&words)));
        }
    }
    if items.is_empty() {
        items
    } else {
        format!("<ul class=\"facts\">\n{items}</ul>\n")
    }
}

/// How many ids of runs are listed; the store knows all.
const IDS: usize = 20;

/// What was measured, on what, and under which circumstances.
pub(super) fn circumstances(summary: &Summary, name: &str, open: bool) -> String {
    let mut rows = String::new();
    for line in facts::circumstances(summary) {
        let class = if line.known { "" } else { " class=\"quiet\"" };
        rows.push_str(&format!(
            "<tr><th scope=\"row\">{}</th><td{class}>{}</td></tr>\n",
            line.name(),
            markup(&line.value)
        ));
    }
    let mut ids: Vec<String> = summary.runs.iter().take(IDS).map(|id| plain(id)).collect();
    if summary.runs.len() > IDS {
        ids.push(format!(
            "and {} more",
            number::count((summary.runs.len() - IDS) as u64)
        ));
    }
    rows.push_str(&format!(
        "<tr><th scope=\"row\">Runs</th><td>{}</td></tr>\n",
        markup(&ids.join(", "))
    ));
    let open = if open { " open" } else { "" };
    format!(
        "<h2>Circumstances, {}</h2>\n<details{open}><summary>Target, device and host</summary>\n\
         <table class=\"pairs wide\"><tbody>\n{rows}</tbody></table></details>\n",
        markup(name)
    )
}

/// How to read the figures.
pub(super) fn method() -> &'static str {
    "<footer>\n<p>MB/s are 10<sup>6</sup> bytes per second. Means and standard deviations are taken over runs, never over \
     single I/Os; the deviation divides by n − 1. Latency runs from submission to completion, of an open loop from \
     the intended start of each I/O; the percentiles are those of all I/Os of all runs together, and one is left out where there were too few I/Os for it. Amplification is the \
     number of bytes the device moved per byte of the application, from its counters.</p>\n</footer>\n"
}
