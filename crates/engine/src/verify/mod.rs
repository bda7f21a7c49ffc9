//! Verification: written data contains a checksum or pattern, which is checked after reading.
//!
//! A [`Checker`] belongs to one worker and does no I/O on the target: it fills blocks before
//! writes, tracks them, determines what to read back, and reports mismatches. The worker decides
//! when to read back.

mod digest;
mod header;
mod in_flight;
mod inspect;
mod pool;
mod scheme;
mod speed;
mod state;
mod write_log;

pub use speed::{checksum_names, checksum_speed};

use self::in_flight::InFlightWrites;
use self::inspect::Inspector;
use self::pool::{FailedBlock, VerifyPool};
use self::scheme::{ExpectedBlock, Scheme};
use self::state::{Owner, VerifyState};
use self::write_log::{WriteLog, Written};
use crate::error::{RunError, errno_of};
use hakaru_model::job::{IoEngine, Op, PerOp};
use hakaru_model::obstacle::VerifyStateObstacle;
use hakaru_model::plan::WorkerPlan;
use hakaru_model::stream::{IoRequest, RequestStream, StreamPlan};
use rustix::fs::Advice;
use std::collections::{BTreeMap, VecDeque};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Follow-up work after a completed I/O.
#[derive(Debug, Default)]
pub(crate) struct FollowUp {
    /// Blocks that differ from the written data.
    pub(crate) bad: Vec<FailedBlock>,
    /// Reads to issue now for verification.
    pub(crate) reads: Vec<IoRequest>,
}

/// Schedule of a verifying job.
#[derive(Clone, Copy, Debug)]
pub(crate) struct VerifySchedule {
    /// Number of write passes, each read back.
    pub(crate) rounds: u32,
    /// Whether nothing is written, only read back.
    pub(crate) rehearses: bool,
    /// Whether written data is read back.
    pub(crate) reads_back: bool,
}

/// Verification state of a worker.
#[derive(Debug)]
pub(crate) struct Checker {
    inspector: Arc<Inspector>,
    pool: Option<VerifyPool>,
    schedule: VerifySchedule,
    /// Whether the job writes; otherwise it verifies the data of another job.
    writes: bool,
    /// Number of writes between checks, and of blocks per check; `None`: at the end.
    backlog: Option<(usize, usize)>,
    /// Number of the last write.
    sequence: u64,
    /// Writes in flight, by slot.
    writing: InFlightWrites,
    /// Expected content of the read in each slot; `None` for a read of the workload.
    reading: Vec<Option<Written>>,
    /// Whether several I/Os can be in flight: then [`Checker::issued`] is called for each read.
    pub(crate) queued: bool,
    write_log: WriteLog,
    /// Blocks that are about to be read back between writes, by region and offset.
    pending: BTreeMap<(u32, u64), Written>,
    /// Blocks that are being read back after the writes, by region and offset.
    expected: Vec<Written>,
    largest: u64,
    loaded: Option<VerifyState>,
    saves_state: bool,
    /// Offsets of the writes that completed last, oldest first, by region, if a state is saved.
    last: Vec<VecDeque<u64>>,
    drops_cache: bool,
    /// Whether each trim is followed by a write of the same range. Such a trim does not count for `backlog`.
    rewrites_trims: bool,
    in_write_order: bool,
    /// Time spent on each operation in nanoseconds, if data was read back.
    pub(crate) spent: PerOp<Option<u64>>,
}

/// Whether each trim is followed by a write of the same range.
fn rewrites_trims(stream: &StreamPlan) -> bool {
    let StreamPlan { access, block, .. } = stream;
    access.trim_before_write && (access.writes_what_it_trims() || block.trim == block.write)
}

