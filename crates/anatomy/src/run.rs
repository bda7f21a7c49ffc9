//! All experiments in order, with repeats for heat, and the widening of intervals for drift.

use crate::budget::deadline;
use crate::device::{DeviceError, TimedDevice};
use crate::experiments::{PIECE, perform, properties};
use crate::fit::fit;
use crate::lab::{Findings, Halt, Lab, Measured, TRANSFER_TIME, reference_reads};
use crate::location::WIDEST;
use crate::predict::Simulate;
use hakaru_model::anatomy::{
    Anatomy, CardFinding, CardProperty, DeclineReason, Evidence, Experiment, ExperimentRecord,
    NoiseLevel, PropertyUnit, PropertyValue, Spent,
};

/// A step of a run, for progress and for storing what is known so far.
#[derive(Clone, Copy, Debug)]
pub enum RunStep<'a> {
    /// An experiment begins.
    Begins(Experiment),
    /// An experiment has ended; the anatomy holds its findings.
    Ended(&'a Anatomy),
}

/// Runs the experiments that have not run, within a budget, and fits the device model. If the model does not explain the
/// latencies of an experiment, nothing is reported: the device fits no model of this kind.
///
/// # Errors
/// The I/O error, or the request to stop: the anatomy keeps the findings of all experiments that have ended.
pub fn run(
    device: &mut dyn TimedDevice,
    anatomy: &mut Anatomy,
    limit: Spent,
    seed: u64,
    simulate: &mut Simulate<'_>,
    observe: &mut dyn FnMut(RunStep<'_>),
) -> Result<(), DeviceError> {
    let from_start = anatomy.experiments.is_empty();
    let mut lab = Lab::new(device, limit, seed);
    lab.resume(anatomy);
    if let Some(state) = anatomy.resume.take() {
        anatomy.findings = state.findings;
    }
    let outcome = all(&mut lab, anatomy, observe);
    if let Err((_, before)) = &outcome {
        anatomy.resume = Some(Box::new(lab.state_to_resume(anatomy, Some(before))));
    }
    anatomy.noise = lab.noise_so_far();
    let unexplained = match lab.unsteady() {
        // Nothing is known that could explain anything, and the reason is already given.
        None if lab.reference.is_none() => None,
        None => lab.trace.unexplained(anatomy, from_start, simulate)?,
        unsteady => unsteady,
    };
    decline_with_seek(anatomy);
    decline_by_cache(anatomy);
    decline_by_host(anatomy);
    widen(anatomy);
    let spread = anatomy.noise.drift;
    if let Some(share) = unexplained {
        decline_all(anatomy, DeclineReason::NoModel { share });
    } else if spread > UNSTEADY {
        decline_all(anatomy, DeclineReason::Drift { spread });
    }
    anatomy.model = fit(anatomy);
    outcome.map_err(|(error, _)| error)
}

/// Declines the costs that contain the seek of a write, if the experiment that subtracts it did not end: on a card that
/// keeps one unit open, it cannot be avoided.
fn decline_with_seek(anatomy: &mut Anatomy) {
    let is_subtracted = match anatomy.finding(CardProperty::WriteSeek) {
        CardFinding::Known(_) | CardFinding::Absent { .. } => true,
        CardFinding::Unknown(reason) => matches!(reason, DeclineReason::Noisy { .. }),
    };
    if is_subtracted || anatomy.size(CardProperty::OpenUnits) != Some(1) {
        return;
    }
    let unknown = CardFinding::Unknown(DeclineReason::Needs(CardProperty::WriteSeek));
    for property in [
        CardProperty::RandomWrite,
        CardProperty::CollectionTime,
        CardProperty::CollectionRate,
    ] {
        if anatomy.finding(property).known().is_some() {
            anatomy.findings.insert(property, unknown);
        }
    }
}

/// Length of the writes that fill the cache of most cards.
const FILLING: f64 = 196_608.0;

/// Declines what a cache changes that empties while a host whose speed wanders delays requests: its size and the rate at
/// which it empties, and the cost of a write after two reads, of which a part was fast.
fn decline_by_cache(anatomy: &mut Anatomy) {
    let NoiseLevel {
        drift,
        transfer_drift,
        latency,
        ..
    } = anatomy.noise;
    let rough = |property| anatomy.finding(property).rough().map(|found| found.value);
    let is_of_host = drift - transfer_drift > WIDEST;
    if !is_of_host || anatomy.finding(CardProperty::CacheSize).known().is_none() {
        return;
    }
    let cost = match anatomy.finding(CardProperty::ReadToWrite) {
        CardFinding::Known(cost) => cost.value,
        CardFinding::Absent { up_to } => up_to,
        CardFinding::Unknown(_) => f64::INFINITY,
    };
    // The fixed time of a request is at most the host's. Bytes per second times ns.
    let of_read = 2.0 * rough(CardProperty::ReadOverhead).unwrap_or(latency.0 as f64);
    let of_write = rough(CardProperty::WriteOverhead).unwrap_or(latency.0 as f64);
    let saved = |drain: f64| -> Option<f64> {
        let slow = 1.0 / rough(CardProperty::WriteRate)?;
        let fast = 1.0 / rough(CardProperty::CacheRate)?;
        Some(of_read * drain * (slow - fast))
    };
    let drain = rough(CardProperty::DrainRate);
    let is_cheaper = drain
        .and_then(saved)
        .is_none_or(|saved| saved > WIDEST * cost);
    let size = rough(CardProperty::CacheSize).unwrap_or(0.0);
    let is_larger = drain.is_none_or(|drain| {
        drain * of_write / 1e9 > WIDEST * FILLING
            || drain * pauses(size, &anatomy.noise) / 1e9 > WIDEST * size
    });
    let unknown = CardFinding::Unknown(DeclineReason::Drift { spread: drift });
    for (property, is_changed) in [
        (CardProperty::ReadToWrite, is_cheaper),
        (CardProperty::CacheSize, is_larger),
        (CardProperty::DrainRate, is_larger),
    ] {
        let is_told = !matches!(anatomy.finding(property), CardFinding::Unknown(_));
        if is_changed && is_told {
            anatomy.findings.insert(property, unknown);
        }
    }
}

/// Returns the time in ns in which a card may empty its cache while it fills: that of the reference measurements.
fn pauses(size: f64, noise: &NoiseLevel) -> f64 {
    let count = (size / (FILLING * PIECE as f64)).floor();
    count * (reference_reads(noise.sigma) * noise.latency.0 as f64 + TRANSFER_TIME)
}

/// Declines how long a card rests if the host delays small reads by as much as heat does: they tell when it is back.
fn decline_by_host(anatomy: &mut Anatomy) {
    let NoiseLevel {
        drift,
        transfer_drift,
        ..
    } = anatomy.noise;
    let host = drift - transfer_drift;
    let percent = anatomy.finding(CardProperty::ThrottlePercent).rough();
    let hides = percent.is_some_and(|percent| host > (percent.value / 100.0 - 1.0) / 4.0);
    let rest = anatomy.finding(CardProperty::ThrottleRecovery);
    if hides && rest.known().is_some() {
        let unknown = CardFinding::Unknown(DeclineReason::Drift { spread: host });
        anatomy
            .findings
            .insert(CardProperty::ThrottleRecovery, unknown);
    }
}

/// Returns a state that a killed process leaves: what has ended, with the intervals that follow from the drift so far.
fn checkpoint(lab: &Lab<'_>, anatomy: &Anatomy) -> Anatomy {
    let mut state = anatomy.clone();
    state.noise = lab.noise_so_far();
    state.resume = Some(Box::new(lab.state_to_resume(anatomy, None)));
    decline_with_seek(&mut state);
    decline_by_cache(&mut state);
    decline_by_host(&mut state);
    widen(&mut state);
    state.model = fit(&state);
    state
}

fn all(
    lab: &mut Lab<'_>,
    anatomy: &mut Anatomy,
    observe: &mut dyn FnMut(RunStep<'_>),
) -> Result<(), (DeviceError, Spent)> {
    let limit = lab.limit;
    for experiment in Experiment::ALL {
        if anatomy.has_run(experiment) || (anatomy.read_only && experiment.writes()) {
            continue;
        }
        lab.limit.time = deadline(experiment, &limit, lab.spent.time, anatomy);
        observe(RunStep::Begins(experiment));
        let before = lab.spent;
        let mut repeats = 0;
        let found = match cool(lab, anatomy, experiment, &mut repeats) {
            Ok(found) => found,
            Err(Halt::Device(error)) => return Err((error, before)),
            Err(Halt::Budget) => declined(experiment, DeclineReason::Budget),
            Err(Halt::Declined(reason)) => declined(experiment, reason),
        };
        let ends = experiment == Experiment::Noise && lab.reference.is_none();
        merge(anatomy, experiment, found);
        lab.knows_heat(anatomy);
        anatomy.experiments.push(ExperimentRecord {
            experiment,
            spent: lab.spent.since(&before),
            repeats,
        });
        anatomy.noise = lab.noise;
        observe(RunStep::Ended(&checkpoint(lab, anatomy)));
        if ends {
            too_noisy(lab, anatomy);
            return Ok(());
        }
    }
    Ok(())
}

/// Performs an experiment while the device is cool: repeats it once after a rest if the device throttled meanwhile.
fn cool(
    lab: &mut Lab<'_>,
    anatomy: &Anatomy,
    experiment: Experiment,
    repeats: &mut u32,
) -> Measured<Findings> {
    lab.trace.begins(experiment);
    if experiment == Experiment::Noise {
        return perform(experiment, lab, anatomy);
    }
    for attempt in 0..2 {
        *repeats = attempt;
        lab.trace.begins(experiment);
        if lab.spent.time > lab.limit.time {
            return Err(Halt::Budget);
        }
        lab.rest()?;
        if lab.check_heat()? {
            if !lab.cool_down()? {
                return Err(Halt::Declined(DeclineReason::Heat));
            }
            // The reads of the hot card are no part of the attempt.
            lab.trace.begins(experiment);
        }
        lab.state.warmth.begins_cool();
        lab.begins_attempt(anatomy);
        let before = lab.references();
        let found = perform(experiment, lab, anatomy)?;
        if experiment == Experiment::Heat {
            return Ok(found);
        }
        let was_hot = lab.state.warmth.was_hot();
        if !lab.check_heat()? && !was_hot {
            return Ok(found);
        }
        // Heat is no drift.
        lab.forget_hot_references(before);
        if !lab.cool_down()? {
            break;
        }
    }
    Err(Halt::Declined(DeclineReason::Heat))
}

fn declined(experiment: Experiment, reason: DeclineReason) -> Findings {
    let mut found = Findings::default();
    found.decline(properties(experiment), reason);
    found
}

/// Adds the findings of an experiment. A value stays known if a later experiment does not improve it.
fn merge(anatomy: &mut Anatomy, experiment: Experiment, found: Findings) {
    for (property, finding) in found.findings {
        let contradicts = matches!(finding, CardFinding::Unknown(DeclineReason::Contradiction));
        let is_known = anatomy
            .findings
            .get(&property)
            .is_some_and(|old| old.known().is_some() && finding.known().is_none());
        // Reads and writes in turn correct what earlier experiments found.
        let corrects = matches!(experiment, Experiment::Boundaries | Experiment::Mixing);
        let replaces = corrects || contradicts || !is_known;
        if replaces {
            anatomy.findings.insert(property, finding);
        }
    }
    if !found.points.is_empty() {
        anatomy.evidence.push(Evidence {
            experiment,
            points: found.points,
        });
    }
}

/// Declines everything: the noise of small reads is too large.
fn too_noisy(lab: &Lab<'_>, anatomy: &mut Anatomy) {
    let reason = match lab.noise.slow > 0.05 {
        true => DeclineReason::Busy {
            slow: lab.noise.slow,
        },
        false => DeclineReason::Noisy {
            value: 0.0,
            relative_error: lab.noise.sigma,
        },
    };
    decline_all(anatomy, reason);
}

fn decline_all(anatomy: &mut Anatomy, reason: DeclineReason) {
    for property in CardProperty::ALL {
        anatomy
            .findings
            .insert(property, CardFinding::Unknown(reason));
    }
}

/// Drift above which throttling is neither claimed nor denied, because a change of speed may be drift.
pub(crate) const WANDERS: f64 = 0.1;

/// Drift from which nothing is reported.
const UNSTEADY: f64 = 0.2;

/// Widens the intervals of times and rates by the drift of the reference measurements; what becomes too wide is
/// unknown. A host that becomes slower is in both of two requests in turn, so that it does not change their difference.
fn widen(anatomy: &mut Anatomy) {
    let NoiseLevel {
        drift,
        transfer_drift,
        latency,
        ..
    } = anatomy.noise;
    let host = (drift - transfer_drift).max(0.0) * latency.0 as f64;
    for (property, finding) in &mut anatomy.findings {
        let spread = match has_host(*property) {
            true => drift.max(transfer_drift),
            false => transfer_drift,
        };
        let host = if differ_in_wait(*property) { host } else { 0.0 };
        if spread <= 0.0 && host <= 0.0 {
            continue;
        }
        let by_clock = matches!(
            property,
            CardProperty::ThrottleAfter
                | CardProperty::ThrottleRecovery
                | CardProperty::ThrottlePercent
                | CardProperty::DrainDelay
        );
        let by_heat = by_clock && *property != CardProperty::DrainDelay;
        let is_unknown = matches!(finding, CardFinding::Unknown(_));
        if by_heat && spread > WANDERS && !is_unknown {
            *finding = CardFinding::Unknown(DeclineReason::Drift { spread });
        }
        let is_speed = matches!(property.unit(), PropertyUnit::Rate | PropertyUnit::Time);
        if by_clock || !is_speed {
            continue;
        }
        if let CardFinding::Known(known) = *finding {
            let wider = PropertyValue {
                low: known.low - spread * known.value - host,
                high: known.high + spread * known.value + host,
                ..known
            };
            *finding = match wider.relative_error() <= WIDEST {
                true => CardFinding::Known(wider),
                false => CardFinding::Unknown(DeclineReason::Drift {
                    spread: spread.max(host / known.value),
                }),
            };
        }
    }
}

/// Returns whether a property is the time of a request and not a difference, so that the time of the host is in it.
fn has_host(property: CardProperty) -> bool {
    matches!(
        property,
        CardProperty::ReadOverhead
            | CardProperty::WriteOverhead
            | CardProperty::Flush
            | CardProperty::Discard
    )
}

/// Returns whether a property is the difference of two requests of which one waits for longer. The host may delay the two
/// completions differently, at most by its own drift.
fn differ_in_wait(property: CardProperty) -> bool {
    matches!(
        property,
        CardProperty::ReadSeek
            | CardProperty::UnitCrossing
            | CardProperty::MappingLoad
            | CardProperty::WriteSeek
            | CardProperty::WriteToRead
            | CardProperty::ReadToWrite
            | CardProperty::OpenCost
            | CardProperty::CollectionTime
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use hakaru_model::units::{Bytes, Nanos};

    /// An anatomy behind a host whose speed wanders, with a value of a property, in ns.
    fn behind_host(drift: f64, property: CardProperty, value: f64) -> Anatomy {
        let mut anatomy = Anatomy::new("card", Bytes(8 << 30), false);
        anatomy.noise.latency = Nanos(2_916_859);
        anatomy.noise.drift = drift;
        let known = PropertyValue {
            value,
            low: 0.97 * value,
            high: 1.03 * value,
        };
        let finding = CardFinding::Known(known);
        anatomy.findings.insert(property, finding);
        anatomy
    }

    /// Regression: an emulated machine that waited for longer took 0.13 to 0.65 ms longer to go on, so that these costs of
    /// 0.94, 1.09, 1.36 and 2.72 ms were wrong.
    #[test]
    fn a_host_that_wanders_hides_short_waits() {
        for (property, value) in [
            (CardProperty::UnitCrossing, 1_127_395.0),
            (CardProperty::MappingLoad, 1_379_310.0),
            (CardProperty::WriteToRead, 1_493_139.0),
            (CardProperty::WriteSeek, 3_372_505.0),
        ] {
            let mut anatomy = behind_host(0.1068, property, value);
            widen(&mut anatomy);
            let finding = anatomy.finding(property);
            let is_drift = matches!(finding, CardFinding::Unknown(DeclineReason::Drift { .. }));
            assert!(is_drift, "{property:?}: {finding:?}");
            let mut steady = behind_host(0.0, property, value);
            widen(&mut steady);
            assert!(steady.finding(property).known().is_some(), "{property:?}");
        }
    }

    #[test]
    fn small_reads_behind_a_host_that_wanders_do_not_tell_when_a_card_is_cool() {
        for (percent, drift, is_told) in
            [(130.0, 0.1, false), (250.0, 0.1, true), (130.0, 0.02, true)]
        {
            let mut anatomy = behind_host(drift, CardProperty::ThrottlePercent, percent);
            let rest = CardFinding::exact(40_000_000_000);
            anatomy
                .findings
                .insert(CardProperty::ThrottleRecovery, rest);
            decline_by_host(&mut anatomy);
            let found = anatomy.finding(CardProperty::ThrottleRecovery);
            assert_eq!(found.known().is_some(), is_told, "{percent} {drift}");
        }
    }
}
