//! The frame of all pages: menu, style rules, and pages for errors.

mod style;

pub(crate) use style::stylesheet;

use crate::access::{ENTER, Viewer, is_for_programs};
use crate::context::{AppState, WebState};
use crate::html::Html;
use crate::live::Place;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use hakaru_report::{EmbeddedPage, with_language};
use serde::Serialize;
use std::sync::Arc;

/// An entry of the menu.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NavItem {
    Home,
    Results,
    Campaigns,
    Compare,
    Path,
    References,
    Settings,
}

impl NavItem {
    const ALL: [NavItem; 7] = [
        NavItem::Home,
        NavItem::Results,
        NavItem::Campaigns,
        NavItem::Compare,
        NavItem::Path,
        NavItem::References,
        NavItem::Settings,
    ];

    pub(crate) fn path(self) -> &'static str {
        match self {
            NavItem::Home => "/",
            NavItem::Results => "/results",
            NavItem::Campaigns => "/campaigns",
            NavItem::Compare => "/compare",
            NavItem::Path => "/path",
            NavItem::References => "/references",
            NavItem::Settings => "/settings",
        }
    }

    pub(crate) fn name(self) -> String {
        match self {
            NavItem::Home => both!("Home", "ホーム"),
            NavItem::Results => both!("Results", "結果"),
            NavItem::Campaigns => both!("Campaigns", "キャンペーン"),
            NavItem::Compare => both!("Compare", "比較"),
            NavItem::Path => both!("Path of an I/O", "I/Oの経路"),
            NavItem::References => both!("References", "参考値"),
            NavItem::Settings => both!("Settings", "設定"),
        }
    }

    /// The lines of its picture, in a square of 22 units.
    fn picture(self) -> &'static str {
        match self {
            NavItem::Home => "M3 10l8-7 8 7v9h-6v-6h-4v6H3z",
            NavItem::Results => "M6 2h8l4 4v14H6zM9 2v5M12 2v5",
            NavItem::Campaigns => "M3 18V9h4v9M9 18V4h4v14M15 18v-6h4v6",
            NavItem::Compare => "M4 6h14M4 16h9M4 11h6",
            NavItem::Path => "M3 5h5c5 0 2 12 8 12h3",
            NavItem::References => "M4 3h12v16H4zM7 7h6M7 11h6",
            NavItem::Settings => "M11 7a4 4 0 100 8 4 4 0 000-8zM11 2v3M11 17v3M2 11h3M17 11h3",
        }
    }

    /// Whether the entry is left out of the menu of a phone; the settings link to it.
    fn is_on_wide_only(self) -> bool {
        matches!(self, NavItem::Path | NavItem::References)
    }
}

/// The content of a page: what a frame shows.
#[derive(Clone, Debug)]
pub(crate) struct Content {
    /// Title as markup.
    title: String,
    /// What precedes the main content.
    head: String,
    /// The content of the element `main`, its end, and the footer.
    main: String,
}

/// Start of the main content.
const MAIN: &str = "<main id=\"result\">\n";

impl Content {
    /// A page of the server; `under` follows its title.
    pub(crate) fn own(title: &str, under: &Html, main: &Html) -> Content {
        let mut of_title = Html::new();
        of_title.text(title);
        let mut head = Html::new();
        put!(head, "<header class=\"top\"><h1>", (title), "</h1>\n");
        head.push(under).raw("</header>\n");
        let mut content = main.clone();
        content.raw("</main>\n");
        Content {
            title: of_title.into_string(),
            head: head.into_string(),
            main: content.into_string(),
        }
    }

    /// A page of `hakaru-report`; `first` precedes its main content, and `last` follows it.
    pub(crate) fn report(page: &str, first: &Html, last: &Html) -> Content {
        let none = EmbeddedPage {
            title: "",
            head: "",
            main: "</main>\n",
        };
        let EmbeddedPage { title, head, main } = hakaru_report::embedded(page).unwrap_or(none);
        let inner = main.strip_prefix(MAIN).unwrap_or(main);
        let (inner, footer) = inner.split_once("</main>").unwrap_or((inner, ""));
        Content {
            title: title.to_owned(),
            head: head.to_owned(),
            main: [first.as_str(), inner, last.as_str(), "</main>", footer].concat(),
        }
    }

    /// Title, head and main content.
    pub(crate) fn parts(&self) -> [&str; 3] {
        [&self.title, &self.head, &self.main]
    }

    /// Content of a title, a head and main content.
    pub(crate) fn of_parts([title, head, main]: [String; 3]) -> Content {
        Content { title, head, main }
    }
}

/// A page to send.
pub(crate) struct Page {
    /// Its entry in the menu; none for pages outside it.
    pub(crate) at: Option<NavItem>,
    pub(crate) content: Arc<Content>,
    /// What is shown first of the main content, and changes without the stored results.
    pub(crate) now: Html,
    /// Whether the page loads the script that shows what runs now.
    pub(crate) script: bool,
    pub(crate) status: StatusCode,
}

impl Page {
    pub(crate) fn new(at: NavItem, content: Content) -> Page {
        Page::of(at, Arc::new(content))
    }

    pub(crate) fn of(at: NavItem, content: Arc<Content>) -> Page {
        Page {
            at: Some(at),
            content,
            now: Html::new(),
            script: false,
            status: StatusCode::OK,
        }
    }
}

impl Page {
    /// Shows what runs at a place before the main content, and keeps it current with the script.
    pub(crate) fn follow(&mut self, state: &WebState, viewer: &Viewer, place: &Place) {
        self.now = crate::live::fragment(state, viewer, place);
        self.script = true;
    }
}

