//! What phases measure, for the rows of a rate card and the nouns of sentences.

mod foreign;

pub(crate) use foreign::{is_foreign, with_workloads_described, with_workloads_of, words_of_job};

use crate::{naming, number, text};
use hakaru_model::finding::{PhaseSummary, Summary, WorkloadShape};
use hakaru_model::job::Op;
use hakaru_model::units::Bytes;

/// A kind of workload with an established name, from its shape.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum WorkloadKind {
    Sequential,
    Random,
    /// Reads and writes in one job.
    Mixed,
    /// Every write is flushed to the medium.
    Durable,
    /// The longest of several sequential workloads, for the speed after a cache is full.
    Sustained,
    /// The same in a second pass: a rewrite or re-read of `iozone`.
    Repeated,
}

/// The kind of a phase; `None` if the shape of its workload is unknown.
pub(crate) fn kind(summary: &Summary, phase: &PhaseSummary) -> Option<WorkloadKind> {
    let shape = phase.detail.shape.as_ref()?;
    let kind = plain_kind(shape);
    let like = |other: &&PhaseSummary| {
        let other_kind = other.detail.shape.as_ref().map(plain_kind);
        other.op == phase.op
            && other.phase != phase.phase
            && other_kind == Some(kind)
            && !is_second_pass(&other.phase, other.op)
    };
    let mut others = summary.phases.iter().filter(like).peekable();
    let longest = phase.sustained.is_some()
        && others.peek().is_some()
        && others.all(|other| other.detail.measured < phase.detail.measured);
    match kind {
        WorkloadKind::Sequential if is_second_pass(&phase.phase, phase.op) => {
            Some(WorkloadKind::Repeated)
        }
        WorkloadKind::Sequential if longest => Some(WorkloadKind::Sustained),
        kind => Some(kind),
    }
}

/// Whether a name is that of a test of `iozone` that repeats the one before it.
fn is_second_pass(phase: &str, op: Op) -> bool {
    matches!(
        (phase, op),
        ("rewrite", Op::Write) | ("re-read" | "reread", Op::Read)
    )
}

fn plain_kind(shape: &WorkloadShape) -> WorkloadKind {
    match shape {
        shape if shape.sync_every > 0 || shape.sync_open => WorkloadKind::Durable,
        shape if shape.is_mixed() => WorkloadKind::Mixed,
        shape if shape.random => WorkloadKind::Random,
        _ => WorkloadKind::Sequential,
    }
}

/// A workload of the standard suite, of the deep suite or of a ready campaign, from its name.
struct SuiteWorkloadName {
    kind: WorkloadKind,
    /// `None` if the name does not say it.
    op: Option<Op>,
    block: Option<Bytes>,
    /// Queue depth and number of workers, or what is known of them: `Q32 T4`.
    load: Option<String>,
}

impl SuiteWorkloadName {
    /// Parses `rand-write`, `seq-read-1M`, `rand-write-4k-16jobs`, `mixed`, `durable`, `sustained-write-1M` and
    /// `read-4k-q32-j4`. `None` for names that users chose.
    fn parse(name: &str) -> Option<SuiteWorkloadName> {
        use WorkloadKind::*;
        let parts: Vec<&str> = name.split('-').collect();
        let (kind, op, rest) = match parts[..] {
            ["seq", "rw", ref rest @ ..] => (Mixed, None, rest),
            ["seq", op, ref rest @ ..] => (Sequential, Some(operation(op)?), rest),
            ["rand" | "random", op, ref rest @ ..] => (Random, Some(operation(op)?), rest),
            ["mixed"] => (Mixed, None, &[][..]),
            // Tests of iozone.
            [op @ ("read" | "write")] => (Sequential, Some(operation(op)?), &[][..]),
            ["rewrite"] => (Repeated, Some(Op::Write), &[][..]),
            ["re", "read"] | ["reread"] => (Repeated, Some(Op::Read), &[][..]),
            ["durable", ref rest @ ..] => (Durable, Some(Op::Write), rest),
            ["sustained", "write", ref rest @ ..] | ["sustained", ref rest @ ..] => {
                (Sustained, Some(Op::Write), rest)
            }
            ["mix", _, _, _] => (Mixed, None, &parts[1..]),
            [op, _, _, _] => (Random, Some(operation(op)?), &parts[1..]),
            _ => return None,
        };
        let number = |text: &str| text.parse::<u32>().ok();
        let (block, load) = match rest {
            [] => (None, None),
            [size] => (Some(*size), None),
            [size, jobs] => {
                let jobs = number(jobs.strip_suffix("jobs")?)?;
                (Some(*size), Some(format!("T{jobs}")))
            }
            [size, depth, jobs] => {
                let (depth, jobs) = (depth.strip_prefix('q')?, jobs.strip_prefix('j')?);
                let (depth, jobs) = (number(depth)?, number(jobs)?);
                (Some(*size), Some(format!("Q{depth} T{jobs}")))
            }
            _ => return None,
        };
        let block = match block {
            Some(size) => Some(block_of(size)?),
            None => None,
        };
        Some(SuiteWorkloadName {
            kind,
            op,
            block,
            load,
        })
    }
}

