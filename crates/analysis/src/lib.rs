//! Statistics and findings over records and numbers: pure functions, no I/O, no clock, no unseeded randomness, no prose.
//!
//! [`stats`] knows nothing of storage: it sees slices of numbers.

#![forbid(unsafe_code)]

pub mod stats;
#[cfg(test)]
mod testing;
