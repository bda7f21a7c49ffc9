//! Tests on loop devices. They need root and tracefs, and are skipped otherwise.

use super::*;
use crate::event::{BlockOp, EventKind};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::Command;

/// A loop device over a temporary file, detached when dropped.
struct LoopDevice {
    node: PathBuf,
    number: DiskNumber,
    _file: tempfile::NamedTempFile,
}

impl LoopDevice {
    /// Returns `None`, with a reason printed, where loop devices or events are not available.
    fn new(test: &str) -> Option<LoopDevice> {
        if let Err(reason) = Tracefs::find() {
            eprintln!("SKIPPED {test}: {reason}");
            return None;
        }
        let file = tempfile::NamedTempFile::new().unwrap();
        file.as_file().set_len(16 << 20).unwrap();
        let made = Command::new("losetup")
            .args(["--find", "--show"])
            .arg(file.path())
            .output();
        let node = match made {
            Ok(made) if made.status.success() => String::from_utf8(made.stdout).unwrap(),
            other => {
                eprintln!("SKIPPED {test}: losetup does not work here ({other:?})");
                return None;
            }
        };
        let node = PathBuf::from(node.trim());
        let number = DiskNumber::from_raw(rustix::fs::stat(&node).unwrap().st_rdev as _);
        Some(LoopDevice {
            node,
            number,
            _file: file,
        })
    }

    /// Opens the device without the page cache.
    fn open(&self) -> OwnedFd {
        let flags = rustix::fs::OFlags::RDWR | rustix::fs::OFlags::DIRECT;
        rustix::fs::open(&self.node, flags, rustix::fs::Mode::empty()).unwrap()
    }
}

impl Drop for LoopDevice {
    fn drop(&mut self) {
        let _ = Command::new("losetup").arg("-d").arg(&self.node).status();
    }
}

fn recorder(disk: DiskNumber, options: &RecorderOptions) -> Option<Recorder> {
    match Recorder::start(disk, options) {
        Ok(recorder) => Some(recorder),
        Err(reason) => {
            eprintln!("SKIPPED: {reason}");
            None
        }
    }
}

fn with_method(method: TraceMethod) -> RecorderOptions {
    RecorderOptions {
        method: Some(method),
        ..RecorderOptions::default()
    }
}

/// Writes and reads blocks of 4 KiB at scattered places. Returns the first sectors of the writes and of the reads.
fn write_and_read(device: &LoopDevice, count: u64) -> (Vec<u64>, Vec<u64>) {
    let file = device.open();
    let mut block = hakaru_sys::buffer::AlignedBuffer::new(4096).unwrap();
    let place = |number: u64| (number * 1_637 % 4_000) * 4096;
    let written = (0..count).map(|number| {
        let offset = place(number);
        assert_eq!(
            rustix::io::pwrite(&file, block.as_slice(), offset),
            Ok(4096)
        );
        offset / 512
    });
    let written = written.collect();
    let read = (0..count).map(|number| {
        let offset = place(number * 7 + 3);
        assert_eq!(
            rustix::io::pread(&file, block.as_mut_slice(), offset),
            Ok(4096)
        );
        offset / 512
    });
    (written, read.collect())
}

/// Returns the first sectors of the requests of this thread at one stage.
fn sectors(
    events: &[TraceEvent],
    op: BlockOp,
    stage: impl Fn(&TraceEvent) -> Option<(u64, u32, BlockOp)>,
) -> Vec<u64> {
    let of_op = events.iter().filter_map(stage).filter(|(_, sectors, of)| {
        assert!(*of != op || *sectors == 8);
        *of == op
    });
    of_op.map(|(start, ..)| start).collect()
}

/// Compares the events of a recorder with the I/Os of this thread.
fn records_all_requests(test: &str, method: TraceMethod) {
    let Some(device) = LoopDevice::new(test) else {
        return;
    };
    let Some(recorder) = recorder(device.number, &with_method(method)) else {
        return;
    };
    let tid = rustix::thread::gettid().as_raw_nonzero().get() as u32;
    let (written, read) = write_and_read(&device, 100);
    let mut events = recorder.take();
    let (rest, report) = recorder.finish();
    events.extend(rest);

    assert!(events.is_sorted_by_key(|event| event.time));
    let (written_queued, read_queued) = [BlockOp::Write, BlockOp::Read]
        .map(|op| {
            sectors(&events, op, |event| match event.kind {
                EventKind::BioQueue { range, flags, .. } if event.tid == tid => {
                    Some((range.start, range.sectors, flags.op))
                }
                _ => None,
            })
        })
        .into();
    assert_eq!(written_queued, written);
    assert_eq!(read_queued, read);
    let issued = sectors(&events, BlockOp::Write, |event| match event.kind {
        EventKind::RequestIssue { range, flags } => Some((range.start, range.sectors, flags.op)),
        _ => None,
    });
    assert_eq!(issued, written);
    let by_name: BTreeMap<_, _> = report
        .events
        .iter()
        .map(|count| (count.name.as_str(), count))
        .collect();
    // Some hosts lose completions without saying so: the counter is right, and the gap is reported.
    for name in ["block_bio_queue", "block_rq_issue", "block_rq_complete"] {
        let count = by_name[name];
        assert!(count.counted >= 200, "{count:?}");
        assert_eq!(
            count.counted,
            count.recorded + count.lost + count.missing,
            "{count:?}"
        );
    }
    assert_eq!(report.method, method);

    // The next phase counts from 0.
    let (events, report) = recorder.finish();
    assert!(report.events.iter().all(|count| count.counted < 200));
    assert!(events.len() < 200);
}

#[test]
fn perf_records_every_request_of_a_disk() {
    records_all_requests("perf_records_every_request_of_a_disk", TraceMethod::Perf);
}

#[test]
fn ftrace_records_every_request_of_a_disk() {
    records_all_requests(
        "ftrace_records_every_request_of_a_disk",
        TraceMethod::Ftrace,
    );
}
