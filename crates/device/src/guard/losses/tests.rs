//! Content of disks made by hand and by the tools of file systems.

use super::*;
use proptest::prelude::*;
use std::process::Command;

impl ReadAt for Vec<u8> {
    fn read_exact_at(&self, buffer: &mut [u8], offset: u64) -> std::io::Result<()> {
        let from = usize::try_from(offset).unwrap_or(usize::MAX);
        let bytes = self.get(from..).and_then(|rest| rest.get(..buffer.len()));
        buffer.copy_from_slice(bytes.ok_or(std::io::ErrorKind::UnexpectedEof)?);
        Ok(())
    }
}

fn shown(image: &Vec<u8>) -> Vec<String> {
    losses(image, image.len() as u64, 512)
        .iter()
        .map(Loss::to_string)
        .collect()
}

fn put(image: &mut [u8], offset: usize, bytes: &[u8]) {
    image[offset..offset + bytes.len()].copy_from_slice(bytes);
}

/// Builds an MBR entry from its type, first sector and number of sectors.
fn entry(kind: u8, first: u32, count: u32) -> [u8; 16] {
    let mut raw = [0; 16];
    raw[4] = kind;
    put(&mut raw, 8, &first.to_le_bytes());
    put(&mut raw, 12, &count.to_le_bytes());
    raw
}

fn swap_at(image: &mut [u8], offset: usize, label: &[u8]) {
    put(image, offset + 4086, b"SWAPSPACE2");
    put(image, offset + 1028, &15u32.to_le_bytes());
    put(image, offset + 1052, label);
}

fn disk_with_mbr() -> Vec<u8> {
    let mut disk = vec![0; 1 << 20];
    put(&mut disk, 510, &[0x55, 0xaa]);
    put(&mut disk, 446, &entry(0x82, 64, 128));
    put(&mut disk, 462, &entry(0x05, 512, 1024));
    swap_at(&mut disk, 64 * 512, b"fast");
    // Two logical partitions: each table lists its own and the next one.
    put(&mut disk, 512 * 512 + 510, &[0x55, 0xaa]);
    put(&mut disk, 512 * 512 + 446, &entry(0x83, 8, 120));
    put(&mut disk, 512 * 512 + 462, &entry(0x05, 256, 256));
    put(&mut disk, 768 * 512 + 510, &[0x55, 0xaa]);
    put(&mut disk, 768 * 512 + 446, &entry(0x82, 8, 120));
    swap_at(&mut disk, 776 * 512, b"slow");
    disk
}

fn disk_with_gpt() -> Vec<u8> {
    let mut disk = vec![0; 1 << 20];
    put(&mut disk, 510, &[0x55, 0xaa]);
    put(&mut disk, 446, &entry(0xee, 1, 2047));
    for (header, table) in [(1, 2), (2047, 2015)] {
        put(&mut disk, header * 512, b"EFI PART");
        put(&mut disk, header * 512 + 72, &(table as u64).to_le_bytes());
        put(&mut disk, header * 512 + 80, &128u32.to_le_bytes());
        put(&mut disk, header * 512 + 84, &128u32.to_le_bytes());
        let at = table * 512 + 128;
        put(&mut disk, at, &[7; 16]);
        put(&mut disk, at + 32, &64u64.to_le_bytes());
        put(&mut disk, at + 40, &191u64.to_le_bytes());
        put(
            &mut disk,
            at + 56,
            &"swäp"
                .encode_utf16()
                .flat_map(u16::to_le_bytes)
                .collect::<Vec<_>>(),
        );
    }
    swap_at(&mut disk, 64 * 512, b"s");
    disk
}

