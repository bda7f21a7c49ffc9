//! Merges workers into the jobs that fio reports, and jobs into groups.

use super::view::{RunView, WorkerView};
use crate::fio::{JobExtras, UnifiedReporting};
use hakaru_model::job::rules::IgnoredErrors;
use hakaru_model::job::{Durability, ErrorPolicy, IoEngine, Job, Op, PerOp};
use hakaru_model::record::{
    CpuUsage, DepthRecord, ErrorRecord, FailureKind, IoError, Latency, OpRecord, OtherSyncs,
    Samples, SteadyRecord, StopReason, WorkerRecord,
};
use hakaru_model::units::Nanos;

/// One reported job: a single worker, or all workers of a group under `group_reporting`.
#[derive(Clone, Debug)]
pub(super) struct ReportedJob<'a> {
    /// Job of the first worker.
    pub(super) job: &'a Job,
    /// Its settings outside the scenario.
    pub(super) extras: &'a JobExtras,
    /// Group number.
    pub(super) group: u32,
    /// Number of workers.
    pub(super) members: u32,
    /// Process ID of the first worker.
    pub(super) pid: u32,
    /// Start of the first worker, in ms since 1970 UTC.
    pub(super) started_unix_ms: i64,
    /// The error that ended a worker, if any.
    pub(super) fatal: Option<&'a IoError>,
    /// Number of errors of the kinds that `continue_on_error` names.
    pub(super) errors: u64,
    /// The first of these of any worker.
    pub(super) first_error: Option<&'a IoError>,
    /// Totals by operation.
    pub(super) ops: PerOp<OpTotals>,
    /// Sync latency.
    pub(super) sync: Latency,
    /// Number of syncs counted.
    pub(super) syncs: u64,
    /// Queue depth distribution.
    pub(super) depth: DepthRecord,
    /// CPU use.
    pub(super) cpu: CpuUsage,
    /// Sum of the runtimes of all workers.
    pub(super) job_runtime: Nanos,
    /// Result of the steady-state detection.
    pub(super) steady: Option<&'a SteadyRecord>,
    /// Queue depth found by the latency target search.
    pub(super) latency_depth: Option<u32>,
}

/// Totals of one operation in a report.
#[derive(Clone, Debug, Default)]
pub(super) struct OpTotals {
    /// I/Os issued.
    pub(super) ios: u64,
    /// Bytes transferred.
    pub(super) bytes: u64,
    /// Short I/Os.
    pub(super) short: u64,
    /// Number of zone resets.
    pub(super) zone_resets: u64,
    /// Measured time of the longest worker in ms, rounded up; 0 if nothing was transferred.
    pub(super) runtime_ms: u64,
    /// Submission latency: creation to submission.
    pub(super) slat: Latency,
    /// Completion latency: submission to completion.
    pub(super) clat: Latency,
    /// Total latency: creation to completion.
    pub(super) lat: Latency,
    /// Bandwidth samples, KiB/s.
    pub(super) bw: MergedSpread,
    /// IOPS samples.
    pub(super) iops: MergedSpread,
}

/// Statistics of samples over time. Workers that ran at the same time add up.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct MergedSpread {
    /// Number of samples of all workers.
    pub(super) count: u64,
    /// Sum of the minimums.
    pub(super) min: u64,
    /// Sum of the maximums.
    pub(super) max: u64,
    /// Sum of the means.
    pub(super) mean: f64,
    /// Sum of the squared deviations from each worker's mean.
    scatter: f64,
}

impl MergedSpread {
    fn of(samples: &Samples, unit: u64) -> MergedSpread {
        let (mean, deviation) = (
            samples.mean().unwrap_or(0.0),
            samples.deviation().unwrap_or(0.0),
        );
        let scale = unit as f64;
        MergedSpread {
            count: samples.count,
            min: samples.min / unit,
            max: samples.max / unit,
            mean: mean / scale,
            scatter: (deviation / scale).powi(2) * samples.count.saturating_sub(1) as f64,
        }
    }

