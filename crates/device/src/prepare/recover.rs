//! Recovery after a crash or power loss: undoes preparation steps, or reports what cannot be
//! undone.

use super::boot_id;
use super::journal::{self, DeviceTag, JournalError, JournalLine, PrepareStep, Undo};
use super::undo::{UndoOutcome, apply};
use crate::roots::Roots;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::path::{Path, PathBuf};

/// Result of recovering from one journal.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Recovery {
    /// The journal; removed if nothing failed.
    pub journal: PathBuf,
    /// Whether the system was restarted since it was written.
    pub restarted: bool,
    /// The steps in reverse order, without steps that left nothing to undo.
    pub items: Vec<Recovered>,
}

impl Recovery {
    /// Whether no step needs another attempt.
    pub fn is_complete(&self) -> bool {
        !self
            .items
            .iter()
            .any(|item| matches!(item.outcome, RecoveredAs::Failed { .. }))
    }
}

/// Result of undoing one step.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Recovered {
    /// The step.
    pub step: PrepareStep,
    /// The result.
    pub outcome: RecoveredAs,
}

/// Result of undoing one step.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "outcome")]
pub enum RecoveredAs {
    /// Undone.
    Undone,
    /// Nothing left to undo.
    Gone,
    /// It cannot be undone.
    Remains {
        /// The object and its state.
        what: String,
        /// Advice for the user.
        cure: String,
    },
    /// Undo failed; it can be tried again.
    Failed {
        /// The cause.
        error: String,
    },
}

impl fmt::Display for Recovered {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let what = leaves(&self.step);
        match &self.outcome {
            RecoveredAs::Undone => write!(f, "{what}: removed"),
            RecoveredAs::Gone => write!(f, "{what}: already gone"),
            RecoveredAs::Remains { what, cure } => write!(f, "{what}: {cure}"),
            RecoveredAs::Failed { error } => write!(f, "{what}: not removed: {error}"),
        }
    }
}

/// Describes the state that a step leaves on the device or host.
fn leaves(step: &PrepareStep) -> String {
    match step {
        PrepareStep::Mount { at, .. } => format!("mount at {}", at.display()),
        PrepareStep::MakeFolder { path } => format!("directory {}", path.display()),
        PrepareStep::FillLevel { folder, .. } => format!("files in {}", folder.display()),
        PrepareStep::Fill { device, .. }
        | PrepareStep::Discard { device, .. }
        | PrepareStep::Verify { device, .. }
        | PrepareStep::WriteImage { device, .. }
        | PrepareStep::Partition { device, .. }
        | PrepareStep::Mkfs { device, .. } => called(device),
        PrepareStep::DropCaches => "host caches".to_owned(),
    }
}

/// Preview of a recovery.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecoveryPreview {
    /// The journal.
    pub journal: PathBuf,
    /// Whether the system was restarted since it was written.
    pub restarted: bool,
    /// Descriptions of the steps in reverse order.
    pub items: Vec<String>,
}

/// Returns what [`recover`] would do, without changes.
///
/// # Errors
/// If the journal cannot be read, or its program is running.
pub fn outlook(path: &Path, roots: &Roots) -> Result<RecoveryPreview, JournalError> {
    let (_file, lines) = journal::read(path)?;
    let restarted = was_restarted(&lines, roots);
    let left = steps(lines).into_iter().rev().filter(|step| !step.undone);
    let items = left.filter_map(|begun| match (&begun.undo, begun.done) {
        (Undo::Nothing, true) => None,
        (Undo::Nothing, false) => remains(&begun.step).map(|outcome| {
            Recovered {
                step: begun.step,
                outcome,
            }
            .to_string()
        }),
        _ if is_gone_since(&begun.undo, restarted) => {
            Some(format!("{}: already gone", leaves(&begun.step)))
        }
        _ => Some(format!(
            "{}: to be removed if it still exists",
            leaves(&begun.step)
        )),
    });
    Ok(RecoveryPreview {
        journal: path.to_owned(),
        restarted,
        items: items.collect(),
    })
}

fn was_restarted(lines: &[JournalLine], roots: &Roots) -> bool {
    matches!(lines.first(), Some(JournalLine::Opened { boot, .. }) if *boot != boot_id(roots))
}

/// State of one step in a journal.
struct JournaledStep {
    step: PrepareStep,
    undo: Undo,
    done: bool,
    undone: bool,
}

