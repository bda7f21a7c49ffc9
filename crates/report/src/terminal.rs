//! Renders a document as plain text for a terminal of a given width.

mod path;
mod table;
mod wrap;

pub(crate) use wrap::heading_parts;
pub use wrap::wrapped;

use wrap::GAP;

use crate::chart::{Chart, Plot};
use crate::document::{Document, DocumentBlock, Pair, TableStyle, VerdictBlock};
use crate::escape::{columns_of, padded, plain};
use crate::findings::ConclusionRow;
use crate::matrix::Matrix;
use crate::strips::{AddressStrips, LevelStrip};
use crate::table::DataTable;
use crate::text;

/// Minimum width in columns; narrower terminals are treated as this wide.
const NARROWEST: usize = 40;
/// Minimum width of names before values, so that consecutive lists are aligned.
const NAMES: usize = 13;
/// Minimum width of text next to its label; with less space, it is below the label.
const BESIDE: usize = 24;
/// Maximum width of a strip; wider ones show no more detail.
const WIDEST_STRIP: usize = 72;

impl Document {
    /// Renders the document for a terminal of `width` columns; `color` allows ANSI styles.
    ///
    /// Collapsed content and charts are omitted, except strips along the addresses of a device.
    pub(crate) fn terminal(&self, width: usize, color: bool) -> String {
        let names = self.blocks.iter().flat_map(|block| match block {
            DocumentBlock::Pairs(pairs) => &pairs[..],
            _ => &[],
        });
        let page = TerminalPage {
            width: width.max(NARROWEST),
            ink: TerminalStyle { color },
            names: widest(names.map(|pair| &pair.name)).max(NAMES - GAP) + GAP,
        };
        let mut out = match self.title.is_empty() {
            true => String::new(),
            false => page.ink.bold(&page.wrapped("", &self.title)),
        };
        for (lead, text) in &self.under {
            let between = if lead.is_empty() { "" } else { " · " };
            let line = format!("{lead}{between}{text}");
            out += &page.ink.dim(&page.wrapped("", &line));
        }
        page.blocks(&self.blocks, &mut out);
        out
    }
}

/// ANSI styles, or none. Each method takes complete lines that end with a newline.
#[derive(Clone, Copy)]
struct TerminalStyle {
    color: bool,
}

impl TerminalStyle {
    fn paint(self, code: &str, lines: &str) -> String {
        match (self.color, lines.strip_suffix('\n')) {
            (true, Some(text)) => format!("\x1b[{code}m{text}\x1b[0m\n"),
            _ => lines.to_owned(),
        }
    }

    fn bold(self, lines: &str) -> String {
        self.paint("1", lines)
    }

    fn dim(self, lines: &str) -> String {
        self.paint("2", lines)
    }

    fn yellow(self, lines: &str) -> String {
        self.paint("33", lines)
    }
}

/// Properties of the terminal.
struct TerminalPage {
    width: usize,
    ink: TerminalStyle,
    /// Width of the names of all pairs.
    names: usize,
}

