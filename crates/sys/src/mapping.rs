//! Memory-mapped file I/O that reports a failed load or store as an error instead of ending the
//! process.
//!
//! The kernel sends SIGBUS for an access that it cannot serve (a bad block, end of file, no space
//! left). The handler here maps an empty page instead and records the fault; the copy continues and
//! then returns an error. Faults outside such a copy are passed to the previous handler.

use rustix::fd::{AsFd, BorrowedFd, OwnedFd};
use rustix::io::Errno;
use rustix::mm::{
    Advice, MapFlags, MsyncFlags, ProtFlags, madvise, mmap, mmap_anonymous, msync, munmap,
};
use rustix::param::page_size;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed, compiler_fence};
use std::sync::{Once, OnceLock};

/// A shared mapping of part of a file.
#[derive(Debug)]
pub struct FileMapping {
    file: OwnedFd,
    writes: bool,
    random: bool,
    /// `None` if nothing is mapped.
    place: Option<MappedRange>,
    /// File offset of its first byte: a multiple of the page size.
    first: u64,
}

/// Address and length of a mapping, unmapped when dropped.
#[derive(Debug)]
struct MappedRange {
    start: NonNull<u8>,
    len: usize,
}

// SAFETY: this value owns the mapping, which does not depend on the thread that created it.
unsafe impl Send for MappedRange {}

impl Drop for MappedRange {
    fn drop(&mut self) {
        // SAFETY: address and length are those of the mapping made in `move_to`, and nothing else unmaps it.
        let _ = unsafe { munmap(self.start.as_ptr().cast(), self.len) };
    }
}

impl FileMapping {
    /// Creates an empty mapping for [`Self::move_to`]. `writes` requires a file opened for reading
    /// and writing. `random` disables readahead.
    pub fn of(file: OwnedFd, writes: bool, random: bool) -> FileMapping {
        FileMapping {
            file,
            writes,
            random,
            place: None,
            first: 0,
        }
    }

    /// Returns the mapped file.
    pub fn file(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }

    /// Whether `len` bytes from `offset` in the file are mapped.
    #[inline]
    pub fn covers(&self, offset: u64, len: usize) -> bool {
        self.address(offset, len).is_some()
    }

    /// Replaces the mapping by `len` bytes from `offset`. Bytes beyond the end of the file can be
    /// mapped, but not used.
    ///
    /// # Errors
    /// ENOMEM if the address space is exhausted, ENODEV if the file cannot be mapped, EOVERFLOW if
    /// a length does not fit.
    pub fn move_to(&mut self, offset: u64, len: u64) -> Result<(), Errno> {
        self.place = None;
        let first = offset - offset % page_size() as u64;
        let len = usize::try_from(len.max(1) + (offset - first)).map_err(|_| Errno::OVERFLOW)?;
        // SAFETY: a null hint without MAP_FIXED cannot replace a mapping that is in use.
        let start = unsafe {
            mmap(
                std::ptr::null_mut(),
                len,
                self.protection(),
                MapFlags::SHARED,
                &self.file,
                first,
            )
        }?;
        let start = NonNull::new(start.cast::<u8>()).ok_or(Errno::NOMEM)?;
        (self.place, self.first) = (Some(MappedRange { start, len }), first);
        let advice = if self.random {
            Advice::Random
        } else {
            Advice::Sequential
        };
        // SAFETY: the range is the mapping made above, and this advice changes no content.
        let _ = unsafe { madvise(start.as_ptr().cast(), len, advice) };
        Ok(())
    }

    /// Copies from the file.
    ///
    /// # Errors
    /// EIO if a page is not accessible (a bad block, or beyond the end of the file), EFAULT if not
    /// mapped.
    #[inline]
    pub fn load(&self, offset: u64, buffer: &mut [u8]) -> Result<(), Errno> {
        let from = self.address(offset, buffer.len()).ok_or(Errno::FAULT)?;
        self.guarded(from, buffer.len(), || {
            // SAFETY: `from` is the start of that many mapped bytes, which no Rust reference points to; a missing
            // page is replaced while the copy waits.
            unsafe { std::ptr::copy_nonoverlapping(from, buffer.as_mut_ptr(), buffer.len()) }
        })
    }

    /// Copies into the file.
    ///
    /// # Errors
    /// EIO if a page is not accessible (a bad block, no space, or beyond the end of the file),
    /// EFAULT if not mapped, EBADF if the mapping is read-only.
    #[inline]
    pub fn store(&mut self, offset: u64, buffer: &[u8]) -> Result<(), Errno> {
        if !self.writes {
            return Err(Errno::BADF);
        }
        let to = self.address(offset, buffer.len()).ok_or(Errno::FAULT)?;
        self.guarded(to, buffer.len(), || {
            // SAFETY: as in `load`, and the mapping can be written.
            unsafe { std::ptr::copy_nonoverlapping(buffer.as_ptr(), to, buffer.len()) }
        })
    }

