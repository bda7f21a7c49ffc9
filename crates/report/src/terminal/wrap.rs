//! Wraps text to the width of a terminal.

use crate::escape::{columns_of, is_wide};

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
    for word in words(text) {
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

/// Splits a text at its blanks, in Japanese text except between a number and its unit.
fn words(text: &str) -> Vec<&str> {
    let japanese = text.contains(is_wide);
    let mut words: Vec<&str> = Vec::new();
    let mut start = 0;
    for (at, _) in text.match_indices(' ') {
        let (before, after) = (&text[start..at], &text[at + 1..]);
        let unit = before.ends_with(|c: char| c.is_ascii_digit())
            && after.starts_with(|c: char| c.is_ascii_alphabetic());
        if !(japanese && unit) {
            words.push(before);
            start = at + 1;
        }
    }
    words.push(&text[start..]);
    words
}

/// Characters that may not begin a line.
const NOT_FIRST: &str =
    "、。，．・：；？！）〕］｝〉》」』】〜～ーぁぃぅぇぉっゃゅょァィゥェォッャュョ々%°,.:;)]";
/// Characters that may not end a line.
const NOT_LAST: &str = "（〔［｛〈《「『【([約第全各";

/// Splits a word where a line may break: between two characters if one of them is wide, and in a word that does not
/// fit into a line (such as a path or mount options) after its commas and slashes.
fn pieces(word: &str, room: usize) -> Vec<&str> {
    if word.contains(is_wide) {
        let mut pieces = Vec::new();
        let mut rest = word;
        while let Some(end) = first_break(rest) {
            let (piece, more) = rest.split_at(end);
            pieces.extend(cut(piece, room));
            rest = more;
        }
        pieces.extend(cut(rest, room));
        return pieces;
    }
    cut(word, room)
}

/// The first place at which a line of a text without blanks may break.
fn first_break(text: &str) -> Option<usize> {
    let places = text.char_indices().zip(text.chars().skip(1));
    let mut allowed = places.filter(|&((_, before), after)| {
        (is_wide(before) || is_wide(after))
            && !NOT_FIRST.contains(after)
            && !NOT_LAST.contains(before)
    });
    allowed
        .next()
        .map(|((at, before), _)| at + before.len_utf8())
}

/// Splits a word that is too long at its punctuation.
fn cut(word: &str, room: usize) -> Vec<&str> {
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

    #[test]
    fn japanese_breaks_between_characters_but_not_before_marks() {
        let text = "測定は3回のみで、ばらつきの推定は不確か（分散5.25 MB/s）。5回以上を推奨";
        for room in 20..60 {
            let lines = wrap(text, room);
            assert_eq!(lines.concat(), text);
            for line in &lines {
                assert!(columns_of(line) <= room, "{room}: {line}");
                assert!(
                    !line.starts_with(['、', '。', '）', 'ー', 'っ', '%']),
                    "{line}"
                );
                assert!(!line.ends_with('（'), "{line}");
            }
            assert!(
                lines.iter().any(|line| line.contains("5.25 MB/s")),
                "{room}: {lines:?}"
            );
        }
        assert_eq!(
            wrap("microSDカードのP99", 9),
            ["microSD", "カードの", "P99"]
        );
    }
}
