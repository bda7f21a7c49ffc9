//! Hand-written paths of I/Os: durable writes through several layers of one card, a lossy trace, and a device without
//! requests.

use super::{campaign, sandisk, sandisk_vfat, traced as findings};
use hakaru_model::campaign::CampaignSummary;
use hakaru_model::finding::Summary;
use hakaru_model::io_path::*;
use hakaru_model::job::Op;
use hakaru_model::record::Latency;
use hakaru_model::units::{Bytes, Nanos};

/// Requests of one class that all have the same size, a median near `device_us` and a tail.
struct Class {
    class: IoClass,
    op: Option<Op>,
    requests: u64,
    bytes: u64,
    merges: u64,
    device_us: u64,
}

/// Latencies around a typical value, with a slow request in fifty.
fn latency(count: u64, typical_us: u64) -> Latency {
    let mut latency = Latency::with_histogram();
    for i in 0..count {
        let wave = 80 + i * 37 % 41;
        let slow = if i % 50 == 49 { 6 } else { 1 };
        latency.record(Nanos(typical_us * 10 * wave * slow));
    }
    latency
}

impl Class {
    fn traffic(&self) -> ClassTraffic {
        let size = Bytes(self.bytes / self.requests.max(1));
        let op = self.op.unwrap_or(Op::Write);
        let sizes = match self.op {
            Some(_) => vec![SizeCount {
                op,
                size,
                count: self.requests,
            }],
            None => Vec::new(),
        };
        let issuer = Issuer {
            kind: match self.class {
                IoClass::Journal => IssuerKind::Journal,
                IoClass::Bitmap | IoClass::InodeTable => IssuerKind::Kernel,
                IoClass::Unknown => IssuerKind::OtherProcess,
                _ => IssuerKind::Worker,
            },
            name: match self.class {
                IoClass::Journal => "jbd2/mmcblk0p2",
                IoClass::Bitmap | IoClass::InodeTable => "kworker",
                IoClass::Unknown => "systemd-journal",
                _ => "hakaru",
            }
            .to_owned(),
            bios: self.requests + self.merges,
            bytes: Bytes(self.bytes),
        };
        ClassTraffic {
            class: self.class,
            op: self.op,
            requests: self.requests,
            bytes: Bytes(self.bytes),
            earlier_requests: 0,
            earlier_bytes: Bytes(0),
            runs: self.requests,
            bios: self.requests + self.merges,
            merges: self.merges,
            splits: 0,
            requeues: 0,
            errors: 0,
            sizes,
            queue: latency(self.requests.min(2000), 50),
            device: latency(self.requests.min(2000), self.device_us),
            commands: None,
            issuers: vec![issuer],
        }
    }
}

/// A class of writes: class, requests, bytes, merged bios, microseconds on the device.
fn written(class: IoClass, requests: u64, bytes: u64, merges: u64, device_us: u64) -> Class {
    Class {
        class,
        op: Some(Op::Write),
        requests,
        bytes,
        merges,
        device_us,
    }
}

/// Number of synced writes.
const WRITES: u64 = 4096;
/// Their size.
const SIZE: u64 = 4096;

/// Parts in the order of [`TimePart::ALL`], from microseconds.
fn parts(micros: [f64; 8]) -> TimeParts {
    TimeParts(micros.map(|micros| micros * 1e3))
}

fn scaled(parts: &TimeParts, factors: [f64; 8]) -> TimeParts {
    let mut scaled = *parts;
    for (part, factor) in scaled.0.iter_mut().zip(factors) {
        *part *= factor;
    }
    scaled
}

/// Writes with an `fsync` each.
fn durable(median: [f64; 8]) -> OperationPath {
    let median = parts(median);
    let mean = scaled(&median, [1.1, 1.05, 1.08, 1.4, 1.0, 1.1, 1.05, 1.0]);
    OperationPath {
        op: Some(Op::Write),
        with_sync: true,
        count: WRITES,
        mean,
        mean_latency: Nanos(mean.total() as u64),
        median: Some(median),
        p99: Some(scaled(&median, [3.9, 2.2, 2.4, 9.0, 3.0, 1.8, 2.0, 1.2])),
        classes: Vec::new(),
        behind: Vec::new(),
    }
}

