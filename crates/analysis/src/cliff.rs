//! Detects lasting speed drops of a sustained write, such as when a cache in the device is full.
//!
//! ```text
//! speed  ▄▄▄▄▄▄▄▄▄▄▄
//!        ██████ ████▄                  before: median of the segment until there
//!        ███████████ ▄▄▄▄▄ ▄▄▄▄▄▄▄
//!        ███████████ █████ ████████▄▄▄▄▄▄▄▄▄▄
//!               |    |     |       |        after: median of the next segment
//!             stall  fall  stall   fall
//! ```
//! A stall lasts a few intervals; a drop is permanent. A slope (tracks of a hard disk, a drive that
//! warms up) is not a drop, nor is speed that recovers: throttling alternates between two levels,
//! garbage collection declines and recovers.

mod segments;

use crate::stats::median;
use hakaru_model::finding::{Cliff, Swing, TimelinePoint};
use hakaru_model::units::{Bytes, BytesPerSec, Nanos};
use segments::{MIN_AFTER, MIN_BEFORE, MIN_DROP, MIN_SIGMAS, Segment, merged, segments};

/// Minimum number of intervals: 10 s at 0.5 s each.
pub(crate) const MIN_INTERVALS: usize = 20;

/// Minimum fraction of all intervals that must follow a drop.
const MIN_SHARE_AFTER: f64 = 0.1;

/// Minimum change of level for waves, which repeat, in standard errors.
const WAVE_SIGMAS: f64 = 4.0;

/// Minimum fraction of a change of level that must happen at once; the rest may be slope of the
/// adjacent segments.
const MIN_JUMP: f64 = 0.5;

/// After one recovery, a drop is lasting only if it is this many times longer than the longest slow
/// segment before it.
const OUTLASTS: usize = 3;

/// After this many recoveries, the last drop is one of many.
const MANY_RECOVERIES: u32 = 2;

/// Distance of distant cells, and how much more they differ than neighbors if the speed wanders.
const FAR: usize = 8;
/// See [`FAR`].
const WANDERS: f64 = 1.4;

/// Minimum drop if the speed wanders, in deviations of the differences over as many intervals: the
/// largest of 240 is under 4.
const LEAP_SIGMAS: f64 = 4.5;

/// Maximum number of cells for the search; only the results are refined by interval.
const MOST_CELLS: usize = 240;

/// Speed changes of a write.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Falls {
    /// Lasting drops in order; the last one may be too close to the end to be certain.
    pub falls: Vec<Cliff>,
    /// Speed that drops and recovers.
    pub swing: Option<Swing>,
}

/// Returns the first lasting drop of a write, from its intervals in order.
pub fn cliff(points: &[TimelinePoint]) -> Option<Cliff> {
    falls(points).falls.into_iter().find(|fall| fall.proven)
}

/// Returns the lasting drops of a write from its intervals in order, and whether its speed swings.
///
/// The series is split into segments of constant level that minimize the absolute deviations from
/// their medians plus a penalty per segment (optimal partitioning). Borders are removed unless
/// their levels differ by `MIN_DROP`, and by `MIN_SIGMAS` standard errors with autocorrelation; a
/// border is a drop if speed falls there at once and never recovers. With both levels known, the
/// position is refined to the last interval at the old level; the interval of the drop is divided
/// according to its own speed. Sources: optimal partitioning with a penalty, Jackson and others
/// (2005), the problem that PELT (Killick, Fearnhead and Eckley 2012) solves; least absolute
/// deviations, Bai (1995); scale by the median absolute deviation, Hampel (1974).
pub fn falls(points: &[TimelinePoint]) -> Falls {
    let steps = whole_intervals(points);
    if steps.len() < MIN_INTERVALS {
        return Falls::default();
    }
    let speeds: Vec<f64> = steps.iter().map(|s| s.speed).collect();
    let width = speeds.len().div_ceil(MOST_CELLS);
    let cells: Vec<f64> = speeds.chunks(width).filter_map(median).collect();
    // Assuming independent intervals, every wave is a segment; with autocorrelation, only lasting
    // levels are.
    let waves = merged(&cells, segments(&cells, width), WAVE_SIGMAS);
    let segments = merged(&cells, waves.clone(), MIN_SIGMAS);
    let split = |segments| Segmented {
        cells: &cells,
        segments,
    };
    let swing = split(&waves).swing();
    if swing.is_some_and(|swing| swing.recoveries >= MANY_RECOVERIES) {
        return Falls {
            falls: Vec::new(),
            swing,
        };
    }
    let found = split(&segments);
    let falls = (1..segments.len()).filter(|&border| found.is_fall(border));
    let falls = falls.filter_map(|border| located(&steps, &speeds, &segments, border, width));
    Falls {
        falls: falls.collect(),
        swing,
    }
}

