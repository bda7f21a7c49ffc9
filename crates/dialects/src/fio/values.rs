//! Parsers of single option values: sizes, times and patterns in fio's syntax; `lists` parses lists of them.
//!
//! Meaning of the text only; the option table says which option takes which value. Errors are the second half of
//! "cannot be used: …". Source: fio's manual, "Parameter types", and runs of fio 3.33.

use super::expr::evaluate;
use super::invocation::ParseContext;
use hakaru_model::job::rules::PatternPart;
use hakaru_model::units::{Nanos, SizeSuffixes, parse_size};
use std::borrow::Cow;
use std::path::Path;

/// Context for parsing a value: host facts and the current unit prefixes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ValueContext<'a> {
    /// Host facts.
    pub ctx: &'a ParseContext<'a>,
    /// 1024 or 1000 (`kb_base`).
    pub kb_base: u32,
}

/// Unit of a time given without one.
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

/// The largest integer an `f64` represents exactly; expressions are evaluated in `f64`.
const EXACT: f64 = 9_007_199_254_740_992.0;

impl ValueContext<'_> {
    fn rules(&self) -> SizeSuffixes {
        if self.kb_base == 1000 {
            SizeSuffixes::Fio1000
        } else {
            SizeSuffixes::Fio1024
        }
    }

    /// Replaces `$pagesize`, `$mb_memory` and `$ncpus`. With `numeric`, evaluates the result if it is an expression.
    pub(crate) fn expand<'t>(&self, text: &'t str, numeric: bool) -> Result<Cow<'t, str>, String> {
        let ParseContext {
            page_size,
            memory_mb,
            cpu_count,
            ..
        } = self.ctx;
        let words = [
            ("$pagesize", *page_size),
            ("$mb_memory", *memory_mb),
            ("$ncpus", u64::from(*cpu_count)),
        ];
        if !words.iter().any(|(word, _)| text.contains(word)) {
            return Ok(Cow::Borrowed(text));
        }
        let plain = words.iter().fold(text.to_owned(), |text, (word, value)| {
            text.replace(word, &value.to_string())
        });
        if !numeric || plain.contains([',', ':']) || plain.bytes().all(|b| b.is_ascii_digit()) {
            return Ok(Cow::Owned(plain));
        }
        let value = evaluate(&plain, &|word| self.size_number(word))?;
        Ok(Cow::Owned(whole(value)?.to_string()))
    }

    fn size_number(&self, word: &str) -> Result<f64, String> {
        parse_size(word, self.rules())
            .map(|bytes| bytes.0 as f64)
            .map_err(|e| e.to_string())
    }

    /// Parses a size in bytes or another quantity: `4k`, `0x1000`, `(2*4k)`.
    pub(crate) fn size(&self, text: &str) -> Result<u64, String> {
        let text = text.trim();
        if text.starts_with('(') {
            return whole(evaluate(text, &|word| self.size_number(word))?);
        }
        parse_size(text.strip_prefix('+').unwrap_or(text), self.rules())
            .map(|bytes| bytes.0)
            .map_err(|e| e.to_string())
    }

    /// Parses a number that may be negative.
    pub(crate) fn signed(&self, text: &str) -> Result<i64, String> {
        let text = text.trim();
        let (digits, negative) = match text.strip_prefix('-') {
            Some(digits) => (digits, true),
            None => (text, false),
        };
        let value =
            i64::try_from(self.size(digits)?).map_err(|_| format!("`{text}` is too large"))?;
        Ok(if negative { -value } else { value })
    }

    /// Parses a duration: `10`, `500ms`, `1.5h`, `(3*1000)` (microseconds).
    pub(crate) fn time(&self, text: &str, unit: TimeUnit) -> Result<Nanos, String> {
        let text = text.trim();
        let nanos = match text.starts_with('(') {
            // Within an expression, bare numbers are microseconds, and so is the result.
            true => {
                evaluate(text, &|word| {
                    time_number(word, TimeUnit::Micros).map(|ns| ns / 1e3)
                })? * 1e3
            }
            false => time_number(text, unit)?,
        };
        if !(0.0..EXACT * 1e3).contains(&nanos) {
            return Err(format!("`{text}` is out of range: expected 0 to 285 years"));
        }
        Ok(Nanos(nanos.round() as u64))
    }

    /// Parses a pattern into bytes: `0xdeadface"abcd"-12'file'%o`.
    pub(crate) fn pattern(&self, text: &str) -> Result<Vec<PatternPart>, String> {
        let mut parts: Vec<PatternPart> = Vec::new();
        let mut rest = text.trim();
        while !rest.is_empty() {
            let (mut part, left) = self.pattern_part(rest)?;
            if let (PatternPart::Bytes(bytes), true) = (&mut part, rest.starts_with('\'')) {
                // A file contributes as many bytes as fit.
                bytes.truncate(LONGEST_PATTERN.saturating_sub(length_of(&parts)));
            }
            match (parts.last_mut(), part) {
                (Some(PatternPart::Bytes(before)), PatternPart::Bytes(more)) => before.extend(more),
                (_, part) => parts.push(part),
            }
            rest = left;
        }
        let length = length_of(&parts);
        match length {
            0 => Err("empty pattern: expected for example 0xdeadbeef, \"text\" or 123".to_owned()),
            1..=LONGEST_PATTERN => Ok(parts),
            _ => Err(format!(
                "the pattern has {length} bytes: the maximum is {LONGEST_PATTERN}"
            )),
        }
    }

    fn pattern_part<'t>(&self, text: &'t str) -> Result<(PatternPart, &'t str), String> {
        if let Some(rest) = text.strip_prefix("%o") {
            return Ok((PatternPart::Offset, rest));
        }
        if let Some(hex) = text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
            let end = hex
                .find(|c: char| !c.is_ascii_hexdigit())
                .unwrap_or(hex.len());
            return Ok((PatternPart::Bytes(hex_bytes(&hex[..end])?), &hex[end..]));
        }
        if let Some(quoted) = text.strip_prefix('"') {
            let (bytes, rest) = quoted
                .split_once('"')
                .ok_or("a string in the pattern has no closing \"")?;
            return Ok((PatternPart::Bytes(bytes.as_bytes().to_vec()), rest));
        }
        if let Some(quoted) = text.strip_prefix('\'') {
            let (name, rest) = quoted
                .split_once('\'')
                .ok_or("a file name in the pattern has no closing '")?;
            let read = (self.ctx.read_file)(Path::new(name))
                .map_err(|e| format!("cannot read the pattern file `{name}`: {e}"))?;
            return Ok((PatternPart::Bytes(read), rest));
        }
        let (bytes, rest) = decimal_bytes(text)?;
        Ok((PatternPart::Bytes(bytes), rest))
    }
}

