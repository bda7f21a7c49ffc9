//! The synchronous engines on files: `sync`, `psync`, `pvsync`, `pvsync2`.

use super::{Files, MovedBuffer, OpenFiles, SyncBackend};
use hakaru_model::job::Op;
use hakaru_model::rng::Rng;
use hakaru_model::stream::IoRequest;
use hakaru_sys::Errno;
use hakaru_sys::buffer::Slots;
use rustix::fd::{AsFd, BorrowedFd, OwnedFd};
use rustix::io::ReadWriteFlags;
use std::io::{IoSlice, IoSliceMut};

/// System call that transfers data. The backend is compiled once per call, without dispatch at run
/// time.
pub(crate) trait Call: std::fmt::Debug {
    /// Whether the call uses the file position, which must be set first.
    const SEEKS: bool = false;

    /// Whether the call uses the content of buffers. If not, they are not filled: filling a buffer
    /// of 1 GiB takes a while.
    const MOVES_DATA: bool = true;

    fn read(&mut self, fd: BorrowedFd<'_>, buffer: &mut [u8], offset: u64) -> Result<usize, Errno>;
    fn write(&mut self, fd: BorrowedFd<'_>, buffer: &[u8], offset: u64) -> Result<usize, Errno>;

    #[cold]
    fn trim(&mut self, fd: BorrowedFd<'_>, offset: u64, len: u32) -> Result<(), Errno> {
        hakaru_sys::file::discard(fd, offset, u64::from(len))
    }
}

/// `read` and `write` at the file's own offset.
#[derive(Debug)]
pub(crate) struct Seek;

impl Call for Seek {
    const SEEKS: bool = true;

    #[inline(always)]
    fn read(&mut self, fd: BorrowedFd<'_>, buffer: &mut [u8], _: u64) -> Result<usize, Errno> {
        rustix::io::read(fd, buffer)
    }

    #[inline(always)]
    fn write(&mut self, fd: BorrowedFd<'_>, buffer: &[u8], _: u64) -> Result<usize, Errno> {
        rustix::io::write(fd, buffer)
    }
}

/// `pread` and `pwrite`.
#[derive(Debug)]
pub(crate) struct Positional;

impl Call for Positional {
    #[inline(always)]
    fn read(&mut self, fd: BorrowedFd<'_>, buffer: &mut [u8], offset: u64) -> Result<usize, Errno> {
        rustix::io::pread(fd, buffer, offset)
    }

    #[inline(always)]
    fn write(&mut self, fd: BorrowedFd<'_>, buffer: &[u8], offset: u64) -> Result<usize, Errno> {
        rustix::io::pwrite(fd, buffer, offset)
    }
}

/// `preadv` and `pwritev`.
#[derive(Debug)]
pub(crate) struct Vectored;

impl Call for Vectored {
    #[inline(always)]
    fn read(&mut self, fd: BorrowedFd<'_>, buffer: &mut [u8], offset: u64) -> Result<usize, Errno> {
        rustix::io::preadv(fd, &mut [IoSliceMut::new(buffer)], offset)
    }

    #[inline(always)]
    fn write(&mut self, fd: BorrowedFd<'_>, buffer: &[u8], offset: u64) -> Result<usize, Errno> {
        rustix::io::pwritev(fd, &[IoSlice::new(buffer)], offset)
    }
}

/// `preadv2` and `pwritev2` with these flags: the first for reads, the second for writes.
#[derive(Debug)]
pub(crate) struct Vectored2(pub(crate) ReadWriteFlags, pub(crate) ReadWriteFlags);

impl Call for Vectored2 {
    #[inline(always)]
    fn read(&mut self, fd: BorrowedFd<'_>, buffer: &mut [u8], offset: u64) -> Result<usize, Errno> {
        rustix::io::preadv2(fd, &mut [IoSliceMut::new(buffer)], offset, self.0)
    }

    #[inline(always)]
    fn write(&mut self, fd: BorrowedFd<'_>, buffer: &[u8], offset: u64) -> Result<usize, Errno> {
        rustix::io::pwritev2(fd, &[IoSlice::new(buffer)], offset, self.1)
    }
}

/// Like [`Vectored2`], but polls only a percentage of the I/Os.
#[derive(Debug)]
pub(crate) struct VectoredSome {
    plain: Vectored2,
    polled: Vectored2,
    percent: u64,
    draws: Rng,
}

impl VectoredSome {
    /// Uses the `polled` call for `percent` percent of the I/Os.
    pub(crate) fn new(polled: Vectored2, percent: u32, seed: u64) -> VectoredSome {
        let plain = Vectored2(
            polled.0 - ReadWriteFlags::HIPRI,
            polled.1 - ReadWriteFlags::HIPRI,
        );
        VectoredSome {
            plain,
            polled,
            percent: percent.into(),
            draws: Rng::fork(seed, 0x41),
        }
    }

    #[inline]
    fn draw(&mut self) -> &mut Vectored2 {
        let polls = self.draws.below(100) < self.percent;
        #[cfg(test)]
        DRAWN.with(|drawn| drawn.set((drawn.get().0 + 1, drawn.get().1 + u32::from(polls))));
        if polls {
            &mut self.polled
        } else {
            &mut self.plain
        }
    }
}

#[cfg(test)]
thread_local! {
    /// Number of I/Os of the calling thread so far, and how many of them were polled.
    pub(crate) static DRAWN: std::cell::Cell<(u32, u32)> = const { std::cell::Cell::new((0, 0)) };
}

impl Call for VectoredSome {
    #[inline(always)]
    fn read(&mut self, fd: BorrowedFd<'_>, buffer: &mut [u8], offset: u64) -> Result<usize, Errno> {
        self.draw().read(fd, buffer, offset)
    }

    #[inline(always)]
    fn write(&mut self, fd: BorrowedFd<'_>, buffer: &[u8], offset: u64) -> Result<usize, Errno> {
        self.draw().write(fd, buffer, offset)
    }
}

/// Performs one I/O at a time with a blocking system call.
#[derive(Debug)]
pub(crate) struct FileBackend<K> {
    files: OpenFiles,
    slots: Slots,
    call: K,
    /// File offset of each file, for engines that seek.
    at: Vec<u64>,
}

impl<K: Call> FileBackend<K> {
    /// Files in the order of the worker's regions.
    pub(crate) fn new(files: Vec<OwnedFd>, slots: Slots, call: K) -> FileBackend<K> {
        let at = vec![0; files.len()];
        FileBackend {
            files: OpenFiles::new(files),
            slots,
            call,
            at,
        }
    }
}

impl<K: Call> Files for FileBackend<K> {
    #[inline]
    fn buffer(&mut self, slot: u32, len: usize) -> &mut [u8] {
        self.slots.get_mut(slot as usize, len)
    }

    #[inline]
    fn next_buffer(&mut self, slot: u32, len: usize) -> MovedBuffer<'_> {
        self.slots.move_on(slot as usize, len)
    }

    fn buffers(&mut self) -> &mut [u8] {
        if K::MOVES_DATA {
            self.slots.all_mut()
        } else {
            &mut []
        }
    }

    fn open_files(&mut self) -> Option<&mut OpenFiles> {
        Some(&mut self.files)
    }

    fn replace_file(&mut self, region: u32, file: OwnedFd) -> Result<(), Errno> {
        self.at[region as usize] = 0;
        self.files.replace(region, file)
    }
}

impl<K: Call> SyncBackend for FileBackend<K> {
    // Inlined: saving and restoring registers would be 10% of the work besides the system call.
    #[inline(always)]
    fn transfer(&mut self, request: &IoRequest) -> Result<u32, Errno> {
        let IoRequest {
            op,
            region,
            offset,
            len,
        } = *request;
        let fd = self.files[region].as_fd();
        if op == Op::Trim {
            return self.call.trim(fd, offset, len).map(|()| len);
        }
        if K::SEEKS && self.at[region as usize] != offset {
            rustix::fs::seek(fd, rustix::fs::SeekFrom::Start(offset))?;
        }
        let buffer = self.slots.get_mut(0, len as usize);
        let moved = match op {
            Op::Write => self.call.write(fd, buffer, offset)?,
            _ => self.call.read(fd, buffer, offset)?,
        };
        if K::SEEKS {
            self.at[region as usize] = offset + moved as u64;
        }
        Ok(moved as u32)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn polls_for_the_requested_percentage() {
        let flags = ReadWriteFlags::HIPRI | ReadWriteFlags::NOWAIT;
        for percent in [0, 30, 100] {
            let mut some = VectoredSome::new(Vectored2(flags, flags), percent, 5);
            let polled = (0..10_000)
                .filter(|_| some.draw().0.contains(ReadWriteFlags::HIPRI))
                .count();
            assert!(
                polled.abs_diff(100 * percent as usize) < 200,
                "{percent} %: {polled}"
            );
            assert_eq!(
                some.draw().1 - ReadWriteFlags::HIPRI,
                ReadWriteFlags::NOWAIT
            );
        }
    }
}
