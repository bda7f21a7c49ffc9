//! The request in a command line: first the options as typed, then their meaning.

mod modes;

use super::argv::{self, IozoneToken};
use super::error::{IozoneError, WordLocation};
use super::figures::FigureUnit;
use super::kind::IozoneTest;
use super::options::IozoneOptionState;
use hakaru_model::units::Nanos;
use std::ffi::OsString;
use std::ops::RangeInclusive;
use std::path::PathBuf;

/// In auto mode, files of at least this size in kB are not measured with records below [`SMALL_RECORD_KB`], according
/// to the manual.
const LARGE_FILE_KB: u64 = 32 << 10;
const SMALL_RECORD_KB: u64 = 64;

/// Default range of auto mode in kB: files, records.
const AUTO_FILES: (u64, u64) = (64, 512 << 10);
const AUTO_RECORDS: (u64, u64) = (4, 16 << 10);

/// Maximum accepted size in kB: 1 PiB.
const MOST_KB: u64 = 1 << 40;

/// Maximum number of rows in a table.
const MOST_ROWS: usize = 10_000;

/// A text printed instead of running tests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum IozoneInfoText {
    Help,
    Version,
}

/// The action for the caller.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum IozoneAction {
    /// Print this text.
    Print(String),
    /// Run these tests.
    Run(Box<IozoneRequest>),
}

/// Operating mode, which determines the layout of the results.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum IozoneMode {
    /// Auto mode: a table with one row per file size and record size.
    Table {
        /// File and record size of each row in kB, from the top.
        rows: Vec<(u64, u64)>,
    },
    /// Throughput mode: several children at the same time.
    Throughput {
        /// Number of children in each group, one group after another.
        children: Vec<u32>,
        /// File size of each child in kB.
        size_kb: u64,
        /// Record size in kB.
        record_kb: u64,
        /// Whether a minimum and maximum number was given (`-l`, `-u`).
        range: bool,
    },
}

/// A parsed command line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IozoneRequest {
    /// Auto or throughput mode.
    pub mode: IozoneMode,
    /// Tests in execution order.
    pub kinds: Vec<IozoneTest>,
    /// Unit of the figures.
    pub unit: FigureUnit,
    /// Lines about the options in the header of the output, in the order of the options.
    pub said: Vec<String>,
    /// Warnings about options without effect, for standard error.
    pub warnings: Vec<String>,
    /// All other options.
    pub(super) draft: IozoneArgs,
}

/// Options as typed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct IozoneArgs {
    pub(super) tests: Vec<u32>,
    pub(super) auto: bool,
    pub(super) all_records: bool,
    pub(super) sizes_kb: Vec<u64>,
    pub(super) records_kb: Vec<u64>,
    pub(super) file_bounds: (Option<u64>, Option<u64>),
    pub(super) record_bounds: (Option<u64>, Option<u64>),
    pub(super) stride: u64,
    pub(super) retests: bool,
    pub(super) percent_read: Option<u32>,
    pub(super) pause_s: u64,
    pub(super) file: Option<PathBuf>,
    pub(super) files: Vec<PathBuf>,
    pub(super) keep_files: bool,
    pub(super) truncate: bool,
    pub(super) direct: bool,
    pub(super) sync: bool,
    pub(super) dsync: bool,
    pub(super) flush: bool,
    pub(super) close: bool,
    pub(super) mmap: bool,
    pub(super) map_flush: bool,
    pub(super) depth: Option<u32>,
    pub(super) cache_kb: u64,
    pub(super) line_bytes: u64,
    pub(super) groups: Vec<u32>,
    pub(super) fewest: Option<u32>,
    pub(super) most: Option<u32>,
    pub(super) threads: bool,
    pub(super) stonewall: bool,
    pub(super) delay_us: u64,
    pub(super) first_cpu: Option<u32>,
    pub(super) show_children: bool,
    pub(super) excel: bool,
    pub(super) workbook: Option<PathBuf>,
    pub(super) ops: bool,
    pub(super) micros: bool,
    pub(super) machine: bool,
    pub(super) cpu_use: bool,
    pub(super) page: Option<IozoneInfoText>,
    said: Vec<String>,
}

impl Default for IozoneArgs {
    fn default() -> Self {
        IozoneArgs {
            tests: Vec::new(),
            auto: false,
            all_records: false,
            sizes_kb: Vec::new(),
            records_kb: Vec::new(),
            file_bounds: (None, None),
            record_bounds: (None, None),
            stride: 17,
            retests: true,
            percent_read: None,
            pause_s: 0,
            file: None,
            files: Vec::new(),
            keep_files: false,
            truncate: true,
            direct: false,
            sync: false,
            dsync: false,
            flush: false,
            close: false,
            mmap: false,
            map_flush: false,
            depth: None,
            cache_kb: 1024,
            line_bytes: 32,
            groups: Vec::new(),
            fewest: None,
            most: None,
            threads: false,
            stonewall: true,
            delay_us: 0,
            first_cpu: None,
            show_children: false,
            excel: false,
            workbook: None,
            ops: false,
            micros: false,
            machine: false,
            cpu_use: false,
            page: None,
            said: Vec::new(),
        }
    }
}

