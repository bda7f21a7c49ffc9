//! Settings of the viewer, which cookies keep.

use super::show;
use crate::access::{ENTER, LANGUAGE_COOKIE, THEME_COOKIE, Theme, Viewer};
use crate::context::AppState;
use crate::frame::{Content, NavItem, Page};
use crate::html::Html;
use axum::extract::State;
use axum::http::header;
use axum::response::{AppendHeaders, IntoResponse, Redirect, Response};
use axum::{Extension, Form};
use hakaru_report::Language;
use serde::Deserialize;

/// Time that settings are kept, in seconds: one year.
pub(super) const KEPT: u32 = 365 * 24 * 3600;

pub(crate) async fn settings(
    State(state): State<AppState>,
    Extension(viewer): Extension<Viewer>,
) -> Response {
    show(&state, viewer, move |state, _| {
        let mut main = Html::new();
        main.raw("<form method=\"post\" action=\"/settings\">\n");
        let language = both!("Language", "言語");
        put!(main, "<fieldset><legend>", (language), "</legend>\n");
        for (of, name) in [
            (Language::English, "English"),
            (Language::Japanese, "日本語"),
        ] {
            put!(main, "<label lang=\"", (of.tag()), "\">");
            main.push(&radio("language", of.tag(), viewer.language == of));
            put!(main, (name), "</label>\n");
        }
        let theme = both!("Colors", "配色");
        put!(
            main,
            "</fieldset>\n<fieldset><legend>",
            (theme),
            "</legend>\n"
        );
        for of in Theme::ALL {
            main.raw("<label>")
                .push(&radio("theme", of.name(), viewer.theme == of));
            put!(main, (theme_name(of)), "</label>\n");
        }
        let save = both!("Save", "保存");
        put!(
            main,
            "</fieldset>\n<button class=\"btn p\">",
            (save),
            "</button></form>\n"
        );
        let access = both!("Access", "アクセス");
        put!(main, "<h2>", (access), "</h2>\n");
        let may_act = state.may_act(&viewer.client);
        main.push(&access_state(
            may_act,
            state.options.read_only,
            viewer.client.signed_in,
        ));
        let more = both!("More", "その他");
        put!(main, "<h2>", (more), "</h2>\n<p class=\"act\">");
        for item in [NavItem::Path, NavItem::References] {
            put!(
                main,
                "<a class=\"btn\" href=\"",
                (item.path()),
                "\">",
                (item.name()),
                "</a>\n"
            );
        }
        main.raw("<a class=\"btn\" href=\"/api/v1/series\">JSON</a></p>\n");
        let title = NavItem::Settings.name();
        Ok(Page::new(
            NavItem::Settings,
            Content::own(&title, &Html::new(), &main),
        ))
    })
    .await
}

fn radio(name: &'static str, value: &str, is_chosen: bool) -> Html {
    let mut html = Html::new();
    html.raw("<input type=\"radio\" name=\"").raw(name);
    put!(html, "\" value=\"", (value), "\"");
    html.raw(if is_chosen { " checked> " } else { "> " });
    html
}

fn theme_name(theme: Theme) -> String {
    match theme {
        Theme::Auto => both!("As the system", "システムに合わせる"),
        Theme::Light => both!("Light", "ライト"),
        Theme::Dark => both!("Dark", "ダーク"),
    }
}

fn access_state(may_act: bool, read_only: bool, signed_in: bool) -> Html {
    let mut html = Html::new();
    let state = match (read_only, may_act) {
        (true, _) => both!(
            "This server only shows results.",
            "このサーバでは結果の表示だけができる。"
        ),
        (false, true) => both!(
            "Signed in: measurements can be started, stopped and answered.",
            "サインイン済み。測定の開始、停止、応答ができる。"
        ),
        (false, false) => both!(
            "Not signed in: results can be read.",
            "サインインしていない。結果の表示はできる。"
        ),
    };
    put!(html, "<p>", (state), "</p>\n");
    if !signed_in {
        let name = both!("Sign in", "サインイン");
        html.raw("<p><a class=\"btn\" href=\"").raw(ENTER);
        put!(html, "\">", (name), "</a></p>\n");
    }
    html
}

/// The form of the settings.
#[derive(Deserialize)]
pub(crate) struct Settings {
    #[serde(default)]
    language: String,
    #[serde(default)]
    theme: String,
}

pub(crate) async fn change(Form(settings): Form<Settings>) -> Response {
    // Only known values become part of a header.
    let language = Language::of_tag(&settings.language).map(Language::tag);
    let theme = Theme::of_name(&settings.theme).map(Theme::name);
    let chosen = [(LANGUAGE_COOKIE, language), (THEME_COOKIE, theme)];
    let cookies = chosen.into_iter().filter_map(|(name, value)| {
        let value = value?;
        let cookie = format!("{name}={value}; Path=/; Max-Age={KEPT}; HttpOnly; SameSite=Strict");
        Some((header::SET_COOKIE, cookie))
    });
    let cookies: Vec<_> = cookies.collect();
    (AppendHeaders(cookies), Redirect::to("/settings")).into_response()
}
