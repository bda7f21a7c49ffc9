//! Writing a disk image to a device: size checked before, read back after, and nothing bootable until it is complete.
//!
//! The start of the device, where the partition table or boot sector is, is zeroed first and written last. However the
//! write ends (an error, Ctrl-C, a power loss), a partial image has no partition table and does not boot. All is read
//! back after the last write, because on a card of false capacity a later write destroys an earlier one.

mod error;

pub use error::ImageError;

use super::fill::{CHUNK, point, progress};
use super::tool::{self, ToolError};
use crate::blockdev::{BlockDev, OnProgress, SpeedMap};
use hakaru_model::units::{Bytes, Nanos};
use hakaru_sys::buffer::AlignedBuffer;
use std::fs::File;
use std::hash::{DefaultHasher, Hasher};
use std::io::{self, Read};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

/// Zeroed at both ends of the device: MBR and GPT, boot sectors and superblocks of file systems, and the backup GPT.
const TABLE_REGION: u64 = 1 << 20;

/// Compression of an image, recognized by its first bytes. Unpacked by the tool of the distribution.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Compression {
    Gzip,
    Xz,
    Zstd,
}

impl Compression {
    /// The tool and its Debian package.
    fn tool(self) -> (&'static str, &'static str) {
        match self {
            Compression::Gzip => ("gzip", "gzip"),
            Compression::Xz => ("xz", "xz-utils"),
            Compression::Zstd => ("zstd", "zstd"),
        }
    }
}

/// Returns the compression of a file with these first bytes, or the name of an unsupported archive format.
fn compression(start: &[u8]) -> Result<Option<Compression>, &'static str> {
    let has = |magic: &[u8]| start.starts_with(magic);
    match () {
        () if has(&[0x1f, 0x8b, 8]) => Ok(Some(Compression::Gzip)),
        () if has(b"\xfd7zXZ\0") => Ok(Some(Compression::Xz)),
        () if has(&[0x28, 0xb5, 0x2f, 0xfd]) => Ok(Some(Compression::Zstd)),
        () if has(b"PK\x03\x04") => Err("zip"),
        () if has(b"7z\xbc\xaf\x27\x1c") => Err("7z"),
        () if has(b"BZh") => Err("bzip2"),
        () => Ok(None),
    }
}

/// An image file whose size is known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ImageFile {
    path: PathBuf,
    compression: Option<Compression>,
    size: Bytes,
}

impl ImageFile {
    /// Opens an image, and determines its size. A compressed image is unpacked once for that, which also checks that
    /// it is complete.
    ///
    /// # Errors
    /// If it is not a readable image, or if the tool that unpacks it is missing or fails.
    pub fn open(path: &Path) -> Result<ImageFile, ImageError> {
        let failed = |source| ImageError::Image {
            path: path.to_owned(),
            source,
        };
        // Checked before opening: a FIFO would block.
        let facts = std::fs::metadata(path).map_err(failed)?;
        if !facts.is_file() {
            let path = path.to_owned();
            return Err(ImageError::NotAFile { path });
        }
        let mut start = Vec::new();
        let file = File::open(path).map_err(failed)?;
        file.take(8).read_to_end(&mut start).map_err(failed)?;
        let compression = compression(&start).map_err(|format| ImageError::Unsupported {
            path: path.to_owned(),
            format,
        })?;
        let mut image = ImageFile {
            path: path.to_owned(),
            compression,
            size: Bytes(facts.len()),
        };
        if compression.is_some() {
            let mut reader = image.reader()?;
            let unpacked = io::copy(&mut reader, &mut io::sink());
            image.size = Bytes(unpacked.map_err(failed)?);
        }
        match image.size.0 {
            0 => Err(ImageError::Empty { path: image.path }),
            _ => Ok(image),
        }
    }

    /// Its size after unpacking.
    pub fn size(&self) -> Bytes {
        self.size
    }

    /// Its path.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Starts to read the unpacked image.
    fn reader(&self) -> Result<ImageReader, ImageError> {
        let file = File::open(&self.path).map_err(|source| ImageError::Image {
            path: self.path.clone(),
            source,
        })?;
        let Some(compression) = self.compression else {
            return Ok(ImageReader::Raw(file));
        };
        let (name, package) = compression.tool();
        let tool = tool::find(name, package)?;
        let child = Command::new(&tool)
            .arg("-dc")
            .env("LC_ALL", "C")
            .env_remove("LANGUAGE")
            .stdin(file)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            // Ctrl-C stops the writing, which ends the tool.
            .process_group(0)
            .spawn();
        let child = child.map_err(|source| ToolError::Start {
            tool: tool.display().to_string(),
            source,
        })?;
        Ok(ImageReader::Unpacked { name, child })
    }
}

