//! Unique display names of series, phases and layers.

use crate::escape::plain;
use crate::{text, time, workload};
use hakaru_model::caveat::Caveat;
use hakaru_model::finding::{PhaseSummary, Summary};
use std::collections::BTreeMap;

/// The layer between the application and the device: the type of the file system, or `raw`.
pub(crate) fn layer(summary: &Summary) -> String {
    summary.target.layer().map_or_else(String::new, plain)
}

/// The target with its layer: `SanDisk SD32G, ext4`.
pub(crate) fn target(summary: &Summary) -> String {
    let name = plain(&summary.target.display_name());
    let layer = layer(summary);
    if layer.is_empty() {
        name
    } else {
        format!("{name}, {layer}")
    }
}

/// The target without its serial number.
pub(crate) fn thing(summary: &Summary) -> String {
    let target = &summary.target;
    let model = target
        .device
        .known()
        .and_then(|device| device.model.known());
    plain(&match (&target.label, model) {
        (Some(label), _) => label.clone(),
        (None, Some(model)) => model.clone(),
        (None, None) => target.display_name(),
    })
}

fn serial(summary: &Summary) -> String {
    let known = summary
        .target
        .device
        .known()
        .and_then(|device| device.serial.known());
    known.map_or_else(String::new, |serial| plain(serial))
}

/// Properties that may distinguish series; short and distinctive ones come first.
const PARTS: [fn(&Summary) -> String; 7] = [
    thing,
    layer,
    serial,
    |s| plain(&s.environment.hostname),
    |s| plain(&s.scenario),
    |s| plain(&s.target.path.display().to_string()),
    |s| time::utc(s.started_unix_ms),
];

/// One name for each series, in order, from the properties that differ: `ext4` and `vfat` if both ran on the same
/// card. Series without any difference are numbered.
pub(crate) fn series(summaries: &[Summary]) -> Vec<String> {
    if let [single] = summaries {
        return vec![target(single)];
    }
    let mut names = vec![String::new(); summaries.len()];
    for part in PARTS {
        let longer: Vec<String> = names
            .iter()
            .zip(summaries)
            .map(|(name, s)| joined(name, &part(s)))
            .collect();
        if kinds(&longer) > kinds(&names) {
            names = longer;
        }
    }
    numbered(names)
}

/// Appends a number to names that occur more than once.
pub(crate) fn numbered(names: Vec<String>) -> Vec<String> {
    let mut groups: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for (i, name) in names.iter().enumerate() {
        groups.entry(name).or_default().push(i);
    }
    let mut numbered = names.clone();
    for (name, group) in groups
        .iter()
        .filter(|(name, group)| group.len() > 1 || name.is_empty())
    {
        for (nth, &i) in group.iter().enumerate() {
            numbered[i] = joined(name, &text::nth_series(nth + 1));
        }
    }
    numbered
}

fn joined(name: &str, more: &str) -> String {
    match (name.is_empty(), more.is_empty()) {
        (true, _) => more.to_owned(),
        (_, true) => name.to_owned(),
        _ => format!("{name}, {more}"),
    }
}

/// The items without repetitions, in order of first appearance.
pub(crate) fn distinct<T: PartialEq>(items: impl IntoIterator<Item = T>) -> Vec<T> {
    let mut found = Vec::new();
    for item in items {
        if !found.contains(&item) {
            found.push(item);
        }
    }
    found
}

/// Number of different names.
fn kinds(names: &[String]) -> usize {
    names
        .iter()
        .collect::<std::collections::BTreeSet<_>>()
        .len()
}

/// The common target of all series, if there is only one.
pub(crate) fn common(summaries: &[Summary]) -> Option<String> {
    let (first, more) = summaries.split_first()?;
    let name = thing(first);
    more.iter()
        .all(|other| thing(other) == name)
        .then_some(name)
}

/// How a phase is called.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PhaseName {
    /// In file names of charts, in every language.
    pub(crate) id: String,
    /// In texts.
    pub(crate) label: String,
}

/// Display name of a phase: the workload in words if it is one of hakaru's own or the report describes the jobs of the
/// user, otherwise the name that the user gave.
pub(crate) fn phase(summary: &Summary, phase: &PhaseSummary) -> String {
    let own = workload::of_phase(phase);
    let own = own.or_else(|| workload::words_of_job(&phase.phase, Some(phase.op)));
    own.map_or_else(|| phase_id(summary, phase), |words| text::capital(&words))
}

/// A workload or phase on a terminal: in words if it is one of hakaru's own, otherwise the name that the user gave.
pub fn workload_words(name: &str) -> String {
    let own = workload::in_words(name, None);
    own.map_or_else(|| plain(name), |words| text::capital(&words))
}

/// Names of phases that are those of hakaru's own workloads, but were given to other ones.
pub fn foreign_workloads(summary: &Summary) -> Vec<&str> {
    let phases = summary.phases.iter();
    let foreign = phases.filter(|phase| workload::is_foreign(phase));
    distinct(foreign.map(|phase| phase.phase.as_str()))
}

/// A caveat of a series as a sentence, with its phase as a prefix.
pub fn caveat_of(summary: &Summary, caveat: &Caveat) -> String {
    workload::with_workloads_of([summary], || text::caveat(caveat))
}

/// Name of a phase in file names and on the command line, with its operation if the name does not imply it or if it has
/// several.
pub(crate) fn phase_id(summary: &Summary, phase: &PhaseSummary) -> String {
    let name = plain(&phase.phase);
    let several = summary
        .phases
        .iter()
        .filter(|other| other.phase == phase.phase)
        .count()
        > 1;
    if several || !name.to_ascii_lowercase().contains(phase.op.name()) {
        format!("{name} ({})", phase.op.name())
    } else {
        name
    }
}

/// All phases of the series, each once, in order of first appearance, with their names.
pub(crate) fn phases(summaries: &[Summary]) -> Vec<(PhaseName, Vec<Option<&PhaseSummary>>)> {
    let mut all: Vec<(PhaseName, Vec<Option<&PhaseSummary>>)> = Vec::new();
    for (column, summary) in summaries.iter().enumerate() {
        for of in &summary.phases {
            let name = PhaseName {
                id: phase_id(summary, of),
                label: phase(summary, of),
            };
            let row = match all
                .iter()
                .position(|(known, cells)| *known == name && cells[column].is_none())
            {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_separate_equal_names() {
        let names = ["a", "b", "a", ""].map(str::to_owned).to_vec();
        assert_eq!(
            numbered(names),
            ["a, series 1", "b", "a, series 2", "series 1"]
        );
    }
}
