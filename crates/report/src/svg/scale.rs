//! Converts values to positions on an axis, and selects its ticks.

use super::canvas::width_of;

/// Kinds of scales.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Scale {
    /// Linear scale.
    Linear {
        /// Value at the start.
        min: f64,
        /// Value at the end.
        max: f64,
    },
    /// Logarithmic scale.
    Log {
        /// Value at the start; must be positive.
        min: f64,
        /// Value at the end.
        max: f64,
    },
    /// Shares on a logarithmic scale towards 1: 90%, 99% and 99.9% are equally spaced, at -log10(1 - share).
    Tail {
        /// Step at which the axis begins.
        from: f64,
        /// Step at which it ends.
        decades: f64,
    },
}

impl Scale {
    /// A linear scale from zero to a round number at or above `largest`.
    pub(super) fn from_zero(largest: f64) -> Scale {
        let largest = if sane(largest) { largest } else { 1.0 };
        let step = nice_step(largest, 5);
        Scale::Linear {
            min: 0.0,
            max: (largest / step - 1e-9).ceil() * step,
        }
    }

    /// A logarithmic scale that contains both values, limited by powers of ten or their halves and fifths.
    pub(super) fn log_around(smallest: f64, largest: f64) -> Scale {
        if !sane(smallest) || !sane(largest) {
            return Scale::Log { min: 1e3, max: 1e6 };
        }
        let (min, max) = (round_down(smallest), round_up(largest.max(smallest)));
        Scale::Log {
            min,
            max: if max > min { max } else { min * 10.0 },
        }
    }

    /// Position of a value: 0 at the start, 1 at the end, clamped to this range.
    pub(super) fn place(&self, value: f64) -> f64 {
        let at = match *self {
            Scale::Linear { min, max } => (value - min) / (max - min),
            Scale::Log { min, max } => (value / min).ln() / (max / min).ln(),
            Scale::Tail { from, decades } => (-(1.0 - value).log10() - from) / (decades - from),
        };
        if at.is_nan() { 0.0 } else { at.clamp(0.0, 1.0) }
    }

    /// Values of the ticks: about `wanted` on a linear axis, all round values on the others.
    pub(super) fn ticks(&self, wanted: u32) -> Vec<f64> {
        match *self {
            Scale::Linear { min, max } => {
                let step = nice_step(max - min, wanted);
                let count = ((max - min) / step + 1e-9).floor() as u32;
                (0..=count.min(50))
                    .map(|i| min + f64::from(i) * step)
                    .collect()
            }
            Scale::Log { min, max } => {
                let few = (max / min).log10() < 2.5;
                let steps: &[f64] = if few { &[1.0, 2.0, 5.0] } else { &[1.0] };
                let first = min.log10().floor() as i32;
                let last = max.log10().ceil() as i32;
                let all = (first..=last).flat_map(|e| steps.iter().map(move |s| s * 10f64.powi(e)));
                all.filter(|v| *v >= min * 0.999 && *v <= max * 1.001)
                    .collect()
            }
            Scale::Tail { from, decades } => {
                let tails = (1..=decades.floor() as i32).map(|d| 1.0 - 10f64.powi(-d));
                let mut ticks: Vec<f64> = std::iter::once(0.5).chain(tails).collect();
                // P95 is quoted as often as P90 and P99.
                if let Some(after) = ticks.iter().position(|&q| q > 0.95) {
                    ticks.insert(after, 0.95);
                }
                ticks.retain(|q| -(1.0 - q).log10() >= from - 1e-9);
                ticks
            }
        }
    }
}

/// Whether a value is suitable for an axis; storage figures are far from both limits.
fn sane(value: f64) -> bool {
    (1e-9..1e30).contains(&value)
}

