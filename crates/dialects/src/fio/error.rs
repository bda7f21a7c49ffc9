//! Why a fio command line or job file was not understood, and where the word stands.

use std::ops::Range;
use std::path::PathBuf;

/// What was not understood, with its place.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{kind}")]
pub struct FioError {
    /// What is wrong.
    pub kind: Box<FioErrorKind>,
    /// Where; `None` when it is not about one word.
    pub at: Option<Location>,
}

/// Where a word stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Location {
    /// On the command line.
    Arg {
        /// Which argument, from 0, the program's name not counted.
        index: usize,
        /// Bytes of the word within the argument.
        span: Range<usize>,
    },
    /// In a job file.
    File {
        /// Which one.
        path: PathBuf,
        /// Which line, from 1.
        line: usize,
        /// The line itself.
        text: String,
        /// Bytes of the word within the line.
        span: Range<usize>,
    },
}

/// What is wrong. Each message names what was tried, the cause and the cure.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[allow(missing_docs)] // Each field is named in its message.
pub enum FioErrorKind {
    /// No option of that name.
    #[error("unknown option `{name}`{}", did_you_mean(.nearest))]
    UnknownOption { name: String, nearest: Option<String> },
    /// A prefix of several.
    #[error("option `{name}` may stand for {}: write it out", .candidates.join(", "))]
    AmbiguousOption { name: String, candidates: Vec<String> },
    /// fio knows it, we do not.
    #[error("{option} is an option of fio that cannot be used here: {reason}; {instead}")]
    Refused { option: String, reason: String, instead: String },
    /// A value that does not fit.
    #[error("{option}={value} cannot be used: {reason}")]
    BadValue { option: String, value: String, reason: String },
    /// An option without its value.
    #[error("option `{option}` needs a value: {hint}")]
    MissingValue { option: String, hint: String },
    /// Options that contradict each other.
    #[error("job `{job}`: {reason}")]
    BadJob { job: String, reason: String },
    /// Nothing to do.
    #[error("no jobs are defined: give --name=NAME with options such as --rw=read --size=64m, or a job file")]
    NoJobs,
    /// A job file that could not be read.
    #[error("unable to open '{}' job file: {reason}{}", .path.display(), file_hint(.path))]
    CannotRead { path: PathBuf, reason: String },
    /// A line of a job file that is no section, option or comment.
    #[error("`{text}` is neither a [section] nor an option: {reason}")]
    BadLine { text: String, reason: String },
    /// Includes that do not end.
    #[error("include files are nested more than {limit} deep or are too many, the last being {}", .path.display())]
    IncludeTooDeep { path: PathBuf, limit: usize },
    /// `--warnings-fatal`.
    #[error("{warning} (and --warnings-fatal makes that an error)")]
    WarningFatal { warning: String },
    /// `--section` of a name that no job file has.
    #[error("no job file has the section `{section}`{}", did_you_mean(.nearest))]
    NoSuchSection { section: String, nearest: Option<String> },
    /// More workers than `--max-jobs`.
    #[error("{count} workers are more than --max-jobs={limit}")]
    TooManyJobs { count: u64, limit: u64 },
}

impl FioError {
    /// An error that is not about one word.
    pub fn nowhere(kind: FioErrorKind) -> FioError {
        FioError { kind: Box::new(kind), at: None }
    }

    /// An error about the word that stands there.
    pub(crate) fn at(kind: FioErrorKind, at: Location) -> FioError {
        FioError { kind: Box::new(kind), at: Some(at) }
    }
}

fn did_you_mean(nearest: &Option<String>) -> String {
    nearest.as_ref().map(|name| format!(": did you mean `{name}`?")).unwrap_or_default()
}

/// What has a `=` in it was meant as an option.
fn file_hint(path: &std::path::Path) -> String {
    let text = path.to_string_lossy();
    let Some((name, value)) = text.split_once('=') else { return String::new() };
    let names = || super::options::all().flat_map(super::options::Opt::names);
    let meant = names().find(|known| !name.is_empty() && known.starts_with(name)).map(str::to_owned);
    match meant.or_else(|| super::options::nearest(name, names())) {
        Some(meant) => format!(" (options of the command line begin with --: did you mean `--{meant}={value}`?)"),
        None => " (options of the command line begin with --)".to_owned(),
    }
}
