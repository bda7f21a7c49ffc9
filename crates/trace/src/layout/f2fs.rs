//! F2FS: superblocks, checkpoint, segment information, node addresses and segment summaries. What lies in the main
//! area is named by events.

use super::medium::{Reader, le16, le32, le64};
use super::{Builder, Detected, FileSystem};
use hakaru_model::io_path::{IoClass, LayoutGap, LayoutPart};

/// Offset of the superblock in the first two blocks.
const OFFSET: u64 = 1024;
const MAGIC: u32 = 0xF2F5_2010;
/// Path of the second device of the table of devices; each entry has 68 bytes.
const SECOND_DEVICE: usize = 2201 + 68;
/// Areas before the main area: number of segments, first block, class.
const AREAS: [(usize, usize, IoClass); 4] = [
    (52, 76, IoClass::Checkpoint),
    (56, 80, IoClass::SegmentTable),
    (60, 84, IoClass::NodeAddressTable),
    (64, 88, IoClass::SegmentSummary),
];

pub(super) fn read(reader: &mut Reader<'_>, builder: &mut Builder) -> Detected {
    let second_copy = 4096 + OFFSET;
    let mut copy = |offset| reader.superblock::<3072>(offset, (0, &MAGIC.to_le_bytes()));
    let found = match copy(OFFSET)? {
        None => copy(second_copy)?,
        first => first,
    };
    let Some(superblock) = found else {
        return Ok(None);
    };
    let (log_block, log_segment) = (le32(&superblock, 16), le32(&superblock, 20));
    if !(9..=16).contains(&log_block) || log_segment > 16 || le16(&superblock, 4) > 1 {
        builder.damaged(LayoutPart::Superblock);
        return Ok(Some(FileSystem::F2fs));
    }
    let block = |at: usize| u64::from(le32(&superblock, at)) << log_block;
    let medium = reader.size();
    if superblock[SECOND_DEVICE] != 0 || le64(&superblock, 36) > medium >> log_block {
        // The main area continues on other devices, where the addresses of events lie as well.
        builder.gap(LayoutGap::SeveralDevices);
    }
    builder.add(0, 2 << log_block, IoClass::Superblock);
    for (count, first, class) in AREAS {
        let len = block(count) << log_segment;
        if block(first).saturating_add(len) > medium {
            builder.damaged(LayoutPart::Superblock);
        }
        builder.add(block(first), len, class);
    }
    builder.gap(LayoutGap::NodesByEvent);
    Ok(Some(FileSystem::F2fs))
}
