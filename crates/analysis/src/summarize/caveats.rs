//! Caveats of a series: those of its records, without duplicates, and those that follow from the figures.

mod set;
mod stability;

use super::phases;
use hakaru_model::caveat::{Caveat, FirstFailure};
use hakaru_model::facts::Filesystem;
use hakaru_model::finding::{LatencySummary, PhaseSummary, Summary};
use hakaru_model::job::Op;
use hakaru_model::record::{IoError, Origin, RunRecord};
use hakaru_model::units::{Bytes, Nanos, Quantile};
use set::CaveatSet;
use std::collections::BTreeSet;

/// Minimum measured time of a phase: a stall of half a second, typical for garbage collection, is 5% of this.
pub const SHORT: Nanos = Nanos::from_secs(10);

/// Minimum number of runs: with fewer, the half-width of the interval of the mean exceeds 1.24 standard deviations.
pub const FEW_RUNS: u32 = 5;

/// Minimum size of written files: smaller ones may fit in a cache of the device, because small drives have 1 GiB of
/// memory or fast flash.
pub(crate) const SMALL_FILE: Bytes = Bytes(1 << 30);

/// Load average at the start of the first run, in percent of a CPU, above which the host counts as busy. Later runs are
/// not checked: Linux counts a process that waits for a disk as load, so their load includes the previous run.
const HOST_BUSY_PERCENT: u32 = 50;

/// Overhead that is not reported, as a share of the median latency in thousandths: it is within the spread of runs.
const OVERHEAD_PERMILLE: u32 = 10;

/// CPU frequency governors that let the CPU slow down between two I/Os: a device that answers in 100 µs seems slower by
/// the time the CPU takes to speed up again.
const SLOW_GOVERNORS: [&str; 4] = ["powersave", "ondemand", "conservative", "schedutil"];

/// Minimum fraction of the reads that the device must have read; below it, reads count as answered elsewhere.
const ALL_READ: f64 = 0.90;

/// Flag bits of the Raspberry Pi for the present state (under-voltage, capped, throttled, hot); the other bits cover
/// the time since boot.
const THROTTLED_NOW: u32 = 0xf;

/// Returns all caveats of a series without duplicates, in order of appearance.
pub(super) fn collect(series: &[RunRecord], summary: &Summary) -> Vec<Caveat> {
    let mut list = CaveatSet::default();
    for (number, run) in (1..).zip(series) {
        for caveat in run.caveats.iter().filter(|c| counts(c, number, summary)) {
            list.add(caveat.clone());
        }
    }
    if let Some(first) = series.first() {
        circumstances(first, series, summary, &mut list);
    }
    unlike(series)
        .into_iter()
        .for_each(|caveat| list.add(caveat));
    for phase in &summary.phases {
        of_phase(phase, summary, &mut list);
    }
    for run in series {
        errors(run, &mut list);
    }
    let runs = summary.runs.len() as u32;
    if (1..FEW_RUNS).contains(&runs) {
        list.add(Caveat::FewRuns { runs });
    }
    list.0
}

/// Whether a caveat of a run applies to the results: runs that are excluded from a phase do not affect its figures.
fn counts(caveat: &Caveat, number: u32, summary: &Summary) -> bool {
    let (Caveat::Interrupted { phase, .. }
    | Caveat::Paused { phase, .. }
    | Caveat::Descheduled { phase, .. }
    | Caveat::StolenTime { phase, .. }) = caveat
    else {
        return true;
    };
    let phases = summary.phases.iter().filter(|of| of.phase == *phase);
    let mut left_out = phases.flat_map(|phase| &phase.detail.left_out);
    left_out.all(|run| run.run != number)
}

/// Returns the disks whose counters an imported result contains, joined by `+`; empty if there are none.
pub fn reported_disks(run: &RunRecord) -> String {
    let Origin::Imported { reported, .. } = &run.origin else {
        return String::new();
    };
    let disks = reported
        .blocks
        .iter()
        .filter(|block| block.name == "disk")
        .filter_map(|block| block.words_of("name"));
    disks
        .collect::<BTreeSet<&str>>()
        .into_iter()
        .collect::<Vec<_>>()
        .join("+")
}

