//! Undoes one step: only what the journal names is touched.

use super::error::{PrepareError, io_error};
use super::journal::Undo;
use super::{level, mounting};
use crate::chain;
use crate::mounts;
use crate::roots::Roots;
use std::io;
use std::path::Path;

/// Result of an undo.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum UndoOutcome {
    Undone,
    /// There was nothing left to undo.
    Gone,
}

/// Undoes a step, or finds that there is nothing left.
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

/// Prefix of directories that contain only files of hakaru.
pub const OWN_FOLDER: &str = ".hakaru-";

/// Removes a directory of hakaru with its content; a forged journal cannot lead to any other.
fn remove_tree(folder: &Path) -> Result<UndoOutcome, PrepareError> {
    let is_ours = |name: &std::ffi::OsStr| {
        name.to_string_lossy()
            .strip_prefix(OWN_FOLDER)
            .is_some_and(|rest| !rest.is_empty())
    };
    if !folder.file_name().is_some_and(is_ours) {
        let text = format!("only directories whose names begin with `{OWN_FOLDER}` may be removed");
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

/// Whether this device is mounted there; any other mount is left alone.
pub(super) fn is_mounted(at: &Path, device: &str, roots: &Roots) -> bool {
    let mounts = mounts::mounts(roots);
    // The mount table has paths without links.
    let real = at.canonicalize().unwrap_or_else(|_| at.to_owned());
    let Some(mount) = mounts.iter().rfind(|mount| mount.mount_point == real) else {
        return false;
    };
    // The node of a removed card is gone, but its file system is still mounted.
    mount.number.to_string() == device
        || chain::nodes_of_mount(mount, roots, &mounts)
            .iter()
            .any(|node| node.number.to_string() == device)
}
