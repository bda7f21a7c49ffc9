//! The page that starts a measurement of a disk: what it does, what would be lost, and the typed identity.

use super::targets;
use crate::access::Viewer;
use crate::context::{AppState, blocking};
use crate::frame::{self, Content, NavItem, Page};
use crate::html::Html;
use axum::Extension;
use axum::extract::{Query, State};
use axum::http::StatusCode;
use axum::response::Response;
use hakaru_device::Roots;
use hakaru_device::guard::{self, Candidate};
use hakaru_report::plain;
use hakaru_report::text::{self, EraseTarget};
use serde::Deserialize;
use std::path::Path;

/// File systems that a page can create.
pub(super) const FILE_SYSTEMS: [&str; 5] = ["ext4", "vfat", "exfat", "f2fs", "btrfs"];

/// Query of the page.
#[derive(Deserialize)]
pub(crate) struct StartQuery {
    #[serde(default)]
    device: String,
}

/// Shows what can be measured on a disk.
pub(crate) async fn form(
    State(state): State<AppState>,
    Extension(viewer): Extension<Viewer>,
    Query(query): Query<StartQuery>,
) -> Response {
    let may_act = state.may_act(&viewer.client);
    let of = state.clone();
    let page = blocking(&state, &viewer, move |_| {
        let Some(disk) = targets::disk(&query.device) else {
            return Ok(None);
        };
        let content = content(&disk, may_act);
        let page = Page::new(NavItem::Home, content);
        Ok(Some(frame::render(&of, &viewer, &page)))
    });
    match page.await {
        Ok(Some(page)) => frame::response(StatusCode::OK, page),
        Ok(None) => {
            let message = hakaru_report::with_language(viewer.language, || {
                both!(
                    "this device is not here now; help: insert it and reload the page",
                    "このデバイスは接続されていません; help: 挿入してからページを再読み込みしてください"
                )
            });
            frame::refusal(&state, &viewer, "", StatusCode::NOT_FOUND, &message)
        }
        Err(error) => frame::failure(&state, &viewer, "", &error),
    }
}

fn content(disk: &Path, may_act: bool) -> Content {
    let roots = Roots::live();
    let name = disk
        .file_name()
        .unwrap_or_default()
        .to_string_lossy()
        .into_owned();
    let identity = hakaru_device::identify(disk, &roots);
    let called = plain(&identity.display_name());
    let title = both!("Measure {called}", "{called}の測定");
    let mut under = Html::new();
    put!(under, "<p>", (disk.display()), "</p>");
    let mut main = Html::new();
    if !may_act {
        return Content::own(&title, &under, &sign_in_first());
    }
    main.push(&file_systems(disk, &name));
    main.push(&reading(&name));
    main.push(&examination(&name, None));
    match guard::passive(disk, &roots) {
        Ok(candidate) => {
            main.push(&verification(&name, &candidate));
            main.push(&examination(&name, Some(&candidate)));
            main.push(&preparation(&name, &candidate));
        }
        Err(refusal) => {
            let why = plain(&hakaru_campaign::errors::message(&refusal));
            let cure = plain(&hakaru_campaign::errors::cure(&refusal));
            let kept = both!(
                "This device cannot be erased now, which verification, preparation and the whole anatomy need:",
                "このデバイスは現在消去できないため、検証、前処理、書き込みを含む構造調査はできない:"
            );
            put!(main, "<p>", (kept), " ", (why), "</p><p>", (cure), "</p>\n");
        }
    }
    Content::own(&title, &under, &main)
}

/// What a page shows in the place of a form to clients without the token.
pub(super) fn sign_in_first() -> Html {
    let mut html = Html::new();
    let (sign_in, enter) = (
        both!(
            "Starting needs the token: sign in first.",
            "開始にはトークンが必要。先にサインインすること。"
        ),
        both!("Sign in", "サインイン"),
    );
    put!(
        html,
        "<p>",
        (sign_in),
        " <a href=\"/enter\">",
        (enter),
        "</a></p>\n"
    );
    html
}

/// Opens a form that starts something of a disk.
fn open(verb: &'static str, name: &str, legend: &str) -> Html {
    let mut html = Html::new();
    html.raw(
        "<form method=\"post\" action=\"/start\"><input type=\"hidden\" name=\"verb\" value=\"",
    );
    html.raw(verb);
    put!(
        html,
        "\"><input type=\"hidden\" name=\"device\" value=\"",
        (name),
        "\"><fieldset><legend>"
    );
    put!(html, (legend), "</legend>\n");
    html
}

fn close(html: &mut Html, button: &str, class: &'static str) {
    html.raw("<p class=\"act\"><button class=\"").raw(class);
    put!(html, "\">", (button), "</button></p></fieldset></form>\n");
}

