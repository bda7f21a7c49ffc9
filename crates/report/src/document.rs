//! A report in parts that do not know how they will look: written once, rendered as HTML and as Markdown.

use crate::chart::{Chart, Plot};
use crate::escape::{markdown as escaped, markup};
use crate::html::{charts as html_charts, frame};
use crate::markdown::lines;
use crate::table::DataTable;

/// A whole report.
#[derive(Clone, Debug, Default)]
pub(crate) struct Document {
    pub(crate) title: String,
    /// What stands below the title, a line each.
    pub(crate) under: Vec<String>,
    pub(crate) blocks: Vec<DocumentBlock>,
}

/// A part of a report. All text is foreign until it is rendered.
#[derive(Clone, Debug)]
pub(crate) enum DocumentBlock {
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
    Table(TableStyle, DataTable),
    Charts(Vec<Chart>),
    /// What not everybody wants to see.
    Fold(String, Vec<DocumentBlock>),
    /// Where the menu stands.
    Menu,
}

/// What a table is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TableStyle {
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
        let parts = TableOfContents::of(&self.blocks);
        let mut next = 0;
        let body: String = self
            .blocks
            .iter()
            .map(|block| html(block, &parts, &mut next))
            .collect();
        let under: String = self
            .under
            .iter()
            .map(|line| format!("<p class=\"quiet\">{}</p>\n", markup(line)))
            .collect();
        frame(&self.title, &under, &body)
    }

    /// As Markdown. Charts are linked from that folder, where one is given; without it their figures are in the tables.
    pub(crate) fn markdown(&self, charts: Option<&str>) -> String {
        let under: Vec<String> = self.under.iter().map(|line| escaped(line)).collect();
        let body: String = self
            .blocks
            .iter()
            .map(|block| markdown(block, charts))
            .collect();
        format!(
            "# {}\n\n{}\n{body}",
            escaped(&self.title),
            under.join("\\\n")
        )
    }
}

/// Titles of the parts with their ids, in order.
struct TableOfContents<'a>(Vec<(&'a str, String)>);

