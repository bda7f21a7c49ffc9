//! Logs of single I/Os or of averaging windows of a worker.
//!
//! Memory is bounded: a worker has a few chunks, which it fills, sends, and gets back. If all
//! chunks are in use the worker waits, so a slow log disk slows the job down instead of filling
//! memory. File names and line format are handled elsewhere.

use crate::worker_stats::{WindowSums, WorkerStats};
use hakaru_model::histogram::FOLDED_BUCKETS;
use hakaru_model::job::rules::Logs;
use hakaru_model::job::{Op, PerOp};
use hakaru_model::plan::WorkerPlan;
use hakaru_model::units::Nanos;

/// Number of samples per chunk.
const SAMPLES: usize = 1024;
/// Maximum number of chunks per worker.
const CHUNKS: u32 = 4;

/// A single I/O, or the mean or maximum over a window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LogSample {
    /// Completion time, or end of the window, since the start of measurement.
    pub at: Nanos,
    /// Operation of the I/O.
    pub op: Op,
    /// Bytes of the I/O; 0 for a window.
    pub len: u32,
    /// Offset of the I/O; 0 for a window.
    pub offset: u64,
    /// Throughput in bytes/s of a window, or of a single I/O. `None` for an incomplete last window.
    pub bytes_per_s: Option<u64>,
    /// IOPS of a window, 1 for a single I/O. `None` for an incomplete last window.
    pub iops: Option<u64>,
    /// Submission, completion and total latency in nanoseconds, if logged: creation to submission, submission to
    /// completion, creation to completion.
    pub latency: [Option<u64>; 3],
    /// Maximum of each latency in a window, if mean and maximum are logged.
    pub longest: [Option<u64>; 3],
    /// Submission time, relative to the same start as `at`; 0 for a window.
    pub issued: Nanos,
}

/// Histogram of completion latencies of a window.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogHistogram {
    /// End of the window since the start of measurement.
    pub at: Nanos,
    /// Operation of the I/Os.
    pub op: Op,
    /// Smallest block size of the job in bytes.
    pub len: u64,
    /// Counts in bins of the fio dialect, at the requested coarseness.
    pub counts: Vec<u64>,
}

/// A message of a worker with log entries.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LogChunk {
    /// Wall clock at the start of measurement, milliseconds since 1970 UTC.
    pub epoch_unix_ms: i64,
    /// Entries for single I/Os or windows.
    pub samples: Vec<LogSample>,
    /// Latency histograms.
    pub histograms: Vec<LogHistogram>,
}

impl LogChunk {
    fn empty() -> Box<LogChunk> {
        Box::new(LogChunk {
            samples: Vec::with_capacity(SAMPLES),
            ..LogChunk::default()
        })
    }

    fn is_empty(&self) -> bool {
        self.samples.is_empty() && self.histograms.is_empty()
    }
}

/// The log of one worker.
#[derive(Debug)]
pub(crate) struct IoLog {
    logs: Logs,
    queued: bool,
    lens: PerOp<u64>,
    chunk: Box<LogChunk>,
    /// Number of chunks created so far.
    made: u32,
    epoch_unix_ms: i64,
    /// Time of the next window or histogram end, in ticks.
    pub(crate) due: u64,
    next_window: u64,
    next_histogram: u64,
    window_begun: Nanos,
    base: PerOp<WindowSums>,
    /// Histogram counts at the start of the window.
    counted: PerOp<Vec<u64>>,
}

/// Lengths of windows and histogram intervals in ticks.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Periods {
    pub(crate) window: Option<u64>,
    pub(crate) histogram: Option<u64>,
}

impl IoLog {
    /// Returns `None` for a job without logs.
    pub(crate) fn new(logs: &Logs, plan: &WorkerPlan, queued: bool) -> Option<Box<IoLog>> {
        let none = PerOp::all(WindowSums::default());
        logs.any().then(|| {
            Box::new(IoLog {
                logs: *logs,
                queued,
                lens: plan.stream.block.map(|block| block.min().0),
                chunk: LogChunk::empty(),
                made: 1,
                epoch_unix_ms: 0,
                due: u64::MAX,
                next_window: u64::MAX,
                next_histogram: u64::MAX,
                window_begun: Nanos(0),
                base: none,
                counted: PerOp::default(),
            })
        })
    }

    /// Returns the configured lengths of windows and of histogram intervals.
    pub(crate) fn lengths(&self) -> (Option<Nanos>, Option<Nanos>) {
        (
            self.logs.window.filter(|_| self.logs.samples),
            self.logs.histogram,
        )
    }

    /// Starts the measurement at `now`.
    pub(crate) fn begin(&mut self, now: u64, epoch_unix_ms: i64, periods: Periods) {
        self.epoch_unix_ms = epoch_unix_ms;
        self.next_window = periods.window.map_or(u64::MAX, |length| now + length);
        self.next_histogram = periods.histogram.map_or(u64::MAX, |length| now + length);
        self.window_begun = Nanos(0);
        self.base = PerOp::default();
        self.counted = PerOp::default();
        self.due = self.next_window.min(self.next_histogram);
    }

