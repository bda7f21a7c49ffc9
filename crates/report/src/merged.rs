//! Findings of all cards and layers of a campaign, merged by type, because each card has its own values.

use crate::escape::plain;
use crate::naming::distinct;
use crate::{facts, text};
use hakaru_model::finding::{Finding, FindingKind, Summary};
use hakaru_model::severity::{Impact, Severity};
use std::cmp::Reverse;

/// Maximum number of names in a list; more are only counted.
const NAMES: usize = 4;

/// A caveat with its rank among others.
pub(crate) struct RankedCaveat {
    pub(crate) severity: Severity,
    pub(crate) impact: Impact,
    /// The names it concerns; empty if it concerns all.
    pub(crate) lead: String,
    pub(crate) text: String,
}

/// Sorts caveats: invalid figures first, then biased ones, misleading comparisons, and a lack of precision.
pub(crate) fn rank(mut all: Vec<RankedCaveat>) -> Vec<(String, String)> {
    all.sort_by_key(|of| (Reverse(of.severity), of.impact));
    let caveats = all.into_iter().map(|of| (of.lead, of.text));
    caveats.collect()
}

/// The caveats of [`ranked`] in order, as labels and sentences.
pub(crate) fn findings(subjects: &[(String, &Summary)]) -> Vec<(String, String)> {
    rank(ranked(subjects, |_| true))
}

/// Merges the findings of these cards and layers that are to be shown. Each finding is listed once with the names it
/// concerns.
pub(crate) fn ranked(
    subjects: &[(String, &Summary)],
    is_shown: impl Fn(&FindingKind) -> bool,
) -> Vec<RankedCaveat> {
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
        .filter(|finding| is_shown(&finding.kind))
        .map(|finding| RankedCaveat {
            severity: finding.severity,
            impact: impact(&finding.kind),
            lead: lead(finding, subjects),
            text: said(finding),
        })
        .collect()
}

/// What a weakness does to the figures. A run of seconds says as little about the error of a figure as a single run.
fn impact(kind: &FindingKind) -> Impact {
    match kind {
        FindingKind::Short { .. } => Impact::Bias,
        kind => kind.impact(),
    }
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
