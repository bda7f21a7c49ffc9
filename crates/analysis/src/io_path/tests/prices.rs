//! Prices that one direction of a device is fitted with, and the limits of the device's share of the time.

use super::*;
use crate::testing::card;
use hakaru_model::finding::TracedPhase;

/// Costs of a request, a byte and a jump, in nanoseconds.
const PRICES: [f64; 3] = [5e5, 50.0, 8e6];

/// Requests, bytes and jumps of raw runs in which each price has a part of the time: half, or a quarter of it.
const COUNTS: [[u64; 3]; 5] = [
    [1600, 8_000_000, 50],
    [800, 16_000_000, 50],
    [800, 8_000_000, 100],
    [1600, 16_000_000, 100],
    [3200, 16_000_000, 200],
];

/// A raw run with these requests, bytes and jumps on a device with these prices.
fn raw([requests, bytes, jumps]: [u64; 3], prices: [f64; 3]) -> IoPath {
    let counts = [requests, bytes, jumps].map(|count| count as f64);
    let nanos: f64 = counts.iter().zip(prices).map(|(n, price)| n * price).sum();
    let data = traffic_of(IoClass::Data, Some(Op::Write), requests, bytes, jumps);
    path(nanos as u64, (requests, bytes / requests), vec![data])
}

fn fitted(runs: &[IoPath]) -> Result<PriceModel, PriceRefusal> {
    price_model(&runs.iter().collect::<Vec<_>>(), Op::Write)
}

fn are_close(found: &PriceModel, prices: [f64; 3], within: f64) -> bool {
    let found = [found.request, found.byte, found.jump];
    let mut both = found.into_iter().zip(prices);
    both.all(|(found, price)| (found - price).abs() <= within * price)
}

/// Counts that grow together are still told apart, as long as none is a combination of the others.
#[test]
fn prices_are_told_apart_if_counts_are_correlated() {
    for prices in [PRICES, [1e5, 20.0, 4e6], [2e6, 10.0, 1e6]] {
        let runs = COUNTS.map(|counts| raw(counts, prices));
        let model = fitted(&runs).unwrap();
        assert!(are_close(&model, prices, 1e-6), "{model:?}");
        assert!(model.misfit < 1e-6 && model.runs == 5, "{model:?}");
        assert_eq!(fitted(&runs[..4]).map(|model| model.runs), Ok(4));
        let few = PriceRefusal::TooFewRuns { runs: 3, needed: 4 };
        assert_eq!(fitted(&runs[..3]), Err(few));
    }
}

/// One count proportional to another, in every pair, and one that is the sum of the others.
#[test]
fn prices_of_proportional_counts_are_not_told_apart() {
    let alike: [fn([u64; 3]) -> [u64; 3]; 4] = [
        |[a, _, c]| [a, 4096 * a, c],
        |[a, b, _]| [a, b, a / 10],
        |[a, b, _]| [a, b, b / 100_000],
        |[a, b, _]| [a, b, a + b / 10_000],
    ];
    for (case, change) in alike.into_iter().enumerate() {
        let runs = COUNTS.map(|counts| raw(change(counts), PRICES));
        assert_eq!(fitted(&runs), Err(PriceRefusal::Indistinct), "{case}");
    }
}

/// Prices are at least 0: a price that would be slightly negative is 0, and the others still fit.
#[test]
fn a_price_below_zero_is_zero() {
    for free in 0..3 {
        let with = |factor: f64| {
            let mut prices = PRICES;
            prices[free] *= factor;
            prices
        };
        let runs = COUNTS.map(|counts| raw(counts, with(-0.01)));
        let model = fitted(&runs).unwrap();
        assert_eq!([model.request, model.byte, model.jump][free], 0.0);
        assert!(are_close(&model, with(0.0), 0.02), "{free} {model:?}");
        assert!(model.misfit > 1e-4 && model.misfit < 0.02, "{model:?}");
    }
}

/// Only the price of requests, bytes or jumps is not 0.
#[test]
fn a_device_may_have_a_single_price() {
    for (only, price) in PRICES.into_iter().enumerate() {
        let mut prices = [0.0; 3];
        prices[only] = price;
        let model = fitted(&COUNTS.map(|counts| raw(counts, prices))).unwrap();
        let found = [model.request, model.byte, model.jump];
        let relative = |i: usize| (found[i] - prices[i]).abs() / PRICES[i];
        assert!((0..3).all(|i| relative(i) < 1e-6), "{model:?}");
    }
}

/// Runs with a file system, in both directions, with lost events or without requests are left out.
#[test]
fn only_complete_raw_runs_of_one_direction_are_priced() {
    let base = COUNTS.map(|counts| raw(counts, PRICES));
    let few = Err(PriceRefusal::TooFewRuns { runs: 3, needed: 4 });
    let changes: [fn(&mut IoPath); 6] = [
        |run| run.disk.filesystem = Some("ext4".to_owned()),
        |run| {
            let read = traffic_of(IoClass::Data, Some(Op::Read), 1, 512, 1);
            run.classes.push(read);
        },
        |run| {
            run.tracer.events = vec![EventCount {
                counted: 1000,
                missing: 2,
                ..EventCount::default()
            }];
        },
        |run| run.classes[0].requests = 0,
        |run| run.busy = Nanos(0),
        |run| run.flush_only = run.busy,
    ];
    for (case, change) in changes.into_iter().enumerate() {
        let mut runs = base.clone();
        runs[3..].iter_mut().for_each(change);
        assert_eq!(fitted(&runs), few, "{case}");
    }
    // Flushes have no direction, and the time in which only they run is no time of requests.
    let mut runs = base.clone();
    for run in &mut runs {
        run.classes.push(traffic_of(IoClass::Flush, None, 7, 0, 0));
        (run.busy, run.flush_only) = (Nanos(2 * run.busy.0), run.busy);
    }
    let model = fitted(&runs).unwrap();
    assert!(are_close(&model, PRICES, 1e-6), "{model:?}");
    assert!(price_model(&base.each_ref(), Op::Read).is_err());
}

