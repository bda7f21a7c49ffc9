//! `cargo xtask cross`: the workspace must compile for the small computers that cards live in.
//!
//! Nothing is linked and no C is compiled, so that no foreign compiler is needed; a release does both.

use crate::ci::Outcome;
use crate::workspace;
use anyhow::{Context, Result, bail};
use std::process::Command;

/// 64-bit and 32-bit ARM: the one linked statically as in a release, the other as on Raspberry Pi OS.
pub(crate) const TARGETS: &[&str] = &["aarch64-unknown-linux-musl", "armv7-unknown-linux-gnueabihf"];

/// Checks the targets named, or all of them.
///
/// # Errors
/// When one does not compile or cannot be checked here.
pub(crate) fn main(args: &[String]) -> Result<()> {
    if let Some(unknown) = args.iter().find(|arg| !TARGETS.contains(&arg.as_str())) {
        bail!("there is no target {unknown:?}; there are {}", TARGETS.join(", "));
    }
    let wanted = |target: &&&str| args.is_empty() || args.iter().any(|arg| arg == **target);
    let targets: Vec<&str> = TARGETS.iter().filter(wanted).copied().collect();
    match check(&targets)? {
        Outcome::Passed => println!("{}: passed", targets.join(", ")),
        Outcome::Skipped(why) => bail!("cannot be checked: {why}"),
    }
    Ok(())
}

/// Checks the workspace for these targets in one go, so that no processor waits for the last room of one of them. Those
/// whose library is missing are fetched where rustup can do that.
///
/// # Errors
/// When it does not compile for one of them.
pub(crate) fn check(targets: &[&str]) -> Result<Outcome> {
    for target in targets {
        if let Some(why) = fetch(target)? {
            return Ok(Outcome::Skipped(why));
        }
    }
    let mut cargo = workspace::cargo();
    cargo.args(["check", "--workspace"]).args(targets.iter().flat_map(|target| ["--target", target]));
    // SQLite is taken as if it were installed: a check never links it, and its C is the same on every host.
    cargo.env("LIBSQLITE3_SYS_USE_PKG_CONFIG", "1").env("SQLITE3_LIB_DIR", "/nowhere");
    workspace::run(&mut cargo)?;
    Ok(Outcome::Passed)
}

/// Sees to it that the standard library of a target is there; returns why it cannot be had.
fn fetch(target: &str) -> Result<Option<String>> {
    let sysroot = workspace::output(Command::new("rustc").args(["--print", "sysroot"]))?;
    let library = std::path::Path::new(sysroot.trim()).join("lib/rustlib").join(target);
    if library.join("lib").is_dir() {
        return Ok(None);
    }
    if workspace::find_program("rustup").is_none() {
        return Ok(Some(format!("Rust has no library for {target}, and there is no rustup to fetch it")));
    }
    let status = Command::new("rustup").args(["target", "add", target]).status().context("cannot start rustup")?;
    Ok((!status.success()).then(|| format!("rustup cannot fetch {target}; is there a network?")))
}
