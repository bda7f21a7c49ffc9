//! A report in parts that do not know how they will look: written once, rendered as HTML and as Markdown.

use crate::chart::{Chart, Plot};
use crate::html::{charts as html_charts, frame};
use crate::markdown::lines;
use crate::table::DataTable;
use crate::text::{markdown as escaped, markup};

/// A whole report.
#[derive(Clone, Debug, Default)]
pub(crate) struct Document {
    pub(crate) title: String,
    /// What stands below the title, a line each.
    pub(crate) under: Vec<String>,
    pub(crate) blocks: Vec<Block>,
}

/// A part of a report. All text is foreign until it is rendered.
#[derive(Clone, Debug)]
pub(crate) enum Block {
    /// Begins a part that the menu lists.
    Part(String),
    /// The same, on a sheet of its own where the report is printed.
    Page(String),
    /// Begins something smaller.
    Title(String),
    Text(String),
    /// A remark on how to read what follows.
    Quiet(String),
    /// Sentences, each with what it is about in front, or nothing.
    Facts(Vec<(String, String)>),
    /// The same of what limits the worth of figures.
    Caveats(Vec<(String, String)>),
    Table(Look, DataTable),
    Charts(Vec<Chart>),
    /// What not everybody wants to see.
    Fold(String, Vec<Block>),
    /// Where the menu stands.
    Menu,
}

/// What a table is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Look {
    /// Figures, flush right.
    Numbers,
    /// Words.
    Words,
    /// Names and values, without a head.
    Pairs,
}

impl Document {
    /// As one self-contained page.
    pub(crate) fn html(&self) -> String {
        let parts = Parts::of(&self.blocks);
        let mut next = 0;
        let body: String = self.blocks.iter().map(|block| html(block, &parts, &mut next)).collect();
        let under: String =
            self.under.iter().map(|line| format!("<p class=\"quiet\">{}</p>\n", markup(line))).collect();
        frame(&self.title, &under, &body)
    }

    /// As Markdown. Charts are linked from that folder, where one is given; without it their figures are in the tables.
    pub(crate) fn markdown(&self, charts: Option<&str>) -> String {
        let under: Vec<String> = self.under.iter().map(|line| escaped(line)).collect();
        let body: String = self.blocks.iter().map(|block| markdown(block, charts)).collect();
        format!("# {}\n\n{}\n{body}", escaped(&self.title), under.join("\\\n"))
    }
}

/// Titles of the parts with their ids, in order.
struct Parts<'a>(Vec<(&'a str, String)>);

