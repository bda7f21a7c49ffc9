//! Reference results from own measurements: the number of runs behind them.

use crate::references::{entries, standings};
use crate::testing::suite;
use hakaru_model::finding::Summary;
use hakaru_model::references::{ReferenceSet, ReferenceSource};

/// Results of which only the mean and the number of runs are known.
fn stated(mut summary: Summary, runs: u32) -> Summary {
    for phase in &mut summary.phases {
        phase.bandwidth.values.clear();
        phase.iops.values.clear();
        phase.detail.stated_runs = Some(runs);
    }
    summary
}

#[test]
fn references_have_the_number_of_runs_behind_their_means() {
    for (summary, runs) in [
        (suite(1), 1),
        (suite(4), 4),
        (stated(suite(2), 10), 10),
        (stated(suite(1), 0), 0),
    ] {
        let found = entries(&summary, "mine", "old");
        assert!(found.len() > 3, "{found:?}");
        for entry in &found {
            assert_eq!(entry.runs, runs, "{entry:?}");
        }
    }
}

#[test]
fn the_reference_with_the_fewest_runs_is_named() {
    let sources = [suite(4), stated(suite(2), 3), stated(suite(2), 25)];
    let source = ReferenceSource {
        id: "mine".into(),
        title: "my cards".into(),
        note: String::new(),
    };
    let fewest = |sources: &[Summary]| {
        let of = |summary| entries(summary, "mine", "old");
        let references = ReferenceSet {
            sources: vec![source.clone()],
            entries: sources.iter().flat_map(of).collect(),
        };
        let found = standings(&suite(2), &references);
        let mut runs: Vec<u32> = found.iter().map(|of| of.fewest_runs).collect();
        runs.dedup();
        runs
    };
    assert_eq!(fewest(&sources), [3]);
    assert_eq!(fewest(&sources[..1]), [4]);
    assert_eq!(fewest(&sources[2..]), [25]);
}
