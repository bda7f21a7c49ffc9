//! Option values: sizes, times, ranges, lists and patterns as fio writes them.
//!
//! Only the meaning of the text; which option takes what is in the option table. Errors are the second half of
//! "cannot be used: …". Source: fio's manual, "Parameter types", and runs of fio 3.33.

use super::expr::evaluate;
use super::invocation::ParseContext;
use hakaru_model::job::PerOp;
use hakaru_model::job::rules::PatternPart;
use hakaru_model::units::{Nanos, SizeRules, parse_size};
use std::borrow::Cow;
use std::path::{Path, PathBuf};

/// What a value is read against: the host, and the unit prefixes in force.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reading<'a> {
    /// The host.
    pub ctx: &'a ParseContext<'a>,
    /// 1024 or 1000.
    pub kb_base: u32,
}

/// The unit of a time that is given without one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TimeUnit {
    /// Seconds.
    Seconds,
    /// Milliseconds.
    Millis,
    /// Microseconds.
    Micros,
}

impl TimeUnit {
    fn nanos(self) -> f64 {
        match self {
            TimeUnit::Seconds => 1e9,
            TimeUnit::Millis => 1e6,
            TimeUnit::Micros => 1e3,
        }
    }
}

/// The largest integer an `f64` holds without loss; expressions are computed in `f64`.
const EXACT: f64 = 9_007_199_254_740_992.0;

