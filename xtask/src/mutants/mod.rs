//! `cargo xtask mutants`: changes the code in small ways, and counts the changes that no test notices.
//!
//! Not a step of `cargo xtask ci`. `cargo xtask mutants --together` tests all changes in one build of each crate, which
//! takes about an hour. Without this option, cargo-mutants compiles every change, which takes days:
//! `cargo xtask mutants model --sample=60 --seed=1` tests a random sample, and prints the seed, so that the same sample
//! can be tested again. All other options are passed to cargo-mutants. With `--together --missed=FILE`, only the changes
//! are tested that the output of an earlier run in this file lists as missed. `--tests=PART,PART` runs only tests whose
//! name contains one of these parts, which is quick while tests are written.

mod switch;
mod test_set;
#[cfg(test)]
mod tests;
mod together;

use crate::workspace;
use anyhow::{Context, Result, bail, ensure};
use hakaru_model::rng::Rng;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{SystemTime, UNIX_EPOCH};
use switch::Change;

/// Code that decides what is measured, concluded and destroyed.
struct TestedCode {
    name: &'static str,
    package: &'static str,
    /// Its files; empty for the whole package.
    files: &'static [&'static str],
    /// What its builds change in the dev profile.
    profile: &'static [&'static str],
}

/// Builds of the model take minutes with optimization, and its tests take seconds without. It is the other way round for
/// the tests of the analysis and of the guard, which compute for long.
const CODE: &[TestedCode] = &[
    TestedCode {
        name: "model",
        package: "hakaru-model",
        files: &[],
        profile: &["debug=0", "package.hakaru-model.opt-level=0"],
    },
    TestedCode {
        name: "analysis",
        package: "hakaru-analysis",
        files: &[],
        profile: &["debug=0"],
    },
    TestedCode {
        name: "guard",
        package: "hakaru-device",
        files: &["crates/device/src/guard/**"],
        profile: &["debug=0"],
    },
];

/// Minimum fraction of changes that tests notice, in percent.
const CAUGHT: usize = 95;

/// A random part of the changes.
#[derive(Debug, PartialEq, Eq)]
struct MutantSample {
    /// Number of changes of each crate.
    count: usize,
    seed: u64,
}

impl MutantSample {
    /// Takes `--sample=N` and `--seed=S` out of the options. Without a seed, it is the time.
    fn take(options: &mut Vec<&str>) -> Result<Option<MutantSample>> {
        let mut number = |name: &str| -> Result<Option<u64>> {
            let Some(at) = options.iter().position(|one| one.starts_with(name)) else {
                return Ok(None);
            };
            let option = options.remove(at);
            let number = option[name.len()..].parse();
            Ok(Some(
                number.with_context(|| format!("{option}: expected a number"))?,
            ))
        };
        let (count, seed) = (number("--sample=")?, number("--seed=")?);
        let Some(count) = count else {
            ensure!(seed.is_none(), "--seed needs --sample=N");
            return Ok(None);
        };
        let now = SystemTime::now().duration_since(UNIX_EPOCH)?.as_secs();
        Ok(Some(MutantSample {
            count: usize::try_from(count)?,
            seed: seed.unwrap_or(now),
        }))
    }

    /// Draws changes, each with the same probability; in the order of the list.
    fn drawn(&self, mut changes: Vec<usize>) -> Vec<usize> {
        let mut rng = Rng::new(self.seed);
        while changes.len() > self.count {
            let index = rng.below(changes.len() as u64);
            changes.remove(index as usize);
        }
        changes
    }

    /// Options for a part of the changes: every n-th of the list, beginning with a random one, so that a change is in it
    /// with the same probability as any other, and each file has its share.
    fn shard(&self, changes: usize) -> [String; 2] {
        let shards = changes.div_ceil(self.count.max(1)).max(1);
        let shard = Rng::new(self.seed).below(shards as u64);
        [
            format!("--shard={shard}/{shards}"),
            "--sharding=round-robin".to_owned(),
        ]
    }
}

/// Which changes are tested.
#[derive(Debug, PartialEq, Eq)]
enum ChangeSelection {
    All,
    Random(MutantSample),
    /// Names of changes that an earlier run listed as missed.
    Missed(BTreeSet<String>),
}

impl ChangeSelection {
    /// Prefix of a change that was missed, in the output of a run.
    const MISSED: &str = "missed: ";

    /// Takes the options that select changes out of the others.
    fn take(options: &mut Vec<&str>) -> Result<ChangeSelection> {
        let sample = MutantSample::take(options)?;
        let Some(at) = options.iter().position(|one| one.starts_with("--missed=")) else {
            return Ok(sample.map_or(ChangeSelection::All, ChangeSelection::Random));
        };
        ensure!(sample.is_none(), "--missed and --sample exclude each other");
        let file = &options.remove(at)["--missed=".len()..];
        let text = std::fs::read_to_string(file).with_context(|| format!("cannot read {file}"))?;
        let names = text
            .lines()
            .filter_map(|line| line.trim_start().strip_prefix(Self::MISSED));
        Ok(ChangeSelection::Missed(names.map(str::to_owned).collect()))
    }

