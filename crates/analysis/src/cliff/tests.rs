//! Speed drops of simulated cards, and series that only resemble them.

mod drops;
mod levels;

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

/// Returns the intervals of a write to a card with a cache of `size` bytes: speed `fast` up to there, then `slow`.
fn cached(n: usize, size: f64, fast: f64, slow: f64) -> Vec<f64> {
    let ends = size / fast;
    let fast_time = |i: usize| (ends - i as f64 * TICK).clamp(0.0, TICK);
    (0..n)
        .map(|i| (fast_time(i) * fast + (TICK - fast_time(i)) * slow) / TICK)
        .collect()
}

#[test]
fn the_end_of_a_cache_is_found_to_the_byte_without_noise() {
    for (n, size) in [
        (40, 300e6),
        (40, 333.3e6),
        (100, 95e6),
        (240, 5e9),
        (30, 700e6),
    ] {
        let found =
            cliff(&timeline(&cached(n, size, 80e6, 22e6))).unwrap_or_else(|| panic!("{n} {size}"));
        assert!(
            (found.at.0 as f64 - size).abs() < 1e-6 * size,
            "{size}: {found:?}"
        );
        assert!(
            (found.after_time.as_secs_f64() - size / 80e6).abs() < 1e-6,
            "{found:?}"
        );
        assert!((found.before.0 - 80e6).abs() < 1.0 && (found.after.0 - 22e6).abs() < 1.0);
    }
}

/// Returns the position error in intervals over 500 cards with noise and stalls; `None` if missed.
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
        cliff(&timeline(&speeds))
            .map(|found| (found.after_time.as_secs_f64() - size / fast).abs() / TICK)
    };
    (0..500).map(trial).collect()
}

#[test]
fn noise_moves_it_by_less_than_an_interval() {
    for spread in [0.01, 0.03, 0.06] {
        let found = distances(21, spread, 0.0);
        assert!(
            found.iter().all(|d| d.is_some_and(|d| d <= 1.0)),
            "{spread}: {found:?}"
        );
    }
}

#[test]
fn stalls_hide_it_only_where_they_touch_it() {
    // With one of twelve intervals stalled, one drop in twelve follows a stall, which resembles the
    // new level as much as the old.
    let found = distances(22, 0.03, 1.0 / 12.0);
    let within = |most: f64| {
        found
            .iter()
            .filter(|d| d.is_some_and(|d| d <= most))
            .count()
    };
    assert!(
        within(1.0) >= 450 && within(3.0) >= 490,
        "{} {}",
        within(1.0),
        within(3.0)
    );
}

/// Writes of 1 MiB to a simulated card with a cache and stalls, in intervals that end with the
/// write that crosses a border, as an engine records them.
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
        let stall = if written % stall_every_mib == stall_every_mib - 1 {
            0.3
        } else {
            0.0
        };
        time += 1_048_576.0 / rate * (0.98 + 0.04 * rng.unit()) + stall;
        bytes += 1_048_576.0;
        if time >= border {
            points.push(TimelinePoint {
                at_s: time,
                bandwidth: BytesPerSec(bytes / (time - last)),
                iops: 0.0,
            });
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
        assert!(
            apart <= fast * TICK,
            "trial {trial}: {} MB off, {found:?}",
            apart / 1e6
        );
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
    // Each interval inherits 80% of the previous interval's deviation.
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
        (0..120)
            .map(|i| f(f64::from(i) / 120.0) * (1.0 + 0.01 * normal(&mut rng)))
            .collect()
    };
    assert_eq!(cliff(&timeline(&noisy(&|x| 200e6 - 100e6 * x))), None);
    assert_eq!(
        cliff(&timeline(&noisy(&|x| if x < 0.5 { 20e6 } else { 40e6 }))),
        None
    );
    assert_eq!(
        cliff(&timeline(&noisy(&|x| if (0.4..0.6).contains(&x) {
            20e6
        } else {
            40e6
        }))),
        None
    );
}

#[test]
fn whatever_the_points_are_there_is_no_panic() {
    assert_eq!(cliff(&[]), None);
    assert_eq!(cliff(&timeline(&[0.0; 50])), None);
    assert_eq!(cliff(&timeline(&[f64::NAN; 50])), None);
    let same_time = vec![
        TimelinePoint {
            at_s: 1.0,
            bandwidth: BytesPerSec(1.0),
            iops: 1.0
        };
        50
    ];
    assert_eq!(cliff(&same_time), None);
}

/// Returns `n` intervals whose level changes at the given positions, with noise.
fn stairs(
    rng: &mut Rng,
    n: usize,
    places: &[usize],
    levels: &[f64],
    spread: f64,
    stalls: f64,
) -> Vec<f64> {
    let level = |i: usize| levels[places.iter().filter(|&&place| i >= place).count()];
    (0..n)
        .map(|i| {
            let stalled = if rng.unit() < stalls { 0.2 } else { 1.0 };
            level(i) * stalled * (1.0 + spread * normal(rng))
        })
        .collect()
}

