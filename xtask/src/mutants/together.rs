//! Tests all changes in one build: each is compiled beside the original code and switched on by a variable.
//!
//! A build for each change takes days for all of them. Here a test binary is built once, each test runs once to record
//! which changes it reaches, and then once more for each of these changes, until one test fails. A change that does not
//! compile beside the others is left out; the number of these is printed. cargo-mutants can test them one by one.

use super::switch::{self, Change};
use super::test_set::{CHANGE, REACHED, TestSet, in_parallel};
use super::{ChangeSelection, TestedCode, list_of_changes};
use crate::workspace;
use anyhow::{Context, Result, ensure};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

/// Results of the changes of one crate.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct TogetherResult {
    pub(super) noticed: usize,
    /// Names of changes that no test noticed.
    pub(super) missed: Vec<String>,
    /// Number of changes that cannot be switched, or do not compile.
    pub(super) left_out: usize,
}

/// Tests the selected changes of files, with all tests or those whose name contains one of some parts.
///
/// # Errors
/// If the crate with all switches cannot be built, or if a test fails without a change.
pub(super) fn run(
    code: &TestedCode,
    files: &[&str],
    selection: &ChangeSelection,
    parts_of_names: Option<&str>,
    place: &Path,
) -> Result<TogetherResult> {
    let json = workspace::output(list_of_changes(code, files)?.arg("--json"))?;
    let changes: Vec<Change> = serde_json::from_str(&json).context("the list of changes")?;
    let source = SwitchedCrate {
        code,
        root: place.join("source"),
        target: place.join("target"),
    };
    let memory = place.join("left-out.json");
    let mut left_out = LeftOut::read(&memory, &json);
    let switched = source.write_what_compiles(&changes, &mut left_out.numbers)?;
    left_out.write(&memory)?;
    println!(
        "{}: {} of {} changes switched",
        code.name,
        switched.len(),
        changes.len()
    );
    let tests = TestSet::find(source.test_binaries()?, source.package()?, parts_of_names)?;
    let baseline = tests.run_without_changes(place)?;
    let begun = Instant::now();
    let done = AtomicUsize::new(0);
    let count_left_out = changes.len() - switched.len();
    let switched = selection.of(switched.into_iter().collect(), &changes);
    let is_noticed = in_parallel(&switched, |change| {
        let is_noticed = tests.notice(*change, &baseline)?;
        if !is_noticed {
            // Tests can be written before the last change is tested.
            eprintln!("{}{}", ChangeSelection::MISSED, changes[*change].name);
        }
        let count = done.fetch_add(1, Ordering::Relaxed) + 1;
        if count.is_multiple_of(100) {
            let each = begun.elapsed().as_secs_f64() / count as f64;
            let minutes = each * (switched.len() - count) as f64 / 60.0;
            eprintln!("{count} of {}, {minutes:.0} min left", switched.len());
        }
        Ok(is_noticed)
    })?;
    let missed: Vec<String> = switched
        .iter()
        .zip(&is_noticed)
        .filter(|(_, is_noticed)| !**is_noticed)
        .map(|(change, _)| changes[*change].name.clone())
        .collect();
    Ok(TogetherResult {
        noticed: switched.len() - missed.len(),
        missed,
        left_out: count_left_out,
    })
}

/// Changes that did not compile, kept for the next run: finding them takes a dozen builds.
#[derive(Serialize, Deserialize)]
struct LeftOut {
    /// The list of all changes, with their positions in the code.
    list: String,
    numbers: BTreeSet<usize>,
}

impl LeftOut {
    /// Those of an earlier run with the same list; none otherwise.
    fn read(file: &Path, list: &str) -> LeftOut {
        let earlier = fs::read(file).ok();
        let earlier = earlier.and_then(|text| serde_json::from_slice(&text).ok());
        earlier
            .filter(|earlier: &LeftOut| earlier.list == list)
            .unwrap_or_else(|| LeftOut {
                list: list.to_owned(),
                numbers: BTreeSet::new(),
            })
    }

    fn write(&self, file: &Path) -> Result<()> {
        write_if_different(file, &serde_json::to_vec(self)?)
    }
}

/// A copy of the workspace, in which a crate has switches.
struct SwitchedCrate<'a> {
    code: &'a TestedCode,
    root: PathBuf,
    target: PathBuf,
}

