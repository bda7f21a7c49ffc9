//! Saves intermediate results of a run next to the database, so that a power loss costs about one
//! second of data.
//!
//! A spool is a file of JSON lines: the record at the start, then for each phase its workers, their
//! intervals, and finally the whole phase. A separate thread appends and syncs each line, so that
//! workers never wait. A completed run removes its spool; [`left`] finds spools of interrupted
//! runs.
//!
//! ```text
//! hakaru.db.spool/ID.jsonl     {"format":1,"id":"ID",…}            the record, without phases
//!                              {"phase":{"name":"seq-write",…}}    its workers
//!                              {"so_far":[[0,{"at":…}],…]}         an interval of each worker, about once a second
//!                              {"done":{…}}                        the whole phase, in place of its intervals
//!                              {"ended":{…}}                       the whole record, where the database refused it
//! ```

mod orphaned;

pub use orphaned::{LeftError, OrphanedRun, left};

use crate::{ExportError, Store, export};
use hakaru_model::record::{Interval, PhaseRecord, RunRecord};
use serde::{Deserialize, Serialize};
use std::fs::{File, OpenOptions};
use std::io::{Seek, SeekFrom, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, Sender, channel, sync_channel};
use std::thread::JoinHandle;

/// File name extension of a spool.
const ENDING: &str = "jsonl";

/// File name extension of a spool whose first line is not yet complete.
const UNBORN: &str = "new";

/// A worker of a phase, with the fields its record needs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorkerHeader {
    /// Job name.
    pub name: String,
    /// Index of the job in the phase.
    pub job: u32,
    /// Clone number, from 0.
    pub clone: u32,
}

/// All lines except the first.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum SpoolLine {
    Phase {
        name: String,
        started_unix_ms: i64,
        workers: Vec<WorkerHeader>,
    },
    /// Worker numbers, each with its interval since the previous line.
    SoFar(Vec<(usize, Interval)>),
    Done(Box<PhaseRecord>),
    /// A completed run whose record could not be stored.
    Ended(Box<RunRecord>),
}

/// Errors of creating a spool.
#[derive(Debug, thiserror::Error)]
pub enum SpoolError {
    /// The directory or the file cannot be created.
    #[error("failed to save intermediate results: {}: {source}", path.display())]
    Io {
        /// The path.
        path: PathBuf,
        /// The I/O error.
        #[source]
        source: std::io::Error,
    },
    /// The record cannot be written as JSON.
    #[error(transparent)]
    Export(#[from] ExportError),
}

/// The spool of one run. Dropping it keeps the file.
#[derive(Debug)]
pub struct Spool {
    path: PathBuf,
    orders: Option<Sender<SpoolRequest>>,
    writer: Option<JoinHandle<()>>,
}

/// Requests to the writer thread.
enum SpoolRequest {
    Write(SpoolLine),
    /// Reply once all previous lines are on disk, and whether all were written.
    Settle(std::sync::mpsc::SyncSender<bool>),
}

impl Store {
    /// Returns the spool directory of this database.
    pub fn spool_folder(&self) -> PathBuf {
        folder_of(self.path())
    }

