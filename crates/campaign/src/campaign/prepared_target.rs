//! Prepares the storage for a group of runs and tears it down afterwards; the only part of a campaign that changes
//! storage.

use super::card_finder::{PresentDisk, with_help};
use super::file::{DiscardMode, FillEntry, PartitionTableEntry, PrepareScope};
use super::operator::{Operator, PreparingStep};
use super::quantity::Share;
use super::retarget::{FreeRoom, RetargetTo, files};
use super::spec::{Campaign, Card, CardLocation, FsSpec, Layer, LayerKind};
use crate::errors;
use crate::target::{self, usable};
use hakaru_device::guard::{Candidate, Confirmation, Erasable, Refusal};
use hakaru_device::prepare::{
    self, DiscardError, DiscardKind, FillPattern, LayoutKind, LayoutTable, MkfsRequest,
    MountRequest, Mounted, OWN_FOLDER, PartitionLayout, Preparation, PrepareError, PrepareStep,
    StepDone,
};
use hakaru_device::{Roots, ScanProgress, SpeedMap};
use hakaru_model::campaign::{DeviceSegment, PreparedStep};
use hakaru_model::device_model::DeviceModel;
use hakaru_model::facts::Identity;
use hakaru_model::job::{Op, Scenario};
use hakaru_model::units::Bytes;
use hakaru_report::both;
use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

/// Storage that is ready for measurement.
pub(super) struct PreparedTarget {
    kind: MeasuredTarget,
    preparation: Option<Preparation>,
    identity: Identity,
    room: FreeRoom,
    prepared: Vec<PreparedStep>,
}

enum MeasuredTarget {
    Sim(Box<DeviceModel>),
    /// A directory for the files of this campaign; it is removed together with them.
    Folder(PathBuf),
    /// A device; while permission to erase it is held, no other process can claim it.
    Device {
        node: PathBuf,
        erasable: Option<Erasable>,
    },
    Mounted(Mounted),
}

/// Errors of preparing storage.
#[derive(Debug, thiserror::Error)]
pub(super) enum StageError {
    #[error(transparent)]
    Prepare(#[from] PrepareError),
    #[error("{0}")]
    Refused(String),
    #[error("stopped")]
    Stopped,
}

impl StageError {
    /// The error in the language of the thread.
    pub(super) fn message(&self) -> String {
        match self {
            StageError::Prepare(error) => errors::message(error),
            StageError::Refused(why) => why.clone(),
            StageError::Stopped => both!("stopped", "停止しました"),
        }
    }
}

/// Settings for preparing storage.
pub(super) struct TargetSetup<'a> {
    pub(super) campaign: &'a Campaign,
    pub(super) card: &'a Card,
    pub(super) layer: &'a Layer,
    pub(super) disk: Option<&'a PresentDisk>,
    pub(super) confirmation: Option<&'a Confirmation>,
    /// Whether the whole card must still be discarded and filled.
    pub(super) whole: bool,
    /// Maximum bytes for files if several cards share one file system; all free space if `None`.
    pub(super) share: Option<Bytes>,
    /// Directory for preparation journals and mount points.
    pub(super) state: &'a Path,
    /// Name of the mount point in `state`.
    pub(super) mount_name: String,
    pub(super) roots: &'a Roots,
    pub(super) stop: &'a AtomicBool,
    pub(super) operator: &'a mut dyn Operator,
}

