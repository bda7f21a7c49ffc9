//! A device as filling and verifying see it: blocks that are written, read and flushed, and a clock.
//!
//! A trait, so that a card with a false capacity can be played in a test; [`OpenDevice`] is the real thing.

use crate::guard::Erasable;
pub use hakaru_model::integrity::{SpeedMap, SpeedPoint};
use hakaru_model::units::{Bytes, BytesPerSec, Nanos};
use rustix::fs::OFlags;
use rustix::io::Errno;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

/// A stretch of storage that may be overwritten.
pub trait BlockDev {
    /// How much it says it holds; a multiple of [`BlockDev::block`].
    fn size(&self) -> Bytes;

    /// The unit that offsets and lengths are multiples of, in bytes.
    fn block(&self) -> u32;

    /// Writes all of the data.
    ///
    /// # Errors
    /// What the device answers.
    fn write_at(&mut self, offset: u64, data: &[u8]) -> io::Result<()>;

    /// Fills the buffer.
    ///
    /// # Errors
    /// What the device answers.
    fn read_at(&mut self, offset: u64, buffer: &mut [u8]) -> io::Result<()>;

    /// Writes again what is there, by way of the buffer: nothing changes, and whatever caches writes has to take it.
    ///
    /// # Errors
    /// What the device answers; nothing was written where it cannot be read.
    fn rewrite_at(&mut self, offset: u64, buffer: &mut [u8]) -> io::Result<()> {
        self.read_at(offset, buffer)?;
        self.write_at(offset, buffer)
    }

    /// Waits until all that was written is on the medium, and forgets what the host has cached of it.
    ///
    /// # Errors
    /// What the device answers.
    fn flush(&mut self) -> io::Result<()>;

    /// The time, from a start of its own.
    fn now(&self) -> Nanos;

    /// Whether it was pulled, or is no longer connected. Asked after a failure.
    fn is_pulled(&self) -> bool {
        false
    }

    /// The same, for a failure after which nothing more is tried: gives the kernel time to notice.
    fn turns_out_pulled(&self) -> bool {
        self.is_pulled()
    }

    /// Whether it may turn out smaller without being at fault, as free space does when others use it up meanwhile.
    fn may_shrink(&self) -> bool {
        false
    }
}

/// A device that the guard has given leave to erase, opened past the page cache.
#[derive(Debug)]
pub struct OpenDevice {
    file: File,
    size: Bytes,
    block: u32,
}

impl OpenDevice {
    /// Opens it for direct I/O.
    ///
    /// # Errors
    /// What the system says.
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
            // Direct I/O leaves next to nothing in the cache anyway, so no right to drop it is no harm.
            Ok(()) | Err(Errno::ACCESS | Errno::PERM | Errno::NOTTY) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    fn now(&self) -> Nanos {
        Nanos(hakaru_sys::clock::monotonic())
    }
}

/// ENODEV in place of what the kernel answers for a device that was pulled: "no space left" for writes, the end of the
/// file for reads.
pub(crate) fn unless_pulled(device: &dyn BlockDev, error: io::Error) -> io::Error {
    if device.is_pulled() {
        Errno::NODEV.into()
    } else {
        error
    }
}

/// By then the kernel has noticed that a card was pulled; until then I/Os fail with EIO.
const NOTICED: std::time::Duration = std::time::Duration::from_secs(5);

/// Asks until the kernel has had time to notice.
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

/// How far a walk over a device is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ScanProgress {
    /// What is being done: `writing`, `reading`, `writing again`, `reading again`, `emptying caches`, `discarding`.
    pub doing: &'static str,
    /// Bytes done of this walk.
    pub done: Bytes,
    /// Bytes of all of it.
    pub total: Bytes,
    /// Time since it began.
    pub elapsed: Nanos,
}

impl ScanProgress {
    /// Mean speed until now; `None` before any time has passed.
    pub fn rate(&self) -> Option<BytesPerSec> {
        self.done.per(self.elapsed)
    }

    /// Time left at that speed; `None` before anything is known.
    pub fn left(&self) -> Option<Nanos> {
        let rate = self.rate().filter(|rate| rate.0 > 0.0)?;
        Some(Nanos(
            (self.total.0.saturating_sub(self.done.0) as f64 / rate.0 * 1e9) as u64,
        ))
    }
}

/// Told of progress after every chunk; `Break` ends the walk there.
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
