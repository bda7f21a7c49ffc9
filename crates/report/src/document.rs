//! A report independent of its format: built once from findings, and rendered as HTML, as Markdown or for a terminal.

use crate::chart::{Chart, Section};
use crate::facts::FactLine;
use crate::findings::ConclusionRow;
use crate::table::DataTable;

/// A report. All text is untrusted until it is rendered.
#[derive(Clone, Debug, Default)]
pub(crate) struct Document {
    pub(crate) title: String,
    /// Lines below the title, each with an optional label.
    pub(crate) under: Vec<(String, String)>,
    pub(crate) blocks: Vec<DocumentBlock>,
}

/// An element of a report.
#[derive(Clone, Debug)]
pub(crate) enum DocumentBlock {
    /// Begins a part that is listed in the menu.
    Part(String),
    /// Begins a part on a new printed page.
    Page(String),
    /// Begins a subsection.
    Title(String),
    Text(String),
    /// An explanation of a table or chart.
    Quiet(String),
    Verdict(VerdictBlock),
    /// Key figures.
    Tiles(Vec<Tile>),
    /// Sentences, each with an optional label.
    Facts(Vec<(String, String)>),
    /// Caveats, each with an optional label.
    Caveats(Vec<(String, String)>),
    /// Verdicts with their reasons; the text is the heading of the first column.
    Conclusions(&'static str, Vec<ConclusionRow>),
    /// A list of names and values.
    Pairs(Vec<Pair>),
    Table(TableStyle, DataTable),
    Charts(Vec<Chart>),
    /// Collapsible content.
    Fold(Fold),
    /// Position of the menu.
    Menu,
    /// Explanation of the figures in the whole report.
    Footer(String),
}

impl DocumentBlock {
    /// The level and the title of a heading.
    pub(crate) fn heading(&self) -> Option<(usize, &String)> {
        match self {
            DocumentBlock::Part(title) | DocumentBlock::Page(title) => Some((2, title)),
            DocumentBlock::Title(title) => Some((3, title)),
            _ => None,
        }
    }
    /// Whether the block is a list without items.
    fn is_empty(&self) -> bool {
        match self {
            DocumentBlock::Tiles(tiles) => tiles.is_empty(),
            DocumentBlock::Facts(items) | DocumentBlock::Caveats(items) => items.is_empty(),
            DocumentBlock::Conclusions(_, rows) => rows.is_empty(),
            DocumentBlock::Pairs(pairs) => pairs.is_empty(),
            DocumentBlock::Charts(charts) => charts.is_empty(),
            _ => false,
        }
    }
}

/// The main verdict of a report.
#[derive(Clone, Debug)]
pub(crate) struct VerdictBlock {
    /// A single-character symbol that shows the verdict without color.
    pub(crate) sign: &'static str,
    /// Whether the verdict is positive.
    pub(crate) good: bool,
    pub(crate) text: String,
    /// Advice; empty if there is none.
    pub(crate) advice: String,
}

/// A key figure.
#[derive(Clone, Debug)]
pub(crate) struct Tile {
    pub(crate) name: String,
    pub(crate) figure: String,
    pub(crate) unit: String,
    /// The second figure, or an explanation of the first; may be empty.
    pub(crate) note: String,
}

impl Tile {
    /// Converts the tile to a name and a sentence.
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
    /// Whether the value is known; if not, it is the reason.
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

/// Collapsible blocks with a summary line.
#[derive(Clone, Debug)]
pub(crate) struct Fold {
    pub(crate) about: String,
    /// Whether it is initially open.
    pub(crate) open: bool,
    pub(crate) blocks: Vec<DocumentBlock>,
}

/// Kinds of tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TableStyle {
    /// Right-aligned figures.
    Numbers,
    /// Figures; on narrow pages, these columns are omitted in this order.
    Fitted(&'static [usize]),
    /// Text.
    Words,
}

/// Blocks that are initially collapsed.
pub(crate) fn folded(about: impl Into<String>, blocks: Vec<DocumentBlock>) -> DocumentBlock {
    DocumentBlock::Fold(Fold {
        about: about.into(),
        open: false,
        blocks,
    })
}

/// A part with its blocks; empty if they contain nothing.
pub(crate) fn part(title: impl Into<String>, mut blocks: Vec<DocumentBlock>) -> Vec<DocumentBlock> {
    blocks.retain(|block| !block.is_empty());
    match blocks.is_empty() {
        true => blocks,
        false => [vec![DocumentBlock::Part(title.into())], blocks].concat(),
    }
}

/// All charts in the parts of their sections; `level` is the label of the collapsed charts of [`Section::OverTime`], and
/// `path` are the blocks of [`Section::Path`], which contain its charts.
pub(crate) fn chart_parts(
    all: &[Chart],
    level: &str,
    path: Vec<DocumentBlock>,
) -> Vec<DocumentBlock> {
    let of_section = |section: Section| {
        if section == Section::Path {
            return path.clone();
        }
        let charts: Vec<Chart> = all
            .iter()
            .filter(|chart| chart.section == section)
            .cloned()
            .collect();
        let blocks = match (charts.is_empty(), section) {
            (true, _) => Vec::new(),
            // These charts are collapsed, so that readers do not have to scroll past them.
            (false, Section::OverTime) => vec![folded(level, vec![DocumentBlock::Charts(charts)])],
            (false, _) => vec![DocumentBlock::Charts(charts)],
        };
        part(section.title(), blocks)
    };
    Section::ALL.iter().copied().flat_map(of_section).collect()
}
