//! Hand-written findings: results of the standard suite on realistic cards, and on hostile ones.

pub(crate) mod campaign;
mod findings;
pub(crate) mod lives;
pub(crate) mod paths;
pub(crate) mod traced;

#[allow(unused_imports, reason = "not every test file shows conclusions")]
pub(crate) use findings::findings;
use hakaru_model::caveat::Caveat;
use hakaru_model::conclusion::{ConcludedRate, FasterSide, PairConclusion};
use hakaru_model::facts::*;
use hakaru_model::finding::*;
use hakaru_model::job::{BlockSize, Op};
use hakaru_model::units::{Bytes, BytesPerSec, Nanos, Quantile};

/// 2026-01-05 10:00 UTC.
const BEGUN: i64 = 1_767_607_200_000;

/// Statistics of these values, as defined by the model.
pub(crate) fn estimate(values: &[f64]) -> Estimate {
    let n = values.len() as f64;
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let mean = values.iter().sum::<f64>() / n;
    let deviation = (n > 1.0)
        .then(|| (values.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / (n - 1.0)).sqrt());
    let median = (sorted[(sorted.len() - 1) / 2] + sorted[sorted.len() / 2]) / 2.0;
    Estimate {
        values: values.to_vec(),
        mean,
        deviation,
        median,
        mad: 0.0,
        min: sorted[0],
        max: sorted[sorted.len() - 1],
        // Student's t for 10 runs; precise enough for a chart.
        ci95: deviation.map(|d| (mean - 2.26 * d / n.sqrt(), mean + 2.26 * d / n.sqrt())),
        rounding: 0.0,
        interval_caveats: if deviation.is_some() {
            vec![IntervalCaveat::FewRuns]
        } else {
            Vec::new()
        },
    }
}

/// Values around a mean, the same at each call.
fn around(mean: f64, deviation: f64, runs: usize) -> Estimate {
    let wave = [0.1, -1.2, 0.9, 1.6, -0.4, -0.9, 0.5, 1.1, -1.6, -0.1];
    estimate(
        &(0..runs)
            .map(|i| mean + deviation * wave[i % wave.len()])
            .collect::<Vec<_>>(),
    )
}

/// A latency distribution: most values are near `typical`, and the slowest 1% extends to `worst`.
fn latency(count: u64, typical: f64, worst: f64) -> LatencySummary {
    let value = |q: f64| {
        let nines = -(1.0 - q).max(1.0 / count as f64).log10();
        let body = typical * (0.82 + 0.22 * nines);
        let tail = 1.0 / (1.0 + (-(nines - 2.6) * 2.4).exp());
        Nanos((body + (worst - body).max(0.0) * tail.powi(2)) as u64)
    };
    let shares = (0..20)
        .map(|i| f64::from(i) / 20.0)
        .chain((1..=40).map(|i| 1.0 - 0.05 * 0.8f64.powi(i)));
    let curve = shares.chain([1.0]).map(|q| (q, value(q))).collect();
    let wanted = [0.5, 0.95, 0.99, 0.999, 0.9999];
    let known = wanted.iter().filter(|&&q| (1.0 - q) * count as f64 >= 10.0);
    let quantiles = known
        .map(|&q| (Quantile::new(q).unwrap(), value(q)))
        .collect();
    let (min, max) = (value(0.0), value(1.0));
    LatencySummary {
        count,
        min,
        max,
        mean_ns: typical * 1.08,
        deviation_ns: typical * 0.6,
        quantiles,
        curve,
    }
}

/// A phase of the standard suite.
struct Card {
    phase: &'static str,
    op: Op,
    workload: &'static str,
    block: f64,
    bandwidth: f64,
    deviation: f64,
    typical_ns: f64,
    worst_ns: f64,
}

impl Card {
    fn shape(&self) -> WorkloadShape {
        WorkloadShape {
            random: self.workload.starts_with("random"),
            read_percent: match (self.workload.contains("read and write"), self.op) {
                (true, _) => 50,
                (false, Op::Read) => 100,
                (false, Op::Write | Op::Trim) => 0,
            },
            block: Bytes(self.block as u64),
            iodepth: 1,
            workers: 1,
            sync_every: u32::from(self.workload.contains("fsync")),
            direct: true,
            ..WorkloadShape::default()
        }
    }

    fn job(&self) -> JobDescription {
        let shape = self.shape();
        JobDescription {
            op: Some(self.op),
            random: Some(shape.random),
            mix_percent: Some(shape.read_percent).filter(|share| *share == 50),
            block: Some(BlockSize::Fixed(shape.block)),
            iodepth: Some(shape.iodepth),
            numjobs: 1,
            sync_every: shape.sync_every,
            ..JobDescription::default()
        }
    }

