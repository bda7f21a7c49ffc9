//! Tests of plans that replay traces: the parts of the files that the I/Os need, and the trace of each clone.

use crate::generate::scenario_of;
use crate::plans::{all_of, bytes, job, new_file, workers};
use hakaru_model::facts::TargetKind;
use hakaru_model::job::{Job, Op};
use hakaru_model::plan::{Facts, LayOut, Plan, PlanError};
use hakaru_model::replay::{Trace, TraceAction, TraceStep};
use hakaru_model::stream::IoRequest;
use hakaru_model::units::{Bytes, Nanos};
use std::path::PathBuf;
use std::sync::Arc;

const KIB: u64 = 1 << 10;

/// Returns a trace of reads: file, offset and length of each.
fn trace_of(files: &[&str], reads: &[(u32, u64, u32)]) -> Arc<Trace> {
    let step = |&(region, offset, len): &(u32, u64, u32)| TraceStep {
        at: Nanos(0),
        action: TraceAction::Io(IoRequest {
            op: Op::Read,
            region,
            offset,
            len,
        }),
    };
    Arc::new(Trace {
        files: files.iter().map(PathBuf::from).collect(),
        steps: reads.iter().map(step).collect(),
    })
}

fn replaying(traces: &[Arc<Trace>]) -> Job {
    let mut job = job(Op::Read, false, 0);
    job.replay.traces = traces.to_vec();
    job
}

/// Returns the plan of one job, on files that all have this type and size.
fn plan_of(job: Job, kind: TargetKind, size: u64) -> Result<Plan, PlanError> {
    let scenario = scenario_of(vec![job], 1);
    Plan::resolve(&scenario, &all_of(&scenario, kind, size))
}

#[test]
fn a_replayed_file_reaches_to_the_end_of_the_last_io() {
    use TargetKind::{Absent, CharDevice, File};
    // The last I/O in time is not the last in the file.
    let trace = trace_of(
        &["f"],
        &[(0, 0, 512), (0, 60 * KIB, 4096), (0, 8 * KIB, 512)],
    );
    let end = 64 * KIB;
    for (kind, size, planned) in [
        (Absent, 0, end),
        (File, 0, end),
        (File, end - 1, end),
        (File, end, end),
        (File, end + 1, end + 1),
        (File, 10 * end, 10 * end),
        // A device without a size is a stream, such as /dev/zero.
        (CharDevice, 0, end),
    ] {
        let plan = plan_of(replaying(std::slice::from_ref(&trace)), kind, size).unwrap();
        let phase = &plan.phases[0];
        let region = phase.workers[0].stream.regions[0];
        assert_eq!((region.offset, region.len), (0, end), "{kind:?} {size}");
        assert_eq!(phase.files[0].size, Bytes(planned), "{kind:?} {size}");
        let short = kind != CharDevice && size < end;
        let ready = phase.files[0].lay_out == LayOut::Ready;
        assert_eq!(ready, !short, "{kind:?} {size}");
    }
}

#[test]
fn a_replay_past_the_end_of_a_device_is_an_error() {
    let end = 64 * KIB;
    let trace = trace_of(&["f"], &[(0, end - 512, 512)]);
    for kind in [TargetKind::BlockDevice, TargetKind::CharDevice] {
        for (size, fits) in [
            (512, false),
            (end - 1, false),
            (end, true),
            (end + 1, true),
            (10 * end, true),
        ] {
            match plan_of(replaying(std::slice::from_ref(&trace)), kind, size) {
                Ok(plan) => {
                    assert!(fits, "{kind:?} {size}");
                    assert_eq!(plan.phases[0].files[0].lay_out, LayOut::Ready);
                }
                Err(PlanError::PastEnd {
                    size: has,
                    offset,
                    wanted,
                    ..
                }) => {
                    assert!(!fits, "{kind:?} {size}");
                    assert_eq!((has, offset, wanted), (Bytes(size), Bytes(0), Bytes(end)));
                }
                Err(error) => panic!("{error}"),
            }
        }
    }
}

#[test]
fn each_file_of_a_trace_has_a_region_of_its_own() {
    let reads = [(1, 4 * KIB, 512), (0, 0, 1024), (2, 0, 2048), (0, 2048, 64)];
    let trace = trace_of(&["b", "a", "c"], &reads);
    let plan = plan_of(replaying(&[trace]), TargetKind::Absent, 0).unwrap();
    let phase = &plan.phases[0];
    let regions = &phase.workers[0].stream.regions;
    let parts = regions.iter().map(|region| {
        let path = &phase.files[region.file as usize].path;
        (path.to_str().unwrap(), region.len)
    });
    let parts: Vec<_> = parts.collect();
    assert_eq!(parts, [("b", 2112), ("a", 4 * KIB + 512), ("c", 2048)]);
}

#[test]
fn clones_replay_their_traces_in_turn() {
    let traces: Vec<_> = ["a", "b", "c"]
        .iter()
        .zip(1..)
        .map(|(&file, ios)| trace_of(&[file], &[(0, 0, 512 * ios)]))
        .collect();
    for count in 0..=traces.len() {
        // A job without a trace reads its own file.
        let mut clones = job(Op::Read, false, 1);
        clones.extent.size = Some(bytes(1 << 20));
        clones.replay.traces = traces[..count].to_vec();
        clones.numjobs = 7;
        let workers = workers(&clones, new_file).unwrap();
        assert_eq!(workers.len(), 7);
        for (clone, worker) in workers.iter().enumerate() {
            let own = (count > 0).then(|| &traces[clone % count]);
            assert_eq!(worker.replay.as_ref(), own, "{clone} of {count}");
        }
    }
}

#[test]
fn a_replayed_file_that_cannot_be_used_is_an_error() {
    let job = || replaying(&[trace_of(&["f"], &[(0, 0, 512)])]);
    let unknown = workers(&job(), |_| Facts::new());
    assert!(
        matches!(unknown, Err(PlanError::NoFacts { .. })),
        "{unknown:?}"
    );
    for kind in [TargetKind::Directory, TargetKind::Other] {
        let refused = plan_of(job(), kind, 0);
        assert!(
            matches!(refused, Err(PlanError::NotMeasurable { .. })),
            "{refused:?}"
        );
    }
}
