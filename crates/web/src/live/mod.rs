//! What runs now: pages that follow it, and starting, stopping and answering from a page.
//!
//! One thread reads the live states of all processes for all clients ([`LiveHub`]). Clients receive events: markup of what
//! runs, whenever it changes, and samples of rates and latencies, from the last one that they have. Measurements are
//! child processes of this program; they go on when the server ends.

mod actions;
mod charts;
mod children;
mod events;
mod hub;
mod matrix;
mod new_campaign;
mod question;
mod start;
mod targets;
mod view;

pub(crate) use events::{list, programs};
pub(crate) use hub::LiveHub;

use crate::access::Viewer;
use crate::context::{AppState, WebState};
use crate::html::Html;
use axum::Router;
use axum::http::header;
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use hakaru_store::live::LiveState;

/// The script that follows the events.
const SCRIPT: &str = include_str!("live.js");

/// Path of the page that begins a new campaign.
pub(crate) const NEW_CAMPAIGN: &str = "/campaigns/new";

/// Which processes a page shows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// All.
    Home,
    /// Those that use a device, by its name such as `sda`.
    Device(String),
    /// That of a campaign, by its ID.
    Campaign(String),
    /// That of a campaign whose runs were all stored when the page was loaded, by its ID.
    CompleteCampaign(String),
}

impl Place {
    /// The place as the value of a query.
    fn key(&self) -> String {
        match self {
            Place::Home => "home".to_owned(),
            Place::Device(name) => format!("device:{name}"),
            Place::Campaign(id) => format!("campaign:{id}"),
            Place::CompleteCampaign(id) => format!("complete:{id}"),
        }
    }

    fn of_key(key: &str) -> Place {
        match key.split_once(':') {
            Some(("device", name)) => Place::Device(name.to_owned()),
            Some(("campaign", id)) => Place::Campaign(id.to_owned()),
            Some(("complete", id)) => Place::CompleteCampaign(id.to_owned()),
            _ => Place::Home,
        }
    }

    /// Whether the place shows a process.
    fn shows(&self, state: &LiveState) -> bool {
        match self {
            Place::Home => true,
            Place::Device(name) => {
                let node = state.device.as_deref().unwrap_or_default();
                let rest = node
                    .strip_prefix("/dev/")
                    .and_then(|node| node.strip_prefix(&name[..]));
                // A partition is the disk's name with a number, after a `p` if the name ends in a digit.
                rest.is_some_and(|rest| {
                    rest.trim_start_matches('p').parse::<u32>().is_ok() || rest.is_empty()
                })
            }
            Place::Campaign(id) | Place::CompleteCampaign(id) => {
                let campaign = state.campaign.as_ref();
                campaign.is_some_and(|campaign| campaign.id == *id)
            }
        }
    }
}

/// Routes of the live part.
pub(crate) fn routes() -> Router<AppState> {
    Router::new()
        .route("/live.js", get(script))
        .route("/live/events", get(events::pages))
        .route("/live/stop", post(actions::stop))
        .route("/live/answer", post(actions::answer))
        .route("/start", get(start::form).post(actions::start))
        .route(
            NEW_CAMPAIGN,
            get(new_campaign::form).post(new_campaign::create),
        )
}

async fn script() -> Response {
    let headers = [
        (header::CONTENT_TYPE, "text/javascript; charset=utf-8"),
        (header::CACHE_CONTROL, "private, max-age=60"),
    ];
    (headers, SCRIPT).into_response()
}

/// Returns what runs now at a place, in the language of the thread; the script of a page keeps it current.
pub(crate) fn fragment(state: &WebState, viewer: &Viewer, place: &Place) -> Html {
    view::section(&state.live.snapshot(), place, state.may_act(&viewer.client))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_come_back_from_their_keys() {
        for place in [
            Place::Home,
            Place::Device("sda".to_owned()),
            Place::Campaign("a:b".to_owned()),
            Place::CompleteCampaign("a:b".to_owned()),
        ] {
            assert_eq!(Place::of_key(&place.key()), place);
        }
        assert_eq!(Place::of_key("?"), Place::Home);
    }

    #[test]
    fn the_script_loads_nothing_from_elsewhere() {
        assert!(
            !SCRIPT.contains("http:") && !SCRIPT.contains("https:"),
            "no address"
        );
        assert!(!SCRIPT.contains("eval(") && !SCRIPT.contains("Function("));
    }
}
