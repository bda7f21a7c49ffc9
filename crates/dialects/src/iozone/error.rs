//! Errors in an iozone command line, or in the request it makes.

use hakaru_model::plan::PlanError;
use std::ops::Range;

/// An error and the location of the word.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct IozoneError {
    /// What was tried, the cause and the solution.
    pub message: String,
    /// The location; `None` if the error does not concern a single word.
    pub at: Option<WordLocation>,
}

/// Location of a word on the command line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WordLocation {
    /// Argument index from 0, without the program name.
    pub index: usize,
    /// Byte range of the word within the argument.
    pub span: Range<usize>,
}

impl IozoneError {
    pub(super) fn nowhere(message: impl Into<String>) -> IozoneError {
        IozoneError {
            message: message.into(),
            at: None,
        }
    }

    pub(super) fn at(message: impl Into<String>, at: WordLocation) -> IozoneError {
        IozoneError {
            message: message.into(),
            at: Some(at),
        }
    }
}

/// Describes a plan error in terms of iozone's options.
pub fn cure(error: &PlanError) -> String {
    match error {
        PlanError::Missing { path, .. } | PlanError::MayNotCreate { path, .. } => {
            format!(
                "{} does not exist, and no earlier test creates it: add -i 0, or use -f FILE",
                path.display()
            )
        }
        PlanError::Misaligned {
            path,
            block,
            logical,
            ..
        } => format!(
            "{} cannot be accessed with {block}-byte records and -I: direct I/O needs multiples \
            of the logical block size, {logical} bytes; use a larger -r, or omit -I",
            path.display()
        ),
        PlanError::NoSpace {
            path, needed, free, ..
        } => format!(
            "the files need {needed}, but the file system of {} has {free} free: use a smaller -s \
            or -g, or fewer children",
            path.display()
        ),
        PlanError::NotMeasurable { path, what, .. } => {
            format!(
                "{} is a {what}, which cannot be measured: name a file with -f",
                path.display()
            )
        }
        PlanError::ReadOnly { path, .. } => {
            format!(
                "cannot write {}: name a file in a writable directory with -f or -F",
                path.display()
            )
        }
        PlanError::PastEnd {
            path, size, wanted, ..
        } => {
            format!(
                "{} has {size}, but -s needs {wanted}: use a smaller -s",
                path.display()
            )
        }
        PlanError::BadBlock { block, .. } => {
            format!("record size {block} is out of range: -r takes 1k to 1g")
        }
        other => other.to_string(),
    }
}
