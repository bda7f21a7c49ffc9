//! Renders a document as plain text for a terminal of a given width.

mod table;

use crate::chart::{Chart, Plot};
use crate::document::{Document, DocumentBlock, Pair, TableStyle};
use crate::escape::{columns_of, plain};
use crate::findings::ConclusionRow;
use crate::strips::AddressStrips;

/// Minimum width in columns; narrower terminals are treated as this wide.
const NARROWEST: usize = 40;
/// Minimum width of names before values, so that consecutive lists are aligned.
const NAMES: usize = 13;
/// Gap between columns.
const GAP: usize = 2;
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
            out += &page
                .ink
                .dim(&page.wrapped("", &format!("{lead}{between}{text}")));
        }
        let mut headings: Vec<(u8, &str)> = Vec::new();
        for block in &self.blocks {
            let heading = match block {
                DocumentBlock::Part(title) | DocumentBlock::Page(title) => Some((2, title)),
                DocumentBlock::Title(title) => Some((3, title)),
                _ => None,
            };
            if let Some((level, title)) = heading {
                headings.retain(|(above, _)| *above < level);
                headings.push((level, title));
                continue;
            }
            let text = page.block(block, !headings.is_empty());
            if text.is_empty() {
                continue;
            }
            // An explanation directly follows its subject, and the first block directly follows its heading.
            let remark = headings.is_empty() && matches!(block, DocumentBlock::Quiet(_));
            if !remark && !out.is_empty() {
                out.push('\n');
            }
            for (_, title) in headings.drain(..) {
                out += &page.ink.bold(&page.wrapped("", title));
            }
            out += &text;
        }
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
    /// The lines of a block; `headed` is whether a heading precedes it.
    fn block(&self, block: &DocumentBlock, headed: bool) -> String {
        match block {
            DocumentBlock::Text(text) => self.wrapped("", text),
            DocumentBlock::Quiet(text) | DocumentBlock::Footer(text) => {
                self.ink.dim(&self.wrapped("", text))
            }
            DocumentBlock::Verdict(verdict) => {
                let lead = format!("{} ", verdict.sign);
                let advice = match verdict.advice.is_empty() {
                    true => String::new(),
                    false => self.wrapped("  ", &verdict.advice),
                };
                self.ink.bold(&self.wrapped(&lead, &verdict.text)) + &advice
            }
            DocumentBlock::Tiles(tiles) => {
                let pairs: Vec<(String, String)> = tiles.iter().map(|tile| tile.pair()).collect();
                self.listed(&pairs)
            }
            DocumentBlock::Facts(items) => self.listed(items),
            DocumentBlock::Caveats(items) => {
                let caveat = |(lead, text): &(String, String)| {
                    let between = if lead.is_empty() { "" } else { ": " };
                    let text = format!("{lead}{between}{text}");
                    self.ink.yellow(&self.wrapped("! ", &text))
                };
                items.iter().map(caveat).collect()
            }
            DocumentBlock::Conclusions(_, rows) => self.conclusions(rows),
            DocumentBlock::Pairs(pairs) => self.pairs(pairs, headed),
            DocumentBlock::Table(style, table) => {
                let spare = match style {
                    TableStyle::Fitted(columns) => columns,
                    TableStyle::Numbers | TableStyle::Words => &[][..],
                };
                let figures = *style != TableStyle::Words;
                table::lines(table, figures, spare, self.width, |head| {
                    self.ink.bold(head)
                })
            }
            DocumentBlock::Charts(charts) => charts.iter().filter_map(|c| self.chart(c)).collect(),
            DocumentBlock::Part(_)
            | DocumentBlock::Page(_)
            | DocumentBlock::Title(_)
            | DocumentBlock::Fold(_)
            | DocumentBlock::Menu => String::new(),
        }
    }

    /// Wraps untrusted text to lines; the last line ends with a newline.
    fn wrapped(&self, lead: &str, text: &str) -> String {
        hanging(&plain(lead), &plain(text), self.width) + "\n"
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

    /// A chart along the addresses of a device as one line for each series, with heights from zero; `None` for other
    /// charts.
    fn chart(&self, chart: &Chart) -> Option<String> {
        let Plot::Along(_, strips) = &chart.plot else {
            return None;
        };
        let columns = (self.width - NAMES).min(WIDEST_STRIP);
        let AddressStrips {
            from,
            to,
            found,
            levels,
        } = strips;
        let edge = |column: usize| {
            from.0 + (u128::from(to.0 - from.0) * column as u128 / columns as u128) as u64
        };
        let parts = || (0..columns).map(|column| (edge(column), edge(column + 1)));
        let found: String = parts().map(|(from, to)| found.mark(from, to)).collect();
        let mut out = format!("{:<NAMES$}{}\n", "Found", found.trim_end());
        let rates: Vec<Vec<Option<f64>>> = levels
            .iter()
            .map(|level| parts().map(|(from, to)| level.mean(from, to)).collect())
            .collect();
        let tallest = rates
            .iter()
            .flatten()
            .flatten()
            .copied()
            .fold(0.0, f64::max);
        for (level, rates) in levels.iter().zip(&rates) {
            let bars: String = rates.iter().map(|rate| bar(*rate, tallest)).collect();
            out += &format!("{:<NAMES$}{}\n", level.name, bars.trim_end());
        }
        let begin = if from.0 == 0 {
            "0".to_owned()
        } else {
            from.to_string()
        };
        let room = columns.saturating_sub(begin.len());
        Some(out + &format!("{:NAMES$}{begin}{:>room$}\n", "", to.to_string()))
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

/// Wraps words at `width`; following lines are indented by the length of `lead`.
pub fn hanging(lead: &str, text: &str, width: usize) -> String {
    let indent = columns_of(lead);
    let room = width.saturating_sub(indent).max(20);
    format!(
        "{lead}{}",
        wrap(text, room).join(&format!("\n{:indent$}", ""))
    )
}

/// Splits a text into lines of at most `room` columns.
fn wrap(text: &str, room: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split(' ') {
        for (at, piece) in pieces(word, room).into_iter().enumerate() {
            let gap = usize::from(at == 0);
            match lines.last_mut() {
                Some(line) if columns_of(line) + gap + columns_of(piece) <= room => {
                    line.push_str(&" "[..gap]);
                    line.push_str(piece);
                }
                _ => lines.push(piece.to_owned()),
            }
        }
    }
    lines
}

/// Splits a word that does not fit into a line (such as a path or mount options) at its commas and slashes.
fn pieces(word: &str, room: usize) -> Vec<&str> {
    if columns_of(word) <= room {
        vec![word]
    } else {
        word.split_inclusive([',', '/', ';', '-']).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_words_break_where_they_are_put_together() {
        let told = hanging(
            "Options  ",
            "rw,relatime,discard,resv_strict,resuid=65534 and more",
            29,
        );
        assert_eq!(
            told,
            "Options  rw,relatime,discard,\n         resv_strict,\n         resuid=65534 and\n         more"
        );
    }
}
