//! Conclusions of one kind from one series or several: suitability, claims, bottlenecks.

use crate::document::{DocumentBlock, TableStyle, folded, part};
use crate::findings::{self, ConclusionKind, ConclusionRow};
use crate::naming::distinct;
use crate::table::{self, DataTable};
use crate::text;
use hakaru_model::advice::RunFindings;

/// Conclusions of one kind: with all reasons for one series, as a table for several.
pub(super) fn conclusions_of(
    kind: ConclusionKind,
    all: &[RunFindings],
    names: &[String],
) -> Vec<DocumentBlock> {
    let (title, about) = (text::conclusion_title(kind), text::conclusion_about(kind));
    let found: Vec<Vec<ConclusionRow>> = all.iter().map(|found| kind.of(found)).collect();
    let is_open = |row: &ConclusionRow| row.sign == findings::OPEN;
    let blocks = match &found[..] {
        found if found.iter().all(Vec::is_empty) => Vec::new(),
        [only] if kind == ConclusionKind::Uses => vec![DocumentBlock::Uses(only.clone())],
        [only] => vec![DocumentBlock::Conclusions(about, only.clone())],
        many if kind == ConclusionKind::Uses && many.iter().flatten().all(is_open) => vec![
            DocumentBlock::Text(text::no_use_judged().to_owned()),
            folded(text::why(), reasons(about, many, names)),
        ],
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
