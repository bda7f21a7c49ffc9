//! Stored results as JSON: the documents that the commands print with `--json`, described in docs/FORMAT.md.

use super::campaigns::stored;
use super::compare::{sets, sides};
use super::run::{series, some};
use crate::access::Viewer;
use crate::context::{AppState, blocking};
use crate::frame;
use anyhow::bail;
use axum::extract::{Path, Query, RawQuery, State};
use axum::http::header;
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use axum::{Extension, Router};
use hakaru_campaign::campaign::gather::gather;
use hakaru_device::Roots;
use hakaru_results::campaign::documents::{CampaignReportJson, StatusJson, journal};
use hakaru_results::compare::{CompareJson, PairOfSets, compared, side_names};
use hakaru_results::explain::{ExplainJson, traced_runs};
use hakaru_results::history::newest_of_card;
use hakaru_results::list::{ListJson, ListQuery, StoredSeries, verifications};
use hakaru_results::report::ReportJson;
use hakaru_results::{devices, findings, json, lookup, references, summarize};
use hakaru_store::Store;
use serde::Deserialize;

/// Largest number of series in a list.
const MOST: u32 = 1000;

/// Routes of the documents.
pub(super) fn routes() -> Router<AppState> {
    Router::new()
        .route("/api/v1/series", get(list))
        .route("/api/v1/series/{name}/report", get(report))
        .route("/api/v1/runs/{id}", get(record))
        .route("/api/v1/verifications/{id}", get(verification))
        .route("/api/v1/path/{name}", get(path))
        .route("/api/v1/compare", get(compare))
        .route("/api/v1/campaigns", get(campaigns))
        .route("/api/v1/campaigns/{id}", get(campaign))
        .route("/api/v1/campaigns/{id}/report", get(campaign_report))
        .route("/api/v1/cards/{name}", get(card))
        .route("/api/v1/disks", get(disks))
        .route("/api/v1/references", get(known_references))
}

/// Builds a document on a worker thread and sends it.
async fn send(
    state: &AppState,
    viewer: Viewer,
    build: impl FnOnce(&Store) -> anyhow::Result<String> + Send + 'static,
) -> Response {
    match blocking(state, &viewer, build).await {
        Ok(text) => ([(header::CONTENT_TYPE, "application/json")], text).into_response(),
        Err(error) => frame::failure(state, &viewer, "/api/v1", &error),
    }
}

/// Query of the list of series.
#[derive(Deserialize)]
struct ListParameters {
    /// Number of series, 100 unless given.
    limit: Option<u32>,
}

async fn list(
    State(state): State<AppState>,
    Extension(viewer): Extension<Viewer>,
    Query(parameters): Query<ListParameters>,
) -> Response {
    send(&state, viewer, move |store| {
        let query = ListQuery {
            limit: parameters.limit.unwrap_or(100).min(MOST),
            ..ListQuery::default()
        };
        let series = StoredSeries::all(store, &query)?;
        let verifications = verifications(store, &query)?.records;
        json::text(json::LIST, &ListJson::of(store, &series, &verifications)?)
    })
    .await
}

async fn report(
    State(state): State<AppState>,
    Extension(viewer): Extension<Viewer>,
    Path(name): Path<String>,
) -> Response {
    send(&state, viewer, move |store| {
        let summary = summarize(store, &series(store, &name)?)?;
        let own = references::own(store).unwrap_or_default();
        let found = findings(&summary, &references::with_published(&own));
        let body = ReportJson::of(std::slice::from_ref(&summary), &[found]);
        json::text(json::REPORT, &body)
    })
    .await
}

async fn record(
    State(state): State<AppState>,
    Extension(viewer): Extension<Viewer>,
    Path(id): Path<String>,
) -> Response {
    send(&state, viewer, move |store| {
        let records = some(lookup::readable_runs(store, &id, false)?)?;
        match records.first() {
            Some(record) => lookup::record_json(store, record),
            None => bail!(both!("there is no run {id}", "測定{id}はありません")),
        }
    })
    .await
}

