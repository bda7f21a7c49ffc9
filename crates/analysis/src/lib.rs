//! Statistics and findings over records and numbers: pure functions, no I/O, no clock, no unseeded randomness, no prose.
//!
//! [`stats`] knows nothing of storage: it sees slices of numbers.

#![forbid(unsafe_code)]

pub mod advice;
pub mod claims;
pub mod cliff;
pub mod compare;
pub mod estimate;
pub mod figures;
pub mod limits;
#[cfg(test)]
mod simulated;
pub mod stats;
pub mod steady;
pub mod summarize;
#[cfg(test)]
mod testing;

pub use advice::{advise, default_rules, rules_with};
pub use claims::{check_claims, claims};
pub use cliff::cliff;
pub use compare::{compare, compare_family, compare_summaries};
pub use estimate::estimate;
pub use figures::figure;
pub use limits::{bus_limit, layer_cost};
pub use steady::steady_state;
pub use summarize::summarize;
