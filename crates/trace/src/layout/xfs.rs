//! XFS: headers of the allocation groups and the internal log. Other metadata has no fixed place, and is known by the
//! flags of requests.

use super::medium::{Flaw, Reader, be16, be32, be64};
use super::{Builder, Detected, FileSystem};
use hakaru_model::io_path::{IoClass, LayoutGap, LayoutPart};

/// Allocation groups, at most.
const MAX_GROUPS: u64 = 1 << 18;

pub(super) fn read(reader: &mut Reader<'_>, builder: &mut Builder) -> Detected {
    let Some(superblock) = reader.superblock::<512>(0, (0, b"XFSB"))? else {
        return Ok(None);
    };
    let block_size = u64::from(be32(&superblock, 4));
    let blocks = be64(&superblock, 8);
    let group_blocks = u64::from(be32(&superblock, 84));
    let groups = u64::from(be32(&superblock, 88));
    let sector = u64::from(be16(&superblock, 102));
    let sane = (512..=65536).contains(&block_size)
        && block_size.is_power_of_two()
        && (512..=32768).contains(&sector)
        && sector.is_power_of_two()
        && group_blocks > 0;
    if !sane {
        builder.damaged(LayoutPart::Superblock);
        return Ok(Some(FileSystem::Xfs));
    }
    // Realtime files are on a device of their own.
    if be64(&superblock, 16) > 0 {
        builder.gap(LayoutGap::SeveralDevices);
    }
    log(&superblock, builder);
    let real_groups = blocks.div_ceil(group_blocks);
    if groups != real_groups {
        builder.damaged(LayoutPart::Superblock);
    }
    if groups > MAX_GROUPS {
        builder.gap(Flaw::TooLarge.of(LayoutPart::Ranges));
    }
    for group in 0..groups.min(MAX_GROUPS) {
        let start = group
            .saturating_mul(group_blocks)
            .saturating_mul(block_size);
        builder.add(start, sector, IoClass::Superblock);
        // Headers of free space, of inodes, and the list of free blocks.
        builder.add(start.saturating_add(sector), 3 * sector, IoClass::Metadata);
    }
    builder.gap(LayoutGap::MetadataByFlag);
    Ok(Some(FileSystem::Xfs))
}

/// Adds the log. Its address has the number of the allocation group in the high bits.
fn log(superblock: &[u8], builder: &mut Builder) {
    let block_size = u64::from(be32(superblock, 4));
    let group_blocks = u64::from(be32(superblock, 84));
    let (start, blocks) = (be64(superblock, 48), u64::from(be32(superblock, 96)));
    let shift = u32::from(superblock[124]);
    if start == 0 {
        builder.gap(LayoutGap::ExternalJournal);
        return;
    }
    let (Some(group), Some(mask)) = (start.checked_shr(shift), 1u64.checked_shl(shift)) else {
        builder.damaged(LayoutPart::Journal);
        return;
    };
    let block = group
        .saturating_mul(group_blocks)
        .saturating_add(start & (mask - 1));
    let (offset, len) = (
        block.saturating_mul(block_size),
        blocks.saturating_mul(block_size),
    );
    if offset.saturating_add(len) > builder.layout.area.sectors.saturating_mul(super::SECTOR) {
        builder.damaged(LayoutPart::Journal);
    }
    builder.add(offset, len, IoClass::Journal);
}
