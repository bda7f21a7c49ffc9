//! The list of stored series, verifications and anatomies for a terminal.

use crate::document::{Document, DocumentBlock, TableStyle};
use crate::table::DataTable;
use crate::text::{Head, StateWord};
use crate::verified::verified_target;
use crate::workload::WorkloadKind;
use crate::{number, text, time, workload};
use hakaru_model::anatomy_record::AnatomyRecord;
use hakaru_model::integrity::Verification;
use hakaru_model::job::Op;
use hakaru_model::units::{BytesPerSec, Iops};

/// A series of runs in a list.
#[derive(Clone, Debug)]
pub struct ListedSeries {
    /// Its shortest unique ID.
    pub id: String,
    /// Label or name of the target; may be empty.
    pub label: String,
    /// File system, or `raw`; empty if unknown.
    pub layer: String,
    /// Completed runs.
    pub completed: u32,
    /// All runs.
    pub runs: u32,
    /// Whether one of the runs was traced.
    pub traced: bool,
    /// Name of the scenario.
    pub scenario: String,
    /// Rates of its phases, in the order of measurement.
    pub rates: Vec<ListedRate>,
    /// Start of the last run in milliseconds since 1970.
    pub started_unix_ms: i64,
}

/// A verification in a list.
#[derive(Clone, Debug)]
pub struct ListedVerification<'a> {
    /// Its shortest unique ID.
    pub id: String,
    /// The verification.
    pub verification: &'a Verification,
}

/// An anatomy in a list.
#[derive(Clone, Debug)]
pub struct ListedAnatomy<'a> {
    /// Its shortest unique ID.
    pub id: String,
    /// The anatomy.
    pub record: &'a AnatomyRecord,
}

/// Mean rate of one operation of a phase over the runs of a series.
#[derive(Clone, Debug, PartialEq)]
pub struct ListedRate {
    /// Name of the phase.
    pub phase: String,
    /// The operation.
    pub op: Op,
    /// Whether the phase has the name of one of hakaru's own workloads, but is another workload.
    pub foreign: bool,
    /// Bandwidth.
    pub bandwidth: BytesPerSec,
    /// Completions per second.
    pub iops: Iops,
}

impl ListedRate {
    /// I/Os of less than this size, in bytes, are given as IOPS.
    const SMALL: f64 = 64.0 * 1024.0;

    fn is_small(&self) -> bool {
        self.iops.0 > 0.0 && self.bandwidth.0 / self.iops.0 < Self::SMALL
    }

    /// Formats the rate without its unit, and its unit.
    fn figure(&self) -> (String, &'static str) {
        match self.is_small() {
            true => (short(self.iops.0), "IOPS"),
            false => (short(self.bandwidth.0 / 1e6), "MB/s"),
        }
    }
}

/// Formats a figure with three significant digits: `0.87`, `92.1`, `512`, `8,436`, `21.1k`.
fn short(value: f64) -> String {
    let (value, unit) = match value {
        value if value >= 999_500.0 => (value / 1e6, "M"),
        value if value >= 9_999.5 => (value / 1e3, "k"),
        value => (value, ""),
    };
    if value >= 999.5 && unit.is_empty() {
        return number::grouped(value.round() as u64);
    }
    let digits = match value {
        value if value < 9.995 => 2,
        value if value < 99.95 => 1,
        _ => 0,
    };
    format!("{value:.digits$}{unit}")
}

/// Maximum number of figures in a line.
const FIGURES: usize = 4;

