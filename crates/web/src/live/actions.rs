//! Stopping, answering and starting from a page. Each action is logged with who and when.

use super::children::{ChildEnd, ChildError};
use super::{start, targets};
use crate::access::{Client, Viewer};
use crate::context::{AppState, blocking};
use crate::frame;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Redirect, Response};
use axum::{Extension, Form};
use hakaru_report::with_language;
use hakaru_store::live::{LiveOwner, LiveRequest, LiveRequestError, LiveState, LiveVerb};
use serde::Deserialize;
use std::ffi::OsString;
use std::io::Write;
use std::time::{Duration, Instant};

/// How long an action waits for a measurement to begin.
const LONGEST_START: Duration = Duration::from_secs(20);
/// Interval of looks meanwhile.
const LOOK: Duration = Duration::from_millis(100);

/// Writes an action to standard error: when, who and what.
fn log_action(client: &Client, what: &str) {
    let at = hakaru_report::time::utc(hakaru_campaign::now_unix_ms());
    let what = hakaru_report::plain(what);
    // A log that cannot be written must not end the server.
    let _ = writeln!(std::io::stderr(), "{at} {} {what}", client.address.ip());
}

/// The form that stops a process.
#[derive(Deserialize)]
pub(crate) struct StopForm {
    id: String,
}

/// The form that answers a question.
#[derive(Deserialize)]
pub(crate) struct AnswerForm {
    id: String,
    prompt: u64,
    text: String,
}

/// Asks a process to stop and to keep its results.
pub(crate) async fn stop(
    State(state): State<AppState>,
    Extension(viewer): Extension<Viewer>,
    Form(form): Form<StopForm>,
) -> Response {
    log_action(&viewer.client, &format!("stop {}", form.id));
    send(&state, &viewer, &form.id, &LiveRequest::Stop)
}

/// Answers the question of a process, which checks the answer.
pub(crate) async fn answer(
    State(state): State<AppState>,
    Extension(viewer): Extension<Viewer>,
    Form(form): Form<AnswerForm>,
) -> Response {
    let AnswerForm { id, prompt, text } = form;
    log_action(
        &viewer.client,
        &format!("answer {id}, question {prompt}: {text}"),
    );
    send(&state, &viewer, &id, &LiveRequest::Answer { prompt, text })
}

fn send(state: &AppState, viewer: &Viewer, id: &str, request: &LiveRequest) -> Response {
    let Ok(owner) = id.parse::<LiveOwner>() else {
        let message = with_language(viewer.language, not_running);
        return frame::refusal(state, viewer, "", StatusCode::NOT_FOUND, &message);
    };
    match state.live.request(owner, request) {
        Ok(()) => Redirect::to(&back(state, id)).into_response(),
        Err(error) => {
            let (status, message) = with_language(viewer.language, || refused(&error));
            frame::refusal(state, viewer, "", status, &message)
        }
    }
}

fn not_running() -> String {
    both!(
        "this measurement is not running; help: open the home page to see what runs",
        "この測定は実行中ではありません; help: ホームで実行中の測定を確認してください"
    )
}

fn refused(error: &LiveRequestError) -> (StatusCode, String) {
    match error {
        LiveRequestError::NotRunning { .. } => (StatusCode::NOT_FOUND, not_running()),
        LiveRequestError::TooLong => (
            StatusCode::PAYLOAD_TOO_LARGE,
            both!(
                "the answer is too long; help: type the name or ID that the question asks for",
                "回答が長すぎます; help: 求められた名前かIDを入力してください"
            ),
        ),
        LiveRequestError::Pending { .. } => (
            StatusCode::SERVICE_UNAVAILABLE,
            both!(
                "the measurement does not respond to earlier requests; help: wait, then try again",
                "測定が以前の要求に応答していません; help: しばらく待って再試行してください"
            ),
        ),
        LiveRequestError::Io { source, .. } => {
            let why = hakaru_campaign::errors::message(source);
            let message = both!(
                "failed to send the request: {why}",
                "要求を送信できません（{why}）"
            );
            (StatusCode::INTERNAL_SERVER_ERROR, message)
        }
    }
}

