//! What phases measure, for the rows of a rate card and the nouns of sentences.

use crate::{naming, number, text};
use hakaru_model::finding::{PhaseSummary, Summary, WorkloadShape};
use hakaru_model::job::Op;

/// A kind of workload with an established name, from its shape.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum WorkloadKind {
    Sequential,
    Random,
    /// Reads and writes in one job.
    Mixed,
    /// Every write is flushed to the medium.
    Durable,
    /// The longest of several sequential workloads, for the speed after a cache is full.
    Sustained,
}

/// The kind of a phase; `None` if the shape of its workload is unknown.
pub(crate) fn kind(summary: &Summary, phase: &PhaseSummary) -> Option<WorkloadKind> {
    let shape = phase.detail.shape.as_ref()?;
    let kind = plain_kind(shape);
    let like = |other: &&PhaseSummary| {
        let other_kind = other.detail.shape.as_ref().map(plain_kind);
        other.op == phase.op && other.phase != phase.phase && other_kind == Some(kind)
    };
    let mut others = summary.phases.iter().filter(like).peekable();
    let longest = phase.sustained.is_some()
        && others.peek().is_some()
        && others.all(|other| other.detail.measured < phase.detail.measured);
    match kind {
        WorkloadKind::Sequential if longest => Some(WorkloadKind::Sustained),
        kind => Some(kind),
    }
}

fn plain_kind(shape: &WorkloadShape) -> WorkloadKind {
    match shape {
        shape if shape.sync_every > 0 || shape.sync_open => WorkloadKind::Durable,
        shape if (1..100).contains(&shape.read_percent) => WorkloadKind::Mixed,
        shape if shape.random => WorkloadKind::Random,
        _ => WorkloadKind::Sequential,
    }
}

/// A phase as a noun of a sentence before it is unique.
#[derive(Clone, Debug)]
pub(crate) struct WorkloadName {
    pub(crate) kind: Option<WorkloadKind>,
    pub(crate) op: Op,
    pub(crate) shape: Option<WorkloadShape>,
    /// Display name of the phase, if nothing else is unique.
    pub(crate) label: String,
}

impl WorkloadName {
    pub(crate) fn of(summary: &Summary, phase: &PhaseSummary) -> WorkloadName {
        WorkloadName {
            kind: kind(summary, phase),
            op: phase.op,
            shape: phase.detail.shape,
            label: naming::phase(summary, phase),
        }
    }
}

/// A different plural noun for each phase: `random writes`, `random writes of 64 KiB`.
pub(crate) fn nouns(names: &[WorkloadName]) -> Vec<String> {
    let bare = |name: &WorkloadName| name.kind.map(|kind| text::workload(kind, name.op));
    let sized = |name: &WorkloadName| {
        let (noun, shape) = (bare(name)?, name.shape?);
        Some(text::workload_of_size(
            noun,
            &number::block_size(shape.block),
        ))
    };
    let once = |all: &[Option<String>], noun: &Option<String>| {
        noun.is_some() && all.iter().filter(|other| *other == noun).count() == 1
    };
    let all_bare: Vec<Option<String>> = names
        .iter()
        .map(|name| bare(name).map(str::to_owned))
        .collect();
    let all_sized: Vec<Option<String>> = names.iter().map(sized).collect();
    let chosen = names.iter().zip(all_bare.iter().zip(&all_sized));
    chosen
        .map(|(name, (bare, sized))| {
            match () {
                () if once(&all_bare, bare) => bare.clone(),
                () if once(&all_sized, sized) => sized.clone(),
                () => None,
            }
            .unwrap_or_else(|| name.label.clone())
        })
        .collect()
}

/// The nouns of the phases of a summary, in order.
pub(crate) fn nouns_of(summary: &Summary) -> Vec<String> {
    let names = summary.phases.iter();
    let names: Vec<WorkloadName> = names
        .map(|phase| WorkloadName::of(summary, phase))
        .collect();
    nouns(&names)
}

#[cfg(test)]
mod tests {
    use super::*;
    use hakaru_model::units::Bytes;

    #[test]
    fn a_noun_names_one_phase_only() {
        let name = |label: &str, random, block| WorkloadName {
            kind: Some(match random {
                true => WorkloadKind::Random,
                false => WorkloadKind::Sequential,
            }),
            op: Op::Write,
            shape: Some(WorkloadShape {
                random,
                block: Bytes(block),
                ..WorkloadShape::default()
            }),
            label: label.to_owned(),
        };
        let all = [
            name("seq", false, 1 << 20),
            name("small", true, 4096),
            name("large", true, 65536),
            name("deep", true, 65536),
        ];
        let wanted = [
            "sequential writes",
            "random writes of 4 KiB",
            "large",
            "deep",
        ];
        assert_eq!(nouns(&all), wanted);
    }
}
