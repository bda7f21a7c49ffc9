//! Errors in a fio command line or job file, with their location.

use super::cli::TOO_SHORT;
use hakaru_model::plan::PlanError;
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
    #[error("unable to open '{}' job file: {reason}{}", .path.display(), file_hint(.path))]
    CannotRead { path: PathBuf, reason: String },
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
    /// Returns the first line that fio prints for the same error, if known; `word` returns
    /// command-line arguments by number. Based on observed output.
    pub fn words(&self, word: impl Fn(usize) -> Option<String>) -> Option<String> {
        let arg = match &self.at {
            Some(Location::Arg { index, .. }) => word(*index),
            _ => None,
        };
        Some(match (&*self.kind, arg, &self.at) {
            (FioErrorKind::UnknownOption { .. }, Some(arg), _) => {
                format!("fio: unrecognized option '{arg}'")
            }
            (FioErrorKind::UnknownOption { .. }, None, Some(Location::File { text, .. })) => {
                format!("Bad option <{}>", text.trim())
            }
            (FioErrorKind::AmbiguousOption { candidates, .. }, Some(arg), _) => {
                let meant = candidates
                    .iter()
                    .map(|name| format!(" '--{}'", name.trim_matches('`')));
                format!(
                    "fio: option '{arg}' is ambiguous; possibilities:{}",
                    meant.collect::<String>()
                )
            }
            (FioErrorKind::MissingValue { .. }, Some(arg), _) => {
                format!("fio: option '{arg}' requires an argument")
            }
            (FioErrorKind::BadValue { option, reason, .. }, ..)
                if reason.starts_with(TOO_SHORT) =>
            {
                words_for_short(option)?.to_owned()
            }
            (FioErrorKind::BadValue { option, value, .. }, ..) => words_for_value(option, value)?,
            (FioErrorKind::Refused { option, .. }, ..) if option == "--latency-log" => {
                "fio: --latency-log is deprecated. Use per-job latency log options.".to_owned()
            }
            (FioErrorKind::CannotRead { path, .. }, ..) => {
                format!("fio: unable to open '{}' job file", path.display())
            }
            (FioErrorKind::NoJobs | FioErrorKind::NoSuchSection { .. }, ..) => {
                "No job(s) defined".to_owned()
            }
            (FioErrorKind::ReadOnly { .. }, ..) => {
                "fio: trim and write operations are not allowed with the --readonly parameter."
                    .to_owned()
            }
            _ => return None,
        })
    }

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

/// Returns fio's first line for a time that is too short.
fn words_for_short(option: &str) -> Option<&'static str> {
    Some(match option {
        "--status-interval" => "fio: status interval too small",
        "--eta-interval" => "fio: eta interval time too short (250msec min)",
        "--eta-newline" => "fio: eta new line time too short",
        _ => return None,
    })
}

/// Returns fio's first line for an invalid value.
fn words_for_value(option: &str, value: &str) -> Option<String> {
    Some(match option {
        "--output-format" => format!("fio: invalid output format {value}"),
        "--terse-version" => "fio: bad terse version format".to_owned(),
        "--idle-prof" => format!("fio: incorrect idle-prof option: {value}"),
        "--status-interval" | "--trigger-timeout" => format!("fio: failed parsing time {value}"),
        "--eta-interval" => format!("fio: failed parsing eta interval {value}"),
        "--eta-newline" => format!("fio: failed parsing eta time {value}"),
        // A known engine that is not built in is not reported as one that could not be loaded.
        "ioengine" if is_engine(value) => return None,
        "ioengine" => format!("fio: engine {value} not loadable"),
        option if option.starts_with('-') => return None,
        _ => format!("fio: failed parsing {option}={value}"),
    })
}

/// Returns fio's first line for jobs that cannot run, if known. Based on observed output.
pub fn words_for_plan(error: &PlanError) -> Option<String> {
    match error {
        PlanError::NoSize { job, .. } => Some(format!("{job}: you need to specify size=")),
        PlanError::OffsetPastEnd { job, .. } => {
            Some(format!("{job}: you need to specify valid offset="))
        }
        PlanError::MayNotCreate { .. } => {
            Some("fio: file creation disallowed by allow_file_create=0".to_owned())
        }
        PlanError::OddBlock { unit, .. } => Some(format!(
            "fio: mmap options dictate a minimum block size of {unit} bytes\nfio: io engine mmap init failed."
        )),
        PlanError::ZonesTooLarge { .. } => Some("fio: zoned_abs sizes exceed file size".to_owned()),
        PlanError::TooSmall { room, block, .. } => {
            let (room, block) = (room.0, block.0);
            Some(format!(
                "fio: size too small, must not be less than minimum block size: {room} < {block}"
            ))
        }
        _ => None,
    }
}

/// Whether fio has an engine with this name.
fn is_engine(name: &str) -> bool {
    let head = name.split(':').next().unwrap_or(name);
    super::options::ENGINES
        .iter()
        .any(|engine| engine.names.contains(&head))
}

fn did_you_mean(nearest: &Option<String>) -> String {
    nearest
        .as_ref()
        .map(|name| format!(": did you mean `{name}`?"))
        .unwrap_or_default()
}

/// A name that contains `=` was probably meant as an option.
fn file_hint(path: &std::path::Path) -> String {
    let text = path.to_string_lossy();
    let Some((name, value)) = text.split_once('=') else {
        return String::new();
    };
    let names = || super::options::all().flat_map(super::options::FioOption::names);
    let meant = names()
        .find(|known| !name.is_empty() && known.starts_with(name))
        .map(str::to_owned);
    match meant.or_else(|| super::options::nearest(name, names())) {
        Some(meant) => format!(
            " (options of the command line begin with --: did you mean `--{meant}={value}`?)"
        ),
        None => " (options of the command line begin with --)".to_owned(),
    }
}