async fn verification(
    State(state): State<AppState>,
    Extension(viewer): Extension<Viewer>,
    Path(id): Path<String>,
) -> Response {
    send(&state, viewer, move |store| {
        let verification = store.verification(&id)?;
        json::text(
            json::VERIFICATION,
            &store.raw_verification(&verification.id)?,
        )
    })
    .await
}

async fn path(
    State(state): State<AppState>,
    Extension(viewer): Extension<Viewer>,
    Path(name): Path<String>,
) -> Response {
    send(&state, viewer, move |store| {
        let summary = summarize(store, &some(traced_runs(store, &name)?)?)?;
        json::text(json::EXPLAIN, &ExplainJson::of(&summary))
    })
    .await
}

async fn compare(
    State(state): State<AppState>,
    Extension(viewer): Extension<Viewer>,
    RawQuery(query): RawQuery,
) -> Response {
    send(&state, viewer, move |store| {
        let sets = sets(&query.unwrap_or_default())?;
        if sets.len() < 2 {
            bail!(both!(
                "a comparison needs two sets; help: add set=series=ID for each, such as ?set=card=a&set=card=b",
                "比較には2組の指定が必要です; help: ?set=card=a&set=card=bのように指定してください"
            ));
        }
        let sides = sides(store, &sets)?;
        let names = side_names(&sides, &sets);
        if let [a, b] = &sides[..] {
            let pair = PairOfSets::of([a, b], [&names[0], &names[1]])?;
            return json::text(json::COMPARE, &pair.json(&names));
        }
        let summary = compared(sides, &names)?;
        json::text(json::COMPARE, &CompareJson::of_sets(&summary, &names))
    })
    .await
}

async fn campaigns(
    State(state): State<AppState>,
    Extension(viewer): Extension<Viewer>,
) -> Response {
    send(&state, viewer, |store| {
        json::text(
            json::CAMPAIGN_STATUS,
            &StatusJson::of_all(store.campaigns()?),
        )
    })
    .await
}

async fn campaign(
    State(state): State<AppState>,
    Extension(viewer): Extension<Viewer>,
    Path(id): Path<String>,
) -> Response {
    send(&state, viewer, move |store| {
        let campaign = stored(&id, store)?;
        let body = StatusJson::of(&campaign, &mut journal(&campaign, store)?, store)?;
        json::text(json::CAMPAIGN_STATUS, &body)
    })
    .await
}

async fn campaign_report(
    State(state): State<AppState>,
    Extension(viewer): Extension<Viewer>,
    Path(id): Path<String>,
) -> Response {
    send(&state, viewer, move |store| {
        let summary = gather(&stored(&id, store)?, store, Vec::new())?;
        json::text(json::CAMPAIGN_REPORT, &CampaignReportJson::of(&summary))
    })
    .await
}

async fn card(
    State(state): State<AppState>,
    Extension(viewer): Extension<Viewer>,
    Path(name): Path<String>,
) -> Response {
    send(&state, viewer, move |store| {
        let found = newest_of_card(store, &name)?;
        let history = hakaru_analysis::history(&found.records, &found.verifications);
        json::text(json::HISTORY, &history)
    })
    .await
}

async fn disks(State(state): State<AppState>, Extension(viewer): Extension<Viewer>) -> Response {
    send(&state, viewer, |_| {
        let roots = Roots::live();
        let environment = hakaru_device::environment(&roots, "");
        let body = devices::json(&devices::present(&roots), &environment);
        json::text(json::INFO, &body)
    })
    .await
}

async fn known_references(
    State(state): State<AppState>,
    Extension(viewer): Extension<Viewer>,
) -> Response {
    send(&state, viewer, |store| {
        let own = references::own(store)?;
        json::text(json::REFERENCE, &references::with_published(&own))
    })
    .await
}
