//! Escapes untrusted text for a page: device models, labels and paths come from strangers.
//!
//! There is one function for each output format. None can fail, and all remove control characters: a terminal would
//! interpret them, and XML cannot represent them.

/// Replaces control characters, line breaks and bidirectional marks by U+FFFD, so that the replacement is visible.
pub fn plain(text: &str) -> String {
    text.chars()
        .map(|c| if commands(c) { '\u{FFFD}' } else { c })
        .collect()
}

fn commands(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{2028}' | '\u{2029}' | '\u{FFFE}' | '\u{FFFF}')
        || matches!(c, '\u{200E}' | '\u{200F}' | '\u{061C}' | '\u{202A}'..='\u{202E}' | '\u{2066}'..='\u{2069}')
}

/// Width of a text in terminal columns; wide East Asian characters take two. Characters of ambiguous width (`±`, `·`)
/// count as one.
pub fn columns_of(text: &str) -> usize {
    text.chars().map(|c| if is_wide(c) { 2 } else { 1 }).sum()
}

/// Whether a character takes two columns of a terminal.
///
/// Source: Unicode Standard Annex 11, East Asian Width `W` and `F`, in ranges.
pub(crate) fn is_wide(c: char) -> bool {
    matches!(c, '\u{1100}'..='\u{115F}' | '\u{2E80}'..='\u{A4CF}' | '\u{AC00}'..='\u{D7A3}' | '\u{F900}'..='\u{FAFF}'
        | '\u{FE30}'..='\u{FE6F}' | '\u{FF00}'..='\u{FF60}' | '\u{FFE0}'..='\u{FFE6}' | '\u{1F300}'..='\u{1FAFF}'
        | '\u{20000}'..='\u{3FFFD}')
}

/// Units that follow a number after a blank.
const UNITS: [&str; 27] = [
    "B", "kB", "MB", "GB", "TB", "KiB", "MiB", "GiB", "TiB", "PiB", "B/s", "kB/s", "MB/s", "GB/s",
    "KiB/s", "MiB/s", "IOPS", "ns", "µs", "ms", "s", "min", "h", "d", "MHz", "GHz", "ppm",
];

/// Whether a text begins with a unit, which belongs to the number before it.
pub(crate) fn begins_with_unit(text: &str) -> bool {
    let is_of_unit = |c: char| c.is_ascii_alphabetic() || matches!(c, 'µ' | '/');
    let end = text.find(|c| !is_of_unit(c)).unwrap_or(text.len());
    UNITS.contains(&&text[..end])
}

/// Pads a text with blanks at its end to a width in columns.
pub fn padded(text: &str, columns: usize) -> String {
    let blanks = columns.saturating_sub(columns_of(text));
    format!("{text}{:blanks$}", "")
}

/// Escapes text for HTML and XML, in elements and quoted attributes.
pub fn markup(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in plain(text).chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            c => out.push(c),
        }
    }
    out
}

/// Keeps each option of a command line, such as `--repeat=5`, on one line: browsers break after its hyphens.
fn with_whole_options(html: &str) -> String {
    let mut out = String::new();
    let mut rest = html;
    while let Some(at) = rest.find("--") {
        let is_of_option = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '=');
        let end = rest[at..].find(|c| !is_of_option(c));
        let end = end.map_or(rest.len(), |end| at + end);
        out += &format!(
            "{}<span class=\"whole\">{}</span>",
            &rest[..at],
            &rest[at..end]
        );
        rest = &rest[end..];
    }
    out + rest
}

/// Escapes prose for HTML: commands of hakaru are as [`with_commands`] shows them, and options stay on one line.
pub(crate) fn prose(text: &str) -> String {
    code(&with_whole_options(&markup(text)))
}

/// Beginnings of texts in backticks that are code: commands, and options of commands.
const CODE: [&str; 4] = ["hakaru ", "mkfs.", "active_logs=", "-J size="];

/// Escapes a text of a table or list for HTML: commands of hakaru and of file systems in backticks become elements of code.
/// Other backticks may be those of a name, and stay.
pub(crate) fn with_commands(text: &str) -> String {
    code(&markup(text))
}

