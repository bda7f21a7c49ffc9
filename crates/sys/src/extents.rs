//! Where the bytes of a file are on its device (`FS_IOC_FIEMAP`, `FIBMAP`).
//!
//! Source: the kernel's `Documentation/filesystems/fiemap.rst`.

use crate::file::last_errno;
use rustix::fd::{AsFd, AsRawFd, BorrowedFd};
use rustix::io::Errno;
use rustix::ioctl::{Opcode, opcode};

/// `FS_IOC_FIEMAP`, whose argument starts with a header of 32 bytes.
const FIEMAP: Opcode = opcode::read_write::<[u64; 4]>(b'f', 11);
/// `FIBMAP` and `FIGETBSZ`, whose arguments are of type `int`.
const FIBMAP: u32 = 1;
const FIGETBSZ: u32 = 2;
/// `FIEMAP_FLAG_SYNC`: write back the file first.
const SYNC: u32 = 1;

/// `FIEMAP_EXTENT_LAST` and the other flags of an extent.
const LAST: u32 = 0x1;
const UNKNOWN: u32 = 0x2;
const DELAYED: u32 = 0x4;
const ENCODED: u32 = 0x8;
const INLINE: u32 = 0x200;
const TAIL: u32 = 0x400;
const UNWRITTEN: u32 = 0x800;

/// Extents per request.
const AT_ONCE: usize = 256;

/// Consecutive bytes of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MappedExtent {
    /// First byte in the file.
    pub logical: u64,
    /// First byte on the device of the file system. Btrfs reports an address of its own instead.
    pub physical: u64,
    /// Bytes.
    pub len: u64,
    /// Whether the space is allocated but not written yet.
    pub unwritten: bool,
    /// Whether the bytes are beside other content, in an inode or a tree.
    pub inline: bool,
    /// Whether the bytes are compressed or encrypted, so that their addresses say nothing about single bytes.
    pub encoded: bool,
    /// Whether `physical` is no address: space is not allocated yet, or the file system does not say.
    pub unlocated: bool,
}

/// `struct fiemap` with room for extents.
#[repr(C)]
struct FiemapRequest {
    start: u64,
    length: u64,
    flags: u32,
    mapped: u32,
    count: u32,
    reserved: u32,
    extents: [RawExtent; AT_ONCE],
}

/// `struct fiemap_extent`
#[derive(Clone, Copy)]
#[repr(C)]
struct RawExtent {
    logical: u64,
    physical: u64,
    length: u64,
    reserved: [u64; 2],
    flags: u32,
    reserved_end: [u32; 3],
}

/// Writes back a file and returns up to `most` of its extents in order of their place in the file. Holes are left
/// out.
///
/// # Errors
/// EOPNOTSUPP if the file system cannot say (vfat, exFAT); errors of writing back.
pub fn file_extents(file: impl AsFd, most: usize) -> Result<Vec<MappedExtent>, Errno> {
    let none = RawExtent {
        logical: 0,
        physical: 0,
        length: 0,
        reserved: [0; 2],
        flags: 0,
        reserved_end: [0; 3],
    };
    let mut all = Vec::new();
    let mut request = Box::new(FiemapRequest {
        start: 0,
        length: u64::MAX,
        flags: SYNC,
        mapped: 0,
        count: 0,
        reserved: 0,
        extents: [none; AT_ONCE],
    });
    loop {
        request.count = AT_ONCE as u32;
        request.mapped = 0;
        request.length = u64::MAX - request.start;
        let fd = file.as_fd().as_raw_fd();
        // SAFETY: the request reads and writes a `struct fiemap` with room for the number of extents that it states,
        // and the pointer outlives the call.
        if unsafe { libc::ioctl(fd, FIEMAP as _, &raw mut *request) } != 0 {
            return Err(last_errno());
        }
        let mapped = (request.mapped as usize).min(AT_ONCE);
        all.extend(request.extents[..mapped].iter().map(MappedExtent::from_raw));
        all.truncate(most);
        let last = request.extents[..mapped].last();
        let next = last.map(|last| last.logical.saturating_add(last.length));
        let at_end = last.is_none_or(|last| last.flags & LAST != 0);
        match next {
            Some(next) if !at_end && all.len() < most && next > request.start => {
                request.start = next;
            }
            _ => return Ok(all),
        }
    }
}

impl MappedExtent {
    fn from_raw(raw: &RawExtent) -> MappedExtent {
        let has = |flags| raw.flags & flags != 0;
        MappedExtent {
            logical: raw.logical,
            physical: raw.physical,
            len: raw.length,
            unwritten: has(UNWRITTEN),
            inline: has(INLINE | TAIL),
            encoded: has(ENCODED),
            unlocated: has(UNKNOWN | DELAYED),
        }
    }
}

/// Returns the byte on the device where a byte of a file is, for file systems without extents (vfat, exFAT): the
/// start of the block that contains it. `None` in a hole.
///
/// # Errors
/// EPERM without CAP_SYS_RAWIO; EINVAL if the file system cannot say; ERANGE beyond 2^31 blocks.
pub fn block_address(file: impl AsFd, offset: u64) -> Result<Option<u64>, Errno> {
    let size = u64::from(number_request(file.as_fd(), FIGETBSZ, 0)?);
    let block = offset.checked_div(size).ok_or(Errno::INVAL)?;
    let block = i32::try_from(block).map_err(|_| Errno::RANGE)?;
    let found = number_request(file.as_fd(), FIBMAP, block as u32)?;
    Ok((found != 0).then_some(u64::from(found) * size))
}

/// Calls an ioctl that replaces a number.
fn number_request(file: BorrowedFd<'_>, request: u32, number: u32) -> Result<u32, Errno> {
    let mut number = number;
    // SAFETY: both requests read and write one `int` at the pointer, which outlives the call.
    let answer = unsafe { libc::ioctl(file.as_raw_fd(), request as _, &raw mut number) };
    if answer == 0 {
        Ok(number)
    } else {
        Err(last_errno())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_structures_have_the_layout_of_the_kernel() {
        assert_eq!(size_of::<RawExtent>(), 56);
        assert_eq!(std::mem::offset_of!(FiemapRequest, extents), 32);
    }

    #[test]
    fn a_pipe_has_no_extents() {
        let (read, _write) = rustix::pipe::pipe().unwrap();
        assert!(file_extents(&read, 10).is_err());
    }

    /// Skips the rest where the file system of the temporary directory has no FIEMAP.
    #[test]
    fn holes_are_left_out() {
        let file = tempfile::tempfile().unwrap();
        rustix::io::pwrite(&file, &[1; 4096], 0).unwrap();
        rustix::io::pwrite(&file, &[1; 4096], 16 << 20).unwrap();
        match file_extents(&file, 1000) {
            Ok(extents) => {
                let covered: u64 = extents.iter().map(|extent| extent.len).sum();
                assert!((8192..8 << 20).contains(&covered), "{extents:?}");
                assert_eq!(file_extents(&file, 1).unwrap().len(), 1);
            }
            Err(error) => eprintln!("skipped: {error}"),
        }
    }

    /// Skips the rest without privileges, or where the file system cannot say.
    #[test]
    fn blocks_and_extents_agree() {
        let file = tempfile::tempfile().unwrap();
        rustix::io::pwrite(&file, &[1; 65536], 0).unwrap();
        let extents = file_extents(&file, 1);
        let block = block_address(&file, 0);
        match (extents.as_deref(), block) {
            (Ok([first]), Ok(block)) => assert_eq!(block, Some(first.physical)),
            answers => eprintln!("skipped: {answers:?}"),
        }
    }
}
