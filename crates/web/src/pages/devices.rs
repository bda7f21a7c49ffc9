//! Devices that are here now, and cards with stored results.

use super::results::ANATOMY;
use super::{kept, show};
use crate::access::Viewer;
use crate::context::AppState;
use crate::frame::{Content, NavItem, Page};
use crate::html::{Html, in_link};
use crate::live::Place;
use axum::Extension;
use axum::extract::{Path, State};
use axum::response::Response;
use hakaru_device::Roots;
use hakaru_device::guard;
use hakaru_model::anatomy_record::AnatomyRecord;
use hakaru_model::facts::Identity;
use hakaru_model::integrity::Verification;
use hakaru_model::units::BytesPerSec;
use hakaru_report::TargetInfo;
use hakaru_results::devices::{self, PresentDisk};
use hakaru_results::history::newest_of_card;
use hakaru_results::not_there;
use hakaru_store::Store;

/// The disks of this host as cards with links.
pub(super) fn present(store: &Store) -> anyhow::Result<Html> {
    let disks = devices::present(&Roots::live());
    let verifications = store.verifications(RECENT)?.records;
    let anatomies = store.anatomies(RECENT_ANATOMIES)?.records;
    let mut html = Html::new();
    if disks.is_empty() {
        let none = both!(
            "No disks are visible to this program.",
            "このプログラムから見えるディスクはない。"
        );
        put!(html, "<p>", (none), "</p>\n");
        return Ok(html);
    }
    html.raw("<ul class=\"devs\">\n");
    for disk in &disks {
        let verification = newest_of(&disk.identity, &verifications, |of| &of.target);
        let anatomy = newest_of(&disk.identity, &anatomies, |of| &of.target);
        html.push(&disk_card(disk, verification, anatomy));
    }
    html.raw("</ul>\n");
    Ok(html)
}

/// Number of the latest verifications among which that of a present disk is looked for.
const RECENT: u32 = 200;

/// The same number of anatomies, which are larger.
const RECENT_ANATOMIES: u32 = 50;

fn disk_card(
    disk: &PresentDisk,
    verification: Option<&Verification>,
    anatomy: Option<&AnatomyRecord>,
) -> Html {
    let PresentDisk {
        name,
        identity,
        state,
        ..
    } = disk;
    let mut html = Html::new();
    put!(
        html,
        "<li><b>",
        (identity.display_name()),
        "</b>\n<span class=\"quiet\">",
        (name),
        " · ",
        (state),
        "</span>\n"
    );
    if let Some(of) = verification {
        let (class, sign) = match of.verdict.has_defects() {
            true => ("no", "✗"),
            false => ("ok", "✓"),
        };
        html.raw("<span><span aria-hidden=\"true\" class=\"mark ")
            .raw(class);
        put!(
            html,
            "\">",
            (sign),
            "</span> ",
            (hakaru_report::verified_sentence(of)),
            "</span>\n"
        );
    }
    let (details, history) = (both!("Details", "詳細"), both!("History", "履歴"));
    put!(
        html,
        "<span class=\"act\"><a class=\"btn\" href=\"/device/",
        (in_link(name)),
        "\">",
        (details)
    );
    html.raw("<span class=\"vh\"> ");
    put!(html, (name), "</span></a>\n");
    if !identity.ids().is_empty() {
        put!(
            html,
            "<a class=\"btn\" href=\"/card/",
            (in_link(identity.ids()[0])),
            "\">",
            (history)
        );
        put!(html, "<span class=\"vh\"> ", (name), "</span></a>\n");
    }
    if let Some(of) = anatomy {
        html.push(&anatomy_link(of, name));
    }
    html.raw("</span>");
    html.push(&measure(name)).raw("</li>\n");
    html
}

/// Returns the first of these results whose target has an ID of this device.
fn newest_of<'a, T>(
    identity: &Identity,
    all: &'a [T],
    target: impl Fn(&T) -> &Identity,
) -> Option<&'a T> {
    let ids = identity.ids();
    all.iter()
        .find(|of| target(of).ids().iter().any(|id| ids.contains(id)))
}