    fn add(&mut self, other: &MergedSpread) {
        self.count += other.count;
        self.min += other.min;
        self.max += other.max;
        self.mean += other.mean;
        self.scatter += other.scatter;
    }

    /// Standard deviation of the samples from the mean of their worker.
    pub(super) fn deviation(&self) -> f64 {
        if self.count < 2 {
            0.0
        } else {
            (self.scatter / (self.count - 1) as f64).sqrt()
        }
    }
}

impl OpTotals {
    fn of(op: &OpRecord, runtime: Nanos) -> OpTotals {
        OpTotals {
            // A record from another source may count completions only.
            ios: op.issued.max(op.ios),
            bytes: op.bytes,
            short: op.short,
            zone_resets: op.zone_resets,
            runtime_ms: if op.bytes > 0 {
                op.runtime.unwrap_or(runtime).0.div_ceil(1_000_000)
            } else {
                0
            },
            slat: op.slat.clone(),
            clat: op.clat.clone(),
            lat: op.lat.clone(),
            bw: MergedSpread::of(&op.bw_samples, 1024),
            iops: MergedSpread::of(&op.iops_samples, 1000),
        }
    }

    fn add(&mut self, other: &OpTotals) {
        self.ios += other.ios;
        self.bytes += other.bytes;
        self.short += other.short;
        self.zone_resets += other.zone_resets;
        self.runtime_ms = self.runtime_ms.max(other.runtime_ms);
        self.slat.merge(&other.slat);
        self.clat.merge(&other.clat);
        self.lat.merge(&other.lat);
        self.bw.add(&other.bw);
        self.iops.add(&other.iops);
    }

    /// Bytes per second, rounded down.
    pub(super) fn bytes_per_s(&self) -> u64 {
        per_second(self.bytes, self.runtime_ms)
    }

    /// I/Os per second.
    pub(super) fn iops_exact(&self) -> f64 {
        if self.runtime_ms == 0 {
            0.0
        } else {
            self.ios as f64 * 1000.0 / self.runtime_ms as f64
        }
    }

    /// I/Os per second, rounded down.
    pub(super) fn iops_whole(&self) -> u64 {
        per_second(self.ios, self.runtime_ms)
    }
}

fn per_second(amount: u64, ms: u64) -> u64 {
    if ms == 0 {
        0
    } else {
        u64::try_from(u128::from(amount) * 1000 / u128::from(ms)).unwrap_or(u64::MAX)
    }
}

/// Returns the number of errors that fio counts, and the first: not a failed I/O of an operation for which the job does
/// not continue.
fn counted_errors<'a>(
    record: &'a WorkerRecord,
    policy: &ErrorPolicy,
) -> (u64, Option<&'a IoError>) {
    let ErrorRecord { total, first } = &record.errors;
    let uncounted = |error: &IoError| {
        error.kind == FailureKind::Io && error.op.is_some_and(|op| !policy.continue_on[op])
    };
    let ended = record.stop == StopReason::Error && first.last().is_some_and(uncounted);
    let counted = total.saturating_sub(u64::from(ended));
    (counted, first.first().filter(|_| counted > 0))
}

