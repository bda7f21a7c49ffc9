//! Flow control (`flow`): workers whose I/O counts keep a ratio.

use hakaru_model::job::rules::FlowShare;
use hakaru_model::plan::WorkerPlan;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;

/// I/O counts of the workers of a phase divided by their weights, in thousandths; `None` without a
/// flow.
#[derive(Debug, Default)]
pub(crate) struct FlowCounters(Vec<Option<(u32, Arc<AtomicU64>)>>);

/// Count of a finished worker, which delays no other worker.
const DONE: u64 = u64::MAX;

impl FlowCounters {
    pub(crate) fn new(workers: &[WorkerPlan]) -> FlowCounters {
        let counter = |share: FlowShare| (share.id, Arc::new(AtomicU64::new(0)));
        FlowCounters(
            workers
                .iter()
                .map(|worker| worker.rate.flow.map(counter))
                .collect(),
        )
    }

    /// Removes a finished worker from its flow.
    pub(crate) fn leave(&self, worker: usize) {
        if let Some(Some((_, counter))) = self.0.get(worker) {
            counter.store(DONE, Relaxed);
        }
    }
}

/// One worker in its flow.
#[derive(Debug)]
pub(crate) struct FlowMember {
    share: FlowShare,
    mine: Arc<AtomicU64>,
    others: Vec<Arc<AtomicU64>>,
    /// Number of I/Os issued.
    ios: u64,
}

impl FlowMember {
    /// Returns `None` for a worker without a flow.
    pub(crate) fn new(
        flows: &FlowCounters,
        worker: usize,
        share: Option<FlowShare>,
    ) -> Option<FlowMember> {
        let share = share?;
        let mine = flows.0.get(worker)?.as_ref()?.1.clone();
        let others = flows.0.iter().enumerate().filter(|(at, _)| *at != worker);
        let others = others
            .filter_map(|(_, member)| member.as_ref())
            .filter(|(id, _)| *id == share.id)
            .map(|(_, counter)| counter.clone())
            .collect();
        Some(FlowMember {
            share,
            mine,
            others,
            ios: 0,
        })
    }

    /// Time to sleep before the next check, in nanoseconds.
    pub(crate) fn nap(&self) -> u64 {
        self.share.sleep.0.max(20_000)
    }

    /// Whether another worker is behind its share by more than one I/O of this worker.
    pub(crate) fn is_ahead(&self) -> bool {
        let slowest = self
            .others
            .iter()
            .map(|counter| counter.load(Relaxed))
            .min()
            .unwrap_or(DONE);
        let step = 1000 / u64::from(self.share.weight);
        slowest != DONE && self.mine.load(Relaxed) > slowest.saturating_add(step)
    }

    pub(crate) fn count(&mut self) {
        self.ios += 1;
        self.mine
            .store(self.ios * 1000 / u64::from(self.share.weight), Relaxed);
    }
}
