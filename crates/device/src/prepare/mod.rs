//! Changes a device before a measurement, in steps that are undone afterwards.
//!
//! A [`Preparation`] records every step and its undo action in a journal before it starts, and
//! undoes the steps in reverse order: on request, when dropped (error, panic), or by a later
//! [`recover`] after a crash or power loss. What cannot be undone (a partly overwritten device) is
//! reported. Destructive steps need an [`Erasable`].

mod error;
mod fill;
mod image;
mod journal;
mod kind;
mod level;
mod mkfs;
mod mounting;
mod partition;
mod recover;
mod tool;
mod undo;

pub use error::PrepareError;
pub use fill::{DiscardError, DiscardKind, FillError, FillPattern, discard, fill};
pub(crate) use fill::{buffer as fill_buffer, random_bytes};
pub use image::{ImageError, ImageFile};
pub use journal::{DeviceTag, JournalError, PrepareJournal, PrepareStep, Undo, is_left, pending};
pub use level::LevelError;
pub use mkfs::{FsType, MkfsOutcome, MkfsRequest};
pub use mounting::{MountError, can_mount};
pub use partition::{
    LayoutError, LayoutKind, LayoutPartition, LayoutTable, PartitionLayout, shows_no_partitions,
};
pub use recover::{Recovered, RecoveredAs, Recovery, RecoveryPreview, outlook, recover};
pub use tool::ToolError;
pub use undo::OWN_FOLDER;

use crate::blockdev::{OnProgress, OpenDevice, SpeedMap};
use crate::guard::{Erasable, Refusal, Released};
use crate::roots::{self, Roots};
use crate::verify::{self, IntegrityVerdict};
use error::io_error;
use hakaru_model::units::{Bytes, Nanos};
use journal::JournalLine;
use serde::{Deserialize, Serialize};
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;
use undo::apply;

/// A completed step, for the record.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StepDone {
    /// The step.
    #[serde(flatten)]
    pub step: PrepareStep,
    /// How long it took.
    pub elapsed: Nanos,
}

/// Extent of a verification.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VerifyExtent {
    /// The whole device.
    Whole,
    /// Samples.
    Samples,
    /// Samples; the content is restored afterwards.
    SamplesRestored,
}

/// Parameters of a mount.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MountRequest {
    /// Type of the file system, as the kernel names it.
    pub fs_type: String,
    /// Options, such as `noatime,discard`.
    #[serde(default)]
    pub options: String,
    /// The mount point; created if missing, and removed afterwards.
    pub at: PathBuf,
}

/// A mounted device.
#[derive(Debug)]
pub struct Mounted {
    at: PathBuf,
    device: Released,
    seq: u64,
}

impl Mounted {
    /// The mount point.
    pub fn folder(&self) -> &Path {
        &self.at
    }

    /// Checks that the device is still the device that was mounted.
    ///
    /// # Errors
    /// A [`Refusal`] if it was removed or exchanged.
    pub fn check_unchanged(&self, roots: &Roots) -> Result<(), Refusal> {
        self.device.check_unchanged(roots)
    }
}

/// A sequence of steps that change a device, with undo.
#[derive(Debug)]
pub struct Preparation {
    /// `None` after it was closed.
    journal: Option<PrepareJournal>,
    roots: Roots,
    undos: Vec<(u64, Undo)>,
    done: Vec<StepDone>,
}

impl Preparation {
    /// Starts a preparation; its journal is stored in a directory that is not on the device.
    ///
    /// # Errors
    /// If the journal cannot be written; no step may run then.
    pub fn begin(folder: &Path, roots: Roots) -> Result<Preparation, PrepareError> {
        let journal = PrepareJournal::create(folder, &boot_id(&roots))?;
        Ok(Preparation {
            journal: Some(journal),
            roots,
            undos: Vec::new(),
            done: Vec::new(),
        })
    }

    /// The completed steps, in order.
    pub fn steps(&self) -> &[StepDone] {
        &self.done
    }

    /// Overwrites a whole device; returns the speed by position.
    ///
    /// # Errors
    /// The errors of [`fill()`] and of the journal.
    pub fn fill(
        &mut self,
        device: &Erasable,
        pattern: FillPattern,
        on_progress: &mut OnProgress<'_>,
    ) -> Result<SpeedMap, PrepareError> {
        let step = PrepareStep::Fill {
            device: tag(device),
            pattern,
        };
        self.step(step, Undo::Nothing, |_| {
            let opened = OpenDevice::open(device);
            let mut open = opened.map_err(|source| io_error(device.path(), "opened", source))?;
            Ok(fill(&mut open, pattern, on_progress)?)
        })
    }

