//! A session: one run, from the look at its target to the stored record, in the one order there is.
//!
//! ```text
//! Session::inspect(scenario) ─ plan(policy) ─> PlannedSession ─ run(request, store, observer) ─> RunResult
//! ```
//! Whatever is stored is also spooled on the way, and its circumstances are taken before anything is measured.

mod spooling;
mod unstarted;
mod unstored;

pub use unstored::{UnstoredCopy, UnstoredRecord};

use crate::ids::{new_id, now_unix_ms};
use hakaru_device::guard::{self, Refusal};
use hakaru_device::{InspectError, Roots};
use hakaru_engine::{ClockChoice, EngineReport, Observer, RunError, RunOptions};
use hakaru_model::campaign::CampaignPoint;
use hakaru_model::caveat::Caveat;
use hakaru_model::facts::{Environment, Fact, Identity, TargetKind};
use hakaru_model::job::Scenario;
use hakaru_model::plan::{Facts, LayOut, Plan, PlanError};
use hakaru_model::record::{FORMAT, Origin, Outcome, Overhead, PhaseRecord, RunRecord};
use hakaru_model::units::Bytes;
use hakaru_store::Store;
use spooling::Spooling;
use std::collections::{BTreeMap, BTreeSet};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

/// How strictly a session keeps to its scenario.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SessionPolicy {
    /// Replaces an I/O engine or O_DIRECT that is not available, with a caveat; otherwise that is an error.
    pub substitutes: bool,
    /// Runs without the jobs that cannot run, and records why; otherwise these are an error.
    pub skips_jobs: bool,
    /// Refuses to write to devices in use. Off only for callers that hold the target themselves.
    pub guards_devices: bool,
}

impl SessionPolicy {
    /// Of `bench` and campaigns, whose target is a scratch file or held by the guard.
    pub const BENCH: SessionPolicy = SessionPolicy {
        substitutes: true,
        skips_jobs: false,
        guards_devices: false,
    };
    /// Of the iozone front end: what was asked for, or an error.
    pub const IOZONE: SessionPolicy = SessionPolicy {
        substitutes: false,
        skips_jobs: false,
        guards_devices: true,
    };
    /// Of the fio front end: one job that cannot run does not keep the others from running.
    pub const FIO: SessionPolicy = SessionPolicy {
        skips_jobs: true,
        ..SessionPolicy::IOZONE
    };
}

/// Which repeat of what a run is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SeriesPosition {
    /// Id that all repeats share; `None` starts a new series.
    pub id: Option<String>,
    /// Number of the repeat, from 0.
    pub repeat: u32,
}

/// How one run of a planned session is carried out, and what its record says besides what is measured.
#[derive(Debug)]
pub struct RunRequest<'a> {
    /// The clock that times I/Os.
    pub clock: &'a ClockChoice,
    /// Set by somebody else to end the run; what was measured until then is kept.
    pub stop: &'a AtomicBool,
    /// Whose storage it is, as found before the run; `None` for that of the first path, looked at only for a run that
    /// is stored.
    pub identity: Option<&'a Identity>,
    /// Which repeat it is.
    pub series: SeriesPosition,
    /// Our own cost, as measured before the run.
    pub overhead: Option<Overhead>,
    /// What was found before the run to make its figures less worthy of trust.
    pub caveats: Vec<Caveat>,
    /// The point of a campaign that it measures.
    pub campaign: Option<CampaignPoint>,
}

impl<'a> RunRequest<'a> {
    /// A run that belongs to nothing.
    pub fn single(clock: &'a ClockChoice, stop: &'a AtomicBool) -> RunRequest<'a> {
        RunRequest {
            clock,
            stop,
            identity: None,
            series: SeriesPosition::default(),
            overhead: None,
            caveats: Vec::new(),
            campaign: None,
        }
    }
}

/// A run that was carried out.
#[derive(Debug)]
pub struct RunResult {
    /// What came of it; it is in the store already, if there is one and anything was measured.
    pub record: RunRecord,
    /// What kept it from going on, if anything did.
    pub error: Option<RunError>,
    /// Why the record is not in the store, if that failed.
    pub unstored: Option<UnstoredRecord>,
}

