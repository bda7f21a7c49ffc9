//! Tool overhead: the same worker loop on the `null` engine, timed at the start of a measurement.

use crate::clock::ClockChoice;
use crate::run::{NoObserver, RunOptions, run};
use hakaru_model::job::{Access, IoEngine, Job, Op, Scenario, SizeSpec, Target};
use hakaru_model::plan::{Facts, Plan};
use hakaru_model::record::Overhead;
use hakaru_model::units::Bytes;
use std::sync::atomic::AtomicBool;

/// Number of I/Os per try; takes a few milliseconds on any host.
const IOS: u64 = 100_000;
/// Number of tries. The fastest counts, because other load only makes a try slower.
const TRIES: usize = 3;

/// Measures the cost of an I/O apart from the system call, with all recording enabled. Takes well under 0.2 s.
///
/// Returns `None` if it could not run.
pub fn measure_overhead(clock: &ClockChoice) -> Option<Overhead> {
    let mut job = Job::new("overhead", Target::Nothing, Access::only(Op::Read, true));
    job.ioengine = IoEngine::Null;
    job.extent.size = Some(SizeSpec::Bytes(Bytes(IOS * 4096)));
    let plan = Plan::resolve(&Scenario::of_job(job), &Facts::new()).ok()?;
    let stop = AtomicBool::new(false);
    let options = RunOptions {
        clock,
        stop: &stop,
        direct_fallback: false,
        replace_engines: false,
        record_operations: false,
        wall_clock: || 0,
    };
    let quickest = (0..TRIES).filter_map(|_| {
        let report = run(&plan, &options, &mut NoObserver);
        let worker = report.phases.first()?.workers.first()?;
        (worker.ops.read.ios > 0).then(|| worker.runtime.0 * 1000 / worker.ops.read.ios)
    });
    Some(Overhead {
        per_io_ps: quickest.min()?,
        samples: IOS * TRIES as u64,
    })
}
