//! The card model: the time of each command by its device model, and the effect on the data.
//!
//! It has no data and no clock: the caller provides the time. The engine uses virtual time; a card
//! served to a guest uses real time and stores its data itself.

use super::flash::FlashState;
use hakaru_model::device_model::{DeviceModel, Fault, FaultKind, Noise};
use hakaru_model::job::Op;
use hakaru_model::rng::Rng;
use hakaru_model::units::{Bytes, Nanos};
use std::collections::VecDeque;

/// Effect of a command on the data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    /// The command succeeds.
    Done,
    /// The card reports success but changes nothing.
    Dropped,
    /// The card reports an I/O error.
    Failed,
}

/// Completion time and effect of a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Service {
    /// Completion time.
    pub done_at: Nanos,
    /// Effect on the data.
    pub effect: Effect,
}

/// State of a simulated card. It serves one command at a time, or as many reads as its model says; a command that
/// arrives while it is busy waits.
#[derive(Clone, Debug)]
pub struct SimCard {
    model: DeviceModel,
    rng: Rng,
    busy_until: u64,
    /// Times at which each of the parallel reads ends.
    reads_until: Vec<u64>,
    /// Offset at which the last command ended, and its kind.
    head: u64,
    last: Option<Op>,
    flash: FlashState,
    /// Bytes in the fast write cache.
    cached: u64,
    written_since_stall: u64,
    /// Thermal load: busy time less idle time.
    warmth: u64,
    throttled: bool,
    /// Writes that a card with unsafe flushes may still lose, oldest first.
    volatile: VecDeque<(u64, u64)>,
    volatile_bytes: u64,
}

impl SimCard {
    /// Creates a card in its initial state. The seed determines its jitter.
    pub fn new(model: DeviceModel, seed: u64) -> SimCard {
        SimCard {
            reads_until: vec![0; model.parallel_reads.max(1) as usize],
            model,
            rng: Rng::fork(seed, 0xca4d),
            busy_until: 0,
            // No command can end at this offset, so the first one seeks.
            head: u64::MAX,
            last: None,
            flash: FlashState::default(),
            cached: 0,
            written_since_stall: 0,
            warmth: 0,
            throttled: false,
            volatile: VecDeque::new(),
            volatile_bytes: 0,
        }
    }

    /// Treats requests that continue the last one as parts of the same command.
    #[must_use]
    pub fn joining_requests(self) -> SimCard {
        SimCard {
            flash: FlashState::joining_requests(),
            ..self
        }
    }

    /// Returns its device model.
    pub fn model(&self) -> &DeviceModel {
        &self.model
    }

    /// Returns the bytes that the card copied inside, to collect units.
    pub fn copied(&self) -> Bytes {
        Bytes(self.flash.copied())
    }

    /// Returns the time at which the card becomes idle.
    pub fn free_at(&self) -> Nanos {
        Nanos(self.busy_until)
    }

    /// Maps an address to its real location: addresses beyond the real capacity wrap around.
    pub fn place(&self, offset: u64) -> u64 {
        offset % self.model.capacity.0.max(1)
    }

    /// Computes completion time and effect of one command that arrives at `now`.
    pub fn serve(&mut self, now: Nanos, op: Op, offset: u64, len: u64) -> Service {
        let start = self.begin(now, op == Op::Read);
        let effect = self.effect(op, offset, len);
        let seeks = offset != self.head;
        let continues = !seeks && self.last == Some(op);
        let turned = self.last.is_some_and(|last| last != op);
        self.head = offset + len;
        self.last = Some(op);
        let p = &self.model;
        let seek = |cost: Nanos| if seeks { cost.0 } else { 0 };
        let turn = |cost: Nanos| if turned { cost.0 } else { 0 };
        let cost = match op {
            Op::Read => {
                let of_flash = p.flash.as_ref().map_or(0, |flash| {
                    self.flash
                        .read(flash, p.read_rate, (offset, len), continues)
                });
                p.read_overhead.0
                    + seek(p.read_seek)
                    + turn(p.write_to_read)
                    + of_flash
                    + time_for(len, p.read_rate)
            }
            Op::Write => {
                let fixed = p.write_overhead.0 + seek(p.write_seek) + turn(p.read_to_write);
                let (units, programmed) = match &p.flash {
                    None => (0, len),
                    Some(flash) => {
                        let programmed = self.flash.programmed(flash, (offset, len), continues);
                        (self.flash.write(flash, offset, len), programmed)
                    }
                };
                fixed + units + self.program(programmed)
            }
            Op::Trim => match &p.flash {
                None => p.write_overhead.0,
                Some(flash) => p.write_overhead.0 + self.flash.discard(flash, offset, len),
            },
        };
        if op == Op::Write && effect == Effect::Done {
            self.remember(offset, len);
        }
        Service {
            done_at: self.finish(start, cost, op == Op::Read),
            effect,
        }
    }

    /// Counts the time until `now` as work: a host that is late with the next part of a command leaves no card idle.
    pub fn stays_busy_until(&mut self, now: Nanos) {
        let late = now.0.saturating_sub(self.busy_until);
        self.warmth += late;
        self.busy_until += late;
    }

    /// Computes the cost of a flush that arrives at `now`. A card that ignores flushes takes the
    /// same time.
    pub fn flush(&mut self, now: Nanos) -> Service {
        let start = self.begin(now, false);
        let cost = self.model.flush.0;
        Service {
            done_at: self.finish(start, cost, false),
            effect: Effect::Done,
        }
    }

    /// Returns the writes that a power cut now would lose although a flush was reported complete, newest first.
    pub fn power_cut(&mut self) -> Vec<(u64, u64)> {
        self.volatile_bytes = 0;
        self.volatile.drain(..).rev().collect()
    }