impl<'a> Parts<'a> {
    fn of(blocks: &'a [Block]) -> Parts<'a> {
        let titles = blocks.iter().filter_map(|block| match block {
            Block::Part(title) | Block::Page(title) => Some(title.as_str()),
            _ => None,
        });
        Parts(titles.enumerate().map(|(i, title)| (title, format!("part-{}", i + 1))).collect())
    }

    /// Links to all parts but the first, which the reader has just seen.
    fn menu(&self) -> String {
        let link = |(title, id): &(&str, String)| format!("<a href=\"#{id}\">{}</a>\n", markup(title));
        let links: String = self.0.iter().skip(1).map(link).collect();
        if links.is_empty() { links } else { format!("<nav aria-label=\"Contents\">\n{links}</nav>\n") }
    }
}

fn html(block: &Block, parts: &Parts<'_>, next: &mut usize) -> String {
    match block {
        Block::Part(title) | Block::Page(title) => {
            let id = parts.0.get(*next).map_or("", |(_, id)| id.as_str());
            *next += 1;
            let class = if matches!(block, Block::Page(_)) { " class=\"page\"" } else { "" };
            format!("<h2 id=\"{id}\"{class}>{}</h2>\n", markup(title))
        }
        Block::Title(title) => format!("<h3>{}</h3>\n", markup(title)),
        Block::Text(text) => format!("<p>{}</p>\n", markup(text)),
        Block::Quiet(text) => format!("<p class=\"quiet\">{}</p>\n", markup(text)),
        Block::Facts(items) => list("facts", items),
        Block::Caveats(items) => list("caveats", items),
        Block::Table(look, table) => html_table(*look, table),
        Block::Charts(charts) => html_charts(charts),
        Block::Fold(about, blocks) => {
            let inner: String = blocks.iter().map(|block| html(block, parts, next)).collect();
            format!("<details><summary>{}</summary>\n{inner}</details>\n", markup(about))
        }
        Block::Menu => parts.menu(),
    }
}

fn list(class: &str, items: &[(String, String)]) -> String {
    let item = |(lead, text): &(String, String)| match lead.is_empty() {
        true => format!("<li>{}</li>\n", markup(text)),
        false => format!("<li><b>{}</b>: {}</li>\n", markup(lead), markup(text)),
    };
    let items: String = items.iter().map(item).collect();
    if items.is_empty() { items } else { format!("<ul class=\"{class}\">\n{items}</ul>\n") }
}

fn html_table(look: Look, table: &DataTable) -> String {
    let name = table.head.first().map_or("", String::as_str);
    match look {
        Look::Numbers => table.scrolling("numbers cards wide", name),
        Look::Words => table.scrolling("verdicts cards wide", name),
        Look::Pairs => {
            let row = |row: &Vec<String>| {
                let cells: Vec<String> = row.iter().map(|cell| markup(cell)).collect();
                let (name, values) = cells.split_first().map_or(("", &[][..]), |(name, rest)| (name.as_str(), rest));
                format!("<tr><th scope=\"row\">{name}</th><td>{}</td></tr>\n", values.join(" "))
            };
            let rows: String = table.rows.iter().map(row).collect();
            format!("<table class=\"pairs wide\"><tbody>\n{rows}</tbody></table>\n")
        }
    }
}

fn markdown(block: &Block, charts: Option<&str>) -> String {
    let items = |items: &[(String, String)]| {
        let item = |(lead, text): &(String, String)| match lead.is_empty() {
            true => format!("- {}\n", escaped(text)),
            false => format!("- **{}**: {}\n", escaped(lead), escaped(text)),
        };
        format!("\n{}", items.iter().map(item).collect::<String>())
    };
    match block {
        Block::Part(title) | Block::Page(title) => format!("\n## {}\n", escaped(title)),
        Block::Title(title) => format!("\n### {}\n", escaped(title)),
        Block::Text(text) | Block::Quiet(text) => format!("\n{}\n", escaped(text)),
        Block::Facts(list) | Block::Caveats(list) => items(list),
        Block::Table(look, table) => format!("\n{}", lines(table, *look == Look::Numbers)),
        Block::Charts(all) => all.iter().map(|chart| markdown_chart(chart, charts)).collect(),
        Block::Fold(about, blocks) => {
            let inner: String = blocks.iter().map(|block| markdown(block, charts)).collect();
            if inner.is_empty() { inner } else { format!("\n### {}\n{inner}", escaped(about)) }
        }
        Block::Menu => String::new(),
    }
}

/// A link to the chart, and of percentiles their figures, which no other table has side by side.
fn markdown_chart(chart: &Chart, folder: Option<&str>) -> String {
    let title = escaped(&chart.title);
    let image = folder.map(|folder| {
        let folder = folder.trim_end_matches('/');
        // An address in angle brackets may hold spaces, and none of these.
        let address: String = folder.chars().filter(|c| !matches!(c, '<' | '>' | '\n' | '\\')).collect();
        format!("\n![{title}](<{address}/{}.svg>)\n", chart.name)
    });
    let table = matches!(chart.plot, Plot::Latency(_)).then(|| format!("\n{title}:\n\n{}", lines(&chart.table, true)));
    format!("{}{}", image.unwrap_or_default(), table.unwrap_or_default())
}
