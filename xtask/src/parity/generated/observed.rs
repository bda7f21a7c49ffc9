//! Observations of one run: named values, each compared exactly or as a number with random variation.

use serde_json::Value as Json;
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::Read;
use std::path::Path;

/// One observed value.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Value {
    /// Lines that must be identical.
    Exact(Vec<String>),
    /// A number with its random variation.
    Number { value: f64, slack: f64 },
}

/// All observations of one run, in the order in which differences are reported.
pub(super) type Observed = BTreeMap<ObservedKey, Value>;

/// Name of an observed value; lower ranks are more informative.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct ObservedKey {
    rank: u8,
    pub(super) name: String,
}

fn key(rank: u8, name: impl Into<String>) -> ObservedKey {
    ObservedKey {
        rank,
        name: name.into(),
    }
}

fn exact(text: impl ToString) -> Value {
    Value::Exact(vec![text.to_string()])
}

/// A count with its random variation: five standard deviations of a Poisson count.
fn count(value: f64) -> Value {
    Value::Number {
        value,
        slack: 5.0 * value.max(1.0).sqrt(),
    }
}

/// One I/O of a run.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct ObservedAccess {
    file: String,
    offset: u64,
    len: u64,
    op: String,
}

/// Output and exit of a run.
pub(super) struct FioExit {
    /// Exit code; `None` after a signal.
    pub(super) code: Option<i32>,
    /// Whether the run was killed because it hung.
    pub(super) hung: bool,
    /// Whether one of its jobs was killed by a signal.
    pub(super) crashed: bool,
    pub(super) stdout: String,
}

/// Collects all observations of a run.
pub(super) fn observe(ended: &FioExit, dir: &Path) -> Observed {
    let mut seen = Observed::new();
    let end = match (ended.hung, ended.code) {
        (true, _) => "did not end".to_owned(),
        (_, Some(_)) if ended.crashed => "lost a job to a signal".to_owned(),
        (_, None) => "killed by a signal".to_owned(),
        (_, Some(code)) => code.to_string(),
    };
    seen.insert(key(0, "exit code"), exact(end));
    let json = ended
        .stdout
        .find("{\n")
        .and_then(|at| parse(&ended.stdout[at..]));
    seen.insert(
        key(1, "result"),
        exact(if json.is_some() { "printed" } else { "none" }),
    );
    if let Some(json) = json {
        counts(&json, &mut seen);
    }
    files(dir, &mut seen);
    let (accesses, syncs) = io_log(&dir.join("io.log"));
    if let Some(accesses) = accesses {
        seen.insert(key(4, "syncs in the log"), exact(syncs));
        describe("", accesses, &mut seen);
    }
    for job in 1..=4 {
        if let Some(accesses) = latency_log(&dir.join(format!("acc_lat.{job}.log"))) {
            describe(&format!("job {job}: "), accesses, &mut seen);
        }
    }
    seen
}

/// The first JSON value of a text.
fn parse(text: &str) -> Option<Json> {
    serde_json::Deserializer::from_str(text)
        .into_iter::<Json>()
        .next()?
        .ok()
}

fn counts(json: &Json, seen: &mut Observed) {
    let jobs = json["jobs"].as_array().map_or(&[][..], Vec::as_slice);
    seen.insert(key(2, "jobs"), exact(jobs.len()));
    for (number, job) in jobs.iter().enumerate() {
        let at = |name: &str| format!("jobs[{number}].{name}");
        for name in ["error", "total_err", "first_error"] {
            seen.insert(key(2, at(name)), exact(&job[name]));
        }
        for op in ["read", "write", "trim"] {
            for name in ["total_ios", "io_bytes", "short_ios", "drop_ios"] {
                let value = job[op][name].as_f64().unwrap_or(0.0);
                let slack = if name == "io_bytes" {
                    value * 5.0 / job[op]["total_ios"].as_f64().unwrap_or(1.0).max(1.0).sqrt()
                } else {
                    5.0 * value.max(1.0).sqrt()
                };
                seen.insert(
                    key(3, at(&format!("{op}.{name}"))),
                    Value::Number { value, slack },
                );
            }
        }
        seen.insert(
            key(4, at("sync.total_ios")),
            count(job["sync"]["total_ios"].as_f64().unwrap_or(0.0)),
        );
    }
}

