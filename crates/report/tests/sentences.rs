//! Every typed value has its sentence: the consequence first, in one line, without a placeholder left.

use hakaru_model::campaign::{Circumstance, FillContent, StepKind, Weakness};
use hakaru_model::caveat::{CacheOf, Caveat, FirstFailure};
use hakaru_model::finding::{Condition, Finding, FindingKind};
use hakaru_model::job::Op;
use hakaru_model::lint::LintWarning;
use hakaru_model::measured::{NoAmplification, PauseKind};
use hakaru_model::record::{FailureKind, IoError};
use hakaru_model::units::{Bytes, BytesPerSec, Nanos, Quantile};
use hakaru_report::text;
use std::collections::BTreeSet;

const SEC: u64 = 1_000_000_000;
const GIB: Bytes = Bytes(1 << 30);

/// Every kind of caveat, with the sentence for it.
fn caveats() -> Vec<(Caveat, &'static str)> {
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
                because: s("the kernel lacks it"),
            },
            "ioengine=io_uring is unavailable (the kernel lacks it); used psync instead",
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
            "seq-write: Measured for only 1 s: flash results below 10 s vary widely",
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
            "seq-write: No P99.9: 1,130 I/Os are too few",
        ),
        (
            SmallFile { size: GIB },
            "The flash may be slower: the 1 GiB file may fit in a device cache",
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
            "seq-write: 2 I/Os failed; first: write at byte 4096: Input/output error (os error 5)",
        ),
        (
            DeviceErrors {
                phase: phase(),
                count: 1,
                first: FirstFailure::Described(s("read, error 5")),
            },
            "seq-write: 1 I/O failed: read, error 5",
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
            "seq-write: Ended early by max_latency=10ms: write took 12.3 ms",
        ),
        (
            Interrupted {
                phase: phase(),
                measured: Nanos(5 * SEC),
            },
            "seq-write: Interrupted after 5 s: results cover that time only",
        ),
        (
            CutShort { whole: 2, of: 7 },
            "Incomplete: interrupted after 2 of 7 phases (power loss, crash or kill); the partial phase has no percentiles",
        ),
        (
            ClockFallback {
                used: s("CLOCK_MONOTONIC"),
                because: s("the TSC stops in sleep"),
            },
            "Timed with the slower CLOCK_MONOTONIC: the TSC stops in sleep",
        ),
        (
            ClockDrift {
                clock: s("TSC"),
                ppm: 120,
            },
            "Times are off by 120 ppm: TSC drifted from the kernel clock",
        ),
        (
            Overhead {
                phase: phase(),
                per_io: Nanos(33),
                share_permille: 12,
            },
            "seq-write: Tool overhead is 1.2% of the median latency (33 ns per I/O)",
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
            "seq-write: Speed dropped from 34.1 MB/s to 11.9 MB/s after 1 GiB written: quote both, not the mean",
        ),
        (
            ReadElsewhere {
                phase: phase(),
                share_permille: 600,
            },
            "seq-write: Read speed is overstated: only 60% came from the device, the rest from a cache or unwritten space",
        ),
        (
            NoDiskStats {
                because: s("a network disk"),
            },
            "No disk statistics: a network disk",
        ),
        (
            NotInvalidated {
                path: CacheOf::File(s("/mnt/f")),
                because: s("busy"),
            },
            "Reads may come from memory: the page cache of /mnt/f could not be dropped (busy)",
        ),
        (
            NotInvalidated {
                path: CacheOf::Host,
                because: s("not root"),
            },
            "Reads may come from memory: the page cache could not be dropped (not root)",
        ),
        (
            Outliers {
                phase: phase(),
                count: 2,
                runs: 10,
            },
            "seq-write: 2 outliers of 10 runs (Tukey's fences); all figures include them",
        ),
        (
            Drift {
                phase: phase(),
                change_permille: -52,
            },
            "seq-write: Speed drifted by \u{2212}5.2% from the first run to the last: the runs do not repeat one state",
        ),
        (
            Dependent {
                phase: phase(),
                lag1_permille: 610,
            },
            "seq-write: Runs are correlated (0.61): fewer independent runs than the count suggests; intervals are widened",
        ),
        (
            Skewed {
                phase: phase(),
                runs: 10,
            },
            "seq-write: The median says more than the mean: the 10 runs are skewed; intervals of the mean may be too narrow",
        ),
        (
            TwoModes {
                phase: phase(),
                runs: 10,
            },
            "seq-write: The mean may describe no run: the 10 runs fall into two groups; compare single runs",
        ),
        (
            Contradiction {
                phase: phase(),
                stated: s("7.7 kB/s"),
                follows: s("8.08 MB/s from IOPS"),
                hint: s("a unit slip"),
            },
            "seq-write: 7.7 kB/s contradicts 8.08 MB/s from IOPS: a unit slip",
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
            "seq-write: Intervals during a pause are left out of bandwidth, IOPS and verdicts: the process was stopped twice \
             for 3 s in total (longest 2 s)",
        ),
        (
            Descheduled {
                phase: phase(),
                waited: Nanos(SEC),
                measured: Nanos(9 * SEC),
            },
            "seq-write: Results partly measure the host, which was busy: a worker waited 1 s of 9 s for a CPU",
        ),
        (
            StolenTime {
                phase: phase(),
                stolen: Nanos(SEC),
                measured: Nanos(9 * SEC),
            },
            "seq-write: Results partly measure the hypervisor: it took 1 s of CPU time (steal) in 9 s",
        ),
        (
            NoAmplification {
                phase: phase(),
                because: self::NoAmplification::RampNotCounted,
            },
            "seq-write: No I/O amplification: the disk statistics include the ramp time, whose bytes were not recorded",
        ),
        (
            Simulated,
            "Simulated card: virtual time, not a measurement of this host",
        ),
    ]
}

