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
pub(super) fn build(target: &DistTarget, release: &Release) -> Result<PathBuf> {
    eprintln!("=== {}", target.triple);
    let std = StdSource::of(target)?;
    let mut cargo = workspace::cargo();
    cargo
        .args(["zigbuild", "--locked", "--package", "hakaru"])
        .args(["--profile", "dist", "--target", target.triple])
        .env("SOURCE_DATE_EPOCH", release.epoch.to_string())
        // The separator of these flags lets a path have spaces.
        .env("CARGO_ENCODED_RUSTFLAGS", rust_flags(std)?.join("\u{1f}"))
        .env("CFLAGS", c_flags()?.join(" "));
    if std == StdSource::Compiled {
        cargo
            .args(["-Z", "build-std=std,panic_abort"])
            .env("RUSTC_BOOTSTRAP", "1");
    }
    workspace::run(&mut cargo)?;
    Ok(workspace::target().join(target.triple).join("dist/hakaru"))
}

/// Where the standard library of a target comes from.
#[derive(Clone, Copy, PartialEq, Eq)]
enum StdSource {
    /// Downloaded by rustup.
    Installed,
    /// Compiled from its source, which rustup has as the component `rust-src`.
    Compiled,
}

impl StdSource {
    fn of(target: &DistTarget) -> Result<StdSource> {
        match crate::cross::require(target.triple) {
            Ok(()) => Ok(StdSource::Installed),
            Err(why) => {
                let source = sysroot()?.join("lib/rustlib/src/rust/library/std");
                if !source.is_dir() {
                    bail!("{why:#}; and no source to compile it: rustup component add rust-src");
                }
                eprintln!("{why:#}: compiling it from source");
                Ok(StdSource::Compiled)
            }
        }
    }
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

fn rust_flags(std: StdSource) -> Result<Vec<String>> {
    let mut flags = Vec::new();
    for (path, name) in remapped()? {
        flags.push(format!("--remap-path-prefix={}={name}", path.display()));
    }
    flags.push("-Ctarget-feature=+crt-static".to_owned());
    if std == StdSource::Compiled {
        // Start files come from zig: a compiled library has none.
        flags.push("-Clink-self-contained=no".to_owned());
    }
    Ok(flags)
}

fn c_flags() -> Result<Vec<String>> {
    let flag =
        |(path, name): (PathBuf, &str)| format!("-ffile-prefix-map={}={name}", path.display());
    Ok(remapped()?.into_iter().map(flag).collect())
}
