//! Where on its target a job goes, in what order, and in what pieces.

use super::rules::{TraversalOrder, Zones};
use super::{Op, PerOp};
use crate::units::Bytes;
use serde::{Deserialize, Serialize};

/// Sequential or random, and which operations.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Access {
    /// Random offsets; otherwise sequential.
    pub random: bool,
    /// Share of each operation, in percent; they add up to 100.
    pub mix: PerOp<u32>,
    /// Every block once a pass (the default), or each offset drawn again.
    pub every_block_once: bool,
    /// Distance in bytes that a sequential job leaves out after each I/O (`rw=read:8k`); negative runs backwards.
    pub stride: i64,
    /// I/Os per random offset (`rw=randread:8`); at least 1.
    pub run_length: u32,
    /// Whether those I/Os all go to the same offset (`rw_sequencer=identical`) rather than follow one another.
    pub run_identical: bool,
    /// A trim in front of each write (`rw=trimwrite`).
    pub trim_before_write: bool,
    /// How random offsets are distributed.
    pub distribution: Distribution,
    /// Center of the distribution as a fraction of the range (`zipf:1.2:0.25`). `None`: random by
    /// the seed; for a normal distribution the middle.
    #[serde(default)]
    pub centre: Option<f64>,
    /// Percentage of random offsets in a random job; the others are sequential
    /// (`percentage_random`). `None`: all.
    #[serde(default)]
    pub percentage_random: Option<PerOp<u32>>,
    /// How a sequential job goes through its part of a file.
    #[serde(default)]
    pub order: TraversalOrder,
    /// Zones of the files.
    #[serde(default)]
    pub zones: Zones,
}

/// How random offsets are spread over the file.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Distribution {
    /// Evenly.
    #[default]
    Uniform,
    /// Zipf with this theta.
    Zipf(f64),
    /// Pareto with this power.
    Pareto(f64),
    /// Normal, with a deviation in percent of the file above the narrowest.
    Normal(f64),
    /// Shares of accesses to shares of the file, both in percent.
    Zoned(Vec<RelativeZone>),
    /// Percentages of accesses to ranges of the file; the rest of the file is not used.
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
    /// Length.
    pub size: Bytes,
}

impl Access {
    /// Whether each write has the place and the size of the trim in front of it, as in fio with `rw=randtrimwrite`.
    pub(crate) fn writes_what_it_trims(&self) -> bool {
        self.trim_before_write && self.random
    }

    /// One operation only.
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

    /// Reads and writes, `read_percent` of them reads.
    pub fn mixed(read_percent: u32, random: bool) -> Access {
        let mut access = Access::only(Op::Read, random);
        access.mix = PerOp {
            read: read_percent,
            write: 100 - read_percent,
            trim: 0,
        };
        access
    }

    /// Whether this operation occurs at all.
    pub fn does(&self, op: Op) -> bool {
        self.mix[op] > 0 || op == Op::Trim && self.trim_before_write
    }

    /// Whether data on the target is lost.
    pub fn destroys(&self) -> bool {
        self.does(Op::Write) || self.does(Op::Trim)
    }
}

/// Sizes of the I/Os of one operation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BlockSize {
    /// Always the same.
    Fixed(Bytes),
    /// Evenly drawn multiples of the smallest.
    Range {
        /// Smallest.
        min: Bytes,
        /// Largest.
        max: Bytes,
    },
    /// Sizes with their shares in percent.
    Split(Vec<(Bytes, u32)>),
}

impl BlockSize {
    /// The smallest that can come.
    pub fn min(&self) -> Bytes {
        match self {
            BlockSize::Fixed(b) => *b,
            BlockSize::Range { min, .. } => *min,
            BlockSize::Split(parts) => parts.iter().map(|p| p.0).min().unwrap_or_default(),
        }
    }

    /// The largest that can come.
    pub fn max(&self) -> Bytes {
        match self {
            BlockSize::Fixed(b) => *b,
            BlockSize::Range { max, .. } => *max,
            BlockSize::Split(parts) => parts.iter().map(|p| p.0).max().unwrap_or_default(),
        }
    }
}
