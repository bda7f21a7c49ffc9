//! All findings of a summary in one call.

use crate::{advise, bus_limit, claims};
use hakaru_model::advice::{RunFindings, UseRule};
use hakaru_model::finding::Summary;

/// Evaluates the rules, the claims in the card's registers, and the bottleneck. Comparison with
/// reference results needs a set of them: see [`standings`](crate::standings).
pub fn findings(summary: &Summary, rules: &[UseRule]) -> RunFindings {
    RunFindings {
        advice: advise(summary, rules),
        claims: claims(summary, &summary.target),
        limits: bus_limit(&[summary]),
        standings: Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::default_rules;
    use crate::testing::suite;

    #[test]
    fn a_measured_card_has_advice_and_limits() {
        let found = findings(&suite(5), &default_rules());
        assert_eq!(
            (found.advice.len(), found.limits.len(), found.is_empty()),
            (7, 2, false)
        );
        assert!(findings(&crate::summarize(&[]), &default_rules()).is_empty());
    }
}