/// Reads an unpacked image.
#[derive(Debug)]
enum ImageReader {
    Raw(File),
    Unpacked { name: &'static str, child: Child },
}

impl Read for ImageReader {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            ImageReader::Raw(file) => file.read(buffer),
            ImageReader::Unpacked { name, child } => {
                let read = child
                    .stdout
                    .as_mut()
                    .map_or(Ok(0), |out| out.read(buffer))?;
                if read == 0 && !buffer.is_empty() {
                    check_unpacked(name, child)?;
                }
                Ok(read)
            }
        }
    }
}

impl Drop for ImageReader {
    fn drop(&mut self) {
        if let ImageReader::Unpacked { child, .. } = self {
            // Fails only if the tool has already ended.
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

/// The tool reached the end of its output: whether it succeeded.
fn check_unpacked(name: &str, child: &mut Child) -> io::Result<()> {
    let mut said = String::new();
    if let Some(errors) = child.stderr.take() {
        errors.take(4096).read_to_string(&mut said)?;
    }
    match child.wait()? {
        status if status.success() => Ok(()),
        status => {
            let said = said.trim();
            Err(io::Error::other(format!(
                "{name} failed ({status}): {said}"
            )))
        }
    }
}

/// Writes an image to a device, flushes it, and reads it back past the page cache. Returns the write speed by position.
///
/// # Errors
/// An [`ImageError`]. The start of the device is then zeros, unless the error is [`ImageError::NotCleared`] or the device
/// was left unchanged.
pub(super) fn write_image(
    device: &mut dyn BlockDev,
    image: &ImageFile,
    on_progress: &mut OnProgress<'_>,
) -> Result<SpeedMap, ImageError> {
    if image.size.0 > device.size().0 {
        return Err(ImageError::TooLarge {
            image: image.size,
            device: device.size(),
        });
    }
    let mut writer = ImageWriter {
        source: image.reader()?,
        path: &image.path,
        size: image.size,
        device,
        map: SpeedMap::default(),
        digests: Vec::new(),
        on_progress,
    };
    let (mut first, mut buffer) = (aligned(CHUNK)?, aligned(CHUNK)?);
    let read = writer.read_chunk(0, first.as_mut_slice());
    let used = read.map_err(|source| ImageError::Image {
        path: image.path.clone(),
        source,
    })?;
    match writer.everything(&first.as_slice()[..used], buffer.as_mut_slice()) {
        Ok(()) => Ok(writer.map),
        Err(cause) => match writer.clear_table() {
            Ok(()) => Err(cause),
            Err((_, source)) => Err(ImageError::NotCleared {
                cause: Box::new(cause),
                source,
            }),
        },
    }
}

fn aligned(size: usize) -> Result<AlignedBuffer, ImageError> {
    AlignedBuffer::new(size).map_err(|error| ImageError::Memory {
        size: Bytes(size as u64),
        source: error.into(),
    })
}

fn digest(bytes: &[u8]) -> u64 {
    let mut hasher = DefaultHasher::new();
    hasher.write(bytes);
    hasher.finish()
}

/// One write of an image.
struct ImageWriter<'a, 'p> {
    source: ImageReader,
    path: &'a Path,
    size: Bytes,
    device: &'a mut dyn BlockDev,
    map: SpeedMap,
    /// Digests of the chunks after the first one.
    digests: Vec<u64>,
    on_progress: &'a mut OnProgress<'p>,
}

impl ImageWriter<'_, '_> {
    /// Writes the image, its first chunk last, and checks all of it.
    fn everything(&mut self, first: &[u8], buffer: &mut [u8]) -> Result<(), ImageError> {
        self.clear_table()
            .map_err(|(offset, source)| self.not_written(offset, source))?;
        self.write_the_rest(buffer)?;
        if self
            .source
            .read(&mut [0])
            .map_err(|error| self.cut(error))?
            != 0
        {
            return Err(ImageError::Changed);
        }
        self.flush()?;
        self.write_chunk(0, first)?;
        self.flush()?;
        self.check(digest(first), buffer)
    }

    /// Writes all chunks but the first.
    fn write_the_rest(&mut self, buffer: &mut [u8]) -> Result<(), ImageError> {
        let begin = self.device.now();
        for offset in self.rest() {
            let read = self.read_chunk(offset, buffer);
            let len = read.map_err(|error| self.cut(error))?;
            self.digests.push(digest(&buffer[..len]));
            self.write_chunk(offset, &buffer[..len])?;
            self.report("writing", offset, begin)?;
        }
        Ok(())
    }

    /// Reads all chunks, and compares their digests.
    fn check(&mut self, first: u64, buffer: &mut [u8]) -> Result<(), ImageError> {
        let begin = self.device.now();
        let digests = std::mem::take(&mut self.digests);
        let chunks = std::iter::once(0).chain(self.rest());
        for (offset, wanted) in chunks.zip(std::iter::once(first).chain(digests)) {
            let chunk = &mut buffer[..self.padded(self.used(offset))];
            if let Err(source) = self.device.read_at(offset, chunk) {
                return Err(self.not_read(offset, source));
            }
            if wanted != digest(chunk) {
                let offset = Bytes(offset);
                return Err(ImageError::Differs { offset });
            }
            self.report("reading", offset, begin)?;
        }
        Ok(())
    }

    /// Offsets of all chunks but the first.
    fn rest(&self) -> impl Iterator<Item = u64> + use<> {
        (CHUNK as u64..self.size.0).step_by(CHUNK)
    }

    /// Bytes of the image in the chunk at this offset.
    fn used(&self, offset: u64) -> u64 {
        (self.size.0 - offset).min(CHUNK as u64)
    }

    /// Reads the chunk at this offset from the image, and fills its last block up with zeros. Returns its padded length.
    fn read_chunk(&mut self, offset: u64, buffer: &mut [u8]) -> io::Result<usize> {
        let used = self.used(offset);
        let (content, padding) =
            buffer[..self.padded(used)].split_at_mut(usize::try_from(used).unwrap_or(CHUNK));
        padding.fill(0);
        self.source.read_exact(content)?;
        Ok(content.len() + padding.len())
    }

    /// Rounds a length up to whole blocks of the device.
    fn padded(&self, len: u64) -> usize {
        len.next_multiple_of(u64::from(self.device.block())) as usize
    }

    fn write_chunk(&mut self, offset: u64, chunk: &[u8]) -> Result<(), ImageError> {
        let before = self.device.now();
        if let Err(source) = self.device.write_at(offset, chunk) {
            return Err(self.not_written(offset, source));
        }
        let elapsed = Nanos(self.device.now().0.saturating_sub(before.0));
        self.map.add(point(offset, chunk.len(), elapsed), self.size);
        Ok(())
    }

    fn flush(&mut self) -> Result<(), ImageError> {
        let flushed = self.device.flush();
        flushed.map_err(|source| self.not_written(self.size.0, source))
    }

    /// Reports that the chunk at this offset is done.
    fn report(&mut self, doing: &'static str, offset: u64, begin: Nanos) -> Result<(), ImageError> {
        let elapsed = Nanos(self.device.now().0.saturating_sub(begin.0));
        let done = Bytes(offset + self.used(offset));
        match (self.on_progress)(progress(doing, done, self.size, elapsed)).is_break() {
            true => Err(ImageError::Interrupted { done }),
            false => Ok(()),
        }
    }

    /// Zeroes the start and the end of the device.
    fn clear_table(&mut self) -> Result<(), (u64, io::Error)> {
        let total = self.device.size().0;
        let len = TABLE_REGION.min(total);
        let zeros = AlignedBuffer::new(len as usize).map_err(|error| (0, error.into()));
        let mut zeros = zeros?;
        zeros.as_mut_slice().fill(0);
        for offset in [total - len, 0] {
            let zeroed = self.device.write_at(offset, zeros.as_slice());
            zeroed.map_err(|source| (offset, source))?;
        }
        self.device.flush().map_err(|source| (0, source))
    }

    fn cut(&self, source: io::Error) -> ImageError {
        match source.kind() {
            io::ErrorKind::UnexpectedEof => ImageError::Changed,
            _ => ImageError::Cut {
                path: self.path.to_owned(),
                source,
            },
        }
    }

    fn not_written(&self, offset: u64, source: io::Error) -> ImageError {
        let offset = Bytes(offset);
        match self.device.turns_out_pulled() {
            true => ImageError::Pulled { offset },
            false => ImageError::Write { offset, source },
        }
    }

    fn not_read(&self, offset: u64, source: io::Error) -> ImageError {
        let offset = Bytes(offset);
        match self.device.turns_out_pulled() {
            true => ImageError::Pulled { offset },
            false => ImageError::ReadBack { offset, source },
        }
    }
}

#[cfg(test)]
mod tests;
