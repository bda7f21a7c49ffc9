//! After a crash or a power cut: undoing what a preparation left behind, or naming what cannot be undone.

use super::boot_id;
use super::journal::{self, DeviceTag, JournalError, JournalLine, PrepareStep, Undo};
use super::undo::{UndoOutcome, apply};
use crate::roots::Roots;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::path::{Path, PathBuf};

/// What came of recovering from one journal.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Recovery {
    /// Which journal; it is removed when nothing failed.
    pub journal: PathBuf,
    /// Whether the system was started anew since it was written.
    pub restarted: bool,
    /// Step by step, the last one first. Steps that left nothing behind are not named.
    pub items: Vec<Recovered>,
}

impl Recovery {
    /// Whether nothing is left to be tried again.
    pub fn is_complete(&self) -> bool {
        !self
            .items
            .iter()
            .any(|item| matches!(item.outcome, RecoveredAs::Failed { .. }))
    }
}

/// What came of one step.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Recovered {
    /// The step.
    pub step: PrepareStep,
    /// What came of it.
    pub outcome: RecoveredAs,
}

/// What came of undoing one step.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "outcome")]
pub enum RecoveredAs {
    /// It was undone now.
    Undone,
    /// There was nothing left to undo.
    Gone,
    /// It cannot be undone.
    Remains {
        /// In which state it left what.
        what: String,
        /// What would put that right.
        cure: String,
    },
    /// Undoing it failed; it can be tried again.
    Failed {
        /// Why.
        error: String,
    },
}

impl fmt::Display for Recovered {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let what = leaves(&self.step);
        match &self.outcome {
            RecoveredAs::Undone => write!(f, "{what}: removed"),
            RecoveredAs::Gone => write!(f, "{what}: gone already"),
            RecoveredAs::Remains { what, cure } => write!(f, "{what}: {cure}"),
            RecoveredAs::Failed { error } => write!(f, "{what}: not removed, because {error}"),
        }
    }
}

/// What a step leaves behind, in a few words.
fn leaves(step: &PrepareStep) -> String {
    match step {
        PrepareStep::Mount { at, .. } => format!("the mount at {}", at.display()),
        PrepareStep::MakeFolder { path } => format!("the folder {}", path.display()),
        PrepareStep::FillLevel { folder, .. } => format!("the files in {}", folder.display()),
        PrepareStep::Fill { device, .. }
        | PrepareStep::Discard { device, .. }
        | PrepareStep::Verify { device, .. }
        | PrepareStep::Partition { device, .. }
        | PrepareStep::Mkfs { device, .. } => called(device),
        PrepareStep::DropCaches => "the caches of the host".to_owned(),
    }
}

/// What recovering from a journal would do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecoveryPreview {
    /// Which journal.
    pub journal: PathBuf,
    /// Whether the system was started anew since it was written.
    pub restarted: bool,
    /// In words, step by step, the last one first.
    pub items: Vec<String>,
}

/// Tells what [`recover`] would do, and changes nothing.
///
/// # Errors
/// When the journal cannot be read, or its program still runs.
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
            Some(format!("{}: gone already", leaves(&begun.step)))
        }
        _ => Some(format!(
            "{}: to be removed, if it is still there",
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

/// What the lines of a journal say of one step.
struct JournaledStep {
    step: PrepareStep,
    undo: Undo,
    done: bool,
    undone: bool,
}

/// Undoes what a journal tells of, the last step first, and names what cannot be undone. The journal is removed
/// when nothing failed.
///
/// # Errors
/// When the journal cannot be read, or its program still runs.
pub fn recover(path: &Path, roots: &Roots) -> Result<Recovery, JournalError> {
    // The lock of the file is held until the end.
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
        // The files are not where they were written, for the card is not mounted there any more.
        (Ok(UndoOutcome::Gone), PrepareStep::FillLevel { folder, size }) => RecoveredAs::Remains {
            what: format!("{size} of random bytes may still be on the card that was mounted there"),
            cure: format!(
                "mount it again and remove its folder {}",
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

/// Whether a restart took it back already. No mount outlives one: what is mounted there now, be it the same device, was
/// mounted by somebody else.
fn is_gone_since(undo: &Undo, restarted: bool) -> bool {
    restarted && matches!(undo, Undo::Unmount { .. })
}

/// What a step that was cut short leaves behind.
fn remains(step: &PrepareStep) -> Option<RecoveredAs> {
    let (what, cure) = match step {
        PrepareStep::Fill { device, .. } => (
            format!(
                "{} was overwritten in part, and what was on it is lost",
                called(device)
            ),
            "fill it again, or make a file system on it",
        ),
        PrepareStep::Discard { device, .. } => (
            format!(
                "{} was discarded in part, and what was on it is lost",
                called(device)
            ),
            "discard it again, or make a file system on it",
        ),
        PrepareStep::Verify {
            device,
            restores: false,
        } => (
            format!(
                "{} was overwritten in part to verify it, and what was on it is lost",
                called(device)
            ),
            "verify it again, or make a file system on it",
        ),
        PrepareStep::Verify {
            device,
            restores: true,
        } => (
            format!(
                "samples of {} were overwritten to verify it, and were not put back",
                called(device)
            ),
            "check its file system (fsck), and restore what is damaged from a copy",
        ),
        PrepareStep::Partition { device, .. } => (
            format!(
                "the partition table of {} may be incomplete",
                called(device)
            ),
            "write it again",
        ),
        PrepareStep::Mkfs { device, fs, .. } => (
            format!("the {fs} file system on {} is incomplete", called(device)),
            "make it again before mounting it",
        ),
        _ => return None,
    };
    Some(RecoveredAs::Remains {
        what,
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
