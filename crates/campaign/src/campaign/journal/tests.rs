//! Time between runs, and the rounds that are still open.

use super::*;

#[test]
fn a_run_takes_the_time_to_the_next_whatever_that_is() {
    let cell = |layer: &str, workload: &str| PointKey {
        card: "a".into(),
        layer: layer.into(),
        workload: workload.into(),
    };
    let mut intervals = RunIntervals::default();
    // Workloads alternate, as in an interleaved campaign.
    assert_eq!(intervals.next(&cell("raw", "write"), 0), None);
    assert_eq!(
        intervals.next(&cell("raw", "read"), 60_000),
        Some(("write".into(), 60.0))
    );
    assert_eq!(
        intervals.next(&cell("raw", "write"), 61_500),
        Some(("read".into(), 1.5))
    );
    // A file system was created in between.
    assert_eq!(intervals.next(&cell("ext4", "write"), 200_000), None);
    intervals.interrupted();
    assert_eq!(intervals.next(&cell("ext4", "read"), 999_000), None);
}

/// Stores rates of the rounds of a workload through the raw layer.
fn rounds(progress: &mut CampaignProgress, workload: &str, rates: &[f64]) {
    let cell = PointKey {
        card: "key".into(),
        layer: "raw".into(),
        workload: workload.into(),
    };
    let stored = progress.cells.entry(cell).or_default();
    stored.repeats = (0..rates.len() as u32).collect();
    stored.rates = Some([("phase write".to_owned(), rates.to_vec())].into());
}

#[test]
fn rounds_end_for_all_points_once_the_watched_workload_is_steady() {
    let directory = tempfile::tempdir().unwrap();
    let store = Store::open(directory.path().join("x.db")).unwrap();
    let steady = "repeats = { until = \"steady\" }\norder = \"interleaved\"\n";
    let card = "[[card]]\nlabel = \"c\"\nid = \"ask\"\n";
    // It settles after two rounds.
    let settling = [90.0, 60.0, 40.0, 40.1, 39.9, 40.0, 40.2];
    let falling = [100.0, 80.0, 60.0, 50.0, 40.0, 30.0, 20.0];
    let watched = format!("{steady}steady = [\"seq-write\"]\n{card}");
    let alone = format!("{steady}{card}");
    for (text, read_ends) in [(&watched, true), (&alone, false)] {
        let campaign = super::super::testing::campaign(text);
        let mut progress = CampaignProgress::default();
        for measured in 0..=settling.len() {
            rounds(&mut progress, "seq-write", &settling[..measured]);
            rounds(
                &mut progress,
                "rand-read",
                &falling[..measured.saturating_sub(1)],
            );
            let mut open = |workload: usize, repeat: usize| {
                let point = Point {
                    card: 0,
                    layer: 0,
                    workload,
                    repeat: repeat as u32,
                };
                progress.is_open(&campaign, "key", &point, &store).unwrap()
            };
            assert_eq!(open(0, measured), measured < 7, "{measured}");
            // The rest of the round in which it became steady is measured.
            if measured > 0 {
                assert!(open(1, measured - 1), "{measured}");
            }
            let ended = measured == 7 && read_ends;
            assert_eq!(open(1, measured), !ended, "{measured}");
        }
    }
}

#[test]
fn rounds_end_when_all_watched_workloads_are_steady_in_the_same_rounds() {
    let directory = tempfile::tempdir().unwrap();
    let store = Store::open(directory.path().join("x.db")).unwrap();
    let text = "repeats = { until = \"steady\" }\nsteady = [\"seq-write\", \"rand-read\"]\n\
        order = \"interleaved\"\n[[card]]\nlabel = \"c\"\nid = \"ask\"\n";
    let campaign = super::super::testing::campaign(text);
    let mut progress = CampaignProgress::default();
    // Steady in rounds 1 to 5 and again from round 7 on; steady from round 3 on.
    let write = [50.0, 50.0, 50.0, 50.0, 50.0, 20.0, 20.0, 20.0, 20.0, 20.0];
    let read = [90.0, 60.0, 40.0, 40.0, 40.0, 40.0, 40.0, 40.0, 40.0, 40.0];
    for measured in 0..=write.len() {
        rounds(&mut progress, "seq-write", &write[..measured]);
        rounds(&mut progress, "rand-read", &read[..measured]);
        let point = Point {
            card: 0,
            layer: 0,
            workload: 0,
            repeat: measured as u32,
        };
        let open = progress.is_open(&campaign, "key", &point, &store).unwrap();
        assert_eq!(open, measured < 10, "{measured}");
    }
}
