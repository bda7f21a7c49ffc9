//! What runs now, as markup. Without the script, a page shows the state at the time when it was loaded.
//!
//! The script replaces each part whose key has changed and leaves all others alone, so that neither typed text nor the
//! focus is lost.

use super::hub::LiveSnapshot;
use super::question::question;
use super::{Place, charts, matrix};
use crate::html::{Html, in_link};
use hakaru_campaign::campaign::estimate;
use hakaru_model::units::Bytes;
use hakaru_report::{text, workload_words};
use hakaru_store::live::{
    LiveActivity, LiveCellState, LiveEnd, LivePhase, LivePhaseState, LiveState, LiveVerb,
};
use std::time::Duration;

/// Style rules of the part.
const STYLE: &str = "<style>\
.live article{border:1px solid #76828e;border-radius:8px;padding:10px 14px;margin:8px 0;min-width:0;overflow-wrap:anywhere}\
.live h3{margin:0 0 4px}.live progress{width:100%;height:12px;accent-color:#0072b2}\
.live ol{margin:4px 0;padding:0;list-style:none;display:flex;flex-wrap:wrap;gap:2px 16px;font-size:.875rem}\
.live .ask{border:2px solid #7a5200;border-radius:8px;padding:8px 12px;margin:8px 0}\
.live .cells{position:relative;overflow-x:auto;max-width:100%}.live .cells td{white-space:nowrap;text-align:center}.live .cells thead th{overflow-wrap:break-word}.live .cells tbody th{min-width:6rem}\
.live svg{display:block;width:100%;height:auto;touch-action:pan-y}.live figure{margin:8px 0}\
.live figcaption{font-size:.8125rem}.live .tools{display:flex;gap:8px;flex-wrap:wrap;align-items:center}\
</style>\n";

/// Returns the part of a page that shows what runs at a place.
pub(super) fn section(snapshot: &LiveSnapshot, place: &Place, may_act: bool) -> Html {
    let shown = snapshot.states.iter().filter(|state| place.shows(state));
    let shown: Vec<&LiveState> = shown.collect();
    let mut html = Html::new();
    let title = both!("Running now", "実行中の測定");
    html.raw(STYLE);
    put!(
        html,
        "<section class=\"live\" aria-labelledby=\"live-title\" data-events=\"/live/events?at="
    );
    put!(
        html,
        (in_link(&place.key())),
        "\">\n<h2 id=\"live-title\">",
        (title),
        "</h2>\n"
    );
    if shown.is_empty() {
        let none = both!("Nothing is running.", "実行中の測定はない。");
        put!(html, "<div data-none><p>", (none), "</p>");
        if let (Place::Campaign(id), true) = (place, may_act) {
            html.push(&resume(id));
        }
        html.raw("</div>\n");
    }
    for state in shown {
        html.push(&article(state, may_act));
    }
    html.raw("</section>\n");
    html
}

/// Wraps a part that is replaced when its key changes.
pub(super) fn part(name: &'static str, key: &str, content: &Html) -> Html {
    let mut html = Html::new();
    put!(html, "<div data-part=\"");
    html.raw(name);
    put!(html, "\" data-key=\"", (key), "\">");
    html.push(content).raw("</div>\n");
    html
}

fn article(state: &LiveState, may_act: bool) -> Html {
    let mut html = Html::new();
    put!(
        html,
        "<article data-process=\"",
        (state.id),
        "\">\n<h3>",
        (heading(state)),
        "</h3>\n"
    );
    if let Some(prompt) = &state.prompt {
        let key = format!("{} {may_act}", prompt.number);
        html.push(&part("prompt", &key, &question(state, prompt, may_act)));
    }
    html.push(&part(
        "progress",
        &state.revision.to_string(),
        &progress(state),
    ));
    if let Some(campaign) = &state.campaign {
        html.push(&matrix::points(campaign));
    }
    let can_stop = may_act && state.end.is_none();
    let key = format!("{can_stop} {}", state.stopping);
    let buttons = match may_act {
        true => stop(state, can_stop),
        false => Html::new(),
    };
    html.push(&part("stop", &key, &buttons));
    html.push(&part("chart", &state.id, &charts::charts(state)));
    html.push(&part(
        "notes",
        &format!("{} {:?}", state.notes.len(), state.notes.last()),
        &notes(state),
    ));
    html.raw("</article>\n");
    html
}

