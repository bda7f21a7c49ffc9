//! Laws that hold for any input: quantities, requests, plans, stored records and findings.
//!
//! Seeds are fixed, so that a run that passes passes again; `PROPTEST_RNG_SEED` draws others.

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

/// So many cases, the same ones in each run.
fn cases(cases: u32) -> Config {
    Config {
        cases,
        rng_seed: RngSeed::Fixed(2718),
        failure_persistence: None,
        ..Config::default()
    }
}
