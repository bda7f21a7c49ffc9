//! Block devices: what their ioctls tell and do beyond what sysfs and safe calls offer.
//!
//! Plain discards and cache drops live in `file`; sizes and block sizes come from safe calls.

use crate::file::last_errno;
use rustix::fd::{AsFd, AsRawFd};
use rustix::io::Errno;

/// `_IO(0x12, 95)`: reads the partition table again.
const BLKRRPART: u32 = 0x125f;
/// `_IO(0x12, 125)`: discards a range and promises that no copy survives.
const BLKSECDISCARD: u32 = 0x127d;
/// `_IOR(0x12, 128, u64)`: number of this appearance of a disk (Linux 5.15).
const BLKGETDISKSEQ: rustix::ioctl::Opcode = rustix::ioctl::opcode::read::<u64>(0x12, 128);

/// Number that the kernel gave to this appearance of the disk: another card under the same name has another one.
///
/// # Errors
/// ENOTTY on kernels before 5.15 and on what is no block device.
pub fn disk_sequence(device: impl AsFd) -> Result<u64, Errno> {
    let mut sequence = 0u64;
    // SAFETY: the request writes one 64-bit number to the pointer, which outlives the call.
    let answer = unsafe { libc::ioctl(device.as_fd().as_raw_fd(), BLKGETDISKSEQ as _, &raw mut sequence) };
    if answer == 0 { Ok(sequence) } else { Err(last_errno()) }
}

/// Discards a range of a block device, and all copies of it that the device keeps.
///
/// # Errors
/// EOPNOTSUPP when the device offers no secure erase, EINVAL when the range does not fit its blocks.
pub fn secure_discard(device: impl AsFd, offset: u64, len: u64) -> Result<(), Errno> {
    let range: [u64; 2] = [offset, len];
    // SAFETY: the request reads two 64-bit numbers from the pointer, which outlives the call.
    let answer = unsafe { libc::ioctl(device.as_fd().as_raw_fd(), BLKSECDISCARD as _, range.as_ptr()) };
    if answer == 0 { Ok(()) } else { Err(last_errno()) }
}

/// Makes the kernel read the partition table again.
///
/// # Errors
/// EBUSY while a partition is in use, EINVAL on devices that have none.
pub fn reread_partitions(device: impl AsFd) -> Result<(), Errno> {
    // SAFETY: this request takes no argument; the descriptor is open for the call.
    let answer = unsafe { libc::ioctl(device.as_fd().as_raw_fd(), BLKRRPART as _, 0) };
    if answer == 0 { Ok(()) } else { Err(last_errno()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_block_device_answers_with_an_error() {
        let file = tempfile::tempfile().unwrap();
        assert!(disk_sequence(&file).is_err());
        assert!(secure_discard(&file, 0, 4096).is_err());
        assert!(reread_partitions(&file).is_err());
    }
}
