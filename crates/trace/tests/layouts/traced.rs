//! Requests of mounted file systems, each with a class. Needs root, loop devices and tracing.

use crate::mounted::Mounted;
use crate::support::pattern;
use hakaru_model::io_path::{ClassTraffic, EdgeRequests, IoClass, IoPath, TracedDisk};
use hakaru_model::job::Op;
use hakaru_trace::classify::OwnThreads;
use hakaru_trace::layout::{DiskArea, LayoutSnapshot, TestFile, Volume, address_map};
use hakaru_trace::recorder::{DiskNumber, Recorder, RecorderOptions};
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

/// Traces work on a file of a mounted file system; `None` if this machine cannot.
fn traced(make: &str, name: &str, mib: u64, work: impl FnOnce(&Path)) -> Option<(IoPath, u64)> {
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
    let recorder = match Recorder::start(disk, &RecorderOptions::default()) {
        Ok(recorder) => recorder,
        Err(error) => {
            eprintln!("skipped: {error}");
            return None;
        }
    };
    let (begin, counter) = (now(), written(&mounted.device));
    work(&path);
    let (end, counter) = (now(), written(&mounted.device) - counter);
    let (events, tracer) = recorder.finish();
    let lost = tracer.lost_share();
    drop(recorder);
    let after = LayoutSnapshot::take(&volume, &files);
    let map = address_map(volume.area.sectors, Some(&before), &after);
    let mut summary = PathSummary::new(PathSummaryOptions::default());
    events.iter().for_each(|event| summary.push(event));
    let path = summary.finish(&PhaseTrace {
        disk: TracedDisk::default(),
        window: (begin, end),
        threads: OwnThreads::default(),
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
fn write_everything(path: &Path) {
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
