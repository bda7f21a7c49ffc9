//! fio's messages on standard error about I/O errors and verification failures.

use super::normal::{error_text, place_of};
use hakaru_model::mismatch::{BlockDifference, Mismatch, Saved};
use hakaru_model::record::{FailureKind, IoError, StopReason, WorkerRecord};
use hakaru_model::units::Nanos;

/// Returns the lines of all recorded errors of a worker. Empty if there are none.
pub fn errors(worker: &WorkerRecord) -> String {
    let mut text = String::new();
    for error in &worker.errors.first {
        if error.mismatches.is_empty() {
            text += &io_error(&worker.name, error);
        }
        let mismatches = error.mismatches.iter();
        text.extend(mismatches.map(|mismatch| mismatch_text(error, mismatch)));
    }
    let listed = worker.errors.first.len() as u64;
    let more = worker.errors.total.saturating_sub(listed);
    if more > 0 {
        text += &format!("fio: {more} more errors were counted, but are not listed\n");
    }
    text
}

/// Returns the text line for an error that ended a job; other formats have the error in the result.
pub fn ended_by_error(worker: &WorkerRecord) -> Option<String> {
    let damaged = |error: &&IoError| !error.mismatches.is_empty();
    let first = worker
        .errors
        .first
        .iter()
        .find(damaged)
        .or(worker.errors.first.first());
    let error = first.filter(|_| worker.stop == StopReason::Error)?;
    // fio prints a source file and line here, which hakaru does not have.
    let (file, func) = if damaged(&error) {
        ("io_u.c", "io_u_sync_complete")
    } else {
        place_of(error.kind)
    };
    let (pid, errno, words) = (worker.pid, error.errno, error_text(error.errno));
    Some(format!(
        "fio: pid={pid}, err={errno}/file:{file}:0, func={func}, error={words}\n"
    ))
}

fn io_error(job: &str, error: &IoError) -> String {
    let IoError {
        action,
        file,
        errno,
        ..
    } = error;
    let (offset, len) = (error.offset.0, error.len.0);
    match error.kind {
        FailureKind::RateMissed { wanted, got } => {
            format!("{job}: rate_min={wanted}B/s not met, got {got}B/s\n")
        }
        FailureKind::IopsMissed { wanted, got } => {
            format!("{job}: rate_iops_min={wanted} not met, got {got} IOPS\n")
        }
        FailureKind::TooSlow {
            latency: Nanos(ns),
            max: Nanos(max),
        } => {
            let what = format!("latency of {ns} nsec exceeds specified max ({max} nsec)");
            format!("fio: {what}: {file} {action} {offset} {len}\n")
        }
        _ => {
            let words = error_text(*errno);
            let what = format!("{words}: {action} offset={offset}, buflen={len}");
            format!("fio: io_u error on file {file}: {what}\n")
        }
    }
}

fn mismatch_text(error: &IoError, mismatch: &Mismatch) -> String {
    let (offset, len) = (mismatch.offset.0, mismatch.len.0);
    let place = format!("at file {} offset {offset}, length {len}", error.file);
    let (offset, len) = (error.offset.0, error.len.0);
    let block = format!("requested block: offset={offset}, length={len}");
    let mut text = match header_difference(&mismatch.difference) {
        Some(what) => format!("verify: bad {what} {place} ({block})\n"),
        None => {
            let failed = format!("verify failed {place} ({block}, flags=8)");
            content_difference(&mismatch.difference, &failed)
        }
    };
    if let Some(Saved { received, expected }) = &mismatch.saved {
        let what = if mismatch.difference.is_of_header() {
            "hdr_fail"
        } else {
            "received"
        };
        text += &format!("       {what} data dumped as {}\n", received.display());
        if let Some(expected) = expected {
            text += &format!("       expected data dumped as {}\n", expected.display());
        }
    }
    text
}

/// The wrong field of a block header: what was found and what was expected.
fn header_difference(difference: &BlockDifference) -> Option<String> {
    Some(match difference {
        BlockDifference::Magic { found, wanted } => {
            format!("magic header {found:x}, wanted {wanted:x}")
        }
        BlockDifference::Length { found, wanted } => {
            format!("header length {found}, wanted {wanted}")
        }
        BlockDifference::Header { found, wanted } => {
            format!("header crc {wanted:x}, calculated {found:x}")
        }
        BlockDifference::Offset { found, wanted } => {
            format!("header offset {found}, wanted {wanted}")
        }
        BlockDifference::Seed { found, wanted } => {
            format!("header rand_seed {found}, wanted {wanted}")
        }
        BlockDifference::Sequence { found, wanted } => {
            format!("header numberio {found}, wanted {wanted}")
        }
        _ => return None,
    })
}

