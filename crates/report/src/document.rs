//! A report independent of its format: built once from findings, and rendered as HTML, as Markdown or for a terminal.

use crate::chart::{Chart, Plot, Section};
use crate::facts::FactLine;
use crate::findings::ConclusionRow;
use crate::matrix::{MarkTable, Matrix};
use crate::rate_card::RateCard;
use crate::table::DataTable;
use crate::text::{self, PagePart};

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
    /// Begins a subsection.
    Title(String),
    /// What the report says, in one sentence; the first block of a page.
    Answer(AnswerBlock),
    /// Reasons for the answer, most important first.
    Points(Vec<String>),
    /// Tables of figures with shades and letters, side by side, and the key to them.
    Matrices(Vec<Matrix>, String),
    RateCard(RateCard),
    Marks(MarkTable),
    /// The chart of the first screen, as wide as its column.
    KeyChart(Box<Chart>),
    /// A chart as wide as the page.
    WideChart(Box<Chart>),
    /// Blocks side by side.
    Columns(ColumnStyle, [Vec<DocumentBlock>; 2]),
    /// A short list beside the main content.
    Aside(Aside),
    /// Caveats from the worst on, each with an optional label.
    Limits(Vec<(String, String)>),
    /// Verdicts on uses with their reasons.
    Uses(Vec<ConclusionRow>),
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
    /// Explanation of the figures in the whole report.
    Footer(String),
}

impl DocumentBlock {
    /// The level and the title of a heading.
    pub(crate) fn heading(&self) -> Option<(usize, &String)> {
        match self {
            DocumentBlock::Part(title) => Some((2, title)),
            DocumentBlock::Title(title) => Some((3, title)),
            _ => None,
        }
    }
    /// Whether the block is a list without items.
    fn is_empty(&self) -> bool {
        match self {
            DocumentBlock::Tiles(tiles) => tiles.is_empty(),
            DocumentBlock::Facts(items) | DocumentBlock::Caveats(items) => items.is_empty(),
            DocumentBlock::Conclusions(_, rows) | DocumentBlock::Uses(rows) => rows.is_empty(),
            DocumentBlock::Limits(items) => items.is_empty(),
            DocumentBlock::Points(points) => points.is_empty(),
            DocumentBlock::Pairs(pairs) => pairs.is_empty(),
            DocumentBlock::Charts(charts) => charts.is_empty(),
            _ => false,
        }
    }
}

/// The answer of a report.
#[derive(Clone, Debug, Default)]
pub(crate) struct AnswerBlock {
    /// One or two sentences.
    pub(crate) text: String,
    /// How sure it is, and why; may be empty.
    pub(crate) proof: String,
}

/// Widths of two columns; narrow pages show them one below the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ColumnStyle {
    /// Two columns of equal width.
    Halves,
    /// A main column and a narrow one.
    Lead,
}

/// A box with a heading and a list.
#[derive(Clone, Debug)]
pub(crate) struct Aside {
    pub(crate) title: String,
    pub(crate) content: AsideContent,
}

/// The content of a box.
#[derive(Clone, Debug)]
pub(crate) enum AsideContent {
    /// Names with values and remarks.
    Names(Vec<(String, String, String)>),
    /// The worst caveats, and the number of further ones below the heading of a part.
    Caveats(Vec<(String, String)>, usize, String),
}

/// The color of a verdict; its symbol and its text say the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum VerdictTone {
    Good,
    Care,
    Bad,
    /// Too little is known.
    Open,
}

/// The main verdict of a report.
#[derive(Clone, Debug)]
pub(crate) struct VerdictBlock {
    /// A single-character symbol that shows the verdict without color.
    pub(crate) sign: &'static str,
    pub(crate) tone: VerdictTone,
    pub(crate) text: String,
    /// Reasons and advice; empty if there are none.
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
#[derive(Clone, Debug, PartialEq, Eq)]
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
    /// Whether it begins a printed page.
    pub(crate) page: bool,
    pub(crate) blocks: Vec<DocumentBlock>,
}

/// Kinds of tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TableStyle {
    /// Right-aligned figures.
    Numbers,
    /// Figures; on a narrow terminal, the texts of this column are listed below the table.
    Described(usize),
    /// Text.
    Words,
    /// Short text; scrolls sideways on narrow pages instead of becoming a list.
    Compact,
}

/// Blocks that are initially collapsed.
pub(crate) fn folded(about: impl Into<String>, blocks: Vec<DocumentBlock>) -> DocumentBlock {
    DocumentBlock::Fold(Fold {
        about: about.into(),
        open: false,
        page: false,
        blocks,
    })
}

/// Number of caveats on the first screen.
const WORST: usize = 3;

