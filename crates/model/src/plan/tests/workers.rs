//! Tests of what a plan contains for its workers besides their requests, and of what later phases find.

use super::*;
use crate::device_model::DeviceModel;
use std::path::Path;

/// Resolves a job on an existing file or device `f`.
fn on(kind: TargetKind, size: u64, job: Job) -> WorkerPlan {
    let plan = resolve(job, &[facts("f", kind, size)]).unwrap();
    plan.phases[0].workers[0].clone()
}

fn on_a_card(size: u64) -> Job {
    let mut job = job(Op::Read);
    job.ioengine = IoEngine::Sim;
    job.target = Target::Sim(Box::new(DeviceModel::plain("card", Bytes(1 << 20))));
    job.extent.size = Some(SizeSpec::Bytes(Bytes(size)));
    job
}

#[test]
fn caveats_name_the_weaknesses_of_a_job_and_no_others() {
    type Change = fn(&mut Job);
    let capped = Caveat::DepthCapped {
        ioengine: "psync".to_owned(),
        asked: 2,
    };
    let cases: [(Change, Vec<Caveat>); 6] = [
        (|_| (), vec![Caveat::Buffered]),
        (|job| job.files.direct = true, vec![]),
        (
            |job| (job.files.direct, job.queue.iodepth) = (true, 2),
            vec![capped],
        ),
        (
            |job| {
                (job.files.direct, job.queue.iodepth) = (true, 2);
                job.ioengine = IoEngine::Libaio;
            },
            vec![],
        ),
        (|job| job.target = Target::Nothing, vec![]),
        (|job| *job = on_a_card(1 << 20), vec![Caveat::Simulated]),
    ];
    for (number, (change, wanted)) in cases.into_iter().enumerate() {
        let mut job = job(Op::Read);
        change(&mut job);
        let plan = resolve(job, &[facts("f", TargetKind::File, 1 << 20)]).unwrap();
        assert_eq!(plan.caveats, wanted, "case {number}");
    }
}

#[test]
fn a_simulated_card_is_used_like_a_device_of_its_capacity() {
    let plan = resolve(on_a_card(256 << 10), &[]).unwrap();
    let worker = &plan.phases[0].workers[0];
    let card = DeviceModel::plain("card", Bytes(1 << 20));
    assert_eq!(worker.sim.as_deref(), Some(&card));
    let [region] = worker.stream.regions[..] else {
        panic!("one region: {:?}", worker.stream.regions);
    };
    assert_eq!((region.offset, region.len), (0, 256 << 10));
    assert_eq!(worker.stream.requests().count(), 64);
    assert!(plan.phases[0].files.is_empty());
    let refused = resolve(on_a_card(2 << 20), &[]);
    assert!(
        matches!(refused, Err(PlanError::PastEnd { .. })),
        "{refused:?}"
    );
}

/// The delay, the offsets and the content of each clone are random choices of their own.
#[test]
fn the_most_clones_possible_share_no_random_number() {
    let mut many = job(Op::Read);
    (many.target, many.ioengine) = (Target::Nothing, IoEngine::Null);
    many.numjobs = 4096;
    // A delay below 2^64 - 1 is drawn from all bits of a number, and is one less than that number.
    many.timing.startdelay_max = Nanos(u64::MAX);
    let plan = resolve(many, &[]).unwrap();
    let workers = &plan.phases[0].workers;
    let numbers = workers
        .iter()
        .flat_map(|worker| [worker.seed, worker.stream.seed, worker.startdelay.0]);
    let mut numbers: Vec<u64> = numbers.collect();
    numbers.sort_unstable();
    assert_eq!(numbers.len(), 3 * 4096);
    // 12288 independent numbers of 64 bits do not come this close to each other.
    let alike = numbers.windows(2).find(|pair| pair[1] - pair[0] < 1000);
    assert_eq!(alike, None);
}

