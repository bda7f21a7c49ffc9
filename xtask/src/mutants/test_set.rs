//! Tests of a crate with switched changes: which of them reach a change, and whether one notices it.

use crate::workspace;
use anyhow::{Context, Result, ensure};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Selects the change that is on.
pub(super) const CHANGE: &str = "HAKARU_CHANGE";

/// Names the file that lists the changes that were reached.
pub(super) const REACHED: &str = "HAKARU_CHANGES_REACHED";

/// Most address space of a test, in KiB: a change may allocate without end.
const MEMORY_KIB: u64 = 12 << 20;

/// Time that tests get beside several times the usual one, before they count as endless.
const PATIENCE: Duration = Duration::from_secs(10);

/// Longest duration of a test without a change.
const LONGEST_TEST: Duration = Duration::from_secs(1800);

/// Tests that run together for a change take about this long at first, in seconds.
const FIRST_BATCH: f64 = 0.3;

/// Tests that run together for a change take about this long in the end, in seconds.
const LAST_BATCH: f64 = 20.0;

/// A test: the number of its binary, and its name.
struct NamedTest {
    binary: usize,
    name: String,
}

/// Tests of a crate.
pub(super) struct TestSet {
    binaries: Vec<PathBuf>,
    /// Directory in which cargo runs them.
    package: PathBuf,
    tests: Vec<NamedTest>,
}

/// What the tests do without a change.
pub(super) struct Baseline {
    /// Duration of each test, in seconds.
    seconds: Vec<f64>,
    /// Tests that reach a change, the shortest first.
    reaching: BTreeMap<usize, Vec<usize>>,
}

impl TestSet {
    /// Finds the tests of binaries, or those whose name contains one of some parts, which commas separate.
    pub(super) fn find(
        binaries: Vec<PathBuf>,
        package: PathBuf,
        parts: Option<&str>,
    ) -> Result<TestSet> {
        let mut tests = Vec::new();
        for (binary, program) in binaries.iter().enumerate() {
            let mut list = Command::new(program);
            list.args(["--list", "--format=terse"])
                .current_dir(&package);
            let list = workspace::output(&mut list)?;
            let names = list
                .lines()
                .filter_map(|line| line.strip_suffix(": test"))
                .filter(|name| {
                    parts.is_none_or(|parts| parts.split(',').any(|part| name.contains(part)))
                });
            tests.extend(names.map(|name| NamedTest {
                binary,
                name: name.to_owned(),
            }));
        }
        ensure!(!tests.is_empty(), "no test has this name");
        Ok(TestSet {
            binaries,
            package,
            tests,
        })
    }

    /// Runs tests of one binary. Returns whether all pass in time.
    fn pass(&self, tests: &[usize], variable: (&str, &str), limit: Duration) -> Result<bool> {
        let Some(first) = tests.first() else {
            return Ok(true);
        };
        let binary = &self.binaries[self.tests[*first].binary];
        let mut child = Command::new("sh")
            .args(["-c", &format!("ulimit -v {MEMORY_KIB}; exec \"$@\""), "sh"])
            .arg(binary)
            .args(["--exact", "--test-threads=1"])
            .args(tests.iter().map(|test| &self.tests[*test].name))
            .current_dir(&self.package)
            .env("CARGO_MANIFEST_DIR", &self.package)
            .env("INSTA_UPDATE", "no")
            .env("RUST_BACKTRACE", "0")
            .env(variable.0, variable.1)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .with_context(|| format!("cannot start {}", binary.display()))?;
        let begun = Instant::now();
        loop {
            if let Some(status) = child.try_wait()? {
                return Ok(status.success());
            }
            if begun.elapsed() > limit {
                child.kill()?;
                child.wait()?;
                return Ok(false);
            }
            std::thread::sleep(Duration::from_millis(2));
        }
    }

    /// Runs each test once without a change.
    pub(super) fn run_without_changes(&self, place: &Path) -> Result<Baseline> {
        let folder = place.join("reached");
        if folder.exists() {
            fs::remove_dir_all(&folder)?;
        }
        fs::create_dir_all(&folder)?;
        let numbers: Vec<usize> = (0..self.tests.len()).collect();
        let results = in_parallel(&numbers, |test| {
            let file = folder.join(test.to_string());
            let variable = (REACHED, file.to_str().context("a path is not UTF-8")?);
            let begun = Instant::now();
            ensure!(
                self.pass(&[*test], variable, LONGEST_TEST)?,
                "{} fails without a change",
                self.tests[*test].name
            );
            // A test that reaches no change leaves no file.
            let reached = fs::read_to_string(&file).unwrap_or_default();
            Ok((begun.elapsed().as_secs_f64(), reached))
        })?;
        let mut reaching: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        for (test, (_, reached)) in results.iter().enumerate() {
            for change in reached.lines() {
                reaching.entry(change.parse()?).or_default().push(test);
            }
        }
        let seconds: Vec<f64> = results.iter().map(|(seconds, _)| *seconds).collect();
        for tests in reaching.values_mut() {
            tests.sort_by(|a, b| seconds[*a].total_cmp(&seconds[*b]));
        }
        let sum: f64 = seconds.iter().sum();
        println!("{} tests, {sum:.0} s one by one", seconds.len());
        Ok(Baseline { seconds, reaching })
    }

    /// Whether a test fails with a change, or takes too long.
    pub(super) fn notice(&self, change: usize, baseline: &Baseline) -> Result<bool> {
        let number = change.to_string();
        let mut tests = baseline
            .reaching
            .get(&change)
            .map_or(&[][..], Vec::as_slice);
        let mut seconds_together = FIRST_BATCH;
        while !tests.is_empty() {
            // The short tests first: most changes are noticed by one of them.
            let mut seconds = 0.0;
            let is_in_batch = |test: &&usize| {
                let is_in_batch = seconds < seconds_together;
                seconds += baseline.seconds[**test];
                is_in_batch
            };
            let count = tests.iter().take_while(is_in_batch).count();
            let (batch, rest) = tests.split_at(count);
            for binary in 0..self.binaries.len() {
                let of_binary = |test: &usize| self.tests[*test].binary == binary;
                let batch: Vec<usize> = batch.iter().copied().filter(of_binary).collect();
                let usual: f64 = batch.iter().map(|test| baseline.seconds[*test]).sum();
                let limit = PATIENCE + Duration::from_secs_f64(usual * 5.0);
                if !self.pass(&batch, (CHANGE, &number), limit)? {
                    return Ok(true);
                }
            }
            tests = rest;
            seconds_together = (seconds_together * 3.0).min(LAST_BATCH);
        }
        Ok(false)
    }
}

/// Calls a function for each element, on all CPUs.
pub(super) fn in_parallel<T, R>(list: &[T], call: impl Fn(&T) -> Result<R> + Sync) -> Result<Vec<R>>
where
    T: Sync,
    R: Send,
{
    let next = AtomicUsize::new(0);
    let results = Mutex::new(BTreeMap::new());
    let work = || {
        while let index = next.fetch_add(1, Ordering::Relaxed)
            && let Some(element) = list.get(index)
        {
            let result = call(element);
            let mut results = results.lock().unwrap_or_else(PoisonError::into_inner);
            results.insert(index, result);
        }
    };
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(work);
        }
    });
    let results = results.into_inner().unwrap_or_else(PoisonError::into_inner);
    results.into_values().collect()
}
