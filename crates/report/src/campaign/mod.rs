//! The report of a campaign: a short summary, tables as in published articles, charts, a section for each card, and
//! the environment. One document, rendered as HTML and as Markdown; CSV has its own format.

mod answer;
mod brief;
mod card;
mod charts;
mod csv;
mod csv_rows;
mod hosts;
mod io_steps;
mod matrices;
mod parquet;
mod ranks;
mod rated;
mod rounds;
mod spread;
mod tables;
mod titles;
mod tradeoffs;
mod uneven;
mod uses;
mod view;
mod words;

pub(crate) use ranks::amount;
use words::paces;

use crate::chart::{Chart, Section, source_of};
use crate::document::{
    ChartParts, ColumnStyle, Document, DocumentBlock, Pair, TableStyle, beside, folded, part,
    worst_caveats,
};
use crate::escape::plain;
use crate::findings::ConclusionKind;
use crate::matrix::Matrix;
use crate::merged::RankedCaveat;
use crate::naming::distinct;
use crate::table::DataTable;
use crate::text::{self, ComparedThing, CountedThing, Head, PagePart, with_compared};
use crate::workload::with_workloads_of;
use crate::{compare, merged, path, time};
use hakaru_model::campaign::{CampaignSummary, CardPair, Weakness};
use hakaru_model::caveat::Caveat;
use hakaru_model::finding::{FindingKind, Summary, SummaryOrigin};
use hakaru_model::severity::{Impact, Severity};
use std::collections::BTreeSet;
use view::View;

/// Renders a campaign as one self-contained HTML page.
pub fn campaign_html(summary: &CampaignSummary) -> String {
    about(summary, || document(&View::of(summary)).html())
}

/// Renders a campaign as Markdown; `charts` is the directory of the charts of [`campaign_charts`], which are linked
/// as `NAME.svg`, if they are saved.
pub fn campaign_markdown(summary: &CampaignSummary, charts: Option<&str>) -> String {
    about(summary, || document(&View::of(summary)).markdown(charts))
}

/// Title of the report: the name of the campaign, or the names of the sets that are compared.
fn title_of(summary: &CampaignSummary) -> String {
    let mut layers = summary
        .cards
        .iter()
        .flat_map(|card| &card.layers)
        .peekable();
    let is_simulated = layers.peek().is_some()
        && layers.all(|layer| layer.summary.caveats.contains(&Caveat::Simulated));
    match summary.of_sets {
        true => text::comparison_of(&summary.name),
        false if is_simulated => text::of_simulated_cards(&summary.name),
        false => summary.name.clone(),
    }
}

/// Runs `print` with the nouns for what this summary compares.
fn about<T>(summary: &CampaignSummary, print: impl FnOnce() -> T) -> T {
    let things = match summary.of_sets {
        true => ComparedThing::Sets,
        false if view::shared_hosts(summary).is_some() => ComparedThing::CardHostPairs,
        false => ComparedThing::Cards,
    };
    let layers = summary.cards.iter().flat_map(|card| &card.layers);
    let series = layers.map(|layer| &layer.summary);
    with_workloads_of(series, || with_compared(things, print))
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
    about(summary, || {
        brief::document(&View::of(summary)).terminal(width, color)
    })
}

/// Renders the order of the cards for each use and by price for a terminal of `width` columns; with the ID of a use, its
/// order with verdicts and reasons.
pub fn ranking_terminal(
    summary: &CampaignSummary,
    only: Option<&str>,
    width: usize,
    color: bool,
) -> String {
    about(summary, || {
        ranks::document(&View::of(summary), only).terminal(width, color)
    })
}

/// All charts of a campaign, to be saved individually.
pub fn campaign_charts(summary: &CampaignSummary) -> Vec<Chart> {
    about(summary, || charts::charts(&View::of(summary)))
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
    about(summary, || words::in_short(&View::of(summary)))
}

/// Number of bars from which the key chart is as high as the boxes beside it.
const MANY_BARS: usize = 10;

