//! The points of a running campaign as a table: cards and layers by workloads.

use super::view::part;
use crate::html::Html;
use hakaru_report::workload_words;
use hakaru_store::live::{LiveCampaign, LiveCell, LiveCellState};
use std::collections::BTreeMap;

/// Returns the table of the points, with their states.
pub(super) fn points(campaign: &LiveCampaign) -> Html {
    let states = campaign.cells.iter().map(|cell| (cell.state, cell.done));
    let key = format!("{:?}", states.collect::<Vec<_>>());
    part("points", &hash(&key), &table(campaign))
}

/// A short text that differs if a long one does.
fn hash(text: &str) -> String {
    format!("{:016x}", hakaru_model::hash::fnv1a(text.as_bytes()))
}

fn name(names: &[String], index: u32) -> &str {
    names.get(index as usize).map_or("", String::as_str)
}

fn table(campaign: &LiveCampaign) -> Html {
    let mut rows: BTreeMap<(u32, u32), BTreeMap<u32, &LiveCell>> = BTreeMap::new();
    let mut workloads = Vec::new();
    for cell in &campaign.cells {
        let row = rows.entry((cell.card, cell.layer)).or_default();
        row.insert(cell.workload, cell);
        if !workloads.contains(&cell.workload) {
            workloads.push(cell.workload);
        }
    }
    workloads.sort_unstable();
    let caption = both!(
        "Points: runs done of all runs",
        "測定点: 完了した回数 / 全回数"
    );
    let (card, layer) = (both!("Card", "カード"), both!("Layer", "レイヤ"));
    let label = format!("{}: {caption}", campaign.name);
    let mut html = Html::new();
    // A group: several campaigns on a page, or one that ended and runs again, would be landmarks with one name.
    put!(
        html,
        "<div class=\"cells\" tabindex=\"0\" role=\"group\" aria-label=\"",
        (label),
        "\"><table><caption>"
    );
    put!(
        html,
        (caption),
        "</caption><thead><tr><th scope=\"col\">",
        (card),
        "</th><th scope=\"col\">",
        (layer),
        "</th>"
    );
    for workload in &workloads {
        let words = workload_words(name(&campaign.workloads, *workload));
        put!(html, "<th scope=\"col\">", (words), "</th>");
    }
    html.raw("</tr></thead><tbody>\n");
    for ((card, layer), cells) in rows {
        let (card, layer) = (name(&campaign.cards, card), name(&campaign.layers, layer));
        put!(
            html,
            "<tr><th scope=\"row\">",
            (card),
            "</th><td>",
            (layer),
            "</td>"
        );
        for workload in &workloads {
            match cells.get(workload) {
                Some(cell) => html.push(&point(cell)),
                None => html.raw("<td>–</td>"),
            };
        }
        html.raw("</tr>\n");
    }
    html.raw("</tbody></table></div>");
    html
}

fn point(cell: &LiveCell) -> Html {
    let (mark, state) = match cell.state {
        LiveCellState::Waiting => ("○", both!("waiting", "待機中")),
        LiveCellState::Running => ("▶", both!("running", "測定中")),
        LiveCellState::Done => ("✓", both!("done", "完了")),
        LiveCellState::Failed => ("✗", both!("failed", "失敗")),
        LiveCellState::Skipped => ("–", both!("skipped", "スキップ")),
    };
    let mut html = Html::new();
    html.raw("<td><span aria-hidden=\"true\">").raw(mark);
    put!(
        html,
        "</span> ",
        (cell.done),
        "/",
        (cell.of),
        " <small>",
        (state),
        "</small>"
    );
    if let Some(because) = &cell.because {
        put!(html, "<br><small>", (because), "</small>");
    }
    html.raw("</td>");
    html
}
