//! The standard suite: what is measured on a thing that somebody just wants measured.
//!
//! The workloads are those of published card comparisons: sequential at 1 MiB, random at 4 KiB with one I/O in flight,
//! mixed, durable writes with an fsync each, and a write long enough to leave every cache behind.

use hakaru_model::job::{Access, IoEngine, Job, Op, Phase, Scenario, SizeSpec, Target};
use hakaru_model::units::{Bytes, Nanos};

const MIB: u64 = 1 << 20;

/// One measurement of the suite.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum SuiteWorkload {
    /// 1 MiB writes, one after another.
    SeqWrite,
    /// 1 MiB reads, one after another.
    SeqRead,
    /// 4 KiB writes all over the file, one in flight.
    RandWrite,
    /// 4 KiB reads all over the file, one in flight.
    RandRead,
    /// 1 MiB reads and writes by turns.
    Mixed,
    /// 4 KiB writes with an fsync after each.
    Durable,
    /// 1 MiB writes for long, to see when speed falls.
    Sustained,
}

impl SuiteWorkload {
    /// All of them, in the order they run: the writes first, so that reads find data.
    pub const ALL: [SuiteWorkload; 7] = [
        SuiteWorkload::SeqWrite,
        SuiteWorkload::SeqRead,
        SuiteWorkload::RandWrite,
        SuiteWorkload::RandRead,
        SuiteWorkload::Mixed,
        SuiteWorkload::Durable,
        SuiteWorkload::Sustained,
    ];

    /// Its name on the command line and in results.
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

    /// The workload of that name.
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

/// How long the suite takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SuiteLength {
    /// Under a minute for three rounds: a first impression.
    Quick,
    /// As published comparisons do it: a minute a workload, two for the sustained write.
    Standard,
}

impl SuiteLength {
    /// Times of one workload: lead-in and measurement.
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

    /// Rounds unless somebody asks for another number.
    pub fn repeats(self) -> u32 {
        match self {
            SuiteLength::Quick => 3,
            SuiteLength::Standard => 1,
        }
    }

    /// Bytes the suite works on unless somebody asks for another size.
    pub fn size(self) -> Bytes {
        match self {
            SuiteLength::Quick => Bytes(256 * MIB),
            SuiteLength::Standard => Bytes(1024 * MIB),
        }
    }

    /// Length of an interval: short runs need short ones, or there is nothing to see over time.
    fn tick(self) -> Nanos {
        match self {
            SuiteLength::Quick => Nanos::from_millis(100),
            SuiteLength::Standard => Nanos::from_millis(500),
        }
    }
}

/// What to measure, and for how long.
#[derive(Clone, Debug, PartialEq)]
pub struct Suite {
    /// How long.
    pub pace: SuiteLength,
    /// Which workloads, in this order.
    pub workloads: Vec<SuiteWorkload>,
    /// Bytes to work on.
    pub size: Bytes,
    /// Seed of all offsets.
    pub seed: u64,
    /// How I/O is issued.
    pub ioengine: IoEngine,
}

impl Suite {
    /// The suite on a target whose content may be overwritten (or is only read, if only reads are asked for).
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

    /// Time all phases of one round take, besides lay-out.
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
