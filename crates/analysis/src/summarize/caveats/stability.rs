//! Caveats of unstable runs, and of runs whose mean is uncertain.

use super::set::CaveatSet;
use crate::stats;
use hakaru_model::caveat::Caveat;
use hakaru_model::finding::{IntervalCaveat, PhaseSummary};

/// Minimum drift over the series to report, as a fraction of the mean, if it is not chance.
const WORTHWHILE_DRIFT: f64 = 0.02;

/// Distance of an outlier from the median that is not reported, as a fraction of the median.
const WORTHWHILE_OUTLIER: f64 = 0.02;

/// Maximum p-value to report drift and dependence. It is strict, because there are many phases.
const UNLIKELY: f64 = 0.01;

/// Adds the caveats of a phase with outliers, drift, or an uncertain mean.
pub(super) fn of_phase(phase: &PhaseSummary, list: &mut CaveatSet) {
    let Some(found) = &phase.detail.stability else {
        return;
    };
    outliers(phase, list);
    let drifts = found
        .drift
        .filter(|d| d.abs() >= WORTHWHILE_DRIFT && found.drift_p.is_some_and(|p| p < UNLIKELY));
    if let Some(change) = drifts {
        list.add(Caveat::Drift {
            phase: phase.phase.clone(),
            change_permille: permille(change),
        });
        // A drift correlates consecutive runs, so one caveat is enough.
        return;
    }
    let spread = phase.bandwidth.deviation.unwrap_or(0.0);
    if spread > WORTHWHILE_DRIFT / 2.0 * phase.bandwidth.mean {
        uncertain_mean(phase, found.lag1, list);
    }
}

fn permille(share: f64) -> i32 {
    (share * 1e3).round() as i32
}

fn outliers(phase: &PhaseSummary, list: &mut CaveatSet) {
    let (values, median) = (&phase.bandwidth.values, phase.bandwidth.median);
    let distance = |v: f64| ((v - median) / median).abs();
    let outliers = stats::outliers(values).into_iter();
    let far = outliers.filter(|o| o.far && distance(values[o.index]) > WORTHWHILE_OUTLIER);
    let count = far.count() as u32;
    if count > 0 {
        list.add(Caveat::Outliers {
            phase: phase.phase.clone(),
            count,
            runs: values.len() as u32,
        });
    }
}

/// Adds the conditions that make the interval of the mean too narrow.
fn uncertain_mean(phase: &PhaseSummary, lag1: Option<f64>, list: &mut CaveatSet) {
    let (name, runs) = (|| phase.phase.clone(), phase.bandwidth.values.len() as u32);
    let has = |caveat| phase.bandwidth.interval_caveats.contains(&caveat);
    if let Some(lag1) = lag1.filter(|_| has(IntervalCaveat::Dependent)) {
        list.add(Caveat::Dependent {
            phase: name(),
            lag1_permille: permille(lag1),
        });
    }
    if has(IntervalCaveat::TwoModes) {
        list.add(Caveat::TwoModes {
            phase: name(),
            runs,
        });
    } else if has(IntervalCaveat::Skewed) {
        list.add(Caveat::Skewed {
            phase: name(),
            runs,
        });
    }
}