/// A bound of auto mode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum AutoBound {
    FileMin,
    FileMax,
    RecordMin,
    RecordMax,
}

impl IozoneArgs {
    /// Adds a line to the header of the output.
    pub(super) fn say(&mut self, line: &str) {
        self.said.push(line.to_owned());
    }

    pub(super) fn auto(&mut self) {
        self.auto = true;
        self.say("Auto Mode");
    }

    /// Parses an integer with bounds.
    pub(super) fn whole(
        &self,
        text: &[String],
        bounds: RangeInclusive<u64>,
    ) -> Result<u64, String> {
        let word = text.first().map_or("", |text| text.trim());
        let number = word
            .parse::<u64>()
            .map_err(|_| "expected a whole number".to_owned())?;
        if bounds.contains(&number) {
            return Ok(number);
        }
        Err(format!(
            "expected a value between {} and {}",
            bounds.start(),
            bounds.end()
        ))
    }

    pub(super) fn test(&mut self, text: &[String]) -> Result<(), String> {
        let number = self.whole(text, 0..=12)? as u32;
        self.tests.push(number);
        Ok(())
    }

    pub(super) fn children(&mut self, text: &[String]) -> Result<(), String> {
        let count = self.whole(text, 1..=4096)? as u32;
        self.groups.push(count);
        Ok(())
    }

    pub(super) fn size(&mut self, text: &[String]) -> Result<(), String> {
        let kb = kilobytes(text)?;
        self.sizes_kb.push(kb);
        self.say(&format!("File size set to {kb} kB"));
        Ok(())
    }

    pub(super) fn record(&mut self, text: &[String]) -> Result<(), String> {
        let kb = kilobytes(text)?;
        if kb > 1 << 20 {
            return Err("the maximum record size is 1 GiB".to_owned());
        }
        self.records_kb.push(kb);
        self.say(&format!("Record Size {kb} kB"));
        Ok(())
    }

    pub(super) fn bound(&mut self, text: &[String], which: AutoBound) -> Result<(), String> {
        let kb = kilobytes(text)?;
        let (place, words) = match which {
            AutoBound::FileMin => (
                &mut self.file_bounds.0,
                format!("Using minimum file size of {kb} kilobytes."),
            ),
            AutoBound::FileMax => (
                &mut self.file_bounds.1,
                format!("Using maximum file size of {kb} kilobytes."),
            ),
            AutoBound::RecordMin => (
                &mut self.record_bounds.0,
                format!("Using Minimum Record Size {kb} kB"),
            ),
            AutoBound::RecordMax => (
                &mut self.record_bounds.1,
                format!("Using Maximum Record Size {kb} kB"),
            ),
        };
        *place = Some(kb);
        self.say(&words);
        Ok(())
    }
}

/// Parses a size in kB: a number with an optional suffix k, m, g or t. Without a suffix the unit is kB.
fn kilobytes(text: &[String]) -> Result<u64, String> {
    let word = text.first().map_or("", |text| text.trim());
    let digits = word.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let factor = match word[digits.len()..].to_ascii_lowercase().as_str() {
        "" | "k" => 1,
        "m" => 1 << 10,
        "g" => 1 << 20,
        "t" => 1 << 30,
        _ => return Err("unknown unit: expected k, m, g or t after the number".to_owned()),
    };
    let number = digits
        .parse::<u64>()
        .map_err(|_| "expected a whole number followed by k, m or g".to_owned())?;
    match number.checked_mul(factor) {
        Some(0) => Err("the minimum is 1 kB".to_owned()),
        Some(kb) if kb <= MOST_KB => Ok(kb),
        _ => Err("the value is too large for a file".to_owned()),
    }
}

/// Parses an iozone command line without the program name.
///
/// # Errors
/// An [`IozoneError`] with the option, its value, the cause, the solution, and the location of the word.
pub fn parse(args: &[OsString]) -> Result<IozoneAction, IozoneError> {
    if args.is_empty() {
        return Ok(IozoneAction::Print(
            "iozone: help mode\n\n".to_owned() + &super::help::usage(),
        ));
    }
    let (tokens, other) = argv::lex(args)?;
    let mut draft = IozoneArgs::default();
    let mut warnings = Vec::new();
    for token in &tokens {
        apply(token, &mut draft, &mut warnings)?;
    }
    match draft.page {
        Some(IozoneInfoText::Help) => return Ok(IozoneAction::Print(super::help::usage())),
        Some(IozoneInfoText::Version) => return Ok(IozoneAction::Print(super::help::version())),
        None => {}
    }
    for word in other {
        warnings.push(format!(
            "ignored `{word}`: not an option; name the test file with -f FILE"
        ));
    }
    let place = |name: &str| {
        tokens
            .iter()
            .rev()
            .find(|token| token.opt.name == name)
            .map(|token| token.at.clone())
    };
    IozoneRequest::new(draft, warnings, &place).map(|request| IozoneAction::Run(Box::new(request)))
}

