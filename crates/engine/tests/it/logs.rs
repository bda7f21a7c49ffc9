//! Log messages of running workers, on a simulated card with known values.

use crate::common::{MIB, STARTED_UNIX_MS, go_observed, on_card, plan, read_seq, scenario};
use hakaru_engine::{LogChunk, Observer};
use hakaru_model::device_model::DeviceModel;
use hakaru_model::job::rules::Logs;
use hakaru_model::job::{Access, Job};
use hakaru_model::units::Nanos;

/// Records all log messages.
#[derive(Default)]
struct Listener(Vec<(usize, LogChunk)>);

impl Observer for Listener {
    fn log(&mut self, worker: usize, chunk: &LogChunk) {
        self.0.push((worker, chunk.clone()));
    }
}

/// Runs a job, and returns its log messages.
fn logged(job: Job) -> Vec<(usize, LogChunk)> {
    let mut listener = Listener::default();
    let report = go_observed(&plan(&scenario(vec![job])), &mut listener);
    assert_eq!(report.error, None);
    listener.0
}

/// Latencies (mean and largest) of the windows of 100 ms of a mixed job.
fn windows(change: impl FnOnce(&mut Logs)) -> Vec<(Option<u64>, Option<u64>)> {
    let mut job = job(Access::mixed(50, true));
    job.measure.logs.window = Some(Nanos::from_millis(100));
    change(&mut job.measure.logs);
    let chunks = logged(job);
    let samples = chunks.iter().flat_map(|(_, chunk)| &chunk.samples);
    samples.map(|s| (s.latency[1], s.longest[1])).collect()
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
fn each_io_is_logged_once() {
    let mut job = job(read_seq());
    job.queue.iodepth = 4;
    let chunks = logged(job);
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
    assert_eq!(chunks[0].1.epoch_unix_ms, STARTED_UNIX_MS);
}

#[test]
fn windows_add_up_to_the_whole() {
    let mut job = job(Access::mixed(50, true));
    job.measure.logs.window = Some(Nanos::from_millis(100));
    job.measure.logs.histogram = Some(Nanos::from_millis(200));
    job.measure.logs.coarseness = 6;
    let chunks = logged(job);
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
    let both = windows(|logs| logs.both_values = true);
    let in_order = both
        .iter()
        .all(|(mean, largest)| mean.unwrap() <= largest.unwrap());
    assert!(!both.is_empty() && in_order, "{both:?}");
    let latencies = |max_value| {
        let windows = windows(|logs| logs.max_value = max_value);
        windows
            .into_iter()
            .filter_map(|(latency, _)| latency)
            .collect::<Vec<u64>>()
    };
    let (means, largest) = (latencies(false), latencies(true));
    assert_eq!(means.len(), largest.len());
    let mut pairs = means.iter().zip(&largest);
    assert!(
        pairs.all(|(mean, largest)| largest >= mean),
        "{means:?} {largest:?}"
    );
}