fn document(view: &View<'_>) -> Document {
    let charts = charts::charts(view);
    let key = key_chart(view, &charts);
    let caveats = caveats(view);
    let answer = answer::answer(view).map(DocumentBlock::Answer);
    let mut blocks: Vec<DocumentBlock> = answer.into_iter().collect();
    if view.of.cards.is_empty() {
        blocks = vec![DocumentBlock::Text(text::nothing_counts().to_owned())];
    }
    blocks.extend(matrices::matrices(view));
    let lead = key.map(|key| DocumentBlock::KeyChart(Box::new(key.clone())));
    let (mut left, mut right): (Vec<_>, Vec<_>) = (
        lead.into_iter().collect(),
        answer::fastest_for(view).into_iter().collect(),
    );
    // The boxes of a narrow column are as high as many bars.
    let is_low = view.names.len() * view.layers.len() < MANY_BARS && !right.is_empty();
    match is_low {
        true => left.extend(worst_caveats(&caveats)),
        false => right.extend(worst_caveats(&caveats)),
    }
    blocks.extend(beside(ColumnStyle::Lead, left, right));
    let sections = ChartParts {
        charts: &charts,
        key: key.map(|key| key.name.as_str()),
        level: text::charts_of_even_phases(),
        tables: vec![folded(text::every_figure(), results(view))],
        rates_shown: false,
        layer_cost: layer_costs(view),
        path: path::cards::blocks(&view.traced_cards()),
        collapsed: false,
        amplification_told: false,
    };
    blocks.extend(sections.blocks());
    blocks.extend(differences(view));
    blocks.extend(hosts::blocks(view));
    blocks.extend(rated::section(view));
    blocks.extend(uses::advice(view));
    blocks.extend(ranks::money(view));
    blocks.extend(pace(view));
    // Of rounds, only the results of the measurement window are drawn, whatever else was measured.
    let lists_missing = !view.of.cards.is_empty() && view.of.rounds.is_empty();
    let missing = sections.missing().filter(|_| lists_missing);
    blocks.extend(limits(view, caveats, missing));
    blocks.extend(failures(view));
    let cards = (0..view.names.len()).flat_map(|card| card::section(view, card));
    blocks.extend(part(text::page_part(PagePart::EachCard), cards.collect()));
    blocks.push(DocumentBlock::Footer(text::method().to_owned()));
    Document {
        title: title_of(view.of),
        under: under(view),
        blocks,
    }
}

/// Chart of the workload with the largest proven difference.
fn key_chart<'c>(view: &View<'_>, charts: &'c [Chart]) -> Option<&'c Chart> {
    let name = charts::speed_name(answer::main_work(view)?);
    let speed = charts.iter().find(|chart| chart.name == name);
    speed.or_else(|| charts.iter().find(|chart| chart.section == Section::Speed))
}

/// Lines below the title.
fn under(view: &View<'_>) -> Vec<(String, String)> {
    let of = view.of;
    let summaries = view.summaries();
    let published = published_runs(view);
    // A mix reads and writes, and is one workload.
    let workloads = distinct(view.works.iter().map(|work| &work.phase)).len();
    let mut line = counted_cards(view);
    line.extend([
        text::things_counted(CountedThing::Layers, view.layers.len() as u64),
        text::things_counted(CountedThing::Workloads, workloads as u64),
    ]);
    match (of.runs, of.planned) {
        (0, _) if published.is_some() => {}
        (runs, Some(planned)) if runs != planned && of.rounds.is_empty() => {
            line.push(text::runs_of(runs, planned));
        }
        (runs, _) => line.push(text::runs(runs)),
    }
    line.extend(published);
    line.extend(days(&summaries));
    let origins: BTreeSet<&SummaryOrigin> = summaries.iter().map(|(_, s)| &s.origin).collect();
    line.extend(origins.into_iter().map(text::origin));
    words::under(of, line.join(" · "))
}

/// The number of published runs; `None` without any.
fn published_runs(view: &View<'_>) -> Option<String> {
    let summaries = view.summaries();
    let phases = summaries.iter().flat_map(|(_, summary)| &summary.phases);
    let stated: u64 = phases.map(stated_runs).sum();
    (stated > 0).then(|| text::things_counted(CountedThing::PublishedRuns, stated))
}

/// The number of cards, and of the hosts that share some of them.
fn counted_cards(view: &View<'_>) -> Vec<String> {
    let counted = |what, n: usize| text::things_counted(what, n as u64);
    let Some(hosts) = view::shared_hosts(view.of) else {
        return vec![counted(CountedThing::Cards, view.names.len())];
    };
    let cards = distinct(view.of.cards.iter().map(|card| &card.name)).len();
    let hosts = counted(CountedThing::Hosts, hosts.len());
    vec![counted(CountedThing::Cards, cards), hosts]
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
        false => text::span(&first, &last),
    })
}

