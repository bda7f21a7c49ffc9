//! Predictions: a workload on the fitted model, with an interval.

use crate::device::{DeviceError, TimedDevice};
use crate::fit::fit;
use crate::workload::{AccessPattern, Workload, drive};
use hakaru_analysis::stats::median;
use hakaru_model::anatomy::{Anatomy, CardFinding, CardProperty as P, PropertyUnit, PropertyValue};
use hakaru_model::device_model::DeviceModel;
use hakaru_model::rng::Rng;

/// Standard deviation of the logarithm of the time that the model itself leaves open, calibrated on simulated cards.
pub const MODEL_SPREAD: f64 = 0.02;

/// Draws of the total time.
const DRAWS: usize = 600;

/// A predicted result, with 95% intervals.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Prediction {
    /// Bytes per second of busy time.
    pub bandwidth: PropertyValue,
    /// Median latency in ns.
    pub p50: f64,
    /// 99th percentile of the latency in ns.
    pub p99: f64,
}

/// Why there is no prediction.
#[derive(Debug, thiserror::Error)]
pub enum PredictionError {
    /// It depends on a property that is unknown.
    #[error("unknown: {0:?}")]
    Needs(P),
    /// The model could not be run.
    #[error(transparent)]
    Device(#[from] DeviceError),
}

/// Makes a simulated card of a device model.
pub type Simulate<'a> = dyn FnMut(DeviceModel) -> Box<dyn TimedDevice> + 'a;

/// Predicts a workload on a card in its initial state: cache empty, no unit open.
///
/// # Errors
/// A property that the workload depends on is unknown.
pub fn predict(
    anatomy: &Anatomy,
    workload: &Workload,
    seed: u64,
    simulate: &mut Simulate<'_>,
) -> Result<Prediction, PredictionError> {
    let traits = WorkloadTraits::of(workload);
    if let Some(missing) = missing_for(anatomy, &traits) {
        return Err(PredictionError::Needs(missing));
    }
    let model = without_stalls(anatomy).ok_or(PredictionError::Needs(P::WriteRate))?;
    let result = drive(workload, simulate(model.clone()).as_mut(), seed)?;
    let mut exact = model;
    exact.noise = None;
    let exact = drive(workload, simulate(exact).as_mut(), seed)?.time;
    let mut variance = MODEL_SPREAD * MODEL_SPREAD;
    for (_, model) in at_upper_ends(anatomy) {
        let time = drive(workload, simulate(model).as_mut(), seed)?.time;
        variance += ((time / exact).ln() / 2.6).powi(2);
    }
    let times = draw_times(
        anatomy,
        result.time,
        variance.sqrt(),
        workload.requests,
        seed,
    );
    let mut latencies = result.latencies;
    latencies.sort_by(f64::total_cmp);
    let at = |share: f64| latencies[((latencies.len() - 1) as f64 * share) as usize];
    let quantile = |share: f64| times[((times.len() - 1) as f64 * share) as usize];
    let bytes = result.bytes as f64 * 1e9;
    Ok(Prediction {
        bandwidth: PropertyValue {
            value: bytes / median(&times).unwrap_or(result.time),
            low: bytes / quantile(0.985),
            high: bytes / quantile(0.015),
        },
        p50: at(0.5),
        p99: at(0.99),
    })
}

/// Draws total times in ascending order: log-normal, plus stalls whose rate has a gamma distribution (Jeffreys prior).
pub fn draw_times(anatomy: &Anatomy, time: f64, spread: f64, requests: u64, seed: u64) -> Vec<f64> {
    let mut rng = Rng::fork(seed, 0x57a11);
    let noise = &anatomy.noise;
    let mean = noise.stall_time.0 as f64 / noise.stalls.max(1) as f64;
    let mut times: Vec<f64> = (0..DRAWS)
        .map(|_| {
            let base = time * (spread * normal(&mut rng)).exp();
            // Gamma(k + 1/2) by the approximation of Wilson and Hilferty (1931).
            let shape = noise.stalls as f64 + 0.5;
            let cube = 1.0 - 1.0 / (9.0 * shape) + normal(&mut rng) / (3.0 * shape.sqrt());
            let rate = shape * cube.max(0.0).powi(3) / noise.reads.max(1) as f64;
            let mut stalled = 0.0;
            if noise.stalls > 0 {
                for _ in 0..requests {
                    if rng.unit() < rate {
                        stalled -= (1.0 - rng.unit()).ln() * mean;
                    }
                }
            }
            base + stalled
        })
        .collect();
    times.sort_by(f64::total_cmp);
    times
}

/// Draws a standard normal value (Box and Muller 1958).
fn normal(rng: &mut Rng) -> f64 {
    let (radius, angle) = ((-2.0 * (1.0 - rng.unit()).ln()).sqrt(), rng.unit());
    radius * (std::f64::consts::TAU * angle).cos()
}

/// What a workload does, as far as it decides which properties matter.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WorkloadTraits {
    /// Whether it reads.
    pub reads: bool,
    /// Whether it writes.
    pub writes: bool,
    /// Whether it visits places out of order, or several in turn.
    pub random: bool,
    /// Whether it pauses, so that a cache recovers.
    pub pauses: bool,
    /// Lengths of its writes in bytes.
    pub write_lens: Vec<u64>,
}

