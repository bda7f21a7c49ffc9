//! Finds the text elements of a chart: for outlines, and for tests of the layout.

use std::ops::Range;

/// A text element of a chart.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct TextElement {
    /// Position of the element in the document.
    pub(crate) range: Range<usize>,
    pub(crate) x: f64,
    /// Baseline.
    pub(crate) y: f64,
    /// Share of the text before `x`: 0, 0.5 or 1.
    pub(crate) anchor: f64,
    pub(crate) class: String,
    pub(crate) runs: Vec<TextRun>,
}

/// Text of one style.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct TextRun {
    pub(crate) text: String,
    /// Its own classes, without those of the element.
    pub(crate) class: String,
    /// Font size in pixels.
    pub(crate) size: f64,
    pub(crate) bold: bool,
}

/// The text elements of a chart in their order.
pub(crate) fn texts(svg: &str) -> Vec<TextElement> {
    let mut found = Vec::new();
    let mut from = 0;
    while let Some(at) = svg[from..].find("<text ").map(|at| from + at) {
        let Some(end) = svg[at..]
            .find("</text>")
            .map(|end| at + end + "</text>".len())
        else {
            break;
        };
        found.extend(element(svg, at..end));
        from = end;
    }
    found
}

fn element(svg: &str, range: Range<usize>) -> Option<TextElement> {
    let (head, content) = svg[range.clone()].split_once('>')?;
    let content = content.strip_suffix("</text>")?;
    let class = attribute(head, "class").unwrap_or_default().to_owned();
    let anchor = match attribute(head, "text-anchor") {
        Some("middle") => 0.5,
        Some("end") => 1.0,
        _ => 0.0,
    };
    let run = |text: &str, own: &str| TextRun {
        text: unescaped(text),
        class: own.to_owned(),
        size: size_of(&class),
        bold: is_bold(&class) || is_bold(own),
    };
    let mut runs = Vec::new();
    for part in content.split("<tspan").filter(|part| !part.is_empty()) {
        let styled = part.split_once('>').and_then(|(head, text)| {
            let (text, rest) = text.split_once("</tspan>")?;
            Some((attribute(head, "class").unwrap_or_default(), text, rest))
        });
        let (own, text, rest) = styled.unwrap_or(("", "", part));
        let both = [(text, own), (rest, "")];
        let both = both.into_iter().filter(|(text, _)| !text.is_empty());
        runs.extend(both.map(|(text, own)| run(text, own)));
    }
    Some(TextElement {
        x: attribute(head, "x")?.parse().ok()?,
        y: attribute(head, "y")?.parse().ok()?,
        range,
        anchor,
        class,
        runs,
    })
}

fn attribute<'t>(head: &'t str, name: &str) -> Option<&'t str> {
    let (_, from) = head.split_once(&format!(" {name}=\""))?;
    from.split_once('"').map(|(value, _)| value)
}

/// Font size of a text by its classes, as in the style rules.
fn size_of(class: &str) -> f64 {
    let has = |name: &str| class.split(' ').any(|known| known == name);
    match class {
        _ if has("hk-title") => 16.0,
        _ if has("hk-sub") || has("hk-name") || has("hk-value") => 13.0,
        _ => 12.0,
    }
}

fn is_bold(class: &str) -> bool {
    let bold = ["hk-title", "hk-name", "hk-y", "hk-b", "hk-o"];
    class.split(' ').any(|known| bold.contains(&known))
}

/// Reverses [`markup`](crate::escape::markup).
fn unescaped(text: &str) -> String {
    let named = [
        ("&lt;", "<"),
        ("&gt;", ">"),
        ("&quot;", "\""),
        ("&#39;", "'"),
        ("&amp;", "&"),
    ];
    named
        .iter()
        .fold(text.to_owned(), |text, (from, to)| text.replace(from, to))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_text_with_its_style() {
        let svg = "<text x=\"1\" y=\"2.5\" class=\"hk-m\" text-anchor=\"end\">a &amp;lt; b</text>\n\
            <text x=\"0\" y=\"9\" class=\"hk-value\" xml:space=\"preserve\"><tspan class=\"hk-y\">3</tspan>\
            <tspan class=\"hk-t\"> ± 1</tspan> a</text>";
        let found = texts(svg);
        assert_eq!(found.len(), 2);
        assert_eq!((found[0].x, found[0].y, found[0].anchor), (1.0, 2.5, 1.0));
        assert_eq!(found[0].runs[0].text, "a &lt; b");
        let runs: Vec<(&str, f64, bool)> = found[1]
            .runs
            .iter()
            .map(|run| (run.text.as_str(), run.size, run.bold))
            .collect();
        assert_eq!(
            runs,
            [
                ("3", 13.0, true),
                (" ± 1", 13.0, false),
                (" a", 13.0, false)
            ]
        );
        assert_eq!(&svg[found[1].range.clone()][..6], "<text ");
    }
}
