//! Who may send which request: checks of host, origin and token before any handler runs.

use crate::context::{AppState, ServeOptions, WebState};
use crate::frame;
use axum::extract::{Request, State};
use axum::http::header::{self, HeaderMap, HeaderName, HeaderValue};
use axum::http::{Method, StatusCode};
use axum::middleware::Next;
use axum::response::{IntoResponse, Redirect, Response};
use hakaru_report::Language;
use std::collections::HashMap;
use std::net::{IpAddr, Ipv6Addr, SocketAddr};
use std::sync::Mutex;
use std::time::{Duration, Instant};

/// Name of the cookie with the session.
pub(crate) const SESSION_COOKIE: &str = "hakaru";
/// Addresses are sent to this server only. Without any, browsers send `Origin: null` with the forms of the own pages
/// (Fetch standard, "append a request `Origin` header"), and they would be refused.
const REFERRER_POLICY: &str = "same-origin";

/// Name of the cookie with the language.
pub(crate) const LANGUAGE_COOKIE: &str = "hakaru-lang";
/// Name of the cookie with the color theme.
pub(crate) const THEME_COOKIE: &str = "hakaru-theme";

/// Page that takes the token.
pub(crate) const ENTER: &str = "/enter";

/// Longest time until a response begins. Streams may last longer.
const LONGEST_ANSWER: Duration = Duration::from_secs(60);
/// Maximum size of the cause that a rejected request is answered with, in bytes.
const LONGEST_CAUSE: usize = 4 << 10;

/// The sender of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Client {
    pub(crate) address: SocketAddr,
    /// Whether the request has the token, or the session that it gives.
    pub(crate) signed_in: bool,
}

/// Color theme of pages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Theme {
    /// That of the system.
    #[default]
    Auto,
    Light,
    Dark,
}

impl Theme {
    pub(crate) const ALL: [Theme; 3] = [Theme::Auto, Theme::Light, Theme::Dark];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Theme::Auto => "auto",
            Theme::Light => "light",
            Theme::Dark => "dark",
        }
    }

    pub(crate) fn of_name(name: &str) -> Option<Theme> {
        Theme::ALL.into_iter().find(|theme| theme.name() == name)
    }
}

/// A client, and how pages look for it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Viewer {
    pub(crate) client: Client,
    pub(crate) language: Language,
    pub(crate) theme: Theme,
}

/// Why a request is refused before it reaches a handler.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Refusal {
    /// The name in `Host` is not one of this server.
    Host,
    /// The request was made by a page of another origin.
    Origin,
    /// The token is missing.
    Token,
    /// Too many wrong tokens.
    Guesses,
    /// An action without the token.
    SignIn,
    /// An action on a server that only reads.
    ReadOnly,
}

impl Refusal {
    fn status(self) -> StatusCode {
        match self {
            Refusal::Host => StatusCode::MISDIRECTED_REQUEST,
            Refusal::Token => StatusCode::UNAUTHORIZED,
            Refusal::Guesses => StatusCode::TOO_MANY_REQUESTS,
            Refusal::Origin | Refusal::SignIn | Refusal::ReadOnly => StatusCode::FORBIDDEN,
        }
    }

    fn message(self) -> String {
        match self {
            Refusal::Host => both!(
                "the host name of this request is not one of this server; help: open the address that `hakaru serve` prints, or start it with --host NAME",
                "このホスト名では応答しません; help: hakaru serveが表示したアドレスを開くか、--host NAMEを付けて起動してください"
            ),
            Refusal::Origin => both!(
                "a page of another site sent this request; help: open the page in a window of its own",
                "別のサイトのページからの要求には応じません; help: このページを直接開いてください"
            ),
            Refusal::Token => both!(
                "this server needs its token; help: send it as `Authorization: Bearer TOKEN`, or sign in at /enter",
                "このサーバにはトークンが必要です; help: Authorization: Bearer TOKENとして送るか、/enterで入力してください"
            ),
            Refusal::Guesses => both!(
                "too many wrong tokens; help: try again in a minute",
                "誤ったトークンが多すぎます; help: 1分後にもう一度試してください"
            ),
            Refusal::SignIn => both!(
                "actions need the token; help: sign in at /enter with the token that `hakaru serve` printed at its first start",
                "操作にはトークンが必要です; help: hakaru serveが最初の起動時に表示したトークンを/enterで入力してください"
            ),
            Refusal::ReadOnly => both!(
                "this server only shows results (--read-only)",
                "このサーバでは結果の表示だけができます（--read-only）"
            ),
        }
    }
}

