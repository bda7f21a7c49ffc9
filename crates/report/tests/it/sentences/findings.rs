//! Sentences about findings.

use super::*;
use hakaru_model::caveat::{CacheOf, FirstFailure};
use hakaru_model::finding::{Finding, FindingKind};
use hakaru_model::io_path::TraceObstacle;
use hakaru_model::measured::{LeftOutReason, LeftOutRun, NoAmplification, PauseKind};
use hakaru_model::obstacle::{CacheObstacle, ClockObstacle, EngineObstacle, Reason};
use hakaru_model::units::Quantile;

/// Every kind of caveat with its sentence.
fn caveats() -> Vec<(Caveat, &'static str)> {
    [
        of_the_job(),
        of_the_run(),
        of_the_clock(),
        of_the_host(),
        of_tracing(),
        of_the_figures(),
        of_the_runs(),
        of_left_out_runs(),
        of_imports(),
    ]
    .concat()
}

fn of_the_job() -> Vec<(Caveat, &'static str)> {
    use Caveat::*;
    let phase = || "seq-write".to_owned();
    let s = str::to_owned;
    vec![
        (
            DepthCapped {
                ioengine: s("psync"),
                asked: 32,
            },
            "iodepth=32 had no effect: psync keeps one I/O in flight; use ioengine=io_uring",
        ),
        (
            EngineReplaced {
                asked: s("io_uring"),
                used: s("psync"),
                because: Reason::Text(s("the kernel lacks it")),
            },
            "ioengine=io_uring is unavailable (the kernel lacks it); used psync instead",
        ),
        (
            EngineReplaced {
                asked: s("io_uring"),
                used: s("libaio"),
                because: EngineObstacle::Unsupported.into(),
            },
            "ioengine=io_uring is unavailable (not supported by this kernel or emulator); used libaio instead",
        ),
        (
            NotDirect { path: s("/mnt/f") },
            "Results include the host page cache: /mnt/f does not support O_DIRECT",
        ),
        (
            Buffered,
            "Results may be memory speed: direct=0 goes through the page cache",
        ),
        (
            FitsInMemory {
                size: GIB,
                memory: Bytes(4 << 30),
            },
            "Reads may never have reached the device: the 1 GiB file fits in memory (4 GiB) and direct=0",
        ),
        (
            Short {
                phase: phase(),
                measured: Nanos(SEC),
                wanted: Nanos(10 * SEC),
            },
            "Sequential writes: Measured for only 1 s: flash results below 10 s vary widely",
        ),
        (
            FewRuns { runs: 1 },
            "Only 1 run: variation between runs is unknown; use --repeat=5",
        ),
        (
            FewRuns { runs: 3 },
            "Only 3 runs: variation between runs is poorly known; use at least 5",
        ),
        (
            FewSamples {
                phase: phase(),
                samples: 1130,
                percentile: Quantile::P999,
            },
            "Sequential writes: No P99.9: 1,130 I/Os are too few",
        ),
    ]
}

fn of_the_run() -> Vec<(Caveat, &'static str)> {
    use Caveat::*;
    let phase = || "seq-write".to_owned();
    let s = str::to_owned;
    vec![
        (
            SmallFile { size: GIB },
            "May show the device's cache instead of its flash: only 1 GiB is used",
        ),
        (
            SystemDisk,
            "Results include the I/O of the operating system, which runs from this disk",
        ),
        (
            DeviceErrors {
                phase: phase(),
                count: 2,
                first: FirstFailure::Io {
                    action: s("write"),
                    offset: Bytes(4096),
                    errno: 5,
                },
            },
            "Sequential writes: 2 I/Os failed; first: write at byte 4096: Input/output error (os error 5)",
        ),
        (
            DeviceErrors {
                phase: phase(),
                count: 1,
                first: FirstFailure::Described(s("read, error 5")),
            },
            "Sequential writes: 1 I/O failed: read, error 5",
        ),
        (
            RuleBroken {
                phase: phase(),
                op: Some(Op::Write),
                kind: FailureKind::TooSlow {
                    latency: Nanos(12_300_000),
                    max: Nanos(10_000_000),
                },
            },
            "Sequential writes: Ended early by max_latency=10ms: write took 12.3 ms",
        ),
        (
            Interrupted {
                phase: phase(),
                measured: Nanos(5 * SEC),
            },
            "Sequential writes: Interrupted after 5 s: results cover that time only",
        ),
        (
            CutShort { whole: 2, of: 7 },
            "Incomplete: interrupted after 2 of 7 phases (power loss, crash or kill); the partial phase has no percentiles",
        ),
    ]
}

