//! Rules for Rust files: where unsafe code is allowed, maximum lengths, and unfinished work.

use super::scan::code_only;
use super::{Problem, TextFile, untranslated};
use crate::workspace;
use anyhow::{Context, Result};
use serde::Deserialize;

/// The crate with the unsafe code.
const FLOOR: &str = "crates/sys/";

/// Other files that need unsafe code, with the reason.
const UNSAFE_EXCUSED: &[(&str, &str)] = &[
    (
        "crates/engine/tests/no_allocation.rs",
        "an allocator that counts can be written in no other way",
    ),
    (
        "crates/engine/src/worker/own_files.rs",
        "only the engine knows which files a worker uses",
    ),
];

/// Files with one long table, which would be harder to read if split.
const TABLES: &[&str] = &[];

/// Maximum number of lines, except for tables.
const FILE_LINES_MAX: usize = 900;

/// Recommended limits; the number of exceptions may only fall.
const FILE_LINES_GOOD: usize = 500;
const FUNCTION_LINES_GOOD: usize = 70;

/// Macros and attributes of unfinished work.
const UNFINISHED_CODE: &[&str] = &["todo!", "unimplemented!", "dbg!", "#[ignore"];

/// Markers of unfinished work, split so that this file does not violate the rule itself.
const UNFINISHED_MARKS: &[&str] = &[
    concat!("FIX", "ME"),
    concat!("TO", "DO"),
    concat!("XX", "X"),
    concat!("HA", "CK"),
];

/// All rules for Rust files except the ratchets.
pub(super) fn check(files: &[TextFile]) -> Vec<Problem> {
    let mut problems = Vec::new();
    for file in files.iter().filter(|file| file.is_rust()) {
        let code = code_only(&file.text);
        problems.extend(check_unsafe(file, &code));
        problems.extend(check_forbid(file));
        problems.extend(check_opening(file));
        problems.extend(check_length(file));
        problems.extend(check_unfinished(file, &code));
    }
    problems.extend(stale_tables(files));
    problems.extend(undeclared_tests(files));
    problems
}

/// Files beside the `main.rs` of a test binary that it does not declare: their tests would silently not run.
fn undeclared_tests(files: &[TextFile]) -> Vec<Problem> {
    let mut problems = Vec::new();
    for main in files {
        let Some(directory) = main.path.strip_suffix("main.rs") else {
            continue;
        };
        if !directory.contains("/tests/") {
            continue;
        }
        let name = |file: &TextFile| -> Option<String> {
            let name = file.path.strip_prefix(directory)?.strip_suffix(".rs")?;
            Some(name.strip_suffix("/mod").unwrap_or(name).to_owned())
        };
        for name in files.iter().filter_map(name) {
            let declared = main.text.lines().any(|line| line == format!("mod {name};"));
            // Files of deeper directories are declared by the file of their directory.
            if name != "main" && !name.contains('/') && !declared {
                let what = format!("does not declare `mod {name};`, so those tests do not run");
                problems.push(Problem::new(&main.path, what));
            }
        }
    }
    problems
}

fn check_unsafe(file: &TextFile, code: &str) -> Vec<Problem> {
    if file.path.starts_with(FLOOR) {
        return Vec::new();
    }
    let lines: Vec<usize> = lines_with_word(code, "unsafe");
    if UNSAFE_EXCUSED.iter().any(|(path, _)| *path == file.path) {
        let explained = lines.is_empty() || file.text.contains("// SAFETY:");
        let problem = Problem::new(
            &file.path,
            "is excused for its unsafe code, but does not say why it is safe",
        );
        return if explained { Vec::new() } else { vec![problem] };
    }
    lines
        .into_iter()
        .map(|line| Problem::at(&file.path, line, format!("unsafe code outside {FLOOR}")))
        .collect()
}

/// The lines, counted from 1, that contain a whole word.
fn lines_with_word(text: &str, word: &str) -> Vec<usize> {
    let stands = |line: &str| {
        line.split(|c: char| !c.is_alphanumeric() && c != '_')
            .any(|found| found == word)
    };
    text.lines()
        .enumerate()
        .filter(|(_, line)| stands(line))
        .map(|(at, _)| at + 1)
        .collect()
}

fn check_forbid(file: &TextFile) -> Option<Problem> {
    let root = ["/src/lib.rs", "/src/main.rs"]
        .iter()
        .any(|end| file.path.ends_with(end))
        || file.path.contains("/src/bin/");
    let wanted = root && !file.path.starts_with(FLOOR);
    // What is forbidden cannot be allowed again, so a crate with an excused source file denies.
    let source = file.path.rsplit_once('/').map_or("", |(dir, _)| dir);
    let level = match UNSAFE_EXCUSED
        .iter()
        .any(|(path, _)| path.starts_with(source))
    {
        true => "deny",
        false => "forbid",
    };
    let line = format!("#![{level}(unsafe_code)]");
    let has_it = file.text.lines().any(|found| found == line);
    (wanted && !has_it).then(|| Problem::new(&file.path, format!("lacks {line}")))
}

