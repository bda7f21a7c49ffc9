//! Requests on the device.

use crate::event::{BlockOp, RequestFlags, SectorRange};
use crate::request::TracedRequest;
use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};

/// A request on the device.
#[derive(Clone, Debug)]
pub(super) struct InFlightRequest {
    pub(super) request: TracedRequest,
    /// Sectors that have not completed.
    left: u32,
}

impl InFlightRequest {
    pub(super) fn new(request: TracedRequest) -> InFlightRequest {
        InFlightRequest {
            left: request.range.sectors,
            request,
        }
    }

    /// Returns the first sector that has not completed.
    pub(super) fn start(&self) -> u64 {
        self.request
            .range
            .end()
            .saturating_sub(u64::from(self.left))
    }
}

/// Operation and first sector that has not completed.
type Key = (BlockOp, u64);

/// Requests of one operation at one address, oldest first, and the completions that could belong to any of them.
#[derive(Debug, Default)]
struct SameAddress {
    requests: VecDeque<InFlightRequest>,
    /// Time and error of each completion, in order.
    completions: VecDeque<(u64, i32)>,
}

/// Requests in flight, and those that the driver has returned.
///
/// Events can be lost. If a request is issued at the address of one in flight, either both are in flight, or the
/// completion of the first was lost. With as many completions as requests, they belong together in order. If another
/// request follows before, the oldest requests end without a completion. Should their completions come after all, that
/// address really is used by several requests at once, and is served in order from then on.
#[derive(Debug, Default)]
pub(super) struct InFlightRequests {
    by_start: HashMap<Key, SameAddress>,
    requeued: BTreeMap<Key, VecDeque<InFlightRequest>>,
    /// Addresses at which several requests are in flight at once.
    shared: HashSet<Key>,
    /// Addresses whose requests ended without a completion, and how many.
    lost: HashMap<Key, u32>,
    count: usize,
    unseen: u64,
    ambiguous: u64,
    /// Longest time on the device so far.
    slowest: u64,
}

impl InFlightRequests {
    /// More than any host has in flight.
    const MAX: usize = 1 << 16;
    /// Addresses remembered as shared or lost.
    const MAX_REMEMBERED: usize = 4096;
    /// Shortest time after which a request can count as lost.
    const PATIENCE: u64 = 1_000_000_000;

    pub(super) fn unseen(&self) -> u64 {
        self.unseen
    }

    pub(super) fn ambiguous(&self) -> u64 {
        self.ambiguous
    }

    /// Returns the requests in flight and the requeued ones.
    pub(super) fn requests(&self) -> impl Iterator<Item = &TracedRequest> {
        let issued = self.by_start.values().flat_map(|same| &same.requests);
        let requeued = self.requeued.values().flatten();
        issued.chain(requeued).map(|flight| &flight.request)
    }

    /// Adds an issued request.
    pub(super) fn issue(&mut self, flight: InFlightRequest, done: &mut Vec<TracedRequest>) {
        if self.count >= Self::MAX {
            self.drop_older_half(done);
        }
        let key = (flight.request.flags.op, flight.start());
        let known = self
            .by_start
            .get(&key)
            .is_some_and(|same| !same.completions.is_empty());
        if known {
            self.resolve(key, done);
        }
        let same = self.by_start.entry(key).or_default();
        same.requests.push_back(flight);
        self.count += 1;
    }

    /// Issues a requeued request again; false if there is none of this address and length.
    pub(super) fn reissue(&mut self, range: SectorRange, flags: RequestFlags, time: u64) -> bool {
        let key = (flags.op, range.start);
        let Some(queue) = self.requeued.get_mut(&key) else {
            return false;
        };
        let fits = |flight: &InFlightRequest| flight.left == range.sectors;
        let Some(mut flight) = queue
            .iter()
            .position(fits)
            .and_then(|index| queue.remove(index))
        else {
            return false;
        };
        if queue.is_empty() {
            self.requeued.remove(&key);
        }
        flight.request.requeues = flight.request.requeues.saturating_add(1);
        flight.request.issued = time;
        let same = self.by_start.entry(key).or_default();
        same.requests.push_back(flight);
        self.count += 1;
        true
    }

    /// Takes the requeued requests that begin inside a range, because they were merged with others since.
    pub(super) fn take_requeued(
        &mut self,
        range: SectorRange,
        op: BlockOp,
    ) -> Vec<InFlightRequest> {
        if self.requeued.is_empty() {
            return Vec::new();
        }
        let inside = self.requeued.range((op, range.start)..(op, range.end()));
        let keys: Vec<Key> = inside.map(|(&key, _)| key).collect();
        keys.iter()
            .filter_map(|key| self.requeued.remove(key))
            .flatten()
            .collect()
    }

