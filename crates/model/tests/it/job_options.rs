//! Tests of what the options of a job mean: operations, rate limits, queue depth, ranges of clones, block sizes.

use hakaru_model::device_model::DeviceModel;
use hakaru_model::job::rules::BlockSizeRules;
use hakaru_model::job::{
    Access, BlockSize, IoEngine, Job, Op, PerOp, RateLimits, Scenario, SizeSpec, Target,
};
use hakaru_model::units::{Bytes, Nanos};

fn job(access: Access) -> Job {
    Job::new("job", Target::Paths(vec!["file".into()]), access)
}

fn reader() -> Job {
    job(Access::only(Op::Read, false))
}

/// Returns a pattern with a trim before each write.
fn trim_and_write(random: bool) -> Access {
    Access {
        trim_before_write: true,
        ..Access::only(Op::Write, random)
    }
}

#[test]
fn operations_have_names_and_values() {
    assert_eq!(Op::ALL.map(Op::name), ["read", "write", "trim"]);
    let mut values = PerOp {
        read: 3,
        write: 7,
        trim: 11,
    };
    let listed: Vec<_> = values.iter().map(|(op, value)| (op, *value)).collect();
    assert_eq!(listed, [(Op::Read, 3), (Op::Write, 7), (Op::Trim, 11)]);
    assert_eq!(Op::ALL.map(|op| values[op]), [3, 7, 11]);
    let doubled = values.map(|value| value * 2);
    assert_eq!(Op::ALL.map(|op| doubled[op]), [6, 14, 22]);
    assert_eq!(Op::ALL.map(|op| PerOp::all(5)[op]), [5, 5, 5]);
    for (at, op) in Op::ALL.into_iter().enumerate() {
        values[op] = at;
    }
    assert_eq!((values.read, values.write, values.trim), (0, 1, 2));
}

#[test]
fn a_pattern_has_the_shares_of_its_operations() {
    let shares = |access: &Access| Op::ALL.map(|op| access.mix[op]);
    for (op, mix) in [
        (Op::Read, [100, 0, 0]),
        (Op::Write, [0, 100, 0]),
        (Op::Trim, [0, 0, 100]),
    ] {
        let only = Access::only(op, true);
        assert_eq!((shares(&only), only.random), (mix, true));
    }
    for (read_percent, mix) in [
        (0, [0, 100, 0]),
        (30, [30, 70, 0]),
        (99, [99, 1, 0]),
        (100, [100, 0, 0]),
    ] {
        assert_eq!(shares(&Access::mixed(read_percent, false)), mix);
    }
}

#[test]
fn a_pattern_does_its_operations_and_trims_before_writes() {
    let [reads, writes, trims] = Op::ALL.map(|op| Access::only(op, false));
    for (access, does, destroys) in [
        (reads, [true, false, false], false),
        (writes, [false, true, false], true),
        (trims, [false, false, true], true),
        (Access::mixed(99, false), [true, true, false], true),
        (Access::mixed(1, false), [true, true, false], true),
        (Access::mixed(100, false), [true, false, false], false),
        (trim_and_write(false), [false, true, true], true),
    ] {
        assert_eq!(Op::ALL.map(|op| access.does(op)), does, "{access:?}");
        assert_eq!(access.destroys(), destroys, "{access:?}");
    }
}

#[test]
fn only_random_writes_follow_their_trims() {
    for (access, follows) in [
        (trim_and_write(true), true),
        (trim_and_write(false), false),
        (Access::only(Op::Write, true), false),
        (Access::only(Op::Write, false), false),
    ] {
        assert_eq!(access.writes_what_it_trims(), follows, "{access:?}");
    }
}

#[test]
fn a_block_size_has_a_smallest_and_a_largest_value() {
    let range = BlockSize::Range {
        min: Bytes(512),
        max: Bytes(4096),
    };
    let split = BlockSize::Split(vec![(Bytes(4096), 30), (Bytes(512), 50), (Bytes(8192), 20)]);
    for (block, min, max) in [
        (BlockSize::Fixed(Bytes(4096)), 4096, 4096),
        (range, 512, 4096),
        (split, 512, 8192),
    ] {
        assert_eq!((block.min(), block.max()), (Bytes(min), Bytes(max)));
    }
}

#[test]
fn a_rate_limits_its_own_operation() {
    let read = |rate| PerOp {
        read: Some(rate),
        ..PerOp::default()
    };
    let by_bytes = |rate| RateLimits {
        bytes_per_s: read(rate),
        ..RateLimits::default()
    };
    let by_ios = |rate| RateLimits {
        iops: read(rate),
        ..RateLimits::default()
    };
    let by_both = |bytes, ios| RateLimits {
        iops: read(ios),
        ..by_bytes(bytes)
    };
    for (rate, limited) in [
        (RateLimits::default(), false),
        (by_both(0, 0), false),
        (by_both(0, 100), true),
        (by_both(100, 0), true),
        (by_both(100, 100), true),
        (by_bytes(0), false),
        (by_bytes(1), true),
        (by_bytes(1 << 20), true),
        (by_ios(0), false),
        (by_ios(1), true),
        (by_ios(1000), true),
    ] {
        assert_eq!(rate.is_limited(Op::Read), limited, "{rate:?}");
        assert!(!rate.is_limited(Op::Write), "{rate:?}");
    }
}

