//! Generators of jobs and targets.

use super::*;

fn size_spec() -> impl Strategy<Value = SizeSpec> {
    prop_oneof![
        (0u64..1 << 24).prop_map(|bytes| SizeSpec::Bytes(Bytes(bytes))),
        (0u32..=100).prop_map(SizeSpec::Percent),
    ]
}

fn distribution() -> impl Strategy<Value = Distribution> {
    let share = || (1u32..100).prop_map(f64::from);
    let zone = (share(), share()).prop_map(|(access_percent, size_percent)| RelativeZone {
        access_percent,
        size_percent,
    });
    prop_oneof![
        3 => Just(Distribution::Uniform),
        1 => (0u32..200).prop_map(|theta| Distribution::Zipf(f64::from(theta) / 64.0)),
        1 => (0u32..64).prop_map(|power| Distribution::Pareto(f64::from(power) / 64.0)),
        1 => share().prop_map(Distribution::Normal),
        1 => prop::collection::vec(zone, 1..4).prop_map(Distribution::Zoned),
    ]
}

fn zone_resets() -> impl Strategy<Value = ZoneResets> {
    any::<[u32; 2]>().prop_map(|[threshold_millionths, every]| ZoneResets {
        threshold_millionths,
        every,
    })
}

fn zones() -> impl Strategy<Value = Zones> {
    let flags = any::<[bool; 2]>();
    let device = (any::<[u32; 2]>(), flags, option::of(zone_resets()));
    prop_oneof![
        4 => Just(Zones::None),
        1 => (8u64..64, 8u64..64, 0u64..64).prop_map(|(range, size, skip)| Zones::Strided {
            range: Bytes(range * UNIT),
            size: Bytes(size * UNIT),
            skip: Bytes(skip * UNIT),
        }),
        1 => device.prop_map(|(open, [read_beyond, ignore_limits], resets)| Zones::Device {
            size: read_beyond.then_some(Bytes(1 << 20)),
            capacity: None,
            skip: Bytes(0),
            max_open: open[0],
            max_open_each: open[1],
            read_beyond_write_pointer: read_beyond,
            ignore_limits,
            resets,
        }),
    ]
}

fn order() -> impl Strategy<Value = TraversalOrder> {
    prop_oneof![
        Just(TraversalOrder::Forward),
        Just(TraversalOrder::Backward),
        (1u64..64).prop_map(|units| TraversalOrder::Interleaved {
            step: Bytes(units * UNIT)
        }),
    ]
}

/// Generates access patterns with all options.
fn any_access() -> impl Strategy<Value = Access> {
    let run = (-8i64..8, 1u32..5, any::<bool>(), any::<bool>());
    let centre = option::of((0u32..8).prop_map(|n| f64::from(n) / 8.0));
    let place = (distribution(), centre, order(), zones());
    let percent = option::of(per_op(0u32..=100));
    (access(), run, place, percent).prop_map(|(access, run, place, percentage_random)| {
        let (stride, run_length, run_identical, trim_before_write) = run;
        let (distribution, centre, order, zones) = place;
        Access {
            stride: stride * UNIT as i64,
            run_length,
            run_identical,
            trim_before_write,
            distribution,
            centre,
            percentage_random,
            order,
            zones,
            ..access
        }
    })
}

/// Generates a job that most targets support: any sizes and offsets, few of the rarer options.
pub(crate) fn plain_job() -> impl Strategy<Value = Job> {
    let shape = (access(), block(), 1u32..4, 1u32..4, 1u32..64);
    let places = [size_spec(), size_spec()];
    let sizes = [option::of(size_spec()), option::of(size_spec())];
    let extent = (sizes, option::of(1u64..1 << 22), places);
    let engine = select(IoEngine::ALL);
    let seed = option::of(any::<u64>());
    let count = (option::of(1u64..1000), 1u32..4);
    let rest = (count, any::<bool>(), seed, engine);
    (name(), shape, extent, rest).prop_map(|(name, shape, extent, rest)| {
        let (access, block, files, numjobs, iodepth) = shape;
        let paths = (0..files).map(|file| PathBuf::from(format!("f{file}")));
        let mut job = Job::new(&name, Target::Paths(paths.collect()), access);
        job.block = PerOp::all(block);
        (job.numjobs, job.queue.iodepth) = (numjobs, iodepth);
        [job.extent.size, job.extent.io_size] = extent.0;
        job.extent.filesize = extent.1.map(Bytes);
        [job.extent.offset, job.extent.offset_increment] = extent.2;
        (job.extent.number_ios, job.extent.loops) = rest.0;
        (job.files.direct, job.seed, job.ioengine) = (rest.1, rest.2, rest.3);
        job
    })
}