fn of_the_clock() -> Vec<(Caveat, &'static str)> {
    use Caveat::*;
    let s = str::to_owned;
    vec![
        (
            ClockFallback {
                used: s("CLOCK_MONOTONIC"),
                because: Reason::Text(s("the TSC stops in sleep")),
            },
            "Timed with the slower CLOCK_MONOTONIC: the TSC stops in sleep",
        ),
        (
            ClockFallback {
                used: s("CLOCK_MONOTONIC_RAW"),
                because: ClockObstacle::OtherSource {
                    source_name: s("hpet"),
                    counter: s("tsc"),
                }
                .into(),
            },
            "Timed with the slower CLOCK_MONOTONIC_RAW: the clock source of the kernel is `hpet`, not `tsc`",
        ),
        (
            ClockDrift {
                clock: s("TSC"),
                ppm: 120,
            },
            "Times are off by 120 ppm: TSC drifted from the kernel clock",
        ),
    ]
}

fn of_the_host() -> Vec<(Caveat, &'static str)> {
    use Caveat::*;
    let phase = || "seq-write".to_owned();
    let s = str::to_owned;
    vec![
        (
            Overhead {
                phase: phase(),
                per_io: Nanos(33),
                share_permille: 12,
            },
            "Sequential writes: Tool overhead is 1.2% of the median latency (33 ns per I/O)",
        ),
        (
            HostBusy { load_percent: 434 },
            "Host was busy at start: load average 4.34",
        ),
        (
            HostThrottled { flags: 0x5_0005 },
            "Host was throttled during the run: under-voltage, throttled (flags 0x50005)",
        ),
        (
            PowerSaving {
                governor: s("ondemand"),
            },
            "Short I/Os may wait for the CPU to speed up: CPU governor is ondemand",
        ),
        (
            WriteCache,
            "Writes without fsync may be faster than the flash: the device has a volatile write cache",
        ),
        (
            Cliff {
                phase: phase(),
                at: GIB,
                before: BytesPerSec(34.1e6),
                after: BytesPerSec(11.9e6),
            },
            "Sequential writes: Speed dropped from 34.1 MB/s to 11.9 MB/s after 1.07 GB written: quote both, not the mean",
        ),
        (
            ReadElsewhere {
                phase: phase(),
                share_permille: 600,
            },
            "Sequential writes: Read speed is overstated: only 60% came from the device, the rest from a cache or unwritten space",
        ),
    ]
}

fn of_tracing() -> Vec<(Caveat, &'static str)> {
    use Caveat::*;
    let s = str::to_owned;
    vec![
        (
            Traced,
            "Traced: recording the path of each I/O adds to its latency, so compare it with traced runs only",
        ),
        (
            NotTraced {
                because: TraceObstacle::NoPermission {
                    // The others would be removed by setting it alone.
                    missing: vec![s("cap_dac_read_search")],
                },
            },
            "Not traced: no permission to record kernel events; use sudo, or: sudo setcap cap_perfmon,cap_dac_read_search+ep \"$(command -v hakaru)\"",
        ),
        (
            EventsLost {
                phase: s("seq-write"),
                of: 1000,
                lost: 12,
            },
            "Sequential writes: The path of the I/Os is incomplete: 12 of 1000 kernel events were lost",
        ),
        (
            PathLost {
                phase: s("seq-write"),
            },
            "Sequential writes: The path of the I/Os is lost: the run was cut short before it was computed; measure again with --trace",
        ),
    ]
}

fn of_the_figures() -> Vec<(Caveat, &'static str)> {
    use Caveat::*;
    let phase = || "seq-write".to_owned();
    let s = str::to_owned;
    vec![
        (
            NoDiskStats {
                because: Reason::Text(s("a network disk")),
            },
            "No disk statistics: a network disk",
        ),
        (
            NotInvalidated {
                path: CacheOf::File(s("/mnt/f")),
                because: Reason::Text(s("busy")),
            },
            "Reads may come from memory: the page cache of /mnt/f could not be dropped (busy)",
        ),
        (
            NotInvalidated {
                path: CacheOf::Host,
                because: CacheObstacle::Failed { errno: 1 }.into(),
            },
            "Reads may come from memory: the page cache could not be dropped (Operation not permitted (os error 1))",
        ),
        (
            Outliers {
                phase: phase(),
                count: 2,
                runs: 10,
            },
            "Sequential writes: 2 outliers of 10 runs (Tukey's fences); all figures include them",
        ),
        (
            Drift {
                phase: phase(),
                change_permille: -52,
            },
            "Sequential writes: Speed drifted by \u{2212}5.2% from the first run to the last: the runs do not repeat one state",
        ),
        (
            Dependent {
                phase: phase(),
                lag1_permille: 610,
            },
            "Sequential writes: Runs are correlated (0.61): fewer independent runs than the count suggests; intervals are widened",
        ),
        (
            Skewed {
                phase: phase(),
                runs: 10,
            },
            "Sequential writes: The median says more than the mean: the 10 runs are skewed; intervals of the mean may be too narrow",
        ),
        (
            TwoModes {
                phase: phase(),
                runs: 10,
            },
            "Sequential writes: The mean may describe no run: the 10 runs fall into two groups; compare single runs",
        ),
    ]
}

