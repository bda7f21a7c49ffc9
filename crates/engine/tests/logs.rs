//! Log messages of running workers, on a simulated card with known values.

mod common;

use common::{MIB, on_card, plan, scenario};
use hakaru_engine::{ClockChoice, LogChunk, Observer, RunOptions, run};
use hakaru_model::device_model::DeviceModel;
use hakaru_model::job::{Access, Job, Op};
use hakaru_model::units::Nanos;
use std::sync::atomic::AtomicBool;

/// Records all log messages.
#[derive(Default)]
struct Listener(Vec<(usize, LogChunk)>);

impl Observer for Listener {
    fn log(&mut self, worker: usize, chunk: &LogChunk) {
        self.0.push((worker, chunk.clone()));
    }
}

fn told(job: Job) -> Vec<(usize, LogChunk)> {
    let plan = plan(&scenario(vec![job]));
    let clock = ClockChoice::Kernel { because: None };
    let stop = AtomicBool::new(false);
    let (direct_fallback, replace_engines, wall_clock) = (false, false, || 5_000);
    let options = RunOptions {
        clock: &clock,
        stop: &stop,
        direct_fallback,
        replace_engines,
        wall_clock,
    };
    let mut listener = Listener::default();
    let report = run(&plan, &options, &mut listener);
    assert_eq!(report.error, None);
    listener.0
}

fn job(access: Access) -> Job {
    let mut job = on_card(
        DeviceModel::plain("card", hakaru_model::units::Bytes(256 * MIB)),
        access,
        4096,
        4 * MIB,
    );
    job.measure.logs.samples = true;
    job
}

#[test]
fn each_io_is_told_once() {
    let mut job = job(Access::only(Op::Read, false));
    job.queue.iodepth = 4;
    let chunks = told(job);
    let samples: Vec<_> = chunks
        .iter()
        .flat_map(|(_, chunk)| &chunk.samples)
        .collect();
    assert_eq!(samples.len(), 1024);
    let mut offsets: Vec<u64> = samples.iter().map(|s| s.offset).collect();
    offsets.sort_unstable();
    assert!(
        offsets
            .iter()
            .enumerate()
            .all(|(i, &offset)| offset == i as u64 * 4096)
    );
    assert!(
        samples
            .iter()
            .all(|s| s.len == 4096 && s.iops == Some(1) && s.latency.iter().all(Option::is_some))
    );
    assert!(samples.windows(2).all(|pair| pair[0].at <= pair[1].at));
    assert_eq!(chunks[0].1.epoch_unix_ms, 5_000);
}

#[test]
fn windows_add_up_to_the_whole() {
    let mut job = job(Access::mixed(50, true));
    job.measure.logs.window = Some(Nanos::from_millis(100));
    job.measure.logs.histogram = Some(Nanos::from_millis(200));
    job.measure.logs.coarseness = 6;
    let chunks = told(job);
    let histograms: u64 = chunks
        .iter()
        .flat_map(|(_, c)| &c.histograms)
        .flat_map(|h| h.counts.iter())
        .sum();
    assert_eq!(histograms, 1024);
    let samples: Vec<_> = chunks
        .iter()
        .flat_map(|(_, chunk)| &chunk.samples)
        .collect();
    assert!(samples.iter().all(|s| s.len == 0 && s.offset == 0));
    let whole = samples.iter().filter_map(|s| s.iops).sum::<u64>() / 10;
    assert!(
        (900..=1024).contains(&whole),
        "{whole} I/Os in whole windows"
    );
    assert!(
        chunks
            .iter()
            .flat_map(|(_, c)| &c.histograms)
            .all(|h| h.counts.len() == 29)
    );
}

#[test]
fn the_largest_latency_of_a_window_is_no_less_than_its_mean() {
    let windows = |max_value: bool| {
        let mut job = job(Access::mixed(50, true));
        job.measure.logs.window = Some(Nanos::from_millis(100));
        job.measure.logs.max_value = max_value;
        let chunks = told(job);
        chunks
            .iter()
            .flat_map(|(_, c)| &c.samples)
            .filter_map(|s| s.latency[1])
            .collect::<Vec<u64>>()
    };
    let both = || {
        let mut job = job(Access::mixed(50, true));
        (job.measure.logs.window, job.measure.logs.both_values) =
            (Some(Nanos::from_millis(100)), true);
        let chunks = told(job);
        let samples = chunks.iter().flat_map(|(_, c)| &c.samples);
        samples
            .map(|s| (s.latency[1].unwrap(), s.longest[1].unwrap()))
            .collect::<Vec<(u64, u64)>>()
    };
    let both = both();
    assert!(
        !both.is_empty() && both.iter().all(|(mean, largest)| mean <= largest),
        "{both:?}"
    );
    let (means, largest) = (windows(false), windows(true));
    assert_eq!(means.len(), largest.len());
    assert!(
        means
            .iter()
            .zip(&largest)
            .all(|(mean, largest)| largest >= mean),
        "{means:?} {largest:?}"
    );
}
