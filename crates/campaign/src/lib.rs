//! The conductor: calls the verbs, and owns their order.
//!
//! [`suite`] says what the standard measurements are; [`run_once`] carries one run from the look at its target to the
//! stored record; [`mod@bench`] repeats the suite on one target, and
//! [`campaign`] measures many cards through many layers.

#![forbid(unsafe_code)]

pub mod bench;
pub mod campaign;
mod ground;
mod once;
pub mod scratch;
mod spooling;
pub mod suite;

pub use once::{Kept, Once, OnceError, Ran, Series, inspect_all, new_id, now_unix_ms, run_once, run_point};
