//! Which requests belong to which operation.

use super::{Commit, ThreadEvents};
use crate::address_map::FileRange;
use crate::classify::{OwnThreads, issuer_kind, ring_owner};
use crate::summary::{Kept, KeptBio, ThreadNames};
use hakaru_model::io_path::{IoClass, IssuerKind, TracedOperation};
use hakaru_model::job::Op;
use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};

/// Requests by the operations that waited for them.
#[derive(Debug, Default)]
pub(crate) struct Owners {
    /// First entry of `owned` of each operation; one more at the end.
    first: Vec<u32>,
    /// Requests by operation.
    owned: Vec<u32>,
    /// Bios of threads of the kernel: (thread, time of queuing, request), in order.
    kernel_bios: Vec<(u32, u64, u32)>,
    /// Requests of threads of the kernel: (completion, request), in order.
    kernel_requests: Vec<(u64, u32)>,
    /// Times of flush commands on the device: disjoint, in order.
    flushes: Vec<(u64, u64)>,
}

/// Where the bytes of the files under test are, by file and offset.
type FileRanges<'a> = BTreeMap<(u32, u64), &'a FileRange>;

impl Owners {
    /// Finds the operations of all requests. Cost: (n + m) log n.
    pub(crate) fn find(
        operations: &[TracedOperation],
        kept: &Kept,
        classes: &[IoClass],
        files: &[FileRange],
        names: &ThreadNames,
        own: OwnThreads<'_>,
    ) -> Owners {
        let files: FileRanges<'_> = files.iter().map(|it| ((it.file, it.offset), it)).collect();
        let mut by_thread: HashMap<u32, Vec<u32>> = HashMap::new();
        for (index, operation) in operations.iter().enumerate() {
            by_thread
                .entry(operation.tid)
                .or_default()
                .push(index as u32);
        }
        let mut found = Owners::default();
        let mut threads: HashMap<(u32, u16), (u32, IssuerKind)> = HashMap::new();
        let mut bios: HashMap<u32, Vec<(u32, KeptBio)>> = HashMap::new();
        for (index, request) in kept.requests.iter().enumerate() {
            let index = index as u32;
            if request.is_flush() {
                found.flushes.push(request.served);
                continue;
            }
            for bio in kept.bios_of(request) {
                let (tid, kind) = *threads.entry((bio.tid, bio.name)).or_insert_with(|| {
                    let name = names.name(bio.name);
                    let owner = ring_owner(bio.tid, &name.to_string());
                    (owner, issuer_kind(bio.tid, name, own))
                });
                if by_thread.contains_key(&tid) {
                    bios.entry(tid).or_default().push((index, *bio));
                    continue;
                }
                if matches!(kind, IssuerKind::Kernel | IssuerKind::Journal) {
                    found.kernel_bios.push((bio.tid, bio.queued, index));
                    if let Some(completed) = request.completed {
                        found.kernel_requests.push((completed, index));
                    }
                }
            }
        }
        found.sort();
        let mut owned = Vec::new();
        for (tid, mut indexes) in by_thread {
            let mut bios = bios.remove(&tid).unwrap_or_default();
            bios.sort_by_key(|(_, bio)| bio.queued);
            indexes.sort_by_key(|&index| operations[index as usize].begin);
            let mut thread = ThreadOperations::new(operations, &indexes, &files);
            for (request, bio) in bios {
                let class = classes[request as usize];
                let op = kept.requests[request as usize].op();
                if let Some(owner) = thread.owner(&bio, op, class) {
                    owned.push((owner, request));
                }
            }
        }
        found.index(operations.len(), owned);
        found
    }

    fn sort(&mut self) {
        self.kernel_bios.sort_unstable();
        self.kernel_requests.sort_unstable();
        self.kernel_requests.dedup();
        self.flushes.retain(|(start, end)| start < end);
        self.flushes.sort_unstable();
        self.flushes.dedup_by(|next, last| {
            let overlaps = next.0 <= last.1;
            if overlaps {
                last.1 = last.1.max(next.1);
            }
            overlaps
        });
    }

