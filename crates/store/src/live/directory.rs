//! The directory of live states of one database.

use super::owner::LiveOwner;
use hakaru_model::hash::fnv1a;
use rustix::fs::{Mode, OFlags};
use std::ffi::OsStr;
use std::fs::{DirBuilder, File, Metadata};
use std::io::{self, Read};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};

/// File systems in memory that may hold the directory.
const MEMORY: &str = "/dev/shm";

/// File name ending of a state.
pub(super) const STATE: &str = "json";
/// File name ending of a state that is being written.
pub(super) const UNBORN: &str = "new";
/// File name ending of a ring of samples.
pub(super) const SAMPLES: &str = "samples";
/// File name ending of the mark of a reading process.
pub(super) const WATCH: &str = "watch";
/// First part of the file name ending of a request.
pub(super) const REQUEST: &str = "request";

/// A private directory of live states.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct LiveDirectory {
    path: PathBuf,
}

impl LiveDirectory {
    /// Returns the directories that may hold the states of a database, best first. They need not exist.
    ///
    /// A directory on a disk is not used: its writes would disturb the measurement.
    pub(super) fn candidates(database: &Path) -> Vec<LiveDirectory> {
        let hash = fnv1a(resolved(database).as_os_str().as_bytes());
        let uid = rustix::process::geteuid().as_raw();
        let runtime = std::env::var_os("XDG_RUNTIME_DIR").map(PathBuf::from);
        let runtime = runtime.filter(|path| path.is_absolute());
        [Some(PathBuf::from(MEMORY)), runtime]
            .into_iter()
            .flatten()
            .map(|root| LiveDirectory {
                path: root.join(format!("hakaru-{uid}-{hash:016x}")),
            })
            .collect()
    }

    /// Creates the directory if needed. Fails if somebody else made it, or if others may use it.
    pub(super) fn create(&self) -> io::Result<()> {
        match DirBuilder::new().mode(0o700).create(&self.path) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            made => made?,
        }
        self.check()
    }

    /// Checks that the directory is private. In a directory with the sticky bit, others cannot replace it.
    pub(super) fn check(&self) -> io::Result<()> {
        let found = self.path.symlink_metadata()?;
        if found.is_dir() && is_own(&found) && found.mode() & 0o077 == 0 {
            return Ok(());
        }
        Err(io::Error::new(
            io::ErrorKind::PermissionDenied,
            "it is not a private directory of this user",
        ))
    }

    /// Removes the directory if it is empty.
    pub(super) fn remove_if_empty(&self) {
        let _ = std::fs::remove_dir(&self.path);
    }

    /// Returns the path of a file of a process.
    pub(super) fn file(&self, owner: LiveOwner, ending: &str) -> PathBuf {
        self.path.join(format!("{owner}.{ending}"))
    }

    /// Lists the files of all processes, with the endings of their names. Other names are ignored.
    pub(super) fn files(&self) -> Vec<(LiveOwner, String)> {
        let entries = std::fs::read_dir(&self.path).into_iter().flatten();
        let names = entries.flatten().map(|entry| entry.file_name());
        names.filter_map(|name| parsed(&name)).collect()
    }

    /// Removes all files of processes that no longer exist, except states.
    pub(super) fn remove_remains(&self) {
        let mut files = self.files();
        files.sort();
        for group in files.chunk_by(|one, other| one.0 == other.0) {
            let owner = group[0].0;
            let has_state = group.iter().any(|(_, ending)| ending == STATE);
            // A dead owner with a state is reported once before its files are removed.
            if !has_state && !owner.is_alive() {
                self.remove_all(owner);
            }
        }
    }

    /// Removes what killed processes left for databases that nobody watches.
    pub(super) fn sweep_others(&self) {
        let root = self.path.parent().unwrap_or(Path::new("/"));
        let uid = rustix::process::geteuid().as_raw();
        let prefix = format!("hakaru-{uid}-");
        let entries = std::fs::read_dir(root).into_iter().flatten().flatten();
        let is_ours = |name: &OsStr| name.to_str().is_some_and(|name| name.starts_with(&prefix));
        for entry in entries.filter(|entry| is_ours(&entry.file_name())) {
            let other = LiveDirectory { path: entry.path() };
            if other == *self || other.check().is_err() {
                continue;
            }
            let mut dead: Vec<LiveOwner> = other.files().iter().map(|file| file.0).collect();
            dead.dedup();
            dead.retain(|owner| !owner.is_alive());
            // Checked last: a reader that watched before the process died is seen here, however long this took.
            if other.is_watched() {
                continue;
            }
            for owner in dead {
                other.remove_all(owner);
            }
            other.remove_if_empty();
        }
    }

    /// Whether a running process reads the states.
    pub(super) fn is_watched(&self) -> bool {
        let files = self.files().into_iter();
        let mut watches = files.filter(|(_, ending)| ending == WATCH);
        watches.any(|(reader, _)| reader.is_alive())
    }

    /// Removes all files of a process.
    pub(super) fn remove_all(&self, owner: LiveOwner) {
        for (_, ending) in self.files().iter().filter(|(of, _)| *of == owner) {
            let _ = std::fs::remove_file(self.file(owner, ending));
        }
    }
}

