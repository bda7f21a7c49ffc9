//! What speaks for each side of a comparison, use by use, where a table has no room for it.

use super::{PairPhases, shared_figures};
use crate::findings;
use crate::text::{self, FigureChange};
use hakaru_model::advice::{Advice, RunFindings};
use hakaru_model::figure::Figure;
use hakaru_model::finding::{PhaseSummary, Summary, WorkloadShape};
use hakaru_model::job::Op;

/// The figures of each use that favor a side, with the use as the subject; empty unless there are two sides.
pub(crate) fn choice_reasons(
    all: &[RunFindings],
    names: (&str, &str),
    of_pair: &[Summary],
) -> Vec<(String, String)> {
    let [a, b] = all else {
        return Vec::new();
    };
    let reason = |of: &Advice| {
        let other = b.advice.iter().find(|other| other.id == of.id)?;
        let said = shared_figures(of, other, PairPhases(of_pair)).text(names);
        (!said.is_empty()).then(|| (findings::use_of(of).about, said))
    };
    a.advice.iter().filter_map(reason).collect()
}

/// Bandwidth of sequential reads of large blocks in a mix with writes. It is lower than that of reads alone, which a use
/// needs, but favors a side where nothing else was measured.
fn sequential_read_of_mix(phase: &PhaseSummary) -> Option<f64> {
    let shape = phase.detail.shape?;
    let is_large = !shape.random && shape.block >= WorkloadShape::LARGE_BLOCK;
    (is_large && shape.is_mixed() && phase.op == Op::Read).then_some(phase.bandwidth.mean)
}

/// The ratio of sequential reads in a mix, if the use needs sequential reads and neither side has measured them alone.
pub(super) fn ratio_of_mixes(
    (a, b): (&Advice, &Advice),
    phases: PairPhases<'_>,
) -> Option<(String, f64, FigureChange)> {
    let lacks = |of: &Advice| {
        let mut missing = of.not_measured.iter();
        missing.any(|criterion| criterion.figure == Figure::SequentialRead)
    };
    if !lacks(a) || !lacks(b) {
        return None;
    }
    let of_side = |side: usize| {
        let mut phases = phases.0.get(side)?.phases.iter();
        phases.find_map(sequential_read_of_mix)
    };
    let ratio = of_side(1)? / of_side(0)?;
    let name = text::figure_of_mix(Figure::SequentialRead);
    Some((name, ratio, FigureChange::Rate))
}
