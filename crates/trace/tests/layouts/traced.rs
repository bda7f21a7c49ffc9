//! Requests of mounted file systems, each with a class. Needs root, loop devices and tracing.

use crate::mounted::Mounted;
use crate::support::pattern;
use hakaru_model::io_path::{
    ClassTraffic, EdgeRequests, IoClass, IoPath, TimePart, TracedDisk, TracedOperation,
};
use hakaru_model::job::Op;
use hakaru_trace::classify::OwnThreads;
use hakaru_trace::layout::{DiskArea, LayoutSnapshot, TestFile, Volume, address_map};
use hakaru_trace::recorder::{DiskNumber, EventRecorder, RecorderOptions};
use hakaru_trace::summary::{PathSummary, PathSummaryOptions, PhaseTrace};
use rustix::time::{ClockId, clock_gettime};
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::Path;

fn now() -> u64 {
    let time = clock_gettime(ClockId::MonotonicRaw);
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

/// Returns the bytes that a loop device wrote, by its counter.
fn written(device: &Path) -> u64 {
    let name = device.file_name().unwrap().to_str().unwrap();
    let stat = std::fs::read_to_string(format!("/sys/block/{name}/stat")).unwrap();
    let sectors = stat.split_whitespace().nth(6).unwrap();
    sectors.parse::<u64>().unwrap() * 512
}

/// Traces work on a file of a mounted file system, which returns its operations; `None` if this machine cannot.
fn traced(
    make: &str,
    name: &str,
    mib: u64,
    work: impl FnOnce(&Path) -> Vec<TracedOperation>,
) -> Option<(IoPath, u64)> {
    let mounted = Mounted::new(make, name, mib)?;
    let path = mounted.point.join("sub/file");
    std::fs::create_dir(mounted.point.join("sub")).unwrap();
    std::fs::write(&path, pattern(1 << 20, 5)).unwrap();
    let volume = Volume {
        area: DiskArea {
            start: 0,
            sectors: (mib << 20) / 512,
        },
        ..mounted.volume(name)
    };
    let files = [TestFile::Path(&path)];
    let before = LayoutSnapshot::take(&volume, &files);
    let rdev = rustix::fs::stat(&mounted.device).unwrap().st_rdev;
    let disk = DiskNumber {
        major: rustix::fs::major(rdev),
        minor: rustix::fs::minor(rdev),
    };
    let options = RecorderOptions {
        filesystem: Some(disk),
        ..RecorderOptions::default()
    };
    let recorder = match EventRecorder::start(disk, &options) {
        Ok(recorder) => recorder,
        Err(error) => {
            eprintln!("skipped: {error}");
            return None;
        }
    };
    let (begin, counter) = (now(), written(&mounted.device));
    let operations = work(&path);
    let (end, counter) = (now(), written(&mounted.device) - counter);
    let (events, tracer) = recorder.finish();
    let lost = tracer.lost_share();
    drop(recorder);
    let after = LayoutSnapshot::take(&volume, &files);
    let map = address_map(volume.area.sectors, Some(&before), &after);
    let mut summary = PathSummary::new(PathSummaryOptions::default());
    events.iter().for_each(|event| summary.push(event));
    operations.iter().for_each(|it| summary.push_operation(it));
    let workers: Vec<u32> = operations.iter().map(|it| it.tid).collect();
    let path = summary.finish(&PhaseTrace {
        disk: TracedDisk::default(),
        window: (begin, end),
        threads: OwnThreads {
            workers: &workers,
            others: &[],
        },
        map: &map,
        layout_gaps: Vec::new(),
        files: &after.files.content,
        tracer,
        counters: None,
        cost: None,
    });
    if lost > 0.0 {
        eprintln!("skipped: {lost} of the events of {make} were lost");
        return None;
    }
    Some((path, counter))
}

/// Appends with fsync, overwrites, direct I/O, a file beside it, and a growing directory.
fn write_everything(path: &Path) -> Vec<TracedOperation> {
    let file = File::options().write(true).open(path).unwrap();
    for at in 0..30 {
        file.write_all_at(&[1; 4096], (1 << 20) + at * 4096)
            .unwrap();
        file.sync_all().unwrap();
    }
    for at in 0..30 {
        file.write_all_at(&[2; 4096], at * 7 % 30 * 8192).unwrap();
        file.sync_data().unwrap();
    }
    // Holes make the tree of extents grow.
    for at in 0..400 {
        file.write_all_at(&[3; 4096], (8 << 20) + at * 32768)
            .unwrap();
    }
    file.sync_all().unwrap();
    let flags = rustix::fs::OFlags::WRONLY | rustix::fs::OFlags::DIRECT;
    let direct = rustix::fs::open(path, flags, rustix::fs::Mode::empty()).unwrap();
    let buffer = hakaru_sys::buffer::AlignedBuffer::new(65536).unwrap();
    for at in 0..10 {
        rustix::io::pwrite(&direct, buffer.as_slice(), at * 65536).unwrap();
    }
    for number in 0..100 {
        let name = format!("a name that makes the directory grow {number}");
        File::create(path.with_file_name(name)).unwrap();
    }
    rustix::fs::syncfs(&file).unwrap();
    Vec::new()
}

/// Appends 4 KiB and calls `fsync`, 100 times.
fn append_with_fsync(path: &Path) -> Vec<TracedOperation> {
    let file = File::options().write(true).open(path).unwrap();
    let tid = rustix::thread::gettid().as_raw_nonzero().get() as u32;
    let mut operations = Vec::new();
    for number in 0..100 {
        let offset = (1 << 20) + number * 4096;
        let mut timed = |op, len, call: &dyn Fn()| {
            let begin = now();
            call();
            operations.push(TracedOperation {
                op,
                tid,
                file: 0,
                offset,
                len,
                begin,
                end: now(),
            });
        };
        timed(Some(Op::Write), 4096, &|| {
            file.write_all_at(&[1; 4096], offset).unwrap();
        });
        timed(None, 0, &|| file.sync_all().unwrap());
    }
    operations
}

/// The time of an append with `fsync` goes where it must on each file system, and adds up.
#[test]
fn the_time_of_synced_appends_is_divided() {
    let kinds = [
        (
            "mke2fs -q -F -t ext4 -b 1024 -E lazy_itable_init=0 @",
            "ext4",
            IoClass::Journal,
        ),
        ("mkfs.vfat -F 32 -s 1 @", "vfat", IoClass::Fat1),
        ("mkfs.f2fs -q @", "f2fs", IoClass::Node),
        ("mkfs.xfs -q @", "xfs", IoClass::Journal),
    ];
    for (make, name, other) in kinds {
        let Some((path, _)) = traced(make, name, 320, append_with_fsync) else {
            continue;
        };
        let mut operations = path.operations.iter();
        let append = operations.find(|it| it.with_sync).unwrap();
        println!("{make}: {append:?}");
        assert_eq!((append.op, append.count), (Some(Op::Write), 100));
        assert!((append.mean.total() - append.mean_latency.0 as f64).abs() <= 0.5);
        let time_of = |class| {
            let mut classes = append.classes.iter();
            classes
                .find(|it| it.class == class)
                .map_or(0.0, |it| it.nanos)
        };
        assert!(time_of(IoClass::Data) > 0.0, "{make}: {append:?}");
        assert!(time_of(other) > 0.0, "{make}: {append:?}");
        let data = path.classes.iter().find(|it| it.class == IoClass::Data);
        assert!(data.unwrap().requests >= 100, "{make}: {:?}", path.classes);
        if name == "ext4" {
            // Every fsync waits for a commit of its own, and the flush that the commit asks for.
            let waits = [TimePart::Flush, TimePart::WakeUp, TimePart::JournalCommit];
            let is_seen = |part: &TimePart| append.mean.of(*part) > 0.0;
            assert!(waits.iter().all(is_seen), "{append:?}");
        }
    }
}

fn written_bytes(path: &IoPath, class: IoClass) -> u64 {
    let of_class =
        |traffic: &&ClassTraffic| traffic.class == class && traffic.op == Some(Op::Write);
    let traffic = path.classes.iter().filter(of_class);
    traffic.map(|traffic| traffic.bytes.0).sum()
}

/// Every byte written has a class, and their sum is what the disk counted.
#[test]
fn every_request_has_a_class() {
    let kinds = [
        (
            "mke2fs -q -F -t ext4 -b 1024 -E lazy_itable_init=0 @",
            "ext4",
            64,
        ),
        (
            "mke2fs -q -F -t ext4 -b 4096 -E lazy_itable_init=0 @",
            "ext4",
            300,
        ),
        (
            "mke2fs -q -F -t ext4 -b 1024 -O ^has_journal -E lazy_itable_init=0 @",
            "ext4",
            64,
        ),
        (
            "mke2fs -q -F -t ext4 -b 1024 -O meta_bg,^resize_inode -E lazy_itable_init=0 @",
            "ext4",
            200,
        ),
        (
            "mke2fs -q -F -t ext3 -b 1024 -E lazy_itable_init=0 @",
            "ext3",
            64,
        ),
        (
            "mke2fs -q -F -t ext2 -b 1024 -E lazy_itable_init=0 @",
            "ext2",
            64,
        ),
        ("mkfs.xfs -q @", "xfs", 320),
        ("mkfs.btrfs -q @", "btrfs", 300),
        ("mkfs.vfat -F 32 -s 1 @", "vfat", 64),
        ("mkfs.vfat -F 16 @", "vfat", 64),
        ("mkfs.exfat @", "exfat", 64),
    ];
    for (make, name, mib) in kinds {
        let Some((path, counter)) = traced(make, name, mib, write_everything) else {
            continue;
        };
        let bytes = |class| written_bytes(&path, class);
        let all: Vec<_> = IoClass::ALL
            .iter()
            .map(|&class| (class, bytes(class)))
            .collect();
        println!("{make}: {all:?}");
        assert_eq!(bytes(IoClass::Unknown), 0, "{make}: {all:?}");
        assert_eq!(bytes(IoClass::OtherPartition), 0, "{make}: {all:?}");
        // 60 small writes, 400 in holes, and the direct ones.
        let data = (60 + 400) * 4096 + 10 * 65536;
        assert!(bytes(IoClass::Data) >= data, "{make}: {all:?}");
        if name == "btrfs" {
            assert!(bytes(IoClass::Metadata) > 0, "{make}: {all:?}");
        }
        // A request across an edge of the window is not counted on the same side everywhere.
        if path.edges == EdgeRequests::default() {
            assert_eq!(path.bytes(Op::Write).0, counter, "{make}: {all:?}");
        }
    }
}
