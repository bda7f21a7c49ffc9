//! Imports results of other programs: text in, runs of the model out.
//!
//! ```text
//! sources ─ lines ─▶ scan ─┬─ fio/ text, json, terse, logs ─┐
//!                          ├─ iozone                        ├─▶ ImportedRun: scenario, phases, figures as printed,
//!                          ├─ simple (dd, hdparm)           │   caveats, and what was not read
//!                          └─ csv (with a mapping)          ┘
//! ```
//! A run holds only what its text holds: no histogram is derived from percentiles, and no unit other than the printed
//! one is assumed. Redundant figures are compared, and a contradiction becomes a caveat. The caller stores runs and
//! reads files.

mod commands;
mod context;
pub mod csv;
pub mod fio;
mod iozone;
mod lines;
mod scan;
mod simple;
mod units;

#[cfg(test)]
mod tests;

use hakaru_model::caveat::Caveat;
use hakaru_model::facts::{Environment, Fact, Filesystem, Identity, TargetKind, UnknownReason};
use hakaru_model::job::{Job, Phase, Scenario};
use hakaru_model::record::{Outcome, PhaseRecord};
use hakaru_model::reported::{JobProperty, Reported, ReportedBlock};
use lines::SourceLine;
use std::path::PathBuf;

pub use context::ResultContext;
pub use scan::import;

/// A text to import.
#[derive(Clone, Copy, Debug)]
pub struct SourceText<'a> {
    /// Its name, such as the file name.
    pub name: &'a str,
    /// The text.
    pub text: &'a str,
}

/// Output format and program a run was read from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SourceFormat {
    /// fio's text output.
    FioText,
    /// fio's JSON output, with or without histogram bins.
    FioJson,
    /// A terse line of fio.
    FioTerse,
    /// fio's log files.
    FioLog,
    /// iozone's throughput mode.
    IozoneThroughput,
    /// iozone's auto mode, as a table.
    IozoneAuto,
    /// iozone's spreadsheet reports.
    IozoneExcel,
    /// `hdparm -tT`.
    Hdparm,
    /// `dd`.
    Dd,
    /// A row of a CSV table.
    Csv,
}

impl SourceFormat {
    /// Name of the format.
    pub fn name(self) -> &'static str {
        match self {
            SourceFormat::FioText => "fio text",
            SourceFormat::FioJson => "fio JSON",
            SourceFormat::FioTerse => "fio terse",
            SourceFormat::FioLog => "fio log",
            SourceFormat::IozoneThroughput => "iozone throughput",
            SourceFormat::IozoneAuto => "iozone table",
            SourceFormat::IozoneExcel => "iozone spreadsheet report",
            SourceFormat::Hdparm => "hdparm",
            SourceFormat::Dd => "dd",
            SourceFormat::Csv => "table row",
        }
    }
}

/// A line that could not be read, and the reason.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unread {
    /// Line of the source, from 1.
    pub line: usize,
    /// Text of the line, shortened; empty if the reason includes it.
    pub text: String,
    /// Reason why it was not read.
    pub why: String,
}

impl Unread {
    fn new(line: &SourceLine, why: &str) -> Unread {
        Unread {
            line: line.number,
            text: line.trimmed().shortened(60),
            why: why.to_owned(),
        }
    }

    /// A part of the source for which the reason alone says what was not read.
    fn note(line: usize, why: impl Into<String>) -> Unread {
        Unread {
            line,
            text: String::new(),
            why: why.into(),
        }
    }
}

/// Time basis of a timestamp.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TimeBasis {
    /// UTC.
    #[default]
    Utc,
    /// Local time of the host without a time zone, stored as if it were UTC.
    Wall,
}

/// One imported run.
#[derive(Clone, Debug, PartialEq)]
pub struct ImportedRun {
    /// Source format.
    pub format: SourceFormat,
    /// Program name, with the version if known: `fio-3.39`.
    pub program: String,
    /// The scenario, as far as known.
    pub scenario: Scenario,
    /// Path of the tested file or device, if named.
    pub path: Option<PathBuf>,
    /// Label of the tested device in the source, if any.
    pub label: Option<String>,
    /// Context of the result in the text.
    pub context: ResultContext,
    /// Results by phase.
    pub phases: Vec<PhaseRecord>,
    /// Caveats that reduce confidence in the run.
    pub caveats: Vec<Caveat>,
    /// How the run ended.
    pub outcome: Outcome,
    /// Figures as printed.
    pub reported: Reported,
    /// Start time in ms since 1970 in the time basis `clock`, if known. The phases use the same basis.
    pub started_unix_ms: Option<i64>,
    /// Time basis of `started_unix_ms`.
    pub clock: TimeBasis,
    /// First and last line in the source, from 1.
    pub lines: (usize, usize),
    /// Number of figures read.
    pub figures: usize,
    /// Parts of the run that were not read.
    pub unread: Vec<Unread>,
}

