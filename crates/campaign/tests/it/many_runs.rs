//! Thousands of runs: the time of a report grows at most linearly with their number.
//!
//! `HAKARU_RUNS=10000 cargo test --release -p hakaru-campaign --test it many_runs:: -- --nocapture` prints the time of
//! a report on this number of runs.

use hakaru_campaign::campaign::gather::gather;
use hakaru_campaign::campaign::operator::{CandidateDisk, Operator, OperatorReply};
use hakaru_campaign::campaign::resolve::{ResolveContext, campaign};
use hakaru_campaign::campaign::runner::{CampaignRun, run};
use hakaru_campaign::campaign::spec::{Campaign, Card};
use hakaru_device::guard::{Candidate, Confirmation};
use hakaru_engine::Observer;
use hakaru_model::device_model::DeviceModel;
use hakaru_model::record::RunRecord;
use hakaru_model::units::Bytes;
use hakaru_store::{Filter, Store};
use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

struct Nobody;

impl Observer for Nobody {}

impl Operator for Nobody {
    fn insert(&mut self, _wanted: &Card, _why: &str, _seen: &[CandidateDisk]) -> OperatorReply {
        OperatorReply::Skip
    }

    fn may_erase(&mut self, _card: &Card, _candidate: &Candidate) -> Option<Confirmation> {
        None
    }
}

const CARDS: usize = 4;
const WORKLOADS: usize = 2;

fn model(path: &Path) -> Result<String, String> {
    let name = path.file_stem().unwrap_or_default().to_string_lossy();
    let mut card = DeviceModel::plain(&name, Bytes(8 << 30));
    card.jitter_permille = 20;
    serde_json::to_string(&card).map_err(|error| error.to_string())
}

fn wanted(repeats: usize) -> Campaign {
    let cards: String = (0..CARDS)
        .map(|i| format!("[[card]]\nsimulate = \"card-{i}.json\"\n"))
        .collect();
    let text = format!(
        "name = \"many\"\nrepeats = {repeats}\n{cards}[[workload]]\nsuite = [\"seq-write\", \"rand-read\"]\npace = \"quick\"\n"
    );
    let around = ResolveContext {
        read_file: &model,
        fio: &|_, _| Err("no fio here".to_owned()),
    };
    campaign(&text, &around).unwrap()
}

/// Returns a store with this number of repeats of each point: one is measured, the others are copies with small
/// changes.
fn store(home: &Path, repeats: usize) -> Store {
    let mut store = Store::open(home.join(format!("{repeats}.db"))).unwrap();
    let (stop, once) = (AtomicBool::new(false), wanted(1));
    let state = home.join("state");
    run(CampaignRun {
        campaign: &once,
        store: &mut store,
        state: &state,
        stop: &stop,
        operator: &mut Nobody,
        assignment: None,
    })
    .unwrap();
    let rows = store.runs(&Filter::default()).unwrap();
    for row in rows {
        let first = store.run(&row.id).unwrap();
        let copies: Vec<RunRecord> = (1..repeats).map(|repeat| copy(&first, repeat)).collect();
        store.append_all(&copies).unwrap();
    }
    store
}

fn copy(first: &RunRecord, repeat: usize) -> RunRecord {
    let mut record = first.clone();
    record.id = format!("{}-{repeat}", first.id);
    record.repeat = repeat as u32;
    record.started_unix_ms += 1000 * repeat as i64;
    record.campaign.as_mut().unwrap().repeat = repeat as u32;
    // Runs differ by a few thousandths in time.
    for worker in record
        .phases
        .iter_mut()
        .flat_map(|phase| &mut phase.workers)
    {
        worker.runtime.0 += worker.runtime.0 / 1000 * (repeat as u64 * 7 % 13);
    }
    record
}

/// Returns the CPU time of this thread, which excludes other work on the host.
fn used() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

/// Returns the shortest time of three reports, from the store to the page.
fn time(home: &Path, repeats: usize) -> Duration {
    let (store, campaign) = (store(home, repeats), wanted(repeats));
    let report = || {
        let begun = used();
        let summary = gather(&campaign, &store, Vec::new()).unwrap();
        assert_eq!(summary.runs as usize, CARDS * WORKLOADS * repeats);
        let page = hakaru_report::campaign_html(&summary);
        assert!(page.len() < 4_000_000, "{}", page.len());
        used() - begun
    };
    (0..3).map(|_| report()).min().unwrap()
}

#[test]
fn the_time_of_a_report_grows_with_the_runs_and_not_faster() {
    let home = tempfile::tempdir().unwrap();
    let (few, many) = (time(home.path(), 20), time(home.path(), 80));
    // Four times the runs take about four times as long; a factor of sixteen would be quadratic.
    let growth = many.as_secs_f64() / few.as_secs_f64();
    assert!(growth < 10.0, "{growth}: {few:?}, {many:?}");
    if let Some(runs) = std::env::var("HAKARU_RUNS")
        .ok()
        .and_then(|text| text.parse::<usize>().ok())
    {
        let took = time(home.path(), (runs / CARDS / WORKLOADS).max(2));
        println!("a report of {runs} runs takes {took:?}");
    }
}