/// What every sentence keeps to.
fn check(said: &str) {
    assert!(!said.is_empty());
    for wrong in ["{", "}", "  ", " %", "‰", "(s)", "Some(", "..", "\n"] {
        assert!(!said.contains(wrong), "{wrong:?} in: {said}");
    }
    assert!(!said.ends_with(['.', ' ', ':', ';']), "{said}");
    assert!(said.chars().count() < 260, "{said}");
}

fn begins_with_a_capital(said: &str) {
    let option = said
        .split(' ')
        .next()
        .is_some_and(|word| word.contains('='));
    assert!(
        option || said.starts_with(|c: char| c.is_uppercase() || c.is_ascii_digit()),
        "{said}"
    );
}

#[test]
fn every_kind_of_finding_has_its_sentence() {
    let mut seen = BTreeSet::new();
    for (caveat, wanted) in caveats() {
        let said = text::caveat(&caveat);
        assert_eq!(said, wanted);
        check(&said);
        begins_with_a_capital(said.strip_prefix("seq-write: ").unwrap_or(&said));
        seen.insert(Finding::from(&caveat).kind.name());
    }
    let all: BTreeSet<&str> = FindingKind::NAMES.iter().copied().collect();
    assert_eq!(seen, all, "a kind without a sample here");
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
        "seq-read, seq-write: Measured for only 1 s to 2 s: flash results below 10 s vary widely"
    );
    let three = Finding::merge_all([two[0].clone(), short("rand-read", 1)]);
    assert!(text::finding(&three[0], &phases).starts_with("all phases: Measured"));
    let busy = |load_percent| Finding::from(&Caveat::HostBusy { load_percent });
    let both = busy(98).merge(&busy(200)).unwrap();
    assert_eq!(
        text::finding(&both, &[]),
        "Host was busy at start: load average 0.98 to 2.00"
    );
    for (caveat, _) in caveats() {
        let one = Finding::from(&caveat);
        check(&text::finding(&one.merge(&one).unwrap(), &phases));
    }
}

/// The number of a variant; a new one does not compile before it is named here.
fn number_of_weakness(weakness: &Weakness) -> usize {
    match weakness {
        Weakness::Unfinished { .. } => 0,
        Weakness::FewRepeats { .. } => 1,
        Weakness::OneSpecimen => 2,
        Weakness::Blocked => 3,
        Weakness::CardsInSequence => 4,
        Weakness::Drifted { .. } => 5,
        Weakness::DriftUndecided { .. } => 6,
        Weakness::Unprepared => 7,
        Weakness::Changed { .. } => 8,
        Weakness::MeansOnly { .. } => 9,
    }
}

