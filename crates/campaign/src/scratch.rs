//! A temporary file for measurements that cannot be left behind.
//!
//! The file has no name: its space is free as soon as the last descriptor is closed, even after a panic or a `kill
//! -9`. The engine opens it through `/proc`.

use hakaru_model::units::Bytes;
use rustix::fd::{AsRawFd, OwnedFd};
use rustix::fs::{FallocateFlags, Mode, OFlags};
use rustix::io::Errno;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Errors of the scratch file.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[allow(missing_docs)] // Each field is named in its message.
pub enum ScratchError {
    #[error("cannot create a temporary file in {}: {errno}{}", .folder.display(), hint(*.errno))]
    Make { folder: PathBuf, errno: Errno },
    #[error("cannot write the temporary file in {} at byte {at}: {errno}{}", .folder.display(), hint(*.errno))]
    Write {
        folder: PathBuf,
        at: u64,
        errno: Errno,
    },
    #[error("stopped while the temporary file was being written")]
    Stopped,
}

fn hint(errno: Errno) -> &'static str {
    match errno {
        Errno::NOSPC => "; help: the file system is full: free some space, or use a smaller --size",
        Errno::DQUOT => "; help: your disk quota is used up: use a smaller --size",
        Errno::ACCESS | Errno::PERM => {
            "; help: choose a writable directory, such as your home \
            directory"
        }
        Errno::ROFS => {
            "; help: the file system is mounted read-only: remount it, or choose \
            another directory"
        }
        _ => "",
    }
}

/// Attempts an allocation until there is space for it. `goes_on` is asked before each pause: `None` gives up with the
/// error, and `Some(false)` returns `false`.
fn until_space(
    attempt: &mut dyn FnMut() -> Result<(), Errno>,
    goes_on: &mut dyn FnMut() -> Option<bool>,
    pause: Duration,
) -> Result<bool, Errno> {
    loop {
        match attempt() {
            Ok(()) => return Ok(true),
            Err(Errno::INTR) => {}
            Err(errno @ (Errno::NOSPC | Errno::DQUOT)) => match goes_on() {
                Some(true) => std::thread::sleep(pause),
                Some(false) => return Ok(false),
                None => return Err(errno),
            },
            Err(errno) => return Err(errno),
        }
    }
}

/// Pause between two attempts to allocate.
const PAUSE: Duration = Duration::from_millis(200);

/// A file without a name.
#[derive(Debug)]
pub struct Scratch {
    fd: OwnedFd,
    folder: PathBuf,
    size: u64,
}

/// Block size of fill writes.
const PIECE: usize = 1 << 20;

impl Scratch {
    /// Creates an empty scratch file in a directory.
    ///
    /// # Errors
    /// [`ScratchError::Make`] with advice.
    pub fn make(folder: &Path) -> Result<Scratch, ScratchError> {
        let failed = |errno| ScratchError::Make {
            folder: folder.to_owned(),
            errno,
        };
        let mode = Mode::from_raw_mode(0o600);
        let unnamed = rustix::fs::open(
            folder,
            OFlags::TMPFILE | OFlags::RDWR | OFlags::CLOEXEC,
            mode,
        );
        let fd = match unnamed {
            Ok(fd) => fd,
            // vfat and others do not support `O_TMPFILE`: the name is removed immediately.
            Err(Errno::OPNOTSUPP | Errno::ISDIR | Errno::NOENT | Errno::INVAL) => {
                let path = folder.join(format!(".hakaru-{}.tmp", crate::new_id()));
                let flags = OFlags::CREATE | OFlags::EXCL | OFlags::RDWR | OFlags::CLOEXEC;
                let fd = rustix::fs::open(&path, flags, mode).map_err(failed)?;
                rustix::fs::unlink(&path).map_err(failed)?;
                fd
            }
            Err(errno) => return Err(failed(errno)),
        };
        Ok(Scratch {
            fd,
            folder: folder.to_owned(),
            size: 0,
        })
    }

    /// Allocates `size` bytes, in as few pieces as the file system has. While there is no space, tries again for
    /// `patience`: after a `kill -9`, the space of a file without a name is free only some time later. `waits` is called
    /// before each pause, and returns whether to go on. Does nothing where the file system cannot allocate.
    ///
    /// # Errors
    /// [`ScratchError::Write`] with advice, or [`ScratchError::Stopped`].
    pub fn reserve(
        &mut self,
        size: Bytes,
        patience: Duration,
        waits: &mut dyn FnMut() -> bool,
    ) -> Result<(), ScratchError> {
        let begun = Instant::now();
        let mut attempt = || {
            // Half an allocation would leave the next attempt other, smaller pieces.
            let system = rustix::fs::fstatvfs(&self.fd)?;
            if system.f_bavail.saturating_mul(system.f_frsize) < size.0 {
                return Err(Errno::NOSPC);
            }
            let allocated =
                rustix::fs::fallocate(&self.fd, FallocateFlags::empty(), self.size, size.0);
            if allocated == Err(Errno::NOSPC) {
                // What was allocated would divide the next attempt.
                rustix::fs::ftruncate(&self.fd, self.size)?;
            }
            allocated
        };
        let mut goes_on = || match begun.elapsed() < patience {
            true => Some(waits()),
            false => None,
        };
        let reserved = until_space(&mut attempt, &mut goes_on, PAUSE);
        match reserved {
            Ok(true) => Ok(()),
            Ok(false) => Err(ScratchError::Stopped),
            Err(Errno::OPNOTSUPP) => Ok(()),
            Err(errno) => Err(self.write_error(errno)),
        }
    }

