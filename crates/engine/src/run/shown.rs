//! Descriptors that show tools such as fuser which disks are in use.

use hakaru_model::facts::TargetKind;
use hakaru_model::plan::PhasePlan;
use rustix::fd::OwnedFd;
use rustix::fs::{Mode, OFlags, open};
use std::collections::BTreeSet;
use std::path::Path;

/// The directories and devices of a phase, open in name only.
///
/// The files themselves are open in tables of the workers, where `fuser` does not look. A directory keeps its file system
/// mounted, as the files in it do, and unlike one of those it keeps no space of what is removed.
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
    // Nothing depends on it: what cannot be opened so is not shown.
    places
        .into_iter()
        .filter_map(|path| open(path, flags, Mode::empty()).ok())
        .collect()
}