/// Why a run could not even begin.
#[derive(Debug, thiserror::Error)]
pub enum SessionError {
    /// The target could not be looked at.
    #[error(transparent)]
    Inspect(#[from] InspectError),
    /// The scenario does not fit the target.
    #[error(transparent)]
    Plan(#[from] PlanError),
    /// It would write to a device that is in use.
    #[error("{refusal}; {}", .refusal.cure())]
    InUse {
        /// Why it is not written to.
        #[from]
        refusal: Refusal,
    },
    /// Nothing was measured.
    #[error(transparent)]
    Run(RunError),
}

/// A scenario and what was found at its paths.
#[derive(Debug)]
pub struct Session<'a> {
    scenario: &'a Scenario,
    facts: Facts,
}

impl<'a> Session<'a> {
    /// Looks at every path of a scenario. Changes nothing.
    ///
    /// # Errors
    /// [`SessionError::Inspect`]: the first path that cannot be looked at.
    pub fn inspect(scenario: &'a Scenario) -> Result<Session<'a>, SessionError> {
        let look = |path: PathBuf| -> Result<_, InspectError> {
            Ok((path.clone(), hakaru_device::inspect(&path)?))
        };
        let facts = scenario.paths().into_iter().map(look);
        let mut facts = facts.collect::<Result<Facts, InspectError>>()?;
        // What is only named need not be there.
        let named = scenario
            .unopened_paths()
            .into_iter()
            .filter_map(|path| look(path).ok());
        for (path, found) in named {
            facts.entry(path).or_insert(found);
        }
        Ok(Session { scenario, facts })
    }

    /// What was found at each path.
    pub fn facts(&self) -> &Facts {
        &self.facts
    }

    /// Fits the scenario to what was found. Changes nothing.
    ///
    /// # Errors
    /// [`SessionError::Plan`], and [`SessionError::InUse`] where the policy guards devices.
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

/// A scenario bound to its target, ready to run.
#[derive(Debug)]
pub struct PlannedSession<'a> {
    scenario: &'a Scenario,
    facts: Facts,
    policy: SessionPolicy,
    plan: Plan,
}

impl PlannedSession<'_> {
    /// What will be done.
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// What was found at each path.
    pub fn facts(&self) -> &Facts {
        &self.facts
    }

    /// Adds to phases, the first ones of this plan, what has not begun: the other phases, and jobs that were skipped.
    pub fn with_unbegun(&self, mut phases: Vec<PhaseRecord>) -> Vec<PhaseRecord> {
        unstarted::add_unbegun(&self.plan, &mut phases);
        unstarted::add_skipped(self.scenario, &self.plan, &mut phases);
        phases
    }

    /// Runs the plan and, given a store, appends the record before anybody computes anything from it. What is measured
    /// on the way is spooled beside the store.
    ///
    /// # Errors
    /// [`SessionError::Run`]: nothing was measured, unless the policy skips jobs: then the record says which could not
    /// begin.
    pub fn run(
        &self,
        request: RunRequest<'_>,
        store: Option<&mut Store>,
        observer: &mut dyn Observer,
    ) -> Result<RunResult, SessionError> {
        let options = RunOptions {
            clock: request.clock,
            stop: request.stop,
            direct_fallback: self.policy.substitutes,
            replace_engines: self.policy.substitutes,
            wall_clock: now_unix_ms,
        };
        let known = request.caveats.clone();
        let begun = self.record_before(request, store.is_some());
        let mut spool = store
            .as_deref()
            .and_then(|store| Spooling::begin(store, &begun));
        let report = match &mut spool {
            Some(spool) => hakaru_engine::run(&self.plan, &options, &mut spool.before(observer)),
            None => hakaru_engine::run(&self.plan, &options, observer),
        };
        let EngineReport {
            mut phases,
            caveats,
            laid_out,
            outcome,
            error,
        } = report;
        let nothing = phases.is_empty();
        if self.policy.skips_jobs {
            unstarted::add_failed(self.scenario, &self.plan, error.as_ref(), &mut phases);
        } else if nothing {
            spool.into_iter().for_each(Spooling::remove);
            return Err(SessionError::Run(error.unwrap_or(RunError::StoppedEarly)));
        }
        // What was thought before may be more: files that fill a file system take what there turns out to be.
        let campaign = begun
            .campaign
            .clone()
            .map(|point| CampaignPoint { laid_out, ..point });
        let record = RunRecord {
            phases,
            caveats: with_circumstances(caveats, &known, &begun.target),
            outcome,
            campaign,
            ..begun
        };
        let stored = store
            .filter(|_| !nothing)
            .map(|store| store.append(&record));
        let unstored = match stored {
            Some(Err(source)) => Some(UnstoredRecord::new(source, &record, spool)),
            _ => {
                spool.into_iter().for_each(Spooling::remove);
                None
            }
        };
        Ok(RunResult {
            record,
            error,
            unstored,
        })
    }

