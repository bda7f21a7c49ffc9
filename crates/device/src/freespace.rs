//! Verifies the free space of a mounted file system without changing its files.
//!
//! Creates files of at least 1 GiB that are unlinked immediately, so they disappear with the
//! program. Offsets are positions in these files, not on the device. Used space is not tested: a
//! fake end of a card inside used space is not detected.

use crate::blockdev::{BlockDev, patiently, unless_pulled};
use crate::roots::{self, DevNum, Roots};
use hakaru_model::units::{Bytes, Nanos};
use rustix::fs::{Advice, Mode, OFlags};
use rustix::io::Errno;
use std::fs::File;
use std::io;
use std::num::NonZeroU64;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::fs::FileExt;
use std::path::Path;

/// Minimum file size, except for the last file.
const FILE_SIZE: u64 = 1 << 30;

/// Maximum number of open files: the default limit per process is 1024.
const MOST_FILES: u64 = 256;

/// File size on FAT, below its limit of 4 GiB. The largest FAT volume of 2 TiB then needs twice as many files, which is
/// acceptable.
const FAT_FILE_SIZE: u64 = 4095 << 20;

/// File system magic number of FAT. Source: statfs(2).
const FAT: i64 = 0x4d44;

/// Block size in bytes. It satisfies every direct I/O alignment, and keeps blocks within files.
const BLOCK: u32 = 4096;

/// Free space as a block device.
#[derive(Debug)]
pub struct FreeSpace {
    files: Vec<File>,
    /// Size of each file except the last.
    file_size: u64,
    size: Bytes,
}

impl FreeSpace {
    /// Returns the free bytes for an unprivileged user.
    ///
    /// # Errors
    /// If statfs fails.
    pub fn at(folder: &Path) -> io::Result<Bytes> {
        let stat = rustix::fs::statvfs(folder)?;
        Ok(Bytes(stat.f_bavail.saturating_mul(stat.f_frsize)))
    }

    /// Returns the number of bytes to use, at most `limit`. 2% and at least 32 MiB stay free.
    pub fn usable(free: Bytes, limit: Option<Bytes>) -> Bytes {
        let usable = free
            .0
            .saturating_sub((free.0 / 50).max(32 << 20))
            .min(limit.map_or(u64::MAX, |limit| limit.0));
        Bytes(usable / u64::from(BLOCK) * u64::from(BLOCK))
    }

    /// Allocates the free space of a file system, at most `limit` bytes. 2% and at least 32 MiB
    /// stay free for the file system itself.
    ///
    /// # Errors
    /// If the directory is not writable or there is almost no free space.
    pub fn take(folder: &Path, limit: Option<Bytes>) -> io::Result<FreeSpace> {
        let free = FreeSpace::at(folder)?;
        if let Some(limit) = limit.filter(|limit| limit.0 < BLOCK.into()) {
            let text = format!(
                "the limit {limit} is less than one write of {}",
                Bytes(BLOCK.into())
            );
            return Err(io::Error::new(io::ErrorKind::InvalidInput, text));
        }
        let size = FreeSpace::usable(free, limit).0;
        if size == 0 {
            let text = format!(
                "not enough space on {}: only {} free; help: remove some files",
                folder.display(),
                free
            );
            return Err(io::Error::new(io::ErrorKind::StorageFull, text));
        }
        let is_fat = rustix::fs::statfs(folder)?.f_type as i64 == FAT;
        let file_size = file_size(size, is_fat);
        let count = size.div_ceil(file_size);
        let files = (0..count)
            .map(|index| nameless(folder, index))
            .collect::<io::Result<_>>()?;
        Ok(FreeSpace {
            files,
            file_size,
            size: Bytes(size),
        })
    }

    /// Returns the file and the offset in it. A block never spans two files; a chunk may.
    fn place(&self, offset: u64) -> io::Result<(&File, u64)> {
        let index = usize::try_from(offset / self.file_size).unwrap_or(usize::MAX);
        let beyond = || io::Error::from(Errno::INVAL);
        Ok((
            self.files.get(index).ok_or_else(beyond)?,
            offset % self.file_size,
        ))
    }
}

/// Returns the file size that keeps the number of files within the limit. It is a multiple of 1 MiB, so that no block
/// is split.
fn file_size(size: u64, is_fat: bool) -> u64 {
    let wanted = size
        .div_ceil(MOST_FILES)
        .next_multiple_of(1 << 20)
        .max(FILE_SIZE);
    if is_fat {
        wanted.min(FAT_FILE_SIZE)
    } else {
        wanted
    }
}

/// Creates an unnamed file. FAT does not support O_TMPFILE.
fn nameless(folder: &Path, index: u64) -> io::Result<File> {
    let path = folder.join(format!(".hakaru-verify-{}-{index}", std::process::id()));
    let open = |extra: OFlags| -> Result<OwnedFd, Errno> {
        let flags = OFlags::RDWR | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
        let file = rustix::fs::open(&path, flags | extra, Mode::RUSR | Mode::WUSR);
        // A refused O_DIRECT may leave the file behind; a file that existed before must not be removed.
        if !matches!(file, Err(Errno::EXIST)) {
            let _ = rustix::fs::unlink(&path);
        }
        file
    };
    let file = open(OFlags::DIRECT).or_else(|error| match error {
        Errno::INVAL | Errno::OPNOTSUPP => open(OFlags::empty()),
        error => Err(error),
    })?;
    Ok(File::from(file))
}

