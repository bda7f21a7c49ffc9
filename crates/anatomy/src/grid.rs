//! Choice of page and unit among candidates, from the extra latency of reads across boundaries.

use crate::location::SampleLocation;

/// Sizes of pages that are tried: 2 KiB to 128 KiB, powers of two and three times such.
pub(crate) fn pages() -> Vec<u64> {
    between(2 << 10, 128 << 10)
}

/// Sizes of units that are tried: 256 KiB to 128 MiB, powers of two and three times such.
pub(crate) fn units() -> Vec<u64> {
    between(256 << 10, 128 << 20)
}

/// Returns the sizes 2^n and 3·2^n in a range.
pub(crate) fn between(first: u64, last: u64) -> Vec<u64> {
    let mut sizes: Vec<u64> = (9..40)
        .flat_map(|n| [1u64 << n, 3 << n])
        .filter(|size| (first..=last).contains(size))
        .collect();
    sizes.sort_unstable();
    sizes
}

/// Extra latency of reads across boundaries of one size.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BoundaryCost {
    pub(crate) size: u64,
    pub(crate) cost: SampleLocation,
}

/// The best choice, and by how much the second best explains the costs worse (difference of χ²).
#[derive(Clone, Copy, Debug)]
pub(crate) struct GridChoice {
    pub(crate) page: Option<u64>,
    pub(crate) unit: Option<u64>,
    pub(crate) page_margin: f64,
    pub(crate) unit_margin: f64,
    /// Extra latency at a boundary of pages.
    pub(crate) page_step: SampleLocation,
}

/// One pair of candidates with its fit.
#[derive(Clone, Copy, Debug)]
struct GridFit {
    page: Option<u64>,
    unit: Option<u64>,
    chi2: f64,
    page_step: SampleLocation,
}

/// Chooses page and unit jointly: cost = c0 + c1·[page divides size] + c2·[unit divides size] with positive steps, by
/// weighted least squares over all pairs of candidates, each possibly absent. A step counts only if it lowers χ² by 12.
pub(crate) fn choose(costs: &[BoundaryCost]) -> Option<GridChoice> {
    let typical = {
        let errors: Vec<f64> = costs.iter().map(|c| c.cost.error).collect();
        hakaru_analysis::stats::median(&errors)?
    };
    let weigh = |cost: &BoundaryCost| cost.cost.error.max(0.7 * typical).max(1e-9);
    let with_none = |sizes: Vec<u64>| -> Vec<Option<u64>> {
        std::iter::once(None)
            .chain(sizes.into_iter().map(Some))
            .collect()
    };
    let mut fits = Vec::new();
    for page in with_none(pages()) {
        for unit in with_none(units()) {
            if let (Some(page), Some(unit)) = (page, unit)
                && !unit.is_multiple_of(page)
            {
                continue;
            }
            fits.extend(fit(costs, page, unit, &weigh));
        }
    }
    let best = fits
        .iter()
        .min_by(|a, b| penalized(a).total_cmp(&penalized(b)))?;
    let margin = |rival: &dyn Fn(&GridFit) -> bool| {
        let rivals = fits.iter().filter(|fit| rival(fit)).map(penalized);
        rivals.fold(f64::INFINITY, f64::min) - penalized(best)
    };
    Some(GridChoice {
        page: best.page,
        unit: best.unit,
        page_margin: margin(&|fit| fit.page != best.page),
        unit_margin: margin(&|fit| fit.page == best.page && fit.unit != best.unit),
        page_step: best.page_step,
    })
}

/// χ² plus 12 for each step.
fn penalized(fit: &GridFit) -> f64 {
    let steps = u32::from(fit.page.is_some()) + u32::from(fit.unit.is_some());
    fit.chi2 + 12.0 * f64::from(steps)
}

