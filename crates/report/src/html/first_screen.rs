//! The elements of the first screen: matrices, the rate card, boxes and uses.

use super::HtmlPage;
use crate::document::{Aside, AsideContent};
use crate::escape::{markup, with_commands};
use crate::findings::ConclusionRow;
use crate::matrix::{Mark, MarkRow, MarkTable, Matrix, MatrixCell, MatrixRow};
use crate::rate_card::{RateCard, RateCell, RateRow};
use crate::terminal::heading_parts;
use crate::text::{self, Language};

/// Rows of a matrix that a page does not collapse.
const MATRIX_ROWS: usize = 8;
/// Matrices that a page does not collapse.
const MATRICES: usize = 2;
/// Columns of a matrix that fit beside another one.
const NARROW_MATRIX: usize = 4;
/// Rows of a rate card that a page does not collapse.
const CARD_ROWS: usize = 8;

/// Rows above which matrices are not stacked: the first chart would begin too far below. They scroll sideways instead.
const STACKED_ROWS: usize = 12;

/// Letters of a name above which matrices are not stacked, because its row takes several lines.
const STACKED_NAME: usize = 24;

/// Whether matrices like this one leave room for a chart if they are stacked.
fn is_short(matrix: &Matrix) -> bool {
    let mut names = matrix.rows.iter().map(|row| row.name.chars().count());
    matrix.rows.len() <= STACKED_ROWS && names.all(|length| length <= STACKED_NAME)
}

/// Whether the rows of a matrix fit on half a page: names, and letters of significance.
fn is_narrow(matrix: &Matrix) -> bool {
    let cells = matrix
        .rows
        .iter()
        .flat_map(|row| row.cells.iter().flatten());
    let mut names = matrix.rows.iter().map(|row| row.name.chars().count());
    names.all(|length| length <= 11) && cells.map(|cell| cell.letters.len()).all(|most| most <= 3)
}

impl HtmlPage {
    pub(super) fn matrices(&mut self, all: &[Matrix], key: &str) -> String {
        let (shown, more) = all.split_at(all.len().min(MATRICES));
        let is_slim =
            |m: &Matrix| m.columns.len() <= NARROW_MATRIX && (is_narrow(m) || !is_short(m));
        let beside = shown.len() > 1 && shown.iter().all(is_slim);
        let class = if beside { "two" } else { "stack" };
        let shown: String = shown.iter().map(|of| self.matrix(of)).collect();
        let more = more.iter().map(|of| {
            let (about, matrix) = (markup(&of.caption), self.matrix(of));
            format!("<details><summary>{about}</summary>\n{matrix}</details>\n")
        });
        let more: String = more.collect();
        let swatches: String = (0..6)
            .map(|n| format!("<i class=\"sw h{n}\"></i>"))
            .collect();
        format!(
            "<div class=\"{class} matrices\">\n{shown}</div>\n<p class=\"key\">{swatches} {}</p>\n{more}",
            markup(key)
        )
    }

    fn matrix(&mut self, of: &Matrix) -> String {
        let rows = match of.rows.len() {
            n if n <= MATRIX_ROWS + 2 => n,
            _ => MATRIX_ROWS,
        };
        let (shown, more) = of.rows.split_at(rows);
        let table = self.heat_table(of, shown);
        let more = match more.len() {
            0 => String::new(),
            n => {
                let about = match of.of_cards {
                    true => text::show_more_cards(n),
                    false => text::more_rows(n),
                };
                let rows = self.heat_table(of, more);
                format!("<details><summary>{about}</summary>\n{rows}</details>\n")
            }
        };
        format!("<div>\n{table}{more}</div>\n")
    }

    fn heat_table(&mut self, of: &Matrix, rows: &[MatrixRow]) -> String {
        let columns = of.columns.iter().map(|column| {
            let (name, unit) = (heading(&column.name), markup(&column.unit));
            match unit.is_empty() {
                true => format!("<th scope=\"col\">{name}</th>"),
                false => format!("<th scope=\"col\">{name} <small>{unit}</small></th>"),
            }
        });
        let columns: String = columns.collect();
        let body: String = rows.iter().map(|row| heat_row(row, of.framed)).collect();
        let (corner, caption, about) = (markup(&of.corner), markup(&of.caption), markup(&of.about));
        let about = match about.is_empty() {
            true => String::new(),
            false => format!(" <small>· {about}</small>"),
        };
        let region = markup(&self.region(of.caption.clone()));
        format!(
            "<div class=\"scroll\" role=\"region\" tabindex=\"0\" aria-label=\"{region}\">\n\
             <table class=\"heat\"><caption>{caption}{about}</caption>\n\
             <thead><tr><th scope=\"col\">{corner}</th>{columns}</tr></thead>\n<tbody>\n{body}</tbody></table>\n</div>\n"
        )
    }

