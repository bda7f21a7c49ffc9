//! Files of mounted file systems, found on the image by the extents that the kernel reports. Needs root and loop devices.

use crate::support::{FileSystemImage, content_at, map, pattern, tool};
use hakaru_model::io_path::{IoClass, LayoutGap, LayoutPart};
use hakaru_trace::layout::{DiskArea, LayoutSnapshot, TestFile, Volume, address_map};
use rustix::fd::AsFd;
use std::fs::File;
use std::io::Write;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

/// An image on a loop device, mounted.
pub(crate) struct Mounted {
    pub(crate) image: FileSystemImage,
    pub(crate) device: PathBuf,
    pub(crate) point: PathBuf,
}

impl Mounted {
    pub(crate) fn new(make: &str, name: &str, mib: u64) -> Option<Mounted> {
        Mounted::with_command(make, &format!("mount -t {name}"), mib)
    }

    /// Mounts with a command that takes the device and the mount point.
    pub(crate) fn with_command(make: &str, mount: &str, mib: u64) -> Option<Mounted> {
        let image = FileSystemImage::new(mib << 20);
        image.tool(make)?;
        let point = image.directory.path().join("mount");
        std::fs::create_dir(&point).unwrap();
        let device = PathBuf::from(image.tool("losetup --find --show @")?.trim());
        let mounted = Mounted {
            image,
            device,
            point,
        };
        let (device, point) = (mounted.device.display(), mounted.point.display());
        tool(&format!("{mount} {device} {point}"))?;
        Some(mounted)
    }

    pub(crate) fn volume<'a>(&'a self, name: &'a str) -> Volume<'a> {
        Volume {
            device: &self.device,
            area: self.image.area(),
            mounted: Some((&self.point, name)),
        }
    }
}

impl Drop for Mounted {
    fn drop(&mut self) {
        // A program that another test just starts holds copies of all open files for a moment.
        let unmounted = || {
            let mut umount = std::process::Command::new("umount");
            umount.arg(&self.point).status().is_ok_and(|s| s.success())
        };
        for _ in 0..100 {
            if unmounted() {
                break;
            }
            std::thread::sleep(std::time::Duration::from_millis(20));
        }
        let _ = std::process::Command::new("losetup")
            .arg("-d")
            .arg(&self.device)
            .status();
    }
}

/// File systems that the kernel may mount, and where vfat and exFAT have chains instead of extents.
const KINDS: [(&str, &str, u64); 10] = [
    ("mke2fs -q -F -t ext4 -b 1024 @", "ext4", 64),
    ("mke2fs -q -F -t ext4 -b 4096 @", "ext4", 200),
    ("mke2fs -q -F -t ext4 -O bigalloc -C 16384 @", "ext4", 200),
    (
        "mke2fs -q -F -t ext4 -O meta_bg,^resize_inode -b 1024 @",
        "ext4",
        200,
    ),
    ("mke2fs -q -F -t ext3 -b 1024 @", "ext3", 64),
    ("mke2fs -q -F -t ext2 @", "ext2", 64),
    ("mkfs.xfs -q @", "xfs", 320),
    ("mkfs.vfat -F 32 -s 1 @", "vfat", 64),
    ("mkfs.exfat @", "exfat", 64),
    ("mkfs.f2fs -q @", "f2fs", 200),
];

fn write(path: &Path, content: &[u8]) {
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    File::create(path).unwrap().write_all(content).unwrap();
}

#[test]
fn the_content_of_files_is_where_the_map_says() {
    for (make, name, mib) in KINDS {
        let Some(mounted) = Mounted::new(make, name, mib) else {
            continue;
        };
        let large = mounted.point.join("sub/directory/a large file");
        let sparse = mounted.point.join("sparse");
        let content = pattern(5_000_001, 1);
        write(&large, &content);
        let piece = pattern(65536, 2);
        let file = File::create(&sparse).unwrap();
        // vfat writes zeros instead of holes.
        let gap = 4 << 20;
        file.write_all_at(&piece, gap).unwrap();
        drop(file);
        let files = [TestFile::Path(&large), TestFile::Path(&sparse)];
        let snapshot = LayoutSnapshot::take(&mounted.volume(name), &files);
        assert_eq!(snapshot.files.gaps, [], "{make}");
        let found = content_at(&mounted.image.path, &snapshot.files, 0, content.len());
        assert!(found == content, "{make}");
        let whole = [vec![0; gap as usize], piece].concat();
        let found = content_at(&mounted.image.path, &snapshot.files, 1, whole.len());
        assert!(found == whole, "{make}");
        let map = address_map(1 << 22, None, &snapshot);
        let data = map
            .ranges()
            .iter()
            .filter(|range| range.class == IoClass::Data);
        let bytes: u64 = data.map(|range| range.sectors * 512).sum();
        let expected = (content.len() + (64 << 10)) as u64;
        let slack = if matches!(name, "vfat" | "exfat") {
            gap
        } else {
            1 << 20
        };
        assert!(
            (expected..expected + slack + 8192).contains(&bytes),
            "{make}: {bytes}"
        );
    }
}

