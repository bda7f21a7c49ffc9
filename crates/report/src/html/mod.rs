//! One self-contained HTML page: a summary that a hurried reader can stop at, then charts, tables and circumstances.
//!
//! The page needs no network, no script and no fonts, and its policy forbids them. Each chart is there twice, laid out
//! for a desk and for a phone; the style rules show one of them.

mod conclusions;
mod parts;
mod style;

use crate::chart::{self, Chart, Section};
use crate::escape::markup;
use crate::svg;
use crate::{compare, facts, naming, time};
use hakaru_model::advice::RunFindings;
use hakaru_model::finding::{Comparison, Summary};
pub(crate) use parts::with_interval;

/// Width of charts on a desk, where two stand side by side.
const WIDE: u32 = 540;
/// Width of charts on a phone of 360 pixels.
const NARROW: u32 = 332;

/// Renders series as one HTML page.
pub fn html(summaries: &[Summary]) -> String {
    html_with(summaries, &[])
}

/// The same with what was concluded from each; series past the end of `findings` go without.
pub fn html_with(summaries: &[Summary], findings: &[RunFindings]) -> String {
    let title = match summaries {
        [single] => facts::headline(single),
        many => of_common(many, &format!("{} series side by side", many.len())),
    };
    page(&title, summaries, &body(summaries, findings, ""))
}

/// Renders two series and what their comparison proves as one HTML page.
pub fn html_comparison(a: &Summary, b: &Summary, comparisons: &[Comparison]) -> String {
    let both = [a.clone(), b.clone()];
    let names = naming::series(&both);
    let title = of_common(&both, &format!("{} against {}", names[0], names[1]));
    let verdicts = compare::html(comparisons, (&names[0], &names[1]));
    page(&title, &both, &body(&both, &[], &verdicts))
}

fn page(title: &str, summaries: &[Summary], body: &str) -> String {
    frame(title, &origins(summaries), body)
}

/// A whole page of figures, with the words on how to read them at its end; `under` stands under the title.
pub(crate) fn frame(title: &str, under: &str, body: &str) -> String {
    shell(title, under, &format!("{body}{}", parts::method()))
}

/// The page around its content, all of it HTML but the title.
pub(crate) fn shell(title: &str, under: &str, body: &str) -> String {
    let title = markup(title);
    format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n\
         <title>{title}</title>\n<style>{}{}</style>\n</head>\n<body>\n<main>\n\
         <header><h1>{title}</h1>\n{under}</header>\n{body}</main>\n</body>\n</html>\n",
        style::CSS,
        svg::CSS,
    )
}

/// `SanDisk MAX Endurance: ext4 against vfat`, where all are about one thing.
fn of_common(summaries: &[Summary], title: &str) -> String {
    naming::common(summaries).map_or_else(|| title.to_owned(), |thing| format!("{thing}: {title}"))
}

/// Who measured what, when, in a line a series.
fn origins(summaries: &[Summary]) -> String {
    let names = naming::series(summaries);
    let lines = summaries.iter().zip(&names).map(|(summary, name)| {
        let line = [
            facts::runs(summary),
            summary.origin.clone(),
            time::utc(summary.started_unix_ms),
        ]
        .join(" · ");
        let lead = if summaries.len() > 1 {
            format!("<b>{}</b> · ", markup(name))
        } else {
            String::new()
        };
        format!("<p class=\"quiet\">{lead}{}</p>\n", markup(&line))
    });
    lines.collect()
}

fn body(summaries: &[Summary], findings: &[RunFindings], verdicts: &str) -> String {
    let names = naming::series(summaries);
    let mut out = match summaries {
        [] => "<p>There is nothing to report: no series was given.</p>\n".to_owned(),
        [single] => parts::tiles(single),
        many => parts::side_by_side(many, &names),
    };
    out.push_str(verdicts);
    out.push_str(&parts::sustained(summaries, &names));
    out.push_str(&conclusions::html(findings, &names));
    out.push_str(&parts::caveats(summaries, &names));
    let all = chart::charts(summaries);
    for &section in Section::ALL {
        let title = section.title();
        let figures: Vec<&Chart> = all
            .iter()
            .filter(|chart| chart.section == section)
            .collect();
        let note = shared_note(&figures);
        let figures: String = figures
            .iter()
            .map(|chart| figure(chart, note.is_empty()))
            .collect();
        out.push_str(&match (figures.is_empty(), section) {
            (true, _) => String::new(),
            // What stays level is worth a look, and not the way to everything below it.
            (false, Section::OverTime) => format!(
                "<h2>{title}</h2>\n<details><summary>Charts of the phases that were not tested for evenness</summary>\n\
                 {note}<div class=\"charts\">\n{figures}</div>\n</details>\n"
            ),
            (false, _) => format!("<h2>{title}</h2>\n{note}<div class=\"charts\">\n{figures}</div>\n"),
        });
    }
    for (summary, name) in summaries.iter().zip(&names) {
        out.push_str(&parts::results(summary, name));
    }
    for (summary, name) in summaries.iter().zip(&names) {
        out.push_str(&parts::circumstances(summary, name, summaries.len() == 1));
    }
    out
}

/// Charts beside each other, each with its data; what all notes say is said once.
pub(crate) fn charts(all: &[Chart]) -> String {
    let figures: Vec<&Chart> = all.iter().collect();
    let note = shared_note(&figures);
    let figures: String = figures
        .iter()
        .map(|chart| figure(chart, note.is_empty()))
        .collect();
    format!("{note}<div class=\"charts\">\n{figures}</div>\n")
}

/// The note of several charts, if they all have the same one: it is then said once, above them.
fn shared_note(figures: &[&Chart]) -> String {
    match figures {
        [first, _, ..] if figures.iter().all(|chart| chart.note == first.note) => {
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
