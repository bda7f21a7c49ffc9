//! Single requests to a block device or file, past the page cache, each of them timed.

use hakaru_model::rng::Rng;
use hakaru_model::units::{Bytes, Nanos};
use hakaru_sys::aio::AioQueue;
use hakaru_sys::buffer::{AlignedBuffer, Slots};
use hakaru_sys::{Errno, clock, extents, file};
use rustix::fd::OwnedFd;
use rustix::fs::{Mode, OFlags};
use std::path::Path;

/// Longest request in bytes.
const LONGEST: usize = 4 << 20;

/// Most extents of a file that are looked at.
const EXTENTS: usize = 100_000;

/// Consecutive bytes of a file that are consecutive on its device, too.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FileRun {
    /// First byte in the file.
    pub logical: u64,
    /// First byte on the device of the file system.
    pub physical: u64,
    /// Length in bytes.
    pub len: u64,
}

/// An open block device or file, and a buffer of random bytes.
#[derive(Debug)]
pub struct DirectTarget {
    file: OwnedFd,
    /// Where offset 0 of the requests is.
    start: u64,
    size: u64,
    block: u32,
    is_device: bool,
    buffer: AlignedBuffer,
}

impl DirectTarget {
    /// Opens a device or file with `O_DIRECT`. The seed determines the bytes that are written.
    ///
    /// # Errors
    /// EINVAL if the file system has no direct I/O; other errors of opening it.
    pub fn open(path: &Path, writes: bool, seed: u64) -> Result<DirectTarget, Errno> {
        let mode = match writes {
            true => OFlags::RDWR,
            false => OFlags::RDONLY,
        };
        let file = rustix::fs::open(path, mode | OFlags::DIRECT | OFlags::CLOEXEC, Mode::empty())?;
        let kind = rustix::fs::FileType::from_raw_mode(rustix::fs::fstat(&file)?.st_mode);
        let is_device = kind == rustix::fs::FileType::BlockDevice;
        let block = match is_device {
            true => rustix::fs::ioctl_blksszget(&file)?.max(512),
            false => 4096,
        };
        let size = rustix::fs::seek(&file, rustix::fs::SeekFrom::End(0))?;
        let mut buffer = AlignedBuffer::new(LONGEST)?;
        let mut rng = Rng::new(seed);
        for word in buffer.as_mut_slice().chunks_exact_mut(8) {
            word.copy_from_slice(&rng.next_u64().to_le_bytes());
        }
        Ok(DirectTarget {
            file,
            start: 0,
            size: size / u64::from(block) * u64::from(block),
            block,
            is_device,
            buffer,
        })
    }

    /// Limits the requests to `len` bytes from `start` on, which becomes offset 0.
    #[must_use]
    pub fn within(self, start: u64, len: u64) -> DirectTarget {
        let len = len.min(self.size.saturating_sub(start));
        DirectTarget {
            start: self.start + start,
            size: len / u64::from(self.block) * u64::from(self.block),
            ..self
        }
    }

    /// Size in bytes.
    pub fn size(&self) -> Bytes {
        Bytes(self.size)
    }

    /// Unit of offsets and lengths in bytes.
    pub fn block(&self) -> u32 {
        self.block
    }

    /// Returns whether it is a block device, which can be discarded.
    pub fn is_device(&self) -> bool {
        self.is_device
    }

    /// Returns the longest part of a file that is in one piece on the device; `None` if the file system does not say.
    pub fn longest_run(&self) -> Option<FileRun> {
        let found = extents::file_extents(&self.file, EXTENTS).ok()?;
        let mut runs: Vec<FileRun> = Vec::new();
        for extent in found {
            if extent.unwritten || extent.inline || extent.encoded || extent.unlocated {
                continue;
            }
            match runs.last_mut() {
                Some(run)
                    if run.logical + run.len == extent.logical
                        && run.physical + run.len == extent.physical =>
                {
                    run.len += extent.len;
                }
                _ => runs.push(FileRun {
                    logical: extent.logical,
                    physical: extent.physical,
                    len: extent.len,
                }),
            }
        }
        runs.into_iter().max_by_key(|run| run.len)
    }

    /// Returns the file offset of a range, if the range is inside of the target.
    fn place(&self, offset: u64, len: u64) -> Result<u64, Errno> {
        let end = offset.checked_add(len).ok_or(Errno::OVERFLOW)?;
        match end <= self.size && len > 0 {
            true => Ok(self.start + offset),
            false => Err(Errno::INVAL),
        }
    }