impl<'a> ReportedJob<'a> {
    fn of(worker: &WorkerView<'a>) -> ReportedJob<'a> {
        let (job, record) = (worker.job, worker.record);
        let fatal = record.errors.first.first();
        let (errors, first_error) = counted_errors(record, &job.errors);
        let mut report = ReportedJob {
            job,
            extras: worker.extras,
            group: job.group,
            members: 1,
            pid: record.pid,
            started_unix_ms: worker.started_unix_ms,
            fatal: fatal.filter(|_| record.stop == StopReason::Error),
            errors,
            first_error,
            ops: record.ops.map(|op| OpTotals::of(op, record.runtime)),
            sync: record.sync.clone(),
            syncs: record.sync.stat.count,
            depth: record.depth.clone(),
            cpu: record.cpu,
            job_runtime: record.job_runtime,
            steady: record.steady.as_ref(),
            latency_depth: record.latency_depth,
        };
        report.depth.iodepth = report.depth.iodepth.max(job.queue.iodepth);
        report.leave_out_what_fio_does();
        report.count_syncs_as_fio_does(record.other_syncs);
        report
    }

    /// Counts syncs as fio does. fio times each `fdatasync` and `sync_file_range`, but counts `fdatasync` as a short
    /// read and `sync_file_range` as a short write. Based on observed output of version 3.33.
    fn count_syncs_as_fio_does(&mut self, other_syncs: Option<OtherSyncs>) {
        let Durability {
            fsync_every,
            fdatasync_every,
            range_sync,
            ..
        } = &self.job.durability;
        let all = self.sync.stat.count;
        let by_rule = || match (fsync_every, fdatasync_every, range_sync) {
            (0, 0, Some(_)) => OtherSyncs {
                range: all,
                ..OtherSyncs::default()
            },
            (0, 1.., _) => OtherSyncs {
                data: all,
                ..OtherSyncs::default()
            },
            _ => OtherSyncs::default(),
        };
        let OtherSyncs { data, range } = other_syncs.unwrap_or_else(by_rule);
        self.syncs = all.saturating_sub(data + range);
        self.ops.read.short += data;
        self.ops.write.short += range;
    }

    /// Removes figures that fio does not report for some engines. Based on observed output.
    fn leave_out_what_fio_does(&mut self) {
        let engine = self.job.ioengine;
        if self.job.queue.offload {
            self.count_depths_of_offload();
        }
        let polled = engine == IoEngine::IoUring && self.job.engine.sqthread_poll;
        let null = engine == IoEngine::Null && self.job.queue.iodepth == 1;
        if polled || null {
            (self.depth.submit, self.depth.submit_calls) = Default::default();
        }
        if null {
            (self.depth.complete, self.depth.complete_calls) = Default::default();
        }
        for op in Op::ALL {
            if polled || engine == IoEngine::Vsync {
                self.ops[op].slat = Latency::default();
            }
            if engine.works_on_names() {
                self.ops[op].lat = Latency::default();
            }
        }
    }

    /// Counts depths as fio does with `io_submit_mode=offload`: each submitting thread has one I/O in flight at a time.
    fn count_depths_of_offload(&mut self) {
        let ios: u64 = self.depth.level.iter().sum();
        let depth = &mut self.depth;
        depth.level = [ios, 0, 0, 0, 0, 0, 0];
        (depth.submit, depth.complete) = ([0, ios, 0, 0, 0, 0, 0], [0, ios, 0, 0, 0, 0, 0]);
        (depth.submit_calls, depth.complete_calls) = (ios, ios);
    }

    fn add(&mut self, other: &ReportedJob<'a>) {
        self.members += other.members;
        self.fatal = self.fatal.or(other.fatal);
        self.errors += other.errors;
        self.first_error = self.first_error.or(other.first_error);
        for op in Op::ALL {
            self.ops[op].add(&other.ops[op]);
        }
        self.sync.merge(&other.sync);
        self.syncs += other.syncs;
        add_depth(&mut self.depth, &other.depth);
        self.cpu.user.0 += other.cpu.user.0;
        self.cpu.system.0 += other.cpu.system.0;
        self.cpu.ctx += other.cpu.ctx;
        self.cpu.majf += other.cpu.majf;
        self.cpu.minf += other.cpu.minf;
        self.job_runtime.0 += other.job_runtime.0;
        self.steady = self.steady.or(other.steady);
        self.latency_depth = self.latency_depth.or(other.latency_depth);
    }

    /// Reads, writes and trims combined.
    pub(super) fn mixed(&self) -> OpTotals {
        let mut sum = OpTotals::default();
        for (_, op) in self.ops.iter() {
            sum.add(op);
        }
        sum
    }

    /// CPU time in percent of the total time of all workers.
    pub(super) fn cpu_share(&self, time: Nanos) -> f64 {
        if self.job_runtime.0 == 0 {
            0.0
        } else {
            time.0 as f64 * 100.0 / self.job_runtime.0 as f64
        }
    }

    /// Whether any I/O was issued.
    pub(super) fn did_something(&self) -> bool {
        self.ops.iter().any(|(_, op)| op.bytes > 0 || op.ios > 0)
    }

    /// Whether the job continues after device errors.
    pub(super) fn continues_on_errors(&self) -> bool {
        let ErrorPolicy {
            continue_on,
            continue_on_mismatch,
            ignored,
            accept_empty_reads: _,
        } = &self.job.errors;
        *ignored != IgnoredErrors::default()
            || *continue_on_mismatch
            || continue_on.iter().any(|(_, &on)| on)
    }

    /// Number of I/Os in the depth distribution. With a ramp time, only those submitted after it:
    /// I/Os in flight at its end are measured, but were submitted before.
    pub(super) fn depth_total(&self) -> u64 {
        let measured = Op::ALL.into_iter().map(|op| self.ops[op].ios).sum();
        if self.job.timing.ramp_time.0 > 0 {
            self.depth.level.iter().sum()
        } else {
            measured
        }
    }

    /// The error in the report header: the one that ended the job, or the first ignored one.
    pub(super) fn shown_error(&self) -> Option<&'a IoError> {
        self.fatal
            .or(self.first_error.filter(|_| self.continues_on_errors()))
    }
}

