//! Errors in a fio command line or job file, with their location.

use std::ops::Range;
use std::path::PathBuf;

/// A parse error with its location.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{kind}")]
pub struct FioError {
    /// The kind of error.
    pub kind: Box<FioErrorKind>,
    /// The location; `None` if the error does not concern a single word.
    pub at: Option<Location>,
}

/// Location of a word.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Location {
    /// On the command line.
    Arg {
        /// Argument index from 0, without the program name.
        index: usize,
        /// Byte range of the word within the argument.
        span: Range<usize>,
    },
    /// In a job file.
    File {
        /// Path of the job file.
        path: PathBuf,
        /// Line number, from 1.
        line: usize,
        /// Text of the line.
        text: String,
        /// Byte range of the word within the line.
        span: Range<usize>,
    },
}

/// The kind of error. Each message names what was tried, the cause and the solution.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[allow(missing_docs)] // Each field is named in its message.
pub enum FioErrorKind {
    /// No option has this name.
    #[error("unknown option `{name}`{}", did_you_mean(.nearest))]
    UnknownOption {
        name: String,
        nearest: Option<String>,
    },
    /// A prefix of several option names.
    #[error("option `{name}` is ambiguous ({}): use the full name", .candidates.join(", "))]
    AmbiguousOption {
        name: String,
        candidates: Vec<String>,
    },
    /// A fio option that hakaru does not support.
    #[error("fio option {option} is not supported: {reason}; {instead}")]
    Refused {
        option: String,
        reason: String,
        instead: String,
    },
    /// An invalid value.
    #[error("{option}={value} cannot be used: {reason}")]
    BadValue {
        option: String,
        value: String,
        reason: String,
    },
    /// An option without its required value.
    #[error("option `{option}` needs a value: {hint}")]
    MissingValue { option: String, hint: String },
    /// Options that contradict each other.
    #[error("job `{job}`: {reason}")]
    BadJob { job: String, reason: String },
    /// A job that writes or trims, with `--readonly`.
    #[error(
        "job `{job}` writes or trims, which --readonly forbids: use a read job, or omit --readonly"
    )]
    ReadOnly { job: String },
    /// No job is defined.
    #[error(
        "no jobs defined: use --name=NAME with options such as --rw=read --size=64m, or a job file"
    )]
    NoJobs,
    /// A job file that could not be read.
    #[error("unable to open '{}' job file: {reason}{hint}", .path.display())]
    CannotRead {
        path: PathBuf,
        reason: String,
        /// Advice in parentheses, or empty.
        hint: String,
    },
    /// A job file line that is not a section, option or comment.
    #[error("`{text}` is neither a [section] nor an option: {reason}")]
    BadLine { text: String, reason: String },
    /// Includes nested too deeply, usually because they are circular.
    #[error("too many include files, or nested more than {limit} deep: {}", .path.display())]
    IncludeTooDeep { path: PathBuf, limit: usize },
    /// A warning with `--warnings-fatal`.
    #[error("{warning} (and --warnings-fatal makes that an error)")]
    WarningFatal { warning: String },
    /// `--section` names a section that no job file has.
    #[error("no section `{section}` in the job files{}", did_you_mean(.nearest))]
    NoSuchSection {
        section: String,
        nearest: Option<String>,
    },
    /// More workers than `--max-jobs`.
    #[error("{count} jobs are more than --max-jobs={limit}")]
    TooManyJobs { count: u64, limit: u64 },
}

impl FioError {
    /// Creates an error that does not concern a single word.
    pub fn nowhere(kind: FioErrorKind) -> FioError {
        FioError {
            kind: Box::new(kind),
            at: None,
        }
    }

    /// Creates an error about the word at this location.
    pub(crate) fn at(kind: FioErrorKind, at: Location) -> FioError {
        FioError {
            kind: Box::new(kind),
            at: Some(at),
        }
    }
}

fn did_you_mean(nearest: &Option<String>) -> String {
    nearest
        .as_ref()
        .map(|name| format!(": did you mean `{name}`?"))
        .unwrap_or_default()
}
