//! Findings of all cards and layers of a campaign, merged by type, because each card has its own values.

use crate::escape::plain;
use crate::naming::distinct;
use crate::{facts, text};
use hakaru_model::finding::{Finding, Summary};

/// Maximum number of names in a list; more are only counted.
const NAMES: usize = 4;

/// Merges the findings of these cards and layers. Each finding is listed once with the names it concerns; the names
/// are empty if it concerns all.
pub(crate) fn findings(subjects: &[(String, &Summary)]) -> Vec<(String, String)> {
    let found = subjects.iter().flat_map(|(name, summary)| {
        facts::findings(summary)
            .into_iter()
            .map(|finding| finding.about(name))
    });
    let phases = distinct(
        subjects
            .iter()
            .flat_map(|(_, summary)| &summary.phases)
            .map(|phase| phase.phase.as_str()),
    );
    let said = |finding: &Finding| plain(&text::finding(finding, &phases));
    Finding::merge_all(found)
        .iter()
        .map(|finding| (lead(finding, subjects), said(finding)))
        .collect()
}

/// The cards and layers that a finding concerns, in the order of the campaign.
fn lead(finding: &Finding, subjects: &[(String, &Summary)]) -> String {
    let concerned: Vec<&str> = subjects
        .iter()
        .map(|(name, _)| name.as_str())
        .filter(|name| finding.scope.subjects.contains(*name))
        .collect();
    match concerned.len() {
        n if n == subjects.len() => String::new(),
        n if n > NAMES => text::some_of(n, subjects.len()),
        _ => concerned.join("; "),
    }
}
