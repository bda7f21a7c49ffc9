//! Tests the iozone front end as called by programs: its name, columns, exit codes and leftover files.

use crate::support::{self, Home, hakaru, text};
use hakaru_dialects::import::{SourceText, import};
use hakaru_dialects::iozone::{FigureUnit, TestFigures};
use std::path::Path;
use std::process::{Command, Output, Stdio};

fn command(home: &Home, line: &str) -> Command {
    let mut command = hakaru(home);
    command
        .current_dir(home.work())
        .arg("iozone")
        .args(line.split_whitespace());
    command
}

fn run(home: &Home, line: &str) -> Output {
    command(home, line).output().unwrap()
}

#[track_caller]
fn succeeds(home: &Home, line: &str) -> String {
    let out = run(home, line);
    let (stdout, stderr) = (text(&out.stdout), text(&out.stderr));
    assert!(out.status.success(), "{line}: {stderr}");
    assert_eq!(stderr, "", "{line}");
    stdout
}

#[track_caller]
fn fails(home: &Home, line: &str, words: &str) {
    let out = run(home, line);
    let stderr = text(&out.stderr);
    assert_eq!(out.status.code(), Some(1), "{line}: {stderr}");
    assert!(stderr.contains(words), "{line}: {stderr}");
    assert_eq!(home.left_behind(), 0, "{line}");
}

/// Returns the number after the equals sign in the line that starts with this text.
fn figure(text: &str, beginning: &str) -> f64 {
    let line = text
        .lines()
        .find(|line| line.trim_start().starts_with(beginning))
        .unwrap_or_else(|| panic!("{text}"));
    line.split('=')
        .nth(1)
        .unwrap()
        .split_whitespace()
        .next()
        .unwrap()
        .parse()
        .unwrap()
}

#[test]
fn the_published_command_runs_as_printed() {
    let home = Home::new();
    let text = succeeds(&home, "-T -t 4 -s 1m -r 4k -I -i0 -i1 -i2");
    let tests = [
        "initial writers",
        "rewriters",
        "readers",
        "re-readers",
        "random readers",
        "random writers",
    ];
    for test in tests {
        assert!(text.contains(&format!("4 {test} ")), "{test}: {text}");
    }
    assert_eq!(text.matches("\tMin xfer \t\t\t\t\t= ").count(), 6);
    let (children, parent) = (figure(&text, "Children see"), figure(&text, "Parent sees"));
    assert!(children > 0.0 && parent > 0.0);
    assert!(figure(&text, "Min throughput") <= figure(&text, "Avg throughput"));
    assert!(figure(&text, "Min xfer") <= 1024.0);
    assert!(
        text.ends_with(" kB\n\n\n\niozone test complete.\n"),
        "{text}"
    );
    assert_eq!(home.left_behind(), 0, "files are removed");
}

#[test]
fn the_table_is_where_clients_look_for_it() {
    let home = Home::new();
    let text = succeeds(&home, "-a -e -I -i 0 -i 1 -i 2 -s 1M -r 4k -r 1024k");
    let lines: Vec<&str> = text.lines().collect();
    let [.., row, empty, end] = &lines[..] else {
        panic!("{text}")
    };
    assert_eq!((*empty, *end), ("", "iozone test complete."));
    let words: Vec<u64> = row
        .split_whitespace()
        .map(|word| word.parse().unwrap())
        .collect();
    assert_eq!((words.len(), &words[..2]), (8, &[1024, 1024][..]));
    assert!(words[2..].iter().all(|&rate| rate > 0), "{row}");
    let all = succeeds(&home, "-s 256 -r 8");
    let row = all.lines().rev().nth(2).unwrap();
    assert_eq!(
        (row.len(), row.split_whitespace().count()),
        (143, 15),
        "{row}"
    );
    assert_eq!(home.left_behind(), 0);
}

#[test]
fn every_test_and_way_of_doing_io_runs() {
    let home = Home::new();
    for line in [
        "-t 2 -s 512k -r 16k -x -C",
        "-l 1 -u 2 -s 512k -r 64k -i 0 -i 8 -i 9 -i 10 -i 11 -i 12 -O -e -c",
        "-t 2 -s 512k -r 64k -i 0 -i 2 -B -G",
        "-t 2 -s 512k -r 64k -i 0 -i 1 -k 4 -P 0 -d 100 -F a b",
        "-s 512k -r 64k -o -N -+n",
        "-a -n 64 -g 128 -i 0 -i 6 -i 7 -+q 0 -R",
    ] {
        let text = succeeds(&home, line);
        assert!(text.contains("iozone test complete."), "{line}: {text}");
        assert_eq!(home.left_behind(), 0, "{line}");
    }
}