impl SuiteWorkloadName {
    /// Whether a workload is the one that the name says, as far as it says it.
    fn fits(&self, shape: &WorkloadShape) -> bool {
        let kind = match self.kind {
            WorkloadKind::Sustained | WorkloadKind::Repeated => WorkloadKind::Sequential,
            kind => kind,
        };
        let load = format!("Q{} T{}", shape.iodepth, shape.workers);
        plain_kind(shape) == kind
            && self.block.is_none_or(|block| block == shape.block)
            && (self.load.as_deref()).is_none_or(|own| load.ends_with(own))
    }
}

fn operation(name: &str) -> Option<Op> {
    [Op::Read, Op::Write]
        .into_iter()
        .find(|op| op.name() == name)
}

/// Parses `4k` and `1M`.
fn block_of(size: &str) -> Option<Bytes> {
    let units = [('k', 10), ('m', 20)];
    let (unit, shift) = units
        .into_iter()
        .find(|(unit, _)| size.to_ascii_lowercase().ends_with(*unit))?;
    let number = size.strip_suffix([unit, unit.to_ascii_uppercase()])?;
    let number = number.parse::<u32>().ok()?;
    Some(Bytes(u64::from(number) << shift))
}

/// The name of a phase in words, if it is a workload of hakaru's own: `random writes of 4 KiB` for `rand-write-4k`.
/// Without an operation, the one of its name.
///
/// A number in parentheses tells jobs of one name apart, and stays: `random writes (2)`. `None` for a name that the
/// report has for another workload, and for names of users unless the report describes them.
pub(crate) fn in_words(phase: &str, op: Option<Op>) -> Option<String> {
    let own = words(phase, op).filter(|_| !foreign::is_kept(phase));
    own.or_else(|| words_of_job(phase, op))
}

/// The words for a name, whatever it was given to.
fn words(phase: &str, op: Option<Op>) -> Option<String> {
    if let Some((own, number)) = numbered(phase) {
        return words(own, op).map(|words| text::workload_numbered(&words, number));
    }
    let name = SuiteWorkloadName::parse(phase)?;
    let noun = match op.or(name.op) {
        Some(op) if name.op.is_none_or(|own| own == op) => text::workload(name.kind, op).to_owned(),
        Some(_) => return None,
        None => text::row_kind(name.kind).to_lowercase(),
    };
    let sized = match name.block {
        Some(block) => text::workload_of_size(&noun, &number::block_size(block)),
        None => noun,
    };
    let parts: Vec<String> = std::iter::once(sized).chain(name.load).collect();
    Some(text::enumerated(&parts))
}

/// The name of a measured phase in words, as [`in_words`], unless its workload is another one than the name says: users
/// may give any name to any job.
pub(crate) fn of_phase(phase: &PhaseSummary) -> Option<String> {
    of_shape(&phase.phase, phase.op, phase.detail.shape.as_ref())
}

/// As [`of_phase`], for a name with the shape of its workload.
pub(crate) fn of_shape(phase: &str, op: Op, shape: Option<&WorkloadShape>) -> Option<String> {
    let own = numbered(phase).map_or(phase, |(own, _)| own);
    let name = SuiteWorkloadName::parse(own)?;
    words(phase, Some(op)).filter(|_| shape.is_none_or(|shape| name.fits(shape)))
}

