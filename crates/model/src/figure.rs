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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_have_a_unit_and_a_direction() {
        for (figure, unit, more_is_better) in [
            (Figure::SequentialRead, "MB/s", true),
            (Figure::SequentialWrite, "MB/s", true),
            (Figure::RandomRead, "IOPS", true),
            (Figure::RandomWrite, "IOPS", true),
            (Figure::RandomReadP99, "ms", false),
            (Figure::SyncP99, "ms", false),
            (Figure::SyncP999, "ms", false),
            (Figure::SustainedWrite, "MB/s", true),
            (Figure::SlowestWrite, "MB/s", true),
        ] {
            assert_eq!(
                (figure.unit(), figure.more_is_better()),
                (unit, more_is_better),
                "{figure:?}"
            );
        }
    }

    #[test]
    fn figures_are_measured_by_workloads_of_the_suite() {
        for (figure, workload) in [
            (Figure::SequentialRead, "seq-read"),
            (Figure::SequentialWrite, "seq-write"),
            (Figure::RandomRead, "rand-read"),
            (Figure::RandomWrite, "rand-write"),
            (Figure::RandomReadP99, "rand-read"),
            (Figure::SyncP99, "durable"),
            (Figure::SyncP999, "durable"),
            (Figure::SustainedWrite, "sustained"),
            (Figure::SlowestWrite, "sustained"),
        ] {
            assert_eq!(figure.workload(), workload, "{figure:?}");
        }
    }
}
