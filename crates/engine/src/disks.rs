//! Counters of the block devices below the files of a phase, from sysfs.
//!
//! Source of the fields: the kernel's `Documentation/block/stat.rst`.

use crate::host::own_io;
use crate::run::CounterReading;
use hakaru_model::facts::DiskStats;
use hakaru_model::io_path::DiskTotals;
use hakaru_model::measured::MeasuredTraffic;
use hakaru_model::plan::{FilePlan, WorkerPlan};
use hakaru_model::units::{Bytes, Nanos};
use rustix::fs::{AtFlags, CWD, FileType, StatxFlags, major, minor};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Counter readings at the start of a phase.
#[derive(Debug)]
pub(crate) struct DiskWatch {
    start: Vec<(String, DiskCounters)>,
    begun: Instant,
}

const FIELDS: usize = 17;

type DiskCounters = [u64; FIELDS];
const MS: u64 = 1_000_000;

impl DiskWatch {
    /// Reads the counters of every disk below these files; each disk once.
    pub(crate) fn begin(files: &[FilePlan]) -> DiskWatch {
        let read = |name: String| read(&name).map(|counts| (name, counts));
        DiskWatch {
            start: disks_below(files).into_iter().filter_map(read).collect(),
            begun: Instant::now(),
        }
    }

    /// Returns disk statistics since the start of the phase; can be called repeatedly.
    pub(crate) fn so_far(&self) -> Vec<DiskStats> {
        let elapsed = self.begun.elapsed();
        let since = |(name, before): &(String, DiskCounters)| {
            let now = read(name)?;
            difference(name.clone(), before, &now, elapsed)
        };
        self.start.iter().filter_map(since).collect()
    }
}

/// Returns the names of the disks below these files; each disk once.
fn disks_below(files: &[FilePlan]) -> Vec<String> {
    // Thousands of files may be on one device.
    let devices = files.iter().filter_map(|f| Some((device_of(&f.path)?, f)));
    let devices: BTreeMap<u64, &FilePlan> = devices.collect();
    let disks = |(device, file): (u64, &FilePlan)| match major(device) {
        0 => disks_of_mount(&file.path),
        _ => disk_of(device).into_iter().collect(),
    };
    let mut names: Vec<String> = devices.into_iter().flat_map(disks).collect();
    names.sort();
    names.dedup();
    names
}

/// Returns the difference of two readings. `None` for a disk that was removed and reinserted: its
/// counters restarted.
fn difference(
    name: String,
    before: &DiskCounters,
    now: &DiskCounters,
    elapsed: Duration,
) -> Option<DiskStats> {
    if now
        .iter()
        .zip(before)
        .take(8)
        .any(|(now, before)| now < before)
    {
        return None;
    }
    let d = |i: usize| now[i].saturating_sub(before[i]);
    Some(DiskStats {
        read_ios: d(0),
        read_merges: d(1),
        read_sectors: d(2),
        read_ticks: Nanos(d(3) * MS),
        write_ios: d(4),
        write_merges: d(5),
        write_sectors: d(6),
        write_ticks: Nanos(d(7) * MS),
        discard_ios: d(11),
        flush_ios: d(15),
        busy: Nanos(d(9) * MS),
        queued: Nanos(d(10) * MS),
        elapsed: Nanos(elapsed.as_nanos() as u64),
        name,
    })
}

/// Disk counters over the measured part of a phase. The workers read them, at the end of their ramp time and at the
/// end of their measurement.
///
/// If workers end their ramp times at different moments, nothing is read. The counters of the whole phase are then
/// shown with the bytes of the ramps.
#[derive(Debug)]
pub(crate) struct DiskWindow {
    names: Vec<String>,
    first: Mutex<Option<DiskReading>>,
    last: Mutex<Option<DiskReading>>,
}

#[derive(Debug)]
struct DiskReading {
    counts: Vec<Option<DiskCounters>>,
    /// Bytes this process had read from and written to storage.
    own: Option<(u64, u64)>,
    at: Instant,
    /// The same moment in nanoseconds of `CLOCK_MONOTONIC_RAW`.
    at_raw: u64,
}

impl DiskWindow {
    pub(crate) fn new(files: &[FilePlan], workers: &[WorkerPlan]) -> DiskWindow {
        let common = workers.len() == 1 || workers.iter().all(|worker| worker.ramp_time.0 == 0);
        let names = if common {
            disks_below(files)
        } else {
            Vec::new()
        };
        DiskWindow {
            names,
            first: Mutex::default(),
            last: Mutex::default(),
        }
    }

    /// Called when a worker starts measuring; only the first call reads the counters.
    pub(crate) fn open(&self) {
        if !self.names.is_empty() {
            self.first
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .get_or_insert_with(|| self.read());
        }
    }

