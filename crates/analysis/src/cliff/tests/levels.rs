//! Segments, their borders, and what follows from the levels of segments that are set.

mod borders;

use super::*;

/// Speeds, each with its number of intervals.
type Levels<'a> = &'a [(f64, usize)];

/// Returns cells of constant levels, each with its number of cells, and their segments.
fn constant(parts: &[(f64, usize)]) -> (Vec<f64>, Vec<Segment>) {
    let (mut cells, mut segments) = (Vec::new(), Vec::new());
    for &(level, count) in parts {
        let start = cells.len();
        cells.extend(std::iter::repeat_n(level, count));
        let end = cells.len();
        segments.push(Segment { start, end, level });
    }
    (cells, segments)
}

/// Returns two segments with their cells.
fn two(a: &[f64], b: &[f64]) -> (Vec<f64>, Vec<Segment>) {
    let cells = [a, b].concat();
    let level = |cells: &[f64]| median(cells).unwrap();
    let (middle, end) = (a.len(), cells.len());
    let first = Segment {
        start: 0,
        end: middle,
        level: level(a),
    };
    let second = Segment {
        start: middle,
        end,
        level: level(b),
    };
    (cells, vec![first, second])
}

/// Levels and cells of segments before the last drop, cells after it, and whether it lasts.
type LastDrop<'a> = (&'a [(f64, usize)], usize, bool);

/// After a recovery, a drop must last three times as long as the longest slow time before it.
#[test]
fn a_drop_must_outlast_those_from_which_speed_recovered() {
    let cases: [LastDrop<'_>; 16] = [
        // Nothing recovered before.
        (&[(100.0, 10)], 1, true),
        (&[(50.0, 40), (100.0, 10)], 8, true),
        // One slow time of 5 cells.
        (&[(100.0, 10), (50.0, 5), (100.0, 10)], 14, false),
        (&[(100.0, 10), (50.0, 5), (100.0, 10)], 15, true),
        (&[(100.0, 10), (50.0, 5), (100.0, 10)], 16, true),
        // Only levels below the middle of 75 are slow.
        (&[(100.0, 10), (76.0, 5), (100.0, 10)], 8, true),
        (&[(100.0, 10), (74.0, 5), (100.0, 10)], 14, false),
        (&[(100.0, 10), (74.0, 5), (100.0, 10)], 15, true),
        // Adjacent slow segments are one slow time.
        (&[(100.0, 9), (50.0, 3), (40.0, 4), (100.0, 9)], 20, false),
        (&[(100.0, 9), (50.0, 3), (40.0, 4), (100.0, 9)], 21, true),
        // The longest of several counts, not the last one or the sum.
        (
            &[(100.0, 9), (50.0, 6), (100.0, 9), (50.0, 3), (100.0, 9)],
            17,
            false,
        ),
        (
            &[(100.0, 9), (50.0, 6), (100.0, 9), (50.0, 3), (100.0, 9)],
            18,
            true,
        ),
        (
            &[(100.0, 9), (50.0, 3), (100.0, 9), (50.0, 6), (100.0, 9)],
            17,
            false,
        ),
        // A slow start is no drop, and does not add to the next slow time.
        (&[(50.0, 9), (100.0, 9), (50.0, 2), (100.0, 9)], 6, true),
        (&[(50.0, 9), (100.0, 9), (50.0, 2), (100.0, 9)], 5, false),
        // Fast segments of different levels.
        (&[(100.0, 9), (50.0, 2), (90.0, 9), (100.0, 9)], 5, false),
    ];
    for (parts, after, lasts) in cases {
        let (cells, segments) = constant(&[parts, &[(50.0, after)]].concat());
        let found = Segmented {
            cells: &cells,
            segments: &segments,
        };
        assert_eq!(found.outlasts(parts.len()), lasts, "{parts:?} {after}");
    }
}