/// What a process does to what.
fn heading(state: &LiveState) -> String {
    let target = hakaru_report::plain(&state.target);
    match state.verb {
        LiveVerb::Bench => both!("Benchmark of {target}", "{target}のベンチマーク"),
        LiveVerb::Verify => both!("Verification of {target}", "{target}の検証"),
        LiveVerb::Anatomy => both!("Anatomy of {target}", "{target}の構造調査"),
        LiveVerb::Prepare => both!("Preparation of {target}", "{target}の前処理"),
        LiveVerb::Campaign => both!("Campaign {target}", "キャンペーン {target}"),
        LiveVerb::Fio => both!("fio: {target}", "fio: {target}"),
        LiveVerb::Iozone => both!("iozone: {target}", "iozone: {target}"),
    }
}

fn seconds(seconds: f64) -> String {
    estimate::words(Duration::try_from_secs_f64(seconds).unwrap_or_default())
}

fn progress(state: &LiveState) -> Html {
    let mut html = Html::new();
    if let Some(end) = state.end {
        put!(
            html,
            "<p role=\"status\"><strong>",
            (ended(end)),
            "</strong>"
        );
        if let Some(stored) = &state.stored {
            let path = match state.verb {
                LiveVerb::Verify => "/verification/",
                LiveVerb::Anatomy => crate::pages::ANATOMY,
                _ => "/run/",
            };
            let name = both!("Show the result", "結果を表示");
            html.raw(" <a href=\"").raw(path);
            put!(html, (in_link(stored)), "\">", (name), "</a>");
        }
        html.raw("</p>\n");
        return html;
    }
    if state.stopping {
        let stopping = both!(
            "Stopping; results so far are kept.",
            "停止中。ここまでの結果は残る。"
        );
        put!(html, "<p>", (stopping), "</p>\n");
    }
    if let Some((round, rounds)) = state.round.filter(|(_, rounds)| *rounds > 1) {
        put!(html, "<p>", (text::round_of(round, rounds)), "</p>\n");
    }
    if let Some(campaign) = &state.campaign {
        let (number, of) = (campaign.number, campaign.of);
        let line = both!("Run {number} of {of}", "{of}回中{number}回目の測定");
        put!(html, "<p>", (line));
        if campaign.remaining_s > 0.0 {
            put!(
                html,
                " · ",
                (text::time_left(&seconds(campaign.remaining_s)))
            );
        }
        html.raw("</p>\n");
    }
    html.push(&phases(&state.phases));
    if let Some(activity) = &state.activity {
        html.push(&doing(activity));
    }
    if let Some(left) = state.remaining_s.filter(|_| state.campaign.is_none()) {
        put!(html, "<p>", (text::time_left(&seconds(left))), "</p>\n");
    }
    html
}

fn ended(end: LiveEnd) -> String {
    match end {
        LiveEnd::Completed => both!("Completed", "完了"),
        LiveEnd::Failed => both!("Ended with an error", "エラーで終了"),
        LiveEnd::Stopped => both!(
            "Stopped; results so far are kept",
            "停止（ここまでの結果は保存済み）"
        ),
        LiveEnd::Killed => both!(
            "Killed; `hakaru recover` keeps what it had measured",
            "強制終了（hakaru recoverで途中までの結果を保存可能）"
        ),
    }
}

