//! ext2, ext3 and ext4 against `dumpe2fs` and `debugfs`.

use crate::support::{FileSystemImage, assert_class, map, tool_with};
use hakaru_model::io_path::{IoClass, LayoutGap};
use hakaru_trace::address_map::AddressMap;
use hakaru_trace::layout::FileSystem;

const MIB: u64 = 1 << 20;

/// Options of `mke2fs`, and the size of the image in MiB.
const LAYOUTS: [(&str, u64); 16] = [
    ("-t ext4 -b 1024", 80),
    ("-t ext4 -b 4096", 600),
    ("-t ext4 -b 1024 -O ^64bit", 80),
    ("-t ext4 -b 4096 -O ^64bit", 600),
    ("-t ext4 -b 1024 -O ^flex_bg", 80),
    ("-t ext4 -b 4096 -O ^flex_bg,^64bit", 600),
    ("-t ext4 -b 4096 -O bigalloc -C 65536", 600),
    ("-t ext4 -b 1024 -O bigalloc -C 16384", 200),
    ("-t ext4 -b 1024 -O meta_bg,^resize_inode", 500),
    (
        "-t ext4 -b 1024 -O meta_bg,^resize_inode,^flex_bg,^64bit",
        500,
    ),
    ("-t ext4 -b 1024 -O sparse_super2,^resize_inode", 80),
    ("-t ext4 -b 1024 -O ^sparse_super,^resize_inode", 80),
    ("-t ext4 -b 1024 -O ^has_journal", 80),
    ("-t ext4 -b 2048 -g 2048 -I 256 -N 3000", 60),
    ("-t ext3 -b 1024", 80),
    ("-t ext2 -b 1024 -r 1", 80),
];

/// Returns the blocks "12" or "12-34" after a label, as offset and length in bytes.
fn blocks_after(line: &str, label: &str, block: u64) -> Option<(u64, u64)> {
    let rest = line.split_once(label)?.1;
    let text = rest.split([' ', ',']).next()?;
    let (first, last) = text.split_once('-').unwrap_or((text, text));
    let (first, last): (u64, u64) = (first.parse().ok()?, last.parse().ok()?);
    Some((first * block, (last + 1 - first) * block))
}

/// Returns the blocks of an inode by `debugfs`: content, and maps or trees.
fn blocks_of_inode(stat: &str, block: u64) -> [Vec<(u64, u64)>; 2] {
    let list = stat
        .split_once("EXTENTS:\n")
        .or_else(|| stat.split_once("BLOCKS:\n"));
    let list = list.map_or("", |(_, list)| list.lines().next().unwrap_or(""));
    let (mut data, mut tree) = (Vec::new(), Vec::new());
    for piece in list.split(", ") {
        let Some((name, place)) = piece.split_once("):") else {
            continue;
        };
        let Some(range) = blocks_after(place, "", block) else {
            continue;
        };
        match name.contains("IND") || name.contains("ETB") {
            true => tree.push(range),
            false => data.push(range),
        }
    }
    [data, tree]
}

#[test]
fn layouts_agree_with_dumpe2fs_and_debugfs() {
    let mut compared = 0;
    for (options, mib) in LAYOUTS {
        let image = FileSystemImage::new(mib * MIB);
        if image.tool(&format!("mke2fs -q -F {options} @")).is_none() {
            continue;
        }
        if check(&image, options) {
            compared += 1;
        }
    }
    println!("{compared} of {} layouts compared", LAYOUTS.len());
}

