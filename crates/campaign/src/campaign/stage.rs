//! The storage made ready for a stretch of runs, and given back afterwards: the only place of a campaign that changes it.

use super::aim::{Place, Room};
use super::file::{Discard, Each, Fill, Table};
use super::hands::Hands;
use super::seat::Disk;
use super::spec::{Campaign, Card, FsSpec, Layer, Seat, Through};
use hakaru_device::guard::{Confirmation, Erasable};
use hakaru_device::prepare::{
    DiscardError, DiscardKind, FillPattern, FsType, Layout, LayoutKind, LayoutTable, MkfsRequest, MountRequest,
    Mounted, Preparation, PrepareError, Step, StepDone,
};
use hakaru_device::{Progress, Roots, SpeedMap};
use hakaru_model::campaign::{Prepared, Stretch};
use hakaru_model::facts::{Fact, Identity, TargetKind};
use hakaru_model::price::PriceList;
use hakaru_model::units::Bytes;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

/// Storage that is ready.
pub(super) struct Stage {
    ground: Ground,
    preparation: Option<Preparation>,
    identity: Identity,
    room: Room,
    prepared: Vec<Prepared>,
}

enum Ground {
    Sim(Box<PriceList>),
    Folder(OwnFolder),
    /// A device; while the leave to erase it is held, nothing else can claim it.
    Device {
        node: PathBuf,
        _leave: Option<Erasable>,
    },
    Mounted(Mounted),
}

