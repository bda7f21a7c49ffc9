//! The answer of a comparison: the largest proven difference, in each direction.

use super::{figures, ratio_ends};
use crate::document::AnswerBlock;
use crate::naming;
use crate::number;
use crate::text::{self, ComparedFigureName as Name, FigureChange, PairAnswer};
use crate::workload;
use hakaru_model::caveat::Caveat;
use hakaru_model::conclusion::PairConclusion;
use hakaru_model::finding::{Comparison, PhaseSummary, Summary, Verdict};
use hakaru_model::units::Quantile;

/// The answer about the rates, which is the conclusion, if there is one; `None` without comparisons.
pub(super) fn answer(
    (a, b): (&Summary, &Summary),
    names: (&str, &str),
    phases: &[(&PhaseSummary, &PhaseSummary)],
    comparisons: &[Comparison],
    conclusion: Option<&PairConclusion>,
) -> Option<AnswerBlock> {
    let main: Vec<&Comparison> = comparisons.iter().filter(|c| c.primary).collect();
    let count = |wanted: fn(&Verdict) -> bool| main.iter().filter(|c| wanted(&c.verdict)).count();
    let different = count(|verdict| *verdict == Verdict::Different);
    let level = count(|verdict| *verdict == Verdict::Equivalent);
    let open = main.len() - different - level;
    let largest = largest(comparisons)?;
    let noun = noun(a, largest);
    let tested = main.iter().any(|c| c.p_value.is_some());
    let pair = pair_answer(largest, names, &noun);
    let concluded = |conclusion| text::pair_conclusion(conclusion, names);
    let text = match (different, tested) {
        _ if conclusion.is_some() => conclusion.map(concluded).unwrap_or_default(),
        (0, false) => text::compared_once(&noun, pair.faster, &pair.ratio),
        (0, true) if open == 0 => text::all_level(names.0, names.1),
        (0, true) => {
            let needed = match largest.verdict {
                Verdict::Undecided { needed } => needed,
                Verdict::Different | Verdict::Equivalent => None,
            };
            let interval = pair.interval.as_ref();
            text::no_difference_proven(&noun, &pair.ratio, interval, needed)
        }
        (_, _) => {
            let other_way = |c: &&&Comparison| (c.ratio > 1.0) != (largest.ratio > 1.0);
            let proven = main.iter().filter(|c| c.verdict == Verdict::Different);
            let other = proven
                .filter(other_way)
                .max_by(|x, y| size(x).total_cmp(&size(y)));
            let other_noun = other.map(|other| self::noun(a, other)).unwrap_or_default();
            let other = other.map(|other| pair_answer(other, names, &other_noun));
            text::proven_difference(&pair, other.as_ref())
        }
    };
    let mut proof = pooled((a, b), names);
    proof.extend(tested.then(|| text::figures_proven(different, level, open)));
    proof.extend(against((a, b), &main));
    if let ([_], [phases]) = (&main[..], phases) {
        proof.extend(tail(*phases, names));
    }
    let proof: Vec<&str> = proof.iter().map(String::as_str).collect();
    let proof = text::paragraph(&proof);
    Some(AnswerBlock { text, proof })
}

/// A sentence for each side whose runs come from several sessions: its spread is not that of repeats.
fn pooled((a, b): (&Summary, &Summary), names: (&str, &str)) -> Vec<String> {
    let sentence = |(of, name): (&Summary, &str)| {
        let sessions = of.caveats.iter().find_map(|caveat| match caveat {
            Caveat::Pooled { count, what } if what == "sessions" => Some(*count),
            _ => None,
        })?;
        Some(text::pools_sessions(name, sessions))
    };
    let sides = [(a, names.0), (b, names.1)].into_iter();
    sides.filter_map(sentence).collect()
}

/// Smallest difference that speaks against the faster side.
const NOTABLE: f64 = 0.05;

/// Smallest ratio of two high percentiles that speaks against the faster side: single slow I/Os make them vary.
const MUCH_LONGER: f64 = 1.5;

/// The highest percentile of the latency that both phases have, and the ratio of the second to the first.
fn tail_ratio(a: &PhaseSummary, b: &PhaseSummary) -> Option<(String, f64)> {
    let (x, y) = (a.latency.as_ref()?, b.latency.as_ref()?);
    [Quantile::P999, Quantile::P99].into_iter().find_map(|q| {
        let [x, y] = [x, y].map(|of| crate::results::quantile(of, q));
        let ratio = y?.0 as f64 / x?.0 as f64;
        let name = text::figure_of(Name::Latency.text(), &number::percentile(q));
        Some((name, ratio))
    })
}

