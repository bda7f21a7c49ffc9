//! F2FS, XFS and Btrfs against their tools.

use crate::support::{FileSystemImage, assert_class, map, number_after, tool_with};
use hakaru_model::io_path::{IoClass, LayoutGap};
use hakaru_trace::layout::FileSystem;

/// Returns the decimal number in the line of a field: `[0x  200 : 512]`.
fn field(dump: &str, name: &str) -> u64 {
    let line = dump
        .lines()
        .find(|line| line.split_whitespace().next() == Some(name));
    let line = line.unwrap_or_else(|| panic!("no {name} in {dump}"));
    let text = line
        .rsplit(':')
        .next()
        .unwrap()
        .trim_end_matches(']')
        .trim();
    text.parse().unwrap()
}

#[test]
fn f2fs_agrees_with_dump_f2fs() {
    for (options, mib) in [
        ("", 100),
        ("-s 4", 400),
        ("-s 2 -z 2", 1000),
        ("-O extra_attr", 200),
    ] {
        let image = FileSystemImage::new(mib << 20);
        if image.tool(&format!("mkfs.f2fs -q {options} @")).is_none() {
            continue;
        }
        let Some(dump) = image.tool("dump.f2fs -d 1 @") else {
            continue;
        };
        let layout = image.layout();
        assert_eq!(layout.file_system, FileSystem::F2fs);
        assert_eq!(layout.gaps, [LayoutGap::NodesByEvent], "{options}");
        let map = map(&layout);
        let block = 1 << field(&dump, "log_blocksize");
        let segment = block << field(&dump, "log_blocks_per_seg");
        assert_class(&map, &[IoClass::Superblock], [(0, 2 * block)], options);
        for (name, class) in [
            ("ckpt", IoClass::Checkpoint),
            ("sit", IoClass::SegmentTable),
            ("nat", IoClass::NodeAddressTable),
            ("ssa", IoClass::SegmentSummary),
        ] {
            let short = if name == "ckpt" { "cp" } else { name };
            let start = field(&dump, &format!("{short}_blkaddr")) * block;
            let len = field(&dump, &format!("segment_count_{name}")) * segment;
            assert_class(
                &map,
                &[class],
                [(start, len)],
                &format!("{options}: {name}"),
            );
        }
        let end = map
            .ranges()
            .last()
            .map(|range| range.sector + range.sectors);
        let main = field(&dump, "main_blkaddr") * block / 512;
        assert!(end <= Some(crate::support::START + main));
    }
}

#[test]
fn f2fs_on_several_devices_is_named() {
    let (image, second) = (
        FileSystemImage::new(200 << 20),
        FileSystemImage::new(200 << 20),
    );
    let line = format!("mkfs.f2fs -q -c {} @", second.path.display());
    if image.tool(&line).is_some() {
        assert!(image.layout().gaps.contains(&LayoutGap::SeveralDevices));
    }
}

#[test]
fn xfs_agrees_with_xfs_db() {
    for (options, mib) in [
        ("", 320),
        ("-b size=1024", 400),
        ("-d agcount=7", 600),
        ("-s size=4096", 400),
    ] {
        let image = FileSystemImage::new(mib << 20);
        if image.tool(&format!("mkfs.xfs -q {options} @")).is_none() {
            continue;
        }
        let path = image.path.to_str().unwrap();
        let words = ["xfs_db", "-r", "-c", "sb 0", "-c", "print", path];
        let Some(dump) = tool_with(&words) else {
            continue;
        };
        let number = |name: &str| number_after(&dump, &format!("\n{name} ="));
        let (block, sector) = (number("blocksize"), number("sectsize"));
        let request = format!("convert fsblock {} daddr", number("logstart"));
        let Some(daddr) = tool_with(&["xfs_db", "-r", "-c", &request, path]) else {
            continue;
        };
        let log = (number_after(&daddr, "(") * 512, number("logblocks") * block);
        let layout = image.layout();
        assert_eq!(layout.file_system, FileSystem::Xfs);
        assert_eq!(layout.gaps, [LayoutGap::MetadataByFlag], "{options}");
        let map = map(&layout);
        assert_class(&map, &[IoClass::Journal], [log], options);
        let group = number("agblocks") * block;
        let groups = || (0..number("agcount")).map(|at| at * group);
        let supers = groups().map(|start| (start, sector));
        assert_class(&map, &[IoClass::Superblock], supers, options);
        let headers = groups().map(|start| (start + sector, 3 * sector));
        assert_class(&map, &[IoClass::Metadata], headers, options);
    }
}

#[test]
fn btrfs_agrees_with_dump_super() {
    let image = FileSystemImage::new(300 << 20);
    if image.tool("mkfs.btrfs -q @").is_none() {
        return;
    }
    let Some(dump) = image.tool("btrfs inspect-internal dump-super -a @") else {
        return;
    };
    let copies = dump.match_indices("superblock: bytenr=").map(|(at, _)| {
        let start = number_after(&dump[at..], "bytenr=");
        (start, 4096)
    });
    let layout = image.layout();
    assert_eq!(layout.file_system, FileSystem::Btrfs);
    assert_eq!(layout.gaps, [LayoutGap::MetadataByFlag]);
    assert_class(&map(&layout), &[IoClass::Superblock], copies, "btrfs");
}

#[test]
fn damaged_superblocks_leave_gaps_and_no_panic() {
    use std::os::unix::fs::FileExt;
    let makers = [
        "mke2fs -q -F -t ext4 -b 1024 @",
        "mke2fs -q -F -t ext3 -b 4096 @",
        "mkfs.fat -F 32 @",
        "mkfs.fat -F 16 @",
        "mkfs.exfat @",
        "mkfs.f2fs -q @",
    ];
    for maker in makers {
        let image = FileSystemImage::new(100 << 20);
        if image.tool(maker).is_none() {
            continue;
        }
        let file = std::fs::File::options()
            .read(true)
            .write(true)
            .open(&image.path)
            .unwrap();
        let kept = image.layout();
        // One byte of 24, with one bit or all bits changed.
        for (number, at) in (0..4096).step_by(24).enumerate() {
            let at = at + number as u64 % 24;
            let mask = if number % 2 == 0 {
                0xFF
            } else {
                1 << (number / 2 % 8)
            };
            let mut byte = [0];
            file.read_exact_at(&mut byte, at).unwrap();
            file.write_all_at(&[byte[0] ^ mask], at).unwrap();
            let layout = image.layout();
            let sectors = image.size / 512;
            assert!(layout.ranges.iter().all(|range| range.sectors <= sectors));
            file.write_all_at(&byte, at).unwrap();
        }
        assert_eq!(image.layout(), kept, "{maker}");
    }
}
