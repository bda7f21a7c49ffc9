//! A session: one run, from the inspection of its target to the stored record.
//!
//! ```text
//! Session::inspect(scenario) ─ plan(policy) ─> PlannedSession ─ run(request, store, observer) ─> RunResult
//! ```
//! Results of stored runs are also spooled, and the environment is recorded before the measurement.

mod forwarding;
mod publishing;
mod spooling;
mod tracing;
mod unstarted;
mod unstored;

pub use tracing::TraceExtent;
pub use unstored::{UnstoredCopy, UnstoredRecord};

use crate::ids::{new_id, now_unix_ms};
use forwarding::ObserverHook;
use hakaru_device::guard::{self, Refusal};
use hakaru_device::{InspectError, PathInspector, Roots};
use hakaru_engine::{ClockChoice, EngineReport, Observer, RunError, RunOptions};
use hakaru_model::campaign::CampaignPoint;
use hakaru_model::caveat::Caveat;
use hakaru_model::facts::{Environment, Fact, Identity, TargetKind, UnknownReason};
use hakaru_model::io_path::TraceObstacle;
use hakaru_model::job::Scenario;
use hakaru_model::plan::{Facts, LayOut, Plan, PlanError};
use hakaru_model::record::{FORMAT, Origin, Outcome, Overhead, PhaseRecord, RunRecord};
use hakaru_model::units::Bytes;
use hakaru_store::Store;
use hakaru_store::live::LivePublisher;
use publishing::Publishing;
use spooling::Spooling;
use std::collections::{BTreeMap, BTreeSet};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use tracing::Tracing;

/// How strictly a session follows its scenario.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SessionPolicy {
    /// Replaces an unavailable I/O engine or `O_DIRECT` and adds a caveat; if false, the run fails instead.
    pub substitutes: bool,
    /// Skips jobs that cannot run and records the reason; if false, they are an error.
    pub skips_jobs: bool,
    /// Refuses to write to devices in use. False only for callers that hold the target themselves.
    pub guards_devices: bool,
}

impl SessionPolicy {
    /// Policy of `bench` and campaigns, whose target is a scratch file or held by the guard.
    pub const BENCH: SessionPolicy = SessionPolicy {
        substitutes: true,
        skips_jobs: false,
        guards_devices: false,
    };
    /// Policy of the iozone front end: no substitutions.
    pub const IOZONE: SessionPolicy = SessionPolicy {
        substitutes: false,
        skips_jobs: false,
        guards_devices: true,
    };
    /// Policy of the fio front end: a job that cannot run does not prevent the others.
    pub const FIO: SessionPolicy = SessionPolicy {
        skips_jobs: true,
        ..SessionPolicy::IOZONE
    };
}

/// Position of a run in its series.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SeriesPosition {
    /// ID that all repeats share; `None` starts a new series.
    pub id: Option<String>,
    /// Number of the repeat, from 0.
    pub repeat: u32,
}

/// Parameters of one run of a planned session, and additional content of its record.
#[derive(Debug)]
pub struct RunRequest<'a> {
    /// The clock that times I/Os.
    pub clock: &'a ClockChoice,
    /// Set by another thread to stop the run; results until then are kept.
    pub stop: &'a AtomicBool,
    /// Identity of the storage, determined before the run. If `None`, the storage of the first path is inspected, but
    /// only for a run that is stored.
    pub identity: Option<&'a Identity>,
    /// Position in the series.
    pub series: SeriesPosition,
    /// Overhead of this program, measured before the run.
    pub overhead: Option<Overhead>,
    /// Caveats that were found before the run.
    pub caveats: Vec<Caveat>,
    /// The campaign point of the run.
    pub campaign: Option<CampaignPoint>,
    /// Whether to trace the path of the I/Os, and how much of it. If that is not possible, the record has a caveat with
    /// the reason.
    pub trace: Option<TraceExtent>,
    /// Publishes the progress of the run for other processes.
    pub live: Option<LivePublisher>,
}

impl<'a> RunRequest<'a> {
    /// Returns the request for a run outside a series or campaign.
    pub fn single(clock: &'a ClockChoice, stop: &'a AtomicBool) -> RunRequest<'a> {
        RunRequest {
            clock,
            stop,
            identity: None,
            series: SeriesPosition::default(),
            overhead: None,
            caveats: Vec::new(),
            campaign: None,
            trace: None,
            live: None,
        }
    }
}