/// The link to an anatomy of a device with this name.
fn anatomy_link(of: &AnatomyRecord, name: &str) -> Html {
    let mut html = Html::new();
    html.raw("<a class=\"btn\" href=\"").raw(ANATOMY);
    let label = both!("Anatomy", "内部構造");
    put!(
        html,
        (of.id),
        "\">",
        (label),
        "<span class=\"vh\"> ",
        (name),
        "</span></a>\n"
    );
    html
}

/// The link to what can be measured on a disk.
fn measure(name: &str) -> Html {
    let mut html = Html::new();
    let label = both!("Measure this", "測定する");
    put!(
        html,
        "<p class=\"act\"><a class=\"btn p\" href=\"/start?device=",
        (in_link(name)),
        "\">",
        (label)
    );
    put!(html, "<span class=\"vh\"> ", (name), "</span></a></p>\n");
    html
}

pub(crate) async fn device(
    State(state): State<AppState>,
    Extension(viewer): Extension<Viewer>,
    Path(name): Path<String>,
) -> Response {
    show(&state, viewer, move |state, store| {
        let roots = Roots::live();
        // The name is compared with the disks of the host, and never used as a path.
        let Some(disk) = devices::named(&name, &roots) else {
            return Err(not_there(both!(
                "there is no disk {name} now; help: see the devices on the home page",
                "ディスク{name}は接続されていません; help: ホームで接続中のデバイスを確認してください"
            )));
        };
        let environment = hakaru_device::environment(&roots, hakaru_engine::ClockChoice::best().name());
        let device = disk.identity.device.known();
        let ceiling = device.and_then(|device| hakaru_device::bus_ceiling(&device.bus));
        let losses = guard::what_would_be_lost(&disk.path);
        let losses: Vec<String> = losses.iter().map(ToString::to_string).collect();
        let page = hakaru_report::device_html(&TargetInfo {
            identity: &disk.identity,
            environment: &environment,
            ceiling: ceiling.map(|bytes| BytesPerSec(bytes as f64)),
            by_hand: &[],
            content: Some(&losses),
            state: Some(&disk.state),
            runs_system: disk.runs_system,
        });
        let mut first = Html::new();
        let history = both!("History of the card", "カードの履歴");
        if let Some(id) = disk.identity.ids().first() {
            put!(first, "<p class=\"act\"><a class=\"btn\" href=\"/card/", (in_link(id)), "\">", (history), "</a>\n");
            let anatomies = store.anatomies(RECENT_ANATOMIES)?.records;
            if let Some(of) = newest_of(&disk.identity, &anatomies, |of| &of.target) {
                first.push(&anatomy_link(of, &disk.name));
            }
            first.raw("</p>\n");
        }
        first.push(&measure(&disk.name));
        let content = Content::report(&page, &first, &Html::new());
        let mut page = Page::new(NavItem::Home, content);
        page.follow(state, &viewer, &Place::Device(disk.name.clone()));
        Ok(page)
    })
    .await
}

pub(crate) async fn card(
    State(state): State<AppState>,
    Extension(viewer): Extension<Viewer>,
    Path(name): Path<String>,
) -> Response {
    let key = format!("card {name}");
    show(&state, viewer, move |state, store| {
        let content = kept(state, &viewer, key, || {
            let found = newest_of_card(store, &name)?;
            let history = hakaru_analysis::history(&found.records, &found.verifications, &found.anatomies);
            let page = hakaru_report::history_html(&history);
            let mut first = Html::new();
            if found.left_out > 0 {
                let note = both!("The {} oldest runs are left out; `hakaru history` shows all.", "古い測定{}回を省略（すべてはhakaru historyで表示）"; found.left_out);
                put!(first, "<p class=\"quiet\">", (note), "</p>\n");
            }
            if let Some(of) = found.anatomies.first() {
                first.raw("<p class=\"act\">").push(&anatomy_link(of, &history.name));
                first.raw("</p>\n");
            }
            Ok(Content::report(&page, &first, &Html::new()))
        })?;
        Ok(Page::of(NavItem::Results, content))
    })
    .await
}