fn check_opening(file: &TextFile) -> Option<Problem> {
    let opens = file.text.starts_with("//!");
    (!opens).then(|| {
        Problem::at(
            &file.path,
            1,
            "must open with //!, saying what it is for and what it leaves out",
        )
    })
}

fn check_length(file: &TextFile) -> Option<Problem> {
    let lines = file.text.lines().count();
    let long = lines > FILE_LINES_MAX && !TABLES.contains(&file.path.as_str());
    long.then(|| {
        let what = format!(
            "has {lines} lines, more than {FILE_LINES_MAX}; split it, or list it as a table"
        );
        Problem::new(&file.path, what)
    })
}

/// Listed tables that have become short or no longer exist.
fn stale_tables(files: &[TextFile]) -> Vec<Problem> {
    let long = |path: &str| {
        files
            .iter()
            .any(|f| f.path == path && f.text.lines().count() > FILE_LINES_MAX)
    };
    let stale = TABLES.iter().filter(|path| !long(path));
    stale
        .map(|path| {
            Problem::new(
                *path,
                format!("is listed as a table, but has no {FILE_LINES_MAX} lines"),
            )
        })
        .collect()
}

fn check_unfinished(file: &TextFile, code: &str) -> Vec<Problem> {
    let mut problems = Vec::new();
    for (at, line) in code.lines().enumerate() {
        let found = UNFINISHED_CODE.iter().filter(|word| line.contains(**word));
        problems.extend(
            found.map(|word| Problem::at(&file.path, at + 1, format!("{word} is unfinished work"))),
        );
    }
    for mark in UNFINISHED_MARKS {
        let lines = lines_with_word(&file.text, mark).into_iter();
        problems.extend(
            lines.map(|line| Problem::at(&file.path, line, format!("{mark} is unfinished work"))),
        );
    }
    problems
}

/// Counts that may only fall.
#[derive(Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
struct TidyRatchet {
    files_over_500_lines: usize,
    functions_over_70_lines: usize,
    untranslated_sentences: usize,
}

#[derive(Deserialize)]
struct TidyRatchetFile {
    tidy: TidyRatchet,
}

/// Compares the counts with `xtask/ratchet.toml`.
///
/// # Errors
/// If that file cannot be read.
pub(super) fn check_ratchets(files: &[TextFile]) -> Result<Vec<Problem>> {
    let text = workspace::read(workspace::RATCHETS)?;
    let TidyRatchetFile {
        tidy:
            TidyRatchet {
                files_over_500_lines,
                functions_over_70_lines,
                untranslated_sentences,
            },
    } = toml::from_str(&text)
        .with_context(|| format!("cannot understand {}", workspace::RATCHETS))?;
    let (mut long_files, mut long) = (Vec::new(), Vec::new());
    for TextFile { path, text } in files.iter().filter(|file| file.is_rust()) {
        let count = text.lines().count();
        if count > FILE_LINES_GOOD {
            long_files.push(format!("{path} ({count})"));
        }
        let functions = long_functions(text).into_iter();
        long.extend(functions.map(|(line, len)| format!("{path}:{line} ({len})")));
    }
    let problems = [
        compare("files_over_500_lines", &long_files, files_over_500_lines),
        compare("functions_over_70_lines", &long, functions_over_70_lines),
        compare(
            "untranslated_sentences",
            &untranslated::sentences(files),
            untranslated_sentences,
        ),
    ];
    Ok(problems.into_iter().flatten().collect())
}

fn compare(name: &str, found: &[String], most: usize) -> Option<Problem> {
    if found.len() < most {
        println!(
            "tidy: {name} fell from {most} to {}; write that into {}",
            found.len(),
            workspace::RATCHETS
        );
    }
    (found.len() > most).then(|| {
        let what = format!("rose from {most} to {}: {}", found.len(), found.join(", "));
        Problem::new(format!("{}, {name}", workspace::RATCHETS), what)
    })
}

/// Returns functions over the recommended length, as (line, lines), detected by rustfmt's indentation.
fn long_functions(source: &str) -> Vec<(usize, usize)> {
    let lines: Vec<&str> = source.lines().collect();
    let mut found = Vec::new();
    for (at, line) in lines.iter().enumerate() {
        let text = line.trim_start();
        if !begins_function(text) {
            continue;
        }
        let indent = &line[..line.len() - text.len()];
        let closes = |line: &&str| line.strip_prefix(indent).is_some_and(|rest| rest == "}");
        let len = lines[at..]
            .iter()
            .position(closes)
            .map_or(0, |more| more + 1);
        if len > FUNCTION_LINES_GOOD {
            found.push((at + 1, len));
        }
    }
    found
}

