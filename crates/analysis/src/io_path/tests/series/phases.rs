//! Several phases and disks of two summaries: which are compared, with which prices, and by which bandwidth.

use super::*;

/// A summary with a traced run of each of these phases and disks.
fn traced_as(series: &str, runs: &[(&str, &str)]) -> Summary {
    let (raw, _) = raw_and_ext4();
    let mut summary = traced(series, vec![raw; runs.len()]);
    for (run, (phase, disk)) in summary.paths.iter_mut().zip(runs) {
        run.phase = (*phase).to_owned();
        run.path.disk.name = (*disk).to_owned();
    }
    summary.traced = traced_series(&summary.paths, &summary.target);
    summary
}

/// Phase and traced runs of both sides; the outcome, if it is a refusal.
type Mention<'a> = (&'a str, (u32, u32), Option<PathRefusal>);

fn mentions(summary: &Summary) -> Vec<Mention<'_>> {
    let mention = |it: &PathDifference| it.outcome.as_ref().err().copied();
    let differences = summary.path_differences.iter();
    differences
        .map(|it| (it.phase.as_str(), it.runs, mention(it)))
        .collect()
}

/// Phases and disks of a traced run each.
type Runs<'a> = &'a [(&'a str, &'a str)];

#[test]
fn each_phase_that_one_side_traced_is_refused_once() {
    let refused = Some(PathRefusal::OneSideTraced);
    let (write, read) = ("rand-write", "seq-read");
    let cases: [(Runs<'_>, Runs<'_>, &[Mention<'_>]); 6] = [
        (&[(write, "sda")], &[], &[(write, (1, 0), refused)]),
        (&[], &[(write, "sda")], &[(write, (0, 1), refused)]),
        // One phase on two disks, and two phases.
        (
            &[(write, "sda"), (write, "sdb")],
            &[],
            &[(write, (1, 0), refused)],
        ),
        (
            &[(write, "sda"), (read, "sda")],
            &[],
            &[(write, (1, 0), refused), (read, (1, 0), refused)],
        ),
        (
            &[(write, "sda")],
            &[(read, "sda")],
            &[(read, (0, 1), refused), (write, (1, 0), refused)],
        ),
        (
            &[(write, "sda"), (read, "sda")],
            &[(write, "sda")],
            &[(write, (1, 1), None), (read, (1, 0), refused)],
        ),
    ];
    for (base, other, expected) in cases {
        let mut both = [traced_as("a", base), traced_as("b", other)];
        compare_traced(&mut both, 0);
        assert_eq!(mentions(&both[1]), expected, "{base:?} {other:?}");
    }
}

/// Other phases that the side measured do not matter.
#[test]
fn a_phase_that_one_side_did_not_measure_is_not_mentioned() {
    for traced_side in 0..2 {
        let mut both = [traced_as("a", &[]), traced_as("b", &[])];
        both[traced_side] = traced_as("c", &[("rand-write", "sda")]);
        let phases = &mut both[1 - traced_side].phases;
        phases.retain(|phase| phase.phase != "rand-write");
        assert!(!phases.is_empty());
        compare_traced(&mut both, 0);
        assert_eq!(mentions(&both[1]), [], "{traced_side}");
    }
}

/// Disks have other names on other hosts. With several, only the name says which is which.
#[test]
fn the_only_disk_of_each_side_is_compared_whatever_its_name() {
    let write = "rand-write";
    let refused = Some(PathRefusal::OneSideTraced);
    let cases: [(&[&str], &[&str], &[Mention<'_>]); 4] = [
        (&["mmcblk0"], &["sda"], &[(write, (1, 1), None)]),
        (
            &["sdc"],
            &["sda", "sdb"],
            &[(write, (0, 1), refused), (write, (0, 1), refused)],
        ),
        (
            &["sdb"],
            &["sda", "sdb"],
            &[(write, (0, 1), refused), (write, (1, 1), None)],
        ),
        (&["sda", "sdb"], &["sdb"], &[(write, (1, 1), None)]),
    ];
    for (base, other, expected) in cases {
        let of = |series: &str, disks: &[&'static str]| {
            let runs: Vec<(&str, &str)> = disks.iter().map(|&disk| (write, disk)).collect();
            traced_as(series, &runs)
        };
        let mut both = [of("a", base), of("b", other)];
        compare_traced(&mut both, 0);
        assert_eq!(mentions(&both[1]), expected, "{base:?} {other:?}");
    }
}

/// Runs on the other disk of the base say nothing about the prices of this one.
#[test]
fn prices_of_a_disk_are_fitted_to_its_own_runs() {
    let run = |disk| ("rand-write", disk);
    let base = ["sda", "sdb", "sdb", "sda", "sdb"].map(run);
    let mut both = [
        traced_as("a", &base),
        traced_as("b", &["sda", "sdb"].map(run)),
    ];
    compare_traced(&mut both, 0);
    let refused: Vec<_> = both[1]
        .path_differences
        .iter()
        .map(|it| (it.disk.as_str(), it.without_prices.as_slice()))
        .collect();
    let few = |runs: u32| [(Op::Write, PriceRefusal::TooFewRuns { runs, needed: 4 })];
    assert_eq!(refused, [("sda", &few(2)[..]), ("sdb", &few(3)[..])]);
}

/// Compares traced runs of which the other one takes `times` as long, with these bandwidths of the measured runs.
fn outcome(times: u64, base: f64, other: f64) -> Result<(), PathRefusal> {
    let (raw, _) = raw_and_ext4();
    let mut slow = raw.clone();
    slow.window = Nanos(times * raw.window.0);
    let mut both = [traced("a", vec![raw]), traced("b", vec![slow])];
    for (summary, bandwidth) in both.iter_mut().zip([base, other]) {
        let mut phases = summary.phases.iter_mut();
        let phase = phases.find(|it| it.phase == "rand-write").unwrap();
        phase.bandwidth.mean = bandwidth;
    }
    compare_traced(&mut both, 0);
    let of = both[1].path_differences.remove(0).outcome;
    of.map(|_| ())
}

/// Refused if the traced ratio differs by more than a factor of 1.5 from that of the same phase, in either direction.
#[test]
fn traced_runs_stand_for_measured_ones_up_to_a_factor() {
    for (traced, base, other, is_refused) in [
        (9, 9e6, 1e6, false),
        (3, 2e6, 1e6, false),
        (3, 1.9e6, 1e6, true),
        (2, 3e6, 1e6, false),
        (2, 3.1e6, 1e6, true),
        (1, 1e6, 1e6, false),
    ] {
        let measured = base / other;
        let traced = f64::from(traced);
        let expected = match is_refused {
            true => Err(PathRefusal::NotRepresentative { traced, measured }),
            false => Ok(()),
        };
        assert_eq!(outcome(traced as u64, base, other), expected, "{traced}");
    }
    // Without bytes on a side, no ratio was measured.
    assert_eq!(outcome(9, 0.0, 1e6), Ok(()));
    assert_eq!(outcome(9, 1e6, 0.0), Ok(()));
    assert_eq!(outcome(9, 0.0, 0.0), Ok(()));
}

/// A run with the counts and mean latencies of writes and reads.
fn of_two_kinds(writes: (u64, f64), reads: (u64, f64)) -> IoPath {
    let (mut path, _) = raw_and_ext4();
    let kind = |op: Op, (count, nanos): (u64, f64)| {
        let mut of = operation([0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, nanos], &[]);
        (of.op, of.count) = (Some(op), count);
        of
    };
    path.operations = vec![kind(Op::Write, writes), kind(Op::Read, reads)];
    path
}

/// The time of a kind is its number of operations times their mean latency. The median of one kind is in the third run,
/// that of the other kind in the second.
#[test]
fn the_shown_run_is_the_median_of_the_kind_with_the_most_time() {
    // Times of 0.1 to 0.3 ms for many, and of 20 to 60 µs for few; then 20 to 60 µs for few, and 1 to 3 µs for many.
    let cases = [((1000, 100.0), (2, 10_000.0)), ((2, 10_000.0), (1000, 1.0))];
    for ((count, unit), (less, other)) in cases {
        let runs = [(3.0, 1.0), (1.0, 2.0), (2.0, 3.0)].map(|(nth, other_nth)| {
            let (most, rest) = ((count, nth * unit), (less, other_nth * other));
            [of_two_kinds(most, rest), of_two_kinds(rest, most)]
        });
        for order in 0..2 {
            let runs = runs.iter().map(|both| both[order].clone()).collect();
            assert_eq!(traced("raw", runs).traced[0].shown, 2, "{count} {order}");
        }
    }
}