/// Why storage could not be made ready.
#[derive(Debug, thiserror::Error)]
pub(super) enum StageError {
    #[error(transparent)]
    Prepare(#[from] PrepareError),
    #[error("{0}")]
    Refused(String),
    #[error("the folder {} cannot be {doing}: {source}", path.display())]
    Folder { path: PathBuf, doing: &'static str, source: std::io::Error },
    #[error("stopped")]
    Stopped,
}

/// Who sets a stage, and with what.
pub(super) struct Setting<'a, 'h> {
    pub(super) campaign: &'a Campaign,
    pub(super) card: &'a Card,
    pub(super) layer: &'a Layer,
    pub(super) disk: Option<&'a Disk>,
    pub(super) confirmation: Option<&'a Confirmation>,
    /// Whether the whole card is still to be discarded and filled.
    pub(super) whole: bool,
    /// Where preparations are journalled and file systems mounted.
    pub(super) state: &'a Path,
    pub(super) roots: &'a Roots,
    pub(super) stop: &'a AtomicBool,
    pub(super) hands: &'h mut dyn Hands,
}

impl Setting<'_, '_> {
    /// Makes the storage ready.
    pub(super) fn set(mut self) -> Result<Stage, StageError> {
        match &self.card.seat {
            Seat::Sim(prices) => Ok(simulated(self.card, prices)),
            Seat::Folder(folder) => self.folder(folder),
            Seat::Reader { .. } => self.device(),
        }
    }

    fn folder(&self, folder: &Path) -> Result<Stage, StageError> {
        let own = OwnFolder::make(folder.join(format!(".hakaru-{}", self.campaign.id)))?;
        let preparation = self.campaign.preparation.drop_caches.then(|| self.begin()).transpose()?;
        let room = Room { all: free(&own.0), each: self.layer.size };
        let identity = self.labelled(hakaru_device::identify(folder, self.roots));
        Ok(Stage { ground: Ground::Folder(own), preparation, identity, room, prepared: Vec::new() })
    }

    fn begin(&self) -> Result<Preparation, PrepareError> {
        Preparation::begin(self.state, self.roots.clone())
    }

    fn labelled(&self, identity: Identity) -> Identity {
        Identity { label: Some(self.card.label.clone()), ..identity }
    }

    fn device(&mut self) -> Result<Stage, StageError> {
        let disk = self.disk.ok_or_else(|| StageError::Refused("the card is in no reader".to_owned()))?;
        let candidate = disk.candidate(self.roots).map_err(StageError::Refused)?;
        let erasable = match self.confirmation {
            Some(confirmation) => {
                let taken = candidate.confirm(confirmation, self.roots);
                Some(taken.map_err(|refusal| StageError::Refused(format!("{refusal} ({})", refusal.cure())))?)
            }
            None => None,
        };
        let mut preparation = self.begin()?;
        let mut speed = None;
        if let (true, Some(erasable)) = (self.whole, &erasable) {
            speed = self.whole_card(&mut preparation, erasable)?;
        }
        match (&self.layer.through, erasable) {
            (Through::Fs(spec), Some(erasable)) => self.file_system(preparation, erasable, spec, speed),
            (Through::Fs(_), None) => {
                Err(StageError::Refused("a file system needs leave to erase the card".to_owned()))
            }
            (_, erasable) => {
                let identity = self.labelled(hakaru_device::identify(&disk.node, self.roots));
                let all = identity.device.known().map_or(Bytes(0), |device| device.size);
                let prepared = prepared(preparation.steps(), speed.as_ref());
                let ground = Ground::Device { node: disk.node.clone(), _leave: erasable };
                let room = Room { all, each: self.layer.size };
                Ok(Stage { ground, preparation: Some(preparation), identity, room, prepared })
            }
        }
    }

    /// Discards and fills, as the campaign asks.
    fn whole_card(
        &mut self,
        preparation: &mut Preparation,
        erasable: &Erasable,
    ) -> Result<Option<SpeedMap>, StageError> {
        if let Some(discard) = self.campaign.preparation.discard {
            let kind = if discard == Discard::Secure { DiscardKind::Secure } else { DiscardKind::Plain };
            match preparation.discard(erasable, kind, &mut progress(self.hands, self.stop, "discarding the card")) {
                Err(PrepareError::Discard(DiscardError::NotOffered { .. })) if discard == Discard::WhereOffered => {}
                done => stopped_or(done, self.stop)?,
            }
        }
        let Some(fill) = self.campaign.preparation.fill else { return Ok(None) };
        let pattern = match fill {
            Fill::Ones => FillPattern::Ones,
            Fill::Zeroes => FillPattern::Zeroes,
            Fill::Random => FillPattern::Random { seed: self.campaign.seed },
        };
        let filled = preparation.fill(erasable, pattern, &mut progress(self.hands, self.stop, "filling the card"));
        stopped_or(filled, self.stop).map(Some)
    }

    fn file_system(
        &mut self,
        mut preparation: Preparation,
        mut erasable: Erasable,
        spec: &FsSpec,
        speed: Option<SpeedMap>,
    ) -> Result<Stage, StageError> {
        let FsSpec { fs, mkfs, mount, discard, partition } = spec;
        if let Some(table) = partition {
            self.hands.preparing("making a partition table", None);
            let whole = preparation.partition(erasable, &layout(*table, *fs))?;
            let part = whole.into_partition(1, self.roots);
            erasable = part.map_err(|refusal| StageError::Refused(refusal.to_string()))?;
        }
        self.hands.preparing(&format!("making {fs}"), None);
        let request = MkfsRequest { fs: *fs, label: None, discard: *discard, options: mkfs.clone() };
        let (erasable, _) = preparation.mkfs(erasable, &request)?;
        let at = self.state.join(format!("mnt-{}", self.campaign.id));
        let request = MountRequest { fs_type: fs.name().to_owned(), options: mount.clone(), at };
        let mounted = preparation.mount(erasable, &request)?;
        if let Some(level) = self.campaign.preparation.fill_level {
            let percent = (level.0 * 100.0).round() as u32;
            let mut tell = progress(self.hands, self.stop, "using up space");
            let filled = preparation.fill_level(mounted.folder(), percent, self.campaign.seed, &mut tell);
            stopped_or(filled, self.stop)?;
        }
        let identity = self.labelled(hakaru_device::identify(mounted.folder(), self.roots));
        let room = Room { all: free(mounted.folder()), each: self.layer.size };
        let prepared = prepared(preparation.steps(), speed.as_ref());
        Ok(Stage { ground: Ground::Mounted(mounted), preparation: Some(preparation), identity, room, prepared })
    }
}

/// Tells the watcher, and ends when somebody stops the campaign.
fn progress<'a>(
    hands: &'a mut dyn Hands,
    stop: &'a AtomicBool,
    what: &'a str,
) -> impl FnMut(Progress) -> ControlFlow<()> + 'a {
    move |progress| {
        hands.preparing(what, Some(progress));
        if stop.load(Relaxed) { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }
}

/// An interruption by the user is no failure.
fn stopped_or<T>(done: Result<T, PrepareError>, stop: &AtomicBool) -> Result<T, StageError> {
    done.map_err(|error| if stop.load(Relaxed) { StageError::Stopped } else { error.into() })
}

fn layout(table: Table, fs: FsType) -> Layout {
    let table = match table {
        Table::Mbr => LayoutTable::Mbr,
        Table::Gpt => LayoutTable::Gpt,
    };
    let kind = match fs {
        FsType::Vfat => LayoutKind::Fat,
        FsType::Exfat => LayoutKind::Exfat,
        _ => LayoutKind::Linux,
    };
    Layout::single(table, kind)
}

/// Bytes that files may take: a file system filled to the brim answers more slowly, so a twentieth stays free.
fn free(folder: &Path) -> Bytes {
    let free = hakaru_device::inspect(folder).ok().and_then(|facts| facts.free).unwrap_or(Bytes(u64::MAX));
    Bytes(free.0 - free.0 / 20)
}

fn simulated(card: &Card, prices: &PriceList) -> Stage {
    let identity = Identity {
        path: PathBuf::from(&prices.name),
        kind: TargetKind::Other,
        filesystem: None,
        device: Fact::Unknown("it is a simulated card".to_owned()),
        system_disk: false,
        label: Some(card.label.clone()),
    };
    let room = Room { all: prices.announced(), each: None };
    Stage { ground: Ground::Sim(Box::new(prices.clone())), preparation: None, identity, room, prepared: Vec::new() }
}

/// What was done, in words; the speed along the device goes with the step that wrote all of it.
fn prepared(steps: &[StepDone], speed: Option<&SpeedMap>) -> Vec<Prepared> {
    let step = |done: &StepDone| {
        let what = match &done.step {
            Step::Fill { pattern, .. } => match pattern {
                FillPattern::Ones => "filled with 0xff".to_owned(),
                FillPattern::Zeroes => "filled with 0x00".to_owned(),
                FillPattern::Random { .. } => "filled with random bytes".to_owned(),
            },
            Step::Discard { kind: DiscardKind::Plain, .. } => "discarded".to_owned(),
            Step::Discard { kind: DiscardKind::Secure, .. } => "discarded securely".to_owned(),
            Step::Verify { .. } => "verified".to_owned(),
            Step::Partition { .. } => "one partition made".to_owned(),
            Step::Mkfs { command, .. } => command.join(" "),
            Step::Mount { fs_type, options, .. } if options.is_empty() => format!("mounted as {fs_type}"),
            Step::Mount { fs_type, options, .. } => format!("mounted as {fs_type} with {options}"),
            Step::FillLevel { size, .. } => format!("{size} of its space used up"),
            Step::MakeFolder { .. } | Step::DropCaches => return None,
        };
        let map = speed.filter(|_| matches!(done.step, Step::Fill { .. })).map(stretches).unwrap_or_default();
        Some(Prepared { what, elapsed: done.elapsed, speed: map })
    };
    steps.iter().filter_map(step).collect()
}

fn stretches(map: &SpeedMap) -> Vec<Stretch> {
    map.points.iter().map(|p| Stretch { offset: p.offset, len: p.len, elapsed: p.elapsed }).collect()
}

/// Whether a step was done to the whole card.
pub(super) fn of_whole_card(prepared: &Prepared) -> bool {
    prepared.what.starts_with("filled") || prepared.what.starts_with("discarded")
}

/// Whether the whole card is prepared again for each stretch of runs.
pub(super) fn each_stretch(campaign: &Campaign) -> bool {
    campaign.preparation.each != Each::Card
}

impl Stage {
    pub(super) fn place(&self) -> Place<'_> {
        match &self.ground {
            Ground::Sim(prices) => Place::Sim(prices),
            Ground::Folder(own) => Place::Folder(&own.0),
            Ground::Device { node, .. } => Place::Device(node),
            Ground::Mounted(mounted) => Place::Folder(mounted.folder()),
        }
    }