/// The name and the number of `rand-write (2)`.
fn numbered(phase: &str) -> Option<(&str, u32)> {
    let (name, number) = phase.strip_suffix(')')?.rsplit_once(" (")?;
    Some((name, number.parse().ok()?))
}

/// A phase with its operation: in words, or `db-log write`.
pub(crate) fn of_operation(phase: &str, op: Op) -> String {
    match in_words(phase, Some(op)) {
        Some(words) => text::capital(&words),
        None => own_name(phase, op),
    }
}

/// The name that a user gave to a phase, with its operation: `db-log write`.
pub(crate) fn own_name(phase: &str, op: Op) -> String {
    match phase == op.name() {
        true => crate::escape::plain(phase),
        false => format!("{} {}", crate::escape::plain(phase), op.name()),
    }
}

/// The compared figure of a phase in words: `Random writes, IOPS` for `rand-write write IOPS`.
pub(crate) fn compared_figure(quantity: &str) -> String {
    let own = compared_workload(quantity);
    let own = own.map(|(workload, figure)| text::compared_figure_of(&workload, figure));
    crate::escape::plain(&own.unwrap_or_else(|| text::compared_quantity(quantity)))
}

/// The workload of a compared rate in words. A ratio needs no unit, and that of bandwidths is that of IOPS.
pub(crate) fn compared_rate(quantity: &str) -> String {
    match compared_workload(quantity) {
        Some((workload, "bandwidth" | "IOPS")) => crate::escape::plain(&workload),
        _ => compared_figure(quantity),
    }
}

/// The workload of a compared figure in words, and the name of the figure; `None` for names of the user.
pub(crate) fn compared_workload(quantity: &str) -> Option<(String, &str)> {
    let of_op = |op: Op| {
        // A job that is named after its operation stands once.
        let named = quantity.split_once(&format!(" {} ", op.name()));
        let own = || {
            Some((
                op.name(),
                quantity.strip_prefix(op.name())?.strip_prefix(' ')?,
            ))
        };
        let (phase, figure) = named.or_else(own)?;
        Some((text::capital(&in_words(phase, Some(op))?), figure))
    };
    [Op::Read, Op::Write].into_iter().find_map(of_op)
}

/// A phase as a noun of a sentence before it is unique.
#[derive(Clone, Debug)]
pub(crate) struct WorkloadName {
    pub(crate) kind: Option<WorkloadKind>,
    pub(crate) op: Op,
    pub(crate) shape: Option<WorkloadShape>,
    /// Display name of the phase, if nothing else is unique.
    pub(crate) label: String,
}

impl WorkloadName {
    pub(crate) fn of(summary: &Summary, phase: &PhaseSummary) -> WorkloadName {
        WorkloadName {
            kind: kind(summary, phase),
            op: phase.op,
            shape: phase.detail.shape,
            label: of_phase(phase).unwrap_or_else(|| naming::phase(summary, phase)),
        }
    }
}

/// A different plural noun for each phase: `random writes`, `random writes of 64 KiB`.
pub(crate) fn nouns(names: &[WorkloadName]) -> Vec<String> {
    let bare = |name: &WorkloadName| name.kind.map(|kind| text::workload(kind, name.op));
    let sized = |name: &WorkloadName| {
        let (noun, shape) = (bare(name)?, name.shape?);
        Some(text::workload_of_size(
            noun,
            &number::block_size(shape.block),
        ))
    };
    let once = |all: &[Option<String>], noun: &Option<String>| {
        noun.is_some() && all.iter().filter(|other| *other == noun).count() == 1
    };
    let all_bare: Vec<Option<String>> = names
        .iter()
        .map(|name| bare(name).map(str::to_owned))
        .collect();
    let all_sized: Vec<Option<String>> = names.iter().map(sized).collect();
    let chosen = names.iter().zip(all_bare.iter().zip(&all_sized));
    chosen
        .map(|(name, (bare, sized))| {
            match () {
                () if once(&all_bare, bare) => bare.clone(),
                () if once(&all_sized, sized) => sized.clone(),
                () => None,
            }
            .unwrap_or_else(|| name.label.clone())
        })
        .collect()
}

