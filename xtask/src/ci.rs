//! `cargo xtask ci`: all checks required before a change is accepted, in one command.
//!
//! Every step runs, even after a failure. Checks that the host does not support are skipped with a reason, and counted.

use crate::{cross, docs, fuzz, parity, rig, tidy, workspace};
use anyhow::{Result, bail};
use std::process::Command;
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
    ("tests", || {
        cargo(
            &["test", "--workspace", "--no-fail-fast"],
            &[("INSTA_UPDATE", "no")],
        )
    }),
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
        let begun = Instant::now();
        let outcome = step();
        if let Err(error) = &outcome {
            eprintln!("error: {error:#}");
        }
        list.push((*name, begun.elapsed(), outcome));
    }
    conclude(&list)
}

/// Prints the list of steps and the final summary.
fn conclude(list: &[(&str, Duration, Result<StepOutcome>)]) -> Result<()> {
    let (mut passed, mut failed, mut skipped, mut not_judged) = (0, 0, 0, 0);
    println!();
    for (name, time, outcome) in list {
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
        println!("{word:<10} {:>7.1} s  {name}{why}", time.as_secs_f64());
    }
    println!("{passed} passed, {failed} failed, {skipped} skipped, {not_judged} not judged");
    if failed > 0 {
        bail!("{failed} of {} steps failed", list.len());
    }
    Ok(())
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
