//! Imported results: figures exactly as another program printed them, and their meaning for each worker.
//!
//! Our own records contain counts and sums. A printed result contains rounded figures, percentiles without their
//! distribution, and rates without their duration. These are kept unchanged, so that nothing is lost or invented. The
//! dialect of a program handles its names and units.

use crate::job::{Op, PerOp};
use crate::units::{Nanos, Quantile};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// A decimal number as printed: its digits, and the number of decimal places.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Decimal {
    digits: u64,
    decimals: u8,
}

/// Error for text that is not a plain decimal number.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a number: expected up to 19 digits with at most one decimal point")]
pub struct NotADecimal(pub String);

impl Decimal {
    /// Creates an integer.
    pub const fn whole(digits: u64) -> Decimal {
        Decimal {
            digits,
            decimals: 0,
        }
    }

    /// Returns the value as a float.
    pub fn value(self) -> f64 {
        self.digits as f64 / 10f64.powi(i32::from(self.decimals))
    }

    /// Returns the value of one unit in the last digit. The error of a rounded number is at most half of this; of a
    /// truncated number, all of it.
    pub fn step(self) -> f64 {
        10f64.powi(-i32::from(self.decimals))
    }

    /// Returns the number if it is an integer, written without a decimal point.
    pub fn as_whole(self) -> Option<u64> {
        (self.decimals == 0).then_some(self.digits)
    }

    /// Returns the number of decimal places.
    pub fn decimals(self) -> u8 {
        self.decimals
    }
}

impl FromStr for Decimal {
    type Err = NotADecimal;

    fn from_str(text: &str) -> Result<Decimal, NotADecimal> {
        let error = || NotADecimal(text.chars().take(40).collect());
        let (whole, rest) = text.split_once('.').unwrap_or((text, ""));
        let plain = |part: &str| part.bytes().all(|b| b.is_ascii_digit());
        if whole.is_empty() || !plain(whole) || !plain(rest) || rest.len() > 18 {
            return Err(error());
        }
        let mut digits = 0u64;
        for digit in whole.bytes().chain(rest.bytes()) {
            let next = digits
                .checked_mul(10)
                .and_then(|n| n.checked_add(u64::from(digit - b'0')));
            digits = next.ok_or_else(error)?;
        }
        Ok(Decimal {
            digits,
            decimals: rest.len() as u8,
        })
    }
}

impl TryFrom<String> for Decimal {
    type Error = NotADecimal;

    fn try_from(text: String) -> Result<Decimal, NotADecimal> {
        text.parse()
    }
}

impl From<Decimal> for String {
    fn from(decimal: Decimal) -> String {
        decimal.to_string()
    }
}

impl fmt::Display for Decimal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let scale = 10u64.pow(u32::from(self.decimals));
        let text = match self.decimals {
            0 => self.digits.to_string(),
            n => format!(
                "{}.{:0width$}",
                self.digits / scale,
                self.digits % scale,
                width = usize::from(n)
            ),
        };
        f.pad(&text)
    }
}

/// Printed figure: name, value and unit, such as `max`, `1532.3`, `k`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "(String, Decimal, String)", into = "(String, Decimal, String)")]
pub struct ReportedFigure {
    /// Name of the figure.
    pub name: String,
    /// Value as printed.
    pub value: Decimal,
    /// Text after the value: a prefix, a unit, or nothing.
    pub unit: String,
}

impl From<(String, Decimal, String)> for ReportedFigure {
    fn from((name, value, unit): (String, Decimal, String)) -> ReportedFigure {
        ReportedFigure { name, value, unit }
    }
}

impl From<ReportedFigure> for (String, Decimal, String) {
    fn from(ReportedFigure { name, value, unit }: ReportedFigure) -> Self {
        (name, value, unit)
    }
}

/// Formats the value and unit: `1532.3k`.
impl fmt::Display for ReportedFigure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&format!("{}{}", self.value, self.unit))
    }
}

/// Block of printed output: figures, words and nested blocks under one name.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReportedBlock {
    /// Name of the figure.
    pub name: String,
    /// Words with their names.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub words: Vec<(String, String)>,
    /// Figures, in the printed order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub figures: Vec<ReportedFigure>,
    /// Nested blocks, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub blocks: Vec<ReportedBlock>,
}

