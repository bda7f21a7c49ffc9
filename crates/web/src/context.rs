//! The state of the server, and work on the database away from the thread that serves the network.

use crate::access::{Client, Guesses, Viewer};
use crate::frame::Content;
use crate::live::LiveHub;
use crate::token::TokenFile;
use hakaru_report::with_language;
use hakaru_results::references::own_path_beside;
use hakaru_store::{OpenError, Store};
use std::cell::RefCell;
use std::net::SocketAddr;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// How the server runs.
#[derive(Clone, Debug)]
pub struct ServeOptions {
    /// Address and port to listen on; port 0 for a free one.
    pub listen: SocketAddr,
    /// Names by which a proxy or other hosts reach the server. If there are any, reading needs the token too.
    pub hosts: Vec<String>,
    /// Whether no action is possible, only reading.
    pub read_only: bool,
    /// The database. It may not exist yet.
    pub database: PathBuf,
    /// The program, which is started for measurements.
    pub program: PathBuf,
}

impl ServeOptions {
    /// Whether reading needs the token: other hosts can reach the server.
    pub fn needs_token(&self) -> bool {
        !self.listen.ip().is_loopback() || !self.hosts.is_empty()
    }
}

/// What all requests share.
pub(crate) struct WebState {
    pub(crate) options: ServeOptions,
    pub(crate) token: TokenFile,
    pub(crate) guesses: Guesses,
    pub(crate) cache: Mutex<AnswerCache>,
    /// Held by the worker that builds a costly answer.
    pub(crate) building: Mutex<()>,
    /// What runs now.
    pub(crate) live: LiveHub,
    /// Name of this host.
    pub(crate) host: String,
}

/// The state as axum passes it to handlers.
pub(crate) type AppState = Arc<WebState>;

impl WebState {
    /// Whether a client may start, stop or answer something.
    pub(crate) fn may_act(&self, client: &Client) -> bool {
        client.signed_in && !self.options.read_only
    }

    /// Returns the kept answer with this key, or builds it and keeps it until the database changes.
    ///
    /// One answer is built at a time, because it can need the records of hundreds of runs in memory.
    ///
    /// # Errors
    /// Those of `build`.
    pub(crate) fn kept_or_built<T: CostlyAnswer>(
        &self,
        key: String,
        build: impl FnOnce() -> anyhow::Result<T>,
    ) -> anyhow::Result<T> {
        let kept = |key: &str| {
            let stamp = Stamp::of(&self.options.database);
            let found = locked(&self.cache).get(stamp, key);
            found.and_then(T::of_kept).ok_or(stamp)
        };
        if let Ok(answer) = kept(&key) {
            return Ok(answer);
        }
        let _one_at_a_time = locked(&self.building);
        // Another worker may have built it meanwhile.
        match kept(&key) {
            Ok(answer) => Ok(answer),
            Err(stamp) => {
                let answer = build()?.copied();
                locked(&self.cache).put(stamp, key, answer.clone().into());
                Ok(answer)
            }
        }
    }
}

/// An answer that is costly to build, and is therefore kept.
pub(crate) trait CostlyAnswer: Clone + Into<KeptAnswer> {
    /// Returns a kept answer of this kind.
    fn of_kept(kept: KeptAnswer) -> Option<Self>;

    /// Returns a copy in memory of its own. What is left after building lies behind the records that were read for it,
    /// and would keep the allocator from returning their memory to the system.
    fn copied(&self) -> Self;
}

impl CostlyAnswer for Arc<Content> {
    fn of_kept(kept: KeptAnswer) -> Option<Self> {
        match kept {
            KeptAnswer::Page(content) => Some(content),
            KeptAnswer::Document(_) => None,
        }
    }

    fn copied(&self) -> Self {
        Arc::new(Content::clone(self))
    }
}

impl CostlyAnswer for Arc<str> {
    fn of_kept(kept: KeptAnswer) -> Option<Self> {
        match kept {
            KeptAnswer::Document(text) => Some(text),
            KeptAnswer::Page(_) => None,
        }
    }