impl TargetSetup<'_> {
    /// Prepares the storage.
    pub(super) fn prepare(mut self) -> Result<PreparedTarget, StageError> {
        match &self.card.location {
            CardLocation::Sim(model) => Ok(simulated(self.card, model)),
            CardLocation::Folder(folder) => self.folder(folder),
            CardLocation::Reader { .. } => self.device(),
        }
    }

    fn folder(&self, folder: &Path) -> Result<PreparedTarget, StageError> {
        let mut preparation = self.begin()?;
        let own = folder.join(format!("{OWN_FOLDER}{}", self.campaign.id));
        preparation.own_folder(&own)?;
        let room = FreeRoom {
            all: self.share.unwrap_or_else(|| free(&own)),
            each: self.layer.size,
        };
        let identity = self.labelled(hakaru_device::identify(folder, self.roots));
        let preparation = Some(preparation);
        Ok(PreparedTarget {
            kind: MeasuredTarget::Folder(own),
            preparation,
            identity,
            room,
            prepared: Vec::new(),
        })
    }

    fn begin(&self) -> Result<Preparation, PrepareError> {
        Preparation::begin(self.state, self.roots.clone())
    }

    fn labelled(&self, identity: Identity) -> Identity {
        Identity {
            label: Some(self.card.label.clone()),
            ..identity
        }
    }

    fn device(&mut self) -> Result<PreparedTarget, StageError> {
        if let LayerKind::Fs(spec) = &self.layer.through {
            let lacking = lacking(spec, self.roots);
            if !lacking.is_empty() {
                return Err(StageError::Refused(lacking.join("; ")));
            }
        }
        let disk = self.disk.ok_or_else(|| {
            StageError::Refused(both!(
                "the card is not in a reader",
                "カードがリーダーにありません"
            ))
        })?;
        let candidate = disk.candidate(self.roots).map_err(StageError::Refused)?;
        let erasable = self.erasable(candidate)?;
        let mut preparation = self.begin()?;
        let mut speeds = Vec::new();
        if let (true, Some(erasable)) = (self.whole, &erasable) {
            speeds = self.whole_card(&mut preparation, erasable)?;
        }
        match (&self.layer.through, erasable) {
            (LayerKind::Fs(spec), Some(erasable)) => {
                self.file_system(preparation, erasable, spec, &speeds)
            }
            (LayerKind::Fs(_), None) => Err(StageError::Refused(both!(
                "a file system layer needs permission to erase the card",
                "ファイルシステムのレイヤにはカードの消去の許可が必要です"
            ))),
            (_, erasable) => Ok(self.whole_device(preparation, erasable, disk, &speeds)),
        }
    }

    /// Claims the card for erasing, if the campaign erases it.
    fn erasable(&self, candidate: Candidate) -> Result<Option<Erasable>, StageError> {
        let claim = |confirmation| candidate.confirm(confirmation, self.roots);
        let claimed = self.confirmation.map(claim).transpose();
        claimed.map_err(|refusal| StageError::Refused(with_help(&refusal)))
    }

    /// Returns the device without a file system.
    fn whole_device(
        &self,
        preparation: Preparation,
        erasable: Option<Erasable>,
        disk: &PresentDisk,
        speeds: &[SpeedMap],
    ) -> PreparedTarget {
        let identity = self.labelled(hakaru_device::identify(&disk.node, self.roots));
        let device = identity.device.known();
        let room = FreeRoom {
            all: device.map_or(Bytes(0), |device| device.size),
            each: self.layer.size,
        };
        let node = erasable
            .as_ref()
            .map_or_else(|| disk.node.clone(), Erasable::node);
        PreparedTarget {
            kind: MeasuredTarget::Device { node, erasable },
            prepared: prepared(preparation.steps(), speeds),
            preparation: Some(preparation),
            identity,
            room,
        }
    }

    /// Discards and fills the card as the campaign specifies.
    fn whole_card(
        &mut self,
        preparation: &mut Preparation,
        erasable: &Erasable,
    ) -> Result<Vec<SpeedMap>, StageError> {
        if let Some(mode) = self.campaign.preparation.discard {
            self.discard(preparation, erasable, mode)?;
        }
        let Some(fill) = self.campaign.preparation.fill else {
            return Ok(Vec::new());
        };
        let pattern = match fill {
            FillEntry::Ones => FillPattern::Ones,
            FillEntry::Zeroes => FillPattern::Zeroes,
            FillEntry::Random => FillPattern::Random {
                seed: self.campaign.seed,
            },
        };
        let mut speeds = Vec::new();
        for _ in 0..self.campaign.preparation.fill_passes {
            let mut progress = progress(self.operator, self.stop, PreparingStep::FillCard);
            let filled = preparation.fill(erasable, pattern, &mut progress);
            speeds.push(stopped_or(filled, self.stop)?);
        }
        Ok(speeds)
    }

    fn discard(
        &mut self,
        preparation: &mut Preparation,
        erasable: &Erasable,
        mode: DiscardMode,
    ) -> Result<(), StageError> {
        let kind = match mode {
            DiscardMode::Secure => DiscardKind::Secure,
            DiscardMode::Plain | DiscardMode::WhereOffered => DiscardKind::Plain,
        };
        let mut progress = progress(self.operator, self.stop, PreparingStep::DiscardCard);
        match preparation.discard(erasable, kind, &mut progress) {
            Err(PrepareError::Discard(DiscardError::NotOffered { .. }))
                if mode == DiscardMode::WhereOffered =>
            {
                Ok(())
            }
            done => stopped_or(done, self.stop),
        }
    }

    fn file_system(
        &mut self,
        mut preparation: Preparation,
        mut erasable: Erasable,
        spec: &FsSpec,
        speeds: &[SpeedMap],
    ) -> Result<PreparedTarget, StageError> {
        if let Some(table) = spec.partition {
            erasable = self.partition(&mut preparation, erasable, table, spec)?;
        }
        let step = PreparingStep::MakeFileSystem(spec.fs.name());
        self.operator.preparing(step, None);
        let (erasable, _) = preparation.mkfs(erasable, &request(spec))?;
        let request = MountRequest {
            fs_type: spec.fs.name().to_owned(),
            options: spec.mount.clone(),
            at: self.state.join(&self.mount_name),
        };
        let mounted = preparation.mount(erasable, &request)?;
        if let Some(level) = self.campaign.preparation.fill_level {
            self.fill_level(&mut preparation, mounted.folder(), level)?;
        }
        let room = FreeRoom {
            all: free(mounted.folder()),
            each: self.layer.size,
        };
        Ok(PreparedTarget {
            identity: self.labelled(hakaru_device::identify(mounted.folder(), self.roots)),
            kind: MeasuredTarget::Mounted(mounted),
            prepared: prepared(preparation.steps(), speeds),
            preparation: Some(preparation),
            room,
        })
    }

    /// Fills a file system to a share of its space.
    fn fill_level(
        &mut self,
        preparation: &mut Preparation,
        folder: &Path,
        level: Share,
    ) -> Result<(), StageError> {
        let (percent, seed) = ((level.0 * 100.0).round() as u32, self.campaign.seed);
        let mut progress = progress(self.operator, self.stop, PreparingStep::FillFileSystem);
        let filled = preparation.fill_level(folder, percent, seed, &mut progress);
        stopped_or(filled, self.stop).map(drop)
    }

    /// Creates a partition table with one partition, and returns the partition.
    fn partition(
        &mut self,
        preparation: &mut Preparation,
        erasable: Erasable,
        table: PartitionTableEntry,
        spec: &FsSpec,
    ) -> Result<Erasable, StageError> {
        let table = match table {
            PartitionTableEntry::Mbr => LayoutTable::Mbr,
            PartitionTableEntry::Gpt => LayoutTable::Gpt,
        };
        self.operator.preparing(PreparingStep::PartitionTable, None);
        let layout = PartitionLayout::single(table, LayoutKind::of(spec.fs));
        let whole = preparation.partition(erasable, &layout)?;
        let part = whole.into_partition(1, self.roots);
        part.map_err(|refusal| StageError::Refused(errors::message(&refusal)))
    }
}

