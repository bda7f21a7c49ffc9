//! Builds a static binary for a target, with zig as the linker and C compiler.

use super::{DistTarget, Release};
use crate::workspace;
use anyhow::{Result, bail};
use std::path::PathBuf;
use std::process::Command;

/// Checks that cargo-zigbuild and zig are installed.
///
/// # Errors
/// What to install.
pub(super) fn require_tools() -> Result<()> {
    if workspace::find_program("cargo-zigbuild").is_none() {
        bail!("cargo-zigbuild is missing: cargo install --locked cargo-zigbuild");
    }
    let zig = workspace::find_program("zig").is_some()
        || workspace::output(Command::new("python3").args(["-c", "import ziglang"])).is_ok();
    if !zig {
        bail!("zig is missing: pip install ziglang");
    }
    Ok(())
}

/// Builds the program; returns its path.
///
/// The standard library is compiled from its source too, which rustup has as the component `rust-src`: the same flags
/// then apply to it, and rustup has no library for some of the targets.
pub(super) fn build(target: &DistTarget, release: &Release) -> Result<PathBuf> {
    eprintln!("=== {}", target.triple);
    if !sysroot()?.join("lib/rustlib/src/rust/library/std").is_dir() {
        bail!("there is no source of the standard library: rustup component add rust-src");
    }
    let mut cargo = workspace::cargo();
    cargo
        .args(["zigbuild", "--locked"])
        .args(workspace::WHOLE_PROGRAM)
        .args(["--profile", "dist", "--target", target.triple])
        .args(["-Z", "build-std=std,panic_abort"])
        .args(["-Z", "build-std-features=optimize_for_size"])
        .env("RUSTC_BOOTSTRAP", "1")
        .env("SOURCE_DATE_EPOCH", release.epoch.to_string())
        // The separator of these flags lets a path have spaces.
        .env(
            "CARGO_ENCODED_RUSTFLAGS",
            rust_flags(target)?.join("\u{1f}"),
        )
        .env("CFLAGS", c_flags(target)?.join(" "));
    workspace::run(&mut cargo)?;
    Ok(workspace::target().join(target.triple).join("dist/hakaru"))
}

fn sysroot() -> Result<PathBuf> {
    let path = workspace::output(Command::new("rustc").args(["--print", "sysroot"]))?;
    Ok(PathBuf::from(path.trim()))
}

/// Directories whose paths must not get into a binary, and what replaces them.
fn remapped() -> Result<Vec<(PathBuf, &'static str)>> {
    let home = |name: &str, default: &str| {
        let home = || std::env::var_os("HOME").map(|home| PathBuf::from(home).join(default));
        std::env::var_os(name).map(PathBuf::from).or_else(home)
    };
    // The first match from the end applies, so the general ones come first.
    let mut all = vec![
        (workspace::root().to_owned(), "hakaru"),
        (workspace::target(), "target"),
        (sysroot()?, "rust"),
    ];
    all.extend(home("CARGO_HOME", ".cargo").map(|path| (path, "cargo")));
    Ok(all)
}

fn rust_flags(target: &DistTarget) -> Result<Vec<String>> {
    let mut flags = Vec::new();
    for (path, name) in remapped()? {
        flags.push(format!("--remap-path-prefix={}={name}", path.display()));
    }
    let fixed = [
        "-Ctarget-feature=+crt-static",
        // Start files come from zig: a compiled library has none.
        "-Clink-self-contained=no",
        // A panic aborts, so nothing unwinds the stack.
        "-Cforce-unwind-tables=no",
        // Without relocations, pages of constants are mapped from the file instead of copied to be written.
        "-Crelocation-model=static",
    ];
    flags.extend(fixed.map(str::to_owned));
    if target.is_thumb {
        flags.push("-Ctarget-feature=+thumb-mode".to_owned());
    }
    Ok(flags)
}

fn c_flags(target: &DistTarget) -> Result<Vec<String>> {
    let flag =
        |(path, name): (PathBuf, &str)| format!("-ffile-prefix-map={}={name}", path.display());
    let mut flags: Vec<String> = remapped()?.into_iter().map(flag).collect();
    flags.extend(["-fno-unwind-tables", "-fno-asynchronous-unwind-tables"].map(str::to_owned));
    if target.is_thumb {
        flags.push("-mthumb".to_owned());
    }
    Ok(flags)
}
