//! Writes the kernel's initial RAM disk: a cpio archive in the "newc" format, without external tools.
//!
//! It is not compressed: decompression on an emulated CPU takes longer than copying on the host. Source: the kernel's
//! `Documentation/driver-api/early-userspace/buffer-format.rst`.

use std::path::Path;

const DIRECTORY: u32 = 0o040_755;
const PROGRAM: u32 = 0o100_755;
const CHARACTER_DEVICE: u32 = 0o020_600;

/// An archive under construction.
#[derive(Debug, Default)]
pub(crate) struct CpioArchive {
    bytes: Vec<u8>,
    entries: u32,
}

impl CpioArchive {
    /// Adds a directory; its parent must have been added before.
    pub(crate) fn dir(&mut self, path: &str) {
        self.entry(path, DIRECTORY, (0, 0), &[]);
    }

    /// Adds an executable file.
    pub(crate) fn program(&mut self, path: &str, content: &[u8]) {
        self.entry(path, PROGRAM, (0, 0), content);
    }

    /// Adds a copy of a host file.
    ///
    /// # Errors
    /// If the file cannot be read.
    pub(crate) fn copy(&mut self, path: &str, of: &Path) -> std::io::Result<()> {
        self.program(path, &std::fs::read(of)?);
        Ok(())
    }

    /// Adds a character device.
    pub(crate) fn device(&mut self, path: &str, major: u32, minor: u32) {
        self.entry(path, CHARACTER_DEVICE, (major, minor), &[]);
    }

    /// Finishes the archive.
    pub(crate) fn finish(mut self) -> Vec<u8> {
        self.entry("TRAILER!!!", 0, (0, 0), &[]);
        self.bytes
    }

    fn entry(&mut self, path: &str, mode: u32, device: (u32, u32), content: &[u8]) {
        self.entries += 1;
        let name = path.trim_start_matches('/');
        let fields = [
            self.entries,
            mode,
            0,
            0,
            1,
            0,
            content.len() as u32,
            0,
            0,
            device.0,
            device.1,
            name.len() as u32 + 1,
            0,
        ];
        self.bytes.extend(b"070701");
        for field in fields {
            self.bytes.extend(format!("{field:08x}").into_bytes());
        }
        self.bytes.extend(name.as_bytes());
        self.bytes.push(0);
        self.align();
        self.bytes.extend(content);
        self.align();
    }

    fn align(&mut self) {
        self.bytes.resize(self.bytes.len().next_multiple_of(4), 0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_entry_has_a_head_a_name_and_its_content_each_aligned() {
        let mut archive = CpioArchive::default();
        archive.dir("/dev");
        archive.program("/init", b"hello");
        let bytes = archive.finish();
        let text = String::from_utf8_lossy(&bytes);
        let head = "07070100000001000041ed000000000000000000000001000000000000000000000000000000000000000000000000";
        assert!(text.starts_with(head), "{text}");
        assert_eq!(bytes.len() % 4, 0);
        assert!(text.contains("init\0") && text.contains("hello\0\0\x00070701"));
        assert!(text.trim_end_matches('\0').ends_with("TRAILER!!!"));
    }
}
