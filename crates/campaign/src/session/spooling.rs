//! Keeps what a run has measured so far beside the database, where a loss of power does not take it along.
//!
//! Workers are not asked for anything: their intervals come to the observer anyway, and a thread of the spool writes
//! them. While something is measured nothing is written to the device under test; where the database lies on it, what
//! was measured is kept between the phases only.

use hakaru_device::Roots;
use hakaru_engine::{Flow, LayoutProgress, LogChunk, Observer, PhaseProgress};
use hakaru_model::facts::{DeviceIdentity, Fact, Identity};
use hakaru_model::job::Target;
use hakaru_model::plan::PhasePlan;
use hakaru_model::record::{Interval, PhaseRecord, RunRecord};
use hakaru_store::{Spool, Store, WorkerHeader};
use std::collections::BTreeMap;
use std::path::Path;
use std::time::{Duration, Instant};

/// Between two lines of a spool at least.
const EVERY: Duration = Duration::from_secs(1);

/// Of a long phase a line covers this part, so that a spool of days stays small.
const PART: u32 = 1000;

/// The spool of a run, and what is to be written to it next.
#[derive(Debug)]
pub(crate) struct Spooling {
    spool: Spool,
    /// Whether it is written while a phase runs.
    live: bool,
    /// What each worker measured since the last line.
    pending: BTreeMap<usize, Interval>,
    phase_began: Instant,
    last: Instant,
}

impl Spooling {
    /// Begins it with the record as it is before anything is measured. None for what takes no time, and where the
    /// folder of the database cannot be written: the run itself is not worth less for that.
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

    /// Puts it between a run and its observer.
    pub(crate) fn before<'a>(&'a mut self, observer: &'a mut dyn Observer) -> SpoolingObserver<'a> {
        SpoolingObserver {
            spooling: self,
            observer,
        }
    }

    /// Removes it, once the record is stored or there is nothing to keep.
    pub(crate) fn remove(self) {
        self.spool.remove();
    }

    /// Leaves it where it is with the whole record, which could not be stored. Tells whether that is on the disk now.
    pub(crate) fn leave(self, record: &RunRecord) -> bool {
        self.spool.ended(record)
    }

    fn phase_begins(&mut self, phase: &PhasePlan) {
        self.pending.clear();
        (self.phase_began, self.last) = (Instant::now(), Instant::now());
        if self.live {
            let seat = |w: &hakaru_model::plan::WorkerPlan| WorkerHeader {
                name: w.name.clone(),
                job: w.job,
                clone: w.clone,
            };
            self.spool.phase_begins(
                &phase.name,
                crate::now_unix_ms(),
                phase.workers.iter().map(seat).collect(),
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

    fn phase_ends(&mut self, record: &PhaseRecord) {
        self.pending.clear();
        self.spool.phase_ends(record);
        if !self.live {
            // The next phase is not to be disturbed by it.
            self.spool.settle();
        }
    }
}

/// Whether writing to a database does not disturb what is measured on a target.
fn lies_apart(target: &Identity, database: &Path) -> bool {
    let roots = Roots::live();
    match (
        &target.device,
        hakaru_device::identify(database, &roots).device,
    ) {
        (Fact::Known(target), Fact::Known(store)) => share_nothing(target, &store),
        // Memory or a network, which is no device under test.
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

/// An observer that keeps what it sees, and passes everything on.
pub(crate) struct SpoolingObserver<'a> {
    spooling: &'a mut Spooling,
    observer: &'a mut dyn Observer,
}

impl Observer for SpoolingObserver<'_> {
    fn phase_begins(&mut self, index: usize, phase: &PhasePlan) {
        self.spooling.phase_begins(phase);
        self.observer.phase_begins(index, phase);
    }

    fn laying_out(&mut self, layout: &LayoutProgress<'_>) -> Flow {
        self.observer.laying_out(layout)
    }

    fn progress(&mut self, phase: &PhasePlan, progress: &PhaseProgress) -> Flow {
        self.observer.progress(phase, progress)
    }

    fn interval(&mut self, worker: usize, interval: &Interval) {
        self.spooling.interval(worker, interval);
        self.observer.interval(worker, interval);
    }

    fn log(&mut self, worker: usize, chunk: &LogChunk) {
        self.observer.log(worker, chunk);
    }

    fn wants_so_far(&mut self) -> bool {
        self.observer.wants_so_far()
    }

    fn so_far(&mut self, index: usize, record: &PhaseRecord) {
        self.observer.so_far(index, record);
    }

    fn phase_ends(&mut self, record: &PhaseRecord) -> Flow {
        self.spooling.phase_ends(record);
        self.observer.phase_ends(record)
    }
}
