//! The report of runs: one series, or a comparison of several.

use crate::chart::{self, Section, charts};
use crate::document::{
    Document, DocumentBlock, Fold, Pair, TableStyle, Tile, chart_parts, folded, part,
};
use crate::escape::plain;
use crate::findings::{self, ConclusionKind, ConclusionRow};
use crate::naming::distinct;
use crate::number::{self, MeanText};
use crate::results;
use crate::table::{self, DataTable};
use crate::{facts, merged, naming, path, text, time};
use hakaru_model::advice::RunFindings;
use hakaru_model::finding::{LatencySummary, PhaseSummary, Summary};
use hakaru_model::units::{BytesPerSec, Quantile};

/// Renders series as one self-contained HTML page.
pub fn html(summaries: &[Summary]) -> String {
    html_with(summaries, &[])
}

/// Renders series with their conclusions; series without an element in `findings` have none.
pub fn html_with(summaries: &[Summary], findings: &[RunFindings]) -> String {
    document(summaries, findings).html()
}

/// Renders series as Markdown.
pub fn markdown(summaries: &[Summary]) -> String {
    markdown_with(summaries, &[], None)
}

/// Renders series with their conclusions as Markdown; `charts` is the directory of the charts of
/// [`charts`](crate::charts()), which are linked as `NAME.svg`, if they are saved.
pub fn markdown_with(
    summaries: &[Summary],
    findings: &[RunFindings],
    charts: Option<&str>,
) -> String {
    document(summaries, findings).markdown(charts)
}

/// Renders one series for a terminal of `width` columns; `color` allows ANSI styles.
pub fn terminal(summary: &Summary, width: usize, color: bool) -> String {
    terminal_with(summary, &RunFindings::default(), width, color)
}

/// Renders one series with its conclusions for a terminal.
pub fn terminal_with(
    summary: &Summary,
    findings: &RunFindings,
    width: usize,
    color: bool,
) -> String {
    brief(summary, findings).terminal(width, color)
}

fn document(summaries: &[Summary], findings: &[RunFindings]) -> Document {
    let title = match summaries {
        [single] => facts::headline(single),
        many => of_common(many, &format!("{} series side by side", many.len())),
    };
    page(title, summaries, findings, Vec::new())
}

/// Title of a report on series of one target: `SanDisk MAX Endurance: ext4 against vfat`.
pub(crate) fn of_common(summaries: &[Summary], title: &str) -> String {
    naming::common(summaries).map_or_else(|| title.to_owned(), |thing| format!("{thing}: {title}"))
}

/// The whole report; `verdicts` follow the key figures.
pub(crate) fn page(
    title: String,
    summaries: &[Summary],
    findings: &[RunFindings],
    verdicts: Vec<DocumentBlock>,
) -> Document {
    let names = naming::series(summaries);
    let mut blocks = vec![match summaries {
        [] => DocumentBlock::Text("There is nothing to report: no series was given.".to_owned()),
        [single] => DocumentBlock::Tiles(tiles(single)),
        many => side_by_side(many, &names),
    }];
    blocks.push(DocumentBlock::Facts(sentences(summaries, &names)));
    blocks.extend(verdicts);
    blocks.extend(conclusions(findings, &names));
    let subjects: Vec<(String, &Summary)> = names.iter().cloned().zip(summaries).collect();
    let caveats = DocumentBlock::Caveats(merged::findings(&subjects));
    blocks.extend(part("Caveats", vec![caveats]));
    let level = "Charts of the phases that were not tested for evenness";
    blocks.extend(chart_parts(
        &charts(summaries),
        level,
        path::blocks(&subjects),
    ));
    for (name, summary) in &subjects {
        blocks.extend(part(format!("Results, {name}"), of_series(summary)));
    }
    for (name, summary) in &subjects {
        let pairs = vec![DocumentBlock::Pairs(circumstances(summary))];
        let circumstances = target_device_and_host(pairs, summaries.len() == 1);
        blocks.extend(part(format!("Circumstances, {name}"), vec![circumstances]));
    }
    blocks.push(DocumentBlock::Footer(text::method().to_owned()));
    let under = |(name, summary): &(String, &Summary)| match summaries.len() {
        1 => (String::new(), origin(summary)),
        _ => (name.clone(), origin(summary)),
    };
    Document {
        title,
        under: subjects.iter().map(under).collect(),
        blocks,
    }
}