impl Reading<'_> {
    fn rules(&self) -> SizeRules {
        if self.kb_base == 1000 { SizeRules::Fio1000 } else { SizeRules::Fio1024 }
    }

    /// Replaces `$pagesize`, `$mb_memory` and `$ncpus`. With `numeric`, what then is an expression is computed.
    pub(crate) fn expand<'t>(&self, text: &'t str, numeric: bool) -> Result<Cow<'t, str>, String> {
        let ParseContext { page_size, memory_mb, cpu_count, .. } = self.ctx;
        let words = [("$pagesize", *page_size), ("$mb_memory", *memory_mb), ("$ncpus", u64::from(*cpu_count))];
        if !words.iter().any(|(word, _)| text.contains(word)) {
            return Ok(Cow::Borrowed(text));
        }
        let plain = words.iter().fold(text.to_owned(), |text, (word, value)| text.replace(word, &value.to_string()));
        if !numeric || plain.bytes().all(|b| b.is_ascii_digit()) {
            return Ok(Cow::Owned(plain));
        }
        let value = evaluate(&plain, &|word| self.size_number(word))?;
        Ok(Cow::Owned(whole(value)?.to_string()))
    }

    fn size_number(&self, word: &str) -> Result<f64, String> {
        parse_size(word, self.rules()).map(|bytes| bytes.0 as f64).map_err(|e| e.to_string())
    }

    /// A number of bytes, or of anything else: `4k`, `0x1000`, `(2*4k)`.
    pub(crate) fn size(&self, text: &str) -> Result<u64, String> {
        let text = text.trim();
        if text.starts_with('(') {
            return whole(evaluate(text, &|word| self.size_number(word))?);
        }
        parse_size(text.strip_prefix('+').unwrap_or(text), self.rules()).map(|bytes| bytes.0).map_err(|e| e.to_string())
    }

    /// A number that may be negative.
    pub(crate) fn signed(&self, text: &str) -> Result<i64, String> {
        let text = text.trim();
        let (digits, negative) = match text.strip_prefix('-') {
            Some(digits) => (digits, true),
            None => (text, false),
        };
        let value = i64::try_from(self.size(digits)?).map_err(|_| format!("`{text}` is too large"))?;
        Ok(if negative { -value } else { value })
    }

    /// A span of time: `10`, `500ms`, `1.5h`, `(3*1000)` (microseconds).
    pub(crate) fn time(&self, text: &str, unit: TimeUnit) -> Result<Nanos, String> {
        let text = text.trim();
        let nanos = match text.starts_with('(') {
            // Within an expression, bare numbers are microseconds, and so is what comes out.
            true => evaluate(text, &|word| time_number(word, TimeUnit::Micros).map(|ns| ns / 1e3))? * 1e3,
            false => time_number(text, unit)?,
        };
        if !(0.0..EXACT * 1e3).contains(&nanos) {
            return Err(format!("`{text}` is not between 0 and 285 years"));
        }
        Ok(Nanos(nanos.round() as u64))
    }

    /// Bytes of a pattern: `0xdeadface"abcd"-12'file'%o`.
    pub(crate) fn pattern(&self, text: &str) -> Result<Vec<PatternPart>, String> {
        let mut parts: Vec<PatternPart> = Vec::new();
        let mut rest = text.trim();
        while !rest.is_empty() {
            let (part, left) = self.pattern_part(rest)?;
            match (parts.last_mut(), part) {
                (Some(PatternPart::Bytes(before)), PatternPart::Bytes(more)) => before.extend(more),
                (_, part) => parts.push(part),
            }
            rest = left;
        }
        let length: usize = parts.iter().map(|part| if let PatternPart::Bytes(b) = part { b.len() } else { 8 }).sum();
        match length {
            0 => Err("a pattern has at least one byte, such as 0xdeadbeef, \"text\" or 123".to_owned()),
            1..=512 => Ok(parts),
            _ => Err(format!("the pattern has {length} bytes, and 512 are the most")),
        }
    }

    fn pattern_part<'t>(&self, text: &'t str) -> Result<(PatternPart, &'t str), String> {
        if let Some(rest) = text.strip_prefix("%o") {
            return Ok((PatternPart::Offset, rest));
        }
        if let Some(hex) = text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
            let end = hex.find(|c: char| !c.is_ascii_hexdigit()).unwrap_or(hex.len());
            return Ok((PatternPart::Bytes(hex_bytes(&hex[..end])?), &hex[end..]));
        }
        if let Some(quoted) = text.strip_prefix('"') {
            let (bytes, rest) = quoted.split_once('"').ok_or("a string in the pattern is not closed by \"")?;
            return Ok((PatternPart::Bytes(bytes.as_bytes().to_vec()), rest));
        }
        if let Some(quoted) = text.strip_prefix('\'') {
            let (name, rest) = quoted.split_once('\'').ok_or("a file name in the pattern is not closed by '")?;
            let read = (self.ctx.read_file)(Path::new(name)).map_err(|e| format!("its file `{name}`: {e}"))?;
            return Ok((PatternPart::Bytes(read.into_iter().take(512).collect()), rest));
        }
        let end = text.find(|c: char| !(c.is_ascii_digit() || c == '-')).unwrap_or(text.len());
        let number: i64 = text[..end].parse().map_err(|_| {
            format!("`{text}` is no pattern: write 0xdeadbeef, \"text\", 'file', %o or a decimal number")
        })?;
        if !(i64::from(i32::MIN)..=i64::from(u32::MAX)).contains(&number) {
            return Err(format!("the number {number} needs more than 32 bits: write it as 0x…"));
        }
        // Least significant byte first, without the zeroes above a positive number.
        let bytes = (number as u32).to_le_bytes();
        let length = 4 - bytes.iter().rev().take_while(|b| **b == 0).count().min(3);
        Ok((PatternPart::Bytes(bytes[..length].to_vec()), &text[end..]))
    }
}

/// The whole part of a computed value.
fn whole(value: f64) -> Result<u64, String> {
    if (0.0..=EXACT).contains(&value) { Ok(value as u64) } else { Err(format!("the expression gives {value}")) }
}

