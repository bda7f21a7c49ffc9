//! The whole process on a simulated card: the report shows what the device model implies.

use hakaru_campaign::bench::{self, BenchPlan, BenchRequest, Watcher};
use hakaru_campaign::suite::SuiteLength;
use hakaru_engine::Observer;
use hakaru_model::caveat::Caveat;
use hakaru_model::device_model::{DeviceModel, SlcCache};
use hakaru_model::finding::{PhaseSummary, Summary};
use hakaru_model::job::{IoEngine, Op};
use hakaru_model::record::RunRecord;
use hakaru_model::units::{Bytes, Nanos, Quantile};
use hakaru_store::Store;
use std::sync::atomic::AtomicBool;

struct Nobody;

impl Observer for Nobody {}
impl Watcher for Nobody {}

const MIB: f64 = 1048576.0;

fn card() -> DeviceModel {
    let mut model = DeviceModel::plain("sim card", Bytes(64 << 30));
    model.flush = Nanos(3_000_000);
    // Two thirds of the sustained write fit into the cache; it is longer than any workload before it.
    model.cache = Some(SlcCache {
        size: Bytes(5 << 30),
        write_rate: 60_000_000,
        drain_rate: 0,
        drain_delay: Nanos(0),
    });
    model
}

fn request(seed: u64) -> BenchRequest {
    BenchRequest {
        deep: false,
        path: ".".into(),
        pace: Some(SuiteLength::Standard),
        repeats: Some(2),
        size: Some(Bytes(1 << 30)),
        only: Vec::new(),
        seed,
        ioengine: IoEngine::Psync,
        erase: false,
        trace: false,
    }
}

fn run(model: DeviceModel, request: &BenchRequest, store: Option<&mut Store>) -> Vec<RunRecord> {
    let decided: BenchPlan = bench::decide_simulated(request, model).unwrap();
    bench::run(&decided, None, store, &AtomicBool::new(false), &mut Nobody)
        .unwrap()
        .records
}

fn phase<'a>(summary: &'a Summary, name: &str, op: Op) -> &'a PhaseSummary {
    summary
        .phases
        .iter()
        .find(|p| p.phase == name && p.op == op)
        .unwrap_or_else(|| panic!("no phase {name}"))
}

#[track_caller]
fn close(got: f64, want: f64) {
    assert!(
        (got / want - 1.0).abs() <= 0.005,
        "got {got}, the price list says {want}"
    );
}

#[track_caller]
fn within_bound(got: Option<Nanos>, truth: u64) {
    let got = got.expect("there are samples enough").0;
    assert!(
        got >= truth && got - truth <= truth / 128,
        "got {got}, the price list says {truth}"
    );
}

fn quantile(p: &PhaseSummary, q: Quantile) -> Option<Nanos> {
    p.latency
        .as_ref()?
        .quantiles
        .iter()
        .find(|(at, _)| *at == q)
        .map(|(_, value)| *value)
}

#[test]
fn figures_follow_from_the_device_model() {
    let mut model = card();
    model.cache = None;
    let summary = hakaru_analysis::summarize(&run(model, &request(1), None));
    let seq_write = phase(&summary, "seq-write", Op::Write);
    let per_write = 0.0002 + MIB / 20e6;
    close(seq_write.bandwidth.mean, MIB / per_write);
    close(seq_write.iops.mean, 1.0 / per_write);
    within_bound(quantile(seq_write, Quantile::P99), (per_write * 1e9) as u64);
    close(
        phase(&summary, "seq-read", Op::Read).bandwidth.mean,
        MIB / (0.0001 + MIB / 40e6),
    );
    let rand_read = phase(&summary, "rand-read", Op::Read);
    let one_read = 100_000 + 300_000 + 4096 * 25;
    close(rand_read.iops.mean, 1e9 / one_read as f64);
    within_bound(quantile(rand_read, Quantile::MEDIAN), one_read);
    within_bound(quantile(rand_read, Quantile::P999), one_read);
    let rand_write = phase(&summary, "rand-write", Op::Write);
    close(
        rand_write.iops.mean,
        1e9 / (200_000.0 + 2_000_000.0 + 4096.0 * 50.0),
    );
    let durable = phase(&summary, "durable", Op::Write);
    close(
        durable.iops.mean,
        1e9 / (200_000.0 + 4096.0 * 50.0 + 3_000_000.0),
    );
    let sync = durable.sync.as_ref().unwrap();
    assert_eq!((sync.min, sync.max), (Nanos(3_000_000), Nanos(3_000_000)));
    assert_eq!(seq_write.bandwidth.values.len(), 2);
    assert!(summary.caveats.contains(&Caveat::Simulated));
}

#[test]
fn the_cliff_is_found_where_the_cache_ends() {
    let mut request = request(1);
    request.only = vec![hakaru_campaign::suite::SuiteWorkload::Sustained];
    request.repeats = Some(1);
    let summary = hakaru_analysis::summarize(&run(card(), &request, None));
    let sustained = phase(&summary, "sustained", Op::Write)
        .sustained
        .as_ref()
        .unwrap();
    let cliff = sustained
        .cliff
        .as_ref()
        .expect("the card falls off a cliff");
    let one_interval = 30e6;
    assert!(
        (cliff.at.0 as f64 - (5u64 << 30) as f64).abs() <= one_interval,
        "{}",
        cliff.at.0
    );
    close(cliff.before.0, MIB / (0.0002 + MIB / 60e6));
    close(cliff.after.0, MIB / (0.0002 + MIB / 20e6));
    assert!(
        summary
            .caveats
            .iter()
            .any(|c| matches!(c, Caveat::Cliff { .. }))
    );
}

#[test]
fn one_seed_gives_identical_records() {
    let mut model = card();
    model.jitter_permille = 30;
    let measured = |seed| {
        let records = run(model.clone(), &request(seed), None);
        records
            .into_iter()
            .map(|r| serde_json::to_string(&(r.scenario, r.phases)).unwrap())
            .collect::<Vec<_>>()
    };
    assert_eq!(measured(5), measured(5));
    assert_ne!(measured(5), measured(6));
}

#[test]
fn each_round_is_stored_before_it_is_analysed_and_comes_back_unchanged() {
    let dir = tempfile::tempdir().unwrap();
    let mut store = Store::open(dir.path().join("db")).unwrap();
    let records = run(card(), &request(1), Some(&mut store));
    assert_eq!(store.series(&records[0].series).unwrap(), records);
    let summary = hakaru_analysis::summarize(&records);
    let page = hakaru_report::html(std::slice::from_ref(&summary));
    assert_eq!(
        page,
        hakaru_report::html(&[hakaru_analysis::summarize(
            &store.series(&records[0].series).unwrap()
        )])
    );
    assert!(page.contains("sustained") && page.contains("<svg"));
}
