//! `cargo xtask miri` and `cargo xtask tsan`: run tests in an interpreter that finds undefined behavior, and with a
//! detector of data races.
//!
//! Neither is a step of `cargo xtask ci`: both need a nightly compiler or the sources of the standard library, and take
//! long.

use crate::workspace;
use anyhow::{Context, Result, bail};
use std::process::{Command, Stdio};

/// Tests of a package that the interpreter can run: those without system calls that it does not know.
struct MiriTests {
    package: &'static str,
    /// Parts of the names of tests; empty for all of the library.
    names: &'static [&'static str],
    /// Parts of the names of tests that are skipped, because they take minutes or use files.
    skipped: &'static [&'static str],
}

const MIRI: &[MiriTests] = &[
    MiriTests {
        package: "hakaru-sys",
        names: &[
            "buffer::",
            "entry::",
            "requests_have",
            "attributes_have",
            "structures_have",
            "a_report_is",
            "processors_are",
        ],
        skipped: &["too_much_is_an_error"],
    },
    MiriTests {
        package: "hakaru-store",
        names: &["pack::"],
        skipped: &["any_"],
    },
];

/// Number of random inputs of a property test: each takes seconds in the interpreter, and the usual number hours.
const CASES: &str = "4";

/// Runs the tests of [`MIRI`] in the interpreter.
///
/// # Errors
/// If it is not installed, or a test fails.
pub(crate) fn miri(args: &[String]) -> Result<()> {
    let is_there = nightly(&["miri", "--version"])
        .stderr(Stdio::null())
        .output();
    if !is_there.is_ok_and(|out| out.status.success()) {
        bail!(
            "Miri is not installed; help: rustup toolchain install nightly --component miri,rust-src"
        );
    }
    for tests in MIRI {
        if !args.is_empty() && !args.iter().any(|arg| tests.package.ends_with(arg.as_str())) {
            continue;
        }
        println!("{}", tests.package);
        let mut command = nightly(&[
            "miri",
            "test",
            "--package",
            tests.package,
            "--lib",
            "--target-dir",
        ]);
        command.arg(workspace::target().join("miri"));
        command.arg("--").args(tests.names);
        command.args(tests.skipped.iter().flat_map(|name| ["--skip", name]));
        // Tests use temporary files and the clock of the host.
        command.env("MIRIFLAGS", "-Zmiri-disable-isolation");
        command.env("PROPTEST_CASES", CASES);
        workspace::run(&mut command)?;
    }
    Ok(())
}

/// Tests of packages with threads that share memory.
const TSAN: &[&str] = &["hakaru-engine"];

/// Runs the tests of [`TSAN`] with ThreadSanitizer. Arguments go to the tests.
///
/// # Errors
/// If the compiler cannot build the standard library, or a test fails.
pub(crate) fn tsan(args: &[String]) -> Result<()> {
    // The sanitizer has to see the standard library too.
    let target = host()?;
    let mut command = workspace::cargo();
    command.args(["test", "-Zbuild-std", "--target", &target, "--target-dir"]);
    command.arg(workspace::target().join("tsan"));
    for package in TSAN {
        command.args(["--package", package]);
    }
    command
        .args(["--lib", "--tests", "--no-fail-fast", "--"])
        .args(args);
    // The stable compiler has these flags for those who ask; the results are used for tests only.
    command.env("RUSTC_BOOTSTRAP", "1");
    // The sanitizer sees calls of libc only. If rustix made system calls itself, memory that another thread unmapped and
    // that is mapped again would look like a race. All threads share one table of open files: the sanitizer takes equal
    // numbers in two tables for one file, and uses its own pipes from any thread.
    command.env(
        "RUSTFLAGS",
        "-Zsanitizer=thread --cfg=rustix_use_libc --cfg=thread_sanitizer",
    );
    command.env("TSAN_OPTIONS", "halt_on_error=0");
    workspace::run(&mut command)
        .context("help: rustup component add rust-src, if the standard library cannot be built")
}

fn nightly(args: &[&str]) -> Command {
    let mut command = Command::new("cargo");
    // A variable of the cargo that runs this program would choose its compiler.
    command
        .env_remove("CARGO")
        .env_remove("RUSTC")
        .env_remove("RUSTUP_TOOLCHAIN");
    command
        .current_dir(workspace::root())
        .arg("+nightly")
        .args(args);
    command
}

/// The target for which the compiler compiles without being asked.
fn host() -> Result<String> {
    let text = workspace::output(Command::new("rustc").arg("-vV"))?;
    let host = text.lines().find_map(|line| line.strip_prefix("host: "));
    host.map(str::to_owned).context("rustc -vV names no host")
}