fn time_number(text: &str, unit: TimeUnit) -> Result<f64, String> {
    let end = text.find(|c: char| !(c.is_ascii_digit() || c == '.')).unwrap_or(text.len());
    let number: f64 = text[..end]
        .parse()
        .map_err(|_| format!("`{text}` is not a time: a number with d, h, m, s, ms or us is expected, such as 30s"))?;
    let factor = match text[end..].trim().to_ascii_lowercase().as_str() {
        "" => unit.nanos(),
        "d" => 86_400e9,
        "h" => 3600e9,
        "m" | "min" => 60e9,
        "s" | "sec" => 1e9,
        "ms" | "msec" => 1e6,
        "us" | "usec" => 1e3,
        other => return Err(format!("`{text}` has the unknown unit `{other}`: use d, h, m, s, ms or us")),
    };
    Ok(number * factor)
}

fn hex_bytes(digits: &str) -> Result<Vec<u8>, String> {
    let even = if digits.len() % 2 == 1 { format!("0{digits}") } else { digits.to_owned() };
    let byte = |pair: &[u8]| std::str::from_utf8(pair).ok().and_then(|pair| u8::from_str_radix(pair, 16).ok());
    let bytes: Option<Vec<u8>> = even.as_bytes().chunks(2).map(byte).collect();
    bytes.filter(|b| !b.is_empty()).ok_or_else(|| "0x is followed by no hex digits".to_owned())
}

/// Values by operation: `a` for all, `a,b` for reads and for the others, `a,b,c`, `a,` for reads only.
pub(crate) fn per_op<T: Clone>(
    text: &str,
    mut one: impl FnMut(&str) -> Result<T, String>,
) -> Result<PerOp<Option<T>>, String> {
    let parts: Vec<&str> = text.split(',').collect();
    if parts.len() > 3 {
        return Err(format!("it has {} values, and 3 are the most: for reads, writes and trims", parts.len()));
    }
    let mut read = |text: &str| if text.trim().is_empty() { Ok(None) } else { one(text).map(Some) };
    let values = parts.into_iter().map(&mut read).collect::<Result<Vec<_>, _>>()?;
    let last = values.last().cloned().flatten();
    let mut values = values.into_iter();
    let mut next = || values.next().unwrap_or_else(|| last.clone());
    Ok(PerOp { read: next(), write: next(), trim: next() })
}

/// A range: `1k-4k` or `1k:4k`, in either order.
pub(crate) fn range<T: PartialOrd>(text: &str, one: impl Fn(&str) -> Result<T, String>) -> Result<(T, T), String> {
    let mut depth = 0;
    let middle = text.find(|c| {
        depth += match c {
            '(' => 1,
            ')' => -1,
            _ => 0,
        };
        depth == 0 && (c == '-' || c == ':')
    });
    let middle = middle.ok_or_else(|| format!("`{text}` is not a range such as 1k-4k"))?;
    let (a, b) = (one(&text[..middle])?, one(&text[middle + 1..])?);
    Ok(if a <= b { (a, b) } else { (b, a) })
}

/// Sizes with their shares in hundredths: `4k/10:64k/90`. Sizes without a share get what the others leave, evenly;
/// when all have one, the last gets what is missing from 100.
pub(crate) fn split(text: &str, size: &dyn Fn(&str) -> Result<u64, String>) -> Result<Vec<(u64, u32)>, String> {
    let mut parts: Vec<(u64, Option<u32>)> = Vec::new();
    for part in text.split(':') {
        let (bytes, percent) = part.split_once('/').unwrap_or((part, ""));
        let percent = match percent.trim().trim_end_matches('%') {
            "" => None,
            digits => Some(digits.parse::<u32>().map_err(|_| format!("`{digits}` is not a percentage"))?),
        };
        match size(bytes)? {
            0 => return Err("a block of 0 bytes cannot be".to_owned()),
            bytes => parts.push((bytes, percent)),
        }
    }
    if parts.len() > 64 {
        return Err(format!("it has {} sizes, and 64 are the most", parts.len()));
    }
    let given: u64 = parts.iter().filter_map(|part| part.1).map(u64::from).sum();
    let left = 100u64.checked_sub(given).ok_or_else(|| format!("the percentages add up to {given}, not 100"))? as u32;
    let open = parts.iter().filter(|part| part.1.is_none()).count() as u32;
    let mut whole: Vec<(u64, u32)> = Vec::new();
    let mut filled = 0;
    for (bytes, percent) in parts {
        let share = percent.unwrap_or_else(|| {
            filled += 1;
            left * filled / open - left * (filled - 1) / open
        });
        whole.push((bytes, share));
    }
    if let (0, Some(last)) = (open, whole.last_mut()) {
        last.1 += left;
    }
    Ok(whole)
}

