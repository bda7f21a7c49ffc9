//! Whether the fitted model explains the latencies it was fitted to: every request again, on the model.

use crate::device::{DeviceError, TimedDevice, TimedRequest};
use crate::experiments::properties;
use crate::fit::fit;
use crate::predict::Simulate;
use crate::run::WANDERS;
use hakaru_model::anatomy::{
    Anatomy, CardFinding, CardProperty as P, DeclineReason, Experiment, NoiseLevel, PropertyValue,
};
use hakaru_model::units::Nanos;
use std::collections::BTreeMap;

/// Fraction of the requests of an experiment that may deviate: stalls, and the edges of its regimes.
const MOST: f64 = 0.10;

/// Deviation allowed beyond noise, as a fraction: the fitted properties have intervals.
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

/// Most latencies and steps that are kept: 4 MiB and about 10 MiB. What a device does afterwards is not judged.
const MOST_LATENCIES: usize = 1 << 20;
const MOST_STEPS: usize = 1 << 18;

/// What a request of a run of requests does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum RequestKind {
    Read,
    Write,
    Flush,
    Discard,
}

/// Requests of one kind and length whose offsets are the same distance apart.
#[derive(Clone, Copy, Debug)]
struct RequestRun {
    kind: RequestKind,
    first: u64,
    /// Distance of the offsets; wraps around for descending ones.
    stride: u64,
    len: u64,
    count: u32,
}

impl RequestRun {
    fn of(request: TimedRequest) -> RequestRun {
        let (kind, first, len) = match request {
            TimedRequest::Read { offset, len } => (RequestKind::Read, offset, len),
            TimedRequest::Write { offset, len } => (RequestKind::Write, offset, len),
            TimedRequest::Flush => (RequestKind::Flush, 0, 0),
            TimedRequest::Discard { offset, len } => (RequestKind::Discard, offset, len),
        };
        RequestRun {
            kind,
            first,
            stride: 0,
            len,
            count: 1,
        }
    }

    fn offset(&self, index: u32) -> u64 {
        let distance = self.stride.wrapping_mul(u64::from(index));
        self.first.wrapping_add(distance)
    }

    fn request(&self, index: u32) -> TimedRequest {
        let (offset, len) = (self.offset(index), self.len);
        match self.kind {
            RequestKind::Read => TimedRequest::Read { offset, len },
            RequestKind::Write => TimedRequest::Write { offset, len },
            RequestKind::Flush => TimedRequest::Flush,
            RequestKind::Discard => TimedRequest::Discard { offset, len },
        }
    }

    /// Adds another request, if it continues the run.
    fn extend(&mut self, next: &RequestRun) -> bool {
        if (next.kind, next.len) != (self.kind, self.len) || self.count == u32::MAX {
            return false;
        }
        if self.count == 1 {
            self.stride = next.first.wrapping_sub(self.first);
        }
        let continues = next.first == self.offset(self.count);
        self.count += u32::from(continues);
        continues
    }
}

/// What was done to the device, in order.
#[derive(Debug)]
enum TraceStep {
    Begins(Experiment),
    Served(RequestRun),
    /// Offsets, length and queue depth of reads that only bring the device into its state: their latencies are not judged.
    Together(Vec<u64>, u64, usize),
    Idle(Nanos),
}

/// The requests of a run with their latencies, as far as they fit.
#[derive(Debug, Default)]
pub(crate) struct RequestTrace {
    steps: Vec<TraceStep>,
    /// Latencies of the served requests in ns.
    latencies: Vec<f32>,
    /// Offsets of reads with several in flight.
    together: usize,
    is_full: bool,
}

impl RequestTrace {
    pub(crate) fn begins(&mut self, experiment: Experiment) {
        self.push(TraceStep::Begins(experiment));
    }

    pub(crate) fn served(&mut self, request: TimedRequest, latency: Nanos) {
        let next = RequestRun::of(request);
        let has_room = !self.is_full && self.latencies.len() < MOST_LATENCIES;
        self.is_full = !has_room;
        if !has_room {
            return;
        }
        let extended = match self.steps.last_mut() {
            Some(TraceStep::Served(run)) => run.extend(&next),
            _ => false,
        };
        if extended || self.push(TraceStep::Served(next)) {
            self.latencies.push(latency.0 as f32);
        }
    }

