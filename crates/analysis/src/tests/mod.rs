//! Tests of values at the limits of rules, of several modules.

mod bottlenecks;
mod claims;
mod conclusions;
mod effects;
mod estimates;
mod figures;
mod links;
mod lint;
mod pairs;
mod ratios;
mod references;
mod repeated;
mod resampling;
mod rounds;
mod sample_checks;
mod statistics;
mod student;