    /// Flushes the mapping to the device.
    ///
    /// # Errors
    /// EIO if it could not be written.
    pub fn flush(&self) -> Result<(), Errno> {
        let Some(MappedRange { start, len }) = &self.place else {
            return Ok(());
        };
        // SAFETY: the range is the mapping of this value.
        unsafe { msync(start.as_ptr().cast(), *len, MsyncFlags::SYNC) }
    }

    /// Flushes a range of the mapping to the device.
    ///
    /// # Errors
    /// EIO if it could not be written, EFAULT if not mapped.
    pub fn flush_range(&self, offset: u64, len: usize) -> Result<(), Errno> {
        let start = self.address(offset, len).ok_or(Errno::FAULT)?;
        let before = (offset % page_size() as u64) as usize;
        // SAFETY: the range begins at the page of `start`, which belongs to the mapping as `first` is a whole page.
        unsafe {
            msync(
                start.wrapping_sub(before).cast(),
                before + len,
                MsyncFlags::SYNC,
            )
        }
    }

    /// Unmaps the range and closes the file.
    ///
    /// # Errors
    /// See [`crate::file::close`].
    pub fn close(self) -> Result<(), Errno> {
        let FileMapping { file, place, .. } = self;
        drop(place);
        crate::file::close(file)
    }

    fn protection(&self) -> ProtFlags {
        if self.writes {
            ProtFlags::READ | ProtFlags::WRITE
        } else {
            ProtFlags::READ
        }
    }

    /// Returns the address of a file offset, if all `len` bytes are mapped.
    #[inline]
    fn address(&self, offset: u64, len: usize) -> Option<*mut u8> {
        let MappedRange { start, len: mapped } = self.place.as_ref()?;
        let from = usize::try_from(offset.checked_sub(self.first)?).ok()?;
        (from.checked_add(len)? <= *mapped).then(|| start.as_ptr().wrapping_add(from))
    }

    /// Runs a copy that accesses `len` mapped bytes from `at`.
    #[inline]
    fn guarded(&self, at: *mut u8, len: usize, copy: impl FnOnce()) -> Result<(), Errno> {
        let faults = watch(at.addr(), len, copy);
        if faults == 0 {
            Ok(())
        } else {
            self.restore(at, len)
        }
    }

    /// Remaps the pages of the file where the handler mapped empty ones.
    #[cold]
    fn restore(&self, at: *mut u8, len: usize) -> Result<(), Errno> {
        let Some(MappedRange { start, .. }) = &self.place else {
            return Err(Errno::IO);
        };
        let from = (at.addr() - start.as_ptr().addr()) / page_size() * page_size();
        let len = at.addr() - start.as_ptr().addr() - from + len;
        let page = start.as_ptr().wrapping_add(from);
        let flags = MapFlags::SHARED | MapFlags::FIXED;
        // SAFETY: the range lies in the mapping of this value, which no reference points to.
        unsafe {
            mmap(
                page.cast(),
                len,
                self.protection(),
                flags,
                &self.file,
                self.first + from as u64,
            )
        }?;
        Err(Errno::IO)
    }
}

/// The range that a thread is currently copying, for the signal handler.
struct Watched {
    from: AtomicUsize,
    to: AtomicUsize,
    faults: AtomicUsize,
}

thread_local! {
    // Constant initialization without a destructor, so that the handler can use it at any time.
    static WATCHED: Watched =
        const { Watched { from: AtomicUsize::new(0), to: AtomicUsize::new(0), faults: AtomicUsize::new(0) } };
}

static BEFORE: OnceLock<libc::sigaction> = OnceLock::new();
static INSTALLED: Once = Once::new();

/// Runs a copy that accesses `len` bytes from `from`. Returns the number of pages that were not
/// accessible.
#[inline]
fn watch(from: usize, len: usize, copy: impl FnOnce()) -> usize {
    if !INSTALLED.is_completed() {
        INSTALLED.call_once(install);
    }
    WATCHED.with(|w| {
        w.faults.store(0, Relaxed);
        w.to.store(from + len, Relaxed);
        w.from.store(from, Relaxed);
        // The handler runs on this thread: only the compiler could reorder the accesses.
        compiler_fence(std::sync::atomic::Ordering::SeqCst);
        copy();
        compiler_fence(std::sync::atomic::Ordering::SeqCst);
        w.to.store(0, Relaxed);
        w.faults.load(Relaxed)
    })
}

#[cold]
fn install() {
    let mut before = std::mem::MaybeUninit::<libc::sigaction>::zeroed();
    let mut action = std::mem::MaybeUninit::<libc::sigaction>::zeroed();
    // SAFETY: all fields may be zero: no flags, no blocked signals, the default handler.
    let action = unsafe { action.assume_init_mut() };
    action.sa_sigaction = on_fault as *const () as usize;
    action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK;
    // SAFETY: the action is complete and its handler is async-signal-safe; both pointers are to complete structs.
    if unsafe { libc::sigaction(libc::SIGBUS, action, before.as_mut_ptr()) } == 0 {
        // SAFETY: the call has filled it, and zeros are valid too.
        let _ = BEFORE.set(unsafe { before.assume_init() });
    }
}