impl TerminalPage {
    /// Appends the blocks, each below the headings that precede it.
    fn blocks(&self, blocks: &[DocumentBlock], out: &mut String) {
        let mut headings: Vec<(usize, &str)> = Vec::new();
        for block in blocks {
            if let Some((level, title)) = block.heading() {
                headings.retain(|(above, _)| *above < level);
                headings.push((level, title));
                continue;
            }
            if let DocumentBlock::Columns(_, columns) = block {
                columns.iter().for_each(|column| self.blocks(column, out));
                continue;
            }
            let text = self.block(block, !headings.is_empty());
            if text.is_empty() {
                continue;
            }
            // An explanation directly follows its subject, and the first block directly follows its heading.
            let remark = headings.is_empty() && matches!(block, DocumentBlock::Quiet(_));
            if !remark && !out.is_empty() {
                out.push('\n');
            }
            for (_, title) in headings.drain(..) {
                *out += &self.ink.bold(&self.wrapped("", title));
            }
            *out += &text;
        }
    }
    /// The lines of a block; `headed` is whether a heading precedes it.
    fn block(&self, block: &DocumentBlock, headed: bool) -> String {
        match block {
            DocumentBlock::Text(text) => self.wrapped("", text),
            DocumentBlock::Quiet(text) | DocumentBlock::Footer(text) => {
                self.ink.dim(&self.wrapped("", text))
            }
            DocumentBlock::Verdict(verdict) => self.verdict(verdict),
            DocumentBlock::Tiles(tiles) => {
                let pairs: Vec<(String, String)> = tiles.iter().map(|tile| tile.pair()).collect();
                self.listed(&pairs)
            }
            DocumentBlock::Facts(items) => self.listed(items),
            DocumentBlock::Caveats(items) | DocumentBlock::Limits(items) => {
                items.iter().map(|item| self.caveat(item)).collect()
            }
            DocumentBlock::Conclusions(_, rows) | DocumentBlock::Uses(rows) => {
                self.conclusions(rows)
            }
            DocumentBlock::Answer(answer) => {
                let proof = match answer.proof.is_empty() {
                    true => String::new(),
                    false => self.ink.dim(&self.wrapped("", &answer.proof)),
                };
                self.ink.bold(&self.wrapped("", &answer.text)) + &proof
            }
            DocumentBlock::Points(points) => {
                let line = |(n, point): (usize, &String)| self.wrapped(&format!("{n}. "), point);
                (1..).zip(points).map(line).collect()
            }
            DocumentBlock::Matrices(all, key) => self.matrices(all, key),
            DocumentBlock::Marks(marks) => self.table(TableStyle::Compact, &marks.table()),
            DocumentBlock::RateCard(card) => self.table(TableStyle::Numbers, &card.table()),
            DocumentBlock::KeyChart(chart) | DocumentBlock::WideChart(chart) => {
                self.chart(chart).unwrap_or_default()
            }
            DocumentBlock::Pairs(pairs) => self.pairs(pairs, headed),
            DocumentBlock::Table(style, table) => self.table(*style, table),
            DocumentBlock::Charts(charts) => {
                let drawn: Vec<String> = charts.iter().filter_map(|c| self.chart(c)).collect();
                drawn.join("\n")
            }
            DocumentBlock::Part(_)
            | DocumentBlock::Title(_)
            | DocumentBlock::Columns(..)
            | DocumentBlock::Aside(_)
            | DocumentBlock::Fold(_) => String::new(),
        }
    }

    fn table(&self, style: TableStyle, table: &DataTable) -> String {
        let bold = |head: &str| self.ink.bold(head);
        let (table, below) = table::lines(table, style, self.width, bold);
        let between = if below.is_empty() { "" } else { "\n" };
        table + between + &self.ink.dim(&self.listed(&below))
    }

    /// Tables below their captions, and the key.
    fn matrices(&self, all: &[Matrix], key: &str) -> String {
        let table = |matrix: &Matrix| {
            let caption = self.ink.bold(&self.wrapped("", &matrix.caption));
            caption + &self.table(TableStyle::Numbers, &matrix.table())
        };
        let tables: Vec<String> = all.iter().map(table).collect();
        tables.join("\n") + &self.ink.dim(&self.wrapped("", key))
    }

    fn verdict(&self, verdict: &VerdictBlock) -> String {
        let advice = match verdict.advice.is_empty() {
            true => String::new(),
            false => self.wrapped("  ", &verdict.advice),
        };
        let sign = format!("{} ", verdict.sign);
        self.ink.bold(&self.wrapped(&sign, &verdict.text)) + &advice
    }

    fn caveat(&self, (lead, text): &(String, String)) -> String {
        let between = if lead.is_empty() { "" } else { ": " };
        let text = format!("{lead}{between}{text}");
        self.ink.yellow(&self.wrapped("! ", &text))
    }

    /// Wraps untrusted text to lines; the last line ends with a newline.
    fn wrapped(&self, lead: &str, text: &str) -> String {
        wrap::wrapped(&plain(lead), &plain(text), self.width) + "\n"
    }

    /// Aligns texts next to their labels, or below them if there is too little space.
    fn listed(&self, items: &[(String, String)]) -> String {
        let widest = widest(items.iter().map(|(lead, _)| lead));
        let item = |(lead, text): &(String, String)| {
            let lead = plain(lead);
            if lead.is_empty() {
                return self.wrapped("", text);
            }
            let gap = " ".repeat(widest - columns_of(&lead) + GAP);
            match widest + GAP + BESIDE <= self.width {
                true => self.wrapped(&format!("{lead}{gap}"), text),
                false => self.wrapped("", &lead) + &self.wrapped("    ", text),
            }
        };
        items.iter().map(item).collect()
    }

