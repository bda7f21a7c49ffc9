//! The log files of a fio run: `write_bw_log` and similar options.
//!
//! Lines are appended in pieces and no file is kept open, so that neither memory nor descriptors grow with the length of
//! the run or the number of jobs.

use hakaru_dialects::fio::output::{LogColumns, LogEntry, LogKind, histogram_line, log_text};
use hakaru_dialects::fio::{Invocation, JobExtras};
use hakaru_engine::{LogChunk, LogSample};
use hakaru_model::job::{Job, Op, PerOp};
use hakaru_model::plan::{Plan, PlanError};
use hakaru_model::record::{PhaseRecord, Samples, WorkerRecord};
use std::collections::BTreeMap;
use std::io::Write;
use std::path::{Path, PathBuf};

/// Buffered text in bytes from which a log is written to its file.
const PIECE: usize = 32 << 10;

/// All log files of a run.
#[derive(Default)]
pub(super) struct LogFiles {
    /// Logs of the workers, by phase.
    phases: Vec<Vec<WorkerLogs>>,
    current: usize,
    /// Bandwidth and IOPS of single I/Os, by phase and worker.
    singles: Vec<Vec<PerOp<PerIoLogs>>>,
    /// Text that is not written yet, by log file.
    pending: BTreeMap<PathBuf, String>,
    failed: bool,
}

/// Samples of single I/Os, if each one was logged: bandwidth in bytes/s and rate in 0.001 IOPS.
#[derive(Clone, Default)]
struct PerIoLogs {
    bw: Samples,
    iops: Samples,
}

/// The logs of one worker.
struct WorkerLogs {
    /// Index of the job in the phase, and number of the clone.
    of: (u32, u32),
    files: Vec<(LogKind, PathBuf)>,
    columns: LogColumns,
    prio: u16,
    unix_epoch: bool,
}

impl LogFiles {
    /// Creates the files, so that errors show before the run. Files shared by several jobs are
    /// appended to, as in fio.
    pub(super) fn create(invocation: &Invocation, plan: &Plan) -> anyhow::Result<LogFiles> {
        let mut files = LogFiles::default();
        make_empty(invocation, plan)?;
        let jobs = invocation.scenario.phases.iter().zip(&invocation.extras);
        for (phase, (scenario, extras)) in plan.phases.iter().zip(jobs) {
            let mut workers = Vec::new();
            for worker in &phase.workers {
                // Jobs that could not start also have a number.
                let number = worker.number + 1;
                let at = worker.job as usize;
                let (Some(job), Some(extras)) = (scenario.jobs.get(at), extras.get(at)) else {
                    continue;
                };
                let logs = WorkerLogs::of(job, extras, (worker.job, worker.clone), number);
                for (_, path) in &logs.files {
                    make(path, !extras.logs.per_job)?;
                }
                workers.push(logs);
            }
            files.singles.push(vec![PerOp::default(); workers.len()]);
            files.phases.push(workers);
        }
        Ok(files)
    }

    pub(super) fn phase_begins(&mut self, index: usize) {
        self.current = index;
    }

    /// Writes the log entries of a worker.
    pub(super) fn take(&mut self, worker: usize, chunk: &LogChunk) {
        let of_phase = self.phases.get(self.current);
        let Some(logs) = of_phase.and_then(|workers| workers.get(worker)) else {
            return;
        };
        let singles = self.singles.get_mut(self.current);
        if let Some(singles) = singles.and_then(|workers| workers.get_mut(worker)) {
            logs.count(chunk, singles);
        }
        let epoch = match logs.unix_epoch {
            true => chunk.epoch_unix_ms.max(0) as u64,
            false => 0,
        };
        for (kind, path) in &logs.files {
            // Usually either all log types of a worker have entries, or none has.
            let text = logs.text(*kind, chunk, epoch);
            if text.is_empty() {
                continue;
            }
            let waiting = self.pending.entry(path.clone()).or_default();
            waiting.push_str(&text);
            if waiting.len() >= PIECE {
                self.failed |= !append(path, waiting);
                waiting.clear();
            }
        }
    }

    /// In the result, logged values of single I/Os replace the bandwidth or IOPS samples over time, as in fio.
    pub(super) fn amend(&self, phases: &mut [PhaseRecord]) {
        let logged = self.phases.iter().zip(&self.singles);
        for (phase, (logs, singles)) in phases.iter_mut().zip(logged) {
            for (logs, singles) in logs.iter().zip(singles) {
                let is_its = |worker: &&mut WorkerRecord| (worker.job, worker.clone) == logs.of;
                let Some(worker) = phase.workers.iter_mut().find(is_its) else {
                    continue;
                };
                for op in Op::ALL {
                    let (of, PerIoLogs { bw, iops }) = (&mut worker.ops[op], &singles[op]);
                    if bw.count > 0 {
                        of.bw_samples = *bw;
                    }
                    if iops.count > 0 {
                        of.iops_samples = *iops;
                    }
                }
            }
        }
    }

    /// Writes the remaining text. Returns whether all logs were written completely.
    pub(super) fn end(&mut self) -> bool {
        for (path, text) in std::mem::take(&mut self.pending) {
            self.failed |= !append(&path, &text);
        }
        !self.failed
    }
}