    /// Reads `len` bytes, and returns how long it took.
    ///
    /// # Errors
    /// The error of the device; EINVAL outside of the target.
    pub fn read(&mut self, offset: u64, len: u64) -> Result<Nanos, Errno> {
        let at = self.place(offset, len)?;
        let begun = clock::monotonic_raw();
        let mut done = 0;
        while done < len {
            let piece = (len - done).min(LONGEST as u64);
            let buffer = &mut self.buffer.as_mut_slice()[..piece as usize];
            match rustix::io::pread(&self.file, buffer, at + done) {
                Ok(0) => return Err(Errno::IO),
                Ok(read) => done += read as u64,
                Err(Errno::INTR) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(Nanos(clock::monotonic_raw() - begun))
    }

    /// Writes `len` random bytes, and returns how long it took.
    ///
    /// # Errors
    /// The error of the device; EINVAL outside of the target.
    pub fn write(&mut self, offset: u64, len: u64) -> Result<Nanos, Errno> {
        let at = self.place(offset, len)?;
        let begun = clock::monotonic_raw();
        let mut done = 0;
        while done < len {
            let piece = (len - done).min(LONGEST as u64);
            let buffer = &self.buffer.as_slice()[..piece as usize];
            match rustix::io::pwrite(&self.file, buffer, at + done) {
                Ok(0) => return Err(Errno::NOSPC),
                Ok(written) => done += written as u64,
                Err(Errno::INTR) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(Nanos(clock::monotonic_raw() - begun))
    }

    /// Makes all writes durable, and returns how long it took.
    ///
    /// # Errors
    /// The error of the device.
    pub fn flush(&mut self) -> Result<Nanos, Errno> {
        let begun = clock::monotonic_raw();
        rustix::fs::fdatasync(&self.file)?;
        Ok(Nanos(clock::monotonic_raw() - begun))
    }

    /// Discards a range, and returns how long it took.
    ///
    /// # Errors
    /// EOPNOTSUPP if it is a file, or the device cannot discard; EINVAL outside of the target.
    pub fn discard(&mut self, offset: u64, len: u64) -> Result<Nanos, Errno> {
        let at = self.place(offset, len)?;
        if !self.is_device {
            return Err(Errno::OPNOTSUPP);
        }
        let begun = clock::monotonic_raw();
        file::discard(&self.file, at, len)?;
        Ok(Nanos(clock::monotonic_raw() - begun))
    }

    /// Reads `len` bytes at each offset with up to `depth` reads in flight, and returns the latency of each, from its
    /// submission to its completion.
    ///
    /// # Errors
    /// The error of the device or of the queue.
    pub fn read_at_depth(
        &self,
        offsets: &[u64],
        len: u64,
        depth: usize,
    ) -> Result<Vec<Nanos>, Errno> {
        for offset in offsets {
            self.place(*offset, len)?;
        }
        let depth = depth.max(1);
        // After an error, reads may be in flight: the queue waits for them when it is dropped.
        let mut queue = AioQueue::new(Slots::new(depth, len as usize)?)?;
        self.drive(&mut queue, offsets, len as u32, depth)
    }

    fn drive(
        &self,
        queue: &mut AioQueue,
        offsets: &[u64],
        len: u32,
        depth: usize,
    ) -> Result<Vec<Nanos>, Errno> {
        let mut latencies = vec![Nanos(0); offsets.len()];
        // Which read is in a slot, and when it was submitted.
        let mut slots: Vec<(usize, u64)> = vec![(0, 0); depth];
        let mut free: Vec<u32> = (0..depth as u32).collect();
        let (mut next, mut done) = (0, 0);
        let mut failed = None;
        while done < offsets.len() {
            while next < offsets.len()
                && let Some(slot) = free.pop()
            {
                queue.prepare(slot, &self.file, false, self.start + offsets[next], len);
                slots[slot as usize] = (next, clock::monotonic_raw());
                while queue.submit(1)? == 0 {}
                next += 1;
            }
            let reaped = queue.reap(1, depth, None, |completion| {
                let (read, begun) = slots[completion.slot as usize];
                latencies[read] = Nanos(clock::monotonic_raw() - begun);
                match completion.result {
                    Ok(got) if got == len => {}
                    Ok(_) => failed = Some(Errno::IO),
                    Err(error) => failed = Some(error),
                }
                free.push(completion.slot);
                done += 1;
            });
            match reaped {
                Ok(_) | Err(Errno::INTR) => {}
                Err(error) => return Err(error),
            }
            if let Some(error) = failed {
                return Err(error);
            }
        }
        Ok(latencies)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A file of 8 MiB beside this crate: `/tmp` may be a file system without direct I/O.
    fn target() -> (tempfile::NamedTempFile, DirectTarget) {
        let named = tempfile::NamedTempFile::new_in(env!("CARGO_MANIFEST_DIR")).unwrap();
        named.as_file().set_len(8 << 20).unwrap();
        let opened = DirectTarget::open(named.path(), true, 7).unwrap();
        (named, opened)
    }

    #[test]
    fn requests_stay_inside_of_the_target() {
        let (file, target) = target();
        let mut part = target.within(1 << 20, 2 << 20);
        assert_eq!(part.size(), Bytes(2 << 20));
        part.write(0, 4096).unwrap();
        part.write((2 << 20) - 4096, 4096).unwrap();
        assert_eq!(part.write((2 << 20) - 4096, 8192), Err(Errno::INVAL));
        assert_eq!(part.read(2 << 20, 4096), Err(Errno::INVAL));
        assert_eq!(part.read(u64::MAX - 100, 4096), Err(Errno::OVERFLOW));
        assert_eq!(part.discard(0, 4096), Err(Errno::OPNOTSUPP));
        let bytes = std::fs::read(file.path()).unwrap();
        assert!(bytes[..1 << 20].iter().all(|byte| *byte == 0));
        assert!(bytes[3 << 20..].iter().all(|byte| *byte == 0));
        assert!(
            bytes[1 << 20..(1 << 20) + 4096]
                .iter()
                .any(|byte| *byte != 0)
        );
    }

    #[test]
    fn reads_in_parallel_all_complete() {
        let (_file, mut target) = target();
        target.write(0, 8 << 20).unwrap();
        let offsets: Vec<u64> = (0..200).map(|n| n * 37 % 2048 * 4096).collect();
        for depth in [1, 4, 32] {
            let latencies = target.read_at_depth(&offsets, 4096, depth).unwrap();
            assert_eq!(latencies.len(), 200);
            assert!(latencies.iter().all(|latency| latency.0 > 0));
        }
        assert!(target.read_at_depth(&[8 << 20], 4096, 1).is_err());
    }
}