fn trials(short: usize) -> usize {
    if std::env::var_os("HAKARU_LONG_TESTS").is_some() {
        short * 10
    } else {
        short
    }
}

/// Draws stairs, and returns whether all their falls are found with their places and levels.
fn finds_stairs(rng: &mut Rng, trial: usize, falls_wanted: usize) -> bool {
    let n = 60 + trial % 180;
    let spread = [0.01, 0.03, 0.05][trial % 3];
    let mut levels = vec![60e6];
    for _ in 0..falls_wanted {
        levels.push(levels.last().unwrap() * (0.4 + 0.4 * rng.unit()));
    }
    let parts = falls_wanted + 1;
    // One series in three has equal parts.
    let place = |k: usize| match trial % 3 {
        0 => k * n / parts,
        _ => ((k as f64 + 0.3 * (rng.unit() - 0.5)) * n as f64 / parts as f64) as usize,
    };
    let places: Vec<usize> = (1..parts).map(place).collect();
    let stalls = [0.0, 0.02][trial % 2];
    let speeds = stairs(rng, n, &places, &levels, spread, stalls);
    let found = falls(&timeline(&speeds)).falls;
    let close = |(fall, (&place, levels)): (&Cliff, (&usize, &[f64]))| {
        let off = (fall.after_time.as_secs_f64() - place as f64 * TICK).abs();
        let level = |got: f64, want: f64| (got / want - 1.0).abs() <= 0.05;
        let levels_match = level(fall.before.0, levels[0]) && level(fall.after.0, levels[1]);
        off <= 0.05 * n as f64 * TICK && levels_match
    };
    let mut expected = found.iter().zip(places.iter().zip(levels.windows(2)));
    found.len() == falls_wanted && expected.all(close)
}

/// Regression: 60, 36 and 17.7 MB/s had "no lasting drop"; equal thirds were found in none of 300.
#[test]
fn stairs_of_two_and_three_falls_are_found_with_their_places_and_levels() {
    let mut rng = Rng::new(31);
    for falls_wanted in [2, 3] {
        let all = trials(300);
        let mut right = 0;
        for trial in 0..all {
            right += usize::from(finds_stairs(&mut rng, trial, falls_wanted));
        }
        assert!(
            right * 100 >= all * 95,
            "{falls_wanted} falls: {right} of {all}"
        );
    }
}

#[test]
fn the_stairs_of_a_real_card_are_found() {
    let mut rng = Rng::new(32);
    let speeds = stairs(&mut rng, 180, &[60, 120], &[60e6, 36e6, 17.7e6], 0.02, 0.0);
    let found = falls(&timeline(&speeds)).falls;
    let levels: Vec<(f64, f64)> = found
        .iter()
        .map(|f| (f.before.0 / 1e6, f.after.0 / 1e6))
        .collect();
    assert_eq!(levels.len(), 2, "{levels:?}");
    assert!(
        (levels[0].1 - 36.0).abs() < 1.0 && (levels[1].1 - 17.7).abs() < 0.5,
        "{levels:?}"
    );
}

/// Draws the speeds of a run with a number of intervals.
type Shape = fn(&mut Rng, usize) -> Vec<f64>;

fn noisy(rng: &mut Rng, n: usize, spread: f64, shape: impl Fn(f64) -> f64) -> Vec<f64> {
    (0..n)
        .map(|i| (shape(i as f64) * 40e6 * (1.0 + spread * normal(rng))).max(0.0))
        .collect()
}

fn period(rng: &mut Rng, n: usize) -> f64 {
    n as f64 * (0.08 + 0.5 * rng.unit())
}

fn random_walk(rng: &mut Rng, n: usize) -> Vec<f64> {
    let mut level: f64 = 1.0;
    let mut next = || {
        level = (level + 0.03 * normal(rng)).clamp(0.1, 3.0);
        level
    };
    let walk: Vec<f64> = (0..n).map(|_| next()).collect();
    noisy(rng, n, 0.01, |i| walk[i as usize])
}

fn correlated(rng: &mut Rng, n: usize) -> Vec<f64> {
    let mut off = 0.0;
    let mut next = || {
        off = 0.9 * off + 0.436 * 0.06 * normal(rng);
        40e6 * (1.0 + off)
    };
    (0..n).map(|_| next()).collect()
}

fn stalling(rng: &mut Rng, n: usize) -> Vec<f64> {
    let mut next = || match rng.unit() < 0.3 {
        true => 4e6,
        false => 40e6 * (1.0 + 0.05 * normal(rng)),
    };
    (0..n).map(|_| next()).collect()
}

fn sine(rng: &mut Rng, n: usize) -> Vec<f64> {
    let (period, phase) = (period(rng, n), rng.unit() * 6.3);
    let wave = |i: f64| 1.0 + 0.35 * (phase + i / period * std::f64::consts::TAU).sin();
    noisy(rng, n, 0.02, wave)
}