    /// The record as it is before anything is measured. Device and host are looked at only for a run that is stored or
    /// whose storage is known: to ask them takes longer than a short run.
    fn record_before(&self, request: RunRequest<'_>, stored: bool) -> RunRecord {
        let RunRequest {
            clock,
            stop: _,
            identity,
            series,
            overhead,
            caveats,
            campaign,
        } = request;
        let id = new_id();
        let target = match identity {
            Some(identity) => identity.clone(),
            None => self.identity(stored),
        };
        let environment = match stored || identity.is_some() {
            true => hakaru_device::environment(&Roots::live(), clock.name()),
            false => Environment::default(),
        };
        let campaign = campaign.map(|point| CampaignPoint {
            laid_out: to_lay_out(&self.plan, &self.facts),
            ..point
        });
        RunRecord {
            format: FORMAT,
            series: series.id.unwrap_or_else(|| id.clone()),
            id,
            repeat: series.repeat,
            started_unix_ms: now_unix_ms(),
            origin: Origin::Measured {
                version: env!("CARGO_PKG_VERSION").to_owned(),
            },
            scenario: self.scenario.clone(),
            caveats: with_circumstances(self.plan.caveats.clone(), &caveats, &target),
            target,
            environment,
            phases: Vec::new(),
            outcome: Outcome::Interrupted,
            overhead,
            campaign,
        }
    }

    /// Whose storage the first path is on, or its directory where there is no file yet.
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
            // A stored path has to mean the same from any directory.
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
            device: Fact::Unknown("it was not looked at".to_owned()),
            system_disk: false,
            label: None,
        }
    }
}

/// Writing to a device that the system uses would destroy what is in use, so it is not done whoever asks. The same goes
/// for a file that a loop device in use is made of.
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

/// Bytes that have to be written before a plan can be carried out: its files that are to hold something and do not yet,
/// and what is free of the file systems that it fills.
fn to_lay_out(plan: &Plan, facts: &Facts) -> Bytes {
    let files = || plan.phases.iter().flat_map(|phase| &phase.files);
    let wanting = files().filter(|file| matches!(file.lay_out, LayOut::Write(_)));
    let absent = wanting
        .filter(|file| file.path.metadata().map_or(0, |metadata| metadata.len()) < file.size.0);
    let sizes: BTreeMap<&Path, u64> = absent
        .map(|file| (file.path.as_path(), file.size.0))
        .collect();
    let filling = files().filter(|file| file.lay_out == LayOut::Fill);
    // Several files of one file system fill it once.
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

/// The number of the file system that a file lies on, or will.
fn file_system(path: &Path) -> Option<u64> {
    let path = std::path::absolute(path).ok()?;
    path.ancestors()
        .find_map(|path| path.metadata().ok())
        .map(|metadata| metadata.dev())
}

/// The caveats of the engine, those that were known before, and those that follow from whose storage it is.
fn with_circumstances(
    mut caveats: Vec<Caveat>,
    known: &[Caveat],
    identity: &Identity,
) -> Vec<Caveat> {
    caveats.extend_from_slice(known);
    caveats.extend(identity.system_disk.then_some(Caveat::SystemDisk));
    caveats
}
