//! Concludes a comparison of two sides: the largest proven difference, or what would prove one.

use crate::compare::rate_pair;
use crate::summarize::SHORT;
use hakaru_model::conclusion::{ConcludedRate, FasterSide, PairConclusion, SingleRuns};
use hakaru_model::finding::{Comparison, PhaseSummary, Verdict};
use hakaru_model::units::Nanos;

/// A phase of both sides.
type PhasePair<'a> = (&'a PhaseSummary, &'a PhaseSummary);

/// Concludes the comparison of two sides from their common phases and the comparisons of
/// [`compare_summaries`](crate::compare_summaries). `None` if no rate was compared.
pub fn conclude_pair(
    phases: &[PhasePair<'_>],
    comparisons: &[Comparison],
) -> Option<PairConclusion> {
    let rates: Vec<(PhasePair<'_>, &Comparison)> = phases
        .iter()
        .filter_map(|&(a, b)| {
            let quantity = rate_pair(a, b).quantity;
            let of_rate = |c: &&Comparison| c.primary && *c.quantity == *quantity;
            let comparison = comparisons.iter().find(of_rate)?;
            comparison.ratio.is_finite().then_some(((a, b), comparison))
        })
        .collect();
    let of = count(rates.len());
    let differ = |c: &Comparison| c.verdict == Verdict::Different;
    let proven = rates.iter().filter(|(_, c)| differ(c) && c.ratio > 0.0);
    let distance = |c: &Comparison| c.ratio.ln().abs();
    let largest = |a: &&(PhasePair<'_>, &Comparison), b: &&(PhasePair<'_>, &Comparison)| {
        distance(a.1).total_cmp(&distance(b.1))
    };
    if let Some((phase, comparison)) = proven.max_by(largest) {
        let second = comparison.ratio > 1.0;
        let faster = |c: &Comparison| differ(c) && (c.ratio > 1.0) == second;
        let rate = concluded(*phase, comparison, &rates);
        return Some(PairConclusion::Faster(FasterSide {
            second,
            rate: if second { rate } else { turned(rate) },
            deviation: deviation(comparison, second),
            faster: count(rates.iter().filter(|(_, c)| faster(c)).count()),
            slower: count(
                rates
                    .iter()
                    .filter(|(_, c)| differ(c) && !faster(c))
                    .count(),
            ),
            of,
        }));
    }
    if !rates.is_empty() && rates.iter().all(|(_, c)| c.verdict == Verdict::Equivalent) {
        return Some(PairConclusion::Equivalent { of });
    }
    let is_level = |c: &Comparison| c.verdict == Verdict::Equivalent;
    let open = rates.iter().filter(|(_, c)| !is_level(c));
    let (phase, comparison) = open.max_by(largest)?;
    let Verdict::Undecided { needed } = comparison.verdict else {
        return None;
    };
    let runs = |phase: &PhaseSummary| crate::campaign::runs_of(phase);
    if runs(phase.0).min(runs(phase.1)) <= 1 {
        return single(&rates).map(PairConclusion::Single);
    }
    Some(PairConclusion::Open {
        rate: concluded(*phase, comparison, &rates),
        needed,
        level: count(rates.iter().filter(|(_, c)| is_level(c)).count()),
        of,
    })
}

/// The range of the ratios of sides with a single run; `None` without a positive ratio.
fn single(rates: &[(PhasePair<'_>, &Comparison)]) -> Option<SingleRuns> {
    let long_enough = |phase: &PhaseSummary| {
        let measured = phase.detail.measured;
        measured == Nanos(0) || measured >= SHORT
    };
    let usable = |(_, c): &&(PhasePair<'_>, &Comparison)| c.ratio > 0.0;
    let long = |((a, b), _): &&(PhasePair<'_>, &Comparison)| long_enough(a) && long_enough(b);
    let mut ends: Vec<_> = rates.iter().filter(usable).filter(long).collect();
    if ends.is_empty() {
        ends = rates.iter().filter(usable).collect();
    }
    ends.sort_by(|a, b| a.1.ratio.total_cmp(&b.1.ratio));
    let end =
        |&&(phase, comparison): &&(PhasePair<'_>, &Comparison)| concluded(phase, comparison, rates);
    Some(SingleRuns {
        lowest: ends.first().map(end)?,
        highest: ends.last().map(end)?,
        higher: count(rates.iter().filter(|(_, c)| c.ratio > 1.0).count()),
        of: count(rates.len()),
    })
}

fn count(n: usize) -> u32 {
    u32::try_from(n).unwrap_or(u32::MAX)
}

/// Describes a rate; phases of one kind are told apart by their names.
fn concluded(
    (a, b): PhasePair<'_>,
    comparison: &Comparison,
    rates: &[(PhasePair<'_>, &Comparison)],
) -> ConcludedRate {
    let kind = |phase: &PhaseSummary| {
        let shape = phase.detail.shape.map(|s| {
            let syncs = s.sync_every > 0 || s.sync_open;
            (s.random, s.read_percent, syncs)
        });
        (phase.op, shape)
    };
    let alike = rates
        .iter()
        .filter(|((other, _), _)| kind(other) == kind(a));
    ConcludedRate {
        phase: a.phase.clone(),
        op: a.op,
        shape: a.detail.shape,
        ambiguous: alike.count() > 1,
        means: [comparison.a.mean, comparison.b.mean],
        by_iops: &*comparison.unit == "1/s",
        runs: [a, b].map(crate::campaign::runs_of),
        ratio: comparison.ratio,
        ratio_ci95: comparison.ratio_ci95,
    }
}

/// The rate with the first side divided by the second.
fn turned(rate: ConcludedRate) -> ConcludedRate {
    let inverse = |(low, high): (f64, f64)| (low > 0.0).then(|| (high.recip(), low.recip()));
    let ConcludedRate {
        means: [a, b],
        runs: [of_a, of_b],
        ..
    } = rate;
    ConcludedRate {
        means: [b, a],
        runs: [of_b, of_a],
        ratio: rate.ratio.recip(),
        ratio_ci95: rate.ratio_ci95.and_then(inverse),
        ..rate
    }
}

/// Standard deviation of the ratio over runs, by propagation of those of both sides.
fn deviation(comparison: &Comparison, second: bool) -> Option<f64> {
    let relative = |mean: f64, deviation: Option<f64>| Some(deviation? / mean);
    let a = relative(comparison.a.mean, comparison.a.deviation)?;
    let b = relative(comparison.b.mean, comparison.b.deviation)?;
    let ratio = match second {
        true => comparison.ratio,
        false => comparison.ratio.recip(),
    };
    Some(ratio * a.hypot(b)).filter(|deviation| deviation.is_finite())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compare::common_phases;
    use crate::testing::{Fake, run_of};
    use crate::{compare_summaries, summarize};
    use hakaru_model::finding::Summary;
    use hakaru_model::job::Op;

    /// A series of reads and writes with these IOPS per run.
    fn series(runs: &[(f64, f64)]) -> Summary {
        let fake = |name, op, iops| Fake {
            name,
            op,
            random: true,
            block: 4096,
            iops,
            seconds: 2,
            sync_ms: None,
        };
        let run = |(i, &(read, write)): (usize, &(f64, f64))| {
            let phases = [fake("r", Op::Read, read), fake("w", Op::Write, write)];
            run_of(i as u32, &phases)
        };
        summarize(&runs.iter().enumerate().map(run).collect::<Vec<_>>())
    }

    fn concluded(a: &Summary, b: &Summary) -> Option<PairConclusion> {
        conclude_pair(&common_phases(a, b), &compare_summaries(a, b))
    }

    const A: [(f64, f64); 4] = [
        (1000.0, 400.0),
        (1010.0, 404.0),
        (990.0, 396.0),
        (1003.0, 401.0),
    ];

    #[test]
    fn names_the_largest_proven_difference_and_the_faster_side() {
        let b = A.map(|(read, write)| (read * 1.5, write / 3.0));
        let Some(PairConclusion::Faster(found)) = concluded(&series(&A), &series(&b)) else {
            panic!("both rates differ")
        };
        assert!(!found.second, "the first side writes three times as fast");
        assert_eq!((found.rate.phase.as_str(), found.rate.op), ("w", Op::Write));
        assert!((found.rate.ratio - 3.0).abs() < 0.01, "{found:?}");
        let (low, high) = found.rate.ratio_ci95.unwrap();
        assert!(low < 3.0 && 3.0 < high && low > 2.5, "{low} {high}");
        assert!(
            found.deviation.is_some_and(|d| d > 0.02 && d < 0.1),
            "{found:?}"
        );
        assert_eq!((found.faster, found.slower, found.of), (1, 1, 2));
        assert!(!found.rate.ambiguous);
    }

    #[test]
    fn claims_nothing_from_one_run_each() {
        let (a, b) = (series(&A[..1]), series(&[(2000.0, 400.0)]));
        let Some(PairConclusion::Single(found)) = concluded(&a, &b) else {
            panic!("one run proves nothing")
        };
        assert_eq!((found.higher, found.of), (1, 2));
        let ends = [&found.lowest, &found.highest].map(|rate| rate.phase.as_str());
        assert_eq!(ends, ["w", "r"]);
    }

    #[test]
    fn a_brief_workload_is_not_at_an_end_of_the_range() {
        let run = |times: f64| {
            let fake = |name, seconds, iops| Fake {
                name,
                op: Op::Write,
                random: true,
                block: 4096,
                iops,
                seconds,
                sync_ms: None,
            };
            let phases = [
                fake("brief", 1, 400.0 * times * times),
                fake("long", 20, 400.0 * times),
                fake("longer", 30, 400.0),
            ];
            summarize(&[run_of(0, &phases)])
        };
        let Some(PairConclusion::Single(found)) = concluded(&run(1.0), &run(3.0)) else {
            panic!("one run proves nothing")
        };
        let ends = [&found.lowest, &found.highest].map(|rate| rate.phase.as_str());
        assert_eq!(ends, ["longer", "long"]);
        assert_eq!((found.higher, found.of), (2, 3));
    }

    #[test]
    fn equal_sides_are_equivalent() {
        let found = concluded(&series(&A), &series(&A));
        assert_eq!(found, Some(PairConclusion::Equivalent { of: 2 }));
        assert_eq!(conclude_pair(&[], &[]), None);
    }
}