fn menu(state: &WebState, at: Option<NavItem>) -> Html {
    let mut html = Html::new();
    let (name, skip) = (
        both!("Main menu", "メインメニュー"),
        both!("Skip to content", "本文へ移動"),
    );
    let whose = match state.options.needs_token() {
        true => both!("with token", "トークンが必要"),
        false => both!("this machine only", "このホストのみ"),
    };
    put!(
        html,
        "<a class=\"skip\" href=\"#result\">",
        (skip),
        "</a>\n<nav class=\"menu\" aria-label=\"",
        (name)
    );
    put!(
        html,
        "\"><p>hakaru <small>",
        (state.host),
        " · ",
        (whose),
        "</small></p><ul>\n"
    );
    for item in NavItem::ALL {
        html.raw(match item.is_on_wide_only() {
            true => "<li class=\"x\"><a href=\"",
            false => "<li><a href=\"",
        });
        html.raw(item.path());
        html.raw(match at == Some(item) {
            true => "\" aria-current=\"page\">",
            false => "\">",
        });
        html.raw("<svg width=\"22\" height=\"22\" viewBox=\"0 0 22 22\" fill=\"none\" stroke=\"currentColor\" stroke-width=\"1.7\" aria-hidden=\"true\"><path d=\"");
        html.raw(item.picture());
        put!(html, "\"/></svg>", (item.name()), "</a></li>\n");
    }
    html.raw("</ul></nav>\n");
    html
}

/// Renders a page in the language of the thread.
pub(crate) fn render(state: &WebState, viewer: &Viewer, page: &Page) -> String {
    let Content { title, head, main } = &*page.content;
    let (language, theme) = (viewer.language.tag(), viewer.theme.name());
    let script = match page.script {
        true => "<script src=\"/live.js\" defer></script>\n",
        false => "",
    };
    let menu = menu(state, page.at);
    [
        "<!DOCTYPE html>\n<html lang=\"",
        language,
        "\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\n<title>",
        title,
        " · hakaru</title>\n<link rel=\"stylesheet\" href=\"/style.css?theme=",
        theme,
        "\">\n<link rel=\"icon\" href=\"data:,\">\n",
        script,
        "</head>\n<body>\n",
        menu.as_str(),
        "<div class=\"page\">\n",
        head,
        MAIN,
        page.now.as_str(),
        main,
        "</div>\n</body>\n</html>\n",
    ]
    .concat()
}

/// Sends a rendered page.
pub(crate) fn response(status: StatusCode, page: String) -> Response {
    let content_type = [(header::CONTENT_TYPE, "text/html; charset=utf-8")];
    (status, content_type, page).into_response()
}

/// An error for programs.
#[derive(Serialize)]
struct ErrorJson<'a> {
    /// What failed, and why.
    error: &'a str,
    /// What to do; may be empty.
    help: String,
}

/// An error, as a page or as JSON; the message may end in `; help: …`.
pub(crate) fn refusal(
    state: &AppState,
    viewer: &Viewer,
    path: &str,
    status: StatusCode,
    message: &str,
) -> Response {
    let mut parts = message.split("; help: ");
    let what = parts.next().unwrap_or_default();
    let help: Vec<&str> = parts.collect();
    if is_for_programs(path) {
        let help = help.join("; ");
        return (status, axum::Json(ErrorJson { error: what, help })).into_response();
    }
    let page = with_language(viewer.language, || {
        let mut main = Html::new();
        put!(main, "<p>", (what), "</p>\n");
        for line in &help {
            put!(main, "<p>", (line), "</p>\n");
        }
        if status == StatusCode::FORBIDDEN {
            let name = both!("Sign in", "サインイン");
            put!(main, "<p><a class=\"btn\" href=\"");
            main.raw(ENTER);
            put!(main, "\">", (name), "</a></p>\n");
        }
        let title = match status {
            StatusCode::NOT_FOUND => both!("Not found", "見つかりません"),
            StatusCode::FORBIDDEN | StatusCode::UNAUTHORIZED | StatusCode::TOO_MANY_REQUESTS => {
                both!("Not permitted", "許可されていません")
            }
            _ => both!("Cannot show this page", "表示できません"),
        };
        let page = Page {
            at: None,
            content: Arc::new(Content::own(&title, &Html::new(), &main)),
            now: Html::new(),
            script: false,
            status,
        };
        render(state, viewer, &page)
    });
    response(status, page)
}

/// An error of a handler, as a page or as JSON.
pub(crate) fn failure(
    state: &AppState,
    viewer: &Viewer,
    path: &str,
    error: &anyhow::Error,
) -> Response {
    let message = with_language(viewer.language, || {
        hakaru_campaign::errors::messages(error.chain()).join(": ")
    });
    refusal(state, viewer, path, status_of(error), &message)
}

/// The status for an error: 404 for names that do not exist, 503 for a database that cannot be read, 400 for requests
/// that cannot be fulfilled.
fn status_of(error: &anyhow::Error) -> StatusCode {
    use hakaru_store::{FindError, OpenError, StoreError};
    let is_absent = |cause: &(dyn std::error::Error + 'static)| {
        cause.is::<hakaru_results::NotThere>()
            || matches!(
                cause.downcast_ref::<FindError>(),
                Some(FindError::NotFound { .. } | FindError::Ambiguous { .. })
            )
    };
    let is_of_store = |cause: &(dyn std::error::Error + 'static)| {
        cause.is::<FindError>() || cause.is::<OpenError>() || cause.is::<StoreError>()
    };
    match () {
        () if error.chain().any(is_absent) => StatusCode::NOT_FOUND,
        () if error.chain().any(is_of_store) => StatusCode::SERVICE_UNAVAILABLE,
        () if error.is::<tokio::task::JoinError>() => StatusCode::INTERNAL_SERVER_ERROR,
        () => StatusCode::BAD_REQUEST,
    }
}
