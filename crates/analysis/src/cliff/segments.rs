//! Segments of equal level: positions where the speed of a run changes, and the noise around each
//! level.

use crate::stats::{mad, median};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Minimum change of level as a fraction of the higher one: levels of one card vary by some
/// percent.
pub(super) const MIN_DROP: f64 = 0.10;

/// Minimum intervals before the first drop. Two, because small caches fill fast.
pub(super) const MIN_BEFORE: usize = 2;

/// Minimum intervals of any other segment, to see that it lasts. Half of them may be a stall: 2 s
/// at 0.5 s each, where the SD specification allows 250 ms and bad cards take 1 s.
pub(super) const MIN_AFTER: usize = 8;

/// Minimum Cliff's delta between the intervals before and after. Excludes series in which every
/// other interval is slow.
const MIN_DOMINANCE: f64 = 0.55;

/// Minimum change of level in standard errors of the difference of medians. The positions are
/// chosen as the best of all, so noise would exceed the usual 2 or 3; 6 is not exceeded in a
/// million series.
pub(super) const MIN_SIGMAS: f64 = 6.0;

/// Minimum noise as a fraction of the level: simulated cards have none.
const NOISE_FLOOR: f64 = 1e-3;

/// Penalty per segment, in deviations of an interval times the logarithm of their number.
const PENALTY: f64 = 4.0;

/// Maximum number of lags for the autocorrelation; the sum ends earlier where it vanishes.
const LAGS: usize = 60;

/// Cells from `start` up to `end`, and their median.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Segment {
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) level: f64,
}

