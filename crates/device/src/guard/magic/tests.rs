//! Signatures written by hand from the on-disk formats of the file systems.

use super::*;

fn put(bytes: &mut [u8], offset: usize, new: &[u8]) {
    bytes[offset..offset + new.len()].copy_from_slice(new);
}

/// Builds an image of `len` zeros with some bytes replaced.
fn made(len: usize, parts: &[(usize, &[u8])]) -> Vec<u8> {
    let mut bytes = vec![0; len];
    for (offset, part) in parts {
        put(&mut bytes, *offset, part);
    }
    bytes
}

fn whole(bytes: &Vec<u8>) -> Image<'_> {
    Image {
        source: bytes,
        start: 0,
        len: bytes.len() as u64,
    }
}

type Found = (&'static str, Option<String>, Option<u64>);

fn probed(bytes: &Vec<u8>) -> Vec<Found> {
    let found = probe(&whole(bytes)).into_iter();
    found
        .map(|found| (found.kind, found.label, found.size.map(|size| size.0)))
        .collect()
}

/// Checks that an image contains exactly one signature.
#[track_caller]
fn check(parts: &[(usize, &[u8])], kind: &'static str, label: &str, size: u64) {
    let label = Some(label.to_owned()).filter(|label| !label.is_empty());
    let size = Some(size).filter(|size| *size > 0);
    assert_eq!(probed(&made(0x1_2000, parts)), [(kind, label, size)]);
}

#[track_caller]
fn check_nothing(parts: &[(usize, &[u8])]) {
    assert_eq!(probed(&made(0x1_2000, parts)), []);
}

#[test]
fn a_subrange_ends_with_the_range_around_it() {
    let bytes: Vec<u8> = (0..40).collect();
    let image = Image {
        source: &bytes,
        start: 3,
        len: 16,
    };
    for ((offset, len), expected) in [
        ((4, 5), (7, 5)),
        ((10, 6), (13, 6)),
        ((10, 100), (13, 6)),
        ((16, 1), (19, 0)),
        ((20, 5), (19, 0)),
    ] {
        let part = image.part(offset, len);
        assert_eq!((part.start, part.len), expected, "{offset} {len}");
    }
    let part = image.part(4, 5);
    assert_eq!(part.bytes::<2>(1), Some([8, 9]));
    assert_eq!(
        part.bytes::<5>(0),
        Some([7, 8, 9, 10, 11]),
        "up to the last byte"
    );
    assert_eq!(part.bytes::<5>(1), None, "one byte beyond the end");
    assert_eq!(part.bytes::<1>(7), None);
    assert_eq!(part.bytes::<1>(u64::MAX), None);
}

#[test]
fn little_endian_numbers_are_read_at_their_offset() {
    let bytes = made(12, &[(2, &[1, 2, 3, 4, 5, 6, 7, 8])]);
    let image = whole(&bytes);
    assert_eq!(image.le16(2), Some(0x0201));
    assert_eq!(image.le32(2), Some(0x0403_0201));
    assert_eq!(image.le64(2), Some(0x0807_0605_0403_0201));
    assert_eq!(
        (image.le16(11), image.le32(9), image.le64(5)),
        (None, None, None)
    );
}

#[test]
fn a_magic_number_must_match_and_lie_within_the_image() {
    let bytes = made(8, &[(3, b"abc")]);
    let image = whole(&bytes);
    assert!(image.is(3, b"abc") && image.is(5, b"c\0\0"));
    assert!(!image.is(3, b"abd") && !image.is(2, b"abc"));
    assert!(
        !image.is(6, &[0, 0, 0]),
        "zeros beyond the end do not match"
    );
}

#[test]
fn a_file_is_read_at_an_offset() {
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), b"0123456789").unwrap();
    let mut bytes = [0; 3];
    ReadAt::read_exact_at(file.as_file(), &mut bytes, 4).unwrap();
    assert_eq!(&bytes, b"456");
    assert!(ReadAt::read_exact_at(file.as_file(), &mut bytes, 8).is_err());
}

