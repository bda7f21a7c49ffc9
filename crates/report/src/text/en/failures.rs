//! Failures of a run: the operation and the error.

use hakaru_model::job::Op;
use hakaru_model::record::{FailureKind, IoError, Outcome, RunRecord};
use hakaru_model::units::Nanos;

/// A failure as a sentence: `max_latency=10ms: read took 12.0 ms`, or
/// `read of 4 KiB at byte 0 of f: Input/output error …`.
pub fn failure(error: &IoError) -> String {
    match rule_of(error.kind, error.op) {
        Some((rule, broken)) => format!("{rule}: {broken}"),
        None => {
            let IoError {
                action,
                file,
                offset,
                len,
                errno,
                ..
            } = error;
            format!(
                "{action} of {len} at byte {} of {file}: {}",
                offset.0,
                self::errno(*errno)
            )
        }
    }
}

/// The reason why a run failed. `None` for a run that did not fail.
pub fn failed_run(record: &RunRecord) -> Option<String> {
    match &record.outcome {
        Outcome::Failed { error } => Some(record.ended_by().map_or_else(|| error.clone(), failure)),
        Outcome::Completed | Outcome::Interrupted => None,
    }
}

/// The option of a job that was not met, and the reason. `None` for failures of the device or the host.
pub(super) fn rule_of(kind: FailureKind, op: Option<Op>) -> Option<(String, String)> {
    let op = op_did(op);
    match kind {
        FailureKind::TooSlow { latency, max } => Some((
            format!("max_latency={}", option_time(max)),
            format!("{op} took {}", exact_time(latency, max)),
        )),
        FailureKind::RateMissed { wanted, got } => Some((
            format!("rate_min={wanted}"),
            format!("{op} reached only {got} B/s"),
        )),
        FailureKind::IopsMissed { wanted, got } => Some((
            format!("rate_iops_min={wanted}"),
            format!("{op} reached only {got} IOPS"),
        )),
        FailureKind::Unknown
        | FailureKind::Io
        | FailureKind::Sync
        | FailureKind::Verify
        | FailureKind::Command
        | FailureKind::File
        | FailureKind::Wait
        | FailureKind::Log
        | FailureKind::NotStarted => None,
    }
}

/// The operation that failed.
pub(super) fn op_did(op: Option<Op>) -> &'static str {
    op.map_or("I/O", Op::name)
}

/// The system's message for an error number.
pub(super) fn errno(errno: i32) -> String {
    std::io::Error::from_raw_os_error(errno).to_string()
}

/// Formats a time like an option value: exact, in the largest unit that divides it.
fn option_time(time: Nanos) -> String {
    let units = [(1_000_000_000, "s"), (1_000_000, "ms"), (1_000, "us")];
    let unit = units
        .into_iter()
        .find(|(unit, _)| time.0 >= *unit && time.0.is_multiple_of(*unit));
    unit.map_or_else(
        || format!("{}ns", time.0),
        |(unit, name)| format!("{}{name}", time.0 / unit),
    )
}

/// A latency next to its limit: rounded, or exact if it is within 1% of the limit.
fn exact_time(latency: Nanos, max: Nanos) -> String {
    let close = latency.0.abs_diff(max.0) <= max.0 / 100;
    if close {
        format!("{} ns", latency.0)
    } else {
        latency.to_string()
    }
}