    /// The selected ones of some changes, in the same order.
    fn of(&self, mut numbers: Vec<usize>, changes: &[Change]) -> Vec<usize> {
        match self {
            ChangeSelection::All => numbers,
            ChangeSelection::Random(sample) => sample.drawn(numbers),
            ChangeSelection::Missed(names) => {
                numbers.retain(|number| names.contains(&changes[*number].name));
                numbers
            }
        }
    }
}

/// Runs cargo-mutants on the named code, or on all of it.
///
/// # Errors
/// If a name is unknown, cargo-mutants cannot run, or too few changes are noticed.
pub(crate) fn main(args: &[String]) -> Result<()> {
    let args = args.iter().map(String::as_str);
    let (mut options, args): (Vec<&str>, Vec<&str>) = args.partition(|arg| arg.starts_with("--"));
    let (files, names): (Vec<&str>, Vec<&str>) =
        args.into_iter().partition(|arg| arg.contains('/'));
    let is_known = |name: &&str| CODE.iter().any(|code| code.name == *name);
    if let Some(unknown) = names.iter().find(|name| !is_known(name)) {
        let known: Vec<&str> = CODE.iter().map(|code| code.name).collect();
        bail!(
            "{unknown} is not known: expected {}, and files below crates/",
            known.join(", ")
        );
    }
    let selection = ChangeSelection::take(&mut options)?;
    let named = options.iter().position(|one| one.starts_with("--tests="));
    let tests = named.map(|at| &options.remove(at)["--tests=".len()..]);
    let options_before = options.len();
    options.retain(|option| *option != "--together");
    let is_together = options.len() < options_before;
    ensure!(
        !is_together || options.is_empty(),
        "--together takes no other options than --sample=N, --seed=S, --missed=FILE and --tests=PART,PART"
    );
    ensure!(
        is_together || tests.is_none(),
        "--tests=PART,PART needs --together"
    );
    let sample = match &selection {
        ChangeSelection::All => None,
        ChangeSelection::Random(sample) => Some(sample),
        ChangeSelection::Missed(_) => {
            ensure!(is_together, "--missed=FILE needs --together");
            None
        }
    };
    let mut few = Vec::new();
    for code in CODE {
        if !names.is_empty() && !names.contains(&code.name) {
            continue;
        }
        let files = match files.is_empty() {
            true => code.files,
            false => &files,
        };
        let is_enough = match is_together {
            true => test_together(code, files, &selection, tests)?,
            false => test_changes(code, files, &options, sample)?,
        };
        if !is_enough {
            few.push(code.name);
        }
    }
    ensure!(few.is_empty(), "under {CAUGHT}%: {}", few.join(", "));
    Ok(())
}

/// cargo-mutants with the options for some code.
fn cargo_mutants(code: &TestedCode, files: &[&str]) -> Result<Command> {
    let mut command = Command::new(workspace::tool("cargo-mutants")?);
    command.current_dir(workspace::root());
    // Builds differ by one function.
    command.env("CARGO_INCREMENTAL", "1");
    command.args(["mutants", "--package", code.package, "--colors=never"]);
    let config = |key| format!("--cargo-arg=--config=profile.dev.{key}");
    command.args(code.profile.iter().map(config));
    command.args(files.iter().flat_map(|file| ["--file", file]));
    Ok(command)
}

/// The command that lists the changes of files.
fn list_of_changes(code: &TestedCode, files: &[&str]) -> Result<Command> {
    let mut command = cargo_mutants(code, files)?;
    command.arg("--list");
    Ok(command)
}

/// Directory for the builds and results of some code.
fn directory(code: &TestedCode) -> Result<PathBuf> {
    let place = workspace::target().join("mutants").join(code.name);
    std::fs::create_dir_all(&place)
        .with_context(|| format!("cannot create {}", place.display()))?;
    Ok(place)
}

/// Tests the selected changes of files in one build, and prints what was noticed; returns whether that is enough.
fn test_together(
    code: &TestedCode,
    files: &[&str],
    selection: &ChangeSelection,
    tests: Option<&str>,
) -> Result<bool> {
    if let ChangeSelection::Random(sample) = selection {
        println!(
            "{}: {} changes, --seed={}",
            code.name, sample.count, sample.seed
        );
    }
    let result = together::run(code, files, selection, tests, &directory(code)?)?;
    let all = result.noticed + result.missed.len();
    println!(
        "{}: {} of {all} changes noticed, {} left out",
        code.name, result.noticed, result.left_out
    );
    print_missed(&result.missed);
    Ok(is_enough(result.noticed, all))
}

fn print_missed(changes: &[String]) {
    for change in changes {
        println!("  {}{change}", ChangeSelection::MISSED);
    }
}

