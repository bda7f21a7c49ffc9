//! Partition tables written by hand from the UEFI specification and the layout of the MBR.

use super::*;

const BOOT: [u8; 2] = [0x55, 0xaa];

fn put(bytes: &mut [u8], offset: usize, new: &[u8]) {
    bytes[offset..offset + new.len()].copy_from_slice(new);
}

fn disk(blocks: usize, block: usize) -> Vec<u8> {
    vec![0; blocks * block]
}

fn found(disk: &Vec<u8>, block: u64) -> Option<FoundTable> {
    let image = Image {
        source: disk,
        start: 0,
        len: disk.len() as u64,
    };
    read(&image, block)
}

/// Writes entry `index` of an MBR or of a table in an extended partition.
fn put_entry(disk: &mut [u8], table: usize, index: usize, kind: u8, sectors: [u32; 2]) {
    let at = table + 446 + 16 * index;
    put(disk, table + 510, &BOOT);
    disk[at + 4] = kind;
    put(disk, at + 8, &sectors[0].to_le_bytes());
    put(disk, at + 12, &sectors[1].to_le_bytes());
}

/// Writes a GPT header at a block, with one entry, from block 7 to block 12, as entry `index` in the table at block 3.
fn put_gpt(disk: &mut [u8], block: usize, header: usize, index: usize, size: u32) {
    let at = header * block;
    put(disk, at, b"EFI PART");
    put(disk, at + 72, &3u64.to_le_bytes());
    put(disk, at + 80, &5u32.to_le_bytes());
    put(disk, at + 84, &size.to_le_bytes());
    let at = 3 * block + index * size as usize;
    put(disk, at, &[9; 16]);
    put(disk, at + 32, &7u64.to_le_bytes());
    put(disk, at + 40, &12u64.to_le_bytes());
    put(disk, at + 56, &[b'a', 0, b'b', 0]);
}

fn entry(number: u32, offset: u64, len: u64, name: Option<&str>) -> PartitionEntry {
    PartitionEntry {
        number,
        offset,
        len,
        name: name.map(str::to_owned),
    }
}

#[test]
fn an_mbr_has_four_entries_in_blocks_of_the_disk() {
    for block in [512usize, 4096] {
        let mut disk = disk(64, block);
        put_entry(&mut disk, 0, 0, 0x83, [2, 1]);
        put_entry(&mut disk, 0, 1, 0x0c, [5, 7]);
        put_entry(&mut disk, 0, 2, 0xee, [1, 63]);
        put_entry(&mut disk, 0, 3, 0x07, [20, 11]);
        disk[446] = 0x80;
        let block = block as u64;
        let entries = [(1, 2, 1), (2, 5, 7), (4, 20, 11)];
        let expected = entries.map(|(n, from, len)| entry(n, from * block, len * block, None));
        assert_eq!(found(&disk, block), Some(FoundTable::Mbr(expected.into())));
    }
}

#[test]
fn an_mbr_entry_needs_a_type_and_a_length() {
    let mut disk = disk(64, 512);
    put_entry(&mut disk, 0, 0, 0, [2, 5]);
    put_entry(&mut disk, 0, 1, 0x83, [8, 0]);
    put_entry(&mut disk, 0, 2, 0x83, [9, 3]);
    assert_eq!(
        found(&disk, 512),
        Some(FoundTable::Mbr(vec![entry(3, 9 * 512, 3 * 512, None)]))
    );
}

#[test]
fn boot_sectors_with_other_flags_are_no_mbr() {
    for (flag, is_mbr) in [
        (0, true),
        (0x80, true),
        (1, false),
        (0x7f, false),
        (0x81, false),
    ] {
        let mut disk = disk(64, 512);
        put_entry(&mut disk, 0, 0, 0x83, [2, 5]);
        disk[446 + 16 * 3] = flag;
        assert_eq!(found(&disk, 512).is_some(), is_mbr, "{flag:#x}");
        disk[511] = 0;
        assert_eq!(found(&disk, 512), None, "without a boot signature");
    }
}

