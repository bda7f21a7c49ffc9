//! The report on the history of one card: is it slower than before, and does it wear out?

mod chart;

use crate::document::{
    ColumnStyle, Document, DocumentBlock, TableStyle, VerdictBlock, VerdictTone, beside, folded,
    part, worst_caveats,
};
use crate::escape::plain;
use crate::matrix::{Matrix, MatrixCell, MatrixColumn, MatrixRow, shade};
use crate::naming::distinct;
use crate::number::{self, MeanText};
use crate::table::DataTable;
use crate::text::{self, PagePart, SpeedChange, TrendVerdict};
use crate::{compare, time, workload};
use hakaru_model::finding::{Comparison, Verdict};
use hakaru_model::history::{
    AnatomyPoint, CardHistory, Outlook, Trend, TrendPoint, VerifiedPoint, WearSign,
};
use hakaru_model::units::Bytes;

/// Renders the history of a card for a terminal of `width` columns.
pub fn history_terminal(history: &CardHistory, width: usize, color: bool) -> String {
    document(history).terminal(width, color)
}

/// Renders the history of a card as one HTML page.
pub fn history_html(history: &CardHistory) -> String {
    document(history).html()
}

/// Renders the history of a card as Markdown.
pub fn history_markdown(history: &CardHistory) -> String {
    document(history).markdown(None)
}

fn document(history: &CardHistory) -> Document {
    let caveats = history.caveats.iter();
    let caveats = unlabeled(caveats.map(|caveat| plain(&text::history_caveat(caveat))));
    let mut blocks = vec![verdict(history)];
    blocks.extend(matrix(history));
    let chart = chart::chart(&history.trends).map(|chart| DocumentBlock::KeyChart(Box::new(chart)));
    let side = signs(history).into_iter().chain(worst_caveats(&caveats));
    blocks.extend(beside(
        ColumnStyle::Lead,
        chart.into_iter().collect(),
        side.collect(),
    ));
    blocks.extend(figures(&history.trends));
    let proofs = history.missing.iter();
    let proofs = unlabeled(proofs.map(|&proof| text::capital(&text::missing_proof(proof))));
    blocks.extend(part(
        text::proofs_title(),
        vec![DocumentBlock::Facts(proofs)],
    ));
    if !history.verifications.is_empty() {
        let table = verified_table(&history.verifications);
        let table = DocumentBlock::Table(TableStyle::Words, table);
        blocks.extend(part(text::verifications_title(), vec![table]));
    }
    if !history.anatomies.is_empty() {
        let table = DocumentBlock::Table(TableStyle::Words, anatomy_table(&history.anatomies));
        blocks.extend(part(text::anatomies_title(), vec![table]));
    }
    blocks.extend(part(
        text::page_part(PagePart::Limits),
        vec![DocumentBlock::Limits(caveats)],
    ));
    Document {
        title: text::history_title(&plain(&history.name)),
        under: under(history),
        blocks,
    }
}

fn unlabeled(items: impl IntoIterator<Item = String>) -> Vec<(String, String)> {
    let items = items.into_iter();
    items.map(|item| (String::new(), item)).collect()
}

/// Number of runs, the period, and the IDs.
fn under(history: &CardHistory) -> Vec<(String, String)> {
    let points = history.trends.iter().flat_map(|trend| &trend.points);
    let of_runs = points.map(|point| point.at_unix_ms);
    let of_verifications = history.verifications.iter().map(|point| point.at_unix_ms);
    let of_anatomies = history.anatomies.iter().map(|point| point.at_unix_ms);
    let all = of_runs.chain(of_verifications).chain(of_anatomies);
    let all: Vec<i64> = all.collect();
    let period = all.iter().min().zip(all.iter().max());
    let period = period.map(|(&first, &last)| text::span(&time::day(first), &time::day(last)));
    let (verifications, anatomies) = (history.verifications.len(), history.anatomies.len());
    let counts = text::history_counts(history.runs, history.series, verifications, anatomies);
    let line = std::iter::once(counts).chain(period);
    let line = line.collect::<Vec<_>>().join(" · ");
    let ids: Vec<String> = history.ids.iter().map(|id| plain(id)).collect();
    let lines = [line, ids.join(" · ")];
    unlabeled(lines.into_iter().filter(|line| !line.is_empty()))
}