fn add_depth(sum: &mut DepthRecord, next: &DepthRecord) {
    let pairs = [
        (&mut sum.level, next.level),
        (&mut sum.submit, next.submit),
        (&mut sum.complete, next.complete),
    ];
    for (mine, theirs) in pairs {
        mine.iter_mut().zip(theirs).for_each(|(a, b)| *a += b);
    }
    sum.submit_calls += next.submit_calls;
    sum.complete_calls += next.complete_calls;
}

/// Returns the reported jobs in order: a worker with `group_reporting` joins the report of its
/// group if that is the last one.
pub(super) fn reports<'a>(view: &RunView<'a>) -> Vec<ReportedJob<'a>> {
    let mut reports: Vec<ReportedJob<'a>> = Vec::new();
    let mut last_group = None;
    for worker in view.workers.iter().filter(|worker| worker.extras.stats) {
        let next = ReportedJob::of(worker);
        match reports.last_mut() {
            Some(report) if worker.job.group_reporting && last_group == Some(next.group) => {
                report.add(&next)
            }
            _ => {
                last_group = Some(next.group);
                reports.push(next);
            }
        }
    }
    reports
}

/// Totals of one operation in a group.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct GroupOp {
    /// Total bytes.
    pub(super) bytes: u64,
    /// Minimum and maximum bandwidth of a report, bytes per second.
    pub(super) bw: (u64, u64),
    /// Shortest and longest runtime of a report, in ms.
    pub(super) run_ms: (u64, u64),
}

impl GroupOp {
    fn add(&mut self, op: &OpTotals) {
        if op.runtime_ms == 0 {
            return;
        }
        let (bw, run) = (op.bytes_per_s(), op.runtime_ms);
        let first = self.run_ms.1 == 0;
        self.bytes += op.bytes;
        self.bw = if first {
            (bw, bw)
        } else {
            (self.bw.0.min(bw), self.bw.1.max(bw))
        };
        self.run_ms = if first {
            (run, run)
        } else {
            (self.run_ms.0.min(run), self.run_ms.1.max(run))
        };
    }

    /// Total bytes divided by the longest runtime, bytes per second.
    pub(super) fn bytes_per_s(&self) -> u64 {
        per_second(self.bytes, self.run_ms.1)
    }
}

/// A reporting group.
#[derive(Clone, Copy, Debug)]
pub(super) struct ReportGroup<'a> {
    /// Group number.
    pub(super) number: u32,
    /// Number format settings of its last report.
    pub(super) extras: &'a JobExtras,
    /// Totals by operation.
    pub(super) ops: PerOp<GroupOp>,
    /// Totals of all operations combined, if a report requests them.
    pub(super) mixed: GroupOp,
}

