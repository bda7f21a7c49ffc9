//! Checks for conditions that make an interval by Student's t too narrow: few values, skew, two modes, autocorrelation.
//!
//! Each check is a rule of thumb that flags 1 to 10% of clean normal samples. A false flag costs a reader little; an
//! unflagged interval that is too narrow leads to a wrong conclusion.

use super::FEW_VALUES;
use super::describe::{mean, sorted};
use super::order::{FEWEST_DEPENDENT, is_dependent};

/// Minimum number of values to check for skew and two modes.
const FEWEST_CHECKED: usize = 8;

/// Flags of a sample.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Shape {
    /// There are fewer than [`FEW_VALUES`] values.
    pub few: bool,
    /// Consecutive values are correlated.
    pub dependent: bool,
    /// The distribution has a long tail on one side.
    pub skewed: bool,
    /// The values fall into two groups.
    pub two_modes: bool,
}

/// Checks a sample; the order of the values matters.
///
/// ```text
/// dependent   lag-1 correlation over 1.15/√n - 1/n (90th percentile of independent values)
/// skewed      |skewness| over 1.96 · √(6(n-2)/((n+1)(n+3))) (its standard error: Fisher 1930)
/// two modes   the best split into two explains more than 0.64 + 0.86/√n of the variance (99th percentile of a normal
///             sample; 2/π for many values: Cox 1957)
/// ```
pub(crate) fn shape(values: &[f64]) -> Shape {
    let few = values.len() < FEW_VALUES;
    let dependent = values.len() >= FEWEST_DEPENDENT && is_dependent(values);
    if values.len() < FEWEST_CHECKED {
        return Shape {
            few,
            dependent,
            ..Shape::default()
        };
    }
    let n = values.len() as f64;
    let skew_limit = 1.96 * (6.0 * (n - 2.0) / ((n + 1.0) * (n + 3.0))).sqrt();
    Shape {
        few,
        dependent,
        skewed: skewness(values).is_some_and(|skew| skew.abs() > skew_limit),
        two_modes: explained_by_two(values).is_some_and(|share| share > 0.64 + 0.86 / n.sqrt()),
    }
}

/// Returns the skewness: the third central moment in units of the deviation (divisor n); `None` if the values do not
/// vary.
pub(crate) fn skewness(values: &[f64]) -> Option<f64> {
    let middle = mean(values)?;
    let moment =
        |k: i32| values.iter().map(|v| (v - middle).powi(k)).sum::<f64>() / values.len() as f64;
    let deviation = moment(2).sqrt();
    (deviation > middle.abs() * super::NOISE_FLOOR).then(|| moment(3) / deviation.powi(3))
}

/// Returns the largest fraction of the variance that a split into two groups, of two or more values each, explains.
fn explained_by_two(values: &[f64]) -> Option<f64> {
    let sorted = sorted(values)?;
    let n = sorted.len();
    let total: f64 = sorted.iter().sum();
    let middle = total / n as f64;
    let variance: f64 = sorted.iter().map(|v| (v - middle).powi(2)).sum();
    if n < 4 || variance <= n as f64 * (middle * super::NOISE_FLOOR).powi(2) {
        return None;
    }
    let mut below = sorted[0];
    let mut most: f64 = 0.0;
    for (k, value) in sorted.iter().enumerate().take(n - 2).skip(1) {
        below += value;
        let (few, rest) = ((k + 1) as f64, (n - k - 1) as f64);
        most = most.max((below - few * middle).powi(2) * (1.0 / few + 1.0 / rest));
    }
    Some(most / variance)
}

#[cfg(test)]
mod tests {
    use super::super::samples::{PLANT_CONTROL, SKEWED, close};
    use super::*;
    use crate::testing::normal;
    use hakaru_model::rng::Rng;

    #[test]
    fn skewness_is_that_of_scipy() {
        // scipy.stats.skew(SKEWED), scipy.stats.skew(ctl)
        close(skewness(&SKEWED).unwrap(), 1.564_540_103_496_472_3, 1e-9);
        close(
            skewness(&PLANT_CONTROL).unwrap(),
            0.270_669_864_809_088_83,
            1e-9,
        );
        assert_eq!(skewness(&[2.0; 9]), None);
    }

    #[test]
    fn each_shape_is_known_by_its_name() {
        let two: Vec<f64> = (0..10)
            .map(|i| if i * 7 % 10 < 4 { 80.0 } else { 100.0 } + f64::from(i % 3))
            .collect();
        assert!(
            shape(&two).two_modes && !shape(&two).skewed,
            "{:?}",
            shape(&two)
        );
        assert!(shape(&SKEWED).skewed);
        let slope: Vec<f64> = (0..10).map(f64::from).collect();
        assert!(shape(&slope).dependent);
        assert_eq!(
            shape(&SKEWED[..4]),
            Shape {
                few: true,
                ..Shape::default()
            }
        );
        assert_eq!(
            (shape(&[3.0; 12]).few, shape(&[3.0; 20])),
            (true, Shape::default())
        );
    }

    #[test]
    fn clean_samples_are_seldom_flagged() {
        let mut rng = Rng::new(3);
        for n in [8, 10, 20, 40] {
            let mut flags = [0; 3];
            for _ in 0..4_000 {
                let values: Vec<f64> = (0..n).map(|_| normal(&mut rng)).collect();
                let found = shape(&values);
                for (count, flag) in
                    flags
                        .iter_mut()
                        .zip([found.dependent, found.skewed, found.two_modes])
                {
                    *count += u32::from(flag);
                }
            }
            assert!(
                flags[0] < 560 && flags[1] < 280 && flags[2] < 80,
                "n = {n}: {flags:?} of 4000"
            );
        }
    }
}
