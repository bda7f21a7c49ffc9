//! Taking one step back: what is undone is named by the journal, and nothing else is touched.

use super::journal::Undo;
use super::{PrepareError, io_error, level, mounting};
use crate::chain;
use crate::mounts;
use crate::roots::Roots;
use std::io;
use std::path::Path;

/// What became of an undo.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum UndoOutcome {
    Undone,
    /// There was nothing left to undo.
    Gone,
}

/// Takes a step back, or finds that nothing of it is left.
pub(super) fn apply(undo: &Undo, roots: &Roots) -> Result<UndoOutcome, PrepareError> {
    match undo {
        Undo::Nothing => Ok(UndoOutcome::Gone),
        Undo::Unmount { at, device } => {
            if !is_mounted(at, device, roots) {
                return Ok(UndoOutcome::Gone);
            }
            mounting::unmount(at)?;
            Ok(UndoOutcome::Undone)
        }
        Undo::RemoveFolder { path } => match std::fs::remove_dir(path) {
            Ok(()) => Ok(UndoOutcome::Undone),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(UndoOutcome::Gone),
            Err(source) => Err(io_error(path, "removed", source)),
        },
        Undo::RemoveFiles { folder } if folder.exists() => {
            level::remove(folder)?;
            Ok(UndoOutcome::Undone)
        }
        Undo::RemoveFiles { .. } => Ok(UndoOutcome::Gone),
        Undo::RemoveTree { folder } => remove_tree(folder),
    }
}

/// Names of folders that hold nothing but files of ours begin with this.
pub const OWN_FOLDER: &str = ".hakaru-";

/// Removes a folder of ours with all that is in it; a journal that was tampered with leads to no other.
fn remove_tree(folder: &Path) -> Result<UndoOutcome, PrepareError> {
    let is_ours = |name: &std::ffi::OsStr| {
        name.to_string_lossy()
            .strip_prefix(OWN_FOLDER)
            .is_some_and(|rest| !rest.is_empty())
    };
    if !folder.file_name().is_some_and(is_ours) {
        let text = format!("only folders whose names begin with `{OWN_FOLDER}` are ours to remove");
        return Err(io_error(
            folder,
            "removed",
            io::Error::new(io::ErrorKind::InvalidInput, text),
        ));
    }
    match std::fs::remove_dir_all(folder) {
        Ok(()) => Ok(UndoOutcome::Undone),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(UndoOutcome::Gone),
        Err(source) => Err(io_error(folder, "removed", source)),
    }
}

/// Whether this very device is mounted there: whatever else may be by now is left alone.
pub(super) fn is_mounted(at: &Path, device: &str, roots: &Roots) -> bool {
    let mounts = mounts::mounts(roots);
    // The table names folders without links on the way.
    let real = at.canonicalize().unwrap_or_else(|_| at.to_owned());
    let Some(mount) = mounts.iter().rfind(|mount| mount.mount_point == real) else {
        return false;
    };
    // A card that was pulled has no node any more, and its file system is mounted all the same.
    mount.number.to_string() == device
        || chain::nodes_of_mount(mount, roots, &mounts)
            .iter()
            .any(|node| node.number.to_string() == device)
}
