//! Sentences for caveats and other findings.

use super::facts::throttled_by;
use super::{
    counted, kept_cache, listed, no_clock, no_counters, no_engine, op_did, os_error, rule_of, times,
};
use crate::number;
use crate::text::figures::{self, correlation, count, load, percent, range};
use crate::text::span;
use hakaru_model::caveat::{CacheOf, FirstFailure};
use hakaru_model::finding::{FindingKind, MinMax};
use hakaru_model::io_path::TraceObstacle;
use hakaru_model::measured::{LeftOutReason, LeftOutRun, NoAmplification, PauseKind};

pub(in crate::text) fn kind(kind: &FindingKind) -> String {
    use FindingKind::*;
    match kind {
        DepthCapped { ioengine, asked } => format!(
            "iodepth={asked} had no effect: {ioengine} keeps one I/O in flight; use ioengine=io_uring"
        ),
        EngineReplaced { asked, used, because } => {
            format!("ioengine={asked} is unavailable ({}); used {used} instead", no_engine(because))
        }
        NotDirect { path } => {
            format!("Results include the host page cache: {path} does not support O_DIRECT")
        }
        Buffered {} => "Results may be memory speed: direct=0 goes through the page cache".to_owned(),
        FitsInMemory { size, memory } => format!(
            "Reads may never have reached the device: the {} file fits in memory ({}) and direct=0",
            range(*size),
            range(*memory)
        ),
        Short { wanted, measured } => format!(
            "Measured for only {}: flash results below {wanted} vary widely",
            range(*measured)
        ),
        FewRuns { runs: MinMax { max: ..=1, .. } } => {
            "Only 1 run: variation between runs is unknown; use --repeat=5".to_owned()
        }
        FewRuns { runs } => format!(
            "Only {} runs: variation between runs is poorly known; use at least 5",
            range(*runs)
        ),
        FewSamples { percentile, samples } => format!(
            "No {}: {} I/Os are too few",
            number::percentile(*percentile),
            count(*samples)
        ),
        SmallFile { size } => format!(
            "May show the device's cache instead of its flash: only {} is used",
            range(*size)
        ),
        SystemDisk {} => {
            "Results include the I/O of the operating system, which runs from this disk".to_owned()
        }
        DeviceErrors { first, count } => failed_ios(first, *count),
        RuleBroken { op, kind } => match rule_of(*kind, *op) {
            Some((rule, broken)) => format!("Ended early by {rule}: {broken}"),
            None => format!("Ended early: {} failed", op_did(*op)),
        },
        Interrupted { measured } => format!(
            "Interrupted after {}: results cover that time only",
            range(*measured)
        ),
        CutShort { of, whole } => format!(
            "Incomplete: interrupted after {} of {} (power loss, crash or kill); the partial phase has no percentiles",
            range(*whole),
            counted(u64::from(*of), "phase")
        ),
        ClockFallback { used, because } => format!("Timed with the slower {used}: {}", no_clock(because)),
        ClockDrift { clock, ppm } => format!(
            "Times are off by {} ppm: {clock} drifted from the kernel clock",
            range(*ppm)
        ),
        Overhead { per_io, share_permille } => format!(
            "Tool overhead is {} of the median latency ({} per I/O)",
            percent(*share_permille),
            range(*per_io)
        ),
        HostBusy { load_percent } => {
            format!("Host was busy at start: load average {}", load(*load_percent))
        }
        HostThrottled { flags } => format!(
            "Host was throttled during the run: {} (flags {flags:#x})",
            throttled(*flags)
        ),
        PowerSaving { governor } => {
            format!("Short I/Os may wait for the CPU to speed up: CPU governor is {governor}")
        }
        WriteCache {} => {
            "Writes without fsync may be faster than the flash: the device has a volatile write cache".to_owned()
        }
        Cliff { at, before, after } => format!(
            "Speed dropped from {before} to {after} after {} written: quote both, not the mean",
            number::decimal_bytes(*at)
        ),
        ReadElsewhere { share_permille } => format!(
            "Read speed is overstated: only {} came from the device, the rest from a cache or unwritten space",
            percent(*share_permille)
        ),
        NoDiskStats { because } => format!("No disk statistics: {}", no_counters(because)),
        NotInvalidated { path, because } => match path {
            CacheOf::File(path) => format!(
                "Reads may come from memory: the page cache of {path} could not be dropped ({})",
                kept_cache(because)
            ),
            CacheOf::Host => {
                format!(
                    "Reads may come from memory: the page cache could not be dropped ({})",
                    kept_cache(because)
                )
            }
        },
        Outliers { runs, count } => format!(
            "{} of {} (Tukey's fences); all figures include them",
            outlying(*count),
            counted(u64::from(*runs), "run")
        ),
        Drift { change_permille } => format!(
            "Speed drifted by {} from the first run to the last: the runs do not repeat one state",
            percent(MinMax::of(*change_permille))
        ),
        Dependent { lag1_permille } => format!(
            "Runs are correlated ({}): fewer independent runs than the count suggests; intervals are widened",
            correlation(*lag1_permille)
        ),
        Skewed { runs } => format!(
            "The median says more than the mean: the {} runs are skewed; intervals of the mean may be too narrow",
            range(*runs)
        ),
        TwoModes { runs } => format!(
            "The mean may describe no run: the {} runs fall into two groups; compare single runs",
            range(*runs)
        ),
        Contradiction { stated, follows, hint } => format!("{stated} contradicts {follows}: {hint}"),
        Unstated { what } => format!("The imported result does not state {what}"),
        CutOff { missing } => format!("The imported result is truncated: {missing} is missing"),
        Unread { first, count } => match (count.min, count.max) {
            (1, 1) => format!("1 figure of the imported result is not a number: {first}"),
            _ => format!(
                "{} figures of the imported result are not numbers; first: {first}",
                range(*count)
            ),
        },
        Pooled { what, count } => format!(
            "The spread includes differences between {} {what}: their runs are pooled",
            range(*count)
        ),
        Paused { kind, times: MinMax { min, max }, total, longest } => format!(
            "Intervals during a pause are left out of bandwidth, IOPS and verdicts: {} {} for {} in total (longest {})",
            paused(*kind),
            span(&times(*min), &times(*max)),
            range(*total),
            range(*longest)
        ),
        Descheduled { waited, measured } => format!(
            "Results partly measure the host, which was busy: a worker waited {} of {} for a CPU",
            range(*waited),
            range(*measured)
        ),
        StolenTime { stolen, measured } => format!(
            "Results partly measure the hypervisor: it took {} of CPU time (steal) in {}",
            range(*stolen),
            range(*measured)
        ),
        LeftOut { runs, of } => left_out(runs, *of),
        NoAmplification { because } => format!("No I/O amplification: {}", no_amplification(*because)),
        Simulated {} => "Simulated card: virtual time, not a measurement of this host".to_owned(),
        Traced {} => "Traced: recording the path of each I/O adds to its latency, so compare it with traced runs only".to_owned(),
        NotTraced { because } => format!("Not traced: {}", trace_obstacle(because)),
        PathLost {} => {
            "The path of the I/Os is lost: the run was cut short before it was computed; measure again with --trace"
                .to_owned()
        }
        EventsLost { of, lost } => format!(
            "The path of the I/Os is incomplete: {} of {} kernel events were lost",
            range(*lost),
            range(*of)
        ),
    }
}

