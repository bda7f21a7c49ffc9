//! A program with switched changes must do what each changed program does.

use super::switch::{self, Change};
use super::{test_set, together};
use std::path::Path;
use std::process::Command;

/// A program that has each form of change, also nested ones.
const SOURCE: &str = r#"
#[derive(Default, Debug)]
struct TwoNumbers {
    a: i32,
    b: i32,
}

fn pair() -> TwoNumbers {
    TwoNumbers {
        a: 7 - 2,
        ..TwoNumbers { a: 1, b: 2 }
    }
}

fn rank(value: i32, is_big: bool) -> &'static str {
    match value {
        0 => "zero",
        n if n < 3 && !is_big => "small",
        n if n % 2 == 1 || is_big => "odd",
        _ => "other",
    }
}

fn loud(text: &str, answer: bool) -> bool {
    print!("{text} ");
    answer
}

const fn both(a: i64, b: i64) -> i64 {
    a * 2 + b
}

const AT_COMPILE_TIME: i64 = both(3, 4);

fn sum(values: &[i64]) -> i64 {
    let mut sum = 0;
    for &value in values {
        sum += -value * 3 + 1;
    }
    sum
}

fn joined(a: String, b: &str) -> String {
    a + b
}

fn main() {
    println!("{:?}", pair());
    for value in 0..6 {
        println!("{} {}", rank(value, false), rank(value, true));
    }
    let answer = loud("left", true) && loud("right", false) || loud("last", true);
    println!("{answer}");
    println!("{} {}", both(5, 6), sum(&[1, 2, 30]));
    let _ = AT_COMPILE_TIME;
    println!("{}", joined("x".to_owned(), "y"));
}
"#;

/// Changes: genre, text around it, the text that is changed, and its replacement.
const CHANGES: &[[&str; 4]] = &[
    ["StructField", "        a: 7 - 2,", "a: 7 - 2,", ""],
    ["BinaryOperator", "7 - 2", "-", "+"],
    [
        "FnValue",
        "match value {",
        "match value {",
        "return \"xyzzy\"; match value {",
    ],
    ["MatchArm", "0 => \"zero\",", "0 => \"zero\",", ""],
    [
        "MatchArm",
        "n if n < 3 && !is_big => \"small\",",
        "n if n < 3 && !is_big => \"small\",",
        "",
    ],
    [
        "MatchArmGuard",
        "if n < 3 && !is_big",
        "n < 3 && !is_big",
        "true",
    ],
    [
        "MatchArmGuard",
        "if n < 3 && !is_big",
        "n < 3 && !is_big",
        "false",
    ],
    ["BinaryOperator", "n < 3", "<", "<="],
    ["BinaryOperator", "n < 3", "<", "=="],
    ["BinaryOperator", "3 && !is_big", "&&", "||"],
    ["UnaryOperator", "!is_big", "!", ""],
    ["BinaryOperator", "n % 2", "%", "/"],
    ["BinaryOperator", "2 == 1", "==", "!="],
    ["BinaryOperator", "1 || is_big", "||", "&&"],
    ["BinaryOperator", "a * 2", "*", "+"],
    ["BinaryOperator", "2 + b", "+", "*"],
    ["BinaryOperator", "sum += -", "+=", "-="],
    ["UnaryOperator", "-value", "-", ""],
    ["BinaryOperator", "value * 3", "*", "/"],
    ["BinaryOperator", "3 + 1", "+", "-"],
    ["BinaryOperator", "true) && loud", "&&", "||"],
    ["BinaryOperator", "false) || loud", "||", "&&"],
];

/// Byte range of what a change replaces.
fn place([_, around, changed, _]: &[&str; 4]) -> std::ops::Range<usize> {
    let (start, _) = SOURCE
        .match_indices(around)
        .next()
        .expect("the text around the change");
    let start = start + around.find(changed).expect("the changed text");
    start..start + changed.len()
}

fn listed(change: &[&str; 4]) -> Change {
    let [genre, .., replacement] = change;
    let before = &SOURCE[..place(change).start];
    let line = before.matches('\n').count() + 1;
    let column = before.chars().rev().take_while(|c| *c != '\n').count() + 1;
    // The listed replacement of a body is its value.
    let replacement = match *genre {
        "FnValue" => "\"xyzzy\"",
        _ => replacement,
    };
    let json = serde_json::json!({
        "name": "", "file": "", "genre": genre, "replacement": replacement, "function": {},
        "span": {"start": {"line": line, "column": column}},
    });
    serde_json::from_value(json).expect("a listed change")
}

/// Compiles a program, and returns a function that runs it with a change and returns what it prints.
///
/// # Errors
/// What rustc prints if it does not compile.
fn compile(
    folder: &Path,
    name: &str,
    text: &str,
) -> Result<impl Fn(usize) -> String + use<>, String> {
    let (source, program) = (folder.join(format!("{name}.rs")), folder.join(name));
    std::fs::write(&source, text).expect("a source file");
    let out = Command::new("rustc")
        .args(["--edition=2024", "-Awarnings", "-o"])
        .args([&program, &source])
        .env("RUSTC_BOOTSTRAP", "1")
        .output()
        .expect("rustc");
    if !out.status.success() {
        return Err(String::from_utf8_lossy(&out.stderr).into_owned());
    }
    Ok(move |change: usize| {
        let mut command = Command::new(&program);
        command.env(test_set::CHANGE, change.to_string());
        let out = command.output().expect("the program");
        assert!(out.status.success());
        String::from_utf8(out.stdout).expect("text")
    })
}

fn compiled(folder: &Path, name: &str, text: &str) -> impl Fn(usize) -> String + use<> {
    compile(folder, name, text).unwrap_or_else(|error| panic!("{error}"))
}

#[test]
fn a_switched_change_does_what_the_changed_source_does() {
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path();
    let list: Vec<Change> = CHANGES.iter().map(listed).collect();
    let numbered: Vec<(usize, &Change)> = list.iter().enumerate().collect();
    let switched = switch::switch(SOURCE, &numbered).expect("valid source");
    let all: Vec<usize> = (0..CHANGES.len()).collect();
    assert_eq!(switched.changes.into_iter().collect::<Vec<_>>(), all);
    std::fs::write(
        folder.join("switched_changes.rs"),
        together::module(CHANGES.len()),
    )
    .expect("the switch");
    if let Err(error) = compile(folder, "empty", &together::with_switch("fn main() {}")) {
        println!("SKIPPED: this compiler has other internal functions: {error}");
        return;
    }
    let switched = compiled(folder, "switched", &together::with_switch(&switched.text));
    let original = compiled(folder, "original", SOURCE)(0);
    assert_eq!(switched(CHANGES.len()), original);
    for (number, change) in CHANGES.iter().enumerate() {
        let (range, replacement) = (place(change), change[3]);
        let text = [&SOURCE[..range.start], replacement, &SOURCE[range.end..]].concat();
        let expected = compiled(folder, &format!("changed{number}"), &text)(0);
        assert_ne!(expected, original, "{change:?}");
        assert_eq!(switched(number), expected, "{change:?}");
    }
}
