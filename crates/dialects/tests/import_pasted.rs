//! Imports results as people post them: issues, mails, wikis, logs of other programs, in several languages and
//! truncated. Snapshots show what is read, what is not, and why. Each file names its source; all are shortened.

use hakaru_dialects::import::{ImportResult, ImportedRun, SourceText, import};
use hakaru_model::job::Op;
use hakaru_model::record::PhaseRecord;
use std::fmt::Write;
use std::path::Path;

/// Summary of a phase by counts, or by rates if only those were printed.
fn did(run: &ImportedRun, index: usize, phase: &PhaseRecord) -> String {
    let mut told = Vec::new();
    for op in Op::ALL {
        for (number, worker) in phase.workers.iter().enumerate() {
            let done = &worker.ops[op];
            if done.bytes > 0 || done.ios > 0 {
                told.push(format!(
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
            told.extend(rate.map(|rate| format!("{} {:.0} B/s", op.name(), rate.mean)));
        }
    }
    told.join("; ")
}

fn told(found: &ImportResult) -> String {
    let mut text = String::new();
    for one in &found.runs {
        let ImportedRun {
            format,
            program,
            lines,
            figures,
            path,
            outcome,
            unread,
            caveats,
            ..
        } = &one.run;
        let path = path
            .as_ref()
            .map(|path| format!(" on {}", path.display()))
            .unwrap_or_default();
        let _ = writeln!(
            text,
            "{}-{} {} of {program}{path}: {figures} figures, {outcome:?}",
            lines.0,
            lines.1,
            format.name()
        );
        for (index, phase) in one.run.phases.iter().enumerate() {
            let _ = writeln!(text, "    {}: {}", phase.name, did(&one.run, index, phase));
        }
        unread
            .iter()
            .for_each(|u| _ = writeln!(text, "  - line {}: {} ({})", u.line, u.why, u.text));
        caveats
            .iter()
            .for_each(|caveat| _ = writeln!(text, "  ! {caveat:?}"));
    }
    for (_, unread) in &found.unread {
        let _ = writeln!(
            text,
            "- line {}: {} ({})",
            unread.line, unread.why, unread.text
        );
    }
    let _ = writeln!(
        text,
        "{} other lines",
        found.other_lines.iter().sum::<usize>()
    );
    text
}

#[test]
fn what_people_paste_is_read() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/pasted");
    let mut paths: Vec<_> = std::fs::read_dir(folder)
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
        let _ = writeln!(all, "=== {name}\n{}", told(&found));
    }
    insta::assert_snapshot!(all);
}