impl Checker {
    /// Creates the checker of a worker with verification. `names` are the names of its regions.
    ///
    /// # Errors
    /// [`RunError`] if the saved state is invalid or the threads cannot be started.
    pub(crate) fn new(
        plan: &WorkerPlan,
        names: &[String],
    ) -> Result<Option<Box<Checker>>, RunError> {
        let Some(verify) = &plan.verify else {
            return Ok(None);
        };
        let rules = &verify.rules;
        let writes = plan.stream.access.does(Op::Write);
        if !writes && !rules.read_back {
            return Ok(None);
        }
        let loaded = if rules.load_state {
            Some(load(plan, &state::path(rules, &plan.name, plan.number))?)
        } else {
            None
        };
        let inspector = Arc::new(Inspector {
            scheme: Scheme::new(verify, &plan.buffers),
            files: names.to_vec(),
        });
        let pool = match rules.async_threads {
            0 => None,
            threads => Some(
                VerifyPool::new(threads, &rules.async_cpus, &inspector).map_err(|e| {
                    RunError::Thread {
                        job: plan.name.clone(),
                        errno: errno_of(&e),
                    }
                })?,
            ),
        };
        let backlog = rules.backlog.min(1 << 32) as usize;
        let batch = rules.backlog_batch.min(1 << 32) as usize;
        let batch = if batch == 0 { backlog } else { batch };
        let expected_writes = plan
            .stream
            .limit_bytes
            .map_or(0, |bytes| bytes / u64::from(plan.max_block.max(1)));
        Ok(Some(Box::new(Checker {
            inspector,
            pool,
            schedule: VerifySchedule {
                rounds: if writes { verify.loops.max(1) } else { 1 },
                rehearses: rules.only && writes,
                reads_back: rules.read_back && writes,
            },
            writes,
            backlog: (backlog > 0 && rules.read_back && !rules.only).then_some((backlog, batch)),
            sequence: 0,
            writing: InFlightWrites::new(plan.queue.iodepth as usize),
            reading: vec![None; plan.queue.iodepth as usize],
            queued: false,
            write_log: WriteLog::with_room(if rules.read_back { expected_writes } else { 0 }),
            pending: BTreeMap::new(),
            expected: Vec::new(),
            largest: plan.max_block.into(),
            saves_state: rules.save_state && writes && !rules.only,
            last: names
                .iter()
                .map(|_| VecDeque::with_capacity(owner(plan).room()))
                .collect(),
            loaded,
            drops_cache: plan.files.invalidate,
            rewrites_trims: rewrites_trims(&plan.stream),
            in_write_order: verify.in_write_order,
            spent: PerOp::default(),
        })))
    }

    pub(crate) fn schedule(&self) -> VerifySchedule {
        self.schedule
    }

    /// Whether it fills the blocks to be written.
    pub(crate) fn fills(&self) -> bool {
        self.writes
    }

    /// Returns the requests of a round; 0 is the first.
    pub(crate) fn requests(&self, plan: &WorkerPlan, round: u32) -> RequestStream {
        let mut stream = plan.stream.clone();
        let share = |limit: u64| limit / u64::from(self.schedule.rounds);
        stream.limit_bytes = stream.limit_bytes.map(share);
        stream.limit_ios = stream.limit_ios.map(share);
        (stream.loops, stream.pass_bytes) = ((stream.loops / self.schedule.rounds).max(1), None);
        stream.seed ^= u64::from(round).rotate_left(40);
        if let Some(state) = self
            .loaded
            .as_ref()
            .filter(|_| !self.writes || self.schedule.rehearses)
        {
            stream.limit_ios = Some(
                stream
                    .limit_ios
                    .map_or(state.writes, |limit| limit.min(state.writes)),
            );
        }
        stream.requests()
    }

    /// Fills the block of a write that is about to be issued.
    pub(crate) fn fill(&mut self, slot: u32, request: &IoRequest, block: &mut [u8]) {
        self.sequence += 1;
        self.writing.begin(slot, request, self.sequence);
        self.forget(request);
        self.inspector
            .scheme
            .write(block, request.offset, self.sequence);
    }

    /// Tracks a write of an earlier run.
    pub(crate) fn rehearse(&mut self, request: &IoRequest) {
        self.sequence += 1;
        self.write_log.add(Written::new(
            request,
            self.sequence,
            request.op == Op::Write,
        ));
    }

