//! Property tests for any input: quantities, requests, plans, stored records and findings; the blocks that jobs access;
//! tables of the properties of types; and exact values at the limits.
//!
//! Seeds are fixed, so that results are reproducible; `PROPTEST_RNG_SEED` sets another one.

mod anatomies;
mod coverage;
mod devices;
mod findings;
mod generate;
mod io_paths;
mod job_options;
mod judgments;
mod older;
mod option_values;
mod planned_files;
mod plans;
mod predicates;
mod quantities;
mod records;
mod refusals;
mod replay_plans;
mod reported;
mod requests;
mod skew;
mod statistics;
mod stored;
mod stream_passes;
mod stream_sizes;
mod unit_limits;
mod verdicts;
mod verify_plans;

use proptest::test_runner::{Config, RngSeed};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

/// Returns a value as it is stored, for changes.
fn to_tree(value: impl Serialize) -> serde_json::Result<Value> {
    serde_json::from_str(&serde_json::to_string(&value)?)
}

/// Reads a value as the database does.
fn from_tree<T: DeserializeOwned>(tree: Value) -> serde_json::Result<T> {
    hakaru_model::json::from_str(&tree.to_string())
}

/// Returns a configuration with this number of cases, the same in each run.
fn cases(cases: u32) -> Config {
    Config {
        cases,
        rng_seed: RngSeed::Fixed(2718),
        failure_persistence: None,
        ..Config::default()
    }
}
