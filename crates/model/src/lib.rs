//! The data types of hakaru: plain data exchanged between crates.
//!
//! Everything here can be printed, compared, stored, and written by hand in a test. Nothing here opens a file, reads a
//! clock, draws an unseeded random number, or knows how any other program prints its numbers.

#![forbid(unsafe_code)]

pub mod advice;
pub mod anatomy;
pub mod anatomy_record;
pub mod anatomy_resume;
pub mod annotation;
pub mod campaign;
pub mod caveat;
pub mod claim;
pub mod conclusion;
pub mod device_model;
pub mod facts;
pub mod figure;
pub mod finding;
pub mod hash;
pub mod histogram;
pub mod history;
pub mod host_comparison;
pub mod integrity;
pub mod io_path;
pub mod job;
pub mod json;
pub mod lint;
pub mod measured;
pub mod method;
pub mod mismatch;
pub mod obstacle;
pub mod plan;
pub mod price;
pub mod rank;
pub mod record;
pub mod references;
pub mod replay;
pub mod reported;
mod request;
pub mod rng;
pub mod severity;
pub mod stream;
pub mod units;