/// Maximum number of runs listed by number; more are only counted.
const NAMED_RUNS: usize = 4;

fn left_out(runs: &[LeftOutRun], of: u32) -> String {
    let named = runs
        .iter()
        .take(NAMED_RUNS)
        .map(|LeftOutRun { run, because }| format!("run {run} ({})", left_out_reason(*because)));
    let mut named: Vec<String> = named.collect();
    if let more @ 1.. = runs.len().saturating_sub(NAMED_RUNS) {
        named.push(format!("{more} more"));
    }
    let named = listed(&named);
    match of.saturating_sub(runs.len() as u32) {
        1 => format!("No standard deviation: only 1 of {of} runs counts; left out: {named}"),
        kept => format!("Only {kept} of {of} runs count; left out: {named}"),
    }
}

fn left_out_reason(because: LeftOutReason) -> String {
    match because {
        LeftOutReason::Unfinished => "ended early".to_owned(),
        LeftOutReason::Descheduled { waited, measured } => {
            format!("a worker waited {waited} of {measured} for a CPU")
        }
        LeftOutReason::StolenTime { stolen, measured } => {
            format!("the hypervisor took {stolen} of CPU time in {measured}")
        }
        LeftOutReason::Paused => "paused in every interval".to_owned(),
    }
}

/// What prevented tracing, and what helps.
fn trace_obstacle(because: &TraceObstacle) -> String {
    match because {
        TraceObstacle::NoPermission { missing } if missing.is_empty() => {
            "a security policy forbids recording kernel events; run as root outside the container".to_owned()
        }
        // Setting capabilities replaces those that are there, so all are named, not only the missing ones.
        TraceObstacle::NoPermission { .. } => "no permission to record kernel events; use sudo, or: sudo setcap cap_perfmon,cap_dac_read_search+ep \"$(command -v hakaru)\"".to_owned(),
        TraceObstacle::UserNamespace => {
            "kernel events cannot be recorded in a rootless container; run on the host".to_owned()
        }
        TraceObstacle::RestrictedRoot => {
            "root may not record kernel events here, as in a container; run on the host, or start the container with --privileged".to_owned()
        }
        TraceObstacle::TracefsNotMounted => {
            "tracefs is not mounted; use sudo, or: sudo mount -t tracefs tracefs /sys/kernel/tracing".to_owned()
        }
        TraceObstacle::NoTracefs => "the kernel is built without tracefs".to_owned(),
        TraceObstacle::NoPerfEvents => "the kernel is built without perf events".to_owned(),
        TraceObstacle::MissingEvents { names } => {
            format!("the kernel lacks the events {}", listed(names))
        }
        TraceObstacle::RingMemory { bytes } => format!(
            "the kernel refused {bytes} bytes of locked memory for each CPU; raise the limit with ulimit -l, or use sudo"
        ),
        TraceObstacle::Descriptors { needed, limit } => {
            format!("{needed} more open files are needed and the limit is {limit}; raise it with ulimit -n")
        }
        TraceObstacle::NoBlockDevice => "the target is not on a block device".to_owned(),
        TraceObstacle::SimulatedCard => "a simulated card has no kernel events".to_owned(),
        TraceObstacle::Failed { operation, errno } => {
            format!("{operation} failed: {}", os_error(*errno))
        }
    }
}

