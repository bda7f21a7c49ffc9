//! Failures of a run: the operation and the error.

use crate::text::figures::{exact_time, option_time};
use hakaru_model::job::Op;
use hakaru_model::record::{FailureKind, IoError};

pub(in crate::text) fn failure(error: &IoError) -> String {
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
                os_error(*errno)
            )
        }
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

pub(in crate::text) fn os_error(errno: i32) -> String {
    std::io::Error::from_raw_os_error(errno).to_string()
}