fn of_the_runs() -> Vec<(Caveat, &'static str)> {
    use Caveat::*;
    let phase = || "seq-write".to_owned();
    let s = str::to_owned;
    vec![
        (
            Contradiction {
                phase: phase(),
                stated: s("7.7 kB/s"),
                follows: s("8.08 MB/s from IOPS"),
                hint: s("a unit slip"),
            },
            "Sequential writes: 7.7 kB/s contradicts 8.08 MB/s from IOPS: a unit slip",
        ),
        (
            Unstated {
                what: s("the queue depth"),
            },
            "The imported result does not state the queue depth",
        ),
        (
            CutOff {
                missing: s("the end"),
            },
            "The imported result is truncated: the end is missing",
        ),
        (
            Unread {
                count: 1,
                first: s("`x`"),
            },
            "1 figure of the imported result is not a number: `x`",
        ),
        (
            Unread {
                count: 3,
                first: s("`x`"),
            },
            "3 figures of the imported result are not numbers; first: `x`",
        ),
        (
            Pooled {
                count: 3,
                what: s("cards"),
            },
            "The spread includes differences between 3 cards: their runs are pooled",
        ),
        (
            Paused {
                phase: phase(),
                kind: PauseKind::Stopped,
                times: 2,
                total: Nanos(3 * SEC),
                longest: Nanos(2 * SEC),
            },
            "Sequential writes: Intervals during a pause are left out of bandwidth, IOPS and verdicts: the process was stopped twice \
             for 3 s in total (longest 2 s)",
        ),
    ]
}

fn of_left_out_runs() -> Vec<(Caveat, &'static str)> {
    use Caveat::LeftOut;
    let phase = || "seq-write".to_owned();
    vec![
        (
            LeftOut {
                phase: phase(),
                runs: vec![
                    left_out(
                        1,
                        LeftOutReason::Descheduled {
                            waited: Nanos(SEC),
                            measured: Nanos(9 * SEC),
                        },
                    ),
                    left_out(3, LeftOutReason::Unfinished),
                ],
                of: 3,
            },
            "Sequential writes: No standard deviation: only 1 of 3 runs counts; left out: run 1 (a worker waited 1 s of 9 s for a CPU) \
             and run 3 (ended early)",
        ),
        (
            LeftOut {
                phase: phase(),
                runs: vec![left_out(
                    2,
                    LeftOutReason::StolenTime {
                        stolen: Nanos(SEC),
                        measured: Nanos(9 * SEC),
                    },
                )],
                of: 3,
            },
            "Sequential writes: Only 2 of 3 runs count; left out: run 2 (the hypervisor took 1 s of CPU time in 9 s)",
        ),
        (
            LeftOut {
                phase: phase(),
                runs: (1..=6)
                    .map(|run| left_out(run, LeftOutReason::Paused))
                    .collect(),
                of: 10,
            },
            "Sequential writes: Only 4 of 10 runs count; left out: run 1 (paused in every interval), run 2 (paused in every interval), \
             run 3 (paused in every interval), run 4 (paused in every interval) and 2 more",
        ),
    ]
}

fn left_out(run: u32, because: LeftOutReason) -> LeftOutRun {
    LeftOutRun { run, because }
}

