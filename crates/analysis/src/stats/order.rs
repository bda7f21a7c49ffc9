//! Statistics that depend on the order of values: drift and autocorrelation.

use super::describe::mean;
use super::distributions::two_sided_p;

/// Line fitted to values in order.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Drift {
    /// Change per value.
    pub slope: f64,
    /// Two-sided probability of a slope this steep if there is no trend.
    pub p: f64,
}

/// Fits a line to the values in order by least squares, and tests its slope by Student's t.
///
/// `None` for fewer than three values. Source: Gauss; Draper and Smith (1998), section 1.4.
pub(crate) fn drift(values: &[f64]) -> Option<Drift> {
    let n = values.len();
    let middle = mean(values)?;
    if n < 3 {
        return None;
    }
    let centre = (n - 1) as f64 / 2.0;
    let points = || (0..n).map(|i| (i as f64 - centre, values[i] - middle));
    let sxx: f64 = points().map(|(x, _)| x.powi(2)).sum();
    let sxy: f64 = points().map(|(x, y)| x * y).sum();
    let slope = sxy / sxx;
    let rest: f64 = points().map(|(x, y)| (y - slope * x).powi(2)).sum();
    let df = (n - 2) as f64;
    let error = (rest / df / sxx).sqrt();
    let floor = middle.abs() * super::NOISE_FLOOR;
    let p = if slope.abs() <= floor {
        1.0
    } else if error <= floor {
        0.0
    } else {
        two_sided_p(slope / error, df)
    };
    Some(Drift { slope, p })
}

/// Returns the correlation of each value with the next, in `[-1, 1]`; about -1/n for independent values.
///
/// `None` for fewer than three values, or if they do not vary. Source: Box and Jenkins (1976), the estimate r₁.
pub(crate) fn lag1(values: &[f64]) -> Option<f64> {
    let middle = mean(values)?;
    let spread: f64 = values.iter().map(|v| (v - middle).powi(2)).sum();
    let floor = values.len() as f64 * (middle * super::NOISE_FLOOR).powi(2);
    let neighbours: f64 = values
        .windows(2)
        .map(|w| (w[0] - middle) * (w[1] - middle))
        .sum();
    (values.len() >= 3 && spread > floor).then(|| neighbours / spread)
}

/// Whether consecutive values are more correlated than in nine of ten independent samples. The correlation is about
/// normal around -1/n with a standard deviation of 1/√n (Box and Jenkins 1976), slightly less for few values.
pub(crate) fn is_dependent(values: &[f64]) -> bool {
    let n = values.len() as f64;
    lag1(values).is_some_and(|r| r > 1.15 / n.sqrt() - 1.0 / n)
}

/// Minimum number of values to estimate the autocorrelation.
pub(crate) const FEWEST_DEPENDENT: usize = 5;

/// Maximum autocorrelation: beyond it, a sample counts as one value.
const MOST_ALIKE: f64 = 0.9;

/// Returns the effective number of independent values: n · (1 - ρ) / (1 + ρ), at least 1.5 and at most n.
///
/// ρ is [`lag1`], which is too small by about 1/n without correlation. This is corrected from [`super::FEW_VALUES`]
/// values on. With fewer, the noise of ρ would widen the intervals of independent values too much, so it is reduced by
/// 5/2n instead. Only a positive ρ counts: intervals are never narrowed. Fewer than [`FEWEST_DEPENDENT`] values count
/// as independent. Source: Bayley and Hammersley (1946), for a process of first order.
pub(crate) fn effective_runs(values: &[f64]) -> f64 {
    let n = values.len() as f64;
    let Some(r) = lag1(values).filter(|_| values.len() >= FEWEST_DEPENDENT) else {
        return n;
    };
    let r = if values.len() < super::FEW_VALUES {
        r * (1.0 - 2.5 / n)
    } else {
        r + 1.2 / n
    };
    let r = r.clamp(0.0, MOST_ALIKE);
    (n * (1.0 - r) / (1.0 + r)).max(1.5)
}

#[cfg(test)]
mod tests {
    use super::super::samples::{PLANT_CONTROL, close};
    use super::*;

    #[test]
    fn the_line_is_that_of_scipy() {
        // scipy.stats.linregress(range(10), ctl)
        let found = drift(&PLANT_CONTROL).unwrap();
        close(found.slope, 0.006_181_818_181_818_18, 1e-12);
        close(found.p, 0.929_856_735_511_212_4, 1e-9);
    }

    #[test]
    fn the_correlation_is_that_of_r() {
        // R: acf(ctl, plot = FALSE)$acf[2]
        close(
            lag1(&PLANT_CONTROL).unwrap(),
            -0.269_821_827_736_310_36,
            1e-12,
        );
    }

    #[test]
    fn alike_neighbors_count_for_fewer() {
        assert_eq!(effective_runs(&PLANT_CONTROL), 10.0);
        assert_eq!(
            effective_runs(&[1.0, 1.1, 1.2, 1.3]),
            4.0,
            "four are too few to tell"
        );
        let steps = [1.0, 1.0, 1.0, 1.0, 1.0, 2.0, 2.0, 2.0, 2.0, 2.0];
        assert!(effective_runs(&steps) < 3.5, "{}", effective_runs(&steps));
        assert_eq!(effective_runs(&[2.0; 6]), 6.0);
    }

    #[test]
    fn perfect_lines_and_flat_ones_are_certain() {
        assert_eq!(drift(&[1.0, 2.0, 3.0, 4.0]).unwrap().p, 0.0);
        assert_eq!(drift(&[2.0; 5]).unwrap().p, 1.0);
        assert_eq!((drift(&[1.0, 2.0]), lag1(&[2.0; 5])), (None, None));
        assert_eq!(lag1(&[1.0, 2.0]), None);
        assert_eq!(lag1(&[1.0, 2.0, 3.0]), Some(0.0));
    }
}
