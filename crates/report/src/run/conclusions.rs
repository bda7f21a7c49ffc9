//! Conclusions of one kind from one series or several: suitability, claims, bottlenecks.

mod reasons;

pub(crate) use reasons::choice_reasons;

use crate::document::{DocumentBlock, TableStyle, folded, part};
use crate::findings::{self, ConclusionKind, ConclusionRow};
use crate::naming::distinct;
use crate::table::{self, DataTable};
use crate::text::{self, ComparedFigureName as Name, FigureChange};
use hakaru_model::advice::{self, Advice, Choice, Decision, Fitness, RunFindings};
use hakaru_model::finding::{Figure, PhaseSummary, Summary, WorkloadShape};

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
    let crossed = all
        .iter()
        .flat_map(|found| &found.advice)
        .any(Advice::is_crossed);
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
                DocumentBlock::Text(text::no_use_judged(crossed).to_owned()),
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

/// The choice between two pieces of advice on a use, in words. Of two with the same rating so far, the side that every
/// measured figure favors is chosen.
fn chosen(
    of: &Advice,
    other: &Advice,
    names: (&str, &str),
    favored: Option<Choice>,
) -> (String, Choice) {
    let (mut choice, so_far) = advice::choose(of, other);
    if let (Choice::Both(Fitness::Fits), true) = (choice, so_far) {
        if is_ample(of) && is_ample(other) {
            return (text::choice_ample().to_owned(), choice);
        }
        choice = favored.unwrap_or(choice);
    }
    let mut missing: Vec<Figure> = Vec::new();
    for criterion in of.not_measured.iter().chain(&other.not_measured) {
        if !missing.contains(&criterion.figure) {
            missing.push(criterion.figure);
        }
    }
    (text::choice(choice, names, so_far, &missing), choice)
}

/// How many times better than needed a figure is at least, if a difference does not matter for the use.
const AMPLE: f64 = 10.0;

/// Whether every measured figure is far better than the use needs.
fn is_ample(of: &Advice) -> bool {
    let margin = |decision: &Decision| match decision.criterion.figure.more_is_better() {
        true => decision.measured.value / decision.criterion.fits,
        false => decision.criterion.fits / decision.measured.value,
    };
    !of.decided_by.is_empty()
        && of
            .decided_by
            .iter()
            .all(|decision| margin(decision) >= AMPLE)
}

/// The choice between two series for each use, with the differences in the figures that decide it.
fn ratios(
    kind: ConclusionKind,
    all: &[RunFindings],
    names: &[String],
    of_pair: &[Summary],
) -> Option<ChoiceColumn> {
    let ([a, b], [first, second]) = (all, names) else {
        return None;
    };
    if kind != ConclusionKind::Uses {
        return None;
    }
    let cells = a.advice.iter().map(|of| {
        let same = b.advice.iter().find(|other| other.id == of.id);
        let Some(other) = same else {
            return (String::new(), Choice::Open);
        };
        let shared = shared_figures(of, other, PairPhases(of_pair));
        let (words, choice) = chosen(of, other, (first, second), shared.only_side());
        match shared.text((first, second)) {
            figures if figures.is_empty() => (String::new(), Choice::Open),
            figures => (text::reasons(&[words, figures]), choice),
        }
    });
    ChoiceColumn::new(text::choice_column(first, second), cells.collect())
}

/// Largest difference of two figures, as a share, that makes neither better: that of equivalence in comparisons.
const LEVEL: f64 = 0.05;

/// The phases of both sides, for what the figures of a use do not say; empty if the summaries are not at hand.
#[derive(Clone, Copy)]
struct PairPhases<'a>(&'a [Summary]);

impl PairPhases<'_> {
    /// A figure of the phases of this name on both sides; `None` for a side without it.
    fn of_both<T>(self, name: &str, figure: impl Fn(&PhaseSummary) -> Option<T>) -> [Option<T>; 2] {
        let of_side = |side: usize| {
            let mut phases = self.0.get(side)?.phases.iter();
            phases.find_map(|phase| figure(phase).filter(|_| phase.phase == name))
        };
        [of_side(0), of_side(1)]
    }

    fn is_mixed(self, name: &str) -> bool {
        let shapes = self.of_both(name, |phase| phase.detail.shape);
        shapes.iter().flatten().any(WorkloadShape::is_mixed)
    }

    /// Mean times of a flush.
    fn fsync_means(self, name: &str) -> Option<[f64; 2]> {
        let [a, b] = self.of_both(name, |phase| Some(phase.sync.as_ref()?.mean_ns));
        Some([a?, b?])
    }

    /// Bandwidths of the slowest interval.
    fn slowest(self, name: &str) -> [Option<f64>; 2] {
        let known = self.of_both(name, |phase| {
            let intervals = phase.sustained.as_ref().or(phase.detail.intervals.as_ref());
            intervals.cloned()
        });
        match &known {
            [Some(a), Some(b)] if !a.has_comparable_intervals(b) => [None, None],
            known => known.each_ref().map(|of| Some(of.as_ref()?.min.0)),
        }
    }
}

