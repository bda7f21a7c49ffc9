//! Computes iozone's figures from the measurements.
//!
//! Each child has its own throughput over its own time. The children's figure is the sum of these; the parent's figure
//! is the total data over the time from the first start to the last end.

use hakaru_model::job::Op;
use hakaru_model::record::{PhaseRecord, WorkerRecord};
use hakaru_model::units::Nanos;

/// Unit of the figures.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FigureUnit {
    /// kB of 1024 bytes per second.
    #[default]
    KiloBytes,
    /// Operations per second.
    Ops,
    /// Microseconds per operation.
    Micros,
}

impl FigureUnit {
    /// Unit of the amount transferred: `kB` or `ops`.
    pub(super) fn amount(self) -> &'static str {
        if self == FigureUnit::Ops { "ops" } else { "kB" }
    }
}

/// Figures of one test.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TestFigures {
    /// Sum of the children's throughputs.
    pub children: f64,
    /// Throughput seen by the parent.
    pub parent: f64,
    /// Throughput of the slowest child.
    pub min: f64,
    /// Throughput of the fastest child.
    pub max: f64,
    /// Mean throughput of the children.
    pub avg: f64,
    /// Smallest amount transferred by a child.
    pub min_xfer: f64,
    /// Amount transferred and throughput, per child.
    pub each: Vec<(f64, f64)>,
    /// Elapsed time of the parent in seconds.
    pub wall_s: f64,
    /// CPU time of all children in seconds.
    pub cpu_s: f64,
}

/// Converts to seconds, at least one clock tick, which keeps rates finite.
fn seconds(time: Nanos) -> f64 {
    time.0.max(1) as f64 / 1e9
}

fn cpu_seconds(worker: &WorkerRecord) -> f64 {
    (worker.cpu.user.0 as f64 + worker.cpu.system.0 as f64) / 1e9
}

/// Time from the start of the first child to the end of the last; each child starts `delay` after the previous one.
fn parent_time(phase: &PhaseRecord, delay: Nanos) -> Nanos {
    let end = |(child, worker): (usize, &WorkerRecord)| {
        Nanos(
            delay
                .0
                .saturating_mul(child as u64)
                .saturating_add(worker.job_runtime.max(worker.runtime).0),
        )
    };
    phase
        .workers
        .iter()
        .enumerate()
        .map(end)
        .max()
        .unwrap_or_default()
        .max(phase.elapsed)
}

impl TestFigures {
    /// Computes the figures of one phase with this record size, and `delay` between the starts of children.
    pub fn of(phase: &PhaseRecord, record_kb: u64, unit: FigureUnit, delay: Nanos) -> TestFigures {
        let amount = |kb: f64| match unit {
            FigureUnit::KiloBytes => kb,
            _ => kb / record_kb.max(1) as f64,
        };
        let moved = |worker: &WorkerRecord| {
            let bytes: u64 = Op::ALL.iter().map(|&op| worker.ops[op].bytes).sum();
            amount(bytes as f64 / 1024.0)
        };
        let workers = phase.workers.iter();
        let each: Vec<(f64, f64)> = workers
            .map(|w| (moved(w), moved(w) / seconds(w.runtime)))
            .collect();
        let rates = || each.iter().map(|(_, rate)| *rate);
        let children: f64 = rates().sum();
        let total: f64 = each.iter().map(|(moved, _)| moved).sum();
        let wall = parent_time(phase, delay);
        let least = |all: &mut dyn Iterator<Item = f64>| all.reduce(f64::min).unwrap_or(0.0);
        TestFigures {
            children,
            parent: total / seconds(wall),
            min: least(&mut rates()),
            max: rates().reduce(f64::max).unwrap_or(0.0),
            avg: children / each.len().max(1) as f64,
            min_xfer: least(&mut each.iter().map(|(moved, _)| *moved)),
            wall_s: seconds(wall),
            cpu_s: phase.workers.iter().map(cpu_seconds).sum(),
            each,
        }
    }

    /// CPU time in percent of the parent's elapsed time.
    pub(super) fn cpu_percent(&self) -> f64 {
        if self.wall_s > 0.0 {
            self.cpu_s / self.wall_s * 100.0
        } else {
            0.0
        }
    }

    /// The figure as an integer, for the table.
    pub fn in_table(&self, unit: FigureUnit) -> u64 {
        match unit {
            FigureUnit::Micros if self.children > 0.0 => (1e6 / self.children).round() as u64,
            _ => self.children.round() as u64,
        }
    }
}
