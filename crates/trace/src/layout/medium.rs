//! Bounded reading of a medium whose content is not trusted.

use hakaru_model::io_path::{LayoutGap, LayoutPart};
use hakaru_sys::buffer::AlignedBuffer;
use rustix::fs::{Mode, OFlags};
use std::fs::File;
use std::io::{self, Seek, SeekFrom};
use std::os::unix::fs::FileExt;
use std::path::Path;

/// Bytes read at once, at a multiple of this offset.
const WINDOW: u64 = 32 << 10;
/// Windows kept in memory.
const WINDOWS: usize = 64;
/// Bytes read from the medium in one pass, at most.
const BUDGET: u64 = 256 << 20;
/// Bytes used of what was read in one pass, at most: bounds the work on structures that point to themselves.
const USE_BUDGET: u64 = 1 << 30;
/// Cost of a short read.
const LEAST_USE: u64 = 16;

/// A device or an image of one.
pub trait Medium {
    /// Returns its size in bytes.
    ///
    /// # Errors
    /// Those of the device.
    fn size(&self) -> io::Result<u64>;

    /// Fills a buffer from `offset`. The buffer starts at a page, and `offset` is a multiple of 32 KiB.
    ///
    /// # Errors
    /// Those of the device, and an unexpected end.
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<()>;
}

impl Medium for File {
    fn size(&self) -> io::Result<u64> {
        let mut file = self;
        file.seek(SeekFrom::End(0))
    }

    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<()> {
        self.read_exact_at(buffer, offset)
    }
}

/// A medium that cannot be opened.
pub(super) struct NoMedium;

impl Medium for NoMedium {
    fn size(&self) -> io::Result<u64> {
        Ok(0)
    }

    fn read_at(&self, _: &mut [u8], _: u64) -> io::Result<()> {
        Err(io::ErrorKind::UnexpectedEof.into())
    }
}

/// Opens a device for reading past the page cache, which shows old blocks of a mounted device; an image file through
/// the page cache.
///
/// # Errors
/// Those of opening.
pub fn open_medium(path: &Path) -> io::Result<File> {
    let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NONBLOCK;
    let plain = File::from(rustix::fs::open(path, flags, Mode::empty())?);
    let kind = rustix::fs::fstat(&plain).map(|stat| stat.st_mode)?;
    if rustix::fs::FileType::from_raw_mode(kind) != rustix::fs::FileType::BlockDevice {
        return Ok(plain);
    }
    let direct = rustix::fs::open(path, flags | OFlags::DIRECT, Mode::empty());
    Ok(direct.map(File::from).unwrap_or(plain))
}

/// Why a part of a medium is not known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Flaw {
    /// A read failed.
    Unreadable(Option<i32>),
    /// The content contradicts itself or points out of the medium.
    Damaged,
    /// More than is read.
    TooLarge,
}

impl Flaw {
    /// Returns the flaw of what could not be opened or read.
    pub(super) fn of_error(error: &io::Error) -> Flaw {
        Flaw::Unreadable(error.raw_os_error())
    }

    /// Returns the gap that this flaw of a part leaves.
    pub(super) fn of(self, part: LayoutPart) -> LayoutGap {
        match self {
            Flaw::Unreadable(errno) => LayoutGap::Unreadable { part, errno },
            Flaw::Damaged => LayoutGap::Damaged { part },
            Flaw::TooLarge => LayoutGap::TooLarge { part },
        }
    }
}

impl From<io::Error> for Flaw {
    fn from(error: io::Error) -> Flaw {
        Flaw::of_error(&error)
    }
}

/// Reads a medium through a small cache, up to a limit.
pub(super) struct Reader<'a> {
    medium: &'a dyn Medium,
    size: u64,
    /// Most recently used first.
    windows: Vec<Window>,
    budget: u64,
    use_budget: u64,
}

struct Window {
    start: u64,
    len: usize,
    bytes: AlignedBuffer,
}

