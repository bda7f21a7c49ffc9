//! Tests of front ends and imports, in one binary: `cargo test -p hakaru-dialects --test it fio_input::` runs one file.

mod fio_input;
mod fio_logs;
mod fio_outputs;
mod fio_shape;
mod import_formats;
mod import_noise;
mod import_pasted;
mod support;
