//! The addresses of the requests of a traced run over time: any part of the picture, by links and a form.

use super::run::some;
use super::show_kept;
use crate::access::Viewer;
use crate::context::AppState;
use crate::frame::{Content, NavItem};
use crate::html::{Html, in_link};
use axum::Extension;
use axum::extract::{Path, Query, State};
use axum::response::Response;
use hakaru_report::{AddressPage, AddressWindow, path_addresses};
use hakaru_results::explain::traced_runs;
use hakaru_results::summarize;
use serde::Deserialize;

/// Bytes of the unit of addresses in the form.
const MIB: f64 = 1_048_576.0;

/// What the page shows; what is missing is not limited.
#[derive(Debug, Deserialize)]
pub(crate) struct AddressQuery {
    #[serde(default)]
    phase: String,
    /// Seconds since the start of the phase.
    from: Option<f64>,
    until: Option<f64>,
    /// Addresses in MiB.
    low: Option<f64>,
    high: Option<f64>,
}

impl AddressQuery {
    fn window(&self) -> Option<AddressWindow> {
        let is_whole = [self.from, self.until, self.low, self.high]
            .iter()
            .all(Option::is_none);
        let side = |low: Option<f64>, high: Option<f64>, unit: f64| {
            (
                low.map_or(f64::MIN, |low| low * unit),
                high.map_or(f64::MAX, |high| high * unit),
            )
        };
        (!is_whole).then(|| AddressWindow {
            seconds: side(self.from, self.until, 1.0),
            bytes: side(self.low, self.high, MIB),
        })
    }
}

pub(crate) async fn addresses(
    State(state): State<AppState>,
    Extension(viewer): Extension<Viewer>,
    Path(name): Path<String>,
    Query(query): Query<AddressQuery>,
) -> Response {
    let key = format!("addresses {name} {query:?}");
    show_kept(&state, viewer, NavItem::Path, key, move |_, store| {
        let records = some(traced_runs(store, &name)?)?;
        let summary = summarize(store, &records)?;
        let mut back = Html::new();
        let title = NavItem::Path.name();
        put!(
            back,
            "<p class=\"act\"><a class=\"btn\" href=\"/path/",
            (in_link(&name)),
            "\">",
            (title),
            "</a></p>\n"
        );
        let Some(page) = path_addresses(&summary, &query.phase, query.window()) else {
            let none = both!(
                "No request of this run was kept.",
                "この測定のリクエストは残っていない。"
            );
            let mut main = Html::new();
            put!(main, "<p>", (none), "</p>\n");
            main.push(&back);
            return Ok(Content::own(&title, &Html::new(), &main));
        };
        let last = controls(&page);
        Ok(Content::report(&page.html, &back, &last))
    })
    .await
}

/// A query for a part of the picture.
fn link(page: &AddressPage, window: &AddressWindow) -> String {
    let ((from, until), (low, high)) = (window.seconds, window.bytes);
    format!(
        "?phase={}&from={from:.6}&until={until:.6}&low={:.4}&high={:.4}",
        in_link(&page.phase),
        low / MIB,
        high / MIB
    )
}

/// A side scaled about its middle and moved by a part of its length.
fn moved((low, high): (f64, f64), scale: f64, by: f64) -> (f64, f64) {
    let (middle, half) = ((low + high) / 2.0, (high - low) / 2.0 * scale);
    let offset = by * (high - low);
    (middle - half + offset, middle + half + offset)
}

