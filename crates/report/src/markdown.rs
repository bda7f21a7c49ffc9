//! Renders a document as GitHub Markdown, for an article, an issue or a wiki.

use crate::chart::{Chart, Plot};
use crate::document::{
    AnswerBlock, Aside, AsideContent, Document, DocumentBlock, TableStyle, VerdictBlock,
};
use crate::escape::markdown as escaped;
use crate::findings;
use crate::matrix::Matrix;
use crate::table::DataTable;
use crate::text;

impl Document {
    /// Renders the document as Markdown. Charts are linked from the directory, if one is given; without it, tables
    /// contain their figures.
    pub(crate) fn markdown(&self, charts: Option<&str>) -> String {
        let under: Vec<String> = self
            .under
            .iter()
            .map(|(lead, text)| led(lead, " · ", text))
            .collect();
        let mut out = format!("# {}\n", escaped(&self.title));
        if !under.is_empty() {
            out += &format!("\n{}\n", under.join("\\\n"));
        }
        blocks(&self.blocks, charts, &mut Vec::new(), &mut out);
        out
    }
}

/// Writes blocks; `headings` are pending headings, which are written before the next non-empty block.
fn blocks(
    all: &[DocumentBlock],
    charts: Option<&str>,
    headings: &mut Vec<(usize, String)>,
    out: &mut String,
) {
    for block in all {
        if let DocumentBlock::Columns(_, columns) = block {
            for column in columns {
                blocks(column, charts, headings, out);
            }
            continue;
        }
        let heading = match block {
            DocumentBlock::Fold(fold) => Some((3, &fold.about)),
            block => block.heading(),
        };
        if let Some((level, title)) = heading {
            headings.retain(|(above, _)| *above < level);
            headings.push((level, escaped(title)));
        }
        if let DocumentBlock::Fold(fold) = block {
            blocks(&fold.blocks, charts, headings, out);
            headings.retain(|(level, _)| *level < 3);
        }
        let text = self::block(block, charts);
        if !text.is_empty() {
            for (level, title) in headings.drain(..) {
                *out += &format!("\n{} {title}\n", "#".repeat(level));
            }
            *out += &format!("\n{text}");
        }
    }
}

fn block(block: &DocumentBlock, charts: Option<&str>) -> String {
    match block {
        DocumentBlock::Text(text) | DocumentBlock::Quiet(text) | DocumentBlock::Footer(text) => {
            format!("{}\n", escaped(text))
        }
        DocumentBlock::Verdict(verdict) => self::verdict(verdict),
        DocumentBlock::Tiles(tiles) => items(tiles.iter().map(|tile| tile.pair())),
        DocumentBlock::Facts(list) | DocumentBlock::Caveats(list) | DocumentBlock::Limits(list) => {
            items(list.iter().cloned())
        }
        DocumentBlock::Conclusions(about, rows) => lines(&findings::table(about, rows), false),
        DocumentBlock::Uses(rows) => {
            let about = text::conclusion_about(findings::ConclusionKind::Uses);
            lines(&findings::table(about, rows), false)
        }
        DocumentBlock::Answer(answer) => self::answer(answer),
        DocumentBlock::Points(points) => {
            let line = |(n, point): (usize, &String)| format!("{n}. {}\n", escaped(point));
            (1..).zip(points).map(line).collect()
        }
        DocumentBlock::Matrices(all, key) => matrices(all, key),
        DocumentBlock::Marks(marks) => {
            format!(
                "{}\n\n{}",
                escaped(&marks.caption),
                lines(&marks.table(), false)
            )
        }
        DocumentBlock::RateCard(card) => lines(&card.table(), true),
        DocumentBlock::KeyChart(chart) | DocumentBlock::WideChart(chart) => {
            self::chart(chart, charts).unwrap_or_default()
        }
        DocumentBlock::Aside(aside) => self::aside(aside),
        DocumentBlock::Pairs(pairs) => {
            let known = pairs.iter().filter(|pair| pair.known);
            let rows = known.map(|pair| vec![pair.name.clone(), pair.value.clone()]);
            let table = DataTable::new(["", ""], rows).nonempty();
            table.map(|table| lines(&table, false)).unwrap_or_default()
        }
        DocumentBlock::Table(style, table) => lines(table, *style != TableStyle::Words),
        DocumentBlock::Charts(all) => {
            let all: Vec<String> = all.iter().filter_map(|c| chart(c, charts)).collect();
            all.join("\n")
        }
        DocumentBlock::Part(_)
        | DocumentBlock::Title(_)
        | DocumentBlock::Columns(..)
        | DocumentBlock::Fold(_) => String::new(),
    }
}