    /// Drops the expected content of a block: if it is rewritten while being read back, its
    /// previous content cannot be verified.
    fn forget(&mut self, request: &IoRequest) {
        let IoRequest {
            region,
            offset,
            len,
            ..
        } = *request;
        let near = (region, offset.saturating_sub(self.largest))..(region, offset + u64::from(len));
        while let Some(place) = self
            .pending
            .range(near.clone())
            .find(|(_, w)| w.end() > offset)
            .map(|(&at, _)| at)
        {
            self.pending.remove(&place);
        }
        for reading in &mut self.reading {
            *reading = reading.filter(|written| !written.overlaps(request));
        }
    }

    /// Called when a read is issued. `reads_back` distinguishes reads requested by
    /// [`Checker::landed`] or [`Checker::begin_reading`] from those of the workload.
    pub(crate) fn issued(&mut self, slot: u32, request: &IoRequest, reads_back: bool) {
        self.reading[slot as usize] = if reads_back {
            self.expect(request)
        } else {
            None
        };
    }

    /// Returns the expected content of a block that is read back.
    fn expect(&mut self, request: &IoRequest) -> Option<Written> {
        let place = (request.region, request.offset);
        let written = match self
            .expected
            .binary_search_by_key(&place, |w| (w.region, w.offset))
        {
            Ok(at) => Some(self.expected[at]),
            Err(_) => self.pending.remove(&place),
        };
        written.filter(|written| written.len == request.len)
    }

    /// Processes a completed I/O. `whole` means it transferred all bytes; `block` is the data of a
    /// complete read.
    pub(crate) fn landed(
        &mut self,
        slot: u32,
        request: &IoRequest,
        block: &[u8],
        whole: bool,
    ) -> FollowUp {
        match request.op {
            Op::Read if whole => FollowUp {
                bad: self.check(slot, request, block),
                reads: Vec::new(),
            },
            Op::Read => FollowUp::default(),
            Op::Trim => {
                self.sequence += 1;
                if !self.rewrites_trims {
                    let trimmed = Written::new(request, self.sequence, false);
                    self.write_log.add(trimmed);
                }
                FollowUp::default()
            }
            Op::Write => {
                let (sequence, alone) = self.writing.end(slot);
                self.remember(request);
                if self.schedule.reads_back || !whole {
                    self.write_log
                        .add(Written::new(request, sequence, whole && alone));
                }
                FollowUp {
                    bad: Vec::new(),
                    reads: self.due(),
                }
            }
        }
    }

    fn remember(&mut self, request: &IoRequest) {
        let Some(last) = self
            .last
            .get_mut(request.region as usize)
            .filter(|_| self.saves_state)
        else {
            return;
        };
        if last.len() == last.capacity() {
            last.pop_front();
        }
        last.push_back(request.offset);
    }

    /// Returns the reads that are due after N writes.
    fn due(&mut self) -> Vec<IoRequest> {
        let Some((backlog, batch)) = self.backlog else {
            return Vec::new();
        };
        if self.write_log.len() < backlog {
            return Vec::new();
        }
        let mut batch = if self.in_write_order {
            self.write_log.take_with_repeats(batch)
        } else {
            self.write_log.take(batch)
        };
        // A block that is being overwritten may return either content.
        batch.retain(|written| !self.writing.overlap(written));
        self.pending
            .extend(batch.iter().map(|w| ((w.region, w.offset), *w)));
        batch.iter().map(Written::read).collect()
    }

    fn check(&mut self, slot: u32, request: &IoRequest, block: &[u8]) -> Vec<FailedBlock> {
        let Some(wanted) = self.wanted(slot, request) else {
            return Vec::new();
        };
        match &mut self.pool {
            Some(pool) => pool.give(*request, block, wanted),
            None => match self.inspector.inspect(request, block, wanted) {
                found if found.is_empty() => Vec::new(),
                found => vec![(*request, found)],
            },
        }
    }

