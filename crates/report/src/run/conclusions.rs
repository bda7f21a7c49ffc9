//! Conclusions of one kind from one series or several: suitability, claims, bottlenecks.

use crate::document::{DocumentBlock, TableStyle, folded, part};
use crate::findings::{self, ConclusionKind, ConclusionRow};
use crate::naming::distinct;
use crate::number;
use crate::table::{self, DataTable};
use crate::text::{self, ComparedFigureName as Name};
use hakaru_model::advice::{self, Advice, RunFindings};
use hakaru_model::finding::{Figure, PhaseSummary, Summary};

/// Conclusions of one kind: with all reasons for one series, as a table for several; the uses of two with the ratios
/// of their figures.
pub(super) fn conclusions_of(
    kind: ConclusionKind,
    all: &[RunFindings],
    names: &[String],
    of: &[Summary],
) -> Vec<DocumentBlock> {
    conclusions_with(kind, all, names, ratios(kind, all, names, of))
}

fn conclusions_with(
    kind: ConclusionKind,
    all: &[RunFindings],
    names: &[String],
    ratios: Option<(String, Vec<String>)>,
) -> Vec<DocumentBlock> {
    let (title, about) = (text::conclusion_title(kind), text::conclusion_about(kind));
    let found: Vec<Vec<ConclusionRow>> = all.iter().map(|found| kind.of(found)).collect();
    let is_open = |row: &ConclusionRow| row.sign == findings::OPEN;
    let blocks = match &found[..] {
        found if found.iter().all(Vec::is_empty) => Vec::new(),
        [only] if kind == ConclusionKind::Uses => vec![DocumentBlock::Uses(only.clone())],
        [only] => vec![DocumentBlock::Conclusions(about, only.clone())],
        many if kind == ConclusionKind::Uses
            && ratios.is_none()
            && many.iter().flatten().all(is_open) =>
        {
            vec![
                DocumentBlock::Text(text::no_use_judged().to_owned()),
                folded(text::why(), reasons(about, many, names)),
            ]
        }
        many => compared_conclusions(about, many, names, ratios),
    };
    part(title, blocks)
}

/// The ratios of two series in the figures that decide each use, second to first, with the column's name.
fn ratios(
    kind: ConclusionKind,
    all: &[RunFindings],
    names: &[String],
    of: &[Summary],
) -> Option<(String, Vec<String>)> {
    let ([a, b], [first, second]) = (all, names) else {
        return None;
    };
    let phases = || of.iter().flat_map(|summary| &summary.phases);
    let fsync_means = |name: &str| {
        let synced = |summary: &Summary| {
            let mut phases = summary.phases.iter();
            let found = phases.find(|phase| phase.phase == name && phase.sync.is_some());
            found.and_then(|phase| Some(phase.sync.as_ref()?.mean_ns))
        };
        match of {
            [a, b] => Some([synced(a)?, synced(b)?]),
            _ => None,
        }
    };
    let is_mixed = |name: &str| {
        let shape = |phase: &PhaseSummary| (phase.phase == name).then_some(phase.detail.shape?);
        let mut shapes = phases().filter_map(shape);
        shapes.any(|shape| !matches!(shape.read_percent, 0 | 100))
    };
    if kind != ConclusionKind::Uses {
        return None;
    }
    let cells = a.advice.iter().map(|of| {
        let same = b.advice.iter().find(|other| other.id == of.id);
        let Some(other) = same else {
            return String::new();
        };
        let (choice, so_far) = advice::choose(of, other);
        let choice = text::choice(choice, (first, second), so_far);
        match decided_ratios(of, other, (first, second), &is_mixed, &fsync_means) {
            ratios if ratios.is_empty() => String::new(),
            ratios => text::reasons(&[choice, ratios]),
        }
    });
    let cells: Vec<String> = cells.collect();
    let known = cells.iter().any(|cell| !cell.is_empty());
    known.then(|| (text::choice_column(first, second), cells))
}

/// Largest difference of two figures, as a share, that makes neither better: that of equivalence in comparisons.
const LEVEL: f64 = 0.05;

/// Which side measured better in how many of the figures that both pieces of advice judge, and the ratios of those that
/// differ.
fn decided_ratios(
    a: &Advice,
    b: &Advice,
    names: (&str, &str),
    is_mixed: &dyn Fn(&str) -> bool,
    fsync_means: &dyn Fn(&str) -> Option<[f64; 2]>,
) -> String {
    let (mut differing, mut better, mut level) = (Vec::new(), [0, 0], 0);
    let mut counted: Vec<(&str, [f64; 2])> = Vec::new();
    let mut count = |name: String, ratio: f64, more_is_better: bool| {
        if (ratio - 1.0).abs() <= LEVEL {
            level += 1;
            return;
        }
        better[usize::from((ratio > 1.0) == more_is_better)] += 1;
        differing.push(format!("{name} {}×", number::quantity(ratio)));
    };
    for of in &a.decided_by {
        let figure = of.criterion.figure;
        let other = b.decided_by.iter().find(|d| d.criterion.figure == figure);
        let Some(other) = other else {
            continue;
        };
        let values = [of.measured.value, other.measured.value];
        let ratio = values[1] / values[0];
        // A long write has a sequential and a sustained speed, which may be the same figure.
        let of_phase = (&*of.measured.phase, values);
        if !ratio.is_finite() || counted.contains(&of_phase) {
            continue;
        }
        counted.push(of_phase);
        let name = match is_mixed(&of.measured.phase) {
            true => text::figure_of_mix(figure),
            false if of.measured.bounds.is_some() => Name::LeastOverTime.text().to_owned(),
            false => text::figure(figure).to_owned(),
        };
        count(name, ratio, figure.more_is_better());
        // The tail may be shorter although most are longer.
        let means = (figure == Figure::SyncP99).then(|| fsync_means(&of.measured.phase));
        let mean = means.flatten().map(|[a, b]| b / a);
        if let Some(mean) = mean.filter(|mean| (*mean > 1.0) != (ratio > 1.0)) {
            let name = text::figure_of(Name::Fsync.text(), Name::Mean.text());
            count(name, mean, false);
        }
    }
    let of = differing.len() + level;
    let level = (level > 0).then(|| text::figures_level(level, of));
    if differing.is_empty() {
        return level.unwrap_or_default();
    }
    let (name, count) = match better[1] >= better[0] {
        true => (names.1, better[1]),
        false => (names.0, better[0]),
    };
    let better = text::better_in(name, count, of);
    differing.extend(level);
    format!("{better}: {}", differing.join(" · "))
}