    /// Moves a request from the device back to the queue.
    pub(super) fn requeue(&mut self, range: SectorRange, op: BlockOp) {
        let start = if op == BlockOp::Flush {
            super::FLUSH.start
        } else {
            range.start
        };
        let key = (op, start);
        let Some(same) = self.by_start.get_mut(&key) else {
            return;
        };
        let fits = |flight: &InFlightRequest| flight.left == range.sectors;
        let index = same.requests.iter().rposition(fits);
        let flight = index.and_then(|index| same.requests.remove(index));
        if same.requests.is_empty() {
            self.by_start.remove(&key);
        }
        if let Some(flight) = flight {
            self.count -= 1;
            self.requeued.entry(key).or_default().push_back(flight);
        }
    }

    /// Completes sectors of a request; false if none is in flight at this address.
    pub(super) fn complete(
        &mut self,
        time: u64,
        range: SectorRange,
        op: BlockOp,
        error: i32,
        done: &mut Vec<TracedRequest>,
    ) -> bool {
        let key = (op, range.start);
        let Some(same) = self.by_start.get_mut(&key) else {
            self.learn_shared(key);
            return false;
        };
        let several = same.requests.len() > 1;
        let alike = same
            .requests
            .iter()
            .all(|flight| flight.left == same.requests[0].left);
        if several && !alike {
            self.ambiguous += 1;
        }
        let fits = |flight: &InFlightRequest| flight.left == range.sectors;
        let longer = |flight: &InFlightRequest| flight.left > range.sectors;
        let index = same
            .requests
            .iter()
            .position(fits)
            .or_else(|| same.requests.iter().position(longer));
        let Some(index) = index else {
            // All are shorter than what completed: their completions and the issue of this one were lost.
            same.completions.clear();
            for flight in std::mem::take(&mut same.requests) {
                self.count -= 1;
                self.unseen += 1;
                done.push(flight.request);
            }
            self.by_start.remove(&key);
            return false;
        };
        if several && alike && fits(&same.requests[index]) && !self.shared.contains(&key) {
            same.completions.push_back((time, error));
            if same.completions.len() == same.requests.len() {
                self.resolve(key, done);
            }
            return true;
        }
        self.complete_at(key, index, range.sectors, (time, error), done);
        true
    }

    /// Completes a bio by its sectors, wherever inside a bio in flight they are; false if there is none.
    ///
    /// A device may have advanced the bio to its end: then only the end fits.
    pub(super) fn complete_inside(
        &mut self,
        time: u64,
        range: SectorRange,
        op: BlockOp,
        error: i32,
        done: &mut Vec<TracedRequest>,
    ) -> bool {
        let end = range.end();
        let found = self.by_start.iter().find_map(|(&key, same)| {
            let inside = |flight: &InFlightRequest| match range.sectors {
                0 => flight.request.range.end() == end,
                _ => {
                    let whole = flight.request.range;
                    whole.start <= range.start && end <= whole.end()
                }
            };
            let index = same.requests.iter().position(inside)?;
            (key.0 == op).then_some((key, index))
        });
        let Some((key, index)) = found else {
            return false;
        };
        let all = self.by_start[&key].requests[index].left;
        let sectors = if range.sectors == 0 {
            all
        } else {
            range.sectors
        };
        self.complete_at(key, index, sectors, (time, error), done);
        true
    }

    /// Returns the request that a command on the bus serves: the newest at this address without a command, or else one
    /// with a command.
    pub(super) fn served(&mut self, op: BlockOp, sector: u64) -> Option<&mut TracedRequest> {
        let same = self.by_start.get_mut(&(op, sector))?;
        let index = same
            .requests
            .iter()
            .rposition(|flight| flight.request.command.is_none())
            .unwrap_or(0);
        Some(&mut same.requests.get_mut(index)?.request)
    }

    /// Returns the request whose command on the bus began at `start`.
    pub(super) fn commanded(
        &mut self,
        op: BlockOp,
        sector: u64,
        start: u64,
    ) -> Option<&mut TracedRequest> {
        let same = self.by_start.get_mut(&(op, sector))?;
        same.requests
            .iter_mut()
            .map(|flight| &mut flight.request)
            .find(|request| request.command.is_some_and(|it| it.start == start))
    }