    /// Creates the spool of a run from its initial record without phases.
    ///
    /// # Errors
    /// [`SpoolError`] if the directory next to the database is not writable.
    pub fn spool(&self, record: &RunRecord) -> Result<Spool, SpoolError> {
        let first = export(record)?;
        let (folder, id) = (self.spool_folder(), record.id.as_str());
        let path = folder.join(format!("{id}.{ENDING}"));
        let file = begin(&folder, &path, &first).map_err(|source| SpoolError::Io {
            path: path.clone(),
            source,
        })?;
        let (orders, received) = channel();
        let thread = std::thread::Builder::new().name("spool".to_owned());
        let writer = thread.spawn(move || write_all(file, &received));
        let writer = writer.map_err(|source| SpoolError::Io {
            path: path.clone(),
            source,
        })?;
        Ok(Spool {
            path,
            orders: Some(orders),
            writer: Some(writer),
        })
    }
}

fn folder_of(database: &Path) -> PathBuf {
    let mut name = database.as_os_str().to_owned();
    name.push(".spool");
    PathBuf::from(name)
}

/// Flags to open a spool with: a symbolic link is an error, and opening a pipe does not wait.
const NO_SURPRISES: i32 = rustix::fs::OFlags::NOFOLLOW
    .union(rustix::fs::OFlags::NONBLOCK)
    .bits() as i32;

/// Maximum length of a spool; a day of a hundred workers is shorter.
const LONGEST: u64 = 1 << 30;

/// Opens an existing spool for reading.
fn open_existing(path: &Path) -> std::io::Result<File> {
    let file = OpenOptions::new()
        .read(true)
        .custom_flags(NO_SURPRISES)
        .open(path)?;
    let meta = file.metadata()?;
    match meta.is_file() {
        false => Err(not_a_file()),
        true if meta.len() > LONGEST => {
            let message = "it is longer than 1 GiB";
            Err(std::io::Error::new(
                std::io::ErrorKind::InvalidData,
                message,
            ))
        }
        true => Ok(file),
    }
}

fn not_a_file() -> std::io::Error {
    std::io::Error::new(std::io::ErrorKind::InvalidInput, "it is not a regular file")
}

/// Creates the file with its first line atomically. A running measurement holds its lock.
fn begin(folder: &Path, path: &Path, first: &str) -> std::io::Result<File> {
    std::fs::create_dir_all(folder)?;
    let unborn = path.with_extension(UNBORN);
    // A link would lead to a file of somebody else, and a pipe would wait for a reader.
    let mut file = OpenOptions::new()
        .write(true)
        .create(true)
        .custom_flags(NO_SURPRISES)
        .open(&unborn)?;
    if !file.metadata()?.is_file() {
        return Err(not_a_file());
    }
    file.lock()?;
    file.set_len(0)?;
    file.write_all(format!("{first}\n").as_bytes())?;
    reserve(&file);
    file.sync_all()?;
    std::fs::rename(&unborn, path)?;
    File::open(folder)?.sync_all()?;
    Ok(file)
}

/// Space reserved for the final record until the spool is removed, so that a file system that
/// becomes full does not lose the record. Most records are smaller.
#[cfg(target_os = "linux")]
const RESERVE: u64 = 1 << 20;

/// Without effect if the file system cannot reserve space or has too little.
#[cfg(target_os = "linux")]
fn reserve(file: &File) {
    let length = file.metadata().map_or(0, |file| file.len());
    let _ = rustix::fs::fallocate(file, rustix::fs::FallocateFlags::KEEP_SIZE, length, RESERVE);
}

/// Only Linux reserves space without changing the length of the file.
#[cfg(not(target_os = "linux"))]
fn reserve(_: &File) {}

/// Writes requests until the channel closes.
fn write_all(mut file: File, orders: &Receiver<SpoolRequest>) {
    let mut works = true;
    for order in orders {
        match order {
            // After a line that could not be written, only the complete record is still useful.
            SpoolRequest::Write(line @ SpoolLine::Ended(_)) => {
                works = add(&mut file, &line).is_ok()
            }
            SpoolRequest::Write(line) if works => works = add(&mut file, &line).is_ok(),
            SpoolRequest::Write(_) => {}
            SpoolRequest::Settle(answer) => {
                let _ = answer.send(works);
            }
        }
    }
}

/// Appends a whole line, or leaves the file unchanged.
fn add(file: &mut File, line: &SpoolLine) -> std::io::Result<()> {
    let mut text = serde_json::to_vec(line)?;
    text.push(b'\n');
    let before = file.stream_position()?;
    let written = file.write_all(&text).and_then(|()| file.sync_data());
    if written.is_err() {
        file.set_len(before)?;
        file.seek(SeekFrom::Start(before))?;
    }
    written
}

impl Spool {
    /// Records the start of a phase.
    pub fn phase_begins(&self, name: &str, started_unix_ms: i64, workers: Vec<WorkerHeader>) {
        self.tell(SpoolLine::Phase {
            name: name.to_owned(),
            started_unix_ms,
            workers,
        });
    }

    /// Records intervals of workers, by number, since their previous lines.
    pub fn so_far(&self, intervals: Vec<(usize, Interval)>) {
        self.tell(SpoolLine::SoFar(intervals));
    }

    /// Records the end of a phase.
    pub fn phase_ends(&self, record: &PhaseRecord) {
        self.tell(SpoolLine::Done(Box::new(record.clone())));
    }

    /// Saves the whole record of a completed run that the database could not store. Returns whether
    /// it is on disk.
    pub fn ended(&self, record: &RunRecord) -> bool {
        self.tell(SpoolLine::Ended(Box::new(record.clone())));
        self.settle()
    }

    /// Waits until all lines are on disk; returns `false` if some could not be written.
    pub fn settle(&self) -> bool {
        let (answer, settled) = sync_channel(1);
        let Some(orders) = &self.orders else {
            return false;
        };
        orders.send(SpoolRequest::Settle(answer)).is_ok() && settled.recv().unwrap_or(false)
    }

    /// Removes the spool, because the run is stored or discarded.
    pub fn remove(mut self) {
        self.end();
        // A remaining file is recognized by the ID of the stored run, and removed by the next
        // recovery.
        let _ = std::fs::remove_file(&self.path);
    }

    fn tell(&self, line: SpoolLine) {
        if let Some(orders) = &self.orders {
            // The writer thread ends first only if it panics; the run then continues without a
            // spool.
            let _ = orders.send(SpoolRequest::Write(line));
        }
    }

    fn end(&mut self) {
        self.orders = None;
        if let Some(writer) = self.writer.take() {
            let _ = writer.join();
        }
    }
}

impl Drop for Spool {
    fn drop(&mut self) {
        self.end();
    }
}
