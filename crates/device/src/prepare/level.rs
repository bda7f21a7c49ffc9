//! Fills a mounted file system to a given level: a nearly full card behaves differently from an
//! empty one.
//!
//! Writes files of random bytes in a separate directory: reserved but unwritten space would not use
//! any flash.

use super::fill::{self, CHUNK, random_bytes};
use crate::blockdev::OnProgress;
use hakaru_model::rng::Rng;
use hakaru_model::units::{Bytes, Nanos};
use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};

/// Name of the directory of the filler files.
pub(super) const FOLDER: &str = ".hakaru-fill";

/// Size of each filler file in bytes: below the 4 GiB limit of FAT, and small enough that an aborted file wastes little
/// time.
const FILE_SIZE: u64 = 1 << 30;

/// Errors of filling a file system.
#[derive(Debug, thiserror::Error)]
pub enum LevelError {
    /// The percentage is above the maximum.
    #[error("fill level {percent}% is not possible: the maximum is 99%")]
    TooHigh {
        /// The requested value.
        percent: u32,
    },
    /// A file operation failed.
    #[error("{path} cannot be {doing}: {source}")]
    Io {
        /// Which file or directory.
        path: PathBuf,
        /// `written`, `removed`, `looked at`.
        doing: &'static str,
        /// The I/O error.
        source: io::Error,
    },
    /// The disk was removed.
    #[error("the disk of {path} was removed while it was written")]
    Pulled {
        /// The file.
        path: PathBuf,
    },
    /// The buffer cannot be allocated.
    #[error(transparent)]
    Memory(#[from] fill::FillError),
    /// Stopped by the user.
    #[error("filling was stopped after {done}")]
    Interrupted {
        /// Bytes written before that.
        done: Bytes,
    },
}

/// Returns the bytes to write to reach a fill level of `percent`.
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

/// Writes files of random bytes of the given total size into `folder`, which exists and is empty.
pub(super) fn write(
    folder: &Path,
    size: Bytes,
    seed: u64,
    on_progress: &mut OnProgress<'_>,
) -> Result<(), LevelError> {
    let mut buffer = fill::buffer(CHUNK)?;
    let begin = hakaru_sys::clock::monotonic();
    let mut done = 0;
    for index in 0..size.0.div_ceil(FILE_SIZE) {
        let path = folder.join(format!("{index:04}"));
        let file = OpenOptions::new().write(true).create_new(true).open(&path);
        let mut file = file.map_err(|source| io_error(&path, "written", source))?;
        let end = size.0.min(done + FILE_SIZE);
        while done < end {
            let len = (end - done).min(CHUNK as u64) as usize;
            let chunk = &mut buffer.as_mut_slice()[..len];
            random_bytes(Rng::fork(seed, done), chunk);
            file.write_all(chunk)
                .map_err(|source| unless_pulled(&file, &path, source))?;
            done += len as u64;
            let elapsed = Nanos(hakaru_sys::clock::monotonic().saturating_sub(begin));
            let progress = fill::progress("filling up", Bytes(done), size, elapsed);
            if on_progress(progress).is_break() {
                return Err(LevelError::Interrupted { done: Bytes(done) });
            }
        }
        file.sync_all()
            .map_err(|source| unless_pulled(&file, &path, source))?;
    }
    Ok(())
}

/// Removes the filler files and their directory. The directory stays if it contains anything else.
pub(super) fn remove(folder: &Path) -> Result<(), LevelError> {
    if folder.file_name().is_none_or(|name| name != FOLDER) {
        let source = io::Error::new(
            io::ErrorKind::InvalidInput,
            format!("only a directory named `{FOLDER}` may be removed"),
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
    // The space is free only when the file system reports it.
    let parent = folder.parent().and_then(|parent| File::open(parent).ok());
    parent.map_or(Ok(()), |parent| {
        rustix::fs::syncfs(&parent).map_err(|e| io_error(folder, "removed", e.into()))
    })
}

/// Replaces the I/O error of a removed disk: the disk is neither full nor faulty.
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
    fn no_other_directory_is_removed() {
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