impl ReportedBlock {
    /// Creates an empty block.
    pub fn new(name: impl Into<String>) -> ReportedBlock {
        ReportedBlock {
            name: name.into(),
            ..ReportedBlock::default()
        }
    }

    /// Adds words.
    pub fn word(&mut self, name: &str, text: impl Into<String>) -> &mut ReportedBlock {
        self.words.push((name.to_owned(), text.into()));
        self
    }

    /// Adds a figure.
    pub fn figure(&mut self, name: &str, value: Decimal, unit: &str) -> &mut ReportedBlock {
        self.figures.push(ReportedFigure {
            name: name.to_owned(),
            value,
            unit: unit.to_owned(),
        });
        self
    }

    /// Returns the words with this name.
    pub fn words_of(&self, name: &str) -> Option<&str> {
        self.words
            .iter()
            .find(|(known, _)| known == name)
            .map(|(_, text)| text.as_str())
    }

    /// Returns the first figure with this name.
    pub fn get(&self, name: &str) -> Option<&ReportedFigure> {
        self.figures.iter().find(|figure| figure.name == name)
    }

    /// Returns the first figure with this name as an integer.
    pub fn whole(&self, name: &str) -> Option<u64> {
        self.get(name)?.value.as_whole()
    }

    /// Returns the first nested block with this name.
    pub fn part(&self, name: &str) -> Option<&ReportedBlock> {
        self.blocks.iter().find(|block| block.name == name)
    }

    /// Returns all nested blocks with this name.
    pub fn parts<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a ReportedBlock> {
        self.blocks.iter().filter(move |block| block.name == name)
    }

    /// Returns the number of figures, including nested blocks.
    pub fn count(&self) -> usize {
        self.figures.len() + self.blocks.iter().map(ReportedBlock::count).sum::<usize>()
    }
}

/// Complete printed result of a run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Reported {
    /// Printed blocks, in order.
    #[serde(default)]
    pub blocks: Vec<ReportedBlock>,
    /// Details of single workers besides counts and sums.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub workers: Vec<WorkerReport>,
    /// Missing properties of single jobs, for which the scenario has defaults.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unstated: Vec<UnstatedJob>,
    /// Whether the start times were printed without a time zone, and that of the importing host was assumed.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub zone_assumed: bool,
}

/// A property of a job that another program's output may leave out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum JobProperty {
    /// Whether it reads, writes or trims.
    Operation,
    /// Whether offsets are sequential or random.
    Order,
    /// Size of an I/O in bytes.
    BlockSize,
    /// Queue depth.
    QueueDepth,
    /// I/O engine.
    Engine,
    /// Whether the page cache was bypassed.
    Direct,
}

/// Properties that an imported result does not state for one job.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct UnstatedJob {
    /// Index of its phase in the scenario.
    pub phase: u32,
    /// Index of the job in the phase.
    pub job: u32,
    /// Missing properties, without duplicates.
    pub properties: Vec<JobProperty>,
}

impl Reported {
    /// Whether the output does not state a property of a job, given by its indexes in the scenario.
    pub fn is_unstated(&self, phase: usize, job: usize, property: JobProperty) -> bool {
        let of_job = |one: &&UnstatedJob| one.phase as usize == phase && one.job as usize == job;
        self.unstated
            .iter()
            .find(of_job)
            .is_some_and(|one| one.properties.contains(&property))
    }

    /// Returns the printed details of a worker, given by its indexes in the record.
    pub fn worker(&self, phase: usize, worker: usize) -> Option<&WorkerReport> {
        self.workers
            .iter()
            .find(|report| report.phase as usize == phase && report.worker as usize == worker)
    }
}

/// Printed details of one worker, besides counts and sums.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct WorkerReport {
    /// Index of its phase in the record.
    pub phase: u32,
    /// Index of the worker in the phase.
    pub worker: u32,
    /// Number of workers that were printed as this one.
    pub members: u32,
    /// Details by operation.
    pub ops: PerOp<OpReport>,
    /// Percentiles of syncs.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sync: Vec<Percentile>,
}

/// Printed details of one operation, besides counts and sums.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct OpReport {
    /// Bytes per second, if the output has only this and not the bytes and the time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bytes_per_s: Option<StatedRate>,
    /// Completions per second, if the output has only this.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub iops: Option<StatedRate>,
    /// Percentiles of completion latency.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub clat: Vec<Percentile>,
    /// Percentiles of total latency.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub lat: Vec<Percentile>,
    /// Percentiles of submission latency.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub slat: Vec<Percentile>,
}

