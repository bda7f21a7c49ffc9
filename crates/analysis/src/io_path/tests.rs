//! Findings from paths written by hand.

mod parts;
mod prices;
mod random;
mod series;

use super::*;
use hakaru_model::io_path::{
    ClassTime, DifferencePart, EventCount, PathRefusal, PriceModel, PriceRefusal, RequestSample,
    SizeCount, TimeParts, TracedDisk, TracerReport,
};
use hakaru_model::record::Latency;
use hakaru_model::units::Nanos;

pub(crate) fn traffic_of(
    class: IoClass,
    op: Option<Op>,
    requests: u64,
    bytes: u64,
    runs: u64,
) -> ClassTraffic {
    ClassTraffic {
        class,
        op,
        requests,
        bytes: Bytes(bytes),
        earlier_requests: 0,
        earlier_bytes: Bytes(0),
        runs,
        bios: requests,
        merges: 0,
        splits: 0,
        requeues: 0,
        errors: 0,
        sizes: Vec::new(),
        queue: Latency::default(),
        device: Latency::default(),
        commands: None,
        issuers: Vec::new(),
    }
}

/// A path with a window of 1 s.
pub(crate) fn path(busy: u64, asked: (u64, u64), classes: Vec<ClassTraffic>) -> IoPath {
    IoPath {
        disk: TracedDisk::default(),
        tracer: TracerReport::default(),
        window: Nanos(1_000_000_000),
        busy: Nanos(busy),
        flush_only: Nanos(0),
        mean_depth: 1.0,
        classes,
        asked: vec![SizeCount {
            op: Op::Write,
            size: Bytes(asked.1),
            count: asked.0,
        }],
        operations: Vec::new(),
        operations_limit: None,
        depth: Vec::new(),
        sample: RequestSample::default(),
        layout: Vec::new(),
        layout_gaps: Vec::new(),
        counters: None,
        edges: hakaru_model::io_path::EdgeRequests::default(),
        classified_early: 0,
        status_commands: 0,
        cost: None,
        cost_unknown: None,
    }
}

/// 50 appends of 4 KiB on vfat with clusters of 512 bytes, as seen on a card.
fn vfat() -> IoPath {
    let write = Some(Op::Write);
    path(
        950_000_000,
        (50, 4096),
        vec![
            traffic_of(IoClass::Data, write, 50, 204_800, 50),
            traffic_of(IoClass::Fat1, write, 50, 27_136, 50),
            traffic_of(IoClass::Fat2, write, 50, 27_136, 50),
            traffic_of(IoClass::Directory, write, 50, 25_600, 50),
        ],
    )
}

fn operation(parts: [f64; 8], classes: &[(IoClass, f64)]) -> OperationPath {
    let mean = TimeParts(parts);
    OperationPath {
        op: Some(Op::Write),
        with_sync: true,
        count: 50,
        mean,
        classes: classes
            .iter()
            .map(|&(class, nanos)| ClassTime { class, nanos })
            .collect(),
        behind: Vec::new(),
        mean_latency: Nanos(mean.total() as u64),
        median: None,
        p99: None,
    }
}

/// Raw writes with `fsync`, and synced appends on ext4, on the loop device of the worked example: µs as ns.
fn raw_and_ext4() -> (IoPath, IoPath) {
    let write = Some(Op::Write);
    let mut raw = path(
        500_000_000,
        (50, 4096),
        vec![
            traffic_of(IoClass::Data, write, 50, 204_800, 50),
            traffic_of(IoClass::Flush, None, 50, 0, 0),
        ],
    );
    raw.flush_only = Nanos(200_000_000);
    raw.operations = vec![operation(
        [216.4, 280.0, 0.0, 0.0, 15.0, 180.0, 0.0, 10.6],
        &[(IoClass::Data, 280.0)],
    )];
    let mut ext4 = path(
        700_000_000,
        (50, 4096),
        vec![
            traffic_of(IoClass::Data, write, 50, 204_800, 50),
            traffic_of(IoClass::Journal, write, 100, 259_050, 50),
            traffic_of(IoClass::Flush, None, 100, 0, 0),
        ],
    );
    ext4.flush_only = Nanos(100_000_000);
    ext4.operations = vec![operation(
        [181.8, 217.2, 160.5, 0.0, 53.0, 489.8, 31.1, 232.5],
        &[(IoClass::Data, 217.2), (IoClass::Journal, 160.5)],
    )];
    (raw, ext4)
}