/// The environment of a measurement, which a reader can collapse.
pub(crate) fn target_device_and_host(blocks: Vec<DocumentBlock>, open: bool) -> DocumentBlock {
    DocumentBlock::Fold(Fold {
        about: "Target, device and host".to_owned(),
        open,
        blocks,
    })
}

/// The short form of one series.
fn brief(summary: &Summary, findings: &RunFindings) -> Document {
    let table = results::columns(summary);
    let mut blocks = vec![
        DocumentBlock::Table(TableStyle::Fitted(results::SPARE), table),
        DocumentBlock::Quiet(legend(summary)),
        DocumentBlock::Facts(sentences(std::slice::from_ref(summary), &[])),
        DocumentBlock::Caveats(merged::findings(&[(String::new(), summary)])),
    ];
    blocks.extend(conclusions(std::slice::from_ref(findings), &[]));
    let path = DocumentBlock::Facts(path::in_brief(summary));
    blocks.extend(part(Section::Path.title(), vec![path]));
    let brief = facts::brief(summary).into_iter();
    let pairs = brief.map(|(name, value)| Pair::from((name.to_owned(), value)));
    blocks.push(DocumentBlock::Pairs(pairs.collect()));
    Document {
        title: facts::headline(summary),
        under: vec![(String::new(), origin(summary))],
        blocks,
    }
}

fn legend(summary: &Summary) -> String {
    let spread = if summary.runs.len() == 1 {
        "of the one run"
    } else {
        "mean ± deviation over runs"
    };
    let open = summary.phases.iter().any(|phase| phase.detail.open_loop);
    let from = if open {
        " Latency of an open loop counts from the intended start of each I/O."
    } else {
        ""
    };
    format!("MB/s and IOPS: {spread}. Median to longest: latency, all runs together.{from}")
}

/// Number of runs, the program that measured them, and the start time.
fn origin(summary: &Summary) -> String {
    let (runs, begun) = (facts::runs(summary), time::utc(summary.started_unix_ms));
    [runs, summary.origin.clone(), begun].join(" · ")
}

/// The key figures of one series: the main figure of each phase.
fn tiles(summary: &Summary) -> Vec<Tile> {
    let tile = |phase: &PhaseSummary| {
        let (figure, unit, note) = quoted(phase);
        Tile {
            name: naming::phase(summary, phase),
            figure,
            unit: unit.to_owned(),
            note,
        }
    };
    summary.phases.iter().map(tile).collect()
}

/// The main figure of a phase, its unit, and a second figure: IOPS for small I/Os, bandwidth for large ones; durable
/// writes also have the `fsync` latency.
fn quoted(phase: &PhaseSummary) -> (String, &'static str, String) {
    if let Some((levels, after)) = levels(phase) {
        return (levels, "MB/s", after);
    }
    let bandwidth = MeanText::megabytes(&phase.bandwidth);
    if !chart::by_iops(phase) {
        let note = match &bandwidth.deviation {
            Some(deviation) => format!("± {deviation}, {} runs", phase.bandwidth.values.len()),
            None => "1 run".to_owned(),
        };
        return (bandwidth.mean, "MB/s", note);
    }
    let p99 = |latency: &LatencySummary| results::quantile(latency, Quantile::P99);
    let (sync, latency) = (phase.sync.as_ref(), phase.latency.as_ref());
    let note = match (sync.and_then(p99), latency.and_then(p99)) {
        (Some(sync), _) => format!("fsync P99 {sync}"),
        (None, Some(latency)) => format!("P99 {latency}"),
        (None, None) => format!("{bandwidth} MB/s"),
    };
    (MeanText::of(&phase.iops, 1.0).mean, "IOPS", note)
}

