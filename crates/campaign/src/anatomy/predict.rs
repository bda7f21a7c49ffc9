//! Predictions of jobs: the engine runs them on the fitted model, in virtual time.

use crate::campaign::{FreeRoom, RetargetTo, retarget};
use crate::{RunRequest, Session, SessionError, SessionPolicy};
use hakaru_analysis::stats::median;
use hakaru_anatomy::{
    MODEL_SPREAD, WorkloadTraits, at_upper_ends, draw_times, missing_for, without_stalls,
};
use hakaru_engine::{ClockChoice, NoObserver};
use hakaru_model::anatomy::{Anatomy, CardProperty, PropertyValue};
use hakaru_model::anatomy_record::{PredictedFigure, PredictedPhase, PredictionOutcome};
use hakaru_model::device_model::DeviceModel;
use hakaru_model::finding::{PhaseSummary, Summary};
use hakaru_model::job::{Job, Op, Phase, RateLimits, Scenario};
use hakaru_model::units::Quantile;
use std::sync::atomic::AtomicBool;

/// Standard deviations in half of a 95% interval.
const HALF: f64 = 1.96;

/// Runs with noise, with a seed each: their spread is that of the noise and of the draws.
const SEEDS: u64 = 4;

/// What a prediction begins with.
#[derive(Clone, Copy, Debug)]
pub enum PredictionBasis<'a> {
    /// Findings with their intervals.
    Anatomy(&'a Anatomy),
    /// A device model, whose costs are taken as exact.
    Model(&'a DeviceModel),
}

impl PredictionBasis<'_> {
    /// Returns the property without which a phase cannot be predicted.
    fn missing(self, phase: &Phase) -> Option<CardProperty> {
        match self {
            PredictionBasis::Anatomy(anatomy) => missing_for(anatomy, &traits(&phase.jobs)),
            PredictionBasis::Model(_) => None,
        }
    }

    fn model(self) -> Option<DeviceModel> {
        match self {
            PredictionBasis::Anatomy(anatomy) => without_stalls(anatomy),
            PredictionBasis::Model(model) => Some(model.clone()),
        }
    }

    fn at_upper_ends(self) -> Vec<DeviceModel> {
        match self {
            PredictionBasis::Anatomy(anatomy) => {
                let ends = at_upper_ends(anatomy).into_iter();
                ends.map(|(_, model)| model).collect()
            }
            PredictionBasis::Model(_) => Vec::new(),
        }
    }
}

/// Predicts each phase of a scenario on a card in its initial state: cache empty, no unit open. The state at the end of
/// a phase is that at the begin of the next.
///
/// # Errors
/// If the scenario does not fit the card, or is stopped.
pub fn predict_scenario(
    basis: PredictionBasis<'_>,
    scenario: &Scenario,
    stop: &AtomicBool,
) -> Result<Vec<PredictedPhase>, SessionError> {
    let predictor = Predictor {
        basis,
        scenario,
        stop,
    };
    let missing = |phase: &Phase| basis.missing(phase);
    let Some(model) = basis.model() else {
        let lacking = |phase: &Phase| missing(phase).unwrap_or(CardProperty::WriteRate);
        let phases = scenario.phases.iter();
        return Ok(phases
            .flat_map(|phase| declined(phase, lacking(phase)))
            .collect());
    };
    let mut noisy = Vec::new();
    for seed in 0..SEEDS {
        noisy.push(predictor.run(&model, scenario.seed.wrapping_add(seed))?);
    }
    let mut exact = model;
    exact.noise = None;
    let exact = predictor.run(&exact, scenario.seed)?;
    let mut ends = Vec::new();
    for model in basis.at_upper_ends() {
        ends.push(predictor.run(&model, scenario.seed)?);
    }
    let mut all = Vec::new();
    for phase in &scenario.phases {
        if let Some(property) = missing(phase) {
            all.extend(declined(phase, property));
            continue;
        }
        let of_phase = noisy[0].phases.iter().filter(|s| s.phase == phase.name);
        for summary in of_phase {
            let samples = PhaseSamples {
                noisy: noisy.iter().filter_map(|s| same(s, summary)).collect(),
                exact: same(&exact, summary),
                ends: ends.iter().filter_map(|s| same(s, summary)).collect(),
            };
            all.push(predictor.phase(summary, &samples));
        }
    }
    Ok(all)
}

