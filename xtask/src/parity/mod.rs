//! `cargo xtask fio-parity`: compares hakaru's fio front end with the original.
//!
//! Both programs run the same jobs in the same place, in turn, and their output is compared: JSON by key, text by line.
//! The result is `docs/PARITY.md`; the number of matching jobs may only increase. With `--self` the original is
//! compared with itself, which must find no differences: this tests how well the comparison separates random variation
//! from errors.

mod compare;
mod fuse;
mod generated;
mod jobs;
mod paced_fs;
mod page;
mod run;
mod text;
mod tree;

use crate::ci::StepOutcome;
use crate::workspace;
use anyhow::{Context, Result, bail};
use compare::{OutputComparison, OutputDifference, Speed};
use jobs::{JOBS, MatchRule, ParityRow};
use run::{Observation, OutputForm, ParityTargets, Program};
use rustix::process::{getpriority_process, setpriority_process};
use serde::Deserialize;
use std::path::PathBuf;
use std::process::Command;

/// Number of retries of a differing generated set under `--retry`, for hosts with other load.
const RETRIES: u32 = 2;

/// Prefix of the reason if the original cannot be run or hangs.
const ORIGINAL: &str = "fio itself";

/// Outcome of the comparison of one job in one format.
#[derive(Clone, Debug, PartialEq)]
enum RowState {
    Same,
    Differs(Vec<OutputDifference>),
    /// hakaru rejects a job that the original runs; its error.
    NotYet(String),
    /// The job cannot run here; the reason.
    Skipped(String),
}

/// Results of one row.
struct RowResult {
    job: &'static ParityRow,
    json: Option<RowState>,
    text: Option<RowState>,
    speeds: Vec<Speed>,
}

/// Options of the command.
struct Options {
    json: bool,
    text: bool,
    /// Only rows whose feature and name contain this text.
    only: Option<String>,
    with_itself: bool,
    /// An existing build of hakaru, instead of a new one.
    ours: Option<PathBuf>,
    /// Builds with the test profile instead of the release profile.
    dev: bool,
    /// Compares with the ratchet, without writing the page.
    check: bool,
    /// Only fast rows that match on every host.
    quick: bool,
    /// Generated option sets instead of the rows.
    generated: Option<generated::Request>,
}

/// Command lines of the rows, one argument per line, as fuzzing seeds.
pub(crate) fn command_lines() -> Vec<Vec<u8>> {
    let line = |args: &str| {
        args.replace(' ', "\n")
            .replace("{dir}", "dir")
            .replace("{job}", "job.fio")
            .into_bytes()
    };
    let named = |job: &ParityRow| [b"--name=a\n".as_slice(), &line(job.args)].concat();
    JOBS.iter()
        .map(|job| {
            if job.file.is_empty() {
                named(job)
            } else {
                line(job.args)
            }
        })
        .collect()
}

/// Job files of the rows, and job files made from their options, as fuzzing seeds.
pub(crate) fn job_files() -> Vec<Vec<u8>> {
    let lines = |args: &str| {
        format!(
            "[a]\n{}\n",
            args.replace(" --", "\n").trim_start_matches("--")
        )
    };
    let file = |job: &ParityRow| {
        if job.file.is_empty() {
            lines(job.args)
        } else {
            job.file.to_owned()
        }
    };
    JOBS.iter().map(|job| file(job).into_bytes()).collect()
}

/// Runs the requested comparison.
///
/// # Errors
/// If fewer jobs match than before, or the comparison cannot be made.
pub(crate) fn main(args: &[String]) -> Result<()> {
    let options = options(args)?;
    let theirs = Program {
        file: real_fio()?,
        prefix: &[],
    };
    let version = workspace::output(Command::new(&theirs.file).arg("--version"))?
        .trim()
        .to_owned();
    let ours = match options.with_itself {
        true => Program {
            file: theirs.file.clone(),
            prefix: &[],
        },
        false => Program {
            file: our_binary(&options)?,
            prefix: &["fio"],
        },
    };
    if let Some(request) = &options.generated {
        return generated::compare(&theirs, &ours, &version, request);
    }
    let _head_start = PriorityBoost::take();
    let place = ParityTargets::new(&workspace::target().join("parity"))?;
    let bench = ParityRunner {
        theirs,
        ours,
        minor: minor(&version),
        place,
        with_itself: options.with_itself,
    };
    let rows: Vec<RowResult> = JOBS
        .iter()
        .filter(|job| options.wants(job))
        .map(|job| bench.row(job, &options))
        .collect();
    page::print(&rows);
    if options.quick {
        return all_same(&rows);
    }
    let whole = options.only.is_none() && options.json && options.text;
    if options.with_itself {
        let wrong = rows
            .iter()
            .flat_map(|row| [&row.json, &row.text])
            .flatten()
            .filter(|s| matches!(s, RowState::Differs(_)));
        return match wrong.count() {
            0 => Ok(()),
            count => bail!("{count} comparisons of fio with itself found differences"),
        };
    }
    if whole && !options.check {
        page::write(&rows, &version)?;
    }
    if options.only.is_none() {
        check_ratchet(&rows, &options)
    } else {
        Ok(())
    }
}

