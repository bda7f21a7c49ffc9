//! The journal of a preparation: started steps, their results, and how to undo them.
//!
//! A file of JSON lines; each line is synced before its step starts. A truncated last line, after a
//! power loss, is ignored. The journal is locked while its process runs.

use super::fill::{DiscardKind, FillPattern};
use super::mkfs::FsType;
use crate::roots::DevNum;
use hakaru_model::units::Bytes;
use rustix::fs::FlockOperation;
use serde::{Deserialize, Serialize};
use std::fs::{File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Version of the journal format.
const FORMAT: u32 = 1;

/// File name prefix of journals.
const PREFIX: &str = "prepare-";

/// Identity of the device of a step, to recognize it after a restart, when it may have another
/// name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DeviceTag {
    /// Its node at that time.
    pub node: PathBuf,
    /// Its serial number or another ID, if it had one.
    pub id: Option<String>,
    /// Its name.
    pub name: String,
}

/// A step that prepares a device.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "step")]
pub enum PrepareStep {
    /// Overwrites the whole device.
    Fill {
        /// The device.
        device: DeviceTag,
        /// The content.
        #[serde(flatten)]
        pattern: FillPattern,
    },
    /// Discards the whole device.
    Discard {
        /// The device.
        device: DeviceTag,
        /// The type of discard.
        kind: DiscardKind,
    },
    /// Overwrites the device or samples and reads them back.
    Verify {
        /// The device.
        device: DeviceTag,
        /// Whether the content is restored afterwards.
        restores: bool,
    },
    /// Writes a disk image. The partition table is written last, so a partial image does not boot.
    WriteImage {
        /// The device.
        device: DeviceTag,
        /// The image file.
        image: PathBuf,
        /// Size of the unpacked image.
        size: Bytes,
    },
    /// Writes a partition table.
    Partition {
        /// The device.
        device: DeviceTag,
        /// The script for `sfdisk`.
        script: String,
    },
    /// Creates a file system.
    Mkfs {
        /// The device.
        device: DeviceTag,
        /// Which file system.
        fs: FsType,
        /// The tool with its arguments.
        command: Vec<String>,
    },
    /// Mounts the device.
    Mount {
        /// The device.
        device: DeviceTag,
        /// The mount point.
        at: PathBuf,
        /// Type of the file system.
        fs_type: String,
        /// Options.
        options: String,
    },
    /// Creates a directory to mount on or to fill.
    MakeFolder {
        /// The path.
        path: PathBuf,
    },
    /// Fills a file system with files of random bytes.
    FillLevel {
        /// The directory they are in.
        folder: PathBuf,
        /// Their total size in bytes.
        size: Bytes,
    },
    /// Drops the page cache of the host.
    DropCaches,
}

/// How to undo a step.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "undo")]
pub enum Undo {
    /// Nothing to undo, or not possible.
    Nothing,
    /// Unmount.
    Unmount {
        /// Where it is mounted.
        at: PathBuf,
        /// Device number, so that no other mount at that path is touched.
        device: String,
    },
    /// Remove an empty directory.
    RemoveFolder {
        /// The path.
        path: PathBuf,
    },
    /// Remove the files of a fill level and their directory.
    RemoveFiles {
        /// The directory.
        folder: PathBuf,
    },
    /// Remove a directory created by hakaru, with its content.
    RemoveTree {
        /// The directory.
        folder: PathBuf,
    },
}

/// A line of the journal.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum JournalLine {
    /// The first line.
    Opened {
        format: u32,
        program: String,
        pid: u32,
        boot: String,
    },
    /// A step starts.
    Begin {
        seq: u64,
        what: PrepareStep,
        undo: Undo,
    },
    /// The step is done.
    Done { seq: u64 },
    /// The step failed.
    Failed { seq: u64, error: String },
    /// The step was undone.
    Undone { seq: u64 },
    /// Changes that are not undone before this line are kept intentionally until `hakaru recover`.
    Left,
}

/// A journal that is being written.
#[derive(Debug)]
pub struct PrepareJournal {
    file: File,
    path: PathBuf,
    next: u64,
}

/// Errors of journals.
#[derive(Debug, thiserror::Error)]
pub enum JournalError {
    /// An I/O error.
    #[error("the journal {path} cannot be {doing}: {source} (without it, no device is changed)")]
    Io {
        /// The file.
        path: PathBuf,
        /// `made`, `written`, `read`.
        doing: &'static str,
        /// The I/O error.
        source: io::Error,
    },
    /// The program that writes the journal is still running.
    #[error(
        "the journal {path} belongs to a running program; help: stop that program, and it undoes \
        its own steps"
    )]
    Locked {
        /// The file.
        path: PathBuf,
    },
    /// Written by a later version.
    #[error(
        "unknown journal format: {path}; help: run `hakaru recover` of the version that wrote \
        it"
    )]
    Foreign {
        /// The file.
        path: PathBuf,
    },
}