impl<'a> Reader<'a> {
    /// Reads the first `size` bytes of a medium at most.
    pub(super) fn new(medium: &'a dyn Medium, size: u64) -> Result<Reader<'a>, Flaw> {
        Ok(Reader {
            medium,
            size: medium.size()?.min(size),
            windows: Vec::new(),
            budget: BUDGET,
            use_budget: USE_BUDGET,
        })
    }

    /// Bytes of the medium.
    pub(super) fn size(&self) -> u64 {
        self.size
    }

    /// Fills a buffer from any offset.
    pub(super) fn read(&mut self, offset: u64, buffer: &mut [u8]) -> Result<(), Flaw> {
        let end = offset.checked_add(buffer.len() as u64);
        if end.is_none_or(|end| end > self.size) {
            return Err(Flaw::Damaged);
        }
        let used = LEAST_USE.max(buffer.len() as u64);
        self.use_budget = self.use_budget.checked_sub(used).ok_or(Flaw::TooLarge)?;
        let (mut at, mut rest) = (offset, buffer);
        while !rest.is_empty() {
            let start = at / WINDOW * WINDOW;
            let window = self.window(start)?;
            let known = &window.bytes.as_slice()[(at - start) as usize..window.len];
            let n = known.len().min(rest.len());
            let (now, later) = rest.split_at_mut(n);
            now.copy_from_slice(&known[..n]);
            rest = later;
            at += n as u64;
        }
        Ok(())
    }

    /// Reads a fixed number of bytes.
    pub(super) fn bytes<const N: usize>(&mut self, offset: u64) -> Result<[u8; N], Flaw> {
        let mut bytes = [0; N];
        self.read(offset, &mut bytes)?;
        Ok(bytes)
    }

    /// Reads the superblock or boot sector at an offset; `None` if the medium is too small for it, or does not have these
    /// bytes at this place in it.
    pub(super) fn superblock<const N: usize>(
        &mut self,
        offset: u64,
        (at, magic): (usize, &[u8]),
    ) -> Result<Option<[u8; N]>, Flaw> {
        if self.size < offset + N as u64 {
            return Ok(None);
        }
        let superblock = self.bytes::<N>(offset)?;
        let found = superblock[at..].starts_with(magic);
        Ok(found.then_some(superblock))
    }

    /// Returns the window at `start`, which lies on the medium.
    fn window(&mut self, start: u64) -> Result<&Window, Flaw> {
        match self.windows.iter().position(|window| window.start == start) {
            Some(at) => self.windows[..=at].rotate_right(1),
            None => {
                let len = WINDOW.min(self.size - start) as usize;
                self.budget = self.budget.checked_sub(WINDOW).ok_or(Flaw::TooLarge)?;
                let mut bytes = match self.windows.len() {
                    WINDOWS => self.windows.pop().map(|window| window.bytes),
                    _ => None,
                }
                .map_or_else(|| AlignedBuffer::new(WINDOW as usize), Ok)
                .map_err(|error| Flaw::Unreadable(Some(error.raw_os_error())))?;
                self.medium
                    .read_at(&mut bytes.as_mut_slice()[..len], start)?;
                self.windows.insert(0, Window { start, len, bytes });
            }
        }
        self.windows.first().ok_or(Flaw::Damaged)
    }
}

/// Returns N bytes of a structure; zeros where it is too short.
fn part<const N: usize>(bytes: &[u8], at: usize) -> [u8; N] {
    let found = bytes.get(at..).and_then(|rest| rest.first_chunk::<N>());
    found.copied().unwrap_or([0; N])
}

/// Returns the little-endian number of 16 bits at an offset of a structure.
pub(super) fn le16(bytes: &[u8], at: usize) -> u16 {
    u16::from_le_bytes(part(bytes, at))
}

/// Returns the little-endian number of 32 bits at an offset of a structure.
pub(super) fn le32(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes(part(bytes, at))
}

/// Returns the little-endian number of 64 bits at an offset of a structure.
pub(super) fn le64(bytes: &[u8], at: usize) -> u64 {
    u64::from_le_bytes(part(bytes, at))
}

/// Returns the big-endian number of 16 bits at an offset of a structure.
pub(super) fn be16(bytes: &[u8], at: usize) -> u16 {
    u16::from_be_bytes(part(bytes, at))
}

/// Returns the big-endian number of 32 bits at an offset of a structure.
pub(super) fn be32(bytes: &[u8], at: usize) -> u32 {
    u32::from_be_bytes(part(bytes, at))
}

/// Returns the big-endian number of 64 bits at an offset of a structure.
pub(super) fn be64(bytes: &[u8], at: usize) -> u64 {
    u64::from_be_bytes(part(bytes, at))
}
