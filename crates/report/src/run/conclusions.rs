//! Conclusions of one kind from one series or several: suitability, claims, bottlenecks.

use crate::document::{DocumentBlock, TableStyle, folded, part};
use crate::findings::{self, ConclusionKind, ConclusionRow};
use crate::naming::distinct;
use crate::table::{self, DataTable};
use crate::text::{self, ComparedFigureName as Name, FigureChange};
use hakaru_model::advice::{self, Advice, Choice, RunFindings};
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
    choices: Option<ChoiceColumn>,
) -> Vec<DocumentBlock> {
    let (title, about) = (text::conclusion_title(kind), text::conclusion_about(kind));
    let found: Vec<Vec<ConclusionRow>> = all.iter().map(|found| kind.of(found)).collect();
    let is_open = |row: &ConclusionRow| row.sign == findings::OPEN;
    let blocks = match &found[..] {
        found if found.iter().all(Vec::is_empty) => Vec::new(),
        [only] if kind == ConclusionKind::Uses => vec![DocumentBlock::Uses(only.clone())],
        [only] => vec![DocumentBlock::Conclusions(about, only.clone())],
        many if kind == ConclusionKind::Uses
            && !choices.as_ref().is_some_and(|column| column.names_a_side)
            && many.iter().flatten().all(is_open) =>
        {
            let details = match choices {
                Some(column) => compared_conclusions(about, many, names, Some(column)),
                None => reasons(about, many, names),
            };
            vec![
                DocumentBlock::Text(text::no_use_judged().to_owned()),
                folded(text::verdicts_so_far(), details),
            ]
        }
        many => compared_conclusions(about, many, names, choices),
    };
    part(title, blocks)
}

/// The choice between two series for each use.
struct ChoiceColumn {
    title: String,
    /// One cell for each use; empty if no figure is known for it.
    cells: Vec<String>,
    /// Whether one of the series is chosen for any use.
    names_a_side: bool,
}

impl ChoiceColumn {
    /// `None` if no figure is known for any use.
    fn new(title: String, cells: Vec<(String, Choice)>) -> Option<ChoiceColumn> {
        let names_a_side = |choice: &Choice| matches!(choice, Choice::First | Choice::Second);
        let column = ChoiceColumn {
            title,
            names_a_side: cells.iter().any(|(_, choice)| names_a_side(choice)),
            cells: cells.into_iter().map(|(cell, _)| cell).collect(),
        };
        let is_known = column.cells.iter().any(|cell| !cell.is_empty());
        is_known.then_some(column)
    }
}

/// The choice between two pieces of advice on a use, in words.
fn chosen(of: &Advice, other: &Advice, names: (&str, &str)) -> (String, Choice) {
    let (choice, so_far) = advice::choose(of, other);
    let mut missing: Vec<Figure> = Vec::new();
    for criterion in of.not_measured.iter().chain(&other.not_measured) {
        if !missing.contains(&criterion.figure) {
            missing.push(criterion.figure);
        }
    }
    (text::choice(choice, names, so_far, &missing), choice)
}

/// The choice between two series for each use, with the differences in the figures that decide it.
fn ratios(
    kind: ConclusionKind,
    all: &[RunFindings],
    names: &[String],
    of: &[Summary],
) -> Option<ChoiceColumn> {
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
            return (String::new(), Choice::Open);
        };
        let (words, choice) = chosen(of, other, (first, second));
        match decided_ratios(of, other, (first, second), &is_mixed, &fsync_means) {
            ratios if ratios.is_empty() => (String::new(), Choice::Open),
            ratios => (text::reasons(&[words, ratios]), choice),
        }
    });
    ChoiceColumn::new(text::choice_column(first, second), cells.collect())
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
        let change = match more_is_better {
            true => FigureChange::Rate,
            false => FigureChange::Time,
        };
        differing.push(text::figure_change(&name, ratio, change));
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
            count(Name::MeanFsync.text().to_owned(), mean, false);
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
fn choices(all: &[RunFindings], names: &[String]) -> Option<ChoiceColumn> {
    let ([a, b], [first, second]) = (all, names) else {
        return None;
    };
    let choice = |of: &Advice| {
        let same = b.advice.iter().find(|other| other.id == of.id);
        let both = same.filter(|other| !of.decided_by.is_empty() && !other.decided_by.is_empty());
        both.map_or((String::new(), Choice::Open), |other| {
            chosen(of, other, (first, second))
        })
    };
    ChoiceColumn::new(
        text::choice_title().to_owned(),
        a.advice.iter().map(choice).collect(),
    )
}

/// Verdicts only, one row for each use and one column for each series; the reasons of each series are collapsed.
fn compared_conclusions(
    about: &'static str,
    found: &[Vec<ConclusionRow>],
    names: &[String],
    choices: Option<ChoiceColumn>,
) -> Vec<DocumentBlock> {
    let uses = distinct(found.iter().flatten().map(|row| &row.about));
    let cell = |of: &Vec<ConclusionRow>, wanted: &String| {
        let row = of.iter().find(|row| row.about == *wanted);
        row.map_or("–".to_owned(), findings::verdict)
    };
    let (column, choices) = choices.map(|of| (of.title, of.cells)).unzip();
    let rows = uses.iter().enumerate().map(|(nth, wanted)| {
        let cells = found.iter().map(|of| cell(of, wanted));
        let choice = choices.as_ref().map(|all| all.get(nth).cloned());
        table::row(
            *wanted,
            cells.chain(choice.map(|cell| match cell {
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
                    stalls: None,
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
        let wanted = "a better in 1 of 3 measured: random write 46% lower · 2 within 5%";
        assert_eq!(ratios(&a, &b), wanted);
        assert_eq!(ratios(&a, &a), "all 3 within 5%");
    }
}