/// Speed before and after a lasting drop, and its position; the mean would describe neither level.
fn levels(phase: &PhaseSummary) -> Option<(String, String)> {
    let cliff = phase.sustained.as_ref()?.cliff.as_ref()?;
    let level = |bw: BytesPerSec| number::significant(bw.0 / 1e6);
    Some((
        format!("{} → {}", level(cliff.before), level(cliff.after)),
        format!("after {}", cliff.at),
    ))
}

/// A comparison of all series, phase by phase.
fn side_by_side(summaries: &[Summary], names: &[String]) -> DocumentBlock {
    let cell = |phase: &PhaseSummary| {
        let (bandwidth, iops) = (
            MeanText::megabytes(&phase.bandwidth),
            MeanText::of(&phase.iops, 1.0),
        );
        match (levels(phase), chart::by_iops(phase)) {
            (Some((levels, after)), _) => format!("{levels} MB/s\n{after}"),
            (None, true) => format!("{iops} IOPS\n{bandwidth} MB/s"),
            (None, false) => format!("{bandwidth} MB/s\n{iops} IOPS"),
        }
    };
    let rows = naming::phases(summaries).into_iter().map(|(phase, cells)| {
        let cells = cells.into_iter().map(|c| c.map_or("–".to_owned(), cell));
        table::row(phase, cells)
    });
    let table = DataTable::new(table::row("Phase", names.iter().cloned()), rows);
    DocumentBlock::Table(TableStyle::Numbers, table)
}

/// Sentences about each phase: variation, I/O amplification, and bytes written for laying out files.
fn sentences(summaries: &[Summary], names: &[String]) -> Vec<(String, String)> {
    let mut all = Vec::new();
    for (index, summary) in summaries.iter().enumerate() {
        let of = match names {
            [_, _, ..] => format!("{}, ", names[index]),
            _ => String::new(),
        };
        for phase in &summary.phases {
            let said = [
                facts::sustained(phase),
                facts::notable_amplification(phase),
                facts::laid_out(phase),
            ];
            let lead = format!("{of}{}", naming::phase(summary, phase));
            all.extend(said.into_iter().flatten().map(|said| (lead.clone(), said)));
        }
    }
    all
}

/// Conclusions from the figures: with all reasons for one series, as a table for several.
fn conclusions(all: &[RunFindings], names: &[String]) -> Vec<DocumentBlock> {
    let of_kind = |kind| conclusions_of(kind, all, names);
    ConclusionKind::ALL.into_iter().flat_map(of_kind).collect()
}

/// Conclusions of one kind.
fn conclusions_of(
    kind: ConclusionKind,
    all: &[RunFindings],
    names: &[String],
) -> Vec<DocumentBlock> {
    let (title, about) = (text::conclusion_title(kind), text::conclusion_about(kind));
    let found: Vec<Vec<ConclusionRow>> = all.iter().map(|found| kind.of(found)).collect();
    let blocks = match &found[..] {
        found if found.iter().all(Vec::is_empty) => Vec::new(),
        [only] => vec![DocumentBlock::Conclusions(about, only.clone())],
        many => compared_conclusions(about, many, names),
    };
    part(title, blocks)
}

/// Suitability for uses, as a table if there are several series.
pub(crate) fn uses_of(all: &[RunFindings], names: &[String]) -> Vec<DocumentBlock> {
    conclusions_of(ConclusionKind::Uses, all, names)
}

