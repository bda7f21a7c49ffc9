//! `cargo xtask fio-parity --generated=N --seed=S`: random option sets.
//!
//! A generator draws option sets from [`dimensions`]. Both programs run each set on fresh files, several times with
//! different seeds, and the observed behavior is compared: exit code, errors, I/Os and bytes by direction, syncs, file
//! sizes, written parts of the files, and each single access. See [`judge`] for the matching rules.

mod dimensions;
mod excluded;
mod judge;
mod known;
mod observed;
mod option_set;
pub(super) mod page;
mod shrink;

use super::run::{self, ParityLoop, Program};
use anyhow::{Context, Result, bail};
use judge::{Leniency, Misfit};
use known::Known;
use observed::{FioExit, Observed, observe};
pub(super) use option_set::Extras;
use option_set::{ObserveBy, OptionSet};
use std::fs::{self, File};
use std::io::{Read, Seek, SeekFrom, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

/// Default seed.
pub(super) const SEED: u64 = 1;
/// Number of sets that CI runs.
pub(super) const QUICK: u64 = 40;
/// Minor version of the fio that the sets were compared with.
pub(super) const REFERENCE: u32 = 33;
/// Number of runs of the original and of hakaru: initially, and in total as long as these do not match.
const STAGES: [(usize, usize); 3] = [(3, 2), (9, 4), (27, 4)];
/// Timeout of a run in seconds.
const PATIENCE: u64 = 15;
/// Size in bytes of the loop device of each thread.
const LOOP_BYTES: u64 = 2 << 20;

/// Command-line options of the comparison.
pub(super) struct Request {
    /// Number of sets.
    pub(super) sets: u64,
    pub(super) seed: u64,
    /// Runs only this set of the seed.
    pub(super) only: Option<u64>,
    /// Replaces the section of the page.
    pub(super) write: bool,
    /// Searches for the smallest set that still differs.
    pub(super) shrink: bool,
    /// Number of retries before a difference counts: a busy host may cause random differences.
    pub(super) retries: u32,
    /// Whether the number of rare options per set is unlimited (`--wild`).
    pub(super) extras: Extras,
}

/// Outcome of the comparison of one set.
enum SetOutcome {
    /// hakaru matches.
    Same,
    /// hakaru does not match, for a known reason.
    Explained(&'static Known, Misfit),
    /// hakaru does not match.
    Differs(Vec<Misfit>),
    /// The original hung or was killed by a signal.
    OriginalFails(String),
}

/// One set with its outcome.
struct Compared {
    set: OptionSet,
    outcome: SetOutcome,
    /// The smallest set found with the same difference, with its own outcome.
    smallest: Option<(OptionSet, SetOutcome)>,
}

/// Working environment of one thread.
struct SetRunner<'a> {
    theirs: &'a Program,
    ours: &'a Program,
    dir: PathBuf,
    looped: Option<ParityLoop>,
}

/// Runs the sets, prints differences, and writes the page if requested.
///
/// # Errors
/// If a set differs without an explanation, or cannot be run.
pub(super) fn compare(
    theirs: &Program,
    ours: &Program,
    version: &str,
    request: &Request,
) -> Result<()> {
    let root = crate::workspace::target()
        .join("parity")
        .join(format!("generated-{}", std::process::id()));
    fs::create_dir_all(&root).with_context(|| format!("cannot create {}", root.display()))?;
    let begun = Instant::now();
    let missing = missing(theirs, &root)?;
    println!(
        "generated option sets: --generated={} --seed={}",
        request.sets, request.seed
    );
    for value in &missing {
        println!("not available here, and left out: {value}");
    }
    let usable = |value: &str| !missing.iter().any(|missing| value.contains(missing));
    let generate = |number| OptionSet::generate(request.seed, number, request.extras, &usable);
    let numbers: Vec<u64> = request
        .only
        .map_or((0..request.sets).collect(), |only| vec![only]);
    let (next, done) = (AtomicU64::new(0), Mutex::new(Vec::new()));
    let threads = std::thread::available_parallelism()
        .map_or(1, usize::from)
        .min(8);
    std::thread::scope(|scope| {
        for thread in 0..threads {
            let looped = ParityLoop::attach(&root.join(format!("{thread}.img")), LOOP_BYTES).ok();
            let slot = SetRunner {
                theirs,
                ours,
                dir: root.join(thread.to_string()),
                looped,
            };
            let (next, done, numbers, generate) = (&next, &done, &numbers, &generate);
            scope.spawn(move || {
                while let Some(&number) = numbers.get(next.fetch_add(1, Ordering::Relaxed) as usize)
                {
                    let compared = slot.compare(generate(number), request);
                    print_set(&compared);
                    done.lock()
                        .unwrap_or_else(std::sync::PoisonError::into_inner)
                        .push(compared);
                }
            });
        }
    });
    let _ = fs::remove_dir_all(&root);
    let mut sets = done
        .into_inner()
        .unwrap_or_else(std::sync::PoisonError::into_inner);
    sets.sort_by_key(|compared| compared.set.number);
    let summary = page::PageSummary::of(&sets);
    println!("{summary}, in {} s", begun.elapsed().as_secs());
    if request.write {
        page::write(&sets, &summary, request, version)?;
    }
    match summary.differ {
        0 => Ok(()),
        count => {
            bail!(
                "{count} generated option sets differ; repeat each with: cargo xtask fio-parity --seed={}{} --set=NUMBER",
                request.seed,
                if request.extras == Extras::All {
                    " --wild"
                } else {
                    ""
                }
            )
        }
    }
}

fn print_set(compared: &Compared) {
    let number = compared.set.number;
    let (word, misfits) = match &compared.outcome {
        SetOutcome::Same => return,
        SetOutcome::Explained(known, misfit) => {
            let first = cut(&misfit.to_string(), 200);
            return println!(
                "set {number}: explained: {}: {first}: {}",
                known.reason, compared.set
            );
        }
        SetOutcome::OriginalFails(how) => {
            return println!("set {number}: fio itself {how}: {}", compared.set);
        }
        SetOutcome::Differs(misfits) => ("differs", misfits),
    };
    let mut text = format!("set {number}: {word}: {}\n", compared.set);
    for misfit in misfits.iter().take(5) {
        text += &format!("    {}\n", cut(&misfit.to_string(), 300));
    }
    if let Some((smallest, outcome)) = &compared.smallest {
        text += &format!("  smallest: {smallest}\n");
        if let SetOutcome::Differs(misfits) = outcome {
            for misfit in misfits.iter().take(5) {
                text += &format!("    {}\n", cut(&misfit.to_string(), 300));
            }
        }
    }
    print!("{text}");
}

fn cut(text: &str, most: usize) -> String {
    if text.chars().count() <= most {
        text.to_owned()
    } else {
        text.chars().take(most).chain(['…']).collect()
    }
}

/// Values that the original cannot run here: engines that the kernel rejects, direct I/O that the file system rejects.
fn missing(theirs: &Program, root: &Path) -> Result<Vec<&'static str>> {
    let probes = [
        "--direct=1",
        "--ioengine=io_uring",
        "--ioengine=libaio",
        "--ioengine=posixaio",
        "--ioengine=pvsync2",
    ];
    let mut missing = Vec::new();
    for probe in probes {
        let args = ["--name=g", "--rw=write", "--bs=4k", "--size=4k", probe].map(str::to_owned);
        let ended = run_in(theirs, &args, &root.join("probe"), None)?;
        if ended.code != Some(0) {
            missing.push(probe);
        }
    }
    if ParityLoop::attach(&root.join("probe.img"), LOOP_BYTES).is_err() {
        missing.push("{loop}");
    }
    Ok(missing)
}

