//! What follows from the figures, as a part of the page: of one series with all reasons, of several side by side.

use crate::escape::markup;
use crate::findings::{self, ConclusionKind, ConclusionRow};
use crate::table::DataTable;
use crate::text;
use hakaru_model::advice::RunFindings;

/// All sections that have something to say.
pub(super) fn html(all: &[RunFindings], names: &[String]) -> String {
    ConclusionKind::ALL
        .into_iter()
        .map(|kind| section(kind, all, names))
        .collect()
}

fn section(kind: ConclusionKind, all: &[RunFindings], names: &[String]) -> String {
    let (title, about) = (text::conclusion_title(kind), text::conclusion_about(kind));
    let found: Vec<(&str, Vec<ConclusionRow>)> = all
        .iter()
        .zip(names)
        .map(|(findings, name)| (name.as_str(), kind.of(findings)))
        .collect();
    if found.iter().all(|(_, conclusions)| conclusions.is_empty()) {
        return String::new();
    }
    let content = match &found[..] {
        [(_, only)] => table(about, only, title),
        many => side_by_side(about, many, title) + &reasons(about, many),
    };
    format!("<h2>{title}</h2>\n{content}")
}

fn table(about: &str, conclusions: &[ConclusionRow], name: &str) -> String {
    findings::table(about, conclusions).scrolling("verdicts cards wide", name)
}

/// Verdicts alone: a row a use, a column a series.
fn side_by_side(about: &str, found: &[(&str, Vec<ConclusionRow>)], title: &str) -> String {
    let mut rows: Vec<String> = Vec::new();
    for conclusion in found.iter().flat_map(|(_, conclusions)| conclusions) {
        if !rows.contains(&conclusion.about) {
            rows.push(conclusion.about.clone());
        }
    }
    let cell = |of: &[ConclusionRow], row: &str| {
        let found = of.iter().find(|c| c.about == row);
        found.map_or("–".to_owned(), |c| format!("{} {}", c.sign, c.verdict))
    };
    let head =
        std::iter::once(about.to_owned()).chain(found.iter().map(|(name, _)| (*name).to_owned()));
    let lines = rows.iter().map(|row| {
        std::iter::once(row.clone())
            .chain(found.iter().map(|(_, of)| cell(of, row)))
            .collect::<Vec<String>>()
    });
    let table = DataTable {
        head: head.collect(),
        rows: lines.collect(),
    };
    table.scrolling("verdicts cards wide", title)
}

/// The reasons of each series, for those who want to know.
fn reasons(about: &str, found: &[(&str, Vec<ConclusionRow>)]) -> String {
    let tables = found
        .iter()
        .filter(|(_, conclusions)| !conclusions.is_empty());
    let tables: String = tables
        .map(|(name, of)| format!("<h3>{}</h3>\n{}", markup(name), table(about, of, name)))
        .collect();
    format!("<details><summary>Why</summary>\n{tables}</details>\n")
}
