//! The zones of one file or device.

use crate::error::RunError;
use hakaru_model::facts::TargetKind;
use hakaru_model::job::rules::Zones;
use hakaru_model::obstacle::ZoneObstacle;
use hakaru_model::plan::{FilePlan, WorkerPlan};
use hakaru_model::stream::Region;
use hakaru_sys::{Errno, zoned};
use rustix::fd::OwnedFd;
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Time a worker waits for another to finish with a zone before it checks whether the run ends.
const PATIENCE: Duration = Duration::from_millis(5);

/// State of one zone.
#[derive(Clone, Copy, Debug)]
pub(super) struct TrackedZone {
    pub(super) start: u64,
    /// End of the writable part.
    pub(super) end: u64,
    /// Offset of the next write.
    pub(super) write_pointer: u64,
    /// End of readable data. Beyond it writes are in flight, or nothing was written.
    pub(super) written: u64,
    pub(super) sequential: bool,
    pub(super) usable: bool,
    /// Whether it counts as an open zone.
    pub(super) open: bool,
    /// Writes in flight, all of one worker.
    pub(super) writes: u32,
    pub(super) writer: usize,
}

impl TrackedZone {
    fn of(zone: &zoned::DeviceZone) -> TrackedZone {
        let zoned::DeviceZone {
            start,
            len,
            capacity,
            write_pointer,
            sequential,
            begun,
            usable,
        } = *zone;
        let end = start + capacity.min(len);
        let write_pointer = if sequential {
            write_pointer.clamp(start, end)
        } else {
            end
        };
        TrackedZone {
            start,
            end,
            write_pointer,
            written: write_pointer,
            sequential,
            usable,
            open: begun,
            writes: 0,
            writer: 0,
        }
    }

    pub(super) fn room(&self) -> u64 {
        self.end - self.write_pointer
    }

    /// Whether only another worker may continue to write it now.
    pub(super) fn is_held_from(&self, worker: usize) -> bool {
        self.writes > 0 && self.writer != worker
    }
}

/// The zones, and how many of them are open.
#[derive(Debug)]
pub(super) struct ZoneState {
    pub(super) zones: Vec<TrackedZone>,
    pub(super) open: usize,
}

impl ZoneState {
    /// Returns the bytes with data in a range of zones.
    pub(super) fn valid(&self, from: usize, to: usize) -> u64 {
        self.zones[from..to]
            .iter()
            .map(|zone| zone.write_pointer - zone.start)
            .sum()
    }

    /// Whether at least this share of a range of zones has data.
    pub(super) fn filled(&self, from: usize, to: usize, millionths: u32) -> bool {
        let zones = self.zones[from..to].iter();
        let whole: u64 = zones.map(|zone| zone.end - zone.start).sum();
        u128::from(self.valid(from, to)) * 1_000_000 >= u128::from(whole) * u128::from(millionths)
    }

    pub(super) fn set_open(&mut self, index: usize, open: bool) {
        let zone = &mut self.zones[index];
        if zone.open != open {
            zone.open = open;
            self.open = if open { self.open + 1 } else { self.open - 1 };
        }
    }
}

/// The zones of one file or device, for all workers of a phase.
#[derive(Debug)]
pub(crate) struct ZoneTable {
    /// Bytes from the start of a zone to the start of the next.
    pub(super) zone_len: u64,
    /// Maximum number of open zones; `usize::MAX` for no limit.
    pub(super) most_open: usize,
    /// The zoned device; `None` if zones are emulated.
    device: Option<OwnedFd>,
    state: Mutex<ZoneState>,
    changed: Condvar,
}

impl ZoneTable {
    pub(super) fn lock(&self) -> MutexGuard<'_, ZoneState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits briefly for other workers to finish with their zones.
    pub(super) fn wait(&self) {
        let state = self.lock();
        drop(
            self.changed
                .wait_timeout(state, PATIENCE)
                .unwrap_or_else(PoisonError::into_inner),
        );
    }

    /// Returns the end of what may be read of a zone.
    pub(super) fn readable_end(&self, zone: &TrackedZone, beyond_write_pointer: bool) -> u64 {
        if beyond_write_pointer {
            zone.start + self.zone_len
        } else {
            zone.written
        }
    }

    pub(super) fn notify_waiting(&self) {
        self.changed.notify_all();
    }

    /// Resets a zone without writes in flight.
    pub(super) fn reset(&self, state: &mut ZoneState, index: usize) -> Result<(), Errno> {
        let zone = &mut state.zones[index];
        if let Some(device) = &self.device {
            zoned::reset(device, zone.start, self.zone_len)?;
        }
        (zone.write_pointer, zone.written) = (zone.start, zone.start);
        state.set_open(index, false);
        Ok(())
    }