/// The lines about a wrong method, checksum or pattern; `failed` follows the name of the method.
fn content_difference(difference: &BlockDifference, failed: &str) -> String {
    match difference {
        BlockDifference::Method { found, wanted } => format!(
            "{wanted}: {failed}\nfio: verify type mismatch ({found} media, {wanted} given)\n"
        ),
        BlockDifference::Checksum {
            method,
            written,
            computed,
        } => format!(
            "{method}: {failed}\n       Expected CRC: {written}\n       Received CRC: {computed}\n"
        ),
        BlockDifference::Pattern {
            method,
            at,
            found,
            wanted,
        } => {
            let bits = (found ^ wanted).count_ones();
            format!(
                "fio: got pattern '{found:02x}', wanted '{wanted:02x}'. Bad bits {bits}\n\
                 fio: bad pattern block offset {at}\n{method}: {failed}\n"
            )
        }
        _ => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hakaru_model::units::Bytes;

    /// A failed read of 4096 bytes.
    fn read_error(kind: FailureKind, errno: i32) -> IoError {
        IoError {
            action: "read".into(),
            op: Some(hakaru_model::job::Op::Read),
            kind,
            file: "/tmp/t".into(),
            offset: Bytes(0),
            len: Bytes(4096),
            errno,
            at: Nanos(0),
            mismatches: Vec::new(),
        }
    }

    /// A worker named `a` that an error ended.
    fn failed_worker() -> WorkerRecord {
        WorkerRecord {
            name: "a".into(),
            pid: 7,
            stop: StopReason::Error,
            ..WorkerRecord::default()
        }
    }

    /// As printed by fio 3.33.
    #[test]
    fn missed_limits_are_reported_as_by_fio() {
        let report = |kind, errno| {
            let mut worker = failed_worker();
            worker.errors.push(read_error(kind, errno));
            errors(&worker) + &ended_by_error(&worker).unwrap()
        };
        let slow = FailureKind::TooSlow {
            latency: Nanos(327_822),
            max: Nanos(1000),
        };
        insta::assert_snapshot!(report(slow, 110), @"
        fio: latency of 327822 nsec exceeds specified max (1000 nsec): /tmp/t read 0 4096
        fio: pid=7, err=110/file:io_u.c:0, func=max latency exceeded, error=Connection timed out
        ");
        let iops = FailureKind::IopsMissed {
            wanted: 100_000_000,
            got: 6358,
        };
        insta::assert_snapshot!(report(iops, 5), @"
        a: rate_iops_min=100000000 not met, got 6358 IOPS
        fio: pid=7, err=5/file:backend.c:0, func=check_min_rate, error=Input/output error
        ");
        let rate = FailureKind::RateMissed {
            wanted: 107_374_182_400,
            got: 897_503_232,
        };
        insta::assert_snapshot!(report(rate, 5), @"
        a: rate_min=107374182400B/s not met, got 897503232B/s
        fio: pid=7, err=5/file:backend.c:0, func=check_min_rate, error=Input/output error
        ");
    }

    /// A mismatch of the second sector, with the files that fio would save.
    fn mismatch(difference: BlockDifference) -> Mismatch {
        let saved = match difference.is_of_header() {
            true => Saved {
                received: "f.12288.hdr_fail".into(),
                expected: None,
            },
            false => Saved {
                received: "f.12288.received".into(),
                expected: Some("f.12288.expected".into()),
            },
        };
        Mismatch {
            offset: Bytes(12_288),
            len: Bytes(512),
            difference,
            saved: Some(saved),
        }
    }

    /// Output of fio 3.33 for the same damage, except for block markers and source lines.
    #[test]
    fn mismatches_are_reported_as_by_fio() {
        let checksum = BlockDifference::Checksum {
            method: "crc32c".into(),
            written: "dc132380".into(),
            computed: "b9edb14d".into(),
        };
        let pattern = BlockDifference::Pattern {
            method: "pattern".into(),
            at: 100,
            found: 0x58,
            wanted: 0,
        };
        let (found, wanted) = (12_288, 28_672);
        let offset = BlockDifference::Offset { found, wanted };
        let mut worker = failed_worker();
        for difference in [checksum, pattern, offset] {
            worker.errors.push(IoError {
                file: "f".into(),
                offset: Bytes(8192),
                mismatches: vec![mismatch(difference)],
                ..read_error(FailureKind::Verify, 84)
            });
        }
        worker.errors.total = 40;
        insta::assert_snapshot!(errors(&worker), @"
        crc32c: verify failed at file f offset 12288, length 512 (requested block: offset=8192, length=4096, flags=8)
               Expected CRC: dc132380
               Received CRC: b9edb14d
               received data dumped as f.12288.received
               expected data dumped as f.12288.expected
        fio: got pattern '58', wanted '00'. Bad bits 3
        fio: bad pattern block offset 100
        pattern: verify failed at file f offset 12288, length 512 (requested block: offset=8192, length=4096, flags=8)
               received data dumped as f.12288.received
               expected data dumped as f.12288.expected
        verify: bad header offset 12288, wanted 28672 at file f offset 12288, length 512 (requested block: offset=8192, length=4096)
               hdr_fail data dumped as f.12288.hdr_fail
        fio: 37 more errors were counted, but are not listed
        ");
        insta::assert_snapshot!(ended_by_error(&worker).unwrap(), @"fio: pid=7, err=84/file:io_u.c:0, func=io_u_sync_complete, error=Invalid or incomplete multibyte or wide character");
    }
}
