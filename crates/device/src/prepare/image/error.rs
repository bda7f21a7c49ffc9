//! Errors of writing an image.

use crate::prepare::ToolError;
use hakaru_model::units::Bytes;
use std::io;
use std::path::PathBuf;

/// Errors of writing an image.
#[derive(Debug, thiserror::Error)]
pub enum ImageError {
    /// The image cannot be read.
    #[error("cannot read the image {path}: {source}")]
    Image {
        /// The image.
        path: PathBuf,
        /// The I/O error.
        source: io::Error,
    },
    /// The image is a directory, a device or another special file.
    #[error("{path} is not a regular file; help: name an image file")]
    NotAFile {
        /// The image.
        path: PathBuf,
    },
    /// An archive format that is not supported.
    #[error("{path} is a {format} file, which is not supported; help: unpack it first")]
    Unsupported {
        /// The image.
        path: PathBuf,
        /// `zip`, `7z`, `bzip2`.
        format: &'static str,
    },
    /// The image has no content.
    #[error("the image {path} is empty")]
    Empty {
        /// The image.
        path: PathBuf,
    },
    /// The image is larger than the device.
    #[error("the image has {image}, the device only {device}; help: use a larger device")]
    TooLarge {
        /// Size of the unpacked image.
        image: Bytes,
        /// Size of the device.
        device: Bytes,
    },
    /// The image cannot be read to its end; part of it was written.
    #[error("cannot read all of the image {path}: {source}")]
    Cut {
        /// The image.
        path: PathBuf,
        /// The I/O error.
        source: io::Error,
    },
    /// The image was changed while it was written.
    #[error("the image changed while it was written; help: write it again")]
    Changed,
    /// A tool that unpacks the image is missing or fails.
    #[error(transparent)]
    Tool(#[from] ToolError),
    /// A buffer cannot be allocated.
    #[error("cannot allocate a buffer of {size}: {source}")]
    Memory {
        /// Requested size.
        size: Bytes,
        /// The I/O error.
        source: io::Error,
    },
    /// A write or flush failed.
    #[error("cannot write to the device at {offset}: {source}; help: check the kernel log (dmesg)")]
    Write {
        /// The offset.
        offset: Bytes,
        /// The I/O error.
        source: io::Error,
    },
    /// Reading back failed.
    #[error(
        "cannot read back the device at {offset}: {source}; help: check the kernel log (dmesg)"
    )]
    ReadBack {
        /// The offset.
        offset: Bytes,
        /// The I/O error.
        source: io::Error,
    },
    /// The device returned other data than was written.
    #[error(
        "the device returned other data than was written, within 4 MiB from {offset}; help: check \
        its capacity with `hakaru verify`"
    )]
    Differs {
        /// Start of the chunk.
        offset: Bytes,
    },
    /// The device was removed.
    #[error("the device was removed at {offset}")]
    Pulled {
        /// The offset.
        offset: Bytes,
    },
    /// Stopped by the user.
    #[error("writing the image was stopped after {done}")]
    Interrupted {
        /// Bytes written or read back before that.
        done: Bytes,
    },
    /// The image is incomplete, and its partition table could not be cleared.
    #[error("its partition table could not be cleared ({source}): {cause}")]
    NotCleared {
        /// Why the image is incomplete.
        cause: Box<ImageError>,
        /// The I/O error.
        source: io::Error,
    },
}

impl ImageError {
    /// Whether the device was left unchanged.
    pub fn left_the_device_unchanged(&self) -> bool {
        matches!(
            self,
            ImageError::Image { .. }
                | ImageError::NotAFile { .. }
                | ImageError::Unsupported { .. }
                | ImageError::Empty { .. }
                | ImageError::TooLarge { .. }
                | ImageError::Memory { .. }
                | ImageError::Tool(_)
        )
    }
}