#[test]
fn counts_requests_and_bytes_by_class() {
    let findings = path_findings(&vfat());
    assert_eq!(findings.traffic.len(), 1);
    let writes = &findings.traffic[0];
    assert_eq!((writes.ios, writes.requests), (50, 200));
    assert_eq!(writes.requests_per_io, Some(4.0));
    let amplification = writes.amplification.unwrap();
    assert!((amplification - 1.39).abs() < 0.005, "{amplification}");
    let fat = writes.classes[1];
    assert_eq!((fat.class, fat.requests_per_io), (IoClass::Fat1, Some(1.0)));
    assert!((fat.amplification.unwrap() - 543.0 / 4096.0).abs() < 0.001);
    assert_eq!(findings.limit, PathLimit::Device);
    assert!((findings.host_share - 0.05).abs() < 1e-9);
}

#[test]
fn reads_of_metadata_have_no_amplification_without_reads() {
    let mut path = vfat();
    path.classes
        .push(traffic_of(IoClass::Fat1, Some(Op::Read), 3, 1536, 3));
    let findings = path_findings(&path);
    let reads = &findings.traffic[0];
    assert_eq!((reads.op, reads.ios, reads.requests), (Op::Read, 0, 3));
    assert_eq!((reads.amplification, reads.requests_per_io), (None, None));
}

#[test]
fn names_the_largest_part_and_the_limit() {
    let (raw, ext4) = raw_and_ext4();
    let shares = path_findings(&ext4).shares[0];
    assert_eq!(shares.largest, TimePart::WakeUp);
    assert!((shares.shares.iter().sum::<f64>() - 1.0).abs() < 1e-9);
    assert_eq!(path_findings(&ext4).flushes_per_io, 2.0);
    assert_eq!(path_findings(&raw).limit, PathLimit::Both);
    let idle = path(100_000_000, (1, 4096), Vec::new());
    assert_eq!(path_findings(&idle).limit, PathLimit::Host);
}

#[test]
fn marks_lost_events() {
    let mut path = vfat();
    path.tracer.events = vec![EventCount {
        counted: 1000,
        missing: 2,
        ..EventCount::default()
    }];
    assert!(path_findings(&path).incomplete);
    let refusal = compare_paths(&[&vfat()], &[&path], &[]);
    assert_eq!(refusal, Err(PathRefusal::EventsLost));
}

#[test]
fn a_difference_is_the_sum_of_its_parts() {
    let (raw, ext4) = raw_and_ext4();
    let comparison = compare_paths(&[&raw], &[&ext4], &[]).unwrap();
    let [write] = &comparison.operations[..] else {
        panic!("one kind of operation");
    };
    assert!((write.base - 702.0).abs() < 1e-6);
    assert!((write.total.value - 663.9).abs() < 1e-6);
    assert_eq!(write.total.ci95, None);
    let sum: f64 = write.parts.iter().map(|part| part.time.value).sum();
    assert!((sum - write.total.value).abs() < 1e-6);
    let expected = [
        (DifferencePart::Time(TimePart::WakeUp), 309.8),
        (DifferencePart::Time(TimePart::FileSystem), 221.9),
        (DifferencePart::Device(IoClass::Journal), 160.5),
        (DifferencePart::Device(IoClass::Data), -62.8),
        (DifferencePart::Time(TimePart::BlockQueue), 38.0),
        (DifferencePart::Time(TimePart::Flush), -34.6),
        (DifferencePart::Time(TimePart::JournalCommit), 31.1),
    ];
    assert_eq!(write.parts.len(), expected.len());
    for (found, (part, nanos)) in write.parts.iter().zip(expected) {
        assert_eq!(found.part, part);
        assert!((found.time.value - nanos).abs() < 1e-6, "{part:?}");
    }
    assert!(write.shares_allowed);
    assert_eq!(
        (write.base_load.requests, write.other_load.requests),
        (1.0, 3.0)
    );
    assert_eq!(
        (write.base_load.flushes, write.other_load.flushes),
        (1.0, 2.0)
    );
}

