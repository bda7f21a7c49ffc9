//! A temporary file for measurements that cannot be left behind.
//!
//! The file has no name: its space is free as soon as the last descriptor is closed, even after a panic or a `kill
//! -9`. The engine opens it through `/proc`.

use hakaru_model::units::Bytes;
use rustix::fd::{AsRawFd, OwnedFd};
use rustix::fs::{Mode, OFlags};
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
    fn a_stop_is_heard() {
        let dir = tempfile::tempdir().unwrap();
        let mut scratch = Scratch::make(dir.path()).unwrap();
        assert_eq!(
            scratch.fill(Bytes(3 << 20), Bytes(0), None, &mut |_| false),
            Err(ScratchError::Stopped)
        );
    }
}
