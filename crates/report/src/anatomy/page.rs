//! The report of an anatomy: plain words, the drawing, findings, advice, evidence and cost.

use super::{evidence, facts, values};
use crate::chart::Chart;
use crate::document::{AnswerBlock, Document, DocumentBlock, Pair, TableStyle, folded, part};
use crate::escape::plain;
use crate::run::target_device_and_host;
use crate::table::{self, DataTable};
use crate::text::{self, AnatomyLabel as Label, VerificationLabel};
use crate::{facts as surroundings, number, time};
use hakaru_model::anatomy::{
    Anatomy, CardFinding, CardProperty, DeclineReason, Experiment, ExperimentRecord,
};
use hakaru_model::anatomy_record::{AdviceTrial, AnatomyRecord, CardAdvice};
use hakaru_model::annotation::Annotations;

/// Renders an anatomy as one HTML page.
pub fn anatomy_html(
    record: &AnatomyRecord,
    advice: &[CardAdvice],
    annotations: &Annotations,
) -> String {
    document(record, advice, annotations).html()
}

/// Renders an anatomy as Markdown.
pub fn anatomy_markdown(
    record: &AnatomyRecord,
    advice: &[CardAdvice],
    annotations: &Annotations,
) -> String {
    document(record, advice, annotations).markdown(None)
}

/// Renders an anatomy for a terminal of `width` columns; `color` allows ANSI styles.
pub fn anatomy_terminal(
    record: &AnatomyRecord,
    advice: &[CardAdvice],
    annotations: &Annotations,
    width: usize,
    color: bool,
) -> String {
    let mut blocks = head(record);
    blocks.push(DocumentBlock::Charts(vec![evidence::picture(
        &record.anatomy,
    )]));
    blocks.push(findings(record));
    blocks.extend(advised(record, advice));
    whole(record, annotations, blocks).terminal(width, color)
}

/// The charts of an anatomy, to be saved individually.
pub fn anatomy_charts(record: &AnatomyRecord) -> Vec<Chart> {
    let mut all = vec![evidence::picture(&record.anatomy)];
    all.extend(evidence::charts(&record.anatomy));
    all
}

fn document(record: &AnatomyRecord, advice: &[CardAdvice], annotations: &Annotations) -> Document {
    let mut blocks = head(record);
    blocks.push(DocumentBlock::WideChart(Box::new(evidence::picture(
        &record.anatomy,
    ))));
    blocks.extend(advised(record, advice));
    blocks.extend(part(
        text::anatomy_label(Label::Findings),
        vec![
            findings(record),
            DocumentBlock::Quiet(text::anatomy_intervals().to_owned()),
        ],
    ));
    let charts = evidence::charts(&record.anatomy);
    blocks.extend(part(
        text::anatomy_label(Label::Evidence),
        vec![DocumentBlock::Charts(charts)],
    ));
    blocks.extend(part(text::anatomy_label(Label::Cost), cost(record)));
    let lines = surroundings::surroundings(&record.target, &record.environment);
    let id = Pair::from((VerificationLabel::Id.into(), record.id.clone()));
    let pairs = lines.into_iter().map(Pair::from).chain([id]).collect();
    blocks.push(target_device_and_host(
        vec![DocumentBlock::Pairs(pairs)],
        false,
    ));
    whole(record, annotations, blocks)
}

fn whole(
    record: &AnatomyRecord,
    annotations: &Annotations,
    blocks: Vec<DocumentBlock>,
) -> Document {
    let what = plain(&text::anatomy_of(&record.target.display_name()));
    let title = annotations.title.as_deref().map(plain);
    let below = title.is_some().then(|| what.clone());
    let circumstances = [
        format!("hakaru {}", record.version),
        time::utc(record.started_unix_ms),
        text::duration(record.elapsed),
    ];
    let note = annotations.note.as_deref().map(plain);
    let under = below.into_iter().chain(circumstances).chain(note);
    let under: Vec<String> = under.collect();
    Document {
        title: title.unwrap_or(what),
        under: vec![(String::new(), under.join(" · "))],
        blocks,
    }
}

/// What the anatomy says in plain words.
fn head(record: &AnatomyRecord) -> Vec<DocumentBlock> {
    let anatomy = &record.anatomy;
    let said = facts::sentences(anatomy);
    let noise = &anatomy.noise;
    let proof = match noise.reads {
        0 => String::new(),
        _ => text::anatomy_noise(
            &number::percent(noise.sigma),
            &match noise.drift < 0.0005 {
                true => "< 0.05".to_owned(),
                false => number::percent(noise.drift),
            },
            &number::nanos(noise.latency.0 as f64),
        ),
    };
    let (first, rest) = match said.split_first() {
        Some((first, rest)) => (first.clone(), rest.to_vec()),
        None => (text::anatomy_empty().to_owned(), Vec::new()),
    };
    let mut blocks = vec![DocumentBlock::Answer(AnswerBlock { text: first, proof })];
    if !rest.is_empty() {
        blocks.push(DocumentBlock::Points(rest));
    }
    if !record.completed {
        let (done, of) = (anatomy.experiments.len(), wanted(record));
        let incomplete = text::anatomy_incomplete(done as u64, of as u64);
        blocks.push(DocumentBlock::Caveats(vec![(String::new(), incomplete)]));
    }
    blocks
}

