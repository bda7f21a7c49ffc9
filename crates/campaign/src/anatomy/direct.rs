//! A real block device or file as a device of an anatomy.

use hakaru_anatomy::{DeviceError, TimedDevice, TimedRequest};
use hakaru_device::guard::Erasable;
use hakaru_engine::{DirectTarget, FileRun};
use hakaru_model::units::{Bytes, Nanos};
use rustix::fd::{AsFd, AsRawFd};
use rustix::io::Errno;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;
use std::time::{Duration, Instant};

/// Boundaries of all units that are told apart are at multiples of this.
const ALIGNMENT: u64 = 192 << 20;

/// Least part of a file that is in one piece on its device.
const LEAST: u64 = 512 << 20;

/// Longest sleep until the request to stop is looked at again.
const NAP: Duration = Duration::from_millis(100);

/// Why a real target cannot be examined.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs)] // Each field is named in its message.
pub enum DirectError {
    #[error("cannot open {} for direct I/O: {cause}", .path.display())]
    Open { path: PathBuf, cause: Errno },
    #[error("{} is on a file system that does not keep data in its place or does not say where it is ({kind}); help: name the block device", .path.display())]
    NoPlaces { path: PathBuf, kind: String },
    #[error("the longest piece of a file in {} has {usable} from a multiple of 192 MiB on the disk on, and {needed} are needed; help: use an emptier file system or a larger --size, or name the block device", .path.display())]
    InPieces {
        path: PathBuf,
        usable: Bytes,
        needed: Bytes,
    },
}

/// A block device or file, measured by the clock of the host.
#[derive(Debug)]
pub struct DirectDevice<'a> {
    target: DirectTarget,
    begun: Instant,
    stop: &'a AtomicBool,
}

impl<'a> DirectDevice<'a> {
    /// Opens a device for reading only.
    ///
    /// # Errors
    /// [`DirectError::Open`].
    pub fn read_only(path: &Path, stop: &'a AtomicBool) -> Result<DirectDevice<'a>, DirectError> {
        DirectDevice::open(path, path, false, stop)
    }

    /// Opens a device with the permission to erase it.
    ///
    /// # Errors
    /// [`DirectError::Open`].
    pub fn erasable(
        device: &Erasable,
        stop: &'a AtomicBool,
    ) -> Result<DirectDevice<'a>, DirectError> {
        // The descriptor that the guard has checked, not the name.
        let opened = device.device().as_fd().as_raw_fd();
        let own = PathBuf::from(format!("/proc/self/fd/{opened}"));
        DirectDevice::open(&own, device.path(), true, stop)
    }

    /// Opens a file that is filled with data. Address 0 is the first one in the file whose place on the disk is a
    /// multiple of all units that are told apart. An anatomy that is continued uses at most the `capacity` of its first
    /// part, and less if the new file is in shorter pieces.
    ///
    /// # Errors
    /// [`DirectError`]: the file system moves data, or the file is in small pieces.
    pub fn file(
        path: &Path,
        folder: &Path,
        kind: &str,
        capacity: Option<Bytes>,
        stop: &'a AtomicBool,
    ) -> Result<DirectDevice<'a>, DirectError> {
        let no_places = || DirectError::NoPlaces {
            path: folder.to_owned(),
            kind: kind.to_owned(),
        };
        if !matches!(kind, "ext2" | "ext3" | "ext4" | "xfs") {
            return Err(no_places());
        }
        let partition = start_of_partition(folder).ok_or_else(no_places)?;
        let device = DirectDevice::open(path, folder, true, stop)?;
        let run = device.target.longest_run().ok_or_else(no_places)?;
        let (start, len) = aligned(run, partition);
        let len = usable(len, capacity).ok_or_else(|| DirectError::InPieces {
            path: folder.to_owned(),
            usable: Bytes(len),
            needed: Bytes(LEAST),
        })?;
        Ok(DirectDevice {
            target: device.target.within(start, len),
            ..device
        })
    }

    fn open(
        path: &Path,
        named: &Path,
        writes: bool,
        stop: &'a AtomicBool,
    ) -> Result<DirectDevice<'a>, DirectError> {
        let seed = crate::now_unix_ms() as u64;
        let target = DirectTarget::open(path, writes, seed).map_err(|cause| DirectError::Open {
            path: named.to_owned(),
            cause,
        })?;
        Ok(DirectDevice {
            target,
            begun: Instant::now(),
            stop,
        })
    }

    fn check(&self) -> Result<(), DeviceError> {
        match self.stop.load(Relaxed) {
            true => Err(DeviceError::Stopped),
            false => Ok(()),
        }
    }
}

/// Returns the size of a file of which such a capacity can be examined, if it is in one piece.
pub fn file_size_for(capacity: Bytes) -> Bytes {
    Bytes(capacity.0 + ALIGNMENT)
}

