//! Multiple testing: Bonferroni's correction for tests and intervals.

/// Adjusts the p-value of a test for the number of tests in its family, so that the probability of any false alarm is at
/// most the significance level, for any dependence. The result is at least the original value and at most 1.
///
/// A step-down correction such as Holm's rejects more, but has no intervals of the usual form. With Bonferroni's, the
/// interval at [`simultaneous_level`] excludes a value exactly if the adjusted test rejects it. Source: Dunn (1961);
/// the same as `p.adjust(p, "bonferroni")` in R.
pub(crate) fn bonferroni(p: f64, family: usize) -> f64 {
    (p * family as f64).min(1.0)
}

/// Returns the level of each of `family` intervals that all cover at once with probability `level`. Source: Dunn
/// (1961).
pub(crate) fn simultaneous_level(level: f64, family: usize) -> f64 {
    1.0 - (1.0 - level) / family.max(1) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bonferroni_is_that_of_r() {
        // R: p.adjust(c(0.01, 0.04, 0.03, 0.005), "bonferroni") is 0.04 0.16 0.12 0.02
        for (p, want) in [(0.01, 0.04), (0.04, 0.16), (0.03, 0.12), (0.005, 0.02)] {
            let adjusted = bonferroni(p, 4);
            assert!((adjusted - want).abs() < 1e-12, "{adjusted}");
        }
        assert_eq!(bonferroni(0.8, 2), 1.0);
        assert_eq!(
            (simultaneous_level(0.95, 1), simultaneous_level(0.95, 0)),
            (0.95, 0.95)
        );
        assert!((simultaneous_level(0.95, 10) - 0.995).abs() < 1e-12);
    }
}
