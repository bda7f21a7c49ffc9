//! Engines that work on file names: each I/O creates, queries or removes one file or directory.
//!
//! No data is transferred. Each I/O counts the bytes of its request, so that throughput stays
//! comparable.

use super::{Files, SyncBackend};
use hakaru_model::job::StatCall;
use hakaru_model::stream::IoRequest;
use hakaru_sys::Errno;
use hakaru_sys::buffer::Slots;
use rustix::fs::{AtFlags, CWD, Mode, OFlags, StatxFlags};
use std::ffi::{CStr, CString};
use std::path::Path;

/// Operation on a file name. The backend is compiled once per operation, without dispatch at run
/// time.
pub(crate) trait NameCall: std::fmt::Debug {
    fn call(&self, path: &CStr) -> Result<(), Errno>;
}

/// `open` with O_CREAT, and `close`. An existing file is opened.
#[derive(Debug)]
pub(crate) struct CreateFile;

impl NameCall for CreateFile {
    #[inline(always)]
    fn call(&self, path: &CStr) -> Result<(), Errno> {
        let flags = OFlags::RDWR | OFlags::CREATE | OFlags::CLOEXEC;
        rustix::fs::open(path, flags, Mode::from_raw_mode(0o600)).map(drop)
    }
}

/// `stat`, `lstat` or `statx`.
impl NameCall for StatCall {
    #[inline(always)]
    fn call(&self, path: &CStr) -> Result<(), Errno> {
        match self {
            StatCall::Stat => rustix::fs::stat(path).map(drop),
            StatCall::Lstat => rustix::fs::lstat(path).map(drop),
            StatCall::Statx => {
                rustix::fs::statx(CWD, path, AtFlags::empty(), StatxFlags::ALL).map(drop)
            }
        }
    }
}

/// `unlink`.
#[derive(Debug)]
pub(crate) struct RemoveFile;

impl NameCall for RemoveFile {
    #[inline(always)]
    fn call(&self, path: &CStr) -> Result<(), Errno> {
        rustix::fs::unlink(path)
    }
}

/// `mkdir`.
#[derive(Debug)]
pub(crate) struct CreateFolder;

impl NameCall for CreateFolder {
    #[inline(always)]
    fn call(&self, path: &CStr) -> Result<(), Errno> {
        rustix::fs::mkdir(path, Mode::from_raw_mode(0o755))
    }
}

/// `rmdir`.
#[derive(Debug)]
pub(crate) struct RemoveFolder;

impl NameCall for RemoveFolder {
    #[inline(always)]
    fn call(&self, path: &CStr) -> Result<(), Errno> {
        rustix::fs::rmdir(path)
    }
}

/// Performs one name operation at a time. It has no open files, so there is nothing to flush.
#[derive(Debug)]
pub(crate) struct NameBackend<K> {
    paths: Vec<CString>,
    slots: Slots,
    call: K,
}

impl<K: NameCall> NameBackend<K> {
    /// `paths` are in the order of the worker's regions.
    ///
    /// # Errors
    /// EINVAL for a path that cannot be passed to the kernel.
    pub(crate) fn new<'a>(
        paths: impl Iterator<Item = &'a Path>,
        slots: Slots,
        call: K,
    ) -> Result<NameBackend<K>, Errno> {
        use std::os::unix::ffi::OsStrExt;
        let name =
            |path: &Path| CString::new(path.as_os_str().as_bytes()).map_err(|_| Errno::INVAL);
        Ok(NameBackend {
            paths: paths.map(name).collect::<Result<_, _>>()?,
            slots,
            call,
        })
    }
}

impl<K: NameCall> Files for NameBackend<K> {
    #[inline]
    fn buffer(&mut self, slot: u32, len: usize) -> &mut [u8] {
        self.slots.get_mut(slot as usize, len)
    }

    /// Empty: no data is transferred.
    fn buffers(&mut self) -> &mut [u8] {
        &mut []
    }
}

impl<K: NameCall> SyncBackend for NameBackend<K> {
    #[inline]
    fn transfer(&mut self, request: &IoRequest) -> Result<u32, Errno> {
        self.call.call(&self.paths[request.region as usize])?;
        Ok(request.len)
    }
}
