//! Change point of a series of write latencies: where a cache is full.

use hakaru_analysis::stats::{mad, median};

/// Writes in a window.
const WINDOW: usize = 16;

/// A rise of the latency.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Rise {
    /// Number of writes before it.
    pub(crate) at: usize,
    /// Median latency before and after.
    pub(crate) before: f64,
    pub(crate) after: f64,
}

/// Finds a rise by more than 6% and four deviations of neighboring windows; `None` if there is none.
///
/// Medians of the logarithm in windows of 16 writes are divided where the sum of squares between the segments is
/// largest; the place is then the write, within three windows, with the smallest sum of squares. Squares are limited to
/// twice that of the step, so that a stall cannot move it.
pub(crate) fn rise(latencies: &[f64]) -> Option<Rise> {
    let logs: Vec<f64> = latencies.iter().map(|value| value.max(1.0).ln()).collect();
    let windows: Vec<f64> = logs.chunks_exact(WINDOW).filter_map(median).collect();
    let n = windows.len();
    if n < 6 {
        return None;
    }
    let total: f64 = windows.iter().sum();
    let mut best = (0.0, 0);
    let mut sum = 0.0;
    for (index, window) in windows.iter().enumerate().take(n - 2) {
        sum += window;
        let (left, right) = (index as f64 + 1.0, (n - index - 1) as f64);
        let step = (total - sum) / right - sum / left;
        let between = left * right / n as f64 * step * step;
        if index >= 1 && step > 0.0 && between > best.0 {
            best = (between, index + 1);
        }
    }
    let (between, at) = best;
    let (before, after) = (median(&windows[..at])?, median(&windows[at..])?);
    let differences: Vec<f64> = windows.windows(2).map(|pair| pair[1] - pair[0]).collect();
    let deviation = (1.4826 * mad(&differences)? / std::f64::consts::SQRT_2).max(1e-4);
    let step = after - before;
    if step < 0.06 || step < 4.0 * deviation || between / (deviation * deviation) < 100.0 {
        return None;
    }
    let place = place(&logs, at * WINDOW, before, after);
    Some(Rise {
        at: place,
        before: median(&latencies[..place])?,
        after: median(&latencies[place..])?,
    })
}

/// Windows in a part of a series.
const PART: usize = 8;

/// Returns the deviation of neighboring windows in the part of a series that was disturbed most; `None` if no part was.
///
/// A part is disturbed if its windows deviate by more than 5%, and six times as much as in the median part: a rise in it
/// would be hidden. A stall does not move the median of a window, and a change of speed is one difference of a part.
pub(crate) fn disturbance(latencies: &[f64]) -> Option<f64> {
    let logs: Vec<f64> = latencies.iter().map(|value| value.max(1.0).ln()).collect();
    let windows: Vec<f64> = logs.chunks_exact(WINDOW).filter_map(median).collect();
    let of_part = |part: &[f64]| {
        let differences: Vec<f64> = part.windows(2).map(|pair| pair[1] - pair[0]).collect();
        Some(1.4826 * mad(&differences)? / std::f64::consts::SQRT_2)
    };
    let parts: Vec<f64> = windows.chunks_exact(PART).filter_map(of_part).collect();
    let (usual, most) = (median(&parts)?, parts.iter().copied().reduce(f64::max)?);
    (most > 0.05 && most > 6.0 * usual).then_some(most)
}

/// Returns the number of writes before the rise, near a window.
fn place(logs: &[f64], near: usize, before: f64, after: f64) -> usize {
    let limit = 2.0 * (after - before) * (after - before);
    let square = |log: f64, level: f64| ((log - level) * (log - level)).min(limit);
    let from = near.saturating_sub(3 * WINDOW);
    let until = (near + 3 * WINDOW).min(logs.len());
    let part = &logs[from..until];
    let mut cost: f64 = part.iter().map(|log| square(*log, after)).sum();
    let mut best = (cost, 0);
    for (index, log) in part.iter().enumerate() {
        cost += square(*log, before) - square(*log, after);
        if cost < best.0 {
            best = (cost, index + 1);
        }
    }
    (from + best.1).clamp(1, logs.len() - 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use hakaru_model::rng::Rng;

    fn series(rng: &mut Rng, before: usize, after: usize, step: f64, sigma: f64) -> Vec<f64> {
        let normal = |rng: &mut Rng| (0..12).map(|_| rng.unit()).sum::<f64>() - 6.0;
        let one = |rng: &mut Rng, level: f64| {
            let stall = if rng.unit() < 0.003 { 100e6 } else { 0.0 };
            level * (sigma * normal(rng)).exp() + stall
        };
        let mut all: Vec<f64> = (0..before).map(|_| one(rng, 2e6)).collect();
        all.extend((0..after).map(|_| one(rng, 2e6 * step)));
        all
    }

    #[test]
    fn places_a_rise_to_one_write_despite_stalls() {
        let mut rng = Rng::new(5);
        for at in [101, 777, 1490] {
            let found = rise(&series(&mut rng, at, 1600 - at, 2.0, 0.05)).unwrap();
            assert!(found.at.abs_diff(at) <= 1, "{found:?}, want {at}");
            assert!((found.after / found.before - 2.0).abs() < 0.03);
        }
    }

    /// Regression: a host that delayed the first fifth of the writes hid a cache, which was said to be absent.
    #[test]
    fn names_a_part_that_hides_a_rise() {
        let mut rng = Rng::new(8);
        let mut hidden = series(&mut rng, 370, 1150, 1.25, 0.01);
        for write in hidden.chunks_exact_mut(8).take(44) {
            let delay = 1.05 + 0.4 * rng.unit();
            write.iter_mut().for_each(|latency| *latency *= delay);
        }
        assert_eq!(rise(&hidden), None);
        assert!(disturbance(&hidden).is_some_and(|most| most > 0.05));
        // Noise, stalls and one change of speed hide no rise.
        let calm = |rng: &mut Rng| {
            let sigma = 0.01 + 0.2 * rng.unit();
            let step = 1.0 + rng.unit();
            disturbance(&series(rng, 1000, 600, step, sigma))
        };
        let alarms = (0..400).filter(|_| calm(&mut rng).is_some()).count();
        assert!(alarms <= 4, "{alarms} of 400");
    }

    #[test]
    fn sees_no_rise_in_noise_or_in_a_fall() {
        let mut rng = Rng::new(6);
        let alarms = (0..300).filter(|_| rise(&series(&mut rng, 1000, 0, 1.0, 0.1)).is_some());
        assert_eq!(alarms.count(), 0);
        assert_eq!(rise(&series(&mut rng, 500, 500, 0.5, 0.05)), None);
        assert_eq!(rise(&[1.0; 20]), None);
    }
}