/// One interval.
#[derive(Clone, Copy, Debug)]
struct SpeedInterval {
    start: f64,
    length: f64,
    speed: f64,
}

/// Returns intervals with their lengths; a last one of less than half the usual length is dropped,
/// because its speed is random.
fn whole_intervals(points: &[TimelinePoint]) -> Vec<SpeedInterval> {
    let mut steps: Vec<SpeedInterval> = Vec::with_capacity(points.len());
    let mut start = 0.0;
    for point in points {
        let length = point.at_s - start;
        if length > 0.0 && point.bandwidth.0.is_finite() {
            steps.push(SpeedInterval {
                start,
                length,
                speed: point.bandwidth.0,
            });
            start = point.at_s;
        }
    }
    let usual = median(&steps.iter().map(|s| s.length).collect::<Vec<_>>()).unwrap_or(0.0);
    if steps.last().is_some_and(|last| last.length < usual / 2.0) {
        steps.pop();
    }
    steps
}

/// Returns length in seconds and speed of the intervals that are long enough for a meaningful speed.
pub(crate) fn lengths_and_speeds(points: &[TimelinePoint]) -> Vec<(f64, f64)> {
    whole_intervals(points)
        .iter()
        .map(|s| (s.length, s.speed))
        .collect()
}

/// Series split into segments.
struct Segmented<'a> {
    cells: &'a [f64],
    segments: &'a [Segment],
}

impl Segmented<'_> {
    /// Whether speed drops permanently between the segments before and after a border.
    fn is_fall(&self, border: usize) -> bool {
        let (before, after) = (&self.segments[border - 1], &self.segments[border]);
        let stays = |level: f64| level <= before.level * (1.0 - MIN_DROP);
        let lasts = self.segments[border..]
            .iter()
            .all(|later| stays(later.level));
        let tail =
            &self.cells[self.cells.len() - (self.cells.len() - after.start).div_ceil(4).max(3)..];
        let sudden = self.is_sudden(border) && (!self.wanders() || self.leaps(border));
        lasts && median(tail).is_some_and(stays) && sudden && self.outlasts(border)
    }

    /// Whether speed drifts within the segments like a random walk: distant cells then differ more than adjacent ones,
    /// while within a constant level they differ equally.
    fn wanders(&self) -> bool {
        let near = self.usual_difference(1);
        near > 0.0 && self.usual_difference(FAR) > WANDERS * near
    }

    /// Whether speed drops at a border by more than a random walk would within the same number of cells.
    fn leaps(&self, border: usize) -> bool {
        let at = self.segments[border].start;
        let (before, after) = (
            &self.cells[at.saturating_sub(3)..at],
            &self.cells[(at + 1).min(self.cells.len() - 1)..],
        );
        let drop = median(before)
            .zip(median(&after[..after.len().min(3)]))
            .map_or(0.0, |(before, after)| before - after);
        drop >= LEAP_SIGMAS * 1.4826 * self.usual_difference(4)
    }

    /// Returns the median absolute difference of cells at this distance within one segment.
    fn usual_difference(&self, lag: usize) -> f64 {
        let of = |segment: &Segment| {
            let cells = &self.cells[segment.start..segment.end];
            cells
                .iter()
                .zip(cells.iter().skip(lag))
                .map(|(a, b)| (a - b).abs())
        };
        median(&self.segments.iter().flat_map(of).collect::<Vec<_>>()).unwrap_or(0.0)
    }

    /// Whether most of the change happens at the border: lines fitted to both segments must be apart there by most of
    /// the difference of levels. Source: the resistant line of Tukey (1977).
    fn is_sudden(&self, border: usize) -> bool {
        let (before, after) = (&self.segments[border - 1], &self.segments[border]);
        let rise = |segment: &Segment| {
            let cells = &self.cells[segment.start..segment.end];
            let half = cells.len() / 2;
            if cells.len() < MIN_AFTER {
                return 0.0;
            }
            let (first, last) = (median(&cells[..half]), median(&cells[cells.len() - half..]));
            // The distance from the middle of a segment to its end equals the distance between the middles of its
            // halves.
            first.zip(last).map_or(0.0, |(first, last)| last - first)
        };
        let jump = (before.level + rise(before)) - (after.level - rise(after));
        jump >= MIN_JUMP * (before.level - after.level)
    }

    /// Whether a drop lasts longer than those from which speed recovered before.
    fn outlasts(&self, border: usize) -> bool {
        let (before, after) = (self.segments[border - 1].level, self.segments[border].level);
        let middle = (before + after) / 2.0;
        let mut longest = 0;
        let mut slow = 0;
        let mut was_fast = false;
        for segment in &self.segments[..border] {
            if segment.level <= middle {
                slow += segment.len();
            } else {
                longest = longest.max(if was_fast { slow } else { 0 });
                (slow, was_fast) = (0, true);
            }
        }
        longest == 0 || self.cells.len() - self.segments[border].start >= OUTLASTS * longest
    }

    /// Returns the drops from which speed recovered.
    fn swing(&self) -> Option<Swing> {
        let mut recoveries = 0;
        let (mut slides, mut falls) = (0, 0);
        let mut fell_from: Option<f64> = None;
        let mut lowest = f64::INFINITY;
        for border in 1..self.segments.len() {
            let (before, after) = (self.segments[border - 1].level, self.segments[border].level);
            if after < before {
                slides += u32::from(!self.is_sudden(border));
                falls += 1;
                fell_from = Some(fell_from.map_or(before, |top| top.max(before)));
                lowest = lowest.min(after);
            } else if let Some(top) = fell_from.filter(|top| after >= (top + lowest) / 2.0) {
                recoveries += 1;
                fell_from = (after > top).then_some(after);
                lowest = f64::INFINITY;
            }
        }
        if recoveries == 0 {
            return None;
        }
        let (high, low) = self.levels()?;
        Some(Swing {
            high,
            low,
            recoveries,
            sawtooth: 2 * slides > falls,
        })
    }

    /// Returns the usual speeds above and below the middle between the highest and the lowest level.
    fn levels(&self) -> Option<(BytesPerSec, BytesPerSec)> {
        let levels = || self.segments.iter().map(|s| s.level);
        let (lowest, highest) = (
            levels().fold(f64::INFINITY, f64::min),
            levels().fold(0.0, f64::max),
        );
        let middle = (lowest + highest) / 2.0;
        let (fast, slow): (Vec<f64>, Vec<f64>) =
            self.cells.iter().partition(|cell| **cell > middle);
        Some((BytesPerSec(median(&fast)?), BytesPerSec(median(&slow)?)))
    }
}

