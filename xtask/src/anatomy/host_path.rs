//! The path of a request through an emulated machine, whose speed wanders.

use hakaru_model::rng::Rng;
use hakaru_model::units::Nanos;

/// Returns the time of a request in the host at a time, with a slow wander of a period.
pub(super) fn request_time(rng: &mut Rng, now: Nanos, period: u64) -> Nanos {
    let turns = (now.0 % period) as f64 / period as f64;
    let wander = 1.0 + 0.3 * (std::f64::consts::TAU * turns).sin();
    let is_busy = now.0 % 60_000_000_000 > 57_000_000_000;
    let busy = if is_busy { 1.5 } else { 1.0 };
    // Close to a normal distribution.
    let noise = (0..12).map(|_| rng.unit()).sum::<f64>() - 6.0;
    let stall = if rng.below(250) == 0 { 13e6 } else { 0.0 };
    Nanos((450e3 * wander * busy * (0.25 * noise).exp() + stall) as u64)
}
