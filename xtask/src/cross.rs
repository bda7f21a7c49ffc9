//! `cargo xtask cross`: checks that all crates of hakaru compile for the ARM computers that cards are used in, and the
//! crates that only read results for systems other than Linux.
//!
//! Only a check: no linking and no C code, so that no cross compiler is needed. A release does both.

use crate::ci::StepOutcome;
use crate::workspace;
use anyhow::{Result, bail};
use std::path::{Path, PathBuf};
use std::process::Command;

/// 64-bit and 32-bit ARM: the first linked statically as in a release, the second as on Raspberry Pi OS.
pub(crate) const TARGETS: &[&str] = &[
    "aarch64-unknown-linux-musl",
    "armv7-unknown-linux-gnueabihf",
];

/// Systems without an engine, on which results can be read.
pub(crate) const READERS: &[&str] = &["x86_64-unknown-freebsd", "aarch64-apple-darwin"];

/// Crates that compile on every Unix system.
const READING_CRATES: &[&str] = &[
    "hakaru-model",
    "hakaru-analysis",
    "hakaru-report",
    "hakaru-dialects",
    "hakaru-store",
];

/// Checks the named targets, or all of them.
///
/// # Errors
/// If one does not compile or cannot be checked here.
pub(crate) fn main(args: &[String]) -> Result<()> {
    let all = [TARGETS, READERS].concat();
    if let Some(unknown) = args.iter().find(|arg| !all.contains(&arg.as_str())) {
        bail!(
            "there is no target {unknown:?}; there are {}",
            all.join(", ")
        );
    }
    let wanted = |target: &&str| args.is_empty() || args.iter().any(|arg| arg == target);
    let targets: Vec<&str> = all.into_iter().filter(wanted).collect();
    match check(&targets)? {
        StepOutcome::Passed => println!("{}: passed", targets.join(", ")),
        StepOutcome::Skipped(why) | StepOutcome::NotJudged(why) => {
            bail!("cannot be checked: {why}")
        }
    }
    Ok(())
}

/// Checks all crates of hakaru, or the crates that read, for these targets. Missing standard libraries are downloaded if
/// rustup can; an unavailable one does not prevent the others from being checked.
///
/// # Errors
/// If it does not compile for a target, which the message names.
pub(crate) fn check(targets: &[&str]) -> Result<StepOutcome> {
    let libraries = libraries()?;
    let (mut there, mut missing) = (Vec::new(), Vec::new());
    for &target in targets {
        match fetch(target, &libraries) {
            None => there.push(target),
            Some(why) => missing.push(why),
        }
    }
    let (reading, whole): (Vec<&str>, Vec<&str>) =
        there.iter().partition(|target| READERS.contains(target));
    // The default members: neither xtask nor the benchmarks run on such a computer.
    compile(&whole, &[])?;
    let crates: Vec<&str> = READING_CRATES
        .iter()
        .flat_map(|name| ["-p", name])
        .collect();
    compile(&reading, &crates)?;
    Ok(outcome(&there, &missing))
}

/// Compiles for several targets in one call, so that no CPU idles while the last crate of a target compiles.
fn compile(targets: &[&str], crates: &[&str]) -> Result<()> {
    let check = |targets: &[&str]| {
        let mut cargo = workspace::cargo();
        cargo
            .args(["check", "--quiet"])
            .args(crates)
            .args(targets.iter().flat_map(|target| ["--target", target]));
        // SQLite is assumed to be installed: a check never links it, and its C code is the same on every host.
        cargo
            .env("LIBSQLITE3_SYS_USE_PKG_CONFIG", "1")
            .env("SQLITE3_LIB_DIR", "/nowhere")
            // Neither is the assembly of the cryptography for TLS, which needs a cross compiler.
            .env("TARGET_CC", "true")
            .env("TARGET_AR", "true");
        workspace::run(&mut cargo)
    };
    if targets.is_empty() || check(targets).is_ok() {
        return Ok(());
    }
    // Checks each target again, so that the failed ones and their errors are printed last.
    let failed: Vec<&str> = targets
        .iter()
        .copied()
        .filter(|target| check(&[target]).is_err())
        .collect();
    match failed.as_slice() {
        [] => bail!(
            "it compiles for each of {}, but not for all at once",
            targets.join(", ")
        ),
        _ => bail!("it does not compile for {}", failed.join(", ")),
    }
}

/// Combined outcome of several targets, some of which may be unavailable.
fn outcome(passed: &[&str], missing: &[String]) -> StepOutcome {
    match (passed, missing) {
        (_, []) => StepOutcome::Passed,
        ([], _) => StepOutcome::Skipped(missing.join("; ")),
        _ => StepOutcome::Skipped(format!(
            "{}; {} passed",
            missing.join("; "),
            passed.join(", ")
        )),
    }
}

/// Returns the directory with the standard library of each installed target.
fn libraries() -> Result<PathBuf> {
    let sysroot = workspace::output(Command::new("rustc").args(["--print", "sysroot"]))?;
    Ok(Path::new(sysroot.trim()).join("lib/rustlib"))
}

/// Ensures that programs can be built for a target.
///
/// # Errors
/// If its standard library is missing and cannot be downloaded.
pub(crate) fn require(target: &str) -> Result<()> {
    match fetch(target, &libraries()?) {
        None => Ok(()),
        Some(why) => bail!("cannot build for {target}: {why}"),
    }
}

/// Ensures that the standard library of a target is installed; returns the reason if not possible.
fn fetch(target: &str, libraries: &Path) -> Option<String> {
    if libraries.join(target).join("lib").is_dir() {
        return None;
    }
    if workspace::find_program("rustup").is_none() {
        return Some(format!(
            "Rust has no library for {target}, and there is no rustup to fetch it"
        ));
    }
    match Command::new("rustup")
        .args(["target", "add", target])
        .status()
    {
        Ok(status) if status.success() => None,
        Ok(_) => Some(format!("rustup cannot fetch {target}; is there a network?")),
        Err(error) => Some(format!(
            "Rust has no library for {target}, and rustup cannot be started: {error}"
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_target_is_judged_by_itself() {
        let skipped = |passed: &[&str], missing: &[String]| match outcome(passed, missing) {
            StepOutcome::Skipped(why) | StepOutcome::NotJudged(why) => Some(why),
            StepOutcome::Passed => None,
        };
        let missing = ["no b".to_owned()];
        assert_eq!(skipped(&["a", "b"], &[]), None);
        assert_eq!(skipped(&["a"], &missing).as_deref(), Some("no b; a passed"));
        assert_eq!(skipped(&[], &missing).as_deref(), Some("no b"));
    }

    #[test]
    fn what_is_there_is_not_fetched() {
        let folder = tempfile::tempdir().expect("a folder");
        std::fs::create_dir_all(folder.path().join("a/lib")).expect("a library in it");
        assert_eq!(fetch("a", folder.path()), None);
    }
}