    fn summary(&self, runs: usize, seconds: u64) -> PhaseSummary {
        let bandwidth = around(self.bandwidth, self.deviation, runs);
        let values = || bandwidth.values.iter();
        let iops: Vec<f64> = values().map(|b| b / self.block).collect();
        let iops = estimate(&iops);
        let count = (iops.mean * seconds as f64) as u64 * runs as u64;
        let timelines = values().map(|&mean| level(mean, seconds)).collect();
        PhaseSummary {
            phase: self.phase.to_owned(),
            op: self.op,
            workload: self.workload.to_owned(),
            iops,
            latency: Some(latency(count, self.typical_ns, self.worst_ns)),
            sync: None,
            timelines,
            bandwidth,
            sustained: None,
            amplification: None,
            errors: 0,
            detail: PhaseDetail {
                shape: Some(self.shape()),
                jobs: vec![self.job()],
                measured: Nanos::from_secs(seconds),
                headline: match self.block < 65536.0 {
                    true => HeadlineRate::Iops,
                    false => HeadlineRate::Bandwidth,
                },
                ..PhaseDetail::default()
            },
        }
    }
}

/// Bandwidth over time that varies by a few percent.
fn level(mean: f64, seconds: u64) -> Vec<TimelinePoint> {
    (1..=seconds)
        .map(|s| point(s, mean * (1.0 + 0.03 * ((s * 7 % 11) as f64 / 5.0 - 1.0))))
        .collect()
}

fn point(second: u64, bandwidth: f64) -> TimelinePoint {
    TimelinePoint {
        at_s: second as f64,
        bandwidth: BytesPerSec(bandwidth),
        iops: bandwidth / 1048576.0,
    }
}

/// A write that drops from one level to another, with occasional stalls.
fn falling(seconds: u64, fall: u64, before: f64, after: f64) -> Vec<TimelinePoint> {
    let at = |s: u64| match s {
        s if s < fall => before * (1.0 + 0.02 * ((s * 5 % 7) as f64 / 3.0 - 1.0)),
        s if s % 23 == 0 => after * 0.35,
        s => after * (1.0 + 0.06 * ((s * 3 % 13) as f64 / 6.0 - 1.0)),
    };
    (1..=seconds).map(|s| point(s, at(s))).collect()
}

/// The standard suite on an endurance card in a Raspberry Pi 4, ten runs.
pub(crate) fn sandisk() -> Summary {
    suite("SanDisk MAX Endurance", "ext4", 10, 1.0)
}

/// The same card through vfat, with slower random writes.
pub(crate) fn sandisk_vfat() -> Summary {
    let mut summary = suite("SanDisk MAX Endurance", "vfat", 10, 0.8);
    let write = summary
        .phases
        .iter_mut()
        .find(|p| p.phase == "rand-write")
        .unwrap();
    write.bandwidth = around(0.31e6, 0.21e6, 10);
    write.iops = around(76.0, 51.0, 10);
    write.amplification = Some(around(11.4, 2.1, 10));
    summary
}

/// Another card with only one run, without the last two phases.
pub(crate) fn kioxia() -> Summary {
    let mut summary = suite("KIOXIA EXCERIA High Endurance", "ext4", 1, 1.15);
    summary.phases.truncate(6);
    summary
        .caveats
        .retain(|caveat| !matches!(caveat, Caveat::Cliff { .. }));
    summary
}

