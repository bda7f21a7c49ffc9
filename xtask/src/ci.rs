//! `cargo xtask ci`: all checks required before a change is accepted, in one command.
//!
//! Every step runs, even after a failure. Checks that the host does not support are skipped with a reason, and counted.
//! Builds leave a CPU idle while the last crates compile, and many tests wait, so steps that mostly compile run in the
//! background, with the lowest priority. The list at the end has the time of each step, the slowest steps and the slowest
//! test binaries; the time of all includes the build of xtask.

use crate::test_output::{TestBinary, TestOutput};
use crate::{cross, docs, fuzz, parity, rig, tidy, workspace};
use Schedule::{BesideBuilds, BesideTests, First, InTurn, Last};
use anyhow::{Context, Result, bail, ensure};
use std::io::{BufRead, BufReader};
use std::process::Command;
use std::sync::{Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Outcome of a step that did not fail.
pub(crate) enum StepOutcome {
    Passed,
    /// The step could not run here; the reason.
    Skipped(String),
    /// It ran, but a part is inconclusive; the reason.
    NotJudged(String),
}

/// When a step runs.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Schedule {
    /// Before all others, which may need it.
    First,
    /// In the order of the list.
    InTurn,
    /// In the background from the beginning: it compiles in a target directory of its own.
    BesideBuilds,
    /// In the background once the tests run: until then, cargo keeps it from the common target directory.
    BesideTests,
    /// After all others, because it measures time.
    Last,
}

