//! Checks the style of Japanese texts: each kind of text has one register and the same terms.
//!
//! Answers, verdicts, findings, tables, charts, pages and the help are plain (体言止め or である); what speaks to a
//! person, such as messages, errors and advice, is polite (です・ます).

use super::scan::strings;
use super::{Problem, TextFile};

/// How the texts of a file end their sentences.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Register {
    Plain,
    Polite,
}

/// Registers by the beginning of the path; the first that fits applies.
const REGISTERS: &[(&str, Register)] = &[
    ("crates/report/src/text/ja/advice.rs", Register::Polite),
    ("crates/report/src/text/ja/commands.rs", Register::Polite),
    ("crates/report/src/text/ja/links.rs", Register::Polite),
    ("crates/report/src/text/", Register::Plain),
    ("crates/campaign/src/campaign/check.rs", Register::Plain),
    ("crates/campaign/src/campaign/estimate.rs", Register::Plain),
    ("crates/campaign/src/campaign/gather", Register::Plain),
    ("crates/campaign/src/campaign/operator.rs", Register::Plain),
    ("crates/campaign/src/campaign/status.rs", Register::Plain),
    ("crates/campaign/src/bench/remarks.rs", Register::Plain),
    ("crates/campaign/src/", Register::Polite),
    ("crates/cli/src/help/ja.rs", Register::Plain),
    ("crates/cli/src/", Register::Polite),
];

/// Polite words, which no plain text contains.
const POLITE: &[&str] = &["です", "ます", "ません", "ました", "でした", "ください"];

/// Ends of plain sentences, which no polite text contains.
const PLAIN: &[&str] = &[
    "である",
    "だ",
    "ない",
    "する",
    "した",
    "れる",
    "れた",
    "きる",
    "きた",
    "なる",
    "った",
    "ある",
    "いる",
    "える",
    "こと",
];

/// Words and marks that no text contains, and what to write instead.
const TERMS: &[(&str, &str)] = &[
    ("読み取", "読み込"),
    ("計測", "測定"),
    ("レイヤー", "レイヤ"),
    ("サマリ", "概要"),
    ("カタログ値", "公称値"),
    ("コントローラー", "コントローラ"),
    ("：", ": "),
    ("％", "%"),
    ("，", "、"),
    ("．", "。"),
    ("全て", "すべて"),
    ("出来", "でき"),
    ("及び", "と"),
    ("下さい", "ください"),
    ("ことができ", "でき"),
    ("あなた", ""),
];

/// Checks the texts in the source files.
pub(super) fn check(files: &[TextFile]) -> Vec<Problem> {
    let register = |file: &TextFile| {
        let mut known = REGISTERS.iter();
        let found = known.find(|(path, _)| file.path.starts_with(path));
        found.map(|(_, register)| *register)
    };
    let texts = files.iter().filter(|file| {
        file.is_rust() && !file.path.ends_with("tests.rs") && !file.path.contains("/tests/")
    });
    texts
        .filter_map(|file| Some(check_file(file, register(file)?)))
        .flatten()
        .collect()
}

fn check_file(file: &TextFile, register: Register) -> Vec<Problem> {
    let tests = file.text.find("#[cfg(test)]\nmod tests {");
    let end = tests.unwrap_or(file.text.len());
    let texts = strings(&file.text).into_iter();
    let texts = texts.filter(|(at, text)| *at < end && text.contains(is_kana));
    let problems = texts.flat_map(|(at, text)| {
        let line = file.text[..at].lines().count().max(1);
        let found = complaints(&joined(text), register);
        found
            .into_iter()
            .map(move |what| Problem::at(&file.path, line, what))
    });
    problems.collect()
}

/// Whether a character is one of the Japanese syllables.
fn is_kana(c: char) -> bool {
    ('\u{3040}'..'\u{3100}').contains(&c)
}

/// A literal without quotes and continued lines.
fn joined(literal: &str) -> String {
    let mut lines = literal.trim_matches('"').split("\\\n");
    let first = lines.next().unwrap_or_default().to_owned();
    lines.fold(first, |text, line| text + line.trim_start())
}

fn complaints(text: &str, register: Register) -> Vec<String> {
    let terms = TERMS.iter().filter(|(wrong, _)| text.contains(wrong));
    let mut found: Vec<String> = terms
        .map(|(wrong, right)| format!("「{wrong}」: write 「{right}」"))
        .collect();
    let wrong = match register {
        Register::Plain => POLITE.iter().find(|word| text.contains(**word)),
        Register::Polite => PLAIN.iter().find(|end| {
            sentences(text).any(|sentence| {
                let is_polite = POLITE.iter().any(|polite| sentence.ends_with(polite));
                sentence.ends_with(**end) && !is_polite
            })
        }),
    };
    found.extend(wrong.map(|word| {
        let style = match register {
            Register::Plain => "plain (体言止め, である)",
            Register::Polite => "polite (です・ます)",
        };
        format!("「{word}」 in 「{text}」: texts of this file are {style}")
    }));
    found
}

/// The sentences of a text, without the advice, which has its own.
fn sentences(text: &str) -> impl Iterator<Item = &str> {
    let parts = text
        .split(['。', '\n'])
        .flat_map(|part| part.split("; help: "));
    parts.map(str::trim).filter(|part| !part.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_register_has_its_ends() {
        let is_wrong = |text, register| !complaints(text, register).is_empty();
        for (text, plain, polite) in [
            ("{a}は有効", true, true),
            ("{a}は速いカードである", true, false),
            ("{a}は速いカードです。", false, true),
            ("{a}を読み込めません（{b}）", false, true),
            ("{a}を読み込めない。{b}", true, false),
            ("停止しました; help: 指定してください", false, true),
            ("測定する", true, false),
            ("ファイル", true, true),
        ] {
            assert_eq!(is_wrong(text, Register::Plain), !plain, "{text}");
            assert_eq!(is_wrong(text, Register::Polite), !polite, "{text}");
        }
    }

    #[test]
    fn terms_are_those_of_the_glossary() {
        for text in [
            "読み取り",
            "計測中",
            "レイヤー",
            "全てのカード",
            "カタログ値",
        ] {
            assert_eq!(complaints(text, Register::Plain).len(), 1, "{text}");
        }
    }

    #[test]
    fn files_have_the_register_of_their_path() {
        let file = |path: &str| {
            TextFile {
            path: path.to_owned(),
            text: "fn f() { g(\"失敗し\\\n      ました\") }\n#[cfg(test)]\nmod tests { fn t() { g(\"計測\") } }".to_owned(),
        }
        };
        let files = [
            "crates/report/src/text/ja/pages.rs",
            "crates/report/src/text/ja/advice.rs",
            "crates/cli/src/help/ja.rs",
            "crates/cli/src/cmd/list.rs",
            "crates/model/src/run.rs",
        ];
        let places = check(&files.map(file)).into_iter();
        let places: Vec<String> = places.map(|problem| problem.place).collect();
        assert_eq!(
            places,
            [
                "crates/report/src/text/ja/pages.rs:1",
                "crates/cli/src/help/ja.rs:1"
            ]
        );
    }
}
