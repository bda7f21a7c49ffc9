//! Tests I/O logs of fio command lines: the installed fio replays logs of hakaru and vice versa, with the same counts.

use crate::support::{self, Home, hakaru};
use serde_json::Value;
use std::path::Path;
use std::process::Command;

/// Runs one of the two programs in the work directory of a home. Returns the job from its result.
fn run(home: &Home, ours: bool, options: &str) -> Value {
    let mut program = if ours {
        hakaru(home)
    } else {
        Command::new("fio")
    };
    if ours {
        program.arg("fio");
    }
    program
        .args(options.split_whitespace())
        .arg("--output-format=json")
        .current_dir(home.work());
    let out = program.output().unwrap();
    let text = support::text(&out.stdout);
    assert!(
        out.status.success(),
        "{options}: {text} {}",
        support::text(&out.stderr)
    );
    let json: Value = serde_json::from_str(&text[text.find('{').unwrap_or(0)..]).unwrap();
    json["jobs"][0].clone()
}

/// Returns the counts of reads, bytes read, writes, bytes written, and flushes.
fn counts(job: &Value) -> [u64; 5] {
    let number = |value: &Value| value.as_u64().unwrap();
    let (read, write) = (&job["read"], &job["write"]);
    [
        number(&read["total_ios"]),
        number(&read["io_bytes"]),
        number(&write["total_ios"]),
        number(&write["io_bytes"]),
        number(&job["sync"]["total_ios"]),
    ]
}

fn has_fio() -> bool {
    let there = Command::new("fio").arg("--version").output().is_ok();
    if !there {
        eprintln!("SKIPPED: fio is not installed");
    }
    there
}

/// Returns file name, action, offset and length of each line, without times and without the meaningless offsets of
/// flushes.
fn lines(log: &Path) -> Vec<String> {
    let text = std::fs::read_to_string(log).unwrap();
    let mut lines = text.lines();
    assert_eq!(lines.next(), Some("fio version 3 iolog"));
    let plain = |line: &str| {
        let words: Vec<&str> = line.split(' ').skip(1).collect();
        let kept = if words.get(1).is_some_and(|word| word.ends_with("sync")) {
            2
        } else {
            4
        };
        words[..kept.min(words.len())].join(" ")
    };
    lines.map(plain).collect()
}

const WORK: &str =
    "--name=w --filename=f --size=256k --bs=4k --rw=randrw --fsync=5 --number_ios=40";

#[test]
fn a_log_replays_to_the_same_counts_on_both_sides() {
    let home = Home::new();
    let wrote = run(&home, true, &format!("{WORK} --write_iolog=ours.log"));
    let counted = counts(&wrote);
    assert_eq!(counted[0] + counted[2], 40);
    let log = lines(&home.work().join("ours.log"));
    assert_eq!(
        (
            log[0].as_str(),
            log[1].as_str(),
            log[log.len() - 1].as_str()
        ),
        ("f add", "f open", "f close")
    );
    assert_eq!(log.len() as u64, 3 + 40 + counted[4]);
    let replayed = run(
        &home,
        true,
        "--name=r --read_iolog=ours.log --replay_no_stall=1 --write_iolog=again.log",
    );
    assert_eq!(counts(&replayed), counted);
    assert_eq!(
        lines(&home.work().join("again.log")),
        log,
        "a replay is the same log again"
    );
    for engine in ["libaio", "io_uring"] {
        let deep = format!(
            "--name=r --read_iolog=ours.log --replay_no_stall=1 --ioengine={engine} --iodepth=4"
        );
        let again = format!("{deep} --write_iolog={engine}.log");
        assert_eq!(counts(&run(&home, true, &again)), counted, "{engine}");
        assert_eq!(
            lines(&home.work().join(format!("{engine}.log"))),
            log,
            "{engine} issues in the order of the log"
        );
    }
    if !has_fio() {
        return;
    }
    let theirs = run(
        &home,
        false,
        "--name=r --read_iolog=ours.log --replay_no_stall=1",
    );
    assert_eq!(counts(&theirs), counted, "fio replays our log");
    let wrote = counts(&run(&home, false, &format!("{WORK} --write_iolog=fio.log")));
    let ours = counts(&run(
        &home,
        true,
        "--name=r --read_iolog=fio.log --replay_no_stall=1",
    ));
    assert_eq!(ours, wrote, "we replay fio's log");
}

