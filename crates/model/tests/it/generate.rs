//! Generators of inputs for the property tests.

mod caveats;
mod jobs;
mod records;

pub(crate) use caveats::caveat;
pub(crate) use jobs::{any_job, facts, plain_job, scenario_of};
pub(crate) use records::{environment, failure_kind, identity, io_error, record};

use hakaru_model::campaign::{
    Assignment, CampaignPoint, ClockOffset, DeviceSegment, FillContent, PreparedStep, StepKind,
};
use hakaru_model::caveat::{CacheOf, Caveat, FirstFailure};
use hakaru_model::facts::{
    Bus, CardRegisters, DeviceIdentity, DiskStats, Environment, Fact, Filesystem, Health, Identity,
    TargetFacts, TargetKind,
};
use hakaru_model::histogram::Histogram;
use hakaru_model::job::rules::{
    AccessAdvice, BlockSizeRules, ExitRules, ExitScope, FileLock, FileOrder, FileTurns, FlowShare,
    LatencyTarget, Lifetime, MemoryMode, MemoryPolicy, PatternPart, RangeSync, SteadyLimit,
    SteadyStateRule, TraversalOrder, Verify, VerifyMethod, ZoneResets, Zones,
};
use hakaru_model::job::{
    Access, BlockSize, BufferContent, Distribution, Fallocate, IoEngine, Job, Op, PerOp, Phase,
    RelativeZone, Scenario, SizeSpec, StatCall, Target,
};
use hakaru_model::measured::{
    EngineUse, HostPauses, LaidOut, MeasuredTraffic, NoAmplification, Pause, PauseKind,
};
use hakaru_model::mismatch::{BlockDifference, Mismatch};
use hakaru_model::plan::Facts;
use hakaru_model::record::{
    ErrorRecord, FailureKind, Interval, IntervalOp, IoError, Latency, OpRecord, Origin, OtherSyncs,
    Outcome, Overhead, PhaseRecord, RunRecord, Samples, SteadyRecord, StopReason, WorkerRecord,
};
use hakaru_model::replay::{Trace, TraceAction, TraceStep};
use hakaru_model::stream::{IoRequest, PassEnd, Region, StreamPlan};
use hakaru_model::units::{Bytes, BytesPerSec, Nanos, Quantile};
use proptest::option;
use proptest::prelude::*;
use proptest::sample::select;
use std::path::PathBuf;

const UNIT: u64 = 512;

/// Generates latencies of all magnitudes within the buckets of a histogram.
pub(crate) fn latencies() -> impl Strategy<Value = Vec<u64>> {
    prop::collection::vec(
        (0u32..42, any::<u64>()).prop_map(|(bits, raw)| raw & ((1 << bits) - 1)),
        1..200,
    )
}

/// Generates consecutive intervals.
pub(crate) fn intervals(most: usize) -> impl Strategy<Value = Vec<Interval>> {
    let figures = prop::array::uniform9(0u64..1 << 40);
    prop::collection::vec((1u64..1 << 40, figures), 2..most.max(3)).prop_map(|parts| {
        let mut at = 0;
        let mut interval = |(length, figures): (u64, [u64; 9])| {
            at += length;
            let op = |first: usize| IntervalOp {
                ios: figures[first],
                bytes: figures[first + 1],
                clat_sum: Nanos(figures[first + 2]),
            };
            let ops = PerOp {
                read: op(0),
                write: op(3),
                trim: op(6),
            };
            Interval {
                at: Nanos(at),
                length: Nanos(length),
                ops,
            }
        };
        parts.into_iter().map(&mut interval).collect()
    })
}

pub(crate) fn op() -> impl Strategy<Value = Op> {
    select(&Op::ALL[..])
}

fn request(files: u32) -> impl Strategy<Value = IoRequest> {
    (op(), 0..files, 0u64..1 << 40, 1u32..1 << 20).prop_map(|(op, region, offset, len)| IoRequest {
        op,
        region,
        offset,
        len,
    })
}

/// Generates a trace of one to three files.
pub(crate) fn trace() -> impl Strategy<Value = Trace> {
    (1u32..4).prop_flat_map(|files| {
        let action = prop_oneof![
            4 => request(files).prop_map(TraceAction::Io),
            1 => (0..files).prop_map(TraceAction::Sync),
            1 => (0..files).prop_map(TraceAction::DataSync),
        ];
        let step = (0u64..1 << 40, action).prop_map(|(at, action)| TraceStep {
            at: Nanos(at),
            action,
        });
        prop::collection::vec(step, 0..20).prop_map(move |steps| Trace {
            files: (0..files).map(|file| format!("f{file}").into()).collect(),
            steps,
        })
    })
}