    /// Whether time passes while it is measured.
    pub(super) fn is_real(&self) -> bool {
        !matches!(self.ground, Ground::Sim(_))
    }

    pub(super) fn identity(&self) -> &Identity {
        &self.identity
    }

    pub(super) fn room(&self) -> Room {
        self.room
    }

    pub(super) fn prepared(&self) -> &[Prepared] {
        &self.prepared
    }

    /// Empties the caches of the host.
    pub(super) fn drop_caches(&mut self) -> Result<(), PrepareError> {
        self.preparation.as_mut().map_or(Ok(()), Preparation::drop_caches)
    }

    /// Gives the storage back as it is to be left. Everything is tried; what failed is told.
    pub(super) fn strike(self) -> Vec<String> {
        let Stage { ground, preparation, .. } = self;
        let mut failed: Vec<String> = Vec::new();
        let Some(mut preparation) = preparation else { return failed };
        if let Ground::Mounted(mounted) = ground {
            failed.extend(preparation.unmount(mounted).err().map(|error| error.to_string()));
        }
        if let Err(errors) = preparation.undo_all() {
            failed.extend(errors.iter().map(ToString::to_string));
        }
        failed
    }
}

/// A folder for the files of one campaign; gone with the value. One that an earlier run left behind is replaced.
struct OwnFolder(PathBuf);

impl OwnFolder {
    fn make(path: PathBuf) -> Result<OwnFolder, StageError> {
        let failed = |path: &Path, doing, source| StageError::Folder { path: path.to_owned(), doing, source };
        if path.exists() {
            std::fs::remove_dir_all(&path).map_err(|source| failed(&path, "emptied", source))?;
        }
        std::fs::create_dir(&path).map_err(|source| failed(&path, "made", source))?;
        Ok(OwnFolder(path))
    }
}

impl Drop for OwnFolder {
    fn drop(&mut self) {
        // What cannot be removed now is replaced by the next run.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
