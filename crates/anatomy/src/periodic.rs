//! Choice of the unit from the slow writes of a long sequential write.

use crate::grid;
use crate::location::SampleLocation;
use hakaru_analysis::stats::{mad, median};

/// A write of the series: its offset, its length and its latency.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TimedWrite {
    pub(crate) offset: u64,
    pub(crate) len: u64,
    pub(crate) latency: f64,
}

impl TimedWrite {
    /// Returns whether the write begins in, or reaches into, a new unit.
    fn opens(&self, unit: u64) -> bool {
        self.offset.is_multiple_of(unit)
            || self.offset / unit != (self.offset + self.len - 1) / unit
    }
}

/// The unit whose first writes are slow.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SlowUnit {
    pub(crate) unit: u64,
    /// Extra latency of its first writes.
    pub(crate) cost: SampleLocation,
    /// Gain in log likelihood over the second best candidate, in units of χ².
    pub(crate) margin: f64,
    pub(crate) gain: f64,
}

/// Finds the unit among the candidates whose first writes are slower than all others. Each regime (cache, flash) is a
/// slice of its own: latencies count as deviations from the median of their regime.
pub(crate) fn slow_unit(regimes: &[&[TimedWrite]]) -> Option<SlowUnit> {
    let mut scores: Vec<(TimedWrite, f64)> = Vec::new();
    for regime in regimes.iter().filter(|regime| regime.len() >= 32) {
        let latencies: Vec<f64> = regime.iter().map(|write| write.latency).collect();
        let (middle, spread) = (median(&latencies)?, 1.4826 * mad(&latencies)?);
        let spread = spread.max(1e-3 * middle);
        scores.extend(
            regime
                .iter()
                .map(|write| (*write, ((write.latency - middle) / spread).max(-6.0))),
        );
    }
    let gain = |unit: u64| -> Option<f64> {
        let of_unit: Vec<f64> = scores
            .iter()
            .filter(|(write, _)| write.opens(unit))
            .map(|(_, score)| *score)
            .collect();
        let middle = median(&of_unit).filter(|m| *m > 0.0 && of_unit.len() >= 3)?;
        // Σz² − Σ(z − m)², with z limited, so that stalls count no more than an opening.
        Some(
            of_unit
                .iter()
                .map(|z| 2.0 * z.min(2.0 * middle) * middle - middle * middle)
                .sum(),
        )
    };
    let mut gains: Vec<(f64, u64)> = grid::units()
        .into_iter()
        .filter_map(|unit| gain(unit).map(|gain| (gain, unit)))
        .collect();
    gains.sort_by(|a, b| b.0.total_cmp(&a.0));
    let (gain, unit) = *gains.first()?;
    let second = gains.get(1).map_or(0.0, |second| second.0.max(0.0));
    let regime = regimes.iter().max_by_key(|regime| regime.len())?;
    let (opening, rest): (Vec<&TimedWrite>, Vec<&TimedWrite>) =
        regime.iter().partition(|write| write.opens(unit));
    let latencies =
        |writes: &[&TimedWrite]| -> Vec<f64> { writes.iter().map(|write| write.latency).collect() };
    let (opening, rest) = (latencies(&opening), latencies(&rest));
    let cost = SampleLocation::of(&opening, 0.0)?.minus(SampleLocation::of(&rest, 0.0)?);
    Some(SlowUnit {
        unit,
        cost,
        margin: gain - second,
        gain,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use hakaru_model::rng::Rng;

    fn writes(rng: &mut Rng, unit: u64, cost: f64, count: u64) -> Vec<TimedWrite> {
        let mut normal = || (0..12).map(|_| rng.unit()).sum::<f64>() - 6.0;
        let len = 192 << 10;
        (0..count)
            .map(|n| {
                let mut write = TimedWrite {
                    offset: (320 << 20) + n * len,
                    len,
                    latency: 10e6 * (0.03 * normal()).exp(),
                };
                if unit > 0 && write.opens(unit) {
                    write.latency += cost;
                }
                if n % 311 == 7 {
                    write.latency += 200e6;
                }
                write
            })
            .collect()
    }

    #[test]
    fn finds_units_despite_stalls_and_nothing_in_noise() {
        let mut rng = Rng::new(4);
        for unit in [2 << 20, 4 << 20, 6 << 20, 24 << 20] {
            let found = slow_unit(&[&writes(&mut rng, unit, 1.5e6, 4000)]).unwrap();
            assert_eq!(found.unit, unit);
            assert!(found.gain > 40.0 && found.margin > 25.0, "{found:?}");
            assert!((found.cost.value - 1.5e6).abs() < 4.0 * found.cost.error);
        }
        for _ in 0..20 {
            let found = slow_unit(&[&writes(&mut rng, 0, 0.0, 4000)]);
            assert!(found.is_none_or(|found| found.gain < 40.0 || found.margin < 25.0));
        }
    }
}