/// The CI step: rows that match on any host, with an existing build.
///
/// # Errors
/// If one of them does not match.
pub(crate) fn quick() -> Result<StepOutcome> {
    if workspace::find_program("fio").is_none() {
        return Ok(StepOutcome::Skipped("fio is not installed".to_owned()));
    }
    let ours = workspace::tested_program()?.display().to_string();
    main(&["--quick", "--ours", &ours].map(str::to_owned))?;
    let version = workspace::output(Command::new(real_fio()?).arg("--version"))?;
    if minor(version.trim()) == generated::REFERENCE {
        main(&["--generated", "--retry", "--no-shrink", "--ours", &ours].map(str::to_owned))?;
    }
    Ok(StepOutcome::Passed)
}

fn all_same(rows: &[RowResult]) -> Result<()> {
    let agrees = |state: &Option<RowState>| {
        matches!(state, None | Some(RowState::Same | RowState::Skipped(_)))
    };
    let wrong = rows
        .iter()
        .filter(|row| !agrees(&row.json) || !agrees(&row.text));
    let wrong: Vec<String> = wrong
        .map(|row| format!("{}/{}", row.job.feature, row.job.name))
        .collect();
    match wrong.as_slice() {
        [] => Ok(()),
        _ => bail!("our fio and the real one differ in {}", wrong.join(", ")),
    }
}

fn options(args: &[String]) -> Result<Options> {
    let mut options = Options {
        json: true,
        text: true,
        only: None,
        with_itself: false,
        ours: None,
        dev: false,
        check: false,
        quick: false,
        generated: None,
    };
    let mut asked = generated::Request {
        sets: generated::QUICK,
        seed: generated::SEED,
        only: None,
        write: false,
        shrink: true,
        retries: 0,
        extras: generated::Extras::Few,
    };
    let mut generate = false;
    let mut args = args.iter();
    while let Some(arg) = args.next() {
        let (name, inline) = arg
            .split_once('=')
            .map_or((arg.as_str(), None), |(name, value)| (name, Some(value)));
        let mut value = || {
            inline
                .or_else(|| args.next().map(String::as_str))
                .with_context(|| format!("{name} wants a value"))
        };
        match name {
            "--json" => options.text = false,
            "--text" => options.json = false,
            "--self" => options.with_itself = true,
            "--check" => options.check = true,
            "--dev" => options.dev = true,
            "--quick" => options.quick = true,
            "--only" => options.only = Some(value()?.to_owned()),
            "--generated" if inline.is_none() => generate = true,
            "--generated" => (generate, asked.sets) = (true, value()?.parse()?),
            "--retry" => asked.retries = RETRIES,
            "--seed" => (generate, asked.seed) = (true, value()?.parse()?),
            "--set" => (generate, asked.only) = (true, Some(value()?.parse()?)),
            "--no-shrink" => asked.shrink = false,
            "--wild" => asked.extras = generated::Extras::All,
            "--write" => asked.write = true,
            "--ours" => options.ours = Some(std::path::absolute(value()?)?),
            _ => bail!(
                "{arg} is not known; there are --json, --text, --self, --check, --dev, --quick, --only TEXT and --ours FILE"
            ),
        }
    }
    options.generated = generate.then_some(asked);
    Ok(options)
}

impl Options {
    fn wants(&self, job: &ParityRow) -> bool {
        let name = format!("{}/{}", job.feature, job.name);
        let quick = !self.quick || jobs::QUICK.contains(&name.as_str());
        quick
            && self
                .only
                .as_ref()
                .is_none_or(|only| name.contains(only.as_str()))
    }
}

/// Raises the scheduling priority of this process and its children until dropped; without effect
/// unless root.
struct PriorityBoost {
    before: i32,
}

impl PriorityBoost {
    fn take() -> PriorityBoost {
        let before = getpriority_process(None).unwrap_or(0);
        let _ = setpriority_process(None, -15);
        PriorityBoost { before }
    }
}

impl Drop for PriorityBoost {
    fn drop(&mut self) {
        let _ = setpriority_process(None, self.before);
    }
}