impl SetRunner<'_> {
    fn compare(&self, set: OptionSet, request: &Request) -> Compared {
        let mut outcome = self.outcome(&set, &STAGES);
        if matches!(outcome, SetOutcome::OriginalFails(_)) {
            // Some sets kill the original by chance.
            outcome = self.outcome(&set, &STAGES);
        }
        for _ in 0..request.retries {
            if !matches!(
                outcome,
                SetOutcome::Differs(_) | SetOutcome::OriginalFails(_)
            ) {
                break;
            }
            outcome = self.outcome(&set, &STAGES);
        }
        // A few runs per step are enough while shrinking; the final result is judged like any set.
        let smallest = match &outcome {
            SetOutcome::Differs(misfits) if request.shrink => {
                let smallest =
                    shrink::smallest(&set, misfits, |set| self.outcome(set, &STAGES[..1]));
                let outcome = self.outcome(&smallest, &STAGES);
                Some((smallest, outcome))
            }
            _ => None,
        };
        Compared {
            set,
            outcome,
            smallest,
        }
    }

    fn outcome(&self, set: &OptionSet, stages: &[(usize, usize)]) -> SetOutcome {
        match self.try_outcome(set, stages) {
            Ok(outcome) => outcome,
            Err(error) => SetOutcome::OriginalFails(format!("cannot be run: {error:#}")),
        }
    }

    fn try_outcome(&self, set: &OptionSet, stages: &[(usize, usize)]) -> Result<SetOutcome> {
        let (mut theirs, mut ours, mut misfits) = (Vec::new(), Vec::new(), Vec::new());
        for &(their_runs, our_runs) in stages {
            while theirs.len() < their_runs {
                theirs.push(self.observe(self.theirs, set, theirs.len() as u64)?);
                if let Some(how) = failure(theirs.last()) {
                    return Ok(SetOutcome::OriginalFails(how));
                }
            }
            while ours.len() < our_runs {
                ours.push(self.observe(self.ours, set, ours.len() as u64)?);
            }
            misfits = judge::misfits(
                &theirs,
                &ours,
                Leniency {
                    outcomes_only: set.has("time_based"),
                    any_order: set.logs_completions(),
                },
            );
            if misfits.is_empty() {
                return Ok(SetOutcome::Same);
            }
        }
        let known = known::explanation(set, &misfits);
        Ok(match (known, misfits.first()) {
            (Some(known), Some(first)) => SetOutcome::Explained(known, first.clone()),
            _ => SetOutcome::Differs(misfits),
        })
    }

    /// Runs a set in an empty directory; the first run uses the seed of the set, later ones others.
    fn observe(&self, program: &Program, set: &OptionSet, run: u64) -> Result<Observed> {
        if self.dir.exists() {
            fs::remove_dir_all(&self.dir)
                .with_context(|| format!("cannot empty {}", self.dir.display()))?;
        }
        fs::create_dir_all(&self.dir)
            .with_context(|| format!("cannot create {}", self.dir.display()))?;
        if let Some(bytes) = set.existing() {
            let content: Vec<u8> = (0..bytes).map(|at| (at % 251) as u8 + 1).collect();
            if !set.first_file().contains('/') && !set.first_file().contains('{') {
                File::create(self.dir.join(set.first_file()))?.write_all(&content)?;
            }
        }
        if let Some(looped) = self
            .looped
            .as_ref()
            .filter(|_| set.first_file() == "{loop}")
        {
            fs::OpenOptions::new()
                .write(true)
                .open(&looped.device)?
                .write_all(&vec![0; LOOP_BYTES as usize])?;
        }
        let seed = (run > 0).then(|| 1000 + 7 * run);
        if let Some(before) = set.before(seed) {
            run_in(program, &self.filled_in(before), &self.dir, None)?;
        }
        let ended = run_in(
            program,
            &self.filled_in(set.arguments(seed)),
            &self.dir,
            Some(set.watch),
        )?;
        Ok(observe(&ended, &self.dir))
    }
}

