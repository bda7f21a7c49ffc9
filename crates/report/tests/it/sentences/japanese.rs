//! Rules for Japanese sentences.

use hakaru_report::{Language, with_language};

/// Words that another term of the glossary replaces, and marks that belong to other conventions.
const WRONG: [&str; 18] = [
    "読み取り",
    "読み出し",
    "計測",
    "レイヤー",
    "サマリ",
    "スループット率",
    "全て",
    "出来",
    "及び",
    "下さい",
    "することができ",
    "あなた",
    "：",
    "％",
    "，",
    "．",
    "。。",
    "、、",
];

/// English words and values of the samples that stand in Japanese sentences: programs, options, and text of records.
const LATIN: [&str; 11] = [
    "hakaru bench",
    "sudo setcap",
    "sudo mount -t tracefs tracefs",
    "command -v hakaru",
    "hakaru campaign",
    "os error",
    "perf events",
    "discard(TRIM)",
    "mkfs.vfat /dev/sdX",
    "A warning of the parser",
    "as it was",
];

/// The text in English, after a check of the one in Japanese. `stored` are parts that come from records as they are.
pub(crate) fn in_both(stored: &[String], text: impl Fn() -> String) -> String {
    let english = text();
    let has_japanese = |said: &str| said.chars().any(|c| ('\u{3040}'..'\u{a000}').contains(&c));
    assert!(!has_japanese(&english), "{english}");
    let mut said = with_language(Language::Japanese, &text);
    for known in stored.iter().map(String::as_str).chain(LATIN) {
        said = said.replace(known, "X");
    }
    assert!(!said.is_empty(), "{english}");
    assert!(has_japanese(&said) || said == "X", "{said}");
    for wrong in WRONG {
        assert!(!said.contains(wrong), "{wrong:?} in: {said}");
    }
    for wrong in [
        "{", "}", "  ", " %", "‰", "Some(", "..", "\n", " 、", " 。", "。 ",
    ] {
        assert!(!said.contains(wrong), "{wrong:?} in: {said}");
    }
    assert!(!said.ends_with(['。', ' ', ':', '、']), "{said}");
    assert!(said.chars().count() < 160, "{said}");
    if let Some(words) = english_words(&said) {
        panic!("{words:?} in: {said}");
    }
    english
}

/// Two lower-case English words next to each other: part of a sentence that is not translated.
fn english_words(said: &str) -> Option<(&str, &str)> {
    let word = |word: &&str| word.len() > 1 && word.bytes().all(|b| b.is_ascii_lowercase());
    let words: Vec<&str> = said.split(' ').collect();
    let pair = words.windows(2).find(|pair| pair.iter().all(word))?;
    Some((pair[0], pair[1]))
}
