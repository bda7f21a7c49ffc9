//! `--bandwidth-log`: the total bandwidth of all jobs over time.

use hakaru_dialects::fio::output::{LogColumns, LogEntry, log_text};
use hakaru_dialects::fio::{Invocation, UnifiedReporting};
use hakaru_model::job::{Op, PerOp};
use std::fs::File;
use std::io::Write;
use std::time::Duration;

/// One log per operation, in the current directory.
pub(super) struct TotalLog {
    files: PerOp<File>,
    /// Minimum time per line.
    window: Duration,
    /// Whether all operations are combined.
    mixed: bool,
    /// Time of the last line since the start of the run; `bytes` contains the totals of the phase at that time.
    last: Duration,
    bytes: PerOp<u64>,
    failed: bool,
}

impl TotalLog {
    /// Creates the files; `None` if not requested.
    pub(super) fn create(invocation: &Invocation) -> anyhow::Result<Option<TotalLog>> {
        if !invocation.settings.bandwidth_log {
            return Ok(None);
        }
        let extras = || invocation.extras.iter().flatten();
        let window = extras()
            .map(|extras| extras.logs.bwavgtime_ms)
            .filter(|ms| *ms > 0)
            .min()
            .unwrap_or(500);
        let mixed = extras().next().is_some()
            && extras().all(|extras| extras.unified == UnifiedReporting::Mixed);
        let create = |op: Op| {
            let name = format!("agg-{}_bw.log", op.name());
            File::create(&name).map_err(|e| anyhow::anyhow!("cannot write the log {name}: {e}"))
        };
        Ok(Some(TotalLog {
            files: PerOp {
                read: create(Op::Read)?,
                write: create(Op::Write)?,
                trim: create(Op::Trim)?,
            },
            window: Duration::from_millis(window),
            mixed,
            last: Duration::ZERO,
            bytes: PerOp::default(),
            failed: false,
        }))
    }

    /// Resets the byte counts, which start at 0 in each phase.
    pub(super) fn phase_begins(&mut self) {
        self.bytes = PerOp::default();
    }

    /// Appends log lines if the window has passed. `at` is the time since the start of the run; `bytes` are the totals
    /// of the phase.
    pub(super) fn look(&mut self, at: Duration, bytes: &PerOp<u64>) {
        let time = at.saturating_sub(self.last);
        if time < self.window {
            return;
        }
        let kib_per_s = |op: Op| {
            let moved = bytes[op].saturating_sub(self.bytes[op]);
            (moved as f64 / 1024.0 / time.as_secs_f64()) as u64
        };
        let mut values = PerOp::default();
        for op in Op::ALL {
            let log = if self.mixed { Op::Read } else { op };
            values[log] += kib_per_s(op);
        }
        for op in Op::ALL {
            let entry = LogEntry {
                msec: at.as_millis() as u64,
                value: values[op],
                largest: None,
                op,
                bs: 0,
                offset: 0,
                prio: 0,
                issued_ns: 0,
            };
            let line = log_text(&[entry], LogColumns::default());
            self.failed |= self.files[op].write_all(line.as_bytes()).is_err();
        }
        (self.last, self.bytes) = (at, *bytes);
    }

    /// Returns whether the logs were written completely, and prints an error otherwise.
    pub(super) fn end(&self) -> bool {
        if self.failed {
            anstream::eprintln!(
                "fio: cannot write all of agg-read_bw.log, agg-write_bw.log and agg-trim_bw.log"
            );
        }
        !self.failed
    }
}