/// Fits one pair of candidates; `None` if its steps cannot be told apart or are not positive.
fn fit(
    costs: &[BoundaryCost],
    page: Option<u64>,
    unit: Option<u64>,
    weigh: &dyn Fn(&BoundaryCost) -> f64,
) -> Option<GridFit> {
    let divides = |candidate: Option<u64>, size: u64| {
        f64::from(candidate.is_some_and(|candidate| size.is_multiple_of(candidate)))
    };
    let terms = [true, page.is_some(), unit.is_some()];
    let mut normal = [[0.0; 4]; 3];
    for cost in costs {
        let row = [1.0, divides(page, cost.size), divides(unit, cost.size)];
        let weight = 1.0 / weigh(cost).powi(2);
        for i in 0..3 {
            for j in 0..3 {
                normal[i][j] += weight * row[i] * row[j];
            }
            normal[i][3] += weight * row[i] * cost.cost.value;
        }
    }
    for (i, used) in terms.into_iter().enumerate() {
        if !used {
            normal[i] = [0.0; 4];
            normal[i][i] = 1.0;
        }
    }
    let (solution, inverse) = solve(normal)?;
    if (page.is_some() && solution[1] <= 0.0) || (unit.is_some() && solution[2] <= 0.0) {
        return None;
    }
    let chi2 = costs.iter().map(|cost| {
        let expected = solution[0]
            + solution[1] * divides(page, cost.size)
            + solution[2] * divides(unit, cost.size);
        ((cost.cost.value - expected) / weigh(cost)).powi(2)
    });
    let page_step = match page {
        Some(_) => SampleLocation {
            value: solution[1],
            error: inverse[1].max(0.0).sqrt(),
        },
        None => SampleLocation::exact(0.0),
    };
    Some(GridFit {
        page,
        unit,
        chi2: chi2.sum(),
        page_step,
    })
}

/// Solves three linear equations by elimination with pivots; returns the diagonal of the inverse, too.
fn solve(system: [[f64; 4]; 3]) -> Option<([f64; 3], [f64; 3])> {
    let mut rows = [[0.0; 7]; 3];
    for (i, row) in rows.iter_mut().enumerate() {
        row[..4].copy_from_slice(&system[i]);
        row[4 + i] = 1.0;
    }
    for column in 0..3 {
        let pivot =
            (column..3).max_by(|&a, &b| rows[a][column].abs().total_cmp(&rows[b][column].abs()))?;
        rows.swap(column, pivot);
        let scale = rows[column][column];
        let largest = system[column].iter().fold(0.0f64, |a, b| a.max(b.abs()));
        if scale.abs() <= 1e-12 * largest.max(f64::MIN_POSITIVE) {
            return None;
        }
        for value in &mut rows[column] {
            *value /= scale;
        }
        let solved = rows[column];
        for (i, row) in rows.iter_mut().enumerate() {
            if i != column {
                let factor = row[column];
                for (value, of_solved) in row.iter_mut().zip(solved) {
                    *value -= factor * of_solved;
                }
            }
        }
    }
    Some((
        [rows[0][3], rows[1][3], rows[2][3]],
        [rows[0][4], rows[1][5], rows[2][6]],
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use hakaru_model::rng::Rng;

    fn costs(
        rng: &mut Rng,
        page: u64,
        unit: u64,
        steps: [f64; 2],
        error: f64,
    ) -> Vec<BoundaryCost> {
        let mut normal = || (0..12).map(|_| rng.unit()).sum::<f64>() - 6.0;
        let sizes = pages().into_iter().chain(units());
        sizes
            .map(|size| {
                let at_page = f64::from(page > 0 && size.is_multiple_of(page));
                let at_unit = f64::from(unit > 0 && size.is_multiple_of(unit));
                let value = steps[0] * at_page + steps[1] * at_unit + error * normal();
                BoundaryCost {
                    size,
                    cost: SampleLocation { value, error },
                }
            })
            .collect()
    }

    #[test]
    fn chooses_both_sizes_jointly_or_declines() {
        let mut rng = Rng::new(9);
        for (page, unit) in [
            (16 << 10, 4 << 20),
            (48 << 10, 24 << 20),
            (4 << 10, 64 << 20),
            (8 << 10, 0),
            (0, 8 << 20),
            (0, 0),
        ] {
            let mut wrong = 0;
            for _ in 0..40 {
                let found = choose(&costs(&mut rng, page, unit, [60e3, 150e3], 6e3)).unwrap();
                let right = (found.page.unwrap_or(0), found.unit.unwrap_or(0)) == (page, unit);
                let sure = found.page_margin > 25.0 && found.unit_margin > 25.0;
                wrong += u32::from(!right && sure);
                assert!(right || !sure, "{page} {unit}: {found:?}");
            }
            assert_eq!(wrong, 0);
        }
        let found = choose(&costs(&mut rng, 16 << 10, 4 << 20, [60e3, 150e3], 6e3)).unwrap();
        assert!((found.page_step.value - 60e3).abs() < 4.0 * found.page_step.error);
    }

    #[test]
    fn a_large_step_of_units_does_not_choose_a_wrong_page() {
        let mut rng = Rng::new(10);
        for _ in 0..50 {
            let found = choose(&costs(&mut rng, 16 << 10, 4 << 20, [8e3, 600e3], 6e3)).unwrap();
            assert!(
                found.page == Some(16 << 10) || found.page_margin < 25.0,
                "{found:?}"
            );
            assert_eq!(found.unit, Some(4 << 20));
        }
    }
}
