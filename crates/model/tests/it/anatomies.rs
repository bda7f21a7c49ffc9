//! Tests of card anatomies: units of properties, intervals of findings, and limits of stored values.

use hakaru_model::anatomy::{
    Anatomy, CardFinding, CardProperty, DeclineReason, Experiment, ExperimentRecord, PropertyUnit,
    PropertyValue, Spent,
};
use hakaru_model::anatomy_record::{
    AnatomyRecord, AnatomyScope, FORMAT, PredictedFigure, PredictedPhase, PredictionOutcome,
};
use hakaru_model::anatomy_resume::AnatomyResume;
use hakaru_model::device_model::DeviceModel;
use hakaru_model::facts::{Environment, Fact, Identity, TargetKind, UnknownReason};
use hakaru_model::job::Op;
use hakaru_model::units::{Bytes, Nanos};
use std::path::PathBuf;

/// 2^60, the largest number in an anatomy.
const LARGEST: u64 = 1_152_921_504_606_846_976;

/// 2^50, the largest number that one experiment may have spent.
const MOST_SPENT: u64 = 1_125_899_906_842_624;

fn anatomy() -> Anatomy {
    Anatomy::new("card", Bytes(8 << 30), false)
}

fn record() -> AnatomyRecord {
    AnatomyRecord {
        format: FORMAT,
        id: "id".to_owned(),
        version: "1.0.0".to_owned(),
        started_unix_ms: 0,
        elapsed: Nanos(0),
        target: Identity {
            path: PathBuf::from("card.json"),
            kind: TargetKind::File,
            filesystem: None,
            device: Fact::Unknown(UnknownReason::SimulatedCard),
            system_disk: false,
            label: None,
        },
        environment: Environment::default(),
        scope: AnatomyScope::Simulated,
        seed: 1,
        budget: Spent::default(),
        completed: false,
        anatomy: anatomy(),
        trials: Vec::new(),
    }
}

fn spent([time, read, written, copied, requests]: [u64; 5]) -> Spent {
    Spent {
        time: Nanos(time),
        read: Bytes(read),
        written: Bytes(written),
        copied: Bytes(copied),
        requests,
    }
}

/// Returns one spending for each field, with this value in the field and 0 in the others.
fn spent_in_each_field(value: u64) -> Vec<Spent> {
    let one = |at| std::array::from_fn(|field| if field == at { value } else { 0 });
    (0..5).map(|at| spent(one(at))).collect()
}

fn ran(experiment: Experiment, spent: Spent) -> ExperimentRecord {
    ExperimentRecord {
        experiment,
        spent,
        repeats: 0,
    }
}

fn refuses(change: impl FnOnce(&mut AnatomyRecord)) -> bool {
    let mut record = record();
    assert_eq!(record.check(), Ok(()));
    change(&mut record);
    record.check().is_err()
}

#[test]
fn each_property_has_its_unit() {
    use CardProperty::*;
    for (unit, properties) in [
        (
            PropertyUnit::Bytes,
            &[Page, Unit, MappingChunk, CacheSize][..],
        ),
        (
            PropertyUnit::Count,
            &[
                OpenUnits,
                RandomUnits,
                FatUnits,
                ParallelReads,
                MappingSlots,
            ],
        ),
        (PropertyUnit::Flag, &[GathersWrites, DiscardFrees]),
        (
            PropertyUnit::Rate,
            &[ReadRate, WriteRate, CacheRate, DrainRate, CollectionRate],
        ),
        (PropertyUnit::Percent, &[ThrottlePercent]),
        (
            PropertyUnit::Time,
            &[
                ReadOverhead,
                ReadSeek,
                Sense,
                UnitCrossing,
                MappingLoad,
                WriteOverhead,
                WriteSeek,
                DrainDelay,
                OpenCost,
                CollectionTime,
                RandomWrite,
                WriteToRead,
                ReadToWrite,
                Flush,
                Discard,
                ThrottleAfter,
                ThrottleRecovery,
            ],
        ),
    ] {
        let of_unit = |property: &CardProperty| property.unit() == unit;
        let found: Vec<_> = CardProperty::ALL.into_iter().filter(of_unit).collect();
        let mut wanted = properties.to_vec();
        wanted.sort();
        assert_eq!(found, wanted, "{unit:?}");
    }
}

#[test]
fn sizes_counts_and_flags_are_exact_but_not_the_cache() {
    use CardProperty::*;
    let exact: Vec<_> = CardProperty::ALL
        .into_iter()
        .filter(|property| property.is_exact())
        .collect();
    assert_eq!(
        exact,
        [
            Page,
            Unit,
            OpenUnits,
            RandomUnits,
            FatUnits,
            GathersWrites,
            DiscardFrees,
            ParallelReads,
            MappingChunk,
            MappingSlots
        ]
    );
}