#[test]
fn what_is_stored_and_what_is_printed_say_the_same() {
    let home = Home::new();
    for line in [
        "-t 3 -s 2m -r 16k -i0 -i1 -i2 -i3 -i6 -i8 -i9 -i11",
        "-a -s 1m -r 16k -i 0 -i 1 -i 4 -i 5",
    ] {
        let out = command(&home, line)
            .env("HAKARU_STORE", "1")
            .output()
            .unwrap();
        assert!(
            out.status.success() && text(&out.stderr).contains("stored as"),
            "{}",
            text(&out.stderr)
        );
        let record = support::records(&home).remove(0);
        let printed = text(&out.stdout);
        let found = import(&[SourceText {
            name: "out",
            text: &printed,
        }]);
        let [imported] = &found.runs[..] else {
            panic!("one run in {printed}")
        };
        let imported = &imported.run;
        assert_eq!(imported.unread, [], "{printed}");
        assert_eq!(imported.phases.len(), record.phases.len(), "{printed}");
        for (place, (theirs, ours)) in imported.phases.iter().zip(&record.phases).enumerate() {
            assert_eq!(theirs.name, ours.name);
            let measured =
                TestFigures::of(ours, 16, FigureUnit::KiloBytes, Default::default()).children;
            let worker = &theirs.workers[0];
            let by_count = worker.ops.iter().find(|(_, op)| op.bytes > 0);
            let by_count = by_count.map(|(_, op)| op.bytes as f64 / worker.runtime.as_secs_f64());
            let report = imported.reported.worker(place, 0).unwrap();
            let stated = report
                .ops
                .iter()
                .find_map(|(_, op)| op.bytes_per_s)
                .map(|rate| rate.mean);
            let read = by_count.or(stated).unwrap() / 1024.0;
            // Allows for printing in whole KB/s and for the runtime in whole nanoseconds, which matters for short
            // tests.
            let allowed = 0.51 + measured / worker.runtime.0.max(1) as f64;
            assert!(
                (read - measured).abs() < allowed,
                "{}: {read} and {measured}",
                ours.name
            );
        }
    }
}

/// Regression: measured rows were lost when the reader of the output ended, although storing was requested.
#[test]
fn what_nobody_reads_is_kept_where_that_is_asked_for() {
    use std::io::Read;
    let home = Home::new();
    let mut command = command(&home, "-s 64m -r 64k -i 0 -i 1 -i 2");
    let mut child = command
        .env("HAKARU_STORE", "1")
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut out = child.stdout.take().unwrap();
    let (mut said, mut byte) = (String::new(), [0]);
    // The row starts with file size and record size, before anything is measured.
    while !said.ends_with("65536      64") && out.read(&mut byte).unwrap() > 0 {
        said.push(byte[0].into());
    }
    drop(out);
    let ended = child.wait_with_output().unwrap();
    let printed = text(&ended.stderr);
    assert!(
        !ended.status.success() && printed.contains("cannot write the result"),
        "{printed}"
    );
    assert!(printed.contains("stored as"), "{printed}");
    assert_eq!(support::records(&home).len(), 1);
}

#[test]
fn reports_for_spreadsheets_are_printed_and_written() {
    let home = Home::new();
    let book = home.path().join("out.xls");
    let line = format!("-s 128 -r 4 -i 0 -Rb {}", book.display());
    let text = succeeds(&home, &line);
    let report: Vec<&str> = text
        .split("Excel output is below:\n")
        .nth(1)
        .unwrap()
        .lines()
        .collect();
    assert_eq!(&report[..3], ["", "\"Writer report\"", "        \"4\""]);
    assert!(report[3].starts_with("\"128\"   "), "{report:?}");
    assert_eq!(
        &std::fs::read(&book).unwrap()[..2],
        [0x09, 0x00],
        "an old workbook begins with its version"
    );
    let book = home.path().join("out.xlsx");
    succeeds(&home, &format!("-s 128 -r 4 -i 0 -Rb {}", book.display()));
    assert_eq!(
        &std::fs::read(&book).unwrap()[..2],
        b"PK",
        "a new one is a zip archive"
    );
    let text = succeeds(&home, "-t 1 -s 128 -r 4 -i 0 -R");
    assert!(text.contains("\n\"  Initial write \" "), "{text}");
}

