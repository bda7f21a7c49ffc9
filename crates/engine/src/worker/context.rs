//! What a worker gets from the run.

use crate::clock::ClockChoice;
use crate::error::RunError;
use crate::files;
use crate::iolog::LogChunk;
use crate::shared::{Message, PhaseShared};
use crate::sim::backend::SimScheduler;
use hakaru_model::caveat::Caveat;
use hakaru_model::plan::{FilePlan, WorkerPlan};
use rustix::fd::OwnedFd;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender};

/// Context of a worker thread.
#[derive(Debug)]
pub(crate) struct WorkerContext<'a> {
    pub(crate) index: usize,
    pub(crate) plan: &'a WorkerPlan,
    /// Names of the files of its regions, for errors.
    pub(crate) files: &'a [String],
    /// Setup for opening its files.
    pub(crate) setup: &'a PhaseSetup<'a>,
    pub(crate) shared: &'a PhaseShared,
    pub(crate) messages: &'a SyncSender<Message>,
    /// Receives the log chunks that can be filled again.
    pub(crate) chunks: Receiver<Box<LogChunk>>,
    /// Returns milliseconds since 1970 UTC.
    pub(crate) wall_clock: fn() -> i64,
    /// Workers that must finish before it starts.
    pub(crate) waits_for: Vec<usize>,
}

/// Shared setup for the workers of a phase.
#[derive(Debug)]
pub(crate) struct PhaseSetup<'a> {
    pub(crate) files: &'a [FilePlan],
    pub(crate) clock: &'a ClockChoice,
    /// The simulated card, and its start time.
    pub(crate) sim: Option<(Arc<SimScheduler>, u64)>,
    pub(crate) direct_fallback: bool,
    pub(crate) replace_engines: bool,
    /// Whether workers record each operation with its times.
    pub(crate) records_operations: bool,
}

impl PhaseSetup<'_> {
    /// Returns the files of a worker's regions, in their order.
    pub(crate) fn files_of(&self, plan: &WorkerPlan) -> impl Iterator<Item = &FilePlan> + Clone {
        let files = plan.stream.regions.iter().map(|region| region.file);
        files.filter_map(|file| self.files.get(file as usize))
    }

    /// Opens the files of a worker's regions, in their order.
    pub(crate) fn open(
        &self,
        plan: &WorkerPlan,
        caveats: &mut Vec<Caveat>,
    ) -> Result<Vec<OwnedFd>, RunError> {
        files::open_all(plan, self.files, self.direct_fallback, caveats)
    }
}