/// Speed recovers if it reaches the middle between where it fell from and the lowest level since.
#[test]
fn recoveries_are_rises_to_the_middle_of_the_last_drop() {
    let cases: [(&[f64], u32); 14] = [
        (&[100.0], 0),
        (&[100.0, 50.0], 0),
        (&[50.0, 100.0], 0),
        (&[100.0, 50.0, 100.0], 1),
        (&[100.0, 50.0, 75.0], 1),
        (&[100.0, 50.0, 74.0], 0),
        (&[100.0, 50.0, 20.0, 60.0], 1),
        (&[100.0, 50.0, 20.0, 59.0], 0),
        (&[100.0, 80.0, 50.0, 75.0], 1),
        (&[100.0, 80.0, 50.0, 74.0], 0),
        // A rise that is too small does not end the drop; the next one may.
        (&[100.0, 50.0, 60.0, 80.0], 1),
        (&[100.0, 50.0, 100.0, 50.0, 100.0], 2),
        (&[100.0, 50.0, 120.0, 60.0, 90.0], 2),
        (&[100.0, 50.0, 120.0, 60.0, 89.0], 1),
    ];
    for (levels, recoveries) in cases {
        let parts: Vec<(f64, usize)> = levels.iter().map(|&level| (level, 8)).collect();
        let (cells, segments) = constant(&parts);
        let swing = Segmented {
            cells: &cells,
            segments: &segments,
        };
        let swing = swing.swing();
        assert_eq!(swing.map_or(0, |s| s.recoveries), recoveries, "{levels:?}");
        assert_eq!(swing.is_some(), recoveries > 0, "{levels:?}");
        assert!(!swing.is_some_and(|s| s.sawtooth), "{levels:?}");
    }
}

#[test]
fn a_swing_has_the_usual_speeds_above_and_below_the_middle() {
    // The middle of 40 and 100 is 70.
    let (cells, segments) = constant(&[(100.0, 8), (40.0, 8), (90.0, 9), (60.0, 9), (100.0, 2)]);
    let swing = Segmented {
        cells: &cells,
        segments: &segments,
    };
    let swing = swing.swing().unwrap();
    // Fast: ten of 100 and nine of 90. Slow: eight of 40 and nine of 60.
    assert_eq!((swing.high.0, swing.low.0), (100.0, 60.0));
    assert_eq!((swing.recoveries, swing.sawtooth), (2, false));
}

/// A sawtooth glides down; two levels that alternate fall at once.
#[test]
fn a_sawtooth_has_more_slides_than_sudden_drops() {
    let glide = |from: f64| -> Vec<f64> { (0..8).map(|i| from - 6.0 * f64::from(i)).collect() };
    let slide = [glide(100.0), glide(52.0)];
    let sudden = [vec![100.0; 8], vec![52.0; 8]];
    let cases = [
        (vec![&slide], true),
        (vec![&sudden], false),
        (vec![&slide, &sudden], false),
        (vec![&slide, &slide, &sudden], true),
        (vec![&sudden, &sudden, &slide], false),
    ];
    for (waves, sawtooth) in cases {
        let levels: Vec<Vec<f64>> = waves.iter().flat_map(|wave| wave.to_vec()).collect();
        let levels = [levels, vec![vec![100.0; 8]]].concat();
        let cells = levels.concat();
        let segment = |(i, level): (usize, &Vec<f64>)| Segment {
            start: 8 * i,
            end: 8 * i + 8,
            level: median(level).unwrap(),
        };
        let segments: Vec<Segment> = levels.iter().enumerate().map(segment).collect();
        let found = Segmented {
            cells: &cells,
            segments: &segments,
        };
        let swing = found.swing().unwrap();
        assert_eq!(swing.recoveries as usize, waves.len());
        assert_eq!(swing.sawtooth, sawtooth, "{waves:?}");
    }
}

