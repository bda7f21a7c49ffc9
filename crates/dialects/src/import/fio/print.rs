//! Prints an imported result as fio's text again, with the same blocks in the same order and the same figures.
//!
//! Figures are written as originally printed, to avoid double rounding. Results from JSON or terse lines have figures
//! with more digits; rates and sizes in bare bytes are scaled as fio scales them.

use super::text::SYNCS;
use hakaru_model::reported::{Reported, ReportedBlock, ReportedFigure};
use std::fmt::Write;

/// Formats the results as fio's text. Empty if the source was not fio.
pub fn print(reported: &Reported, program: &str) -> String {
    let mut out = TextPrinter::default();
    let of = |name: &'static str| {
        reported
            .blocks
            .iter()
            .filter(move |block| block.name == name)
    };
    of("job").for_each(|block| out.banner(block));
    if of("job").next().is_some() {
        out.line(program);
    }
    for block in &reported.blocks {
        match block.name.as_str() {
            "start" => out.start(block),
            "layout" => out.layout(block),
            "note" => out.line(block.words_of("text").unwrap_or_default()),
            "status" => out.status(block),
            "report" => out.report(block),
            "group" => out.group(block),
            _ => {}
        }
    }
    if of("disk").next().is_some() {
        out.line("\nDisk stats (read/write):");
        of("disk").for_each(|block| out.disk(block));
    }
    of("idle").for_each(|block| out.idle(block));
    out.text
}

#[derive(Default)]
struct TextPrinter {
    text: String,
}

/// A figure by name, or an empty string.
fn shown(block: &ReportedBlock, name: &str) -> String {
    block.get(name).map_or_else(String::new, scaled)
}

/// A figure padded to five columns, as fio pads the mean, minimum and maximum of samples.
fn padded(block: &ReportedBlock, name: &str) -> Option<String> {
    block
        .get(name)
        .map(|figure| format!("{name}={:>5}", scaled(figure)))
}

/// Scales bare bytes; other figures are kept as printed.
fn scaled(figure: &ReportedFigure) -> String {
    let rate = figure.unit == "B/s";
    match (figure.unit.as_str(), figure.value.as_whole()) {
        ("B" | "B/s", Some(bytes)) if bytes > 9999 => {
            let prefixes = ["", "Ki", "Mi", "Gi", "Ti", "Pi"];
            let (mut value, mut step) = (bytes as f64, 0);
            while value >= 9999.5 && step + 1 < prefixes.len() {
                (value, step) = (value / 1024.0, step + 1);
            }
            let decimals = usize::from(value < 100.0) + usize::from(value < 10.0);
            format!(
                "{value:.decimals$}{}B{}",
                prefixes[step],
                if rate { "/s" } else { "" }
            )
        }
        _ => figure.to_string(),
    }
}

/// The figures of an operation in a group: `bw=22.7MiB/s (23.8MB/s), …`.
fn group_cells(part: &ReportedBlock) -> [String; 4] {
    let other = |name: &str| {
        let figure = part.get(&format!("{name} other"));
        figure.map_or_else(String::new, |figure| format!(" ({figure})"))
    };
    let range = |low: &str, high: &str| format!("{}-{}", shown(part, low), shown(part, high));
    let run = part.get("run min").map(|figure| figure.value.to_string());
    let run = run.unwrap_or_default();
    [
        format!("bw={}{}", shown(part, "bw"), other("bw")),
        format!(
            "{} ({})",
            range("low", "high"),
            range("low other", "high other")
        ),
        format!("io={}{}", shown(part, "io"), other("io")),
        format!("run={run}-{}", shown(part, "run max")),
    ]
}

/// All figures of a block: `usr=0.10%, sys=0.20%`.
fn pairs(block: &ReportedBlock) -> String {
    let figures = block.figures.iter();
    let cells: Vec<String> = figures.map(|f| format!("{}={f}", f.name)).collect();
    cells.join(", ")
}

impl TextPrinter {
    fn line(&mut self, text: &str) {
        self.text.push_str(text);
        self.text.push('\n');
    }

    /// Formats `a: (g=0): rw=rw, bs=(R) 4096B-4096B, (W) 4096B-4096B, (T) 4096B-4096B, ioengine=psync, iodepth=1`.
    fn banner(&mut self, block: &ReportedBlock) {
        let word = |name| block.words_of(name).unwrap_or_default();
        let range = |op: &str| {
            format!(
                "({op}) {}-{}",
                shown(block, &format!("bs {op} min")),
                shown(block, &format!("bs {op} max"))
            )
        };
        let sizes = ["R", "W", "T"].map(range).join(", ");
        self.line(&format!(
            "{}: (g={}): rw={}, bs={sizes}, ioengine={}, iodepth={}",
            word("name"),
            shown(block, "g"),
            word("rw"),
            word("ioengine"),
            shown(block, "iodepth")
        ));
        if block.words_of("clones").is_some() {
            self.line("...");
        }
    }