#[test]
fn only_the_experiments_after_heat_write() {
    use Experiment::*;
    let reading: Vec<_> = Experiment::ALL
        .into_iter()
        .filter(|experiment| !experiment.writes())
        .collect();
    assert_eq!(
        reading,
        [Noise, ReadSizes, Boundaries, Mapping, Depth, Heat]
    );
}

#[test]
fn a_rough_estimate_has_an_interval() {
    let interval = |value, low, high| Some(PropertyValue { value, low, high });
    let noisy = |value, relative_error| {
        CardFinding::Unknown(DeclineReason::Noisy {
            value,
            relative_error,
        })
    };
    let known = PropertyValue {
        value: 7.0,
        low: 5.0,
        high: 11.0,
    };
    for (finding, rough) in [
        (CardFinding::Known(known), Some(known)),
        (CardFinding::exact(11), interval(11.0, 11.0, 11.0)),
        (CardFinding::Absent { up_to: 7.0 }, interval(0.0, 0.0, 3.5)),
        (noisy(8.0, 0.25), interval(8.0, 6.0, 10.0)),
        (noisy(8.0, 0.75), interval(8.0, 2.0, 14.0)),
        (noisy(8.0, 1.0), None),
        (noisy(8.0, 3.0), None),
        (noisy(0.0, 0.25), None),
        (noisy(-8.0, 0.25), None),
        (CardFinding::Unknown(DeclineReason::Heat), None),
    ] {
        assert_eq!(finding.rough(), rough, "{finding:?}");
    }
}

#[test]
fn only_known_findings_have_a_value() {
    let mut anatomy = anatomy();
    let (page, rate) = (CardProperty::Page, CardProperty::ReadRate);
    let estimate = PropertyValue {
        value: 20.5,
        low: 20.0,
        high: 21.0,
    };
    for (property, finding) in [
        (page, CardFinding::exact(16_384)),
        (rate, CardFinding::Known(estimate)),
        (CardProperty::CacheSize, CardFinding::Absent { up_to: 1e9 }),
    ] {
        anatomy.findings.insert(property, finding);
    }
    assert_eq!(anatomy.finding(rate).known(), Some(estimate));
    assert_eq!(anatomy.value(rate), Some(20.5));
    assert_eq!(
        (anatomy.value(page), anatomy.size(page)),
        (Some(16_384.0), Some(16_384))
    );
    for property in [CardProperty::CacheSize, CardProperty::Unit] {
        assert_eq!(anatomy.finding(property).known(), None);
        assert_eq!(
            (anatomy.value(property), anatomy.size(property)),
            (None, None)
        );
    }
}

#[test]
fn spending_adds_and_subtracts_without_overflow() {
    let before = spent([3, 7, 11, 13, 17]);
    let more = spent([100, 200, 300, 400, 500]);
    assert_eq!(before.plus(&more), spent([103, 207, 311, 413, 517]));
    assert_eq!(more.since(&before), spent([97, 193, 289, 387, 483]));
    assert_eq!(before.since(&more), Spent::default());
    let most = spent([u64::MAX; 5]);
    assert_eq!(most.plus(&before), most);
}

#[test]
fn a_record_has_a_capacity_of_at_most_2_to_the_60() {
    let refuses_capacity = |bytes| refuses(|record| record.anatomy.capacity = Bytes(bytes));
    for (bytes, refused) in [
        (0, true),
        (1, false),
        (LARGEST - 1, false),
        (LARGEST, false),
        (LARGEST + 1, true),
    ] {
        assert_eq!(refuses_capacity(bytes), refused, "{bytes}");
    }
}

#[test]
fn times_and_budgets_of_a_record_are_limited() {
    for (value, refused) in [(LARGEST - 1, false), (LARGEST, false), (LARGEST + 1, true)] {
        assert_eq!(refuses(|record| record.elapsed = Nanos(value)), refused);
        for budget in spent_in_each_field(value) {
            assert_eq!(refuses(|r| r.budget = budget), refused, "{budget:?}");
        }
    }
}

#[test]
fn spending_of_an_experiment_is_limited() {
    for (value, refused) in [
        (MOST_SPENT - 1, false),
        (MOST_SPENT, false),
        (MOST_SPENT + 1, true),
    ] {
        for spent in spent_in_each_field(value) {
            let done = vec![
                ran(Experiment::Noise, Spent::default()),
                ran(Experiment::Depth, spent),
            ];
            assert_eq!(refuses(|r| r.anatomy.experiments = done), refused);
            let state = AnatomyResume {
                interrupted: spent,
                ..AnatomyResume::default()
            };
            assert_eq!(
                refuses(|r| r.anatomy.resume = Some(Box::new(state))),
                refused,
                "{spent:?}"
            );
        }
    }
}