/// Result of a run.
#[derive(Debug)]
pub struct RunResult {
    /// The record. It is already stored if there is a store and anything was measured.
    pub record: RunRecord,
    /// The error that ended the run, if any.
    pub error: Option<RunError>,
    /// The error if the record could not be stored.
    pub unstored: Option<UnstoredRecord>,
}

/// Errors that prevent a run.
#[derive(Debug, thiserror::Error)]
pub enum SessionError {
    /// The target cannot be inspected.
    #[error(transparent)]
    Inspect(#[from] InspectError),
    /// The scenario does not fit the target.
    #[error(transparent)]
    Plan(#[from] PlanError),
    /// The run would write to a device that is in use.
    #[error("{refusal}; {}", .refusal.cure())]
    InUse {
        /// The reason for the refusal.
        #[from]
        refusal: Refusal,
    },
    /// Nothing was measured.
    #[error(transparent)]
    Run(RunError),
}

/// A scenario and the facts about its paths.
#[derive(Debug)]
pub struct Session<'a> {
    scenario: &'a Scenario,
    facts: Facts,
}

impl<'a> Session<'a> {
    /// Inspects all paths of a scenario. Changes nothing.
    ///
    /// # Errors
    /// [`SessionError::Inspect`] for the first path that cannot be inspected.
    pub fn inspect(scenario: &'a Scenario) -> Result<Session<'a>, SessionError> {
        let mut inspector = PathInspector::default();
        let mut look = |path: PathBuf| -> Result<_, InspectError> {
            Ok((path.clone(), inspector.inspect(&path)?))
        };
        let facts = scenario.paths().into_iter().map(&mut look);
        let mut facts = facts.collect::<Result<Facts, InspectError>>()?;
        // Paths that are only named need not exist.
        let named = scenario
            .unopened_paths()
            .into_iter()
            .filter_map(|path| look(path).ok());
        for (path, found) in named {
            facts.entry(path).or_insert(found);
        }
        Ok(Session { scenario, facts })
    }

    /// Returns the facts about each path.
    pub fn facts(&self) -> &Facts {
        &self.facts
    }

    /// Plans the scenario for its target. Changes nothing.
    ///
    /// # Errors
    /// [`SessionError::Plan`], or [`SessionError::InUse`] if the policy guards devices.
    pub fn plan(self, policy: SessionPolicy) -> Result<PlannedSession<'a>, SessionError> {
        let Session { scenario, facts } = self;
        let plan = match policy.skips_jobs {
            true => Plan::resolve_what_fits(scenario, &facts)?,
            false => Plan::resolve(scenario, &facts)?,
        };
        if policy.guards_devices {
            refuse_devices_in_use(&plan)?;
        }
        Ok(PlannedSession {
            scenario,
            facts,
            policy,
            plan,
        })
    }
}

/// A scenario that is planned for its target and ready to run.
#[derive(Debug)]
pub struct PlannedSession<'a> {
    scenario: &'a Scenario,
    facts: Facts,
    policy: SessionPolicy,
    plan: Plan,
}

