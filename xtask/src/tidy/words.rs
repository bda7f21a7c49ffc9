//! Words that no file of the project may contain. Files describe the project, not where or by whom they were written.

use super::{Problem, TextFile};

/// Forbidden anywhere, ignoring case.
const FORBIDDEN: &[&str] = &[
    "/work/",
    "../shared",
    "/tmp/brief",
    "helper session",
    "sub-agent",
    "subagent",
    "issue #",
    "the brief",
    "language model",
    "chatgpt",
    "claude",
    "anthropic",
    "copilot",
];

/// Forbidden before a number.
const FORBIDDEN_WITH_NUMBER: &[&str] = &["issue "];

/// This file contains the forbidden words.
const SELF: &str = "xtask/src/tidy/words.rs";

/// Checks every file under version control.
pub(super) fn check(files: &[TextFile]) -> Vec<Problem> {
    files
        .iter()
        .filter(|file| file.path != SELF)
        .flat_map(check_file)
        .collect()
}

fn check_file(file: &TextFile) -> Vec<Problem> {
    let mut problems = Vec::new();
    for (at, line) in file.text.lines().enumerate() {
        let line = line.to_lowercase();
        let plain = FORBIDDEN.iter().filter(|word| line.contains(**word));
        let numbered = FORBIDDEN_WITH_NUMBER
            .iter()
            .filter(|word| numbered(&line, word));
        let found = plain.chain(numbered);
        problems.extend(found.map(|word| {
            Problem::at(
                &file.path,
                at + 1,
                format!("{word:?} is not for this project to say"),
            )
        }));
    }
    problems
}

fn numbered(line: &str, word: &str) -> bool {
    line.match_indices(word).any(|(at, _)| {
        let begins = !line[..at].ends_with(char::is_alphanumeric);
        begins && line[at + word.len()..].starts_with(|c: char| c.is_ascii_digit())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn complaints(text: &str) -> usize {
        check(&[TextFile {
            path: "README.md".to_owned(),
            text: text.to_owned(),
        }])
        .len()
    }

    #[test]
    fn the_place_of_work_is_not_mentioned() {
        assert_eq!(complaints("see /work/notes\nand Issue 3, and issue #4"), 3);
    }

    #[test]
    fn ordinary_words_pass() {
        assert_eq!(
            complaints(
                "a brief look; issue a request; tissue 5; network/throughput; at /workspace"
            ),
            0
        );
    }
}
