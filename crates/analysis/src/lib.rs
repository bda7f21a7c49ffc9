//! Statistics and findings from records and numbers: pure functions without I/O, clocks, unseeded randomness or texts.
//!
//! ```text
//! RunRecord, RunRecord, …  ─ summarize ─>  Summary ─┬─ compare_summaries, layer_cost (two)  ─>  Comparison
//!                                                   ├─ check_claims, bus_limit              ─>  ClaimCheck, BusLimit
//!                                                   └─ figure ─ advise (rules)              ─>  Advice
//! ```
//! [`stats`] is the base of all of them and independent of storage: it works on slices of numbers. Thresholds (what is
//! short, an outlier, or relevant) are public constants, each with its reason.

#![forbid(unsafe_code)]

pub mod advice;
pub mod campaign;
pub mod claims;
pub mod cliff;
pub mod compare;
pub mod conclusion;
pub mod estimate;
pub mod figures;
pub mod findings;
pub mod headline;
pub mod history;
pub mod hosts;
pub mod io_path;
pub mod limits;
pub mod lint;
pub mod rank;
pub mod references;
pub mod repeated;
pub mod rounds;
#[cfg(test)]
mod simulated;
pub mod stats;
pub mod steady;
pub mod summarize;
#[cfg(test)]
mod testing;

pub use advice::{advise, advise_layer, default_rules, rules_with};
pub use campaign::{join, rank};
pub use claims::{check_claims, claims};
pub use cliff::{Falls, falls};
pub use compare::{compare_family, compare_summaries};
pub use conclusion::conclude_pair;
pub use estimate::estimate;
pub use figures::figure;
pub use findings::findings;
pub use headline::headline;
pub use history::history;
pub use hosts::compare_hosts;
pub use io_path::{compare_paths, compare_traced, path_findings, price_model};
pub use limits::{bus_limit, layer_cost, layer_costs};
pub use lint::{ended_early, lint};
pub use rank::{rank_uses, rank_values};
pub use references::{published_references, standings};
pub use repeated::repeated;
pub use summarize::summarize;

#[cfg(test)]
mod tests;