/// The split moves to the last interval at the old level, within the minimum lengths of both sides.
#[test]
fn a_rough_split_moves_to_the_last_interval_at_the_old_level() {
    let cases: [(Levels<'_>, usize, usize); 9] = [
        (&[(100.0, 10), (50.0, 10)], 10, 10),
        (&[(100.0, 10), (50.0, 10)], 8, 10),
        (&[(100.0, 10), (50.0, 10)], 12, 10),
        // Intervals at the new level before the last one at the old level are a stall.
        (&[(100.0, 8), (50.0, 1), (100.0, 2), (50.0, 10)], 8, 11),
        (&[(100.0, 8), (50.0, 3), (100.0, 2), (50.0, 10)], 8, 13),
        // Slower intervals after the drop are not at the old level.
        (&[(100.0, 10), (5.0, 2), (50.0, 10)], 10, 10),
        (&[(100.0, 10), (5.0, 2), (50.0, 10)], 12, 10),
        // One fast interval among many slow ones does not outweigh them.
        (&[(100.0, 10), (50.0, 10), (100.0, 1)], 10, 10),
        // Eight intervals remain for the new level.
        (&[(100.0, 4), (50.0, 10), (100.0, 6)], 4, 12),
    ];
    for (parts, rough, split) in cases {
        let (speeds, _) = constant(parts);
        assert_eq!(refine(&speeds, rough), Some(split), "{parts:?} {rough}");
    }
}

#[test]
fn segments_have_their_minimum_lengths() {
    let cases: [(Levels<'_>, usize, &[usize]); 7] = [
        (&[(100.0, 2), (50.0, 18)], 1, &[2]),
        (&[(100.0, 1), (50.0, 19)], 1, &[]),
        (&[(100.0, 12), (50.0, 8)], 1, &[12]),
        (&[(100.0, 13), (50.0, 7)], 1, &[12]),
        (&[(100.0, 8), (50.0, 8), (20.0, 9)], 1, &[8, 16]),
        // Cells of four intervals: one cell is enough at the start, two elsewhere.
        (&[(100.0, 1), (50.0, 10)], 4, &[1]),
        (&[(100.0, 9), (50.0, 2)], 4, &[9]),
    ];
    for (parts, width, borders) in cases {
        let (cells, _) = constant(parts);
        let found = segments::segments(&cells, width);
        let starts: Vec<usize> = found.iter().skip(1).map(|s| s.start).collect();
        assert_eq!(starts, borders, "{parts:?}");
        assert_eq!(found[0].start, 0);
        assert_eq!(found.last().unwrap().end, cells.len());
    }
}

/// A segment pays if it saves more than 4 · deviation · ln(cells) of the absolute deviations.
#[test]
fn a_segment_must_save_more_than_its_penalty() {
    // Without noise the deviation is 0.1% of the level: 4 · 0.1 · ln 20 = 1.198, and a step h of ten cells saves 10 h.
    let step = |h: f64| constant(&[(100.0, 10), (100.0 + h, 10)]).0;
    assert_eq!(segments::segments(&step(0.115), 1).len(), 1);
    assert_eq!(segments::segments(&step(0.125), 1).len(), 2);
    // Differences of 2 are a deviation of 1.4826 · 2 / √2, so the penalty is 25.1, and the step saves 10 h - 20.
    let noisy = |h: f64| -> Vec<f64> {
        let cell = |i: usize| 99.0 + 2.0 * (i % 2) as f64 + if i < 10 { 0.0 } else { h };
        (0..20).map(cell).collect()
    };
    assert_eq!(segments::segments(&noisy(4.4), 1).len(), 1);
    assert_eq!(segments::segments(&noisy(4.6), 1).len(), 2);
}

fn are_merged((cells, segments): &(Vec<f64>, Vec<Segment>), least: f64) -> bool {
    merged(cells, segments.clone(), least).len() == 1
}

/// Standard error of the difference of two medians of eight cells: 1.2533 · deviation · √(1/8 + 1/8).
#[test]
fn borders_are_kept_from_so_many_standard_errors_on() {
    // Simulated cards have no noise: 0.1% of the higher level.
    let exact = 50.0 / (1.2533 * (100.0 * 1e-3) * 0.5);
    let without = two(&[100.0; 8], &[50.0; 8]);
    assert!(!are_merged(&without, exact));
    assert!(are_merged(&without, exact.next_up()));
    // Alternating cells have a median absolute deviation of 2.
    let cells = |level: f64| [level - 2.0, level + 2.0].repeat(4);
    let exact = 50.0 / (1.2533 * (1.4826 * 2.0) * 0.5);
    let noisy = two(&cells(100.0), &cells(50.0));
    assert!(!are_merged(&noisy, exact * (1.0 - 1e-9)));
    assert!(are_merged(&noisy, exact * (1.0 + 1e-9)));
}

/// Groups of four equal cells have an autocorrelation at lag 1: 36 / 30 pairs of 4, and 2 / 32 for the medians. At lag
/// 2, it is below the limit.
#[test]
fn correlated_cells_have_a_larger_error() {
    let cells = |level: f64| {
        let group = |off: f64| [level + off; 4];
        [group(2.0), group(-2.0), group(2.0), group(-2.0)].concat()
    };
    let inflation: f64 = 1.0 + 2.0 * (72.0 / 30.0 / 4.0 + 2.0 / 32.0);
    let error = |inflation: f64| 1.2533 * 1.4826 * 2.0 * (inflation / 8.0).sqrt();
    let far = two(&cells(100.0), &cells(50.0));
    assert!(!are_merged(&far, 50.0 / error(inflation) * (1.0 - 1e-9)));
    assert!(are_merged(&far, 50.0 / error(inflation) * (1.0 + 1e-9)));
    // 5.5 standard errors; 8.4 if the cells were independent, as they are taken to be below 6.
    let near = two(&cells(100.0), &cells(89.0));
    assert!(11.0 / error(inflation) < 5.5 && 11.0 / error(1.0) > 6.0);
    assert!(!are_merged(&near, 5.9));
    assert!(are_merged(&near, 6.0));
}

/// The autocorrelation has no pairs of cells at lags beyond the length of all segments, here 3. Levels of 100 and 88 are
/// then within 6 standard errors of each other, because the cells of most segments vary by 2.
#[test]
fn short_segments_within_the_noise_are_merged() {
    let count = 80;
    let cells: Vec<f64> = (0..count)
        .flat_map(|i| {
            let level = if i % 2 == 0 { 100.0 } else { 88.0 };
            match i * 11 % 20 < 11 {
                true => [level - 2.0, level, level + 2.0],
                false => [level, level, level + 9.0],
            }
        })
        .collect();
    let segment = |i: usize| Segment {
        start: 3 * i,
        end: 3 * i + 3,
        level: cells[3 * i + 1],
    };
    let found = merged(&cells, (0..count).map(segment).collect(), MIN_SIGMAS);
    assert!(found.len() < count, "{}", found.len());
}

/// Levels differ by a tenth of the higher one, in whichever order.
#[test]
fn levels_that_differ_by_less_than_a_tenth_are_merged() {
    for (slow, is_merged) in [(80.0, false), (90.0, false), (90.1, true), (99.0, true)] {
        for (a, b) in [(100.0, slow), (slow, 100.0)] {
            let sides = two(&[a; 8], &[b; 8]);
            assert_eq!(are_merged(&sides, MIN_SIGMAS), is_merged, "{a} {b}");
        }
    }
}

/// A number of 20 fast cells is as slow as the slow cells, or slower: Cliff's delta is (faster - slower) / 20.
#[test]
fn most_cells_of_two_levels_must_differ() {
    for (equal, slower, is_merged) in [
        (0, 0, false),
        (9, 0, false),
        (0, 4, false),
        (8, 1, true),
        (7, 2, true),
        (0, 5, true),
    ] {
        let fast = 20 - equal - slower;
        let fast = [vec![100.0; fast], vec![50.0; equal], vec![40.0; slower]].concat();
        for sides in [two(&fast, &[50.0; 20]), two(&[50.0; 20], &fast)] {
            let found = are_merged(&sides, MIN_SIGMAS);
            assert_eq!(found, is_merged, "{equal} {slower}");
        }
    }
}

/// With levels of 100 and 50, intervals above 75 are at the old level, those above 25 at the new one, and slower ones
/// are stalls.
#[test]
fn intervals_between_two_levels_belong_to_the_nearer_one() {
    let cases: [(Levels<'_>, usize, usize); 6] = [
        // Halfway is not yet the old level.
        (&[(100.0, 10), (75.0, 1), (50.0, 10)], 10, 10),
        (&[(100.0, 10), (76.0, 1), (50.0, 10)], 10, 11),
        // Three intervals at the new level outweigh the fast one after them. Three of a stall do not.
        (&[(100.0, 8), (26.0, 3), (100.0, 1), (50.0, 12)], 8, 8),
        (&[(100.0, 8), (25.0, 3), (100.0, 1), (50.0, 12)], 8, 12),
        (&[(100.0, 8), (24.0, 3), (100.0, 1), (50.0, 12)], 8, 12),
        (&[(100.0, 8), (3.0, 3), (100.0, 1), (50.0, 12)], 8, 12),
    ];
    for (parts, rough, split) in cases {
        let (speeds, _) = constant(parts);
        assert_eq!(refine(&speeds, rough), Some(split), "{parts:?} {rough}");
    }
}

fn swing_of(parts: Levels<'_>) -> Option<Swing> {
    let (cells, segments) = constant(parts);
    let found = Segmented {
        cells: &cells,
        segments: &segments,
    };
    found.swing()
}

/// Nothing recovers from a border between two segments of one level.
#[test]
fn equal_levels_are_neither_a_drop_nor_a_recovery() {
    let cases: [(&[f64], u32); 5] = [
        (&[100.0, 100.0], 0),
        (&[100.0, 100.0, 120.0], 0),
        (&[100.0, 100.0, 120.0, 120.0, 150.0], 0),
        (&[100.0, 50.0, 50.0, 100.0, 100.0], 1),
        (&[100.0, 100.0, 50.0, 100.0, 120.0], 1),
    ];
    for (levels, recoveries) in cases {
        let parts: Vec<(f64, usize)> = levels.iter().map(|&level| (level, 8)).collect();
        let found = swing_of(&parts).map_or(0, |swing| swing.recoveries);
        assert_eq!(found, recoveries, "{levels:?}");
    }
}

/// The middle of 50 and 100 is 75.
#[test]
fn cells_at_the_middle_are_not_above_it() {
    for (middle, high) in [(75.0, 100.0), (76.0, 76.0)] {
        let swing = swing_of(&[(100.0, 3), (50.0, 7), (middle, 4)]).unwrap();
        assert_eq!((swing.high.0, swing.low.0), (high, 50.0), "{middle}");
    }
}
