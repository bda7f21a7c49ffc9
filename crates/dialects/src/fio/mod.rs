//! The fio dialect: its command line and job files in, its outputs out.
//!
//! [`parse`] is pure: the environment, files and facts of the host it needs are handed to it in a [`ParseContext`].
//! Running what it returns, and writing anything anywhere, is the business of the edge.

pub mod error;
pub mod invocation;
pub mod output;

pub use error::{FioError, FioErrorKind, Location};
pub use invocation::{
    Action, EtaMode, IdleProf, Invocation, JobExtras, LogPlan, OutputFormat, ParseContext, Settings, UnifiedReporting,
};

use std::ffi::OsString;

/// Reads a fio command line (without the program's name) and the job files it names.
///
/// # Errors
/// A [`FioError`] that names the option and its value, the cause and the cure, and where the word stands.
pub fn parse(args: &[OsString], ctx: &ParseContext<'_>) -> Result<Invocation, FioError> {
    let _ = (args, ctx);
    Err(FioError::nowhere(FioErrorKind::NoJobs))
}