#[test]
fn times_of_a_log_are_kept_and_can_be_scaled() {
    let home = Home::new();
    std::fs::write(home.work().join("f"), vec![1; 64 << 10]).unwrap();
    let log = "fio version 3 iolog\n0 f add\n0 f open\n0 f read 0 4096\n150000 f read 4096 4096\n300000 f read 0 512\n";
    std::fs::write(home.work().join("slow.log"), log).unwrap();
    let runtime = |options: &str| {
        let job = run(
            &home,
            true,
            &format!("--name=r --read_iolog=slow.log {options}"),
        );
        assert_eq!(counts(&job)[..2], [3, 8704]);
        job["read"]["runtime"].as_u64().unwrap()
    };
    assert!(runtime("") >= 300 && runtime("--ioengine=libaio --iodepth=2") >= 300);
    assert!(runtime("--replay_time_scale=50") >= 600);
    // A faster replay has no upper time limit on a busy host, but it is never early.
    assert!(runtime("--replay_time_scale=200") >= 150);
}

#[test]
fn a_replay_goes_where_it_is_sent() {
    let home = Home::new();
    run(&home, true, &format!("{WORK} --write_iolog=w.log"));
    let before = std::fs::read(home.work().join("f")).unwrap();
    let all = "--name=r --read_iolog=w.log --replay_no_stall=1";
    run(
        &home,
        true,
        &format!("{all} --replay_redirect=g --zero_buffers"),
    );
    assert!(
        before == std::fs::read(home.work().join("f")).unwrap() && home.work().join("g").exists()
    );
    let scaled = run(
        &home,
        true,
        &format!("{all} --replay_scale=4 --replay_align=4k --write_iolog=s.log"),
    );
    assert!(counts(&scaled)[1] > 0);
    let offset = |line: &String| {
        line.split(' ')
            .nth(2)
            .and_then(|word| word.parse::<u64>().ok())
    };
    let offsets: Vec<u64> = lines(&home.work().join("s.log"))
        .iter()
        .filter_map(offset)
        .collect();
    assert!(
        offsets.iter().all(|at| at % 4096 == 0 && *at < 64 << 10),
        "{offsets:?}"
    );
    let reads = counts(&run(
        &home,
        true,
        &format!("{all} --replay_skip=write,sync"),
    ));
    assert!(reads[0] > 0 && reads[2..] == [0, 0, 0], "{reads:?}");
    let mut clones = hakaru(&home);
    clones.args([
        "fio",
        "--name=r",
        "--numjobs=2",
        "--read_iolog=w.log",
        "--write_iolog=c.log",
        "--replay_no_stall=1",
    ]);
    assert!(
        clones
            .current_dir(home.work())
            .output()
            .unwrap()
            .status
            .success()
    );
    assert_eq!(
        lines(&home.work().join("c.log")),
        lines(&home.work().join("c.log.1"))
    );
}

#[test]
fn a_log_that_is_none_is_refused_with_its_line() {
    let home = Home::new();
    std::fs::write(
        home.work().join("bad.log"),
        "fio version 3 iolog\n0 f add\n5 f dance 0 4096\n",
    )
    .unwrap();
    for (log, words) in [
        ("bad.log", "line 3: unknown action `dance`"),
        ("none.log", "read_iolog=none.log"),
    ] {
        let mut program = hakaru(&home);
        program
            .args(["fio", "--name=r", &format!("--read_iolog={log}")])
            .current_dir(home.work());
        let out = program.output().unwrap();
        assert!(
            !out.status.success() && support::text(&out.stderr).contains(words),
            "{}",
            support::text(&out.stderr)
        );
    }
}
