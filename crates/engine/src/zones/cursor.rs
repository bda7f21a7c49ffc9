//! Position of a worker in the zones of its regions.

use super::table::{TrackedZone, ZoneState, ZoneTable, open_limit};
use hakaru_model::job::Op;
use hakaru_model::job::rules::{ZoneResets, Zones};
use hakaru_model::plan::WorkerPlan;
use hakaru_model::rng::Rng;
use hakaru_model::stream::{IoRequest, PassEnd, Region, StreamPlan};
use hakaru_sys::Errno;
use std::sync::Arc;

/// Result of placing a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ZonePlacement {
    /// Issue this request.
    Go(IoRequest),
    /// The trim reset a zone.
    Emptied(IoRequest),
    /// It must wait for writes of another worker.
    Wait,
    /// No work remains for it.
    Nothing,
    /// The request failed.
    Failed(IoRequest, Errno),
}

impl ZonePlacement {
    /// Issues a request at another offset, with another length.
    fn at(request: &IoRequest, offset: u64, len: u64) -> ZonePlacement {
        ZonePlacement::Go(IoRequest {
            offset,
            len: len as u32,
            ..*request
        })
    }
}

/// Position of a worker in one of its regions.
#[derive(Debug)]
struct ZoneRegionCursor {
    table: Arc<ZoneTable>,
    /// Zones of the region: index of the first, and index after the last.
    from: usize,
    to: usize,
    /// Current zone of a sequential writer, and current read position.
    writing: usize,
    /// Whether it has written in this zone. If so, a full zone is finished rather than started
    /// again.
    entered: bool,
    reading: u64,
    /// Write position in a zone that accepts writes at any offset.
    line: u64,
    /// Remaining restarts of a sequential job after all zones; `None`: unlimited.
    write_rounds: Option<u64>,
    read_rounds: Option<u64>,
    /// Bytes read since the current pass over the zones began.
    read_in_pass: u64,
}

/// Positions of one worker in the zone tables of its regions.
#[derive(Debug)]
pub(crate) struct ZoneCursor {
    regions: Vec<ZoneRegionCursor>,
    worker: usize,
    random: bool,
    smallest: [u64; 3],
    skip: u64,
    most_open: usize,
    beyond: bool,
    /// When zones are reset before they are full.
    resets: Option<ZoneResets>,
    writes: u64,
    /// Number of zone resets, by operation.
    emptied: [u64; 3],
    rng: Rng,
}

impl ZoneCursor {
    /// Creates the cursor of a worker on the tables of its regions, in their order. Also returns its requests with
    /// the regions rounded to whole zones. `Err` names the region that contains no whole zone.
    pub(crate) fn new(
        worker: usize,
        plan: &WorkerPlan,
        tables: Vec<Arc<ZoneTable>>,
    ) -> Result<(ZoneCursor, StreamPlan), usize> {
        let mut stream = plan.stream.clone();
        let regions = round_to_zones(&mut stream, tables)?;
        let mut cursor = ZoneCursor {
            regions,
            worker,
            random: stream.access.random,
            smallest: Op::ALL.map(|op| plan.stream.block[op].min().0.max(1)),
            skip: 0,
            most_open: usize::MAX,
            beyond: false,
            resets: None,
            writes: 0,
            emptied: [0; 3],
            rng: Rng::fork(plan.seed, 0x20e),
        };
        if let Zones::Device {
            skip,
            max_open_each,
            read_beyond_write_pointer,
            resets,
            ..
        } = &plan.stream.access.zones
        {
            (cursor.skip, cursor.beyond) = (skip.0, *read_beyond_write_pointer);
            cursor.most_open = open_limit(*max_open_each);
            cursor.resets = *resets;
        }
        Ok((cursor, stream))
    }

    /// Returns the number of zone resets of an operation.
    pub(crate) fn emptied(&self, op: Op) -> u64 {
        self.emptied[op as usize]
    }

