//! The `splice` engine: `splice` between the file and a pipe, and from the pipe to memory or back.

use super::files::{close_all, replace, sync_file};
use super::{Backend, SyncKind};
use hakaru_model::job::Op;
use hakaru_model::stream::IoRequest;
use hakaru_sys::Errno;
use hakaru_sys::buffer::Slots;
use hakaru_sys::pipe::SplicePipe;
use rustix::fd::OwnedFd;

/// One I/O at a time, through one pipe.
#[derive(Debug)]
pub(crate) struct SpliceBackend {
    files: Vec<OwnedFd>,
    slots: Slots,
    pipe: SplicePipe,
}

impl SpliceBackend {
    /// Files in the order of the worker's regions.
    pub(crate) fn new(files: Vec<OwnedFd>, slots: Slots, pipe: SplicePipe) -> SpliceBackend {
        SpliceBackend { files, slots, pipe }
    }
}

impl Backend for SpliceBackend {
    const QUEUED: bool = false;
    const SUBMIT_WAITS: bool = false;

    #[inline]
    fn buffer(&mut self, slot: u32, len: usize) -> &mut [u8] {
        self.slots.get_mut(slot as usize, len)
    }

    #[inline]
    fn next_buffer(&mut self, slot: u32, len: usize) -> &mut [u8] {
        self.slots.move_on(slot as usize, len)
    }

    fn buffers(&mut self) -> &mut [u8] {
        self.slots.all_mut()
    }

    fn transfer(&mut self, request: &IoRequest) -> Result<u32, Errno> {
        let IoRequest {
            op,
            region,
            offset,
            len,
        } = *request;
        let file = &self.files[region as usize];
        let buffer = self.slots.get_mut(0, len as usize);
        let moved = match op {
            Op::Read => self.pipe.read(file, offset, buffer)?,
            Op::Write => self.pipe.write(file, offset, buffer)?,
            Op::Trim => {
                hakaru_sys::file::discard(file, offset, u64::from(len))?;
                len as usize
            }
        };
        Ok(moved as u32)
    }

    fn sync(&mut self, region: u32, kind: SyncKind) -> Result<(), Errno> {
        sync_file(&self.files[region as usize], kind)
    }

    fn renew(&mut self, region: u32, file: OwnedFd) -> Result<(), Errno> {
        replace(&mut self.files, region, file)
    }

    fn close(&mut self) -> Result<(), Errno> {
        close_all(&mut self.files)
    }
}