    fn index(&mut self, operations: usize, mut owned: Vec<(u32, u32)>) {
        owned.sort_unstable();
        owned.dedup();
        self.first = vec![0; operations + 1];
        for &(operation, _) in &owned {
            self.first[operation as usize + 1] += 1;
        }
        for index in 0..operations {
            self.first[index + 1] += self.first[index];
        }
        self.owned = owned.into_iter().map(|(_, request)| request).collect();
    }

    /// Returns the requests that the operation's own thread queued for it.
    pub(crate) fn requests_of(&self, operation: u32) -> &[u32] {
        let index = operation as usize;
        &self.owned[self.first[index] as usize..self.first[index + 1] as usize]
    }

    /// Returns the times of flush commands on the device that overlap a span.
    pub(crate) fn flushes(&self, start: u64, end: u64) -> impl Iterator<Item = (u64, u64)> + '_ {
        let first = self.flushes.partition_point(|flush| flush.1 <= start);
        let flushes = self.flushes[first..].iter().copied();
        flushes.take_while(move |flush| flush.0 < end)
    }

    /// Adds what a synchronous operation shares with others: the commits that end before it does, and the writeback
    /// and metadata of kernel threads that complete in it.
    pub(crate) fn add_shared(
        &self,
        operation: &TracedOperation,
        kept: &Kept,
        classes: &[IoClass],
        events: &ThreadEvents,
        requests: &mut Vec<u32>,
        commits: &mut Vec<Commit>,
    ) {
        let (begin, end) = (operation.begin, operation.end);
        let first = events.commits.partition_point(|commit| commit.end <= begin);
        let ended = events.commits[first..]
            .iter()
            .take_while(|commit| commit.end <= end);
        for commit in ended {
            commits.push(*commit);
            let key = (commit.tid, commit.start);
            let from = self
                .kernel_bios
                .partition_point(|&(tid, time, _)| (tid, time) < key);
            let until = (commit.tid, commit.end);
            let bios = self.kernel_bios[from..].iter();
            let bios = bios.take_while(|&&(tid, time, _)| (tid, time) <= until);
            requests.extend(bios.map(|&(_, _, request)| request));
        }
        let first = self
            .kernel_requests
            .partition_point(|&(time, _)| time <= begin);
        let completed = self.kernel_requests[first..].iter();
        let waited_for = completed
            .take_while(|&&(time, _)| time <= end)
            .map(|&(_, request)| request)
            .filter(|&request| {
                let kept = &kept.requests[request as usize];
                let waits = kept.flags.sync && kept.queued >= begin;
                match classes[request as usize] {
                    IoClass::Data => true,
                    IoClass::OtherPartition => false,
                    _ => waits,
                }
            });
        requests.extend(waited_for);
    }
}

/// Operations of one thread, as its bios are looked at in order of time.
struct ThreadOperations<'a> {
    operations: &'a [TracedOperation],
    files: &'a FileRanges<'a>,
    /// Operations that have not begun, in order of their begin.
    later: std::slice::Iter<'a, u32>,
    /// Operations in progress: (end, operation).
    active: BTreeSet<(u64, u32)>,
    /// Those of them that only wait: `fsync` and similar calls.
    syncs: BTreeSet<(u64, u32)>,
    /// Operations in progress without bios for all of their bytes, oldest first, by direction.
    open: [VecDeque<u32>; 3],
    /// Bytes of bios that an open operation has.
    supplied: HashMap<u32, u64>,
    /// Operations in progress by direction and address: (end, operation).
    by_address: BTreeMap<(Op, u64), (u64, u32)>,
    newest: Option<u32>,
}

impl<'a> ThreadOperations<'a> {
    /// Ranges of one operation that are looked up: more are as rare as files in that many pieces.
    const MAX_RANGES: usize = 4;

