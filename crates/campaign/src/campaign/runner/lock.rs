//! The locks that prevent two processes from carrying out the same campaign, or measuring the same card.

use super::super::card_finder::FoundCard;
use super::super::outcome::CampaignError;
use super::super::spec::CardLocation;
use super::Runner;
use hakaru_device::{LockError, MeasurementLock};
use hakaru_report::both;
use rustix::fs::FlockOperation;
use rustix::io::Errno;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::rc::{Rc, Weak};
use std::time::Duration;

/// Lock of a campaign, because two processes would disturb each other's measurements. Dropping it removes its file.
pub(super) struct Lock {
    path: PathBuf,
    _file: File,
}

impl Drop for Lock {
    fn drop(&mut self) {
        // The file is removed while the lock is held: other processes check that the path still names the locked
        // file.
        let _ = std::fs::remove_file(&self.path);
    }
}

pub(super) fn lock(state: &Path, id: &str) -> Result<Lock, CampaignError> {
    let failed = |path: &Path, doing, source| CampaignError::State {
        path: path.to_owned(),
        doing,
        source,
    };
    std::fs::create_dir_all(state).map_err(|source| failed(state, "made", source))?;
    let path = state.join(format!("campaign-{id}.lock"));
    remove_left_locks(state, &path);
    loop {
        let file = File::options()
            .create(true)
            .truncate(false)
            .write(true)
            .open(&path);
        let file = file.map_err(|source| failed(&path, "written", source))?;
        match lock_patiently(&file) {
            Ok(()) => {}
            Err(Errno::WOULDBLOCK) => return Err(CampaignError::Busy { id: id.to_owned() }),
            Err(error) => return Err(failed(&path, "locked", error.into())),
        }
        // Another process may have removed the file between opening and locking it.
        if is_at(&file, &path) {
            return Ok(Lock { path, _file: file });
        }
    }
}

/// Waits up to a second for the lock. Other processes may hold it briefly: one that cleans up old locks, or a new
/// process that has not yet executed its program.
fn lock_patiently(file: &File) -> Result<(), Errno> {
    for _ in 0..50 {
        match rustix::fs::flock(file, FlockOperation::NonBlockingLockExclusive) {
            Err(Errno::WOULDBLOCK) => std::thread::sleep(Duration::from_millis(20)),
            ended => return ended,
        }
    }
    Err(Errno::WOULDBLOCK)
}

/// Whether an open file is the one at a path.
fn is_at(file: &File, path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    let number = |metadata: std::fs::Metadata| (metadata.dev(), metadata.ino());
    let (open, there) = (
        file.metadata().map(number),
        std::fs::metadata(path).map(number),
    );
    matches!((open, there), (Ok(open), Ok(there)) if open == there)
}

/// Removes the lock files of campaigns that were killed.
fn remove_left_locks(state: &Path, own: &Path) {
    let Ok(entries) = std::fs::read_dir(state) else {
        return;
    };
    for path in entries
        .flatten()
        .map(|entry| entry.path())
        .filter(|path| path != own)
    {
        let name = path
            .file_name()
            .and_then(|name| name.to_str())
            .unwrap_or_default();
        let is_lock = name.starts_with("campaign-") && name.ends_with(".lock");
        let Some(file) = is_lock
            .then(|| File::options().write(true).open(&path).ok())
            .flatten()
        else {
            continue;
        };
        let free = rustix::fs::flock(&file, FlockOperation::NonBlockingLockExclusive).is_ok();
        if free && is_at(&file, &path) {
            let _ = std::fs::remove_file(&path);
        }
    }
}

/// Interval in which a held lock is tried again.
const TRY_AGAIN: Duration = Duration::from_millis(200);

impl Runner<'_> {
    /// Locks a card, and waits while another process measures it; a stop ends the wait. `None` if there is nothing to
    /// lock, or locks are unavailable.
    pub(super) fn lock_card(
        &mut self,
        index: usize,
        found: &FoundCard,
    ) -> Option<Rc<MeasurementLock>> {
        let card = &self.campaign.cards[index];
        let path = match (&found.disk, &card.location) {
            (Some(disk), _) => disk.node.clone(),
            (None, CardLocation::Folder(folder)) => folder.clone(),
            (None, _) => return None,
        };
        let name = hakaru_device::lock_name(&path, &self.roots)?;
        self.locks.retain(|lock| lock.strong_count() > 0);
        let own = self.locks.iter().filter_map(Weak::upgrade);
        if let Some(lock) = own.into_iter().find(|lock| lock.name() == name) {
            return Some(lock);
        }
        let mut reported = false;
        loop {
            match MeasurementLock::acquire(&name) {
                Ok(lock) => {
                    let lock = Rc::new(lock);
                    self.locks.push(Rc::downgrade(&lock));
                    return Some(lock);
                }
                Err(LockError::Held(holder)) if !self.is_stopped() => {
                    if !std::mem::replace(&mut reported, true) {
                        let path = path.display();
                        self.operator.note(&both!(
                            "{path} is being measured by process {holder}; waiting until it ends",
                            "{path}はプロセス{holder}が測定中です。終わるまで待ちます"
                        ));
                    }
                    std::thread::sleep(TRY_AGAIN);
                }
                Err(LockError::Held(_) | LockError::Failed(_)) => return None,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Opens and locks the lock file of a campaign like another process.
    fn held(state: &Path) -> File {
        let file = File::create(state.join("campaign-x.lock")).unwrap();
        rustix::fs::flock(&file, FlockOperation::NonBlockingLockExclusive).unwrap();
        file
    }

    #[test]
    fn a_lock_held_for_a_moment_is_waited_for() {
        let state = tempfile::tempdir().unwrap();
        let file = held(state.path());
        std::thread::scope(|scope| {
            scope.spawn(move || {
                std::thread::sleep(Duration::from_millis(30));
                drop(file);
            });
            assert!(lock(state.path(), "x").is_ok());
        });
        assert!(!state.path().join("campaign-x.lock").exists());
    }

    #[test]
    fn a_lock_held_for_long_is_busy() {
        let state = tempfile::tempdir().unwrap();
        let _held = held(state.path());
        let locked = lock(state.path(), "x").map(|_| ());
        assert!(matches!(locked, Err(CampaignError::Busy { id }) if id == "x"));
    }

    #[test]
    fn locks_left_behind_are_removed_and_held_ones_stay() {
        let state = tempfile::tempdir().unwrap();
        let _held = held(state.path());
        File::create(state.path().join("campaign-left.lock")).unwrap();
        drop(lock(state.path(), "y").unwrap());
        let names: Vec<_> = std::fs::read_dir(state.path())
            .unwrap()
            .map(|entry| entry.unwrap().file_name())
            .collect();
        assert_eq!(names, ["campaign-x.lock"]);
    }
}