    /// Fills the file with incompressible data up to `size`, or until `patience` has passed, and syncs it. `progress`
    /// receives the bytes written and returns whether to continue.
    ///
    /// # Errors
    /// [`ScratchError::Write`] with the offset and advice, or [`ScratchError::Stopped`].
    pub fn fill(
        &mut self,
        size: Bytes,
        least: Bytes,
        patience: Option<Duration>,
        progress: &mut dyn FnMut(u64) -> bool,
    ) -> Result<(), ScratchError> {
        let begun = Instant::now();
        let mut rng = hakaru_model::rng::Rng::new(begun.elapsed().subsec_nanos().into());
        let mut buffer = vec![0u8; PIECE];
        while self.size < size.0 {
            for word in buffer.chunks_exact_mut(8) {
                word.copy_from_slice(&rng.next_u64().to_le_bytes());
            }
            let len = (size.0 - self.size).min(PIECE as u64) as usize;
            match rustix::io::pwrite(&self.fd, &buffer[..len], self.size) {
                Err(Errno::INTR) => continue,
                Ok(0) => return Err(self.write_error(Errno::NOSPC)),
                Ok(written) => self.size += written as u64,
                Err(errno) => return Err(self.write_error(errno)),
            }
            // Syncs every 16 blocks, so that the elapsed time is that of the device and not of the page cache.
            if self.size.is_multiple_of(16 * PIECE as u64) || self.size == size.0 {
                rustix::fs::fdatasync(&self.fd).map_err(|errno| self.write_error(errno))?;
                let is_over = patience.is_some_and(|patience| begun.elapsed() > patience);
                if is_over && self.size >= least.0 {
                    break;
                }
            }
            if !progress(self.size) {
                return Err(ScratchError::Stopped);
            }
        }
        rustix::fs::fsync(&self.fd).map_err(|errno| self.write_error(errno))
    }

    /// Returns the error of a write or a sync at the end of the file.
    fn write_error(&self, errno: Errno) -> ScratchError {
        ScratchError::Write {
            folder: self.folder.clone(),
            at: self.size,
            errno,
        }
    }

    /// Size of the file.
    pub fn size(&self) -> Bytes {
        Bytes(self.size)
    }

    /// A path that opens the file while this value exists.
    pub fn path(&self) -> PathBuf {
        PathBuf::from(format!(
            "/proc/{}/fd/{}",
            std::process::id(),
            self.fd.as_raw_fd()
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_has_no_name_and_can_be_opened() {
        let dir = tempfile::tempdir().unwrap();
        let mut scratch = Scratch::make(dir.path()).unwrap();
        let mut heard = 0;
        scratch
            .fill(Bytes(3 << 20), Bytes(0), None, &mut |done| {
                heard = done;
                true
            })
            .unwrap();
        assert_eq!((scratch.size(), heard), (Bytes(3 << 20), 3 << 20));
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 0);
        let content = std::fs::read(scratch.path()).unwrap();
        assert!(
            content.len() == 3 << 20
                && content
                    .chunks(4096)
                    .all(|page| page.iter().any(|&b| b != 0))
        );
    }

    #[test]
    fn what_cannot_be_made_says_why() {
        let error = Scratch::make(Path::new("/proc/no/where")).unwrap_err();
        assert!(error.to_string().contains("/proc/no/where"), "{error}");
    }

    #[test]
    fn waits_for_space_until_it_is_free_or_patience_or_the_user_ends() {
        let mut failures = 2;
        let mut attempt = || match failures {
            0 => Ok(()),
            _ => {
                failures -= 1;
                Err(Errno::NOSPC)
            }
        };
        let mut asked = 0;
        let mut waits = || {
            asked += 1;
            Some(true)
        };
        let found = until_space(&mut attempt, &mut waits, Duration::ZERO);
        assert_eq!((found, asked), (Ok(true), 2));
        let mut full = || Err(Errno::NOSPC);
        let ended = until_space(&mut full, &mut || None, Duration::ZERO);
        assert_eq!(ended, Err(Errno::NOSPC));
        let stopped = until_space(&mut full, &mut || Some(false), Duration::ZERO);
        assert_eq!(stopped, Ok(false));
        let mut other = || Err(Errno::OPNOTSUPP);
        let failed = until_space(&mut other, &mut || Some(true), Duration::ZERO);
        assert_eq!(failed, Err(Errno::OPNOTSUPP));
    }

    #[test]
    fn a_reserved_file_is_filled() {
        let dir = tempfile::tempdir().unwrap();
        let mut scratch = Scratch::make(dir.path()).unwrap();
        let size = Bytes(3 << 20);
        scratch.reserve(size, Duration::ZERO, &mut || true).unwrap();
        scratch.fill(size, size, None, &mut |_| true).unwrap();
        assert_eq!(std::fs::metadata(scratch.path()).unwrap().len(), size.0);
    }

    #[test]
    fn a_stop_is_heard() {
        let dir = tempfile::tempdir().unwrap();
        let mut scratch = Scratch::make(dir.path()).unwrap();
        assert_eq!(
            scratch.fill(Bytes(3 << 20), Bytes(0), None, &mut |_| false),
            Err(ScratchError::Stopped)
        );
    }
}