#[test]
fn what_cannot_be_is_said_before_anything_is_touched() {
    let home = Home::new();
    fails(&home, "-t 2 -i 1", "add -i 0");
    fails(&home, "-s 900t -i 0", "use a smaller -s");
    fails(&home, "-i 0 -f /proc/no/such/file", "/proc/no/such/file");
    fails(&home, "-i 0 -U /mnt", "is not supported");
    fails(&home, "-i 0 -r 2k -s 1k", "use a smaller -r");
    if let Some(ram) = support::ramfs(&home) {
        fails(
            &home,
            &format!("-i 0 -I -f {}/x", ram.path().display()),
            "omit -I",
        );
    }
}

#[test]
fn a_full_file_system_ends_the_run_with_its_cause() {
    let home = Home::new();
    let Some(disk) = support::root_loop(&home, 32 << 20) else {
        return;
    };
    let mount = disk.mkfs_and_mount("ext4");
    let file = mount.join("f");
    fails(
        &home,
        &format!("-i 0 -s 1g -f {}", file.display()),
        "use a smaller -s",
    );
    // Data that other programs write meanwhile uses the space that was free before.
    let mut child = command(&home, &format!("-i 0 -s 16m -r 4 -o -f {}", file.display()))
        .stderr(Stdio::piped())
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    support::wait_until(|| file.exists() || !matches!(child.try_wait(), Ok(None)));
    let _ = std::fs::write(mount.join("other"), vec![1; 32 << 20]);
    let out = child.wait_with_output().unwrap();
    if !out.status.success() {
        assert!(
            text(&out.stderr).contains("the file system is full"),
            "{}",
            text(&out.stderr)
        );
    }
    assert!(!file.exists(), "what was written is removed");
}

#[test]
fn ctrl_c_ends_it_and_leaves_nothing_behind() {
    let home = Home::new();
    // Half a million synchronous writes last long enough for the signal, and need little space.
    let mut child = command(&home, "-t 2 -s 256m -r 1 -o -i 0")
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    support::wait_until(|| home.left_behind() == 2 || !matches!(child.try_wait(), Ok(None)));
    let killed = Command::new("kill")
        .args(["-INT", &child.id().to_string()])
        .status()
        .unwrap();
    assert!(killed.success());
    let out = child.wait_with_output().unwrap();
    assert_eq!(out.status.code(), Some(130), "{}", text(&out.stderr));
    assert!(
        text(&out.stdout).ends_with("\niozone: interrupted\n\nexiting iozone\n\n"),
        "{}",
        text(&out.stdout)
    );
    assert_eq!(home.left_behind(), 0);
}

#[test]
fn files_stay_when_asked_and_a_file_that_is_only_read_always_does() {
    let home = Home::new();
    succeeds(&home, "-w -i 0 -s 64 -t 1");
    assert_eq!(home.left_behind(), 1);
    let before = std::fs::read(home.work().join("iozone.DUMMY.0")).unwrap();
    succeeds(&home, "-i 1 -s 64 -t 1");
    assert!(
        before == std::fs::read(home.work().join("iozone.DUMMY.0")).unwrap(),
        "it was only read"
    );
    succeeds(&home, "-i 0 -s 4 -r 4 -t 1");
    assert_eq!(home.left_behind(), 0, "what is written is removed");
}

#[test]
fn a_link_named_iozone_is_iozone() {
    let home = Home::new();
    let program = hakaru(&home).get_program().to_owned();
    let link = home.path().join("iozone");
    std::os::unix::fs::symlink(Path::new(&program), &link).unwrap();
    let out = Command::new(&link).arg("-v").output().unwrap();
    assert!(
        text(&out.stdout).contains("Version $Revision: 3.471 $"),
        "{}",
        text(&out.stdout)
    );
    let out = Command::new(&link).arg("-h").output().unwrap();
    assert!(text(&out.stdout).contains("Usage: iozone -a"));
}