impl WorkerLogs {
    fn of(job: &Job, extras: &JobExtras, of: (u32, u32), number: u32) -> WorkerLogs {
        let logs = &extras.logs;
        let kinds = [
            (&logs.bw, LogKind::Bw),
            (&logs.iops, LogKind::Iops),
            (&logs.lat, LogKind::Lat),
            (&logs.lat, LogKind::Slat),
            (&logs.lat, LogKind::Clat),
            (&logs.hist, LogKind::ClatHist),
        ];
        let path = |prefix: &str, kind: LogKind| {
            let prefix = if prefix.is_empty() { &job.name } else { prefix };
            PathBuf::from(kind.file_name(prefix, logs.per_job.then_some(number)))
        };
        let file =
            |(prefix, kind): (&Option<String>, _)| Some((kind, path(prefix.as_ref()?, kind)));
        let files = kinds.into_iter().filter_map(file);
        let priority = &job.placement.priority;
        let class = priority.io_class.unwrap_or(0);
        WorkerLogs {
            of,
            files: files.collect(),
            columns: LogColumns {
                offset: logs.offset,
                prio: logs.prio,
                issued: logs.issued,
            },
            prio: (class << 13 | priority.io_level.unwrap_or(0)) as u16,
            unix_epoch: logs.unix_epoch,
        }
    }

    /// Adds the bandwidth and IOPS of single I/Os, if they are logged.
    fn count(&self, chunk: &LogChunk, singles: &mut PerOp<PerIoLogs>) {
        let has = |kind: LogKind| self.files.iter().any(|(file, _)| *file == kind);
        let (bw, iops) = (has(LogKind::Bw), has(LogKind::Iops));
        for sample in chunk
            .samples
            .iter()
            .filter(|sample| sample.len > 0 && (bw || iops))
        {
            let of = &mut singles[sample.op];
            if let Some(bytes_per_s) = sample.bytes_per_s.filter(|_| bw) {
                of.bw.record(bytes_per_s);
            }
            if let Some(per_s) = sample.iops.filter(|_| iops) {
                of.iops.record(per_s * 1000);
            }
        }
    }

    fn text(&self, kind: LogKind, chunk: &LogChunk, epoch: u64) -> String {
        if kind == LogKind::ClatHist {
            let line = |h: &hakaru_engine::LogHistogram| {
                histogram_line(epoch + h.at.as_millis(), h.op, h.len, &h.counts)
            };
            return chunk.histograms.iter().map(line).collect();
        }
        let longest = |sample: &LogSample| match kind.is_latency() {
            true => value(kind, sample, sample.longest),
            false => None,
        };
        let entry = |sample: &LogSample| {
            Some(LogEntry {
                msec: epoch + sample.at.as_millis(),
                value: value(kind, sample, sample.latency)?,
                largest: longest(sample),
                op: sample.op,
                bs: sample.len.into(),
                offset: sample.offset,
                prio: self.prio,
                issued_ns: sample.issued.0,
            })
        };
        let entries: Vec<LogEntry> = chunk.samples.iter().filter_map(entry).collect();
        log_text(&entries, self.columns)
    }
}

/// Returns the value of a sample in a log. Bandwidth of single I/Os is in units of 1000, of windows
/// in units of 1024: determined by observation.
fn value(kind: LogKind, sample: &LogSample, [slat, clat, lat]: [Option<u64>; 3]) -> Option<u64> {
    match kind {
        LogKind::Bw => Some(sample.bytes_per_s? / if sample.len > 0 { 1000 } else { 1024 }),
        LogKind::Iops => sample.iops,
        LogKind::Slat => slat,
        LogKind::Clat => clat,
        LogKind::Lat => lat,
        LogKind::ClatHist => None,
    }
}

/// Creates empty logs for jobs that have no files, or whose files cannot be opened: fio creates the logs before it opens the files.
fn make_empty(invocation: &Invocation, plan: &Plan) -> anyhow::Result<()> {
    let mut number = 0;
    let phases = invocation.scenario.phases.iter().zip(&invocation.extras);
    for (phase, (scenario, extras)) in phases.enumerate() {
        for (index, (job, extras)) in scenario.jobs.iter().zip(extras).enumerate() {
            for clone in 0..job.numjobs {
                number += 1;
                let fails = plan.skipped.iter().any(|skipped| {
                    let place = (skipped.phase, skipped.job as usize, skipped.clone);
                    place == (phase, index, clone)
                        && matches!(
                            skipped.error,
                            PlanError::Missing { .. } | PlanError::NoFiles { .. }
                        )
                });
                let logs =
                    fails.then(|| WorkerLogs::of(job, extras, (index as u32, clone), number));
                for (_, path) in logs.iter().flat_map(|logs| &logs.files) {
                    make(path, !extras.logs.per_job)?;
                }
            }
        }
    }
    Ok(())
}

fn make(path: &Path, keep: bool) -> anyhow::Result<()> {
    let made = std::fs::OpenOptions::new()
        .create(true)
        .write(true)
        .truncate(!keep)
        .append(keep)
        .open(path);
    made.map_err(|e| {
        let cure = match e.kind() {
            std::io::ErrorKind::NotFound => "; make its directory first",
            _ => "",
        };
        anyhow::anyhow!("cannot write the log {}: {e}{cure}", path.display())
    })?;
    Ok(())
}

fn append(path: &Path, text: &str) -> bool {
    let file = std::fs::OpenOptions::new()
        .append(true)
        .create(true)
        .open(path);
    match file.and_then(|mut file| file.write_all(text.as_bytes())) {
        Ok(()) => true,
        Err(e) => {
            anstream::eprintln!("fio: cannot write the log {}: {e}", path.display());
            false
        }
    }
}
