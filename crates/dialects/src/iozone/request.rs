//! The request in a command line: first the options as typed, then their meaning.

mod modes;

use super::args::{IozoneArgs, IozoneInfoText};
use super::argv::{self, IozoneToken};
use super::error::IozoneError;
use super::figures::FigureUnit;
use super::kind::IozoneTest;
use super::options::IozoneOptionState;
use hakaru_model::units::Nanos;
use std::ffi::OsString;

/// In auto mode, files of at least this size in kB are not measured with records below [`SMALL_RECORD_KB`], according
/// to the manual.
const LARGE_FILE_KB: u64 = 32 << 10;
const SMALL_RECORD_KB: u64 = 64;

/// Default range of auto mode in kB: files, records.
const AUTO_FILES: (u64, u64) = (64, 512 << 10);
const AUTO_RECORDS: (u64, u64) = (4, 16 << 10);

/// Maximum number of rows in a table.
const MOST_ROWS: usize = 10_000;

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
    pub(super) args: IozoneArgs,
}

/// Parses an iozone command line without the program name.
///
/// # Errors
/// An [`IozoneError`] with the option, its value, the cause, the solution, and the location of the word.
pub fn parse(words: &[OsString]) -> Result<IozoneAction, IozoneError> {
    if words.is_empty() {
        let text = "iozone: help mode\n\n".to_owned() + &super::help::usage();
        return Ok(IozoneAction::Print(text));
    }
    let (tokens, other) = argv::lex(words)?;
    let mut args = IozoneArgs::default();
    let mut warnings = Vec::new();
    for token in &tokens {
        apply(token, &mut args, &mut warnings)?;
    }
    match args.page {
        Some(IozoneInfoText::Help) => return Ok(IozoneAction::Print(super::help::usage())),
        Some(IozoneInfoText::Version) => return Ok(IozoneAction::Print(super::help::version())),
        None => {}
    }
    warnings.extend(
        other.iter().map(|word| {
            format!("ignored `{word}`: not an option; name the test file with -f FILE")
        }),
    );
    IozoneRequest::new(args, warnings, &OptionLocations(&tokens))
        .map(|request| IozoneAction::Run(Box::new(request)))
}

/// Locations of the options on the command line, for errors about their combination.
struct OptionLocations<'a>(&'a [IozoneToken]);

impl OptionLocations<'_> {
    /// An error about the last occurrence of an option, if it was given.
    fn error(&self, option: &str, message: impl Into<String>) -> IozoneError {
        let token = self.0.iter().rev().find(|token| token.opt.name == option);
        IozoneError {
            message: message.into(),
            at: token.map(|token| token.at.clone()),
        }
    }
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
    let mut args = IozoneArgs::default();
    for token in &tokens {
        // The other version accepted values that are rejected here.
        let _ = token.opt.set.map(|set| set(&mut args, &token.values));
    }
    let only = |sizes: &[u64]| <[u64; 1]>::try_from(sizes).ok().map(|[size]| size);
    StatedOptions {
        direct: args.direct,
        fsync: args.flush,
        sync: args.sync || args.dsync,
        record_kb: only(&args.records_kb),
        file_kb: only(&args.sizes_kb),
        unknown,
    }
}

fn apply(
    token: &IozoneToken,
    args: &mut IozoneArgs,
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
    set(args, values).map_err(bad)
}

impl IozoneRequest {
    fn new(
        args: IozoneArgs,
        mut warnings: Vec<String>,
        locations: &OptionLocations<'_>,
    ) -> Result<IozoneRequest, IozoneError> {
        if let Some((option, message)) = args.contradiction() {
            return Err(locations.error(option, message));
        }
        let throughput = args.is_throughput();
        let mode = if throughput {
            args.throughput(locations)?
        } else {
            args.table(locations)?
        };
        let kinds = args.kinds(throughput, locations)?;
        warnings.extend(args.ignored().into_iter().map(str::to_owned));
        let unit = match (args.ops, args.micros) {
            (true, _) => FigureUnit::Ops,
            (_, true) => FigureUnit::Micros,
            _ => FigureUnit::KiloBytes,
        };
        Ok(IozoneRequest {
            mode,
            kinds,
            unit,
            said: args.said.clone(),
            warnings,
            args,
        })
    }

    /// Whether files are kept at the end.
    pub fn keeps_files(&self) -> bool {
        self.args.keep_files
    }

    /// Whether existing files are truncated before they are written.
    pub(super) fn empties_files(&self) -> bool {
        !self.args.keep_contents && self.kinds.first().is_some_and(|kind| kind.makes_file())
    }

    /// Time between the starts of consecutive children.
    pub fn delay(&self) -> Nanos {
        Nanos(self.args.delay_us.saturating_mul(1000))
    }

    /// Path of the workbook, if requested.
    pub fn workbook(&self) -> Option<&std::path::Path> {
        self.args.workbook.as_deref()
    }

    /// Whether to describe the host.
    pub(super) fn shows_machine(&self) -> bool {
        self.args.machine
    }
}