/// The groups of these reports, ordered by first report.
pub(super) fn groups<'a>(reports: &[ReportedJob<'a>]) -> Vec<ReportGroup<'a>> {
    let mut groups: Vec<ReportGroup<'a>> = Vec::new();
    for report in reports {
        let known = groups.iter().position(|group| group.number == report.group);
        if known.is_none() {
            groups.push(ReportGroup {
                number: report.group,
                extras: report.extras,
                ops: PerOp::default(),
                mixed: GroupOp::default(),
            });
        }
        let place = known.unwrap_or(groups.len() - 1);
        groups[place].add(report);
    }
    groups
}

impl<'a> ReportGroup<'a> {
    fn add(&mut self, report: &ReportedJob<'a>) {
        self.extras = report.extras;
        let unified = report.extras.unified;
        for op in Op::ALL {
            if unified != UnifiedReporting::Mixed {
                self.ops[op].add(&report.ops[op]);
            }
            if unified == UnifiedReporting::Both {
                self.mixed.add(&report.ops[op]);
            }
        }
        if unified == UnifiedReporting::Mixed {
            self.mixed.add(&report.mixed());
        }
    }
}

/// The mean bandwidth in percent of its group's bandwidth: `per=` in the text.
///
/// The mean is truncated to whole KiB/s, and a group below 1 KiB/s counts as 100%. Based on observed output.
pub(super) fn share_of_group(bw: &MergedSpread, group: &GroupOp) -> f64 {
    match group.bytes_per_s() {
        0..=1024 => 100.0,
        whole => (bw.mean.trunc() * 100.0 / (whole as f64 / 1024.0)).min(100.0),
    }
}

