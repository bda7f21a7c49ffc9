//! Tests of the database and of spools, in one binary: `cargo test -p hakaru-store --test it records::` runs one file.

mod annotations;
mod archive;
mod compat;
mod crash;
mod records;
mod select;
mod spool;
mod support;
mod verified;
