//! FAT12, FAT16 and FAT32 against `fsck.fat` and the mtools.

use crate::support::{
    FileSystemImage, START, assert_class, content_at, map, number_after, pattern,
};
use hakaru_model::io_path::IoClass;
use hakaru_trace::layout::{FileSystem, LayoutSnapshot, TestFile, Volume};
use std::os::unix::fs::FileExt;
use std::path::PathBuf;

/// Options of `mkfs.fat`, size of the image in KiB, and the type.
const LAYOUTS: [(&str, u64, FileSystem); 9] = [
    ("-F 12", 2 << 10, FileSystem::Fat12),
    ("-F 12 -S 4096", 8 << 10, FileSystem::Fat12),
    ("-F 16", 64 << 10, FileSystem::Fat16),
    ("-F 16 -S 4096 -s 1", 64 << 10, FileSystem::Fat16),
    ("-F 16 -s 8 -R 7", 100 << 10, FileSystem::Fat16),
    ("-F 32 -s 1", 64 << 10, FileSystem::Fat32),
    ("-F 32 -s 1 -S 4096", 400 << 10, FileSystem::Fat32),
    ("-F 32 -f 1", 128 << 10, FileSystem::Fat32),
    ("-F 32 -a -R 40", 300 << 10, FileSystem::Fat32),
];

fn made(options: &str, kib: u64) -> Option<FileSystemImage> {
    let image = FileSystemImage::new(kib << 10);
    image.tool(&format!("mkfs.fat {options} @"))?;
    Some(image)
}

#[test]
fn layouts_agree_with_fsck() {
    for (options, kib, kind) in LAYOUTS {
        let Some(image) = made(options, kib) else {
            continue;
        };
        let Some(report) = image.tool("fsck.fat -v -n @") else {
            continue;
        };
        let layout = image.layout();
        assert_eq!(
            (layout.file_system, layout.gaps.as_slice()),
            (kind, &[][..]),
            "{options}"
        );
        let map = map(&layout);
        let first = number_after(&report, "First FAT starts at byte");
        let len = {
            let at = report.find(" bytes per FAT").unwrap();
            let digits = report[..at]
                .rsplit(|char: char| !char.is_ascii_digit())
                .next();
            digits.unwrap().parse::<u64>().unwrap()
        };
        let one_table = options.contains("-f 1");
        assert_class(
            &map,
            &[IoClass::Fat1],
            [(first, len)],
            &format!("{options}: FAT1"),
        );
        if !one_table {
            assert_class(
                &map,
                &[IoClass::Fat2],
                [(first + len, len)],
                &format!("{options}: FAT2"),
            );
        }
        let reserved = [IoClass::Superblock, IoClass::FsInfo];
        assert_class(
            &map,
            &reserved,
            [(0, first)],
            &format!("{options}: reserved"),
        );
        let data = number_after(&report, "Data area starts at byte");
        let root = match report.contains("Root directory starts at byte") {
            true => number_after(&report, "Root directory starts at byte"),
            false => data,
        };
        let end = match kind {
            FileSystem::Fat32 => data + bytes_per_cluster(&report),
            _ => data,
        };
        assert_class(
            &map,
            &[IoClass::Directory],
            [(root, end - root)],
            &format!("{options}: root"),
        );
    }
}

fn bytes_per_cluster(report: &str) -> u64 {
    let at = report.find(" bytes per cluster").unwrap();
    let digits = report[..at]
        .rsplit(|char: char| !char.is_ascii_digit())
        .next();
    digits.unwrap().parse().unwrap()
}

#[test]
fn the_sectors_of_fsinfo_are_found() {
    let Some(image) = made("-F 32 -s 1", 64 << 10) else {
        return;
    };
    let map = map(&image.layout());
    let info = map
        .ranges()
        .iter()
        .filter(|range| range.class == IoClass::FsInfo);
    let sectors: Vec<_> = info.map(|range| range.sector - START).collect();
    // The first, and the one beside the copy of the boot sector.
    assert_eq!(sectors, [1, 7]);
}

