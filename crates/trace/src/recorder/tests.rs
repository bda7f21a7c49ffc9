//! Tests on loop devices. They need root and tracefs, and are skipped otherwise.

use super::*;
use crate::event::{BlockOp, EventKind};
use hakaru_model::io_path::IoPath;
use killed::start_child;
use std::path::PathBuf;
use std::process::Command;

mod killed;
mod selection;

/// A loop device over a temporary file, detached when dropped.
struct TestLoop {
    node: PathBuf,
    number: DiskNumber,
    _file: tempfile::NamedTempFile,
}

impl TestLoop {
    /// Returns `None`, with a reason printed, where loop devices or events are not available.
    fn new(test: &str) -> Option<TestLoop> {
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
        Some(TestLoop {
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

impl Drop for TestLoop {
    fn drop(&mut self) {
        let _ = Command::new("losetup").arg("-d").arg(&self.node).status();
    }
}

fn recorder(disk: DiskNumber, options: &RecorderOptions) -> Option<EventRecorder> {
    match EventRecorder::start(disk, options) {
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
fn write_and_read(device: &TestLoop, count: u64) -> (Vec<u64>, Vec<u64>) {
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

fn count_of<'a>(report: &'a TracerReport, name: &str) -> &'a EventCount {
    let count = report.events.iter().find(|count| count.name == name);
    count.unwrap()
}

/// Compares the events of a recorder with the I/Os of this thread.
fn records_all_requests(test: &str, method: TraceMethod) {
    let Some(device) = TestLoop::new(test) else {
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
        EventKind::RequestIssue { range, flags, .. } => {
            Some((range.start, range.sectors, flags.op))
        }
        _ => None,
    });
    assert_eq!(issued, written);
    // Some hosts lose completions without saying so: the counter is right, and the gap is reported.
    for name in ["block_bio_queue", "block_rq_issue", "block_rq_complete"] {
        let count = count_of(&report, name);
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
    assert!(queued_here(&events).is_empty());
    assert!(count_of(&report, "block_bio_queue").counted < 200);
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

/// Returns the first sectors of the bios that this thread queued.
fn queued_here(events: &[TraceEvent]) -> Vec<u64> {
    let tid = rustix::thread::gettid().as_raw_nonzero().get() as u32;
    let of_thread = events.iter().filter(|event| event.tid == tid);
    of_thread
        .filter_map(|event| match event.kind {
            EventKind::BioQueue { range, .. } => Some(range.start),
            _ => None,
        })
        .collect()
}

#[test]
fn records_nothing_while_paused() {
    let test = "records_nothing_while_paused";
    let Some(device) = TestLoop::new(test) else {
        return;
    };
    let Some(recorder) = recorder(device.number, &with_method(TraceMethod::Perf)) else {
        return;
    };
    recorder.pause().unwrap();
    write_and_read(&device, 20);
    let (events, report) = recorder.finish();
    assert!(queued_here(&events).is_empty());
    assert!(count_of(&report, "block_bio_queue").counted < 40);
    recorder.resume().unwrap();
    let (written, read) = write_and_read(&device, 10);
    assert_eq!(queued_here(&recorder.finish().0), [written, read].concat());
}

#[test]
fn records_only_the_chosen_events() {
    let test = "records_only_the_chosen_events";
    let Some(device) = TestLoop::new(test) else {
        return;
    };
    for method in [TraceMethod::Perf, TraceMethod::Ftrace] {
        let Some(recorder) = recorder(device.number, &with_method(method)) else {
            return;
        };
        for (set, explained) in [(EventSet::Lean, false), (EventSet::Full, true)] {
            recorder.choose(set).unwrap();
            recorder.finish();
            let (written, read) = write_and_read(&device, 20);
            let (events, report) = recorder.finish();
            assert_eq!(queued_here(&events), [written, read].concat());
            assert!(count_of(&report, "block_rq_complete").counted >= 40);
            let getrq = report.events.iter().find(|it| it.name == "block_getrq");
            assert_eq!(getrq.is_some_and(|it| it.recorded >= 40), explained);
            assert_eq!(report.lost_share(), 0.0, "{report:?}");
        }
    }
}

#[test]
fn counts_the_events_for_which_a_ring_has_no_space() {
    let test = "counts_the_events_for_which_a_ring_has_no_space";
    let Some(device) = TestLoop::new(test) else {
        return;
    };
    let options = RecorderOptions {
        ring: Some(16 << 10),
        ..with_method(TraceMethod::Perf)
    };
    // Without the thread that empties the rings.
    let disk = DiskFacts::read(device.number).unwrap();
    let mut state = match State::open(Tracefs::find().unwrap(), &disk, &options) {
        Ok(state) => state,
        Err(reason) => return eprintln!("SKIPPED {test}: {reason}"),
    };
    assert_eq!(
        state.source.ring(),
        (16 << 10).max(rustix::param::page_size())
    );
    state.switch(true).unwrap();
    // More records than fit into the rings of all CPUs.
    let rings = hakaru_sys::thread::online().len() as u64 * state.source.ring() as u64;
    let count = rings / 64 / 4 + 1_000;
    write_and_read(&device, count);
    state.switch(false).unwrap();
    state.drain();
    let counts = state.count();
    let queued = &counts[0];
    assert_eq!(queued.name, "block_bio_queue");
    assert!(queued.counted >= 2 * count, "{queued:?}");
    assert_eq!(
        counts.iter().map(|count| count.recorded).sum::<u64>(),
        state.decoder.received().sum::<u64>()
    );
    assert!(counts.iter().map(|count| count.lost).sum::<u64>() > 0);
    for count in &counts {
        assert_eq!(
            count.counted,
            count.recorded + count.lost + count.missing,
            "{count:?}"
        );
    }
    let report = TracerReport {
        events: counts,
        ..TracerReport::default()
    };
    assert!(report.lost_share() > IoPath::LOSS_LIMIT);
}

#[test]
fn the_probe_reads_blocks_of_the_disk() {
    let Some(device) = TestLoop::new("the_probe_reads_blocks_of_the_disk") else {
        return;
    };
    let mut disk = DiskFacts::read(device.number).unwrap();
    let read = probe::read_blocks(&disk);
    assert!((1..=100).contains(&read), "{read}");
    // A node that is another disk, or none, is not read.
    disk.number.minor += 1;
    assert_eq!(probe::read_blocks(&disk), 0);
    let options = RecorderOptions::default();
    if let Some(recorder) = recorder(device.number, &options) {
        // The reads of the probe belong to no phase.
        let (events, report) = recorder.finish();
        assert!(queued_here(&events).is_empty());
        assert!(count_of(&report, "block_bio_queue").recorded < read);
    }
}

#[test]
fn records_bios_of_a_device_without_requests() {
    let test = "records_bios_of_a_device_without_requests";
    let control = "/sys/class/zram-control";
    let Ok(number) = std::fs::read_to_string(format!("{control}/hot_add")) else {
        return eprintln!("SKIPPED {test}: zram devices cannot be made here");
    };
    let number = number.trim();
    let done = (|| -> Option<()> {
        let size = format!("/sys/block/zram{number}/disksize");
        std::fs::write(size, "16M").ok()?;
        let node = PathBuf::from(format!("/dev/zram{number}"));
        let disk = DiskNumber::from_raw(rustix::fs::stat(&node).ok()?.st_rdev as _);
        let recorder = recorder(disk, &with_method(TraceMethod::Perf))?;
        assert!(recorder.disk().bio_based);
        let device = std::mem::ManuallyDrop::new(TestLoop {
            node,
            number: disk,
            _file: tempfile::NamedTempFile::new().ok()?,
        });
        let (written, read) = write_and_read(&device, 50);
        let (events, report) = recorder.finish();
        assert_eq!(queued_here(&events), [written, read].concat());
        let completed = events
            .iter()
            .filter(|event| matches!(event.kind, EventKind::BioComplete { error: 0, .. }));
        assert!(completed.count() >= 100);
        let has = |name: &str| report.events.iter().any(|count| count.name == name);
        assert!(has("block_bio_complete") && !has("block_rq_issue"));
        std::fs::remove_file(device._file.path()).ok()
    })();
    if done.is_none() {
        eprintln!("SKIPPED {test}: events of zram{number} cannot be recorded");
    }
    // Removed whatever happened, unless an assertion failed.
    let _ = std::fs::write(format!("/sys/block/zram{number}/reset"), "1");
    let _ = std::fs::write(format!("{control}/hot_remove"), number);
}

/// Names the disk that [`records_until_killed`] records, and the facility.
const CHILD: &str = "HAKARU_TRACE_CHILD";

#[test]
fn an_instance_ends_with_its_recorder() {
    let test = "an_instance_ends_with_its_recorder";
    let Some(device) = TestLoop::new(test) else {
        return;
    };
    let tracefs = Tracefs::find().unwrap();
    let Some(recorder) = recorder(device.number, &with_method(TraceMethod::Ftrace)) else {
        return;
    };
    let path = match &recorder.shared.lock().source {
        EventSource::Ftrace(ftrace) => ftrace.path().to_owned(),
        EventSource::Perf(_) => unreachable!("ftrace was asked for"),
    };
    let exists = || {
        let name = path.strip_prefix("instances/").unwrap();
        tracefs.instances().iter().any(|instance| instance == name)
    };
    assert!(exists());
    drop(recorder);
    assert!(!exists());
}

#[test]
fn users_without_privileges_get_the_reason() {
    let test = "users_without_privileges_get_the_reason";
    let Some(device) = TestLoop::new(test) else {
        return;
    };
    let level = std::fs::read_to_string("/proc/sys/kernel/perf_event_paranoid");
    if level.is_ok_and(|level| level.trim() == "-1") {
        return eprintln!("SKIPPED {test}: every user may record events here");
    }
    let (mut child, line) = match start_child(device.number, "perf", Some(65534)) {
        Ok(child) => child,
        Err(error) => return eprintln!("SKIPPED {test}: {error}"),
    };
    let _ = child.kill();
    child.wait().unwrap();
    assert!(
        line.starts_with("refused: NoPermission") || line == "refused: TracefsNotMounted",
        "{line}"
    );
}

#[test]
fn leaves_the_tracing_of_others_alone() {
    let test = "leaves_the_tracing_of_others_alone";
    let Some(device) = TestLoop::new(test) else {
        return;
    };
    let tracefs = Tracefs::find().unwrap();
    let path = format!("instances/other-{}", std::process::id());
    let Ok(()) = rustix::fs::mkdirat(
        tracefs.open(".", rustix::fs::OFlags::RDONLY).unwrap(),
        path.as_str(),
        rustix::fs::Mode::from_raw_mode(0o700),
    ) else {
        return eprintln!("SKIPPED {test}: instances cannot be made here");
    };
    let event = format!("{path}/events/block/block_bio_queue");
    let filter = format!("dev == {}", device.number.kernel());
    tracefs.write(&format!("{event}/filter"), &filter).unwrap();
    tracefs.write(&format!("{event}/enable"), "1").unwrap();
    for method in [TraceMethod::Perf, TraceMethod::Ftrace] {
        let Some(recorder) = recorder(device.number, &with_method(method)) else {
            break;
        };
        let (written, read) = write_and_read(&device, 20);
        assert_eq!(queued_here(&recorder.finish().0), [written, read].concat());
        drop(recorder);
        assert_eq!(tracefs.read(&format!("{event}/enable")).unwrap(), "1\n");
        let seen = tracefs.read(&format!("{path}/trace")).unwrap();
        assert!(seen.matches("block_bio_queue").count() >= 40, "{seen}");
        tracefs.write(&format!("{path}/trace"), "").unwrap_or(());
    }
    tracefs.remove_instance(&path).unwrap();
}

#[test]
fn targets_without_a_disk_are_refused() {
    let nowhere = EventRecorder::start(
        DiskNumber {
            major: 0,
            minor: 45,
        },
        &RecorderOptions::default(),
    );
    assert_eq!(nowhere.err(), Some(TraceError::NoBlockDevice));
}
