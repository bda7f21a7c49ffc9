//! State while a scenario is resolved.

use super::writers::Writer;
use super::{Facts, SkippedJob};
use crate::caveat::Caveat;
use crate::rng::Rng;

/// State while a scenario is resolved. Facts change as earlier phases create files.
pub(super) struct Resolver {
    pub(super) facts: Facts,
    pub(super) caveats: Vec<Caveat>,
    pub(super) seeds: Rng,
    /// Workers planned so far, over all phases.
    pub(super) workers: u32,
    /// Workers whose writes can be verified.
    pub(super) writers: Vec<Writer>,
    /// Whether jobs that cannot run are skipped; otherwise they are errors.
    pub(super) skips: bool,
    pub(super) skipped: Vec<SkippedJob>,
}
