//! Anatomies with their circumstances: planned, run, and trials of the advice.

use super::SimulatedDevice;
use crate::{new_id, now_unix_ms, target};
use hakaru_anatomy::{DeviceError, RunStep, TimedDevice, budget};
use hakaru_device::Roots;
use hakaru_model::anatomy::Anatomy;
use hakaru_model::anatomy_record::{AnatomyRecord, AnatomyScope, FORMAT};
use hakaru_model::device_model::DeviceModel;
use hakaru_model::facts::{Identity, UnknownReason};
use hakaru_model::units::{Bytes, Nanos};
use std::time::Instant;

/// Bytes that trials of the advice write at most, and the part of the capacity.
const TRIALS: u64 = 2_000_000_000;
const PART: u64 = 10;

/// Returns an anatomy without findings, for a device of this size.
pub fn new_record(
    identity: Identity,
    scope: AnatomyScope,
    capacity: Bytes,
    seed: u64,
) -> AnatomyRecord {
    let read_only = scope == AnatomyScope::ReadOnly;
    let started_unix_ms = now_unix_ms();
    let mut anatomy = Anatomy::new(&identity.display_name(), capacity, read_only);
    anatomy.started_unix_ms = started_unix_ms;
    anatomy.device_id = device_id(&identity);
    AnatomyRecord {
        format: FORMAT,
        id: new_id(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        started_unix_ms,
        elapsed: Nanos(0),
        target: identity,
        environment: hakaru_device::environment(&Roots::live(), super::clock_name()),
        scope,
        seed,
        budget: budget(capacity, read_only),
        completed: false,
        anatomy,
        trials: Vec::new(),
    }
}

/// Returns the identity of a simulated card.
pub fn simulated_identity(model: &DeviceModel) -> Identity {
    target::simulated(model, &model.name)
}

/// Returns what identifies a device for another part of its anatomy: an ID of its own, or else its node. Empty for a
/// simulated card.
pub fn device_id(identity: &Identity) -> String {
    let Some(device) = identity.device.known() else {
        let path = identity.path.display().to_string();
        let simulated = hakaru_model::facts::Fact::Unknown(UnknownReason::SimulatedCard);
        return match identity.device == simulated {
            true => String::new(),
            false => path,
        };
    };
    let cid = device.card.as_ref().and_then(|card| card.cid.known());
    let known = cid.or(device.serial.known()).or(device.wwid.known());
    known.map_or_else(|| device.node.display().to_string(), String::clone)
}

/// Returns whether a stored anatomy is of this device, and can be continued. A new file in the same directory may be in
/// other pieces than that of the first part, so that its capacity does not count.
pub fn continues(stored: &AnatomyRecord, new: &AnatomyRecord) -> bool {
    let same = |of: &AnatomyRecord| {
        let anatomy = &of.anatomy;
        let name = anatomy.device_id.is_empty().then(|| anatomy.name.clone());
        (
            name,
            anatomy.device_id.clone(),
            Some(anatomy.capacity).filter(|_| !matches!(of.scope, AnatomyScope::File { .. })),
            of.scope.clone(),
        )
    };
    !stored.completed && same(stored) == same(new)
}

/// Runs the experiments that have not run yet. `observe` gets the record after each of them, to store it.
///
/// # Errors
/// The I/O error, or the request to stop: the record has the findings of all experiments that have ended.
pub fn examine(
    device: &mut dyn TimedDevice,
    record: &mut AnatomyRecord,
    observe: &mut dyn FnMut(RunStep<'_>, &AnatomyRecord),
) -> Result<(), DeviceError> {
    let begun = Instant::now();
    let before = record.elapsed;
    let is_simulated = record.scope == AnatomyScope::Simulated;
    let elapsed = |anatomy: &Anatomy| match is_simulated {
        true => Nanos(anatomy.experiments.iter().map(|e| e.spent.time.0).sum()),
        false => Nanos(before.0 + begun.elapsed().as_nanos() as u64),
    };
    let mut anatomy = record.anatomy.clone();
    let (limit, seed) = (record.budget, record.seed);
    let mut simulate =
        |model| -> Box<dyn TimedDevice> { Box::new(SimulatedDevice::new(model, seed)) };
    let outcome = hakaru_anatomy::run(
        device,
        &mut anatomy,
        limit,
        seed,
        &mut simulate,
        &mut |step| {
            if let RunStep::Ended(so_far) = step {
                record.anatomy = so_far.clone();
                record.elapsed = elapsed(so_far);
            }
            observe(step, record);
        },
    );
    record.elapsed = elapsed(&anatomy);
    record.anatomy = anatomy;
    record.completed = outcome.is_ok();
    outcome
}

/// Measures the advice against the default.
///
/// # Errors
/// The I/O error, or the request to stop: the record has the trials that have ended.
pub fn prove(device: &mut dyn TimedDevice, record: &mut AnatomyRecord) -> Result<(), DeviceError> {
    let most = trial_bytes(record.anatomy.capacity).0;
    let seed = record.seed;
    hakaru_anatomy::prove(device, &record.anatomy, (most, seed), &mut record.trials)
}

/// Returns how much the trials of the advice write at most.
pub fn trial_bytes(capacity: Bytes) -> Bytes {
    Bytes(TRIALS.min(capacity.0 / PART))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::anatomy::AlteredDevice;
    use hakaru_model::anatomy::Experiment;

    fn record() -> (DeviceModel, AnatomyRecord) {
        let model = DeviceModel::plain("card", Bytes(16 << 30));
        let identity = simulated_identity(&model);
        let record = new_record(identity, AnatomyScope::Simulated, model.capacity, 3);
        (model, record)
    }

    #[test]
    fn keeps_what_is_certain_after_a_stop_and_continues() {
        let (model, mut record) = record();
        let mut stored = Vec::new();
        let mut left = 30_000_u64;
        let card = SimulatedDevice::new(model, 1);
        let mut device = AlteredDevice::new(card, move |card, request| {
            left = left.checked_sub(1).ok_or(DeviceError::Stopped)?;
            card.serve(request)
        });
        let ended = examine(&mut device, &mut record, &mut |step, so_far| {
            if matches!(step, RunStep::Ended(_)) {
                stored.push(so_far.clone());
            }
        });
        assert!(matches!(ended, Err(DeviceError::Stopped)));
        assert!(!record.completed && !record.anatomy.experiments.is_empty());
        let kept = stored.pop().unwrap();
        assert_eq!(kept.anatomy.experiments, record.anatomy.experiments);
        let (_, new) = self::record();
        assert!(continues(&kept, &new));
        let before = kept.anatomy.experiments.clone();
        let mut rest = kept;
        device.serve = Box::new(|card, request| card.serve(request));
        examine(&mut device, &mut rest, &mut |_, _| {}).unwrap();
        assert!(rest.completed);
        assert_eq!(rest.anatomy.experiments[..before.len()], before[..]);
        let mut all = Experiment::ALL.iter();
        assert!(all.all(|experiment| rest.anatomy.has_run(*experiment)));
        assert!(
            !continues(&rest, &new),
            "a complete anatomy is not continued"
        );
    }

    #[test]
    fn an_anatomy_in_a_file_continues_in_a_file_of_another_size() {
        let (_, simulated) = record();
        let of = |scope: &AnatomyScope, mib: u64| {
            new_record(simulated.target.clone(), scope.clone(), Bytes(mib << 20), 3)
        };
        let folder = |name: &str| AnatomyScope::File {
            folder: name.into(),
        };
        let card = folder("/mnt/card");
        assert!(continues(&of(&card, 900), &of(&card, 700)));
        assert!(!continues(&of(&card, 900), &of(&folder("/mnt/other"), 900)));
        let device = AnatomyScope::Device;
        assert!(!continues(&of(&device, 900), &of(&device, 700)));
    }

    /// Experiments that only read stop in time, whatever they measure: also on a device that is so slow that their samples
    /// take minutes. Only an anatomy that writes then looks for throttling, for another 400 s at most.
    #[test]
    fn reads_end_after_5_minutes_on_slow_devices() {
        for (scope, factor, minutes) in [
            (AnatomyScope::ReadOnly, 30, 5),
            (AnatomyScope::Simulated, 0, 5),
            (AnatomyScope::Simulated, 3, 12),
            (AnatomyScope::Simulated, 30, 12),
        ] {
            let (model, mut record) = record();
            record.scope = scope;
            record.anatomy.read_only = record.scope == AnatomyScope::ReadOnly;
            record.budget = budget(model.capacity, record.anatomy.read_only);
            let card = SimulatedDevice::new(model, 1);
            let extra = move |_: &SimulatedDevice, latency: Nanos| Nanos(latency.0 * factor);
            let mut device = AlteredDevice::slower(card, extra);
            examine(&mut device, &mut record, &mut |_, _| {}).unwrap();
            let time = |is_one: &dyn Fn(Experiment) -> bool| -> u64 {
                let ended = record.anatomy.experiments.iter();
                let of = ended.filter(|of| is_one(of.experiment));
                of.map(|of| of.spent.time.0 / 1_000_000_000).sum()
            };
            let reads = time(&|of| !of.writes());
            assert!(reads <= minutes * 60, "factor {factor}: {reads} s");
            let others = time(&|of| !of.writes() && of != Experiment::Heat);
            assert!(others <= 300, "factor {factor}: {others} s");
        }
    }

    /// Returns the anatomy of a device some of whose requests are 1.6 times as slow, for no reason that a request shows.
    fn of_two_speeds(
        scope: AnatomyScope,
        mut is_slow: impl FnMut(Nanos) -> bool + 'static,
    ) -> AnatomyRecord {
        let model = DeviceModel::plain("card", Bytes(16 << 30));
        let identity = simulated_identity(&model);
        let mut record = new_record(identity, scope, model.capacity, 3);
        let card = SimulatedDevice::new(model, 1);
        let mut device =
            AlteredDevice::slower(card, move |card, latency| match is_slow(card.now()) {
                true => Nanos(latency.0 / 5 * 3),
                false => Nanos(0),
            });
        examine(&mut device, &mut record, &mut |_, _| {}).unwrap();
        assert!(record.completed);
        record
    }

    #[test]
    fn a_device_of_two_speeds_fits_no_model_and_gets_no_numbers() {
        use hakaru_model::anatomy::{CardFinding, CardProperty, DeclineReason};
        for scope in [AnatomyScope::Simulated, AnatomyScope::ReadOnly] {
            let mut rng = hakaru_model::rng::Rng::new(9);
            let record = of_two_speeds(scope, move |_| rng.below(5) == 0);
            assert!(record.anatomy.model.is_none());
            for property in CardProperty::ALL {
                let found = record.anatomy.finding(property);
                assert!(
                    matches!(found, CardFinding::Unknown(DeclineReason::NoModel { share }) if share > 0.1),
                    "{property:?}: {found:?}"
                );
            }
        }
    }

    #[test]
    fn a_device_whose_speed_switches_gets_no_numbers() {
        use hakaru_model::anatomy::{CardFinding, CardProperty, DeclineReason};
        for seconds in [11, 17, 40] {
            let period = seconds * 1_000_000_000;
            let is_slow = move |now: Nanos| now.0 % period > period / 2;
            let anatomy = of_two_speeds(AnatomyScope::Simulated, is_slow).anatomy;
            assert!(anatomy.model.is_none(), "{seconds} s: {anatomy:?}");
            for property in CardProperty::ALL {
                let found = anatomy.finding(property);
                assert!(
                    matches!(
                        found,
                        CardFinding::Unknown(
                            DeclineReason::NoModel { .. } | DeclineReason::Drift { .. }
                        )
                    ),
                    "{seconds} s {property:?}: {found:?}"
                );
            }
        }
    }

    /// Regression: of a busy host, it was said that the device fits no model.
    #[test]
    fn a_busy_host_is_the_reason_why_nothing_is_known() {
        use hakaru_model::anatomy::{CardFinding, CardProperty, DeclineReason};
        let (model, mut record) = record();
        let mut rng = hakaru_model::rng::Rng::new(4);
        let card = SimulatedDevice::new(model, 1);
        let mut device = AlteredDevice::slower(card, move |_, latency| {
            let factor = if rng.below(8) == 0 { 9 } else { 0 };
            Nanos(latency.0 * factor)
        });
        examine(&mut device, &mut record, &mut |_, _| {}).unwrap();
        assert!(record.completed);
        for property in CardProperty::ALL {
            let found = record.anatomy.finding(property);
            let is_busy =
                matches!(found, CardFinding::Unknown(DeclineReason::Busy { slow }) if slow > 0.05);
            assert!(is_busy, "{property:?}: {found:?}");
        }
    }

    #[test]
    fn a_device_that_is_slow_for_seconds_is_not_said_to_throttle() {
        use hakaru_model::anatomy::{CardFinding, CardProperty};
        for seconds in [3, 6] {
            let slow = 60_000_000_000..60_000_000_000 + seconds * 1_000_000_000;
            let is_slow = move |now: Nanos| slow.contains(&now.0);
            let anatomy = of_two_speeds(AnatomyScope::ReadOnly, is_slow).anatomy;
            for property in CardProperty::ALL {
                if let CardFinding::Known(known) = anatomy.finding(property) {
                    assert!(
                        known.low <= known.value && known.value <= known.high,
                        "{seconds} s {property:?}: {known:?}"
                    );
                }
            }
            let after = anatomy.finding(CardProperty::ThrottleAfter);
            assert!(after.known().is_none(), "{seconds} s: {after:?}");
        }
    }

    #[test]
    fn a_device_that_is_slow_for_a_minute_is_not_said_to_throttle() {
        use hakaru_model::anatomy::{CardFinding, CardProperty, DeclineReason};
        let period = 150_000_000_000;
        let is_slow = move |now: Nanos| now.0 % period > period / 2;
        let anatomy = of_two_speeds(AnatomyScope::Simulated, is_slow).anatomy;
        for property in [
            CardProperty::ThrottleAfter,
            CardProperty::ThrottlePercent,
            CardProperty::ThrottleRecovery,
        ] {
            let found = anatomy.finding(property);
            let contradiction = CardFinding::Unknown(DeclineReason::Contradiction);
            assert_eq!(found, contradiction, "{property:?}");
        }
    }
}
