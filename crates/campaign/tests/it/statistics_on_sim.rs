//! Checks statistical guarantees with thousands of campaigns whose runs come from the engine on simulated cards.
//!
//! The engine measures a pool of runs of each card, and campaigns draw from it; the true value is the mean of the
//! pool. Seeds are fixed, so a failure is caused by a code change, not by chance. `crates/analysis/src/simulated.rs`
//! tests other spreads and numbers of runs with normal noise.

use hakaru_analysis::compare::{ComparedSample, SamplePair, compare_family};
use hakaru_analysis::stats::{self, SampleMoments};
use hakaru_engine::{ClockChoice, NoObserver, RunOptions};
use hakaru_model::device_model::DeviceModel;
use hakaru_model::finding::{Comparison, Verdict};
use hakaru_model::job::{
    Access, BlockSize, IoEngine, Job, Op, PerOp, Phase, Scenario, SizeSpec, Target,
};
use hakaru_model::plan::{Facts, Plan};
use hakaru_model::rng::Rng;
use hakaru_model::units::{Bytes, Nanos};
use std::sync::atomic::AtomicBool;

/// Runs of each campaign and card.
const RUNS: usize = 10;

/// Runs in the pool of each card.
const STOCK: u64 = 1_500;

/// I/Os of a run: with [`JITTER`] on each, runs differ by 2%.
const IOS: u64 = 8;
const JITTER: u32 = 100;

const PHASES: [(&str, Op, bool, u64); 4] = [
    ("seq-write", Op::Write, false, 1 << 20),
    ("seq-read", Op::Read, false, 1 << 20),
    ("rand-write", Op::Write, true, 4096),
    ("rand-read", Op::Read, true, 4096),
];

/// Bytes per second of each workload, one value for each run.
type Stock = [Vec<f64>; PHASES.len()];

/// A card with the default device model divided by `speed`.
fn card(speed: f64) -> DeviceModel {
    let mut model = DeviceModel::plain("card", Bytes(1 << 30));
    let cheaper = |price: Nanos| Nanos((price.0 as f64 / speed) as u64);
    (model.read_overhead, model.read_seek) =
        (cheaper(model.read_overhead), cheaper(model.read_seek));
    (model.write_overhead, model.write_seek) =
        (cheaper(model.write_overhead), cheaper(model.write_seek));
    model.read_rate = (model.read_rate as f64 * speed) as u64;
    model.write_rate = (model.write_rate as f64 * speed) as u64;
    model.jitter_permille = JITTER;
    model
}

/// Returns the scenario of all phases on a card.
fn scenario(model: &DeviceModel) -> Scenario {
    let phase = |&(name, op, random, block): &(&str, Op, bool, u64)| {
        let target = Target::Sim(Box::new(model.clone()));
        let mut job = Job::new(name, target, Access::only(op, random));
        job.ioengine = IoEngine::Sim;
        job.block = PerOp::all(BlockSize::Fixed(Bytes(block)));
        // Far fewer I/Os than blocks, so that random I/Os are rarely adjacent, which would save the seek.
        job.extent.size = Some(SizeSpec::Bytes(Bytes(512 << 20)));
        job.extent.io_size = Some(SizeSpec::Bytes(Bytes(IOS * block)));
        Phase {
            name: name.to_owned(),
            jobs: vec![job],
        }
    };
    Scenario {
        name: "stock".to_owned(),
        seed: 0,
        phases: PHASES.iter().map(phase).collect(),
    }
}

/// Measures a card repeatedly with the engine.
fn stock(speed: f64, first_seed: u64) -> Stock {
    let mut scenario = scenario(&card(speed));
    let stop = AtomicBool::new(false);
    let options = RunOptions {
        clock: ClockChoice::best(),
        stop: &stop,
        direct_fallback: true,
        replace_engines: true,
        record_operations: false,
        wall_clock: || 0,
    };
    let mut stock = Stock::default();
    for seed in first_seed..first_seed + STOCK {
        scenario.seed = seed;
        let plan = Plan::resolve(&scenario, &Facts::new()).unwrap();
        let report = hakaru_engine::run(&plan, &options, &mut NoObserver);
        for (values, phase) in stock.iter_mut().zip(&report.phases) {
            let worker = &phase.workers[0];
            let bytes: u64 = worker.ops.iter().map(|(_, op)| op.bytes).sum();
            values.push(Bytes(bytes).per(worker.runtime).unwrap().0);
        }
    }
    stock
}

