//! The answers to the questions about file systems, with the figures of the product checked by those of the card.

use super::point::TracedPoint;
use crate::rig::checks::Checks;
use anyhow::{Context, Result, ensure};
use hakaru_model::io_path::{IoClass, TimePart};
use serde_json::Value;

/// Accepted relative deviation of a time from the ledger.
const TOLERANCE: f64 = 0.1;

/// A point, and what the product finds about it.
#[derive(Clone, Copy)]
struct Answered<'a> {
    point: &'a TracedPoint,
    found: &'a Value,
}

/// Answers the questions, one text each.
pub(super) fn layers(
    checks: &mut Checks,
    points: &[TracedPoint],
    findings: &[Value],
) -> Vec<String> {
    let find = |layer: &str, workload: &str| -> Result<Answered<'_>> {
        let all = points.iter().zip(findings);
        let mut all =
            all.filter(|(point, _)| (&*point.layer, &*point.workload) == (layer, workload));
        let (point, found) = all
            .next()
            .with_context(|| format!("no traced run of {workload} on {layer}"))?;
        Ok(Answered {
            point,
            found: &found[0]["findings"],
        })
    };
    let mut answers = Vec::new();
    let mut ask = |question: &str, answer: Result<String>| {
        if let Ok(answer) = &answer {
            answers.push(format!("## {question}\n\n{answer}"));
        }
        checks.check(question, || answer);
    };
    for workload in ["sequential", "random", "appended"] {
        let answer =
            find("raw", workload).and_then(|raw| cost_of_fat(raw, find("vfat", workload)?));
        ask(&format!("(a) what does FAT32 cost, {workload}?"), answer);
    }
    let answer = find("ext4", "sixteen").and_then(|ext4| why_f2fs(ext4, find("f2fs", "sixteen")?));
    ask("(b) why is F2FS faster than ext4 at random writes?", answer);
    let answer = find("ext4", "durable").and_then(where_fsync_goes);
    ask("(c) where does the time of an fsync go?", answer);
    answers
}

impl Answered<'_> {
    /// Checks bytes and requests per write of the product by the ledger, and shows them by class.
    fn costs(&self) -> Result<String> {
        let point = self.point;
        let (writes, asked) = (point.writes() as f64, point.asked_bytes() as f64);
        let traffic = self.found["traffic"].as_array().context("no traffic")?;
        let traffic = traffic.iter().find(|traffic| traffic["op"] == "write");
        let said = traffic.and_then(|traffic| traffic["amplification"].as_f64());
        let said = said.context("no amplification")?;
        let costs = point.costs()?;
        let bytes: u64 = costs.iter().map(|cost| cost.bytes).sum();
        let exact = bytes as f64 / asked;
        ensure!(
            (said / exact - 1.0).abs() < 1e-9,
            "{}: an I/O amplification of {said}, and {exact} by the card",
            point.name()
        );
        let by_class = costs.iter().map(|cost| {
            format!(
                "{:?} {} B in {} commands, {:.1} ms",
                cost.class,
                cost.bytes / point.writes().max(1),
                per(cost.commands as f64 / writes),
                cost.charged / writes
            )
        });
        Ok(format!(
            "{} takes {:.1} ms a write and writes {said:.2} bytes per byte ({})",
            point.layer,
            point.time_per_write(),
            by_class.collect::<Vec<_>>().join("; ")
        ))
    }

    /// Commands per write of the application, by the card.
    fn commands_per_write(&self) -> Result<f64> {
        Ok(self.point.commands()?.len() as f64 / self.point.writes() as f64)
    }

    /// Time charged per write in ms.
    fn charged_per_write(&self) -> Result<f64> {
        let charged: f64 = self.point.costs()?.iter().map(|cost| cost.charged).sum();
        Ok(charged / self.point.writes() as f64)
    }
}

fn per(count: f64) -> String {
    format!("{count:.2}")
        .trim_end_matches("00")
        .trim_end_matches('.')
        .to_owned()
}

