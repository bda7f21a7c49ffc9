//! Workers of all runs that belong to one phase, and their combined rates.

use hakaru_model::caveat::Caveat;
use hakaru_model::facts::DiskStats;
use hakaru_model::finding::RampPart;
use hakaru_model::job::{Job, Op, PerOp};
use hakaru_model::measured::LeftOutReason;
use hakaru_model::record::{Origin, PhaseRecord, RunRecord, StopReason, WorkerRecord};
use hakaru_model::reported::{JobProperty, OpReport, StatedRate, WorkerReport};
use hakaru_model::units::{Bytes, Nanos};
use std::collections::BTreeMap;

/// Maximum number of bytes that a file system writes to its tables when it reserves space.
const MOST_TABLES: u64 = 1 << 20;

/// One phase over all runs that include it.
pub(super) struct PhaseRuns<'a> {
    pub(super) name: String,
    /// Runs that count.
    pub(super) runs: Vec<PhaseRun<'a>>,
    /// Excluded runs, if others count, with the reasons.
    pub(super) left_out: Vec<(PhaseRun<'a>, LeftOutReason)>,
}

/// One phase of one run.
#[derive(Clone, Copy)]
pub(super) struct PhaseRun<'a> {
    pub(super) record: &'a RunRecord,
    pub(super) phase: &'a PhaseRecord,
    /// Number of the run in its series, from 1.
    pub(super) number: u32,
    /// Index of the phase in the record.
    position: usize,
    /// Jobs of the phase, if the scenario has them.
    jobs: &'a [Job],
}

/// Rates of a phase in one run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Rates {
    pub(super) bytes_per_s: f64,
    pub(super) ios_per_s: f64,
}

impl Rates {
    /// Returns the rates of an amount in `time` nanoseconds; `None` if no time has passed.
    fn of(bytes: f64, ios: f64, time: u64) -> Option<Rates> {
        let per_s = |amount: f64| amount * 1e9 / time as f64;
        (time > 0).then(|| Rates {
            bytes_per_s: per_s(bytes),
            ios_per_s: per_s(ios),
        })
    }
}

impl<'a> PhaseRuns<'a> {
    fn new(name: &str) -> PhaseRuns<'a> {
        PhaseRuns {
            name: name.to_owned(),
            runs: Vec::new(),
            left_out: Vec::new(),
        }
    }

    /// Returns all runs, also those that do not count.
    pub(super) fn all_runs(&self) -> impl Iterator<Item = &PhaseRun<'a>> {
        let left_out = self.left_out.iter().map(|(run, _)| run);
        self.runs.iter().chain(left_out)
    }
}

/// Groups phases by name, and by their occurrence of that name within a run, in order of first appearance.
pub(super) fn collect(series: &[RunRecord]) -> Vec<PhaseRuns<'_>> {
    let mut phases: Vec<PhaseRuns<'_>> = Vec::new();
    let mut index: BTreeMap<(&str, usize), usize> = BTreeMap::new();
    for (number, record) in (1..).zip(series) {
        let mut seen: BTreeMap<&str, usize> = BTreeMap::new();
        for (position, phase) in record.phases.iter().enumerate() {
            let occurrence = seen.entry(&phase.name).and_modify(|n| *n += 1).or_insert(0);
            let place = *index.entry((&phase.name, *occurrence)).or_insert_with(|| {
                phases.push(PhaseRuns::new(&phase.name));
                phases.len() - 1
            });
            phases[place].runs.push(PhaseRun {
                record,
                phase,
                number,
                position,
                jobs: jobs_of(record, phase, position),
            });
        }
    }
    for phase in &mut phases {
        // An interrupted run, or one ended by an error, is not a repeat of a finished one.
        leave_out(phase, PhaseRun::unfinished);
        // A run that lost its CPU measured the host.
        leave_out(phase, PhaseRun::disturbed);
    }
    phases
}

/// Returns the jobs of a phase: at the same position of the scenario if the names agree, otherwise by name.
fn jobs_of<'a>(record: &'a RunRecord, phase: &PhaseRecord, position: usize) -> &'a [Job] {
    let planned = &record.scenario.phases;
    let same = planned.get(position).filter(|p| p.name == phase.name);
    same.or_else(|| planned.iter().find(|p| p.name == phase.name))
        .map_or(&[], |p| &p.jobs)
}