    /// Waits for the commands before it, and lets idle time cool the card and empty its cache. A read waits only until
    /// one of the parallel reads has ended.
    fn begin(&mut self, now: Nanos, reads: bool) -> u64 {
        let idle = now.0.saturating_sub(self.busy_until);
        self.warmth = self.warmth.saturating_sub(idle);
        if let Some(cache) = &self.model.cache {
            let idle = idle.saturating_sub(cache.drain_delay.0);
            let drained = (u128::from(idle) * u128::from(cache.drain_rate) / 1_000_000_000) as u64;
            self.cached = self.cached.saturating_sub(drained);
        }
        let free = match reads {
            true => self.reads_until.iter().min().copied().unwrap_or(0),
            false => self.busy_until,
        };
        now.0.max(free)
    }

    fn finish(&mut self, start: u64, cost: u64, reads: bool) -> Nanos {
        let mut cost = cost;
        if let Some(throttle) = &self.model.throttle {
            let limit = match throttle.until {
                Some(until) if self.throttled => until.0,
                _ => throttle.after.0,
            };
            self.throttled = self.warmth >= limit;
            if self.throttled {
                cost = cost.saturating_mul(u64::from(throttle.percent.max(100))) / 100;
            }
        }
        if self.model.jitter_permille > 0 {
            let spread = 2 * u64::from(self.model.jitter_permille) + 1;
            let factor =
                1000 + self.rng.below(spread) - u64::from(self.model.jitter_permille.min(1000));
            cost = cost.saturating_mul(factor) / 1000;
        }
        if let Some(noise) = &self.model.noise {
            cost = deviate(cost, noise, start, &mut self.rng);
        }
        let done = start.saturating_add(cost);
        // Reads in parallel warm the card as one.
        self.warmth += done.saturating_sub(self.busy_until.max(start));
        self.busy_until = self.busy_until.max(done);
        let busy_until = self.busy_until;
        match self.reads_until.iter_mut().min() {
            Some(first) if reads => *first = done,
            _ => self.reads_until.fill(busy_until),
        }
        Nanos(done)
    }

    /// Time in ns to program `len` bytes: into the cache while it has space, plus a stall if one is
    /// due.
    fn program(&mut self, len: u64) -> u64 {
        let slow = self.model.write_rate;
        let mut time = match &self.model.cache {
            None => time_for(len, slow),
            Some(cache) => {
                let fast = len.min(cache.size.0.saturating_sub(self.cached));
                self.cached += fast;
                time_for(fast, cache.write_rate) + time_for(len - fast, slow)
            }
        };
        if let Some(stalls) = &self.model.stalls {
            self.written_since_stall += len;
            if self.written_since_stall >= stalls.every.0.max(1) {
                self.written_since_stall %= stalls.every.0.max(1);
                time += stalls.lasts.0;
            }
        }
        time
    }

    fn effect(&self, op: Op, offset: u64, len: u64) -> Effect {
        let hit = |fault: &&Fault| {
            offset < fault.offset.0.saturating_add(fault.len.0) && fault.offset.0 < offset + len
        };
        let kinds = self.model.faults.iter().filter(hit).map(|fault| fault.kind);
        let effects = kinds.map(|kind| match (kind, op) {
            (FaultKind::ReadError, Op::Read) | (FaultKind::WriteError, Op::Write) => Effect::Failed,
            (FaultKind::DropsWrites, Op::Write) => Effect::Dropped,
            _ => Effect::Done,
        });
        effects
            .max_by_key(|effect| *effect as u8)
            .unwrap_or(Effect::Done)
    }

    fn remember(&mut self, offset: u64, len: u64) {
        let Some(limit) = self.model.lost_flush else {
            return;
        };
        self.volatile.push_back((offset, len));
        self.volatile_bytes += len;
        while self.volatile_bytes > limit.0 {
            let Some((_, old)) = self.volatile.pop_front() else {
                break;
            };
            self.volatile_bytes -= old;
        }
    }
}

/// Returns a cost in ns with random deviations, at a time in ns.
fn deviate(cost: u64, noise: &Noise, now: u64, rng: &mut Rng) -> u64 {
    let mut exact = cost as f64;
    if noise.sigma_permille > 0 {
        // Box and Muller (1958): a standard normal value from two uniform ones.
        let (radius, angle) = ((-2.0 * (1.0 - rng.unit()).ln()).sqrt(), rng.unit());
        let normal = radius * (std::f64::consts::TAU * angle).cos();
        exact *= (normal * f64::from(noise.sigma_permille) / 1000.0).exp();
    }
    if noise.drift_permille > 0 && noise.drift_period.0 > 0 {
        let turn = (now % noise.drift_period.0) as f64 / noise.drift_period.0 as f64;
        let drift = (std::f64::consts::TAU * turn).sin();
        exact *= 1.0 + drift * f64::from(noise.drift_permille) / 1000.0;
    }
    if noise.stalls_per_million > 0 && rng.below(1_000_000) < u64::from(noise.stalls_per_million) {
        exact -= (1.0 - rng.unit()).ln() * noise.stall_mean.0 as f64;
    }
    exact.max(0.0).round() as u64
}

/// Longest time of a transfer in ns, ten years: sums of such times do not overflow.
const LONGEST: u64 = 10 * 365 * 86_400 * 1_000_000_000;

/// Time in ns for `len` bytes at `rate` bytes/s; 0 at rate 0, which means no cost.
pub(super) fn time_for(len: u64, rate: u64) -> u64 {
    if rate == 0 {
        0
    } else {
        let time = u128::from(len) * 1_000_000_000 / u128::from(rate);
        u64::try_from(time).unwrap_or(u64::MAX).min(LONGEST)
    }
}

#[cfg(test)]
mod tests;
