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
use std::fs::File;
use std::io::{self, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Which repeat of what a run is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SeriesPosition {
    /// Id that all repeats share; `None` starts a new series.
    pub id: Option<String>,
    /// Number of the repeat, from 0.
    pub repeat: u32,
}

/// Everything one run needs.
#[derive(Debug)]
pub struct RunRequest<'a> {
    /// What to measure.
    pub scenario: &'a Scenario,
    /// Whose storage it is, as found before the run.
    pub identity: &'a Identity,
    /// Which repeat it is.
    pub series: SeriesPosition,
    /// Clock, stop flag and what may be replaced.
    pub options: RunOptions<'a>,
    /// Our own cost, as measured before the run.
    pub overhead: Option<Overhead>,
    /// What was found before the run to make its figures less worthy of trust.
    pub caveats: Vec<Caveat>,
}

/// A run that was carried out.
#[derive(Clone, Debug, PartialEq)]
pub struct RunResult {
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
    /// The record could not be stored. It is not lost: it comes along, and lies where `kept` says.
    #[error("the run finished, but its record could not be stored: {source}{}", where_kept(.kept))]
    Store {
        /// Why not.
        source: Box<AppendError>,
        /// What was measured.
        record: Box<RunRecord>,
        /// Where the whole record lies instead.
        kept: Kept,
    },
}

/// Where a record lies that the database did not take.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Kept {
    /// In its spool, beside the database.
    Spool,
    /// In a file of its own, among the temporary ones.
    File(PathBuf),
    /// Nowhere: only whoever has it at hand can still show it.
    Nowhere,
}

impl Kept {
    /// Keeps a whole record: in its spool or, where that cannot be written either, as on a file system that is full, in a
    /// temporary file.
    fn keep(record: &RunRecord, spool: Option<Spooling>, temporary: &Path) -> Kept {
        if spool.is_some_and(|spool| spool.leave(record)) {
            return Kept::Spool;
        }
        let path = temporary.join(format!("hakaru-{}.jsonl", record.id));
        match write_new(&path, record) {
            Ok(()) => Kept::File(path),
            Err(_) => Kept::Nowhere,
        }
    }
}

fn write_new(path: &Path, record: &RunRecord) -> io::Result<()> {
    let text = hakaru_store::export(record).map_err(io::Error::other)?;
    let mut file = File::create_new(path)?;
    let written = file
        .write_all(format!("{text}\n").as_bytes())
        .and_then(|()| file.sync_all());
    if written.is_err() {
        // Half a record is none.
        let _ = std::fs::remove_file(path);
    }
    written
}

fn where_kept(kept: &Kept) -> String {
    match kept {
        Kept::Spool => {
            "; help: it is saved next to the database: once the database is writable, `hakaru \
            recover` stores it"
                .to_owned()
        }
        Kept::File(path) => {
            let path = path.display();
            format!(
                "; help: it is saved in {path}: once the database is writable, store it with \
                `hakaru import {path}`"
            )
        }
        Kept::Nowhere => String::new(),
    }
}

/// An id that sorts by time (UUID version 7, RFC 9562).
pub fn new_id() -> String {
    id_at(SystemTime::now())
}

fn id_at(now: SystemTime) -> String {
    let id = match now.duration_since(UNIX_EPOCH) {
        Ok(_) => uuid::Uuid::now_v7(),
        // A board without a battery may begin before 1970, where ids of this kind do not reach.
        Err(_) => uuid::Uuid::new_v7(uuid::Timestamp::from_unix(uuid::NoContext, 0, 0)),
    };
    id.to_string()
}

/// Milliseconds since 1970 UTC.
pub fn now_unix_ms() -> i64 {
    unix_ms(SystemTime::now())
}