impl PrepareJournal {
    /// Creates a journal in a directory; creates the directory if needed.
    ///
    /// # Errors
    /// A [`JournalError`] if it cannot be created.
    pub fn create(folder: &Path, boot: &str) -> Result<PrepareJournal, JournalError> {
        let pid = std::process::id();
        let (file, path) = loop {
            let at = hakaru_sys::clock::monotonic();
            let path = folder.join(format!("{PREFIX}{pid}-{at}.jsonl"));
            if let Some(file) = PrepareJournal::lock_new(folder, &path)? {
                break (file, path);
            }
        };
        let mut journal = PrepareJournal {
            file,
            path: path.clone(),
            next: 0,
        };
        let program = format!("hakaru {}", env!("CARGO_PKG_VERSION"));
        journal.write(&JournalLine::Opened {
            format: FORMAT,
            program,
            pid,
            boot: boot.to_owned(),
        })?;
        // The file name must survive a power loss too.
        File::open(folder)
            .and_then(|folder| folder.sync_all())
            .map_err(|source| not_made(&path, source))?;
        Ok(journal)
    }

    /// Creates an empty file and locks it. Returns `None` if a recovery in another process found the file before it was
    /// locked, and removed it as a leftover.
    fn lock_new(folder: &Path, path: &Path) -> Result<Option<File>, JournalError> {
        let failed = |source| not_made(path, source);
        std::fs::create_dir_all(folder).map_err(failed)?;
        let file = OpenOptions::new()
            .create_new(true)
            .append(true)
            .open(path)
            .map_err(failed)?;
        lock_patiently(&file, path)?;
        Ok(is_linked(&file).map_err(failed)?.then_some(file))
    }

    /// Its path.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Records a step before it starts; returns its number.
    pub(super) fn begin(&mut self, what: PrepareStep, undo: Undo) -> Result<u64, JournalError> {
        let seq = self.next;
        self.write(&JournalLine::Begin { seq, what, undo })?;
        self.next += 1;
        Ok(seq)
    }

    pub(super) fn write(&mut self, line: &JournalLine) -> Result<(), JournalError> {
        let failed = |source| JournalError::Io {
            path: self.path.clone(),
            doing: "written",
            source,
        };
        let mut text = serde_json::to_string(line).map_err(|error| failed(error.into()))?;
        text.push('\n');
        append(&self.file, |mut file| {
            file.write_all(text.as_bytes())
                .and_then(|()| file.sync_data())
        })
        .map_err(failed)
    }

    /// Removes the journal: all steps were undone or need no undo.
    pub(super) fn close(self) -> Result<(), JournalError> {
        let failed = |source| JournalError::Io {
            path: self.path.clone(),
            doing: "removed",
            source,
        };
        std::fs::remove_file(&self.path).map_err(failed)
    }
}

fn not_made(path: &Path, source: io::Error) -> JournalError {
    JournalError::Io {
        path: path.to_owned(),
        doing: "made",
        source,
    }
}

/// Whether an open file still has a name.
fn is_linked(file: &File) -> io::Result<bool> {
    Ok(file.metadata()?.nlink() > 0)
}

/// Appends a line atomically: a partial line, as on a full disk, would hide the lines after it.
fn append(file: &File, write: impl FnOnce(&File) -> io::Result<()>) -> io::Result<()> {
    let before = file.metadata()?.len();
    let written = write(file);
    if written.is_err() {
        // Report the error of the write, not of the truncation.
        let _ = file.set_len(before);
    }
    written
}

/// Reads a journal of a program that has ended; the lock is held while the file is kept.
pub(super) fn read(path: &Path) -> Result<(File, Vec<JournalLine>), JournalError> {
    let failed = |source| JournalError::Io {
        path: path.to_owned(),
        doing: "read",
        source,
    };
    let mut file = OpenOptions::new()
        .read(true)
        .append(true)
        .open(path)
        .map_err(failed)?;
    lock_patiently(&file, path)?;
    let mut text = Vec::new();
    file.read_to_end(&mut text).map_err(failed)?;
    let lines = parse(&String::from_utf8_lossy(&text));
    match lines.first() {
        Some(JournalLine::Opened { format: FORMAT, .. }) => Ok((file, lines)),
        // A power loss right after creation leaves an empty file: no step had started.
        None if !text.contains(&b'\n') => Ok((file, lines)),
        _ => Err(JournalError::Foreign {
            path: path.to_owned(),
        }),
    }
}

/// Whether the changes were kept intentionally, as `hakaru prepare` does with a mount. `false` if
/// unreadable.
pub fn is_left(path: &Path) -> bool {
    std::fs::read(path)
        .is_ok_and(|text| parse(&String::from_utf8_lossy(&text)).contains(&JournalLine::Left))
}

/// Locks a journal with retries: a program that just ended may still be closing its files.
fn lock_patiently(file: &File, path: &Path) -> Result<(), JournalError> {
    for _ in 0..20 {
        if rustix::fs::flock(file, FlockOperation::NonBlockingLockExclusive).is_ok() {
            return Ok(());
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    Err(JournalError::Locked {
        path: path.to_owned(),
    })
}

/// Parses lines up to the first invalid one.
fn parse(text: &str) -> Vec<JournalLine> {
    text.lines()
        .map_while(|line| hakaru_model::json::from_str(line).ok())
        .collect()
}

/// Returns the journals in a directory, sorted by name, including those of running programs.
pub fn pending(folder: &Path) -> Vec<PathBuf> {
    let names = crate::roots::names(folder).into_iter();
    let ours = names.filter(|name| name.starts_with(PREFIX) && name.ends_with(".jsonl"));
    ours.map(|name| folder.join(name)).collect()
}

/// Text form of a device number for the journal.
pub(super) fn number_text(number: DevNum) -> String {
    number.to_string()
}

#[cfg(test)]
mod tests;