#[test]
fn an_open_loop_records_total_latency_with_its_percentiles() {
    for bits in 0..32u8 {
        let [lat, clat, histogram, limited, other] = [1, 2, 4, 8, 16].map(|bit| bits & bit > 0);
        let mut job = job(Op::Read);
        job.measure.tick = Nanos(77);
        (job.measure.lat, job.measure.clat) = (lat, clat);
        job.measure.lat_histogram = histogram;
        job.rate.poisson = true;
        // A rate of an operation that the job does not do makes no open loop.
        let op = if other { Op::Write } else { Op::Read };
        job.rate.iops[op] = limited.then_some(100);
        let open = limited && !other;
        let mut wanted = job.measure.clone();
        if open && (lat || clat) {
            (wanted.lat, wanted.lat_histogram) = (true, true);
        }
        let measured = on(TargetKind::File, 1 << 20, job).measure;
        assert_eq!(measured, wanted, "{bits:05b}");
    }
}

#[test]
fn a_buffer_holds_the_largest_block_that_carries_data() {
    let buffer = |access: Access, trim: u64, other: u64| {
        let mut job = job(Op::Read).with_block(Bytes(other));
        (job.access, job.extent.size) = (access, None);
        job.block.trim = BlockSize::Fixed(Bytes(trim));
        on(TargetKind::BlockDevice, 16 << 20, job).max_block
    };
    let (small, large) = (4 << 10, 4 << 20);
    for op in [Op::Read, Op::Write] {
        assert_eq!(buffer(Access::only(op, false), small, large), 4 << 20);
    }
    let trim_first = |random| Access {
        trim_before_write: true,
        ..Access::only(Op::Write, random)
    };
    // A random write has the size of the trim before it; others keep their own.
    assert_eq!(buffer(trim_first(true), large, small), 4 << 20);
    assert_eq!(buffer(trim_first(false), large, small), 1 << 20);
    assert_eq!(buffer(trim_first(false), small, large), 4 << 20);
}

#[test]
fn only_files_that_grow_need_free_space() {
    // `g` is a link to a file on another file system, which is full.
    for (there, fits) in [(1 << 20, true), (1 << 19, false)] {
        let mut two = job(Op::Write);
        two.target = Target::Paths(vec!["d/f".into(), "d/g".into()]);
        two.extent.size = Some(SizeSpec::Bytes(Bytes(2 << 20)));
        let mut full = facts("d/g", TargetKind::File, there);
        full.free = Some(Bytes(0));
        match resolve(two, &[facts("d/f", TargetKind::Absent, 0), full]) {
            Ok(plan) => assert!(fits && plan.phases[0].files.len() == 2),
            Err(error) => {
                assert!(
                    !fits
                        && matches!(&error, PlanError::NoSpace { path, .. } if path == Path::new("d/g")),
                    "{error}"
                );
            }
        }
    }
}

#[test]
fn a_file_removed_after_its_phase_is_laid_out_again() {
    let absent = BTreeMap::from([("f".into(), facts("f", TargetKind::Absent, 0))]);
    for unlink in [false, true] {
        let mut first = job(Op::Read);
        first.files.unlink = unlink;
        let both = one_after_another(vec![first, job(Op::Read)]);
        let plan = Plan::resolve(&both, &absent).unwrap();
        let lay_outs = plan.phases.iter().map(|phase| phase.files[0].lay_out);
        let written = LayOut::Write(Fallocate::Native);
        let second = if unlink { written } else { LayOut::Ready };
        assert_eq!(
            lay_outs.collect::<Vec<_>>(),
            [written, second],
            "unlink={unlink}"
        );
    }
}

#[test]
fn a_device_is_still_one_in_later_phases() {
    let device = facts("f", TargetKind::BlockDevice, 1 << 20);
    // Only devices can be trimmed, and only they cannot grow.
    let trims = one_after_another(vec![job(Op::Write), job(Op::Trim)]);
    let plan = Plan::resolve(&trims, &[("f".into(), device.clone())].into()).unwrap();
    let kinds = plan.phases.iter().map(|phase| phase.files[0].kind);
    assert!(kinds.eq([TargetKind::BlockDevice; 2]));
    let mut large = job(Op::Write);
    large.extent.size = Some(SizeSpec::Bytes(Bytes(2 << 20)));
    let grows = one_after_another(vec![job(Op::Write), large]);
    let refused = Plan::resolve(&grows, &[("f".into(), device)].into());
    assert!(
        matches!(refused, Err(PlanError::PastEnd { .. })),
        "{refused:?}"
    );
}
