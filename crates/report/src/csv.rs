//! CSV (RFC 4180): one line for each figure of each phase, for spreadsheets and scripts.
//!
//! Columns and units are stable; new columns are added at the end.

use crate::escape::csv as quoted;
use crate::results::quantile;
use crate::{ids, naming, number, path, time};
use hakaru_model::advice::RunFindings;
use hakaru_model::caveat::Caveat;
use hakaru_model::finding::{Estimate, IntervalCaveat, LatencySummary, PhaseSummary, Summary};
use hakaru_model::units::Quantile;
use std::fmt::Display;

const HEAD: &str = "series,started,scenario,target,layer,phase,op,figure,unit,n,value,mean,stdev,min,max,median,ci95_low,ci95_high,\
                    interval_caveats";

/// The statistics of one line; fields that do not apply are empty.
#[derive(Default)]
pub(crate) struct CsvStats {
    pub(crate) n: Option<u64>,
    pub(crate) value: String,
    pub(crate) mean: String,
    pub(crate) stdev: String,
    pub(crate) min: String,
    pub(crate) max: String,
    pub(crate) median: String,
    pub(crate) ci95: (String, String),
    /// Reasons why the interval may be too narrow: `few_runs;skewed`.
    pub(crate) caveats: String,
}

impl CsvStats {
    /// A line with only a value.
    pub(crate) fn single(value: impl Display) -> CsvStats {
        CsvStats {
            value: value.to_string(),
            ..CsvStats::default()
        }
    }
}

/// Renders series as CSV.
///
/// `value` is the figure to quote: the mean, or the percentile itself. Bandwidths are in MB/s (10^6 bytes per
/// second), latencies in nanoseconds. `n` counts runs; for latencies, I/Os.
pub fn csv(summaries: &[Summary]) -> String {
    csv_with(summaries, &[])
}

/// Renders series as CSV with their conclusions at the end: `advice_os`, `claim_A1`, `limit_read` with the verdict as
/// the value. Series without an element in `findings` have no conclusions.
pub fn csv_with(summaries: &[Summary], findings: &[RunFindings]) -> String {
    let mut out = format!("{HEAD}\r\n");
    for (index, summary) in summaries.iter().enumerate() {
        let of_series = [
            quoted(&summary.series),
            time::iso(summary.started_unix_ms),
            quoted(&summary.scenario),
            quoted(&summary.target.display_name()),
            quoted(&naming::layer(summary)),
        ]
        .join(",");
        for phase in &summary.phases {
            let of_phase = format!("{of_series},{},{}", quoted(&phase.phase), phase.op.name());
            for (figure, unit, row) in figures(phase) {
                let (cells, caveats) = (cells(&row), &row.caveats);
                out += &format!("{of_phase},{figure},{unit},{cells},{caveats}\r\n");
            }
        }
        if summary.caveats.contains(&Caveat::Traced) {
            let cells = cells(&CsvStats::single(1));
            out += &format!("{of_series},,,traced,1,{cells},\r\n");
        }
        for (phase, line) in path::csv::all_lines(summary) {
            let (phase, figure) = (quoted(phase), quoted(&line.figure));
            let (cells, caveats) = (cells(&line.row), &line.row.caveats);
            out += &format!(
                "{of_series},{phase},{},{figure},{},{cells},{caveats}\r\n",
                line.op, line.unit
            );
        }
        for (figure, value) in findings.get(index).map(verdicts).unwrap_or_default() {
            let (figure, cells) = (quoted(&figure), cells(&CsvStats::single(value)));
            out += &format!("{of_series},,,{figure},,{cells},\r\n");
        }
    }
    out
}

/// Names of conclusions with their verdicts, as stable identifiers.
fn verdicts(findings: &RunFindings) -> Vec<(String, String)> {
    let advice = findings.advice.iter();
    let advice = advice.map(|advice| {
        (
            format!("advice_{}", advice.id),
            ids::advice(advice.verdict()).to_owned(),
        )
    });
    let claims = findings.claims.iter().map(|check| {
        (
            format!("claim_{}", ids::claim(check.claim)),
            ids::claim_verdict(check.verdict).to_owned(),
        )
    });
    let limits = findings.limits.iter();
    let limits = limits.map(|limit| {
        (
            format!("limit_{}", limit.op.name()),
            ids::bottleneck(limit.limit).to_owned(),
        )
    });
    advice.chain(claims).chain(limits).collect()
}

/// The columns from `n` to `ci95_high`.
pub(crate) fn cells(row: &CsvStats) -> String {
    let n = row.n.map_or_else(String::new, |n| n.to_string());
    let CsvStats {
        value,
        mean,
        stdev,
        min,
        max,
        median,
        ci95: (low, high),
        ..
    } = row;
    [&n, value, mean, stdev, min, max, median, low, high]
        .map(String::as_str)
        .join(",")
}

/// A probability or an effect for programs; empty if it is unknown.
pub(crate) fn optional(value: Option<f64>) -> String {
    let text = value.map(|value| number::exact(value, 9));
    text.unwrap_or_default()
}

/// Reasons why an interval may be too narrow, as stable identifiers.
pub(crate) fn caveat_words(caveats: &[IntervalCaveat]) -> String {
    let ids: Vec<&str> = caveats.iter().copied().map(ids::interval_caveat).collect();
    ids.join(";")
}

