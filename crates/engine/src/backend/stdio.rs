//! The `stdio` engine: buffered streams, like `fread` and `fwrite`.
//!
//! Like a stream of the C library, each file has one buffer in the process, of the preferred block size of the file
//! system (`st_blksize`). Smaller I/Os are collected in the buffer and reach the kernel one buffer at a time; larger
//! I/Os bypass it.

use super::open_files::sync_file;
use super::{Files, MovedBuffer, SyncBackend, SyncKind};
use hakaru_model::job::Op;
use hakaru_model::stream::IoRequest;
use hakaru_sys::Errno;
use hakaru_sys::buffer::Slots;
use rustix::fd::OwnedFd;
use std::fs::File;
use std::io::{self, BufReader, BufWriter, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::{FileExt, MetadataExt};

/// Buffer size in bytes if the file system reports no preferred block size.
const USUAL: usize = 4096;

/// An open stream, for reading or for writing.
#[derive(Debug)]
enum Stream {
    Reads(BufReader<File>),
    Writes(BufWriter<File>),
}

impl Stream {
    fn new(file: OwnedFd, writes: bool) -> Stream {
        let file = File::from(file);
        let size = file.metadata().map_or(USUAL, |meta| {
            (meta.blksize() as usize).clamp(USUAL, 1 << 20)
        });
        if writes {
            Stream::Writes(BufWriter::with_capacity(size, file))
        } else {
            Stream::Reads(BufReader::with_capacity(size, file))
        }
    }

    fn file(&self) -> &File {
        match self {
            Stream::Reads(reader) => reader.get_ref(),
            Stream::Writes(writer) => writer.get_ref(),
        }
    }

    /// Seeks from offset `from` to offset `to`; a writer flushes its buffer first.
    fn seek(&mut self, from: u64, to: u64) -> io::Result<()> {
        match self {
            // A relative seek keeps buffered data, which is not read again.
            Stream::Reads(reader) => reader.seek_relative(to.wrapping_sub(from) as i64),
            Stream::Writes(writer) => writer.seek(SeekFrom::Start(to)).map(|_| ()),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Stream::Reads(_) => Ok(()),
            Stream::Writes(writer) => writer.flush(),
        }
    }
}

/// Streams in the order of the worker's regions.
#[derive(Debug)]
pub(crate) struct StdioBackend {
    files: Vec<Stream>,
    slots: Slots,
    /// Current offset of each stream.
    at: Vec<u64>,
}

fn errno(error: &io::Error) -> Errno {
    Errno::from_io_error(error).unwrap_or(Errno::IO)
}

impl StdioBackend {
    /// Opens streams for writing if the worker writes, and for reading otherwise.
    pub(crate) fn new(files: Vec<OwnedFd>, slots: Slots, writes: bool) -> StdioBackend {
        let at = vec![0; files.len()];
        StdioBackend {
            files: files
                .into_iter()
                .map(|file| Stream::new(file, writes))
                .collect(),
            slots,
            at,
        }
    }

    fn go(&mut self, request: &IoRequest) -> io::Result<usize> {
        let IoRequest {
            op,
            region,
            offset,
            len,
        } = *request;
        let (stream, at) = (
            &mut self.files[region as usize],
            &mut self.at[region as usize],
        );
        let buffer = self.slots.get_mut(0, len as usize);
        if let (Stream::Writes(writer), Op::Read) = (&mut *stream, op) {
            writer.flush()?;
            return writer.get_ref().read_at(buffer, offset);
        }
        if *at != offset {
            stream.seek(*at, offset)?;
            *at = offset;
        }
        let moved = match stream {
            Stream::Writes(writer) => writer.write_all(buffer).map(|()| buffer.len())?,
            Stream::Reads(reader) => read_full(reader, buffer)?,
        };
        *at += moved as u64;
        Ok(moved)
    }
}

/// Reads until the buffer is full or the file ends, like `fread`.
fn read_full(reader: &mut impl Read, buffer: &mut [u8]) -> io::Result<usize> {
    let mut filled = 0;
    while filled < buffer.len() {
        match reader.read(&mut buffer[filled..]) {
            Ok(0) => break,
            Ok(moved) => filled += moved,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(filled)
}

impl Files for StdioBackend {
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

    fn sync(&mut self, region: u32, kind: SyncKind) -> Result<(), Errno> {
        let stream = &mut self.files[region as usize];
        stream.flush().map_err(|error| errno(&error))?;
        sync_file(stream.file(), kind)
    }

    fn close(&mut self) -> Result<(), Errno> {
        let close = |stream| {
            let file = match stream {
                Stream::Reads(reader) => reader.into_inner(),
                Stream::Writes(writer) => {
                    writer.into_inner().map_err(|error| errno(error.error()))?
                }
            };
            hakaru_sys::file::close(file.into())
        };
        // After an error the remaining files are closed when they are dropped.
        self.files.drain(..).try_for_each(close)
    }
}

impl SyncBackend for StdioBackend {
    #[inline]
    fn transfer(&mut self, request: &IoRequest) -> Result<u32, Errno> {
        if request.op == Op::Trim {
            let file = self.files[request.region as usize].file();
            return hakaru_sys::file::discard(file, request.offset, request.len.into())
                .map(|()| request.len);
        }
        self.go(request)
            .map(|moved| moved as u32)
            .map_err(|error| errno(&error))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::fd::AsFd;

    fn backend(file: &File, writes: bool) -> StdioBackend {
        StdioBackend::new(
            vec![file.as_fd().try_clone_to_owned().unwrap()],
            Slots::new(1, 8192).unwrap(),
            writes,
        )
    }

    #[test]
    fn small_writes_are_gathered_and_none_is_lost() {
        let file = tempfile::tempfile().unwrap();
        let mut stream = backend(&file, true);
        let write = |offset, len| IoRequest {
            op: Op::Write,
            region: 0,
            offset,
            len,
        };
        stream.buffers().fill(7);
        for piece in 0..10 {
            assert_eq!(stream.transfer(&write(piece * 100, 100)), Ok(100));
        }
        assert_eq!(
            file.metadata().unwrap().len(),
            0,
            "1000 bytes stay in the process"
        );
        assert_eq!(
            stream.transfer(&write(5000, 8192)),
            Ok(8192),
            "what is larger than the buffer goes past it"
        );
        assert_eq!(file.metadata().unwrap().len(), 13_192);
        assert_eq!(stream.transfer(&write(0, 10)), Ok(10));
        assert_eq!(stream.close(), Ok(()));
        let mut found = vec![0; 1001];
        file.read_exact_at(&mut found, 0).unwrap();
        assert!(found[..1000].iter().all(|&b| b == 7) && found[1000] == 0);
    }

    #[test]
    fn reads_come_out_of_the_buffer_and_end_where_the_file_does() {
        let file = tempfile::tempfile().unwrap();
        file.write_all_at(&(0..=255).cycle().take(10_000).collect::<Vec<u8>>(), 0)
            .unwrap();
        let mut stream = backend(&file, false);
        let read = |offset, len| IoRequest {
            op: Op::Read,
            region: 0,
            offset,
            len,
        };
        for offset in [0u64, 100, 9000, 300, 0] {
            assert_eq!(stream.transfer(&read(offset, 100)), Ok(100));
            assert_eq!(stream.buffer(0, 1)[0], (offset % 256) as u8, "at {offset}");
        }
        assert_eq!(stream.transfer(&read(8000, 8192)), Ok(2000));
        assert_eq!(stream.transfer(&read(10_000, 1)), Ok(0));
        assert_eq!(stream.close(), Ok(()));
    }

    #[test]
    fn reports_a_full_device_when_the_buffer_is_written() {
        let full = std::fs::OpenOptions::new()
            .write(true)
            .open("/dev/full")
            .unwrap();
        let mut stream = StdioBackend::new(vec![full.into()], Slots::new(1, 64).unwrap(), true);
        assert_eq!(
            stream.transfer(&IoRequest {
                op: Op::Write,
                region: 0,
                offset: 0,
                len: 64
            }),
            Ok(64)
        );
        assert_eq!(stream.close(), Err(Errno::NOSPC));
    }
}