fn parsed(name: &OsStr) -> Option<(LiveOwner, String)> {
    let (owner, ending) = name.to_str()?.split_once('.')?;
    Some((owner.parse().ok()?, ending.to_owned()))
}

/// Returns the path of a database without links, so that each of its names leads to the same directory.
fn resolved(database: &Path) -> PathBuf {
    let absolute = || std::path::absolute(database).unwrap_or_else(|_| database.to_owned());
    let resolved = std::fs::canonicalize(database).ok().or_else(|| {
        // A database that does not exist yet.
        let absolute = absolute();
        let folder = std::fs::canonicalize(absolute.parent()?).ok()?;
        Some(folder.join(absolute.file_name()?))
    });
    resolved.unwrap_or_else(absolute)
}

fn is_own(found: &Metadata) -> bool {
    found.uid() == rustix::process::geteuid().as_raw()
}

/// Creates a private file of this process, or empties it.
pub(super) fn create(path: &Path) -> io::Result<File> {
    let flags = OFlags::CREATE | OFlags::RDWR | OFlags::TRUNC | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let file = rustix::fs::open(path, flags, Mode::RUSR | Mode::WUSR)?;
    own_file(File::from(file))
}

/// Opens a file of this user for reading; links and files of others are errors.
pub(super) fn open(path: &Path) -> io::Result<File> {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let file = rustix::fs::open(path, flags, Mode::empty())?;
    own_file(File::from(file))
}

fn own_file(file: File) -> io::Result<File> {
    let found = file.metadata()?;
    match found.is_file() && is_own(&found) {
        true => Ok(file),
        false => Err(io::Error::new(
            io::ErrorKind::PermissionDenied,
            "it is not a file of this user",
        )),
    }
}

/// Reads a file of this user with at most `longest` bytes.
pub(super) fn read(path: &Path, longest: u64) -> io::Result<Vec<u8>> {
    let mut text = Vec::new();
    open(path)?.take(longest + 1).read_to_end(&mut text)?;
    match text.len() as u64 > longest {
        true => Err(io::Error::new(io::ErrorKind::InvalidData, "it is too long")),
        false => Ok(text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_name_of_a_database_has_one_directory() {
        let dir = tempfile::tempdir().unwrap();
        let (real, link) = (dir.path().join("a.db"), dir.path().join("b.db"));
        let before = LiveDirectory::candidates(&real);
        std::fs::write(&real, "").unwrap();
        std::os::unix::fs::symlink(&real, &link).unwrap();
        assert_eq!(LiveDirectory::candidates(&real), before);
        assert_eq!(LiveDirectory::candidates(&link), before);
        assert_ne!(LiveDirectory::candidates(&dir.path().join("c.db")), before);
    }

    #[test]
    fn a_directory_that_others_can_use_is_refused() {
        use std::os::unix::fs::PermissionsExt;
        let dir = tempfile::tempdir().unwrap();
        let live = LiveDirectory {
            path: dir.path().join("live"),
        };
        live.create().unwrap();
        live.create().unwrap();
        let open = std::fs::Permissions::from_mode(0o755);
        std::fs::set_permissions(&live.path, open).unwrap();
        assert!(live.create().is_err());
        live.remove_if_empty();
        let elsewhere = tempfile::tempdir().unwrap();
        std::os::unix::fs::symlink(elsewhere.path(), &live.path).unwrap();
        assert!(live.create().is_err());
    }

    #[test]
    fn links_pipes_and_long_files_are_not_read() {
        let dir = tempfile::tempdir().unwrap();
        let path = |name: &str| dir.path().join(name);
        std::fs::write(path("file"), "12345").unwrap();
        std::os::unix::fs::symlink(path("file"), path("link")).unwrap();
        let mode = Mode::RUSR | Mode::WUSR;
        rustix::fs::mknodat(
            rustix::fs::CWD,
            path("pipe"),
            rustix::fs::FileType::Fifo,
            mode,
            0,
        )
        .unwrap();
        assert_eq!(read(&path("file"), 5).unwrap(), b"12345");
        assert!(read(&path("file"), 4).is_err());
        assert!(read(&path("link"), 5).is_err());
        assert!(read(&path("pipe"), 5).is_err());
        assert!(create(&path("link")).is_err());
    }
}