/// Observes names, sizes and written parts of the files.
fn files(dir: &Path, seen: &mut Observed) {
    let mut sizes = Vec::new();
    let entries = fs::read_dir(dir).into_iter().flatten().flatten();
    for path in entries.map(|entry| entry.path()) {
        let name = path
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        if name.ends_with(".log")
            || name.ends_with(".state")
            || ["stdout", "stderr"].contains(&name.as_str())
        {
            continue;
        }
        let bytes = path.metadata().map_or(0, |m| m.len());
        sizes.push(format!("{name}: {bytes} bytes"));
        if path.is_file() {
            seen.insert(
                key(6, format!("written parts of {name}")),
                Value::Exact(written_parts(&path)),
            );
        }
    }
    sizes.sort();
    seen.insert(key(5, "files"), Value::Exact(sizes));
}

/// The ranges of 512-byte sectors that are not all zeros.
fn written_parts(path: &Path) -> Vec<String> {
    let mut bytes = Vec::new();
    let read = File::open(path).and_then(|file| file.take(8 << 20).read_to_end(&mut bytes));
    if read.is_err() {
        return vec!["unreadable".to_owned()];
    }
    let used: Vec<bool> = bytes
        .chunks(512)
        .map(|sector| sector.iter().any(|&byte| byte != 0))
        .collect();
    let mut parts = Vec::new();
    let mut at = 0;
    while at < used.len() {
        let end = (at..used.len())
            .find(|&next| used[next] != used[at])
            .unwrap_or(used.len());
        if used[at] {
            parts.push(format!("{}-{}", at * 512, (end * 512).min(bytes.len())));
        }
        at = end;
    }
    parts
}

/// Parses the accesses and the number of syncs from a trace of issued I/O.
fn io_log(path: &Path) -> (Option<Vec<ObservedAccess>>, usize) {
    let Ok(text) = fs::read_to_string(path) else {
        return (None, 0);
    };
    let (mut accesses, mut syncs) = (Vec::new(), 0);
    for line in text.lines().skip(1) {
        let words: Vec<&str> = line.split(' ').collect();
        match words[..] {
            [_, file, op @ ("read" | "write" | "trim"), offset, len] => {
                let number = |text: &str| text.parse().unwrap_or(0);
                accesses.push(ObservedAccess {
                    file: file.to_owned(),
                    op: op.to_owned(),
                    offset: number(offset),
                    len: number(len),
                });
            }
            [_, _, "sync" | "datasync", ..] => syncs += 1,
            _ => {}
        }
    }
    (Some(accesses), syncs)
}

/// Parses the accesses of a latency log in completion order.
fn latency_log(path: &Path) -> Option<Vec<ObservedAccess>> {
    let text = fs::read_to_string(path).ok()?;
    let access = |line: &str| {
        let fields: Vec<&str> = line.split(", ").collect();
        let op = ["read", "write", "trim"].get(fields.get(2)?.parse::<usize>().ok()?)?;
        Some(ObservedAccess {
            file: String::new(),
            op: (*op).to_owned(),
            len: fields.get(3)?.parse().ok()?,
            offset: fields.get(4)?.parse().ok()?,
        })
    };
    Some(text.lines().filter_map(access).collect())
}

/// Observes properties of the accesses of a job, from general ones to the exact order.
fn describe(prefix: &str, accesses: Vec<ObservedAccess>, seen: &mut Observed) {
    let lines = |accesses: &[ObservedAccess], with_op: bool| -> Vec<String> {
        let line = |a: &ObservedAccess| {
            format!(
                "{}{} {}+{}",
                a.file,
                if with_op {
                    format!(" {}", a.op)
                } else {
                    String::new()
                },
                a.offset,
                a.len
            )
        };
        accesses.iter().map(line).collect()
    };
    let mut put = |rank: u8, name: &str, value: Value| {
        seen.insert(key(rank, format!("{prefix}{name}")), value);
    };
    let all: Vec<&ObservedAccess> = accesses.iter().collect();
    put(7, "bytes touched", Value::Exact(coverage(&all, true)));
    put(8, "coverage", Value::Exact(coverage(&all, false)));
    for op in ["read", "write", "trim"] {
        let some: Vec<&ObservedAccess> = all
            .iter()
            .copied()
            .filter(|access| access.op == op)
            .collect();
        put(
            8,
            &format!("coverage by {op}s"),
            Value::Exact(coverage(&some, false)),
        );
    }
    let mut sorted = accesses.clone();
    sorted.sort();
    put(9, "accesses", Value::Exact(lines(&sorted, true)));
    put(9, "blocks", Value::Exact(lines(&sorted, false)));
    put(11, "order", Value::Exact(lines(&accesses, true)));
    numbers(&accesses, &mut put);
}

