//! Pacing (`rate`, `rate_iops`, `thinktime`): which operation is due, when it may be issued, and when to pause.

use hakaru_model::job::{Access, Op, PerOp, RateLimits};
use hakaru_model::rng::Rng;
use hakaru_model::stream::IoRequest;

/// Earliest issue time of an I/O, which is also the start of its latency when I/Os are scheduled
/// independently of the device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Due {
    /// Due time, in ticks of the worker's clock.
    pub(crate) at: u64,
    /// Whether the I/O is scheduled independently of the device, so that waiting counts as latency.
    pub(crate) open_loop: bool,
}

/// A pause between I/Os, in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ThinkPause {
    /// Total length.
    pub(crate) whole: u64,
    /// Part of it during which the CPU is kept busy.
    pub(crate) spin: u64,
    /// Whether the pause starts only when nothing is in flight.
    pub(crate) alone: bool,
}

/// Limits the rates of a worker, separately for each operation.
#[derive(Debug)]
pub(crate) struct Pacer {
    rate: RateLimits,
    rng: Rng,
    does: PerOp<bool>,
    /// Next due time of each operation.
    next: PerOp<u64>,
    /// I/Os since the last pause, and the end of that pause.
    ios: u32,
    since: u64,
    /// Whether I/Os are scheduled independently of the device.
    open_loop: bool,
}

impl Pacer {
    /// Returns `None` for a job without a rate limit.
    pub(crate) fn new(rate: &RateLimits, access: &Access, seed: u64) -> Option<Pacer> {
        let limited = Op::ALL
            .into_iter()
            .any(|op| rate.bytes_per_s[op].is_some() || rate.iops[op].is_some());
        let does = |op| access.does(op);
        (limited || rate.thinktime.0 > 0).then(|| Pacer {
            rate: rate.clone(),
            rng: Rng::fork(seed, 0xace),
            does: PerOp {
                read: does(Op::Read),
                write: does(Op::Write),
                trim: does(Op::Trim),
            },
            next: PerOp::all(0),
            ios: 0,
            since: 0,
            open_loop: rate.poisson,
        })
    }

    /// Makes the pacer open-loop if `so` is true; otherwise leaves it unchanged.
    pub(crate) fn open_loop(self, so: bool) -> Pacer {
        Pacer {
            open_loop: self.open_loop || so,
            ..self
        }
    }

    /// Starts counting at `now`.
    pub(crate) fn begin(&mut self, now: u64) {
        (self.next, self.since) = (PerOp::all(now), now);
    }

    /// Returns the operation to issue: the drawn one, unless its rate delays it and another may be issued sooner.
    pub(crate) fn steer(&self, drawn: Op, now: u64) -> Op {
        if self.next[drawn] <= now {
            return drawn;
        }
        let others = Op::ALL.into_iter().filter(|&op| self.does[op]);
        others
            .min_by_key(|&op| (self.next[op], op != drawn))
            .unwrap_or(drawn)
    }

    /// Returns when this request may be issued, and counts it as issued.
    pub(crate) fn due(&mut self, request: &IoRequest, ticks: impl Fn(u64) -> u64) -> Due {
        self.ios = self.ios.saturating_add(1);
        let at = self.next[request.op];
        self.next[request.op] += self.gap(request.op, request.len, &ticks);
        // Operations without a rate limit have no scheduled time.
        Due {
            at,
            open_loop: self.open_loop && self.rate.is_limited(request.op),
        }
    }

    /// Returns the pause that is due before the next I/O.
    pub(crate) fn pause(&self, now: u64, ticks: impl Fn(u64) -> u64) -> Option<ThinkPause> {
        let RateLimits {
            thinktime,
            thinktime_blocks,
            thinktime_spin,
            thinktime_iotime,
            thinktime_on_issue,
            ..
        } = &self.rate;
        if thinktime.0 == 0 || self.ios == 0 {
            return None;
        }
        let counted = *thinktime_blocks > 0 && self.ios >= *thinktime_blocks;
        let timed =
            thinktime_iotime.0 > 0 && now.saturating_sub(self.since) >= ticks(thinktime_iotime.0);
        let (whole, spin) = (thinktime.0, thinktime_spin.0.min(thinktime.0));
        (counted || timed).then_some(ThinkPause {
            whole,
            spin,
            alone: !thinktime_on_issue,
        })
    }

    /// Records the end of a pause.
    pub(crate) fn paused(&mut self, begun: u64, now: u64) {
        (self.ios, self.since) = (0, now);
        if self.rate.ignore_thinktime {
            for op in Op::ALL {
                self.next[op] += now - begun;
            }
        }
    }

