//! Signing in with the token.

use super::settings::KEPT;
use super::show;
use crate::access::{ENTER, SESSION_COOKIE, TooManyGuesses, Viewer};
use crate::context::AppState;
use crate::frame::{Content, Page};
use crate::html::Html;
use axum::extract::{Query, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Redirect, Response};
use axum::{Extension, Form};
use serde::Deserialize;
use std::sync::Arc;

/// The token, from the form or from the printed link.
#[derive(Deserialize)]
pub(crate) struct TokenForm {
    #[serde(default)]
    token: String,
}

pub(crate) async fn enter(
    State(state): State<AppState>,
    Extension(viewer): Extension<Viewer>,
    Query(form): Query<TokenForm>,
    headers: HeaderMap,
) -> Response {
    match form.token.is_empty() {
        true => ask(&state, viewer, StatusCode::OK, None).await,
        false => try_token(&state, viewer, &form.token, &headers).await,
    }
}

pub(crate) async fn sign_in(
    State(state): State<AppState>,
    Extension(viewer): Extension<Viewer>,
    headers: HeaderMap,
    Form(form): Form<TokenForm>,
) -> Response {
    try_token(&state, viewer, &form.token, &headers).await
}

async fn try_token(state: &AppState, viewer: Viewer, token: &str, headers: &HeaderMap) -> Response {
    match state.sign_in(viewer.client.address.ip(), token.trim()) {
        Ok(Some(session)) => {
            // A proxy that ends TLS says so; the cookie then never travels without it.
            let is_secure = headers
                .get("x-forwarded-proto")
                .is_some_and(|scheme| scheme == "https");
            let secure = if is_secure { "; Secure" } else { "" };
            let cookie = format!(
                "{SESSION_COOKIE}={session}; Path=/; Max-Age={KEPT}; HttpOnly; SameSite=Strict{secure}"
            );
            ([(header::SET_COOKIE, cookie)], Redirect::to("/")).into_response()
        }
        Ok(None) => ask(state, viewer, StatusCode::FORBIDDEN, Some(Wrong::Token)).await,
        Err(TooManyGuesses) => {
            ask(
                state,
                viewer,
                StatusCode::TOO_MANY_REQUESTS,
                Some(Wrong::Often),
            )
            .await
        }
    }
}

/// Why the token is asked for again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Wrong {
    Token,
    Often,
}

async fn ask(
    state: &AppState,
    viewer: Viewer,
    status: StatusCode,
    wrong: Option<Wrong>,
) -> Response {
    show(state, viewer, move |_, _| {
        let mut main = Html::new();
        let said = wrong.map(|wrong| match wrong {
            Wrong::Token => both!("This is not the token.", "トークンが違います。"),
            Wrong::Often => both!("Too many wrong tokens. Try again in a minute.", "誤ったトークンが多すぎます。1分後にもう一度試してください。"),
        });
        if let Some(said) = said {
            put!(main, "<p role=\"alert\"><b>", (said), "</b></p>\n");
        }
        let (name, go) = (both!("Token", "トークン"), both!("Sign in", "サインイン"));
        let how = both!(
            "`hakaru serve` printed the token at its first start; `hakaru serve --new-token` makes another.",
            "トークンはhakaru serveの最初の起動時に表示されます。hakaru serve --new-tokenで作り直せます。"
        );
        main.raw("<form method=\"post\" action=\"").raw(ENTER);
        put!(main, "\"><label class=\"field\"><span>", (name), "</span><input type=\"text\" name=\"username\" value=\"hakaru\" autocomplete=\"username\" hidden><input type=\"password\" name=\"token\" required maxlength=\"200\" autocomplete=\"current-password\"></label>\n");
        put!(main, "<button class=\"btn p\">", (go), "</button></form>\n<p class=\"quiet\">", (how), "</p>\n");
        let content = Content::own(&both!("Sign in", "サインイン"), &Html::new(), &main);
        Ok(Page {
            at: None,
            content: Arc::new(content),
            now: Html::new(),
            script: false,
            status,
        })
    })
    .await
}