/// Whether a line starts a function with a body, not only a declaration.
fn begins_function(text: &str) -> bool {
    let names = [
        "pub",
        "pub(crate)",
        "pub(super)",
        "const",
        "unsafe",
        "async",
    ];
    text.split_whitespace().find(|word| !names.contains(word)) == Some("fn")
        && !text.ends_with([';', '}'])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(path: &str, text: &str) -> TextFile {
        TextFile {
            path: path.to_owned(),
            text: format!("//! About.\n{text}"),
        }
    }

    fn complaints(path: &str, text: &str) -> Vec<String> {
        check(&[file(path, text)])
            .iter()
            .map(Problem::to_string)
            .collect()
    }

    #[test]
    fn unsafe_code_stays_on_the_floor() {
        let code = "fn f() { unsafe { g() } }\n";
        assert!(complaints("crates/sys/src/a.rs", code).is_empty());
        assert_eq!(
            complaints("crates/model/src/a.rs", code),
            ["crates/model/src/a.rs:2: unsafe code outside crates/sys/"]
        );
        assert!(
            complaints(
                "crates/model/src/a.rs",
                "// unsafe\n#![deny(unsafe_code)]\nlet a = \"unsafe\";\n"
            )
            .is_empty()
        );
    }

    #[test]
    fn an_excused_file_says_why_it_is_safe() {
        let path = UNSAFE_EXCUSED[0].0;
        assert_eq!(complaints(path, "unsafe impl A for B {}\n").len(), 1);
        assert!(complaints(path, "// SAFETY: it is.\nunsafe impl A for B {}\n").is_empty());
    }

    #[test]
    fn roots_forbid_unsafe_code() {
        assert_eq!(complaints("crates/web/src/lib.rs", "").len(), 1);
        assert!(complaints("crates/web/src/lib.rs", "#![forbid(unsafe_code)]\n").is_empty());
        assert!(complaints("crates/web/src/page.rs", "").is_empty());
        assert_eq!(
            complaints("crates/engine/src/lib.rs", "#![allow(unsafe_code)]\n"),
            ["crates/engine/src/lib.rs: lacks #![deny(unsafe_code)]"]
        );
    }

    #[test]
    fn files_open_with_their_purpose_and_end_in_time() {
        let bare = TextFile {
            path: "a/src/b.rs".to_owned(),
            text: "fn f() {}\n".to_owned(),
        };
        assert_eq!(check(&[bare]).len(), 1);
        assert_eq!(
            complaints("a/src/b.rs", &"\n".repeat(FILE_LINES_MAX)).len(),
            1
        );
    }

    #[test]
    fn every_file_of_a_test_binary_is_declared() {
        let files = [
            file("crates/a/tests/it/main.rs", "mod b;\nmod support;\n"),
            file("crates/a/tests/it/b.rs", ""),
            file("crates/a/tests/it/b/more.rs", ""),
            file("crates/a/tests/it/support/mod.rs", ""),
            file("crates/a/tests/it/c.rs", ""),
            file("crates/a/tests/alone.rs", ""),
        ];
        let found: Vec<String> = check(&files).iter().map(Problem::to_string).collect();
        assert_eq!(
            found,
            ["crates/a/tests/it/main.rs: does not declare `mod c;`, so those tests do not run"]
        );
    }

    #[test]
    fn unfinished_work_is_found() {
        for text in [
            "todo!()",
            "#[ignore]",
            "#[ignore = \"slow\"]",
            concat!("// FIX", "ME later"),
        ] {
            assert_eq!(complaints("a/src/b.rs", text).len(), 1, "{text}");
        }
        assert!(complaints("a/src/b.rs", "// a todo!() in a comment is prose\n").is_empty());
    }

    #[test]
    fn long_functions_are_measured() {
        let long = format!(
            "impl A {{\n    pub(crate) fn f(&self) {{\n{}    }}\n}}\n",
            "        g();\n".repeat(70)
        );
        assert_eq!(long_functions(&long), [(2, 72)]);
        assert!(long_functions("fn f() {\n    g();\n}\n").is_empty());
    }

    #[test]
    fn a_ratchet_turns_one_way() {
        let found = ["a.rs".to_owned(), "b.rs".to_owned()];
        assert!(compare("n", &found, 2).is_none());
        assert!(compare("n", &found, 3).is_none());
        assert!(
            compare("n", &found, 1)
                .is_some_and(|problem| problem.what.contains("rose from 1 to 2: a.rs, b.rs"))
        );
    }
}