    fn start(&mut self, block: &ReportedBlock) {
        let part = |(name, one): (&str, &str)| {
            let figure = block.get(name)?;
            Some(format!(
                "{figure} {}",
                if figure.value.as_whole() == Some(1) {
                    one
                } else {
                    name
                }
            ))
        };
        let parts: Vec<String> = [("threads", "thread"), ("processes", "process")]
            .into_iter()
            .filter_map(part)
            .collect();
        self.line(&format!("Starting {}", parts.join(" and ")));
    }

    fn layout(&mut self, block: &ReportedBlock) {
        let (name, files, size) = (
            block.words_of("name").unwrap_or_default(),
            shown(block, "files"),
            shown(block, "size"),
        );
        self.line(&match files.as_str() {
            "1" => format!("{name}: Laying out IO file (1 file / {size})"),
            _ => format!("{name}: Laying out IO files ({files} files / total {size})"),
        });
    }

    /// Formats `Jobs: 1 (f=1): [M(1)][100.0%][r=21.0MiB/s,w=24.0MiB/s][r=21,w=24 IOPS][eta 00m:00s]`.
    fn status(&mut self, block: &ReportedBlock) {
        let mut text = format!(
            "Jobs: {} (f={}): ",
            shown(block, "running"),
            shown(block, "open")
        );
        for (name, word) in &block.words {
            if name == "field" {
                let _ = write!(text, "[{word}]");
            }
        }
        if let Some(percent) = block.get("percent") {
            let _ = write!(text, "[{percent}]");
        }
        for (what, behind) in [("rate ", ""), ("IOPS ", " IOPS")] {
            let cells = block
                .figures
                .iter()
                .filter_map(|f| Some(format!("{}={f}", f.name.strip_prefix(what)?)));
            let cells: Vec<String> = cells.collect();
            if !cells.is_empty() {
                let _ = write!(text, "[{}{behind}]", cells.join(","));
            }
        }
        if let Some(eta) = block.words_of("eta") {
            let _ = write!(text, "[eta {eta}]");
        }
        self.line(&text);
    }

    fn report(&mut self, block: &ReportedBlock) {
        self.report_head(block);
        for part in &block.blocks {
            match part.name.as_str() {
                "read" | "write" | "trim" | "mixed" => self.operation(part),
                SYNCS => {
                    self.line(&format!("  {SYNCS}:"));
                    part.blocks.iter().for_each(|one| self.latency(one));
                }
                "lat" => self.shares(part),
                "cpu" => self.row("  cpu          : ", part),
                "IO depths" => self.row("  IO depths    : ", part),
                "submit" => self.row("     submit    : ", part),
                "complete" => self.row("     complete  : ", part),
                "issued" => self.issued(part),
                "errors" => self.row("     errors    : ", part),
                "latency" => self.row("     latency   : ", part),
                "steadystate" => self.row("  steadystate  : ", part),
                _ => {}
            }
        }
    }

    fn report_head(&mut self, block: &ReportedBlock) {
        let or = |name: &str, default: &str| {
            let figure = block.get(name);
            figure.map_or_else(|| default.to_owned(), ReportedFigure::to_string)
        };
        let name = block.words_of("name").unwrap_or_default();
        let (group, err) = (shown(block, "groupid"), shown(block, "err"));
        let (jobs, pid) = (or("jobs", "1"), or("pid", "0"));
        let error = match block.words_of("error") {
            Some(text) => format!("err={err:>2} ({text})"),
            None => format!("err={err:>2}"),
        };
        let mut header = format!("{name}: (groupid={group}, jobs={jobs}): {error}: pid={pid}");
        if let Some(when) = block.words_of("when") {
            let _ = write!(header, ": {when}");
        }
        self.line(&header);
        if let Some(text) = block.words_of("description") {
            self.line(&format!("  Description  : [{text}]"));
        }
    }

    /// Formats `  read: IOPS=22, BW=22.7MiB/s (23.8MB/s)(99.0MiB/4353msec); 0 zone resets`.
    fn operation(&mut self, block: &ReportedBlock) {
        let mut text = format!(
            "  {}: IOPS={}, BW={}",
            block.name,
            shown(block, "IOPS"),
            shown(block, "BW")
        );
        if let Some(other) = block.get("BW other") {
            let _ = write!(text, " ({other})");
        }
        let _ = write!(text, "({}/{})", shown(block, "io"), shown(block, "runt"));
        if let Some(resets) = block.get("zone resets") {
            let _ = write!(text, "; {resets} zone resets");
        }
        self.line(&text);
        block.blocks.iter().for_each(|one| self.latency(one));
    }

    /// Formats a line of latencies, a list of percentiles, or a line of samples.
    fn latency(&mut self, block: &ReportedBlock) {
        let unit = block.words_of("unit").unwrap_or_default();
        match block.name.as_str() {
            "bw" => self.samples(&format!("   bw ({unit:>7}): "), block),
            "iops" => self.samples("   iops        : ", block),
            name if name.ends_with("percentiles") => self.percentiles(block, unit),
            name => {
                let cells: Vec<String> = ["min", "max"]
                    .into_iter()
                    .filter_map(|key| block.get(key).map(|figure| format!("{key}={figure}")))
                    .chain(
                        ["avg", "stdev"]
                            .into_iter()
                            .filter_map(|key| padded(block, key)),
                    )
                    .collect();
                let name = if name == "lat" { " lat" } else { name };
                self.line(&format!("    {name} ({unit}): {}", cells.join(", ")));
            }
        }
    }