    /// Closes a zone that has no room for another block.
    pub(super) fn close(&self, state: &mut ZoneState, index: usize) {
        let zone = state.zones[index];
        if let Some(device) = self.device.as_ref().filter(|_| zone.room() > 0) {
            // Finishing may fail: the zone then stays open on the device, which reports an error at
            // its limit.
            let _ = zoned::finish(device, zone.start, self.zone_len);
        }
        state.set_open(index, false);
    }

    /// Queries the write pointer of a zone after a failed write, because only the device knows it.
    pub(super) fn refresh(&self, state: &mut ZoneState, index: usize) {
        let Some(device) = &self.device else { return };
        let zone = &mut state.zones[index];
        if let Some(now) = zoned::zones(device, zone.start, 1)
            .ok()
            .and_then(|found| found.first().map(TrackedZone::of))
        {
            (zone.write_pointer, zone.written, zone.usable) =
                (now.write_pointer, now.written, now.usable);
        }
    }

    /// Zones of the same length from the start of a file.
    pub(super) fn emulated(zone_len: u64, capacity: u64, size: u64, most_open: usize) -> ZoneTable {
        let zone = |index: u64| {
            let start = index * zone_len;
            let whole = zoned::DeviceZone {
                start,
                len: zone_len,
                capacity,
                write_pointer: start,
                sequential: true,
                begun: false,
                usable: true,
            };
            TrackedZone::of(&whole)
        };
        let zones = (0..size / zone_len).map(zone).collect();
        ZoneTable::new(zone_len, most_open, None, zones)
    }

    fn new(
        zone_len: u64,
        most_open: usize,
        device: Option<OwnedFd>,
        zones: Vec<TrackedZone>,
    ) -> ZoneTable {
        let open = zones.iter().filter(|zone| zone.open).count();
        let state = Mutex::new(ZoneState { zones, open });
        ZoneTable {
            zone_len,
            most_open,
            device,
            state,
            changed: Condvar::new(),
        }
    }
}

/// Zone tables of a phase by file number; created by the first worker that needs one.
#[derive(Debug)]
pub(crate) struct ZoneTables {
    made: Mutex<BTreeMap<u32, Arc<ZoneTable>>>,
    /// Ranges of each file that any worker of the phase uses.
    used: BTreeMap<u32, Vec<Range<u64>>>,
}

impl ZoneTables {
    pub(crate) fn of(workers: &[WorkerPlan]) -> ZoneTables {
        let mut used: BTreeMap<u32, Vec<Range<u64>>> = BTreeMap::new();
        let zoned = workers
            .iter()
            .filter(|worker| matches!(worker.stream.access.zones, Zones::Device { .. }));
        for Region {
            file, offset, len, ..
        } in zoned.flat_map(|worker| &worker.stream.regions)
        {
            used.entry(*file)
                .or_default()
                .push(*offset..offset.saturating_add(*len));
        }
        ZoneTables {
            made: Mutex::default(),
            used,
        }
    }

    /// Returns the zone table of a file.
    ///
    /// # Errors
    /// If its zones cannot be read, or do not match the job.
    pub(crate) fn table(
        &self,
        region: &Region,
        file: &FilePlan,
        plan: &WorkerPlan,
    ) -> Result<Arc<ZoneTable>, RunError> {
        let mut tables = self.made.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(table) = tables.get(&region.file) {
            return Ok(Arc::clone(table));
        }
        let used = self
            .used
            .get(&region.file)
            .map(Vec::as_slice)
            .unwrap_or_default();
        let table = Arc::new(open_table(used, file, plan)?);
        tables.insert(region.file, Arc::clone(&table));
        Ok(table)
    }
}

/// Converts a maximum of open zones; 0 is no limit.
pub(super) fn open_limit(max_open: u32) -> usize {
    if max_open == 0 {
        usize::MAX
    } else {
        max_open as usize
    }
}

/// Zone options of a job.
struct ZoneOptions {
    size: Option<u64>,
    capacity: Option<u64>,
    most_open: usize,
    ignore_limits: bool,
}

impl ZoneOptions {
    fn of(plan: &WorkerPlan) -> Option<ZoneOptions> {
        match &plan.stream.access.zones {
            Zones::Device {
                size,
                capacity,
                max_open,
                ignore_limits,
                ..
            } => Some(ZoneOptions {
                size: size.map(|size| size.0),
                capacity: capacity.map(|capacity| capacity.0),
                most_open: open_limit(*max_open),
                ignore_limits: *ignore_limits,
            }),
            _ => None,
        }
    }

