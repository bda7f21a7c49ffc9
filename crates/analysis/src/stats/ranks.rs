//! Mann-Whitney test: whether one sample tends to exceed another, by ranks.

use super::distributions::normal_cdf;

/// Result of [`mann_whitney`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct MannWhitney {
    /// Number of pairs in which the value of `b` exceeds that of `a`; ties count half.
    pub u: f64,
    /// Two-sided probability of a U this far from its mean if neither sample tends to exceed the other.
    pub p: f64,
    /// Whether `p` is exact instead of a normal approximation.
    pub exact: bool,
}

/// Maximum number of values in both samples for the exact distribution: its counts are then below 2^53.
const EXACT_UP_TO: usize = 50;

/// Tests whether one sample tends to exceed the other.
///
/// Exact without ties and for up to 50 values in both samples together; otherwise a normal approximation with
/// corrections for ties and continuity. `None` if a sample is empty or a value is not finite. Source: Mann and Whitney
/// (1947); the corrections as in R's `wilcox.test`.
pub(crate) fn mann_whitney(a: &[f64], b: &[f64]) -> Option<MannWhitney> {
    if a.is_empty() || b.is_empty() || a.iter().chain(b).any(|v| !v.is_finite()) {
        return None;
    }
    let u = pairs_won(a, b);
    let ties = tie_sizes(a, b);
    if ties.is_empty() && a.len() + b.len() <= EXACT_UP_TO {
        return Some(MannWhitney {
            u,
            p: exact_p(u, a.len(), b.len()),
            exact: true,
        });
    }
    Some(MannWhitney {
        u,
        p: normal_p(u, a.len() as f64, b.len() as f64, &ties),
        exact: false,
    })
}

/// Returns the number of pairs in which `b` exceeds `a`; ties count half. The cost is sorting `a`.
pub(crate) fn pairs_won(a: &[f64], b: &[f64]) -> f64 {
    let mut a = a.to_vec();
    a.sort_by(f64::total_cmp);
    let won =
        |y: f64| (a.partition_point(|&x| x < y) + a.partition_point(|&x| x <= y)) as f64 / 2.0;
    b.iter().map(|&y| won(y)).sum()
}

/// Returns the number of values in each group of ties.
fn tie_sizes(a: &[f64], b: &[f64]) -> Vec<f64> {
    let mut all = [a, b].concat();
    all.sort_by(f64::total_cmp);
    all.chunk_by(|x, y| x == y)
        .filter(|group| group.len() > 1)
        .map(|group| group.len() as f64)
        .collect()
}

/// Returns the two-sided tail probability of the exact distribution.
///
/// The numbers of orders for each U are the coefficients of the Gaussian binomial, Π (1 - q^(m+i)) / (1 - q^i).
fn exact_p(u: f64, n: usize, m: usize) -> f64 {
    let size = n * m + 1;
    let mut ways = vec![0.0; size];
    ways[0] = 1.0;
    for i in 1..=n {
        for k in (m + i..size).rev() {
            ways[k] -= ways[k - m - i];
        }
        for k in i..size {
            ways[k] += ways[k - i];
        }
    }
    let total: f64 = ways.iter().sum();
    let low = u.min((n * m) as f64 - u) as usize;
    let tail: f64 = ways[..=low].iter().sum();
    (2.0 * tail / total).min(1.0)
}

fn normal_p(u: f64, n: f64, m: f64, ties: &[f64]) -> f64 {
    let all = n + m;
    let tied: f64 = ties.iter().map(|t| t.powi(3) - t).sum();
    let variance = n * m / 12.0 * (all + 1.0 - tied / (all * (all - 1.0)));
    if variance <= 0.0 {
        return 1.0;
    }
    let distance = ((u - n * m / 2.0).abs() - 0.5).max(0.0);
    (2.0 * normal_cdf(-distance / variance.sqrt())).min(1.0)
}

#[cfg(test)]
mod tests {
    use super::super::samples::{PLANT_CONTROL, PLANT_TREATED, SLEEP_1, SLEEP_2, close};
    use super::*;

    #[test]
    fn small_samples_are_counted_exactly() {
        // scipy.stats.mannwhitneyu(a, b, method='exact')
        let check = |a: &[f64], b: &[f64], want: f64| {
            let found = mann_whitney(a, b).unwrap();
            assert!(found.exact);
            close(found.p, want, 1e-12);
        };
        check(&[1.0, 2.0, 3.0], &[4.0, 5.0, 6.0], 0.1);
        check(
            &[1.1, 2.2, 3.3, 4.4],
            &[2.5, 5.0, 6.0, 7.0, 8.0],
            0.063_492_063_492_063_49,
        );
        check(
            &SLEEP_1[..5],
            &[4.4, 5.5, 1.6, 4.6, 3.5],
            0.007_936_507_936_507_936,
        );
        // Ten against ten, no overlap: 2 / C(20, 10).
        let (low, high): (Vec<f64>, Vec<f64>) = (
            (0..10).map(f64::from).collect(),
            (10..20).map(f64::from).collect(),
        );
        check(&low, &high, 2.0 / 184_756.0);
    }

    #[test]
    fn up_to_fifty_values_are_counted_exactly() {
        let values: Vec<f64> = (0..51).map(f64::from).collect();
        for (n, m, exact) in [
            (25, 25, true),
            (1, 49, true),
            (25, 26, false),
            (50, 1, false),
        ] {
            let found = mann_whitney(&values[..n], &values[n..n + m]).unwrap();
            assert_eq!(
                (found.u, found.exact),
                ((n * m) as f64, exact),
                "{n} and {m}"
            );
        }
    }

    #[test]
    fn ties_are_corrected_for_as_in_r() {
        // R: wilcox.test(extra ~ group, data = sleep): W = 25.5, p-value = 0.06933
        let sleep = mann_whitney(&SLEEP_2, &SLEEP_1).unwrap();
        assert!(!sleep.exact);
        close(sleep.u, 25.5, 0.0);
        close(sleep.p, 0.069_327_575_433_626_58, 1e-9);
        // R: wilcox.test(ctl, trt1): W = 67.5, p-value = 0.1986
        let plant = mann_whitney(&PLANT_TREATED, &PLANT_CONTROL).unwrap();
        close(plant.u, 67.5, 0.0);
        close(plant.p, 0.1986, 5e-5);
    }

    #[test]
    fn equal_values_say_nothing() {
        assert_eq!(mann_whitney(&[1.0; 4], &[1.0; 4]).unwrap().p, 1.0);
        assert_eq!(mann_whitney(&[], &[1.0]), None);
        assert_eq!(mann_whitney(&[f64::NAN], &[1.0]), None);
    }
}