/// Reports progress to the operator, and stops when the campaign is stopped.
fn progress<'a>(
    operator: &'a mut dyn Operator,
    stop: &'a AtomicBool,
    what: PreparingStep,
) -> impl FnMut(ScanProgress) -> ControlFlow<()> + 'a {
    move |progress| {
        operator.preparing(what, Some(progress));
        if stop.load(Relaxed) {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    }
}

/// Separates an interruption by the user from a failure.
fn stopped_or<T>(done: Result<T, PrepareError>, stop: &AtomicBool) -> Result<T, StageError> {
    done.map_err(|error| {
        if stop.load(Relaxed) {
            StageError::Stopped
        } else {
            error.into()
        }
    })
}

fn request(spec: &FsSpec) -> MkfsRequest {
    let FsSpec {
        fs, mkfs, discard, ..
    } = spec;
    MkfsRequest {
        fs: *fs,
        label: None,
        discard: *discard,
        options: mkfs.clone(),
    }
}

/// Returns what prevents creating and mounting a file system on this host, checked before any data is lost.
pub(super) fn lacking(spec: &FsSpec, roots: &Roots) -> Vec<String> {
    // Errors of the command do not depend on the device.
    let command = request(spec).command(Path::new("/dev")).err();
    let table = spec.partition.and_then(|_| PartitionLayout::tool().err());
    let mut lacking: Vec<String> = command
        .into_iter()
        .chain(table)
        .map(|error| errors::message(&error))
        .collect();
    if !prepare::can_mount(spec.fs.name(), roots) {
        lacking.push(both!(
            "the kernel does not support {}; help: load or install its module, or remove the layer",
            "カーネルは{}に対応していません; help: モジュールを読み込むかインストールするか、レイヤを省いてください";
            spec.fs
        ));
    }
    lacking
}

