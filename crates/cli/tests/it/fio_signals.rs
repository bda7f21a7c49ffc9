//! Tests signals to the fio front end, interim results, and jobs that cannot start. Compares with the installed fio if
//! its version behaves the same.

use crate::support::{Home, hakaru, text, wait_until};
use serde_json::{Deserializer, Value};
use std::path::PathBuf;
use std::process::{Child, Command, Output, Stdio};
use std::time::Duration;

/// Options of a job that runs much longer than any test.
const LONG: &str = "--name=a --ioengine=null --rw=randread --size=1g --rate_iops=500 --time_based --runtime=600 \
    --write_bw_log=log --log_avg_msec=1 --thinktime=1ms";

/// Returns hakaru, and then the installed fio.
fn programs(home: &Home) -> Vec<Command> {
    let mut ours = hakaru(home);
    ours.arg("fio");
    let installed = Command::new("fio").arg("--version").output().is_ok();
    if !installed {
        eprintln!("SKIPPED: fio is not installed, ours is looked at alone");
    }
    std::iter::once(ours)
        .chain(installed.then(|| Command::new("fio")))
        .collect()
}

/// A running child process that is killed when dropped.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        // Ignored: in a successful test it has already ended.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Starts a run under a shell that sets up signal handling, and sends it signals, each after the number of results that
/// `due` requires.
fn signaled(
    mut program: Command,
    home: &Home,
    shell: &str,
    words: &str,
    signals: &[&str],
) -> (Option<i32>, String) {
    let line = format!("{shell} exec \"$@\"");
    let out = home.work().join("out");
    let mut command = heeding_hangups();
    command
        .args(["bash", "-c", &line, "bash"])
        .arg(program.get_program())
        .args(program.get_args());
    for (name, value) in program.get_envs() {
        match value {
            Some(value) => command.env(name, value),
            None => command.env_remove(name),
        };
    }
    program.env_clear();
    command
        .args(LONG.split_whitespace())
        .args(words.split_whitespace())
        .current_dir(home.work());
    let mut running = Running(
        command
            .arg("--output=out")
            .stdin(Stdio::null())
            .spawn()
            .unwrap(),
    );
    let pid = running.0.id();
    let printed = || std::fs::read_to_string(&out).unwrap_or_default();
    // It handles signals after it has started to print.
    wait_until(|| begun(&printed(), pid));
    for signal in signals {
        let before = results(&printed());
        let send = || {
            Command::new("bash")
                .args(["-c", &format!("kill -{signal} {pid}")])
                .status()
                .unwrap()
        };
        assert!(send().success());
        if *signal == "USR1" {
            // fio loses a signal that arrives before its jobs run.
            wait_until(|| {
                std::thread::sleep(Duration::from_millis(500));
                results(&printed()) > before || !send().success()
            });
        }
    }
    let status = running.0.wait().unwrap();
    (status.code(), std::fs::read_to_string(&out).unwrap())
}

/// Returns a command that runs its arguments as a program with default SIGHUP handling, even if the tests run with
/// SIGHUP ignored, as under `nohup`: an ignored signal stays ignored in child processes.
fn heeding_hangups() -> Command {
    let mut env = Command::new("env");
    if ignores_hangups() {
        env.arg("--default-signal=HUP");
    }
    env
}

/// Whether this process ignores SIGHUP, which its children inherit.
fn ignores_hangups() -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status
        .lines()
        .find_map(|line| u64::from_str_radix(line.strip_prefix("SigIgn:")?.trim(), 16).ok());
    ignored.is_some_and(|mask| mask & 1 == 1)
}

/// Counts the results in a text output.
fn results(text: &str) -> usize {
    text.matches("Run status group 0").count()
}

/// Whether a run has printed its banner and handles signals.
fn begun(text: &str, pid: u32) -> bool {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let caught = status
        .lines()
        .find_map(|line| u64::from_str_radix(line.strip_prefix("SigCgt:")?.trim(), 16).ok());
    text.contains("Starting 1 process") && caught.is_some_and(|mask| mask >> 14 & 1 == 1)
}

