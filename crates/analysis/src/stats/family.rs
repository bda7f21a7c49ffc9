//! Many tests at once: Holm's correction.

/// Adjusts the probabilities of a family of tests so that any false alarm in it has at most the level they are judged
/// at, whatever their dependence. Order is kept; each is at least what it was, and at most 1.
///
/// Source: Holm (1979), step-down; the same as `p.adjust(p, "holm")` of R.
pub fn holm(p_values: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..p_values.len()).collect();
    order.sort_by(|&i, &j| p_values[i].total_cmp(&p_values[j]));
    let mut adjusted = vec![1.0; p_values.len()];
    let mut floor: f64 = 0.0;
    for (rank, &index) in order.iter().enumerate() {
        floor = floor.max((p_values.len() - rank) as f64 * p_values[index]).min(1.0);
        adjusted[index] = floor;
    }
    adjusted
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn holm_is_that_of_r() {
        // R: p.adjust(c(0.01, 0.04, 0.03, 0.005), "holm") is 0.03 0.06 0.06 0.02
        let adjusted = holm(&[0.01, 0.04, 0.03, 0.005]);
        for (got, want) in adjusted.iter().zip([0.03, 0.06, 0.06, 0.02]) {
            assert!((got - want).abs() < 1e-12, "{adjusted:?}");
        }
        assert_eq!(holm(&[0.9, 0.8]), [1.0, 1.0]);
        assert_eq!(holm(&[]), Vec::<f64>::new());
    }
}