/// Returns the drop at a border, with its position to a fraction of an interval.
fn located(
    steps: &[SpeedInterval],
    speeds: &[f64],
    segments: &[Segment],
    border: usize,
    width: usize,
) -> Option<Cliff> {
    let (start, end) = (
        segments[border - 1].start * width,
        (segments[border].end * width).min(speeds.len()),
    );
    let around = &speeds[start..end];
    let split = refine(around, segments[border].start * width - start)?;
    let (before, after) = (median(&around[..split])?, median(&around[split..])?);
    let found = place(steps, start + split, before, after);
    let rest = (speeds.len() - start - split) as f64;
    Some(Cliff {
        proven: rest >= MIN_SHARE_AFTER * speeds.len() as f64,
        ..found
    })
}

/// Moves a rough split to the last interval at the old level: stalls next to the drop resemble the new level and shift
/// the rough position.
///
/// An interval at the old speed counts +2, because only the old level produces one. An interval at the new speed counts
/// -1, because a stall may produce it. Slower intervals count 0. Of the prefixes that end with an interval at the old
/// speed, the one with the highest sum wins; of equal ones, the longest.
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
    Some(best.1.clamp(
        MIN_BEFORE.min(rough),
        (speeds.len() - 1).min(speeds.len().saturating_sub(MIN_AFTER).max(rough)),
    ))
}

/// Returns the position of a drop. It lies in the two intervals around the split; the speed of each determines its
/// fraction at the old speed.
fn place(steps: &[SpeedInterval], split: usize, before: f64, after: f64) -> Cliff {
    let old_share = |s: &SpeedInterval| ((s.speed - after) / (before - after)).clamp(0.0, 1.0);
    let (last, next) = (&steps[split - 1], &steps[split]);
    // If the interval before the split contains the drop, the next one is entirely at the new level.
    let shares = [
        old_share(last),
        if old_share(last) > 0.9 {
            old_share(next)
        } else {
            0.0
        },
    ];
    let whole: f64 = steps[..split - 1].iter().map(|s| s.length * s.speed).sum();
    let time_in = last.length * shares[0] + next.length * shares[1];
    let whole_time = last.start;
    Cliff {
        at: Bytes((whole + before * time_in).max(0.0) as u64),
        after_time: Nanos(((whole_time + time_in) * 1e9).max(0.0) as u64),
        before: BytesPerSec(before),
        after: BytesPerSec(after),
        proven: true,
    }
}

#[cfg(test)]
mod tests;