    /// Called when a worker ends its measurement; the last call counts.
    pub(crate) fn close(&self) {
        if !self.names.is_empty() {
            // Locked first: of two workers that end together, the one that reads later must also store later.
            let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
            *last = Some(self.read());
        }
    }

    fn read(&self) -> DiskReading {
        let counts = || self.names.iter().map(|name| read(name)).collect();
        let (at_raw, counts) = read_at_rest(counts);
        DiskReading {
            counts,
            own: own_io(),
            at: Instant::now(),
            at_raw,
        }
    }

    /// Returns the readings at the start and at the end of the measured time. `None` before both were made.
    pub(crate) fn readings(&self) -> Option<(CounterReading, CounterReading)> {
        let of = |reading: &Mutex<Option<DiskReading>>| {
            let reading = reading.lock().unwrap_or_else(PoisonError::into_inner);
            let DiskReading { counts, at_raw, .. } = reading.as_ref()?;
            let disks = self.names.iter().zip(counts);
            let total = |(name, counts): (&String, &Option<DiskCounters>)| {
                Some((name.clone(), totals(counts.as_ref()?)))
            };
            Some(CounterReading {
                at: *at_raw,
                disks: disks.filter_map(total).collect(),
            })
        };
        of(&self.first).zip(of(&self.last))
    }

    /// Returns the statistics of the measured time. `None` if nothing was read.
    pub(crate) fn traffic(&self) -> Option<MeasuredTraffic> {
        let first = self
            .first
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take()?;
        let last = self
            .last
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take()?;
        let elapsed = last.at.saturating_duration_since(first.at);
        let pairs = self.names.iter().zip(first.counts).zip(last.counts);
        let disks = pairs
            .filter_map(|((name, before), now)| difference(name.clone(), &before?, &now?, elapsed));
        let own = first
            .own
            .zip(last.own)
            .map(|(a, b)| (b.0.saturating_sub(a.0), b.1.saturating_sub(a.1)));
        Some(MeasuredTraffic {
            disks: disks.collect(),
            own_read: own.map(|(read, _)| Bytes(read)),
            own_written: own.map(|(_, written)| Bytes(written)),
        })
    }
}

/// Reads counters, and returns a moment at which they had these values, in nanoseconds of `CLOCK_MONOTONIC_RAW`.
///
/// Between two equal readings no request has completed. A moment after a single reading would be too late: a request
/// that completes in between is in a trace up to this moment, but not in the counters. On a device that completes
/// requests during each of 20 attempts, the last attempt counts.
pub fn read_at_rest<T: PartialEq>(read: impl FnMut() -> T) -> (u64, T) {
    read_at_rest_by(hakaru_sys::clock::monotonic_raw, read)
}

fn read_at_rest_by<T: PartialEq>(
    mut now: impl FnMut() -> u64,
    mut read: impl FnMut() -> T,
) -> (u64, T) {
    const ATTEMPTS: u32 = 20;
    let mut before = read();
    for _ in 0..ATTEMPTS {
        let at = now();
        let after = read();
        if after == before {
            return (at, after);
        }
        before = after;
    }
    (now(), before)
}

fn totals(counts: &DiskCounters) -> DiskTotals {
    DiskTotals {
        read: Bytes(counts[2] * 512),
        written: Bytes(counts[6] * 512),
        discarded: Bytes(counts[13] * 512),
        flushes: Some(counts[15]),
    }
}

/// Returns the sysfs directory of a block device.
fn node_of(device: u64) -> Option<PathBuf> {
    let node = format!("/sys/dev/block/{}:{}", major(device), minor(device));
    std::fs::canonicalize(node).ok()
}

/// Returns the number of the block device that a path is, or that contains it.
fn device_of(path: &Path) -> Option<u64> {
    let stat = rustix::fs::stat(path)
        .ok()
        .or_else(|| rustix::fs::stat(directory_of(path)?).ok())?;
    Some(match FileType::from_raw_mode(stat.st_mode) {
        FileType::BlockDevice => stat.st_rdev,
        _ => stat.st_dev,
    })
}

/// Returns the directory of a file; a bare file name has an empty parent.
fn directory_of(path: &Path) -> Option<&Path> {
    let directory = path.parent()?;
    Some(match directory.as_os_str().is_empty() {
        true => Path::new("."),
        false => directory,
    })
}

/// Returns the kernel names of the disks below a file whose device number names no disk, as on Btrfs: those of the device
/// in the mount table, and of the other devices of that Btrfs. Empty in memory and on the network.
fn disks_of_mount(path: &Path) -> Vec<String> {
    let Some(device) = mounted_device(path) else {
        return Vec::new();
    };
    let Some(node) = node_of(device) else {
        return Vec::new();
    };
    let nodes = btrfs_devices(&node).unwrap_or_else(|| vec![node]);
    nodes.iter().filter_map(|node| disk_at(node)).collect()
}