/// A step: its name, when it runs, and its function.
type Step = (&'static str, Schedule, fn() -> Result<StepOutcome>);

const STEPS: &[Step] = &[
    ("tools", First, tools),
    ("format", InTurn, || {
        cargo(&["fmt", "--all", "--", "--check"], &[])
    }),
    ("tidy", InTurn, || {
        tidy::main(&[]).map(|()| StepOutcome::Passed)
    }),
    ("lints", InTurn, || {
        whole("clippy", &["--all-targets", "--", "-D", "warnings"], &[])
    }),
    ("test build", InTurn, || {
        whole("test", &["--no-run", "--quiet"], &[])
    }),
    ("tests", InTurn, tests),
    ("rig", Last, rig::step),
    ("documentation", BesideTests, || {
        whole(
            "doc",
            &["--no-deps", "--quiet"],
            &[("RUSTDOCFLAGS", "-D warnings")],
        )
    }),
    ("generated pages", InTurn, || {
        docs::check().map(|()| StepOutcome::Passed)
    }),
    ("dependencies", BesideBuilds, dependencies),
    ("fio parity", InTurn, parity::quick),
    ("fuzz build", BesideBuilds, || {
        fuzz::build_quick().map(|()| StepOutcome::Passed)
    }),
    ("fuzz", BesideTests, || {
        fuzz::quick().map(|()| StepOutcome::Passed)
    }),
    ("arm", BesideTests, || cross::check(cross::TARGETS)),
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
        .find(|arg| !STEPS.iter().any(|(name, ..)| name == arg))
    {
        let known: Vec<&str> = STEPS.iter().map(|(name, ..)| *name).collect();
        bail!(
            "there is no step {unknown:?}; the steps are {}",
            known.join(", ")
        );
    }
    let is_wanted = |name: &str| args.is_empty() || args.iter().any(|arg| arg == name);
    let has_background = is_wanted("tests");
    let steps = |when: Schedule| {
        STEPS.iter().filter(move |(name, scheduled, _)| {
            let in_turn = matches!(scheduled, BesideBuilds | BesideTests) && !has_background;
            let scheduled = if in_turn { InTurn } else { *scheduled };
            scheduled == when && is_wanted(name)
        })
    };
    let (build, begun) = (age_of_process(), Instant::now());
    let mut list: Vec<FinishedStep> = steps(First).map(run_step).collect();
    let background = [BesideBuilds, BesideTests].map(|when| steps(when).collect());
    list.extend(std::thread::scope(|scope| {
        let background = scope.spawn(|| run_in_background(background));
        let release = ReleaseOnDrop;
        let mut list = Vec::new();
        for step in steps(InTurn) {
            let finished = run_step(step);
            let has_passed = matches!(finished.outcome, Ok(StepOutcome::Passed));
            match finished.name {
                "test build" if has_passed => workspace::keep_tested_program(),
                // If none ran, the other steps still do.
                "tests" => set_tests_begun(),
                _ => (),
            }
            list.push(finished);
        }
        drop(release);
        match background.join() {
            Ok(finished) => list.extend(finished),
            // Steps that never ran must not look like steps that passed.
            Err(panic) => std::panic::resume_unwind(panic),
        }
        list
    }));
    list.extend(steps(Last).map(run_step));
    let place = |step: &FinishedStep| STEPS.iter().position(|(name, ..)| *name == step.name);
    list.sort_by_key(place);
    list.insert(0, built(build));
    conclude(&list, build + begun.elapsed())
}

/// The build of this program as a step: on a fresh machine it compiles most crates.
fn built(elapsed: Duration) -> FinishedStep {
    FinishedStep {
        name: "build of xtask",
        elapsed,
        in_background: false,
        outcome: Ok(StepOutcome::Passed),
    }
}

fn run_step(&(name, _, step): &Step) -> FinishedStep {
    eprintln!("=== {name}");
    let begun = Instant::now();
    let outcome = step();
    if let Err(error) = &outcome {
        eprintln!("error: {name}: {error:#}");
    }
    FinishedStep {
        name,
        elapsed: begun.elapsed(),
        in_background: false,
        outcome,
    }
}

/// Whether a test binary runs: until then, cargo keeps other commands from the target directory, and they keep the tests
/// from it.
static TESTS_BEGUN: (Mutex<bool>, Condvar) = (Mutex::new(false), Condvar::new());

fn set_tests_begun() {
    *TESTS_BEGUN.0.lock().unwrap_or_else(PoisonError::into_inner) = true;
    TESTS_BEGUN.1.notify_all();
}

/// Lets the steps beside the tests run, also if a step panics: nothing else would end their thread.
struct ReleaseOnDrop;

impl Drop for ReleaseOnDrop {
    fn drop(&mut self) {
        set_tests_begun();
    }
}

/// Runs the steps beside builds and those beside tests in turn, with the lowest priority.
fn run_in_background([beside_builds, beside_tests]: [Vec<&Step>; 2]) -> Vec<FinishedStep> {
    // Linux gives a priority to a single thread, and its child processes inherit it.
    if let Err(error) = rustix::process::setpriority_process(None, LOWEST_PRIORITY) {
        eprintln!("steps in the background have the usual priority: {error}");
    }
    let run = |step: &Step| FinishedStep {
        in_background: true,
        ..run_step(step)
    };
    let mut list: Vec<FinishedStep> = beside_builds.into_iter().map(run).collect();
    let begun = TESTS_BEGUN.0.lock();
    drop(
        TESTS_BEGUN
            .1
            .wait_while(begun.unwrap_or_else(PoisonError::into_inner), |begun| {
                !*begun
            }),
    );
    list.extend(beside_tests.into_iter().map(run));
    list
}

/// The nice value of the lowest priority.
const LOWEST_PRIORITY: i32 = 19;

/// A step that ran.
struct FinishedStep {
    name: &'static str,
    elapsed: Duration,
    in_background: bool,
    outcome: Result<StepOutcome>,
}

/// Number of entries in the lists of what was slowest.
const SLOWEST: usize = 5;

/// Test binaries that ran.
static TEST_BINARIES: Mutex<Vec<TestBinary>> = Mutex::new(Vec::new());

/// Prints the list of steps, the slowest ones, and the final summary.
fn conclude(list: &[FinishedStep], elapsed: Duration) -> Result<()> {
    let (mut passed, mut failed, mut skipped, mut not_judged) = (0, 0, 0, 0);
    println!();
    for step in list {
        let FinishedStep {
            name,
            elapsed,
            in_background,
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
        let elapsed = elapsed.as_secs_f64();
        let background = match in_background {
            true => " (in the background)",
            false => "",
        };
        println!("{word:<10} {elapsed:>7.1} s  {name}{background}{why}");
    }
    let seconds = |step: &FinishedStep| (step.name.to_owned(), step.elapsed.as_secs_f64());
    print_slowest("slowest steps", list.iter().map(seconds).collect());
    let binaries =
        std::mem::take(&mut *TEST_BINARIES.lock().unwrap_or_else(PoisonError::into_inner));
    let seconds = |binary: &TestBinary| (binary.name.clone(), binary.seconds);
    print_slowest(
        "slowest test binaries",
        binaries.iter().map(seconds).collect(),
    );
    // Other steps have printed a lot since: where the end of a log is kept, it names what failed.
    for binary in &binaries {
        for failure in &binary.failures {
            println!("\nfailed in {}: {}", binary.name, failure.shortened());
        }
    }
    let (elapsed, cpu) = (elapsed.as_secs_f64(), cpu_time_of_children().as_secs_f64());
    println!("{elapsed:.0} s, {cpu:.0} CPU s");
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
    seconds_in_stat(13, 2)
}

/// Time since this process started, including the build of this program: `cargo run` starts the program in its own
/// process (`execve`).
fn age_of_process() -> Duration {
    let uptime = std::fs::read_to_string("/proc/uptime").unwrap_or_default();
    let uptime = uptime
        .split_whitespace()
        .next()
        .and_then(|s| s.parse().ok());
    let started = seconds_in_stat(19, 1);
    Duration::from_secs_f64(uptime.unwrap_or(0.0)).saturating_sub(started)
}

/// Sum of some numbers of clock ticks in `/proc/self/stat`, counted from the state of the process.
fn seconds_in_stat(first: usize, count: usize) -> Duration {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    // The name of the program, in parentheses, may contain spaces. The state follows.
    let fields = stat.rsplit(')').next().unwrap_or_default();
    let ticks: u64 = fields
        .split_whitespace()
        .skip(first)
        .take(count)
        .filter_map(|field| field.parse::<u64>().ok())
        .sum();
    Duration::from_secs_f64(ticks as f64 / rustix::param::clock_ticks_per_second() as f64)
}

/// Runs all tests, and remembers how long each test binary ran.
fn tests() -> Result<StepOutcome> {
    let mut command = workspace::cargo();
    command
        .args(["test", "--no-fail-fast"])
        .args(workspace::WHOLE_WORKSPACE)
        .env("INSTA_UPDATE", "no");
    // cargo names the binaries on standard error, and they print their results on standard output.
    let (reader, writer) = std::io::pipe().context("cannot create a pipe")?;
    command.stdout(writer.try_clone()?).stderr(writer);
    let mut child = command.spawn().context("cannot start cargo")?;
    // The command holds the other end of the pipe.
    drop(command);
    let mut output = TestOutput::default();
    for line in BufReader::new(reader).split(b'\n') {
        let line = line.context("cannot read what cargo prints")?;
        let line = String::from_utf8_lossy(&line);
        println!("{line}");
        if line.trim_start().starts_with("Running ") {
            set_tests_begun();
        }
        if let Some(finished) = output.read(&line)
            && let Ok(mut list) = TEST_BINARIES.lock()
        {
            list.push(finished);
        }
    }
    let status = child.wait()?;
    ensure!(status.success(), "cargo test ended with {status}");
    Ok(StepOutcome::Passed)
}

fn cargo(args: &[&str], env: &[(&str, &str)]) -> Result<StepOutcome> {
    workspace::run(workspace::cargo().args(args).envs(env.iter().copied()))?;
    Ok(StepOutcome::Passed)
}

/// Runs a cargo command on all crates, with all commands of hakaru compiled in.
fn whole(verb: &str, args: &[&str], env: &[(&str, &str)]) -> Result<StepOutcome> {
    cargo(
        &[&[verb], &workspace::WHOLE_WORKSPACE[..], args].concat(),
        env,
    )
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
    fn counts_the_cpu_time_of_programs_that_ended() {
        let before = cpu_time_of_children();
        let script = "i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done";
        let status = Command::new("sh").args(["-c", script]).status();
        assert!(status.is_ok_and(|status| status.success()));
        assert!(cpu_time_of_children() > before);
    }

    #[test]
    fn age_of_the_process_is_that_of_ps() {
        let (pid, begun) = (std::process::id().to_string(), Instant::now());
        let ps = Command::new("ps")
            .args(["-o", "etimes=", "-p", &pid])
            .output();
        let Ok(ps) = ps else {
            println!("SKIPPED: ps cannot be started");
            return;
        };
        let shown = String::from_utf8_lossy(&ps.stdout);
        let shown: f64 = shown.trim().parse().expect("a number of seconds");
        let age = age_of_process().as_secs_f64();
        // ps prints whole seconds, and ran before.
        let passed = begun.elapsed().as_secs_f64();
        let difference = age - shown;
        assert!(difference >= -1.0, "{age}, ps: {shown}");
        assert!(difference <= passed + 1.1, "{age}, ps: {shown}");
    }
}