/// Checks a request, passes it on with a [`Viewer`], and adds the headers of every response.
pub(crate) async fn guard(
    State(state): State<AppState>,
    mut request: Request,
    next: Next,
) -> Response {
    let viewer = viewer(&state, &request);
    let path = request.uri().path().to_owned();
    let decided = viewer.and_then(|viewer| match check(&state, &request, &viewer.client) {
        Some(refusal) => Err((refusal, viewer)),
        None => Ok(viewer),
    });
    let mut response = match decided {
        Ok(viewer) => {
            request.extensions_mut().insert(viewer);
            let response = match tokio::time::timeout(LONGEST_ANSWER, next.run(request)).await {
                Ok(response) => response,
                Err(_) => StatusCode::SERVICE_UNAVAILABLE.into_response(),
            };
            with_message(&state, &viewer, &path, response).await
        }
        Err((Refusal::Token, _)) if !is_for_programs(&path) => Redirect::to(ENTER).into_response(),
        Err((refusal, viewer)) => {
            let message = hakaru_report::with_language(viewer.language, || refusal.message());
            frame::refusal(&state, &viewer, &path, refusal.status(), &message)
        }
    };
    add_headers(response.headers_mut());
    response
}

/// Gives an error that has only a status or a line of text, such as that of a query that cannot be parsed, the form of
/// all errors: a page, or JSON for programs.
async fn with_message(
    state: &AppState,
    viewer: &Viewer,
    path: &str,
    response: Response,
) -> Response {
    let status = response.status();
    let content_type = text(response.headers(), &header::CONTENT_TYPE).unwrap_or_default();
    let has_form = ["text/html", "application/json"]
        .iter()
        .any(|known| content_type.starts_with(known));
    if has_form || !(status.is_client_error() || status.is_server_error()) {
        return response;
    }
    let (head, body) = response.into_parts();
    let body = axum::body::to_bytes(body, LONGEST_CAUSE).await;
    let cause = body.unwrap_or_default();
    let cause = String::from_utf8_lossy(&cause);
    let message = hakaru_report::with_language(viewer.language, || rejected(status, &cause));
    let mut response = frame::refusal(state, viewer, path, status, &message);
    for name in [header::RETRY_AFTER, header::ALLOW] {
        if let Some(value) = head.headers.get(&name) {
            response.headers_mut().insert(name, value.clone());
        }
    }
    response
}

/// The message for a request that no handler could answer.
fn rejected(status: StatusCode, cause: &str) -> String {
    match status {
        StatusCode::METHOD_NOT_ALLOWED => both!(
            "this address does not accept the method of the request",
            "このアドレスではこのメソッドを使えません"
        ),
        StatusCode::PAYLOAD_TOO_LARGE => both!(
            "the body of the request is larger than 64 KiB",
            "要求の本文が64 KiBを超えています"
        ),
        StatusCode::SERVICE_UNAVAILABLE => both!(
            "the server is busy; help: try again in a few seconds",
            "サーバが混み合っています; help: 数秒後にもう一度試してください"
        ),
        _ => both!(
            "cannot read the request: {cause}",
            "要求を解釈できません: {cause}"
        ),
    }
}

/// Whether a path gives JSON or another format for programs.
pub(crate) fn is_for_programs(path: &str) -> bool {
    path.starts_with("/api/") || path == "/metrics"
}

