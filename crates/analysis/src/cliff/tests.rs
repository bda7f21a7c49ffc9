//! Cliffs of made-up cards, and everything that looks like one and is none.

use super::*;
use crate::testing::normal;
use hakaru_model::rng::Rng;

const TICK: f64 = 0.5;

fn timeline(speeds: &[f64]) -> Vec<TimelinePoint> {
    let point = |(i, &v): (usize, &f64)| TimelinePoint {
        at_s: (i + 1) as f64 * TICK,
        bandwidth: BytesPerSec(v),
        iops: v / 1e6,
    };
    speeds.iter().enumerate().map(point).collect()
}

/// A write into a cache of `size` bytes: intervals of a card that goes at `fast`, and past it at `slow`.
fn cached(n: usize, size: f64, fast: f64, slow: f64) -> Vec<f64> {
    let ends = size / fast;
    let fast_time = |i: usize| (ends - i as f64 * TICK).clamp(0.0, TICK);
    (0..n).map(|i| (fast_time(i) * fast + (TICK - fast_time(i)) * slow) / TICK).collect()
}

#[test]
fn the_end_of_a_cache_is_found_to_the_byte_without_noise() {
    for (n, size) in [(40, 300e6), (40, 333.3e6), (100, 95e6), (240, 5e9), (30, 700e6)] {
        let found = cliff(&timeline(&cached(n, size, 80e6, 22e6))).unwrap_or_else(|| panic!("{n} {size}"));
        assert!((found.at.0 as f64 - size).abs() < 1e-6 * size, "{size}: {found:?}");
        assert!((found.after_time.as_secs_f64() - size / 80e6).abs() < 1e-6, "{found:?}");
        assert!((found.before.0 - 80e6).abs() < 1.0 && (found.after.0 - 22e6).abs() < 1.0);
    }
}

/// How far from the truth cliffs are found, in intervals, over 500 cards with noise and stalls; `None` when missed.
fn distances(seed: u64, spread: f64, stalls: f64) -> Vec<Option<f64>> {
    let mut rng = Rng::new(seed);
    let trial = |trial: usize| {
        let n = 60 + trial % 180;
        let fast = 60e6;
        let slow = fast * (0.3 + 0.4 * rng.unit());
        let size = fast * TICK * (4.0 + (n as f64 - 24.0) * rng.unit() * 0.8);
        let mut speeds = cached(n, size, fast, slow);
        for speed in &mut speeds {
            let stalled = if rng.unit() < stalls { 0.2 } else { 1.0 };
            *speed *= stalled * (1.0 + spread * normal(&mut rng));
        }
        cliff(&timeline(&speeds)).map(|found| (found.after_time.as_secs_f64() - size / fast).abs() / TICK)
    };
    (0..500).map(trial).collect()
}

#[test]
fn noise_moves_it_by_less_than_an_interval() {
    for spread in [0.01, 0.03, 0.06] {
        let found = distances(21, spread, 0.0);
        assert!(found.iter().all(|d| d.is_some_and(|d| d <= 1.0)), "{spread}: {found:?}");
    }
}

#[test]
fn stalls_hide_it_only_where_they_touch_it() {
    // With one interval in twelve stalled, one cliff in twelve has a stall right before it, which looks like the
    // new level as much as like the old.
    let found = distances(22, 0.03, 1.0 / 12.0);
    let within = |most: f64| found.iter().filter(|d| d.is_some_and(|d| d <= most)).count();
    assert!(within(1.0) >= 450 && within(3.0) >= 490, "{} {}", within(1.0), within(3.0));
}

/// Writes of 1 MiB to a card with a cache and stalls, as its price list has them, told in intervals that end with
/// the write that crosses a border: the way an engine sees them.
fn simulated(
    rng: &mut Rng,
    cache_mib: u64,
    fast: f64,
    slow: f64,
    stall_every_mib: u64,
    seconds: f64,
) -> Vec<TimelinePoint> {
    let (mut time, mut last, mut border, mut bytes) = (0.0, 0.0, TICK, 0.0);
    let mut points = Vec::new();
    for written in 0.. {
        let rate = if written < cache_mib { fast } else { slow };
        let stall = if written % stall_every_mib == stall_every_mib - 1 { 0.3 } else { 0.0 };
        time += 1_048_576.0 / rate * (0.98 + 0.04 * rng.unit()) + stall;
        bytes += 1_048_576.0;
        if time >= border {
            points.push(TimelinePoint { at_s: time, bandwidth: BytesPerSec(bytes / (time - last)), iops: 0.0 });
            (last, bytes) = (time, 0.0);
            border = (time / TICK).floor() * TICK + TICK;
        }
        if time >= seconds {
            break;
        }
    }
    points
}