/// Fills a file system with interleaved files, some of which are removed again, so that later files have gaps.
#[test]
fn files_are_found_by_their_chains() {
    for (options, kib, kind) in LAYOUTS {
        let Some(image) = made(options, kib) else {
            continue;
        };
        let tree = image.directory.path().join("tree");
        let names = [
            "SHORT.BIN",
            "a longer name.data",
            "deep/er/Größe 日本.txt",
            "deep/EMPTY",
        ];
        std::fs::create_dir_all(tree.join("deep/er")).unwrap();
        let step = (kib as usize * 1024) / 64;
        let mut files: Vec<(PathBuf, Vec<u8>)> = Vec::new();
        for (at, name) in names.iter().enumerate() {
            let content = match *name {
                "deep/EMPTY" => Vec::new(),
                _ => pattern(step * (at + 1) + 77, at as u64),
            };
            std::fs::write(tree.join(name), &content).unwrap();
            files.push((tree.join(name), content));
        }
        if !copy(&image, &tree, &names, step) {
            return;
        }
        let volume = Volume {
            device: &image.path,
            area: image.area(),
            mounted: Some((&tree, "vfat")),
        };
        let test_files: Vec<_> = files.iter().map(|(path, _)| TestFile::Path(path)).collect();
        let snapshot = LayoutSnapshot::take(&volume, &test_files);
        assert_eq!(snapshot.layout.file_system, kind);
        assert_eq!(
            (&snapshot.layout.gaps, &snapshot.files.gaps),
            (&vec![], &vec![]),
            "{options}"
        );
        for (index, (path, content)) in files.iter().enumerate() {
            let found = content_at(&image.path, &snapshot.files, index as u32, content.len());
            assert!(found == *content, "{options}: {}", path.display());
        }
        let pieces = snapshot
            .files
            .content
            .iter()
            .filter(|range| range.file == 2)
            .count();
        assert!(pieces > 1, "{options}: the third file fills gaps");
        directories(&image, &snapshot, options);
    }
}

/// Copies the files with mtools; before the third, every other file of several is removed.
fn copy(image: &FileSystemImage, tree: &std::path::Path, names: &[&str], step: usize) -> bool {
    let filler = image.directory.path().join("filler");
    std::fs::write(&filler, vec![1; step / 4]).unwrap();
    let filler = filler.display();
    for directory in ["::/deep", "::/deep/er"] {
        if image.tool(&format!("mmd -i @ {directory}")).is_none() {
            return false;
        }
    }
    for number in 0..8 {
        image
            .tool(&format!("mcopy -i @ {filler} ::/filler{number}"))
            .unwrap();
    }
    for number in [1, 3, 5] {
        image.tool(&format!("mdel -i @ ::/filler{number}")).unwrap();
    }
    forget_next_free(image);
    let order = [2, 0, 1, 3];
    order.iter().all(|&at| {
        let (from, to) = (tree.join(names[at]), format!("::/{}", names[at]));
        let words = [
            "mcopy",
            "-i",
            image.path.to_str().unwrap(),
            from.to_str().unwrap(),
            &to,
        ];
        crate::support::tool_with(&words).is_some()
    })
}

/// Makes the next search for free clusters of FAT32 begin at the first.
fn forget_next_free(image: &FileSystemImage) {
    let mut boot = [0; 24];
    let mut options = std::fs::File::options();
    let file = options.read(true).write(true).open(&image.path).unwrap();
    file.read_exact_at(&mut boot, 0).unwrap();
    let sector = u64::from(u16::from_le_bytes([boot[11], boot[12]]));
    if boot[22..24] == [0, 0] {
        file.write_all_at(&[0xFF; 4], sector + 492).unwrap();
    }
}

/// Compares the clusters of a directory with those that `mshowfat` names.
fn directories(image: &FileSystemImage, snapshot: &LayoutSnapshot, options: &str) {
    let (Some(fsck), Some(shown)) = (
        image.tool("fsck.fat -v -n @"),
        image.tool("mshowfat -i @ ::/deep/er"),
    ) else {
        return;
    };
    let data = number_after(&fsck, "Data area starts at byte");
    let size = bytes_per_cluster(&fsck);
    let map = map(&snapshot.layout);
    let mut seen = 0;
    for part in shown.split('<').skip(1) {
        let text = part.split('>').next().unwrap();
        let (first, last) = text.split_once('-').unwrap_or((text, text));
        let (first, last): (u64, u64) = (first.parse().unwrap(), last.parse().unwrap());
        for cluster in first..=last {
            let sector = START + (data + (cluster - 2) * size) / 512;
            assert_eq!(
                map.class_of(sector),
                Some(IoClass::Directory),
                "{options}: {cluster}"
            );
            seen += 1;
        }
    }
    assert!(seen > 0, "{options}: {shown}");
}

#[test]
fn clusters_allocated_between_two_snapshots_are_known() {
    let Some(image) = made("-F 16", 64 << 10) else {
        return;
    };
    let take = || {
        let volume = Volume {
            device: &image.path,
            area: image.area(),
            mounted: None,
        };
        LayoutSnapshot::take(&volume, &[])
    };
    let before = take();
    let file = image.directory.path().join("file");
    std::fs::write(&file, vec![7; 10 << 10]).unwrap();
    if image
        .tool(&format!("mcopy -i @ {} ::/new", file.display()))
        .is_none()
    {
        return;
    }
    let map = hakaru_trace::layout::address_map(1 << 20, Some(&before), &take());
    let since = map
        .ranges()
        .iter()
        .filter(|range| range.class == IoClass::AllocatedSince);
    assert_eq!(since.map(|range| range.sectors).sum::<u64>(), 20);
}