#[test]
fn every_weakness_of_a_campaign_has_its_sentence() {
    let s = str::to_owned;
    let values = || vec![s("6.12"), s("6.13")];
    let changed = |what| Weakness::Changed {
        what,
        values: values(),
    };
    let all = [
        (
            Weakness::Unfinished {
                runs: 60,
                planned: 64,
            },
            "60 of 64 planned runs done: the ranking may still change",
        ),
        (
            Weakness::FewRepeats {
                points: 2,
                of: 9,
                wanted: 5,
            },
            "2 of 9 test points have fewer than 5 runs: their variation is poorly known",
        ),
        (
            Weakness::OneSpecimen,
            "One card of each model: variation between cards of a model is unknown",
        ),
        (
            Weakness::Blocked,
            "Repeats ran back to back: drift is confounded with differences between workloads and layers; use order = \
             \"shuffled\"",
        ),
        (
            Weakness::CardsInSequence,
            "Cards ran one after another: drift of the host is confounded with differences between cards; use card-order \
             = \"interleaved\", \"abba\" or \"shuffled\" where all cards can be present together, else recheck = true",
        ),
        (
            Weakness::Drifted {
                card: s("a"),
                layer: s("raw"),
                phases: vec![s("seq-write 0.97x")],
            },
            "Drift of the host or card is confounded with differences between cards: a through raw changed between its \
             measurement and its recheck (seq-write 0.97x)",
        ),
        (
            Weakness::DriftUndecided {
                card: s("a"),
                layer: s("raw"),
                undecided: 1,
                of: 4,
            },
            "Drift is not ruled out: the recheck of a through raw is inconclusive in 1 of 4 figures; use more repeats",
        ),
        (
            Weakness::Unprepared,
            "No preparation: results depend on what was written to each card before",
        ),
        (
            changed(Circumstance::Kernel),
            "The kernel differed between test points: 6.12; 6.13",
        ),
        (
            changed(Circumstance::Host),
            "The host differed between test points: 6.12; 6.13",
        ),
        (
            changed(Circumstance::Board),
            "The board differed between test points: 6.12; 6.13",
        ),
        (
            changed(Circumstance::Governor),
            "The CPU governor differed between test points: 6.12; 6.13",
        ),
        (
            changed(Circumstance::Device { card: s("a") }),
            "The device measured as a differed between test points: 6.12; 6.13",
        ),
        (
            Weakness::MeansOnly { points: 3, of: 9 },
            "3 of 9 test points are published means: no percentiles, no single runs",
        ),
    ];
    let numbers: BTreeSet<usize> = all.iter().map(|(one, _)| number_of_weakness(one)).collect();
    assert_eq!(numbers, (0..10).collect());
    for (weakness, wanted) in all {
        assert_eq!(text::weakness(&weakness), wanted);
        check(wanted);
        begins_with_a_capital(wanted);
    }
}

fn number_of_condition(condition: &Condition) -> usize {
    match condition {
        Condition::Raw { .. } => 0,
        Condition::Erased => 1,
        Condition::Bus { .. } => 2,
        Condition::BusUnknown => 3,
        Condition::Time { .. } => 4,
        Condition::Direct => 5,
        Condition::Extent { .. } => 6,
        Condition::SpeedClassControl => 7,
        Condition::Span { .. } => 8,
        Condition::Depth { .. } => 9,
        Condition::Repeats { .. } => 10,
        Condition::CommandQueue { .. } => 11,
        Condition::Timeline => 12,
        Condition::Alone => 13,
    }
}

