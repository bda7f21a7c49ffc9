//! Cleans up pasted text: quotation marks of mails, Markdown fences, color codes and carriage returns.
//!
//! Does not interpret the lines.

use std::borrow::Cow;

/// One cleaned line of a source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct SourceLine {
    /// Line number in the source, from 1.
    pub(super) number: usize,
    /// Text with leading blanks, without trailing ones.
    pub(super) text: String,
    /// Whether it is inside a Markdown code fence.
    pub(super) fenced: bool,
}

impl SourceLine {
    /// The text without surrounding blanks.
    pub(super) fn trimmed(&self) -> &str {
        self.text.trim()
    }
}

/// Minimum number of `=3D` that marks a text as quoted-printable.
const QUOTED: usize = 3;

/// Splits text into numbered lines; quoted-printable mail is decoded and joined.
fn physical_lines(text: &str) -> Vec<(usize, Cow<'_, str>)> {
    let mut lines = text
        .split('\n')
        .map(|line| line.strip_suffix('\r').unwrap_or(line))
        .zip(1..);
    if text.matches("=3D").take(QUOTED).count() < QUOTED {
        return lines
            .map(|(line, number)| (number, Cow::Borrowed(line)))
            .collect();
    }
    let mut decoded = Vec::new();
    while let Some((line, number)) = lines.next() {
        let mut whole = line.to_owned();
        // A line that ends in `=` continues in the next one, which repeats the quotation marks.
        while whole.ends_with('=') {
            whole.pop();
            let Some((next, _)) = lines.next() else { break };
            whole.push_str(next);
        }
        decoded.push((number, Cow::Owned(unescaped(&whole))));
    }
    decoded
}

/// Decodes `=3D` to `=` and `=C2=B5` to `µ`. Invalid escapes are kept.
fn unescaped(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut out = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        let hex = |place: usize| {
            bytes
                .get(place)
                .and_then(|digit| char::from(*digit).to_digit(16))
        };
        match hex(at + 1).zip(hex(at + 2)).filter(|_| byte == b'=') {
            Some((high, low)) => {
                out.push((high * 16 + low) as u8);
                at += 3;
            }
            None => {
                out.push(byte);
                at += 1;
            }
        }
    }
    String::from_utf8_lossy(&out).into_owned()
}

/// Splits a source into lines. Markdown fences are skipped, and text overwritten after a carriage
/// return is a separate line.
pub(super) fn lines(text: &str) -> Vec<SourceLine> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let (mut lines, mut fenced) = (Vec::new(), false);
    for (number, raw) in physical_lines(text) {
        for piece in raw.split('\r') {
            let plain = without_colours(piece);
            let text = unlogged(unquoted(&plain)).trim_end();
            if is_fence(text) {
                fenced = !fenced;
            } else {
                lines.push(SourceLine {
                    number,
                    text: text.to_owned(),
                    fenced,
                });
            }
        }
    }
    lines
}

/// Removes the escape sequences of terminals (`ESC [ … letter`).
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

/// Removes leading `> `, however often repeated.
fn unquoted(text: &str) -> &str {
    let mut text = text;
    while let Some(rest) = text.trim_start_matches([' ', '\t']).strip_prefix('>') {
        // The rest may be indented intentionally, so only one space is removed with the mark;
        // `>=64` is not a quotation.
        if rest.starts_with('=') {
            break;
        }
        text = rest.strip_prefix(' ').unwrap_or(rest);
    }
    text
}

/// Removes log prefixes such as `12:09:01 DEBUG| [stdout] ` and `2024-05-01T10:00:00.1234567Z `.
/// The rest may be indented intentionally.
fn unlogged(text: &str) -> &str {
    for channel in ["[stdout]", "[stderr]"] {
        if let Some((front, rest)) = text
            .split_once(channel)
            .filter(|(front, _)| front.len() < 60)
        {
            return if front.contains(['=', ';', '{']) {
                text
            } else {
                rest.strip_prefix(' ').unwrap_or(rest)
            };
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
        assert_eq!(
            texts(pasted),
            ["a: (g=0)", "  b", "    c", "d", ">=64", "old", "new", ""]
        );
    }

    #[test]
    fn what_a_log_put_in_front_is_taken_off() {
        let logged = "12:09:01 DEBUG| [stdout] a: (g=0)\n12:09:01 DEBUG| [stdout]   b\n2024-05-01T10:00:00.1234567Z   c\n";
        assert_eq!(texts(logged), ["a: (g=0)", "  b", "  c", ""]);
        assert_eq!(
            texts("x=1 [stdout] y\n2024-05-01 10:00"),
            ["x=1 [stdout] y", "2024-05-01 10:00"]
        );
    }

    #[test]
    fn mails_that_were_encoded_are_decoded() {
        let mail = "  read: IOPS=3D22, BW=3D22.7MiB/s =\n(23.8MB/s)\r\n    lat (=C2=B5sec): min=3D1=\r\n5, x=Z1\n";
        assert_eq!(
            texts(mail),
            [
                "  read: IOPS=22, BW=22.7MiB/s (23.8MB/s)",
                "    lat (µsec): min=15, x=Z1",
                ""
            ]
        );
        assert_eq!(
            lines(mail)
                .iter()
                .map(|line| line.number)
                .collect::<Vec<_>>(),
            [1, 3, 5]
        );
        assert_eq!(texts("a=3D\nb="), ["a=3D", "b="]);
    }

    #[test]
    fn lines_keep_their_numbers() {
        let numbers: Vec<usize> = lines("a\n```\nb\rc")
            .iter()
            .map(|line| line.number)
            .collect();
        assert_eq!(numbers, [1, 3, 3]);
    }
}
