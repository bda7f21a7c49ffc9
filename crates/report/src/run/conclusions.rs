//! Conclusions of one kind from one series or several: suitability, claims, bottlenecks.

use crate::document::{DocumentBlock, TableStyle, folded, part};
use crate::findings::{self, ConclusionKind, ConclusionRow};
use crate::naming::distinct;
use crate::number;
use crate::table::{self, DataTable};
use crate::text;
use hakaru_model::advice::{Advice, Decision, RunFindings};

/// Conclusions of one kind: with all reasons for one series, as a table for several; the uses of two with the ratios
/// of their figures.
pub(super) fn conclusions_of(
    kind: ConclusionKind,
    all: &[RunFindings],
    names: &[String],
) -> Vec<DocumentBlock> {
    conclusions_with(kind, all, names, ratios(kind, all, names))
}

fn conclusions_with(
    kind: ConclusionKind,
    all: &[RunFindings],
    names: &[String],
    ratios: Option<(String, Vec<String>)>,
) -> Vec<DocumentBlock> {
    let (title, about) = (text::conclusion_title(kind), text::conclusion_about(kind));
    let found: Vec<Vec<ConclusionRow>> = all.iter().map(|found| kind.of(found)).collect();
    let is_open = |row: &ConclusionRow| row.sign == findings::OPEN;
    let blocks = match &found[..] {
        found if found.iter().all(Vec::is_empty) => Vec::new(),
        [only] if kind == ConclusionKind::Uses => vec![DocumentBlock::Uses(only.clone())],
        [only] => vec![DocumentBlock::Conclusions(about, only.clone())],
        many if kind == ConclusionKind::Uses
            && ratios.is_none()
            && many.iter().flatten().all(is_open) =>
        {
            vec![
                DocumentBlock::Text(text::no_use_judged().to_owned()),
                folded(text::why(), reasons(about, many, names)),
            ]
        }
        many => compared_conclusions(about, many, names, ratios),
    };
    part(title, blocks)
}

/// The ratios of two series in the figures that decide each use, second to first, with the column's name.
fn ratios(
    kind: ConclusionKind,
    all: &[RunFindings],
    names: &[String],
) -> Option<(String, Vec<String>)> {
    let ([a, b], [first, second]) = (all, names) else {
        return None;
    };
    if kind != ConclusionKind::Uses {
        return None;
    }
    let cells = a.advice.iter().map(|of| {
        let same = b.advice.iter().find(|other| other.id == of.id);
        same.map(|other| decided_ratios(of, other))
            .unwrap_or_default()
    });
    let cells: Vec<String> = cells.collect();
    let known = cells.iter().any(|cell| !cell.is_empty());
    known.then(|| (format!("{second} ÷ {first}"), cells))
}

/// The figures that both pieces of advice judge, in the order of the rule's first, with their ratios.
fn decided_ratios(a: &Advice, b: &Advice) -> String {
    let ratio = |of: &Decision| {
        let figure = of.criterion.figure;
        let other = b.decided_by.iter().find(|d| d.criterion.figure == figure)?;
        let ratio = other.measured.value / of.measured.value;
        let ratio = ratio.is_finite().then(|| number::quantity(ratio))?;
        Some(format!("{} {ratio}×", text::figure(figure)))
    };
    let known: Vec<String> = a.decided_by.iter().filter_map(ratio).collect();
    known.join(" · ")
}

/// Suitability for uses, as a table if there are several series: verdicts only, because a terminal has no more columns.
pub(crate) fn uses_of(all: &[RunFindings], names: &[String]) -> Vec<DocumentBlock> {
    conclusions_with(ConclusionKind::Uses, all, names, None)
}

/// Verdicts only, one row for each use and one column for each series; the reasons of each series are collapsed.
fn compared_conclusions(
    about: &'static str,
    found: &[Vec<ConclusionRow>],
    names: &[String],
    ratios: Option<(String, Vec<String>)>,
) -> Vec<DocumentBlock> {
    let uses = distinct(found.iter().flatten().map(|row| &row.about));
    let cell = |of: &Vec<ConclusionRow>, wanted: &String| {
        let row = of.iter().find(|row| row.about == *wanted);
        row.map_or("–".to_owned(), findings::verdict)
    };
    let (column, ratios) = ratios.unzip();
    let rows = uses.iter().enumerate().map(|(nth, wanted)| {
        let cells = found.iter().map(|of| cell(of, wanted));
        let ratio = ratios.as_ref().map(|all| all.get(nth).cloned());
        table::row(
            *wanted,
            cells.chain(ratio.map(|cell| match cell {
                Some(cell) if !cell.is_empty() => cell,
                _ => "–".to_owned(),
            })),
        )
    });
    let head = table::row(about, names.iter().cloned().chain(column));
    let table = DataTable::new(head, rows);
    vec![
        DocumentBlock::Table(TableStyle::Words, table),
        folded(text::why(), reasons(about, found, names)),
    ]
}

/// The reasons for the verdicts of each series.
fn reasons(
    about: &'static str,
    found: &[Vec<ConclusionRow>],
    names: &[String],
) -> Vec<DocumentBlock> {
    let known = names.iter().zip(found).filter(|(_, of)| !of.is_empty());
    let of_series = |(name, of): (&String, &Vec<ConclusionRow>)| {
        let title = DocumentBlock::Title(name.clone());
        [title, DocumentBlock::Conclusions(about, of.clone())]
    };
    known.flat_map(of_series).collect()
}
