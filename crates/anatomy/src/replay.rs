//! Whether the fitted model explains the latencies it was fitted to: every request again, on the model.

use crate::device::{DeviceError, TimedRequest};
use crate::experiments::properties;
use crate::fit::fit;
use crate::predict::Simulate;
use hakaru_model::anatomy::{Anatomy, CardFinding, CardProperty as P, Experiment, UnknownReason};
use hakaru_model::units::Nanos;
use std::collections::BTreeMap;

/// Fraction of the requests of an experiment that may deviate: stalls, and the edges of its regimes.
const MOST: f64 = 0.10;

/// Deviation that is no noise, as a fraction: intervals of the properties.
const SLACK: f64 = 0.08;

/// Standard deviations of noise within which almost all requests are.
const NOISE: f64 = 4.0;

/// Requests from which an experiment is judged.
const LEAST: u32 = 200;

/// Properties without which the latency of no write is known; the unit is another.
const OF_WRITES: [P; 5] = [
    P::Page,
    P::WriteRate,
    P::WriteOverhead,
    P::GathersWrites,
    P::CacheSize,
];

/// What was done to the device, in order.
#[derive(Debug)]
enum TraceStep {
    Begins(Experiment),
    Served(TimedRequest, Nanos),
    /// Reads of a length with several in flight, which count for the state of the device only.
    Together(Vec<u64>, u64, usize),
    Idle(Nanos),
}

/// All requests of a run with their latencies.
#[derive(Debug, Default)]
pub(crate) struct RequestTrace {
    steps: Vec<TraceStep>,
}

impl RequestTrace {
    pub(crate) fn begins(&mut self, experiment: Experiment) {
        self.steps.push(TraceStep::Begins(experiment));
    }

    pub(crate) fn served(&mut self, request: TimedRequest, latency: Nanos) {
        self.steps.push(TraceStep::Served(request, latency));
    }

    pub(crate) fn together(&mut self, offsets: &[u64], len: u64, depth: usize) {
        self.steps
            .push(TraceStep::Together(offsets.to_vec(), len, depth));
    }

    pub(crate) fn idle(&mut self, time: Nanos) {
        self.steps.push(TraceStep::Idle(time));
    }

    /// Repeats all requests on the fitted model. Returns the largest fraction of the requests of an experiment that the
    /// model does not explain, if it is too large for stalls. The last attempt at an experiment counts. Experiments that
    /// depend on an unknown property are not judged, those with writes only if the trace begins with the first experiment,
    /// and none of a card that throttles.
    pub(crate) fn unexplained(
        &self,
        anatomy: &Anatomy,
        from_start: bool,
        simulate: &mut Simulate<'_>,
    ) -> Result<Option<f64>, DeviceError> {
        let Some(mut model) = fit(&with_write_rate(anatomy)) else {
            return Ok(None);
        };
        model.noise = None;
        // How long a card stays hot is known only roughly: requests in its throttled time cannot be judged one by one.
        if model.throttle.is_some() {
            return Ok(None);
        }
        let tolerance = NOISE * anatomy.noise.sigma + SLACK + anatomy.noise.drift;
        let mut device = simulate(model);
        let mut current = Experiment::Noise;
        let mut counts: BTreeMap<Experiment, (u32, u32)> = BTreeMap::new();
        for step in &self.steps {
            match step {
                TraceStep::Begins(experiment) => {
                    current = *experiment;
                    counts.insert(current, (0, 0));
                }
                TraceStep::Idle(time) => device.idle(*time)?,
                TraceStep::Together(offsets, len, depth) => {
                    device.read_at_depth(offsets, *len, *depth)?;
                }
                TraceStep::Served(request, latency) => {
                    let expected = device.serve(*request)?;
                    let ratio = latency.0.max(1) as f64 / expected.0.max(1) as f64;
                    let (all, outside) = counts.entry(current).or_default();
                    *all += 1;
                    *outside += u32::from(ratio.ln().abs() > tolerance);
                }
            }
        }
        let judged = counts.iter().filter(|(experiment, (all, _))| {
            *all >= LEAST && is_judged(anatomy, **experiment, from_start)
        });
        let shares = judged.map(|(_, (all, outside))| f64::from(*outside) / f64::from(*all));
        let worst = shares.fold(0.0, f64::max);
        Ok((worst > MOST).then_some(worst))
    }
}

/// Returns the anatomy with a rate of writes for the reads of a card of which nothing else is known.
fn with_write_rate(anatomy: &Anatomy) -> Anatomy {
    let mut with = anatomy.clone();
    if with.finding(P::WriteRate).rough().is_none() {
        let rate = with.finding(P::ReadRate);
        with.findings.insert(P::WriteRate, rate);
    }
    with
}

/// Returns whether the latencies of an experiment follow from what was found.
fn is_judged(anatomy: &Anatomy, experiment: Experiment, from_start: bool) -> bool {
    let has_unit = anatomy.finding(P::Unit).known().is_some();
    if experiment.writes() && !(from_start && has_unit) {
        return false;
    }
    let is_told = |property: &P| match anatomy.finding(*property) {
        // What does not exist needs no cost.
        CardFinding::Unknown(UnknownReason::Needs(other)) => {
            matches!(anatomy.finding(other), CardFinding::Absent { .. })
        }
        finding => finding.rough().is_some(),
    };
    let of_writes: &[P] = if experiment.writes() { &OF_WRITES } else { &[] };
    let mut needed = properties(experiment).iter().chain(of_writes);
    needed.all(is_told)
}
