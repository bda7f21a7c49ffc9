//! The verification of a card that claims 64 GB and holds 8 GB, as `hakaru export` writes it.

use anyhow::{Context, Result};
use hakaru_model::facts::{Environment, Fact, Identity, TargetKind, UnknownReason};
use hakaru_model::integrity::{
    BlockState, Capacity, FORMAT, IntegrityVerdict, Scope, Span, SpeedMap, SpeedPoint, Verification,
};
use hakaru_model::units::{Bytes, Nanos};

const CLAIMED: u64 = 64 << 30;
const REAL: u64 = 8 << 30;

/// One line of JSON.
///
/// # Errors
/// If the verification cannot be written as JSON.
pub(crate) fn record() -> Result<String> {
    line(&verification())
}

/// The verification of a good card with this label, as one line of JSON.
///
/// # Errors
/// If the verification cannot be written as JSON.
pub(super) fn good(label: &str, started_unix_ms: i64) -> Result<String> {
    let mut good = verification();
    good.id = "019b8d5e-0000-7001-8000-000000009000".to_owned();
    good.started_unix_ms = started_unix_ms;
    good.target.label = Some(label.to_owned());
    good.verdict.capacity = Capacity::AsClaimed;
    good.verdict.good = good.verdict.claimed;
    good.verdict.bad = Vec::new();
    good.verdict.bad_bytes = Bytes(0);
    line(&good)
}

fn line(verification: &Verification) -> Result<String> {
    serde_json::to_string(verification).context("cannot write a verification")
}

fn verification() -> Verification {
    let bad = Span {
        offset: Bytes(0),
        len: Bytes(CLAIMED - REAL),
        state: BlockState::Overwritten {
            distance: Bytes(REAL),
        },
    };
    Verification {
        format: FORMAT,
        id: "019b8d5e-0000-7001-8000-00000000fa4e".to_owned(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        started_unix_ms: 1_767_607_200_000,
        elapsed: Nanos::from_secs(5_400),
        target: Identity {
            path: "/dev/sdz".into(),
            kind: TargetKind::BlockDevice,
            filesystem: None,
            device: Fact::Unknown(UnknownReason::Text("it is no longer connected".to_owned())),
            system_disk: false,
            label: None,
        },
        environment: Environment {
            hostname: "raspberrypi".to_owned(),
            ..Environment::default()
        },
        scope: Scope::Whole { restored: false },
        seed: 1,
        completed: true,
        verdict: IntegrityVerdict {
            claimed: Bytes(CLAIMED),
            capacity: Capacity::Wraps { real: Bytes(REAL) },
            good: Bytes(REAL),
            bad: vec![bad],
            bad_bytes: Bytes(CLAIMED - REAL),
            write_speed: speeds(50),
            read_speed: speeds(25),
        },
    }
}

/// 64 segments, slower towards the end.
fn speeds(nanos_per_byte: u64) -> SpeedMap {
    let len = CLAIMED / 64;
    let points = (0..64).map(|nth| SpeedPoint {
        offset: Bytes(nth * len),
        len: Bytes(len),
        elapsed: Nanos(len * nanos_per_byte * (64 + nth / 2) / 64),
    });
    SpeedMap {
        points: points.collect(),
    }
}
