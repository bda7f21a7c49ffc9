//! Media that nobody made: whatever they hold, reading ends without a panic and stays inside the area.

use super::*;
use proptest::prelude::*;
use std::io;

/// A medium in memory, which claims to be larger than it is: zeros follow.
struct MediumImage {
    bytes: Vec<u8>,
    size: u64,
}

impl Medium for MediumImage {
    fn size(&self) -> io::Result<u64> {
        Ok(self.size)
    }

    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<()> {
        for (at, byte) in (offset as usize..).zip(buffer) {
            *byte = self.bytes.get(at).copied().unwrap_or(0);
        }
        Ok(())
    }
}

/// A medium that fails.
struct Broken;

impl Medium for Broken {
    fn size(&self) -> io::Result<u64> {
        Ok(1 << 30)
    }

    fn read_at(&self, _: &mut [u8], _: u64) -> io::Result<()> {
        Err(io::Error::from_raw_os_error(5))
    }
}

const START: u64 = 2048;

fn read_image(image: &MediumImage) -> Layout {
    let area = DiskArea {
        start: START,
        sectors: image.size / SECTOR,
    };
    let layout = read(image, area, None);
    for range in &layout.ranges {
        assert!(range.sector >= START && range.sectors > 0, "{range:?}");
        assert!(range.sector + range.sectors <= area.end(), "{range:?}");
    }
    layout
}

fn put(bytes: &mut [u8], at: usize, content: &[u8]) {
    bytes[at..at + content.len()].copy_from_slice(content);
}

/// Random content with the magic numbers and plausible sizes of one file system.
fn image_of(kind: usize, mut bytes: Vec<u8>, small: [u8; 8]) -> MediumImage {
    let [a, b, c, d, e, f, g, h] = small;
    match kind {
        0 => {
            put(&mut bytes, 1024 + 0x38, &[0x53, 0xEF]);
            put(&mut bytes, 1024 + 0x18, &[a % 4, 0, 0, 0, b % 4, 0, 0, 0]);
            put(&mut bytes, 1024 + 0x04, &[c, d, 1, 0]);
            put(&mut bytes, 1024 + 0x14, &[1, 0, 0, 0]);
            put(&mut bytes, 1024 + 0x20, &[e, f % 32, 0, 0]);
            put(&mut bytes, 1024 + 0x28, &[g, h, 0, 0]);
            put(&mut bytes, 1024 + 0x58, &[0, 1]);
            put(&mut bytes, 1024 + 0xFE, &[64, 0]);
            put(
                &mut bytes,
                1024 + 0x10C,
                &[0x0A, 0xF3, a, 0, 4, 0, b % 4, 0],
            );
            put(&mut bytes, 1024 + 0x150, &[0; 4]);
        }
        1 => {
            let bits = [
                0,
                2,
                1 << (a % 4),
                1 + b % 4,
                0,
                1 + c % 2,
                d,
                0,
                e,
                f,
                0xF8,
            ];
            put(&mut bytes, 11, &bits);
            put(&mut bytes, 22, &[if g > 128 { 0 } else { 1 + h % 16 }, 0]);
            put(&mut bytes, 36, &[1 + h % 255, 0, 0, 0]);
            put(&mut bytes, 510, &[0x55, 0xAA]);
        }
        2 => {
            put(&mut bytes, 3, b"EXFAT   ");
            put(
                &mut bytes,
                80,
                &[24, 0, 0, 0, a, 0, 0, 0, 24 + (b % 64), 1, 0, 0],
            );
            put(&mut bytes, 92, &[c, d, 0, 0, 2 + e % 8, 0, 0, 0]);
            put(&mut bytes, 108, &[9 + f % 4, g % 4, 1 + h % 2]);
        }
        3 => {
            put(&mut bytes, 1024, &[0x10, 0x20, 0xF5, 0xF2, 1, 0]);
            put(
                &mut bytes,
                1024 + 16,
                &[9 + a % 7, 0, 0, 0, b % 17, 0, 0, 0],
            );
        }
        4 => {
            put(&mut bytes, 0, b"XFSB");
            put(&mut bytes, 4, &[0, 0, 4 << (a % 5), 0]);
            put(&mut bytes, 84, &[0, 0, b, c, 0, d % 8, e, f]);
            put(&mut bytes, 102, &[2 << (g % 3), 0]);
        }
        _ => put(&mut bytes, (64 << 10) + 0x40, b"_BHRfS_M"),
    }
    MediumImage {
        bytes,
        size: (1 << 20) + u64::from(h) * 4096,
    }
}