/// Draws the runs of one campaign.
fn draw(rng: &mut Rng, of: &[f64]) -> Vec<f64> {
    (0..RUNS)
        .map(|_| of[rng.below(of.len() as u64) as usize])
        .collect()
}

/// Compares two cards in all workloads as one family.
fn compared(rng: &mut Rng, a: &Stock, b: &Stock) -> Vec<Comparison> {
    let sides: Vec<(Vec<f64>, Vec<f64>)> = a
        .iter()
        .zip(b)
        .map(|(a, b)| (draw(rng, a), draw(rng, b)))
        .collect();
    let pair = |(a, b): &'_ (Vec<f64>, Vec<f64>)| (a.clone(), b.clone());
    let owned: Vec<_> = sides.iter().map(pair).collect();
    let pairs: Vec<SamplePair<'_>> = owned
        .iter()
        .map(|(a, b)| {
            SamplePair::new(
                "rate",
                "B/s",
                ComparedSample::Values(a),
                ComparedSample::Values(b),
            )
        })
        .collect();
    compare_family(&pairs)
}

#[test]
fn campaigns_on_simulated_cards_tell_the_truth() {
    let usual = stock(1.0, 1);
    let mut rng = Rng::new(71);
    for ((name, ..), values) in PHASES.iter().zip(&usual) {
        check_coverage(name, values, &mut rng);
    }
    check_false_alarms(&usual, &mut rng);
    check_detection(&usual, &stock(1.05, 1_000_000), &mut rng);
}

/// Checks that 95% intervals of the mean cover the mean of all runs in about 95% of campaigns.
fn check_coverage(name: &str, values: &[f64], rng: &mut Rng) {
    let all = SampleMoments::of(values).unwrap();
    let spread = all.deviation / all.mean;
    let expected = 0.017..0.024;
    assert!(
        expected.contains(&spread),
        "{name}: runs differ by {spread}"
    );
    let campaigns = 4_000;
    let mut covers = || {
        let drawn = SampleMoments::of(&draw(rng, values)).unwrap();
        let (low, high) = stats::mean_interval(&drawn, stats::LEVEL).unwrap();
        low <= all.mean && all.mean <= high
    };
    let covered = (0..campaigns).filter(|_| covers()).count() as f64 / f64::from(campaigns);
    println!(
        "{name}: 95 % intervals cover the truth in {:.2} % of {campaigns} campaigns",
        covered * 100.0
    );
    assert!(
        (0.93..=0.97).contains(&covered),
        "{name}: 95 % intervals cover the truth in {covered}"
    );
}

/// Checks that a card compared with itself is called different in at most 5% of campaigns.
fn check_false_alarms(usual: &Stock, rng: &mut Rng) {
    let is_false_alarm =
        |found: &[Comparison]| found.iter().any(|c| c.verdict == Verdict::Different);
    let campaigns = 10_000;
    let alarms = (0..campaigns)
        .filter(|_| is_false_alarm(&compared(rng, usual, usual)))
        .count();
    let share = alarms as f64 / f64::from(campaigns);
    println!(
        "a card compared with itself is called different in {:.2} % of {campaigns} campaigns",
        share * 100.0
    );
    assert!(
        share <= 0.05,
        "a card compared with itself is called different in {share}"
    );
}

/// Checks that a true difference of 5% is found in at least 95% of comparisons.
fn check_detection(usual: &Stock, faster: &Stock, rng: &mut Rng) {
    let found: Vec<Comparison> = (0..1_000)
        .flat_map(|_| compared(rng, usual, faster))
        .collect();
    let different = found
        .iter()
        .filter(|c| c.verdict == Verdict::Different && c.ratio > 1.0)
        .count();
    let share = different as f64 / found.len() as f64;
    println!(
        "a true difference of 5 % is found in {:.2} % of comparisons",
        share * 100.0
    );
    assert!(share >= 0.95, "a difference of 5 % is found in {share}");
}