#[test]
fn labels_end_at_nul_and_lose_padding_and_control_characters() {
    for (field, expected) in [
        (b"disk\0old", Some("disk")),
        (b"fullname", Some("fullname")),
        (b"my  sd  ", Some("my  sd")),
        (b"a\x1b[1mb\n\0", Some("a[1mb")),
        (b"\0ignored", None),
        (b"        ", None),
    ] {
        let bytes = field.to_vec();
        assert_eq!(whole(&bytes).text::<8>(0).as_deref(), expected, "{field:?}");
        let wide: Vec<u8> = field.iter().flat_map(|byte| [*byte, 0]).collect();
        assert_eq!(
            whole(&wide).text16::<16>(0).as_deref(),
            expected,
            "{field:?}"
        );
    }
    let short = b"disk".to_vec();
    assert_eq!(whole(&short).text::<8>(0), None);
    assert_eq!(whole(&short).text16::<8>(0), None);
}

#[test]
fn a_size_of_zero_is_unknown() {
    let size = |size| found("ext4", None, size).unwrap().size;
    assert_eq!(
        [size(None), size(Some(0)), size(Some(1)), size(Some(7))],
        [None, None, Some(Bytes(1)), Some(Bytes(7))]
    );
}

/// Feature bits of `s_feature_compat`, `s_feature_incompat` and `s_feature_ro_compat` in the ext4 disk layout.
#[test]
fn ext_versions_are_told_apart_by_their_features() {
    let (journal, filetype, sparse_large) = (0x4, 0x2, 0x3);
    for (compatible, incompatible, read_only, kind) in [
        (0u32, 0u32, 0u32, "ext2"),
        (0x38, filetype, sparse_large, "ext2"),
        (journal, 0, 0, "ext3"),
        (journal | 0x38, filetype | 0x4, sparse_large, "ext3"),
        (0, 0x40, 0, "ext4"),
        (journal, 0x80, 0, "ext4"),
        (journal, 0x200, 0, "ext4"),
        (journal, 0, 0x8, "ext4"),
        (journal, 0, 0x10, "ext4"),
        (0, 0, 0x400, "ext4"),
        (journal, 0x242, 0x41b, "ext4"),
    ] {
        let parts: [(usize, &[u8]); 7] = [
            (1024 + 0x4, &7u32.to_le_bytes()),
            (1024 + 0x18, &2u32.to_le_bytes()),
            (1024 + 0x38, &[0x53, 0xef]),
            (1024 + 0x5c, &compatible.to_le_bytes()),
            (1024 + 0x60, &incompatible.to_le_bytes()),
            (1024 + 0x64, &read_only.to_le_bytes()),
            (1024 + 0x78, b"home"),
        ];
        check(&parts, kind, "home", 7 * 4096);
    }
    check_nothing(&[(1024 + 0x38, &[0x53, 0xee])]);
}

#[test]
fn ext4_of_64_bits_has_more_than_16_tib() {
    for (incompatible, size) in [(0x40u32, 7 << 12), (0xc0, (3 << 44) + (7 << 12))] {
        let parts: [(usize, &[u8]); 5] = [
            (1024 + 0x4, &7u32.to_le_bytes()),
            (1024 + 0x18, &2u32.to_le_bytes()),
            (1024 + 0x38, &[0x53, 0xef]),
            (1024 + 0x60, &incompatible.to_le_bytes()),
            (1024 + 0x150, &3u32.to_le_bytes()),
        ];
        check(&parts, "ext4", "", size);
    }
}

#[test]
fn f2fs_xfs_and_btrfs_are_read() {
    let label: Vec<u8> = "flash".bytes().flat_map(|byte| [byte, 0]).collect();
    let f2fs: [(usize, &[u8]); 4] = [
        (1024, &[0x10, 0x20, 0xf5, 0xf2]),
        (1024 + 16, &12u32.to_le_bytes()),
        (1024 + 36, &5u64.to_le_bytes()),
        (1024 + 124, &label),
    ];
    check(&f2fs, "f2fs", "flash", 5 * 4096);
    let xfs: [(usize, &[u8]); 4] = [
        (0, b"XFSB"),
        (4, &4096u32.to_be_bytes()),
        (8, &11u64.to_be_bytes()),
        (108, b"big"),
    ];
    check(&xfs, "xfs", "big", 11 * 4096);
    let btrfs: [(usize, &[u8]); 3] = [
        (0x1_0040, b"_BHRfS_M"),
        (0x1_0070, &777_777u64.to_le_bytes()),
        (0x1_012b, b"tree"),
    ];
    check(&btrfs, "btrfs", "tree", 777_777);
    check_nothing(&[
        (1024, &[0x10, 0x20, 0xf5, 0xf3]),
        (0, b"XFSC"),
        (0x1_0040, b"_BHRfS_N"),
    ]);
}

