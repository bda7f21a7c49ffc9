//! Tests of whole runs, in one binary: `cargo test -p hakaru-engine --test it verify::` runs one file. Tests that
//! measure their own process are binaries of their own beside this directory.

mod backends;
mod common;
mod content;
mod edges;
mod files;
mod logs;
mod measured;
mod operations;
mod options;
mod rules;
mod sim;
mod verify;
