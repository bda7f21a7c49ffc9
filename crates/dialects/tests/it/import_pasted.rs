//! Imports results as people post them: issues, mails, wikis, logs of other programs, in several languages and
//! truncated. Snapshots show what is read, what is not, and why. Each file names its source; all are shortened.

use hakaru_dialects::import::{ImportResult, ImportedRun, SourceText, import};
use hakaru_model::job::Op;
use hakaru_model::record::PhaseRecord;
use std::fmt::Write;
use std::path::Path;

/// Summary of a phase by counts, or by rates if only those were printed.
fn did(run: &ImportedRun, index: usize, phase: &PhaseRecord) -> String {
    let mut amounts = Vec::new();
    for op in Op::ALL {
        for (number, worker) in phase.workers.iter().enumerate() {
            let done = &worker.ops[op];
            if done.bytes > 0 || done.ios > 0 {
                amounts.push(format!(
                    "{} {} B, {} I/Os, {} ms",
                    op.name(),
                    done.bytes,
                    done.ios,
                    worker.runtime.as_millis()
                ));
            }
            let rate = run
                .reported
                .worker(index, number)
                .and_then(|report| report.ops[op].bytes_per_s);
            amounts.extend(rate.map(|rate| format!("{} {:.0} B/s", op.name(), rate.mean)));
        }
    }
    amounts.join("; ")
}

fn summary(found: &ImportResult) -> String {
    let mut text: String = found.runs.iter().map(|one| run_summary(&one.run)).collect();
    for (_, unread) in &found.unread {
        let (line, why) = (unread.line, &unread.why);
        let _ = writeln!(text, "- line {line}: {why} ({})", unread.text);
    }
    let other: usize = found.other_lines.iter().sum();
    let _ = writeln!(text, "{other} other lines");
    text
}

fn run_summary(run: &ImportedRun) -> String {
    let path = run.path.as_ref();
    let path = path.map(|path| format!(" on {}", path.display()));
    let path = path.unwrap_or_default();
    let (first, last) = run.lines;
    let (format, program) = (run.format.name(), &run.program);
    let (figures, outcome) = (run.figures, &run.outcome);
    let mut text =
        format!("{first}-{last} {format} of {program}{path}: {figures} figures, {outcome:?}\n");
    for (index, phase) in run.phases.iter().enumerate() {
        let _ = writeln!(text, "    {}: {}", phase.name, did(run, index, phase));
    }
    for u in &run.unread {
        let _ = writeln!(text, "  - line {}: {} ({})", u.line, u.why, u.text);
    }
    for caveat in &run.caveats {
        let _ = writeln!(text, "  ! {caveat:?}");
    }
    text
}

#[test]
fn what_people_paste_is_read() {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/pasted");
    let mut paths: Vec<_> = std::fs::read_dir(directory)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    paths.sort();
    let mut all = String::new();
    for path in paths {
        let name = path.file_name().unwrap().to_str().unwrap();
        let found = import(&[SourceText {
            name,
            text: &std::fs::read_to_string(&path).unwrap(),
        }]);
        assert!(!found.runs.is_empty(), "nothing was read of {name}");
        let _ = writeln!(all, "=== {name}\n{}", summary(&found));
    }
    insta::assert_snapshot!(all);
}
