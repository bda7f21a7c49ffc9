//! A list of checks: each is run, printed immediately, and counted at the end.

use super::host::HostBusy;
use anyhow::{Result, bail, ensure};
use std::time::{Duration, Instant};

/// Outcome of a check.
enum CheckResult {
    Passed,
    Failed(String),
    /// The measurement is inconclusive; the reason.
    NotJudged(String),
}

/// The checks made so far.
pub(super) struct Checks {
    begun: Instant,
    list: Vec<(String, CheckResult)>,
}

impl Checks {
    pub(super) fn new() -> Checks {
        Checks {
            begun: Instant::now(),
            list: Vec::new(),
        }
    }

    /// Runs one check and prints its result.
    pub(super) fn check(&mut self, name: &str, check: impl FnOnce() -> Result<String>) {
        let (word, saw, result) = match check() {
            Ok(saw) => ("ok", saw, CheckResult::Passed),
            Err(error) if error.is::<HostBusy>() => {
                let why = error.to_string();
                ("BUSY", why.clone(), CheckResult::NotJudged(why))
            }
            Err(error) => {
                let why = format!("{error:#}");
                ("FAILED", why.clone(), CheckResult::Failed(why))
            }
        };
        self.say(&format!("{word:<7} {name}: {saw}"));
        self.list.push((name.to_owned(), result));
    }

    /// Prints a remark between two checks.
    pub(super) fn say(&self, what: &str) {
        println!("{:6.1} s  {what}", self.begun.elapsed().as_secs_f64());
    }

    /// Adds checks that were run and printed elsewhere.
    pub(super) fn join(&mut self, other: Checks) {
        self.list.extend(other.list);
    }

    /// Prints the totals.
    ///
    /// # Errors
    /// If a check failed.
    pub(super) fn conclude(self) -> Result<()> {
        self.close().map(|_| ())
    }

    /// Prints the totals, and returns the number of inconclusive checks.
    ///
    /// # Errors
    /// If a check failed.
    pub(super) fn close(self) -> Result<usize> {
        let (mut passed, mut failed, mut not_judged) = (0, Vec::new(), Vec::new());
        for (name, result) in &self.list {
            match result {
                CheckResult::Passed => passed += 1,
                CheckResult::Failed(why) => failed.push(format!("failed: {name}: {why}")),
                CheckResult::NotJudged(why) => not_judged.push(format!("{name}: {why}")),
            }
        }
        for line in not_judged.iter().chain(&failed) {
            println!("{}", line.lines().next().unwrap_or_default());
        }
        let time = self.begun.elapsed().as_secs_f64();
        println!(
            "{passed} passed, {} failed, {} not judged, in {time:.0} s",
            failed.len(),
            not_judged.len()
        );
        if !failed.is_empty() {
            bail!("{} of {} checks failed", failed.len(), self.list.len());
        }
        Ok(not_judged.len())
    }
}

/// Repeats a probe until it succeeds; its error names what is still missing.
///
/// # Errors
/// If the probe still fails at the time limit.
pub(super) fn poll<T>(limit: Duration, mut probe: impl FnMut() -> Result<T, String>) -> Result<T> {
    let begun = Instant::now();
    loop {
        match probe() {
            Ok(found) => return Ok(found),
            Err(missing) => ensure!(
                begun.elapsed() < limit,
                "timed out after {} s: {missing}",
                limit.as_secs()
            ),
        }
        std::thread::sleep(Duration::from_millis(50));
    }
}

/// The last line of a text that is not blank.
pub(super) fn last_line(text: &str) -> String {
    text.trim()
        .lines()
        .last()
        .unwrap_or_default()
        .trim()
        .to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_comparison_on_a_busy_host_neither_passes_nor_fails() {
        let mut checks = Checks::new();
        checks.check("quiet", || Ok("1 MB/s".to_owned()));
        checks.check("busy", || Err(HostBusy("other programs".to_owned()).into()));
        assert!(matches!(checks.list[1].1, CheckResult::NotJudged(_)));
        assert_eq!(checks.close().unwrap(), 1);
        let mut checks = Checks::new();
        checks.check("busy", || Err(HostBusy("other programs".to_owned()).into()));
        checks.check("wrong", || bail!("2 MB/s"));
        assert!(checks.close().is_err());
    }
}