/// A disk of 64 GB with a partition for the tests.
fn disk(filesystem: Option<&str>) -> TracedDisk {
    TracedDisk {
        name: "mmcblk0".to_owned(),
        partition: filesystem.map(|_| (8192, 125_000_000)),
        filesystem: filesystem.map(str::to_owned),
        flushes_sent: false,
        bio_based: false,
        size: Bytes(64 << 30),
    }
}

fn tracer(events: u64, lost: u64) -> TracerReport {
    let event = |name: &str, missing: u64| EventCount {
        name: name.to_owned(),
        counted: events,
        recorded: events - lost - missing,
        lost,
        missing,
    };
    TracerReport {
        method: TraceMethod::Perf,
        events: vec![
            event("block_bio_queue", 0),
            event("block_rq_issue", 0),
            event("block_rq_complete", lost / 4),
        ],
        ring: Bytes(1 << 20),
        unseen_completions: 0,
        unmatched: 0,
        foreign_threads: false,
        uncounted: false,
    }
}

/// An area of the disk: class, first sector, sectors.
fn area(class: IoClass, sector: u64, sectors: u64) -> LayoutRange {
    LayoutRange {
        sector,
        sectors,
        class,
    }
}

/// Sampled requests: the writes of each class walk through their area, or around in it.
fn sample(classes: &[Class], layout: &[LayoutRange], window: Nanos, each: u64) -> RequestSample {
    let mut requests = Vec::new();
    for class in classes {
        let areas: Vec<&LayoutRange> = layout
            .iter()
            .filter(|area| area.class == class.class)
            .collect();
        let count = class.requests.min(each);
        for i in 0..count {
            let area = areas.get(i as usize % areas.len().max(1));
            let Some(area) = area else { continue };
            let step = match class.class {
                IoClass::Journal => i * 24 % area.sectors.max(1),
                IoClass::Data => i * 7919 * 8 % area.sectors.max(1),
                _ => i * 8 % area.sectors.max(1),
            };
            requests.push(SampledRequest {
                sector: area.sector + step,
                sectors: (class.bytes / class.requests.max(1) / 512).max(1) as u32,
                op: class.op,
                class: class.class,
                queued: Nanos(window.0 / count * i),
                waited: Nanos(50_000),
                served: Nanos(class.device_us * 1000),
                command: None,
            });
        }
    }
    requests.sort_by_key(|request| request.queued);
    RequestSample {
        drawn_from: classes
            .iter()
            .filter(|class| class.op.is_some())
            .map(|class| class.requests)
            .sum(),
        requests,
    }
}

fn path(
    disk: TracedDisk,
    classes: Vec<Class>,
    layout: Vec<LayoutRange>,
    of: OperationPath,
) -> IoPath {
    let window = Nanos((of.mean.total() * of.count as f64 * 1.01) as u64);
    let on_device = TimePart::Data as usize..=TimePart::Metadata as usize;
    let device: f64 = of.mean.0[on_device].iter().sum::<f64>() + of.mean.of(TimePart::Flush);
    let written = classes.iter().map(|class| class.bytes).sum();
    IoPath {
        disk,
        tracer: tracer(41_902, 0),
        window,
        busy: Nanos((device * of.count as f64) as u64),
        flush_only: Nanos(0),
        mean_depth: 0.7,
        asked: vec![SizeCount {
            op: Op::Write,
            size: Bytes(SIZE),
            count: of.count,
        }],
        sample: sample(&classes, &layout, window, 600),
        classes: classes.iter().map(Class::traffic).collect(),
        operations: vec![of],
        operations_limit: None,
        depth: Vec::new(),
        layout,
        layout_gaps: Vec::new(),
        counters: Some(DiskTotals {
            read: Bytes(0),
            written: Bytes(written),
            discarded: Bytes(0),
            flushes: None,
        }),
        edges: EdgeRequests::default(),
        classified_early: 0,
        status_commands: 0,
        cost: Some(TraceCost {
            mean: 0.011,
            margin: 0.006,
            pairs: 8,
        }),
        cost_unknown: None,
    }
}

