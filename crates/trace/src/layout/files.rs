//! Where the files under test are.

use super::chain::{self, Chain, Directories, Piece, Width};
use super::medium::{Flaw, Reader};
use super::{Builder, DiskArea, Layout, Medium, Parameters, SECTOR};
use crate::address_map::FileRange;
use hakaru_model::io_path::{IoClass, LayoutGap, LayoutPart, LayoutRange};
use hakaru_sys::extents::{block_address, file_extents};
use rustix::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use rustix::fs::{FileType, Mode, OFlags, Stat};
use std::collections::HashSet;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// Extents of one file, at most.
const MAX_EXTENTS: usize = 1 << 20;

/// A file under test.
#[derive(Clone, Copy, Debug)]
pub enum TestFile<'a> {
    /// A file with a name, or an open file of a process: `/proc/PID/fd/N`.
    Path(&'a Path),
    /// An open file of this thread, which may have no name.
    Open(BorrowedFd<'a>),
}

impl TestFile<'_> {
    /// Returns its path, or the number of its descriptor.
    fn label(&self) -> String {
        match self {
            TestFile::Path(path) => path.display().to_string(),
            TestFile::Open(fd) => fd.as_raw_fd().to_string(),
        }
    }

    /// Opens it once more.
    fn open(&self) -> rustix::io::Result<OwnedFd> {
        match self {
            TestFile::Open(fd) => rustix::io::fcntl_dupfd_cloexec(fd, 0),
            TestFile::Path(path) => {
                let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NONBLOCK;
                rustix::fs::open(*path, flags, Mode::empty())
            }
        }
    }

    /// Returns its path, if it has one.
    fn path(&self) -> Option<PathBuf> {
        match self {
            TestFile::Path(path) => std::fs::canonicalize(path).ok(),
            TestFile::Open(fd) => {
                let link = format!("/proc/thread-self/fd/{}", fd.as_raw_fd());
                let path = std::fs::read_link(link).ok()?;
                let is_deleted = path.as_os_str().as_bytes().ends_with(b" (deleted)");
                (!is_deleted).then_some(path)
            }
        }
    }
}

/// Places of the files under test.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FilePlaces {
    /// Their content, and the extent trees and directories that belong to them.
    pub ranges: Vec<LayoutRange>,
    /// Their content by file.
    pub content: Vec<FileRange>,
    /// What is not known.
    pub gaps: Vec<LayoutGap>,
}

/// Finds the files under test. `device` is the device of the file system, if it is known: files of another file system
/// are left out.
pub(super) fn find(
    medium: &dyn Medium,
    layout: &Layout,
    mount_point: &Path,
    device: Option<u64>,
    files: &[TestFile<'_>],
) -> FilePlaces {
    let mut builder = Builder::new(layout.area);
    let size = layout.area.sectors.saturating_mul(SECTOR);
    let reader = Reader::new(medium, size);
    let Some(mut reader) = builder.known(LayoutPart::File, reader) else {
        return FilePlaces {
            gaps: builder.layout.gaps,
            ..FilePlaces::default()
        };
    };
    let mut finder = Finder {
        layout,
        mount_point: std::fs::canonicalize(mount_point).unwrap_or_else(|_| mount_point.into()),
        device,
        index: 0,
        builder,
        content: Vec::new(),
        inodes: HashSet::new(),
    };
    for (index, file) in files.iter().enumerate() {
        finder.index = index as u32;
        if let Err(gap) = finder.file(&mut reader, file) {
            finder.builder.gap(gap);
        }
    }
    let content = finder.content;
    let Layout { ranges, gaps, .. } = finder.builder.layout;
    FilePlaces {
        ranges,
        content,
        gaps,
    }
}

struct Finder<'a> {
    layout: &'a Layout,
    mount_point: PathBuf,
    device: Option<u64>,
    /// Index of the present file.
    index: u32,
    builder: Builder,
    content: Vec<FileRange>,
    /// Inodes whose trees are added.
    inodes: HashSet<u64>,
}

