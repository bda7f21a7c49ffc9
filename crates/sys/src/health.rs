//! Reads the raw SMART data of NVMe and ATA disks.
//!
//! Both requests are read-only and do not touch the data of the disk. Decoding is not part of this
//! crate.

use crate::file::last_errno;
use rustix::fd::{AsFd, AsRawFd};
use rustix::io::Errno;
use std::ffi::c_void;

/// Length of both results in bytes.
pub const LEN: usize = 512;

/// `_IOWR('N', 0x41, struct nvme_admin_cmd)` of `linux/nvme_ioctl.h`.
const NVME_IOCTL_ADMIN_CMD: u32 = 0xc048_4e41;
/// Get Log Page (NVM Express Base Specification, figure "Opcodes for Admin Commands").
const GET_LOG_PAGE: u8 = 0x02;
/// `SG_IO` of `scsi/sg.h`.
const SG_IO: u32 = 0x2285;
const SG_DXFER_FROM_DEV: i32 = -3;

/// `struct nvme_admin_cmd` of `linux/nvme_ioctl.h`.
#[repr(C)]
#[derive(Default)]
struct NvmeAdminCommand {
    opcode: u8,
    flags: u8,
    rsvd1: u16,
    nsid: u32,
    cdw2: u32,
    cdw3: u32,
    metadata: u64,
    addr: u64,
    metadata_len: u32,
    data_len: u32,
    cdw10: u32,
    cdw11: u32,
    cdw12: u32,
    cdw13: u32,
    cdw14: u32,
    cdw15: u32,
    timeout_ms: u32,
    result: u32,
}

/// `struct sg_io_hdr` of `scsi/sg.h`.
#[derive(Default)]
#[repr(C)]
struct SgIoHeader {
    interface_id: i32,
    dxfer_direction: i32,
    cmd_len: u8,
    mx_sb_len: u8,
    iovec_count: u16,
    dxfer_len: u32,
    dxferp: *mut c_void,
    cmdp: *const u8,
    sbp: *mut u8,
    timeout: u32,
    flags: u32,
    pack_id: i32,
    usr_ptr: *mut c_void,
    status: u8,
    masked_status: u8,
    msg_status: u8,
    sb_len_wr: u8,
    host_status: u16,
    driver_status: u16,
    resid: i32,
    duration: u32,
    info: u32,
}

/// Reads the SMART / Health Information log page of an NVMe controller.
///
/// Source: NVM Express Base Specification 2.0, section 5.16.1.3: log identifier 2, for all namespaces.
///
/// # Errors
/// EACCES without permission, ENOTTY if not an NVMe device, EIO if the controller refuses.
pub fn nvme_health(device: impl AsFd) -> Result<[u8; LEN], Errno> {
    let mut log = [0u8; LEN];
    // Number of dwords minus 1, above the log identifier.
    let dwords = (LEN / 4 - 1) as u32;
    let mut command = NvmeAdminCommand {
        opcode: GET_LOG_PAGE,
        nsid: u32::MAX,
        addr: log.as_mut_ptr() as u64,
        data_len: LEN as u32,
        cdw10: dwords << 16 | 2,
        timeout_ms: 5000,
        ..NvmeAdminCommand::default()
    };
    // SAFETY: the command has the layout the kernel expects, and refers to a buffer of the stated length; both
    // outlive the call, which returns only when the kernel no longer uses them.
    let answer = unsafe {
        libc::ioctl(
            device.as_fd().as_raw_fd(),
            NVME_IOCTL_ADMIN_CMD as _,
            (&raw mut command).cast::<c_void>(),
        )
    };
    match answer {
        0 => Ok(log),
        // A controller status, not an errno.
        1.. => Err(Errno::IO),
        _ => Err(last_errno()),
    }
}

/// Reads the SMART data of an ATA disk, including its attributes.
///
/// Source: ACS-3, section 7.44 (SMART READ DATA); SAT-3, section 12.2 (ATA PASS-THROUGH (16), PIO data-in).
///
/// # Errors
/// EACCES without permission, ENOTTY or EINVAL if such commands are not supported, EIO if the disk
/// refuses.
pub fn ata_smart(device: impl AsFd) -> Result<[u8; LEN], Errno> {
    let mut data = [0u8; LEN];
    let mut sense = [0u8; 32];
    // PIO data-in; the length is one sector; SMART READ DATA with its key in the address.
    let command = u128::to_be_bytes(0x8508_0e00_d000_0100_0000_4f00_c200_b000);
    let mut header = SgIoHeader {
        interface_id: i32::from(b'S'),
        dxfer_direction: SG_DXFER_FROM_DEV,
        cmd_len: command.len() as u8,
        mx_sb_len: sense.len() as u8,
        dxfer_len: LEN as u32,
        dxferp: data.as_mut_ptr().cast(),
        cmdp: command.as_ptr(),
        sbp: sense.as_mut_ptr(),
        timeout: 5000,
        ..SgIoHeader::default()
    };
    // SAFETY: the header has the layout the kernel expects, and refers to buffers of the stated lengths; all of them
    // outlive the call, which returns only when the kernel no longer uses them.
    let answer = unsafe {
        libc::ioctl(
            device.as_fd().as_raw_fd(),
            SG_IO as _,
            (&raw mut header).cast::<c_void>(),
        )
    };
    match (answer, header.status, header.host_status) {
        (0, 0, 0) => Ok(data),
        (0, ..) => Err(Errno::IO),
        _ => Err(last_errno()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_have_the_size_that_the_kernel_knows() {
        // The request number contains the size of the argument.
        assert_eq!(
            size_of::<NvmeAdminCommand>(),
            (NVME_IOCTL_ADMIN_CMD >> 16 & 0x3fff) as usize
        );
        if cfg!(target_pointer_width = "64") {
            assert_eq!(size_of::<SgIoHeader>(), 88);
        }
    }

    #[test]
    fn what_is_no_disk_answers_with_an_error() {
        let file = tempfile::tempfile().unwrap();
        assert!(nvme_health(&file).is_err());
        assert!(ata_smart(&file).is_err());
    }
}