    pub(crate) fn together(&mut self, offsets: &[u64], len: u64, depth: usize) {
        self.together += offsets.len();
        self.is_full |= self.together > MOST_LATENCIES;
        self.push(TraceStep::Together(offsets.to_vec(), len, depth));
    }

    pub(crate) fn idle(&mut self, time: Nanos) {
        self.push(TraceStep::Idle(time));
    }

    /// Keeps a step, if there is room.
    fn push(&mut self, step: TraceStep) -> bool {
        self.is_full |= self.steps.len() >= MOST_STEPS;
        if !self.is_full {
            self.steps.push(step);
        }
        !self.is_full
    }

    /// Repeats all requests on the fitted model. Returns the largest fraction of the requests of an experiment that the
    /// model does not explain, if it is too large for stalls. Experiments that depend on an unknown property are not
    /// judged, and those with writes only if the trace begins with the first experiment.
    pub(crate) fn unexplained(
        &self,
        anatomy: &Anatomy,
        from_start: bool,
        simulate: &mut Simulate<'_>,
    ) -> Result<Option<f64>, DeviceError> {
        let Some(mut model) = fit(&with_substitutes(anatomy)) else {
            return Ok(None);
        };
        model.noise = None;
        // How long a card stays hot is known only roughly. Experiments during which it was hot are repeated, so that the
        // attempt that counts was made by a cool card.
        model.throttle = None;
        let host = host_wait(simulate(model.clone()).as_mut(), &anatomy.noise)?;
        let counts = self.deviations(simulate(model).as_mut(), &anatomy.noise, host)?;
        let judged = counts.iter().filter(|(experiment, counts)| {
            counts.all >= LEAST && is_judged(anatomy, **experiment, from_start)
        });
        let shares = judged.map(|(_, counts)| f64::from(counts.outside) / f64::from(counts.all));
        let worst = shares.fold(0.0, f64::max);
        Ok((worst > MOST).then_some(worst))
    }

    /// Counts the requests of the last attempt at each experiment whose latencies differ from those of a device by more
    /// than noise and drift. The first experiment is compared with the reference measurement that ends it: it takes less
    /// than a second, in which nothing drifts.
    fn deviations(
        &self,
        device: &mut dyn TimedDevice,
        noise: &NoiseLevel,
        host: f64,
    ) -> Result<BTreeMap<Experiment, DeviationCounts>, DeviceError> {
        let mut current = Experiment::Noise;
        let mut counts: BTreeMap<Experiment, DeviationCounts> = BTreeMap::new();
        let mut latencies = self.latencies.iter();
        let by_noise = NOISE * noise.sigma + SLACK;
        for step in &self.steps {
            match step {
                TraceStep::Begins(experiment) => {
                    current = *experiment;
                    counts.insert(current, DeviationCounts::default());
                }
                TraceStep::Idle(time) => device.idle(*time)?,
                TraceStep::Together(offsets, len, depth) => {
                    device.read_at_depth(offsets, *len, *depth)?;
                }
                TraceStep::Served(run) => {
                    let counts = counts.entry(current).or_default();
                    for (index, latency) in (0..run.count).zip(&mut latencies) {
                        let served = device.serve(run.request(index))?;
                        // The model may have the speed at one end of the drift, and the request that at the other.
                        let (expected, tolerance) = match current {
                            Experiment::Noise => (noise.latency, by_noise),
                            _ => (served, by_noise + 2.0 * noise.drift),
                        };
                        let (latency, expected) = (f64::from(*latency), expected.0 as f64);
                        counts.all += 1;
                        let host = if current == Experiment::Noise {
                            0.0
                        } else {
                            host
                        };
                        let fits = is_within(latency, expected, noise.latency, tolerance)
                            || is_within(latency, expected + host, noise.latency, tolerance);
                        counts.outside += u32::from(!fits);
                    }
                }
            }
        }
        if self.is_full {
            counts.remove(&current);
        }
        Ok(counts)
    }
}

/// Largest part of a small read that may be the host's and is in no property.
const MOST_OF_HOST: f64 = 0.4;

