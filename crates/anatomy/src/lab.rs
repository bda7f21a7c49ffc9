//! The laboratory of the experiments: counts what they spend, watches heat and drift, and knows the state of the card.

mod copies;
mod resume;
mod transfer;

use crate::device::{DeviceError, TimedDevice, TimedRequest};
use crate::location::SampleLocation;
use crate::references::{self, EARLIEST, References};
use crate::replay::RequestTrace;
use crate::warmth::Warmth;
use copies::ShownCopies;
use hakaru_analysis::stats::median;
use hakaru_model::anatomy::{Anatomy, CardFinding, CardProperty, DeclineReason, NoiseLevel, Spent};
use hakaru_model::rng::Rng;
use hakaru_model::units::Nanos;
use std::collections::BTreeMap;
pub(crate) use transfer::TRANSFER_TIME;

/// Bytes at the start of the card that only the search for the area of the FAT touches.
const RESERVED: u64 = 512 << 20;

/// Regions of the first choice begin at multiples of this: a multiple of every candidate for a unit up to 64 MiB.
pub(crate) const REGION: u64 = 192 << 20;

/// Distance of places whose writes continue each other: a multiple of every page and unit up to 48 MiB.
pub(crate) const PIECE: u64 = REGION / 2;

/// Largest unit that is looked for.
const LARGEST_UNIT: u64 = 64 << 20;

/// Extra time from which a slow small read counts as a stall, in ns.
const STALL: f64 = 12e6;

/// Time that must be left for a request, in ns: one that stalls shall end before the deadline, too.
const SLOWEST: u64 = 2_000_000_000;

/// Part of the budget of copied bytes for units that the card closes without an experiment that waits for it.
const UNSEEN: u64 = 16;

/// Slowdown that throttling starts with.
const HOT: f64 = 1.18;

/// Why an experiment ended early.
#[derive(Debug)]
pub(crate) enum Halt {
    Device(DeviceError),
    /// The budget of written or copied bytes is spent.
    Budget,
    /// The experiment cannot tell these properties for one reason.
    Declined(DeclineReason),
}

impl From<DeviceError> for Halt {
    fn from(error: DeviceError) -> Halt {
        Halt::Device(error)
    }
}

pub(crate) type Measured<T> = Result<T, Halt>;

/// Findings of an experiment, and the points behind them.
#[derive(Debug, Default)]
pub(crate) struct Findings {
    pub(crate) findings: BTreeMap<CardProperty, CardFinding>,
    pub(crate) points: Vec<(f64, f64)>,
}

impl Findings {
    pub(crate) fn set(&mut self, property: CardProperty, finding: CardFinding) {
        self.findings.insert(property, finding);
    }

    pub(crate) fn decline(&mut self, properties: &[CardProperty], reason: DeclineReason) {
        for property in properties {
            self.set(*property, CardFinding::Unknown(reason));
        }
    }
}

/// What the experiments need to know about throttling and the cache.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct CardState {
    pub(crate) warmth: Warmth,
    /// Warmth up to which the card certainly does not throttle.
    pub(crate) cool_below: Option<f64>,
    /// Latencies of the write that tells whether the cache is full: its length, and the limit of a fast one.
    pub(crate) cache: Option<(u64, f64)>,
    /// Length and latency of a write into the cache.
    pub(crate) fast_write: Option<(u64, SampleLocation)>,
    /// Whether the cache is certainly full.
    pub(crate) is_drained: bool,
}

/// The device, with its accounts.
pub(crate) struct Lab<'a> {
    device: &'a mut dyn TimedDevice,
    pub(crate) rng: Rng,
    pub(crate) spent: Spent,
    pub(crate) limit: Spent,
    pub(crate) noise: NoiseLevel,
    pub(crate) state: CardState,
    /// Median of the first reference measurement, in ns.
    pub(crate) reference: Option<f64>,
    references: References,
    /// Length of the large reads of a reference measurement.
    transfer_len: Option<u64>,
    /// Whether they are read: they are not compared with the model, whose rate may be unknown.
    measures_transfer: bool,
    /// What interrupted experiments spent before this part of the anatomy; no experiment record counts it.
    interrupted: Spent,
    /// Reference measurements before and after experiments, without those that heat may explain.
    cool_references: Vec<f64>,
    fresh: u64,
    copies: ShownCopies,
    pub(crate) trace: RequestTrace,
}

