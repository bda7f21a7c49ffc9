//! Workloads for predictions: requests one after the other, drawn from a seed.

use crate::device::{DeviceError, TimedDevice, TimedRequest};
use hakaru_model::rng::Rng;
use hakaru_model::units::Nanos;

/// Offset at which workloads begin: behind the area of the FAT.
const FIRST: u64 = 512 << 20;

/// Which requests a workload issues.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AccessPattern {
    /// One after the other.
    Sequential,
    /// Anywhere within so many bytes; 0 for the whole card.
    Random(u64),
    /// Half of them in a sixteenth of the card.
    Skewed,
    /// So many sequential streams in turn.
    Streams(u64),
    /// 70% random reads, 30% sequential writes.
    Mixed,
    /// A log of small writes with flushes, and random reads and writes of a table.
    Database,
    /// So many bytes at a time, then an idle time.
    Bursts(u64, Nanos),
}

/// A workload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Workload {
    /// Its name.
    pub name: &'static str,
    /// Whether it writes.
    pub writes: bool,
    /// Length of a request in bytes.
    pub len: u64,
    /// Number of requests.
    pub requests: u64,
    /// Which requests.
    pub pattern: AccessPattern,
}

impl Workload {
    /// Twenty workloads that the experiments do not contain.
    pub fn held_out() -> Vec<Workload> {
        use AccessPattern::{Bursts, Database, Mixed, Random, Sequential, Skewed, Streams};
        const K: u64 = 1 << 10;
        const M: u64 = 1 << 20;
        let of = |name, writes, len, requests, pattern| Workload {
            name,
            writes,
            len,
            requests,
            pattern,
        };
        vec![
            of("read-seq-4k", false, 4 * K, 2000, Sequential),
            of("read-seq-128k", false, 128 * K, 1000, Sequential),
            of("read-seq-1m", false, M, 500, Sequential),
            of("read-rand-4k-64m", false, 4 * K, 2000, Random(64 * M)),
            of("read-rand-4k-all", false, 4 * K, 2000, Random(0)),
            of("read-rand-16k-1g", false, 16 * K, 2000, Random(1024 * M)),
            of("read-rand-256k-all", false, 256 * K, 500, Random(0)),
            of("read-skewed-4k", false, 4 * K, 2000, Skewed),
            of("write-seq-4k", true, 4 * K, 2000, Sequential),
            of("write-seq-64k", true, 64 * K, 2000, Sequential),
            of("write-seq-1m", true, M, 500, Sequential),
            of("write-rand-4k-1m", true, 4 * K, 1000, Random(M)),
            of("write-rand-4k-16m", true, 4 * K, 500, Random(16 * M)),
            of("write-rand-4k-1g", true, 4 * K, 500, Random(1024 * M)),
            of("write-rand-64k-all", true, 64 * K, 500, Random(0)),
            of("write-3-streams-64k", true, 64 * K, 1500, Streams(3)),
            of("write-6-streams-128k", true, 128 * K, 1000, Streams(6)),
            of("mixed-70-30-4k", true, 4 * K, 1500, Mixed),
            of("database-4k", true, 4 * K, 1000, Database),
            of(
                "bursts-16m",
                true,
                M,
                128,
                Bursts(16 * M, Nanos(6_000_000_000)),
            ),
        ]
    }
}

/// Result of a workload.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct WorkloadResult {
    /// Bytes moved.
    pub bytes: u64,
    /// Busy time in ns.
    pub time: f64,
    /// Latency of each request in ns.
    pub latencies: Vec<f64>,
}

impl WorkloadResult {
    /// Bytes per second of busy time.
    pub fn bandwidth(&self) -> f64 {
        self.bytes as f64 / self.time * 1e9
    }
}

/// Draws the requests of a workload.
struct RequestDrawer {
    workload: Workload,
    rng: Rng,
    capacity: u64,
    next: Vec<u64>,
}

impl RequestDrawer {
    fn random(&mut self, span: u64) -> u64 {
        let len = self.workload.len;
        let first = FIRST.min(self.capacity / 4);
        let all = self.capacity - first;
        let span = if span == 0 { all } else { span.min(all) };
        first + self.rng.below(span / len) * len
    }

    fn next_of(&mut self, stream: usize) -> u64 {
        let offset = self.next[stream];
        self.next[stream] += self.workload.len;
        offset
    }

    /// Returns the request number `n`; flushes are requests of their own.
    fn request(&mut self, n: u64) -> TimedRequest {
        let Workload {
            writes,
            len,
            pattern,
            ..
        } = self.workload;
        let of = |writes: bool, offset: u64| match writes {
            true => TimedRequest::Write { offset, len },
            false => TimedRequest::Read { offset, len },
        };
        match pattern {
            AccessPattern::Sequential | AccessPattern::Bursts(..) => of(writes, self.next_of(0)),
            AccessPattern::Random(span) => of(writes, self.random(span)),
            AccessPattern::Skewed => {
                let near = self.rng.below(2) == 0;
                let span = if near { self.capacity / 16 } else { 0 };
                of(writes, self.random(span))
            }
            AccessPattern::Streams(count) => of(writes, self.next_of((n % count) as usize)),
            AccessPattern::Mixed => match self.rng.below(10) < 7 {
                true => of(false, self.random(0)),
                false => of(true, self.next_of(0)),
            },
            AccessPattern::Database => match n % 4 {
                0 => of(true, self.next_of(0)),
                1 => TimedRequest::Flush,
                2 => of(false, self.random(64 << 20)),
                _ => of(true, self.random(1 << 20)),
            },
        }
    }
}

/// Issues the requests of a workload.
///
/// # Errors
/// The I/O error, or the request to stop.
pub fn drive(
    workload: &Workload,
    device: &mut dyn TimedDevice,
    seed: u64,
) -> Result<WorkloadResult, DeviceError> {
    let capacity = device.capacity().0;
    let streams = match workload.pattern {
        AccessPattern::Streams(count) => count,
        _ => 1,
    };
    // A log lies apart from the table.
    let first = match workload.pattern {
        AccessPattern::Database => FIRST + (256 << 20),
        _ => FIRST,
    };
    let mut drawer = RequestDrawer {
        workload: *workload,
        rng: Rng::fork(seed, workload.requests ^ workload.len),
        capacity,
        next: (0..streams).map(|n| first + n * (192 << 20)).collect(),
    };
    let mut result = WorkloadResult::default();
    for n in 0..workload.requests {
        if let AccessPattern::Bursts(bytes, pause) = workload.pattern
            && n > 0
            && (n * workload.len).is_multiple_of(bytes)
        {
            device.idle(pause)?;
        }
        let request = drawer.request(n);
        let latency = device.serve(request)?.0 as f64;
        if !matches!(request, TimedRequest::Flush) {
            result.bytes += workload.len;
        }
        result.time += latency;
        result.latencies.push(latency);
    }
    Ok(result)
}