    /// Adds one I/O. Returns whether the chunk is full now.
    pub(crate) fn take(&mut self, sample: LogSample) -> bool {
        if self.logs.samples && self.logs.window.is_none() {
            let latency = if self.queued {
                sample.latency
            } else {
                [None, sample.latency[1], sample.latency[2]]
            };
            self.chunk.samples.push(LogSample { latency, ..sample });
        }
        self.chunk.samples.len() >= SAMPLES
    }

    /// Completes windows that have ended, and at the end of the job all of them. Returns whether
    /// there is data to send.
    pub(crate) fn look(
        &mut self,
        now: u64,
        at: Nanos,
        periods: Periods,
        last: bool,
        tally: &mut WorkerStats,
    ) -> bool {
        if let Some(length) = periods.window
            && (last || now >= self.next_window)
        {
            self.close_window(at, now >= self.next_window, tally);
            self.next_window = after(self.next_window, length, now);
        }
        if let Some(length) = periods.histogram
            && (last || now >= self.next_histogram)
        {
            self.close_histograms(at, tally);
            self.next_histogram = after(self.next_histogram, length, now);
        }
        self.due = self.next_window.min(self.next_histogram);
        !self.chunk.is_empty() && (last || periods.window.is_some() || periods.histogram.is_some())
    }

    fn close_window(&mut self, at: Nanos, whole: bool, tally: &mut WorkerStats) {
        let length = at.0.saturating_sub(self.window_begun.0).max(1);
        self.window_begun = at;
        for op in Op::ALL {
            let (sums, base) = (tally.sums(op), self.base[op]);
            let ios = sums.ios - base.ios;
            if ios == 0 {
                continue;
            }
            self.base[op] = sums;
            let Logs {
                max_value,
                both_values,
                ..
            } = self.logs;
            let maxima = if max_value || both_values {
                tally.take_maxima(op)
            } else {
                [0; 3]
            };
            let latency = std::array::from_fn(|kind| {
                let sum = sums.latency[kind]?;
                let mean = sum.wrapping_sub(base.latency[kind].unwrap_or(0)) / ios;
                Some(if max_value { maxima[kind] } else { mean })
            });
            let longest =
                std::array::from_fn(|kind| latency[kind].and(both_values.then_some(maxima[kind])));
            let per_s = |n: u64| (u128::from(n) * 1_000_000_000 / u128::from(length)) as u64;
            let bytes_per_s = whole.then(|| per_s(sums.bytes - base.bytes));
            let iops = whole.then(|| per_s(ios));
            let issued = Nanos(0);
            let (len, offset) = (0, 0);
            self.chunk.samples.push(LogSample {
                at,
                op,
                len,
                offset,
                bytes_per_s,
                iops,
                latency,
                longest,
                issued,
            });
        }
    }

    fn close_histograms(&mut self, at: Nanos, tally: &WorkerStats) {
        let joined = 1 << self.logs.coarseness.min(FOLDED_BUCKETS.ilog2());
        for op in Op::ALL {
            let Some(histogram) = tally.clat_histogram(op) else {
                continue;
            };
            let folded = histogram.fold();
            let now: Vec<u64> = folded
                .chunks(joined)
                .map(|chunk| chunk.iter().sum())
                .collect();
            let before = &self.counted[op];
            let counts: Vec<u64> = match before.is_empty() {
                true => now.clone(),
                false => now
                    .iter()
                    .zip(before)
                    .map(|(now, before)| now - before)
                    .collect(),
            };
            if counts.iter().any(|&count| count > 0) {
                self.chunk.histograms.push(LogHistogram {
                    at,
                    op,
                    len: self.lens[op],
                    counts,
                });
            }
            self.counted[op] = now;
        }
    }

    /// Takes the chunk to send; `back` returns a recycled one, and waits if requested.
    pub(crate) fn exchange(
        &mut self,
        back: impl FnOnce(bool) -> Option<Box<LogChunk>>,
    ) -> Box<LogChunk> {
        let next = match back(self.made >= CHUNKS) {
            Some(mut chunk) => {
                chunk.samples.clear();
                chunk.histograms.clear();
                chunk
            }
            None => {
                self.made += 1;
                LogChunk::empty()
            }
        };
        let mut full = std::mem::replace(&mut self.chunk, next);
        full.epoch_unix_ms = self.epoch_unix_ms;
        full
    }
}

/// Returns the first time `moment + n * length` that is later than `now`.
fn after(moment: u64, length: u64, now: u64) -> u64 {
    let passed = now.saturating_sub(moment) / length.max(1);
    moment.saturating_add((passed + 1).saturating_mul(length.max(1)))
}
