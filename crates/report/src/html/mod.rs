//! Renders a document as one self-contained HTML page.
//!
//! The page needs no network, scripts or fonts, and its content security policy forbids them. Each chart is embedded
//! twice, for wide and for narrow screens; the style rules show one of them. Collapsed charts are small and embedded
//! once.

mod embed;
mod first_screen;
mod style;
mod units;

pub use embed::{EmbeddedPage, embedded, stylesheet};

use crate::chart::Chart;
use crate::document::{
    AnswerBlock, ColumnStyle, Document, DocumentBlock, Fold, Pair, TableStyle, Tile, VerdictBlock,
    VerdictTone,
};
use crate::escape::{markup, prose, with_commands};
use crate::findings;
use crate::svg;
use crate::table::DataTable;
use crate::text::{self, PagePart};
use embed::{BODY_END, BODY_START, MAIN_START};
use std::collections::BTreeSet;

/// Width of charts on wide screens, where two are side by side, in pixels.
const WIDE: u32 = 540;
/// Width of the chart of the first screen beside a narrow column.
const KEY: u32 = 760;
/// Width of that narrow column.
const SIDE: u32 = 318;
/// Width of a chart without anything beside it.
const FULL: u32 = 1120;
/// Width of charts on a phone with a 390-pixel screen.
const NARROW: u32 = 350;

impl Document {
    /// Renders the document as one self-contained HTML page.
    pub(crate) fn html(&self) -> String {
        let title = markup(&self.title);
        let under: String = self
            .under
            .iter()
            .map(|(lead, text)| units::joined(&format!("<p>{}</p>\n", led(lead, " · ", text))))
            .collect();
        let mut page = HtmlPage {
            next: 0,
            heading: self.title.clone(),
            painted: false,
            regions: BTreeSet::new(),
            explained: BTreeSet::new(),
            footer: String::new(),
            key_width: KEY,
            room: FULL,
            folded: false,
        };
        let body = units::joined(&page.blocks(&self.blocks));
        let body = units::without_implied_end_tags(&body);
        let menu = menu(&self.blocks);
        let footer = units::joined(&page.footer);
        let (rules, patterns) = match page.painted {
            true => (svg::PAINT_CSS, patterns()),
            false => ("", String::new()),
        };
        // Pictures of pixels are part of the page, and the policy must allow them.
        let pictures = match body.contains("<image ") {
            true => "img-src data:; ",
            false => "",
        };
        let language = crate::text::language();
        format!(
            "<!DOCTYPE html>\n<html lang=\"{language}\">\n<head>\n<meta charset=\"utf-8\">\n\
             <meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\n\
             <meta name=\"color-scheme\" content=\"light dark\">\n\
             <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; {pictures}style-src 'unsafe-inline'\">\n\
             <title>{title}</title>\n<style>{}{}{rules}</style>{BODY_START}{patterns}\
             <header class=\"top\"><h1>{title}</h1>\n{under}</header>\n{menu}{MAIN_START}{body}</main>\n{footer}{BODY_END}",
            style::CSS,
            svg::CSS,
        )
    }
}

/// Adds the titles of the parts to `found`, in order.
fn parts<'a>(blocks: &'a [DocumentBlock], found: &mut Vec<&'a str>) {
    for block in blocks {
        match block {
            DocumentBlock::Part(title) => found.push(title),
            DocumentBlock::Columns(_, columns) => {
                columns.iter().for_each(|column| parts(column, found));
            }
            _ => {}
        }
    }
}

/// Links to all parts of a page; empty for a page with a single one.
fn menu(blocks: &[DocumentBlock]) -> String {
    let mut titles = Vec::new();
    parts(blocks, &mut titles);
    if titles.len() < 2 {
        return String::new();
    }
    let link = |(number, title): (usize, &&str)| {
        let title = markup(title);
        format!("<li><a href=\"#part-{number}\">{title}</a></li>\n")
    };
    let links: String = (1..).zip(&titles).map(link).collect();
    let (name, result) = (text::contents(), text::page_part(PagePart::Result));
    format!(
        "<nav class=\"toc\" aria-label=\"{name}\"><ul>\n<li><a href=\"#result\">{result}</a></li>\n{links}</ul></nav>\n"
    )
}

