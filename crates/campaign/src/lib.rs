//! The conductor: calls the verbs, and owns their order.
//!
//! [`suite`] says what the standard measurements are; [`run_once`] carries one run from the look at its target to the
//! stored record; [`mod@bench`] repeats the suite on one target, and
//! [`campaign`] measures many cards through many layers.

#![forbid(unsafe_code)]

pub mod bench;
pub mod campaign;
mod ground;
pub mod scratch;
mod single_run;
mod spooling;
pub mod suite;

pub use single_run::{
    Kept, OnceError, RunRequest, RunResult, SeriesPosition, inspect_all, new_id, now_unix_ms,
    run_once, run_point,
};