#[test]
fn an_mbr_with_logical_partitions_is_read() {
    insta::assert_snapshot!(shown(&disk_with_mbr()).join("\n"), @r"
    partition table: MBR, 3 partitions
    partition 1: swap `fast`, 64 KiB
    partition 6: swap `slow`, 64 KiB
    ");
}

#[test]
fn a_gpt_is_read_and_so_is_its_copy() {
    let mut disk = disk_with_gpt();
    insta::assert_snapshot!(shown(&disk).join("\n"), @r"
    partition table: GPT, 1 partition
    partition 2: swap `s`, 64 KiB
    ");
    let found = losses(&disk, disk.len() as u64, 512);
    let LossKind::PartitionTable { partitions, .. } = &found[0].what else {
        panic!("{found:?}")
    };
    assert_eq!(partitions[0].name.as_deref(), Some("swäp"));
    disk[..1024].fill(0);
    assert_eq!(
        shown(&disk)[0],
        "partition table: GPT (backup header at the end), 1 partition"
    );
}

#[test]
fn an_empty_device_has_nothing_to_lose() {
    assert_eq!(shown(&vec![0; 1 << 20]), [""; 0]);
    assert_eq!(shown(&vec![0xff; 1 << 20]), [""; 0]);
    assert_eq!(shown(&Vec::new()), [""; 0]);
}

#[test]
fn what_cannot_be_read_is_said() {
    insta::assert_snapshot!(what_would_be_lost(Path::new("/proc/nonexistent"))[0], @"unknown (cannot read /proc/nonexistent: No such file or directory (os error 2))");
    insta::assert_snapshot!(what_would_be_lost(Path::new("/dev/null"))[0], @"unknown (cannot read /dev/null: neither a file nor a block device)");
}

/// Runs a mkfs on an image file; `None` when the tool is not installed.
fn made_by(tool: &str, options: &[&str], size: u64) -> Option<Vec<String>> {
    let file = tempfile::NamedTempFile::new().unwrap();
    file.as_file().set_len(size).unwrap();
    match Command::new(tool).args(options).arg(file.path()).output() {
        Ok(output) => assert!(output.status.success(), "{tool}: {output:?}"),
        Err(_) => {
            eprintln!("SKIPPED {tool}: it is not installed");
            return None;
        }
    }
    Some(
        what_would_be_lost(file.path())
            .iter()
            .map(Loss::to_string)
            .collect(),
    )
}

#[test]
fn real_file_systems_are_recognised() {
    let made = [
        (
            "mkfs.ext4",
            &["-q", "-F", "-L", "daten"][..],
            16,
            "whole device: ext4 `daten`, 16 MiB",
        ),
        ("mkfs.ext2", &["-q", "-F"], 16, "whole device: ext2, 16 MiB"),
        (
            "mkfs.vfat",
            &["-n", "CARD"],
            16,
            "whole device: vfat `CARD`, 16 MiB",
        ),
        (
            "mkfs.vfat",
            &["-F", "32", "-n", "BIG"],
            64,
            "whole device: vfat `BIG`, 64 MiB",
        ),
        (
            "mkfs.f2fs",
            &["-q", "-f", "-l", "flash"],
            64,
            "whole device: f2fs `flash`, 64 MiB",
        ),
        (
            "mkfs.exfat",
            &["-L", "photos"],
            16,
            "whole device: exfat `photos`, 16 MiB",
        ),
        (
            "mkfs.btrfs",
            &["-q", "-f", "-L", "tree"],
            128,
            "whole device: btrfs `tree`, 128 MiB",
        ),
        (
            "mkfs.xfs",
            &["-q", "-f", "-L", "big"],
            320,
            "whole device: xfs `big`, 320 MiB",
        ),
        (
            "mkswap",
            &["-L", "swapper"],
            4,
            "whole device: swap `swapper`, 4 MiB",
        ),
    ];
    for (tool, options, mebibytes, expected) in made {
        if let Some(found) = made_by(tool, options, mebibytes << 20) {
            assert_eq!(found, [expected], "{tool} {options:?}");
        }
    }
}

/// The boot sectors of FAT, exFAT and NTFS resemble an MBR; other file systems do not use the first sector.
#[test]
fn a_table_is_shown_only_beside_content_without_a_boot_sector() {
    let signatures: [(&str, usize, &[u8], bool); 5] = [
        ("vfat", 0x52, b"FAT32   ", false),
        ("exfat", 3, b"EXFAT   ", false),
        ("ntfs", 3, b"NTFS    ", false),
        ("LUKS", 0, b"LUKS\xba\xbe\0\x01", true),
        ("ext2", 1080, &[0x53, 0xef], true),
    ];
    for (kind, offset, magic, has_table) in signatures {
        let mut disk = disk_with_mbr();
        put(&mut disk, offset, magic);
        let shown = shown(&disk);
        let whole = format!("whole device: {kind}");
        assert_eq!(
            shown.contains(&"partition table: MBR, 3 partitions".to_owned()),
            has_table,
            "{shown:?}"
        );
        assert!(
            shown.iter().any(|line| line.starts_with(&whole)),
            "{shown:?}"
        );
    }
}

#[test]
fn an_old_boot_sector_does_not_hide_a_gpt() {
    let mut disk = disk_with_gpt();
    put(&mut disk, 0x52, b"FAT32   ");
    let with_table = [
        "partition table: GPT, 1 partition",
        "whole device: vfat",
        "partition 2: swap `s`, 64 KiB",
    ];
    assert_eq!(shown(&disk), with_table);
    // A backup header alone may be older than the file system.
    put(&mut disk, 512, &[0; 8]);
    assert_eq!(shown(&disk), ["whole device: vfat"]);
}

#[test]
fn a_table_without_partitions_is_no_loss() {
    let mut disk = vec![0; 1 << 20];
    put(&mut disk, 510, &[0x55, 0xaa]);
    assert_eq!(shown(&disk), [""; 0]);
}

#[test]
fn an_image_file_is_read_to_its_end() {
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), disk_with_gpt()).unwrap();
    let found = what_would_be_lost(file.path());
    let LossKind::PartitionTable { table, partitions } = &found[0].what else {
        panic!("{found:?}")
    };
    let expected = Partition {
        number: 2,
        offset: Bytes(64 * 512),
        size: Bytes(128 * 512),
        name: Some("swäp".to_owned()),
    };
    assert_eq!((*table, &partitions[..]), (TableKind::Gpt, &[expected][..]));
    assert_eq!((found[1].offset, found.len()), (Bytes(64 * 512), 2));
}

