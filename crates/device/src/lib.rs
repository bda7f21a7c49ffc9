//! Identifies, guards and prepares the storage under test.
//!
//! [`inspect`] tells what a plan needs to know of a path; [`identify`] tells whose card or disk it is; [`environment`]
//! tells what the host was like. [`guard`] alone can allow data on a device to be destroyed, and [`prepare`] changes the
//! device in steps that are undone afterwards. Measuring lives elsewhere, and so does choosing the target.

#![forbid(unsafe_code)]

mod environment;
mod inspect;
mod mounts;
mod roots;
#[cfg(test)]
mod testtree;

pub use environment::environment;
pub use inspect::{InspectError, inspect};
pub use roots::{DevNum, Roots};