/// ext4 on a device with a volatile cache: journal in two requests a write, flushes.
pub(crate) fn ext4() -> IoPath {
    let mut flush = written(IoClass::Flush, 2 * WRITES, 0, 0, 92);
    flush.op = None;
    let classes = vec![
        written(IoClass::Data, WRITES, WRITES * SIZE, 0, 206),
        written(IoClass::Journal, 2 * WRITES, WRITES * 5181, 409, 139),
        written(IoClass::Bitmap, 210, 860_160, 12, 310),
        written(IoClass::InodeTable, 200, 1_341_440, 30, 320),
        written(IoClass::Unknown, 12, 98_304, 0, 330),
        flush,
    ];
    let mut layout = vec![
        area(IoClass::Superblock, 8192, 8),
        area(IoClass::GroupDescriptors, 8200, 64),
    ];
    for group in 0..12 {
        let start = 9000 + group * 262_144;
        layout.extend([
            area(IoClass::Bitmap, start, 16),
            area(IoClass::InodeTable, start + 16, 4096),
        ]);
    }
    layout.push(area(IoClass::Journal, 1_500_000, 131_072));
    layout.push(area(IoClass::Data, 1_900_000, 524_288));
    layout.sort_by_key(|area| area.sector);
    let disk = TracedDisk {
        flushes_sent: true,
        ..disk(Some("ext4"))
    };
    let median = [181.8, 206.0, 278.1, 0.0, 52.7, 1055.5, 31.1, 69.8];
    path(disk, classes, layout, durable(median))
}

/// vfat on a card that reports a write-through cache: data, both FATs, directory.
pub(crate) fn vfat() -> IoPath {
    let classes = vec![
        written(IoClass::Data, WRITES, WRITES * SIZE, 0, 2310),
        written(IoClass::Fat1, WRITES, WRITES * 543, 0, 2240),
        written(IoClass::Fat2, WRITES, WRITES * 543, 0, 2240),
        written(IoClass::Directory, WRITES, WRITES * 512, 0, 2180),
    ];
    let layout = vec![
        area(IoClass::Superblock, 8192, 32),
        area(IoClass::Fat1, 8224, 15_000),
        area(IoClass::Fat2, 23_224, 15_000),
        area(IoClass::Directory, 38_224, 64),
        area(IoClass::Data, 40_000, 524_288),
    ];
    let median = [0.0, 2310.0, 6660.0, 0.0, 410.0, 2020.0, 0.0, 190.0];
    path(disk(Some("vfat")), classes, layout, durable(median))
}

/// F2FS: data and one node block.
pub(crate) fn f2fs() -> IoPath {
    let classes = vec![
        written(IoClass::Data, WRITES, WRITES * SIZE, 0, 2290),
        written(IoClass::Node, WRITES, WRITES * SIZE, 0, 2250),
    ];
    let layout = vec![
        area(IoClass::Superblock, 8192, 16),
        area(IoClass::Checkpoint, 12_288, 8192),
        area(IoClass::SegmentTable, 20_480, 8192),
        area(IoClass::NodeAddressTable, 28_672, 65_536),
        area(IoClass::SegmentSummary, 94_208, 65_536),
        area(IoClass::Node, 200_000, 262_144),
        area(IoClass::Data, 500_000, 524_288),
    ];
    let median = [0.0, 2290.0, 2250.0, 0.0, 205.0, 1420.0, 0.0, 895.0];
    path(disk(Some("f2fs")), classes, layout, durable(median))
}

/// The raw device: random writes, over a million addresses in the picture.
pub(crate) fn raw() -> IoPath {
    let classes = vec![written(IoClass::Data, 20_000, 20_000 * SIZE, 0, 1900)];
    let layout = vec![area(IoClass::Data, 0, 4 << 21)];
    let of = OperationPath {
        with_sync: false,
        count: 20_000,
        ..durable([0.0, 1900.0, 0.0, 0.0, 9.0, 31.0, 0.0, 12.0])
    };
    let mut path = path(disk(None), classes, layout, of);
    path.sample = sample(
        &[written(IoClass::Data, 20_000, 20_000 * SIZE, 0, 1900)],
        &path.layout,
        path.window,
        12_000,
    );
    path
}

