//! Renders a document as one self-contained HTML page.
//!
//! The page needs no network, scripts or fonts, and its content security policy forbids them. Each chart is embedded
//! twice, for wide and for narrow screens; the style rules show one of them.

mod style;

use crate::chart::Chart;
use crate::document::{Document, DocumentBlock, Fold, Pair, TableStyle, Tile, VerdictBlock};
use crate::escape::markup;
use crate::findings;
use crate::svg;
use crate::table::DataTable;

/// Width of charts on wide screens, where two are side by side, in pixels.
const WIDE: u32 = 540;
/// Width of charts on a phone with a 360-pixel screen.
const NARROW: u32 = 332;

impl Document {
    /// Renders the document as one self-contained HTML page.
    pub(crate) fn html(&self) -> String {
        let title = markup(&self.title);
        let under: String = self
            .under
            .iter()
            .map(|(lead, text)| format!("<p class=\"quiet\">{}</p>\n", led(lead, " · ", text)))
            .collect();
        let mut page = HtmlPage {
            parts: parts(&self.blocks),
            next: 0,
            heading: self.title.clone(),
            painted: false,
        };
        let body = page.blocks(&self.blocks);
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
             <title>{title}</title>\n<style>{}{}{rules}</style>\n</head>\n<body>\n{patterns}<main>\n\
             <header><h1>{title}</h1>\n{under}</header>\n{body}</main>\n</body>\n</html>\n",
            style::CSS,
            svg::CSS,
        )
    }
}

/// Titles of the parts, in order.
fn parts(blocks: &[DocumentBlock]) -> Vec<&str> {
    let titles = blocks.iter().filter_map(|block| match block {
        DocumentBlock::Part(title) | DocumentBlock::Page(title) => Some(title.as_str()),
        _ => None,
    });
    titles.collect()
}

/// State of a page during rendering.
struct HtmlPage<'a> {
    parts: Vec<&'a str>,
    /// Number of the next part, from 0.
    next: usize,
    /// The last heading; it labels the scrollable tables below it.
    heading: String,
    /// Whether a chart needs the patterns of [`svg::PATTERNS`].
    painted: bool,
}

/// The patterns of all charts of a page.
fn patterns() -> String {
    format!(
        "<svg width=\"0\" height=\"0\" style=\"position:absolute\" aria-hidden=\"true\">{}</svg>\n",
        svg::PATTERNS
    )
}