fn stated_runs(phase: &hakaru_model::finding::PhaseSummary) -> u64 {
    if phase.bandwidth.values.is_empty() {
        phase.detail.stated_runs.map_or(0, u64::from)
    } else {
        0
    }
}

/// Returns whether one of the compared layers is vfat; `None` if traces or counters explain the cost of the layers.
fn unexplained(view: &View<'_>) -> Option<bool> {
    let summaries = view.summaries();
    let is_explained = summaries.iter().any(|(_, summary)| {
        let mut phases = summary.phases.iter();
        !summary.traced.is_empty() || phases.any(|phase| phase.amplification.is_some())
    });
    let mut layers = view.held_layers().into_iter();
    let on_vfat = layers.any(|layer| layer.starts_with("vfat"));
    (!is_explained).then_some(on_vfat)
}

/// Limits of the design, and every finding of every point, each once, from the worst on.
fn caveats(view: &View<'_>) -> Vec<(String, String)> {
    let of_design = |severity, impact, text| RankedCaveat {
        severity,
        impact,
        lead: String::new(),
        text,
    };
    let host = answer::host_limits(view);
    let host = host.map(|text| of_design(Severity::Weak, Impact::Bias, text));
    let weaknesses = view.of.weaknesses.iter();
    let weaknesses =
        weaknesses.map(|of| of_design(Severity::Weak, of.impact(), text::weakness(of)));
    let notes = view.of.notes.iter().cloned();
    let notes = notes.map(|note| of_design(Severity::Weak, Impact::Precision, note));
    let all = host.into_iter().chain(weaknesses).chain(notes);
    // The number of test points with few runs says the same of all.
    let is_counted = view
        .of
        .weaknesses
        .iter()
        .any(|of| matches!(of, Weakness::FewRepeats { .. }));
    let is_shown = |kind: &FindingKind| match kind {
        FindingKind::FewRuns { runs } => !is_counted || runs.max < 2,
        _ => true,
    };
    merged::rank(
        all.chain(merged::ranked(&view.summaries(), is_shown))
            .collect(),
    )
}

/// All caveats, and the method.
fn limits(
    view: &View<'_>,
    caveats: Vec<(String, String)>,
    missing: Option<DocumentBlock>,
) -> Vec<DocumentBlock> {
    let pairs: Vec<Pair> = view.of.method.iter().cloned().map(Pair::from).collect();
    let mut blocks = vec![DocumentBlock::Limits(caveats)];
    if !pairs.is_empty() {
        blocks.push(folded(
            text::method_title(),
            vec![DocumentBlock::Pairs(pairs)],
        ));
    }
    blocks.extend(missing);
    part(text::page_part(PagePart::Limits), blocks)
}

/// Means, deviations and performance of the layers: one table for each workload.
fn results(view: &View<'_>) -> Vec<DocumentBlock> {
    let mut blocks = Vec::new();
    for work in &view.works {
        let table = tables::results(view, work);
        if !table.rows.is_empty() {
            blocks.extend([
                DocumentBlock::Title(work.title()),
                DocumentBlock::Quiet(work.workload.clone()),
            ]);
            blocks.push(DocumentBlock::Table(TableStyle::Numbers, table));
        }
    }
    if let Some(table) = tables::amplification(view) {
        blocks.push(DocumentBlock::Title(
            Section::Amplification.title().to_owned(),
        ));
        blocks.push(DocumentBlock::Table(TableStyle::Numbers, table));
    }
    let reference = (!view.held_layers().is_empty()).then_some(view.of.reference_layer.as_str());
    let how = text::results_about(reference);
    [vec![DocumentBlock::Quiet(how)], blocks].concat()
}