/// Returns the page that shows a process.
fn back(state: &AppState, id: &str) -> String {
    let snapshot = state.live.snapshot();
    let process = snapshot.states.iter().find(|state| state.id == id);
    process.and_then(page_of).unwrap_or_else(|| "/".to_owned())
}

/// Returns the page of a campaign, by its ID.
pub(super) fn page_of_campaign(id: &str) -> String {
    format!("/campaign/{}", crate::html::in_link(id))
}

/// Returns the page that shows a process; `None` for a campaign that has not published its points yet.
fn page_of(process: &LiveState) -> Option<String> {
    match (&process.campaign, process.verb) {
        (Some(campaign), _) => Some(format!("/campaign/{}", crate::html::in_link(&campaign.id))),
        (None, LiveVerb::Campaign) => None,
        (None, _) => Some("/".to_owned()),
    }
}

/// The form that starts a measurement.
#[derive(Debug, Default, Deserialize)]
pub(crate) struct StartForm {
    /// `bench`, `verify`, `anatomy`, `prepare` or `campaign`.
    verb: String,
    /// Name of a disk, such as `sda`.
    #[serde(default)]
    device: String,
    /// Directory of a mounted file system of the disk.
    #[serde(default)]
    directory: String,
    /// ID of a stored campaign.
    #[serde(default)]
    campaign: String,
    /// The typed serial number, CID or by-id name.
    #[serde(default)]
    identity: String,
    /// `quick` or `standard`; of an anatomy, `quick` only reads.
    #[serde(default)]
    length: String,
    /// File system to create.
    #[serde(default)]
    fs: String,
}

/// Why a form starts nothing.
#[derive(Debug, PartialEq, Eq)]
enum FormError {
    /// The disk or directory is not there.
    NotThere,
    /// The typed identity is missing.
    NotConfirmed,
    /// A value is not one of those of the form.
    Invalid,
}

impl FormError {
    fn message(&self) -> String {
        match self {
            FormError::NotThere => both!(
                "this device or directory is not here now; help: insert it and reload the page",
                "デバイスまたはディレクトリがありません; help: 挿入してからページを再読み込みしてください"
            ),
            FormError::NotConfirmed => both!(
                "nothing was started: the ID of the device was not typed; help: type it to confirm that its data is lost",
                "開始していません（デバイスのIDが未入力）; help: データ消去の確認としてIDを入力してください"
            ),
            FormError::Invalid => both!(
                "the form is not one of this server; help: reload the page",
                "このサーバのフォームではありません; help: ページを再読み込みしてください"
            ),
        }
    }
}

/// Returns the arguments of the program for a form. The program itself checks the typed identity.
fn arguments(form: &StartForm, campaigns: &[String]) -> Result<Vec<OsString>, FormError> {
    if form.verb == "campaign" {
        let known = campaigns.iter().find(|known| **known == form.campaign);
        let known = known.ok_or(FormError::NotThere)?;
        return Ok(["campaign", "run", known, "--quiet"]
            .map(OsString::from)
            .to_vec());
    }
    let disk = targets::disk(&form.device).ok_or(FormError::NotThere)?;
    let erase = || match form.identity.trim() {
        "" => Err(FormError::NotConfirmed),
        typed => Ok(OsString::from(format!("--erase={typed}"))),
    };
    let mut args = vec![OsString::from(&form.verb)];
    match &form.verb[..] {
        "bench" => {
            let mounts = targets::mounts(&disk);
            let mounted = mounts
                .into_iter()
                .find(|at| at.as_os_str() == &form.directory[..]);
            match (&form.directory[..], mounted) {
                ("", _) => args.push(disk.into()),
                (_, Some(mounted)) => args.push(mounted.into()),
                (_, None) => return Err(FormError::NotThere),
            }
            args.push(match &form.length[..] {
                "" | "quick" => "--quick".into(),
                "standard" => "--standard".into(),
                _ => return Err(FormError::Invalid),
            });
        }
        "verify" => {
            args.extend([disk.into(), erase()?]);
            match &form.length[..] {
                "quick" => args.push("--quick".into()),
                "" | "standard" => {}
                _ => return Err(FormError::Invalid),
            }
        }
        "anatomy" => {
            args.push(match &form.length[..] {
                "quick" => "--read-only".into(),
                "" | "standard" => erase()?,
                _ => return Err(FormError::Invalid),
            });
            args.push(disk.into());
        }
        "prepare" => {
            args.extend([disk.into(), erase()?]);
            let fs = start::FILE_SYSTEMS.iter().find(|fs| **fs == form.fs);
            let fs = fs.ok_or(FormError::Invalid)?;
            args.extend(["--partition".into(), OsString::from(format!("--mkfs={fs}"))]);
        }
        _ => return Err(FormError::Invalid),
    }
    args.push("--quiet".into());
    Ok(args)
}

