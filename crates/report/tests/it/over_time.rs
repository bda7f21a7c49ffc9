//! Bandwidth over time in comparisons: intervals of different lengths, and both directions of a mix.

use crate::support;
use hakaru_model::finding::{Summary, Sustained};
use hakaru_model::job::Op;
use hakaru_model::units::{BytesPerSec, Nanos};

/// A comparison as a terminal shows it; `change` changes the second side.
fn compared(change: impl Fn(&mut Summary)) -> String {
    let a = support::sandisk();
    let mut b = a.clone();
    change(&mut b);
    compared_pair(&a, &b)
}

fn compared_pair(a: &Summary, b: &Summary) -> String {
    let phases: Vec<_> = a.phases.iter().zip(&b.phases).collect();
    let of = hakaru_report::PairReport {
        sides: (a, b),
        names: ("one", "two"),
        phases: &phases,
        comparisons: &[],
        findings: &[],
        conclusion: None,
    };
    hakaru_report::comparison_terminal(&of, 100, false)
}

fn with_intervals(summary: &mut Summary, length: Nanos) {
    for phase in &mut summary.phases {
        let known = phase.sustained.as_mut();
        known.into_iter().for_each(|of| of.interval = Some(length));
    }
}

/// Regression: the slowest of long intervals was compared with that of short ones.
#[test]
fn slowest_intervals_of_other_lengths_have_no_ratio() {
    let row = |text: &str| {
        let row = text.lines().find(|row| row.contains("slowest interval"));
        row.unwrap_or_else(|| panic!("no such row in {text}"))
            .to_owned()
    };
    let unknown = row(&compared(|_| {}));
    assert!(unknown.ends_with("1.00×"), "{unknown}");
    let known = row(&compared(|b| with_intervals(b, Nanos::from_secs(1))));
    assert!(known.contains("slowest interval (1 s)"), "{known}");
}

#[test]
fn a_mix_has_its_bandwidth_in_both_directions() {
    let text = compared(|b| {
        for phase in &mut b.phases {
            phase.bandwidth.mean *= 2.0;
        }
    });
    let a = support::sandisk();
    let is_mixed = |phase: &&hakaru_model::finding::PhaseSummary| {
        phase.op == Op::Write
            && a.phases
                .iter()
                .any(|of| of.phase == phase.phase && of.op == Op::Read)
    };
    let mixes = a.phases.iter().filter(is_mixed).count();
    let rows: Vec<&str> = text
        .lines()
        .filter(|row| row.contains("reads and writes together"))
        .collect();
    assert!(mixes > 0, "no mix");
    assert_eq!(rows.len(), mixes, "{text}");
    assert!(rows.iter().all(|row| row.ends_with("2.00×")), "{rows:?}");
}

#[test]
fn intervals_up_to_twice_as_long_are_alike() {
    let of = |interval: Option<u64>| Sustained {
        min: BytesPerSec(1e6),
        max: BytesPerSec(1e6),
        mean: BytesPerSec(1e6),
        deviation: BytesPerSec(0.0),
        interval: interval.map(Nanos),
        cliff: None,
        falls: Vec::new(),
        swing: None,
    };
    let alike = |a, b| of(a).has_comparable_intervals(&of(b));
    assert!(alike(Some(500), Some(1000)) && alike(Some(1000), Some(500)));
    assert!(!alike(Some(500), Some(1002)) && !alike(Some(1002), Some(500)));
    assert!(alike(None, Some(9)) && alike(None, None));
}

/// Regression: reads that verified what a job had written were added to its writes.
#[test]
fn reads_that_verify_writes_are_not_added_to_them() {
    let text = compared(|b| {
        for phase in &mut b.phases {
            phase.bandwidth.mean *= 2.0;
        }
    });
    assert!(text.contains("reads and writes together"), "{text}");
    let mut a = support::sandisk();
    let shapes = a
        .phases
        .iter_mut()
        .filter_map(|of| of.detail.shape.as_mut());
    shapes.for_each(|shape| shape.read_percent = 0);
    let text = compared_pair(&a, &a.clone());
    assert!(!text.contains("reads and writes together"), "{text}");
}