/// What each layer leaves of the reference layer.
fn layer_costs(view: &View<'_>) -> Vec<DocumentBlock> {
    let layers = || view.held_layers().into_iter();
    let (tables, said): (Vec<Matrix>, Vec<String>) = match view.names.len() {
        1 => (
            tables::layer_costs_of_card(view).into_iter().collect(),
            Vec::new(),
        ),
        _ => (
            layers()
                .filter_map(|layer| tables::layer_cost(view, layer))
                .collect(),
            layers()
                .filter_map(|layer| tables::layer_changes(view, layer))
                .collect(),
        ),
    };
    if tables.is_empty() {
        return Vec::new();
    }
    let mut said = said;
    said.extend(uneven::sentences(view));
    let unexplained = unexplained(view);
    said.extend(unexplained.map(text::cost_unexplained));
    let reference = text::layer_in_text(&plain(&view.of.reference_layer));
    let costs = view.of.cards.iter().flat_map(|card| &card.costs);
    let tested = costs.filter(|cost| cost.comparison.ratio_ci95.is_some());
    let about = match tested.count() > 0 {
        true => text::layer_cost_about(&reference),
        false => text::layer_cost_once(&reference),
    };
    let said = said.into_iter().map(DocumentBlock::Text);
    said.chain([DocumentBlock::Matrices(tables, about)])
        .chain(unexplained.map(io_steps::block))
        .collect()
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
const EVERY_PAIR: usize = 4;

/// How many pairs differ; the ratios of all workloads are collapsed.
fn differences(view: &View<'_>) -> Vec<DocumentBlock> {
    let pairs = tables::pairs(view);
    let mut blocks = Vec::new();
    for work in &view.works {
        let Some(table) = tables::differences(view, work) else {
            continue;
        };
        blocks.push(DocumentBlock::Title(text::ratios_of(&work.noun)));
        blocks.push(DocumentBlock::Table(TableStyle::Compact, table));
        if view.names.len() <= EVERY_PAIR && view.names.len() > 2 {
            let layers = view.layers.iter();
            blocks.extend(layers.filter_map(|layer| every_pair(view, layer, work)));
        }
    }
    let reference = text::differences_about(view.name(view.reference()));
    let ratios = (!blocks.is_empty()).then(|| {
        let how = vec![DocumentBlock::Quiet(reference)];
        folded(text::how_to_read(), [how, blocks].concat())
    });
    let table = pairs.map(|table| DocumentBlock::Table(TableStyle::Words, table));
    let tradeoffs = tradeoffs::sentences(view)
        .into_iter()
        .map(DocumentBlock::Text);
    let blocks = tradeoffs.chain(table).chain(ratios).collect();
    part(text::page_part(PagePart::Differences), blocks)
}

fn every_pair(view: &View<'_>, layer: &str, work: &view::Work) -> Option<DocumentBlock> {
    let ranking = view.ranking(layer, work)?;
    let row = |pair: &CardPair| {
        let [b, a] = [pair.b, pair.a].map(|card| view.name(card as usize));
        let c = &pair.comparison;
        let p = c.p_value_ranks.map(compare::probability);
        vec![
            text::against(b, a),
            compare::ratio(c),
            compare::verdict(c),
            p.unwrap_or_default(),
            compare::effect(c),
            compare::delta(c),
        ]
    };
    let head = [
        Head::Pair,
        Head::RatioInterval,
        Head::Verdict,
        Head::PByRanks,
        Head::EffectSize,
        Head::CliffsDelta,
    ];
    let table =
        DataTable::new(head.map(Head::text), ranking.pairs.iter().map(row)).without_empty_columns();
    let about = text::every_pair(&view.with_layer(&work.noun, layer));
    let table = DocumentBlock::Table(TableStyle::Numbers, table);
    (ranking.pairs.len() > 1).then(|| folded(about, vec![table]))
}

/// Whether the host or the cards limit the throughput.
fn pace(view: &View<'_>) -> Vec<DocumentBlock> {
    let conclusions = view.layers.iter().flat_map(|l| paces(view, l)).collect();
    let kind = ConclusionKind::Limits;
    let rows = DocumentBlock::Conclusions(text::conclusion_about(kind), conclusions);
    part(text::conclusion_title(kind), vec![rows])
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
                text::because_of_run(&run.because, &run.run),
            )
        })
        .collect();
    if of.other_definition > 0 {
        let runs = text::others_of_points(of.other_definition);
        items.push((String::new(), runs));
    }
    part(
        text::page_part(PagePart::NotCounted),
        vec![DocumentBlock::Facts(items)],
    )
}
