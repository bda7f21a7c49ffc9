//! Means and percentiles of the parts of operations.

use super::{OperationSpan, Parts, Sweep, SweepBuffers};
use hakaru_model::io_path::{ClassTime, IoClass, OperationPath, TimeParts, TracedOperation};
use hakaru_model::job::Op;
use hakaru_model::units::Nanos;
use std::collections::HashMap;
use std::ops::Range;

/// Fewest operations for the parts of the median.
const MEDIAN_OPERATIONS: usize = 20;
/// Fewest operations for the parts of the 99th percentile.
const P99_OPERATIONS: usize = 200;

/// Divides all operations, by kind; those that were mostly followed by an `fsync` also together with it.
pub(crate) fn operation_paths(
    sweep: &Sweep<'_>,
    operations: &[TracedOperation],
) -> Vec<OperationPath> {
    let kinds = Op::ALL.into_iter().map(Some).chain([None]);
    let mut paths = Vec::new();
    for kind in kinds {
        let indexes = (0..operations.len() as u32)
            .filter(|&index| operations[index as usize].op == kind)
            .map(|index| (index, None))
            .collect();
        paths.extend(path(sweep, operations, kind, indexes));
    }
    for (kind, pairs) in synced(operations) {
        let single = paths.iter().find(|it| it.op == Some(kind) && !it.with_sync);
        if single.is_some_and(|it| pairs.len() as u64 * 2 >= it.count) {
            paths.extend(path(sweep, operations, Some(kind), pairs));
        }
    }
    paths
}

/// An operation, and the `fsync` that followed it.
type OperationPair = (u32, Option<u32>);

/// Returns the operations that their thread followed by an `fsync`, by kind.
fn synced(operations: &[TracedOperation]) -> Vec<(Op, Vec<OperationPair>)> {
    let mut order: Vec<u32> = (0..operations.len() as u32).collect();
    let at = |index: u32| &operations[index as usize];
    order.sort_by_key(|&index| (at(index).tid, at(index).begin));
    let mut pairs: HashMap<Op, Vec<OperationPair>> = HashMap::new();
    for neighbors in order.windows(2) {
        let (first, next) = (at(neighbors[0]), at(neighbors[1]));
        let follows = first.tid == next.tid && next.op.is_none() && next.begin >= first.end;
        if let (Some(op), true) = (first.op, follows) {
            let pair = (neighbors[0], Some(neighbors[1]));
            pairs.entry(op).or_default().push(pair);
        }
    }
    let mut pairs: Vec<_> = pairs.into_iter().collect();
    pairs.sort_by_key(|(op, _)| *op);
    pairs
}

/// Sums of parts.
#[derive(Default)]
struct PartSums {
    count: u64,
    parts: [u128; 8],
    classes: ClassSums,
    behind: ClassSums,
}

/// Nanoseconds by class.
type ClassSums = [u128; IoClass::ALL.len()];

impl PartSums {
    fn add(&mut self, parts: &Parts) {
        self.count += 1;
        let add = |sums: &mut [u128], times: &[u64]| {
            for (sum, &time) in sums.iter_mut().zip(times) {
                *sum += u128::from(time);
            }
        };
        add(&mut self.parts, &parts.parts);
        add(&mut self.classes, &parts.classes);
        add(&mut self.behind, &parts.behind);
    }

    fn mean(&self) -> Option<TimeParts> {
        let mean = |sum: u128| sum as f64 / self.count as f64;
        (self.count > 0).then(|| TimeParts(self.parts.map(mean)))
    }

    fn class_times(&self, sums: &ClassSums) -> Vec<ClassTime> {
        let classes = IoClass::ALL.into_iter().zip(sums);
        classes
            .filter(|(_, sum)| **sum > 0)
            .map(|(class, &sum)| ClassTime {
                class,
                nanos: sum as f64 / self.count as f64,
            })
            .collect()
    }
}

fn path(
    sweep: &Sweep<'_>,
    operations: &[TracedOperation],
    op: Option<Op>,
    mut pairs: Vec<OperationPair>,
) -> Option<OperationPath> {
    let at = |index: u32| operations[index as usize];
    let span = |&(first, sync): &OperationPair| (at(first).begin, at(sync.unwrap_or(first)).end);
    let latency = |pair: &OperationPair| {
        let (begin, end) = span(pair);
        end.saturating_sub(begin)
    };
    let with_sync = pairs.first()?.1.is_some();
    pairs.sort_by_key(|pair| (latency(pair), pair.0));
    let count = pairs.len();
    let middle = ranks(count, (450, 550), MEDIAN_OPERATIONS);
    let high = ranks(count, (985, 995), P99_OPERATIONS);
    let (mut all, mut median, mut p99) = (
        PartSums::default(),
        PartSums::default(),
        PartSums::default(),
    );
    let mut total = 0_u128;
    let mut scratch = SweepBuffers::default();
    for (rank, pair) in pairs.iter().enumerate() {
        let mut members = vec![(pair.0, at(pair.0))];
        members.extend(pair.1.map(|sync| (sync, at(sync))));
        let (begin, end) = span(pair);
        let interval = OperationSpan {
            begin,
            end: end.max(begin),
            tid: at(pair.0).tid,
            operations: &members,
        };
        let parts = sweep.divide(&interval, &mut scratch);
        debug_assert_eq!(parts.parts.iter().sum::<u64>(), latency(pair));
        total += u128::from(latency(pair));
        all.add(&parts);
        if middle.contains(&rank) {
            median.add(&parts);
        }
        if high.contains(&rank) {
            p99.add(&parts);
        }
    }
    let mean = all.mean()?;
    Some(OperationPath {
        op,
        with_sync,
        count: count as u64,
        mean,
        median: median.mean(),
        p99: p99.mean(),
        classes: all.class_times(&all.classes),
        behind: all.class_times(&all.behind),
        mean_latency: Nanos((total as f64 / count as f64).round() as u64),
    })
}

/// Returns the ranks between two thousandths of the count; none with too few operations.
fn ranks(count: usize, (low, high): (usize, usize), fewest: usize) -> Range<usize> {
    if count < fewest {
        return 0..0;
    }
    count * low / 1000..(count * high).div_ceil(1000)
}