#[test]
fn fat_needs_a_boot_signature_and_a_type() {
    let boot: (usize, &[u8]) = (510, &[0x55, 0xaa]);
    let block: (usize, &[u8]) = (0xb, &[0x00, 0x02]);
    // The labels of FAT12 and FAT16 and of FAT32 are at different offsets.
    let labels: [(usize, &[u8]); 2] = [(0x2b, b"SMALL      "), (0x47, b"LARGE      ")];
    for kind in [b"FAT12   ", b"FAT16   ", b"FAT     "] {
        let small: [(usize, &[u8]); 6] = [
            boot,
            block,
            labels[0],
            labels[1],
            (0x36, kind),
            (0x13, &300u16.to_le_bytes()),
        ];
        check(&small, "vfat", "SMALL", 300 * 512);
    }
    let large: [(usize, &[u8]); 6] = [
        boot,
        block,
        (0x52, b"FAT32   "),
        labels[0],
        labels[1],
        (0x20, &70_001u32.to_le_bytes()),
    ];
    check(&large, "vfat", "LARGE", 70_001 * 512);
    check_nothing(&large[1..]);
    let unnamed: [(usize, &[u8]); 5] = [boot, block, large[2], large[5], (0x47, b"NO NAME    ")];
    check(&unnamed, "vfat", "", 70_001 * 512);
    let other: [(usize, &[u8]); 4] = [boot, block, large[5], (0x52, b"FAT33   ")];
    check_nothing(&other);
}

/// An exFAT volume with sectors of 512 bytes, clusters of 4 KiB, the cluster heap at sector 11 and the root directory
/// in cluster 5, the fourth one of the heap.
fn exfat_volume(entries: &[[u8; 32]]) -> Vec<u8> {
    let directory = entries.concat();
    made(
        0x1_2000,
        &[
            (3, b"EXFAT   "),
            (0x48, &4097u64.to_le_bytes()),
            (0x58, &11u32.to_le_bytes()),
            (0x60, &5u32.to_le_bytes()),
            (0x6c, &[9, 3]),
            (11 * 512 + 3 * 4096, &directory),
        ],
    )
}

#[test]
fn exfat_has_its_label_in_the_root_directory() {
    let entry = |kind: u8, length: u8, text: &str| {
        let mut entry = [0; 32];
        entry[..2].copy_from_slice(&[kind, length]);
        let units: Vec<u8> = text.encode_utf16().flat_map(u16::to_le_bytes).collect();
        put(&mut entry, 2, &units);
        entry
    };
    let (bitmap, upcase) = (entry(0x81, 0, ""), entry(0x82, 0, ""));
    let end = [0; 32];
    for (entries, label) in [
        (vec![entry(0x83, 3, "sünXXX")], Some("sün")),
        (
            vec![bitmap, upcase, entry(0x83, 11, "eleven char")],
            Some("eleven char"),
        ),
        (vec![entry(0x83, 200, "eleven char")], Some("eleven char")),
        (vec![entry(0x83, 0, "old")], None),
        (vec![entry(0x03, 3, "old"), upcase], None),
        (vec![bitmap, end, entry(0x83, 3, "old")], None),
    ] {
        let expected = ("exfat", label.map(str::to_owned), Some(4097 * 512));
        assert_eq!(probed(&exfat_volume(&entries)), [expected]);
    }
    check_nothing(&[(3, b"EXFAT  X")]);
}

#[test]
fn ntfs_and_iso9660_are_read() {
    let ntfs: [(usize, &[u8]); 3] = [
        (3, b"NTFS    "),
        (0xb, &512u16.to_le_bytes()),
        (0x28, &4099u64.to_le_bytes()),
    ];
    check(&ntfs, "ntfs", "", 4099 * 512);
    let iso: [(usize, &[u8]); 3] = [
        (0x8001, b"CD001"),
        (0x8028, b"DEBIAN 12                       "),
        (0x8050, &333u32.to_le_bytes()),
    ];
    check(&iso, "iso9660", "DEBIAN 12", 333 * 2048);
    check_nothing(&[(3, b"NTFS   X"), (0x8001, b"CD002")]);
}