impl ImportedRun {
    /// A completed run of which nothing is known but its scenario and results.
    fn new(
        format: SourceFormat,
        program: impl Into<String>,
        scenario: Scenario,
        phases: Vec<PhaseRecord>,
        reported: Reported,
    ) -> ImportedRun {
        ImportedRun {
            format,
            program: program.into(),
            scenario,
            path: None,
            label: None,
            context: ResultContext::default(),
            phases,
            caveats: Vec::new(),
            outcome: Outcome::Completed,
            figures: reported.blocks.iter().map(ReportedBlock::count).sum(),
            reported,
            started_unix_ms: None,
            clock: TimeBasis::Utc,
            lines: (0, 0),
            unread: Vec::new(),
        }
    }

    /// The known identity of the device under test.
    pub fn identity(&self, label: Option<&str>) -> Identity {
        let raw = self
            .path
            .as_ref()
            .is_some_and(|path| path.starts_with("/dev"));
        let made = self.context.filesystem.as_deref().filter(|_| !raw);
        let filesystem = made.or(self
            .path
            .as_ref()
            .filter(|_| !raw)
            .map(|_| Filesystem::UNNAMED));
        let filesystem = filesystem.map(|kind| Filesystem {
            fs_type: kind.to_owned(),
            ..Filesystem::default()
        });
        Identity {
            path: self.path.clone().unwrap_or_default(),
            kind: match (&self.path, raw) {
                (None, _) => TargetKind::Absent,
                (_, true) => TargetKind::BlockDevice,
                _ => TargetKind::File,
            },
            filesystem,
            device: unknown(),
            system_disk: false,
            label: label.map(str::to_owned).or_else(|| self.label.clone()),
        }
    }
}

fn unknown<T>() -> Fact<T> {
    Fact::Unknown(UnknownReason::NotInImportedResult)
}

/// The environment of a run of which only the printed result is available.
pub fn unknown_environment() -> Environment {
    Environment {
        distribution: unknown(),
        board: unknown(),
        cpu: unknown(),
        governor: unknown(),
        load_percent: unknown(),
        temperature_mc: unknown(),
        throttled: unknown(),
        io_pressure: unknown(),
        ..Environment::default()
    }
}

/// A scenario of one phase with these jobs.
fn one_phase(name: &str, jobs: Vec<Job>) -> Scenario {
    let name = name.to_owned();
    let phase = Phase {
        name: name.clone(),
        jobs,
    };
    Scenario {
        name,
        seed: 0,
        phases: vec![phase],
    }
}

/// The properties that are not stated.
fn unstated(stated: &[(JobProperty, bool)]) -> Vec<JobProperty> {
    let missing = stated.iter().filter(|(_, stated)| !stated);
    missing.map(|(property, _)| *property).collect()
}

/// Everything found in some sources.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ImportResult {
    /// Runs, in the order of the sources.
    pub runs: Vec<FoundRun>,
    /// Text that looked like a result, by position in the source.
    pub unread: Vec<(usize, Unread)>,
    /// Lines of each source that belong to no result: prose, prompts, blank lines are not counted.
    pub other_lines: Vec<usize>,
}

/// A run with its source position.
#[derive(Clone, Debug, PartialEq)]
pub struct FoundRun {
    /// Index in the list of sources; of log files that belong together, that of the first.
    pub source: usize,
    /// The run.
    pub run: ImportedRun,
}

/// Extracts the words of a pasted fio command line, after a prompt or `sudo`, without the program name.
pub fn fio_command(text: &str) -> Option<Vec<String>> {
    let lines: Vec<&str> = text.trim().lines().collect();
    let (words, _) = commands::command_words(&lines)?;
    let (program, rest) = words.split_first()?;
    (program == "fio").then(|| rest.to_vec())
}

/// Truncates text to a number of characters.
trait Shorten {
    fn shortened(&self, most: usize) -> String;
}

impl Shorten for str {
    fn shortened(&self, most: usize) -> String {
        match self.char_indices().nth(most) {
            Some((end, _)) => format!("{}…", &self[..end]),
            None => self.to_owned(),
        }
    }
}