/// The nouns of the phases of a summary, in order.
pub(crate) fn nouns_of(summary: &Summary) -> Vec<String> {
    let names = summary.phases.iter();
    let names: Vec<WorkloadName> = names
        .map(|phase| WorkloadName::of(summary, phase))
        .collect();
    nouns(&names)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn own_workloads_have_words_and_other_names_stay() {
        let words = |name| in_words(name, None).unwrap_or_default();
        assert_eq!(words("rand-write"), "random writes");
        assert_eq!(words("seq-read-1M"), "sequential reads of 1 MiB");
        assert_eq!(words("mixed"), "mixed");
        assert_eq!(words("durable"), "durable writes");
        assert_eq!(words("sustained-write-1M"), "sustained writes of 1 MiB");
        assert_eq!(words("rand-write-4k-16jobs"), "random writes of 4 KiB, T16");
        assert_eq!(words("read-4k-q32-j4"), "random reads of 4 KiB, Q32 T4");
        assert_eq!(words("rewrite"), "rewrites");
        assert_eq!(words("re-read"), "re-reads");
        assert_eq!(words("rand-write-4k (2)"), "random writes of 4 KiB (2)");
        let mixed = |op| in_words("mix-64k-q1-j4", Some(op));
        let wanted = "writes of a mix of 64 KiB, Q1 T4";
        assert_eq!(mixed(Op::Write).as_deref(), Some(wanted));
        for name in [
            "db-write",
            "seq",
            "seq-append",
            "rand-write-4q",
            "read",
            "write-1m",
            "mixed-2",
            "db (2)",
            "rand-write (two)",
            "q1",
            "",
        ] {
            assert_eq!(in_words(name, Some(Op::Write)), None, "{name}");
        }
        // The reads of a job of another name than its own.
        assert_eq!(in_words("rand-write", Some(Op::Read)), None);
        assert_eq!(
            compared_figure("rand-write write IOPS"),
            "Random writes, IOPS"
        );
        assert_eq!(compared_figure("db write IOPS"), "db write IOPS");
        crate::text::with_language(crate::text::Language::Japanese, || {
            assert_eq!(words("rand-write-4k"), "ランダム書き込み（4 KiB）");
            assert_eq!(words("rand-write (2)"), "ランダム書き込み(2)");
            let figure = compared_figure("durable write sync P99");
            assert_eq!(figure, "fsync付き書き込みのfsyncのP99");
        });
    }

    #[test]
    fn words_say_what_was_measured() {
        let words = |name: &str, random, block: u64| {
            let shape = WorkloadShape {
                random,
                block: Bytes(block),
                read_percent: 100,
                iodepth: 32,
                workers: 1,
                ..WorkloadShape::default()
            };
            of_shape(name, Op::Read, Some(&shape))
        };
        let wanted = Some("random reads of 1 MiB, Q32 T1");
        assert_eq!(words("read-1m-q32-j1", true, 1 << 20).as_deref(), wanted);
        assert_eq!(words("read-1m-q32-j1", false, 1 << 20), None);
        assert_eq!(words("read-1m-q32-j4", true, 1 << 20), None);
        assert_eq!(words("rand-read-4k", true, 1 << 20), None);
        assert_eq!(words("rand-read (2)", false, 4096), None);
        assert!(words("seq-read", false, 4096).is_some());
    }

    #[test]
    fn a_noun_names_one_phase_only() {
        let name = |label: &str, random, block| WorkloadName {
            kind: Some(match random {
                true => WorkloadKind::Random,
                false => WorkloadKind::Sequential,
            }),
            op: Op::Write,
            shape: Some(WorkloadShape {
                random,
                block: Bytes(block),
                ..WorkloadShape::default()
            }),
            label: label.to_owned(),
        };
        let all = [
            name("seq", false, 1 << 20),
            name("small", true, 4096),
            name("large", true, 65536),
            name("deep", true, 65536),
        ];
        let wanted = [
            "sequential writes",
            "random writes of 4 KiB",
            "large",
            "deep",
        ];
        assert_eq!(nouns(&all), wanted);
    }
}