/// Returns the bytes that files may use.
pub(super) fn free(folder: &Path) -> Bytes {
    usable(free_now(folder).unwrap_or(Bytes(u64::MAX)))
}

/// Returns the current free space; the query writes nothing to the card.
fn free_now(folder: &Path) -> Option<Bytes> {
    let stat = rustix::fs::statvfs(folder).ok()?;
    Some(Bytes(stat.f_bavail.saturating_mul(stat.f_frsize)))
}

fn simulated(card: &Card, model: &DeviceModel) -> PreparedTarget {
    let identity = target::simulated(model, &card.label);
    let room = FreeRoom {
        all: model.announced(),
        each: None,
    };
    PreparedTarget {
        kind: MeasuredTarget::Sim(Box::new(model.clone())),
        preparation: None,
        identity,
        room,
        prepared: Vec::new(),
    }
}

/// Converts the completed steps. The speed maps belong to the steps that wrote the whole device, in this order.
fn prepared(steps: &[StepDone], speeds: &[SpeedMap]) -> Vec<PreparedStep> {
    let mut speeds = speeds.iter();
    let step = |done: &StepDone| {
        // Caches are dropped before each run, and the directory belongs to this campaign.
        if matches!(
            done.step,
            PrepareStep::MakeFolder { .. } | PrepareStep::DropCaches
        ) {
            return None;
        }
        let map = match done.step {
            PrepareStep::Fill { .. } => speeds.next().map(segments).unwrap_or_default(),
            _ => Vec::new(),
        };
        let written = if let PrepareStep::FillLevel { size, .. } = done.step {
            size
        } else {
            Bytes(0)
        };
        Some(PreparedStep {
            step: (&done.step).into(),
            elapsed: done.elapsed,
            speed: map,
            written,
        })
    };
    steps.iter().filter_map(step).collect()
}

fn segments(map: &SpeedMap) -> Vec<DeviceSegment> {
    map.points
        .iter()
        .map(|p| DeviceSegment {
            offset: p.offset,
            len: p.len,
            elapsed: p.elapsed,
        })
        .collect()
}

/// Whether a step applied to the whole card.
pub(super) fn of_whole_card(prepared: &PreparedStep) -> bool {
    prepared.step.is_of_whole_device()
}

/// Whether the whole card is prepared again for each group of runs.
pub(super) fn each_group(campaign: &Campaign) -> bool {
    campaign.preparation.each != PrepareScope::Card
}

/// Returns the bytes that are not yet allocated to these files.
fn missing(wanted: &BTreeMap<PathBuf, u64>) -> u64 {
    let there = |path: &PathBuf| {
        path.metadata()
            .map_or(0, |metadata| metadata.blocks().saturating_mul(512))
    };
    wanted
        .iter()
        .map(|(path, size)| size.saturating_sub(there(path)))
        .fold(0u64, u64::saturating_add)
}

