//! What a request, a byte and a jump cost on a device, fitted to traced runs on the raw device.

use super::{is_incomplete, of_op};
use hakaru_model::io_path::{IoPath, PriceModel, PriceRefusal};
use hakaru_model::job::Op;

/// Runs needed: three prices, and one run more to check them.
const NEEDED_RUNS: usize = 4;

/// Determinant of the correlations of requests, bytes and jumps below which their prices cannot be told apart.
const DISTINCT: f64 = 1e-4;

/// One raw run as fractions of its time: the prices times these add up to 1.
type CostRow = [f64; 3];

/// Fits the prices of one direction to traced runs on the raw device: those without a file system, in this direction
/// only.
///
/// Source: least squares of relative errors with prices of at least 0, by comparing all sets of prices that are not 0.
///
/// # Errors
/// Refuses with fewer than four runs, with runs that are too alike, and if a run is missed by more than
/// [`PriceModel::MISFIT_LIMIT`].
pub fn price_model(raw: &[&IoPath], op: Op) -> Result<PriceModel, PriceRefusal> {
    let rows: Vec<CostRow> = raw.iter().filter_map(|path| row(path, op)).collect();
    let runs = rows.len() as u32;
    if rows.len() < NEEDED_RUNS {
        let needed = NEEDED_RUNS as u32;
        return Err(PriceRefusal::TooFewRuns { runs, needed });
    }
    if !are_distinct(&rows) {
        return Err(PriceRefusal::Indistinct);
    }
    let prices = fit(&rows).ok_or(PriceRefusal::Indistinct)?;
    let misfit = rows
        .iter()
        .map(|row| error(row, &prices).abs())
        .fold(0.0, f64::max);
    if misfit > PriceModel::MISFIT_LIMIT {
        return Err(PriceRefusal::Misfit { misfit });
    }
    let [request, byte, jump] = prices;
    Ok(PriceModel {
        op,
        request,
        byte,
        jump,
        runs,
        misfit,
    })
}

fn row(path: &IoPath, op: Op) -> Option<CostRow> {
    let requests: u64 = of_op(path, op).map(|it| it.requests).sum();
    let bytes: u64 = of_op(path, op).map(|it| it.bytes.0).sum();
    let jumps: u64 = of_op(path, op).map(|it| it.runs).sum();
    let others = path
        .classes
        .iter()
        .any(|it| it.op.is_some_and(|it| it != op));
    let time = path.busy.0.saturating_sub(path.flush_only.0);
    let usable = path.disk.filesystem.is_none() && !others && !is_incomplete(path);
    (usable && requests > 0 && time > 0)
        .then(|| [requests, bytes, jumps].map(|count| count as f64 / time as f64))
}

fn error(row: &CostRow, prices: &[f64; 3]) -> f64 {
    dot(row, prices) - 1.0
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

fn column(rows: &[CostRow], index: usize) -> Vec<f64> {
    rows.iter().map(|row| row[index]).collect()
}

/// Whether no column is nearly a combination of the others.
fn are_distinct(rows: &[CostRow]) -> bool {
    let columns = [0, 1, 2].map(|index| column(rows, index));
    let norm = |column: &[f64]| dot(column, column).sqrt();
    let cosine = |a: usize, b: usize| {
        dot(&columns[a], &columns[b]) / (norm(&columns[a]) * norm(&columns[b]))
    };
    let (x, y, z) = (cosine(0, 1), cosine(0, 2), cosine(1, 2));
    let determinant = 1.0 + 2.0 * x * y * z - x * x - y * y - z * z;
    determinant > DISTINCT
}

/// Returns the prices with the least sum of squared relative errors.
fn fit(rows: &[CostRow]) -> Option<[f64; 3]> {
    let squares =
        |prices: &[f64; 3]| -> f64 { rows.iter().map(|row| error(row, prices).powi(2)).sum() };
    let sets = (1_u8..8).filter_map(|set| {
        let used: Vec<usize> = (0..3).filter(|index| set & (1 << index) != 0).collect();
        solve(rows, &used)
    });
    sets.filter(|prices| prices.iter().all(|&price| price >= 0.0))
        .min_by(|a, b| squares(a).total_cmp(&squares(b)))
}

/// Solves the normal equations for the given columns by elimination; the other prices are 0.
fn solve(rows: &[CostRow], used: &[usize]) -> Option<[f64; 3]> {
    let columns: Vec<_> = used.iter().map(|&index| column(rows, index)).collect();
    // Scaled to length 1, because requests and bytes differ by orders of magnitude.
    let norms: Vec<f64> = columns.iter().map(|it| dot(it, it).sqrt()).collect();
    let scaled: Vec<Vec<f64>> = columns
        .iter()
        .zip(&norms)
        .map(|(column, norm)| column.iter().map(|it| it / norm).collect())
        .collect();
    let mut matrix: Vec<Vec<f64>> = scaled
        .iter()
        .map(|row| {
            let left = scaled.iter().map(|other| dot(row, other));
            left.chain([row.iter().sum()]).collect()
        })
        .collect();
    for pivot in 0..used.len() {
        let best = (pivot..used.len())
            .max_by(|&a, &b| matrix[a][pivot].abs().total_cmp(&matrix[b][pivot].abs()))?;
        matrix.swap(pivot, best);
        let head = matrix[pivot].clone();
        if head[pivot].abs() < f64::EPSILON || !head[pivot].is_finite() {
            return None;
        }
        for (index, row) in matrix.iter_mut().enumerate() {
            if index != pivot {
                let factor = row[pivot] / head[pivot];
                row.iter_mut()
                    .zip(&head)
                    .for_each(|(a, b)| *a -= factor * b);
            }
        }
    }
    let mut prices = [0.0; 3];
    for (position, &index) in used.iter().enumerate() {
        let row = &matrix[position];
        prices[index] = row[used.len()] / row[position] / norms[position];
    }
    Some(prices)
}
