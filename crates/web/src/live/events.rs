//! Events of what runs now, as server-sent events.
//!
//! The ID of an event names the last sample of each process, so that a client that reconnects receives what followed,
//! even from a server that was started again.

use super::hub::LiveHub;
use super::{Place, view};
use crate::access::Viewer;
use crate::context::AppState;
use axum::Extension;
use axum::body::{Body, Bytes, HttpBody};
use axum::extract::{Query, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use hakaru_report::with_language;
use hakaru_store::live::LiveState;
use hyper::body::Frame;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::convert::Infallible;
use std::fmt::Write;
use std::path::PathBuf;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::sync::{Semaphore, mpsc};

/// Maximum number of clients that follow events.
const MOST_CLIENTS: usize = 400;
static CLIENTS: Semaphore = Semaphore::const_new(MOST_CLIENTS);

/// Interval of a comment that keeps proxies from closing the connection.
const KEEP_ALIVE: Duration = Duration::from_secs(15);
/// Longest time that a client may take to receive an event.
const LONGEST_WAIT: Duration = Duration::from_secs(30);
/// Maximum length of an event ID, in bytes.
const LONGEST_ID: usize = 4096;

/// Query of the events of a page.
#[derive(Deserialize)]
pub(crate) struct EventsQuery {
    #[serde(default)]
    at: String,
}

/// The processes that run.
#[derive(Serialize)]
struct RunningJson<'a> {
    /// Version of the form.
    format: u32,
    running: &'a [LiveState],
}

/// Lists what runs, as JSON.
pub(crate) async fn list(State(state): State<AppState>) -> Response {
    let snapshot = state.live.snapshot();
    let running = &snapshot.states;
    axum::Json(RunningJson { format: 1, running }).into_response()
}

/// Events for a page: markup of what runs, and samples.
pub(crate) async fn pages(
    State(state): State<AppState>,
    Extension(viewer): Extension<Viewer>,
    Query(query): Query<EventsQuery>,
    headers: HeaderMap,
) -> Response {
    let source = Source::Pages(Place::of_key(&query.at), viewer);
    stream(state, source, &headers)
}

/// Events for programs: states and samples as JSON.
pub(crate) async fn programs(State(state): State<AppState>, headers: HeaderMap) -> Response {
    stream(state, Source::Programs, &headers)
}

/// For whom events are.
enum Source {
    Pages(Place, Viewer),
    Programs,
}

fn stream(state: AppState, source: Source, headers: &HeaderMap) -> Response {
    let Ok(permit) = CLIENTS.try_acquire() else {
        let retry = [(header::RETRY_AFTER, "10")];
        return (StatusCode::SERVICE_UNAVAILABLE, retry).into_response();
    };
    let last = headers.get("last-event-id");
    let last = last.and_then(|id| id.to_str().ok()).unwrap_or_default();
    let mut follower = Follower {
        seen: seen(last),
        source,
        version: None,
        disks: None,
        states: BTreeMap::new(),
    };
    // A client that does not read holds one event at most.
    let (sender, receiver) = mpsc::channel(1);
    tokio::spawn(async move {
        let mut changes = state.live.changes();
        loop {
            changes.borrow_and_update();
            let text = follower.next(&state, &state.live);
            if !text.is_empty() && !send(&sender, text).await {
                break;
            }
            tokio::select! {
                changed = changes.changed() => if changed.is_err() { break },
                () = tokio::time::sleep(KEEP_ALIVE) => {
                    if !send(&sender, ":\n\n".to_owned()).await {
                        break;
                    }
                }
                () = sender.closed() => break,
            }
        }
        drop(permit);
    });
    let headers = [
        (header::CONTENT_TYPE, "text/event-stream"),
        (header::CACHE_CONTROL, "no-store"),
    ];
    (headers, Body::new(EventBody(receiver))).into_response()
}

/// Sends a part; returns whether the client still reads.
async fn send(sender: &mpsc::Sender<Bytes>, text: String) -> bool {
    let sent = tokio::time::timeout(LONGEST_WAIT, sender.send(text.into())).await;
    matches!(sent, Ok(Ok(())))
}

/// The body of a response: the parts that arrive.
struct EventBody(mpsc::Receiver<Bytes>);

impl HttpBody for EventBody {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        let part = self.0.poll_recv(context);
        part.map(|part| part.map(|part| Ok(Frame::data(part))))
    }
}

