//! Log files: names and line format.
//!
//! Does not collect or average entries.

use hakaru_model::job::Op;
use std::fmt::Write;

/// One entry of a log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LogEntry {
    /// Time in ms since the start of the run, or since 1970 if requested.
    pub msec: u64,
    /// Value in KiB/s, I/Os per second or nanoseconds, depending on the log.
    pub value: u64,
    /// Maximum of the window, if both the mean and the maximum are logged.
    pub largest: Option<u64>,
    /// Operation of the I/O.
    pub op: Op,
    /// I/O size in bytes; 0 in averaged logs.
    pub bs: u64,
    /// Offset of the I/O; 0 in averaged logs.
    pub offset: u64,
    /// Priority of the I/O.
    pub prio: u16,
    /// Issue time in ns since the start of the run; 0 in averaged logs.
    pub issued_ns: u64,
}

/// Kind of log file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LogKind {
    /// Bandwidth, KiB/s.
    Bw,
    /// I/Os per second.
    Iops,
    /// Submission latency, ns.
    Slat,
    /// Completion latency, ns.
    Clat,
    /// Total latency, ns.
    Lat,
    /// Histograms of completion latency, as counts per bin.
    ClatHist,
}

impl LogKind {
    /// Whether the values are latencies.
    pub fn is_latency(self) -> bool {
        matches!(self, LogKind::Slat | LogKind::Clat | LogKind::Lat)
    }

    /// Returns the file name: `<prefix>_bw.<number>.log` with the job number from 1, or no number if all jobs share one
    /// file.
    pub fn file_name(self, prefix: &str, job: Option<u32>) -> String {
        let kind = match self {
            LogKind::Bw => "bw",
            LogKind::Iops => "iops",
            LogKind::Slat => "slat",
            LogKind::Clat => "clat",
            LogKind::Lat => "lat",
            LogKind::ClatHist => "clat_hist",
        };
        match job {
            Some(number) => format!("{prefix}_{kind}.{number}.log"),
            None => format!("{prefix}_{kind}.log"),
        }
    }
}

/// Optional columns of a log, besides time, value, direction and block size.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LogColumns {
    /// The offset (`log_offset`).
    pub offset: bool,
    /// The full priority (`log_prio`); otherwise only whether it is high.
    pub prio: bool,
    /// The issue time of each I/O (`log_issue_time`).
    pub issued: bool,
}

/// Formats log lines: `msec, value[, largest], direction, block size[, offset], priority[, issue time]`.
pub fn log_text(entries: &[LogEntry], columns: LogColumns) -> String {
    let mut text = String::new();
    for entry in entries {
        let _ = write!(text, "{}, {}", entry.msec, entry.value);
        if let Some(largest) = entry.largest {
            let _ = write!(text, ", {largest}");
        }
        let _ = write!(text, ", {}, {}", entry.op as u8, entry.bs);
        if columns.offset {
            let _ = write!(text, ", {}", entry.offset);
        }
        let _ = match columns.prio {
            true => write!(text, ", 0x{:04x}", entry.prio),
            false => write!(text, ", {}", u8::from(is_high(entry.prio))),
        };
        if columns.issued {
            let _ = write!(text, ", {}", entry.issued_ns);
        }
        text.push('\n');
    }
    text
}

/// Whether the priority is in class 1, "real time", of the kernel's I/O priorities.
fn is_high(prio: u16) -> bool {
    prio >> 13 == 1
}

/// Formats one line of a histogram log: `msec, direction, block size, count, count, …`.
pub fn histogram_line(msec: u64, op: Op, bs: u64, counts: &[u64]) -> String {
    let mut text = format!("{msec}, {}, {bs}", op as u8);
    for count in counts {
        let _ = write!(text, ", {count}");
    }
    text.push('\n');
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    const READ: LogEntry = LogEntry {
        msec: 0,
        value: 18_965,
        largest: None,
        op: Op::Read,
        bs: 4096,
        offset: 8192,
        prio: 0,
        issued_ns: 77,
    };

    /// An entry of an averaged log.
    const AVERAGE: LogEntry = LogEntry {
        msec: 20,
        value: 140,
        largest: None,
        op: Op::Write,
        bs: 0,
        offset: 0,
        prio: 1 << 13 | 4,
        issued_ns: 0,
    };

    #[test]
    fn lines_with_and_without_their_optional_columns() {
        let all = LogColumns {
            offset: true,
            prio: true,
            issued: true,
        };
        let both_values = LogEntry {
            largest: Some(200),
            ..AVERAGE
        };
        for (entry, columns, line) in [
            (READ, LogColumns::default(), "0, 18965, 0, 4096, 0\n"),
            (AVERAGE, LogColumns::default(), "20, 140, 1, 0, 1\n"),
            (READ, all, "0, 18965, 0, 4096, 8192, 0x0000, 77\n"),
            (AVERAGE, all, "20, 140, 1, 0, 0, 0x2004, 0\n"),
            (
                both_values,
                LogColumns::default(),
                "20, 140, 200, 1, 0, 1\n",
            ),
        ] {
            assert_eq!(log_text(&[entry], columns), line);
        }
        let two = log_text(&[READ, AVERAGE], LogColumns::default());
        assert_eq!(two.lines().count(), 2);
    }

    #[test]
    fn names_number_jobs_from_one() {
        assert_eq!(LogKind::Bw.file_name("x", Some(1)), "x_bw.1.log");
        assert_eq!(
            LogKind::ClatHist.file_name("dir/y", None),
            "dir/y_clat_hist.log"
        );
    }

    #[test]
    fn a_histogram_line_has_a_column_a_bin() {
        assert_eq!(
            histogram_line(520, Op::Write, 4096, &[0, 17, 1]),
            "520, 1, 4096, 0, 17, 1\n"
        );
    }
}
