//! Converts spools of interrupted runs to records that are marked as incomplete.

use super::{ENDING, SpoolLine, UNBORN, WorkerHeader};
use crate::{AppendError, FindError, ImportError, Store, import};
use hakaru_model::caveat::Caveat;
use hakaru_model::job::Op;
use hakaru_model::record::{
    Interval, OpRecord, Outcome, PhaseRecord, RunRecord, StopReason, WorkerRecord,
};
use std::fs::{DirEntry, File, TryLockError};
use std::io::{self, BufRead, BufReader};
use std::path::{Path, PathBuf};

/// Content of a spool.
#[derive(Clone, Debug, PartialEq)]
pub enum OrphanedRun {
    /// An interrupted run with its partial results, or a completed run that could not be stored;
    /// its outcome shows which.
    Run(Box<RunRecord>),
    /// A run without any results.
    Nothing {
        /// Its scenario.
        scenario: String,
    },
    /// The run is already in the database.
    Stored {
        /// Its ID.
        id: String,
    },
    /// The run is still in progress in another process.
    Running,
}

/// Errors of reading or storing a spool.
#[derive(Debug, thiserror::Error)]
pub enum LeftError {
    /// The spool cannot be read.
    #[error("failed to read the partial results of an interrupted run: {}: {source}", path.display())]
    Io {
        /// The spool.
        path: PathBuf,
        /// The I/O error.
        #[source]
        source: io::Error,
    },
    /// The first line is not a record.
    #[error("{} contains no readable run: {source}; help: remove the file if it is not needed", path.display())]
    Unreadable {
        /// The spool.
        path: PathBuf,
        /// The error of its first line.
        #[source]
        source: ImportError,
    },
    /// The database has the run, but not the results that the spool has.
    #[error(
        "the database has run {id} without the results in {}; help: copy the file to NEW.db.spool/ and run \
         `hakaru recover --db NEW.db`",
        path.display()
    )]
    StoredWithoutResults {
        /// The spool.
        path: PathBuf,
        /// ID of the run.
        id: String,
    },
    /// The database cannot be queried.
    #[error(transparent)]
    Find(#[from] FindError),
    /// The record cannot be stored.
    #[error(transparent)]
    Append(#[from] AppendError),
}

/// Returns the spools of a database, oldest first, including those of running measurements. Empty
/// without a spool directory.
pub fn left(database: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(super::folder_of(database))
        .into_iter()
        .flatten()
        .flatten();
    let is_spool = |path: &PathBuf| {
        path.extension()
            .is_some_and(|ending| ending == ENDING || ending == UNBORN)
    };
    // Links, pipes and directories are not made by hakaru.
    let is_file = |entry: &DirEntry| entry.file_type().is_ok_and(|kind| kind.is_file());
    let files = entries.filter(is_file).map(|entry| entry.path());
    let mut found: Vec<PathBuf> = files.filter(is_spool).collect();
    // IDs sort by time.
    found.sort();
    found
}

impl Store {
    /// Reads a spool without changing anything.
    ///
    /// # Errors
    /// [`LeftError`] if it cannot be read.
    pub fn look_into(&self, spool: &Path) -> Result<OrphanedRun, LeftError> {
        let failed = |source| LeftError::Io {
            path: spool.to_owned(),
            source,
        };
        let file = super::open_existing(spool).map_err(failed)?;
        if is_locked(&file).map_err(failed)? {
            return Ok(OrphanedRun::Running);
        }
        if spool.extension().is_some_and(|ending| ending == UNBORN) {
            return Ok(OrphanedRun::Nothing {
                scenario: "a run".to_owned(),
            });
        }
        let (first, rest) = lines(file).map_err(failed)?;
        let record = import(&first).map_err(|source| LeftError::Unreadable {
            path: spool.to_owned(),
            source,
        })?;
        let stored = self.stored_run(&record.id)?;
        let mut spooled = Spooled {
            record,
            open: None,
            whole: None,
        };
        rest.into_iter().for_each(|line| spooled.take(line));
        match (stored, spooled.end()) {
            (None, held) => Ok(held),
            (Some(stored), OrphanedRun::Run(held))
                if stored.phases.is_empty() && !held.phases.is_empty() =>
            {
                Err(LeftError::StoredWithoutResults {
                    path: spool.to_owned(),
                    id: stored.id,
                })
            }
            (Some(stored), _) => Ok(OrphanedRun::Stored { id: stored.id }),
        }
    }

    /// Returns the run with exactly this ID, if it is stored.
    fn stored_run(&self, id: &str) -> Result<Option<RunRecord>, FindError> {
        match self.run(id) {
            Ok(stored) => Ok(Some(stored).filter(|stored| stored.id == id)),
            Err(FindError::NotFound { .. } | FindError::Ambiguous { .. }) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Stores the content of a spool as an incomplete run and removes the spool. Spools of running
    /// measurements are skipped.
    ///
    /// # Errors
    /// [`LeftError`] if it cannot be read or stored; the spool is then kept.
    pub fn keep_cut_short(&mut self, spool: &Path) -> Result<OrphanedRun, LeftError> {
        let held = self.look_into(spool)?;
        match &held {
            OrphanedRun::Running => return Ok(held),
            OrphanedRun::Run(record) => drop(self.append(record)?),
            OrphanedRun::Nothing { .. } | OrphanedRun::Stored { .. } => {}
        }
        std::fs::remove_file(spool).map_err(|source| LeftError::Io {
            path: spool.to_owned(),
            source,
        })?;
        Ok(held)
    }
}

/// Locks a spool; returns whether a running measurement holds the lock.
fn is_locked(file: &File) -> io::Result<bool> {
    match file.try_lock() {
        Ok(()) => Ok(false),
        Err(TryLockError::WouldBlock) => Ok(true),
        Err(TryLockError::Error(source)) => Err(source),
    }
}

/// Returns the first line, and the following lines up to the first incomplete one.
fn lines(file: File) -> io::Result<(String, Vec<SpoolLine>)> {
    let mut reader = BufReader::new(file);
    let mut first = String::new();
    reader.read_line(&mut first)?;
    let mut rest = Vec::new();
    let mut text = Vec::new();
    while reader.read_until(b'\n', &mut text)? > 0 {
        // From text like everything else: each kind of input adds its own copy of the parser to the program.
        let line = std::str::from_utf8(&text).ok();
        let Some(line) = line.and_then(|line| hakaru_model::json::from_str(line).ok()) else {
            break;
        };
        rest.push(line);
        text.clear();
    }
    Ok((first, rest))
}

/// A record that is rebuilt from lines.
struct Spooled {
    record: RunRecord,
    /// The unfinished phase.
    open: Option<PhaseRecord>,
    /// The complete record, if the run finished.
    whole: Option<Box<RunRecord>>,
}

impl Spooled {
    fn take(&mut self, line: SpoolLine) {
        match line {
            SpoolLine::Phase {
                name,
                started_unix_ms,
                workers,
            } => {
                self.open = Some(PhaseRecord {
                    name,
                    started_unix_ms,
                    workers: workers.into_iter().map(worker).collect(),
                    ..PhaseRecord::default()
                });
            }
            SpoolLine::SoFar(intervals) => {
                let workers = self.open.as_mut().map(|phase| &mut phase.workers);
                add_all(workers.map_or(&mut [], Vec::as_mut_slice), &intervals);
            }
            SpoolLine::Done(phase) => {
                self.open = None;
                self.record.phases.push(*phase);
            }
            SpoolLine::Ended(record) => {
                self.whole = Some(record).filter(|whole| whole.id == self.record.id)
            }
        }
    }

    fn end(mut self) -> OrphanedRun {
        if let Some(record) = self.whole {
            return OrphanedRun::Run(record);
        }
        let whole = self.record.phases.len();
        if let Some(mut phase) = self.open.take() {
            let runtimes = phase.workers.iter().map(|worker| worker.runtime);
            phase.elapsed = runtimes.max().unwrap_or_default();
            if phase.elapsed.0 > 0 {
                self.record.caveats.push(Caveat::Interrupted {
                    phase: phase.name.clone(),
                    measured: phase.elapsed,
                });
                if self.record.caveats.contains(&Caveat::Traced) {
                    let phase = phase.name.clone();
                    self.record.caveats.push(Caveat::PathLost { phase });
                }
                self.record.phases.push(phase);
            }
        }
        if self.record.phases.is_empty() {
            return OrphanedRun::Nothing {
                scenario: self.record.scenario.name,
            };
        }
        let number = |count: usize| u32::try_from(count).unwrap_or(u32::MAX);
        let of = number(self.record.scenario.phases.len());
        self.record.caveats.push(Caveat::CutShort {
            whole: number(whole),
            of,
        });
        self.record.outcome = Outcome::Interrupted;
        OrphanedRun::Run(Box::new(self.record))
    }
}

fn worker(place: WorkerHeader) -> WorkerRecord {
    let WorkerHeader { name, job, clone } = place;
    WorkerRecord {
        name,
        job,
        clone,
        stop: StopReason::Stopped,
        ..WorkerRecord::default()
    }
}

/// Adds intervals to the workers at their indexes; unknown ones are ignored.
fn add_all(workers: &mut [WorkerRecord], intervals: &[(usize, Interval)]) {
    for (index, interval) in intervals {
        if let Some(worker) = workers.get_mut(*index) {
            add(worker, interval);
        }
    }
}

/// Adds an interval to a worker. Only sums of latencies are known, because intervals contain no
/// histogram.
fn add(worker: &mut WorkerRecord, interval: &Interval) {
    let per_second = |count: u64, thousandths: u128| {
        let scaled = u128::from(count) * thousandths * 1_000_000_000;
        u64::try_from(scaled / u128::from(interval.length.0.max(1))).unwrap_or(u64::MAX)
    };
    for op in Op::ALL {
        let (
            OpRecord {
                ios,
                bytes,
                issued,
                bw_samples,
                iops_samples,
                ..
            },
            new,
        ) = (&mut worker.ops[op], interval.ops[op]);
        *ios += new.ios;
        *issued += new.ios;
        *bytes += new.bytes;
        if new.ios > 0 {
            bw_samples.record(per_second(new.bytes, 1));
            iops_samples.record(per_second(new.ios, 1000));
        }
    }
    worker.intervals.push(*interval);
    worker.runtime = worker.runtime.max(interval.at);
    worker.job_runtime = worker.runtime;
}
