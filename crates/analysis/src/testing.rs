//! Shared test helpers: seeded noise and constructed records.

use hakaru_model::facts::{DeviceIdentity, Environment, Fact, Identity, TargetKind};
use hakaru_model::finding::Summary;
use hakaru_model::job::{Access, Job, Op, PerOp, Phase, Scenario, SizeSpec, Target};
use hakaru_model::record::{
    FORMAT, Interval, IntervalOp, Latency, Origin, Outcome, PhaseRecord, RunRecord, WorkerRecord,
};
use hakaru_model::rng::Rng;
use hakaru_model::units::{Bytes, Nanos};

/// Draws a standard normal variable (Box and Muller 1958).
pub(crate) fn normal(rng: &mut Rng) -> f64 {
    (-2.0 * (1.0 - rng.unit()).ln()).sqrt() * (std::f64::consts::TAU * rng.unit()).cos()
}

/// Draws `n` normal values with a mean and a standard deviation of `spread · mean`.
pub(crate) fn runs(rng: &mut Rng, n: usize, mean: f64, spread: f64) -> Vec<f64> {
    (0..n)
        .map(|_| mean * (1.0 + spread * normal(rng)))
        .collect()
}

/// Phase of a constructed run: a constant workload of one worker for some seconds.
pub(crate) struct Fake {
    pub(crate) name: &'static str,
    pub(crate) op: Op,
    pub(crate) random: bool,
    pub(crate) block: u64,
    /// I/Os per second.
    pub(crate) iops: f64,
    pub(crate) seconds: u64,
    /// Latency in milliseconds of an `fsync` after each I/O.
    pub(crate) sync_ms: Option<u64>,
}

impl Fake {
    fn job(&self) -> Job {
        let target = Target::Paths(vec!["/dev/mmcblk0".into()]);
        let mut job = Job::new(self.name, target, Access::only(self.op, self.random))
            .with_block(Bytes(self.block));
        job.files.direct = true;
        job.extent.size = Some(SizeSpec::Bytes(Bytes(4 << 30)));
        job.durability.fsync_every = u32::from(self.sync_ms.is_some());
        job
    }

    fn record(&self) -> PhaseRecord {
        let each = (1e9 / self.iops) as u64;
        let ios = self.seconds * 1_000_000_000 / each;
        let mut worker = WorkerRecord {
            name: self.name.into(),
            runtime: Nanos(ios * each),
            ..WorkerRecord::default()
        };
        let op = &mut worker.ops[self.op];
        (op.ios, op.bytes, op.clat) = (ios, ios * self.block, Latency::with_histogram());
        // Some spread, so that percentiles differ.
        (0..ios).for_each(|i| {
            op.clat
                .record(Nanos(each - each / 50 + each * (i % 41) / 1000))
        });
        if let Some(ms) = self.sync_ms {
            worker.sync = Latency::with_histogram();
            (0..ios).for_each(|_| worker.sync.record(Nanos::from_millis(ms)));
        }
        let tick = Nanos::from_millis(500);
        let bytes = (self.iops * self.block as f64 / 2.0) as u64;
        worker.intervals = (1..=2 * self.seconds)
            .map(|i| interval(i * tick.0, tick, self.op, bytes))
            .collect();
        let (name, elapsed) = (self.name.to_owned(), worker.runtime);
        PhaseRecord {
            name,
            started_unix_ms: 0,
            elapsed,
            workers: vec![worker],
            ..PhaseRecord::default()
        }
    }
}

/// Returns a run of constructed phases.
pub(crate) fn run_of(repeat: u32, phases: &[Fake]) -> RunRecord {
    let phase = |fake: &Fake| Phase {
        name: fake.name.into(),
        jobs: vec![fake.job()],
    };
    RunRecord {
        format: FORMAT,
        id: format!("run-{repeat}"),
        series: "series".into(),
        repeat,
        started_unix_ms: 0,
        origin: Origin::Measured {
            version: "0.1.0".into(),
        },
        scenario: Scenario {
            name: "test".into(),
            seed: 1,
            phases: phases.iter().map(phase).collect(),
        },
        target: card(),
        environment: Environment {
            hostname: "pi4".into(),
            ..Environment::default()
        },
        phases: phases.iter().map(Fake::record).collect(),
        caveats: Vec::new(),
        outcome: Outcome::Completed,
        overhead: None,
        campaign: None,
    }
}

/// Returns a run that writes one file in blocks of 1 MiB at `speed` bytes per second for `seconds`, with intervals of
/// half a second.
pub(crate) fn write_run(repeat: u32, speed: f64, seconds: u64) -> RunRecord {
    let (block, op) = (1 << 20, Op::Write);
    let iops = speed / block as f64;
    run_of(
        repeat,
        &[Fake {
            name: "write",
            op,
            random: false,
            block,
            iops,
            seconds,
            sync_ms: None,
        }],
    )
}

