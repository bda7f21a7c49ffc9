//! The fio dialect: its command line and job files in, its outputs out.
//!
//! [`parse`] is pure: environment, files and host facts are passed in a [`ParseContext`]. Running
//! the result and writing files is up to the caller.
//!
//! ```text
//! words ── argv ──▶ tokens ─┐
//!                           ├─ assemble ─▶ JobSpec ── lower ─▶ Scenario + JobExtras
//! files ── jobfile ▶ lines ─┘      ▲
//!                        options (the table), cli (the other table)
//! ```

mod argv;
mod assemble;
mod cli;
pub mod error;
mod expr;
mod help;
pub mod invocation;
mod iolog;
mod jobfile;
mod lists;
mod lower;
pub mod options;
pub mod output;
mod showcmd;
mod spec;
#[cfg(test)]
mod testing;
mod values;

pub use error::{FioError, FioErrorKind, Location, words_for_plan};
pub use help::{compatibility_markdown, man_page};
pub use invocation::{
    EtaMode, FioAction, IdleProf, Invocation, JobExtras, LogPlan, OutputFormat, ParseContext,
    Settings, Trigger, UnifiedReporting,
};
pub use values::TimeUnit;

use std::ffi::OsString;
use std::path::Path;

/// fio version whose behavior and output this front end reproduces, as `--version` prints it.
pub const VERSION: &str = "fio-3.39";

/// Parses a fio command line (without the program name) and the job files it names.
///
/// # Errors
/// A [`FioError`] with the option, its value, the cause, the solution, and the location of the word.
pub fn parse(args: &[OsString], ctx: &ParseContext<'_>) -> Result<Invocation, FioError> {
    let mut warnings = Vec::new();
    let tokens = argv::lex(
        args,
        &|path| (ctx.path_exists)(Path::new(path)),
        &mut warnings,
    )?;
    assemble::assemble(&tokens, ctx, warnings)
}

#[cfg(test)]
mod tests;
