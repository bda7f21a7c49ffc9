//! Shrinks a set: removes parts as long as the same difference remains.

use super::SetOutcome;
use super::judge::Misfit;
use super::option_set::OptionSet;

/// The smallest set found whose most informative difference is that of the whole set.
pub(super) fn smallest(
    set: &OptionSet,
    misfits: &[Misfit],
    outcome: impl Fn(&OptionSet) -> SetOutcome,
) -> OptionSet {
    let Some(first) = misfits.first() else {
        return set.clone();
    };
    let still = |set: &OptionSet| matches!(outcome(set), SetOutcome::Differs(found) if found.first().is_some_and(|m| m.key == first.key));
    let mut best = set.clone();
    let mut at = 0;
    // The last parts are the least likely to matter; the parts common to all sets come first.
    while at < best.parts.len() {
        let mut fewer = best.clone();
        fewer.parts.remove(best.parts.len() - 1 - at);
        if still(&fewer) { best = fewer } else { at += 1 }
    }
    best
}
