//! Which layer the others are compared with, and the traced I/Os of the layers.

use super::*;
use crate::io_path::{path_findings, tests::path, traced_series};
use hakaru_model::facts::Filesystem;
use hakaru_model::finding::TracedPhase;

/// Returns the series of a layer; all but `raw` are file systems.
fn layer(seed: u64, name: &'static str) -> (&'static str, Summary) {
    let mut summary = read_series(seed, 30e6, 0.01);
    summary.target.filesystem = (name != "raw").then(|| Filesystem {
        fs_type: name.to_owned(),
        ..Filesystem::default()
    });
    (name, summary)
}

/// The raw device of any card comes before the first layer; a single layer has nothing to be compared with.
#[test]
fn layers_are_compared_with_raw_or_else_the_first() {
    type Names = &'static [&'static [&'static str]];
    let cases: [(Names, &str, Names); 8] = [
        (&[&["ext4", "raw", "f2fs"]], "raw", &[&["ext4", "f2fs"]]),
        (&[&["raw", "ext4"]], "raw", &[&["ext4"]]),
        (&[&["ext4"], &["f2fs", "raw"]], "raw", &[&[], &["f2fs"]]),
        (&[&["ext4", "f2fs"]], "ext4", &[&["f2fs"]]),
        (
            &[&["f2fs", "ext4"], &["ext4", "f2fs"]],
            "f2fs",
            &[&["ext4"], &["ext4"]],
        ),
        (&[&["raw"], &["raw"]], "", &[&[], &[]]),
        (&[&["ext4"]], "", &[&[]]),
        (&[], "", &[]),
    ];
    for (cards, reference, costs) in cases {
        let card =
            |names: &&'static [&'static str]| (1..).zip(*names).map(|(i, name)| layer(i, name));
        let layers = cards.iter().map(|names| card(names).collect()).collect();
        let mut summary = campaign(layers);
        conclude(&mut summary, &[]);
        assert_eq!(summary.reference_layer, reference, "{cards:?}");
        let found = summary.cards.iter().map(|card| {
            let names = card.costs.iter().map(|cost| cost.layer.as_str());
            names.collect::<Vec<_>>()
        });
        assert_eq!(found.collect::<Vec<_>>(), costs, "{cards:?}");
    }
}

/// Returns the series of a layer of which the given number of runs was traced.
fn traced(seed: u64, name: &'static str, runs: usize) -> (&'static str, Summary) {
    let (name, mut summary) = layer(seed, name);
    summary.series = format!("{name}-series");
    let path = path(500_000_000, (50, 4096), Vec::new());
    let phase = |run: usize| TracedPhase {
        phase: "seq-read".to_owned(),
        run: run.to_string(),
        findings: path_findings(&path),
        path: path.clone(),
    };
    summary.paths = (0..runs).map(phase).collect();
    summary.traced = traced_series(&summary.paths, &summary.target);
    (name, summary)
}

/// Series compared with, and its number of traced runs beside that of the layer.
type Compared<'a> = Vec<(&'a str, (u32, u32))>;

/// Differences of the layers of all cards.
fn differences(summary: &CampaignSummary) -> Vec<(&str, Compared<'_>)> {
    let layers = summary.cards.iter().flat_map(|card| &card.layers);
    layers
        .map(|of| {
            let all = of.summary.path_differences.iter();
            let all = all.map(|it| (it.base.as_str(), it.runs));
            (of.layer.as_str(), all.collect())
        })
        .collect()
}

#[test]
fn traced_layers_are_compared_with_the_reference() {
    let mut summary = campaign(vec![
        vec![
            traced(1, "ext4", 2),
            traced(2, "raw", 1),
            traced(3, "f2fs", 3),
        ],
        vec![traced(4, "ext4", 1)],
    ]);
    compare_layers(&mut summary, "raw");
    let expected = [
        ("ext4", vec![("raw-series", (1, 2))]),
        ("raw", vec![]),
        ("f2fs", vec![("raw-series", (1, 3))]),
        ("ext4", vec![]),
    ];
    assert_eq!(differences(&summary), expected);
    // Differences from another reference do not remain.
    compare_layers(&mut summary, "f2fs");
    let expected = [
        ("ext4", vec![("f2fs-series", (3, 2))]),
        ("raw", vec![("f2fs-series", (3, 1))]),
        ("f2fs", vec![]),
        ("ext4", vec![]),
    ];
    assert_eq!(differences(&summary), expected);
    compare_layers(&mut summary, "xfs");
    assert!(differences(&summary).iter().all(|(_, all)| all.is_empty()));
    assert!(summary.cards.iter().all(|card| card.costs.is_empty()));
}
