//! Predictions of jobs, and how well they did.

use super::values;
use crate::document::{Document, DocumentBlock, TableStyle};
use crate::escape::plain;
use crate::number;
use crate::table::{self, DataTable};
use crate::text::{self, AnatomyLabel as Label};
use hakaru_model::anatomy_record::{PredictedFigure, PredictedPhase, PredictionOutcome};

/// Renders predictions as one HTML page.
pub fn predictions_html(card: &str, phases: &[PredictedPhase]) -> String {
    document(card, phases).html()
}

/// Renders predictions for a terminal of `width` columns; `color` allows ANSI styles.
pub fn predictions_terminal(
    card: &str,
    phases: &[PredictedPhase],
    width: usize,
    color: bool,
) -> String {
    document(card, phases).terminal(width, color)
}

/// Heading of a column, and how its values are printed.
type PredictedColumn = (Label, fn(f64) -> String);

/// Columns of the table, and how their figures are formatted.
const COLUMNS: [PredictedColumn; 4] = [
    (Label::Bandwidth, values::rate),
    (Label::Iops, number::quantity),
    (Label::Median, number::nanos),
    (Label::P99, number::nanos),
];

fn figures(outcome: &PredictionOutcome) -> Option<[&PredictedFigure; 4]> {
    match outcome {
        PredictionOutcome::Needs(_) => None,
        PredictionOutcome::Figures {
            bandwidth,
            iops,
            p50,
            p99,
        } => Some([bandwidth, iops, p50, p99]),
    }
}

fn document(card: &str, phases: &[PredictedPhase]) -> Document {
    let (mut misses, mut inside, mut of) = (Vec::new(), 0, 0);
    let mut rows = Vec::new();
    for phase in phases {
        let name = match crate::workload::in_words(&phase.phase, None) {
            Some(words) => words,
            None => plain(&phase.phase),
        };
        let name = format!("{name}, {}", text::operation(phase.op));
        match (&phase.outcome, figures(&phase.outcome)) {
            (PredictionOutcome::Needs(property), _) => {
                let none = text::not_predictable(*property);
                rows.push(table::row(
                    &name,
                    [none, String::new(), String::new(), String::new()],
                ));
            }
            (_, Some(all)) => {
                let columns = COLUMNS.iter().zip(all);
                rows.push(table::row(
                    &name,
                    columns.map(|((_, show), figure)| cell(figure, show)),
                ));
                for ((label, show), figure) in COLUMNS.iter().zip(all) {
                    let Some(holds) = figure.holds() else {
                        continue;
                    };
                    of += 1;
                    inside += u64::from(holds);
                    if let (false, Some(measured)) = (holds, figure.measured) {
                        let [low, high] = [figure.predicted.low, figure.predicted.high].map(show);
                        let miss =
                            text::prediction_miss(&name, *label, &show(measured), &low, &high);
                        misses.push((String::new(), miss));
                    }
                }
            }
            (_, None) => {}
        }
    }
    let head = std::iter::once(Label::Workload).chain(COLUMNS.iter().map(|(label, _)| *label));
    let table = DataTable::new(head.map(text::anatomy_label), rows);
    let mut blocks = vec![DocumentBlock::Table(TableStyle::Words, table)];
    if of > 0 {
        blocks.push(DocumentBlock::Text(text::prediction_score(inside, of)));
        blocks.push(DocumentBlock::Caveats(misses));
    }
    blocks.push(DocumentBlock::Quiet(text::prediction_note().to_owned()));
    Document {
        title: plain(card),
        under: Vec::new(),
        blocks,
    }
}

/// A prediction with its interval, and the measurement.
fn cell(figure: &PredictedFigure, show: &dyn Fn(f64) -> String) -> String {
    let predicted = &figure.predicted;
    if predicted.value <= 0.0 {
        return "–".to_owned();
    }
    let [low, high] = [predicted.low, predicted.high].map(show);
    let interval = text::span(&low, &high);
    let prediction = format!("{} ({interval})", show(predicted.value));
    match figure.measured {
        Some(measured) => format!(
            "{prediction}; {} {}",
            text::anatomy_label(Label::Measured),
            show(measured)
        ),
        None => prediction,
    }
}