/// Returns the phase of another run that corresponds to this one.
fn same<'a>(summary: &'a Summary, phase: &PhaseSummary) -> Option<&'a PhaseSummary> {
    let mut phases = summary.phases.iter();
    phases.find(|other| other.phase == phase.phase && other.op == phase.op)
}

/// The operations of a phase, without figures.
fn declined(phase: &Phase, property: CardProperty) -> Vec<PredictedPhase> {
    let traits = traits(&phase.jobs);
    let ops = [(Op::Read, traits.reads), (Op::Write, traits.writes)];
    ops.into_iter()
        .filter(|(_, does)| *does)
        .map(|(op, _)| PredictedPhase {
            phase: phase.name.clone(),
            op,
            workload: String::new(),
            outcome: PredictionOutcome::Needs(property),
        })
        .collect()
}

/// Returns what the jobs of a phase do together.
fn traits(jobs: &[Job]) -> WorkloadTraits {
    let mut traits = WorkloadTraits::default();
    let workers: u32 = jobs.iter().map(|job| job.numjobs).sum();
    for job in jobs {
        let reads = job.access.mix.read > 0;
        let writes = job.access.mix.write > 0 || job.access.mix.trim > 0;
        traits.reads |= reads;
        traits.writes |= writes;
        traits.random |= job.access.random || job.access.stride != 0 || workers > 1;
        traits.random |= reads && writes;
        traits.pauses |= job.rate != RateLimits::default();
        if writes {
            traits.write_lens.push(job.block.write.min().0);
        }
    }
    traits
}

/// The same phase in all runs.
struct PhaseSamples<'a> {
    noisy: Vec<&'a PhaseSummary>,
    exact: Option<&'a PhaseSummary>,
    /// With one property at the end of its interval each.
    ends: Vec<&'a PhaseSummary>,
}

struct Predictor<'a> {
    basis: PredictionBasis<'a>,
    scenario: &'a Scenario,
    stop: &'a AtomicBool,
}

