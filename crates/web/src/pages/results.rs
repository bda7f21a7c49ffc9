//! Lists of stored results.

use super::show_kept;
use crate::access::Viewer;
use crate::context::AppState;
use crate::frame::{Content, NavItem};
use crate::html::{Html, in_link};
use axum::Extension;
use axum::extract::{Query, State};
use axum::response::Response;
use hakaru_model::anatomy_record::AnatomyRecord;
use hakaru_model::integrity::Verification;
use hakaru_report::{listed_result, time};
use hakaru_results::list::{ListQuery, StoredSeries, anatomies, verifications};
use hakaru_store::{Filter, Store};
use serde::Deserialize;

/// Page of a series.
pub(crate) const RUN: &str = "/run/";

/// Page of an anatomy.
pub(crate) const ANATOMY: &str = "/anatomy/";

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
    /// `verifications` for verifications alone, `anatomies` for anatomies alone.
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
        let kind = ResultKind::of(&query);
        let title = kind.title();
        let mut main = match kind {
            ResultKind::All => search(&query),
            ResultKind::Verifications => how_to_verify(),
            ResultKind::Anatomies => how_to_examine(),
        };
        // Verifications and anatomies are on the first page of all results.
        let lists =
            |other: ResultKind| kind == other || (kind == ResultKind::All && query.page == 0);
        let of_verifications = match lists(ResultKind::Verifications) {
            true => verifications(store, &wanted)?.records,
            false => Vec::new(),
        };
        let of_anatomies = match lists(ResultKind::Anatomies) {
            true => anatomies(store, &wanted)?.records,
            false => Vec::new(),
        };
        let all = match kind {
            ResultKind::All => StoredSeries::all(store, &wanted)?,
            ResultKind::Verifications | ResultKind::Anatomies => Vec::new(),
        };
        main.push(&series_table(store, &all, &title, RUN)?);
        if kind == ResultKind::All {
            main.push(&pages(&query, &wanted, store)?);
        }
        main.push(&verifications_table(&of_verifications));
        main.push(&anatomies_table(&of_anatomies));
        if all.is_empty() && of_verifications.is_empty() && of_anatomies.is_empty() {
            put!(main, "<p>", (kind.nothing(store)?), "</p>\n");
        }
        Ok(Content::own(&title, &Html::new(), &main))
    })
    .await
}

/// Kind of the listed results.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ResultKind {
    All,
    Verifications,
    Anatomies,
}

impl ResultKind {
    fn of(query: &ResultsQuery) -> ResultKind {
        match &*query.kind {
            "verifications" => ResultKind::Verifications,
            "anatomies" => ResultKind::Anatomies,
            _ => ResultKind::All,
        }
    }

    fn title(self) -> String {
        match self {
            ResultKind::All => NavItem::Results.name(),
            ResultKind::Verifications => is_it_genuine(),
            ResultKind::Anatomies => what_is_it_made_of(),
        }
    }

    /// Says that there is none.
    fn nothing(self, store: &Store) -> anyhow::Result<String> {
        Ok(match self {
            ResultKind::All => hakaru_report::text::nothing_listed(store.is_empty()?).to_owned(),
            ResultKind::Verifications => both!(
                "No card has been verified yet.",
                "検証したカードはまだない。"
            ),
            ResultKind::Anatomies => both!(
                "No card has been examined yet.",
                "構造を調べたカードはまだない。"
            ),
        })
    }
}

/// The question that anatomies answer.
pub(crate) fn what_is_it_made_of() -> String {
    both!("What is my card made of?", "このカードの内部構造は")
}

/// How to find out what a card is made of.
fn how_to_examine() -> Html {
    how_to_start(&both!(
        "An anatomy finds by timing what a card is made of, and how to format it: insert the card, and choose \
         \"Measure this\" beside it. All data on it will be lost, except with \"Read-only anatomy\", which finds less.",
        "構造調査では、応答時間からカードの内部構造と適したフォーマット方法がわかる。カードを挿入し、その横の\
         「測定する」を選ぶ。カード上の全データが失われる。「読み込みのみの構造調査」では何も失われないが、わかる項目は少ない。"
    ))
}

/// The question that verifications answer.
pub(crate) fn is_it_genuine() -> String {
    both!("Is my card genuine?", "このカードは本物か")
}

/// How to find out whether a card is genuine.
fn how_to_verify() -> Html {
    how_to_start(&both!(
        "A card is genuine if it holds as much as it claims: insert it, choose \"Measure this\" beside it, then \
         \"Verify capacity and data integrity\". All data on it will be lost.",
        "カードの実容量が表示どおりなら本物。カードを挿入し、その横の「測定する」から「容量とデータの検証」を選ぶ。\
         カード上の全データが失われる。"
    ))
}

/// Renders how a measurement is started, with a link to the devices.
fn how_to_start(how: &str) -> Html {
    let mut html = Html::new();
    let devices = both!("Devices here now", "接続中のデバイス");
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

/// A line in a table of verifications or anatomies.
struct ResultRow<'a> {
    id: &'a str,
    name: String,
    result: Html,
    started_unix_ms: i64,
}

/// A table of results that are no series; empty without any. `link` is the page of a result, before its ID.
fn rows_table<'a>(
    title: &str,
    link: &'static str,
    rows: impl ExactSizeIterator<Item = ResultRow<'a>>,
) -> Html {
    let mut html = Html::new();
    if rows.len() == 0 {
        return html;
    }
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
    for row in rows {
        html.raw("<tr><th scope=\"row\"><a href=\"").raw(link);
        put!(
            html,
            (row.id),
            "\">",
            (row.name),
            "</a></th><td class=\"wrap\">"
        );
        html.push(&row.result).raw("</td>");
        let started = minutes(row.started_unix_ms);
        put!(html, "<td class=\"hide\">", (started), "</td></tr>\n");
    }
    html.raw("</tbody></table></div>\n");
    html
}

/// A table of verifications, with links; empty without any.
pub(crate) fn verifications_table(all: &[Verification]) -> Html {
    let result = |of: &Verification| {
        let (class, sign) = match (of.verdict.has_defects(), of.completed) {
            (true, _) => ("no", "✗"),
            (false, true) => ("ok", "✓"),
            (false, false) => ("open", "?"),
        };
        let mut result = Html::new();
        result
            .raw("<span aria-hidden=\"true\" class=\"mark ")
            .raw(class);
        let sentence = hakaru_report::verified_sentence(of);
        put!(result, "\">", (sign), "</span> ", (sentence));
        result
    };
    let rows = all.iter().map(|of| ResultRow {
        id: &of.id,
        name: hakaru_report::verified_target(of),
        result: result(of),
        started_unix_ms: of.started_unix_ms,
    });
    rows_table(&both!("Verifications", "検証"), "/verification/", rows)
}

/// A table of anatomies, with links; empty without any.
pub(crate) fn anatomies_table(all: &[AnatomyRecord]) -> Html {
    let rows = all.iter().map(|of| {
        let mut result = Html::new();
        result.text(&hakaru_report::listed_finding(of));
        ResultRow {
            id: &of.id,
            name: of.target.display_name(),
            result,
            started_unix_ms: of.started_unix_ms,
        }
    });
    rows_table(
        &both!("Anatomies of cards", "カードの構造調査"),
        ANATOMY,
        rows,
    )
}

/// Formats a time to the minute: `2026-11-05 14:02`.
pub(crate) fn minutes(unix_ms: i64) -> String {
    let text = time::utc(unix_ms);
    text.chars().take(16).collect()
}
