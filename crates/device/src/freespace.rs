//! The free space of a mounted file system, to be verified without touching what is on it.
//!
//! Files of 1 GiB that lose their name as soon as they are made: whatever ends the program ends them as well. Offsets
//! count along these files, and not along the device. Only what is free is looked at, so a card whose false end lies
//! in used space is not found out.

use crate::blockdev::BlockDev;
use hakaru_model::units::{Bytes, Nanos};
use rustix::fs::{Advice, Mode, OFlags};
use rustix::io::Errno;
use std::fs::File;
use std::io;
use std::num::NonZeroU64;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::FileExt;
use std::path::Path;

/// Under the 4 GiB that FAT allows.
const FILE_SIZE: u64 = 1 << 30;

/// Fits every alignment that direct I/O on files may ask for, and keeps blocks whole within files.
const BLOCK: u32 = 4096;

/// Free space, seen as a device.
#[derive(Debug)]
pub struct FreeSpace {
    files: Vec<File>,
    size: Bytes,
}

impl FreeSpace {
    /// Takes the free space of the file system that a folder is on; at most `limit` of it, where one is given. A
    /// fiftieth, and 32 MiB at least, stays free, for the file system needs some room for itself.
    ///
    /// # Errors
    /// When the folder cannot be written to, or there is next to no free space.
    pub fn take(folder: &Path, limit: Option<Bytes>) -> io::Result<FreeSpace> {
        let stat = rustix::fs::statvfs(folder)?;
        let free = stat.f_bavail.saturating_mul(stat.f_frsize);
        let usable = free.saturating_sub((free / 50).max(32 << 20)).min(limit.map_or(u64::MAX, |limit| limit.0));
        let size = usable / u64::from(BLOCK) * u64::from(BLOCK);
        if size == 0 {
            let text = format!("{} has only {} free: remove something", folder.display(), Bytes(free));
            return Err(io::Error::new(io::ErrorKind::StorageFull, text));
        }
        let count = size.div_ceil(FILE_SIZE);
        let files = (0..count).map(|index| nameless(folder, index)).collect::<io::Result<_>>()?;
        Ok(FreeSpace { files, size: Bytes(size) })
    }

    /// The file and the offset in it; blocks never cross files, chunks may.
    fn place(&self, offset: u64) -> io::Result<(&File, u64)> {
        let index = usize::try_from(offset / FILE_SIZE).unwrap_or(usize::MAX);
        let beyond = || io::Error::from(Errno::INVAL);
        Ok((self.files.get(index).ok_or_else(beyond)?, offset % FILE_SIZE))
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
            let room = usize::try_from(FILE_SIZE - within).unwrap_or(usize::MAX).min(rest.len());
            let (now, later) = rest.split_at(room);
            file.write_all_at(now, within)?;
            (at, rest) = (at + room as u64, later);
        }
        Ok(())
    }

    fn read_at(&mut self, offset: u64, buffer: &mut [u8]) -> io::Result<()> {
        let (mut at, mut rest) = (offset, buffer);
        while !rest.is_empty() {
            let (file, within) = self.place(at)?;
            let room = usize::try_from(FILE_SIZE - within).unwrap_or(usize::MAX).min(rest.len());
            let (now, later) = rest.split_at_mut(room);
            file.read_exact_at(now, within)?;
            (at, rest) = (at + room as u64, later);
        }
        Ok(())
    }

    fn flush(&mut self) -> io::Result<()> {
        for file in &self.files {
            file.sync_all()?;
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

    #[test]
    fn blocks_beyond_the_end_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let mut space = FreeSpace { files: vec![nameless(folder.path(), 0).unwrap()], size: Bytes(FILE_SIZE) };
        assert!(space.write_at(FILE_SIZE, &[0; 4096]).is_err());
        assert!(space.read_at(FILE_SIZE, &mut [0; 4096]).is_err());
    }
}
