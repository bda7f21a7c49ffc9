//! Errors of the kit, and file operations that report them.

use super::tools::{Missing, RigToolError};
use std::io;
use std::path::{Path, PathBuf};

/// Reasons why a kit is not available.
#[derive(Debug, thiserror::Error)]
pub enum KitError {
    /// The kit was never set up.
    #[error("the kit for {arch} is missing in {dir}; help: run `cargo xtask rig setup`")]
    NotSetUp {
        /// Architecture of the machines.
        arch: &'static str,
        /// Directory that was searched.
        dir: PathBuf,
    },
    /// Programs that are not installed.
    #[error(transparent)]
    Missing(#[from] Missing),
    /// A program failed.
    #[error(transparent)]
    Tool(#[from] RigToolError),
    /// A file of the kit could not be read or written.
    #[error("{what} {path}: {source}")]
    Io {
        /// The operation.
        what: &'static str,
        /// The file.
        path: PathBuf,
        /// The cause.
        source: io::Error,
    },
    /// A downloaded file is not as expected.
    #[error("{path} is not usable: {because}")]
    Unusable {
        /// The file.
        path: PathBuf,
        /// The problem.
        because: String,
    },
}

/// Error conversion for `map_err`, with the operation and the file.
pub(super) fn io_error(
    what: &'static str,
    path: &Path,
) -> impl FnOnce(io::Error) -> KitError + use<> {
    let path = path.to_owned();
    move |source| KitError::Io { what, path, source }
}

/// Creates an empty directory.
pub(super) fn clear(dir: &Path) -> Result<(), KitError> {
    if dir.exists() {
        std::fs::remove_dir_all(dir).map_err(io_error("cannot remove", dir))?;
    }
    std::fs::create_dir_all(dir).map_err(io_error("cannot make", dir))
}
