//! The synchronous engines on files: `sync`, `psync`, `pvsync`, `pvsync2`.

use super::{Backend, SyncKind};
use hakaru_model::job::{IoEngine, Op};
use hakaru_model::stream::Request;
use hakaru_sys::Errno;
use hakaru_sys::buffer::Slots;
use rustix::fd::{AsFd, BorrowedFd, OwnedFd};
use rustix::io::ReadWriteFlags;
use std::io::{IoSlice, IoSliceMut};
use std::time::Duration;

/// Which call moves the data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Call {
    Seek,
    Positional,
    Vectored,
    Vectored2(ReadWriteFlags),
}

/// One I/O at a time, by a system call that returns when it is done.
#[derive(Debug)]
pub(crate) struct FileBackend {
    files: Vec<OwnedFd>,
    slots: Slots,
    call: Call,
    /// File offset of each file, for the engine that seeks.
    at: Vec<u64>,
}

impl FileBackend {
    /// Files in the order of the worker's regions.
    pub(crate) fn new(files: Vec<OwnedFd>, slots: Slots, engine: IoEngine, flags: ReadWriteFlags) -> FileBackend {
        let call = match engine {
            IoEngine::Sync => Call::Seek,
            IoEngine::Pvsync => Call::Vectored,
            IoEngine::Pvsync2 => Call::Vectored2(flags),
            _ => Call::Positional,
        };
        let at = vec![0; files.len()];
        FileBackend { files, slots, call, at }
    }
}

#[inline(always)]
fn read(call: Call, fd: BorrowedFd<'_>, buffer: &mut [u8], offset: u64) -> Result<usize, Errno> {
    match call {
        Call::Seek => rustix::io::read(fd, buffer),
        Call::Positional => rustix::io::pread(fd, buffer, offset),
        Call::Vectored => rustix::io::preadv(fd, &mut [IoSliceMut::new(buffer)], offset),
        Call::Vectored2(flags) => rustix::io::preadv2(fd, &mut [IoSliceMut::new(buffer)], offset, flags),
    }
}

#[inline(always)]
fn write(call: Call, fd: BorrowedFd<'_>, buffer: &[u8], offset: u64) -> Result<usize, Errno> {
    match call {
        Call::Seek => rustix::io::write(fd, buffer),
        Call::Positional => rustix::io::pwrite(fd, buffer, offset),
        Call::Vectored => rustix::io::pwritev(fd, &[IoSlice::new(buffer)], offset),
        Call::Vectored2(flags) => rustix::io::pwritev2(fd, &[IoSlice::new(buffer)], offset, flags),
    }
}

/// Flushes one file.
pub(crate) fn sync_file(file: impl AsFd, kind: SyncKind) -> Result<(), Errno> {
    match kind {
        SyncKind::Full => rustix::fs::fsync(file),
        SyncKind::Data => rustix::fs::fdatasync(file),
    }
}

impl Backend for FileBackend {
    const QUEUED: bool = false;
    const SUBMIT_WAITS: bool = false;

    #[inline]
    fn buffer(&mut self, slot: u32, len: usize) -> &mut [u8] {
        self.slots.get_mut(slot as usize, len)
    }

    fn buffers(&mut self) -> &mut [u8] {
        self.slots.all_mut()
    }

    // Inlined whole: saving and restoring registers would be a tenth of what is done besides the system call.
    #[inline(always)]
    fn transfer(&mut self, request: &Request) -> Result<u32, Errno> {
        let Request { op, region, offset, len } = *request;
        let fd = self.files[region as usize].as_fd();
        if self.call == Call::Seek && op != Op::Trim && self.at[region as usize] != offset {
            rustix::fs::seek(fd, rustix::fs::SeekFrom::Start(offset))?;
        }
        let buffer = self.slots.get_mut(0, len as usize);
        let moved = match op {
            Op::Read => read(self.call, fd, buffer, offset)?,
            Op::Write => write(self.call, fd, buffer, offset)?,
            Op::Trim => {
                hakaru_sys::file::discard(fd, offset, u64::from(len))?;
                return Ok(len);
            }
        };
        if self.call == Call::Seek {
            self.at[region as usize] = offset + moved as u64;
        }
        Ok(moved as u32)
    }

    fn prepare(&mut self, _: u32, _: &Request) {}

    fn submit(&mut self, _: usize) -> Result<usize, Errno> {
        Ok(0)
    }

    fn withdraw(&mut self) -> Option<u32> {
        None
    }

    fn reap(
        &mut self,
        _: usize,
        _: usize,
        _: Option<Duration>,
        _: impl FnMut(u32, Result<u32, Errno>),
    ) -> Result<usize, Errno> {
        Ok(0)
    }

    fn sync(&mut self, region: u32, kind: SyncKind) -> Result<(), Errno> {
        sync_file(&self.files[region as usize], kind)
    }
}