fn of_imports() -> Vec<(Caveat, &'static str)> {
    use Caveat::*;
    let phase = || "seq-write".to_owned();
    vec![
        (
            Descheduled {
                phase: phase(),
                waited: Nanos(SEC),
                measured: Nanos(9 * SEC),
            },
            "Sequential writes: Results partly measure the host, which was busy: a worker waited 1 s of 9 s for a CPU",
        ),
        (
            StolenTime {
                phase: phase(),
                stolen: Nanos(SEC),
                measured: Nanos(9 * SEC),
            },
            "Sequential writes: Results partly measure the hypervisor: it took 1 s of CPU time (steal) in 9 s",
        ),
        (
            NoAmplification {
                phase: phase(),
                because: self::NoAmplification::RampNotCounted,
            },
            "Sequential writes: No I/O amplification: the disk statistics include the ramp time, whose bytes were not recorded",
        ),
        (
            NoAmplification {
                phase: phase(),
                because: self::NoAmplification::CountersIncomplete {
                    counted: Bytes(3 << 20),
                    written: Bytes(4 << 20),
                },
            },
            "Sequential writes: No I/O amplification: the disk statistics end too early: they contain 3 MiB of the 4 MiB written \
             with direct I/O",
        ),
        (
            Simulated,
            "Simulated card: virtual time, not a measurement of this host",
        ),
    ]
}

/// The texts that a caveat holds, which no language changes.
fn strings_of(caveat: &Caveat) -> Vec<String> {
    fn collect(value: &serde_json::Value, found: &mut Vec<String>) {
        match value {
            serde_json::Value::String(text) => found.push(text.clone()),
            serde_json::Value::Array(items) => items.iter().for_each(|item| collect(item, found)),
            serde_json::Value::Object(fields) => {
                fields.values().for_each(|field| collect(field, found));
            }
            _ => {}
        }
    }
    let mut found = Vec::new();
    collect(&serde_json::to_value(caveat).unwrap(), &mut found);
    found.retain(|text| text.contains(' '));
    found
}

#[test]
fn every_kind_of_finding_has_its_sentence() {
    let mut seen = BTreeSet::new();
    for (caveat, wanted) in caveats() {
        let said = in_both(&strings_of(&caveat), || text::caveat(&caveat));
        assert_eq!(said, wanted);
        check(&said);
        begins_with_a_capital(said.strip_prefix("Sequential writes: ").unwrap_or(&said));
        seen.insert(Finding::from(&caveat).kind.name());
    }
    let all: BTreeSet<&str> = FindingKind::NAMES.iter().copied().collect();
    assert_eq!(seen, all, "a kind without a sample here");
}

/// Scripts read caveats in records, so their names and fields are stable.
#[test]
fn every_caveat_is_documented_with_its_fields() {
    let document = include_str!("../../../../../docs/FORMAT.md");
    let (_, table) = document.split_once("### Caveats").unwrap();
    for (caveat, _) in caveats() {
        let json = serde_json::to_value(&caveat).unwrap();
        let name = json["caveat"].as_str().unwrap();
        let row = table
            .lines()
            .find(|line| {
                let first = line.split(" | ").next().unwrap_or_default();
                first.starts_with('|') && first.contains(&format!("`{name}`"))
            })
            .unwrap_or_else(|| panic!("docs/FORMAT.md has no row for the caveat `{name}`"));
        for field in json.as_object().unwrap().keys() {
            assert!(
                field == "caveat" || row.contains(&format!("`{field}`")),
                "docs/FORMAT.md: the row for the caveat `{name}` does not name `{field}`"
            );
        }
    }
}

#[test]
fn ranges_and_phases_of_merged_findings_are_named_in_order() {
    let phases = ["seq-read", "seq-write", "rand-read"];
    let short = |phase: &str, secs| {
        Finding::from(&Caveat::Short {
            phase: phase.to_owned(),
            measured: Nanos(secs * SEC),
            wanted: Nanos(10 * SEC),
        })
    };
    let two = Finding::merge_all([short("seq-write", 2), short("seq-read", 1)]);
    assert_eq!(
        text::finding(&two[0], &phases),
        "Sequential reads, sequential writes: Measured for only 1 s to 2 s: flash results below 10 s vary widely"
    );
    let three = Finding::merge_all([two[0].clone(), short("rand-read", 1)]);
    assert!(text::finding(&three[0], &phases).starts_with("All phases: Measured"));
    let busy = |load_percent| Finding::from(&Caveat::HostBusy { load_percent });
    let both = busy(98).merge(&busy(200)).unwrap();
    assert_eq!(
        text::finding(&both, &[]),
        "Host was busy at start: load average 0.98 to 2.00"
    );
    for (caveat, _) in caveats() {
        let one = Finding::from(&caveat);
        let merged = one.merge(&one).unwrap();
        let said = in_both(&strings_of(&caveat), || text::finding(&merged, &phases));
        check(&said);
    }
}
