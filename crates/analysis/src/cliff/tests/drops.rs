//! Which borders between levels are drops, and where exactly they are.

use super::*;

/// Returns one segment for each slice of cells.
fn joined(parts: &[Vec<f64>]) -> (Vec<f64>, Vec<Segment>) {
    let mut segments = Vec::new();
    let mut start = 0;
    for part in parts {
        let end = start + part.len();
        let level = median(part).unwrap();
        segments.push(Segment { start, end, level });
        start = end;
    }
    (parts.concat(), segments)
}

/// Asks a question about the segments of these cells.
fn ask<T>(parts: &[Vec<f64>], question: impl Fn(&Segmented<'_>) -> T) -> T {
    let (cells, segments) = joined(parts);
    question(&Segmented {
        cells: &cells,
        segments: &segments,
    })
}

fn levels(parts: &[(f64, usize)]) -> Vec<f64> {
    let part = |&(level, count): &(f64, usize)| std::iter::repeat_n(level, count);
    parts.iter().flat_map(part).collect()
}

/// Cells whose median is the level, and which change by `step` each.
fn slope(level: f64, step: f64, count: usize) -> Vec<f64> {
    let middle = (count - 1) as f64 / 2.0;
    (0..count)
        .map(|i| level + step * (i as f64 - middle))
        .collect()
}

/// Differences are those within segments: a step between two segments is none.
#[test]
fn speed_wanders_if_distant_cells_differ_more_than_neighbors() {
    let alternating = [99.0, 101.0].repeat(12);
    for (parts, differences, wanders) in [
        (vec![slope(100.0, 1.0, 24)], [1.0, 4.0, 8.0], true),
        (vec![slope(100.0, -2.0, 24)], [2.0, 8.0, 16.0], true),
        (
            vec![slope(100.0, 1.0, 12), slope(20.0, 1.0, 12)],
            [1.0, 4.0, 8.0],
            true,
        ),
        // Without cells this far apart nothing is known.
        (
            vec![slope(100.0, 1.0, 8), slope(20.0, 1.0, 8)],
            [1.0, 4.0, 0.0],
            false,
        ),
        (vec![alternating], [2.0, 0.0, 0.0], false),
        (vec![levels(&[(100.0, 24)])], [0.0, 0.0, 0.0], false),
    ] {
        let lags = |of: &Segmented<'_>| [1, 4, 8].map(|lag| of.usual_difference(lag));
        let found = ask(&parts, |of| (lags(of), of.wanders()));
        assert_eq!(found, (differences, wanders), "{parts:?}");
    }
}

/// With differences of 2 over four cells, a drop must be at least 4.5 · 1.4826 · 2 = 13.34.
#[test]
fn a_leap_exceeds_what_a_random_walk_would_do() {
    let groups = |level: f64| -> Vec<f64> {
        let cell = |i: usize| level + if (i / 4).is_multiple_of(2) { 0.0 } else { 2.0 };
        (0..16).map(cell).collect()
    };
    // The last cells before the border are at 102, and the first ones after it at the level.
    for (level, leaps) in [(88.70, false), (88.62, true), (60.0, true), (100.0, false)] {
        let parts = [groups(100.0), groups(level)];
        assert_eq!(ask(&parts, |of| of.leaps(1)), leaps, "{level}");
        // The cell of the drop itself does not count, nor does one stall beside it.
        let mut stalled = parts.clone();
        (stalled[1][0], stalled[1][1], stalled[0][15]) = (0.0, 0.0, 0.0);
        assert_eq!(ask(&stalled, |of| of.leaps(1)), leaps, "{level}");
    }
}

/// Half of the change between levels of 100 and 50 may be slope of the segments; short ones have no slope.
#[test]
fn a_sudden_drop_is_at_least_half_of_the_change() {
    for (step, count, is_sudden) in [
        (0.0, 8, true),
        (-6.2, 8, true),
        (-6.3, 8, false),
        (6.3, 8, true),
        (-20.0, 7, true),
        (-3.1, 16, true),
        (-3.2, 16, false),
    ] {
        let (before, after) = (slope(100.0, step, count), slope(50.0, step, count));
        let flat = |level| levels(&[(level, 12)]);
        for parts in [[flat(100.0), after], [before, flat(50.0)]] {
            let found = ask(&parts, |of| of.is_sudden(1));
            assert_eq!(found, is_sudden, "{step} {count}");
        }
    }
}

/// Levels, intervals before each drop, and whether the speed recovered somewhere.
type Course<'a> = (&'a [(f64, usize)], &'a [f64], bool);

/// A drop is by a tenth or more, at once, and never recovers to nine tenths.
#[test]
fn drops_are_those_after_which_speed_stays_low() {
    let cases: [Course<'_>; 12] = [
        (&[(100.0, 10), (50.0, 9)], &[], false),
        (&[(100.0, 10), (50.0, 10)], &[10.0], false),
        (&[(100.0, 30), (90.0, 30)], &[30.0], false),
        (&[(100.0, 30), (91.0, 30)], &[], false),
        (&[(50.0, 30), (100.0, 30)], &[], false),
        (&[(100.0, 30), (70.0, 30), (40.0, 30)], &[30.0, 60.0], false),
        (&[(100.0, 30), (50.0, 30), (91.0, 30)], &[], true),
        (&[(100.0, 30), (50.0, 30), (89.0, 30)], &[30.0], true),
        (&[(100.0, 30), (50.0, 30), (70.0, 30)], &[30.0], false),
        // After a recovery only a drop that lasts three times as long.
        (
            &[(100.0, 30), (50.0, 10), (100.0, 30), (50.0, 30)],
            &[70.0],
            true,
        ),
        (
            &[(100.0, 30), (50.0, 10), (100.0, 30), (50.0, 29)],
            &[],
            true,
        ),
        // After two recoveries, none.
        (
            &[
                (100.0, 20),
                (50.0, 8),
                (100.0, 20),
                (50.0, 8),
                (100.0, 20),
                (50.0, 60),
            ],
            &[],
            true,
        ),
    ];
    for (parts, drops, swings) in cases {
        let found = falls(&timeline(&levels(parts)));
        let at = found.falls.iter().map(|fall| fall.after_time.as_secs_f64());
        let at: Vec<f64> = at.map(|seconds| seconds / TICK).collect();
        assert_eq!(at.len(), drops.len(), "{parts:?} {at:?}");
        let mut both = at.iter().zip(drops);
        assert!(both.all(|(a, b)| (a - b).abs() < 1e-6), "{parts:?} {at:?}");
        assert_eq!(found.swing.is_some(), swings, "{parts:?}");
    }
}

/// A tenth of all intervals must follow.
#[test]
fn a_drop_is_proven_if_a_tenth_of_the_run_follows() {
    for (before, after, proven) in [
        (90, 10, true),
        (91, 9, false),
        (92, 8, false),
        (60, 40, true),
    ] {
        let speeds = levels(&[(80e6, before), (20e6, after)]);
        let found = falls(&timeline(&speeds)).falls;
        assert_eq!((found.len(), found[0].proven), (1, proven), "{before}");
        let seconds = found[0].after_time.as_secs_f64();
        assert!((seconds - before as f64 * TICK).abs() < 1e-6, "{found:?}");
        assert!((found[0].at.0 as f64 - seconds * 80e6).abs() < 2.0);
        assert_eq!((found[0].before.0, found[0].after.0), (80e6, 20e6));
        assert_eq!(cliff(&timeline(&speeds)).is_some(), proven);
    }
}

/// The interval of the drop is at the old speed for a part of its length that its own speed tells.
#[test]
fn the_interval_of_a_drop_is_divided_by_its_speed() {
    for (speeds, split, seconds, bytes) in [
        ([80.0, 80.0, 20.0, 20.0], 2, 1.0, 80.0),
        ([80.0, 80.0, 50.0, 20.0], 2, 1.25, 100.0),
        ([80.0, 80.0, 35.0, 20.0], 2, 1.125, 90.0),
        // The split may be after the interval of the drop, and the next one is then at the new level.
        ([80.0, 80.0, 50.0, 20.0], 3, 1.25, 100.0),
        ([80.0, 80.0, 50.0, 35.0], 3, 1.25, 100.0),
        // Faster than the old level, or slower than the new one.
        ([80.0, 90.0, 10.0, 20.0], 2, 1.0, 80.0),
    ] {
        let steps = whole_intervals(&timeline(&speeds.map(|speed| speed * 1e6)));
        let found = place(&steps, split, 80e6, 20e6);
        let at = (found.after_time.as_secs_f64(), found.at.0 as f64 / 1e6);
        assert!((at.0 - seconds).abs() < 1e-6, "{speeds:?} {split}: {at:?}");
        assert!((at.1 - bytes).abs() < 1e-4, "{speeds:?} {split}: {at:?}");
    }
}

#[test]
fn intervals_have_their_own_lengths() {
    let mut points = timeline(&[50e6, 40e6, 30e6, 20e6]);
    for (point, at_s) in points.iter_mut().zip([1.0, 1.5, 1.5, 3.5]) {
        point.at_s = at_s;
    }
    // The third one has no length.
    let expected = [(1.0, 50e6), (0.5, 40e6), (2.0, 20e6)];
    assert_eq!(lengths_and_speeds(&points), expected);
    assert_eq!(lengths_and_speeds(&[]), []);
}

/// The median of all cells after a drop hides a late recovery, so the last quarter of them must be slow, too.
#[test]
fn a_drop_that_recovers_in_its_last_quarter_does_not_last() {
    for (slow, fast, end, is_fall) in [
        // The last quarter of 40 cells is ten cells, most of them slow or most of them fast.
        (30, 4, 6, true),
        (30, 6, 4, false),
        (30, 7, 3, false),
        // The same recovery, but before the last quarter.
        (20, 7, 13, true),
        // The last quarter of 20 cells is five cells.
        (15, 2, 3, true),
        (14, 3, 3, true),
        (15, 3, 2, false),
    ] {
        let after = levels(&[(50.0, slow), (100.0, fast), (50.0, end)]);
        let parts = [levels(&[(100.0, 12)]), after];
        let found = ask(&parts, |of| of.is_fall(1));
        assert_eq!(found, is_fall, "{slow} {fast} {end}");
    }
}

/// Neighbors differ by 5. Distant cells must differ by more than 1.4 times as much: by more than 7.
#[test]
fn speed_that_keeps_its_level_between_steps_does_not_wander() {
    for (step, wanders) in [(6.9, false), (7.0, false), (7.1, true), (-7.1, true)] {
        let cell = |i: usize| 100.0 + step * (i / 8) as f64 + 5.0 * (i % 2) as f64;
        let cells: Vec<f64> = (0..24).map(cell).collect();
        assert_eq!(ask(&[cells], |of| of.wanders()), wanders, "{step}");
    }
    // Most neighbors are equal: a random walk changes from each cell to the next.
    let plateaus: Vec<f64> = (0..24).map(|i| 100.0 + 2.0 * f64::from(i / 4)).collect();
    let differences = |of: &Segmented<'_>| [1, 8].map(|lag| of.usual_difference(lag));
    let found = ask(&[plateaus], |of| (differences(of), of.wanders()));
    assert_eq!(found, ([0.0, 4.0], false));
}

/// The cell of the drop counts only if no other follows. Drops of 13.30 and 13.38 are around the limit of 13.34.
#[test]
fn a_leap_into_the_last_cell_counts() {
    let before: Vec<f64> = (0..16)
        .map(|i| 100.0 + f64::from(i / 4 % 2) * 2.0)
        .collect();
    for (level, leaps) in [(88.70, false), (88.62, true), (50.0, true)] {
        let parts = [before.clone(), vec![level]];
        assert_eq!(ask(&parts, |of| of.leaps(1)), leaps, "{level}");
    }
}

/// A level extends from one drop to the next, even if a cell spans several intervals. A drop is proven by the
/// intervals that follow it, not by those before it.
#[test]
fn later_drops_have_the_levels_on_both_sides_of_them() {
    for (counts, proven) in [
        ([40, 52, 8], false),
        ([40, 51, 9], false),
        ([40, 50, 10], true),
        // A cell spans three intervals, and the drops are at borders of cells or within cells.
        ([360, 60, 180], true),
        ([361, 61, 179], true),
        ([362, 60, 178], true),
        ([360, 180, 60], true),
        ([360, 190, 50], false),
    ] {
        let [first, second, _] = counts;
        let speeds = [90e6, 50e6, 20e6];
        let parts: Vec<(f64, usize)> = speeds.into_iter().zip(counts).collect();
        let found = falls(&timeline(&levels(&parts))).falls;
        let wanted = [
            (first, 0, [90e6, 50e6], true),
            (first, second, [50e6, 20e6], proven),
        ];
        assert_eq!(found.len(), 2, "{counts:?}: {found:?}");
        for (fall, (fast, slow, sides, proven)) in found.iter().zip(wanted) {
            assert_eq!([fall.before.0, fall.after.0], sides, "{counts:?}");
            assert_eq!(fall.proven, proven, "{counts:?}");
            let seconds = (fast + slow) as f64 * TICK;
            let bytes = (fast as f64 * 90e6 + slow as f64 * 50e6) * TICK;
            let off = (fall.after_time.as_secs_f64() - seconds).abs();
            assert!(off < 1e-6, "{counts:?}: {fall:?}");
            assert!((fall.at.0 as f64 - bytes).abs() < 2.0, "{counts:?}");
        }
    }
}

/// The next interval has a part at the old level only if more than nine tenths of the last one are at that level.
#[test]
fn a_drop_is_in_the_interval_before_its_split_or_in_the_next_one() {
    for (last, seconds, bytes) in [
        // 0.89 of the interval at 80 MB/s, 0.9 of it, and 0.91 of it with a quarter of the next one.
        (73.4, 1.445, 115.6),
        (74.0, 1.45, 116.0),
        (74.6, 1.58, 126.4),
    ] {
        let speeds = [80.0, 80.0, last, 35.0, 20.0];
        let steps = whole_intervals(&timeline(&speeds.map(|speed| speed * 1e6)));
        let found = place(&steps, 3, 80e6, 20e6);
        let at = (found.after_time.as_secs_f64(), found.at.0 as f64 / 1e6);
        assert!((at.0 - seconds).abs() < 1e-6, "{last}: {at:?}");
        assert!((at.1 - bytes).abs() < 1e-4, "{last}: {at:?}");
    }
}
