//! `cargo xtask mutants`: changes the code in small ways, and counts the changes that no test notices.
//!
//! Not a step of `cargo xtask ci`: every change is compiled and tested, which takes hours for all crates. A sample is
//! `cargo xtask mutants model --shard=0/20 --jobs=2`. Changes that no test can notice are listed with the reason in
//! `.cargo/mutants.toml`.

use crate::workspace;
use anyhow::{Context, Result, bail, ensure};
use std::path::Path;

/// Code that decides what is measured, concluded and destroyed, by a short name: the package, and the files of it.
const CODE: &[(&str, &str, &[&str])] = &[
    ("model", "hakaru-model", &[]),
    ("analysis", "hakaru-analysis", &[]),
    ("guard", "hakaru-device", &["crates/device/src/guard/**"]),
];

/// Minimum fraction of changes that tests notice, in percent.
const CAUGHT: usize = 95;

/// Runs cargo-mutants on the named code, or on all of it. Options are passed to cargo-mutants.
///
/// # Errors
/// If a name is unknown, cargo-mutants cannot run, or too few changes are noticed.
pub(crate) fn main(args: &[String]) -> Result<()> {
    let (options, args): (Vec<&String>, Vec<&String>) =
        args.iter().partition(|arg| arg.starts_with("--"));
    let (files, names): (Vec<&String>, Vec<&String>) =
        args.into_iter().partition(|arg| arg.contains('/'));
    if let Some(unknown) = names
        .iter()
        .find(|name| CODE.iter().all(|(known, ..)| *known != name.as_str()))
    {
        let known: Vec<&str> = CODE.iter().map(|(name, ..)| *name).collect();
        bail!(
            "{unknown} is not known: expected {}, and files below crates/",
            known.join(", ")
        );
    }
    let program = workspace::tool("cargo-mutants")?;
    let mut few = Vec::new();
    for (name, package, of) in CODE {
        if !names.is_empty() && !names.contains(&&(*name).to_owned()) {
            continue;
        }
        let place = workspace::target().join("mutants").join(name);
        std::fs::create_dir_all(&place)
            .with_context(|| format!("cannot create {}", place.display()))?;
        let mut command = std::process::Command::new(&program);
        command.current_dir(workspace::root());
        command.args([
            "mutants",
            "--package",
            package,
            "--no-shuffle",
            "--colors=never",
            "--output",
        ]);
        command.arg(&place).args(&options);
        match files.is_empty() {
            true => command.args(of.iter().flat_map(|file| ["--file", file])),
            false => command.args(files.iter().flat_map(|file| ["--file", file.as_str()])),
        };
        // It fails if a change is missed; the counts decide instead.
        command.status().context("cannot start cargo-mutants")?;
        let out = place.join("mutants.out");
        let [caught, missed, timeout, unviable] =
            ["caught", "missed", "timeout", "unviable"].map(|kind| lines(&out, kind));
        let (noticed, all) = (
            caught.len() + timeout.len(),
            caught.len() + timeout.len() + missed.len(),
        );
        println!(
            "{name}: {noticed} of {all} changes noticed, {} do not compile",
            unviable.len()
        );
        missed
            .iter()
            .for_each(|change| println!("  missed: {change}"));
        if noticed * 100 < all * CAUGHT {
            few.push(*name);
        }
    }
    ensure!(few.is_empty(), "under {CAUGHT}%: {}", few.join(", "));
    Ok(())
}

fn lines(out: &Path, kind: &str) -> Vec<String> {
    let text = std::fs::read_to_string(out.join(format!("{kind}.txt"))).unwrap_or_default();
    text.lines().map(str::to_owned).collect()
}
