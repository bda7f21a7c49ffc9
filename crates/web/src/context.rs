//! The state of the server, and work on the database away from the thread that serves the network.

use crate::access::{Client, Guesses, Viewer};
use crate::kept::{AnswerCache, CostlyAnswer, PackedAnswer};
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
            found
                .and_then(|packed| packed.unpacked())
                .and_then(T::of_parts)
                .ok_or(stamp)
        };
        if let Ok(answer) = kept(&key) {
            return Ok(answer);
        }
        let _one_at_a_time = locked(&self.building);
        // Another worker may have built it meanwhile.
        match kept(&key) {
            Ok(answer) => Ok(answer),
            Err(stamp) => {
                let answer = build()?;
                let packed = PackedAnswer::of(&answer.parts());
                locked(&self.cache).put(stamp, key, packed);
                Ok(answer)
            }
        }
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// State of the files of a database, and of the own reference results beside it. Another state means that one was
/// replaced or written to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Stamp(pub(crate) [[i64; 4]; 3]);

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

/// Memory of a connection for pages of the database, in KiB. The system caches the file anyway.
const DATABASE_CACHE_KIB: u32 = 512;

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
        None => {
            let store = read(database)?;
            store.limit_cache(DATABASE_CACHE_KIB)?;
            store
        }
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

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
    use std::time::Duration;

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
            Ok("x".to_owned())
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
