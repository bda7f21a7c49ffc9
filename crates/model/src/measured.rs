//! What a phase measured beside its I/Os: traffic of the disks, laying out, pauses of the host.

use crate::facts::DiskStats;
use crate::units::{Bytes, Nanos};
use serde::{Deserialize, Serialize};

/// Counters of the disks over the measured part of a phase only.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct MeasuredTraffic {
    /// From the moment the ramp ends to the moment the measurement ends.
    pub disks: Vec<DiskStats>,
    /// Bytes that this program itself had read from storage over the same time, where the kernel counts them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub own_read: Option<Bytes>,
    /// Bytes that this program itself sent towards storage over the same time, where the kernel counts them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub own_written: Option<Bytes>,
}

/// What laying out the files of a phase took, before anything was measured.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct LaidOut {
    /// Bytes written into the files.
    pub bytes: Bytes,
    /// Time it took, with the flush at the end of each file.
    pub elapsed: Nanos,
    /// Counters of the disks over that time.
    pub disks: Vec<DiskStats>,
}

/// Time in which the host let a phase do nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pause {
    /// When it began, counted from the start of the phase's workers.
    pub at: Nanos,
    /// How long it was.
    pub length: Nanos,
    /// The type.
    pub kind: PauseKind,
}

/// What kept a program from running.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PauseKind {
    /// The process was stopped: SIGSTOP, a debugger, a frozen control group.
    Stopped,
    /// The host slept: `CLOCK_BOOTTIME` went on and `CLOCK_MONOTONIC` did not.
    Suspended,
}

/// A run that does not count in the figures of a phase.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LeftOutRun {
    /// Its number in the series, from 1.
    pub run: u32,
    /// Why it does not count.
    pub because: LeftOutReason,
}

/// Why a run does not count where another run of the series does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "reason")]
pub enum LeftOutReason {
    /// It was interrupted, or an error or a limit of the job ended it.
    Unfinished,
    /// A worker was ready to run and had no processor.
    Descheduled {
        /// Run-queue wait of the worker that waited longest.
        waited: Nanos,
        /// Measured time.
        measured: Nanos,
    },
    /// The hypervisor gave processor time to others.
    StolenTime {
        /// Steal time of all processors.
        stolen: Nanos,
        /// Measured time.
        measured: Nanos,
    },
    /// A pause of the process or the host lies in every interval.
    Paused,
}

/// What took processor time away from a phase.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct HostPauses {
    /// Times in which nothing ran, in order.
    pub pauses: Vec<Pause>,
    /// Time that the hypervisor took from all CPUs (steal time).
    pub stolen: Nanos,
    /// Processors of the host.
    pub processors: u32,
}

impl HostPauses {
    /// Sum of the pauses of one kind.
    pub fn total(&self, kind: PauseKind) -> Nanos {
        let of_kind = self.pauses.iter().filter(|pause| pause.kind == kind);
        Nanos(of_kind.fold(0, |sum, pause| sum.saturating_add(pause.length.0)))
    }

    /// Whether any pause lies in a time, both counted from the start of the phase's workers.
    pub fn touches(&self, from: Nanos, to: Nanos) -> bool {
        self.pauses.iter().any(|pause| {
            pause.at < to && from < Nanos(pause.at.0.saturating_add(pause.length.0.max(1)))
        })
    }
}

/// How an engine issued the I/O of a worker, beyond the settings of the job.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct EngineUse {
    /// Buffers were registered with the ring.
    pub registered_buffers: bool,
    /// Files were registered with the ring.
    pub registered_files: bool,
    /// One call submits and waits: the submission time of I/Os is the start of that call.
    pub submits_and_waits: bool,
    /// The worker is a thread of the program, not a process.
    pub thread: bool,
    /// The worker has its own file descriptor table.
    pub own_file_table: bool,
}

/// Why no I/O amplification is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "reason")]
pub enum NoAmplification {
    /// The system runs from the disk, and others moved more than a tenth of what the job did.
    OtherUsers {
        /// Bytes the disk transferred that this program did not request.
        others: Bytes,
        /// Bytes of the job.
        own: Bytes,
    },
    /// The system runs from the disk, and what this program did was not counted apart.
    SystemDisk,
    /// There was a ramp time, and the counters include its uncounted bytes.
    RampNotCounted,
}