/// Returns the standard suite on a constructed card, `n` times: 30 MB/s and 40 MB/s sequential, 600 and 2000 IOPS
/// random, `fsync` in 8 ms, 28 MB/s sustained; runs differ by a few thousandths.
pub(crate) fn suite(n: u32) -> Summary {
    let mib = 1 << 20;
    let fake = |name, op, random, block, iops, sync_ms| Fake {
        name,
        op,
        random,
        block,
        iops,
        seconds: 15,
        sync_ms,
    };
    let run = |repeat: u32| {
        let off = 1.0 + 0.003 * (f64::from(repeat * 3 % 5) - 2.0);
        let mb = |speed: f64| speed * 1e6 / mib as f64 * off;
        run_of(
            repeat,
            &[
                fake("seq-write", Op::Write, false, mib, mb(30.0), None),
                fake("seq-read", Op::Read, false, mib, mb(40.0), None),
                fake("rand-write", Op::Write, true, 4096, 600.0 * off, None),
                fake("rand-read", Op::Read, true, 4096, 2000.0 * off, None),
                fake("durable", Op::Write, false, 4096, 300.0 * off, Some(8)),
                Fake {
                    seconds: 40,
                    ..fake("sustained", Op::Write, false, mib, mb(28.0), None)
                },
            ],
        )
    };
    crate::summarize(&(0..n).map(run).collect::<Vec<_>>())
}

/// Returns five runs of a sequential read of card number `card`, around `speed` bytes per second.
pub(crate) fn read_series(card: u64, speed: f64, spread: f64) -> Summary {
    let mut rng = Rng::new(card);
    let (block, op) = (1 << 20, Op::Read);
    let run = |(repeat, speed): (u32, f64)| {
        let iops = speed / block as f64;
        run_of(
            repeat,
            &[Fake {
                name: "seq-read",
                op,
                random: false,
                block,
                iops,
                seconds: 15,
                sync_ms: None,
            }],
        )
    };
    let records: Vec<RunRecord> = (0..)
        .zip(runs(&mut rng, 5, speed, spread))
        .map(run)
        .collect();
    let mut summary = crate::summarize(&records);
    summary.target.label = Some(format!("card {card}"));
    summary
}

fn interval(at: u64, length: Nanos, op: Op, bytes: u64) -> Interval {
    let mut ops = PerOp::default();
    ops[op] = IntervalOp {
        ios: bytes >> 20,
        bytes,
        clat_sum: length,
    };
    Interval {
        at: Nanos(at),
        length,
        ops,
    }
}

/// Returns repeats of [`write_run`], one per speed.
pub(crate) fn records(speeds: &[f64]) -> Vec<RunRecord> {
    speeds
        .iter()
        .zip(0..)
        .map(|(&speed, repeat)| write_run(repeat, speed, 20))
        .collect()
}

/// Returns a raw card on an SD bus of 50 MB/s.
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

/// Returns a device with unknown facts, except for the few that matter here.
fn device() -> DeviceIdentity {
    let unknown = [
        "serial",
        "rotational",
        "scheduler",
        "write_cache",
        "max_sectors_kb",
        "nr_requests",
        "discard_max",
        "zoned",
    ];
    let unknown: String = unknown
        .iter()
        .map(|name| format!("\"{name}\": {UNKNOWN}, "))
        .collect();
    let text = format!(
        r#"{{ {unknown} "node": "/dev/mmcblk0", "kname": "mmcblk0", "model": {{"known": "SD32G"}}, "size": 32000000000,
        "logical_block": 512, "physical_block": 512, "read_only": false, "card": null, "chain": ["mmcblk0"],
        "bus": {{"type": "mmc", "width_bits": {{"known": 4}}, "clock_hz": {{"known": 50000000}},
                 "timing": {{"known": "uhs ddr50"}}, "ceiling": {{"known": 50000000}}}} }}"#
    );
    serde_json::from_str(&text).expect("the text above is a device")
}

/// Returns a job without warnings.
pub(crate) fn sound(op: Op) -> Job {
    let mut job = Job::new("j", Target::Paths(vec!["f".into()]), Access::only(op, true));
    job.files.direct = true;
    job.extent.size = Some(SizeSpec::Bytes(Bytes(4 << 30)));
    job.timing.runtime = Some(Nanos::from_secs(60));
    job.timing.ramp_time = Nanos::from_secs(2);
    job.timing.time_based = true;
    job
}