    /// Verdicts as marks, whose words only screen readers read.
    pub(super) fn marks(&mut self, of: &MarkTable) -> String {
        let columns = of.columns.iter();
        let columns = columns.map(|name| format!("<th scope=\"col\">{}</th>", heading(name)));
        let columns: String = columns.collect();
        let rows: String = of.rows.iter().map(mark_row).collect();
        let (corner, caption) = (markup(&of.corner), markup(&of.caption));
        let region = markup(&self.region(of.caption.clone()));
        format!(
            "<div class=\"scroll\" role=\"region\" tabindex=\"0\" aria-label=\"{region}\">\n\
             <table class=\"marks\"><caption>{caption}</caption>\n\
             <thead><tr><th scope=\"col\">{corner}</th>{columns}</tr></thead>\n<tbody>\n{rows}</tbody></table>\n</div>\n"
        )
    }
}

/// The heading of a narrow column; on a Japanese page with the places where its lines may break.
fn heading(name: &str) -> String {
    if text::language() != Language::Japanese {
        return markup(name);
    }
    let parts: Vec<String> = heading_parts(name).into_iter().map(markup).collect();
    parts.join("<wbr>")
}

fn mark_row(row: &MarkRow) -> String {
    let cell = |mark: &Option<Mark>| match mark {
        Some(Mark { sign, word, figure }) => {
            let (class, word) = (mark_class(sign), markup(word));
            let figure = match figure.is_empty() {
                true => String::new(),
                false => format!(" {}", markup(figure)),
            };
            format!(
                "<td><span class=\"mark {class}\">{sign}<span class=\"vh\"> {word}</span></span>{figure}</td>"
            )
        }
        None => "<td>–</td>".to_owned(),
    };
    let cells: String = row.cells.iter().map(cell).collect();
    let detail = match row.detail.is_empty() {
        true => String::new(),
        false => format!(" <small>{}</small>", markup(&row.detail)),
    };
    format!(
        "<tr><th scope=\"row\">{}{detail}</th>{cells}</tr>\n",
        markup(&row.name)
    )
}

/// The style class of a symbol; a probable verdict has brackets.
fn mark_class(sign: &str) -> &'static str {
    match sign.trim_matches(['(', ')']) {
        "✓" => "ok",
        "~" => "care",
        "✗" => "no",
        _ => "open",
    }
}

fn heat_row(row: &MatrixRow, framed: &str) -> String {
    let cells = row.cells.iter().map(|cell| heat_cell(cell, framed));
    let cells: String = cells.collect();
    let name = row_name(&row.name);
    format!("<tr><th scope=\"row\">{name}</th>{cells}</tr>\n")
}

/// Maximum length of a hostname that is kept on one line in a narrow column.
const SHORT_HOST: usize = 14;

/// The name of a row; a host after the name of a card stays on one line, although browsers break after its hyphens.
fn row_name(name: &str) -> String {
    match name.rsplit_once(" (") {
        Some((card, host)) if host.ends_with(')') && host.chars().count() <= SHORT_HOST => {
            let (card, host) = (markup(card), markup(host));
            format!("{card} <span class=\"whole\">({host}</span>")
        }
        _ => markup(name),
    }
}

fn heat_cell(cell: &Option<MatrixCell>, framed: &str) -> String {
    let Some(cell) = cell else {
        let missing = text::not_measured_here();
        return format!("<td><span class=\"vh\">{missing}</span>–</td>");
    };
    let best = if cell.best { " best" } else { "" };
    let mut out = format!("<b>{}</b>", markup(&cell.figure));
    if !cell.letters.is_empty() {
        let (group, letters) = (text::group(), markup(&cell.letters));
        out += &format!("<sup><span class=\"vh\"> {group} </span>{letters}</sup>");
    }
    if cell.best {
        out += &format!("<span class=\"vh\"> ({framed})</span>");
    }
    if let Some(note) = &cell.note {
        out += &format!(" <small>{}</small>", markup(note));
    }
    format!("<td class=\"h{}{best}\">{out}</td>", cell.shade.min(5))
}