impl<'a> Lab<'a> {
    pub(crate) fn new(device: &'a mut dyn TimedDevice, limit: Spent, seed: u64) -> Lab<'a> {
        Lab {
            device,
            rng: Rng::new(seed),
            spent: Spent::default(),
            limit,
            noise: NoiseLevel::default(),
            state: CardState::default(),
            reference: None,
            references: References::default(),
            transfer_len: None,
            measures_transfer: false,
            interrupted: Spent::default(),
            cool_references: Vec::new(),
            fresh: 0,
            copies: ShownCopies::default(),
            trace: RequestTrace::default(),
        }
    }

    /// Takes over up to which warmth the card does not throttle.
    pub(crate) fn knows_heat(&mut self, anatomy: &Anatomy) {
        self.state.cool_below = match anatomy.finding(CardProperty::ThrottleAfter) {
            CardFinding::Known(after) => Some(after.low / 2.0),
            CardFinding::Absent { up_to } => Some(up_to / 2.0),
            // Also if something else makes the device slow.
            CardFinding::Unknown(_) => Some(EARLIEST),
        };
    }

    pub(crate) fn capacity(&self) -> u64 {
        self.device.capacity().0
    }

    pub(crate) fn block(&self) -> u64 {
        self.device.block().max(512)
    }

    pub(crate) fn can_discard(&self) -> bool {
        self.device.can_discard()
    }

    pub(crate) fn sigma(&self) -> f64 {
        self.noise.sigma
    }

    /// Time since an arbitrary start, in ns.
    pub(crate) fn now(&self) -> f64 {
        self.device.now().0 as f64
    }

    /// The place of reads that repeat: half of the capacity, at a boundary of every unit.
    pub(crate) fn home(&self) -> u64 {
        let half = self.capacity() / 2;
        match half >= REGION {
            true => half / REGION * REGION,
            false => half / (1 << 20) * (1 << 20),
        }
    }

    fn serve(&mut self, request: TimedRequest) -> Measured<f64> {
        self.take_time(SLOWEST)?;
        let before = self.device.now();
        let latency = self.device.serve(request)?;
        if !self.measures_transfer {
            self.trace.served(request, latency);
        }
        self.spent.time.0 += self.device.now().0.saturating_sub(before.0);
        self.spent.requests += 1;
        self.state.warmth.works(latency.0 as f64);
        Ok(latency.0 as f64)
    }

    /// Returns the latency of a read, in ns.
    pub(crate) fn read(&mut self, offset: u64, len: u64) -> Measured<f64> {
        let latency = self.serve(TimedRequest::Read { offset, len })?;
        self.spent.read.0 += len;
        if let Some(usual) = self.reference.filter(|_| len <= 4096) {
            self.noise.reads += 1;
            if latency > STALL && latency > 4.0 * usual {
                self.noise.stalls += 1;
                self.noise.stall_time.0 += (latency - usual) as u64;
            }
        }
        Ok(latency)
    }

    /// Returns the latency of a write, in ns.
    pub(crate) fn write(&mut self, offset: u64, len: u64) -> Measured<f64> {
        let may_copy = self.copies.largest();
        if self.spent.written.0 + len > self.limit.written.0
            || (may_copy > 0 && self.spent.copied.0 + may_copy > self.limit.copied.0)
        {
            return Err(Halt::Budget);
        }
        let latency = self.serve(TimedRequest::Write { offset, len })?;
        self.spent.written.0 += len;
        self.spent.copied.0 += self.copies.shown(len, latency, self.sigma());
        Ok(latency)
    }

    pub(crate) fn flush(&mut self) -> Measured<f64> {
        self.serve(TimedRequest::Flush)
    }

    pub(crate) fn discard(&mut self, offset: u64, len: u64) -> Measured<f64> {
        match self.serve(TimedRequest::Discard { offset, len }) {
            // Only the request tells whether the driver or reader passes discards on.
            Err(Halt::Device(DeviceError::Io { cause, .. }))
                if cause.kind() == std::io::ErrorKind::Unsupported =>
            {
                Err(Halt::Declined(DeclineReason::Unsupported))
            }
            served => served,
        }
    }

    /// Begins an attempt at an experiment, whose writes show what the card copies.
    pub(crate) fn begins_attempt(&mut self, known: &Anatomy) {
        self.copies.begins(known, LARGEST_UNIT);
    }

    /// Counts bytes that the card may copy inside during the next writes, before they are issued.
    pub(crate) fn may_copy(&mut self, bytes: u64) -> Measured<()> {
        if bytes > self.left_to_copy() {
            return Err(Halt::Budget);
        }
        self.spent.copied.0 += bytes;
        self.copies.counts(bytes);
        Ok(())
    }

    /// Takes back bytes that the card certainly did not copy.
    pub(crate) fn not_copied(&mut self, bytes: u64) {
        self.spent.copied.0 = self.spent.copied.0.saturating_sub(bytes);
        self.copies.takes_back(bytes);
    }

    /// Bytes that this attempt at an experiment has counted so far.
    pub(crate) fn counted_copies(&self) -> u64 {
        self.copies.all_counted()
    }

    /// Bytes that the card may still copy.
    pub(crate) fn left_to_copy(&self) -> u64 {
        let reserve = self.limit.copied.0 / UNSEEN;
        (self.limit.copied.0 - reserve).saturating_sub(self.spent.copied.0)
    }

    /// Bytes that may still be written.
    pub(crate) fn left_to_write(&self) -> u64 {
        self.limit.written.0.saturating_sub(self.spent.written.0)
    }

    /// Returns the time until the deadline, in ns.
    pub(crate) fn time_left(&self) -> f64 {
        self.limit.time.0.saturating_sub(self.spent.time.0) as f64
    }

    /// Ends the experiment if this time, in ns, is not left.
    fn take_time(&self, time: u64) -> Measured<()> {
        match self.spent.time.0.saturating_add(time) > self.limit.time.0 {
            true => Err(Halt::Budget),
            false => Ok(()),
        }
    }

    pub(crate) fn read_at_depth(
        &mut self,
        offsets: &[u64],
        len: u64,
        depth: usize,
    ) -> Measured<Vec<f64>> {
        let one_by_one = offsets.len() as f64 * self.reference.unwrap_or(0.0);
        self.take_time(SLOWEST + one_by_one as u64)?;
        let before = self.now();
        let latencies = self.device.read_at_depth(offsets, len, depth)?;
        self.trace.together(offsets, len, depth);
        let took = self.now() - before;
        self.state.warmth.works(took);
        self.spent.time.0 += took as u64;
        self.spent.requests += offsets.len() as u64;
        self.spent.read.0 += len * offsets.len() as u64;
        Ok(latencies.iter().map(|latency| latency.0 as f64).collect())
    }

    /// Leaves the device idle for a time in ns.
    pub(crate) fn idle(&mut self, time: f64) -> Measured<()> {
        self.take_time(time as u64)?;
        self.device.idle(Nanos(time as u64))?;
        self.trace.idle(Nanos(time as u64));
        self.spent.time.0 += time as u64;
        self.state.warmth.idles(time);
        self.state.is_drained = false;
        Ok(())
    }

    /// Returns the offset of a range that was not used before, at a multiple of `align`. Once the capacity is used up,
    /// it begins again.
    pub(crate) fn fresh(&mut self, len: u64, align: u64) -> Measured<u64> {
        let first = match self.capacity() > 4 * RESERVED {
            true => RESERVED,
            false => self.capacity() / 16,
        };
        let mut at = self.fresh.max(first).next_multiple_of(align);
        if at + len > self.capacity() {
            at = first.next_multiple_of(align);
        }
        if at + len > self.capacity() {
            return Err(Halt::Declined(DeclineReason::TooSmall));
        }
        self.fresh = at + len;
        Ok(at)
    }

    /// Measures small reads at one warm place, and returns their median in ns.
    pub(crate) fn reference_measurement(&mut self) -> Measured<f64> {
        let found = self.small_reads(reference_reads(self.sigma()) as usize)?;
        if self.reference.is_none() {
            self.reference = Some(found);
        }
        self.measures_transfer = true;
        let transfer = self.transfer(found);
        self.measures_transfer = false;
        let transfer = transfer?;
        self.references.push(found, transfer, self.state.warmth.now);
        Ok(found)
    }

    /// Returns the median latency of a number of small reads at one warm place, in ns.
    pub(crate) fn small_reads(&mut self, count: usize) -> Measured<f64> {
        let (home, block) = (self.home(), self.block());
        self.read(home, block)?;
        self.read(home, block)?;
        let latencies = (0..count)
            .map(|_| self.read(home, block))
            .collect::<Measured<Vec<f64>>>()?;
        Ok(median(&latencies).unwrap_or(0.0))
    }

    /// Forgets the last reference measurements: the device was hot.
    pub(crate) fn forget_references(&mut self, count: usize) {
        let all = self.references();
        self.references.truncate(all.saturating_sub(count));
    }

    /// Returns the number of reference measurements so far.
    pub(crate) fn references(&self) -> usize {
        self.references.latencies().len()
    }

    /// Forgets the reference measurements of a hot card after the first `count` ones.
    pub(crate) fn forget_hot_references(&mut self, count: usize) {
        let usual = self.reference;
        let is_hot = |found| usual.is_some_and(|usual| found > HOT * usual);
        self.references.forget_hot(count, is_hot);
    }

    /// Returns the noise, with the drift so far.
    pub(crate) fn noise_so_far(&self) -> NoiseLevel {
        NoiseLevel {
            drift: self.noise.drift.max(self.references.drift()),
            transfer_drift: self.noise.transfer_drift.max(self.transfer_drift()),
            ..self.noise
        }
    }

    /// Returns half of the range of the time of the bytes of large reads, as a fraction of its median; 0 if noise explains
    /// it.
    pub(crate) fn transfer_drift(&self) -> f64 {
        self.references.transfer_drift()
    }

    /// Measures the reference before or after an experiment. Returns whether the device is slow.
    pub(crate) fn check_heat(&mut self) -> Measured<bool> {
        let is_cool = self
            .state
            .cool_below
            .is_some_and(|limit| self.state.warmth.now < limit);
        let found = self.reference_measurement()?;
        let is_hot = self.is_hot(found);
        if is_hot {
            self.forget_references(1);
        }
        if is_cool || !is_hot {
            self.cool_references.push(found);
        }
        Ok(is_hot)
    }

    /// Returns the fraction of the reference measurements of the cool device that differ from their median by more than a
    /// drift, if there are two on either side: a device of two speeds.
    pub(crate) fn unsteady(&self) -> Option<f64> {
        references::two_speeds(&self.cool_references)
    }

    /// Returns whether a reference measurement is above the first one by more than throttling starts with.
    pub(crate) fn is_hot(&self, found: f64) -> bool {
        self.reference.is_some_and(|usual| found > HOT * usual)
    }

    /// Rests until the device is as fast as at first, and then another 45 s; returns whether it became so within ten
    /// minutes.
    pub(crate) fn cool_down(&mut self) -> Measured<bool> {
        for _ in 0..60 {
            self.idle(10e9)?;
            let found = self.reference_measurement()?;
            self.forget_references(1);
            if !self.is_hot(found) {
                self.idle(45e9)?;
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Rests before an experiment if the card is known to throttle and is warm.
    pub(crate) fn rest(&mut self) -> Measured<()> {
        match self.state.warmth.rest() {
            Some(time) => self.idle(time),
            None => Ok(()),
        }
    }

    /// Returns whether a loop may go on: rests if the card would soon throttle, which a card with a cache must not do,
    /// because its cache would recover.
    pub(crate) fn stays_cool(&mut self) -> Measured<bool> {
        if !self.state.warmth.is_warm() {
            return Ok(true);
        }
        if self.state.cache.is_some() {
            return Ok(false);
        }
        self.rest()?;
        Ok(true)
    }

    /// Fills the cache: writes until 6 writes in a row are slow.
    pub(crate) fn drain(&mut self) -> Measured<()> {
        let Some((len, fast)) = self.state.cache.filter(|_| !self.state.is_drained) else {
            return Ok(());
        };
        let chunk = PIECE;
        let (mut slow, mut at, mut end) = (0, 0, 0);
        while slow < 6 {
            if at + len > end {
                at = self.fresh(chunk, PIECE)?;
                end = at + chunk;
            }
            slow = match self.write(at, len)? > fast {
                true => slow + 1,
                false => 0,
            };
            at += len;
        }
        self.state.is_drained = true;
        Ok(())
    }
}

/// Returns the number of small reads of a reference measurement, for a standard error of about 0.5%.
pub(crate) fn reference_reads(sigma: f64) -> f64 {
    (sigma / 0.004).powi(2).clamp(24.0, 2400.0)
}