    /// Returns the expected content of a read; `None` for a read of the workload.
    fn wanted(&mut self, slot: u32, request: &IoRequest) -> Option<ExpectedBlock> {
        let IoRequest {
            region,
            offset,
            len,
            ..
        } = *request;
        if !self.writes {
            let state = self.loaded.as_ref();
            let meets = |&(r, o, l): &(u32, u64, u32)| {
                r == region && o < offset + u64::from(len) && offset < o + u64::from(l)
            };
            return (!state.is_some_and(|s| s.unknown.iter().any(meets)))
                .then(ExpectedBlock::default);
        }
        let written = if self.queued {
            self.reading[slot as usize].take()
        } else {
            self.expect(request)
        }?;
        // An earlier job may have written in a different order.
        let sequence = (!self.schedule.rehearses).then_some(written.sequence);
        Some(ExpectedBlock {
            sequence,
            own_seed: true,
        })
    }

    /// Returns the reads that verify all written data, once the writes are done.
    pub(crate) fn begin_reading(&mut self) -> Vec<IoRequest> {
        if self.drops_cache {
            self.inspector
                .files
                .iter()
                .filter(|name| !name.is_empty())
                .for_each(|name| drop_cache(name));
        }
        self.pending.clear();
        if self.in_write_order {
            let (expected, reads) = self.write_log.settle_in_order();
            self.expected = expected;
            return reads;
        }
        self.expected = self.write_log.settle();
        self.expected.iter().map(Written::read).collect()
    }

    /// Ends reading back. Returns the failed blocks that the verify threads found.
    pub(crate) fn end_reading(&mut self) -> Vec<FailedBlock> {
        self.expected.clear();
        self.pool
            .as_mut()
            .map(|pool| pool.collect(true))
            .unwrap_or_default()
    }

    /// Saves how far the worker has written.
    ///
    /// # Errors
    /// The file that could not be written, and the error of the file system.
    pub(crate) fn save_state(&self, plan: &WorkerPlan) -> Result<(), (PathBuf, std::io::Error)> {
        let Some(verify) = plan.verify.as_ref().filter(|_| self.saves_state) else {
            return Ok(());
        };
        let unknown = self
            .write_log
            .unknown()
            .map(|w| (w.region, w.offset, w.len))
            .collect();
        let path = state::path(&verify.rules, &plan.name, plan.number);
        let state = VerifyState {
            writes: self.sequence,
            foreign: false,
            unknown,
        };
        std::fs::write(&path, state.bytes(owner(plan), &self.last)).map_err(|e| (path, e))
    }
}

fn owner(plan: &WorkerPlan) -> Owner<'_> {
    let queued = !plan.ioengine.is_synchronous() && plan.ioengine != IoEngine::Vsync;
    Owner {
        job: &plan.name,
        number: plan.number,
        depth: plan.queue.iodepth,
        queued,
    }
}

/// Loads the state saved by an earlier run, if this job can use it.
fn load(plan: &WorkerPlan, path: &Path) -> Result<VerifyState, RunError> {
    let state = VerifyState::load(path)?;
    let all = plan
        .stream
        .limit_bytes
        .is_some_and(|bytes| state.writes >= bytes / u64::from(plan.max_block.max(1)));
    if state.foreign && plan.stream.access.random && !all {
        return Err(RunError::State {
            path: path.to_owned(),
            reason: VerifyStateObstacle::RandomOfFio,
        });
    }
    Ok(state)
}

/// Drops the cache, so that data is read back from the device. If the cache cannot be dropped,
/// cached data is verified.
fn drop_cache(name: &str) {
    let Ok(file) = std::fs::File::open(name) else {
        return;
    };
    let device = std::os::unix::fs::FileTypeExt::is_block_device;
    let _ = match file.metadata() {
        Ok(meta) if device(&meta.file_type()) => hakaru_sys::file::drop_device_cache(&file),
        _ => rustix::fs::fadvise(&file, 0, None, Advice::DontNeed),
    };
}

#[cfg(test)]
mod tests;