proptest! {
    #[test]
    fn damage_never_panics(
        which in 0usize..3,
        edits in prop::collection::vec((0usize..1 << 20, any::<u8>()), 0..64),
        near in prop::collection::vec((0usize..70_000, any::<u8>()), 0..64),
    ) {
        let mut disk = match which { 0 => disk_with_mbr(), 1 => disk_with_gpt(), _ => vec![0; 1 << 20] };
        edits.into_iter().chain(near).for_each(|(at, byte)| disk[at] = byte);
        let _ = shown(&disk);
    }

    #[test]
    fn any_superblock_is_read_without_a_panic(bytes in prop::collection::vec(any::<u8>(), 2048), which in 0usize..12) {
        let magics: [(usize, &[u8]); 12] = [
            (1024 + 0x38, &[0x53, 0xef]), (1024, &[0x10, 0x20, 0xf5, 0xf2]), (0, b"XFSB"), (0x1_0040, b"_BHRfS_M"),
            (3, b"EXFAT   "), (3, b"NTFS    "), (0x52, b"FAT32   "), (4086, b"SWAPSPACE2"), (0, b"LUKS\xba\xbe\0\x02"),
            (512, b"LABELONE"), (4096, &[0xfc, 0x4e, 0x2b, 0xa9]), (0x8001, b"CD001"),
        ];
        let mut disk: Vec<u8> = bytes.iter().copied().cycle().take(80_000).collect();
        put(&mut disk, 510, &[0x55, 0xaa]);
        put(&mut disk, magics[which].0, magics[which].1);
        let _ = shown(&disk);
    }
}
