//! Segments of equal level: positions where the speed of a run changes, and the noise around each
//! level.

use super::{
    LAGS, MIN_AFTER, MIN_BEFORE, MIN_DOMINANCE, MIN_DROP, MIN_SIGMAS, NOISE_FLOOR, PENALTY,
    dominance, running_costs,
};
use crate::stats::{mad, median};

/// Cells from `start` up to `end`, and their median.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Segment {
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) level: f64,
}

impl Segment {
    pub(super) fn of(cells: &[f64], start: usize, end: usize) -> Segment {
        Segment {
            start,
            end,
            level: median(&cells[start..end]).unwrap_or(0.0),
        }
    }

    pub(super) fn len(&self) -> usize {
        self.end - self.start
    }
}

/// Returns the segments with the least cost: absolute deviations from their medians plus a penalty
/// each.
pub(super) fn segments(cells: &[f64], width: usize) -> Vec<Segment> {
    let n = cells.len();
    let (first, other) = (MIN_BEFORE.div_ceil(width), MIN_AFTER.div_ceil(width).max(2));
    let level = median(cells).unwrap_or(0.0).abs();
    let differences: Vec<f64> = cells.windows(2).map(|w| (w[1] - w[0]).abs()).collect();
    let scale = (1.4826 / std::f64::consts::SQRT_2 * median(&differences).unwrap_or(0.0))
        .max(level * NOISE_FLOOR);
    let penalty = PENALTY * scale * (n as f64).ln();
    // The least cost up to each cell, and the start of the last segment.
    let mut best = vec![(f64::INFINITY, 0); n + 1];
    best[0] = (0.0, 0);
    for start in 0..n {
        let before = best[start].0;
        if !before.is_finite() {
            continue;
        }
        let least = if start == 0 { first } else { other };
        let costs = running_costs(cells[start..].iter().copied());
        for (end, cost) in (start + 1..=n).zip(costs) {
            let total = before + cost + penalty;
            if end - start >= least && total < best[end].0 {
                best[end] = (total, start);
            }
        }
    }
    let mut found = Vec::new();
    let mut end = n;
    while end > 0 {
        let start = best[end].1;
        found.push(Segment::of(cells, start, end));
        end = start;
    }
    found.reverse();
    found
}

/// Merges segments at borders that may be noise, the weakest first, until all borders reach `least`
/// standard errors. Below [`MIN_SIGMAS`], the errors assume independent intervals.
pub(super) fn merged(
    cells: &[f64],
    mut segments: Vec<Segment>,
    width: usize,
    least: f64,
) -> Vec<Segment> {
    while segments.len() > 1 {
        let noise = ResidualNoise::of(cells, &segments);
        let noise = if least < MIN_SIGMAS {
            ResidualNoise {
                inflation: 1.0,
                ..noise
            }
        } else {
            noise
        };
        let strength = |border: usize| {
            let (a, b) = (&segments[border - 1], &segments[border]);
            let far = (a.level - b.level).abs();
            let large = far >= MIN_DROP * a.level.max(b.level);
            let (fast, slow) = if a.level > b.level { (a, b) } else { (b, a) };
            let apart = dominance(&cells[fast.start..fast.end], &cells[slow.start..slow.end])
                >= MIN_DOMINANCE;
            let sigmas = far / noise.error(a.len() * width, b.len() * width, width);
            (
                if large && apart {
                    sigmas
                } else {
                    sigmas.min(least / 2.0)
                },
                border,
            )
        };
        let weakest = (1..segments.len())
            .map(strength)
            .min_by(|a, b| a.0.total_cmp(&b.0));
        match weakest {
            Some((sigmas, border)) if sigmas < least => {
                let (start, end) = (segments[border - 1].start, segments[border].end);
                segments.splice(border - 1..=border, [Segment::of(cells, start, end)]);
            }
            _ => break,
        }
    }
    segments
}

/// Residual noise around the segment levels.
pub(super) struct ResidualNoise {
    pub(super) scale: f64,
    /// Variance inflation of a mean due to autocorrelation.
    pub(super) inflation: f64,
}

impl ResidualNoise {
    pub(super) fn of(cells: &[f64], segments: &[Segment]) -> ResidualNoise {
        let rest = |segment: &Segment| {
            cells[segment.start..segment.end]
                .iter()
                .map(|v| v - segment.level)
                .collect()
        };
        let rests: Vec<Vec<f64>> = segments.iter().map(rest).collect();
        let level = segments.iter().map(|s| s.level.abs()).fold(0.0, f64::max);
        let all: Vec<f64> = rests.iter().flatten().copied().collect();
        let scale = (1.4826 * mad(&all).unwrap_or(0.0)).max(level * NOISE_FLOOR);
        // Stalls are not autocorrelation: outliers count as three deviations.
        let clipped: Vec<Vec<f64>> = rests
            .iter()
            .map(|rest| {
                rest.iter()
                    .map(|r| r.clamp(-3.0 * scale, 3.0 * scale))
                    .collect()
            })
            .collect();
        let squares: f64 = clipped.iter().flatten().map(|r| r * r).sum();
        let count = all.len() as f64;
        let mut inflation = 1.0;
        for lag in 1..=LAGS {
            let products = clipped
                .iter()
                .flat_map(|rest| rest.iter().zip(rest.iter().skip(lag)).map(|(a, b)| a * b));
            let (sum, pairs) =
                products.fold((0.0, 0.0), |(sum, n), product| (sum + product, n + 1.0));
            // Each median removes a part of the autocorrelation.
            let bias = segments.len() as f64 / count;
            let alike = if pairs > 0.0 && squares > 0.0 {
                sum / pairs / (squares / count) + bias
            } else {
                0.0
            };
            if alike < 2.0 / count.sqrt() {
                break;
            }
            inflation += 2.0 * alike;
        }
        ResidualNoise { scale, inflation }
    }

    /// Standard error of the difference of two medians; 1.2533 is the loss of a median compared
    /// with a mean. Cells that are medians of several intervals have their own scale.
    pub(super) fn error(&self, a: usize, b: usize, width: usize) -> f64 {
        let (a, b) = (a as f64 / width as f64, b as f64 / width as f64);
        1.2533 * self.scale * (self.inflation * (1.0 / a + 1.0 / b)).sqrt()
    }
}