/// Returns the time in ns that the host needs to go on after a longer wait: that of a small read which the model does not
/// contain. Reads in sequence, from which the fixed time of a read follows, do not wait as long, and the seek is the
/// difference of two reads that both wait.
fn host_wait(device: &mut dyn TimedDevice, noise: &NoiseLevel) -> Result<f64, DeviceError> {
    let len = device.block().max(SMALL);
    let offset = device.capacity().0 / 2 / len * len;
    let mut by_model = Nanos(0);
    for _ in 0..3 {
        by_model = device.serve(TimedRequest::Read { offset, len })?;
    }
    let (latency, by_model) = (noise.latency.0 as f64, by_model.0 as f64);
    Ok((latency - by_model).clamp(0.0, MOST_OF_HOST * latency))
}

/// Least length of the reads of the reference measurements.
const SMALL: u64 = 512;

/// Returns whether a latency differs from the expected one by no more than a tolerance, as a logarithm of their ratio. What
/// the host adds to the noise and the drift of the reference reads is a larger part of a request that takes less time.
fn is_within(latency: f64, expected: f64, reference: Nanos, tolerance: f64) -> bool {
    let whole = expected.max(reference.0 as f64);
    let (slower, faster) = (tolerance.exp() - 1.0, 1.0 - (-tolerance).exp());
    (expected - whole * faster..=expected + whole * slower).contains(&latency)
}

/// Requests of an experiment, and those that the model does not explain.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct DeviationCounts {
    all: u32,
    outside: u32,
}

/// A rate at which a small read takes no time, for a card whose rate is unknown.
const NO_TIME: f64 = 1e12;

/// Largest relative error of a rough value that requests are compared with. Seek and sensing that could not be told apart
/// both have their sum as a rough value, with an error of almost 100%.
const MOST_ERROR: f64 = 0.3;

/// Returns the value of a property that requests are compared with; `None` if it is not known well enough.
fn estimate(anatomy: &Anatomy, property: P) -> Option<f64> {
    let finding = anatomy.finding(property);
    match finding {
        CardFinding::Unknown(DeclineReason::Noisy { relative_error, .. })
            if relative_error > MOST_ERROR =>
        {
            None
        }
        _ => finding.rough().map(|found| found.value),
    }
}

/// Returns the anatomy with values for what small reads of one place do not need: rates, and the division of the time
/// before the first byte into its parts.
fn with_substitutes(anatomy: &Anatomy) -> Anatomy {
    let mut with = anatomy.clone();
    let mut substitute = |property, value: f64| {
        let exact = PropertyValue {
            value,
            low: value,
            high: value,
        };
        with.findings.insert(property, CardFinding::Known(exact));
    };
    let known = |property| estimate(anatomy, property);
    let rate = known(P::ReadRate).unwrap_or(NO_TIME);
    substitute(P::ReadRate, rate);
    substitute(P::WriteRate, known(P::WriteRate).unwrap_or(rate));
    let is_unknown = |property| known(property).is_none();
    let before = [P::ReadOverhead, P::Page, P::Sense, P::ReadSeek];
    if before.into_iter().any(is_unknown) {
        let fixed = known(P::ReadOverhead).unwrap_or(0.0);
        substitute(P::ReadOverhead, fixed);
        let seek = anatomy.noise.latency.0 as f64 - fixed;
        substitute(P::ReadSeek, seek.max(0.0));
        substitute(P::Sense, 0.0);
    }
    with
}