/// The conclusion on the card with its first reason, the change of its speed, and what to do.
fn verdict(history: &CardHistory) -> DocumentBlock {
    let (sign, tone) = match history.outlook {
        Outlook::NoSign => ("✓", VerdictTone::Good),
        Outlook::Failing => ("✗", VerdictTone::Bad),
        Outlook::Wearing => ("!", VerdictTone::Care),
        Outlook::Unknown => ("?", VerdictTone::Open),
    };
    // The change of the speed is a sentence of its own.
    let is_slower = |sign: &&WearSign| matches!(sign, WearSign::SlowerWrites { .. });
    let reason = history.signs.iter().find(|sign| !is_slower(sign));
    let reason = reason.map(|sign| text::sentence(&plain(&text::wear_sign(sign, &history.trends))));
    let change = Some(speed_change(&history.trends)).filter(|_| !history.trends.is_empty());
    let advice = Some(text::outlook_advice(history.outlook)).filter(|advice| !advice.is_empty());
    let sentences = reason
        .into_iter()
        .chain(change)
        .chain(advice.map(text::sentence));
    DocumentBlock::Verdict(VerdictBlock {
        sign,
        tone,
        text: text::outlook(history.outlook).to_owned(),
        advice: text::paragraph(&sentences.collect::<Vec<_>>()),
    })
}

fn verdict_of(trend: &Trend) -> TrendVerdict {
    let few = TrendVerdict::Few {
        have: trend.points.len(),
        needed: Trend::FEWEST,
    };
    trend.comparison.as_ref().map_or(few, |c| match c.verdict {
        Verdict::Different if c.is_little() => TrendVerdict::Same,
        Verdict::Different if c.ratio < 1.0 => TrendVerdict::Slower,
        Verdict::Different => TrendVerdict::Faster,
        Verdict::Equivalent => TrendVerdict::Same,
        Verdict::Undecided { .. } => TrendVerdict::Open,
    })
}

/// The newest rate as a share of the first one; `None` for a single series.
fn share(trend: &Trend) -> Option<f64> {
    let [first, .., last] = &trend.points[..] else {
        return None;
    };
    Some(last.mean / first.mean).filter(|share| share.is_finite())
}

/// The figure that the verdict is about: the later half of the series divided by the earlier one. With too few series
/// for halves, the newest divided by the first.
fn change(trend: &Trend) -> Option<f64> {
    let halves = trend.comparison.as_ref().map(|comparison| comparison.ratio);
    halves.or_else(|| share(trend))
}

/// The trends with more than one series, and the newest rate as a share of the first: proven slowdowns, then what became
/// faster, then the others; large changes before small ones.
fn telling(trends: &[Trend]) -> Vec<(&Trend, f64)> {
    let known = trends
        .iter()
        .filter_map(|trend| Some((trend, share(trend)?)));
    let mut known: Vec<(&Trend, f64)> = known.collect();
    let rank = |trend: &Trend| match verdict_of(trend) {
        TrendVerdict::Slower => 0,
        TrendVerdict::Faster => 1,
        TrendVerdict::Same | TrendVerdict::Open | TrendVerdict::Few { .. } => 2,
    };
    let size = |trend: &Trend| change(trend).map_or(0.0, |change| change.ln().abs());
    known.sort_by(|(a, _), (b, _)| {
        let by_size = size(b).total_cmp(&size(a));
        rank(a).cmp(&rank(b)).then(by_size)
    });
    known
}

/// Whether the card became slower, as a sentence about the most telling workload. The speed counts as the same only if
/// that holds for every workload with a verdict.
fn speed_change(trends: &[Trend]) -> String {
    let rank = |(trend, _): &(&Trend, f64)| match verdict_of(trend) {
        TrendVerdict::Slower => 0,
        TrendVerdict::Faster => 1,
        TrendVerdict::Open => 2,
        TrendVerdict::Same => 3,
        TrendVerdict::Few { .. } => 4,
    };
    let Some((trend, _)) = telling(trends).into_iter().min_by_key(rank) else {
        return text::measured_once_each().to_owned();
    };
    let (Some(first), Some(last)) = (trend.points.first(), trend.points.last()) else {
        return String::new();
    };
    let (unit, scale) = unit(trend);
    let verdict = verdict_of(trend);
    let halves = trend.comparison.as_ref().filter(|_| {
        use TrendVerdict::{Faster, Same, Slower};
        matches!(verdict, Slower | Faster | Same)
    });
    let ends = halves.map_or((first.mean, last.mean), |c| (c.a.mean, c.b.mean));
    let rate = |mean: f64| format!("{} {unit}", number::quantity(mean / scale));
    text::speed_change(&SpeedChange {
        workload: trend_noun(trend, trends),
        first: rate(ends.0),
        last: rate(ends.1),
        since: time::day(first.at_unix_ms),
        until: time::day(last.at_unix_ms),
        ratio: trend.comparison.as_ref().map(ratio),
        verdict,
    })
}