    /// Finds the place for a request. A write that may be issued is counted as in flight.
    pub(crate) fn place(&mut self, request: &IoRequest) -> ZonePlacement {
        match request.op {
            Op::Write => self.place_write(request),
            Op::Read => self.place_read(request),
            Op::Trim => self.place_trim(request),
        }
    }

    /// Waits briefly for other workers.
    pub(crate) fn wait(&self, request: &IoRequest) {
        self.regions[request.region as usize].table.wait();
    }

    /// Called when a write has completed or failed.
    pub(crate) fn landed(&self, request: &IoRequest, done: bool) {
        let region = &self.regions[request.region as usize];
        let table = &region.table;
        let mut state = table.lock();
        let index = (request.offset / table.zone_len) as usize;
        let Some(zone) = state
            .zones
            .get_mut(index)
            .filter(|zone| zone.sequential && request.op == Op::Write)
        else {
            return;
        };
        zone.writes = zone.writes.saturating_sub(1);
        if !done {
            table.refresh(&mut state, index);
        }
        let zone = &mut state.zones[index];
        if zone.writes == 0 {
            zone.written = zone.write_pointer;
            if zone.room() < self.smallest[Op::Write as usize] {
                table.close(&mut state, index);
            }
        }
        table.notify_waiting();
    }

    fn place_write(&mut self, request: &IoRequest) -> ZonePlacement {
        let region = &mut self.regions[request.region as usize];
        let table = Arc::clone(&region.table);
        let mut state = table.lock();
        let smallest = self.smallest[Op::Write as usize];
        let mut index = if self.random {
            region.zone_of(request.offset)
        } else {
            region.writing
        };
        for _ in region.from..=region.to {
            let zone = state.zones[index];
            let done = !zone.usable || (!self.random && region.entered && zone.room() < smallest);
            if done {
                let next = region.next_zone(index, if self.random { 0 } else { self.skip });
                if !self.random && next <= index && !another_round(&mut region.write_rounds) {
                    return ZonePlacement::Nothing;
                }
                index = next;
                (region.writing, region.entered) = (index, false);
                continue;
            }
            if !zone.sequential {
                region.writing = index;
                return region.write_anywhere(request, &zone, self.random, self.skip);
            }
            if !zone.open && !may_open(&state, &table, region, self.worker, self.most_open) {
                match open_zone(&state, region, index, self.worker) {
                    Some(other) => index = other,
                    None if state.zones.iter().any(|z| z.writes > 0) => return ZonePlacement::Wait,
                    None => return ZonePlacement::Failed(*request, Errno::TOOMANYREFS),
                }
            }
            return self.write_at(&table, &mut state, request, index);
        }
        ZonePlacement::Nothing
    }

    /// Writes at the write pointer of a zone, which is reset first if it is full or a reset is due.
    fn write_at(
        &mut self,
        table: &ZoneTable,
        state: &mut ZoneState,
        request: &IoRequest,
        index: usize,
    ) -> ZonePlacement {
        let region = &mut self.regions[request.region as usize];
        let zone = state.zones[index];
        if zone.is_held_from(self.worker) {
            return ZonePlacement::Wait;
        }
        let full = zone.room() < self.smallest[Op::Write as usize];
        let due = self.resets.is_some_and(|resets| {
            (self.writes + 1).is_multiple_of(u64::from(resets.every.max(1)))
                && state.filled(region.from, region.to, resets.threshold_millionths)
        });
        if full || due && zone.write_pointer > zone.start {
            if zone.writes > 0 {
                return ZonePlacement::Wait;
            }
            if let Err(errno) = table.reset(state, index) {
                return ZonePlacement::Failed(*request, errno);
            }
            self.emptied[Op::Write as usize] += 1;
        }
        self.writes += 1;
        (region.writing, region.entered) = (index, true);
        state.set_open(index, true);
        let zone = &mut state.zones[index];
        let len = u64::from(request.len).min(zone.room());
        let offset = zone.write_pointer;
        zone.write_pointer += len;
        (zone.writes, zone.writer) = (zone.writes + 1, self.worker);
        ZonePlacement::at(request, offset, len)
    }