impl SetRunner<'_> {
    fn filled_in(&self, words: Vec<String>) -> Vec<String> {
        let device = self
            .looped
            .as_ref()
            .map_or(String::new(), |looped| looped.device.display().to_string());
        words
            .into_iter()
            .map(|word| word.replace("{loop}", &device))
            .collect()
    }
}

fn failure(observed: Option<&Observed>) -> Option<String> {
    let end = observed?.iter().find(|(key, _)| key.name == "exit code")?.1;
    match end {
        observed::Value::Exact(lines) if lines.iter().any(|line| line.parse::<i32>().is_err()) => {
            Some(lines.join(" "))
        }
        _ => None,
    }
}

fn run_in(
    program: &Program,
    words: &[String],
    dir: &Path,
    watch: Option<ObserveBy>,
) -> Result<FioExit> {
    fs::create_dir_all(dir)?;
    if watch == Some(ObserveBy::IoLog) {
        // Removes logs of a previous run, so that they are not mistaken for this one's.
        let _ = fs::remove_file(dir.join("io.log"));
    }
    let mut out = tempfile::tempfile()?;
    let mut command = Command::new(&program.file);
    command
        .args(program.prefix)
        .args(words)
        .current_dir(dir)
        .stdin(Stdio::null())
        .env("LC_ALL", "C");
    let mut errors = tempfile::tempfile()?;
    command.stdout(out.try_clone()?).stderr(errors.try_clone()?);
    let child = command
        .spawn()
        .with_context(|| format!("cannot start {}", program.file.display()))?;
    let exit = run::wait(child, std::time::Duration::from_secs(PATIENCE));
    let mut stdout = Vec::new();
    out.seek(SeekFrom::Start(0))?;
    out.read_to_end(&mut stdout)?;
    let stdout = String::from_utf8_lossy(&stdout).into_owned();
    let mut stderr = Vec::new();
    errors.seek(SeekFrom::Start(0))?;
    errors.read_to_end(&mut stderr)?;
    // fio prints this for a job whose process was killed by a signal, and may still exit with 0.
    let crashed = String::from_utf8_lossy(&stderr).contains(", got signal=");
    Ok(match exit {
        Ok(exit) => FioExit {
            code: exit.code(),
            hung: false,
            crashed,
            stdout,
        },
        Err(_) => FioExit {
            code: None,
            hung: true,
            crashed,
            stdout,
        },
    })
}
