//! Access pattern of a job: offsets, order and block sizes.

use super::rules::{TraversalOrder, Zones};
use super::{Op, PerOp};
use crate::units::Bytes;
use serde::{Deserialize, Serialize};

/// Access pattern: sequential or random, and which operations.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Access {
    /// Random offsets; otherwise sequential.
    pub random: bool,
    /// Percentage of each operation; the sum is 100.
    pub mix: PerOp<u32>,
    /// Accesses each block once per pass (the default); otherwise each offset is drawn independently.
    pub every_block_once: bool,
    /// Bytes that a sequential job skips after each I/O (`rw=read:8k`); negative runs backwards.
    pub stride: i64,
    /// I/Os per random offset (`rw=randread:8`); at least 1.
    pub run_length: u32,
    /// Issues these I/Os at the same offset (`rw_sequencer=identical`) instead of consecutive offsets.
    pub run_identical: bool,
    /// Issues a trim before each write (`rw=trimwrite`).
    pub trim_before_write: bool,
    /// Distribution of random offsets.
    pub distribution: Distribution,
    /// Center of the distribution as a fraction of the range (`zipf:1.2:0.25`). `None`: derived from the seed; for a
    /// normal distribution, the middle.
    #[serde(default)]
    pub centre: Option<f64>,
    /// Percentage of random offsets in a random job; the others are sequential
    /// (`percentage_random`). `None`: all.
    #[serde(default)]
    pub percentage_random: Option<PerOp<u32>>,
    /// Order in which a sequential job traverses its part of a file.
    #[serde(default)]
    pub order: TraversalOrder,
    /// Zone mode.
    #[serde(default)]
    pub zones: Zones,
}

/// Distribution of random offsets over the file.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Distribution {
    /// Uniform.
    #[default]
    Uniform,
    /// Zipf with this theta.
    Zipf(f64),
    /// Pareto with this power.
    Pareto(f64),
    /// Normal, with a deviation in percent of the file, added to the minimum deviation.
    Normal(f64),
    /// Percentages of accesses to percentages of the file.
    Zoned(Vec<RelativeZone>),
    /// Percentages of accesses to ranges of the file; the rest of the file is not accessed.
    ZonedAbs(Vec<AbsoluteZone>),
}

/// One zone of [`Distribution::Zoned`].
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct RelativeZone {
    /// Percentage of the accesses.
    pub access_percent: f64,
    /// Percentage of the file.
    pub size_percent: f64,
}

/// One zone of [`Distribution::ZonedAbs`].
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct AbsoluteZone {
    /// Percentage of the accesses.
    pub access_percent: f64,
    /// Length of the zone.
    pub size: Bytes,
}

impl Access {
    /// Whether each write has the offset and size of the preceding trim, as in fio with `rw=randtrimwrite`.
    pub fn writes_what_it_trims(&self) -> bool {
        self.trim_before_write && self.random
    }

    /// Returns a pattern with a single operation.
    pub fn only(op: Op, random: bool) -> Access {
        let mut mix = PerOp::all(0);
        mix[op] = 100;
        Access {
            random,
            mix,
            every_block_once: true,
            stride: 0,
            run_length: 1,
            run_identical: false,
            trim_before_write: false,
            distribution: Distribution::Uniform,
            centre: None,
            percentage_random: None,
            order: TraversalOrder::Forward,
            zones: Zones::None,
        }
    }

    /// Returns a mix of reads and writes with `read_percent` reads.
    pub fn mixed(read_percent: u32, random: bool) -> Access {
        let mut access = Access::only(Op::Read, random);
        access.mix = PerOp {
            read: read_percent,
            write: 100 - read_percent,
            trim: 0,
        };
        access
    }

    /// Whether the pattern includes an operation.
    pub fn does(&self, op: Op) -> bool {
        self.mix[op] > 0 || op == Op::Trim && self.trim_before_write
    }

    /// Whether it overwrites or discards data on the target.
    pub fn destroys(&self) -> bool {
        self.does(Op::Write) || self.does(Op::Trim)
    }
}

/// Sizes of the I/Os of one operation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BlockSize {
    /// Constant size.
    Fixed(Bytes),
    /// Uniformly drawn multiples of the smallest size.
    Range {
        /// Smallest.
        min: Bytes,
        /// Largest.
        max: Bytes,
    },
    /// Sizes with their percentages.
    Split(Vec<(Bytes, u32)>),
}

impl BlockSize {
    /// Returns the smallest possible size.
    pub fn min(&self) -> Bytes {
        match self {
            BlockSize::Fixed(b) => *b,
            BlockSize::Range { min, .. } => *min,
            BlockSize::Split(parts) => parts.iter().map(|p| p.0).min().unwrap_or_default(),
        }
    }

    /// Returns the largest possible size.
    pub fn max(&self) -> Bytes {
        match self {
            BlockSize::Fixed(b) => *b,
            BlockSize::Range { max, .. } => *max,
            BlockSize::Split(parts) => parts.iter().map(|p| p.0).max().unwrap_or_default(),
        }
    }
}