    fn copied(&self) -> Self {
        Arc::from(&self[..])
    }
}

impl From<Arc<Content>> for KeptAnswer {
    fn from(content: Arc<Content>) -> KeptAnswer {
        KeptAnswer::Page(content)
    }
}

impl From<Arc<str>> for KeptAnswer {
    fn from(text: Arc<str>) -> KeptAnswer {
        KeptAnswer::Document(text)
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// State of the files of a database, and of the own reference results beside it. Another state means that one was
/// replaced or written to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Stamp([[i64; 4]; 3]);

impl Stamp {
    pub(crate) fn of(database: &Path) -> Stamp {
        let mut wal = database.as_os_str().to_owned();
        wal.push("-wal");
        let references = own_path_beside(database);
        let state = |path: &Path| match path.metadata() {
            Ok(file) => [
                file.ino() as i64,
                file.size() as i64,
                file.mtime(),
                file.mtime_nsec(),
            ],
            Err(_) => [0; 4],
        };
        Stamp([database, Path::new(&wal), &references].map(state))
    }
}

thread_local! {
    /// The read-only connection of a worker thread, and the state of the files when it was opened.
    static CONNECTION: RefCell<Option<(Stamp, Store)>> = const { RefCell::new(None) };
}

/// Runs a function with the read-only connection of this thread. It is opened again when the files have changed, because
/// an older schema is read from a copy, and the file may have been replaced.
fn with_store<T>(
    database: &Path,
    work: impl FnOnce(&Store) -> anyhow::Result<T>,
) -> anyhow::Result<T> {
    let stamp = Stamp::of(database);
    let kept = CONNECTION.take().filter(|(of, _)| *of == stamp);
    let store = match kept {
        Some((_, store)) => store,
        None => read(database)?,
    };
    let done = work(&store);
    // A connection with an error is not used again: the database may be damaged or replaced.
    if done.is_ok() {
        CONNECTION.set(Some((stamp, store)));
    }
    done
}

/// Opens the database; one that does not exist yet is empty.
fn read(database: &Path) -> Result<Store, OpenError> {
    match Store::read(database) {
        Err(OpenError::Absent { path }) => Store::empty(path),
        opened => opened,
    }
}

/// Runs a function with a read-only connection and the language of the viewer, on a worker thread.
///
/// # Errors
/// Those of the function, of opening the database, and of a function that panicked.
pub(crate) async fn blocking<T: Send + 'static>(
    state: &AppState,
    viewer: &Viewer,
    work: impl FnOnce(&Store) -> anyhow::Result<T> + Send + 'static,
) -> anyhow::Result<T> {
    let (state, language) = (Arc::clone(state), viewer.language);
    let job = move || with_language(language, || with_store(&state.options.database, work));
    match tokio::task::spawn_blocking(job).await {
        Ok(done) => done,
        Err(error) => Err(error.into()),
    }
}

/// An answer that is kept.
#[derive(Clone, Debug)]
pub(crate) enum KeptAnswer {
    /// Content of a page.
    Page(Arc<Content>),
    /// Document for programs.
    Document(Arc<str>),
}

impl KeptAnswer {
    /// Size in memory, in bytes.
    fn size(&self) -> usize {
        match self {
            KeptAnswer::Page(content) => content.size(),
            KeptAnswer::Document(text) => text.len(),
        }
    }
}

/// Answers that are costly to compute, as long as the database does not change.
#[derive(Default)]
pub(crate) struct AnswerCache {
    stamp: Stamp,
    /// Keys with answers, the last used last.
    answers: Vec<(String, KeptAnswer)>,
    bytes: usize,
}

/// Maximum size of the kept answers, in bytes.
const MOST_BYTES: usize = 4 << 20;

impl AnswerCache {
    pub(crate) fn get(&mut self, stamp: Stamp, key: &str) -> Option<KeptAnswer> {
        if stamp != self.stamp {
            *self = AnswerCache {
                stamp,
                ..AnswerCache::default()
            };
        }
        let at = self.answers.iter().position(|(known, _)| known == key)?;
        let found = self.answers.remove(at);
        let answer = found.1.clone();
        self.answers.push(found);
        Some(answer)
    }

