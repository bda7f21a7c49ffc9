//! Spools that were left behind: made into records that say that they were cut short.

use super::{ENDING, SpoolLine, UNBORN, WorkerHeader};
use crate::{AppendError, FindError, ImportError, Store, import};
use hakaru_model::caveat::Caveat;
use hakaru_model::job::Op;
use hakaru_model::record::{
    Interval, OpRecord, Outcome, PhaseRecord, RunRecord, StopReason, WorkerRecord,
};
use hakaru_model::units::Nanos;
use std::fs::{File, TryLockError};
use std::io::{self, BufRead, BufReader};
use std::path::{Path, PathBuf};

/// What a spool that was left behind holds.
#[derive(Clone, Debug, PartialEq)]
pub enum OrphanedRun {
    /// A run that was cut short, with what it had measured; or one that came to its end, and that the database did not take
    /// then, which its outcome tells.
    Run(Box<RunRecord>),
    /// A run that had measured nothing yet.
    Nothing {
        /// What it was to measure: its scenario.
        scenario: String,
    },
    /// The run came to its end and is in the database.
    Stored {
        /// Its id.
        id: String,
    },
    /// The run goes on: another process has the spool.
    Running,
}

/// Why a spool is of no use.
#[derive(Debug, thiserror::Error)]
pub enum LeftError {
    /// It cannot be read.
    #[error("failed to read {}, where a run that was cut short kept what it measured: {source}", path.display())]
    Io {
        /// The spool.
        path: PathBuf,
        /// Why not.
        #[source]
        source: io::Error,
    },
    /// Its first line is no record.
    #[error("{} holds no run that can be read: {source} (remove the file if it is of no use)", path.display())]
    Unreadable {
        /// The spool.
        path: PathBuf,
        /// What is wrong with its first line.
        #[source]
        source: ImportError,
    },
    /// The database cannot be asked.
    #[error(transparent)]
    Find(#[from] FindError),
    /// The record cannot be stored.
    #[error(transparent)]
    Append(#[from] AppendError),
}

/// The spools beside a database, oldest first, those of runs that go on among them. None where there is no folder.
pub fn left(database: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(super::folder_of(database))
        .into_iter()
        .flatten()
        .flatten();
    let is_spool = |path: &PathBuf| {
        path.extension()
            .is_some_and(|ending| ending == ENDING || ending == UNBORN)
    };
    let mut found: Vec<PathBuf> = entries.map(|entry| entry.path()).filter(is_spool).collect();
    // Ids sort by time.
    found.sort();
    found
}

impl Store {
    /// Tells what a spool holds, and changes nothing.
    ///
    /// # Errors
    /// [`LeftError`]: it cannot be read.
    pub fn look_into(&self, spool: &Path) -> Result<OrphanedRun, LeftError> {
        let failed = |source| LeftError::Io {
            path: spool.to_owned(),
            source,
        };
        let file = File::open(spool).map_err(failed)?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Ok(OrphanedRun::Running),
            Err(TryLockError::Error(source)) => return Err(failed(source)),
        }
        if spool.extension().is_some_and(|ending| ending == UNBORN) {
            return Ok(OrphanedRun::Nothing {
                scenario: "a run".to_owned(),
            });
        }
        let (first, rest) = lines(file).map_err(failed)?;
        let unreadable = |source| LeftError::Unreadable {
            path: spool.to_owned(),
            source,
        };
        let record = import(&first).map_err(unreadable)?;
        match self.run(&record.id) {
            Ok(stored) if stored.id == record.id => {
                return Ok(OrphanedRun::Stored { id: record.id });
            }
            Ok(_) | Err(FindError::NotFound { .. } | FindError::Ambiguous { .. }) => {}
            Err(error) => return Err(error.into()),
        }
        let mut spooled = Spooled {
            record,
            open: None,
            whole: None,
        };
        rest.into_iter().for_each(|line| spooled.take(line));
        Ok(spooled.end())
    }

    /// Stores what a spool holds as a run that was cut short, and removes the spool. What goes on is left alone.
    ///
    /// # Errors
    /// [`LeftError`]: it cannot be read or stored; then it stays.
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

/// The first line, and those after it up to the first that was not written whole.
fn lines(file: File) -> io::Result<(String, Vec<SpoolLine>)> {
    let mut reader = BufReader::new(file);
    let mut first = String::new();
    reader.read_line(&mut first)?;
    let mut rest = Vec::new();
    let mut text = Vec::new();
    while reader.read_until(b'\n', &mut text)? > 0 {
        let Ok(line) = serde_json::from_slice(&text) else {
            break;
        };
        rest.push(line);
        text.clear();
    }
    Ok((first, rest))
}

/// A record that is put together again.
struct Spooled {
    record: RunRecord,
    /// The phase that goes on.
    open: Option<PhaseRecord>,
    /// The record as it was when the run came to its end.
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
                let workers = workers.into_iter().map(worker).collect();
                let (elapsed, disks) = (Nanos(0), Vec::new());
                self.open = Some(PhaseRecord {
                    name,
                    started_unix_ms,
                    elapsed,
                    workers,
                    disks,
                    ..PhaseRecord::default()
                });
            }
            SpoolLine::SoFar(intervals) => {
                for (index, interval) in intervals {
                    let worker = self
                        .open
                        .as_mut()
                        .and_then(|phase| phase.workers.get_mut(index));
                    if let Some(worker) = worker {
                        add(worker, &interval);
                    }
                }
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
            phase.elapsed = phase
                .workers
                .iter()
                .map(|worker| worker.runtime)
                .max()
                .unwrap_or_default();
            if phase.elapsed.0 > 0 {
                let caveat = Caveat::Interrupted {
                    phase: phase.name.clone(),
                    measured: phase.elapsed,
                };
                self.record.caveats.push(caveat);
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

/// Adds a stretch of time to a worker. Latencies are known by their sums only, which stand in the intervals.
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