/// State of a page during rendering.
struct HtmlPage {
    /// Number of the next part, from 0.
    next: usize,
    /// The last heading; it labels the scrollable tables below it.
    heading: String,
    /// Whether a chart needs the patterns of [`svg::PATTERNS`].
    painted: bool,
    /// Names of the regions so far; each region has its own.
    regions: BTreeSet<String>,
    /// Notes of charts that are printed so far.
    explained: BTreeSet<String>,
    /// What follows the main content.
    footer: String,
    /// Width of a chart of the first screen.
    key_width: u32,
    /// Width of a chart without others beside it.
    room: u32,
    /// Whether the content is collapsed; its charts are drawn once, small enough for every screen.
    folded: bool,
}

/// The patterns of all charts of a page.
fn patterns() -> String {
    format!(
        "<svg width=\"0\" height=\"0\" style=\"position:absolute\" aria-hidden=\"true\">{}</svg>\n",
        svg::PATTERNS
    )
}

impl HtmlPage {
    fn blocks(&mut self, blocks: &[DocumentBlock]) -> String {
        blocks.iter().map(|block| self.block(block)).collect()
    }

    fn block(&mut self, block: &DocumentBlock) -> String {
        match block {
            DocumentBlock::Part(title) => self.part(title),
            DocumentBlock::Title(title) => {
                self.heading.clone_from(title);
                format!("<h3>{}</h3>\n", markup(title))
            }
            DocumentBlock::Text(text) => format!("<p>{}</p>\n", prose(text)),
            DocumentBlock::Quiet(text) => format!("<p class=\"quiet\">{}</p>\n", prose(text)),
            DocumentBlock::Answer(answer) => self::answer(answer),
            DocumentBlock::Points(points) => self::points(points),
            DocumentBlock::Matrices(all, key) => self.matrices(all, key),
            DocumentBlock::Marks(marks) => self.marks(marks),
            DocumentBlock::RateCard(card) => first_screen::rate_card(card),
            DocumentBlock::KeyChart(chart) => {
                let width = self.key_width;
                self.figure(chart, true, width)
            }
            DocumentBlock::WideChart(chart) => self.figure(chart, true, FULL),
            DocumentBlock::Columns(style, columns) => self.columns(*style, columns),
            DocumentBlock::Aside(aside) => first_screen::aside(aside),
            DocumentBlock::Limits(items) => limits(items, " id=\"limits\""),
            DocumentBlock::Uses(rows) => first_screen::uses(rows),
            DocumentBlock::Verdict(verdict) => self::verdict(verdict),
            DocumentBlock::Tiles(tiles) => self::tiles(tiles),
            DocumentBlock::Facts(items) => list("facts", items),
            DocumentBlock::Caveats(items) => list("caveats", items),
            DocumentBlock::Conclusions(about, rows) => {
                self.table(TableStyle::Words, &findings::table(about, rows))
            }
            DocumentBlock::Pairs(pairs) => self::pairs(pairs),
            DocumentBlock::Table(style, table) => self.table(*style, table),
            DocumentBlock::Charts(charts) => self.charts(charts),
            DocumentBlock::Fold(fold) => self.fold(fold),
            DocumentBlock::Footer(text) => {
                self.footer += &format!("<footer>\n<p>{}</p>\n</footer>\n", markup(text));
                String::new()
            }
        }
    }

    fn fold(&mut self, fold: &Fold) -> String {
        let open = if fold.open { " open" } else { "" };
        let page = if fold.page { " class=\"page\"" } else { "" };
        let heading = std::mem::replace(&mut self.heading, fold.about.clone());
        let outer = std::mem::replace(&mut self.folded, !fold.open);
        let (about, inner) = (markup(&fold.about), self.blocks(&fold.blocks));
        self.folded = outer;
        self.heading = heading;
        format!("<details{page}{open}><summary>{about}</summary>\n{inner}</details>\n")
    }

    fn part(&mut self, title: &str) -> String {
        self.heading = title.to_owned();
        self.next += 1;
        format!("<h2 id=\"part-{}\">{}</h2>\n", self.next, markup(title))
    }

    fn columns(&mut self, style: ColumnStyle, columns: &[Vec<DocumentBlock>; 2]) -> String {
        let (class, widths) = match style {
            ColumnStyle::Halves => ("two", [WIDE, WIDE]),
            ColumnStyle::Lead => ("lead", [KEY, SIDE]),
        };
        let outer = (self.key_width, self.room);
        let [left, right] = [0, 1].map(|side: usize| {
            (self.key_width, self.room) = (widths[side], widths[side]);
            self.blocks(&columns[side])
        });
        (self.key_width, self.room) = outer;
        format!("<div class=\"{class}\">\n<div>\n{left}</div>\n<div>\n{right}</div>\n</div>\n")
    }

