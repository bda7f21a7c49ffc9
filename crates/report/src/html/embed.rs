//! Divides a page of this crate into the parts that a frame with a menu of its own shows, such as that of a server.

use super::style;
use crate::svg;

/// Start of the content of a page.
pub(super) const BODY_START: &str = "\n</head>\n<body>\n";
/// End of the content of a page.
pub(super) const BODY_END: &str = "</body>\n</html>\n";
/// Start of the main content.
pub(super) const MAIN_START: &str = "<main id=\"result\">\n";

/// The content of a page without its head. The parts need the rules of [`stylesheet`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EmbeddedPage<'a> {
    /// Title as escaped text.
    pub title: &'a str,
    /// What precedes the main content: patterns of charts, the header with the title as `h1`, and the contents.
    pub head: &'a str,
    /// The main content with its element `main`, and the footer.
    pub main: &'a str,
}

/// Returns the content of a page that this crate rendered as HTML; `None` for other text.
pub fn embedded(page: &str) -> Option<EmbeddedPage<'_>> {
    let (before, rest) = page.split_once(BODY_START)?;
    let (_, title) = before.split_once("<title>")?;
    let (title, _) = title.split_once("</title>")?;
    let body = rest.strip_suffix(BODY_END)?;
    let (head, main) = body.split_at(body.find(MAIN_START)?);
    Some(EmbeddedPage { title, head, main })
}

/// Returns the style rules of all pages, charts included.
pub fn stylesheet() -> String {
    [style::CSS, svg::CSS, svg::PAINT_CSS].concat()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::{Document, DocumentBlock};

    #[test]
    fn a_page_is_divided_without_loss() {
        let document = Document {
            title: "a </title><body> & \n</head>\n<body>\n b".to_owned(),
            under: vec![("x".to_owned(), "y".to_owned())],
            blocks: vec![
                DocumentBlock::Part("one".to_owned()),
                DocumentBlock::Text("</body>\n</html>\n<main id=\"result\">\n".to_owned()),
                DocumentBlock::Part("two".to_owned()),
                DocumentBlock::Footer("end".to_owned()),
            ],
        };
        let page = document.html();
        let parts = embedded(&page).unwrap();
        assert!(parts.title.starts_with("a &lt;/title&gt;"), "{parts:?}");
        assert!(parts.head.contains("<h1>") && parts.head.contains("class=\"toc\""));
        assert!(parts.main.starts_with(MAIN_START) && parts.main.ends_with("</footer>\n"));
        let body = [parts.head, parts.main].concat();
        assert!(page.ends_with(&[BODY_START, &body, BODY_END].concat()));
        assert_eq!(embedded("<html></html>"), None);
    }

    #[test]
    fn rules_of_pages_and_charts_are_together() {
        assert!(stylesheet().starts_with(style::CSS));
        assert!(stylesheet().contains(svg::PAINT_CSS));
    }
}