/// The later half of the series divided by the earlier one: `0.62× [0.58, 0.66]`.
pub(crate) fn ratio(comparison: &Comparison) -> String {
    let ratio = format!("{}×", compare::ratio_inside(comparison));
    let ends = comparison.ratio_ci95.map(compare::ratio_ends);
    ends.map_or(ratio.clone(), |(low, high)| {
        format!("{ratio} [{low}, {high}]")
    })
}

/// Name of a trend among others, for a heading: the workload, and layer and host if they differ.
pub(crate) fn trend_name(trend: &Trend, all: &[Trend]) -> String {
    text::capital(&trend_noun(trend, all))
}

/// The name of a trend inside a sentence.
pub(crate) fn trend_noun(trend: &Trend, all: &[Trend]) -> String {
    let work = workload::of_shape(&trend.phase, trend.op, trend.shape.as_ref());
    let work = work.unwrap_or_else(|| workload::own_name(&trend.phase, trend.op));
    let differs = |of: fn(&Trend) -> &String| all.iter().any(|other| of(other) != of(trend));
    let layer = differs(|trend| &trend.layer).then(|| plain(&trend.layer));
    let host = differs(|trend| &trend.host).then(|| plain(&trend.host));
    let rest = [layer, host].into_iter().flatten();
    let rest = rest.filter(|part| !part.is_empty());
    let parts: Vec<String> = std::iter::once(work).chain(rest).collect();
    text::enumerated(&parts)
}

/// Display unit of a trend, and its factor.
fn unit(trend: &Trend) -> (&'static str, f64) {
    match trend.unit.as_str() {
        "B/s" => ("MB/s", 1e6),
        _ => ("IOPS", 1.0),
    }
}

/// Workloads × first, last and change; of a card without a second series, the only figures.
fn matrix(history: &CardHistory) -> Vec<DocumentBlock> {
    let all = &history.trends[..];
    let again: Vec<&Trend> = all.iter().filter(|trend| trend.points.len() > 1).collect();
    let shown = match again.is_empty() {
        true => all.iter().collect(),
        false => again.clone(),
    };
    if shown.is_empty() {
        return Vec::new();
    }
    let [corner, first, last, change] = text::trend_columns();
    let column = |name: &str, day: Option<String>| MatrixColumn {
        name: name.to_owned(),
        unit: day.unwrap_or_default(),
    };
    let firsts = common_day(shown.iter().filter_map(|trend| trend.points.first()));
    let lasts = common_day(shown.iter().filter_map(|trend| trend.points.last()));
    let noted = [firsts.is_none(), lasts.is_none()];
    let columns = match again.is_empty() {
        true => vec![column(last, lasts)],
        false => vec![
            column(first, firsts),
            column(last, lasts),
            column(change, None),
        ],
    };
    let row = |trend: &&Trend| MatrixRow {
        name: text::with_unit(&trend_name(trend, all), unit(trend).0),
        cells: match again.is_empty() {
            true => vec![cell(trend, trend.points.last(), noted[1])],
            false => vec![
                cell(trend, trend.points.first(), noted[0]),
                cell(trend, trend.points.last(), noted[1]),
                change_cell(trend),
            ],
        },
    };
    let matrix = Matrix {
        caption: text::trends_title().to_owned(),
        about: text::trend_about().to_owned(),
        corner: corner.to_owned(),
        columns,
        rows: shown.iter().map(row).collect(),
        of_cards: false,
        framed: text::not_slower(),
    };
    let once = all.len() - shown.len();
    let key = match again.is_empty() {
        true => String::new(),
        false => text::trends_note(Trend::FEWEST, once),
    };
    vec![DocumentBlock::Matrices(vec![matrix], key)]
}

