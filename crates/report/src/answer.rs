//! The answer of a report on series: what the target is good for, or which series is the fastest.

use crate::document::{AnswerBlock, DocumentBlock};
use crate::matrix::{Matrix, MatrixCell, MatrixColumn, MatrixRow, shade};
use crate::number::{self, MeanText};
use crate::text::{self, FastestCard, UseAnswer};
use crate::{chart, facts, naming, workload};
use hakaru_model::advice::{Advice, AdviceVerdict, Fitness, RunFindings};
use hakaru_model::finding::{Cliff, Finding, PhaseSummary, Summary};
use hakaru_model::severity::Severity;

/// The answer of a report on these series; `None` without figures.
pub(crate) fn of_series(
    summaries: &[Summary],
    findings: &[RunFindings],
    names: &[String],
) -> Option<AnswerBlock> {
    match summaries {
        [] => None,
        [single] => of_one(single, findings.first()),
        many => of_many(many, names).or_else(|| first_figures(many, names)),
    }
}

fn of_one(summary: &Summary, findings: Option<&RunFindings>) -> Option<AnswerBlock> {
    let nouns = workload::nouns_of(summary);
    let advice = findings.map_or(&[][..], |findings| &findings.advice);
    let of_fitness = |wanted: Fitness| advice.iter().find_map(|advice| judged(advice, wanted));
    let (good, bad) = (of_fitness(Fitness::Fits), of_fitness(Fitness::DoesNot));
    let suited = text::suited(good.as_ref(), bad.as_ref());
    let answer = suited.or_else(|| reached(summary, &nouns))?;
    let all = facts::findings(summary);
    let wrong = wrong(&all).map(|finding| text::do_not_quote(&text::finding(finding, &[])));
    let sentences = wrong
        .into_iter()
        .chain([answer])
        .chain(fall(summary, &nouns));
    let sentences: Vec<String> = sentences.collect();
    Some(AnswerBlock {
        text: text::paragraph(&sentences),
        proof: proof(summary, findings, &nouns),
    })
}

/// The first finding that makes the figures unusable.
fn wrong(findings: &[Finding]) -> Option<&Finding> {
    findings
        .iter()
        .find(|finding| finding.severity == Severity::Wrong)
}

/// A use with this verdict, and the figure that decides it.
fn judged(advice: &Advice, wanted: Fitness) -> Option<UseAnswer> {
    let firm = match advice.verdict() {
        AdviceVerdict::Firm(fitness) if fitness == wanted => true,
        AdviceVerdict::Probable(fitness) if fitness == wanted => false,
        AdviceVerdict::Firm(_)
        | AdviceVerdict::Probable(_)
        | AdviceVerdict::Inconclusive
        | AdviceVerdict::NotMeasured
        | AdviceVerdict::NotPossible => return None,
    };
    Some(UseAnswer {
        title: text::use_title(&advice.id, &advice.title),
        figure: text::deciding_figure(advice.deciding().next()?),
        firm,
    })
}

/// Number of figures in an answer without a verdict.
const FIGURES: usize = 2;

/// The figures of small random I/O, otherwise of the first phases.
fn reached(summary: &Summary, nouns: &[String]) -> Option<String> {
    let all = || nouns.iter().zip(&summary.phases);
    let figure = |(noun, phase): (&String, &PhaseSummary)| (noun.clone(), rate(phase));
    let small = all().filter(|(_, phase)| chart::by_iops(phase));
    let mut figures: Vec<(String, String)> = small.take(FIGURES).map(figure).collect();
    if figures.is_empty() {
        figures = all().take(FIGURES).map(figure).collect();
    }
    (!figures.is_empty()).then(|| text::reached(&figures))
}

/// The headline figure of a phase with its unit: `1,489 IOPS`.
pub(crate) fn rate(phase: &PhaseSummary) -> String {
    match chart::by_iops(phase) {
        true => format!("{} IOPS", number::quantity(phase.iops.mean)),
        false => format!("{} MB/s", number::quantity(phase.bandwidth.mean / 1e6)),
    }
}

/// The first lasting drop of speed.
fn fall(summary: &Summary, nouns: &[String]) -> Option<String> {
    let (at, cliff) = falling(summary)?;
    let noun = nouns.get(at)?;
    Some(text::writes_fall(noun, cliff.before, cliff.after, cliff.at))
}

/// Index of the phase with the lasting drop that the answer names, and the drop.
pub(crate) fn falling(summary: &Summary) -> Option<(usize, &Cliff)> {
    summary.phases.iter().enumerate().find_map(|(at, phase)| {
        let cliff = phase.sustained.as_ref()?.cliff.as_ref();
        Some((at, cliff.filter(|cliff| cliff.proven)?))
    })
}

