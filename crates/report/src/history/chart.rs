//! The chart of a history: the rates of a few workloads over dates.

use super::{change, common_day, telling, trend_name, unit, verdict_of};
use crate::chart::{Chart, Plot, Section, SweepAxis};
use crate::naming::distinct;
use crate::svg::{SweepLine, SweepPlot, SweepPoint};
use crate::table::{self, DataTable};
use crate::text::{self, TrendFinding, TrendVerdict};
use crate::{number, time};
use hakaru_model::history::{Trend, TrendPoint};

/// Lines of the chart; more would hide each other.
const MOST_LINES: usize = 4;
/// Milliseconds of a day.
const DAY_MS: f64 = 86_400_000.0;

/// The most telling trends over dates, each as a share of its first rate; `None` without a second series.
pub(super) fn chart(trends: &[Trend]) -> Option<Chart> {
    let known: Vec<(&Trend, f64)> = telling(trends);
    let shown = &known[..known.len().min(MOST_LINES)];
    let place = |point: &TrendPoint| point.at_unix_ms as f64 / DAY_MS;
    let line = |(trend, _): &(&Trend, f64)| {
        let first = trend.points.first().map_or(1.0, |point| point.mean);
        let percent = |value: f64| value / first * 100.0;
        let point = |point: &TrendPoint| SweepPoint {
            x: place(point),
            y: percent(point.mean),
            interval: point.ci95.map(|(low, high)| (percent(low), percent(high))),
        };
        SweepLine {
            name: trend_name(trend, trends),
            points: trend.points.iter().map(point).collect(),
        }
    };
    let lines: Vec<SweepLine> = shown.iter().map(line).collect();
    let points = || shown.iter().flat_map(|(trend, _)| &trend.points);
    let mut times: Vec<i64> = points().map(|point| point.at_unix_ms).collect();
    times.sort_unstable();
    times.dedup();
    let ticks = ticks(&times);
    times.first()?;
    let spread = points().any(|point| point.ci95.is_some());
    let rows = times.iter().map(|&at| {
        let cells = shown.iter().map(|(trend, _)| {
            let found = trend.points.iter().find(|point| point.at_unix_ms == at);
            let scale = unit(trend).1;
            found.map_or("–".to_owned(), |point| {
                number::quantity(point.mean / scale)
            })
        });
        table::row(time::utc(at), cells)
    });
    let heads = shown
        .iter()
        .map(|(trend, _)| text::with_unit(&trend_name(trend, trends), unit(trend).0));
    let axis = text::sweep_axis(SweepAxis::Date).to_owned();
    Some(Chart {
        name: "history".to_owned(),
        section: Section::Speed,
        title: text::trend_title(&finding(&known, trends)),
        note: text::trend_chart_note(spread, shown.len(), known.len()),
        table: DataTable::new(table::row(axis.clone(), heads), rows),
        plot: Plot::Sweep(SweepPlot {
            unit: "%".to_owned(),
            axis,
            ticks,
            lines,
            ..SweepPlot::default()
        }),
    })
}

/// Positions and labels of these times: days, each once, or the hours of a single day.
fn ticks(times: &[i64]) -> Vec<(f64, String)> {
    let days = distinct(times.iter().map(|&at| time::day(at)));
    let mut known = "";
    let tick = |&at: &i64| {
        let label = match &days[..] {
            [_] => time::hour(at),
            days => {
                let day = time::day(at);
                let new = days.iter().find(|other| **other == day && *other != known);
                known = new.map_or(known, String::as_str);
                new.cloned().unwrap_or_default()
            }
        };
        (at as f64 / DAY_MS, label)
    };
    times.iter().map(tick).collect()
}

/// What the chart shows: a proven change, or the range of what the workloads, drawn or not, end at.
fn finding(known: &[(&Trend, f64)], all: &[Trend]) -> TrendFinding {
    let changed = known.iter().find_map(|(trend, _)| {
        let slower = match verdict_of(trend) {
            TrendVerdict::Slower => true,
            TrendVerdict::Faster => false,
            TrendVerdict::Same | TrendVerdict::Open | TrendVerdict::Few { .. } => return None,
        };
        Some(TrendFinding::Changed {
            workload: trend_name(trend, all),
            percent: number::percent(change(trend)?),
            slower,
        })
    });
    if let Some(changed) = changed {
        return changed;
    }
    let workload = match known {
        [(only, _)] => Some(trend_name(only, all)),
        _ => None,
    };
    let is_same = |(trend, _): &(&Trend, f64)| verdict_of(trend) == TrendVerdict::Same;
    if known.iter().all(is_same) {
        return TrendFinding::Same { workload };
    }
    let shares = || known.iter().map(|(_, share)| *share);
    let firsts = known.iter().filter_map(|(trend, _)| trend.points.first());
    TrendFinding::Open {
        workload,
        low: number::percent(shares().fold(f64::MAX, f64::min)),
        high: number::percent(shares().fold(0.0, f64::max)),
        since: common_day(firsts),
    }
}