/// Returns caveats for properties that should be equal in all runs of a series but are not.
fn unlike(series: &[RunRecord]) -> Vec<Caveat> {
    let kind = |run: &RunRecord| {
        let filesystem = run.target.filesystem.as_ref();
        let kind = filesystem.map(|filesystem| filesystem.fs_type.clone());
        // The layer of a campaign is more specific than the type of its file system.
        kind.filter(|kind| kind != Filesystem::UNNAMED && run.campaign.is_none())
            .unwrap_or_default()
    };
    let count = |of: &dyn Fn(&RunRecord) -> String| {
        let named = series.iter().map(of).filter(|name| !name.is_empty());
        named.collect::<BTreeSet<String>>().len() as u32
    };
    let counted = [
        ("file systems", count(&kind)),
        ("disks", count(&reported_disks)),
    ];
    let several = counted.into_iter().filter(|(_, count)| *count > 1);
    several
        .map(|(what, count)| Caveat::Pooled {
            count,
            what: what.to_owned(),
        })
        .collect()
}

/// Adds the circumstances of the runs that affect their figures.
fn circumstances(first: &RunRecord, series: &[RunRecord], summary: &Summary, list: &mut CaveatSet) {
    if first.target.system_disk {
        list.add(Caveat::SystemDisk);
    }
    if list.0.contains(&Caveat::Simulated) {
        // Virtual time does not depend on this host.
        return;
    }
    host(first, series, list);
    let device = first.target.device.known();
    let cache = device.and_then(|device| device.write_cache.known());
    let writes_back = cache.is_some_and(|mode| mode == "write back");
    if writes_back && summary.phases.iter().any(writes_without_sync) {
        list.add(Caveat::WriteCache);
    }
}

/// Adds the state of the host: its load, throttling, and power saving.
fn host(first: &RunRecord, series: &[RunRecord], list: &mut CaveatSet) {
    let load = first.environment.load_percent.known();
    if let Some(&load_percent) = load.filter(|&&load| load > HOST_BUSY_PERCENT) {
        list.add(Caveat::HostBusy { load_percent });
    }
    let flags = series
        .iter()
        .filter_map(|run| run.environment.throttled.known());
    for &flags in flags.filter(|&&flags| flags & THROTTLED_NOW != 0) {
        list.add(Caveat::HostThrottled { flags });
    }
    let governor = first.environment.governor.known();
    if let Some(governor) = governor.filter(|g| SLOW_GOVERNORS.contains(&g.as_str())) {
        list.add(Caveat::PowerSaving {
            governor: governor.clone(),
        });
    }
}

fn writes_without_sync(phase: &PhaseSummary) -> bool {
    phase.op == Op::Write
        && phase
            .detail
            .shape
            .is_none_or(|s| s.sync_every == 0 && !s.sync_open)
}

fn of_phase(phase: &PhaseSummary, summary: &Summary, list: &mut CaveatSet) {
    let name = || phase.phase.clone();
    let measured = phase.detail.measured;
    // The measured time of stated rates is unknown.
    if measured > Nanos(0) && measured < SHORT {
        list.add(Caveat::Short {
            phase: name(),
            measured,
            wanted: SHORT,
        });
    }
    left_out(phase, list);
    few_samples(phase, list);
    sizes(phase, summary, list);
    cliffs(phase, list);
    read_elsewhere(phase, list);
    if let Some(because) = phase.detail.no_amplification {
        list.add(Caveat::NoAmplification {
            phase: name(),
            because,
        });
    }
    overhead(phase, summary, list);
    stability::of_phase(phase, list);
}

/// Lists the runs that do not count.
fn left_out(phase: &PhaseSummary, list: &mut CaveatSet) {
    let runs = phase.detail.left_out.clone();
    if !runs.is_empty() {
        list.add(Caveat::LeftOut {
            phase: phase.phase.clone(),
            of: (phase.bandwidth.values.len() + runs.len()) as u32,
            runs,
        });
    }
}

