//! First lines that fio prints for the same errors. Based on observed output.

use super::cli::TOO_SHORT;
use super::error::{FioError, FioErrorKind, Location};
use super::options::ENGINES;
use hakaru_model::plan::PlanError;

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
        PlanError::BlockTooLarge { .. } => {
            Some("fio: blocksize is larger than data set range".to_owned())
        }
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
    ENGINES.iter().any(|engine| engine.names.contains(&head))
}