/// Returns whether the latencies of an experiment follow from what was found.
fn is_judged(anatomy: &Anatomy, experiment: Experiment, from_start: bool) -> bool {
    let after = anatomy.finding(P::ThrottleAfter).rough();
    let throttles = after.is_some_and(|after| after.value > 0.0);
    if experiment == Experiment::Heat && (throttles || anatomy.noise.drift > WANDERS) {
        return false;
    }
    // A card whose heat could not be looked for may have throttled during any of the later experiments.
    let hides_heat = match anatomy.finding(P::ThrottleAfter) {
        CardFinding::Unknown(DeclineReason::Contradiction) => false,
        finding => finding.rough().is_none(),
    };
    if experiment > Experiment::Heat && hides_heat {
        return false;
    }
    let has_unit = anatomy.finding(P::Unit).known().is_some();
    if experiment.writes() && !(from_start && has_unit) {
        return false;
    }
    let is_told = |property: &P| match anatomy.finding(*property) {
        // What does not exist needs no cost.
        CardFinding::Unknown(DeclineReason::Needs(other)) => {
            matches!(anatomy.finding(other), CardFinding::Absent { .. })
        }
        _ => estimate(anatomy, *property).is_some(),
    };
    let of_writes: &[P] = if experiment.writes() { &OF_WRITES } else { &[] };
    // How full the cache is after a rest.
    let has_cache = anatomy.finding(P::CacheSize).known().is_some();
    let of_cache: &[P] = match experiment > Experiment::LongWrite && has_cache {
        true => &[P::CacheRate, P::DrainRate, P::DrainDelay],
        false => &[],
    };
    // Reads of many places load entries of the mapping cache, which the model has only together with pages.
    let has_mapping = anatomy.finding(P::MappingSlots).known().is_some();
    let of_places: &[P] = match experiment {
        Experiment::Boundaries | Experiment::Mapping | Experiment::Depth | Experiment::Heat => {
            match has_mapping {
                true => &[P::MappingSlots, P::MappingChunk, P::MappingLoad, P::Page],
                false => properties(Experiment::Mapping),
            }
        }
        _ => &[],
    };
    let of_reads: &[P] = match experiment {
        // Small reads of one place.
        Experiment::Noise => &[],
        Experiment::Boundaries => &[P::ReadRate, P::ReadOverhead, P::ReadSeek, P::Sense],
        _ => &[P::ReadRate, P::ReadOverhead],
    };
    let own = properties(experiment).iter().chain(of_reads);
    let mut needed = own.chain(of_writes).chain(of_cache).chain(of_places);
    needed.all(is_told)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Regression: reads in sequence on a card with a seek of 2 ms were compared with the noise of reads that seek, which the
    /// host has less part in.
    #[test]
    fn noise_of_the_host_is_a_larger_part_of_short_requests() {
        let reference = Nanos(2_500_000);
        // A noise of 25% of 0.45 ms.
        let (sigma, host) = (0.045, 450e3);
        let tolerance = NOISE * sigma + SLACK;
        let expected = 620e3;
        for deviations in [-1.5_f64, 1.5, 2.5] {
            let latency = expected - host + host * (0.25 * deviations).exp();
            assert!(
                is_within(latency, expected, reference, tolerance),
                "{deviations}"
            );
        }
        // A long request must fit as well as the reference reads.
        assert!(is_within(5e6 * 1.2, 5e6, reference, tolerance));
        assert!(!is_within(5e6 * 1.4, 5e6, reference, tolerance));
        assert!(!is_within(expected * 2.5, expected, reference, tolerance));
    }

    #[test]
    fn requests_come_back_in_their_order() {
        let read = |offset, len| TimedRequest::Read { offset, len };
        let write = |offset, len| TimedRequest::Write { offset, len };
        let mut requests: Vec<TimedRequest> = (0..100).map(|n| read(n << 20, 4096)).collect();
        requests.extend((0..50).rev().map(|n| write(n * 8192, 8192)));
        requests.extend([TimedRequest::Flush; 3]);
        requests.extend([read(5, 512), read(5, 512), read(5, 512), read(9, 512)]);
        requests.push(TimedRequest::Discard {
            offset: 7,
            len: 4096,
        });
        let mut trace = RequestTrace::default();
        for (n, request) in requests.iter().enumerate() {
            trace.served(*request, Nanos(n as u64));
        }
        let runs = trace.steps.iter().map(|step| match step {
            TraceStep::Served(run) => *run,
            other => panic!("{other:?}"),
        });
        let again: Vec<TimedRequest> = runs
            .flat_map(|run| (0..run.count).map(move |index| run.request(index)))
            .collect();
        assert_eq!(again, requests);
        assert_eq!(trace.latencies.len(), requests.len());
        assert!(trace.steps.len() < 8, "{}", trace.steps.len());
    }

    #[test]
    fn a_trace_never_grows_beyond_its_limits() {
        let mut trace = RequestTrace::default();
        let steps = MOST_STEPS as u64 + 1000;
        for n in 0..steps {
            // Requests of another length continue no run.
            let len = 512 << (n % 2);
            trace.served(TimedRequest::Read { offset: 0, len }, Nanos(1));
        }
        assert!(trace.is_full && trace.steps.len() == MOST_STEPS);
        let mut trace = RequestTrace::default();
        for _ in 0..MOST_LATENCIES + 1000 {
            trace.served(TimedRequest::Flush, Nanos(1));
        }
        assert!(trace.is_full && trace.latencies.len() == MOST_LATENCIES);
        assert_eq!(trace.steps.len(), 1);
    }
}
