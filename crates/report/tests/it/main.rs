//! Tests of documents, charts and sentences, in one binary: `cargo test -p hakaru-report --test it pages::` runs one
//! file.

mod answers;
mod charts;
mod foreign_names;
mod heat_maps;
mod hostile;
mod hostile_campaign;
mod hostile_paths;
mod japanese;
mod leaders;
mod look;
mod many_cards;
mod over_time;
mod pages;
mod parquet_table;
mod path_cost;
mod paths;
mod rounds;
mod sentences;
mod structure;
mod support;