/// The choice of the length; the first is chosen.
fn lengths(html: &mut Html, lengths: [(&'static str, String); 2]) {
    for (index, (value, label)) in lengths.into_iter().enumerate() {
        html.raw("<label><input type=\"radio\" name=\"length\" value=\"")
            .raw(value);
        html.raw(match index {
            0 => "\" checked> ",
            _ => "\"> ",
        });
        put!(html, (label), "</label>\n");
    }
}

fn suite_lengths(html: &mut Html) {
    lengths(
        html,
        [
            ("quick", both!("quick: under a minute", "短縮: 1分以内")),
            ("standard", both!("standard: a minute each", "標準: 各1分")),
        ],
    );
}

/// Benchmarks of mounted file systems, which lose nothing.
fn file_systems(disk: &Path, name: &str) -> Html {
    let mounts = targets::mounts(disk);
    let mut html = Html::new();
    if mounts.is_empty() {
        return html;
    }
    let legend = both!(
        "Benchmark a file system on it",
        "ファイルシステムのベンチマーク"
    );
    html.push(&open("bench", name, &legend));
    let safe = both!(
        "Writes an unnamed temporary file. Nothing is lost.",
        "名前のない一時ファイルに書き込む。データは失われない。"
    );
    put!(html, "<p>", (safe), "</p>\n");
    for (index, mount) in mounts.iter().enumerate() {
        put!(
            html,
            "<label><input type=\"radio\" name=\"directory\" value=\"",
            (mount.display())
        );
        html.raw(match index {
            0 => "\" checked> ",
            _ => "\"> ",
        });
        put!(html, (mount.display()), "</label>\n");
    }
    html.raw("<br>");
    suite_lengths(&mut html);
    close(
        &mut html,
        &both!("Start the benchmark", "ベンチマークを開始"),
        "btn p",
    );
    html
}

/// A benchmark that only reads the device.
fn reading(name: &str) -> Html {
    let legend = both!(
        "Benchmark reading from the device",
        "デバイスの読み込みベンチマーク"
    );
    let mut html = open("bench", name, &legend);
    let safe = both!(
        "Only reads. Nothing is lost.",
        "読み込みのみ。データは失われない。"
    );
    put!(html, "<p>", (safe), "</p>\n");
    suite_lengths(&mut html);
    close(&mut html, &both!("Start reading", "読み込みを開始"), "btn");
    html
}

/// The field for the identity of a device whose content is lost.
fn identity(html: &mut Html, candidate: &Candidate) {
    let identity = candidate.identity();
    let device = plain(&text::erase_target(&EraseTarget {
        partition: candidate.partition(),
        mapping: candidate.mapping().as_deref(),
        name: &identity.display_name(),
        size: candidate.size(),
        path: &identity.path.display().to_string(),
    }));
    put!(html, "<p><strong>", (device), "</strong></p>\n");
    html.push(&losses(candidate));
    put!(
        html,
        "<label class=\"field\"><span>",
        (identity_label(candidate)),
        "</span><input name=\"identity\" autocomplete=\"off\" "
    );
    html.raw("autocapitalize=\"none\" spellcheck=\"false\" required></label>\n");
}

/// What erasing a device would lose.
pub(super) fn losses(candidate: &Candidate) -> Html {
    let mut html = Html::new();
    let lost = both!(
        "All data on it will be lost.",
        "デバイス上の全データが失われる。"
    );
    put!(html, "<p>", (lost), "</p>\n<ul>");
    for loss in guard::what_would_be_lost(&candidate.identity().path) {
        put!(html, "<li>", (plain(&loss.to_string())), "</li>");
    }
    html.raw("</ul>\n");
    html
}

/// The name of the field for the identity.
pub(super) fn identity_label(candidate: &Candidate) -> String {
    let ids: Vec<String> = candidate.ids().iter().map(|id| plain(id)).collect();
    match &ids[..] {
        [] => both!(
            "This device has no ID; use the command line",
            "IDのないデバイスにはコマンドラインを使用"
        ),
        ids => {
            let ids = ids.join(", ");
            both!(
                "To confirm, type its ID: {ids}",
                "確認のためIDを入力: {ids}"
            )
        }
    }
}

fn verification(name: &str, candidate: &Candidate) -> Html {
    let legend = both!("Verify capacity and data integrity", "容量とデータの検証");
    let mut html = open("verify", name, &legend);
    identity(&mut html, candidate);
    lengths(
        &mut html,
        [
            ("quick", both!("samples: minutes", "抜き取り: 数分")),
            ("standard", both!("everything: hours", "全体: 数時間")),
        ],
    );
    close(
        &mut html,
        &both!("Erase and verify", "消去して検証"),
        "btn d",
    );
    html
}

/// An anatomy that only reads, or that writes a device which may be erased.
fn examination(name: &str, candidate: Option<&Candidate>) -> Html {
    let legend = match candidate {
        None => both!("Read-only anatomy", "読み込みのみの構造調査"),
        Some(_) => both!(
            "Anatomy: what the card is made of, and how to format it",
            "構造調査: カードの内部構造と適したフォーマット方法"
        ),
    };
    let mut html = open("anatomy", name, &legend);
    match candidate {
        None => {
            let safe = both!(
                "Only reads, for up to 5 minutes. Nothing is lost.",
                "読み込みのみ（最長5分）。データは失われない。"
            );
            put!(html, "<p>", (safe), "</p>\n");
            html.raw("<input type=\"hidden\" name=\"length\" value=\"quick\">\n");
            close(&mut html, &both!("Start reading", "読み込みを開始"), "btn");
        }
        Some(candidate) => {
            let length = both!("Takes up to 30 minutes.", "最長30分かかる。");
            put!(html, "<p>", (length), "</p>\n");
            identity(&mut html, candidate);
            let button = both!("Erase and examine", "消去して調査");
            close(&mut html, &button, "btn d");
        }
    }
    html
}

fn preparation(name: &str, candidate: &Candidate) -> Html {
    let legend = both!(
        "Prepare with a new file system",
        "新しいファイルシステムを作成"
    );
    let mut html = open("prepare", name, &legend);
    identity(&mut html, candidate);
    let label = both!("File system", "ファイルシステム");
    put!(
        html,
        "<label class=\"field\"><span>",
        (label),
        "</span><select name=\"fs\">"
    );
    for fs in FILE_SYSTEMS {
        html.raw("<option>").raw(fs).raw("</option>");
    }
    html.raw("</select></label>\n");
    close(
        &mut html,
        &both!("Erase and prepare", "消去して作成"),
        "btn d",
    );
    html
}
