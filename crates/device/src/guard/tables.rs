//! Partition tables: MBR with its extended partitions, and GPT.
//!
//! Sources: UEFI specification, chapter 5 (GPT, protective MBR); the PC MBR. Parsed to show what
//! would be lost, so damaged tables are accepted.

use super::magic::{Image, has_boot_signature};

/// Maximum number of entries; a table with more is damaged, or not a table.
const MOST_ENTRIES: u32 = 256;

/// Maximum size of a table whose checksum is computed, in bytes.
const MOST_ENTRIES_BYTES: u64 = 1 << 20;

/// One entry of a partition table, with its position in bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PartitionEntry {
    pub(crate) number: u32,
    pub(crate) offset: u64,
    pub(crate) len: u64,
    pub(crate) name: Option<String>,
}

/// A partition table with its entries.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum FoundTable {
    Mbr(Vec<PartitionEntry>),
    Gpt(Vec<PartitionEntry>),
    /// Only the backup GPT at the end of the disk is intact.
    GptCopy(Vec<PartitionEntry>),
}

/// Finds the partition table of a disk with blocks of this size. A FAT boot sector resembles an MBR, so an MBR beside a
/// FAT file system proves nothing.
pub(crate) fn read(image: &Image<'_>, block: u64) -> Option<FoundTable> {
    let last = (image.len / block).checked_sub(1)?;
    if has_gpt_signature(image, block) {
        return Some(damaged_gpt(image, block, last));
    }
    match mbr(image, block) {
        Some(entries) if !entries.is_empty() => Some(FoundTable::Mbr(entries)),
        found => gpt(image, block, last)
            .map(FoundTable::GptCopy)
            .or(found.map(FoundTable::Mbr)),
    }
}

/// Whether the second block has the signature of a GPT.
pub(crate) fn has_gpt_signature(image: &Image<'_>, block: u64) -> bool {
    image.part(block, block).bytes::<8>(0) == Some(*b"EFI PART")
}

/// Reads a GPT with a primary header that may be damaged: prefers a table with correct checksums, then a table with
/// partitions, and of two such tables the primary.
fn damaged_gpt(image: &Image<'_>, block: u64, last: u64) -> FoundTable {
    let primary = gpt(image, block, 1).unwrap_or_default();
    if is_intact(image, block, 1) {
        return FoundTable::Gpt(primary);
    }
    let backup = gpt(image, block, last).unwrap_or_default();
    let is_better = primary.is_empty() || is_intact(image, block, last);
    match mbr(image, block) {
        _ if !backup.is_empty() && is_better => FoundTable::GptCopy(backup),
        Some(entries) if primary.is_empty() && !entries.is_empty() => FoundTable::Mbr(entries),
        _ => FoundTable::Gpt(primary),
    }
}

/// Whether the checksums of a GPT header and of its entries are correct.
fn is_intact(image: &Image<'_>, block: u64, at: u64) -> bool {
    let check = || {
        let header = image.part(at.checked_mul(block)?, block);
        let mut bytes = header.vec(0, u64::from(header.le32(12)?).clamp(92, block))?;
        bytes.get_mut(16..20)?.fill(0);
        let len = u64::from(header.le32(80)?).checked_mul(u64::from(header.le32(84)?))?;
        let first = header.le64(72)?.checked_mul(block)?;
        // Larger tables do not occur, and would cost memory.
        let entries = (len <= MOST_ENTRIES_BYTES).then(|| image.vec(first, len))??;
        Some(
            crc32fast::hash(&bytes) == header.le32(16)?
                && crc32fast::hash(&entries) == header.le32(88)?,
        )
    };
    check().unwrap_or(false)
}

fn gpt(image: &Image<'_>, block: u64, at: u64) -> Option<Vec<PartitionEntry>> {
    let header = image.part(at.checked_mul(block)?, block);
    if header.bytes::<8>(0)? != *b"EFI PART" {
        return None;
    }
    let (first, count) = (header.le64(72)?, header.le32(80)?);
    let size = u64::from(header.le32(84)?);
    if !(128..=4096).contains(&size) {
        return Some(Vec::new());
    }
    let entry = |index: u32| {
        let offset = first
            .checked_mul(block)?
            .checked_add(u64::from(index).checked_mul(size)?)?;
        let raw = image.part(offset, size);
        if raw.bytes::<16>(0)? == [0; 16] {
            return None;
        }
        let (from, to) = (raw.le64(32)?, raw.le64(40)?);
        let len = to.checked_sub(from)?.checked_add(1)?.checked_mul(block)?;
        Some(PartitionEntry {
            number: index + 1,
            offset: from.checked_mul(block)?,
            len,
            name: raw.text16::<72>(56),
        })
    };
    Some((0..count.min(MOST_ENTRIES)).filter_map(entry).collect())
}

/// Parses an MBR: four entries of 16 bytes from byte 446 on, each with flag, begin (CHS), type, end (CHS), first sector
/// and number of sectors.
fn mbr(image: &Image<'_>, block: u64) -> Option<Vec<PartitionEntry>> {
    if !has_boot_signature(image) {
        return None;
    }
    let mut entries = Vec::new();
    for index in 0..4u32 {
        let raw: [u8; 16] = image.bytes(446 + 16 * u64::from(index))?;
        // Any other flag means that this is another kind of boot sector.
        if !matches!(raw[0], 0 | 0x80) {
            return None;
        }
        let Some(entry) = mbr_entry(&raw, 0, block, index + 1) else {
            continue;
        };
        if matches!(raw[4], 0x05 | 0x0f | 0x85) {
            logical(image, &entry, block, &mut entries);
        } else if raw[4] != 0xee {
            entries.push(entry);
        }
    }
    entries.sort_by_key(|entry| entry.number);
    Some(entries)
}

fn mbr_entry(raw: &[u8; 16], base: u64, block: u64, number: u32) -> Option<PartitionEntry> {
    let first = u64::from(u32::from_le_bytes([raw[8], raw[9], raw[10], raw[11]]));
    let count = u64::from(u32::from_le_bytes([raw[12], raw[13], raw[14], raw[15]]));
    let offset = first.checked_mul(block)?.checked_add(base)?;
    (raw[4] != 0 && count > 0).then_some(PartitionEntry {
        number,
        offset,
        len: count.checked_mul(block)?,
        name: None,
    })
}

/// Follows the chain of small tables in an extended partition, which list its logical partitions. A table without a
/// partition uses no number, as in the kernel.
fn logical(
    image: &Image<'_>,
    extended: &PartitionEntry,
    block: u64,
    entries: &mut Vec<PartitionEntry>,
) {
    let (mut at, mut number) = (extended.offset, 5);
    for _ in 0..MOST_ENTRIES {
        let table = image.part(at, block);
        let raw = |offset| table.bytes::<16>(offset);
        let (true, Some(own), Some(next)) = (has_boot_signature(&table), raw(446), raw(462)) else {
            return;
        };
        if let Some(entry) = mbr_entry(&own, at, block, number) {
            entries.push(entry);
            number += 1;
        }
        match mbr_entry(&next, extended.offset, block, 0) {
            // A chain that does not advance would never end.
            Some(next) if next.offset > at => at = next.offset,
            _ => return,
        }
    }
}

#[cfg(test)]
mod tests;
