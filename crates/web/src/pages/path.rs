//! Paths of the I/Os of traced runs.

use super::results::series_table;
use super::show_kept;
use crate::access::Viewer;
use crate::context::AppState;
use crate::frame::{Content, NavItem};
use crate::html::Html;
use axum::Extension;
use axum::extract::{Path, State};
use axum::response::Response;
use hakaru_results::explain::traced_runs;
use hakaru_results::list::{ListQuery, StoredSeries};
use hakaru_results::summarize;

/// Latest series that are searched for traced runs.
const SEARCHED: u32 = 100;

pub(crate) async fn traced(
    State(state): State<AppState>,
    Extension(viewer): Extension<Viewer>,
) -> Response {
    let key = "traced".to_owned();
    show_kept(&state, viewer, NavItem::Path, key, |_, store| {
        let query = ListQuery {
            limit: SEARCHED,
            ..ListQuery::default()
        };
        let mut all = StoredSeries::all(store, &query)?;
        all.retain(|series| series.rows().any(|row| row.traced));
        let title = NavItem::Path.name();
        let mut main = Html::new();
        match all.is_empty() {
            true => {
                let none = both!(
                    "None of the latest {SEARCHED} series was traced. `hakaru bench --trace` shows where bytes and time go between the application and the card.",
                    "最近の測定シリーズ{SEARCHED}件にトレースしたものはない。hakaru bench --traceで、アプリケーションからカードまでのバイト数と時間の行方を確認できる。"
                );
                put!(main, "<p>", (none), "</p>\n");
            }
            false => {
                main.push(&series_table(store, &all, &title, "/path/")?);
            }
        }
        Ok(Content::own(&title, &Html::new(), &main))
    })
    .await
}

pub(crate) async fn path(
    State(state): State<AppState>,
    Extension(viewer): Extension<Viewer>,
    Path(name): Path<String>,
) -> Response {
    let key = format!("path {name}");
    show_kept(&state, viewer, NavItem::Path, key, move |_, store| {
        let records = super::run::some(traced_runs(store, &name)?)?;
        let summary = summarize(store, &records)?;
        let page = hakaru_report::path_html(&summary);
        let mut last = Html::new();
        put!(
            last,
            "<p class=\"act\"><a class=\"btn\" href=\"/path/",
            (crate::html::in_link(&name)),
            "/addresses\">",
            (both!("Zoom into addresses and time", "アドレスと時間を拡大")),
            "</a> <a class=\"btn\" href=\"/api/v1/path/",
            (crate::html::in_link(&name)),
            "\">JSON</a></p>\n"
        );
        Ok(Content::report(&page, &Html::new(), &last))
    })
    .await
}
