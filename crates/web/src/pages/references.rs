//! Reference results that measured figures are compared with.

use super::show_kept;
use crate::access::Viewer;
use crate::context::AppState;
use crate::frame::{Content, NavItem};
use crate::html::Html;
use axum::Extension;
use axum::extract::State;
use axum::response::Response;
use hakaru_results::references::{own, with_published};

pub(crate) async fn references(
    State(state): State<AppState>,
    Extension(viewer): Extension<Viewer>,
) -> Response {
    let key = "references".to_owned();
    show_kept(&state, viewer, NavItem::References, key, |_, store| {
        // The user's file is no part of the database: an unreadable one leaves the published results.
        let own = own(store).unwrap_or_default();
        let title = NavItem::References.name();
        let page = hakaru_report::references_html(&with_published(&own), &title);
        Ok(Content::report(&page, &Html::new(), &Html::new()))
    })
    .await
}
