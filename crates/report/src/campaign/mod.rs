//! The report of a campaign: a short summary, tables as in published articles, charts, a section for each card, and
//! the environment. One document, rendered as HTML and as Markdown; CSV has its own format.

mod brief;
mod card;
mod charts;
mod csv;
mod csv_rows;
mod parquet;
mod ranks;
mod spread;
mod tables;
mod view;
mod words;

pub(crate) use ranks::amount;
use words::{counted, paces};

use crate::chart::{Chart, source_of};
use crate::document::{Document, DocumentBlock, Pair, TableStyle, chart_parts, folded, part};
use crate::findings::ConclusionKind;
use crate::table::DataTable;
use crate::{compare, merged, number, path, text, time};
use hakaru_model::campaign::{CampaignSummary, CardPair};
use hakaru_model::finding::Summary;
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

/// Renders the order of the cards for each use and by price for a terminal of `width` columns; with the ID of a use, its
/// order with verdicts and reasons.
pub fn ranking_terminal(
    summary: &CampaignSummary,
    only: Option<&str>,
    width: usize,
    color: bool,
) -> String {
    ranks::document(&View::of(summary), only).terminal(width, color)
}

/// All charts of a campaign, to be saved individually.
pub fn campaign_charts(summary: &CampaignSummary) -> Vec<Chart> {
    charts::charts(&View::of(summary))
}

/// Source line of the charts of a campaign.
pub fn campaign_chart_source(summary: &CampaignSummary) -> String {
    let all = View::of(summary).summaries();
    source_of(
        &all.into_iter()
            .map(|(_, summary)| summary)
            .collect::<Vec<_>>(),
    )
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
        let nothing = "There is nothing to report: no run of this campaign counts yet.";
        blocks = vec![DocumentBlock::Text(nothing.to_owned())];
    }
    blocks.extend(advice(view));
    blocks.extend(part(
        text::best_title(),
        vec![DocumentBlock::Facts(ranks::best(view))],
    ));
    blocks.extend(ranks::money(view));
    blocks.extend(caveats(view));
    blocks.extend(results(view));
    blocks.extend(differences(view));
    blocks.extend(promises(view));
    blocks.extend(pace(view));
    let level = "Charts of the workloads that were not tested for evenness";
    blocks.extend(chart_parts(
        &charts::charts(view),
        level,
        path::cards::blocks(&view.traced_cards()),
    ));
    blocks.extend((0..view.names.len()).flat_map(|card| card::section(view, card)));
    blocks.extend(method(view));
    blocks.extend(failures(view));
    blocks.push(DocumentBlock::Footer(text::method().to_owned()));
    Document {
        title: view.of.name.clone(),
        under: under(view),
        blocks,
    }
}

/// Lines below the title.
fn under(view: &View<'_>) -> Vec<(String, String)> {
    let of = view.of;
    let summaries = view.summaries();
    let phases = summaries.iter().flat_map(|(_, summary)| &summary.phases);
    let stated: u64 = phases.map(stated_runs).sum();
    let mut line = vec![
        counted(view.names.len(), "card"),
        counted(view.layers.len(), "layer"),
        counted(view.works.len(), "workload"),
    ];
    match (of.runs, of.planned) {
        (0, _) if stated > 0 => {}
        (runs, Some(planned)) if runs != planned => {
            let (runs, planned) = (number::count(runs), number::count(planned));
            line.push(format!("{runs} of {planned} runs"));
        }
        (runs, _) => line.push(counted(runs as usize, "run")),
    }
    if stated > 0 {
        line.push(counted(stated as usize, "published run"));
    }
    line.extend(days(&summaries));
    let origins: BTreeSet<&str> = summaries.iter().map(|(_, s)| s.origin.as_str()).collect();
    line.extend(origins.into_iter().map(str::to_owned));
    words::under(of, line.join(" · "))
}

/// The days from the first to the last start; `None` for published figures, which have none.
fn days(summaries: &[(String, &Summary)]) -> Option<String> {
    let begun = summaries
        .iter()
        .map(|(_, summary)| summary.started_unix_ms)
        .filter(|&ms| ms > 0);
    let (first, last) = (time::day(begun.clone().min()?), time::day(begun.max()?));
    Some(match first == last {
        true => first,
        false => format!("{first} to {last}"),
    })
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
    let of_design = words::design_caveats(view).into_iter();
    let mut items: Vec<(String, String)> = of_design.map(|text| (String::new(), text)).collect();
    items.extend(merged::findings(&view.summaries()));
    part("Caveats", vec![DocumentBlock::Caveats(items)])
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
        how = format!("{how} {}", text::intervals());
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
        text::intervals()
    );
    explained("How the cards differ", how, blocks)
}

fn every_pair(view: &View<'_>, layer: &str, work: &view::Work) -> Option<DocumentBlock> {
    let ranking = view.ranking(layer, work)?;
    let row = |pair: &CardPair| {
        let [b, a] = [pair.b, pair.a].map(|card| view.name(card as usize));
        let c = &pair.comparison;
        let p = c.p_value_ranks.map(compare::probability);
        vec![
            format!("{b} against {a}"),
            compare::ratio(c),
            compare::verdict(c),
            p.unwrap_or_default(),
            compare::effect(c),
            compare::delta(c),
        ]
    };
    let head = [
        "Pair",
        "Ratio [95%]",
        "Verdict",
        "p by ranks (Mann-Whitney)",
        "Effect (Hedges’ g) [95%]",
        "Cliff’s delta",
    ];
    let table = DataTable::new(head, ranking.pairs.iter().map(row)).without_empty_columns();
    let about = format!("Every pair, {}", view.with_layer(&work.label, layer));
    let table = DocumentBlock::Table(TableStyle::Numbers, table);
    (ranking.pairs.len() > 1).then(|| folded(about, vec![table]))
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
    let conclusions = view.layers.iter().flat_map(|l| paces(view, l)).collect();
    let kind = ConclusionKind::Limits;
    let rows = DocumentBlock::Conclusions(text::conclusion_about(kind), conclusions);
    part(text::conclusion_title(kind), vec![rows])
}

fn method(view: &View<'_>) -> Vec<DocumentBlock> {
    let pairs = view.of.method.iter().cloned().map(Pair::from).collect();
    part("Method", vec![DocumentBlock::Pairs(pairs)])
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
    part("Runs that do not count", vec![DocumentBlock::Facts(items)])
}