    fn conclusions(&self, rows: &[ConclusionRow]) -> String {
        let item = |row: &ConclusionRow| {
            let between = if row.because.is_empty() { "" } else { ": " };
            (
                format!("  {} {}", row.sign, row.about),
                format!("{}{between}{}", row.verdict, row.because),
            )
        };
        self.listed(&rows.iter().map(item).collect::<Vec<_>>())
    }

    /// Names and values. Without a heading they are the environment of the preceding content.
    fn pairs(&self, pairs: &[Pair], headed: bool) -> String {
        let line = |pair: &Pair| {
            let name = plain(&pair.name);
            let gap = " ".repeat(self.names - columns_of(&name));
            let line = self.wrapped(&format!("{name}{gap}"), &pair.value);
            match pair.known && headed {
                true => line,
                false => self.ink.dim(&line),
            }
        };
        pairs.iter().map(line).collect()
    }

    /// A chart as characters; `None` for kinds that have no such form.
    fn chart(&self, chart: &Chart) -> Option<String> {
        match &chart.plot {
            Plot::Along(_, strips) => Some(self.strips(strips)),
            Plot::Flow(flow) => Some(self.titled(chart, &path::flow(flow, self.width))),
            Plot::Shares(shares) => Some(self.titled(chart, &path::shares(shares, self.width))),
            Plot::Sizes(sizes) => Some(self.titled(chart, &path::sizes(sizes, self.width))),
            Plot::Differences(data) => {
                let lines = path::differences(data, self.width);
                let note = self.ink.dim(&self.wrapped("", &chart.note));
                Some(self.titled(chart, &lines) + &note)
            }
            Plot::Card(card) => Some(card.lines()),
            Plot::Bars(_)
            | Plot::Latency(_)
            | Plot::Heat(_)
            | Plot::Sweep(_)
            | Plot::Ratios(_)
            | Plot::Timeline(_)
            | Plot::Addresses(_)
            | Plot::Depth(_) => None,
        }
    }

    /// A chart below its title.
    fn titled(&self, chart: &Chart, lines: &str) -> String {
        self.ink.bold(&self.wrapped("", &chart.title)) + lines
    }

    /// Lines along the addresses of a device, one for each series, with heights from zero.
    fn strips(&self, strips: &AddressStrips) -> String {
        let AddressStrips { from, to, .. } = strips;
        let columns = (self.width - NAMES).min(WIDEST_STRIP);
        let edge = |column: usize| {
            from.0 + (u128::from(to.0 - from.0) * column as u128 / columns as u128) as u64
        };
        let parts = || (0..columns).map(|column| (edge(column), edge(column + 1)));
        let found = parts().map(|(from, to)| strips.found.mark(from, to));
        let line = |name: &str, marks: String| padded(name, NAMES) + marks.trim_end() + "\n";
        let mut out = line(text::DeviceLabel::Found.text(), found.collect());
        let rates = |level: &LevelStrip| -> Vec<Option<f64>> {
            parts().map(|(from, to)| level.mean(from, to)).collect()
        };
        let rates: Vec<Vec<Option<f64>>> = strips.levels.iter().map(rates).collect();
        let all = rates.iter().flatten().flatten().copied();
        let tallest = all.fold(0.0, f64::max);
        for (level, rates) in strips.levels.iter().zip(&rates) {
            out += &line(
                level.name,
                rates.iter().map(|rate| bar(*rate, tallest)).collect(),
            );
        }
        let begin = from.to_string();
        let begin = if from.0 == 0 { "0" } else { &begin };
        let room = columns.saturating_sub(begin.len());
        out + &format!("{:NAMES$}{begin}{:>room$}\n", "", to.to_string())
    }
}

fn widest<'a>(names: impl Iterator<Item = &'a String>) -> usize {
    names.map(|name| columns_of(name)).max().unwrap_or(0)
}

/// Bar characters in steps of an eighth, from empty to full.
const HEIGHTS: [char; 9] = [' ', '▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

fn bar(rate: Option<f64>, tallest: f64) -> char {
    match rate {
        Some(rate) if tallest > 0.0 => {
            HEIGHTS[((rate / tallest * 8.0).round() as usize).clamp(1, 8)]
        }
        _ => ' ',
    }
}
