//! One run, from the look at its target to the stored record.

use crate::spooling::Spooling;
use hakaru_device::{InspectError, Roots};
use hakaru_engine::{EngineReport, Observer, RunError, RunOptions};
use hakaru_model::campaign::CampaignPoint;
use hakaru_model::caveat::Caveat;
use hakaru_model::facts::Identity;
use hakaru_model::job::Scenario;
use hakaru_model::plan::{Facts, LayOut, Plan, PlanError};
use hakaru_model::record::{FORMAT, Origin, Outcome, Overhead, RunRecord};
use hakaru_model::units::Bytes;
use hakaru_store::{AppendError, Store};
use std::collections::BTreeMap;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

/// Which repeat of what a run is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Series {
    /// Id that all repeats share; `None` starts a new series.
    pub id: Option<String>,
    /// Number of the repeat, from 0.
    pub repeat: u32,
}

/// Everything one run needs.
#[derive(Debug)]
pub struct Once<'a> {
    /// What to measure.
    pub scenario: &'a Scenario,
    /// Whose storage it is, as found before the run.
    pub identity: &'a Identity,
    /// Which repeat it is.
    pub series: Series,
    /// Clock, stop flag and what may be replaced.
    pub options: RunOptions<'a>,
    /// Our own cost, as measured before the run.
    pub overhead: Option<Overhead>,
    /// What was found before the run to make its figures less worthy of trust.
    pub caveats: Vec<Caveat>,
}

/// A run that was carried out.
#[derive(Clone, Debug, PartialEq)]
pub struct Ran {
    /// What came of it; it is in the store already.
    pub record: RunRecord,
    /// What kept it from going on, if anything did.
    pub error: Option<RunError>,
}

/// Why a run could not even begin, or its record not be kept.
#[derive(Debug, thiserror::Error)]
pub enum OnceError {
    /// The target could not be looked at.
    #[error(transparent)]
    Inspect(#[from] InspectError),
    /// The scenario does not fit the target.
    #[error(transparent)]
    Plan(#[from] PlanError),
    /// Nothing was measured.
    #[error(transparent)]
    Run(RunError),
    /// The record could not be stored. It is not lost: it comes along, and lies beside the database where that is possible.
    #[error("measured, but the record could not be stored: {source}{}", beside(.spooled))]
    Store {
        /// Why not.
        source: AppendError,
        /// What was measured.
        record: Box<RunRecord>,
        /// Whether it is kept beside the database.
        spooled: bool,
    },
}

fn beside(spooled: &bool) -> &'static str {
    if *spooled {
        ". It is kept beside the database, and `hakaru recover` stores it once that can be written again"
    } else {
        ""
    }
}

/// An id that sorts by time (UUID version 7, RFC 9562).
pub fn new_id() -> String {
    uuid::Uuid::now_v7().to_string()
}

/// Milliseconds since 1970 UTC.
pub fn now_unix_ms() -> i64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |t| t.as_millis() as i64)
}

/// Looks at every path of a scenario.
///
/// # Errors
/// The first path that cannot be looked at.
pub fn inspect_all(scenario: &Scenario) -> Result<Facts, InspectError> {
    let look = |path: PathBuf| Ok((path.clone(), hakaru_device::inspect(&path)?));
    scenario.paths().into_iter().map(look).collect()
}

/// Inspects, plans, runs, and appends the record before anybody computes anything from it. What is measured on the way
/// is spooled beside the store.
///
/// # Errors
/// [`OnceError`]: nothing was measured, or what was measured could not be stored.
pub fn run_once(once: Once<'_>, store: Option<&mut Store>, observer: &mut dyn Observer) -> Result<Ran, OnceError> {
    run_point(once, None, store, observer)
}