fn suite(card: &str, fs_type: &str, runs: usize, speed: f64) -> Summary {
    let m = 1e6 * speed;
    let phases = [
        (
            "seq-write",
            Op::Write,
            "sequential write, 1 MiB, queue depth 1",
            1048576.0,
            33.6 * m,
            0.2 * m,
            30e6,
            310e6,
        ),
        (
            "seq-read",
            Op::Read,
            "sequential read, 1 MiB, queue depth 1",
            1048576.0,
            40.5 * m,
            0.3 * m,
            25e6,
            31e6,
        ),
        (
            "rand-write",
            Op::Write,
            "random write, 4 KiB, queue depth 1",
            4096.0,
            2.5 * m,
            0.06 * m,
            1.31e6,
            182e6,
        ),
        (
            "rand-read",
            Op::Read,
            "random read, 4 KiB, queue depth 1",
            4096.0,
            6.3 * m,
            0.01 * m,
            0.61e6,
            4.2e6,
        ),
        (
            "mixed",
            Op::Read,
            "sequential read and write, 1 MiB, queue depth 1",
            1048576.0,
            17.9 * m,
            0.9 * m,
            24e6,
            95e6,
        ),
        (
            "mixed",
            Op::Write,
            "sequential read and write, 1 MiB, queue depth 1",
            1048576.0,
            17.2 * m,
            0.8 * m,
            33e6,
            402e6,
        ),
        (
            "durable",
            Op::Write,
            "sequential write, 4 KiB, fsync after each",
            4096.0,
            0.94 * m,
            0.04 * m,
            0.9e6,
            21e6,
        ),
        (
            "sustained",
            Op::Write,
            "sequential write, 1 MiB, for 5 minutes",
            1048576.0,
            16.4 * m,
            1.1 * m,
            31e6,
            890e6,
        ),
    ];
    let mut phases: Vec<PhaseSummary> = phases
        .into_iter()
        .map(
            |(phase, op, workload, block, bandwidth, deviation, typical_ns, worst_ns)| {
                let (typical_ns, worst_ns) = (typical_ns / speed, worst_ns / speed.powi(3));
                Card {
                    phase,
                    op,
                    workload,
                    block,
                    bandwidth,
                    deviation,
                    typical_ns,
                    worst_ns,
                }
                .summary(runs, 60)
            },
        )
        .collect();
    phases[2].amplification = Some(around(1.31, 0.02, runs));
    phases[6].sync = Some(latency(9_600 * runs as u64, 3.4e6, 240e6));
    sustain(&mut phases[7], runs, speed);
    Summary {
        series: "019b8d5e-0001-7001-8000-000000001001".into(),
        runs: (0..runs)
            .map(|i| format!("019b8d5e-0001-7001-8000-00000000{:04x}", 0x1001 + i))
            .collect(),
        scenario: "standard".into(),
        started_unix_ms: BEGUN,
        last_started_unix_ms: BEGUN,
        origin: SummaryOrigin::Measured {
            version: "0.1.0".into(),
        },
        target: identity(card, fs_type),
        environment: environment(),
        phases,
        caveats: caveats(runs),
        caveat_phases: Default::default(),
        overhead_ns: Some(81.3),
        paths: Vec::new(),
        annotations: Default::default(),
        traced: Vec::new(),
        prepared: Vec::new(),
        path_differences: Vec::new(),
    }
}

fn sustain(phase: &mut PhaseSummary, runs: usize, speed: f64) {
    phase.detail.measured = Nanos::from_secs(300);
    let (before, after) = (34.1e6 * speed, 11.9e6 * speed);
    phase.timelines = (0..runs)
        .map(|i| falling(300, 168 + 3 * i as u64, before, after))
        .collect();
    let cliff = Cliff {
        at: Bytes((5.6 * speed * (1u64 << 30) as f64) as u64),
        after_time: Nanos::from_secs(176),
        before: BytesPerSec(before),
        after: BytesPerSec(after),
        proven: true,
    };
    phase.sustained = Some(Sustained {
        min: BytesPerSec(after * 0.35),
        max: BytesPerSec(before * 1.02),
        mean: BytesPerSec(22.6e6 * speed),
        deviation: BytesPerSec(10.8e6 * speed),
        interval: None,
        cliff: Some(cliff.clone()),
        falls: vec![cliff],
        swing: None,
    });
}

fn caveats(runs: usize) -> Vec<Caveat> {
    let mut caveats = vec![
        Caveat::Cliff {
            phase: "sustained".into(),
            at: Bytes(6 << 30),
            before: BytesPerSec(34.1e6),
            after: BytesPerSec(11.9e6),
        },
        Caveat::PowerSaving {
            governor: "ondemand".into(),
        },
    ];
    if runs < 5 {
        caveats.insert(0, Caveat::FewRuns { runs: runs as u32 });
    }
    caveats
}

fn identity(card: &str, fs_type: &str) -> Identity {
    Identity {
        path: "/mnt/card/hakaru.tmp".into(),
        kind: TargetKind::File,
        filesystem: Some(Filesystem {
            fs_type: fs_type.into(),
            mount_point: "/mnt/card".into(),
            source: "/dev/mmcblk0p1".into(),
            options: "rw,noatime,stripe=1024".into(),
            size: Bytes(31_268_536_320),
            free: Bytes(29_000_000_000),
        }),
        device: Fact::Known(device(card)),
        system_disk: false,
        label: None,
    }
}