/// Generates facts about the files that a [`plain_job`] names.
pub(crate) fn facts() -> impl Strategy<Value = Facts> {
    let kind = prop_oneof![
        3 => Just(TargetKind::File),
        3 => Just(TargetKind::Absent),
        2 => Just(TargetKind::BlockDevice),
        1 => Just(TargetKind::CharDevice),
        1 => Just(TargetKind::Directory),
        1 => Just(TargetKind::Other),
    ];
    let one = (kind, 0u64..1 << 24, 20u32..50, prop::bool::weighted(0.9));
    prop::collection::vec(one, 4).prop_map(|all| {
        let facts =
            |(file, (kind, size, free, writable)): (usize, (TargetKind, u64, u32, bool))| {
                let path = PathBuf::from(format!("f{file}"));
                let there = matches!(kind, TargetKind::File | TargetKind::BlockDevice);
                let facts = TargetFacts {
                    path: path.clone(),
                    kind,
                    size: Bytes(if there { size / UNIT * UNIT } else { 0 }),
                    free: (kind != TargetKind::BlockDevice).then_some(Bytes(1 << free)),
                    logical_block: 512,
                    direct_io: Some(true),
                    writable,
                };
                (path, facts)
            };
        all.into_iter().enumerate().map(facts).collect()
    })
}

pub(crate) fn scenario_of(jobs: Vec<Job>, seed: u64) -> Scenario {
    Scenario {
        name: "scenario".to_owned(),
        seed,
        phases: vec![Phase {
            name: "phase".to_owned(),
            jobs,
        }],
    }
}

fn pattern() -> impl Strategy<Value = Vec<PatternPart>> {
    let part = prop_oneof![
        prop::collection::vec(any::<u8>(), 1..4).prop_map(PatternPart::Bytes),
        Just(PatternPart::Offset),
    ];
    prop::collection::vec(part, 0..3)
}

fn verify() -> impl Strategy<Value = Verify> {
    let method = prop_oneof![
        Just(VerifyMethod::Crc32c),
        Just(VerifyMethod::Sha3_512),
        Just(VerifyMethod::Null),
        pattern().prop_map(VerifyMethod::Pattern),
        pattern().prop_map(VerifyMethod::PatternHeader),
    ];
    let (flags, n) = (any::<[bool; 7]>(), any::<[u64; 3]>());
    (method, pattern(), flags, n, option::of(name())).prop_map(
        |(method, fill, flags, n, folder)| {
            let mut verify = Verify::by(method);
            verify.fill = fill;
            [verify.read_back, verify.only, verify.fatal, verify.dump, ..] = flags;
            (verify.save_state, verify.load_state) = (flags[4], flags[5]);
            verify.header_seed = flags[6];
            verify.interval = Some(Bytes(n[0]));
            (verify.backlog, verify.backlog_batch) = (n[1], n[2]);
            verify.folder = folder.map(PathBuf::from);
            verify
        },
    )
}

/// Adds rules of termination to a job.
fn with_termination(mut job: Job, n: [u32; 8], flags: [bool; 8], limit: f64) -> Job {
    let (group, phase) = (Some(ExitScope::Group), Some(ExitScope::Phase));
    job.termination.exit = ExitRules {
        ends: [None, group, phase, Some(ExitScope::All)][n[0] as usize % 4],
        on_error: flags[0],
        finish_writing: flags[1],
        phases_after_error: flags[2],
    };
    job.termination.max_latency[Op::Write] = flags[3].then_some(Nanos(n[1].into()));
    job.termination.minimum_rate.iops[Op::Read] = flags[4].then_some(n[2].into());
    job.termination.steady = flags[5].then_some(SteadyStateRule {
        iops: flags[0],
        slope: flags[1],
        limit: match flags[2] {
            true => SteadyLimit::Percent(limit),
            false => SteadyLimit::Absolute(limit),
        },
        window: Nanos(n[3].into()),
        ramp: Nanos(n[4].into()),
        interval: Nanos(n[5].into()),
        together: flags[6],
    });
    job
}

