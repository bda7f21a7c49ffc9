//! Saves partial results of a run next to the database, where they survive a power loss.
//!
//! Workers do no extra work: the observer receives their intervals anyway, and the spool thread writes them. Nothing
//! is written to the device under test during a phase; if the database is on that device, results are saved only
//! between phases.

use super::forwarding::ObserverHook;
use hakaru_device::Roots;
use hakaru_model::facts::{DeviceIdentity, Fact, Identity};
use hakaru_model::job::Target;
use hakaru_model::plan::PhasePlan;
use hakaru_model::record::{Interval, PhaseRecord, RunRecord};
use hakaru_store::{Spool, Store, WorkerHeader};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::path::Path;
use std::time::{Duration, Instant};

/// Minimum time between two lines of a spool.
const EVERY: Duration = Duration::from_secs(1);

/// Fraction (1/N) of the elapsed phase that a line covers at least, so that spools of long phases stay small.
const PART: u32 = 1000;

/// The spool of a run, and its pending intervals.
#[derive(Debug)]
pub(crate) struct Spooling {
    spool: Spool,
    /// Whether lines are written while a phase runs.
    live: bool,
    /// Intervals of each worker since the last line.
    pending: BTreeMap<usize, Interval>,
    phase_began: Instant,
    last: Instant,
}

impl Spooling {
    /// Creates the spool with the record before the measurement. Returns `None` for simulated runs, and if the
    /// directory of the database is not writable; the run continues without a spool.
    pub(crate) fn begin(store: &Store, begun: &RunRecord) -> Option<Spooling> {
        let mut jobs = begun.scenario.phases.iter().flat_map(|phase| &phase.jobs);
        if jobs.all(|job| matches!(job.target, Target::Sim(_))) {
            return None;
        }
        let live = lies_apart(&begun.target, store.path());
        let spool = store.spool(begun).ok()?;
        let now = Instant::now();
        Some(Spooling {
            spool,
            live,
            pending: BTreeMap::new(),
            phase_began: now,
            last: now,
        })
    }

    /// Removes the spool once the record is stored or there is nothing to keep.
    pub(crate) fn remove(self) {
        self.spool.remove();
    }

    /// Keeps the spool with the complete record, which could not be stored. Returns whether it is on disk.
    pub(crate) fn leave(self, record: &RunRecord) -> bool {
        self.spool.ended(record)
    }
}

impl ObserverHook for Spooling {
    fn phase_begins(&mut self, _index: usize, phase: &PhasePlan) {
        self.pending.clear();
        (self.phase_began, self.last) = (Instant::now(), Instant::now());
        if self.live {
            let location = |w: &hakaru_model::plan::WorkerPlan| WorkerHeader {
                name: w.name.clone(),
                job: w.job,
                clone: w.clone,
            };
            self.spool.phase_begins(
                &phase.name,
                crate::now_unix_ms(),
                phase.workers.iter().map(location).collect(),
            );
        }
    }

    fn interval(&mut self, worker: usize, interval: &Interval) {
        if !self.live {
            return;
        }
        self.pending
            .entry(worker)
            .and_modify(|before| before.join(interval))
            .or_insert(*interval);
        if self.last.elapsed() >= EVERY.max(self.phase_began.elapsed() / PART) {
            self.last = Instant::now();
            self.spool
                .so_far(std::mem::take(&mut self.pending).into_iter().collect());
        }
    }

    fn phase_ends<'r>(&mut self, record: &'r PhaseRecord) -> Cow<'r, PhaseRecord> {
        self.pending.clear();
        self.spool.phase_ends(record);
        if !self.live {
            // The write must not disturb the next phase.
            self.spool.settle();
        }
        Cow::Borrowed(record)
    }
}

/// Whether writes to a database do not affect measurements of a target.
fn lies_apart(target: &Identity, database: &Path) -> bool {
    let roots = Roots::live();
    match (
        &target.device,
        hakaru_device::identify(database, &roots).device,
    ) {
        (Fact::Known(target), Fact::Known(store)) => share_nothing(target, &store),
        // The database is in memory or on a network, which is not the device under test.
        (Fact::Known(_), Fact::Unknown(_)) => true,
        (Fact::Unknown(_), _) => false,
    }
}

fn share_nothing(one: &DeviceIdentity, other: &DeviceIdentity) -> bool {
    let devices = |identity: &DeviceIdentity| -> Vec<String> {
        let names = identity.chain.iter().map(|link| link.name.clone());
        names.chain([identity.kname.clone()]).collect()
    };
    let others = devices(other);
    !devices(one).iter().any(|name| others.contains(name))
}