/// Suitability for uses, as a table if there are several series: verdicts only, because a terminal has no more columns.
pub(crate) fn uses_of(all: &[RunFindings], names: &[String]) -> Vec<DocumentBlock> {
    conclusions_with(ConclusionKind::Uses, all, names, choices(all, names))
}

/// The choice between two series for each use; `None` if no figure is known for any.
fn choices(all: &[RunFindings], names: &[String]) -> Option<(String, Vec<String>)> {
    let ([a, b], [first, second]) = (all, names) else {
        return None;
    };
    let choice = |of: &Advice| {
        let same = b.advice.iter().find(|other| other.id == of.id);
        let both = same.filter(|other| !of.decided_by.is_empty() && !other.decided_by.is_empty());
        both.map_or_else(String::new, |other| {
            let (choice, so_far) = advice::choose(of, other);
            text::choice(choice, (first, second), so_far)
        })
    };
    let cells: Vec<String> = a.advice.iter().map(choice).collect();
    let known = cells.iter().any(|cell| !cell.is_empty());
    known.then(|| (text::choice_title().to_owned(), cells))
}

/// Verdicts only, one row for each use and one column for each series; the reasons of each series are collapsed.
fn compared_conclusions(
    about: &'static str,
    found: &[Vec<ConclusionRow>],
    names: &[String],
    ratios: Option<(String, Vec<String>)>,
) -> Vec<DocumentBlock> {
    let uses = distinct(found.iter().flatten().map(|row| &row.about));
    let cell = |of: &Vec<ConclusionRow>, wanted: &String| {
        let row = of.iter().find(|row| row.about == *wanted);
        row.map_or("–".to_owned(), findings::verdict)
    };
    let (column, ratios) = ratios.unzip();
    let rows = uses.iter().enumerate().map(|(nth, wanted)| {
        let cells = found.iter().map(|of| cell(of, wanted));
        let ratio = ratios.as_ref().map(|all| all.get(nth).cloned());
        table::row(
            *wanted,
            cells.chain(ratio.map(|cell| match cell {
                Some(cell) if !cell.is_empty() => cell,
                _ => "–".to_owned(),
            })),
        )
    });
    let head = table::row(about, names.iter().cloned().chain(column));
    let table = DataTable::new(head, rows);
    vec![
        DocumentBlock::Table(TableStyle::Words, table),
        folded(text::why(), reasons(about, found, names)),
    ]
}

/// The reasons for the verdicts of each series.
fn reasons(
    about: &'static str,
    found: &[Vec<ConclusionRow>],
    names: &[String],
) -> Vec<DocumentBlock> {
    let known = names.iter().zip(found).filter(|(_, of)| !of.is_empty());
    let of_series = |(name, of): (&String, &Vec<ConclusionRow>)| {
        let title = DocumentBlock::Title(name.clone());
        [title, DocumentBlock::Conclusions(about, of.clone())]
    };
    known.flat_map(of_series).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use hakaru_model::advice::{Criterion, Decision, Fitness};
    use hakaru_model::finding::MeasuredFigure;

    /// Regression: a side was "better in all 3" by reads that differed by 0.01%.
    #[test]
    fn figures_within_5_percent_make_no_side_better() {
        let advice = |figures: &[(Figure, f64)]| {
            let decision = |&(figure, value): &(Figure, f64)| Decision {
                criterion: Criterion {
                    figure,
                    fits: 1.0,
                    care: 0.5,
                    why: String::new(),
                },
                measured: MeasuredFigure {
                    phase: figure.unit().to_owned(),
                    value,
                    ci95: None,
                    bounds: None,
                    runs: 1,
                },
                fitness: Fitness::Fits,
                firm: false,
                better_from: None,
            };
            Advice {
                id: "os".to_owned(),
                title: "OS".to_owned(),
                fitness: Some(Fitness::Fits),
                decided_by: figures.iter().map(decision).collect(),
                not_measured: Vec::new(),
            }
        };
        use Figure::{RandomRead, RandomWrite, SequentialRead};
        let a = advice(&[
            (RandomRead, 1000.0),
            (RandomWrite, 443.0),
            (SequentialRead, 43.7),
        ]);
        let b = advice(&[
            (RandomRead, 1000.1),
            (RandomWrite, 239.0),
            (SequentialRead, 43.6),
        ]);
        let ratios = |a, b| decided_ratios(a, b, ("a", "b"), &|_| false, &|_| None);
        let wanted = "a measured better in 1 of 3: random write 0.540× · 2 within 5%";
        assert_eq!(ratios(&a, &b), wanted);
        assert_eq!(ratios(&a, &a), "all 3 within 5%");
    }
}
