//! Verifications and the history of a card.

use hakaru_model::facts::{Environment, Fact, Identity, TargetKind, UnknownReason};
use hakaru_model::finding::{Comparison, Verdict};
use hakaru_model::history::{
    CardHistory, DefectKind, HistoryCaveat, MissingProof, Outlook, Trend, TrendPoint,
    VerifiedPoint, WearSign,
};
use hakaru_model::integrity::{
    BlockState, Capacity, FORMAT, IntegrityVerdict, Scope, Span, SpeedMap, SpeedPoint, Verification,
};
use hakaru_model::job::Op;
use hakaru_model::units::{Bytes, Nanos};
use std::sync::Arc;

/// 2026-01-05 10:00 UTC.
const BEGUN: i64 = 1_767_607_200_000;

/// A verification of a card that holds less than it claims.
pub(crate) fn fake_card() -> Verification {
    let distance = Bytes(8 << 30);
    let claimed = Bytes(64 << 30);
    let bad = vec![Span {
        offset: Bytes(0),
        len: Bytes(56 << 30),
        state: BlockState::Overwritten { distance },
    }];
    let point = |n: u64| SpeedPoint {
        offset: Bytes(n << 30),
        len: Bytes(1 << 30),
        elapsed: Nanos::from_secs(40 + n / 8),
    };
    let speed = || SpeedMap {
        points: (0..64).map(point).collect(),
    };
    Verification {
        format: FORMAT,
        id: "019b8d5e-0000-7001-8000-000000000001".to_owned(),
        version: "0.1.0".to_owned(),
        started_unix_ms: BEGUN,
        elapsed: Nanos::from_secs(5_400),
        target: Identity {
            path: "/dev/sdz".into(),
            kind: TargetKind::BlockDevice,
            filesystem: None,
            device: Fact::Unknown(UnknownReason::NotChecked),
            system_disk: false,
            label: Some("kingston".to_owned()),
        },
        environment: Environment {
            hostname: "raspberrypi".to_owned(),
            ..Environment::default()
        },
        scope: Scope::Whole { restored: false },
        seed: 1,
        completed: true,
        verdict: IntegrityVerdict {
            claimed,
            capacity: Capacity::Wraps { real: distance },
            good: Bytes(8 << 30),
            bad,
            bad_bytes: Bytes(56 << 30),
            write_speed: speed(),
            read_speed: speed(),
        },
    }
}

/// A good card in the free space of a directory.
pub(crate) fn good_space() -> Verification {
    let mut good = fake_card();
    good.scope = Scope::FreeSpace {
        folder: "/mnt/card".into(),
    };
    good.verdict.capacity = Capacity::AsClaimed;
    good.verdict.bad = Vec::new();
    good.verdict.bad_bytes = Bytes(0);
    good.verdict.good = good.verdict.claimed;
    good
}

/// A history with every sign, every proof and every caveat.
pub(crate) fn worn_card() -> CardHistory {
    let day = 86_400_000;
    let point = |n: i64| TrendPoint {
        series: format!("019b8d5e-0000-7001-8000-00000000000{n}"),
        at_unix_ms: BEGUN + n * 30 * day,
        mean: 20e6 - 2e6 * n as f64,
        ci95: Some((19e6 - 2e6 * n as f64, 21e6 - 2e6 * n as f64)),
        runs: 3,
        used_percent: Some(10 + 5 * n as u32),
    };
    let trend = Trend {
        phase: "seq-write".to_owned(),
        op: Op::Write,
        shape: None,
        layer: "ext4".to_owned(),
        host: "raspberrypi".to_owned(),
        unit: "B/s".to_owned(),
        points: (0..4).map(point).collect(),
        comparison: Some(halves(&[20e6, 18e6], &[16e6, 14e6])),
    };
    let verified = |n: i64, bad: u64| VerifiedPoint {
        id: format!("019b8d5e-0000-7001-8000-00000000001{n}"),
        at_unix_ms: BEGUN + n * day,
        checked: Bytes(32 << 30),
        bad: Bytes(bad),
        good: bad == 0,
    };
    let names = || vec!["pi4".to_owned(), "pi5".to_owned()];
    CardHistory {
        anatomies: Vec::new(),
        name: "kingston".to_owned(),
        ids: vec!["0x12345678".to_owned()],
        runs: 12,
        series: 4,
        verifications: vec![verified(0, 0), verified(40, 4096)],
        trends: vec![trend],
        signs: every_sign(),
        outlook: Outlook::Failing,
        missing: vec![
            MissingProof::Series { have: 1, needed: 4 },
            MissingProof::MoreSeries { have: 4 },
            MissingProof::Verification,
            MissingProof::WearData,
            MissingProof::Retries { have: 1 },
        ],
        caveats: vec![
            HistoryCaveat::ByLabel,
            HistoryCaveat::Hosts { names: names() },
            HistoryCaveat::Kernels { names: names() },
            HistoryCaveat::FillLevels { low: 10, high: 90 },
            HistoryCaveat::SameDay { series: 2 },
        ],
    }
}

/// A proven difference of the later half of the series from the earlier one.
pub(crate) fn halves(early: &[f64], late: &[f64]) -> Comparison {
    let [a, b] = [early, late].map(|values| Arc::new(super::estimate(values)));
    let ratio = b.mean / a.mean;
    Comparison {
        ratio,
        ratio_ci95: Some((ratio * 0.95, ratio * 1.05)),
        a,
        b,
        verdict: Verdict::Different,
        p_equivalence: None,
        ..super::comparisons().swap_remove(0)
    }
}

fn every_sign() -> Vec<WearSign> {
    vec![
        WearSign::BadBlocks {
            at_unix_ms: BEGUN,
            bytes: Bytes(4096),
        },
        WearSign::IoErrors { count: 3 },
        WearSign::Reserve {
            state: "0x02".to_owned(),
        },
        WearSign::LifeUsed { percent: 95 },
        WearSign::Defects {
            kind: DefectKind::Pending,
            first: 0,
            last: 8,
        },
        WearSign::Warning {
            text: "read-only because of errors".to_owned(),
        },
        WearSign::SlowerWrites { trend: 0 },
        WearSign::MoreRetries {
            first: 0.0,
            last: 12.0,
        },
    ]
}