/// Returns the last sample of each process from an event ID.
fn seen(id: &str) -> BTreeMap<String, u64> {
    let parts = id.get(..LONGEST_ID).unwrap_or(id).split(',');
    let parts = parts.filter_map(|part| {
        let (owner, seq) = part.split_once('=')?;
        Some((owner.to_owned(), seq.parse().ok()?))
    });
    parts.collect()
}

/// What one client has received.
struct Follower {
    source: Source,
    /// Last sample of each process.
    seen: BTreeMap<String, u64>,
    version: Option<u64>,
    disks: Option<Vec<PathBuf>>,
    /// Revision of each state.
    states: BTreeMap<String, (u64, bool)>,
}

impl Follower {
    /// Returns the events since the last call.
    fn next(&mut self, state: &AppState, hub: &LiveHub) -> String {
        let snapshot = hub.snapshot();
        if self.version == Some(snapshot.version) {
            return String::new();
        }
        let mut out = match self.version {
            // The browser reconnects after a second.
            None => "retry: 1000\n\n".to_owned(),
            Some(_) => String::new(),
        };
        self.version = Some(snapshot.version);
        let states = snapshot.states.iter();
        let states: Vec<&LiveState> = match &self.source {
            Source::Pages(place, _) => states.filter(|state| place.shows(state)).collect(),
            Source::Programs => states.collect(),
        };
        match &self.source {
            Source::Pages(place, viewer) => {
                let may_act = state.may_act(&viewer.client);
                let key = format!("{} {may_act} {}", viewer.language.tag(), place.key());
                let render = || {
                    let html = || view::section(&snapshot, place, may_act).into_string();
                    let html = with_language(viewer.language, html);
                    event("state", &serde_json::json!({ "html": html }).to_string())
                };
                out += &hub.rendered(snapshot.version, key, render);
            }
            Source::Programs => out += &self.changed(&states),
        }
        if self
            .disks
            .as_ref()
            .is_some_and(|disks| *disks != snapshot.disks)
        {
            let disks = serde_json::json!({ "disks": snapshot.disks });
            out += &event("disks", &disks.to_string());
        }
        self.disks = Some(snapshot.disks.clone());
        for of in &states {
            out += &self.samples(hub, &of.id);
        }
        self.seen
            .retain(|id, _| states.iter().any(|state| state.id == *id));
        out
    }

    /// Returns the states that have changed, for programs.
    fn changed(&mut self, states: &[&LiveState]) -> String {
        let mut out = String::new();
        for state in states {
            let now = (state.revision, state.end.is_some());
            if self.states.insert(state.id.clone(), now) != Some(now)
                && let Ok(text) = serde_json::to_string(state)
            {
                out += &event("state", &text);
            }
        }
        self.states
            .retain(|id, _| states.iter().any(|state| state.id == *id));
        out
    }

    /// Returns the samples of a process that the client has not received.
    fn samples(&mut self, hub: &LiveHub, id: &str) -> String {
        let after = self.seen.get(id).copied().unwrap_or_default();
        let new = hub.samples(id, after);
        let Some((last, _)) = new.last() else {
            return String::new();
        };
        self.seen.insert(id.to_owned(), *last);
        let seen = self.seen.iter().map(|(id, seq)| format!("{id}={seq}"));
        let seen: Vec<String> = seen.collect();
        let texts: Vec<&str> = new.iter().map(|(_, text)| &text[..]).collect();
        let mut out = format!("id: {}\n", seen.join(","));
        let _ = write!(
            out,
            "event: samples\ndata: {{\"id\":\"{id}\",\"samples\":[{}]}}\n\n",
            texts.join(",")
        );
        out
    }
}

/// Formats an event; JSON has no line breaks.
fn event(name: &str, json: &str) -> String {
    format!("event: {name}\ndata: {json}\n\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn event_ids_name_the_last_sample_of_each_process() {
        let found = seen("12-34=5,56-78=90");
        let found: Vec<(&str, u64)> = found.iter().map(|(id, seq)| (&id[..], *seq)).collect();
        assert_eq!(found, [("12-34", 5), ("56-78", 90)]);
        assert!(seen("").is_empty() && seen("x,=,1=y").is_empty());
        assert!(seen(&"1-1=1,".repeat(10_000)).len() == 1);
    }
}
