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

    #[test]
    fn sees_no_rise_in_noise_or_in_a_fall() {
        let mut rng = Rng::new(6);
        let alarms = (0..300).filter(|_| rise(&series(&mut rng, 1000, 0, 1.0, 0.1)).is_some());
        assert_eq!(alarms.count(), 0);
        assert_eq!(rise(&series(&mut rng, 500, 500, 0.5, 0.05)), None);
        assert_eq!(rise(&[1.0; 20]), None);
    }
}
