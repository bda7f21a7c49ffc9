//! Comparison of measured figures with comparable reference results.
//!
//! Only equal workloads are compared: the same operation, block size, order, queue depth, workers and flushes, through
//! the same layer. Small blocks are compared by IOPS, large ones by bandwidth. Two figures differ if their distance
//! exceeds the sum of their standard deviations. A single run without a deviation is used as it is, and the number of
//! runs is shown.

use hakaru_model::facts::TargetKind;
use hakaru_model::finding::{Estimate, HeadlineRate, PhaseSummary, Summary, WorkloadShape};
use hakaru_model::job::Op;
use hakaru_model::references::{
    Level, NamedFigure, ReferenceEntry, ReferenceSet, ReferenceSource, ReferenceStanding,
};
use hakaru_model::units::Bytes;
use std::cmp::Ordering;
use std::collections::BTreeSet;

/// Published tables, as printed.
const PUBLISHED: &str = include_str!(concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../../testdata/published/figures.csv"
));

/// Sources of the published tables: ID, title, notes.
const SOURCES: [(&str, &str, &str); 4] = [
    (
        "A",
        "six microSD cards of 32 GB on a Raspberry Pi 4",
        "printed as MB/s and KB/s, but MiB/s and KiB/s according to the IOPS",
    ),
    (
        "B",
        "ext4 against F2FS on a Raspberry Pi 3",
        "a card in a USB reader",
    ),
    (
        "C",
        "a microSD card against a SATA SSD on a Raspberry Pi 5",
        "one run each",
    ),
    (
        "D",
        "a 1-bit against a 4-bit bus on a Raspberry Pi",
        "one run each, through the page cache of a small host",
    ),
];