impl Predictor<'_> {
    /// Runs the scenario on a simulated card.
    fn run(&self, model: &DeviceModel, seed: u64) -> Result<Summary, SessionError> {
        let room = FreeRoom {
            all: model.capacity,
            each: None,
        };
        let scenario = retarget(self.scenario, RetargetTo::Sim(model), room, seed);
        let session = Session::inspect(&scenario)?.plan(SessionPolicy::BENCH)?;
        let clock = ClockChoice::best();
        let request = RunRequest::single(clock, self.stop);
        let ran = session.run(request, None, &mut NoObserver)?;
        match ran.error {
            Some(error) => Err(SessionError::Run(error)),
            None => Ok(hakaru_analysis::summarize(&[ran.record])),
        }
    }

    fn phase(&self, summary: &PhaseSummary, samples: &PhaseSamples<'_>) -> PredictedPhase {
        let rate = |of: &PhaseSummary| Some(of.bandwidth.mean).filter(|rate| *rate > 0.0);
        let quantile = |wanted: Quantile| {
            move |of: &PhaseSummary| {
                let found = of.latency.as_ref()?.quantiles.iter();
                let mut found = found
                    .filter(|(q, _)| *q == wanted)
                    .map(|(_, at)| at.0 as f64);
                found.next_back().filter(|latency| *latency > 0.0)
            }
        };
        let bandwidth = self.with_stalls(interval(samples, &rate), summary);
        let per_io = match summary.bandwidth.mean > 0.0 {
            true => summary.iops.mean / summary.bandwidth.mean,
            false => 0.0,
        };
        let iops = PropertyValue {
            value: bandwidth.value * per_io,
            low: bandwidth.low * per_io,
            high: bandwidth.high * per_io,
        };
        let figure = |predicted| PredictedFigure {
            predicted,
            measured: None,
        };
        PredictedPhase {
            phase: summary.phase.clone(),
            op: summary.op,
            workload: summary.workload.clone(),
            outcome: PredictionOutcome::Figures {
                bandwidth: figure(bandwidth),
                iops: figure(iops),
                p50: figure(interval(samples, &quantile(Quantile::MEDIAN))),
                p99: figure(interval(samples, &quantile(Quantile::P99))),
            },
        }
    }

    /// Adds the stalls that were seen in small reads to the time of a phase.
    fn with_stalls(&self, rate: PropertyValue, summary: &PhaseSummary) -> PropertyValue {
        let anatomy = match self.basis {
            PredictionBasis::Anatomy(anatomy) if anatomy.noise.stalls > 0 => anatomy,
            _ => return rate,
        };
        if rate.value <= 0.0 {
            return rate;
        }
        // A second of the workload stands for all of it; shorter ones have fewer requests.
        let requests = (summary.iops.mean as u64).clamp(1, 100_000);
        let spread = (rate.high / rate.low).ln() / 2.0 / HALF;
        let times = draw_times(anatomy, 1e9, spread, requests, self.scenario.seed);
        let at = |share: f64| times[((times.len() - 1) as f64 * share) as usize] / 1e9;
        PropertyValue {
            value: rate.value / at(0.5),
            low: rate.value / at(0.975),
            high: rate.value / at(0.025),
        }
    }
}

/// Returns the median of a figure over the seeds with its 95% interval: from the spread of the seeds, from the intervals
/// of the properties, and from what the model leaves open.
fn interval(
    samples: &PhaseSamples<'_>,
    of: &dyn Fn(&PhaseSummary) -> Option<f64>,
) -> PropertyValue {
    let values: Vec<f64> = samples.noisy.iter().filter_map(|s| of(s)).collect();
    let Some(value) = median(&values) else {
        return PropertyValue::exact(0.0);
    };
    let mean = values.iter().sum::<f64>() / values.len() as f64;
    let squares = values.iter().map(|v| (v / mean - 1.0).powi(2));
    let of_seeds = squares.sum::<f64>() / (values.len() as f64 - 1.0).max(1.0);
    let mut variance = MODEL_SPREAD * MODEL_SPREAD + of_seeds;
    if let Some(exact) = samples.exact.and_then(of) {
        for end in samples.ends.iter().filter_map(|end| of(end)) {
            variance += ((end / exact).ln() / 2.6).powi(2);
        }
    }
    let half = (HALF * variance.sqrt()).exp();
    PropertyValue {
        value,
        low: value / half,
        high: value * half,
    }
}

/// Adds what a run measured to the predictions of its phases.
pub fn compare_with(predictions: &mut [PredictedPhase], measured: &Summary) {
    for prediction in predictions {
        let mut phases = measured.phases.iter();
        let found = phases.find(|of| of.phase == prediction.phase && of.op == prediction.op);
        let (
            Some(found),
            PredictionOutcome::Figures {
                bandwidth,
                iops,
                p50,
                p99,
            },
        ) = (found, &mut prediction.outcome)
        else {
            continue;
        };
        let quantile = |wanted: Quantile| {
            let latency = found.latency.as_ref()?;
            let known = latency.quantiles.iter().find(|(q, _)| *q == wanted);
            known.map(|(_, at)| at.0 as f64)
        };
        bandwidth.measured = Some(found.bandwidth.mean);
        iops.measured = Some(found.iops.mean);
        p50.measured = quantile(Quantile::MEDIAN);
        p99.measured = quantile(Quantile::P99);
    }
}