fn phases(phases: &[LivePhase]) -> Html {
    let mut html = Html::new();
    let has_begun = phases
        .iter()
        .any(|phase| phase.state != LivePhaseState::Waiting);
    if phases.is_empty() || !has_begun {
        return html;
    }
    html.raw("<ol>");
    for phase in phases {
        let state = match phase.state {
            LivePhaseState::Waiting => both!("waiting", "待機中"),
            LivePhaseState::Ramp => both!("ramp time", "ウォームアップ"),
            LivePhaseState::Running => both!("running", "測定中"),
            LivePhaseState::Done => both!("done", "完了"),
        };
        let mark = match phase.state {
            LivePhaseState::Waiting => "○",
            LivePhaseState::Ramp | LivePhaseState::Running => "▶",
            LivePhaseState::Done => "✓",
        };
        html.raw("<li><span aria-hidden=\"true\">").raw(mark);
        put!(
            html,
            "</span> ",
            (workload_words(&phase.name)),
            " <small>(",
            (state),
            ")</small></li>"
        );
    }
    html.raw("</ol>\n");
    let current = phases
        .iter()
        .find(|phase| matches!(phase.state, LivePhaseState::Ramp | LivePhaseState::Running));
    if let Some((phase, permille)) = current.and_then(|phase| Some((phase, phase.permille?))) {
        html.push(&bar(
            &workload_words(&phase.name),
            u64::from(permille),
            1000,
        ));
    }
    html
}

fn bar(name: &str, done: u64, total: u64) -> Html {
    let mut html = Html::new();
    put!(
        html,
        "<progress aria-label=\"",
        (name),
        "\" max=\"",
        (total),
        "\" value=\"",
        (done),
        "\"></progress>\n"
    );
    html
}

/// Work outside a phase. Identifiers of passes have names in both languages; other work is named by the process.
fn doing(activity: &LiveActivity) -> Html {
    let name = match &activity.doing[..] {
        "laying_out" => text::laying_out().to_owned(),
        "writing" => both!("writing", "書き込み"),
        "reading" => both!("reading", "読み込み"),
        "writing again" => both!("writing again", "再書き込み"),
        "reading again" => both!("reading again", "再読み込み"),
        "emptying caches" => both!("emptying caches", "キャッシュの追い出し"),
        "discarding" => both!("discarding", "discard"),
        other => hakaru_report::plain(other),
    };
    let mut html = Html::new();
    put!(html, "<p>", (name));
    if activity.total > 0 {
        let (done, total) = (Bytes(activity.done), Bytes(activity.total));
        put!(html, ": ", (text::done_of(done, total)), "</p>\n");
        html.push(&bar(&name, activity.done, activity.total));
    } else {
        html.raw("</p>\n");
    }
    html
}

fn stop(state: &LiveState, can_stop: bool) -> Html {
    let mut html = Html::new();
    if can_stop && !state.stopping {
        let name = both!("Stop and keep the results", "停止して結果を残す");
        put!(
            html,
            "<form method=\"post\" action=\"/live/stop\"><input type=\"hidden\" name=\"id\" value=\""
        );
        put!(
            html,
            (state.id),
            "\"><button class=\"btn q\">",
            (name),
            "</button></form>"
        );
    }
    if let (Some(campaign), Some(_)) = (&state.campaign, state.end)
        && campaign
            .cells
            .iter()
            .any(|cell| cell.state != LiveCellState::Done)
    {
        html.push(&resume(&campaign.id));
    }
    html
}

/// A button that runs a campaign from where it stopped.
fn resume(id: &str) -> Html {
    let mut html = Html::new();
    let name = both!("Run or resume the campaign", "キャンペーンを実行・再開");
    put!(
        html,
        "<form method=\"post\" action=\"/start\"><input type=\"hidden\" name=\"verb\" value=\"campaign\">"
    );
    put!(
        html,
        "<input type=\"hidden\" name=\"campaign\" value=\"",
        (id),
        "\"><button class=\"btn p\">",
        (name),
        "</button></form>"
    );
    html
}

fn notes(state: &LiveState) -> Html {
    let mut html = Html::new();
    if !state.notes.is_empty() {
        let title = both!("Notes", "参考");
        put!(
            html,
            "<details><summary>",
            (title),
            " (",
            (state.notes.len()),
            ")</summary><ul>"
        );
        for note in &state.notes {
            put!(html, "<li>", (note), "</li>");
        }
        html.raw("</ul></details>");
    }
    html
}