/// Path of the original, which must not be a link to hakaru.
fn real_fio() -> Result<PathBuf> {
    let fio = workspace::find_program("fio")
        .context("fio is not installed; on Debian: apt-get install fio")?;
    let name = fio.canonicalize()?;
    if name.file_name().is_some_and(|name| name == "hakaru") {
        bail!(
            "{} is our own program; the original is needed to compare with",
            fio.display()
        );
    }
    Ok(fio)
}

fn our_binary(options: &Options) -> Result<PathBuf> {
    if let Some(file) = &options.ours {
        return Ok(file.clone());
    }
    let (profile, folder) = if options.dev {
        ("dev", "debug")
    } else {
        ("release", "release")
    };
    let mut cargo = workspace::cargo();
    cargo.args(["build", "--profile", profile]);
    workspace::run(cargo.args(workspace::WHOLE_PROGRAM))?;
    Ok(workspace::target().join(folder).join("hakaru"))
}

/// Parses the minor version: 33 of `fio-3.33`.
fn minor(version: &str) -> u32 {
    let digits = version.split(['.', '-']).nth(2).unwrap_or_default();
    digits.parse().unwrap_or(u32::MAX)
}

/// The two programs and their working environment.
struct ParityRunner {
    theirs: Program,
    ours: Program,
    minor: u32,
    place: ParityTargets,
    with_itself: bool,
}

impl ParityRunner {
    fn row(&self, job: &'static ParityRow, options: &Options) -> RowResult {
        let mut row = RowResult {
            job,
            json: None,
            text: None,
            speeds: Vec::new(),
        };
        // A row with an explicit output format has only that one.
        let as_tree = options.json && (job.is_tree() || !job.has_own_format());
        let as_text = options.text && !job.is_tree();
        if let Some(why) = self.place.lacks(job) {
            row.json = as_tree.then(|| RowState::Skipped(why.clone()));
            row.text = as_text.then_some(RowState::Skipped(why));
        } else {
            if as_tree {
                let (state, speeds) = self
                    .compare_trees(job)
                    .unwrap_or_else(|error| (failed(&error), Vec::new()));
                (row.json, row.speeds) = (Some(state), speeds);
            }
            if as_text {
                row.text = Some(
                    self.compare_text(job)
                        .unwrap_or_else(|error| failed(&error)),
                );
            }
        }
        page::print_row(&row);
        row
    }

    /// Runs both programs in turn, and compares their output as trees.
    fn compare_trees(&self, job: &ParityRow) -> Result<(RowState, Vec<Speed>)> {
        let (mut theirs, mut ours) = (Vec::new(), Vec::new());
        let mut differences = Vec::new();
        // A first difference may be random, so more runs are made, and all of them count.
        for rounds in if job.judge == MatchRule::Held {
            [5, 3]
        } else {
            [1, 2]
        } {
            for _ in 0..rounds {
                let original = self
                    .place
                    .run(&self.theirs, job, OutputForm::Json)
                    .context(ORIGINAL)?;
                let tree = match original.tree(true) {
                    Ok(tree) => tree,
                    Err(why) => {
                        return Ok((RowState::Skipped(refusal(&original, &why)), Vec::new()));
                    }
                };
                let copy = self.place.run(&self.ours, job, OutputForm::Json)?;
                if original.exit.success() && !copy.exit.success() {
                    return Ok((not_yet(&copy), Vec::new()));
                }
                if let Some(difference) =
                    noise(&original, &copy).filter(|noise| !jobs::is_slip(job, noise))
                {
                    return Ok((RowState::Differs(vec![difference]), Vec::new()));
                }
                match copy.tree(self.with_itself) {
                    Ok(tree) => ours.push(tree),
                    Err(why) => return Ok((differs("stdout", "JSON", &why), Vec::new())),
                }
                theirs.push(tree);
            }
            let comparison = OutputComparison {
                judge: job.judge,
                minor: self.minor,
                theirs: &theirs,
                ours: &ours,
            };
            differences = comparison.differences();
            differences.retain(|difference| !jobs::is_slip(job, difference));
            if !differences.iter().any(|difference| difference.number) {
                break;
            }
        }
        let speeds = if job.judge == MatchRule::Held {
            compare::speeds(&theirs, &ours, &differences)
        } else {
            Vec::new()
        };
        Ok((
            if differences.is_empty() {
                RowState::Same
            } else {
                RowState::Differs(differences)
            },
            speeds,
        ))
    }

    /// The lines depend on the duration of a short job, so a difference gets two more attempts.
    fn compare_text(&self, job: &ParityRow) -> Result<RowState> {
        let mut state = RowState::Same;
        for _ in 0..3 {
            state = self.compare_text_once(job)?;
            if !matches!(state, RowState::Differs(_)) {
                break;
            }
        }
        Ok(state)
    }

