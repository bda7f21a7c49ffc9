//! Log files: their names and lines.

use hakaru_model::job::Op;

/// One line of a log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LogEntry {
    /// Milliseconds since the start (or since 1970 where that was asked for).
    pub msec: u64,
    /// KiB/s, IOPS or nanoseconds, by kind of log.
    pub value: u64,
    /// What was done.
    pub op: Op,
    /// Bytes of the I/O; 0 in logs of bandwidth and IOPS that average.
    pub bs: u64,
    /// Offset of the I/O, shown where asked for.
    pub offset: u64,
    /// Priority of the I/O.
    pub prio: u32,
}

/// What a log is of.
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
}

impl LogKind {
    /// The file's name: `<prefix>_bw.<job>.log`, or without the number when jobs share one.
    pub fn file_name(self, prefix: &str, job: Option<u32>) -> String {
        let kind = ["bw", "iops", "slat", "clat", "lat"][self as usize];
        match job {
            Some(number) => format!("{prefix}_{kind}.{number}.log"),
            None => format!("{prefix}_{kind}.log"),
        }
    }
}

/// The lines of a log.
pub fn log_text(entries: &[LogEntry], with_offset: bool) -> String {
    let mut text = String::new();
    for LogEntry { msec, value, op, bs, offset, prio } in entries {
        let op = *op as u32;
        if with_offset {
            text += &format!("{msec}, {value}, {op}, {bs}, {offset}, {prio}\n");
        } else {
            text += &format!("{msec}, {value}, {op}, {bs}, {prio}\n");
        }
    }
    text
}
