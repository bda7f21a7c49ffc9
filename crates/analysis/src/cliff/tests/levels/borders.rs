//! The least cost of all divisions into segments, the noise at their borders, and which border is merged first.

use super::*;

/// Cells from one border to the next: absolute deviations from their median, and the penalty.
fn cost(cells: &[f64], penalty: f64) -> f64 {
    let level = median(cells).unwrap();
    cells.iter().map(|cell| (cell - level).abs()).sum::<f64>() + penalty
}

/// Returns the least cost of all divisions of the cells from `start` on.
fn least_cost(cells: &[f64], start: usize, penalty: f64) -> f64 {
    let shortest = if start == 0 { 2 } else { 8 };
    let divided = (start + shortest..=cells.len() - 8)
        .map(|end| cost(&cells[start..end], penalty) + least_cost(cells, end, penalty));
    let whole = cost(&cells[start..], penalty);
    divided.fold(whole, f64::min)
}

/// The penalty is 4 deviations times the logarithm of the number of cells; the deviation is estimated from the
/// differences of adjacent cells.
#[test]
fn segments_have_the_least_cost_of_all_divisions() {
    let mut rng = Rng::new(17);
    let mut counts = [0; 5];
    for trial in 0..120 {
        let n = 24 + trial % 12;
        let [first, second] = [0; 2].map(|_| 2 + rng.below(n as u64 - 10) as usize);
        let cell = |i: usize| {
            let noise = rng.below(9) as f64 - 4.0;
            let fall = if i >= first { 12.0 } else { 0.0 };
            let rise = if i >= second { 9.0 } else { 0.0 };
            100.0 + noise - fall + rise
        };
        let cells: Vec<f64> = (0..n).map(cell).collect();
        let differences: Vec<f64> = cells.windows(2).map(|w| (w[1] - w[0]).abs()).collect();
        let deviation = 1.4826 / 2.0_f64.sqrt() * median(&differences).unwrap();
        let penalty = 4.0 * deviation.max(0.001 * median(&cells).unwrap()) * (n as f64).ln();
        let found = segments::segments(&cells, 1);
        let costs = found
            .iter()
            .map(|of| cost(&cells[of.start..of.end], penalty));
        let least = least_cost(&cells, 0, penalty);
        assert!((costs.sum::<f64>() - least).abs() < 1e-9, "{cells:?}");
        counts[found.len()] += 1;
    }
    assert!(counts[1..4].iter().all(|&count| count > 5), "{counts:?}");
}

/// Without speed there is neither noise nor a penalty, and every division costs 0.
#[test]
fn intervals_without_speed_are_one_segment() {
    for n in [10, 20, 64] {
        let found = segments::segments(&vec![0.0; n], 1);
        let ends: Vec<(usize, usize)> = found.iter().map(|of| (of.start, of.end)).collect();
        assert_eq!(ends, [(0, n)]);
    }
}

/// The error falls with the square root of the cells on each side: 1/8 + 1/8 is the square of 0.5.
#[test]
fn the_error_of_a_border_is_that_of_two_medians() {
    let cells = |level: f64| [level - 2.0, level + 2.0].repeat(4);
    let (cells, segments) = two(&cells(100.0), &cells(50.0));
    let exact = 50.0 / (1.2533 * (1.4826 * 2.0) * 0.5);
    let count = |least: f64| merged(&cells, segments.clone(), least).len();
    assert_eq!(count(exact * (1.0 - 1e-9)), 2);
    assert_eq!(count(exact * (1.0 + 1e-9)), 1);
}

/// A stall or a burst of four cells is not autocorrelation beyond 3 deviations.
#[test]
fn outliers_count_as_three_deviations() {
    let scale = 1.4826 * 2.0;
    let k: f64 = 3.0 * scale;
    // Groups of four: 2, -2, k and -2. Products of neighbors, and of cells two apart.
    let variance = (12.0 * 4.0 + 4.0 * k * k) / 16.0;
    let lag_1 = (3.0 * (3.0 * 4.0 + k * k) - 4.0 - 2.0 * 2.0 * k) / 15.0;
    let lag_2 = (2.0 * (3.0 * 4.0 + k * k) - 2.0 * 4.0 - 4.0 * 2.0 * k) / 14.0;
    // Each of the two medians removes 1/32. At three apart, cells of different groups prevail.
    let inflation = 1.0 + 2.0 * (lag_1 / variance + lag_2 / variance + 2.0 * 2.0 / 32.0);
    let exact = 50.0 / (1.2533 * scale * (inflation / 8.0).sqrt());
    for sign in [1.0, -1.0] {
        let cells = |level: f64| -> Vec<f64> {
            let groups = [2.0, -2.0, 30.0, -2.0].map(|off| [level + sign * off; 4]);
            groups.concat()
        };
        let sides = two(&cells(100.0), &cells(50.0));
        assert!(!are_merged(&sides, exact * (1.0 - 1e-9)), "{sign}");
        assert!(are_merged(&sides, exact * (1.0 + 1e-9)), "{sign}");
    }
}

/// The limit of 16 cells is 2/√16 = 0.5. Here, neighbors have a mean product of 42/14, cells a mean square of 128/16, and
/// the medians remove 2/16: the correlation is 3/8 + 1/8. Cells two apart have none.
#[test]
fn a_correlation_at_the_limit_of_chance_counts() {
    let cells = |level: f64| -> Vec<f64> {
        let off = [0.0, -5.0, -4.0, 0.0, 3.0, 3.0, -2.0, 1.0];
        off.map(|off| level + off).to_vec()
    };
    let inflation: f64 = 1.0 + 2.0 * 0.5;
    let exact = 50.0 / (1.2533 * (1.4826 * 2.5) * (inflation * 0.25).sqrt());
    let sides = two(&cells(100.0), &cells(50.0));
    assert!(!are_merged(&sides, exact * (1.0 - 1e-9)));
    assert!(are_merged(&sides, exact * (1.0 + 1e-9)));
}

/// No neighbors differ by a tenth. The second border has 2.9 standard errors, the first one 3.7. Merged first, the second
/// leaves levels of 100 and 88, which are 7.3 standard errors apart.
#[test]
fn of_borders_that_may_be_noise_the_weakest_is_merged_first() {
    let parts = [(100.0, 20), (92.0, 4), (84.0, 4)];
    let cells = parts.map(|(level, pairs)| [level - 3.0, level + 3.0].repeat(pairs));
    let cells = cells.concat();
    let segment = |start: usize, end: usize, level: f64| Segment { start, end, level };
    let three = vec![
        segment(0, 40, 100.0),
        segment(40, 48, 92.0),
        segment(48, 56, 84.0),
    ];
    let expected = [segment(0, 40, 100.0), segment(40, 56, 88.0)];
    assert_eq!(merged(&cells, three, MIN_SIGMAS), expected);
}