#[test]
fn swap_space_has_its_signature_at_the_end_of_a_page() {
    for page in [4096usize, 8192, 16384, 65536] {
        // The header has the number of the last page.
        let swap: [(usize, &[u8]); 3] = [
            (page - 10, b"SWAPSPACE2"),
            (1028, &15u32.to_le_bytes()),
            (1052, b"fast"),
        ];
        check(&swap, "swap", "fast", 16 * page as u64);
    }
    check_nothing(&[(4087, b"SWAPSPACE2")]);
}

#[test]
fn encrypted_volumes_and_physical_volumes_are_read() {
    let luks = |version: u8| {
        let header = [b'L', b'U', b'K', b'S', 0xba, 0xbe, 0, version];
        probed(&made(0x1_2000, &[(0, &header), (24, b"vault")]))
    };
    assert_eq!(luks(1), [("LUKS", None, None)]);
    assert_eq!(luks(2), [("LUKS2", Some("vault".to_owned()), None)]);
    check_nothing(&[(0, b"LUKS\xba\xbf\0\x02")]);
    for sector in 0..4 {
        let (label, kind) = (sector * 512, sector * 512 + 24);
        let volume: [(usize, &[u8]); 2] = [(label, b"LABELONE"), (kind, b"LVM2 001")];
        check(&volume, "LVM2 physical volume", "", 0);
        check_nothing(&volume[..1]);
    }
    check_nothing(&[(2048, b"LABELONE"), (2072, b"LVM2 001")]);
}

/// Positions of the versions: 1.1 at 0, 1.2 at 4 KiB; 1.0 from 8 KiB to less than 12 KiB before the end, at a multiple
/// of 4 KiB; 0.90 from 64 KiB to less than 128 KiB before the end, at a multiple of 64 KiB.
#[test]
fn raid_members_are_found_at_the_place_of_their_version() {
    let len = 0x5_6789;
    let at = |offset: usize| {
        probed(&made(
            len,
            &[
                (offset, &[0xfc, 0x4e, 0x2b, 0xa9]),
                (offset + 32, b"host:0"),
            ],
        ))
    };
    let member = |label: Option<&str>| [("member of a Linux RAID", label.map(str::to_owned), None)];
    for offset in [0, 0x1000, 0x5_4000] {
        assert_eq!(at(offset), member(Some("host:0")), "{offset:#x}");
    }
    // Version 0.90 has no name: at this place is a number.
    assert_eq!(at(0x4_0000), member(None));
    for offset in [0x2000, 0x3_0000, 0x5_0000, 0x5_3000, 0x5_5000] {
        assert_eq!(at(offset), [], "{offset:#x}");
    }
}

#[test]
fn formats_without_label_and_size_are_read() {
    let bcache = b"\xc6\x85\x73\xf6\x4e\x1a\x45\xca\x82\x65\xf5\x7f\x48\xba\x6d\x81";
    let known: [(usize, &[u8], &'static str); 5] = [
        (0, b"hsqs", "squashfs"),
        (32, b"NXSB", "apfs"),
        (1024, b"H+\0\x04", "hfsplus"),
        (4120, bcache, "bcache"),
        (1024, b"\xe2\xe1\xf5\xe0", "erofs"),
    ];
    for (offset, magic, kind) in known {
        check(&[(offset, magic)], kind, "", 0);
        check_nothing(&[(offset + 1, magic)]);
    }
}

#[test]
fn remains_of_several_file_systems_are_all_found() {
    let parts: [(usize, &[u8]); 3] = [
        (0, b"XFSB"),
        (1024 + 0x38, &[0x53, 0xef]),
        (4086, b"SWAPSPACE2"),
    ];
    let kinds = probed(&made(0x1_2000, &parts)).into_iter();
    assert_eq!(
        kinds.map(|found| found.0).collect::<Vec<_>>(),
        ["ext2", "xfs", "swap"]
    );
}
