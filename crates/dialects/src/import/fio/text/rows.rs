//! Parsers for uniform rows of fio's text: percentiles, distributions and counts, groups, disks, idleness.

use super::super::super::units::number;
use super::{OPS, Reader, fields};
use hakaru_model::reported::{Decimal, ReportedBlock};

impl Reader {
    /// Parses `|  1.00th=[  988],  5.00th=[ 1045],`.
    pub(super) fn percentile_row(&mut self, text: &str) -> bool {
        let cells: Vec<(String, Option<(Decimal, String)>)> = text
            .trim_start_matches('|')
            .split(']')
            .filter_map(|cell| cell.split_once("th=["))
            .map(|(name, value)| {
                let name = name.trim_start_matches([',', ' ']).trim().replace(',', ".");
                (name, number(value).map(|(n, unit)| (n, unit.to_owned())))
            })
            .collect();
        let place = self.place();
        let Some(list) = place
            .blocks
            .last_mut()
            .filter(|block| block.name.ends_with("percentiles"))
        else {
            return false;
        };
        let mut lost = Vec::new();
        for (name, value) in cells {
            match value {
                Some((value, unit)) => {
                    list.figure(&name, value, &unit);
                }
                None => lost.push(name),
            }
        }
        lost.iter().for_each(|name| self.no_number(name, "[…]"));
        true
    }

    /// Parses distributions and counts: `cpu`, `IO depths`, `submit`, `complete`, `issued`, `errors`, `latency`.
    pub(super) fn named_row(&mut self, word: &str, rest: &str) -> bool {
        let (name, cells): (&str, Vec<(String, &str)>) = match word {
            "cpu" | "IO depths" | "submit" | "complete" | "errors" | "latency" | "steadystate" => (
                word,
                fields(rest)
                    .map(|(key, value)| (key.to_owned(), value))
                    .collect(),
            ),
            "issued rwts" | "issued rwt" | "issued" => ("issued", issued(rest)),
            "Description" => {
                let text = rest
                    .trim()
                    .trim_start_matches('[')
                    .trim_end_matches(']')
                    .to_owned();
                self.last_report().word("description", text);
                return true;
            }
            _ => return false,
        };
        let mut block = ReportedBlock::new(name);
        for (key, value) in cells {
            // A value such as `first_error=5/<Input/output error>`.
            let value = value.split('/').next().unwrap_or_default();
            self.put(&mut block, &key, value);
        }
        self.last_report().blocks.push(block);
        true
    }

    /// Parses
    /// `READ: bw=22.7MiB/s (23.8MB/s), 22.7MiB/s-22.7MiB/s (23.8MB/s-23.8MB/s), io=99.0MiB (104MB), run=1-2msec`.
    pub(super) fn group_row(&mut self, text: &str) -> bool {
        let Some((name, rest)) = text.split_once(':') else {
            return false;
        };
        if !OPS.contains(&name.trim().to_ascii_lowercase().as_str()) || !rest.contains('=') {
            return false;
        }
        let mut block = ReportedBlock::new(name.trim());
        for cell in rest.split(", ") {
            match cell.split_once('=') {
                Some(("run", range)) => self.range(&mut block, ["run min", "run max"], range),
                Some((key, value)) => {
                    let (value, other) = value.split_once('(').unwrap_or((value, ""));
                    let key = key.trim();
                    self.put(&mut block, key, value);
                    self.put(&mut block, &format!("{key} other"), other);
                }
                None => {
                    let (range, other) = cell.split_once('(').unwrap_or((cell, ""));
                    self.range(&mut block, ["low", "high"], range);
                    self.range(&mut block, ["low other", "high other"], other);
                }
            }
        }
        if let Some(group) = self.blocks.last_mut() {
            group.blocks.push(block);
        }
        true
    }

    fn range(&mut self, block: &mut ReportedBlock, names: [&str; 2], text: &str) {
        let (low, high) = text.split_once('-').unwrap_or((text, ""));
        self.put(block, names[0], low);
        // In `4353-4353msec`, only the last number has the unit.
        let unit = number(high).map_or("", |(_, unit)| unit).to_owned();
        if let Some(first) = block
            .figures
            .last_mut()
            .filter(|figure| figure.unit.is_empty() && figure.name == names[0])
        {
            first.unit = unit;
        }
        self.put(block, names[1], high);
    }

    /// Parses `mmcblk0: ios=97/100, sectors=198656/204800, merge=0/0, ticks=1079/3211, in_queue=4290, util=97.57%`.
    pub(super) fn disk_row(&mut self, text: &str) -> bool {
        let Some((name, rest)) = text
            .split_once(':')
            .filter(|(_, rest)| rest.contains("ios="))
        else {
            return false;
        };
        let mut block = ReportedBlock::new("disk");
        block.word("name", name.trim());
        for (key, value) in fields(rest) {
            match value.split_once('/') {
                Some((read, write)) => {
                    self.put(&mut block, &format!("{key} r"), read);
                    self.put(&mut block, &format!("{key} w"), write);
                }
                None => self.put(&mut block, key, value),
            }
        }
        self.blocks.push(block);
        true
    }

    /// Parses `system: 96.33%`, `percpu: 97.0%, 95.6%` or `unit work: mean=10.11us, stddev=0.08`.
    pub(super) fn idle_row(&mut self, text: &str) -> bool {
        let Some((name, rest)) = text.split_once(':') else {
            return false;
        };
        if !["system", "percpu", "unit work"].contains(&name) {
            return false;
        }
        let mut block = ReportedBlock::new(name);
        for (index, cell) in rest.split(", ").enumerate() {
            let (key, value) = cell
                .split_once('=')
                .map_or((index.to_string(), cell), |(k, v)| (k.trim().to_owned(), v));
            self.put(&mut block, &key, value);
        }
        if let Some(idle) = self.blocks.last_mut() {
            idle.blocks.push(block);
        }
        true
    }
}

/// Parses `total=99,101,0,0 short=0,0,0,0 dropped=0,0,0,0`, or `total=r=99/w=101/d=0, short=r=0/w=0/d=0, drop=…`.
fn issued(rest: &str) -> Vec<(String, &str)> {
    let mut cells = Vec::new();
    for group in rest.split([' ']).filter(|group| !group.is_empty()) {
        let Some((name, list)) = group.split_once('=') else {
            continue;
        };
        let name = if name == "drop" { "dropped" } else { name };
        let list = list.trim_end_matches(',');
        for (value, letter) in list.split([',', '/']).zip(["r", "w", "t", "s"]) {
            cells.push((
                format!("{name} {letter}"),
                value.rsplit('=').next().unwrap_or_default(),
            ));
        }
    }
    cells
}
