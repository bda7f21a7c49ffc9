//! The table of results, for the terminal and for `docs/METHOD.md`.

use super::PerfOptions;
use super::contest::{Contest, JudgedRatio, Measured, PerfSetup, Score, median};
use super::extras::ExtraFigure;
use anyhow::{Context, Result, bail};
use std::fmt::Write;
use std::path::{Path, PathBuf};

const BEGIN: &str = "<!-- perf: written by `cargo xtask perf` -->";
const END: &str = "<!-- /perf -->";

fn sorted(scores: &[Score], figure: impl Fn(&Score) -> f64) -> Vec<f64> {
    let mut values: Vec<f64> = scores.iter().map(figure).collect();
    values.sort_by(f64::total_cmp);
    values
}

fn iops(value: f64) -> String {
    match value {
        v if v >= 1e6 => format!("{:.1} M", v / 1e6),
        v if v >= 1e4 => format!("{:.0} k", v / 1e3),
        v => format!("{v:.0}"),
    }
}

fn ns(values: &[f64]) -> String {
    let middle = median(values);
    if middle.is_nan() {
        "–".to_owned()
    } else {
        format!("{middle:.0}")
    }
}

/// Formats one contest as rows of a Markdown table, with its bounds below.
pub(crate) fn contest(contest: &Contest, measured: &Measured) -> String {
    let mut text = format!(
        "| **{}** | IOPS: median (min–max) | user ns | system ns |\n|---|--:|--:|--:|\n",
        contest.name
    );
    for ((name, _), scores) in contest.contestants.iter().zip(measured) {
        let rates = sorted(scores, |s| s.iops);
        let (low, high) = (
            rates.first().copied().unwrap_or(f64::NAN),
            rates.last().copied().unwrap_or(f64::NAN),
        );
        let _ = writeln!(
            text,
            "| {name} | {} ({}–{}) | {} | {} |",
            iops(median(&rates)),
            iops(low),
            iops(high),
            ns(&sorted(scores, |s| s.user_ns)),
            ns(&sorted(scores, |s| s.system_ns))
        );
    }
    text.push('\n');
    for bound in &contest.bounds {
        let JudgedRatio {
            ratio,
            wanted,
            holds,
        } = bound.judge(measured);
        let verdict = if holds { "holds" } else { "**missed**" };
        let _ = writeln!(
            text,
            "- {}: **{:.2}** ({:.2}–{:.2}), wanted {wanted}: {verdict}",
            bound.name, ratio.middle, ratio.min, ratio.max,
        );
    }
    text.push('\n');
    text
}

/// Formats single figures as a list.
pub(crate) fn lines(lines: &[ExtraFigure]) -> String {
    let verdict = |line: &ExtraFigure| match line.holds() {
        Some(true) => ": holds",
        Some(false) => ": **missed**",
        None => "",
    };
    lines
        .iter()
        .map(|line| format!("- {}{}\n", line.text(), verdict(line)))
        .collect()
}

/// Replaces the table in the document.
pub(crate) fn write(
    document: &Path,
    bench: &PerfSetup,
    wishes: &PerfOptions,
    results: &[(Contest, Measured)],
    instructions: &[ExtraFigure],
    costs: &[ExtraFigure],
) -> Result<()> {
    let text = std::fs::read_to_string(document)
        .with_context(|| format!("cannot read {}", document.display()))?;
    let (Some(begin), Some(end)) = (text.find(BEGIN), text.find(END)) else {
        bail!(
            "{} has no place for the table: it needs the lines {BEGIN} and {END}",
            document.display()
        );
    };
    let mut page = format!(
        "{BEGIN}\n\n{} rounds of {} s. In each round every contestant runs once, pinned to CPU {}. Ratios are taken per round; \
         ratios of CPU times, which the kernel samples at its timer tick, are taken over all rounds together. Host: {}.\n\n",
        wishes.rounds,
        wishes.seconds,
        bench.cpu,
        host(bench)
    );
    results
        .iter()
        .for_each(|(c, measured)| page += &contest(c, measured));
    page += &lines(instructions);
    page += &lines(costs);
    page.push('\n');
    std::fs::write(
        document,
        format!("{}{page}{}", &text[..begin], &text[end..]),
    )?;
    Ok(())
}

fn host(bench: &PerfSetup) -> String {
    let read = |path: &str| std::fs::read_to_string(path).unwrap_or_default();
    let model = read("/proc/cpuinfo");
    let model = model
        .lines()
        .find_map(|l| l.strip_prefix("model name"))
        .unwrap_or("")
        .trim_start_matches([' ', '\t', ':']);
    let version = |fio: &PathBuf| {
        crate::workspace::output(std::process::Command::new(fio).arg("--version")).ok()
    };
    let version = |fio: &Option<PathBuf>| fio.as_ref().and_then(version);
    let fio = version(&bench.fio);
    let other = version(&bench.newer)
        .map(|other| format!("; the other fio: {}", other.trim()))
        .unwrap_or_default();
    format!(
        "{}, {} processors, Linux {}, {}{other}",
        model.trim(),
        std::thread::available_parallelism().map_or(1, usize::from),
        read("/proc/sys/kernel/osrelease").trim(),
        fio.as_deref().map_or("no fio", str::trim)
    )
}
