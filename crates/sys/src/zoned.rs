//! Zoned block devices: zone reports and zone operations.
//!
//! Source: the kernel's `linux/blkzoned.h`. The kernel counts in sectors of 512 bytes; here everything is in bytes.

use crate::file::last_errno;
use rustix::fd::{AsFd, AsRawFd, BorrowedFd};
use rustix::io::Errno;
use rustix::ioctl::{Opcode, opcode};

/// `BLKREPORTZONE`, whose argument starts with 16 bytes of header.
const REPORT: Opcode = opcode::read_write::<[u64; 2]>(0x12, 130);
/// `BLKRESETZONE`.
const RESET: Opcode = opcode::write::<[u64; 2]>(0x12, 131);
/// `BLKGETZONESZ`.
const ZONE_SIZE: Opcode = opcode::read::<u32>(0x12, 132);
/// `BLKFINISHZONE`.
const FINISH: Opcode = opcode::write::<[u64; 2]>(0x12, 136);

const SECTOR: u64 = 512;
/// Maximum number of zones per report.
const AT_ONCE: usize = 512;
/// Length of the report header and of each zone, in 64-bit words.
const HEAD: usize = 2;
const EACH: usize = 8;
/// Report flag: capacities are valid (`BLK_ZONE_REP_CAPACITY`).
const HAS_CAPACITY: u32 = 1;

/// Reported state of one zone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DeviceZone {
    /// First byte.
    pub start: u64,
    /// Bytes from its start to the start of the next zone.
    pub len: u64,
    /// Writable bytes.
    pub capacity: u64,
    /// Offset of the next write; meaningless for zones that accept writes at any offset.
    pub write_pointer: u64,
    /// Whether it must be written sequentially from its start.
    pub sequential: bool,
    /// Whether it is partly written: such zones count as open or active.
    pub begun: bool,
    /// Whether it can be written at all: not read-only or offline.
    pub usable: bool,
}

/// Returns the zone size of a zoned device in bytes; 0 for other block devices.
///
/// # Errors
/// ENOTTY on anything but block devices.
pub fn zone_size(device: impl AsFd) -> Result<u64, Errno> {
    let mut sectors = 0u32;
    // SAFETY: the request writes one 32-bit number to the pointer, which outlives the call.
    let answer =
        unsafe { libc::ioctl(device.as_fd().as_raw_fd(), ZONE_SIZE as _, &raw mut sectors) };
    if answer == 0 {
        Ok(u64::from(sectors) * SECTOR)
    } else {
        Err(last_errno())
    }
}

/// Returns all zones of a device, or up to `most` of them starting with the zone that contains byte
/// `from`.
///
/// # Errors
/// ENOTTY or EOPNOTSUPP on anything but zoned devices.
pub fn zones(device: impl AsFd, from: u64, most: usize) -> Result<Vec<DeviceZone>, Errno> {
    let (mut all, mut next) = (Vec::new(), from);
    while all.len() < most {
        let some = report(device.as_fd(), next, (most - all.len()).min(AT_ONCE))?;
        let Some(last) = some.last() else { break };
        next = last.start + last.len;
        all.extend(some);
    }
    Ok(all)
}

fn report(device: BorrowedFd<'_>, from: u64, count: usize) -> Result<Vec<DeviceZone>, Errno> {
    let mut words = vec![0u64; HEAD + count * EACH];
    words[0] = from / SECTOR;
    words[1] = u64::from_ne_bytes(two(count as u32, 0));
    // SAFETY: the pointer is to enough memory for the number of zones stated in it, and outlives the call.
    let answer = unsafe { libc::ioctl(device.as_raw_fd(), REPORT as _, words.as_mut_ptr()) };
    if answer != 0 {
        return Err(last_errno());
    }
    Ok(read_report(&words))
}

fn two(first: u32, second: u32) -> [u8; 8] {
    let mut bytes = [0; 8];
    bytes[..4].copy_from_slice(&first.to_ne_bytes());
    bytes[4..].copy_from_slice(&second.to_ne_bytes());
    bytes
}

