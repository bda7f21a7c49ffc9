//! Time of an I/O from the block layer down (await), from the kernel's counters, and whether a run began with a new file.

use super::phases::PhaseRun;
use hakaru_model::job::Op;
use hakaru_model::record::Origin;
use hakaru_model::reported::ReportedBlock;

/// Largest difference between the requests of the disk and the I/Os of the job, as a share, at which a request still
/// counts as an I/O.
const SAME_COUNT: f64 = 0.05;

/// Returns the mean time of an I/O from the block layer down in nanoseconds, over all runs; `None` unless each of them has it.
pub(super) fn device_ns(runs: &[&PhaseRun<'_>], op: Op) -> Option<f64> {
    let times: Option<Vec<f64>> = runs.iter().map(|run| of_run(run, op)).collect();
    let times = times.filter(|times| !times.is_empty())?;
    Some(times.iter().sum::<f64>() / times.len() as f64)
}

/// Returns the time of all requests of the only disk of a run, divided by their number (Linux, `block/stat`: fields
/// "read ticks" and "write ticks"). The requests must be the I/Os of the job: neither split, nor merged, nor of others.
fn of_run(run: &PhaseRun<'_>, op: Op) -> Option<f64> {
    let (requests, total_ns) = match &run.record.origin {
        Origin::Imported { reported, .. } => printed(&reported.blocks, run, op)?,
        Origin::Measured { .. } => {
            let [disk] = &run.phase.traffic.as_ref()?.disks[..] else {
                return None;
            };
            match op {
                Op::Read => (disk.read_ios, disk.read_ticks.0),
                Op::Write => (disk.write_ios, disk.write_ticks.0),
                Op::Trim => return None,
            }
        }
    };
    let ios = run.workers(op).map(|worker| worker.ops[op].ios);
    let ios = ios.fold(0, u64::saturating_add);
    let is_same = requests.abs_diff(ios) as f64 <= SAME_COUNT * ios as f64;
    (ios > 0 && requests > 0 && total_ns > 0 && is_same).then(|| total_ns as f64 / requests as f64)
}

/// Returns requests and their total time in nanoseconds as another program printed them, in milliseconds. Its counters
/// cover all of its jobs, so only a result with one phase has them.
fn printed(blocks: &[ReportedBlock], run: &PhaseRun<'_>, op: Op) -> Option<(u64, u64)> {
    let [_] = &run.record.phases[..] else {
        return None;
    };
    let mut disks = blocks.iter().filter(|block| block.name == "disk");
    let (disk, None) = (disks.next()?, disks.next()) else {
        return None;
    };
    let (requests, ticks) = match op {
        Op::Read => ("ios r", "ticks r"),
        Op::Write => ("ios w", "ticks w"),
        Op::Trim => return None,
    };
    let total_ns = disk.whole(ticks)?.checked_mul(1_000_000)?;
    Some((disk.whole(requests)?, total_ns))
}

/// Returns for each imported run whether its program created its files before it wrote; empty if a run does not show it.
pub(super) fn new_files(runs: &[&PhaseRun<'_>], op: Op) -> Vec<bool> {
    let is_new = |run: &&PhaseRun<'_>| {
        let Origin::Imported { reported, .. } = &run.record.origin else {
            return None;
        };
        let has = |name: &str| reported.blocks.iter().any(|block| block.name == name);
        // Files are laid out after the programs' start is announced.
        has("start").then(|| has("layout"))
    };
    let all: Option<Vec<bool>> = runs.iter().map(is_new).collect();
    all.filter(|_| op == Op::Write).unwrap_or_default()
}