#[test]
fn every_condition_of_a_claim_has_its_sentence() {
    let all = [
        (
            Condition::Raw {
                filesystem: "ext4".to_owned(),
            },
            "the class applies to the raw card, but the test ran on ext4",
        ),
        (
            Condition::Erased,
            "the class applies to erased allocation units; no erase is recorded",
        ),
        (
            Condition::Bus {
                needed: BytesPerSec(30e6),
                ceiling: BytesPerSec(25e6),
            },
            "the bus is too slow: 25 MB/s, and 30 MB/s is needed",
        ),
        (Condition::BusUnknown, "the bus speed is unknown"),
        (
            Condition::Time {
                wanted: Nanos(60 * SEC),
                measured: Nanos(10 * SEC),
            },
            "measured for 10 s, and 60 s is needed",
        ),
        (
            Condition::Direct,
            "needs direct I/O; the page cache was in use",
        ),
        (
            Condition::Extent {
                wanted: GIB,
                written: Bytes(1 << 20),
            },
            "wrote 1 MiB, and 1 GiB is needed",
        ),
        (
            Condition::SpeedClassControl,
            "needs the Speed Class command (CMD20), which Linux does not send",
        ),
        (
            Condition::Span {
                wanted: Bytes(256 << 20),
                used: GIB,
            },
            "random I/O is tested within 256 MiB; these runs used 1 GiB",
        ),
        (
            Condition::Depth {
                wanted: 32,
                used: 1,
            },
            "the class is tested at queue depth 32; these runs used 1",
        ),
        (
            Condition::Repeats { runs: 1 },
            "1 run has no interval; use --repeat=5",
        ),
        (
            Condition::Repeats { runs: 4 },
            "the variation between the 4 runs is unknown",
        ),
        (
            Condition::CommandQueue { iodepth: 1 },
            "A2 is tested with command queue and card cache on; queue depth was 1",
        ),
        (
            Condition::Timeline,
            "needs the slowest interval; only the mean was recorded",
        ),
        (
            Condition::Alone,
            "needs an idle card; the operating system runs from it",
        ),
    ];
    let numbers: BTreeSet<usize> = all
        .iter()
        .map(|(one, _)| number_of_condition(one))
        .collect();
    assert_eq!(numbers, (0..14).collect());
    for (condition, wanted) in all {
        assert_eq!(text::condition(&condition), wanted);
        check(wanted);
    }
}

fn number_of_warning(warning: &LintWarning) -> usize {
    match warning {
        LintWarning::DepthIgnored { .. } => 0,
        LintWarning::DepthBuffered { .. } => 1,
        LintWarning::Buffered { .. } => 2,
        LintWarning::ReadAhead => 3,
        LintWarning::FitsInMemory { .. } => 4,
        LintWarning::NotFlushed => 5,
        LintWarning::SmallFile { .. } => 6,
        LintWarning::Short { .. } => 7,
        LintWarning::EndsEarly { .. } => 8,
        LintWarning::NoRamp => 9,
        LintWarning::OneRun => 10,
        LintWarning::ReadsBack { .. } => 11,
        LintWarning::SameBlocks { .. } => 12,
        LintWarning::Compressible => 13,
        LintWarning::Unit { .. } => 14,
        LintWarning::Misread { .. } => 15,
        LintWarning::Found { .. } => 16,
    }
}

#[test]
fn every_lint_warning_has_its_sentence_and_its_help() {
    let s = str::to_owned;
    let all = [
        LintWarning::DepthIgnored {
            ioengine: s("psync"),
            asked: 8,
        },
        LintWarning::DepthBuffered { asked: 8 },
        LintWarning::Buffered {
            odd_block: Some(Bytes(2300)),
        },
        LintWarning::ReadAhead,
        LintWarning::FitsInMemory {
            size: GIB,
            memory: Bytes(4 << 30),
            odd_block: None,
        },
        LintWarning::NotFlushed,
        LintWarning::SmallFile { size: GIB },
        LintWarning::Short {
            runtime: Nanos(SEC),
            wanted: Nanos(10 * SEC),
        },
        LintWarning::EndsEarly {
            runtime: Nanos(60 * SEC),
            size: GIB,
        },
        LintWarning::NoRamp,
        LintWarning::OneRun,
        LintWarning::ReadsBack { writer: s("w") },
        LintWarning::SameBlocks { clones: 4 },
        LintWarning::Compressible,
        LintWarning::Unit {
            option: s("bs"),
            typed: s("4KiB"),
            means: 4000,
        },
        LintWarning::Misread {
            warning: s("A warning of the parser"),
        },
        LintWarning::Found {
            caveat: Caveat::SystemDisk,
        },
    ];
    let numbers: BTreeSet<usize> = all.iter().map(number_of_warning).collect();
    assert_eq!(numbers, (0..17).collect());
    for warning in &all {
        let (said, help) = (text::lint(warning), text::lint_help(warning));
        check(&said);
        begins_with_a_capital(&said);
        let explains_itself = matches!(
            warning,
            LintWarning::Misread { .. } | LintWarning::Found { .. }
        );
        assert_eq!(help.is_empty(), explains_itself, "{said}");
        if !explains_itself {
            check(&help);
        }
    }
    assert_eq!(text::lint(&all[14]), "bs=4KiB is 4000 bytes here");
    assert!(text::lint_help(&all[14]).starts_with("type 4K for"));
    assert!(text::lint_help(&all[2]).contains("bs=2560"));
}

