//! The figures of a comparison for the first screen: both sides and their ratio.

use super::{figure_name, ratio_ends, readable};
use crate::document::DocumentBlock;
use crate::escape::plain;
use crate::matrix::{Matrix, MatrixCell, MatrixColumn, MatrixRow, shade};
use crate::number::{self, MeanText};
use crate::text::{self, ComparisonMarks, Head};
use crate::workload;
use hakaru_model::finding::{Comparison, Estimate, Verdict};

/// The matrix of these comparisons of rates.
pub(super) fn matrix((a, b): (&str, &str), comparisons: &[&Comparison]) -> DocumentBlock {
    let column = |name: &str| MatrixColumn {
        name: plain(name),
        unit: String::new(),
    };
    let row = |c: &&Comparison| MatrixRow {
        name: name(c),
        cells: vec![
            Some(side(c, &c.a, &c.b)),
            Some(side(c, &c.b, &c.a)),
            Some(ratio(c)),
        ],
    };
    let matrix = Matrix {
        caption: text::against(&plain(b), &plain(a)),
        about: text::matrix_about(runs(comparisons)),
        corner: Head::Figure.into(),
        columns: vec![column(a), column(b), column(Head::Ratio.text())],
        rows: comparisons.iter().map(row).collect(),
        of_cards: false,
        framed: text::proven_better(),
    };
    let any = |wanted: fn(&Comparison) -> bool| comparisons.iter().any(|c| wanted(c));
    let marks = ComparisonMarks {
        framed: any(|c| c.verdict == Verdict::Different),
        interval: any(|c| c.ratio_ci95.is_some()),
        equal: any(|c| c.verdict == Verdict::Equivalent),
        open: any(|c| matches!(c.verdict, Verdict::Undecided { .. })),
    };
    let key = text::comparison_key((&plain(a), &plain(b)), marks);
    DocumentBlock::Matrices(vec![matrix], key)
}

/// The workload and the unit: the rate needs no other name.
fn name(of: &Comparison) -> String {
    match workload::compared_workload(&of.quantity) {
        Some((workload, "bandwidth")) => text::with_unit(&workload, readable(of).0),
        _ => figure_name(of),
    }
}

/// Number of runs of all figures; `None` if they differ.
fn runs(comparisons: &[&Comparison]) -> Option<u64> {
    let sides = comparisons.iter().flat_map(|c| [&c.a, &c.b]);
    let mut runs = sides.map(|side| side.values.len() as u64);
    let first = runs.next().filter(|runs| *runs > 0)?;
    runs.all(|n| n == first).then_some(first)
}

/// Number of runs whose figures are printed one by one; a phone has no room for more.
const FEW_RUNS: usize = 2;

/// A side's rate; the faster side of a proven difference is the best.
fn side(of: &Comparison, this: &Estimate, other: &Estimate) -> MatrixCell {
    let spread = MeanText::of(this, readable(of).1);
    let best = this.mean.max(other.mean);
    let mut cell = MatrixCell::of(&spread, shade(this.mean, best));
    cell.best = this.mean > other.mean && of.verdict == Verdict::Different;
    // Of so few runs, each is worth seeing.
    if this.values.len() == FEW_RUNS {
        let scale = readable(of).1;
        let runs = this.values.iter().map(|run| number::quantity(run / scale));
        let runs = format!("({})", runs.collect::<Vec<_>>().join(", "));
        let deviation = cell.note.take().into_iter();
        cell.note = Some(deviation.chain([runs]).collect::<Vec<_>>().join(" "));
    }
    cell
}

/// The ratio with its interval, `=` for equivalent sides and `?` for a difference that is not proven.
fn ratio(of: &Comparison) -> MatrixCell {
    let sign = match of.verdict {
        Verdict::Equivalent => " =",
        Verdict::Undecided { .. } => " ?",
        Verdict::Different => "",
    };
    let interval = of.ratio_ci95.map(ratio_ends);
    MatrixCell {
        figure: format!("{}×{sign}", super::ratio_inside(of)),
        note: interval.map(|(low, high)| format!("[{low}, {high}]")),
        letters: String::new(),
        shade: 0,
        best: false,
    }
}
