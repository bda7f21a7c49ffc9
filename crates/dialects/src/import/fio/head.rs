//! Parses fio's output before the results: jobs, version, number of processes, file layout, notes, and the status line.

use super::super::units::number;
use hakaru_model::reported::ReportedBlock;

/// Whether the line is a job line such as `a: (g=0): rw=read, bs=…`.
pub(super) fn is_banner(text: &str) -> bool {
    text.split_once(": (g=")
        .is_some_and(|(_, rest)| rest.contains("rw="))
}

/// Whether the line is a version alone: `fio-3.39` or `fio 2.0.8`.
pub(super) fn is_version(text: &str) -> bool {
    let rest = text
        .strip_prefix("fio-")
        .or_else(|| text.strip_prefix("fio "));
    rest.is_some_and(|rest| {
        rest.starts_with(|c: char| c.is_ascii_digit()) && !rest.contains(' ') && rest.len() < 40
    })
}

/// Whether the line is a bare version such as `2.0.8`, which some of the oldest versions print, only after the jobs.
pub(super) fn is_bare_version(text: &str) -> bool {
    let parts: Vec<&str> = text.split('.').collect();
    parts.len() >= 2
        && parts
            .iter()
            .all(|part| (1..=3).contains(&part.len()) && part.bytes().all(|b| b.is_ascii_digit()))
}

/// Removes the server name `<host> ` that clients print before each line.
pub(super) fn without_server(text: &str) -> &str {
    let named = text
        .strip_prefix('<')
        .and_then(|rest| rest.split_once("> "));
    named
        .filter(|(name, _)| !name.contains([' ', '<', '=']))
        .map_or(text, |(_, rest)| rest)
}

/// Name and version in the current form, `fio-3.39`.
pub(super) fn program(text: &str) -> String {
    text.replacen("fio ", "fio-", 1)
}

/// Parses a header line. `None` if it is not one.
pub(super) fn read(text: &str) -> Option<ReportedBlock> {
    if is_banner(text) {
        return banner(text);
    }
    if let Some(rest) = text.strip_prefix("Starting ") {
        return start(rest);
    }
    if let Some((name, rest)) = text.split_once(": Laying out IO file") {
        return Some(layout(name, rest));
    }
    if ["note: ", "fio: ", "verify: "]
        .iter()
        .any(|word| text.starts_with(word))
        || text.contains(" data dumped as ")
    {
        let mut block = ReportedBlock::new("note");
        block.word("text", text);
        return Some(block);
    }
    text.strip_prefix("Jobs: ")
        .filter(|rest| rest.contains("(f="))
        .map(status)
}

/// Parses `a: (g=0): rw=rw, bs=(R) 4096B-4096B, (W) …, (T) …, ioengine=psync, iodepth=1`, or `bs=4K-4K/4K-4K/4K-4K`.
fn banner(text: &str) -> Option<ReportedBlock> {
    let (name, rest) = text.split_once(": (g=")?;
    let (group, rest) = rest.split_once(')')?;
    let mut block = ReportedBlock::new("job");
    block.word("name", name);
    block.figures.extend(figure("g", group));
    let (head, tail) = rest.split_once("bs=").unwrap_or((rest, ""));
    for (key, value) in head
        .split(", ")
        .chain(tail.split(", "))
        .filter_map(|cell| cell.split_once('='))
    {
        match key.trim_start_matches([':', ' ']) {
            key @ ("rw" | "ioengine") => {
                block.word(key, value.trim_end_matches(','));
            }
            "iodepth" => block.figures.extend(figure("iodepth", value)),
            _ => {}
        }
    }
    let sizes = tail.split(", ioengine").next().unwrap_or_default();
    for (range, op) in block_sizes(sizes).into_iter().zip(["R", "W", "T"]) {
        let (low, high) = range.split_once('-').unwrap_or((range, range));
        block.figures.extend(figure(&format!("bs {op} min"), low));
        block.figures.extend(figure(&format!("bs {op} max"), high));
    }
    Some(block)
}

/// Block size ranges of the three operations; a single one applies to all.
fn block_sizes(text: &str) -> Vec<&str> {
    let ranges: Vec<&str> = match text.contains("(R)") {
        true => text
            .split(", ")
            .map(|range| range.trim_start_matches(['(', 'R', 'W', 'T', ')', ' ']))
            .collect(),
        false => text.split('/').collect(),
    };
    let ranges: Vec<&str> = ranges
        .into_iter()
        .map(str::trim)
        .filter(|range| !range.is_empty())
        .collect();
    match ranges[..] {
        [one] => vec![one; 3],
        [read, write] => vec![read, write, write],
        _ => ranges,
    }
}

