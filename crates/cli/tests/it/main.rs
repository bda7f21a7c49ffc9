//! Tests of the program as a user runs it: one binary for all, because each one links the whole workspace.
//!
//! `cargo test -p hakaru --test it bench::` runs one file. Tests that need the host for themselves are binaries of
//! their own beside this directory.

mod anatomy;
mod anatomy_kept;
mod archives;
mod articles;
mod bench;
mod bench_full_disk;
mod campaign;
mod cards;
mod clients;
mod device;
mod exports;
mod fio_counts;
mod fio_ends;
mod fio_replay;
mod fio_rules;
mod fio_signals;
mod fio_verify;
#[cfg(feature = "fleet")]
mod fleet;
mod foreign;
mod front_ends_store;
mod import;
mod iozone;
mod json;
mod lint;
mod live;
mod many_files;
mod names;
mod paused;
mod questions;
mod reading;
mod reports;
mod serve;
mod setup;
mod support;
mod sync;
mod trace;
mod trace_marks;
mod verify;