/// Blocks of extent trees and directories belong to the files under test as well.
#[test]
fn all_blocks_of_ext4_have_a_class() {
    let ext = KINDS.iter().filter(|(_, name, _)| name.starts_with("ext"));
    // With bigalloc, a file has more space than its extents say.
    for (make, name, mib) in ext.filter(|(make, ..)| !make.contains("bigalloc")) {
        let Some(mounted) = Mounted::new(make, name, *mib) else {
            continue;
        };
        // Many holes: more extents than an inode has room for.
        let path = mounted.point.join("sub/file");
        write(&path, &[]);
        let file = File::options().write(true).open(&path).unwrap();
        for at in 0..300 {
            file.write_all_at(&[1; 4096], at * 65536).unwrap();
        }
        let snapshot = LayoutSnapshot::take(&mounted.volume(name), &[TestFile::Path(&path)]);
        assert_eq!(
            (&snapshot.layout.gaps, &snapshot.files.gaps),
            (&vec![], &vec![]),
            "{make}"
        );
        let classes: Vec<_> = snapshot
            .files
            .ranges
            .iter()
            .map(|range| range.class)
            .collect();
        assert!(classes.contains(&IoClass::Directory), "{make}: {classes:?}");
        assert!(classes.contains(&IoClass::Metadata), "{make}: {classes:?}");
        // What the bitmap has in use and no class explains, is lost+found and journals of lost+found's size at most.
        let map = address_map(1 << 22, None, &snapshot);
        let mut empty = LayoutSnapshot::default();
        let allocation = snapshot.layout.allocation.as_ref();
        empty.layout.allocation = allocation.map(|all| all.emptied());
        let with_bitmap = address_map(1 << 22, Some(&empty), &snapshot);
        let sectors = |map: &hakaru_trace::address_map::AddressMap| {
            let ranges = map.ranges().iter();
            let since = ranges.filter(|range| range.class == IoClass::AllocatedSince);
            since.map(|range| range.sectors).sum::<u64>()
        };
        assert_eq!(sectors(&map), 0);
        let unexplained = sectors(&with_bitmap) * 512;
        assert!(
            unexplained <= 64 << 10,
            "{make}: {unexplained} bytes without a class"
        );
    }
}

#[test]
fn unnamed_and_inline_files_are_known_by_their_descriptor() {
    let Some(mounted) = Mounted::new("mke2fs -q -F -t ext4 -O inline_data -I 256 @", "ext4", 64)
    else {
        return;
    };
    let unnamed = tempfile::tempfile_in(&mounted.point).unwrap();
    let content = pattern(200_000, 3);
    unnamed.write_all_at(&content, 0).unwrap();
    let inline = mounted.point.join("inline");
    write(&inline, b"short");
    let files = [TestFile::Open(unnamed.as_fd()), TestFile::Path(&inline)];
    let snapshot = LayoutSnapshot::take(&mounted.volume("ext4"), &files);
    let file = inline.display().to_string();
    assert_eq!(snapshot.files.gaps, [LayoutGap::InlineData { file }]);
    let found = content_at(&mounted.image.path, &snapshot.files, 0, content.len());
    assert!(found == content);
}

#[test]
fn files_of_other_file_systems_are_left_out() {
    let Some(mounted) = Mounted::new("mke2fs -q -F -t ext4 @", "ext4", 64) else {
        return;
    };
    let other = tempfile::NamedTempFile::new().unwrap();
    let missing = mounted.point.join("missing");
    let files = [TestFile::Path(other.path()), TestFile::Path(&missing)];
    let snapshot = LayoutSnapshot::take(&mounted.volume("ext4"), &files);
    let gaps = [
        LayoutGap::OtherFileSystem {
            file: other.path().display().to_string(),
        },
        LayoutGap::FileNotLocated {
            file: missing.display().to_string(),
            errno: Some(2),
        },
    ];
    assert_eq!(
        (&snapshot.files.gaps[..], &snapshot.files.ranges[..]),
        (&gaps[..], &[][..])
    );
}

/// Somebody who may trace, but not read the device.
#[test]
fn files_are_found_where_the_device_cannot_be_opened() {
    let Some(mounted) = Mounted::new("mke2fs -q -F -t ext4 @", "ext4", 64) else {
        return;
    };
    let path = mounted.point.join("file");
    let content = pattern(100_000, 4);
    write(&path, &content);
    let volume = Volume {
        device: Path::new("/dev/no-such-disk"),
        ..mounted.volume("ext4")
    };
    let snapshot = LayoutSnapshot::take(&volume, &[TestFile::Path(&path)]);
    let (part, errno) = (LayoutPart::Superblock, Some(2));
    assert_eq!(
        snapshot.layout.gaps,
        [LayoutGap::Unreadable { part, errno }]
    );
    assert_eq!(snapshot.files.gaps, []);
    let found = content_at(&mounted.image.path, &snapshot.files, 0, content.len());
    assert!(found == content);
}

#[test]
fn a_device_that_cannot_be_opened_leaves_a_gap() {
    let volume = Volume {
        device: Path::new("/dev/no-such-disk"),
        area: DiskArea::default(),
        mounted: None,
    };
    let snapshot = LayoutSnapshot::take(&volume, &[]);
    assert_eq!(snapshot.layout.gaps.len(), 1);
    assert!(map(&snapshot.layout).ranges().is_empty());
}