/// Adds rules of pacing, durability and placement to a job.
fn with_rules(mut job: Job, n: [u32; 8], flags: [bool; 8], limit: f64) -> Job {
    job.rate.bytes_per_s[Op::Read] = Some(n[6].into());
    job.rate.latency_target = flags[7].then_some(LatencyTarget {
        target: Nanos(n[0].into()),
        window: Nanos(n[1].into()),
        percentile: limit,
        keep_running: flags[3],
    });
    let (id, weight, sleep) = (n[2], n[3], Nanos(n[4].into()));
    job.rate.flow = flags[6].then_some(FlowShare { id, weight, sleep });
    job.durability.range_sync = flags[1].then_some(RangeSync {
        every: n[5],
        wait_before: flags[2],
        write: flags[3],
        wait_after: flags[4],
    });
    job.placement.cpus_allowed = vec![n[7], n[6]];
    let (mode, nodes) = (MemoryMode::Bind, vec![n[1]]);
    job.placement.memory = flags[0].then_some(MemoryPolicy { mode, nodes });
    job.placement.priority.io_class = flags[5].then_some(n[2]);
    job.errors.ignored.write = vec![n[3] as i32];
    job.commands.before = flags[6].then(|| "true".to_owned());
    job.timing.wait_for = flags[7].then(|| "other".to_owned());
    job
}

/// Sets options of files, queue and engine.
fn with_files(mut job: Job, flags: [bool; 12], pick: usize, order: FileOrder) -> Job {
    let files = &mut job.files;
    [
        files.invalidate,
        files.unlink,
        files.allow_create,
        files.overwrite,
        ..,
    ] = flags;
    (files.append, files.atomic, files.time_close) = (flags[4], flags[5], flags[6]);
    let (keep, truncate) = (Fallocate::Keep, Fallocate::Truncate);
    files.fallocate = [Fallocate::None, Fallocate::Native, keep, truncate][pick % 4];
    let (none, random) = (AccessAdvice::None, AccessAdvice::Random);
    files.advice = [AccessAdvice::AsJob, none, random][pick % 3];
    files.lifetime = [Lifetime::Untold, Lifetime::Short, Lifetime::Extreme][pick % 3];
    files.lock = [FileLock::None, FileLock::Exclusive, FileLock::ReadWrite][pick % 3];
    files.turns = FileTurns {
        order,
        run_length: pick as u32,
        open_files: Some(pick as u32),
    };
    (job.queue.offload, job.queue.separate_submit) = (flags[7], flags[8]);
    job.measure.clat = flags[9];
    job.engine.stat = [StatCall::Stat, StatCall::Lstat, StatCall::Statx][pick % 3];
    job.engine.hipri_percentage = flags[10].then_some(pick as u32);
    job.block_rules.unaligned = flags[11];
    job
}

fn file_order() -> impl Strategy<Value = FileOrder> {
    select(vec![
        FileOrder::RoundRobin,
        FileOrder::Sequential,
        FileOrder::Random,
        FileOrder::Zipf(1.25),
        FileOrder::Normal(25.0),
    ])
}

fn content() -> impl Strategy<Value = BufferContent> {
    prop_oneof![
        Just(BufferContent::Random),
        Just(BufferContent::Zero),
        prop::collection::vec(any::<u8>(), 1..5).prop_map(BufferContent::Pattern),
        (0u32..=100).prop_map(BufferContent::Compressible),
    ]
}

/// Generates a job with values in most of its fields, even if they contradict each other.
pub(crate) fn any_job() -> impl Strategy<Value = Job> {
    let files = (any::<[bool; 12]>(), 0usize..64, file_order());
    let rules = (any::<[u32; 8]>(), any::<[bool; 8]>(), float());
    let percentiles = prop::collection::vec(quantile(), 0..4);
    let checks = (content(), option::of(verify()));
    let rest = (checks, option::of(block()), percentiles, words());
    (plain_job(), any_access(), files, rules, rest).prop_map(|(job, access, files, rules, rest)| {
        let job = with_termination(job, rules.0, rules.1, rules.2);
        let job = with_rules(job, rules.0, rules.1, rules.2);
        let mut job = with_files(job, files.0, files.1, files.2);
        job.access = access;
        (job.buffers.fill, job.verify) = rest.0;
        job.block_rules.in_line = rest.1;
        job.measure.percentiles = rest.2;
        job.options = vec![("bs".to_owned(), rest.3)];
        job
    })
}
