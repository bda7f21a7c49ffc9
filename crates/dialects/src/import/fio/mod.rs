//! Imports results of fio: text, JSON, terse lines and log files share one block layout.

mod checks;
mod head;
pub(super) mod interim;
pub(super) mod jobs;
pub(super) mod json;
pub(super) mod logs;
mod print;
mod record;
mod sums;
pub(super) mod terse;
pub(super) mod text;
mod time;

pub use print::print;

pub(super) use checks::rate_contradiction;
pub(super) use jobs::{RW, access as jobs_access};

use super::{ImportedRun, SourceFormat, TimeBasis, Unread};
use crate::fio::Invocation;
use hakaru_model::caveat::Caveat;
use hakaru_model::job::Target;
use hakaru_model::record::Outcome;
use hakaru_model::reported::{Reported, ReportedBlock};
use record::Histograms;
use std::path::PathBuf;

/// Result of parsing one output format.
pub(super) struct Raw {
    pub(super) format: SourceFormat,
    pub(super) program: String,
    pub(super) blocks: Vec<ReportedBlock>,
    pub(super) histograms: Histograms,
    /// The requested scenario; an empty error if there is no command line.
    pub(super) asked: Result<Invocation, String>,
    /// Time of the output, in ms since 1970 UTC.
    pub(super) shown_unix_ms: Option<i64>,
    pub(super) unread: Vec<Unread>,
    pub(super) not_numbers: (u32, String),
    pub(super) interrupted: bool,
    /// Description of what is missing at the end.
    pub(super) missing: Option<String>,
    pub(super) lines: (usize, usize),
}

/// Name of the report that sums over all servers of a client.
const ALL_CLIENTS: &str = "All clients";

/// Removes the sum over all servers if the individual reports exist.
fn without_sums(blocks: &mut Vec<ReportedBlock>, unread: &mut Vec<Unread>, line: usize) {
    let is_sum = |block: &ReportedBlock| {
        block.name == "report" && block.words_of("name") == Some(ALL_CLIENTS)
    };
    let parts = blocks
        .iter()
        .any(|block| block.name == "report" && !is_sum(block));
    if parts && blocks.iter().any(is_sum) {
        blocks.retain(|block| !is_sum(block));
        let why = "skipped the sum over all clients: it would count everything twice".to_owned();
        unread.push(Unread {
            line,
            text: ALL_CLIENTS.to_owned(),
            why,
        });
    }
}

/// Converts the parsed data to a run. `None` if there is no result in it.
pub(super) fn finish(mut raw: Raw) -> Option<ImportedRun> {
    without_sums(&mut raw.blocks, &mut raw.unread, raw.lines.0);
    let of = |name: &'static str| raw.blocks.iter().filter(move |block| block.name == name);
    let (banners, reports): (Vec<&ReportedBlock>, Vec<&ReportedBlock>) =
        (of("job").collect(), of("report").collect());
    if reports.is_empty() {
        return None;
    }
    let when = reports.iter().find_map(|report| report.words_of("when"));
    let when = when.and_then(time::unix_ms);
    let jobs = jobs::jobs(&banners, &reports, raw.asked);
    let mut caveats = jobs.caveats.clone();
    caveats.extend(contradictions(&reports, &jobs));
    let outcome = outcome(&reports, raw.interrupted);
    caveats.extend(raw.missing.map(|missing| Caveat::CutOff { missing }));
    let (count, first) = raw.not_numbers;
    caveats.extend((count > 0).then_some(Caveat::Unread { count, first }));
    let (mut phases, workers) = record::phases(&raw.blocks, &jobs, &raw.histograms);
    let elapsed = phases.iter().map(|phase| phase.elapsed.as_millis() as i64);
    let elapsed = elapsed.fold(0, i64::saturating_add);
    let shown = raw.shown_unix_ms.or(when);
    let started = shown.map(|shown| shown.saturating_sub(elapsed));
    phases
        .iter_mut()
        .for_each(|phase| phase.started_unix_ms = started.unwrap_or(0));
    let notes = jobs.notes.iter();
    raw.unread
        .extend(notes.map(|note| Unread::note(raw.lines.0, note)));
    let reported = Reported {
        blocks: raw.blocks,
        workers,
        unstated: jobs.unstated,
        zone_assumed: false,
    };
    let program = match raw.program.is_empty() {
        true => "fio".to_owned(),
        false => raw.program,
    };
    Some(ImportedRun {
        path: target_of(&jobs.scenario),
        caveats,
        outcome,
        started_unix_ms: started,
        clock: match (raw.shown_unix_ms, when) {
            (None, Some(_)) => TimeBasis::Wall,
            _ => TimeBasis::Utc,
        },
        lines: raw.lines,
        unread: raw.unread,
        ..ImportedRun::new(raw.format, program, jobs.scenario, phases, reported)
    })
}

/// Contradictions between the figures of each report, and of a report with its job.
fn contradictions(reports: &[&ReportedBlock], jobs: &jobs::Jobs) -> Vec<Caveat> {
    let mut caveats = Vec::new();
    for (report, &(phase, job)) in reports.iter().zip(&jobs.places) {
        let phase = jobs.scenario.phases.get(phase);
        if let Some((phase, job)) = phase.and_then(|phase| Some((phase, phase.jobs.get(job)?))) {
            let job = (!jobs.from_results).then_some(job);
            caveats.extend(checks::contradictions(report, &phase.name, job));
        }
    }
    caveats
}

fn outcome(reports: &[&ReportedBlock], interrupted: bool) -> Outcome {
    let is_failed = |report: &&&ReportedBlock| report.whole("err").is_some_and(|err| err > 0);
    match reports.iter().find(is_failed) {
        Some(report) => Outcome::Failed {
            error: error_of(report),
        },
        None if interrupted => Outcome::Interrupted,
        None => Outcome::Completed,
    }
}

fn error_of(report: &ReportedBlock) -> String {
    let text = report
        .words_of("error")
        .and_then(|text| text.rsplit_once("error="))
        .map(|(_, text)| text);
    let errno = report.whole("err").unwrap_or(0);
    text.map_or_else(
        || format!("error {errno}"),
        |text| format!("error {errno}, {text}"),
    )
}

/// The first path named by a job.
fn target_of(scenario: &hakaru_model::job::Scenario) -> Option<PathBuf> {
    scenario
        .phases
        .iter()
        .flat_map(|phase| &phase.jobs)
        .find_map(|job| match &job.target {
            Target::Paths(paths) => paths.first().cloned(),
            Target::Formatted { directories, .. } => directories.first().cloned(),
            Target::Nothing | Target::Sim(_) => None,
        })
}
