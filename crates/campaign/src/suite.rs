//! The standard suite: default workloads for a storage device.
//!
//! The workloads are those of published card comparisons: sequential at 1 MiB, random at 4 KiB with one I/O in
//! flight, mixed, durable writes with an fsync each, and a sustained write that exceeds all caches.

use hakaru_model::job::{Access, IoEngine, Job, Op, Phase, Scenario, SizeSpec, Target};
use hakaru_model::units::{Bytes, Nanos};

const MIB: u64 = 1 << 20;

/// A workload of the suite.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum SuiteWorkload {
    /// Sequential 1 MiB writes.
    SeqWrite,
    /// Sequential 1 MiB reads.
    SeqRead,
    /// Random 4 KiB writes, one in flight.
    RandWrite,
    /// Random 4 KiB reads, one in flight.
    RandRead,
    /// Alternating 1 MiB reads and writes.
    Mixed,
    /// 4 KiB writes with an `fsync` after each.
    Durable,
    /// Long 1 MiB writes that show when the speed falls.
    Sustained,
}

impl SuiteWorkload {
    /// All workloads in the order they run: writes first, so that reads find data.
    pub const ALL: [SuiteWorkload; 7] = [
        SuiteWorkload::SeqWrite,
        SuiteWorkload::SeqRead,
        SuiteWorkload::RandWrite,
        SuiteWorkload::RandRead,
        SuiteWorkload::Mixed,
        SuiteWorkload::Durable,
        SuiteWorkload::Sustained,
    ];

    /// Returns its name on the command line and in results.
    pub fn name(self) -> &'static str {
        match self {
            SuiteWorkload::SeqWrite => "seq-write",
            SuiteWorkload::SeqRead => "seq-read",
            SuiteWorkload::RandWrite => "rand-write",
            SuiteWorkload::RandRead => "rand-read",
            SuiteWorkload::Mixed => "mixed",
            SuiteWorkload::Durable => "durable",
            SuiteWorkload::Sustained => "sustained",
        }
    }

    /// Returns the workload with this name.
    pub fn from_name(name: &str) -> Option<SuiteWorkload> {
        SuiteWorkload::ALL.into_iter().find(|w| w.name() == name)
    }

    /// Whether it writes.
    pub fn writes(self) -> bool {
        !matches!(self, SuiteWorkload::SeqRead | SuiteWorkload::RandRead)
    }

    fn access(self) -> Access {
        match self {
            SuiteWorkload::SeqWrite | SuiteWorkload::Durable | SuiteWorkload::Sustained => {
                Access::only(Op::Write, false)
            }
            SuiteWorkload::SeqRead => Access::only(Op::Read, false),
            SuiteWorkload::RandWrite => Access::only(Op::Write, true),
            SuiteWorkload::RandRead => Access::only(Op::Read, true),
            SuiteWorkload::Mixed => Access::mixed(50, false),
        }
    }

    fn block(self) -> Bytes {
        match self {
            SuiteWorkload::RandWrite | SuiteWorkload::RandRead | SuiteWorkload::Durable => {
                Bytes(4096)
            }
            _ => Bytes(MIB),
        }
    }
}

/// Length of the suite.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SuiteLength {
    /// Under a minute for three rounds, for a first impression.
    Quick,
    /// As in published comparisons: one minute a workload, two minutes for the sustained write.
    Standard,
}

impl SuiteLength {
    /// Returns the ramp time and the measured time of a workload.
    fn times(self, workload: SuiteWorkload) -> (Nanos, Nanos) {
        match (self, workload) {
            (SuiteLength::Quick, SuiteWorkload::Sustained) => (Nanos(0), Nanos::from_millis(4_000)),
            (SuiteLength::Quick, _) => (Nanos::from_millis(150), Nanos::from_millis(1_500)),
            (SuiteLength::Standard, SuiteWorkload::Sustained) => (Nanos(0), Nanos::from_secs(120)),
            (SuiteLength::Standard, SuiteWorkload::Durable | SuiteWorkload::Mixed) => {
                (Nanos(0), Nanos::from_secs(30))
            }
            (SuiteLength::Standard, _) => (Nanos::from_secs(2), Nanos::from_secs(60)),
        }
    }

    /// Returns the default number of rounds.
    pub fn repeats(self) -> u32 {
        match self {
            SuiteLength::Quick => 3,
            SuiteLength::Standard => 1,
        }
    }

    /// Returns the default size of the tested area.
    pub fn size(self) -> Bytes {
        match self {
            SuiteLength::Quick => Bytes(256 * MIB),
            SuiteLength::Standard => Bytes(1024 * MIB),
        }
    }

    /// Returns the length of an interval; short runs need short intervals to show changes over time.
    fn tick(self) -> Nanos {
        match self {
            SuiteLength::Quick => Nanos::from_millis(100),
            SuiteLength::Standard => Nanos::from_millis(500),
        }
    }
}

/// Parameters of the suite.
#[derive(Clone, Debug, PartialEq)]
pub struct Suite {
    /// Length of the suite.
    pub pace: SuiteLength,
    /// Workloads in the order they run.
    pub workloads: Vec<SuiteWorkload>,
    /// Size of the tested area.
    pub size: Bytes,
    /// Seed of all offsets.
    pub seed: u64,
    /// I/O engine.
    pub ioengine: IoEngine,
}

impl Suite {
    /// Returns the scenario for a target whose content may be overwritten (or is only read, if all workloads read).
    pub fn scenario(&self, target: &Target) -> Scenario {
        let phases = self.workloads.iter().map(|&workload| Phase {
            name: workload.name().to_owned(),
            jobs: vec![self.job(workload, target)],
        });
        let name = match self.pace {
            SuiteLength::Quick => "bench --quick",
            SuiteLength::Standard => "bench --standard",
        };
        Scenario {
            name: name.to_owned(),
            seed: self.seed,
            phases: phases.collect(),
        }
    }

    fn job(&self, workload: SuiteWorkload, target: &Target) -> Job {
        let mut job = Job::new(workload.name(), target.clone(), workload.access())
            .with_block(workload.block());
        let (ramp_time, runtime) = self.pace.times(workload);
        job.ioengine = self.ioengine;
        job.files.direct = true;
        job.extent.size = Some(SizeSpec::Bytes(self.size));
        job.timing.ramp_time = ramp_time;
        job.timing.runtime = Some(runtime);
        job.timing.time_based = true;
        job.measure.tick = self.pace.tick();
        if workload == SuiteWorkload::Durable {
            job.durability.fsync_every = 1;
        }
        job
    }

    /// Returns the time of all phases of one round, without layout.
    pub fn duration(&self) -> Nanos {
        let time = |&w: &SuiteWorkload| {
            let (ramp, run) = self.pace.times(w);
            ramp.0 + run.0
        };
        Nanos(self.workloads.iter().map(time).sum())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_quick_suite_stays_under_a_minute() {
        let suite = Suite {
            pace: SuiteLength::Quick,
            workloads: SuiteWorkload::ALL.to_vec(),
            size: SuiteLength::Quick.size(),
            seed: 1,
            ioengine: IoEngine::Psync,
        };
        let rounds = u64::from(SuiteLength::Quick.repeats()) * suite.duration().0;
        assert!(Nanos(rounds) < Nanos::from_secs(45), "{}", Nanos(rounds));
    }

    #[test]
    fn names_lead_back_to_their_workload() {
        assert!(
            SuiteWorkload::ALL
                .into_iter()
                .all(|w| SuiteWorkload::from_name(w.name()) == Some(w))
        );
        assert_eq!(SuiteWorkload::from_name("seq"), None);
    }
}
