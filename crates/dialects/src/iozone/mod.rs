//! The iozone dialect: parses its command line and produces its outputs.
//!
//! Written from iozone's manual and its observed outputs. [`parse`] is pure; the caller runs the result and writes all
//! output.
//!
//! ```text
//! words ── argv ──▶ tokens ── options (the table) ──▶ Request ── lower ─▶ Scenario, one a row or group of children
//! PhaseRecord ── figures ──▶ output: lines of throughput mode, cells of the table, reports for spreadsheets
//! ```

mod args;
mod argv;
mod error;
mod figures;
mod help;
mod kind;
mod lower;
mod options;
pub mod output;
mod request;
#[cfg(test)]
mod tests;

pub use error::{IozoneError, WordLocation, cure};
pub use figures::{FigureUnit, TestFigures};
pub use help::{compatibility_markdown, man_page, usage};
pub(crate) use kind::COLUMNS;
pub use kind::IozoneTest;
pub use lower::{IozoneStep, check_files};
pub use request::{IozoneAction, IozoneMode, IozoneRequest, parse};
pub(crate) use request::{StatedOptions, stated};

/// iozone version whose behavior and output this front end reproduces.
pub const VERSION: &str = "3.471";
