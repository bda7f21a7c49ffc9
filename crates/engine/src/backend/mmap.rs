//! The `mmap` engine: loads and stores in a mapping of the file.
//!
//! A flush is an `msync` of the mapped range. `direct=1` adds an `msync` after each I/O, as in fio: a mapping always
//! uses the page cache.

use super::{Files, MovedBuffer, SyncBackend, SyncKind};
use hakaru_model::job::Op;
use hakaru_model::stream::{IoRequest, Region};
use hakaru_sys::Errno;
use hakaru_sys::buffer::Slots;
use hakaru_sys::mapping::FileMapping;
use rustix::fd::OwnedFd;

/// Bytes mapped at a time when the address space is too small for a whole region.
const WINDOW: u64 = 256 << 20;

/// The mapped part of one file.
#[derive(Debug)]
struct Mapped {
    mapping: FileMapping,
    region: Region,
    /// Whether the region is mapped piece by piece. Earlier stores may then be in pieces that are no longer mapped.
    in_pieces: bool,
}

impl Mapped {
    fn new(file: OwnedFd, region: Region, writes: bool, random: bool) -> Result<Mapped, Errno> {
        let mut mapping = FileMapping::of(file, writes, random);
        let in_pieces = match mapping.move_to(region.offset, region.len) {
            Err(Errno::NOMEM | Errno::OVERFLOW) => true,
            answer => {
                answer?;
                false
            }
        };
        Ok(Mapped {
            mapping,
            region,
            in_pieces,
        })
    }

    /// Maps the piece that contains these bytes, unless it is already mapped.
    #[inline]
    fn reach(&mut self, offset: u64, len: usize) -> Result<(), Errno> {
        if self.mapping.covers(offset, len) {
            Ok(())
        } else {
            self.turn_to(offset, len as u64)
        }
    }

    #[cold]
    fn turn_to(&mut self, offset: u64, len: u64) -> Result<(), Errno> {
        let end = (self.region.offset + self.region.len).max(offset + len);
        self.mapping
            .move_to(offset, WINDOW.max(len).min(end - offset))
    }
}

/// Memory-mapped files.
#[derive(Debug)]
pub(crate) struct MmapBackend {
    files: Vec<Mapped>,
    slots: Slots,
    flush_each: bool,
}

impl MmapBackend {
    /// Files in the order of the worker's regions. `writes` maps them for reading and writing.
    ///
    /// # Errors
    /// ENODEV for a file that cannot be mapped.
    pub(crate) fn new(
        files: Vec<OwnedFd>,
        regions: &[Region],
        slots: Slots,
        writes: bool,
        random: bool,
        flush_each: bool,
    ) -> Result<MmapBackend, Errno> {
        let map = |(file, region): (OwnedFd, &Region)| Mapped::new(file, *region, writes, random);
        let files = files
            .into_iter()
            .zip(regions)
            .map(map)
            .collect::<Result<Vec<_>, _>>()?;
        Ok(MmapBackend {
            files,
            slots,
            flush_each,
        })
    }
}

impl Files for MmapBackend {
    #[inline]
    fn buffer(&mut self, slot: u32, len: usize) -> &mut [u8] {
        self.slots.get_mut(slot as usize, len)
    }

    #[inline]
    fn next_buffer(&mut self, slot: u32, len: usize) -> MovedBuffer<'_> {
        self.slots.move_on(slot as usize, len)
    }

    fn buffers(&mut self) -> &mut [u8] {
        self.slots.all_mut()
    }

    fn sync(&mut self, region: u32, _: SyncKind) -> Result<(), Errno> {
        let mapped = &self.files[region as usize];
        mapped.mapping.flush()?;
        if mapped.in_pieces {
            rustix::fs::fsync(mapped.mapping.file())
        } else {
            Ok(())
        }
    }

    fn close(&mut self) -> Result<(), Errno> {
        self.files
            .drain(..)
            .try_for_each(|mapped| mapped.mapping.close())
    }
}

impl SyncBackend for MmapBackend {
    #[inline]
    fn transfer(&mut self, request: &IoRequest) -> Result<u32, Errno> {
        let IoRequest {
            op,
            region,
            offset,
            len,
        } = *request;
        let mapped = &mut self.files[region as usize];
        if op == Op::Trim {
            hakaru_sys::file::discard(mapped.mapping.file(), offset, u64::from(len))?;
            return Ok(len);
        }
        mapped.reach(offset, len as usize)?;
        let buffer = self.slots.get_mut(0, len as usize);
        match op {
            Op::Write => mapped.mapping.store(offset, buffer)?,
            _ => mapped.mapping.load(offset, buffer)?,
        }
        if self.flush_each {
            mapped.mapping.flush_range(offset, len as usize)?;
        }
        Ok(len)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_region_larger_than_its_window_is_mapped_piece_by_piece() {
        let file = tempfile::tempfile().unwrap();
        let len = WINDOW + 8192;
        file.set_len(len).unwrap();
        let region = Region {
            file: 0,
            offset: 4096,
            len: len - 4096,
            file_len: len,
        };
        let (files, slots) = (vec![file.into()], Slots::new(1, 4096).unwrap());
        let mut backend = MmapBackend::new(files, &[region], slots, true, false, false).unwrap();
        // Simulates an address space that is too small for the whole region.
        backend.files[0].in_pieces = true;
        backend.files[0].mapping.move_to(4096, 4096).unwrap();
        let request = |op, offset| IoRequest {
            op,
            region: 0,
            offset,
            len: 4096,
        };
        for offset in [4096, len - 4096, 4096] {
            backend.buffer(0, 4096).fill(7);
            assert_eq!(backend.transfer(&request(Op::Write, offset)), Ok(4096));
            backend.buffer(0, 4096).fill(0);
            assert_eq!(backend.transfer(&request(Op::Read, offset)), Ok(4096));
            assert!(backend.buffer(0, 4096).iter().all(|&b| b == 7));
        }
        let last = backend.files[0].mapping.covers(len - 4096, 4096);
        assert!(!last, "the last piece is mapped no longer");
        assert_eq!(backend.sync(0, SyncKind::Data), Ok(()));
        assert_eq!((backend.close(), backend.files.len()), (Ok(()), 0));
    }
}
