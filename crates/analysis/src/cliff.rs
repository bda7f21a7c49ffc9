//! The cliff of a sustained write: where speed falls for good, because a cache in the device is full.
//!
//! ```text
//! speed  ▄▄▄▄▄▄▄▄▄▄▄
//!        ██████ ████▄        before: median of the intervals until there
//!        ███████████ ▄▄▄▄▄ ▄▄▄▄▄▄▄
//!               |    |     |        after: median of the rest
//!             stall  cliff  stall
//! ```
//! A stall is an interval or a few; a cliff lasts. A slope (the tracks of a hard disk, a drive that warms up) is none.

use crate::stats::{mad, median};
use hakaru_model::finding::{Cliff, TimelinePoint};
use hakaru_model::units::{Bytes, BytesPerSec, Nanos};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Fewest intervals of which evenness and cliffs are told: at half a second each, ten seconds.
pub const MIN_INTERVALS: usize = 20;

/// Smallest lasting fall, as a share of the level before: levels of one card vary by some percent anyway.
const MIN_DROP: f64 = 0.10;

/// Fewest intervals before a cliff. Two, because small caches fill fast.
const MIN_BEFORE: usize = 2;

/// Fewest intervals after a cliff: "for good" has to be seen. A stall of half of them is none yet: at half a second each,
/// two seconds, where the SD specification allows 250 ms and bad cards take a second.
const MIN_AFTER: usize = 8;

/// At least this share of all intervals has to lie after a cliff.
const MIN_SHARE_AFTER: f64 = 0.1;

/// How much oftener an interval before is faster than one after than the other way round (Cliff's delta). It keeps out
/// series that are slow every other interval, before and after.
const MIN_DOMINANCE: f64 = 0.55;

/// The fall in standard errors of the difference of the medians. The place is the best of all, so the usual two or
/// three would be met by noise; six is not, in a million series.
const MIN_SIGMAS: f64 = 6.0;

/// Noise below this share of the level is not counted on: simulated cards have none.
const NOISE_FLOOR: f64 = 1e-3;

/// Finds the cliff of a write, if it has one, from its intervals in order.
///
/// The split is first the one that leaves the least absolute deviation from the medians of both sides, and then, the two
/// levels being known, the last interval that still went at the old one. The interval in which the cliff falls is
/// shared out by its own speed, so that the place is better than an interval. Cost: n·log n. Sources:
/// least-absolute-deviation change point, Bai (1995); scale by the median absolute deviation, Hampel (1974).
pub fn cliff(points: &[TimelinePoint]) -> Option<Cliff> {
    let steps = whole_intervals(points);
    if steps.len() < MIN_INTERVALS {
        return None;
    }
    let speeds: Vec<f64> = steps.iter().map(|s| s.speed).collect();
    let (rough, cost) = best_split(&speeds)?;
    let split = refine(&speeds, rough)?;
    let (before, after) = (median(&speeds[..split])?, median(&speeds[split..])?);
    let falls = after <= before * (1.0 - MIN_DROP) && lasts(&speeds[split..], before);
    let stands_out = sigmas(&speeds, split, before, after) >= MIN_SIGMAS;
    if !(falls && stands_out && dominance(&speeds[..split], &speeds[split..]) >= MIN_DOMINANCE) {
        return None;
    }
    (cost < cost_of_slope(&speeds)).then(|| place(&steps, split, before, after))
}

/// One interval.
#[derive(Clone, Copy, Debug)]
struct Step {
    start: f64,
    length: f64,
    speed: f64,
}

/// Intervals with their lengths; a last one of less than half the usual length is left out, because its speed is luck.
fn whole_intervals(points: &[TimelinePoint]) -> Vec<Step> {
    let mut steps: Vec<Step> = Vec::with_capacity(points.len());
    let mut start = 0.0;
    for point in points {
        let length = point.at_s - start;
        if length > 0.0 && point.bandwidth.0.is_finite() {
            steps.push(Step { start, length, speed: point.bandwidth.0 });
            start = point.at_s;
        }
    }
    let usual = median(&steps.iter().map(|s| s.length).collect::<Vec<_>>()).unwrap_or(0.0);
    if steps.last().is_some_and(|last| last.length < usual / 2.0) {
        steps.pop();
    }
    steps
}

/// Length in seconds and speed of the intervals that are long enough for their speed to mean something.
pub(crate) fn lengths_and_speeds(points: &[TimelinePoint]) -> Vec<(f64, f64)> {
    whole_intervals(points).iter().map(|s| (s.length, s.speed)).collect()
}

