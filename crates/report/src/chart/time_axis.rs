//! Horizontal axis of a chart of bandwidth over time: seconds, or bytes written.

use super::over_time::TimePoints;
use crate::text;
use hakaru_model::finding::{Cliff, PhaseSummary};

/// What the horizontal axis shows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum TimeAxis {
    Seconds,
    /// Bytes written: the unit in bytes and its name.
    Bytes {
        unit: f64,
        name: &'static str,
    },
}

impl TimeAxis {
    /// Bytes in the unit that suits the longest line.
    pub(super) fn of_bytes(lines: &[TimePoints], begins: &[f64]) -> TimeAxis {
        let total = |(line, begin): (&TimePoints, &f64)| {
            let last = written(line, *begin).map(|point| point.0).last();
            last.unwrap_or(0.0)
        };
        let most = lines.iter().zip(begins).map(total).fold(0.0, f64::max);
        match most >= 1000.0 {
            true => TimeAxis::Bytes {
                unit: 1e3,
                name: "GB",
            },
            false => TimeAxis::Bytes {
                unit: 1.0,
                name: "MB",
            },
        }
    }

    pub(super) fn name(self) -> String {
        match self {
            TimeAxis::Seconds => text::axis_seconds().to_owned(),
            TimeAxis::Bytes { name, .. } => text::axis_written(name),
        }
    }

    /// Position of a permanent drop.
    pub(super) fn place(self, cliff: &Cliff) -> f64 {
        match self {
            TimeAxis::Seconds => cliff.after_time.as_secs_f64(),
            TimeAxis::Bytes { unit, .. } => cliff.at.0 as f64 / 1e6 / unit,
        }
    }
}

/// Megabytes that a run wrote in its ramp time.
pub(super) fn ramp_megabytes(
    cells: &[Option<&PhaseSummary>],
    (series, run): (usize, usize),
) -> f64 {
    let cell = cells.get(series).copied().flatten();
    let ramp = cell.and_then(|cell| cell.detail.ramps.get(run));
    ramp.map_or(0.0, |ramp| ramp.bytes.0 as f64 / 1e6)
}

/// Megabytes written up to each point, with its speed; `begin` were written before.
fn written(line: &TimePoints, begin: f64) -> impl Iterator<Item = (f64, f64)> {
    let mut before = (0.0, begin);
    line.iter().map(move |&(at, speed)| {
        before = (at, before.1 + speed * (at - before.0).max(0.0));
        (before.1, speed)
    })
}

pub(super) fn over_bytes(line: &mut TimePoints, begin: f64, unit: f64) {
    *line = written(line, begin)
        .map(|(at, speed)| (at / unit, speed))
        .collect();
}
