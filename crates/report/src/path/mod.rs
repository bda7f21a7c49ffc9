//! The section "Path of an I/O": what the I/Os of traced runs became at the device, and where their time went.

pub(crate) mod cards;
pub(crate) mod csv;
mod differences;
mod figures;
mod pictures;
mod section;

pub(crate) use section::{blocks, charts, in_brief};

use crate::document::{Document, DocumentBlock, Pair};
use crate::escape::plain;
use crate::{facts, naming, text, time};
use hakaru_model::finding::{Summary, TracedPhase};
use hakaru_model::io_path::IoPath;

/// Renders the path of the I/Os of a traced series as one self-contained HTML page.
pub fn path_html(summary: &Summary) -> String {
    document(summary, section::Depth::Whole).html()
}

/// Renders the path of the I/Os of a traced series as Markdown; `charts` is the directory of the charts of
/// [`path_charts`], which are linked as `NAME.svg`, if they are saved.
pub fn path_markdown(summary: &Summary, charts: Option<&str>) -> String {
    document(summary, section::Depth::Whole).markdown(charts)
}

/// Renders the path of the I/Os of a traced series for a terminal of `width` columns; `color` allows ANSI styles.
pub fn path_terminal(summary: &Summary, width: usize, color: bool) -> String {
    document(summary, section::Depth::Terminal).terminal(width, color)
}

/// The charts of the path of the I/Os, to be saved individually.
pub fn path_charts(summary: &Summary) -> Vec<crate::Chart> {
    charts(&subjects(std::slice::from_ref(summary)))
}

/// The report on the path only.
fn document(summary: &Summary, depth: section::Depth) -> Document {
    let of = subjects(std::slice::from_ref(summary));
    let mut blocks = section::of_phases(&of, depth);
    if blocks.is_empty() {
        let (nothing, help) = text::not_traced();
        blocks = vec![
            DocumentBlock::Text(nothing.to_owned()),
            DocumentBlock::Text(help.to_owned()),
        ];
    }
    let brief = facts::brief(summary).into_iter();
    let pairs = brief.map(|(name, value)| Pair::from((name.to_owned(), value)));
    blocks.push(DocumentBlock::Pairs(pairs.collect()));
    let under = [
        summary.origin.clone(),
        time::utc(summary.started_unix_ms),
        plain(&summary.scenario),
    ];
    Document {
        title: format!("Path of an I/O: {}", naming::target(summary)),
        under: vec![(String::new(), under.join(" · "))],
        blocks,
    }
}

/// A summary with its name in the report.
pub(crate) type PathSubject<'a> = (String, &'a Summary);

/// Names the summaries of a report as its other sections do.
pub(crate) fn subjects(summaries: &[Summary]) -> Vec<PathSubject<'_>> {
    let names = naming::series(summaries);
    names.into_iter().zip(summaries).collect()
}

/// The traced I/Os of one phase, disk by disk and series by series.
pub(crate) struct PathPhase<'a> {
    /// Name of the phase.
    name: String,
    sides: Vec<PathSide<'a>>,
}

/// The traced I/Os of a phase of one series on one disk.
pub(crate) struct PathSide<'a> {
    /// Name of the series and, if there are several, of the disk; empty if there is only one side.
    name: String,
    path: &'a IoPath,
    /// Number of traced runs of this phase; the first is shown.
    runs: usize,
}

impl PathSide<'_> {
    /// The layer: the file system, or the raw device.
    fn layer(&self) -> Option<String> {
        self.path.disk.filesystem.as_deref().map(plain)
    }

    /// Name in a title: of the side, or of its layer.
    fn title(&self) -> String {
        match (self.name.is_empty(), self.layer()) {
            (false, _) => self.name.clone(),
            (true, Some(layer)) => layer,
            (true, None) => "the raw device".to_owned(),
        }
    }
}

/// Collects the traced phases of all subjects, in order of first appearance.
fn phases<'a>(subjects: &[PathSubject<'a>]) -> Vec<PathPhase<'a>> {
    let all = subjects.iter().flat_map(|(_, summary)| &summary.paths);
    let names = naming::distinct(all.map(|traced| traced.phase.as_str()));
    let several = subjects.len() > 1;
    let phase = |name: &str| {
        let sides = subjects.iter().flat_map(|(subject, summary)| {
            let of_phase = summary.paths.iter().filter(|traced| traced.phase == name);
            sides(of_phase.collect(), if several { subject } else { "" })
        });
        PathPhase {
            name: plain(name),
            sides: sides.collect(),
        }
    };
    names.into_iter().map(phase).collect()
}

/// The disks of the first traced run of a phase.
fn sides<'a>(traced: Vec<&'a TracedPhase>, subject: &str) -> Vec<PathSide<'a>> {
    let runs = naming::distinct(traced.iter().map(|traced| traced.run.as_str()));
    let first = runs.first().copied();
    let of_first: Vec<&TracedPhase> = traced
        .into_iter()
        .filter(|traced| Some(traced.run.as_str()) == first)
        .collect();
    let disks = of_first.len() > 1;
    let side = |traced: &'a TracedPhase| {
        let disk = plain(&traced.path.disk.name);
        let name = match (subject.is_empty(), disks) {
            (_, false) => subject.to_owned(),
            (true, true) => disk,
            (false, true) => format!("{subject}, {disk}"),
        };
        PathSide {
            name,
            path: &traced.path,
            runs: runs.len(),
        }
    };
    of_first.into_iter().map(side).collect()
}
