//! The home page: devices that are here now, and the latest results.

use super::results::{
    RUN, anatomies_table, is_it_genuine, series_table, verifications_table, what_is_it_made_of,
};
use super::{devices, kept, show};
use crate::access::Viewer;
use crate::context::{AppState, WebState};
use crate::frame::{Content, NavItem, Page};
use crate::html::Html;
use crate::live::Place;
use axum::Extension;
use axum::extract::State;
use axum::response::Response;
use hakaru_results::list::{ListQuery, StoredSeries};
use hakaru_store::Store;

/// Number of the latest results.
const LATEST: u32 = 8;

pub(crate) async fn home(
    State(state): State<AppState>,
    Extension(viewer): Extension<Viewer>,
) -> Response {
    show(&state, viewer, move |state, store| {
        let key = "home".to_owned();
        let content = kept(state, &viewer, key, || latest_results(state, store))?;
        let mut page = Page::of(NavItem::Home, content);
        page.follow(state, &viewer, &Place::Home);
        // Disks come and go without a change of the stored results.
        let devices = both!("Devices here now", "接続中のデバイス");
        put!(page.now, "<h2>", (devices), "</h2>\n<div data-disks>\n");
        page.now.push(&devices::present(store)?).raw("</div>\n");
        Ok(page)
    })
    .await
}

/// The part that depends on the stored results alone.
fn latest_results(state: &WebState, store: &Store) -> anyhow::Result<Content> {
    let query = ListQuery {
        limit: LATEST,
        ..ListQuery::default()
    };
    let all = StoredSeries::all(store, &query)?;
    let verifications = store.verifications(LATEST)?.records;
    let anatomies = store.anatomies(LATEST)?.records;
    let mut main = Html::new();
    let latest = both!("Latest results", "最近の結果");
    put!(main, "<h2>", (latest), "</h2>\n");
    if all.is_empty() && verifications.is_empty() && anatomies.is_empty() {
        put!(
            main,
            "<p>",
            (hakaru_report::text::nothing_listed(true)),
            "</p>\n"
        );
    }
    main.push(&series_table(store, &all, &latest, RUN)?);
    main.push(&verifications_table(&verifications));
    main.push(&anatomies_table(&anatomies));
    main.push(&questions());
    let under = format!("{} · {}", state.host, state.options.database.display());
    let mut line = Html::new();
    put!(line, "<p>", (under), "</p>");
    let title = both!("Storage laboratory", "ストレージ測定室");
    Ok(Content::own(&title, &line, &main))
}

/// Links for what most people want to know.
fn questions() -> Html {
    let mut html = Html::new();
    let title = both!("Questions", "よくある疑問");
    put!(html, "<h2>", (title), "</h2>\n<p class=\"act\">");
    let links = [
        ("/results?kind=verifications", is_it_genuine()),
        ("/results?kind=anatomies", what_is_it_made_of()),
        (
            "/compare",
            both!("Which of two is better?", "どちらが優れているか"),
        ),
        (
            "/results",
            both!(
                "Is this card getting slower?",
                "このカードは遅くなっていないか"
            ),
        ),
        (
            "/path",
            both!("Where does the time go?", "時間はどこで使われるか"),
        ),
    ];
    for (link, name) in links {
        html.raw("<a class=\"btn\" href=\"").raw(link);
        put!(html, "\">", (name), "</a>\n");
    }
    html.raw("</p>\n");
    html
}
