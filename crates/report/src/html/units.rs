//! Keeps numbers and their units on one line.

use crate::escape::begins_with_unit;

const NO_BREAK: char = '\u{a0}';

/// Replaces the blanks between numbers and units in running text by no-break spaces. Cells with figures do not wrap,
/// and pictures have no lines: both stay as they are.
pub(super) fn joined(html: &str) -> String {
    let mut out = String::with_capacity(html.len() + html.len() / 64);
    let mut rest = html;
    // The end of the element that stays as it is.
    let mut until: Option<&str> = None;
    while let Some((text, tag)) = next_tag(rest) {
        match until {
            None => out.extend(join_text(text)),
            Some(_) => out.push_str(text),
        }
        out.push_str(tag);
        rest = &rest[text.len() + tag.len()..];
        match until {
            Some(end) if tag == end => until = None,
            Some(_) => {}
            None => until = end_of_kept(tag),
        }
    }
    out.extend(join_text(rest));
    out
}

/// Removes end tags of cells and rows where the next tag implies them (HTML standard, section 13.1.2.4): about a tenth
/// of a page with many tables.
pub(super) fn without_implied_end_tags(html: &str) -> String {
    let ends = [
        ("</td></tr>", ""),
        ("</th></tr>\n<tr", "\n<tr"),
        ("</td><td", "<td"),
        ("</th><td", "<td"),
        ("</th><th", "<th"),
    ];
    ends.iter()
        .fold(html.to_owned(), |html, (from, to)| html.replace(from, to))
}

/// The text before the next tag, and the tag.
fn next_tag(html: &str) -> Option<(&str, &str)> {
    let start = html.find('<')?;
    let end = start + html[start..].find('>')? + 1;
    Some((&html[..start], &html[start..end]))
}

/// The end tag of an element without running text.
fn end_of_kept(tag: &str) -> Option<&'static str> {
    let is = |name: &str| {
        let rest = tag.strip_prefix('<').and_then(|tag| tag.strip_prefix(name));
        rest.is_some_and(|rest| rest.starts_with([' ', '>']))
    };
    match () {
        () if is("svg") => Some("</svg>"),
        () if is("td") && !tag.contains("words") => Some("</td>"),
        () => None,
    }
}

fn join_text(text: &str) -> impl Iterator<Item = char> {
    text.char_indices().map(move |(at, c)| {
        let is_kept = c == ' '
            && text[..at].ends_with(|before: char| before.is_ascii_digit())
            && begins_with_unit(&text[at + 1..]);
        if is_kept { NO_BREAK } else { c }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_keep_their_units_in_running_text_only() {
        let cases = [
            ("<p>33.6 ± 0.2 MB/s</p>", "<p>33.6 ± 0.2\u{a0}MB/s</p>"),
            ("61.0 KiB、7 µs", "61.0\u{a0}KiB、7\u{a0}µs"),
            (
                "<p>2 min 5 s</p> 3 runs",
                "<p>2\u{a0}min 5\u{a0}s</p> 3 runs",
            ),
            ("5 sets of 3 data", "5 sets of 3 data"),
            (
                "<td>4 KiB</td><td class=\"words\">4 KiB</td>",
                "<td>4 KiB</td><td class=\"words\">4\u{a0}KiB</td>",
            ),
            (
                "<svg a=\"1 s\"><text>1 s</text></svg>1 s",
                "<svg a=\"1 s\"><text>1 s</text></svg>1\u{a0}s",
            ),
            ("<b title=\"1 s\">x</b>", "<b title=\"1 s\">x</b>"),
        ];
        for (html, wanted) in cases {
            assert_eq!(joined(html), wanted);
        }
    }

    #[test]
    fn implied_end_tags_are_left_out() {
        let table = "<table><thead><tr><th>a</th><th>b</th></tr></thead>\n\
                     <tr><th>c</th><td>1</td></tr>\n<tr><th>d</th><td>2</td></tr>\n</table><p>e</p>";
        let short = "<table><thead><tr><th>a<th>b</th></tr></thead>\n\
                     <tr><th>c<td>1\n<tr><th>d<td>2\n</table><p>e</p>";
        assert_eq!(without_implied_end_tags(table), short);
    }
}
