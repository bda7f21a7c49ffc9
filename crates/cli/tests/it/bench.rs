//! Tests `hakaru bench` from the command line: its output, refusals, and leftover files.

use crate::support::{self, Home, hakaru, records, root_loop};
use std::io::Read;
use std::os::unix::process::ExitStatusExt;
use std::process::Stdio;
use std::time::{Duration, Instant};

pub(crate) const SHORT: [&str; 4] = [
    "--quick",
    "--repeat=1",
    "--only=rand-read,durable",
    "--size=16MiB",
];

#[test]
fn a_directory_is_measured_stored_and_reported_and_nothing_stays() {
    let home = Home::new();
    let mut command = hakaru(&home);
    command.arg("bench").args(SHORT).arg(home.work());
    let out = command.output().unwrap();
    let (stdout, stderr) = (support::text(&out.stdout), support::text(&out.stderr));
    assert!(out.status.success(), "{stderr}");
    for word in ["Random reads", "Durable writes", "Report: "] {
        assert!(stdout.contains(word), "{stdout}");
    }
    let report = stdout.lines().rev();
    let mut report = report.filter_map(|line| line.strip_prefix("Report: "));
    let page = std::fs::read_to_string(report.next().unwrap()).unwrap();
    assert!(page.contains("<svg"));
    assert_eq!(home.left_behind(), 0);
    let records = records(&home);
    assert_eq!(records.len(), 1);
    assert!(records[0].overhead.is_some_and(|o| o.per_io_ps > 0));
    let listed = support::execute(&home, "list");
    assert!(support::text(&listed.stdout).contains("Random reads "));
    let named = [
        ("html", "Random reads"),
        ("markdown", "Random reads"),
        ("csv", "rand-read"),
    ];
    for (format, name) in named {
        let page = support::execute(&home, &format!("report latest -o - --format {format}"));
        assert!(page.status.success(), "{format}");
        assert!(support::text(&page.stdout).contains(name), "{format}");
    }
    let shown = support::execute(&home, "show latest --json");
    let record: hakaru_model::record::RunRecord = serde_json::from_slice(&shown.stdout).unwrap();
    assert_eq!(record, records[0]);
}

#[test]
fn leave_to_erase_is_for_devices() {
    let home = Home::new();
    let out = hakaru(&home)
        .args(["bench", "--erase=0x1234"])
        .args(SHORT)
        .arg(home.work())
        .output()
        .unwrap();
    let said = support::text(&out.stderr);
    assert!(
        out.status.code() == Some(2) && said.contains("--erase=0x1234 needs a device, and"),
        "{said}"
    );
    assert!(records(&home).is_empty());
}

#[test]
fn quiet_says_nothing_on_the_way() {
    let home = Home::new();
    let out = hakaru(&home)
        .arg("bench")
        .args(SHORT)
        .arg("--quiet")
        .arg(home.work())
        .output()
        .unwrap();
    assert!(out.status.success());
    assert_eq!(support::text(&out.stderr), "");
}

#[test]
fn one_seed_repeats_the_offsets() {
    // On the simulated card the offsets determine every latency, so equal records mean equal offsets.
    let home = Home::new();
    let card = home.work().join("card.json");
    let mut model =
        hakaru_model::device_model::DeviceModel::plain("card", hakaru_model::units::Bytes(1 << 30));
    model.jitter_permille = 50;
    std::fs::write(&card, serde_json::to_string(&model).unwrap()).unwrap();
    for seed in ["--seed=3", "--seed=3", "--seed=4"] {
        let args = "bench --quick --repeat=1 --size=64MiB --output=- --simulate";
        let mut command = hakaru(&home);
        command.args(args.split(' ')).arg(&card).arg(seed);
        let out = command.output().unwrap();
        assert!(out.status.success());
        let is_page = out.stdout.starts_with(b"<!DOCTYPE html>");
        assert!(is_page, "the page, and nothing else");
    }
    let phases: Vec<String> = records(&home)
        .iter()
        .map(|r| serde_json::to_string(&r.phases).unwrap())
        .collect();
    assert_eq!(phases[1], phases[2], "one seed, one run");
    assert_ne!(phases[0], phases[1], "another seed, another run");
}