/// Excludes the runs that have a reason, if other runs have none.
fn leave_out<'a>(phase: &mut PhaseRuns<'a>, reason: fn(&PhaseRun<'a>) -> Option<LeftOutReason>) {
    if phase.runs.iter().all(|run| reason(run).is_some()) {
        return;
    }
    let found = phase.runs.extract_if(.., |run| reason(run).is_some());
    let found = found.filter_map(|run| Some((run, reason(&run)?)));
    phase.left_out.extend(found);
}

/// Returns the number of errors of a worker, without exceeded limits of its job.
pub(super) fn failed(worker: &WorkerRecord) -> u64 {
    let limits = worker
        .errors
        .first
        .iter()
        .filter(|e| e.kind.option().is_some());
    worker.errors.total.saturating_sub(limits.count() as u64)
}

impl<'a> PhaseRun<'a> {
    fn unfinished(&self) -> Option<LeftOutReason> {
        let ended = |w: &WorkerRecord| matches!(w.stop, StopReason::Stopped | StopReason::Error);
        let ended = self.phase.workers.iter().any(ended);
        ended.then_some(LeftOutReason::Unfinished)
    }

    /// Returns the reason if the run mostly measured the host: it had no CPU, or every interval contains a pause.
    fn disturbed(&self) -> Option<LeftOutReason> {
        let here = |phase: &String| *phase == self.phase.name;
        let lost = |caveat: &Caveat| match caveat.clone() {
            Caveat::Descheduled {
                phase,
                waited,
                measured,
            } if here(&phase) => Some(LeftOutReason::Descheduled { waited, measured }),
            Caveat::StolenTime {
                phase,
                stolen,
                measured,
            } if here(&phase) => Some(LeftOutReason::StolenTime { stolen, measured }),
            _ => None,
        };
        let whole = |w: &WorkerRecord| self.untouched(w).is_some_and(|(time, ..)| time == 0);
        let paused = || self.phase.workers.iter().any(whole);
        let lost = self.record.caveats.iter().find_map(lost);
        lost.or_else(|| paused().then_some(LeftOutReason::Paused))
    }

    /// Whether a pause of the host overlaps an interval of a worker.
    pub(super) fn is_touched(&self, worker: &WorkerRecord, at: Nanos, length: Nanos) -> bool {
        let Some(pauses) = &self.phase.host_pauses else {
            return false;
        };
        let (startdelay, ramp) = self.delay_and_ramp(worker);
        let end = at.0.saturating_add(startdelay.0).saturating_add(ramp.0);
        pauses.touches(Nanos(end.saturating_sub(length.0)), Nanos(end))
    }

    /// Returns the time of the intervals without pauses of the host, and their I/O by operation; `None` if there was no
    /// pause or no intervals are known.
    fn untouched(&self, worker: &WorkerRecord) -> Option<(u64, PerOp<(u64, u64)>)> {
        let paused = self
            .phase
            .host_pauses
            .as_ref()
            .is_some_and(|found| !found.pauses.is_empty());
        (paused && !worker.intervals.is_empty()).then_some(())?;
        let (mut time, mut done) = (0_u64, PerOp::<(u64, u64)>::default());
        for interval in worker
            .intervals
            .iter()
            .filter(|interval| !self.is_touched(worker, interval.at, interval.length))
        {
            time = time.saturating_add(interval.length.0);
            for op in Op::ALL {
                done[op].0 = done[op].0.saturating_add(interval.ops[op].bytes);
                done[op].1 = done[op].1.saturating_add(interval.ops[op].ios);
            }
        }
        Some((time, done))
    }

    /// Returns the bytes, I/Os and time for the rates of a worker.
    fn amounts(&self, worker: &WorkerRecord, op: Op) -> (u64, u64, u64) {
        match self.untouched(worker) {
            Some((time, done)) if time > 0 => (done[op].0, done[op].1, time),
            _ => (worker.ops[op].bytes, worker.ops[op].ios, worker.runtime.0),
        }
    }

