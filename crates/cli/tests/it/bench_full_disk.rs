//! A benchmark whose database is on a file system that becomes full.

use crate::bench::SHORT;
use crate::support::{self, Home, hakaru};
use std::path::Path;
use std::process::Stdio;

/// Runs a benchmark whose database is on a small file system, and fills that file system during the measurement. On a
/// busy host it may become full only after the result was stored: then a benchmark runs again.
fn bench_that_fills(home: &Home, small: &Path) -> std::process::Output {
    let spools = || {
        std::fs::read_dir(small.join("hakaru.db.spool")).map_or(0, |directory| directory.count())
    };
    for _ in 0..5 {
        let child = hakaru(home)
            .env("HAKARU_DB", small.join("hakaru.db"))
            .arg("bench")
            .args(SHORT)
            .arg(home.work())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        support::wait_until(|| spools() > 0);
        // Write until the file system is full.
        let mut filler = std::fs::File::create(small.join("filler")).unwrap();
        while std::io::Write::write_all(&mut filler, &[1; 4096]).is_ok() {}
        let out = child.wait_with_output().unwrap();
        drop(filler);
        std::fs::remove_file(small.join("filler")).unwrap();
        if !out.status.success() {
            return out;
        }
        let list = hakaru(home)
            .env("HAKARU_DB", small.join("hakaru.db"))
            .arg("list")
            .output()
            .unwrap();
        let listed = support::text(&list.stdout);
        assert!(listed.contains("durable "), "{listed}");
    }
    panic!("the file system was full too late, five times");
}

/// The file system becomes full during the measurement.
#[test]
fn a_full_file_system_costs_neither_result_nor_spool() {
    let home = Home::new();
    let small = home.path().join("small");
    std::fs::create_dir(&small).unwrap();
    let mount = |words: &[&str]| {
        let command = std::process::Command::new(words[0])
            .args(&words[1..])
            .arg(&small)
            .output();
        command.is_ok_and(|out| out.status.success())
    };
    if !mount(&["mount", "-t", "tmpfs", "-o", "size=8m", "small"]) {
        eprintln!(
            "SKIPPED a_full_file_system_costs_neither_result_nor_spool: nothing can be mounted here"
        );
        return;
    }
    let database = small.join("hakaru.db");
    let out = bench_that_fills(&home, &small);
    let (shown, said) = (support::text(&out.stdout), support::text(&out.stderr));
    let recovered = hakaru(&home)
        .env("HAKARU_DB", &database)
        .arg("recover")
        .output()
        .unwrap();
    let listed = hakaru(&home)
        .env("HAKARU_DB", &database)
        .arg("list")
        .output()
        .unwrap();
    assert!(mount(&["umount"]), "cannot give the file system back");
    assert_eq!(out.status.code(), Some(1), "{said}");
    assert!(
        shown.contains("Random reads") && shown.contains("Durable writes"),
        "{shown}\n{said}"
    );
    assert!(said.contains("hakaru recover"), "{said}");
    assert!(
        recovered.status.success(),
        "{}",
        support::text(&recovered.stderr)
    );
    assert!(
        support::text(&listed.stdout).contains("durable "),
        "{}",
        support::text(&listed.stdout)
    );
}