/// A direction is shown if the application or the device had anything in it.
#[test]
fn traffic_is_that_of_the_application_or_the_device() {
    for (ios, requests, bytes, is_shown) in [
        (0, 0, 0, false),
        (1, 0, 0, true),
        (0, 1, 0, true),
        (0, 0, 512, true),
        (0, 1, 512, true),
        (1, 1, 512, true),
    ] {
        let data = traffic_of(IoClass::Data, Some(Op::Write), requests, bytes, 0);
        let findings = path_findings(&path(1, (ios, 4096), vec![data]));
        let shown: Vec<Op> = findings.traffic.iter().map(|it| it.op).collect();
        let expected = if is_shown { vec![Op::Write] } else { vec![] };
        assert_eq!(shown, expected, "{ios} {requests} {bytes}");
    }
    assert_eq!(path_findings(&path(1, (0, 0), Vec::new())).traffic, []);
}

/// Device from 90% of the time on, host below 50%; several runs by the ends of their interval.
#[test]
fn the_limit_is_judged_by_the_share_of_the_device() {
    let (device, host, both) = (PathLimit::Device, PathLimit::Host, PathLimit::Both);
    let cases: [(&[u64], PathLimit); 16] = [
        (&[0], host),
        (&[499], host),
        (&[500], both),
        (&[501], both),
        (&[899], both),
        (&[900], device),
        (&[1000], device),
        (&[2000], device),
        (&[500, 500, 500], both),
        (&[499, 499, 499], host),
        (&[900, 900, 900], device),
        (&[899, 899, 899], both),
        // The means are beyond the limits, but the intervals are not.
        (&[910, 890, 930], both),
        (&[490, 470, 510], both),
        (&[960, 950, 955], device),
        (&[440, 450, 445], host),
    ];
    for (shares, limit) in cases {
        let traced = |&share: &u64| {
            let path = path(share * 1_000_000, (1, 4096), Vec::new());
            TracedPhase {
                phase: "write".to_owned(),
                run: format!("{share}"),
                findings: path_findings(&path),
                path,
            }
        };
        let paths: Vec<TracedPhase> = shares.iter().map(traced).collect();
        if let [only] = &paths[..] {
            assert_eq!(only.findings.limit, limit, "{shares:?}");
        }
        let found = traced_series(&paths, &card());
        assert_eq!((found.len(), found[0].limit), (1, limit), "{shares:?}");
        assert_eq!(found[0].runs.len(), shares.len());
    }
}

/// With two prices slightly below zero, only one is left, and every pair with it would have one below zero.
#[test]
fn two_prices_below_zero_are_zero() {
    for (only, price) in PRICES.into_iter().enumerate() {
        let mut prices = PRICES.map(|price| -0.01 * price);
        prices[only] = price;
        let model = fitted(&COUNTS.map(|counts| raw(counts, prices))).unwrap();
        let found = [model.request, model.byte, model.jump];
        let relative = |i: usize| found[i] / PRICES[i];
        for i in 0..3 {
            let expected = if i == only { 0.95..1.0 } else { 0.0..1e-300 };
            assert!(expected.contains(&relative(i)), "{only} {model:?}");
        }
        assert!(model.misfit < 0.02, "{model:?}");
    }
}

/// Runs of 1 ns. Bytes and jumps are in different ones, so their correlation is 0. The squares of the correlations of
/// requests with bytes and with jumps add up to 1 - 10⁻⁴, to the last digit, if the third run has 0.01 · 2⁶⁰ requests.
#[test]
fn counts_at_the_limit_of_correlation_are_not_told_apart() {
    let third = 11_529_215_046_068_470;
    let of = |third: u64| {
        let counts = [
            [1_152_817_051_196_805_120, 1, 0],
            [10_388_428_911_058_416, 0, 1],
            [third, 0, 0],
            [1, 0, 0],
        ];
        let run = |[requests, bytes, jumps]: [u64; 3]| {
            let data = traffic_of(IoClass::Data, Some(Op::Write), requests, bytes, jumps);
            path(1, (1, 1), vec![data])
        };
        fitted(&counts.map(run))
    };
    assert_eq!(of(third / 100 * 99), Err(PriceRefusal::Indistinct));
    assert_eq!(of(third), Err(PriceRefusal::Indistinct));
    // Told apart, no prices fit such runs.
    let apart = of(third / 100 * 101);
    assert!(
        matches!(apart, Err(PriceRefusal::Misfit { .. })),
        "{apart:?}"
    );
}
