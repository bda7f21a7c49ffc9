//! Comparison of rates of rare events.

use statrs::function::beta::beta_reg;

/// Returns the probability of at least `late.0` of all events in the later sample if the rate did not change.
///
/// A sample is a number of events and of trials. Events are taken as rare and independent: given their sum, those of the
/// later sample are binomial with its share of the trials. 1 without trials. Source: Przyborowski and Wilenski (1940).
pub(crate) fn increase_p(early: (u64, u64), late: (u64, u64)) -> f64 {
    if late.0 == 0 || early.1 == 0 || late.1 == 0 {
        return 1.0;
    }
    let share = late.1 as f64 / (early.1 as f64 + late.1 as f64);
    // P(X ≥ k) of n trials is I_p(k, n - k + 1) (Abramowitz and Stegun 26.5.24).
    beta_reg(late.0 as f64, early.0 as f64 + 1.0, share)
}

#[cfg(test)]
mod tests {
    use super::increase_p;
    use crate::stats::samples::close;

    #[test]
    fn increases_are_as_likely_as_the_binomial_says() {
        // (1/2)^5, and R: binom.test(2, 3, 0.5, "greater").
        close(increase_p((0, 1_000), (5, 1_000)), 1.0 / 32.0, 1e-12);
        close(increase_p((1, 1_000_000), (2, 1_000_000)), 0.5, 1e-12);
        // 2 of 2 events in a quarter of the trials.
        close(increase_p((0, 3_000), (2, 1_000)), 1.0 / 16.0, 1e-12);
        for nothing in [
            ((4, 1_000), (0, 1_000)),
            ((0, 0), (4, 1_000)),
            ((0, 0), (0, 0)),
        ] {
            close(increase_p(nothing.0, nothing.1), 1.0, 0.0);
        }
    }
}
