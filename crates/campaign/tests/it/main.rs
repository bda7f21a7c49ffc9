//! Tests of sessions and campaigns, in one binary: `cargo test -p hakaru-campaign --test it session::` runs one file.

mod campaign_files;
mod campaign_on_sim;
mod in_use;
mod many_runs;
mod on_loop;
mod published_report;
mod session;
mod statistics_on_sim;
mod suite_on_sim;