impl OpReport {
    /// Whether it has no details.
    pub fn is_empty(&self) -> bool {
        *self == OpReport::default()
    }

    /// Whether a rate was stated.
    pub fn has_rate(&self) -> bool {
        self.bytes_per_s.is_some() || self.iops.is_some()
    }
}

/// Printed rate, possibly the mean of several runs.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct StatedRate {
    /// Rate, or the mean of the runs.
    pub mean: f64,
    /// Standard deviation of the runs (divisor n - 1), if printed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deviation: Option<f64>,
    /// Number of runs behind the mean.
    pub runs: u32,
}

impl StatedRate {
    /// Creates the rate of a single run.
    pub fn once(mean: f64) -> StatedRate {
        StatedRate {
            mean,
            deviation: None,
            runs: 1,
        }
    }
}

/// Printed percentile, with its printed precision.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Percentile {
    /// Fraction of the samples up to the value.
    pub share: Quantile,
    /// Latency.
    pub value: Nanos,
}

/// Parses an operation such as `read` or `WRITE`.
pub fn op_named(word: &str) -> Option<Op> {
    Op::ALL
        .into_iter()
        .find(|op| op.name().eq_ignore_ascii_case(word))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn decimals_keep_their_last_digit() {
        for text in [
            "0",
            "0.00",
            "1532.3",
            "100.000000",
            "18446744073709551615",
            "007",
        ] {
            let decimal: Decimal = text.parse().unwrap();
            assert_eq!(
                decimal.to_string().trim_start_matches('0'),
                text.trim_start_matches('0'),
                "{text}"
            );
        }
        let decimal: Decimal = "22.70".parse().unwrap();
        assert_eq!(
            (decimal.value(), decimal.step(), decimal.as_whole()),
            (22.7, 0.01, None)
        );
        assert_eq!(
            format!("{:>7}|", "1.5".parse::<Decimal>().unwrap()),
            "    1.5|"
        );
    }

    #[test]
    fn what_is_no_decimal_says_so() {
        for text in [
            "",
            ".",
            ".5",
            "-1",
            "+1",
            "nan",
            "inf",
            "1e9",
            "1,5",
            "1.2.3",
            "18446744073709551616",
            "1 ",
        ] {
            assert!(text.parse::<Decimal>().is_err(), "{text}");
        }
    }

    #[test]
    fn reports_survive_storage() {
        let mut block = ReportedBlock::new("clat");
        block
            .word("unit", "usec")
            .figure("max", "1532.3".parse().unwrap(), "k");
        block.blocks.push(ReportedBlock::new("percentiles"));
        let percentile = Percentile {
            share: Quantile::P999,
            value: Nanos(5),
        };
        let mut worker = WorkerReport {
            members: 16,
            ..WorkerReport::default()
        };
        worker.ops.read.clat = vec![percentile];
        let reported = Reported {
            zone_assumed: true,
            blocks: vec![block],
            workers: vec![worker],
            unstated: vec![UnstatedJob {
                phase: 0,
                job: 1,
                properties: vec![JobProperty::QueueDepth],
            }],
        };
        let text = serde_json::to_string(&reported).unwrap();
        assert!(text.contains(r#"["max","1532.3","k"]"#), "{text}");
        assert_eq!(serde_json::from_str::<Reported>(&text).unwrap(), reported);
        assert_eq!(reported.blocks[0].count(), 1);
        assert!(reported.is_unstated(0, 1, JobProperty::QueueDepth));
        assert!(!reported.is_unstated(0, 0, JobProperty::QueueDepth));
        assert!(!reported.is_unstated(0, 1, JobProperty::Direct));
    }

    proptest! {
        #[test]
        fn decimals_round_trip(digits: u64, decimals in 0u8..=18) {
            let decimal = Decimal { digits, decimals };
            prop_assert_eq!(decimal.to_string().parse::<Decimal>().unwrap(), decimal);
        }

        #[test]
        fn any_text_is_a_decimal_or_an_error(text in "[0-9.,eE+ -]{0,30}|.{0,8}") {
            let _ = text.parse::<Decimal>();
        }
    }
}
