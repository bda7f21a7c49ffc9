//! The conductor: calls the verbs, and owns their order.
//!
//! [`suite`] says what the standard measurements are; a [`Session`] carries one run from the look at its target to
//! the stored record; [`mod@bench`] repeats the suite on one target, and
//! [`campaign`] measures many cards through many layers.

#![forbid(unsafe_code)]

pub mod bench;
pub mod campaign;
mod ground;
mod ids;
pub mod scratch;
mod session;
pub mod suite;

pub use ids::{new_id, now_unix_ms};
pub use session::{
    PlannedSession, RunRequest, RunResult, SeriesPosition, Session, SessionError, SessionPolicy,
    UnstoredCopy, UnstoredRecord,
};
