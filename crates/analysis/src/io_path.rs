//! Findings about the path of I/Os: amplification, shares of time, what limits a phase, and why one layer takes longer
//! than another.

mod differences;
mod prices;
mod series;
#[cfg(test)]
pub(crate) mod tests;

pub use differences::compare_paths;
pub use prices::price_model;
pub use series::compare_traced;
pub(crate) use series::{compare_traced_with, traced_series};

use hakaru_model::io_path::{
    ClassAmplification, ClassTraffic, IoClass, IoPath, OperationPath, PathFindings, PathLimit,
    PathTraffic, TimePart, TimeShares,
};
use hakaru_model::job::Op;
use hakaru_model::units::Bytes;

/// Share of the time in which the device has work from which on it is the limit. With one I/O at a time a device is
/// idle at least between completion and next submission, so less than all of the time can be its limit.
pub const DEVICE_LIMIT: f64 = 0.9;
/// Share of the time in which the device has work below which the host is the limit.
pub const HOST_LIMIT: f64 = 0.5;

/// Returns what a traced phase shows.
pub fn path_findings(path: &IoPath) -> PathFindings {
    let ios: u64 = path.asked.iter().map(|size| size.count).sum();
    let device_share = ratio(path.busy.0 as f64, path.window.0 as f64).unwrap_or(0.0);
    let device_share = device_share.min(1.0);
    let ops = Op::ALL.into_iter();
    PathFindings {
        traffic: ops.filter_map(|op| traffic(path, op)).collect(),
        flushes_per_io: ratio(flushes(path) as f64, ios as f64).unwrap_or(0.0),
        shares: path.operations.iter().filter_map(shares).collect(),
        device_share,
        host_share: 1.0 - device_share,
        limit: match device_share {
            share if share >= DEVICE_LIMIT => PathLimit::Device,
            share if share < HOST_LIMIT => PathLimit::Host,
            _ => PathLimit::Both,
        },
        incomplete: is_incomplete(path),
    }
}

/// Whether so many events were lost that sums are not to be trusted.
fn is_incomplete(path: &IoPath) -> bool {
    path.tracer.lost_share() > IoPath::LOSS_LIMIT
}

/// Returns the traffic in one direction; `None` if neither the application nor the device had any.
fn traffic(path: &IoPath, op: Op) -> Option<PathTraffic> {
    let (ios, asked) = asked(path, op);
    let classes: Vec<&ClassTraffic> = of_op(path, op).collect();
    let requests = classes.iter().map(|class| class.requests).sum();
    let moved: u64 = classes.iter().map(|class| class.bytes.0).sum();
    let per_byte = |bytes: u64| ratio(bytes as f64, asked.0 as f64);
    let per_io = |requests: u64| ratio(requests as f64, ios as f64);
    (ios > 0 || requests > 0 || moved > 0).then(|| PathTraffic {
        op,
        ios,
        asked,
        requests,
        moved: Bytes(moved),
        amplification: per_byte(classes.iter().map(|class| class.own_bytes()).sum()),
        requests_per_io: per_io(classes.iter().map(|class| class.own_requests()).sum()),
        classes: classes
            .iter()
            .map(|class| ClassAmplification {
                class: class.class,
                bytes: class.bytes,
                amplification: per_byte(class.own_bytes()),
                requests_per_io: per_io(class.own_requests()),
            })
            .collect(),
    })
}

/// Returns the I/Os and bytes of the application in one direction.
fn asked(path: &IoPath, op: Op) -> (u64, Bytes) {
    let sizes = path.asked.iter().filter(|size| size.op == op);
    sizes.fold((0, Bytes(0)), |(ios, bytes), size| {
        (ios + size.count, Bytes(bytes.0 + size.size.0 * size.count))
    })
}

fn of_op(path: &IoPath, op: Op) -> impl Iterator<Item = &ClassTraffic> {
    path.classes
        .iter()
        .filter(move |class| class.op == Some(op))
}

fn flushes(path: &IoPath) -> u64 {
    let flushes = path.classes.iter();
    flushes
        .filter(|class| class.class == IoClass::Flush)
        .map(|class| class.requests)
        .sum()
}

/// Returns the parts of an operation as fractions. Parts of one operation are never negative, so shares are allowed.
fn shares(operation: &OperationPath) -> Option<TimeShares> {
    let total = operation.mean.total();
    let part = |part: &TimePart| operation.mean.of(*part);
    let largest = TimePart::ALL
        .into_iter()
        .max_by(|a, b| part(a).total_cmp(&part(b)))?;
    (total > 0.0).then(|| TimeShares {
        op: operation.op,
        with_sync: operation.with_sync,
        count: operation.count,
        shares: operation.mean.0.map(|part| part / total),
        largest,
    })
}

/// Returns `a / b`; `None` if `b` is 0 or less.
fn ratio(a: f64, b: f64) -> Option<f64> {
    (b > 0.0).then(|| a / b)
}
