//! Generators of caveats of each kind.

use super::*;
use hakaru_model::io_path::TraceObstacle;
use hakaru_model::obstacle::Reason;

fn phase() -> impl Strategy<Value = String> {
    select(vec!["seq-read", "rand-write"]).prop_map(str::to_owned)
}

fn word() -> impl Strategy<Value = String> {
    select(vec!["a", "b"]).prop_map(str::to_owned)
}

/// Generates a key, or a figure of few values.
fn n() -> impl Strategy<Value = u32> {
    0u32..5
}

fn figure() -> impl Strategy<Value = u32> {
    any::<u32>()
}

fn time() -> impl Strategy<Value = Nanos> {
    figure().prop_map(|n| Nanos(n.into()))
}

fn size() -> impl Strategy<Value = Bytes> {
    figure().prop_map(|n| Bytes(n.into()))
}

fn rate() -> impl Strategy<Value = BytesPerSec> {
    n().prop_map(|n| BytesPerSec(n.into()))
}

/// Generates caveats of each kind, with few different keys so that many of them merge.
pub(crate) fn caveat() -> impl Strategy<Value = Caveat> {
    prop_oneof![
        of_setup(),
        of_host(),
        of_interruption(),
        of_figures(),
        of_device(),
        of_series(),
        of_import()
    ]
}

fn of_setup() -> impl Strategy<Value = Caveat> {
    prop_oneof![
        (word(), n()).prop_map(|(ioengine, asked)| Caveat::DepthCapped { ioengine, asked }),
        (word(), word(), word()).prop_map(|(asked, used, because)| Caveat::EngineReplaced {
            asked,
            used,
            because: Reason::Text(because)
        }),
        word().prop_map(|path| Caveat::NotDirect { path }),
        Just(Caveat::Buffered),
        (size(), size()).prop_map(|(size, memory)| Caveat::FitsInMemory { size, memory }),
        size().prop_map(|size| Caveat::SmallFile { size }),
        Just(Caveat::SystemDisk),
        Just(Caveat::WriteCache),
        Just(Caveat::Simulated),
        Just(Caveat::Traced),
        word().prop_map(|name| Caveat::NotTraced {
            because: TraceObstacle::MissingEvents { names: vec![name] }
        }),
        phase().prop_map(|phase| Caveat::PathLost { phase }),
        (phase(), any::<u64>(), any::<u64>()).prop_map(|(phase, of, lost)| Caveat::EventsLost {
            phase,
            of,
            lost
        }),
        (option::of(word()), word()).prop_map(|(path, because)| Caveat::NotInvalidated {
            path: path.map_or(CacheOf::Host, CacheOf::File),
            because: Reason::Text(because)
        }),
    ]
}

fn of_host() -> impl Strategy<Value = Caveat> {
    prop_oneof![
        (word(), word()).prop_map(|(used, because)| Caveat::ClockFallback {
            used,
            because: Reason::Text(because)
        }),
        (word(), any::<i64>()).prop_map(|(clock, ppm)| Caveat::ClockDrift { clock, ppm }),
        (phase(), time(), figure()).prop_map(|(phase, per_io, share_permille)| Caveat::Overhead {
            phase,
            per_io,
            share_permille
        }),
        figure().prop_map(|load_percent| Caveat::HostBusy { load_percent }),
        n().prop_map(|flags| Caveat::HostThrottled { flags }),
        word().prop_map(|governor| Caveat::PowerSaving { governor }),
        word().prop_map(|because| Caveat::NoDiskStats {
            because: Reason::Text(because)
        }),
    ]
}

fn of_interruption() -> impl Strategy<Value = Caveat> {
    prop_oneof![
        (phase(), any::<bool>(), figure(), time(), time()).prop_map(
            |(phase, stopped, times, total, longest)| Caveat::Paused {
                phase,
                kind: if stopped {
                    PauseKind::Stopped
                } else {
                    PauseKind::Suspended
                },
                times,
                total,
                longest
            }
        ),
        (phase(), time(), time()).prop_map(|(phase, waited, measured)| Caveat::Descheduled {
            phase,
            waited,
            measured
        }),
        (phase(), time(), time()).prop_map(|(phase, stolen, measured)| Caveat::StolenTime {
            phase,
            stolen,
            measured
        }),
    ]
}