/// Starts a measurement as a process of its own, and shows it, or why it refused.
pub(crate) async fn start(
    State(state): State<AppState>,
    Extension(viewer): Extension<Viewer>,
    Form(form): Form<StartForm>,
) -> Response {
    let campaigns = blocking(&state, &viewer, |store| Ok(store.campaigns()?));
    let campaigns = match campaigns.await {
        Ok(campaigns) => campaigns.into_iter().map(|(id, _)| id).collect::<Vec<_>>(),
        Err(error) => return frame::failure(&state, &viewer, "", &error),
    };
    let args = match arguments(&form, &campaigns) {
        Ok(args) => args,
        Err(error) => {
            let message = with_language(viewer.language, || error.message());
            return frame::refusal(&state, &viewer, "", StatusCode::BAD_REQUEST, &message);
        }
    };
    let page = match &form.campaign[..] {
        "" => "/".to_owned(),
        campaign => page_of_campaign(campaign),
    };
    launch(&state, &viewer, &args, ("", &page)).await
}

/// Starts the program with a standard input, logs that, and shows the measurement, or why it refused. `page` shows what
/// has ended before it was seen.
pub(super) async fn launch(
    state: &AppState,
    viewer: &Viewer,
    args: &[OsString],
    (input, page): (&str, &str),
) -> Response {
    let words: Vec<String> = args
        .iter()
        .map(|arg| arg.to_string_lossy().into_owned())
        .collect();
    log_action(&viewer.client, &format!("start {}", words.join(" ")));
    let children = state.live.children();
    match children.start(&state.options, viewer.language, args, input) {
        Ok(child) => begun(state, viewer, child, page).await,
        Err(error) => {
            let message = with_language(viewer.language, || not_started(&error));
            let status = StatusCode::SERVICE_UNAVAILABLE;
            frame::refusal(state, viewer, "", status, &message)
        }
    }
}

fn not_started(error: &ChildError) -> String {
    match error {
        ChildError::TooMany => both!(
            "too many measurements that were started here are still running; help: stop one, or wait",
            "ここから開始した測定が多すぎます; help: どれかを停止するか、終了を待ってください"
        ),
        ChildError::Io(error) => {
            let why = hakaru_campaign::errors::message(error);
            both!(
                "failed to start the measurement: {why}",
                "測定を開始できません（{why}）"
            )
        }
    }
}

