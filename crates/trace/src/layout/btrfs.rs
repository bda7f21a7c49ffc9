//! Btrfs: the superblocks. Everything else is at addresses of its own, and known by the flags of requests.

use super::medium::{Flaw, Reader, le64};
use super::{Builder, FileSystem};
use hakaru_model::io_path::{IoClass, LayoutGap};

/// Offsets of the superblock and its copies.
const SUPERBLOCKS: [u64; 3] = [64 << 10, 64 << 20, 256 << 30];
const SUPERBLOCK_SIZE: u64 = 4096;

pub(super) fn read(
    reader: &mut Reader<'_>,
    builder: &mut Builder,
) -> Result<Option<FileSystem>, Flaw> {
    if reader.size() < SUPERBLOCKS[0] + SUPERBLOCK_SIZE {
        return Ok(None);
    }
    let superblock: [u8; 256] = reader.bytes(SUPERBLOCKS[0])?;
    if &superblock[0x40..0x48] != b"_BHRfS_M" {
        return Ok(None);
    }
    for offset in SUPERBLOCKS {
        builder.add(offset, SUPERBLOCK_SIZE, IoClass::Superblock);
    }
    let devices = le64(&superblock, 0x88);
    if devices > 1 {
        builder.gap(LayoutGap::SeveralDevices);
    }
    builder.gap(LayoutGap::MetadataByFlag);
    Ok(Some(FileSystem::Btrfs))
}
