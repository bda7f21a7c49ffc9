//! Publishes the state of this process, and receives requests to it.

use super::directory::{self, LiveDirectory, SAMPLES, STATE, UNBORN};
use super::owner::LiveOwner;
use super::request::{self, LiveRequest};
use super::ring::SampleWriter;
use super::state::{LiveEnd, LivePrompt, LivePromptKind, LiveSample, LiveState, LiveVerb};
use std::collections::VecDeque;
use std::fmt;
use std::io::{self, Write};
use std::path::Path;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// Interval between two versions of a state, and between two looks at the requests.
pub const STATE_PERIOD: Duration = Duration::from_millis(500);

/// Maximum interval between two versions of a state that does not change.
const HEARTBEAT: Duration = Duration::from_secs(5);

/// Maximum number of samples that wait to be written.
const MOST_WAITING: usize = 64;

/// Publishes the state of this process until its last copy is dropped or [`LivePublisher::end`] is called.
///
/// A thread of its own writes the files; all methods only change values in memory. Errors of the files are ignored,
/// because they must not disturb a measurement.
#[derive(Clone, Debug)]
pub struct LivePublisher {
    handle: Arc<Handle>,
}

/// Joins the thread when the last copy of the publisher is dropped.
#[derive(Debug)]
struct Handle {
    shared: Arc<Shared>,
    thread: Mutex<Option<JoinHandle<()>>>,
}

struct Shared {
    owner: LiveOwner,
    directory: LiveDirectory,
    on_stop: Box<dyn Fn() + Send + Sync>,
    content: Mutex<Content>,
    /// Wakes the thread early.
    changed: Condvar,
}

impl fmt::Debug for Shared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Shared {
            owner, directory, ..
        } = self;
        write!(f, "{owner} in {directory:?}")
    }
}

#[derive(Debug)]
struct Content {
    state: LiveState,
    /// Samples that are not in the ring yet.
    waiting: VecDeque<LiveSample>,
    /// Whether the state differs from its file.
    is_changed: bool,
    /// Whether the change is to be written at once.
    is_urgent: bool,
    /// Number of the last prompt.
    prompts: u64,
    answer: Option<String>,
}

impl LivePublisher {
    /// Begins to publish the state of this process for readers of a database. `None` if there is no private directory
    /// in memory.
    ///
    /// `on_stop` is called by another thread when another process asks this one to stop.
    pub fn begin(
        database: &Path,
        verb: LiveVerb,
        target: &str,
        on_stop: impl Fn() + Send + Sync + 'static,
    ) -> Option<LivePublisher> {
        let owner = LiveOwner::current()?;
        let mut candidates = LiveDirectory::candidates(database).into_iter();
        let directory = candidates.find(|directory| directory.create().is_ok())?;
        directory.remove_remains();
        directory.sweep_others();
        let shared = Arc::new(Shared {
            owner,
            directory,
            on_stop: Box::new(on_stop),
            content: Mutex::new(Content {
                state: LiveState::new(owner, verb, target, now_unix_ms()),
                waiting: VecDeque::new(),
                is_changed: true,
                is_urgent: true,
                prompts: 0,
                answer: None,
            }),
            changed: Condvar::new(),
        });
        let of_thread = Arc::clone(&shared);
        let thread = std::thread::Builder::new().name("live".to_owned());
        let thread = thread.stack_size(256 << 10);
        let thread = thread.spawn(move || of_thread.publish()).ok()?;
        let handle = Handle {
            shared,
            thread: Mutex::new(Some(thread)),
        };
        Some(LivePublisher {
            handle: Arc::new(handle),
        })
    }

    fn content(&self) -> MutexGuard<'_, Content> {
        self.handle.shared.content()
    }

    /// Changes the state; the next version has the change.
    pub fn update(&self, change: impl FnOnce(&mut LiveState)) {
        let mut content = self.content();
        change(&mut content.state);
        content.is_changed = true;
    }

    /// Adds a sample. Its sequence number is set when it is written.
    pub fn sample(&self, sample: LiveSample) {
        let mut content = self.content();
        if content.waiting.len() >= MOST_WAITING {
            content.waiting.pop_front();
        }
        content.waiting.push_back(sample);
        content.is_changed = true;
    }

    /// Publishes a question, unless it is the current one already. An answer to an earlier question is dropped.
    pub fn ask(&self, kind: LivePromptKind) {
        let mut content = self.content();
        if content
            .state
            .prompt
            .as_ref()
            .is_some_and(|prompt| prompt.kind == kind)
        {
            return;
        }
        content.prompts += 1;
        let number = content.prompts;
        content.answer = None;
        content.state.prompt = Some(LivePrompt { number, kind });
        (content.is_changed, content.is_urgent) = (true, true);
        self.handle.shared.changed.notify_all();
    }

    /// Withdraws the question, because it was answered.
    pub fn withdraw(&self) {
        let mut content = self.content();
        content.answer = None;
        if content.state.prompt.take().is_some() {
            (content.is_changed, content.is_urgent) = (true, true);
            self.handle.shared.changed.notify_all();
        }
    }

    /// Takes the answer to the current question that another process sent, if one has arrived.
    pub fn take_answer(&self) -> Option<String> {
        self.content().answer.take()
    }

    /// Whether another process reads the states.
    pub fn is_watched(&self) -> bool {
        self.handle.shared.directory.is_watched()
    }

    /// Ends publishing. Without a reader, all files are removed; with one, it removes them when it has read how the
    /// process ended.
    pub fn end(&self, end: LiveEnd) {
        self.content().state.end.get_or_insert(end);
        self.handle.join();
    }
}