fn of_figures() -> impl Strategy<Value = Caveat> {
    prop_oneof![
        (phase(), time(), n()).prop_map(|(phase, measured, wanted)| Caveat::Short {
            phase,
            measured,
            wanted: Nanos(wanted.into())
        }),
        (phase(), figure(), n()).prop_map(|(phase, samples, tenth)| Caveat::FewSamples {
            phase,
            samples: samples.into(),
            percentile: Quantile::new(f64::from(tenth) / 10.0).expect("a share")
        }),
        (phase(), n(), rate(), rate()).prop_map(|(phase, at, before, after)| Caveat::Cliff {
            phase,
            at: Bytes(at.into()),
            before,
            after
        }),
        (phase(), figure()).prop_map(|(phase, share_permille)| Caveat::ReadElsewhere {
            phase,
            share_permille
        }),
        (phase(), no_amplification())
            .prop_map(|(phase, because)| Caveat::NoAmplification { phase, because }),
    ]
}

fn no_amplification() -> impl Strategy<Value = NoAmplification> {
    let own = Bytes(1);
    prop_oneof![
        Just(NoAmplification::RampNotCounted),
        size().prop_map(move |others| NoAmplification::OtherUsers { others, own }),
        size().prop_map(move |written| NoAmplification::CountersIncomplete {
            counted: own,
            written
        }),
    ]
}

fn of_device() -> impl Strategy<Value = Caveat> {
    prop_oneof![
        (phase(), figure(), n(), word()).prop_map(|(phase, count, errno, action)| {
            Caveat::DeviceErrors {
                phase,
                count: count.into(),
                first: FirstFailure::Io {
                    action,
                    offset: Bytes(0),
                    errno: errno as i32,
                },
            }
        }),
        (phase(), option::of(op()), failure_kind())
            .prop_map(|(phase, op, kind)| Caveat::RuleBroken { phase, op, kind }),
        (phase(), time()).prop_map(|(phase, measured)| Caveat::Interrupted { phase, measured }),
        (figure(), n()).prop_map(|(whole, of)| Caveat::CutShort { whole, of }),
    ]
}

fn of_series() -> impl Strategy<Value = Caveat> {
    prop_oneof![
        figure().prop_map(|runs| Caveat::FewRuns { runs }),
        (phase(), figure(), n()).prop_map(|(phase, count, runs)| Caveat::Outliers {
            phase,
            count,
            runs
        }),
        (phase(), any::<i32>()).prop_map(|(phase, change_permille)| Caveat::Drift {
            phase,
            change_permille
        }),
        (phase(), any::<i32>()).prop_map(|(phase, lag1_permille)| Caveat::Dependent {
            phase,
            lag1_permille
        }),
        (phase(), figure()).prop_map(|(phase, runs)| Caveat::Skewed { phase, runs }),
        (phase(), figure()).prop_map(|(phase, runs)| Caveat::TwoModes { phase, runs }),
    ]
}

fn of_import() -> impl Strategy<Value = Caveat> {
    prop_oneof![
        (phase(), word(), word(), word()).prop_map(|(phase, stated, follows, hint)| {
            Caveat::Contradiction {
                phase,
                stated,
                follows,
                hint,
            }
        }),
        word().prop_map(|what| Caveat::Unstated { what }),
        word().prop_map(|missing| Caveat::CutOff { missing }),
        (figure(), word()).prop_map(|(count, first)| Caveat::Unread { count, first }),
        (figure(), word()).prop_map(|(count, what)| Caveat::Pooled { count, what }),
    ]
}

/// An assignment of a run to a host of a fleet.
pub(super) fn assignment() -> impl Strategy<Value = Assignment> {
    let clock = (any::<i64>(), any::<u64>()).prop_map(|(offset_ns, uncertainty_ns)| ClockOffset {
        offset_ns,
        uncertainty_ns,
    });
    (word(), word(), option::of(clock)).prop_map(|(host, job, clock)| Assignment {
        host,
        job,
        clock,
    })
}
