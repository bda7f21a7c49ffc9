//! Open files of a worker, with flush, replace and close.

use super::SyncKind;
use hakaru_sys::Errno;
use rustix::fd::{AsFd, OwnedFd};
use std::ops::Index;

/// Files in the order of the worker's regions.
#[derive(Debug)]
pub(crate) struct OpenFiles(Vec<OwnedFd>);

impl OpenFiles {
    pub(crate) fn new(files: Vec<OwnedFd>) -> OpenFiles {
        OpenFiles(files)
    }

    #[cfg(test)]
    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    pub(crate) fn get(&self, region: u32) -> Option<&OwnedFd> {
        self.0.get(region as usize)
    }

    /// Flushes one file. Does nothing for a region without a file.
    pub(crate) fn sync(&self, region: u32, kind: SyncKind) -> Result<(), Errno> {
        self.get(region)
            .map_or(Ok(()), |file| sync_file(file, kind))
    }

    /// Replaces and closes a file.
    pub(crate) fn replace(&mut self, region: u32, file: OwnedFd) -> Result<(), Errno> {
        hakaru_sys::file::close(std::mem::replace(&mut self.0[region as usize], file))
    }

    /// Closes all files and returns the first error: some file systems report write errors only on
    /// close.
    pub(crate) fn close(&mut self) -> Result<(), Errno> {
        self.0.drain(..).try_for_each(hakaru_sys::file::close)
    }
}

impl Index<u32> for OpenFiles {
    type Output = OwnedFd;

    #[inline(always)]
    fn index(&self, region: u32) -> &OwnedFd {
        &self.0[region as usize]
    }
}

/// Flushes one file.
pub(super) fn sync_file(file: impl AsFd, kind: SyncKind) -> Result<(), Errno> {
    match kind {
        SyncKind::Full => rustix::fs::fsync(file),
        SyncKind::Data => rustix::fs::fdatasync(file),
        SyncKind::Range(offset, len, call) => hakaru_sys::file::sync_range(file, offset, len, call),
    }
}
