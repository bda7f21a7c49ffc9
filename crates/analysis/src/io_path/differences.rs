//! Why one layer or run takes longer than another, as a sum of differences of times.
//!
//! Times of parts add up; shares of factors do not say where time is lost. The product of ratios serves as a check.

use super::{asked, flushes, is_incomplete, of_op, ratio};
use crate::stats::SampleMoments;
use crate::stats::difference_interval;
use hakaru_model::io_path::{
    ClassTime, ClassTraffic, DeviceSplit, DifferencePart, IoClass, IoPath, OperationDifference,
    OperationLoad, OperationPath, PartDifference, PathComparison, PathIdentity, PathRefusal,
    PriceModel, TimeDifference, TimePart, shares_allowed,
};
use hakaru_model::job::Op;
use std::collections::BTreeSet;

/// Level of intervals.
const LEVEL: f64 = 0.95;

/// Compares traced runs of one workload with those on another layer or in another series.
///
/// # Errors
/// Refuses what would mislead: a side without traced runs or with lost events, and sides without a common kind of
/// operation.
pub fn compare_paths(
    base: &[&IoPath],
    other: &[&IoPath],
    prices: &[PriceModel],
) -> Result<PathComparison, PathRefusal> {
    match (base.is_empty(), other.is_empty()) {
        (true, true) => return Err(PathRefusal::NotTraced),
        (true, false) | (false, true) => return Err(PathRefusal::OneSideTraced),
        (false, false) => {}
    }
    if base.iter().chain(other).any(|path| is_incomplete(path)) {
        return Err(PathRefusal::EventsLost);
    }
    let kinds = common_kinds(base, other);
    if kinds.is_empty() {
        return Err(PathRefusal::NoCommonOperation);
    }
    let operations = kinds.into_iter().filter_map(|kind| {
        difference(
            &ComparedSide::of(base, kind)?,
            &ComparedSide::of(other, kind)?,
            prices,
        )
    });
    Ok(PathComparison {
        operations: operations.collect(),
        identity: identity(base, other),
    })
}

/// Operation, and whether it includes the `fsync` that followed it.
type OperationKind = (Option<Op>, bool);

/// Returns the kinds that all runs of both sides have. What all have with its `fsync` is not compared without.
fn common_kinds(base: &[&IoPath], other: &[&IoPath]) -> Vec<OperationKind> {
    let mut runs = base.iter().chain(other);
    let kinds = |path: &IoPath| -> Vec<OperationKind> {
        let operations = path.operations.iter();
        operations.map(|it| (it.op, it.with_sync)).collect()
    };
    let mut common = runs.next().map(|path| kinds(path)).unwrap_or_default();
    for path in runs {
        let kinds = kinds(path);
        common.retain(|kind| kinds.contains(kind));
    }
    let synced: Vec<Option<Op>> = common.iter().filter(|it| it.1).map(|it| it.0).collect();
    common.retain(|&(op, with_sync)| {
        let apart = op.is_none() || synced.contains(&op);
        with_sync || synced.is_empty() || !apart
    });
    common
}

/// Runs of one side, for one kind of operation.
struct ComparedSide<'a> {
    kind: OperationKind,
    runs: Vec<(&'a IoPath, &'a OperationPath)>,
}

