//! Statistics and findings over records and numbers: pure functions, no I/O, no clock, no unseeded randomness, no prose.
//!
//! ```text
//! RunRecord, RunRecord, …  ─ summarize ─>  Summary ─┬─ compare_summaries, layer_cost (two)  ─>  Comparison
//!                                                   ├─ check_claims, bus_limit              ─>  ClaimCheck, BusLimit
//!                                                   └─ figure ─ advise (rules)              ─>  Advice
//! ```
//! [`stats`] below all of them knows nothing of storage: it sees slices of numbers. Numbers that decide (what is short,
//! what is far, what is relevant) are public constants, each with its reason.

#![forbid(unsafe_code)]

pub mod advice;
pub mod campaign;
pub mod claims;
pub mod cliff;
pub mod compare;
pub mod estimate;
pub mod figures;
pub mod findings;
pub mod headline;
pub mod limits;
pub mod lint;
pub mod references;
pub mod repeated;
#[cfg(test)]
mod simulated;
pub mod stats;
pub mod steady;
pub mod summarize;
#[cfg(test)]
mod testing;

pub use advice::{advise, default_rules, rules_with};
pub use campaign::{join, rank};
pub use claims::{check_claims, claims};
pub use cliff::{Falls, cliff, falls};
pub use compare::{compare, compare_all, compare_family, compare_summaries};
pub use estimate::estimate;
pub use figures::figure;
pub use findings::findings;
pub use headline::headline;
pub use limits::{bus_limit, layer_cost, layer_costs};
pub use lint::{ended_early, lint};
pub use references::{published_shelf, standings};
pub use repeated::repeated;
pub use steady::steady_state;
pub use summarize::summarize;
