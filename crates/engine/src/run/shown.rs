//! Descriptors that show tools such as fuser which disks are in use.

use hakaru_model::facts::TargetKind;
use hakaru_model::plan::PhasePlan;
use rustix::fd::OwnedFd;
use rustix::fs::{Mode, OFlags, open};
use std::collections::BTreeSet;
use std::path::Path;

/// Opens the directories and devices of a phase with `O_PATH`.
///
/// The files themselves are open only in the descriptor tables of the workers, where `fuser` does not look. Like an
/// open file, an open directory keeps its file system mounted, but unlike one it keeps no space of removed files.
pub(super) fn shown(phase: &PhasePlan) -> Vec<OwnedFd> {
    let places: BTreeSet<&Path> = phase
        .files
        .iter()
        .filter_map(|file| match file.kind {
            TargetKind::File | TargetKind::Absent => file.path.parent(),
            _ => Some(file.path.as_path()),
        })
        .map(|path| {
            if path.as_os_str().is_empty() {
                Path::new(".")
            } else {
                path
            }
        })
        .collect();
    let flags = OFlags::PATH | OFlags::CLOEXEC;
    // Nothing depends on these descriptors: a path that cannot be opened is skipped.
    places
        .into_iter()
        .filter_map(|path| open(path, flags, Mode::empty()).ok())
        .collect()
}