/// Number of accesses to each part of each file, as `file first-end: times`.
fn coverage(accesses: &[&ObservedAccess], once: bool) -> Vec<String> {
    let mut edges: BTreeMap<(&str, u64), i64> = BTreeMap::new();
    for access in accesses {
        *edges.entry((&access.file, access.offset)).or_default() += 1;
        *edges
            .entry((&access.file, access.offset + access.len))
            .or_default() -= 1;
    }
    let mut parts: Vec<(&str, u64, u64, i64)> = Vec::new();
    let (mut depth, mut from) = (0, 0);
    for ((file, at), step) in edges {
        let times = if once { depth.min(1) } else { depth };
        if times > 0 {
            match parts.last_mut() {
                Some(last) if last.0 == file && last.2 == from && last.3 == times => last.2 = at,
                _ => parts.push((file, from, at, times)),
            }
        }
        (depth, from) = (depth + step, at);
    }
    parts
        .iter()
        .map(|(file, from, end, times)| format!("{file} {from}-{end}: {times}"))
        .collect()
}

/// Observes figures with bounded random variation.
fn numbers(accesses: &[ObservedAccess], put: &mut impl FnMut(u8, &str, Value)) {
    let n = accesses.len() as f64;
    put(10, "accesses in the log", count(n));
    if accesses.is_empty() {
        return;
    }
    let mut times: BTreeMap<(&str, u64), u32> = BTreeMap::new();
    for access in accesses {
        *times.entry((&access.file, access.offset)).or_default() += 1;
    }
    put(10, "offsets in use", count(times.len() as f64));
    put(
        10,
        "most accesses of one offset",
        count(f64::from(times.values().copied().max().unwrap_or(0))),
    );
    put(
        10,
        "mean offset",
        mean(accesses.iter().map(|a| a.offset as f64)),
    );
    put(
        10,
        "mean length",
        mean(accesses.iter().map(|a| a.len as f64)),
    );
    let follows = accesses.windows(2).filter(|pair| {
        pair[0].file == pair[1].file && pair[1].offset == pair[0].offset + pair[0].len
    });
    put(
        10,
        "accesses that follow the one before",
        count(follows.count() as f64),
    );
    let common = |values: &mut dyn Iterator<Item = u64>| values.fold(0, greatest_common_divisor);
    put(
        10,
        "alignment of offsets",
        exact(common(&mut accesses.iter().map(|a| a.offset))),
    );
    put(
        10,
        "alignment of lengths",
        exact(common(&mut accesses.iter().map(|a| a.len))),
    );
    let longest = accesses.iter().map(|a| a.len).max().unwrap_or(0);
    put(10, "longest access", exact(longest));
    let end = accesses.iter().map(|a| a.offset + a.len).max().unwrap_or(0);
    put(10, "end of the last byte accessed", exact(end));
}

/// A mean; its variation is five standard errors plus the effect of one access.
fn mean(values: impl Iterator<Item = f64> + Clone) -> Value {
    let n = values.clone().count().max(1) as f64;
    let value = values.clone().sum::<f64>() / n;
    let variance = values.map(|v| (v - value).powi(2)).sum::<f64>() / n;
    Value::Number {
        value,
        slack: 5.0 * (variance / n).sqrt() + 1.0,
    }
}

fn greatest_common_divisor(a: u64, b: u64) -> u64 {
    if b == 0 {
        a
    } else {
        greatest_common_divisor(b, a % b)
    }
}

impl ObservedKey {
    #[cfg(test)]
    pub(super) fn new(rank: u8, name: &str) -> ObservedKey {
        key(rank, name)
    }

    /// Whether the value is of the accesses and what they left, and not of the end of the run or its errors.
    pub(super) fn is_of_accesses(&self) -> bool {
        self.rank >= 3
    }

    /// Whether the value is also valid for runs that end by time.
    pub(super) fn is_outcome(&self) -> bool {
        self.rank <= 1 || self.name.ends_with("error") || self.name.ends_with("total_err")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn coverage_counts_overlaps() {
        let access = |offset, len| ObservedAccess {
            file: "a".to_owned(),
            op: "read".to_owned(),
            offset,
            len,
        };
        let accesses = [access(0, 8), access(4, 8), access(12, 4), access(20, 4)];
        let all: Vec<&ObservedAccess> = accesses.iter().collect();
        assert_eq!(
            coverage(&all, false),
            ["a 0-4: 1", "a 4-8: 2", "a 8-16: 1", "a 20-24: 1"]
        );
        assert_eq!(coverage(&all, true), ["a 0-16: 1", "a 20-24: 1"]);
    }
}
