//! The sentence about the cost of tracing.

use crate::support::{self, paths};
use hakaru_model::io_path::TraceCost;
use hakaru_report::{Language, path_terminal, with_language};

/// Regression: "Tracing cost 15.5 ± 46%" was printed as a figure.
#[test]
fn a_cost_within_a_wide_interval_is_not_measurable() {
    let shown = |mean: f64, margin: f64, language: Language| {
        let mut path = paths::vfat();
        path.cost = Some(TraceCost {
            mean,
            margin,
            pairs: 4,
        });
        let summary = paths::traced(support::sandisk(), vec![("durable", path)]);
        with_language(language, || path_terminal(&summary, 300, false))
    };
    for (mean, margin, known) in [
        (0.155, 0.46, false),
        (0.001, 0.031, false),
        (0.001, 0.03, true),
        (-0.01, 0.02, true),
        (0.2, 0.1, true),
    ] {
        let english = shown(mean, margin, Language::English);
        assert_eq!(english.contains("Tracing cost "), known, "{english}");
        assert_eq!(english.contains("not measurable in this run"), !known);
        let japanese = shown(mean, margin, Language::Japanese);
        assert_eq!(japanese.contains("測定不能"), !known, "{japanese}");
    }
    let unknown = shown(0.155, 0.46, Language::English);
    assert!(unknown.contains("95% interval -31 to 62%"), "{unknown}");
}
