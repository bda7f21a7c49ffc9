//! The report of a campaign: a short summary, tables as in published articles, charts, a section for each card, and
//! the environment. One document, rendered as HTML and as Markdown; CSV has its own format.

mod brief;
mod card;
mod charts;
mod csv;
mod csv_rows;
mod parquet;
mod spread;
mod tables;
mod view;
mod words;

use crate::chart::Chart;
use crate::document::{Document, DocumentBlock, Pair, TableStyle, chart_parts, folded, part};
use crate::findings::{self, ConclusionKind, ConclusionRow};
use crate::table::DataTable;
use crate::{merged, number, text, time};
use hakaru_model::campaign::CampaignSummary;
use hakaru_model::finding::{BusLimit, Comparison, Summary};
use std::collections::BTreeSet;
use view::View;

/// Renders a campaign as one self-contained HTML page.
pub fn campaign_html(summary: &CampaignSummary) -> String {
    document(&View::of(summary)).html()
}

/// Renders a campaign as Markdown; `charts` is the directory of the charts of [`campaign_charts`], which are linked
/// as `NAME.svg`, if they are saved.
pub fn campaign_markdown(summary: &CampaignSummary, charts: Option<&str>) -> String {
    document(&View::of(summary)).markdown(charts)
}

/// Renders a campaign as CSV: one line for each figure of each point, for each single run, and for each comparison.
pub fn campaign_csv(summary: &CampaignSummary) -> String {
    csv::csv(&View::of(summary))
}

/// Renders a campaign as an Apache Parquet file with the rows of [`campaign_csv`].
pub fn campaign_parquet(summary: &CampaignSummary) -> Vec<u8> {
    parquet::parquet(&View::of(summary))
}

/// Renders the short form of a campaign for a terminal of `width` columns; `color` allows ANSI styles.
pub fn campaign_terminal(summary: &CampaignSummary, width: usize, color: bool) -> String {
    brief::document(&View::of(summary)).terminal(width, color)
}

/// All charts of a campaign, to be saved individually.
pub fn campaign_charts(summary: &CampaignSummary) -> Vec<Chart> {
    charts::charts(&View::of(summary))
}

/// Summarizes the campaign in a few sentences, each with its subject.
pub fn campaign_in_short(summary: &CampaignSummary) -> Vec<(String, String)> {
    words::in_short(&View::of(summary))
}

fn document(view: &View<'_>) -> Document {
    let mut blocks = vec![
        DocumentBlock::Part("In short".to_owned()),
        DocumentBlock::Facts(words::in_short(view)),
        DocumentBlock::Menu,
    ];
    if view.of.cards.is_empty() {
        blocks = vec![DocumentBlock::Text(
            "There is nothing to report: no run of this campaign counts yet.".to_owned(),
        )];
    }
    blocks.extend(advice(view));
    blocks.extend(caveats(view));
    blocks.extend(results(view));
    blocks.extend(differences(view));
    blocks.extend(promises(view));
    blocks.extend(pace(view));
    let level = "Charts of the workloads that were not tested for evenness";
    blocks.extend(chart_parts(&charts::charts(view), level));
    for card in 0..view.names.len() {
        blocks.extend(card::section(view, card));
    }
    blocks.extend(method(view));
    blocks.extend(failures(view));
    blocks.push(DocumentBlock::Footer(text::method().to_owned()));
    Document {
        title: view.of.name.clone(),
        under: under(view),
        blocks,
    }
}

/// Formats a count with its noun: `6 cards`, `1 layer`.
fn counted(count: usize, thing: &str) -> String {
    let plural = if count == 1 { "" } else { "s" };
    format!("{} {thing}{plural}", number::count(count as u64))
}

/// Lines below the title.
fn under(view: &View<'_>) -> Vec<(String, String)> {
    let of = view.of;
    let mut line = vec![
        counted(view.names.len(), "card"),
        counted(view.layers.len(), "layer"),
        counted(view.works.len(), "workload"),
    ];
    let stated: u64 = view
        .everything()
        .iter()
        .flat_map(|(_, layer)| &layer.summary.phases)
        .map(stated_runs)
        .sum();
    match (of.runs, of.planned) {
        (0, _) if stated > 0 => {}
        (runs, Some(planned)) if runs != planned => {
            line.push(format!(
                "{} of {} runs",
                number::count(runs),
                number::count(planned)
            ));
        }
        (runs, _) => line.push(counted(runs as usize, "run")),
    }
    if stated > 0 {
        line.push(counted(stated as usize, "published run"));
    }
    let everything = view.everything();
    let begun = everything
        .iter()
        .map(|(_, layer)| layer.summary.started_unix_ms)
        .filter(|&ms| ms > 0);
    if let (Some(first), Some(last)) = (begun.clone().min(), begun.max()) {
        let (first, last) = (time::day(first), time::day(last));
        line.push(if first == last {
            first
        } else {
            format!("{first} to {last}")
        });
    }
    let origins: BTreeSet<&str> = everything
        .iter()
        .map(|(_, layer)| layer.summary.origin.as_str())
        .collect();
    line.extend(origins.into_iter().map(str::to_owned));
    let about = std::iter::once(of.about.clone()).filter(|about| !about.is_empty());
    let lines = about.chain([line.join(" · ")]);
    lines.map(|line| (String::new(), line)).collect()
}

