//! Variation between the runs of each point: confidence intervals, median, outliers, drift, autocorrelation, steady
//! state.

use super::words::percent;
use crate::csv::{CsvFigure, CsvStats};
use crate::number::{self, MeanText};
use crate::table::DataTable;
use crate::text::{self, Head, StateWord};
use crate::{chart, naming};
use hakaru_model::finding::{PhaseSummary, Repeated, Stability, SteadyWindow, Summary};

/// One row for each phase with at least two runs; `None` if no phase has them. Of published figures, without single
/// runs, the other tables have everything that is known.
pub(super) fn table(summary: &Summary) -> Option<DataTable> {
    let row = |phase: &PhaseSummary| {
        let repeated = phase.detail.repeated.as_ref();
        let repeated = repeated.filter(|_| !phase.bandwidth.values.is_empty())?;
        let stability = phase.detail.stability.as_ref();
        let unit = unit(phase, repeated);
        let [by_t, by_bootstrap] = unit.intervals;
        let caveats = number::in_brackets(&phase.bandwidth.interval_caveats);
        let error = |share| format!("± {}%{caveats}", percent_or_bound(share));
        let lag1 = |r: f64| format!("{r:+.2}").replace('-', "−");
        Some(vec![
            text::with_unit(&naming::phase(summary, phase), unit.name),
            by_t,
            by_bootstrap,
            repeated.relative_error.map(error).unwrap_or_default(),
            unit.median,
            stability.map(outliers).unwrap_or_default(),
            stability.map(drift).unwrap_or_default(),
            stability.and_then(|s| s.lag1).map(lag1).unwrap_or_default(),
            steady(phase, repeated),
        ])
    };
    let table =
        DataTable::new(HEAD.map(Head::text), summary.phases.iter().filter_map(row)).nonempty();
    table.map(DataTable::without_empty_columns)
}

const HEAD: [Head; 9] = [
    Head::PhaseAndUnit,
    Head::MeanStudent,
    Head::Bootstrap,
    Head::RelativeError,
    Head::MedianMad,
    Head::Outliers,
    Head::Drift,
    Head::Correlation,
    Head::SteadyState,
];

/// The figures of a phase in its display unit.
struct PhaseUnit {
    name: &'static str,
    median: String,
    intervals: [String; 2],
}

fn unit(phase: &PhaseSummary, repeated: &Repeated) -> PhaseUnit {
    let (estimate, unit, name) = match chart::by_iops(phase) {
        true => (&phase.iops, 1.0, "IOPS"),
        false => (&phase.bandwidth, 1e6, "MB/s"),
    };
    // With one block size, IOPS are proportional to bandwidth.
    let scale = estimate.mean / unit / phase.bandwidth.mean;
    let caveats = number::in_brackets(&estimate.interval_caveats);
    let interval = |(low, high): (f64, f64)| {
        let [low, high] = told_apart([low, high]);
        format!("[{low}, {high}]{caveats}")
    };
    let median = match estimate.values.is_empty() {
        true => String::new(),
        false => MeanText::of_parts(estimate.median, Some(estimate.mad), unit).to_string(),
    };
    let mean = match estimate.ci95 {
        Some((low, high)) => {
            let [mean, ..] = told_apart([estimate.mean, low, high].map(|value| value / unit));
            mean
        }
        None => number::significant(estimate.mean / unit),
    };
    let by_t = estimate.ci95.map(|(low, high)| (low / unit, high / unit));
    let by_t = by_t.map(interval).unwrap_or_default();
    let bootstrap = repeated.bootstrap_ci95;
    let bootstrap = bootstrap.map(|(low, high)| interval((low * scale, high * scale)));
    PhaseUnit {
        name,
        median,
        intervals: [format!("{mean} {by_t}"), bootstrap.unwrap_or_default()],
    }
}

/// Maximum number of significant digits of an interval.
const MOST_DIGITS: i32 = 6;

/// Formats values with three significant digits, or with as many as tell the last two apart.
fn told_apart<const N: usize>(values: [f64; N]) -> [String; N] {
    let told = (3..=MOST_DIGITS).map(|digits| {
        values.map(|value| match digits {
            3 => number::significant(value),
            digits => number::significant_digits(value, digits),
        })
    });
    let mut told: Vec<[String; N]> = told.collect();
    let differ = |texts: &[String; N]| texts[N - 1] != texts[N - 2];
    let at = told.iter().position(differ).unwrap_or(0);
    told.swap_remove(at)
}

/// Formats a share as percent; one that would be rounded to zero as an upper bound.
fn percent_or_bound(share: f64) -> String {
    match percent(share) {
        zero if zero == "0" && share > 0.0 => "<0.05".to_owned(),
        text => text,
    }
}