/// Numbers separated by colons, each within bounds.
pub(crate) fn floats(text: &str, min: f64, max: f64, most: usize) -> Result<Vec<f64>, String> {
    let one = |part: &str| {
        let number: f64 = part.trim().parse().map_err(|_| format!("`{part}` is not a number"))?;
        if (min..=max).contains(&number) { Ok(number) } else { Err(format!("{number} is not between {min} and {max}")) }
    };
    let numbers = text.split(':').map(one).collect::<Result<Vec<_>, _>>()?;
    if numbers.len() > most {
        return Err(format!("it has {} values, and {most} are the most", numbers.len()));
    }
    Ok(numbers)
}

/// The highest processor or NUMA node that can be named.
const HIGHEST_INDEX: u32 = 4095;

/// A list of processors or nodes: `0-3,5`; empty for `all`.
pub(crate) fn indices(text: &str) -> Result<Vec<u32>, String> {
    if text.trim() == "all" {
        return Ok(Vec::new());
    }
    let number = |word: &str| match word.trim().parse::<u32>() {
        Ok(n) if n <= HIGHEST_INDEX => Ok(n),
        Ok(n) => Err(format!("{n} is more than {HIGHEST_INDEX}")),
        Err(_) => Err(format!("`{word}` is not a number: a list such as 0-3,5 is expected")),
    };
    let mut all = Vec::new();
    for part in text.split(',') {
        match part.split_once('-') {
            Some((from, to)) => all.extend(number(from)?..=number(to)?),
            None => all.push(number(part)?),
        }
    }
    all.sort_unstable();
    all.dedup();
    if all.is_empty() { Err(format!("`{text}` names none")) } else { Ok(all) }
}

/// Paths separated by colons; `\:` is a colon within a path.
pub(crate) fn paths(text: &str) -> Vec<PathBuf> {
    let mut all = vec![String::new()];
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        let last = all.last_mut().expect("there is at least one");
        match c {
            '\\' if chars.next_if_eq(&':').is_some() => last.push(':'),
            ':' => all.push(String::new()),
            c => last.push(c),
        }
    }
    all.into_iter().filter(|path| !path.is_empty()).map(PathBuf::from).collect()
}

/// Numbers of errors by name, as Linux has them.
const ERRORS: [(&str, i32); 34] = [
    ("EPERM", 1),
    ("ENOENT", 2),
    ("EINTR", 4),
    ("EIO", 5),
    ("ENXIO", 6),
    ("EBADF", 9),
    ("EAGAIN", 11),
    ("EWOULDBLOCK", 11),
    ("ENOMEM", 12),
    ("EACCES", 13),
    ("EFAULT", 14),
    ("EBUSY", 16),
    ("EEXIST", 17),
    ("ENODEV", 19),
    ("ENOTDIR", 20),
    ("EISDIR", 21),
    ("EINVAL", 22),
    ("ENFILE", 23),
    ("EMFILE", 24),
    ("EFBIG", 27),
    ("ENOSPC", 28),
    ("ESPIPE", 29),
    ("EROFS", 30),
    ("EMLINK", 31),
    ("EPIPE", 32),
    ("ENODATA", 61),
    ("EILSEQ", 84),
    ("EOVERFLOW", 75),
    ("EOPNOTSUPP", 95),
    ("ETIMEDOUT", 110),
    ("ESTALE", 116),
    ("EREMOTEIO", 121),
    ("EDQUOT", 122),
    ("ECANCELED", 125),
];