impl Handle {
    fn join(&self) {
        self.shared
            .content()
            .state
            .end
            .get_or_insert(LiveEnd::Failed);
        self.shared.changed.notify_all();
        let thread = self
            .thread
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take();
        // The thread panics only if a caller's change of the state did.
        _ = thread.map(JoinHandle::join);
    }
}

impl Drop for Handle {
    fn drop(&mut self) {
        self.join();
    }
}

impl Shared {
    fn content(&self) -> MutexGuard<'_, Content> {
        self.content.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The work of the thread.
    fn publish(&self) {
        let mut ring = self.ring();
        let mut written = None;
        loop {
            let is_over = self.content().state.end.is_some();
            if is_over && !self.directory.is_watched() {
                break;
            }
            self.take_requests();
            let is_due = written.is_none_or(|at: Instant| at.elapsed() >= HEARTBEAT);
            if self.write(&mut ring, is_due || is_over) {
                written = Some(Instant::now());
            }
            if is_over {
                return;
            }
            self.wait();
        }
        drop(ring);
        self.directory.remove_all(self.owner);
        self.directory.remove_if_empty();
    }

    fn ring(&self) -> Option<SampleWriter> {
        SampleWriter::create(&self.directory.file(self.owner, SAMPLES)).ok()
    }

    /// Waits for the next version, or for an urgent change.
    fn wait(&self) {
        let content = self.content();
        let is_idle = |content: &mut Content| !content.is_urgent && content.state.end.is_none();
        _ = self
            .changed
            .wait_timeout_while(content, STATE_PERIOD, is_idle);
    }

    /// Writes pending samples and the state, if it changed or `is_due`. Returns whether the state is in its file.
    fn write(&self, ring: &mut Option<SampleWriter>, is_due: bool) -> bool {
        let (mut state, waiting) = {
            let mut content = self.content();
            if !content.is_changed && !is_due {
                return false;
            }
            (content.is_changed, content.is_urgent) = (false, false);
            content.state.revision += 1;
            content.state.updated_unix_ms = now_unix_ms();
            let waiting = std::mem::take(&mut content.waiting);
            (content.state.clone(), waiting)
        };
        for sample in waiting {
            let pushed = ring.as_mut().and_then(|ring| ring.push(sample).ok());
            state.samples = pushed.unwrap_or(state.samples);
        }
        self.content().state.samples = state.samples;
        let mut replaced = self.replace(&state);
        if replaced.is_err() && self.directory.create().is_ok() {
            // Another process that ended removed the directory, which was empty then.
            *ring = self.ring();
            replaced = self.replace(&state);
        }
        replaced.is_ok()
    }

    fn replace(&self, state: &LiveState) -> io::Result<()> {
        let text = serde_json::to_vec(state)?;
        let unborn = self.directory.file(self.owner, UNBORN);
        directory::create(&unborn)?.write_all(&text)?;
        std::fs::rename(unborn, self.directory.file(self.owner, STATE))
    }

    fn take_requests(&self) {
        for request in request::take(&self.directory, self.owner) {
            match request {
                LiveRequest::Stop => {
                    let mut content = self.content();
                    content.state.stopping = true;
                    content.is_changed = true;
                    drop(content);
                    (self.on_stop)();
                }
                LiveRequest::Answer { prompt, text } => {
                    let mut content = self.content();
                    let current = content.state.prompt.as_ref();
                    if current.is_some_and(|current| current.number == prompt) {
                        content.answer = Some(text);
                    }
                }
            }
        }
    }
}

/// Returns the time in milliseconds since 1970 UTC.
fn now_unix_ms() -> i64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    now.map_or(0, |now| i64::try_from(now.as_millis()).unwrap_or(i64::MAX))
}