/// Parses a decimal number at the start of a pattern into its bytes, and returns the rest.
fn decimal_bytes(text: &str) -> Result<(Vec<u8>, &str), String> {
    let mut end = text
        .find(|c: char| !(c.is_ascii_digit() || c == '-'))
        .unwrap_or(text.len());
    if end > 1 && text[..end].ends_with('0') && text[end..].starts_with(['x', 'X']) {
        // The zero starts the hexadecimal number that follows.
        end -= 1;
    }
    let number: i64 = text[..end].parse().map_err(|_| {
        format!(
            "`{text}` is not a pattern: expected 0xdeadbeef, \"text\", 'file', %o or a decimal number"
        )
    })?;
    if !(i64::from(i32::MIN)..=i64::from(u32::MAX)).contains(&number) {
        return Err(format!(
            "the number {number} needs more than 32 bits: write it as 0x…"
        ));
    }
    // Little-endian, without the high zero bytes of a positive number.
    let bytes = (number as u32).to_le_bytes();
    let length = 4 - bytes.iter().rev().take_while(|b| **b == 0).count().min(3);
    Ok((bytes[..length].to_vec(), &text[end..]))
}

/// Maximum pattern length in bytes.
const LONGEST_PATTERN: usize = 512;

fn length_of(parts: &[PatternPart]) -> usize {
    parts
        .iter()
        .map(|part| {
            if let PatternPart::Bytes(bytes) = part {
                bytes.len()
            } else {
                8
            }
        })
        .sum()
}