/// The worst caveats as a box; `all` are ranked. `None` without caveats.
pub(crate) fn worst_caveats(all: &[(String, String)]) -> Option<DocumentBlock> {
    let worst = all.iter().take(WORST).cloned().collect();
    let more = all.len().saturating_sub(WORST);
    let part = text::page_part(PagePart::Limits).to_owned();
    (!all.is_empty()).then(|| {
        DocumentBlock::Aside(Aside {
            title: text::before_you_quote().to_owned(),
            content: AsideContent::Caveats(worst, more, part),
        })
    })
}

/// Blocks beside each other, or alone if one side is empty.
pub(crate) fn beside(
    style: ColumnStyle,
    left: Vec<DocumentBlock>,
    right: Vec<DocumentBlock>,
) -> Vec<DocumentBlock> {
    match (left.is_empty(), right.is_empty()) {
        (false, false) => vec![DocumentBlock::Columns(style, [left, right])],
        _ => [left, right].concat(),
    }
}

/// A part with its blocks; empty if they contain nothing.
pub(crate) fn part(title: impl Into<String>, mut blocks: Vec<DocumentBlock>) -> Vec<DocumentBlock> {
    blocks.retain(|block| !block.is_empty());
    match blocks.is_empty() {
        true => blocks,
        false => [vec![DocumentBlock::Part(title.into())], blocks].concat(),
    }
}

/// Number of charts that a section shows; further ones are collapsed, so that readers do not have to scroll past them.
const OPEN_CHARTS: usize = 2;
/// Number of charts of [`Section::Speed`] that are shown.
const OPEN_SPEED_CHARTS: usize = 5;
/// Most charts of a page that collapses them and still shows the first ones of latency and sustained speed.
const FEW_CHARTS: usize = 12;
/// Number of collapsed charts above which a page would load slowly, and shows only [`SELECTED_CHARTS`].
const MOST_CHARTS: usize = 24;
/// Number of charts that a page shows of too many.
const SELECTED_CHARTS: usize = 10;
/// Number of bars above which a chart is longer than a screen, and collapsed.
const OPEN_BARS: usize = 24;

/// Number of heat maps of a page that collapses its charts; all of them show slow I/Os.
const TELLING_MAPS: usize = 4;

/// Drops the charts that are too many for a page; returns their number.
fn shortened(charts: &mut Vec<Chart>) -> usize {
    let left_out = match charts.len() {
        0..=MOST_CHARTS => 0,
        n => n - SELECTED_CHARTS,
    };
    charts.truncate(charts.len() - left_out);
    left_out
}

/// Whether a section has nothing but collapsed blocks and a sentence.
fn is_collapsed(section: &[DocumentBlock]) -> bool {
    let closed = |block: &DocumentBlock| match block {
        DocumentBlock::Part(_) | DocumentBlock::Quiet(_) => true,
        DocumentBlock::Fold(fold) => !fold.open,
        _ => false,
    };
    !section.is_empty() && section.iter().all(closed)
}

/// The sections of the charts of a page.
pub(crate) struct ChartParts<'a> {
    pub(crate) charts: &'a [Chart],
    /// Name of the chart that is on the first screen; its section refers to it.
    pub(crate) key: Option<&'a str>,
    /// Label of the collapsed charts of [`Section::OverTime`].
    pub(crate) level: &'a str,
    /// Tables of [`Section::Speed`], below its charts.
    pub(crate) tables: Vec<DocumentBlock>,
    /// Whether the first screen has all rates, so that the bars of [`Section::Speed`] are collapsed.
    pub(crate) rates_shown: bool,
    /// Tables of [`Section::LayerCost`], below which its charts are collapsed.
    pub(crate) layer_cost: Vec<DocumentBlock>,
    /// Blocks of [`Section::Path`], which contain its charts.
    pub(crate) path: Vec<DocumentBlock>,
    /// Whether all charts but the key chart are collapsed, because the page has the figures above them.
    pub(crate) collapsed: bool,
    /// Whether sentences or tables of the page have the I/O amplification.
    pub(crate) amplification_told: bool,
}

