//! Reads the live states of other processes, and sends requests to them.

use super::directory::{self, LiveDirectory, SAMPLES, STATE, WATCH};
use super::owner::LiveOwner;
use super::request::{self, LiveRequest, LiveRequestError};
use super::ring;
use super::state::{LiveEnd, LiveSample, LiveState};
use std::path::{Path, PathBuf};

/// Maximum length of a state in bytes; a campaign of 10,000 points is shorter.
const LONGEST_STATE: u64 = 4 << 20;

/// Reads the live states of one database.
#[derive(Clone, Debug)]
pub struct LiveReader {
    candidates: Vec<LiveDirectory>,
}

impl LiveReader {
    /// Returns a reader of the states of processes that measure into a database. Changes nothing.
    pub fn of(database: &Path) -> LiveReader {
        LiveReader {
            candidates: LiveDirectory::candidates(database),
        }
    }

    /// Returns the private directories that exist.
    fn directories(&self) -> impl Iterator<Item = &LiveDirectory> {
        let candidates = self.candidates.iter();
        candidates.filter(|directory| directory.check().is_ok())
    }

    /// Lists the states of all processes, oldest process first.
    ///
    /// A process that no longer exists is listed once more, with its end, and its files are removed.
    pub fn list(&self) -> Vec<LiveState> {
        let mut states: Vec<LiveState> = self.directories().flat_map(list_in).collect();
        states.sort_by_key(|state| state.started_unix_ms);
        states
    }

    /// Returns the samples of a process after a sequence number, oldest first. At most [`MAX_LIVE_SAMPLES`] are
    /// kept, so that older ones are missing.
    ///
    /// [`MAX_LIVE_SAMPLES`]: super::MAX_LIVE_SAMPLES
    pub fn samples(&self, state: &LiveState, after: u64) -> Vec<LiveSample> {
        let Ok(owner) = state.id.parse() else {
            return Vec::new();
        };
        let rings = self
            .directories()
            .map(|directory| directory.file(owner, SAMPLES));
        let mut found = rings.filter_map(|path| ring::read_after(&path, after, state.samples).ok());
        found.next().unwrap_or_default()
    }

    /// Sends a request to a running process, which takes it within [`STATE_PERIOD`].
    ///
    /// # Errors
    /// [`LiveRequestError`] if the process does not run, or the request cannot be sent.
    ///
    /// [`STATE_PERIOD`]: super::STATE_PERIOD
    pub fn request(&self, id: LiveOwner, request: &LiveRequest) -> Result<(), LiveRequestError> {
        let holds = |directory: &&LiveDirectory| directory.file(id, STATE).exists();
        let directory = self.directories().find(holds).filter(|_| id.is_alive());
        let directory = directory.ok_or(LiveRequestError::NotRunning { id })?;
        request::send(directory, id, request)
    }

    /// Marks this process as a reader: processes that end leave their last state for it. `None` if there is no private
    /// directory in memory.
    pub fn watch(&self) -> Option<LiveWatch> {
        let owner = LiveOwner::current()?;
        let marks = |directory: &LiveDirectory| -> Option<PathBuf> {
            directory.create().ok()?;
            directory.remove_remains();
            let path = directory.file(owner, WATCH);
            directory::create(&path).ok()?;
            Some(path)
        };
        // Another process may remove the directory while it is empty.
        let mut tries = (0..3).flat_map(|_| &self.candidates);
        let path = tries.find_map(marks)?;
        Some(LiveWatch { path })
    }
}

/// The mark of a reading process, removed when dropped.
#[derive(Debug)]
pub struct LiveWatch {
    path: PathBuf,
}

impl Drop for LiveWatch {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.path);
        if let Some(directory) = self.path.parent() {
            let _ = std::fs::remove_dir(directory);
        }
    }
}

fn list_in(directory: &LiveDirectory) -> Vec<LiveState> {
    let mut states = Vec::new();
    let mut is_cleaned = false;
    for (owner, ending) in directory.files() {
        if ending != STATE {
            continue;
        }
        // Checked before the state is read: a process that has ended cannot add its end any more.
        let is_alive = owner.is_alive();
        let read = directory::read(&directory.file(owner, STATE), LONGEST_STATE);
        let text = read.ok().and_then(|text| String::from_utf8(text).ok());
        let state = text.and_then(|text| hakaru_model::json::from_str::<LiveState>(&text).ok());
        let state = state.filter(|state| state.id == owner.to_string());
        if let Some(mut state) = state {
            if !is_alive {
                state.end.get_or_insert(LiveEnd::Killed);
                state.prompt = None;
            }
            states.push(state);
        }
        if !is_alive {
            directory.remove_all(owner);
            is_cleaned = true;
        }
    }
    directory.remove_remains();
    if is_cleaned {
        directory.remove_if_empty();
    }
    states
}
