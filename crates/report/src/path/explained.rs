//! The report on the path alone: the answer with its reasons, and then bytes, time, addresses, tables and limits.

use super::phase_charts::PhaseCharts;
use super::section::{self, ChartRoom, Depth};
use super::sentences::SideSentences;
use super::{PathPhase, PathSubject, marks, phases};
use crate::chart::Chart;
use crate::document::{AnswerBlock, DocumentBlock, folded, part};
use crate::text::{self, PagePart, PathLabel};

/// Number of reasons below the answer.
const POINTS: usize = 3;

/// I/O amplification that is worth a place among the reasons differs from 1 by more.
const AMPLIFIED: f64 = 0.02;

/// The blocks of the report on one series; empty without traced phases.
pub(super) fn blocks(subjects: &[PathSubject<'_>], depth: Depth) -> Vec<DocumentBlock> {
    let phases = phases(subjects);
    let charts = PhaseCharts::of_all(&phases);
    let key = section::key_phase(&phases);
    let (Some(phase), Some(of_key)) = (phases.get(key), charts.get(key)) else {
        return Vec::new();
    };
    let is_single = phases.len() == 1;
    let mut said: Vec<SideSentences> = phase.sides.iter().map(SideSentences::of).collect();
    let mut blocks = answer(phase, said.first_mut(), is_single);
    blocks.extend(bytes(phase, &mut said, &of_key.flows));
    blocks.extend(time(phase, &mut said, of_key.time.as_ref()));
    blocks.extend(part(PathLabel::Places.text(), of_key.of_requests()));
    blocks.extend(tables(phase, depth));
    let others = phases.iter().zip(&charts).enumerate();
    let others = others.filter(|(i, _)| *i != key);
    let others = others
        .flat_map(|(_, (phase, charts))| section::of_phase(phase, charts, depth, ChartRoom::None));
    blocks.extend(part(PathLabel::OtherPhases.text(), others.collect()));
    blocks.push(DocumentBlock::Part(
        text::page_part(PagePart::Limits).to_owned(),
    ));
    let sides = phase.sides.iter();
    let limits = sides.flat_map(|side| {
        let of_side = |said: String| (side.name.clone(), said);
        marks::limits(side).into_iter().map(of_side)
    });
    let limits: Vec<(String, String)> = limits.collect();
    if !limits.is_empty() {
        blocks.push(DocumentBlock::Limits(limits));
    }
    blocks
}

/// What an I/O became, the most important reasons, and how far both can be trusted.
fn answer(
    phase: &PathPhase<'_>,
    said: Option<&mut SideSentences>,
    is_single: bool,
) -> Vec<DocumentBlock> {
    let (Some(side), Some(said)) = (phase.sides.first(), said) else {
        return Vec::new();
    };
    let became = match said.became.is_empty() {
        true => text::no_requests().to_owned(),
        false => text::as_sentences(&said.became),
    };
    let answer = AnswerBlock {
        text: match is_single {
            true => became,
            false => format!("{}: {became}", phase.name),
        },
        ..AnswerBlock::default()
    };
    let points = points(said).into_iter();
    let points = points.map(|said| text::as_sentences(&[said]));
    let proof = [text::traced_run().to_owned(), marks::proof(side)];
    let incomplete = marks::incomplete(side).map(|said| {
        let of_all = (String::new(), said);
        DocumentBlock::Caveats(vec![of_all])
    });
    let mut blocks = vec![
        DocumentBlock::Answer(answer),
        DocumentBlock::Points(points.collect()),
    ];
    blocks.extend(incomplete);
    blocks.push(DocumentBlock::Quiet(text::as_sentences(&proof)));
    blocks
}

/// Takes the reasons, most important first.
fn points(said: &mut SideSentences) -> Vec<String> {
    let mut points = Vec::new();
    if !said.times.is_empty() {
        points.push(said.times.remove(0));
    }
    let is_worth = |(ratio, _): &(f64, String)| (ratio - 1.0).abs() > AMPLIFIED;
    if let Some(at) = said.amplification.iter().position(is_worth) {
        points.push(said.amplification.remove(at).1);
    }
    let ends = [
        &mut said.flushes,
        &mut said.limit,
        &mut said.bus,
        &mut said.behind,
    ];
    for more in ends {
        if points.len() < POINTS {
            points.extend(more.take());
        }
    }
    if points.len() < POINTS && !said.amplification.is_empty() {
        points.push(said.amplification.remove(0).1);
    }
    points
}

/// The sentences of all sides that were not among the reasons.
fn facts(
    phase: &PathPhase<'_>,
    said: &mut [SideSentences],
    of: impl Fn(&mut SideSentences) -> Vec<String>,
) -> DocumentBlock {
    let sides = phase.sides.iter().zip(said);
    let facts = sides.flat_map(|(side, said)| {
        let of_side = |said| (side.name.clone(), said);
        of(said).into_iter().map(of_side).collect::<Vec<_>>()
    });
    DocumentBlock::Facts(facts.collect())
}

fn wide(chart: &Chart) -> DocumentBlock {
    DocumentBlock::WideChart(Box::new(chart.clone()))
}

fn bytes(phase: &PathPhase<'_>, said: &mut [SideSentences], flows: &[Chart]) -> Vec<DocumentBlock> {
    let mut blocks: Vec<DocumentBlock> = flows.iter().map(wide).collect();
    blocks.push(facts(phase, said, |said| {
        let amplification = said.amplification.drain(..).map(|(_, said)| said);
        let more = said.merges.drain(..).chain(said.others.drain(..));
        amplification.chain(more).collect()
    }));
    part(PathLabel::Bytes.text(), blocks)
}

fn time(
    phase: &PathPhase<'_>,
    said: &mut [SideSentences],
    chart: Option<&Chart>,
) -> Vec<DocumentBlock> {
    let mut blocks: Vec<DocumentBlock> = chart.into_iter().map(wide).collect();
    blocks.push(facts(phase, said, |said| {
        let behind = said.behind.take().into_iter();
        let limits = [&mut said.flushes, &mut said.limit, &mut said.bus];
        let limits: Vec<String> = limits.into_iter().filter_map(Option::take).collect();
        said.times.drain(..).chain(behind).chain(limits).collect()
    }));
    part(PathLabel::Time.text(), blocks)
}

/// Requests by class, with the figures over the traced runs collapsed.
fn tables(phase: &PathPhase<'_>, depth: Depth) -> Vec<DocumentBlock> {
    let figures = section::figure_tables(phase);
    let figures = match depth {
        _ if figures.is_empty() => figures,
        // A terminal would omit them.
        Depth::Terminal => figures,
        Depth::Whole | Depth::Words => {
            vec![folded(text::figure_table_title(&phase.name), figures)]
        }
    };
    let tables = [section::class_tables(phase), figures].concat();
    part(PathLabel::Table.text(), tables)
}