/// Whether the disk of a file was removed. `false` for file systems without a device or with
/// several.
pub(crate) fn lies_on_pulled(file: BorrowedFd<'_>) -> bool {
    let Ok(stat) = rustix::fs::fstat(file) else {
        return false;
    };
    let (roots, number) = (Roots::live(), DevNum::from_raw(stat.st_dev as _));
    // Without sysfs this is unknown.
    let can_tell = number.major != 0 && roots.sys.join("dev/block").is_dir();
    let size = roots
        .sysfs_of(number)
        .and_then(|folder| roots::number::<u64>(&folder.join("size")));
    can_tell && size.is_none_or(|size| size == 0)
}

impl BlockDev for FreeSpace {
    fn size(&self) -> Bytes {
        self.size
    }

    fn block(&self) -> u32 {
        BLOCK
    }

    fn write_at(&mut self, offset: u64, data: &[u8]) -> io::Result<()> {
        let (mut at, mut rest) = (offset, data);
        while !rest.is_empty() {
            let (file, within) = self.place(at)?;
            let room = usize::try_from(self.file_size - within)
                .unwrap_or(usize::MAX)
                .min(rest.len());
            let (now, later) = rest.split_at(room);
            let answer = file.write_all_at(now, within);
            answer.map_err(|error| unless_pulled(self, error))?;
            (at, rest) = (at + room as u64, later);
        }
        Ok(())
    }

    fn read_at(&mut self, offset: u64, buffer: &mut [u8]) -> io::Result<()> {
        let (mut at, mut rest) = (offset, buffer);
        while !rest.is_empty() {
            let (file, within) = self.place(at)?;
            let room = usize::try_from(self.file_size - within)
                .unwrap_or(usize::MAX)
                .min(rest.len());
            let (now, later) = rest.split_at_mut(room);
            let answer = file.read_exact_at(now, within);
            answer.map_err(|error| unless_pulled(self, error))?;
            (at, rest) = (at + room as u64, later);
        }
        Ok(())
    }

    fn flush(&mut self) -> io::Result<()> {
        for file in &self.files {
            file.sync_all()
                .map_err(|error| unless_pulled(self, error))?;
            // Without O_DIRECT, reads would come from the page cache.
            rustix::fs::fadvise(file.as_fd(), 0, None::<NonZeroU64>, Advice::DontNeed)?;
        }
        Ok(())
    }

    fn now(&self) -> Nanos {
        Nanos(hakaru_sys::clock::monotonic())
    }

    fn may_shrink(&self) -> bool {
        true
    }

    /// Whether the disk was removed; its mount remains.
    fn is_pulled(&self) -> bool {
        self.files
            .first()
            .is_some_and(|file| lies_on_pulled(file.as_fd()))
    }

    fn turns_out_pulled(&self) -> bool {
        patiently(|| self.is_pulled())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::verify::verify;
    use std::ops::ControlFlow;

    #[test]
    fn free_space_is_verified_and_given_back() {
        let folder = tempfile::tempdir().unwrap();
        let limit = Bytes(9 << 20);
        let mut space = match FreeSpace::take(folder.path(), Some(limit)) {
            Ok(space) => space,
            Err(error) => {
                eprintln!("SKIPPED free_space_is_verified_and_given_back: {error}");
                return;
            }
        };
        assert_eq!(crate::roots::names(folder.path()), [""; 0]);
        let verdict = verify(&mut space, 1, &mut |_| ControlFlow::Continue(())).unwrap();
        assert!(verdict.is_good() && verdict.good == limit, "{verdict:?}");
    }

    /// Regression: one file per GiB exceeded the open file limit at 1 TiB.
    #[test]
    fn large_space_is_cut_into_no_more_files_than_may_be_open() {
        for size in [4096, 1 << 30, (1 << 40) - 4096, 1 << 40, 20 << 40] {
            let each = file_size(size, false);
            assert!(
                size.div_ceil(each) <= MOST_FILES && each.is_multiple_of(u64::from(BLOCK)),
                "{size}: {each}"
            );
        }
        assert_eq!(
            (file_size(100 << 30, false), file_size(1 << 40, false)),
            (FILE_SIZE, 4 << 30)
        );
        let largest_fat = 2u64 << 40;
        assert!(
            largest_fat.div_ceil(file_size(largest_fat, true)) < 600
                && file_size(largest_fat, true) < 4 << 30
        );
    }

    #[test]
    fn blocks_beyond_the_end_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let files = vec![nameless(folder.path(), 0).unwrap()];
        let mut space = FreeSpace {
            files,
            file_size: FILE_SIZE,
            size: Bytes(FILE_SIZE),
        };
        assert!(space.write_at(FILE_SIZE, &[0; 4096]).is_err());
        assert!(space.read_at(FILE_SIZE, &mut [0; 4096]).is_err());
    }
}
