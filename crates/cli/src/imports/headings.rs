//! What headings say about a measurement besides the number of the repeat.

/// Words in headings that count repeats of one target.
const REPEATS: [&str; 18] = [
    "run", "runs", "trial", "try", "test", "repeat", "round", "pass", "attempt", "take", "no",
    "nr", "number", "first", "second", "third", "time", "again",
];

/// Longer ones.
const LONG_REPEATS: [&str; 2] = ["repetition", "iteration"];

/// Removes words that count repeats from a heading: `SD card, run 3` becomes `SD card`; `Run 2` and `2nd run` become
/// empty.
pub(super) fn without_repeat(heading: &str) -> String {
    let words: Vec<&str> = heading.split_whitespace().collect();
    let all = words.iter();
    if all
        .copied()
        .all(|word| is_number(word) || is_repeat(word) || bare(word).is_empty())
    {
        return String::new();
    }
    let beside = |at: usize, is: fn(&str) -> bool| {
        let places = [at.checked_sub(1), Some(at + 1)].into_iter().flatten();
        places.filter_map(|at| words.get(at)).any(|word| is(word))
    };
    let counts = |at: usize| {
        is_number(words[at]) && beside(at, is_repeat)
            || is_repeat(words[at]) && beside(at, is_number)
    };
    let kept = (0..words.len()).filter(|&at| !counts(at));
    let kept: Vec<&str> = kept.map(|at| words[at]).collect();
    let kept = kept.join(" ");
    kept.trim_end_matches([',', ':', '-', '–', '(', ')', ' '])
        .to_owned()
}

/// A word without punctuation around it, in lower case.
fn bare(word: &str) -> String {
    let word = word.trim_matches(|c: char| !c.is_alphanumeric());
    word.to_lowercase()
}

/// Whether a word is a number, such as `2`, `2nd` or `2回目`.
fn is_number(word: &str) -> bool {
    let word = bare(word);
    let digits = word.trim_end_matches(|c: char| c.is_alphabetic() || c == '回' || c == '目');
    !digits.is_empty()
        && digits.bytes().all(|b| b.is_ascii_digit())
        && ["", "st", "nd", "rd", "th", "回目", "回"].contains(&&word[digits.len()..])
}

fn is_repeat(word: &str) -> bool {
    let word = bare(word);
    [&REPEATS[..], &LONG_REPEATS]
        .concat()
        .contains(&word.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headings_that_count_repeats_are_ignored() {
        for repeat in [
            "Run 1",
            "run #2",
            "2nd run",
            "Second test",
            "3",
            "No. 4",
            "3回目",
            "Try again",
        ] {
            assert_eq!(without_repeat(repeat), "", "{repeat}");
        }
        assert_eq!(without_repeat("SD card, run 3"), "SD card");
        assert_eq!(without_repeat("Card 2"), "Card 2");
        assert_eq!(without_repeat("1. SD card"), "1. SD card");
    }
}
