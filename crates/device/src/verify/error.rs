//! Errors of a verification, and the kinds of I/O errors that it distinguishes.

use crate::prepare::FillError;
use hakaru_model::units::Bytes;
use rustix::io::Errno;
use std::io;

/// Errors that prevent a verdict. Errors of single blocks are findings instead.
#[derive(Debug, thiserror::Error)]
pub enum VerifyError {
    /// The buffer cannot be allocated.
    #[error(transparent)]
    Memory(#[from] FillError),
    /// The range is outside the device or not aligned.
    #[error(
        "the range {start} to {end} is outside the {size} device or not aligned to its \
        {block}-byte blocks"
    )]
    Range {
        /// Start of the range.
        start: Bytes,
        /// End of the range.
        end: Bytes,
        /// Size of the device.
        size: Bytes,
        /// Its block size.
        block: u32,
    },
    /// Stopped before anything was read back.
    #[error("verification was stopped while {doing} at {at}")]
    Interrupted {
        /// `writing` or `reading`.
        doing: &'static str,
        /// The offset.
        at: Bytes,
    },
    /// The flush failed.
    #[error("cannot flush the device: {}", cause(source))]
    Flush {
        /// The I/O error.
        source: io::Error,
    },
    /// The storage below is full: a thinly provisioned device, or a file system.
    #[error(
        "no space left at {at}: another program used the free space; help: free some space, then \
        try again"
    )]
    Full {
        /// The offset.
        at: Bytes,
    },
    /// The original content could not be restored.
    #[error(
        "cannot restore the content at {at}: {} ({left} in total not restored)",
        cause(source)
    )]
    NotRestored {
        /// The first offset.
        at: Bytes,
        /// Bytes not restored.
        left: Bytes,
        /// The I/O error.
        source: io::Error,
    },
    /// The device was removed.
    #[error("the device was removed or disconnected at {at}: {source}")]
    Pulled {
        /// The offset.
        at: Bytes,
        /// The last I/O error.
        source: io::Error,
    },
    /// Too many consecutive errors to continue.
    #[error(
        "every I/O up to {at} failed: {source}; help: check that the device is connected, or \
        replace it if it is worn out"
    )]
    Gone {
        /// The offset.
        at: Bytes,
        /// The last I/O error.
        source: io::Error,
    },
}

/// Whether an error means that the storage is full.
pub(super) fn is_full(error: &io::Error) -> bool {
    let errno = error.raw_os_error().map(Errno::from_raw_os_error);
    matches!(errno, Some(Errno::NOSPC | Errno::DQUOT))
}

/// Returns the error for a device that no longer responds.
pub(super) fn gone(at: Bytes, source: io::Error) -> VerifyError {
    if is_gone(&source) {
        VerifyError::Pulled { at, source }
    } else {
        VerifyError::Gone { at, source }
    }
}

/// Describes an error for a message.
fn cause(error: &io::Error) -> String {
    if is_gone(error) {
        format!("the device was removed or disconnected: {error}")
    } else {
        error.to_string()
    }
}

/// Whether an error means that the device was removed.
pub(super) fn is_gone(error: &io::Error) -> bool {
    let errno = error.raw_os_error().map(Errno::from_raw_os_error);
    matches!(errno, Some(Errno::NODEV | Errno::NXIO | Errno::NOMEDIUM))
}
