//! Tests of the limits of caveats, and of caveats of several runs that become one.

use super::*;
use crate::testing::read_series;
use hakaru_model::finding::IntervalCaveat;
use std::sync::LazyLock;

/// Five equal runs of 20 s.
static EQUAL: LazyLock<Summary> = LazyLock::new(|| summarize(&records(&[40e6; 5])));

/// Returns the caveats that follow from the figures of a changed summary.
fn of_changed(change: impl FnOnce(&mut PhaseSummary)) -> Vec<Caveat> {
    let mut summary = EQUAL.clone();
    change(&mut summary.phases[0]);
    caveats::collect(&[], &summary)
}

fn phase() -> String {
    "write".to_owned()
}

#[test]
fn five_equal_long_runs_have_no_caveat() {
    assert_eq!(of_changed(|_| {}), []);
    assert_eq!(read_series(1, 40e6, 0.0).caveats, []);
}

#[test]
fn known_times_below_the_minimum_are_short() {
    for (measured, is_short) in [
        (0, false),
        (1, true),
        (SHORT.0 - 1, true),
        (SHORT.0, false),
        (SHORT.0 + 1, false),
    ] {
        let measured = Nanos(measured);
        let short = Caveat::Short {
            phase: phase(),
            measured,
            wanted: SHORT,
        };
        let expected: Vec<Caveat> = is_short.then_some(short).into_iter().collect();
        assert_eq!(of_changed(|of| of.detail.measured = measured), expected);
    }
}

#[test]
fn fewer_than_five_runs_are_few() {
    for runs in 0..8 {
        let series = records(&vec![40e6; runs as usize]);
        let found = summarize(&series).caveats;
        let few = found.contains(&Caveat::FewRuns { runs });
        assert_eq!(few, (1..5).contains(&runs), "{runs}");
    }
}

#[test]
fn small_files_and_files_in_memory_depend_on_the_operation() {
    let (small, memory) = (SMALL_FILE.0, 8_u64 << 30);
    // Operation, direct, memory, extent, and whether the file is small or fits in memory.
    let cases = [
        (Op::Write, true, memory, small - 1, true, false),
        (Op::Write, false, memory, small - 1, true, false),
        (Op::Write, true, memory, small, false, false),
        (Op::Write, false, memory, small, false, false),
        (Op::Read, false, memory, small - 1, false, true),
        (Op::Read, false, memory, memory - 1, false, true),
        (Op::Read, false, memory, memory, false, false),
        (Op::Read, true, memory, small, false, false),
        (Op::Read, false, 0, small, false, false),
        (Op::Read, false, 0, 0, false, false),
        (Op::Trim, false, memory, small - 1, false, false),
    ];
    for case in cases {
        let (op, direct, memory, size, is_small, fits) = case;
        let (size, memory) = (Bytes(size), Bytes(memory));
        let mut summary = EQUAL.clone();
        summary.environment.memory = memory;
        summary.phases[0].op = op;
        let shape = summary.phases[0].detail.shape.as_mut().unwrap();
        (shape.direct, shape.extent) = (direct, Some(size));
        let found = caveats::collect(&[], &summary);
        let small = is_small.then_some(Caveat::SmallFile { size });
        let fits = fits.then_some(Caveat::FitsInMemory { size, memory });
        let expected: Vec<Caveat> = small.into_iter().chain(fits).collect();
        assert_eq!(found, expected, "{case:?}");
        summary.phases[0].detail.shape.as_mut().unwrap().extent = None;
        assert_eq!(caveats::collect(&[], &summary), []);
    }
}

#[test]
fn overhead_is_reported_above_one_percent_of_the_median() {
    // Overhead, median and mean in nanoseconds; overhead and share in the caveat.
    let cases = [
        (Some(10.0), Some(1_000), 5.0, None),
        (Some(10.2), Some(1_000), 5.0, Some((10, 10))),
        (Some(20.0), Some(1_000), 5.0, Some((20, 20))),
        (Some(20.6), Some(1_000), 5.0, Some((21, 21))),
        (Some(2.0), Some(1), 5.0, Some((2, 2_000))),
        // Without a median, the mean counts.
        (Some(20.0), None, 1_000.0, Some((20, 20))),
        (Some(20.0), None, 4_000.0, None),
        // Of a latency of 0, the overhead is all.
        (Some(20.0), Some(0), 5.0, Some((20, 1_000))),
        (Some(20.0), None, 0.0, Some((20, 1_000))),
        (None, Some(1), 1.0, None),
    ];
    for case in cases {
        let (cost, median, mean, expected) = case;
        let mut summary = EQUAL.clone();
        summary.overhead_ns = cost;
        let latency = summary.phases[0].latency.as_mut().unwrap();
        let median = median.map(|ns| (Quantile::MEDIAN, Nanos(ns)));
        let p99 = Some((Quantile::P99, Nanos(1)));
        latency.quantiles = p99.into_iter().chain(median).collect();
        latency.mean_ns = mean;
        let overhead = expected.map(|(per_io, share_permille)| Caveat::Overhead {
            phase: phase(),
            per_io: Nanos(per_io),
            share_permille,
        });
        let expected: Vec<Caveat> = overhead.into_iter().collect();
        assert_eq!(caveats::collect(&[], &summary), expected, "{case:?}");
        summary.phases[0].latency = None;
        assert_eq!(caveats::collect(&[], &summary), []);
    }
}

