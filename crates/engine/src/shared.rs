//! What workers and the conductor of a run share: a stop flag, progress counters, and messages.

use hakaru_model::record::{Interval, WorkerRecord};
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64};
use std::sync::{Condvar, Mutex};

/// Progress of one worker, published a few times a second. On cache lines of its own.
#[derive(Debug, Default)]
#[repr(align(128))]
pub(crate) struct Published {
    pub(crate) ios: [AtomicU64; 3],
    pub(crate) bytes: [AtomicU64; 3],
    pub(crate) measuring: AtomicBool,
    /// Share of a job that ends by bytes, in thousandths.
    pub(crate) permille: AtomicU32,
}

/// What all workers of a phase see.
#[derive(Debug)]
pub(crate) struct Shared {
    pub(crate) stop: AtomicBool,
    /// A worker ended that ends the others.
    pub(crate) ended: AtomicBool,
    pub(crate) progress: Vec<Published>,
    pub(crate) gate: Gate,
}

impl Shared {
    pub(crate) fn new(workers: usize) -> Shared {
        let progress = (0..workers).map(|_| Published::default()).collect();
        Shared { stop: AtomicBool::new(false), ended: AtomicBool::new(false), progress, gate: Gate::default() }
    }
}

/// What a worker tells the conductor.
#[derive(Debug)]
pub(crate) enum Message {
    /// Everything is open and filled.
    Ready,
    /// It cannot begin.
    Failed(crate::error::RunError),
    /// An interval is over.
    Interval { worker: usize, interval: Interval },
    /// It is done.
    Finished { worker: usize, record: Box<WorkerRecord> },
}

/// Where workers wait until all are ready.
#[derive(Debug, Default)]
pub(crate) struct Gate {
    open: Mutex<Option<bool>>,
    changed: Condvar,
}

impl Gate {
    /// Lets everybody go (`true`) or go home (`false`).
    pub(crate) fn decide(&self, go: bool) {
        *self.open.lock().unwrap_or_else(std::sync::PoisonError::into_inner) = Some(go);
        self.changed.notify_all();
    }

    /// Waits for the decision.
    pub(crate) fn wait(&self) -> bool {
        let mut open = self.open.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        loop {
            if let Some(go) = *open {
                return go;
            }
            open = self.changed.wait(open).unwrap_or_else(std::sync::PoisonError::into_inner);
        }
    }
}