/// What speaks against a side that is faster in all rates: longer mean `fsync`, slower slow I/Os, or a slower slowest
/// interval.
fn against((a, b): (&Summary, &Summary), rates: &[&Comparison]) -> Option<String> {
    let (higher, lower) = (
        rates.iter().all(|c| c.ratio >= 1.0),
        rates.iter().all(|c| c.ratio <= 1.0),
    );
    if higher == lower {
        return None;
    }
    // Ratios of the second side to the first; `more_is_better` of the figure.
    let is_against = |ratio: f64, more_is_better: bool| {
        let favors_second = (ratio > 1.0) == more_is_better;
        (ratio - 1.0).abs() > NOTABLE && favors_second != higher
    };
    let mut parts = Vec::new();
    for phase in &a.phases {
        let mut others = b.phases.iter();
        let same = others.find(|other| other.phase == phase.phase && other.op == phase.op);
        let Some(other) = same else {
            continue;
        };
        let name = naming::phase(a, phase);
        let mut add = |figure: String, ratio: f64, change: FigureChange| {
            if ratio.is_finite() && is_against(ratio, change == FigureChange::Rate) {
                let change = text::figure_change(&figure, ratio, change);
                parts.push(format!("{name}: {change}"));
            }
        };
        if let (Some(x), Some(y)) = (&phase.sync, &other.sync) {
            add(
                Name::MeanFsync.text().to_owned(),
                y.mean_ns / x.mean_ns,
                FigureChange::Time,
            );
        }
        if let Some((figure, ratio)) = tail_ratio(phase, other)
            && ratio.max(ratio.recip()) > MUCH_LONGER
        {
            add(figure, ratio, FigureChange::Time);
        }
        if let (Some(x), Some(y)) = (&phase.sustained, &other.sustained)
            && x.has_comparable_intervals(y)
        {
            add(
                Name::LeastOverTime.text().to_owned(),
                y.min.0 / x.min.0,
                FigureChange::Rate,
            );
        }
    }
    (!parts.is_empty()).then(|| text::against_it(&parts))
}

/// The tail of the latency of the only workload, whose rates do not show it.
fn tail((a, b): (&PhaseSummary, &PhaseSummary), names: (&str, &str)) -> Option<String> {
    let values = [figures::tail(a)?, figures::tail(b)?];
    Some(text::tails((names.0, &values[0]), (names.1, &values[1])))
}

/// The rate with the largest proven difference, otherwise with the largest one.
pub(super) fn largest(comparisons: &[Comparison]) -> Option<&Comparison> {
    let main = || comparisons.iter().filter(|c| c.primary && c.ratio > 0.0);
    let by_size = |x: &&Comparison, y: &&Comparison| size(x).total_cmp(&size(y));
    let proven = main().filter(|c| c.verdict == Verdict::Different);
    proven.max_by(by_size).or_else(|| main().max_by(by_size))
}

/// Size of a difference, the same in both directions.
fn size(comparison: &Comparison) -> f64 {
    comparison.ratio.ln().abs()
}

/// The comparison from the side that is faster.
fn pair_answer<'a>(
    comparison: &Comparison,
    (a, b): (&'a str, &'a str),
    workload: &'a str,
) -> PairAnswer<'a> {
    let turned;
    let (of, faster, slower) = match comparison.ratio >= 1.0 {
        true => (comparison, b, a),
        false => {
            turned = super::turned(comparison);
            (&turned, a, b)
        }
    };
    PairAnswer {
        faster,
        slower,
        workload,
        ratio: number::significant(of.ratio),
        interval: of.ratio_ci95.map(ratio_ends),
    }
}

/// The workload of a comparison as a plural noun.
fn noun(a: &Summary, comparison: &Comparison) -> String {
    let quantity = &*comparison.quantity;
    let named = workload::nouns_of(a).into_iter().zip(&a.phases);
    let of_phase = named.filter(|(_, phase)| {
        let rest = quantity.strip_prefix(phase.phase.as_str());
        let rest = rest.and_then(|rest| match phase.phase == phase.op.name() {
            true => Some(rest),
            false => rest.strip_prefix(' ')?.strip_prefix(phase.op.name()),
        });
        rest.is_some_and(|rest| rest.starts_with(' '))
    });
    let longest = of_phase.max_by_key(|(_, phase)| phase.phase.len());
    longest.map_or_else(|| workload::compared_figure(quantity), |(noun, _)| noun)
}
