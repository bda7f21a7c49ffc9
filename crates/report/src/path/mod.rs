//! The section "Path of an I/O": what the I/Os of traced runs became at the device, and where their time went.

pub(crate) mod cards;
pub(crate) mod csv;
mod depth;
mod differences;
mod explained;
mod figures;
mod marks;
mod phase_charts;
mod pictures;
mod section;
mod sentences;
mod tables;
mod untraced;
mod zoom;

pub use zoom::{AddressPage, AddressWindow, path_addresses};

pub(crate) use section::{blocks, charts, compared, in_brief};

use crate::document::{Document, DocumentBlock, Pair};
use crate::escape::plain;
use crate::workload::with_workloads_of;
use crate::{facts, naming, text, time};
use differences::SideDifference;
use hakaru_model::finding::{Estimate, Summary, TracedPhase};
use hakaru_model::io_path::{IoPath, PathFigure, TracedSeries};

/// Renders the path of the I/Os of a traced series as one self-contained HTML page.
pub fn path_html(summary: &Summary) -> String {
    with_workloads_of([summary], || {
        document(summary, section::Depth::Whole).html()
    })
}

/// Renders the path of the I/Os of a traced series as Markdown; `charts` is the directory of the charts of
/// [`path_charts`], which are linked as `NAME.svg`, if they are saved.
pub fn path_markdown(summary: &Summary, charts: Option<&str>) -> String {
    with_workloads_of([summary], || {
        document(summary, section::Depth::Whole).markdown(charts)
    })
}

/// Renders the path of the I/Os of a traced series for a terminal of `width` columns; `color` allows ANSI styles.
pub fn path_terminal(summary: &Summary, width: usize, color: bool) -> String {
    with_workloads_of([summary], || {
        document(summary, section::Depth::Terminal).terminal(width, color)
    })
}

/// The charts of the path of the I/Os, to be saved individually.
pub fn path_charts(summary: &Summary) -> Vec<crate::Chart> {
    with_workloads_of([summary], || {
        charts(&subjects(std::slice::from_ref(summary)))
    })
}

/// The report on the path only.
fn document(summary: &Summary, depth: section::Depth) -> Document {
    let of = subjects(std::slice::from_ref(summary));
    let mut blocks = explained::blocks(&of, depth);
    if blocks.is_empty() {
        blocks = untraced::blocks(summary);
    }
    let brief = facts::brief(summary).into_iter();
    let pairs = brief.map(|(name, value)| Pair::from((name.to_owned(), value)));
    blocks.push(DocumentBlock::Pairs(pairs.collect()));
    let mut under = vec![
        text::origin(&summary.origin),
        time::utc(summary.started_unix_ms),
        plain(&summary.scenario),
    ];
    let phases = naming::distinct(summary.traced.iter().map(|traced| traced.phase.as_str()));
    // Of several phases, the report names each.
    if let [only] = phases[..] {
        under.push(naming::workload_words(only));
    }
    under.dedup();
    Document {
        title: text::path_title(&naming::target(summary)),
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
    /// Name of the phase in file names.
    id: String,
    /// Name of the phase in texts.
    name: String,
    sides: Vec<PathSide<'a>>,
    /// Why the sides differ from those they were compared with.
    differences: Vec<SideDifference<'a>>,
}

/// The traced I/Os of a phase of one series on one disk.
pub(crate) struct PathSide<'a> {
    /// Name of the series and, if there are several, of the disk; empty if there is only one side.
    name: String,
    /// The traced runs of this phase.
    series: &'a TracedSeries,
    /// The run that the pictures show.
    shown: &'a TracedPhase,
}

impl PathSide<'_> {
    fn path(&self) -> &IoPath {
        &self.shown.path
    }

    /// The layer: the file system, or the raw device.
    fn layer(&self) -> Option<String> {
        self.path().disk.filesystem.as_deref().map(plain)
    }

    /// Name in a title: of the side, or of its layer.
    fn title(&self) -> String {
        match (self.name.is_empty(), self.layer()) {
            (false, _) => self.name.clone(),
            (true, Some(layer)) => layer,
            (true, None) => text::capital(text::raw_device()),
        }
    }

    /// The estimate of a figure over the traced runs.
    fn figure(&self, wanted: PathFigure) -> Option<&Estimate> {
        let mut figures = self.series.figures.iter();
        let found = figures.find(|(figure, _)| *figure == wanted);
        found.map(|(_, estimate)| estimate)
    }
}

/// Collects the traced phases of all subjects, in order of first appearance.
fn phases<'a>(subjects: &[PathSubject<'a>]) -> Vec<PathPhase<'a>> {
    let all = subjects.iter().flat_map(|(_, summary)| &summary.traced);
    let names = naming::distinct(all.map(|traced| traced.phase.as_str()));
    let several = subjects.len() > 1;
    let phase = |name: &str| {
        let sides = subjects.iter().flat_map(|(subject, summary)| {
            sides(summary, name, if several { subject } else { "" })
        });
        let differences = subjects
            .iter()
            .flat_map(|subject| differences_of(subjects, subject, name));
        PathPhase {
            id: plain(name),
            name: naming::workload_words(name),
            sides: sides.collect(),
            differences: differences.collect(),
        }
    };
    names.into_iter().map(phase).collect()
}

/// The disks of a phase, each with the run that its pictures show.
fn sides<'a>(summary: &'a Summary, phase: &str, subject: &str) -> Vec<PathSide<'a>> {
    let of_phase = || summary.traced.iter().filter(|it| it.phase == phase);
    let disks = of_phase().count() > 1;
    let side = |series: &'a TracedSeries| {
        let disk = plain(&series.disk);
        let name = match (subject.is_empty(), disks) {
            (_, false) => subject.to_owned(),
            (true, true) => disk,
            (false, true) => text::enumerated(&[subject.to_owned(), disk]),
        };
        let run = series.runs.get(series.shown as usize)?;
        let shown = summary.paths.get(*run as usize)?;
        Some(PathSide {
            name,
            series,
            shown,
        })
    };
    of_phase().filter_map(side).collect()
}

/// The differences of one series in a phase, from a series that is among the subjects.
fn differences_of<'a>(
    subjects: &[PathSubject<'a>],
    (subject, summary): &PathSubject<'a>,
    phase: &str,
) -> Vec<SideDifference<'a>> {
    let of_phase = summary.path_differences.iter();
    let named = of_phase.filter(|it| it.phase == phase).filter_map(|it| {
        let (base, base_of) = subjects.iter().find(|(_, of)| of.series == it.base)?;
        let findings = [(base, *base_of), (subject, *summary)].map(|(_, of)| {
            let sides = sides(of, phase, "");
            let same = sides.iter().find(|side| side.series.disk == it.disk);
            same.or(sides.first()).map(|side| side.shown)
        });
        Some(SideDifference::new((base, subject), findings, it))
    });
    named.collect()
}