impl<'a> ComparedSide<'a> {
    fn of(paths: &[&'a IoPath], kind: OperationKind) -> Option<ComparedSide<'a>> {
        let runs: Option<Vec<_>> = paths
            .iter()
            .map(|path| {
                let mut operations = path.operations.iter();
                let found = operations.find(|it| (it.op, it.with_sync) == kind)?;
                Some((*path, found))
            })
            .collect();
        Some(ComparedSide { kind, runs: runs? })
    }

    /// Returns a figure of each run.
    fn figures(&self, figure: impl Fn(&OperationPath) -> f64) -> Vec<f64> {
        self.runs.iter().map(|(_, it)| figure(it)).collect()
    }

    /// Returns the parts that occur in any run.
    fn parts(&self) -> BTreeSet<DifferencePart> {
        let runs = self.runs.iter().flat_map(|(_, operation)| {
            let classes = operation.classes.iter();
            let classes = classes.map(|it| DifferencePart::Device(it.class));
            let behind = operation.behind.iter();
            let behind = behind.map(|it| DifferencePart::Behind(it.class));
            let parts = TimePart::ALL.into_iter().map(DifferencePart::Time);
            classes.chain(behind).chain(parts)
        });
        runs.collect()
    }

    /// Returns the mean load of one operation.
    fn load(&self) -> OperationLoad {
        let loads: Vec<_> = self.runs.iter().map(|run| load(run, self.kind.0)).collect();
        let mean = |figure: fn(&OperationLoad) -> f64| {
            loads.iter().map(figure).sum::<f64>() / loads.len() as f64
        };
        OperationLoad {
            requests: mean(|it| it.requests),
            bytes: mean(|it| it.bytes),
            jumps: mean(|it| it.jumps),
            flushes: mean(|it| it.flushes),
        }
    }
}

/// Returns the load of one operation of a run. An `fsync` alone is charged with all writes.
fn load(&(path, operation): &(&IoPath, &OperationPath), op: Option<Op>) -> OperationLoad {
    let direction = op.unwrap_or(Op::Write);
    let ios = op.map_or(operation.count, |op| asked(path, op).0);
    let per_io = |count: u64| ratio(count as f64, ios as f64).unwrap_or(0.0);
    OperationLoad {
        requests: per_io(of_op(path, direction).map(ClassTraffic::own_requests).sum()),
        bytes: per_io(of_op(path, direction).map(ClassTraffic::own_bytes).sum()),
        jumps: per_io(of_op(path, direction).map(|it| it.runs).sum()),
        flushes: match direction {
            Op::Write => per_io(flushes(path)),
            Op::Read | Op::Trim => 0.0,
        },
    }
}

/// Returns the time of a part. Time on the device, and time behind others, is given by class as far as classes are known.
fn time_of(operation: &OperationPath, part: DifferencePart, by_class: ByClass) -> f64 {
    let of_class = |times: &[ClassTime], class: IoClass| -> f64 {
        let of_class = times.iter().filter(|it| it.class == class);
        // The sum of nothing is -0.
        of_class.map(|it| it.nanos).sum::<f64>() + 0.0
    };
    match part {
        DifferencePart::Device(_) if !by_class.device => 0.0,
        DifferencePart::Behind(_) if !by_class.behind => 0.0,
        DifferencePart::Device(class) => of_class(&operation.classes, class),
        DifferencePart::Behind(class) => of_class(&operation.behind, class),
        DifferencePart::Time(TimePart::Data | TimePart::Metadata) if by_class.device => 0.0,
        DifferencePart::Time(TimePart::WaitingBehind) if by_class.behind => 0.0,
        DifferencePart::Time(part) => operation.mean.of(part),
    }
}

/// Which times all runs of both sides have by class: older records do not have all of them.
#[derive(Clone, Copy)]
struct ByClass {
    device: bool,
    behind: bool,
}

impl ByClass {
    fn of(sides: [&ComparedSide<'_>; 2]) -> ByClass {
        let known = |parts: &[TimePart], of: fn(&OperationPath) -> &[ClassTime]| {
            let runs = sides.iter().flat_map(|side| &side.runs);
            runs.map(|(_, operation)| operation)
                .all(|it| !of(it).is_empty() || parts.iter().all(|&part| it.mean.of(part) == 0.0))
        };
        ByClass {
            device: known(&[TimePart::Data, TimePart::Metadata], |it| &it.classes),
            behind: known(&[TimePart::WaitingBehind], |it| &it.behind),
        }
    }
}

fn difference(
    base: &ComparedSide<'_>,
    other: &ComparedSide<'_>,
    prices: &[PriceModel],
) -> Option<OperationDifference> {
    let of = |figure: &dyn Fn(&OperationPath) -> f64| {
        time_difference(&base.figures(figure), &other.figures(figure))
    };
    let total = of(&|it| it.mean.total())?;
    let by_class = ByClass::of([base, other]);
    let mut parts = Vec::new();
    for part in base.parts().union(&other.parts()) {
        let figure = |it: &OperationPath| time_of(it, *part, by_class);
        let is_used =
            |side: &ComparedSide<'_>| side.figures(figure).iter().any(|&time| time != 0.0);
        if is_used(base) || is_used(other) {
            parts.push(PartDifference {
                part: *part,
                base: mean(&base.figures(figure))?,
                other: mean(&other.figures(figure))?,
                time: of(&figure)?,
            });
        }
    }
    parts.sort_by(|a, b| b.time.value.abs().total_cmp(&a.time.value.abs()));
    let (base_load, other_load) = (base.load(), other.load());
    let (op, with_sync) = base.kind;
    let price = prices.iter().find(|price| op == Some(price.op));
    Some(OperationDifference {
        op,
        with_sync,
        base: mean(&base.figures(|it| it.mean.total()))?,
        other: mean(&other.figures(|it| it.mean.total()))?,
        total,
        shares_allowed: shares_allowed(total.value, parts.iter().map(|part| part.time.value)),
        device: price.map(|price| device_split(price, &parts, &base_load, &other_load)),
        parts,
        base_load,
        other_load,
    })
}

fn mean(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}

fn time_difference(base: &[f64], other: &[f64]) -> Option<TimeDifference> {
    let moments = (
        SampleMoments::independent(base),
        SampleMoments::independent(other),
    );
    Some(TimeDifference {
        value: mean(other)? - mean(base)?,
        ci95: match moments {
            (Some(base), Some(other)) => difference_interval(&base, &other, LEVEL),
            _ => None,
        },
    })
}

/// Divides the difference of device time by the prices of requests, bytes and jumps.
fn device_split(
    price: &PriceModel,
    parts: &[PartDifference],
    base: &OperationLoad,
    other: &OperationLoad,
) -> DeviceSplit {
    let on_device = |part: &&PartDifference| match part.part {
        DifferencePart::Device(class) => class != IoClass::Flush,
        DifferencePart::Time(part) => matches!(part, TimePart::Data | TimePart::Metadata),
        DifferencePart::Behind(_) => false,
    };
    let device: f64 = parts.iter().filter(on_device).map(|it| it.time.value).sum();
    let requests = (other.requests - base.requests) * price.request;
    let bytes = (other.bytes - base.bytes) * price.byte;
    let jumps = (other.jumps - base.jumps) * price.jump;
    DeviceSplit {
        requests,
        bytes,
        jumps,
        remainder: device - requests - bytes - jumps,
        runs: price.runs,
        misfit: price.misfit,
    }
}

/// Totals of the runs of one side.
#[derive(Clone, Copy)]
struct SideTotals {
    asked: f64,
    moved: f64,
    device: f64,
    flush: f64,
    wall: f64,
}

impl SideTotals {
    fn of(paths: &[&IoPath]) -> SideTotals {
        let sum = |figure: fn(&IoPath) -> u64| -> f64 {
            paths.iter().map(|path| figure(path) as f64).sum()
        };
        SideTotals {
            asked: sum(|path| Op::ALL.iter().map(|&op| asked(path, op).1.0).sum()),
            moved: sum(|path| path.classes.iter().map(|it| it.bytes.0).sum()),
            device: sum(|path| path.busy.0.saturating_sub(path.flush_only.0)),
            flush: sum(|path| path.flush_only.0),
            wall: sum(|path| path.window.0),
        }
    }
}

fn identity(base: &[&IoPath], other: &[&IoPath]) -> Option<PathIdentity> {
    let (base, other) = (SideTotals::of(base), SideTotals::of(other));
    let of = |figure: fn(&SideTotals) -> Option<f64>| ratio(figure(&other)?, figure(&base)?);
    Some(PathIdentity {
        time: of(|it| ratio(it.wall, it.asked))?,
        bytes: of(|it| ratio(it.moved, it.asked))?,
        time_per_byte: of(|it| ratio(it.device, it.moved))?,
        flush: of(|it| ratio(it.device + it.flush, it.device))?,
        waiting: of(|it| ratio(it.wall, it.device + it.flush))?,
    })
}
