//! Descriptive statistics of one sample: mean, median, quantiles, median absolute deviation.

/// Returns the arithmetic mean; `None` if empty, or if a value is not finite.
pub(crate) fn mean(values: &[f64]) -> Option<f64> {
    let sum: f64 = values.iter().sum();
    (!values.is_empty() && sum.is_finite()).then(|| sum / values.len() as f64)
}

/// Returns the values in ascending order; `None` if empty, or if a value is not finite.
pub(crate) fn sorted(values: &[f64]) -> Option<Vec<f64>> {
    if values.is_empty() || values.iter().any(|v| !v.is_finite()) {
        return None;
    }
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    Some(sorted)
}

/// Returns the quantile `share` (in `[0, 1]`) by linear interpolation between the order statistics at `1 + (n - 1) ·
/// share`.
///
/// Source: Hyndman and Fan (1996), type 7: the default of R, NumPy and most spreadsheets.
pub(crate) fn quantile(values: &[f64], share: f64) -> Option<f64> {
    sorted(values).map(|sorted| quantile_sorted(&sorted, share))
}

/// Returns the [`quantile`] of at least one value, in ascending order.
pub(crate) fn quantile_sorted(sorted: &[f64], share: f64) -> f64 {
    let last = sorted.len() - 1;
    let place = share.clamp(0.0, 1.0) * last as f64;
    let below = place.floor() as usize;
    let above = (below + 1).min(last);
    let part = place - below as f64;
    if part == 0.0 {
        sorted[below]
    } else {
        sorted[below] + part * (sorted[above] - sorted[below])
    }
}

/// Returns the middle value, or the mean of the two middle values.
pub fn median(values: &[f64]) -> Option<f64> {
    quantile(values, 0.5)
}

/// Returns the median absolute deviation from the median, unscaled: times 1.4826 it estimates the standard deviation of
/// a normal distribution (Hampel 1974).
pub fn mad(values: &[f64]) -> Option<f64> {
    let middle = median(values)?;
    median(
        &values
            .iter()
            .map(|v| (v - middle).abs())
            .collect::<Vec<_>>(),
    )
}

#[cfg(test)]
mod tests {
    use super::super::samples::{PLANT_CONTROL, close};
    use super::*;

    #[test]
    fn figures_of_the_plant_data_are_those_of_r() {
        // R: mean(ctl); quantile(ctl, c(.25, .5, .75, .9)); mad(ctl, constant = 1)
        close(mean(&PLANT_CONTROL).unwrap(), 5.032, 1e-12);
        for (share, want) in [(0.25, 4.55), (0.5, 5.155), (0.75, 5.2925), (0.9, 5.633)] {
            close(quantile(&PLANT_CONTROL, share).unwrap(), want, 1e-12);
        }
        close(mad(&PLANT_CONTROL).unwrap(), 0.485, 1e-12);
    }

    #[test]
    fn there_is_no_answer_without_numbers() {
        assert_eq!((mean(&[]), median(&[]), mad(&[])), (None, None, None));
        assert_eq!(median(&[1.0, f64::NAN]), None);
    }

    #[test]
    fn quantiles_reach_from_the_smallest_to_the_largest() {
        let values = [3.0, 1.0, 2.0];
        assert_eq!(
            (quantile(&values, 0.0), quantile(&values, 1.0)),
            (Some(1.0), Some(3.0))
        );
        assert_eq!(quantile(&[5.0], 0.37), Some(5.0));
    }
}
