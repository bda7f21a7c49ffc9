//! The `bench` command: runs the standard suite on one target, with one record for each round.

mod lock;
mod remarks;
mod watcher;

pub use watcher::Watcher;

use crate::scratch::{Scratch, ScratchError};
use crate::session::{
    RunRequest, RunResult, SeriesPosition, Session, SessionError, SessionPolicy, UnstoredRecord,
};
use crate::suite::{DEEP, Suite, SuiteLength, SuiteWorkload};
use crate::target::{self, usable, whole_mib};
use hakaru_device::guard::{Erasable, Refusal};
use hakaru_device::{InspectError, LockHolder, Roots};
use hakaru_engine::ClockChoice;
use hakaru_model::caveat::Caveat;
use hakaru_model::device_model::DeviceModel;
use hakaru_model::facts::{Identity, TargetFacts, TargetKind};
use hakaru_model::job::{IoEngine, Scenario, Target};
use hakaru_model::record::{Outcome, RunRecord};
use hakaru_model::units::Bytes;
use hakaru_store::Store;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::time::Duration;

/// Minimum size of the suite; smaller results mean nothing.
pub(crate) const SMALLEST: Bytes = Bytes(16 << 20);
/// Maximum time that a quick suite spends writing its file.
const QUICK_FILL: Duration = Duration::from_secs(6);

/// A benchmark request, before defaults are applied.
#[derive(Clone, Debug, PartialEq)]
pub struct BenchRequest {
    /// A directory or a block device.
    pub path: PathBuf,
    /// Suite length; `None` chooses one that suits the target.
    pub pace: Option<SuiteLength>,
    /// Number of rounds; `None` chooses a number that suits the length.
    pub repeats: Option<u32>,
    /// Size of the tested area; `None` chooses a size that suits the length.
    pub size: Option<Bytes>,
    /// Workloads; empty for all that are possible without losing data.
    pub only: Vec<SuiteWorkload>,
    /// Whether the deep suite runs after the standard one.
    pub deep: bool,
    /// Seed of all offsets.
    pub seed: u64,
    /// I/O engine.
    pub ioengine: IoEngine,
    /// Whether the content of the device may be destroyed. Only the device guard may set this.
    pub erase: bool,
    /// Whether to trace the path of the I/Os in one more round.
    pub trace: bool,
}

/// Target of a suite.
#[derive(Clone, Debug, PartialEq)]
pub enum BenchTarget {
    /// A temporary file in this directory.
    Folder(PathBuf),
    /// This block device as a whole.
    Device(PathBuf),
    /// A simulated card, in virtual time.
    Sim(Box<DeviceModel>),
}

impl BenchTarget {
    /// Whether a write loses no data.
    fn is_free_to_write(&self) -> bool {
        !matches!(self, BenchTarget::Device(_))
    }
}

/// A benchmark with all defaults applied, before it runs.
#[derive(Clone, Debug, PartialEq)]
pub struct BenchPlan {
    /// The suite.
    pub suite: Suite,
    /// Number of rounds.
    pub repeats: u32,
    /// Identity of the storage.
    pub identity: Identity,
    /// The target.
    pub place: BenchTarget,
    /// Notes about the chosen settings for the user.
    pub remarks: Vec<String>,
    /// Whether one more round traces the path of the I/Os, after the rounds that are measured.
    pub trace: bool,
}