impl<'a> TableOfContents<'a> {
    fn of(blocks: &'a [DocumentBlock]) -> TableOfContents<'a> {
        let titles = blocks.iter().filter_map(|block| match block {
            DocumentBlock::Part(title) | DocumentBlock::Page(title) => Some(title.as_str()),
            _ => None,
        });
        TableOfContents(
            titles
                .enumerate()
                .map(|(i, title)| (title, format!("part-{}", i + 1)))
                .collect(),
        )
    }

    /// Links to all parts but the first, which the reader has just seen.
    fn menu(&self) -> String {
        let link =
            |(title, id): &(&str, String)| format!("<a href=\"#{id}\">{}</a>\n", markup(title));
        let links: String = self.0.iter().skip(1).map(link).collect();
        if links.is_empty() {
            links
        } else {
            format!("<nav aria-label=\"Contents\">\n{links}</nav>\n")
        }
    }
}

fn html(block: &DocumentBlock, parts: &TableOfContents<'_>, next: &mut usize) -> String {
    match block {
        DocumentBlock::Part(title) | DocumentBlock::Page(title) => {
            let id = parts.0.get(*next).map_or("", |(_, id)| id.as_str());
            *next += 1;
            let class = if matches!(block, DocumentBlock::Page(_)) {
                " class=\"page\""
            } else {
                ""
            };
            format!("<h2 id=\"{id}\"{class}>{}</h2>\n", markup(title))
        }
        DocumentBlock::Title(title) => format!("<h3>{}</h3>\n", markup(title)),
        DocumentBlock::Text(text) => format!("<p>{}</p>\n", markup(text)),
        DocumentBlock::Quiet(text) => format!("<p class=\"quiet\">{}</p>\n", markup(text)),
        DocumentBlock::Facts(items) => list("facts", items),
        DocumentBlock::Caveats(items) => list("caveats", items),
        DocumentBlock::Table(look, table) => html_table(*look, table),
        DocumentBlock::Charts(charts) => html_charts(charts),
        DocumentBlock::Fold(about, blocks) => {
            let inner: String = blocks
                .iter()
                .map(|block| html(block, parts, next))
                .collect();
            format!(
                "<details><summary>{}</summary>\n{inner}</details>\n",
                markup(about)
            )
        }
        DocumentBlock::Menu => parts.menu(),
    }
}

fn list(class: &str, items: &[(String, String)]) -> String {
    let item = |(lead, text): &(String, String)| match lead.is_empty() {
        true => format!("<li>{}</li>\n", markup(text)),
        false => format!("<li><b>{}</b>: {}</li>\n", markup(lead), markup(text)),
    };
    let items: String = items.iter().map(item).collect();
    if items.is_empty() {
        items
    } else {
        format!("<ul class=\"{class}\">\n{items}</ul>\n")
    }
}

fn html_table(look: TableStyle, table: &DataTable) -> String {
    let name = table.head.first().map_or("", String::as_str);
    match look {
        TableStyle::Numbers => table.scrolling("numbers cards wide", name),
        TableStyle::Words => table.scrolling("verdicts cards wide", name),
        TableStyle::Pairs => {
            let row = |row: &Vec<String>| {
                let cells: Vec<String> = row.iter().map(|cell| markup(cell)).collect();
                let (name, values) = cells
                    .split_first()
                    .map_or(("", &[][..]), |(name, rest)| (name.as_str(), rest));
                format!(
                    "<tr><th scope=\"row\">{name}</th><td>{}</td></tr>\n",
                    values.join(" ")
                )
            };
            let rows: String = table.rows.iter().map(row).collect();
            format!("<table class=\"pairs wide\"><tbody>\n{rows}</tbody></table>\n")
        }
    }
}

fn markdown(block: &DocumentBlock, charts: Option<&str>) -> String {
    let items = |items: &[(String, String)]| {
        let item = |(lead, text): &(String, String)| match lead.is_empty() {
            true => format!("- {}\n", escaped(text)),
            false => format!("- **{}**: {}\n", escaped(lead), escaped(text)),
        };
        format!("\n{}", items.iter().map(item).collect::<String>())
    };
    match block {
        DocumentBlock::Part(title) | DocumentBlock::Page(title) => {
            format!("\n## {}\n", escaped(title))
        }
        DocumentBlock::Title(title) => format!("\n### {}\n", escaped(title)),
        DocumentBlock::Text(text) | DocumentBlock::Quiet(text) => format!("\n{}\n", escaped(text)),
        DocumentBlock::Facts(list) | DocumentBlock::Caveats(list) => items(list),
        DocumentBlock::Table(look, table) => {
            format!("\n{}", lines(table, *look == TableStyle::Numbers))
        }
        DocumentBlock::Charts(all) => all
            .iter()
            .map(|chart| markdown_chart(chart, charts))
            .collect(),
        DocumentBlock::Fold(about, blocks) => {
            let inner: String = blocks.iter().map(|block| markdown(block, charts)).collect();
            if inner.is_empty() {
                inner
            } else {
                format!("\n### {}\n{inner}", escaped(about))
            }
        }
        DocumentBlock::Menu => String::new(),
    }
}

/// A link to the chart, and of percentiles their figures, which no other table has side by side.
fn markdown_chart(chart: &Chart, folder: Option<&str>) -> String {
    let title = escaped(&chart.title);
    let image = folder.map(|folder| {
        let folder = folder.trim_end_matches('/');
        // An address in angle brackets may hold spaces, and none of these.
        let address: String = folder
            .chars()
            .filter(|c| !matches!(c, '<' | '>' | '\n' | '\\'))
            .collect();
        format!("\n![{title}](<{address}/{}.svg>)\n", chart.name)
    });
    let table = matches!(chart.plot, Plot::Latency(_))
        .then(|| format!("\n{title}:\n\n{}", lines(&chart.table, true)));
    format!("{}{}", image.unwrap_or_default(), table.unwrap_or_default())
}
