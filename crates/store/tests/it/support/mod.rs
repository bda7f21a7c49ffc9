//! Hand-written records with a value in every field that must survive.

use hakaru_model::campaign::CampaignPoint;
use hakaru_model::caveat::Caveat;
use hakaru_model::facts::*;
use hakaru_model::integrity::{
    BlockState, Capacity, FORMAT as VERIFICATION_FORMAT, IntegrityVerdict, Scope, Span, SpeedMap,
    SpeedPoint, Verification,
};
use hakaru_model::job::*;
use hakaru_model::record::*;
use hakaru_model::units::{Bytes, Nanos, Quantile};
use hakaru_store::Store;
use std::path::PathBuf;

/// 2026-01-05 10:00 UTC.
pub(crate) const BEGUN: i64 = 1_767_607_200_000;

/// Returns a record of one random-write phase; `n` determines its ID, time and numbers.
pub(crate) fn record(n: u64) -> RunRecord {
    let id = id(n);
    RunRecord {
        format: FORMAT,
        series: id.clone(),
        id,
        repeat: 0,
        started_unix_ms: BEGUN + n as i64 * 60_000,
        origin: Origin::Measured {
            version: "0.1.0".into(),
        },
        scenario: Scenario {
            name: "standard".into(),
            seed: u64::MAX - n,
            phases: vec![phase()],
        },
        target: identity(),
        environment: environment(),
        phases: vec![phase_record(n)],
        caveats: vec![Caveat::FewRuns { runs: 1 }, small_file()],
        outcome: Outcome::Completed,
        overhead: Some(Overhead {
            per_io_ps: 81_250,
            samples: 100_000,
        }),
        campaign: None,
    }
}

/// Returns an ID in the form of a UUID version 7.
pub(crate) fn id(n: u64) -> String {
    format!(
        "019b8d5e-{:04x}-7{:03x}-8000-{n:012x}",
        n >> 12 & 0xffff,
        n & 0xfff
    )
}

/// Returns a point of a campaign.
pub(crate) fn point(campaign: &str, repeat: u32) -> CampaignPoint {
    CampaignPoint {
        campaign: campaign.into(),
        card: "0x4a5b6c7d".into(),
        layer: "vfat".into(),
        workload: "rand-write".into(),
        repeat,
        definition: "0123456789abcdef".into(),
        prepared: Vec::new(),
        laid_out: Bytes(0),
        assignment: None,
    }
}

/// Returns a copy of a run as run `repeat` of its series.
pub(crate) fn repeat_of(first: &RunRecord, n: u64, repeat: u32) -> RunRecord {
    RunRecord {
        series: first.series.clone(),
        repeat,
        ..record(n)
    }
}

fn small_file() -> Caveat {
    let size = Bytes(256 << 20);
    Caveat::SmallFile { size }
}

fn phase() -> Phase {
    let mut job = Job::new(
        "randwrite",
        Target::Paths(vec!["/mnt/card/測る.tmp".into()]),
        Access::only(Op::Write, true),
    );
    job.access.distribution = Distribution::Zipf(1.1);
    job.durability.fsync_every = 1;
    job.extent.size = Some(SizeSpec::Percent(50));
    job.timing.runtime = Some(Nanos::from_secs(60));
    job.measure.percentiles = vec![
        Quantile::P95,
        Quantile::P999,
        Quantile::new(0.1 + 0.2).unwrap(),
    ];
    job.options = vec![("rw".into(), "randwrite".into())];
    Phase {
        name: "rand-write".into(),
        jobs: vec![job],
    }
}

fn phase_record(n: u64) -> PhaseRecord {
    let disk = DiskStats {
        name: "mmcblk0".into(),
        write_ios: 600,
        write_sectors: 9600,
        ..Default::default()
    };
    PhaseRecord {
        name: "rand-write".into(),
        started_unix_ms: BEGUN + n as i64 * 60_000,
        elapsed: Nanos::from_secs(61),
        workers: vec![worker(n)],
        disks: vec![disk],
        ..PhaseRecord::default()
    }
}