/// Undoes the steps of a journal in reverse order, and reports what cannot be undone. The journal
/// is removed if nothing failed.
///
/// # Errors
/// If the journal cannot be read, or its program is running.
pub fn recover(path: &Path, roots: &Roots) -> Result<Recovery, JournalError> {
    // The file lock is held until the end.
    let (_file, lines) = journal::read(path)?;
    let restarted = was_restarted(&lines, roots);
    let begun = steps(lines);
    let mut items: Vec<Recovered> = Vec::new();
    for step in begun.into_iter().rev().filter(|step| !step.undone) {
        if let Some(outcome) = outcome(&step, restarted, roots) {
            items.push(Recovered {
                step: step.step,
                outcome,
            });
        }
    }
    let recovery = Recovery {
        journal: path.to_owned(),
        restarted,
        items,
    };
    if recovery.is_complete() {
        let removed = |source| JournalError::Io {
            path: path.to_owned(),
            doing: "removed",
            source,
        };
        std::fs::remove_file(path).map_err(removed)?;
    }
    Ok(recovery)
}

fn steps(lines: Vec<JournalLine>) -> Vec<JournaledStep> {
    let mut begun: Vec<(u64, JournaledStep)> = Vec::new();
    for line in lines {
        let (number, change): (u64, fn(&mut JournaledStep)) = match line {
            JournalLine::Begin { seq, what, undo } => {
                begun.push((
                    seq,
                    JournaledStep {
                        step: what,
                        undo,
                        done: false,
                        undone: false,
                    },
                ));
                continue;
            }
            JournalLine::Done { seq } => (seq, |step| step.done = true),
            JournalLine::Undone { seq } => (seq, |step| step.undone = true),
            JournalLine::Failed { .. } | JournalLine::Opened { .. } | JournalLine::Left => continue,
        };
        if let Some((_, step)) = begun.iter_mut().find(|(seq, _)| *seq == number) {
            change(step);
        }
    }
    begun.into_iter().map(|(_, step)| step).collect()
}

fn outcome(begun: &JournaledStep, restarted: bool, roots: &Roots) -> Option<RecoveredAs> {
    if let Undo::Nothing = begun.undo {
        return if begun.done {
            None
        } else {
            remains(&begun.step)
        };
    }
    let applied = if is_gone_since(&begun.undo, restarted) {
        Ok(UndoOutcome::Gone)
    } else {
        apply(&begun.undo, roots)
    };
    Some(match (applied, &begun.step) {
        // The card is no longer mounted there, so the files are not at their path.
        (Ok(UndoOutcome::Gone), PrepareStep::FillLevel { folder, size }) => RecoveredAs::Remains {
            what: format!(
                "up to {size} of filler files may remain on the card that was mounted there"
            ),
            cure: format!(
                "mount it again and remove its directory {}",
                folder.file_name().unwrap_or_default().display()
            ),
        },
        (Ok(UndoOutcome::Gone), _) => RecoveredAs::Gone,
        (Ok(UndoOutcome::Undone), _) => RecoveredAs::Undone,
        (Err(error), _) => RecoveredAs::Failed {
            error: error.to_string(),
        },
    })
}

/// Whether a restart already undid it. A mount does not survive a restart: the same device mounted
/// there now was mounted by someone else.
fn is_gone_since(undo: &Undo, restarted: bool) -> bool {
    restarted && matches!(undo, Undo::Unmount { .. })
}

/// Describes the state after an interrupted step.
fn remains(step: &PrepareStep) -> Option<RecoveredAs> {
    let (device, what, cure) = match step {
        PrepareStep::Fill { device, .. } => (
            device,
            "DEVICE was partly overwritten; its previous content is lost",
            "fill it again or create a file system",
        ),
        PrepareStep::Discard { device, .. } => (
            device,
            "DEVICE was partly discarded; its previous content is lost",
            "discard it again or create a file system",
        ),
        PrepareStep::Verify { device, restores } => match restores {
            false => (
                device,
                "verification overwrote part of DEVICE; its previous content is lost",
                "verify it again or create a file system",
            ),
            true => (
                device,
                "verification overwrote samples of DEVICE and did not restore them",
                "check its file system with fsck, and restore damaged files from a backup",
            ),
        },
        PrepareStep::WriteImage { device, .. } => (
            device,
            "the image on DEVICE is incomplete or was not verified (a partial image has no partition \
            table); its previous content is lost",
            "write the image again",
        ),
        PrepareStep::Partition { device, .. } => (
            device,
            "the partition table of DEVICE may be incomplete",
            "write the partition table again",
        ),
        PrepareStep::Mkfs { device, fs, .. } => (
            device,
            &*format!("{fs} on DEVICE is incomplete"),
            "create the file system again before mounting it",
        ),
        _ => return None,
    };
    Some(RecoveredAs::Remains {
        what: what.replace("DEVICE", &called(device)),
        cure: cure.to_owned(),
    })
}

fn called(device: &DeviceTag) -> String {
    let DeviceTag { node, id, name } = device;
    match id {
        Some(id) if !name.contains(id.as_str()) => {
            format!("{name} ({id}, then {})", node.display())
        }
        _ => format!("{name} (then {})", node.display()),
    }
}