/// Verdicts only, one row for each use and one column for each series; the reasons of each series are collapsed.
fn compared_conclusions(
    about: &'static str,
    found: &[Vec<ConclusionRow>],
    names: &[String],
) -> Vec<DocumentBlock> {
    let uses = distinct(found.iter().flatten().map(|row| &row.about));
    let cell = |of: &Vec<ConclusionRow>, wanted: &String| {
        let row = of.iter().find(|row| row.about == *wanted);
        row.map_or("–".to_owned(), findings::verdict)
    };
    let rows = uses.iter().map(|wanted| {
        let cells = found.iter().map(|of| cell(of, wanted));
        table::row(*wanted, cells)
    });
    let head = table::row(about, names.iter().cloned());
    let table = DataTable::new(head, rows);
    let mut reasons = Vec::new();
    for (name, of) in names.iter().zip(found).filter(|(_, of)| !of.is_empty()) {
        reasons.push(DocumentBlock::Title(name.clone()));
        reasons.push(DocumentBlock::Conclusions(about, of.clone()));
    }
    vec![
        DocumentBlock::Table(TableStyle::Words, table),
        folded("Why", reasons),
    ]
}

/// The table of results with all figures of each phase, its errors, and all runs.
fn of_series(summary: &Summary) -> Vec<DocumentBlock> {
    let mut blocks = vec![
        DocumentBlock::Table(TableStyle::Numbers, results::table(summary)),
        DocumentBlock::Facts(failed(summary)),
    ];
    blocks.extend(every_run(summary).map(|table| {
        let table = DocumentBlock::Table(TableStyle::Numbers, table);
        folded("Every run by itself", vec![table])
    }));
    blocks
}

/// Maximum number of listed runs; the CSV contains all.
const MOST_RUNS: usize = 200;

/// Results of the single runs, one row each.
fn every_run(summary: &Summary) -> Option<DataTable> {
    let phases = summary.phases.iter();
    let runs = phases.map(|phase| phase.bandwidth.values.len()).max();
    let runs = runs.filter(|runs| (2..=MOST_RUNS).contains(runs))?;
    let column = |phase: &PhaseSummary| -> (String, Vec<f64>) {
        let of = naming::phase(summary, phase);
        let (unit, scale, values) = match chart::by_iops(phase) {
            true => ("IOPS", 1.0, &phase.iops.values),
            false => ("MB/s", 1e6, &phase.bandwidth.values),
        };
        let values = values.iter().map(|value| value / scale);
        (format!("{of}, {unit}"), values.collect())
    };
    let columns: Vec<(String, Vec<f64>)> = summary.phases.iter().map(column).collect();
    let head = table::row("Run", columns.iter().map(|c| c.0.clone()));
    let rows = (0..runs).map(|run| {
        let value = |(_, values): &(String, Vec<f64>)| {
            let value = values.get(run).copied();
            value.map_or("–".to_owned(), number::significant)
        };
        table::row((run + 1).to_string(), columns.iter().map(value))
    });
    Some(DataTable::new(head, rows))
}

/// Failed I/Os and other errors of each phase.
fn failed(summary: &Summary) -> Vec<(String, String)> {
    let mut items = Vec::new();
    for phase in &summary.phases {
        let counted = [
            (phase.errors, "I/O", " failed"),
            (phase.detail.other_errors, "more error", ""),
        ];
        for (count, what, how) in counted.into_iter().filter(|(count, ..)| *count > 0) {
            let name = naming::phase(summary, phase);
            let plural = if count == 1 { "" } else { "s" };
            let said = format!("{} {what}{plural}{how}", number::count(count));
            items.push((name, said));
        }
    }
    items
}

/// Maximum number of listed run IDs; the store has all.
const IDS: usize = 20;

/// Target, host and environment of the measurement.
fn circumstances(summary: &Summary) -> Vec<Pair> {
    let mut ids: Vec<String> = summary.runs.iter().take(IDS).map(|id| plain(id)).collect();
    if summary.runs.len() > IDS {
        let more = (summary.runs.len() - IDS) as u64;
        ids.push(format!("and {} more", number::count(more)));
    }
    let lines = facts::circumstances(summary).into_iter().map(Pair::from);
    lines
        .chain([Pair::from(("Runs".to_owned(), ids.join(", ")))])
        .collect()
}