    fn table(&mut self, style: TableStyle, table: &DataTable) -> String {
        let class = match style {
            TableStyle::Numbers | TableStyle::Described(_) => "numbers cards wide",
            TableStyle::Words if is_narrow(table) => "verdicts wide",
            TableStyle::Words => "verdicts cards wide",
            TableStyle::Compact => "numbers compact",
        };
        // Words wrap, so their table fits every page.
        if style == TableStyle::Words {
            return table.html(class);
        }
        let name = self.region(self.heading.clone());
        table.scrolling(class, &name)
    }

    /// A name that no other region of the page has.
    fn region(&mut self, name: String) -> String {
        let numbers = (2..).map(|n| format!("{name} ({n})"));
        let mut names = std::iter::once(name.clone()).chain(numbers);
        let free = names.find(|name| !self.regions.contains(name));
        let free = free.unwrap_or(name);
        self.regions.insert(free.clone());
        free
    }

    /// Charts side by side, each with its data; a note that all share is printed once.
    fn charts(&mut self, all: &[Chart]) -> String {
        let shared = shared_note(all);
        // A long explanation is printed where its first chart is.
        let is_known = shared.is_some_and(|note| self.explained.contains(note));
        self.explain(shared);
        let note = match shared.filter(|_| !is_known) {
            Some(note) => format!("<p class=\"quiet\">{}</p>\n", markup(note)),
            None => String::new(),
        };
        let width = match all {
            [_] => self.room,
            _ => WIDE.min(self.room),
        };
        let figures = all.iter();
        let figures: String = figures
            .map(|chart| self.figure(chart, shared.is_none(), width))
            .collect();
        let small = if self.folded { " small" } else { "" };
        format!("{note}<div class=\"charts{small}\">\n{figures}</div>\n")
    }

    /// Remembers a note that is printed; what is collapsed is not seen.
    fn explain(&mut self, note: Option<&str>) {
        let seen = note.filter(|_| !self.folded).map(str::to_owned);
        self.explained.extend(seen);
    }

    fn figure(&mut self, chart: &Chart, with_note: bool, width: u32) -> String {
        self.painted |= chart.is_painted();
        self.explain(with_note.then_some(chart.note.as_str()));
        let note = match with_note {
            true => format!("<small>{}</small>", markup(&chart.note)),
            false => String::new(),
        };
        let region = self.region(chart.title.clone());
        let drawn = match self.folded {
            true => chart.inline(NARROW),
            false => format!(
                "<div class=\"wide-chart\">{}</div>\n<div class=\"narrow\">{}</div>\n",
                chart.inline(width),
                chart.inline_without_values(NARROW)
            ),
        };
        format!(
            "<figure id=\"{}\">\n<figcaption><h3>{}</h3>{note}</figcaption>\n\
             {drawn}<details><summary>{}</summary>\n{}</details>\n</figure>\n",
            chart.name,
            markup(&chart.title),
            text::chart_data(),
            chart.table.scrolling("numbers", &region)
        )
    }
}

/// Longest text of a cell that wraps to two lines in a third of a phone's width, in characters.
const SHORT_CELL: usize = 24;

/// Whether a table of words fits on a phone as it is.
fn is_narrow(table: &DataTable) -> bool {
    let is_short = |row: &Vec<String>| row.iter().skip(1).all(|c| c.chars().count() <= SHORT_CELL);
    table.head.len() <= 3 && table.rows.iter().chain([&table.head]).all(is_short)
}

fn answer(answer: &AnswerBlock) -> String {
    let proof = match answer.proof.is_empty() {
        true => String::new(),
        false => format!("<p class=\"proof\">{}</p>\n", prose(&answer.proof)),
    };
    format!("<h2 class=\"answer\">{}</h2>\n{proof}", prose(&answer.text))
}

/// A numbered list of reasons.
fn points(points: &[String]) -> String {
    let items: String = points
        .iter()
        .map(|point| format!("<li>{}</li>\n", with_commands(point)))
        .collect();
    format!("<ol class=\"limits\">\n{items}</ol>\n")
}

/// Number of caveats that a page shows; further ones, which weigh less, are collapsed.
const SHOWN_CAVEATS: usize = 15;

