//! Everybody else's results: texts of other programs in, nouns out.
//!
//! ```text
//! sources ─ lines ─▶ scan ─┬─ fio/ text, json, terse, logs ─┐
//!                          ├─ iozone                        ├─▶ ImportedRun: scenario, phases, figures as printed,
//!                          ├─ simple (dd, hdparm)           │   caveats, and what was not read
//!                          └─ csv (with a mapping)          ┘
//! ```
//! A run holds what its text holds and nothing more: there is no histogram of percentiles, and no unit but that of the
//! line. Figures that say the same thing twice are compared, and what contradicts is a caveat. Storing a run, and
//! asking files for their texts, is the business of the edge.

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
use hakaru_model::facts::{Environment, Fact, Filesystem, Identity, TargetKind};
use hakaru_model::job::Scenario;
use hakaru_model::record::{Outcome, PhaseRecord};
use hakaru_model::reported::Reported;
use lines::SourceLine;
use std::path::PathBuf;

pub use context::ResultContext;
pub use scan::import;

/// A text to be read.
#[derive(Clone, Copy, Debug)]
pub struct SourceText<'a> {
    /// Its name, such as the file name.
    pub name: &'a str,
    /// The text.
    pub text: &'a str,
}

/// Which output of which program a run was read from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SourceFormat {
    /// Text of fio.
    FioText,
    /// JSON of fio, with or without bins.
    FioJson,
    /// A terse line of fio.
    FioTerse,
    /// Log files of fio.
    FioLog,
    /// iozone's throughput mode.
    IozoneThroughput,
    /// iozone's auto mode, as a table.
    IozoneAuto,
    /// iozone's reports for spreadsheets.
    IozoneExcel,
    /// `hdparm -tT`.
    Hdparm,
    /// `dd`.
    Dd,
    /// A row of a table.
    Csv,
}

impl SourceFormat {
    /// Its name.
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

/// Something that was not read, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unread {
    /// Line of the source, from 1.
    pub line: usize,
    /// What stood there, shortened; empty where the reason says it.
    pub text: String,
    /// Why it was not read.
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
}

/// Whose time a moment is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TimeBasis {
    /// UTC.
    #[default]
    Utc,
    /// Local time of the host without a time zone, stored as if it were UTC.
    Wall,
}

/// One run as it was read.
#[derive(Clone, Debug, PartialEq)]
pub struct ImportedRun {
    /// From which output.
    pub format: SourceFormat,
    /// The program, with its version where it is known: `fio-3.39`.
    pub program: String,
    /// The scenario, as far as known.
    pub scenario: Scenario,
    /// What was measured, where it is named.
    pub path: Option<PathBuf>,
    /// Label of the tested device in the source, if any.
    pub label: Option<String>,
    /// Its position in the text.
    pub context: ResultContext,
    /// What came of it.
    pub phases: Vec<PhaseRecord>,
    /// What makes it less worthy of trust.
    pub caveats: Vec<Caveat>,
    /// How it ended.
    pub outcome: Outcome,
    /// The figures as they were printed.
    pub reported: Reported,
    /// When it began, milliseconds since 1970 by `clock`, where that is known. The same holds for its phases.
    pub started_unix_ms: Option<i64>,
    /// Whose time that is.
    pub clock: TimeBasis,
    /// First and last line in the source, from 1.
    pub lines: (usize, usize),
    /// Figures that were read.
    pub figures: usize,
    /// What of it was not read.
    pub unread: Vec<Unread>,
}

impl ImportedRun {
    /// What is known of the thing under test.
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
    Fact::Unknown("not stated in the imported result".to_owned())
}

/// The circumstances of a run of which only the printed result is left.
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

/// All that was found in some sources.
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
    /// Place in the list of sources; of log files that belong together, that of the first.
    pub source: usize,
    /// The run.
    pub run: ImportedRun,
}

/// The words of a command line of fio as somebody pasted it, behind a prompt or `sudo`, without the program's name.
pub fn fio_command(text: &str) -> Option<Vec<String>> {
    let lines: Vec<&str> = text.trim().lines().collect();
    let (words, _) = commands::command_words(&lines)?;
    let (program, rest) = words.split_first()?;
    (program == "fio").then(|| rest.to_vec())
}

/// Text cut to a number of characters.
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
