//! Lists of stored results.

use super::show_kept;
use crate::access::Viewer;
use crate::context::AppState;
use crate::frame::{Content, NavItem};
use crate::html::{Html, in_link};
use axum::Extension;
use axum::extract::{Query, State};
use axum::response::Response;
use hakaru_model::integrity::Verification;
use hakaru_report::{listed_result, time};
use hakaru_results::list::{ListQuery, StoredSeries, verifications};
use hakaru_store::{Filter, Store};
use serde::Deserialize;

/// Page of a series.
pub(crate) const RUN: &str = "/run/";

/// Results on a page.
const ON_PAGE: u32 = 50;

#[derive(Debug, Deserialize)]
pub(crate) struct ResultsQuery {
    /// Part of the name of the target.
    #[serde(default)]
    target: String,
    /// Number of the page, from 0.
    #[serde(default)]
    page: u32,
    /// `verifications` for verifications alone.
    #[serde(default)]
    kind: String,
}

pub(crate) async fn results(
    State(state): State<AppState>,
    Extension(viewer): Extension<Viewer>,
    Query(query): Query<ResultsQuery>,
) -> Response {
    let key = format!("results {query:?}");
    show_kept(&state, viewer, NavItem::Results, key, move |_, store| {
        let target = Some(query.target.trim().to_owned()).filter(|text| !text.is_empty());
        let wanted = ListQuery {
            target,
            limit: ON_PAGE,
            skip: query.page.saturating_mul(ON_PAGE),
        };
        let is_first = query.page == 0;
        let only_verifications = query.kind == "verifications";
        let title = match only_verifications {
            true => is_it_genuine(),
            false => NavItem::Results.name(),
        };
        let mut main = match only_verifications {
            true => how_to_verify(),
            false => search(&query),
        };
        let of_verifications = match is_first || only_verifications {
            true => verifications(store, &wanted)?.records,
            false => Vec::new(),
        };
        let all = match only_verifications {
            true => Vec::new(),
            false => StoredSeries::all(store, &wanted)?,
        };
        main.push(&series_table(store, &all, &title, RUN)?);
        if !only_verifications {
            main.push(&pages(&query, &wanted, store)?);
        }
        main.push(&verifications_table(&of_verifications));
        if only_verifications && of_verifications.is_empty() {
            let none = both!(
                "No card has been verified yet.",
                "検証したカードはまだない。"
            );
            put!(main, "<p>", (none), "</p>\n");
        } else if all.is_empty() && of_verifications.is_empty() {
            let said = hakaru_report::text::nothing_listed(store.is_empty()?);
            put!(main, "<p>", (said), "</p>\n");
        }
        Ok(Content::own(&title, &Html::new(), &main))
    })
    .await
}

/// The question that verifications answer.
pub(crate) fn is_it_genuine() -> String {
    both!("Is my card genuine?", "このカードは本物か")
}

/// How to find out whether a card is genuine.
fn how_to_verify() -> Html {
    let mut html = Html::new();
    let (how, devices) = (
        both!(
            "A card is genuine if it holds as much as it claims: insert it, choose \"Measure this\" beside it, then \
             \"Verify capacity and data integrity\". All data on it will be lost.",
            "カードの実容量が表示どおりなら本物。カードを挿入し、その横の「測定する」から「容量とデータの検証」を選ぶ。\
             カード上の全データが失われる。"
        ),
        both!("Devices here now", "接続中のデバイス"),
    );
    put!(
        html,
        "<p>",
        (how),
        "</p>\n<p class=\"act\"><a class=\"btn p\" href=\"/\">",
        (devices),
        "</a></p>\n"
    );
    html
}

fn search(query: &ResultsQuery) -> Html {
    let mut html = Html::new();
    let (name, go) = (
        both!("Label or name contains", "ラベルか名前に含まれる文字"),
        both!("Search", "検索"),
    );
    put!(
        html,
        "<form action=\"/results\" role=\"search\"><label>",
        (name)
    );
    put!(
        html,
        " <input name=\"target\" maxlength=\"100\" value=\"",
        (query.target)
    );
    put!(
        html,
        "\"></label> <button class=\"btn\">",
        (go),
        "</button></form>\n"
    );
    html
}