    /// Divides a file, or a device without zones, into zones.
    fn emulated(&self, file: &FilePlan) -> Result<ZoneTable, RunError> {
        let zone = self.size.unwrap_or(0);
        if zone < 512 {
            return Err(refuse(file, ZoneObstacle::NoZoneSize));
        }
        let capacity = self.capacity.unwrap_or(zone);
        if capacity > zone {
            return Err(refuse(file, ZoneObstacle::Capacity { capacity, zone }));
        }
        Ok(ZoneTable::emulated(
            zone,
            capacity,
            file.size.0,
            self.most_open,
        ))
    }

    /// Compares the options with a zoned device, and returns the maximum number of its open zones.
    fn check_device(
        &self,
        device: &OwnedFd,
        zone_len: u64,
        file: &FilePlan,
        plan: &WorkerPlan,
    ) -> Result<usize, RunError> {
        if let Some(size) = self.size.filter(|&size| size != zone_len) {
            let device = file.path.display().to_string();
            let why = ZoneObstacle::ZoneSize {
                device,
                size,
                zone: zone_len,
            };
            return Err(refuse(file, why));
        }
        if plan.writes && !plan.files.direct {
            return Err(refuse(file, ZoneObstacle::Buffered));
        }
        let limit = limit_of(device).filter(|_| !self.ignore_limits);
        let (limit, wanted) = (limit.unwrap_or(usize::MAX), self.most_open);
        if wanted != usize::MAX && wanted > limit {
            return Err(refuse(file, ZoneObstacle::OpenLimit { wanted, limit }));
        }
        Ok(limit)
    }
}

/// Reads the zones of a zoned device, or divides a file or another device into zones.
fn open_table(
    used: &[Range<u64>],
    file: &FilePlan,
    plan: &WorkerPlan,
) -> Result<ZoneTable, RunError> {
    let options = ZoneOptions::of(plan).ok_or_else(|| refuse(file, ZoneObstacle::NotRequested))?;
    let open = |flags| rustix::fs::open(&file.path, flags | rustix::fs::OFlags::CLOEXEC, 0.into());
    // Read permission is enough to report zones.
    let opened = open(rustix::fs::OFlags::RDWR).or_else(|_| open(rustix::fs::OFlags::RDONLY));
    let device = match opened {
        Err(errno) if file.kind == TargetKind::BlockDevice => {
            return Err(cannot_open(file, "its zones", errno));
        }
        Err(_) => return options.emulated(file),
        Ok(device) => device,
    };
    let zone_len = zoned::zone_size(&device).unwrap_or(0);
    if zone_len == 0 {
        return options.emulated(file);
    }
    let limit = options.check_device(&device, zone_len, file, plan)?;
    let zones = zoned::zones(&device, 0, usize::MAX)
        .map_err(|errno| cannot_open(file, "a report of its zones", errno))?;
    let mut zones: Vec<TrackedZone> = zones.iter().map(TrackedZone::of).collect();
    // Zones left open outside the used ranges count towards the limit of the device, but not
    // towards max_open_zones.
    let goes_to = |zone: &TrackedZone| used.iter().any(|used| used.contains(&zone.start));
    let elsewhere = zones.iter_mut().filter(|zone| zone.open && !goes_to(zone));
    let taken = elsewhere.map(|zone| zone.open = false).count();
    let most_open = options.most_open.min(limit.saturating_sub(taken));
    let table = ZoneTable::new(zone_len, most_open, Some(device), zones);
    check_open_zones(&table, taken, file)?;
    Ok(table)
}

/// Checks that no more zones are open than allowed. `taken` are open outside the used ranges.
fn check_open_zones(table: &ZoneTable, taken: usize, file: &FilePlan) -> Result<(), RunError> {
    let (open, most) = (table.lock().open, table.most_open);
    if open <= most && most > 0 {
        return Ok(());
    }
    let (open, limit) = (open + taken, most.saturating_add(taken));
    Err(refuse(file, ZoneObstacle::AlreadyOpen { open, limit }))
}

fn cannot_open(file: &FilePlan, purpose: &'static str, errno: Errno) -> RunError {
    RunError::Open {
        path: file.path.clone(),
        purpose,
        errno,
    }
}

fn refuse(file: &FilePlan, because: ZoneObstacle) -> RunError {
    RunError::Zones {
        path: file.path.clone(),
        because,
    }
}

/// Returns the maximum of open or active zones of a device from sysfs; `None` for no limit.
fn limit_of(device: &OwnedFd) -> Option<usize> {
    let number = rustix::fs::fstat(device).ok()?.st_rdev;
    let (major, minor) = (rustix::fs::major(number), rustix::fs::minor(number));
    let read = |name: &str| {
        let text =
            std::fs::read_to_string(format!("/sys/dev/block/{major}:{minor}/queue/{name}")).ok()?;
        text.trim().parse::<usize>().ok().filter(|&limit| limit > 0)
    };
    [read("max_open_zones"), read("max_active_zones")]
        .into_iter()
        .flatten()
        .min()
}