/// Random numbers with many small ones, as chains and tables have them.
fn content() -> impl Strategy<Value = Vec<u8>> {
    let word = prop_oneof![
        3 => Just([0u8; 4]),
        2 => (0u32..600).prop_map(u32::to_le_bytes),
        1 => any::<[u8; 4]>(),
    ];
    prop::collection::vec(word, 1 << 12).prop_map(|words| {
        let words = words.concat();
        words.iter().copied().cycle().take(128 << 10).collect()
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn any_content_is_read_without_a_panic(
        kind in 0usize..6, bytes in content(), small in any::<[u8; 8]>()
    ) {
        read_image(&image_of(kind, bytes, small));
    }

    #[test]
    fn any_inode_ends(words in content(), size in any::<u64>(), is_tree: bool, depth in 0u8..6) {
        let image = MediumImage { bytes: words, size: 1 << 20 };
        let mut reader = Reader::new(&image, 1 << 20).unwrap();
        let mut pointers = [0; 60];
        pointers.copy_from_slice(&image.bytes[..60]);
        put(&mut pointers, 0, &[0x0A, 0xF3, 4, 0, 4, 0, depth, 0]);
        let _ = inode::read_blocks(&mut reader, &pointers, is_tree, size, 1024);
    }
}

/// A table of FAT16 for 4,096 clusters of 512 bytes, with the given entries.
fn fat16(entries: &[(usize, u16)]) -> MediumImage {
    let mut bytes = vec![0; 64 << 10];
    put(
        &mut bytes,
        11,
        &[0, 2, 1, 1, 0, 1, 16, 0, 0, 0x20, 0xF8, 32, 0],
    );
    put(&mut bytes, 510, &[0x55, 0xAA]);
    // One directory, FAT behind one reserved sector, root behind 32 sectors of FAT.
    put(&mut bytes, 33 * 512, b"DIRECTORY  \x10");
    put(&mut bytes, 33 * 512 + 26, &[2, 0]);
    for &(cluster, next) in entries {
        put(&mut bytes, 512 + 2 * cluster, &next.to_le_bytes());
    }
    MediumImage {
        bytes,
        size: 8192 * 512,
    }
}

fn directories(layout: &Layout) -> Vec<(u64, u64)> {
    let ranges = layout.ranges.iter();
    ranges
        .filter(|range| range.class == IoClass::Directory)
        .map(|range| (range.sector - START, range.sectors))
        .collect()
}

#[test]
fn a_chain_with_a_cycle_ends() {
    let layout = read_image(&fat16(&[(2, 3), (3, 4), (4, 3)]));
    assert_eq!(layout.file_system, FileSystem::Fat16);
    let part = LayoutPart::Directories;
    assert_eq!(layout.gaps, [LayoutGap::Damaged { part }]);
    // The root directory, and the clusters 2 to 4.
    assert_eq!(directories(&layout), [(33, 4)]);
}

#[test]
fn a_chain_out_of_the_medium_ends() {
    let layout = read_image(&fat16(&[(2, 0x9000)]));
    let part = LayoutPart::Directories;
    assert_eq!(layout.gaps, [LayoutGap::Damaged { part }]);
}

#[test]
fn a_chain_is_followed_to_its_end() {
    let layout = read_image(&fat16(&[(2, 9), (9, 0xFFFF)]));
    assert_eq!(layout.gaps, []);
    assert_eq!(directories(&layout), [(33, 2), (41, 1)]);
}

#[test]
fn errors_of_the_medium_are_gaps() {
    let area = DiskArea {
        start: 0,
        sectors: 1 << 20,
    };
    let layout = read(&Broken, area, None);
    assert_eq!(layout.file_system, FileSystem::Unknown);
    let (part, errno) = (LayoutPart::Superblock, Some(5));
    assert_eq!(layout.gaps, [LayoutGap::Unreadable { part, errno }]);
}

#[test]
fn an_empty_medium_has_no_known_file_system() {
    for size in [0, 1, 512, 4096, 1 << 20] {
        let layout = read_image(&MediumImage {
            bytes: Vec::new(),
            size,
        });
        assert_eq!(layout.gaps, [LayoutGap::UnknownFileSystem], "{size}");
    }
}

#[test]
fn the_name_of_the_mounted_file_system_decides() {
    let image = fat16(&[(2, 0xFFFF)]);
    let area = DiskArea {
        start: 0,
        sectors: 8192,
    };
    assert_eq!(
        read(&image, area, Some("vfat")).file_system,
        FileSystem::Fat16
    );
    assert_eq!(
        read(&image, area, Some("ext4")).gaps,
        [LayoutGap::UnknownFileSystem]
    );
}

#[test]
fn what_is_outside_of_the_area_belongs_to_other_partitions() {
    let area = DiskArea {
        start: 2048,
        sectors: 1000,
    };
    let map = raw_address_map(10_000, area);
    let classes = [0, 2047, 2048, 3047, 3048, 9999].map(|sector| map.class_of(sector));
    let (other, data) = (Some(IoClass::OtherPartition), Some(IoClass::Data));
    assert_eq!(classes, [other, other, data, data, other, other]);
    assert_eq!(map.class_of(10_000), None);
}

#[test]
fn files_count_before_the_layout_and_the_later_layout_first() {
    let area = DiskArea {
        start: 0,
        sectors: 100,
    };
    let snapshot = |file: u64, unit: usize| {
        let mut snapshot = LayoutSnapshot::default();
        let mut allocation = Allocation::new(area, 0, 512);
        allocation.set(unit);
        allocation.set(unit + 1);
        snapshot.layout.area = area;
        snapshot.layout.allocation = Some(allocation);
        snapshot
            .layout
            .ranges
            .extend(area.range(0, 10 * 512, IoClass::Directory));
        snapshot
            .files
            .ranges
            .extend(area.range(file * 512, 512, IoClass::Data));
        snapshot
    };
    let map = address_map(100, Some(&snapshot(5, 40)), &snapshot(6, 41));
    let classes = [4, 5, 6, 40, 41, 42].map(|sector| map.class_of(sector));
    let data = Some(IoClass::Data);
    let directory = Some(IoClass::Directory);
    let since = Some(IoClass::AllocatedSince);
    assert_eq!(classes, [directory, data, data, None, None, since]);
}