#[test]
fn percentiles_need_their_number_of_samples() {
    for (is_sync, percentile) in [(false, Quantile::P99), (true, Quantile::P999)] {
        let enough = (1..).find(|&count| percentile.has_enough(count)).unwrap();
        for (samples, has_curve) in [(enough - 1, true), (enough, true), (enough - 1, false)] {
            let found = of_changed(|of| {
                let mut latency = of.latency.clone().unwrap();
                latency.count = samples;
                if !has_curve {
                    latency.curve.clear();
                }
                match is_sync {
                    true => of.sync = Some(latency),
                    false => of.latency = Some(latency),
                }
            });
            let few = Caveat::FewSamples {
                phase: phase(),
                samples,
                percentile,
            };
            let is_few = has_curve && samples < enough;
            let expected: Vec<Caveat> = is_few.then_some(few).into_iter().collect();
            assert_eq!(found, expected, "{samples}");
        }
    }
}

#[test]
fn reads_elsewhere_are_reported_below_90_percent() {
    for (op, share, expected) in [
        (Op::Read, 0.8996, Some(900)),
        (Op::Read, 0.9, None),
        (Op::Read, 1.5, None),
        (Op::Read, 0.25, Some(250)),
        (Op::Read, 0.0, Some(0)),
        (Op::Write, 0.25, None),
    ] {
        let found = of_changed(|of| (of.op, of.amplification) = (op, estimate(&[share])));
        let elsewhere = expected.map(|share_permille| Caveat::ReadElsewhere {
            phase: phase(),
            share_permille,
        });
        let expected: Vec<Caveat> = elsewhere.into_iter().collect();
        assert_eq!(found, expected, "{op:?} {share}");
    }
}

fn flat() -> Stability {
    Stability {
        outliers: Vec::new(),
        drift: Some(0.0),
        drift_p: Some(1.0),
        lag1: Some(0.5),
        effective_runs: Some(5.0),
    }
}

#[test]
fn drift_is_reported_if_it_is_large_and_not_chance() {
    for (drift, p, expected) in [
        (Some(0.02), Some(0.009_9), Some(20)),
        (Some(-0.02), Some(0.0), Some(-20)),
        (Some(0.5), Some(0.009_9), Some(500)),
        (Some(0.02), Some(0.01), None),
        (Some(0.5), Some(0.5), None),
        (Some(0.019_9), Some(0.0), None),
        (Some(-0.019_9), Some(0.0), None),
        (Some(0.5), None, None),
        (None, Some(0.0), None),
    ] {
        // A drift correlates consecutive runs, so the correlation is not reported as well.
        let found = of_changed(|of| {
            of.bandwidth.deviation = Some(of.bandwidth.mean);
            of.bandwidth.interval_caveats = vec![IntervalCaveat::Dependent];
            of.detail.stability = Some(Stability {
                drift,
                drift_p: p,
                ..flat()
            });
        });
        let drift_or_lag = match expected {
            Some(change_permille) => Caveat::Drift {
                phase: phase(),
                change_permille,
            },
            None => Caveat::Dependent {
                phase: phase(),
                lag1_permille: 500,
            },
        };
        assert_eq!(found, [drift_or_lag], "{drift:?} {p:?}");
    }
}

#[test]
fn uncertain_means_are_reported_above_a_deviation_of_one_percent() {
    use IntervalCaveat::{Dependent, FewRuns, Skewed, TwoModes};
    let (phase, runs, lag1_permille) = (phase(), 5, 500);
    let dependent = Caveat::Dependent {
        phase: phase.clone(),
        lag1_permille,
    };
    let modes = Caveat::TwoModes {
        phase: phase.clone(),
        runs,
    };
    let skewed = Caveat::Skewed { phase, runs };
    let cases: [(&[IntervalCaveat], Vec<Caveat>); 6] = [
        (&[], vec![]),
        (&[FewRuns], vec![]),
        (&[Dependent], vec![dependent.clone()]),
        (&[Skewed], vec![skewed.clone()]),
        (&[Skewed, TwoModes], vec![modes.clone()]),
        (&[Dependent, Skewed], vec![dependent, skewed]),
    ];
    for (reasons, expected) in cases {
        for (mean, deviation, is_wide) in [
            (100.0, Some(1.001), true),
            (100.0, Some(1.0), false),
            (100.0, Some(0.9), false),
            (1_000.0, Some(10.001), true),
            (1_000.0, Some(9.999), false),
            (100.0, None, false),
        ] {
            let found = of_changed(|of| {
                (of.bandwidth.mean, of.bandwidth.deviation) = (mean, deviation);
                of.bandwidth.interval_caveats = reasons.to_vec();
                of.detail.stability = Some(flat());
            });
            let expected = if is_wide { &expected[..] } else { &[] };
            assert_eq!(found, expected, "{reasons:?} {mean} {deviation:?}");
        }
    }
}

#[test]
fn outliers_are_reported_beyond_two_percent_of_the_median() {
    let steady = [
        99.9, 100.1, 100.0, 100.05, 99.95, 100.0, 100.02, 99.98, 100.0,
    ];
    for (odd, is_reported) in [
        (100.0, false),
        (101.9, false),
        (98.1, false),
        (102.0, false),
        (102.1, true),
        (97.9, true),
        (300.0, true),
    ] {
        let values = [&steady[..], &[odd]].concat();
        let found = of_changed(|of| {
            of.bandwidth = estimate(&values).unwrap();
            of.bandwidth.interval_caveats.clear();
            of.detail.stability = Some(flat());
        });
        let outliers = Caveat::Outliers {
            phase: phase(),
            count: 1,
            runs: 10,
        };
        let expected: Vec<Caveat> = is_reported.then_some(outliers).into_iter().collect();
        assert_eq!(found, expected, "{odd}");
        // Unknown stability has no caveats.
        let unknown = of_changed(|of| {
            of.bandwidth = estimate(&values).unwrap();
            of.detail.stability = None;
        });
        assert_eq!(unknown, []);
    }
}