/// Replaces the page of a watched copy, or passes the fault to the previous handler.
extern "C" fn on_fault(_: libc::c_int, info: *mut libc::siginfo_t, _: *mut libc::c_void) {
    // SAFETY: the kernel gives a handler with SA_SIGINFO a valid description.
    let info = unsafe { &*info };
    // SAFETY: SIGBUS comes with an address. A manually sent signal has none, and no watched range contains it.
    let at = unsafe { info.si_addr() }.addr();
    let replaced = WATCHED.with(|w| {
        let watched = (w.from.load(Relaxed)..w.to.load(Relaxed)).contains(&at);
        let done = watched && replace_page(at);
        if done {
            w.faults.fetch_add(1, Relaxed);
        }
        done
    });
    if replaced {
        return;
    }
    // The access is repeated after the return, and then reaches the previous handler.
    let mut default = std::mem::MaybeUninit::<libc::sigaction>::zeroed();
    let before = BEFORE
        .get()
        .map_or(default.as_mut_ptr().cast_const(), std::ptr::from_ref);
    // SAFETY: the pointer is to the previous action, or to zeros, which mean the default.
    let _ = unsafe { libc::sigaction(libc::SIGBUS, before, std::ptr::null_mut()) };
}

/// Maps an empty page at an address.
fn replace_page(at: usize) -> bool {
    let page = std::ptr::without_provenance_mut(at - at % page_size());
    let (access, flags) = (
        ProtFlags::READ | ProtFlags::WRITE,
        MapFlags::PRIVATE | MapFlags::FIXED,
    );
    // SAFETY: the page lies in a mapping of a file that this thread is copying from or to; no reference points to it,
    // and its owner remaps the file as soon as the copy has returned.
    unsafe { mmap_anonymous(page, page_size(), access, flags) }.is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    fn mapping(pages: usize, writes: bool) -> (std::fs::File, FileMapping) {
        let mut file = tempfile::tempfile().unwrap();
        for page in 0..pages {
            file.write_all(&vec![page as u8 + 1; page_size()]).unwrap();
        }
        let mapping = FileMapping::of(file.try_clone().unwrap().into(), writes, true);
        (file, mapping)
    }

    #[test]
    fn loads_and_stores_reach_the_file() {
        let (file, mut mapping) = mapping(4, true);
        let page = page_size();
        mapping.move_to(page as u64 + 100, 2 * page as u64).unwrap();
        let mut buffer = vec![0; 200];
        mapping.load(2 * page as u64 - 100, &mut buffer).unwrap();
        assert!(buffer[..100].iter().all(|&b| b == 2) && buffer[100..].iter().all(|&b| b == 3));
        mapping.store(page as u64 + 100, b"hello").unwrap();
        mapping.flush().unwrap();
        mapping.flush_range(page as u64 + 100, 5).unwrap();
        let mut found = [0; 5];
        std::os::unix::fs::FileExt::read_exact_at(&file, &mut found, page as u64 + 100).unwrap();
        assert_eq!(&found, b"hello");
    }

    #[test]
    fn what_is_not_mapped_or_not_to_be_written_is_an_error() {
        let (_file, mut mapping) = mapping(4, false);
        assert!(!mapping.covers(0, 1));
        assert_eq!(mapping.load(0, &mut [0]), Err(Errno::FAULT));
        mapping.move_to(0, 4096).unwrap();
        assert!(
            mapping.covers(0, 4096) && !mapping.covers(0, 4097) && !mapping.covers(u64::MAX, 1)
        );
        assert_eq!(mapping.store(0, &[0]), Err(Errno::BADF));
    }

    #[test]
    fn a_page_that_cannot_be_had_is_an_error_each_time_and_the_others_stay() {
        let (file, mut mapping) = mapping(4, true);
        let page = page_size();
        mapping.move_to(0, 4 * page as u64).unwrap();
        file.set_len(2 * page as u64).unwrap();
        let mut buffer = vec![9; 2 * page];
        for _ in 0..2 {
            assert_eq!(mapping.load(page as u64, &mut buffer), Err(Errno::IO));
            assert_eq!(mapping.store(3 * page as u64, &[1; 16]), Err(Errno::IO));
        }
        assert_eq!(mapping.load(page as u64, &mut buffer[..page]), Ok(()));
        assert!(buffer[..page].iter().all(|&b| b == 2));
        // Once the file is long enough again, its own pages are used.
        file.set_len(4 * page as u64).unwrap();
        mapping.store(3 * page as u64, &[7; 16]).unwrap();
        let mut found = [0; 16];
        std::os::unix::fs::FileExt::read_exact_at(&file, &mut found, 3 * page as u64).unwrap();
        assert_eq!(found, [7; 16]);
    }
}
