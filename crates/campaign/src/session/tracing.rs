//! Traces the path of the I/Os of a run: starts the recorders, passes them what the engine reports, and adds the paths
//! to the record.
//!
//! Nothing here can make a run fail. Events are taken from the rings by threads of the recorders; this module processes
//! them whenever the engine reports progress, on the thread that waits for the workers.

mod cost;
mod cost_run;
mod counters;
mod disk;
mod threads;

use self::disk::DiskTracer;
use super::RunRequest;
use super::forwarding::ObserverHook;
use hakaru_device::{DiskBelow, Roots};
use hakaru_engine::{ClockChoice, EngineReport, LayoutProgress, MeasuredPart, PhaseProgress};
use hakaru_model::caveat::Caveat;
use hakaru_model::io_path::{IoPath, TraceObstacle, TracedOperation};
use hakaru_model::job::{Durability, IoEngine};
use hakaru_model::plan::{PhasePlan, Plan, WorkerPlan};
use hakaru_model::record::PhaseRecord;
use hakaru_trace::recorder::{EventSet, TraceError};
use std::borrow::Cow;

/// The clock of kernel events, which also times the I/Os of a traced run.
static TRACE_CLOCK: ClockChoice = ClockChoice::Kernel { because: None };

/// How much of each phase is traced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TraceExtent {
    /// What remains after the cost of tracing was measured, where the phase is long enough for that.
    AfterCost,
    /// The whole measured part. The cost is not measured.
    Whole,
}

/// Tracing of one run.
pub(super) struct Tracing {
    disks: Vec<DiskTracer>,
    extent: TraceExtent,
    /// Disk of each file of the current phase.
    disk_of_file: Vec<Option<usize>>,
    /// Paths of the phase that has just been measured.
    measured: Vec<IoPath>,
    /// Paths of the phases that have ended.
    ended: Vec<Vec<IoPath>>,
}

impl Tracing {
    /// Starts to trace if the request asks for it; adds the clock and the caveat that follow from it.
    pub(super) fn requested<'r>(
        request: RunRequest<'r>,
        plan: &Plan,
    ) -> (RunRequest<'r>, Option<Tracing>) {
        let Some(extent) = request.trace else {
            return (request, None);
        };
        let tracing = Tracing::begin(plan, extent);
        let caveat = match &tracing {
            Ok(_) => Caveat::Traced,
            Err(because) => Caveat::NotTraced {
                because: because.clone(),
            },
        };
        let tracing = tracing.ok();
        let request = RunRequest {
            clock: match tracing {
                Some(_) => &TRACE_CLOCK,
                None => request.clock,
            },
            caveats: request.caveats.into_iter().chain([caveat]).collect(),
            ..request
        };
        (request, tracing)
    }

    /// Starts to record the events of all disks below the files of a plan.
    ///
    /// # Errors
    /// What prevents it.
    pub(super) fn begin(plan: &Plan, extent: TraceExtent) -> Result<Tracing, TraceObstacle> {
        let workers = || plan.phases.iter().flat_map(|phase| &phase.workers);
        if workers().any(|worker| worker.ioengine == IoEngine::Sim) {
            return Err(TraceObstacle::SimulatedCard);
        }
        let roots = Roots::live();
        let mut found: Vec<DiskBelow> = Vec::new();
        for file in plan.phases.iter().flat_map(|phase| &phase.files) {
            for disk in hakaru_device::disks_below(&file.path, &roots) {
                if found.iter().all(|known| known.number != disk.number) {
                    found.push(disk);
                }
            }
        }
        if found.is_empty() {
            return Err(TraceObstacle::NoBlockDevice);
        }
        let start = |below: DiskBelow| {
            let sets = plan.phases.iter().map(|phase| event_set(&below, phase));
            let most = sets.max().unwrap_or_default();
            DiskTracer::start(below, most)
        };
        let disks = found.into_iter().map(start).collect::<Result<_, _>>();
        Ok(Tracing {
            disks: disks.map_err(obstacle)?,
            extent,
            disk_of_file: Vec::new(),
            measured: Vec::new(),
            ended: Vec::new(),
        })
    }

    /// Adds the paths to the phases of a report, and a caveat for each phase whose events were lost.
    pub(super) fn complete(self, report: &mut EngineReport) {
        for (phase, paths) in report.phases.iter_mut().zip(self.ended) {
            phase.paths = paths;
            let lossy = |path: &&IoPath| path.tracer.lost_share() > IoPath::LOSS_LIMIT;
            for path in phase.paths.iter().filter(lossy) {
                let events = || path.tracer.events.iter();
                report.caveats.push(Caveat::EventsLost {
                    phase: phase.name.clone(),
                    of: events().map(|event| event.counted).sum(),
                    lost: events().map(|event| event.lost + event.missing).sum(),
                });
            }
        }
    }
}

