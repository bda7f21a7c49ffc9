//! Tests of the database, of spools and of live states, in one binary: `cargo test -p hakaru-store --test it records::` runs one file.

mod annotations;
mod archive;
mod compat;
mod crash;
mod live;
mod merge;
mod records;
mod select;
mod spool;
mod support;
mod upgrade;
mod verified;