    /// Ticks from one I/O to the next.
    fn gap(&mut self, op: Op, len: u32, ticks: &impl Fn(u64) -> u64) -> u64 {
        let by_bytes = self.rate.bytes_per_s[op]
            .filter(|&r| r > 0)
            .map(|r| u64::from(len) * 1_000_000_000 / r);
        let by_ios = self.rate.iops[op]
            .filter(|&r| r > 0)
            .map(|r| 1_000_000_000 / r);
        let Some(mean) = by_bytes.max(by_ios) else {
            return 0;
        };
        if self.rate.poisson {
            // Gaps of a Poisson process are exponentially distributed.
            return ticks((-(1.0 - self.rng.unit()).ln() * mean as f64) as u64);
        }
        ticks(mean)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hakaru_model::units::Nanos;

    fn request(op: Op) -> IoRequest {
        IoRequest {
            op,
            region: 0,
            offset: 0,
            len: 4096,
        }
    }

    fn pacer(change: impl FnOnce(&mut RateLimits)) -> Pacer {
        let mut rate = RateLimits::default();
        change(&mut rate);
        let mut pacer = Pacer::new(&rate, &Access::mixed(50, true), 1).unwrap();
        pacer.begin(0);
        pacer
    }

    #[test]
    fn a_rate_spaces_ios_evenly() {
        let mut p = pacer(|r| r.iops.read = Some(1000));
        let at: Vec<u64> = (0..4)
            .map(|_| p.due(&request(Op::Read), |ns| ns).at)
            .collect();
        assert_eq!(at, [0, 1_000_000, 2_000_000, 3_000_000]);
        let mut p = pacer(|r| r.bytes_per_s.write = Some(4_096_000));
        p.due(&request(Op::Write), |ns| ns);
        assert_eq!(p.due(&request(Op::Write), |ns| ns).at, 1_000_000);
    }

    #[test]
    fn what_is_ahead_of_its_rate_gives_way() {
        let mut p = pacer(|r| {
            r.iops = PerOp {
                read: Some(1000),
                write: Some(500),
                trim: None,
            }
        });
        assert_eq!(p.steer(Op::Read, 0), Op::Read);
        p.due(&request(Op::Read), |ns| ns);
        assert_eq!(p.steer(Op::Read, 10), Op::Write, "the write is due already");
        p.due(&request(Op::Write), |ns| ns);
        assert_eq!(p.steer(Op::Write, 10), Op::Read, "a read is due sooner");
        assert_eq!(p.steer(Op::Write, 2_000_000), Op::Write);
    }

    #[test]
    fn poisson_gaps_have_the_right_mean() {
        let mut p = pacer(|r| {
            r.iops.read = Some(1000);
            r.poisson = true;
        });
        let n = 20_000;
        let last = (0..n)
            .map(|_| p.due(&request(Op::Read), |ns| ns))
            .last()
            .unwrap();
        assert!(last.open_loop && (last.at as f64 / (n as f64 * 1e6) - 1.0).abs() < 0.03);
    }

    #[test]
    fn thinking_comes_after_so_many_ios_or_so_much_time() {
        let mut p = pacer(|r| {
            r.thinktime = Nanos(500);
            r.thinktime_spin = Nanos(900);
            r.thinktime_blocks = 2;
            r.thinktime_iotime = Nanos(1000);
        });
        let pause = Some(ThinkPause {
            whole: 500,
            spin: 500,
            alone: true,
        });
        p.due(&request(Op::Read), |ns| ns);
        assert_eq!(p.pause(10, |ns| ns), None);
        assert_eq!(p.pause(1000, |ns| ns), pause, "its time is over");
        p.due(&request(Op::Read), |ns| ns);
        assert_eq!(p.pause(20, |ns| ns), pause, "it has done two");
        p.paused(20, 520);
        assert_eq!(p.pause(520, |ns| ns), None);
    }

    #[test]
    fn a_rate_catches_up_after_thinktime_unless_disabled() {
        for (ignore, second) in [(false, 1_000_000), (true, 6_000_000)] {
            let mut p = pacer(|r| {
                r.iops.read = Some(1000);
                r.thinktime = Nanos(5_000_000);
                r.ignore_thinktime = ignore;
            });
            p.due(&request(Op::Read), |ns| ns);
            p.paused(0, 5_000_000);
            assert_eq!(p.due(&request(Op::Read), |ns| ns).at, second);
        }
    }
}