#[test]
fn all_types_of_extended_partitions_are_followed() {
    for kind in [0x05, 0x0f, 0x85] {
        let mut disk = disk(64, 512);
        put_entry(&mut disk, 0, 0, kind, [10, 50]);
        put_entry(&mut disk, 0, 1, 0x83, [2, 3]);
        // The partition is relative to its own table, the next table to the extended partition.
        put_entry(&mut disk, 10 * 512, 0, 0x83, [2, 4]);
        put_entry(&mut disk, 10 * 512, 1, 0x05, [11, 30]);
        put_entry(&mut disk, 21 * 512, 0, 0x83, [3, 6]);
        let entries = [(2, 2, 3), (5, 12, 4), (6, 24, 6)];
        let expected = entries.map(|(n, from, len)| entry(n, from * 512, len * 512, None));
        assert_eq!(found(&disk, 512), Some(FoundTable::Mbr(expected.into())));
    }
}

#[test]
fn a_chain_of_logical_partitions_must_advance() {
    // The next table is this one or the one before.
    for next in [11, 5] {
        let mut disk = disk(64, 512);
        put_entry(&mut disk, 0, 0, 0x05, [10, 50]);
        put_entry(&mut disk, 10 * 512, 0, 0x83, [1, 2]);
        put_entry(&mut disk, 10 * 512, 1, 0x05, [11, 20]);
        put_entry(&mut disk, 15 * 512, 0, 0x83, [1, 7]);
        put_entry(&mut disk, 21 * 512, 0, 0x83, [1, 3]);
        put_entry(&mut disk, 21 * 512, 1, 0x05, [next, 20]);
        let expected = [(5, 11, 2), (6, 22, 3)]
            .map(|(number, from, len)| entry(number, from * 512, len * 512, None));
        assert_eq!(found(&disk, 512), Some(FoundTable::Mbr(expected.into())));
    }
}

#[test]
fn at_most_256_logical_partitions_are_read() {
    let mut disk = disk(700, 512);
    put_entry(&mut disk, 0, 0, 0x05, [10, 690]);
    for index in 0..300u32 {
        let table = (10 + 2 * index as usize) * 512;
        put_entry(&mut disk, table, 0, 0x83, [1, 1]);
        put_entry(&mut disk, table, 1, 0x05, [2 * index + 2, 2]);
    }
    let Some(FoundTable::Mbr(entries)) = found(&disk, 512) else {
        panic!("no MBR")
    };
    assert_eq!((entries.len(), entries[255].number), (256, 260));
}

#[test]
fn a_gpt_entry_includes_its_last_block() {
    for block in [512usize, 4096] {
        for (index, size) in [(0, 128), (2, 128), (1, 4096)] {
            let mut disk = disk(64, block);
            put_gpt(&mut disk, block, 1, index, size);
            let block = block as u64;
            let expected = entry(index as u32 + 1, 7 * block, 6 * block, Some("ab"));
            assert_eq!(
                found(&disk, block),
                Some(FoundTable::Gpt(vec![expected])),
                "block {block}, entry {index} of {size} bytes"
            );
        }
    }
}

#[test]
fn gpt_entries_of_an_invalid_size_are_not_read() {
    for size in [0, 127, 4097] {
        let mut disk = disk(64, 512);
        put_gpt(&mut disk, 512, 1, 1, size);
        let entries = match found(&disk, 512) {
            Some(FoundTable::Gpt(entries) | FoundTable::GptCopy(entries)) => entries,
            _ => Vec::new(),
        };
        assert_eq!(entries, [], "{size}");
    }
}

#[test]
fn the_backup_gpt_is_used_behind_a_protective_mbr() {
    let expected = vec![entry(2, 7 * 512, 6 * 512, Some("ab"))];
    let mut disk = disk(64, 512);
    put_gpt(&mut disk, 512, 63, 1, 128);
    assert_eq!(
        found(&disk, 512),
        Some(FoundTable::GptCopy(expected.clone()))
    );
    put_entry(&mut disk, 0, 0, 0xee, [1, 63]);
    assert_eq!(
        found(&disk, 512),
        Some(FoundTable::GptCopy(expected.clone()))
    );
    // An MBR with partitions is newer than a backup header that was left.
    let mut newer = disk.clone();
    put_entry(&mut newer, 0, 1, 0x83, [30, 5]);
    assert_eq!(
        found(&newer, 512),
        Some(FoundTable::Mbr(vec![entry(2, 30 * 512, 5 * 512, None)]))
    );
    put_gpt(&mut disk, 512, 1, 1, 128);
    assert_eq!(found(&disk, 512), Some(FoundTable::Gpt(expected)));
}

