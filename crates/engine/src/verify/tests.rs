//! Tests of the reads that are due between writes.

use super::*;
use hakaru_model::job::rules::{Verify, VerifyMethod};
use hakaru_model::job::{Access, BlockSize, Job, Phase, Scenario, SizeSpec, Target};
use hakaru_model::plan::{Facts, Plan};
use hakaru_model::units::Bytes;

/// fio 3.33 with `--rw=trimwrite --bs=4k --verify=md5 --verify_backlog=3 --verify_backlog_batch=2`: reads of two blocks
/// follow the third write, and then each second one.
#[test]
fn only_writes_of_trimwrite_count_for_the_backlog() {
    let mut access = Access::only(Op::Write, false);
    access.trim_before_write = true;
    let mut job = Job::new("g", Target::Nothing, access);
    job.ioengine = IoEngine::Null;
    job.block = PerOp::all(BlockSize::Fixed(Bytes(4096)));
    job.extent.size = Some(SizeSpec::Bytes(Bytes(32 << 10)));
    let mut verify = Verify::by(VerifyMethod::Null);
    (verify.backlog, verify.backlog_batch) = (3, 2);
    job.verify = Some(verify);
    let phase = Phase {
        name: "g".to_owned(),
        jobs: vec![job],
    };
    let scenario = Scenario {
        name: "t".to_owned(),
        seed: 1,
        phases: vec![phase],
    };
    let plan = Plan::resolve(&scenario, &Facts::new()).unwrap();
    let worker = &plan.phases[0].workers[0];
    let mut checker = Checker::new(worker, &["g".to_owned()]).unwrap().unwrap();
    let mut due = Vec::new();
    for request in worker.stream.requests() {
        if request.op == Op::Write {
            checker.fill(0, &request, &mut [0; 4096]);
        }
        let reads = checker.landed(0, &request, &[], true).reads;
        if request.op == Op::Write {
            due.push(reads.len());
        } else {
            assert!(reads.is_empty(), "{request:?}");
        }
    }
    assert_eq!(due, [0, 0, 2, 0, 2, 0, 2, 0]);
}
