//! Tests that an anatomy which is interrupted in every experiment ends with the findings of one that is not.

use super::{AlteredDevice, RunStep, SimulatedDevice, examine, new_record, simulated_identity};
use hakaru_anatomy::{DeviceError, TimedDevice};
use hakaru_model::anatomy::{CardFinding, CardProperty, Experiment};
use hakaru_model::anatomy_record::{AnatomyRecord, AnatomyScope};
use hakaru_model::device_model::{DeviceModel, Flash, Noise, SlcCache};
use hakaru_model::units::{Bytes, Nanos};
use std::cell::Cell;
use std::collections::BTreeSet;
use std::rc::Rc;

/// Requests of an experiment that are served before it is interrupted.
const SERVED: u64 = 25;

fn model() -> DeviceModel {
    let mut model = DeviceModel::plain("card", Bytes(16 << 30));
    (model.read_seek, model.write_seek) = (Nanos(0), Nanos(0));
    (model.read_overhead, model.write_overhead) = (Nanos(350_000), Nanos(600_000));
    (model.read_rate, model.write_rate) = (45_000_000, 18_000_000);
    (model.write_to_read, model.read_to_write) = (Nanos(300_000), Nanos(200_000));
    model.flush = Nanos(2_000_000);
    model.flash = Some(Flash {
        page: Bytes(16 << 10),
        sense: Nanos(90_000),
        gathers_writes: true,
        unit: Bytes(4 << 20),
        open: Nanos(2_000_000),
        unit_crossing: Nanos(150_000),
        open_units: 4,
        random_units: 2,
        random_write: Nanos(500_000),
        collection_rate: 40_000_000,
        fat_units: 2,
        mapping: None,
        discard: Nanos(300_000),
        discard_frees: true,
    });
    model.cache = Some(SlcCache {
        size: Bytes(160 << 20),
        write_rate: 40_000_000,
        drain_rate: 15_000_000,
        drain_delay: Nanos(1_000_000_000),
    });
    model.noise = Some(Noise {
        sigma_permille: 20,
        drift_permille: 20,
        drift_period: Nanos(240_000_000_000),
        ..Noise::default()
    });
    model
}

fn new_anatomy(model: &DeviceModel) -> AnatomyRecord {
    let identity = simulated_identity(model);
    new_record(identity, AnatomyScope::Simulated, model.capacity, 11)
}

/// Examines a card, and interrupts each experiment once: in turn by Ctrl-C, which keeps the record at its end, and by
/// `kill -9`, which keeps the state that was stored last.
fn interrupted(model: &DeviceModel) -> (AnatomyRecord, u32) {
    let left = Rc::new(Cell::new(u64::MAX));
    let to_serve = Rc::clone(&left);
    let card = SimulatedDevice::new(model.clone(), 5);
    let mut device = AlteredDevice::new(card, move |card, request| {
        let left = to_serve.get().checked_sub(1);
        to_serve.set(left.ok_or(DeviceError::Stopped)?);
        card.serve(request)
    });
    let mut record = new_anatomy(model);
    let (mut stored, mut stops) = (record.clone(), 0);
    let mut begun = BTreeSet::new();
    loop {
        left.set(u64::MAX);
        let outcome = examine(&mut device, &mut record, &mut |step, so_far| match step {
            RunStep::Begins(experiment) if begun.insert(experiment) => left.set(SERVED),
            RunStep::Begins(_) => {}
            RunStep::Ended(_) => stored = so_far.clone(),
        });
        let Err(error) = outcome else {
            return (record, stops);
        };
        assert!(matches!(error, DeviceError::Stopped), "{error}");
        assert!(!record.completed && record.anatomy.resume.is_some());
        if stops % 2 == 1 {
            record = stored.clone();
        }
        // What is stored is what is read back.
        let text = serde_json::to_string(&record).unwrap();
        record = serde_json::from_str(&text).unwrap();
        assert_eq!(record.check(), Ok(()));
        stops += 1;
    }
}

#[test]
fn interruptions_change_no_finding_and_repeat_no_experiment() {
    let model = model();
    let mut whole = new_anatomy(&model);
    examine(
        &mut SimulatedDevice::new(model.clone(), 5),
        &mut whole,
        &mut |_, _| {},
    )
    .unwrap();
    let (parts, stops) = interrupted(&model);
    assert_eq!(stops, Experiment::ALL.len() as u32);
    assert!(parts.completed && parts.anatomy.resume.is_none());
    let experiments = |of: &AnatomyRecord| -> Vec<Experiment> {
        of.anatomy
            .experiments
            .iter()
            .map(|e| e.experiment)
            .collect()
    };
    assert_eq!(experiments(&parts), Experiment::ALL);
    let evidence = |of: &AnatomyRecord| -> Vec<Experiment> {
        of.anatomy.evidence.iter().map(|e| e.experiment).collect()
    };
    assert_eq!(evidence(&parts), evidence(&whole));
    let mut lost = Vec::new();
    for property in CardProperty::ALL {
        let found = (
            whole.anatomy.finding(property),
            parts.anatomy.finding(property),
        );
        match found {
            (CardFinding::Known(a), CardFinding::Known(b)) => {
                let near = (a.value / b.value - 1.0).abs() < 0.1 || a.value == b.value;
                assert!(near, "{property:?}: {a:?}, {b:?}");
                assert!(!property.is_exact() || a.value == b.value, "{property:?}");
            }
            (CardFinding::Known(_), _) => lost.push(format!("{property:?}: {:?}", found.1)),
            (CardFinding::Absent { .. }, CardFinding::Known(_)) => {
                panic!("{property:?}: {found:?}")
            }
            _ => {}
        }
    }
    assert!(lost.len() <= 1, "{lost:#?}");
    let written = |of: &AnatomyRecord| -> u64 {
        of.anatomy
            .experiments
            .iter()
            .map(|e| e.spent.written.0)
            .sum()
    };
    assert!(written(&parts) <= parts.budget.written.0);
    assert!(
        written(&parts) < written(&whole) * 3 / 2,
        "{}",
        written(&parts)
    );
}