impl Finder<'_> {
    fn file(&mut self, reader: &mut Reader<'_>, file: &TestFile<'_>) -> Result<(), LayoutGap> {
        let layout = self.layout;
        match &layout.parameters {
            Parameters::Fat(fat) => self.chained(fat, reader, file),
            Parameters::Exfat(exfat) => self.chained(exfat, reader, file),
            Parameters::Ext(_) | Parameters::None => self.with_extents(reader, file),
        }
    }

    /// Adds a file of FAT or exFAT, which the kernel does not locate.
    fn chained(
        &mut self,
        format: &impl Directories,
        reader: &mut Reader<'_>,
        file: &TestFile<'_>,
    ) -> Result<(), LayoutGap> {
        let place = file
            .path()
            .map(|path| path.strip_prefix(&self.mount_point).map(PathBuf::from));
        let found = match place {
            Some(Err(_)) => return Err(LayoutGap::OtherFileSystem { file: file.label() }),
            Some(Ok(inside)) => {
                let names: Vec<String> = inside.iter().map(|name| text(name.as_bytes())).collect();
                let names = names.iter().map(String::as_str);
                let found = chain::find_file(format, reader, names);
                self.builder.known(LayoutPart::File, found).flatten()
            }
            None => None,
        };
        let (pieces, end) = match found {
            Some(chain) => chain,
            None => self.without_name(format, reader, file)?,
        };
        let mut logical = 0;
        for (offset, len) in pieces {
            self.data(logical, offset, len);
            logical += len;
        }
        self.builder.known(LayoutPart::File, end);
        Ok(())
    }

    /// Finds a file of FAT or exFAT that has no entry in a directory any more: the kernel says where clusters are, one
    /// by one and with privileges only.
    fn without_name(
        &self,
        format: &impl Directories,
        reader: &mut Reader<'_>,
        file: &TestFile<'_>,
    ) -> Result<Chain, LayoutGap> {
        let failed = |error| not_located(file, error);
        let opened = file.open().map_err(failed)?;
        let stat = rustix::fs::fstat(&opened).map_err(failed)?;
        if self.device.is_some_and(|device| device != stat.st_dev) {
            return Err(LayoutGap::OtherFileSystem { file: file.label() });
        }
        let clusters = format.clusters();
        let count = (stat.st_size as u64).div_ceil(clusters.size);
        let mut pieces: Vec<Piece> = Vec::new();
        for at in 0..count {
            let Some(address) = block_address(&opened, at * clusters.size).map_err(failed)? else {
                break;
            };
            if clusters.width != Width::Bits32 {
                // The rest of the chain is in the table.
                return Ok(clusters.chain(reader, clusters.cluster_at(address)));
            }
            if pieces.len() >= MAX_EXTENTS {
                return Ok((pieces, Err(Flaw::TooLarge)));
            }
            match pieces.last_mut() {
                Some((start, len)) if *start + *len == address => *len += clusters.size,
                _ => pieces.push((address, clusters.size)),
            }
        }
        Ok((pieces, Ok(())))
    }

    /// Adds a file by the extents that the kernel reports.
    fn with_extents(
        &mut self,
        reader: &mut Reader<'_>,
        file: &TestFile<'_>,
    ) -> Result<(), LayoutGap> {
        let opened = file.open().map_err(|error| not_located(file, error))?;
        let fd = opened.as_fd();
        let stat = rustix::fs::fstat(fd).map_err(|error| not_located(file, error))?;
        if self.device.is_some_and(|device| device != stat.st_dev) {
            return Err(LayoutGap::OtherFileSystem { file: file.label() });
        }
        if FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile {
            return Err(LayoutGap::FileNotLocated {
                file: file.label(),
                errno: None,
            });
        }
        let extents = file_extents(fd, MAX_EXTENTS).map_err(|error| not_located(file, error))?;
        if extents.len() >= MAX_EXTENTS {
            let part = LayoutPart::File;
            self.builder.gap(LayoutGap::TooLarge { part });
        }
        for extent in extents {
            if extent.inline {
                let file = file.label();
                self.builder.gap(LayoutGap::InlineData { file });
            } else if extent.unlocated {
                let (file, errno) = (file.label(), None);
                self.builder.gap(LayoutGap::FileNotLocated { file, errno });
            } else {
                self.data(extent.logical, extent.physical, extent.len);
            }
        }
        self.trees(reader, file, &stat);
        Ok(())
    }

    /// Adds bytes of the present file, which are at `offset` of the file system.
    fn data(&mut self, logical: u64, offset: u64, len: u64) {
        self.builder.add(offset, len, IoClass::Data);
        let range = self.layout.area.range(offset, len, IoClass::Data);
        self.content.extend(range.map(|range| FileRange {
            file: self.index,
            offset: logical,
            sector: range.sector,
            sectors: range.sectors,
        }));
    }

    /// Adds the extent tree of a file, and the directories above it (ext2 to ext4).
    fn trees(&mut self, reader: &mut Reader<'_>, file: &TestFile<'_>, stat: &Stat) {
        self.tree(reader, stat, None);
        let Some(path) = file.path() else { return };
        for directory in path.ancestors().skip(1) {
            if !directory.starts_with(&self.mount_point) {
                break;
            }
            if let Ok(stat) = rustix::fs::stat(directory) {
                self.tree(reader, &stat, Some(IoClass::Directory));
            }
        }
    }

    /// Adds the tree of an inode, and its content with a class, if one is given.
    fn tree(&mut self, reader: &mut Reader<'_>, stat: &Stat, content: Option<IoClass>) {
        let Parameters::Ext(ext) = &self.layout.parameters else {
            return;
        };
        if self.device.is_some_and(|device| device != stat.st_dev) {
            return;
        }
        if !self.inodes.insert(stat.st_ino) {
            return;
        }
        let blocks = ext.inode(reader, stat.st_ino);
        if let Some(blocks) = self.builder.known(LayoutPart::Inode, blocks) {
            if let Some(class) = content {
                ext.add_blocks(&mut self.builder, &blocks.data, class);
            }
            ext.add_blocks(&mut self.builder, &blocks.tree, IoClass::Metadata);
        }
    }
}

fn not_located(file: &TestFile<'_>, error: rustix::io::Errno) -> LayoutGap {
    LayoutGap::FileNotLocated {
        file: file.label(),
        errno: Some(error.raw_os_error()),
    }
}

/// Returns a file name as text: UTF-8, or else ISO 8859-1, the kernel's default for vfat.
fn text(name: &[u8]) -> String {
    match std::str::from_utf8(name) {
        Ok(name) => name.to_owned(),
        Err(_) => name.iter().map(|&byte| char::from(byte)).collect(),
    }
}

/// Returns the whole of an area as data: a test of a raw device.
pub(super) fn raw(area: DiskArea) -> Option<LayoutRange> {
    area.range(0, u64::MAX, IoClass::Data)
}
