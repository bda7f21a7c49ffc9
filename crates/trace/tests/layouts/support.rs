//! Images, tools, and comparisons.

use hakaru_model::io_path::IoClass;
use hakaru_trace::address_map::AddressMap;
use hakaru_trace::layout::{DiskArea, Layout, read};
use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use tempfile::TempDir;

/// First sector of the file system in all tests, as if it were in a partition.
pub(crate) const START: u64 = 2048;

/// An image of a device in a directory of its own.
pub(crate) struct FileSystemImage {
    pub(crate) directory: TempDir,
    pub(crate) path: PathBuf,
    pub(crate) size: u64,
}

impl FileSystemImage {
    /// Makes an empty image.
    pub(crate) fn new(size: u64) -> FileSystemImage {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("image");
        File::create(&path).unwrap().set_len(size).unwrap();
        FileSystemImage {
            directory,
            path,
            size,
        }
    }

    pub(crate) fn area(&self) -> DiskArea {
        DiskArea {
            start: START,
            sectors: self.size / 512,
        }
    }

    pub(crate) fn layout(&self) -> Layout {
        read(&File::open(&self.path).unwrap(), self.area(), None)
    }

    /// Runs a tool with arguments separated by spaces, of which `@` stands for the image.
    pub(crate) fn tool(&self, line: &str) -> Option<String> {
        tool(&line.replace('@', self.path.to_str().unwrap()))
    }
}

/// Runs a tool and returns its output; `None`, with a message, if it is not installed or refuses.
pub(crate) fn tool(line: &str) -> Option<String> {
    let words: Vec<&str> = line.split_whitespace().collect();
    tool_with(&words)
}

/// Runs a tool with arguments that may contain spaces.
pub(crate) fn tool_with(words: &[&str]) -> Option<String> {
    let path = std::env::var("PATH").unwrap_or_default();
    let output = Command::new(words[0])
        .args(&words[1..])
        .env("PATH", format!("{path}:/usr/sbin:/sbin"))
        .env("LC_ALL", "C.UTF-8")
        .env("MTOOLS_SKIP_CHECK", "1")
        .stdin(Stdio::null())
        .output();
    match output {
        Ok(output) if output.status.success() => {
            Some(String::from_utf8_lossy(&output.stdout).into_owned())
        }
        Ok(output) => {
            let error = String::from_utf8_lossy(&output.stderr);
            eprintln!("skipped: {}: {}: {error}", words.join(" "), output.status);
            None
        }
        Err(error) => {
            eprintln!("skipped: {}: {error}", words[0]);
            None
        }
    }
}

/// Returns the map of a layout without files.
pub(crate) fn map(layout: &Layout) -> AddressMap {
    AddressMap::from_ranges(layout.ranges.iter().copied())
}

/// Compares the bytes of a class with those that a tool reports, both as joined ranges of bytes in the file system.
#[track_caller]
pub(crate) fn assert_class(
    map: &AddressMap,
    classes: &[IoClass],
    expected: impl IntoIterator<Item = (u64, u64)>,
    what: &str,
) {
    let ranges = map
        .ranges()
        .iter()
        .filter(|range| classes.contains(&range.class));
    let found = join(ranges.map(|range| ((range.sector - START) * 512, range.sectors * 512)));
    let expected = join(expected);
    assert!(!expected.is_empty(), "{what}: the tool named nothing");
    assert_eq!(found, expected, "{what}");
}

/// Sorts ranges and joins those that touch or overlap.
pub(crate) fn join(ranges: impl IntoIterator<Item = (u64, u64)>) -> Vec<(u64, u64)> {
    let mut ranges: Vec<(u64, u64)> = ranges.into_iter().filter(|range| range.1 > 0).collect();
    ranges.sort_unstable();
    let mut joined: Vec<(u64, u64)> = Vec::new();
    for (start, len) in ranges {
        match joined.last_mut() {
            Some(last) if last.0 + last.1 >= start => {
                last.1 = last.1.max(start + len - last.0);
            }
            _ => joined.push((start, len)),
        }
    }
    joined
}

/// Returns the number after a label.
#[track_caller]
pub(crate) fn number_after(text: &str, label: &str) -> u64 {
    let at = text
        .find(label)
        .unwrap_or_else(|| panic!("no {label:?} in {text}"));
    let rest = text[at + label.len()..].trim_start_matches([' ', '\t', ':', '=']);
    let digits = rest.split(|char: char| !char.is_ascii_digit()).next();
    digits
        .and_then(|digits| digits.parse().ok())
        .unwrap_or_else(|| panic!("{label:?} in {text}"))
}

/// Content in which each place differs: the number of the 16-byte block with a salt.
pub(crate) fn pattern(len: usize, salt: u64) -> Vec<u8> {
    let blocks = (0..len.div_ceil(16) as u64).flat_map(|at| [at, salt ^ 0x6861_6B61_7275]);
    let mut bytes: Vec<u8> = blocks.flat_map(u64::to_le_bytes).collect();
    bytes.truncate(len);
    bytes
}

/// Returns the bytes of an image that a file occupies by its places.
pub(crate) fn content_at(
    image: &Path,
    places: &hakaru_trace::layout::FilePlaces,
    file: u32,
    len: usize,
) -> Vec<u8> {
    use std::os::unix::fs::FileExt;
    let device = File::open(image).unwrap();
    let mut bytes = vec![0; len];
    for range in places.content.iter().filter(|range| range.file == file) {
        let offset = range.offset as usize;
        let end = (offset + (range.sectors * 512) as usize).min(len);
        if offset < end {
            let at = (range.sector - START) * 512;
            device.read_exact_at(&mut bytes[offset..end], at).unwrap();
        }
    }
    bytes
}