/// The day of all these points; `None` if they have several.
fn common_day<'a>(points: impl Iterator<Item = &'a TrendPoint>) -> Option<String> {
    let days = distinct(points.map(|point| time::day(point.at_unix_ms)));
    match &days[..] {
        [day] => Some(day.clone()),
        _ => None,
    }
}

fn cell(trend: &Trend, point: Option<&TrendPoint>, noted: bool) -> Option<MatrixCell> {
    let point = point?;
    let best = trend.points.iter().map(|point| point.mean);
    let best = best.fold(0.0, f64::max);
    Some(MatrixCell {
        figure: number::quantity(point.mean / unit(trend).1),
        note: noted.then(|| time::day(point.at_unix_ms)),
        letters: String::new(),
        shade: shade(point.mean, best),
        best: false,
    })
}

fn change_cell(trend: &Trend) -> Option<MatrixCell> {
    Some(MatrixCell {
        figure: signed_percent(change(trend)?),
        note: Some(text::trend_verdict(verdict_of(trend))),
        letters: String::new(),
        shade: 0,
        best: false,
    })
}

/// The change of a share from 1: `−34%`.
fn signed_percent(share: f64) -> String {
    let change = number::exact((share - 1.0) * 100.0, 0);
    match change.strip_prefix('-') {
        Some(less) => format!("−{less}%"),
        None if change == "0" => "0%".to_owned(),
        None => format!("+{change}%"),
    }
}

/// The signs of wear below their heading.
fn signs(history: &CardHistory) -> Vec<DocumentBlock> {
    let signs = history.signs.iter();
    let signs = signs.map(|sign| plain(&text::wear_sign(sign, &history.trends)));
    let signs = unlabeled(signs);
    match signs.is_empty() {
        true => Vec::new(),
        false => vec![
            DocumentBlock::Title(text::signs_title().to_owned()),
            DocumentBlock::Facts(signs),
        ],
    }
}

/// The verdict on each trend, and all its points.
fn figures(trends: &[Trend]) -> Vec<DocumentBlock> {
    if trends.is_empty() {
        return Vec::new();
    }
    let numbers = |table| DocumentBlock::Table(TableStyle::Numbers, table);
    let mut blocks = vec![numbers(trend_table(trends))];
    for trend in trends.iter().filter(|trend| trend.points.len() > 1) {
        blocks.push(DocumentBlock::Title(trend_name(trend, trends)));
        blocks.push(numbers(point_table(trend)));
    }
    vec![folded(text::points_title(), blocks)]
}

fn trend_table(trends: &[Trend]) -> DataTable {
    let row = |trend: &Trend| {
        let (unit, scale) = unit(trend);
        let value = |point: Option<&TrendPoint>| {
            point
                .map(|point| number::quantity(point.mean / scale))
                .unwrap_or_default()
        };
        let [change, verdict] = match &trend.comparison {
            Some(comparison) => [compare::ratio(comparison), compare::verdict(comparison)],
            None => [String::new(), text::trend_verdict(verdict_of(trend))],
        };
        vec![
            text::with_unit(&trend_name(trend, trends), unit),
            trend.points.len().to_string(),
            value(trend.points.first()),
            value(trend.points.last()),
            change,
            verdict,
        ]
    };
    DataTable::new(text::trend_heads(), trends.iter().map(row)).without_empty_columns()
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

fn anatomy_table(anatomies: &[AnatomyPoint]) -> DataTable {
    let row = |point: &AnatomyPoint| {
        let rate = |rate: Option<f64>| rate.map(crate::anatomy::rate);
        let figures = [
            point.unit.map(|unit| unit.to_string()),
            point.open_units.map(number::grouped),
            rate(point.read_rate),
            rate(point.write_rate),
        ];
        let id = plain(point.id.get(..8).unwrap_or(&point.id));
        let mut row = vec![time::utc(point.at_unix_ms), id];
        row.extend(figures.map(|figure| figure.unwrap_or_else(|| "–".to_owned())));
        row
    };
    DataTable::new(text::anatomy_heads(), anatomies.iter().map(row))
}

fn verified_table(verifications: &[VerifiedPoint]) -> DataTable {
    let row = |point: &VerifiedPoint| {
        let bad = match point.bad {
            Bytes(0) => "0 B".to_owned(),
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