fn square(rng: &mut Rng, n: usize) -> Vec<f64> {
    let (period, phase) = (period(rng, n).min(n as f64 * 0.3), rng.unit());
    let wave = |i: f64| match (phase + i / period).fract() < 0.5 {
        true => 1.0,
        false => 0.5,
    };
    noisy(rng, n, 0.02, wave)
}

/// Shapes that resemble a drop, by name.
fn null_shapes() -> [(&'static str, Shape); 8] {
    [
        ("level", |rng, n| noisy(rng, n, 0.1, |_| 1.0)),
        ("random walk", random_walk),
        ("sine", sine),
        ("sawtooth", |rng, n| {
            let (period, phase) = (period(rng, n), rng.unit());
            noisy(rng, n, 0.02, |i| 1.2 - 0.6 * (phase + i / period).fract())
        }),
        ("square", square),
        ("slope", |rng, n| {
            let slope = 0.6 * rng.unit();
            noisy(rng, n, 0.02, |i| 1.0 - slope * i / n as f64)
        }),
        ("correlated neighbors", correlated),
        ("stalls", stalling),
    ]
}

/// Regression: random walks, sines and sawteeth had false drops in 10 to 46% of all series.
#[test]
fn false_cliffs_are_rare_on_eight_null_shapes() {
    let mut exceeded = Vec::new();
    for (name, draw) in null_shapes() {
        let mut rng = Rng::new(33);
        let all = trials(400);
        let found = (0..all)
            .filter(|trial| cliff(&timeline(&draw(&mut rng, 60 + trial % 180))).is_some())
            .count();
        if found * 100 > all {
            exceeded.push(format!("{name}: {found} of {all}"));
        }
    }
    assert!(exceeded.is_empty(), "{exceeded:?}");
}

#[test]
fn throttling_and_garbage_collection_swing() {
    let mut rng = Rng::new(34);
    let square: Vec<f64> = (0..120)
        .map(|i| if i / 15 % 2 == 0 { 40e6 } else { 20e6 } * (1.0 + 0.01 * normal(&mut rng)))
        .collect();
    let found = falls(&timeline(&square));
    let swing = found.swing.unwrap();
    assert_eq!(
        (found.falls.len(), swing.recoveries, swing.sawtooth),
        (0, 3, false),
        "{swing:?}"
    );
    assert!((swing.high.0 / 40e6 - 1.0).abs() < 0.02 && (swing.low.0 / 20e6 - 1.0).abs() < 0.02);
    let tooth = |i: u32| 48e6 - 24e6 * f64::from(i % 40) / 40.0;
    let sawtooth: Vec<f64> = (0..160)
        .map(|i| tooth(i) * (1.0 + 0.01 * normal(&mut rng)))
        .collect();
    let found = falls(&timeline(&sawtooth));
    assert!(
        found.falls.is_empty() && found.swing.is_some_and(|s| s.recoveries == 3 && s.sawtooth),
        "{found:?}"
    );
    assert_eq!(falls(&timeline(&cached(60, 300e6, 80e6, 22e6))).swing, None);
    let (_, level) = null_shapes()[0];
    let swings = (0..200)
        .filter(|i| falls(&timeline(&level(&mut rng, 40 + i))).swing.is_some())
        .count();
    assert!(swings <= 4, "{swings} of 200");
}

#[test]
fn a_fall_at_the_end_is_not_proven() {
    let mut rng = Rng::new(35);
    let speeds = stairs(&mut rng, 200, &[185], &[40e6, 20e6], 0.02, 0.0);
    let found = falls(&timeline(&speeds)).falls;
    assert_eq!((found.len(), found[0].proven), (1, false), "{found:?}");
    assert_eq!(cliff(&timeline(&speeds)), None);
}

#[test]
fn long_series_are_searched_in_cells_and_located_to_the_interval() {
    let mut rng = Rng::new(36);
    let speeds = stairs(
        &mut rng,
        4_000,
        &[1_003, 2_777],
        &[90e6, 50e6, 20e6],
        0.05,
        0.02,
    );
    let found = falls(&timeline(&speeds)).falls;
    let at: Vec<f64> = found
        .iter()
        .map(|f| f.after_time.as_secs_f64() / TICK)
        .collect();
    assert_eq!(at.len(), 2, "{at:?}");
    assert!(
        (at[0] - 1_003.0).abs() <= 2.0 && (at[1] - 2_777.0).abs() <= 2.0,
        "{at:?}"
    );
}

#[test]
fn a_last_interval_of_less_than_half_the_usual_length_is_dropped() {
    let kept = |last: f64| {
        let mut points = timeline(&[50e6; 4]);
        points[3].at_s = points[2].at_s + last;
        lengths_and_speeds(&points).len()
    };
    assert_eq!([0.1, 0.24, 0.25, 0.5].map(kept), [3, 3, 4, 4]);
}
