//! The `falloc` and `ftruncate` engines, which change the allocated space or the size of a file and
//! transfer no data.

use super::files::Call;
use hakaru_sys::Errno;
use rustix::fd::BorrowedFd;
use rustix::fs::FallocateFlags;

/// `fallocate`: a read reserves space without growing the file, a write reserves space and grows the file, a trim
/// punches a hole. Source: fio's manual.
#[derive(Debug)]
pub(crate) struct FallocateCall;

impl Call for FallocateCall {
    const MOVES_DATA: bool = false;

    #[inline]
    fn read(&mut self, fd: BorrowedFd<'_>, buffer: &mut [u8], offset: u64) -> Result<usize, Errno> {
        let len = buffer.len();
        rustix::fs::fallocate(fd, FallocateFlags::KEEP_SIZE, offset, len as u64).map(|()| len)
    }

    #[inline]
    fn write(&mut self, fd: BorrowedFd<'_>, buffer: &[u8], offset: u64) -> Result<usize, Errno> {
        let len = buffer.len();
        rustix::fs::fallocate(fd, FallocateFlags::empty(), offset, len as u64).map(|()| len)
    }

    fn trim(&mut self, fd: BorrowedFd<'_>, offset: u64, len: u32) -> Result<(), Errno> {
        let flags = FallocateFlags::KEEP_SIZE | FallocateFlags::PUNCH_HOLE;
        rustix::fs::fallocate(fd, flags, offset, u64::from(len))
    }
}

/// `ftruncate`: each write sets the file size to its offset. Reads and trims are not supported.
#[derive(Debug)]
pub(crate) struct Truncate;

impl Call for Truncate {
    const MOVES_DATA: bool = false;

    fn read(&mut self, _: BorrowedFd<'_>, _: &mut [u8], _: u64) -> Result<usize, Errno> {
        Err(Errno::INVAL)
    }

    #[inline]
    fn write(&mut self, fd: BorrowedFd<'_>, buffer: &[u8], offset: u64) -> Result<usize, Errno> {
        rustix::fs::ftruncate(fd, offset).map(|()| buffer.len())
    }

    fn trim(&mut self, _: BorrowedFd<'_>, _: u64, _: u32) -> Result<(), Errno> {
        Err(Errno::INVAL)
    }
}
