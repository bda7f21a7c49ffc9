//! The state of the server, and work on the database away from the thread that serves the network.

use crate::access::{Client, Guesses, Viewer};
use crate::live::LiveHub;
use crate::token::TokenFile;
use hakaru_report::with_language;
use hakaru_store::{OpenError, Store};
use std::cell::RefCell;
use std::net::SocketAddr;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

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
    pub(crate) cache: Mutex<PageCache>,
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
}

/// State of the files of a database. Another state means that the database was replaced or written to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Stamp([i64; 7]);

impl Stamp {
    pub(crate) fn of(database: &Path) -> Stamp {
        let mut wal = database.as_os_str().to_owned();
        wal.push("-wal");
        let mut stamp = [0; 7];
        if let Ok(file) = database.metadata() {
            stamp[..4].copy_from_slice(&[
                file.ino() as i64,
                file.size() as i64,
                file.mtime(),
                file.mtime_nsec(),
            ]);
        }
        if let Ok(file) = Path::new(&wal).metadata() {
            stamp[4..].copy_from_slice(&[file.size() as i64, file.mtime(), file.mtime_nsec()]);
        }
        Stamp(stamp)
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

/// Contents of pages that are costly to compute, as long as the database does not change.
#[derive(Default)]
pub(crate) struct PageCache {
    stamp: Stamp,
    /// Keys with contents, the last used last.
    pages: Vec<(String, Arc<crate::frame::Content>)>,
    bytes: usize,
}

/// Maximum size of the kept contents, in bytes.
const MOST_BYTES: usize = 4 << 20;

impl PageCache {
    pub(crate) fn get(&mut self, stamp: Stamp, key: &str) -> Option<Arc<crate::frame::Content>> {
        if stamp != self.stamp {
            *self = PageCache {
                stamp,
                ..PageCache::default()
            };
        }
        let at = self.pages.iter().position(|(known, _)| known == key)?;
        let found = self.pages.remove(at);
        let content = Arc::clone(&found.1);
        self.pages.push(found);
        Some(content)
    }

    pub(crate) fn put(&mut self, stamp: Stamp, key: String, content: &Arc<crate::frame::Content>) {
        let size = content.size() + key.len();
        if stamp != self.stamp || size > MOST_BYTES / 2 {
            return;
        }
        while self.bytes + size > MOST_BYTES && !self.pages.is_empty() {
            let (key, oldest) = self.pages.remove(0);
            self.bytes -= oldest.size() + key.len();
        }
        self.bytes += size;
        self.pages.push((key, Arc::clone(content)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frame::Content;
    use crate::html::Html;

    fn content(size: usize) -> Arc<Content> {
        let mut main = Html::new();
        main.text(&"x".repeat(size));
        Arc::new(Content::own("", &Html::new(), &main))
    }

    #[test]
    fn the_cache_has_a_bound_and_forgets_pages_of_another_state() {
        let (old, new) = (Stamp([1; 7]), Stamp([2; 7]));
        let mut cache = PageCache::default();
        assert!(cache.get(old, "a").is_none());
        for n in 0..20 {
            cache.put(old, n.to_string(), &content(500_000));
        }
        assert!(cache.bytes <= MOST_BYTES && cache.get(old, "19").is_some());
        assert!(cache.get(old, "0").is_none());
        cache.put(old, "huge".to_owned(), &content(MOST_BYTES));
        assert!(cache.get(old, "huge").is_none());
        assert!(cache.get(new, "19").is_none() && cache.bytes == 0);
    }

    #[test]
    fn a_database_that_appears_or_changes_has_another_stamp() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("x.db");
        let absent = Stamp::of(&path);
        assert_eq!(with_store(&path, |store| Ok(store.count()?)).unwrap(), 0);
        drop(Store::open(&path).unwrap());
        assert_ne!(Stamp::of(&path), absent);
        assert_eq!(with_store(&path, |store| Ok(store.count()?)).unwrap(), 0);
        std::fs::write(&path, "not a database, although it is where one was").unwrap();
        assert!(with_store(&path, |store| Ok(store.count()?)).is_err());
    }
}
