//! The status line: `Jobs: 1 (f=1): [W(1)][100.0%][w=616KiB/s][w=154 IOPS][eta 00m:00s]`.
//!
//! Does not decide when it is shown, and does not print the carriage return before the next one.

use super::number::Style;
use crate::fio::JobExtras;
use hakaru_model::job::{Access, Op, PerOp};

/// Data of one status line.
#[derive(Clone, Debug, PartialEq)]
pub struct StatusLine {
    /// Number of running workers.
    pub running: u32,
    /// Number of files they have open.
    pub open_files: u32,
    /// State of each worker, in order.
    pub states: Vec<WorkerState>,
    /// Percentage done; `None` while unknown.
    pub percent: Option<f64>,
    /// Bytes per second since the previous status line.
    pub bytes_per_s: PerOp<u64>,
    /// I/Os per second since the previous status line.
    pub iops: PerOp<u64>,
    /// Estimated seconds left; `None` while unknown, which shortens the line to its first part.
    pub eta_s: Option<u64>,
    /// 1024 or 1000 (`kb_base`).
    pub kb_base: u32,
    /// 1 shows bits, any other value bytes (`unit_base`).
    pub unit_base: u32,
}

impl Default for StatusLine {
    fn default() -> StatusLine {
        StatusLine {
            running: 0,
            open_files: 0,
            states: Vec::new(),
            percent: None,
            bytes_per_s: PerOp::default(),
            iops: PerOp::default(),
            eta_s: None,
            kb_base: 1024,
            unit_base: 8,
        }
    }
}

/// Sum of the rate limits of all jobs: minimum, maximum.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RateLimit {
    /// No limit.
    #[default]
    None,
    /// Bytes per second (`rate_min`, `rate`).
    BytesPerSec(u64, u64),
    /// I/Os per second (`rate_iops_min`, `rate_iops`).
    Iops(u64, u64),
}

/// State of a worker, with fio's letter for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WorkerState {
    /// `P`: not started.
    NotBegun,
    /// `I`: initialized, waiting to start.
    Initialized,
    /// `/`: in its ramp time.
    Ramping,
    /// `p`: reading its files before the run (`pre_read`).
    PreReading,
    /// `R`, `W`, `M`, `D`: sequential reads, writes, mixed I/O or trims; in lower case, random.
    Running(char),
    /// `F`: waiting for an fsync.
    Fsyncing,
    /// `V`: verifying.
    Verifying,
    /// `f`: finishing.
    Finishing,
    /// `E`: exited.
    Exited,
    /// `_`: exited and reaped.
    Reaped,
}

impl WorkerState {
    /// The state of a running worker with this access pattern.
    pub fn running(access: &Access) -> WorkerState {
        let letter = match (
            access.does(Op::Read),
            access.does(Op::Write),
            access.does(Op::Trim),
        ) {
            (true, true, _) => 'M',
            (false, true, _) => 'W',
            (false, false, true) => 'D',
            _ => 'R',
        };
        WorkerState::Running(if access.random {
            letter.to_ascii_lowercase()
        } else {
            letter
        })
    }

    fn letter(self) -> char {
        match self {
            WorkerState::NotBegun => 'P',
            WorkerState::Initialized => 'I',
            WorkerState::Ramping => '/',
            WorkerState::PreReading => 'p',
            WorkerState::Running(letter) => letter,
            WorkerState::Fsyncing => 'F',
            WorkerState::Verifying => 'V',
            WorkerState::Finishing => 'f',
            WorkerState::Exited => 'E',
            WorkerState::Reaped => '_',
        }
    }
}

/// Formats the status line of jobs without rate limits, without newline or carriage return.
pub fn status_line(progress: &StatusLine) -> String {
    limited_status_line(progress, RateLimit::None)
}

/// Formats the status line of jobs with rate limits.
pub fn limited_status_line(progress: &StatusLine, limit: RateLimit) -> String {
    let StatusLine {
        running,
        open_files,
        states,
        percent,
        bytes_per_s,
        iops,
        eta_s,
        kb_base,
        unit_base,
    } = progress;
    let style = Style::of(&JobExtras {
        kb_base: *kb_base,
        unit_base: *unit_base,
        significant_figures: 4,
        ..JobExtras::default()
    });
    let mut line = format!(
        "Jobs: {running} (f={open_files}){}",
        limit_text(limit, style)
    );
    let Some(eta_s) = eta_s else { return line };
    line += &format!(": [{}]", runs(states));
    line += &percent.map_or("[-.-%]".to_owned(), |percent| format!("[{percent:.1}%]"));
    line += &by_op(bytes_per_s, |rate| style.rate(rate), "");
    line += &by_op(iops, |rate| style.count(rate), " IOPS");
    line + &format!("[eta {}]", eta_text(*eta_s))
}

