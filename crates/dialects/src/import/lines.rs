//! Text as it comes: pasted into mails and articles, with marks of quotation, fences, colours and carriage returns.
//!
//! Leaves out what the lines mean.

/// One line of a source, without what was put around it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Line {
    /// Its number in the source, from 1.
    pub(super) number: usize,
    /// Its text; blanks in front are kept, those behind are not.
    pub(super) text: String,
}

impl Line {
    /// The text without blanks around it.
    pub(super) fn trimmed(&self) -> &str {
        self.text.trim()
    }
}

/// Takes a source apart. Fences of Markdown are left out, and what a carriage return overwrote is a line of its own.
pub(super) fn lines(text: &str) -> Vec<Line> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut lines = Vec::new();
    for (index, raw) in text.split('\n').enumerate() {
        let raw = raw.strip_suffix('\r').unwrap_or(raw);
        for piece in raw.split('\r') {
            let plain = without_colours(piece);
            let text = unlogged(unquoted(&plain)).trim_end();
            if !is_fence(text) {
                lines.push(Line { number: index + 1, text: text.to_owned() });
            }
        }
    }
    lines
}

/// Without the escape sequences of terminals (`ESC [ … letter`).
fn without_colours(text: &str) -> String {
    if !text.contains('\u{1b}') {
        return text.to_owned();
    }
    let mut out = String::with_capacity(text.len());
    let mut rest = text.chars();
    while let Some(c) = rest.next() {
        if c != '\u{1b}' {
            out.push(c);
        } else if rest.as_str().starts_with('[') {
            rest.find(|c| c.is_ascii_alphabetic());
        }
    }
    out
}

/// Without `> ` in front, however often.
fn unquoted(text: &str) -> &str {
    let mut text = text;
    while let Some(rest) = text.trim_start_matches([' ', '\t']).strip_prefix('>') {
        // What stands behind may be indented on purpose, so only one blank goes with the mark; `>=64` is no quotation.
        if rest.starts_with('=') {
            break;
        }
        text = rest.strip_prefix(' ').unwrap_or(rest);
    }
    text
}

/// Without what others put in front of each line of a program they run: `12:09:01 DEBUG| [stdout] `, and the moments of
/// `2024-05-01T10:00:00.1234567Z `. What stands behind may be indented on purpose.
fn unlogged(text: &str) -> &str {
    for channel in ["[stdout]", "[stderr]"] {
        if let Some((front, rest)) = text.split_once(channel).filter(|(front, _)| front.len() < 60) {
            return if front.contains(['=', ';', '{']) { text } else { rest.strip_prefix(' ').unwrap_or(rest) };
        }
    }
    let shape = |byte: u8| if byte.is_ascii_digit() { b'0' } else { byte };
    let moment = text.bytes().take(19).map(shape).eq(*b"0000-00-00T00:00:00");
    match text.split_once(' ').filter(|_| moment) {
        Some((_, rest)) => rest,
        None => text,
    }
}

fn is_fence(text: &str) -> bool {
    let text = text.trim_start();
    let fence = |mark: char| text.starts_with([mark; 3].iter().collect::<String>().as_str());
    (fence('`') || fence('~')) && text.trim_start_matches(['`', '~']).len() < 20
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(text: &str) -> Vec<String> {
        lines(text).into_iter().map(|line| line.text).collect()
    }

    #[test]
    fn what_was_put_around_a_text_is_taken_off() {
        let pasted = "\u{feff}> > a: (g=0)\n>   b\n```text\n    c  \n```\r\n\u{1b}[1;32md\u{1b}[0m\n>=64\nold\rnew\n";
        assert_eq!(texts(pasted), ["a: (g=0)", "  b", "    c", "d", ">=64", "old", "new", ""]);
    }

    #[test]
    fn what_a_log_put_in_front_is_taken_off() {
        let logged =
            "12:09:01 DEBUG| [stdout] a: (g=0)\n12:09:01 DEBUG| [stdout]   b\n2024-05-01T10:00:00.1234567Z   c\n";
        assert_eq!(texts(logged), ["a: (g=0)", "  b", "  c", ""]);
        assert_eq!(texts("x=1 [stdout] y\n2024-05-01 10:00"), ["x=1 [stdout] y", "2024-05-01 10:00"]);
    }

    #[test]
    fn lines_keep_their_numbers() {
        let numbers: Vec<usize> = lines("a\n```\nb\rc").iter().map(|line| line.number).collect();
        assert_eq!(numbers, [1, 3, 3]);
    }
}