impl SwitchedCrate<'_> {
    /// Directory of the crate.
    fn package(&self) -> Result<PathBuf> {
        let name = self.code.package.strip_prefix("hakaru-");
        let name = name.with_context(|| format!("{} is not in crates/", self.code.package))?;
        Ok(self.root.join("crates").join(name))
    }

    /// Writes all changes that compile together. Returns their numbers, and adds those of the others to `left_out`.
    fn write_what_compiles(
        &self,
        changes: &[Change],
        left_out: &mut BTreeSet<usize>,
    ) -> Result<BTreeSet<usize>> {
        let mut errors_before = usize::MAX;
        loop {
            let switched = self.write(changes, left_out)?;
            let errors = self.errors()?;
            if errors.is_empty() {
                return Ok(switched);
            }
            // The switch before an error caused it. If that did not help, it was the one behind.
            let is_stuck = errors.len() >= errors_before;
            let before = left_out.len();
            for error in &errors {
                left_out.extend(error.culprits(is_stuck)?);
            }
            ensure!(
                left_out.len() > before,
                "{} does not compile with switches: {}",
                self.code.package,
                errors[0].message
            );
            eprintln!(
                "{} errors, {} changes left out",
                errors.len(),
                left_out.len()
            );
            errors_before = errors.len();
        }
    }

    /// Copies the files of the workspace, and switches the changes. Returns the numbers of those that can be.
    fn write(&self, changes: &[Change], left_out: &BTreeSet<usize>) -> Result<BTreeSet<usize>> {
        let listed = workspace::output(
            Command::new("git")
                // New files too, unless they are ignored.
                .args([
                    "ls-files",
                    "-z",
                    "--cached",
                    "--others",
                    "--exclude-standard",
                ])
                .current_dir(workspace::root()),
        )?;
        let mut by_file: BTreeMap<&str, Vec<(usize, &Change)>> = BTreeMap::new();
        for (number, change) in changes.iter().enumerate() {
            if !left_out.contains(&number) {
                by_file
                    .entry(&change.file)
                    .or_default()
                    .push((number, change));
            }
        }
        let main_file = self.package()?.join("src/lib.rs");
        let mut switched = BTreeSet::new();
        for file in listed.split_terminator('\0') {
            let to = self.root.join(file);
            // Files that were deleted are still listed.
            let Ok(mut content) = fs::read(workspace::root().join(file)) else {
                continue;
            };
            if let Some(changes) = by_file.get(file) {
                let text = String::from_utf8(content).with_context(|| file.to_owned())?;
                let rewritten = switch::switch(&text, changes).with_context(|| file.to_owned())?;
                switched.extend(rewritten.changes);
                content = rewritten.text.into_bytes();
            }
            if to == main_file {
                let text = String::from_utf8(content).with_context(|| file.to_owned())?;
                content = with_switch(&text).into_bytes();
            }
            write_if_different(&to, &content)?;
        }
        let module = module(changes.len());
        write_if_different(
            &main_file.with_file_name("switched_changes.rs"),
            module.as_bytes(),
        )?;
        Ok(switched)
    }

    fn cargo(&self, verb: &str) -> Command {
        let mut cargo = workspace::cargo();
        cargo
            .current_dir(&self.root)
            .args([
                verb,
                "--quiet",
                "--package",
                self.code.package,
                "--message-format=json",
            ])
            .args(
                self.code
                    .profile
                    .iter()
                    .map(|key| format!("--config=profile.dev.{key}")),
            )
            .env("CARGO_TARGET_DIR", &self.target)
            .env("CARGO_INCREMENTAL", "1")
            // For the function that is different at compile time.
            .env("RUSTC_BOOTSTRAP", "1")
            .env("RUSTFLAGS", "-Awarnings")
            .stdout(Stdio::piped());
        cargo
    }

    /// Errors of the compiler.
    fn errors(&self) -> Result<Vec<CompileError>> {
        let out = self.cargo("check").stderr(Stdio::null()).output();
        let out = out.context("cannot start cargo")?;
        let text = String::from_utf8_lossy(&out.stdout);
        let mut errors = Vec::new();
        for line in text.lines() {
            let message: Value = serde_json::from_str(line).unwrap_or_default();
            let message = &message["message"];
            if message["level"] != "error" {
                continue;
            }
            for span in message["spans"].as_array().into_iter().flatten() {
                if span["is_primary"] == true {
                    errors.push(CompileError {
                        file: self
                            .root
                            .join(span["file_name"].as_str().unwrap_or_default()),
                        bytes: ["byte_start", "byte_end"]
                            .map(|key| span[key].as_u64().unwrap_or(0) as usize),
                        message: message["message"].as_str().unwrap_or_default().to_owned(),
                    });
                }
            }
        }
        ensure!(
            out.status.success() || !errors.is_empty(),
            "cargo check failed without a place in the source; run it in {}",
            self.root.display()
        );
        Ok(errors)
    }

    /// Builds the tests of the crate. Returns their binaries.
    fn test_binaries(&self) -> Result<Vec<PathBuf>> {
        let text = workspace::output(self.cargo("test").arg("--no-run"))?;
        let built = text.lines().filter_map(|line| {
            let message: Value = serde_json::from_str(line).ok()?;
            let is_test = message["profile"]["test"] == true;
            let program = message["executable"].as_str().filter(|_| is_test)?;
            Some(PathBuf::from(program))
        });
        Ok(built.collect())
    }
}

