//! The `falloc` engine, and what it shares with `ftruncate`: I/Os that change the space of a file and move no data.
//!
//! A read reserves space without growing the file, a write reserves it and grows the file, a trim punches a hole: so says
//! fio's manual.

use super::files::{close_all, sync_file};
use super::{Backend, SyncKind};
use hakaru_model::job::Op;
use hakaru_model::stream::IoRequest;
use hakaru_sys::Errno;
use hakaru_sys::buffer::Slots;
use rustix::fd::{AsFd, BorrowedFd, OwnedFd};
use rustix::fs::FallocateFlags;

/// What is done to the space of a file.
pub(crate) trait Space: std::fmt::Debug {
    fn change(&self, file: BorrowedFd<'_>, request: &IoRequest) -> Result<(), Errno>;
}

/// `fallocate`.
#[derive(Debug)]
pub(crate) struct FallocateCall;

impl Space for FallocateCall {
    fn change(&self, file: BorrowedFd<'_>, request: &IoRequest) -> Result<(), Errno> {
        let flags = match request.op {
            Op::Read => FallocateFlags::KEEP_SIZE,
            Op::Write => FallocateFlags::empty(),
            Op::Trim => FallocateFlags::KEEP_SIZE | FallocateFlags::PUNCH_HOLE,
        };
        rustix::fs::fallocate(file, flags, request.offset, u64::from(request.len))
    }
}

/// One change at a time.
#[derive(Debug)]
pub(crate) struct SpaceBackend<S> {
    files: Vec<OwnedFd>,
    slots: Slots,
    space: S,
}

impl<S: Space> SpaceBackend<S> {
    /// Files in the order of the worker's regions.
    pub(crate) fn new(files: Vec<OwnedFd>, slots: Slots, space: S) -> SpaceBackend<S> {
        SpaceBackend {
            files,
            slots,
            space,
        }
    }
}

impl<S: Space> Backend for SpaceBackend<S> {
    const QUEUED: bool = false;
    const SUBMIT_WAITS: bool = false;

    #[inline]
    fn buffer(&mut self, slot: u32, len: usize) -> &mut [u8] {
        self.slots.get_mut(slot as usize, len)
    }

    /// None: the content of a buffer goes nowhere, and filling one of a gibibyte takes a while.
    fn buffers(&mut self) -> &mut [u8] {
        &mut []
    }

    #[inline]
    fn transfer(&mut self, request: &IoRequest) -> Result<u32, Errno> {
        self.space
            .change(self.files[request.region as usize].as_fd(), request)?;
        Ok(request.len)
    }

    fn sync(&mut self, region: u32, kind: SyncKind) -> Result<(), Errno> {
        sync_file(&self.files[region as usize], kind)
    }

    fn close(&mut self) -> Result<(), Errno> {
        close_all(&mut self.files)
    }
}
