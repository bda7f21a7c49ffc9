//! Parses fio's JSON output, 2.x and 3.x, into the same blocks as its text.
//!
//! A truncated output is closed after its last complete value.

use super::super::{SourceFormat, Unread};
use super::Raw;
use super::jobs;
use super::record::Histograms;
use super::text::SYNCS;
use hakaru_model::histogram::Histogram;
use hakaru_model::job::Op;
use hakaru_model::reported::{Decimal, ReportedBlock};
use hakaru_model::units::Nanos;
use serde_json::{Map, Value};

/// A fio JSON object at the start of a text: value, length, and whether it was truncated and
/// closed.
pub(in super::super) struct Object {
    value: Map<String, Value>,
    pub(in super::super) len: usize,
    cut: bool,
}

/// Parses one JSON object at the start of a text. `None` if it is not from fio.
pub(in super::super) fn object(text: &str) -> Option<Object> {
    let mut stream = serde_json::Deserializer::from_str(text).into_iter::<Value>();
    let (value, len, cut) = match stream.next()? {
        Ok(value) => (value, stream.byte_offset(), false),
        Err(error) if error.is_eof() => {
            (serde_json::from_str(&closed(text)?).ok()?, text.len(), true)
        }
        Err(_) => return None,
    };
    match value {
        Value::Object(value) if value.contains_key("jobs") || value.contains_key("fio version") => {
            Some(Object { value, len, cut })
        }
        _ => None,
    }
}

/// Cuts a truncated object back to its last complete value, and closes it.
fn closed(text: &str) -> Option<String> {
    let (mut open, mut in_string, mut escaped) = (Vec::new(), false, false);
    let mut last: Option<(usize, Vec<char>)> = None;
    for (at, c) in text.char_indices() {
        match (in_string, c) {
            (true, '\\') if !escaped => {
                escaped = true;
                continue;
            }
            (true, '"') if !escaped => in_string = false,
            (false, '"') => in_string = true,
            (false, '{') => open.push('}'),
            (false, '[') => open.push(']'),
            (false, '}' | ']') => {
                open.pop();
                last = Some((at + 1, open.clone()));
            }
            (false, ',') => last = Some((at, open.clone())),
            _ => {}
        }
        escaped = false;
        if open.len() > 64 {
            return None;
        }
    }
    let (end, open) = last?;
    Some(text[..end].chars().chain(open.into_iter().rev()).collect())
}

/// Converts an object to blocks. `lines` is its position in the source.
pub(in super::super) fn read(object: Object, lines: (usize, usize)) -> Raw {
    let Object {
        value: root, cut, ..
    } = object;
    let mut reader = JsonReader {
        line: lines.0,
        ..JsonReader::default()
    };
    let jobs = array(&root, "jobs")
        .or_else(|| array(&root, "client_stats"))
        .unwrap_or_default();
    for job in jobs.iter().filter_map(Value::as_object) {
        reader.job(job);
    }
    let disks = array(&root, "disk_util").unwrap_or_default();
    for disk in disks.iter().filter_map(Value::as_object) {
        reader.disk(disk);
    }
    if let Some(idle) = root.get("cpu_idleness").and_then(Value::as_object) {
        let mut block = ReportedBlock::new("idle");
        idle.iter()
            .for_each(|(name, value)| reader.put(&mut block, name, Some(value), ""));
        reader.blocks.push(block);
    }
    reader.note_strangers(&root, &ROOT_KEYS, "");
    let global = root.get("global options").and_then(Value::as_object);
    Raw {
        format: SourceFormat::FioJson,
        program: text(&root, "fio version").to_owned(),
        asked: asked(global, jobs),
        shown_unix_ms: moment(&root),
        blocks: reader.blocks,
        histograms: reader.histograms,
        unread: reader.unread,
        not_numbers: reader.not_numbers,
        interrupted: false,
        missing: cut.then(|| "everything after the last complete value".to_owned()),
        lines,
    }
}

/// Keys of the root object that are parsed.
const ROOT_KEYS: [&str; 9] = [
    "fio version",
    "timestamp",
    "timestamp_ms",
    "time",
    "global options",
    "jobs",
    "disk_util",
    "cpu_idleness",
    "client_stats",
];

fn array<'v>(map: &'v Map<String, Value>, key: &str) -> Option<&'v [Value]> {
    map.get(key)?.as_array().map(Vec::as_slice)
}