fn number_of_step(step: &StepKind) -> usize {
    match step {
        StepKind::Filled { .. } => 0,
        StepKind::Discarded { .. } => 1,
        StepKind::Verified => 2,
        StepKind::Partitioned => 3,
        StepKind::Formatted { .. } => 4,
        StepKind::Mounted { .. } => 5,
        StepKind::DirectoryCreated { .. } => 6,
        StepKind::SpaceFilled { .. } => 7,
        StepKind::CachesDropped => 8,
        StepKind::Described { .. } => 9,
    }
}

#[test]
fn every_preparation_step_has_its_phrase() {
    let s = str::to_owned;
    let all = [
        (
            StepKind::Filled {
                with: FillContent::Ones,
            },
            "filled with 0xff",
        ),
        (
            StepKind::Filled {
                with: FillContent::Zeroes,
            },
            "filled with 0x00",
        ),
        (
            StepKind::Filled {
                with: FillContent::Random,
            },
            "filled with random data",
        ),
        (StepKind::Discarded { secure: false }, "discarded (TRIM)"),
        (StepKind::Discarded { secure: true }, "discarded securely"),
        (StepKind::Verified, "verified"),
        (StepKind::Partitioned, "partition table written"),
        (
            StepKind::Formatted {
                command: vec![s("mkfs.vfat"), s("/dev/sdX")],
            },
            "mkfs.vfat /dev/sdX",
        ),
        (
            StepKind::Mounted {
                fs_type: s("ext4"),
                options: s("noatime"),
            },
            "mounted as ext4 with noatime",
        ),
        (
            StepKind::Mounted {
                fs_type: s("vfat"),
                options: s(""),
            },
            "mounted as vfat",
        ),
        (
            StepKind::DirectoryCreated { path: s("/run/x") },
            "directory /run/x created",
        ),
        (
            StepKind::SpaceFilled { size: GIB },
            "1 GiB of the file system filled with random data",
        ),
        (StepKind::CachesDropped, "page cache dropped"),
        (
            StepKind::Described {
                what: s("as it was"),
            },
            "as it was",
        ),
    ];
    let numbers: BTreeSet<usize> = all.iter().map(|(one, _)| number_of_step(one)).collect();
    assert_eq!(numbers, (0..10).collect());
    for (step, wanted) in all {
        assert_eq!(text::step(&step), wanted);
        check(wanted);
    }
}

#[test]
fn a_failure_names_the_rule_or_the_io() {
    let failed = |kind| IoError {
        action: "read".to_owned(),
        op: Some(Op::Read),
        kind,
        file: "f".to_owned(),
        offset: Bytes(512),
        len: Bytes(4096),
        errno: 5,
        at: Nanos(0),
        mismatches: Vec::new(),
    };
    let slow = |latency, max| {
        let (latency, max) = (Nanos(latency), Nanos(max));
        text::failure(&failed(FailureKind::TooSlow { latency, max }))
    };
    assert_eq!(
        slow(12_300_000, 10_000_000),
        "max_latency=10ms: read took 12.3 ms"
    );
    // Rounded, they would look equal.
    assert_eq!(
        slow(10_000_001, 10_000_000),
        "max_latency=10ms: read took 10000001 ns"
    );
    assert_eq!(
        slow(2_000_000, 1_500_000),
        "max_latency=1500us: read took 2 ms"
    );
    let missed = failed(FailureKind::RateMissed { wanted: 10, got: 9 });
    assert_eq!(
        text::failure(&missed),
        "rate_min=10: read reached only 9 B/s"
    );
    let missed = failed(FailureKind::IopsMissed { wanted: 10, got: 9 });
    assert_eq!(
        text::failure(&missed),
        "rate_iops_min=10: read reached only 9 IOPS"
    );
    assert_eq!(
        text::failure(&failed(FailureKind::Io)),
        "read of 4 KiB at byte 512 of f: Input/output error (os error 5)"
    );
}