/// Adds the proven speed drops of a long write.
fn cliffs(phase: &PhaseSummary, list: &mut CaveatSet) {
    let falls = phase.sustained.iter().flat_map(|s| &s.falls);
    for cliff in falls.filter(|fall| fall.proven) {
        list.add(Caveat::Cliff {
            phase: phase.phase.clone(),
            at: cliff.at,
            before: cliff.before,
            after: cliff.after,
        });
    }
}

/// Compares the read bytes with the disk counters.
fn read_elsewhere(phase: &PhaseSummary, list: &mut CaveatSet) {
    let read = phase
        .amplification
        .as_ref()
        .filter(|_| phase.op == Op::Read)
        .map(|amplification| amplification.mean);
    if let Some(share) = read.filter(|&share| share < ALL_READ) {
        let share_permille = (share.max(0.0) * 1e3).round() as u32;
        list.add(Caveat::ReadElsewhere {
            phase: phase.phase.clone(),
            share_permille,
        });
    }
}

/// Checks the 99th percentile of I/Os, and the 99.9th of `fsync`, which matters for databases.
fn few_samples(phase: &PhaseSummary, list: &mut CaveatSet) {
    let mut check = |latency: &Option<LatencySummary>, q: Quantile| {
        let Some(latency) = latency else {
            return;
        };
        // Without a curve there is no histogram, so no percentile is missing.
        if !latency.curve.is_empty() && !q.has_enough(latency.count) {
            list.add(Caveat::FewSamples {
                phase: phase.phase.clone(),
                samples: latency.count,
                percentile: q,
            });
        }
    };
    check(&phase.latency, Quantile::P99);
    check(&phase.sync, Quantile::P999);
}

fn sizes(phase: &PhaseSummary, summary: &Summary, list: &mut CaveatSet) {
    let Some((shape, size)) = phase.detail.shape.and_then(|s| Some((s, s.extent?))) else {
        return;
    };
    let memory = summary.environment.memory;
    if phase.op == Op::Write && size < SMALL_FILE {
        list.add(Caveat::SmallFile { size });
    }
    if phase.op == Op::Read && !shape.direct && memory.0 > 0 && size < memory {
        list.add(Caveat::FitsInMemory { size, memory });
    }
}

fn overhead(phase: &PhaseSummary, summary: &Summary, list: &mut CaveatSet) {
    let median = |latency: &LatencySummary| {
        latency
            .quantiles
            .iter()
            .find(|(q, _)| *q == Quantile::MEDIAN)
            .map_or(latency.mean_ns, |(_, v)| v.0 as f64)
    };
    let (Some(cost), Some(usual)) = (summary.overhead_ns, phase.latency.as_ref().map(median))
    else {
        return;
    };
    let permille = if usual > 0.0 { cost / usual * 1e3 } else { 1e3 };
    if permille > f64::from(OVERHEAD_PERMILLE) {
        let (per_io, share_permille) = (Nanos(cost.round() as u64), permille.round() as u32);
        list.add(Caveat::Overhead {
            phase: phase.phase.clone(),
            per_io,
            share_permille,
        });
    }
}

/// Adds device errors and exceeded limits, unless the record already has caveats of them.
fn errors(run: &RunRecord, list: &mut CaveatSet) {
    let is_known = |name: &str| {
        let of = |c: &Caveat| match c {
            Caveat::DeviceErrors { phase, .. } | Caveat::RuleBroken { phase, .. } => phase == name,
            _ => false,
        };
        run.caveats.iter().any(of)
    };
    for phase in run.phases.iter().filter(|phase| !is_known(&phase.name)) {
        let all = || phase.workers.iter().flat_map(|worker| &worker.errors.first);
        let is_limit = |error: &&IoError| error.kind.option().is_some();
        if let Some(error) = all().find(is_limit) {
            list.add(Caveat::RuleBroken {
                phase: phase.name.clone(),
                op: error.op,
                kind: error.kind,
            });
        }
        let count = phase.workers.iter().map(phases::failed);
        let count = count.fold(0, u64::saturating_add);
        if count > 0 {
            let first = all().find(|error| !is_limit(error));
            let first = first.map_or_else(
                || FirstFailure::Described("no details".to_owned()),
                FirstFailure::from,
            );
            list.add(Caveat::DeviceErrors {
                phase: phase.name.clone(),
                count,
                first,
            });
        }
    }
}