/// Waits until a process publishes its state or ends.
async fn begun(state: &AppState, viewer: &Viewer, child: u32, page: &str) -> Response {
    let prefix = format!("{child}-");
    let until = Instant::now() + LONGEST_START;
    loop {
        let snapshot = state.live.snapshot();
        let process = snapshot.states.iter().find(|s| s.id.starts_with(&prefix));
        if let Some(of) = process.and_then(page_of) {
            return Redirect::to(&of).into_response();
        }
        match state.live.children().end_of(child) {
            Some(ChildEnd { code: Some(0), .. }) => return Redirect::to(page).into_response(),
            Some(end) => {
                let status = match end.code {
                    Some(2 | 3) => StatusCode::CONFLICT,
                    _ => StatusCode::INTERNAL_SERVER_ERROR,
                };
                return frame::refusal(state, viewer, "", status, end.output.trim());
            }
            None if Instant::now() > until => return Redirect::to("/").into_response(),
            None => tokio::time::sleep(LOOK).await,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn form(verb: &str, device: &str) -> StartForm {
        StartForm {
            verb: verb.to_owned(),
            device: device.to_owned(),
            ..StartForm::default()
        }
    }

    /// Regression: a campaign that was started on a page was looked for on the first page, if its points were published
    /// later than its start.
    #[test]
    fn a_campaign_is_shown_on_its_page_once_that_is_known() {
        let mut process = serde_json::json!({
            "format": 1, "id": "7-8", "revision": 1, "verb": "campaign", "target": "mine", "started_unix_ms": 1,
            "updated_unix_ms": 1, "samples": 0, "phases": [], "notes": [], "stopping": false
        });
        let of = |process: &serde_json::Value| {
            page_of(&serde_json::from_value(process.clone()).unwrap())
        };
        assert_eq!(of(&process), None);
        process["campaign"] = serde_json::json!({
            "id": "mine", "name": "mine", "number": 0, "of": 1, "remaining_s": 0.0,
            "cards": [], "layers": [], "workloads": [], "cells": []
        });
        assert_eq!(of(&process).as_deref(), Some("/campaign/mine"));
        process["verb"] = "bench".into();
        process["campaign"] = serde_json::Value::Null;
        assert_eq!(of(&process).as_deref(), Some("/"));
    }

    #[test]
    fn only_what_the_server_knows_is_started() {
        let campaigns = ["mine".to_owned()];
        let of = |form: &StartForm| arguments(form, &campaigns);
        let campaign = |id: &str| StartForm {
            campaign: id.to_owned(),
            ..form("campaign", "")
        };
        assert_eq!(
            of(&campaign("mine")).unwrap(),
            ["campaign", "run", "mine", "--quiet"]
        );
        assert_eq!(of(&campaign("/etc/passwd")), Err(FormError::NotThere));
        for device in ["", "..", "/dev/vda", "--help", "nothing"] {
            for verb in ["bench", "verify", "anatomy", "prepare"] {
                assert_eq!(
                    of(&form(verb, device)),
                    Err(FormError::NotThere),
                    "{verb} {device}"
                );
            }
        }
    }

    #[test]
    fn what_erases_needs_the_typed_identity() {
        let disks = hakaru_device::disks(&hakaru_device::Roots::live());
        let Some(name) = disks.first().and_then(|disk| disk.file_name()) else {
            return;
        };
        let name = name.to_str().unwrap();
        for verb in ["verify", "anatomy", "prepare"] {
            let bare = form(verb, name);
            assert_eq!(arguments(&bare, &[]), Err(FormError::NotConfirmed));
            let typed = StartForm {
                identity: " 0x12 ".to_owned(),
                fs: "ext4".to_owned(),
                ..bare
            };
            let args = arguments(&typed, &[]).unwrap();
            assert!(args.contains(&"--erase=0x12".into()), "{args:?}");
        }
        assert_eq!(
            arguments(&form("erase", name), &[]),
            Err(FormError::Invalid)
        );
        let only_reads = StartForm {
            length: "quick".to_owned(),
            ..form("anatomy", name)
        };
        let (bench, anatomy) = (form("bench", name), only_reads);
        for form in [&bench, &anatomy] {
            let args = arguments(form, &[]).unwrap();
            let erases = |arg: &OsString| arg.to_string_lossy().starts_with("--erase");
            assert!(!args.iter().any(erases), "{args:?}");
            assert_eq!(form.verb == "anatomy", args.contains(&"--read-only".into()));
        }
        let elsewhere = StartForm {
            directory: "/proc".to_owned(),
            ..form("bench", name)
        };
        assert_eq!(arguments(&elsewhere, &[]), Err(FormError::NotThere));
    }
}