/// Errors of `bench`.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs)] // Each field is named in its message.
pub enum BenchError {
    #[error(transparent)]
    Inspect(#[from] InspectError),
    #[error("{} is a {what}, which cannot be measured; help: name a directory or a block device", .path.display())]
    NotATarget { path: PathBuf, what: &'static str },
    #[error("{} is a file; help: name its directory ({}), so that the file is not changed", .path.display(), .folder.display())]
    File { path: PathBuf, folder: PathBuf },
    #[error("cannot write to {}; help: choose a writable directory, or run as its owner", .path.display())]
    NotWritable { path: PathBuf },
    #[error("not enough space on {}: {free} free, {needed} needed; help: free some space, or use \
        --size={}MiB ({} bytes)", .path.display(), fits.0 >> 20, fits.0)]
    NoSpace {
        path: PathBuf,
        free: Bytes,
        needed: Bytes,
        fits: Bytes,
    },
    #[error("not enough space on {}: {free} free, at least {SMALLEST} needed", .path.display())]
    Full { path: PathBuf, free: Bytes },
    #[error("--size is too small: {size}; help: use at least {}MiB", SMALLEST.0 >> 20)]
    TooSmall { size: Bytes },
    #[error("{} ({workload}) would overwrite {}; help: without --erase, only read workloads run on a \
        device", hakaru_report::workload_words(workload), .path.display())]
    WouldDestroy {
        path: PathBuf,
        workload: &'static str,
    },
    #[error(transparent)]
    Scratch(#[from] ScratchError),
    #[error("{} is being measured by process {holder}; help: wait until it ends, or stop it", .path.display())]
    InUse { path: PathBuf, holder: LockHolder },
    #[error("{0}: no further writes were made")]
    Changed(#[from] Refusal),
    #[error(transparent)]
    Session(#[from] SessionError),
    #[error(transparent)]
    Unstored(#[from] UnstoredRecord),
}

/// Results of a suite.
#[derive(Debug, Default)]
pub struct BenchResult {
    /// One record for each round; at least one.
    pub records: Vec<RunRecord>,
    /// The error that prevented the next round, if any.
    pub error: Option<BenchError>,
}

/// Inspects the target and chooses suitable settings. Changes nothing.
///
/// # Errors
/// [`BenchError`] if the path cannot be measured or has too little space.
pub fn decide(request: &BenchRequest) -> Result<BenchPlan, BenchError> {
    let facts = hakaru_device::inspect(&request.path)?;
    let place = check_kind(request, &facts)?;
    // The stored path is absolute, so that it is valid in any directory.
    let whole = std::fs::canonicalize(&request.path).unwrap_or_else(|_| request.path.clone());
    let identity = hakaru_device::identify(&whole, &Roots::live());
    let mut remarks = Vec::new();
    let pace = request
        .pace
        .unwrap_or_else(|| default_pace(&place, &identity, &mut remarks));
    let size = choose_size(request, pace, &facts, &place, &mut remarks)?;
    let workloads = choose_workloads(request, &place, &mut remarks)?;
    let suite = Suite {
        pace,
        workloads,
        size,
        seed: request.seed,
        ioengine: request.ioengine,
    };
    Ok(BenchPlan {
        suite,
        repeats: request.repeats.unwrap_or(pace.repeats()),
        identity,
        place,
        remarks,
        trace: request.trace,
    })
}

/// Chooses settings for a simulated card, whose properties are known exactly.
///
/// # Errors
/// [`BenchError::TooSmall`].
pub fn decide_simulated(
    request: &BenchRequest,
    model: DeviceModel,
) -> Result<BenchPlan, BenchError> {
    let pace = request.pace.unwrap_or(SuiteLength::Standard);
    let size = whole_mib(request.size.unwrap_or(pace.size()).min(model.announced()));
    if size < SMALLEST {
        return Err(BenchError::TooSmall { size });
    }
    let identity = target::simulated(&model, &model.name);
    let place = BenchTarget::Sim(Box::new(model));
    let workloads = choose_workloads(request, &place, &mut Vec::new())?;
    let suite = Suite {
        pace,
        workloads,
        size,
        seed: request.seed,
        ioengine: IoEngine::Sim,
    };
    let remarks = vec![remarks::simulated()];
    Ok(BenchPlan {
        suite,
        repeats: request.repeats.unwrap_or(pace.repeats()),
        identity,
        place,
        remarks,
        trace: request.trace,
    })
}

fn check_kind(request: &BenchRequest, facts: &TargetFacts) -> Result<BenchTarget, BenchError> {
    let path = request.path.clone();
    let what = match facts.kind {
        TargetKind::Directory if !facts.writable => return Err(BenchError::NotWritable { path }),
        TargetKind::Directory => return Ok(BenchTarget::Folder(path)),
        TargetKind::BlockDevice => return Ok(BenchTarget::Device(path)),
        TargetKind::File => {
            let folder = path.parent().filter(|p| !p.as_os_str().is_empty());
            let folder = folder.unwrap_or(Path::new(".")).to_owned();
            return Err(BenchError::File { path, folder });
        }
        TargetKind::Absent => "nonexistent path",
        TargetKind::CharDevice => "character device",
        TargetKind::Other => "socket, pipe or the like",
    };
    Err(BenchError::NotATarget { path, what })
}

fn default_pace(
    place: &BenchTarget,
    identity: &Identity,
    remarks: &mut Vec<String>,
) -> SuiteLength {
    if matches!(place, BenchTarget::Folder(_)) && identity.system_disk {
        remarks.push(remarks::quick());
        return SuiteLength::Quick;
    }
    SuiteLength::Standard
}

fn choose_size(
    request: &BenchRequest,
    pace: SuiteLength,
    facts: &TargetFacts,
    place: &BenchTarget,
    remarks: &mut Vec<String>,
) -> Result<Bytes, BenchError> {
    if let Some(size) = request.size.filter(|size| *size < SMALLEST) {
        return Err(BenchError::TooSmall { size });
    }
    if matches!(place, BenchTarget::Device(_)) {
        let wanted = request.size.unwrap_or(Bytes(16 << 30));
        return Ok(whole_mib(wanted.min(facts.size)));
    }
    let wanted = request.size.unwrap_or(pace.size());
    let Some(free) = facts.free else {
        return Ok(whole_mib(wanted));
    };
    let path = request.path.clone();
    size_in(path, free, request.size, wanted, remarks)
}

/// Returns the size of the file in a directory with this much free space.
fn size_in(
    path: PathBuf,
    free: Bytes,
    requested: Option<Bytes>,
    wanted: Bytes,
    remarks: &mut Vec<String>,
) -> Result<Bytes, BenchError> {
    let usable = usable(free);
    let fits = whole_mib(usable);
    if usable < SMALLEST {
        return Err(BenchError::Full { path, free });
    }
    match requested {
        Some(needed) if needed > usable => Err(BenchError::NoSpace {
            path,
            free,
            needed,
            fits,
        }),
        None if wanted > usable => {
            remarks.push(remarks::smaller(fits, wanted, free));
            Ok(fits)
        }
        Some(_) | None => Ok(whole_mib(wanted)),
    }
}

fn choose_workloads(
    request: &BenchRequest,
    place: &BenchTarget,
    remarks: &mut Vec<String>,
) -> Result<Vec<SuiteWorkload>, BenchError> {
    let may_write = place.is_free_to_write() || request.erase;
    if let Some(writing) = request.only.iter().find(|w| w.writes() && !may_write) {
        return Err(BenchError::WouldDestroy {
            path: request.path.clone(),
            workload: writing.name(),
        });
    }
    if !request.only.is_empty() {
        return Ok(request.only.clone());
    }
    if !may_write {
        remarks.push(remarks::reads_only());
    }
    let deep = DEEP.into_iter().filter(|_| request.deep);
    Ok(SuiteWorkload::ALL
        .into_iter()
        .chain(deep)
        .filter(|w| may_write || !w.writes())
        .collect())
}

/// Runs a planned benchmark. Each round is stored before the next begins; a stop keeps the results so far.
///
/// Tracing costs time, so the measured rounds are not traced: one more round of the same series is, which the summary of
/// a series leaves out of all figures. If tracing is impossible, there is no such round, and the caveats of all others
/// have the reason.
///
/// A suite that writes to a device needs permission to erase it, and holds the permission until the end.
///
/// # Errors
/// [`BenchError`] if no round was measured.
pub fn run(
    plan: &BenchPlan,
    erasable: Option<&Erasable>,
    mut store: Option<&mut Store>,
    stop: &AtomicBool,
    watcher: &mut dyn Watcher,
) -> Result<BenchResult, BenchError> {
    check_permission(plan, erasable)?;
    let _lock = lock::lock(&plan.place)?;
    let clock = ClockChoice::best();
    let overhead = hakaru_engine::measure_overhead(clock);
    let mut suite = plan.suite.clone();
    let (_scratch, target) = prepare(&mut suite, &plan.place, erasable, stop, watcher)?;
    let not_traced = match plan.trace {
        true => obstacle(&round(&suite, 0).scenario(&target))?,
        false => None,
    };
    if let Some(because) = &not_traced {
        watcher.not_traced(because);
    }
    let traced = plan.trace && not_traced.is_none();
    let mut results = BenchResult::default();
    for repeat in 0..plan.repeats + u32::from(traced) {
        let trace = repeat == plan.repeats;
        match trace {
            true => watcher.traced_round(),
            false => watcher.round(repeat, plan.repeats),
        }
        let scenario = round(&suite, repeat).scenario(&target);
        let request = RunRequest {
            identity: Some(&plan.identity),
            series: SeriesPosition {
                id: results.records.first().map(|first| first.series.clone()),
                repeat,
            },
            overhead,
            caveats: not_traced.iter().cloned().collect(),
            trace: trace.then_some(crate::TraceExtent::AfterCost),
            live: watcher.live(),
            ..RunRequest::single(clock, stop)
        };
        let ran = one_round(&scenario, request, erasable, store.as_deref_mut(), watcher);
        if results.add(ran, scenario.phases.len(), watcher)? {
            break;
        }
    }
    Ok(results)
}

/// Returns the caveat with the reason why a scenario cannot be traced, if there is one.
fn obstacle(scenario: &Scenario) -> Result<Option<Caveat>, BenchError> {
    let session = Session::inspect(scenario)?.plan(SessionPolicy::BENCH)?;
    let because = session.trace_obstacle();
    Ok(because.map(|because| Caveat::NotTraced { because }))
}

impl BenchResult {
    /// Adds a round, and returns whether it was the last one.
    ///
    /// # Errors
    /// The error of the first round; of later ones, it is kept with the results of the rounds before.
    fn add(
        &mut self,
        round: Result<RunResult, BenchError>,
        phases: usize,
        watcher: &mut dyn Watcher,
    ) -> Result<bool, BenchError> {
        let RunResult {
            record,
            error,
            unstored,
        } = match round {
            Ok(result) => result,
            Err(error) if self.records.is_empty() => return Err(error),
            Err(error) => {
                self.error = Some(error);
                return Ok(true);
            }
        };
        if unstored.is_none() {
            watcher.stored(&record);
        }
        let incomplete = record.outcome == Outcome::Interrupted || record.phases.len() < phases;
        let is_last = incomplete || error.is_some() || unstored.is_some();
        self.records.push(record);
        self.error = unstored.map(BenchError::from);
        Ok(is_last)
    }
}

/// Refuses to write to a device without permission to erase it.
fn check_permission(plan: &BenchPlan, erasable: Option<&Erasable>) -> Result<(), BenchError> {
    let (BenchTarget::Device(path), None) = (&plan.place, erasable) else {
        return Ok(());
    };
    match plan.suite.workloads.iter().find(|w| w.writes()) {
        None => Ok(()),
        Some(writing) => Err(BenchError::WouldDestroy {
            path: path.clone(),
            workload: writing.name(),
        }),
    }
}

/// Returns the target of the suite; in a directory, a temporary file, which is written first.
fn prepare(
    suite: &mut Suite,
    place: &BenchTarget,
    erasable: Option<&Erasable>,
    stop: &AtomicBool,
    watcher: &mut dyn Watcher,
) -> Result<(Option<Scratch>, Target), BenchError> {
    Ok(match place {
        BenchTarget::Folder(folder) => {
            let scratch = fill_scratch(suite, folder, stop, watcher)?;
            let target = Target::Paths(vec![scratch.path()]);
            (Some(scratch), target)
        }
        // Opens the device node that the permission is for, even if a symbolic link changed its target.
        BenchTarget::Device(path) => {
            let node = erasable.map_or_else(|| path.clone(), Erasable::node);
            (None, Target::Paths(vec![node]))
        }
        BenchTarget::Sim(model) => (None, Target::Sim(model.clone())),
    })
}

/// Returns the suite of a round. Each round uses other offsets, so that it does not profit from cached data of the
/// previous round.
fn round(suite: &Suite, repeat: u32) -> Suite {
    Suite {
        seed: suite.seed.wrapping_add(u64::from(repeat)),
        ..suite.clone()
    }
}

fn one_round(
    scenario: &Scenario,
    request: RunRequest<'_>,
    erasable: Option<&Erasable>,
    store: Option<&mut Store>,
    watcher: &mut dyn Watcher,
) -> Result<RunResult, BenchError> {
    // The permission is for one specific device, but the engine opens it by name.
    if let Some(erasable) = erasable {
        erasable.check_unchanged(&Roots::live())?;
    }
    let session = Session::inspect(scenario)?.plan(SessionPolicy::BENCH)?;
    Ok(session.run(request, store, watcher)?)
}

fn fill_scratch(
    suite: &mut Suite,
    folder: &Path,
    stop: &AtomicBool,
    watcher: &mut dyn Watcher,
) -> Result<Scratch, BenchError> {
    let mut scratch = Scratch::make(folder)?;
    let patience = (suite.pace == SuiteLength::Quick).then_some(QUICK_FILL);
    let total = suite.size.0;
    scratch.fill(suite.size, SMALLEST, patience, &mut |done| {
        watcher.filling(done, total);
        !stop.load(std::sync::atomic::Ordering::Relaxed)
    })?;
    suite.size = scratch.size();
    Ok(scratch)
}