    /// Discards a whole device.
    ///
    /// # Errors
    /// The errors of [`discard()`] and of the journal.
    pub fn discard(
        &mut self,
        device: &Erasable,
        kind: DiscardKind,
        on_progress: &mut OnProgress<'_>,
    ) -> Result<(), PrepareError> {
        let step = PrepareStep::Discard {
            device: tag(device),
            kind,
        };
        self.step(step, Undo::Nothing, |_| {
            Ok(discard(device, kind, on_progress)?)
        })
    }

    /// Writes an image to a device and reads it back; the kernel then reads the new partition table. Returns the write
    /// speed by position.
    ///
    /// # Errors
    /// An [`ImageError`], or an error of the journal. A partial image has no partition table.
    pub fn write_image(
        &mut self,
        device: &Erasable,
        image: &ImageFile,
        on_progress: &mut OnProgress<'_>,
    ) -> Result<SpeedMap, PrepareError> {
        let step = PrepareStep::WriteImage {
            device: tag(device),
            image: image.path().to_owned(),
            size: image.size(),
        };
        self.step(step, Undo::Nothing, |_| {
            let opened = OpenDevice::open(device);
            let mut open = opened.map_err(|source| io_error(device.path(), "opened", source))?;
            let written = image::write_image(&mut open, image, on_progress);
            // Partitions do not exist, or are shown once the device is plugged in again.
            let _ = hakaru_sys::block::reread_partitions(device.device());
            Ok(written?)
        })
    }

    /// Verifies a device; its content is lost unless it is restored.
    ///
    /// # Errors
    /// The errors of [`verify::verify`], [`verify::probe`] and the journal.
    pub fn verify(
        &mut self,
        device: &Erasable,
        extent: VerifyExtent,
        seed: u64,
        on_progress: &mut OnProgress<'_>,
    ) -> Result<IntegrityVerdict, PrepareError> {
        let step = PrepareStep::Verify {
            device: tag(device),
            restores: extent == VerifyExtent::SamplesRestored,
        };
        self.step(step, Undo::Nothing, |_| {
            let opened = OpenDevice::open(device);
            let mut open = opened.map_err(|source| io_error(device.path(), "opened", source))?;
            Ok(match extent {
                VerifyExtent::Whole => verify::verify(&mut open, seed, on_progress),
                VerifyExtent::Samples => verify::probe(&mut open, seed, on_progress),
                VerifyExtent::SamplesRestored => {
                    verify::probe_and_restore(&mut open, seed, on_progress)
                }
            }?)
        })
    }

    /// Writes a partition table and waits until the kernel lists its partitions. Open one with
    /// [`Erasable::into_partition`].
    ///
    /// # Errors
    /// If the layout does not fit, `sfdisk` is missing or fails, or the device cannot be claimed
    /// again.
    pub fn partition(
        &mut self,
        device: Erasable,
        layout: &PartitionLayout,
    ) -> Result<Erasable, PrepareError> {
        let sfdisk = PartitionLayout::tool()?;
        let block = rustix::fs::ioctl_blksszget(device.device()).unwrap_or(512);
        let script = layout.script(device.size(), block)?;
        let step = PrepareStep::Partition {
            device: tag(&device),
            script: script.clone(),
        };
        self.step(step, Undo::Nothing, |this| {
            let arguments = |node: &Path| {
                let wipe = ["--quiet", "--wipe", "always", "--wipe-partitions", "always"];
                let mut words = wipe.map(str::to_owned).to_vec();
                words.push(node.display().to_string());
                words
            };
            let run = |node: &Path| tool::run(&sfdisk, &arguments(node), &script);
            let (device, said) = device.while_released(run, &this.roots)?;
            said?;
            this.await_partitions(&device, &layout.starts())?;
            Ok(device)
        })
    }

    /// sfdisk makes the kernel read the new table; users of the device (udev) may delay that. The
    /// number of partitions alone does not distinguish a new table from the previous one.
    fn await_partitions(&self, device: &Erasable, starts: &[u64]) -> Result<(), PrepareError> {
        for attempt in 0..30 {
            if partition::shown(device.path(), &self.roots) == starts {
                return Ok(());
            }
            if attempt % 10 == 5 {
                // A refusal is not final; the loop checks the partitions again.
                let _ = hakaru_sys::block::reread_partitions(device.device());
            }
            std::thread::sleep(Duration::from_millis(100));
        }
        let source = io::Error::other(
            "the kernel does not list the new partitions; help: unplug the device and plug it in \
            again",
        );
        Err(io_error(device.path(), "partitioned", source))
    }