#[test]
fn the_cache_of_a_simulated_card_ends_within_an_interval_of_where_it_does() {
    let mut rng = Rng::new(24);
    for trial in 0..200 {
        let fast = 50e6 + 40e6 * rng.unit();
        let slow = 12e6 + 20e6 * rng.unit();
        let cache_mib = 100 + rng.below(900);
        let seconds = cache_mib as f64 * 1_048_576.0 / fast + 20.0;
        let stall_every = [128, 256, 1 << 30][trial % 3];
        let points = simulated(&mut rng, cache_mib, fast, slow, stall_every, seconds);
        let found = cliff(&points).unwrap_or_else(|| panic!("trial {trial}: none"));
        let apart = (found.at.0 as f64 - cache_mib as f64 * 1_048_576.0).abs();
        assert!(apart <= fast * TICK, "trial {trial}: {} MB off, {found:?}", apart / 1e6);
        let flat = simulated(&mut rng, 0, fast, slow, stall_every, seconds);
        assert_eq!(cliff(&flat), None, "trial {trial}");
    }
}

#[test]
fn flat_series_have_no_cliff() {
    let mut rng = Rng::new(22);
    let mut false_alarms = 0;
    for trial in 0..4_000 {
        let n = 20 + trial % 220;
        let spread = [0.005, 0.02, 0.05, 0.1, 0.2, 0.4][trial % 6];
        let stalls = [0.0, 0.05, 0.2, 0.35][trial % 4];
        let speeds: Vec<f64> = (0..n)
            .map(|_| {
                let stalled = if rng.unit() < stalls { 0.1 } else { 1.0 };
                (30e6 * stalled * (1.0 + spread * normal(&mut rng))).max(0.0)
            })
            .collect();
        false_alarms += u32::from(cliff(&timeline(&speeds)).is_some());
    }
    assert!(false_alarms <= 4, "{false_alarms} of 4000");
}

#[test]
fn speed_that_wanders_is_no_cliff() {
    // Each interval takes 80 % of its deviation from the one before.
    let mut rng = Rng::new(25);
    let mut false_alarms = 0;
    for trial in 0..2_000 {
        let spread = [0.01, 0.03, 0.06][trial % 3];
        let mut off = 0.0;
        let speeds: Vec<f64> = (0..40 + trial % 200)
            .map(|_| {
                off = 0.8 * off + 0.6 * spread * normal(&mut rng);
                30e6 * (1.0 + off)
            })
            .collect();
        false_alarms += u32::from(cliff(&timeline(&speeds)).is_some());
    }
    assert!(false_alarms <= 10, "{false_alarms} of 2000");
}

#[test]
fn a_stall_is_not_a_cliff_wherever_it_is() {
    for at in 0..60 {
        for long in 1..=4 {
            let mut speeds = vec![40e6; 60];
            speeds.iter_mut().skip(at).take(long).for_each(|v| *v = 1e6);
            assert_eq!(cliff(&timeline(&speeds)), None, "stall of {long} at {at}");
        }
    }
}

#[test]
fn slopes_recoveries_and_rises_are_none() {
    let mut rng = Rng::new(23);
    let mut noisy = |f: &dyn Fn(f64) -> f64| -> Vec<f64> {
        (0..120).map(|i| f(f64::from(i) / 120.0) * (1.0 + 0.01 * normal(&mut rng))).collect()
    };
    assert_eq!(cliff(&timeline(&noisy(&|x| 200e6 - 100e6 * x))), None);
    assert_eq!(cliff(&timeline(&noisy(&|x| if x < 0.5 { 20e6 } else { 40e6 }))), None);
    assert_eq!(cliff(&timeline(&noisy(&|x| if (0.4..0.6).contains(&x) { 20e6 } else { 40e6 }))), None);
}

#[test]
fn whatever_the_points_are_there_is_no_panic() {
    assert_eq!(cliff(&[]), None);
    assert_eq!(cliff(&timeline(&[0.0; 50])), None);
    assert_eq!(cliff(&timeline(&[f64::NAN; 50])), None);
    let same_time = vec![TimelinePoint { at_s: 1.0, bandwidth: BytesPerSec(1.0), iops: 1.0 }; 50];
    assert_eq!(cliff(&same_time), None);
}
