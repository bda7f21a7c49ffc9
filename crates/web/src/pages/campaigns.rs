//! Campaigns: their list, and the results of one.

use super::{kept, show};
use crate::access::Viewer;
use crate::context::AppState;
use crate::frame::{Content, NavItem, Page};
use crate::html::{Html, in_link};
use crate::live::{NEW_CAMPAIGN, Place};
use anyhow::anyhow;
use axum::Extension;
use axum::extract::{Path, State};
use axum::response::Response;
use hakaru_campaign::campaign::gather::gather;
use hakaru_campaign::campaign::spec::Campaign;
use hakaru_campaign::campaign::status;
use hakaru_results::campaign::documents::journal;
use hakaru_results::campaign::{find_stored, parse};
use hakaru_results::{CountedNoun, counted};
use hakaru_store::Store;

pub(crate) async fn campaigns(
    State(state): State<AppState>,
    Extension(viewer): Extension<Viewer>,
) -> Response {
    show(&state, viewer, |_, store| {
        let mut main = Html::new();
        let title = NavItem::Campaigns.name();
        let all = store.campaigns()?;
        if all.is_empty() {
            let none = both!(
                "No campaigns are stored yet.",
                "キャンペーンはまだ保存されていない。"
            );
            put!(main, "<p>", (none), "</p>\n");
        } else {
            main.raw("<ul class=\"devs\">\n");
            for (id, runs) in &all {
                let runs = counted(*runs as usize, CountedNoun::Run);
                put!(
                    main,
                    "<li><b><a href=\"/campaign/",
                    (in_link(id)),
                    "\">",
                    (id),
                    "</a></b><span>",
                    (runs),
                    "</span></li>\n"
                );
            }
            main.raw("</ul>\n");
        }
        put!(main, "<p class=\"act\"><a class=\"btn p\" href=\"");
        main.raw(NEW_CAMPAIGN);
        put!(
            main,
            "\">",
            (both!("New campaign", "新しいキャンペーン")),
            "</a></p>\n"
        );
        Ok(Page::new(
            NavItem::Campaigns,
            Content::own(&title, &Html::new(), &main),
        ))
    })
    .await
}

/// Returns a stored campaign.
///
/// # Errors
/// If it is not stored, or its stored file is invalid.
pub(crate) fn stored(name: &str, store: &Store) -> anyhow::Result<Campaign> {
    let parsed = parse(find_stored(name, store)?);
    Ok(parsed
        .map_err(|invalid| anyhow!(invalid.error.message.clone()))?
        .campaign)
}

pub(crate) async fn campaign(
    State(state): State<AppState>,
    Extension(viewer): Extension<Viewer>,
    Path(name): Path<String>,
) -> Response {
    let key = format!("campaign {name}");
    show(&state, viewer, move |state, store| {
        let content = kept(state, &viewer, key, || {
            let campaign = stored(&name, store)?;
            let progress = progress(&campaign, store)?;
            let summary = gather(&campaign, store, Vec::new())?;
            if summary.cards.is_empty() {
                return Ok(Content::own(&campaign.name, &Html::new(), &progress));
            }
            let page = hakaru_report::campaign_html(&summary);
            Ok(Content::report(&page, &Html::new(), &progress))
        })?;
        let mut page = Page::of(NavItem::Campaigns, content);
        let place = match open_runs(&name, store)? {
            0 => Place::CompleteCampaign(name),
            _ => Place::Campaign(name),
        };
        page.follow(state, &viewer, &place);
        Ok(page)
    })
    .await
}

/// Number of runs of a stored campaign that are not stored.
fn open_runs(name: &str, store: &Store) -> anyhow::Result<u64> {
    let campaign = stored(name, store)?;
    let mut journal = journal(&campaign, store)?;
    let layers = status::progress(&campaign, &mut journal, store)?;
    Ok(layers.iter().map(|of| of.open).sum())
}

/// A table of stored and open runs by card and layer.
fn progress(campaign: &Campaign, store: &Store) -> anyhow::Result<Html> {
    let mut journal = journal(campaign, store)?;
    let layers = status::progress(campaign, &mut journal, store)?;
    let mut html = Html::new();
    let title = both!("Progress", "進み具合");
    put!(
        html,
        "<h2>",
        (title),
        "</h2>\n<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"",
        (title),
        "\">"
    );
    html.raw("<table class=\"list\"><thead><tr>");
    for head in [
        both!("Card", "カード"),
        both!("Layer", "レイヤ"),
        both!("Stored", "保存済み"),
        both!("Open", "残り"),
    ] {
        put!(html, "<th scope=\"col\">", (head), "</th>");
    }
    html.raw("</tr></thead><tbody>\n");
    for of in &layers {
        put!(
            html,
            "<tr><th scope=\"row\">",
            (of.card),
            "</th><td>",
            (of.layer),
            "</td><td>",
            (of.stored),
            "</td><td>",
            (of.open),
            "</td></tr>\n"
        );
    }
    put!(
        html,
        "</tbody></table></div>\n<p class=\"act\"><a class=\"btn\" href=\"/api/v1/campaigns/",
        (in_link(&campaign.id)),
        "\">JSON</a></p>\n"
    );
    Ok(html)
}
