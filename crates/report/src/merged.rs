//! Findings of all cards and layers of a campaign, merged by type: of many cards each has its own load and its own count.

use crate::escape::plain;
use crate::{facts, text};
use hakaru_model::finding::{Finding, Summary};

/// More names than these are counted.
const NAMES: usize = 4;

/// What was found in these cards and layers: each finding once, with what it concerns in front of it; empty where that is
/// all of them.
pub(crate) fn findings(subjects: &[(String, &Summary)]) -> Vec<(String, String)> {
    let found = subjects.iter().flat_map(|(name, summary)| {
        facts::findings(summary)
            .into_iter()
            .map(|finding| finding.about(name))
    });
    let mut phases: Vec<&str> = Vec::new();
    for phase in subjects
        .iter()
        .flat_map(|(_, summary)| facts::phases(summary))
    {
        if !phases.contains(&phase) {
            phases.push(phase);
        }
    }
    let said = |finding: &Finding| plain(&text::finding(finding, &phases));
    Finding::merge_all(found)
        .iter()
        .map(|finding| (lead(finding, subjects), said(finding)))
        .collect()
}

/// The cards and layers of a finding in the order of the campaign.
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
