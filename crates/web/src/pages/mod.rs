//! The pages.

mod addresses;
mod api;
mod campaigns;
mod compare;
mod devices;
mod enter;
mod home;
mod metrics;
mod path;
mod references;
mod results;
mod run;
mod settings;

pub(crate) use results::ANATOMY;

use crate::access::{Theme, Viewer};
use crate::context::{AppState, WebState, blocking};
use crate::frame::{self, Content, NavItem, Page};
use axum::extract::{OriginalUri, Query, State};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use axum::{Extension, Router};
use hakaru_store::Store;
use serde::Deserialize;
use std::sync::Arc;

/// Routes of all pages.
pub(crate) fn routes() -> Router<AppState> {
    Router::new()
        .route("/", get(home::home))
        .route("/results", get(results::results))
        .route("/run/{name}", get(run::run))
        .route("/verification/{id}", get(run::verification))
        .route("/anatomy/{id}", get(run::anatomy))
        .route("/device/{name}", get(devices::device))
        .route("/card/{name}", get(devices::card))
        .route("/campaigns", get(campaigns::campaigns))
        .route("/campaign/{name}", get(campaigns::campaign))
        .route("/compare", get(compare::compare))
        .route("/path", get(path::traced))
        .route("/path/{name}", get(path::path))
        .route("/path/{name}/addresses", get(addresses::addresses))
        .route("/references", get(references::references))
        .route("/settings", get(settings::settings).post(settings::change))
        .route(crate::access::ENTER, get(enter::enter).post(enter::sign_in))
        .route("/style.css", get(style))
        .route("/metrics", get(metrics::metrics))
        .merge(api::routes())
        .fallback(absent)
}

/// Theme of the style rules.
#[derive(Deserialize)]
struct StyleQuery {
    #[serde(default)]
    theme: String,
}

async fn style(Query(query): Query<StyleQuery>) -> Response {
    let theme = Theme::of_name(&query.theme).unwrap_or_default();
    let headers = [
        (header::CONTENT_TYPE, "text/css; charset=utf-8"),
        // The rules change with the program, whose version is not in the address.
        (header::CACHE_CONTROL, "private, max-age=60"),
    ];
    (headers, frame::stylesheet(theme)).into_response()
}

async fn absent(
    State(state): State<AppState>,
    Extension(viewer): Extension<Viewer>,
    OriginalUri(uri): OriginalUri,
) -> Response {
    let message = hakaru_report::with_language(viewer.language, || {
        both!("there is no such page", "このページはありません")
    });
    frame::refusal(&state, &viewer, uri.path(), StatusCode::NOT_FOUND, &message)
}

/// Builds a page on a worker thread and sends it.
async fn show(
    state: &AppState,
    viewer: Viewer,
    build: impl FnOnce(&Arc<WebState>, &Store) -> anyhow::Result<Page> + Send + 'static,
) -> Response {
    let of = Arc::clone(state);
    let rendered = blocking(state, &viewer, move |store| {
        let page = build(&of, store)?;
        Ok((page.status, frame::render(&of, &viewer, &page)))
    });
    match rendered.await {
        Ok((status, page)) => frame::response(status, page),
        Err(error) => frame::failure(state, &viewer, "", &error),
    }
}

/// Like [`show`], for content that depends on the stored results alone and is costly: it is kept until they change.
/// `key` is the path and the query that the content depends on.
async fn show_kept(
    state: &AppState,
    viewer: Viewer,
    at: NavItem,
    key: String,
    build: impl FnOnce(&WebState, &Store) -> anyhow::Result<Content> + Send + 'static,
) -> Response {
    show(state, viewer, move |state, store| {
        Ok(Page::of(
            at,
            kept(state, &viewer, key, || build(state, store))?,
        ))
    })
    .await
}

/// Returns the content with this key, from the cache if it is there.
fn kept(
    state: &WebState,
    viewer: &Viewer,
    key: String,
    build: impl FnOnce() -> anyhow::Result<Content>,
) -> anyhow::Result<Arc<Content>> {
    let key = format!("{} {key}", viewer.language.tag());
    state.kept_or_built(key, || Ok(Arc::new(build()?)))
}
