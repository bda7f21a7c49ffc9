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
mod spelling;
#[cfg(test)]
mod testing;
mod values;
mod wording;

pub use assemble::parse;
pub use error::{FioError, FioErrorKind, Location};
pub use help::{compatibility_markdown, man_page};
pub use invocation::{
    EtaMode, FioAction, IdleProf, Invocation, JobExtras, LogPlan, OutputFormat, ParseContext,
    Settings, Trigger, UnifiedReporting,
};
pub use values::TimeUnit;
pub use wording::words_for_plan;

/// fio version whose behavior and output this front end reproduces, as `--version` prints it.
pub const VERSION: &str = "fio-3.39";

#[cfg(test)]
mod tests;