impl ObserverHook for Tracing {
    fn workers_start(&mut self, phase: &PhasePlan) {
        let roots = Roots::live();
        let disk_of = |file: &hakaru_model::plan::FilePlan| {
            let below = hakaru_device::disks_below(&file.path, &roots);
            let number = below.first()?.number;
            self.disks.iter().position(|disk| disk.number() == number)
        };
        self.disk_of_file = phase.files.iter().map(disk_of).collect();
        for (index, disk) in self.disks.iter_mut().enumerate() {
            let is_used = self.disk_of_file.contains(&Some(index));
            disk.begin_phase(phase, is_used, self.extent);
        }
    }

    fn operations(&mut self, operations: &[TracedOperation]) {
        for operation in operations {
            let file = self.disk_of_file.get(operation.file as usize);
            if let Some(disk) = file.copied().flatten() {
                self.disks[disk].operation(operation);
            }
        }
    }

    fn laying_out(&mut self, _layout: &LayoutProgress<'_>) {
        // Events of the layout need no memory.
        self.disks.iter_mut().for_each(DiskTracer::take_events);
    }

    fn progress(&mut self, _phase: &PhasePlan, progress: &PhaseProgress) {
        for disk in &mut self.disks {
            disk.progress(progress);
        }
    }

    fn measured(&mut self, phase: &PhasePlan, part: &MeasuredPart) {
        let disks = self.disks.iter_mut();
        self.measured = disks
            .filter_map(|disk| disk.end_phase(phase, part))
            .collect();
    }

    fn phase_ends<'r>(&mut self, record: &'r PhaseRecord) -> Cow<'r, PhaseRecord> {
        let paths = std::mem::take(&mut self.measured);
        self.ended.push(paths.clone());
        Cow::Owned(PhaseRecord {
            paths,
            ..record.clone()
        })
    }
}

/// Returns the events to record in a phase. Each costs time: at depth 1 on a fast disk, those that only confirm others are
/// left out.
fn event_set(below: &DiskBelow, phase: &PhasePlan) -> EventSet {
    let workers = &phase.workers;
    let deep = workers.len() > 1 || workers.iter().any(|worker| worker.queue.iodepth > 1);
    if deep || below.is_slow() {
        return EventSet::Full;
    }
    let is_direct = workers.iter().all(issues_own_requests);
    match is_direct && below.is_block_device() && !below.has_scheduler() {
        true => EventSet::Minimal,
        false => EventSet::Lean,
    }
}

/// Whether a worker at depth 1 issues requests itself: nobody else writes back for it, and no flush is a request of the
/// kernel's own.
fn issues_own_requests(worker: &WorkerPlan) -> bool {
    let Durability {
        fsync_every,
        fdatasync_every,
        end_fsync,
        fsync_on_close,
        sync,
        dsync,
        range_sync,
    } = &worker.durability;
    let syncs = *fsync_every > 0
        || *fdatasync_every > 0
        || *end_fsync
        || *fsync_on_close
        || *sync
        || *dsync
        || range_sync.is_some();
    worker.files.direct && !syncs
}

/// Returns the obstacle of an error of the recorder.
fn obstacle(error: TraceError) -> TraceObstacle {
    match error {
        // Root lacks a capability only if it was taken away; sudo returns none of these.
        TraceError::TracefsNotMounted if rustix::process::geteuid().is_root() => {
            TraceObstacle::RestrictedRoot
        }
        TraceError::NoPermission { missing, .. }
            if !missing.is_empty() && rustix::process::geteuid().is_root() =>
        {
            TraceObstacle::RestrictedRoot
        }
        TraceError::NoPermission { missing, .. } => TraceObstacle::NoPermission {
            missing: missing
                .iter()
                .map(|capability| capability.to_string().to_lowercase())
                .collect(),
        },
        TraceError::UserNamespace => TraceObstacle::UserNamespace,
        TraceError::TracefsNotMounted => TraceObstacle::TracefsNotMounted,
        TraceError::NoTracefs => TraceObstacle::NoTracefs,
        TraceError::NoPerfEvents => TraceObstacle::NoPerfEvents,
        TraceError::MissingEvents { names } => TraceObstacle::MissingEvents { names },
        TraceError::RingMemory { bytes, .. } => TraceObstacle::RingMemory { bytes },
        TraceError::Descriptors { needed, limit } => TraceObstacle::Descriptors { needed, limit },
        TraceError::NoBlockDevice => TraceObstacle::NoBlockDevice,
        TraceError::Failed { operation, errno } => TraceObstacle::Failed {
            operation: operation.to_owned(),
            errno: errno.raw_os_error(),
        },
    }
}
