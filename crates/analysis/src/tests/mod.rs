//! Tests of values at the limits of rules, of several modules.

mod bottlenecks;
mod claims;
mod conclusions;
mod estimates;
mod figures;
mod links;
mod lint;
mod pairs;
mod references;
mod repeated;
mod rounds;
mod statistics;