impl WorkloadTraits {
    fn of(workload: &Workload) -> WorkloadTraits {
        let mixed = matches!(
            workload.pattern,
            AccessPattern::Mixed | AccessPattern::Database
        );
        let in_order = matches!(
            workload.pattern,
            AccessPattern::Sequential | AccessPattern::Bursts(..)
        );
        WorkloadTraits {
            reads: !workload.writes || mixed,
            writes: workload.writes,
            random: !in_order,
            pauses: matches!(workload.pattern, AccessPattern::Bursts(..)),
            write_lens: vec![workload.len],
        }
    }
}

/// Returns the first property that a workload depends on, and of which not even a rough value is known.
pub fn missing_for(anatomy: &Anatomy, traits: &WorkloadTraits) -> Option<P> {
    needs(anatomy, traits)
        .into_iter()
        .find(|property| anatomy.finding(*property).rough().is_none())
}

/// Returns the properties that a workload depends on.
fn needs(anatomy: &Anatomy, traits: &WorkloadTraits) -> Vec<P> {
    let mut needs = vec![P::ReadRate, P::WriteRate];
    if traits.reads {
        needs.extend([P::ReadOverhead, P::Sense, P::ReadSeek, P::Page]);
        if traits.random {
            needs.push(P::MappingSlots);
            if anatomy.value(P::MappingSlots).is_some() {
                needs.extend([P::MappingChunk, P::MappingLoad]);
            }
        }
    }
    if traits.writes {
        needs.extend([P::WriteOverhead, P::CacheSize, P::Unit, P::OpenCost]);
        if anatomy.value(P::CacheSize).is_some() {
            needs.push(P::CacheRate);
            if traits.pauses {
                needs.push(P::DrainRate);
            }
        }
        let is_part = |page: u64| {
            traits
                .write_lens
                .iter()
                .any(|len| !len.is_multiple_of(page))
        };
        if anatomy.size(P::Page).is_some_and(is_part) {
            needs.push(P::GathersWrites);
        }
        if traits.random {
            needs.push(P::OpenUnits);
            if let Some(open) = anatomy.size(P::OpenUnits) {
                needs.extend([P::CollectionTime, P::RandomUnits]);
                if open > 0
                    && anatomy
                        .value(P::RandomUnits)
                        .is_some_and(|units| units > 0.0)
                {
                    needs.push(P::RandomWrite);
                }
            }
        }
    }
    needs
}

/// Returns the fitted model without stalls, which are drawn afterwards.
pub fn without_stalls(anatomy: &Anatomy) -> Option<DeviceModel> {
    let mut model = fit(anatomy)?;
    if let Some(noise) = &mut model.noise {
        noise.stalls_per_million = 0;
    }
    Some(model)
}

/// Returns the fitted models without noise in which one property is at the upper end of its 99% interval: 2.6 standard
/// errors away.
pub fn at_upper_ends(anatomy: &Anatomy) -> Vec<(P, DeviceModel)> {
    let mut all = Vec::new();
    for property in P::ALL {
        let Some(range) = anatomy.finding(property).rough() else {
            continue;
        };
        let is_speed = !property.is_exact() && property.unit() != PropertyUnit::Percent;
        if !is_speed || range.high <= range.low {
            continue;
        }
        let mut changed = anatomy.clone();
        let at_end = PropertyValue {
            value: range.high,
            ..range
        };
        let finding = CardFinding::Known(at_end);
        changed.findings.insert(property, finding);
        if let Some(mut model) = without_stalls(&changed) {
            model.noise = None;
            if model.check().is_ok() {
                all.push((property, model));
            }
        }
    }
    all
}
