//! Finds stored results by name, and assembles the documents that commands and pages show.
//!
//! The command line and the web server share these functions, so that a name, a selection and a JSON document mean the
//! same in both. Nothing here prints, and no file is read unless the caller passes a function that reads files.

#![forbid(unsafe_code)]

#[macro_use]
extern crate hakaru_report;

pub mod campaign;
pub mod compare;
mod counted;
pub mod devices;
mod error;
pub mod explain;
pub mod fio_jobs;
pub mod history;
mod jobs;
pub mod json;
pub mod list;
pub mod lookup;
pub mod names;
pub mod references;
pub mod report;
pub mod select;
pub mod sides;
mod summary;

pub use counted::{CountedNoun, counted};
pub use error::{NamedPath, NotThere, not_there};
pub use jobs::{job_hash, same_jobs};
pub use summary::{findings, findings_by, summarize};
