//! Caveats of unstable runs, and of runs whose mean is uncertain.

use super::{CaveatSet, UNLIKELY, WORTHWHILE_DRIFT, WORTHWHILE_OUTLIER};
use crate::stats;
use hakaru_model::caveat::Caveat;
use hakaru_model::finding::{IntervalCaveat, PhaseSummary};

pub(super) fn of_phase(phase: &PhaseSummary, list: &mut CaveatSet) {
    let Some(found) = &phase.detail.stability else {
        return;
    };
    let values = &phase.bandwidth.values;
    let runs = values.len() as u32;
    let distance = |v: f64| ((v - phase.bandwidth.median) / phase.bandwidth.median).abs();
    let far = stats::outliers(values)
        .iter()
        .filter(|o| o.far && distance(values[o.index]) > WORTHWHILE_OUTLIER)
        .count();
    if far > 0 {
        list.add(Caveat::Outliers {
            phase: phase.phase.clone(),
            count: far as u32,
            runs,
        });
    }
    let permille = |share: f64| (share * 1e3).round() as i32;
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
    if spread <= WORTHWHILE_DRIFT / 2.0 * phase.bandwidth.mean {
        return;
    }
    let shape = &phase.bandwidth.interval_caveats;
    if let Some(lag1) = found
        .lag1
        .filter(|_| shape.contains(&IntervalCaveat::Dependent))
    {
        list.add(Caveat::Dependent {
            phase: phase.phase.clone(),
            lag1_permille: permille(lag1),
        });
    }
    if shape.contains(&IntervalCaveat::TwoModes) {
        list.add(Caveat::TwoModes {
            phase: phase.phase.clone(),
            runs,
        });
    } else if shape.contains(&IntervalCaveat::Skewed) {
        list.add(Caveat::Skewed {
            phase: phase.phase.clone(),
            runs,
        });
    }
}
