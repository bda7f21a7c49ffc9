//! Strips comments and strings from Rust source, so that a word found is part of the code.
//!
//! Not a parser: it only finds the start and end of comments, strings and characters.

/// Replaces comments, strings and character literals with blanks; lines and columns stay the same.
pub(crate) fn code_only(source: &str) -> String {
    scanned(source).code
}

/// The quoted texts with their quotes, and their places in bytes.
pub(crate) fn strings(source: &str) -> Vec<(usize, &str)> {
    scanned(source).strings
}

fn scanned(source: &str) -> CodeScanner<'_> {
    let mut scanner = CodeScanner {
        source,
        rest: source,
        code: String::with_capacity(source.len()),
        strings: Vec::new(),
    };
    while !scanner.rest.is_empty() {
        scanner.step();
    }
    scanner
}

struct CodeScanner<'a> {
    source: &'a str,
    rest: &'a str,
    code: String,
    strings: Vec<(usize, &'a str)>,
}

impl CodeScanner<'_> {
    fn step(&mut self) {
        let rest = self.rest;
        if rest.starts_with("//") {
            self.blank(rest.find('\n').unwrap_or(rest.len()));
        } else if rest.starts_with("/*") {
            self.blank(block_comment(rest));
        } else if let Some(len) = raw_string(rest).filter(|_| !self.within_word()) {
            self.blank(len);
        } else if rest.starts_with('"') {
            let len = quoted(rest, '"');
            self.strings
                .push((self.source.len() - rest.len(), &rest[..len]));
            self.blank(len);
        } else if let Some(len) = character(rest) {
            self.blank(len);
        } else {
            self.keep();
        }
    }

    /// Whether the previous character belongs to a name, like the `r` of `for`.
    fn within_word(&self) -> bool {
        self.code
            .chars()
            .next_back()
            .is_some_and(|c| c.is_alphanumeric() || c == '_')
    }

    fn keep(&mut self) {
        let mut chars = self.rest.chars();
        self.code.extend(chars.next());
        self.rest = chars.as_str();
    }

    fn blank(&mut self, len: usize) {
        let (gone, rest) = self.rest.split_at(len);
        // As many bytes as before, so that places agree.
        let blanks = gone.bytes();
        let blank = |byte| if byte == b'\n' { '\n' } else { ' ' };
        self.code.extend(blanks.map(blank));
        self.rest = rest;
    }
}

/// Length of the block comment that starts here, with nested ones.
fn block_comment(text: &str) -> usize {
    let mut depth = 0usize;
    let mut at = 0;
    while at < text.len() {
        let rest = &text.as_bytes()[at..];
        if rest.starts_with(b"/*") {
            depth += 1;
            at += 2;
        } else if rest.starts_with(b"*/") {
            depth -= 1;
            at += 2;
            if depth == 0 {
                return at;
            }
        } else {
            at += 1;
        }
    }
    text.len()
}

/// Length of the raw string that starts here, if any.
fn raw_string(text: &str) -> Option<usize> {
    let body = text
        .strip_prefix("br")
        .or_else(|| text.strip_prefix("cr"))
        .or_else(|| text.strip_prefix('r'))?;
    let opened = body.trim_start_matches('#');
    let hashes = body.len() - opened.len();
    let inside = opened.strip_prefix('"')?;
    let close = format!("\"{}", "#".repeat(hashes));
    let end = inside
        .find(&close)
        .map_or(inside.len(), |at| at + close.len());
    Some(text.len() - inside.len() + end)
}

/// Length of a quoted text with backslash escapes, including the quotes.
fn quoted(text: &str, quote: char) -> usize {
    let mut chars = text.char_indices().skip(1);
    while let Some((at, c)) = chars.next() {
        match c {
            '\\' => drop(chars.next()),
            c if c == quote => return at + c.len_utf8(),
            _ => {}
        }
    }
    text.len()
}

/// Length of the character literal that starts here; `None` for a lifetime.
fn character(text: &str) -> Option<usize> {
    let inside = text.strip_prefix('\'')?;
    let mut chars = inside.chars();
    let first = chars.next()?;
    (first == '\\' || chars.next() == Some('\'')).then(|| quoted(text, '\''))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_program_stays() {
        for (source, code) in [
            ("a // b\nc", "a ____\nc"),
            ("a /* b /* c */ d */ e", "a _________________ e"),
            ("f(\"x // \\\" y\", 1)", "f(___________, 1)"),
            ("let a = r#\"un\"safe\"#;", "let a = ____________;"),
            ("for \"x\" in", "for ___ in"),
            (
                "fn f<'a>(c: &'a str) { c == '\"' || c == '\\'' }",
                "fn f<'a>(c: &'a str) { c == ___ || c == ____ }",
            ),
            ("br\"x\" b'\"' r", "_____ b___ r"),
        ] {
            // An underscore represents a space, to make lengths visible.
            assert_eq!(code_only(source), code.replace('_', " "), "{source}");
        }
    }

    #[test]
    fn an_unclosed_text_ends_with_the_file() {
        for source in ["\"abc", "/* abc", "r##\"abc\"#", "'\\", "'"] {
            assert_eq!(code_only(source).len(), source.len(), "{source}");
        }
    }

    #[test]
    fn lines_stay_where_they_are() {
        let source = include_str!("scan.rs");
        assert_eq!(code_only(source).lines().count(), source.lines().count());
        assert!(!code_only(source).contains("un\"safe"));
    }
}