impl PlannedSession<'_> {
    /// Returns the plan.
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// Returns the facts about each path.
    pub fn facts(&self) -> &Facts {
        &self.facts
    }

    /// Returns what prevents tracing the path of the I/Os, if anything. Records events of the disk for a moment.
    pub fn trace_obstacle(&self) -> Option<TraceObstacle> {
        Tracing::begin(&self.plan, TraceExtent::Whole).err()
    }

    /// Adds the work that did not begin to the first phases of this plan: the remaining phases, and skipped jobs.
    pub fn with_unbegun(&self, mut phases: Vec<PhaseRecord>) -> Vec<PhaseRecord> {
        unstarted::add_unbegun(&self.plan, &mut phases);
        unstarted::add_skipped(self.scenario, &self.plan, &mut phases);
        phases
    }

    /// Runs the plan. With a store, partial results are spooled next to it, and the record is appended before it is
    /// used.
    ///
    /// # Errors
    /// [`SessionError::Run`] if nothing was measured. If the policy skips jobs, there is no error, and the record
    /// shows which jobs could not begin.
    pub fn run(
        &self,
        request: RunRequest<'_>,
        store: Option<&mut Store>,
        observer: &mut dyn Observer,
    ) -> Result<RunResult, SessionError> {
        let (request, tracing) = Tracing::requested(request, &self.plan);
        let live = request.live.as_ref();
        let mut live = live.map(|live| Publishing::begin(live, &self.plan));
        let options = RunOptions {
            record_operations: tracing.is_some(),
            ..self.options(&request)
        };
        let known = request.caveats.clone();
        let begun = self.record_before(request, store.is_some());
        let mut spool = store
            .as_deref()
            .and_then(|store| Spooling::begin(store, &begun));
        let mut observer = spool.before(observer);
        let report = self.execute(&options, tracing, &mut live.before(&mut observer));
        let store = store.filter(|_| !report.phases.is_empty());
        if report.phases.is_empty() && !self.policy.skips_jobs {
            spool.into_iter().for_each(Spooling::remove);
            let error = report.error.unwrap_or(RunError::StoppedEarly);
            return Err(SessionError::Run(error));
        }
        let (record, error) = self.record_after(begun, report, &known);
        Ok(RunResult {
            unstored: append(store, &record, spool),
            record,
            error,
        })
    }

    /// Runs the engine, and traces it if wanted.
    fn execute(
        &self,
        options: &RunOptions<'_>,
        tracing: Option<Tracing>,
        observer: &mut dyn Observer,
    ) -> EngineReport {
        let Some(mut tracing) = tracing else {
            return hakaru_engine::run(&self.plan, options, observer);
        };
        let mut report = hakaru_engine::run(&self.plan, options, &mut tracing.before(observer));
        tracing.complete(&mut report);
        report
    }

    fn options<'r>(&self, request: &RunRequest<'r>) -> RunOptions<'r> {
        RunOptions {
            clock: request.clock,
            stop: request.stop,
            direct_fallback: self.policy.substitutes,
            replace_engines: self.policy.substitutes,
            record_operations: false,
            wall_clock: now_unix_ms,
        }
    }

    /// Completes the record with the results of the engine; `known` are caveats that were found before the run.
    fn record_after(
        &self,
        begun: RunRecord,
        report: EngineReport,
        known: &[Caveat],
    ) -> (RunRecord, Option<RunError>) {
        let EngineReport {
            mut phases,
            caveats,
            laid_out,
            outcome,
            error,
        } = report;
        if self.policy.skips_jobs {
            unstarted::add_failed(self.scenario, &self.plan, error.as_ref(), &mut phases);
        }
        let record = RunRecord {
            phases,
            caveats: with_circumstances(caveats, known, &begun.target),
            outcome,
            // The estimate may be too low: files that fill a file system use the actual free space.
            campaign: begun
                .campaign
                .map(|point| CampaignPoint { laid_out, ..point }),
            ..begun
        };
        (record, error)
    }

    /// Returns the record before the measurement. Device and host are inspected only for a run that is stored or
    /// whose storage is known, because the inspection takes longer than a short run.
    fn record_before(&self, request: RunRequest<'_>, stored: bool) -> RunRecord {
        let id = new_id();
        let (target, environment) = self.circumstances(&request, stored);
        let caveats = self.plan.caveats.clone();
        RunRecord {
            format: FORMAT,
            series: request.series.id.unwrap_or_else(|| id.clone()),
            id,
            repeat: request.series.repeat,
            started_unix_ms: now_unix_ms(),
            origin: Origin::Measured {
                version: env!("CARGO_PKG_VERSION").to_owned(),
            },
            scenario: self.scenario.clone(),
            caveats: with_circumstances(caveats, &request.caveats, &target),
            target,
            environment,
            phases: Vec::new(),
            outcome: Outcome::Interrupted,
            overhead: request.overhead,
            campaign: request.campaign.map(|point| CampaignPoint {
                laid_out: to_lay_out(&self.plan, &self.facts),
                ..point
            }),
        }
    }

    fn circumstances(&self, request: &RunRequest<'_>, stored: bool) -> (Identity, Environment) {
        let target = match request.identity {
            Some(identity) => identity.clone(),
            None => self.identity(stored),
        };
        let environment = match stored || request.identity.is_some() {
            true => hakaru_device::environment(&Roots::live(), request.clock.name()),
            false => Environment::default(),
        };
        let point = request.campaign.as_ref();
        let assigned = point.and_then(|point| point.assignment.as_ref());
        let environment = match assigned {
            // Every selection and comparison by host then uses the name that is unique in the fleet.
            Some(assigned) => Environment {
                hostname: assigned.host.clone(),
                ..environment
            },
            None => environment,
        };
        (target, environment)
    }

    /// Returns the identity of the storage of the first path, or of its directory if the file does not exist yet.
    fn identity(&self, look: bool) -> Identity {
        let path = self.facts.keys().next().cloned().unwrap_or_default();
        if look && !path.as_os_str().is_empty() {
            let folder = || {
                path.parent()
                    .filter(|folder| !folder.as_os_str().is_empty())
            };
            let place = match path.exists() {
                true => &path,
                false => folder().unwrap_or(Path::new(".")),
            };
            // The stored path is absolute, so that it is valid in any directory.
            let place = std::fs::canonicalize(place).unwrap_or_else(|_| place.to_owned());
            return hakaru_device::identify(&place, &Roots::live());
        }
        Identity {
            kind: self
                .facts
                .get(&path)
                .map_or(TargetKind::Other, |facts| facts.kind),
            path,
            filesystem: None,
            device: Fact::Unknown(UnknownReason::NotLookedAt),
            system_disk: false,
            label: None,
        }
    }
}

