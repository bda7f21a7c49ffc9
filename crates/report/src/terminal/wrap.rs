//! Wraps text to the width of a terminal.

use crate::escape::columns_of;

/// Gap between columns.
pub(super) const GAP: usize = 2;

/// Wraps words at `width`; following lines are indented by the length of `lead`.
pub fn wrapped(lead: &str, text: &str, width: usize) -> String {
    let indent = columns_of(lead);
    let room = width.saturating_sub(indent).max(20);
    format!(
        "{lead}{}",
        wrap(text, room).join(&format!("\n{:indent$}", ""))
    )
}

/// Splits a text into lines of at most `room` columns.
pub(super) fn wrap(text: &str, room: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split(' ') {
        for (at, piece) in pieces(word, room).into_iter().enumerate() {
            let gap = usize::from(at == 0);
            match lines.last_mut() {
                Some(line) if columns_of(line) + gap + columns_of(piece) <= room => {
                    line.push_str(&" "[..gap]);
                    line.push_str(piece);
                }
                _ => lines.push(piece.to_owned()),
            }
        }
    }
    lines
}

/// Splits a word that does not fit into a line (such as a path or mount options) at its commas and slashes.
fn pieces(word: &str, room: usize) -> Vec<&str> {
    if columns_of(word) <= room {
        vec![word]
    } else {
        word.split_inclusive([',', '/', ';', '-']).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_words_break_where_they_are_put_together() {
        let lines = wrapped(
            "Options  ",
            "rw,relatime,discard,resv_strict,resuid=65534 and more",
            29,
        );
        assert_eq!(
            lines,
            "Options  rw,relatime,discard,\n         resv_strict,\n         resuid=65534 and\n         more"
        );
    }
}