/// The figures that both pieces of advice judge, by the side that they favor.
#[derive(Default)]
struct SharedFigures {
    /// Figures that favor the first and the second side: name, ratio of the second to the first, and kind.
    better: [Vec<(String, f64, FigureChange)>; 2],
    /// How many of them the use is judged by.
    judged: [usize; 2],
    /// Figures that differ by little.
    level: usize,
    /// Slowest intervals of writes that stall, for the first and the second side.
    stalls: [Option<String>; 2],
    /// Slowest intervals of the same writes.
    slowest: [Option<String>; 2],
}

impl SharedFigures {
    /// The only side that any figure favors by which the use is judged.
    fn only_side(&self) -> Option<Choice> {
        match self.judged.map(|figures| figures > 0) {
            [true, false] => Some(Choice::First),
            [false, true] => Some(Choice::Second),
            _ => None,
        }
    }

    /// Which side is better in how many figures, and what speaks against it.
    fn text(&self, names: (&str, &str)) -> String {
        let of = self.better[0].len() + self.better[1].len() + self.level;
        let level = (self.level > 0).then(|| text::figures_level(self.level, of));
        let side = usize::from(self.better[1].len() >= self.better[0].len());
        let (better, worse) = (&self.better[side], &self.better[1 - side]);
        if better.is_empty() {
            return level.unwrap_or_default();
        }
        let name = [names.0, names.1][side];
        // The slowest interval may be one of the figures.
        let least = Name::LeastOverTime.text();
        let is_shown = self.better.iter().flatten().any(|(name, ..)| name == least);
        let stall = self.stalls[side].as_ref().filter(|_| !is_shown);
        // "Better in all" beside what is worse would contradict itself.
        let head = match worse.is_empty() && stall.is_some() {
            true => text::better_in(name, 1, 1),
            false => text::better_in(name, better.len(), of),
        };
        // In words of the named side.
        let change = |(name, ratio, change): &(String, f64, FigureChange)| {
            let ratio = if side == 1 { *ratio } else { ratio.recip() };
            text::figure_change(name, ratio, *change)
        };
        let shown = better.iter().map(change).chain(level);
        let better = format!("{head}: {}", shown.collect::<Vec<_>>().join(" · "));
        let stall = stall.map(|slowest| {
            let other = self.slowest[1 - side].as_deref();
            text::slowest_interval_of(slowest, other)
        });
        let worse: Vec<String> = worse.iter().map(change).chain(stall).collect();
        match worse.is_empty() {
            true => better,
            false => text::reasons(&[better, text::against_side(&worse.join(" · "))]),
        }
    }
}

/// Whether a figure is the bandwidth of a long write, of which the slowest interval says more than the mean.
fn is_rate(figure: Figure) -> bool {
    matches!(figure, Figure::SequentialWrite | Figure::SustainedWrite)
}

