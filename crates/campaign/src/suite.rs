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
    /// Random I/O with a block size, a queue depth and a number of jobs; see [`DEEP`].
    Deep(DeepWorkload),
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
            SuiteWorkload::Deep(point) => point.name,
        }
    }

    /// Returns the workload with this name.
    pub fn from_name(name: &str) -> Option<SuiteWorkload> {
        let mut all = SuiteWorkload::ALL.into_iter().chain(DEEP);
        all.find(|w| w.name() == name)
    }

    /// Returns the share of reads in percent.
    pub fn read_percent(self) -> u32 {
        match self {
            SuiteWorkload::SeqRead | SuiteWorkload::RandRead => 100,
            SuiteWorkload::Mixed => 50,
            SuiteWorkload::Deep(point) => point.read_percent,
            SuiteWorkload::SeqWrite
            | SuiteWorkload::RandWrite
            | SuiteWorkload::Durable
            | SuiteWorkload::Sustained => 0,
        }
    }

    /// Whether it writes.
    pub fn writes(self) -> bool {
        self.read_percent() < 100
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
            SuiteWorkload::Deep(point) => match point.read_percent {
                0 => Access::only(Op::Write, true),
                100 => Access::only(Op::Read, true),
                percent => Access::mixed(percent, true),
            },
        }
    }

    fn block(self) -> Bytes {
        match self {
            SuiteWorkload::RandWrite | SuiteWorkload::RandRead | SuiteWorkload::Durable => {
                Bytes(4096)
            }
            SuiteWorkload::Deep(point) => Bytes(point.block),
            _ => Bytes(MIB),
        }
    }
}

/// A workload of the deep suite: random I/O with a block size, a queue depth and a number of jobs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct DeepWorkload {
    name: &'static str,
    read_percent: u32,
    block: u64,
    iodepth: u32,
    numjobs: u32,
}

const fn deep(
    name: &'static str,
    read_percent: u32,
    block: u64,
    iodepth: u32,
    numjobs: u32,
) -> SuiteWorkload {
    SuiteWorkload::Deep(DeepWorkload {
        name,
        read_percent,
        block,
        iodepth,
        numjobs,
    })
}

/// The deep suite: reads, writes and 70% reads, at queue depths 1 and 32, with 1 and 4 jobs, in three block sizes.
pub const DEEP: [SuiteWorkload; 36] = [
    deep("read-4k-q1-j1", 100, 4096, 1, 1),
    deep("write-4k-q1-j1", 0, 4096, 1, 1),
    deep("mix-4k-q1-j1", 70, 4096, 1, 1),
    deep("read-4k-q1-j4", 100, 4096, 1, 4),
    deep("write-4k-q1-j4", 0, 4096, 1, 4),
    deep("mix-4k-q1-j4", 70, 4096, 1, 4),
    deep("read-4k-q32-j1", 100, 4096, 32, 1),
    deep("write-4k-q32-j1", 0, 4096, 32, 1),
    deep("mix-4k-q32-j1", 70, 4096, 32, 1),
    deep("read-4k-q32-j4", 100, 4096, 32, 4),
    deep("write-4k-q32-j4", 0, 4096, 32, 4),
    deep("mix-4k-q32-j4", 70, 4096, 32, 4),
    deep("read-64k-q1-j1", 100, 65536, 1, 1),
    deep("write-64k-q1-j1", 0, 65536, 1, 1),
    deep("mix-64k-q1-j1", 70, 65536, 1, 1),
    deep("read-64k-q1-j4", 100, 65536, 1, 4),
    deep("write-64k-q1-j4", 0, 65536, 1, 4),
    deep("mix-64k-q1-j4", 70, 65536, 1, 4),
    deep("read-64k-q32-j1", 100, 65536, 32, 1),
    deep("write-64k-q32-j1", 0, 65536, 32, 1),
    deep("mix-64k-q32-j1", 70, 65536, 32, 1),
    deep("read-64k-q32-j4", 100, 65536, 32, 4),
    deep("write-64k-q32-j4", 0, 65536, 32, 4),
    deep("mix-64k-q32-j4", 70, 65536, 32, 4),
    deep("read-1m-q1-j1", 100, 1048576, 1, 1),
    deep("write-1m-q1-j1", 0, 1048576, 1, 1),
    deep("mix-1m-q1-j1", 70, 1048576, 1, 1),
    deep("read-1m-q1-j4", 100, 1048576, 1, 4),
    deep("write-1m-q1-j4", 0, 1048576, 1, 4),
    deep("mix-1m-q1-j4", 70, 1048576, 1, 4),
    deep("read-1m-q32-j1", 100, 1048576, 32, 1),
    deep("write-1m-q32-j1", 0, 1048576, 32, 1),
    deep("mix-1m-q32-j1", 70, 1048576, 32, 1),
    deep("read-1m-q32-j4", 100, 1048576, 32, 4),
    deep("write-1m-q32-j4", 0, 1048576, 32, 4),
    deep("mix-1m-q32-j4", 70, 1048576, 32, 4),
];