/// A table of figures.
pub(crate) fn numbers(table: &DataTable) -> String {
    lines(table, true)
}

fn answer(answer: &AnswerBlock) -> String {
    let proof = match answer.proof.is_empty() {
        true => String::new(),
        false => format!("\n{}\n", escaped(&answer.proof)),
    };
    format!("**{}**\n{proof}", escaped(&answer.text))
}

fn matrices(all: &[Matrix], key: &str) -> String {
    let table = |matrix: &Matrix| {
        let caption = match matrix.about.is_empty() {
            true => matrix.caption.clone(),
            false => format!("{}: {}", matrix.caption, matrix.about),
        };
        format!(
            "{}\n\n{}\n",
            escaped(&caption),
            lines(&matrix.table(), true)
        )
    };
    let tables: String = all.iter().map(table).collect();
    format!("{tables}{}\n", escaped(key))
}

/// A box as a list. Its caveats are omitted, because the part that it refers to has all of them.
fn aside(aside: &Aside) -> String {
    let AsideContent::Names(names) = &aside.content else {
        return String::new();
    };
    let named = names.iter().map(|(name, value, note)| {
        let text = format!("{value} {note}");
        (name.clone(), text.trim_end().to_owned())
    });
    format!("{}\n\n{}", escaped(&aside.title), items(named))
}

fn verdict(verdict: &VerdictBlock) -> String {
    let advice = match verdict.advice.is_empty() {
        true => String::new(),
        false => format!("\n{}\n", escaped(&verdict.advice)),
    };
    format!("**{} {}**\n{advice}", verdict.sign, escaped(&verdict.text))
}

fn led(lead: &str, between: &str, text: &str) -> String {
    match lead.is_empty() {
        true => escaped(text),
        false => format!("**{}**{between}{}", escaped(lead), escaped(text)),
    }
}

fn items(all: impl Iterator<Item = (String, String)>) -> String {
    all.map(|(lead, text)| format!("- {}\n", led(&lead, ": ", &text)))
        .collect()
}

/// A table; figures are right-aligned.
fn lines(table: &DataTable, figures: bool) -> String {
    let line = |cells: &[String]| {
        let cells: Vec<String> = cells
            .iter()
            .map(|cell| cell.split('\n').map(escaped).collect::<Vec<_>>().join(": "))
            .collect();
        format!("| {} |\n", cells.join(" | "))
    };
    let rule: String = (0..table.head.len())
        .map(|column| match figures && table.has_figures(column) {
            true => "| ---: ",
            false => "| --- ",
        })
        .collect();
    let rows: String = table.rows.iter().map(|row| line(row)).collect();
    format!("{}{rule}|\n{rows}", line(&table.head))
}

/// A link to the chart and, for percentiles, their figures, which no other table compares.
fn chart(chart: &Chart, directory: Option<&str>) -> Option<String> {
    let title = escaped(&chart.title);
    let image = directory.map(|directory| {
        let directory = directory.trim_end_matches('/');
        // An address in angle brackets may contain spaces, but not these characters.
        let address: String = directory
            .chars()
            .filter(|c| !matches!(c, '<' | '>' | '\n' | '\\'))
            .collect();
        format!("![{title}](<{address}/{}.svg>)\n", chart.name)
    });
    let table = matches!(chart.plot, Plot::Latency(_))
        .then(|| format!("{title}:\n\n{}", lines(&chart.table, true)));
    match (image, table) {
        (Some(image), Some(table)) => Some(format!("{image}\n{table}")),
        (image, table) => image.or(table),
    }
}