    pub(crate) fn put(&mut self, stamp: Stamp, key: String, answer: KeptAnswer) {
        let size = answer.size() + key.len();
        // Another worker may have computed the same meanwhile.
        let is_known = self.answers.iter().any(|(known, _)| *known == key);
        if stamp != self.stamp || is_known || size > MOST_BYTES / 2 {
            return;
        }
        while self.bytes + size > MOST_BYTES && !self.answers.is_empty() {
            let (key, oldest) = self.answers.remove(0);
            self.bytes -= oldest.size() + key.len();
        }
        self.bytes += size;
        self.answers.push((key, answer));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::html::Html;
    use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
    use std::time::Duration;

    fn content(size: usize) -> KeptAnswer {
        let mut main = Html::new();
        main.text(&"x".repeat(size));
        KeptAnswer::Page(Arc::new(Content::own("", &Html::new(), &main)))
    }

    #[test]
    fn the_cache_has_a_bound_and_forgets_pages_of_another_state() {
        let (old, new) = (Stamp([[1; 4]; 3]), Stamp([[2; 4]; 3]));
        let mut cache = AnswerCache::default();
        assert!(cache.get(old, "a").is_none());
        for n in 0..20 {
            cache.put(old, n.to_string(), content(500_000));
        }
        let bytes = cache.bytes;
        cache.put(old, "19".to_owned(), KeptAnswer::Document("again".into()));
        assert_eq!(cache.bytes, bytes);
        assert!(cache.bytes <= MOST_BYTES && cache.get(old, "19").is_some());
        assert!(cache.get(old, "0").is_none());
        cache.put(old, "huge".to_owned(), content(MOST_BYTES));
        assert!(cache.get(old, "huge").is_none());
        assert!(cache.get(new, "19").is_none() && cache.bytes == 0);
    }

    /// Regression: workers that were asked for the same page of a card each read all its runs, at the same time.
    #[test]
    fn costly_answers_are_built_once_and_one_at_a_time() {
        let dir = tempfile::tempdir().unwrap();
        let database = dir.path().join("x.db");
        drop(Store::open(&database).unwrap());
        let (token, _) = TokenFile::open(&TokenFile::path(&database), false).unwrap();
        let options = ServeOptions {
            listen: ([127, 0, 0, 1], 0).into(),
            hosts: Vec::new(),
            read_only: false,
            program: "/bin/sh".into(),
            database,
        };
        let state = WebState {
            live: LiveHub::begin(&options),
            options,
            token,
            guesses: Guesses::default(),
            cache: Mutex::default(),
            building: Mutex::default(),
            host: String::new(),
        };
        let building = Mutex::new(());
        let built = AtomicUsize::new(0);
        let build = || {
            let _alone = building.try_lock().expect("one at a time");
            std::thread::sleep(Duration::from_millis(20));
            built.fetch_add(1, Relaxed);
            Ok(Arc::<str>::from("x"))
        };
        std::thread::scope(|scope| {
            for client in 0..8 {
                let key = (client % 2).to_string();
                let (state, build) = (&state, &build);
                scope.spawn(move || state.kept_or_built(key, build).unwrap());
            }
        });
        assert_eq!(built.load(Relaxed), 2);
    }

    #[test]
    fn a_database_that_appears_or_changes_has_another_stamp() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("x.db");
        let absent = Stamp::of(&path);
        assert_eq!(with_store(&path, |store| Ok(store.count()?)).unwrap(), 0);
        drop(Store::open(&path).unwrap());
        let present = Stamp::of(&path);
        assert_ne!(present, absent);
        // Regression: pages that show own reference results were kept although these had changed.
        std::fs::write(own_path_beside(&path), "{}").unwrap();
        assert_ne!(Stamp::of(&path), present);
        assert_eq!(with_store(&path, |store| Ok(store.count()?)).unwrap(), 0);
        std::fs::write(&path, "not a database, although it is where one was").unwrap();
        assert!(with_store(&path, |store| Ok(store.count()?)).is_err());
    }
}