fn proof(summary: &Summary, findings: Option<&RunFindings>, nouns: &[String]) -> String {
    let runs = summary.phases.iter();
    let runs = runs.map(|phase| phase.bandwidth.values.len() as u64).max();
    let headline = |phase: &PhaseSummary| {
        let estimate = phase.detail.headline.of(phase);
        Some(estimate.deviation? / estimate.mean)
    };
    let deviations = summary.phases.iter().filter_map(headline);
    let widest = deviations
        .filter(|share| share.is_finite())
        .reduce(f64::max);
    let mut said = vec![match (runs.unwrap_or(0), widest) {
        (0 | 1, _) => text::measured_once().to_owned(),
        (runs, Some(share)) => text::runs_agree(runs, &number::percent_at_most(share)),
        (runs, None) => text::runs_only(runs),
    }];
    let standings = findings.map_or(&[][..], |findings| &findings.standings);
    let small = standings.iter().find(|standing| standing.by_iops);
    if let Some(standing) = small.or(standings.first()) {
        let of_phase = |(_, phase): &(&String, &PhaseSummary)| {
            phase.phase == standing.phase && phase.op == standing.op
        };
        let found = nouns.iter().zip(&summary.phases).find(of_phase);
        said.extend(
            found.map(|(noun, _)| text::among_references(noun, &text::standing_verdict(standing))),
        );
    }
    text::paragraph(&said)
}

/// The phase with the largest ratio between the series; a drop of speed has no mean to compare.
fn of_many(summaries: &[Summary], names: &[String]) -> Option<AnswerBlock> {
    let nouns = nouns_of_all(summaries);
    let rows = naming::phases(summaries);
    let best = rows.iter().filter_map(|(name, cells)| {
        let measured = cells.iter().enumerate();
        let measured = measured.filter_map(|(at, cell)| Some((at, (*cell)?)));
        let mean = |phase: &PhaseSummary| phase.detail.headline.of(phase).mean;
        let by_mean = |a: &(usize, &PhaseSummary), b: &(usize, &PhaseSummary)| {
            mean(a.1).total_cmp(&mean(b.1))
        };
        let all: Vec<(usize, &PhaseSummary)> = measured.collect();
        let (first, last) = (
            *all.iter().max_by(|a, b| by_mean(a, b))?,
            *all.iter().min_by(|a, b| by_mean(a, b))?,
        );
        let ratio = mean(first.1) / mean(last.1);
        (all.len() > 1).then_some((name, first, ratio))
    });
    let (name, (at, phase), ratio) = best.max_by(|a, b| a.2.total_cmp(&b.2))?;
    let noun = nouns.iter().find(|(label, _)| *label == name.label);
    let first = FastestCard {
        card: &names[at],
        workload: noun.map_or(&name.label, |(_, noun)| noun),
        value: rate(phase),
        times: ratio.is_finite().then(|| number::significant(ratio)),
    };
    Some(AnswerBlock {
        text: text::highest_of_series(&first, summaries.len()),
        proof: text::series_not_tested().to_owned(),
    })
}

/// The first figures of series that have no phase in common.
fn first_figures(summaries: &[Summary], names: &[String]) -> Option<AnswerBlock> {
    let figure = |(summary, name): (&Summary, &String)| {
        let noun = workload::nouns_of(summary).into_iter().next()?;
        let phase = summary.phases.first()?;
        Some((
            text::enumerated(&[name.clone(), noun.to_string()]),
            rate(phase),
        ))
    };
    let figures = summaries.iter().zip(names).filter_map(figure);
    let figures: Vec<(String, String)> = figures.take(FIGURES).collect();
    (!figures.is_empty()).then(|| AnswerBlock {
        text: text::reached(&figures),
        proof: text::series_not_tested().to_owned(),
    })
}

/// The label and the noun of each phase of the series.
fn nouns_of_all(summaries: &[Summary]) -> Vec<(String, String)> {
    let labelled = summaries.iter().flat_map(|summary| {
        let labels = summary
            .phases
            .iter()
            .map(|phase| naming::phase(summary, phase));
        labels.zip(workload::nouns_of(summary)).collect::<Vec<_>>()
    });
    naming::distinct(labelled)
}

/// The headline figures of several series, one row each.
pub(crate) fn matrix_of_series(summaries: &[Summary], names: &[String]) -> Vec<DocumentBlock> {
    let phases = naming::phases(summaries);
    let mean = |phase: &PhaseSummary| phase.detail.headline.of(phase).mean;
    let best = |cells: &[Option<&PhaseSummary>]| {
        cells
            .iter()
            .flatten()
            .map(|phase| mean(phase))
            .fold(0.0, f64::max)
    };
    let unit = |cells: &[Option<&PhaseSummary>]| match cells.iter().flatten().next() {
        Some(phase) if chart::by_iops(phase) => "IOPS".to_owned(),
        _ => "MB/s".to_owned(),
    };
    let columns = phases.iter().map(|(name, cells)| MatrixColumn {
        name: name.label.clone(),
        unit: unit(cells),
    });
    let row = |(at, name): (usize, &String)| MatrixRow {
        name: name.clone(),
        cells: phases
            .iter()
            .map(|(_, cells)| {
                let phase = cells[at]?;
                let spread = spread(phase);
                Some(MatrixCell::of(&spread, shade(mean(phase), best(cells))))
            })
            .collect(),
    };
    let matrix = Matrix {
        caption: text::series_side_by_side().to_owned(),
        about: text::matrix_about(None),
        corner: text::series_column().to_owned(),
        columns: columns.collect(),
        rows: names.iter().enumerate().map(row).collect(),
        of_cards: false,
        framed: text::not_slower(),
    };
    let key = text::matrix_key(false, None);
    vec![DocumentBlock::Matrices(vec![matrix], key)]
}

/// Mean and deviation of the headline figure of a phase.
pub(crate) fn spread(phase: &PhaseSummary) -> MeanText {
    match chart::by_iops(phase) {
        true => MeanText::of(&phase.iops, 1.0),
        false => MeanText::megabytes(&phase.bandwidth),
    }
}