    fn place_read(&mut self, request: &IoRequest) -> ZonePlacement {
        let region = &mut self.regions[request.region as usize];
        let table = Arc::clone(&region.table);
        let state = table.lock();
        let smallest = self.smallest[Op::Read as usize];
        if !self.random {
            return region.read_on(&state, request, smallest, self.skip, self.beyond);
        }
        let first = region.zone_of(request.offset);
        let mut index = first;
        loop {
            let zone = &state.zones[index];
            let end = table.readable_end(zone, self.beyond);
            if end - zone.start >= smallest {
                let len = u64::from(request.len).min(end - zone.start);
                let inside = request.offset >= zone.start && request.offset + len <= end;
                let places = (end - zone.start - len) / smallest + 1;
                let offset = if inside {
                    request.offset
                } else {
                    zone.start + self.rng.below(places) * smallest
                };
                return ZonePlacement::at(request, offset, len);
            }
            index = region.next_zone(index, 0);
            if index == first {
                return ZonePlacement::Nothing;
            }
        }
    }

    fn place_trim(&mut self, request: &IoRequest) -> ZonePlacement {
        let region = &mut self.regions[request.region as usize];
        let table = Arc::clone(&region.table);
        let mut state = table.lock();
        let first = region.zone_of(request.offset);
        let mut index = first;
        loop {
            let zone = state.zones[index];
            if zone.sequential && zone.usable && zone.write_pointer > zone.start {
                if zone.writes > 0 {
                    return ZonePlacement::Wait;
                }
                let request = IoRequest {
                    offset: zone.start,
                    len: u64::from(request.len).min(zone.end - zone.start) as u32,
                    ..*request
                };
                if let Err(errno) = table.reset(&mut state, index) {
                    return ZonePlacement::Failed(request, errno);
                }
                self.emptied[Op::Trim as usize] += 1;
                return ZonePlacement::Emptied(request);
            }
            index = region.next_zone(index, 0);
            if index == first {
                return ZonePlacement::Nothing;
            }
        }
    }
}

impl Drop for ZoneCursor {
    /// Releases the unfinished writes of a worker, so that they block no other worker.
    fn drop(&mut self) {
        for region in &self.regions {
            let mut state = region.table.lock();
            let zones = state.zones.iter_mut();
            for zone in zones.filter(|zone| zone.writer == self.worker) {
                zone.writes = 0;
            }
            region.table.notify_waiting();
        }
    }
}

/// Rounds the regions of a stream inwards to whole zones, and its limits with them. Returns the start in each region,
/// or the number of the first without a whole zone.
fn round_to_zones(
    stream: &mut StreamPlan,
    tables: Vec<Arc<ZoneTable>>,
) -> Result<Vec<ZoneRegionCursor>, usize> {
    let before: u64 = stream.regions.iter().map(|region| region.len).sum();
    let mut cursors = Vec::new();
    for (index, (region, table)) in stream.regions.iter_mut().zip(tables).enumerate() {
        let cursor = ZoneRegionCursor::new(region, table).ok_or(index)?;
        let (len, count) = (cursor.table.zone_len, cursor.to - cursor.from);
        (region.offset, region.len) = (cursor.from as u64 * len, count as u64 * len);
        cursors.push(cursor);
    }
    let whole: u64 = stream.regions.iter().map(|region| region.len).sum();
    let loops = u64::from(stream.loops);
    let covers_all = |limit: u64| limit >= before.saturating_mul(loops);
    if stream.pass_end == PassEnd::Stop && stream.limit_bytes.is_some_and(covers_all) {
        stream.limit_bytes = Some(whole.saturating_mul(loops));
        stream.pass_bytes = stream.pass_bytes.map(|_| whole);
    }
    let limit = stream.limit_bytes;
    let rounds = limit.map(|limit| limit.div_ceil(whole.max(1)).saturating_sub(1));
    for cursor in &mut cursors {
        (cursor.write_rounds, cursor.read_rounds) = (rounds, rounds);
    }
    Ok(cursors)
}