#[test]
fn what_cannot_be_measured_is_said_with_its_cure() {
    let home = Home::new();
    let socket = home.work().join("socket");
    let _listener = std::os::unix::net::UnixListener::bind(&socket).unwrap();
    let file = home.work().join("file");
    std::fs::write(&file, "precious").unwrap();
    let missing = home.work().join("missing");
    let work = home.work();
    let cases: [(&[&str], &std::path::Path, i32, &str); 6] = [
        (&[], &socket, 2, "name a directory"),
        (&[], &file, 2, "name its directory"),
        (&[], &missing, 2, "missing"),
        (&["--size=4MiB"], &work, 2, "use at least 16MiB"),
        (&["--size=4k"], &work, 2, "4kB"),
        (&["--size=900TiB"], &work, 2, "free some space"),
    ];
    for (args, path, code, word) in cases {
        let mut command = hakaru(&home);
        let out = command.arg("bench").args(args).arg(path).output().unwrap();
        let said = support::text(&out.stderr);
        assert_eq!(out.status.code(), Some(code), "{path:?} {args:?}: {said}");
        assert!(
            said.contains(word) && !said.contains("panicked"),
            "{path:?} {args:?} should say `{word}`: {said}"
        );
    }
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "precious");
    assert!(records(&home).is_empty());
}

#[test]
fn an_unwritable_directory_says_so() {
    let home = Home::new();
    // Even root cannot write here.
    let out = hakaru(&home)
        .args(["bench", "--quick", "/proc/self"])
        .output()
        .unwrap();
    let said = support::text(&out.stderr);
    assert!(matches!(out.status.code(), Some(1 | 2)), "{said}");
    assert!(
        said.contains("/proc/self") && !said.contains("panicked"),
        "{said}"
    );
}

