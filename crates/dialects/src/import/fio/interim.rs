//! Interim results (`status-interval`), where the last one includes the others, and results of repeated commands.
//!
//! Does not handle text output, which prints a process ID.

use super::super::lines::SourceLine;
use super::{Raw, terse};
use crate::fio::Invocation;
use hakaru_model::job::Op;
use hakaru_model::reported::ReportedBlock;
use std::collections::HashMap;
use std::ops::Range;

/// Remark on a run that a later interim result replaces.
pub(in super::super) const REPLACED: &str =
    "interim results: replaced by the later results of the same run";

/// Minimum progress between two interim results, in ms. Clones that end together differ by less.
const STEP_MS: f64 = 100.0;

/// Maximum difference between wall-clock time and run time for two snapshots of one run, in ms.
const SLACK_MS: f64 = 500.0;

/// Progress of one report.
#[derive(Clone, Debug, PartialEq)]
struct InterimProgress {
    name: String,
    group: u64,
    /// Start time of the job in ms since 1970; 0 if the version does not print it.
    began: u64,
    /// Data transferred by all operations, in the unit of the report.
    moved: f64,
    /// Runtime of the longest operation, in ms.
    ran_ms: f64,
}

impl InterimProgress {
    fn of(report: &ReportedBlock) -> InterimProgress {
        let of_ops = |name: &'static str| {
            let blocks = Op::ALL.into_iter().filter_map(|op| report.part(op.name()));
            blocks
                .filter_map(move |block| block.get(name))
                .map(|figure| figure.value.value())
        };
        InterimProgress {
            name: report.words_of("name").unwrap_or_default().to_owned(),
            group: report.whole("groupid").unwrap_or(0),
            began: report.whole("job_start").unwrap_or(0),
            moved: of_ops("io").sum(),
            ran_ms: of_ops("runt").fold(0.0, f64::max),
        }
    }

    fn is_of_the_job_of(&self, other: &InterimProgress) -> bool {
        self.name == other.name && self.group == other.group
    }
}

/// Progress of the run behind a JSON output.
#[derive(Clone, Debug, PartialEq)]
pub(in super::super) struct State {
    program: String,
    shown_unix_ms: Option<i64>,
    /// Seconds since the start.
    elapsed: u64,
    reports: Vec<InterimProgress>,
}

impl State {
    pub(in super::super) fn of(raw: &Raw) -> State {
        let reports = || raw.blocks.iter().filter(|block| block.name == "report");
        State {
            program: raw.program.clone(),
            shown_unix_ms: raw.shown_unix_ms,
            elapsed: reports()
                .filter_map(|report| report.whole("elapsed"))
                .max()
                .unwrap_or(0),
            reports: reports().map(InterimProgress::of).collect(),
        }
    }

    /// Whether this is an earlier snapshot of the same run as `later`.
    pub(in super::super) fn is_before(&self, later: &State) -> bool {
        let pairs = || self.reports.iter().zip(&later.reports);
        let same_jobs = self.reports.len() == later.reports.len()
            && pairs().all(|(a, b)| a.is_of_the_job_of(b));
        if self.reports.is_empty()
            || !same_jobs
            || self.program != later.program
            || later.elapsed < self.elapsed
        {
            return false;
        }
        // A job that had not started had no start time yet.
        let begun = |(a, b): &(&InterimProgress, &InterimProgress)| a.began > 0 && b.began > 0;
        if self.reports.iter().any(|report| report.began > 0) {
            return pairs().any(|pair| begun(&pair))
                && pairs().filter(begun).all(|(a, b)| a.began == b.began);
        }
        // Older versions print no start time: in the same run, clock and run time advance equally;
        // another run would restart.
        let (Some(shown), Some(later_shown)) = (self.shown_unix_ms, later.shown_unix_ms) else {
            return false;
        };
        let (ran, later_ran) = (self.ran_ms(), later.ran_ms());
        let apart = later_shown.saturating_sub(shown) as f64 - (later_ran - ran);
        ran > SLACK_MS && later_ran >= ran && apart.abs() < SLACK_MS
    }

    /// Total time in ms of all groups, which run one after another.
    fn ran_ms(&self) -> f64 {
        let mut groups: Vec<(u64, f64)> = Vec::new();
        for report in &self.reports {
            match groups.iter_mut().find(|(group, _)| *group == report.group) {
                Some((_, ran)) => *ran = ran.max(report.ran_ms),
                None => groups.push((report.group, report.ran_ms)),
            }
        }
        groups.into_iter().map(|(_, ran)| ran).sum()
    }
}