fn unix_ms(time: SystemTime) -> i64 {
    let whole = |span: Duration| i64::try_from(span.as_millis()).unwrap_or(i64::MAX);
    match time.duration_since(UNIX_EPOCH) {
        Ok(since) => whole(since),
        Err(before) => -whole(before.duration()),
    }
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
pub fn run_once(
    once: RunRequest<'_>,
    store: Option<&mut Store>,
    observer: &mut dyn Observer,
) -> Result<RunResult, OnceError> {
    run_point(once, None, store, observer)
}

/// The same as a point of a campaign.
///
/// # Errors
/// [`OnceError`]: nothing was measured, or what was measured could not be stored.
pub fn run_point(
    once: RunRequest<'_>,
    campaign: Option<CampaignPoint>,
    store: Option<&mut Store>,
    observer: &mut dyn Observer,
) -> Result<RunResult, OnceError> {
    let RunRequest {
        scenario,
        identity,
        series,
        options,
        overhead,
        caveats: known,
    } = once;
    let facts = inspect_all(scenario)?;
    let plan = Plan::resolve(scenario, &facts)?;
    let campaign = campaign.map(|point| CampaignPoint {
        laid_out: to_lay_out(&plan, &facts),
        ..point
    });
    let id = new_id();
    let begun = RunRecord {
        format: FORMAT,
        series: series.id.unwrap_or_else(|| id.clone()),
        id,
        repeat: series.repeat,
        started_unix_ms: now_unix_ms(),
        origin: Origin::Measured {
            version: env!("CARGO_PKG_VERSION").to_owned(),
        },
        scenario: scenario.clone(),
        target: identity.clone(),
        environment: hakaru_device::environment(&Roots::live(), options.clock.name()),
        phases: Vec::new(),
        caveats: with_circumstances(plan.caveats.clone(), &known, identity),
        outcome: Outcome::Interrupted,
        overhead,
        campaign,
    };
    let mut spool = store
        .as_deref()
        .and_then(|store| Spooling::begin(store, &begun));
    let report = match &mut spool {
        Some(spool) => hakaru_engine::run(&plan, &options, &mut spool.before(observer)),
        None => hakaru_engine::run(&plan, &options, observer),
    };
    let EngineReport {
        phases,
        caveats,
        laid_out,
        outcome,
        error,
    } = report;
    if phases.is_empty()
        && let Some(error) = error
    {
        spool.into_iter().for_each(Spooling::remove);
        return Err(OnceError::Run(error));
    }
    // What was thought before may be more: files that fill a file system take what there turns out to be.
    let campaign = begun
        .campaign
        .clone()
        .map(|point| CampaignPoint { laid_out, ..point });
    let caveats = with_circumstances(caveats, &known, identity);
    let record = RunRecord {
        phases,
        caveats,
        outcome,
        campaign,
        ..begun
    };
    if let Some(store) = store
        && let Err(source) = store.append(&record)
    {
        let kept = Kept::keep(&record, spool, &std::env::temp_dir());
        return Err(OnceError::Store {
            source: Box::new(source),
            record: Box::new(record),
            kept,
        });
    }
    spool.into_iter().for_each(Spooling::remove);
    Ok(RunResult { record, error })
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

/// Whether a run ended because somebody stopped it.
pub(crate) fn was_interrupted(ran: &RunResult) -> bool {
    ran.record.outcome == Outcome::Interrupted
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clock_before_1970_gives_ids_and_times() {
        let before = UNIX_EPOCH - Duration::from_millis(1500);
        let ids = [id_at(before), id_at(before), id_at(SystemTime::now())];
        assert!(
            ids.iter()
                .all(|id| uuid::Uuid::parse_str(id).is_ok_and(|id| id.get_version_num() == 7)),
            "{ids:?}"
        );
        assert!(ids[0] != ids[1] && ids[1] < ids[2], "{ids:?}");
        assert_eq!(
            (
                unix_ms(before),
                unix_ms(UNIX_EPOCH),
                unix_ms(UNIX_EPOCH + Duration::from_secs(2))
            ),
            (-1500, 0, 2000)
        );
    }
}