/// Writes correct checksums into a GPT header for the table at block 3.
fn put_checksums(disk: &mut [u8], header: usize) {
    let len = 5 * disk[header * 512 + 84] as usize;
    let entries = crc32fast::hash(&disk[3 * 512..3 * 512 + len]);
    let at = header * 512;
    put(disk, at + 88, &entries.to_le_bytes());
    put(disk, at + 12, &92u32.to_le_bytes());
    put(disk, at + 16, &[0; 4]);
    let checksum = crc32fast::hash(&disk[at..at + 92]);
    put(disk, at + 16, &checksum.to_le_bytes());
}

#[test]
fn the_backup_gpt_replaces_a_damaged_primary_one() {
    let mut disk = disk(64, 512);
    put_gpt(&mut disk, 512, 1, 1, 128);
    put_gpt(&mut disk, 512, 63, 1, 128);
    let expected = vec![entry(2, 7 * 512, 6 * 512, Some("ab"))];
    let primary = Some(FoundTable::Gpt(expected.clone()));
    let backup = Some(FoundTable::GptCopy(expected));
    assert_eq!(found(&disk, 512), primary, "no checksums");
    let mut damaged = disk.clone();
    put(&mut damaged, 512 + 84, &[0; 4]);
    assert_eq!(found(&damaged, 512), backup, "the entry size is 0");
    let mut damaged = disk.clone();
    put(&mut damaged, 512 + 72, &40u64.to_le_bytes());
    assert_eq!(found(&damaged, 512), backup, "all entries are zeros");
    put_checksums(&mut disk, 63);
    assert_eq!(found(&disk, 512), backup, "only the backup is intact");
    put_checksums(&mut disk, 1);
    assert_eq!(found(&disk, 512), primary, "both are intact");
    let mut damaged = disk.clone();
    damaged[512 + 40] ^= 1;
    assert_eq!(found(&damaged, 512), backup, "the header changed");
    damaged[63 * 512 + 40] ^= 1;
    assert_eq!(found(&damaged, 512), primary, "both headers changed");
    let mut damaged = disk.clone();
    damaged[63 * 512..].fill(0);
    damaged[3 * 512 + 127] ^= 1;
    assert_eq!(found(&damaged, 512), primary, "there is no backup");
    put_entry(&mut damaged, 0, 0, 0x83, [30, 5]);
    assert_eq!(found(&damaged, 512), primary, "the MBR has a partition");
}

#[test]
fn an_mbr_is_used_if_no_gpt_has_partitions() {
    let mut disk = disk(64, 512);
    put(&mut disk, 512, b"EFI PART");
    put_entry(&mut disk, 0, 0, 0x83, [30, 5]);
    let expected = vec![entry(1, 30 * 512, 5 * 512, None)];
    assert_eq!(found(&disk, 512), Some(FoundTable::Mbr(expected)));
}

#[test]
fn an_empty_logical_table_uses_no_number() {
    let mut disk = disk(64, 512);
    put_entry(&mut disk, 0, 0, 0x05, [10, 50]);
    put_entry(&mut disk, 10 * 512, 1, 0x05, [10, 10]);
    put_entry(&mut disk, 20 * 512, 0, 0x83, [1, 2]);
    put_entry(&mut disk, 20 * 512, 1, 0x05, [20, 10]);
    put_entry(&mut disk, 30 * 512, 1, 0x05, [30, 10]);
    put_entry(&mut disk, 40 * 512, 0, 0x83, [1, 3]);
    let expected = [(5, 21, 2), (6, 41, 3)]
        .map(|(number, from, len)| entry(number, from * 512, len * 512, None));
    assert_eq!(found(&disk, 512), Some(FoundTable::Mbr(expected.into())));
}

#[test]
fn an_mbr_without_partitions_is_an_empty_table() {
    let mut disk = disk(64, 512);
    put(&mut disk, 510, &BOOT);
    assert_eq!(found(&disk, 512), Some(FoundTable::Mbr(vec![])));
    assert_eq!(found(&vec![0; 511], 512), None, "less than a block");
}