/// The figures that both pieces of advice judge, each once.
fn shared_figures(a: &Advice, b: &Advice, phases: PairPhases<'_>) -> SharedFigures {
    let mut found = SharedFigures::default();
    let mut counted: Vec<(&str, [f64; 2])> = Vec::new();
    let count = |found: &mut SharedFigures, name: String, ratio: f64, change: FigureChange| {
        if (ratio - 1.0).abs() <= LEVEL {
            found.level += 1;
            return None;
        }
        let favors_second = usize::from((ratio > 1.0) == (change == FigureChange::Rate));
        found.better[favors_second].push((name, ratio, change));
        Some(favors_second)
    };
    for of in &a.decided_by {
        let figure = of.criterion.figure;
        let other = b.decided_by.iter().find(|d| d.criterion.figure == figure);
        let Some(other) = other else {
            continue;
        };
        for (side, measured) in [&of.measured, &other.measured].into_iter().enumerate() {
            let slowest = measured.stalls;
            let slowest = slowest.map(|slowest| text::quantity_of(figure, slowest));
            found.stalls[side] = slowest.or(found.stalls[side].take());
            let slowest = phases.slowest(&measured.phase)[side].filter(|_| is_rate(figure));
            let slowest = slowest.map(|rate| text::quantity_of(figure, rate / 1e6));
            found.slowest[side] = slowest.or(found.slowest[side].take());
        }
        let values = [of.measured.value, other.measured.value];
        let ratio = values[1] / values[0];
        // A long write has a sequential and a sustained speed, which may be the same figure.
        let of_phase = (&*of.measured.phase, values);
        if !ratio.is_finite() || counted.contains(&of_phase) {
            continue;
        }
        counted.push(of_phase);
        let name = match phases.is_mixed(&of.measured.phase) {
            true => text::figure_of_mix(figure),
            false if of.measured.bounds.is_some() => Name::LeastOverTime.text().to_owned(),
            false => text::figure(figure).to_owned(),
        };
        let change = match figure.more_is_better() {
            true => FigureChange::Rate,
            false => FigureChange::Time,
        };
        if let Some(side) = count(&mut found, name, ratio, change) {
            found.judged[side] += 1;
        }
        // The tail may be shorter although most are longer.
        let means = (figure == Figure::SyncP99).then(|| phases.fsync_means(&of.measured.phase));
        let mean = means.flatten().map(|[a, b]| b / a);
        if let Some(mean) = mean.filter(|mean| (*mean > 1.0) != (ratio > 1.0)) {
            let name = Name::MeanFsync.text().to_owned();
            count(&mut found, name, mean, FigureChange::Time);
        }
    }
    if let Some((name, ratio, change)) = reasons::ratio_of_mixes((a, b), phases) {
        count(&mut found, name, ratio, change);
    }
    found
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
            let shared = shared_figures(of, other, PairPhases(&[]));
            chosen(of, other, (first, second), shared.only_side())
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
    use hakaru_model::advice::Criterion;
    use hakaru_model::finding::MeasuredFigure;

    /// Advice on a use, decided by these figures; good is 1, or up to 100 for a time.
    fn advice(figures: &[(Figure, f64)]) -> Advice {
        let decision = |&(figure, value): &(Figure, f64)| Decision {
            criterion: Criterion {
                figure,
                fits: if figure.more_is_better() { 1.0 } else { 100.0 },
                care: if figure.more_is_better() { 0.5 } else { 200.0 },
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
            impossible_on: None,
        }
    }

    /// Regression: a side was "better in all 3" by reads that differed by 0.01%.
    #[test]
    fn figures_within_5_percent_make_no_side_better() {
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
        let ratios = |a, b| shared_figures(a, b, PairPhases(&[])).text(("a", "b"));
        let wanted = "a better in 1 of 3: random write 1.85× · 2 within 5%";
        assert_eq!(ratios(&a, &b), wanted);
        assert_eq!(ratios(&a, &a), "all 3 within 5%");
    }

    /// Regression: no side was chosen for a database, because the mean of a flush, which no use is judged by, was longer.
    #[test]
    fn the_figures_of_a_use_choose_the_side() {
        use Figure::{RandomRead, SyncP99};
        let open = |figures: &[(Figure, f64)]| Advice {
            fitness: None,
            not_measured: vec![Criterion {
                figure: Figure::RandomWrite,
                fits: 1.0,
                care: 0.5,
                why: String::new(),
            }],
            ..advice(figures)
        };
        let choice = |a: &Advice, b: &Advice, favored| {
            crate::text::with_language(crate::text::Language::English, || {
                chosen(a, b, ("a", "b"), favored).0
            })
        };
        let (a, b) = (
            open(&[(SyncP99, 70.0), (RandomRead, 3.0)]),
            open(&[(SyncP99, 50.0), (RandomRead, 4.0)]),
        );
        let mut shared = shared_figures(&a, &b, PairPhases(&[]));
        assert_eq!(shared.only_side(), Some(Choice::Second));
        shared.better[0].push(("mean fsync".to_owned(), 1.26, FigureChange::Time));
        assert_eq!(shared.only_side(), Some(Choice::Second));
        assert_eq!(choice(&a, &b, shared.only_side()), "b, so far");
        // Both are far better than needed: a difference does not matter.
        let (a, b) = (open(&[(SyncP99, 7.0)]), open(&[(SyncP99, 5.0)]));
        let favored = shared_figures(&a, &b, PairPhases(&[])).only_side();
        assert_eq!(
            choice(&a, &b, favored),
            "either, so far: both are far better than needed"
        );
    }
}
