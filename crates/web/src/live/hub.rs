//! The live states of all processes, read by one thread for all clients.

use super::children::Children;
use crate::context::ServeOptions;
use hakaru_device::Roots;
use hakaru_store::live::{
    LiveOwner, LiveReader, LiveRequest, LiveRequestError, LiveSample, LiveState, LiveWatch,
    MAX_LIVE_SAMPLES, STATE_PERIOD,
};
use std::collections::{BTreeMap, HashMap, VecDeque};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock, Weak};
use std::time::{Duration, Instant};
use tokio::sync::watch;

/// How long a process that has ended is shown.
const SHOWN_AFTER_END: Duration = Duration::from_secs(60);

/// What runs at one moment.
#[derive(Debug, Default)]
pub(crate) struct LiveSnapshot {
    /// Number of the snapshot.
    pub(crate) version: u64,
    /// The states, oldest process first.
    pub(crate) states: Vec<LiveState>,
    /// Disks that are present.
    pub(crate) disks: Vec<PathBuf>,
}

/// A sample as JSON, with its sequence number.
pub(super) type NumberedSample = (u64, Arc<str>);

/// Everything that clients share about running processes.
#[derive(Clone)]
pub(crate) struct LiveHub {
    shared: Arc<HubShared>,
}

struct HubShared {
    reader: LiveReader,
    _watch: Option<LiveWatch>,
    snapshot: RwLock<Arc<LiveSnapshot>>,
    samples: Mutex<BTreeMap<String, VecDeque<NumberedSample>>>,
    /// Markup of the current version, by place and language.
    rendered: Mutex<(u64, HashMap<String, Arc<str>>)>,
    version: watch::Sender<u64>,
    children: Children,
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl LiveHub {
    /// Begins to follow the processes that measure into the database, until the last copy is dropped.
    pub(crate) fn begin(options: &ServeOptions) -> LiveHub {
        let reader = LiveReader::of(&options.database);
        let shared = Arc::new(HubShared {
            _watch: reader.watch(),
            reader,
            snapshot: RwLock::default(),
            samples: Mutex::default(),
            rendered: Mutex::default(),
            version: watch::Sender::new(0),
            children: Children::default(),
        });
        shared.poll(&mut Vec::new());
        let of_thread = Arc::downgrade(&shared);
        let thread = std::thread::Builder::new().name("live".to_owned());
        // Without the thread, pages show what ran when the server began.
        let _ = thread
            .stack_size(256 << 10)
            .spawn(move || follow(&of_thread));
        LiveHub { shared }
    }

    /// Returns what runs now.
    pub(crate) fn snapshot(&self) -> Arc<LiveSnapshot> {
        let snapshot = self.shared.snapshot.read();
        Arc::clone(&snapshot.unwrap_or_else(PoisonError::into_inner))
    }

    /// Returns a receiver that is notified of each new snapshot.
    pub(super) fn changes(&self) -> watch::Receiver<u64> {
        self.shared.version.subscribe()
    }

    /// Returns the samples of a process after a sequence number.
    pub(super) fn samples(&self, id: &str, after: u64) -> Vec<NumberedSample> {
        let all = locked(&self.shared.samples);
        let of = all.get(id).into_iter().flatten();
        of.filter(|(seq, _)| *seq > after).cloned().collect()
    }

    /// Returns the latest sample of a process.
    pub(crate) fn last_sample(&self, id: &str) -> Option<LiveSample> {
        let all = locked(&self.shared.samples);
        let (_, text) = all.get(id)?.back()?;
        serde_json::from_str(text).ok()
    }

    /// Returns the markup with a key for this version, which is made once for all clients.
    pub(super) fn rendered(
        &self,
        version: u64,
        key: String,
        render: impl FnOnce() -> String,
    ) -> Arc<str> {
        let mut rendered = locked(&self.shared.rendered);
        if rendered.0 != version {
            *rendered = (version, HashMap::new());
        }
        let entry = rendered.1.entry(key);
        Arc::clone(entry.or_insert_with(|| render().into()))
    }

    /// Sends a request to a running process.
    pub(super) fn request(
        &self,
        id: LiveOwner,
        request: &LiveRequest,
    ) -> Result<(), LiveRequestError> {
        self.shared.reader.request(id, request)
    }

    /// The processes that this server has started.
    pub(super) fn children(&self) -> &Children {
        &self.shared.children
    }
}

/// A process that has ended, and when that was noticed.
type Ended = (LiveState, Instant);

/// The work of the thread.
fn follow(hub: &Weak<HubShared>) {
    let mut ended = Vec::new();
    loop {
        std::thread::sleep(STATE_PERIOD);
        match hub.upgrade() {
            Some(hub) => hub.poll(&mut ended),
            None => return,
        }
    }
}

impl HubShared {
    /// Reads all states, and notifies the clients of changes.
    fn poll(&self, ended: &mut Vec<Ended>) {
        self.children.reap();
        let mut states = self.reader.list();
        for state in &states {
            self.take_samples(state);
        }
        ended.retain(|(state, at)| {
            let is_again = states.iter().any(|other| other.id == state.id);
            at.elapsed() < SHOWN_AFTER_END && !is_again
        });
        let over = states.iter().filter(|state| state.end.is_some());
        let now: Vec<Ended> = over.map(|state| (state.clone(), Instant::now())).collect();
        states.extend(ended.iter().map(|(state, _)| state.clone()));
        ended.extend(now);
        states.sort_by_key(|state| state.started_unix_ms);
        locked(&self.samples).retain(|id, _| states.iter().any(|state| state.id == *id));
        let disks = hakaru_device::disks(&Roots::live());
        self.replace(states, disks);
    }

    fn take_samples(&self, state: &LiveState) {
        let mut all = locked(&self.samples);
        let known = all.entry(state.id.clone()).or_default();
        let last = known.back().map_or(0, |(seq, _)| *seq);
        for sample in self.reader.samples(state, last) {
            if let Ok(text) = serde_json::to_string(&sample) {
                known.push_back((sample.seq, text.into()));
            }
        }
        let old = known.len().saturating_sub(MAX_LIVE_SAMPLES as usize);
        known.drain(..old);
    }

    fn replace(&self, states: Vec<LiveState>, disks: Vec<PathBuf>) {
        let before = Arc::clone(&self.snapshot.read().unwrap_or_else(PoisonError::into_inner));
        if before.states == states && before.disks == disks && before.version > 0 {
            return;
        }
        let version = before.version + 1;
        let snapshot = LiveSnapshot {
            version,
            states,
            disks,
        };
        *self
            .snapshot
            .write()
            .unwrap_or_else(PoisonError::into_inner) = Arc::new(snapshot);
        self.version.send_replace(version);
    }
}