/// Links to the pages before and after.
fn pages(query: &ResultsQuery, wanted: &ListQuery, store: &Store) -> anyhow::Result<Html> {
    let count = store.count_series(&Filter {
        target: wanted.target.clone(),
        ..Filter::default()
    })?;
    let last = (count.saturating_sub(1) / u64::from(ON_PAGE)) as u32;
    let mut html = Html::new();
    if last == 0 {
        return Ok(html);
    }
    let name = both!("Pages", "ページ");
    put!(html, "<nav class=\"pages\" aria-label=\"", (name), "\">");
    let mut link = |page: u32, name: String| {
        let target = in_link(&query.target);
        put!(
            html,
            "<a class=\"btn\" href=\"/results?target=",
            (target),
            "&amp;page=",
            (page),
            "\">",
            (name),
            "</a>\n"
        );
    };
    if query.page > 0 {
        link(query.page - 1, both!("Newer", "新しい結果"));
    }
    if query.page < last {
        link(query.page + 1, both!("Older", "古い結果"));
    }
    let (page, pages) = (u64::from(query.page) + 1, u64::from(last) + 1);
    let position = both!("page {page} of {pages}", "{pages}ページ中{page}ページ");
    put!(html, "<span>", (position), "</span></nav>\n");
    Ok(html)
}

/// The beginning of a table of series, up to its first row.
fn series_head(name: &str) -> Html {
    let mut html = Html::new();
    put!(
        html,
        "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"",
        (name)
    );
    put!(html, "\"><table class=\"list\"><thead><tr>");
    let heads = [
        (both!("Name", "名前"), false),
        (both!("Result", "結果"), false),
        (both!("Layer", "レイヤ"), true),
        (both!("Runs", "測定回数"), true),
        (both!("Last run (UTC)", "最終測定（UTC）"), true),
    ];
    for (head, is_hidden) in &heads {
        html.raw(match is_hidden {
            true => "<th scope=\"col\" class=\"hide\">",
            false => "<th scope=\"col\">",
        });
        put!(html, (head), "</th>");
    }
    html.raw("</tr></thead><tbody>\n");
    html
}

/// A table of series; empty without series. `name` names its region, and `link` is the page of a series, before its ID.
pub(crate) fn series_table(
    store: &Store,
    all: &[StoredSeries],
    name: &str,
    link: &'static str,
) -> anyhow::Result<Html> {
    let mut html = Html::new();
    if all.is_empty() {
        return Ok(html);
    }
    html.push(&series_head(name));
    for series in all {
        let listed = series.listed(store)?;
        let shown = match listed.label.is_empty() {
            true => &listed.id,
            false => &listed.label,
        };
        put!(
            html,
            "<tr><th scope=\"row\"><a href=\"",
            (link),
            (series.first.id),
            "\">",
            (shown),
            "</a></th>"
        );
        put!(
            html,
            "<td class=\"wrap\">",
            (listed_result(&listed)),
            "</td>"
        );
        put!(html, "<td class=\"hide\">", (listed.layer), "</td>");
        put!(
            html,
            "<td class=\"hide\">",
            (listed.completed),
            "/",
            (listed.runs),
            "</td>"
        );
        put!(
            html,
            "<td class=\"hide\">",
            (minutes(listed.started_unix_ms)),
            "</td></tr>\n"
        );
    }
    html.raw("</tbody></table></div>\n");
    Ok(html)
}

/// A table of verifications, with links; empty without any.
pub(crate) fn verifications_table(all: &[Verification]) -> Html {
    let mut html = Html::new();
    if all.is_empty() {
        return html;
    }
    let title = both!("Verifications", "検証");
    put!(html, "<h2>", (title), "</h2>\n");
    html.raw("<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"");
    put!(html, (title), "\"><table class=\"list\"><thead><tr>");
    let heads = [
        both!("Name", "名前"),
        both!("Result", "結果"),
        both!("Start (UTC)", "開始（UTC）"),
    ];
    for (at, head) in heads.iter().enumerate() {
        html.raw(match at {
            2 => "<th scope=\"col\" class=\"hide\">",
            _ => "<th scope=\"col\">",
        });
        put!(html, (head), "</th>");
    }
    html.raw("</tr></thead><tbody>\n");
    for of in all {
        let (class, sign) = match (of.verdict.has_defects(), of.completed) {
            (true, _) => ("no", "✗"),
            (false, true) => ("ok", "✓"),
            (false, false) => ("open", "?"),
        };
        let target = hakaru_report::verified_target(of);
        put!(
            html,
            "<tr><th scope=\"row\"><a href=\"/verification/",
            (of.id),
            "\">",
            (target),
            "</a></th>"
        );
        html.raw("<td class=\"wrap\"><span aria-hidden=\"true\" class=\"mark ")
            .raw(class);
        put!(
            html,
            "\">",
            (sign),
            "</span> ",
            (hakaru_report::verified_sentence(of)),
            "</td>"
        );
        put!(
            html,
            "<td class=\"hide\">",
            (minutes(of.started_unix_ms)),
            "</td></tr>\n"
        );
    }
    html.raw("</tbody></table></div>\n");
    html
}

/// Formats a time to the minute: `2026-11-05 14:02`.
pub(crate) fn minutes(unix_ms: i64) -> String {
    let text = time::utc(unix_ms);
    text.chars().take(16).collect()
}