fn stated_runs(phase: &hakaru_model::finding::PhaseSummary) -> u64 {
    if phase.bandwidth.values.is_empty() {
        phase.detail.stated_runs.map_or(0, u64::from)
    } else {
        0
    }
}

/// Suitability of each card, layer by layer.
fn advice(view: &View<'_>) -> Vec<DocumentBlock> {
    let tables: Vec<(&String, DataTable)> = view
        .layers
        .iter()
        .filter_map(|layer| Some((layer, tables::uses(view, layer)?)))
        .collect();
    let mut blocks = Vec::new();
    if !tables.is_empty() {
        blocks.push(DocumentBlock::Part("What each card is good for".to_owned()));
        blocks.push(DocumentBlock::Quiet(
            "The figures behind each verdict stand in the section of the card.".to_owned(),
        ));
    }
    let several = tables.len() > 1;
    for (layer, table) in tables {
        blocks.extend(several.then(|| DocumentBlock::Title(layer.clone())));
        blocks.push(DocumentBlock::Table(TableStyle::Words, table));
    }
    blocks
}

/// Limits of the design, and every finding of every point, each once.
fn caveats(view: &View<'_>) -> Vec<DocumentBlock> {
    let subjects: Vec<(String, &Summary)> = view
        .everything()
        .into_iter()
        .map(|(name, layer)| (name, &layer.summary))
        .collect();
    let weaknesses = view.of.weaknesses.iter().map(text::weakness);
    let mut items: Vec<(String, String)> = weaknesses
        .chain(view.of.notes.iter().cloned())
        .map(|text| (String::new(), text))
        .collect();
    items.extend(merged::findings(&subjects));
    match items.is_empty() {
        true => Vec::new(),
        false => part("Caveats", vec![DocumentBlock::Caveats(items)]),
    }
}

/// Means, deviations and performance of the layers: one table for each workload.
fn results(view: &View<'_>) -> Vec<DocumentBlock> {
    let mut blocks = Vec::new();
    for work in &view.works {
        let table = tables::results(view, work);
        if !table.rows.is_empty() {
            blocks.extend([
                DocumentBlock::Title(work.label.clone()),
                DocumentBlock::Quiet(work.workload.clone()),
            ]);
            blocks.push(DocumentBlock::Table(TableStyle::Numbers, table));
        }
    }
    let mut how = "Mean ± standard deviation over the runs.".to_owned();
    if !view.held_layers().is_empty() {
        how = format!("{how} {}", number::INTERVALS);
        how.push_str(&format!(
            " The ratio is what a layer leaves of {}, with its 95% interval; the verdict is about the layer.",
            view.of.reference_layer
        ));
    }
    if let Some(table) = tables::amplification(view) {
        blocks.push(DocumentBlock::Title("I/O amplification".to_owned()));
        blocks.push(DocumentBlock::Quiet(
            "Bytes the device wrote per byte of the application, from its counters.".to_owned(),
        ));
        blocks.push(DocumentBlock::Table(TableStyle::Numbers, table));
    }
    explained("Results", how, blocks)
}

/// A part that begins with an explanation; empty if there are no blocks.
fn explained(title: &str, how: String, blocks: Vec<DocumentBlock>) -> Vec<DocumentBlock> {
    match blocks.is_empty() {
        true => blocks,
        false => part(title, [vec![DocumentBlock::Quiet(how)], blocks].concat()),
    }
}

/// Maximum number of cards compared pairwise; more cards are compared with the reference only, and the CSV has all
/// pairs.
const EVERY_PAIR: usize = 8;

/// Comparisons of the cards: one table for each workload.
fn differences(view: &View<'_>) -> Vec<DocumentBlock> {
    let mut blocks = Vec::new();
    for work in &view.works {
        let Some(table) = tables::differences(view, work) else {
            continue;
        };
        blocks.extend([
            DocumentBlock::Title(work.label.clone()),
            DocumentBlock::Table(TableStyle::Numbers, table),
        ]);
        if view.names.len() <= EVERY_PAIR && view.names.len() > 2 {
            blocks.extend(
                view.layers
                    .iter()
                    .filter_map(|layer| every_pair(view, layer, work)),
            );
        }
    }
    let how = format!(
        "Ratios are to {}, with their 95% intervals, all of them at once: an interval excludes 1 exactly where a \
         difference is shown. Cards share a letter exactly where no difference between them is shown; that is not yet \
         proof that they are the same. All comparisons of cards in this campaign are judged as one family: if all cards \
         were alike, a false difference would come up with a probability of 5% at most. {}",
        view.name(view.reference()),
        number::INTERVALS
    );
    explained("How the cards differ", how, blocks)
}