    /// Creates a file system.
    ///
    /// # Errors
    /// If the tool is missing or fails, or the device cannot be claimed again.
    pub fn mkfs(
        &mut self,
        device: Erasable,
        request: &MkfsRequest,
    ) -> Result<(Erasable, MkfsOutcome), PrepareError> {
        let command = mkfs::MkfsCommand::new(request, &device.node())?;
        let step = PrepareStep::Mkfs {
            device: tag(&device),
            fs: request.fs,
            command: command.words(),
        };
        self.step(step, Undo::Nothing, |this| {
            let (device, made) = device.while_released(|_| command.run(request.fs), &this.roots)?;
            Ok((device, made?))
        })
    }

    /// Mounts a device. [`Preparation::unmount`] returns it.
    ///
    /// # Errors
    /// If the mount fails; the device is then released.
    pub fn mount(
        &mut self,
        device: Erasable,
        request: &MountRequest,
    ) -> Result<Mounted, PrepareError> {
        let MountRequest {
            fs_type,
            options,
            at,
        } = request.clone();
        self.make_folder(&at)?;
        let number = self.roots.device_number(device.path());
        let undo = Undo::Unmount {
            at: at.clone(),
            device: number.map(journal::number_text).unwrap_or_default(),
        };
        let step = PrepareStep::Mount {
            device: tag(&device),
            at: at.clone(),
            fs_type: fs_type.clone(),
            options: options.clone(),
        };
        self.step(step, undo, |this| {
            let device = device.release()?;
            mounting::mount(&device.node(), &at, &fs_type, &options)?;
            // This is the last step on the stack.
            let seq = this.undos.last().map_or(0, |(seq, _)| *seq);
            Ok(Mounted { at, device, seq })
        })
    }

    /// Unmounts a device after undoing the later steps on it, and claims it again.
    ///
    /// # Errors
    /// If it is still in use.
    pub fn unmount(&mut self, mounted: Mounted) -> Result<Erasable, PrepareError> {
        self.undo_down_to(mounted.seq)?;
        Ok(mounted.device.retake(&self.roots)?)
    }

    /// Fills a mounted file system to a level in percent. Returns the bytes written.
    ///
    /// # Errors
    /// If a write fails; the files are then removed again.
    pub fn fill_level(
        &mut self,
        folder: &Path,
        percent: u32,
        seed: u64,
        on_progress: &mut OnProgress<'_>,
    ) -> Result<Bytes, PrepareError> {
        let size = level::needed(folder, percent)?;
        if size.0 == 0 {
            return Ok(size);
        }
        let folder = folder.join(level::FOLDER);
        // Created outside of the step: undo must not remove a directory that existed before.
        std::fs::create_dir(&folder).map_err(|source| io_error(&folder, "made", source))?;
        let step = PrepareStep::FillLevel {
            folder: folder.clone(),
            size,
        };
        self.step(
            step,
            Undo::RemoveFiles {
                folder: folder.clone(),
            },
            |_| Ok(level::write(&folder, size, seed, on_progress)?),
        )?;
        Ok(size)
    }

    /// Writes dirty data back and drops the host caches, so that the next read comes from the
    /// device.
    ///
    /// # Errors
    /// If not running as root.
    pub fn drop_caches(&mut self) -> Result<(), PrepareError> {
        self.step(PrepareStep::DropCaches, Undo::Nothing, |this| {
            Ok(mounting::drop_caches(&this.roots)?)
        })
    }

    /// Creates a directory whose name starts with [`OWN_FOLDER`], and replaces a leftover of an earlier program. Undo
    /// removes the directory with its content.
    ///
    /// # Errors
    /// If it cannot be created.
    pub fn own_folder(&mut self, folder: &Path) -> Result<(), PrepareError> {
        let undo = Undo::RemoveTree {
            folder: folder.to_owned(),
        };
        // An existing directory is removed first; if that fails, the step does not start.
        apply(&undo, &self.roots)?;
        self.step(
            PrepareStep::MakeFolder {
                path: folder.to_owned(),
            },
            undo,
            |_| std::fs::create_dir(folder).map_err(|source| io_error(folder, "made", source)),
        )
    }

