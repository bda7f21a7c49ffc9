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

    /// Waits until all that was written is on the medium, and forgets what the host has cached of it.
    ///
    /// # Errors
    /// What the device answers.
    fn flush(&mut self) -> io::Result<()>;

    /// The time, from a start of its own.
    fn now(&self) -> Nanos;

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
        Ok(OpenDevice { file: File::from(file), size, block })
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
        self.file.write_all_at(data, offset)
    }

    fn read_at(&mut self, offset: u64, buffer: &mut [u8]) -> io::Result<()> {
        self.file.read_exact_at(buffer, offset)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.sync_all()?;
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

/// How far a walk over a device is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// What is being done: `writing`, `reading`, `discarding`.
    pub doing: &'static str,
    /// Bytes done of this walk.
    pub done: Bytes,
    /// Bytes of all of it.
    pub total: Bytes,
    /// Time since it began.
    pub elapsed: Nanos,
}

impl Progress {
    /// Mean speed until now; `None` before any time has passed.
    pub fn rate(&self) -> Option<BytesPerSec> {
        self.done.per(self.elapsed)
    }

    /// Time left at that speed; `None` before anything is known.
    pub fn left(&self) -> Option<Nanos> {
        let rate = self.rate().filter(|rate| rate.0 > 0.0)?;
        Some(Nanos((self.total.0.saturating_sub(self.done.0) as f64 / rate.0 * 1e9) as u64))
    }
}

/// Told of progress after every chunk; `Break` ends the walk there.
pub type OnProgress<'a> = dyn FnMut(Progress) -> std::ops::ControlFlow<()> + 'a;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_left_follows_from_the_mean_speed() {
        let progress = Progress { doing: "writing", done: Bytes(25), total: Bytes(100), elapsed: Nanos::from_secs(1) };
        assert_eq!(progress.left(), Some(Nanos::from_secs(3)));
        assert_eq!(Progress { elapsed: Nanos(0), ..progress }.left(), None);
    }
}