/// The text under a key, or an empty one.
fn text<'v>(map: &'v Map<String, Value>, key: &str) -> &'v str {
    map.get(key).and_then(Value::as_str).unwrap_or_default()
}

fn moment(root: &Map<String, Value>) -> Option<i64> {
    let ms = root.get("timestamp_ms").and_then(Value::as_i64);
    ms.or_else(|| {
        root.get("timestamp")
            .and_then(Value::as_i64)?
            .checked_mul(1000)
    })
    .filter(|&ms| ms > 0)
}

/// The command line equivalent to the options.
fn asked(
    global: Option<&Map<String, Value>>,
    jobs: &[Value],
) -> Result<crate::fio::Invocation, String> {
    let mut words = global.map(options).unwrap_or_default();
    let mut seen: Vec<(&str, Option<&Value>, u64)> = Vec::new();
    let mut any = global.is_some();
    for job in jobs.iter().filter_map(Value::as_object) {
        let name = text(job, "jobname");
        let given = job.get("job options");
        any |= given.is_some();
        // Clones that are reported separately repeat the options of their job.
        let numjobs =
            |map: Option<&Map<String, Value>>| map?.get("numjobs")?.as_str()?.parse::<u64>().ok();
        let own = given.and_then(Value::as_object);
        let clones = numjobs(own).or_else(|| numjobs(global)).unwrap_or(1);
        let same = |(n, o, count): &&mut (&str, Option<&Value>, u64)| {
            *n == name && *o == given && *count < clones
        };
        if let Some((.., count)) = seen.iter_mut().find(same) {
            *count += 1;
            continue;
        }
        seen.push((name, given, 1));
        words.push(format!("--name={name}"));
        words.extend(own.map(options).unwrap_or_default());
    }
    match any {
        true => jobs::command(&words),
        false => Err(String::new()),
    }
}

/// Options as words of a command line, without the name of the job.
fn options(options: &Map<String, Value>) -> Vec<String> {
    let options = options.iter().filter(|(name, _)| *name != "name");
    let word = |(name, value): (&String, &Value)| match value.as_str() {
        None | Some("") => format!("--{name}"),
        Some(value) => format!("--{name}={value}"),
    };
    options.map(word).collect()
}

#[derive(Default)]
struct JsonReader {
    blocks: Vec<ReportedBlock>,
    histograms: Histograms,
    unread: Vec<Unread>,
    not_numbers: (u32, String),
    line: usize,
}

/// Job keys that are parsed.
const JOB_KEYS: [&str; 33] = [
    "jobname",
    "groupid",
    "job_start",
    "error",
    "eta",
    "elapsed",
    "job options",
    "read",
    "write",
    "trim",
    "mixed",
    "sync",
    "job_runtime",
    "usr_cpu",
    "sys_cpu",
    "ctx",
    "majf",
    "minf",
    "iodepth_level",
    "iodepth_submit",
    "iodepth_complete",
    "latency_ns",
    "latency_us",
    "latency_ms",
    "latency_depth",
    "latency_target",
    "latency_percentile",
    "latency_window",
    "total_err",
    "first_error",
    "desc",
    "hostname",
    "port",
];

/// Names, keys and units of the bandwidth samples.
const BW_KEYS: [(&str, &str, &str); 6] = [
    ("min", "bw_min", ""),
    ("max", "bw_max", ""),
    ("per", "bw_agg", "%"),
    ("avg", "bw_mean", ""),
    ("stdev", "bw_dev", ""),
    ("samples", "bw_samples", ""),
];

/// Names, keys and units of the IOPS samples.
const IOPS_KEYS: [(&str, &str, &str); 5] = [
    ("min", "iops_min", ""),
    ("max", "iops_max", ""),
    ("avg", "iops_mean", ""),
    ("stdev", "iops_stddev", ""),
    ("samples", "iops_samples", ""),
];

/// Names, keys and units of the CPU use.
const CPU_KEYS: [(&str, &str, &str); 5] = [
    ("usr", "usr_cpu", "%"),
    ("sys", "sys_cpu", "%"),
    ("ctx", "ctx", ""),
    ("majf", "majf", ""),
    ("minf", "minf", ""),
];

/// Names, keys and units of the latency target.
const TARGET_KEYS: [(&str, &str, &str); 4] = [
    ("target", "latency_target", ""),
    ("window", "latency_window", ""),
    ("percentile", "latency_percentile", "%"),
    ("depth", "latency_depth", ""),
];