    /// Keeps the current state intentionally ([`is_left`]). If something can be undone later (a
    /// mount, filler files), the journal is kept for [`recover`] and its path is returned.
    ///
    /// # Errors
    /// If the journal cannot be removed or updated: all steps are then undone.
    pub fn leave(mut self) -> Result<Option<PathBuf>, PrepareError> {
        let lasts = self.undos.iter().any(|(_, undo)| *undo != Undo::Nothing);
        if lasts {
            self.write(&JournalLine::Left)?;
        }
        self.undos.clear();
        match self.journal.take() {
            Some(journal) if lasts => Ok(Some(journal.path().to_owned())),
            Some(journal) => Ok(journal.close().map(|()| None)?),
            None => Ok(None),
        }
    }

    /// Undoes all steps in reverse order, and removes the journal. Continues after failures.
    ///
    /// # Errors
    /// The errors of all steps that could not be undone; the journal is then kept for [`recover`].
    pub fn undo_all(mut self) -> Result<(), Vec<PrepareError>> {
        self.undo_everything()
    }

    fn undo_everything(&mut self) -> Result<(), Vec<PrepareError>> {
        let mut errors = Vec::new();
        while let Some((seq, undo)) = self.undos.pop() {
            errors.extend(self.take_back(seq, &undo).err());
        }
        if let Some(journal) = self.journal.take().filter(|_| errors.is_empty()) {
            errors.extend(journal.close().err().map(PrepareError::from));
        }
        if errors.is_empty() {
            Ok(())
        } else {
            Err(errors)
        }
    }

    fn undo_down_to(&mut self, seq: u64) -> Result<(), PrepareError> {
        while let Some((last, undo)) = self.undos.last().cloned().filter(|(last, _)| *last >= seq) {
            self.take_back(last, &undo)?;
            self.undos.pop();
        }
        Ok(())
    }

    fn take_back(&mut self, seq: u64, undo: &Undo) -> Result<(), PrepareError> {
        if *undo == Undo::Nothing {
            return Ok(());
        }
        apply(undo, &self.roots)?;
        self.write(&JournalLine::Undone { seq })
    }

    fn make_folder(&mut self, path: &Path) -> Result<(), PrepareError> {
        if path.is_dir() {
            return Ok(());
        }
        let path = path.to_owned();
        let step = PrepareStep::MakeFolder { path: path.clone() };
        self.step(step, Undo::RemoveFolder { path: path.clone() }, |_| {
            std::fs::create_dir(&path).map_err(|source| io_error(&path, "made", source))
        })
    }

    /// Runs a step between its two journal lines. A failed step is undone at once.
    fn step<T>(
        &mut self,
        step: PrepareStep,
        undo: Undo,
        work: impl FnOnce(&mut Preparation) -> Result<T, PrepareError>,
    ) -> Result<T, PrepareError> {
        let begin = hakaru_sys::clock::monotonic();
        let seq = match &mut self.journal {
            Some(journal) => journal.begin(step.clone(), undo.clone())?,
            None => 0,
        };
        self.undos.push((seq, undo));
        match work(self) {
            Ok(result) => {
                self.write(&JournalLine::Done { seq })?;
                let elapsed = Nanos(hakaru_sys::clock::monotonic().saturating_sub(begin));
                self.done.push(StepDone { step, elapsed });
                Ok(result)
            }
            Err(error) => {
                // Report the error of the step; an error of the journal would hide it.
                let _ = self.write(&JournalLine::Failed {
                    seq,
                    error: error.to_string(),
                });
                let _ = self.undo_down_to(seq);
                Err(error)
            }
        }
    }

    fn write(&mut self, line: &JournalLine) -> Result<(), PrepareError> {
        match &mut self.journal {
            Some(journal) => Ok(journal.write(line)?),
            None => Ok(()),
        }
    }
}

impl Drop for Preparation {
    fn drop(&mut self) {
        // Errors cannot be reported here; failed steps stay in the journal.
        let _ = self.undo_everything();
    }
}

fn tag(device: &Erasable) -> DeviceTag {
    let name = device.identity().display_name();
    DeviceTag {
        node: device.node(),
        id: device.id().map(str::to_owned),
        name,
    }
}

fn boot_id(roots: &Roots) -> String {
    roots::text(&roots.proc.join("sys/kernel/random/boot_id")).unwrap_or_default()
}

#[cfg(test)]
mod tests;
