//! The blocks of the section: sentences, marks, charts and tables of each traced phase.

use super::differences::SideDifference;
use super::phase_charts::PhaseCharts;
use super::sentences::{self, SideSentences};
use super::{PathPhase, PathSide, PathSubject, figures, marks, phases, tables};
use crate::chart::{Chart, Section};
use crate::document::{DocumentBlock, TableStyle, folded, part};
use crate::naming::distinct;
use crate::table::DataTable;
use crate::text::{self, PathLabel};
use hakaru_model::finding::Summary;
use hakaru_model::io_path::IoPath;

/// How much of the section a report contains.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Depth {
    /// A page: charts, with tables collapsed.
    Whole,
    /// A terminal: collapsed content would be omitted, so tables are not collapsed.
    Terminal,
    /// Sentences only.
    Words,
}

/// The section of a page; empty without traced runs.
pub(crate) fn blocks(subjects: &[PathSubject<'_>]) -> Vec<DocumentBlock> {
    part(Section::Path.title(), of_phases(subjects, Depth::Whole))
}

/// All charts of the section.
pub(crate) fn charts(subjects: &[PathSubject<'_>]) -> Vec<Chart> {
    let phases = phases(subjects);
    let charts = PhaseCharts::of_all(&phases);
    charts.iter().flat_map(PhaseCharts::all).collect()
}

/// Number of pictures of the flow up to which a page collapses no charts.
const OPEN: usize = 2;

/// The blocks of all traced phases.
pub(super) fn of_phases(subjects: &[PathSubject<'_>], depth: Depth) -> Vec<DocumentBlock> {
    let phases = phases(subjects);
    let few = phases.iter().flat_map(|phase| &phase.sides).count() <= OPEN;
    // Of many phases, one shows its charts.
    let key = key_phase(&phases);
    let mut blocks = Vec::new();
    let charts = PhaseCharts::of_all(&phases);
    for (i, (phase, charts)) in phases.iter().zip(&charts).enumerate() {
        let room = match (few, i == key) {
            (true, _) => ChartRoom::All,
            (false, true) => ChartRoom::Main,
            (false, false) => ChartRoom::None,
        };
        blocks.extend(of_phase(phase, charts, depth, room));
        if i == 0 {
            add_common_mark(&mut blocks);
        }
    }
    blocks
}

/// The phase whose path has most to say: the first in which operations wait for their fsync, else the first with any
/// fsync, else the first.
pub(super) fn key_phase(phases: &[PathPhase<'_>]) -> usize {
    let first = |has: fn(&IoPath) -> bool| {
        let has = |phase: &PathPhase<'_>| phase.sides.iter().any(|side| has(side.path()));
        phases.iter().position(has)
    };
    let waits = |path: &IoPath| figures::main_operation(path).is_some_and(|of| of.with_sync);
    first(waits)
        .or_else(|| first(figures::syncs))
        .unwrap_or_default()
}

/// Joins the sides that say the same; what all say needs no names.
fn by_sentence(said: Vec<(String, String)>, sides: usize) -> Vec<(String, String)> {
    let mut joined: Vec<(Vec<String>, String)> = Vec::new();
    for (side, sentence) in said {
        match joined.iter_mut().find(|(_, known)| *known == sentence) {
            Some((names, _)) if !names.contains(&side) => names.push(side),
            Some(_) => {}
            None => joined.push((vec![side], sentence)),
        }
    }
    let named = |(names, sentence): (Vec<String>, String)| match names.len() == sides {
        true => (String::new(), sentence),
        false => (names.join(", "), sentence),
    };
    joined.into_iter().map(named).collect()
}

/// Adds what holds for all figures to the first marks.
fn add_common_mark(blocks: &mut [DocumentBlock]) {
    let marks = blocks.iter_mut().find_map(|block| match block {
        DocumentBlock::Caveats(marks) => Some(marks),
        _ => None,
    });
    if let Some(marks) = marks {
        marks.insert(0, (String::new(), text::traced_run().to_owned()));
    }
}

/// The charts of a phase that a page does not collapse.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ChartRoom {
    All,
    Main,
    None,
}

/// The blocks of one phase.
pub(super) fn of_phase(
    phase: &PathPhase<'_>,
    charts: &PhaseCharts,
    depth: Depth,
    room: ChartRoom,
) -> Vec<DocumentBlock> {
    let differ = phase.differences.iter().flat_map(SideDifference::sentences);
    let mut facts: Vec<(String, String)> = differ.map(|said| (String::new(), said)).collect();
    let (mut of_sides, mut doubts) = (Vec::new(), Vec::new());
    for side in &phase.sides {
        let said = SideSentences::of(side);
        let said = match phase.sides.len() {
            1 => said.everything(),
            _ => said.essential(),
        };
        let of_side = |said: String| (side.name.clone(), said);
        of_sides.extend(said.into_iter().map(of_side));
        let marks = marks::incomplete(side).into_iter();
        let marks = marks.chain([marks::proof(side)]).chain(marks::limits(side));
        doubts.extend(marks.map(of_side));
    }
    let sides = phase.sides.len();
    facts.extend(by_sentence(of_sides, sides));
    let mut blocks = vec![
        DocumentBlock::Title(phase.name.clone()),
        DocumentBlock::Facts(facts),
        DocumentBlock::Caveats(by_sentence(doubts, sides)),
    ];
    let (main, more) = (DocumentBlock::Charts(charts.main()), charts.of_requests());
    let tables = tables_of(phase);
    let (open, about, closed) = match (depth, room) {
        (Depth::Words, _) => (Vec::new(), PathLabel::Tables, Vec::new()),
        (Depth::Terminal, _) => ([vec![main], tables].concat(), PathLabel::Tables, Vec::new()),
        (Depth::Whole, ChartRoom::All) => ([vec![main], more].concat(), PathLabel::Tables, tables),
        (Depth::Whole, ChartRoom::Main) => {
            let closed = [more, tables].concat();
            (vec![main], PathLabel::AddressesAndTables, closed)
        }
        (Depth::Whole, ChartRoom::None) => {
            let closed = [vec![main], more, tables].concat();
            (Vec::new(), PathLabel::ChartsAndTables, closed)
        }
    };
    blocks.extend(open);
    if !closed.is_empty() {
        blocks.push(folded(
            text::enumerated(&[about.text().to_owned(), phase.name.to_string()]),
            closed,
        ));
    }
    blocks.retain(|block| !matches!(block, DocumentBlock::Charts(charts) if charts.is_empty()));
    blocks
}

/// The tables of a phase.
fn tables_of(phase: &PathPhase<'_>) -> Vec<DocumentBlock> {
    [class_tables(phase), figure_tables(phase)].concat()
}

/// A table below its title; nothing without rows.
fn titled(title: String, style: TableStyle, table: Option<DataTable>) -> Vec<DocumentBlock> {
    let table = table.filter(|table| !table.rows.is_empty());
    let blocks = table.map(|table| {
        vec![
            DocumentBlock::Title(title),
            DocumentBlock::Table(style, table),
        ]
    });
    blocks.unwrap_or_default()
}

/// Requests by class, one table for each side.
pub(super) fn class_tables(phase: &PathPhase<'_>) -> Vec<DocumentBlock> {
    let of_side = |side: &PathSide<'_>| {
        let table = tables::class_table(side.path());
        let title = text::class_table_title(&phase.name, &side.name);
        titled(title, TableStyle::Numbers, Some(table))
    };
    phase.sides.iter().flat_map(of_side).collect()
}

/// Figures over the traced runs, and the check of the differences.
pub(super) fn figure_tables(phase: &PathPhase<'_>) -> Vec<DocumentBlock> {
    let mut blocks = titled(
        text::figure_table_title(&phase.name),
        TableStyle::Numbers,
        tables::figure_table(phase),
    );
    let identity = tables::identity_table(phase);
    let has_identity = identity.is_some();
    let title = text::identity_table_title(&phase.name);
    blocks.extend(titled(title, TableStyle::Numbers, identity));
    if has_identity {
        blocks.push(DocumentBlock::Quiet(text::identity_note().to_owned()));
    }
    let refused = phase.differences.iter();
    let refused = distinct(refused.flat_map(SideDifference::without_prices));
    blocks.extend(refused.into_iter().map(DocumentBlock::Quiet));
    blocks
}

/// The sentences of the traced phases of one series, for a short report.
pub(crate) fn in_brief(summary: &Summary) -> Vec<(String, String)> {
    let subjects = [(String::new(), summary)];
    let phases = phases(&subjects);
    let of_phase = |phase: &PathPhase<'_>| {
        let sides = phase.sides.iter();
        let said = sides.flat_map(|side| SideSentences::of(side).essential());
        said.map(|said| (phase.name.clone(), said))
            .collect::<Vec<_>>()
    };
    phases.iter().flat_map(of_phase).collect()
}

/// Why two series differ, for a terminal: sentences and differences by part. Empty without traced runs.
pub(crate) fn compared(subjects: &[PathSubject<'_>]) -> Vec<DocumentBlock> {
    let of_phase = |phase: &PathPhase<'_>| {
        let differ = phase.differences.iter();
        let mut facts: Vec<(String, String)> = differ
            .clone()
            .flat_map(SideDifference::sentences)
            .map(|said| (String::new(), said))
            .collect();
        for side in &phase.sides {
            facts.extend(sentences::limit(side).map(|said| (side.name.clone(), said)));
        }
        let charts: Vec<Chart> = differ.flat_map(|of| of.charts(phase)).collect();
        [
            DocumentBlock::Title(phase.name.clone()),
            DocumentBlock::Facts(facts),
            DocumentBlock::Charts(charts),
        ]
    };
    let phases = phases(subjects);
    let differing = phases.iter().filter(|phase| !phase.differences.is_empty());
    part(
        Section::Path.title(),
        differing.flat_map(of_phase).collect(),
    )
}
