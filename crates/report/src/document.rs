//! A report in parts that do not know how they will look: built once from findings, rendered as HTML, as Markdown or
//! for a terminal.

use crate::chart::{Chart, Section};
use crate::facts::FactLine;
use crate::findings::ConclusionRow;
use crate::table::DataTable;

/// A whole report. All text is foreign until it is rendered.
#[derive(Clone, Debug, Default)]
pub(crate) struct Document {
    pub(crate) title: String,
    /// Lines below the title, each with what it is about in front, or nothing.
    pub(crate) under: Vec<(String, String)>,
    pub(crate) blocks: Vec<DocumentBlock>,
}

/// A part of a report.
#[derive(Clone, Debug)]
pub(crate) enum DocumentBlock {
    /// Begins a part that the menu lists.
    Part(String),
    /// The same, on a sheet of its own where the report is printed.
    Page(String),
    /// Begins something smaller.
    Title(String),
    Text(String),
    /// A remark on how to read a table or chart.
    Quiet(String),
    Verdict(VerdictBlock),
    /// Figures at a glance.
    Tiles(Vec<Tile>),
    /// Sentences, each with what it is about in front, or nothing.
    Facts(Vec<(String, String)>),
    /// The same of what limits the worth of figures.
    Caveats(Vec<(String, String)>),
    /// Verdicts with their reasons; the text names what they are about.
    Conclusions(&'static str, Vec<ConclusionRow>),
    /// Names and values.
    Pairs(Vec<Pair>),
    Table(TableStyle, DataTable),
    Charts(Vec<Chart>),
    /// What not everybody wants to see.
    Fold(Fold),
    /// Where the menu stands.
    Menu,
    /// How to read the figures of the whole report.
    Footer(String),
}

/// The one verdict that a report is about.
#[derive(Clone, Debug)]
pub(crate) struct VerdictBlock {
    /// One character that tells it without color.
    pub(crate) sign: &'static str,
    /// Whether all is well.
    pub(crate) good: bool,
    pub(crate) text: String,
    /// What to do now; empty when there is nothing to say.
    pub(crate) advice: String,
}

/// A figure at a glance.
#[derive(Clone, Debug)]
pub(crate) struct Tile {
    pub(crate) name: String,
    pub(crate) figure: String,
    pub(crate) unit: String,
    /// The next figure, or what the first one is of; may be empty.
    pub(crate) note: String,
}

impl Tile {
    /// The tile as a name and a sentence.
    pub(crate) fn pair(&self) -> (String, String) {
        let Tile {
            name,
            figure,
            unit,
            note,
        } = self;
        let note = match note.is_empty() {
            true => String::new(),
            false => format!(" ({note})"),
        };
        (name.clone(), format!("{figure} {unit}{note}"))
    }
}

/// A name with its value.
#[derive(Clone, Debug)]
pub(crate) struct Pair {
    pub(crate) name: String,
    pub(crate) value: String,
    /// Whether the value is known; else it is the reason why not.
    pub(crate) known: bool,
}

impl From<(String, String)> for Pair {
    fn from((name, value): (String, String)) -> Pair {
        Pair {
            name,
            value,
            known: true,
        }
    }
}

impl From<FactLine> for Pair {
    fn from(line: FactLine) -> Pair {
        Pair {
            name: line.name().to_owned(),
            value: line.value,
            known: line.known,
        }
    }
}

/// Blocks under a line that opens them.
#[derive(Clone, Debug)]
pub(crate) struct Fold {
    pub(crate) about: String,
    /// Whether it is open at first.
    pub(crate) open: bool,
    pub(crate) blocks: Vec<DocumentBlock>,
}

/// What a table is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TableStyle {
    /// Figures, flush right.
    Numbers,
    /// Figures; where the page is narrow, these columns are left out, the first of them first.
    Fitted(&'static [usize]),
    /// Words.
    Words,
}

/// Blocks that are folded at first.
pub(crate) fn folded(about: impl Into<String>, blocks: Vec<DocumentBlock>) -> DocumentBlock {
    DocumentBlock::Fold(Fold {
        about: about.into(),
        open: false,
        blocks,
    })
}

/// A part with its blocks; nothing where there are none.
pub(crate) fn part(title: impl Into<String>, blocks: Vec<DocumentBlock>) -> Vec<DocumentBlock> {
    match blocks.is_empty() {
        true => blocks,
        false => [vec![DocumentBlock::Part(title.into())], blocks].concat(),
    }
}

/// Every chart in the part of its section; `level` says what the charts of [`Section::OverTime`] are.
pub(crate) fn chart_parts(all: &[Chart], level: &str) -> Vec<DocumentBlock> {
    let of_section = |section: Section| {
        let charts: Vec<Chart> = all
            .iter()
            .filter(|chart| chart.section == section)
            .cloned()
            .collect();
        let blocks = match (charts.is_empty(), section) {
            (true, _) => Vec::new(),
            // What stays level is worth a look, and not the way to everything below it.
            (false, Section::OverTime) => vec![folded(level, vec![DocumentBlock::Charts(charts)])],
            (false, _) => vec![DocumentBlock::Charts(charts)],
        };
        part(section.title(), blocks)
    };
    Section::ALL.iter().copied().flat_map(of_section).collect()
}