impl JsonReader {
    fn put(&mut self, block: &mut ReportedBlock, name: &str, value: Option<&Value>, unit: &str) {
        let Some(value) = value else { return };
        let text = match value {
            Value::Number(number) => number.to_string(),
            Value::String(text) => text.clone(),
            _ => return,
        };
        match text.parse::<Decimal>() {
            Ok(value) => {
                block.figure(name, value, unit);
            }
            Err(_) => {
                self.not_numbers.0 += 1;
                if self.not_numbers.1.is_empty() {
                    self.not_numbers.1 = format!("{name}={text}").chars().take(60).collect();
                }
            }
        }
    }

    fn note_strangers(&mut self, map: &Map<String, Value>, known: &[&str], within: &str) {
        for key in map.keys().filter(|key| !known.contains(&key.as_str())) {
            let why = format!("unknown key in fio's output: `{within}{key}`");
            self.unread.push(Unread::note(self.line, why));
        }
    }

    /// Adds the figures of these names, keys and units.
    fn put_all(
        &mut self,
        block: &mut ReportedBlock,
        values: &Map<String, Value>,
        rows: &[(&str, &str, &str)],
    ) {
        for (name, key, unit) in rows {
            self.put(block, name, values.get(*key), unit);
        }
    }

    fn job(&mut self, job: &Map<String, Value>) {
        let mut report = ReportedBlock::new("report");
        report.word("name", text(job, "jobname"));
        if let Some(text) = job.get("desc").and_then(Value::as_str) {
            report.word("description", text);
        }
        let rows = [
            ("groupid", "groupid", ""),
            ("err", "error", ""),
            ("elapsed", "elapsed", "sec"),
            ("job_start", "job_start", "msec"),
            ("job_runtime", "job_runtime", ""),
        ];
        self.put_all(&mut report, job, &rows);
        let mut issued = self.operations(job, &mut report);
        if let Some(values) = job.get("mixed").and_then(Value::as_object) {
            let block = self.operation(values, None);
            report.blocks.push(block);
        }
        self.shares(job, &mut report);
        self.sync(job, &mut report, &mut issued);
        self.host(job, &mut report, issued);
        self.note_strangers(job, &JOB_KEYS, "jobs.");
        self.blocks.push(report);
    }

    /// Adds reads, writes and trims to the report. Returns their numbers of I/Os.
    fn operations(
        &mut self,
        job: &Map<String, Value>,
        report: &mut ReportedBlock,
    ) -> ReportedBlock {
        let mut issued = ReportedBlock::new("issued");
        for (op, letter) in Op::ALL.into_iter().zip(["r", "w", "t"]) {
            let Some(values) = job.get(op.name()).and_then(Value::as_object) else {
                continue;
            };
            let block = self.operation(values, Some(op));
            for (name, key) in [
                ("total", "total_ios"),
                ("short", "short_ios"),
                ("dropped", "drop_ios"),
            ] {
                let name = format!("{name} {letter}");
                self.put(&mut issued, &name, values.get(key), "");
            }
            // fio prints all operations of every job; those without I/O are skipped.
            if block.whole("runt").is_some_and(|ms| ms > 0)
                || block.whole("io").is_some_and(|bytes| bytes > 0)
            {
                report.blocks.push(block);
            }
        }
        issued
    }

    fn operation(&mut self, values: &Map<String, Value>, op: Option<Op>) -> ReportedBlock {
        let mut block = ReportedBlock::new(op.map_or("mixed", Op::name));
        // Before version 3, sizes are in KiB and latencies in µs. Version 3.0 has sizes in bytes, but rates in KiB/s.
        let old = !values.contains_key("bw_bytes") && !values.contains_key("io_kbytes");
        let rate = match values.contains_key("bw_bytes") {
            true => ("BW", "bw_bytes", "B/s"),
            false => ("BW", "bw", "KiB/s"),
        };
        let rows = [
            ("IOPS", "iops", ""),
            rate,
            ("io", "io_bytes", if old { "KiB" } else { "B" }),
            ("runt", "runtime", "msec"),
        ];
        self.put_all(&mut block, values, &rows);
        let report = self.reports();
        for name in ["slat", "clat", "lat"] {
            let (key, unit) = match old {
                true => (name.to_owned(), "usec"),
                false => (format!("{name}_ns"), "nsec"),
            };
            let Some(values) = values.get(&key).and_then(Value::as_object) else {
                continue;
            };
            self.latency(values, name, unit, &mut block);
            if let (Some(op), Some(bins)) = (op, values.get("bins").and_then(Value::as_object)) {
                let found = histogram(bins).map(|found| (report, Some(op), name, found));
                self.histograms.extend(found);
            }
        }
        block.blocks.extend(self.samples(values, "bw", &BW_KEYS));
        block
            .blocks
            .extend(self.samples(values, "iops", &IOPS_KEYS));
        block
    }

