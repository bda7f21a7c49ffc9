//! What another program printed of its run: figures exactly as they stood there, and what they mean for each worker.
//!
//! A record of our own holds counts and sums. A printed result holds rounded figures, percentiles without the
//! distribution behind them, rates without the time they were taken over. They are kept here as they are, so that
//! nothing is lost and nothing has to be invented. Which names and units a program uses is the business of its dialect.

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

/// A text that is no plain decimal number.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a number: expected up to 19 digits with at most one decimal point")]
pub struct NotADecimal(pub String);

impl Decimal {
    /// A whole number.
    pub const fn whole(digits: u64) -> Decimal {
        Decimal {
            digits,
            decimals: 0,
        }
    }

    /// Its value, to the precision of a float.
    pub fn value(self) -> f64 {
        self.digits as f64 / 10f64.powi(i32::from(self.decimals))
    }

    /// What one more in its last digit would add: a rounded number lies within half of this, a cut one within all of it.
    pub fn step(self) -> f64 {
        10f64.powi(-i32::from(self.decimals))
    }

    /// The number where it is a whole one, written without a point.
    pub fn as_whole(self) -> Option<u64> {
        (self.decimals == 0).then_some(self.digits)
    }

    /// Digits behind the point.
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

/// A figure as it was printed: `max`, `1532.3`, `k`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "(String, Decimal, String)", into = "(String, Decimal, String)")]
pub struct ReportedFigure {
    /// Its name.
    pub name: String,
    /// The number.
    pub value: Decimal,
    /// What stood behind it: a prefix, a unit, or nothing.
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

/// The number and its unit: `1532.3k`.
impl fmt::Display for ReportedFigure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&format!("{}{}", self.value, self.unit))
    }
}

/// A part of what was printed: figures and words under one name, and parts within it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReportedBlock {
    /// Its name.
    pub name: String,
    /// Words, by name.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub words: Vec<(String, String)>,
    /// Figures, in the order they stood in.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub figures: Vec<ReportedFigure>,
    /// Parts within it, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub blocks: Vec<ReportedBlock>,
}

impl ReportedBlock {
    /// An empty one.
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

    /// Words by name.
    pub fn words_of(&self, name: &str) -> Option<&str> {
        self.words
            .iter()
            .find(|(known, _)| known == name)
            .map(|(_, text)| text.as_str())
    }

    /// The first figure of that name.
    pub fn get(&self, name: &str) -> Option<&ReportedFigure> {
        self.figures.iter().find(|figure| figure.name == name)
    }

    /// A whole number by name.
    pub fn whole(&self, name: &str) -> Option<u64> {
        self.get(name)?.value.as_whole()
    }

    /// The first part of that name.
    pub fn part(&self, name: &str) -> Option<&ReportedBlock> {
        self.blocks.iter().find(|block| block.name == name)
    }

    /// All parts of that name.
    pub fn parts<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a ReportedBlock> {
        self.blocks.iter().filter(move |block| block.name == name)
    }

    /// Returns the number of its figures, including those of its parts.
    pub fn count(&self) -> usize {
        self.figures.len() + self.blocks.iter().map(ReportedBlock::count).sum::<usize>()
    }
}

/// All that was printed of a run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Reported {
    /// What stood there, in order.
    #[serde(default)]
    pub blocks: Vec<ReportedBlock>,
    /// Details of single workers beyond counts and sums.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub workers: Vec<WorkerReport>,
    /// Details missing for single jobs, for which the scenario has defaults.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unstated: Vec<UnstatedJob>,
}

/// A property of a job that another program's output may leave out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum JobProperty {
    /// Whether it reads, writes or trims.
    Operation,
    /// Whether offsets are sequential or random.
    Order,
    /// Bytes of an I/O.
    BlockSize,
    /// I/Os in flight.
    QueueDepth,
    /// The engine.
    Engine,
    /// Whether the page cache was bypassed.
    Direct,
}

/// What an imported result does not say of one job.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct UnstatedJob {
    /// Index of its phase in the scenario.
    pub phase: u32,
    /// Its place in the phase.
    pub job: u32,
    /// The properties, each once.
    pub properties: Vec<JobProperty>,
}

impl Reported {
    /// Whether the output does not say this of a job, by its places in the scenario.
    pub fn is_unstated(&self, phase: usize, job: usize, property: JobProperty) -> bool {
        let of_job = |one: &&UnstatedJob| one.phase as usize == phase && one.job as usize == job;
        self.unstated
            .iter()
            .find(of_job)
            .is_some_and(|one| one.properties.contains(&property))
    }

    /// What was printed of a worker, by its places in the record.
    pub fn worker(&self, phase: usize, worker: usize) -> Option<&WorkerReport> {
        self.workers
            .iter()
            .find(|report| report.phase as usize == phase && report.worker as usize == worker)
    }
}

/// What was printed of one worker of the record beyond counts and sums.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct WorkerReport {
    /// Index of its phase in the record.
    pub phase: u32,
    /// Its place in the phase.
    pub worker: u32,
    /// How many workers were printed as this one.
    pub members: u32,
    /// By operation.
    pub ops: PerOp<OpReport>,
    /// Percentiles of syncs.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sync: Vec<Percentile>,
}

/// What was printed of one operation beyond counts and sums.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct OpReport {
    /// Bytes per second, where only this was printed and not the bytes and the time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bytes_per_s: Option<StatedRate>,
    /// Completions per second, where only this was printed.
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
    /// Whether it says anything.
    pub fn is_empty(&self) -> bool {
        *self == OpReport::default()
    }

    /// Whether a rate was stated.
    pub fn has_rate(&self) -> bool {
        self.bytes_per_s.is_some() || self.iops.is_some()
    }
}

/// A rate that was stated, perhaps as the mean of several runs.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct StatedRate {
    /// The rate, or the mean of the runs.
    pub mean: f64,
    /// Deviation of the runs (divisor n - 1), where it was stated.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deviation: Option<f64>,
    /// How many runs it is the mean of.
    pub runs: u32,
}

impl StatedRate {
    /// The rate of a single run.
    pub fn once(mean: f64) -> StatedRate {
        StatedRate {
            mean,
            deviation: None,
            runs: 1,
        }
    }
}

/// A percentile that was printed, at the precision it was printed with.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Percentile {
    /// Share of the samples that do not exceed it.
    pub share: Quantile,
    /// The latency.
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
        let op = OpReport {
            clat: vec![percentile],
            ..OpReport::default()
        };
        let ops = PerOp {
            read: op,
            ..PerOp::default()
        };
        let worker = WorkerReport {
            members: 16,
            ops,
            ..WorkerReport::default()
        };
        let unstated = vec![UnstatedJob {
            phase: 0,
            job: 1,
            properties: vec![JobProperty::QueueDepth],
        }];
        let reported = Reported {
            blocks: vec![block],
            workers: vec![worker],
            unstated,
        };
        let text = serde_json::to_string(&reported).unwrap();
        assert!(text.contains(r#"["max","1532.3","k"]"#), "{text}");
        assert_eq!(serde_json::from_str::<Reported>(&text).unwrap(), reported);
        assert_eq!(reported.blocks[0].count(), 1);
        assert!(reported.is_unstated(0, 1, JobProperty::QueueDepth));
        assert!(
            !reported.is_unstated(0, 0, JobProperty::QueueDepth)
                && !reported.is_unstated(0, 1, JobProperty::Direct)
        );
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
