//! File and device operations without safe wrappers: dropping caches, discarding, and closing with
//! an error.

use rustix::fd::{AsFd, AsRawFd, IntoRawFd, OwnedFd};
use rustix::io::Errno;

/// `_IO(0x12, 97)`: writes back and drops the page cache of a block device.
const BLKFLSBUF: u32 = 0x1261;
/// `_IO(0x12, 119)`: discards a range of a block device.
const BLKDISCARD: u32 = 0x1277;

/// Flushes and drops the page cache of a block device.
///
/// # Errors
/// EACCES without CAP_SYS_ADMIN, ENOTTY if not a block device.
pub fn drop_device_cache(device: impl AsFd) -> Result<(), Errno> {
    // SAFETY: this request takes no argument; the descriptor is open for the call.
    let answer = unsafe { libc::ioctl(device.as_fd().as_raw_fd(), BLKFLSBUF as _, 0) };
    if answer == 0 {
        Ok(())
    } else {
        Err(last_errno())
    }
}

/// Discards a range of a block device: its content is lost.
///
/// # Errors
/// EOPNOTSUPP if the device does not support discards, EINVAL if the range is not aligned to its
/// blocks.
pub fn discard(device: impl AsFd, offset: u64, len: u64) -> Result<(), Errno> {
    let range: [u64; 2] = [offset, len];
    // SAFETY: the request reads two 64-bit numbers from the pointer, which outlives the call.
    let answer =
        unsafe { libc::ioctl(device.as_fd().as_raw_fd(), BLKDISCARD as _, range.as_ptr()) };
    if answer == 0 {
        Ok(())
    } else {
        Err(last_errno())
    }
}

/// Flags of [`sync_range`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RangeCall {
    /// Wait for writes in progress.
    pub wait_before: bool,
    /// Start writing dirty pages.
    pub write: bool,
    /// Wait until all data is written.
    pub wait_after: bool,
}

/// Writes a range of a file to the device (`sync_file_range`). Flushes neither the device cache nor
/// the file size.
///
/// # Errors
/// EIO, ENOSPC or EDQUOT of the file system; ESPIPE if not seekable.
pub fn sync_range(file: impl AsFd, offset: u64, len: u64, call: RangeCall) -> Result<(), Errno> {
    let flag = |set: bool, flag: libc::c_uint| if set { flag } else { 0 };
    let flags = flag(call.wait_before, libc::SYNC_FILE_RANGE_WAIT_BEFORE)
        | flag(call.write, libc::SYNC_FILE_RANGE_WRITE)
        | flag(call.wait_after, libc::SYNC_FILE_RANGE_WAIT_AFTER);
    // SAFETY: the call takes numbers only; the descriptor is open during the call.
    let answer =
        unsafe { libc::sync_file_range(file.as_fd().as_raw_fd(), offset as _, len as _, flags) };
    if answer == 0 {
        Ok(())
    } else {
        Err(last_errno())
    }
}

/// `F_SET_RW_HINT` of the kernel's `fcntl.h`: expected data lifetime.
const F_SET_RW_HINT: libc::c_int = 1024 + 12;

/// Sets the expected lifetime of a file's data: 1 none, 2 short, 3 medium, 4 long, 5 extreme
/// (`RWH_WRITE_LIFE_*`).
///
/// # Errors
/// EINVAL on kernels before 4.13, and for an unknown hint.
pub fn set_lifetime(file: impl AsFd, hint: u64) -> Result<(), Errno> {
    // SAFETY: the command reads one 64-bit number from the pointer, which outlives the call.
    let answer = unsafe { libc::fcntl(file.as_fd().as_raw_fd(), F_SET_RW_HINT, &raw const hint) };
    if answer == 0 {
        Ok(())
    } else {
        Err(last_errno())
    }
}

/// Closes a file and returns the error.
///
/// # Errors
/// Deferred write errors, such as EIO, ENOSPC or EDQUOT. The file is closed in any case.
pub fn close(file: OwnedFd) -> Result<(), Errno> {
    // SAFETY: the descriptor is owned here, released by the conversion, and closed only once.
    let answer = unsafe { libc::close(file.into_raw_fd()) };
    // Linux closes the file even if the call is interrupted.
    if answer == 0 || last_errno() == Errno::INTR {
        Ok(())
    } else {
        Err(last_errno())
    }
}

/// Returns the error of the last call of this thread.
pub(crate) fn last_errno() -> Errno {
    let raw = std::io::Error::last_os_error()
        .raw_os_error()
        .unwrap_or(libc::EIO);
    Errno::from_raw_os_error(raw)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_and_lifetimes_are_passed_to_the_kernel() {
        let file = tempfile::tempfile().unwrap();
        rustix::io::pwrite(&file, &[1; 8192], 0).unwrap();
        let all = RangeCall {
            wait_before: true,
            write: true,
            wait_after: true,
        };
        assert_eq!(sync_range(&file, 0, 8192, all), Ok(()));
        assert_eq!(sync_range(&file, 0, 4096, RangeCall::default()), Ok(()));
        let (read, _write) = rustix::pipe::pipe().unwrap();
        assert_eq!(sync_range(&read, 0, 1, all), Err(Errno::SPIPE));
        assert_eq!(set_lifetime(&file, 2), Ok(()));
        assert_eq!(set_lifetime(&file, 99), Err(Errno::INVAL));
    }
}