    /// Number of reports so far.
    fn reports(&self) -> usize {
        let reports = self.blocks.iter().filter(|block| block.name == "report");
        reports.count()
    }

    /// Statistics of samples over time, unless there are none.
    fn samples(
        &mut self,
        values: &Map<String, Value>,
        name: &str,
        keys: &[(&str, &str, &str)],
    ) -> Option<ReportedBlock> {
        let mut spread = ReportedBlock::new(name);
        if name == "bw" {
            spread.word("unit", "KiB/s");
        }
        self.put_all(&mut spread, values, keys);
        let sampled = spread.get("samples").is_none_or(|n| n.value.value() > 0.0);
        (sampled && spread.get("max").is_some()).then_some(spread)
    }

    /// Minimum, maximum, mean and deviation as one block, percentiles as another.
    fn latency(
        &mut self,
        values: &Map<String, Value>,
        name: &str,
        unit: &str,
        into: &mut ReportedBlock,
    ) {
        let mut stat = ReportedBlock::new(name);
        stat.word("unit", unit);
        let rows = [
            ("min", "min", ""),
            ("max", "max", ""),
            ("avg", "mean", ""),
            ("stdev", "stddev", ""),
            ("N", "N", ""),
        ];
        self.put_all(&mut stat, values, &rows);
        if stat.get("max").is_none_or(|max| max.value.value() == 0.0) {
            return;
        }
        into.blocks.push(stat);
        if let Some(map) = values.get("percentile").and_then(Value::as_object) {
            let list = self.percentiles(map, name, unit);
            into.blocks.push(list);
        }
    }

    fn percentiles(
        &mut self,
        map: &Map<String, Value>,
        latency: &str,
        unit: &str,
    ) -> ReportedBlock {
        let mut list = ReportedBlock::new(format!("{latency} percentiles"));
        list.word("unit", unit);
        let mut entries: Vec<(f64, &String, &Value)> = map
            .iter()
            .filter_map(|(name, value)| Some((name.parse().ok()?, name, value)))
            .collect();
        entries.sort_by(|a, b| a.0.total_cmp(&b.0));
        // Version 2 pads its list with percentiles of 0.
        for (_, name, value) in entries.into_iter().filter(|(percent, ..)| *percent > 0.0) {
            self.put(&mut list, short(name), Some(value), "");
        }
        list
    }

    fn shares(&mut self, job: &Map<String, Value>, report: &mut ReportedBlock) {
        for (key, unit) in [
            ("latency_ns", "nsec"),
            ("latency_us", "usec"),
            ("latency_ms", "msec"),
        ] {
            let Some(map) = job.get(key).and_then(Value::as_object) else {
                continue;
            };
            let mut block = ReportedBlock::new("lat");
            block.word("unit", unit);
            for (name, value) in by_number(map)
                .into_iter()
                .filter(|(_, value)| value.as_f64() != Some(0.0))
            {
                self.put(&mut block, name, Some(value), "%");
            }
            if !block.figures.is_empty() {
                report.blocks.push(block);
            }
        }
    }

    fn sync(
        &mut self,
        job: &Map<String, Value>,
        report: &mut ReportedBlock,
        issued: &mut ReportedBlock,
    ) {
        let Some(values) = job.get("sync").and_then(Value::as_object) else {
            return;
        };
        self.put(issued, "total s", values.get("total_ios"), "");
        let Some(values) = values.get("lat_ns").and_then(Value::as_object) else {
            return;
        };
        let mut block = ReportedBlock::new(SYNCS);
        self.latency(values, "sync", "nsec", &mut block);
        if block.blocks.is_empty() {
            return;
        }
        let (index, bins) = (
            self.reports(),
            values.get("bins").and_then(Value::as_object),
        );
        let found = bins.and_then(histogram);
        self.histograms
            .extend(found.map(|found| (index, None, "sync", found)));
        report.blocks.push(block);
    }

