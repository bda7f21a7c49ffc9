//! Counts English sentences in code that prints in several languages.
//!
//! Sentences of reports are in `crates/report/src/text`, those of the command line in `both!`, which has every
//! language side by side. Exempt are the output of fio and iozone, the help (whose translation is a table that a test
//! compares with it), panics, and what no reader sees.

use super::TextFile;
use super::scan::{code_only, strings};
use std::collections::BTreeSet;

/// Directories and files that print in several languages.
const TRANSLATED: &[&str] = &[
    "crates/report/src/",
    "crates/campaign/src/",
    "crates/results/src/",
    "crates/web/src/",
    "crates/fleet/src/",
    "crates/cli/src/",
];

/// Parts of them that have every language, or belong to other programs and formats.
const EXEMPT: &[&str] = &[
    "crates/report/src/text/",
    "crates/report/src/html/style.rs",
    "crates/report/src/campaign/parquet.rs",
    "crates/campaign/src/errors/",
    // Texts of errors, whose translations are there.
    "crates/campaign/src/scratch.rs",
    "crates/campaign/src/session/unstored.rs",
    "crates/campaign/src/campaign/testing.rs",
    "crates/cli/src/front_end.rs",
    // A format for programs, whose descriptions of metrics are English.
    "crates/web/src/pages/metrics.rs",
    // Tests, and the configuration of another program.
    "crates/fleet/src/attacks",
    "crates/fleet/src/server/configuration.rs",
    "crates/cli/src/help/",
    "crates/cli/src/cmd/fio",
    "crates/cli/src/cmd/iozone",
];

/// Values that look like words: classes of style sheets, messages of parsers, and parts of errors.
const VALUES: &[&str] = &[
    "unknown field",
    "more run",
    "my cards",
    "raw, vfat, ext4",
    "writing again",
    "reading again",
    "emptying caches",
    "{order} {op_name}, {block}, queue depth {depth}",
    "nonexistent path",
    "character device",
    "socket, pipe or the like",
    "numbers cards wide",
    "verdicts wide",
    "verdicts cards wide",
    "numbers compact",
    "hakaru fleet",
    "hakaru fleet server",
    "hakaru fleet run {named}",
    "echo {token} | sudo hakaru agent --install\\n",
    "not valid for name",
    "invalid peer certificate",
];

/// Reasons that records store in English, with their translations.
const REASONS: &str = "crates/report/src/text/ja/reasons.rs";

/// Returns the sentences outside the texts, each with its place.
pub(super) fn sentences(files: &[TextFile]) -> Vec<String> {
    let reasons = files.iter().find(|file| file.path == REASONS);
    let reasons = reasons.map_or(Vec::new(), |file| strings(&file.text));
    let stored: BTreeSet<&str> = reasons.into_iter().map(|(_, text)| text).collect();
    let files = files.iter().filter(|file| {
        file.is_rust()
            && TRANSLATED.iter().any(|path| file.path.starts_with(path))
            && !EXEMPT.iter().any(|path| file.path.starts_with(path))
            && !file.path.ends_with("tests.rs")
    });
    let of_file = |file: &TextFile| {
        let lines = sentence_lines(&file.text, &stored);
        let path = file.path.clone();
        lines.into_iter().map(move |line| format!("{path}:{line}"))
    };
    files.flat_map(of_file).collect()
}

/// Lines, from 1, of the sentences before the tests of a file, without reasons that are stored and translated.
fn sentence_lines(source: &str, stored: &BTreeSet<&str>) -> Vec<usize> {
    let code = code_only(source);
    let tests = source.find("#[cfg(test)]\nmod tests {");
    let end = tests.unwrap_or(source.len());
    let mut translated = calls(&code, "both!(");
    translated.extend(calls(&code, ".expect("));
    translated.extend(calls(&code, "#["));
    translated.extend(constants(&code));
    let found = strings(source).into_iter().filter(|(at, text)| {
        *at < end
            && !translated
                .iter()
                .any(|(from, to)| (*from..*to).contains(at))
            && !VALUES.contains(&text.trim_matches('"'))
            && !stored.contains(text)
            && is_sentence(text)
    });
    found
        .map(|(at, _)| source[..at].lines().count().max(1))
        .collect()
}

/// Ranges of the calls that begin with this text, up to the bracket that closes them.
fn calls(code: &str, begin: &str) -> Vec<(usize, usize)> {
    let range = |(at, _): (usize, &str)| {
        let mut depth = 0usize;
        let inside = code[at..].char_indices();
        let mut inside = inside.skip_while(|(_, c)| !"([{".contains(*c));
        let closed = inside.find_map(|(i, c)| {
            match c {
                '(' | '[' | '{' => depth += 1,
                ')' | ']' | '}' => depth -= 1,
                _ => {}
            }
            (depth == 0).then_some(at + i)
        });
        (at, closed.unwrap_or(code.len()))
    };
    code.match_indices(begin).map(range).collect()
}

/// Ranges of the constants with the text after the options of a command.
fn constants(code: &str) -> Vec<(usize, usize)> {
    let range = |(at, _): (usize, &str)| {
        let end = code[at..].find(';').map_or(code.len(), |end| at + end);
        (at, end)
    };
    code.match_indices("const AFTER:").map(range).collect()
}

/// Whether a literal has two or more lower-case words in a row, outside its placeholders.
fn is_sentence(literal: &str) -> bool {
    let mut plain = String::new();
    let mut depth = 0usize;
    for c in literal.chars() {
        match c {
            '{' => depth += 1,
            '}' => depth = depth.saturating_sub(1),
            c if depth == 0 => plain.push(c),
            _ => {}
        }
    }
    let words: Vec<&str> = plain.split([' ', '\n', '"']).collect();
    let is_word = |word: &str| {
        let word = word.trim_end_matches([',', '.', ':', ';']);
        word.len() > 1 && word.bytes().all(|byte| byte.is_ascii_lowercase())
    };
    words
        .windows(2)
        .any(|pair| is_word(pair[0]) && is_word(pair[1]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sentence_has_two_words() {
        for (text, is) in [
            ("\"no runs are stored\"", true),
            ("\"{n} runs, then\"", true),
            ("\"{} of {}\"", false),
            ("\"hk-t hk-name\"", false),
            ("\"seq-write\"", false),
            ("\"Median ± MAD\"", false),
        ] {
            assert_eq!(is_sentence(text), is, "{text}");
        }
    }

    #[test]
    fn translated_and_exempt_strings_do_not_count() {
        let source = "fn f() {\n    both!(\"not found here\", \"x; (\"; g());\n    h(\"not found there\");\n    \
                      a.expect(\"always is one\");\n    let b = \"one more\";\n}\n#[arg(help = \"how it is\")]\n\
                      const AFTER: &str = \"one two\";\n#[cfg(test)]\nmod tests { fn t() { g(\"in a test\") } }\n";
        assert_eq!(sentence_lines(source, &BTreeSet::new()), [3, 5]);
        let stored = BTreeSet::from(["\"one more\""]);
        assert_eq!(sentence_lines(source, &stored), [3]);
        let file = |path: &str| TextFile {
            path: path.to_owned(),
            text: source.to_owned(),
        };
        let files = [
            file("crates/report/src/run.rs"),
            file("crates/report/src/text/en.rs"),
            file("crates/model/src/run.rs"),
        ];
        assert_eq!(
            sentences(&files),
            ["crates/report/src/run.rs:3", "crates/report/src/run.rs:5"]
        );
    }
}
