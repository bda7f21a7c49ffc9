//! Inputs and result of a run.

use crate::clock::ClockChoice;
use crate::error::RunError;
use hakaru_model::caveat::Caveat;
use hakaru_model::record::{Outcome, PhaseRecord};
use hakaru_model::units::Bytes;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

/// Interval between progress reports to the observer.
pub(super) const LOOK: Duration = Duration::from_millis(100);

/// Options and inputs of a run.
#[derive(Debug)]
pub struct RunOptions<'a> {
    /// The clock that times I/Os.
    pub clock: &'a ClockChoice,
    /// Set by another thread to end the run; partial results are kept.
    pub stop: &'a AtomicBool,
    /// Uses the page cache with a caveat if O_DIRECT is rejected; otherwise that is an error.
    pub direct_fallback: bool,
    /// Uses the next best engine with a caveat if the requested one is missing; otherwise that is
    /// an error.
    pub replace_engines: bool,
    /// Records each I/O and each flush with its times, and passes them to the observer. Needs the kernel's clock; with
    /// another clock, nothing is recorded.
    pub record_operations: bool,
    /// Returns ms since 1970 UTC; called once per phase.
    pub wall_clock: fn() -> i64,
}

/// Result of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct EngineReport {
    /// Phases that were measured completely or in part.
    pub phases: Vec<PhaseRecord>,
    /// Findings that affect how far the numbers can be trusted.
    pub caveats: Vec<Caveat>,
    /// Bytes written to lay out files before any measurement.
    pub laid_out: Bytes,
    /// How the run ended.
    pub outcome: Outcome,
    /// Error that ended the run, for the exit code.
    pub error: Option<RunError>,
}