/// An error of the compiler at a place in a file.
struct CompileError {
    file: PathBuf,
    bytes: [usize; 2],
    message: String,
}

impl CompileError {
    /// How far a switch may be from an error that it caused, in bytes.
    const FAR: usize = 400;

    /// Numbers of the changes that may have caused it.
    fn culprits(&self, is_stuck: bool) -> Result<Vec<usize>> {
        let text = fs::read_to_string(&self.file)
            .with_context(|| format!("cannot read {}", self.file.display()))?;
        let [start, end] = self.bytes;
        let calls: Vec<(usize, usize)> = text
            .match_indices(switch::IS_ON)
            .filter_map(|(at, path)| {
                let (number, _) = text[at + path.len() + 1..].split_once(')')?;
                Some((at, number.parse().ok()?))
            })
            .collect();
        let next = calls.partition_point(|(at, _)| *at <= start);
        let inside: Vec<usize> = calls[next..]
            .iter()
            .take_while(|(at, _)| *at < end)
            .map(|(_, number)| *number)
            .collect();
        let mut culprits = Vec::new();
        let before = next.checked_sub(1).map(|at| calls[at]);
        match before {
            _ if (1..8).contains(&inside.len()) => culprits = inside,
            Some((at, number)) if start - at < Self::FAR => culprits.push(number),
            _ => (),
        }
        let behind = calls
            .get(next)
            .filter(|(at, _)| at.saturating_sub(end) < Self::FAR);
        if is_stuck || culprits.is_empty() {
            culprits.extend(behind.map(|(_, number)| *number));
        }
        // Without its deleted arms, a match may not cover all values; the arms follow it.
        if culprits.is_empty() {
            culprits.extend(calls[next..].iter().take(3).map(|(_, number)| *number));
        }
        Ok(culprits)
    }
}

/// The main file of a crate with the module of the switch.
pub(super) fn with_switch(main_file: &str) -> String {
    // Constant functions have switches too. For the compiler everything is off.
    let features = "#![feature(const_eval_select, core_intrinsics)]\n#![allow(internal_features)]";
    format!("{features}\n{main_file}\nmod switched_changes;\n")
}

/// Source of the module with the switch.
pub(super) fn module(changes: usize) -> String {
    format!(
        r##"use std::fs::OpenOptions;
use std::io::Write as _;
use std::sync::OnceLock;
use std::sync::atomic::{{AtomicBool, Ordering}};

static REACHED: [AtomicBool; {changes}] = [const {{ AtomicBool::new(false) }}; {changes}];
static SETTINGS: OnceLock<(usize, Option<String>)> = OnceLock::new();

fn settings() -> &'static (usize, Option<String>) {{
    SETTINGS.get_or_init(|| {{
        let change = std::env::var("{CHANGE}").ok().and_then(|text| text.parse().ok());
        (change.unwrap_or(usize::MAX), std::env::var("{REACHED}").ok())
    }})
}}

fn is_on_at_run_time(change: usize) -> bool {{
    let (on, reached) = settings();
    if let Some(path) = reached {{
        if !REACHED[change].swap(true, Ordering::Relaxed) {{
            let file = OpenOptions::new().create(true).append(true).open(path);
            let text = change.to_string() + "\n";
            file.and_then(|mut file| file.write_all(text.as_bytes())).expect("a file of changes");
        }}
    }}
    change == *on
}}

const fn is_on_at_compile_time(_: usize) -> bool {{
    false
}}

#[inline]
pub(crate) const fn is_on(change: usize) -> bool {{
    core::intrinsics::const_eval_select((change,), is_on_at_compile_time, is_on_at_run_time)
}}
"##
    )
}

/// Writes a file, but leaves an equal one alone, so that cargo need not compile it again.
fn write_if_different(path: &Path, content: &[u8]) -> Result<()> {
    if fs::read(path).is_ok_and(|old| old == content) {
        return Ok(());
    }
    let folder = path.parent().context("a file has no directory")?;
    fs::create_dir_all(folder)
        .and_then(|()| fs::write(path, content))
        .with_context(|| format!("cannot write {}", path.display()))
}
