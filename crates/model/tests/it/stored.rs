//! Property tests of storing and reading values, also in the forms of older versions.

use crate::cases;
use crate::generate::{
    any_job, caveat, environment, failure_kind, identity, io_error, record, scenario_of,
};
use crate::{from_tree, to_tree};
use hakaru_model::advice::{Advice, Criterion, Decision, Fitness, UseRule};
use hakaru_model::caveat::CacheOf;
use hakaru_model::device_model::{
    DeviceModel, Fault, FaultKind, Flash, MappingCache, Noise, SlcCache, Stalls, Throttle,
};
use hakaru_model::facts::Fact;
use hakaru_model::figure::Figure;
use hakaru_model::finding::{
    Comparison, Estimate, IntervalCaveat, MeasuredFigure, Verdict, WorkloadShape,
};
use hakaru_model::integrity::{BlockState, Capacity, IntegrityVerdict, Scope, Span, SpeedMap};
use hakaru_model::job::Op;
use hakaru_model::record::{FailureKind, RunRecord};
use hakaru_model::references::{Level, ReferenceEntry, ReferenceSet, ReferenceSource};
use hakaru_model::units::{Bytes, Nanos};
use proptest::prelude::*;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

/// Serializes and deserializes a value, and serializes it again.
pub(crate) fn back<T: Serialize + DeserializeOwned>(value: &T) -> T {
    let text = serde_json::to_string(value).expect("it can be written");
    let read: T =
        hakaru_model::json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {text}"));
    assert_eq!(serde_json::to_string(&read).expect("again"), text);
    read
}

/// Collects the pointers to all places in a JSON value.
fn places(value: &Value, at: &str, all: &mut Vec<String>) {
    let mut step = |key: &str, value: &Value| {
        let pointer = format!("{at}/{key}");
        all.push(pointer.clone());
        places(value, &pointer, all);
    };
    match value {
        Value::Object(fields) => fields.iter().for_each(|(key, value)| step(key, value)),
        Value::Array(items) => {
            let numbered = items.iter().enumerate();
            numbered.for_each(|(index, value)| step(&index.to_string(), value));
        }
        _ => {}
    }
}

/// Removes the field or item at a pointer.
pub(crate) fn take_out(value: &mut Value, pointer: &str) {
    let (parent, key) = pointer.rsplit_once('/').expect("a pointer");
    match value.pointer_mut(parent) {
        Some(Value::Object(fields)) => {
            fields.remove(key);
        }
        Some(Value::Array(items)) => {
            items.remove(key.parse().expect("an index"));
        }
        _ => panic!("nothing at {pointer}"),
    }
}

fn estimate(values: [f64; 3]) -> Estimate {
    Estimate {
        values: values.to_vec(),
        mean: values[0],
        deviation: Some(values[1]),
        median: values[2],
        ci95: Some((values[0], values[1])),
        interval_caveats: vec![IntervalCaveat::FewRuns, IntervalCaveat::Skewed],
        ..Estimate::default()
    }
}

fn halves() -> impl Strategy<Value = [f64; 3]> {
    prop::array::uniform3((0u32..1 << 20).prop_map(|n| f64::from(n) / 2.0))
}

fn shape() -> impl Strategy<Value = WorkloadShape> {
    (
        any::<[bool; 3]>(),
        any::<[u32; 4]>(),
        any::<u64>(),
        prop::option::of(any::<u64>()),
    )
        .prop_map(|(flags, n, block, extent)| WorkloadShape {
            random: flags[0],
            read_percent: n[0],
            block: Bytes(block),
            iodepth: n[1],
            workers: n[2],
            sync_every: n[3],
            sync_open: flags[1],
            direct: flags[2],
            extent: extent.map(Bytes),
        })
}

fn figure() -> impl Strategy<Value = Figure> {
    prop::sample::select(vec![
        Figure::SequentialRead,
        Figure::SequentialWrite,
        Figure::RandomRead,
        Figure::RandomWrite,
        Figure::RandomReadP99,
        Figure::SyncP99,
        Figure::SyncP999,
        Figure::SustainedWrite,
        Figure::SlowestWrite,
    ])
}