    /// Returns the oldest discard in flight: address and request.
    pub(super) fn oldest_discard(&mut self) -> Option<(u64, &mut TracedRequest)> {
        self.by_start
            .iter_mut()
            .filter(|((op, _), _)| *op == BlockOp::Discard)
            .flat_map(|(key, same)| same.requests.iter_mut().map(|flight| (key.1, flight)))
            .min_by_key(|(_, flight)| flight.request.issued)
            .map(|(sector, flight)| (sector, &mut flight.request))
    }

    /// Ends everything that cannot be decided any more.
    pub(super) fn settle(&mut self, now: u64, done: &mut Vec<TracedRequest>) {
        let open = |same: &SameAddress| !same.completions.is_empty();
        let undecided = self.by_start.iter().filter(|(_, same)| open(same));
        let mut keys: Vec<Key> = undecided.map(|(&key, _)| key).collect();
        keys.sort_unstable();
        for key in keys {
            self.resolve(key, done);
        }
        let patience = Self::PATIENCE.max(self.slowest.saturating_mul(10));
        self.drop_issued_before(now.saturating_sub(patience), done);
    }

    /// Assigns completions to requests at one address: each to the newest request that was issued before it. Requests
    /// that get none end without.
    fn resolve(&mut self, key: Key, done: &mut Vec<TracedRequest>) {
        let Some(same) = self.by_start.remove(&key) else {
            return;
        };
        self.count -= same.requests.len();
        let missing = same.requests.len() - same.completions.len().min(same.requests.len());
        let mut completions = same.completions.into_iter();
        for (index, flight) in same.requests.into_iter().enumerate() {
            let completion = if index < missing {
                None
            } else {
                completions.next()
            };
            self.end(key, flight, completion, done);
        }
    }

    fn complete_at(
        &mut self,
        key: Key,
        index: usize,
        sectors: u32,
        (time, error): (u64, i32),
        done: &mut Vec<TracedRequest>,
    ) {
        let Some(same) = self.by_start.get_mut(&key) else {
            return;
        };
        let Some(mut flight) = same.requests.remove(index) else {
            return;
        };
        if same.requests.is_empty() {
            self.by_start.remove(&key);
        }
        self.count -= 1;
        flight.left = flight.left.saturating_sub(sectors);
        if flight.left == 0 {
            self.end(key, flight, Some((time, error)), done);
            return;
        }
        if flight.request.error == 0 {
            flight.request.error = error;
        }
        let moved = (key.0, flight.start());
        self.count += 1;
        let same = self.by_start.entry(moved).or_default();
        same.requests.push_front(flight);
    }

    fn end(
        &mut self,
        key: Key,
        mut flight: InFlightRequest,
        completion: Option<(u64, i32)>,
        done: &mut Vec<TracedRequest>,
    ) {
        let request = &mut flight.request;
        match completion {
            Some((time, error)) => {
                request.completed = Some(time);
                if request.error == 0 {
                    request.error = error;
                }
                self.slowest = self.slowest.max(time.saturating_sub(request.issued));
            }
            None => {
                self.unseen += 1;
                if self.lost.len() < Self::MAX_REMEMBERED {
                    *self.lost.entry(key).or_default() += 1;
                }
            }
        }
        request.command = request.command.filter(|command| command.done != 0);
        done.push(flight.request);
    }

    /// A completion came without a request in flight. If one had ended without completion there, they overlap.
    fn learn_shared(&mut self, key: Key) {
        if let Some(lost) = self.lost.get_mut(&key) {
            *lost -= 1;
            self.unseen -= 1;
            if *lost == 0 {
                self.lost.remove(&key);
            }
            if self.shared.len() < Self::MAX_REMEMBERED {
                self.shared.insert(key);
            }
        }
    }

    fn drop_older_half(&mut self, done: &mut Vec<TracedRequest>) {
        let issued = self.by_start.values().flat_map(|same| &same.requests);
        let mut times: Vec<_> = issued.map(|flight| flight.request.issued).collect();
        let middle = times.len() / 2;
        let (_, &mut limit, _) = times.select_nth_unstable(middle);
        self.drop_issued_before(limit.saturating_add(1), done);
    }

    fn drop_issued_before(&mut self, limit: u64, done: &mut Vec<TracedRequest>) {
        let mut dropped = Vec::new();
        self.by_start.retain(|&key, same| {
            while same
                .requests
                .front()
                .is_some_and(|flight| flight.request.issued < limit)
            {
                dropped.extend(same.requests.pop_front().map(|flight| (key, flight)));
            }
            !same.requests.is_empty()
        });
        self.count -= dropped.len();
        dropped.sort_by_key(|(_, flight)| flight.request.issued);
        for (key, flight) in dropped {
            self.end(key, flight, None, done);
        }
    }
}
