//! What a run has measured so far, beside the database, so that a loss of power costs a second and not the run.
//!
//! A spool is a file of lines: the record as it began, then for each phase who measures, what was measured in each
//! stretch of time, and in the end the whole of it. Lines are only added, and synced one by one in a thread of the
//! spool's own, so that nobody who measures waits for them. A run that comes to its end removes its spool; `left` makes
//! records of those that stay behind.
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
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, Sender, channel, sync_channel};
use std::thread::JoinHandle;

/// Ending of a spool's name.
const ENDING: &str = "jsonl";

/// Ending of the name of a spool whose first line is being written.
const UNBORN: &str = "new";

/// One worker of a phase, as far as its record needs it before it is done.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorkerHeader {
    /// Name of its job.
    pub name: String,
    /// Index of its job in the phase.
    pub job: u32,
    /// Number of the clone, from 0.
    pub clone: u32,
}

/// Every line but the first.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum SpoolLine {
    Phase {
        name: String,
        started_unix_ms: i64,
        workers: Vec<WorkerHeader>,
    },
    /// Numbers of workers, each with what it measured since its last line.
    SoFar(Vec<(usize, Interval)>),
    Done(Box<PhaseRecord>),
    /// The run came to its end, and its record could not be stored.
    Ended(Box<RunRecord>),
}

/// Why there is no spool.
#[derive(Debug, thiserror::Error)]
pub enum SpoolError {
    /// The folder or the file cannot be made.
    #[error("failed to keep what is measured on the way: {}: {source}", path.display())]
    Io {
        /// Which.
        path: PathBuf,
        /// Why not.
        #[source]
        source: std::io::Error,
    },
    /// The record has no text form.
    #[error(transparent)]
    Export(#[from] ExportError),
}

/// The spool of one run. Dropping it leaves the file where it is.
#[derive(Debug)]
pub struct Spool {
    path: PathBuf,
    orders: Option<Sender<SpoolRequest>>,
    writer: Option<JoinHandle<()>>,
}

/// What the writer is told.
enum SpoolRequest {
    Write(SpoolLine),
    /// To answer once all before it is on the disk, and whether all of it could be written.
    Settle(std::sync::mpsc::SyncSender<bool>),
}

impl Store {
    /// The folder of this database's spools.
    pub fn spool_folder(&self) -> PathBuf {
        folder_of(self.path())
    }

    /// Begins the spool of a run, with what is known of it as it begins: its record without phases.
    ///
    /// # Errors
    /// [`SpoolError`]: the folder beside the database cannot be written.
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

/// Makes the file with its first line: it appears whole or not at all. Whoever holds its lock is still measuring.
fn begin(folder: &Path, path: &Path, first: &str) -> std::io::Result<File> {
    std::fs::create_dir_all(folder)?;
    let unborn = path.with_extension(UNBORN);
    let mut file = OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(true)
        .open(&unborn)?;
    file.lock()?;
    file.write_all(format!("{first}\n").as_bytes())?;
    reserve(&file);
    file.sync_all()?;
    std::fs::rename(&unborn, path)?;
    File::open(folder)?.sync_all()?;
    Ok(file)
}

/// Space that a spool takes as it begins and gives back as it is removed, so that a file system that fills up meanwhile
/// does not cost the record. Most records are smaller.
const RESERVE: u64 = 1 << 20;

/// Where a file system has no such reservation, or less room than that, the spool does without.
fn reserve(file: &File) {
    let length = file.metadata().map_or(0, |file| file.len());
    let _ = rustix::fs::fallocate(file, rustix::fs::FallocateFlags::KEEP_SIZE, length, RESERVE);
}

/// Writes what it is told until nobody can tell it anything more.
fn write_all(mut file: File, orders: &Receiver<SpoolRequest>) {
    let mut works = true;
    for order in orders {
        match order {
            // After a line that could not be written the others make no sense any more, but for the whole record.
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

/// Adds a line whole, or leaves the file as it was.
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
    /// A phase begins.
    pub fn phase_begins(&self, name: &str, started_unix_ms: i64, workers: Vec<WorkerHeader>) {
        self.tell(SpoolLine::Phase {
            name: name.to_owned(),
            started_unix_ms,
            workers,
        });
    }

    /// What workers, by their numbers, measured since they were last told of.
    pub fn so_far(&self, intervals: Vec<(usize, Interval)>) {
        self.tell(SpoolLine::SoFar(intervals));
    }

    /// A phase is over.
    pub fn phase_ends(&self, record: &PhaseRecord) {
        self.tell(SpoolLine::Done(Box::new(record.clone())));
    }

    /// The run is over, and the database takes its record at another time only: kept whole until then. Tells whether it is
    /// on the disk.
    pub fn ended(&self, record: &RunRecord) -> bool {
        self.tell(SpoolLine::Ended(Box::new(record.clone())));
        self.settle()
    }

    /// Waits until all that was told is on the disk; false when not all of it could be written.
    pub fn settle(&self) -> bool {
        let (answer, settled) = sync_channel(1);
        let Some(orders) = &self.orders else {
            return false;
        };
        orders.send(SpoolRequest::Settle(answer)).is_ok() && settled.recv().unwrap_or(false)
    }

    /// The run is stored, or nobody wants to keep it: the spool is not needed any more.
    pub fn remove(mut self) {
        self.end();
        // One that stays is told from the stored run by its id, and removed by whoever looks next.
        let _ = std::fs::remove_file(&self.path);
    }

    fn tell(&self, line: SpoolLine) {
        if let Some(orders) = &self.orders {
            // The writer ends before the spool only if it panics, and a run is worth more than its spool.
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
