//! Sums over the classes of a path.

use crate::text::PathLabel;
use hakaru_model::io_path::{
    ClassGroup, ClassTraffic, IoClass, IoPath, OperationPath, TimePart, TimeParts,
};
use hakaru_model::job::Op;
use hakaru_model::units::Bytes;

/// Bytes that the application asked for, of one operation or of all.
pub(super) fn asked_bytes(path: &IoPath, op: Option<Op>) -> f64 {
    let of_op = path
        .asked
        .iter()
        .filter(|size| op.is_none_or(|op| size.op == op));
    of_op
        .map(|size| size.size.0 as f64 * size.count as f64)
        .sum()
}

/// Number of the application's I/Os of an operation.
pub(super) fn asked_count(path: &IoPath, op: Op) -> u64 {
    let of_op = path.asked.iter().filter(|size| size.op == op);
    sum(of_op.map(|size| size.count))
}

/// The size of the application's I/Os of an operation, if all have the same.
pub(super) fn only_size(path: &IoPath, op: Op) -> Option<Bytes> {
    let mut of_op = path
        .asked
        .iter()
        .filter(|size| size.op == op && size.count > 0);
    match (of_op.next(), of_op.next()) {
        (Some(only), None) => Some(only.size),
        _ => None,
    }
}

/// Operations that the application asked for.
pub(super) fn asked_ops(path: &IoPath) -> Vec<Op> {
    let asked = |op: &Op| asked_count(path, *op) > 0;
    Op::ALL.into_iter().filter(asked).collect()
}

/// Classes with bytes of an operation.
pub(super) fn classes(path: &IoPath, op: Op) -> impl Iterator<Item = &ClassTraffic> {
    path.classes
        .iter()
        .filter(move |class| class.op == Some(op))
}

/// Requests of an operation, without flushes.
pub(super) fn requests(path: &IoPath, op: Op) -> u64 {
    sum(classes(path, op).map(|class| class.requests))
}

/// Bytes at the device of an operation.
pub(super) fn moved_by(path: &IoPath, op: Op) -> u64 {
    sum(classes(path, op).map(|class| class.bytes.0))
}

/// Sum of counts, which may be damaged in an imported record.
pub(super) fn sum(counts: impl Iterator<Item = u64>) -> u64 {
    counts.fold(0, u64::saturating_add)
}

/// Flushes sent to the device.
pub(super) fn flushes(path: &IoPath) -> u64 {
    let flushes = path
        .classes
        .iter()
        .filter(|class| class.class == IoClass::Flush);
    sum(flushes.map(|class| class.requests))
}

/// Bytes at the device of all operations.
pub(super) fn moved(path: &IoPath) -> f64 {
    sum(path.classes.iter().map(|class| class.bytes.0)) as f64
}

/// Sums of a group of classes, of one operation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct GroupSum {
    pub(super) group: ClassGroup,
    pub(super) op: Op,
    pub(super) bytes: u64,
    pub(super) bios: u64,
    pub(super) requests: u64,
    pub(super) merges: u64,
    pub(super) splits: u64,
}

/// Groups with bytes, in the order of pictures.
pub(super) fn groups(path: &IoPath) -> Vec<GroupSum> {
    let all = ClassGroup::ALL
        .into_iter()
        .flat_map(|group| Op::ALL.map(|op| (group, op)));
    let sum = |(group, op): (ClassGroup, Op)| {
        let of_group = |class: &&ClassTraffic| class.class.group() == group;
        let members: Vec<&ClassTraffic> = classes(path, op).filter(of_group).collect();
        let total = |of: fn(&ClassTraffic) -> u64| sum(members.iter().map(|class| of(class)));
        GroupSum {
            group,
            op,
            bytes: total(|class| class.bytes.0),
            bios: total(|class| class.bios),
            requests: total(|class| class.requests),
            merges: total(|class| class.merges),
            splits: total(|class| class.splits),
        }
    };
    let sums = all.map(sum);
    sums.filter(|sum| sum.bytes > 0 || sum.requests > 0)
        .collect()
}

/// Bytes of a picture per byte of the application; bytes alone if nothing was asked.
pub(super) fn per_asked_byte(path: &IoPath, bytes: f64) -> f64 {
    let asked = asked_bytes(path, None);
    match asked > 0.0 {
        true => bytes / asked,
        false => bytes / moved(path).max(1.0),
    }
}

/// Width of the widest stage of a flow picture.
pub(super) fn widest(path: &IoPath) -> f64 {
    per_asked_byte(path, moved(path)).max(1.0)
}

/// A percentile of an operation, with its parts.
pub(super) struct PercentileParts<'a> {
    /// `median`, `P99` or `mean`.
    pub(super) name: &'static str,
    pub(super) parts: &'a TimeParts,
}

/// The median and the P99 of an operation; the mean if there are too few operations.
pub(super) fn percentiles(of: &OperationPath) -> Vec<PercentileParts<'_>> {
    let found = [
        (PathLabel::Median.text(), of.median.as_ref()),
        ("P99", of.p99.as_ref()),
    ];
    let mut all: Vec<PercentileParts<'_>> = found
        .into_iter()
        .filter_map(|(name, parts)| {
            Some(PercentileParts {
                name,
                parts: parts?,
            })
        })
        .collect();
    if all.is_empty() {
        all.push(PercentileParts {
            name: PathLabel::Mean.text(),
            parts: &of.mean,
        });
    }
    all.retain(|percentile| percentile.parts.total() > 0.0);
    all
}

/// Parts without zeros, in the order of charts: from the application to the device.
pub(super) fn chart_parts(parts: &TimeParts) -> Vec<(TimePart, f64)> {
    const ORDER: [TimePart; 8] = [
        TimePart::FileSystem,
        TimePart::JournalCommit,
        TimePart::BlockQueue,
        TimePart::WaitingBehind,
        TimePart::Data,
        TimePart::Metadata,
        TimePart::Flush,
        TimePart::WakeUp,
    ];
    let timed = ORDER.map(|part| (part, parts.of(part)));
    timed
        .into_iter()
        .filter(|(_, nanos)| *nanos > 0.0)
        .collect()
}

/// The operation that represents a phase: that with the most time.
pub(super) fn main_operation(path: &IoPath) -> Option<&OperationPath> {
    let time = |of: &&OperationPath| of.count as f64 * of.mean.total();
    let all = path.operations.iter().filter(|of| of.count > 0);
    all.max_by(|a, b| time(a).total_cmp(&time(b)))
}

/// Kinds of operations that a picture shows: an operation with its `fsync` stands for both of its calls.
pub(super) fn shown_operations(path: &IoPath) -> Vec<&OperationPath> {
    let synced = |of: &OperationPath| {
        let mut pairs = path.operations.iter().filter(|it| it.with_sync);
        pairs.any(|pair| of.op.is_none() || of.op == pair.op)
    };
    let all = path.operations.iter();
    all.filter(|of| of.with_sync || !synced(of)).collect()
}

/// Whether the file system has a journal.
pub(super) fn has_journal(path: &IoPath) -> bool {
    let of_path = path.classes.iter().map(|class| class.class);
    let mut all = of_path.chain(path.layout.iter().map(|range| range.class));
    all.any(|class| class == IoClass::Journal)
}

/// Whether the application waited for `fsync` or similar calls.
pub(super) fn syncs(path: &IoPath) -> bool {
    path.operations
        .iter()
        .any(|of| of.with_sync || of.op.is_none())
}