/// A numbered list of caveats; `id` is the attribute that links refer to.
fn limits(items: &[(String, String)], id: &str) -> String {
    let item = |(lead, text): &(String, String)| format!("<li>{}</li>\n", led(lead, ": ", text));
    let list = |items: &[(String, String)], attribute: &str| {
        let items: String = items.iter().map(item).collect();
        format!("<ol class=\"limits\"{attribute}>\n{items}</ol>\n")
    };
    // A single further one is as short as the line that would hide it.
    let shown = match items.len() {
        n if n <= SHOWN_CAVEATS + 1 => n,
        _ => SHOWN_CAVEATS,
    };
    let (shown, more) = items.split_at(shown);
    let shown = list(shown, id);
    if more.is_empty() {
        return shown;
    }
    let about = markup(&text::and_more(more.len() as u64));
    let more = list(more, &format!(" start=\"{}\"", SHOWN_CAVEATS + 1));
    format!("{shown}<details><summary>{about}</summary>\n{more}</details>\n")
}

/// A text with an optional label.
fn led(lead: &str, between: &str, text: &str) -> String {
    match lead.is_empty() {
        true => prose(text),
        false => format!("<b>{}</b>{between}{}", markup(lead), prose(text)),
    }
}

fn list(class: &str, items: &[(String, String)]) -> String {
    let item = |(lead, text): &(String, String)| format!("<li>{}</li>\n", led(lead, ": ", text));
    let items: String = items.iter().map(item).collect();
    if items.is_empty() {
        items
    } else {
        format!("<ul class=\"{class}\">\n{items}</ul>\n")
    }
}

fn verdict(verdict: &VerdictBlock) -> String {
    let VerdictBlock {
        sign,
        tone,
        text,
        advice,
    } = verdict;
    let mut out = format!("<h2 class=\"answer\">{sign} {}</h2>\n", markup(text));
    if !advice.is_empty() {
        out += &format!("<p>{}</p>\n", prose(advice));
    }
    let class = match tone {
        VerdictTone::Good => "good",
        VerdictTone::Care => "warned",
        VerdictTone::Bad => "bad",
        VerdictTone::Open => "unknown",
    };
    format!("<div class=\"verdict {class}\">\n{out}</div>\n")
}

fn tiles(tiles: &[Tile]) -> String {
    let tile = |tile: &Tile| {
        let texts = [&tile.name, &tile.figure, &tile.unit, &tile.note];
        let [name, figure, unit, note] = texts.map(|text| markup(text));
        format!("<li>{name}<b>{figure} <span>{unit}</span></b><small>{note}</small></li>\n")
    };
    let tiles: String = tiles.iter().map(tile).collect();
    format!("<ul class=\"tiles\">\n{tiles}</ul>\n")
}

fn pairs(pairs: &[Pair]) -> String {
    // Neighbors that are unknown for the same reason share a row.
    let is_same = |a: &Pair, b: &Pair| !a.known && !b.known && a.value == b.value;
    // A pair without a name continues the one before it.
    let is_row = |a: &Pair, b: &Pair| is_same(a, b) || b.name.is_empty();
    let row = |alike: &[Pair]| {
        let names = alike.iter().filter(|pair| !pair.name.is_empty());
        let names = names.map(|pair| markup(&pair.name));
        let name = text::enumerated(&names.collect::<Vec<_>>());
        let class = if alike[0].known {
            ""
        } else {
            " class=\"quiet\""
        };
        let mut lines: Vec<String> = alike.iter().map(|pair| markup(&pair.value)).collect();
        lines.dedup();
        let value = lines.join("<br>");
        format!("<tr><th scope=\"row\">{name}</th><td{class}>{value}</td></tr>\n")
    };
    let rows: String = pairs.chunk_by(is_row).map(row).collect();
    format!("<table class=\"pairs wide\"><tbody>\n{rows}</tbody></table>\n")
}

/// The common note of several charts; `None` if the notes differ.
fn shared_note(all: &[Chart]) -> Option<&str> {
    match all {
        [first, _, ..] if all.iter().all(|chart| chart.note == first.note) => Some(&first.note),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_caveats_are_collapsed_and_keep_their_numbers() {
        let of = |n: usize| {
            let items: Vec<_> = (0..n).map(|i| (String::new(), format!("c{i}"))).collect();
            limits(&items, "")
        };
        assert!(!of(16).contains("<details>"));
        let long = of(42);
        let (shown, more) = long.split_once("<details>").unwrap();
        assert_eq!(shown.matches("<li>").count(), 15);
        assert!(more.contains("27") && more.contains("<ol class=\"limits\" start=\"16\">"));
        assert!(more.contains("<li>c15</li>") && more.contains("<li>c41</li>"));
    }
}
