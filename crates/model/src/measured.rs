//! Measurements of a phase besides its I/Os: disk traffic, layout, pauses of the host.

use crate::facts::DiskStats;
use crate::units::{Bytes, Nanos};
use serde::{Deserialize, Serialize};

/// Disk counters of the measured part of a phase, without the ramp time.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct MeasuredTraffic {
    /// Counters from the end of the ramp time to the end of the measurement.
    pub disks: Vec<DiskStats>,
    /// Bytes that this program read from storage in the same time, if the kernel counts them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub own_read: Option<Bytes>,
    /// Bytes that this program wrote to storage in the same time, if the kernel counts them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub own_written: Option<Bytes>,
}

/// Cost of laying out the files of a phase before the measurement.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct LaidOut {
    /// Bytes written into the files.
    pub bytes: Bytes,
    /// Elapsed time, including the flush at the end of each file.
    pub elapsed: Nanos,
    /// Disk counters of the layout.
    pub disks: Vec<DiskStats>,
}

/// Pause of the process or host during a phase.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pause {
    /// Start, relative to the start of the phase's workers.
    pub at: Nanos,
    /// Length.
    pub length: Nanos,
    /// Type.
    pub kind: PauseKind,
}

/// Type of a pause.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PauseKind {
    /// The process was stopped: SIGSTOP, a debugger, a frozen control group.
    Stopped,
    /// The host was suspended: `CLOCK_BOOTTIME` advanced, but `CLOCK_MONOTONIC` did not.
    Suspended,
}

/// Run excluded from the figures of a phase.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LeftOutRun {
    /// Number of the run in the series, from 1.
    pub run: u32,
    /// Reason.
    pub because: LeftOutReason,
}

/// Reason why a run is excluded while other runs of the series count.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "reason")]
pub enum LeftOutReason {
    /// It was interrupted, or an error or a limit of the job ended it.
    Unfinished,
    /// A worker was ready to run but waited for a CPU.
    Descheduled {
        /// Run-queue wait of the worker that waited longest.
        waited: Nanos,
        /// Measured time.
        measured: Nanos,
    },
    /// The hypervisor gave CPU time to other guests.
    StolenTime {
        /// Steal time of all CPUs.
        stolen: Nanos,
        /// Measured time.
        measured: Nanos,
    },
    /// Every interval contains a pause of the process or host.
    Paused,
}

/// CPU time lost during a phase.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct HostPauses {
    /// Pauses, in order.
    pub pauses: Vec<Pause>,
    /// Time that the hypervisor took from all CPUs (steal time).
    pub stolen: Nanos,
    /// Number of CPUs of the host.
    pub processors: u32,
}

impl HostPauses {
    /// Returns the total length of the pauses of one kind.
    pub fn total(&self, kind: PauseKind) -> Nanos {
        let of_kind = self.pauses.iter().filter(|pause| pause.kind == kind);
        Nanos(of_kind.fold(0, |sum, pause| sum.saturating_add(pause.length.0)))
    }

    /// Whether a pause overlaps a time range, relative to the start of the phase's workers.
    pub fn touches(&self, from: Nanos, to: Nanos) -> bool {
        self.pauses.iter().any(|pause| {
            pause.at < to && from < Nanos(pause.at.0.saturating_add(pause.length.0.max(1)))
        })
    }
}

/// Methods that an engine used to issue I/O, beyond the settings of the job.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct EngineUse {
    /// Buffers were registered with the ring.
    pub registered_buffers: bool,
    /// Files were registered with the ring.
    pub registered_files: bool,
    /// One system call submits and waits; the submission time of an I/O is the start of that call.
    pub submits_and_waits: bool,
    /// The worker is a thread of the program, not a process.
    pub thread: bool,
    /// The worker has its own file descriptor table.
    pub own_file_table: bool,
}

/// Reason why I/O amplification is missing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "reason")]
pub enum NoAmplification {
    /// The operating system runs from the disk, and other programs transferred more than a tenth of the job's bytes.
    OtherUsers {
        /// Bytes transferred by the disk that this program did not request.
        others: Bytes,
        /// Bytes of the job.
        own: Bytes,
    },
    /// The operating system runs from the disk, and the I/O of this program was not counted separately.
    SystemDisk,
    /// There was a ramp time, and the disk counters include its traffic, which the job does not count.
    RampNotCounted,
    /// The disk counters of another program miss a part of its direct writes, so they do not cover the whole run.
    CountersIncomplete {
        /// Written bytes in the disk counters.
        counted: Bytes,
        /// Written bytes of the job.
        written: Bytes,
    },
}
