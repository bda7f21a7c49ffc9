//! fio's messages on standard error about I/O errors and verification failures.

use super::normal::{error_text, place_of};
use hakaru_model::mismatch::{BlockDifference, Mismatch, Saved};
use hakaru_model::record::{FailureKind, IoError, StopReason, WorkerRecord};
use hakaru_model::units::Nanos;
use std::fmt::Write;

/// Returns the lines of all recorded errors of a worker. Empty if there are none.
pub fn errors(worker: &WorkerRecord) -> String {
    let mut text = String::new();
    for error in &worker.errors.first {
        match error.mismatches.as_slice() {
            [] => io_error(&mut text, &worker.name, error),
            mismatches => mismatches
                .iter()
                .for_each(|mismatch| mismatch_lines(&mut text, error, mismatch)),
        }
    }
    let untold = worker
        .errors
        .total
        .saturating_sub(worker.errors.first.len() as u64);
    if untold > 0 {
        line(
            &mut text,
            format_args!("fio: {untold} more errors are counted, and not told one by one"),
        );
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

fn line(text: &mut String, words: std::fmt::Arguments<'_>) {
    // Writing to memory cannot fail.
    let _ = writeln!(text, "{words}");
}

fn io_error(text: &mut String, job: &str, error: &IoError) {
    let IoError {
        action,
        file,
        errno,
        ..
    } = error;
    let (offset, len) = (error.offset.0, error.len.0);
    match error.kind {
        FailureKind::RateMissed { wanted, got } => {
            line(
                text,
                format_args!("{job}: rate_min={wanted}B/s not met, got {got}B/s"),
            );
        }
        FailureKind::IopsMissed { wanted, got } => {
            line(
                text,
                format_args!("{job}: rate_iops_min={wanted} not met, got {got} IOPS"),
            );
        }
        FailureKind::TooSlow {
            latency: Nanos(ns),
            max: Nanos(max),
        } => {
            let what = format!("latency of {ns} nsec exceeds specified max ({max} nsec)");
            line(
                text,
                format_args!("fio: {what}: {file} {action} {offset} {len}"),
            );
        }
        _ => {
            let words = error_text(*errno);
            let what = format!("{words}: {action} offset={offset}, buflen={len}");
            line(text, format_args!("fio: io_u error on file {file}: {what}"));
        }
    }
}

fn mismatch_lines(text: &mut String, error: &IoError, mismatch: &Mismatch) {
    let place = format!(
        "at file {} offset {}, length {}",
        error.file, mismatch.offset.0, mismatch.len.0
    );
    let block = format!(
        "requested block: offset={}, length={}",
        error.offset.0, error.len.0
    );
    let mut header =
        |what: String| line(text, format_args!("verify: bad {what} {place} ({block})"));
    match &mismatch.difference {
        BlockDifference::Magic { found, wanted } => {
            header(format!("magic header {found:x}, wanted {wanted:x}"))
        }
        BlockDifference::Length { found, wanted } => {
            header(format!("header length {found}, wanted {wanted}"))
        }
        BlockDifference::Header { found, wanted } => {
            header(format!("header crc {wanted:x}, calculated {found:x}"))
        }
        BlockDifference::Offset { found, wanted } => {
            header(format!("header offset {found}, wanted {wanted}"))
        }
        BlockDifference::Seed { found, wanted } => {
            header(format!("header rand_seed {found}, wanted {wanted}"))
        }
        BlockDifference::Sequence { found, wanted } => {
            header(format!("header numberio {found}, wanted {wanted}"))
        }
        BlockDifference::Method { found, wanted } => {
            line(
                text,
                format_args!("{wanted}: verify failed {place} ({block}, flags=8)"),
            );
            line(
                text,
                format_args!("fio: verify type mismatch ({found} media, {wanted} given)"),
            );
        }
        BlockDifference::Checksum {
            method,
            written,
            computed,
        } => {
            line(
                text,
                format_args!("{method}: verify failed {place} ({block}, flags=8)"),
            );
            line(text, format_args!("       Expected CRC: {written}"));
            line(text, format_args!("       Received CRC: {computed}"));
        }
        BlockDifference::Pattern {
            method,
            at,
            found,
            wanted,
        } => {
            let bits = (found ^ wanted).count_ones();
            line(
                text,
                format_args!(
                    "fio: got pattern '{found:02x}', wanted '{wanted:02x}'. Bad bits {bits}"
                ),
            );
            line(text, format_args!("fio: bad pattern block offset {at}"));
            line(
                text,
                format_args!("{method}: verify failed {place} ({block}, flags=8)"),
            );
        }
    }
    if let Some(Saved { received, expected }) = &mismatch.saved {
        let what = if mismatch.difference.is_of_header() {
            "hdr_fail"
        } else {
            "received"
        };
        line(
            text,
            format_args!("       {what} data dumped as {}", received.display()),
        );
        if let Some(expected) = expected {
            line(
                text,
                format_args!("       expected data dumped as {}", expected.display()),
            );
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hakaru_model::units::Bytes;

    /// As printed by fio 3.33.
    #[test]
    fn broken_rules_are_told_as_fio_tells_them() {
        let tell = |kind, errno| {
            let mut worker = WorkerRecord {
                name: "a".into(),
                pid: 7,
                ..WorkerRecord::default()
            };
            worker.stop = StopReason::Error;
            worker.errors.push(IoError {
                action: "read".into(),
                op: Some(hakaru_model::job::Op::Read),
                kind,
                file: "/tmp/t".into(),
                offset: Bytes(0),
                len: Bytes(4096),
                errno,
                at: Nanos(0),
                mismatches: Vec::new(),
            });
            errors(&worker) + &ended_by_error(&worker).unwrap()
        };
        let slow = FailureKind::TooSlow {
            latency: Nanos(327_822),
            max: Nanos(1000),
        };
        insta::assert_snapshot!(tell(slow, 110), @"
        fio: latency of 327822 nsec exceeds specified max (1000 nsec): /tmp/t read 0 4096
        fio: pid=7, err=110/file:io_u.c:0, func=max latency exceeded, error=Connection timed out
        ");
        let iops = FailureKind::IopsMissed {
            wanted: 100_000_000,
            got: 6358,
        };
        insta::assert_snapshot!(tell(iops, 5), @"
        a: rate_iops_min=100000000 not met, got 6358 IOPS
        fio: pid=7, err=5/file:backend.c:0, func=check_min_rate, error=Input/output error
        ");
        let rate = FailureKind::RateMissed {
            wanted: 107_374_182_400,
            got: 897_503_232,
        };
        insta::assert_snapshot!(tell(rate, 5), @"
        a: rate_min=107374182400B/s not met, got 897503232B/s
        fio: pid=7, err=5/file:backend.c:0, func=check_min_rate, error=Input/output error
        ");
    }

    /// Output of fio 3.33 for the same damage, except for block markers and source lines.
    #[test]
    fn the_words_are_those_of_fio() {
        let of = |difference: BlockDifference| {
            let whole = Saved {
                received: "f.12288.received".into(),
                expected: Some("f.12288.expected".into()),
            };
            let saved = match difference.is_of_header() {
                true => Saved {
                    received: "f.12288.hdr_fail".into(),
                    expected: None,
                },
                false => whole,
            };
            Mismatch {
                offset: Bytes(12_288),
                len: Bytes(512),
                difference,
                saved: Some(saved),
            }
        };
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
        let mut worker = WorkerRecord {
            pid: 7,
            stop: StopReason::Error,
            ..WorkerRecord::default()
        };
        for difference in [
            checksum,
            pattern,
            BlockDifference::Offset {
                found: 12_288,
                wanted: 28_672,
            },
        ] {
            worker.errors.push(IoError {
                action: "verify".into(),
                op: Some(hakaru_model::job::Op::Read),
                kind: FailureKind::Verify,
                file: "f".into(),
                offset: Bytes(8192),
                len: Bytes(4096),
                errno: 84,
                at: Nanos(0),
                mismatches: vec![of(difference)],
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
        fio: 37 more errors are counted, and not told one by one
        ");
        insta::assert_snapshot!(ended_by_error(&worker).unwrap(), @"fio: pid=7, err=84/file:io_u.c:0, func=io_u_sync_complete, error=Invalid or incomplete multibyte or wide character");
    }
}
