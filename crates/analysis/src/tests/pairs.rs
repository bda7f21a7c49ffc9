//! Which phases of two series are compared, and by which figures.

use crate::compare::{common_phases, rate_pair};
use crate::compare_summaries;
use crate::testing::suite;
use hakaru_model::finding::{HeadlineRate, Summary};
use hakaru_model::job::Op;
use hakaru_model::units::Quantile;

fn names(a: &Summary, b: &Summary) -> Vec<String> {
    common_phases(a, b)
        .into_iter()
        .map(|(a, b)| format!("{}={}", a.phase, b.phase))
        .collect()
}

/// Names come first; without a common one, operation and workload.
#[test]
fn phases_are_matched_by_name_or_else_by_workload() {
    let a = suite(2);
    let mut b = suite(2);
    b.phases.reverse();
    let all = a.phases.iter().map(|p| format!("{0}={0}", p.phase));
    assert_eq!(names(&a, &b), all.collect::<Vec<_>>());
    for phase in &mut b.phases {
        phase.phase = format!("my-{}", phase.phase);
    }
    // A sustained write is of the workload of a sequential one, so that the first such phase is its partner.
    let by_workload = [
        "seq-write=my-sustained",
        "seq-read=my-seq-read",
        "rand-write=my-rand-write",
        "rand-read=my-rand-read",
        "durable=my-durable",
        "sustained=my-sustained",
    ];
    assert_eq!(names(&a, &b), by_workload);
    // One common name, and nothing else is compared.
    b.phases[0].phase = "sustained".to_owned();
    assert_eq!(names(&a, &b), ["sustained=sustained"]);
    b.phases[0].op = Op::Read;
    assert!(!names(&a, &b).contains(&"sustained=sustained".to_owned()));
    b.phases
        .iter_mut()
        .for_each(|phase| phase.detail.shape = None);
    assert_eq!(names(&a, &b), [""; 0]);
}

/// Bandwidth only if it is the headline of both.
#[test]
fn two_phases_are_compared_by_their_common_rate() {
    let phase = |headline, name: &str| {
        let mut phase = suite(2).phases.remove(0);
        phase.detail.headline = headline;
        name.clone_into(&mut phase.phase);
        phase
    };
    let (bandwidth, iops) = (HeadlineRate::Bandwidth, HeadlineRate::Iops);
    for (a, b, name, unit) in [
        (bandwidth, bandwidth, "bandwidth", "B/s"),
        (bandwidth, iops, "IOPS", "1/s"),
        (iops, bandwidth, "IOPS", "1/s"),
        (iops, iops, "IOPS", "1/s"),
    ] {
        let (a, b) = (phase(a, "x"), phase(b, "x"));
        let pair = rate_pair(&a, &b);
        assert_eq!(
            (pair.quantity, pair.unit),
            (format!("x write {name}"), unit)
        );
    }
    // A phase with the name of its operation is not named twice.
    let write = phase(bandwidth, "write");
    assert_eq!(rate_pair(&write, &write).quantity, "write bandwidth");
}

/// Rates are primary; percentiles are secondary and only compared if both sides have them.
#[test]
fn percentiles_are_secondary_figures() {
    let mut a = suite(3);
    a.phases.retain(|phase| phase.phase == "durable");
    let quantities = |a: &Summary, b: &Summary| -> Vec<(String, bool)> {
        let all = compare_summaries(a, b).into_iter();
        all.map(|c| (c.quantity.to_string(), c.primary)).collect()
    };
    let expected = [
        ("durable write IOPS", true),
        ("durable write latency P99", false),
        ("durable write sync P99", false),
        ("durable write sync P99.9", false),
    ];
    let expected = expected.map(|(name, primary)| (name.to_owned(), primary));
    assert_eq!(quantities(&a, &a), expected);
    let mut b = a.clone();
    b.phases[0].detail.sync_by_run.clear();
    assert_eq!(quantities(&a, &b), expected[..2]);
    assert_eq!(quantities(&b, &a), expected[..2]);
}

#[test]
fn each_percentile_is_compared_with_the_same_percentile() {
    let side = |base: f64| {
        let by_run = |base: f64| {
            let quantiles = [
                Quantile::P95,
                Quantile::P999,
                Quantile::P99,
                Quantile::MEDIAN,
            ];
            let means = (1..).map(|i| base * f64::from(i));
            let values = means.map(|mean| crate::estimate(&[0.9 * mean, mean, 1.1 * mean]));
            let estimates = values.map(|estimate| estimate.unwrap());
            quantiles.into_iter().zip(estimates).collect::<Vec<_>>()
        };
        let mut side = suite(3);
        side.phases.retain(|phase| phase.phase == "durable");
        let detail = &mut side.phases[0].detail;
        (detail.latency_by_run, detail.sync_by_run) = (by_run(base), by_run(10.0 * base));
        side
    };
    let found = compare_summaries(&side(1e6), &side(2e6));
    let means = found.iter().filter(|c| !c.primary);
    let means: Vec<_> = means
        .map(|c| (&*c.quantity, [c.a.mean, c.b.mean].map(f64::round)))
        .collect();
    let expected = [
        ("durable write latency P99", [3e6, 6e6]),
        ("durable write sync P99", [30e6, 60e6]),
        ("durable write sync P99.9", [20e6, 40e6]),
    ];
    assert_eq!(means, expected);
}