fn cost_of_fat(raw: Answered<'_>, vfat: Answered<'_>) -> Result<String> {
    let text = format!("{}; {}", raw.costs()?, vfat.costs()?);
    let more = vfat.charged_per_write()? - raw.charged_per_write()?;
    let data = |point: &TracedPoint| -> Result<f64> {
        let costs = point.costs()?;
        let data = costs.iter().filter(|cost| cost.class == IoClass::Data);
        Ok(data.map(|cost| cost.charged).sum::<f64>() / point.writes() as f64)
    };
    let metadata = vfat.charged_per_write()? - data(vfat.point)?;
    let jumps = vfat.commands_per_write()? - raw.commands_per_write()?;
    ensure!(
        metadata >= 0.0 && more <= metadata + data(vfat.point)?,
        "{text}"
    );
    Ok(format!(
        "{text}. Of the card's time, vfat needs {more:+.1} ms a write more than raw: {metadata:.1} ms for FAT and directory, \
         {:+.1} ms for the data. It makes {jumps:+.2} jumps a write.",
        more - metadata
    ))
}

fn why_f2fs(ext4: Answered<'_>, f2fs: Answered<'_>) -> Result<String> {
    let text = format!("{}; {}", ext4.costs()?, f2fs.costs()?);
    let (slow, fast) = (ext4.point.time_per_write(), f2fs.point.time_per_write());
    let (scattered, joined) = (ext4.commands_per_write()?, f2fs.commands_per_write()?);
    ensure!(slow > 1.5 * fast && scattered > 1.5 * joined, "{text}");
    let charged = ext4.charged_per_write()? / f2fs.charged_per_write()?;
    let measured = slow / fast;
    ensure!(
        (measured / charged - 1.0).abs() < 2.0 * TOLERANCE,
        "{measured:.2} times by the clock, and {charged:.2} times by the card: {text}"
    );
    Ok(format!(
        "{text}. F2FS is {measured:.2} times as fast ({charged:.2} times by the card's own time): it puts new data one \
         after another, so that {joined:.2} commands a write reach the card; ext4 writes each block at its own place and \
         its journal elsewhere, {scattered:.2} commands a write."
    ))
}

fn where_fsync_goes(ext4: Answered<'_>) -> Result<String> {
    let point = ext4.point;
    let mut operations = point.path.operations.iter();
    let fsync = operations
        .find(|operation| operation.op.is_none())
        .context("no fsync was traced")?;
    let (total, count) = (fsync.mean.total(), fsync.count as f64);
    let journal: f64 = point
        .costs()?
        .iter()
        .filter(|cost| cost.class == IoClass::Journal)
        .map(|cost| cost.charged * 1e6 / count)
        .sum();
    let device = fsync.mean.of(TimePart::Metadata);
    let share = |time: f64| time / total * 100.0;
    let parts = TimePart::ALL.map(|part| (part, fsync.mean.of(part)));
    let parts = parts.iter().filter(|(_, time)| share(*time) >= 0.5);
    let parts: Vec<String> = parts
        .map(|(part, time)| format!("{part:?} {:.1} ms ({:.0}%)", time / 1e6, share(*time)))
        .collect();
    let text = format!(
        "{}. An fsync on ext4 takes {:.1} ms: {}. The card charges {:.1} ms a commit for the journal",
        ext4.costs()?,
        total / 1e6,
        parts.join(", "),
        journal / 1e6
    );
    ensure!(
        (total / fsync.mean_latency.0 as f64 - 1.0).abs() < 0.02,
        "the parts do not add up to {}: {text}",
        fsync.mean_latency
    );
    ensure!(
        (device / journal - 1.0).abs() < TOLERANCE && journal > 0.5 * total,
        "{text}"
    );
    ensure!(!point.path.disk.flushes_sent, "{text}; it gets flushes");
    Ok(format!(
        "{text}. The kernel sends this card no cache flush, so nothing of the time is one."
    ))
}