/// Parsed from JSON text, so that fields added later have their defaults.
fn device(card: &str) -> DeviceIdentity {
    let known = r#"{
        "node": "/dev/mmcblk0", "kname": "mmcblk0", "model": {"known": ""}, "serial": {"known": "0x4d1f9e22"},
        "size": 31914983424, "logical_block": 512, "physical_block": 512, "rotational": {"known": false},
        "scheduler": {"known": "mq-deadline"}, "write_cache": {"known": "write through"},
        "max_sectors_kb": {"known": 512}, "nr_requests": {"known": 256}, "discard_max": {"known": 0},
        "zoned": {"known": "none"}, "read_only": false, "chain": ["/dev/mmcblk0p1", "/dev/mmcblk0"],
        "bus": {"type": "mmc", "width_bits": {"known": 4}, "clock_hz": {"known": 50000000},
                "timing": {"known": "uhs DDR50"}, "ceiling": {"known": 50000000}}, "card": null}"#;
    let registers = CardRegisters {
        maker: Fact::Known("SanDisk".into()),
        name: Fact::Known("SR32G".into()),
        date: Fact::Known("2023-08".into()),
        speed_class: Fact::Known(10),
        uhs_grade: Fact::Known(3),
        video_class: Fact::Known(30),
        app_class: Fact::Known(0),
        allocation_unit: Fact::Known(Bytes(4 << 20)),
        cid: Fact::Unknown(UnknownReason::Text("the reader hides it".into())),
        ..CardRegisters::default()
    };
    let device: DeviceIdentity = serde_json::from_str(known).unwrap();
    DeviceIdentity {
        model: Fact::Known(card.into()),
        card: Some(registers),
        ..device
    }
}

fn environment() -> Environment {
    Environment {
        hostname: "pi4".into(),
        kernel: "Linux 6.12.34+rpt-rpi-v8".into(),
        arch: "aarch64".into(),
        distribution: Fact::Known("Debian GNU/Linux 12 (bookworm)".into()),
        board: Fact::Known("Raspberry Pi 4 Model B Rev 1.4".into()),
        cpu: Fact::Known("Cortex-A72".into()),
        cpu_count: 4,
        governor: Fact::Known("ondemand".into()),
        memory: Bytes(3_972_247_552),
        load_percent: Fact::Known(12),
        temperature_mc: Fact::Known(48_200),
        throttled: Fact::Known(0),
        io_pressure: Fact::default(),
        clock: "the generic timer, 54 MHz".into(),
    }
}

/// A summary with the given text in all text fields.
pub(crate) fn hostile(text: &str) -> Summary {
    let mut summary = sandisk();
    summary.series = text.into();
    summary.runs = vec![text.into()];
    summary.scenario = text.into();
    summary.origin = SummaryOrigin::Imported {
        program: text.into(),
        disks: text.into(),
        zone_assumed: false,
    };
    summary.target.path = text.into();
    summary.environment.hostname = text.into();
    summary.environment.kernel = text.into();
    summary.environment.board = Fact::Unknown(UnknownReason::Text(text.into()));
    if let Fact::Known(device) = &mut summary.target.device {
        device.model = Fact::Known(text.into());
        device.serial = Fact::Known(text.into());
        device.bus = Bus::Other { name: text.into() };
    }
    if let Some(filesystem) = &mut summary.target.filesystem {
        filesystem.fs_type = text.into();
        filesystem.options = text.into();
    }
    for phase in &mut summary.phases {
        phase.phase = text.into();
        phase.workload = text.into();
        phase.timelines.truncate(1);
    }
    summary.caveats = vec![Caveat::PowerSaving {
        governor: text.into(),
    }];
    summary
}