impl Segment {
    fn of(cells: &[f64], start: usize, end: usize) -> Segment {
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
    let penalty = PENALTY * scale(cells) * (n as f64).ln();
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
    let ends = std::iter::successors(Some(n), |&end| Some(best[end].1).filter(|&start| start > 0));
    let mut found: Vec<Segment> = ends
        .map(|end| Segment::of(cells, best[end].1, end))
        .collect();
    found.reverse();
    found
}

/// Returns the deviation of a cell, estimated from the differences of adjacent cells.
fn scale(cells: &[f64]) -> f64 {
    let level = median(cells).unwrap_or(0.0).abs();
    let differences: Vec<f64> = cells.windows(2).map(|w| (w[1] - w[0]).abs()).collect();
    let usual = median(&differences).unwrap_or(0.0);
    (1.4826 / std::f64::consts::SQRT_2 * usual).max(level * NOISE_FLOOR)
}

/// Merges segments at borders that may be noise, the weakest first, until all borders reach `least`
/// standard errors. Below [`MIN_SIGMAS`], the errors assume independent intervals.
pub(super) fn merged(cells: &[f64], mut segments: Vec<Segment>, least: f64) -> Vec<Segment> {
    while segments.len() > 1 {
        let mut noise = ResidualNoise::of(cells, &segments);
        if least < MIN_SIGMAS {
            noise.inflation = 1.0;
        }
        let strength = |border: usize| {
            let (a, b) = (&segments[border - 1], &segments[border]);
            let sigmas = (a.level - b.level).abs() / noise.error(a, b);
            let strength = match are_apart(cells, a, b) {
                true => sigmas,
                false => sigmas.min(least / 2.0),
            };
            (strength, border)
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

/// Whether the levels of two segments differ enough, and most of their cells do.
fn are_apart(cells: &[f64], a: &Segment, b: &Segment) -> bool {
    let (fast, slow) = if a.level > b.level { (a, b) } else { (b, a) };
    let large = fast.level - slow.level >= MIN_DROP * fast.level;
    large && dominance(&cells[fast.start..fast.end], &cells[slow.start..slow.end]) >= MIN_DOMINANCE
}

/// Residual noise around the segment levels.
struct ResidualNoise {
    scale: f64,
    /// Variance inflation of a mean due to autocorrelation.
    inflation: f64,
}

impl ResidualNoise {
    fn of(cells: &[f64], segments: &[Segment]) -> ResidualNoise {
        let rest = |segment: &Segment| {
            let cells = cells[segment.start..segment.end].iter();
            cells.map(|v| v - segment.level).collect()
        };
        let mut rests: Vec<Vec<f64>> = segments.iter().map(rest).collect();
        let level = segments.iter().map(|s| s.level.abs()).fold(0.0, f64::max);
        let all: Vec<f64> = rests.iter().flatten().copied().collect();
        let scale = (1.4826 * mad(&all).unwrap_or(0.0)).max(level * NOISE_FLOOR);
        // Stalls are not autocorrelation: outliers count as three deviations.
        for rest in rests.iter_mut().flatten() {
            *rest = rest.clamp(-3.0 * scale, 3.0 * scale);
        }
        ResidualNoise {
            scale,
            inflation: inflation(&rests, all.len() as f64),
        }
    }

    /// Standard error of the difference of two medians; 1.2533 is the loss of a median compared
    /// with a mean. Cells that are medians of several intervals have their own scale.
    fn error(&self, a: &Segment, b: &Segment) -> f64 {
        let cells = 1.0 / a.len() as f64 + 1.0 / b.len() as f64;
        1.2533 * self.scale * (self.inflation * cells).sqrt()
    }
}

/// Returns the variance inflation of a mean of residuals that are correlated within each segment.
fn inflation(rests: &[Vec<f64>], count: f64) -> f64 {
    let squares: f64 = rests.iter().flatten().map(|r| r * r).sum();
    // Each median removes a part of the autocorrelation.
    let bias = rests.len() as f64 / count;
    let mut inflation = 1.0;
    for lag in 1..=LAGS {
        let products = rests
            .iter()
            .flat_map(|rest| rest.iter().zip(rest.iter().skip(lag)).map(|(a, b)| a * b));
        let (sum, pairs) = products.fold((0.0, 0.0), |(sum, n), product| (sum + product, n + 1.0));
        let correlation = match pairs > 0.0 && squares > 0.0 {
            true => sum / pairs / (squares / count) + bias,
            false => 0.0,
        };
        if correlation < 2.0 / count.sqrt() {
            break;
        }
        inflation += 2.0 * correlation;
    }
    inflation
}

/// Returns the sums of absolute deviations from the median of the first 1, 2, 3, … values, with two heaps that meet at
/// the median.
fn running_costs(values: impl Iterator<Item = f64>) -> Vec<f64> {
    let (mut low, mut high) = (BinaryHeap::new(), BinaryHeap::new());
    let (mut low_sum, mut high_sum) = (0.0, 0.0);
    values
        .map(|value| {
            if low.peek().is_none_or(|&Ordered(top)| value <= top) {
                low.push(Ordered(value));
                low_sum += value;
            } else {
                high.push(Reverse(Ordered(value)));
                high_sum += value;
            }
            // The lower heap contains the median: as many values as the upper heap, or one more.
            if low.len() > high.len() + 1
                && let Some(Ordered(moved)) = low.pop()
            {
                low_sum -= moved;
                high_sum += moved;
                high.push(Reverse(Ordered(moved)));
            } else if high.len() > low.len()
                && let Some(Reverse(Ordered(moved))) = high.pop()
            {
                high_sum -= moved;
                low_sum += moved;
                low.push(Ordered(moved));
            }
            let middle = low.peek().map_or(0.0, |&Ordered(top)| top);
            let extra = low.len() as f64 - high.len() as f64;
            high_sum - low_sum + middle * extra
        })
        .collect()
}

/// Float with a total order.
#[derive(Clone, Copy, PartialEq)]
struct Ordered(f64);

impl Eq for Ordered {}

impl Ord for Ordered {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.0.total_cmp(&other.0)
    }
}

impl PartialOrd for Ordered {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

/// Returns Cliff's delta of the values before and after, by sorting.
fn dominance(before: &[f64], after: &[f64]) -> f64 {
    let mut after = after.to_vec();
    after.sort_by(f64::total_cmp);
    let won = |v: f64| after.partition_point(|&a| a < v) as f64;
    let lost = |v: f64| (after.len() - after.partition_point(|&a| a <= v)) as f64;
    let net: f64 = before.iter().map(|&v| won(v) - lost(v)).sum();
    net / (before.len() * after.len()) as f64
}
