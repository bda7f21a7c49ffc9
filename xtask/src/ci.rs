//! `cargo xtask ci`: all checks required before a change is accepted, in one command.
//!
//! Every step runs, even after a failure. Checks that the host does not support are skipped with a reason, and counted.
//! The list at the end has the time of each step, the slowest steps and the slowest test binaries.

use crate::{cross, docs, fuzz, parity, rig, tidy, workspace};
use anyhow::{Context, Result, bail, ensure};
use std::io::{BufRead, BufReader};
use std::process::Command;
use std::sync::Mutex;
use std::time::{Duration, Instant};

/// Outcome of a step that did not fail.
pub(crate) enum StepOutcome {
    Passed,
    /// The step could not run here; the reason.
    Skipped(String),
    /// It ran, but a part is inconclusive; the reason.
    NotJudged(String),
}

/// A step: its name and function.
type Step = (&'static str, fn() -> Result<StepOutcome>);

const STEPS: &[Step] = &[
    ("tools", tools),
    ("format", || cargo(&["fmt", "--all", "--", "--check"], &[])),
    ("tidy", || tidy::main(&[]).map(|()| StepOutcome::Passed)),
    ("lints", || {
        cargo(
            &[
                "clippy",
                "--workspace",
                "--all-targets",
                "--",
                "-D",
                "warnings",
            ],
            &[],
        )
    }),
    ("test build", || {
        cargo(&["test", "--workspace", "--no-run", "--quiet"], &[])
    }),
    ("tests", tests),
    ("rig", rig::step),
    ("documentation", || {
        cargo(
            &["doc", "--workspace", "--no-deps"],
            &[("RUSTDOCFLAGS", "-D warnings")],
        )
    }),
    ("generated pages", || {
        docs::check().map(|()| StepOutcome::Passed)
    }),
    ("dependencies", dependencies),
    ("fio parity", parity::quick),
    ("fuzz", || fuzz::quick().map(|()| StepOutcome::Passed)),
    ("arm", || cross::check(cross::TARGETS)),
];

/// Debian packages needed by the steps, with a program that shows whether each is installed.
const PACKAGES: &[(&str, &str)] = &[
    ("fio", "fio"),
    ("qemu-system-x86_64", "qemu-system-x86"),
    ("depmod", "kmod"),
    ("xz", "xz-utils"),
    ("mkfs.vfat", "dosfstools"),
    ("mkfs.ext4", "e2fsprogs"),
    ("mkfs.f2fs", "f2fs-tools"),
    ("mkfs.exfat", "exfatprogs"),
    ("mkfs.xfs", "xfsprogs"),
    ("mkfs.btrfs", "btrfs-progs"),
    ("mcopy", "mtools"),
    ("dmsetup", "dmsetup"),
    ("sfdisk", "fdisk"),
    ("nats-server", "nats-server"),
    ("kill", "procps"),
    ("c++", "g++"), // libFuzzer is compiled for the fuzz step.
    ("bc", "bc"),   // fio calls it for sums such as `bs=2*$pagesize`.
];

/// Runs all steps or the named ones, and lists their outcomes.
///
/// # Errors
/// If a step fails or is unknown.
pub(crate) fn main(args: &[String]) -> Result<()> {
    if let Some(unknown) = args
        .iter()
        .find(|arg| !STEPS.iter().any(|(name, _)| name == arg))
    {
        let known: Vec<&str> = STEPS.iter().map(|(name, _)| *name).collect();
        bail!(
            "there is no step {unknown:?}; the steps are {}",
            known.join(", ")
        );
    }
    let mut list = Vec::new();
    for (name, step) in STEPS
        .iter()
        .filter(|(name, _)| args.is_empty() || args.iter().any(|arg| arg == name))
    {
        eprintln!("=== {name}");
        let (begun, cpu) = (Instant::now(), cpu_time_of_children());
        let outcome = step();
        if let Err(error) = &outcome {
            eprintln!("error: {error:#}");
        }
        list.push(FinishedStep {
            name,
            elapsed: begun.elapsed(),
            cpu: cpu_time_of_children().saturating_sub(cpu),
            outcome,
        });
    }
    conclude(&list)
}

/// A step that ran.
struct FinishedStep {
    name: &'static str,
    elapsed: Duration,
    /// CPU time of its processes.
    cpu: Duration,
    outcome: Result<StepOutcome>,
}

/// Number of entries in the lists of what was slowest.
const SLOWEST: usize = 5;

/// Test binaries with their run times.
static TEST_BINARIES: Mutex<Vec<(String, f64)>> = Mutex::new(Vec::new());

/// Prints the list of steps, the slowest ones, and the final summary.
fn conclude(list: &[FinishedStep]) -> Result<()> {
    let (mut passed, mut failed, mut skipped, mut not_judged) = (0, 0, 0, 0);
    println!();
    for step in list {
        let FinishedStep {
            name,
            elapsed,
            cpu,
            outcome,
        } = step;
        let (word, why) = match outcome {
            Ok(StepOutcome::Passed) => ("passed", String::new()),
            Ok(StepOutcome::Skipped(why)) => ("skipped", format!(": {why}")),
            Ok(StepOutcome::NotJudged(why)) => ("not judged", format!(": {why}")),
            Err(error) => ("failed", format!(": {error:#}")),
        };
        *match outcome {
            Ok(StepOutcome::Passed) => &mut passed,
            Ok(StepOutcome::Skipped(_)) => &mut skipped,
            Ok(StepOutcome::NotJudged(_)) => &mut not_judged,
            Err(_) => &mut failed,
        } += 1;
        let (elapsed, cpu) = (elapsed.as_secs_f64(), cpu.as_secs_f64());
        println!("{word:<10} {elapsed:>7.1} s  {cpu:>7.1} CPU s  {name}{why}");
    }
    let seconds = |step: &FinishedStep| (step.name.to_owned(), step.elapsed.as_secs_f64());
    print_slowest("slowest steps", list.iter().map(seconds).collect());
    let binaries = TEST_BINARIES.lock().map(|list| list.clone());
    print_slowest("slowest test binaries", binaries.unwrap_or_default());
    let total = |of: fn(&FinishedStep) -> Duration| list.iter().map(of).sum::<Duration>();
    println!(
        "{:.0} s, {:.0} CPU s",
        total(|step| step.elapsed).as_secs_f64(),
        total(|step| step.cpu).as_secs_f64()
    );
    println!("{passed} passed, {failed} failed, {skipped} skipped, {not_judged} not judged");
    if failed > 0 {
        bail!("{failed} of {} steps failed", list.len());
    }
    Ok(())
}

/// Prints what took longest, longest first.
fn print_slowest(title: &str, mut list: Vec<(String, f64)>) {
    list.sort_by(|a, b| b.1.total_cmp(&a.1));
    list.truncate(SLOWEST);
    if list.len() > 1 {
        let entries = list
            .iter()
            .map(|(name, time)| format!("{name} {time:.1} s"));
        println!("{title}: {}", entries.collect::<Vec<_>>().join(", "));
    }
}

/// CPU time of all descendants that have ended, and that were waited for.
fn cpu_time_of_children() -> Duration {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    // The name of the program, in parentheses, may contain spaces. The state follows, then 12 other fields.
    let fields = stat.rsplit(')').next().unwrap_or_default();
    let ticks: u64 = fields
        .split_whitespace()
        .skip(13)
        .take(2)
        .filter_map(|field| field.parse::<u64>().ok())
        .sum();
    Duration::from_secs_f64(ticks as f64 / rustix::param::clock_ticks_per_second() as f64)
}

/// Runs all tests, and remembers how long each test binary ran.
fn tests() -> Result<StepOutcome> {
    let mut command = workspace::cargo();
    command
        .args(["test", "--workspace", "--no-fail-fast"])
        .env("INSTA_UPDATE", "no");
    // cargo names the binaries on standard error, and they print their results on standard output.
    let (reader, writer) = std::io::pipe().context("cannot create a pipe")?;
    command.stdout(writer.try_clone()?).stderr(writer);
    let mut child = command.spawn().context("cannot start cargo")?;
    // The command holds the other end of the pipe.
    drop(command);
    let mut names = TestNames::default();
    for line in BufReader::new(reader).split(b'\n') {
        let line = line.context("cannot read what cargo prints")?;
        let line = String::from_utf8_lossy(&line);
        println!("{line}");
        if let Some(finished) = names.read(&line)
            && let Ok(mut list) = TEST_BINARIES.lock()
        {
            list.push(finished);
        }
    }
    let status = child.wait()?;
    ensure!(status.success(), "cargo test ended with {status}");
    Ok(StepOutcome::Passed)
}

/// Reads the names and run times of test binaries from the output of `cargo test`.
#[derive(Default)]
struct TestNames {
    /// Package of the last unit tests, whose integration tests follow them.
    package: String,
    running: String,
}

impl TestNames {
    /// Reads a line; returns the name and the seconds of a test binary that has finished.
    fn read(&mut self, line: &str) -> Option<(String, f64)> {
        let line = line.trim();
        // `Running unittests src/lib.rs (target/debug/deps/hakaru_model-0123456789abcdef)`
        let path = line
            .strip_prefix("Running ")
            .and_then(|rest| rest.strip_suffix(')')?.rsplit_once('('))
            .map(|(_, path)| path);
        if let Some(path) = path {
            let name = path.rsplit('/').next().unwrap_or(path);
            let name = name.rsplit_once('-').map_or(name, |(name, _)| name);
            // Binaries of integration tests have the same name in several packages.
            self.running = match line.split_whitespace().nth(1) {
                Some(source) if source.starts_with("tests/") => {
                    format!("{} {source}", self.package)
                }
                _ => {
                    name.clone_into(&mut self.package);
                    name.to_owned()
                }
            };
        } else if let Some(package) = line.strip_prefix("Doc-tests ") {
            self.running = format!("doc tests of {package}");
        }
        let (_, time) = line
            .strip_prefix("test result: ")?
            .rsplit_once("finished in ")?;
        let seconds = time.strip_suffix('s')?.parse().ok()?;
        Some((self.running.clone(), seconds))
    }
}

fn cargo(args: &[&str], env: &[(&str, &str)]) -> Result<StepOutcome> {
    workspace::run(workspace::cargo().args(args).envs(env.iter().copied()))?;
    Ok(StepOutcome::Passed)
}

/// Installs the Debian packages that later steps use, if possible.
fn tools() -> Result<StepOutcome> {
    let missing = PACKAGES
        .iter()
        .filter(|(program, _)| workspace::find_program(program).is_none());
    let missing: Vec<&str> = missing.map(|(_, package)| *package).collect();
    if missing.is_empty() {
        return Ok(StepOutcome::Passed);
    }
    let list = missing.join(" ");
    if !rustix::process::geteuid().is_root() || workspace::find_program("apt-get").is_none() {
        return Ok(StepOutcome::Skipped(format!(
            "not installed, and only root on Debian can: apt-get install {list}"
        )));
    }
    Ok(match workspace::install(&missing) {
        Ok(()) => StepOutcome::Passed,
        Err(error) => StepOutcome::Skipped(format!("apt-get install {list} failed: {error:#}")),
    })
}

/// Checks licenses, sources and banned packages according to `deny.toml`. Advisories are left out: a new one about an
/// unchanged dependency would fail an unrelated change.
fn dependencies() -> Result<StepOutcome> {
    let program = match workspace::tool("cargo-deny") {
        Ok(program) => program,
        Err(error) => {
            return Ok(StepOutcome::Skipped(format!(
                "cargo-deny cannot be installed: {error:#}"
            )));
        }
    };
    let mut command = Command::new(program);
    command.args(["--all-features", "check", "licenses", "bans", "sources"]);
    workspace::run(command.current_dir(workspace::root()))?;
    Ok(StepOutcome::Passed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_the_times_of_test_binaries() {
        let output = "
     Running unittests src/lib.rs (target/debug/deps/hakaru_model-4c6ac3ba0d2a2d0c)

running 2 tests
test a ... ok

test result: ok. 2 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 1.50s

     Running tests/it/main.rs (target/debug/deps/it-0c6ac3ba0d2a2d0c)
test result: FAILED. 1 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out; finished in 20.07s
   Doc-tests hakaru_sys
test result: ok. 0 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s
";
        let mut names = TestNames::default();
        let times: Vec<_> = output.lines().filter_map(|line| names.read(line)).collect();
        assert_eq!(
            times,
            [
                ("hakaru_model".to_owned(), 1.5),
                ("hakaru_model tests/it/main.rs".to_owned(), 20.07),
                ("doc tests of hakaru_sys".to_owned(), 0.0)
            ]
        );
    }

    #[test]
    fn counts_the_cpu_time_of_programs_that_ended() {
        let before = cpu_time_of_children();
        let script = "i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done";
        let status = Command::new("sh").args(["-c", script]).status();
        assert!(status.is_ok_and(|status| status.success()));
        assert!(cpu_time_of_children() > before);
    }
}