/// Maximum number of runs listed by number; more are only counted.
const NAMED: usize = 4;

/// Formats outliers: `none`, `run 7`, `9 of 200 runs`.
fn outliers(found: &Stability) -> String {
    let runs: Vec<String> = found
        .outliers
        .iter()
        .map(|index| (index + 1).to_string())
        .collect();
    match runs.len() {
        0 => StateWord::NoOutliers.into(),
        n if n <= NAMED => text::these_runs(&runs),
        n => text::runs(n as u64),
    }
}

/// Formats a drift: `+1.2 % (p 0.34)`, the change from the first to the last run on a fitted line.
fn drift(found: &Stability) -> String {
    let Some(change) = found.drift else {
        return String::new();
    };
    let sign = match percent(change.abs()).as_str() {
        "0" => "",
        _ if change < 0.0 => "−",
        _ => "+",
    };
    let p = found.drift_p.map_or_else(String::new, |p| {
        format!(" (p {})", crate::compare::probability(p))
    });
    format!("{sign}{}%{p}", percent_or_bound(change.abs()))
}

/// Formats the steady-state windows with their range and slope; `not reached` if there are none, or empty with fewer
/// than five runs.
fn steady(phase: &PhaseSummary, found: &Repeated) -> String {
    let window = |found: &SteadyWindow| {
        let SteadyWindow {
            first_round,
            rounds,
            average,
            excursion,
            slope,
        } = found;
        let last = first_round + rounds;
        let (range, slope) = (percent(*excursion), percent(slope.abs()));
        let level = number::significant(average / 1e6);
        text::steady_window((first_round + 1, last), &level, &range, &slope)
    };
    let windows: Vec<String> = found.steady_windows.iter().map(window).collect();
    match windows.is_empty() {
        true if phase.bandwidth.values.len() >= 5 => StateWord::NotReached.into(),
        _ => windows.join("\n"),
    }
}

/// The same as machine-readable figures: name, unit, statistics. All except the intervals and the median deviation
/// are shares, counts or run numbers.
pub(super) fn figures(phase: &PhaseSummary) -> Vec<CsvFigure> {
    let Some(repeated) = &phase.detail.repeated else {
        return Vec::new();
    };
    let exact = |value: f64| number::exact(value, 6);
    let share = |name: &str, value: Option<f64>| {
        value.map(|value| (name.to_owned(), "1", CsvStats::single(exact(value))))
    };
    let bandwidth = &phase.bandwidth;
    let caveats = crate::csv::caveat_words(&bandwidth.interval_caveats);
    let error = share("relative_error", repeated.relative_error);
    let mut all: Vec<CsvFigure> = error.into_iter().collect();
    for (.., row) in &mut all {
        row.caveats.clone_from(&caveats);
    }
    if let Some((low, high)) = repeated.bootstrap_ci95 {
        let bootstrap = CsvStats {
            n: Some(bandwidth.values.len() as u64),
            mean: exact(bandwidth.mean / 1e6),
            ci95: (exact(low / 1e6), exact(high / 1e6)),
            caveats,
            ..CsvStats::single(exact(bandwidth.mean / 1e6))
        };
        let mad = CsvStats::single(exact(bandwidth.mad / 1e6));
        all.push(("bandwidth_bootstrap".to_owned(), "MB/s", bootstrap));
        all.push(("bandwidth_mad".to_owned(), "MB/s", mad));
    }
    if let Some(found) = &phase.detail.stability {
        let outliers = found.outliers.len() as f64;
        all.extend(share("outliers", Some(outliers)));
        all.extend(share("drift", found.drift));
        all.extend(share("drift_p", found.drift_p));
        all.extend(share("lag1", found.lag1));
    }
    let steady = repeated.steady.as_ref();
    let first = steady.map(|steady| f64::from(steady.first_round + 1));
    all.extend(share("steady_from_run", first));
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Regression: an interval was printed as [305, 305], and its error as ± 0%.
    #[test]
    fn small_differences_keep_their_digits() {
        assert_eq!(
            told_apart([305.31, 305.2, 305.48]),
            ["305.3", "305.2", "305.5"]
        );
        assert_eq!(
            told_apart([1563.0, 1562.7, 1563.3]),
            ["1,563.0", "1,562.7", "1,563.3"]
        );
        assert_eq!(told_apart([18.24, 20.0]), ["18.2", "20.0"]);
        assert_eq!(told_apart([5.0, 5.0]), ["5.00", "5.00"]);
        assert_eq!(percent_or_bound(0.0002), "<0.05");
        assert_eq!(percent_or_bound(0.0), "0");
        assert_eq!(percent_or_bound(0.012), "1.2");
    }
}