/// Compares one image; `false` if a tool is missing.
fn check(image: &FileSystemImage, options: &str) -> bool {
    let (Some(header), Some(dump)) = (image.tool("dumpe2fs -h @"), image.tool("dumpe2fs @")) else {
        return false;
    };
    let block = crate::support::number_after(&header, "Block size:");
    let layout = image.layout();
    assert_eq!(layout.file_system, FileSystem::Ext, "{options}");
    assert_eq!(layout.gaps, [], "{options}");
    let map = map(&layout);
    let all = |label: &'static str| {
        let ranges = dump
            .lines()
            .filter_map(move |line| blocks_after(line, label, block));
        ranges.collect::<Vec<_>>()
    };
    let bitmaps = [all("Block bitmap at "), all("Inode bitmap at ")].concat();
    assert_class(
        &map,
        &[IoClass::Bitmap],
        bitmaps,
        &format!("{options}: bitmaps"),
    );
    let tables = all("Inode table at ");
    assert_class(
        &map,
        &[IoClass::InodeTable],
        tables,
        &format!("{options}: inode tables"),
    );
    // The boot block, which belongs to the first superblock here.
    let supers = [all(" superblock at "), vec![(0, block.min(1024))]].concat();
    let what = format!("{options}: superblocks");
    assert_class(&map, &[IoClass::Superblock], supers, &what);
    let mut descriptors = all("Group descriptors at ");
    descriptors.extend(all("Group descriptor at "));
    descriptors.extend(all("Reserved GDT blocks at "));
    let resize = debugfs(image, "stat <7>").map(|stat| blocks_of_inode(&stat, block));
    if header.contains("resize_inode") {
        descriptors.extend(resize.unwrap_or_default().concat());
    }
    let what = format!("{options}: descriptors");
    assert_class(&map, &[IoClass::GroupDescriptors], descriptors, &what);
    let Some(root) = debugfs(image, "stat <2>") else {
        return false;
    };
    let [data, _] = blocks_of_inode(&root, block);
    assert_class(
        &map,
        &[IoClass::Directory],
        data,
        &format!("{options}: root"),
    );
    check_journal(
        image,
        &map,
        (header.contains("has_journal"), block),
        options,
    );
    true
}

/// Compares where the journal lies; file systems without one have no such range.
fn check_journal(
    image: &FileSystemImage,
    map: &AddressMap,
    (has_journal, block): (bool, u64),
    options: &str,
) {
    if has_journal && let Some(journal) = debugfs(image, "stat <8>") {
        let [data, tree] = blocks_of_inode(&journal, block);
        assert_class(
            map,
            &[IoClass::Journal],
            data,
            &format!("{options}: journal"),
        );
        for (offset, len) in tree {
            let class = map.class_of(crate::support::START + offset / 512);
            assert_eq!(class, Some(IoClass::Metadata), "{options}: {offset} {len}");
        }
    } else {
        assert!(
            map.ranges()
                .iter()
                .all(|range| range.class != IoClass::Journal)
        );
    }
}

fn debugfs(image: &FileSystemImage, request: &str) -> Option<String> {
    tool_with(&["debugfs", "-R", request, image.path.to_str().unwrap()])
}

/// The copy of the journal's inode is missing in old file systems.
#[test]
fn the_journal_is_found_by_its_inode() {
    use std::os::unix::fs::FileExt;
    for options in ["-t ext4 -b 1024", "-t ext3 -b 1024"] {
        let image = FileSystemImage::new(80 * MIB);
        if image.tool(&format!("mke2fs -q -F {options} @")).is_none() {
            continue;
        }
        let with_copy = image.layout();
        let file = std::fs::File::options()
            .write(true)
            .open(&image.path)
            .unwrap();
        file.write_all_at(&[0], 1024 + 0xFD).unwrap();
        assert_eq!(image.layout().ranges, with_copy.ranges, "{options}");
    }
}

#[test]
fn unknown_features_and_external_journals_are_named() {
    use std::os::unix::fs::FileExt;
    let image = FileSystemImage::new(80 * MIB);
    if image.tool("mke2fs -q -F -t ext4 @").is_none() {
        return;
    }
    let file = std::fs::File::options()
        .read(true)
        .write(true)
        .open(&image.path)
        .unwrap();
    let mut incompatible = [0; 4];
    file.read_exact_at(&mut incompatible, 1024 + 0x60).unwrap();
    incompatible[3] |= 0x80;
    file.write_all_at(&incompatible, 1024 + 0x60).unwrap();
    let bits = 0x8000_0000;
    assert_eq!(image.layout().gaps, [LayoutGap::UnknownFeatures { bits }]);
    incompatible[3] &= !0x80;
    file.write_all_at(&incompatible, 1024 + 0x60).unwrap();
    file.write_all_at(&[0; 4], 1024 + 0xE0).unwrap();
    file.write_all_at(&[0], 1024 + 0xFD).unwrap();
    assert_eq!(image.layout().gaps, [LayoutGap::ExternalJournal]);
}