impl ZoneRegionCursor {
    /// Returns `None` if the region contains no whole zone: start and end are rounded inwards, as
    /// in fio.
    fn new(region: &Region, table: Arc<ZoneTable>) -> Option<ZoneRegionCursor> {
        let (len, zones) = (table.zone_len, table.lock().zones.len());
        let from = region.offset.div_ceil(len) as usize;
        let to = ((region.offset + region.len) / len).min(zones as u64) as usize;
        let reading = from as u64 * len;
        (from < to).then_some(ZoneRegionCursor {
            table,
            from,
            to,
            writing: from,
            entered: false,
            reading,
            line: reading,
            write_rounds: None,
            read_rounds: None,
            read_in_pass: 0,
        })
    }

    fn zone_of(&self, offset: u64) -> usize {
        ((offset / self.table.zone_len) as usize).clamp(self.from, self.to - 1)
    }

    /// Returns the zone after `index`, after skipping `skip` bytes.
    fn next_zone(&self, index: usize, skip: u64) -> usize {
        let next = index + 1 + (skip / self.table.zone_len) as usize;
        if next >= self.to { self.from } else { next }
    }

    /// Places a write in a zone that accepts writes at any offset.
    fn write_anywhere(
        &mut self,
        request: &IoRequest,
        zone: &TrackedZone,
        random: bool,
        skip: u64,
    ) -> ZonePlacement {
        let wanted = if random { request.offset } else { self.line };
        let at = if (zone.start..zone.end).contains(&wanted) {
            wanted
        } else {
            zone.start
        };
        let len = u64::from(request.len).min(zone.end - at);
        self.line = at + len;
        if !random && self.line >= zone.end {
            (self.writing, self.entered) = (self.next_zone(self.writing, skip), false);
            self.line = self.writing as u64 * self.table.zone_len;
        }
        ZonePlacement::at(request, at, len)
    }

    /// Places the next read of a sequential job: through the written data, zone by zone.
    fn read_on(
        &mut self,
        state: &ZoneState,
        request: &IoRequest,
        smallest: u64,
        skip: u64,
        beyond: bool,
    ) -> ZonePlacement {
        for _ in 0..=self.to - self.from {
            let index = self.zone_of(self.reading);
            let end = self.table.readable_end(&state.zones[index], beyond);
            if self.reading + smallest <= end {
                let len = u64::from(request.len).min(end - self.reading);
                let offset = self.reading;
                self.reading += len;
                self.read_in_pass += len;
                return ZonePlacement::at(request, offset, len);
            }
            let next = self.next_zone(index, skip);
            if next <= index {
                if self.read_in_pass == 0 || !another_round(&mut self.read_rounds) {
                    return ZonePlacement::Nothing;
                }
                self.read_in_pass = 0;
            }
            self.reading = next as u64 * self.table.zone_len;
        }
        ZonePlacement::Nothing
    }
}

/// Whether another pass over the zones is allowed; counts it.
fn another_round(rounds: &mut Option<u64>) -> bool {
    match rounds {
        None => true,
        Some(0) => false,
        Some(left) => {
            *left -= 1;
            true
        }
    }
}

/// Whether one more zone may be opened.
fn may_open(
    state: &ZoneState,
    table: &ZoneTable,
    region: &ZoneRegionCursor,
    worker: usize,
    most_each: usize,
) -> bool {
    let mine = || {
        state.zones[region.from..region.to]
            .iter()
            .filter(|zone| zone.open && zone.writer == worker)
            .count()
    };
    state.open < table.most_open && (most_each == usize::MAX || mine() < most_each)
}

/// Finds an open zone that this worker may write, starting from a given zone.
fn open_zone(
    state: &ZoneState,
    region: &ZoneRegionCursor,
    index: usize,
    worker: usize,
) -> Option<usize> {
    let mut others = (index..region.to).chain(region.from..index);
    let fits = |&index: &usize| {
        let zone = &state.zones[index];
        zone.open && zone.usable && zone.sequential && !zone.is_held_from(worker)
    };
    others.find(fits)
}
