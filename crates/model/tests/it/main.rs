//! Property tests for any input: quantities, requests, plans, stored records and findings; and the blocks that jobs
//! access.
//!
//! Seeds are fixed, so that results are reproducible; `PROPTEST_RNG_SEED` sets another one.

mod coverage;
mod findings;
mod generate;
mod older;
mod plans;
mod quantities;
mod refusals;
mod requests;
mod skew;
mod statistics;
mod stored;

use proptest::test_runner::{Config, RngSeed};

/// Returns a configuration with this number of cases, the same in each run.
fn cases(cases: u32) -> Config {
    Config {
        cases,
        rng_seed: RngSeed::Fixed(2718),
        failure_persistence: None,
        ..Config::default()
    }
}
