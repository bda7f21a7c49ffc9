//! Steady state detection: whether the rounds of a test have stopped changing.

use crate::stats::{drift, mean};
use hakaru_model::finding::SteadyWindow;

/// Number of rounds in the measurement window.
pub const WINDOW: usize = 5;
/// Maximum difference between the largest and smallest value of the window, as a fraction of its average.
pub const MAX_EXCURSION: f64 = 0.20;
/// Maximum change of the fitted line over the window, as a fraction of its average.
pub const MAX_SLOPE: f64 = 0.10;

/// Returns all windows of five rounds in steady state that do not overlap, from the first on: speed may settle twice, at
/// two levels. In steady state the values span at most 20% of their average, and a least-squares line changes by at most
/// 10% of it over the window.
///
/// A round is one pass of the test (a run of a campaign, or a fixed segment of a long run). The specification allows 25
/// rounds to reach steady state; the caller applies that limit. Source: SNIA Solid State Storage Performance Test
/// Specification, "Steady State".
pub fn steady_windows(rounds: &[f64]) -> Vec<SteadyWindow> {
    let mut found: Vec<SteadyWindow> = Vec::new();
    for (first, window) in rounds.windows(WINDOW).enumerate() {
        let free = found
            .last()
            .is_none_or(|last| first as u32 >= last.first_round + last.rounds);
        if let Some(steady) = measure(first, window).filter(|_| free)
            && is_steady(&steady)
        {
            found.push(steady);
        }
    }
    found
}

fn is_steady(window: &SteadyWindow) -> bool {
    window.excursion <= MAX_EXCURSION && window.slope.abs() <= MAX_SLOPE
}

/// Whether the five rounds from `first` on are in steady state.
pub(crate) fn steady_in(rounds: &[f64], first: usize) -> bool {
    window_of(rounds, first).is_some_and(|window| is_steady(&window))
}

/// Returns the figures of the five rounds from `first` on; `None` if there are fewer.
pub(crate) fn window_of(rounds: &[f64], first: usize) -> Option<SteadyWindow> {
    measure(first, rounds.get(first..first.checked_add(WINDOW)?)?)
}

fn measure(first: usize, window: &[f64]) -> Option<SteadyWindow> {
    let average = mean(window).filter(|&m| m > 0.0)?;
    let (low, high) = window.iter().fold((f64::MAX, f64::MIN), |(low, high), &v| {
        (low.min(v), high.max(v))
    });
    let slope = drift(window)?.slope * (WINDOW - 1) as f64;
    Some(SteadyWindow {
        first_round: first.min(u32::MAX as usize) as u32,
        rounds: WINDOW as u32,
        average,
        excursion: (high - low) / average,
        slope: slope / average,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn steady_state(rounds: &[f64]) -> Option<SteadyWindow> {
        steady_windows(rounds).first().copied()
    }

    #[test]
    fn steady_state_begins_when_values_settle() {
        let rounds = [
            400.0, 300.0, 220.0, 150.0, 120.0, 105.0, 103.0, 101.0, 104.0, 102.0,
        ];
        let found = steady_state(&rounds).unwrap();
        assert_eq!((found.first_round, found.rounds), (5, 5));
        assert!(
            (found.average - 103.0).abs() < 1e-9 && (found.excursion - 4.0 / 103.0).abs() < 1e-9
        );
    }

    /// Regression: the first window was returned although speed halved later.
    #[test]
    fn every_steady_window_is_given() {
        let rounds = [
            100.0, 101.0, 99.0, 100.0, 100.0, 80.0, 50.0, 51.0, 49.0, 50.0, 50.0, 50.0,
        ];
        let found = steady_windows(&rounds);
        let levels: Vec<(u32, f64)> = found.iter().map(|w| (w.first_round, w.average)).collect();
        assert_eq!(levels, [(0, 100.0), (6, 50.0)]);
    }

    #[test]
    fn the_limits_are_inclusive() {
        // A span of 20% of 100, without slope.
        assert!(steady_state(&[110.0, 90.0, 100.0, 90.0, 110.0]).is_some());
        assert!(steady_state(&[110.1, 90.0, 100.0, 89.9, 110.0]).is_none());
        // A line that falls by 10% over the window, and one that falls faster.
        assert!(steady_state(&[105.0, 102.5, 100.0, 97.5, 95.0]).is_some());
        assert!(steady_state(&[105.2, 102.6, 100.0, 97.4, 94.8]).is_none());
    }

    #[test]
    fn too_few_rounds_and_no_speed_are_no_state() {
        assert_eq!(steady_state(&[1.0; 4]), None);
        assert_eq!(steady_state(&[0.0; 9]), None);
        assert_eq!(steady_state(&[f64::NAN; 9]), None);
    }
}
