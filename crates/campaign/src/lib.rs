//! Controls complete measurements by calling the other crates in order.
//!
//! [`suite`] defines the standard measurements; a [`Session`] carries out one run from the inspection of its target
//! to the stored record; [`mod@bench`] repeats the suite on one target, and [`campaign`] measures many cards through
//! many layers.

#![forbid(unsafe_code)]

pub mod anatomy;
pub mod bench;
pub mod campaign;
pub mod errors;
mod ids;
pub mod scratch;
mod session;
pub mod suite;
mod target;

pub use ids::{new_id, now_unix_ms};
pub use session::{
    PlannedSession, RunRequest, RunResult, SeriesPosition, Session, SessionError, SessionPolicy,
    TraceExtent, UnstoredCopy, UnstoredRecord,
};