fn is_enough(noticed: usize, all: usize) -> bool {
    noticed * 100 >= all * CAUGHT
}

/// Tests the changes of files, or a sample of them, and prints what was noticed; returns whether that is enough.
fn test_changes(
    code: &TestedCode,
    files: &[&str],
    options: &[&str],
    sample: Option<&MutantSample>,
) -> Result<bool> {
    let name = code.name;
    let place = directory(code)?;
    let mut command = cargo_mutants(code, files)?;
    command.args(["--no-shuffle", "--output"]).arg(&place);
    if let Some(sample) = sample {
        let listed = workspace::output(&mut list_of_changes(code, files)?)?;
        let changes = listed.lines().count();
        println!(
            "{name}: about {} of {changes} changes, --seed={}",
            sample.count, sample.seed
        );
        command.args(sample.shard(changes));
    }
    // It fails if a change is missed; the counts decide instead.
    let status = command.args(options).status();
    let code = status.context("cannot start cargo-mutants")?.code();
    ensure!(
        matches!(code, Some(0 | 2 | 3)),
        "{name}: cargo-mutants failed: {code:?}"
    );
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
    print_missed(&missed);
    Ok(is_enough(noticed, all))
}

fn lines(out: &Path, kind: &str) -> Vec<String> {
    let text = std::fs::read_to_string(out.join(format!("{kind}.txt"))).unwrap_or_default();
    text.lines().map(str::to_owned).collect()
}

#[cfg(test)]
mod sample_tests {
    use super::*;

    #[test]
    fn a_seed_selects_one_of_the_parts_of_the_wanted_size() {
        let shard = |count, seed| MutantSample { count, seed }.shard(50);
        assert_eq!(shard(80, 3)[0], "--shard=0/1");
        assert!(shard(0, 3)[0].ends_with("/50"));
        assert_eq!(shard(10, 1), shard(10, 1));
        let drawn: Vec<String> = (0..1_000).map(|seed| shard(10, seed)[0].clone()).collect();
        for part in 0..5 {
            let expected = format!("--shard={part}/5");
            let hits = drawn.iter().filter(|shard| **shard == expected).count();
            assert!((150..250).contains(&hits), "{hits} of 1000, 200 expected");
        }
    }

    #[test]
    fn each_change_is_drawn_with_the_same_probability() {
        let mut hits = [0; 50];
        for seed in 0..1_000 {
            let drawn = MutantSample { count: 10, seed }.drawn((0..50).collect());
            assert_eq!(drawn.len(), 10);
            assert!(drawn.is_sorted());
            drawn.iter().for_each(|change| hits[*change] += 1);
        }
        assert!(
            hits.iter().all(|hits| (150..250).contains(hits)),
            "{hits:?}"
        );
        assert_eq!(MutantSample { count: 9, seed: 1 }.drawn(vec![3, 4]), [3, 4]);
    }

    #[test]
    fn options_of_the_sample_are_not_passed_on() {
        let mut options = vec!["--jobs=2", "--seed=7", "--sample=60"];
        let sample = MutantSample::take(&mut options).unwrap();
        assert_eq!(sample, Some(MutantSample { count: 60, seed: 7 }));
        assert_eq!(options, ["--jobs=2"]);
        assert_eq!(MutantSample::take(&mut options).unwrap(), None);
        for wrong in ["--seed=7", "--sample=all"] {
            assert!(MutantSample::take(&mut vec![wrong]).is_err(), "{wrong}");
        }
    }

    #[test]
    fn only_changes_that_were_missed_before_are_selected() {
        let change = |name: &str| {
            let json = format!(
                r#"{{"name": "{name}", "file": "a.rs", "genre": "FnValue", "replacement": "0", "function": null,
                "span": {{"start": {{"line": 1, "column": 1}}, "end": {{"line": 1, "column": 2}}}}}}"#
            );
            serde_json::from_str::<Change>(&json).unwrap()
        };
        let changes = ["a.rs:1:2: x", "a.rs:1:20: x", "a.rs:9:2: y"].map(change);
        let output = tempfile::NamedTempFile::new().unwrap();
        let text = "model: 7 of 9 changes noticed, 0 left out\n  missed: a.rs:9:2: y\nmissed: a.rs:1:2: x\n";
        std::fs::write(output.path(), text).unwrap();
        let option = format!("--missed={}", output.path().display());
        let mut options = vec!["--together", &option];
        let selection = ChangeSelection::take(&mut options).unwrap();
        assert_eq!(options, ["--together"]);
        assert_eq!(selection.of(vec![0, 1, 2], &changes), [0, 2]);
        // A change that cannot be switched is not tested.
        assert_eq!(selection.of(vec![1, 2], &changes), [2]);
        for wrong in [&["--missed=/no/such/file"][..], &[&option, "--sample=3"]] {
            let mut wrong = wrong.to_vec();
            assert!(ChangeSelection::take(&mut wrong).is_err(), "{wrong:?}");
        }
    }
}