fn code(escaped: &str) -> String {
    let mut out = String::with_capacity(escaped.len());
    let mut rest = escaped;
    while let Some((before, after)) = rest.split_once('`') {
        out += before;
        let quoted = after.split_once('`');
        match quoted.filter(|(code, _)| CODE.iter().any(|begin| code.starts_with(begin))) {
            Some((code, after)) => {
                out += &format!("<code>{code}</code>");
                rest = after;
            }
            None => {
                out.push('`');
                rest = after;
            }
        }
    }
    out + rest
}

/// Escapes text for a line or a table cell of Markdown: all special characters, including those of HTML.
pub(crate) fn markdown(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in plain(text).chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '\\' | '`' | '*' | '_' | '[' | ']' | '#' | '|' | '~' | '$' | '!' => {
                out.push('\\');
                out.push(c);
            }
            // GitHub links bare addresses with these characters: `http://`, `www.`, `a@b`.
            ':' if out.ends_with("http") || out.ends_with("https") || out.ends_with("ftp") => {
                out.push_str("&#58;")
            }
            '@' => out.push_str("&#64;"),
            '.' if out.to_ascii_lowercase().ends_with("www") => out.push_str("&#46;"),
            c => out.push(c),
        }
    }
    out
}

/// Escapes a field of CSV (RFC 4180): quoted if needed. Text that a spreadsheet would interpret as a formula gets a
/// leading apostrophe.
pub(crate) fn csv(text: &str) -> String {
    let mut text = plain(text);
    if text.starts_with(['=', '+', '-', '@']) {
        text.insert(0, '\'');
    }
    let quote = text.contains([',', '"', ';', '\'']) || text.trim() != text;
    if quote {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn hostile_names_lose_their_teeth() {
        assert_eq!(
            plain("a\u{1b}[31mred\r\n\u{202e}x"),
            "a\u{FFFD}[31mred\u{FFFD}\u{FFFD}\u{FFFD}x"
        );
        assert_eq!(
            markup("<script>alert('&\"')</script>"),
            "&lt;script&gt;alert(&#39;&amp;&quot;&#39;)&lt;/script&gt;"
        );
        assert_eq!(
            markdown("[x](http://y) | a_b *c* `d`"),
            "\\[x\\](http&#58;//y) \\| a\\_b \\*c\\* \\`d\\`"
        );
        assert_eq!(csv("=cmd|'/C calc'!A0"), "\"'=cmd|'/C calc'!A0\"");
        assert_eq!(csv("a, \"b\""), "\"a, \"\"b\"\"\"");
        assert_eq!(csv("SanDisk SD32G"), "SanDisk SD32G");
    }

    proptest! {
        #[test]
        fn markup_has_no_mark_left(text in any::<String>()) {
            let out = markup(&text);
            prop_assert!(!out.contains(['<', '>', '"', '\'']));
            prop_assert!(out.chars().all(|c| !c.is_control()));
            let entities = ["&amp;", "&lt;", "&gt;", "&quot;", "&#39;"];
            for (at, _) in out.match_indices('&') {
                prop_assert!(entities.iter().any(|e| out[at..].starts_with(e)));
            }
        }

        #[test]
        fn a_cell_of_markdown_stays_a_cell(text in any::<String>()) {
            let out = markdown(&text);
            prop_assert!(!out.contains(['\n', '\r', '<', '>']));
            let mut escaped = false;
            for c in out.chars() {
                prop_assert!(escaped || !matches!(c, '|' | '`' | '*' | '[' | '_'), "{}", out);
                escaped = c == '\\' && !escaped;
            }
        }

        #[test]
        fn a_field_of_csv_is_one_field(text in any::<String>()) {
            let out = csv(&text);
            if let Some(inner) = out.strip_prefix('"') {
                let inner = inner.strip_suffix('"').unwrap();
                prop_assert!(!inner.replace("\"\"", "").contains('"'));
            } else {
                prop_assert!(!out.contains([',', '"', '\n']));
                prop_assert!(!out.starts_with(['=', '+', '-', '@']));
            }
        }
    }

    #[test]
    fn options_in_prose_stay_on_one_line() {
        let whole = |option: &str| format!("<span class=\"whole\">{option}</span>");
        let of = prose;
        assert_eq!(
            of("測定は1回のみ。--repeat=5を推奨"),
            format!("測定は1回のみ。{}を推奨", whole("--repeat=5"))
        );
        assert_eq!(
            of("use --deep; or <--quick"),
            format!("use {}; or &lt;{}", whole("--deep"), whole("--quick"))
        );
        assert_eq!(of("1-bit – 4-bit"), "1-bit – 4-bit");
    }
}
