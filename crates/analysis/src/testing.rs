//! What the tests of this crate share: seeded noise, and records made by hand.

use hakaru_model::facts::{DeviceIdentity, Environment, Fact, Identity, TargetKind};
use hakaru_model::job::{Access, Job, Op, PerOp, Phase, Scenario, SizeSpec, Target};
use hakaru_model::record::{
    FORMAT, Interval, IntervalOp, Latency, Origin, Outcome, PhaseRecord, RunRecord, WorkerRecord,
};
use hakaru_model::rng::Rng;
use hakaru_model::units::{Bytes, Nanos};

/// One draw of a standard normal variable (Box and Muller 1958).
pub(crate) fn normal(rng: &mut Rng) -> f64 {
    (-2.0 * (1.0 - rng.unit()).ln()).sqrt() * (std::f64::consts::TAU * rng.unit()).cos()
}

/// `n` draws around `mean` with a deviation of `spread · mean`.
pub(crate) fn runs(rng: &mut Rng, n: usize, mean: f64, spread: f64) -> Vec<f64> {
    (0..n).map(|_| mean * (1.0 + spread * normal(rng))).collect()
}

/// A run that writes one file in 1 MiB at `speed` bytes per second for `seconds`, with intervals of half a second.
pub(crate) fn write_run(repeat: u32, speed: f64, seconds: u64) -> RunRecord {
    let mut job = Job::new("write", Target::Paths(vec!["/data/file".into()]), Access::only(Op::Write, false))
        .with_block(Bytes(1 << 20));
    job.files.direct = true;
    job.extent.size = Some(SizeSpec::Bytes(Bytes(4 << 30)));
    let each = (1_048_576.0 / speed * 1e9) as u64;
    let ios = seconds * 1_000_000_000 / each;
    let mut worker = WorkerRecord { name: "write".into(), runtime: Nanos(ios * each), ..WorkerRecord::default() };
    let op = &mut worker.ops.write;
    (op.ios, op.bytes, op.clat) = (ios, ios << 20, Latency::with_histogram());
    // A little spread, so that percentiles differ.
    (0..ios).for_each(|i| op.clat.record(Nanos(each - each / 50 + each * (i % 41) / 1000)));
    let tick = Nanos::from_millis(500);
    worker.intervals = (1..=2 * seconds).map(|i| interval(i * tick.0, tick, (speed / 2.0) as u64)).collect();
    let phase = PhaseRecord {
        name: "write".into(),
        started_unix_ms: 0,
        elapsed: worker.runtime,
        workers: vec![worker],
        disks: Vec::new(),
    };
    RunRecord {
        format: FORMAT,
        id: format!("run-{repeat}"),
        series: "series".into(),
        repeat,
        started_unix_ms: 0,
        origin: Origin::Measured { version: "0.1.0".into() },
        scenario: Scenario {
            name: "test".into(),
            seed: 1,
            phases: vec![Phase { name: "write".into(), jobs: vec![job] }],
        },
        target: card(),
        environment: Environment::default(),
        phases: vec![phase],
        caveats: Vec::new(),
        outcome: Outcome::Completed,
        overhead: None,
    }
}

fn interval(at: u64, length: Nanos, bytes: u64) -> Interval {
    let write = IntervalOp { ios: bytes >> 20, bytes, clat_sum: length };
    Interval { at: Nanos(at), length, ops: PerOp { write, ..PerOp::default() } }
}

/// Repeats of [`write_run`], one a speed.
pub(crate) fn records(speeds: &[f64]) -> Vec<RunRecord> {
    speeds.iter().zip(0..).map(|(&speed, repeat)| write_run(repeat, speed, 20)).collect()
}

/// A raw card on an SD bus of 50 MB/s.
pub(crate) fn card() -> Identity {
    Identity {
        path: "/dev/mmcblk0".into(),
        kind: TargetKind::BlockDevice,
        filesystem: None,
        device: Fact::Known(device()),
        system_disk: false,
        label: None,
    }
}

const UNKNOWN: &str = r#"{"unknown": "it was not looked at"}"#;

/// Facts that nobody looked at, and the few that matter here.
fn device() -> DeviceIdentity {
    let unknown =
        ["serial", "rotational", "scheduler", "write_cache", "max_sectors_kb", "nr_requests", "discard_max", "zoned"];
    let unknown: String = unknown.iter().map(|name| format!("\"{name}\": {UNKNOWN}, ")).collect();
    let text = format!(
        r#"{{ {unknown} "node": "/dev/mmcblk0", "kname": "mmcblk0", "model": {{"known": "SD32G"}}, "size": 32000000000,
        "logical_block": 512, "physical_block": 512, "read_only": false, "card": null, "chain": ["mmcblk0"],
        "bus": {{"type": "mmc", "width_bits": {{"known": 4}}, "clock_hz": {{"known": 50000000}},
                 "timing": {{"known": "uhs ddr50"}}, "ceiling": {{"known": 50000000}}}} }}"#
    );
    serde_json::from_str(&text).expect("the text above is a device")
}
