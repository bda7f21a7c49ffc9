//! The recheck of the first card, which shows drift of the host.

use super::super::measurements::{CardMeasurements, LayerMeasurements};
use hakaru_model::campaign::{Recheck, Weakness};
use hakaru_model::finding::{Comparison, Verdict};
use hakaru_model::method::{MethodTitle, RecheckMethod};
use hakaru_report::text;

/// Compares the recheck of a card with its first measurement, one entry for each layer.
pub(super) fn compare(cards: &[CardMeasurements], again: &CardMeasurements) -> Vec<Recheck> {
    let is_first = |card: &&CardMeasurements| card.host == again.host && card.key == again.key;
    let Some(first) = cards.iter().find(is_first) else {
        return Vec::new();
    };
    let of_layer = |second: &LayerMeasurements| {
        let before = first.layers.iter().find(|of| of.layer == second.layer)?;
        let pair = (second.layer.as_str(), &before.summary, &second.summary);
        let costs = hakaru_analysis::layer_costs(&[pair]).pop()?;
        Some(Recheck {
            card: first.name.clone(),
            layer: second.layer.clone(),
            runs: second.summary.runs.len() as u64,
            comparisons: costs.into_iter().map(|cost| cost.comparison).collect(),
        })
    };
    again.layers.iter().filter_map(of_layer).collect()
}

/// Returns the drift of the host that a recheck shows or cannot exclude; `None` if all figures are equal.
pub(super) fn drift(recheck: &Recheck) -> Option<Weakness> {
    let (card, layer) = (recheck.card.clone(), recheck.layer.clone());
    let comparisons = recheck.comparisons.iter();
    let different = comparisons
        .clone()
        .filter(|c| c.verdict == Verdict::Different);
    let phases: Vec<String> = different.map(ratio_words).collect();
    if !phases.is_empty() {
        return Some(Weakness::Drifted {
            card,
            layer,
            phases,
        });
    }
    let undecided = comparisons.filter(|c| matches!(c.verdict, Verdict::Undecided { .. }));
    let undecided = undecided.count() as u64;
    (undecided > 0).then_some(Weakness::DriftUndecided {
        card,
        layer,
        undecided,
        of: recheck.comparisons.len() as u64,
    })
}

/// Formats a ratio: `seq-write 0.97x [0.96, 0.98]`.
fn ratio_words(comparison: &Comparison) -> String {
    let interval = comparison
        .ratio_ci95
        .map(|(low, high)| format!(" [{low:.3}, {high:.3}]"))
        .unwrap_or_default();
    format!("{} {:.3}x{interval}", comparison.quantity, comparison.ratio)
}

/// Describes a recheck for the section on methods.
pub(super) fn words(recheck: &Recheck) -> (String, String) {
    let Recheck {
        card,
        layer,
        runs,
        comparisons,
    } = recheck;
    let same = comparisons.iter().all(|c| c.verdict == Verdict::Equivalent);
    let ratios: Vec<String> = comparisons.iter().map(ratio_words).collect();
    let method = RecheckMethod {
        card,
        layer,
        runs: *runs,
        same: same && !comparisons.is_empty(),
    };
    let title = text::method_head(MethodTitle::Recheck);
    (title, text::recheck_method(&method, &ratios))
}
