//! From what was measured to the figures of iozone.
//!
//! Each child has a throughput of its own, over its own time. The children see their sum; the parent sees what all of
//! them moved over the time from the first start to the last end.

use hakaru_model::job::Op;
use hakaru_model::record::{PhaseRecord, WorkerRecord};
use hakaru_model::units::Nanos;

/// What figures are given in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FigureUnit {
    /// kB of 1024 bytes per second.
    #[default]
    KiloBytes,
    /// Operations a second.
    Ops,
    /// Microseconds an operation.
    Micros,
}

impl FigureUnit {
    /// `kB`, `ops`: the unit of what was moved.
    pub(super) fn amount(self) -> &'static str {
        if self == FigureUnit::Ops { "ops" } else { "kB" }
    }
}

/// Figures of one test.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TestFigures {
    /// Sum over the children.
    pub children: f64,
    /// What the parent sees.
    pub parent: f64,
    /// The slowest child.
    pub min: f64,
    /// The fastest child.
    pub max: f64,
    /// Mean of the children.
    pub avg: f64,
    /// The least that a child moved.
    pub min_xfer: f64,
    /// What each child moved, and its throughput.
    pub each: Vec<(f64, f64)>,
    /// Seconds of the parent.
    pub wall_s: f64,
    /// Seconds of CPU time of all children.
    pub cpu_s: f64,
}

/// Nothing is over in no time: a tick of the clock keeps figures finite.
fn seconds(time: Nanos) -> f64 {
    time.0.max(1) as f64 / 1e9
}

/// From the start of the first child to the end of the last; each starts `delay` after the one before.
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
    /// Figures of one phase, with records of this size, and `delay` between the starts of two children.
    pub fn of(phase: &PhaseRecord, record_kb: u64, unit: FigureUnit, delay: Nanos) -> TestFigures {
        let amount = |kb: f64| {
            if unit == FigureUnit::KiloBytes {
                kb
            } else {
                kb / record_kb.max(1) as f64
            }
        };
        let moved = |worker: &WorkerRecord| {
            amount(Op::ALL.iter().map(|&op| worker.ops[op].bytes).sum::<u64>() as f64 / 1024.0)
        };
        let each: Vec<(f64, f64)> = phase
            .workers
            .iter()
            .map(|w| (moved(w), moved(w) / seconds(w.runtime)))
            .collect();
        let rates = || each.iter().map(|(_, rate)| *rate);
        let children: f64 = rates().sum();
        let total: f64 = each.iter().map(|(moved, _)| moved).sum();
        let wall = parent_time(phase, delay);
        let cpu =
            |worker: &WorkerRecord| (worker.cpu.user.0 as f64 + worker.cpu.system.0 as f64) / 1e9;
        let least = |all: &mut dyn Iterator<Item = f64>| all.reduce(f64::min).unwrap_or(0.0);
        TestFigures {
            children,
            parent: total / seconds(wall),
            min: least(&mut rates()),
            max: rates().reduce(f64::max).unwrap_or(0.0),
            avg: children / each.len().max(1) as f64,
            min_xfer: least(&mut each.iter().map(|(moved, _)| *moved)),
            wall_s: seconds(wall),
            cpu_s: phase.workers.iter().map(cpu).sum(),
            each,
        }
    }

    /// Processor time as a percentage of the parent's time.
    pub fn cpu_percent(&self) -> f64 {
        if self.wall_s > 0.0 {
            self.cpu_s / self.wall_s * 100.0
        } else {
            0.0
        }
    }

    /// The whole number that stands in the table.
    pub fn in_table(&self, unit: FigureUnit) -> u64 {
        match unit {
            FigureUnit::Micros if self.children > 0.0 => (1e6 / self.children).round() as u64,
            _ => self.children.round() as u64,
        }
    }
}