#[test]
fn a_report_is_printed_on_sigusr1_and_the_run_goes_on() {
    let home = Home::new();
    let mut ours = hakaru(&home);
    ours.arg("fio");
    // fio 3.33 behaves the same, also if a shell starts it with these signals ignored.
    for shell in ["", "trap '' USR1 INT;"] {
        let _ = std::fs::remove_file(home.work().join("out"));
        let (status, text) = signaled(clone(&ours), &home, shell, "", &["USR1", "USR1", "INT"]);
        assert_eq!(status, Some(128), "{shell:?}: {text}");
        assert!(results(&text) >= 3, "{shell:?}: {text}");
        assert!(
            text.contains("terminating on signal 2"),
            "{shell:?}: {text}"
        );
    }
}

/// Returns a command with the same arguments and environment.
fn clone(command: &Command) -> Command {
    let mut other = Command::new(command.get_program());
    other.args(command.get_args());
    for (name, value) in command.get_envs() {
        match value {
            Some(value) => other.env(name, value),
            None => other.env_remove(name),
        };
    }
    other
}

#[test]
fn a_hangup_ends_the_run_with_its_result_unless_it_is_ignored() {
    let home = Home::new();
    let mut ours = hakaru(&home);
    ours.arg("fio");
    let (status, text) = signaled(clone(&ours), &home, "", "", &["HUP"]);
    assert_eq!((status, results(&text)), (Some(129), 1), "{text}");
    std::fs::remove_file(home.work().join("out")).unwrap();
    let (status, text) = signaled(ours, &home, "trap '' HUP;", "", &["HUP", "USR1", "TERM"]);
    assert_eq!(status, Some(128), "{text}");
    assert!(results(&text) >= 2, "{text}");
}

fn values(out: &Output) -> Vec<Value> {
    // fio prints notes before the results.
    let printed = text(&out.stdout);
    let json = &printed[printed.find("{\n").unwrap_or(0)..];
    Deserializer::from_str(json)
        .into_iter()
        .collect::<Result<_, _>>()
        .unwrap_or_else(|e| panic!("{e}: {printed}"))
}

#[test]
fn reports_in_between_have_all_that_the_last_one_has() {
    let home = Home::new();
    std::fs::write(home.work().join("f"), vec![1; 1 << 20]).unwrap();
    let words = "--name=a --filename=f --rw=read --rate_iops=100 --time_based --runtime=2 --status-interval=1 --name=b \
        --filename=f --rw=read --stonewall --number_ios=1";
    for program in programs(&home) {
        let run = |format: &str| {
            let mut program = clone(&program);
            program.args(words.split_whitespace()).arg(format);
            program.current_dir(home.work()).output().unwrap()
        };
        // One result per second and the final one; a result is missing if the host delays the program for a second.
        let all = (0..20).map(|_| values(&run("--output-format=json")));
        let all = all.inspect(check_shape).find(|all| all.len() >= 3);
        assert!(all.is_some(), "3 results of 2 s, one each second");
        let all = (0..20).map(|_| terse_fields(&run("--minimal")));
        let all =
            all.inspect(|fields| assert!(fields.iter().all(|n| *n == fields[0]), "{fields:?}"));
        assert!(all.into_iter().any(|fields| fields.len() >= 6));
    }
}

/// Checks that the results have the same jobs and the same number of disks.
fn check_shape(all: &Vec<Value>) {
    let names = |value: &Value| -> Vec<String> {
        value["jobs"]
            .as_array()
            .unwrap()
            .iter()
            .map(|job| job["jobname"].to_string())
            .collect()
    };
    let disks = |value: &Value| value["disk_util"].as_array().map(Vec::len);
    let last = all.last().unwrap();
    assert!(
        all.iter()
            .all(|value| names(value) == names(last) && disks(value) == disks(last)),
        "{all:#?}"
    );
}

/// Returns the number of fields of each terse line.
fn terse_fields(out: &Output) -> Vec<usize> {
    // fio prints notes before the results.
    text(&out.stdout)
        .lines()
        .map(|line| line.split(';').count())
        .filter(|count| *count > 1)
        .collect()
}

