//! Figures of rules and claims. The analysis computes them from a summary.

use serde::{Deserialize, Serialize};

/// Figure that rules and claims refer to, with its unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Figure {
    /// Sequential read bandwidth in large blocks, MB/s.
    SequentialRead,
    /// Sequential write bandwidth in large blocks, MB/s.
    SequentialWrite,
    /// Random reads of small blocks, IOPS.
    RandomRead,
    /// Random writes of small blocks, IOPS.
    RandomWrite,
    /// 99th percentile of the latency of random reads, ms.
    RandomReadP99,
    /// 99th percentile of `fsync`, ms.
    SyncP99,
    /// 99.9th percentile of `fsync`, ms.
    SyncP999,
    /// Sustained speed of a long sequential write: the level after a cliff, else the mean, MB/s.
    SustainedWrite,
    /// Slowest segment of at least one second of a long sequential write, MB/s.
    SlowestWrite,
}

impl Figure {
    /// Returns the unit of the figure.
    pub fn unit(self) -> &'static str {
        match self {
            Figure::RandomRead | Figure::RandomWrite => "IOPS",
            Figure::RandomReadP99 | Figure::SyncP99 | Figure::SyncP999 => "ms",
            _ => "MB/s",
        }
    }

    /// Returns the workload of the standard suite that measures the figure.
    pub fn workload(self) -> &'static str {
        match self {
            Figure::SequentialRead => "seq-read",
            Figure::SequentialWrite => "seq-write",
            Figure::RandomRead | Figure::RandomReadP99 => "rand-read",
            Figure::RandomWrite => "rand-write",
            Figure::SyncP99 | Figure::SyncP999 => "durable",
            Figure::SustainedWrite | Figure::SlowestWrite => "sustained",
        }
    }

    /// Whether a higher value is better.
    pub fn more_is_better(self) -> bool {
        self.unit() != "ms"
    }
}
