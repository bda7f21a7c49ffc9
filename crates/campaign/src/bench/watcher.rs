//! The interface to whoever watches a suite.

use hakaru_engine::Observer;
use hakaru_model::caveat::Caveat;
use hakaru_model::record::RunRecord;
use hakaru_store::live::LivePublisher;

/// Callbacks for the progress of a suite.
pub trait Watcher: Observer {
    /// Called while the temporary file is written.
    fn filling(&mut self, _done: u64, _total: u64) {}
    /// Called at the start of a round.
    fn round(&mut self, _number: u32, _of: u32) {}
    /// Called at the start of the round that traces the path of the I/Os, which is the last one.
    fn traced_round(&mut self) {}
    /// Called before the first round if no round can be traced, with the [`Caveat::NotTraced`] of all rounds.
    fn not_traced(&mut self, _because: &Caveat) {}
    /// Called after a round is stored.
    fn stored(&mut self, _record: &RunRecord) {}
    /// Returns the publisher of the progress for other processes.
    fn live(&self) -> Option<LivePublisher> {
        None
    }
}