#[test]
fn a_file_asks_for_a_report_as_a_signal_does() {
    let home = Home::new();
    for mut program in programs(&home) {
        program.env("TMPDIR", home.path()).current_dir(home.work());
        let long = LONG.replace("--runtime=600", "--runtime=3");
        let ask: PathBuf = home.path().join("fio-dump-status");
        std::fs::write(&ask, "").unwrap();
        let out = program.args(long.split_whitespace()).output().unwrap();
        assert_eq!(results(&text(&out.stdout)), 2, "{}", text(&out.stdout));
        assert!(!ask.exists(), "it asks once");
    }
}

#[test]
fn jobs_that_cannot_start_are_in_the_result_and_counted() {
    let home = Home::new();
    let directory = home.work().join("folder");
    std::fs::create_dir(&directory).unwrap();
    for words in [
        "--name=a --rw=read --numjobs=3 --output-format=json",
        "--name=a --rw=read --numjobs=2 --group_reporting --output-format=json",
        "--name=a --filename=folder --rw=read --size=4k --output-format=json",
        "--name=a --filename=/dev/null --rw=read --size=4k --ioengine=mmap --output-format=json",
        "--name=a --filename=f --rw=trim --size=64k --output-format=json",
    ] {
        let seen = programs(&home).into_iter().map(|mut program| {
            let out = program
                .args(words.split_whitespace())
                .current_dir(home.work())
                .output()
                .unwrap();
            let printed = text(&out.stdout);
            // fio prints notes before the JSON.
            let json: Value = serde_json::from_str(&printed[printed.find("{\n").unwrap_or(0)..])
                .unwrap_or_else(|e| panic!("{words}: {e}: {printed}"));
            let errors: Vec<i64> = json["jobs"]
                .as_array()
                .unwrap()
                .iter()
                .filter_map(|job| job["error"].as_i64())
                .collect();
            (out.status.code(), errors)
        });
        let seen: Vec<_> = seen.collect();
        assert!(
            seen[0].1.iter().all(|errno| *errno > 0),
            "{words}: {seen:?}"
        );
        assert!(
            seen.windows(2).all(|pair| pair[0] == pair[1]),
            "{words}: {seen:?}"
        );
    }
}

#[test]
fn letters_stand_for_options() {
    let home = Home::new();
    std::fs::write(
        home.work().join("j.fio"),
        "[global]\nioengine=null\nsize=4k\nrw=read\n[a]\n[b]\n",
    )
    .unwrap();
    for words in [
        "-m j.fio",
        "-mV5 j.fio",
        "-Fjson -x a j.fio",
        "-F json -xb j.fio",
        "-o FILE -r j.fio",
        "-P j.fio",
        "-s j.fio",
    ] {
        let seen = programs(&home).into_iter().map(|mut program| {
            let out = program
                .args(words.split_whitespace())
                .current_dir(home.work())
                .output()
                .unwrap();
            let file = std::fs::read_to_string(home.work().join("FILE")).unwrap_or_default();
            let printed = text(&out.stdout) + &file;
            let fields: Vec<usize> = printed
                .lines()
                .map(|line| line.split(';').count())
                .filter(|n| *n > 100)
                .collect();
            let jobs = [
                "jobname\" : \"a",
                "jobname\" : \"b",
                "\na: (group",
                "\nb: (group",
            ]
            .map(|job| printed.contains(job));
            (out.status.code(), fields, jobs, out.stdout.is_empty())
        });
        let seen: Vec<_> = seen.collect();
        assert_eq!(seen[0].0, Some(0), "{words}");
        assert!(
            seen.windows(2).all(|pair| pair[0] == pair[1]),
            "{words}: {seen:?}"
        );
    }
}

#[test]
fn a_steady_state_that_is_not_reached_has_a_whole_window() {
    let home = Home::new();
    let words = "--name=a --ioengine=null --rw=randread --size=1g --rate_iops=100 --time_based --runtime=2 --ss=iops:0.0001% \
        --ss_dur=4 --output-format=json";
    for mut program in programs(&home) {
        let out = program
            .args(words.split_whitespace())
            .current_dir(home.work())
            .output()
            .unwrap();
        let data = values(&out)[0]["jobs"][0]["steadystate"]["data"].clone();
        let lengths = ["iops", "bw"].map(|name| data[name].as_array().map(Vec::len));
        assert_eq!(lengths, [Some(4), Some(4)], "{data}");
    }
}
