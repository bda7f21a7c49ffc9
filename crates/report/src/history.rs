//! The report on the history of one card.

use crate::chart::{self, Section};
use crate::document::{Document, DocumentBlock, TableStyle, VerdictBlock, folded, part};
use crate::escape::plain;
use crate::number::{self, MeanText};
use crate::table::DataTable;
use crate::{compare, text, time};
use hakaru_model::finding::Summary;
use hakaru_model::history::{CardHistory, Outlook, Trend, TrendPoint, VerifiedPoint};
use hakaru_model::units::Bytes;

/// Renders the history of a card for a terminal of `width` columns.
pub fn history_terminal(history: &CardHistory, width: usize, color: bool) -> String {
    document(history, &[]).terminal(width, color)
}

/// Renders the history of a card as one HTML page; `series` are the summaries of its series, oldest first.
pub fn history_html(history: &CardHistory, series: &[Summary]) -> String {
    document(history, series).html()
}

/// Renders the history of a card as Markdown.
pub fn history_markdown(history: &CardHistory) -> String {
    document(history, &[]).markdown(None)
}

fn document(history: &CardHistory, series: &[Summary]) -> Document {
    let name = plain(&history.name);
    let sign = match history.outlook {
        Outlook::NoSign => "✓",
        Outlook::Failing => "✗",
        Outlook::Wearing => "!",
        Outlook::Unknown => "?",
    };
    let proofs: Vec<String> = history
        .missing
        .iter()
        .map(|&proof| text::missing_proof(proof))
        .collect();
    let mut blocks = vec![DocumentBlock::Verdict(VerdictBlock {
        sign,
        good: history.outlook == Outlook::NoSign,
        text: text::outlook(history.outlook).to_owned(),
        advice: text::outlook_advice(history.outlook).to_owned(),
    })];
    let signs = history
        .signs
        .iter()
        .map(|sign| plain(&text::wear_sign(sign, &history.trends)));
    blocks.extend(part(
        text::signs_title(),
        vec![DocumentBlock::Facts(unlabeled(signs))],
    ));
    blocks.extend(part(
        text::proofs_title(),
        vec![DocumentBlock::Facts(unlabeled(proofs))],
    ));
    let trends: Vec<&Trend> = history.trends.iter().collect();
    if !trends.is_empty() {
        let table = DocumentBlock::Table(TableStyle::Numbers, trend_table(&trends));
        let how = DocumentBlock::Quiet(text::trends_note(Trend::FEWEST));
        blocks.extend(part(text::trends_title(), vec![table, how]));
    }
    let charts = chart::charts(series);
    let charts: Vec<_> = charts
        .into_iter()
        .filter(|chart| chart.section == Section::Speed)
        .collect();
    blocks.extend((!charts.is_empty()).then_some(DocumentBlock::Charts(charts)));
    let points = trends.iter().map(|trend| {
        let title = DocumentBlock::Title(trend_name(trend));
        [
            title,
            DocumentBlock::Table(TableStyle::Numbers, point_table(trend)),
        ]
    });
    let points: Vec<DocumentBlock> = points.flatten().collect();
    if !points.is_empty() {
        blocks.push(folded(text::points_title(), points));
    }
    if !history.verifications.is_empty() {
        let table = DocumentBlock::Table(TableStyle::Words, verified_table(&history.verifications));
        blocks.extend(part(text::verifications_title(), vec![table]));
    }
    let caveats = history
        .caveats
        .iter()
        .map(|caveat| plain(&text::history_caveat(caveat)));
    blocks.push(DocumentBlock::Caveats(unlabeled(caveats)));
    Document {
        title: text::history_title(&name),
        under: under(history),
        blocks,
    }
}

fn unlabeled(items: impl IntoIterator<Item = String>) -> Vec<(String, String)> {
    items
        .into_iter()
        .map(|item| (String::new(), item))
        .collect()
}

/// Number of runs, the period, and the IDs.
fn under(history: &CardHistory) -> Vec<(String, String)> {
    let points = history.trends.iter().flat_map(|trend| &trend.points);
    let of_runs = points.map(|point| point.at_unix_ms);
    let all = of_runs.chain(history.verifications.iter().map(|point| point.at_unix_ms));
    let all: Vec<i64> = all.collect();
    let period = all.iter().min().zip(all.iter().max());
    let period = period.map(|(&first, &last)| text::span(&time::day(first), &time::day(last)));
    let counts = text::history_counts(history.runs, history.series, history.verifications.len());
    let line = std::iter::once(counts)
        .chain(period)
        .collect::<Vec<_>>()
        .join(" · ");
    let ids = history
        .ids
        .iter()
        .map(|id| plain(id))
        .collect::<Vec<_>>()
        .join(" · ");
    let lines = [line, ids].into_iter().filter(|line| !line.is_empty());
    unlabeled(lines)
}

/// Name of a trend: phase, layer and host.
pub(crate) fn trend_name(trend: &Trend) -> String {
    let rest = [&trend.layer, &trend.host].map(|part| plain(part));
    let rest = rest.into_iter().filter(|part| !part.is_empty());
    // Words are too wide for the table on a terminal of 80 columns.
    let op = match trend.phase == trend.op.name() {
        true => String::new(),
        false => format!(" {}", trend.op.name()),
    };
    let parts: Vec<String> = std::iter::once(format!("{}{op}", plain(&trend.phase)))
        .chain(rest)
        .collect();
    text::enumerated(&parts)
}

/// Display unit of a trend, and its factor.
fn unit(trend: &Trend) -> (&'static str, f64) {
    match trend.unit.as_str() {
        "B/s" => ("MB/s", 1e6),
        _ => ("IOPS", 1.0),
    }
}

fn trend_table(trends: &[&Trend]) -> DataTable {
    let row = |trend: &&Trend| {
        let (unit, scale) = unit(trend);
        let value = |point: Option<&TrendPoint>| {
            point
                .map(|point| number::significant(point.mean / scale))
                .unwrap_or_default()
        };
        let [change, verdict] = match &trend.comparison {
            Some(comparison) => [compare::ratio(comparison), compare::verdict(comparison)],
            None => [
                String::new(),
                text::too_few_series(trend.points.len(), Trend::FEWEST),
            ],
        };
        vec![
            text::with_unit(&trend_name(trend), unit),
            trend.points.len().to_string(),
            value(trend.points.first()),
            value(trend.points.last()),
            change,
            verdict,
        ]
    };
    DataTable::new(text::trend_heads(), trends.iter().map(row))
}

fn point_table(trend: &Trend) -> DataTable {
    let (unit, scale) = unit(trend);
    let row = |point: &TrendPoint| {
        let used = point.used_percent.map(|percent| format!("{percent}%"));
        vec![
            time::utc(point.at_unix_ms),
            plain(point.series.get(..8).unwrap_or(&point.series)),
            MeanText::of_parts(point.mean, None, scale).to_string(),
            point.runs.to_string(),
            used.unwrap_or_default(),
        ]
    };
    let heads = text::point_heads(unit);
    DataTable::new(heads, trend.points.iter().map(row)).without_empty_columns()
}

fn verified_table(verifications: &[VerifiedPoint]) -> DataTable {
    let row = |point: &VerifiedPoint| {
        let bad = match point.bad {
            Bytes(0) => "0".to_owned(),
            bad => bad.to_string(),
        };
        vec![
            time::utc(point.at_unix_ms),
            plain(point.id.get(..8).unwrap_or(&point.id)),
            point.checked.to_string(),
            bad,
        ]
    };
    DataTable::new(text::verified_heads(), verifications.iter().map(row))
}