/// Comparisons of two of three phases of [`sandisk`] and [`sandisk_vfat`], with every kind of verdict.
pub(crate) fn comparisons() -> Vec<Comparison> {
    let (a, b) = (sandisk(), sandisk_vfat());
    let compare = |phase: usize, ratio_ci95, p: Option<f64>, verdict| {
        let (x, y) = (&a.phases[phase], &b.phases[phase]);
        let runs = if p.is_some() { 10 } else { 2 };
        Comparison {
            quantity: format!("{} bandwidth", x.phase).into(),
            unit: "MB/s".into(),
            a: estimate(
                &x.bandwidth
                    .values
                    .iter()
                    .take(runs)
                    .map(|v| v / 1e6)
                    .collect::<Vec<_>>(),
            )
            .into(),
            b: estimate(
                &y.bandwidth
                    .values
                    .iter()
                    .take(runs)
                    .map(|v| v / 1e6)
                    .collect::<Vec<_>>(),
            )
            .into(),
            ratio: y.bandwidth.mean / x.bandwidth.mean,
            ratio_ci95,
            p_value: p,
            p_value_ranks: p,
            p_adjusted: p,
            p_equivalence: p.map(|p| {
                if verdict == Verdict::Equivalent {
                    0.002
                } else {
                    1.0 - p
                }
            }),
            family: 4,
            primary: true,
            interval_caveats: if p.is_some() {
                vec![IntervalCaveat::FewRuns]
            } else {
                Vec::new()
            },
            effect: None,
            effect_ci95: None,
            delta: None,
            verdict,
        }
    };
    vec![
        compare(0, Some((0.798, 0.803)), Some(1e-9), Verdict::Different),
        compare(2, Some((0.05, 0.21)), Some(0.0004), Verdict::Different),
        compare(3, Some((0.97, 1.02)), Some(0.41), Verdict::Equivalent),
        compare(4, None, None, Verdict::Undecided { needed: Some(7) }),
    ]
}

/// A comparison of two series for a terminal without colors.
pub(crate) fn compared(a: &Summary, b: &Summary, width: usize) -> String {
    let phases = [(&a.phases[2], &b.phases[2]), (&a.phases[7], &b.phases[7])];
    let comparisons = comparisons();
    let conclusion = PairConclusion::Faster(FasterSide {
        second: false,
        rate: ConcludedRate {
            means: [343.0, 670.0],
            by_iops: true,
            runs: [2, 2],
            phase: "rand-write".to_owned(),
            op: Op::Write,
            shape: a.phases[2].detail.shape,
            ambiguous: false,
            ratio: 8.06,
            ratio_ci95: Some((4.76, 20.0)),
        },
        deviation: Some(5.7),
        faster: 2,
        slower: 0,
        of: 4,
    });
    let of = hakaru_report::PairReport {
        sides: (a, b),
        names: ("ext4", "vfat"),
        phases: &phases,
        comparisons: &comparisons,
        findings: &[],
        conclusion: Some(&conclusion),
    };
    hakaru_report::comparison_terminal(&of, width, false)
}

/// A short series with every kind of fact: two runs, three phases, few points.
pub(crate) fn small() -> Summary {
    let mut summary = suite("SanDisk MAX Endurance", "ext4", 2, 1.0);
    summary.phases = [2, 6, 7].map(|i| summary.phases[i].clone()).to_vec();
    for phase in &mut summary.phases {
        phase.timelines.iter_mut().for_each(|line| line.truncate(6));
        for latency in [&mut phase.latency, &mut phase.sync].into_iter().flatten() {
            latency.curve = latency.curve.iter().step_by(6).copied().collect();
        }
    }
    summary.phases[0].errors = 3;
    summary
}

/// Checks that all tags are closed in order and all attributes are quoted, as XML requires; only the end tags of cells and
/// rows may be left out.
pub(crate) fn well_formed(text: &str) -> Result<(), String> {
    let mut open: Vec<&str> = Vec::new();
    let mut rest = text;
    while let Some((_, behind)) = rest.split_once('<') {
        let Some((tag, behind)) = behind.split_once('>') else {
            return Err(format!("no end of <{behind}"));
        };
        rest = behind;
        if !tag.matches('"').count().is_multiple_of(2) {
            return Err(format!("an attribute of <{tag}> holds a mark"));
        }
        let mut words = tag.trim_start_matches('/').split([' ', '/']);
        let name = words.next().unwrap_or_default();
        for implied in implied_ends(tag.starts_with('/'), name) {
            open.pop_if(|last| implied.contains(last));
        }
        match (tag.starts_with('/'), tag.ends_with('/')) {
            _ if tag.starts_with('!') || ["meta", "wbr"].contains(&name) => {}
            (true, _) if open.pop() != Some(name) => {
                return Err(format!("</{name}> closes nothing: {open:?}"));
            }
            (true, _) | (false, true) => {}
            (false, false) => open.push(name),
        }
    }
    match open.is_empty() {
        true => Ok(()),
        false => Err(format!("never closed: {open:?}")),
    }
}

/// Elements that a tag ends if they are still open, in order.
fn implied_ends(is_end: bool, name: &str) -> &'static [&'static [&'static str]] {
    match (is_end, name) {
        (false, "td" | "th") | (true, "tr") => &[&["td", "th"]],
        (false, "tr") | (true, "thead" | "tbody" | "table") => &[&["td", "th"], &["tr"]],
        _ => &[],
    }
}