/// The integer part of an evaluated expression.
fn whole(value: f64) -> Result<u64, String> {
    if (0.0..=EXACT).contains(&value) {
        Ok(value as u64)
    } else {
        Err(format!("the expression gives {value}"))
    }
}

fn time_number(text: &str, unit: TimeUnit) -> Result<f64, String> {
    let end = text
        .find(|c: char| !(c.is_ascii_digit() || c == '.'))
        .unwrap_or(text.len());
    let number: f64 = text[..end].parse().map_err(|_| {
        format!("`{text}` is not a time: expected a number with d, h, m, s, ms or us, such as 30s")
    })?;
    let factor = match text[end..].trim().to_ascii_lowercase().as_str() {
        "" => unit.nanos(),
        "d" => 86_400e9,
        "h" => 3600e9,
        "m" | "min" => 60e9,
        "s" | "sec" => 1e9,
        "ms" | "msec" => 1e6,
        "us" | "usec" => 1e3,
        other => {
            return Err(format!(
                "unknown unit `{other}` in `{text}`: use d, h, m, s, ms or us"
            ));
        }
    };
    Ok(number * factor)
}

fn hex_bytes(digits: &str) -> Result<Vec<u8>, String> {
    let even = if digits.len() % 2 == 1 {
        format!("0{digits}")
    } else {
        digits.to_owned()
    };
    let byte = |pair: &[u8]| {
        std::str::from_utf8(pair)
            .ok()
            .and_then(|pair| u8::from_str_radix(pair, 16).ok())
    };
    let bytes: Option<Vec<u8>> = even.as_bytes().chunks(2).map(byte).collect();
    bytes
        .filter(|b| !b.is_empty())
        .ok_or_else(|| "no hexadecimal digits after 0x".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fio::testing::context;

    fn reading(kb_base: u32) -> ValueContext<'static> {
        ValueContext {
            ctx: context(),
            kb_base,
        }
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
    fn patterns_are_those_of_fio() {
        let bytes = |text: &str| match reading(1024).pattern(text) {
            Ok(parts) => match &parts[..] {
                [PatternPart::Bytes(bytes)] => bytes.clone(),
                other => panic!("{other:?}"),
            },
            Err(error) => panic!("{error}"),
        };
        assert_eq!(
            bytes("0xdeadface\"abcd\"-12"),
            b"\xde\xad\xfa\xceabcd\xf4\xff\xff\xff"
        );
        assert_eq!(bytes("123456"), [0x40, 0xe2, 0x01]);
        assert_eq!(bytes("0xabc"), [0x0a, 0xbc]);
        assert_eq!(bytes("0"), [0]);
        assert_eq!(
            bytes("\"abcd\"-120xdeadface"),
            b"abcd\xf4\xff\xff\xff\xde\xad\xfa\xce"
        );
        assert_eq!(bytes("100xff"), [10, 0xff]);
        let offset = reading(1024).pattern("0xff%o").unwrap();
        assert_eq!(
            offset,
            [PatternPart::Bytes(vec![0xff]), PatternPart::Offset]
        );
        for text in ["", "abcd", "0x", "\"abc", "99999999999", "--1"] {
            assert!(reading(1024).pattern(text).is_err(), "{text}");
        }
    }

    #[test]
    fn words_for_the_host_are_replaced() {
        let read = |text: &str, numeric| reading(1024).expand(text, numeric).map(Cow::into_owned);
        assert_eq!(read("2*$pagesize", true), Ok("8192".to_owned()));
        assert_eq!(read("$ncpus", true), Ok("4".to_owned()));
        assert_eq!(
            read("/tmp/$ncpus.$jobname", false),
            Ok("/tmp/4.$jobname".to_owned())
        );
        assert_eq!(read("4k", true), Ok("4k".to_owned()));
    }
}