#[test]
fn the_product_of_ratios_is_the_ratio_of_times() {
    let (mut raw, ext4) = raw_and_ext4();
    raw.window = Nanos(600_000_000);
    let identity = compare_paths(&[&raw], &[&ext4], &[])
        .unwrap()
        .identity
        .unwrap();
    let product = identity.bytes * identity.time_per_byte * identity.flush * identity.waiting;
    assert!((identity.time - 1.0 / 0.6).abs() < 1e-9);
    assert!((product / identity.time - 1.0).abs() < 1e-9);
    assert!((identity.bytes - 463_850.0 / 204_800.0).abs() < 1e-9);
}

#[test]
fn refuses_shares_of_parts_that_cancel() {
    let (raw, mut ext4) = raw_and_ext4();
    ext4.operations[0].mean.0 = [216.4, 1280.0, 0.0, 0.0, 15.0, 180.0, 0.0, -889.4];
    ext4.operations[0].classes = vec![ClassTime {
        class: IoClass::Data,
        nanos: 1280.0,
    }];
    let comparison = compare_paths(&[&raw], &[&ext4], &[]).unwrap();
    assert!(!comparison.operations[0].shares_allowed);
    let same = compare_paths(&[&raw], &[&raw], &[]).unwrap();
    assert!(!same.operations[0].shares_allowed);
}

#[test]
fn several_traced_runs_give_intervals() {
    let (raw, ext4) = raw_and_ext4();
    let mut slower = ext4.clone();
    slower.operations[0].mean.0[7] += 100.0;
    let comparison = compare_paths(&[&raw, &raw], &[&ext4, &slower], &[]).unwrap();
    let write = &comparison.operations[0];
    assert!((write.total.value - 713.9).abs() < 1e-6);
    let (low, high) = write.total.ci95.unwrap();
    // Two values 100 apart: mean ± 12.7062 · 50.
    assert!((high - low - 2.0 * 12.706_204_7 * 50.0).abs() < 1e-3);
    let device = write
        .parts
        .iter()
        .find(|it| it.part == DifferencePart::Device(IoClass::Journal));
    assert_eq!(device.unwrap().time.ci95, Some((160.5, 160.5)));
}

#[test]
fn refuses_to_compare_with_untraced_runs() {
    let (raw, mut ext4) = raw_and_ext4();
    let none: [&IoPath; 0] = [];
    assert_eq!(
        compare_paths(&none, &none, &[]),
        Err(PathRefusal::NotTraced)
    );
    assert_eq!(
        compare_paths(&[&raw], &none, &[]),
        Err(PathRefusal::OneSideTraced)
    );
    ext4.operations[0].op = Some(Op::Read);
    let refusal = compare_paths(&[&raw], &[&ext4], &[]);
    assert_eq!(refusal, Err(PathRefusal::NoCommonOperation));
}

#[test]
fn operations_with_their_fsync_are_not_compared_without() {
    let (mut raw, mut ext4) = raw_and_ext4();
    for path in [&mut raw, &mut ext4] {
        let mut alone = path.operations[0].clone();
        alone.with_sync = false;
        let mut sync = alone.clone();
        sync.op = None;
        let mut reads = alone.clone();
        reads.op = Some(Op::Read);
        path.operations.extend([alone, sync, reads]);
    }
    let comparison = compare_paths(&[&raw], &[&ext4], &[]).unwrap();
    let kinds: Vec<_> = comparison
        .operations
        .iter()
        .map(|it| (it.op, it.with_sync))
        .collect();
    assert_eq!(kinds, [(Some(Op::Write), true), (Some(Op::Read), false)]);
}