/// The same for the terse output, where the group's bandwidth is truncated to whole KiB/s instead of the mean.
pub(super) fn share_of_whole_group(bw: &MergedSpread, group: &GroupOp) -> f64 {
    match group.bytes_per_s() {
        0..=1024 => 100.0,
        whole => (bw.mean * 100.0 / (whole / 1024) as f64).min(100.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hakaru_model::job::rules::RangeSync;
    use hakaru_model::job::{Access, Target};
    use hakaru_model::record::WorkerRecord;
    use hakaru_model::units::Bytes;

    fn job(group: u32, group_reporting: bool) -> Job {
        let job = Job::new("a", Target::Nothing, Access::only(Op::Write, false));
        Job {
            group,
            group_reporting,
            ..job
        }
    }

    fn record(bytes: u64, ms: u64) -> WorkerRecord {
        let mut record = WorkerRecord {
            runtime: Nanos::from_millis(ms),
            ..WorkerRecord::default()
        };
        record.ops.write = OpRecord {
            ios: bytes / 4096,
            issued: bytes / 4096,
            bytes,
            ..OpRecord::default()
        };
        record
    }

    /// Worker count, bytes and runtime of each report.
    fn shown(jobs: &[(Job, WorkerRecord)]) -> Vec<(u32, u64, u64)> {
        let extras = JobExtras::default();
        let scenario = crate::fio::testing::empty_scenario();
        let mut view = RunView::of("fio-3.39", &scenario, &[], &[]);
        let worker = |(job, record)| WorkerView {
            job,
            extras: &extras,
            record,
            started_unix_ms: 0,
        };
        view.workers = jobs
            .iter()
            .map(|(job, record)| worker((job, record)))
            .collect();
        let write = |report: &ReportedJob<'_>| {
            (
                report.members,
                report.ops.write.bytes,
                report.ops.write.runtime_ms,
            )
        };
        reports(&view).iter().map(write).collect()
    }

    #[test]
    fn members_of_a_group_become_one_where_they_ask_for_it() {
        let seen = shown(&[
            (job(0, true), record(4096, 10)),
            (job(0, true), record(8192, 30)),
            (job(0, false), record(4096, 20)),
            (job(1, true), record(4096, 5)),
            (job(1, true), record(4096, 5)),
            (job(2, true), record(4096, 5)),
        ]);
        assert_eq!(
            seen,
            [(2, 12_288, 30), (1, 4096, 20), (2, 8192, 5), (1, 4096, 5)]
        );
    }

    #[test]
    fn sync_file_range_calls_are_timed_but_not_counted() {
        let rule = RangeSync {
            every: 8,
            wait_before: false,
            write: true,
            wait_after: false,
        };
        let counted = |range_sync, fsync_every| {
            let (mut job, mut record, extras) =
                (job(0, false), record(4096, 10), JobExtras::default());
            (job.durability.range_sync, job.durability.fsync_every) = (range_sync, fsync_every);
            (0..5).for_each(|_| record.sync.record(Nanos(1000)));
            let report = ReportedJob::of(&WorkerView {
                job: &job,
                extras: &extras,
                record: &record,
                started_unix_ms: 0,
            });
            (report.sync.stat.count, report.syncs)
        };
        assert_eq!(counted(Some(rule), 0), (5, 0));
        assert_eq!((counted(Some(rule), 4), counted(None, 4)), ((5, 5), (5, 5)));
    }

    #[test]
    fn a_group_moves_all_its_bytes_in_its_longest_time() {
        let mut sum = GroupOp::default();
        for (bytes, runtime_ms) in [(1 << 20, 1000), (3 << 20, 2000), (0, 0)] {
            sum.add(&OpTotals {
                bytes,
                runtime_ms,
                ..OpTotals::default()
            });
        }
        assert_eq!(
            sum,
            GroupOp {
                bytes: 4 << 20,
                bw: (1 << 20, 3 << 19),
                run_ms: (1000, 2000)
            }
        );
        assert_eq!(sum.bytes_per_s(), 2 << 20);
        let bw = MergedSpread {
            mean: 512.9,
            ..MergedSpread::default()
        };
        assert_eq!(
            share_of_group(&bw, &sum),
            25.0,
            "the mean is cut to whole KiB/s"
        );
        assert_eq!(share_of_group(&bw, &GroupOp::default()), 100.0);
    }

    #[test]
    fn spreads_of_members_that_run_side_by_side_add_up() {
        let mut samples = Samples::default();
        [2048, 4096].iter().for_each(|&v| samples.record(v));
        let one = MergedSpread::of(&samples, 1024);
        let mut two = one;
        two.add(&one);
        assert_eq!((two.count, two.min, two.max, two.mean), (4, 4, 8, 6.0));
        assert!((one.deviation() - 2f64.sqrt()).abs() < 1e-12);
        assert!(
            (two.deviation() - (4.0f64 / 3.0).sqrt()).abs() < 1e-12,
            "scatter adds up, over one sample less"
        );
    }

    /// fio 3.33 with `--rw=read --bs=4k --direct=1 --offset=50001`: `total_err` is 0 with `--continue_on_error=verify` or
    /// `write`, and 1 with `read`, `io` or `all`.
    #[test]
    fn an_error_of_a_kind_that_ends_the_job_is_not_counted() {
        let error = IoError {
            action: "read".into(),
            op: Some(Op::Read),
            kind: FailureKind::Io,
            file: "f".into(),
            offset: Bytes(50_001),
            len: Bytes(4096),
            errno: 22,
            at: Nanos(0),
            mismatches: Vec::new(),
        };
        let mut record = WorkerRecord {
            stop: StopReason::Error,
            ..WorkerRecord::default()
        };
        record.errors.push(error);
        let counted = |record: &WorkerRecord, op: Option<Op>| {
            let mut policy = ErrorPolicy::default();
            op.into_iter().for_each(|op| policy.continue_on[op] = true);
            let (errors, first) = counted_errors(record, &policy);
            (errors, first.map(|error| error.errno))
        };
        assert_eq!(counted(&record, Some(Op::Read)), (1, Some(22)));
        assert_eq!(counted(&record, Some(Op::Write)), (0, None));
        assert_eq!(counted(&record, None), (0, None));
        record.errors.first[0].kind = FailureKind::Verify;
        assert_eq!(counted(&record, None), (1, Some(22)));
    }

    #[test]
    fn nothing_overflows() {
        assert_eq!(per_second(u64::MAX, 1), u64::MAX);
        assert_eq!(per_second(5, 0), 0);
    }
}
