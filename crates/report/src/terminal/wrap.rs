//! Wraps text to the width of a terminal.

use crate::escape::{begins_with_unit, columns_of, is_wide};

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

/// Splits a text at its blanks, except between a number and its unit.
fn words(text: &str) -> Vec<&str> {
    let mut words: Vec<&str> = Vec::new();
    let mut start = 0;
    for (at, _) in text.match_indices(' ') {
        let (before, after) = (&text[start..at], &text[at + 1..]);
        let joins = before.ends_with(|c: char| c.is_ascii_digit()) && begins_with_unit(after);
        if !joins {
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

/// Width of the longest word of a text.
pub(super) fn longest_word(text: &str) -> usize {
    let pieces = words(text)
        .into_iter()
        .flat_map(|word| pieces(word, usize::MAX));
    pieces.map(columns_of).max().unwrap_or(0)
}

/// Splits a word where a line may break. Japanese breaks between words, as far as the kinds of characters show them,
/// and only in a word that does not fit into a line between any characters. Other words that do not fit (such as a path
/// or mount options) break after their commas and slashes.
fn pieces(word: &str, room: usize) -> Vec<&str> {
    let between_words = split(word, |before, after| !is_one_word(before, after));
    let is_too_long = |piece: &str| piece.contains(is_wide) && columns_of(piece) > room;
    let fitting = between_words.into_iter().flat_map(|piece| {
        match is_too_long(piece) {
            // Compounds such as 長時間連続書き込み.
            true => split(piece, |before, after| {
                [before, after].map(Script::of) == [Script::Kanji; 2]
            }),
            false => vec![piece],
        }
    });
    let fitting = fitting.flat_map(|piece| match is_too_long(piece) {
        true => split(piece, |_, _| true),
        false => vec![piece],
    });
    fitting.flat_map(|piece| cut(piece, room)).collect()
}

/// Japanese words of more columns than this may be divided in the heading of a narrow column.
const LONG_WORD: usize = 12;

/// Splits the heading of a narrow column where its lines may break: Japanese breaks between words, and long words near
/// their middle.
pub(crate) fn heading_parts(text: &str) -> Vec<&str> {
    let between_words = split(text, |before, after| !is_one_word(before, after));
    let parts = between_words.into_iter().flat_map(|word| {
        let is_long = word.contains(is_wide) && columns_of(word) > LONG_WORD;
        match halves(word).filter(|_| is_long) {
            Some((first, last)) => vec![first, last],
            None => vec![word],
        }
    });
    parts.collect()
}

/// Divides a word without blanks near its middle: a compound between two of its Kanji, otherwise between any characters.
fn halves(word: &str) -> Option<(&str, &str)> {
    let is_kanji = |before, after| [before, after].map(Script::of) == [Script::Kanji; 2];
    let places = |allowed: fn(char, char) -> bool| {
        let mut at = 0;
        let ends = split(word, allowed).into_iter().map(move |piece| {
            at += piece.len();
            at
        });
        let inside = ends.filter(|at| *at < word.len() && !word[*at..].starts_with('ン'));
        // Of two places as near, the later one: 長時間連続|書き込み.
        inside.min_by_key(|at| (word.len().abs_diff(2 * at), std::cmp::Reverse(*at)))
    };
    let at = places(is_kanji).or_else(|| places(|_, _| true))?;
    Some(word.split_at(at))
}

/// Splits a text without blanks next to wide characters, where `allowed` permits it.
fn split(text: &str, allowed: impl Fn(char, char) -> bool) -> Vec<&str> {
    let places = text.char_indices().zip(text.chars().skip(1));
    let breaks = places.filter(|&((_, before), after)| {
        (is_wide(before) || is_wide(after))
            && !NOT_FIRST.contains(after)
            && !NOT_LAST.contains(before)
            && allowed(before, after)
    });
    let mut pieces = Vec::new();
    let mut start = 0;
    for ((at, before), _) in breaks {
        let end = at + before.len_utf8();
        pieces.push(&text[start..end]);
        start = end;
    }
    pieces.push(&text[start..]);
    pieces
}

/// Kinds of characters of Japanese words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Script {
    Hiragana,
    Katakana,
    Kanji,
    Other,
}

impl Script {
    fn of(c: char) -> Script {
        match c {
            'ぁ'..='ゟ' => Script::Hiragana,
            'ァ'..='ヺ' | 'ー'..='ヿ' => Script::Katakana,
            '一'..='鿿' | '々' => Script::Kanji,
            _ => Script::Other,
        }
    }
}

/// Whether two adjacent characters probably belong to one word: of one kind, with an ending or a particle, or a number
/// with its counter.
fn is_one_word(before: char, after: char) -> bool {
    match (Script::of(before), Script::of(after)) {
        // 書き込み, 読み込み, 読み書き
        (Script::Hiragana, Script::Kanji) => after == '込' || (before, after) == ('み', '書'),
        (Script::Katakana | Script::Kanji, Script::Hiragana) => true,
        (Script::Other, Script::Kanji) => before.is_ascii_digit(),
        (Script::Other, _) => false,
        (left, right) => left == right,
    }
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
    fn headings_break_between_words_and_in_the_middle_of_long_ones() {
        for (text, parts) in [
            ("シーケンシャル書き込み", "シーケン|シャル|書き込み"),
            ("ランダム読み込み", "ランダム|読み込み"),
            ("長時間連続書き込み", "長時間連続|書き込み"),
            ("読み書き混合の書き込み", "読み書き|混合の|書き込み"),
            ("NAS・写真保管", "NAS・|写真保管"),
            ("Sequential writes", "Sequential writes"),
        ] {
            assert_eq!(heading_parts(text).join("|"), parts);
        }
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
        assert_eq!(
            wrap("シーケンシャル読み込みを10回", 16),
            ["シーケンシャル", "読み込みを10回"]
        );
        assert_eq!(wrap("シーケンシャル", 8), ["シーケン", "シャル"]);
        assert_eq!(wrap("NAS・写真保管", 8), ["NAS・", "写真保管"]);
        assert_eq!(wrap("長時間連続書き込み", 16), ["長時間連続", "書き込み"]);
        assert_eq!(longest_word("シーケンシャル書き込み"), 14);
    }
}