/// Number of experiments that are needed.
fn wanted(record: &AnatomyRecord) -> usize {
    let all = Experiment::ALL.iter();
    all.filter(|experiment| !record.anatomy.read_only || !experiment.writes())
        .count()
}

/// The reason why no property is known, if all share it.
fn shared_reason(anatomy: &Anatomy) -> Option<DeclineReason> {
    let reason = |property: &CardProperty| match anatomy.finding(*property) {
        CardFinding::Unknown(reason) => Some(reason),
        CardFinding::Known(_) | CardFinding::Absent { .. } => None,
    };
    let first = reason(CardProperty::ALL.first()?)?;
    let mut all = CardProperty::ALL.iter();
    all.all(|property| reason(property) == Some(first))
        .then_some(first)
}

fn findings(record: &AnatomyRecord) -> DocumentBlock {
    if let Some(reason) = shared_reason(&record.anatomy) {
        let because = text::property_unknown(&reason, None);
        let count = CardProperty::ALL.len();
        return DocumentBlock::Text(text::all_properties_unknown(count, &because));
    }
    let row = |property: &CardProperty| {
        let finding = record.anatomy.finding(*property);
        let (value, interval) = values::finding(*property, &finding);
        table::row(text::card_property(*property), [value, interval])
    };
    let head = [Label::Property, Label::Value, Label::Interval].map(text::anatomy_label);
    let table = DataTable::new(head, CardProperty::ALL.iter().map(row));
    DocumentBlock::Table(TableStyle::Words, table)
}

/// The advice, and its measurements.
fn advised(record: &AnatomyRecord, advice: &[CardAdvice]) -> Vec<DocumentBlock> {
    let points: Vec<String> = advice.iter().map(text::card_advice).collect();
    let mut blocks = part(
        text::anatomy_label(Label::Advice),
        vec![DocumentBlock::Points(points)],
    );
    if !record.trials.is_empty() {
        let row = |trial: &AdviceTrial| {
            let rate = |rates: &[f64]| {
                let mean = rates.iter().sum::<f64>() / rates.len().max(1) as f64;
                values::rate(mean)
            };
            let ratio = &trial.ratio;
            let gain = text::advice_gain(ratio.value, ratio.low, ratio.high);
            let cells = [rate(&trial.usual), rate(&trial.advised), gain];
            table::row(text::card_advice(&trial.advice), cells)
        };
        let head = [Label::Advice, Label::Usual, Label::Advised, Label::Ratio];
        let table = DataTable::new(head.map(text::anatomy_label), record.trials.iter().map(row));
        blocks.extend(part(
            text::anatomy_label(Label::Trials),
            vec![DocumentBlock::Table(TableStyle::Words, table)],
        ));
    }
    blocks
}

/// What each experiment cost.
fn cost(record: &AnatomyRecord) -> Vec<DocumentBlock> {
    let row = |of: &ExperimentRecord| {
        let spent = &of.spent;
        table::row(
            text::anatomy_experiment(of.experiment),
            [
                text::duration(spent.time),
                spent.read.to_string(),
                spent.written.to_string(),
                spent.copied.to_string(),
            ],
        )
    };
    let head = [
        Label::Experiment,
        Label::Time,
        Label::Read,
        Label::Written,
        Label::Copied,
    ];
    let table = DataTable::new(
        head.map(text::anatomy_label),
        record.anatomy.experiments.iter().map(row),
    );
    match table.rows.is_empty() {
        true => Vec::new(),
        false => vec![folded(
            text::anatomy_label(Label::Cost),
            vec![DocumentBlock::Table(TableStyle::Numbers, table)],
        )],
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hakaru_model::units::Bytes;

    /// Regression: a device that fits no model had 34 rows with one reason.
    #[test]
    fn a_reason_that_all_properties_share_is_said_once() {
        let mut anatomy = Anatomy::new("loop0", Bytes(1 << 33), false);
        assert_eq!(shared_reason(&anatomy), Some(DeclineReason::NotMeasured));
        let misfit = DeclineReason::NoModel { share: 0.21 };
        for property in CardProperty::ALL {
            anatomy
                .findings
                .insert(property, CardFinding::Unknown(misfit));
        }
        assert_eq!(shared_reason(&anatomy), Some(misfit));
        let because = text::property_unknown(&misfit, None);
        assert_eq!(
            text::all_properties_unknown(34, &because),
            "All 34 properties are unknown: the device fits no model: the best one does not explain 21% of the requests."
        );
        let first = CardProperty::ALL[0];
        anatomy
            .findings
            .insert(first, CardFinding::Absent { up_to: 1.0 });
        assert_eq!(shared_reason(&anatomy), None);
    }
}
