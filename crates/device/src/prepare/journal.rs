//! The journal of a preparation: what was begun, what came of it, and what has to be undone.
//!
//! A file of JSON lines, each on the medium before the step it tells of begins. A line cut short by a power cut is the
//! last one, and counts as not written. While its process lives, the journal is locked.

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

/// Number of this form of the journal.
const FORMAT: u32 = 1;

/// Every journal's name begins with this.
const PREFIX: &str = "prepare-";

/// Which device a step is about, so that it is recognised after a restart, when it may have another name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DeviceTag {
    /// Its node then.
    pub node: PathBuf,
    /// Its serial number or another identity, where it had one.
    pub id: Option<String>,
    /// What it was called.
    pub name: String,
}

/// One thing that is done to prepare a device.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "step")]
pub enum PrepareStep {
    /// All of it is overwritten.
    Fill {
        /// Which device.
        device: DeviceTag,
        /// With what.
        #[serde(flatten)]
        pattern: FillPattern,
    },
    /// All of it is discarded.
    Discard {
        /// Which device.
        device: DeviceTag,
        /// How thoroughly.
        kind: DiscardKind,
    },
    /// All of it, or samples, are overwritten and read back.
    Verify {
        /// Which device.
        device: DeviceTag,
        /// Whether what was there is put back afterwards.
        restores: bool,
    },
    /// A partition table is written.
    Partition {
        /// Which device.
        device: DeviceTag,
        /// The script for `sfdisk`.
        script: String,
    },
    /// A file system is made.
    Mkfs {
        /// Which device.
        device: DeviceTag,
        /// Which file system.
        fs: FsType,
        /// The tool with all its arguments.
        command: Vec<String>,
    },
    /// It is mounted.
    Mount {
        /// Which device.
        device: DeviceTag,
        /// Where.
        at: PathBuf,
        /// Type of the file system.
        fs_type: String,
        /// Options.
        options: String,
    },
    /// A folder is made to mount on, or to fill.
    MakeFolder {
        /// Which.
        path: PathBuf,
    },
    /// Space of a file system is used up by files of random bytes.
    FillLevel {
        /// The folder they are in.
        folder: PathBuf,
        /// How many bytes they take.
        size: Bytes,
    },
    /// The page cache of the host is emptied.
    DropCaches,
}

/// What takes a step back.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "undo")]
pub enum Undo {
    /// Nothing can, or has to.
    Nothing,
    /// Unmounting.
    Unmount {
        /// Where it is mounted.
        at: PathBuf,
        /// Number of the device, so that nothing else that is mounted there is touched.
        device: String,
    },
    /// Removing an empty folder.
    RemoveFolder {
        /// Which.
        path: PathBuf,
    },
    /// Removing the numbered files of a fill level, and their folder.
    RemoveFiles {
        /// The folder.
        folder: PathBuf,
    },
    /// Removing a folder of ours with all that is in it.
    RemoveTree {
        /// The folder.
        folder: PathBuf,
    },
}

/// One line.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum JournalLine {
    /// The first one.
    Opened {
        format: u32,
        program: String,
        pid: u32,
        boot: String,
    },
    /// A step begins.
    Begin {
        seq: u64,
        what: PrepareStep,
        undo: Undo,
    },
    /// It is done.
    Done { seq: u64 },
    /// It could not be done.
    Failed { seq: u64, error: String },
    /// It was taken back.
    Undone { seq: u64 },
    /// What is not undone until here is there on purpose, until somebody asks for its recovery.
    Left,
}

/// A journal that is being written.
#[derive(Debug)]
pub struct PrepareJournal {
    file: File,
    path: PathBuf,
    next: u64,
}

/// Why a journal cannot be kept or read.
#[derive(Debug, thiserror::Error)]
pub enum JournalError {
    /// The system refused.
    #[error(
        "the journal {path} cannot be {doing}: {source} (nothing is changed on a device without one)"
    )]
    Io {
        /// Which file.
        path: PathBuf,
        /// `made`, `written`, `read`.
        doing: &'static str,
        /// The system's word.
        source: io::Error,
    },
    /// Its program still runs.
    #[error(
        "the journal {path} belongs to a program that still runs: end that first, it undoes its steps itself"
    )]
    Locked {
        /// Which file.
        path: PathBuf,
    },
    /// It is of a later form.
    #[error("{path} is no journal that this version reads: recover with the version that wrote it")]
    Foreign {
        /// Which file.
        path: PathBuf,
    },
}

impl PrepareJournal {
    /// Opens a new one in a folder, which is made if it is not there.
    ///
    /// # Errors
    /// A [`JournalError`] when it cannot be made.
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
        // The name itself has to survive a power cut as well.
        File::open(folder)
            .and_then(|folder| folder.sync_all())
            .map_err(|source| not_made(&path, source))?;
        Ok(journal)
    }

    /// Makes an empty file and locks it. `None` when a recovery in another process saw it before it was locked, as left
    /// behind by a program that had begun nothing, and removed it.
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

    /// Where it lies.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Tells of a step before it begins; the number names it later.
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

    /// Removes it: all steps were taken back, or need not be.
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

/// Appends to a file all or nothing: half a line, as a full disk leaves it, would hide those that are written after it.
fn append(file: &File, write: impl FnOnce(&File) -> io::Result<()>) -> io::Result<()> {
    let before = file.metadata()?.len();
    let written = write(file);
    if written.is_err() {
        // The error of the write is the one to tell.
        let _ = file.set_len(before);
    }
    written
}

/// Reads a journal whose program is gone; the lock is held as long as the file is kept.
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
        // A power cut right after the file was made leaves an empty one: nothing was begun then.
        None if !text.contains(&b'\n') => Ok((file, lines)),
        _ => Err(JournalError::Foreign {
            path: path.to_owned(),
        }),
    }
}

/// Whether what a journal tells of was left as it is on purpose, as `hakaru prepare` does with a mount. What cannot be
/// read is not.
pub fn is_left(path: &Path) -> bool {
    std::fs::read(path)
        .is_ok_and(|text| parse(&String::from_utf8_lossy(&text)).contains(&JournalLine::Left))
}

/// A program that just ended may still be giving its files back, so it is given a moment.
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

/// Up to the first line that is none.
fn parse(text: &str) -> Vec<JournalLine> {
    text.lines()
        .map_while(|line| serde_json::from_str(line).ok())
        .collect()
}

/// The journals in a folder, oldest first by name. Those of running programs are among them.
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
