//! Precision of a mean from many runs, from few, and from published figures.

use crate::repeated;
use crate::stats::samples::close;
use crate::stats::{Bootstrap, LEVEL, SampleMoments, mean_interval};
use crate::testing::read_series;
use hakaru_model::finding::{Estimate, PhaseSummary, Repeated};

fn phase(values: &[f64]) -> PhaseSummary {
    let mut phase = read_series(1, 40e6, 0.0).phases.remove(0);
    phase.bandwidth = crate::estimate(values).unwrap();
    phase
}

fn of(values: &[f64]) -> Option<Repeated> {
    repeated(&phase(values))
}

/// Values around 100 of which each is on the other side of the one before, so that no correlation widens an interval.
fn alternating(n: u32) -> Vec<f64> {
    let value =
        |i: u32| 100.0 + f64::from(1 + i * 7 % 5) * if i.is_multiple_of(2) { 1.0 } else { -1.0 };
    (0..n).map(value).collect()
}

#[test]
fn relative_errors_are_those_of_student() {
    // Quantiles of Student's t at 0.975, from the tables.
    close(
        of(&[1.0, 2.0, 3.0]).unwrap().relative_error.unwrap(),
        4.302_652_729_749 / 3.0_f64.sqrt() / 2.0,
        1e-9,
    );
    assert_eq!(of(&[1.0]), None);
    // Published figures have only moments.
    let mut published = phase(&[1.0]);
    published.bandwidth = Estimate {
        mean: 100.0,
        deviation: Some(10.0),
        ..Estimate::default()
    };
    assert_eq!(repeated(&published), None);
    published.detail.stated_runs = Some(4);
    let found = repeated(&published).unwrap();
    close(
        found.relative_error.unwrap(),
        3.182_446_305_284 / 20.0,
        1e-9,
    );
    assert_eq!((found.bootstrap_ci95, found.steady), (None, None));
}

/// 200,000 draws in 200 to 2,000 resamples; bias-corrected and accelerated up to 100 runs.
#[test]
fn bootstrap_intervals_are_computed_from_eight_runs_on() {
    let mean = |sample: &[f64]| sample.iter().sum::<f64>() / sample.len() as f64;
    assert_eq!(of(&alternating(7)).unwrap().bootstrap_ci95, None);
    for (runs, resamples) in [(8, 2_000), (100, 2_000), (101, 1_980), (400, 500)] {
        let values = alternating(runs);
        let bootstrap = Bootstrap {
            resamples,
            ..Bootstrap::default()
        };
        let expected = match runs {
            ..=100 => bootstrap.bca(&values, mean),
            _ => bootstrap.percentile(&values, mean),
        };
        let (found, expected) = (
            of(&values).unwrap().bootstrap_ci95.unwrap(),
            expected.unwrap(),
        );
        close(found.0, expected.0, 1e-9);
        close(found.1, expected.1, 1e-9);
    }
}

#[test]
fn correlated_runs_widen_the_bootstrap_as_they_widen_student() {
    let values = [90.0, 92.0, 93.0, 97.0, 99.0, 104.0, 103.0, 108.0, 111.0];
    let half = |moments: SampleMoments| {
        let (low, high) = mean_interval(&moments, LEVEL).unwrap();
        (high - low) / 2.0
    };
    let factor = half(SampleMoments::of(&values).unwrap())
        / half(SampleMoments::independent(&values).unwrap());
    assert!(factor > 1.2, "{factor}");
    let mean = |sample: &[f64]| sample.iter().sum::<f64>() / sample.len() as f64;
    let bootstrap = Bootstrap {
        resamples: 2_000,
        ..Bootstrap::default()
    };
    let plain = bootstrap.bca(&values, mean).unwrap();
    let wide = of(&values).unwrap().bootstrap_ci95.unwrap();
    let middle = mean(&values);
    close(middle - wide.0, (middle - plain.0) * factor, 1e-9);
    close(wide.1 - middle, (plain.1 - middle) * factor, 1e-9);
}

#[test]
fn steady_windows_of_the_runs_are_listed() {
    let starts = |values: &[f64]| -> Vec<u32> {
        let found = of(values).unwrap();
        assert_eq!(found.steady, found.steady_windows.first().copied());
        let windows = found.steady_windows.iter();
        windows.map(|window| window.first_round).collect()
    };
    assert!(starts(&[100.0; 4]).is_empty());
    assert_eq!(starts(&[100.0; 9]), [0]);
    assert_eq!(starts(&[100.0; 10]), [0, 5]);
    let late = [300.0, 200.0, 100.0, 100.0, 100.0, 100.0, 100.0];
    assert_eq!(starts(&late), [2]);
}

#[test]
fn equal_runs_have_an_interval_without_width() {
    for n in [8, 20, 100, 101, 300] {
        let found = of(&vec![100.0; n]).unwrap();
        assert_eq!(found.bootstrap_ci95, Some((100.0, 100.0)), "{n}");
        assert_eq!(found.relative_error, Some(0.0), "{n}");
    }
}