#[test]
fn a_rate_is_an_open_loop_if_arrivals_are_independent() {
    for (iops, poisson, offload, open) in [
        (None, false, false, false),
        (None, true, false, false),
        (None, false, true, false),
        (None, true, true, false),
        (Some(100), false, false, false),
        (Some(100), true, false, true),
        (Some(100), false, true, true),
        (Some(100), true, true, true),
    ] {
        let mut job = reader();
        (job.rate.iops.read, job.rate.poisson) = (iops, poisson);
        job.queue.offload = offload;
        assert_eq!(job.is_open_loop(Op::Read), open, "{iops:?}");
        assert!(!job.is_open_loop(Op::Write));
    }
}

#[test]
fn clones_are_apart_by_their_files_or_offsets() {
    let paths = || Target::Paths(vec!["file".into()]);
    let formatted = || Target::Formatted {
        directories: Vec::new(),
        format: "$jobname.$jobnum".to_owned(),
        nrfiles: 1,
    };
    let sim = || Target::Sim(Box::new(DeviceModel::plain("card", Bytes(1 << 30))));
    let bytes = |bytes| SizeSpec::Bytes(Bytes(bytes));
    for (target, increment, apart) in [
        (paths(), bytes(0), 1),
        (paths(), SizeSpec::Percent(0), 1),
        (paths(), bytes(4096), 7),
        (paths(), SizeSpec::Percent(3), 7),
        (formatted(), bytes(0), 7),
        (formatted(), bytes(4096), 7),
        (sim(), bytes(0), 1),
    ] {
        let mut job = Job::new("job", target, Access::only(Op::Read, false));
        (job.numjobs, job.extent.offset_increment) = (7, increment);
        assert_eq!(job.clones_apart(), apart, "{:?}", job.target);
    }
}

#[test]
fn the_depth_is_one_without_a_queue() {
    for (ioengine, offload, depth) in [
        (IoEngine::Psync, false, 1),
        (IoEngine::Psync, true, 32),
        (IoEngine::Mmap, false, 1),
        (IoEngine::Libaio, false, 32),
        (IoEngine::Libaio, true, 32),
        (IoEngine::IoUring, false, 32),
    ] {
        let mut job = reader();
        (job.ioengine, job.queue.offload) = (ioengine, offload);
        job.queue.iodepth = 32;
        assert_eq!(job.has_queue(), depth == 32, "{ioengine:?}");
        assert_eq!(job.effective_depth(), depth, "{ioengine:?}");
    }
}

#[test]
fn block_sizes_in_use_are_those_of_the_operations() {
    let used = |access, in_line| {
        let size = |bytes| BlockSize::Fixed(Bytes(bytes));
        let mut job = job(access);
        job.block = PerOp {
            read: size(1024),
            write: size(2048),
            trim: size(4096),
        };
        job.block_rules = BlockSizeRules {
            in_line,
            ..BlockSizeRules::default()
        };
        job.blocks_used()
            .map(|size| size.max().0)
            .collect::<Vec<_>>()
    };
    let [reads, writes, trims] = Op::ALL.map(|op| Access::only(op, true));
    assert_eq!(used(reads.clone(), None), [1024]);
    assert_eq!(used(writes, None), [2048]);
    assert_eq!(used(trims, None), [4096]);
    assert_eq!(used(Access::mixed(50, true), None), [1024, 2048]);
    assert_eq!(used(trim_and_write(false), None), [2048, 4096]);
    // Each random write has the size of the trim before it.
    assert_eq!(used(trim_and_write(true), None), [4096]);
    let in_line = Some(BlockSize::Fixed(Bytes(65_536)));
    assert_eq!(used(reads, in_line), [1024, 65_536]);
}

#[test]
fn one_block_size_is_set_for_all_operations() {
    let job = reader().with_block(Bytes(65_536));
    let block = BlockSize::Fixed(Bytes(65_536));
    assert_eq!(job.block, PerOp::all(block));
}

#[test]
fn a_scenario_of_one_job_has_its_name_and_seed_1() {
    let scenario = Scenario::of_job(reader());
    assert_eq!((scenario.name.as_str(), scenario.seed), ("job", 1));
    let [phase] = &scenario.phases[..] else {
        panic!("{} phases", scenario.phases.len());
    };
    assert_eq!(phase.name, "job");
    assert_eq!(phase.jobs, [reader()]);
}

#[test]
fn a_pause_before_a_phase_is_written_if_there_is_one() {
    let mut job = reader();
    let tree = serde_json::to_value(&job.timing).unwrap();
    assert_eq!(tree.get("pause_before"), None);
    job.timing.pause_before = Nanos(7);
    let tree = serde_json::to_value(&job.timing).unwrap();
    assert_eq!(tree["pause_before"], 7);
}
