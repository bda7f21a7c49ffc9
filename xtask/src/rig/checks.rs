//! A list of checks: each is run, printed immediately, and counted at the end.

use super::host::HostBusy;
use anyhow::{Result, bail};
use std::time::Instant;

/// Outcome of a check.
enum CheckResult {
    Passed,
    Failed(String),
    /// The feature does not exist yet; what is missing.
    NotYet(String),
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
        match check() {
            Ok(saw) => self.enter(name, CheckResult::Passed, &saw),
            Err(error) if error.is::<HostBusy>() => {
                self.enter(
                    name,
                    CheckResult::NotJudged(error.to_string()),
                    &error.to_string(),
                );
            }
            Err(error) => self.enter(
                name,
                CheckResult::Failed(format!("{error:#}")),
                &format!("{error:#}"),
            ),
        }
    }

    /// Records a check for a missing feature, and prints it clearly, so that it is not mistaken for a passed one.
    pub(super) fn not_yet(&mut self, name: &str, missing: &str) {
        self.enter(name, CheckResult::NotYet(missing.to_owned()), missing);
    }

    /// Prints a remark between two checks.
    pub(super) fn say(&self, what: &str) {
        println!("{:6.1} s  {what}", self.begun.elapsed().as_secs_f64());
    }

    /// Adds checks that were run and printed elsewhere.
    pub(super) fn join(&mut self, other: Checks) {
        self.list.extend(other.list);
    }

    fn enter(&mut self, name: &str, verdict: CheckResult, saw: &str) {
        let word = match verdict {
            CheckResult::Passed => "ok",
            CheckResult::Failed(_) => "FAILED",
            CheckResult::NotYet(_) => "NOT YET",
            CheckResult::NotJudged(_) => "BUSY",
        };
        self.say(&format!("{word:<7} {name}: {saw}"));
        self.list.push((name.to_owned(), verdict));
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
        let (mut passed, mut failed, mut not_yet, mut not_judged) =
            (0, Vec::new(), Vec::new(), Vec::new());
        for (name, verdict) in &self.list {
            match verdict {
                CheckResult::Passed => passed += 1,
                CheckResult::Failed(why) => failed.push(format!("{name}: {why}")),
                CheckResult::NotYet(what) => not_yet.push(format!("{name}: {what}")),
                CheckResult::NotJudged(why) => not_judged.push(format!("{name}: {why}")),
            }
        }
        for line in &not_yet {
            println!("not yet: {line}");
        }
        for line in &not_judged {
            println!("{}", line.lines().next().unwrap_or_default());
        }
        for line in &failed {
            println!("failed: {}", line.lines().next().unwrap_or_default());
        }
        let time = self.begun.elapsed().as_secs_f64();
        println!(
            "{passed} passed, {} failed, {} not judged, {} not yet, in {time:.0} s",
            failed.len(),
            not_judged.len(),
            not_yet.len()
        );
        if !failed.is_empty() {
            bail!("{} of {} checks failed", failed.len(), self.list.len());
        }
        Ok(not_judged.len())
    }
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