impl PreparedTarget {
    pub(super) fn place(&self) -> RetargetTo<'_> {
        match &self.kind {
            MeasuredTarget::Sim(model) => RetargetTo::Sim(model),
            MeasuredTarget::Folder(own) => RetargetTo::Folder(own),
            MeasuredTarget::Device { node, .. } => RetargetTo::Device(node),
            MeasuredTarget::Mounted(mounted) => RetargetTo::Folder(mounted.folder()),
        }
    }

    /// Whether the measurement takes real time.
    pub(super) fn is_real(&self) -> bool {
        !matches!(self.kind, MeasuredTarget::Sim(_))
    }

    pub(super) fn identity(&self) -> &Identity {
        &self.identity
    }

    pub(super) fn room(&self) -> FreeRoom {
        self.room
    }

    pub(super) fn prepared(&self) -> &[PreparedStep] {
        &self.prepared
    }

    /// Checks that the device is still the prepared one. The engine opens its target by name, and a card may be
    /// replaced during any pause.
    pub(super) fn check_unchanged(&self, roots: &Roots) -> Result<(), Refusal> {
        match &self.kind {
            MeasuredTarget::Device {
                erasable: Some(erasable),
                ..
            } => erasable.check_unchanged(roots),
            MeasuredTarget::Mounted(mounted) => mounted.check_unchanged(roots),
            MeasuredTarget::Device { erasable: None, .. }
            | MeasuredTarget::Folder(_)
            | MeasuredTarget::Sim(_) => Ok(()),
        }
    }

    /// Frees space for the files of a workload: removes files of other workloads if there is too little. The fill
    /// level is kept.
    pub(super) fn make_room(&self, scenario: &Scenario) -> std::io::Result<()> {
        let RetargetTo::Folder(folder) = self.place() else {
            return Ok(());
        };
        let wanted = files(scenario);
        let missing = missing(&wanted);
        // Keeps the same reserve as when the space was measured: a twentieth of the space that was free then.
        let room =
            free_now(folder).map_or(u64::MAX, |free| free.0.saturating_sub(self.room.all.0 / 19));
        if missing <= room {
            return Ok(());
        }
        for entry in std::fs::read_dir(folder)? {
            let entry = entry?;
            // All files here belong to the campaign; the fill level has its own directory.
            if entry.file_type()?.is_file() && !wanted.contains_key(&entry.path()) {
                std::fs::remove_file(entry.path())?;
            }
        }
        // Some file systems release the space only after a sync.
        Ok(rustix::fs::syncfs(std::fs::File::open(folder)?)?)
    }

    /// Whether files of a workload are incomplete; parts that it reads are written before the measurement.
    pub(super) fn lacks_files(&self, scenario: &Scenario) -> bool {
        matches!(self.place(), RetargetTo::Folder(_)) && missing(&files(scenario)) > 0
    }

    /// Returns the bytes that a workload writes before the measurement because it reads a full file system.
    pub(super) fn fills(&self, scenario: &Scenario) -> Bytes {
        let RetargetTo::Folder(folder) = self.place() else {
            return Bytes(0);
        };
        let mut jobs = scenario.phases.iter().flat_map(|phase| &phase.jobs);
        let fills = jobs.any(|job| job.files.fill_device && !job.access.does(Op::Write));
        free_now(folder).filter(|_| fills).unwrap_or(Bytes(0))
    }

    /// Drops the caches of the host.
    pub(super) fn drop_caches(&mut self) -> Result<(), PrepareError> {
        self.preparation
            .as_mut()
            .map_or(Ok(()), Preparation::drop_caches)
    }

    /// Tears the storage down. All steps are tried; returns the failures.
    pub(super) fn teardown(self) -> Vec<String> {
        let PreparedTarget {
            kind, preparation, ..
        } = self;
        let mut failed: Vec<String> = Vec::new();
        let Some(mut preparation) = preparation else {
            return failed;
        };
        if let MeasuredTarget::Mounted(mounted) = kind {
            failed.extend(
                preparation
                    .unmount(mounted)
                    .err()
                    .map(|error| errors::message(&error)),
            );
        }
        if let Err(all) = preparation.undo_all() {
            failed.extend(all.iter().map(|error| errors::message(error)));
        }
        failed
    }
}