/// The split with the least absolute deviation from the medians of its sides, and that deviation.
fn best_split(speeds: &[f64]) -> Option<(usize, f64)> {
    let n = speeds.len();
    let after_least = MIN_AFTER.max((n as f64 * MIN_SHARE_AFTER).ceil() as usize);
    let forward = running_costs(speeds.iter().copied());
    let backward = running_costs(speeds.iter().rev().copied());
    let cost = |split: usize| forward[split - 1] + backward[n - split - 1];
    let splits = MIN_BEFORE..=n.saturating_sub(after_least);
    splits.map(|split| (split, cost(split))).min_by(|a, b| a.1.total_cmp(&b.1))
}

/// Moves a rough split to where the old level was last seen: stalls next to the fall look more like the new level than
/// the old, and pull the rough one.
///
/// An interval at the old speed counts two, because nothing but the old level makes one; an interval at the new speed
/// counts one against it, because a stall may; slower ones say nothing. The best prefix wins, the longer of equals.
fn refine(speeds: &[f64], rough: usize) -> Option<usize> {
    let (before, after) = (median(&speeds[..rough])?, median(&speeds[rough..])?);
    let half = (before - after) / 2.0;
    let score = |v: f64| {
        if v > after + half {
            2
        } else if v > after - half {
            -1
        } else {
            0
        }
    };
    let mut sum = 0;
    let mut best = (0, rough);
    for (i, &v) in speeds.iter().enumerate() {
        sum += score(v);
        if score(v) > 0 && sum >= best.0 {
            best = (sum, i + 1);
        }
    }
    Some(best.1.clamp(MIN_BEFORE, speeds.len() - MIN_AFTER))
}

/// Sum of absolute deviations from the median of the first 1, 2, 3, … values: two heaps meet at the median.
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
            // The low side holds the median: as many as the high side, or one more.
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

/// Floats in their total order.
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

/// Whether the last quarter after the fall is still down.
fn lasts(after: &[f64], before: f64) -> bool {
    let tail = (after.len() / 4).max(3).min(after.len());
    median(&after[after.len() - tail..]).is_some_and(|end| end <= before * (1.0 - MIN_DROP))
}

/// The fall in standard errors of the difference of two medians; 1.2533 is what a median costs against a mean.
fn sigmas(speeds: &[f64], split: usize, before: f64, after: f64) -> f64 {
    let level = |i: usize| if i < split { before } else { after };
    let rest: Vec<f64> = speeds.iter().enumerate().map(|(i, v)| v - level(i)).collect();
    let scale = (1.4826 * mad(&rest).unwrap_or(0.0)).max(before.abs() * NOISE_FLOOR);
    let error = 1.2533 * scale * (1.0 / split as f64 + 1.0 / (speeds.len() - split) as f64).sqrt();
    (before - after) / error
}

/// Cliff's delta of before over after, by sorting.
fn dominance(before: &[f64], after: &[f64]) -> f64 {
    let mut after = after.to_vec();
    after.sort_by(f64::total_cmp);
    let won = |v: f64| after.partition_point(|&a| a < v) as f64;
    let lost = |v: f64| (after.len() - after.partition_point(|&a| a <= v)) as f64;
    let net: f64 = before.iter().map(|&v| won(v) - lost(v)).sum();
    net / (before.len() * after.len()) as f64
}

/// Absolute deviation from a straight line through the medians of the outer thirds (Tukey's resistant line).
fn cost_of_slope(speeds: &[f64]) -> f64 {
    let n = speeds.len();
    let third = n / 3;
    let (Some(first), Some(last)) = (median(&speeds[..third]), median(&speeds[n - third..])) else { return 0.0 };
    let slope = (last - first) / (n - third) as f64;
    let rest: Vec<f64> = speeds.iter().enumerate().map(|(i, v)| v - slope * i as f64).collect();
    let height = median(&rest).unwrap_or(0.0);
    rest.iter().map(|r| (r - height).abs()).sum()
}

/// Where it is. The two intervals around the split hold the fall: the share of each that went at the old speed follows
/// from its own.
fn place(steps: &[Step], split: usize, before: f64, after: f64) -> Cliff {
    let old_share = |s: &Step| ((s.speed - after) / (before - after)).clamp(0.0, 1.0);
    let (last, next) = (&steps[split - 1], &steps[split]);
    // Once the interval before the split is mixed itself, the fall is in it, and the next one is all after.
    let shares = [old_share(last), if old_share(last) > 0.9 { old_share(next) } else { 0.0 }];
    let whole: f64 = steps[..split - 1].iter().map(|s| s.length * s.speed).sum();
    let time_in = last.length * shares[0] + next.length * shares[1];
    let whole_time = last.start;
    Cliff {
        at: Bytes((whole + before * time_in).max(0.0) as u64),
        after_time: Nanos(((whole_time + time_in) * 1e9).max(0.0) as u64),
        before: BytesPerSec(before),
        after: BytesPerSec(after),
    }
}

#[cfg(test)]
mod tests;
