//! What to call series, phases and layers on the page, so that no two things have one name.

use crate::text::plain;
use crate::time;
use hakaru_model::facts::TargetKind;
use hakaru_model::finding::{PhaseSummary, Summary};
use std::collections::BTreeMap;

/// What lies between the application and the device: the type of the file system, or `raw`.
pub(crate) fn layer(summary: &Summary) -> String {
    match (&summary.target.filesystem, summary.target.kind) {
        (Some(filesystem), _) => plain(&filesystem.fs_type),
        (None, TargetKind::BlockDevice) => "raw".to_owned(),
        (None, _) => String::new(),
    }
}

/// The thing under test with its layer: `SanDisk SD32G, ext4`.
pub(crate) fn target(summary: &Summary) -> String {
    let name = plain(&summary.target.display_name());
    let layer = layer(summary);
    if layer.is_empty() { name } else { format!("{name}, {layer}") }
}

/// One name for each series, in their order: target and layer, and where that is not enough the scenario, the moment,
/// and at last a number.
pub(crate) fn series(summaries: &[Summary]) -> Vec<String> {
    let more: [fn(&Summary) -> String; 3] =
        [|s| plain(&s.scenario), |s| plain(&s.target.path.display().to_string()), |s| time::utc(s.started_unix_ms)];
    let mut names: Vec<String> = summaries.iter().map(target).collect();
    for detail in more {
        for group in doubles(&names) {
            let details: Vec<String> = group.iter().map(|&i| detail(&summaries[i])).collect();
            // What they have in common does not tell them apart.
            if details.iter().any(|d| *d != details[0]) {
                group.iter().zip(details).for_each(|(&i, detail)| names[i] = format!("{}, {detail}", names[i]));
            }
        }
    }
    for group in doubles(&names) {
        group.iter().zip(1..).for_each(|(&i, nth)| names[i] = format!("{} ({nth})", names[i]));
    }
    names
}

/// Indices of names that are not the only one of their kind, kind by kind.
fn doubles(names: &[String]) -> Vec<Vec<usize>> {
    let mut groups: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for (i, name) in names.iter().enumerate() {
        groups.entry(name).or_default().push(i);
    }
    groups.into_values().filter(|group| group.len() > 1).collect()
}

/// A phase with its operation where that is not clear from its name or where it has several.
pub(crate) fn phase(summary: &Summary, phase: &PhaseSummary) -> String {
    let name = plain(&phase.phase);
    let several = summary.phases.iter().filter(|other| other.phase == phase.phase).count() > 1;
    if several || !name.to_ascii_lowercase().contains(phase.op.name()) {
        format!("{name} ({})", phase.op.name())
    } else {
        name
    }
}

/// Every phase that any of the series has, once each, in order of first appearance, with its name.
pub(crate) fn phases(summaries: &[Summary]) -> Vec<(String, Vec<Option<&PhaseSummary>>)> {
    let mut all: Vec<(String, Vec<Option<&PhaseSummary>>)> = Vec::new();
    for (column, summary) in summaries.iter().enumerate() {
        for of in &summary.phases {
            let name = phase(summary, of);
            let row = match all.iter().position(|(known, cells)| *known == name && cells[column].is_none()) {
                Some(row) => row,
                None => {
                    all.push((name, vec![None; summaries.len()]));
                    all.len() - 1
                }
            };
            all[row].1[column] = Some(of);
        }
    }
    all
}