#[test]
fn a_record_lists_each_experiment_at_most_once() {
    let once = Experiment::ALL.map(|experiment| ran(experiment, Spent::default()));
    let once = once.to_vec();
    let once_more = [once.clone(), once[..1].to_vec()].concat();
    assert_eq!((once.len(), once_more.len()), (14, 15));
    assert!(!refuses(|record| record.anatomy.experiments = once));
    assert!(refuses(|record| record.anatomy.experiments = once_more));
}

#[test]
fn values_of_findings_are_limited() {
    let limit = 1_152_921_504_606_846_976.0_f64;
    let above = limit.next_up();
    let known = |value, low, high| CardFinding::Known(PropertyValue { value, low, high });
    for (finding, refused) in [
        (known(limit, -limit, limit), false),
        (known(above, 0.0, 1.0), true),
        (known(1.0, -above, 1.0), true),
        (known(1.0, 0.0, above), true),
        (CardFinding::Absent { up_to: limit }, false),
        (CardFinding::Absent { up_to: above }, true),
        (CardFinding::Unknown(DeclineReason::Heat), false),
    ] {
        let findings = [(CardProperty::Flush, finding)].into();
        assert_eq!(refuses(|r| r.anatomy.findings = findings), refused);
        let state = AnatomyResume {
            findings: [(CardProperty::Flush, finding)].into(),
            ..AnatomyResume::default()
        };
        assert_eq!(
            refuses(|r| r.anatomy.resume = Some(Box::new(state))),
            refused,
            "{finding:?}"
        );
    }
}

#[test]
fn the_device_model_of_a_record_is_checked() {
    let mut record = record();
    record.anatomy.model = Some(DeviceModel::plain("card", Bytes(1 << 30)));
    assert_eq!(record.check(), Ok(()));
    record.anatomy.model = Some(DeviceModel::plain("card", Bytes(0)));
    let why = record.check().unwrap_err();
    assert!(why.starts_with("anatomy.model: capacity"), "{why}");
}

#[test]
fn a_record_with_more_experiments_or_all_is_later() {
    let state = |completed, experiments: usize| {
        let mut state = record();
        state.completed = completed;
        let done = Experiment::ALL.into_iter().take(experiments);
        state.anatomy.experiments = done.map(|of| ran(of, Spent::default())).collect();
        state
    };
    for (one, other, later) in [
        (state(false, 3), state(false, 2), true),
        (state(false, 2), state(false, 2), false),
        (state(false, 2), state(false, 3), false),
        (state(true, 3), state(false, 3), true),
        (state(false, 3), state(true, 3), false),
        (state(true, 3), state(true, 3), false),
    ] {
        assert_eq!(one.is_later_than(&other), later, "{one:?} {other:?}");
    }
}

fn predicted(measured: Option<f64>) -> PredictedFigure {
    PredictedFigure {
        predicted: PropertyValue {
            value: 7.0,
            low: 5.0,
            high: 11.0,
        },
        measured,
    }
}

#[test]
fn a_prediction_holds_within_its_interval() {
    for (measured, holds) in [
        (None, None),
        (Some(4.9), Some(false)),
        (Some(5.1), Some(true)),
        (Some(10.9), Some(true)),
        (Some(11.1), Some(false)),
    ] {
        assert_eq!(predicted(measured).holds(), holds, "{measured:?}");
    }
}

#[test]
fn a_phase_holds_unless_a_figure_is_outside() {
    let phase = |outcome| PredictedPhase {
        phase: "seq-read".to_owned(),
        op: Op::Read,
        workload: "sequential read".to_owned(),
        outcome,
    };
    assert!(phase(PredictionOutcome::Needs(CardProperty::Page)).holds());
    let figures = |[bandwidth, iops, p50, p99]: [Option<f64>; 4]| {
        let outcome = PredictionOutcome::Figures {
            bandwidth: predicted(bandwidth),
            iops: predicted(iops),
            p50: predicted(p50),
            p99: predicted(p99),
        };
        phase(outcome).holds()
    };
    assert!(figures([None; 4]));
    assert!(figures([Some(6.0), None, Some(7.0), Some(8.0)]));
    for outside in 0..4 {
        let mut measured = [None, Some(6.0), Some(7.0), None];
        measured[outside] = Some(12.0);
        assert!(!figures(measured), "{measured:?}");
    }
}
