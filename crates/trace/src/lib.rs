//! Traces the path of I/Os: records block layer events, restores requests from them, attributes requests to what lies
//! at their addresses, and divides the time of each operation.
//!
//! ```text
//! recorder ─ TraceEvent ─> requests ─ TracedRequest ─┐
//! layout ──────────────── AddressMap ────────────────┼─> summary ─> IoPath
//! engine ─────────────── TracedOperation ────────────┘
//! ```

#![forbid(unsafe_code)]

pub mod address_map;
pub mod classify;
pub mod event;
pub mod layout;
pub mod recorder;
pub mod request;
pub mod requests;
pub mod summary;
mod sweep;
#[cfg(test)]
mod testing;

/// Returns the time by the clock of all events, in nanoseconds of `CLOCK_MONOTONIC_RAW`.
pub fn now() -> u64 {
    hakaru_sys::clock::monotonic_raw()
}