/// A run within consecutive terse lines.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in super::super) struct TerseRun {
    /// Index range of its lines.
    pub(in super::super) lines: Range<usize>,
    /// Position of the previous interim result, if any.
    pub(in super::super) replaced: Option<usize>,
    /// Whether lines with the same name may be either clones or consecutive runs.
    pub(in super::super) unclear: bool,
}

impl TerseRun {
    /// A run of these lines only.
    fn of(lines: Range<usize>) -> TerseRun {
        TerseRun {
            lines,
            replaced: None,
            unclear: false,
        }
    }
}

/// Splits consecutive terse lines into runs. `asked` is the command, if known: it determines how
/// often a name can occur, and whether interim results are printed.
pub(in super::super) fn terse_runs(
    lines: &[SourceLine],
    asked: Option<&Invocation>,
) -> Vec<TerseRun> {
    let lines: Vec<InterimProgress> = lines
        .iter()
        .map(|line| InterimProgress::of(&terse::report_of(line)))
        .collect();
    let asked = asked.filter(|asked| lines.iter().all(|line| most(asked, &line.name) > 0));
    // The command determines how often a name occurs in all groups; without it, a name may occur once per group.
    let rounds = match asked {
        Some(asked) => rounds(&lines, &|line| (most(asked, &line.name), 0)),
        None => rounds(&lines, &|line| (1, line.group)),
    };
    let shows_states = asked.is_none_or(|asked| asked.settings.status_interval_ms.is_some());
    let mut runs: Vec<TerseRun> = Vec::new();
    for round in rounds {
        let goes_on =
            |last: &&mut TerseRun| shows_states && continues(last, &lines, &round, asked.is_some());
        match runs.last_mut().filter(goes_on) {
            Some(last) => last.replaced = Some(std::mem::replace(&mut last.lines, round).start),
            None => runs.push(TerseRun::of(round)),
        }
    }
    if asked.is_none() && runs.len() > 1 {
        return vec![TerseRun {
            unclear: true,
            ..TerseRun::of(0..lines.len())
        }];
    }
    runs
}

/// Whether lines are a later state of a run. Without its command, states must be an interval apart.
fn continues(last: &TerseRun, lines: &[InterimProgress], next: &Range<usize>, asked: bool) -> bool {
    // The final result may come at any time; interim results are a fixed interval apart.
    let is_end = next.end == lines.len() && last.replaced.is_some();
    let least = if asked || is_end { 0.0 } else { STEP_MS };
    let (before, after) = (&lines[last.lines.clone()], &lines[next.clone()]);
    let further = |(a, b): (&InterimProgress, &InterimProgress)| {
        let more = b.moved > a.moved || asked && b.moved == a.moved;
        a.is_of_the_job_of(b) && more && b.ran_ms >= a.ran_ms + least
    };
    before.len() == after.len() && before.iter().zip(after).all(further)
}

/// Returns the number of lines that one run prints for a name; 0 if it has no such job.
fn most(asked: &Invocation, name: &str) -> usize {
    let jobs = asked
        .jobs()
        .map(|(job, _)| job)
        .filter(|job| job.name == name);
    jobs.map(|job| {
        if job.group_reporting {
            1
        } else {
            job.numjobs as usize
        }
    })
    .sum()
}

/// Groups adjacent lines in which no job occurs more often than it can.
fn rounds(
    lines: &[InterimProgress],
    most: &dyn Fn(&InterimProgress) -> (usize, u64),
) -> Vec<Range<usize>> {
    let mut rounds: Vec<Range<usize>> = Vec::new();
    let mut seen: HashMap<(&str, u64), usize> = HashMap::new();
    for (at, line) in lines.iter().enumerate() {
        let (most, group) = most(line);
        let count = seen.get(&(line.name.as_str(), group)).copied().unwrap_or(0);
        match rounds.last_mut().filter(|_| count < most) {
            Some(last) => last.end = at + 1,
            None => {
                rounds.push(at..at + 1);
                seen.clear();
            }
        }
        *seen.entry((line.name.as_str(), group)).or_default() += 1;
    }
    rounds
}
