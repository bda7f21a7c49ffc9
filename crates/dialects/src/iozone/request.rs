//! What a command line asks for: first what was typed, then what it means.

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

/// Files of this many kB and more are not measured with records under [`SMALL_RECORD_KB`] in auto mode, as the manual says.
const LARGE_FILE_KB: u64 = 32 << 10;
const SMALL_RECORD_KB: u64 = 64;

/// Bounds of auto mode in kB: files, records.
const AUTO_FILES: (u64, u64) = (64, 512 << 10);
const AUTO_RECORDS: (u64, u64) = (4, 16 << 10);

/// The largest size that is taken, in kB: 1 PiB.
const MOST_KB: u64 = 1 << 40;

/// Rows a table may have at most.
const MOST_ROWS: usize = 10_000;

/// A text that is printed instead of running.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum IozoneInfoText {
    Help,
    Version,
}

/// What to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum IozoneAction {
    /// Print this.
    Print(String),
    /// Measure.
    Run(Box<IozoneRequest>),
}

/// How results are laid out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum IozoneMode {
    /// A table: size of file and of record of each row, in kB.
    Table {
        /// The rows, from the top.
        rows: Vec<(u64, u64)>,
    },
    /// Children at the same time.
    Throughput {
        /// How many, one group after another.
        children: Vec<u32>,
        /// Size of each child's file, in kB.
        size_kb: u64,
        /// Size of a record, in kB.
        record_kb: u64,
        /// Whether the fewest and the most were asked for (`-l`, `-u`).
        range: bool,
    },
}

/// A command line that was understood.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IozoneRequest {
    /// Table or throughput.
    pub mode: IozoneMode,
    /// Tests, in the order they run in.
    pub kinds: Vec<IozoneTest>,
    /// What figures are given in.
    pub unit: FigureUnit,
    /// Lines about what was asked, in the order of the words.
    pub said: Vec<String>,
    /// What has no effect, for standard error.
    pub warnings: Vec<String>,
    /// All else.
    pub(super) draft: IozoneArgs,
}

/// What was typed.
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

/// Which bound of auto mode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum AutoBound {
    FileMin,
    FileMax,
    RecordMin,
    RecordMax,
}

impl IozoneArgs {
    /// A line for the head of the output.
    pub(super) fn say(&mut self, line: &str) {
        self.said.push(line.to_owned());
    }

    pub(super) fn auto(&mut self) {
        self.auto = true;
        self.say("Auto Mode");
    }

    /// A whole number within bounds.
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

/// A size in kB: a number, and perhaps k, m, g or t. Without one it is in kB.
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

/// Reads a command line of iozone, without the program's name.
///
/// # Errors
/// An [`IozoneError`] that names the option and its value, the cause and the cure, and where the word stands.
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

/// What a command line says of its I/O, whichever iozone ran it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct StatedOptions {
    /// Direct I/O.
    pub(crate) direct: bool,
    /// A flush at the end counts.
    pub(crate) fsync: bool,
    /// Each write is durable when it returns.
    pub(crate) sync: bool,
    /// Size of a record in kB, where there is one size.
    pub(crate) record_kb: Option<u64>,
    /// Size of a file in kB, where there is one size.
    pub(crate) file_kb: Option<u64>,
    /// Options that are not known.
    pub(crate) unknown: Vec<String>,
}

/// Understands a command line of another iozone, without the program's name, as far as its options are known.
pub(crate) fn stated(words: &[String]) -> StatedOptions {
    let (tokens, unknown) = argv::lex_known(words);
    let mut draft = IozoneArgs::default();
    for token in &tokens {
        // A value that is refused here was accepted there.
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

    /// Whether files stay when all is done.
    pub fn keeps_files(&self) -> bool {
        self.draft.keep_files
    }

    /// Whether files that are there are emptied before they are written.
    pub(super) fn empties_files(&self) -> bool {
        self.draft.truncate && self.kinds.first().is_some_and(|kind| kind.makes_file())
    }

    /// Time between the starts of two children.
    pub fn delay(&self) -> Nanos {
        Nanos(self.draft.delay_us.saturating_mul(1000))
    }

    /// Where a workbook goes.
    pub fn workbook(&self) -> Option<&std::path::Path> {
        self.draft.workbook.as_deref()
    }

    /// Whether to tell what the host is.
    pub fn tells_machine(&self) -> bool {
        self.draft.machine
    }
}