/// All figures of a phase: name, unit, statistics.
pub(crate) fn figures(phase: &PhaseSummary) -> Vec<CsvFigure> {
    let rate = |of: &Estimate, unit| match phase.detail.stated_runs.filter(|_| of.values.is_empty())
    {
        Some(runs) => stated(of, unit, runs),
        None => estimate(of, unit),
    };
    let mut rows = vec![
        ("bandwidth".to_owned(), "MB/s", rate(&phase.bandwidth, 1e6)),
        ("iops".to_owned(), "1/s", rate(&phase.iops, 1.0)),
    ];
    rows.extend(latencies("latency", phase.latency.as_ref()));
    rows.extend(latencies("sync_latency", phase.sync.as_ref()));
    rows.extend(sustained(phase));
    let amplification = phase.amplification.as_ref().map(|a| estimate(a, 1.0));
    rows.extend(amplification.map(|row| ("amplification".to_owned(), "1", row)));
    let laid_out = phase.detail.laid_out;
    rows.extend(laid_out.map(|bytes| single("laid_out", "B", bytes.0)));
    rows.push(single("errors", "1", phase.errors));
    let more = [
        ("other_errors", phase.detail.other_errors),
        ("limits_missed", phase.detail.limits_missed),
    ];
    let counted = more.into_iter().filter(|(_, count)| *count > 0);
    rows.extend(counted.map(|(name, count)| single(name, "1", count)));
    rows
}

/// A figure: name, unit, statistics.
pub(crate) type CsvFigure = (String, &'static str, CsvStats);

fn single(name: impl Into<String>, unit: &'static str, value: impl Display) -> CsvFigure {
    (name.into(), unit, CsvStats::single(value))
}

/// The distribution of a latency, and its percentiles.
fn latencies(name: &str, latency: Option<&LatencySummary>) -> Vec<CsvFigure> {
    let Some(latency) = latency else {
        return Vec::new();
    };
    let percentiles = latency.quantiles.iter().map(|(q, value)| {
        let row = CsvStats {
            n: Some(latency.count),
            ..CsvStats::single(value.0)
        };
        let percent = number::exact(q.percent(), 5);
        (format!("{name}_p{percent}"), "ns", row)
    });
    let all = (name.to_owned(), "ns", distribution(latency));
    std::iter::once(all).chain(percentiles).collect()
}

fn sustained(phase: &PhaseSummary) -> Vec<CsvFigure> {
    let Some(s) = &phase.sustained else {
        return Vec::new();
    };
    let megabytes = |bw: hakaru_model::units::BytesPerSec| number::exact(bw.0 / 1e6, 6);
    let over_time = CsvStats {
        mean: megabytes(s.mean),
        stdev: megabytes(s.deviation),
        min: megabytes(s.min),
        max: megabytes(s.max),
        ..CsvStats::single(megabytes(s.mean))
    };
    let mut rows = vec![("bandwidth_over_time".to_owned(), "MB/s", over_time)];
    for (nth, cliff) in (1..).zip(s.falls.iter().filter(|fall| fall.proven)) {
        let name = match nth {
            1 => "cliff".to_owned(),
            n => format!("cliff_{n}"),
        };
        let (before, after) = (megabytes(cliff.before), megabytes(cliff.after));
        rows.extend([
            single(format!("{name}_before"), "MB/s", before),
            single(format!("{name}_after"), "MB/s", after),
            single(format!("{name}_at"), "B", cliff.at.0),
        ]);
    }
    rows
}

/// Statistics of an estimate in a unit.
pub(crate) fn estimate(estimate: &Estimate, unit: f64) -> CsvStats {
    let text = |value: f64| number::exact(value / unit, 6);
    let optional = |value: Option<f64>| value.map_or_else(String::new, text);
    CsvStats {
        n: Some(estimate.values.len() as u64),
        value: text(estimate.mean),
        mean: text(estimate.mean),
        stdev: optional(estimate.deviation),
        min: text(estimate.min),
        max: text(estimate.max),
        median: text(estimate.median),
        ci95: (
            optional(estimate.ci95.map(|ci| ci.0)),
            optional(estimate.ci95.map(|ci| ci.1)),
        ),
        caveats: caveat_words(&estimate.interval_caveats),
    }
}

/// Published figures have no single values, and therefore no extremes and no median.
fn stated(of: &Estimate, unit: f64, runs: u32) -> CsvStats {
    let none = String::new;
    CsvStats {
        n: Some(u64::from(runs)),
        min: none(),
        max: none(),
        median: none(),
        ..estimate(of, unit)
    }
}

fn distribution(latency: &LatencySummary) -> CsvStats {
    let mean = number::exact(latency.mean_ns, 3);
    let median = quantile(latency, Quantile::MEDIAN);
    CsvStats {
        n: Some(latency.count),
        value: mean.clone(),
        mean,
        stdev: number::exact(latency.deviation_ns, 3),
        min: latency.min.0.to_string(),
        max: latency.max.0.to_string(),
        median: median.map(|value| value.0.to_string()).unwrap_or_default(),
        ..CsvStats::default()
    }
}