fn decision() -> impl Strategy<Value = Decision> {
    let fitness = prop::sample::select(vec![Fitness::DoesNot, Fitness::WithCare, Fitness::Fits]);
    (figure(), halves(), fitness, any::<bool>(), any::<bool>()).prop_map(
        |(figure, n, fitness, firm, interval)| Decision {
            criterion: Criterion {
                figure,
                fits: n[0],
                care: n[1],
                why: "because".to_owned(),
            },
            measured: MeasuredFigure {
                phase: "p".to_owned(),
                value: n[2],
                ci95: (interval || firm).then_some((n[0], n[2])),
                bounds: None,
                stalls: None,
                runs: 5,
            },
            fitness,
            firm,
            better_from: firm.then_some(n[1]),
        },
    )
}

proptest! {
    #![proptest_config(cases(96))]

    #[test]
    fn any_scenario_comes_back(jobs in prop::collection::vec(any_job(), 1..3), seed: u64) {
        let scenario = scenario_of(jobs, seed);
        prop_assert_eq!(back(&scenario), scenario);
    }

    #[test]
    fn any_record_comes_back(record in record()) {
        prop_assert_eq!(back(&record), record);
    }

    #[test]
    fn any_record_comes_back_from_a_tree(record in record()) {
        let tree = to_tree(&record).unwrap();
        prop_assert_eq!(from_tree::<RunRecord>(tree).unwrap(), record);
    }

    #[test]
    fn a_damaged_record_is_an_error_or_a_record(record in record(), at: prop::sample::Index, with in 0u8..6) {
        let mut tree = to_tree(&record).unwrap();
        let mut all = Vec::new();
        places(&tree, "", &mut all);
        let pointer = at.get(&all);
        let damage = [Value::Null, json!(-1), json!("?"), json!([]), json!({}), json!(1e300)];
        *tree.pointer_mut(pointer).unwrap() = damage[usize::from(with)].clone();
        if let Ok(read) = from_tree::<RunRecord>(tree) {
            // A value that could be read can be written.
            prop_assert!(serde_json::to_string(&read).is_ok());
        }
    }

    #[test]
    fn an_unknown_field_of_a_record_is_ignored(record in record(), at: prop::sample::Index) {
        let mut tree = to_tree(&record).unwrap();
        let top = ["", "/environment", "/target", "/scenario", "/scenario/phases/0"];
        let place = tree.pointer_mut(top[at.index(top.len())]).unwrap();
        place["a field of a later version"] = json!([1, 2]);
        prop_assert_eq!(from_tree::<RunRecord>(tree).unwrap(), record);
    }

    #[test]
    fn any_caveat_comes_back_by_its_name(caveat in caveat()) {
        prop_assert_eq!(back(&caveat), caveat.clone());
        let name = to_tree(&caveat).unwrap()["caveat"].clone();
        let snake = name.as_str().unwrap();
        prop_assert!(snake.bytes().all(|b| b.is_ascii_lowercase() || b == b'_'), "{snake}");
    }

    #[test]
    fn any_failure_comes_back(error in io_error(), kind in failure_kind()) {
        prop_assert_eq!(back(&error), error.clone());
        prop_assert_eq!(back(&kind), kind);
        let written = to_tree(&error).unwrap();
        prop_assert_eq!(written.get("kind").is_none(), error.kind.is_unknown());
        prop_assert_eq!(written.get("op").is_none(), error.op.is_none());
    }

    #[test]
    fn the_operation_of_a_failure_is_the_typed_one(error in io_error()) {
        let of_old = match error.action.as_str() {
            "read" | "verify" => Some(Op::Read),
            "write" => Some(Op::Write),
            "trim" => Some(Op::Trim),
            _ => None,
        };
        let old = error.kind.is_unknown() && error.op.is_none();
        prop_assert_eq!(error.operation(), if old { of_old } else { error.op });
        let limit = matches!(error.kind, FailureKind::TooSlow { .. } | FailureKind::RateMissed { .. } | FailureKind::IopsMissed { .. });
        prop_assert_eq!(error.kind.option().is_some(), limit);
    }

    #[test]
    fn identities_and_hosts_come_back(identity in identity(), environment in environment()) {
        prop_assert_eq!(back(&identity), identity.clone());
        prop_assert_eq!(back(&environment), environment);
        prop_assert!(identity.label.is_none() || Some(identity.display_name()) == identity.label);
        prop_assert!(!matches!(identity.device, Fact::Unknown(_)) || identity.label.is_some() || identity.display_name() == identity.path.display().to_string());
    }

    #[test]
    fn estimates_and_comparisons_come_back(a in halves(), b in halves(), needed in prop::option::of(any::<u32>()), which in 0u8..3) {
        let verdict = match which {
            0 => Verdict::Different,
            1 => Verdict::Equivalent,
            _ => Verdict::Undecided { needed },
        };
        let comparison = Comparison {
            quantity: "seq-read bandwidth".into(), unit: "B/s".into(), a: estimate(a).into(), b: estimate(b).into(), ratio: a[0],
            ratio_ci95: Some((a[1], b[1])), p_value: Some(0.25), p_value_ranks: None, p_adjusted: Some(0.5), p_equivalence: None,
            family: 3, primary: false, interval_caveats: vec![IntervalCaveat::Dependent], effect: Some(b[2]), effect_ci95: None,
            delta: Some(-0.5), verdict,
        };
        prop_assert_eq!(back(&comparison), comparison);
    }

    #[test]
    fn references_come_back_and_take_no_unknown_field(shape in shape(), n in halves(), runs: u32) {
        let level = |mean| Level { mean, deviation: Some(n[2]) };
        let entry = ReferenceEntry {
            source: "A".to_owned(), host: "pi5".to_owned(), card: "card".to_owned(), layer: "raw".to_owned(),
            workload: "w".to_owned(), op: Op::Read, shape, runs, bandwidth: level(n[0]), iops: level(n[1]),
        };
        let source = ReferenceSource { id: "A".to_owned(), title: "T".to_owned(), note: String::new() };
        let set = ReferenceSet { sources: vec![source], entries: vec![entry] };
        prop_assert_eq!(back(&set), set.clone());
        let mut tree = to_tree(&set).unwrap();
        tree["entries"][0]["bandwith"] = json!(1);
        prop_assert!(from_tree::<ReferenceSet>(tree).is_err());
    }

    #[test]
    fn device_models_come_back_with_all_their_lies(n in any::<[u64; 6]>(), flags in any::<[bool; 5]>(), jitter in 0u32..1000) {
        let mut model = DeviceModel::plain("card", Bytes(n[0]));
        model.claimed_capacity = flags[0].then_some(Bytes(n[1]));
        model.cache = flags[1].then_some(SlcCache { size: Bytes(n[2]), write_rate: n[3], drain_rate: n[4], drain_delay: Nanos(n[5]) });
        model.stalls = flags[2].then_some(Stalls { every: Bytes(n[5]), lasts: Nanos(n[0]) });
        model.throttle = flags[3].then_some(Throttle { after: Nanos(n[1]), percent: jitter, until: flags[4].then_some(Nanos(n[0])) });
        (model.parallel_reads, model.write_to_read, model.read_to_write) = (1 + jitter, Nanos(n[2]), Nanos(n[3]));
        let mapping = flags[1].then_some(MappingCache { chunk: Bytes(n[0]), slots: jitter, load: Nanos(n[1]) });
        model.flash = flags[2].then_some(Flash {
            page: Bytes(n[0]), sense: Nanos(n[1]), gathers_writes: flags[0], unit: Bytes(n[2]), open: Nanos(n[3]),
            unit_crossing: Nanos(n[4]), open_units: jitter, random_units: jitter / 2, random_write: Nanos(n[5]),
            collection_rate: n[1], fat_units: jitter / 3, mapping, discard: Nanos(n[2]), discard_frees: flags[3],
        });
        model.noise = flags[3].then_some(Noise {
            sigma_permille: jitter, stalls_per_million: jitter, stall_mean: Nanos(n[0]), drift_permille: jitter,
            drift_period: Nanos(n[1]),
        });
        let kinds = [FaultKind::ReadError, FaultKind::WriteError, FaultKind::DropsWrites];
        model.faults = kinds.map(|kind| Fault { offset: Bytes(n[2]), len: Bytes(n[3]), kind }).to_vec();
        (model.lost_flush, model.jitter_permille) = (flags[4].then_some(Bytes(n[4])), jitter);
        prop_assert_eq!(back(&model), model);
    }

    #[test]
    fn verdicts_of_integrity_come_back(n in any::<[u64; 4]>(), which in 0usize..6, wraps: bool) {
        let states = [
            BlockState::Good, BlockState::Overwritten { distance: Bytes(n[0]) }, BlockState::Lost, BlockState::Damaged,
            BlockState::Unreadable, BlockState::Unwritable,
        ];
        let span = Span { offset: Bytes(n[1]), len: Bytes(n[2]), state: states[which] };
        let capacity = if wraps { Capacity::Wraps { real: Bytes(n[3]) } } else { Capacity::Ends { real: Bytes(n[3]) } };
        let verdict = IntegrityVerdict {
            claimed: Bytes(n[0]), capacity, good: Bytes(n[1]), bad: vec![span], bad_bytes: Bytes(n[2]),
            write_speed: SpeedMap::default(), read_speed: SpeedMap::default(),
        };
        prop_assert_eq!(back(&verdict), verdict);
        let scope = Scope::Range { start: Bytes(n[0]), end: Bytes(n[1]), of: Bytes(n[2]) };
        prop_assert_eq!(back(&scope), scope);
    }

    #[test]
    fn advice_comes_back_and_is_firm_only_with_intervals(decisions in prop::collection::vec(decision(), 0..4)) {
        let mut decided_by = decisions;
        decided_by.sort_by_key(|decision| decision.fitness);
        let fitness = decided_by.first().map(|decision| decision.fitness);
        let advice = Advice { id: "os".to_owned(), title: "OS".to_owned(), fitness, decided_by, not_measured: Vec::new(), impossible_on: None };
        prop_assert_eq!(back(&advice), advice.clone());
        prop_assert!(advice.deciding().all(|decision| Some(decision.fitness) == fitness));
        // The verdicts if each figure is at one end of its interval.
        let mut possible = vec![Fitness::Fits];
        for Decision { criterion, measured, fitness, .. } in &advice.decided_by {
            let ends = measured.bounds.or(measured.ci95).map_or(vec![], |(low, high)| vec![low, high]);
            let mut ratings: Vec<Fitness> = ends.into_iter().map(|end| criterion.rate(end)).collect();
            ratings.push(*fitness);
            possible = possible.iter().flat_map(|&a| ratings.iter().map(move |&b| a.min(b))).collect();
        }
        let is_open = possible.iter().any(|one| *one != possible[0]);
        prop_assert_eq!(advice.is_crossed(), is_open);
        prop_assert_eq!(advice.open_figures().count() > 0, is_open);
        prop_assert!(!(advice.is_firm() && is_open));
    }

    #[test]
    fn rules_come_back_and_take_no_unknown_field(figure in figure(), n in halves()) {
        let criterion = Criterion { figure, fits: n[0], care: n[1], why: "w".to_owned() };
        let rule = UseRule { id: "os".to_owned(), title: "OS".to_owned(), criteria: vec![criterion], needs_permissions: n[0] > n[1] };
        prop_assert_eq!(back(&rule), rule.clone());
        let mut tree = to_tree(&rule).unwrap();
        tree["criteria"][0]["fit"] = json!(1);
        prop_assert!(from_tree::<UseRule>(tree).is_err());
        prop_assert_eq!(figure.more_is_better(), figure.unit() != "ms");
    }

    #[test]
    fn files_of_caches_come_back_by_their_path(path in "[a-z/. ]{0,20}") {
        let of = CacheOf::from(path.clone());
        prop_assert_eq!(back(&of), of.clone());
        prop_assert_eq!(String::from(of), path);
    }
}
