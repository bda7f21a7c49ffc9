//! Caveats that follow from the results of a phase.

use hakaru_model::caveat::Caveat;
use hakaru_model::measured::{HostPauses, PauseKind};
use hakaru_model::obstacle::CountersObstacle;
use hakaru_model::plan::PhasePlan;
use hakaru_model::record::{IoError, PhaseRecord, StopReason, WorkerRecord};
use hakaru_model::units::Nanos;

/// Minimum run-queue wait or steal time of a phase for a caveat; a minimum percentage applies as
/// well.
const LONG_WAIT: Nanos = Nanos::from_millis(100);
/// Minimum shares of the measured time for a caveat, in percent.
const WAITED_PERCENT: u64 = 10;
const STOLEN_PERCENT: u64 = 5;

/// Returns the longest time of any worker.
pub(super) fn longest(workers: &[WorkerRecord], time: fn(&WorkerRecord) -> Nanos) -> Nanos {
    workers.iter().map(time).max().unwrap_or_default()
}

/// Returns the caveats of a phase, in the order of the record.
pub(super) fn of_phase(phase: &PhasePlan, record: &PhaseRecord) -> Vec<Caveat> {
    let mut caveats = Vec::new();
    let workers = &record.workers;
    if workers.iter().any(|w| w.stop == StopReason::Stopped) {
        caveats.push(Caveat::Interrupted {
            phase: phase.name.clone(),
            measured: longest(workers, |w| w.runtime),
        });
    }
    caveats.extend(of_errors(&phase.name, workers));
    caveats.extend(of_pauses(record));
    caveats.extend(of_waiting(record));
    if !phase.files.is_empty() && record.disks.is_empty() {
        caveats.push(Caveat::NoDiskStats {
            because: CountersObstacle::NoBlockDevice.into(),
        });
    }
    caveats
}

/// Returns the caveats of broken rules of the job, and of errors of the device.
fn of_errors(phase: &str, workers: &[WorkerRecord]) -> impl Iterator<Item = Caveat> {
    let all = || workers.iter().flat_map(|w| &w.errors.first);
    let is_rule = |error: &&IoError| error.kind.option().is_some();
    let broken = all().find(is_rule).map(|error| Caveat::RuleBroken {
        phase: phase.to_owned(),
        op: error.op,
        kind: error.kind,
    });
    let count: u64 = workers.iter().map(|w| w.errors.total).sum();
    let count = count.saturating_sub(all().filter(is_rule).count() as u64);
    let failed = all().find(|error| !is_rule(error));
    let failed = failed.map(|first| Caveat::DeviceErrors {
        phase: phase.to_owned(),
        count,
        first: first.into(),
    });
    broken.into_iter().chain(failed)
}

/// Returns the caveats of pauses of the host.
fn of_pauses(record: &PhaseRecord) -> impl Iterator<Item = Caveat> {
    let found = record.host_pauses.iter();
    let kinds = [PauseKind::Stopped, PauseKind::Suspended];
    let of_kind = |kind: PauseKind| {
        found.clone().filter_map(move |found: &HostPauses| {
            let pauses = found.pauses.iter().filter(|pause| pause.kind == kind);
            Some(Caveat::Paused {
                phase: record.name.clone(),
                kind,
                times: pauses.clone().count() as u32,
                total: found.total(kind),
                longest: pauses.map(|pause| pause.length).max()?,
            })
        })
    };
    kinds.map(of_kind).into_iter().flatten()
}

/// Returns the caveats of processor time that the workers did not get.
fn of_waiting(record: &PhaseRecord) -> impl Iterator<Item = Caveat> {
    let phase = || record.name.clone();
    let measured = longest(&record.workers, |w| w.runtime);
    let long = |time: Nanos, least: u64| time >= LONG_WAIT && time.0 > measured.0 / 100 * least;
    let stolen = record.host_pauses.as_ref().map(|found| found.stolen);
    let stolen = stolen.filter(|&stolen| long(stolen, STOLEN_PERCENT));
    let stolen = stolen.map(|stolen| Caveat::StolenTime {
        phase: phase(),
        stolen,
        measured,
    });
    // If there are more workers than CPUs, they wait for one another, and other load is not the
    // cause.
    let cpus = std::thread::available_parallelism();
    let alone = cpus.is_ok_and(|n| record.workers.len() <= n.get());
    let waited = longest(&record.workers, |w| w.cpu.waited.unwrap_or_default());
    let descheduled = (alone && long(waited, WAITED_PERCENT)).then(|| Caveat::Descheduled {
        phase: phase(),
        waited,
        measured,
    });
    stolen.into_iter().chain(descheduled)
}
