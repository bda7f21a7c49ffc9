//! The standard suite: what is measured on a thing that somebody just wants measured.
//!
//! The workloads are those of published card comparisons: sequential at 1 MiB, random at 4 KiB with one I/O in flight,
//! mixed, durable writes with an fsync each, and a write long enough to leave every cache behind.

use hakaru_model::job::{Access, IoEngine, Job, Op, Phase, Scenario, SizeSpec, Target};
use hakaru_model::units::{Bytes, Nanos};

const MIB: u64 = 1 << 20;

/// One measurement of the suite.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Workload {
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

impl Workload {
    /// All of them, in the order they run: the writes first, so that reads find data.
    pub const ALL: [Workload; 7] = [
        Workload::SeqWrite,
        Workload::SeqRead,
        Workload::RandWrite,
        Workload::RandRead,
        Workload::Mixed,
        Workload::Durable,
        Workload::Sustained,
    ];

    /// Its name on the command line and in results.
    pub fn name(self) -> &'static str {
        match self {
            Workload::SeqWrite => "seq-write",
            Workload::SeqRead => "seq-read",
            Workload::RandWrite => "rand-write",
            Workload::RandRead => "rand-read",
            Workload::Mixed => "mixed",
            Workload::Durable => "durable",
            Workload::Sustained => "sustained",
        }
    }

    /// The workload of that name.
    pub fn from_name(name: &str) -> Option<Workload> {
        Workload::ALL.into_iter().find(|w| w.name() == name)
    }

    /// Whether it writes.
    pub fn writes(self) -> bool {
        !matches!(self, Workload::SeqRead | Workload::RandRead)
    }

    fn access(self) -> Access {
        match self {
            Workload::SeqWrite | Workload::Durable | Workload::Sustained => Access::only(Op::Write, false),
            Workload::SeqRead => Access::only(Op::Read, false),
            Workload::RandWrite => Access::only(Op::Write, true),
            Workload::RandRead => Access::only(Op::Read, true),
            Workload::Mixed => Access::mixed(50, false),
        }
    }

    fn block(self) -> Bytes {
        match self {
            Workload::RandWrite | Workload::RandRead | Workload::Durable => Bytes(4096),
            _ => Bytes(MIB),
        }
    }
}

/// How long the suite takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pace {
    /// Under a minute for three rounds: a first impression.
    Quick,
    /// As published comparisons do it: a minute a workload, two for the sustained write.
    Standard,
}

impl Pace {
    /// Times of one workload: lead-in and measurement.
    fn times(self, workload: Workload) -> (Nanos, Nanos) {
        match (self, workload) {
            (Pace::Quick, Workload::Sustained) => (Nanos(0), Nanos::from_millis(4_000)),
            (Pace::Quick, _) => (Nanos::from_millis(150), Nanos::from_millis(1_500)),
            (Pace::Standard, Workload::Sustained) => (Nanos(0), Nanos::from_secs(120)),
            (Pace::Standard, Workload::Durable | Workload::Mixed) => (Nanos(0), Nanos::from_secs(30)),
            (Pace::Standard, _) => (Nanos::from_secs(2), Nanos::from_secs(60)),
        }
    }

    /// Rounds unless somebody asks for another number.
    pub fn repeats(self) -> u32 {
        match self {
            Pace::Quick => 3,
            Pace::Standard => 1,
        }
    }

    /// Bytes the suite works on unless somebody asks for another size.
    pub fn size(self) -> Bytes {
        match self {
            Pace::Quick => Bytes(256 * MIB),
            Pace::Standard => Bytes(1024 * MIB),
        }
    }

    /// Length of an interval: short runs need short ones, or there is nothing to see over time.
    fn tick(self) -> Nanos {
        match self {
            Pace::Quick => Nanos::from_millis(100),
            Pace::Standard => Nanos::from_millis(500),
        }
    }
}

/// What to measure, and for how long.
#[derive(Clone, Debug, PartialEq)]
pub struct Suite {
    /// How long.
    pub pace: Pace,
    /// Which workloads, in this order.
    pub workloads: Vec<Workload>,
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
        let phases = self
            .workloads
            .iter()
            .map(|&workload| Phase { name: workload.name().to_owned(), jobs: vec![self.job(workload, target)] });
        let name = match self.pace {
            Pace::Quick => "bench --quick",
            Pace::Standard => "bench --standard",
        };
        Scenario { name: name.to_owned(), seed: self.seed, phases: phases.collect() }
    }

    fn job(&self, workload: Workload, target: &Target) -> Job {
        let mut job = Job::new(workload.name(), target.clone(), workload.access()).with_block(workload.block());
        let (ramp_time, runtime) = self.pace.times(workload);
        job.ioengine = self.ioengine;
        job.files.direct = true;
        job.extent.size = Some(SizeSpec::Bytes(self.size));
        job.timing.ramp_time = ramp_time;
        job.timing.runtime = Some(runtime);
        job.timing.time_based = true;
        job.measure.tick = self.pace.tick();
        if workload == Workload::Durable {
            job.durability.fsync_every = 1;
        }
        job
    }

    /// Time all phases of one round take, besides lay-out.
    pub fn duration(&self) -> Nanos {
        let time = |&w: &Workload| {
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
            pace: Pace::Quick,
            workloads: Workload::ALL.to_vec(),
            size: Pace::Quick.size(),
            seed: 1,
            ioengine: IoEngine::Psync,
        };
        let rounds = u64::from(Pace::Quick.repeats()) * suite.duration().0;
        assert!(Nanos(rounds) < Nanos::from_secs(45), "{}", Nanos(rounds));
    }

    #[test]
    fn names_lead_back_to_their_workload() {
        assert!(Workload::ALL.into_iter().all(|w| Workload::from_name(w.name()) == Some(w)));
        assert_eq!(Workload::from_name("seq"), None);
    }
}