/// Appends the record to the store, if there is one, and removes its spool.
fn append(
    store: Option<&mut Store>,
    record: &RunRecord,
    spool: Option<Spooling>,
) -> Option<UnstoredRecord> {
    if let Some(Err(source)) = store.map(|store| store.append(record)) {
        return Some(UnstoredRecord::new(source, record, spool));
    }
    spool.into_iter().for_each(Spooling::remove);
    None
}

/// Refuses to write to a device that the system uses, because that would destroy its data. The same applies to the
/// backing file of a loop device in use.
fn refuse_devices_in_use(plan: &Plan) -> Result<(), Refusal> {
    let roots = Roots::live();
    let mut asked = BTreeSet::new();
    for phase in &plan.phases {
        let writers = phase.workers.iter().filter(|worker| worker.writes);
        let regions = writers.flat_map(|worker| &worker.stream.regions);
        let files = regions.filter_map(|region| phase.files.get(region.file as usize));
        for file in files.filter(|file| asked.insert(&file.path)) {
            match file.kind {
                TargetKind::BlockDevice => guard::writable(&file.path, &roots)?,
                TargetKind::File => guard::writable_file(&file.path, &roots)?,
                _ => {}
            }
        }
    }
    Ok(())
}

/// Returns the bytes that must be written before a plan can run: files with missing content, and the free space of
/// file systems that it fills.
fn to_lay_out(plan: &Plan, facts: &Facts) -> Bytes {
    let files = || plan.phases.iter().flat_map(|phase| &phase.files);
    let wanting = files().filter(|file| matches!(file.lay_out, LayOut::Write(_)));
    let absent = wanting
        .filter(|file| file.path.metadata().map_or(0, |metadata| metadata.len()) < file.size.0);
    let sizes: BTreeMap<&Path, u64> = absent
        .map(|file| (file.path.as_path(), file.size.0))
        .collect();
    let filling = files().filter(|file| file.lay_out == LayOut::Fill);
    // Several files on one file system fill it once.
    let free =
        filling.filter_map(|file| Some((file_system(&file.path)?, facts.get(&file.path)?.free?.0)));
    let free: BTreeMap<u64, u64> = free.collect();
    Bytes(
        sizes
            .values()
            .chain(free.values())
            .fold(0, |sum, size| sum.saturating_add(*size)),
    )
}

/// Returns the device number of the file system that contains or will contain a file.
fn file_system(path: &Path) -> Option<u64> {
    let path = std::path::absolute(path).ok()?;
    path.ancestors()
        .find_map(|path| path.metadata().ok())
        .map(|metadata| metadata.dev())
}

/// Combines the caveats of the engine, the caveats known before, and those that follow from the identity of the
/// storage.
fn with_circumstances(
    mut caveats: Vec<Caveat>,
    known: &[Caveat],
    identity: &Identity,
) -> Vec<Caveat> {
    caveats.extend_from_slice(known);
    caveats.extend(identity.system_disk.then_some(Caveat::SystemDisk));
    caveats
}
