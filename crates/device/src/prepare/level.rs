//! Filling a mounted file system up to a level, because a card that is nearly full behaves unlike an empty one.
//!
//! Files of random bytes, in a folder of their own: reserved but unwritten space would not use up any flash.

use super::fill::{self, CHUNK, random_bytes};
use crate::blockdev::{OnProgress, ScanProgress};
use hakaru_model::rng::Rng;
use hakaru_model::units::{Bytes, Nanos};
use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};

/// Name of the folder that the files are in.
pub(super) const FOLDER: &str = ".hakaru-fill";

/// Under the 4 GiB that FAT allows, and small enough that a short one wastes little time.
const FILE_SIZE: u64 = 1 << 30;

/// Why a level was not reached.
#[derive(Debug, thiserror::Error)]
pub enum LevelError {
    /// A share over 100 %.
    #[error("a level of {percent} % cannot be reached: up to 99 can")]
    TooHigh {
        /// What was asked for.
        percent: u32,
    },
    /// The file system refused.
    #[error("{path} cannot be {doing}: {source}")]
    Io {
        /// Which file or folder.
        path: PathBuf,
        /// `written`, `removed`, `looked at`.
        doing: &'static str,
        /// The system's word.
        source: io::Error,
    },
    /// The disk below it is not there any more.
    #[error("the disk below {path} was pulled while it was written")]
    Pulled {
        /// Which file.
        path: PathBuf,
    },
    /// No memory for the buffer.
    #[error(transparent)]
    Memory(#[from] fill::FillError),
    /// Somebody ended it.
    #[error("filling up was ended after {done}")]
    Interrupted {
        /// Bytes written until then.
        done: Bytes,
    },
}

/// Bytes that have to be written so that so many hundredths of the file system are used.
pub(super) fn needed(folder: &Path, percent: u32) -> Result<Bytes, LevelError> {
    if percent > 99 {
        return Err(LevelError::TooHigh { percent });
    }
    let failed = |error: rustix::io::Errno| io_error(folder, "looked at", error.into());
    let stat = rustix::fs::statvfs(folder).map_err(failed)?;
    let used = stat.f_blocks.saturating_sub(stat.f_bfree);
    let wanted =
        u64::try_from(u128::from(stat.f_blocks) * u128::from(percent) / 100).unwrap_or(u64::MAX);
    Ok(Bytes(
        wanted
            .saturating_sub(used)
            .min(stat.f_bavail)
            .saturating_mul(stat.f_frsize),
    ))
}

/// Writes files of random bytes, so many in all, into `folder`, which exists and is empty.
pub(super) fn write(
    folder: &Path,
    size: Bytes,
    seed: u64,
    on_progress: &mut OnProgress<'_>,
) -> Result<(), LevelError> {
    let mut buffer = fill::buffer(CHUNK)?;
    let begin = hakaru_sys::clock::monotonic();
    let mut done = 0;
    for index in 0.. {
        if done >= size.0 {
            break;
        }
        let path = folder.join(format!("{index:04}"));
        let file = OpenOptions::new().write(true).create_new(true).open(&path);
        let mut file = file.map_err(|source| io_error(&path, "written", source))?;
        let end = size.0.min(done + FILE_SIZE);
        while done < end {
            let len = usize::try_from(end - done).unwrap_or(CHUNK).min(CHUNK);
            let chunk = &mut buffer.as_mut_slice()[..len];
            random_bytes(Rng::fork(seed, done), chunk);
            file.write_all(chunk)
                .map_err(|source| unless_pulled(&file, &path, source))?;
            done += len as u64;
            let elapsed = Nanos(hakaru_sys::clock::monotonic().saturating_sub(begin));
            if on_progress(ScanProgress {
                doing: "filling up",
                done: Bytes(done),
                total: size,
                elapsed,
            })
            .is_break()
            {
                return Err(LevelError::Interrupted { done: Bytes(done) });
            }
        }
        file.sync_all()
            .map_err(|source| unless_pulled(&file, &path, source))?;
    }
    Ok(())
}

/// Removes the files of such a folder, and the folder. Whatever else is in it stays, and so does the folder then.
pub(super) fn remove(folder: &Path) -> Result<(), LevelError> {
    if folder.file_name().is_none_or(|name| name != FOLDER) {
        let source = io::Error::new(
            io::ErrorKind::InvalidInput,
            format!("only a folder `{FOLDER}` is ours to remove"),
        );
        return Err(io_error(folder, "removed", source));
    }
    for name in crate::roots::names(folder)
        .iter()
        .filter(|name| name.bytes().all(|b| b.is_ascii_digit()))
    {
        let path = folder.join(name);
        std::fs::remove_file(&path).map_err(|source| io_error(&path, "removed", source))?;
    }
    std::fs::remove_dir(folder).map_err(|source| io_error(folder, "removed", source))?;
    // The space is only free once the file system says so.
    let parent = folder.parent().and_then(|parent| File::open(parent).ok());
    parent.map_or(Ok(()), |parent| {
        rustix::fs::syncfs(&parent).map_err(|e| io_error(folder, "removed", e.into()))
    })
}

/// A disk that was pulled from below a mounted file system is not full, nor at fault.
fn unless_pulled(file: &File, path: &Path, source: io::Error) -> LevelError {
    match crate::freespace::lies_on_pulled(file.as_fd()) {
        true => LevelError::Pulled {
            path: path.to_owned(),
        },
        false => io_error(path, "written", source),
    }
}

fn io_error(path: &Path, doing: &'static str, source: io::Error) -> LevelError {
    LevelError::Io {
        path: path.to_owned(),
        doing,
        source,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::ops::ControlFlow;

    #[test]
    fn files_are_written_and_only_they_are_removed() {
        let base = tempfile::tempdir().unwrap();
        let folder = base.path().join(FOLDER);
        std::fs::create_dir(&folder).unwrap();
        write(&folder, Bytes(5 << 20), 1, &mut |_| {
            ControlFlow::Continue(())
        })
        .unwrap();
        assert_eq!(
            std::fs::metadata(folder.join("0000")).unwrap().len(),
            5 << 20
        );
        std::fs::write(folder.join("thesis.odt"), "years of work").unwrap();
        assert!(remove(&folder).is_err());
        assert_eq!(crate::roots::names(&folder), ["thesis.odt"]);
        std::fs::remove_file(folder.join("thesis.odt")).unwrap();
        remove(&folder).unwrap();
        assert!(!folder.exists());
    }

    #[test]
    fn no_other_folder_is_ours_to_remove() {
        let base = tempfile::tempdir().unwrap();
        std::fs::write(base.path().join("0000"), "a photo").unwrap();
        assert!(remove(base.path()).is_err());
        assert!(base.path().join("0000").exists());
    }

    #[test]
    fn a_level_below_the_present_one_needs_nothing() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(needed(folder.path(), 0).unwrap(), Bytes(0));
        assert!(matches!(
            needed(folder.path(), 100),
            Err(LevelError::TooHigh { percent: 100 })
        ));
    }
}