/// Lists of errors for reads, writes and verification: `EAGAIN,ENOSPC:122`.
pub(crate) fn errors(text: &str) -> Result<[Vec<i32>; 3], String> {
    let one = |word: &str| {
        let by_name = ERRORS.iter().find(|(name, _)| *name == word).map(|(_, number)| *number);
        by_name.or_else(|| word.parse().ok().filter(|n| *n > 0)).ok_or_else(|| format!("no error is called `{word}`"))
    };
    let list = |text: &str| text.split(':').map(str::trim).filter(|w| !w.is_empty()).map(one).collect();
    let lists = text.split(',').map(list).collect::<Result<Vec<Vec<i32>>, String>>()?;
    if lists.len() > 3 {
        return Err(format!("it has {} lists, and 3 are the most: for reads, writes and verification", lists.len()));
    }
    let mut lists = lists.into_iter();
    let mut next = || lists.next().unwrap_or_default();
    Ok([next(), next(), next()])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fio::testing::context;

    fn reading(kb_base: u32) -> Reading<'static> {
        Reading { ctx: context(), kb_base }
    }

    #[test]
    fn sizes_are_those_of_fio() {
        let read = |text: &str| reading(1024).size(text);
        for (text, bytes) in [
            ("4k", 4096),
            ("4KiB", 4000),
            ("0x1000", 4096),
            ("(2*4k)", 8192),
            ("(1m+1)", (1 << 20) + 1),
            ("+4k", 4096),
            ("4k ", 4096),
            (" 4", 4),
            ("1p", 1 << 50),
        ] {
            assert_eq!(read(text), Ok(bytes), "{text}");
        }
        assert_eq!(reading(1000).size("4k"), Ok(4000));
        for text in ["", "k", "4q", "4k 8k", "-1", "(4", "50%"] {
            assert!(read(text).is_err(), "{text}");
        }
        assert_eq!(reading(1024).signed("-5"), Ok(-5));
    }

    #[test]
    fn times_have_a_default_unit() {
        let read = |text: &str, unit| reading(1024).time(text, unit).map(|t| t.0);
        for (text, ns) in [
            ("10", 10_000_000_000),
            ("10m", 600_000_000_000),
            ("2h", 7_200_000_000_000),
            ("1d", 86_400_000_000_000),
            ("500ms", 500_000_000),
            ("7us", 7000),
            ("10S", 10_000_000_000),
            ("1.5s", 1_500_000_000),
            ("(3*1000)", 3_000_000),
            ("(3s+1)", 3_000_001_000),
        ] {
            assert_eq!(read(text, TimeUnit::Seconds), Ok(ns), "{text}");
        }
        assert_eq!(read("10", TimeUnit::Micros), Ok(10_000));
        assert_eq!(read("10", TimeUnit::Millis), Ok(10_000_000));
        for text in ["", "s", "5w", "1:30", "-1", "1e99"] {
            assert!(read(text, TimeUnit::Seconds).is_err(), "{text}");
        }
    }

    #[test]
    fn values_by_operation_follow_the_commas() {
        let read = |text: &str| {
            let all = per_op(text, |part| reading(1024).size(part)).unwrap();
            (all.read, all.write, all.trim)
        };
        assert_eq!(read("256k"), (Some(262_144), Some(262_144), Some(262_144)));
        assert_eq!(read("8k,32k"), (Some(8192), Some(32_768), Some(32_768)));
        assert_eq!(read("8k,32k,"), (Some(8192), Some(32_768), None));
        assert_eq!(read(",8k"), (None, Some(8192), Some(8192)));
        assert_eq!(read(",8k,"), (None, Some(8192), None));
        assert_eq!(read("500k,"), (Some(512_000), None, None));
        assert!(per_op("1,2,3,4", |part| reading(1024).size(part)).is_err());
    }

    #[test]
    fn ranges_and_lists() {
        let size = |text: &str| reading(1024).size(text);
        assert_eq!(range("1k-4k", size), Ok((1024, 4096)));
        assert_eq!(range("4k:1k", size), Ok((1024, 4096)));
        assert_eq!(range("(2-1)-(2+1)", size), Ok((1, 3)));
        assert!(range("4k", size).is_err());
        assert_eq!(floats("99:99.9", 0.0, 100.0, 20), Ok(vec![99.0, 99.9]));
        assert!(floats("101", 0.0, 100.0, 20).is_err() && floats("1:2:3", 0.0, 9.0, 2).is_err());
        assert_eq!(indices("0-2,5,1"), Ok(vec![0, 1, 2, 5]));
        assert_eq!(indices("all"), Ok(vec![]));
        assert!(indices("3-1").is_err() && indices("0-99999999").is_err() && indices("a").is_err());
        assert_eq!(paths(r"/dev/a\:b:c"), [PathBuf::from("/dev/a:b"), PathBuf::from("c")]);
        assert_eq!(errors("EAGAIN,ENOSPC:122"), Ok([vec![11], vec![28, 122], vec![]]));
        assert!(errors("ENOSUCH").is_err());
    }

    #[test]
    fn splits_add_up_to_a_hundred() {
        let read = |text: &str| split(text, &|size| reading(1024).size(size));
        assert_eq!(read("4k/10:64k/90"), Ok(vec![(4096, 10), (65_536, 90)]));
        assert_eq!(read("4k/50:1k/:32k/"), Ok(vec![(4096, 50), (1024, 25), (32_768, 25)]));
        assert_eq!(read("1k:2k:4k"), Ok(vec![(1024, 33), (2048, 33), (4096, 34)]));
        assert_eq!(read("1k/10:2k/20"), Ok(vec![(1024, 10), (2048, 90)]));
        assert!(read("1k/60:2k/50").unwrap_err().contains("add up to 110"));
        assert!(read("0/50").is_err() && read("1k/x").is_err() && read("").is_err());
    }

    #[test]
    fn patterns_are_those_of_fio() {
        let bytes = |text: &str| match reading(1024).pattern(text) {
            Ok(parts) => match &parts[..] {
                [PatternPart::Bytes(bytes)] => bytes.clone(),
                other => panic!("{other:?}"),
            },
            Err(error) => panic!("{error}"),
        };
        assert_eq!(bytes("0xdeadface\"abcd\"-12"), b"\xde\xad\xfa\xceabcd\xf4\xff\xff\xff");
        assert_eq!(bytes("123456"), [0x40, 0xe2, 0x01]);
        assert_eq!(bytes("0xabc"), [0x0a, 0xbc]);
        assert_eq!(bytes("0"), [0]);
        let offset = reading(1024).pattern("0xff%o").unwrap();
        assert_eq!(offset, [PatternPart::Bytes(vec![0xff]), PatternPart::Offset]);
        for text in ["", "abcd", "0x", "\"abc", "99999999999", "--1"] {
            assert!(reading(1024).pattern(text).is_err(), "{text}");
        }
    }

    #[test]
    fn words_for_the_host_are_replaced() {
        let read = |text: &str, numeric| reading(1024).expand(text, numeric).map(Cow::into_owned);
        assert_eq!(read("2*$pagesize", true), Ok("8192".to_owned()));
        assert_eq!(read("$ncpus", true), Ok("4".to_owned()));
        assert_eq!(read("/tmp/$ncpus.$jobname", false), Ok("/tmp/4.$jobname".to_owned()));
        assert_eq!(read("4k", true), Ok("4k".to_owned()));
    }
}