/// Generates percentages of the three operations.
pub(crate) fn shares_of_100() -> impl Strategy<Value = PerOp<u32>> {
    (1u32..99)
        .prop_flat_map(|read| (Just(read), 0..=100 - read))
        .prop_map(|(read, write)| PerOp {
            read,
            write,
            trim: 100 - read - write,
        })
}

/// Generates access patterns: reads, writes or a mix, sequential or random, with or without a random map.
pub(crate) fn access() -> impl Strategy<Value = Access> {
    let mix = prop_oneof![
        2 => op().prop_map(|op| Access::only(op, false).mix),
        1 => shares_of_100(),
        1 => (1u32..100).prop_map(|reads| Access::mixed(reads, false).mix),
    ];
    (mix, any::<bool>(), any::<bool>()).prop_map(|(mix, random, map)| {
        let mut access = Access::only(Op::Read, random);
        (access.mix, access.every_block_once) = (mix, map);
        access
    })
}

/// Generates block sizes of 1 to 24 units.
pub(crate) fn block() -> impl Strategy<Value = BlockSize> {
    let bytes = |units: u64| Bytes(units * UNIT);
    prop_oneof![
        3 => (1u64..24).prop_map(move |units| BlockSize::Fixed(bytes(units))),
        1 => (1u64..6, 1u64..5).prop_map(move |(min, times)| BlockSize::Range {
            min: bytes(min),
            max: bytes(min * times)
        }),
        1 => prop::collection::vec((1u64..24, 1u32..50), 1..4).prop_map(move |parts| BlockSize::Split(
            parts
                .iter()
                .map(|&(units, share)| (bytes(units), share))
                .collect()
        )),
    ]
}

/// Returns the plan of one worker on files of these lengths, repeated until `limit` bytes are transferred.
pub(crate) fn plan_of(
    access: Access,
    block: PerOp<BlockSize>,
    align: u64,
    files: &[u64],
    limit: Option<u64>,
) -> StreamPlan {
    let region = |(file, &len): (u32, &u64)| Region {
        file,
        offset: 0,
        len,
        file_len: len,
    };
    StreamPlan {
        regions: (0u32..).zip(files).map(region).collect(),
        access,
        block,
        align,
        limit_bytes: limit,
        limit_ios: None,
        seed: 1,
        pass_bytes: None,
        loops: 1,
        pass_end: PassEnd::Repeat,
        turns: FileTurns::default(),
        sizes: BlockSizeRules::default(),
        later_starts: Default::default(),
        restart_bytes: Default::default(),
        draws_anew: Default::default(),
    }
}

/// Generates a name of a file or job.
pub(crate) fn name() -> impl Strategy<Value = String> {
    "[a-z][a-z0-9-]{0,6}"
}

fn words() -> impl Strategy<Value = String> {
    "[a-zA-Z0-9 \"µ\\\\/-]{0,12}"
}

/// Generates a float that any JSON reader preserves exactly.
pub(crate) fn float() -> impl Strategy<Value = f64> {
    (-(1i32 << 20)..1 << 20).prop_map(|n| f64::from(n) / 64.0)
}

fn nanos() -> impl Strategy<Value = Nanos> {
    any::<u64>().prop_map(Nanos)
}

fn bytes() -> impl Strategy<Value = Bytes> + Clone {
    any::<u64>().prop_map(Bytes)
}

pub(crate) fn quantile() -> impl Strategy<Value = Quantile> {
    (0u32..=1000).prop_map(|share| Quantile::new(f64::from(share) / 1000.0).expect("a share"))
}

fn per_op<T: std::fmt::Debug + Clone>(
    value: impl Strategy<Value = T> + Clone,
) -> impl Strategy<Value = PerOp<T>> {
    (value.clone(), value.clone(), value).prop_map(|(read, write, trim)| PerOp {
        read,
        write,
        trim,
    })
}

fn fact<T: std::fmt::Debug + Clone>(
    value: impl Strategy<Value = T>,
) -> impl Strategy<Value = Fact<T>> {
    prop_oneof![
        value.prop_map(Fact::Known),
        words().prop_map(
            |because| Fact::Unknown(hakaru_model::facts::UnknownReason::from_text(because))
        )
    ]
}