fn controls(page: &AddressPage) -> Html {
    let mut html = Html::new();
    html.raw("<p class=\"act\">");
    let AddressWindow { seconds, bytes } = page.shown;
    let part = |seconds, bytes| AddressWindow { seconds, bytes };
    let all = [
        (
            both!("Less time", "時間を拡大"),
            part(moved(seconds, 0.5, 0.0), bytes),
        ),
        (
            both!("More time", "時間を縮小"),
            part(moved(seconds, 2.0, 0.0), bytes),
        ),
        (
            both!("Earlier", "前へ"),
            part(moved(seconds, 1.0, -0.5), bytes),
        ),
        (
            both!("Later", "後へ"),
            part(moved(seconds, 1.0, 0.5), bytes),
        ),
        (
            both!("Fewer addresses", "アドレスを拡大"),
            part(seconds, moved(bytes, 0.5, 0.0)),
        ),
        (
            both!("More addresses", "アドレスを縮小"),
            part(seconds, moved(bytes, 2.0, 0.0)),
        ),
        (
            both!("Lower", "下へ"),
            part(seconds, moved(bytes, 1.0, -0.5)),
        ),
        (
            both!("Higher", "上へ"),
            part(seconds, moved(bytes, 1.0, 0.5)),
        ),
    ];
    for (name, window) in all {
        let window = window.within(&page.whole);
        if window != page.shown {
            put!(
                html,
                "<a class=\"btn\" href=\"",
                (link(page, &window)),
                "\">",
                (name),
                "</a>\n"
            );
        }
    }
    if page.shown != page.whole {
        let whole = both!("Everything", "全体");
        put!(
            html,
            "<a class=\"btn p\" href=\"?phase=",
            (in_link(&page.phase)),
            "\">",
            (whole),
            "</a>\n"
        );
    }
    html.raw("</p>\n").push(&form(page));
    html
}

fn form(page: &AddressPage) -> Html {
    let mut html = Html::new();
    let AddressWindow {
        seconds: (from, until),
        bytes: (low, high),
    } = page.shown;
    let legend = both!("Part to show", "表示する範囲");
    put!(
        html,
        "<form method=\"get\"><fieldset><legend>",
        (legend),
        "</legend>\n<div class=\"pick\">"
    );
    let phase = both!("Phase", "フェーズ");
    put!(
        html,
        "<label class=\"field\"><span>",
        (phase),
        "</span><select name=\"phase\">"
    );
    for (id, name) in &page.phases {
        put!(html, "<option value=\"", (id), "\"");
        html.raw(if *id == page.phase { " selected>" } else { ">" });
        put!(html, (name), "</option>");
    }
    html.raw("</select></label>\n");
    let fields = [
        (
            "from",
            both!("From, seconds", "開始（秒）"),
            format!("{from:.6}"),
        ),
        (
            "until",
            both!("Until, seconds", "終了（秒）"),
            format!("{until:.6}"),
        ),
        (
            "low",
            both!("Lowest address, MiB", "最小アドレス（MiB）"),
            format!("{:.4}", low / MIB),
        ),
        (
            "high",
            both!("Highest address, MiB", "最大アドレス（MiB）"),
            format!("{:.4}", high / MIB),
        ),
    ];
    for (id, name, value) in fields {
        put!(
            html,
            "<label class=\"field\"><span>",
            (name),
            "</span><input type=\"number\" step=\"any\" min=\"0\" name=\"",
            (id),
            "\" value=\"",
            (value),
            "\"></label>\n"
        );
    }
    let show = both!("Show", "表示");
    put!(
        html,
        "</div><button class=\"btn p\">",
        (show),
        "</button></fieldset></form>\n"
    );
    html
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_stays_within_the_whole() {
        let whole = AddressWindow {
            seconds: (0.0, 8.0),
            bytes: (0.0, 64.0 * MIB),
        };
        assert_eq!(moved((2.0, 6.0), 0.5, 0.0), (3.0, 5.0));
        assert_eq!(moved((2.0, 6.0), 1.0, 0.5), (4.0, 8.0));
        let outside = AddressWindow {
            seconds: (9.0, 10.0),
            bytes: (f64::NAN, 3.0),
        };
        assert_eq!(outside.within(&whole).seconds, whole.seconds);
        let query = AddressQuery {
            phase: String::new(),
            from: Some(2.0),
            until: None,
            low: None,
            high: Some(1.0),
        };
        let window = query.window().unwrap().within(&whole);
        assert_eq!((window.seconds, window.bytes), ((2.0, 8.0), (0.0, MIB)));
    }
}