    fn new(
        operations: &'a [TracedOperation],
        in_order: &'a [u32],
        files: &'a FileRanges<'a>,
    ) -> ThreadOperations<'a> {
        ThreadOperations {
            operations,
            files,
            later: in_order.iter(),
            active: BTreeSet::new(),
            syncs: BTreeSet::new(),
            open: Default::default(),
            supplied: HashMap::new(),
            by_address: BTreeMap::new(),
            newest: None,
        }
    }

    /// Returns the operation for which a bio was queued.
    fn owner(&mut self, bio: &KeptBio, op: Option<Op>, class: IoClass) -> Option<u32> {
        self.advance(bio.queued);
        let owner = self.find(bio, op, class)?;
        *self.supplied.entry(owner).or_default() += u64::from(bio.range.sectors) * 512;
        Some(owner)
    }

    fn find(&mut self, bio: &KeptBio, op: Option<Op>, class: IoClass) -> Option<u32> {
        if self.active.len() <= 1 {
            return self.active.first().map(|&(_, operation)| operation);
        }
        if !super::is_data(class)
            && let Some(&(_, sync)) = self.syncs.first()
        {
            return Some(sync);
        }
        op.and_then(|op| {
            self.at_address(op, bio)
                .or_else(|| self.next_in_order(op, bio.queued))
        })
        .or_else(|| self.syncs.first().map(|&(_, sync)| sync))
        .or(self.newest)
    }

    fn at_address(&self, op: Op, bio: &KeptBio) -> Option<u32> {
        let start = bio.range.start;
        let mut before = self.by_address.range((op, 0)..=(op, start)).rev();
        let (_, &(end, operation)) = before.next()?;
        (start < end).then_some(operation)
    }

    /// Returns the oldest operation whose bytes have not all been queued.
    fn next_in_order(&mut self, op: Op, now: u64) -> Option<u32> {
        let open = &mut self.open[op as usize];
        while let Some(&front) = open.front() {
            let operation = &self.operations[front as usize];
            let supplied = self.supplied.get(&front).copied().unwrap_or(0);
            if operation.end >= now && supplied < operation.len {
                return Some(front);
            }
            open.pop_front();
        }
        None
    }

    /// Begins and ends operations up to a moment.
    fn advance(&mut self, now: u64) {
        while let Some(&next) = self.later.as_slice().first() {
            let operation = &self.operations[next as usize];
            if operation.begin > now {
                break;
            }
            self.later.next();
            if operation.end >= now {
                self.begin(next);
            }
        }
        while let Some(&(end, operation)) = self.active.first()
            && end < now
        {
            self.active.pop_first();
            self.forget(operation);
        }
    }

    fn begin(&mut self, index: u32) {
        let operation = &self.operations[index as usize];
        self.active.insert((operation.end, index));
        self.newest = Some(index);
        let Some(op) = operation.op else {
            self.syncs.insert((operation.end, index));
            return;
        };
        self.open[op as usize].push_back(index);
        for (start, end) in addresses(self.files, operation) {
            self.by_address.insert((op, start), (end, index));
        }
    }

    fn forget(&mut self, index: u32) {
        let operation = &self.operations[index as usize];
        self.supplied.remove(&index);
        if self.newest == Some(index) {
            self.newest = None;
        }
        let Some(op) = operation.op else {
            self.syncs.remove(&(operation.end, index));
            return;
        };
        for (start, _) in addresses(self.files, operation) {
            if self
                .by_address
                .get(&(op, start))
                .is_some_and(|it| it.1 == index)
            {
                self.by_address.remove(&(op, start));
            }
        }
    }
}

/// Returns the sectors of an operation: first, and behind the last.
fn addresses(
    files: &FileRanges<'_>,
    operation: &TracedOperation,
) -> impl Iterator<Item = (u64, u64)> {
    let (file, from) = (operation.file, operation.offset);
    let until = from.saturating_add(operation.len);
    let first = files
        .range(..=(file, from))
        .next_back()
        .filter(|(key, _)| key.0 == file)
        .map_or(from, |(key, _)| key.1);
    files
        .range((file, first)..(file, until.max(first)))
        .take(ThreadOperations::MAX_RANGES)
        .filter_map(move |(_, range)| {
            let length = range.sectors.saturating_mul(512);
            let start = from.max(range.offset) - range.offset;
            let end = (until - range.offset).min(length);
            let sector = |bytes: u64| range.sector.saturating_add(bytes / 512);
            (start < end).then(|| (sector(start), sector(end.next_multiple_of(512))))
        })
}