/// Length of the suite.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SuiteLength {
    /// Under a minute for three rounds, for a first impression.
    Quick,
    /// As in published comparisons: one minute a workload, two minutes for the sustained write.
    Standard,
}

/// Measured time of the quick mixed workload. Each I/O is drawn to be a read or a write: at 10 MB/s, 1.5 s are 14 I/Os of
/// 1 MiB, and the share of reads has a standard deviation of 13%; 2.5 s in each of three rounds are 72 I/Os and 6%.
const QUICK_MIXED_MS: u64 = 2_500;

impl SuiteLength {
    /// Returns the ramp time and the measured time of a workload.
    fn times(self, workload: SuiteWorkload) -> (Nanos, Nanos) {
        match (self, workload) {
            (SuiteLength::Quick, SuiteWorkload::Sustained) => (Nanos(0), Nanos::from_millis(4_000)),
            (SuiteLength::Quick, SuiteWorkload::Mixed) => {
                (Nanos::from_millis(150), Nanos::from_millis(QUICK_MIXED_MS))
            }
            (SuiteLength::Standard, SuiteWorkload::Deep(_)) => {
                (Nanos::from_secs(1), Nanos::from_secs(10))
            }
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
        let is_deep = self
            .workloads
            .iter()
            .any(|w| matches!(w, SuiteWorkload::Deep(_)));
        let name = match (self.pace, is_deep) {
            (SuiteLength::Quick, false) => "bench --quick",
            (SuiteLength::Standard, false) => "bench --standard",
            (SuiteLength::Quick, true) => "bench --deep --quick",
            (SuiteLength::Standard, true) => "bench --deep --standard",
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
        if let SuiteWorkload::Deep(point) = workload {
            job.queue.iodepth = point.iodepth;
            job.numjobs = point.numjobs;
        }
        if workload == SuiteWorkload::Durable {
            job.durability.fsync_every = 1;
        }
        job
    }

    /// Returns the bytes that one round writes at this speed in bytes per second, without layout. Mixed workloads write
    /// their share.
    pub fn written_at(&self, speed: u64) -> Bytes {
        let of = |&w: &SuiteWorkload| {
            let (ramp, run) = self.pace.times(w);
            let share = f64::from(100 - w.read_percent()) / 100.0;
            (ramp.0 + run.0) as f64 / 1e9 * share * speed as f64
        };
        Bytes(self.workloads.iter().map(of).sum::<f64>() as u64)
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
    fn the_deep_suite_has_each_combination_once() {
        let points: std::collections::BTreeSet<SuiteWorkload> = DEEP.into_iter().collect();
        assert_eq!(points.len(), 36);
        let suite = Suite {
            pace: SuiteLength::Standard,
            workloads: DEEP.to_vec(),
            size: Bytes(1 << 30),
            seed: 1,
            ioengine: IoEngine::IoUring,
        };
        let scenario = suite.scenario(&Target::Nothing);
        assert_eq!(scenario.name, "bench --deep --standard");
        for (phase, workload) in scenario.phases.iter().zip(DEEP) {
            let (job, SuiteWorkload::Deep(point)) = (&phase.jobs[0], workload) else {
                panic!("{} is no deep workload", phase.name)
            };
            let name = format!("q{}-j{}", job.queue.iodepth, job.numjobs);
            assert!(phase.name.ends_with(&name), "{}", phase.name);
            assert_eq!(
                (point.iodepth, point.numjobs),
                (job.queue.iodepth, job.numjobs)
            );
        }
        // 12 write workloads of 11 s, and 12 that write 30% of the time, at 100 MB/s.
        let written = suite.written_at(100_000_000);
        assert!(written.0.abs_diff(17_160_000_000) < 1_000, "{written:?}");
    }

    /// Figures of rules name the workload that measures them.
    #[test]
    fn workloads_of_figures_are_in_the_suite() {
        use hakaru_model::figure::Figure::*;
        for figure in [
            SequentialRead,
            SequentialWrite,
            RandomRead,
            RandomWrite,
            RandomReadP99,
            SyncP99,
            SyncP999,
            SustainedWrite,
            SlowestWrite,
        ] {
            assert!(
                SuiteWorkload::from_name(figure.workload()).is_some(),
                "{figure:?}"
            );
        }
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
