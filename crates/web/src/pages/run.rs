//! Pages of a series of runs, of a verification, and of an anatomy.

use super::show_kept;
use crate::access::Viewer;
use crate::context::AppState;
use crate::frame::{Content, NavItem};
use crate::html::{Html, in_link};
use axum::Extension;
use axum::extract::{Path, State};
use axum::response::Response;
use hakaru_model::finding::Summary;
use hakaru_model::record::RunRecord;
use hakaru_results::{findings, lookup, references, summarize};
use hakaru_store::{Readable, Store};

/// Returns the readable runs of a series.
///
/// # Errors
/// If no run has the name, or none can be read.
pub(crate) fn series(store: &Store, name: &str) -> anyhow::Result<Vec<RunRecord>> {
    some(lookup::readable_runs(store, name, true)?)
}

/// Returns the readable records; an error if all are unreadable.
pub(crate) fn some(mut found: Readable<RunRecord>) -> anyhow::Result<Vec<RunRecord>> {
    if found.records.is_empty() && !found.unreadable.is_empty() {
        return Err(found.unreadable.remove(0).1.into());
    }
    Ok(found.records)
}

pub(crate) async fn run(
    State(state): State<AppState>,
    Extension(viewer): Extension<Viewer>,
    Path(name): Path<String>,
) -> Response {
    let key = format!("run {name}");
    show_kept(&state, viewer, NavItem::Results, key, move |_, store| {
        let records = series(store, &name)?;
        let summary = summarize(store, &records)?;
        let own = references::own(store).unwrap_or_default();
        let found = findings(&summary, &references::with_published(&own));
        let page = hakaru_report::html_with(std::slice::from_ref(&summary), &[found]);
        Ok(Content::report(&page, &Html::new(), &links(&summary)))
    })
    .await
}

/// Links from a series to what else is known about it.
fn links(summary: &Summary) -> Html {
    let mut html = Html::new();
    let id = &summary.series;
    let card = summary.target.display_name();
    html.raw("<p class=\"act\">");
    if !summary.paths.is_empty() {
        let name = both!("Path of an I/O", "I/Oの経路");
        put!(
            html,
            "<a class=\"btn\" href=\"/path/",
            (id),
            "\">",
            (name),
            "</a>\n"
        );
    }
    let (history, compare) = (
        both!("History of the card", "カードの履歴"),
        both!("Compare", "比較"),
    );
    put!(
        html,
        "<a class=\"btn\" href=\"/card/",
        (in_link(&card)),
        "\">",
        (history),
        "</a>\n"
    );
    put!(
        html,
        "<a class=\"btn\" href=\"/compare?set=",
        (in_link(&format!("series={id}"))),
        "\">",
        (compare),
        "</a>\n"
    );
    put!(
        html,
        "<a class=\"btn\" href=\"/api/v1/series/",
        (id),
        "/report\">JSON</a></p>\n"
    );
    html
}

pub(crate) async fn verification(
    State(state): State<AppState>,
    Extension(viewer): Extension<Viewer>,
    Path(id): Path<String>,
) -> Response {
    let key = format!("verification {id}");
    show_kept(&state, viewer, NavItem::Results, key, move |_, store| {
        let verification = store.verification(&id)?;
        let names = store.annotations(&verification.id)?;
        let page = hakaru_report::verification_html(&verification, &names);
        let mut last = Html::new();
        put!(
            last,
            "<p class=\"act\"><a class=\"btn\" href=\"/api/v1/verifications/",
            (verification.id),
            "\">JSON</a></p>\n"
        );
        Ok(Content::report(&page, &Html::new(), &last))
    })
    .await
}

pub(crate) async fn anatomy(
    State(state): State<AppState>,
    Extension(viewer): Extension<Viewer>,
    Path(id): Path<String>,
) -> Response {
    let key = format!("anatomy {id}");
    show_kept(&state, viewer, NavItem::Results, key, move |_, store| {
        let record = store.anatomy(&id)?;
        let names = store.annotations(&record.id)?;
        let advice = hakaru_campaign::anatomy::advise(&record.anatomy);
        let page = hakaru_report::anatomy_html(&record, &advice, &names);
        let mut last = Html::new();
        put!(
            last,
            "<p class=\"act\"><a class=\"btn\" href=\"/api/v1/anatomies/",
            (record.id),
            "\">JSON</a></p>\n"
        );
        Ok(Content::report(&page, &Html::new(), &last))
    })
    .await
}