/// Returns the start of the file system of a directory on its disk in bytes; `None` if it is on no disk or partition of
/// its own, such as a volume of LVM, whose places are not those of the disk.
fn start_of_partition(folder: &Path) -> Option<u64> {
    let device = std::fs::metadata(folder).ok()?.dev();
    let (major, minor) = (rustix::fs::major(device), rustix::fs::minor(device));
    let node = PathBuf::from(format!("/sys/dev/block/{major}:{minor}"));
    if !node.exists() || node.join("dm").exists() || node.join("md").exists() {
        return None;
    }
    match std::fs::read_to_string(node.join("start")) {
        Ok(sectors) => sectors.trim().parse::<u64>().ok().map(|n| n * 512),
        // A whole disk.
        Err(_) => Some(0),
    }
}

/// Returns the part of a run that begins at a multiple of [`ALIGNMENT`] on the disk, as a place in the file and a length.
fn aligned(run: FileRun, partition: u64) -> (u64, u64) {
    let on_disk = run.physical + partition;
    let skipped = on_disk.next_multiple_of(ALIGNMENT) - on_disk;
    (run.logical + skipped, run.len.saturating_sub(skipped))
}

/// Returns how much of the longest piece of a file is used; `None` if it is too short.
fn usable(len: u64, capacity: Option<Bytes>) -> Option<u64> {
    let most = capacity.map_or(u64::MAX, |capacity| capacity.0);
    (len >= LEAST).then_some(len.min(most))
}

impl TimedDevice for DirectDevice<'_> {
    fn capacity(&self) -> Bytes {
        self.target.size()
    }

    fn block(&self) -> u64 {
        u64::from(self.target.block())
    }

    fn now(&self) -> Nanos {
        Nanos(u64::try_from(self.begun.elapsed().as_nanos()).unwrap_or(u64::MAX))
    }

    fn serve(&mut self, request: TimedRequest) -> Result<Nanos, DeviceError> {
        self.check()?;
        let (what, served) = match request {
            TimedRequest::Read { offset, len } => ("read", self.target.read(offset, len)),
            TimedRequest::Write { offset, len } => ("write", self.target.write(offset, len)),
            TimedRequest::Flush => ("flush", self.target.flush()),
            TimedRequest::Discard { offset, len } => ("discard", self.target.discard(offset, len)),
        };
        served.map_err(|cause| DeviceError::Io {
            what,
            cause: cause.into(),
        })
    }

    fn read_at_depth(
        &mut self,
        offsets: &[u64],
        len: u64,
        depth: usize,
    ) -> Result<Vec<Nanos>, DeviceError> {
        self.check()?;
        let read = self.target.read_at_depth(offsets, len, depth);
        read.map_err(|cause| DeviceError::Io {
            what: "read",
            cause: cause.into(),
        })
    }

    fn idle(&mut self, time: Nanos) -> Result<(), DeviceError> {
        let until = Instant::now() + Duration::from_nanos(time.0);
        loop {
            self.check()?;
            let rest = until.saturating_duration_since(Instant::now());
            if rest.is_zero() {
                return Ok(());
            }
            std::thread::sleep(rest.min(NAP));
        }
    }

    fn can_discard(&self) -> bool {
        self.target.is_device()
    }
}

/// Name of the clock that times the requests.
pub fn clock_name() -> &'static str {
    "CLOCK_MONOTONIC_RAW"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_in_one_piece_has_the_capacity_that_is_continued() {
        let capacity = Bytes(700 << 20);
        for physical in [0, 4096, 300 << 20, ALIGNMENT - 4096] {
            let run = FileRun {
                logical: 0,
                physical,
                len: file_size_for(capacity).0,
            };
            assert!(aligned(run, 0).1 >= capacity.0, "{physical}");
        }
    }

    /// Regression: on a small file system, where the pieces of each file are others, nothing could be continued.
    #[test]
    fn a_file_in_shorter_pieces_continues_with_what_there_is() {
        let first = Some(Bytes(896 << 20));
        assert_eq!(usable(704 << 20, first), Some(704 << 20));
        assert_eq!(usable(1 << 30, first), Some(896 << 20));
        assert_eq!(usable(1 << 30, None), Some(1 << 30));
        assert_eq!(usable(LEAST - 1, first), None);
    }

    #[test]
    fn address_0_of_a_file_is_at_a_multiple_of_every_unit_on_the_disk() {
        let run = FileRun {
            logical: 1 << 20,
            physical: 300 << 20,
            len: 2 << 30,
        };
        for partition in [0, 4 << 20, 1 << 20] {
            let (start, len) = aligned(run, partition);
            let on_disk = start - run.logical + run.physical + partition;
            assert_eq!(on_disk % ALIGNMENT, 0);
            assert_eq!(start + len, run.logical + run.len);
        }
        let short = FileRun {
            len: 1 << 20,
            ..run
        };
        assert_eq!(aligned(short, 0).1, 0);
    }
}