/// I/O properties given by a command line of any iozone version.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct StatedOptions {
    /// Direct I/O.
    pub(crate) direct: bool,
    /// Whether the time of the final flush is included.
    pub(crate) fsync: bool,
    /// Whether each write is synchronous.
    pub(crate) sync: bool,
    /// Record size in kB, if there is only one.
    pub(crate) record_kb: Option<u64>,
    /// File size in kB, if there is only one.
    pub(crate) file_kb: Option<u64>,
    /// Unknown options.
    pub(crate) unknown: Vec<String>,
}

/// Parses a command line of another iozone version without the program name, as far as its options are known.
pub(crate) fn stated(words: &[String]) -> StatedOptions {
    let (tokens, unknown) = argv::lex_known(words);
    let mut draft = IozoneArgs::default();
    for token in &tokens {
        // The other version accepted values that are rejected here.
        let _ = token.opt.set.map(|set| set(&mut draft, &token.values));
    }
    let only = |sizes: &[u64]| <[u64; 1]>::try_from(sizes).ok().map(|[size]| size);
    StatedOptions {
        direct: draft.direct,
        fsync: draft.flush,
        sync: draft.sync || draft.dsync,
        record_kb: only(&draft.records_kb),
        file_kb: only(&draft.sizes_kb),
        unknown,
    }
}

fn apply(
    token: &IozoneToken,
    draft: &mut IozoneArgs,
    warnings: &mut Vec<String>,
) -> Result<(), IozoneError> {
    let IozoneToken { opt, values, at } = token;
    match opt.state {
        IozoneOptionState::Works => {}
        IozoneOptionState::Accepted(because) => {
            warnings.push(format!("-{} has no effect: {because}", opt.name));
            return Ok(());
        }
        IozoneOptionState::Refused { reason, instead } => {
            let message = format!(
                "iozone option -{} is not supported: {reason}; {instead}",
                opt.name
            );
            return Err(IozoneError::at(message, at.clone()));
        }
    }
    let Some(set) = opt.set else { return Ok(()) };
    let bad = |why| {
        IozoneError::at(
            format!("-{} {} cannot be used: {why}", opt.name, values.join(" ")),
            at.clone(),
        )
    };
    set(draft, values).map_err(bad)
}

impl IozoneRequest {
    fn new(
        draft: IozoneArgs,
        warnings: Vec<String>,
        place: &dyn Fn(&str) -> Option<WordLocation>,
    ) -> Result<IozoneRequest, IozoneError> {
        let wrong = |option: &str, message: &str| {
            Err(IozoneError {
                message: message.to_owned(),
                at: place(option),
            })
        };
        let throughput = !draft.groups.is_empty() || draft.fewest.is_some() || draft.most.is_some();
        if draft.ops && draft.micros {
            return wrong("N", "-N and -O contradict each other: use one of them");
        }
        if throughput && draft.micros {
            return wrong(
                "N",
                "-N works only in table mode: with children use -O, or omit -t, -l and -u",
            );
        }
        if throughput && draft.auto {
            return wrong(
                "a",
                "-a selects table mode, and -t, -l and -u select throughput mode: use one of them",
            );
        }
        if draft.mmap && draft.depth.is_some() {
            return wrong(
                "B",
                "-B and -H or -k contradict each other: a mapping has no queue",
            );
        }
        let mode = if throughput {
            draft.throughput(place)?
        } else {
            draft.table(place)?
        };
        let kinds = draft.kinds(throughput, place)?;
        let mut warnings = warnings;
        warnings.extend(draft.ignored(throughput));
        let unit = match (draft.ops, draft.micros) {
            (true, _) => FigureUnit::Ops,
            (_, true) => FigureUnit::Micros,
            _ => FigureUnit::KiloBytes,
        };
        Ok(IozoneRequest {
            mode,
            kinds,
            unit,
            said: draft.said.clone(),
            warnings,
            draft,
        })
    }

    /// Whether files are kept at the end.
    pub fn keeps_files(&self) -> bool {
        self.draft.keep_files
    }

    /// Whether existing files are truncated before they are written.
    pub(super) fn empties_files(&self) -> bool {
        self.draft.truncate && self.kinds.first().is_some_and(|kind| kind.makes_file())
    }

    /// Time between the starts of consecutive children.
    pub fn delay(&self) -> Nanos {
        Nanos(self.draft.delay_us.saturating_mul(1000))
    }

    /// Path of the workbook, if requested.
    pub fn workbook(&self) -> Option<&std::path::Path> {
        self.draft.workbook.as_deref()
    }

    /// Whether to describe the host.
    pub fn tells_machine(&self) -> bool {
        self.draft.machine
    }
}
