//! Location of the workspace, and functions to run other programs in it.

use anyhow::{Context, Result, ensure};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};

/// File of counts that may only move in one direction.
pub(crate) const RATCHETS: &str = "xtask/ratchet.toml";

/// Options of cargo that select hakaru with every command, as in packages.
pub(crate) const WHOLE_PROGRAM: [&str; 4] = ["--package", "hakaru", "--features", "hakaru/fleet"];

/// Options of cargo that select all crates, and hakaru with every command.
pub(crate) const WHOLE_WORKSPACE: [&str; 3] = ["--workspace", "--features", "hakaru/fleet"];

/// Root directory of the workspace.
pub(crate) fn root() -> &'static Path {
    // The xtask package is a direct subdirectory of the workspace.
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .expect("the manifest of the chores lies in a folder")
}

/// Returns cargo's target directory.
pub(crate) fn target() -> PathBuf {
    std::env::var_os("CARGO_TARGET_DIR")
        .map_or_else(|| root().join("target"), |dir| root().join(dir))
}

/// The cargo that runs this program, started in the workspace.
pub(crate) fn cargo() -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.current_dir(root()).stdin(Stdio::null());
    // Build scripts such as that of ring read variables that cargo sets for this program: with these values, ring and all
    // crates above it would be compiled again, once here and once by the next cargo that a developer calls.
    for (name, _) in std::env::vars_os() {
        let is_ours = |start: &[u8]| name.as_encoded_bytes().starts_with(start);
        if is_ours(b"CARGO_PKG_") || is_ours(b"CARGO_MANIFEST_") || name == "OUT_DIR" {
            command.env_remove(name);
        }
    }
    command
}

/// Whether [`tested_program`] returns the existing program without calling cargo.
static KEEPS_TESTED_PROGRAM: AtomicBool = AtomicBool::new(false);

/// Makes [`tested_program`] return the existing program from now on. Calling cargo would wait for the lock of another
/// cargo that compiles.
pub(crate) fn keep_tested_program() {
    KEEPS_TESTED_PROGRAM.store(true, Ordering::Relaxed);
}

/// Returns the program as built for the tests: another feature combination would compile most dependencies again.
///
/// # Errors
/// If it does not build.
pub(crate) fn tested_program() -> Result<PathBuf> {
    let program = target().join("debug/hakaru");
    if KEEPS_TESTED_PROGRAM.load(Ordering::Relaxed) && program.is_file() {
        return Ok(program);
    }
    run(cargo()
        .args(["test", "--quiet", "--no-run"])
        .args(WHOLE_WORKSPACE))?;
    Ok(program)
}

/// Builds hakaru with every command in the debug profile, and returns its path.
///
/// # Errors
/// If it does not build.
pub(crate) fn whole_program() -> Result<PathBuf> {
    run(cargo().args(["build", "--quiet"]).args(WHOLE_PROGRAM))?;
    Ok(target().join("debug/hakaru"))
}

/// Builds hakaru in the release profile as the README does, without `hakaru fleet`, and returns its path.
///
/// # Errors
/// If it does not build.
pub(crate) fn released_program() -> Result<PathBuf> {
    run(cargo().args(["build", "--release", "--package", "hakaru"]))?;
    Ok(target().join("release/hakaru"))
}

/// Runs a command that inherits standard output and standard error.
///
/// # Errors
/// If it cannot be started or does not succeed.
pub(crate) fn run(command: &mut Command) -> Result<()> {
    let status = command
        .status()
        .with_context(|| format!("cannot start {}", name(command)))?;
    ensure!(status.success(), "{} ended with {status}", shown(command));
    Ok(())
}

/// Runs a command and returns its standard output.
///
/// # Errors
/// If it cannot be started, fails, or writes invalid UTF-8.
pub(crate) fn output(command: &mut Command) -> Result<String> {
    let out = command
        .stderr(Stdio::inherit())
        .output()
        .with_context(|| format!("cannot start {}", name(command)))?;
    ensure!(
        out.status.success(),
        "{} ended with {}",
        shown(command),
        out.status
    );
    String::from_utf8(out.stdout)
        .with_context(|| format!("{} wrote something other than text", shown(command)))
}

/// Path of a program on the PATH or in the system directories of root.
pub(crate) fn find_program(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let more = ["/usr/sbin", "/sbin"].map(PathBuf::from);
    std::env::split_paths(&path)
        .chain(more)
        .map(|folder| folder.join(name))
        .find(|file| file.is_file())
}

/// Returns a program of cargo's: the installed one, or one that is compiled once and kept in the target directory.
///
/// # Errors
/// If it cannot be installed, as without a network.
pub(crate) fn tool(name: &str) -> Result<PathBuf> {
    let place = target().join("tools");
    let kept = place.join("bin").join(name);
    let found = find_program(name).or_else(|| kept.is_file().then(|| kept.clone()));
    if let Some(found) = found {
        return Ok(found);
    }
    let mut install = cargo();
    install.args(["install", "--locked", "--root"]).arg(&place);
    // It takes longer to compile than to run.
    install.env("CARGO_PROFILE_RELEASE_OPT_LEVEL", "0");
    install.env("CARGO_PROFILE_RELEASE_LTO", "off");
    run(install.arg(name))?;
    Ok(kept)
}

/// Installs Debian packages, as root.
///
/// # Errors
/// If apt-get fails.
pub(crate) fn install(packages: &[&str]) -> Result<()> {
    let apt = |args: &[&str]| {
        let mut command = Command::new("apt-get");
        command.env("DEBIAN_FRONTEND", "noninteractive");
        run(command.arg("-q").args(args))
    };
    apt(&["update"])?;
    apt(&[&["install", "-y", "--no-install-recommends"], packages].concat())
}

/// Content of a file in the workspace.
///
/// # Errors
/// If it cannot be read; the message names the path.
pub(crate) fn read(path: &str) -> Result<String> {
    std::fs::read_to_string(root().join(path)).with_context(|| format!("cannot read {path}"))
}

fn name(command: &Command) -> String {
    command.get_program().to_string_lossy().into_owned()
}

fn shown(command: &Command) -> String {
    let words = std::iter::once(command.get_program()).chain(command.get_args());
    words
        .map(|word| word.to_string_lossy())
        .collect::<Vec<_>>()
        .join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::ffi::OsStr;

    #[test]
    fn cargo_gets_no_variables_of_this_package() {
        // The cargo that runs this test sets them, as it does for xtask.
        assert!(std::env::var_os("CARGO_PKG_VERSION_MAJOR").is_some());
        let command = cargo();
        let removed: Vec<&OsStr> = command
            .get_envs()
            .filter_map(|(name, value)| value.is_none().then_some(name))
            .collect();
        for name in ["MANIFEST_DIR", "PKG_NAME", "PKG_VERSION_MAJOR"] {
            assert!(
                removed.contains(&OsStr::new(&format!("CARGO_{name}"))),
                "{name}: {removed:?}"
            );
        }
    }
}
