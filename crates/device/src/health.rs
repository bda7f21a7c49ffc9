//! SMART data of a disk: reads and decodes it.
//!
//! Sources: NVM Express Base Specification 2.0, section 5.16.1.3 (SMART / Health Information); ACS-3, section 7.44. No
//! standard defines the ATA attribute numbers; this module uses the numbers that most manufacturers share.

use crate::bus;
use crate::chain::DeviceNode;
use crate::roots::Roots;
use hakaru_model::facts::{Bus, Fact, Health, UnknownReason};
use hakaru_model::units::Bytes;
use hakaru_sys::health::{self, LEN};
use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;
use std::os::fd::OwnedFd;
use std::path::Path;

/// Reads the SMART data of a disk if that is possible without touching its content.
pub(crate) fn of(disk: &DeviceNode, on: &Bus, roots: &Roots) -> Fact<Health> {
    let node = roots.dev.join(&disk.kname);
    match on {
        Bus::Nvme { .. } if roots.is_live() => {
            ask(&node, health::nvme_health).map_or_else(Fact::Unknown, |log| nvme(&log))
        }
        Bus::Scsi { .. } if roots.is_live() && bus::is_ata(disk) => {
            ask(&node, health::ata_smart).map_or_else(Fact::Unknown, |data| ata(&data))
        }
        Bus::Nvme { .. } | Bus::Scsi { .. } if roots.is_live() => unknown(UnknownReason::NoAtaDisk),
        Bus::Nvme { .. } | Bus::Scsi { .. } => unknown(UnknownReason::OnlyTheWholeDisk),
        Bus::Mmc { .. } => unknown(UnknownReason::WearOnlyInRegisters),
        Bus::Usb { .. } => unknown(UnknownReason::UsbBridgesFail),
        Bus::Virtio | Bus::Software | Bus::Other { .. } => unknown(UnknownReason::NoPhysicalDisk),
    }
}

fn unknown(because: UnknownReason) -> Fact<Health> {
    Fact::Unknown(because)
}

/// Runs a SMART query; the error is the reason why there is no result.
fn ask(
    node: &Path,
    how: fn(OwnedFd) -> Result<[u8; LEN], Errno>,
) -> Result<[u8; LEN], UnknownReason> {
    // Non-blocking, so that opening a drive without a medium does not close its tray.
    let device = rustix::fs::open(
        node,
        OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC,
        Mode::empty(),
    );
    device.and_then(how).map_err(|error| match error {
        Errno::ACCESS | Errno::PERM => UnknownReason::QueryNeedsRoot,
        error => UnknownReason::Text(format!("the disk does not return SMART data ({error})")),
    })
}

/// Critical warnings of an NVMe controller, by bit of byte 0.
const WARNINGS: [&str; 6] = [
    "spare blocks are running out",
    "temperature is outside its limits",
    "no longer reliable because of errors",
    "read-only because of errors",
    "power-loss protection has failed",
    "persistent memory is read-only",
];

fn nvme(log: &[u8; LEN]) -> Fact<Health> {
    let number = |at: usize| {
        let bytes: Option<[u8; 8]> = log.get(at..at + 8).and_then(|bytes| bytes.try_into().ok());
        bytes.map(u64::from_le_bytes)
    };
    // The unit is 1000 sectors of 512 bytes.
    let bytes = |at: usize| number(at).map(|units| Bytes(units.saturating_mul(512_000)));
    let warnings = WARNINGS
        .iter()
        .enumerate()
        .filter(|(bit, _)| log[0] >> bit & 1 == 1);
    Fact::Known(Health {
        percent_used: Some(u64::from(log[5])),
        spare_percent: Some(u64::from(log[3])),
        read: bytes(32),
        written: bytes(48),
        power_on_hours: number(128),
        unsafe_shutdowns: number(144),
        media_errors: number(160),
        warnings: warnings.map(|(_, words)| (*words).to_owned()).collect(),
        ..Health::default()
    })
}

/// Decodes the attribute table: 30 entries of 12 bytes from byte 2; first the ID, then six bytes of
/// raw value at the end.
fn ata(data: &[u8; LEN]) -> Fact<Health> {
    if data.iter().fold(0u8, |sum, byte| sum.wrapping_add(*byte)) != 0 {
        return unknown(UnknownReason::BadSmartChecksum);
    }
    let entries = || data[2..362].chunks_exact(12);
    let raw = |number: u8, bytes: usize| {
        let entry = entries().find(|entry| entry[0] == number)?;
        let value = entry[5..5 + bytes]
            .iter()
            .rev()
            .fold(0u64, |value, byte| value << 8 | u64::from(*byte));
        Some(value)
    };
    Fact::Known(Health {
        // Some vendors count minutes or milliseconds in the upper bytes.
        power_on_hours: raw(9, 4),
        reallocated_sectors: raw(5, 4),
        pending_sectors: raw(197, 4),
        media_errors: raw(187, 4),
        unsafe_shutdowns: raw(174, 4).or_else(|| raw(192, 4)),
        written: raw(241, 6).map(|sectors| Bytes(sectors.saturating_mul(512))),
        read: raw(242, 6).map(|sectors| Bytes(sectors.saturating_mul(512))),
        ..Health::default()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_log_of_nvme_is_taken_apart() {
        let mut log = [0; LEN];
        (log[0], log[3], log[5]) = (0b1001, 90, 7);
        log[48..56].copy_from_slice(&2000u64.to_le_bytes());
        log[128..136].copy_from_slice(&12u64.to_le_bytes());
        log[160] = 3;
        let Fact::Known(health) = nvme(&log) else {
            panic!("all of it is there")
        };
        assert_eq!(
            (health.percent_used, health.spare_percent),
            (Some(7), Some(90))
        );
        assert_eq!(
            (health.written, health.power_on_hours),
            (Some(Bytes(1_024_000_000)), Some(12))
        );
        assert_eq!((health.media_errors, health.warnings.len()), (Some(3), 2));
        assert_eq!(health.reallocated_sectors, None);
    }

    #[test]
    fn attributes_of_ata_are_found_by_their_numbers() {
        let mut data = [0u8; LEN];
        for (place, (number, raw)) in [(9u8, 0x0102_0304u64), (5, 8), (241, 1 << 33)]
            .into_iter()
            .enumerate()
        {
            let entry = &mut data[2 + 12 * place..][..12];
            entry[0] = number;
            entry[5..11].copy_from_slice(&raw.to_le_bytes()[..6]);
        }
        assert!(
            matches!(ata(&data), Fact::Unknown(_)),
            "without its checksum"
        );
        let sum = data.iter().fold(0u8, |sum, byte| sum.wrapping_add(*byte));
        data[511] = 0u8.wrapping_sub(sum);
        let Fact::Known(health) = ata(&data) else {
            panic!("the checksum is right")
        };
        assert_eq!(
            (health.power_on_hours, health.reallocated_sectors),
            (Some(0x0102_0304), Some(8))
        );
        assert_eq!(
            (health.written, health.pending_sectors),
            (Some(Bytes(512 << 33)), None)
        );
    }

    proptest::proptest! {
        #[test]
        fn no_answer_panics(bytes in proptest::collection::vec(proptest::num::u8::ANY, LEN)) {
            let bytes: [u8; LEN] = bytes.try_into().unwrap();
            let _ = (nvme(&bytes), ata(&bytes));
        }
    }
}
