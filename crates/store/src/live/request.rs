//! Requests of another process to the owner of a live state.

use super::directory::{self, LiveDirectory, REQUEST, UNBORN};
use super::owner::LiveOwner;
use serde::{Deserialize, Serialize};
use std::io::{self, Write};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::{SystemTime, UNIX_EPOCH};

/// Maximum length of a request in bytes.
const LONGEST: u64 = 16 << 10;

/// Maximum number of pending requests to one process.
const MOST_PENDING: usize = 64;

/// A request to a running process.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "request", rename_all = "snake_case")]
pub enum LiveRequest {
    /// End the work and keep the results, as Ctrl-C does.
    Stop,
    /// The answer to a prompt.
    Answer {
        /// Number of the prompt.
        prompt: u64,
        /// What was typed.
        text: String,
    },
}

/// Errors of sending a request.
#[derive(Debug, thiserror::Error)]
pub enum LiveRequestError {
    /// The process has ended.
    #[error("the measurement {id} is not running; help: reload the page to see what runs")]
    NotRunning {
        /// ID of the process.
        id: LiveOwner,
    },
    /// The owner does not read its requests.
    #[error("the measurement {id} does not respond to {MOST_PENDING} earlier requests; help: wait, or end process {}", id.pid)]
    Pending {
        /// ID of the process.
        id: LiveOwner,
    },
    /// The request exceeds the limit.
    #[error("the answer is longer than {} KiB; help: type the name or ID that the question asks for", LONGEST >> 10)]
    TooLong,
    /// The request cannot be written.
    #[error("failed to send the request to the measurement {id}: {source}")]
    Io {
        /// ID of the process.
        id: LiveOwner,
        /// The I/O error.
        #[source]
        source: io::Error,
    },
}

/// Writes a request for a process.
pub(super) fn send(
    directory: &LiveDirectory,
    id: LiveOwner,
    request: &LiveRequest,
) -> Result<(), LiveRequestError> {
    let failed = |source| LiveRequestError::Io { id, source };
    let text = serde_json::to_vec(request).map_err(|error| failed(error.into()))?;
    if text.len() as u64 > LONGEST {
        return Err(LiveRequestError::TooLong);
    }
    if pending(directory, id).len() >= MOST_PENDING {
        return Err(LiveRequestError::Pending { id });
    }
    let ending = next_ending();
    let path = directory.file(id, &ending);
    let unborn = directory.file(id, &format!("{ending}.{UNBORN}"));
    let written = directory::create(&unborn)
        .and_then(|mut file| file.write_all(&text))
        .and_then(|()| std::fs::rename(&unborn, &path));
    written
        .inspect_err(|_| _ = std::fs::remove_file(&unborn))
        .map_err(failed)
}

/// Returns an ending of a file name that no other request has, and that sorts by time.
fn next_ending() -> String {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    let nanos = now.map_or(0, |now| now.as_nanos());
    let (pid, count) = (std::process::id(), COUNT.fetch_add(1, Relaxed));
    format!("{REQUEST}.{nanos:020}-{pid}-{count}")
}

/// Returns the file name endings of the pending requests to a process, oldest first.
fn pending(directory: &LiveDirectory, id: LiveOwner) -> Vec<String> {
    let is_request = |ending: &str| {
        ending.starts_with(&format!("{REQUEST}.")) && !ending.ends_with(&format!(".{UNBORN}"))
    };
    let files = directory.files().into_iter();
    let requests = files.filter(|(of, ending)| *of == id && is_request(ending));
    let mut endings: Vec<String> = requests.map(|(_, ending)| ending).collect();
    endings.sort();
    endings
}

/// Takes the pending requests to a process, oldest first. Each is returned once; invalid ones are removed.
pub(super) fn take(directory: &LiveDirectory, id: LiveOwner) -> Vec<LiveRequest> {
    let mut taken = Vec::new();
    for ending in pending(directory, id) {
        let path = directory.file(id, &ending);
        let text = directory::read(&path, LONGEST);
        // A request that cannot be removed would arrive again and again.
        if std::fs::remove_file(&path).is_err() {
            continue;
        }
        let text = text.ok().and_then(|text| String::from_utf8(text).ok());
        taken.extend(text.and_then(|text| hakaru_model::json::from_str(&text).ok()));
    }
    taken
}