/// Returns the viewer of a request, or the refusal of one with too many wrong tokens.
fn viewer(state: &WebState, request: &Request) -> Result<Viewer, (Refusal, Viewer)> {
    let headers = request.headers();
    let peer = request.extensions().get::<crate::connections::Peer>();
    let address = peer.map_or(SocketAddr::from(([0, 0, 0, 0], 0)), |peer| peer.0);
    let mut viewer = Viewer {
        client: Client {
            address,
            signed_in: false,
        },
        language: language(headers),
        theme: cookie(headers, THEME_COOKIE)
            .and_then(Theme::of_name)
            .unwrap_or_default(),
    };
    let session = cookie(headers, SESSION_COOKIE);
    viewer.client.signed_in = session.is_some_and(|session| state.token.is_session(session));
    let bearer = text(headers, &header::AUTHORIZATION);
    if let Some(token) = bearer.and_then(|value| value.strip_prefix("Bearer ")) {
        match state.sign_in(address.ip(), token.trim()) {
            Ok(session) => viewer.client.signed_in = session.is_some(),
            Err(TooManyGuesses) => return Err((Refusal::Guesses, viewer)),
        }
    }
    Ok(viewer)
}

/// Returns why a request is refused; `None` if it is not.
fn check(state: &WebState, request: &Request, client: &Client) -> Option<Refusal> {
    let headers = request.headers();
    let Some(host) = host(request) else {
        return Some(Refusal::Host);
    };
    if !is_own_host(&state.options, &state.host, host) {
        return Some(Refusal::Host);
    }
    let is_action = !matches!(*request.method(), Method::GET | Method::HEAD);
    let has_bearer = headers.contains_key(header::AUTHORIZATION);
    if !is_own_origin(headers, host, is_action && !has_bearer) {
        return Some(Refusal::Origin);
    }
    let path = request.uri().path();
    let is_open = matches!(path, ENTER | "/style.css");
    if state.options.needs_token() && !client.signed_in && !is_open {
        return Some(Refusal::Token);
    }
    let is_own_setting = is_open || path == "/settings";
    match is_action && !is_own_setting {
        true if state.options.read_only => Some(Refusal::ReadOnly),
        true if !client.signed_in => Some(Refusal::SignIn),
        _ => None,
    }
}

/// The host that a request names; `None` if it names none or several.
fn host(request: &Request) -> Option<&str> {
    let mut hosts = request.headers().get_all(header::HOST).iter();
    match (hosts.next(), hosts.next()) {
        (Some(host), None) => host.to_str().ok(),
        _ => None,
    }
}

/// Divides `name:port`, `[address]:port` or a name; the brackets are removed.
fn name_of(host: &str) -> &str {
    if let Some((address, _)) = host.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
        return address;
    }
    host.rsplit_once(':').map_or(host, |(name, _)| name)
}

/// Whether a host name can mean this server. Any other name may be one that its owner has pointed at this host (DNS
/// rebinding), so that a page of that name reads what this server answers.
fn is_own_host(options: &ServeOptions, own_name: &str, host: &str) -> bool {
    let name = name_of(host).trim_end_matches('.');
    let is = |known: &str| name.eq_ignore_ascii_case(known);
    if is("localhost") || options.hosts.iter().any(|known| is(known)) {
        return true;
    }
    let loopback_only = options.listen.ip().is_loopback();
    match name.parse::<IpAddr>() {
        // An address cannot be pointed elsewhere.
        Ok(address) => address.is_loopback() || !loopback_only,
        Err(_) => {
            !loopback_only
                && !own_name.is_empty()
                && (is(own_name) || is(&format!("{own_name}.local")))
        }
    }
}

/// Whether a request comes from a page of this server, or from no page. `strictly` requires the origin of the page, which
/// browsers send with every action.
fn is_own_origin(headers: &HeaderMap, host: &str, strictly: bool) -> bool {
    let fetch = |name| text(headers, &HeaderName::from_static(name));
    let is_foreign = matches!(fetch("sec-fetch-site"), Some("cross-site" | "same-site"));
    let is_visit = fetch("sec-fetch-mode") == Some("navigate") && !strictly;
    if is_foreign && !is_visit {
        return false;
    }
    match text(headers, &header::ORIGIN) {
        None => !strictly && !headers.contains_key(header::ORIGIN),
        Some(origin) => {
            let authority = origin
                .strip_prefix("http://")
                .or_else(|| origin.strip_prefix("https://"));
            authority.is_some_and(|authority| authority.eq_ignore_ascii_case(host))
        }
    }
}