/// The same as a point of a campaign.
///
/// # Errors
/// [`OnceError`]: nothing was measured, or what was measured could not be stored.
pub fn run_point(
    once: Once<'_>,
    campaign: Option<CampaignPoint>,
    store: Option<&mut Store>,
    observer: &mut dyn Observer,
) -> Result<Ran, OnceError> {
    let Once { scenario, identity, series, options, overhead, caveats: known } = once;
    let facts = inspect_all(scenario)?;
    let plan = Plan::resolve(scenario, &facts)?;
    let campaign = campaign.map(|point| CampaignPoint { laid_out: to_lay_out(&plan, &facts), ..point });
    let id = new_id();
    let begun = RunRecord {
        format: FORMAT,
        series: series.id.unwrap_or_else(|| id.clone()),
        id,
        repeat: series.repeat,
        started_unix_ms: now_unix_ms(),
        origin: Origin::Measured { version: env!("CARGO_PKG_VERSION").to_owned() },
        scenario: scenario.clone(),
        target: identity.clone(),
        environment: hakaru_device::environment(&Roots::live(), options.clock.name()),
        phases: Vec::new(),
        caveats: with_circumstances(plan.caveats.clone(), &known, identity),
        outcome: Outcome::Interrupted,
        overhead,
        campaign,
    };
    let mut spool = store.as_deref().and_then(|store| Spooling::begin(store, &begun));
    let report = match &mut spool {
        Some(spool) => hakaru_engine::run(&plan, &options, &mut spool.before(observer)),
        None => hakaru_engine::run(&plan, &options, observer),
    };
    let EngineReport { phases, caveats, laid_out, outcome, error } = report;
    if phases.is_empty()
        && let Some(error) = error
    {
        spool.into_iter().for_each(Spooling::remove);
        return Err(OnceError::Run(error));
    }
    // What was thought before may be more: files that fill a file system take what there turns out to be.
    let campaign = begun.campaign.clone().map(|point| CampaignPoint { laid_out, ..point });
    let caveats = with_circumstances(caveats, &known, identity);
    let record = RunRecord { phases, caveats, outcome, campaign, ..begun };
    if let Some(store) = store
        && let Err(source) = store.append(&record)
    {
        let spooled = spool.is_some_and(|spool| spool.leave(&record));
        return Err(OnceError::Store { source, record: Box::new(record), spooled });
    }
    spool.into_iter().for_each(Spooling::remove);
    Ok(Ran { record, error })
}

/// Bytes that have to be written before a plan can be carried out: its files that are to hold something and do not yet,
/// and what is free of the file systems that it fills.
fn to_lay_out(plan: &Plan, facts: &Facts) -> Bytes {
    let files = || plan.phases.iter().flat_map(|phase| &phase.files);
    let wanting = files().filter(|file| matches!(file.lay_out, LayOut::Write(_)));
    let absent = wanting.filter(|file| file.path.metadata().map_or(0, |metadata| metadata.len()) < file.size.0);
    let sizes: BTreeMap<&Path, u64> = absent.map(|file| (file.path.as_path(), file.size.0)).collect();
    let filling = files().filter(|file| file.lay_out == LayOut::Fill);
    // Several files of one file system fill it once.
    let free = filling.filter_map(|file| Some((file_system(&file.path)?, facts.get(&file.path)?.free?.0)));
    let free: BTreeMap<u64, u64> = free.collect();
    Bytes(sizes.values().chain(free.values()).fold(0, |sum, size| sum.saturating_add(*size)))
}

/// The number of the file system that a file lies on, or will.
fn file_system(path: &Path) -> Option<u64> {
    let path = std::path::absolute(path).ok()?;
    path.ancestors().find_map(|path| path.metadata().ok()).map(|metadata| metadata.dev())
}

/// The caveats of the engine, those that were known before, and those that follow from whose storage it is.
fn with_circumstances(mut caveats: Vec<Caveat>, known: &[Caveat], identity: &Identity) -> Vec<Caveat> {
    caveats.extend_from_slice(known);
    caveats.extend(identity.system_disk.then_some(Caveat::SystemDisk));
    caveats
}

/// Whether a run ended because somebody stopped it.
pub(crate) fn was_interrupted(ran: &Ran) -> bool {
    ran.record.outcome == Outcome::Interrupted
}