    fn host(
        &mut self,
        job: &Map<String, Value>,
        report: &mut ReportedBlock,
        issued: ReportedBlock,
    ) {
        let mut cpu = ReportedBlock::new("cpu");
        self.put_all(&mut cpu, job, &CPU_KEYS);
        report.blocks.push(cpu);
        for (name, key) in [
            ("IO depths", "iodepth_level"),
            ("submit", "iodepth_submit"),
            ("complete", "iodepth_complete"),
        ] {
            let Some(map) = job.get(key).and_then(Value::as_object) else {
                continue;
            };
            let mut block = ReportedBlock::new(name);
            for (name, value) in by_number(map) {
                self.put(&mut block, name, Some(value), "%");
            }
            report.blocks.push(block);
        }
        report.blocks.push(issued);
        if job.contains_key("total_err") {
            let mut errors = ReportedBlock::new("errors");
            self.put(&mut errors, "total", job.get("total_err"), "");
            self.put(&mut errors, "first_error", job.get("first_error"), "");
            report.blocks.push(errors);
        }
        let mut latency = ReportedBlock::new("latency");
        self.put_all(&mut latency, job, &TARGET_KEYS);
        report.blocks.push(latency);
    }

    fn disk(&mut self, disk: &Map<String, Value>) {
        let mut block = ReportedBlock::new("disk");
        block.word("name", text(disk, "name"));
        for (name, keys) in [
            ("ios", ["read_ios", "write_ios"]),
            ("sectors", ["read_sectors", "write_sectors"]),
            ("merge", ["read_merges", "write_merges"]),
            ("ticks", ["read_ticks", "write_ticks"]),
        ] {
            self.put(&mut block, &format!("{name} r"), disk.get(keys[0]), "");
            self.put(&mut block, &format!("{name} w"), disk.get(keys[1]), "");
        }
        self.put(&mut block, "in_queue", disk.get("in_queue"), "");
        self.put(&mut block, "util", disk.get("util"), "%");
        self.blocks.push(block);
    }
}

/// Shortens `99.900000` to `99.90` as in the text output; significant digits stay.
pub(super) fn short(percent: &str) -> &str {
    let trimmed = percent.trim_end_matches('0');
    let decimals = trimmed.split_once('.').map_or(0, |(_, rest)| rest.len());
    let least = percent
        .find('.')
        .map_or(percent.len(), |point| point + 1 + decimals.max(2));
    percent.get(..least).unwrap_or(percent)
}

/// Entries ordered by the number in their names: `2`, `10`, `>=2000`; `>=64` follows `32`.
fn by_number(map: &Map<String, Value>) -> Vec<(&str, &Value)> {
    let key = |name: &str| {
        (
            name.starts_with('>'),
            name.trim_start_matches(['>', '='])
                .parse::<u64>()
                .unwrap_or(0),
        )
    };
    let mut entries: Vec<(&str, &Value)> = map
        .iter()
        .map(|(name, value)| (name.as_str(), value))
        .collect();
    entries.sort_by_key(|(name, _)| key(name));
    entries
}

/// A histogram in nanoseconds from the midpoint and count of each bin.
fn histogram(bins: &Map<String, Value>) -> Option<Histogram> {
    let mut histogram = Histogram::new();
    for (ns, count) in bins {
        histogram.record_n(Nanos(ns.parse().ok()?), count.as_u64()?.min(u64::MAX >> 16));
    }
    (histogram.count() > 0).then_some(histogram)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cut_object_keeps_its_whole_values() {
        assert_eq!(
            closed(r#"{"a": [1, 2, {"b": "x}\"", "c": 3"#).unwrap(),
            r#"{"a": [1, 2, {"b": "x}\""}]}"#
        );
        assert_eq!(closed(r#"{"a": [1], "b"#).unwrap(), r#"{"a": [1]}"#);
        assert_eq!(closed("{"), None);
    }

    #[test]
    fn percentiles_have_the_names_of_the_text() {
        let names = ["1.000000", "99.900000", "99.999000", "50", "12.345678"];
        assert_eq!(
            names.map(short),
            ["1.00", "99.90", "99.999", "50", "12.345678"]
        );
    }
}