/// Reasons for unknown I/O amplification.
fn no_amplification(because: NoAmplification) -> String {
    match because {
        NoAmplification::OtherUsers { others, own } => format!(
            "the operating system runs from this disk, and others moved {others} beside the {own} of the job"
        ),
        NoAmplification::SystemDisk => {
            "the operating system runs from this disk, and the traffic of this program was not counted".to_owned()
        }
        NoAmplification::RampNotCounted => {
            "the disk statistics include the ramp time, whose bytes were not recorded".to_owned()
        }
        NoAmplification::CountersIncomplete { counted, written } => format!(
            "the disk statistics end too early: they contain {counted} of the {written} written with direct I/O"
        ),
    }
}

fn failed_ios(first: &FirstFailure, count: MinMax<u64>) -> String {
    let first = match first {
        FirstFailure::Io {
            action,
            offset,
            errno,
        } => {
            format!("{action} at byte {}: {}", offset.0, os_error(*errno))
        }
        FirstFailure::Described(words) => words.clone(),
    };
    match (count.min, count.max) {
        (1, 1) => format!("1 I/O failed: {first}"),
        _ => format!("{} I/Os failed; first: {first}", figures::count(count)),
    }
}

fn paused(kind: PauseKind) -> &'static str {
    match kind {
        PauseKind::Stopped => "the process was stopped",
        PauseKind::Suspended => "the host was suspended",
    }
}

/// The current state in the throttling flags of a Raspberry Pi.
fn throttled(flags: u32) -> String {
    match flags & 0xf {
        0 => "reason unknown".to_owned(),
        now => throttled_by(now),
    }
}

/// Number of outliers: `1 outlier`, `1 to 3 outliers`.
fn outlying(count: MinMax<u32>) -> String {
    match (count.min, count.max) {
        (1, 1) => "1 outlier".to_owned(),
        _ => format!("{} outliers", range(count)),
    }
}
