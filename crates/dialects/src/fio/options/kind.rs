//! Kinds of option values with their bounds, and the parsed values.

use crate::fio::lists::{errors, floats, indices, paths, per_op, range, split};
use crate::fio::spelling::nearest;
use crate::fio::values::{TimeUnit, ValueContext};
use hakaru_model::job::rules::PatternPart;
use hakaru_model::job::{PerOp, SizeSpec};
use hakaru_model::units::{Bytes, Nanos};
use std::path::PathBuf;

/// Keywords of an option with their descriptions; an empty description marks an alias of the previous keyword.
pub type Words = &'static [(&'static str, &'static str)];

/// Kind of value an option takes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum OptionKind {
    /// A switch: nothing, 0 or 1.
    Flag,
    /// 0 or 1.
    Bool,
    /// An integer with bounds; suffixes such as `k` multiply as in sizes.
    Int {
        /// Minimum.
        min: i64,
        /// Maximum.
        max: i64,
    },
    /// Integers with bounds, for reads, writes and trims.
    PerOpInt {
        /// Minimum.
        min: u64,
        /// Maximum.
        max: u64,
    },
    /// Bytes, with a minimum.
    Size {
        /// Minimum.
        min: u64,
    },
    /// Bytes, a percentage, or a number of zones.
    SizeOrPercent,
    /// Bytes, or a number of zones.
    SizeOrZones,
    /// A time, with the unit of a bare number.
    Time(TimeUnit),
    /// A time, or a negative number for never.
    TimeOrNever(TimeUnit),
    /// Times for reads, writes and trims.
    PerOpTime(TimeUnit),
    /// One of these keywords.
    Choice(Words),
    /// One of these keywords, optionally followed by `:` and more text.
    Tagged(Words),
    /// One of these keywords, optionally followed by `:` and a number or size, which may be negative.
    Numbered(Words),
    /// One size, or a range of them.
    SizeOrRange,
    /// One time in seconds, or a range of them.
    TimeOrRange,
    /// Sizes with their shares in percent, for reads, writes and trims.
    Splits,
    /// Ranges of sizes for reads, writes and trims.
    Ranges,
    /// Colon-separated numbers.
    Floats {
        /// Minimum.
        min: f64,
        /// Maximum.
        max: f64,
        /// Maximum count.
        most: usize,
    },
    /// CPUs or nodes, such as `0-3,5`.
    Indices,
    /// Colon-separated paths.
    Paths,
    /// Lists of errors for reads, writes and verification.
    Errors,
    /// Bytes of a pattern.
    Pattern,
    /// Any text, described by this form.
    Text(&'static str),
    /// Optional text, described by this form.
    OptionalText(&'static str),
}

/// A parsed option value, by kind.
#[derive(Clone, Debug, PartialEq)]
#[allow(missing_docs)] // Each goes with the kind of its name.
pub enum OptionValue {
    Flag(bool),
    Int(i64),
    PerOpInt(PerOp<Option<u64>>),
    Size(u64),
    SizeSpec(SizeSpec),
    Zones(u64),
    Time(Nanos),
    PerOpTime(PerOp<Option<Nanos>>),
    Word(&'static str, Option<String>),
    Numbered(&'static str, Option<i64>),
    SizeRange(u64, u64),
    TimeRange(Nanos, Nanos),
    Splits(PerOp<Option<Vec<(u64, u32)>>>),
    Ranges(PerOp<Option<(u64, u64)>>),
    Floats(Vec<f64>),
    Indices(Vec<u32>),
    Paths(Vec<PathBuf>),
    Errors([Vec<i32>; 3]),
    Pattern(Vec<PatternPart>),
    Text(Option<String>),
}

/// A 32-bit integer of at least `min`.
pub(super) const fn int(min: i64) -> OptionKind {
    OptionKind::Int {
        min,
        max: u32::MAX as i64,
    }
}

impl OptionKind {
    /// Whether the option may be given without a value.
    pub(crate) fn may_stand_alone(&self) -> bool {
        matches!(
            self,
            OptionKind::Flag | OptionKind::Bool | OptionKind::OptionalText(_)
        )
    }

    /// Whether a value with `$ncpus` or similar is evaluated as an expression.
    pub(crate) fn is_numeric(&self) -> bool {
        use OptionKind::*;
        matches!(
            self,
            Bool | Flag | Int { .. } | PerOpInt { .. } | Size { .. } | SizeOrPercent | SizeOrZones
        ) || matches!(self, Time(_) | TimeOrNever(_))
    }

    /// Parses a value.
    pub(crate) fn read(
        &self,
        text: Option<&str>,
        reading: &ValueContext<'_>,
    ) -> Result<OptionValue, String> {
        let Some(text) = text else {
            return match self {
                OptionKind::OptionalText(_) => Ok(OptionValue::Text(None)),
                _ => Ok(OptionValue::Flag(true)),
            };
        };
        let empty = text.trim().is_empty() && !matches!(self, OptionKind::OptionalText(_));
        if empty {
            return Err(format!("empty value: expected {}", self.shape()));
        }
        Ok(match *self {
            OptionKind::Flag | OptionKind::Bool => {
                OptionValue::Flag(within(reading.signed(text)?, 0, 1)? == 1)
            }
            OptionKind::Int { min, max: 100 } => {
                OptionValue::Int(within(reading.signed(percentless(text))?, min, 100)?)
            }
            OptionKind::Int { min, max } => {
                OptionValue::Int(within(reading.signed(text)?, min, max)?)
            }
            OptionKind::PerOpInt { min, max } => OptionValue::PerOpInt(per_op(text, |part| {
                within(reading.size(percentless(part))?, min, max)
            })?),
            OptionKind::Size { min } => {
                OptionValue::Size(within(reading.size(text)?, min, u64::MAX)?)
            }
            OptionKind::SizeOrPercent | OptionKind::SizeOrZones
                if text.trim_end().ends_with(['z', 'Z']) =>
            {
                OptionValue::Zones(reading.size(text.trim().trim_end_matches(['z', 'Z']))?)
            }
            OptionKind::SizeOrPercent => OptionValue::SizeSpec(size_or_percent(text, reading)?),
            OptionKind::SizeOrZones => {
                OptionValue::SizeSpec(SizeSpec::Bytes(Bytes(reading.size(text)?)))
            }
            OptionKind::Time(unit) => OptionValue::Time(reading.time(text, unit)?),
            OptionKind::TimeOrNever(_) if text.trim().starts_with('-') => {
                reading.signed(text)?;
                OptionValue::Time(NEVER)
            }
            OptionKind::TimeOrNever(unit) => OptionValue::Time(reading.time(text, unit)?),
            OptionKind::PerOpTime(unit) => {
                OptionValue::PerOpTime(per_op(text, |part| reading.time(part, unit))?)
            }
            OptionKind::Choice(words) => OptionValue::Word(word(text.trim(), words)?, None),
            OptionKind::Tagged(words) => {
                let (head, tail) = match text.trim().split_once(':') {
                    None => (text.trim(), None),
                    Some((head, tail)) => (head, Some(tail.to_owned())),
                };
                OptionValue::Word(word(head, words)?, tail)
            }
            OptionKind::Numbered(words) => {
                let (head, tail) = match text.trim().split_once(':') {
                    None => (text.trim(), None),
                    Some((head, tail)) => (head, Some(reading.signed(tail)?)),
                };
                OptionValue::Numbered(word(head, words)?, tail)
            }
            OptionKind::SizeOrRange => {
                let one = |text: &str| within(reading.size(text)?, 1, u64::MAX);
                let (min, max) =
                    range(text, one).or_else(|_| one(text).map(|size| (size, size)))?;
                OptionValue::SizeRange(min, max)
            }
            OptionKind::TimeOrRange => {
                let one = |text: &str| reading.time(text, TimeUnit::Seconds);
                let (min, max) =
                    range(text, one).or_else(|_| one(text).map(|time| (time, time)))?;
                OptionValue::TimeRange(min, max)
            }
            OptionKind::Splits => OptionValue::Splits(per_op(text, |part| {
                split(part, &|size| reading.size(size))
            })?),
            OptionKind::Ranges => {
                let text = text.replace('/', ",");
                OptionValue::Ranges(per_op(&text, |part| {
                    range(part, |size| within(reading.size(size)?, 1, u64::MAX))
                })?)
            }
            OptionKind::Floats { min, max, most } => {
                OptionValue::Floats(floats(text, min, max, most)?)
            }
            OptionKind::Indices => OptionValue::Indices(indices(text)?),
            OptionKind::Paths => OptionValue::Paths(paths(text.trim())),
            OptionKind::Errors => OptionValue::Errors(errors(text)?),
            OptionKind::Pattern => OptionValue::Pattern(reading.pattern(text)?),
            // Job files may have blanks around the `=`; they are not part of a name.
            OptionKind::Text(_) | OptionKind::OptionalText(_) => {
                OptionValue::Text(Some(text.trim().to_owned()))
            }
        })
    }

    /// Describes the expected value, such as `a size such as 64m`.
    pub fn shape(&self) -> String {
        match *self {
            OptionKind::Flag => "nothing, 0 or 1".to_owned(),
            OptionKind::Bool => "0 or 1".to_owned(),
            OptionKind::Int { min, max } => format!("a whole number {}", bounds(min, max)),
            OptionKind::PerOpInt { max: 100, .. } => {
                "up to three percentages, for reads, writes and trims".to_owned()
            }
            OptionKind::PerOpInt { .. } => {
                "up to three whole numbers such as 4k, for reads, writes and trims".to_owned()
            }
            OptionKind::Size { .. } => "a size such as 64m".to_owned(),
            OptionKind::SizeOrPercent => {
                "a size such as 64m, or a percentage such as 50%".to_owned()
            }
            OptionKind::SizeOrZones => {
                "a size such as 64m, or a number of zones such as 2z".to_owned()
            }
            OptionKind::Time(unit) | OptionKind::TimeOrNever(unit) => {
                format!("a time such as 30s, in {} without a unit", unit_name(unit))
            }
            OptionKind::PerOpTime(unit) => {
                format!(
                    "up to three times such as 5ms, in {} without a unit",
                    unit_name(unit)
                )
            }
            OptionKind::Choice(words) => format!("one of {}", list(words)),
            OptionKind::Tagged(words) => {
                format!("one of {}, some with `:` and a value", list(words))
            }
            OptionKind::Numbered(words) => {
                format!("one of {}, optionally with `:` and a number", list(words))
            }
            OptionKind::SizeOrRange => "a size such as 64m, or a range such as 4k-1m".to_owned(),
            OptionKind::TimeOrRange => "a time such as 30s, in seconds without a unit".to_owned(),
            OptionKind::Splits => "sizes with percentages such as 4k/10:64k/90".to_owned(),
            OptionKind::Ranges => {
                "up to three ranges such as 4k-16k, for reads, writes and trims".to_owned()
            }
            OptionKind::Floats { min, max, most } => {
                format!("up to {most} numbers from {min} to {max}, separated by colons")
            }
            OptionKind::Indices => "a list such as 0-3,5, or all".to_owned(),
            OptionKind::Paths => "paths separated by colons".to_owned(),
            OptionKind::Errors => {
                "errors such as EIO:ENOSPC, for reads, writes and verification".to_owned()
            }
            OptionKind::Pattern => {
                "0xdeadbeef, \"text\", 'file' or a number, or several of them".to_owned()
            }
            OptionKind::Text(shape) => format!("text such as {shape}"),
            OptionKind::OptionalText(shape) => format!("nothing, or text such as {shape}"),
        }
    }

    /// Sample values of this kind, for tests of every row.
    #[cfg(test)]
    pub(crate) fn samples(&self) -> Vec<String> {
        let of = |list: &[&str]| list.iter().map(|s| (*s).to_owned()).collect();
        match *self {
            OptionKind::Flag | OptionKind::Bool => of(&["0", "1"]),
            OptionKind::Int { min, max } => {
                vec![min.to_string(), max.to_string(), min.max(1).to_string()]
            }
            OptionKind::PerOpInt { min, max } => {
                vec![min.to_string(), format!("{min},{max}"), format!(",{max},")]
            }
            OptionKind::Size { min } => vec![min.max(1).to_string(), "64k".to_owned()],
            OptionKind::SizeOrPercent => of(&["64k", "50%", "2z"]),
            OptionKind::SizeOrZones => of(&["64k", "2z"]),
            OptionKind::Time(_) | OptionKind::PerOpTime(_) => of(&["1", "20ms"]),
            OptionKind::TimeOrNever(_) => of(&["1", "20ms", "-1"]),
            OptionKind::Choice(words) => words.iter().map(|(word, _)| (*word).to_owned()).collect(),
            OptionKind::SizeOrRange | OptionKind::TimeOrRange => of(&["4", "1-2"]),
            OptionKind::Splits => of(&["4k/10:64k/", "4k:8k,512"]),
            OptionKind::Tagged(words) | OptionKind::Numbered(words) => words
                .iter()
                .flat_map(|(w, _)| [(*w).to_owned(), format!("{w}:8"), format!("{w}:x")])
                .collect(),
            OptionKind::Ranges => of(&["1k-2k", "1k:2k,4k-8k,"]),
            OptionKind::Floats { min, max, .. } => vec![format!("{min}:{max}")],
            OptionKind::Indices => of(&["0-3,5", "all"]),
            OptionKind::Paths => of(&["/tmp/a:/tmp/b"]),
            OptionKind::Errors => of(&["EIO:5,ENOSPC"]),
            OptionKind::Pattern => of(&["0xdeadbeef", "0xff%o"]),
            OptionKind::Text(shape) | OptionKind::OptionalText(shape) => {
                of(&[shape, "x", ":", "1/2:3/4,5"])
            }
        }
    }
}

/// Ten years: longer than any run, and still within the range of the clocks.
pub(crate) const NEVER: Nanos = Nanos(3650 * 86_400 * 1_000_000_000);

fn unit_name(unit: TimeUnit) -> &'static str {
    match unit {
        TimeUnit::Seconds => "seconds",
        TimeUnit::Millis => "milliseconds",
        TimeUnit::Micros => "microseconds",
    }
}

fn bounds(min: i64, max: i64) -> String {
    if max >= i64::from(u32::MAX) {
        format!("of at least {min}")
    } else {
        format!("from {min} to {max}")
    }
}

fn list(words: Words) -> String {
    words
        .iter()
        .map(|(word, _)| *word)
        .collect::<Vec<_>>()
        .join(", ")
}

fn within<T: PartialOrd + std::fmt::Display>(value: T, min: T, max: T) -> Result<T, String> {
    if value < min {
        return Err(format!("{value} is less than the minimum, {min}"));
    }
    if value > max {
        return Err(format!("{value} is more than the maximum, {max}"));
    }
    Ok(value)
}

fn percentless(text: &str) -> &str {
    text.trim().strip_suffix('%').unwrap_or(text)
}

/// Parses a size or a percentage; of a range fio takes the upper end.
fn size_or_percent(text: &str, reading: &ValueContext<'_>) -> Result<SizeSpec, String> {
    let text = match text.trim().trim_end_matches('-') {
        sum if sum.starts_with('(') => sum,
        range => range.rsplit_once('-').map_or(range, |(_, end)| end),
    };
    match text.strip_suffix('%') {
        None => Ok(SizeSpec::Bytes(Bytes(reading.size(text)?))),
        Some(percent) => {
            Ok(SizeSpec::Percent(
                within(reading.size(percent)?, 0, u64::from(u32::MAX))? as u32,
            ))
        }
    }
}

fn word(text: &str, words: Words) -> Result<&'static str, String> {
    let found = words
        .iter()
        .find(|(word, _)| *word == text)
        .map(|(word, _)| *word);
    found.ok_or_else(|| {
        let near = nearest(text, words.iter().map(|(word, _)| *word));
        match near {
            Some(near) => format!("unknown value: did you mean `{near}`?"),
            None => format!("unknown value: expected one of {}", list(words)),
        }
    })
}

/// Accessors for setters. Each panics if a table row pairs a setter with the wrong kind; a test of all rows checks
/// this.
impl OptionValue {
    #[track_caller]
    fn mismatch(&self) -> ! {
        panic!("a row of the option table reads another kind of value than its own: {self:?}")
    }

    pub(crate) fn flag(&self) -> bool {
        if let OptionValue::Flag(flag) = self {
            *flag
        } else {
            self.mismatch()
        }
    }

    pub(crate) fn int(&self) -> i64 {
        if let OptionValue::Int(int) = self {
            *int
        } else {
            self.mismatch()
        }
    }

    /// For kinds with 32-bit bounds; larger values saturate.
    pub(crate) fn u32(&self) -> u32 {
        u32::try_from(self.int().max(0)).unwrap_or(u32::MAX)
    }

    pub(crate) fn u64(&self) -> u64 {
        match self {
            OptionValue::Size(size) => *size,
            _ => self.int().max(0) as u64,
        }
    }

    pub(crate) fn ints(&self) -> PerOp<Option<u64>> {
        if let OptionValue::PerOpInt(ints) = self {
            *ints
        } else {
            self.mismatch()
        }
    }

    pub(crate) fn bytes(&self) -> Bytes {
        if let OptionValue::Size(size) = self {
            Bytes(*size)
        } else {
            self.mismatch()
        }
    }

    /// The size; for a number of zones 0, because its length in bytes is known only after all options are parsed.
    pub(crate) fn size_spec(&self) -> SizeSpec {
        match self {
            OptionValue::SizeSpec(spec) => *spec,
            OptionValue::Zones(_) => SizeSpec::Bytes(Bytes(0)),
            _ => self.mismatch(),
        }
    }

    /// The number of zones, if the value is one.
    pub(crate) fn zones(&self) -> Option<u64> {
        if let OptionValue::Zones(count) = self {
            Some(*count)
        } else {
            None
        }
    }

    pub(crate) fn time(&self) -> Nanos {
        if let OptionValue::Time(time) = self {
            *time
        } else {
            self.mismatch()
        }
    }

    pub(crate) fn times(&self) -> PerOp<Option<Nanos>> {
        if let OptionValue::PerOpTime(times) = self {
            *times
        } else {
            self.mismatch()
        }
    }

    pub(crate) fn word(&self) -> &'static str {
        if let OptionValue::Word(word, _) = self {
            word
        } else {
            self.mismatch()
        }
    }

    pub(crate) fn tag(&self) -> Option<&str> {
        if let OptionValue::Word(_, tag) = self {
            tag.as_deref()
        } else {
            self.mismatch()
        }
    }

    pub(crate) fn numbered(&self) -> (&'static str, Option<i64>) {
        if let OptionValue::Numbered(word, number) = self {
            (word, *number)
        } else {
            self.mismatch()
        }
    }

    pub(crate) fn size_range(&self) -> (u64, u64) {
        if let OptionValue::SizeRange(min, max) = self {
            (*min, *max)
        } else {
            self.mismatch()
        }
    }

    pub(crate) fn time_range(&self) -> (Nanos, Nanos) {
        if let OptionValue::TimeRange(min, max) = self {
            (*min, *max)
        } else {
            self.mismatch()
        }
    }

    pub(crate) fn splits(&self) -> PerOp<Option<Vec<(u64, u32)>>> {
        if let OptionValue::Splits(splits) = self {
            splits.clone()
        } else {
            self.mismatch()
        }
    }

    pub(crate) fn ranges(&self) -> PerOp<Option<(u64, u64)>> {
        if let OptionValue::Ranges(ranges) = self {
            *ranges
        } else {
            self.mismatch()
        }
    }

    pub(crate) fn floats(&self) -> &[f64] {
        if let OptionValue::Floats(floats) = self {
            floats
        } else {
            self.mismatch()
        }
    }

    pub(crate) fn indices(&self) -> Vec<u32> {
        if let OptionValue::Indices(indices) = self {
            indices.clone()
        } else {
            self.mismatch()
        }
    }

    pub(crate) fn paths(&self) -> Vec<PathBuf> {
        if let OptionValue::Paths(paths) = self {
            paths.clone()
        } else {
            self.mismatch()
        }
    }

    pub(crate) fn errors(&self) -> [Vec<i32>; 3] {
        if let OptionValue::Errors(errors) = self {
            errors.clone()
        } else {
            self.mismatch()
        }
    }

    pub(crate) fn pattern(&self) -> Vec<PatternPart> {
        if let OptionValue::Pattern(parts) = self {
            parts.clone()
        } else {
            self.mismatch()
        }
    }

    pub(crate) fn text(&self) -> &str {
        if let OptionValue::Text(text) = self {
            text.as_deref().unwrap_or_default()
        } else {
            self.mismatch()
        }
    }
}