/// Formats the headline figures of a series: reads and writes of one kind share a unit, `Sequential 92.1/34.0 MB/s,
/// random 2,140/640 IOPS`.
fn headline(rates: &[ListedRate]) -> String {
    let suite = [
        (WorkloadKind::Sequential, "seq-read", "seq-write"),
        (WorkloadKind::Random, "rand-read", "rand-write"),
    ];
    let of = |phase: &str| {
        let mut own = rates.iter().filter(|rate| !rate.foreign);
        own.find(|rate| rate.phase == phase)
    };
    let mut parts = Vec::new();
    for (kind, read, write) in suite {
        let (Some(read), Some(write)) = (of(read), of(write)) else {
            continue;
        };
        let ((read, unit), (write, same)) = (read.figure(), write.figure());
        if unit == same {
            let kind = text::row_kind(kind).to_lowercase();
            parts.push(format!("{kind} {read}/{write} {unit}"));
        }
    }
    if parts.is_empty() {
        let mut left = rates.iter();
        while let Some(rate) = left.next().filter(|_| parts.len() < FIGURES) {
            let (figure, unit) = rate.figure();
            let name = phase(rate, rates);
            let between = if name.contains(", ") { ": " } else { " " };
            parts.push(format!("{name}{between}{figure} {unit}"));
        }
        if left.next().is_some() {
            parts.push("…".to_owned());
        }
    }
    let is_own = rates.first().is_some_and(|first| in_words(first).is_some());
    match is_own {
        true => text::capital(&text::enumerated(&parts)),
        false => text::enumerated(&parts),
    }
}

/// The workload of a rate: in words, or the name that the user gave, with the operation if the phase has several.
fn phase(rate: &ListedRate, all: &[ListedRate]) -> String {
    let same = |other: &&ListedRate| other.phase == rate.phase;
    in_words(rate).unwrap_or_else(|| match all.iter().filter(same).count() > 1 {
        true => format!("{} {}", rate.phase, rate.op.name()),
        false => rate.phase.clone(),
    })
}

/// The workload of a rate in words, if it is one of hakaru's own.
fn in_words(rate: &ListedRate) -> Option<String> {
    workload::in_words(&rate.phase, Some(rate.op)).filter(|_| !rate.foreign)
}

