//! exFAT against `dump.exfat`, and files that a FUSE driver wrote.

use crate::mounted::Mounted;
use crate::support::{FileSystemImage, assert_class, content_at, map, number_after, pattern, tool};
use hakaru_model::io_path::IoClass;
use hakaru_trace::layout::{FileSystem, LayoutSnapshot, TestFile, Volume};

#[test]
fn layouts_agree_with_dump_exfat() {
    for (options, mib) in [("", 64), ("-c 32768", 300), ("-c 512", 16), ("-c 1M", 600)] {
        let image = FileSystemImage::new(mib << 20);
        if image.tool(&format!("mkfs.exfat {options} @")).is_none() {
            continue;
        }
        let Some(dump) = image.tool("dump.exfat @") else {
            continue;
        };
        let layout = image.layout();
        assert_eq!(
            (layout.file_system, layout.gaps.as_slice()),
            (FileSystem::Exfat, &[][..])
        );
        let sector = 1u64 << number_after(&dump, "Sector Size Bits");
        let cluster = sector << number_after(&dump, "Sector per Cluster bits");
        let heap = number_after(&dump, "Cluster Heap Offset (sector offset)") * sector;
        let at = |label: &str| heap + (number_after(&dump, label) - 2) * cluster;
        let whole = |label: &str| number_after(&dump, label).div_ceil(cluster) * cluster;
        let table = number_after(&dump, "FAT Offset(sector offset)") * sector;
        let table = (table, number_after(&dump, "FAT Length(sectors)") * sector);
        let map = map(&layout);
        assert_class(&map, &[IoClass::Superblock], [(0, 24 * sector)], options);
        assert_class(&map, &[IoClass::Fat1], [table], options);
        let bitmap = (at("Bitmap start cluster"), whole("Bitmap size"));
        assert_class(&map, &[IoClass::Bitmap], [bitmap], options);
        let up_case = (at("Upcase table start cluster"), whole("Upcase table size"));
        assert_class(&map, &[IoClass::Metadata], [up_case], options);
        let root = (at("Root Cluster (cluster offset)"), cluster);
        assert_class(&map, &[IoClass::Directory], [root], options);
    }
}

#[test]
fn files_are_found_contiguous_and_in_chains() {
    let Some(mounted) = Mounted::with_command("mkfs.exfat @", "mount.exfat-fuse", 64) else {
        return;
    };
    let tree = mounted.point.clone();
    std::fs::create_dir_all(tree.join("Ordner/tief")).unwrap();
    for number in 0..40 {
        std::fs::write(tree.join(format!("filler{number}")), vec![1; 8192]).unwrap();
    }
    for number in (0..40).step_by(2) {
        std::fs::remove_file(tree.join(format!("filler{number}"))).unwrap();
    }
    let names = [
        "Ordner/tief/größer als 15 Zeichen 日本.bin",
        "flat",
        "Ordner/empty",
    ];
    let files: Vec<_> = [1_200_077, 4096, 0]
        .iter()
        .zip(names)
        .map(|(&len, name)| (tree.join(name), pattern(len, len as u64)))
        .collect();
    for (path, content) in &files {
        std::fs::write(path, content).unwrap();
    }
    // A child of another test may have inherited an open file for a moment.
    let unmount = || tool(&format!("umount {}", tree.display()));
    let pause = std::time::Duration::from_millis(50);
    let tries = (0..100).find_map(|_| {
        unmount().or_else(|| {
            std::thread::sleep(pause);
            None
        })
    });
    tries.expect("unmounted after 5 s");
    // The same names below the mount point, as they were when it was mounted.
    std::fs::create_dir_all(tree.join("Ordner/tief")).unwrap();
    files
        .iter()
        .for_each(|(path, _)| std::fs::write(path, []).unwrap());
    let image = &mounted.image;
    let volume = Volume {
        device: &image.path,
        area: image.area(),
        mounted: Some((&tree, "exfat")),
    };
    let paths: Vec<_> = files.iter().map(|(path, _)| TestFile::Path(path)).collect();
    let snapshot = LayoutSnapshot::take(&volume, &paths);
    assert_eq!(
        (&snapshot.layout.gaps, &snapshot.files.gaps),
        (&vec![], &vec![])
    );
    for (index, (path, content)) in files.iter().enumerate() {
        let found = content_at(&image.path, &snapshot.files, index as u32, content.len());
        assert!(found == *content, "{}", path.display());
    }
}