impl ChartParts<'_> {
    /// All parts in display order; empty sections are omitted, and collapsed ones are last, two in a row.
    pub(crate) fn blocks(&self) -> Vec<DocumentBlock> {
        let all = Section::ALL.iter().map(|section| self.section(*section));
        let (collapsed, open): (Vec<_>, Vec<_>) = all.partition(|section| is_collapsed(section));
        let rows = collapsed.chunks(2).flat_map(|row| match row {
            [left, right] => beside(ColumnStyle::Halves, left.clone(), right.clone()),
            row => row.concat(),
        });
        open.into_iter().flatten().chain(rows).collect()
    }

    /// A line that names the sections without charts; `None` if there are none.
    pub(crate) fn missing(&self) -> Option<DocumentBlock> {
        // Speed along the device is a result of preparation and verification, and the cost of a layer and rated speeds
        // are those of campaigns.
        let elsewhere: &[Section] = match self.amplification_told {
            true => &[
                Section::Map,
                Section::LayerCost,
                Section::Claims,
                Section::Amplification,
            ],
            false => &[Section::Map, Section::LayerCost, Section::Claims],
        };
        let expected = Section::ALL
            .iter()
            .filter(|section| !elsewhere.contains(section));
        let missing = expected.filter(|section| self.section(**section).is_empty());
        let titles: Vec<&str> = missing.map(|section| section.title()).collect();
        (!titles.is_empty()).then(|| DocumentBlock::Quiet(text::not_on_page(&titles)))
    }

    fn section(&self, section: Section) -> Vec<DocumentBlock> {
        match section {
            Section::Path => return self.path.clone(),
            // Among the claims of the page.
            Section::Claims => return Vec::new(),
            _ => {}
        }
        let of_section = |chart: &&Chart| chart.section == section;
        let all: Vec<&Chart> = self.charts.iter().filter(of_section).collect();
        let is_key = |chart: &&&Chart| self.key == Some(chart.name.as_str());
        let key = all.iter().find(is_key).map(|chart| chart.title.clone());
        let rest = all.iter().filter(|chart| !is_key(chart));
        let rest: Vec<Chart> = rest.map(|chart| (*chart).clone()).collect();
        // Heat maps are collapsed too: they say in detail what the curves say in short.
        let (mut maps, rest): (Vec<Chart>, Vec<Chart>) =
            rest.into_iter().partition(Chart::is_heat_map);
        let mut blocks = match section {
            Section::LayerCost => self.layer_cost.clone(),
            _ => Vec::new(),
        };
        let has_key = key.is_some();
        if rest.is_empty() {
            let shown = key.map(|title| DocumentBlock::Quiet(text::shown_first(&title)));
            blocks.extend(shown);
        }
        let (shown, mut more) = self.collapsed(section, rest);
        maps.sort_by_key(|chart| !chart.shows_slow_ios());
        let mut left_out = shortened(&mut more) + shortened(&mut maps);
        if self.collapsed {
            let telling = maps.iter().take(TELLING_MAPS);
            let telling = telling.filter(|chart| chart.shows_slow_ios()).count();
            left_out += maps.len() - telling;
            maps.truncate(telling);
        }
        let is_shown = has_key || !blocks.is_empty() || !shown.is_empty();
        if !shown.is_empty() {
            blocks.push(DocumentBlock::Charts(shown));
        }
        if !more.is_empty() {
            let about = match section {
                Section::OverTime => self.level.to_owned(),
                _ if is_shown => text::more_charts(more.len()),
                _ => text::charts_counted(more.len()),
            };
            blocks.push(folded(about, vec![DocumentBlock::Charts(more)]));
        }
        if !maps.is_empty() {
            blocks.push(folded(text::heat_maps(), vec![DocumentBlock::Charts(maps)]));
        }
        if left_out > 0 {
            blocks.push(DocumentBlock::Quiet(text::charts_left_out(left_out)));
        }
        if section == Section::Speed {
            blocks.extend(self.tables.iter().cloned());
        }
        part(section.title(), blocks)
    }

    /// Divides the charts of a section into those that it shows and those that are collapsed.
    fn collapsed(&self, section: Section, charts: Vec<Chart>) -> (Vec<Chart>, Vec<Chart>) {
        let (shown, more): (Vec<_>, Vec<_>) =
            charts
                .into_iter()
                .enumerate()
                .partition(|(at, chart)| match section {
                    Section::Latency | Section::Sustained if self.is_short() => *at < OPEN_CHARTS,
                    _ if self.collapsed => false,
                    Section::Speed => *at < OPEN_SPEED_CHARTS && !self.is_long_or_shown(chart),
                    Section::LayerCost => self.layer_cost.is_empty(),
                    Section::OverTime => false,
                    Section::Amplification
                    | Section::Latency
                    | Section::Sustained
                    | Section::Map
                    | Section::Claims
                    | Section::Path => *at < OPEN_CHARTS,
                });
        let charts = |all: Vec<(usize, Chart)>| all.into_iter().map(|(_, chart)| chart).collect();
        (charts(shown), charts(more))
    }

    /// Whether a page that collapses its charts has room to show some of them.
    fn is_short(&self) -> bool {
        self.charts.len() <= FEW_CHARTS
    }

    /// Whether a chart has more bars than a screen, or the first screen has its figures. Sweeps are lines, which no first
    /// screen has.
    fn is_long_or_shown(&self, chart: &Chart) -> bool {
        match &chart.plot {
            Plot::Bars(bars) => {
                self.rates_shown || bars.groups.len() * bars.series.len() > OPEN_BARS
            }
            _ => false,
        }
    }
}
