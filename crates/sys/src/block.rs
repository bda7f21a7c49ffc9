//! Block device ioctls that sysfs and safe calls do not cover.
//!
//! Plain discards and cache drops are in `file`; sizes and block sizes come from safe calls.

use crate::file::last_errno;
use rustix::fd::{AsFd, AsRawFd};
use rustix::io::Errno;

/// `_IO(0x12, 95)`: reads the partition table again.
const BLKRRPART: u32 = 0x125f;
/// `_IO(0x12, 125)`: secure discard, which erases all copies of a range.
const BLKSECDISCARD: u32 = 0x127d;
/// `_IOR(0x12, 128, u64)`: disk sequence number (Linux 5.15).
const BLKGETDISKSEQ: rustix::ioctl::Opcode = rustix::ioctl::opcode::read::<u64>(0x12, 128);

/// Reads the state of a loop device.
const LOOP_GET_STATUS64: u32 = 0x4c05;

/// Whether the block device at this path has lost its medium or was removed. The kernel then
/// reports size 0 for an open device, and fails writes with ENOSPC, as if it were full.
pub fn is_pulled(path: &std::path::Path) -> bool {
    use rustix::fs::{FileType, Mode, OFlags};
    let opened = rustix::fs::open(
        path,
        OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC,
        Mode::empty(),
    );
    match opened {
        Ok(file) => {
            let is_block = |stat: rustix::fs::Stat| {
                FileType::from_raw_mode(stat.st_mode) == FileType::BlockDevice
            };
            rustix::fs::fstat(&file).is_ok_and(is_block) && is_empty(&file)
        }
        Err(Errno::NOMEDIUM | Errno::NXIO | Errno::NODEV) => true,
        // Nodes of removed devices disappear.
        Err(Errno::NOENT) => path.starts_with("/dev"),
        Err(_) => false,
    }
}

/// Whether an open block device has size 0: it was removed, or has no medium.
pub fn is_empty(device: impl AsFd) -> bool {
    // No other code uses the file position of this descriptor.
    rustix::fs::seek(device, rustix::fs::SeekFrom::End(0)) == Ok(0)
}

/// Returns the disk sequence number, which differs for another card with the same name.
///
/// # Errors
/// ENOTTY on kernels before 5.15 and on anything but block devices.
pub fn disk_sequence(device: impl AsFd) -> Result<u64, Errno> {
    let mut sequence = 0u64;
    // SAFETY: the request writes one 64-bit number to the pointer, which outlives the call.
    let answer = unsafe {
        libc::ioctl(
            device.as_fd().as_raw_fd(),
            BLKGETDISKSEQ as _,
            &raw mut sequence,
        )
    };
    if answer == 0 {
        Ok(sequence)
    } else {
        Err(last_errno())
    }
}

/// Discards a range of a block device including all copies.
///
/// # Errors
/// EOPNOTSUPP if the device does not support secure erase, EINVAL if the range is not aligned to
/// its blocks.
pub fn secure_discard(device: impl AsFd, offset: u64, len: u64) -> Result<(), Errno> {
    let range: [u64; 2] = [offset, len];
    // SAFETY: the request reads two 64-bit numbers from the pointer, which outlives the call.
    let answer = unsafe {
        libc::ioctl(
            device.as_fd().as_raw_fd(),
            BLKSECDISCARD as _,
            range.as_ptr(),
        )
    };
    if answer == 0 {
        Ok(())
    } else {
        Err(last_errno())
    }
}

/// Backing file of a loop device as the kernel knows it: correct even if the path was removed or
/// now leads to another file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LoopBacking {
    /// Device number of the file's file system, as `st_dev`.
    pub device: u64,
    /// Inode number.
    pub inode: u64,
    /// Device number, if the backing is a block device.
    pub raw_device: u64,
    /// Offset of the first byte used.
    pub offset: u64,
    /// Maximum number of bytes used; 0: all.
    pub size_limit: u64,
}

/// Returns the backing file or device of a loop device.
///
/// # Errors
/// ENXIO if it is not set up, ENOTTY on anything but loop devices.
pub fn loop_backing(device: impl AsFd) -> Result<LoopBacking, Errno> {
    let mut info = LoopInfo64 {
        numbers: [0; 5],
        flags: [0; 4],
        names: [0; 160],
        init: [0; 2],
    };
    // SAFETY: the request writes a `struct loop_info64` (232 bytes, the layout of `LoopInfo64`) to the pointer, which
    // outlives the call.
    let answer = unsafe {
        libc::ioctl(
            device.as_fd().as_raw_fd(),
            LOOP_GET_STATUS64 as _,
            &raw mut info,
        )
    };
    let [device, inode, raw_device, offset, size_limit] = info.numbers;
    // The kernel encodes both numbers as it does for user space in `stat`.
    let backing = LoopBacking {
        device,
        inode,
        raw_device,
        offset,
        size_limit,
    };
    if answer == 0 {
        Ok(backing)
    } else {
        Err(last_errno())
    }
}

/// `struct loop_info64` of `linux/loop.h`.
#[repr(C)]
struct LoopInfo64 {
    /// `lo_device`, `lo_inode`, `lo_rdevice`, `lo_offset`, `lo_sizelimit`.
    numbers: [u64; 5],
    /// `lo_number`, `lo_encrypt_type`, `lo_encrypt_key_size`, `lo_flags`.
    flags: [u32; 4],
    /// `lo_file_name`, `lo_crypt_name`, `lo_encrypt_key`.
    names: [u8; 160],
    /// `lo_init`.
    init: [u64; 2],
}

/// Makes the kernel read the partition table again.
///
/// # Errors
/// EBUSY while a partition is in use, EINVAL on devices that have no partitions.
pub fn reread_partitions(device: impl AsFd) -> Result<(), Errno> {
    // SAFETY: this request takes no argument; the descriptor is open for the call.
    let answer = unsafe { libc::ioctl(device.as_fd().as_raw_fd(), BLKRRPART as _, 0) };
    if answer == 0 {
        Ok(())
    } else {
        Err(last_errno())
    }
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
        assert!(
            !is_pulled(std::path::Path::new("/"))
                && is_pulled(std::path::Path::new("/dev/no-such-disk"))
        );
        assert!(loop_backing(&file).is_err());
        assert_eq!(size_of::<LoopInfo64>(), 232);
    }
}