#[test]
fn ctrl_c_keeps_what_was_measured_and_a_kill_leaves_no_file() {
    let home = Home::new();
    for (signal, code) in [
        (rustix::process::Signal::INT, Some(130)),
        (rustix::process::Signal::KILL, None),
    ] {
        let mut child = hakaru(&home)
            .args(["bench", "--standard", "--only=rand-read", "--size=16MiB"])
            .arg(home.work())
            .stderr(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        // The spool is created when the measurement starts, and its first two seconds do not count.
        let spooled = |entry: std::io::Result<std::fs::DirEntry>| {
            entry.unwrap().path().extension() == Some("jsonl".as_ref())
        };
        let spools = || std::fs::read_dir(home.path().join("hakaru.db.spool"));
        support::wait_until(|| spools().is_ok_and(|mut spools| spools.any(spooled)));
        std::thread::sleep(Duration::from_millis(2_800));
        let begun = Instant::now();
        rustix::process::kill_process(rustix::process::Pid::from_child(&child), signal).unwrap();
        let status = child.wait().unwrap();
        assert!(begun.elapsed() < Duration::from_secs(60));
        match code {
            Some(code) => {
                let mut said = String::new();
                child
                    .stderr
                    .take()
                    .unwrap()
                    .read_to_string(&mut said)
                    .unwrap();
                assert_eq!(status.code(), Some(code), "{said}");
                assert!(!said.contains("panicked"), "{said}");
                let record = &records(&home)[0];
                assert_eq!(record.outcome, hakaru_model::record::Outcome::Interrupted);
                assert!(record.phases[0].workers[0].ops.read.ios > 0);
            }
            None => assert_eq!(status.signal(), Some(9)),
        }
        assert_eq!(
            home.left_behind(),
            0,
            "a file was left behind after {signal:?}"
        );
    }
}

#[test]
fn bench_refuses_what_fio_fills_a_disk_with() {
    let home = Home::new();
    let Some(disk) = root_loop(&home, 24 << 20) else {
        return;
    };
    let mount = disk.mkfs_and_mount("ext4");
    let mut command = hakaru(&home);
    command
        .args(["bench", "--quick", "--size=200MiB"])
        .arg(&mount);
    let out = command.output().unwrap();
    let said = support::text(&out.stderr);
    assert_eq!(out.status.code(), Some(2), "{said}");
    assert!(said.contains("free") && said.contains("--size"), "{said}");
    let files = || {
        let entries = std::fs::read_dir(&mount).unwrap();
        let names = entries.map(|entry| entry.unwrap().file_name());
        names
            .filter(|name| name != "lost+found")
            .collect::<Vec<_>>()
    };
    assert_eq!(files(), [""; 0], "bench leaves nothing");
    let fio = "fio --name=a --rw=write --bs=1m --size=200m --directory";
    let mut command = hakaru(&home);
    let out = command.args(fio.split(' ')).arg(&mount).output().unwrap();
    let said = support::text(&out.stderr);
    assert_eq!(out.status.code(), Some(1), "{said}");
    assert!(said.contains("space"), "{said}");
    // fio fills the file system, prints its result, and leaves the file.
    assert_eq!(files(), ["a.0.0"]);
}

#[test]
fn a_device_is_only_read_and_its_errors_are_data() {
    let home = Home::new();
    let Some(disk) = root_loop(&home, 64 << 20) else {
        return;
    };
    let out = hakaru(&home)
        .args(["bench", "--quick", "--repeat=1", "--size=32MiB"])
        .arg(disk.device())
        .output()
        .unwrap();
    let said = support::text(&out.stderr);
    assert!(out.status.success(), "{said}");
    assert!(said.contains("reads only"), "{said}");
    assert_eq!(records(&home)[0].phases.len(), 2);
    let out = hakaru(&home)
        .args(["bench", "--only=seq-write"])
        .arg(disk.device())
        .output()
        .unwrap();
    assert_eq!(out.status.code(), Some(3));

    // Half of the medium disappears: I/O to that half fails with EIO.
    disk.cut_in_half();
    let out = hakaru(&home)
        .args([
            "bench",
            "--quick",
            "--repeat=1",
            "--only=seq-read",
            "--size=64MiB",
        ])
        .arg(disk.device())
        .output()
        .unwrap();
    let said = support::text(&out.stderr);
    assert_eq!(out.status.code(), Some(1), "{said}");
    assert!(
        said.contains("os error 5") || said.contains("Input/output error"),
        "{said}"
    );
    let record = &records(&home)[0];
    assert!(record.phases[0].workers[0].errors.total > 0);
    assert!(matches!(
        record.outcome,
        hakaru_model::record::Outcome::Failed { .. }
    ));
    assert!(
        record
            .caveats
            .iter()
            .any(|c| matches!(c, hakaru_model::caveat::Caveat::DeviceErrors { .. }))
    );
}

#[test]
fn a_file_system_without_direct_io_is_a_caveat() {
    let home = Home::new();
    // tmpfs supports O_DIRECT since Linux 6.6; ramfs does not.
    let Some(mount) = support::ramfs(&home) else {
        return;
    };
    let out = hakaru(&home)
        .arg("bench")
        .args(SHORT)
        .arg(mount.path())
        .output()
        .unwrap();
    let (stdout, stderr) = (support::text(&out.stdout), support::text(&out.stderr));
    assert!(out.status.success(), "{stderr}");
    assert!(stdout.contains("O_DIRECT"), "{stdout}");
}

/// Returns the lines in the spools of runs in progress.
fn spooled(home: &Home) -> String {
    let spools = std::fs::read_dir(home.path().join("hakaru.db.spool"))
        .into_iter()
        .flatten()
        .flatten();
    spools
        .filter_map(|spool| std::fs::read_to_string(spool.path()).ok())
        .collect()
}

#[test]
fn a_run_that_is_killed_is_kept_as_far_as_it_came() {
    let home = Home::new();
    let workloads = [
        "--quick",
        "--repeat=1",
        "--only=rand-read,seq-read,rand-write,seq-write,mixed,durable",
        "--size=16MiB",
    ];
    let mut bench = hakaru(&home)
        .arg("bench")
        .args(workloads)
        .arg(home.work())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    support::wait_until(|| spooled(&home).contains("{\"done\""));
    let recover = || {
        let out = hakaru(&home).arg("recover").output().unwrap();
        assert_eq!(out.status.code(), Some(0), "{}", support::text(&out.stderr));
        support::text(&out.stdout) + &support::text(&out.stderr)
    };
    // While the run is in progress, no recovery takes its spool.
    assert!(recover().contains("in progress") && records(&home).is_empty());
    bench.kill().unwrap();
    bench.wait().unwrap();
    let noted = hakaru(&home).arg("list").output().unwrap();
    assert!(
        support::text(&noted.stderr)
            .contains("1 run was interrupted; `hakaru recover` stores what it measured")
    );
    let said = recover();
    assert!(
        said.contains("cut short: Random reads") && said.contains("stored as run"),
        "{said}"
    );
    let record = records(&home).remove(0);
    assert_eq!(record.outcome, hakaru_model::record::Outcome::Interrupted);
    let shown = hakaru(&home).args(["show", "latest"]).output().unwrap();
    let shown = support::text(&shown.stdout);
    assert!(
        shown.contains("Random reads") && shown.contains("Incomplete: interrupted after"),
        "{shown}"
    );
    assert!(recover().contains("Nothing to recover"));
}

/// A file size limit for the program and its children simulates a full file system.
#[test]
fn what_cannot_be_stored_is_printed_in_full_and_kept() {
    let home = Home::new();
    let card = home.work().join("card.json");
    let model =
        hakaru_model::device_model::DeviceModel::plain("card", hakaru_model::units::Bytes(1 << 30));
    std::fs::write(&card, serde_json::to_string(&model).unwrap()).unwrap();
    let words = ["bench", "--repeat=1", "--only=seq-write", "--simulate"];
    let full = home.path().join("full");
    std::fs::create_dir(&full).unwrap();
    let database = full.join("hakaru.db");
    let mut normal = hakaru(&home);
    normal.env("HAKARU_DB", &database).args(words).arg(&card);
    let normal = normal.output().unwrap();
    assert!(normal.status.success(), "{}", support::text(&normal.stderr));
    let mut export = hakaru(&home);
    let exported = export.env("HAKARU_DB", &database).arg("export");
    let exported = exported.output().unwrap().stdout;
    // The record alone fits, but the database log with its derived rows does not.
    let blocks = (exported.len() + 2048) / 512;
    let mut limited = std::process::Command::new("sh");
    let script = format!("trap '' XFSZ; ulimit -f {blocks}; exec \"$@\"");
    let program = hakaru(&home);
    limited
        .args(["-c", &script, "sh"])
        .arg(program.get_program())
        .args(words)
        .arg(&card);
    limited
        .env("HOME", home.path())
        .env("NO_COLOR", "1")
        .env("TMPDIR", home.path());
    limited.env("HAKARU_DB", &database);
    let out = limited.output().unwrap();
    let (shown, said) = (support::text(&out.stdout), support::text(&out.stderr));
    assert_eq!(out.status.code(), Some(1), "{said}");
    assert!(
        said.contains("the run finished, but its record could not be stored"),
        "{said}"
    );
    assert!(shown.contains("Sequential writes"), "{shown}\n{said}");
    let kept = said
        .split_whitespace()
        .find(|word| word.ends_with(".jsonl:"))
        .expect("the file that keeps it is named");
    let import = hakaru(&home)
        .arg("import")
        .arg(kept.trim_end_matches(':'))
        .output()
        .unwrap();
    assert!(import.status.success(), "{}", support::text(&import.stderr));
    assert_eq!(records(&home).len(), 1);
}
