//! Pacing: `rate`, `rate_iops`, `thinktime`. Says when the next I/O is due.

use hakaru_model::job::{Op, PerOp, Rate};
use hakaru_model::rng::Rng;
use hakaru_model::stream::Request;

/// When an I/O may go, and from when its latency counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Due {
    /// The moment, in ticks of the worker's clock.
    pub(crate) at: u64,
    /// Whether the I/O was intended for that moment whatever the device does, so that waiting counts as latency.
    pub(crate) open_loop: bool,
}

/// Keeps a worker to its rate.
#[derive(Debug)]
pub(crate) struct Pacer {
    rate: Rate,
    rng: Rng,
    /// When the next I/O of each operation is due.
    next: PerOp<u64>,
    ios_since_think: u32,
    think_until: u64,
}

impl Pacer {
    /// `None` for a job that runs as fast as it can.
    pub(crate) fn new(rate: &Rate, seed: u64) -> Option<Pacer> {
        let limited = Op::ALL.into_iter().any(|op| rate.bytes_per_s[op].is_some() || rate.iops[op].is_some());
        (limited || rate.thinktime.0 > 0).then(|| Pacer {
            rate: rate.clone(),
            rng: Rng::fork(seed, 0xace),
            next: PerOp::all(0),
            ios_since_think: 0,
            think_until: 0,
        })
    }

    /// Starts to count at this moment.
    pub(crate) fn begin(&mut self, now: u64) {
        self.next = PerOp::all(now);
    }

    /// When this request may go; counts it as gone.
    pub(crate) fn due(&mut self, request: &Request, now: u64, ticks: impl Fn(u64) -> u64) -> Due {
        self.think(now, &ticks);
        let at = self.next[request.op].max(self.think_until);
        self.next[request.op] = self.next[request.op].max(self.think_until) + self.gap(request.op, request.len, &ticks);
        Due { at, open_loop: self.rate.poisson }
    }

    fn think(&mut self, now: u64, ticks: &impl Fn(u64) -> u64) {
        if self.rate.thinktime.0 == 0 {
            return;
        }
        if self.ios_since_think >= self.rate.thinktime_blocks.max(1) {
            self.ios_since_think = 0;
            self.think_until = now + ticks(self.rate.thinktime.0);
        }
        self.ios_since_think += 1;
    }

    /// Ticks from one I/O to the next.
    fn gap(&mut self, op: Op, len: u32, ticks: &impl Fn(u64) -> u64) -> u64 {
        let by_bytes = self.rate.bytes_per_s[op].filter(|&r| r > 0).map(|r| u64::from(len) * 1_000_000_000 / r);
        let by_ios = self.rate.iops[op].filter(|&r| r > 0).map(|r| 1_000_000_000 / r);
        let Some(mean) = by_bytes.max(by_ios) else { return 0 };
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

    fn request(op: Op) -> Request {
        Request { op, region: 0, offset: 0, len: 4096 }
    }

    fn pacer(change: impl FnOnce(&mut Rate)) -> Pacer {
        let mut rate = Rate::default();
        change(&mut rate);
        let mut pacer = Pacer::new(&rate, 1).unwrap();
        pacer.begin(0);
        pacer
    }

    #[test]
    fn a_rate_spaces_ios_evenly() {
        let mut p = pacer(|r| r.iops.read = Some(1000));
        let at: Vec<u64> = (0..4).map(|_| p.due(&request(Op::Read), 0, |ns| ns).at).collect();
        assert_eq!(at, [0, 1_000_000, 2_000_000, 3_000_000]);
        let mut p = pacer(|r| r.bytes_per_s.write = Some(4_096_000));
        p.due(&request(Op::Write), 0, |ns| ns);
        assert_eq!(p.due(&request(Op::Write), 0, |ns| ns).at, 1_000_000);
    }

    #[test]
    fn poisson_gaps_have_the_right_mean() {
        let mut p = pacer(|r| {
            r.iops.read = Some(1000);
            r.poisson = true;
        });
        let n = 20_000;
        let last = (0..n).map(|_| p.due(&request(Op::Read), 0, |ns| ns)).last().unwrap();
        assert!(last.open_loop && (last.at as f64 / (n as f64 * 1e6) - 1.0).abs() < 0.03);
    }

    #[test]
    fn thinking_comes_after_so_many_ios() {
        let mut p = pacer(|r| {
            r.thinktime.0 = 500;
            r.thinktime_blocks = 2;
        });
        let at: Vec<u64> = (0..5).map(|i| p.due(&request(Op::Read), i * 10, |ns| ns).at).collect();
        assert_eq!(at, [0, 0, 520, 520, 540]);
    }
}