/// Workload of the published tables: name, operation, block size, random, read percentage, workers, writes per flush.
type PublishedPhase = (&'static str, Op, u64, bool, u32, u32, u32);

const KIB: u64 = 1 << 10;
const MIB: u64 = 1 << 20;

const WORKLOADS: [PublishedPhase; 10] = [
    ("seq-write-1M", Op::Write, MIB, false, 0, 1, 0),
    ("seq-read-1M", Op::Read, MIB, false, 100, 1, 0),
    ("rand-write-4k", Op::Write, 4 * KIB, true, 0, 1, 0),
    ("rand-read-4k", Op::Read, 4 * KIB, true, 100, 1, 0),
    ("rand-write-4k-16jobs", Op::Write, 4 * KIB, true, 0, 16, 0),
    ("seq-write-4k", Op::Write, 4 * KIB, false, 0, 1, 0),
    ("seq-rw-1M-read", Op::Read, MIB, false, 50, 1, 0),
    ("seq-rw-1M-write", Op::Write, MIB, false, 50, 1, 0),
    ("fsync-write-4k", Op::Write, 4 * KIB, false, 0, 1, 1),
    ("sustained-write-1M", Op::Write, MIB, false, 0, 1, 0),
];

/// Returns the built-in reference results: the tables of four published experiments, with each figure as printed.
pub fn published_references() -> ReferenceSet {
    let source = |(id, title, note): &(&str, &str, &str)| ReferenceSource {
        id: (*id).to_owned(),
        title: (*title).to_owned(),
        note: (*note).to_owned(),
    };
    ReferenceSet {
        sources: SOURCES.iter().map(source).collect(),
        entries: PUBLISHED
            .lines()
            .skip(1)
            .filter_map(published_row)
            .collect(),
    }
}

/// Parses a line `article,host,card,layer,workload,runs,bw_mean,bw_stdev,bw_unit,iops_mean,iops_stdev`.
fn published_row(line: &str) -> Option<ReferenceEntry> {
    let cells: Vec<&str> = line.split(',').collect();
    let [source, host, card, layer, workload, runs, bandwidth, iops] =
        [0, 1, 2, 3, 4, 5, 6, 9].map(|column| cells.get(column).copied().unwrap_or_default());
    // The first source writes decimal prefixes for binary units, as its note says.
    let unit = match *cells.get(8)? {
        "MB/s" | "MiB/s" => MIB as f64,
        "KB/s" | "KiB/s" => KIB as f64,
        "kB/s" => 1e3,
        _ => return None,
    };
    let level = |mean: &str, deviation: usize, unit: f64| {
        let deviation = cells.get(deviation)?.parse::<f64>().ok();
        Some(Level {
            mean: mean.parse::<f64>().ok()? * unit,
            deviation: deviation.map(|d| d * unit),
        })
    };
    let (op, shape) = published_workload(workload)?;
    Some(ReferenceEntry {
        source: source.to_owned(),
        host: host.to_owned(),
        card: card.to_owned(),
        layer: layer.to_owned(),
        workload: workload.to_owned(),
        op,
        shape,
        runs: runs.parse().ok()?,
        bandwidth: level(bandwidth, 7, unit)?,
        iops: level(iops, 10, 1.0)?,
    })
}

/// Returns operation and shape of a workload of the published tables.
fn published_workload(name: &str) -> Option<(Op, WorkloadShape)> {
    let mut known = WORKLOADS.into_iter();
    let (_, op, block, random, read_percent, workers, sync_every) =
        known.find(|(known, ..)| *known == name)?;
    let shape = WorkloadShape {
        random,
        read_percent,
        block: Bytes(block),
        iodepth: 1,
        workers,
        sync_every,
        sync_open: false,
        direct: true,
        extent: None,
    };
    Some((op, shape))
}

/// Returns the layer between application and device, as named in reference results; `None` if unknown.
pub(crate) fn layer_of(summary: &Summary) -> Option<String> {
    match (&summary.target.filesystem, summary.target.kind) {
        (Some(filesystem), _) => Some(filesystem.fs_type.clone()),
        (None, TargetKind::BlockDevice) => Some("raw".to_owned()),
        (None, _) => None,
    }
}

/// Converts a measured summary to reference entries for later runs. Phases of unknown shape are skipped.
pub fn entries(summary: &Summary, source: &str, card: &str) -> Vec<ReferenceEntry> {
    let Some(layer) = layer_of(summary) else {
        return Vec::new();
    };
    let environment = &summary.environment;
    let host = environment.board.known().unwrap_or(&environment.hostname);
    let entry = |(phase, shape): (&PhaseSummary, WorkloadShape)| ReferenceEntry {
        source: source.to_owned(),
        host: host.clone(),
        card: card.to_owned(),
        layer: layer.clone(),
        workload: phase.phase.clone(),
        op: phase.op,
        shape,
        runs: runs(phase),
        bandwidth: level(&phase.bandwidth),
        iops: level(&phase.iops),
    };
    shapes(summary).into_iter().map(entry).collect()
}

/// Returns the phases of known shape, without extent. A long repetition of a workload adds nothing and is skipped.
fn shapes(summary: &Summary) -> Vec<(&PhaseSummary, WorkloadShape)> {
    let mut found: Vec<(&PhaseSummary, WorkloadShape)> = Vec::new();
    for phase in &summary.phases {
        let Some(shape) = phase.detail.shape else {
            continue;
        };
        let shape = WorkloadShape {
            extent: None,
            ..shape
        };
        if !found
            .iter()
            .any(|(other, known)| other.op == phase.op && *known == shape)
        {
            found.push((phase, shape));
        }
    }
    found
}

fn runs(phase: &PhaseSummary) -> u32 {
    phase
        .detail
        .stated_runs
        .unwrap_or(phase.iops.values.len() as u32)
}

fn level(estimate: &Estimate) -> Level {
    Level {
        mean: estimate.mean,
        deviation: estimate.deviation,
    }
}

/// Compares each phase with the matching entries of each source, in the order of the phases.
pub fn standings(summary: &Summary, references: &ReferenceSet) -> Vec<ReferenceStanding> {
    let Some(layer) = layer_of(summary) else {
        return Vec::new();
    };
    let mut all = Vec::new();
    for (phase, shape) in shapes(summary) {
        for source in &references.sources {
            let like = |e: &&ReferenceEntry| {
                e.source == source.id && e.layer == layer && e.op == phase.op && e.shape == shape
            };
            let others: Vec<&ReferenceEntry> = references.entries.iter().filter(like).collect();
            all.extend(standing(phase, &layer, source, &others));
        }
    }
    all
}

fn standing(
    phase: &PhaseSummary,
    layer: &str,
    source: &ReferenceSource,
    others: &[&ReferenceEntry],
) -> Option<ReferenceStanding> {
    let by_iops = phase.detail.headline == HeadlineRate::Iops;
    let here = level(phase.detail.headline.of(phase));
    let of = |entry: &ReferenceEntry| if by_iops { entry.iops } else { entry.bandwidth };
    let named = |entry: &&ReferenceEntry| NamedFigure {
        card: entry.card.clone(),
        value: of(entry).mean,
    };
    let by_value = |a: &&&ReferenceEntry, b: &&&ReferenceEntry| of(a).mean.total_cmp(&of(b).mean);
    let count = |order| {
        let found = others
            .iter()
            .filter(|entry| apart(here, of(entry)) == order);
        found.count() as u32
    };
    let hosts: BTreeSet<&String> = others.iter().map(|entry| &entry.host).collect();
    Some(ReferenceStanding {
        phase: phase.phase.clone(),
        op: phase.op,
        among: source.title.clone(),
        layer: layer.to_owned(),
        by_iops,
        here: here.mean,
        ahead_of: count(Ordering::Greater),
        level_with: count(Ordering::Equal),
        behind: count(Ordering::Less),
        least: others.iter().min_by(by_value).map(named)?,
        most: others.iter().max_by(by_value).map(named)?,
        hosts: hosts.into_iter().cloned().collect(),
        fewest_runs: others.iter().map(|entry| entry.runs).min()?,
    })
}

/// Returns the order of two figures; equal if their standard deviations together cover the distance.
fn apart(a: Level, b: Level) -> Ordering {
    let spread = a.deviation.unwrap_or(0.0).hypot(b.deviation.unwrap_or(0.0));
    match (a.mean - b.mean).abs() <= spread {
        true => Ordering::Equal,
        false => a.mean.partial_cmp(&b.mean).unwrap_or(Ordering::Equal),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::suite;

    #[test]
    fn every_printed_figure_is_a_reference() {
        let references = published_references();
        assert_eq!(references.entries.len(), PUBLISHED.lines().count() - 1);
        assert!(
            references
                .entries
                .iter()
                .all(|e| references.sources.iter().any(|s| s.id == e.source))
        );
        let slip = |e: &&ReferenceEntry| {
            let implied = e.iops.mean * e.shape.block.0 as f64;
            e.iops.mean >= 100.0 && (e.bandwidth.mean / implied - 1.0).abs() > 0.05
        };
        assert_eq!(
            references.entries.iter().filter(slip).count(),
            0,
            "a unit was read wrongly"
        );
    }

    #[test]
    fn a_card_stands_among_those_measured_alike() {
        let mut summary = suite(4);
        summary.target.filesystem = None;
        summary.target.kind = TargetKind::BlockDevice;
        let found = standings(&summary, &published_references());
        let of = |name: &str| found.iter().find(|s| s.phase == name).unwrap();
        let read = of("rand-read");
        assert!(
            read.by_iops && (read.ahead_of + read.level_with + read.behind) == 6,
            "{read:?}"
        );
        assert_eq!(
            (read.least.card.as_str(), read.most.card.as_str()),
            ("sandisk", "kioxia")
        );
        assert_eq!((read.ahead_of, read.fewest_runs), (2, 10));
        let write = of("seq-write");
        // One of the six is within its own standard deviation of ours.
        assert_eq!(
            (write.ahead_of, write.level_with, write.behind),
            (4, 1, 1),
            "{write:?}"
        );
        assert_eq!(found.iter().filter(|s| s.phase == "sustained").count(), 0);
    }

    #[test]
    fn other_layers_and_shapes_are_left_alone() {
        let mut summary = suite(4);
        summary.target.filesystem = None;
        summary.target.kind = TargetKind::Directory;
        assert!(standings(&summary, &published_references()).is_empty());
        summary.target.kind = TargetKind::BlockDevice;
        for phase in &mut summary.phases {
            if let Some(shape) = &mut phase.detail.shape {
                shape.iodepth = 32;
            }
        }
        assert!(standings(&summary, &published_references()).is_empty());
    }

    #[test]
    fn ones_own_figures_can_be_put_beside() {
        let mut summary = suite(4);
        summary.target.filesystem = None;
        summary.target.kind = TargetKind::BlockDevice;
        let own = ReferenceSource {
            id: "mine".into(),
            title: "my cards".into(),
            note: String::new(),
        };
        let references = ReferenceSet {
            sources: vec![own],
            entries: entries(&summary, "mine", "old"),
        };
        let found = standings(&summary, &references);
        assert!(
            !found.is_empty()
                && found
                    .iter()
                    .all(|s| s.level_with == 1 && s.ahead_of + s.behind == 0),
            "{found:?}"
        );
    }
}