/// A raw run on a device with a price of 500 µs a request, 50 ns a byte and 8 ms a jump, with an error.
fn raw_run(requests: u64, size: u64, jumps: u64, error: f64) -> IoPath {
    let bytes = requests * size;
    let nanos = requests as f64 * 5e5 + bytes as f64 * 50.0 + jumps as f64 * 8e6;
    path(
        (nanos * (1.0 + error)) as u64,
        (requests, size),
        vec![traffic_of(
            IoClass::Data,
            Some(Op::Write),
            requests,
            bytes,
            jumps,
        )],
    )
}

fn priced(error: f64) -> Result<PriceModel, PriceRefusal> {
    let runs = [
        raw_run(1000, 4096, 1000, error),
        raw_run(1000, 4096, 1, -error),
        raw_run(200, 1 << 20, 1, 0.0),
        raw_run(300, 65_536, 150, error),
    ];
    price_model(&runs.each_ref(), Op::Write)
}

#[test]
fn finds_the_prices_of_a_device() {
    let model = priced(0.0).unwrap();
    assert!((model.request / 5e5 - 1.0).abs() < 1e-6, "{model:?}");
    assert!((model.byte / 50.0 - 1.0).abs() < 1e-6);
    assert!((model.jump / 8e6 - 1.0).abs() < 1e-6);
    assert!(model.misfit < 1e-6);
    assert_eq!(model.runs, 4);
    let noisy = priced(0.02).unwrap();
    assert!(noisy.misfit < 0.05 && (noisy.jump / 8e6 - 1.0).abs() < 0.05);
}

#[test]
fn refuses_prices_that_do_not_fit_or_cannot_be_told_apart() {
    assert!(matches!(priced(0.4), Err(PriceRefusal::Misfit { misfit }) if misfit > 0.05));
    let run = raw_run(1000, 4096, 1000, 0.0);
    let alike = price_model(&[&run, &run, &run, &run], Op::Write);
    assert_eq!(alike, Err(PriceRefusal::Indistinct));
    let few = price_model(&[&run, &run], Op::Write);
    assert_eq!(few, Err(PriceRefusal::TooFewRuns { runs: 2, needed: 4 }));
    let mut mounted = run.clone();
    mounted.disk.filesystem = Some("ext4".to_string());
    let none = price_model(&[&mounted; 4], Op::Write);
    assert_eq!(none, Err(PriceRefusal::TooFewRuns { runs: 0, needed: 4 }));
}

#[test]
fn divides_the_difference_on_the_device_by_prices() {
    let (raw, ext4) = raw_and_ext4();
    let price = PriceModel {
        op: Op::Write,
        request: 30.0,
        byte: 0.01,
        jump: 5.0,
        runs: 4,
        misfit: 0.01,
    };
    let comparison = compare_paths(&[&raw], &[&ext4], &[price]).unwrap();
    let split = comparison.operations[0].device.unwrap();
    assert_eq!((split.requests, split.jumps), (60.0, 5.0));
    assert!((split.bytes - 51.81).abs() < 1e-6);
    let device = 160.5 - 62.8;
    let sum = split.requests + split.bytes + split.jumps + split.remainder;
    assert!((sum - device).abs() < 1e-6);
}

/// Requests that were in flight when the window began belong to operations before it.
#[test]
fn requests_queued_before_the_window_do_not_count_per_io() {
    let write = Some(Op::Write);
    let mut data = traffic_of(IoClass::Data, write, 60, 60 * 4096, 60);
    (data.earlier_requests, data.earlier_bytes) = (10, Bytes(10 * 4096));
    let path = path(500_000_000, (50, 4096), vec![data]);
    let findings = path_findings(&path);
    let writes = &findings.traffic[0];
    assert_eq!((writes.requests, writes.moved.0), (60, 60 * 4096));
    assert_eq!(
        (writes.requests_per_io, writes.amplification),
        (Some(1.0), Some(1.0))
    );
    let class = &writes.classes[0];
    assert_eq!(
        (class.requests_per_io, class.amplification),
        (Some(1.0), Some(1.0))
    );
}