/// Parses a report: `struct blk_zone_report` with its zones, as 64-bit words.
fn read_report(words: &[u64]) -> Vec<DeviceZone> {
    let head = words[1].to_ne_bytes();
    let half = |at: usize| u32::from_ne_bytes([head[at], head[at + 1], head[at + 2], head[at + 3]]);
    let (count, flags) = (half(0) as usize, half(4));
    let zone = |zone: &[u64]| {
        let bytes = zone[3].to_ne_bytes();
        let (kind, condition) = (bytes[0], bytes[1]);
        DeviceZone {
            start: zone[0] * SECTOR,
            len: zone[1] * SECTOR,
            capacity: if flags & HAS_CAPACITY != 0 {
                zone[4]
            } else {
                zone[1]
            } * SECTOR,
            write_pointer: zone[2].saturating_mul(SECTOR),
            // BLK_ZONE_TYPE_CONVENTIONAL is 1.
            sequential: kind != 1,
            // Implicitly open, explicitly open, closed.
            begun: (2..=4).contains(&condition),
            // Read-only and offline.
            usable: !matches!(condition, 0xd | 0xf),
        }
    };
    words[HEAD..]
        .chunks_exact(EACH)
        .take(count)
        .map(zone)
        .collect()
}

/// Resets zones: their content is lost.
///
/// # Errors
/// EINVAL if the range does not consist of whole zones, EROFS and EACCES if the device cannot be
/// written.
pub fn reset(device: impl AsFd, start: u64, len: u64) -> Result<(), Errno> {
    manage(device.as_fd(), RESET, start, len)
}

/// Finishes zones without writing: they become full and are no longer open.
///
/// # Errors
/// As for [`reset`]; EOPNOTSUPP on kernels before 5.5.
pub fn finish(device: impl AsFd, start: u64, len: u64) -> Result<(), Errno> {
    manage(device.as_fd(), FINISH, start, len)
}

fn manage(device: BorrowedFd<'_>, request: Opcode, start: u64, len: u64) -> Result<(), Errno> {
    let range = [start / SECTOR, len / SECTOR];
    // SAFETY: the request reads two 64-bit numbers from the pointer, which outlives the call.
    let answer = unsafe { libc::ioctl(device.as_raw_fd(), request as _, range.as_ptr()) };
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
    fn a_report_is_taken_apart() {
        let bytes =
            |kind: u8, condition: u8| u64::from_ne_bytes([kind, condition, 0, 0, 0, 0, 0, 0]);
        let mut words = vec![0, u64::from_ne_bytes(two(2, HAS_CAPACITY))];
        words.extend([0, 2048, u64::MAX, bytes(1, 0), 2048, 0, 0, 0]);
        words.extend([2048, 2048, 2050, bytes(2, 2), 2000, 0, 0, 0]);
        words.extend([4096, 2048, 4096, bytes(2, 1), 2000, 0, 0, 0]);
        let zones = read_report(&words);
        assert_eq!(zones.len(), 2, "only as many as the kernel says");
        assert!(!zones[0].sequential && zones[0].usable && !zones[0].begun);
        let second = DeviceZone {
            start: 1 << 20,
            len: 1 << 20,
            capacity: 2000 * 512,
            write_pointer: 2050 * 512,
            sequential: true,
            begun: true,
            usable: true,
        };
        assert_eq!(zones[1], second);
        words[1] = u64::from_ne_bytes(two(2, 0));
        assert_eq!(
            read_report(&words)[1].capacity,
            1 << 20,
            "older kernels tell no capacity"
        );
    }

    #[test]
    fn what_has_no_zones_answers_with_an_error() {
        let file = tempfile::tempfile().unwrap();
        assert!(zone_size(&file).is_err());
        assert!(zones(&file, 0, 10).is_err());
        assert!(reset(&file, 0, 4096).is_err() && finish(&file, 0, 4096).is_err());
    }
}
