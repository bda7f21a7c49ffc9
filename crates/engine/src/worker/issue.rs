//! How a worker's I/Os are issued: the backend, and the content of its buffers.

use super::flush_state::FlushState;
use crate::backend::Files;
use crate::content::Content;
use hakaru_model::job::BufferContent;
use hakaru_model::plan::WorkerPlan;

/// The backend with its buffers, and the work around writes: content before, flushes after.
pub(super) struct Issue<B> {
    pub(super) backend: B,
    pub(super) content: Content,
    /// Mark of the next write; each mark is derived from the previous one.
    pub(super) stamp: u64,
    pub(super) scramble: bool,
    /// Whether the whole buffer is refilled before each write.
    pub(super) fills_anew: bool,
    pub(super) flushes: FlushState,
    /// Number of I/Os in the last batch of completions.
    pub(super) last_batch: usize,
}

impl<B: Files> Issue<B> {
    /// Fills the buffers, so that nothing is generated later. With `checked`, a checker fills each write.
    pub(super) fn new(plan: &WorkerPlan, backend: B, checked: bool) -> Issue<B> {
        let mut issue = Issue {
            backend,
            content: Content::new(plan),
            stamp: plan.seed,
            scramble: !checked
                && plan.buffers.scramble
                && matches!(
                    plan.buffers.fill,
                    BufferContent::Random | BufferContent::Compressible(_)
                ),
            fills_anew: checked || plan.buffers.refill,
            flushes: FlushState::new(plan),
            last_batch: 0,
        };
        if plan.writes {
            issue.content.fill_all(issue.backend.buffers());
        }
        issue
    }
}
