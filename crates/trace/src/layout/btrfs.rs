//! Btrfs: the superblocks. Everything else is at addresses of its own, and known by the flags of requests.

use super::medium::{Reader, le64};
use super::{Builder, Detected, FileSystem};
use hakaru_model::io_path::{IoClass, LayoutGap};

/// Offsets of the superblock and its copies.
const SUPERBLOCKS: [u64; 3] = [64 << 10, 64 << 20, 256 << 30];
const SUPERBLOCK_SIZE: usize = 4096;

pub(super) fn read(reader: &mut Reader<'_>, builder: &mut Builder) -> Detected {
    let magic = (0x40, &b"_BHRfS_M"[..]);
    let Some(superblock) = reader.superblock::<SUPERBLOCK_SIZE>(SUPERBLOCKS[0], magic)? else {
        return Ok(None);
    };
    for offset in SUPERBLOCKS {
        builder.add(offset, SUPERBLOCK_SIZE as u64, IoClass::Superblock);
    }
    let devices = le64(&superblock, 0x88);
    if devices > 1 {
        builder.gap(LayoutGap::SeveralDevices);
    }
    builder.gap(LayoutGap::MetadataByFlag);
    Ok(Some(FileSystem::Btrfs))
}