fn limit_text(limit: RateLimit, style: Style) -> String {
    match limit {
        RateLimit::None => String::new(),
        RateLimit::BytesPerSec(least, most) => {
            format!(", {}-{}", style.rate(least), style.rate(most))
        }
        RateLimit::Iops(least, most) => format!(", {least}-{most} IOPS"),
    }
}

/// Formats `W(16)` or `_(2),W(1)`: adjacent workers in the same state are counted together.
fn runs(states: &[WorkerState]) -> String {
    let groups: Vec<String> = states
        .chunk_by(|a, b| a.letter() == b.letter())
        .map(|group| format!("{}({})", group[0].letter(), group.len()))
        .collect();
    groups.join(",")
}

/// Formats `[r=21.0MiB/s,w=24.0MiB/s]`: operations with a rate of 0 are left out; empty if all are 0.
fn by_op(rates: &PerOp<u64>, show: impl Fn(u64) -> String, unit: &str) -> String {
    let shown: Vec<String> = rates
        .iter()
        .filter(|(_, rate)| **rate > 0)
        .map(|(op, rate)| format!("{}={}", &op.name()[..1], show(*rate)))
        .collect();
    if shown.is_empty() {
        String::new()
    } else {
        format!("[{}{unit}]", shown.join(","))
    }
}

/// Formats `00m:07s`, with hours and days in front if needed.
fn eta_text(seconds: u64) -> String {
    let (days, hours, minutes, seconds) = (
        seconds / 86_400,
        seconds / 3600 % 24,
        seconds / 60 % 60,
        seconds % 60,
    );
    let mut text = String::new();
    if days > 0 {
        text += &format!("{days:02}d:");
    }
    if days > 0 || hours > 0 {
        text += &format!("{hours:02}h:");
    }
    text + &format!("{minutes:02}m:{seconds:02}s")
}

#[cfg(test)]
mod tests {
    use super::*;
    use WorkerState::{NotBegun, Ramping, Reaped, Running};

    #[test]
    fn the_line_of_a_durable_write() {
        let progress = StatusLine {
            running: 1,
            open_files: 1,
            states: vec![WorkerState::running(&Access::only(Op::Write, false))],
            percent: Some(100.0),
            bytes_per_s: PerOp {
                write: 616 << 10,
                ..PerOp::default()
            },
            iops: PerOp {
                write: 154,
                ..PerOp::default()
            },
            eta_s: Some(0),
            ..StatusLine::default()
        };
        assert_eq!(
            status_line(&progress),
            "Jobs: 1 (f=1): [W(1)][100.0%][w=616KiB/s][w=154 IOPS][eta 00m:00s]"
        );
    }

    #[test]
    fn several_jobs_in_several_states() {
        let progress = StatusLine {
            running: 3,
            open_files: 3,
            states: vec![Reaped, Reaped, Running('m'), Ramping, NotBegun],
            bytes_per_s: PerOp {
                read: 21 << 20,
                write: 24 << 20,
                trim: 0,
            },
            iops: PerOp {
                read: 7_753_000,
                write: 24,
                trim: 0,
            },
            eta_s: Some(90_061),
            kb_base: 1000,
            unit_base: 1,
            ..StatusLine::default()
        };
        assert_eq!(
            limited_status_line(&progress, RateLimit::BytesPerSec(0, 38 << 20)),
            "Jobs: 3 (f=3), 0bit/s-319Mbit/s: [_(2),m(1),/(1),P(1)][-.-%][r=176Mbit/s,w=201Mbit/s][r=7753k,w=24 IOPS][eta 01d:01h:01m:01s]"
        );
    }

    #[test]
    fn eta_is_unknown_at_first() {
        let progress = StatusLine {
            running: 2,
            ..StatusLine::default()
        };
        assert_eq!(
            limited_status_line(&progress, RateLimit::Iops(0, 12_345)),
            "Jobs: 2 (f=0), 0-12345 IOPS"
        );
    }
}