/// A trace with many lost events, other users, early classification, and no cost.
pub(crate) fn lossy() -> IoPath {
    let mut path = ext4();
    path.tracer = tracer(41_902, 964);
    path.tracer.method = TraceMethod::Ftrace;
    path.tracer.unseen_completions = 241;
    path.tracer.unmatched = 17;
    path.classified_early = 5120;
    path.operations_limit = Some(1_000_000);
    path.cost = None;
    path.layout_gaps = vec![LayoutGap::MetadataByFlag];
    if let Some(counters) = &mut path.counters {
        counters.written = Bytes(counters.written.0 + (3 << 20));
    }
    path
}

/// A device that takes bios: nothing is merged, and device time is from queue to completion.
pub(crate) fn bio_device() -> IoPath {
    let mut path = raw();
    path.disk = TracedDisk {
        name: "zram0".to_owned(),
        bio_based: true,
        size: Bytes(1 << 30),
        ..disk(None)
    };
    let read = Class {
        op: Some(Op::Read),
        ..written(IoClass::Data, 8000, 8000 * 16384, 0, 3)
    };
    path.classes.insert(0, read.traffic());
    path.asked.insert(
        0,
        SizeCount {
            op: Op::Read,
            size: Bytes(16384),
            count: 8000,
        },
    );
    path.sample.requests.truncate(800);
    path
}

/// A series whose first run was traced.
pub(crate) fn traced(mut summary: Summary, paths: Vec<(&str, IoPath)>) -> Summary {
    for (phase, path) in paths {
        findings::add(&mut summary, phase, path);
    }
    summary
}

/// Compares the traced runs of all series with those of the first.
pub(crate) fn compared(mut all: Vec<Summary>) -> Vec<Summary> {
    for (number, summary) in all.iter_mut().enumerate() {
        summary.series = format!("{} {number}", summary.series);
    }
    let (first, others) = all.split_first_mut().expect("series to compare");
    for other in others {
        findings::compare(first, other);
    }
    all
}

/// Durable writes through ext4.
pub(crate) fn traced_ext4() -> Summary {
    traced(sandisk(), vec![("durable", ext4())])
}

/// Durable writes through vfat.
pub(crate) fn traced_vfat() -> Summary {
    traced(sandisk_vfat(), vec![("durable", vfat())])
}

/// Several traced phases.
pub(crate) fn traced_suite() -> Summary {
    let phases = vec![
        ("rand-write", raw()),
        ("mixed", bio_device()),
        ("durable", lossy()),
    ];
    traced(sandisk(), phases)
}

/// Durable writes on the raw card.
pub(crate) fn raw_durable() -> IoPath {
    let classes = vec![written(IoClass::Data, WRITES, WRITES * SIZE, 0, 2280)];
    let layout = vec![area(IoClass::Data, 0, 524_288)];
    let median = [0.0, 2280.0, 0.0, 0.0, 102.0, 610.0, 0.0, 40.0];
    path(disk(None), classes, layout, durable(median))
}

/// A campaign of two cards whose layers were traced.
pub(crate) fn traced_campaign() -> CampaignSummary {
    let mut campaign = campaign::campaign();
    for layer in campaign.cards.iter_mut().flat_map(|card| &mut card.layers) {
        let path = match layer.layer.as_str() {
            "raw" => raw_durable(),
            _ => vfat(),
        };
        layer.summary = traced(layer.summary.clone(), vec![("durable", path)]);
    }
    for (number, card) in campaign.cards.iter_mut().enumerate() {
        let (reference, others) = card.layers.split_first_mut().expect("layers");
        reference.summary.series = format!("raw-{number}");
        for layer in others {
            findings::compare(&reference.summary, &mut layer.summary);
        }
    }
    campaign
}

/// A path with this text in all text fields.
pub(crate) fn hostile_path(text: &str) -> IoPath {
    let mut path = lossy();
    path.disk.name = text.to_owned();
    path.disk.filesystem = Some(text.to_owned());
    path.layout_gaps = vec![LayoutGap::InlineData {
        file: text.to_owned(),
    }];
    for class in &mut path.classes {
        for issuer in &mut class.issuers {
            issuer.name = text.to_owned();
        }
    }
    path
}
