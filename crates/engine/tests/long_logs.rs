//! Logs of many jobs over a long time: memory use stays constant.

#[path = "it/common/mod.rs"]
mod common;

use common::{MIB, go_observed, on_card, plan, read_rand, scenario};
use hakaru_engine::{LogChunk, Observer};
use hakaru_model::device_model::DeviceModel;
use hakaru_model::units::{Bytes, Nanos};

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
    let card = DeviceModel::plain("card", Bytes(1 << 30));
    let mut job = on_card(card, read_rand(), 4096, 64 * MIB);
    job.numjobs = JOBS;
    job.timing.runtime = Some(Nanos::from_secs(whole_s));
    job.timing.time_based = true;
    job.rate.iops.read = Some(1);
    job.measure.logs.histogram = Some(Nanos::SECOND);
    // The intervals of the record are bounded separately, and not tested here.
    job.measure.intervals = false;

    let mut listener = Listener {
        histograms: 0,
        look_at: Nanos::from_secs(early_s),
        early_kib: None,
    };
    let report = go_observed(&plan(&scenario(vec![job])), &mut listener);
    let end_kib = resident_kib();
    assert_eq!(report.error, None);
    let (expected, got) = (u64::from(JOBS) * whole_s, listener.histograms);
    let enough = got >= expected - u64::from(JOBS);
    assert!(enough, "{got} of {expected} histograms");
    let (Some(early), Some(end)) = (listener.early_kib, end_kib) else {
        return eprintln!("SKIPPED: this system does not report the memory of a process");
    };
    let grown = format!("{early} KiB after {early_s} s, {end} KiB after {whole_s} s");
    println!("{grown}");
    assert!(end <= early + 4096, "{grown}");
}