fn every_pair(view: &View<'_>, layer: &str, work: &view::Work) -> Option<DocumentBlock> {
    let ranking = view
        .ranking(layer, work)
        .filter(|ranking| ranking.pairs.len() > 1)?;
    let row = |(pair, c): (String, &Comparison)| {
        vec![
            pair,
            crate::compare::ratio(c),
            crate::compare::verdict(c),
            c.p_value_ranks
                .map_or_else(String::new, crate::compare::probability),
            crate::compare::effect(c),
            c.delta
                .map_or_else(String::new, |delta| format!("{delta:+.2}")),
        ]
    };
    let pairs = ranking.pairs.iter().map(|pair| {
        let names = format!(
            "{} against {}",
            view.name(pair.b as usize),
            view.name(pair.a as usize)
        );
        row((names, &pair.comparison))
    });
    let head = [
        "Pair",
        "Ratio [95%]",
        "Verdict",
        "p by ranks (Mann-Whitney)",
        "Effect (Hedges’ g) [95%]",
        "Cliff’s delta",
    ]
    .map(str::to_owned)
    .to_vec();
    let table = DataTable {
        head,
        rows: pairs.collect(),
    }
    .without_empty_columns();
    let about = if view.layers.len() > 1 {
        format!("Every pair, {}, {layer}", work.label)
    } else {
        format!("Every pair, {}", work.label)
    };
    let table = DocumentBlock::Table(TableStyle::Numbers, table);
    Some(folded(about, vec![table]))
}

/// Rated speeds and claims next to the measured results.
fn promises(view: &View<'_>) -> Vec<DocumentBlock> {
    let tables = [
        (TableStyle::Words, tables::printed(view)),
        (TableStyle::Words, tables::classes(view)),
    ];
    let tables: Vec<DocumentBlock> = tables
        .into_iter()
        .filter_map(|(look, table)| Some(DocumentBlock::Table(look, table?)))
        .collect();
    let how = "A promise is kept where the figures reach it and nothing flattered them, missed where they do not and \
               nothing held them back; else it is open, and the section of the card says why.";
    let title = text::conclusion_title(ConclusionKind::Claims);
    explained(title, how.to_owned(), tables)
}

/// Whether the host or the cards limit the throughput.
fn pace(view: &View<'_>) -> Vec<DocumentBlock> {
    let conclusions: Vec<ConclusionRow> = view.layers.iter().flat_map(|l| paces(view, l)).collect();
    let kind = ConclusionKind::Limits;
    match conclusions.is_empty() {
        true => Vec::new(),
        false => part(
            text::conclusion_title(kind),
            vec![DocumentBlock::Conclusions(
                text::conclusion_about(kind),
                conclusions,
            )],
        ),
    }
}

/// Bottlenecks through one layer; the layer is named if there are several.
fn paces(view: &View<'_>, layer: &str) -> Vec<ConclusionRow> {
    let of_layer = view.of.limits.iter().filter(|(of, _)| of == layer);
    let of_layer: Vec<BusLimit> = of_layer.map(|(_, limit)| limit.clone()).collect();
    let lead = match view.layers.len() {
        0 | 1 => String::new(),
        _ => format!("{}, ", crate::escape::plain(layer)),
    };
    let mut found = findings::limits_of(&of_layer, &view.names);
    for row in &mut found {
        row.about = format!("{lead}{}", row.about);
    }
    found
}

fn method(view: &View<'_>) -> Vec<DocumentBlock> {
    let pairs: Vec<Pair> = view.of.method.iter().cloned().map(Pair::from).collect();
    match pairs.is_empty() {
        true => Vec::new(),
        false => part("Method", vec![DocumentBlock::Pairs(pairs)]),
    }
}

/// Runs that do not count, with the reasons.
fn failures(view: &View<'_>) -> Vec<DocumentBlock> {
    let of = view.of;
    let mut items: Vec<(String, String)> = of
        .failed
        .iter()
        .map(|run| {
            (
                run.point.clone(),
                format!("{} (run {})", run.because, run.run),
            )
        })
        .collect();
    if of.other_definition > 0 {
        let runs = counted(of.other_definition as usize, "run");
        items.push((
            String::new(),
            format!("{runs} of these points were measured in another way"),
        ));
    }
    match items.is_empty() {
        true => Vec::new(),
        false => part("Runs that do not count", vec![DocumentBlock::Facts(items)]),
    }
}
