//! The card model: the time of each command by its device model, and the effect on the data.
//!
//! It has no data and no clock: the caller provides the time. The engine uses virtual time; a card
//! served to a guest uses real time and stores its data itself.

use hakaru_model::device_model::{DeviceModel, Fault, FaultKind};
use hakaru_model::job::Op;
use hakaru_model::rng::Rng;
use hakaru_model::units::Nanos;
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

/// State of a simulated card. It serves one command at a time; a command that arrives while it is
/// busy waits.
#[derive(Clone, Debug)]
pub struct SimCard {
    model: DeviceModel,
    rng: Rng,
    busy_until: u64,
    /// Offset at which the last command ended.
    head: u64,
    /// Bytes in the fast write cache.
    cached: u64,
    written_since_stall: u64,
    /// Thermal load: busy time less idle time.
    warmth: u64,
    /// Writes that a card with unsafe flushes may still lose, oldest first.
    volatile: VecDeque<(u64, u64)>,
    volatile_bytes: u64,
}

impl SimCard {
    /// Creates a card in its initial state. The seed determines its jitter.
    pub fn new(model: DeviceModel, seed: u64) -> SimCard {
        SimCard {
            model,
            rng: Rng::fork(seed, 0xca4d),
            busy_until: 0,
            // No command can end at this offset, so the first one seeks.
            head: u64::MAX,
            cached: 0,
            written_since_stall: 0,
            warmth: 0,
            volatile: VecDeque::new(),
            volatile_bytes: 0,
        }
    }

    /// Returns its device model.
    pub fn model(&self) -> &DeviceModel {
        &self.model
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
        let start = self.begin(now);
        let effect = self.effect(op, offset, len);
        let seeks = offset != self.head;
        self.head = offset + len;
        let p = &self.model;
        let cost = match op {
            Op::Read => {
                p.read_overhead.0
                    + if seeks { p.read_seek.0 } else { 0 }
                    + time_for(len, p.read_rate)
            }
            Op::Write => {
                let fixed = p.write_overhead.0 + if seeks { p.write_seek.0 } else { 0 };
                fixed + self.program(len)
            }
            Op::Trim => p.write_overhead.0,
        };
        if op == Op::Write && effect == Effect::Done {
            self.remember(offset, len);
        }
        Service {
            done_at: self.finish(start, cost),
            effect,
        }
    }

    /// Computes the cost of a flush that arrives at `now`. A card that ignores flushes takes the
    /// same time.
    pub fn flush(&mut self, now: Nanos) -> Service {
        let start = self.begin(now);
        let cost = self.model.flush.0;
        Service {
            done_at: self.finish(start, cost),
            effect: Effect::Done,
        }
    }

    /// Returns the writes that a power cut now would lose although a flush was reported complete, newest first.
    pub fn power_cut(&mut self) -> Vec<(u64, u64)> {
        self.volatile_bytes = 0;
        self.volatile.drain(..).rev().collect()
    }

    /// Waits for the previous command, and lets idle time cool the card and empty its cache.
    fn begin(&mut self, now: Nanos) -> u64 {
        let idle = now.0.saturating_sub(self.busy_until);
        self.warmth = self.warmth.saturating_sub(idle);
        if let Some(cache) = &self.model.cache {
            let drained = (u128::from(idle) * u128::from(cache.drain_rate) / 1_000_000_000) as u64;
            self.cached = self.cached.saturating_sub(drained);
        }
        now.0.max(self.busy_until)
    }

