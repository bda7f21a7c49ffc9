//! Errors of preparation steps.

use super::fill::{DiscardError, FillError};
use super::image::ImageError;
use super::journal::JournalError;
use super::level::LevelError;
use super::mounting::MountError;
use super::partition::LayoutError;
use super::tool::ToolError;
use crate::guard::Refusal;
use crate::verify::VerifyError;
use std::io;
use std::path::{Path, PathBuf};

/// Errors of preparation steps.
#[derive(Debug, thiserror::Error)]
#[error(transparent)]
pub enum PrepareError {
    /// Error of the journal.
    Journal(#[from] JournalError),
    /// Error of overwriting a device.
    Fill(#[from] FillError),
    /// Error of discarding a device.
    Discard(#[from] DiscardError),
    /// Error of writing an image.
    Image(#[from] ImageError),
    /// Error of an external tool.
    Tool(#[from] ToolError),
    /// Invalid partition layout.
    Layout(#[from] LayoutError),
    /// Error of mounting, unmounting or dropping caches.
    Mount(#[from] MountError),
    /// Error of filling a file system.
    Level(#[from] LevelError),
    /// Error of verifying a device.
    Verify(#[from] VerifyError),
    /// The device cannot be claimed again.
    Refused(#[from] Refusal),
    /// Any other I/O error.
    #[error("{path} cannot be {doing}: {source}")]
    Io {
        /// Which file, directory or device.
        path: PathBuf,
        /// `opened`, `made`, `removed`.
        doing: &'static str,
        /// The I/O error.
        source: io::Error,
    },
}

pub(super) fn io_error(path: &Path, doing: &'static str, source: io::Error) -> PrepareError {
    PrepareError::Io {
        path: path.to_owned(),
        doing,
        source,
    }
}