/// Returns the number of the block device in the mount table from which the file system of a path is mounted.
fn mounted_device(path: &Path) -> Option<u64> {
    let id = |path: &Path| {
        let (flags, wanted) = (AtFlags::empty(), StatxFlags::MNT_ID);
        rustix::fs::statx(CWD, path, flags, wanted).ok()
    };
    let found = id(path).or_else(|| id(directory_of(path)?))?;
    let known = StatxFlags::from_bits_retain(found.stx_mask).contains(StatxFlags::MNT_ID);
    let table = std::fs::read_to_string("/proc/self/mountinfo").ok()?;
    let source = known.then(|| source_of(&table, found.stx_mnt_id))??;
    let stat = rustix::fs::stat(source).ok()?;
    let is_disk = FileType::from_raw_mode(stat.st_mode) == FileType::BlockDevice;
    is_disk.then_some(stat.st_rdev)
}

/// Finds the device of a mount in the mount table (`Documentation/filesystems/proc.rst`).
fn source_of(table: &str, mount: u64) -> Option<&str> {
    let id = mount.to_string();
    let line = table
        .lines()
        .find(|line| line.split(' ').next() == Some(id.as_str()))?;
    let (_, of_filesystem) = line.split_once(" - ")?;
    let source = of_filesystem.split(' ').nth(1)?;
    source.starts_with('/').then_some(source)
}

/// Returns the nodes of all devices of the Btrfs that this one belongs to.
fn btrfs_devices(node: &Path) -> Option<Vec<PathBuf>> {
    let devices = |filesystem: std::fs::DirEntry| {
        let entries = std::fs::read_dir(filesystem.path().join("devices")).ok()?;
        let nodes = entries.filter_map(|entry| entry.ok()?.path().canonicalize().ok());
        let nodes: Vec<PathBuf> = nodes.collect();
        nodes.iter().any(|it| it == node).then_some(nodes)
    };
    let mut filesystems = std::fs::read_dir("/sys/fs/btrfs").ok()?.flatten();
    filesystems.find_map(devices)
}

/// Returns the kernel name of the disk of a block device. `None` without a disk (tmpfs, network).
fn disk_of(device: u64) -> Option<String> {
    disk_at(&node_of(device)?)
}

fn disk_at(node: &Path) -> Option<String> {
    // A partition is a directory inside the directory of its disk.
    let disk = if node.join("partition").exists() {
        node.parent()?
    } else {
        node
    };
    Some(disk.file_name()?.to_str()?.to_owned())
}

fn read(name: &str) -> Option<DiskCounters> {
    let text = std::fs::read_to_string(format!("/sys/class/block/{name}/stat")).ok()?;
    Some(parse(&text))
}

/// Parses the counters. Older kernels have fewer fields: the rest stays zero.
fn parse(text: &str) -> DiskCounters {
    let mut counts = [0; FIELDS];
    for (count, word) in counts.iter_mut().zip(text.split_whitespace()) {
        *count = word.parse().unwrap_or(0);
    }
    counts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counters_are_read_in_their_order() {
        let counts = parse("  1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17\n");
        assert_eq!(
            (counts[0], counts[2], counts[6], counts[9], counts[15]),
            (1, 3, 7, 10, 16)
        );
        assert_eq!(parse("4 junk")[..2], [4, 0]);
    }

    #[test]
    fn finds_the_source_of_a_mount_by_its_id() {
        let table = "43 27 0:39 / /mnt/a\\040b rw,relatime shared:4 - btrfs /dev/loop0 rw\n\
                     4 27 0:40 / /tmp rw - tmpfs tmpfs rw\n";
        assert_eq!(source_of(table, 43), Some("/dev/loop0"));
        assert_eq!(source_of(table, 4), None);
        assert_eq!(source_of(table, 3), None);
    }

    /// Requests that complete at these moments, and a clock that advances at each reading of clock or counter.
    fn reading_of(completions: &[u64]) -> (u64, usize) {
        let time = std::cell::Cell::new(0);
        let advance = || {
            time.set(time.get() + 1);
            time.get()
        };
        read_at_rest_by(advance, || {
            let now = advance();
            completions.iter().filter(|&&at| at <= now).count()
        })
    }

    #[test]
    fn counters_and_their_moment_agree_on_each_request() {
        for last in 0..20 {
            // A journal commit that ends while the counters are read.
            let completions = [0, last.min(3), last];
            let (at, counted) = reading_of(&completions);
            let traced = completions.iter().filter(|&&done| done <= at).count();
            assert_eq!(traced, counted, "the last request completes at {last}");
        }
        // A device that is never at rest.
        let always: Vec<u64> = (0..1000).collect();
        assert!(reading_of(&always).0 < 100);
    }

    #[test]
    fn a_path_without_a_disk_has_none() {
        let device = device_of(Path::new("/proc/self/stat")).unwrap();
        assert_eq!(disk_of(device), None);
    }
}
