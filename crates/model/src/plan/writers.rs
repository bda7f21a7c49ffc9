//! Finds the writer of the data that a `verify_only` job verifies: an earlier job of the same run, or another run.

use super::{FilePlan, WorkerPlan};
use crate::stream::StreamPlan;
use std::path::PathBuf;

/// Worker whose writes can be verified.
#[derive(Clone, Debug)]
pub(super) struct Writer {
    clone: u32,
    paths: Vec<PathBuf>,
    /// Requests, without a seed and with the regions numbered in order.
    requests: StreamPlan,
    stream_seed: u64,
    header_seed: u64,
}

impl Writer {
    fn of(plan: &WorkerPlan, files: &[FilePlan]) -> Option<Writer> {
        let header_seed = plan.verify.as_ref()?.seed;
        let mut requests = StreamPlan {
            seed: 0,
            ..plan.stream.clone()
        };
        let path = |file: u32| {
            files
                .get(file as usize)
                .map(|file| file.path.clone())
                .unwrap_or_default()
        };
        let paths = requests
            .regions
            .iter()
            .map(|region| path(region.file))
            .collect();
        requests
            .regions
            .iter_mut()
            .zip(0..)
            .for_each(|(region, number)| region.file = number);
        Some(Writer {
            clone: plan.clone,
            paths,
            requests,
            stream_seed: plan.stream.seed,
            header_seed,
        })
    }

    fn is_like(&self, other: &Writer) -> bool {
        (self.clone, &self.paths, &self.requests) == (other.clone, &other.paths, &other.requests)
    }
}

/// Sets a `verify_only` worker to the random choices and expected data of the last worker of this run that wrote its
/// region.
///
/// Without such a worker, the data comes from another run, whose jobs may have used other seeds.
pub(super) fn match_writer(writers: &mut Vec<Writer>, plan: &mut WorkerPlan, files: &[FilePlan]) {
    let Some(own) = Writer::of(plan, files) else {
        return;
    };
    let Some(verify) = plan.verify.as_mut().filter(|_| plan.writes) else {
        return;
    };
    if !verify.rules.only {
        writers.retain(|writer| !writer.is_like(&own));
        writers.push(own);
    } else if let Some(writer) = writers.iter().find(|writer| writer.is_like(&own)) {
        (plan.stream.seed, verify.seed) = (writer.stream_seed, writer.header_seed);
    } else {
        verify.rules.header_seed = false;
    }
}