    fn compare_text_once(&self, job: &ParityRow) -> Result<RowState> {
        let theirs = self
            .place
            .run(&self.theirs, job, OutputForm::Normal)
            .context(ORIGINAL)?;
        let ours = self.place.run(&self.ours, job, OutputForm::Normal)?;
        if theirs.exit.success() && !ours.exit.success() {
            return Ok(not_yet(&ours));
        }
        if !theirs.exit.success() && ours.exit.success() {
            return Ok(RowState::Skipped(refusal(&theirs, "ours runs it")));
        }
        if let Some(difference) = noise(&theirs, &ours).filter(|noise| !jobs::is_slip(job, noise)) {
            return Ok(RowState::Differs(vec![difference]));
        }
        let mut found = text::differences(
            &theirs.stdout,
            &ours.stdout,
            self.minor,
            job.judge == MatchRule::Counts,
        );
        found.retain(|difference| !jobs::is_slip(job, difference));
        Ok(if found.is_empty() {
            RowState::Same
        } else {
            RowState::Differs(found)
        })
    }
}

/// Compares standard error, which is empty on success. The original prints notes on standard output, hakaru does not.
fn noise(theirs: &Observation, ours: &Observation) -> Option<OutputDifference> {
    let noted = ["note: ", "fio: "]
        .iter()
        .any(|note| theirs.stdout.contains(note));
    let quiet = theirs.stderr.trim().is_empty() && !noted;
    let new = quiet && !ours.stderr.trim().is_empty();
    new.then(|| OutputDifference::new("stderr", "nothing", run::first_line(&ours.stderr)))
}

fn differs(path: &str, theirs: &str, ours: &str) -> RowState {
    RowState::Differs(vec![OutputDifference::new(path, theirs, ours)])
}

/// A comparison that failed counts as a difference, unless the original could not be run.
fn failed(error: &anyhow::Error) -> RowState {
    match error.to_string() == ORIGINAL {
        true => RowState::Skipped(format!("{error:#}")),
        false => differs("run", "ends well", &format!("{error:#}")),
    }
}

fn not_yet(ours: &Observation) -> RowState {
    // A panic or a signal does not count as rejecting the job.
    if ours.exit.code().is_none_or(|code| code == 101) {
        return differs(
            "exit",
            "success",
            &format!("{}: {}", ours.exit, run::first_line(&ours.stderr)),
        );
    }
    RowState::NotYet(run::first_line(&ours.stderr).to_owned())
}

fn refusal(theirs: &Observation, why: &str) -> String {
    format!(
        "fio itself ends with {} and no result ({why}): {}",
        theirs.exit,
        run::first_line(&theirs.stderr)
    )
}

/// Number of matching jobs in the committed ratchet.
#[derive(Deserialize)]
struct ParityRatchet {
    json_same: usize,
    text_same: usize,
}

#[derive(Deserialize)]
struct ParityRatchetFile {
    parity: ParityRatchet,
}

/// Fails if fewer jobs match than before. Jobs that this host cannot run are assumed to match.
fn check_ratchet(rows: &[RowResult], options: &Options) -> Result<()> {
    let text = workspace::read(workspace::RATCHETS)?;
    let ParityRatchetFile { parity } = toml::from_str(&text)
        .with_context(|| format!("cannot understand {}", workspace::RATCHETS))?;
    if options.json {
        // A busy host affects measurements on the rate-limited target, so they are only shown on the page.
        let steady = rows.iter().filter(|row| row.job.judge != MatchRule::Held);
        check_form(
            "json_same",
            steady.filter_map(|row| row.json.as_ref()),
            parity.json_same,
        )?;
    }
    if options.text {
        check_form(
            "text_same",
            rows.iter().filter_map(|row| row.text.as_ref()),
            parity.text_same,
        )?;
    }
    Ok(())
}

fn check_form<'a>(
    name: &str,
    states: impl Iterator<Item = &'a RowState>,
    least: usize,
) -> Result<()> {
    let states: Vec<&RowState> = states.collect();
    let same = states
        .iter()
        .filter(|state| matches!(state, RowState::Same))
        .count();
    let skipped = states
        .iter()
        .filter(|state| matches!(state, RowState::Skipped(_)))
        .count();
    if same + skipped < least {
        bail!("{name} fell from {least} to {same} ({skipped} jobs could not be run here)");
    }
    if same > least {
        println!(
            "{name} rose from {least} to {same}; write that into {}",
            workspace::RATCHETS
        );
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_read() {
        assert_eq!(minor("fio-3.33"), 33);
        assert_eq!(minor("fio-3.39-dirty"), 39);
        assert_eq!(minor("other"), u32::MAX);
    }
}
