//! The status line: `Jobs: 1 (f=1): [W(1)][100.0%][w=616KiB/s][w=154 IOPS][eta 00m:00s]`.

use hakaru_model::job::PerOp;

/// What the status line is made from.
#[derive(Clone, Debug, PartialEq)]
pub struct Progress {
    /// Workers that run now.
    pub running: u32,
    /// Files they hold open.
    pub open_files: u32,
    /// One letter a worker, in order: see [`WorkerState`].
    pub states: Vec<WorkerState>,
    /// Hundredths done; `None` while nobody can tell.
    pub percent: Option<f64>,
    /// Bytes per second since the line before.
    pub bytes_per_s: PerOp<u64>,
    /// I/Os per second since the line before.
    pub iops: PerOp<u64>,
    /// Seconds left; `None` while nobody can tell.
    pub eta_s: Option<u64>,
    /// 1024 or 1000, as `kb_base`.
    pub kb_base: u32,
    /// 1 shows bits, anything else bytes, as `unit_base`.
    pub unit_base: u32,
}

/// What a worker does at the moment, by the letter fio has for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WorkerState {
    /// `P`: not begun.
    NotBegun,
    /// `I`: ready, waiting for its start.
    Initialized,
    /// `/`: in its ramp.
    Ramping,
    /// `p`: reads its files beforehand.
    PreReading,
    /// `R`, `r`, `W`, `w`, `M`, `m`, `D`, `d`: reads, writes, mixes or trims, in order or (small) at random.
    Running(char),
    /// `F`: waits for an fsync.
    Fsyncing,
    /// `V`: verifies.
    Verifying,
    /// `f`: ends.
    Finishing,
    /// `E`: ended.
    Exited,
    /// `_`: ended and fetched.
    Reaped,
}

/// The status line, without newline or carriage return.
pub fn status_line(progress: &Progress) -> String {
    format!("Jobs: {} (f={})", progress.running, progress.open_files)
}