    /// Whether I/Os of a worker were scheduled (open loop); `false` for other programs, which measure latency in their
    /// own way.
    pub(super) fn is_open_loop(&self, worker: &WorkerRecord, op: Op) -> bool {
        let measured = matches!(self.record.origin, Origin::Measured { .. });
        measured && self.job(worker).is_some_and(|job| job.is_open_loop(op))
    }

    /// Returns the workers that did the operation. For imported results, only the bytes or the rate may be known.
    pub(super) fn workers(&self, op: Op) -> impl Iterator<Item = &'a WorkerRecord> + use<'a> {
        let run = *self;
        let stated = move |w: &WorkerRecord| run.reported(w, op).is_some_and(OpReport::has_rate);
        self.phase
            .workers
            .iter()
            .filter(move |w| w.ops[op].ios > 0 || w.ops[op].bytes > 0 || stated(w))
    }

    /// Returns the printed details of a worker besides counts and sums.
    pub(super) fn report(&self, worker: &WorkerRecord) -> Option<&'a WorkerReport> {
        let Origin::Imported { reported, .. } = &self.record.origin else {
            return None;
        };
        let place = self
            .phase
            .workers
            .iter()
            .position(|w| std::ptr::eq(w, worker))?;
        reported.worker(self.position, place)
    }

    fn reported(&self, worker: &WorkerRecord, op: Op) -> Option<&'a OpReport> {
        self.report(worker).map(|report| &report.ops[op])
    }

    /// Returns the number of workers that a worker of the record represents: other programs print a group as one.
    pub(super) fn members(&self, worker: &WorkerRecord) -> u32 {
        self.report(worker)
            .map_or(1, |report| report.members.max(1))
    }

    pub(super) fn did(&self, op: Op) -> bool {
        self.workers(op).next().is_some()
    }

    /// Returns the first operation of the phase.
    pub(super) fn first_op(&self) -> Op {
        Op::ALL
            .into_iter()
            .find(|&op| self.did(op))
            .unwrap_or(Op::Read)
    }

    /// Whether the output of another program does not state this property of a job.
    pub(super) fn is_unstated(&self, job: u32, property: JobProperty) -> bool {
        let Origin::Imported { reported, .. } = &self.record.origin else {
            return false;
        };
        reported.is_unstated(self.position, job as usize, property)
    }

    pub(super) fn job(&self, worker: &WorkerRecord) -> Option<&'a Job> {
        self.jobs.get(worker.job as usize)
    }

    /// Returns the jobs whose workers did the operation, without duplicates, with their indexes in the phase.
    pub(super) fn jobs_doing(&self, op: Op) -> Vec<(u32, &'a Job)> {
        let mut indices: Vec<u32> = self.workers(op).map(|w| w.job).collect();
        indices.dedup();
        indices.sort_unstable();
        indices.dedup();
        indices
            .into_iter()
            .filter_map(|i| Some((i, self.jobs.get(i as usize)?)))
            .collect()
    }

    pub(super) fn bytes(&self, op: Op) -> u64 {
        self.workers(op)
            .fold(0, |sum, w| sum.saturating_add(w.ops[op].bytes))
    }

    /// Returns the number of errors of an operation. Only the first errors have details; the others are distributed in
    /// the same proportions. Exceeded limits of the job do not count.
    pub(super) fn errors(&self, op: Op) -> u64 {
        let of = |w: &WorkerRecord| {
            let kept = || w.errors.first.iter().filter(|e| e.kind.option().is_none());
            let ours = kept().filter(|e| e.operation() == Some(op)).count() as u128;
            (u128::from(failed(w)) * ours)
                .checked_div(kept().count() as u128)
                .unwrap_or(0) as u64
        };
        self.phase
            .workers
            .iter()
            .map(of)
            .fold(0, u64::saturating_add)
    }

    /// Returns the number of errors that belong to no operation or to an unknown one.
    pub(super) fn other_errors(&self) -> u64 {
        let all = self
            .phase
            .workers
            .iter()
            .map(failed)
            .fold(0, u64::saturating_add);
        Op::ALL
            .into_iter()
            .fold(all, |rest, op| rest.saturating_sub(self.errors(op)))
    }

    /// Returns the number of limits of the job that an operation exceeded.
    pub(super) fn limits_missed(&self, op: Op) -> u64 {
        let errors = self.phase.workers.iter().flat_map(|w| &w.errors.first);
        errors
            .filter(|e| e.kind.option().is_some() && e.operation() == Some(op))
            .count() as u64
    }

    /// Returns the longest measured time of its workers.
    pub(super) fn measured(&self, op: Op) -> Nanos {
        self.workers(op)
            .map(|w| w.ops[op].runtime.unwrap_or(w.runtime))
            .max()
            .unwrap_or_default()
    }

    /// Returns the start delay and the ramp time of a worker. A worker ends its ramp with the first I/O that completes
    /// after the ramp time, which is later the longer its I/Os take.
    pub(super) fn delay_and_ramp(&self, worker: &WorkerRecord) -> (Nanos, Nanos) {
        let measured = matches!(self.record.origin, Origin::Measured { .. });
        let before = Nanos(worker.job_runtime.0.saturating_sub(worker.runtime.0));
        self.job(worker).map_or((Nanos(0), Nanos(0)), |job| {
            let ramp = match job.timing.ramp_time {
                ramp if measured && ramp.0 > 0 => ramp.max(before),
                ramp => ramp,
            };
            (job.timing.startdelay, ramp)
        })
    }

    /// Returns the bytes of the whole phase, including ramp times; `None` if the bytes of a ramp time were not
    /// recorded.
    pub(super) fn bytes_with_ramp(&self, op: Op) -> Option<u64> {
        let of = |w: &WorkerRecord| {
            let ramp = match &w.ramp_bytes {
                Some(bytes) => bytes[op].0,
                None if self.delay_and_ramp(w).1.0 > 0 => return None,
                None => 0,
            };
            Some(w.ops[op].bytes.saturating_add(ramp))
        };
        self.phase
            .workers
            .iter()
            .try_fold(0_u64, |sum, w| Some(sum.saturating_add(of(w)?)))
    }

    /// Returns the bytes and the longest time of the ramps of all workers.
    pub(super) fn ramp(&self, op: Op) -> RampPart {
        let with_ramp = self.bytes_with_ramp(op).unwrap_or(0);
        let times = self.workers(op).map(|worker| self.delay_and_ramp(worker).1);
        RampPart {
            bytes: Bytes(with_ramp.saturating_sub(self.bytes(op))),
            time: times.max().unwrap_or_default(),
        }
    }

    /// Returns the maximum number of bytes in flight, and so on either side of the end of a ramp time. Synchronous
    /// engines have none there.
    pub(super) fn most_in_flight(&self) -> u64 {
        let of = |w: &WorkerRecord| {
            let Some(job) = self
                .job(w)
                .filter(|job| job.has_queue() && job.timing.ramp_time.0 > 0)
            else {
                return 0;
            };
            let block = Op::ALL
                .into_iter()
                .map(|op| job.block[op].max().0)
                .max()
                .unwrap_or(0);
            block.saturating_mul(u64::from(job.queue.iodepth))
        };
        self.phase
            .workers
            .iter()
            .map(of)
            .fold(0, u64::saturating_add)
    }

    /// Returns the largest number of bytes written by the layout.
    pub(super) fn laid_out(&self) -> Option<Bytes> {
        let laid_out = self.phase.laid_out.as_ref()?;
        if laid_out.bytes.0 > 0 || self.record.target.system_disk {
            return Some(laid_out.bytes);
        }
        // Space was only reserved: a file system without sparse files writes zeros there. Smaller amounts are its
        // tables.
        let written = moved(self, &laid_out.disks, Op::Write).filter(|bytes| *bytes >= MOST_TABLES);
        Some(Bytes(written.unwrap_or(0)))
    }

    /// Returns the rates of the phase. The workers of a reporting group add up over the time in which one of them
    /// measured; groups run in parallel, so their rates add up. `None` if no time has passed.
    pub(super) fn rates(&self, op: Op) -> Option<Rates> {
        let mut groups: BTreeMap<u32, Vec<&WorkerRecord>> = BTreeMap::new();
        for worker in self.workers(op) {
            let group = self.job(worker).map_or(worker.job, |job| job.group);
            groups.entry(group).or_default().push(worker);
        }
        let groups = groups.values().filter_map(|workers| {
            self.rates_of_ramped(workers, op)
                .or_else(|| self.rates_of(workers, op))
        });
        groups.chain(self.stated_rates(op)).reduce(|a, b| Rates {
            bytes_per_s: a.bytes_per_s + b.bytes_per_s,
            ios_per_s: a.ios_per_s + b.ios_per_s,
        })
    }

    /// Returns the rates of the workers of a group over their longest time, as in fio.
    fn rates_of(&self, workers: &[&WorkerRecord], op: Op) -> Option<Rates> {
        let (mut bytes, mut ios, mut time) = (0_u64, 0_u64, 0_u64);
        for worker in workers {
            let amounts = self.amounts(worker, op);
            bytes = bytes.saturating_add(amounts.0);
            ios = ios.saturating_add(amounts.1);
            time = time.max(amounts.2);
        }
        Rates::of(bytes as f64, ios as f64, time)
    }

    /// Returns the rates of workers that ended their ramps at different moments, over the time from the first of them
    /// to the last completion. Their longest time would be shorter: it counts what the last worker completes after the
    /// first one has ended, but not the time that it takes.
    ///
    /// A worker starts with a completion, which it does not count. In this time, all but that of the first worker count.
    fn rates_of_ramped(&self, workers: &[&WorkerRecord], op: Op) -> Option<Rates> {
        let part = |worker: &&WorkerRecord| {
            let (startdelay, ramp) = self.delay_and_ramp(worker);
            let has_ramp = ramp.0 > 0 && self.untouched(worker).is_none();
            has_ramp.then_some((startdelay, ramp.0, ramp.0.saturating_add(worker.runtime.0)))
        };
        let parts: Vec<(Nanos, u64, u64)> = workers.iter().map(part).collect::<Option<_>>()?;
        let ((delay, mut first, mut last), rest) = parts.split_first().map(|(a, b)| (*a, b))?;
        let measured = matches!(self.record.origin, Origin::Measured { .. });
        if !measured || rest.is_empty() || rest.iter().any(|part| part.0 != delay) {
            return None;
        }
        for (_, start, end) in rest {
            (first, last) = (first.min(*start), last.max(*end));
        }
        let (mut bytes, mut ios) = (0.0, 0.0);
        for (worker, (_, start, _)) in workers.iter().zip(&parts) {
            let done = &worker.ops[op];
            let all: u64 = Op::ALL.into_iter().map(|op| worker.ops[op].ios).sum();
            let uncounted = f64::from(u8::from(*start > first)) / (all as f64).max(1.0);
            bytes += done.bytes as f64 * (1.0 + uncounted);
            ios += done.ios as f64 * (1.0 + uncounted);
        }
        Rates::of(bytes, ios, last - first)
    }

    /// Returns the rates that another program printed.
    fn stated_rates(&self, op: Op) -> impl Iterator<Item = Rates> {
        let mean = |rate: Option<StatedRate>| rate.map_or(0.0, |rate| rate.mean);
        let reports = self
            .workers(op)
            .filter_map(move |worker| self.reported(worker, op));
        let stated = reports.filter(|report| report.has_rate());
        stated.map(move |report| Rates {
            bytes_per_s: mean(report.bytes_per_s),
            ios_per_s: mean(report.iops),
        })
    }
}

/// Returns the bytes transferred by the lowest disk.
pub(super) fn moved(run: &PhaseRun<'_>, disks: &[DiskStats], op: Op) -> Option<u64> {
    let kname = run
        .record
        .target
        .device
        .known()
        .map(|device| device.kname.as_str());
    let sectors = |disk: &DiskStats| match op {
        Op::Read => disk.read_sectors,
        Op::Write => disk.write_sectors,
        Op::Trim => 0,
    };
    let bottom = disks.iter().find(|disk| Some(disk.name.as_str()) == kname);
    bottom
        .or_else(|| disks.iter().max_by_key(|disk| sectors(disk)))
        .map(|disk| sectors(disk).saturating_mul(512))
}
