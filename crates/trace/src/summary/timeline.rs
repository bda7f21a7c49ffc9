//! Requests over time: depth, and the time in which the device was busy.

use hakaru_model::io_path::DepthSample;
use hakaru_model::units::Nanos;

/// Time in the queue and on the device, in steps that double when there are too many.
#[derive(Debug)]
pub(crate) struct DepthHistory {
    origin: u64,
    step: u64,
    /// Nanoseconds in the queue and on the device, summed over requests.
    steps: Vec<(f64, f64)>,
}

impl DepthHistory {
    /// Most steps that are stored.
    pub(crate) const MAX: usize = 1000;
    const FIRST_STEP: u64 = 1000;
    /// About 13 days.
    const LAST_STEP: u64 = 1 << 50;

    /// Creates steps from a moment on, as long as needed.
    pub(crate) fn open(origin: u64) -> DepthHistory {
        DepthHistory {
            origin,
            step: Self::FIRST_STEP,
            steps: Vec::new(),
        }
    }

    /// Creates steps for a window that is known.
    pub(crate) fn over(window: (u64, u64)) -> DepthHistory {
        let length = window.1.saturating_sub(window.0);
        DepthHistory {
            origin: window.0,
            step: length.div_ceil(Self::MAX as u64).max(Self::FIRST_STEP),
            steps: Vec::new(),
        }
    }

    /// Adds the spans of one request: (queued, issued) and (issued, completed).
    pub(crate) fn add(&mut self, queued: (u64, u64), issued: (u64, u64)) {
        let end = issued.1.max(queued.1).saturating_sub(self.origin);
        while end >= self.length() && self.step < Self::LAST_STEP {
            self.double();
        }
        self.add_span(queued, |step, time| step.0 += time);
        self.add_span(issued, |step, time| step.1 += time);
    }

    fn length(&self) -> u64 {
        self.step * Self::MAX as u64
    }

    fn add_span(&mut self, (start, end): (u64, u64), add: impl Fn(&mut (f64, f64), f64)) {
        let mut at = start.saturating_sub(self.origin);
        let end = end.saturating_sub(self.origin).min(self.length());
        while at < end {
            let index = (at / self.step) as usize;
            let until = end.min((index as u64 + 1) * self.step);
            if self.steps.len() <= index {
                self.steps.resize(index + 1, (0.0, 0.0));
            }
            add(&mut self.steps[index], (until - at) as f64);
            at = until;
        }
    }

    fn double(&mut self) {
        let pairs = self.steps.chunks(2);
        self.steps = pairs
            .map(|pair| {
                pair.iter()
                    .fold((0.0, 0.0), |sum, it| (sum.0 + it.0, sum.1 + it.1))
            })
            .collect();
        self.step *= 2;
    }

    /// Returns the mean depth of each step inside a window.
    pub(crate) fn finish(mut self, window: (u64, u64)) -> Vec<DepthSample> {
        let length = window.1.saturating_sub(self.origin);
        let count = length.div_ceil(self.step) as usize;
        self.steps.resize(count.min(Self::MAX), (0.0, 0.0));
        let mut samples = Vec::with_capacity(self.steps.len());
        for (index, (queued, issued)) in self.steps.into_iter().enumerate() {
            let start = self.origin + index as u64 * self.step;
            let (from, to) = (start.max(window.0), (start + self.step).min(window.1));
            if from < to {
                let length = (to - from) as f64;
                samples.push(DepthSample {
                    at: Nanos(from - window.0),
                    queued: (queued / length) as f32,
                    issued: (issued / length) as f32,
                });
            }
        }
        samples
    }
}

/// Union of spans of time.
#[derive(Debug, Default)]
pub(crate) struct Union {
    spans: Vec<(u64, u64)>,
    /// Length of spans that are complete.
    complete: u64,
}

impl Union {
    const MAX_SPANS: usize = 1 << 17;
    /// Spans that stay open when many are added: later ones can still overlap them.
    const OPEN_SPANS: usize = 1 << 12;

    /// Adds a span.
    pub(crate) fn add(&mut self, start: u64, end: u64) {
        if start >= end {
            return;
        }
        self.spans.push((start, end));
        if self.spans.len() >= Self::MAX_SPANS {
            self.join();
            let closed = self.spans.len().saturating_sub(Self::OPEN_SPANS);
            self.complete += length(&self.spans[..closed]);
            self.spans.drain(..closed);
        }
    }

    /// Returns the length of the union.
    pub(crate) fn finish(mut self) -> u64 {
        self.join();
        self.complete + length(&self.spans)
    }

    fn join(&mut self) {
        self.spans.sort_unstable();
        self.spans.dedup_by(|next, last| {
            let overlaps = next.0 <= last.1;
            if overlaps {
                last.1 = last.1.max(next.1);
            }
            overlaps
        });
    }
}

fn length(spans: &[(u64, u64)]) -> u64 {
    spans.iter().map(|(start, end)| end - start).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_union_counts_overlaps_once() {
        let mut union = Union::default();
        for (start, end) in [(50, 60), (0, 10), (5, 20), (20, 25), (55, 58), (30, 30)] {
            union.add(start, end);
        }
        assert_eq!(union.finish(), 35);
    }

    #[test]
    fn a_union_of_many_spans_is_exact() {
        let mut union = Union::default();
        for i in 0..100_000_u64 {
            union.add(i * 10, i * 10 + 6);
            union.add(i * 10 + 3, i * 10 + 8);
        }
        assert!(union.spans.len() <= Union::MAX_SPANS);
        assert_eq!(union.finish(), 100_000 * 8);
    }

    #[test]
    fn depth_is_the_mean_over_each_step() {
        let mut steps = DepthHistory::over((1_000_000, 2_000_000));
        assert_eq!(steps.step, 1000);
        steps.add((1_000_000, 1_000_500), (1_000_500, 1_002_000));
        steps.add((1_000_000, 1_001_000), (1_001_000, 1_001_500));
        let samples = steps.finish((1_000_000, 2_000_000));
        assert_eq!(samples.len(), 1000);
        let first = DepthSample {
            at: Nanos(0),
            queued: 1.5,
            issued: 0.5,
        };
        let second = DepthSample {
            at: Nanos(1000),
            queued: 0.0,
            issued: 1.5,
        };
        assert_eq!(samples[..2], [first, second]);
    }

    #[test]
    fn steps_double_until_the_window_fits() {
        let mut steps = DepthHistory::open(0);
        for second in 0..100 {
            let at = second * 1_000_000_000;
            steps.add((at, at), (at, at + 500_000_000));
        }
        assert!(steps.steps.len() <= DepthHistory::MAX);
        let samples = steps.finish((0, 100_000_000_000));
        assert!(samples.len() <= DepthHistory::MAX);
        let mean: f32 = samples.iter().map(|it| it.issued).sum::<f32>() / samples.len() as f32;
        assert!((mean - 0.5).abs() < 0.01, "{mean}");
    }
}
