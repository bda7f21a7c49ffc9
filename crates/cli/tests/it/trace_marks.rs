//! Marks of traced runs in each output. The test needs root, and is skipped otherwise.

use crate::support::{Home, execute, hakaru, records, root_loop_sparse, text};

/// Checks that a text has a mark of traced runs.
fn check_mark(marked: bool, mark: &str, what: &str, content: &str) {
    assert_eq!(content.contains(mark), marked, "{what}: {content}");
}

const SENTENCE: &str = "Traced: recording the path of each I/O adds to its latency";

/// Runs a command that succeeds, and returns what it prints.
fn stdout(home: &Home, line: &str) -> String {
    let out = execute(home, line);
    assert!(out.status.success(), "{line}: {}", text(&out.stderr));
    text(&out.stdout)
}

#[test]
fn every_output_marks_a_traced_run() {
    let home = Home::new();
    let Some(disk) = root_loop_sparse(&home, 16 << 20) else {
        return;
    };
    for option in ["--hakaru-trace=whole", "--hakaru-store"] {
        let mut command = hakaru(&home);
        let label = format!("--hakaru-label=with{}", &option[8..13]);
        command.args(["fio", option, &label, "--name=job", "--rw=randread"]);
        command.args([
            "--bs=4k",
            "--size=1m",
            "--direct=1",
            "--filename",
            disk.device(),
        ]);
        let out = command.output().unwrap();
        assert!(out.status.success(), "{}", text(&out.stderr));
    }
    if records(&home).iter().filter(|run| run.is_traced()).count() != 1 {
        return eprintln!("SKIPPED: runs cannot be traced here");
    }
    let stdout = |line: &str| stdout(&home, line);
    let sentence = SENTENCE;
    for (name, marked) in [("with-trac", true), ("with-stor", false)] {
        let check = |mark, line: &str| check_mark(marked, mark, line, &stdout(line));
        check(sentence, &format!("show {name}"));
        check(r#""caveat": "traced""#, &format!("show {name} --json"));
        check(r#""caveat":"traced""#, &format!("export {name}"));
        check(sentence, &format!("report {name} --format html -o -"));
        check(sentence, &format!("report {name} --format markdown -o -"));
        // Lines are folded on a terminal.
        check(
            "Traced: recording",
            &format!("report {name} --format terminal -o -"),
        );
        check(
            ",,,traced,1,,1,",
            &format!("report {name} --format csv -o -"),
        );
        let report = format!("report {name} --json");
        let json: serde_json::Value = serde_json::from_str(&stdout(&report)).unwrap();
        check_mark(
            marked,
            "\"traced\"",
            &report,
            &json.to_string().replace("\"traced\":", ""),
        );
    }
    marks_comparisons_and_lists(&home);
}

fn marks_comparisons_and_lists(home: &Home) {
    let stdout = |line: &str| stdout(home, line);
    let sentence = SENTENCE;
    // One of two is traced: that is said.
    let compared = "compare with-stor with-trac";
    check_mark(
        true,
        "only one side was traced",
        compared,
        &stdout(compared),
    );
    let line = format!("{compared} --json");
    check_mark(true, "\"traced\"", &line, &stdout(&line));
    for ending in ["html", "md"] {
        let file = home.path().join(format!("compared.{ending}"));
        stdout(&format!("{compared} -o {}", file.display()));
        let page = std::fs::read_to_string(file).unwrap();
        check_mark(true, "only one side was traced", ending, &page);
        check_mark(true, sentence, ending, &page);
    }
    let list = stdout("list");
    for line in list.lines() {
        assert_eq!(
            line.contains("(traced)"),
            line.contains("with-trac"),
            "{list}"
        );
    }
    let list: serde_json::Value = serde_json::from_str(&stdout("list --json")).unwrap();
    for series in list["series"].as_array().unwrap() {
        assert_eq!(
            series["runs"][0]["traced"] == true,
            series["label"] == "with-trac",
            "{list}"
        );
    }
}
