//! The free space of a mounted file system, to be verified without touching what is on it.
//!
//! Files of 1 GiB and more that lose their name as soon as they are made: whatever ends the program ends them as well. Offsets
//! count along these files, and not along the device. Only what is free is looked at, so a card whose false end lies
//! in used space is not found out.

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

/// The smallest a file is made, but for the last.
const FILE_SIZE: u64 = 1 << 30;

/// More files than these are not held open at once: a process may have 1024 unless its limit was raised.
const MOST_FILES: u64 = 256;

/// Under the 4 GiB that FAT allows. Its largest volume of 2 TiB then takes twice as many files, which is still well.
const FAT_FILE_SIZE: u64 = 4095 << 20;

/// As `statfs` names FAT. Source: statfs(2).
const FAT: i64 = 0x4d44;

/// Fits every alignment that direct I/O on files may ask for, and keeps blocks whole within files.
const BLOCK: u32 = 4096;

/// Free space, seen as a device.
#[derive(Debug)]
pub struct FreeSpace {
    files: Vec<File>,
    /// Bytes of each but the last.
    file_size: u64,
    size: Bytes,
}

impl FreeSpace {
    /// Bytes that an ordinary user may still write there, as the file system itself answers.
    ///
    /// # Errors
    /// When it does not answer.
    pub fn at(folder: &Path) -> io::Result<Bytes> {
        let stat = rustix::fs::statvfs(folder)?;
        Ok(Bytes(stat.f_bavail.saturating_mul(stat.f_frsize)))
    }

    /// How much of free space is taken: at most `limit`, where one is given. A fiftieth, and 32 MiB at least, stays free.
    pub fn usable(free: Bytes, limit: Option<Bytes>) -> Bytes {
        let usable = free
            .0
            .saturating_sub((free.0 / 50).max(32 << 20))
            .min(limit.map_or(u64::MAX, |limit| limit.0));
        Bytes(usable / u64::from(BLOCK) * u64::from(BLOCK))
    }

    /// Takes the free space of the file system that a folder is on; at most `limit` of it, where one is given. A
    /// fiftieth, and 32 MiB at least, stays free, for the file system needs some room for itself.
    ///
    /// # Errors
    /// When the folder cannot be written to, or there is next to no free space.
    pub fn take(folder: &Path, limit: Option<Bytes>) -> io::Result<FreeSpace> {
        let free = FreeSpace::at(folder)?;
        if let Some(limit) = limit.filter(|limit| limit.0 < BLOCK.into()) {
            let text = format!(
                "{limit} are less than the {} that are written at once",
                Bytes(BLOCK.into())
            );
            return Err(io::Error::new(io::ErrorKind::InvalidInput, text));
        }
        let size = FreeSpace::usable(free, limit).0;
        if size == 0 {
            let text = format!(
                "{} has only {} free: remove something",
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

    /// The file and the offset in it; blocks never cross files, chunks may.
    fn place(&self, offset: u64) -> io::Result<(&File, u64)> {
        let index = usize::try_from(offset / self.file_size).unwrap_or(usize::MAX);
        let beyond = || io::Error::from(Errno::INVAL);
        Ok((
            self.files.get(index).ok_or_else(beyond)?,
            offset % self.file_size,
        ))
    }
}

/// How large the files are made, so that there are not too many of them. Whole MiB, so that blocks stay whole.
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

/// A file without a name: O_TMPFILE would do, but FAT does not have it.
fn nameless(folder: &Path, index: u64) -> io::Result<File> {
    let path = folder.join(format!(".hakaru-verify-{}-{index}", std::process::id()));
    let open = |extra: OFlags| -> Result<OwnedFd, Errno> {
        let flags = OFlags::RDWR | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
        let file = rustix::fs::open(&path, flags | extra, Mode::RUSR | Mode::WUSR);
        // A refused O_DIRECT may leave the file behind, and a name that was there before is not ours.
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

/// Whether the disk below a file is gone. Of file systems without a device of their own, or of several, nothing is known.
pub(crate) fn lies_on_pulled(file: BorrowedFd<'_>) -> bool {
    let Ok(stat) = rustix::fs::fstat(file) else {
        return false;
    };
    let (roots, number) = (Roots::live(), DevNum::from_raw(stat.st_dev as _));
    // Without sysfs nothing can be told either.
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
            // Without O_DIRECT, reading would only ask the memory of the host.
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

    /// Whether the disk below the file system is gone: the mount stays.
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

    /// A file a GiB met the limit of open files at 1 TiB.
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
