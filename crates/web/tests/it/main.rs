//! Tests of the server over TCP, in one binary: `cargo test -p hakaru-web --test it live::` runs one file.

mod live;