/// Renders series, verifications and anatomies, one line each, for a terminal of `width` columns; `color` allows ANSI styles.
pub fn list_terminal(
    series: &[ListedSeries],
    verifications: &[ListedVerification<'_>],
    anatomies: &[ListedAnatomy<'_>],
    width: usize,
    color: bool,
) -> String {
    let series = DataTable::new(
        [
            Head::ListedId,
            Head::ListedLabel,
            Head::ListedLayer,
            Head::ListedRuns,
            Head::ListedResult,
            Head::ListedLastRun,
        ],
        series.iter().map(line),
    );
    let verifications = DataTable::new(
        [
            Head::ListedVerification,
            Head::ListedStart,
            Head::ListedOutcome,
            Head::ListedTarget,
        ],
        verifications.iter().map(verification),
    );
    let anatomies = DataTable::new(
        [
            Head::ListedAnatomy,
            Head::ListedStart,
            Head::ListedLabel,
            Head::ListedFinding,
        ],
        anatomies.iter().map(anatomy),
    );
    let tables = [series, verifications, anatomies].map(DataTable::nonempty);
    let blocks = tables.into_iter().flatten();
    let blocks = blocks.map(|table| DocumentBlock::Table(TableStyle::Words, table));
    let document = Document {
        blocks: blocks.collect(),
        ..Document::default()
    };
    document.terminal(width, color)
}

/// Returns the headline figures of a series, or the name of its scenario if it has none.
pub fn listed_result(of: &ListedSeries) -> String {
    let mut result = match headline(&of.rates).as_str() {
        "" => of.scenario.clone(),
        figures => figures.to_owned(),
    };
    if of.traced {
        result += &format!(" ({})", StateWord::Traced.text());
    }
    result
}

/// Returns the first sentence of an anatomy, and whether it is unfinished.
pub fn listed_finding(of: &AnatomyRecord) -> String {
    let mut finding = crate::anatomy::headline(&of.anatomy);
    if !of.completed {
        finding += &format!(" ({})", StateWord::EndedEarly.text());
    }
    finding
}

fn line(of: &ListedSeries) -> Vec<String> {
    let or_dash = |text: &str| if text.is_empty() { "–" } else { text }.to_owned();
    let runs = match of.completed == of.runs {
        true => of.runs.to_string(),
        false => format!("{}/{}", of.completed, of.runs),
    };
    let result = listed_result(of);
    vec![
        of.id.clone(),
        or_dash(&of.label),
        or_dash(&of.layer),
        runs,
        result,
        started(of.started_unix_ms),
    ]
}

fn verification(listed: &ListedVerification<'_>) -> Vec<String> {
    let of = listed.verification;
    let outcome = match (of.verdict.has_defects(), of.completed) {
        (true, _) => StateWord::Defects,
        (false, true) => StateWord::Good,
        (false, false) => StateWord::EndedEarly,
    };
    vec![
        listed.id.clone(),
        started(of.started_unix_ms),
        outcome.into(),
        verified_target(of),
    ]
}

fn anatomy(listed: &ListedAnatomy<'_>) -> Vec<String> {
    let of = listed.record;
    vec![
        listed.id.clone(),
        started(of.started_unix_ms),
        of.target.display_name(),
        listed_finding(of),
    ]
}

fn started(unix_ms: i64) -> String {
    let text = time::utc(unix_ms);
    let text = text.trim_end_matches(" UTC");
    // Seconds are of no use here.
    text.rsplit_once(':')
        .map_or(text, |(minutes, _)| minutes)
        .to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rate(phase: &str, op: Op, bytes: f64, block: f64) -> ListedRate {
        ListedRate {
            phase: phase.to_owned(),
            op,
            foreign: false,
            bandwidth: BytesPerSec(bytes),
            iops: Iops(bytes / block),
        }
    }

    fn series(id: &str, label: &str) -> ListedSeries {
        ListedSeries {
            id: id.to_owned(),
            label: label.to_owned(),
            layer: "ext4".to_owned(),
            completed: 3,
            runs: 3,
            traced: false,
            scenario: "quick".to_owned(),
            rates: vec![
                rate("seq-write", Op::Write, 34.0e6, 1048576.0),
                rate("seq-read", Op::Read, 92.1e6, 1048576.0),
                rate("rand-write", Op::Write, 2.6e6, 4096.0),
                rate("rand-read", Op::Read, 86.5e6, 4096.0),
                rate("durable", Op::Write, 1.0e6, 4096.0),
            ],
            started_unix_ms: 1_767_607_200_000,
        }
    }

    #[test]
    fn a_list_has_one_line_a_series() {
        let mut own = series("019b8d60", "");
        own.layer = String::new();
        (own.completed, own.traced) = (1, true);
        own.rates = vec![
            rate("mix", Op::Read, 1.0e6, 4096.0),
            rate("mix", Op::Write, 0.5e6, 4096.0),
            rate("log", Op::Write, 870e3, 65536.0),
        ];
        let mut unknown = series("019b8d61", "published");
        unknown.rates = Vec::new();
        let mut deep = series("019b8d62", "deep");
        deep.rates = vec![
            rate("read-4k-q32-j4", Op::Read, 86.5e6, 4096.0),
            rate("mixed", Op::Read, 1.0e6, 1048576.0),
            rate("mixed", Op::Write, 1.0e6, 1048576.0),
        ];
        let all = [
            series("019b8d5e", "SanDisk SE32G in a reader with a long name"),
            series("019b8d5f", "\u{1b}[2J"),
            own,
            unknown,
            deep,
        ];
        insta::assert_snapshot!(list_terminal(&all, &[], &[], usize::MAX, false));
        insta::assert_snapshot!(list_terminal(&all, &[], &[], 100, false));
    }

    #[test]
    fn a_foreign_workload_keeps_its_name() {
        let rate = |phase, foreign| ListedRate {
            foreign,
            ..rate(phase, Op::Read, 40.0e6, 1048576.0)
        };
        assert_eq!(
            headline(&[rate("rand-read", false)]),
            "Random reads 40.0 MB/s"
        );
        assert_eq!(headline(&[rate("rand-read", true)]), "rand-read 40.0 MB/s");
        let write = ListedRate {
            op: Op::Write,
            ..rate("rand-write", false)
        };
        let both = [rate("rand-read", true), write];
        assert_eq!(
            headline(&both),
            "rand-read 40.0 MB/s, random writes 40.0 MB/s"
        );
    }

    #[test]
    fn figures_have_three_digits() {
        let texts = [0.0, 0.874, 92.13, 512.4, 1355.0, 8436.0, 21_119.0, 1.5e6].map(short);
        assert_eq!(
            texts,
            [
                "0.00", "0.87", "92.1", "512", "1,355", "8,436", "21.1k", "1.50M"
            ]
        );
    }
}