/// Parses `1 thread and 3 processes`.
fn start(rest: &str) -> Option<ReportedBlock> {
    let mut block = ReportedBlock::new("start");
    for part in rest.split(" and ") {
        let (count, what) = part.split_once(' ')?;
        let name = match what.trim_end_matches('.') {
            "thread" | "threads" => "threads",
            "process" | "processes" => "processes",
            _ => return None,
        };
        block.figures.extend(figure(name, count));
    }
    Some(block)
}

/// Parses ` (1 file / 200MiB)`, `(s) (1 file(s) / 200MB)` or `s (2 files / total 2MiB)`.
fn layout(name: &str, rest: &str) -> ReportedBlock {
    let mut block = ReportedBlock::new("layout");
    block.word("name", name);
    let inner = rest.rsplit_once(" (").map_or(rest, |(_, inner)| inner);
    let inner = if rest.contains("file(s) /") {
        rest.split_once("(s) (").map_or(inner, |(_, inner)| inner)
    } else {
        inner
    };
    let (files, size) = inner.split_once('/').unwrap_or((inner, ""));
    block
        .figures
        .extend(number(files).map(|(n, _)| ("files".to_owned(), n, String::new()).into()));
    block
        .figures
        .extend(figure("size", size.trim().trim_start_matches("total ")));
    block
}

/// Parses `1 (f=1): [M(1)][100.0%][r=21.0MiB/s,w=24.0MiB/s][r=21,w=24 IOPS][eta 00m:00s]`.
fn status(rest: &str) -> ReportedBlock {
    let mut block = ReportedBlock::new("status");
    let (counts, fields) = rest.split_once(": ").unwrap_or((rest, ""));
    let (running, open) = counts.split_once(" (f=").unwrap_or((counts, ""));
    block.figures.extend(figure("running", running));
    block.figures.extend(figure("open", open));
    for field in fields.split('[').skip(1) {
        let field = field.trim().trim_end_matches(']');
        if let Some((_, eta)) = field.split_once("eta ") {
            block.word("eta", eta);
        } else if field.contains('=') {
            let iops = field.strip_suffix(" IOPS");
            let (cells, what) = iops.map_or((field, "rate"), |cells| (cells, "IOPS"));
            for (op, value) in cells.split(',').filter_map(|cell| cell.split_once('=')) {
                block.figures.extend(figure(&format!("{what} {op}"), value));
            }
        } else if field.ends_with('%') {
            block.figures.extend(figure("percent", field));
        } else {
            block.word("field", field);
        }
    }
    block
}

fn figure(name: &str, text: &str) -> Option<hakaru_model::reported::ReportedFigure> {
    number(text).map(|(value, unit)| (name.to_owned(), value, unit.to_owned()).into())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str) -> String {
        let block = read(text).unwrap();
        let words = block
            .words
            .iter()
            .map(|(name, text)| format!("{name}={text}"));
        let figures = block
            .figures
            .iter()
            .map(|figure| format!("{}={figure}", figure.name));
        format!(
            "{}: {}",
            block.name,
            words.chain(figures).collect::<Vec<_>>().join(" ")
        )
    }

    #[test]
    fn lines_of_all_times_are_read() {
        insta::assert_snapshot!(shown("a b: (g=3): rw=randrw, bs=(R) 4096B-64.0KiB, (W) 512B-512B, (T) 1B-1B, ioengine=libaio, iodepth=32"), @"job: name=a b rw=randrw ioengine=libaio g=3 iodepth=32 bs R min=4096B bs R max=64.0KiB bs W min=512B bs W max=512B bs T min=1B bs T max=1B");
        insta::assert_snapshot!(shown("x: (g=0): rw=write, bs=4K-4K/4K-4K/8K-8K, ioengine=sync, iodepth=1"), @"job: name=x rw=write ioengine=sync g=0 iodepth=1 bs R min=4K bs R max=4K bs W min=4K bs W max=4K bs T min=8K bs T max=8K");
        insta::assert_snapshot!(shown("Starting 1 thread and 3 processes"), @"start: threads=1 processes=3");
        insta::assert_snapshot!(shown("a: Laying out IO file(s) (1 file(s) / 1024MB)"), @"layout: name=a files=1 size=1024MB");
        insta::assert_snapshot!(shown("a: Laying out IO files (2 files / total 2MiB)"), @"layout: name=a files=2 size=2MiB");
        insta::assert_snapshot!(shown("Jobs: 1 (f=1): [M(1)][100.0%][r=21.0MiB/s,w=24.0MiB/s][r=21,w=24 IOPS][eta 00m:00s]"), @"status: field=M(1) eta=00m:00s running=1 open=1 percent=100.0% rate r=21.0MiB/s rate w=24.0MiB/s IOPS r=21 IOPS w=24");
    }

    #[test]
    fn other_lines_are_none_of_them() {
        for text in [
            "Starting the car",
            "fio is a tool",
            "fio-",
            "Jobs: plumber wanted",
            "",
            "a: (g=x",
        ] {
            assert!(read(text).is_none() && !is_version(text), "{text}");
        }
    }
}
