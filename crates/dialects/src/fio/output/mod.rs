//! fio's output formats (text, JSON, terse, logs and the status line) as pure functions from records to text.
//!
//! Nothing here runs I/O, reads a clock or queries the host: the [`RunView`] holds everything fio prints about a run.
//! Wording and layout follow the published results of fio 3.39; JSON and terse follow the observed output of fio 3.33.
//!
//! ```text
//! before the run   banner(&StartView), laying_out(..), status_line(&Progress) while it goes
//! after the run    normal(&RunView), json(&RunView, plus), terse(&RunView, version)
//! beside it        LogKind::file_name(..), log_text(..)
//! ```

mod distribution;
mod eta;
mod json;
mod logs;
mod merge;
mod mismatch;
mod normal;
mod number;
mod percentile;
mod search;
mod start;
mod terse;
mod time;
mod value;
mod view;

pub use eta::{RateLimit, StatusLine, WorkerState, limited_status_line, status_line};
pub use json::json;
pub use logs::{LogColumns, LogEntry, LogKind, histogram_line, log_text};
pub use mismatch::{ended_by_error, errors};
pub use normal::{calibration, normal};
pub use start::{DEPTH_NOTE, VERIFY_NOTES, banner, command_ran, laying_out};
pub use terse::terse;
pub use view::{CpuIdleness, DiskView, RunView, StartView, WorkerView};
