//! Counts the system calls that one more file costs, which decide how long a job with thousands of files takes.

use crate::support::Home;
use std::path::Path;
use std::process::{Command, Stdio};

/// Runs a job with files of one block under strace; returns its number of system calls. `None` without strace.
fn calls(home: &Home, directory: &Path, nrfiles: u32) -> Option<f64> {
    std::fs::create_dir_all(directory).unwrap();
    let trace = home.path().join("trace.txt");
    let program = assert_cmd::cargo::cargo_bin("hakaru");
    let out = Command::new("strace")
        .args(["-f", "-qq", "-o"])
        .arg(&trace)
        .arg(program)
        .args([
            "fio",
            "--name=j",
            "--ioengine=psync",
            "--rw=read",
            "--bs=4k",
            "--filesize=4k",
        ])
        .arg(format!("--nrfiles={nrfiles}"))
        .arg(format!("--directory={}", directory.display()))
        .env("HAKARU_STORE", "0")
        .stdout(Stdio::null())
        .output();
    match out {
        Ok(out) if out.status.success() => {}
        _ => {
            println!("skipped: strace is not installed, or may not trace");
            return None;
        }
    }
    // Threads that wait make any number of these.
    let waits = [
        "futex",
        "nanosleep",
        "sched_yield",
        "ppoll",
        "resumed",
        "restart_syscall",
    ];
    let text = std::fs::read_to_string(&trace).unwrap();
    let counted = text
        .lines()
        .filter(|line| !waits.iter().any(|wait| line.contains(wait)));
    Some(counted.count() as f64)
}

#[test]
fn a_file_costs_few_system_calls() {
    let home = Home::new();
    let directory = |name: &str| home.work().join(name);
    // New files, then the same again.
    let rounds = [("new", NEW), ("existing", EXISTING)];
    let mut fewer = [0.0; 2];
    for (files, counts) in [(100, &mut fewer)] {
        for count in counts.iter_mut() {
            match calls(&home, &directory("few"), files) {
                Some(calls) => *count = calls,
                None => return,
            }
        }
    }
    for ((round, most), fewer) in rounds.into_iter().zip(fewer) {
        let Some(more) = calls(&home, &directory("many"), 500) else {
            return;
        };
        let each = (more - fewer) / 400.0;
        assert!(each <= most, "{round}: {each} system calls a file");
    }
}

/// Looking for it, laying it out (open, reserve, write, flush, close), measuring (open, advise, read, close).
const NEW: f64 = 24.0;

/// Looking for it, testing for direct I/O, measuring.
const EXISTING: f64 = 20.0;