/// Returns 1, 2 or 5 times a power of ten, so that about `wanted` steps cover `span`.
fn nice_step(span: f64, wanted: u32) -> f64 {
    let rough = span / f64::from(wanted.max(1));
    if !rough.is_finite() || rough <= 0.0 {
        return 1.0;
    }
    let power = 10f64.powf(rough.log10().floor());
    let step = [1.0, 2.0, 5.0]
        .into_iter()
        .find(|s| s * power >= rough * 0.999)
        .unwrap_or(10.0);
    step * power
}

fn round_down(value: f64) -> f64 {
    let power = 10f64.powf(value.log10().floor());
    [5.0, 2.0]
        .into_iter()
        .find(|s| s * power <= value * 1.001)
        .unwrap_or(1.0)
        * power
}

fn round_up(value: f64) -> f64 {
    let power = 10f64.powf(value.log10().floor());
    [1.0, 2.0, 5.0]
        .into_iter()
        .find(|s| s * power >= value * 0.999)
        .unwrap_or(10.0)
        * power
}

/// Moves labels into a chart of this width, and removes those that would overlap the previous one.
pub(super) fn labels_within(labels: Vec<(f64, String)>, width: f64) -> Vec<(f64, String)> {
    let moved = labels.into_iter().map(|(x, text)| {
        let half = (width_of(&text) / 2.0).min(width / 2.0);
        (x.clamp(half, width - half), text)
    });
    without_overlaps(moved.collect())
}

/// Removes labels that would overlap the previous one; the first label is always kept.
pub(super) fn without_overlaps(labels: Vec<(f64, String)>) -> Vec<(f64, String)> {
    let mut free_from = f64::NEG_INFINITY;
    let mut kept = Vec::new();
    for (x, text) in labels {
        let half = width_of(&text) / 2.0;
        if x - half >= free_from {
            free_from = x + half + 6.0;
            kept.push((x, text));
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn axes_end_at_round_numbers() {
        assert_eq!(
            Scale::from_zero(41.3),
            Scale::Linear {
                min: 0.0,
                max: 50.0
            }
        );
        assert_eq!(Scale::from_zero(3.7), Scale::Linear { min: 0.0, max: 4.0 });
        assert_eq!(
            Scale::from_zero(41.3).ticks(5),
            [0.0, 10.0, 20.0, 30.0, 40.0, 50.0]
        );
        assert_eq!(
            Scale::from_zero(f64::NAN),
            Scale::Linear { min: 0.0, max: 1.0 }
        );
        assert_eq!(
            Scale::log_around(430e3, 18e6).ticks(0),
            [2e5, 5e5, 1e6, 2e6, 5e6, 1e7, 2e7]
        );
    }

    #[test]
    fn the_tail_is_stretched() {
        let tail = Scale::Tail {
            from: 0.0,
            decades: 4.0,
        };
        let places: Vec<f64> = [0.0, 0.9, 0.99, 0.999, 0.9999]
            .iter()
            .map(|&q| tail.place(q))
            .collect();
        for (place, expected) in places.iter().zip([0.0, 0.25, 0.5, 0.75, 1.0]) {
            assert!((place - expected).abs() < 1e-9, "{places:?}");
        }
        assert_eq!(tail.place(1.0), 1.0);
        assert_eq!(tail.ticks(0).len(), 6);
        assert!(tail.ticks(0).contains(&0.95));
        let late = Scale::Tail {
            from: 1.25,
            decades: 3.05,
        };
        assert_eq!(late.ticks(0), [0.95, 0.99, 0.999]);
        assert!((0.02..0.04).contains(&late.place(0.95)));
    }

    proptest! {
        #[test]
        fn any_value_has_a_place(value: f64, a: f64, b: f64) {
            for scale in [Scale::from_zero(a), Scale::log_around(a, b), Scale::Tail { from: 0.0, decades: 3.0 }] {
                prop_assert!((0.0..=1.0).contains(&scale.place(value)));
                let ticks = scale.ticks(5);
                prop_assert!((1..=100).contains(&ticks.len()), "{:?} {:?}", scale, ticks);
            }
        }
    }
}