pub(super) fn rate_card(card: &RateCard) -> String {
    let (shown, more) = card.rows.split_at(card.rows.len().min(CARD_ROWS));
    let caption = format!(
        "<b>{}</b><span>{}</span>",
        markup(&card.title),
        markup(&card.about)
    );
    let table = card_table(&caption, shown);
    let more = match more.len() {
        0 => String::new(),
        n => {
            let about = text::more_rows(n);
            let table = card_table(&about, more);
            format!("<details><summary>{about}</summary>\n{table}</details>\n")
        }
    };
    let key = markup(text::card_key());
    format!("<div class=\"card\">\n{table}{more}<p class=\"key\">{key}</p>\n</div>\n")
}

fn card_table(caption: &str, rows: &[RateRow]) -> String {
    let [name, read, write] = text::rate_card_head();
    let rows: String = rows.iter().map(card_row).collect();
    format!(
        "<table><caption>{caption}</caption>\n<thead><tr><th scope=\"col\"><span class=\"vh\">{name}</span></th>\
         <th scope=\"col\">{read}</th><th scope=\"col\">{write}</th></tr></thead>\n<tbody>\n{rows}</tbody></table>\n"
    )
}

fn card_row(row: &RateRow) -> String {
    let cells = card_cell("rd", &row.read) + &card_cell("wr", &row.write);
    let (name, shape) = (markup(&row.name), markup(&row.shape));
    format!("<tr><th scope=\"row\">{name}<small>{shape}</small></th>{cells}</tr>\n")
}

fn card_cell(class: &str, cell: &Option<RateCell>) -> String {
    let Some(cell) = cell else {
        let missing = text::not_measured_here();
        return format!("<td class=\"na\"><span class=\"vh\">{missing}</span>–</td>");
    };
    let deviation = cell
        .deviation
        .as_ref()
        .map(|d| format!(" <span>± {}</span>", markup(d)));
    let notes = cell
        .notes
        .iter()
        .map(|note| format!("<small>{}</small>", markup(note)));
    format!(
        "<td class=\"{class}\" style=\"background-size:{}% 100%\"><b>{}</b>{}{}</td>",
        cell.percent,
        markup(&cell.figure),
        deviation.unwrap_or_default(),
        notes.collect::<String>()
    )
}

pub(super) fn aside(aside: &Aside) -> String {
    let title = markup(&aside.title);
    match &aside.content {
        AsideContent::Names(names) => {
            let pair = |(name, value, note): &(String, String, String)| {
                let (name, value, note) = (markup(name), markup(value), markup(note));
                format!("<dt>{name}</dt><dd>{value} <small>{note}</small></dd>\n")
            };
            let pairs: String = names.iter().map(pair).collect();
            format!("<div class=\"box\">\n<h3>{title}</h3>\n<dl>\n{pairs}</dl>\n</div>\n")
        }
        AsideContent::Caveats(worst, more, part) => {
            let worst = super::limits(worst, "");
            let more = match more {
                0 => String::new(),
                n => {
                    let more = markup(&text::more_caveats(*n, part));
                    format!("<p><a href=\"#limits\">{more}</a></p>\n")
                }
            };
            format!("<div class=\"box warn\">\n<h3>{title}</h3>\n{worst}{more}</div>\n")
        }
    }
}

/// Verdicts on uses, each with its reasons.
pub(super) fn uses(rows: &[ConclusionRow]) -> String {
    let item = |row: &ConclusionRow| {
        let class = mark_class(row.sign);
        let verdict = markup(&crate::findings::verdict(row));
        let (about, because) = (markup(&row.about), with_commands(&row.because));
        format!(
            "<li><b>{about}</b> <span class=\"mark {class}\">{verdict}</span><small>{because}</small></li>\n"
        )
    };
    let items: String = rows.iter().map(item).collect();
    format!("<ul class=\"uses\">\n{items}</ul>\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_hosts_after_a_card_stay_on_one_line() {
        let whole = "A, 8 GB <span class=\"whole\">(pi-b-plus)</span>";
        assert_eq!(row_name("A, 8 GB (pi-b-plus)"), whole);
        assert_eq!(row_name("<a> b"), "&lt;a&gt; b");
        let long = "A (a-host-with-a-long-name)";
        assert_eq!(row_name(long), long);
    }
}