impl HtmlPage<'_> {
    fn blocks(&mut self, blocks: &[DocumentBlock]) -> String {
        blocks.iter().map(|block| self.block(block)).collect()
    }

    fn block(&mut self, block: &DocumentBlock) -> String {
        match block {
            DocumentBlock::Part(title) => self.part(title, ""),
            DocumentBlock::Page(title) => self.part(title, " class=\"page\""),
            DocumentBlock::Title(title) => {
                self.heading.clone_from(title);
                format!("<h3>{}</h3>\n", markup(title))
            }
            DocumentBlock::Text(text) => format!("<p>{}</p>\n", markup(text)),
            DocumentBlock::Quiet(text) => format!("<p class=\"quiet\">{}</p>\n", markup(text)),
            DocumentBlock::Verdict(verdict) => self::verdict(verdict),
            DocumentBlock::Tiles(tiles) => self::tiles(tiles),
            DocumentBlock::Facts(items) => list("facts", items),
            DocumentBlock::Caveats(items) => list("caveats", items),
            DocumentBlock::Conclusions(about, rows) => {
                self.table(TableStyle::Words, &findings::table(about, rows))
            }
            DocumentBlock::Pairs(pairs) => self::pairs(pairs),
            DocumentBlock::Table(style, table) => self.table(*style, table),
            DocumentBlock::Charts(charts) => {
                self.painted |= charts.iter().any(Chart::is_painted);
                self::charts(charts)
            }
            DocumentBlock::Fold(fold) => self.fold(fold),
            DocumentBlock::Menu => self.menu(),
            DocumentBlock::Footer(text) => {
                format!("<footer>\n<p>{}</p>\n</footer>\n", markup(text))
            }
        }
    }

    fn fold(&mut self, fold: &Fold) -> String {
        let open = if fold.open { " open" } else { "" };
        let (about, inner) = (markup(&fold.about), self.blocks(&fold.blocks));
        format!("<details{open}><summary>{about}</summary>\n{inner}</details>\n")
    }

    fn part(&mut self, title: &str, class: &str) -> String {
        self.heading = title.to_owned();
        self.next += 1;
        format!(
            "<h2 id=\"part-{}\"{class}>{}</h2>\n",
            self.next,
            markup(title)
        )
    }

    /// Links to all parts except the first, which directly precedes the menu.
    fn menu(&self) -> String {
        let parts = (1..).zip(&self.parts).skip(1);
        let link = |(number, title): (usize, &&str)| {
            format!("<a href=\"#part-{number}\">{}</a>\n", markup(title))
        };
        let links: String = parts.map(link).collect();
        if links.is_empty() {
            links
        } else {
            format!("<nav aria-label=\"Contents\">\n{links}</nav>\n")
        }
    }

    fn table(&self, style: TableStyle, table: &DataTable) -> String {
        match style {
            TableStyle::Numbers | TableStyle::Fitted(_) => {
                table.scrolling("numbers cards wide", &self.heading)
            }
            TableStyle::Words => table.scrolling("verdicts cards wide", &self.heading),
        }
    }
}

/// A text with an optional label.
fn led(lead: &str, between: &str, text: &str) -> String {
    match lead.is_empty() {
        true => markup(text),
        false => format!("<b>{}</b>{between}{}", markup(lead), markup(text)),
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
        good,
        text,
        advice,
    } = verdict;
    let mut out = format!("<p><b>{sign} {}</b></p>\n", markup(text));
    if !advice.is_empty() {
        out += &format!("<p>{}</p>\n", markup(advice));
    }
    if *good {
        out
    } else {
        format!("<div class=\"caveats\">\n{out}</div>\n")
    }
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
    let row = |pair: &Pair| {
        let class = if pair.known { "" } else { " class=\"quiet\"" };
        let (name, value) = (markup(&pair.name), markup(&pair.value));
        format!("<tr><th scope=\"row\">{name}</th><td{class}>{value}</td></tr>\n")
    };
    let rows: String = pairs.iter().map(row).collect();
    format!("<table class=\"pairs wide\"><tbody>\n{rows}</tbody></table>\n")
}

/// Charts side by side, each with its data; a note that all share is printed once.
fn charts(all: &[Chart]) -> String {
    let note = shared_note(all);
    let figures: String = all
        .iter()
        .map(|chart| figure(chart, note.is_empty()))
        .collect();
    format!("{note}<div class=\"charts\">\n{figures}</div>\n")
}

/// The common note of several charts; empty if the notes differ.
fn shared_note(all: &[Chart]) -> String {
    match all {
        [first, _, ..] if all.iter().all(|chart| chart.note == first.note) => {
            format!("<p class=\"quiet\">{}</p>\n", markup(&first.note))
        }
        _ => String::new(),
    }
}

fn figure(chart: &Chart, with_note: bool) -> String {
    let note = if with_note {
        format!("<small>{}</small>", markup(&chart.note))
    } else {
        String::new()
    };
    format!(
        "<figure id=\"{}\">\n<figcaption><h3>{}</h3>{note}</figcaption>\n\
         <div class=\"wide-chart\">{}</div>\n<div class=\"narrow\">{}</div>\n\
         <details><summary>Data of this chart</summary>\n{}</details>\n</figure>\n",
        chart.name,
        markup(&chart.title),
        chart.inline(WIDE, "w"),
        chart.inline(NARROW, "n"),
        chart.table.scrolling("numbers", &chart.title)
    )
}
