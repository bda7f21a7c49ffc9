//! What files and devices need beyond safe system calls: dropping caches, discarding, and closing with an answer.

use rustix::fd::{AsFd, AsRawFd, IntoRawFd, OwnedFd};
use rustix::io::Errno;

/// `_IO(0x12, 97)`: writes back and drops the page cache of a block device.
const BLKFLSBUF: u32 = 0x1261;
/// `_IO(0x12, 119)`: discards a range of a block device.
const BLKDISCARD: u32 = 0x1277;

/// Writes back and drops what the page cache holds of a block device.
///
/// # Errors
/// EACCES without the right to administer, ENOTTY on what is no block device.
pub fn drop_device_cache(device: impl AsFd) -> Result<(), Errno> {
    // SAFETY: this request takes no argument; the descriptor is open for the call.
    let answer = unsafe { libc::ioctl(device.as_fd().as_raw_fd(), BLKFLSBUF as _, 0) };
    if answer == 0 { Ok(()) } else { Err(last_errno()) }
}

/// Discards a range of a block device: its content is lost.
///
/// # Errors
/// EOPNOTSUPP when the device takes no discards, EINVAL when the range does not fit its blocks.
pub fn discard(device: impl AsFd, offset: u64, len: u64) -> Result<(), Errno> {
    let range: [u64; 2] = [offset, len];
    // SAFETY: the request reads two 64-bit numbers from the pointer, which outlives the call.
    let answer = unsafe { libc::ioctl(device.as_fd().as_raw_fd(), BLKDISCARD as _, range.as_ptr()) };
    if answer == 0 { Ok(()) } else { Err(last_errno()) }
}

/// Closes a file and tells how that went.
///
/// # Errors
/// What the file system could not write before, such as EIO, ENOSPC or EDQUOT. The file is closed all the same.
pub fn close(file: OwnedFd) -> Result<(), Errno> {
    // SAFETY: the descriptor is owned here, given away by the conversion, and closed this once.
    let answer = unsafe { libc::close(file.into_raw_fd()) };
    // Linux has closed it even when it was interrupted.
    if answer == 0 || last_errno() == Errno::INTR { Ok(()) } else { Err(last_errno()) }
}

/// The error of the last call of this thread.
pub(crate) fn last_errno() -> Errno {
    let raw = std::io::Error::last_os_error().raw_os_error().unwrap_or(libc::EIO);
    Errno::from_raw_os_error(raw)
}