    fn samples(&mut self, head: &str, block: &ReportedBlock) {
        let mut cells: Vec<String> = ["min", "max"]
            .into_iter()
            .filter_map(|key| padded(block, key))
            .collect();
        cells.extend(block.get("per").map(|figure| format!("per={figure}")));
        cells.extend(
            ["avg", "stdev"]
                .into_iter()
                .filter_map(|key| padded(block, key)),
        );
        cells.extend(
            block
                .get("samples")
                .map(|figure| format!("samples={figure}")),
        );
        self.line(&format!("{head}{}", cells.join(", ")));
    }

    /// Names and values in columns, as many as fit in 80 characters.
    fn percentiles(&mut self, block: &ReportedBlock, unit: &str) {
        self.line(&format!("    {} ({unit}):", block.name));
        let values: Vec<String> = block
            .figures
            .iter()
            .map(ReportedFigure::to_string)
            .collect();
        let width = values.iter().map(String::len).max().unwrap_or(0).max(5);
        let decimals = block
            .figures
            .iter()
            .filter_map(|f| f.name.split_once('.'))
            .map(|(_, d)| d.len())
            .max()
            .unwrap_or(0);
        let name_width = decimals + 3;
        let cell = |(figure, value): (&ReportedFigure, &String)| {
            format!(" {:>name_width$}th=[{value:>width$}]", figure.name)
        };
        let cells: Vec<String> = block.figures.iter().zip(&values).map(cell).collect();
        let columns = (73 / (name_width + width + 7)).max(1);
        let rows: Vec<String> = cells
            .chunks(columns)
            .map(|row| format!("     |{}", row.join(",")))
            .collect();
        self.line(&rows.join(",\n"));
    }

    /// Formats `  lat (usec)   : 250=31.66%, 500=68.34%`, five per line unless the source differs.
    fn shares(&mut self, block: &ReportedBlock) {
        let unit = block.words_of("unit").unwrap_or_default();
        let cells: Vec<String> = block
            .figures
            .iter()
            .map(|f| format!("{}={f}", f.name))
            .collect();
        for five in cells.chunks(5) {
            self.line(&format!("  lat ({unit})   : {}", five.join(", ")));
        }
    }

    fn row(&mut self, head: &str, block: &ReportedBlock) {
        self.line(&format!("{head}{}", pairs(block)));
    }

    /// Formats `     issued rwts: total=99,101,0,0 short=0,0,0,0 dropped=0,0,0,0`.
    fn issued(&mut self, block: &ReportedBlock) {
        let list = |name: &str| {
            let cells: Vec<String> = ["r", "w", "t", "s"]
                .into_iter()
                .filter_map(|letter| block.get(&format!("{name} {letter}")))
                .map(ReportedFigure::to_string)
                .collect();
            format!("{name}={}", cells.join(","))
        };
        let parts: Vec<String> = ["total", "short", "dropped"].map(list).to_vec();
        self.line(&format!("     issued rwts: {}", parts.join(" ")));
    }

    fn group(&mut self, block: &ReportedBlock) {
        let jobs = block.words_of("jobs").unwrap_or("(all jobs)");
        self.line(&format!(
            "\nRun status group {} {jobs}:",
            shown(block, "number")
        ));
        for part in &block.blocks {
            let cells = match part.get("low") {
                Some(_) => group_cells(part).join(", "),
                None => pairs(part),
            };
            self.line(&format!("{:>7}: {cells}", part.name));
        }
    }

    /// Formats `  mmcblk0: ios=97/100, sectors=198656/204800, merge=0/0, ticks=1079/3211, in_queue=4290, util=97.57%`.
    fn disk(&mut self, block: &ReportedBlock) {
        let mut cells = Vec::new();
        for figure in &block.figures {
            match (figure.name.strip_suffix(" r"), figure.name.ends_with(" w")) {
                (Some(name), _) => cells.push(format!(
                    "{name}={figure}/{}",
                    shown(block, &format!("{name} w"))
                )),
                (None, true) => {}
                (None, false) => cells.push(format!("{}={figure}", figure.name)),
            }
        }
        self.line(&format!(
            "  {}: {}",
            block.words_of("name").unwrap_or_default(),
            cells.join(", ")
        ));
    }

    fn idle(&mut self, block: &ReportedBlock) {
        self.line("\nCPU idleness:");
        for figure in &block.figures {
            self.line(&format!("  {}: {figure}", figure.name));
        }
        for part in &block.blocks {
            let cell = |f: &ReportedFigure| {
                if f.name.parse::<u32>().is_ok() {
                    f.to_string()
                } else {
                    format!("{}={f}", f.name)
                }
            };
            let cells: Vec<String> = part.figures.iter().map(cell).collect();
            self.line(&format!("  {}: {}", part.name, cells.join(", ")));
        }
    }
}