fn worker(n: u64) -> WorkerRecord {
    let mut worker = WorkerRecord {
        name: "randwrite".into(),
        pid: 4711,
        runtime: Nanos::from_secs(60),
        ..Default::default()
    };
    worker.ops.write.clat = Latency::with_histogram();
    worker.sync = Latency::with_histogram();
    for i in 0..500 {
        let latency = Nanos(400_000 + i * i * (n % 7 + 1));
        worker.ops.write.clat.record(latency);
        worker.sync.record(Nanos(1_000_000 + i * 10_007));
    }
    worker.ops.write.ios = 500;
    worker.ops.write.issued = 501;
    worker.ops.write.bytes = 500 * 4096;
    worker.intervals = (1..=20).map(interval).collect();
    worker.errors.push(error());
    worker
}

fn interval(number: u64) -> Interval {
    let write = IntervalOp {
        ios: 25,
        bytes: 25 * 4096,
        clat_sum: Nanos(9_000_000),
    };
    Interval {
        at: Nanos::from_secs(3 * number),
        length: Nanos::from_secs(3),
        ops: PerOp {
            write,
            ..Default::default()
        },
    }
}

fn error() -> IoError {
    IoError {
        action: "write".into(),
        op: Some(Op::Write),
        kind: FailureKind::TooSlow {
            latency: Nanos(12),
            max: Nanos(10),
        },
        file: "/mnt/card/測る.tmp".into(),
        offset: Bytes(8192),
        len: Bytes(4096),
        errno: 5,
        at: Nanos(77),
        mismatches: Vec::new(),
    }
}

fn identity() -> Identity {
    let filesystem = Filesystem {
        fs_type: "ext4".into(),
        mount_point: "/mnt/card".into(),
        source: "/dev/mmcblk0p2".into(),
        options: "rw,noatime".into(),
        size: Bytes(31_000_000_000),
        free: Bytes(20_000_000_000),
    };
    Identity {
        path: "/mnt/card/測る.tmp".into(),
        kind: TargetKind::File,
        filesystem: Some(filesystem),
        device: Fact::Unknown(UnknownReason::Text("sysfs is not mounted".into())),
        system_disk: false,
        label: Some("SanDisk \"Max\" Endurance".into()),
    }
}

fn environment() -> Environment {
    Environment {
        hostname: "pi4".into(),
        kernel: "Linux 6.12.34".into(),
        arch: "aarch64".into(),
        board: Fact::Known("Raspberry Pi 4 Model B Rev 1.4".into()),
        temperature_mc: Fact::Known(-1500),
        ..Environment::default()
    }
}

/// Returns the directory of fixtures.
pub(crate) fn fixtures() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../testdata/store")
}

/// Returns a verification of a fake card; `n` determines its ID and scope.
pub(crate) fn verification(n: u64) -> Verification {
    let run = record(n);
    Verification {
        format: VERIFICATION_FORMAT,
        id: id(n),
        version: "0.1.0".to_owned(),
        started_unix_ms: run.started_unix_ms,
        elapsed: Nanos::from_secs(3600),
        target: run.target,
        environment: run.environment,
        scope: match n.is_multiple_of(2) {
            true => Scope::Whole { restored: false },
            false => Scope::FreeSpace {
                folder: "/mnt/card".into(),
            },
        },
        seed: u64::MAX - n,
        completed: true,
        verdict: verdict(),
    }
}

pub(crate) fn verdict() -> IntegrityVerdict {
    let point = SpeedPoint {
        offset: Bytes(0),
        len: Bytes(4 << 20),
        elapsed: Nanos(200_000_000),
    };
    let map = SpeedMap {
        points: vec![point],
    };
    IntegrityVerdict {
        claimed: Bytes(64 << 30),
        capacity: Capacity::Wraps {
            real: Bytes(8 << 30),
        },
        good: Bytes(8 << 30),
        bad: vec![Span {
            offset: Bytes(0),
            len: Bytes(56 << 30),
            state: BlockState::Overwritten {
                distance: Bytes(8 << 30),
            },
        }],
        bad_bytes: Bytes(56 << 30),
        write_speed: map.clone(),
        read_speed: map,
    }
}

/// Returns a database with these records in a temporary directory.
pub(crate) fn holding(records: &[RunRecord]) -> (tempfile::TempDir, Store) {
    let (dir, mut store) = empty();
    store.append_all(records).unwrap();
    (dir, store)
}

/// Returns an empty database in a temporary directory.
pub(crate) fn empty() -> (tempfile::TempDir, Store) {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::open(dir.path().join("hakaru.db")).unwrap();
    (dir, store)
}
