//! Logs of many jobs over a long time: memory use stays constant.

mod common;

use common::{MIB, on_card, plan};
use hakaru_engine::{ClockChoice, LogChunk, Observer, RunOptions, run};
use hakaru_model::device_model::DeviceModel;
use hakaru_model::job::{Access, Op, Phase, Scenario};
use hakaru_model::units::{Bytes, Nanos};
use std::sync::atomic::AtomicBool;

const JOBS: u32 = 64;

/// Returns the length of the run and the time of the first memory check, in seconds of simulated time. With
/// `HAKARU_LONG=1`, the run is an hour and the first check is after five minutes; this takes minutes of real time.
fn times() -> (u64, u64) {
    if std::env::var_os("HAKARU_LONG").is_some() {
        (3600, 300)
    } else {
        (180, 45)
    }
}

/// Counts log messages, and reads the memory use of the process early in the run.
struct Listener {
    histograms: u64,
    look_at: Nanos,
    early_kib: Option<u64>,
}

impl Observer for Listener {
    fn log(&mut self, _: usize, chunk: &LogChunk) {
        self.histograms += chunk.histograms.len() as u64;
        if self.early_kib.is_none() && chunk.histograms.iter().any(|h| h.at >= self.look_at) {
            self.early_kib = resident_kib();
        }
    }
}

/// Resident memory of this process, in KiB.
fn resident_kib() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/self/status").ok()?;
    text.lines().find_map(|line| {
        line.strip_prefix("VmRSS:")?
            .trim()
            .strip_suffix(" kB")?
            .trim()
            .parse()
            .ok()
    })
}

#[test]
fn memory_does_not_grow_with_the_length_of_a_run() {
    let (whole_s, early_s) = times();
    let mut job = on_card(
        DeviceModel::plain("card", Bytes(1 << 30)),
        Access::only(Op::Read, true),
        4096,
        64 * MIB,
    );
    job.numjobs = JOBS;
    job.timing.runtime = Some(Nanos::from_secs(whole_s));
    job.timing.time_based = true;
    job.rate.iops.read = Some(1);
    job.measure.logs.histogram = Some(Nanos::SECOND);
    // The intervals of the record are bounded separately, and not tested here.
    job.measure.intervals = false;
    let plan = plan(&Scenario {
        name: "hour".into(),
        seed: 1,
        phases: vec![Phase {
            name: "hour".into(),
            jobs: vec![job],
        }],
    });
    let (clock, stop) = (
        ClockChoice::Kernel { because: None },
        AtomicBool::new(false),
    );
    let (direct_fallback, replace_engines, wall_clock) = (false, false, || 0);
    let options = RunOptions {
        clock: &clock,
        stop: &stop,
        direct_fallback,
        replace_engines,
        wall_clock,
    };
    let mut listener = Listener {
        histograms: 0,
        look_at: Nanos::from_secs(early_s),
        early_kib: None,
    };
    let report = run(&plan, &options, &mut listener);
    let end_kib = resident_kib();
    assert_eq!(report.error, None);
    let expected = u64::from(JOBS) * whole_s;
    assert!(
        listener.histograms >= expected - u64::from(JOBS),
        "{} of {expected} histograms",
        listener.histograms
    );
    match (listener.early_kib, end_kib) {
        (Some(early), Some(end)) => {
            println!("{early} KiB after {early_s} s, {end} KiB after {whole_s} s");
            assert!(
                end <= early + 4096,
                "{early} KiB after {early_s} s, {end} KiB after {whole_s} s"
            );
        }
        _ => eprintln!("SKIPPED: this system does not tell the memory of a process"),
    }
}
