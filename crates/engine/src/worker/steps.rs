//! Counts queue depths and batch sizes in steps.

use hakaru_model::record::DepthSteps;

/// Counts `ios` I/Os at a queue depth, in steps of 1, 2, 4, 8, 16, 32, 64 and more in flight.
#[inline]
pub(super) fn count_depth(steps: &mut DepthSteps, in_flight: usize, ios: u64) {
    steps[(usize::BITS - 1 - in_flight.max(1).leading_zeros()).min(6) as usize] += ios;
}

/// Counts a batch, in steps of 0, 1 to 4, 5 to 8, 9 to 16, 17 to 32, 33 to 64 and more I/Os.
#[inline]
pub(super) fn count_batch(steps: &mut DepthSteps, count: usize) {
    let step = match count {
        0 => 0,
        1..=4 => 1,
        n => (usize::BITS - (n - 1).leading_zeros()) as usize - 1,
    };
    steps[step.min(6)] += 1;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn depths_and_batches_fall_into_their_steps() {
        let mut steps = [0; 7];
        [1, 2, 3, 4, 31, 32, 63, 64, 900]
            .into_iter()
            .for_each(|n| count_depth(&mut steps, n, 1));
        assert_eq!(steps, [1, 2, 1, 0, 1, 2, 2]);
        let mut steps = [0; 7];
        [0, 1, 4, 5, 8, 9, 16, 17, 32, 33, 64, 65]
            .into_iter()
            .for_each(|n| count_batch(&mut steps, n));
        assert_eq!(steps, [1, 2, 2, 2, 2, 2, 1]);
    }
}