    fn finish(&mut self, start: u64, cost: u64) -> Nanos {
        let mut cost = cost;
        if let Some(throttle) = &self.model.throttle
            && self.warmth >= throttle.after.0
        {
            cost = cost * u64::from(throttle.percent.max(100)) / 100;
        }
        if self.model.jitter_permille > 0 {
            let spread = 2 * u64::from(self.model.jitter_permille) + 1;
            let factor =
                1000 + self.rng.below(spread) - u64::from(self.model.jitter_permille.min(1000));
            cost = cost * factor / 1000;
        }
        self.warmth += cost;
        self.busy_until = start + cost;
        Nanos(self.busy_until)
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

/// Time in ns for `len` bytes at `rate` bytes/s; 0 at rate 0, which means no cost.
fn time_for(len: u64, rate: u64) -> u64 {
    if rate == 0 {
        0
    } else {
        (u128::from(len) * 1_000_000_000 / u128::from(rate)) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hakaru_model::device_model::{SlcCache, Stalls, Throttle};
    use hakaru_model::units::Bytes;

    fn card(change: impl FnOnce(&mut DeviceModel)) -> SimCard {
        let mut model = DeviceModel::plain("t", Bytes(1 << 30));
        model.write_overhead = Nanos(0);
        model.write_seek = Nanos(0);
        change(&mut model);
        SimCard::new(model, 1)
    }

    fn write_all(card: &mut SimCard, block: u64, count: u64) -> Vec<u64> {
        let mut now = Nanos(0);
        let mut times = Vec::new();
        for i in 0..count {
            let service = card.serve(now, Op::Write, i * block, block);
            times.push(service.done_at.0 - now.0);
            now = service.done_at;
        }
        times
    }

    #[test]
    fn a_seek_is_charged_only_when_the_head_moves() {
        let mut card = card(|p| p.read_overhead = Nanos(0));
        let first = card.serve(Nanos(0), Op::Read, 0, 4096).done_at.0;
        let second = card.serve(Nanos(first), Op::Read, 4096, 4096).done_at.0 - first;
        assert_eq!((first - second, second), (300_000, 4096 * 25));
    }

    #[test]
    fn the_cache_makes_a_cliff_at_its_size() {
        let mut card = card(|p| {
            p.cache = Some(SlcCache {
                size: Bytes(10 << 20),
                write_rate: 40_000_000,
                drain_rate: 0,
            })
        });
        let times = write_all(&mut card, 1 << 20, 20);
        let (fast, slow) = (time_for(1 << 20, 40_000_000), time_for(1 << 20, 20_000_000));
        assert!(times[..10].iter().all(|&t| t == fast) && times[10..].iter().all(|&t| t == slow));
    }

    #[test]
    fn an_idle_card_empties_its_cache() {
        let mut card = card(|p| {
            p.cache = Some(SlcCache {
                size: Bytes(1 << 20),
                write_rate: 40_000_000,
                drain_rate: 1 << 20,
            });
        });
        let done = card.serve(Nanos(0), Op::Write, 0, 1 << 20).done_at;
        let later = Nanos(done.0 + 1_000_000_000);
        assert_eq!(
            card.serve(later, Op::Write, 0, 1 << 20).done_at.0 - later.0,
            time_for(1 << 20, 40_000_000)
        );
    }

    #[test]
    fn stalls_come_by_bytes_and_throttling_by_busy_time() {
        let mut stalling = card(|p| {
            p.stalls = Some(Stalls {
                every: Bytes(4 << 20),
                lasts: Nanos(500_000_000),
            })
        });
        let slow = write_all(&mut stalling, 1 << 20, 16)
            .into_iter()
            .filter(|&t| t > 500_000_000)
            .count();
        assert_eq!(slow, 4);
        let mut warm = card(|p| {
            p.throttle = Some(Throttle {
                after: Nanos(200_000_000),
                percent: 200,
            })
        });
        let times = write_all(&mut warm, 1 << 20, 10);
        assert_eq!(times[9], 2 * times[0]);
    }

    #[test]
    fn faults_of_the_model_take_effect() {
        let fault = |offset, kind| Fault {
            offset: Bytes(offset),
            len: Bytes(512),
            kind,
        };
        let mut card = card(|p| {
            p.claimed_capacity = Some(Bytes(2 << 30));
            p.lost_flush = Some(Bytes(8192));
            p.faults = vec![
                fault(0, FaultKind::ReadError),
                fault(8192, FaultKind::DropsWrites),
            ];
        });
        assert_eq!(card.place((1 << 30) + 5), 5);
        for (op, offset, len, effect) in [
            (Op::Read, 0, 4096, Effect::Failed),
            (Op::Write, 0, 4096, Effect::Done),
            (Op::Write, 4096, 8192, Effect::Dropped),
        ] {
            assert_eq!(card.serve(Nanos(0), op, offset, len).effect, effect);
        }
        card.flush(Nanos(0));
        for offset in [1 << 20, 2 << 20] {
            let served = card.serve(Nanos(0), Op::Write, offset, 4096);
            assert_eq!(served.effect, Effect::Done);
        }
        assert_eq!(card.power_cut(), [(2 << 20, 4096), (1 << 20, 4096)]);
        assert_eq!(card.power_cut(), []);
    }

    #[test]
    fn jitter_is_seeded_and_centred() {
        let run = |seed| {
            let mut model = DeviceModel::plain("t", Bytes(1 << 30));
            model.jitter_permille = 50;
            let mut card = SimCard::new(model, seed);
            write_all(&mut card, 4096, 2000)
        };
        assert_eq!(run(1), run(1));
        assert_ne!(run(1), run(2));
        let plain = write_all(
            &mut SimCard::new(DeviceModel::plain("t", Bytes(1 << 30)), 1),
            4096,
            2000,
        );
        let ratio = run(3).iter().sum::<u64>() as f64 / plain.iter().sum::<u64>() as f64;
        assert!((ratio - 1.0).abs() < 0.005, "{ratio}");
    }
}
