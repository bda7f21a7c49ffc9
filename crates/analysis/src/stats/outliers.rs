//! Outliers: flagged, never dropped.

use super::describe::{quantile_sorted, sorted};

/// Value outside Tukey's fences.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Outlier {
    /// Index of the value.
    pub index: usize,
    /// Whether it is also outside the outer fences.
    pub far: bool,
}

/// Minimum number of values: with fewer, the quartiles are the values themselves.
pub(crate) const FEWEST: usize = 5;

/// Flags values outside Tukey's fences.
///
/// ```text
///      outer          inner     Q1   Q3     inner          outer
/// far  |   outside    |         [====]      |    outside   |  far
///      <- 3 · IQR --------------->  <--------------- 3 · IQR ->
/// ```
/// In about a quarter of all clean normal samples of ten values, one value is outside the inner fences, 1.5
/// interquartile ranges from the quartiles: a note. In about one sample of twenty, one is outside the outer fences, 3
/// ranges away: a warning. Source: Tukey (1977); quartiles by [`super::quantile`]. Empty for fewer than five values.
pub(crate) fn outliers(values: &[f64]) -> Vec<Outlier> {
    let Some(sorted) = sorted(values).filter(|s| s.len() >= FEWEST) else {
        return Vec::new();
    };
    let (q1, q3) = (
        quantile_sorted(&sorted, 0.25),
        quantile_sorted(&sorted, 0.75),
    );
    let range = q3 - q1;
    let outside = |v: f64, k: f64| v < q1 - k * range || v > q3 + k * range;
    values
        .iter()
        .enumerate()
        .filter(|&(_, &v)| outside(v, 1.5))
        .map(|(index, &v)| Outlier {
            index,
            far: outside(v, 3.0),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fences_are_where_tukey_puts_them() {
        // Quartiles 2 and 4, range 2: inner fences -1 and 7, outer -4 and 10.
        let values = [1.0, 2.0, 3.0, 4.0, 9.0];
        assert_eq!(
            outliers(&values),
            [Outlier {
                index: 4,
                far: false
            }]
        );
        assert_eq!(
            outliers(&[1.0, 2.0, 3.0, 4.0, 11.0]),
            [Outlier {
                index: 4,
                far: true
            }]
        );
        assert_eq!(outliers(&[1.0, 2.0, 3.0, 4.0, 7.0]), []);
        assert_eq!(outliers(&[1.0, 2.0, 3.0, 99.0]), []);
    }

    #[test]
    fn the_rates_of_false_flags_are_as_documented() {
        let mut rng = hakaru_model::rng::Rng::new(11);
        let (mut any, mut far) = (0, 0);
        for _ in 0..4_000 {
            let values: Vec<f64> = (0..10).map(|_| crate::testing::normal(&mut rng)).collect();
            let found = outliers(&values);
            any += u32::from(!found.is_empty());
            far += u32::from(found.iter().any(|o| o.far));
        }
        assert!(
            (800..1_400).contains(&any) && (120..240).contains(&far),
            "{any} {far}"
        );
    }
}