fn text<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Option<&'a str> {
    headers.get(name)?.to_str().ok()
}

/// The value of a cookie.
fn cookie<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    let all = headers.get_all(header::COOKIE).iter();
    let mut all = all
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(';'));
    all.find_map(|pair| {
        let (known, value) = pair.trim().split_once('=')?;
        (known == name).then_some(value)
    })
}

/// The language that the viewer has chosen; otherwise the first of the browser that exists; otherwise English.
fn language(headers: &HeaderMap) -> Language {
    let chosen = cookie(headers, LANGUAGE_COOKIE).and_then(Language::of_tag);
    let accepted = || {
        let tags = text(headers, &header::ACCEPT_LANGUAGE)?.split(',');
        let mut tags = tags.map(|tag| tag.trim().split([';', '-']).next().unwrap_or_default());
        tags.find_map(Language::of_tag)
    };
    chosen.or_else(accepted).unwrap_or_default()
}

/// Adds the headers that confine pages.
fn add_headers(headers: &mut HeaderMap) {
    const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; \
        connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'";
    let fixed = [
        (header::CONTENT_SECURITY_POLICY, POLICY),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::REFERRER_POLICY, REFERRER_POLICY),
        (header::X_FRAME_OPTIONS, "DENY"),
        (
            HeaderName::from_static("cross-origin-opener-policy"),
            "same-origin",
        ),
        (
            HeaderName::from_static("cross-origin-resource-policy"),
            "same-origin",
        ),
    ];
    for (name, value) in fixed {
        headers.insert(name, HeaderValue::from_static(value));
    }
    // Settings and the session change what a page shows.
    headers
        .entry(header::CACHE_CONTROL)
        .or_insert(HeaderValue::from_static("no-store"));
}

/// Too many wrong tokens were sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TooManyGuesses;

impl WebState {
    /// Returns the session for a token; `None` for a wrong one.
    ///
    /// # Errors
    /// [`TooManyGuesses`] if the address sent too many wrong ones.
    pub(crate) fn sign_in(
        &self,
        from: IpAddr,
        token: &str,
    ) -> Result<Option<String>, TooManyGuesses> {
        let now = Instant::now();
        if self.guesses.is_blocked(from, now) {
            return Err(TooManyGuesses);
        }
        let session = self.token.session(token);
        if session.is_none() {
            self.guesses.note(from, now);
        }
        Ok(session)
    }
}

/// Wrong tokens by address.
#[derive(Default)]
pub(crate) struct Guesses(Mutex<HashMap<IpAddr, (u32, Instant)>>);

impl Guesses {
    /// Wrong tokens that an address may send in a period.
    pub(crate) const MOST: u32 = 5;
    /// The period, from the first wrong token.
    const PERIOD: Duration = Duration::from_secs(60);
    /// Maximum number of addresses remembered; with more, all wait for the end of the period.
    const MOST_ADDRESSES: usize = 1024;

    fn is_blocked(&self, from: IpAddr, now: Instant) -> bool {
        let mut all = self.0.lock().unwrap_or_else(|error| error.into_inner());
        all.retain(|_, (_, since)| now.duration_since(*since) < Guesses::PERIOD);
        match all.get(&network(from)) {
            Some((count, _)) => *count >= Guesses::MOST,
            None => all.len() >= Guesses::MOST_ADDRESSES,
        }
    }

    fn note(&self, from: IpAddr, now: Instant) {
        let mut all = self.0.lock().unwrap_or_else(|error| error.into_inner());
        all.entry(network(from)).or_insert((0, now)).0 += 1;
    }
}

/// The address, without the part of an IPv6 address that one host may choose freely.
fn network(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(address) => {
            let first = address.to_bits() & !u128::from(u64::MAX);
            Ipv6Addr::from_bits(first).into()
        }
        address => address,
    }
}

#[cfg(test)]
mod tests;
