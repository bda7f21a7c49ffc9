//! The block device interface that fill and verify use: write, read, flush and a clock.
//!
//! It is a trait so that tests can simulate a fake card; [`OpenDevice`] is a real device.

use crate::guard::Erasable;
pub use hakaru_model::integrity::{SpeedMap, SpeedPoint};
use hakaru_model::units::{Bytes, BytesPerSec, Nanos};
use rustix::fs::OFlags;
use rustix::io::Errno;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

/// A range of storage that may be overwritten.
pub trait BlockDev {
    /// Claimed size in bytes; a multiple of [`BlockDev::block`].
    fn size(&self) -> Bytes;

    /// Unit of offsets and lengths, in bytes.
    fn block(&self) -> u32;

    /// Writes all of the data.
    ///
    /// # Errors
    /// The I/O error of the device.
    fn write_at(&mut self, offset: u64, data: &[u8]) -> io::Result<()>;

    /// Fills the buffer.
    ///
    /// # Errors
    /// The I/O error of the device.
    fn read_at(&mut self, offset: u64, buffer: &mut [u8]) -> io::Result<()>;

    /// Reads a range into the buffer and writes it back unchanged, which makes it pass through write caches.
    ///
    /// # Errors
    /// The I/O error of the device; unreadable ranges are not written.
    fn rewrite_at(&mut self, offset: u64, buffer: &mut [u8]) -> io::Result<()> {
        self.read_at(offset, buffer)?;
        self.write_at(offset, buffer)
    }

    /// Flushes the device and drops the host's cache of it.
    ///
    /// # Errors
    /// The I/O error of the device.
    fn flush(&mut self) -> io::Result<()>;

    /// Time since an arbitrary start.
    fn now(&self) -> Nanos;

    /// Whether the device was removed or disconnected. Called after a failure.
    fn is_pulled(&self) -> bool {
        false
    }

    /// Like [`BlockDev::is_pulled`], but gives the kernel time to notice. Called before giving up.
    fn turns_out_pulled(&self) -> bool {
        self.is_pulled()
    }

    /// Whether the size can shrink without a defect, as free space does when other programs use it.
    fn may_shrink(&self) -> bool {
        false
    }
}

/// A device with erase permission, opened for direct I/O.
#[derive(Debug)]
pub struct OpenDevice {
    file: File,
    size: Bytes,
    block: u32,
}

impl OpenDevice {
    /// Opens the device for direct I/O.
    ///
    /// # Errors
    /// The I/O error.
    pub fn open(device: &Erasable) -> io::Result<OpenDevice> {
        let file = device.open_again(OFlags::RDWR | OFlags::DIRECT)?;
        let block = rustix::fs::ioctl_blksszget(&file)?.max(512);
        let size = Bytes(device.size().0 / u64::from(block) * u64::from(block));
        Ok(OpenDevice {
            file: File::from(file),
            size,
            block,
        })
    }
}

impl BlockDev for OpenDevice {
    fn size(&self) -> Bytes {
        self.size
    }

    fn block(&self) -> u32 {
        self.block
    }

    fn write_at(&mut self, offset: u64, data: &[u8]) -> io::Result<()> {
        let answer = self.file.write_all_at(data, offset);
        answer.map_err(|error| unless_pulled(self, error))
    }

    fn read_at(&mut self, offset: u64, buffer: &mut [u8]) -> io::Result<()> {
        let answer = self.file.read_exact_at(buffer, offset);
        answer.map_err(|error| unless_pulled(self, error))
    }

    fn is_pulled(&self) -> bool {
        hakaru_sys::block::is_empty(&self.file)
    }

    fn turns_out_pulled(&self) -> bool {
        patiently(|| self.is_pulled())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file
            .sync_all()
            .map_err(|error| unless_pulled(self, error))?;
        match hakaru_sys::file::drop_device_cache(&self.file) {
            // Direct I/O leaves almost nothing in the cache, so a missing permission to drop it is
            // harmless.
            Ok(()) | Err(Errno::ACCESS | Errno::PERM | Errno::NOTTY) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    fn now(&self) -> Nanos {
        Nanos(hakaru_sys::clock::monotonic())
    }
}

/// Replaces the kernel's error for a removed device ("no space left" for writes, end of file for
/// reads) by ENODEV.
pub(crate) fn unless_pulled(device: &dyn BlockDev, error: io::Error) -> io::Error {
    if device.is_pulled() {
        Errno::NODEV.into()
    } else {
        error
    }
}

/// Time the kernel needs to notice a removed card; until then I/Os fail with EIO.
const NOTICED: std::time::Duration = std::time::Duration::from_secs(5);

/// Repeats the check until the kernel has had time to notice a removed device.
pub(crate) fn patiently(is_pulled: impl Fn() -> bool) -> bool {
    let until = std::time::Instant::now() + NOTICED;
    while !is_pulled() {
        if std::time::Instant::now() >= until {
            return false;
        }
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
    true
}

/// Progress of a pass over a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ScanProgress {
    /// Current activity: `writing`, `reading`, `writing again`, `reading again`, `emptying caches`,
    /// `discarding`.
    pub doing: &'static str,
    /// Bytes done in this pass.
    pub done: Bytes,
    /// Total bytes.
    pub total: Bytes,
    /// Elapsed time.
    pub elapsed: Nanos,
}

impl ScanProgress {
    /// Mean throughput so far in bytes/s; `None` before any time has passed.
    pub fn rate(&self) -> Option<BytesPerSec> {
        self.done.per(self.elapsed)
    }

    /// Remaining time at the mean throughput; `None` while unknown.
    pub fn left(&self) -> Option<Nanos> {
        let rate = self.rate().filter(|rate| rate.0 > 0.0)?;
        Some(Nanos(
            (self.total.0.saturating_sub(self.done.0) as f64 / rate.0 * 1e9) as u64,
        ))
    }
}

/// Called after every chunk; `Break` stops the pass.
pub type OnProgress<'a> = dyn FnMut(ScanProgress) -> std::ops::ControlFlow<()> + 'a;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_left_follows_from_the_mean_speed() {
        let progress = ScanProgress {
            doing: "writing",
            done: Bytes(25),
            total: Bytes(100),
            elapsed: Nanos::from_secs(1),
        };
        assert_eq!(progress.left(), Some(Nanos::from_secs(3)));
        assert_eq!(
            ScanProgress {
                elapsed: Nanos(0),
                ..progress
            }
            .left(),
            None
        );
    }
}
